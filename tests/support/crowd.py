"""A small crowd with a broken agent in its middle: its records must be the same as without that one, on every host.

The crowd shares with the broken one all that can be shared: action classes, a signal, the clock.
"""

from __future__ import annotations

import math

import pytest

from agentrt import LOOK, MOVE, PREV, TOP, Action, ActionArgs, CompoundAction, Signal, ThinkOutput, next_tick, step

TICKS = 60


# --- the crowd ------------------------------------------------------------------------------------------------------------


class World:
    def __init__(self):
        self.bell = Signal()

    async def ring(self):
        while True:
            for _ in range(7):
                await next_tick()
            self.bell.emit("ding")


class Wander(Action):
    """Walks for a time that is drawn."""

    does = TOP
    utility = 0.2
    flags = {MOVE}

    async def run(self, ctx, args):
        await ctx.sleep_ticks(ctx.random.below(5) + 1)


class Pray(Action):
    """Answers the bell."""

    does = TOP
    utility = 0.8

    async def think(self, ctx, args):
        await ctx.entity.world.bell.wait()
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)


class Trade(CompoundAction):
    does = TOP
    utility = (0.1, 0.6)
    steps = [step("t:find"), step("t:carry", load=PREV.load)]

    async def think(self, ctx, args):
        while True:
            ctx.set_utility(ctx.random.random())
            ctx.set_think_output()
            await ctx.sleep_ticks(4)


class Find(Action):
    does = "t:find"
    utility = 0.5

    class Output(ThinkOutput):
        load: int

    async def think(self, ctx, args):
        await ctx.sleep_ticks(ctx.random.below(3))
        ctx.set_think_output(load=ctx.random.below(100))


class Carry(Action):
    does = "t:carry"
    utility = 0.5
    flags = {MOVE, LOOK}

    class Args(ActionArgs):
        load: int

    async def run(self, ctx, args):
        ctx.set_debug_progress(f"carries {args.load}")
        await ctx.sleep_ticks(3)


CROWD = [Wander, Pray, Trade, Find, Carry]


@pytest.fixture
def world_of(play, being):
    """Runs the crowd, with a broken agent in its middle or without; returns the traces: of the others, of the broken one."""

    def run(broken=None, disturb=None):
        runtime = play.runtime(seed=11)
        world = World()
        runtime.spawn(world.ring)
        records = []
        runtime.trace.listen(records.append)
        agents = [being(CROWD, name) for name in ("anna", "bert")]
        if broken is not None:
            agents.append(being([*broken, *CROWD], "broken"))
        agents += [being(CROWD, name) for name in ("cora", "dora")]
        for agent in agents:
            agent.entity.world = world
            agent.entity.play = play
            runtime.add(agent)
        if disturb is not None:
            runtime.every_tick(lambda: disturb(runtime, agents[2]))

        async def main():
            await runtime.run(TICKS, speed=math.inf, blocking_ms=None)
            await runtime.aclose()

        play(main)
        others = [record.line() for record in records if record.agent and not record.agent.startswith("broken")]
        return others, [record for record in records if record.agent == "broken"]

    return run


@pytest.fixture(scope="module")
def traces():
    """The trace of the crowd alone, by host."""
    return {}


@pytest.fixture
def unchanged(world_of, traces, play, logged):
    """Checks the crowd beside a broken agent, and returns the events of the broken one."""

    def check(*broken, disturb=None):
        if play.host not in traces:
            traces[play.host], _ = world_of()
        alone = traces[play.host]
        assert len(alone) > 500
        assert alone == traces.get("plain", alone)  # and it is the same on every host
        beside, records = world_of(broken, disturb)
        assert beside == alone
        return [record.event.value for record in records]

    return check


# --- the broken one -------------------------------------------------------------------------------------------------------


class Broken(Action):
    does = TOP
    utility = 0.95


def breaks():
    raise ValueError("broken")
