"""Small worlds for chaos, each with every kind of await that a strand of its kind can have."""

from __future__ import annotations

import asyncio

from agentrt import MOVE, TOP, Action, Agent, CancelScope, Entity, Manifest, Queue, Registry, sleep_ticks
from agentrt.behavior import Behavior, BehaviorTree, decider, group
from agentrt.goals import Goal, GoalSelector
from agentrt.selection import LeafBehavior, SelectionLibrary
from agentrt.strategy import Dependency, strategy


class Walk(Action):
    """Thinks until it is ready, walks, and cleans up for a tick."""

    does = TOP
    utility = 0.5

    async def think(self, ctx, args):
        await ctx.sleep_ticks(1)
        ctx.set_think_output()

    async def run(self, ctx, args):
        try:
            await ctx.sleep_ticks(3)
        finally:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(1)


def walkers(*names):
    """A scenario of some who only walk, and have nothing to do with each other."""

    def scenario(runtime):
        for name in names:
            runtime.add(Agent(Entity(name), actions=[Walk]))

    return scenario


# --- one strand of each kind ------------------------------------------------------------------------------------------


class Wish(Goal):
    name = "Wish"

    def __init__(self):
        self.set_flags({MOVE})

    def can_use(self):
        return True

    async def run(self):
        await sleep_ticks(4)


def with_goal(runtime):
    selector = GoalSelector()
    selector.add_goal(1, Wish())
    runtime.add(Agent(Entity("ann"), drivers=[selector]))


class Urge(Behavior):
    async def run(self, at):
        await sleep_ticks(4)


def with_behavior(runtime):
    tree = BehaviorTree(group("ROOT")[decider("GO", Urge("URGE"))])
    runtime.add(Agent(Entity("ann"), drivers=[tree.memory()]))


class Stand(LeafBehavior):
    async def run(self, ai):
        await sleep_ticks(4)


def with_leaf(runtime):
    xml = '<SelectionTree><Variables/><Priority name="R"><Leaf name="Stand"/></Priority></SelectionTree>'
    tree = SelectionLibrary.from_texts({"t.xml": xml})["t"]
    runtime.add(Agent(Entity("ann"), drivers=[tree.state({"Stand": Stand})]))


def with_observer(runtime):
    async def watch(agent):
        while True:
            await sleep_ticks(2)

    pack = {"observers": ["m:observers:watch"]}
    registry = Registry([Manifest("m", {"observers:watch": watch, "ai_pack:p": pack})])
    runtime.add(Agent(Entity("ann"), packs=["m:ai_pack:p"], registry=registry))


def with_performance(runtime):
    agent = runtime.add(Agent(Entity("ann"), actions=[Walk], top="test:nothing"))

    async def ask():
        await agent.perform(TOP)

    runtime.spawn(ask)


class Get(Dependency[None], activity="test:get"):
    what: str


@strategy(Get, cost=1)
async def get(ctx, wanted):
    """Needs one other thing, and takes its time."""
    await ctx.sleep_ticks(1)
    if wanted.what == "all":
        await ctx.solve(Get("a part"))
    await ctx.sleep_ticks(1)


def with_strategy(runtime):
    agent = Agent(Entity("ann"), top="test:nothing")
    agent.gameplay.add_strategy(get)
    runtime.add(agent)

    async def ask():
        await agent.gameplay.get("all")

    runtime.spawn(ask)


def with_plan(runtime):
    walkers("ann")(runtime)


class Juggle(Walk):
    """Thinks and runs with several waits at a time; under asyncio in tasks, too."""

    does = TOP
    utility = 0.5

    async def think(self, ctx, args):
        await ctx.first(ctx.sleep_ticks(1), ctx.sleep_ticks(2))
        ctx.set_think_output()

    async def run(self, ctx, args):
        balls = Queue()
        balls.put_nowait("ball")
        if ctx.agent.runtime.host != "asyncio":  # a nursery of trio is torn by what chaos raises in it
            await ctx.all(super().run(ctx, args), ctx.first(ctx.execute("catch"), ctx.sleep_ticks(2)), balls.get())
            return
        async with asyncio.TaskGroup() as hands:
            hands.create_task(ctx.execute("catch"))
            hands.create_task(super().run(ctx, args))
            await ctx.first(balls.get(), ctx.sleep_ticks(2))
            await asyncio.gather(ctx.sleep_ticks(1), asyncio.sleep(0.01))


class Catch(Walk):
    does = "catch"
    utility = 0.5


def with_several_waits(runtime):
    runtime.add(Agent(Entity("ann"), actions=[Juggle, Catch]))


KINDS = {
    "several": with_several_waits,
    "plan": with_plan,
    "goal": with_goal,
    "behavior": with_behavior,
    "leaf": with_leaf,
    "observer": with_observer,
    "performance": with_performance,
    "strategy": with_strategy,
}
