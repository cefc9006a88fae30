"""Where to go: for a look at what is not known, or not known any more, for cows, and to plant a sapling.

Each of these weighs all cells of the map at once and takes the best one; of several that are equally good it takes the
first, from the top left down. They weigh in steps: a cell that is farther by so many has to be better by as many. The
numbers were found by playing.

None of this changes the map, nor does the map (``atlas``) know of it: it says what is, and this what is worth going to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from examples.crafter.reach import FAR, SIDE, Cell, Reach
from examples.crafter.rules import MATERIALS, SIDES, UNKNOWN, WALKABLE, table_of

if TYPE_CHECKING:
    from examples.crafter.atlas import Atlas

__all__ = ["frontier", "is_seen_around", "neglected", "pasture", "planting_site"]

_NOT_FAR: Final = 30  # steps
_MANY: Final = 12  # cells of what one likes; more are worth no more
_PLOT: Final = 4  # cells: how near plants stand to each other
_STALE: Final = 600  # steps after which anything may have come to a place


def _around(there: np.ndarray[Any, np.dtype[np.bool_]], size: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """How many cells of a square around each cell are true; its sides are ``size`` long, an odd number."""
    total = np.zeros((SIDE + 1, SIDE + 1), np.int32)
    there.cumsum(0, dtype=np.int32).cumsum(1, out=total[1:, 1:])
    count = np.zeros((SIDE, SIDE), np.int32)
    half = size // 2
    inner = total[size:, size:] - total[:-size, size:] - total[size:, :-size] + total[:-size, :-size]
    count[half:-half, half:-half] = inner
    return count


def frontier(atlas: Atlas, reach: Reach, likes: Sequence[str] = ()) -> tuple[Cell, int] | None:
    """The cell beside the unknown that is best to go to for a look.

    Args:
        atlas: what is known.
        reach: from where.
        likes: materials of which many should be near.

    Returns:
        The cell, and in how many steps one is there; None if all that can be reached was seen.
    """
    unknown = atlas.ground == UNKNOWN
    rim = np.zeros_like(unknown)
    rim[1:-1, 1:-1] = unknown[:-2, 1:-1] | unknown[2:, 1:-1] | unknown[1:-1, :-2] | unknown[1:-1, 2:]
    cells = np.flatnonzero(rim & ~unknown & (reach.steps < FAR))
    if not len(cells):
        return None
    steps = reach.steps.ravel()[cells]
    worth = steps.astype(np.float64)
    if likes:
        worth -= np.minimum(_around(table_of(likes)[atlas.ground], 9).ravel()[cells], _MANY)
    worth -= _around(unknown, 7).ravel()[cells]
    best = int(worth.argmin())
    return divmod(int(cells[best]), SIDE), int(steps[best])


def is_seen_around(atlas: Atlas, cell: Cell) -> bool:
    """Whether all four cells beside one are known.

    Args:
        atlas: what is known.
        cell: which.
    """
    return all(atlas.ground[cell[0] + x, cell[1] + y] != UNKNOWN for x, y in SIDES)


def neglected(atlas: Atlas, material: str, reach: Reach) -> Cell | None:
    """Where a material is that was not looked at for long, and that is not far.

    Args:
        atlas: what is known.
        material: its name.
        reach: from where.
    """
    there = (atlas.ground == MATERIALS[material]) & (reach.steps < FAR)
    worth = np.where(there, np.minimum(atlas.step - atlas.looked, _STALE) - 4 * reach.steps, -FAR)
    best = int(worth.argmax())
    return divmod(best, SIDE) if worth.flat[best] > -FAR else None


def pasture(atlas: Atlas, reach: Reach) -> tuple[Cell, bool] | None:
    """Where to look for cows, and whether it is new land; None if there is no grass that can be reached.

    Args:
        atlas: what is known.
        reach: from where.
    """
    edge = frontier(atlas, reach, ("grass",))
    if edge is not None and edge[1] < _NOT_FAR:
        return edge[0], True
    grass = neglected(atlas, "grass", reach)
    if grass is not None:
        return grass, False
    return None if edge is None else (edge[0], True)


def planting_site(atlas: Atlas, reach: Reach) -> Cell | None:
    """Grass where a sapling would be well kept: near, with little open around it, not far from water and others.

    Args:
        atlas: what is known.
        reach: from where.
    """
    grass = atlas.ground == MATERIALS["grass"]
    closes = ~(WALKABLE[atlas.ground] | (atlas.ground == UNKNOWN))
    for cell in atlas.plants:
        closes[cell] = True
    dry = _around(atlas.ground == MATERIALS["water"], 13) == 0
    open_ = np.zeros(grass.shape, np.int32)
    for x, y in SIDES:
        open_ += np.roll(closes, (-x, -y), (0, 1)) == 0
    for cell in [*atlas.creatures, *atlas.plants, reach.place]:
        grass[cell] = False
    cost = reach.beside + 8 * open_ + 15 * dry
    if atlas.plants:
        alone = np.ones(grass.shape, bool)
        for x, y in atlas.plants:
            alone[x - _PLOT : x + _PLOT + 1, y - _PLOT : y + _PLOT + 1] = False
        cost += 20 * alone
    worth = np.where(grass & (reach.beside < 60) & (open_ > 0), cost, FAR)
    best = int(worth.argmin())
    return divmod(best, SIDE) if worth.flat[best] < FAR else None
