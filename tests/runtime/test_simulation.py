"""``Simulation``: a world that a test drives tick by tick."""

from __future__ import annotations

import time

import pytest

from agentrt import Runtime
from agentrt.errors import SimulationTimeout
from agentrt.testing import Simulation, TraceDigest


@pytest.fixture
def sim():
    made = Simulation(5)
    yield made
    made.close()


def test_ticks_run_at_once_however_much_game_time_they_are(sim, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waited"))
    sim.tick()
    sim.tick(1000)
    assert sim.now == 1001
    assert sim.runtime.clock.now == pytest.approx(50.05)


def test_it_takes_a_runtime_of_the_callers_own(being, actions):
    runtime = Runtime(9, ticks_per_second=7, host="plain")
    sim = Simulation(runtime=runtime)
    assert sim.runtime is runtime
    agent = runtime.add(being([actions.Forever]))
    sim.tick()
    sim.close()
    assert agent.entity.diary == [(1, "start"), (1, "run"), (2, "stop")]


def test_run_until_asks_before_the_first_tick_and_after_each(sim, being, actions):
    agent = sim.add(being([actions.Work]))
    asked = []

    def is_done():
        asked.append(sim.now)
        return (4, "done") in agent.entity.diary

    assert sim.run_until(is_done) == 4
    assert asked == [0, 1, 2, 3, 4]
    assert sim.run_until(is_done) == 0
    assert sim.now == 4


def test_run_until_reaches_exactly_its_limit(sim):
    assert sim.run_until(lambda: sim.now == 5, limit=5) == 5
    with pytest.raises(SimulationTimeout):
        sim.run_until(lambda: sim.now == 11, limit=5)
    assert sim.now == 10


def test_the_error_says_what_each_agent_was_doing(sim, being, actions):
    for name in ("anna", "bert"):
        sim.add(being([actions.Forever], name))
    with pytest.raises(SimulationTimeout) as info:
        sim.run_until(lambda: False, limit=3)
    error = info.value
    assert str(error) == "\n".join(
        [
            "[ART307] the condition was not true within 3 ticks (at tick 3).",
            "anna at tick 3: agentrt:top/Forever",
            "  <agentrt:top> running",
            "    * forever: running, utility 0.5, since tick 1, waits until tick 1000001",
            "bert at tick 3: agentrt:top/Forever",
            "  <agentrt:top> running",
            "    * forever: running, utility 0.5, since tick 1, waits until tick 1000001",
        ]
    )
    assert (error.limit, len(error.agents), error.tick) == (3, 2, 3)


def test_the_error_of_a_crowd_is_short(sim, being, actions):
    for number in range(25):
        sim.add(being([actions.Forever], f"being {number}"))
    with pytest.raises(SimulationTimeout) as info:
        sim.run_until(lambda: False, limit=1)
    assert str(info.value).splitlines()[-1] == "and 15 more agents"
    assert "being 9 at tick" in str(info.value)
    assert "being 10 at tick" not in str(info.value)
    with pytest.raises(SimulationTimeout, match=r"within 2 ticks \(at tick 2\)\.\n"):
        Simulation().run_until(lambda: False, limit=2)


def test_the_trace_is_a_list_of_records(sim, being, actions):
    sim.add(being([actions.Forever]))
    sim.tick()
    assert [record.line() for record in sim.trace] == [
        "1 being added",
        "1 being agentrt:top/Forever ready utility=0.5",
        "1 being agentrt:top elect action='Forever' utility=0.5 ready='Forever 0.5'",
        "1 being agentrt:top/Forever start",
        "1 being agentrt:top/Forever stop_thinking",
        "1 being agentrt:top/Forever run",
    ]
    assert sim.events("start", "run") == [
        (1, "being", "agentrt:top/Forever", "start"),
        (1, "being", "agentrt:top/Forever", "run"),
    ]
    assert len(sim.events()) == 6


@pytest.mark.parametrize("keep", [0, 1, 7, 50])
def test_of_a_long_run_the_newest_records_are_kept(being, actions, keep):
    whole, short = Simulation(1), Simulation(1, keep=keep)
    for sim in (whole, short):
        sim.add(being([actions.Work]))
        sim.tick(60)
        assert len(sim.trace) == (keep if sim is short else len(whole.trace))
    assert len(whole.trace) > 50
    assert short.trace == whole.trace[len(whole.trace) - keep :]
    assert short.digest() == whole.digest()
    whole.close()
    short.close()


def test_equal_seeds_give_equal_digests_and_others_others(being, actions):
    class Twin(actions.Work):
        """As good as the other: the seed draws."""

    def digest(seed, watch=False):
        sim = Simulation(seed)
        if watch:
            sim.runtime.trace.listen(lambda record: None)
            sim.runtime.after_tick(lambda: [agent.snapshot() for agent in sim.runtime.agents])
        sim.add(being([actions.Work, Twin]))
        sim.tick(100)
        sim.close()
        return sim.digest()

    assert digest(1) == digest(1) == digest(1, watch=True)
    assert len({digest(seed) for seed in range(5)}) == 5
    assert digest("a name") == digest("a name")


def test_after_the_end_nothing_is_recorded(being, actions):
    sim = Simulation()
    sim.add(being([actions.Forever]))
    sim.tick()
    sim.close()
    assert sim.events()[-1] == (2, "being", "", "removed")
    records, digest = len(sim.trace), sim.digest()
    assert not sim.runtime.trace.on
    sim.add(being([actions.Forever], "late"))
    sim.tick()
    assert (len(sim.trace), sim.digest()) == (records, digest)
    sim.runtime.close()


def test_a_simulation_is_plain_inside_an_event_loop(asyncio_player, being, actions):
    async def main():
        sim = Simulation()
        agent = sim.add(being([actions.Work]))
        sim.tick(4)
        assert sim.runtime.host == "plain"
        sim.close()
        return agent.entity.diary[:3]

    assert asyncio_player(main) == [(1, "start"), (1, "run"), (4, "done")]


def test_a_digest_of_ones_own(sim, being, actions):
    digest = TraceDigest(sim.runtime.trace)
    sim.add(being([actions.Work]))
    sim.tick(9)
    assert digest.hexdigest() == sim.digest()
    assert digest.records == len(sim.trace)
