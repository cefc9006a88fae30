"""Agents in a runtime: added, removed and named while it runs; what is posted and spawned beside them."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from agentrt import TOP, Action, Agent, Entity, Signal, next_tick
from agentrt.errors import NotRunningError, WrongStateError
from agentrt.testing import Simulation


@pytest.fixture
def sim():
    made = Simulation()
    yield made
    made.close()
    assert made.runtime.kernel.live == 0


def test_an_agent_begins_at_the_next_intake_and_its_stop_runs_when_it_is_removed(sim, being, actions):
    sim.tick(2)
    agent = sim.add(being([actions.Forever]))
    assert agent.is_alive
    assert agent.entity.diary == []
    sim.tick(2)
    assert agent.entity.diary == [(3, "start"), (3, "run")]
    sim.runtime.remove(agent)
    assert agent.is_alive
    assert agent.entity.diary == [(3, "start"), (3, "run")]
    sim.tick()
    assert agent.entity.diary == [(3, "start"), (3, "run"), (5, "stop")]
    assert not agent.is_alive
    assert agent.runtime is None
    assert sim.runtime.agents == ()
    assert sim.events("added", "removed") == [(3, "being", "", "added"), (5, "being", "", "removed")]


def test_agents_are_added_and_removed_by_an_action_in_the_middle_of_a_tick(sim, being, actions):
    class Parent(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            runtime = ctx.agent.runtime
            child = runtime.add(being([actions.Forever], "child"))
            await ctx.sleep_ticks(3)
            runtime.remove(child)
            await ctx.next_tick()
            runtime.remove(ctx.agent, "its work is done")
            await ctx.sleep_ticks(100)

    parent = sim.add(being([Parent], "parent"))
    sim.tick(7)
    assert sim.events("added", "removed", "start", "stop") == [
        (1, "parent", "", "added"),
        (1, "parent", "agentrt:top/Parent", "start"),
        (2, "child", "", "added"),
        (2, "child", "agentrt:top/Forever", "start"),
        (5, "child", "agentrt:top/Forever", "stop"),
        (5, "child", "", "removed"),
        (6, "parent", "agentrt:top/Parent", "stop"),
        (6, "parent", "", "removed"),
    ]
    assert not parent.is_alive


def test_an_agent_that_is_added_and_removed_between_two_ticks_never_begins(sim, being, actions):
    agent = sim.add(being([actions.Forever]))
    sim.runtime.remove(agent)
    sim.runtime.remove(agent)
    sim.tick()
    assert agent.entity.diary == []
    assert not agent.is_alive
    sim.runtime.remove(agent)  # of nobody: nothing
    sim.tick()


def test_agents_think_and_end_in_the_order_in_which_they_were_added(sim, being, actions):
    for name in ("c", "a", "b"):
        sim.add(being([actions.Forever], name))
    assert [agent.name for agent in sim.runtime.agents] == ["c", "a", "b"]
    sim.tick()
    assert [agent for _, agent, _, _ in sim.events("start")] == ["c", "a", "b"]
    sim.close()
    assert [agent for _, agent, _, _ in sim.events("stop")] == ["c", "a", "b"]


def test_a_name_is_given_once(sim, being, actions):
    wolves = [sim.add(being([actions.Forever], "wolf")) for _ in range(3)]
    assert [wolf.name for wolf in wolves] == ["wolf", "wolf 2", "wolf 3"]
    assert [wolf.given_name for wolf in wolves] == ["wolf", "wolf", "wolf"]
    sim.tick()
    sim.runtime.remove(wolves[1])
    sim.tick()
    assert sim.add(being([actions.Forever], "wolf")).name == "wolf 4"
    assert sim.add(wolves[1]).name == "wolf 5"
    assert sim.add(being([actions.Forever], "wolf 6")).name == "wolf 6"
    assert sim.add(being([actions.Forever], "wolf")).name == "wolf 7"
    names = [agent.name for agent in sim.runtime.agents]
    assert names == ["wolf", "wolf 3", "wolf 4", "wolf 5", "wolf 6", "wolf 7"]


def test_the_names_of_ten_thousand_namesakes_are_found_in_no_time():
    sim = Simulation()
    agents = [sim.add(Agent(Entity("ant"))) for _ in range(2_000)]
    assert len({agent.name for agent in agents}) == 2_000
    assert agents[-1].name == f"{agents[0].name} 2000"
    sim.close()


def test_an_agent_that_comes_back_draws_other_numbers(sim, being, actions):
    agent = sim.add(being([actions.Forever]))
    first = [agent.random.below(1000) for _ in range(5)]
    sim.tick()
    sim.runtime.remove(agent)
    sim.tick()
    sim.add(agent)
    assert [agent.random.below(1000) for _ in range(5)] != first


def test_random_numbers_need_a_runtime(being, actions):
    with pytest.raises(NotRunningError, match="runtime.add"):
        _ = being([actions.Forever]).random


def test_an_agent_is_in_one_runtime_at_a_time(sim, being, actions):
    agent = sim.add(being([actions.Forever]))
    with pytest.raises(WrongStateError, match="'being' is in a runtime"):
        Simulation().add(agent)
    with pytest.raises(WrongStateError, match="'being' is in a runtime"):
        sim.add(agent)
    sim.tick()
    sim.runtime.remove(agent)
    sim.tick()
    other = Simulation()
    other.add(agent)
    other.tick()
    assert agent.is_alive
    other.close()
    assert not agent.is_alive


def test_an_agent_acts_on_in_another_runtime_with_what_it_knows(being, actions):
    agent = being([actions.Work])
    for _ in range(2):
        agent.entity.diary.clear()
        sim = Simulation()
        sim.add(agent)
        sim.tick(4)
        assert agent.entity.diary[:3] == [(1, "start"), (1, "run"), (4, "done")]
        sim.close()
    assert agent.flags.holds() == {}


def test_what_an_agent_learns_while_it_runs_counts_from_the_next_intake(sim, being, actions):
    class Better(actions.Work):
        utility = 0.9

    agent = sim.add(being([actions.Forever]))
    sim.tick()
    injection = agent.inject(Better)
    assert [event for *_, event in sim.events("injected", "preempt")] == []
    sim.tick()
    assert sim.events("injected", "preempt") == [
        (2, "being", "", "injected"),
        (2, "being", "agentrt:top/Forever", "preempt"),
    ]
    injection.revoke()
    sim.tick()
    assert sim.events("revoked", "abort") == [(3, "being", "", "revoked"), (3, "being", "agentrt:top/Better", "abort")]
    sim.tick(2)
    assert agent.snapshot().running == "agentrt:top/Forever"


# --- nothing is kept --------------------------------------------------------------------------------------------------


def test_a_removed_agent_is_forgotten_even_if_its_action_slept_for_a_year(sim, being):
    class Sleep(Action):
        does = TOP
        utility = 0.5

        async def think(self, ctx, args):
            ctx.set_think_output()
            await ctx.sleep(3e7)

        async def run(self, ctx, args):
            await ctx.sleep(3e7)

    class Watch(Action):
        does = TOP
        utility = 0.9

        async def think(self, ctx, args):
            await signal.wait()

    signal = Signal()
    agent = sim.add(being([Sleep, Watch]))
    sim.tick(2)
    sim.runtime.remove(agent)
    sim.tick()
    gone = [weakref.ref(agent), weakref.ref(agent.entity)]
    del agent
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


@pytest.mark.parametrize("first", ["signal", "sleep"])
def test_a_removed_agent_is_forgotten_however_many_wait_for_the_same(sim, being, first):
    """Whatever it waited for first, and second, its thinks leave nothing behind that leads to it."""
    dawn, day = Signal(), Signal()

    class Watch(Action):
        does = TOP
        utility = 0.9

        async def think(self, ctx, args):
            if first == "signal":
                await dawn.wait()
            else:
                await ctx.sleep(1.0)
            await day.wait()

    agents = [sim.add(being([Watch])) for _ in range(60)]
    sim.tick(2)
    gone = [weakref.ref(agent) for agent in agents[10:30]]
    for agent in agents[10:30]:
        sim.runtime.remove(agent)
    sim.tick(2)
    dawn.emit()
    sim.tick(25)  # the others wait for the second
    gone.extend(weakref.ref(agent) for agent in agents[30:50])
    for agent in agents[30:50]:
        sim.runtime.remove(agent)
    sim.tick()
    kept = agents[:10]
    del agents, agent
    gc.collect()
    assert [ref() for ref in gone] == [None] * 40
    assert len(kept) == 10


def test_a_runtime_that_is_dropped_takes_its_agents_with_it(being, actions):
    sim = Simulation()
    agent = sim.add(being([actions.Work]))
    sim.tick(2)
    sim.close()
    gone = [weakref.ref(agent), weakref.ref(sim.runtime)]
    del agent, sim
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


# --- posts and coroutines ---------------------------------------------------------------------------------------------


@pytest.mark.states("001: resume: (decided) From another thread it is posted to the runtime")
def test_posts_from_threads_enter_at_an_intake_on_the_thread_of_the_runtime(play, being):
    got = []

    class Wait(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            while True:
                value = await ctx.entity.called.wait()
                got.append((value, threading.get_ident()))

    runtime = play.runtime()
    agent = runtime.add(being([Wait]))
    agent.entity.called = Signal()
    mine = threading.get_ident()

    def poster(name):
        for number in range(50):
            runtime.post(agent.entity.called.emit, (name, number))

    def post_all():
        threads = [threading.Thread(target=poster, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        runtime.post(got.append, "all posted")

    runtime.post(post_all)
    play.ticks(runtime, 60)
    assert "all posted" in got
    received = [entry for entry in got if entry != "all posted"]
    assert {thread for _, thread in received} == {mine}
    for name in "ab":
        numbers = [number for (who, number), _ in received if who == name]
        assert numbers == sorted(numbers)


def test_a_coroutine_of_the_world_runs_from_the_next_intake_and_ends_with_the_runtime(play):
    runtime = play.runtime()
    log = []

    async def weather(kind):
        try:
            while True:
                log.append((runtime.tick, kind))
                await next_tick()
        finally:
            log.append((runtime.tick, "over"))

    async def short():
        log.append((runtime.tick, "short"))

    runtime.spawn(weather, "rain", name="the weather")
    runtime.spawn(short)
    assert log == []
    play.ticks(runtime, 2)
    assert log == [(1, "rain"), (1, "short"), (2, "rain"), (3, "over")]


def test_a_coroutine_of_the_world_that_raises_takes_nobody_with_it(play, being, actions, logged):
    runtime = play.runtime()
    records = []
    runtime.trace.listen(records.append)
    agent = runtime.add(being([actions.Work]))

    async def volcano():
        await next_tick()
        raise ValueError("erupted")

    runtime.spawn(volcano)
    runtime.spawn(lambda: 1 / 0)
    runtime.spawn(len, "not a coroutine function")
    play.ticks(runtime, 4)
    assert agent.entity.diary[:3] == [(1, "start"), (1, "run"), (4, "done")]
    faults = [(record.tick, record.detail[-1][1]) for record in records if record.event.value == "fault"]
    assert faults[0] == (1, "ZeroDivisionError: division by zero")
    assert faults[1][0] == 1
    assert faults[2:] == [(2, "ValueError: erupted")]
    assert [level for level, _ in logged()] == ["ERROR", "ERROR", "ERROR"]
