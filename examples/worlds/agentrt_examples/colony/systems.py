"""What happens in the world by itself, tick by tick: hunger, growth, looking around, wolves at dusk, trade at dawn.

``Systems.tick`` is called once in every tick before anybody thinks, in a fixed order. Each part does its work
every few ticks only, since none of it needs to be finer, and each says how often. Nothing here decides for an
agent: it changes components, and their signals wake whoever thinks about them.
"""

from __future__ import annotations

from agentrt import Entity
from agentrt_examples.colony.bodies import Fear, Health, Needs, Position
from agentrt_examples.colony.buffs import Medicine
from agentrt_examples.colony.captain import Captain
from agentrt_examples.colony.daylight import DAWN, DUSK
from agentrt_examples.colony.foreman import Foreman
from agentrt_examples.colony.goods import Goods
from agentrt_examples.colony.growing import Plot
from agentrt_examples.colony.harm import heal
from agentrt_examples.colony.nests import HATCHING, Nest
from agentrt_examples.colony.population import Population
from agentrt_examples.colony.setting import Setting
from agentrt_examples.colony.terrain import Cell
from agentrt_examples.colony.town import Town

__all__ = ["Systems"]

_NEEDS_EVERY = 10
_MENDS_EVERY = 50
_GROWTH_EVERY = 5
_SIGHT_EVERY = 3
_NESTS_EVERY = 20
_FARTHER = 3
_CRITTERS_AT_LEAST = 6

# All these are for one part of the ground.
# What is kept of each kind when the trader comes; the rest is sold, so that the colony does not drown in it.
_KEPT = (("picture", 12), ("turnip", 60))


class Systems:
    """All systems of a colony.

    Args:
        town: the world.
        population: who lives in it.
        foreman: who issues the town's tasks.
        captain: who commands the soldiers.
        setting: how many come.
    """

    def __init__(
        self, town: Town, population: Population, foreman: Foreman, captain: Captain, setting: Setting | None = None
    ) -> None:
        self._town = town
        self._population = population
        self._foreman = foreman
        self._captain = captain
        self._wolves_at_dusk = (Setting() if setting is None else setting).wolves_at_dusk
        self._medicine = Medicine(lambda: town.clock.tick)
        self._parts = len(town.ground.parts)
        self._trader = Entity("trader", name="the trader")

    def tick(self) -> None:
        """Let one tick of the world pass."""
        tick = self._town.clock.tick
        self._town.effects.end_due()
        if tick % _NEEDS_EVERY == 0:
            self._needs(tick)
        if tick % _GROWTH_EVERY == 0:
            self._grow(tick)
        if tick % _SIGHT_EVERY == 0:
            self._watch()
        if self._town.daylight.time == DUSK:
            self._town.tend_fires()
            self._dusk()
            self._tell_possessed("OnDusk")
        elif self._town.daylight.time == DAWN:
            self._town.tend_fires()
            self._trade()
            self._lay(tick)
            self._tell_possessed("OnDawn")
        if tick % 200 == 0:
            self._births()
        if tick % _NESTS_EVERY == 0:
            self._hatch(tick)
        self._medicine.look_after(self._population.agents)
        self._foreman.tick()
        self._captain.tick()

    def _needs(self, tick: int) -> None:
        dark = self._town.daylight.is_dark
        mends = tick % _MENDS_EVERY == 0
        for entity in self._town.census.find("being"):
            needs, health = entity[Needs], entity[Health]
            if needs.asleep:
                needs.add(satiety=-4, rest=60)
            else:
                needs.add(satiety=-10, rest=-12 if dark else -6)
            if health.is_down:
                heal(self._town, entity, 2)
            elif mends and needs.asleep and health.points < health.most:
                heal(self._town, entity, 1)

    def _grow(self, tick: int) -> None:
        town = self._town
        for entity in town.census.find("plot:planted"):
            plot = entity[Plot]
            if plot.due <= tick:
                plot.advance("planted")
                town.chronicle.note("crops ripened", entity, "is ripe")
        for bush in town.bushes:
            bush.grow(tick, lambda herb: town.census.has(herb, "loose"))

    def _watch(self) -> None:
        seen: dict[str, list[tuple[Cell, Entity]]] = {}  # under each tag that somebody fears
        for entity in self._town.census.find("watchful"):
            fear = entity[Fear]
            feared = seen.get(fear.tag)
            if feared is None:
                found = self._town.census.find(fear.tag)
                feared = seen[fear.tag] = [(other[Position].location, other) for other in found]
            if feared or fear.nearby:
                self._look_around(entity, fear, feared)

    def _look_around(self, entity: Entity, fear: Fear, feared: list[tuple[Cell, Entity]]) -> None:
        column, row = entity[Position].location
        sight, nearby = fear.sight, fear.nearby
        farthest = sight + _FARTHER
        near: list[tuple[int, int]] = []
        for index, ((x, y), other) in enumerate(feared):
            if abs(x - column) > farthest:
                continue  # as nearly always
            distance = abs(x - column) + abs(y - row)
            # Who was noticed is watched a little farther than it was noticed: no start and stop at the edge of sight.
            if distance <= sight or (distance <= farthest and other in nearby):
                near.append((distance, index))
        near.sort()
        fear.notice(tuple([feared[index][1] for _, index in near]), near[0][0] if near else 0)

    def _dusk(self) -> None:
        for _ in range(self._wolves_at_dusk * self._parts - self._town.census.count("wolf")):
            self._population.wolf()

    def _trade(self) -> None:
        for kind, kept in _KEPT:
            # What somebody has reserved is in the middle of a plan.
            goods = [item for item in self._town.census.find(kind) if self._town.leases.holder(item) is None]
            sold = goods[: max(0, len(goods) - kept * self._parts)]
            for item in sold:
                item[Goods].use_up(item)
            if sold:
                self._town.chronicle.note("goods sold", self._trader, f"bought {len(sold)} of kind {kind}")

    def _tell_possessed(self, signal: str) -> None:
        for possession in self._population.possessions.values():
            possession.senses.tell(signal)

    def _lay(self, tick: int) -> None:
        """At dawn every nest that drakes belong to gets an egg, and one that nobody belongs to gets a drake."""
        town = self._town
        for entity in town.census.find("nest"):
            nest = entity[Nest]
            if not nest.kin:
                drake = self._population.drake(entity, town.random.choice(list(town.ground.edge())))
                town.chronicle.note("drakes arrived", drake.entity, "came out of the woods")
            elif nest.lay(tick + HATCHING):
                town.chronicle.note("eggs laid", entity, "has an egg more")

    def _hatch(self, tick: int) -> None:
        for entity in self._town.census.find("nest"):
            if entity[Nest].hatch(tick):
                drake = self._population.drake(entity)
                self._town.chronicle.note("eggs hatched", drake.entity, "crept out of its egg")

    def _births(self) -> None:
        for _ in range(min(self._parts, _CRITTERS_AT_LEAST * self._parts - self._town.census.count("critter"))):
            self._population.born_critter()
