"""Who is told of faults, and how often: ``runtime.on_fault`` each time, the log once and at powers of ten."""

from __future__ import annotations

import re

import pytest

import agentrt.agent.faults
from agentrt import TOP, Action, Agent, Entity, Fault, Runtime
from agentrt.kernel.signals import Signal
from agentrt.testing import Simulation


class Broken(Action):
    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        raise ValueError(f"broken at tick {ctx.clock.tick}")


def broken():
    raise ValueError("broken")


def broken_with(number):
    raise ValueError(f"broken {number}")


def fails_with(kind):
    raise kind


@pytest.fixture
def sim():
    made = Simulation()
    yield made
    made.close()


@pytest.fixture
def told(sim):
    """What ``on_fault`` told, in short."""
    lines = []
    sim.runtime.on_fault(lambda one: lines.append((one.tick, one.agent, one.path, one.text, str(one.error))))
    return lines


def counts(logged):
    """The lines of the log: which tick, and how many there were; 1 for those with a traceback."""
    found = []
    for _, line in logged():
        times = re.search(r"times=(\d+) since=(\d+) error='ValueError", line)
        assert ("Traceback" in line) == (times is None)
        tick = int(re.search(r"tick=(\d+)", line)[1])
        found.append((tick, 1, tick) if times is None else (tick, int(times[1]), int(times[2])))
    return found


# --- who is told ------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Test kit and log: Who asks is told of each failure that nobody handled, with text, error, tick, agent and "
    "path, whatever the log's level",
)
def test_a_fault_has_its_place_and_what_was_raised(sim, being):
    faults = []
    sim.runtime.on_fault(faults.append)
    sim.add(being([Broken], "smith"))
    sim.runtime.post(broken)
    sim.tick()
    posted, ran = faults[:2]
    assert posted == Fault("a function of the tick raised: broken", posted.error, 1)
    assert ran == Fault("run raised ValueError", ran.error, 1, "smith", "agentrt:top/Broken")
    assert str(ran.error) == "broken at tick 1"
    assert ran.error.__traceback__ is not None


@pytest.mark.states("tools: Test kit and log: Who asks is told of each failure that nobody handled, with text ...")
def test_each_time_counts_and_the_end_of_an_agent_is_one(sim, being, told):
    sim.add(being([Broken], "smith"))
    sim.tick(40)
    ran, killed = told[:-1], told[-1]
    assert [one[1:4] for one in ran] == [("smith", "agentrt:top/Broken", "run raised ValueError")] * 10
    assert killed[1] == "smith"
    assert killed[3] == "the planner was killed"
    assert killed[4].startswith("[ART303] the planner was killed after 10 aborts in a row")


def test_a_strand_and_a_connected_function_are_told(sim, told):
    async def tide():
        broken()

    rung = Signal()
    rung.connect(broken)
    sim.runtime.spawn(tide)
    sim.runtime.post(rung.emit)
    sim.tick()
    assert [(one[0], one[3]) for one in told] == [
        (1, f"a function connected to {rung!r} raised"),
        (1, f"the strand {tide.__qualname__!r} raised"),
    ]


@pytest.mark.states("tools: Test kit and log: Who asks is told of each failure that nobody handled, with text ...")
def test_it_is_told_while_the_log_is_off(sim, told, logged):
    sim.runtime.log_level = "off"
    sim.runtime.post(broken)
    sim.tick()
    assert logged() == []
    assert [one[3] for one in told] == ["a function of the tick raised: broken"]


def test_what_is_no_fault_is_not_told(sim, being, told):
    class Refuses(Action):
        does = TOP
        utility = 0.5

        async def think(self, ctx, args):
            ctx.reject("never")

    sim.add(being([Refuses], "smith"))
    sim.tick(5)
    sim.runtime.remove(sim.runtime.agents[0])
    sim.tick(2)
    assert told == []


def test_it_ends_when_it_is_told_to(sim):
    faults, others = [], []
    end = sim.runtime.on_fault(faults.append)
    sim.runtime.on_fault(others.append)
    sim.runtime.every_tick(broken)
    sim.tick()
    end()
    end()
    sim.tick()
    assert [one.tick for one in faults] == [1]
    assert [one.tick for one in others] == [1, 2]


def test_one_that_is_ended_by_another_is_passed_over(sim):
    faults = []
    ends = []
    sim.runtime.on_fault(lambda one: ends[0]())
    ends.append(sim.runtime.on_fault(faults.append))
    sim.runtime.post(broken)
    sim.tick()
    assert faults == []


