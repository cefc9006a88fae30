"""Supplies: how much of what will be used up is enough. Distributions of amounts, and nothing but numbers.

Strategies say what each branch uses up (``Branch.uses``), and what a dependency will use is then a distribution over
those branches, with what their needs use (``estimate``). The answer is the least amount that is enough with a given
confidence. Rules:

* Amounts are added and mixed exactly, but for rounding to a billionth, so that five times 0.2 is one. A distribution
  of more than 256 amounts is made coarser, upwards.
* What two needs use up is taken to be independent of each other.
* Only + - * / and comparisons: the same amounts on every host.

Source: prismarine-gameplay: "Planning Ahead Using Probability": "how many pickaxes to bring into a mine".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agentrt.errors import ArgumentError
from agentrt.words import repr_of

MOST_TRIES: Final = 100_000  # more than that are no plan
_MOST_AMOUNTS: Final = 256  # of one distribution; more are put together, upwards, so that it stays enough
_DIGITS: Final = 9
_SLACK: Final = 1e-12  # sums of probabilities miss 1 by a few of these

Amounts = Mapping[str, Sequence[tuple[float, float]]]
"""By name: amounts, ascending, with their probabilities."""

_NONE: Final = ((0.0, 1.0),)


def tries_for(successes: int, probability: float, confidence: float = 0.9) -> int:
    """How many tries, 100,000 at most, it takes until something succeeded often enough.

    Args:
        successes: how often it has to succeed.
        probability: with which each try succeeds, apart from all others.
        confidence: how certain that has to be, from 0 to less than 1.

    Raises:
        ArgumentError: a number is out of its range.

    Source: prismarine-gameplay: "Planning Ahead Using Probability".
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
    """The least amounts that are enough, in the order of names; without those of which nothing is needed."""
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


def together(one: Amounts, other: Amounts) -> Amounts:
    """What is used up by two things."""
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


def mixed(found: Sequence[tuple[float, Amounts]]) -> Amounts:
    """One of several things comes true, each with its share."""
    total = 0.0
    for share, _ in found:
        total += share
    points_by_name: dict[str, Sequence[tuple[float, float]]] = {}
    for name in sorted({name for _, amounts in found for name in amounts}):
        points: dict[float, float] = {}
        for share, amounts in found:
            for amount, probability in amounts.get(name, _NONE):
                points[amount] = points.get(amount, 0.0) + probability * share / total
        points_by_name[name] = _coarser(points)
    return points_by_name


def _coarser(points: Mapping[float, float]) -> Sequence[tuple[float, float]]:
    amounts = sorted(points.items())
    size = -(-len(amounts) // _MOST_AMOUNTS)
    if size <= 1:
        return tuple(amounts)
    groups = [amounts[first : first + size] for first in range(0, len(amounts), size)]
    return tuple((group[-1][0], sum(probability for _, probability in group)) for group in groups)
