"""The restart policy: what becomes of an agent whose planner gave up, instead of being killed.

It is given to a runtime, and holds for all of its agents. The wait is game time, so it is the same in every
equal run; there is no chance in it. It starts from the beginning again as soon as a plan that took time has
run to its end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Restart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """What becomes of an agent whose planner gave up: it begins again, after a while.

    The wait grows each time, until a plan that takes time has run to its end.

    Source: Stonehearth, AI: `abort` (there the agent is lost).
    """

    first: float = 1.0  # game seconds until the first restart
    factor: float = 2.0  # how many times longer each further wait is
    most: float = 60.0  # the longest wait, in game seconds

    def __post_init__(self) -> None:
        if not (0 < self.first <= self.most < math.inf and 1 <= self.factor < math.inf):
            raise ValueError(f"{self!r}: it takes 0 < first <= most, and a factor of at least 1")

    def seconds(self, kills: int) -> float:
        """How long to wait, in game seconds, when the planner gave up so many times in a row, from 1."""
        wait = self.first
        for _ in range(kills - 1):
            if wait >= self.most or self.factor == 1:
                break
            wait *= self.factor
        return min(wait, self.most)
