"""Making things: crafting, smelting, fuel, tools, and the table and the furnace that this takes.

What a recipe needs may be collected in any order, so that is left to the agent's choice; and since making one thing may
use up another (sticks are made of planks), whoever made all of it looks again at the end.

Source: prismarine-gameplay: "Orderless Dependencies", "Get Recipe Resources".
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import TYPE_CHECKING

from agentrt.strategy import Branch, Interruptible, Strategy
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.places import SIDES
from agentrt_examples.miner.rules import (
    ITEMS,
    RECIPES,
    SMELT_FUEL,
    SMELT_TICKS,
    SMELTS,
    Recipe,
)
from agentrt_examples.miner.strategies.acting import fails
from agentrt_examples.miner.strategies.needs import Collect, Fuel, Reach, Station, Tool, have, uses_of
from agentrt_examples.miner.strategies.reckoning import walking
from agentrt_examples.miner.times import CRAFT_TICKS, RATE

if TYPE_CHECKING:
    from agentrt.strategy import Ask, StrategyContext
    from agentrt_examples.miner.legs import Miner
    from agentrt_examples.miner.places import Place

__all__ = ["Burn", "Craft", "MakeTool", "PlaceStation", "Smelt", "UseStation"]

_ROUNDS = 6
_FUELS = ("coal", "charcoal", "planks", "oak_log", "stick")
_FAR = 40.0  # seconds to a table beyond which nobody goes back


class Craft(Strategy):
    """Craft it, by the recipe that takes the least."""

    provides = Collect
    reads = ("inventory", "place", "memory")
    patience = 60.0

    def foresee(self, ask: Ask, wanted: Collect) -> Iterable[Branch]:
        recipes = [recipe for recipe in RECIPES if recipe.makes == wanted.item]
        if not recipes:
            ask.cannot("there is no recipe for it")
        recipes = [recipe for recipe in recipes if all(is_spendable(ask, item) for item in recipe.needs)]
        if not recipes:
            ask.cannot("what it takes is what is asked for")
        plans = [self._plan(ask, wanted, recipe) for recipe in recipes]
        return (plans[0] if len(plans) == 1 else min(plans, key=lambda plan: ask.expected((plan,))),)

    def _plan(self, ask: Ask, wanted: Collect, recipe: Recipe) -> Branch:
        times = ceil(max(1, wanted.count - have(ask, wanted.item)) / recipe.count)
        needs = tuple(Collect(item, count * times) for item, count in recipe.needs.items())
        station = (Station(recipe.at),) if recipe.at else ()
        return Branch(cost=times * CRAFT_TICKS / RATE, needs=(*needs, *station), label=recipe.makes)

    @fails
    async def run(self, ctx: StrategyContext, wanted: Collect) -> int:
        miner: Miner = ctx.entity
        for _ in range(_ROUNDS):
            missing = wanted.count - miner.inventory.count(wanted.item)
            if missing <= 0:
                break
            recipe = self._recipe(ctx, wanted)
            times = ceil(missing / recipe.count)
            needs = {item: count * times for item, count in recipe.needs.items()}
            await ctx.solve_all(Collect(item, count) for item, count in needs.items())
            if recipe.at:
                await ctx.solve(Station(recipe.at))
            if miner.inventory.has(needs):
                await miner.craft(wanted.item, times)
        return miner.inventory.count(wanted.item)

    def _recipe(self, ctx: StrategyContext, wanted: Collect) -> Recipe:
        recipes = [recipe for recipe in RECIPES if recipe.makes == wanted.item]
        ask = ctx.ask
        return min(recipes, key=lambda recipe: ask.expected((self._plan(ask, wanted, recipe),)))


def is_spendable(ask: Ask, item: str) -> bool:
    """Whether an item may be used up: not, if a request that is being solved asks for that very item.

    Args:
        ask: the world.
        item: the kind of the item.

    Source: prismarine-gameplay: "Optional Dependencies" (a diamond pick, if diamond is currently owned and spendable).
    """
    ask.reads("requests")
    requests = ask.agent.gameplay.running
    return not any(isinstance(one.wanted, Collect) and one.wanted.item == item for one in requests)


class Smelt(Strategy):
    """Smelt it in a furnace. What is in there burns on while something else comes up."""

    provides = Collect
    reads = ("inventory", "place", "memory")
    interruption = Interruptible.PAUSE
    patience = 900.0

    def foresee(self, ask: Ask, wanted: Collect) -> Iterable[Branch]:
        raw = [item for item, made in SMELTS.items() if made == wanted.item]
        if not raw:
            ask.cannot("nothing that is smelted gives it")
        missing = max(1, wanted.count - have(ask, wanted.item))
        needs = (Collect(raw[0], missing), Fuel(missing), Station("furnace"))
        return (Branch(cost=missing * SMELT_TICKS / RATE, needs=needs),)

    @fails
    async def run(self, ctx: StrategyContext, wanted: Collect) -> int:
        miner: Miner = ctx.entity
        raw = next(item for item, made in SMELTS.items() if made == wanted.item)
        for _ in range(_ROUNDS):
            missing = wanted.count - miner.inventory.count(wanted.item)
            if missing <= 0:
                break
            _, (fuel, pieces) = await ctx.solve_all((Collect(raw, missing), Fuel(missing)))
            furnace = await ctx.solve(Station("furnace"))
            if miner.inventory.has({raw: missing, fuel: pieces}):
                miner.load(furnace, raw, missing, fuel, pieces)
                await self._wait(ctx, miner, furnace)
        return miner.inventory.count(wanted.item)

    async def _wait(self, ctx: StrategyContext, miner: Miner, furnace: Place) -> None:
        """Wait for it, and come back if something drove one away meanwhile."""
        while True:
            await ctx.solve(Reach(furnace))
            left = miner.remaining(furnace)
            miner.unload(furnace)
            if not left:
                return
            await miner.spend("smelt", left)


class Burn(Strategy):
    """Have enough of whatever burns and is had the soonest."""

    provides = Fuel
    reads = ("inventory", "place", "memory")

    def foresee(self, ask: Ask, wanted: Fuel) -> Iterable[Branch]:
        best = min((self._amount(wanted, item) for item in _FUELS), key=ask.cost)
        return (Branch(needs=(best,), label=best.item),)

    @staticmethod
    def _amount(wanted: Fuel, item: str) -> Collect:
        return Collect(item, ceil(wanted.pieces * SMELT_FUEL / ITEMS[item].fuel))

    async def run(self, ctx: StrategyContext, wanted: Fuel) -> tuple[str, int]:
        best = min((self._amount(wanted, item) for item in _FUELS), key=ctx.cost)
        await ctx.solve(best)
        return best.item, best.count


class MakeTool(Strategy):
    """Have one more tool, of the kind that is had the soonest."""

    provides = Tool
    reads = ("inventory", "place", "memory")
    patience = 60.0

    def foresee(self, ask: Ask, wanted: Tool) -> Iterable[Branch]:
        return (Branch(needs=(self._best(ask, wanted),)),)

    def _best(self, ask: Ask, wanted: Tool) -> Collect:
        missing = max(1, wanted.uses - uses_of(ask, wanted.kind, wanted.tier))
        fit = [kind for kind in ITEMS.values() if kind.tool == wanted.kind and kind.tier >= wanted.tier]
        if not fit:
            ask.cannot(f"there is no {wanted.kind} of tier {wanted.tier}")
        options = [Collect(kind.name, have(ask, kind.name) + ceil(missing / kind.wear)) for kind in fit]
        return min(options, key=ask.cost)

    async def run(self, ctx: StrategyContext, wanted: Tool) -> None:
        for _ in range(_ROUNDS):
            if ctx.ask.is_met(wanted):
                break
            await ctx.solve(self._best(ctx.ask, wanted))


class UseStation(Strategy):
    """Go to one that is known."""

    provides = Station
    reads = ("place", "memory")

    def foresee(self, ask: Ask, wanted: Station) -> Iterable[Branch]:
        known = ask.entity.known(wanted.kind)
        if not known:
            ask.cannot("none is known here")
        seconds = walking(ask, known[0])
        if seconds > _FAR:
            ask.cannot("it is too far away")
        return (Branch(cost=seconds),)

    async def run(self, ctx: StrategyContext, wanted: Station) -> Place:
        known: list[Place] = ctx.entity.known(wanted.kind)
        await ctx.solve(Reach(known[0]))
        return known[0]


class PlaceStation(Strategy):
    """Have one, and put it down here."""

    provides = Station
    reads = ("inventory", "place")

    def foresee(self, ask: Ask, wanted: Station) -> Iterable[Branch]:
        return (Branch(cost=0.5, needs=(Collect(wanted.kind),)),)

    @fails
    async def run(self, ctx: StrategyContext, wanted: Station) -> Place:
        miner: Miner = ctx.entity
        await ctx.solve(Collect(wanted.kind))
        x, y, z = miner.place
        around = [(x + side_x, y + rise, z + side_z) for rise in (0, 1) for side_x, side_z in SIDES]
        is_free = {place: miner.believes_free(place) for place in around}
        for place in sorted(around, key=lambda place: not is_free[place]):  # where it is free; else in a niche
            if await self._put(miner, place, wanted.kind, dig=not is_free[place]):
                break
        else:
            ctx.fail("there is no room for it")
        return place

    @staticmethod
    async def _put(miner: Miner, place: Place, kind: str, *, dig: bool) -> bool:
        try:
            if dig:
                await miner.dig(place)
            await miner.put_down(place, kind)
        except CannotAct as fault:
            if fault.reason == "died":
                raise
            return False
        return True
