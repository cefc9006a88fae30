"""Making tools, and standing beside the stations that it takes: going to them, or setting up new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt import MOVE
from agentrt.strategy import Strategy
from examples.crafter import legs
from examples.crafter.reach import Cell
from examples.crafter.rules import RULES, SIDES
from examples.crafter.strategies.wants import Beside, Have, fails

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentrt.strategy import Ask, StrategyContext
    from examples.crafter.player import Player

__all__ = ["GoToStations", "Make", "SetUpStation", "placeable"]

_AROUND = tuple((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0))
_MANY = 4  # times that what was gathered may have been used up for something else


class Make(Strategy):
    """Make a tool of what it takes, beside the stations that it takes."""

    provides = Have
    reads = ("stock", "map", "place")
    flags = (MOVE,)
    patience = 8000.0

    @staticmethod
    def _needs(ask: Ask, rule: dict[str, dict[str, int]]) -> list[Have]:
        """What is used up, stations that have to be set up included."""
        uses = dict(rule["uses"])
        player: Player = ask.entity
        if player.stations_at(tuple(rule["beside"]), player.about) is None:
            for station in rule["beside"]:
                if not player.atlas.knows(station):
                    for item, count in RULES["place"][station]["uses"].items():
                        uses[item] = uses.get(item, 0) + count
        return [Have(item, min(count, RULES["bars"]["most"])) for item, count in uses.items()]

    def estimate(self, ask: Ask, wanted: Have) -> float | None:
        rule = RULES["make"].get(wanted.item)
        if rule is None:
            ask.cannot("it is not made")
        return ask.total([*self._needs(ask, rule), Beside(tuple(rule["beside"]))]) + 1.0

    async def run(self, ctx: StrategyContext, wanted: Have) -> None:
        player: Player = ctx.entity
        rule = RULES["make"][wanted.item]
        for _ in range(_MANY):
            await ctx.solve_all(self._needs(ctx.ask, rule))
            await ctx.solve(Beside(tuple(rule["beside"])))
            if all(player.has(item, count) for item, count in rule["uses"].items()):
                await player.act(f"make_{wanted.item}")
                return
        ctx.fail("what it takes was used up for something else")


class GoToStations(Strategy):
    """Go to stations that stand already."""

    provides = Beside
    reads = ("map", "place")
    flags = (MOVE,)
    patience = 1000.0

    def estimate(self, ask: Ask, wanted: Beside) -> float | None:
        player: Player = ask.entity
        found = player.stations_at(wanted.stations, player.about)
        if found is None:
            ask.cannot("none are known that stand together")
        return float(found[1])

    @fails
    async def run(self, ctx: StrategyContext, wanted: Beside) -> None:
        player: Player = ctx.entity
        found = player.stations_at(wanted.stations, player.reach)
        if found is None:
            ctx.fail("they are gone")
        await legs.go(player, found[0], lambda: ctx.ask.is_met(wanted))


class SetUpStation(Strategy):
    """Place the last of the stations, beside the others."""

    provides = Beside
    reads = ("stock", "map", "place")
    flags = (MOVE,)
    patience = 4000.0

    @staticmethod
    def _uses(station: str) -> list[Have]:
        return [Have(item, count) for item, count in RULES["place"][station]["uses"].items()]

    def estimate(self, ask: Ask, wanted: Beside) -> float | None:
        *others, station = wanted.stations
        needs = self._uses(station)
        steps = ask.total(needs)
        if others:
            steps += ask.cost(Beside(tuple(others)))
        return steps + 3.0

    @fails
    async def run(self, ctx: StrategyContext, wanted: Beside) -> None:
        player: Player = ctx.entity
        *others, station = wanted.stations
        for _ in range(_MANY):
            await ctx.solve_all(self._uses(station))
            if others:
                await ctx.solve(Beside(tuple(others)))
            if all(ctx.ask.is_met(need) for need in self._uses(station)):
                break
        else:
            ctx.fail("what it takes was used up for something else")
        cell, stand = self._site(ctx, player, others)
        await legs.place(player, station, cell, {stand})

    @staticmethod
    def _site(ctx: StrategyContext, player: Player, others: list[str]) -> tuple[Cell, Cell]:
        """A free cell, and where one stands to place it: beside all others."""
        reach = player.reach
        x, y = player.place
        stands: Iterable[Cell] = ((x + dx, y + dy) for dx, dy in ((0, 0), *_AROUND))
        best: tuple[int, Cell, Cell] | None = None
        for stand in stands:
            if stand != player.place and not player.atlas.can_walk(stand):
                continue
            if not all(player.is_near(other, stand) for other in others):
                continue
            for side in SIDES:
                cell = (stand[0] + side[0], stand[1] + side[1])
                if not placeable(player, cell):
                    continue
                for steps, _, at in legs.aims(player, cell, reach):
                    if at == stand and (best is None or steps < best[0]):
                        best = (steps, cell, stand)
        if best is None:
            ctx.fail("there is no free ground for it")
        return best[1], best[2]


def placeable(player: Player, cell: Cell) -> bool:
    """Whether stations can be placed somewhere: free ground where one could walk.

    Args:
        player: who wants to.
        cell: where.
    """
    return player.atlas.can_walk(cell) and player.place != cell
