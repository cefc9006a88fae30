"""A country: the villages of one shard, who is in them, and the barter.

This is the part of the world that the library asks for: it exports a traveler that crosses the border, adopts one
that comes, and shows the prices of its border villages. Gold is neither made nor lost: what lies in villages, what
travelers have, what crossed the border and what was sent as tax adds up to the same sum over all shards, always.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentrt import Agent, Runtime
from agentrt.kernel import Stream
from agentrt.shards import Shard
from agentrt.worlds import Value
from examples.frontier.chart import GOODS, Chart
from examples.frontier.landscape import landscape
from examples.frontier.people import Traveler, band, caravan, keep_away

__all__ = ["Country", "measure"]

_FULL = 40  # of a good, in one village
_HARVEST = 20  # ticks in which a village makes one of its good and uses one of each other
_RICH = 120  # gold from which on a village pays tax


class Country:
    """The villages of one shard."""

    def __init__(self, shard: Shard, part: object, *, seed: int, host: str, params: Mapping[str, Value]) -> None:
        assert isinstance(part, dict)
        self.shard: Shard = shard
        self.chart: Chart = Chart(int(params["columns"]), int(params["rows"]), shard.shards)
        self.strip: range = self.chart.strip(shard.number)
        self.road: int = int(params["road"])
        self.caravans: int = int(params["caravans"])
        self.runtime: Runtime = Runtime(seed, host=host)
        self.stocks: dict[int, list[int]] = {
            village: [30 if good == self.chart.makes(village) else 8 for good in range(len(GOODS))]
            for village in self.strip
        }
        self.gold: dict[int, int] = dict.fromkeys(self.strip, 100)
        self.visitors: dict[int, dict[str, Traveler]] = {village: {} for village in self.strip}
        self.counts: dict[str, int] = dict.fromkeys(("trades", "robberies", "warnings", "tax paid", "tax taken"), 0)
        self.carried: int = 0  # gold that went over the border, less what came
        self._borders = self.chart.borders(shard.number)
        self.shard.corner = self.strip[0] // self.chart.rows, 0
        self._begin()
        for number, village in part["caravans"]:
            self._come(self.runtime.add(caravan(f"caravan-{number + 1}", self, village)))
        for number, village in part["bands"]:
            self._come(self.runtime.add(band(f"band-{number + 1}", self, village)))
        self.runtime.rebuild_every(int(params["epoch"]), self.save, self.load)

    def _begin(self) -> None:
        self.runtime.on_input("tax", self._take_tax)
        self.runtime.on_input("warning", self._hear_warning)
        self.runtime.every_tick(self._harvest)
        self.runtime.drawing = lambda: landscape(self.runtime, self.chart, self.strip)

    # --- epochs -------------------------------------------------------------------------------------------------------

    def save(self, runtime: Runtime) -> object:
        """All that it has; who is on the road is in the village from which it came."""
        return {
            "stocks": [self.stocks[village] for village in self.strip],
            "gold": [self.gold[village] for village in self.strip],
            "counts": self.counts,
            "carried": self.carried,
            "travelers": [[agent.name, agent.entity.as_json()] for agent in runtime.agents],
        }

    def load(self, runtime: Runtime, saved: dict[str, Any]) -> None:
        """Have all of it again."""
        self.stocks = dict(zip(self.strip, saved["stocks"], strict=True))
        self.gold = dict(zip(self.strip, saved["gold"], strict=True))
        self.counts, self.carried = saved["counts"], saved["carried"]
        self.visitors = {village: {} for village in self.strip}
        self._begin()
        for name, state in saved["travelers"]:
            self._come(runtime.add(self._traveler(name, state)))

    # --- over the border ----------------------------------------------------------------------------------------------

    def export(self, agent: Agent[Any]) -> object:
        """What a traveler takes along. It was on the road, so it is in no village here."""
        traveler: Traveler = agent.entity
        self.carried += traveler.gold
        return traveler.as_json()

    def adopt(self, name: str, state: object) -> Agent[Traveler]:
        """Have a traveler arrive."""
        assert isinstance(state, dict)
        agent = self._traveler(name, state)
        self.carried -= agent.entity.gold
        self._come(agent)
        return agent

    def _traveler(self, name: str, state: dict[str, Any]) -> Agent[Traveler]:
        make = caravan if state["kind"] == "caravan" else band
        agent = make(name, self, state["village"])
        agent.entity.read(state)
        return agent

    def halo(self) -> Mapping[int, object]:
        """The prices in the villages at the border, for those on its other side."""
        return {
            other: [[village, [self.price(village, good) for good in range(len(GOODS))]] for village in villages]
            for other, villages in self._borders.items()
        }

    # --- travelers ---------------------------------------------------------------------------------------------------

    def _come(self, agent: Agent[Traveler]) -> None:
        traveler = agent.entity
        traveler.has_traded = False
        if traveler.kind == "caravan" and traveler.is_here:  # if not, it is about to cross the border
            self.visitors[traveler.village][agent.name] = traveler

    def leave(self, traveler: Traveler, goal: int, ticks: int) -> None:
        """Take the road out of a village, to another one."""
        traveler.road = goal, self.runtime.tick, self.runtime.tick + ticks
        self.visitors[traveler.village].pop(traveler.name, None)

    def arrive(self, agent: Agent[Traveler], village: int) -> None:
        """Come to a village, of this shard or of another one."""
        agent.entity.village, agent.entity.road = village, None
        if village in self.strip:
            self._come(agent)
        else:
            self.shard.move(agent, self.chart.owner(village))

    def next_village(self, traveler: Traveler, random: Stream) -> int:
        """Where to go: where what it carries is dear, and nobody was robbed of late."""
        tick = self.runtime.tick
        near = self.chart.neighbors(traveler.village)
        safe = [one for one in near if traveler.wary.get(one, 0) <= tick] or near
        if not traveler.load:
            return random.choice(safe)
        known = [(one, price[traveler.good]) for one in safe if (price := self._prices(one)) is not None]
        return random.weighted([one for one, _ in known], [price**2 for _, price in known]) if known else safe[0]

    # --- barter -------------------------------------------------------------------------------------------------------

    def price(self, village: int, good: int) -> int:
        """What a good costs in a village of this country: the dearer, the less of it there is."""
        return 1 + (_FULL - min(self.stocks[village][good], _FULL)) // 4

    def _prices(self, village: int) -> list[int] | None:
        """What all goods cost in a village near by; None if it is across the border and was not seen yet."""
        if village in self.strip:
            return [self.price(village, good) for good in range(len(GOODS))]
        seen = self.shard.halo.get(self.chart.owner(village))
        assert seen is None or isinstance(seen, list)
        return None if seen is None else dict(seen)[village]

    def trade(self, traveler: Traveler, random: Stream, most: int) -> None:
        """Sell all that is carried, as far as the village can pay, and buy what is dear near by."""
        village, stock = traveler.village, self.stocks[traveler.village]
        while traveler.load and self.gold[village] >= (price := self.price(village, traveler.good)):
            self._pay(traveler, village, -price, traveler.good)
        if traveler.load:
            return
        near = [prices for one in self.chart.neighbors(village) if (prices := self._prices(one)) is not None]
        gains = [max(prices[good] for prices in near) - self.price(village, good) for good in range(len(GOODS))]
        traveler.good = random.choice([good for good, gain in enumerate(gains) if gain == max(gains)])
        while traveler.load < most and stock[traveler.good] and traveler.gold >= self.price(village, traveler.good):
            self._pay(traveler, village, self.price(village, traveler.good), traveler.good)
        self.counts["trades"] += 1

    def _pay(self, traveler: Traveler, village: int, price: int, good: int) -> None:
        """Buy one of a good; with a price below 0, sell one."""
        bought = 1 if price > 0 else -1
        traveler.gold -= price
        self.gold[village] += price
        traveler.load += bought
        self.stocks[village][good] -= bought

    def _harvest(self) -> None:
        """Each village makes and uses something now and then; a rich one pays tax to one across the border."""
        for village in range(self.strip.start + self.runtime.tick % _HARVEST, self.strip.stop, _HARVEST):
            stock, own = self.stocks[village], self.chart.makes(village)
            for good in range(len(GOODS)):
                stock[good] = min(stock[good] + 3, _FULL) if good == own else max(stock[good] - 1, 0)
            if self.gold[village] > _RICH:
                self.gold[village] -= 20
                self.counts["tax paid"] += 20
                seat = (village + self.chart.villages // 2) % self.chart.villages
                self.shard.send("tax", to=self.chart.owner(seat), village=seat, gold=20)

    def _take_tax(self, village: int, gold: int) -> None:
        self.gold[village] += gold
        self.counts["tax taken"] += gold

    # --- robbers ------------------------------------------------------------------------------------------------------

    def rob(self, robber: Traveler, random: Stream) -> bool:
        """Rob one of the caravans of the village; it warns two others, wherever they are."""
        here = [one for one in self.visitors[robber.village].values() if one.gold or one.load]
        if not here:
            return False
        victim = random.choice(here)
        robber.gold += victim.gold // 2
        victim.gold -= victim.gold // 2
        victim.load = 0
        self.counts["robberies"] += 1
        for _ in range(2):
            friend = f"caravan-{random.below(self.caravans) + 1}"
            self.shard.send("warning", to=friend, village=robber.village)
        return True

    def _hear_warning(self, to: str, village: int) -> None:
        agent = self.runtime.find(to)
        assert agent is not None
        keep_away(agent.entity, village, self.runtime.tick)
        self.counts["warnings"] += 1


def measure(runtime: Runtime) -> Mapping[str, int | float | str]:
    """What is to be seen of one shard; ``gold`` adds up to the same sum over all shards."""
    country = runtime.game
    assert isinstance(country, Country)
    held = sum(agent.entity.gold for agent in runtime.agents)
    counts = country.counts
    gold = held + sum(country.gold.values()) + country.carried + counts["tax paid"] - counts["tax taken"]
    return {"agents": len(runtime.agents), "gold": gold, **counts}
