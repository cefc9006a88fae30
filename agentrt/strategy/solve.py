"""Solving: how a dependency is met, and how what comes up meanwhile is dealt with in between.

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

* *No choice outlives a wait.* Whoever waited (for what came up, a flag, the next tick, a strategy that failed) finds
  another world. So there is one way to an attempt, and it begins with the question whether there is anything to do.
* *It comes to an end.* Each provider is tried once for one need, and the attempts of one request are bounded.
* *A failure is one error*. It names who failed and who cannot, and the circle of needs, or the endless regress, if
  there was nothing else that kept them. Its story is the task tree below the dependency.

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

Rejected: running the strategy again that was chosen before, with the patience that its old estimate allowed. Throwing
an exception into the strategies: each would have to know what may come up, and to pass it on.

Source: prismarine-gameplay: "Hierarchy", "Task Failure", "Global Dependency Lists", "Interrupting Tasks",
"Pauseable/Cancelable Tasks".
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.performances import look_for_circle
from agentrt.errors import ENDS_PROGRAM, DependencyFailedError
from agentrt.kernel.signals import Signal
from agentrt.kernel.trace import TraceEvent
from agentrt.kernel.traps import next_tick
from agentrt.strategy.attempt import (
    Attempt,
    Errand,
    Within,
    await_end,
    is_lost,
    regress_of,
    stop_if_lost,
    waiting_above,
)
from agentrt.strategy.declare import Interruptible, Interruption, Offer, Provider, ranked
from agentrt.strategy.dependency import Ask, Cannot, Dependency, Params, label_of
from agentrt.strategy.estimate import Estimator
from agentrt.strategy.lookahead import Foresight
from agentrt.strategy.tree import NodeKind, Outcome, TaskNode
from agentrt.words import error_words

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Unit
    from agentrt.strategy.state import State
    from agentrt.strategy.supplies import Amounts

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
        """Go on."""
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
        """Deal with all that is due."""
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


_MOST_FINISHED: Final = 8  # task trees of requests that are over; the tutorial tells of eight
MAX_ATTEMPTS: Final = 10_000
"""How many attempts one request may take."""


class RequestTable:
    """What one agent is asked to solve."""

    __slots__ = ("_count", "estimator", "finished", "left_over", "running", "state")

    def __init__(self, state: State) -> None:
        self.state: State = state
        self.estimator: Estimator = Estimator(state, Params())  # under the agent's global parameters
        # The requests that are being solved, in the order in which they began. Never changed in place: authors get it,
        # and whoever goes through it may call what begins or ends another.
        self.running: tuple[Solving, ...] = ()
        self.finished: tuple[TaskNode, ...] = ()  # the task trees of the last ones that are over, the oldest first
        self.left_over: Callable[[Incident], object] | None = None  # takes what was not dealt with in a request
        self._count = 0  # of the requests that began

    def began(self, solving: Solving) -> None:
        """A request begins to be solved."""
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
        self.foresight: Foresight = Foresight(estimator)  # what is expected to come
        self._only = only  # the one strategy that may provide it; None for anybody
        self._is_anew = False  # whether it was told to begin again, and has not done so yet
        self.attempts: int = 0  # how many there were
        self.within: Within = Within(table.state.agent.kernel)  # who asked for it through the gameplay, or a plan

    @property
    def floor(self) -> int | None:
        """What comes up has to be more urgent than that; None for anything."""
        return self.within.floor if self.priority is None else self.priority

    async def run(self, unit: Unit) -> None:
        """Solve it, below an action of the plan."""
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
        """An attempt begins; the one above it waits."""
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

    def urgency(self) -> int | None:
        """What has to be exceeded to be dealt with now; None for nothing."""
        return self.interruptions.floor()

    def supplies(self, attempt: Attempt) -> Amounts:
        """What an attempt and those above it will still use up."""
        return self.foresight.supplies(attempt)

    async def breakpoint(self, unit: Unit, node: TaskNode, above: Attempt | None) -> bool:
        """Deal with what came up and is due, if there is anything."""
        return await self.interruptions.breakpoint(unit, node, above)

    async def deal(self, unit: Unit, node: TaskNode, told: Attempt | None, how: Interruptible) -> None:
        """Deal with all that is due."""
        await self.interruptions.deal(unit, node, told, how)

    def interrupt(
        self,
        interruption: Interruption,
        wanted: Dependency[Any] | None = None,
        *,
        priority: int = 0,
        then: Callable[[Outcome], object] | None = None,
    ) -> None:
        """Something came up: have it dealt with as soon as those that run allow it. See ``Incident``."""
        self.interruptions.add(Incident(interruption, wanted, priority, then))

    def gives_way_to(self, priority: int) -> bool:
        """Whether it can be interrupted: what is done about something that came up, by something more urgent only."""
        is_lower = self.floor is None or self.floor < priority
        return is_lower and not self.unit.frame.execution.is_unwinding(self.unit.frame)

    def restart(self) -> None:
        """Begin again from the very beginning: all that runs is unwound, and who failed may be tried again."""
        self._is_anew = True
        if self.stack:
            self.stack[0].begin_again()

    # --- one dependency -----------------------------------------------------------------------------------------------

    async def solve(self, errand: Errand) -> Any:
        """Solve a dependency."""
        wanted, above, node = errand.wanted, errand.above, errand.node
        node.begin(self.state.tick)
        if above is not None:
            above.is_solving = True  # a breakpoint is near: it need not be unwound for what comes up
        self.foresight.asked(errand.unit, wanted, above, node)  # before all asking: what was prepared is taken over
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
            if not self.within.pace.admits(self.state.tick):
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
