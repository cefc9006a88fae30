"""Forecasts: the path that is expected to be taken, down to where look-ahead ends.

A forecast is a tree: a dependency, who would be chosen for it, the likeliest branch of what he foresees, the needs of
that branch, each in the world that those before it leave, and so on. At every node stand the cost that is expected from
there on, and how likely it is that the path gets there at all. Making one asks nobody who was not asked for the
decision: it is read off what estimating kept.

Source: seed 003, "Planning Ahead Using Probability": "the path that will be taken ahead of time up to a certain depth".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentrt.strategy.assuming import after, likeliest
from agentrt.strategy.dependency import label_of
from agentrt.strategy.tree import seconds

if TYPE_CHECKING:
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.estimating import Estimator
    from agentrt.strategy.offers import Priced
    from agentrt.strategy.strategy import Branch
    from agentrt.strategy.worlds import World

__all__ = ["Foreseen", "forecast", "forecast_need", "remaining"]


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A dependency that is expected to be solved.

    Attributes:
        wanted: it.
        by: the label of the strategy that is expected to provide it; empty if it will be met, if nobody can provide it,
            and where look-ahead ends.
        cost: the game seconds that are expected from there on.
        probability: how likely it is that the path gets there.
        is_met: whether it is expected to be met by then.
        branch: the label of the branch that is expected; empty if it has none.
        needs: what that branch needs, in order.
        others: what only other branches need, each with its probability.

    Source: seed 003, "Planning Ahead Using Probability".
    """

    wanted: Dependency[Any]
    by: str
    cost: float
    probability: float = 1.0
    is_met: bool = False
    branch: str = ""
    needs: tuple[Foreseen, ...] = ()
    others: tuple[tuple[Dependency[Any], float], ...] = ()

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Foreseen]]:
        """This node and all below it, from top to bottom, with their depths.

        Args:
            depth: its own.
        """
        yield depth, self
        for need in self.needs:
            yield from need.walk(depth + 1)

    def render(self) -> str:
        """The forecast as text, one node a line; what only other branches need begins with a star."""
        return "\n".join(self._lines(""))

    def _lines(self, indent: str) -> Iterator[str]:
        how = "met" if self.is_met else seconds(self.cost) + (f" by {self.by}" if self.by else "")
        chance = "" if self.probability >= 1 else f", {100 * self.probability:.0f} %"
        yield f"{indent}{label_of(self.wanted)}: {how}{chance}"
        indent += "   "
        for need in self.needs:
            yield from need._lines(indent)
        for one, share in self.others:
            yield f"{indent}* {label_of(one)}: {100 * share:.0f} %"


def remaining(branch: Branch, done: Sequence[Dependency[Any]]) -> list[Dependency[Any]]:
    """What is left of the needs of a branch, in order.

    Args:
        branch: it.
        done: what was asked for already.
    """
    spent = list(done)
    left: list[Dependency[Any]] = []
    for need in branch.needs:
        if need in spent:
            spent.remove(need)
        else:
            left.append(need)
    return left


def forecast(
    estimator: Estimator,
    priced: Priced,
    wanted: Dependency[Any],
    world: World,
    depth: int,
    *,
    branches: Sequence[Branch] | None = None,
    done: Sequence[Dependency[Any]] = (),
    probability: float = 1.0,
) -> Foreseen:
    """What is expected if a strategy is run.

    Args:
        estimator: who asks; whoever is run above is known to it (``deciding``).
        priced: the strategy, with what it foresees.
        wanted: what it is run for.
        world: in which world.
        depth: how many levels it is looked ahead.
        branches: those that are still possible; None for all.
        done: what it has asked for already.
        probability: how likely it is that it is run.
    """
    possible = likeliest(priced.branches if branches is None else branches)
    provider, cost = priced.offer.provider, priced.offer.cost
    label = provider.spec.label
    if not possible:
        return Foreseen(wanted, label, cost, probability)
    total = 0.0
    for one in possible:
        total += one.probability
    first = possible[0]
    share = probability * first.probability / total
    needs: list[Foreseen] = []
    with estimator.deciding(((provider, wanted),)):
        for need in remaining(first, done):
            needs.append(forecast_need(estimator, need, world, depth, share))
            world = after(estimator, need, world, depth)
    others: dict[Dependency[Any], float] = {}
    for one in possible[1:]:
        for need in dict.fromkeys(remaining(one, done)):
            if need not in first.needs:
                others[need] = others.get(need, 0.0) + probability * one.probability / total
    return Foreseen(wanted, label, cost, probability, False, first.label, tuple(needs), tuple(others.items()))


def forecast_need(
    estimator: Estimator, need: Dependency[Any], world: World, depth: int, probability: float = 1.0
) -> Foreseen:
    """What is expected if a dependency is asked for.

    Args:
        estimator: who asks.
        need: the dependency.
        world: in which world.
        depth: how many levels it is looked ahead.
        probability: how likely it is that it is asked for.
    """
    choice = estimator.choose(need, world, depth)
    if choice.by is None:
        return Foreseen(need, "", choice.cost, probability, choice.is_met)
    return forecast(estimator, choice.by, need, world, depth - 1, probability=probability)
