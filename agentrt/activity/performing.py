"""Performances: activities that an agent performs once, beside its own plan, because a coroutine asked for them.

A goal, a behavior, an observer, or a coroutine of the world awaits ``agent.perform(activity, ...)``. All actions that
the agent knows for the activity think, the best is elected and run to its end, with preemption, task groups and
everything else as in the agent's own plan; but it is done once, and what goes wrong is an error of who awaits it:

* nobody can perform it now: ``ActivityImpossibleError``;
* an action aborts, or raises while it runs: ``ActivityAbortedError``, after everything was stopped;
* it needs a control flag of somebody who waits for whom it is performed for, a deadlock, or is the youngest of a circle
  of waits (``waits``): ``ActivityAbortedError``;
* the awaiting coroutine is cancelled: the performance is unwound, inner first, before the cancellation goes on;
* the agent ends: ``ActivityAbortedError``.

It shares the body with the plan through the ledger of control flags. Performed for a goal or a behavior, it shares the
flags of that one, and its claims have that one's precedence.

Source: design section 3, bridges: "a goal or behavior that performs an activity".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

from agentrt.activity.execution import Execution
from agentrt.activity.frame import Frame
from agentrt.activity.states import IDLE, THINKING
from agentrt.activity.unit import Unit
from agentrt.activity.waits import look_for_circle
from agentrt.errors import ENDS_PROGRAM, ActivityAbortedError, ActivityImpossibleError, ActivityRecursionError
from agentrt.kernel.scope import outlast
from agentrt.kernel.trace import Event
from agentrt.kernel.traps import Waiter, at_once, current_strand, suspend_on

if TYPE_CHECKING:
    from agentrt.activity.planner import Planner
    from agentrt.activity.spec import ActionSpec
    from agentrt.body.flags import Holder

__all__ = ["MAX_NESTED", "Awaiting", "Performance", "perform"]

_ages = count()  # only which of two is the younger is ever asked; so it may go on from one runtime to the next

MAX_NESTED = 64
"""How many performances may be within one another, each awaited by an action of the one before."""


class _Root(Frame):
    """The root of a performance; its path says for whom it is performed, and tells it from others that go on."""

    __slots__ = ("chosen",)

    def __init__(self, execution: Execution, activity: str, holder: Holder | None, chosen: ActionSpec | None) -> None:
        super().__init__(execution, execution, None, activity, 0, is_bound=False)
        self.chosen: tuple[ActionSpec, ...] | None = None if chosen is None else (chosen,)
        plain = place = f"{'performed' if holder is None else holder.flag_name}/{activity}"
        taken = {other.root._path for other in execution.planner.performances}  # made with the root
        number = 1
        while place in taken:
            number += 1
            place = f"{plain}#{number}"
        self._path = place


class Performance(Execution):
    """One activity that is performed beside the plan. Made by ``perform``.

    Args:
        planner: whose it is.
        activity: what to perform.
        args: its arguments.
        holder: for whom, if control flags are to be shared.
        chosen: the one action that is to perform it; None for whatever the agent knows.

    Attributes:
        output: the think output of the action that performed it, when it is over.
        error: why it was not performed, when it is over.
        asker: the action that awaits it; None if it is somebody else.
        awaiters: the actions of which ``run`` awaits its end at this moment.
        age: how many there were before it.
        waiter: who awaits its end.
        then: called when it is over, for whoever does not await it.
    """

    __slots__ = ("_args", "age", "asker", "awaiters", "error", "output", "then", "waiter")

    def __init__(
        self,
        planner: Planner,
        activity: str,
        args: Mapping[str, Any],
        holder: Holder | None,
        chosen: ActionSpec | None = None,
    ) -> None:
        super().__init__(planner, activity, holder)
        self.root: Frame = _Root(self, activity, holder, chosen)
        self._args = dict(args)
        self.asker: Unit | None = None
        self.awaiters: list[Unit] = []
        self.age: int = next(_ages)
        self.output: Any = None
        self.error: BaseException | None = None
        self.waiter: Waiter = Waiter()
        self.then: Callable[[], object] | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended, and everything of it is stopped."""
        return self.is_stopped and not self.is_aborting and self.root.state == IDLE

    # --- the cycle ----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Think about the activity, for the first time or after it gave way to somebody."""
        self._timer = None
        if not self.is_stopped and self.root.state == IDLE:
            try:
                self.root.begin(self._args, None)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self.root.stop()
                self._over(error)

    def frame_ready(self, frame: Frame) -> None:
        """An action is ready: run it. If it refuses to be started, and nobody else is left, nobody can perform it."""
        if frame.start():
            frame.run()
        elif not self.is_aborting:
            self.frame_answered(frame)

    def frame_answered(self, frame: Frame) -> None:
        """Nothing is ready: go on waiting only while somebody may become so."""
        if frame.state == THINKING and not frame.round_open and not frame.may_change():
            self.planner.kernel.call_soon(self._give_up_hope, frame.round)

    def frame_rejected(self, frame: Frame) -> None:
        """The caller chose the arguments: it is told by the error."""
        self.frame_answered(frame)

    def _give_up_hope(self, number: int) -> None:
        frame = self.root
        if frame.round == number and frame.state == THINKING and not frame.may_change() and not self.is_aborting:
            frame.stop()
            self._over(
                ActivityImpossibleError(
                    frame.activity, agent=self.planner.name, path=frame.path(), tick=self.planner.kernel.clock.tick
                )
            )

    def frame_finished(self, frame: Frame) -> None:
        """It ran to its end."""
        if self.is_aborting:
            return
        assert frame.active is not None
        output = frame.active.output
        took = self.planner.kernel.clock.tick - frame.active.since
        frame.stop()
        if self.planner.trace.on:
            self.planner.record(frame.path(), Event.COMPLETE, (("ticks", took),))
        self.output = output
        self._over(None)

    @property
    def title(self) -> str:
        """What people call it."""
        return f"{self.root.activity!r} of {self.planner.name!r}"

    def as_performance(self) -> Performance:
        """Itself."""
        return self

    def end_deadlock(self, reason: str) -> None:
        """It is the youngest of a circle of those that wait for each other: it fails, so that the others go on.

        Args:
            reason: which circle, in words.
        """
        self.end(reason)

    # --- the end ------------------------------------------------------------------------------------------------------

    def deadlocked(self, reason: str, unit: Unit) -> None:
        """As for a plan; but for whom it is performed would keep its flags, and has to be told.

        Args:
            reason: why, in words.
            unit: what needs the flag.
        """
        if self.holder is None:
            super().deadlocked(reason, unit)
        else:
            self.abort(reason, unit)

    def end(self, reason: str) -> None:
        """Unwind it for good; who awaits it is told when that is done.

        Args:
            reason: why, in words.
        """
        if self.is_stopped:
            return
        self.is_stopped: bool = True
        if self._timer is not None:
            self._timer.cancel()
        self._begin_abort(reason, None, counts=True)

    def _stopped(self) -> None:
        self.root.stop()
        abort, self._abort = self._abort, None
        self.is_aborting = False
        assert abort is not None
        if self.is_stopped or self._counts:
            path = self.root.path() if abort[1] is None else abort[1].path()
            tick = self.planner.kernel.clock.tick
            self._over(
                ActivityAbortedError(self.root.activity, abort[0], agent=self.planner.name, path=path, tick=tick)
            )
        else:
            self._later()

    def call_off(self) -> None:
        """Nobody awaits it any more: unwind it, if there is anything to unwind."""
        if self.root.state != IDLE or self.is_aborting:
            self.end("whoever performed it was cancelled")
            return
        self.is_stopped = True
        if self._timer is not None:
            self._timer.cancel()

    async def wait(self) -> None:
        """Wait until it is over."""
        self.waiter = Waiter()
        await suspend_on(self.waiter)

    def _over(self, error: BaseException | None) -> None:
        self.is_stopped = True
        self.error = error
        if not self.waiter.was_notified:
            self.waiter.notify()
        if self.then is not None:
            self.then()


