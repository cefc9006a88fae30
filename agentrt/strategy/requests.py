"""Requests: what an agent is asked to solve, by a call of its gameplay or by its own plan.

``await agent.gameplay.collect("diamond", 7)`` begins a request and waits for it; ``agent.gameplay.begin(wanted)`` gives
the request itself, which can be paused, resumed, begun again and cancelled, and may be awaited by any number of people
or by nobody. Rules:

* It can be used from anywhere. Inside a tick everything is done at once; from outside, from another thread too, it is
  posted to the runtime, and taken at the next intake.
* It can be awaited in a coroutine that the runtime steps, and in a task of an event loop (that of a server, say), which
  is woken when the request is over; the agent knows how.
* Whoever awaits a request and is cancelled leaves the request alone. ``await agent.gameplay.collect(...)`` has nobody
  but its caller: it is cancelled with it, and in a coroutine of the runtime the cancellation goes on when all of it is
  unwound.

For plans, each dependency has an action of its own (``solver_of``) that performs its activity, so that a compound can
have a step ``gameplay:collect`` and a task group can rank it among other things to do. It is ready while somebody can
provide the dependency, asks anew when something changed, and competes like any action. When nobody could provide it
after all, that is no failure of the agent's plan: it is thought again, and the dependency is put off, or a plan that
wants what nobody can provide would fail in every tick. What a plan is doing it goes on to know, also when the last
strategy for it was taken away. All that such actions need of their agent is its ``Solvers``.

Source: prismarine-gameplay: "Pauseable/Cancelable Tasks"; "Plugins", the generated call with its callback; "Hierarchy":
any node can be an entry point.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from agentrt.activity.author.action import Action
from agentrt.activity.author.arguments import ActionArgs, hold_no_entities
from agentrt.activity.performances import Performance, awaiting
from agentrt.activity.plan.tree import catcher_of
from agentrt.errors import (
    ActivityAbortedError,
    DependencyFailedError,
    NotRunningError,
    RequestDeadlockError,
    WrongStateError,
)
from agentrt.kernel.signals import Event
from agentrt.kernel.strand import current_strand, outlast
from agentrt.kernel.traps import at_once, park, running
from agentrt.strategy.ask import Dependency, Outcome, TaskNode, label_of
from agentrt.strategy.solve import RequestTable, Solving, action_for, unit_of
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.activity.author.context import Context
    from agentrt.activity.author.utility import UtilityRange
    from agentrt.activity.plan.tree import Planner
    from agentrt.kernel.clock import Clock
    from agentrt.strategy.ask import Estimator, Provider

R = TypeVar("R")


class SolveRequest(Action):
    """Solve what a call of the gameplay asked for."""

    does: ClassVar[str] = "gameplay:request"
    utility: ClassVar[float | UtilityRange] = 1.0

    class Args(ActionArgs):
        """What it is called with."""

        solving: Solving

    async def run(self, ctx: Context, args: Args) -> None:
        """Solve it. A failure is no fault of the plan: whoever made the request finds it there."""
        with suppress(DependencyFailedError):
            await args.solving.run(unit_of(ctx))


class _Solver(Action):
    """The action of a plan that has a dependency solved."""

    async def think(self, ctx: Context, args: Dependency[Any]) -> None:
        solvers = _solvers_of(ctx)
        while True:
            await ctx.sleep_ticks(max(0, solvers.put_off_until(args) - ctx.clock.tick))
            if solvers.table.estimator.cost(args) < inf:
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await solvers.table.state.changes.wait()

    def start(self, ctx: Context, args: Dependency[Any]) -> None:
        _solvers_of(ctx).hold(type(args))

    def stop(self, ctx: Context, args: Dependency[Any]) -> None:
        _solvers_of(ctx).let_go(type(args))

    async def run(self, ctx: Context, args: Dependency[Any]) -> None:
        solvers, unit = _solvers_of(ctx), unit_of(ctx)
        try:
            await Solving(solvers.table, solvers.table.estimator, args).run(unit)
        except DependencyFailedError as failure:
            execution, reason = unit.frame.execution, f"{label_of(args)} could not be solved: {failure.reason}"
            # Before the plan is thought again, or it would choose this again.
            solvers.put_off(args, ctx.clock)
            if isinstance(execution, Performance) or catcher_of(unit) is not None:
                ctx.abort(reason)  # somebody awaits it, and hears of it
            execution.replan(reason, unit)
            await park()  # this coroutine is unwound with the plan
        else:
            solvers.solved(args)


def _solvers_of(ctx: Context) -> Solvers:
    """What an action of a plan needs to have something solved. ``ctx.agent`` is of any type, for authors' sake."""
    solvers = ctx.agent.gameplay.solvers
    assert isinstance(solvers, Solvers)
    return solvers


