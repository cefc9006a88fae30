"""Stubs of the outside and of services: what they answer, when, and what they were asked."""

from __future__ import annotations

import pytest
from cast import Being
from players import HOSTS, Player

from agentrt import Action, Agent, Entity, Runtime
from agentrt.errors import UnansweredError
from agentrt.record import Recording, Replay
from agentrt.testing import AskedCall, Simulation, StubOutside, StubService


def fetch(number):
    raise AssertionError("nobody is to call it")


async def fetch_slowly(number):
    raise AssertionError("nobody is to call it")


class Database:
    def fetch(self, key):
        raise AssertionError("nobody is to call it")


def asker(*functions, name="Ann"):
    """An agent that makes one call after the other; its entity writes down (tick, what came of it)."""

    class Asks(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            for number, function in enumerate(functions):
                try:
                    came = await ctx.call(function, number)
                except Exception as error:
                    came = f"{type(error).__name__}: {error}"
                ctx.entity.diary.append((ctx.clock.tick, came))
            await ctx.sleep(1000)

    entity = Being(name)
    return Agent(entity, actions=[Asks], top="top")


def played(stub_for, *functions, ticks=12):
    sim = Simulation()
    agent = sim.add(asker(*functions))
    with StubOutside(sim) as outside:
        stub_for(outside)
        sim.tick(ticks)
    sim.close()
    return agent.entity.diary, outside.calls


# --- answers ----------------------------------------------------------------------------------------------------------


def test_answers_one_after_the_other_the_last_one_for_ever():
    diary, calls = played(lambda outside: outside.answer(fetch, "a", "b"), fetch, fetch, fetch)
    assert diary == [(2, "a"), (3, "b"), (4, "b")]
    assert calls == [AskedCall(1 + number, "fetch", (number,), {}) for number in range(3)]
    assert calls[2].text() == "fetch(2)"


@pytest.mark.states(
    "tools: Test kit and log: `ctx.call` is answered by stubs after a number of ticks, at an intake, on each host; a "
    "recording keeps the answers",
    source='design 2, "await anything"',
)
@pytest.mark.parametrize("after", [1, 2, 5])
def test_an_answer_comes_after_so_many_ticks(after):
    diary, _ = played(lambda outside: outside.answer(fetch, "a", after=after), fetch, fetch)
    assert diary == [(1 + after, "a"), (1 + 2 * after, "a")]


@pytest.mark.parametrize(
    ("function", "named"),
    [(fetch, fetch), (fetch, "fetch"), (fetch_slowly, fetch_slowly), (Database().fetch, "Database.fetch"),
     (Database().fetch, "fetch")],
)  # fmt: skip
def test_a_function_is_named_by_itself_or_by_its_name(function, named):
    assert played(lambda outside: outside.answer(named, 7), function)[0] == [(2, 7)]


def test_a_bound_method_is_that_of_its_object():
    one, other = Database(), Database()
    diary, _ = played(lambda outside: outside.answer(one.fetch, 1).answer(other.fetch, 2), other.fetch, one.fetch)
    assert diary == [(2, 2), (3, 1)]


def test_errors_functions_and_nothing():
    diary, _ = played(
        lambda outside: outside.answer(fetch, KeyError("x"), ValueError, lambda number: number * 10).answer("fetch_slowly"),
        fetch, fetch, fetch, fetch_slowly,
    )  # fmt: skip
    assert diary == [(2, "KeyError: 'x'"), (3, "ValueError: "), (4, 20), (5, None)]


def test_what_is_said_last_counts():
    assert played(lambda outside: outside.answer(fetch, 1).answer(fetch, 2), fetch)[0] == [(2, 2)]


def test_answers_that_are_kept_back():
    sim = Simulation()
    agent = sim.add(asker(fetch, fetch))
    outside = StubOutside(sim.runtime).answer(fetch, "a", after=None)
    sim.tick(5)
    assert agent.entity.diary == []
    assert outside.release() == 1
    sim.tick(1)
    assert agent.entity.diary == [(6, "a")]
    assert (outside.release(), outside.release()) == (1, 0)
    sim.close()


def test_an_answer_cannot_come_in_the_same_tick():
    with pytest.raises(ValueError, match="after is 0: an answer comes in at an intake"):
        StubOutside(Simulation()).answer(fetch, 1, after=0)


# --- what has no answer -----------------------------------------------------------------------------------------------


def test_what_nobody_told_it_is_an_error_where_it_is_awaited():
    diary, calls = played(lambda outside: outside.answer("fetch_slow", 1), fetch_slowly)
    ((tick, text),) = diary
    assert tick == 2
    assert text == (
        "UnansweredError: [ART311] the stub of the outside has no answer for fetch_slowly(0). It answers fetch_slow. "
        "Did you mean 'fetch_slow'? Tell it: answer(name, value)."
    )
    assert [call.name for call in calls] == ["fetch_slowly"]


def test_it_can_let_others_through():
    sim = Simulation()
    agent = sim.add(asker(fetch, lambda number: number + 100))
    outside = StubOutside(sim, lets_through=True).answer(fetch, "a")
    sim.tick(5)
    assert agent.entity.diary == [(2, "a"), (3, 101)]
    assert [call.name for call in outside.calls] == ["fetch"]
    sim.close()


def test_when_it_goes_the_one_before_is_back():
    sim = Simulation()
    sim.add(asker(fetch, fetch, fetch))
    first = StubOutside(sim).answer(fetch, 1)
    with StubOutside(sim).answer(fetch, 2) as second:
        sim.tick(1)
    sim.tick(2)
    assert (len(second.calls), len(first.calls)) == (1, 2)
    first.close()
    assert sim.runtime.calls.answers is None
    first.close()
    sim.close()


def test_stubs_may_go_in_any_order():
    sim = Simulation()
    first, second, third = StubOutside(sim), StubOutside(sim), StubOutside(sim)
    answers = []
    for one in (second, third, first):
        one.close()
        answers.append(sim.runtime.calls.answers)
    assert answers == [third, first, None]
    sim.close()


def test_who_is_cancelled_gets_no_answer():
    sim = Simulation()
    agent = sim.add(asker(fetch))
    with StubOutside(sim).answer(fetch, "late", after=4):
        sim.tick(2)
        sim.runtime.remove(agent)
        sim.tick(5)
    assert agent.entity.diary == []
    assert sim.runtime.kernel.live == 0
    sim.close()
    assert sim.faults() == []


# --- hosts and recordings ---------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Test kit and log: `ctx.call` is answered by stubs after a number of ticks, at an ...")
@pytest.mark.parametrize("host", HOSTS)
def test_the_same_on_each_host(host):
    """Nothing of the host is used: a coroutine function is answered without an event loop, too."""
    player = Player(host)
    runtime = player.runtime()
    agent = runtime.add(asker(fetch_slowly, fetch))
    StubOutside(runtime).answer(fetch_slowly, "slow", after=3).answer(fetch, "quick")
    player.ticks(runtime, 8)
    assert agent.entity.diary == [(4, "slow"), (5, "quick")]
    player.check()


@pytest.mark.states("tools: Test kit and log: `ctx.call` is answered by stubs after a number of ticks, at an ...")
def test_a_recording_keeps_the_answers_and_a_replay_needs_no_stub(tmp_path):
    def make(seed, host):
        runtime = Runtime(seed, host=host)
        runtime.add(asker(fetch, fetch))
        return runtime

    sim = Simulation(runtime=make(3, "plain"))
    with sim.runtime.record(tmp_path / "it.sqlite"), StubOutside(sim).answer(fetch, {"a": 1}, KeyError("x"), after=2):
        sim.tick(8)
    sim.close()
    with Recording.open(tmp_path / "it.sqlite") as recording:
        assert [(one.tick, one.value, repr(one.error)) for one in recording.inputs()] == [
            (3, {"a": 1}, "None"),
            (5, None, "KeyError('x')"),
        ]
        replayed = Replay(recording, make)
        replayed.to(8)
        assert replayed.difference is None
        replayed.close()


# --- services ---------------------------------------------------------------------------------------------------------


class Finder:
    """A component that an action asks for a path."""


def test_a_service_answers_and_writes_down():
    finder = StubService("finder", find=["a", "b"]).answer("count", 1, 2).answer("add", lambda a, b=0: a + b)
    assert finder.find(7) == ["a", "b"]
    assert [finder.count(), finder.count(), finder.count()] == [1, 2, 2]
    assert finder.add(3, b=4) == 7
    assert [call.text() for call in finder.calls] == ["find(7)", "count()", "count()", "count()", "add(3, b=4)"]
    assert finder.calls[0].tick is None
    assert repr(finder) == "<StubService 'finder': find, count, add>"


def test_a_service_fails_as_it_is_told():
    broken = StubService().answer("find", KeyError("x"), "found")
    with pytest.raises(KeyError):
        broken.find()
    assert broken.find() == "found"


def test_what_a_service_does_not_have():
    finder = StubService("finder", find=1)
    with pytest.raises(
        UnansweredError, match="the stub 'finder' has no answer for fund. It answers find. Did you mean 'find'"
    ):
        finder.fund(3)
    assert not hasattr(finder, "destroyed")
    assert not hasattr(finder, "_private")
    with pytest.raises(UnansweredError, match="answers nothing yet"):
        StubService().find()


def test_a_service_that_takes_time_is_awaited_in_an_action(sim):
    finder = StubService("finder").answer("find", "path", ValueError("lost"), after=3)
    diary = []

    class Walks(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            diary.append((ctx.clock.tick, await ctx.entity[Finder].find("home")))
            try:
                await ctx.entity[Finder].find("away")
            except ValueError as error:
                diary.append((ctx.clock.tick, str(error)))
            await ctx.sleep(1000)

    entity = Entity("human")
    entity.add(finder, Finder)
    sim.add(Agent(entity, actions=[Walks], top="top"))
    sim.tick(8)
    assert [what for _, what in diary] == ["path", "lost"]
    assert [call.tick for call in finder.calls] == [1, 4]
    assert sim.now == 8


def test_what_is_said_anew_counts_for_a_method_that_somebody_holds():
    service = StubService(find=1)
    find = service.find
    service.answer("find", 2)
    assert (find(), service.find is find) == (2, True)


def test_a_service_can_stand_behind_a_call():
    sim = Simulation()
    service = StubService("db", fetch="row")
    agent = sim.add(asker(service.fetch))
    sim.tick(3)
    assert agent.entity.diary == [(2, "row")]
    outside = StubOutside(sim).answer(service.fetch, "other")
    other = sim.add(asker(service.fetch, name="Bob"))
    sim.tick(3)
    assert other.entity.diary == [(5, "other")]
    assert [call.name for call in outside.calls] == ["fetch"]
    sim.close()
