"""One scenario on the three hosts, in equal order; foreign awaits in strategies; requests from tasks of the event loop."""

from __future__ import annotations

import asyncio
import math

import pytest
import trio
from players import HOSTS, Player
from wants import Bearer, Build, Have, Know, Reach

from agentrt import MOVE, TOP, Action, Agent, CompoundAction, step
from agentrt.errors import DependencyFailedError, ForeignAwaitError
from agentrt.kernel.traps import sleep
from agentrt.strategy import Order, strategy
from agentrt.testing import check_trace


@strategy(Build, cost=20)
async def assemble(ctx, wanted):
    parts = await ctx.solve_all([Have("glass", 2), Have("log", 3)], Order.CHEAPEST)
    await ctx.solve(Reach("site"))
    return f"{wanted.what} of {parts}"


@strategy(Build, cost=5)
async def buy(ctx, wanted):
    await ctx.sleep(0.1)
    await ctx.execute("bargain")


class Bargain(Action):
    does = "bargain"
    utility = 1.0

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)
        ctx.abort("too dear")


@strategy(Have, foresee=lambda ask, wanted: [], cost=None)
async def dream(ctx, wanted):
    raise AssertionError


@strategy(Have, estimate=lambda ask, wanted: wanted.count + ask.cost(Reach("forest")), flags={MOVE})
async def gather(ctx, wanted):
    await ctx.solve(Reach("forest"))
    for _ in range(wanted.count):
        await ctx.next_tick()
        ctx.entity.put(wanted.item)
    if wanted.item == "glass":
        ctx.entity.bag.clear()
        ctx.fail("it broke")
    return wanted.count


@strategy(Have, cost=50, flags={MOVE})
async def trade(ctx, wanted):
    ctx.entity.put(wanted.item, wanted.count)
    return wanted.count


@strategy(Reach, cost=2, flags={MOVE})
async def walk(ctx, wanted):
    await ctx.sleep(0.2)
    return wanted.place


class Settle(CompoundAction):
    does = TOP
    utility = 0.5
    steps = [step("want:know", what="way"), step("want:reach", place="far")]


@strategy(Know, cost=1)
async def learn(ctx, wanted):
    await ctx.sleep(0.3)


def scenario(runtime):
    agent = Agent(Bearer(), name="a", actions=[Bargain, Settle])
    agent.gameplay.add_strategy(assemble, buy, dream, gather, trade, walk, learn)
    runtime.add(agent)
    return agent


@pytest.mark.states("003: Ours: A strategy awaits anything of asyncio and trio, and runs in equal order on all ...")
@pytest.mark.parametrize("host", HOSTS)
def test_equal_order_on_every_host(host):
    play = Player(host)
    runtime = play.runtime(seed=5)
    records, told = [], []
    runtime.trace.listen(records.append)
    agent = scenario(runtime)

    async def world():
        told.append(await agent.gameplay.build("hut"))

    runtime.spawn(world)
    play.ticks(runtime, 60)
    play.check()
    assert told == ["hut of [2, 3]"]
    assert agent.gameplay.finished[0].render(20).splitlines() == TREE
    assert [str(one) for one in check_trace(records, "a")] == []
    lines = [one.line() for one in records]
    first = _first.setdefault("lines", lines)
    assert lines == first


_first: dict[str, list[str]] = {}

TREE = """\
Build [hut] - done in 1.45 s
   Buy - failed in 0.2 s (expected 5 s): 'bargain' was aborted: too dear
      bargain - failed in 0.1 s: too dear
   Assemble - done in 1.25 s (expected 20 s)
      Have [glass, 2] - done in 0.5 s
         Gather - failed in 0.3 s (expected 4 s): it broke
            Reach [forest] - done in 0.2 s
               Walk - done in 0.2 s (expected 2 s)
         Trade - done in 0.2 s (expected 50 s)
      Have [log, 3] - done in 0.35 s
         Gather - done in 0.35 s (expected 5 s)
            Reach [forest] - done in 0.2 s
               Walk - done in 0.2 s (expected 2 s)
      Reach [site] - done in 0.4 s
         Walk - done in 0.4 s (expected 2 s)""".splitlines()


async def long(host):
    if host == "asyncio":
        await asyncio.sleep(1000)
    else:
        await trio.sleep(1000)


# --- awaiting what is not the kernel's --------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Ours: A strategy awaits anything of asyncio and trio, and runs in equal order on all hosts",
    source="design section 6",
)
@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_a_strategy_awaits_anything_of_the_event_loop(host):
    play = Player(host)
    runtime = play.runtime()
    told = []

    @strategy(Know, cost=1)
    async def fetch(ctx, wanted):
        if host == "asyncio":
            async with asyncio.timeout(30):
                await asyncio.sleep(1.0)
        else:
            with trio.fail_after(30):
                await trio.sleep(1.0)
        return await ctx.solve(Reach("there"))

    agent = Agent(Bearer(), name="a")
    agent.gameplay.add_strategy(fetch, walk)
    runtime.add(agent)

    async def world():
        told.append(await agent.gameplay.know("x"))
        runtime.stop()

    async def main():
        runtime.spawn(world)
        await runtime.run(blocking_ms=None)
        await runtime.aclose()

    play(main)
    play.check()
    assert told == ["there"]


