"""A small plugin of strategies, as an installed package would have it: for the map, the command line and type stubs."""

from __future__ import annotations

import wants
from wants import Reach

from agentrt import Manifest
from agentrt.strategy import Branch, Dependency, Strategy, strategy


class Place:
    """Where something is."""


class Collect(Dependency[int], activity="crafts:collect"):
    """So many of an item are in the bag."""

    item: str
    count: int = 1


class Find(Dependency["tuple[Place, ...] | None"], activity="crafts:find"):
    """It is known where something is."""

    kind: str
    near: Place | None = None


class Craft(Dependency[int], activity="crafts:craft"):
    """An item is made."""

    item: str


class Light(Dependency[None], activity="crafts:light"):
    """There is light. Nobody provides it."""


class Rest(Dependency[None]):
    """Nothing is needed any more."""


def recipe(item):
    """What is needed for an item."""
    return [Collect("log", 2), Light()]


class MineOre(Strategy):
    """Dig it out of the ground."""

    provides = Collect
    cost = 20.0

    def foresee(self, ask, wanted):
        yield Branch(0.5, 10.0, needs=(Craft("pickaxe"),))

    async def run(self, ctx, wanted):
        where = await self.search(ctx, wanted)
        await ctx.solve(Reach(str(where)))
        return wanted.count

    async def search(self, ctx, wanted):
        return await ctx.gameplay.using(xray=True).solve(Find(wanted.item))


@strategy(Find, cost=3.0)
async def look_around(ctx, wanted):
    """Turn the head."""
    return ()


@strategy(Craft, estimate=lambda ask, wanted: ask.total(recipe(wanted.item)), injects=("MineOre.tools",))
async def make(ctx, wanted):
    """With "both" hands."""
    for need in recipe(wanted.item):
        await ctx.solve(need)
    return 1


class Jack(Strategy):
    """He does everything."""

    provides = (Collect, Craft, wants.Know)
    cost = 100.0

    async def run(self, ctx, wanted):
        if isinstance(wanted, Craft):
            return 1
        await ctx.gameplay.find(wanted.item)
        return await ctx.solve(Collect("hammer"))


@strategy(Rest, cost=1.0)
async def doze(ctx, wanted):
    await ctx.sleep(1)


manifest = Manifest(
    "crafts",
    {
        "strategies:mine_ore": MineOre,
        "strategies:look_around": look_around,
        "strategies:make": make,
        "strategies:jack": Jack,
        "strategies:doze": doze,
        "ai_pack:finder": {"strategies": ["crafts:strategies:look_around"]},
        "ai_pack:miner": {"strategies": ["crafts:strategies:mine_ore"], "ai_packs": ["crafts:ai_pack:finder"]},
    },
)
