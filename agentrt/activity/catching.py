"""How far up an abort goes.

An abort unwinds the whole plan, unless somebody on the way up *catches* it: an execution frame that was spawned by who
wants to hear of it (``SpawnedFrame(..., catches=True)``). Then only that frame is unwound, in the same way and by the
same machine (``Execution.give_up``), and who awaits it gets ``ActivityAbortedError``. Strategies are run like this, so
that one that fails is a failure of its parent's and not of the agent's plan.

A strand that awaits a frame behind a shield is not woken by being stopped, and nothing goes on in a frame of a plan
that unwinds. So it gets ``ActivityAbortedError`` as well (``cut_off``), and goes on in its clean-up.

Rejected: an exception that is thrown up the stack of strands. What is to be unwound are frames with their hooks, flags
and listeners, the inner first, and there is one machine that does it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrt.errors import ActivityAbortedError

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame
    from agentrt.activity.spawning import SpawnedFrame
    from agentrt.activity.unit import Unit
    from agentrt.kernel.strand import Strand

__all__ = ["aborted", "catcher_of", "cut_off", "is_under", "outermost_holder"]


def aborted(frame: Frame, reason: str, path: str) -> ActivityAbortedError:
    """The error of who awaits a frame that was unwound.

    Args:
        frame: it.
        reason: why, in words.
        path: where that came from.
    """
    planner = frame.planner
    return ActivityAbortedError(frame.activity, reason, agent=planner.name, path=path, tick=planner.kernel.clock.tick)


def catcher_of(unit: Unit | None) -> SpawnedFrame | None:
    """Who hears of an abort of a unit instead of the whole plan: the nearest one above it; None if nobody does.

    Args:
        unit: who asked for the abort, or None for the planner itself.
    """
    frame = None if unit is None else unit.frame
    while frame is not None:
        if frame.catcher is not None:
            return frame.catcher
        frame = None if frame.parent is None else frame.parent.frame
    return None


def outermost_holder(unit: Unit) -> Unit:
    """Who has to give way so that all control flags that are held for a unit come free: the outermost that holds one.

    Args:
        unit: the unit, which waits for a flag.

    Returns:
        It, or one above it.
    """
    owners = [hold.owner for hold in unit.frame.planner.flags.holds().values()]
    found, above = unit, unit.frame.parent
    while above is not None:
        if any(owner is above for owner in owners):
            found = above
        above = above.frame.parent
    return found


def cut_off(frame: Frame, strand: Strand | None) -> ActivityAbortedError | None:
    """What a strand is told that awaits a frame behind a shield while both are unwound.

    Args:
        frame: what it awaits.
        strand: who awaits it; None if nobody does.

    Returns:
        The error; None for one that is not stopped, or that hears of it by being cancelled.
    """
    if strand is None or strand.stop_reason is None or strand.pending() is not None:
        return None
    return aborted(frame, strand.stop_reason, frame.path())


def is_under(frame: Frame, target: Frame) -> bool:
    """Whether a frame is the target or lies below it.

    Args:
        frame: the frame.
        target: what may lie above it.
    """
    node: Any = frame
    while node.depth > target.depth:
        node = node.parent.frame
    return node is target
