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

* *No choice outlives a wait.* Whoever waited (for what came up, for a flag, for the next tick, for a strategy that
  failed) finds another world: somebody else may have met the dependency, who was the cheapest may not be able to any
  more. So there is one way to an attempt, and it begins with the question whether there is anything to do.
* *It comes to an end.* Each provider is tried once for one need, and how many attempts one request may take in all is
  bounded, so that strategies that fail each other in turn come to an end.
* *The story of a failure* is one error. The sentence names who failed and who cannot, with their reasons, and before
  them the circle of needs, or the endless regress, if there was nothing else that kept them. The story is the task tree
  below the dependency, of which the middle is left out if it is long. The cause is what went wrong underneath, and not
  the failures in between, which the story tells already.
* *The table of requests* (``RequestTable``) of an agent knows what is being solved, and keeps the trees of the last
  that are over. Whatever changes goes through it, since who is being solved for has to hear of it.

Nothing here is searched beforehand: what is done next is decided when it is to be done.

Rejected: running the strategy again that was chosen before, with the patience that its old estimate allowed.

Source: seed 003, "Hierarchy", "Task Failure", "Global Dependency Lists"; design section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Final

from agentrt.errors import ENDS_PROGRAM, DependencyFailedError
from agentrt.kernel.trace import Event
from agentrt.kernel.traps import next_tick
from agentrt.strategy.attempt import MAX_ATTEMPTS, MAX_WITHIN, Attempt, Errand, Within, regress_of
from agentrt.strategy.declare import Interruption, Offer, ranked
from agentrt.strategy.dependency import Ask, Cannot, Params, label_of
from agentrt.strategy.estimate import Estimator
from agentrt.strategy.interrupt import Incident, Interruptions
from agentrt.strategy.lookahead import Foresight
from agentrt.strategy.tree import NodeKind, Outcome, TaskNode

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Unit
    from agentrt.strategy.declare import Interruptible, Provider, Rank
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.state import State
    from agentrt.strategy.supplies import Amounts

__all__ = ["MOST_FINISHED", "RequestTable", "Solving", "failure_of"]

MOST_FINISHED: Final = 8
"""How many task trees of requests that are over are kept."""


class RequestTable:
    """What one agent is asked to solve."""

    __slots__ = ("_count", "estimator", "finished", "left_over", "running", "state")

    def __init__(self, state: State) -> None:
        self.state: State = state
        self.estimator: Estimator = Estimator(state, Params())  # under the agent's global parameters
        # the requests that are being solved, in the order in which they began
        self.running: tuple[Solving, ...] = ()
        self.finished: tuple[TaskNode, ...] = ()  # the task trees of the last ones that are over, the oldest first
        # takes what came up and was not dealt with when a request was over
        self.left_over: Callable[[Incident], object] | None = None
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
        self.finished = (*self.finished, solving.root)[-MOST_FINISHED:]
        self.changed("requests")
        for incident in solving.interruptions.take_rest():
            if self.left_over is not None:
                self.left_over(incident)  # it still has to be dealt with

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
        "interruptions",
        "priority",
        "regress",
        "root",
        "stack",
        "state",
        "table",
        "unit",
        "value",
        "wanted",
        "within",
    )

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
        self.foresight: Foresight = Foresight(estimator)  # what is expected to come
        self._only = only
        self._is_anew = False
        self.attempts: int = 0  # how many there were
        self.within: Within = Within(
            table.state.agent.kernel
        )  # who asked for it through the gameplay, or through a plan

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
        self.table.began(self)
        try:
            self.value = await self.solve(unit, self.wanted, None, among=None if self._only is None else (self._only,))
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
        node.begin(self.state.tick)
        if above is not None:
            above.is_solving = True  # a breakpoint is near: it need not be unwound for what comes up
        self.foresight.asked(unit, wanted, above, node)
        try:
            errand = Errand(unit, wanted, above, node, among, rank)
            if self.estimator.is_met(wanted):
                return self._met(errand)
            return await self._provide(errand)
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
            self.state.fault(type(wanted).activity, "met_value", error)
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
                raise failure_of(unit, wanted, node, offers, errand.failed)
            if self.within.pace.is_full(self.state.kernel.clock):
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
        last = self.asker if above is None else above
        chain = [] if last is None else last.chain()
        if self.within.depth > MAX_WITHIN:
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
        self.within.pace.count(self.state.kernel.clock)
        self.attempts += 1
        below = TaskNode(NodeKind.STRATEGY, offer.provider.spec.label, errand.node)
        below.cost = offer.cost
        below.begin(self.state.tick)
        attempt = Attempt(self, errand, offer.provider, below)
        attempt.said = offer.cost if offer.said is None else offer.said
        self._note(errand, Event.TRY, by=offer.provider.spec.label, cost=offer.cost)
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
            self._note(errand, Event.FAILED, by=offer.provider.spec.label, reason=attempt.reason)
        return attempt

    async def _again(self, errand: Errand, attempt: Attempt) -> None:
        """A strategy was unwound, and is to begin again; what it was unwound for is dealt with before."""
        unit, below, above = errand.unit, attempt.node, errand.above
        if not attempt.was_interrupted:
            await next_tick()  # else one that begins again each time would not let the tick end
            await self.interruptions.breakpoint(unit, below, above)
        else:
            await self.interruptions.breakpoint(unit, below, above, attempt)
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

    def _note(self, errand: Errand, event: Event, **detail: Any) -> None:
        planner = errand.unit.frame.planner
        if planner.trace.on:
            planner.record(errand.unit.path(), event, (("wanted", label_of(errand.wanted)), *detail.items()))


