"""Actions in one line: when they run, how they end, and what they write down."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt import LOOK, PREV, ActionArgs, Agent, Entity, step
from agentrt.errors import DefinitionError
from agentrt.testing import Simulation, TraceMismatch, never, stub_action, stub_plan


def play(*actions, ticks=8, entity=None):
    sim = Simulation()
    agent = sim.add(Agent(entity or Entity("human"), name="Ann", actions=list(actions), top="top"))
    sim.tick(ticks)
    return sim, agent


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("takes", [1, 2, 5])
def test_it_takes_so_many_ticks(takes):
    Eat = stub_action("top", takes=takes)
    sim, _ = play(Eat, ticks=takes)
    assert Eat.calls.take() == [(1, "start"), (1, "run")]
    sim.tick()
    assert Eat.calls.take()[:2] == [(1 + takes, "finish"), (1 + takes, "stop")]
    sim.close()
    Eat.calls.check_pairs()


def test_it_runs_until_it_is_stopped():
    Eat = stub_action("top", takes=None)
    sim, agent = play(Eat, ticks=200)
    assert Eat.calls.take() == [(1, "start"), (1, "run")]
    sim.runtime.remove(agent)
    sim.tick()
    assert Eat.calls.take() == [(201, "stop")]
    sim.close()


@pytest.mark.parametrize("thinks", [0, 1, 3])
def test_it_thinks_so_many_ticks(thinks):
    Eat = stub_action("top", thinks=thinks, takes=9)
    sim, _ = play(Eat)
    ready = 1 + thinks
    assert Eat.calls.take() == [(1, "think"), (ready, "start"), (ready, "stop_thinking"), (ready, "run")]
    sim.close()
    Eat.calls.check_pairs()


# --- what it declares -------------------------------------------------------------------------------------------------


def test_what_it_is_called():
    assert stub_action("mod:find_subject").__name__ == "FindSubject"
    assert stub_action("top").__name__ == "Top"
    assert stub_action("mod:!").__name__ == "Stub"
    assert stub_action("mod:eat", label="Nibble").__name__ == "Nibble"
    assert stub_action("mod:eat").name == "eat"
    assert stub_plan("mod:eat_all", "mod:eat").__name__ == "EatAll"


def test_whatever_an_action_declares():
    Eat = stub_action("mod:eat", flags={LOOK}, weight=3, sunk_cost_boost=0.4, name="gobble")
    assert (Eat.spec.flags, Eat.spec.weight, Eat.spec.boost, Eat.name) == (("LOOK",), 3, 0.4, "gobble")
    assert not Eat.spec.has_think
    assert not Eat.spec.has_stop_thinking
    with pytest.raises(DefinitionError, match="weight is -1"):
        stub_action("mod:eat", weight=-1)


def test_a_level_in_a_range():
    High = stub_action("top", utility=(0.2, 0.6), level=0.5, takes=9, label="High")
    sim, agent = play(High, stub_action("top", utility=0.3))
    (unit,) = [unit for unit in agent.snapshot().plan.units if unit.is_elected]
    assert (unit.action, unit.utility) == ("High", 0.4)
    sim.close()


def test_arguments_and_outputs():
    Find = stub_action("mod:find", output={"dish": "soup", "who": lambda ctx, args: ctx.entity.name})
    Eat = stub_action("mod:eat", args={"dish": str, "who": str}, takes=9)
    sim, _ = play(stub_plan("top", "mod:find", step("mod:eat", dish=PREV.dish, who=PREV.who)), Find, Eat)
    assert Eat.calls.args == [{"dish": "soup", "who": "human"}]
    sim.close()


def test_arguments_are_those_of_the_activity():
    class Args(ActionArgs):
        dish: str = "bread"

    Eat = stub_action("top", args=Args, takes=5)
    sim, _ = play(Eat)
    assert Eat.calls.args == [{"dish": "bread"}, {"dish": "bread"}]
    sim.close()


def test_an_effect_is_what_it_does_at_its_end():
    done = []
    Eat = stub_action("top", takes=2, effect=lambda ctx, args: done.append(ctx.clock.tick), fails=[None, "choked"])
    sim, _ = play(Eat)
    assert done == [3]  # the second time it failed
    sim.close()


# --- how it ends ------------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Test kit and log: Stubs of actions in a line, whose hooks are paired whatever they do")
def test_outcomes_one_after_the_other():
    Eat = stub_action("top", takes=1, fails=[None, "choked", ValueError("bone"), None])
    sim, _ = play(Eat, ticks=9)
    runs = [(tick, hook) for tick, hook in Eat.calls.take() if hook in ("run", "finish")]
    assert runs == [(1, "run"), (2, "finish"), (2, "run"), (4, "run"), (6, "run"), (7, "finish"), (7, "run"), (8, "finish"),
                    (8, "run"), (9, "finish"), (9, "run")]  # fmt: skip
    assert [(one.tick, dict(one.detail)["reason"]) for one in sim.trace if one.event == "abort"] == [
        (3, "choked"),
        (5, "run raised ValueError: bone"),
    ]
    assert [dict(fault.detail)["error"] for fault in sim.faults()] == ["ValueError: bone"]
    sim.close()
    Eat.calls.check_pairs()


def test_one_outcome_counts_for_all_times():
    Eat = stub_action("top", fails="never")
    sim, _ = play(Eat, stub_action("top", utility=0.1), ticks=6)
    assert Eat.calls.count("run") >= 2
    assert Eat.calls.count("finish") == 0
    sim.close()


def test_a_start_that_refuses_and_a_think_that_rejects():
    for where, expected in (("start", [(1, "start")]), ("think", [(1, "think"), (1, "stop_thinking")])):
        Eat = stub_action("top", fails=["occupied", None], fails_in=where, takes=9)
        Other = stub_action("top", utility=0.1, takes=9, label="Other")
        sim, _ = play(Eat, Other, ticks=1)
        assert Eat.calls.take()[: len(expected)] == expected
        assert Other.calls.count("run") == 1
        sim.close()
    with pytest.raises(ValueError, match="fails_in is 'stop': choose one of think, start, run"):
        stub_action("top", fails="x", fails_in="stop")


def test_a_plan_that_refuses_to_start():
    Plan = stub_plan("top", "mod:eat", fails="not now")
    Eat = stub_action("mod:eat")
    sim, _ = play(Plan, Eat, stub_action("top", utility=0.1, label="Other"), ticks=3)
    assert Plan.calls.count("start") > 0
    assert Eat.calls.count("run") == 0
    never(sim, "run", path="mod:eat/Eat")
    sim.close()


# --- what it writes down ----------------------------------------------------------------------------------------------


def test_calls_of_several_agents():
    Eat = stub_action("top", takes=2)
    sim = Simulation()
    for name in ("Ann", "Bob"):
        sim.add(Agent(Entity("human"), name=name, actions=[Eat], top="top"))
        sim.tick()
    assert Eat.calls.count("run") == 2
    assert Eat.calls.count("run", "Bob") == 1
    assert repr(Eat.calls) == "<HookCalls: start at 1, run at 1, start at 2, run at 2>"
    assert Eat.calls.take("Bob") == [(2, "start"), (2, "run")]
    assert Eat.calls.take("Ann") == []
    sim.close()
    assert repr(stub_action("x").calls) == "<HookCalls: none>"


def test_what_does_not_pair():
    Eat = stub_action("top", takes=9)
    sim, _ = play(Eat, ticks=1)
    with pytest.raises(TraceMismatch, match="'Ann' has 1 of 'start' and 0 of 'stop'") as info:
        Eat.calls.check_pairs()
    assert info.value.shown == ("  1 start", "  1 run")
    sim.close()
    Eat.calls.check_pairs()


outcomes = st.sampled_from([None, "no", ValueError("broken")])


@pytest.mark.states("tools: Test kit and log: Stubs of actions in a line, whose hooks are paired whatever they do ...")
@pytest.mark.slow
@settings(max_examples=40)
@given(
    takes=st.integers(0, 3),
    thinks=st.one_of(st.none(), st.integers(0, 3)),
    fails=st.lists(outcomes, max_size=4),
    fails_in=st.sampled_from(["think", "start", "run"]),
    ticks=st.integers(1, 12),
)
def test_whatever_it_does_its_hooks_are_paired(takes, thinks, fails, fails_in, ticks):
    Eat = stub_action("top", takes=takes, thinks=thinks, fails=fails, fails_in=fails_in)
    sim, _ = play(Eat, stub_action("top", utility=0.1, label="Idle", takes=5), ticks=ticks)
    sim.close()
    Eat.calls.check_pairs()
    assert Eat.calls.count("run") <= Eat.calls.count("start")
    assert Eat.calls.count("finish") <= Eat.calls.count("run")