class Awaiting:
    """A stretch in which the coroutine of an action awaits the end of a performance. Use it with ``with``.

    Args:
        performance: which one; None if it has not begun.
    """

    __slots__ = ("_performance", "_unit")

    def __init__(self, performance: Performance | None) -> None:
        strand = current_strand()
        owner = strand.owner
        # Who awaits it in a strand of its own may do something else meanwhile.
        self._unit: Unit | None = owner if isinstance(owner, Unit) and owner.running is strand else None
        self._performance = performance

    def __enter__(self) -> None:
        unit, performance = self._unit, self._performance
        if unit is None:
            return
        if unit.frame.catcher is not None:
            unit.frame.catcher.awaits_others(is_waiting=True)
        if performance is not None:
            performance.awaiters.append(unit)
            unit.own_extras().awaits = performance
            look_for_circle(unit.frame.execution)

    def __exit__(self, *_: object) -> None:
        unit, performance = self._unit, self._performance
        if unit is None:
            return
        if unit.frame.catcher is not None:
            unit.frame.catcher.awaits_others(is_waiting=False)
        if performance is not None:
            performance.awaiters.remove(unit)
            unit.own_extras().awaits = None


async def perform(
    planner: Planner,
    activity: str,
    args: Mapping[str, Any],
    holder: Holder | None = None,
    chosen: ActionSpec | None = None,
) -> Any:
    """Perform an activity once, beside the plan.

    Args:
        planner: the agent's.
        activity: what to perform.
        args: its arguments.
        holder: for whom, if control flags are to be shared.
        chosen: the one action that is to perform it; None for whatever the agent knows.

    Returns:
        The think output of the action that performed it.

    Raises:
        ActivityImpossibleError: no action can perform it now.
        ActivityAbortedError: it was aborted, or the agent ended.
        ArgumentError: the arguments do not fit.
        ActivityRecursionError: actions that await one another's performances are nested too deep.
        NotRunningError: no runtime steps the coroutine in which it is awaited.
    """
    await at_once(is_dear=True)  # what follows may raise
    owner = current_strand().owner  # raises before anything is begun that nobody would end
    performance = Performance(planner, activity, args, holder, chosen)
    performance.asker = owner if isinstance(owner, Unit) else None
    nesting = _nesting(performance)
    if nesting > MAX_NESTED:
        raise ActivityRecursionError(nesting, agent=planner.name, path=activity, tick=planner.kernel.clock.tick)
    planner.performances = (*planner.performances, performance)
    try:
        planner.kernel.call_soon(performance.begin)  # nothing is started on the stack of who asks for it
        with Awaiting(performance):
            await suspend_on(performance.waiter)
    except GeneratorExit:
        raise  # nobody steps this coroutine any more
    except BaseException:
        performance.call_off()
        await outlast(lambda: performance.is_over, performance.wait)
        raise
    finally:
        planner.performances = tuple(one for one in planner.performances if one is not performance)
    if performance.error is not None:
        raise performance.error
    return performance.output


def _nesting(performance: Performance) -> int:
    """How many performances it is within, with itself."""
    found, asker = 1, performance.asker
    while asker is not None:
        execution = asker.frame.execution
        found, asker = found + 1, execution.asker if isinstance(execution, Performance) else None
    return found
