"""Solving: how a dependency is met, how what comes up meanwhile is dealt with in between, and what is foreseen.

One ``Solving`` stands for one request (``agent.gameplay.collect("diamond", 7)``): its global parameters, its task tree,
and the stack of attempts that run in it. Solving one dependency goes like this, and each strategy that it runs has
others solved in the same way::

    does it hold already?                         a shortcut: nothing is done
    ask every provider: cost, or "cannot"         ``Estimator``
    the best offer is tried                       ``Attempt``
        it returns, and what was asked for holds  done
        it was interrupted and has to begin again from the top: what holds now, what everybody says now
        it had to wait for its control flags      the same question: is it still the best?
        it failed                                 from the top, without it
    nobody is left                                DependencyFailedError, with the whole story, to whoever needed it

This is one module of more than 800 lines since a request, its attempts, what interrupts them and what is foreseen of
them are parts of one run, and ask each other. From top to bottom: what an attempt is made of (the carrier, shields,
``Pausable``, ``OwnTime``); ``Attempt``; requests within requests; ``Foresight``; ``Interruptions``; ``Solving``; how
a request is made, by a call (``Request``) and by a plan.

* *No choice outlives a wait.* Whoever waited (for what came up, a flag, the next tick, a strategy that failed) finds
  another world. So there is one way to an attempt, and it begins with the question whether there is anything to do.
* *It comes to an end.* Each provider is tried once for one need, and the attempts of one request are bounded.
* *A failure is one error*. It names who failed and who cannot, and the circle of needs, or the endless regress, if
  there was nothing else that kept them. Its story is the task tree below the dependency.

*An attempt* is one try of one strategy, as a frame of the planner, which runs the strategy's *carrier* below whoever
needs the dependency, with nobody else to elect. So control flags, leases, listeners, traces, snapshots and unwinding
are those of any action, and a preemption of the plan stops a strategy in the same way in which an interruption does.
What the author's coroutine raises never reaches the planner: it is the outcome of the attempt.

* *The carrier* is an action that is made for each strategy and dependency and kept with the strategy. It has the name,
  the flags and the status text of that, so that ledgers, traces and people see the strategy and not the machinery.
* *Behind a shield.* Whoever is unwound is cancelled at its wait. A strategy that has something solved behind a shield
  is not; so what is solved for it there must not wait for that, and must not begin anything more: nothing goes on in a
  plan that unwinds. It ends with ``ActivityAbortedError``, the error of all that is executed there.
* *Standing still* (``Pausable``) while something that came up is dealt with below it.
* *Own time* (``OwnTime``). What a strategy says that it costs is the time that goes by while it, and what it has
  solved, is at work. So what it *took* is counted in the same way.
* It is also the *seat* of the strategy's context. Whoever had to wait for its control flags is asked about again before
  it runs: it was chosen for a world of before.
* *Requests within requests.* A strategy may ask through the gameplay of its agent, or have a plan ask. Such a request
  is one of its own; but forgotten it would be a way around the recursion guard and the bounds on attempts. So each
  knows who asked for it, which counts as long as that one runs, and all that were asked for by one another keep one
  *pace*. What is asked for while something that came up is dealt with is as urgent as that: it is a part of it.

*Interruptions* are dealt with for all strategies, none of which looks for what may come up. There are two places:

* *a breakpoint*: the request is between two attempts (before each decision, after each attempt, around each activity
  that a strategy executes). The strand of whoever needed the dependency deals with it right there.
* *amid an attempt*: then the innermost attempt says what it supports. PAUSE: its coroutine stands still
  (``Pausable``), and a strand of its own deals with the interruption below the attempt's place in the plan, so that the
  two share control flags and are unwound together, the inner first. RESTART: the attempt is unwound, as by a
  preemption, which brings the request to a breakpoint; then it is run again. TREE: the same, for the outermost attempt
  that says so. WAIT: nothing happens until that attempt is over, with all below it. One that runs a frame which it has
  spawned by itself is left alone until a breakpoint; one that has not begun yet begins anew, whatever it supports.

Afterwards all attempts hear of it (``interrupted``), the inner first, and each may give up or begin again. What is
dealt with can be interrupted by what has a higher priority; each such *level* sees only the attempts that were begun in
it. What was not dealt with to the end waits for the next breakpoint, or goes back to the agent when the request is
over. A request that is told to pause stands still until it is told to resume; what comes up is dealt with even then.

*Foresight*: what is expected to come is worked out while something is being solved, and compared with what comes. With
``lookahead`` at 0 there is nothing of all that.

* An *outlook* is what is expected of one attempt that runs, from where it is. A strategy foresees branches before it
  begins. With each dependency that it asks for, some become impossible: those can still come true that foresaw most of
  what was asked for. What is left of them is what forecasts, supplies, opportunities and preparing work on.
* Each request has a ``Foresight``, which keeps that for every attempt that runs. The task tree shows it: the needs of
  the likeliest branch are planned nodes, those of the others conditional ones. Whatever a strategy has solved is
  compared with its outlook: a ``hit`` if the likeliest branch has it left, an ``other`` if a less likely one has, a
  ``miss`` if none has; but for a hit, the forecast is made anew from there.
* *Preparing*: the decisions that come next are made in advance, in ticks in which nothing is decided. First those of
  the likeliest branch of the attempt that runs, each in the world that the ones before leave, and the one that whoever
  is above has to make when that attempt is over; then the same for the second and the third branch. When the world
  turns out to be one of those (``Scenario``), what was found out in it is taken over, and the decision asks nobody.
  That is bounded by ``prepare_asks`` for a tick, in whole asks: what the last one took more is taken off the next
  tick; and it takes of the runtime's think budget what others leave. There is no strand: a timer, which is there only
  while there is something to prepare, and gone with the request.

*Requests.* ``await agent.gameplay.collect("diamond", 7)`` begins a request and waits for it; ``agent.gameplay.begin``
gives the ``Request`` itself, which can be paused, resumed, begun again and cancelled, and may be awaited by any number
of people or by nobody.

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
strategy for it was taken away.

Rejected: running the strategy again that was chosen before, with the patience that its old estimate allowed. Throwing
an exception into the strategies: each would have to know what may come up, and to pass it on. Cancelling through the
shield: it is there to let a clean-up come to its end, which may still do other things. Keeping prepared decisions
themselves: a memo that holds in the real world serves every decision that looks at the same things, and it cannot say
anything that asking would not have said.

Source: prismarine-gameplay: "Hierarchy" (any node can be an entry point), "Task Failure", "Global Dependency Lists",
"Interrupting Tasks", "Pauseable/Cancelable Tasks", "Plugins" (the generated call with its callback), "Planning Ahead
Using Probability", "Task Tree"; "Heuristic Based Task Selection", question 4.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection, Coroutine, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from agentrt.activity.author.action import Action, ActionSpec
from agentrt.activity.author.arguments import ActionArgs, hold_no_entities
from agentrt.activity.author.context import Context, ignored
from agentrt.activity.author.control import Flow, Reject, called_by
from agentrt.activity.performances import Performance, Spawned, aborted, awaiting, look_for_circle
from agentrt.activity.plan.tree import Unit, catcher_of
from agentrt.activity.states import FINISHED, IDLE
from agentrt.errors import (
    ENDS_PROGRAM,
    ActivityAbortedError,
    ActivityImpossibleError,
    ActivityRecursionError,
    DependencyFailedError,
    NotRunningError,
    RequestDeadlockError,
    WrongStateError,
)
from agentrt.kernel.signals import Event, Signal
from agentrt.kernel.strand import CancelScope, Strand, current_strand, outlast
from agentrt.kernel.trace import TraceEvent
from agentrt.kernel.traps import Waiter, at_once, next_tick, park, running
from agentrt.strategy.ask import (
    Amounts,
    Ask,
    BeginAgain,
    Branch,
    Cannot,
    Chain,
    Dependency,
    Estimator,
    Fail,
    Foreseen,
    Interruptible,
    Interruption,
    NodeKind,
    Offer,
    Outcome,
    Params,
    Provider,
    Rank,
    Scenario,
    State,
    Strategy,
    StrategyContext,
    StrategySpec,
    TaskNode,
    forecast,
    is_as_assumed,
    label_of,
    likeliest,
    ranked,
    take_over,
    together,
    told_path,
)
from agentrt.words import error_words, type_name, words_of

if TYPE_CHECKING:
    from types import FrameType

    from agentrt.activity.author.utility import UtilityRange
    from agentrt.activity.plan.tree import Planner
    from agentrt.kernel.clock import Clock
    from agentrt.kernel.kernel import Kernel, Timer

R = TypeVar("R")


# --- the carrier ------------------------------------------------------------------------------------------------------


class _Carrier(Action):
    """The action that carries a strategy."""

    async def run(self, ctx: Context, args: Dependency[Any]) -> None:
        attempt = unit_of(ctx).frame.owner
        assert isinstance(attempt, Attempt)
        await attempt.carry(args)


def unit_of(ctx: Context) -> Unit:
    """The place in the plan of the action that runs: all that is solved for it lies below."""
    unit = ctx.holder
    assert isinstance(unit, Unit)
    return unit


def carrier_of(spec: StrategySpec, wanted: type[Dependency[Any]]) -> ActionSpec:
    """What carries a strategy for one of its dependencies."""
    found = spec.carriers.get(wanted)
    if found is None:
        cls, name = spec.cls, spec.name.replace("_", " ")
        flags, text = tuple(cls.flags), cls.status_text_key
        found = action_for(_Carrier, cls, wanted, name=name, flags=flags, status_text_key=text).spec
        spec.carriers[wanted] = found
    return found


def action_for(base: type[Action], namesake: type, wanted: type[Dependency[Any]], **declared: object) -> type[Action]:
    """Make an action that performs the activity of a dependency, under the name of another class."""
    declared.update(does=wanted.activity, utility=1.0, Args=wanted)
    declared.update(__module__=namesake.__module__, __qualname__=namesake.__qualname__)
    return type(namesake.__name__, (base,), declared)


# --- behind a shield --------------------------------------------------------------------------------------------------


def is_lost(unit: Unit) -> bool:
    """Whether an action is being unwound, and the strand that has something solved for it does not hear of it."""
    return unit.frame.execution.is_unwinding(unit.frame) and current_strand().is_shielded


def stop_if_lost(unit: Unit) -> None:
    """Go no further behind a shield, if an action is being unwound: raise ``ActivityAbortedError``."""
    if is_lost(unit):
        raise _error(unit)


async def await_end(unit: Unit) -> None:
    """Wait to be cancelled, since the caller has had itself unwound; behind a shield raise ``ActivityAbortedError``."""
    if current_strand().is_shielded:
        raise _error(unit)
    await park()


def _error(unit: Unit) -> ActivityAbortedError:
    return aborted(unit.frame, "the plan unwinds", unit.path())


# --- standing still ---------------------------------------------------------------------------------------------------


class Pausable(Generator[Any, Any, Any]):
    """Drives a coroutine, and has it take no step while it is held, wherever it awaits. Await it, once.

    ``await Pausable(coroutine)`` is the same as ``await coroutine``: what the coroutine yields goes up to the kernel as
    it is, and what the kernel sends or raises goes down. So it works for every await: those of the kernel, and futures
    and whatever else the host knows.

    * While it is held, a wake goes no further: it is kept, the strand waits here, and when it is let go on the
      coroutine gets what it was woken with. A sleep that came to its end meanwhile has ended then.
    * What is *raised* goes through at once: a cancellation, or a deadline of the author's own around the await. The
      coroutine deals with it, and stands still at its next await. How a host tells of the deadline of a library is the
      host's affair: trio raises (``trio.sleep`` is such a deadline, too), asyncio cancels a future, which is a wake.
    * It never holds up the end: whoever unwinds the strategy lets it go on (``Extras.unwinding``), so that clean-up
      that waits is waited for. It may be standing behind a shield, where it is not woken by being stopped.

    It is an iterator with ``send``, ``throw`` and ``close`` and no generator: whoever looks for the line at which a
    strand is suspended follows ``gi_frame`` and ``gi_yieldfrom`` through it.

    Rejected: taking the strand out of the books of what it waits for. A future of the host knows no such thing, and a
    notification that came meanwhile would be lost.
    """

    __slots__ = ("_beside", "_coro", "_kept", "_waiter", "is_held")

    def __init__(self, coro: Coroutine[Any, Any, Any]) -> None:
        self.is_held: bool = False  # whether the coroutine stands still
        self._beside: list[Pausable] = []  # what stands still with it
        self._coro = coro
        self._waiter: Waiter | None = None  # while a wake is kept
        self._kept: object = None

    def hold(self) -> None:
        """Have the coroutine stand still from its next wake on."""
        self.is_held = True
        for one in self._beside:
            one.hold()

    def go_on(self) -> None:
        """Let it go on. If a wake was kept, it gets it when the ready queue comes to it."""
        self.is_held = False
        if self._waiter is not None:
            self._waiter.notify()
        for one in self._beside:
            one.go_on()

    def beside(self, coro: Coroutine[Any, Any, Any]) -> Pausable:
        """Drive another coroutine, in a strand of its own, that is held and let go on with this one."""
        self._beside = [one for one in self._beside if one.gi_frame is not None]
        one = Pausable(coro)
        one.is_held = self.is_held
        self._beside.append(one)
        return one

    # --- what Python asks of whatever is awaited ----------------------------------------------------------------------

    def __await__(self) -> Pausable:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: object) -> Any:
        """A wake: on to the coroutine, or kept; gives what the coroutine awaits next, or the wait here."""
        if self._waiter is not None:  # it was the one of here
            value, self._kept, self._waiter = self._kept, None, None
        if self.is_held:
            self._kept = value
            self._waiter = Waiter()
            return self._waiter
        return self._coro.send(value)

    def throw(self, *raised: Any) -> Any:
        """Something is raised: it goes through."""
        self._kept = self._waiter = None  # as for any await that is broken off: what it was woken with is lost
        return self._coro.throw(*raised)

    def close(self) -> None:
        self._coro.close()

    @property
    def gi_frame(self) -> FrameType | None:
        frame: FrameType | None = getattr(self._coro, "cr_frame", None)
        return frame

    @property
    def gi_yieldfrom(self) -> Any:
        return getattr(self._coro, "cr_await", None)

    def __repr__(self) -> str:
        return f"<Pausable: {'held' if self.is_held else 'going on'}>"


# --- own time ---------------------------------------------------------------------------------------------------------


class OwnTime:
    """The time of one attempt: what it takes, and how long it may go on by itself.

    It counts from the moment in which it has its control flags to its end, with the time of all that it had solved
    (``ctx.solve``), and without the time in which nothing of that could be done or others did something:

    * it, or something below it, waited for control flags;
    * something came up, or the request was told to pause;
    * it executed a plain activity (``ctx.execute``), or awaited a request or a performance of an agent: these take as
      long as they take, and are not a matter of how it does its own work.

    Whatever stops the time of one strategy stops that of all who wait for it in the same request. Several reasons may
    hold at once, so they are counted. Its *patience* runs while its time does and it has nothing solved.

    Rejected: subtracting each stretch when it is over. Two that overlap would be subtracted twice.
    """

    def __init__(self, kernel: Kernel, above: OwnTime | None, hangs: Callable[[], object]) -> None:
        self._kernel = kernel
        self._above = above  # that of the attempt that waits for it; None at the root
        self._hangs = hangs  # called when its patience is over
        self._began: int | None = None  # the tick
        self._stops = 0  # how many reasons there are that it stands still
        self._stopped_at = 0  # the tick
        self._left_out = 0  # ticks, up to the last time that it went on
        self._is_lent = False  # whether it has something solved
        self._left = 0  # ticks of its patience
        self._since = 0  # the tick from which on that runs
        self._timer: Timer | None = None

    def begin(self, patience: int) -> None:
        """It has its control flags, and may run by itself for so many ticks."""
        self._began = self._kernel.clock.tick
        self._left = patience
        self._count()

    def stop(self) -> None:
        """Its time, and that of all above it, stands still for one more reason."""
        for one in self._upwards():
            one._stops += 1
            if one._stops == 1:
                one._stopped_at = one._kernel.clock.tick
                one._count()

    def go(self) -> None:
        """One reason less."""
        for one in self._upwards():
            one._stops -= 1
            if one._stops == 0:
                one._left_out += one._kernel.clock.tick - one._stopped_at
                one._count()

    def lend(self) -> None:
        """It has something solved: its patience is not used up by that."""
        self._is_lent = True
        self._count()

    def take_back(self) -> None:
        self._is_lent = False
        self._count()

    def taken(self) -> int | None:
        """How many ticks it took up to now; None if it has not begun."""
        return None if self._began is None else self._kernel.clock.tick - self._began - self.left_out

    @property
    def left_out(self) -> int:
        """For how many ticks it stood still."""
        return self._left_out + (self._kernel.clock.tick - self._stopped_at if self._stops else 0)

    def _upwards(self) -> Iterator[OwnTime]:
        one: OwnTime | None = self
        while one is not None:
            yield one
            one = one._above

    def _count(self) -> None:
        """Its patience runs, or does not any more."""
        runs = self._began is not None and not self._stops and not self._is_lent
        if self._timer is not None and not runs:
            self._timer.cancel()
            self._timer = None
            self._left -= self._kernel.clock.tick - self._since
        elif self._timer is None and runs:
            self._since = self._kernel.clock.tick
            self._timer = self._kernel.call_later(max(1, self._left), self._over)  # what comes back may have none left

    def _over(self) -> None:
        self._timer = None
        self._hangs()


# --- the attempt ------------------------------------------------------------------------------------------------------

_LEAST_PATIENCE: Final = 60.0  # game seconds
_PATIENCE: Final = 10.0  # times what it said that it costs
_UNWOUND: Final = "the strategy that was interrupted is unwound"


@dataclass(slots=True, eq=False)
class Errand:
    """One dependency that is being solved, as whoever needs it wants that done."""

    unit: Unit  # the action of the plan below which it is done
    wanted: Dependency[Any]
    above: Attempt | None  # the attempt that needs it; None at the root
    node: TaskNode  # its node in the task tree
    among: Collection[Provider] | None = None  # who may provide it; None for everybody
    rank: Rank | None = None  # what the parent says to the offers
    # the attempts of those who were tried, the last of each
    failed: dict[Provider, Attempt] = field(default_factory=dict)
    # how often each was interrupted; one that begins again goes on counting
    interruptions: dict[Provider, int] = field(default_factory=dict)


class Attempt(Spawned):
    """One try of one strategy."""

    said: float  # what its strategy said that it costs, before that was corrected, in game seconds

    def __init__(self, solving: Solving, errand: Errand, offer: Offer, node: TaskNode) -> None:
        wanted, above, provider = errand.wanted, errand.above, offer.provider
        chosen = carrier_of(provider.spec, type(wanted))
        args = dict(zip(wanted.field_names(), wanted.values_in_order(), strict=True))
        super().__init__(errand.unit, type(wanted).activity, args, chosen, catches=True)
        self.solving: Solving = solving
        self.estimator: Estimator = solving.estimator
        self.errand: Errand = errand
        self.provider: Provider = provider
        self.wanted: Dependency[Any] = wanted
        self.node: TaskNode = node  # its node in the task tree
        self.above: Attempt | None = above  # the attempt that needs the dependency; None at the root
        self.time: OwnTime = OwnTime(solving.state.kernel, None if above is None else above.time, self._hangs)
        self.context: StrategyContext | None = None  # what its strategy is run with; None before
        self.outcome: Outcome = Outcome.RUNNING  # SKIPPED if it was not the best any more when it could begin
        self.reason: str = ""  # why it failed
        self.cause: BaseException | None = None  # the error that it failed with, if it was one
        self.circle: str = ""  # the circle of needs, or the endless regress, that it failed of, in words
        self.value: Any = None  # what it returned
        # how many times something came up while it, or something below it, ran
        self.interruptions: int = errand.interruptions.get(provider, 0)
        self.is_again: bool = False  # whether it is to be run again
        self.was_interrupted: bool = False  # whether it was unwound because something came up
        self.is_solving: bool = False  # whether it has something solved at this moment
        self.executed: Spawned | None = None  # the plain activity that it executes at this moment
        self.branches: list[Branch] = []  # what its strategy foresees, the likeliest first
        self.done: list[Dependency[Any]] = []  # what it has had solved, or has solved at this moment
        self.forecast: Foreseen | None = None  # the path that is expected of it; None if it foresees nothing
        self._driven: Pausable | None = None
        self._dealing: Strand | None = None  # the strand that deals with what came up, while the coroutine stands still
        self._strategy: Strategy | None = None
        self._scope: CancelScope | None = None
        self._is_kept_waiting = False  # whether whoever needs it waits until it has its control flags
        self.is_hearing: bool = False  # whether its strategy is being told of an interruption
        self.expect(offer)

    def expect(self, offer: Offer) -> None:
        """It is expected to take what its strategy said now."""
        self.node.cost = offer.cost
        self.said = offer.cost if offer.said is None else offer.said

    # --- running ------------------------------------------------------------------------------------------------------

    async def attempt(self) -> None:
        """Run the strategy to its end, whatever that is; ``outcome`` tells it. Raises where ``stop_if_lost`` does."""
        self.solving.push(self)
        if self.above is not None:  # it waits until this one has its control flags; that is nobody's own time
            self.above.time.stop()
            self._is_kept_waiting = True
        try:
            await self.execute()
        except ActivityRecursionError as error:
            self.fail_of_depth("it would be nested too deep in the plan", error)
        except ActivityImpossibleError as error:
            self.fail("it cannot begin: an entity that it is about is gone", error)
        except ActivityAbortedError as error:
            if self.was_taken:
                self.is_again = True
            elif is_lost(self._unit):
                raise
            else:
                self.fail(error.reason, error)
        finally:
            self._has_flags()
            self.solving.pop(self)
        if self.outcome is Outcome.RUNNING and not self.is_again:
            self.fail("it was stopped")

    def _has_flags(self) -> None:
        if self._is_kept_waiting and self.above is not None:
            self._is_kept_waiting = False
            self.above.time.go()

    async def carry(self, wanted: Dependency[Any]) -> None:
        try:
            await self._carry(self._acting, wanted)
            # A deadline of its author's may have ended it amid that: what is done below it ends before it does.
            await self.rest()
        except GeneratorExit:  # nobody steps this coroutine any more
            if self._dealing is not None:
                self.frame.planner.dismiss(self._dealing)
            raise
        except BaseException:  # it is unwound, or somebody lost patience with it while it rested
            dealing = self._dealing
            if dealing is not None and not dealing.is_done:
                dealing.stop(_UNWOUND)
                await outlast(lambda: dealing.is_done, dealing.join)
            raise
        finally:
            self.time.lend()  # for good: nothing hangs any more

    async def _carry(self, unit: Unit, wanted: Dependency[Any]) -> None:
        self._has_flags()
        # Asked only of one that waited: for all others the choice was made in this very tick.
        if unit.own_extras().was_kept_waiting and not self.solving.is_still_best(self):
            self.outcome, self.reason = Outcome.SKIPPED, "it had to wait, and is not the best any more"
            return
        self._strategy = strategy = self.provider.spec.cls()
        self.context = context = StrategyContext(unit, self)
        unit.context = context  # in place of the one that the planner made: so all that it does is this one's
        declared, said = self.provider.spec.cls.patience, self.node.cost or 0.0
        patience = max(_LEAST_PATIENCE, _PATIENCE * said) if declared is None else declared
        self.time.begin(unit.frame.planner.kernel.clock.ticks(patience))
        self._scope = CancelScope()
        try:
            with self._scope:
                self._driven = Pausable(strategy.run(context, wanted))
                self.value = await self._driven
            if self._scope.cancelled_caught:
                self.fail(f"it ran for more than {patience:g} s by itself; it seems to hang")
        except (Fail, Cannot, Reject, BeginAgain) as flow:
            self._obey(flow)
        except (DependencyFailedError, ActivityAbortedError, ActivityImpossibleError) as failure:
            # Behind a shield, being unwound may come as such an error: it is decided already what becomes of it.
            if self.outcome is Outcome.RUNNING and not self.is_again:
                self.fail(_words(failure), failure)
        except Exception as error:  # and nothing else: a cancellation is for the planner, which unwinds it
            self.fail(f"it raised {error_words(error)}", error)
            unit.frame.planner.fault(unit, "run", error)
        else:
            if self.outcome is Outcome.RUNNING:
                self.outcome = Outcome.DONE

    def fail(self, reason: str, cause: BaseException | None = None) -> None:
        """It has failed; of an error, if there is one."""
        self.outcome = Outcome.FAILED
        self.reason = words_of(reason)
        self.cause = cause
        self.circle = cause.circle if isinstance(cause, DependencyFailedError) else ""

    def fail_of_depth(self, reason: str, cause: BaseException | None = None) -> None:
        """There was no end to what is needed, or nobody waited for it."""
        circle = regress_of(self.chain()) or self.solving.regress  # first: who has failed is in no chain any more
        self.fail(reason, cause)
        self.circle = self.solving.regress = circle

    # --- interruptions ------------------------------------------------------------------------------------------------

    @property
    def interruption(self) -> Interruptible:
        return self.provider.spec.cls.interruption

    @property
    def has_begun(self) -> bool:
        """Whether anything of its strategy has run; not so while it waits for its control flags."""
        return self.context is not None

    def interrupt(self) -> None:
        """Something came up while it is the innermost one: do what it supports, unless a breakpoint is near."""
        is_over = self.outcome is not Outcome.RUNNING or self.frame.state in (IDLE, FINISHED)
        if is_over or self.is_solving or self._dealing is not None:
            return
        executed = self.executed
        if not self.has_begun or self.interruption is not Interruptible.PAUSE:
            self.begin_again()
        elif executed is not None:
            if executed.frame.state not in (IDLE, FINISHED):  # else it has just ended
                self.executed = None  # after a breakpoint it is executed anew
                executed.stop()
        # One that runs a frame of its own making (``ctx.spawn``) is left alone: what it is about is not known here.
        elif self.frame.active is not None and self.frame.active.running_child() is None:
            self._stand_still(self.frame.active)

    def begin_again(self) -> None:
        """Have it unwound, to be run again from its beginning."""
        frame = self.frame
        if self.outcome is Outcome.RUNNING and frame.state not in (IDLE, FINISHED):
            self.is_again = True  # also if it is unwound for something else already: that is no failure either
            if not frame.execution.is_unwinding(frame):
                self.was_interrupted = True
                self.stop()

    def _stand_still(self, unit: Unit) -> None:
        driven = self._driven
        if driven is not None and not self.frame.execution.is_unwinding(self.frame):
            driven.hold()
            unit.own_extras().unwinding = self._let_go
            name = f"{self.provider.spec.name} is interrupted"
            self._dealing = self.frame.planner.kernel.spawn(self._deal(unit, driven), name, None)

    def _let_go(self) -> None:
        """It is unwound; behind a shield it may wait for what is dealt with before it hears of that."""
        if self._driven is not None:
            self._driven.go_on()
        if self._dealing is not None:
            self._dealing.stop(_UNWOUND)

    async def _deal(self, unit: Unit, driven: Pausable) -> None:
        try:
            await self.solving.interruptions.deal(unit, self.node, self, Interruptible.PAUSE)
        finally:
            self._dealing = None
            unit.own_extras().unwinding = None
            driven.go_on()

    def beside(self, coro: Coroutine[Any, Any, Any]) -> Pausable:
        """What a coroutine of the strategy's is driven by that is waited for with others."""
        assert self._driven is not None
        return self._driven.beside(coro)

    def hear(self, interruption: Interruption) -> bool:
        """Something came up while it, or something below it, ran, and was dealt with; says whether it is unwound."""
        self.interruptions += 1
        strategy, context, spec = self._strategy, self.context, self.provider.spec
        if strategy is None or context is None or not spec.hears or self.outcome is not Outcome.RUNNING:
            return False
        self.is_hearing = True
        try:
            try:
                called_by(unit_of(context), strategy.interrupted, context, interruption)  # so ``ctx.fail`` there raises
            finally:
                self.is_hearing = False
        except (Fail, Cannot, Reject, BeginAgain) as flow:
            self._obey(flow)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.fail(f"it raised {type_name(error)} when it was interrupted: {words_of(error)}", error)
            self.solving.state.fault(spec.label, "interrupted", error)
        else:
            return False
        return self._unwind()

    def give_up(self, flow: Flow) -> None:
        """Somebody else than the strategy itself says, through its context, that it fails or begins again."""
        if self.outcome is not Outcome.RUNNING or self.is_again or self.frame.state in (IDLE, FINISHED):
            ignored(self._unit, flow.method)
            return
        self._obey(flow)
        self._unwind()

    def _obey(self, flow: Flow | Cannot) -> None:
        """It begins again, or fails."""
        if isinstance(flow, BeginAgain):
            self.is_again = True
        else:
            self.fail(flow.reason)

    def _unwind(self) -> bool:
        """What becomes of it is decided: have it unwound. Says whether there was anything to unwind."""
        if self.frame.state in (IDLE, FINISHED):
            return False  # it was unwound before
        self.stop()
        return True

    def chain(self) -> list[tuple[Provider, Dependency[Any]]]:
        """Who is run, for what: this one and those above it, the outermost first."""
        found: list[tuple[Provider, Dependency[Any]]] = []
        one: Attempt | None = self
        while one is not None and one.outcome is Outcome.RUNNING:
            found.append((one.provider, one.wanted))
            one = one.solving.within.asker if one.above is None else one.above
        return found[::-1]

    # --- what is expected of it ---------------------------------------------------------------------------------------

    def shares(self) -> list[tuple[Branch, list[Dependency[Any]]]]:
        """The branches that can still come true, the likeliest first, each with what is left of it.

        These are those that foresaw most of what was done.
        """
        found = [(one, _remaining(one, self.done)) for one in self.branches]
        most = max((len(one.needs) - len(left) for one, left in found), default=0)
        return [(one, left) for one, left in found if len(one.needs) - len(left) == most]

    def left(self, rank: int = 0) -> tuple[Branch | None, list[Dependency[Any]]]:
        """A branch that can still come true, and what is left of it."""
        shares = self.shares()
        return shares[rank] if rank < len(shares) else (None, [])

    # --- the seat of its context --------------------------------------------------------------------------------------

    def supplies(self) -> Amounts:
        """What it and those above it will still use up."""
        estimator, depth = self.estimator, self.estimator.state.lookahead
        total: Amounts = {}
        one: Attempt | None = self
        while one is not None:
            if one in self.solving.stack:  # its strategy may ask when it has ended, too
                with estimator.deciding(one.chain()):
                    total = together(total, estimator.amounts_left(one.shares(), estimator.world, depth))
            one = one.above
        return total

    async def rest(self) -> None:
        """Wait until what came up was dealt with: a deadline of the author's goes through to one that stands still."""
        if self._dealing is not None:
            await self._dealing.join()

    async def solve(
        self, wanted: Dependency[Any], node: TaskNode, who: Collection[Provider] | None, rank: Rank | None
    ) -> Any:
        """Have a dependency solved below it, by some strategies, or by anybody."""
        return await self.solving.solve(Errand(self._acting, wanted, self, node, who, rank))

    @property
    def _acting(self) -> Unit:
        """The place of its carrier in the plan, while it runs."""
        unit = self.frame.active
        assert unit is not None
        return unit

    async def perform(self, activity: str, args: Mapping[str, Any]) -> Any:
        """Think and run a plain activity of the agent; when something of it was taken, it is begun again."""
        solving, unit = self.solving, self._acting
        node = TaskNode(NodeKind.ACTIVITY, activity, self.node)
        node.begin(solving.state.tick)
        try:
            output, was_interrupted = None, True
            while was_interrupted:
                frame = Spawned(unit, activity, dict(args), catches=True)
                self.executed = frame
                self.time.stop()
                try:
                    output = await frame.execute()
                    was_interrupted = self.executed is None  # whoever stopped it took that away
                except ActivityAbortedError:
                    if not frame.was_taken:
                        raise
                    await next_tick()  # or one that is taken at once, each time, would never let the tick end
                finally:
                    self.time.go()
                    self.executed = None
                await solving.interruptions.breakpoint(unit, self.node, self)
        except BaseException as error:
            if isinstance(error, Exception):
                node.end(Outcome.FAILED, solving.state.tick, words_of(getattr(error, "reason", error)))
            else:
                node.end(Outcome.CANCELLED, solving.state.tick)
            raise
        node.end(Outcome.DONE, solving.state.tick)
        return output

    def _hangs(self) -> None:
        if self._scope is not None:
            self._scope.cancel("it seems to hang")

    def awaits_others(self, *, is_waiting: bool) -> None:
        """Its coroutine begins to await what others do, or has awaited it; that is not its own time."""
        if is_waiting:
            self.time.stop()
        else:
            self.time.go()

    def __repr__(self) -> str:
        return f"<Attempt {self.provider.spec.label} for {self.node.label}: {self.outcome}>"


