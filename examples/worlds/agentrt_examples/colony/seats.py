"""Seats: something that several can sit around, each on a seat of its own. Implements ``agentrt_actions.Region``."""

from __future__ import annotations

from agentrt import Signal
from agentrt_actions import RegionPart
from agentrt_examples.colony.terrain import Cell, Ground

__all__ = ["Seats"]

# Two rows of three, so that whoever has to pass by still can.
_AROUND = ((-1, -1), (0, -1), (1, -1), (-1, 1), (0, 1), (1, 1))


class Seats:
    """The six seats around a fire.

    Args:
        middle: where the fire is.
        ground: on which ground; nobody sits where nobody walks.

    Attributes:
        parts: the seats.
        changed: never fired: the ground does not change.
    """

    __slots__ = ("changed", "parts")

    def __init__(self, middle: Cell, ground: Ground) -> None:
        cells = [((x, y), (middle[0] + x, middle[1] + y)) for x, y in _AROUND]
        self.parts = tuple(
            RegionPart(number, offset, cell)
            for number, (offset, cell) in enumerate(cells)
            if cell in ground and ground.cost(cell)
        )
        self.changed = Signal()
