"""Solving: how a dependency is met.

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

*No choice outlives a wait.* Whoever waited (for what came up, for a flag, for the next tick, for a strategy that
failed) finds another world: somebody else may have met the dependency, who was the cheapest may not be able to any
more. So there is one way to an attempt, and it begins with the question whether there is anything to do. Rejected:
running the strategy again that was chosen before, with the patience that its old estimate allowed.

Each provider is tried once for one need. How many attempts one request may take in all is bounded, so that strategies
that fail each other in turn come to an end. Nothing here is searched beforehand: what is done next is decided when it
is to be done.

Source: seed 003, "Hierarchy", "Task Failure", "Global Dependency Lists"; design section 6.

What a plan does not try again for a while.

A plan that wants a dependency which nobody can provide would think of it in every tick, and fail each time. So after a
failure it is put off: for a second, and twice as long each time, up to about a minute; once it was solved, the next
failure counts as the first. What has been forgotten is tried at once, which costs one attempt more.

Source: design section 4: back-off, as for rejections.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import inf
from typing import TYPE_CHECKING, Any, Final

from agentrt.errors import ENDS_PROGRAM, DependencyFailedError
from agentrt.kernel.trace import Event
from agentrt.kernel.traps import next_tick
from agentrt.strategy.attempt import MAX_ATTEMPTS, MAX_NESTED, Attempt, Within
from agentrt.strategy.declare import label_of
from agentrt.strategy.estimate import Ask, Cannot, Offer, Rank, ranked
from agentrt.strategy.interrupt import Incident, Interruption, Interruptions
from agentrt.strategy.lookahead import Foresight
from agentrt.strategy.tree import NodeKind, Outcome, TaskNode, failure_of, regress_of

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Unit
    from agentrt.kernel.clock import Clock
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.declare import Dependency
    from agentrt.strategy.estimate import Estimator
    from agentrt.strategy.gameplay import Gameplay

__all__ = ["Postponed", "Errand", "Rank", "Solving"]

_MOST_TIMES: Final = 7  # doublings of a second: about a minute
_MOST_KEPT: Final = 1024


class Postponed:
    """The dependencies that one agent's plan has put off."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Dependency[Any], tuple[int, int]] = {}  # how often, until when

    def put_off(self, wanted: Dependency[Any], clock: Clock) -> None:
        """It could not be solved: do not try it again at once, and later each time."""
        times = min(self._known.get(wanted, (0, 0))[0] + 1, _MOST_TIMES)
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        self._known[wanted] = (times, clock.tick + clock.ticks(2.0 ** (times - 1)))

    def solved(self, wanted: Dependency[Any]) -> None:
        """It was solved."""
        self._known.pop(wanted, None)

    def until(self, wanted: Dependency[Any]) -> int:
        """The tick from which on it may be tried again; 0 for at once."""
        return self._known.get(wanted, (0, 0))[1]


class Errand:
    """One dependency that is being solved, as whoever needs it wants that done.

    Args:
        unit: the action of the plan below which it is done.
        above: the attempt that needs it; None at the root.
        node: its node in the task tree.
        among: who may provide it; None for everybody.
        rank: what the parent says to the offers.
    """

    __slots__ = ("above", "among", "failed", "interruptions", "node", "rank", "unit", "wanted")

    def __init__(
        self,
        unit: Unit,
        wanted: Dependency[Any],
        above: Attempt | None,
        node: TaskNode,
        among: Collection[Provider] | None,
        rank: Rank | None,
    ) -> None:
        self.unit: Unit = unit
        self.wanted: Dependency[Any] = wanted
        self.above: Attempt | None = above
        self.node: TaskNode = node
        self.among: Collection[Provider] | None = among
        self.rank: Rank | None = rank
        self.failed: dict[Provider, Attempt] = {}  # the attempts of those who were tried, the last of each
        # how often each was interrupted; one that begins again goes on counting
        self.interruptions: dict[Provider, int] = {}


