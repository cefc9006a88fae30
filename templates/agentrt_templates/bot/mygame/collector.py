"""The bot: it is asked for gems, and works out the rest.

No strategy knows another one. They share one thing that may be needed, ``Have``, and say what it would cost them; the
best is taken, and when it fails, the next best.
"""

from __future__ import annotations

import agentrt as art
from agentrt.strategy import Ask, Dependency, Strategy, StrategyContext

from mygame.grid import GIVES, Place
from mygame.session import Player, distance

STEP = 0.2  # game seconds for a move


class Have(Dependency[int], activity="mygame:have"):
    """So many of an item are in the bag."""

    item: str
    count: int = 1

    def is_met(self, ask: Ask[Player]) -> bool:
        return ask.entity.sight.bag[self.item] >= self.count

    def guard_key(self) -> str:
        return self.item


class Gather(Strategy):
    """Walk to the nearest thing that gives it, and take it."""

    provides = Have

    def estimate(self, ask: Ask[Player], wanted: Have) -> float | None:
        player = ask.entity
        places = sources(player, wanted.item)
        missing = wanted.count - player.sight.bag[wanted.item]
        if len(places) < missing:
            ask.cannot(f"there is not enough {wanted.item} in sight")
        seconds = sum(distance(player.sight.at, place) + 1 for place in places[:missing]) * STEP
        return seconds + (ask.cost(Have("pick")) if wanted.item == "gem" else 0.0)

    async def run(self, ctx: StrategyContext[Player], wanted: Have) -> None:
        player = ctx.entity
        if wanted.item == "gem":
            await ctx.solve(Have("pick"))
        while player.sight.bag[wanted.item] < wanted.count:
            places = sources(player, wanted.item)
            if not places:
                ctx.fail(f"there is no {wanted.item} any more")
            await player.go(places[0])
            await player.do("take")


class MakePick(Strategy):
    """Make a pick of two pieces of wood and a stone."""

    provides = Have

    needs = (Have("wood", 2), Have("stone", 1))

    def estimate(self, ask: Ask[Player], wanted: Have) -> float | None:
        return ask.total(self.needs) + STEP if wanted.item == "pick" else None

    async def run(self, ctx: StrategyContext[Player], wanted: Have) -> None:
        await ctx.solve_all(self.needs)
        await ctx.entity.do("make pick")


class CollectGems(art.Action):
    """Ask for one gem more than it has, as long as there are any."""

    does = art.TOP
    utility = 0.5

    async def run(self, ctx: art.Context[Player], args: art.ActionArgs) -> None:
        player = ctx.entity
        while sources(player, "gem"):
            await ctx.agent.gameplay.solve(Have("gem", player.sight.bag["gem"] + 1))
        await art.park()


def sources(player: Player, item: str) -> list[Place]:
    """Where there is something that gives an item, the nearest first."""
    found = [place for place, kind in player.sight.things.items() if GIVES[kind] == item]
    return sorted(found, key=lambda place: (distance(player.sight.at, place), place))
