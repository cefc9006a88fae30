"""Gathering: digging and felling, looking for saplings, and finding out where things are.

Whoever gathers takes a little more than was asked for, as long as it lies beside the way and the player still has a use
for it: what all open achievements will use up is one sum over the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt import MOVE
from agentrt.strategy import Strategy
from examples.crafter import legs, sites
from examples.crafter.rules import MATERIALS, RULES
from examples.crafter.strategies.wants import Found, Have, fails, held

if TYPE_CHECKING:
    from agentrt.strategy import Ask, StrategyContext
    from examples.crafter.player import Player
    from examples.crafter.reach import Cell

__all__ = ["Explore", "Gather", "PickSapling", "wish"]

_COLLECT = RULES["collect"]
_MOST: int = RULES["bars"]["most"]
_TRIES: float = _COLLECT["sapling"]["tries"]
_BY_THE_WAY = 3  # steps
_BUILDING = 7  # stones that are always of use: for a shelter, a fence
_USUALLY = {"tree": 30.0, "water": 50.0, "stone": 50.0, "coal": 60.0, "iron": 120.0, "diamond": 250.0, "grass": 20.0}
_ROCK = ("stone", "path", "coal", "iron", "diamond", "lava")
_LIKES = {"coal": _ROCK, "iron": _ROCK, "diamond": _ROCK, "stone": _ROCK, "tree": ("tree",), "water": ("sand",)}


def wish(player: Player, item: str) -> int:
    """How many of an item the player will have use for.

    Args:
        player: whose open achievements count.
        item: its name.
    """
    total: int = _BUILDING if item == "stone" else 0
    for name in player.diary.open:
        kind, _, thing = name.partition("_")
        rule = RULES.get(kind, {}).get(thing) if kind in ("make", "place") else None
        if rule is not None:
            total += rule["uses"].get(item, 0)
    if item == "wood" and "make_iron_pickaxe" in player.diary.open:
        total += RULES["place"]["table"]["uses"]["wood"]  # a second table, where the iron is
    return min(_MOST, total)


class Gather(Strategy):
    """Dig or fell the nearest that is known."""

    provides = Have
    flags = (MOVE,)
    reads = ("stock", "map", "place")
    patience = 4000.0

    def estimate(self, ask: Ask, wanted: Have) -> float | None:
        rule = _COLLECT.get(wanted.item)
        if rule is None or wanted.item == "sapling":
            ask.cannot("it is not dug or felled")
        if wanted.count > _MOST:
            ask.cannot(f"nobody can carry {wanted.count}")
        player: Player = ask.entity
        steps = ask.cost(Have(rule["tool"])) if rule["tool"] else 0.0
        known = player.roughly(rule["from"])
        steps += ask.cost(Found(rule["from"])) if known is None else known
        return steps + max(0.0, 4.0 * (wanted.count - held(ask, wanted.item)) - 2.0)

    @fails
    async def run(self, ctx: StrategyContext, wanted: Have) -> None:
        player: Player = ctx.entity
        rule = _COLLECT[wanted.item]
        if rule["tool"]:
            await ctx.solve(Have(rule["tool"]))
        while True:
            found = player.nearest(rule["from"])
            if player.has(wanted.item, wanted.count):
                enough = player.has(wanted.item, wish(player, wanted.item))
                if enough or found is None or found[1] > _BY_THE_WAY:
                    return
            if found is None:
                await ctx.solve(Found(rule["from"]))
                continue
            began = player.step
            await self._take(player, found[0])
            await legs.lose_no_time(player, began)

    @staticmethod
    async def _take(player: Player, cell: Cell) -> None:
        await legs.approach(player, cell, lambda: not _is_solid(player, cell))
        if _is_solid(player, cell):
            await legs.dig(player, cell)


def _is_solid(player: Player, cell: Cell) -> bool:
    return not player.atlas.can_walk(cell)


class PickSapling(Strategy):
    """Look for a sapling in the grass, again and again: one look in ten finds one."""

    provides = Have
    flags = (MOVE,)
    reads = ("stock", "map", "place")
    patience = 1000.0

    def estimate(self, ask: Ask, wanted: Have) -> float | None:
        if wanted.item != "sapling":
            ask.cannot("it is not found in grass")
        player: Player = ask.entity
        known = player.roughly("grass")
        steps = ask.cost(Found("grass")) if known is None else known
        return steps + _TRIES * (wanted.count - held(ask, "sapling"))

    @fails
    async def run(self, ctx: StrategyContext, wanted: Have) -> None:
        player: Player = ctx.entity
        while not player.has("sapling", wanted.count):
            if player.atlas.is_there(player.ahead, "grass") and player.atlas.can_walk(player.ahead):
                await player.act("do")
                continue
            found = player.nearest("grass")
            if found is None:
                await ctx.solve(Found("grass"))
                continue
            began = player.step
            await legs.aim(player, found[0])
            await legs.lose_no_time(player, began)


class Explore(Strategy):
    """Go to where the map ends, and look what is there."""

    provides = Found
    flags = (MOVE,)
    reads = ("map", "place")
    patience = 6000.0

    def estimate(self, ask: Ask, wanted: Found) -> float | None:
        player: Player = ask.entity
        if wanted.material not in MATERIALS or not player.sees_an_end:
            ask.cannot("all that can be reached was seen")
        return _USUALLY.get(wanted.material, 100.0)

    @fails
    async def run(self, ctx: StrategyContext, wanted: Found) -> None:
        player: Player = ctx.entity
        while True:
            edge = sites.frontier(player.atlas, player.reach, _LIKES.get(wanted.material, ()))
            if edge is None:
                ctx.fail("all that can be reached was seen")
            began = player.step
            await self._look(player, edge[0], wanted.material)
            if player.nearest(wanted.material) is not None:
                return
            await legs.lose_no_time(player, began)

    @staticmethod
    async def _look(player: Player, goal: Cell, material: str) -> None:
        """Go there until there is nothing more to be seen, or some more of the material is."""
        atlas = player.atlas
        known = atlas.count(material)
        await legs.go(player, goal, lambda: atlas.count(material) > known or sites.is_seen_around(atlas, goal))