def _remaining(branch: Branch, done: Sequence[Dependency[Any]]) -> list[Dependency[Any]]:
    """What is left of the needs of a branch, in order."""
    spent = list(done)
    left: list[Dependency[Any]] = []
    for need in branch.needs:
        if need in spent:
            spent.remove(need)
        else:
            left.append(need)
    return left


def _words(failure: DependencyFailedError | ActivityAbortedError | ActivityImpossibleError) -> str:
    if isinstance(failure, ActivityAbortedError):
        return f"'{failure.activity}' was aborted: {failure.reason}"
    if isinstance(failure, ActivityImpossibleError):
        return f"nobody can perform '{failure.activity}' now"
    return f"{failure.label} could not be solved"


_REGRESS: Final = 3  # times that a strategy is run for the same kind of thing within itself, each time for another one


def regress_of(chain: Sequence[tuple[Provider, Dependency[Any]]]) -> str:
    """The regress in words, if strategies need each other again and again, each time for something new; else empty."""
    kinds = [(provider, type(wanted)) for provider, wanted in chain]
    for index, kind in enumerate(kinds):
        if kinds.count(kind) >= _REGRESS:
            depth = len(kinds) - index
            return f"an endless regress, {depth} needs deep: {told_path([wanted for _, wanted in chain[index:]])}"
    return ""