class Solving:
    """One request, and all that is solved for it.

    Args:
        estimator: who asks for costs, under its global parameters.
        only: the one strategy that may provide it; None for anybody.
        priority: if it is what is done about something that came up.
    """

    unit: Unit  # below which action of the plan it is solved; there is one as long as it is

    __slots__ = (
        "_is_anew",
        "_only",
        "attempts",
        "deadlock",
        "estimator",
        "failure",
        "foresight",
        "gameplay",
        "interruptions",
        "priority",
        "regress",
        "root",
        "stack",
        "unit",
        "value",
        "wanted",
        "within",
    )

    def __init__(
        self,
        gameplay: Gameplay,
        estimator: Estimator,
        wanted: Dependency[Any],
        only: Provider | None = None,
        priority: int | None = None,
    ) -> None:
        self.gameplay: Gameplay = gameplay
        self.estimator: Estimator = estimator
        self.wanted: Dependency[Any] = wanted
        self.root: TaskNode = TaskNode(NodeKind.DEPENDENCY, label_of(wanted), None, wanted)  # the top of its task tree
        self.stack: list[Attempt] = []  # the attempts that run, the outermost first
        self.failure: DependencyFailedError | None = None  # why it could not be solved; None until then
        # the circle of those that waited for each other because of which it fails, in words; empty if it does
        # not
        self.deadlock: str = ""
        self.regress: str = ""  # the endless regress that was run into, in words; empty if none was
        self.value: Any = None  # what solving it gave, when it is over
        self.priority: int | None = priority
        self.interruptions: Interruptions = Interruptions(self)  # what comes up meanwhile
        self.foresight: Foresight = Foresight(self)  # what is expected to come
        self._only = only
        self._is_anew = False
        self.attempts: int = 0  # how many there were
        self.within: Within = Within(gameplay.agent.kernel)  # who asked for it through the gameplay, or through a plan

    @property
    def asker(self) -> Attempt | None:
        """The attempt that asked for it through the gameplay, or through a plan; None if none did."""
        return self.within.asker

    @property
    def floor(self) -> int | None:
        """What comes up has to be more urgent than that; None for anything."""
        return self.within.floor if self.priority is None else self.priority

    async def run(self, unit: Unit) -> None:
        """Solve it, below an action of the plan.

        Raises:
            DependencyFailedError: it could not be solved.
        """
        self.unit = unit
        self.gameplay.began(self)
        try:
            self.value = await self.solve(unit, self.wanted, None, among=None if self._only is None else (self._only,))
        except DependencyFailedError as failure:
            self.failure = failure
            raise
        finally:
            self.gameplay.ended(self)

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

    def interrupt(
        self,
        interruption: Interruption,
        wanted: Dependency[Any] | None = None,
        *,
        priority: int = 0,
        then: Callable[[Outcome], object] | None = None,
    ) -> None:
        """Something came up: have it dealt with as soon as those that run allow it.

        Args:
            wanted: what to have solved because of it; None for nothing.
            priority: a higher one interrupts what is done about a lower one.
            then: called when it was dealt with, with how that ended.

        Source: seed 003, "Pauseable/Cancelable Tasks".
        """
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

    async def solve(
        self,
        unit: Unit,
        wanted: Dependency[Any],
        above: Attempt | None,
        *,
        among: Collection[Provider] | None = None,
        rank: Rank | None = None,
        node: TaskNode | None = None,
    ) -> Any:
        """Solve a dependency.

        Args:
            unit: the action of the plan below which it is done.
            above: the attempt that needs it; None at the root.
            among: who may provide it; None for everybody.
            rank: what the parent says to the offers.
            node: its node, if it has one already.

        Raises:
            DependencyFailedError: it could not be solved.
        """
        node = node or self._node(wanted, above)
        node.begin(self.gameplay.tick)
        if above is not None:
            above.is_solving = True
        self.foresight.asked(unit, wanted, above, node)
        try:
            errand = Errand(unit, wanted, above, node, among, rank)
            if self.estimator.is_met(wanted):
                return self._met(errand)
            return await self._provide(errand)
        except DependencyFailedError as failure:
            if node.is_open:
                node.end(Outcome.FAILED, self.gameplay.tick, failure.reason)
            raise
        except BaseException:
            node.end(Outcome.CANCELLED, self.gameplay.tick)
            raise
        finally:
            if above is not None:
                above.is_solving = False

    def _met(self, errand: Errand) -> Any:
        """It holds already: a shortcut."""
        errand.node.end(Outcome.MET, self.gameplay.tick)
        self._note(errand, Event.SOLVED, by="", cost=0.0)
        return self._met_value(errand.wanted)

    def _met_value(self, wanted: Dependency[Any]) -> Any:
        try:
            return wanted.met_value(Ask(self.estimator, self.estimator.world, 0))
        except Cannot:
            return None
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.gameplay.fault(type(wanted).activity, "met_value", error)
            return None

    def _node(self, wanted: Dependency[Any], above: Attempt | None) -> TaskNode:
        if above is None:
            return self.root
        planned = above.node.planned(wanted)
        if planned is None:
            return TaskNode(NodeKind.DEPENDENCY, label_of(wanted), above.node, wanted)
        planned.is_conditional = False
        return planned

    async def _provide(self, errand: Errand) -> Any:
        unit, wanted, above, node = errand.unit, errand.wanted, errand.above, errand.node
        may_be_met = False  # whether anybody had the time to meet it since that was asked
        while True:
            may_be_met |= await self.interruptions.breakpoint(unit, node, above)
            if self._is_anew and node is self.root:
                self._is_anew = False
                errand.failed.clear()
            if may_be_met and self.estimator.is_met(wanted):
                return self._met(errand)
            may_be_met = False
            offers, best = self._best(errand)
            node.offers = tuple(
                (one.provider.spec.label, None if one.cost == inf else one.cost, one.reason) for one in offers
            )
            if best is None:
                raise failure_of(unit, wanted, node, offers, errand.failed)
            if self.within.pace.is_full(self.gameplay.kernel.clock):
                await next_tick()
                may_be_met = True
                continue  # something may have come up
            attempt = await self._try(errand, best)
            if attempt.outcome is Outcome.DONE:
                self._note(errand, Event.SOLVED, by=best.provider.spec.label, cost=best.cost)
                if await self.interruptions.breakpoint(unit, node, above) and not self._holds(wanted):
                    continue  # what came up undid it
                if self._is_anew and node is self.root and not self.estimator.is_met(wanted):
                    continue  # it was told to begin again when there was nothing left to unwind
                node.end(Outcome.DONE, self.gameplay.tick)
                return self._met_value(wanted) if attempt.value is None else attempt.value
            if attempt.outcome is Outcome.FAILED:
                errand.failed[best.provider] = attempt
            may_be_met = True
            self.estimator.forget()

    def _best(self, errand: Errand) -> tuple[list[Offer], Offer | None]:
        """What those say now who have not failed, and the best of it; None if nobody can."""
        wanted, above = errand.wanted, errand.above
        who = self.gameplay.catalog.of(type(wanted)) if errand.among is None else errand.among
        last = self.asker if above is None else above
        chain = [] if last is None else last.chain()
        if self.within.depth > MAX_NESTED:
            told = "requests are nested too deep within one another"
            return [Offer(one, inf, told, circle=regress_of(chain)) for one in who], None
        offers = self.estimator.offers(wanted, [one for one in who if one not in errand.failed], chain)
        if errand.rank is not None:
            offers = ranked(errand.rank, offers, errand.failed)
        return offers, offers[0] if offers and offers[0].cost < inf else None

    def is_still_best(self, attempt: Attempt) -> bool:
        """Whether an attempt that had to wait for its control flags is to be run now that it has them.

        If so, it is expected to cost what its strategy says now.
        """
        errand = attempt.errand
        if self.estimator.is_met(errand.wanted):
            return False
        _, best = self._best(errand)
        if best is None or best.provider is not attempt.provider:
            return False
        attempt.node.cost = best.cost
        attempt.said = best.cost if best.said is None else best.said
        return True

    async def _try(self, errand: Errand, offer: Offer) -> Attempt:
        """Run a strategy once: until it is done, has failed, or is to be chosen anew."""
        self.within.pace.count(self.gameplay.kernel.clock)
        self.attempts += 1
        below = TaskNode(NodeKind.STRATEGY, offer.provider.spec.label, errand.node)
        below.cost = offer.cost
        below.begin(self.gameplay.tick)
        attempt = Attempt(self, errand, offer.provider, below)
        attempt.said = offer.cost if offer.said is None else offer.said
        self._note(errand, Event.TRY, by=offer.provider.spec.label, cost=offer.cost)
        if self.attempts > MAX_ATTEMPTS:
            attempt.fail_of_depth(f"the request has taken {MAX_ATTEMPTS} attempts")
        else:
            try:
                await attempt.attempt()
            except BaseException:
                below.end(Outcome.CANCELLED, self.gameplay.tick)
                raise
        if attempt.outcome is Outcome.DONE and not self._holds(errand.wanted):
            attempt.fail("it returned, but what it was run for does not hold")
        if attempt.is_again and attempt.outcome is Outcome.RUNNING:
            await self._again(errand, attempt)
        if below.is_open:
            below.end(attempt.outcome, self.gameplay.tick, attempt.reason)
        if attempt.outcome is Outcome.FAILED:
            self._note(errand, Event.FAILED, by=offer.provider.spec.label, reason=attempt.reason)
        return attempt

    async def _again(self, errand: Errand, attempt: Attempt) -> None:
        """A strategy was unwound, and is to begin again; what it was unwound for is dealt with before."""
        unit, below, above = errand.unit, attempt.node, errand.above
        if not attempt.was_interrupted:
            await next_tick()
            await self.interruptions.breakpoint(unit, below, above)
        else:
            await self.interruptions.breakpoint(unit, below, above, attempt)
        errand.interruptions[attempt.provider] = attempt.interruptions
        if attempt.outcome is not Outcome.RUNNING:
            return
        if attempt.was_interrupted and self.estimator.is_met(errand.wanted):
            attempt.value = self._met_value(errand.wanted)
            attempt.outcome = Outcome.DONE  # by what was done in between
        else:
            below.end(Outcome.CANCELLED, self.gameplay.tick, "it begins again")

    def _holds(self, wanted: Dependency[Any]) -> bool:
        return not type(wanted).has_condition() or self.estimator.is_met(wanted)

    def __str__(self) -> str:
        return self.root.label

    def _note(self, errand: Errand, event: Event, **detail: Any) -> None:
        planner = errand.unit.frame.planner
        if planner.trace.on:
            planner.record(errand.unit.path(), event, (("wanted", label_of(errand.wanted)), *detail.items()))
