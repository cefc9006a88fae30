"""Control flow of the planner: what ``ctx.abort`` and ``ctx.reject`` raise. Not errors; let them pass.

It is raised on the *own stack* of an action and nowhere else: while the kernel steps the strand of its ``think`` or
``run``, or calls one of its plain hooks. Only there it ends the code that has to end. Whoever else calls (a posted
function, a listener of a signal, a strand of the world, another agent, another thread) has nothing to do with it: the
call returns, and the action is told when the ready queue comes to that, or by the next intake if nothing is stepped at
the moment (``tell``).

The own stack may have code of others in the middle: the action emits a signal, and a listener aborts it. That listener
ends at the call, whoever contains what it raised sends it on (``ControlFlow.send_on``), and the action is told.

``ends_thinking`` says what control flow, and errors, mean for an action that thinks, wherever code of its author is
asked for more.

How far up an abort goes.

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

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from agentrt.errors import ENDS_PROGRAM, ActivityAbortedError, WrongStateError
from agentrt.kernel.agenda import ControlFlow
from agentrt.kernel.batch import Batch
from agentrt.kernel.strand import Strand
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.activity.plan.spawned import SpawnedFrame
    from agentrt.activity.plan.tree import Frame, Unit

__all__ = [
    "Abort",
    "Flow",
    "Reject",
    "ends_thinking",
    "is_on_own_stack",
    "require_own_stack",
    "aborted",
    "catcher_of",
    "cut_off",
    "is_under",
    "outermost_holder",
]


class Flow(ControlFlow):
    """Control flow that one action is meant by.

    Args:
        tell: has the action do it, wherever that was asked for: by the context through which it was.
    """

    method = ""
    """What the author called."""

    def __init__(self, reason: str, tell: Callable[[Flow], None]) -> None:
        self.reason: Final = words_of(reason)  # as given, in words
        self._tell = tell
        super().__init__(self.reason)

    def send_on(self) -> None:
        """It was contained on its way: tell the action."""
        self._tell(self)


@final
class Abort(Flow):
    """The plan cannot go on: unwind it all and plan again.

    Source: seed 001, "AI contexts", `abort`.
    """

    method = "abort"


@final
class Reject(Flow):
    """The action cannot work with the arguments that it got; others might.

    Source: seed 001, "AI contexts", `reject`.
    """

    method = "reject"


def is_on_own_stack(unit: Unit) -> bool:
    """Whether the caller is an action itself: its think or run, which is being stepped, or a hook of it."""
    kernel = unit.frame.planner.kernel
    if not kernel.is_here:
        return False
    if kernel.acting is not None:
        return kernel.acting is unit
    current = kernel.current if kernel.is_stepping else None
    if isinstance(current, Strand):
        return current is unit.running or current is unit.thinking
    return isinstance(current, Batch) and current.member is unit


def require_own_stack(unit: Unit, method: str) -> None:
    """An action does one thing at a time, and what is below it ends before it does: nobody else may do it for it.

    Raises:
        WrongStateError: the caller is another coroutine than its ``run``.
    """
    if not is_on_own_stack(unit):
        raise WrongStateError(
            method, "it is another coroutine than that of the action", "Await it in 'run' itself, one by one."
        )


def ends_thinking(unit: Unit, hook: str, call: Callable[..., object], *args: Any) -> bool:
    """Call an author's code for an action that is ready.

    Args:
        hook: what the code is called, for the report of an error.

    Returns:
        Whether the action is out now, or the plan is being aborted.
    """
    kernel = unit.frame.planner.kernel
    outer, kernel.acting = kernel.acting, unit
    try:
        try:
            call(*args)
        finally:
            kernel.acting = outer
    except Reject as rejection:
        unit.reject(rejection.reason)
    except Abort as abort:
        unit.frame.execution.abort(abort.reason, unit)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.disable(hook, error)
    else:
        return False
    return True


def aborted(frame: Frame, reason: str, path: str) -> ActivityAbortedError:
    """The error of who awaits a frame that was unwound."""
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
        strand: who awaits it; None if nobody does.

    Returns:
        The error; None for one that is not stopped, or that hears of it by being cancelled.
    """
    if strand is None or strand.stop_reason is None or strand.pending() is not None:
        return None
    return aborted(frame, strand.stop_reason, frame.path())


def is_under(frame: Frame, target: Frame) -> bool:
    """Whether a frame is the target or lies below it."""
    node: Any = frame
    while node.depth > target.depth:
        node = node.parent.frame
    return node is target
