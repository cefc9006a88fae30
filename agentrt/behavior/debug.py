"""What people see of a memory: the decision log, its state as text, why others are not active, and its view.

*The decision log* tells what a tick decided, line by line, to a function that an author hangs in. The words of its
lines, and those of *the state as text*, are the source's; docs/tutorials/behavior.md shows both. Levels 1 and 2 write
only when something changes, and cost nothing in a tick in which nothing does; from 3 on, every tick is walked in full.
Watching changes no decision.

*Why a decider is not active* is found out by looking, without calling anything of an author's. Its checks are asked
again, in the order in which ``decide`` asks them, and the first that fails is the reason. All of them but one are plain
comparisons. A Decide is never called: that of a decider whose other checks pass did not accept when it was asked, else
the decider would be active. Whether it was asked at all follows from the policy of its group. What is found is true
now. A tree that drives in each fourth tick, say, may have decided on something else.

Source: ours, `agent.explain()`; Spore, behavior trees: "S06: Preconditions & Stimuli"; "S11: Debugging".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING

from agentrt.behavior.declare import PRIORITIZED_LIST
from agentrt.behavior.memory import ActivationStage, number_of
from agentrt.behavior.stimuli import SLACK, token_name
from agentrt.behavior.views import AskedView, DeciderView, StimulusView, TreeView
from agentrt.body.driver import NAMELESS, called
from agentrt.errors import ENDS_PROGRAM
from agentrt.words import printable

if TYPE_CHECKING:
    from agentrt.behavior.compile import DeciderNode
    from agentrt.behavior.declare import Check
    from agentrt.behavior.memory import Activation, DebugOutput, DeciderChoice, Memory

_STARS = "*" * 16
_UNNAMED = "tree"  # what a memory is called unless its author says otherwise

# --- the decision log -------------------------------------------------------------------------------------------------


def log_of(memory: Memory) -> DecisionLog | None:
    """Who writes this tick of a memory down; None if nobody reads it."""
    output = memory.tree.debug_output
    return DecisionLog(memory, output) if output.level and output.is_for(memory) else None


def _label(node: DeciderNode) -> str:
    """A decider with its number, such as ``ROOT/0x2d5e207``."""
    return f"{node.name}/{node.id:#x}"


def _behavior_label(node: DeciderNode) -> str:
    assert node.behavior is not None
    return f"{node.behavior.name}/{node.behavior_id:#x}"


def _acting(node: DeciderNode) -> str:
    return f"behavior {_behavior_label(node)} with flags {node.behavior_flags:#x}, in decider {_label(node)}"


@dataclass(slots=True, eq=False, repr=False)
class DecisionLog:
    """Writes the lines of one memory."""

    _memory: Memory
    _output: DebugOutput

    def _line(self, level: int, node: DeciderNode | None, depth: int, text: str) -> None:
        output, memory = self._output, self._memory
        function = output.function
        if level > output.level or function is None:
            return
        output.current_memory = memory
        output.current_decider = "" if node is None else node.name
        output.current_level = level
        output.current_time = memory.time
        try:
            function(f"BTDBO({level}) {self._agent()} @ {memory.time:.3f}: {' ' * depth}{text}")
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # watching never changes the run
            output.function = None
            memory.state.body.fault(memory.name, "debug_output", error)

    def _agent(self) -> str:
        """The number of the agent; what it is called if it has none, or else its memory, if anybody named that."""
        memory = self._memory
        number = number_of(memory)
        if number:
            return f"0x{number:08X}"
        name = NAMELESS if memory.body is None else called(memory.body)
        if name == NAMELESS:
            name = "" if memory.name == _UNNAMED else printable(memory.name)
        return name or "0x00000000"

    @property
    def wants_all(self) -> bool:
        return self._output.level > 4

    # --- levels 1 and 2: something changes ----------------------------------------------------------------------------

    def entering(self, at: Activation) -> None:
        node, depth = at.node, at.depth
        self._line(5, node, max(depth - 1, 0), f"next_decider_push {_label(node)}")
        self._processing(at, is_new=True)
        if node.behavior is not None:
            self._line(1, node, depth, f"activating {_acting(node)}")

    def deactivating(self, at: Activation) -> None:
        self._line(2, at.node, at.depth, f"deactivating {_acting(at.node)}")

    def failing(self, at: Activation) -> None:
        """A decider fails."""
        self._line(2, at.node, at.depth, f"{at.node.kind} decider {_label(at.node)} failed")

    def redeciding(self, at: Activation) -> None:
        """A group redecides: a child failed, and is masked."""
        self._line(2, at.node, at.depth, f"redeciding {_label(at.node)}, mask: 0x{at.extra.mask:08x}")
        self._processing(at, is_new=False, redecide=True)

    # --- level 3: every tick ------------------------------------------------------------------------------------------

    def starting(self) -> None:
        memory, tree = self._memory, self._memory.tree
        self._line(3, None, 0, f"{_STARS} starting tree @ 0x{tree.id:08X} for {self._agent()} {_STARS}")
        decision, stimuli = int(memory.decision_flags), int(memory.stimuli_flags)
        self._line(
            3, None, 0, f"dt: {memory.dt:.6f}, DecisionFlags: 0x{decision:08x}, StimuliAllFlags: 0x{stimuli:08x}"
        )

    def finished(self) -> None:
        depth = sum(1 for _ in self._memory.path())
        self._line(3, None, 0, f"{_STARS} finished tree for {self._agent()}, depth {depth} {_STARS}")

    def ticking(self, at: Activation) -> None:
        node, memory = at.node, self._memory
        text = f"ticking behavior {_behavior_label(node)} @ {memory.time:.6f} (dt: {memory.dt:.6f})"
        self._line(3, node, at.depth, f"{text} with flags {node.behavior_flags:#x}, duration {at.duration:.3f}")

    def current(self, at: Activation) -> None:
        self._line(3, at.node, at.depth, f"current {_acting(at.node)}")

    # --- levels 4 and 5: every decision -------------------------------------------------------------------------------

    def visiting(self, at: Activation) -> None:
        node, depth = at.node, at.depth
        self._processing(at, is_new=False)
        text = f"visiting current {node.kind} decider {_label(node)}, "
        if node.children:
            text += f"{node.policy}, {len(node.children)} children, active child {at.index}, "
        self._line(4, node, depth, f"{text}duration {at.duration:.3f}")

    def _processing(self, at: Activation, *, is_new: bool, redecide: bool = False) -> None:
        node = at.node
        text = f"processing decider {_label(node)}, flags: {node.decider_flags:#x}, new: {is_new:d}, "
        text += f"mask: 0x{at.extra.mask:08x}, redecide: {redecide:d}, block id: 0x{node.id:08x}"
        self._line(5, node, at.depth, text)

    def child(self, parent: Activation | None, node: DeciderNode, trail: list[str]) -> None:
        depth, index = (0, 0) if parent is None else (parent.depth, parent.node.children.index(node))
        self._line(5, node, depth, f"child {index} ({_label(node)})...{'...'.join(trail)}")

    def returned(self, at: Activation, choice: DeciderChoice | None) -> None:
        index = -1 if choice is None else at.node.children.index(choice.asked)
        order = at.extra.order
        shuffled = -1 if order is None or choice is None else order.index(index)
        self._line(5, at.node, at.depth, f"ChildrenDecide returned with RunIdx {index}, ShuffleIdx {shuffled}")

    def continuing(self, at: Activation) -> None:
        assert at.child is not None
        name = _label(at.child.node)
        self._line(4, at.node, at.depth, f"continuing child {at.index} {name}, duration: {at.duration:.6f}")
        self._line(5, at.node, at.depth, f"next_decider_push {name}")


# --- the state as text ------------------------------------------------------------------------------------------------


def print_state(memory: Memory, whole_tree: bool) -> str:
    """The state as text, of the active deciders or of the whole tree."""
    if not whole_tree:
        return "\n".join(_line(at.node, _place(at), at, depth) for depth, at in enumerate(memory.path()))
    lines: list[str] = []
    stack: list[tuple[DeciderNode, int, Activation | None, int]] = []
    if memory.tree.nodes:
        stack.append((memory.tree.nodes[0], 0, memory.root, 0))
    while stack:
        node, place, at, depth = stack.pop()
        lines.append(_line(node, place, at, depth))
        for index in reversed(range(len(node.children))):
            active = at.child if at is not None and at.index == index else None
            stack.append((node.children[index], index, active, depth + 1))
    return "\n".join(lines)


def _place(at: Activation) -> int:
    return 0 if at.parent is None else at.parent.index


def _line(node: DeciderNode, place: int, at: Activation | None, depth: int) -> str:
    kind = node.kind if node.policy is None else f"{node.kind}, {node.policy}"
    star = " " if at is None else "*"
    parts = [f"{'  ' * depth}{star}{place}:{_label(node)} ({kind} {node.decider_flags:#x})"]
    if at is not None:
        parts.append(f"time: {at.duration:.2f}")
    if node.behavior is not None:
        parts.append(f"[{_behavior_label(node)}]")
        if at is not None:
            parts.append(f"(0x{node.block_id:08x} {_size(at.block)})")
    elif node.target is not None:
        parts.append(f"[-> {_label(node.target)}]")
    else:
        parts.append("[(no group behavior)]")
    if at is not None and node.children:
        parts.append(f"idx: {at.index if at.child is not None else -1}")
    return " ".join(parts)


def _size(block: object) -> int:
    if block is None:
        return 0
    if is_dataclass(block):
        return len(fields(block))
    return len(getattr(block, "__dict__", ())) + len(getattr(type(block), "__slots__", ()))


# --- why others are not active ----------------------------------------------------------------------------------------


def asked(memory: Memory) -> Iterator[AskedView]:
    """The deciders that are not active, of each active group in order; ROOT itself, if it is not active."""
    if memory.root is None:
        root = memory.tree.nodes[0]
        path = memory.state.path_of(root, None)
        yield AskedView(path, root.name, *_checked(memory, root, path))
    path = memory.name
    for at in memory.path():
        path = f"{path}/{at.node.name}"
        for index, node in enumerate(at.node.children):
            if at.child is None or index != at.index:
                where = f"{path}/{node.name}"
                yield AskedView(where, node.name, *_sibling(memory, at, index, node, where))


def _sibling(memory: Memory, at: Activation, index: int, node: DeciderNode, path: str) -> tuple[str, str]:
    active = at.child
    if active is not None:
        if at.node.policy is not PRIORITIZED_LIST:
            return "not_asked", f"nobody is asked while {active.node.name} is active"
        if index > at.index:
            return "after", f"it comes after {active.node.name}"
    return _checked(memory, node, path)


def _checked(memory: Memory, node: DeciderNode, path: str) -> tuple[str, str]:
    """What the checks of a decider come to, in the order of ``decide``."""
    if memory.state.is_disabled(node):
        rare = memory.state.seldom
        if rare is not None and node.number in rare.barred:
            return "disabled", "it is out by hand: disabled, or another one is forced"
        return "disabled", "one of its functions raised"
    if node.timer >= 0:
        again = memory.timers[node.timer] + node.every
        if again > memory.time + SLACK and not _awaits_flags(memory, path):
            return "time", f"it is asked every {node.every:g} s at most, and again at {again:.2f} s"
    if node.decision is not None and not node.decision.holds(memory.decision_flags):
        return "decision_flags", f"its decision flags do not fit: {_unfit(node.decision, int(memory.decision_flags))}"
    if node.stimuli is not None and not node.stimuli.holds(memory.stimuli_flags):
        return "stimuli_flags", f"its stimuli do not fit: {_unfit(node.stimuli, int(memory.stimuli_flags))}"
    target = node.target
    if target is not None and any(at.node is target for at in memory.path()):
        return "target", f"{target.name}, to which it leads, is active"
    return _flags_or_decide(memory, node, path)


def _flags_or_decide(memory: Memory, node: DeciderNode, path: str) -> tuple[str, str]:
    rare = memory.state.seldom
    refused = None if rare is None else rare.refused.get(path)
    if refused is not None:
        waits = " and it waits" if _awaits_flags(memory, path) else ""
        return "control_flags", f"{refused[0]} is held by {refused[1]}{waits}"
    if node.delegates:
        return "refused", "none of its children accepts"
    if node.decide is None:
        return "refused", "its checks hold, but it was not activated since"
    return "refused", "its Decide does not accept"


def _awaits_flags(memory: Memory, path: str) -> bool:
    return memory.state.has_claims and path in memory.state.rare.waiting


def _unfit(check: Check, word: int) -> str:
    """Which bits of a word do not pass a check."""
    wrong = (word ^ check.pattern) & check.mask
    missing, unwanted = wrong & check.pattern, wrong & ~check.pattern
    parts = [f"{check.words(missing)} has to be there"] if missing else []
    if unwanted:
        parts.append(f"{check.words(unwanted)} must not be there")
    for any_set, any_clear in check.parts:
        if not word & any_set and word & any_clear == any_clear:
            either = [f"one of {check.words(any_set)} has to be there"] if any_set else []
            if any_clear:
                either.append(f"one of {check.words(any_clear)} must not be there")
            parts.append(" or ".join(either))
    return ", ".join(parts)


# --- the view ---------------------------------------------------------------------------------------------------------


def view_of(memory: Memory) -> TreeView:
    return TreeView(
        name=memory.name,
        tree=memory.tree.name,
        path=tuple(_decider(at) for at in memory.path()),
        asked=tuple(asked(memory)),
        stimuli=tuple(StimulusView(token_name(one.token), one.remaining) for one in memory.perceived()),
        decision_flags=int(memory.decision_flags),
        stimuli_flags=int(memory.stimuli_flags),
        disabled=memory.disabled,
        waiting=tuple(memory.state.rare.waiting) if memory.state.has_claims else (),
        is_cleaning_up=memory.state.is_unwinding,
        print=print_state(memory, False),
    )


def _decider(at: Activation) -> DeciderView:
    node = at.node
    return DeciderView(
        name=node.name,
        path=at.path,
        kind=node.kind,
        policy="" if node.policy is None else node.policy.value,
        index=_place(at),
        behavior=None if node.behavior is None else node.behavior.name,
        since=at.since,
        flags=node.flags,
        is_waiting=at.stage is ActivationStage.ACTIVATING,
    )
