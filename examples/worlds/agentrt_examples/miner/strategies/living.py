"""Living: eating, hunting for it, and what to do about those who attack.

Nobody calls these on the way to diamonds: they are what the triggers ask for when something happens. So no other
strategy says a word about hunger or zombies.

Source: prismarine-gameplay: "Interrupting Tasks".
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import TYPE_CHECKING

from agentrt import MOVE
from agentrt.errors import DependencyFailedError
from agentrt.strategy import Branch, Interruptible, Strategy
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.places import SIDES, squared, steps_apart
from agentrt_examples.miner.rules import ITEMS, MOBS
from agentrt_examples.miner.strategies.acting import begins_again, fails
from agentrt_examples.miner.strategies.needs import Be, Carry, Collect, Feed, Recover, Survive, have
from agentrt_examples.miner.strategies.reckoning import walking
from agentrt_examples.miner.times import EAT_TICKS, RATE, STRIKE_TICKS
from agentrt_examples.miner.vitals import HEALING, PULSE, WELL_FED

if TYPE_CHECKING:
    from agentrt.strategy import Ask, StrategyContext
    from agentrt_examples.miner.legs import Miner
    from agentrt_examples.miner.mobs import Creature

__all__ = ["Eat", "FetchLost", "Fight", "Hunt", "Provision", "Rest", "RunAway"]

_FOODS = tuple(sorted((kind for kind in ITEMS.values() if kind.food), key=lambda kind: (-kind.food, kind.name)))
_A_WOUND = 2.0  # seconds that a point of health is worth
_CHASES = 40
_SEARCHES = 5  # parcels
_HERDS = "herds"  # the map of parcels that were searched for animals
_KINDS = 2  # other kinds of food that are tried
_RUN = 12  # blocks
_UP = 2.0  # seconds for a block of a way up through rock
_LOOKING = 45.0  # seconds until an animal is seen


class FetchLost(Strategy):
    """Go back to where one died, and pick up what lies there."""

    provides = Collect
    flags = (MOVE,)
    reads = ("inventory", "place")
    patience = 600.0

    def foresee(self, ask: Ask, wanted: Collect) -> Iterable[Branch]:
        miner: Miner = ask.entity
        missing = wanted.count - have(ask, wanted.item)
        found = [
            place for where, place, left in miner.lost if where == miner.where and left.get(wanted.item, 0) >= missing
        ]
        if not found:
            ask.cannot("it has lost none here")
        return (Branch(cost=walking(ask, found[-1])),)

    @fails
    async def run(self, ctx: StrategyContext, wanted: Collect) -> int:
        miner: Miner = ctx.entity
        where, place, left = next(one for one in miner.lost[::-1] if one[0] == miner.where and wanted.item in one[2])
        try:
            await miner.go(place)
        finally:
            if miner.place == place or ctx.ask.is_met(wanted):
                miner.lost = [one for one in miner.lost if one != (where, place, left)]
        return miner.inventory.count(wanted.item)


class Eat(Strategy):
    """Eat until one is not hungry: what one has, or else what is had the soonest."""

    provides = Feed
    reads = ("inventory", "vitals")

    def foresee(self, ask: Ask, wanted: Feed) -> Iterable[Branch]:
        return (Branch(cost=EAT_TICKS / RATE, needs=(Carry(3),)),)

    @fails
    async def run(self, ctx: StrategyContext, wanted: Feed) -> None:
        miner: Miner = ctx.entity
        while miner.vitals.is_hungry:
            await ctx.solve(Carry(3))
            await miner.eat(best_food(miner))


def best_food(miner: Miner) -> str:
    """The best food that it carries.

    Args:
        miner: who has some.
    """
    return next(kind.name for kind in _FOODS if miner.inventory.count(kind.name))


class Provision(Strategy):
    """Have food: the kind that is had the soonest."""

    provides = Carry
    reads = ("inventory", "memory", "place")

    def foresee(self, ask: Ask, wanted: Carry) -> Iterable[Branch]:
        return (Branch(needs=(self._best(ask, wanted),)),)

    @staticmethod
    def _best(ask: Ask, wanted: Carry) -> Collect:
        missing = max(1, wanted.points - sum(kind.food * have(ask, kind.name) for kind in _FOODS))
        options = [Collect(kind.name, have(ask, kind.name) + ceil(missing / kind.food)) for kind in _FOODS]
        return min(options, key=ask.cost)

    async def run(self, ctx: StrategyContext, wanted: Carry) -> None:
        for left in range(_KINDS, -1, -1):
            try:
                await ctx.solve(self._best(ctx.ask, wanted))
            except DependencyFailedError:
                if not left:
                    raise  # else another kind may be the better one now
            else:
                break


class Hunt(Strategy):
    """Hunt the animals that leave it when they die, the nearest that was seen first."""

    provides = Collect
    interruption = Interruptible.PAUSE
    flags = (MOVE,)
    reads = ("inventory", "memory", "place")
    patience = 900.0

    def foresee(self, ask: Ask, wanted: Collect) -> Iterable[Branch]:
        kinds = [kind for kind in MOBS.values() if not kind.is_hostile and wanted.item in _leavings(kind.name)]
        if not kinds:
            ask.cannot("no animal leaves it")
        miner: Miner = ask.entity
        prey = self._nearest(miner, wanted.item)
        missing = max(1, wanted.count - have(ask, wanted.item))
        chase = kinds[0].health * STRIKE_TICKS / RATE
        seconds = ceil(missing / 2) * (chase + 8.0)
        if prey is None:
            return (Branch(cost=seconds + miner.depth * _UP + _LOOKING, needs=(Be(kinds[0].where),)),)
        return (Branch(cost=seconds + walking(ask, prey.place)),)

    @staticmethod
    def _nearest(miner: Miner, item: str) -> Creature | None:
        seen = [
            (steps_apart(place, miner.place), one.id or 0, one)
            for one, place in miner.creatures.items()
            if miner.is_here(one) and item in _leavings(one.kind)
        ]
        return min(seen, key=lambda entry: entry[:2])[2] if seen else None

    @begins_again
    async def run(self, ctx: StrategyContext, wanted: Collect) -> int:
        miner: Miner = ctx.entity
        searches = 0
        while miner.inventory.count(wanted.item) < wanted.count:
            prey = self._nearest(miner, wanted.item)
            if prey is not None:
                await chase(miner, prey)
                continue
            searches += 1
            if searches > _SEARCHES:
                ctx.fail(f"no animal was seen in {_SEARCHES} parcels")
            await self._search(ctx, miner, wanted.item)
        return miner.inventory.count(wanted.item)

    async def _search(self, ctx: StrategyContext, miner: Miner, item: str) -> None:
        """Look into one more parcel; herds move, and so a map that is full is begun anew."""
        await ctx.solve(Be(next(kind.where for kind in MOBS.values() if item in _leavings(kind.name))))
        column = miner.chart.unexplored(miner.place, _HERDS)
        if column is None:
            miner.chart.parcels.pop(_HERDS)
            ctx.fail("there are no animals as far as it went")
        try:
            await miner.travel(*column, lambda: self._nearest(miner, item) is not None)
        except CannotAct as fault:
            if fault.reason == "died":
                raise
        miner.chart.explore(*column, _HERDS)


class Rest(Strategy):
    """Stand still until one is well again; being well fed is what heals."""

    provides = Recover
    reads = ("inventory", "vitals")
    patience = 240.0

    def foresee(self, ask: Ask, wanted: Recover) -> Iterable[Branch]:
        vitals = ask.entity.vitals
        seconds = max(0, wanted.health - vitals.health) * PULSE * HEALING / RATE
        seconds += max(0, vitals.effects.get(wanted.effect, 0) - ask.clock.tick) / RATE
        needs = (Carry(4),) if vitals.food < WELL_FED and vitals.health < wanted.health else ()
        return (Branch(cost=seconds, needs=needs),)

    @fails
    async def run(self, ctx: StrategyContext, wanted: Recover) -> None:
        miner: Miner = ctx.entity
        while not ctx.ask.is_met(wanted):
            if miner.vitals.food < WELL_FED and miner.vitals.health < wanted.health:
                await ctx.solve(Carry(4))
                await miner.eat(best_food(miner))
            else:
                await ctx.sleep_ticks(PULSE)


class Fight(Strategy):
    """Strike back until it is dead. Whoever would not live to see that cannot."""

    provides = Survive
    flags = (MOVE,)
    reads = ("inventory", "vitals", "place")
    patience = 60.0

    def foresee(self, ask: Ask, wanted: Survive) -> Iterable[Branch]:
        miner: Miner = ask.entity
        enemy: Creature = wanted.enemy
        damage = max((ITEMS[item].damage for item in miner.stock), default=1)
        ticks = ceil(enemy.health / damage) * STRIKE_TICKS
        wounds = (ticks // enemy.rules.pause + 1) * enemy.rules.damage
        if wounds >= miner.vitals.health:
            ask.cannot(f"{enemy.name} would win")
        return (Branch(cost=ticks / RATE + wounds * _A_WOUND, label=enemy.kind),)

    @fails
    async def run(self, ctx: StrategyContext, wanted: Survive) -> None:
        await chase(ctx.entity, wanted.enemy)


class RunAway(Strategy):
    """Run until it has lost one."""

    provides = Survive
    flags = (MOVE,)
    reads = ("vitals", "place")
    cost = 25.0
    patience = 60.0

    @fails
    async def run(self, ctx: StrategyContext, wanted: Survive) -> None:
        miner: Miner = ctx.entity
        enemy: Creature = wanted.enemy
        ways = [(side_x * _RUN, side_z * _RUN) for side_x, side_z in SIDES]
        here = miner.place
        ways.sort(key=lambda way: -squared((here[0] + way[0], here[1], here[2] + way[1]), enemy.place))
        for x, z in ways:
            try:
                await miner.travel(here[0] + x, here[2] + z, lambda: miner.is_rid_of(enemy))
            except CannotAct as fault:
                if fault.reason == "died":
                    raise
            if miner.is_rid_of(enemy):
                return
        ctx.fail("it is still there")


def _leavings(kind: str) -> tuple[str, ...]:
    return tuple(drop.item for drop in MOBS[kind].drops)


async def chase(miner: Miner, prey: Creature) -> None:
    """Go after a creature and strike it until it is dead or out of sight.

    Args:
        miner: who does.
        prey: the creature.

    Raises:
        CannotAct: the miner died.
    """
    for _ in range(_CHASES):
        if not miner.is_here(prey):
            break
        try:
            if steps_apart(prey.place, miner.place) > 2:
                where = miner.creatures.get(prey, prey.place)
                await miner.go(where, lambda: steps_apart(prey.place, miner.place) <= 2)
            if await miner.strike(prey):
                return
        except CannotAct as fault:
            if fault.reason == "died":
                raise
            miner.look()
            if steps_apart(prey.place, miner.place) > 2 and miner.creatures.get(prey) != prey.place:
                break
    miner.creatures.pop(prey, None)
