"""The restart policy: an agent whose planner gave up begins again after a wait that grows."""

from __future__ import annotations

import asyncio
import contextlib
import math
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import TOP, Action, Agent, Entity, Restart, Runtime
from agentrt.errors import AgentKilled, ReplayError, WrongStateError
from agentrt.record import replay
from agentrt.testing import Simulation
from agentrt.worlds import SimpleWorld


def test_the_wait_grows_up_to_a_limit():
    restart = Restart(first=1.0, factor=2.0, most=10.0)
    assert [restart.seconds(kills) for kills in (1, 2, 3, 4, 5, 6, 10**9)] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0]
    assert [Restart(first=0.5, factor=1).seconds(kills) for kills in (1, 10**9)] == [0.5, 0.5]
    assert Restart() == Restart(first=1.0, factor=2.0, most=60.0)


@given(st.floats(0.001, 100), st.floats(1, 10), st.floats(0, 1000), st.integers(1, 10**6))
def test_the_wait_never_shrinks_and_never_exceeds_the_limit(first, factor, more, kills):
    restart = Restart(first=first, factor=factor, most=first + more)
    assert first <= restart.seconds(kills) <= restart.seconds(kills + 1) <= first + more


@pytest.mark.parametrize(
    "wrong", [{"first": 0}, {"first": -1}, {"factor": 0.5}, {"first": 2, "most": 1}, {"most": float("inf")}]
)
def test_a_policy_is_checked(wrong):
    with pytest.raises(ValueError, match="0 < first <= most, and a factor of at least 1"):
        Restart(**wrong)


class Shift(Action):
    """Fails until the entity is well; then works for two ticks."""

    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        if ctx.entity.is_ill:
            ctx.abort("ill")
        await ctx.sleep_ticks(2)


@pytest.fixture
def sim():
    made = Simulation(runtime=Runtime(host="plain", ticks_per_second=10, restart=Restart(first=1.0, most=3.0)))
    yield made
    made.close()
    assert made.runtime.kernel.live == 0


@pytest.fixture
def patient(sim, being):
    agent = being([Shift], "patient")
    agent.entity.is_ill = True
    sim.add(agent)
    return agent


def test_a_planner_that_gave_up_begins_again_later_each_time(sim, patient, logged):
    sim.tick(105)
    assert sim.events("killed", "restarted") == [
        (10, "patient", "agentrt:top/Shift", "killed"),
        (20, "patient", "agentrt:top", "restarted"),
        (29, "patient", "agentrt:top/Shift", "killed"),
        (49, "patient", "agentrt:top", "restarted"),
        (58, "patient", "agentrt:top/Shift", "killed"),
        (88, "patient", "agentrt:top", "restarted"),
        (97, "patient", "agentrt:top/Shift", "killed"),
    ]
    assert [record.detail for record in sim.trace if record.event.value == "restarted"] == [
        (("kills", 1),),
        (("kills", 2),),
        (("kills", 3),),
    ]
    assert patient.is_alive
    assert patient.error is None
    assert [level for level, _ in logged()] == ["WARNING"] * 4
    assert "again_in=3.0" in logged()[-1][1]


def test_a_plan_that_took_time_resets_the_wait(sim, patient):
    sim.tick(30)  # killed in tick 10 and 29
    patient.entity.is_ill = False
    sim.tick(22)
    assert sim.events("complete") == [(51, "patient", "agentrt:top", "complete")]
    patient.entity.is_ill = True
    sim.tick(30)
    killed, restarted = sim.events("killed")[2][0], sim.events("restarted")[2][0]
    assert restarted - killed == 10


def test_nothing_of_the_plan_is_left_while_it_waits(sim, patient):
    sim.tick(15)
    assert sim.runtime.kernel.live == 0
    assert patient.snapshot().running == ""
    assert patient.is_alive


def test_an_agent_that_waits_is_removed_like_any_other(sim, patient):
    sim.tick(15)
    sim.runtime.remove(patient)
    sim.tick(20)
    assert not patient.is_alive
    assert sim.events("removed", "restarted") == [(16, "patient", "", "removed")]


def test_what_it_learns_while_it_waits_counts_when_it_begins_again(sim, patient, actions):
    sim.tick(15)
    patient.inject(type("Cure", (actions.Work,), {"utility": 0.9}))
    sim.tick(6)
    assert patient.entity.diary == [(20, "start"), (20, "run")]


