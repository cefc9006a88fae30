"""Shelters: where nobody gets at a sleeper, and how one gets into one.

Creatures walk along the four sides only, on grass, sand and paths. A shelter is two cells in a line with something solid
at their four long sides; their two ends are closed from inside, with stones where they are open. It takes two cells
because one can place a stone only on what one faces, and to face free ground one has to step toward it: whoever has gone
in as far as he can places the stone ahead, takes one step back, and so faces the way by which he came.

In rock there is such a place nearly everywhere: one digs it, and has the stones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from examples.crafter import legs
from examples.crafter.atlas import FAR, Cell
from examples.crafter.rules import MATERIALS, SIDES, TURNS, UNKNOWN, WALKABLE

if TYPE_CHECKING:
    from examples.crafter.player import Player

__all__ = ["Shelter", "close", "find", "is_closed"]

_LARGEST: Final = 3  # cells of a shelter that stands already


@dataclass(frozen=True, slots=True)
class Shelter:
    """A place to hide.

    Attributes:
        outside: the cell before it.
        first: its first cell.
        second: its second cell.
        steps: how far it is, digging included.
    """

    outside: Cell
    first: Cell
    second: Cell
    steps: int


def _moved(cells: Any, x: int, y: int) -> Any:
    """What stands (x, y) away from each cell. The rim of the map is solid, so what comes round does not matter."""
    return np.roll(cells, (-x, -y), (0, 1))


def find(player: Player) -> Shelter | None:
    """The nearest place that can be made a shelter with what the player has.

    Args:
        player: who looks for one.
    """
    atlas, reach = player.atlas, player.reach
    ground = atlas.ground
    costs = atlas.costs(player.inventory)
    enterable = costs > 0
    solid = ~WALKABLE[ground] & (ground != UNKNOWN) & (ground != MATERIALS["lava"])
    rock = (ground == MATERIALS["stone"]) & enterable
    best: tuple[int, int, tuple[int, int]] | None = None
    for x, y in SIDES:
        walls = np.ones(ground.shape, bool)
        for far in (0, 1):
            for side in (1, -1):
                walls &= _moved(solid, far * x + side * y, far * y + side * x)
        end = _moved(ground, 2 * x, 2 * y)
        open_end = WALKABLE[end]
        stones = player.inventory.get("stone", 0) + rock.astype(np.int32) + _moved(rock, x, y)
        fits = walls & enterable & _moved(enterable, x, y) & (open_end | _moved(solid, 2 * x, 2 * y))
        fits &= stones >= 1 + open_end
        outside = _moved(reach.steps, -x, -y)
        steps = outside + costs + _moved(costs, x, y) + open_end
        steps = np.where(fits & (outside < FAR), steps, FAR)
        cell = int(steps.argmin())
        if steps.flat[cell] < FAR and (best is None or steps.flat[cell] < best[0]):
            best = (int(steps.flat[cell]), cell, (x, y))
    if best is None:
        return None
    first = divmod(best[1], ground.shape[1])
    x, y = best[2]
    return Shelter((first[0] - x, first[1] - y), first, (first[0] + x, first[1] + y), best[0])


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


async def close(player: Player, shelter: Shelter) -> None:
    """Go into a shelter and close it.

    Args:
        player: who does; it stands anywhere.
        shelter: the place.

    Raises:
        legs.CannotAct: it turned out not to be one.
    """
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
