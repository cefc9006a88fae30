"""Shelters: where nobody gets at a sleeper, and how one gets into one.

Creatures walk along the four sides only, on grass, sand and paths. A shelter is two cells in a line with something
solid at their four long sides; their two ends are closed from inside, with stones where they are open. It takes two
cells because one can place a stone only on what one faces, and to face free ground one has to step toward it: whoever
has gone in as far as he can places the stone ahead, takes one step back, and so faces the way by which he came.

In rock there is such a place nearly everywhere: one digs it, and has the stones. In the open the long sides are closed
first, from outside; with six stones it can be done anywhere. Water beside one is welcome, to drink at night, though
arrows fly over it: who is hit in a shelter closes that side, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from examples.crafter import legs
from examples.crafter.reach import FAR, SIDE, Cell
from examples.crafter.rules import MATERIALS, RULES, SIDES, TURNS, UNKNOWN, WALKABLE

if TYPE_CHECKING:
    from examples.crafter.player import Player

__all__ = ["Shelter", "close", "close_to_arrows", "find", "is_closed"]

_LARGEST: Final = 3  # cells of a shelter that stands already


@dataclass(frozen=True, slots=True)
class Shelter:
    """A place to hide.

    Attributes:
        outside: the cell before it.
        first: its first cell.
        second: its second cell.
        walls: the cells at its long sides that have to be closed first.
        steps: how far it is, digging included.
    """

    outside: Cell
    first: Cell
    second: Cell
    walls: tuple[Cell, ...]
    steps: int


_LOOKS: Final = 26  # cells: nothing is sought that is farther away
_UNFIT: Final = 30  # steps for which a place is left alone where it could not be done
_WALLING: Final = 12  # steps to close one cell from outside, and often it comes to nothing
_WATER: Final = 12  # steps that it is worth to have water beside one for the night
_HOME: Final = 20  # steps that it is worth to have plants so near that they grow
_X, _Y = np.indices((SIDE, SIDE))
_PAD: Final = 4  # the rim of the map is wider, so that no neighbor of an inner cell is outside of the array


def _moved(cells: Any, x: int, y: int) -> Any:
    """What stands (x, y) away from each inner cell."""
    width, height = cells.shape
    return cells[_PAD + x : width - _PAD + x, _PAD + y : height - _PAD + y]


class _Land:
    """What the map says about shelters: for each cell, what stands there and what it takes.

    Args:
        player: who looks for one.
    """

    def __init__(self, player: Player) -> None:
        (x, y), atlas = player.place, player.atlas
        self.left, self.top = max(0, x - _LOOKS), max(0, y - _LOOKS)
        part = (slice(self.left, x + _LOOKS + 1), slice(self.top, y + _LOOKS + 1))
        ground = atlas.ground[part]
        self.steps = player.reach.steps[part]
        self.costs = atlas.costs(player.inventory)[part]
        self.enterable = self.costs > 0
        self.sound = (ground != UNKNOWN) & (ground != MATERIALS["lava"])
        for i, j in self._inside((*atlas.creatures, *atlas.plants)):
            self.sound[i, j] = False
        self.rock = (ground == MATERIALS["stone"]) & self.enterable
        self.walkable = WALKABLE[ground]
        self.water = ground == MATERIALS["water"]
        self.closable = _closable(self.walkable & (self.steps < FAR))
        self.stones = player.inventory.get("stone", 0)
        self.fit = np.ones(ground.shape, bool)
        for i, j in self._inside(cell for cell, until in player.unfit.items() if until > player.step):
            self.fit[i, j] = False
        self.home = np.zeros(ground.shape, np.int32)
        for i, j in atlas.plants:
            self.home[np.abs(_X[part] - i) + np.abs(_Y[part] - j) < RULES["lives_within"] - 1] = _HOME

    def _inside(self, cells: Iterable[Cell]) -> list[Cell]:
        """Those cells that are looked at, counted from the corner of the part that is."""
        width, height = self.steps.shape
        moved = [(x - self.left, y - self.top) for x, y in cells]
        return [(x, y) for x, y in moved if 0 <= x < width and 0 <= y < height]

    def shelters(self, x: int, y: int) -> Any:
        """For each inner cell, how far it is to be hidden there, in a shelter that begins there and goes one way.

        Args:
            x: which way.
            y: which way.
        """
        fits = _moved(self.enterable, 0, 0) & _moved(self.enterable, x, y)
        wet = _moved(self.water, 2 * x, 2 * y).astype(np.int32)
        missing = np.zeros(fits.shape, np.int32)
        for side in _long_sides(x, y):
            fits &= _moved(self.sound, *side) & (_moved(self.closable, *side) | ~_moved(self.walkable, *side))
            missing += _moved(self.walkable, *side)
            wet |= _moved(self.water, *side)
        is_open = _moved(self.walkable, 2 * x, 2 * y)
        fits &= _moved(self.sound, 2 * x, 2 * y)
        dug = _moved(self.rock, 0, 0).astype(np.int32) + _moved(self.rock, x, y)
        fits &= (self.stones >= missing) & (self.stones + dug >= missing + 1 + is_open)
        outside = _moved(self.steps, -x, -y)
        fits &= outside < FAR
        fits &= _moved(self.fit, 0, 0)
        inside = _moved(self.costs, 0, 0) + _moved(self.costs, x, y)
        gain = _WATER * wet + _moved(self.home, 0, 0)
        return np.where(fits, outside + inside + is_open + _WALLING * missing - gain, FAR)


def find(player: Player) -> Shelter | None:
    """The nearest place that can be made a shelter with what the player has.

    Args:
        player: who looks for one.
    """
    land = _Land(player)
    best: tuple[int, Cell, tuple[int, int]] | None = None
    for way in SIDES:
        steps = land.shelters(*way)
        cell = int(steps.argmin())
        if steps.flat[cell] < (FAR if best is None else best[0]):
            i, j = divmod(cell, steps.shape[1])
            best = (int(steps.flat[cell]), (land.left + i + _PAD, land.top + j + _PAD), way)
    if best is None:
        return None
    (i, j), (x, y) = best[1], best[2]
    sides = [(i + side[0], j + side[1]) for side in _long_sides(x, y)]
    walls = tuple(side for side in sides if WALKABLE[player.atlas.ground[side]])
    return Shelter((i - x, j - y), (i, j), (i + x, j + y), walls, best[0])


def _closable(free: Any) -> Any:
    """Where a stone can be placed: two free cells in a line lead up to it."""
    closable = np.zeros(free.shape, bool)
    inner = closable[2:-2, 2:-2]
    width, height = free.shape
    for x, y in SIDES:
        near = free[2 + x : width - 2 + x, 2 + y : height - 2 + y]
        inner |= near & free[2 + 2 * x : width - 2 + 2 * x, 2 + 2 * y : height - 2 + 2 * y]
    return closable


def _long_sides(x: int, y: int) -> list[Cell]:
    """Where the long sides of a shelter are, that goes in one direction from its first cell."""
    return [(far * x + side * y, far * y + side * x) for far in (0, 1) for side in (1, -1)]


def is_closed(player: Player) -> bool:
    """Whether nobody can get at the player where it stands.

    Args:
        player: who asks.
    """
    seen = {player.place}
    rest = [player.place]
    while rest:
        x, y = rest.pop()
        for side in SIDES:
            cell = (x + side[0], y + side[1])
            ground = player.atlas.ground[cell]
            if cell not in seen and (WALKABLE[ground] or ground == UNKNOWN) and cell not in player.atlas.plants:
                seen.add(cell)
                rest.append(cell)
        if len(seen) > _LARGEST:
            return False
    return not any(cell in player.atlas.creatures for cell in seen)


async def close_to_arrows(player: Player) -> None:
    """Put stones where water is at the end of a straight line from where the player stands: arrows fly over it.

    Args:
        player: who does; it is in a shelter.

    Raises:
        legs.CannotAct: a stone cannot be placed there.
    """
    for x, y in SIDES:
        cell = (player.place[0] + x, player.place[1] + y)
        while WALKABLE[player.atlas.ground[cell]]:
            cell = (cell[0] + x, cell[1] + y)
        if player.atlas.is_there(cell, "water") and player.has("stone"):
            await legs.place(player, "stone", cell)


async def close(player: Player, shelter: Shelter) -> None:
    """Go into a shelter and close it.

    Args:
        player: who does; it stands anywhere.
        shelter: the place.

    Raises:
        legs.CannotAct: it turned out not to be one.
    """
    x, y = shelter.first
    i, j = shelter.second[0] - x, shelter.second[1] - y
    walls = [(x + side[0], y + side[1]) for side in _long_sides(i, j)]
    end = (x + 2 * i, y + 2 * j)
    if not WALKABLE[player.atlas.ground[end]]:
        walls.append(end)  # nor is this dug or felled on the way
    player.atlas.walls = tuple(walls)
    try:
        await _enter(player, shelter)
    except legs.CannotAct:
        if not player.atlas.creatures:  # so nobody was in the way, and it would be the same again
            player.unfit[shelter.first] = player.step + _UNFIT
        raise
    finally:
        player.atlas.walls = ()


async def _enter(player: Player, shelter: Shelter) -> None:
    while gaps := [wall for wall in shelter.walls if WALKABLE[player.atlas.ground[wall]]]:
        ways = {gap: legs.aims(player, gap, player.reach) for gap in gaps}
        # What can be closed from one side alone comes first, before another wall stands there; else what is near.
        gap = min(gaps, key=lambda gap: (len(ways[gap]) > 1, ways[gap][:1], gap))
        await legs.place(player, "stone", gap)
    await legs.go(player, shelter.outside)
    await legs.go(player, shelter.first)
    await legs.go(player, shelter.second)
    ahead = (2 * shelter.second[0] - shelter.first[0], 2 * shelter.second[1] - shelter.first[1])
    if WALKABLE[player.atlas.ground[ahead]]:
        if player.ahead != ahead:
            raise legs.CannotAct("it does not face the open end")
        await _wall(player, ahead)
    back = (shelter.first[0] - shelter.second[0], shelter.first[1] - shelter.second[1])
    await player.act(TURNS[back])
    if player.place != shelter.first or player.ahead != shelter.outside:
        raise legs.CannotAct("somebody is in the shelter")
    await _wall(player, shelter.outside)


async def _wall(player: Player, cell: Cell) -> None:
    for _ in range(6):
        if not WALKABLE[player.atlas.ground[cell]]:
            return
        await player.act("do" if cell in player.atlas.creatures else "place_stone")
    raise legs.CannotAct("it cannot be closed")
