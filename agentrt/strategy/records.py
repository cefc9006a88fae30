"""Records: what strategies said that they would cost, beside what they took.

For each strategy the times of those attempts count that were completed, each by its own time (``own_time``). Old ones
fade: each new one takes a tenth of the weight. From that comes a correction of future estimates
(``gameplay.corrects``):

* What a strategy said is what it said by itself, before it was corrected. (Beside the corrected cost, what is left of
  the mistake would be taken for all of it, and the correction would stay half-way for ever.)
* It moves slowly at first, because one bad day says little: three attempts that took what was said are assumed besides.
  After as many they fade, and sooner than others, so that in the end nothing counts but what happened.
* Who says 0 is corrected by adding, all others by a factor. That is kept in sixteenths (of how many times longer, or
  shorter), so that estimates hold while nothing much happens.

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
_DOUBT: Final = 3  # attempts as expected that are assumed besides those that were seen
_DOUBT_FADES: Final = 0.7
_MOST: Final = 1000.0  # times what it says, and its inverse: more says that it means something else
_STEP: Final = 16.0


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
    """What is known of one strategy: sums, in which older attempts weigh less.

    Attributes:
        count: how many attempts there were.
        weight: of all of them.
        doubt: the weight of attempts as expected that are assumed besides.
        expected, actual: what it said and what it took.
        factor, more: how what it says is corrected.
    """

    __slots__ = ("actual", "count", "doubt", "expected", "factor", "more", "weight")

    def __init__(self) -> None:
        self.count = 0
        self.weight = self.expected = self.actual = self.more = 0.0
        self.doubt = float(_DOUBT)
        self.factor = 1.0

    def add(self, said: float, actual: float) -> bool:
        """One more; returns whether it is corrected otherwise now."""
        self.count += 1
        if self.count > _DOUBT:
            self.doubt *= _DOUBT_FADES
        self.weight = self.weight * _FADE + 1.0
        self.expected = self.expected * _FADE + said
        self.actual = self.actual * _FADE + actual
        before = (self.factor, self.more)
        if self.expected > 0:
            doubt = self.doubt * self.expected / self.weight
            self.factor, self.more = _stepped((self.actual + doubt) / (self.expected + doubt)), 0.0
        else:
            self.more = int(self.actual / (self.weight + self.doubt) * _STEP + 0.5) / _STEP
        return (self.factor, self.more) != before


def _stepped(factor: float) -> float:
    """A factor in steps of a sixteenth; one below 1 in steps of its inverse."""
    factor = max(1.0 / _MOST, min(_MOST, factor))
    return int(factor * _STEP + 0.5) / _STEP if factor >= 1 else _STEP / int(_STEP / factor + 0.5)


class Records:
    """The records of one agent."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        self._records: dict[StrategySpec, _Record] = {}

    def add(self, spec: StrategySpec, said: float, actual: float) -> bool:
        """An attempt was completed.

        Args:
            spec: of the strategy.
            said: what it said, before that was corrected, in game seconds.
            actual: what it took, in game seconds.

        Returns:
            Whether what it says is corrected otherwise now.
        """
        return self._records.setdefault(spec, _Record()).add(said, actual)

    def corrected(self, spec: StrategySpec, said: float) -> float:
        """What a strategy says, corrected.

        Args:
            spec: of the strategy.
            said: game seconds.

        Returns:
            The game seconds that it is expected to take; what it said, if it was never completed.
        """
        record = self._records.get(spec)
        return said if record is None else said * record.factor + record.more

    def factor(self, spec: StrategySpec) -> float:
        """By what to multiply what a strategy says.

        Args:
            spec: of the strategy.

        Returns:
            Between a thousandth and a thousand; 1 for one that was never completed, or that says 0.
        """
        record = self._records.get(spec)
        return 1.0 if record is None else record.factor

    def all(self) -> tuple[Accuracy, ...]:
        """What is known of each strategy, in the order in which they were first completed."""
        found: list[Accuracy] = []
        for spec, record in self._records.items():
            ratio = record.actual / record.expected if record.expected > 0 else 1.0
            means = (record.expected / record.weight, record.actual / record.weight)
            found.append(Accuracy(spec.name, record.count, *means, ratio))
        return tuple(found)
