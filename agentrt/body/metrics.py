"""Metrics: how long something was waited for, in ticks, for good.

A ``WaitTimes`` takes numbers one at a time and forgets them: it keeps how many there were, their sum, the
longest, and a table of buckets. Up to 63 ticks a bucket is one number, so that quantiles are exact there; above that
each power of two is cut into 32 buckets, so that a quantile is too high by one part in 32 at most. However much is
added, and however long it took, there are at most 960 buckets.

Ticks are the unit because they are the same in every equal run; who wants seconds multiplies.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["WaitTimes"]

_EXACT = 64  # up to here each number of ticks has its own bucket
_PARTS = 32  # into how many buckets a power of two is cut beyond that
_SHIFT = 6  # _EXACT is two to this power
_MOST = 2**34 - 1  # what is longer falls into the last bucket: 27 years at 20 ticks a second


class WaitTimes:
    """How long something took to come, counted in ticks.

    Attributes:
        count: how many waits were added.
        total: their sum, in ticks.
        longest: the longest of them, in ticks; 0 while there is none.
    """

    __slots__ = ("_buckets", "count", "longest", "total")

    def __init__(self) -> None:
        self.count: int = 0
        self.total: int = 0
        self.longest: int = 0
        self._buckets: dict[int, int] = {}

    def add(self, ticks: int) -> None:
        """Note one wait.

        Args:
            ticks: how long it was; 0 for at once.

        Raises:
            ValueError: the number is negative.
        """
        if ticks < 0:
            raise ValueError(f"a wait of {ticks} ticks: it cannot be negative")
        self.count += 1
        self.total += ticks
        if ticks > self.longest:
            self.longest = ticks
        index = _bucket(ticks)
        self._buckets[index] = self._buckets.get(index, 0) + 1

    @property
    def mean(self) -> float:
        """The average in ticks; 0 while there is none."""
        return self.total / self.count if self.count else 0.0

    def quantile(self, q: float) -> int:
        """The shortest time within which a share of the waits was over.

        Args:
            q: the share, from 0 to 1; 0.5 is the median, 0.99 leaves out the worst hundredth.

        Returns:
            Ticks, exact up to 63 and at most one part in 32 too high above that; 0 while there is none.

        Raises:
            ValueError: the share is not from 0 to 1.
        """
        if not 0.0 <= q <= 1.0:
            raise ValueError(f"quantile({q!r}): it takes a share from 0 to 1")
        rank = max(1, math.ceil(q * self.count))
        for index in sorted(self._buckets):
            rank -= self._buckets[index]
            if rank <= 0:
                return min(_upper(index), self.longest)
        return 0

    def as_json(self) -> dict[str, Any]:
        """The same as plain values: the figures, and the buckets as pairs of their longest wait and their count."""
        return {
            "count": self.count,
            "total": self.total,
            "mean": round(self.mean, 3),
            "p50": self.quantile(0.5),
            "p90": self.quantile(0.9),
            "p99": self.quantile(0.99),
            "longest": self.longest,
            "buckets": [[min(_upper(index), self.longest), self._buckets[index]] for index in sorted(self._buckets)],
        }

    def __repr__(self) -> str:
        return f"<WaitTimes: {self.count} waits, {self.mean:.1f} ticks on average, {self.longest} the longest>"


def _bucket(ticks: int) -> int:
    if ticks < _EXACT:
        return ticks
    ticks = min(ticks, _MOST)
    shift = ticks.bit_length() - _SHIFT
    return _EXACT + (shift - 1) * _PARTS + (ticks >> shift) - _PARTS


def _upper(index: int) -> int:
    """The longest wait that falls into a bucket; the last one takes whatever is longer."""
    if index < _EXACT:
        return index
    if index == _LAST:
        return 1 << 64
    shift, part = divmod(index - _EXACT, _PARTS)
    return ((part + _PARTS + 1) << (shift + 1)) - 1


_LAST = _bucket(_MOST)
