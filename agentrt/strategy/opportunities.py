"""Opportunities: what lies by the way is collected when it pays.

An opportunity says what could be had at this moment, and what detour that would be. Whether it is taken follows from
what is being solved: for every branch that can still come true, of every strategy that runs, what is left of it is
priced without and with what could be had now. What that saves, times the probability of the branch, has to be more than
the detour, with what the interruption itself costs: a strategy that would begin again loses what it has done.

It is taken like anything that comes up (``triggers``), at a lower priority, so that it never keeps the agent from what
is urgent. With nothing being solved, or without look-ahead, nothing is taken.

Source: seed 003, "Planning Ahead Using Probability": "collect resources it doesn't need, while they're readily
available".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.strategy.asking import Ask
from agentrt.strategy.assuming import after
from agentrt.strategy.dependency import Dependency
from agentrt.strategy.strategy import Interruptible
from agentrt.strategy.triggers import Trigger

if TYPE_CHECKING:
    from agentrt.strategy.gameplay import Gameplay
    from agentrt.strategy.outlooks import Outlook
    from agentrt.strategy.solving import Solving
    from agentrt.strategy.worlds import World

__all__ = ["Found", "Opportunity", "lookout", "saved"]


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
        best: Found | None = None
        for wanted, detour in opportunity.find(agent):
            costs = detour + _lost(gameplay)
            found = Found(wanted, saved(gameplay, wanted), costs)
            if found.saved > costs and (best is None or found.saved - costs > best.saved - best.costs):
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


def saved(gameplay: Gameplay, wanted: Dependency[Any]) -> float:
    """How many game seconds it saves later to have a dependency met now, times how likely it is.

    Args:
        gameplay: whose.
        wanted: the dependency.

    Returns:
        The sum over what is being solved; infinity if something could not be done without it.
    """
    total = 0.0
    for solving in gameplay.running:
        total += _saved_in(solving, wanted)
    return total


def _then(solving: Solving, outlook: Outlook, world: World) -> World:
    """The world in which a strategy goes on: what it has solved at this moment has been met by then."""
    below = next((one for one in solving.stack if one.above is outlook.attempt), None)
    if below is None:
        return world
    return after(solving.estimator, below.wanted, world, solving.gameplay.lookahead)


def _saved_in(solving: Solving, wanted: Dependency[Any]) -> float:
    estimator, depth = solving.estimator, solving.gameplay.lookahead
    total = 0.0
    with estimator.deciding():
        world = after(estimator, wanted, estimator.world, depth)
        if world is estimator.world:
            return 0.0  # nobody says what would be otherwise
        for outlook in solving.foresight.outlooks:
            with estimator.deciding(outlook.attempt.chain()):
                shares = outlook.shares()
                whole = sum(branch.probability for branch, _ in shares)
                asks = [Ask(estimator, _then(solving, outlook, one), depth) for one in (estimator.world, world)]
                for branch, left in shares:
                    without, having = asks[0].total(left), asks[1].total(left)
                    if having < without:
                        total += inf if without == inf else branch.probability / whole * (without - having)
    return total
