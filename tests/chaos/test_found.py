"""What chaos found in the library itself, each as a small world of its own."""

from __future__ import annotations

import asyncio
import math

import pytest

from agentrt import LOOK, TOP, Action, Agent, CancelScope, Entity, Runtime, sleep_ticks
from agentrt.behavior import Behavior, BehaviorTree, decider, group
from agentrt.bridges import DriverAction
from agentrt.goals import Goal, GoalSelector
from agentrt.kernel.kernel import Kernel, Timer
from agentrt.kernel.signals import Event
from agentrt.kernel.strand import outlast
from agentrt.testing import Simulation, check_trace

# --- asyncio's cancellation knows no shields ----------------------------------------------------------------------------


class Slow(Action):
    """Takes three ticks to clean up."""

    does = "test:slow"
    utility = 0.5
    log: list = []

    def start(self, ctx, args):
        self.log.append((ctx.clock.tick, "start"))

    async def run(self, ctx, args):
        try:
            await ctx.sleep_ticks(100)
        finally:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(3)
            self.log.append((ctx.clock.tick, "cleaned up"))

    def stop(self, ctx, args):
        self.log.append((ctx.clock.tick, "stop"))


class SlowUrge(Behavior):
    async def run(self, at):
        try:
            await sleep_ticks(100)
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(3)
            Slow.log.append((at.body.kernel.tick, "cleaned up"))


class Executing(Action):
    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        ctx.entity.task = asyncio.current_task()
        try:
            await ctx.execute("test:slow")
        finally:
            Slow.log.append((ctx.clock.tick, "over"))


class Driving(DriverAction):
    does = TOP
    utility = 0.5

    def make_driver(self, ctx, args):
        ctx.entity.task = asyncio.current_task()
        return BehaviorTree(group("ROOT")[decider("GO", SlowUrge("URGE"))]).memory()

    async def run(self, ctx, args):
        try:
            await super().run(ctx, args)
        finally:
            Slow.log.append((ctx.clock.tick, "over"))


class Being(Entity):
    task = None


async def perform(agent):
    agent.entity.task = asyncio.current_task()
    try:
        await agent.perform("test:slow")
    finally:
        Slow.log.append((agent.runtime.tick, "over"))


@pytest.mark.states(
    "tools: Faults: A cancellation of asyncio's does not cut short the wait for what is being unwound",
    source="design 2, cancellation",
)
@pytest.mark.parametrize("way", ["execute", "perform", "drive"])
def test_a_second_cancellation_does_not_cut_an_unwinding_short(way):
    """A task is cancelled by one library, and again by another one while it waits for what it stops."""
    Slow.log.clear()
    records = []
    actions = {"execute": [Executing, Slow], "perform": [Slow], "drive": [Driving]}[way]

    async def main():
        runtime = Runtime(1, host="asyncio")
        runtime.trace.listen(records.append)
        agent = runtime.add(Agent(Being("ann"), actions=actions))
        if way == "perform":
            runtime.spawn(perform, agent)
        await runtime.run(2, speed=math.inf)
        for _ in range(2):
            agent.entity.task.cancel()
            await runtime.run(1, speed=math.inf)
        await runtime.run(3, speed=math.inf)
        runtime.remove(agent)
        await runtime.aclose()

    asyncio.run(main())
    words = [word for _, word in Slow.log]
    over = words.index("over")
    assert words[over - 1] == ("cleaned up" if way == "drive" else "stop")
    assert Slow.log[over][0] - 2 == 3
    assert [str(one) for one in check_trace(records, "ann")] == []


@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError])
def test_what_is_raised_while_something_is_seen_through_comes_at_the_end(error):
    kernel, event, log = Kernel(), Event(), []

    async def waits():
        try:
            await outlast(lambda: event.is_set, event.wait)
        finally:
            log.append(kernel.tick)

    strand = kernel.spawn(waits())
    kernel.on_fault = lambda text, raised: log.append(type(raised))
    kernel.step_tick()
    kernel.call_soon(strand.throw, error())  # it waits on, in the same step
    kernel.step_tick()
    assert log == []
    event.set()
    kernel.step_tick()
    assert log == [3, error]


# --- behavior trees -----------------------------------------------------------------------------------------------------


class Curious(Entity):
    curious = False


class Glance(Goal):
    def __init__(self):
        self.set_flags({LOOK})

    def can_use(self):
        return self.entity.curious


class Stranger:
    """Somebody else who wants a flag."""

    flag_name = "stranger"
    runs_for = None
    precedence = 9
    is_interruptible = True

    def give_way(self, flag, claimant):
        pass

    def flags_granted(self):
        pass


@pytest.mark.states(
    "tools: Faults: Deciders that give way already are not taken down twice",
    source="design 3, control flags",
)
@pytest.mark.parametrize("ends", [False, True])
def test_what_already_gives_way_is_not_taken_down_twice(ends):
    """Two ask for a flag of a group whose child still cleans up: goals in one tick, or a stranger while the tree leaves."""
    tree = BehaviorTree(
        group("ROOT")[group("PLAY", behavior=Behavior("PLAY"), flags=(LOOK,))[decider("SEE", SlowUrge("SEE"))]]
    )
    sim = Simulation()
    selectors = [GoalSelector(name=f"goals{n}", precedence=n + 1) for n in range(2)]
    for selector in selectors:
        selector.add_goal(1, Glance())
    being = Curious("ann")
    agent = sim.add(Agent(being, drivers=[*selectors, tree.memory()]))
    sim.tick(2)
    if ends:
        sim.runtime.remove(agent)
        sim.runtime.post(agent.flags.claim, (LOOK,), Stranger(), 3)
    else:
        being.curious = True
    sim.tick(8)
    sim.close()
    begun, ended = ([one[2] for one in sim.events(word)].count("tree/ROOT/PLAY") for word in ("activate", "deactivate"))
    assert begun == ended > 0
    assert [str(one) for one in check_trace(sim.trace, "ann")] == []


# --- what is left -------------------------------------------------------------------------------------------------------


class Refusing(Action):
    does = TOP
    utility = 0.5

    def start(self, ctx, args):
        ctx.reject("no room")


@pytest.mark.parametrize("ticks", range(2, 9))
def test_the_delay_of_who_refused_ends_with_its_plan(ticks):
    sim = Simulation()
    agent = sim.add(Agent(Entity("ann"), actions=[Refusing]))
    sim.tick(ticks)  # the delays grow
    sim.runtime.remove(agent)
    sim.tick()
    assert not agent.is_alive
    agenda = sim.runtime.kernel.agenda
    entries = [entry for due, bucket in agenda.buckets.items() for entry in bucket if entry.waiting == due]
    assert [entry for entry in entries if isinstance(entry, Timer)] == []
    sim.close()
