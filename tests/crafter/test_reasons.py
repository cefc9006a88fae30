"""What an agent does and why, in lines: of snapshots that were put together by hand, and of one that lives."""

from __future__ import annotations

import dataclasses

import pytest

pytest.importorskip("crafter")

import agentrt as art
from agentrt.body.flags import Refusal, Waiting
from agentrt.snapshot import AgentSnapshot, FlagView, FrameView, TaskPlace, UnitView
from agentrt.strategy import GameplayView, OfferView, RequestView, TaskNodeView
from agentrt.testing import Simulation
from examples.crafter.reasons import plan_lines, why_lines


@pytest.fixture(scope="module")
def nobody():
    """The snapshot of an agent that has nothing to do, at tick 100."""
    sim = Simulation(seed=1)
    agent = sim.add(art.Agent(art.Entity("goat"), name="goat"))
    sim.tick()
    snapshot = dataclasses.replace(agent.snapshot(), tick=100)
    sim.close()
    return snapshot


def plan(snapshot: AgentSnapshot, **options):
    return [line.plain for line in plan_lines(snapshot, "move_left", **options)]


def why(snapshot: AgentSnapshot, **options):
    return [line.plain for line in why_lines(snapshot, **options)]


def unit(name, state="ready", utility=0.5, **more):
    more = {"boosted": utility, "low": utility, "high": utility, "kind": "leaf", "is_elected": False, **more}
    return UnitView(action="", name=name, path=name, state=state, utility=utility, **more)


def running(name, utility=0.5, **more):
    return unit(name, "running", utility, is_elected=True, **more)


def frame(*units, args=(), activity="any", state="running"):
    return FrameView(activity, activity, state, tuple(units), args=args)


def task(number, name, state="ready", **more):
    place = TaskPlace("ambitions", number, (("name", name),))
    return unit(f"task {number}: crafter:strive (name: {name})", state, kind="task", task=place, **more)


def test_nobody_does_nothing(nobody):
    assert plan(nobody) == ["thinking  now: move left", "plan nothing"]
    assert why(nobody) == []


def test_tasks_are_called_by_what_they_are_about(nobody):
    doing = running("strive")
    inner = frame(doing, activity="crafter:strive")
    place = TaskPlace("ambitions", 5, (("name", "eat_cow"),))
    elected = running("task 5: crafter:strive (name: eat_cow)", 0.8, kind="task", task=place, frames=(inner,))
    tasks = frame(elected, task(7, "wake_up", utility=0.4), task(8, "place_plant", utility=0.7))
    ambitions = running("crafter:task_groups:solo:ambitions", kind="group", frames=(tasks,))
    needs = frame(task(1, "drink", is_elected=True), task(2, "sleep"))
    others = unit("crafter:task_groups:solo:needs", utility=0.3, kind="group", frames=(needs,))
    snapshot = dataclasses.replace(nobody, plan=frame(ambitions, others))
    assert plan(snapshot)[1] == "plan ambitions → eat cow → strive"
    elected = dataclasses.replace(elected, name="task 5: crafter:strive", task=TaskPlace("ambitions", 5))
    assert plan(dataclasses.replace(nobody, plan=frame(elected)))[1] == "plan strive"
    assert why(snapshot) == [
        "ambitions 0.50 over needs (drink) 0.30",
        "eat cow 0.80 over place plant 0.70, wake up 0.40",
    ]


def test_what_was_not_to_be_had_says_why(nobody):
    units = (
        running("graze", boosted=0.55),
        unit("doze", "idle", 0.2),
        unit("drink", "thinking", 0.8, progress="no water in sight"),
        unit("ride", "impossible", 0.9, reason="rejected: there is nobody"),
        unit("climb", "thinking", 0.7),
    )
    snapshot = dataclasses.replace(nobody, plan=frame(*units))
    first = "graze 0.50+0.05 over doze 0.20"
    reasons = ["ride 0.90: rejected: there is nobody", "drink 0.80: no water in sight", "climb 0.70: not ready"]
    assert why(snapshot) == [first, f"  not {'; '.join(reasons)}"]
    assert why(snapshot, apart=True) == [first, *(f"  not {reason}" for reason in reasons)]


def test_before_anything_runs_the_reasons_are_told(nobody):
    snapshot = dataclasses.replace(nobody, plan=frame(unit("drink", "thinking", 0.8), state="thinking"))
    assert plan(snapshot)[1] == "plan nothing"
    assert why(snapshot) == ["  not drink 0.80: not ready"]


def strategies(*requests):
    return GameplayView(2, False, "", (), (), 0, (), None, (), tuple(requests), ())


def tree(*, outcome="running"):
    wood = TaskNodeView("dependency", "Have [wood, 1]", "done", "1.0.0", began=50, ended=62)
    table = TaskNodeView("dependency", "Beside [table]", "failed", "1.0.1", reason="there is no way")
    stone = TaskNodeView("dependency", "Have [stone, 1]", "planned", "1.0.3", cost=4.4)
    walk = TaskNodeView("strategy", "Walk", "running", "1.0.2.0", began=90, cost=8.0)
    offers = (OfferView("Walk", 8.0), OfferView("Swim", 30.0), OfferView("Fly", None, "it has no wings"))
    there = TaskNodeView("dependency", "Beside [stone]", "running", "1.0.2", began=90, offers=offers, children=(walk,))
    make = TaskNodeView("strategy", "Make", outcome, "1.0", began=50, cost=60.0, children=(wood, table, there, stone))
    offers = (OfferView("Make", 60.0), OfferView("Buy", 900.0))
    return TaskNodeView("dependency", "Have [stone_pickaxe, 1]", "running", "1", 50, offers=offers, children=(make,))