# --- the story of a failure -------------------------------------------------------------------------------------------

_MOST_TOLD: Final = 80  # lines of a story


def failure_of(
    unit: Unit,
    wanted: Dependency[Any],
    node: TaskNode,
    offers: Sequence[Offer],
    failed: Mapping[Provider, Attempt],
) -> DependencyFailedError:
    """A dependency could not be solved: end its node, and make the error.

    Args:
        unit: below which action of the plan.
        offers: what those said who are left; nobody of them can.
        failed: the attempts of those who were tried.
    """
    planner = unit.frame.planner
    clock = planner.kernel.clock
    if not offers and not failed:
        reason = "no strategy provides it"
    else:
        told = [f"{provider.spec.label} failed ({attempt.reason})" for provider, attempt in failed.items()]
        told += [f"{offer.provider.spec.label} cannot ({offer.reason})" for offer in offers]
        reason = "; ".join(told)
    circles = [attempt.circle for attempt in failed.values()] + [offer.circle for offer in offers]
    circle = circles[0] if circles and all(circles) else ""
    node.end(Outcome.FAILED, clock.tick, reason)
    failure = DependencyFailedError(
        wanted,
        reason,
        label=node.label if node.wanted is wanted and node.kind is NodeKind.DEPENDENCY else label_of(wanted),
        circle=circle,
        story=_shortened(node.render(clock.ticks_per_second)),
        agent=planner.name,
        path=unit.path(),
        tick=clock.tick,
    )
    causes = [_cause(attempt.cause) for attempt in failed.values()]
    failure.__cause__ = next((one for one in reversed(causes) if one is not None), None)
    return failure


def _cause(error: BaseException | None) -> BaseException | None:
    """What went wrong underneath: the story tells of the failures in between already."""
    return error.__cause__ if isinstance(error, DependencyFailedError) else error


def _shortened(story: str) -> str:
    """A story of which the middle is left out, if it is too long to be read."""
    lines = story.splitlines()
    left_out = len(lines) - _MOST_TOLD
    if left_out <= 0:
        return story
    return "\n".join((*lines[: _MOST_TOLD // 2], f"... {left_out} lines", *lines[-_MOST_TOLD // 2 :]))
