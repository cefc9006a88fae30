"""Deeds: placing things, and what is done to stay alive anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from agentrt import MOVE
from agentrt.errors import ActivityImpossibleError
from agentrt.strategy import Strategy
from examples.crafter import legs
from examples.crafter.rules import RULES, SIDES
from examples.crafter.strategies.making import placeable
from examples.crafter.strategies.wants import Beside, Have, Lived, Placed, fails

if TYPE_CHECKING:
    from agentrt.strategy import Ask, Dependency, StrategyContext
    from examples.crafter.player import Player
    from examples.crafter.reach import Cell

__all__ = ["LiveThroughIt", "PlaceOne"]


class PlaceOne(Strategy):
    """Place it, anywhere; a furnace beside a table, where it will be needed."""

    provides = Placed
    reads = ("stock", "map", "place", "diary")
    flags = (MOVE,)
    patience = 9000.0

    @staticmethod
    def _needs(ask: Ask, wanted: Placed) -> list[Dependency[Any]]:
        if wanted.thing == "plant":
            ask.cannot("it is planted")
        uses = RULES["place"][wanted.thing]["uses"]
        needs: list[Dependency[Any]] = [Have(item, count) for item, count in uses.items()]
        if wanted.thing == "furnace":
            needs.append(Beside(("table",)))
        return needs

    def estimate(self, ask: Ask, wanted: Placed) -> float | None:
        return ask.total(self._needs(ask, wanted)) + 2.0

    @fails
    async def run(self, ctx: StrategyContext, wanted: Placed) -> None:
        player: Player = ctx.entity
        for need in self._needs(ctx.ask, wanted):
            await ctx.solve(need)
        await legs.place(player, wanted.thing, self._site(ctx, player))

    @staticmethod
    def _site(ctx: StrategyContext, player: Player) -> Cell:
        if placeable(player, player.ahead):
            return player.ahead
        reach = player.reach
        x, y = player.place
        near = [(x + dx, y + dy) for dx, dy in SIDES] + [(x + 2 * dx, y + 2 * dy) for dx, dy in SIDES]
        ways = [
            (way[0][0], cell) for cell in near if placeable(player, cell) and (way := legs.aims(player, cell, reach))
        ]
        if not ways:
            ctx.fail("there is no free ground for it")
        return min(ways)[1]


class LiveThroughIt(Strategy):
    """What the player does anyway to stay alive: have it done now, by the actions of its plan."""

    provides = Lived
    reads = ("bars", "map", "place", "diary")
    patience = 3000.0
    activities: ClassVar = {"collect_drink": "crafter:drink", "eat_cow": "crafter:eat", "wake_up": "crafter:rest"}
    bars: ClassVar = {"collect_drink": "drink", "eat_cow": "food", "wake_up": "energy"}
    costs: ClassVar = {"collect_drink": 8.0, "eat_cow": 15.0, "wake_up": 25.0}

    def estimate(self, ask: Ask, wanted: Lived) -> float | None:
        bar = self.bars[wanted.name]
        player: Player = ask.entity
        missing = RULES["bars"]["most"] - player.inventory[bar]
        if not missing:
            ask.cannot("it has enough of it")
        steps = self.costs[wanted.name]
        if bar == "drink":
            known = player.roughly("water")
            steps += 60.0 if known is None else known
        elif bar == "food":
            found = player.nearest_cow()
            steps += 60.0 if found is None else found[1]
        else:
            steps += 11.0 * missing
        return steps

    async def run(self, ctx: StrategyContext, wanted: Lived) -> None:
        try:
            await ctx.execute(self.activities[wanted.name])
        except ActivityImpossibleError:
            ctx.fail("it cannot do that now")
