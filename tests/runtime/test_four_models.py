"""All four models on one agent, in the middle of whatever happens."""

from __future__ import annotations

import gc
import logging
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load

from agentrt import MOVE, TOP, Action, Agent, CancelScope, Entity, sleep_ticks
from agentrt.behavior import BehaviorTree, behavior, decider, group
from agentrt.bridges import DriverAction, PerformGoal
from agentrt.goals import GoalSelector
from agentrt.testing import Simulation

mixed = load("tests/runtime/mixed_agents.py")
courses = load("tests/runtime/mixed_courses.py")
goals, library, possessed = mixed.goals, mixed.library, mixed.possessed
look_at, check_end = mixed.look_at, mixed.check_end
HOOKS, PHASES, WORDS = courses.HOOKS, courses.PHASES, courses.WORDS
Course, random_events = courses.Course, courses.random_events

EVENTS = st.lists(
    st.tuples(st.integers(1, 20), st.sampled_from(PHASES), st.sampled_from(WORDS), st.integers(0, 999)), max_size=30
)
PRECEDENCES = st.tuples(*[st.sampled_from((0, 0, 1, 2))] * 4)


def play(events, precedences=(0, 0, 0, 0), ticks=20):
    sim = Simulation(seed=1)
    course = Course(sim.runtime, events, precedences, ticks)
    sim.tick(ticks)
    sim.close()
    course.check()
    return sim, course


# --- any course of events ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=40)
@given(EVENTS, PRECEDENCES)
def test_whatever_comes_what_begins_ends_and_nobody_uses_what_a_stranger_holds(events, precedences):
    sim, _ = play(events, precedences)
    assert sim.events("fault") == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_the_same_holds_in_long_courses(seed):
    sim, _ = play(random_events(seed, 120), (seed % 2, seed % 3, seed % 4, 0), 120)
    assert sim.events("fault") == []


BAD = st.lists(
    st.tuples(st.integers(1, 20), st.sampled_from(PHASES), st.just("bad"), st.integers(0, len(HOOKS) - 1)), max_size=4
)


@pytest.mark.slow
@settings(max_examples=40)
@given(EVENTS, BAD, PRECEDENCES)
def test_callbacks_that_raise_take_nobody_with_them(events, bad, precedences):
    """The agent beside misses no tick; see ``Course.check``."""
    sim, _ = play([*events, *bad], precedences)
    assert {agent for _, agent, _, _ in sim.events("fault")} <= {"ann", *(f"ann {number}" for number in range(2, 20))}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(HOOKS)), ids=HOOKS)
def test_each_callback_that_raises_is_reported_once(number, caplog):
    caplog.set_level(logging.ERROR, logger="agentrt")
    words = ("wish", "wish", "wish", "variable", "signal", "stimulus")
    for seed in range(10):  # until the course comes by there
        events = [(1, "intake", "bad", number), (2, "intake", "wish", 0), *random_events(seed, 50, words)]
        sim, _ = play(events, (1, 2, 1, 0), 50)
        told = [first_line(record) for record in caplog.records if " raised " in record.getMessage()]
        if told:
            break
    assert told
    assert len(told) == len(set(told))
    assert len(sim.events("fault")) >= len(told)


def first_line(record):
    """What is reported, without the tick: the place and the hook."""
    return re.sub(r"'?tick'?[=:] ?\d+", "", record.getMessage().splitlines()[0])


# --- the same everywhere ------------------------------------------------------------------------------------------------

DIGEST = """
import sys
sys.path[:0] = [{root!r}, {support!r}]
from modules import load
courses = load("tests/runtime/mixed_courses.py")
from agentrt.testing import Simulation
sim = Simulation(seed=1)
course = courses.Course(sim.runtime, courses.random_events(5, 60), (1, 0, 2, 0), 60)
sim.tick(60)
sim.close()
course.check()
print(sim.digest())
"""


