"""The decision log: what a tick decided, line by line, for a function that an author hangs in.

    BTDBO(5) 0x026DBE38 @ 149.267:  child 1 (FIGHT/0x2d5e201)...has no preconditions...Decide returned 0.000000

A line is the level at which it appears, the number of the agent, the time that was passed to the tick, one blank for
each decider above the place, and the message. A thing is named together with its number. Where the agent has no number,
because the memory is ticked by hand, stands what it is called, if it is called anything. The levels:

    0  nothing
    1  a behavior is activated
    2  a behavior is deactivated, a decider fails, a group redecides
    3  in every tick: its begin and end, its flags, the behavior that ticks
    4  which group is visited, and that its child goes on
    5  every decider that is processed, and every child that is asked, with each check

Levels 1 and 2 write only when something changes, and cost nothing in a tick in which nothing does; from 3 on, every
tick is walked in full. Watching changes no decision.

Source: Spore, behavior trees: "S11: Debugging", 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.behavior.memory import number_of
from agentrt.body.driver import NAMELESS, called
from agentrt.errors import ENDS_PROGRAM
from agentrt.words import printable

if TYPE_CHECKING:
    from agentrt.behavior.compile import DeciderNode
    from agentrt.behavior.memory import Activation, DebugOutput, DeciderChoice, Memory

__all__ = ["DecisionLog", "behavior_label", "label", "log_of", "name_of"]

_STARS = "*" * 16
_UNNAMED = "tree"  # what a memory is called unless its author says otherwise


def name_of(memory: Memory) -> str:
    """What an agent without a number is called, or else its memory; empty if nobody named either."""
    body = memory.body
    name = NAMELESS if body is None else called(body)
    if name != NAMELESS:
        return name
    return "" if memory.name == _UNNAMED else printable(memory.name)


def log_of(memory: Memory) -> DecisionLog | None:
    """Who writes this tick of a memory down; None if nobody reads it."""
    output = memory.tree.debug_output
    return DecisionLog(memory, output) if output.level and output.is_for(memory) else None


def label(node: DeciderNode) -> str:
    """A decider as the log names it, such as ``ROOT/0x2d5e207``."""
    return f"{node.name}/{node.id:#x}"


def behavior_label(node: DeciderNode) -> str:
    """The behavior of a decider as the log names it."""
    assert node.behavior is not None
    return f"{node.behavior.name}/{node.behavior_id:#x}"


class DecisionLog:
    """Writes the lines of one memory."""

    __slots__ = ("_memory", "_output")

    def __init__(self, memory: Memory, output: DebugOutput) -> None:
        self._memory = memory
        self._output = output

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
            memory.state.require_body().fault(memory.name, "debug_output", error)

    def _agent(self) -> str:
        number = number_of(self._memory)
        return (not number and name_of(self._memory)) or f"0x{number:08X}"

    @property
    def wants_all(self) -> bool:
        """Whether anybody reads what came of each check."""
        return self._output.level > 4

    # --- levels 1 and 2: something changes ----------------------------------------------------------------------------

    def entering(self, at: Activation) -> None:
        """Somebody is activated."""
        node, depth = at.node, at.depth
        self._line(5, node, max(depth - 1, 0), f"next_decider_push {label(node)}")
        self._processing(at, is_new=True)
        if node.behavior is not None:
            text = f"activating behavior {behavior_label(node)} with flags {node.behavior_flags:#x}, in decider "
            self._line(1, node, depth, text + label(node))

    def deactivating(self, at: Activation) -> None:
        """A behavior is deactivated."""
        node = at.node
        text = f"deactivating behavior {behavior_label(node)} with flags {node.behavior_flags:#x}, in decider "
        self._line(2, node, at.depth, text + label(node))

    def failing(self, at: Activation) -> None:
        """A decider fails."""
        self._line(2, at.node, at.depth, f"{at.node.kind} decider {label(at.node)} failed")

    def redeciding(self, at: Activation) -> None:
        """A group redecides, because a child failed.

        Args:
            at: its activation; the child is masked.
        """
        self._line(2, at.node, at.depth, f"redeciding {label(at.node)}, mask: 0x{at.mask:08x}")
        self._processing(at, is_new=False, redecide=True)

    # --- level 3: every tick ------------------------------------------------------------------------------------------

    def starting(self) -> None:
        """A tick begins."""
        memory, tree = self._memory, self._memory.tree
        self._line(3, None, 0, f"{_STARS} starting tree @ 0x{tree.id:08X} for {self._agent()} {_STARS}")
        decision, stimuli = int(memory.decision_flags), int(memory.stimuli_flags)
        self._line(
            3, None, 0, f"dt: {memory.dt:.6f}, DecisionFlags: 0x{decision:08x}, StimuliAllFlags: 0x{stimuli:08x}"
        )

    def finished(self) -> None:
        """A tick is over."""
        depth = sum(1 for _ in self._memory.path())
        self._line(3, None, 0, f"{_STARS} finished tree for {self._agent()}, depth {depth} {_STARS}")

    def ticking(self, at: Activation) -> None:
        """A behavior is about to tick."""
        node, memory = at.node, self._memory
        text = f"ticking behavior {behavior_label(node)} @ {memory.time:.6f} (dt: {memory.dt:.6f})"
        text += f" with flags {node.behavior_flags:#x}, duration {at.duration:.3f}"
        self._line(3, node, at.depth, text)

    def current(self, at: Activation) -> None:
        """The path ends with a behavior."""
        node = at.node
        text = f"current behavior {behavior_label(node)} with flags {node.behavior_flags:#x}, in decider {label(node)}"
        self._line(3, node, at.depth, text)

    # --- levels 4 and 5: every decision -------------------------------------------------------------------------------

    def visiting(self, at: Activation) -> None:
        """A decider on the path is visited."""
        node, depth = at.node, at.depth
        self._processing(at, is_new=False)
        text = f"visiting current {node.kind} decider {label(node)}, "
        if node.children:
            text += f"{node.policy}, {len(node.children)} children, active child {at.index}, "
        self._line(4, node, depth, f"{text}duration {at.duration:.3f}")

    def _processing(self, at: Activation, *, is_new: bool, redecide: bool = False) -> None:
        node = at.node
        text = f"processing decider {label(node)}, flags: {node.decider_flags:#x}, new: {is_new:d}, "
        text += f"mask: 0x{at.mask:08x}, redecide: {redecide:d}, block id: 0x{node.id:08x}"
        self._line(5, node, at.depth, text)

    def child(self, parent: Activation | None, index: int, node: DeciderNode, trail: list[str]) -> None:
        """A child was asked."""
        depth = 0 if parent is None else parent.depth
        self._line(5, node, depth, f"child {index} ({label(node)})...{'...'.join(trail)}")

    def returned(self, at: Activation, choice: DeciderChoice | None) -> None:
        """A group has decided."""
        index = -1 if choice is None else choice.index
        shuffled = -1 if at.order is None or choice is None else at.order.index(index)
        text = f"ChildrenDecide returned with RunIdx {index}, ShuffleIdx {shuffled}"
        self._line(5, at.node, at.depth, text)

    def continuing(self, at: Activation) -> None:
        """The active child of a group goes on."""
        assert at.child is not None
        text = f"continuing child {at.index} {label(at.child.node)}, duration: {at.duration:.6f}"
        self._line(4, at.node, at.depth, text)
        self._line(5, at.node, at.depth, f"next_decider_push {label(at.child.node)}")
