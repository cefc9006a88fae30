"""An attempt: one try of one strategy, as a frame of the planner.

The planner runs the strategy's *carrier* in a frame below whoever needs the dependency, with nobody else to elect. So
control flags, leases, listeners, traces, snapshots and unwinding are those of any action, and a preemption of the plan
stops a strategy in the same way in which an interruption does. What the author's coroutine raises never reaches the
planner: it is the outcome of the attempt. In this order:

* *The carrier* is an action that is made for each strategy and dependency and kept with the strategy. It has the name,
  the flags and the status text of that, so that ledgers, traces and people see the strategy and not the machinery.
* *Behind a shield.* Whoever is unwound is cancelled at its wait. A strategy that has something solved behind a shield
  is not; so what is solved for it there must not wait for that, and must not begin anything more: nothing goes on in a
  plan that unwinds. It ends with ``ActivityAbortedError``, the error of all that is executed there.
* *Standing still* (``Pausable``) while something that came up is dealt with below it.
* *Own time* (``OwnTime``). What a strategy says that it costs is the time that goes by while it, and what it has
  solved, is at work. So what it *took* is counted in the same way.
* *The attempt* itself, which is also the *seat* of the strategy's context. Whoever had to wait for its control flags is
  asked about again before it runs: it was chosen for a world of before.
* *Requests within requests.* A strategy may ask through the gameplay of its agent, or have a plan ask. Such a request
  is one of its own; but forgotten it would be a way around the recursion guard and the bounds on attempts. So each
  knows who asked for it, which counts as long as that one runs, and all that were asked for by one another keep one
  *pace*. What is asked for while something that came up is dealt with is as urgent as that: it is a part of it.

This is one module of more than 800 lines since its parts are parts of one run of one coroutine; each of them alone
would have one reader. The request that it belongs to (``solve``) stands above it.

Rejected: cancelling through the shield. It is there to let a clean-up come to its end, which may still do other things.

Source: prismarine-gameplay: "Task Failure", "Pauseable/Cancelable Tasks", "Planning Ahead Using Probability",
"Hierarchy".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from agentrt.activity.author.action import Action, ActionSpec
from agentrt.activity.author.context import Context, ignored
from agentrt.activity.author.control import Flow, Reject
from agentrt.activity.performances import Performance, Spawned
from agentrt.activity.plan.tree import Frame, Unit, aborted
from agentrt.activity.states import FINISHED, IDLE
from agentrt.errors import (
    ENDS_PROGRAM,
    ActivityAbortedError,
    ActivityImpossibleError,
    ActivityRecursionError,
    DependencyFailedError,
)
from agentrt.kernel.strand import CancelScope, Strand, current_strand, outlast
from agentrt.kernel.traps import Waiter, next_tick, park
from agentrt.strategy.declare import BeginAgain, Fail, Interruptible, Order, StrategyContext
from agentrt.strategy.dependency import Ask, Cannot, Dependency, label_of, told_path
from agentrt.strategy.supplies import Amounts, enough
from agentrt.strategy.tree import NodeKind, Outcome, TaskNode, seconds
from agentrt.words import error_words, type_name, words_of

if TYPE_CHECKING:
    from types import FrameType

    from agentrt.kernel.kernel import Kernel, Timer
    from agentrt.strategy.declare import Interruption, Offer, Provider, Rank, Strategy, StrategySpec
    from agentrt.strategy.estimate import Chain, Estimator
    from agentrt.strategy.state import State

R = TypeVar("R")


# --- the carrier ------------------------------------------------------------------------------------------------------


class _Carrier(Action):
    """The action that carries a strategy."""

    attempt: Attempt  # whose frame elected it, before it is run

    async def run(self, ctx: Context, args: Dependency[Any]) -> None:
        await self.attempt.carry(args)


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
        """Nobody steps it any more."""
        self._coro.close()

    @property
    def gi_frame(self) -> FrameType | None:
        """The frame of the coroutine."""
        frame: FrameType | None = getattr(self._coro, "cr_frame", None)
        return frame

    @property
    def gi_yieldfrom(self) -> Any:
        """What the coroutine awaits."""
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
        """What it had solved is over."""
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


_LEAST_PATIENCE: Final = 60.0  # game seconds
_PATIENCE: Final = 10.0  # times what it said that it costs
_EXCEPTIONAL: Final = 3.0  # times what all others cost together
_UNWOUND: Final = "the strategy that was interrupted is unwound"


# --- the attempt ------------------------------------------------------------------------------------------------------


class _Requesting(Protocol):
    """The request that an attempt is made for, as the attempt sees it: a ``Solving``, which explains these."""

    state: State
    estimator: Estimator
    regress: str
    within: Within

    def push(self, attempt: Attempt) -> None: ...

    def pop(self, attempt: Attempt) -> None: ...

    def is_still_best(self, attempt: Attempt) -> bool: ...

    def urgency(self) -> int | None: ...

    def supplies(self, attempt: Attempt) -> Amounts: ...

    async def solve(self, errand: Errand) -> Any: ...

    async def breakpoint(self, unit: Unit, node: TaskNode, above: Attempt | None) -> bool: ...

    async def deal(self, unit: Unit, node: TaskNode, told: Attempt | None, how: Interruptible) -> None: ...


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

    def __init__(self, solving: _Requesting, errand: Errand, offer: Offer, node: TaskNode) -> None:
        wanted, above, provider = errand.wanted, errand.above, offer.provider
        chosen = carrier_of(provider.spec, type(wanted))
        args = dict(zip(wanted.field_names(), wanted.values_in_order(), strict=True))
        super().__init__(errand.unit, type(wanted).activity, args, chosen, catches=True)
        self.solving: _Requesting = solving
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

    def frame_ready(self, frame: Frame) -> None:
        """The carrier is elected: it is told whom it carries, before anything starts it."""
        carrier = None if frame.active is None else frame.active.action
        if isinstance(carrier, _Carrier):
            carrier.attempt = self
        super().frame_ready(frame)

    async def carry(self, wanted: Dependency[Any]) -> None:
        """Run the author's coroutine; called by the carrier."""
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
        """What it supports."""
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
            await self.solving.deal(unit, self.node, self, Interruptible.PAUSE)
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
        kernel = self.frame.planner.kernel
        # What it calls there, ``ctx.fail`` say, is called on its own stack, and raises.
        outer, kernel.acting = kernel.acting, context.holder
        self.is_hearing = True
        try:
            try:
                strategy.interrupted(context, interruption)
            finally:
                kernel.acting = outer
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

    # --- the seat of its context --------------------------------------------------------------------------------------

    def ask(self) -> Ask:
        """The world and what things would cost."""
        estimator = self.solving.estimator
        return Ask(estimator, estimator.world, estimator.state.lookahead)

    def cost(self, wanted: Dependency[Any]) -> float:
        """What a dependency would cost below it, where nobody who runs is asked for the same."""
        return self._prices(self.chain(), ((wanted,),))[0]

    @property
    def order(self) -> Order:
        """In which order dependencies are solved, if nobody says more."""
        return self.solving.state.order

    def next_of(self, wanted: Sequence[Dependency[Any]], order: Order) -> int:
        """Which of several dependencies comes first in an order."""
        if order is Order.GIVEN or len(wanted) == 1:
            return 0
        costs = self._prices(self.chain(), [(one,) for one in wanted])
        highest = max(costs)
        dearest = costs.index(highest)
        others = sum(cost for index, cost in enumerate(costs) if index != dearest)
        is_exceptional = order is Order.EXCEPTIONAL and highest < inf and highest > _EXCEPTIONAL * others
        return dearest if is_exceptional or order is Order.DEAREST else costs.index(min(costs))

    async def solve_if_worth(self, wanted: Dependency[Any], then: Sequence[Dependency[Any]], limit: float) -> bool:
        """Have an optional dependency solved, if what is done then is cheaper with it; says whether it holds now."""
        state = self.solving.state
        if not state.takes_options:
            return False
        if self.ask().is_met(wanted):
            return True
        # What is done then may be what it is run for: who runs for that is no circle, but who goes on.
        chain = [who for who in self.chain() if who[1] not in then]
        own, having = self._prices(chain, ((wanted,), (wanted, *then)))
        # What is done anyway may count on the option by itself: without it means that nobody provides it.
        nobody = [(provider, wanted) for provider in state.catalog.of(type(wanted))]
        [without] = self._prices([*chain, *nobody], (then,))
        node = TaskNode(NodeKind.OPTION, f"Option {label_of(wanted)}", self.node, wanted)
        node.cost = own
        if own > limit or having >= without:
            gain = f"{seconds(having)} with it, {seconds(without)} without"
            node.end(Outcome.SKIPPED, state.tick, f"{seconds(own)} is too dear" if own > limit else gain)
            return False
        try:
            await self.solving.solve(Errand(self._acting, wanted, self, node))
        except DependencyFailedError:
            return False
        return True

    def _prices(self, chain: Chain, needs: Iterable[Sequence[Dependency[Any]]]) -> list[float]:
        with self.solving.estimator.deciding(chain):
            ask = self.ask()
            return [ask.total(one) for one in needs]

    def supplies(self, wanted: Sequence[Dependency[Any]], confidence: float) -> dict[str, float]:
        """How much will be used up: for dependencies; for none, by it and those above it, as they foresee it."""
        if wanted:
            with self.solving.estimator.deciding(self.chain()):
                return self.ask().supplies(*wanted, confidence=confidence)
        return enough(self.solving.supplies(self), confidence)

    async def rest(self) -> None:
        """Wait until what came up was dealt with: a deadline of the author's goes through to one that stands still."""
        if self._dealing is not None:
            await self._dealing.join()

    async def solve(self, wanted: Dependency[R], among: str | Iterable[type[Strategy]] | None, rank: Rank | None) -> R:
        """Have a dependency solved, by those who joined a list, by some strategies, or by anybody."""
        who = None if among is None else self.solving.state.catalog.chosen(among, type(wanted))
        node = self.node.planned(wanted) or TaskNode(NodeKind.DEPENDENCY, None, self.node, wanted)
        node.is_conditional = False  # it is needed now
        found: R = await self.solving.solve(Errand(self._acting, wanted, self, node, who, rank))
        return found

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
                await solving.breakpoint(unit, self.node, self)
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