# --- watching changes nothing -----------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Test kit and log: Who is told of faults and raises is dropped and reported, and the run is the same",
)
def test_one_that_raises_is_dropped_and_told_and_changes_nothing(being, logged):
    def played(*callbacks):
        sim = Simulation(3)
        for callback in callbacks:
            sim.runtime.on_fault(callback)
        sim.runtime.every_tick(broken)
        sim.add(being([Broken], "smith"))
        sim.tick(20)
        sim.close()
        return sim.digest()

    calls, texts = [], []

    def raises_at_the_third(fault):
        calls.append(fault.tick)
        if len(calls) == 3:
            raise KeyError("listener")

    alone = played()
    before = len(logged())
    assert played(raises_at_the_third, lambda fault: texts.append(fault.text)) == alone
    assert len(calls) == 3
    assert texts.count("a function of on_fault raised and was dropped") == 1
    assert texts.count("a function of the tick raised: broken") == 20
    lines = [line for _, line in logged()[before:] if "event='a function of on_fault" in line]
    assert len(lines) == 1
    assert "KeyError" in lines[0]


def test_who_watches_and_is_dropped_is_told_and_stays_out_of_the_trace(sim, told):
    def raises(record):
        raise ValueError("listener")

    sim.runtime.trace.listen(raises)
    sim.runtime.note("dusk")
    assert told == [(0, "", "", "a trace listener raised and was dropped", "listener")]
    assert [record.event.value for record in sim.trace] == ["note"]


# --- how often it is logged -------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Test kit and log: The same fault of the same function is logged in full once, and then at powers of ten; "
    "the trace and who asks get each",
)
def test_the_same_fault_is_logged_once_and_then_counted(sim, told, logged):
    sim.runtime.every_tick(broken)
    sim.tick(250)
    assert counts(logged) == [(1, 1, 1), (10, 10, 1), (100, 100, 1)]
    assert [one[0] for one in told] == list(range(1, 251))


def test_what_it_says_does_not_count(sim, logged):
    for number in range(3):
        sim.runtime.post(broken_with, number)
    sim.tick()
    assert counts(logged) == [(1, 1, 1)]


@pytest.mark.states("tools: Test kit and log: The same fault of the same function is logged in full once, and then ...")
def test_another_function_another_line_and_another_error_are_others(sim, logged):
    def fails(kind, first):
        if first:
            raise kind("first")
        raise kind("second")

    for posted in ((broken,), (fails, ValueError, True), (fails, ValueError, False), (fails, KeyError, False)):
        sim.runtime.post(*posted)
        sim.runtime.post(*posted)
    sim.runtime.post(lambda: broken())
    sim.runtime.post(lambda: broken())  # another one, of the same name
    sim.tick()
    assert len(logged()) == 6


def test_what_has_no_lines_of_its_own_is_known_by_its_name(sim, logged):
    for function in (int, float, int, float):
        sim.runtime.post(function, "seven")
    sim.tick()
    assert len(logged()) == 2


def test_a_recursion_is_the_same_however_deep_it_went(sim, logged):
    def fall(depth):
        if depth == 0:
            broken()
        fall(depth - 1)

    sim.runtime.post(fall, 40)
    sim.runtime.post(fall, 50)
    sim.tick()
    assert len(logged()) == 1


def test_each_runtime_counts_for_itself(logged):
    for _ in range(2):
        sim = Simulation()
        sim.runtime.post(broken)
        sim.tick()
        sim.close()
    assert len(logged()) == 2


def test_places_are_forgotten_again(sim, logged, monkeypatch):
    monkeypatch.setattr(agentrt.agent.faults, "_MOST_PLACES", 2)
    for kind in (KeyError, ValueError, KeyError, ValueError, TypeError, ValueError, KeyError):
        sim.runtime.post(fails_with, kind)
    sim.tick()
    kinds = [re.search(r"\n(\w+)$", line)[1] for _, line in logged()]
    assert kinds == ["KeyError", "ValueError", "TypeError", "KeyError"]  # the third one took the place of the first


def test_an_agent_that_is_in_no_runtime_any_more_tells_the_log_alone(being, caplog):
    agent = being([Broken], "smith")
    agent.fault("nowhere", "it", ValueError("broken"))
    assert [record.getMessage() for record in caplog.records] == [
        "event='it raised ValueError' agent='smith' path='nowhere'\nValueError: broken"
    ]


def test_an_agent_that_comes_again_says_anew_what_its_hooks_raise(caplog):
    class Raises(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            raise ValueError("broken")

    agent = Agent(Entity("smith"), name="smith", top="top", actions=[Raises])
    for _ in range(2):
        runtime = Runtime(host="plain")
        runtime.add(agent)
        runtime.step()
        runtime.remove(agent)
        runtime.step()
        runtime.close()
    told = [record.getMessage().partition("\n")[0] for record in caplog.records]
    assert told == ["event='think raised ValueError' agent='smith' path='top/Raises' tick=1"] * 2
