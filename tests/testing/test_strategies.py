"""The strategies make what the library takes, all of it, and shrink to what is left when one takes everything away."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from modules import load

from agentrt import Agent, Entity
from agentrt.packs.closure import closure_of
from agentrt.packs.loader import load_pack
from agentrt.selection import Condition
from agentrt.testing import Simulation, pairs
from agentrt.testing.strategies import (
    BehaviorCase,
    DeciderSpec,
    GoalCase,
    GoalSpec,
    Happening,
    NodeSpec,
    PackCase,
    PlanCase,
    SelectionCase,
    StubActionSpec,
    behavior_trees,
    conditions,
    goal_selectors,
    packs,
    plans,
    play,
    schedules,
    selection_trees,
)

pytestmark = pytest.mark.slow

reference = load("tests/selection/reference.py")

few = settings(max_examples=30)


def living(**options):
    sim = Simulation()
    return sim, sim.add(Agent(Entity("human"), **options))


def ended(sim, first, last):
    """All is over, nothing failed, and what began has ended."""
    sim.close()
    assert sim.faults() == []
    assert sim.runtime.kernel.live == 0
    return pairs(sim, first, last)


# --- packs ------------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Test kit and log: hypothesis strategies for packs, plans, goals, trees and schedules: valid, used against "
    "the library, and small when they shrink",
)
@few
@given(packs())
def test_packs_are_valid_and_all_that_they_name_is_known(case):
    assert json.loads(json.dumps(case.content)) == case.content
    registry = case.registry()
    closure = closure_of([load_pack(case.content)], registry)
    for kind in ("actions", "observers", "components", "task_groups", "strategies"):
        assert sorted(getattr(closure, kind)) == sorted(case.named(kind))
    for alias in case.required:
        assert registry.pack(alias).alias == alias


@few
@given(packs(), packs())
def test_what_a_pack_taught_is_forgotten_with_it(one, other):
    sim, agent = living(registry=one.registry(), packs=[])
    sim.tick()
    first = agent.inject(one.content)
    sim.tick(2)
    taught = {action.spec.activity for action in agent.actions}
    assert taught >= {f"mod:{alias[-1]}" for alias in one.named("actions")}
    second = agent.inject({key: value for key, value in other.content.items() if key != "ai_packs"})
    first.revoke()
    sim.tick(3)
    own = other.content.get("actions", [])
    strategies = other.content.get("strategies", [])
    solved = {"mod:provided"} if strategies else set()
    assert {action.spec.activity for action in agent.actions} == {f"mod:{alias[-1]}" for alias in own} | solved
    loaded = sorted(one.spec.name for one in agent.gameplay.catalog.providers)
    assert loaded == sorted(f"provide_{alias[-1]}" for alias in strategies)
    second.revoke()
    sim.tick(3)
    assert (agent.actions, list(agent.entity.components())) == ((), [])
    ended(sim, "start", "stop")


# --- plans and goals --------------------------------------------------------------------------------------------------


@few
@given(plans(), st.integers(0, 3))
def test_plans_run_and_end_in_pairs(case, seed):
    def run():
        sim = Simulation(seed)
        actions = case.actions()
        sim.add(Agent(Entity("human"), actions=actions, top=case.top))
        sim.tick(30)
        assert ended(sim, "start", "stop")
        for action in actions:
            action.calls.check_pairs()
        return sim.digest()

    assert run() == run()  # a case makes the same thing twice


@few
@given(goal_selectors(), st.data())
def test_goals_run_and_end_in_pairs(case, data):
    sim, agent = living(drivers=[case.selector()])
    switches = st.tuples(st.sampled_from(case.names), st.booleans())

    def switch(what):
        name, is_wanted = what
        (case.wants.add if is_wanted else case.wants.discard)(name)

    play(sim, data.draw(schedules(switches)), switch, ticks=30)
    held = [flag for spec in case.specs for flag in spec.flags if (f"goals/{spec.name}") in running(agent)]
    assert len(held) == len(set(held))  # never two with one flag
    ended(sim, "start", "stop")
    for name in case.names:
        assert case.calls.count((name, "start")) == case.calls.count((name, "stop"))


def running(agent):
    return [path for driver in agent.snapshot().drivers for path in driver.active]


# --- trees ------------------------------------------------------------------------------------------------------------


@few
@given(behavior_trees(), st.data())
def test_behavior_trees_are_driven_and_leave_nothing(case, data):
    sim, agent = living(drivers=[case.tree().memory()])
    switches = st.tuples(st.sampled_from(case.names), st.booleans(), st.booleans())

    def switch(what):
        name, is_wanted, fails = what
        (case.wants.add if is_wanted else case.wants.discard)(name)
        (case.fails.add if fails else case.fails.discard)(name)

    sim.tick(2)
    assert any(name in path for name in case.names for path in running(agent))  # all are wanted at first
    play(sim, data.draw(schedules(switches)), switch, ticks=30)
    ended(sim, "activate", "deactivate")


def node_of(spec):
    return (
        spec.name,
        spec.condition or None,
        None if spec.children is None else [node_of(one) for one in spec.children],
    )


@pytest.mark.states("tools: Test kit and log: hypothesis strategies for packs, plans, goals, trees and schedules ...")
@few
@given(selection_trees(), st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=6), st.data())
def test_selection_trees_load_and_select_what_the_reference_does(case, course, data):
    tree = case.tree()
    assert (dict(tree.variables), tree.behaviors) == (case.variables, case.leaves)
    sim, agent = living()
    state = tree.state({})
    agent.attach(state)
    for name, value in course:
        state.set_variable(name, value)
        sim.tick()
        values = {variable: state.is_set(variable) for variable in case.variables}
        assert state.behavior == reference.select(node_of(case.root), values)
    for signal in (
        data.draw(st.lists(st.sampled_from([one for one, _, _ in case.signals]), max_size=3)) if case.signals else ()
    ):
        state.signal(signal)
        sim.tick()
    ended(sim, "activate", "deactivate")


@few
@given(conditions(), st.integers(0, 15))
def test_conditions_are_expressions(text, bits):
    values = {name: bool(bits >> number & 1) for number, name in enumerate("abcd")}
    value, rest = reference.evaluate(text, values)
    assert (Condition(text, "abcd").evaluate(values), rest) == (value, [])


# --- schedules --------------------------------------------------------------------------------------------------------


@given(schedules(st.sampled_from("xyz"), ticks=9), st.integers(0, 12), st.integers(0, 5))
def test_what_is_scheduled_happens_before_its_tick(schedule, ticks, begin):
    sim = Simulation()
    sim.tick(begin)
    seen = []
    play(sim, schedule, lambda what: sim.runtime.post(lambda: seen.append((sim.now - begin, what))), ticks=ticks)
    assert seen == [(one.tick, one.what) for one in schedule]
    assert sim.now - begin == max([ticks, 1, *(one.tick for one in schedule)])
    assert [one.tick for one in schedule] == sorted(one.tick for one in schedule)
    sim.close()


# --- what is left when a test fails -----------------------------------------------------------------------------------


@pytest.mark.states("tools: Test kit and log: hypothesis strategies for packs, plans, goals, trees and schedules ...")
def test_what_is_smallest():
    """The strategies shrink to what the property is about, and nothing beside it."""
    small = {
        packs(max_required=1): (lambda one: True, "PackCase(content={})"),
        plans(max_actions=1): (
            lambda one: any(spec.steps for spec in one.specs),
            "PlanCase(specs=(StubActionSpec(label='Idle', does='top', utility=0.0, takes=3), "
            "StubActionSpec(label='High0', does='high', utility=0.5, steps=('low',)), "
            "StubActionSpec(label='Low0', does='low', utility=0.5)))",
        ),
        goal_selectors(): (
            lambda one: any("LOOK" in spec.flags for spec in one.specs),
            "GoalCase(specs=(GoalSpec(name='G0', priority=0, flags=('LOOK',)),))",
        ),
        behavior_trees(): (
            lambda one: len(one.names) > 1,
            "BehaviorCase(root=DeciderSpec(name='ROOT', policy='kGroupPrioritizedList', "
            "children=(DeciderSpec(name='D1'), DeciderSpec(name='D2'))))",
        ),
        selection_trees(): (
            lambda one: "or" in one.root.condition and len(one.leaves) == 1,
            "SelectionCase(root=NodeSpec(name='L1', condition='a or a'), "
            "variables={'a': False, 'b': False, 'c': False, 'd': False})",
        ),
        schedules(st.sampled_from(["bell", "rain"])): (
            lambda one: any(happening.what == "rain" for happening in one),
            "[Happening(tick=1, what='rain')]",
        ),
    }
    exact = settings(max_examples=200, database=None, phases=[Phase.generate, Phase.shrink])  # nobody reads why
    assert [repr(find(strategy, is_it, settings=exact)) for strategy, (is_it, _) in small.items()] == [
        text for _, text in small.values()
    ]


def test_what_a_case_says_of_itself_makes_it_again():
    names = {
        one.__name__: one
        for one in (StubActionSpec, DeciderSpec, GoalSpec, NodeSpec, PackCase, PlanCase, SelectionCase)
    }
    names |= {"Happening": Happening, "BehaviorCase": BehaviorCase, "GoalCase": GoalCase}
    for strategy in (packs(), plans(), goal_selectors(), behavior_trees(), selection_trees(), schedules(st.none())):

        @settings(max_examples=10)
        @given(strategy)
        def is_made_again(case):
            assert eval(repr(case), names) == case

        is_made_again()


@pytest.mark.checkout
def test_without_hypothesis_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from agentrt.errors import MissingExtraError\n"
        "import agentrt.testing\n"
        "try:\n    import agentrt.testing.strategies\nexcept MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install -e '.[testing]'" in done.stdout
