"""``await agent.run()``: alone, many at a time, who drives, and what becomes of the others when one ends or is cancelled."""

from __future__ import annotations

import asyncio
import math

import pytest
import trio
from cast import careful

from agentrt import TOP, Action, Agent, Entity, next_tick
from agentrt.errors import AgentKilled


class Leave(Action):
    """Ends its agent after some ticks."""

    does = TOP
    utility = 0.5

    def start(self, ctx, args):
        ctx.entity.diary.append((ctx.clock.tick, "start"))
        ctx.entity.runtimes.append(ctx.agent.runtime)

    async def run(self, ctx, args):
        await ctx.sleep_ticks(ctx.entity.stay)
        ctx.agent.runtime.remove(ctx.agent)
        await ctx.sleep_ticks(1000)

    def stop(self, ctx, args):
        ctx.entity.diary.append((ctx.clock.tick, "stop"))


@pytest.fixture
def guest(being):
    """Makes an agent that leaves by itself after so many ticks."""

    def make(name, stay, *more):
        agent = being([Leave, *more], name)
        agent.entity.stay = stay
        agent.entity.runtimes = []
        return agent

    return make


# --- alone --------------------------------------------------------------------------------------------------------------


def test_an_agent_that_runs_alone_makes_its_own_runtime_and_leaves_nothing(play_loop, guest):
    agent = guest("guest", 3)
    seen = []

    async def main():
        start = play_loop.now()
        seen.append(agent.runtime)
        await agent.run()
        seen.append(agent.runtime)
        return round(play_loop.now() - start, 6)

    assert play_loop(main) == 0.2  # four ticks rest between five: 20 ticks make a second
    assert agent.entity.diary == [(1, "start"), (5, "stop")]
    assert seen == [None, None]


def test_an_agent_runs_alone_again_and_again(play_loop, guest):
    agent = guest("guest", 1)

    async def main():
        for _ in range(3):
            await agent.run()

    play_loop(main)
    assert agent.entity.diary == [(1, "start"), (3, "stop")] * 3


