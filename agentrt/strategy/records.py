"""Records: what strategies said that they would cost, beside what they took.

For each strategy the times of those attempts count that were completed, without the time in which they were
interrupted. Old ones fade: each new one takes a tenth of the weight. From that comes a factor by which future estimates
can be corrected (``gameplay.corrects``); it is bounded, and it moves slowly at first, because one bad day says little.

Source: seed 003, "Planning Ahead Using Probability": the actual result beside the estimated one; "Heuristic Based Task
Selection", question 2: what if the heuristics are vastly different from what they should be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agentrt.strategy.strategy import StrategySpec

__all__ = ["Accuracy", "Records"]

_FADE: Final = 0.9
_DOUBT: Final = 3.0  # attempts as expected that are assumed besides those that were seen
_MOST: Final = 8.0
_STEP: Final = 16.0  # factors are kept in sixteenths, so that estimates hold while nothing much happens


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What a strategy said and took.

    Attributes:
        strategy: its name.
        count: how many attempts were completed.
        expected: the mean of what it said, in game seconds; the newest count most.
        actual: the mean of what it took, in game seconds.
        ratio: how many times longer it took than it said; 1 if it said 0.
    """

    strategy: str
    count: int
    expected: float
    actual: float
    ratio: float


class _Record:
    __slots__ = ("actual", "count", "expected", "weight")

    def __init__(self) -> None:
        self.count = 0
        self.weight = self.expected = self.actual = 0.0


class Records:
    """The records of one agent."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        self._records: dict[StrategySpec, _Record] = {}

    def add(self, spec: StrategySpec, expected: float, actual: float) -> bool:
        """An attempt was completed.

        Args:
            spec: of the strategy.
            expected: what it said, in game seconds.
            actual: what it took, in game seconds.

        Returns:
            Whether its factor is another one now.
        """
        before = self.factor(spec)
        record = self._records.setdefault(spec, _Record())
        record.count += 1
        record.weight = record.weight * _FADE + 1.0
        record.expected = record.expected * _FADE + expected
        record.actual = record.actual * _FADE + actual
        return self.factor(spec) != before

    def factor(self, spec: StrategySpec) -> float:
        """By what to multiply what a strategy says.

        Args:
            spec: of the strategy.

        Returns:
            Between an eighth and eight; 1 for one that was never completed.
        """
        record = self._records.get(spec)
        if record is None or record.expected <= 0:
            return 1.0
        doubt = _DOUBT * record.expected / record.weight
        found = (record.actual + doubt) / (record.expected + doubt)
        return max(1.0 / _MOST, min(_MOST, int(found * _STEP + 0.5) / _STEP))

    def all(self) -> tuple[Accuracy, ...]:
        """What is known of each strategy, in the order in which they were first completed."""
        found: list[Accuracy] = []
        for spec, record in self._records.items():
            ratio = record.actual / record.expected if record.expected > 0 else 1.0
            means = (record.expected / record.weight, record.actual / record.weight)
            found.append(Accuracy(spec.name, record.count, *means, ratio))
        return tuple(found)