def solver_of(wanted: type[Dependency[Any]]) -> type[Action]:
    """The action that performs the activity of a dependency in a plan; made once, and kept with the dependency."""
    found: type[Action] | None = wanted.__dict__.get("_solver")
    if found is None:
        found = wanted._solver = action_for(_Solver, wanted, wanted, __doc__=f"Has {wanted.__name__} solved.")
    return found


_MOST_TIMES: Final = 7  # the first is a second, each of the others twice as long: about a minute
_MOST_KEPT: Final = 1024  # what is forgotten is tried at once, which costs one attempt more


class Solvers:
    """What the plan of an agent knows to have solved."""

    __slots__ = ("_held", "_known", "_postponed", "_provided", "table")

    def __init__(self, table: RequestTable) -> None:
        self.table: RequestTable = table
        # how often it could not be solved since it last was, and until when it is put off
        self._postponed: dict[Dependency[Any], tuple[int, int]] = {}
        self._provided: tuple[type[Dependency[Any]], ...] = ()
        self._known: dict[type[Dependency[Any]], Callable[[], None]] = {}
        # How many times a plan is doing it: not whether, since one that is performed beside the plan may do it, too.
        self._held: dict[type[Dependency[Any]], int] = {}

    def fit(self, provided: tuple[type[Dependency[Any]], ...]) -> None:
        """Know just what strategies provide, and what is being done."""
        self._provided = provided
        self._forget()  # first: a class that was made anew has the activity of the old one, and maybe other fields
        for wanted in provided:
            if wanted not in self._known:
                self._known[wanted] = self.table.state.agent.learn_solver(solver_of(wanted))

    def put_off(self, wanted: Dependency[Any], clock: Clock) -> None:
        """It could not be solved: do not try it again at once, and later each time."""
        times = min(self._postponed.get(wanted, (0, 0))[0] + 1, _MOST_TIMES)
        if len(self._postponed) >= _MOST_KEPT:
            self._postponed.clear()
        self._postponed[wanted] = (times, clock.tick + clock.ticks(2.0 ** (times - 1)))

    def solved(self, wanted: Dependency[Any]) -> None:
        """It was solved."""
        self._postponed.pop(wanted, None)

    def put_off_until(self, wanted: Dependency[Any]) -> int:
        """The tick from which on it may be tried again; 0 for at once."""
        return self._postponed.get(wanted, (0, 0))[1]

    def hold(self, wanted: type[Dependency[Any]]) -> None:
        """A plan begins to do it."""
        self._held[wanted] = self._held.get(wanted, 0) + 1

    def let_go(self, wanted: type[Dependency[Any]]) -> None:
        """A plan does not do it any more."""
        self._held[wanted] -= 1
        kernel = self.table.state.agent.kernel
        if not self._held[wanted]:
            del self._held[wanted]
            if wanted not in self._provided and kernel is not None:
                kernel.call_soon(self._forget)  # the plan is just being stopped

    def _forget(self) -> None:
        for wanted in [one for one in self._known if one not in self._provided and one not in self._held]:
            self._known.pop(wanted)()