class _Pace:
    """How many attempts begin in one tick: of a request, and of those that were asked for within it."""

    __slots__ = ("_began", "_tick")

    def __init__(self) -> None:
        self._tick = -1
        self._began = 0  # how many attempts began in that tick

    def admits(self, tick: int) -> bool:
        """Whether one more may begin: what ends at once must not keep everybody else from the next tick."""
        if self._tick != tick:
            self._tick, self._began = tick, 0
        self._began += 1
        return self._began <= _MAX_A_TICK


class Within:
    """What a request is within, as long as who asked for it runs."""

    __slots__ = ("_floor", "asker", "pace")

    def __init__(self, kernel: Kernel | None) -> None:
        above = _owners_above(kernel)
        # the attempt whose strategy asks for it, or has a plan ask for it; None if none does
        self.asker: Attempt | None = next((one for one in above if isinstance(one, Attempt)), None)
        self.pace: _Pace = _Pace() if self.asker is None else self.asker.solving.within.pace
        # As it is now: when that counts, who asked may deal with something else.
        self._floor = None if self.asker is None else self.asker.solving.urgency()

    @property
    def floor(self) -> int | None:
        """The priority of what it is asked for in: who deals with that may have others do it. None for nothing."""
        asker = self.asker
        return self._floor if asker is not None and asker.outcome is Outcome.RUNNING else None

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
