"""What tests of strategies are made of: a body, a dependency, strategies in one line, and claims about the course."""

from __future__ import annotations

import pytest
from hypothesis import Phase, find, given, settings

from agentrt import MOVE, Agent
from agentrt.errors import DefinitionError, DependencyFailedError
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.strategy import Dependency, strategy
from agentrt.testing import (
    Have,
    Simulation,
    StubBody,
    TraceMismatch,
    check_trace,
    course,
    failed,
    solved,
    stub_strategy,
    tried,
)
from agentrt.testing.strategies import GameplayCase, WaySpec, gameplays


class Asked:
    """An agent that is asked for something, and what came of it."""

    def __init__(self, wanted, *strategies, goods=None, body=None, ticks=60):
        self.sim = Simulation()
        self.agent = self.sim.add(Agent(body or StubBody(goods=goods), name="Ann"))
        self.agent.gameplay.add_strategy(*strategies)
        self.came = "nothing"
        self.sim.runtime.spawn(self._ask, wanted)
        self.sim.tick(ticks)

    async def _ask(self, wanted):
        try:
            self.came = await self.agent.gameplay.solve(wanted)
        except DependencyFailedError as error:
            self.came = error

    def close(self):
        self.sim.close()
        assert check_trace(self.sim.trace, "Ann") == []
        assert self.agent.gameplay.running == ()


# --- stubs ------------------------------------------------------------------------------------------------------------


def test_a_strategy_in_one_line_gives_what_is_wanted():
    Chop = stub_strategy(cost=5.0, takes=3, label="Chop", returns="done")
    asked = Asked(Have("log", 2), Chop)
    assert (asked.came, asked.agent.entity.goods) == ("done", {"log": 2})
    assert Chop.calls.take() == [(1, "run"), (4, "finish")]
    assert Chop.calls.args == [{"item": "log", "count": 2}]
    asked.close()


def test_what_is_in_the_bag_holds_already():
    Chop = stub_strategy()
    asked = Asked(Have("log", 2), Chop, goods={"log": 3})
    assert (asked.came, Chop.calls.all) == (3, [])
    asked.close()


def test_needs_are_solved_in_order_and_priced_as_look_ahead_assumes_them():
    Chop = stub_strategy(cost=lambda ask, wanted: 4.0 if wanted.item == "log" else None, label="Chop")
    Saw = stub_strategy(
        cost=lambda ask, wanted: 1.0 if wanted.item == "plank" else None,
        needs=lambda wanted: [Have("log", wanted.count), Have("log", 1)],
        label="Saw",
    )
    asked = Asked(Have("plank", 2), Chop, Saw)
    assert asked.agent.gameplay.offers(Have("plank", 9)) == [
        ("saw", 5.0, ""), ("chop", float("inf"), "it says that it cannot"),
    ]  # fmt: skip
    assert course(asked.sim) == [
        "1 try Have [plank, 2] by Saw",
        "  1 try Have [log, 2] by Chop",
        "  2 solved Have [log, 2] by Chop",
        "  2 solved Have [log, 1]",
        "3 solved Have [plank, 2] by Saw",
    ]
    asked.close()


def test_how_it_ends_is_a_script():
    Drop = stub_strategy(fails=["it broke", ValueError("no"), None], takes=0, label="Drop")
    first, second, third = (Asked(Have("log"), Drop) for _ in range(3))
    assert isinstance(first.came, DependencyFailedError)
    assert "it raised ValueError: no" in str(second.came)
    assert third.agent.entity.goods == {"log": 1}
    for asked in (first, second, third):
        asked.close()


def test_effects_and_what_else_a_strategy_declares():
    given_by = []
    Push = stub_strategy(gives=lambda ctx, wanted: given_by.append(wanted), flags={MOVE}, takes=None, patience=0.5)
    Pull = stub_strategy(gives={"log": 1, "bark": -1}, cost=2.0, label="Pull")
    asked = Asked(Have("log"), Push, Pull)
    assert (Push.flags, given_by) == ({MOVE}, [])
    failed(asked.sim, Have("log"), by=Push, reason="hang", tick=11)
    assert asked.agent.entity.goods == {"log": 1, "bark": -1}
    asked.close()


def test_it_may_provide_something_else():
    class Song(Dependency[str], activity="mod:song"):
        pass

    asked = Asked(Song(), stub_strategy(Song, gives={"joy": 1}, returns="la", label="Sing"))
    assert (asked.came, asked.agent.entity.goods) == ("la", {"joy": 1})
    with pytest.raises(DefinitionError, match="its name is"):
        stub_strategy(Song, label="not a name")
    asked.close()


# --- claims -----------------------------------------------------------------------------------------------------------


@strategy(Have, cost=1)
async def beg(ctx, wanted):
    ctx.fail("nobody gave any")


@pytest.fixture
def asked():
    made = Asked(Have("log"), beg, stub_strategy(cost=9.0, label="Chop"))
    yield made
    made.close()


