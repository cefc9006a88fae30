"""Programs: a selection tree as it is evaluated, shared by all agents that use it, never changed.

The variables of an agent are one integer with a bit for each; that is all that the tree knows about an agent. The nodes
stand in one tuple in the order of the file, each with the index at which it goes on when its condition does not hold.
The first leaf that is reached is selected; so a Priority whose children all fail goes on with its next sibling, without
a stack.

What a tree selects depends on nothing but the bits. So it is remembered: an agent whose variables are as somebody's
were before costs one look into a dict. The memory is bounded (``MOST_REMEMBERED``) and begins anew when it is full.
Leaves that are out for one agent are walked around, without memory; that is rare.

Source: seed 004, "Behavior Selection Tree Evaluation"; design section 9, "Compile what is static".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from agentrt.errors import UnknownVariableError
from agentrt.selection.condition import ALWAYS, Compiled, Term, Test

__all__ = ["MOST_REMEMBERED", "Node", "Program", "SignalVariable", "Variable"]

MOST_REMEMBERED = 4096


class Variable(NamedTuple):
    """A declared variable.

    Attributes:
        name: as it was written.
        default: what it is in the beginning.
        mask: its bit.
    """

    name: str
    default: bool
    mask: int


class SignalVariable(NamedTuple):
    """What one signal does to one variable.

    Attributes:
        variable: the name, as it was declared.
        mask: the variable's bit.
        test: its new value.
        text: the expression, for people.
    """

    variable: str
    mask: int
    test: Test
    text: str


class Node:
    """A Priority or a Leaf.

    Attributes:
        name: as it was written.
        label: its part of paths: its name, and a number if it is not the first of that name in its place.
        above: the Priority that it stands in; None for the root.
        test: its condition, if it cannot be written as terms.
        terms: its condition as alternatives, any of which is enough.
        condition: the expression, for people; empty if it has none.
        behavior: what a leaf selects, after translation; None for a Priority.
        skip: the index of the node that follows when the condition does not hold.
        file: where it stands.
        line: where in it.
    """

    __slots__ = ("above", "behavior", "condition", "file", "label", "line", "name", "skip", "terms", "test")

    def __init__(
        self,
        name: str,
        above: Node | None,
        compiled: Compiled | None,
        condition: str,
        behavior: str | None,
        skip: int,
        file: str,
        line: int,
    ) -> None:
        self.name: str = name
        self.label: str = name
        self.above: Node | None = above
        terms = ALWAYS if compiled is None else compiled.terms
        self.terms: tuple[Term, ...] = () if terms is None else terms
        self.test: Test | None = compiled.test if compiled is not None and terms is None else None
        self.condition: str = condition
        self.behavior: str | None = behavior
        self.skip: int = skip
        self.file: str = file
        self.line: int = line

    @property
    def path(self) -> str:
        """The labels from the root on, joined by ``/``. Composed when somebody asks: few do, and it may be long."""
        names = [self.label]
        above = self.above
        while above is not None:
            names.append(above.label)
            above = above.above
        return "/".join(reversed(names))

    def holds(self, bits: int) -> bool:
        """Whether its own condition holds; ``Program.walk`` has the same written out.

        Args:
            bits: the variables of an agent.
        """
        if any(bits & mask == value for mask, value in self.terms):
            return True
        return self.test is not None and self.test(bits)

    def __repr__(self) -> str:
        return f"<Node {self.path}{' -> ' + self.behavior if self.behavior is not None else ''}>"


class Program:
    """A compiled tree.

    Args:
        name: of the tree.
        kind: its attribute ``type``, as the file has it; it means nothing here.
        variables: in the order of declaration.
        signals: what each signal does, in the order of the file.
        nodes: in the order of the file, the root first.
        is_strict: whether a variable that is not declared is an error at run time, too.

    Attributes:
        type: as ``kind``.
        masks: name of a variable, as written and in lower case -> its bit.
        defaults: the bits of a new agent.
    """

    __slots__ = ("_selected", "defaults", "is_strict", "masks", "name", "nodes", "signals", "type", "variables")

    def __init__(
        self,
        name: str,
        kind: str,
        variables: tuple[Variable, ...],
        signals: Mapping[str, tuple[SignalVariable, ...]],
        nodes: tuple[Node, ...],
        is_strict: bool,
    ) -> None:
        self.name: str = name
        self.type: str = kind
        self.variables: tuple[Variable, ...] = variables
        self.signals: Mapping[str, tuple[SignalVariable, ...]] = signals
        self.nodes: tuple[Node, ...] = nodes
        self.is_strict: bool = is_strict
        self.masks: dict[str, int] = {one.name.lower(): one.mask for one in variables}
        self.masks.update((one.name, one.mask) for one in variables)
        self.defaults: int = sum(one.mask for one in variables if one.default)
        self._selected: dict[int, Node | None] = {}

    def mask(self, name: str) -> int:
        """The bit of a variable.

        Args:
            name: in any case.

        Returns:
            The bit; 0 in the compatible mode for one that is not declared.

        Raises:
            UnknownVariableError: it is not declared, and the mode is strict.
        """
        given: object = name
        mask = 0
        if isinstance(given, str):
            mask = self.masks.get(given) or self.masks.get(str.lower(given), 0)
        if not mask and self.is_strict:
            raise UnknownVariableError(name, self.name, [one.name for one in self.variables])
        return mask

    def select(self, bits: int) -> Node | None:
        """The first leaf for which all conditions from the root on hold.

        Args:
            bits: the variables of an agent.

        Returns:
            The leaf, or None if there is none.
        """
        selected = self._selected
        try:
            return selected[bits]
        except KeyError:
            if len(selected) >= MOST_REMEMBERED:
                selected.clear()
            leaf = selected[bits] = self.walk(bits)
            return leaf

    def walk(self, bits: int, without: Collection[str] = ()) -> Node | None:
        """The same, node by node.

        Args:
            bits: the variables of an agent.
            without: behaviors whose leaves are passed over.

        Returns:
            The leaf, or None if there is none.
        """
        nodes = self.nodes
        index, end = 0, len(nodes)
        while index < end:
            node = nodes[index]
            for mask, value in node.terms:
                if bits & mask == value:
                    break
            else:
                if node.test is None or not node.test(bits):
                    index = node.skip
                    continue
            if node.behavior is None or node.behavior in without:
                index += 1
            else:
                return node
        return None

    def says(self) -> object:
        """All that the tree means, without the places: equal for two readings of files that mean the same."""
        variables = tuple((one.name, one.default) for one in self.variables)
        signals = tuple(
            (name, tuple((one.variable, one.text) for one in effects)) for name, effects in self.signals.items()
        )
        nodes = tuple((one.name, one.condition, one.behavior, one.skip) for one in self.nodes)
        return self.name, self.type, variables, signals, nodes

    def values(self, bits: int) -> dict[str, bool]:
        """The variables by name.

        Args:
            bits: of an agent.
        """
        return {one.name: bits & one.mask != 0 for one in self.variables}

    def translated(self, bits: int, old: Program) -> int:
        """The bits of an agent that used another version of the tree.

        Args:
            bits: in the old version.
            old: that version.

        Returns:
            The bits here: what was there under the same name stays, what is new has its default.
        """
        new = 0
        for one in self.variables:
            mask = old.masks.get(one.name.lower())
            if one.default if mask is None else bits & mask:
                new |= one.mask
        return new