# --- requests within requests -----------------------------------------------------------------------------------------

_MAX_A_TICK: Final = 32  # attempts that may begin in one tick; the next one waits for the next tick
_MAX_WITHIN: Final = 32  # requests that may be within one another


class Within:
    """What a request is within, as long as who asked for it runs."""

    __slots__ = ("_began", "_floor", "_outermost", "_tick", "asker")

    def __init__(self, kernel: Kernel | None) -> None:
        above = _owners_above(kernel)
        # the attempt whose strategy asks for it, or has a plan ask for it; None if none does
        self.asker: Attempt | None = next((one for one in above if isinstance(one, Attempt)), None)
        self._outermost: Within = self if self.asker is None else self.asker.solving.within._outermost
        self._tick = -1
        self._began = 0  # how many attempts began in that tick, here and within it
        # As it is now: when that counts, who asked may deal with something else.
        self._floor = None if self.asker is None else self.asker.solving.interruptions.floor()

    @property
    def floor(self) -> int | None:
        """The priority of what it is asked for in: who deals with that may have others do it. None for nothing."""
        asker = self.asker
        return self._floor if asker is not None and asker.outcome is Outcome.RUNNING else None

    def admits(self, tick: int) -> bool:
        """Whether one more attempt may begin: what ends at once must not keep everybody else from the next tick."""
        pace = self._outermost
        if pace._tick != tick:
            pace._tick, pace._began = tick, 0
        pace._began += 1
        return pace._began <= _MAX_A_TICK

    @property
    def is_too_deep(self) -> bool:
        """Whether it is within more requests that still run than may be within one another."""
        found, asker = 0, self.asker
        while asker is not None and asker.outcome is Outcome.RUNNING:
            found, asker = found + 1, asker.solving.within.asker
        return found > _MAX_WITHIN


