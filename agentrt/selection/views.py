"""What a selection tree is doing for one agent, as plain values for snapshots and tools; and the tree as a picture.

Why the nodes before the current leaf were passed over is found out by evaluating their conditions again, as the tree
does: they depend on nothing but the variables.

The picture is made of the program that is evaluated: a Mermaid flowchart, or an outline for tools. Nodes are numbered
in the order of the file, so that equal programs give equal text. An arrow carries the condition that leads along it;
groups are boxes, leaves are rounded and say what they select.

Source: CryEngine, selection trees: "The Selection Tree", "No Behavior" in the debug information.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from agentrt.body.codec import View, view
from agentrt.body.views import ModelView, Outline
from agentrt.selection.conditions import names_in
from agentrt.selection.program import Program, SelectionNode

NO_BEHAVIOR = "No Behavior"


@view()
class PassedView(View):
    """A node before the current leaf whose condition does not hold."""

    path: str  # its place, as in the trace
    condition: str
    because: str  # what its variables are, in words


@view()
class SelectionView(ModelView):
    """What a selection tree is doing for one agent."""

    model: ClassVar[str] = "selection"

    name: str  # of the driver
    tree: str  # the name of the tree
    leaf: str  # the path of the current leaf from the root on; empty if there is none
    behavior: str  # what that leaf selects; ``No Behavior`` if there is no leaf
    is_registered: bool  # whether there is a behavior of that name
    phase: str  # none, beginning, active or leaving
    variables: tuple[tuple[str, bool], ...]  # name and value, in the order of declaration
    flags: tuple[str, ...] = ()  # the control flags that the behavior holds
    # the leaf's behavior that would be selected if its control flags were free; empty if there is none
    waits_for: str = ""
    # behaviors that are out because a callback raised, and the path at which it did
    out: tuple[tuple[str, str], ...] = ()
    routines: tuple[str, ...] = ()  # what its coroutines are, by their callbacks' names
    failed: tuple[PassedView, ...] = ()  # the nodes before the current leaf whose condition does not hold
    version: int = 0  # how often the tree was replaced by another reading of its file

    @property
    def outline_id(self) -> str:
        """The tree's name and its version."""
        return f"{self.tree}@{self.version}"

    def active(self) -> tuple[str, ...]:
        """The paths from the root to the current leaf."""
        if not self.leaf:
            return ()
        names = self.leaf.split("/")
        return tuple("/".join((self.name, *names[: end + 1])) for end in range(len(names)))

    def doing(self) -> str:
        """What the current leaf selects."""
        return self.behavior if self.leaf else ""

    def lines(self) -> list[str]:
        """The same in words."""
        what = f"{self.leaf} selects {self.behavior}" if self.leaf else NO_BEHAVIOR
        if self.leaf and not self.is_registered:
            what += f" ({NO_BEHAVIOR}: none is registered under this name)"
        elif self.phase in ("beginning", "leaving"):
            what += f", {self.phase}"
        lines = [f"{self.tree}: {what}"]
        if self.flags:
            lines.append(f"  holds {', '.join(self.flags)}")
        if self.waits_for:
            lines.append(f"  would be {self.waits_for}, whose control flags are held by somebody else")
        true = [name for name, value in self.variables if value]
        if self.variables:
            lines.append(f"  true: {', '.join(true) or 'nothing'}")
        lines.extend(f"  {behavior} is out: it raised at {path}" for behavior, path in self.out)
        return lines

    def reasons(self) -> list[str]:
        """Why the nodes before the current leaf were passed over: a line for each."""
        return [f"not {one.path}: {one.condition} does not hold: {one.because}" for one in self.failed]


def passed_over(program: Program, bits: int, leaf: SelectionNode | None, name: str) -> tuple[PassedView, ...]:
    """The nodes before a leaf whose condition does not hold, in the order of the file; all, if there is no leaf."""
    values = {one.lower(): value for one, value in program.values(bits).items()}
    nodes, index, found = program.nodes, 0, []
    while index < len(nodes):
        node = nodes[index]
        if node is leaf:
            break
        if node.holds(bits):
            index += 1
        else:
            found.append(PassedView(f"{name}/{node.path}", node.condition, _because(node.condition, values)))
            index = node.skip
    return tuple(found)


def _because(condition: str, values: Mapping[str, bool]) -> str:
    return ", ".join(f"{one} is {str(values.get(one.lower(), False)).lower()}" for one in names_in(condition))


def mermaid(program: Program, current: str = "") -> str:
    """A program as the text of a flowchart, without a fence; the leaf of a path may be marked."""
    lines = ["flowchart TD"]
    numbers: dict[SelectionNode, int] = {}
    for number, node in enumerate(program.nodes):
        numbers[node] = number
        lines.append(f"    n{number}{_shape(node)}")
        condition = f"|{_quoted(node.condition)}|" if node.condition else ""
        if node.above is not None:
            lines.append(f"    n{numbers[node.above]} -->{condition} n{number}")
        if current and node.behavior is not None and node.path == current:
            lines.append(f"    style n{number} stroke-width:4px")
    return "\n".join(lines)


def _shape(node: SelectionNode) -> str:
    if node.behavior is None:
        return f"[{_quoted(node.name)}]"
    same = node.name == node.behavior
    return f"([{_quoted(node.name if same else f'{node.name}: {node.behavior}')}])"


def _quoted(text: str) -> str:
    for mark, entity in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("\n", " "), ("`", "#96;")):
        text = text.replace(mark, entity)
    return f'"{text}"'


def outline_of(program: Program, name: str) -> Outline:
    """The outline of a program; the name of the state begins its paths."""
    below: dict[SelectionNode, list[Outline]] = {}
    root = Outline(name, program.name, "priority", "")
    for node in reversed(program.nodes):  # children stand behind their parents in the file
        kind = "priority" if node.behavior is None else "leaf"
        parts = [f"if {node.condition}"] if node.condition else []
        if node.behavior is not None:
            parts.append(f"selects {node.behavior}")
        children = tuple(reversed(below.pop(node, [])))
        root = Outline(f"{name}/{node.path}", node.name, kind, ", ".join(parts), children)
        if node.above is not None:
            below.setdefault(node.above, []).append(root)
    return root
