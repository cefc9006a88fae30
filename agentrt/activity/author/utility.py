"""Utility: numbers between 0 and 1, ranges of them, and the choice between equals.

Arithmetic is exact to twelve decimals: 0.7 within (0.4, 1.0) is 0.82, not 0.8200000000000001, so that "a tie never
preempts" means what it says.

Source: Stonehearth, AI: "Utility", "Comparing plans".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from agentrt.errors import DefinitionError
from agentrt.kernel.rng import Stream
from agentrt.words import repr_of

T = TypeVar("T")

DEFAULT_BOOST = 0.05
"""What is added to the utility of an action that has run for a while."""

DECIMALS = 12
"""To how many decimals utilities are exact."""

SUNK_COST_SECONDS = 0.5
"""How long that while is, in game seconds."""

UtilityRange = tuple[float, float]


def remap(value: float, low: float, high: float) -> float:
    """Put a number from 0 to 1 linearly into a range."""
    return round(low + value * (high - low), DECIMALS)


def fraction(value: Any) -> float:
    """A number that an author computed, kept between 0 and 1.

    Raises:
        TypeError: it is none: text, a truth value, nothing.
        ValueError: it is the number that is no number.
    """
    if isinstance(value, bool) or not hasattr(type(value), "__float__"):
        raise TypeError(f"it returned {repr_of(value, 80)}: return a number from 0 to 1")
    number = float(value)
    if number != number:
        raise ValueError(f"it returned {repr_of(value, 80)}, which is no number: return one from 0 to 1")
    return min(1.0, max(0.0, number))


def parse_range(subject: str, declared: Any) -> tuple[UtilityRange, bool]:
    """Read a declared utility, a number from 0 to 1 or a pair of them; ``subject`` declares it.

    Returns:
        The range (both ends equal for a number), and whether it is a range.

    Raises:
        DefinitionError: it is neither.
    """
    pair = declared if isinstance(declared, (tuple, list)) else (declared, declared)
    if len(pair) == 2 and all(
        isinstance(end, (int, float)) and not isinstance(end, bool) and 0 <= end <= 1 for end in pair
    ):
        low, high = (float(end) for end in pair)
        if low <= high:
            return (low, high), isinstance(declared, (tuple, list))
    raise DefinitionError(
        subject, f"utility is {declared!r}.", "Write a number from 0 to 1, or a pair (low, high) within that."
    )


def draw(items: Sequence[T], weights: Sequence[float], stream: Stream) -> T:
    """One of several equals, by weight; a single one costs no random number. If all weights are 0, all are equal."""
    if len(items) == 1:
        return items[0]
    if not any(weights):
        return stream.choice(items)
    return stream.weighted(items, weights)