def test_without_an_event_loop_an_agent_runs_on_the_plain_host(plain, guest, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    agent = guest("guest", 3)
    plain(agent.run)
    assert agent.entity.diary == [(1, "start"), (5, "stop")]


def test_what_an_agent_left_behind_in_its_own_runtime_is_closed_with_it(play_loop, guest, being, actions):
    children = []

    async def weather():
        while True:
            await next_tick()

    class Bear(Action):
        does = TOP
        utility = 0.9

        async def run(self, ctx, args):
            runtime = ctx.agent.runtime
            children.append(runtime.add(being([actions.Forever], "child")))
            runtime.spawn(weather)
            play_loop.runtimes.append(runtime)
            await ctx.sleep_ticks(2)
            runtime.remove(ctx.agent)
            await ctx.sleep_ticks(2)

    play_loop(guest("mother", 0, Bear).run)
    assert children[0].entity.diary == [(2, "start"), (2, "run"), (5, "stop")]


# --- many ---------------------------------------------------------------------------------------------------------------


def test_agents_that_run_at_a_time_share_one_runtime(play_loop, guest):
    agents = [guest("a", 4), guest("b", 2), guest("c", 6)]
    play_loop(lambda: play_loop.together(*(agent.run for agent in agents)))
    runtimes = [runtime for agent in agents for runtime in agent.entity.runtimes]
    assert len(runtimes) == 3
    assert len({id(runtime) for runtime in runtimes}) == 1
    play_loop(agents[0].run)
    assert agents[0].entity.runtimes[1] is not runtimes[0]


def test_each_ends_at_its_time_whoever_drives(play_loop, guest):
    agents = [guest("a", 4), guest("b", 2), guest("c", 8), guest("d", 6)]

    async def main():
        start = play_loop.now()
        ends = []

        def runner(agent):
            async def run():
                await agent.run()
                ends.append((agent.given_name, round(play_loop.now() - start, 6)))

            return run

        await play_loop.together(*map(runner, agents))
        return ends

    # The first comes and drives; when it ends, the next one drives on, in the same rhythm of 0.05 s.
    assert play_loop(main) == [("b", 0.15), ("a", 0.25), ("d", 0.35), ("c", 0.45)]
    assert [agent.entity.diary for agent in agents] == [
        [(1, "start"), (6, "stop")],
        [(1, "start"), (4, "stop")],
        [(1, "start"), (10, "stop")],
        [(1, "start"), (8, "stop")],
    ]


@pytest.mark.slow
def test_gather_and_task_group(guest):
    async def gathered():
        agents = [guest("a", 3), guest("a", 1), guest("a", 5)]
        await asyncio.gather(*(agent.run() for agent in agents))
        return [(agent.name, agent.entity.diary) for agent in agents]

    async def grouped():
        agents = [guest("a", 3), guest("a", 1), guest("a", 5)]
        async with asyncio.TaskGroup() as group:
            for agent in agents:
                group.create_task(agent.run())
        return [(agent.name, agent.entity.diary) for agent in agents]

    whole = [
        ("a", [(1, "start"), (5, "stop")]),
        ("a 2", [(1, "start"), (3, "stop")]),
        ("a 3", [(1, "start"), (7, "stop")]),
    ]
    with asyncio.Runner() as runner:
        assert runner.run(gathered()) == whole
    with asyncio.Runner() as runner:
        assert runner.run(grouped()) == whole


def test_a_nursery_in_which_trio_starts_the_agents_in_any_order(guest):
    agents = [guest(name, stay) for name, stay in (("a", 3), ("b", 1), ("c", 5))]

    async def main():
        async with trio.open_nursery() as nursery:
            for agent in agents:
                nursery.start_soon(agent.run)

    for _ in range(5):
        for agent in agents:
            agent.entity.diary.clear()
        trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
        lengths = [agent.entity.diary[1][0] - agent.entity.diary[0][0] for agent in agents]
        assert lengths == [4, 2, 6]


def test_agents_of_one_runtime_are_awaited_and_the_others_stay(play_loop, guest, being, actions):
    async def main():
        async with play_loop.runtime() as runtime:
            a, b, other = guest("a", 2), guest("b", 4), being([actions.Forever], "other")
            for agent in (a, b, other):
                runtime.add(agent)
            await play_loop.together(a.run, b.run)
            assert runtime.agents == (other,)
            assert not runtime.is_driven
            assert runtime.tick == 6
            await runtime.run(2, speed=math.inf)
            assert other.entity.diary == [(1, "start"), (1, "run")]
        return other.entity.diary

    assert play_loop(main) == [(1, "start"), (1, "run"), (9, "stop")]


def test_one_agent_is_awaited_by_several(play_loop, guest):
    agent = guest("guest", 3)
    runtime = play_loop.runtime()
    runtime.add(agent)
    ends = []

    async def wait():
        await agent.run()
        ends.append(runtime.tick)

    play_loop(lambda: play_loop.together(wait, wait, wait))
    assert ends == [5, 5, 5]


# --- beside runtime.run() -------------------------------------------------------------------------------------------------


def test_an_agent_of_a_runtime_that_runs_is_only_waited_for(play_loop, guest):
    runtime = play_loop.runtime(ticks_per_second=10)
    agent = runtime.add(guest("guest", 3))

    async def run():
        await runtime.run(10, speed=2.0)

    async def wait():
        start = play_loop.now()
        await agent.run()
        return round(play_loop.now() - start, 6)

    async def both():
        ends = []

        async def waiting():
            ends.append(await wait())

        await play_loop.together(run, waiting)
        return ends

    assert play_loop(both) == [0.2]
    assert runtime.tick == 10


@pytest.mark.parametrize("order", ["run first", "agent first"])
def test_a_run_sets_the_pace_whichever_comes_first_and_when_it_is_over_the_agent_goes_on(play_loop, guest, order):
    runtime = play_loop.runtime(ticks_per_second=10)
    agent = runtime.add(guest("guest", 7))
    moments = []

    async def main():
        start = play_loop.now()
        runtime.every_tick(lambda: moments.append(round(play_loop.now() - start, 6)))

        async def run():
            await runtime.run(4, speed=10.0)

        both = (run, agent.run) if order == "run first" else (agent.run, run)
        await play_loop.together(*both)

    play_loop(main)
    assert moments == [0.0, 0.01, 0.02, 0.03, 0.04, 0.14, 0.24, 0.34, 0.44]


def test_when_the_runtime_is_stopped_all_who_wait_return(play_loop, being, actions):
    runtime = play_loop.runtime()
    agents = [runtime.add(being([actions.Forever], name)) for name in "abc"]

    async def stop():
        await play_loop.sleep(0.12)
        runtime.stop()

    play_loop(lambda: play_loop.together(*(agent.run for agent in agents), stop))
    assert [agent.entity.diary for agent in agents] == [[(1, "start"), (1, "run"), (4, "stop")]] * 3


def test_when_the_run_is_cancelled_those_who_wait_for_its_agents_return(play_loop, being, actions):
    runtime = play_loop.runtime()
    agents = [runtime.add(being([actions.Forever], name)) for name in "abc"]
    returned = []

    async def run():
        returned.append(await play_loop.cancel_after(0.12, runtime.run))

    def waiter(agent):
        async def wait():
            await agent.run()
            returned.append(agent.name)

        return wait

    play_loop(lambda: play_loop.together(run, *map(waiter, agents)))
    assert sorted(map(str, returned)) == ["True", "a", "b", "c"]


# --- killed ---------------------------------------------------------------------------------------------------------------


def test_an_agent_that_is_killed_raises_out_of_its_run_and_the_others_go_on(play_loop, guest, being, actions, logged):
    agents = [guest("a", 20), being([actions.Failing], "doomed"), guest("b", 15)]
    caught = []

    async def doomed():
        with pytest.raises(AgentKilled) as info:
            await agents[1].run()
        caught.append(info.value)

    play_loop(lambda: play_loop.together(agents[0].run, doomed, agents[2].run))
    error = caught[0]
    assert (error.agent, error.path, error.tick, error.aborts) == ("doomed", "agentrt:top/Failing", 10, 10)
    assert error.reason == "no luck"
    assert error is agents[1].error
    assert [agents[0].entity.diary, agents[2].entity.diary] == [
        [(1, "start"), (22, "stop")],
        [(1, "start"), (17, "stop")],
    ]
    assert [level for level, _ in logged()] == ["ERROR"]


def test_a_killed_agent_that_drives_hands_on(play_loop, guest, being, actions):
    agents = [being([actions.Failing], "doomed"), guest("a", 15)]

    async def doomed():
        with pytest.raises(AgentKilled):
            await agents[0].run()

    play_loop(lambda: play_loop.together(doomed, agents[1].run))
    assert agents[1].entity.diary == [(1, "start"), (17, "stop")]


def test_in_a_group_a_killed_agent_cancels_the_others(play_loop, being, actions):
    agents = [being([actions.Forever], "a"), being([actions.Failing], "doomed"), being([actions.Forever], "b")]

    async def main():
        with pytest.raises(ExceptionGroup) as info:
            await play_loop.together(*(agent.run for agent in agents))
        return [type(error) for error in info.value.exceptions]

    assert play_loop(main) == [AgentKilled]
    assert [agent.entity.diary[-1][1] for agent in (agents[0], agents[2])] == ["stop", "stop"]


def test_a_killed_agent_begins_anew_when_it_is_run_again(play_loop, being, actions):
    agent = being([actions.Failing])

    async def main():
        for _ in range(2):
            with pytest.raises(AgentKilled):
                await agent.run()

    play_loop(main)
    assert repr(agent) == "<Agent 'being': killed, knows 1 actions>"


# --- cancelled ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [0, 1, 2])
def test_when_one_of_several_is_cancelled_it_alone_is_removed(play_loop, guest, which):
    agents = [guest("a", 8), guest("b", 8), guest("c", 8)]

    def runner(number):
        async def run():
            cancelled = await play_loop.cancel_after(0.12 if number == which else 5, agents[number].run)
            assert cancelled == (number == which)

        return run

    play_loop(lambda: play_loop.together(*(runner(number) for number in range(3))))
    diaries = [agent.entity.diary for agent in agents]
    assert diaries.pop(which) == [(1, "start"), (4, "stop")]
    assert diaries == [[(1, "start"), (10, "stop")]] * 2


def test_when_all_are_cancelled_at_once_all_are_stopped(play_loop, being, actions):
    agents = [being([actions.Forever], name) for name in "abcde"]

    async def main():
        assert await play_loop.cancel_after(0.12, lambda: play_loop.together(*(agent.run for agent in agents)))

    play_loop(main)
    assert [agent.entity.diary for agent in agents] == [[(1, "start"), (1, "run"), (4, "stop")]] * 5


def test_an_agent_whose_clean_up_takes_time_is_waited_for_while_another_drives_on(play_loop, being, guest):
    def stop(self, ctx, args):
        ctx.entity.diary.append((ctx.clock.tick, "stop"))

    Slow = careful(4, "Slow", utility=0.5, stop=stop)
    slow, other = being([Slow], "slow"), guest("other", 15)
    times = {}

    async def main():
        start = play_loop.now()

        async def cancelled():
            assert await play_loop.cancel_after(0.12, slow.run)
            times["slow"] = round(play_loop.now() - start, 6)

        async def goes_on():
            await other.run()
            times["other"] = round(play_loop.now() - start, 6)

        await play_loop.together(cancelled, goes_on)

    play_loop(main)
    assert slow.entity.diary == [(8, "stop")]
    assert other.entity.diary == [(1, "start"), (17, "stop")]
    assert times == {"slow": pytest.approx(0.35, abs=0.011), "other": pytest.approx(0.8, abs=0.051)}


def test_when_the_last_who_waits_is_cancelled_nobody_drives_on_and_the_runtime_is_closed(play_loop, being, actions):
    runtime = play_loop.runtime()
    agents = [runtime.add(being([actions.Forever], name)) for name in "ab"]

    async def main():
        assert await play_loop.cancel_after(0.12, agents[0].run)
        assert runtime.agents == ()

    play_loop(main)
    assert [agent.entity.diary for agent in agents] == [[(1, "start"), (1, "run"), (4, "stop")]] * 2


def test_a_timeout_around_a_run(being, actions, asyncio_player):
    agent = being([actions.Forever])

    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.12):
                await agent.run()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(agent.run(), 0.12)

    asyncio_player(main)
    assert agent.entity.diary == [(1, "start"), (1, "run"), (4, "stop")] * 2


def test_a_run_that_is_cancelled_before_its_first_tick(play_loop, being, actions):
    agents = [being([actions.Forever], name) for name in "ab"]

    async def main():
        assert await play_loop.cancel_after(0, lambda: play_loop.together(*(agent.run for agent in agents)))

    play_loop(main)
    for agent in agents:
        assert agent.runtime is None
        assert agent.entity.diary in ([], [(1, "start"), (1, "stop")], [(1, "start"), (1, "run"), (2, "stop")])


def test_who_is_stepped_never_drives(play_loop):
    """An action waits for the end of an agent; when nobody drives any more, the runtime is free, and can be closed."""

    class Waits(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.agent.run()

    runtime = play_loop.runtime()
    runtime.add(Agent(Entity("waits"), actions=[Waits]))

    async def main():
        await runtime.run(3, speed=math.inf, blocking_ms=None)
        assert not runtime.is_driven
        await runtime.run(2, speed=math.inf, blocking_ms=None)
        await runtime.aclose()

    play_loop(main)
    assert runtime.tick < 20  # nothing had to be killed after a long wait
