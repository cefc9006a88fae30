"""A tick of a tree: the steady path, and where it ends and a walk begins.

The steady path is one loop: down the active path, tick the behaviors, ask those of higher priority. It makes nothing
and looks nothing up. As soon as somebody accepts, fails, or has yet to choose, a ``Walk`` goes on from there. Whatever
is unusual (a disabled decider, a claim that waits, a clean-up, a log of every tick) turns ``TreeState.is_plain`` off,
and the whole tick is a walk.

What is asked here is asked in the order of ``decide``, of which this loop is the part that most ticks need: a check
that is added there is wanted here, too.

``MACHINE`` is what a memory, which stands below, calls all of this by.

Source: Spore, behavior trees: "S09: Initializing and Ticking the Behavior Tree"; "S10: Performance".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from agentrt.behavior.decide import accepted, attempt, delegate
from agentrt.behavior.explain import print_state, view_of
from agentrt.behavior.log import log_of
from agentrt.behavior.memory import SLACK
from agentrt.behavior.walk import Walk, WalkStep, drop_walk, settle
from agentrt.body.driver import LoneBody
from agentrt.errors import ENDS_PROGRAM

if TYPE_CHECKING:
    from agentrt.behavior.compile import DeciderNode
    from agentrt.behavior.memory import Activation, DeciderChoice, Machine, Memory
    from agentrt.behavior.views import TreeView

__all__ = ["MACHINE"]

_FAIL = WalkStep.FAIL  # a member of an enum is looked up in its class, in each tick


class Ticker:
    """Ticks memories, and shows them; one for all. It keeps nothing."""

    __slots__ = ()

    def steady(self, memory: Memory, at: Activation) -> bool:  # noqa: C901 - one frame, for speed
        """Go down the active path, until something changes."""
        child: DeciderNode | None = None
        choice: DeciderChoice | None = None
        step, state = _FAIL, memory.state
        try:
            while True:
                node = at.node
                beat = node.beat
                if beat is not None:
                    answer = beat(at)
                    if answer is not True and answer is not None and not answer:
                        break
                below = at.child
                if below is None:
                    if not node.children:
                        return True
                    step = WalkStep.DECIDE
                    break
                state.asked_by = at
                for child in node.higher[at.index]:
                    decide = child.ask
                    if decide is None:
                        choice = _attempt(memory, at, child)
                        if choice is not None:
                            break
                    else:
                        state.asked = child
                        if decide(memory) > 0.0:
                            break
                else:
                    state.asked = child = None
                    at = below
                    continue
                break
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            return _raised(memory, at, child, error)
        if child is None:
            return _run(memory, Walk.go, at, step)
        return _accepted(memory, at, child, choice)

    def in_full(self, memory: Memory) -> bool:
        """Walk the whole path."""
        if memory.body is None:
            memory.join(LoneBody(memory.agent))
        if memory.state.is_unwinding:
            drop_walk(memory)
            return True
        log = log_of(memory)
        if log is not None:
            log.starting()
        try:
            return _run(memory, Walk.from_root)
        finally:
            if log is not None:
                log.finished()

    def settle(self, memory: Memory, *, is_over: bool = False) -> None:
        """Do what had to wait for the end of a tick; or of none, between two of them."""
        settle(memory, is_over=is_over)

    def delegate(self, memory: Memory) -> float:
        """Within the Decide of a group: ask its children, and remember whom it would choose."""
        return delegate(memory)

    def view(self, memory: Memory) -> TreeView:
        """What it is doing, as plain values."""
        return view_of(memory)

    def text(self, memory: Memory, whole_tree: bool) -> str:
        """Its state as indented text."""
        return print_state(memory, whole_tree)


MACHINE: Final[Machine] = Ticker()


def _attempt(memory: Memory, at: Activation, child: DeciderNode) -> DeciderChoice | None:
    """Ask a child that has preconditions, unless one of them fails at a glance."""
    check = child.decision
    if check is not None and memory.decision_flags & check.mask != check.pattern:
        return None
    check = child.stimuli
    if check is not None and memory.stimuli_flags & check.mask != check.pattern:
        return None
    # Nothing of this memory waits for control flags, else the tick would be walked in full.
    if child.timer >= 0 and memory.time - memory.timers[child.timer] < child.every - SLACK:
        return None
    return attempt(memory, at, at.node.children.index(child), child, None)


def _raised(memory: Memory, at: Activation, child: DeciderNode | None, error: BaseException) -> bool:
    """The tick of a behavior raised, or the Decide of a child."""
    if child is None:
        memory.state.fault(at.node, at.path, "tick", error)
        return _run(memory, Walk.go, at, WalkStep.FAIL)
    memory.state.fault(child, memory.state.path_of(child, at), "decide", error)
    return _run(memory, Walk.after, at, at.node.children.index(child) + 1)


def _accepted(memory: Memory, at: Activation, child: DeciderNode, choice: DeciderChoice | None) -> bool:
    """A child of higher priority takes over."""
    index = at.node.children.index(child)
    if choice is None:
        choice = accepted(memory, at, index, child)
    if choice is None:
        return _run(memory, Walk.after, at, index + 1)
    return _run(memory, Walk.take, choice, at)


def _run(memory: Memory, way: Callable[..., object], *args: Any) -> bool:
    """Walk.

    Args:
        way: the method of a new walk to call.
        args: its arguments.

    Returns:
        Whether a behavior ticked, or a coroutine of one is at work.
    """
    walk = Walk(memory)
    try:
        way(walk, *args)
    finally:
        memory.state.finish(walk)
    return walk.is_busy
