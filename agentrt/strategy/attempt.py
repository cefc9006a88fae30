"""An attempt: one try of one strategy, as a frame of the planner.

The planner runs the strategy's carrier (``carrier``) in a frame below whoever needs the dependency, with nobody else to
elect. So control flags, leases, listeners, traces, snapshots and unwinding are those of any action, and a preemption of
the plan stops a strategy in the same way in which an interruption does. What the author's coroutine raises never
reaches the planner: it is the outcome of the attempt. The coroutine is driven through a gate (``gate``), so that it can
stand still while something that came up is dealt with below it.

How long it runs by itself is counted (``own_time``); when that is more than its patience, it is cancelled and has
failed. Whoever had to wait for its control flags is asked about again before it runs: it was chosen for a world of
before.

Source: seed 003, "Task Failure"; design section 6, "A strategy is an action".

The carrier of a strategy: the ``Action`` that the planner runs for it.

There is one for each strategy and dependency, made when it is first needed and kept with the strategy. It performs the
activity of the dependency, and has the name, the control flags and the status text of the strategy, so that ledgers,
traces, snapshots and people see the strategy and not the machinery. It has nothing of its own: whose frame it runs in,
an attempt, runs the author's coroutine.

Source: design section 6, "A strategy is an action".

Behind a shield: what a strand does there that is unwound, and does not hear of it.

Whoever is unwound is cancelled at its wait. A strategy that has something solved behind a shield is not; so what is
solved for it there must not wait for that, and must not begin anything more: nothing goes on in a plan that unwinds. It
ends with ``ActivityAbortedError``, the error of all that is executed there.

Rejected: cancelling through the shield. It is there to let a clean-up come to its end, which may still do other things.

The gate before a strategy's coroutine: while it is closed, the coroutine takes no step, wherever it awaits.

``await Gate(coroutine)`` is the same as ``await coroutine``: what the coroutine yields goes up to the kernel as
it is, and what the kernel sends or raises goes down. So it works for every await: those of the kernel, and futures and
whatever else the host knows. Rules:

* While the gate is closed, a wake goes no further: it is kept, the strand waits at the gate, and when it opens the
  coroutine gets what it was woken with. A sleep that came to its end meanwhile has ended then.
* What is *raised* goes through at once: a cancellation, or a deadline of the author's own around the await. The
  coroutine deals with it, and stands still at its next await. How a host tells of the deadline of a library is the
  host's affair: trio raises (``trio.sleep`` is such a deadline, too), asyncio cancels a future, which is a wake.
* The gate never holds up the end: whoever unwinds the strategy opens it (``Extras.unwinding``), so that clean-up that
  waits is waited for. It may be standing behind a shield, where it is not woken by being stopped.

It is an iterator with ``send``, ``throw`` and ``close`` and no generator: whoever looks for the line at which a strand
is suspended follows ``gi_frame`` and ``gi_yieldfrom`` through it.

Rejected: taking the strand out of the books of what it waits for. A future of the host knows no such thing, and a
notification that came meanwhile would be lost.

Source: seed 003, "Pauseable/Cancelable Tasks".

Own time: what a strategy takes, and how long it may go on by itself.

What a strategy says that it costs is the time that goes by while it, and what it has solved, is at work. So what it
*took* is counted in the same way: from the moment in which it has its control flags to its end, with the time of all
that it had solved (``ctx.solve``), and without the time in which nothing of that could be done or others did something:

* it, or something below it, waited for control flags;
* something came up, or the request was told to pause;
* it executed a plain activity (``ctx.execute``), or awaited a request or a performance of an agent
  (``agent.gameplay.collect(...)``, ``agent.gameplay.using(...)``, ``agent.perform``): these take as long as they take,
  and are not a matter of how it does its own work.

Whatever stops the time of one strategy stops that of all who wait for it in the same request. Several reasons may hold
at once, so they are counted. Its *patience* runs while its time does and it has nothing solved.

Rejected: subtracting each stretch when it is over. Two that overlap would be subtracted twice.

Source: seed 003, "Planning Ahead Using Probability": the actual result beside the estimated one; "Task Failure".

Requests within requests: what a strategy asks for through the gameplay of its agent, or has a plan do for it.

Such a request is one of its own, beside or below. But it is asked for by a strategy that runs, and that must not be
forgotten: it would be a way around the recursion guard, and around the bounds on attempts. So each request knows who
asked for it, which counts as long as that one runs, and all that were asked for by one another keep one *pace*. What is
asked for while something that came up is dealt with is as urgent as that: it is a part of it.

Source: seed 003, "Hierarchy": nodes that depend on those above them.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Iterator
from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.author.action import Action
from agentrt.activity.author.context import ignored
from agentrt.activity.author.control import Flow, Reject
from agentrt.activity.plan.execution import aborted
from agentrt.activity.plan.spawned import Performance, Spawned
from agentrt.activity.plan.tree import Unit
from agentrt.activity.states import FINISHED, IDLE
from agentrt.errors import (
    ENDS_PROGRAM,
    ActivityAbortedError,
    ActivityImpossibleError,
    ActivityRecursionError,
    DependencyFailedError,
)
from agentrt.kernel.strand import CancelScope, current_strand, outlast
from agentrt.kernel.traps import Waiter, park
from agentrt.strategy.context import StrategyContext
from agentrt.strategy.declare import Fail, Interruptible, Restart
from agentrt.strategy.estimate import Cannot
from agentrt.strategy.tree import Outcome, regress_of
from agentrt.words import error_words, type_name, words_of

if TYPE_CHECKING:
    from types import FrameType

    from agentrt.activity.author.action import ActionSpec
    from agentrt.activity.author.context import Context
    from agentrt.kernel.agenda import Timer
    from agentrt.kernel.clock import Clock
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.declare import Dependency, Strategy, StrategySpec
    from agentrt.strategy.interrupt import Interruption
    from agentrt.strategy.solve import Errand, Solving
    from agentrt.strategy.tree import TaskNode

__all__ = [
    "carrier_of",
    "await_end",
    "is_lost",
    "refuse",
    "Gate",
    "OwnTime",
    "Attempt",
    "MAX_ATTEMPTS",
    "MAX_A_TICK",
    "MAX_NESTED",
    "Pace",
    "Within",
    "waiting_above",
]


class _Carrier(Action):
    """The action that carries a strategy."""

    async def run(self, ctx: Context, args: Any) -> None:
        unit: Any = ctx.holder
        await unit.frame.owner.carry(unit, args)


def carrier_of(spec: StrategySpec, wanted: type[Dependency[Any]]) -> ActionSpec:
    """What carries a strategy for one of its dependencies."""
    found = spec.carriers.get(wanted)
    if found is None:
        cls = spec.cls
        declared = {
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "does": wanted.activity,
            "name": cls.name.replace("_", " "),
            "utility": 1.0,
            "flags": tuple(cls.flags),
            "status_text_key": cls.status_text_key,
            "Args": wanted,
        }
        made: type[Action] = type(cls.__name__, (_Carrier,), declared)
        found = spec.carriers[wanted] = made.spec
    return found


def is_lost(unit: Unit) -> bool:
    """Whether an action is being unwound, and the strand that runs at this moment does not hear of it.

    Args:
        unit: the action for which the strand has something solved.
    """
    return unit.frame.execution.is_unwinding(unit.frame) and _is_shielded()


def refuse(unit: Unit) -> None:
    """Go no further behind a shield, if an action is being unwound.

    Raises:
        ActivityAbortedError: it is.
    """
    if is_lost(unit):
        raise _error(unit)


async def await_end(unit: Unit) -> None:
    """Wait to be cancelled: the caller has had itself unwound.

    Args:
        unit: the action for which it has something solved.

    Raises:
        ActivityAbortedError: it waits behind a shield.
    """
    if _is_shielded():
        raise _error(unit)
    await park()


def _is_shielded() -> bool:
    scope = current_strand().scope
    while scope is not None and not scope.shield:
        scope = scope.outer
    return scope is not None


def _error(unit: Unit) -> ActivityAbortedError:
    return aborted(unit.frame, "the plan unwinds", unit.path())


class Gate(Generator[Any, Any, Any]):
    """Drives a coroutine, and has it stand still while it is closed. Await it, once."""

    __slots__ = ("_coro", "_kept", "_waiter", "is_closed")

    def __init__(self, coro: Coroutine[Any, Any, Any]) -> None:
        self.is_closed: bool = False  # whether the coroutine stands still
        self._coro = coro
        self._waiter: Waiter | None = None  # at the gate, while a wake is kept
        self._kept: Any = None

    def close_gate(self) -> None:
        """Have the coroutine stand still from its next wake on."""
        self.is_closed = True

    def open_gate(self) -> None:
        """Let it go on. If a wake was kept, it gets it when the ready queue comes to it."""
        self.is_closed = False
        if self._waiter is not None:
            self._waiter.notify()

    # --- what Python asks of whatever is awaited ----------------------------------------------------------------------

    def __await__(self) -> Gate:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        """A wake: on to the coroutine, or kept.

        Returns:
            What the coroutine awaits next, or the wait at the gate.
        """
        if self._waiter is not None:  # it was the gate's own
            value, self._kept, self._waiter = self._kept, None, None
        if self.is_closed:
            self._kept = value
            self._waiter = Waiter()
            return self._waiter
        return self._coro.send(value)

    def throw(self, *raised: Any) -> Any:
        """Something is raised: it goes through."""
        self._kept = self._waiter = None
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
        return f"<Gate: {'closed' if self.is_closed else 'open'}>"


class OwnTime:
    """The time of one attempt.

    Args:
        above: that of the attempt that waits for it; None at the root.
        hangs: called when its patience is over.
    """

    __slots__ = (
        "_above",
        "_began",
        "_hangs",
        "_is_lent",
        "_kernel",
        "_left",
        "_left_out",
        "_since",
        "_stopped_at",
        "_stops",
        "_timer",
    )

    def __init__(self, kernel: Kernel, above: OwnTime | None, hangs: Callable[[], object]) -> None:
        self._kernel = kernel
        self._above = above
        self._hangs = hangs
        self._began: int | None = None
        self._stops = 0  # how many reasons there are that it stands still
        self._stopped_at = 0
        self._left_out = 0  # ticks, up to the last time that it went on
        self._is_lent = False  # whether it has something solved
        self._left = 0  # ticks of its patience
        self._since = 0
        self._timer: Timer | None = None

    def begin(self, patience: int) -> None:
        """It has its control flags, and begins.

        Args:
            patience: how many ticks it may run by itself.
        """
        self._began = self._kernel.clock.tick
        self._left = patience
        self._count()

    def end(self) -> None:
        """Its coroutine has ended: nothing hangs any more."""
        self._is_lent = True
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
            self._timer = self._kernel.call_later(max(1, self._left), self._over)

    def _over(self) -> None:
        self._timer = None
        self._hangs()

    def __repr__(self) -> str:
        return f"<OwnTime: {self.taken()} ticks, {self._stops} reasons to stand still>"


_LEAST_PATIENCE: Final = 60.0  # game seconds
_PATIENCE: Final = 10.0  # times what it said that it costs
_UNWOUND: Final = "the strategy that was interrupted is unwound"


class Attempt(Spawned):
    """One try of one strategy.

    Args:
        errand: what for: the dependency, and how whoever needs it wants it solved.
        node: its node in the task tree.
    """

    __slots__ = (
        "_dealing",
        "_gate",
        "_is_kept_waiting",
        "_scope",
        "_strategy",
        "above",
        "cause",
        "circle",
        "context",
        "errand",
        "executed",
        "interruptions",
        "is_again",
        "is_hearing",
        "is_solving",
        "node",
        "outcome",
        "provider",
        "reason",
        "said",
        "solving",
        "time",
        "value",
        "wanted",
        "was_interrupted",
    )

    def __init__(self, solving: Solving, errand: Errand, provider: Provider, node: TaskNode) -> None:
        wanted, above = errand.wanted, errand.above
        chosen = carrier_of(provider.spec, type(wanted))
        args = dict(zip(wanted.field_names(), wanted.values_in_order(), strict=True))
        super().__init__(errand.unit, type(wanted).activity, args, chosen, catches=True)
        self.solving: Solving = solving
        self.errand: Errand = errand
        self.provider: Provider = provider
        self.wanted: Dependency[Any] = wanted
        self.node: TaskNode = node
        self.above: Attempt | None = above  # the attempt that needs the dependency; None at the root
        # what it takes
        self.time: OwnTime = OwnTime(solving.gameplay.kernel, None if above is None else above.time, self._hangs)
        self.context: StrategyContext | None = None  # what its strategy is run with; None before
        # what became of it; RUNNING until then, SKIPPED if it was not the best any more when it could begin
        self.outcome: Outcome = Outcome.RUNNING
        self.reason: str = ""  # why it failed
        self.cause: BaseException | None = None  # the error that it failed with, if it was one
        # the circle of needs, or the endless regress, that it failed of, in words; empty if it did not
        self.circle: str = ""
        # what its strategy said that it costs, before that was corrected, in game seconds
        self.said: float = node.cost or 0.0
        self.value: Any = None  # what it returned
        # how many times something came up while it, or something below it, ran; one that begins again goes on
        # counting
        self.interruptions: int = errand.interruptions.get(provider, 0)
        self.is_again: bool = False  # whether it is to be run again
        self.was_interrupted: bool = False  # whether it was unwound because something came up
        self.is_solving: bool = False  # whether it has something solved at this moment
        self.executed: Spawned | None = None  # the plain activity that it executes at this moment
        self._gate: Gate | None = None
        self._dealing: Strand | None = None  # the strand that deals with what came up, while the coroutine stands still
        self._strategy: Strategy | None = None
        self._scope: CancelScope | None = None
        self._is_kept_waiting = False  # whether whoever needs it waits until it has its control flags
        # whether its strategy is being told of an interruption; it may have been unwound for that already
        self.is_hearing: bool = False

    # --- running ------------------------------------------------------------------------------------------------------

    async def attempt(self) -> None:
        """Run the strategy to its end, whatever that is; ``outcome`` tells it.

        Raises:
            ActivityAbortedError: it is awaited behind a shield, and who awaits it is unwound.
        """
        self.solving.push(self)
        self._wait_for_flags()
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

    def _wait_for_flags(self) -> None:
        """Whoever needs it waits until it begins; that is nobody's own time."""
        if self.above is not None:
            self.above.time.stop()
            self._is_kept_waiting = True

    def _has_flags(self) -> None:
        if self._is_kept_waiting and self.above is not None:
            self._is_kept_waiting = False
            self.above.time.go()

    async def carry(self, unit: Unit, wanted: Any) -> None:
        """Run the author's coroutine; called by the carrier."""
        try:
            await self._carry(unit, wanted)
        except GeneratorExit:  # nobody steps this coroutine any more
            if self._dealing is not None:
                self.frame.planner.dismiss(self._dealing)
            raise
        except BaseException:
            await self._end_dealing(is_stopped=True)
            raise
        else:
            await self._end_dealing(is_stopped=False)
        finally:
            self.time.end()

    async def _carry(self, unit: Unit, wanted: Any) -> None:
        self._has_flags()
        if unit.own_extras().was_kept_waiting and not self.solving.is_still_best(self):
            self.outcome, self.reason = Outcome.SKIPPED, "it had to wait, and is not the best any more"
            return
        self._strategy = strategy = self.provider.spec.cls()
        self.context = context = StrategyContext(unit, self)
        unit.context = context
        patience = self._patience()
        self.time.begin(unit.frame.planner.kernel.clock.ticks(patience))
        self._scope = CancelScope()
        try:
            with self._scope:
                self._gate = Gate(strategy.run(context, wanted))
                self.value = await self._gate
            if self._scope.cancelled_caught:
                self.fail(f"it ran for more than {patience:g} s by itself; it seems to hang")
        except (Fail, Cannot, Reject) as failure:
            self.fail(failure.reason)
        except Restart:
            self.is_again = True
        except (DependencyFailedError, ActivityAbortedError, ActivityImpossibleError) as failure:
            # Behind a shield, being unwound may come as such an error: it is decided already what becomes of it.
            if self.outcome is Outcome.RUNNING and not self.is_again:
                self.fail(_words(failure), failure)
        except Exception as error:
            self.fail(f"it raised {error_words(error)}", error)
            unit.frame.planner.fault(unit, "run", error)
        else:
            if self.outcome is Outcome.RUNNING:
                self.outcome = Outcome.DONE

    def fail(self, reason: str, cause: BaseException | None = None) -> None:
        """It has failed.

        Args:
            cause: the error, if it was one.
        """
        self.outcome = Outcome.FAILED
        self.reason = words_of(reason)
        self.cause = cause
        self.circle = cause.circle if isinstance(cause, DependencyFailedError) else ""

    def fail_of_depth(self, reason: str, cause: BaseException | None = None) -> None:
        """There was no end to what is needed, or nobody waited for it.

        Args:
            reason: what the limit was, in words.
            cause: the error, if it was one.
        """
        circle = regress_of(self.chain()) or self.solving.regress
        self.fail(reason, cause)
        self.circle = self.solving.regress = circle

    # --- interruptions ------------------------------------------------------------------------------------------------

    @property
    def interruption(self) -> Interruptible:
        """What it supports."""
        return self.provider.spec.cls.interruption

    @property
    def interrupted_ticks(self) -> int:
        """How many ticks of its time were not its own, up to now."""
        return self.time.left_out

    @property
    def has_begun(self) -> bool:
        """Whether anything of its strategy has run; not so while it waits for its control flags."""
        return self.context is not None

    def interrupt(self) -> None:
        """Something came up while it is the innermost one: do what it supports, unless a breakpoint is near."""
        is_over = self.outcome is not Outcome.RUNNING or self.frame.state in (IDLE, FINISHED)
        if is_over or self.is_solving or self._dealing is not None:
            return
        if not self.has_begun or self.interruption is not Interruptible.PAUSE:
            self.begin_again()
        elif self.executed is not None:
            self._stop_executed(self.executed)
        elif self.frame.active is not None and self.frame.active.running_child() is None:
            self._stand_still(self.frame.active)

    def begin_again(self) -> None:
        """Have it unwound, to be run again from its beginning."""
        frame = self.frame
        if self.outcome is Outcome.RUNNING and frame.state not in (IDLE, FINISHED):
            self.is_again = True
            if not frame.execution.is_unwinding(frame):
                self.was_interrupted = True
                self.stop()

    def _stop_executed(self, executed: Spawned) -> None:
        """Have it come to a breakpoint, and execute its activity anew, unless that has just ended."""
        if executed.frame.state not in (IDLE, FINISHED):
            self.executed = None
            executed.stop()

    def _stand_still(self, unit: Unit) -> None:
        gate = self._gate
        if gate is not None and not self.frame.execution.is_unwinding(self.frame):
            gate.close_gate()
            unit.own_extras().unwinding = self._let_go
            name = f"{self.provider.spec.name} is interrupted"
            self._dealing = self.frame.planner.kernel.spawn(self._deal(unit, gate), name, None)

    def _let_go(self) -> None:
        """It is unwound; behind a shield it may wait for what is dealt with before it hears of that."""
        if self._gate is not None:
            self._gate.open_gate()
        if self._dealing is not None:
            self._dealing.stop(_UNWOUND)

    async def _deal(self, unit: Unit, gate: Gate) -> None:
        try:
            await self.solving.interruptions.deal(unit, self.node, self, Interruptible.PAUSE)
        finally:
            self._dealing = None
            unit.own_extras().unwinding = None
            gate.open_gate()

    async def _end_dealing(self, *, is_stopped: bool) -> None:
        """It is over; what is done in between below it ends before it does."""
        dealing = self._dealing
        if dealing is None:
            return
        try:
            if not is_stopped:
                await dealing.join()  # a deadline of its author's ended it
        except GeneratorExit:
            raise
        finally:
            if not dealing.is_done:
                dealing.stop(_UNWOUND)
                await outlast(lambda: dealing.is_done, dealing.join)

    async def rest(self) -> None:
        """Wait until what came up was dealt with: a deadline of the author's goes through to one that stands still."""
        if self._dealing is not None:
            await self._dealing.join()

    def hear(self, interruption: Interruption) -> bool:
        """Something came up while it, or something below it, ran, and was dealt with: the author looks at the world.

        Returns:
            Whether it gave up or begins again, and is being unwound.
        """
        self.interruptions += 1
        strategy, context, spec = self._strategy, self.context, self.provider.spec
        if strategy is None or context is None or not spec.hears or self.outcome is not Outcome.RUNNING:
            return False
        kernel = self.frame.planner.kernel
        outer, kernel.acting = kernel.acting, context.holder
        self.is_hearing = True
        try:
            try:
                strategy.interrupted(context, interruption)
            finally:
                kernel.acting = outer
                self.is_hearing = False
        except (Fail, Cannot, Reject) as failure:
            self.fail(failure.reason)
        except Restart:
            self.is_again = True
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.fail(f"it raised {type_name(error)} when it was interrupted: {words_of(error)}", error)
            self.solving.gameplay.fault(spec.label, "interrupted", error)
        else:
            return False
        return self._unwind()

    def give_up(self, flow: Flow) -> None:
        """Somebody else than the strategy itself says, through its context, that it fails or begins again."""
        if self.outcome is not Outcome.RUNNING or self.is_again or self.frame.state in (IDLE, FINISHED):
            ignored(self._unit, flow.method)
            return
        if isinstance(flow, Restart):
            self.is_again = True
        else:
            self.fail(flow.reason)
        self._unwind()

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
            one = one.solving.asker if one.above is None else one.above
        return found[::-1]

    # --- patience -----------------------------------------------------------------------------------------------------

    def _patience(self) -> float:
        declared = self.provider.spec.cls.patience
        if declared is not None:
            return declared
        return max(_LEAST_PATIENCE, _PATIENCE * (self.node.cost or 0.0))

    def _hangs(self) -> None:
        if self._scope is not None:
            self._scope.cancel("it seems to hang")

    def awaits_others(self, *, is_waiting: bool) -> None:
        """Its coroutine awaits what others do; that is not its own time.

        Args:
            is_waiting: whether it begins to wait, or has waited.
        """
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