def waiting_above(unit: Unit) -> Iterator[Attempt]:
    """The attempts that wait for what is done below an action, in its request and in those that await it."""
    units, seen = [unit], {unit}
    for one in units:  # which grows meanwhile
        frame, execution = one.frame, one.frame.execution
        if isinstance(frame.owner, Attempt):
            yield frame.owner
        if frame.parent is not None:
            above = [frame.parent]
        else:
            above = execution.awaiters if isinstance(execution, Performance) else []
        units += [other for other in above if other not in seen]
        seen.update(above)


def _owners_above(kernel: Kernel | None) -> Iterator[object]:
    """Who manages the frames above the action whose coroutine runs at this moment, the nearest first."""
    current = None if kernel is None else kernel.current
    strand = None if current is None else current.strand()
    owner = strand.root.owner if isinstance(strand, Strand) else None
    unit: Unit | None = owner if isinstance(owner, Unit) else None
    while unit is not None:
        frame = unit.frame
        yield frame.owner
        unit = frame.parent
        if unit is None and isinstance(frame.execution, Performance):
            unit = frame.execution.asker


# --- foresight --------------------------------------------------------------------------------------------------------

_OVER: Final = object()
_MOST_BRANCHES: Final = 3  # the likeliest, "the second or third most likely"
_MOST_PREPARED: Final = 16  # worlds
_MOST_PLANNED: Final = 24  # nodes below one