def test_whoever_awaits_the_agent_goes_on_waiting(play_loop, being):
    runtime = play_loop.runtime(restart=Restart(first=0.5))
    agent = being([Shift])
    agent.entity.is_ill = True
    runtime.add(agent)

    async def stop():
        await play_loop.sleep(2.0)
        assert agent.is_alive
        runtime.stop()

    play_loop(lambda: play_loop.together(agent.run, stop))
    assert not agent.is_alive
    assert agent.error is None


def test_without_a_policy_the_agent_is_killed(play_loop, being):
    runtime = play_loop.runtime()
    agent = being([Shift])
    agent.entity.is_ill = True
    runtime.add(agent)

    async def main():
        with pytest.raises(AgentKilled, match=r"killed after 10 aborts in a row; the last reason: ill"):
            await agent.run()

    play_loop(main)


def test_a_run_with_restarts_is_repeatable(being):
    def digest():
        sim = Simulation(7, runtime=Runtime(7, host="plain", restart=Restart(first=0.3)))
        agent = being([Shift], "patient")
        agent.entity.is_ill = True
        sim.add(agent)
        sim.tick(100)
        sim.close()
        return sim.digest()

    assert digest() == digest()


# --- who says nothing -------------------------------------------------------------------------------------------------


class Fails(Action):
    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        ctx.abort("the service is down")


def killed_after(runtime, drive):
    agent = runtime.add(Agent(Entity("somebody"), actions=[Fails]))
    drive(runtime)
    return agent.error is not None


def by_run(runtime):
    asyncio.run(runtime.run(30, speed=math.inf))


@pytest.mark.parametrize(
    ("options", "drive", "is_killed"),
    [
        ({}, by_run, False),
        ({}, lambda runtime: runtime.step(1.5), True),
        ({"restart": None}, by_run, True),
        ({"restart": Restart()}, lambda runtime: runtime.step(1.5), False),
    ],
    ids=["run", "step", "run, told otherwise", "step, told otherwise"],
)
def test_run_begins_again_and_step_does_not_unless_told_otherwise(options, drive, is_killed):
    runtime = Runtime(**options)
    assert killed_after(runtime, drive) is is_killed


def test_a_run_that_is_refused_changes_nothing():
    class Runs(Fails):
        async def run(self, ctx, args):
            with pytest.raises(WrongStateError, match="a tick runs"):
                await runtime.run(1)
            refused.append(runtime.tick)
            ctx.abort("of no use")

    refused = []
    runtime = Runtime()
    with pytest.raises(ValueError, match="speed"):
        asyncio.run(runtime.run(1, speed=0))
    runtime = Runtime()
    agent = runtime.add(Agent(Entity("somebody"), actions=[Runs]))
    runtime.step(1.5)
    assert refused
    assert isinstance(agent.error, AgentKilled)


def test_a_world_is_the_same_on_every_host_whoever_drives_it():
    def digest(host):
        def make(*, seed, host):
            runtime = Runtime(seed, host=host)
            runtime.add(Agent(Entity("somebody"), actions=[Fails]))
            return runtime

        return SimpleWorld("w", make).run_headless(ticks=40, seed=1, host=host, progress=lambda *_: None).digest

    assert digest("plain") == digest("asyncio") == digest("trio")


def test_a_replay_begins_again_as_the_run_did(tmp_path):
    def make(*, seed, host):
        runtime = Runtime(seed, host=host)
        runtime.add(Agent(Entity("somebody"), actions=[Fails]))
        return runtime

    for name, drive in (("run", lambda runtime: asyncio.run(runtime.run(60, speed=math.inf))), ("step", None)):
        runtime = make(seed=1, host="auto")
        path = tmp_path / f"{name}.sqlite"
        with runtime.record(path):
            if drive is None:
                runtime.step(3)
            else:
                drive(runtime)
        for host in ("plain", "asyncio"):
            assert replay(path, make, host=host).is_same


def mixed(*, seed, host):
    runtime = Runtime(seed, host=host, restart=None)
    runtime.add(Agent(Entity("early"), actions=[Fails]))
    runtime.on_input("arrive", lambda: runtime.add(Agent(Entity("late"), actions=[Fails])))
    return runtime


