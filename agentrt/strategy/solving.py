"""Solving: how a dependency is met.

One ``Solving`` stands for one request (``agent.gameplay.collect("diamond", 7)``): its global parameters, its task tree,
and the stack of attempts that run in it. Solving one dependency goes like this, and each strategy that it runs has
others solved in the same way::

    does it hold already?                         a shortcut: nothing is done
    ask every provider: cost, or "cannot"         ``Estimator``
    the best offer is tried                       ``Attempt``
        it returns, and what was asked for holds  done
        it was interrupted and has to begin again the same again
        it failed                                 ask all others anew, and try the best of them
    nobody is left                                DependencyFailedError, with the whole story, to whoever needed it

Each provider is tried once for one need. How many attempts one request may take in all is bounded, so that strategies
that fail each other in turn come to an end. Nothing here is searched beforehand: what is done next is decided when it
is to be done.

Source: seed 003, "Hierarchy", "Task Failure", "Global Dependency Lists"; design section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from agentrt.errors import ENDS_PROGRAM, DependencyFailedError
from agentrt.kernel.trace import Event
from agentrt.kernel.traps import next_tick
from agentrt.strategy.asking import Ask, Cannot
from agentrt.strategy.attempt import Attempt
from agentrt.strategy.foresight import Foresight
from agentrt.strategy.interrupting import Incident, Interruption, Interruptions
from agentrt.strategy.nesting import MAX_ATTEMPTS, MAX_NESTED, Within
from agentrt.strategy.offers import Offer
from agentrt.strategy.story import failure_of
from agentrt.strategy.tree import NodeKind, Outcome, TaskNode

if TYPE_CHECKING:
    from agentrt.activity.unit import Unit
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.estimating import Estimator
    from agentrt.strategy.gameplay import Gameplay

__all__ = ["Rank", "Solving"]

Rank = Callable[[Sequence[Offer]], Sequence[Offer]]
"""How a parent has a say: from the offers of those that can, the cheapest first, to those that it will have tried."""


class Solving:
    """One request, and all that is solved for it.

    Args:
        gameplay: the agent's.
        estimator: who asks for costs, under its global parameters.
        wanted: what is asked for.
        only: the one strategy that may provide it; None for anybody.
        priority: if it is what is done about something that came up.

    Attributes:
        gameplay, estimator, wanted: as given.
        value: what solving it gave, when it is over.
        root: the top of its task tree.
        stack: the attempts that run, the outermost first.
        attempts: how many there were.
        failure: why it could not be solved; None until then.
        foresight: what is expected to come.
        interruptions: what comes up meanwhile.
        priority: as given.
        within: who asked for it through the gameplay, or through a plan.
        unit: below which action of the plan it is solved; there is one as long as it is.
    """

    unit: Unit

    __slots__ = (
        "_is_anew",
        "_only",
        "attempts",
        "estimator",
        "failure",
        "foresight",
        "gameplay",
        "interruptions",
        "priority",
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
        self.root: TaskNode = TaskNode(NodeKind.DEPENDENCY, wanted.label(), None, wanted)
        self.stack: list[Attempt] = []
        self.failure: DependencyFailedError | None = None
        self.value: Any = None
        self.priority: int | None = priority
        self.interruptions: Interruptions = Interruptions(self)
        self.foresight: Foresight = Foresight(self)
        self._only = only
        self._is_anew = False
        self.attempts: int = 0
        self.within: Within = Within(gameplay.agent.kernel)

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

        Args:
            unit: the action.

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
        """An attempt begins; the one above it waits.

        Args:
            attempt: it.
        """
        if self.stack:
            self.stack[-1].count(running=False)
        self.stack.append(attempt)
        self.foresight.begins(attempt)

    def pop(self, attempt: Attempt) -> None:
        """An attempt is over; the one above it goes on.

        Args:
            attempt: it.
        """
        self.stack.remove(attempt)
        self.foresight.ends(attempt)
        if self.stack:
            self.stack[-1].count(running=True)

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
            interruption: what strategies hear.
            wanted: what to have solved because of it; None for nothing.
            priority: a higher one interrupts what is done about a lower one.
            then: called when it was dealt with, with how that ended.

        Source: seed 003, "Pauseable/Cancelable Tasks".
        """
        self.interruptions.add(Incident(interruption, wanted, priority, then))

    def gives_way_to(self, priority: int) -> bool:
        """Whether it can be interrupted: what is done about something that came up, by something more urgent only.

        Args:
            priority: of what came up.
        """
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
            wanted: the dependency.
            above: the attempt that needs it; None at the root.
            among: who may provide it; None for everybody.
            rank: what the parent says to the offers.
            node: its node, if it has one already.

        Returns:
            What the strategy returned.

        Raises:
            DependencyFailedError: it could not be solved.
        """
        node = node or self._node(wanted, above)
        node.begin(self.gameplay.tick)
        if above is not None:
            above.is_solving = True
        self.foresight.asked(unit, wanted, above, node)
        try:
            if self.estimator.is_met(wanted):
                node.end(Outcome.MET, self.gameplay.tick)
                self._note(unit, Event.SOLVED, wanted, by="", cost=0.0)
                return self._met_value(wanted)
            return await self._provide(unit, wanted, above, node, among, rank)
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
            return TaskNode(NodeKind.DEPENDENCY, wanted.label(), above.node, wanted)
        planned.is_conditional = False
        return planned

    async def _provide(
        self,
        unit: Unit,
        wanted: Dependency[Any],
        above: Attempt | None,
        node: TaskNode,
        among: Collection[Provider] | None,
        rank: Rank | None,
    ) -> Any:
        failed: dict[Provider, Attempt] = {}
        while True:
            await self.interruptions.breakpoint(unit, node, above)
            if self._is_anew and node is self.root:
                self._is_anew = False
                failed.clear()
            offers = self._offers(wanted, above, among, rank, failed)
            node.offers = tuple(
                (one.provider.spec.label, None if one.cost == inf else one.cost, one.reason) for one in offers
            )
            best = offers[0] if offers and offers[0].cost < inf else None
            if best is None:
                raise failure_of(unit, wanted, node, offers, failed)
            if self.within.pace.is_full(self.gameplay.kernel.clock):
                await next_tick()
                continue  # something may have come up
            attempt = await self._try(unit, wanted, above, node, best)
            if attempt.outcome is Outcome.DONE:
                self._note(unit, Event.SOLVED, wanted, by=best.provider.spec.label, cost=best.cost)
                if await self.interruptions.breakpoint(unit, node, above) and not self._holds(wanted):
                    continue  # what came up undid it
                if self._is_anew and node is self.root and not self.estimator.is_met(wanted):
                    continue  # it was told to begin again when there was nothing left to unwind
                node.end(Outcome.DONE, self.gameplay.tick)
                return self._met_value(wanted) if attempt.value is None else attempt.value
            if attempt.outcome is Outcome.FAILED:
                failed[best.provider] = attempt
            self.estimator.forget()

    def _offers(
        self,
        wanted: Dependency[Any],
        above: Attempt | None,
        among: Collection[Provider] | None,
        rank: Rank | None,
        failed: dict[Provider, Attempt],
    ) -> list[Offer]:
        who = self.gameplay.catalog.of(type(wanted)) if among is None else among
        if self.within.depth > MAX_NESTED:
            return [Offer(one, inf, "requests are nested too deep within one another") for one in who]
        last = self.asker if above is None else above
        chain = [] if last is None else last.chain()
        offers = self.estimator.offers(wanted, [one for one in who if one not in failed], chain)
        if rank is None:
            return offers
        able = [offer for offer in offers if offer.cost < inf]
        chosen = [offer for offer in rank(tuple(able)) if offer in able]
        left = [offer for offer in offers if offer not in chosen]
        return [*chosen, *(Offer(one.provider, inf, one.reason or "it was left out") for one in left)]

    async def _try(
        self, unit: Unit, wanted: Dependency[Any], above: Attempt | None, node: TaskNode, offer: Offer
    ) -> Attempt:
        """Run a strategy until it is done or has failed; one that has to begin again does, but not in a new request."""
        interruptions = 0
        while True:
            self.within.pace.count(self.gameplay.kernel.clock)
            self.attempts += 1
            below = TaskNode(NodeKind.STRATEGY, offer.provider.spec.label, node)
            below.cost = offer.cost
            below.begin(self.gameplay.tick)
            attempt = Attempt(self, unit, offer.provider, wanted, below, above)
            attempt.interruptions = interruptions
            self._note(unit, Event.TRY, wanted, by=offer.provider.spec.label, cost=offer.cost)
            if self.attempts > MAX_ATTEMPTS:
                attempt.fail(f"the request has taken {MAX_ATTEMPTS} attempts")
            else:
                try:
                    await attempt.attempt()
                except BaseException:
                    below.end(Outcome.CANCELLED, self.gameplay.tick)
                    raise
            if attempt.outcome is Outcome.DONE and not self._holds(wanted):
                attempt.fail("it returned, but what it was run for does not hold")
            if attempt.is_again and attempt.outcome is Outcome.RUNNING:
                interruptions, is_again = await self._again(unit, wanted, above, below, attempt)
                if is_again and not (self._is_anew and node is self.root):
                    continue
            if below.is_open:
                below.end(attempt.outcome, self.gameplay.tick, attempt.reason)
            if attempt.outcome is Outcome.FAILED:
                self._note(unit, Event.FAILED, wanted, by=offer.provider.spec.label, reason=attempt.reason)
            return attempt

    async def _again(
        self, unit: Unit, wanted: Dependency[Any], above: Attempt | None, below: TaskNode, attempt: Attempt
    ) -> tuple[int, bool]:
        """A strategy was unwound, and is to begin again; what it was unwound for is dealt with before.

        Returns:
            How often it was interrupted, and whether it still is to begin again.
        """
        if not attempt.was_interrupted:
            await next_tick()
            await self.interruptions.breakpoint(unit, below, above)
        else:
            await self.interruptions.breakpoint(unit, below, above, attempt)
        while attempt.outcome is Outcome.RUNNING and self.within.pace.is_full(self.gameplay.kernel.clock):
            await next_tick()
            await self.interruptions.breakpoint(unit, below, above)
        if attempt.was_interrupted and attempt.outcome is Outcome.RUNNING and self.estimator.is_met(wanted):
            attempt.value = self._met_value(wanted)
            attempt.outcome = Outcome.DONE  # by what was done in between
        if attempt.outcome is Outcome.RUNNING:
            below.end(Outcome.CANCELLED, self.gameplay.tick, "it begins again")
            return attempt.interruptions, True
        return attempt.interruptions, False

    def _holds(self, wanted: Dependency[Any]) -> bool:
        return not type(wanted).has_condition() or self.estimator.is_met(wanted)

    def __str__(self) -> str:
        return self.wanted.label()

    def _note(self, unit: Unit, event: Event, wanted: Dependency[Any], **detail: Any) -> None:
        planner = unit.frame.planner
        if planner.trace.on:
            planner.record(unit.path(), event, (("wanted", wanted.label()), *detail.items()))
