"""Opportunities: what lies by the way is collected when it pays.

An opportunity says what could be had at this moment, and what detour that would be. Whether it is taken follows from
what is being solved: for every branch that can still come true, of every strategy that runs, what is left of it is
priced without and with what could be had now. What that saves, times the probability of the branch, has to be more than
the detour, with what the interruption itself costs: a strategy that would begin again loses what it has done.

It is taken like anything that comes up (``triggers``), at a lower priority, so that it never keeps the agent from what
is urgent. With nothing being solved, or without look-ahead, nothing is taken.

*Looking is cheap.* Strategies are asked from the innermost to the outermost, each in the world that those below it
leave. What is left without anything is priced once for all that could be had. With something it is priced only if that
can matter: a dependency of its class and ``guard_key`` was priced for what is left, or what it says of the world meets
one that is expected. Where both worlds are the same again (it was about to be had anyway), nobody further out is asked.

*Looking is bounded.* One look asks strategies about ``MOST_ASKS`` times: once so many were asked, no further need is
priced. Nothing is ever lost by having something, so what was found by then is the least that it saves: a look that was
cut short may leave something where it is, and never takes what does not pay. What it found out is kept as any estimate.

Rejected: going on with a look in a later tick. Whoever moves on has passed by then what lay by the way.

Source: seed 003, "Planning Ahead Using Probability": "collect resources it doesn't need, while they're readily
available".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agentrt.strategy.assuming import after, layered, outcome
from agentrt.strategy.dependency import Dependency
from agentrt.strategy.strategy import Interruptible
from agentrt.strategy.triggers import Trigger
from agentrt.strategy.worlds import is_as_assumed

if TYPE_CHECKING:
    from agentrt.strategy.attempt import Attempt
    from agentrt.strategy.gameplay import Gameplay
    from agentrt.strategy.outlooks import Outlook
    from agentrt.strategy.solving import Solving
    from agentrt.strategy.worlds import Need, World

__all__ = ["MOST_ASKS", "Found", "Opportunity", "lookout", "saved"]

MOST_ASKS: Final = 256
"""How many times strategies are asked in one look; what was begun is asked to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opportunity:
    """What could be had by the way.

    Attributes:
        name: what it is called, in trees and for ``interrupted``.
        find: asked of the agent now and then: what could be had, each a dependency and the detour in game seconds.
        every: how often, in game seconds.
        priority: as for a trigger.
        again_after: how long after it was taken it may be taken again, in game seconds.

    Raises:
        DefinitionError: a time is negative, or no time.

    Source: seed 003, "Planning Ahead Using Probability".
    """

    name: str
    find: Callable[[Any], Iterable[tuple[Dependency[Any], float]]]
    every: float = 1.0
    priority: int = -1
    again_after: float = 0.0


class Found(NamedTuple):
    """What is taken.

    Attributes:
        wanted: the dependency.
        saved: how many game seconds later that saves, times how likely it is.
        costs: what it costs now, in game seconds.
    """

    wanted: Dependency[Any]
    saved: float
    costs: float


def lookout(gameplay: Gameplay, opportunity: Opportunity) -> Trigger:
    """The trigger that takes an opportunity.

    Args:
        gameplay: whose.
        opportunity: it.
    """

    def when(agent: Any) -> Found | None:
        if gameplay.lookahead <= 0 or not gameplay.running:
            return None
        detours: dict[Dependency[Any], float] = {}
        for wanted, detour in opportunity.find(agent):
            detours[wanted] = min(detour, detours.get(wanted, inf))
        best: Found | None = None
        lost = _lost(gameplay)
        for wanted, saves in saved(gameplay, detours).items():
            found = Found(wanted, saves, detours[wanted] + lost)
            if found.saved > found.costs and (best is None or found.saved - found.costs > best.saved - best.costs):
                best = found
        return best

    def solve(found: Found) -> Dependency[Any]:
        return found.wanted

    return Trigger(
        name=opportunity.name,
        when=when,
        solve=solve,
        every=opportunity.every,
        priority=opportunity.priority,
        again_after=opportunity.again_after,
    )


def _lost(gameplay: Gameplay) -> float:
    """What is lost if what runs is interrupted, in game seconds."""
    solving = gameplay.running[-1]
    kinds = {Interruptible.TREE} if solving.stack and solving.stack[-1].is_solving else _BEGIN_AGAIN
    began = [one.node.began for one in solving.stack if one.interruption is Interruptible.TREE]
    if solving.stack and solving.stack[-1].interruption in kinds:
        began.append(solving.stack[-1].node.began)
    return (gameplay.tick - min(began)) / gameplay.kernel.clock.ticks_per_second if began else 0.0


_BEGIN_AGAIN = {Interruptible.RESTART, Interruptible.TREE}


def saved(gameplay: Gameplay, wanted: Iterable[Dependency[Any]], most: int = MOST_ASKS) -> dict[Dependency[Any], float]:
    """How many game seconds it saves later to have a dependency met now, times how likely it is.

    Args:
        gameplay: whose.
        wanted: the dependencies, each by itself.
        most: after how many asks no further need is priced.

    Returns:
        For each, the sum over what is being solved; infinity if something could not be done without it.
    """
    totals = dict.fromkeys(wanted, 0.0)
    for solving in reversed(gameplay.running):
        look = _Look(solving, totals, most)
        with solving.estimator.deciding():
            began = solving.estimator.asked
            try:
                look.price_all()
            except _CutShort:
                break
            most -= solving.estimator.asked - began
    return totals


