"""What the miner can be asked for, or needs on its way: the dependencies that its strategies provide.

They are the words in which strategies speak with each other; none of them names a strategy. What ``is_met`` says is
true of the world is what ``assume`` writes for look-ahead: fields of CURRENT that are called like what the miner has
(``stock``: how many of each item; ``uses``: how often tools of a kind can be used; ``where``: the name of its
dimension).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrt.strategy import Dependency
from agentrt_examples.miner.gatherer import Gatherer
from agentrt_examples.miner.places import Place
from agentrt_examples.miner.rules import ITEMS

if TYPE_CHECKING:
    from agentrt.strategy import Ask

__all__ = [
    "Be",
    "Carry",
    "Collect",
    "Feed",
    "Find",
    "Fuel",
    "Reach",
    "Recover",
    "Station",
    "Survive",
    "Tool",
    "have",
    "uses_of",
]


def have(ask: Ask, item: str) -> int:
    """How many of an item are there, or are assumed to be.

    Args:
        ask: the world.
        item: the kind of the item.
    """
    stock: dict[str, int] = ask.CURRENT.stock if ask.is_assumed else ask.entity[Gatherer].stock
    return stock.get(item, 0)


def uses_of(ask: Ask, tool: str, tier: int) -> int:
    """How often tools of a kind can be used, or are assumed to.

    Args:
        ask: the world.
        tool: the kind of tool.
        tier: the least tier.
    """
    uses: dict[str, int] = ask.CURRENT.uses
    return sum(left for item, left in uses.items() if ITEMS[item].tool == tool and ITEMS[item].tier >= tier)


class Collect(Dependency[int], activity="miner:collect"):
    """Have so many of an item. Solving it gives how many there are."""

    item: str
    count: int = 1

    reads = ("inventory",)
    cost = 20.0

    def is_met(self, ask: Ask) -> bool:
        return have(ask, self.item) >= self.count

    def met_value(self, ask: Ask) -> int:
        return have(ask, self.item)

    def assume(self, state: Any) -> None:
        missing = self.count - state.stock.get(self.item, 0)
        if missing > 0:
            state.stock = {**state.stock, self.item: self.count}
            if ITEMS[self.item].wear:
                state.uses = {**state.uses, self.item: state.uses.get(self.item, 0) + missing * ITEMS[self.item].wear}

    def guard_key(self) -> object:
        return self.item


class Tool(Dependency[None], activity="miner:tool"):
    """Have tools of a kind, of a tier at least, that can be used so often."""

    kind: str
    tier: int = 1
    uses: int = 1

    reads = ("inventory",)
    cost = 40.0

    def is_met(self, ask: Ask) -> bool:
        return uses_of(ask, self.kind, self.tier) >= self.uses

    def assume(self, state: Any) -> None:
        have = {item: left for item, left in state.uses.items() if ITEMS[item].tool == self.kind}
        fit = [item for item in ITEMS.values() if item.tool == self.kind and item.tier >= self.tier]
        missing = self.uses - sum(left for item, left in have.items() if ITEMS[item].tier >= self.tier)
        if fit and missing > 0:
            name = fit[0].name
            more = -(-missing // fit[0].wear)
            state.stock = {**state.stock, name: state.stock.get(name, 0) + more}
            state.uses = {**state.uses, name: state.uses.get(name, 0) + more * fit[0].wear}

    def guard_key(self) -> object:
        return self.kind, self.tier


class Find(Dependency[Place], activity="miner:find"):
    """Know where a block of a kind is. Solving it gives the place of the nearest."""

    kind: str

    reads = ("memory",)
    cost = 30.0

    def is_met(self, ask: Ask) -> bool:
        return not ask.is_assumed and bool(ask.entity[Gatherer].known(self.kind))

    def met_value(self, ask: Ask) -> Place:
        found: Place = ask.entity[Gatherer].known(self.kind)[0]
        return found


class Reach(Dependency[None], activity="miner:reach"):
    """Have a block within reach of one's hands."""

    place: Place

    reads = ("place",)
    cost = 5.0

    def is_met(self, ask: Ask) -> bool:
        return bool(ask.entity[Gatherer].reaches(self.place))


class Station(Dependency[Place], activity="miner:station"):
    """Have a crafting table or a furnace within reach. Solving it gives its place."""

    kind: str

    reads = ("place", "inventory")
    cost = 8.0

    def is_met(self, ask: Ask) -> bool:
        return not ask.is_assumed and ask.entity.within_reach(self.kind) is not None

    def met_value(self, ask: Ask) -> Place:
        found: Place = ask.entity.within_reach(self.kind)
        return found


class Fuel(Dependency[tuple[str, int]], activity="miner:fuel"):
    """Have something that burns long enough. Solving it gives what to burn, and how many of it."""

    pieces: int

    cost = 20.0


class Be(Dependency[None], activity="miner:be"):
    """Be in a dimension."""

    where: str

    reads = ("place",)
    cost = 60.0

    def is_met(self, ask: Ask) -> bool:
        return bool(ask.CURRENT.where == self.where)

    def assume(self, state: Any) -> None:
        state.where = self.where


class Carry(Dependency[None], activity="miner:carry"):
    """Carry so many points of food."""

    points: int

    reads = ("inventory",)
    cost = 30.0

    def is_met(self, ask: Ask) -> bool:
        return sum(kind.food * have(ask, name) for name, kind in ITEMS.items() if kind.food) >= self.points


class Feed(Dependency[None], activity="miner:feed"):
    """Not be hungry."""

    reads = ("vitals",)
    cost = 10.0

    def is_met(self, ask: Ask) -> bool:
        return not ask.entity.vitals.is_hungry


class Recover(Dependency[None], activity="miner:recover"):
    """Have so much health, and be rid of an effect."""

    health: int = 1
    effect: str = ""

    reads = ("vitals",)
    cost = 20.0

    def is_met(self, ask: Ask) -> bool:
        vitals = ask.entity.vitals
        return vitals.health >= self.health and not vitals.has(self.effect)


class Survive(Dependency[None], activity="miner:survive"):
    """Be rid of somebody who attacks."""

    enemy: Any

    reads = ("place",)
    cost = 5.0

    def is_met(self, ask: Ask) -> bool:
        return bool(ask.entity.is_rid_of(self.enemy))
