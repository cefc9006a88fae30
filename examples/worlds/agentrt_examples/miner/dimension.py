"""A dimension: a box of blocks, one byte for each, with what is known about its surface.

``cells`` is the memory itself, for looking at one block (a byte array is the fastest way that Python has); ``blocks``
is a numpy view of the same memory, indexed ``[x, y, z]``, for looking at many. The outermost columns and the lowest
layer are blocks that nobody can dig, and nobody ever stands in the highest layers: so the six neighbors of any block
that a body reaches lie in the box, and nobody checks bounds for them.

``sky`` holds for each column the height of the highest block that keeps light out; what lies below is dark, always.
"""

from __future__ import annotations

import numpy
from numpy.typing import NDArray

from agentrt_examples.miner.places import Place
from agentrt_examples.miner.rules import BLOCKS

__all__ = ["CLEAR", "PASSABLE", "SOLID", "Dimension"]

CLEAR: tuple[bool, ...] = tuple(kind.clear for kind in BLOCKS)
"""Whether one sees through a block, by number."""

PASSABLE: tuple[bool, ...] = tuple(kind.passable for kind in BLOCKS)
"""Whether a body fits into a block, by number."""

SOLID: tuple[bool, ...] = tuple(not kind.passable or kind.name == "water" for kind in BLOCKS)
"""Whether a body does not sink through a block, by number: firm ground, or water that one swims in."""

_CLEAR = numpy.array(CLEAR)


class Dimension:
    """A box of blocks.

    Args:
        name: what it is called.
        blocks: the numbers of the blocks, indexed ``[x, y, z]``; they are copied.

    Attributes:
        name: as given.
        size: how many blocks along x, y and z.
        cells: the numbers of the blocks, in one row.
        blocks: the same memory as an array.
        sky: the height of the highest block that keeps light out, for each column, in one row.
        has_sky: whether there is any daylight.
        changes: how many blocks were changed.
    """

    __slots__ = ("_layer", "_row", "blocks", "cells", "changes", "has_sky", "name", "size", "sky")

    def __init__(self, name: str, blocks: NDArray[numpy.uint8], *, has_sky: bool) -> None:
        width, height, depth = blocks.shape
        self.name = name
        self.size: Place = (width, height, depth)
        self._layer: int = height * depth
        self._row: int = depth
        self.cells: bytearray = bytearray(blocks.tobytes())
        self.blocks: NDArray[numpy.uint8] = numpy.frombuffer(self.cells, dtype=numpy.uint8).reshape(blocks.shape)
        self.has_sky = has_sky
        dark = ~_CLEAR[self.blocks][:, ::-1, :]
        top = height - 1 - dark.argmax(axis=1)
        self.sky: list[int] = top.ravel().tolist()
        self.changes = 0

    def holds(self, place: Place) -> bool:
        """Whether a place lies in the box.

        Args:
            place: any place.
        """
        return all(0 <= at < size for at, size in zip(place, self.size, strict=True))

    def at(self, place: Place) -> int:
        """The number of the block at a place that lies in the box.

        Args:
            place: the place.
        """
        return self.cells[place[0] * self._layer + place[1] * self._row + place[2]]

    def name_at(self, place: Place) -> str:
        """The name of the block at a place.

        Args:
            place: any place; outside of the box is border.
        """
        return BLOCKS[self.at(place)].name if self.holds(place) else "border"

    def put(self, place: Place, number: int) -> None:
        """Put a block somewhere, in place of what is there.

        Args:
            place: where, in the box.
            number: of its kind.
        """
        x, y, z = place
        self.cells[x * self._layer + y * self._row + z] = number
        self.changes += 1
        column = x * self._row + z
        top = self.sky[column]
        if not CLEAR[number]:
            if y > top:
                self.sky[column] = y
        elif y == top:
            while y > 0 and CLEAR[self.at((x, y, z))]:
                y -= 1
            self.sky[column] = y

    def is_under_sky(self, place: Place) -> bool:
        """Whether daylight falls onto a place.

        Args:
            place: in the box.
        """
        return self.has_sky and place[1] > self.sky[place[0] * self._row + place[2]]

    def surface(self, x: int, z: int) -> int:
        """The height at which somebody stands on the ground of a column, under its highest block that is dense.

        Args:
            x: the column.
            z: the row.
        """
        return self.sky[x * self._row + z] + 1

    def fits(self, feet: Place) -> bool:
        """Whether a body fits somewhere.

        Args:
            feet: where its feet would be.
        """
        x, y, z = feet
        at = x * self._layer + y * self._row + z
        return PASSABLE[self.cells[at]] and PASSABLE[self.cells[at + self._row]]

    def can_stand(self, feet: Place) -> bool:
        """Whether a body fits somewhere and does not fall.

        Args:
            feet: where its feet would be, in the box and not in its lowest layer.
        """
        x, y, z = feet
        at = x * self._layer + y * self._row + z
        cells, row = self.cells, self._row
        return PASSABLE[cells[at]] and PASSABLE[cells[at + row]] and (SOLID[cells[at - row]] or SOLID[cells[at]])
