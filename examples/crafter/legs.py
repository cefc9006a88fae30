"""Skills of the body: going somewhere, facing something, using it, placing things. Coroutines, a step at a time.

All of them look at the world again after each step, and raise ``CannotAct`` when it cannot be done (any more). They
know nothing of why. What they rest on:

* To turn toward a cell is to move there: if one can walk there, one has gone. So one faces what blocks the way, or
  whatever lies ahead after a move. To face free ground, one steps up to it in a straight line (``aim``).
* Lava is never stepped at: it is never part of a way, and what was not seen is not either; nobody turns toward it, and
  to face it one steps up to it in a straight line, as to free ground.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final

from examples.crafter.reach import FAR, Cell, Reach, apart
from examples.crafter.rules import MATERIALS, RULES, SIDES, SKELETON, TURNS, UNKNOWN, WALKABLE, ZOMBIE

if TYPE_CHECKING:
    from examples.crafter.player import Player

__all__ = ["CannotAct", "aim", "approach", "dig", "face", "go", "lose_no_time", "place", "strike", "walk_up_to"]

_DETOURS: Final = 40
_DEADLY: Final = (MATERIALS["lava"], UNKNOWN)
_PATIENCE: Final = 4  # blows at something that does not give way

Until = Callable[[], bool]


class CannotAct(Exception):
    """Something cannot be done.

    Args:
        reason: why, in words.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: str = reason


def _side(start: Cell, end: Cell) -> tuple[int, int]:
    return (end[0] - start[0], end[1] - start[1])


async def lose_no_time(player: Player, began: int) -> None:
    """Wait a step, if none has gone by: what is tried again and again must not be tried for ever within one tick.

    Args:
        player: who tries.
        began: the step in which it began to.
    """
    if player.step == began:
        await player.act("noop")


async def face(player: Player, cell: Cell) -> None:
    """Turn toward a cell beside one that blocks the way.

    Args:
        player: who does.
        cell: a cell beside it.

    Raises:
        CannotAct: to turn there would be to step into lava, or nobody knows; or it is not beside the player any more.
    """
    if player.ahead != cell:
        if player.atlas.ground[cell] in _DEADLY:
            raise CannotAct("it may be lava")
        if _side(player.place, cell) not in TURNS:
            raise CannotAct("it is not beside it any more")
        await player.act(TURNS[_side(player.place, cell)])


async def go(player: Player, cell: Cell, until: Until | None = None) -> None:
    """Go to a cell, digging and felling on the way where that is the shortest.

    Args:
        player: who does.
        cell: where to.
        until: asked after each step; once it is true, that is far enough.

    Raises:
        CannotAct: there is no way.
    """
    for _ in range(_DETOURS):
        if player.place == cell:
            return
        way = player.way_to(cell)
        if not way:
            break
        if way[0] in player.atlas.creatures:
            await _make_way(player, way[0])
        elif await _follow(player, way, until):
            return
    raise CannotAct("there is no way")


async def _make_way(player: Player, cell: Cell) -> None:
    """There is no better way: a cow will not stand there for long, nor does an arrow, and an enemy is struck."""
    if player.atlas.creatures[cell] in (ZOMBIE, SKELETON):
        await face(player, cell)
        await player.act("do")
    else:
        await player.act("noop")


async def _follow(player: Player, way: list[Cell], until: Until | None) -> bool:
    """Whether one is there; False: something is in the way."""
    player.way = way
    try:
        for cell in way:
            version = player.atlas.version
            if not await _enter(player, cell):
                return False
            if until is not None and until():
                return True
            if player.atlas.version != version and not _is_open(player, way):
                return False
        return True
    finally:
        player.way = []


def _is_open(player: Player, way: list[Cell]) -> bool:
    """Whether nothing that was seen just now closes the way."""
    known = player.atlas.ground
    return not any(known[cell] == MATERIALS["water"] or known[cell] == MATERIALS["lava"] for cell in way)


async def _enter(player: Player, cell: Cell) -> bool:
    """Step into the next cell, digging first if it is rock."""
    atlas = player.atlas
    if not WALKABLE[atlas.ground[cell]]:
        await dig(player, cell)
    if atlas.creatures and atlas.under_fire(cell, 1) is not None:
        await player.act("noop")
    if not atlas.can_walk(cell):
        return False
    await player.act(TURNS[_side(player.place, cell)])
    return player.place == cell


