"""What the people of the village can be asked for, and how they go about it: strategies of every kind, good and bad.

Needs lead in circles, strategies fail at random, raise, hang, lie, are interrupted in each of the ways that there are,
hold control flags, execute actions, and are loaded and taken away while they run.
"""

from __future__ import annotations

from agentrt import LOOK, MOVE, CancelScope, move_on_after, park, sleep_ticks
from agentrt.errors import ActivityAbortedError, DependencyFailedError, NotRunningError
from agentrt.strategy import Branch, Dependency, Interruptible, Opportunity, Order, Strategy, Trigger, strategy


class Fetch(Dependency[int], activity="seek:fetch"):
    """So many of a thing are in the bag."""

    item: str
    count: int = 1

    def is_met(self, ask):
        return ask.CURRENT.goods.get(self.item, 0) >= self.count

    def assume(self, state):
        state.goods = {**state.goods, self.item: self.count}

    def guard_key(self):
        return self.item


class Spot(Dependency[str], activity="seek:spot"):
    """A thing was seen."""

    item: str


class Tool(Dependency[str], activity="seek:tool"):
    """There is a tool; who needs one may need another first."""

    kind: str


def seen(ctx, item):
    ctx.entity.goods[item] = ctx.entity.goods.get(item, 0) + 1 + ctx.random.below(3)


class Gather(Strategy):
    """Spots it, goes there, executes an action of the village, and starts over when something came up."""

    provides = Fetch
    flags = {MOVE}

    def estimate(self, ask, wanted):
        return 2.0 + ask.cost(Spot(wanted.item))

    async def run(self, ctx, wanted):
        while ctx.entity.goods.get(wanted.item, 0) < wanted.count:
            await ctx.solve(Spot(wanted.item))
            try:
                await ctx.sleep_ticks(1 + ctx.random.below(3))
            finally:
                with CancelScope(shield=True):
                    await sleep_ticks(1)
            if ctx.random.below(4) == 0:
                ctx.fail("it was not there")
            seen(ctx, wanted.item)
        return wanted.count


class Craft(Strategy):
    """Needs tools and things, in any order, and stands still when something came up."""

    provides = Fetch
    interruption = Interruptible.PAUSE

    def foresee(self, ask, wanted):
        return [
            Branch(3, 1.0, (Tool("knife"), Fetch("wood"))),
            Branch(1, 4.0, (Tool("knife"), Fetch("wood"), Fetch("stone"))),
        ]

    async def run(self, ctx, wanted):
        await ctx.solve_if_worth(Tool("lamp"), [Spot(wanted.item)])
        await ctx.solve_all([Tool("knife"), Fetch("wood")], ctx.random.choice(tuple(Order)))
        await ctx.sleep_ticks(2)
        ctx.entity.goods[wanted.item] = wanted.count

    def interrupted(self, ctx, interruption):
        if ctx.random.below(6) == 0:
            ctx.fail("it lost its place")
        if ctx.random.below(6) == 0:
            ctx.restart("once more")


class Dig(Strategy):
    """Executes what may abort; whatever runs below it begins again when something came up."""

    provides = (Fetch, Tool)
    cost = 9.0
    interruption = Interruptible.TREE

    async def run(self, ctx, wanted):
        try:
            await ctx.execute(ctx.random.choice(("village:dig", "village:carry", "village:haul")))
        except ActivityAbortedError:
            await ctx.sleep_ticks(1)
        if type(wanted) is Fetch:
            seen(ctx, wanted.item)


class Look(Strategy):
    """Cannot be disturbed."""

    provides = Spot
    cost = 1.0
    flags = {LOOK}
    interruption = Interruptible.WAIT

    async def run(self, ctx, wanted):
        await ctx.sleep_ticks(ctx.random.below(4))
        return wanted.item


@strategy(Spot, cost=0.5)
async def remember(ctx, wanted):
    """Mostly in vain, and sometimes with an error."""
    if ctx.random.below(3):
        ctx.fail("forgotten")
    if ctx.random.below(3) == 0:
        raise ValueError("confused")


@strategy(Tool, cost=3.0)
async def whittle(ctx, wanted):
    """A knife takes wood, and wood a knife; it asks for it itself, or its agent does beside the plan."""
    await ctx.random.choice((ctx, ctx.agent)).gameplay.fetch("wood", 1)
    await ctx.sleep_ticks(1)
    return wanted.kind


@strategy(Tool, cost=20.0, interruption=Interruptible.PAUSE)
async def borrow(ctx, wanted):
    """Always possible."""
    with move_on_after(0.1):
        await ctx.signals["bell"].wait()
    await ctx.sleep_ticks(2)


@strategy(Fetch, cost=0.1, patience=0.3)
async def dream(ctx, wanted):
    """Hangs."""
    await park()


@strategy(Fetch, cost=0.2)
async def boast(ctx, wanted):
    """Lies."""


TRIGGERS = (
    Trigger(name="rain", on="rain", solve=Spot("roof"), priority=1),
    Trigger(name="bell", on="bell", solve=lambda value: Tool("pick") if value is None else None, again_after=0.3),
    Trigger(name="bare", when=lambda agent: not agent.entity.goods, every=0.25, solve=Fetch("food"), priority=2),
)
BY_THE_WAY = Opportunity(
    name="by the way",
    find=lambda agent: [(Fetch(item), 0.1) for item in ("stone", "wood") if item not in agent.entity.goods],
    every=0.2,
)
STRATEGIES = (Gather, Craft, Dig, Look, remember, whittle, borrow)
MORE = (dream, boast)
WANTED = (Fetch("ore"), Fetch("wood", 2), Tool("pick"), Tool("knife"), Spot("ore"), Fetch("ore", 40))


async def ask(agent, wanted, seconds):
    """The world asks somebody for a thing, with a limit."""
    try:
        with move_on_after(seconds):
            await agent.gameplay.solve(wanted)
    except (DependencyFailedError, ActivityAbortedError, NotRunningError):
        pass
