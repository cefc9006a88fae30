"""How drivers end with their agent and runtime, what becomes of faults, what tools see, and any course of events."""

from __future__ import annotations

import asyncio
import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

from agentrt import TOP, Agent, CancelScope, Runtime, sleep_ticks
from agentrt.errors import NotRunningError

fakes = load("tests/runtime/fake_drivers.py")
at_phase = fakes.at_phase
being = fakes.being
driven = fakes.driven
errors = fakes.errors
Fake = fakes.Fake
faults = fakes.faults
Rest = fakes.Rest


# --- the end of a runtime ---------------------------------------------------------------------------------------------


def test_closing_waits_for_clean_up_in_game_time(play):
    log = []
    runtime = play.runtime()
    runtime.add(being(drivers=[Fake(log=log, clean_up=7)]))
    play.ticks(runtime, 2)
    assert log[-2:] == [(3, "ann", "fake", "leave"), (10, "ann", "fake", "clean")]


def test_closing_kills_a_routine_that_does_not_end(play, logged):
    runtime = play.runtime()
    agent = runtime.add(being(drivers=[Fake(clean_up=1_000_000)]))
    play.ticks(runtime, 2)
    assert agent.has_ended.is_set
    assert any("run raised" in text for _, text in logged())


def test_closing_ends_what_an_agent_that_ended_left_behind(plain):
    runtime = plain.runtime()
    driver = Fake(clean_up=30)
    agent = runtime.add(being(drivers=[driver]))
    runtime.step()
    agent.attachments[0].detach()
    runtime.remove(agent)
    runtime.step()
    runtime.close()
    assert driver.routine is None


def test_on_a_host_leaving_may_wait_for_the_host(play_loop):
    log = []

    class Real(Fake):
        async def work(self):
            try:
                await sleep_ticks(1_000_000)
            finally:
                with CancelScope(shield=True):
                    await play_loop.sleep(0.2)
                    self.note("clean")

    runtime = play_loop.runtime(ticks_per_second=10)
    agent = runtime.add(being(drivers=[Real(log=log, clean_up=0)]))
    runtime.every_tick(lambda: runtime.tick == 2 and agent.attachments and agent.attachments[0].detach())

    async def main():
        await runtime.run(8)
        await runtime.aclose()

    play_loop(main)
    assert [what for *_, what in log] == ["join", "drive", "drive", "leave", "clean"]
    assert agent.attachments == ()


def test_the_same_order_on_all_hosts(play):
    log = []
    runtime = play.runtime()
    for name in ("ann", "bob"):
        agent = runtime.add(being(name, [Fake("goals", 2, log, clean_up=2)]))
        agent.attach(Fake("tree", 3, log), every=3)
    runtime.every_tick(lambda: runtime.tick == 3 and runtime.remove(runtime.agents[0]))
    play.ticks(runtime, 7)
    assert log == EXPECTED


EXPECTED = [
    (1, "ann", "goals", "join"),
    (1, "ann", "tree", "join"),
    (1, "bob", "goals", "join"),
    (1, "bob", "tree", "join"),
    (1, "ann", "goals", "drive"),
    (1, "bob", "goals", "drive"),
    (1, "bob", "tree", "drive"),
    (2, "ann", "goals", "drive"),
    (2, "ann", "tree", "drive"),
    (2, "bob", "goals", "drive"),
    (3, "ann", "goals", "drive"),
    (3, "bob", "goals", "drive"),
    (4, "ann", "tree", "leave"),
    (4, "ann", "goals", "leave"),
    (4, "bob", "goals", "drive"),
    (4, "bob", "tree", "drive"),
    (5, "bob", "goals", "drive"),
    (6, "bob", "goals", "drive"),
    (6, "ann", "goals", "clean"),
    (7, "bob", "goals", "drive"),
    (7, "bob", "tree", "drive"),
    (8, "bob", "tree", "leave"),
    (8, "bob", "goals", "leave"),
    (10, "bob", "goals", "clean"),
]


# --- faults -----------------------------------------------------------------------------------------------------------


def test_one_that_raises_is_reported_once_and_the_next_one_drives(plain, logged):
    log = []
    runtime = plain.runtime()
    runtime.add(being(drivers=[Fake("bad", 1, [], raises={"drive"}), Fake("good", 2, log)]))
    runtime.add(being("bob", [Fake("other", 1, log)]))
    plain.ticks(runtime, 3)
    assert len(driven(log)) == 6
    assert errors(logged) == ["drive raised ValueError"]