def digest_elsewhere(python, root, seed):
    code = DIGEST.format(root=str(root), support=str(root / "tests" / "support"))
    env = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run([python, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_the_digest_is_the_same_in_every_run_and_with_every_hash_seed(root):
    sim, _ = play(random_events(5, 60), (1, 0, 2, 0), 60)
    assert digest_elsewhere(sys.executable, root, "1") == sim.digest()
    assert digest_elsewhere(sys.executable, root, "4242") == sim.digest()


# --- hot reload ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_hundred_agents_go_on_while_their_trees_are_read_again():
    texts, trees = library()
    sim = Simulation()
    agents = [sim.add(possessed(f"a{number}", trees["Mind"])) for number in range(100)]
    for number, agent in enumerate(agents):
        agent.attachments[0].driver.set_variable("ABCDE"[number % 5], True)
        agent.entity.wishes |= {"go", "stare"}
    for text in (mixed.OTHER, "<broken", mixed.TEXT, mixed.OTHER):
        sim.tick(3)
        texts["Mind.xml"] = text
        assert trees.reload().ok == (text != "<broken")
        sim.tick(1)
        held = [agent for agent in agents[::5] if agent.attachments[0].driver.behavior == "Held"]
        assert len(held) == 20
        look_at(agents[7])
    assert sim.events("fault") == []
    sim.close()
    for agent in agents:
        check_end(agent)


# --- what was found wrong once ------------------------------------------------------------------------------------------


def slow(name, cleans, log):
    """A behavior that takes time to clean up, and looks who has the legs meanwhile."""

    async def run(at):
        try:
            await sleep_ticks(1000)
        finally:
            with CancelScope(shield=True):
                for _ in range(cleans):
                    hold = at.body.flags.holder(MOVE)
                    log.append((at.body.kernel.tick, hold and hold.name))
                    await sleep_ticks(1)

    return behavior(name, run=run)


def test_flags_stay_with_who_cleans_up_although_somebody_else_was_chosen():
    log = []
    tree = BehaviorTree(
        group("ROOT")[
            decider("JUMP", lambda at: None, decide=lambda memory: memory.time > 0.12, flags=(MOVE,)),
            decider("STRIKE", slow("STRIKE", 3, log), flags=(MOVE,)),
        ]
    )

    class Walk(Action):
        does = TOP
        utility = 0.5
        flags = {MOVE}

        async def run(self, ctx, args):
            log.append((ctx.clock.tick, "walks"))
            await ctx.sleep_ticks(50)

    sim = Simulation()
    sim.add(Agent(Entity("a"), actions=[Walk], drivers=[tree.memory(precedence=1)]))
    sim.tick(6)
    # In the tick of the choice they have passed on already; after that the choice is stale.
    assert log == [(3, "tree/ROOT/JUMP"), (4, "tree/ROOT/STRIKE"), (5, "tree/ROOT/STRIKE"), (6, "walks")]
    sim.close()


@pytest.mark.parametrize("wish", ["tree", "mind", "goals"])
def test_what_an_action_hands_the_body_to_performs_nothing_while_the_agent_ends(wish):
    """Its drivers leave first; the plan goes on meanwhile, and what it ticks wants to perform something."""
    tree = BehaviorTree(group("ROOT")[decider("SLOW", slow("SLOW", 8, []))])
    sim = Simulation()
    agent = sim.add(Agent(mixed.Being(), actions=mixed.ACTIONS, drivers=[tree.memory(name="slow")]))
    agent.entity.wishes |= {wish, "go", "walk"}
    sim.tick(5)
    sim.close()
    assert sim.events("fault") == []
    check_end(agent)


def test_a_leaf_with_flags_shares_those_of_the_action_that_ticks_its_tree():
    sim = Simulation()
    agent = sim.add(possessed())
    agent.entity.wishes |= {"mind", "A"}
    sim.tick(2)
    assert [one for one in agent.entity.diary if one[0] == "Held"] == [("Held", "constructor"), ("Held", "runs")]
    assert {flag: holder for flag, holder, _ in agent.snapshot().flags} == {"LOOK": "mind action"}
    sim.close()
    check_end(agent)


def test_what_never_cleans_up_is_killed_with_the_action_that_ticks_it(caplog):
    tree = BehaviorTree(group("ROOT")[decider("SLOW", slow("SLOW", 10**6, []), flags=(MOVE,))])

    class Possessed(DriverAction):
        does = TOP
        utility = 0.5

        def make_driver(self, ctx, args):
            return tree.memory(name="inner")

    sim = Simulation()
    agent = sim.add(Agent(Entity("a"), actions=[Possessed]))
    sim.tick(3)
    sim.close()
    assert sim.runtime.kernel.live == 0
    assert not agent.is_alive
    assert agent.flags.is_free


def test_a_memory_that_goes_to_another_agent_drives_that_one():
    seen = []
    tree = BehaviorTree(group("ROOT")[decider("LOOK", lambda at: seen.append(at.agent.name))])
    memory = tree.memory()
    sim = Simulation()
    ann, bob = (sim.add(Agent(Entity(name, name=name))) for name in ("ann", "bob"))
    attachment = ann.attach(memory)
    sim.tick(2)
    attachment.detach()
    sim.tick(1)
    bob.attach(memory)
    sim.tick(2)
    assert seen == ["ann", "ann", "bob", "bob"]
    sim.close()


def test_a_memory_of_a_given_agent_stays_with_that():
    seen = []
    given_agent = {"name": "someone"}
    memory = BehaviorTree(group("ROOT")[decider("LOOK", lambda at: seen.append(at.agent))]).memory(given_agent)
    sim = Simulation()
    for name in ("ann", "bob"):
        attachment = sim.add(Agent(Entity(name))).attach(memory)
        sim.tick(1)
        attachment.detach()
        sim.tick(1)
    assert seen == [given_agent, given_agent]
    sim.close()


def test_what_a_driver_was_refused_is_forgotten_when_it_has_left():
    sim = Simulation()
    agent = sim.add(Agent(mixed.Being(), actions=[mixed.Graze, mixed.Rest]))
    agent.entity.wishes |= {"graze", "panic"}
    sim.tick(2)
    attachment = agent.attach(goals())
    sim.tick(2)
    assert "goals/Panic was refused MOVE" in agent.explain()
    attachment.detach()
    sim.tick(2)
    assert agent.snapshot().refusals == ()
    sim.close()


@pytest.mark.parametrize("variable", ["B", "C", "D", "E"])
def test_an_agent_that_comes_again_has_what_its_leaf_gives_it_once(variable):
    agent = possessed()
    agent.attachments[0].driver.set_variable(variable, True)
    drivers = len(agent.attachments)
    for _ in range(3):
        sim = Simulation()
        sim.add(agent)
        sim.tick(2)
        assert len(agent.attachments) == drivers + (variable in "CD")
        assert len(agent.injections) == 1 + (variable == "B")
        sim.close()
        assert len(agent.attachments) == drivers
        assert len(agent.injections) == 1
    check_end(agent)


def test_the_pause_of_a_goal_is_not_carried_into_another_runtime():
    selector = GoalSelector()
    selector.add_goal(1, PerformGoal("test:walk"))
    agent = Agent(Entity("a"), drivers=[selector])
    for _ in range(2):
        sim = Simulation()
        sim.add(agent)
        sim.tick(4)
        starts = [tick for tick, _, path, event in sim.events("start") if path.startswith("goals/")]
        assert starts == [1]
        sim.close()


# --- no leaks -----------------------------------------------------------------------------------------------------------


def level():
    gc.collect()
    return len(gc.get_objects())


@pytest.mark.slow
def test_drivers_and_packs_that_come_and_go_leave_nothing():
    sim = Simulation(keep=10)
    agent = sim.add(possessed())
    agent.entity.wishes |= {"panic", "strike"}
    trees = library()[1]

    def cycle(number):
        made = (
            goals(f"g{number}", 1, tag="X"),
            mixed.LITTLE.memory(name=f"t{number}"),
            trees["Mind"].state({"Held": mixed.Held}, name=f"s{number}"),
        )
        attachments = [agent.attach(one) for one in made]
        sim.tick(1)
        for one in attachments:
            one.detach()
        sim.tick(1)
        agent.entity.diary.clear()

    for number in range(20):
        cycle(number)
    sim.tick(10)
    before = level()
    for number in range(20, 320):
        cycle(number)
    sim.tick(10)
    assert level() - before < 100
    assert len(agent.attachments) == 4
    sim.close()


@pytest.mark.slow
def test_agents_that_come_and_go_leave_nothing():
    sim = Simulation(keep=10)
    tree = library()[1]["Mind"]

    def cycle(number):
        agent = possessed("x", tree)
        agent.entity.wishes |= {"panic", "strike", "go", "tree", "A"}
        agent.attachments[0].driver.set_variable("ABCDE"[number % 5], True)
        sim.add(agent)
        sim.tick(1 if number % 3 else 3)
        sim.runtime.remove(agent)
        sim.tick(1)

    for number in range(30):
        cycle(number)
    sim.tick(20)
    before = level()
    for number in range(30, 330):
        cycle(number)
    sim.tick(20)
    assert level() - before < 100
    assert sim.runtime.kernel.live == 0
    assert sim.runtime.agents == ()
    sim.close()


def test_who_was_chosen_and_has_yet_to_begin_gives_way_too():
    """A decider has its flags already while its group is being activated; then a goal wants them."""
    begun = []

    async def activate(at):
        await sleep_ticks(6)

    tree = BehaviorTree(
        group("ROOT")[
            group("SLOW", behavior=behavior("SLOW", activate=activate), delegate_decide_to_children=True)[
                decider("QUICK", lambda at: begun.append(at.body.kernel.tick), flags=(MOVE,))
            ]
        ]
    )
    sim = Simulation()
    being = mixed.Being()
    agent = sim.add(Agent(being, actions=[mixed.Rest], drivers=[goals(precedence=1), tree.memory()]))
    sim.tick(2)
    assert [holder for _, holder, _ in agent.snapshot().flags] == ["tree/ROOT/SLOW/QUICK"]
    being.wishes.add("panic")
    sim.tick(8)
    assert next(tick for tick, _, path, _ in sim.events("start") if path == "goals/Panic") <= 4
    assert begun == []
    sim.close()
    check_end(agent)