class _CutShort(Exception):
    """So many were asked that nobody else is."""


class _Look:
    """What having something would save in one request.

    Args:
        solving: the request.
        totals: by dependency, what having it saves; counted up.
        most: after how many asks it is cut short.
    """

    __slots__ = ("_depth", "_estimator", "_limit", "_over", "_solving", "_totals")

    def __init__(self, solving: Solving, totals: dict[Dependency[Any], float], most: int) -> None:
        self._solving = solving
        self._estimator = solving.estimator
        self._depth = solving.gameplay.lookahead
        self._limit = solving.estimator.asked + most
        self._totals = totals
        self._over: dict[tuple[Attempt, World], World] = {}

    def price_all(self) -> None:
        """Count up what is saved, from the innermost attempt to the outermost.

        Raises:
            _CutShort: as many as may be were asked.
        """
        open_ = list(self._totals)
        for outlook in reversed(self._solving.foresight.outlooks):
            if not open_:
                return
            if any(left for _, left in outlook.shares()):
                open_ = [one for one in open_ if self._may_save_more(outlook, one)]

    def _may_save_more(self, outlook: Outlook, wanted: Dependency[Any]) -> bool:
        """Count up what having something saves to an attempt; False if those above it cannot save anything by it."""
        estimator, real = self._estimator, self._estimator.world
        before = self._goes_on(outlook, real)
        chain = outlook.attempt.chain()
        with estimator.deciding(chain):
            without, priced = self._costs(outlook, before)
        if estimator.need_of(wanted) not in priced and not self._meets(outlook, wanted, before):
            return True
        self._require_more()
        behind = self._goes_on(outlook, after(estimator, wanted, real, self._depth))
        if self._is_same(before, behind):
            return False
        with estimator.deciding(chain):
            having, _ = self._costs(outlook, behind)
        shares = [branch.probability for branch, _ in outlook.shares()]
        for share, most, least in zip(shares, without, having, strict=True):
            if least < most:
                self._totals[wanted] += inf if most == inf else share / sum(shares) * (most - least)
        return True

    def _require_more(self) -> None:
        if self._estimator.asked >= self._limit:
            raise _CutShort

    # --- worlds -------------------------------------------------------------------------------------------------------

    def _goes_on(self, outlook: Outlook, world: World) -> World:
        """The world in which an attempt goes on: what it has solved at this moment has been met by then."""
        below = next((one for one in self._solving.stack if one.above is outlook.attempt), None)
        if below is None:
            return world
        key = (below, world)
        if key not in self._over:
            self._over[key] = self._is_over(below, world)
        return self._over[key]

    def _is_over(self, attempt: Attempt, world: World) -> World:
        outlook = next((one for one in self._solving.foresight.outlooks if one.attempt is attempt), None)
        if outlook is None:
            self._require_more()
            return after(self._estimator, attempt.wanted, world, self._depth)
        world = self._goes_on(outlook, world)
        branch, left = outlook.left()
        with self._estimator.deciding(attempt.chain()):
            for need in left:
                self._require_more()
                world = after(self._estimator, need, world, self._depth)
            return outcome(self._estimator, attempt.wanted, branch, (), world, self._depth)

    def _is_same(self, one: World, other: World) -> bool:
        """Whether everything is the same in two worlds; what is assumed is never the same as what is."""
        if one is other or one.state is None or other.state is None:
            return one is other
        layer = self._solving.gameplay.layer
        return (
            is_as_assumed(one.state, layer(other.state)) is not None
            and is_as_assumed(other.state, layer(one.state)) is not None
        )

    def _meets(self, outlook: Outlook, wanted: Dependency[Any], world: World) -> bool:
        """Whether what a dependency says of the world meets something else that is expected of an attempt."""
        if not type(wanted).has_effect():
            return True  # whoever provides it may say so
        estimator = self._estimator
        behind = layered(estimator, world, wanted, "assume", wanted.assume)
        needs = {need: None for _, left in outlook.shares() for need in left}
        if outlook.forecast is not None:
            needs.update((one.wanted, None) for _, one in outlook.forecast.walk() if not one.is_met)
        return any(not estimator.is_met(need, world) and estimator.is_met(need, behind) for need in needs)

    # --- prices -------------------------------------------------------------------------------------------------------

    def _costs(self, outlook: Outlook, world: World) -> tuple[list[float], set[Need]]:
        """What is left costs, branch by branch; and what was priced for that."""
        priced: set[Need] = set()
        costs = [self._cost(left, world, priced) for _, left in outlook.shares()]
        return costs, priced

    def _cost(self, needs: Iterable[Dependency[Any]], world: World, priced: set[Need]) -> float:
        estimator, depth = self._estimator, self._depth
        total = 0.0
        for need in needs:
            self._require_more()
            cost = estimator.cost(need, world, depth)
            priced.add(estimator.need_of(need))
            for entries in world.table(need, depth).kept.values():
                for kept in entries:
                    priced.update(kept.needs)
            if cost == inf:
                return inf
            total += cost
            world = after(estimator, need, world, depth)
        return total
