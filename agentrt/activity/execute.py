"""``ctx.execute``: an activity thought and run from within an action's ``run``.

The caller's strand waits; the activity's frame hangs below the caller's unit, on the same stack, so that a preemption
or an abort unwinds both, the inner first.

The frame thinks as any other. If nothing can become ready any more, the caller gets an error instead of waiting for
ever.

Source: seed 001, "AI contexts", `execute`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrt.activity.frame import Frame
from agentrt.activity.states import IDLE
from agentrt.errors import ActivityImpossibleError, WrongStateError
from agentrt.kernel.scope import CancelScope
from agentrt.kernel.traps import Waiter, suspend_on

if TYPE_CHECKING:
    from agentrt.activity.extras import Extras
    from agentrt.activity.unit import Unit

__all__ = ["execute"]


class _Call:
    """The owner of an executed frame: one call of ``ctx.execute``."""

    __slots__ = ("done", "error", "output", "unit", "waiter")

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.waiter = Waiter()
        self.done = False
        self.error: Exception | None = None
        self.output: Any = None

    def _end(self, error: Exception | None) -> None:
        if not self.done:
            self.done = True
            self.error = error
            if not self.waiter.notify():
                # The caller does not wait yet. It always waits once, so that a loop of activities that take no time is
                # found to let no time pass.
                self.unit.frame.planner.kernel.call_soon(self.waiter.notify)

    def frame_ready(self, frame: Frame) -> None:
        """Run it at once."""
        if frame.start():
            frame.run()
        elif not frame.execution.is_aborting:
            self.frame_answered(frame)

    def frame_unready(self, frame: Frame) -> None:
        """It never waits in the ready state."""

    def frame_answered(self, frame: Frame) -> None:
        """Nothing is ready: go on waiting only while somebody may become so."""
        if not frame.may_change():
            planner = frame.planner
            self._end(
                ActivityImpossibleError(
                    frame.activity, agent=planner.name, path=self.unit.path(), tick=planner.kernel.clock.tick
                )
            )

    def frame_rejected(self, frame: Frame) -> None:
        """The caller chose the arguments: it is told by the error."""
        self.frame_answered(frame)

    def frame_utility(self, frame: Frame) -> None:
        """Nothing above competes by it."""

    def frame_finished(self, frame: Frame) -> None:
        """It ran to its end."""
        assert frame.active is not None
        self.output = frame.active.output
        frame.stop()
        self._end(None)

    def unwound(self) -> None:
        """It was unwound because the caller does not wait any more."""
        self._end(None)


async def execute(unit: Unit, extras: Extras, activity: str, args: dict[str, Any]) -> Any:
    """Think and run an activity below a running unit.

    Args:
        unit: the caller.
        extras: its extras.
        activity: what to perform.
        args: its arguments.

    Returns:
        The think output of the action that performed it.
    """
    if extras.execute is not None:
        raise WrongStateError(
            "execute", f"the action executes {extras.execute.activity!r}", "Await one activity before the next."
        )
    call = _Call(unit)
    frame = Frame(unit.frame.execution, call, unit, activity, 0, is_bound=False)
    extras.execute = frame
    try:
        frame.begin(args, None)  # the entity as it is: what it is expected to be after this action has not happened yet
        await suspend_on(call.waiter)
    except GeneratorExit:
        raise  # nobody steps this coroutine any more
    except BaseException:
        if frame.is_running:
            await _give_up(frame, call)
        raise
    finally:
        if frame.state != IDLE and not frame.is_running:
            frame.stop()
        extras.execute = None
    if call.error is not None:
        raise call.error
    return call.output


async def _give_up(frame: Frame, call: _Call) -> None:
    """The caller was cancelled by a scope of its own: unwind the frame before the caller goes on."""
    call.done = False
    call.waiter = Waiter()
    frame.execution.give_up(frame, call.unwound)
    with CancelScope(shield=True):
        await suspend_on(call.waiter)
