"""Supplies: how much of what will be used up, so that enough can be taken along.

Strategies say what each branch uses up (``Branch.uses``). What a dependency will use is then a distribution: over the
branches of who would be chosen for it, with what their needs use, down to where look-ahead ends. The answer is the
least amount that is enough with a given confidence. Rules:

* Amounts are added and mixed exactly, but for rounding to a billionth, so that five times 0.2 is one. A distribution
  of more than 256 amounts is made coarser, upwards.
* What two needs use up is taken to be independent of each other.
* Only + - * / and comparisons: the same amounts on every host.

``tries_for`` is the same question for something that is tried until it succeeded often enough.

Source: seed 003, "Planning Ahead Using Probability": "how many pickaxes to bring into a mine".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from agentrt.errors import ArgumentError
from agentrt.strategy.assuming import after
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.estimating import Estimator
    from agentrt.strategy.outlooks import Outlook
    from agentrt.strategy.strategy import Branch
    from agentrt.strategy.worlds import World

__all__ = ["MOST_TRIES", "Amounts", "amounts_left", "amounts_of", "enough", "together", "tries_for"]

MOST_TRIES: Final = 100_000
"""More tries than that are no plan."""

_MOST_AMOUNTS: Final = 256
_DIGITS: Final = 9
_SLACK: Final = 1e-12

Amounts = Mapping[str, Sequence[tuple[float, float]]]
"""By name: amounts, ascending, with their probabilities."""

_USES: Final = "uses"
_NONE: Final = ((0.0, 1.0),)


def tries_for(successes: int, probability: float, confidence: float = 0.9) -> int:
    """How many tries it takes until something succeeded often enough.

    Args:
        successes: how often it has to succeed.
        probability: with which each try succeeds, apart from all others.
        confidence: how certain that has to be, from 0 to less than 1.

    Returns:
        The least number of tries, at most 100,000.

    Raises:
        ArgumentError: a number is out of its range.

    Source: seed 003, "Planning Ahead Using Probability".
    """
    _require("tries_for", "successes", successes, successes >= 0, "0 or more")
    _require("tries_for", "probability", probability, 0 < probability <= 1, "more than 0, and 1 at most")
    _require("tries_for", "confidence", confidence, 0 <= confidence < 1, "from 0 to less than 1")
    lacking = [1.0] + [0.0] * (successes - 1) if successes else []  # how likely it is to have had so many
    tries = 0
    while sum(lacking) > 1.0 - confidence + _SLACK and tries < MOST_TRIES:
        tries += 1
        for had in range(successes - 1, 0, -1):
            lacking[had] = lacking[had] * (1.0 - probability) + lacking[had - 1] * probability
        lacking[0] *= 1.0 - probability
    return tries


def _require(call: str, name: str, value: object, is_right: bool, wanted: str) -> None:
    if not is_right:
        raise ArgumentError(call, name, f"is {repr_of(value)}. Give it {wanted}.")


def enough(amounts: Amounts, confidence: float) -> dict[str, float]:
    """The least amounts that are enough.

    Args:
        amounts: what will be used up.
        confidence: how certain that has to be, from 0 to less than 1.

    Returns:
        By name, in the order of names; without those of which nothing is needed.

    Raises:
        ArgumentError: the confidence is out of its range.
    """
    _require("supplies", "confidence", confidence, 0 <= confidence < 1, "from 0 to less than 1")
    found: dict[str, float] = {}
    for name in sorted(amounts):
        certain = 0.0
        for amount, probability in amounts[name]:
            certain += probability
            if certain + _SLACK >= confidence:
                if amount > 0:
                    found[name] = amount
                break
    return found


def amounts_of(estimator: Estimator, needs: Iterable[Dependency[Any]], world: World, depth: int) -> Amounts:
    """What dependencies will use up, one after the other.

    Args:
        estimator: who asks.
        needs: the dependencies.
        world: in which world.
        depth: how many levels it is looked ahead.
    """
    total: Amounts = {}
    for need in needs:
        total = together(
            total, estimator.remembered(world.table(need, depth), "uses", _of, estimator, need, world, depth)
        )
        world = after(estimator, need, world, depth)
    return total


def _of(estimator: Estimator, need: Dependency[Any], world: World, depth: int) -> Amounts:
    choice = estimator.choose(need, world, depth)
    if choice.by is None:
        return {}
    with estimator.deciding(((choice.by.offer.provider, need),)):
        return _mixed(estimator, [(one, one.needs) for one in choice.by.branches], world, depth - 1)


def amounts_left(estimator: Estimator, outlook: Outlook, world: World, depth: int) -> Amounts:
    """What an attempt that runs will still use up.

    Args:
        estimator: who asks.
        outlook: what is expected of it.
        world: in which world.
        depth: how many levels it is looked ahead.
    """
    return _mixed(estimator, outlook.shares(), world, depth)


def _mixed(
    estimator: Estimator,
    branches: Iterable[tuple[Branch, Sequence[Dependency[Any]]]],
    world: World,
    depth: int,
) -> Amounts:
    """One of several branches comes true."""
    found: list[tuple[float, Amounts]] = []
    for branch, needs in branches:
        if branch.probability > 0:
            own = {name: ((float(amount), 1.0),) for name, amount in branch.uses.items()}
            found.append((branch.probability, together(own, amounts_of(estimator, needs, world, depth))))
    total = 0.0
    for share, _ in found:
        total += share
    mixed: dict[str, Sequence[tuple[float, float]]] = {}
    for name in sorted({name for _, amounts in found for name in amounts}):
        points: dict[float, float] = {}
        for share, amounts in found:
            for amount, probability in amounts.get(name, _NONE):
                points[amount] = points.get(amount, 0.0) + probability * share / total
        mixed[name] = _coarser(points)
    return mixed


def together(one: Amounts, other: Amounts) -> Amounts:
    """What is used up by two things.

    Args:
        one: by the first.
        other: by the second.
    """
    if not one or not other:
        return one or other
    total = dict(one)
    for name, amounts in other.items():
        points: dict[float, float] = {}
        for first, chance in total.get(name, _NONE):
            for second, probability in amounts:
                amount = round(first + second, _DIGITS)
                points[amount] = points.get(amount, 0.0) + chance * probability
        total[name] = _coarser(points)
    return total


def _coarser(points: Mapping[float, float]) -> Sequence[tuple[float, float]]:
    amounts = sorted(points.items())
    size = -(-len(amounts) // _MOST_AMOUNTS)
    if size <= 1:
        return tuple(amounts)
    groups = [amounts[first : first + size] for first in range(0, len(amounts), size)]
    return tuple((group[-1][0], sum(probability for _, probability in group)) for group in groups)