MAX_ATTEMPTS: Final = 10_000
"""How many attempts one request may take."""

MAX_A_TICK: Final = 32
"""How many attempts may begin in one tick; the next one waits for the next tick."""

MAX_NESTED: Final = 32
"""How many requests may be within one another."""


class Pace:
    """How many attempts begin in one tick: of a request, and of those that were asked for within it."""

    __slots__ = ("_began", "_tick")

    def __init__(self) -> None:
        self._tick = -1
        self._began = 0  # how many attempts began in that tick

    def is_full(self, clock: Clock) -> bool:
        """Whether the next attempt has to wait: what ends at once must not keep everybody else from the next tick."""
        return self._tick == clock.tick and self._began >= MAX_A_TICK

    def count(self, clock: Clock) -> None:
        """An attempt begins."""
        if self._tick != clock.tick:
            self._tick, self._began = clock.tick, 0
        self._began += 1


class Within:
    """What a request is within, as long as who asked for it runs.

    Args:
        kernel: of the runtime; None outside of one.
    """

    __slots__ = ("_floor", "asker", "pace")

    def __init__(self, kernel: Kernel | None) -> None:
        above = _owners_above(kernel)
        # the attempt whose strategy asks for it, or has a plan ask for it; None if none does
        self.asker: Attempt | None = next((one for one in above if isinstance(one, Attempt)), None)
        # what all keep that were asked for by one another
        self.pace: Pace = Pace() if self.asker is None else self.asker.solving.within.pace
        self._floor = None if self.asker is None else self.asker.solving.interruptions.floor()

    @property
    def floor(self) -> int | None:
        """The priority of what it is asked for in: who deals with that may have others do it. None for nothing."""
        asker = self.asker
        return self._floor if asker is not None and asker.outcome is Outcome.RUNNING else None

    @property
    def depth(self) -> int:
        """How many requests that still run it is within."""
        found, asker = 0, self.asker
        while asker is not None and asker.outcome is Outcome.RUNNING:
            found, asker = found + 1, asker.solving.asker
        return found


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
    unit: Unit | None = strand.owner if strand is not None and isinstance(strand.owner, Unit) else None
    while unit is not None:
        frame = unit.frame
        yield frame.owner
        unit = frame.parent
        if unit is None and isinstance(frame.execution, Performance):
            unit = frame.execution.asker
