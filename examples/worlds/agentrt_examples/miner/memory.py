"""What the miner knows of the world: a map of its own, made of what it has seen, and nothing else.

For each dimension there is an array as large as the dimension, with the number of each block as it was last seen, or
``UNKNOWN``. Blocks that are worth remembering one by one (ores, logs, a furnace, a portal) stand in an index besides:
by kind, and within a kind in buckets of eight blocks a side, so that the nearest ones are found by looking into few
buckets, however many are known. What is common (stone, dirt) is looked for in the map around a place.

The map may be wrong: somebody else may have dug what was seen. Whoever comes there sees it, and then the map is right.
A place that could not be reached is *shunned* for a while: ``nearest`` leaves it out.

Strategies ask this memory and never the world's arrays. Source: prismarine-gameplay: "human-like manner", 2.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy
from numpy.typing import NDArray

from agentrt import Signal
from agentrt_examples.miner.dimension import Dimension
from agentrt_examples.miner.places import Place, squared
from agentrt_examples.miner.rules import BLOCK_NUMBERS, BLOCKS

__all__ = ["SURFACE", "UNKNOWN", "Chart", "Memory"]

UNKNOWN = 255
"""Stands in a map where nothing was seen yet."""

SURFACE = "surface"
"""The map of parcels that were looked at from under the sky."""

_BUCKET = 3  # eight blocks a side
_COMMON_REACH = 9
_PARCEL = 4  # sixteen blocks a side

_LANDMARKS = numpy.zeros(256, dtype=bool)
_LANDMARKS[[kind.number for kind in BLOCKS if kind.landmark]] = True


class Chart:
    """The map of one dimension.

    Args:
        dimension: of which.

    Attributes:
        name: of the dimension.
        size: how many blocks along x, y and z.
        blocks: what was seen where, as an array.
        parcels: which parcels of sixteen by sixteen columns were looked at, for each thing that is searched for.
    """

    __slots__ = ("_cells", "_landmarks", "_layer", "_row", "_shunned", "blocks", "name", "parcels", "size")

    def __init__(self, dimension: Dimension) -> None:
        self.name = dimension.name
        self.size: Place = dimension.size
        self._layer = self.size[1] * self.size[2]
        self._row = self.size[2]
        self._cells = bytearray([UNKNOWN]) * (self.size[0] * self._layer)
        self.blocks: NDArray[numpy.uint8] = numpy.frombuffer(self._cells, dtype=numpy.uint8).reshape(self.size)
        self.parcels: dict[str, dict[tuple[int, int], None]] = {}
        self._landmarks: dict[int, dict[Place, dict[Place, None]]] = {}
        self._shunned: dict[Place, int] = {}

    # --- learning -----------------------------------------------------------------------------------------------------

    def note(self, place: Place, number: int) -> bool:
        """Remember one block.

        Args:
            place: where.
            number: of its kind.

        Returns:
            Whether that is news.
        """
        at = place[0] * self._layer + place[1] * self._row + place[2]
        before = self._cells[at]
        if before == number:
            return False
        self._cells[at] = number
        if _LANDMARKS[before]:
            self._unmark(before, place)
        if _LANDMARKS[number]:
            self._mark(number, place)
        return True

    def note_all(self, corner: Place, seen: NDArray[numpy.uint8], visible: NDArray[numpy.bool_]) -> list[int]:
        """Remember what is seen in a box.

        Args:
            corner: the least place in the box.
            seen: the numbers of its blocks.
            visible: which of them are seen.

        Returns:
            The numbers of the landmarks that are news, each once, in the order in which they were met.
        """
        x, y, z = corner
        width, height, depth = seen.shape
        known = self.blocks[x : x + width, y : y + height, z : z + depth]
        news = visible & (known != seen)
        marked = news & (_LANDMARKS[seen] | _LANDMARKS[known])
        found: dict[int, None] = {}
        for column, level, row in zip(*(axis.tolist() for axis in marked.nonzero()), strict=True):
            place = (x + column, y + level, z + row)
            number = int(seen[column, level, row])
            self.note(place, number)
            if _LANDMARKS[number]:
                found[number] = None
        known[news] = seen[news]
        return list(found)

    def _mark(self, number: int, place: Place) -> None:
        buckets = self._landmarks.setdefault(number, {})
        buckets.setdefault(_bucket(place), {})[place] = None

    def _unmark(self, number: int, place: Place) -> None:
        buckets = self._landmarks[number]
        bucket = buckets[_bucket(place)]
        del bucket[place]
        if not bucket:
            del buckets[_bucket(place)]

    # --- asking -------------------------------------------------------------------------------------------------------

    def at(self, place: Place) -> int:
        """The number of the block that was seen at a place; ``UNKNOWN`` if none was.

        Args:
            place: in the dimension.
        """
        return self._cells[place[0] * self._layer + place[1] * self._row + place[2]]

    def nearest(self, kind: str, around: Place, *, limit: int = 1, tick: int = 0) -> list[Place]:
        """The blocks of a kind that are known, the nearest first.

        Args:
            kind: the name of the kind.
            around: near which place.
            limit: how many at most.
            tick: now; what is shunned until later is left out.

        Returns:
            Their places; of two that are equally near, the one with the lower numbers.
        """
        number = BLOCK_NUMBERS[kind]
        shunned = self._shunned
        found: list[tuple[int, Place]] = []
        for least, places in self._by_distance(number, around):
            if len(found) >= limit and least > found[limit - 1][0]:
                break
            found += ((squared(place, around), place) for place in places if shunned.get(place, 0) <= tick)
            found.sort()
        return [place for _, place in found[:limit]]

    def shun(self, place: Place, until: int) -> None:
        """Leave a place out for a while.

        Args:
            place: which.
            until: the tick until which it is left out.
        """
        self._shunned[place] = until

    def _by_distance(self, number: int, around: Place) -> Iterator[tuple[int, Iterable[Place]]]:
        """Groups of known places, each with the square of the distance that all of them have at least."""
        if BLOCKS[number].landmark:
            buckets = self._landmarks.get(number, {})
            ranked = sorted((_least(bucket, around), bucket) for bucket in buckets)
            for least, bucket in ranked:
                yield least, buckets[bucket]
            return
        low = [max(0, at - _COMMON_REACH) for at in around]
        box = self.blocks[tuple(slice(least, at + _COMMON_REACH + 1) for least, at in zip(low, around, strict=True))]
        axes = [(axis + least).tolist() for axis, least in zip((box == number).nonzero(), low, strict=True)]
        yield 0, zip(*axes, strict=True)

    # --- exploring ----------------------------------------------------------------------------------------------------

    def explore(self, x: int, z: int, what: str = SURFACE) -> None:
        """A parcel was looked at.

        Args:
            x: a column of it.
            z: the row.
            what: what for: each thing has a map of its own.
        """
        self.parcels.setdefault(what, {})[x >> _PARCEL, z >> _PARCEL] = None

    def unexplored(self, around: Place, what: str = SURFACE) -> tuple[int, int] | None:
        """The column in the middle of the nearest parcel that was not looked at; None if all were.

        Args:
            around: near which place.
            what: what for.
        """
        looked = self.parcels.get(what, {})
        half = 1 << _PARCEL >> 1
        best: tuple[int, int, int] | None = None
        for parcel_x in range(-(-self.size[0] >> _PARCEL)):
            for parcel_z in range(-(-self.size[2] >> _PARCEL)):
                if (parcel_x, parcel_z) not in looked:
                    x, z = (parcel_x << _PARCEL) + half, (parcel_z << _PARCEL) + half
                    rank = ((x - around[0]) ** 2 + (z - around[2]) ** 2, x, z)
                    best = rank if best is None or rank < best else best
        return None if best is None else (best[1], best[2])


def _bucket(place: Place) -> Place:
    return place[0] >> _BUCKET, place[1] >> _BUCKET, place[2] >> _BUCKET


def _least(bucket: Place, around: Place) -> int:
    """The square of the distance from a place to the nearest block of a bucket."""
    total = 0
    for at, here in zip(bucket, around, strict=True):
        low = at << _BUCKET
        gap = max(low - here, 0, here - (low + (1 << _BUCKET) - 1))
        total += gap * gap
    return total


class Memory:
    """The maps of all dimensions.

    Attributes:
        charts: the map of each dimension that was entered, by its name.
        seen: emitted with the name of a kind when landmarks of it were seen that were not known.
    """

    __slots__ = ("charts", "seen")

    def __init__(self) -> None:
        self.charts: dict[str, Chart] = {}
        self.seen = Signal()

    def chart(self, dimension: Dimension) -> Chart:
        """The map of a dimension, made when it is entered.

        Args:
            dimension: which.
        """
        found = self.charts.get(dimension.name)
        if found is None:
            found = self.charts[dimension.name] = Chart(dimension)
        return found