class Foresight:
    """The foresight of one request."""

    def __init__(self, solving: Solving) -> None:
        self._solving = solving
        self._estimator = solving.estimator
        self._state: State = solving.state
        self._worlds: list[Scenario] = []  # in which something was decided in advance
        self._work: Iterator[None] | None = None  # what is left to prepare; None to lay it out anew
        self._timer: Timer | None = None
        self._credit = 0  # of asks; negative if the last one took more than there was
        self._stamp = -1  # as of when the work was laid out
        self._epoch = 0  # of the estimator: what was prepared before a failure is worth nothing

    # --- what happens -------------------------------------------------------------------------------------------------

    def begins(self, attempt: Attempt) -> None:
        if self._is_on:
            self._look(attempt)

    def ends(self, attempt: Attempt) -> None:
        wanted = attempt.wanted
        ticks = attempt.time.taken() if attempt.outcome is Outcome.DONE else None
        # Asked here, too: that what it claims holds is checked only after this, and what does not hold took no time.
        if ticks is not None and (not type(wanted).has_condition() or self._estimator.is_met(wanted)):
            rate = self._state.kernel.clock.ticks_per_second
            self._state.took(attempt.provider.spec, attempt.said, ticks / rate)
        if self._is_on:
            self._lay_out()

    def asked(self, errand: Errand) -> None:
        """A dependency is about to be solved: compare it with what was foreseen."""
        if not self._is_on:
            return
        self._take_over()  # whatever comes below: the decision that follows is to find what was found out
        wanted, above = errand.wanted, errand.above
        if above is None:
            return
        left = [needs for _, needs in above.shares()]
        expected = label_of(left[0][0]) if left and left[0] else ""
        ranks = [rank for rank, needs in enumerate(left) if wanted in needs]
        what = "miss" if not ranks else "hit" if ranks[0] == 0 else "other"
        if not above.branches or (what == "miss" and errand.node.kind is NodeKind.OPTION):
            return
        self._state.count({"hit": "hits", "other": "others", "miss": "misses"}[what])
        above.done.append(wanted)  # after it was compared: from now on it is left of no branch
        if errand.unit.frame.planner.trace.on:
            errand.unit.note(TraceEvent.FORECAST, wanted=label_of(wanted), foreseen=expected, what=what)
        self._come_true(above, wanted)
        if what == "hit":
            self._show(above)
            self._lay_out()
        else:
            self._look(above)

    def _come_true(self, attempt: Attempt, wanted: Dependency[Any]) -> None:
        """What was planned and is done now stands below what was done before, and is no more to come."""
        children = attempt.node.children
        for child in reversed(children):
            if child.outcome is Outcome.RUNNING and child.wanted == wanted:
                children.remove(child)
                children.append(child)
                break
        if attempt.forecast is not None:
            needs = attempt.forecast.needs
            come = next((place for place, one in enumerate(needs) if one.wanted == wanted), len(needs))
            attempt.forecast = replace(attempt.forecast, needs=(*needs[:come], *needs[come + 1 :]))

    def close(self) -> None:
        self._worlds, self._work = [], None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def _is_on(self) -> bool:
        return self._state.lookahead > 0

    # --- forecasts ----------------------------------------------------------------------------------------------------

    def _look(self, attempt: Attempt) -> None:
        """Ask a strategy what it foresees now, and make its forecast from where it is."""
        estimator, depth = self._estimator, self._state.lookahead
        with estimator.deciding(attempt.chain()[:-1]):  # without itself, who would be left out
            priced, _ = estimator.price(attempt.provider, attempt.wanted, estimator.world)
            # Amid its run it may foresee nothing any more: then what it foresaw when it began is all there is.
            if not attempt.done or priced.branches:
                attempt.branches = likeliest(priced.branches)
            if attempt.branches:
                shares = attempt.shares()
                attempt.forecast = forecast(estimator, priced, attempt.wanted, estimator.world, depth, shares)
        self._show(attempt)
        self._lay_out()

    def _show(self, attempt: Attempt) -> None:
        """The direct children that are expected, in the task tree."""
        node = attempt.node
        node.children = [child for child in node.children if child.outcome is not Outcome.PLANNED]
        seen = attempt.forecast
        costs = {} if seen is None else {one.wanted: one.cost for one in seen.needs}
        branch, left = attempt.left()
        others = dict.fromkeys(need for _, needs in attempt.shares()[1:] for need in needs)
        for need in left[:_MOST_PLANNED]:
            TaskNode(NodeKind.DEPENDENCY, None, node, need).cost = costs.get(need)
        chances = {} if seen is None else dict(seen.others)
        for need in list(others)[: max(0, _MOST_PLANNED - len(left))]:
            if branch is None or need not in branch.needs:
                planned = TaskNode(NodeKind.DEPENDENCY, None, node, need)
                planned.is_conditional = True
                planned.probability = chances.get(need, 1.0)

    # --- preparing ----------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        """What is next is otherwise: prepare that from the next tick on."""
        self._work = None
        self._arm()

    def stir(self) -> None:
        """Something changed that estimates rest on: what comes next may be prepared anew."""
        if self._is_on:
            self._arm()

    def _arm(self) -> None:
        if self._timer is None and self._state.prepare_asks > 0 and self._solving.stack:
            self._timer = self._state.kernel.call_later(1, self._prepare)

    def _prepare(self) -> None:
        """Ask as much as a tick allows, and go on in the next one."""
        self._timer = None
        if self._work is None or self._stamp != self._state.stamp:
            self._stamp = self._state.stamp
            self._work = (step for rank in range(_MOST_BRANCHES) for step in self._branch(rank))
        # What is left of a tick is not saved up: many quiet ones would make one long one.
        self._credit = min(self._credit, 0) + self._state.prepare_asks
        while self._credit > 0:
            before = self._estimator.asked
            # A hook that raises ends it, and is no harm to who will decide.
            if self._state.contained("preparing", "estimate", _OVER, next, self._work, _OVER) is _OVER:
                return  # all is prepared, until something happens
            spent = self._estimator.asked - before
            self._credit -= spent
            search = self._state.agent.search
            if spent and search is not None and not search.spare(self._state.agent, spent):
                break
        self._arm()

    def _branch(self, rank: int) -> Iterator[None]:
        """Decide in advance what comes if one of the branches of the innermost attempt comes true."""
        estimator, depth = self._estimator, self._state.lookahead
        attempts = tuple(self._solving.stack)
        world = estimator.world
        for index in range(len(attempts) - 1, -1, -1):
            attempt = attempts[index]
            is_innermost = index == len(attempts) - 1
            branch, left = attempt.left(rank if is_innermost else 0)
            if is_innermost and rank and branch is None:
                return
            chain = attempt.chain()
            for need in left:
                yield from self._decide(need, chain, world)
                world = estimator.after(need, world, depth)
            if left and not is_innermost:
                return
            if attempt.above is None:
                return
            world = estimator.outcome(attempt.wanted, branch, (), world, depth)
            yield

    def _decide(self, need: Dependency[Any], chain: Chain, world: Scenario) -> Iterator[None]:
        if self._estimator.is_met(need, world):
            return
        is_kept = False
        for provider in self._state.catalog.of(type(need)):
            is_kept = self._estimator.price(provider, need, world, chain)[1] or is_kept
            yield
        if is_kept:
            self._state.count("prepared")
            if world.state is not None and world not in self._worlds:
                self._worlds = [*self._worlds, world][-_MOST_PREPARED:]

    def _take_over(self) -> None:
        """If the world is one that was assumed, what was found out in it holds."""
        state, estimator = self._state, self._estimator
        if self._epoch != estimator.epoch:
            self._epoch = estimator.epoch
            self._worlds = []
        if not self._worlds:
            return
        real = state.layer(None)
        kept: list[Scenario] = []
        taken = 0
        for world in self._worlds:
            fields = None if world.state is None else is_as_assumed(world.state, real)
            if fields is None:
                kept.append(world)
            else:
                taken += take_over(world, estimator.world, fields, state.versions, state.stamp)
        if taken:
            state.count("taken")
        self._worlds = kept


# --- what comes up ----------------------------------------------------------------------------------------------------

_PAUSE: Final = "pause"  # the name of the interruption when a request was told to pause