def test_one_that_raises_when_it_joins_is_not_attached(plain, logged):
    log = []
    runtime = plain.runtime()
    seen = faults(runtime)
    agent = runtime.add(being(drivers=[Fake("bad", 1, log, raises={"join"}), Fake("good", 2, log)]))
    bad = agent.attachments[0]
    plain.ticks(runtime, 2)
    assert [(tick, name, what) for tick, _, name, what in log] == [
        (1, "bad", "join"),
        (1, "good", "join"),
        (1, "good", "drive"),
        (2, "good", "drive"),
        (3, "good", "leave"),
    ]
    assert not bad.is_live
    assert seen() == [("ann", "bad", "join")]
    assert [one.driver.name for one in agent.attachments] == ["good"]
    assert errors(logged) == ["join raised ValueError"]


def test_what_is_no_driver_at_all_is_not_attached(plain):
    class Tree:
        """What somebody attached by mistake."""

    runtime = plain.runtime()
    agent = being()
    with pytest.raises(AttributeError):
        agent.attach(Tree())
    assert agent.attachments == ()
    runtime.add(agent)
    runtime.step()
    assert agent.snapshot().running == f"{TOP}/Rest"
    runtime.close()


def test_one_that_raises_when_it_leaves_has_left(plain, logged):
    runtime = plain.runtime()
    seen = faults(runtime)
    agent = runtime.add(being(drivers=[Fake("bad", raises={"leave"}), Fake("worse", clean_up=0, raises={"leave"})]))
    plain.ticks(runtime, 2)
    assert not agent.is_alive
    assert seen() == [("ann", "worse", "leave"), ("ann", "bad", "leave")]
    assert len(logged()) == 2


def test_one_that_raises_before_it_has_stopped_anything_is_stopped(plain, logged):
    class Abrupt(Fake):
        def leave(self, reason, then):
            raise ValueError("no")

    runtime = plain.runtime()
    driver = Abrupt(clean_up=0)
    agent = runtime.add(being(drivers=[driver]))
    plain.ticks(runtime, 2)
    assert not agent.is_alive
    assert driver.log[-1] == (3, "ann", "fake", "clean")
    assert driver.routine is None


def test_one_that_says_that_it_left_and_raises_then_is_counted_once(plain, logged):
    class Twice(Fake):
        def leave(self, reason, then):
            then()
            then()
            raise ValueError("and again")

    runtime = plain.runtime()
    slow = Fake("slow", 1, clean_up=3)
    agent = runtime.add(being(drivers=[slow, Twice("twice", 2)]))
    runtime.step()
    runtime.remove(agent)
    runtime.step()
    assert agent.is_alive
    for _ in range(4):
        runtime.step()
    assert slow.log[-1][3] == "clean"
    assert not agent.is_alive
    assert errors(logged) == ["leave raised ValueError"]


def test_a_routine_that_raises_is_reported_once_with_its_path(play, logged):
    class Failing(Fake):
        async def work(self):
            raise ValueError("no")

    runtime = play.runtime()
    seen = faults(runtime)
    runtime.add(being(drivers=[Failing(clean_up=0)]))
    play.ticks(runtime, 3)
    assert seen() == [("ann", "fake", "run")] * 3
    assert errors(logged) == ["run raised ValueError"]


# --- looking ----------------------------------------------------------------------------------------------------------


def test_a_snapshot_shows_them_in_the_order_of_a_tick(plain):
    runtime = plain.runtime()
    agent = runtime.add(being(drivers=[Fake("tree", 3, clean_up=0), Fake("goals", 2, precedence=4)]))
    agent.attach(Fake("targets", 1), every=6)
    runtime.step()
    views = agent.snapshot().drivers
    assert [(one.name, one.rank, one.every, one.precedence, one.state.state) for one in views] == [
        ("targets", 1, 6, 0, "idle"),
        ("goals", 2, 1, 4, "idle"),
        ("tree", 3, 1, 0, "at work"),
    ]
    json.dumps(agent.snapshot().as_json())
    assert "it is at work" in agent.explain()
    runtime.close()