@pytest.mark.states("003: Plugins: One that hangs has failed after a while ...")
@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_a_strategy_that_hangs_in_the_event_loop_has_failed_after_its_patience(host):
    play = Player(host)
    runtime = play.runtime()
    told = []

    @strategy(Know, cost=1, patience=2)
    async def fetch(ctx, wanted):
        try:
            await long(host)
        finally:
            told.append("cleaned up")

    agent = Agent(Bearer(), name="a")
    agent.gameplay.add_strategy(fetch)
    runtime.add(agent)

    async def world():
        try:
            await agent.gameplay.know("x")
        except DependencyFailedError as failure:
            told.append(failure.reason)
        runtime.stop()

    async def main():
        runtime.spawn(world)
        await runtime.run(blocking_ms=None)
        await runtime.aclose()

    play(main)
    play.check()
    assert told == ["cleaned up", "Fetch failed (it ran for more than 2 s by itself; it seems to hang)"]


def test_without_an_event_loop_a_foreign_await_is_a_failure_that_says_what_to_do(game, way):
    class Foreign:
        def __await__(self):
            yield "something of an event loop"

    async def run(self, ctx, wanted):
        await Foreign()

    agent = game.add(way("Fetch", Know, run=run), way("Read", Know, cost=50, gives="read"))
    assert game.solve(agent, Know("x")).value == "read"
    assert "ForeignAwaitError" in agent.gameplay.finished[-1].children[0].reason
    assert any(ForeignAwaitError.code in error for _, _, error in game.faults())


@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_a_request_is_cancelled_while_its_strategy_awaits_the_event_loop(host):
    play = Player(host)
    runtime = play.runtime()
    told = []

    @strategy(Know, cost=1)
    async def fetch(ctx, wanted):
        try:
            await long(host)
        finally:
            told.append(runtime.tick)

    agent = Agent(Bearer(), name="a")
    agent.gameplay.add_strategy(fetch)
    runtime.add(agent)

    async def main():
        request = agent.gameplay.begin(Know("x"))
        runtime.post(lambda: runtime.post(lambda: request.cancel("enough")))
        await runtime.run(20, speed=math.inf, blocking_ms=None)
        await runtime.aclose()

    play(main)
    play.check()
    assert len(told) == 1
    assert told[0] <= 4
    assert agent.gameplay.running == ()


# --- requests that wait for each other, and what comes from elsewhere ---------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_a_ring_of_requests_is_broken_on_every_host(host):
    play = Player(host)
    runtime = play.runtime(seed=5)
    records, requests = [], {}
    runtime.trace.listen(records.append)

    @strategy(Know, cost=1)
    async def join(ctx, wanted):
        await ctx.sleep(0.1)
        try:
            await requests["b" if wanted.what == "a" else "a"]
        except DependencyFailedError:
            return "alone"

    agents = {name: runtime.add(Agent(Bearer(), name=name)) for name in "ab"}

    async def world():
        for name, agent in agents.items():
            agent.gameplay.add_strategy(join)
            requests[name] = agent.gameplay.begin(Know(name))

    runtime.spawn(world)
    play.ticks(runtime, 10)
    play.check()
    assert (requests["a"].value, requests["b"].outcome.value) == ("alone", "failed")
    assert "Know [b] of 'b' awaits Know [a] of 'a', which awaits Know [b] of 'b'" in str(requests["b"].error)
    lines = [one.line() for one in records]
    assert lines == _first.setdefault("ring", lines)


@pytest.mark.parametrize("host", HOSTS)
def test_fail_of_a_kept_context_from_anywhere_hurts_no_caller(host):
    play = Player(host)
    runtime = play.runtime()
    kept, told = [], []

    @strategy(Know, cost=1)
    async def keep(ctx, wanted):
        kept.append(ctx)
        await ctx.sleep(1)

    @strategy(Know, cost=2)
    async def other(ctx, wanted):
        return "by another"

    agent = runtime.add(Agent(Bearer(), name="a"))
    agent.gameplay.add_strategy(keep, other)

    async def world():
        told.append(await agent.gameplay.know("x"))

    async def foe():
        await sleep(0.2)
        runtime.post(kept[0].fail, "posted")
        runtime.post(kept[0].fail, "late")
        await sleep(0.3)
        kept[0].restart()
        told.append("goes on")

    runtime.spawn(world)
    runtime.spawn(foe)
    play.ticks(runtime, 40)
    play.check()
    assert told == ["by another", "goes on"]
    assert agent.gameplay.finished[-1].render().splitlines()[1] == "   Keep - failed: posted"