@pytest.mark.parametrize("host", ["plain", "asyncio", "trio"])
def test_a_replay_begins_again_from_the_tick_on_in_which_the_run_did(tmp_path, host):
    path = tmp_path / "mixed.sqlite"
    runtime = mixed(seed=1, host="plain")
    with runtime.record(path):
        runtime.step(1.5)
        runtime.restart = Restart()
        runtime.send("arrive")
        runtime.step(3)
        assert [agent.name for agent in runtime.agents if agent.is_alive] == ["late"]
    report = replay(path, mixed, host=host)
    assert report.is_same, report.as_text()


def test_a_policy_that_was_set_by_hand_stays_whoever_drives():
    runtime = Runtime()
    runtime.restart = None
    assert killed_after(runtime, by_run)
    assert runtime.restart is None


def test_what_run_says_holds_while_it_drives_and_no_longer():
    seen = []
    runtime = Runtime()
    runtime.every_tick(lambda: seen.append((runtime.tick, runtime.restart)))
    runtime.step()
    asyncio.run(runtime.run(1, speed=math.inf))
    runtime.step()
    asyncio.run(runtime.run(1, speed=math.inf, restart=Restart(first=7.0)))
    asyncio.run(runtime.run(1, speed=math.inf, restart=None))
    assert seen == [(1, None), (2, Restart()), (3, None), (4, Restart(first=7.0)), (5, None)]
    assert killed_after(runtime, lambda runtime: runtime.step(1.5))


@pytest.mark.parametrize("restart", ["never", "when_run", True, False, 1.0, Restart, {"first": 1.0}])
def test_a_wrong_policy_is_refused_where_it_is_given(restart):
    said = r"^restart is .*: give a policy, such as Restart\(first=1.0\), or None"
    with pytest.raises(ValueError, match=said):
        Runtime(restart=restart)
    runtime = Runtime()
    with pytest.raises(ValueError, match=said):
        runtime.restart = restart
    with pytest.raises(ValueError, match=said):
        asyncio.run(runtime.run(1, restart=restart))
    assert (runtime.restart, runtime.tick) == (None, 0)


@pytest.mark.parametrize("host", ["plain", "asyncio", "trio"])
@pytest.mark.parametrize("told", [{}, {"restart": None}, {"restart": Restart(first=0.3)}])
def test_a_policy_that_changes_again_and_again_replays_as_it_was(tmp_path, told, host):
    """By who drives, by hand between two ticks, and by the world within one: before and after others fail in it."""

    def make(*, seed, host):
        runtime = Runtime(seed, host=host, ticks_per_second=10, **told)
        says = {} if not told else {10: Restart(first=0.5), 15: None, 41: Restart(first=0.2), 42: None}

        class Changes(Action):
            does = TOP
            utility = 0.5

            async def run(self, ctx, args):
                if runtime.tick in says:
                    runtime.restart = says[runtime.tick]
                await ctx.next_tick()

        for name in ("a", "b", "c"):
            runtime.add(Agent(Entity(name), actions=[Fails]))
        runtime.add(Agent(Entity("world"), actions=[Changes]))
        runtime.on_input("arrive", lambda name: runtime.add(Agent(Entity(name), actions=[Fails])))
        return runtime

    path = tmp_path / "changing.sqlite"
    runtime = make(seed=1, host="auto")

    async def play():
        for turn in range(4):
            await runtime.run(4, speed=math.inf)
            runtime.send("arrive", name=f"ran {turn}")
            await runtime.run(9, speed=math.inf, restart=Restart(first=0.1 + turn))
            runtime.send("arrive", name=f"stepped {turn}")
            runtime.step(1.2)
            if told:
                runtime.restart = (Restart(first=1.0), None, None, Restart(first=2.0))[turn]
        await runtime.aclose()

    with runtime.record(path):
        asyncio.run(play())
    report = replay(path, make, host=host)
    assert report.is_same, report.as_text()


@pytest.mark.parametrize(
    "restart", ['"soon"', '{"soon": {}}', '{"1": {"first": 0}}', '{"1": {"never": 1}}', '{"1": 3}']
)
def test_a_header_that_says_nonsense_of_it_is_refused(tmp_path, restart):
    path = tmp_path / "broken.sqlite"
    runtime = mixed(seed=1, host="plain")
    with runtime.record(path):
        runtime.step()
    runtime.close()
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("INSERT OR REPLACE INTO meta VALUES ('restart', ?)", [restart])
        base.commit()
    with pytest.raises(ReplayError, match="its header says restart="):
        replay(path, mixed)