async def dig(player: Player, cell: Cell) -> None:
    """Strike a cell beside one until what stands there gives way.

    Args:
        player: who does.
        cell: it.

    Raises:
        CannotAct: it does not give way.
    """
    before = player.atlas.ground[cell]
    for _ in range(_PATIENCE):
        if cell in player.atlas.creatures:
            raise CannotAct("somebody is in the way")
        await face(player, cell)
        if player.ahead != cell:
            break
        await player.act("do")
        if player.atlas.ground[cell] != before:
            return
    raise CannotAct("it does not give way")


async def approach(player: Player, cell: Cell, until: Until | None = None) -> None:
    """Go to a cell beside one that blocks the way, and face it.

    Args:
        player: who does.
        cell: it.
        until: asked after each step.

    Raises:
        CannotAct: there is no way.
    """
    for _ in range(_DETOURS):
        if apart(player.place, cell) == 1:
            break
        way = player.way_to(cell, ends_beside=True)
        if not way:
            raise CannotAct("there is no way")
        await go(player, way[-1], until)
        if until is not None and until():
            return
    await face(player, cell)


async def walk_up_to(player: Player, find: Callable[[], Cell | None], steps: int) -> Cell:
    """Follow something that moves until one is beside it.

    Args:
        player: who does.
        find: where it is now; None: it is out of sight.
        steps: after how many it is given up.

    Returns:
        Where it was when one faced it.

    Raises:
        CannotAct: it got away.
    """
    for _ in range(steps):
        cell = find()
        if cell is None:
            break
        if apart(player.place, cell) == 1:
            await face(player, cell)
            if player.ahead == find():
                return player.ahead
            continue
        way = player.way_to(cell, ends_beside=True)
        if not way:
            break
        if not await _enter(player, way[0]):
            await player.act("noop")
    raise CannotAct("it got away")


async def strike(player: Player, cell: Cell, blows: int) -> None:
    """Strike a creature that one faces, until it is gone from there.

    Args:
        player: who does.
        cell: where it is.
        blows: how many at most.
    """
    for _ in range(blows):
        if cell not in player.atlas.creatures or player.ahead != cell:
            break
        await player.act("do")


def aims(player: Player, cell: Cell, reach: Reach) -> list[tuple[int, Cell, Cell]]:
    """The ways to face free ground: how many steps, from where one steps up to it, and where one stands then.

    Args:
        player: who wants to.
        cell: the ground.
        reach: how far everything is from where the player stands.
    """
    found = []
    for x, y in SIDES:
        stand, start = (cell[0] - x, cell[1] - y), (cell[0] - 2 * x, cell[1] - 2 * y)
        if stand == player.place and player.facing == (x, y):
            found.append((0, stand, stand))
        elif player.atlas.can_walk(stand):
            steps = int(reach.steps[start])
            if steps < FAR:
                found.append((steps + 1, start, stand))
    return sorted(found)


async def aim(player: Player, cell: Cell, stands: Collection[Cell] | None = None) -> None:
    """Face a cell, free or not.

    Args:
        player: who does.
        cell: which.
        stands: where one may stand then; None for anywhere.

    Raises:
        CannotAct: there is no way.
    """
    for _ in range(_DETOURS):
        if player.ahead == cell and (stands is None or player.place in stands):
            return
        ground = player.atlas.ground[cell]
        if cell in player.atlas.plants or not (WALKABLE[ground] or ground == MATERIALS["lava"]):
            await approach(player, cell)
            return
        ways = [way for way in aims(player, cell, player.reach) if stands is None or way[2] in stands]
        if not ways:
            break
        _, start, stand = ways[0]
        await go(player, start)
        await _enter(player, stand)
    raise CannotAct("there is no place to do it from")


async def place(player: Player, thing: str, cell: Cell, stands: Collection[Cell] | None = None) -> None:
    """Place something.

    Args:
        player: who has it.
        thing: stone, table, furnace or plant.
        cell: where to.
        stands: where one may stand then; None for anywhere.

    Raises:
        CannotAct: it cannot be placed there.
    """
    await aim(player, cell, stands)
    if cell in player.atlas.creatures:
        raise CannotAct("somebody stands there")
    used = next(iter(RULES["place"][thing]["uses"]))
    before = player.inventory.get(used, 0)
    await player.act(f"place_{thing}")
    if player.inventory.get(used, 0) >= before:
        raise CannotAct("it cannot be placed there")