hold_no_entities(Solving)  # the argument that carries a request through the plan


class _Performed(Performance):
    """A performance that tells a request when it is over."""

    __slots__ = ("_request",)

    def __init__(self, planner: Planner, activity: str, request: Request[Any]) -> None:
        super().__init__(planner, activity, {"solving": request.solving}, None, SolveRequest.spec)
        self._request = request

    @property
    def title(self) -> str:
        """What people call it."""
        return f"{self._request.tree.label} of {self.planner.name!r}"

    def end_deadlock(self, reason: str) -> None:
        """It is the youngest of a circle of those that wait for each other: it fails, and says so."""
        self._request.solving.deadlock = reason
        super().end_deadlock(reason)

    def _over(self, error: BaseException | None) -> None:
        self.planner.performances = tuple(one for one in self.planner.performances if one is not self)
        self._request.over(error)
        super()._over(error)


class Request(Generic[R]):
    """Something that an agent was asked to solve. Made by ``agent.gameplay.begin``.

    Source: prismarine-gameplay: "Pauseable/Cancelable Tasks".
    """

    __slots__ = ("_agent", "_callbacks", "_ended", "_kernel", "_performed", "error", "outcome", "solving", "wanted")

    def __init__(self, solving: Solving) -> None:
        self._agent = solving.state.agent
        self.wanted: Dependency[R] = solving.wanted  # what is asked for
        self.solving: Solving = solving  # how it is solved
        self.outcome: Outcome = Outcome.RUNNING  # in the end DONE, FAILED or CANCELLED
        # Why there is no value, when it is over: ``DependencyFailedError`` if it could not be solved
        # (``RequestDeadlockError`` if it was the youngest of some that waited for each other),
        # ``ActivityAbortedError`` if it was cancelled or the agent ended.
        self.error: BaseException | None = None
        self._ended = Event()
        self._callbacks: list[Callable[[Request[R]], object]] = []
        self._kernel = self._agent.require_life(type(self.wanted).activity).kernel
        self._performed: _Performed | None = None
        self._inside(self._begin)  # the last: inside a tick it is done at once

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def is_done(self) -> bool:
        """Whether it is over, and all of it unwound."""
        return self.outcome is not Outcome.RUNNING

    @property
    def is_paused(self) -> bool:
        """Whether it was told to pause, and not to resume since."""
        return self.solving.interruptions.is_paused and not self.is_done

    @property
    def value(self) -> R:
        """What solving it gave. Raises its ``error`` if there is one, ``WrongStateError`` while it is not over."""
        if self.error is not None:
            raise self.error
        if not self.is_done:
            raise WrongStateError("Request.value", "it is not over", "Await it, or ask 'is_done' first.")
        found: R = self.solving.value
        return found

    @property
    def tree(self) -> TaskNode:
        """The top of its task tree."""
        return self.solving.root

    def render(self) -> str:
        """Its task tree as text, with the times that things took."""
        return self.tree.render(self._kernel.clock.ticks_per_second)

    # --- what can be done ---------------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Have it stand still, as its strategies support it. See ``Interruptible``."""
        self._inside(self._told, self.solving.interruptions.pause)

    def resume(self) -> None:
        """Have it go on."""
        self._inside(self._told, self.solving.interruptions.resume)

    def restart(self) -> None:
        """Have it begin again from the very beginning, whatever its strategies support."""
        self._inside(self._told, self.solving.restart)

    def cancel(self, reason: str = "it was cancelled") -> None:
        """End it, for a reason in words; all of it is unwound, the inner first."""
        self._inside(self._cancel, words_of(reason))

    def then(self, callback: Callable[[Request[R]], object]) -> None:
        """Call a plain function of the request when it is over, inside a tick; if it is over already, soon."""
        self._inside(self._add, callback)

    async def wait(self) -> R:
        """Wait until it is over, and get what solving it gave. Whoever waits may be cancelled; the request goes on.

        Raises:
            DependencyFailedError: it could not be solved.
            ActivityAbortedError: it was cancelled, or the agent ended.
            NotRunningError: neither a runtime nor an event loop steps the coroutine in which it is awaited.
        """
        await at_once()
        if not self.is_done:
            if running.kernel is None:
                await self._agent.wait_outside(lambda wake: self.then(lambda _: wake()))
            else:
                current_strand()  # raises in a plain callback
                with awaiting(self._performed):
                    await self._ended.wait()
        return self.value

    async def until_over(self) -> None:
        """Wait until it is over, in a coroutine that the runtime steps, whatever became of it."""
        await self._ended.wait()

    def __await__(self) -> Generator[Any, Any, R]:
        return self.wait().__await__()

    # --- inside a tick ------------------------------------------------------------------------------------------------

    def _inside(self, fn: Callable[..., object], *args: Any) -> None:
        if running.kernel is self._kernel:
            fn(*args)
        elif self.is_done:
            self._kernel.post(fn, *args)  # the agent may have left its runtime
        else:
            self._agent.post(fn, *args)

    def _begin(self) -> None:
        activity = type(self.wanted).activity
        try:
            planner = self._agent.require_life(activity)
        except NotRunningError as error:
            self.over(error)  # it ended before the intake
            return
        self._performed = performed = _Performed(planner, activity, self)
        planner.performances = (*planner.performances, performed)
        planner.kernel.call_soon(performed.begin)  # nothing is started on the stack of who asks for it

    def _told(self, tell: Callable[[], object]) -> None:
        if not self.is_done:
            tell()

    def _cancel(self, reason: str) -> None:
        if self._performed is not None:
            self._performed.end(reason)

    def _add(self, callback: Callable[[Request[R]], object]) -> None:
        if self.is_done:
            self._kernel.call_soon(callback, self)
        else:
            self._callbacks.append(callback)

    def over(self, error: BaseException | None) -> None:
        """It has ended, and was not performed to its end if there is an error; called by what performed it."""
        self.error = self.solving.failure if error is None else error
        if isinstance(error, ActivityAbortedError) and self.solving.deadlock:
            self.error = self._deadlocked(error)
        is_cancelled = isinstance(self.error, (ActivityAbortedError, NotRunningError))
        failed = Outcome.CANCELLED if is_cancelled else Outcome.FAILED
        self.outcome = Outcome.DONE if self.error is None else failed
        self._ended.set()  # who is woken asks for the value, so all of the above is there
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            self._kernel.call_soon(callback, self)

    def _deadlocked(self, error: ActivityAbortedError) -> RequestDeadlockError:
        reason, tree = self.solving.deadlock, self.tree
        clock = self._kernel.clock
        tree.end(Outcome.FAILED, clock.tick, reason)
        return RequestDeadlockError(
            self.wanted,
            reason,
            label=tree.label,
            story=tree.render(clock.ticks_per_second),
            agent=self._agent.name,
            path=error.path,
            tick=clock.tick,
        )

    def __repr__(self) -> str:
        state = "paused" if self.is_paused else self.outcome.value
        return f"<Request {self.tree.label}: {state}>"


async def await_request(table: RequestTable, wanted: Dependency[R], estimator: Estimator, only: Provider | None) -> R:
    """Wait for a request that is begun here, and cancel it if the wait is: nobody else knows of it."""
    await at_once(is_dear=True)
    request: Request[R] = Request(Solving(table, estimator, wanted, only))
    try:
        return await request.wait()
    except GeneratorExit:
        raise  # nobody steps this coroutine any more
    except BaseException:
        if not request.is_done:
            request.cancel("whoever awaited it was cancelled")
            if running.kernel is not None:
                await outlast(lambda: request.is_done, request.until_over)
        raise
