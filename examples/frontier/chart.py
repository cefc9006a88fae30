"""The map: villages on a grid, who makes what, and how it is cut into strips of columns, one for each shard.

A village is a number, counted down the columns, so that a strip is a range of numbers and its border to the right is
its last column. All of it follows from the size; nothing is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agentrt.worlds import Value

__all__ = ["GOODS", "Chart", "partition"]

GOODS: Final = ("grain", "salt", "iron", "cloth")


@dataclass(frozen=True, slots=True)
class Chart:
    """The whole map, and its strips."""

    columns: int
    rows: int
    shards: int

    @property
    def villages(self) -> int:
        return self.columns * self.rows

    def strip(self, shard: int) -> range:
        """The villages of a shard."""
        return range(self._first(shard), self._first(shard + 1))

    def _first(self, shard: int) -> int:
        return shard * self.columns // self.shards * self.rows

    def owner(self, village: int) -> int:
        """The shard of a village."""
        guess = village * self.shards // self.villages
        return next(shard for shard in (guess, guess - 1, guess + 1) if village in self.strip(shard))

    def neighbors(self, village: int) -> list[int]:
        """The villages to which roads lead: left, right, up, down."""
        column, row = divmod(village, self.rows)
        sides = ((column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1))
        return [x * self.rows + y for x, y in sides if 0 <= x < self.columns and 0 <= y < self.rows]

    def borders(self, shard: int) -> dict[int, list[int]]:
        """The villages of a shard that other shards see, by shard."""
        seen: dict[int, list[int]] = {}
        for village in self.strip(shard):
            for other in sorted({self.owner(one) for one in self.neighbors(village)} - {shard}):
                seen.setdefault(other, []).append(village)
        return seen

    def makes(self, village: int) -> int:
        """Which good a village makes."""
        column, row = divmod(village, self.rows)
        return (3 * column + row) % len(GOODS)


def partition(shards: int, params: Mapping[str, Value]) -> Sequence[object]:
    """What each shard begins with: its caravans and its bands, as numbers with the villages where they are."""
    chart = Chart(int(params["columns"]), int(params["rows"]), shards)
    begins: list[dict[str, list[list[int]]]] = [{"caravans": [], "bands": []} for _ in range(shards)]
    for kind in ("caravans", "bands"):
        for number in range(int(params[kind])):
            village = number * 7919 % chart.villages  # a prime: they are spread evenly, whatever the size
            begins[chart.owner(village)][kind].append([number, village])
    return begins