@dataclass(slots=True, eq=False)
class Incident:
    """Something that came up, and what is to be done about it."""

    interruption: Interruption
    wanted: Dependency[Any] | None = None  # what to have solved because of it; None for nothing
    priority: int = 0  # a higher one interrupts what is done about a lower one
    # called when it was dealt with, with how that ended: DONE, FAILED, or CANCELLED if nobody will any more
    then: Callable[[Outcome], object] | None = None

    def over(self, outcome: Outcome, state: State) -> None:
        """It was dealt with, or never will be. That the author's function raises is nobody else's failure."""
        if self.then is not None:
            state.contained(f"interruption {self.interruption.name}", "then", None, self.then, outcome)


@dataclass(slots=True, eq=False)
class _Level:
    """Where incidents are being dealt with."""

    mark: int  # how many attempts there were on the stack when it began; those after it belong to it
    unit: Unit  # the action of the plan below which that is done
    told: Attempt | None  # the innermost attempt that hears of it; so do those above it
    how: Interruptible  # what the interrupted one supports, for the trace
    current: Incident | None = None  # what is dealt with; None while it looks for the next one, or stands still


class Interruptions:
    """What came up during one request."""

    __slots__ = ("_changed", "_is_looking", "_levels", "_solving", "is_paused", "pending")

    def __init__(self, solving: Solving) -> None:
        self.pending: list[Incident] = []  # what was not dealt with yet, in the order in which it will be
        self.is_paused: bool = False  # whether the request is to stand still
        self._solving = solving
        self._levels: list[_Level] = []  # each interrupted what is done in the one before
        self._changed: Signal | None = None  # while it stands still
        self._is_looking = False  # whether a look stands in the ready queue: many that come up at once make one

    @property
    def handled(self) -> tuple[Interruption, ...]:
        """What is being dealt with, the first one first; each was interrupted by the next."""
        return tuple(level.current.interruption for level in self._levels if level.current is not None)

    # --- what comes up ------------------------------------------------------------------------------------------------

    def add(self, incident: Incident) -> None:
        """Something came up. Nothing is interrupted on the caller's stack."""
        insort(self.pending, incident, key=_rank)  # behind its equals: what came first is dealt with first
        self._look_soon()

    def pause(self) -> None:
        """Stand still as soon as the attempts allow it."""
        self.is_paused = True
        self._look_soon()

    def resume(self) -> None:
        self.is_paused = False
        self._tell_waiting()

    def _look_soon(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            self._solving.state.kernel.call_soon(self._look)

    def _look(self) -> None:
        """Have the attempts make room for what is due, in the ready queue's turn."""
        self._is_looking = False
        if self._levels and self._levels[-1].current is None:
            self._tell_waiting()
        elif self._is_due():
            attempts = [one for one in self._attempts() if one.has_begun]
            innermost = self._solving.stack[-1] if self._attempts() else None
            if innermost is None or _is_covered(attempts):
                return  # a breakpoint will come; to one that has not begun WAIT means nothing, it has nothing to lose
            whole = _outermost_tree(attempts)
            if whole is not None:
                whole.begin_again()
            else:
                innermost.interrupt()

    def _tell_waiting(self) -> None:
        if self._changed is not None:
            self._changed.emit()

    def _attempts(self) -> list[Attempt]:
        """The attempts of the innermost level, the outermost first."""
        return self._solving.stack[self._levels[-1].mark if self._levels else 0 :]

    def floor(self) -> int | None:
        """What has to be exceeded to be dealt with now; None for nothing."""
        current = self._levels[-1].current if self._levels else None
        return self._solving.floor if current is None else current.priority

    def _is_due(self) -> bool:
        return self._is_next(self.floor()) or (self.is_paused and not self._levels)

    # --- dealing with it ----------------------------------------------------------------------------------------------

    async def breakpoint(
        self, unit: Unit, node: TaskNode, above: Attempt | None, interrupted: Attempt | None = None
    ) -> bool:
        """Deal with what is due; those from ``above`` on hear of it, or from the one that was unwound for it."""
        if not (self.pending or self.is_paused) or not self._is_due():
            return False
        stop_if_lost(unit)
        attempts = self._attempts()
        if _is_covered(attempts):
            return False
        whole = _outermost_tree(attempts)
        if whole is not None:
            whole.begin_again()
            await await_end(unit)  # it is unwound, and this with it
        how = Interruptible.WAIT if interrupted is None else interrupted.provider.spec.cls.interruption
        await self.deal(unit, node, above if interrupted is None else interrupted, how)
        return True

    async def deal(self, unit: Unit, node: TaskNode, told: Attempt | None, how: Interruptible) -> None:
        floor = self.floor()
        level = _Level(len(self._solving.stack), unit, told, how)
        self._levels.append(level)
        was, node.outcome = node.outcome, Outcome.PAUSED
        top = self._solving.stack[-1] if self._solving.stack else None
        if top is not None:
            top.time.stop()
        try:
            while self._is_next(floor) or (self.is_paused and len(self._levels) == 1):
                if self._is_next(floor):
                    await self._deal_with(level, node)
                else:
                    await self._stand_still(level, node)
        finally:
            self._levels.remove(level)
            if node.outcome is Outcome.PAUSED:
                node.outcome = was
            if top is not None:
                top.time.go()
            if unit.extras is not None and unit.extras.awaits is not None:
                look_for_circle(unit.frame.execution)  # it was no wait as long as something was done meanwhile

    def _is_next(self, floor: int | None) -> bool:
        return bool(self.pending) and (floor is None or self.pending[0].priority > floor)

    async def _deal_with(self, level: _Level, node: TaskNode) -> None:
        incident, solving = self.pending.pop(0), self._solving
        place = self._begin(level, incident.interruption, node)
        level.current = incident
        try:
            if incident.wanted is not None:
                below = TaskNode(NodeKind.DEPENDENCY, None, place, incident.wanted)
                await solving.solve(Errand(level.unit, incident.wanted, None, below))
        except DependencyFailedError as failure:
            place.end(Outcome.FAILED, solving.state.tick, failure.reason)
        except BaseException as error:
            if not isinstance(error, Exception) or is_lost(level.unit):  # it is unwound, and to be dealt with later
                place.end(Outcome.CANCELLED, solving.state.tick)
                insort(self.pending, incident, key=_rank)
                raise
            # Nothing that goes wrong here is the fault of whoever was interrupted.
            place.end(Outcome.FAILED, solving.state.tick, error_words(error))
            solving.state.fault(f"interruption {incident.interruption.name}", "solve", error)
        else:
            place.end(Outcome.DONE, solving.state.tick)
        finally:
            level.current = None
        self._note(level, TraceEvent.RESUMED, incident.interruption, outcome=place.outcome.value)
        # Before anybody is told: one that gives up unwinds this strand, and its trigger would stay busy for ever.
        incident.over(place.outcome, solving.state)
        await self._tell(level, incident.interruption)

    async def _stand_still(self, level: _Level, node: TaskNode) -> None:
        """The request was told to pause."""
        interruption, state = Interruption(_PAUSE), self._solving.state
        place = self._begin(level, interruption, node)
        changed = self._changed = Signal()
        extras = level.unit.own_extras()
        was, extras.unwinding = extras.unwinding, extras.unwinding or changed.emit  # a shield keeps the rest away
        try:
            while self.is_paused:
                if self.pending:
                    await self._deal_with(level, place)
                else:
                    await changed.wait()
                    stop_if_lost(level.unit)
        except BaseException:
            place.end(Outcome.CANCELLED, state.tick)
            raise
        finally:
            self._changed = None
            extras.unwinding = was
        place.end(Outcome.DONE, state.tick)
        self._note(level, TraceEvent.RESUMED, interruption, outcome=place.outcome.value)
        await self._tell(level, interruption)

    def _begin(self, level: _Level, interruption: Interruption, node: TaskNode) -> TaskNode:
        place = TaskNode(NodeKind.INTERRUPTION, interruption.name, node)
        place.begin(self._solving.state.tick)
        self._note(level, TraceEvent.INTERRUPTED, interruption, how=level.how.value)
        return place

    async def _tell(self, level: _Level, interruption: Interruption) -> None:
        """Tell all attempts of it, the inner first; if one of them gives up, that unwinds whoever waits here.

        Those of other requests that await this one, too: it is the same to them, however they had it solved.
        """
        is_unwound, told = False, level.told
        while told is not None:
            is_unwound |= told.hear(interruption)
            told = told.above
        # A list: who gives up may be taken out of what is gone through.
        for one in list(waiting_above(self._solving.unit)):
            # One of another plan is unwound there, and this goes on.
            is_unwound |= one.hear(interruption) and one.frame.execution is level.unit.frame.execution
        if is_unwound:
            await await_end(level.unit)

    def _note(self, level: _Level, event: TraceEvent, interruption: Interruption, **detail: Any) -> None:
        if level.unit.frame.planner.trace.on:
            level.unit.note(event, by=interruption.name, **detail)


def _rank(incident: Incident) -> int:
    return -incident.priority


def _is_covered(attempts: list[Attempt]) -> bool:
    """Whether one of the attempts, which have begun, has all below it completed first."""
    return any(one.interruption is Interruptible.WAIT for one in attempts)


def _outermost_tree(attempts: list[Attempt]) -> Attempt | None:
    return next((one for one in attempts if one.interruption is Interruptible.TREE), None)


# --- requests ---------------------------------------------------------------------------------------------------------

_MOST_TIMES: Final = 7  # the first is a second, each of the others twice as long: about a minute
_MOST_KEPT: Final = 1024  # what is forgotten is tried at once, which costs one attempt more
_MOST_FINISHED: Final = 8  # task trees of requests that are over; the tutorial tells of eight
MAX_ATTEMPTS: Final = 10_000
"""How many attempts one request may take."""


class RequestTable:
    """What one agent is asked to solve, by calls and by its plan."""

    def __init__(self, state: State) -> None:
        self.state: State = state
        self.estimator: Estimator = Estimator(state, Params())  # under the agent's global parameters
        # The requests that are being solved, in the order in which they began. Never changed in place: authors get it,
        # and whoever goes through it may call what begins or ends another.
        self.running: tuple[Solving, ...] = ()
        self.finished: tuple[TaskNode, ...] = ()  # the task trees of the last ones that are over, the oldest first
        self.left_over: Callable[[Incident], object] | None = None  # takes what was not dealt with in a request
        self._count = 0  # of the requests that began
        # how often it could not be solved since it last was, and until when it is put off
        self._postponed: dict[Dependency[Any], tuple[int, int]] = {}
        self._provided: tuple[type[Dependency[Any]], ...] = ()
        self._known: dict[type[Dependency[Any]], Callable[[], None]] = {}
        # How many times a plan is doing it: not whether, since one that is performed beside the plan may do it, too.
        self._held: dict[type[Dependency[Any]], int] = {}

    def began(self, solving: Solving) -> None:
        self._count += 1
        solving.root.number = self._count
        self.running = (*self.running, solving)
        self.changed("requests")

    def ended(self, solving: Solving) -> None:
        """A request is over; its tree is kept for a while, to be looked at."""
        solving.foresight.close()
        self.running = tuple(one for one in self.running if one is not solving)
        self.finished = (*self.finished, solving.root)[-_MOST_FINISHED:]
        self.changed("requests")
        # The last, since who takes them looks for another request among those that run.
        rest, solving.interruptions.pending = solving.interruptions.pending, []
        for incident in rest:
            if self.left_over is not None:
                self.left_over(incident)

    def changed(self, *topics: str) -> None:
        """Something changed that estimates rest on; none for everything."""
        if topics:
            self.state.count_change(*topics)
        else:
            self.estimator.forget()
            for solving in self.running:
                solving.estimator.forget()
        for solving in self.running:
            solving.foresight.stir()
        self.state.changes.emit()  # the last: a plan that listens finds everything forgotten that does not hold

    # --- what its plan knows to have solved ---------------------------------------------------------------------------

    def fit(self, provided: tuple[type[Dependency[Any]], ...]) -> None:
        """Have its plan know just what strategies provide, and what is being done."""
        self._provided = provided
        self._forget()  # first: a class that was made anew has the activity of the old one, and maybe other fields
        for wanted in provided:
            if wanted not in self._known:
                self._known[wanted] = self.state.agent.learn_solver(solver_of(wanted))

    def put_off(self, wanted: Dependency[Any], clock: Clock) -> None:
        """It could not be solved: do not try it again at once, and later each time."""
        times = min(self._postponed.get(wanted, (0, 0))[0] + 1, _MOST_TIMES)
        if len(self._postponed) >= _MOST_KEPT:
            self._postponed.clear()
        self._postponed[wanted] = (times, clock.tick + clock.ticks(2.0 ** (times - 1)))

    def solved(self, wanted: Dependency[Any]) -> None:
        self._postponed.pop(wanted, None)

    def put_off_until(self, wanted: Dependency[Any]) -> int:
        """The tick from which on it may be tried again; 0 for at once."""
        return self._postponed.get(wanted, (0, 0))[1]

    def hold(self, wanted: type[Dependency[Any]]) -> None:
        self._held[wanted] = self._held.get(wanted, 0) + 1

    def let_go(self, wanted: type[Dependency[Any]]) -> None:
        self._held[wanted] -= 1
        kernel = self.state.agent.kernel
        if not self._held[wanted]:
            del self._held[wanted]
            if wanted not in self._provided and kernel is not None:
                kernel.call_soon(self._forget)  # the plan is just being stopped

    def _forget(self) -> None:
        for wanted in [one for one in self._known if one not in self._provided and one not in self._held]:
            self._known.pop(wanted)()


class Solving:
    """One request, and all that is solved for it."""

    unit: Unit  # below which action of the plan it is solved; there is one as long as it is

    def __init__(
        self,
        table: RequestTable,
        estimator: Estimator,
        wanted: Dependency[Any],
        only: Provider | None = None,
        priority: int | None = None,
    ) -> None:
        self.table: RequestTable = table
        self.state: State = table.state
        self.estimator: Estimator = estimator
        self.wanted: Dependency[Any] = wanted
        self.root: TaskNode = TaskNode(NodeKind.DEPENDENCY, None, None, wanted)  # the top of its task tree
        self.stack: list[Attempt] = []  # the attempts that run, the outermost first
        self.failure: DependencyFailedError | None = None  # why it could not be solved; None until then
        self.deadlock: str = ""  # the circle of those that waited for each other, in words, if it fails because of one
        self.regress: str = ""  # the endless regress that was run into, in words; empty if none was
        self.value: Any = None  # what solving it gave, when it is over
        self.priority: int | None = priority  # if it is what is done about something that came up
        self.interruptions: Interruptions = Interruptions(self)  # what comes up meanwhile
        self.foresight: Foresight = Foresight(self)  # what is expected to come
        self._only = only  # the one strategy that may provide it; None for anybody
        self._is_anew = False  # whether it was told to begin again, and has not done so yet
        self.attempts: int = 0  # how many there were
        self.within: Within = Within(table.state.agent.kernel)  # who asked for it through the gameplay, or a plan

    @property
    def floor(self) -> int | None:
        """What comes up has to be more urgent than that; None for anything."""
        return self.within.floor if self.priority is None else self.priority

    async def run(self, unit: Unit) -> None:
        self.unit = unit  # before anybody finds it in the table: who looks for a request to interrupt reads it
        self.table.began(self)
        try:
            among = None if self._only is None else (self._only,)
            self.value = await self.solve(Errand(unit, self.wanted, None, self.root, among))
        except DependencyFailedError as failure:
            self.failure = failure
            raise
        finally:
            self.table.ended(self)

    def push(self, attempt: Attempt) -> None:
        if self.stack:
            self.stack[-1].time.lend()
        self.stack.append(attempt)
        self.foresight.begins(attempt)

    def pop(self, attempt: Attempt) -> None:
        """An attempt is over; the one above it goes on."""
        self.stack.remove(attempt)
        self.foresight.ends(attempt)
        if self.stack:
            self.stack[-1].time.take_back()

    def restart(self) -> None:
        """Begin again from the very beginning: all that runs is unwound, and who failed may be tried again."""
        self._is_anew = True
        if self.stack:
            self.stack[0].begin_again()

    # --- one dependency -----------------------------------------------------------------------------------------------

    async def solve(self, errand: Errand) -> Any:
        wanted, above, node = errand.wanted, errand.above, errand.node
        node.begin(self.state.tick)
        if above is not None:
            above.is_solving = True  # a breakpoint is near: it need not be unwound for what comes up
        self.foresight.asked(errand)  # before all asking: what was prepared is taken over
        try:
            return self._met(errand) if self.estimator.is_met(wanted) else await self._provide(errand)
        except DependencyFailedError as failure:
            if node.is_open:
                node.end(Outcome.FAILED, self.state.tick, failure.reason)
            raise
        except BaseException:
            node.end(Outcome.CANCELLED, self.state.tick)
            raise
        finally:
            if above is not None:
                above.is_solving = False

    def _met(self, errand: Errand) -> Any:
        """It holds already: a shortcut."""
        errand.node.end(Outcome.MET, self.state.tick)
        self._note(errand, TraceEvent.SOLVED, by="", cost=0.0)
        return self._met_value(errand.wanted)

    def _met_value(self, wanted: Dependency[Any]) -> Any:
        try:
            return wanted.met_value(Ask(self.estimator, self.estimator.world, 0))
        except Cannot:
            return None
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.state.fault(type(wanted).activity, "met_value", error)
            return None

    async def _provide(self, errand: Errand) -> Any:
        unit, wanted, above, node = errand.unit, errand.wanted, errand.above, errand.node
        may_be_met = False  # whether anybody had the time to meet it since that was asked
        while True:
            may_be_met |= await self.interruptions.breakpoint(unit, node, above)
            if self._is_anew and node is self.root:  # what was told to begin again is the request, and not a part of it
                self._is_anew = False
                errand.failed.clear()
            # Asked only where anybody had the time: the caller has just asked, and each ask is an author's code.
            if may_be_met and self.estimator.is_met(wanted):
                return self._met(errand)
            may_be_met = False
            offers, best = self._best(errand)
            node.offers = tuple(
                (one.provider.spec.label, None if one.cost == inf else one.cost, one.reason) for one in offers
            )
            if best is None:
                raise _failure_of(errand, offers)
            if not self.within.admits(self.state.tick):
                await next_tick()
                may_be_met = True
                continue  # something may have come up
            attempt = await self._try(errand, best)
            if attempt.outcome is Outcome.DONE:
                self._note(errand, TraceEvent.SOLVED, by=best.provider.spec.label, cost=best.cost)
                if await self.interruptions.breakpoint(unit, node, above) and not self._holds(wanted):
                    continue  # what came up undid it
                if self._is_anew and node is self.root and not self.estimator.is_met(wanted):
                    continue  # it was told to begin again when there was nothing left to unwind
                node.end(Outcome.DONE, self.state.tick)
                return self._met_value(wanted) if attempt.value is None else attempt.value
            if attempt.outcome is Outcome.FAILED:
                errand.failed[best.provider] = attempt
            may_be_met = True
            # A strategy that failed has found out what no topic tells of; who is asked next should not go by before.
            self.estimator.forget()

    def _best(self, errand: Errand) -> tuple[list[Offer], Offer | None]:
        """What those say now who have not failed, and the best of it; None if nobody can."""
        wanted, above = errand.wanted, errand.above
        who = self.state.catalog.of(type(wanted)) if errand.among is None else errand.among
        # A request that a strategy asked for is as much within that strategy as what it has solved by itself.
        last = self.within.asker if above is None else above
        chain = [] if last is None else last.chain()
        if self.within.is_too_deep:
            told = "requests are nested too deep within one another"
            return [Offer(one, inf, told, circle=regress_of(chain)) for one in who], None
        offers = self.estimator.offers(wanted, [one for one in who if one not in errand.failed], chain)
        if errand.rank is not None:
            offers = ranked(errand.rank, offers, errand.failed)
        return offers, offers[0] if offers and offers[0].cost < inf else None

    def is_still_best(self, attempt: Attempt) -> bool:
        """Whether an attempt that waited for its control flags is to be run; it costs what its strategy says now."""
        errand = attempt.errand
        if self.estimator.is_met(errand.wanted):
            return False
        _, best = self._best(errand)
        if best is None or best.provider is not attempt.provider:
            return False
        attempt.expect(best)
        return True

    async def _try(self, errand: Errand, offer: Offer) -> Attempt:
        """Run a strategy once: until it is done, has failed, or is to be chosen anew."""
        self.attempts += 1
        who = offer.provider.spec.label
        below = TaskNode(NodeKind.STRATEGY, who, errand.node)
        below.begin(self.state.tick)
        attempt = Attempt(self, errand, offer, below)
        self._note(errand, TraceEvent.TRY, by=who, cost=offer.cost)
        if self.attempts > MAX_ATTEMPTS:  # a failure like any other, so that those above may still clean up after it
            attempt.fail_of_depth(f"the request has taken {MAX_ATTEMPTS} attempts")
        else:
            try:
                await attempt.attempt()
            except BaseException:
                below.end(Outcome.CANCELLED, self.state.tick)
                raise
        # That it returned proves nothing: whoever needs this goes on as if it held.
        if attempt.outcome is Outcome.DONE and not self._holds(errand.wanted):
            attempt.fail("it returned, but what it was run for does not hold")
        if attempt.is_again and attempt.outcome is Outcome.RUNNING:
            await self._again(errand, attempt)
        if below.is_open:
            below.end(attempt.outcome, self.state.tick, attempt.reason)
        if attempt.outcome is Outcome.FAILED:
            self._note(errand, TraceEvent.FAILED, by=who, reason=attempt.reason)
        return attempt

    async def _again(self, errand: Errand, attempt: Attempt) -> None:
        """A strategy was unwound, and is to begin again; what it was unwound for is dealt with before."""
        below, interrupted = attempt.node, attempt if attempt.was_interrupted else None
        if interrupted is None:
            await next_tick()  # else one that begins again each time would not let the tick end
        await self.interruptions.breakpoint(errand.unit, below, errand.above, interrupted)
        errand.interruptions[attempt.provider] = attempt.interruptions  # only now: the breakpoint may have told it more
        if attempt.outcome is not Outcome.RUNNING:
            return
        if attempt.was_interrupted and self.estimator.is_met(errand.wanted):
            attempt.value = self._met_value(errand.wanted)
            attempt.outcome = Outcome.DONE  # by what was done in between
        else:
            below.end(Outcome.CANCELLED, self.state.tick, "it begins again")

    def _holds(self, wanted: Dependency[Any]) -> bool:
        return not type(wanted).has_condition() or self.estimator.is_met(wanted)

    def __str__(self) -> str:
        return self.root.label

    def _note(self, errand: Errand, event: TraceEvent, **detail: Any) -> None:
        if errand.unit.frame.planner.trace.on:
            errand.unit.note(event, wanted=label_of(errand.wanted), **detail)


# --- the story of a failure -------------------------------------------------------------------------------------------

_MOST_TOLD: Final = 80  # lines of a story


def _failure_of(errand: Errand, offers: Sequence[Offer]) -> DependencyFailedError:
    """End the node of what could not be solved, and make the error: nobody of those who are left can."""
    wanted, node, failed = errand.wanted, errand.node, errand.failed
    planner = errand.unit.frame.planner
    clock = planner.kernel.clock
    if not offers and not failed:
        reason = "no strategy provides it"
    else:
        told = [f"{provider.spec.label} failed ({attempt.reason})" for provider, attempt in failed.items()]
        told += [f"{offer.provider.spec.label} cannot ({offer.reason})" for offer in offers]
        reason = "; ".join(told)
    circles = [attempt.circle for attempt in failed.values()] + [offer.circle for offer in offers]
    circle = circles[0] if circles and all(circles) else ""  # one who failed of something else is reason enough
    node.end(Outcome.FAILED, clock.tick, reason)
    failure = DependencyFailedError(
        wanted,
        reason,
        label=node.label if node.wanted is wanted and node.kind is NodeKind.DEPENDENCY else label_of(wanted),
        circle=circle,
        story=_shortened(node.render(clock.ticks_per_second)),
        agent=planner.name,
        path=errand.unit.path(),
        tick=clock.tick,
    )
    # What went wrong underneath, and not the failures in between, of which the story tells. Of several the last one's:
    # with it the last hope went.
    causes = [
        one.cause.__cause__ if isinstance(one.cause, DependencyFailedError) else one.cause for one in failed.values()
    ]
    failure.__cause__ = next((one for one in reversed(causes) if one is not None), None)
    return failure


def _shortened(story: str) -> str:
    """A story of which the middle is left out, if it is too long to be read."""
    lines = story.splitlines()
    left_out = len(lines) - _MOST_TOLD
    if left_out <= 0:
        return story
    return "\n".join((*lines[: _MOST_TOLD // 2], f"... {left_out} lines", *lines[-_MOST_TOLD // 2 :]))


# --- requests, by a call and by a plan --------------------------------------------------------------------------------


hold_no_entities(Solving)  # the argument that carries a request through the plan


class SolveRequest(Action):
    """Solve what a call of the gameplay asked for."""

    does = "gameplay:request"
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
        table = _table_of(ctx)
        while True:
            await ctx.sleep_ticks(max(0, table.put_off_until(args) - ctx.clock.tick))
            if table.estimator.cost(args) < inf:
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await table.state.changes.wait()

    def start(self, ctx: Context, args: Dependency[Any]) -> None:
        _table_of(ctx).hold(type(args))

    def stop(self, ctx: Context, args: Dependency[Any]) -> None:
        _table_of(ctx).let_go(type(args))

    async def run(self, ctx: Context, args: Dependency[Any]) -> None:
        table, unit = _table_of(ctx), unit_of(ctx)
        try:
            await Solving(table, table.estimator, args).run(unit)
        except DependencyFailedError as failure:
            execution, reason = unit.frame.execution, f"{label_of(args)} could not be solved: {failure.reason}"
            # Before the plan is thought again, or it would choose this again.
            table.put_off(args, ctx.clock)
            if isinstance(execution, Performance) or catcher_of(unit) is not None:
                ctx.abort(reason)  # somebody awaits it, and hears of it
            execution.replan(reason, unit)
            await park()  # this coroutine is unwound with the plan
        else:
            table.solved(args)


def _table_of(ctx: Context) -> RequestTable:
    """What the agent of an action is asked to solve. ``ctx.agent`` is of any type, for authors' sake."""
    table = ctx.agent.gameplay._table
    assert isinstance(table, RequestTable)
    return table


def solver_of(wanted: type[Dependency[Any]]) -> type[Action]:
    """The action that performs the activity of a dependency in a plan; made once, and kept with the dependency."""
    found: type[Action] | None = wanted.__dict__.get("_solver")
    if found is None:
        found = wanted._solver = action_for(_Solver, wanted, wanted, __doc__=f"Has {wanted.__name__} solved.")
    return found


class _Performed(Performance):
    """A performance that tells a request when it is over."""

    __slots__ = ("_request",)

    def __init__(self, planner: Planner, activity: str, request: Request[Any]) -> None:
        super().__init__(planner, activity, {"solving": request.solving}, None, SolveRequest.spec)
        self._request = request

    @property
    def name(self) -> str:
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
                await outlast(lambda: request.is_done, request._ended.wait)
        raise
