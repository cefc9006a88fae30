"""What each fault does at an await, to the letter, on every host; and how they are chosen at random."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load
from players import HOSTS

from agentrt import TOP, Action, Agent, Entity, Runtime, sleep_ticks
from agentrt.errors import InjectedFault
from agentrt.kernel.signals import Queue, Signal
from agentrt.testing import Simulation
from agentrt.testing import chaos as chaos_module
from agentrt.testing.chaos import FAULTS, MOMENTS, Chaos, ChaosFault, Point, play, random_plan

worlds = load("tests/chaos/worlds.py")


@pytest.fixture(autouse=True)
def silence(caplog):
    caplog.set_level("CRITICAL")


def hit(function, fault, *, wait=1, host="plain", ticks=8, error=InjectedFault, around=None):
    """Run one coroutine of the world, hit one of its awaits, and give the log that it wrote."""
    log = []
    runtime = Runtime(1, host=host)

    def plan(point):
        return fault if (point.strand, point.wait) == ("victim", wait) else None

    chaos = Chaos(runtime, plan, error=error)
    runtime.spawn(function, lambda *words: log.append((runtime.tick, *words)), name="victim")
    play(runtime, ticks, around(runtime) if around else lambda tick: None)
    assert chaos.finish() == []
    assert [(point.wait, done) for point, done in chaos.faults] == [(wait, fault)]
    return log


async def sleeps(log):
    try:
        await sleep_ticks(3)
        log("slept")
        await sleep_ticks(1)
        log("slept again")
    except Exception as error:
        log(type(error).__name__)
        await sleep_ticks(1)
        log("recovered")
    except BaseException:
        log("cancelled")
        raise
    finally:
        log("over")


@pytest.mark.states(
    "tools: Faults: At a point a strand can be cancelled, its await can raise or come late, its agent's entity be "
    "destroyed, its agent be removed",
    source="design 7",
)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    ("fault", "log"),
    [
        (ChaosFault("cancel", "inside"), [(1, "cancelled"), (1, "over")]),
        (ChaosFault("cancel", "soon"), [(1, "cancelled"), (1, "over")]),
        (ChaosFault("cancel", "intake"), [(2, "cancelled"), (2, "over")]),
        (ChaosFault("raise", "soon"), [(1, "InjectedFault"), (2, "recovered"), (2, "over")]),
        (ChaosFault("raise", "intake"), [(2, "InjectedFault"), (3, "recovered"), (3, "over")]),
        (ChaosFault("delay", ticks=2), [(6, "slept"), (7, "slept again"), (7, "over")]),
    ],
    ids=str,
)
def test_a_sleeper(host, fault, log):
    assert hit(sleeps, fault, host=host) == log


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    ("fault", "log"),
    [
        (ChaosFault("cancel"), []),
        (ChaosFault("delay", ticks=2), [(6, "slept"), (7, "slept again"), (7, "over")]),
    ],
    ids=str,
)
def test_before_its_first_step(host, fault, log):
    assert hit(sleeps, fault, wait=0, host=host) == log


@pytest.mark.parametrize("host", HOSTS)
def test_what_a_signal_brought_is_kept_while_it_is_late(host):
    signal = Signal()

    async def waits(log):
        log(await signal.wait())

    def around(runtime):
        return lambda tick: tick == 3 and runtime.post(signal.emit, "bread")

    assert hit(waits, ChaosFault("delay", ticks=2), host=host, around=around) == [(5, "bread")]
    assert hit(waits, ChaosFault("raise", "intake"), host=host, around=around) == []


@pytest.mark.parametrize("host", HOSTS)
def test_a_thing_of_a_queue_is_not_lost(host):
    queue = Queue()

    async def takes(log):
        try:
            log(await queue.get())
        except InjectedFault:
            log("failed")
            log(await queue.get())

    def around(runtime):
        return lambda tick: tick == 3 and runtime.post(queue.put_nowait, "rope")

    assert hit(takes, ChaosFault("raise"), host=host, around=around) == [(1, "failed"), (3, "rope")]
    assert hit(takes, ChaosFault("delay", ticks=2), host=host, around=around) == [(5, "rope")]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_task_of_asyncio_can_be_cancelled_past_our_shields(moment):
    tick = 2 if moment == "intake" else 1
    assert hit(sleeps, ChaosFault("uproot", moment), host="asyncio") == [(tick, "cancelled"), (tick, "over")]


def test_a_future_that_fails_when_it_has_come():
    import asyncio

    async def waits(log):
        try:
            await asyncio.sleep(0)
        except InjectedFault:
            log("failed")

    assert hit(waits, ChaosFault("raise"), host="asyncio") == [(1, "failed")]


def test_an_error_of_ones_own():
    log = hit(sleeps, ChaosFault("raise"), error=ConnectionError)
    assert log[0] == (1, "ConnectionError")


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("number", range(4))
def test_what_nobody_foresees_is_raised_at_an_await(host, number, monkeypatch):
    burst = chaos_module.bursting(number)
    monkeypatch.setattr(chaos_module, "bursting", lambda point: burst)
    expected = "MuteError" if number == 1 else "cancelled"
    log = hit(sleeps, ChaosFault("burst"), host=host)
    assert log[0] == (1, expected)
    assert log[-1] == (2 if number == 1 else 1, "over")


def test_what_bursts_is_chosen_by_the_number_of_the_point():
    kinds = [type(chaos_module.bursting(number)).__name__ for number in range(8)]
    assert kinds == ["Burst", "MuteError", "CancelledError", "BaseExceptionGroup"] * 2
    for mute in (chaos_module.Burst(), chaos_module.MuteError()):
        for text in (str, repr):
            with pytest.raises(ArithmeticError):
                text(mute)


# --- what hits agents ---------------------------------------------------------------------------------------------------


def agents_hit(fault, scenario, number, host="plain", ticks=8):
    runtime = Runtime(1, host=host)
    chaos = Chaos(runtime, lambda point: fault if point.number == number else None, keep=True)
    scenario(runtime)
    play(runtime, ticks, lambda tick: None)
    assert chaos.finish() == []
    return chaos


def lines(chaos, agent, *kinds):
    return [(one.tick, one.event.value) for one in chaos.kept[agent] if one.event.value in kinds]


@pytest.mark.states("tools: Faults: At a point a strand can be cancelled, its await can raise or come late, its ...")
@pytest.mark.parametrize("host", HOSTS)
def test_an_agent_is_removed_at_the_next_intake_and_cleans_up(host):
    chaos = agents_hit(ChaosFault("remove"), worlds.walkers("ann", "bob"), 1, host)
    assert lines(chaos, "ann", "think", "stop_thinking", "removed") == [
        (1, "think"),
        (2, "stop_thinking"),
        (2, "removed"),
    ]
    assert lines(chaos, "bob", "start", "stop") == [(2, "start"), (6, "stop"), (7, "start"), (10, "stop")]


@pytest.mark.states("tools: Faults: At a point a strand can be cancelled, its await can raise or come late, its ...")
def test_an_entity_is_destroyed_and_whoever_listens_is_told():
    gone = []

    def scenario(runtime):
        worlds.walkers("ann")(runtime)
        runtime.agents[0].entity.destroyed.connect(lambda entity: gone.append((runtime.tick, entity.name)))

    agents_hit(ChaosFault("destroy"), scenario, 1)
    assert gone == [(1, "ann")]


def test_what_cannot_be_done_is_not_counted():
    def scenario(runtime):
        runtime.add(Agent(object(), name="ann", actions=[worlds.Walk]))

    assert agents_hit(ChaosFault("destroy"), scenario, 1).faults == []
    assert agents_hit(ChaosFault("uproot"), scenario, 1).faults == []
    assert agents_hit(ChaosFault("raise"), scenario, 2).faults == []


def test_a_coroutine_of_the_world_hits_somebody():
    def scenario(runtime):
        runtime.spawn(sleep_a_little, name="world")
        worlds.walkers("ann", "bob")(runtime)

    chaos = agents_hit(ChaosFault("remove"), scenario, 1)
    assert chaos.faults[0][0].agent == ""
    assert lines(chaos, "bob", "removed") == [(2, "removed")]
    assert lines(chaos, "ann", "removed") == [(10, "removed")]  # when the runtime is closed; it cleans up


async def sleep_a_little():
    await sleep_ticks(2)


class Meek(Action):
    """Catches what its await raises."""

    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        try:
            await ctx.sleep_ticks(3)
        except OSError:
            ctx.agent.runtime.note("it broke")


def test_an_action_that_catches_it_goes_on():
    sim = Simulation()
    sim.add(Agent(Entity("ann"), actions=[Meek]))
    report = sim.chaos(1, ticks=20, rate=1.0, faults=["raise"], error=OSError)
    assert report.check().faults["raise"] > 3
    assert sim.faults() == []
    notes = [one for one in sim.trace if one.event == "note"]
    assert len(notes) > 3
    assert [one for one in sim.trace if one.event == "abort"] == []


# --- at random ----------------------------------------------------------------------------------------------------------


def at(number):
    return Point(number, 1, "ann", "walk", 1)


@given(st.integers(), st.floats(0, 1), st.lists(st.sampled_from(FAULTS), min_size=1))
def test_equal_seeds_choose_equal_faults_of_the_given_kinds(seed, rate, faults):
    first, second = random_plan(seed, rate, faults), random_plan(seed, rate, faults)
    chosen = [first(at(number)) for number in range(20)]
    assert chosen == [second(at(number)) for number in range(20)]
    assert {one.kind for one in chosen if one} <= set(faults)
    assert all(one is not None for one in chosen) or rate < 1
    assert all(one is None for one in chosen) or rate > 0


def test_the_rate_is_how_often():
    plan = random_plan(1, 0.1, FAULTS)
    assert 60 < sum(plan(at(number)) is not None for number in range(1000)) < 140


def test_other_seeds_choose_others():
    assert [random_plan(1, 0.5, FAULTS)(at(n)) for n in range(9)] != [
        random_plan(2, 0.5, FAULTS)(at(n)) for n in range(9)
    ]


def test_a_fault_and_a_point_in_words():
    assert str(ChaosFault("delay", ticks=3)) == "delay by 3"
    assert str(ChaosFault("cancel", "intake")) == "cancel, intake"
    assert str(Point(7, 2, "ann", "walk", 0)) == "point 7 (tick 2, ann, 'walk', before its first step)"
    assert str(Point(8, 3, "", "world", 2)) == "point 8 (tick 3, the world, 'world', await 2)"