def test_the_number_is_that_of_the_entity_or_of_the_arrival(plain):
    class Thing:
        name = "thing"

    runtime = plain.runtime()
    first, second = Agent(Thing()), Agent(Thing())
    second.entity.id = 77
    third = Agent(Thing())
    third.entity.id = "not a number"
    assert first.number == 0
    for agent in (first, second, third):
        runtime.add(agent)
    assert [agent.number for agent in (first, second, third)] == [1, 77, 3]
    runtime.close()


def test_an_agent_outside_a_runtime_performs_nothing():
    with pytest.raises(NotRunningError, match="runtime.add"):
        being().perform("walk")


def test_agent_run_returns_when_its_drivers_have_left(play_loop):
    runtime = play_loop.runtime()
    driver = Fake(clean_up=3)
    agent = runtime.add(being(drivers=[driver]))
    runtime.every_tick(lambda: runtime.tick == 4 and runtime.remove(agent))
    play_loop(agent.run)
    assert driver.log[-1] == (8, "ann", "fake", "clean")


def test_an_agent_that_is_cancelled_has_its_drivers_leave(asyncio_player):
    driver = Fake(clean_up=2)
    agent = being(drivers=[driver])

    async def main():
        task = asyncio.get_running_loop().create_task(agent.run())
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio_player(main)
    assert driver.log[-1][3] == "clean"
    assert not agent.is_alive


# --- any course of events ---------------------------------------------------------------------------------------------

CHANGES = st.lists(
    st.tuples(
        st.sampled_from(("attach", "attach", "detach", "remove", "add")),
        st.integers(1, 12),
        st.sampled_from(("intake", "every tick", "drivers", "strands", "publish")),
        st.integers(0, 3),
        st.sampled_from((None, None, 0, 3)),
    ),
    max_size=14,
)


class Town:
    """Agents and drivers, and what changes in each phase of each tick."""

    def __init__(self, changes):
        self.changes = changes
        self.log = []
        self.known = []
        self.runtime = Runtime(host="plain")
        self.agents = [self.runtime.add(being(f"agent {number}")) for number in range(2)]
        for phase in ("every tick", "strands", "publish"):
            at_phase(self.runtime, phase, partial(self.due, phase))
        trigger = Fake("trigger", 0, [], when={"drive": lambda _: self.due("drivers")})
        self.runtime.add(being("first", [trigger]))

    def due(self, phase):
        for what, tick, when, number, clean_up in self.changes:
            if (tick, when) == (self.runtime.tick + (when == "intake"), phase):
                self.change(what, number, clean_up)

    def change(self, what, number, clean_up):
        agent = self.agents[number % len(self.agents)]
        live = [one for one in agent.attachments if one.is_live]
        if what == "attach":
            driver = Fake(f"d{len(self.known)}", number, self.log, clean_up=clean_up)
            self.known.append((driver, number % 2 + 1))
            agent.attach(driver, every=number % 2 + 1)
        elif what == "detach" and live:
            live[number % len(live)].detach()
        elif what == "remove":
            self.runtime.remove(agent)
        elif what == "add":
            self.agents.append(self.runtime.add(being(f"agent {len(self.agents)}")))


@pytest.mark.slow
@given(CHANGES)
def test_whatever_comes_and_goes_each_joins_and_leaves_in_turn_and_drives_in_order(changes):
    town = Town(changes)
    for _ in range(20):
        town.runtime.post(town.due, "intake")
        town.runtime.step()
    town.runtime.close()
    assert town.runtime.kernel.live == 0
    for driver, every in town.known:
        check_life([(tick, what) for tick, _, name, what in town.log if name == driver.name], driver, every)
    names = [agent.name for agent in town.agents]
    places = {driver.name: (driver.rank, place) for place, (driver, _) in enumerate(town.known)}
    drives = [(tick, agent, name) for tick, agent, name, what in town.log if what == "drive"]
    for tick in range(1, 21):
        order = [(names.index(agent), places[name]) for when, agent, name in drives if when == tick]
        assert order == sorted(order)


def check_life(mine, driver, every):
    """It joined, drove in each tick of its cadence, left, and then cleaned up."""
    if mine:
        hooks = [what for _, what in mine if what != "drive"]
        assert hooks == ["join", "leave", "clean"][: len(hooks)]
        assert "leave" in hooks
        left = next(tick for tick, what in mine if what == "leave")
        ticks = [tick for tick, what in mine if what == "drive"]
        assert ticks == [tick for tick in range(mine[0][0], left) if (tick + driver.body.number) % every == 0]
        assert driver.routine is None
