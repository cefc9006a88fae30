"""Who lives on the frontier: caravans that buy, carry and sell, and bands that rob them.

A caravan is in a village or on a road. In a village it sells what it carries, buys what the next village pays best for,
and sets out; what villages across a border pay it knows from the halo, as it was at the last barrier. One that arrives
across a border waits there until its shard has changed. A band robs a caravan of the village where it is, or moves on.
"""

from __future__ import annotations

from typing import Any, Protocol

from agentrt import TOP, Action, ActionArgs, Agent, Context, Entity
from agentrt.kernel import Stream
from agentrt.shards import Shard
from examples.frontier.chart import Chart

__all__ = ["Land", "Traveler", "band", "caravan", "keep_away"]

_LOAD = 4  # what a caravan carries at most
_WARY = 200  # ticks for which a caravan stays away from where others were robbed


class Land(Protocol):
    """The country in which they travel, as far as they know it."""

    shard: Shard
    chart: Chart
    strip: range
    road: int

    def trade(self, traveler: Traveler, random: Stream, most: int) -> None: ...

    def next_village(self, traveler: Traveler, random: Stream) -> int: ...

    def leave(self, traveler: Traveler, goal: int, ticks: int) -> None: ...

    def arrive(self, agent: Agent[Traveler], village: int) -> None: ...

    def rob(self, robber: Traveler, random: Stream) -> bool: ...


class Traveler(Entity):
    """A caravan or a band, and what it has."""

    def __init__(self, kind: str, name: str, country: Land, village: int) -> None:
        super().__init__(kind, name=name)
        self.country: Land = country
        self.village: int = village  # where it is, or where its road leads
        self.gold: int = 20 if kind == "caravan" else 0
        self.good: int = 0  # what it carries, and how much of it
        self.load: int = 0
        self.has_traded: bool = False
        self.road: tuple[int, int, int] | None = None  # to which village, from which tick to which: it is drawn
        self.wary: dict[int, int] = {}  # villages where others were robbed, and until when it keeps away

    @property
    def is_here(self) -> bool:
        """Whether it is in a village of this shard, and has not come to one across the border."""
        return self.village in self.country.strip

    def as_json(self) -> dict[str, Any]:
        """What it takes along to another shard."""
        return {
            "kind": self.kind,
            "village": self.village,
            "gold": self.gold,
            "good": self.good,
            "load": self.load,
            "wary": list(map(list, self.wary.items())),
        }

    def read(self, state: dict[str, Any]) -> None:
        """Have again what it took along."""
        self.gold, self.good, self.load = state["gold"], state["good"], state["load"]
        self.wary = {village: until for village, until in state["wary"]}  # noqa: C416 - rows are lists


class Trade(Action):
    """Sell what it carries, and buy what the next village pays best for."""

    does = TOP
    utility = 0.8

    async def think(self, ctx: Context[Traveler], args: ActionArgs) -> None:
        if ctx.entity.is_here and not ctx.entity.has_traded:
            ctx.set_think_output()

    async def run(self, ctx: Context[Traveler], args: ActionArgs) -> None:
        await ctx.sleep_ticks(2 + ctx.random.below(4))
        me = ctx.entity
        me.country.trade(me, ctx.random, _LOAD)
        me.has_traded = True


class Travel(Action):
    """Take the road to the next village."""

    does = TOP
    utility = 0.5

    async def think(self, ctx: Context[Traveler], args: ActionArgs) -> None:
        if ctx.entity.is_here:
            ctx.set_think_output()

    async def run(self, ctx: Context[Traveler], args: ActionArgs) -> None:
        me, country = ctx.entity, ctx.entity.country
        goal = country.next_village(me, ctx.random)
        ticks = country.road + ctx.random.below(country.road)
        country.leave(me, goal, ticks)
        await ctx.sleep_ticks(ticks)
        country.arrive(ctx.agent, goal)


class Prowl(Action):
    """Rob a caravan of the village, or move on."""

    does = TOP
    utility = 0.5

    async def think(self, ctx: Context[Traveler], args: ActionArgs) -> None:
        if ctx.entity.is_here:
            ctx.set_think_output()

    async def run(self, ctx: Context[Traveler], args: ActionArgs) -> None:
        me, country = ctx.entity, ctx.entity.country
        await ctx.sleep_ticks(country.road)
        if country.rob(me, ctx.random):
            return
        goal = ctx.random.choice(country.chart.neighbors(me.village))
        country.leave(me, goal, country.road)
        await ctx.sleep_ticks(country.road)
        country.arrive(ctx.agent, goal)


class WaitAtBorder(Action):
    """Wait until the shard has changed."""

    does = TOP
    utility = 0.1

    async def run(self, ctx: Context[Traveler], args: ActionArgs) -> None:
        await ctx.sleep_ticks(ctx.entity.country.shard.window)


def caravan(name: str, country: Land, village: int) -> Agent[Traveler]:
    """A caravan in a village."""
    return Agent(Traveler("caravan", name, country, village), actions=[Trade, Travel, WaitAtBorder])


def band(name: str, country: Land, village: int) -> Agent[Traveler]:
    """A band of robbers in a village."""
    return Agent(Traveler("band", name, country, village), actions=[Prowl, WaitAtBorder])


def keep_away(traveler: Traveler, village: int, tick: int) -> None:
    """Keep away from a village for a while."""
    traveler.wary = {one: until for one, until in traveler.wary.items() if until > tick}
    traveler.wary[village] = tick + _WARY
