"""A plant to eat: a sapling with a fence around it, and the time that it takes.

A sapling dies when a cow or a zombie stands beside it, so each of the four cells around it is closed, with stones where
nothing solid stands already. It grows only while the player is near. When it is ripe the player digs through its own
fence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt import MOVE
from agentrt.errors import ActivityImpossibleError
from agentrt.strategy import Dependency, Strategy
from examples.crafter import legs, sites
from examples.crafter.reach import FAR, Cell, apart
from examples.crafter.rules import RULES, SIDES, WALKABLE
from examples.crafter.strategies.wants import Found, Have, Placed, PlantEaten, fails

if TYPE_CHECKING:
    from agentrt.strategy import Ask, StrategyContext
    from examples.crafter.player import Player

__all__ = ["EatPlant", "Fence", "Fenced", "PlantSapling", "eat_from", "fenced", "gaps"]

_RIPE = RULES["ripe_after"] + 3
_FAR_AWAY = 40  # steps, as the crow flies
_NEAR = 5  # steps from the plant while it waits
_STONES = 5
_TIRED = 6
_ADVANCE, _LEAST = 0.6, 20.0  # the share of the cost that planting early is worth, and the steps that it takes at least


class Fenced(Dependency[None], activity="crafter:fenced"):
    """So many saplings stand not far away, and nobody can get at them."""

    count: int = 1

    reads = ("map", "place")
    cost = 60.0

    def is_met(self, ask: Ask) -> bool:
        player: Player = ask.entity
        return len(fenced(player)) >= self.count

    def guard_key(self) -> object:
        return None


def fenced(player: Player) -> list[Cell]:
    """The plants not far away that nobody can get at.

    Args:
        player: whose map counts.
    """
    return [plant for plant in _nearby(player) if not gaps(player, plant)]


def _nearby(player: Player) -> list[Cell]:
    return [plant for plant in player.atlas.plants if apart(plant, player.place) <= _FAR_AWAY]


def gaps(player: Player, plant: Cell) -> list[Cell]:
    """The cells beside a sapling that anybody could stand in.

    Args:
        player: whose map counts.
        plant: where it is.
    """
    ground = player.atlas.ground
    sides = [(plant[0] + x, plant[1] + y) for x, y in SIDES]
    return [side for side in sides if (WALKABLE[ground[side]] or not ground[side]) and side not in player.atlas.plants]


def _open_plant(player: Player) -> Cell | None:
    """The plant not far away that is the easiest to fence in."""
    reach = player.about
    found = [
        (6 * len(open_) + player.atlas.to_plant(reach, plant)[0], plant)
        for plant in _nearby(player)
        if (open_ := gaps(player, plant))
    ]
    return min(found)[1] if found else None


def _best_plant(player: Player) -> Cell | None:
    """The one to look after: fenced ones first, then those that are grown the most."""
    reach = player.about
    found = [
        (len(gaps(player, plant)), -grown, plant)
        for plant, grown in player.atlas.plants.items()
        if player.atlas.to_plant(reach, plant)[0] < FAR
    ]
    return min(found)[2] if found else None


async def eat_from(player: Player, plant: Cell) -> None:
    """Go through the fence of a plant, eat from it, and close the fence again.

    Args:
        player: who does.
        plant: it is ripe.

    Raises:
        legs.CannotAct: there is no way to it.
    """
    _, side = player.atlas.to_plant(player.reach, plant)
    if side == plant:
        raise legs.CannotAct("there is no way to it")
    if not WALKABLE[player.atlas.ground[side]]:
        await legs.approach(player, side)
        await legs.dig(player, side)
    await legs.go(player, side)
    await legs.face(player, plant)
    if player.ahead == plant:
        await player.act("do")
    if player.has("stone"):
        await legs.place(player, "stone", side)


class PlantSapling(Strategy):
    """Plant a sapling where the least is open around it."""

    provides = Placed
    flags = (MOVE,)
    reads = ("stock", "map", "place", "diary")
    patience = 3000.0

    def estimate(self, ask: Ask, wanted: Placed) -> float | None:
        if wanted.thing != "plant":
            ask.cannot("it is not planted")
        player: Player = ask.entity
        known = player.roughly("grass")
        steps = ask.cost(Found("grass")) if known is None else known
        return ask.cost(Have("sapling")) + steps + 2.0

    @fails
    async def run(self, ctx: StrategyContext, wanted: Placed) -> None:
        player: Player = ctx.entity
        await ctx.solve(Have("sapling"))
        await _plant(ctx, player)


async def _plant(ctx: StrategyContext, player: Player) -> None:
    site = sites.planting_site(player.atlas, player.reach)
    if site is None:
        await ctx.solve(Found("grass"))
        site = sites.planting_site(player.atlas, player.reach)
        if site is None:
            ctx.fail("there is no ground for it")
    await legs.place(player, "plant", site)


class Fence(Strategy):
    """Plant a sapling if none stands, and close what is open around it."""

    provides = Fenced
    flags = (MOVE,)
    reads = ("stock", "map", "place")
    patience = 3000.0

    def estimate(self, ask: Ask, wanted: Fenced) -> float | None:
        player: Player = ask.entity
        plant = _open_plant(player)
        needs = [Have("stone", _STONES)]
        if plant is None:
            return ask.total([*needs, Have("sapling")]) + 30.0
        return ask.total(needs) + float(player.atlas.to_plant(player.about, plant)[0]) + 6.0 * len(gaps(player, plant))

    @fails
    async def run(self, ctx: StrategyContext, wanted: Fenced) -> None:
        player: Player = ctx.entity
        while len(fenced(player)) < wanted.count:
            began = player.step
            plant = _open_plant(player)
            if plant is None:
                await ctx.solve(Have("sapling"))
                await ctx.solve(Have("stone", _STONES))
                await _plant(ctx, player)
                await legs.lose_no_time(player, began)
                continue
            if not player.has("stone"):
                await ctx.solve(Have("stone", 3))
                continue
            reach = player.reach
            ways = [
                (way[0][0], gap)
                for gap in gaps(player, plant)
                if (way := legs.aims(player, gap, reach)) and gap != player.place
            ]
            if not ways and player.place in gaps(player, plant):
                await self._leave(player, plant)
                await legs.lose_no_time(player, began)
                continue
            if not ways:
                ctx.fail("it cannot be closed")
            await legs.place(player, "stone", min(ways)[1])

    @staticmethod
    async def _leave(player: Player, plant: Cell) -> None:
        x, y = player.place
        away = [(x + dx, y + dy) for dx, dy in SIDES if player.atlas.can_walk((x + dx, y + dy))]
        if not away:
            raise legs.CannotAct("it stands in the gap")
        await legs.go(player, max(away, key=lambda cell: apart(cell, plant)))


class EatPlant(Strategy):
    """Wait beside a fenced sapling until it is ripe, and eat from it."""

    provides = PlantEaten
    reads = ("stock", "map", "place", "diary")
    patience = 9000.0

    def estimate(self, ask: Ask, wanted: PlantEaten) -> float | None:
        player: Player = ask.entity
        plant = _best_plant(player)
        grown = 0 if plant is None else player.atlas.plants[plant]
        if plant is not None and grown >= _RIPE:
            return float(player.atlas.to_plant(player.about, plant)[0]) + 2.0
        if plant is None or gaps(player, plant):
            return max(_LEAST, _ADVANCE * ask.cost(Fenced()))
        if len(player.diary.open) > 1:
            ask.cannot("it grows by itself, and there is more to do")
        return float(_RIPE - grown)

    @fails
    async def run(self, ctx: StrategyContext, wanted: PlantEaten) -> None:
        player: Player = ctx.entity
        while not ctx.ask.is_met(wanted):
            began = player.step
            plant = _best_plant(player)
            is_waiting = plant is not None and not gaps(player, plant) and player.atlas.plants.get(plant, 0) < _RIPE
            if is_waiting and len(player.diary.open) > 1:
                ctx.fail("it grows by itself now")
            grown = 0 if plant is None else player.atlas.plants.get(plant, 0)
            if plant is None or (gaps(player, plant) and grown < _RIPE):
                await ctx.solve(Fenced())
            elif grown < _RIPE or player.inventory["food"] >= RULES["bars"]["most"]:
                await self._wait(ctx, player, plant)
            else:
                await eat_from(player, plant)
                if not ctx.ask.is_met(wanted) and plant in player.atlas.plants:
                    player.atlas.plants[plant] = _RIPE - 10
            await legs.lose_no_time(player, began)

    @staticmethod
    async def _wait(ctx: StrategyContext, player: Player, plant: Cell) -> None:
        if player.atlas.to_plant(player.reach, plant)[0] > _NEAR:
            cells = player.atlas.around(plant, player.reach, _NEAR)
            if cells:
                await legs.go(player, cells[0])
        if player.inventory["energy"] <= _TIRED or player.light < 0.4:
            try:
                await ctx.execute("crafter:rest")
            except ActivityImpossibleError:
                await player.act("noop")
        else:
            await player.act("noop")