def test_claims_about_one_dependency(asked):
    assert tried(asked.sim, Have("log")) == tried(asked.sim, Have) == tried(asked.sim, "Have [log, 1]") == [
        "Beg", "Chop",
    ]  # fmt: skip
    assert tried(asked.sim, Have("stone")) == tried(asked.sim, Have, agent="Bob") == []
    assert failed(asked.sim, Have, by=beg, reason="nobody").tick == 1
    assert solved(asked.sim, Have("log"), by="Chop", times=1, agent="Ann").tick == 2


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (lambda sim: solved(sim, Have("log"), by=beg), "did not happen.*by is 'Chop'"),
        (lambda sim: solved(sim, "Have [log]"), "did not happen.*wanted is 'Have \\[log, 1\\]'"),
        (
            lambda sim: failed(sim, Have, reason="rain"),
            "<failed wanted=Have reason=…rain…> did not happen.*nobody gave any",
        ),
        (lambda sim: failed(sim, Have, times=2), "happened 1 time and not 2 times"),
    ],
)
def test_claims_that_fail_show_what_was_there(asked, claim, text):
    with pytest.raises(TraceMismatch, match=f"(?s){text}"):
        claim(asked.sim)


def test_a_class_stands_for_all_its_values_and_for_no_namesake():
    class HaveMore(Dependency[None], activity="mod:have_more"):
        pass

    records = [
        TraceRecord(1, "Ann", "p", TraceEvent.TRY, (("wanted", "Have More"), ("by", "A"))),
        TraceRecord(1, "Ann", "p", TraceEvent.TRY, (("wanted", "Have [a]"), ("by", "B"))),
    ]
    assert (tried(records, Have), tried(records, HaveMore)) == (["B"], ["A"])


# --- the invariants ---------------------------------------------------------------------------------------------------


def rec(event, **detail):
    return TraceRecord(1, "Ann", "p/Q", TraceEvent(event), tuple({"wanted": "Have [a]", **detail}.items()))


@pytest.mark.states(
    "003: Views: Of the strategies that are tried for something one runs at a time, and each is judged once",
    source="Task Failure",
)
@pytest.mark.parametrize(
    ("records", "text"),
    [
        ([rec("solved", by="A")], "A was not tried for Have [a], but None"),
        ([rec("try", by="A"), rec("failed", by="B")], "B was not tried for Have [a], but ('Have [a]', 'A')"),
        ([rec("try", by="A"), rec("failed", by="A"), rec("solved", by="A")], "A was not tried for Have [a], but None"),
        ([rec("try", by="A"), rec("solved", by="A", wanted="Have [b]")], "A was not tried for Have [b]"),
    ],
)
def test_who_was_not_tried_cannot_be_judged(records, text):
    (found,) = check_trace(records, "Ann", has_ended=False)
    assert found.rule == "one attempt"
    assert text in found.text


@pytest.mark.states("003: Views: Of the strategies that are tried for something one runs at a time, and each is ...")
def test_who_runs_is_neither_judged_nor_tried_again():
    runs = [
        TraceRecord(1, "Ann", "p/Q/m:have/TheWay#2", TraceEvent(event)) for event in ("think", "ready", "start")
    ]  # fmt: skip
    for last in ("try", "solved"):
        (found,) = check_trace([rec("try", by="The Way"), *runs, rec(last, by="The Way")], "Ann", has_ended=False)
        assert (found.rule, found.text) == ("one attempt", "p/Q/m:have/TheWay#2 is still started")
    assert check_trace([rec("try", by="A"), *runs, rec("try", by="A")], "Ann", has_ended=False) == []
    assert check_trace([rec("solved", by="")], "Ann") == []


def test_what_was_tried_before_an_interruption_is_judged_after_it():
    within = [rec("interrupted", by="howl"), rec("try", by="B", wanted="Safe"), rec("solved", by="B", wanted="Safe")]
    story = [rec("try", by="A"), *within, rec("resumed", by="howl")]
    for last in ("solved", "failed", "try"):
        assert check_trace([*story, rec(last, by="A")], "Ann", has_ended=False) == []
    (found,) = check_trace([*story[:-1], rec("solved", by="A")], "Ann", has_ended=False)
    assert found.rule == "one attempt"


@pytest.mark.parametrize("records", [[], [rec("interrupted", by="thunder")]])
def test_what_interrupted_a_place_is_what_it_is_resumed_after(records):
    (found,) = check_trace([*records, rec("resumed", by="howl")], "Ann", has_ended=False)
    assert found.rule == "interruptions pair"


# --- at random --------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Views: Any catalog of strategies, however they need each other, fail or lie, comes to an end, the same in "
    "each run",
    source='"Limitations", question 1; "Task Failure"',
)
@pytest.mark.slow
@given(gameplays())
@settings(max_examples=60)
def test_whoever_is_asked_comes_to_an_end(case):
    asked = Asked(case.wanted, *case.strategies(), body=case.body(), ticks=200)
    assert asked.came != "nothing"
    assert isinstance(asked.came, DependencyFailedError) or asked.agent.entity.goods.get(case.item, 0) > 0
    asked.close()
    again = Asked(case.wanted, *case.strategies(), body=case.body(), ticks=200)
    again.close()
    assert again.sim.digest() == asked.sim.digest()


@pytest.mark.slow
def test_cases_shrink_to_one_way_and_say_no_more_than_that():
    only = settings(max_examples=500, database=None, phases=[Phase.generate, Phase.shrink])
    found = find(gameplays(), lambda case: any(spec.needs for spec in case.specs), settings=only)
    assert found == GameplayCase((WaySpec("Way0", "a", ("a",)),))
    assert repr(found) == "GameplayCase(specs=(WaySpec(label='Way0', item='a', needs=('a',)),))"
    calm = find(gameplays(may_fail=False), lambda case: len(case.specs) == 2, settings=only)
    assert not any(spec.fails or spec.lies for spec in calm.specs)