def test_a_task_tree_tells_what_is_over_what_is_under_way_and_what_is_expected(nobody):
    request = RequestView("", 1, ("Make",), tree(), pending=("night",))
    snapshot = dataclasses.replace(nobody, strategies=strategies(request))
    lines = [
        "> Have [stone pickaxe, 1] by Make, 50 of about 60 steps",
        "  ✓ Have [wood, 1], 12 steps",
        "  x Beside [table]: there is no way",
        "  > Beside [stone] by Walk, 10 of about 8 steps",
        "  · Have [stone, 1] (about 4 steps)",
        "  came up, and waits: night",
    ]
    assert plan(snapshot)[2:] == lines
    assert plan(snapshot, is_short=True)[2:] == [lines[0], lines[3], lines[5]]


def test_prices_are_told_from_the_innermost_on(nobody):
    snapshot = dataclasses.replace(nobody, strategies=strategies(RequestView("", 1, (), tree())))
    assert why(snapshot) == [
        "Walk 8 steps over Swim 30  Beside [stone]",
        "  not Fly: it has no wings",
        "Make 60 steps over Buy 900  Have [stone pickaxe, 1]",
    ]


def test_what_is_paused_has_another_mark(nobody):
    snapshot = dataclasses.replace(nobody, strategies=strategies(RequestView("", 1, (), tree(outcome="paused"))))
    assert plan(snapshot)[2].startswith("= Have [stone pickaxe, 1] by Make")


def test_an_interruption_hangs_below_whom_it_interrupts(nobody):
    below = TaskNodeView("dependency", "Survive", "running", "1.0.0.0", began=95)
    night = TaskNodeView("interruption", "night", "running", "1.0.0", began=95, children=(below,))
    mine = TaskNodeView("strategy", "Mine", "paused", "1.0", began=90, children=(night,))
    root = TaskNodeView("dependency", "Have [coal, 1]", "running", "1", began=90, children=(mine,))
    snapshot = dataclasses.replace(nobody, strategies=strategies(RequestView("", 1, (), root)))
    assert plan(snapshot)[2:] == [
        "= Have [coal, 1] by Mine, 10 steps",
        "  > interrupted by night, 5 steps",
        "    > Survive, 5 steps",
    ]


def test_flags_and_who_did_not_get_them(nobody):
    snapshot = dataclasses.replace(
        nobody,
        flags=(FlagView("MOVE", "goals/Flee", 90), FlagView("LOOK", "graze", 99)),
        waiting=(Waiting("goals/Dodge", ("MOVE", "LOOK"), 98, 0),),
        refusals=(
            Refusal("MOVE", "plan/walk", "goals/Flee", 99, "it has precedence"),
            Refusal("LOOK", "goals/Gaze", "graze", 98, "it has precedence"),
        ),
    )
    assert why(snapshot) == [
        "flags MOVE Flee for 10, LOOK graze for 1",
        "waits Dodge for MOVE and LOOK",
        "refused MOVE Flee against walk",
    ]


def test_an_agent_that_was_killed_says_why(nobody):
    snapshot = dataclasses.replace(nobody, error="it was killed", aborts=3, abort_reason="run raised")
    assert why(snapshot) == ["it was killed", "3 aborts in a row: run raised"]


def test_what_is_performed_beside_a_plan_is_told(nobody):
    sing = frame(running("sing", frames=(frame(running("hum")),)), activity="goat:sing")
    snapshot = dataclasses.replace(nobody, performances=(sing, frame(activity="goat:wait", state="thinking")))
    assert plan(snapshot)[2:] == ["beside it sing → hum", "beside it goat:wait"]


def test_of_a_compound_the_steps_are_told(nobody):
    steps = (
        frame(running("find"), activity="crafter:find_shelter", state="finished"),
        frame(running("hide"), activity="crafter:hide"),
        frame(unit("slumber"), activity="crafter:slumber", state="ready"),
    )
    snapshot = dataclasses.replace(nobody, plan=frame(running("rest", kind="compound", frames=steps)))
    assert plan(snapshot)[1:] == ["plan rest → hide", "rest ✓ find shelter  > hide  · slumber"]
    assert plan(snapshot, is_short=True)[1:] == ["plan rest → hide"]


def test_while_nothing_is_solved_the_last_request_is_told(nobody):
    done = TaskNodeView("dependency", "Have [wood, 1]", "done", "1", began=50, ended=62)
    failed = TaskNodeView("dependency", "Beside [table]", "failed", "2", reason="there is no way")
    view = dataclasses.replace(strategies(), finished=(done, failed))
    assert plan(dataclasses.replace(nobody, strategies=view))[2:] == ["x Beside [table]: there is no way"]
    assert plan(dataclasses.replace(nobody, strategies=view), is_short=True)[2:] == []
    view = dataclasses.replace(view, requests=(RequestView("", 1, (), tree()),))
    assert plan(dataclasses.replace(nobody, strategies=view), is_short=True)[2].startswith("> Have [stone pickaxe")
