"""A small mine for tests of look-ahead: a bag, a place, and dependencies that say what holds when they are met,
and a mine of which three things may come."""

from __future__ import annotations

from agentrt import Entity
from agentrt.strategy import Branch, Dependency, Strategy

__all__ = ["PLAN", "At", "Digger", "Have", "Look", "Walk", "mine", "shop", "tools", "way_to"]


class Digger(Entity):
    """Somebody with a bag, at a place; whoever changes them says so."""

    def __init__(self, **bag):
        super().__init__("digger")
        self.bag = bag
        self.place = "home"
        self.gameplay = None

    def put(self, **items):
        self.bag = {**self.bag, **{name: self.bag.get(name, 0) + count for name, count in items.items()}}
        self.tell("bag")

    def go(self, place):
        self.place = place
        self.tell("place")

    def tell(self, topic):
        if self.gameplay is not None:
            self.gameplay.changed(topic)


class Have(Dependency[int], activity="mine:have"):
    """So many of an item in the bag."""

    reads = ("bag",)

    item: str
    count: int = 1

    def is_met(self, ask):
        return ask.CURRENT.bag.get(self.item, 0) >= self.count

    def assume(self, state):
        state.bag = {**state.bag, self.item: max(self.count, state.bag.get(self.item, 0))}

    def guard_key(self):
        return self.item


class At(Dependency[None], activity="mine:at"):
    """Be at a place."""

    reads = ("place",)

    where: str

    def is_met(self, ask):
        return ask.CURRENT.place == self.where

    def assume(self, state):
        state.place = self.where


class Look(Dependency[str], activity="mine:look"):
    """Look around; never met beforehand."""

    what: str = ""


def shop(name, *items, price=1.0, ticks=1, asks=None, **attributes):
    """A strategy that has items, at a price.

    Args:
        name: of the class.
        items: what it has.
        price: in game seconds, or a function of (ask, wanted).
        ticks: how long it takes.
        asks: a list; what it is asked for is noted there.
        attributes: more of the class.
    """

    def estimate(self, ask, wanted):
        if items and wanted.item not in items:
            ask.cannot("it does not have that")
        if asks is not None:
            asks.append(wanted)
        return price(ask, wanted) if callable(price) else price

    async def run(self, ctx, wanted):
        await ctx.sleep_ticks(ticks)
        ctx.entity.put(**{wanted.item: wanted.count - ctx.entity.bag.get(wanted.item, 0)})
        return wanted.count

    body = {"provides": Have, "reads": (), "estimate": estimate, "run": run, **attributes}
    return type(name, (Strategy,), body)


def way_to(name, provides, branches, run=None, reads=("bag",), **attributes):
    """A strategy that foresees branches, and has the needs of the first one solved.

    Args:
        name: of the class.
        provides: the dependency.
        branches: them, or a function of (ask, wanted).
        run: its ``run``; None for the needs of the first branch, and putting what was wanted into the bag.
        reads: topics.
        attributes: more of the class.
    """

    def foresee(self, ask, wanted):
        return branches(ask, wanted) if callable(branches) else branches

    async def first(self, ctx, wanted):
        found = branches(ctx.ask, wanted) if callable(branches) else branches
        for need in found[0].needs:
            await ctx.solve(need)
        await ctx.sleep_ticks(1)
        if isinstance(wanted, Have):
            ctx.entity.put(**{wanted.item: wanted.count})

    body = {"provides": provides, "reads": reads, "foresee": foresee, "run": run or first, **attributes}
    return type(name, (Strategy,), body)


# --- a mine ---------------------------------------------------------------------------------------------------------------


class Walk(Strategy):
    """Six seconds."""

    provides = At
    reads = ("place",)

    def estimate(self, ask, wanted):
        return 6.0

    async def run(self, ctx, wanted):
        await ctx.sleep_ticks(4)
        ctx.entity.go(wanted.where)


def tools(asks=None, ticks=3):
    """Whoever has torches, ropes and picks; its price depends on where one is."""
    return shop(
        "Tools",
        "torch",
        "rope",
        "pick",
        price=lambda ask, wanted: 8.0 if ask.CURRENT.place == "home" else 2.0,
        ticks=ticks,
        asks=asks,
        reads=("place",),
    )


PLAN = [
    Branch(0.25, 10.0, (At("cave"), Have("torch")), label="dark"),
    Branch(0.6, 4.0, (At("cave"), Have("pick")), label="plain"),
    Branch(0.15, 20.0, (At("cave"), Have("rope")), label="deep"),
]


def mine(*asked, sleep=6, ticks=2, branches=PLAN):
    """It has some needs solved, one after the other; what comes of it is told by the entity."""

    async def run(self, ctx, wanted):
        for need in asked:
            await ctx.sleep_ticks(sleep)
            await ctx.solve(need)
        await ctx.sleep_ticks(ticks)
        ctx.entity.put(**{wanted.item: wanted.count})

    def foresee(ask, wanted):
        return branches if wanted.item == "gem" else []

    return way_to("Mine", Have, foresee, run, reads=())
