"""Stimuli run down by themselves while a tree drives an agent: in time, before anybody is driven, and once."""

from __future__ import annotations

import pytest

from agentrt import Agent, Entity
from agentrt.behavior import BehaviorTree, Stimuli, decider, group
from agentrt.goals import Goal, GoalSelector
from agentrt.testing import Simulation


def driven_by(*memories, every=1):
    """An agent with trees, ten ticks a second."""
    sim = Simulation(ticks_per_second=10)
    agent = Agent(Entity("sheep"), name="a")
    for memory in memories:
        agent.attach(memory, every=every)
    sim.add(agent)
    return sim


def plain_tree():
    return BehaviorTree(group("ROOT")[decider("A", lambda at: None)])


@pytest.mark.states(
    "002: S09: (ours) While a tree drives an agent its stimuli run down by themselves: before anybody is driven, and "
    "once for all trees that share them",
    source="S06, S09; design section 2",
)
def test_two_trees_that_look_at_one_set_of_stimuli_do_not_hurry_it():
    stimuli = Stimuli()
    sim = driven_by(plain_tree().memory(name="one", stimuli=stimuli), plain_tree().memory(name="two", stimuli=stimuli))
    sim.tick(1)
    stimuli.add(1, timeout=1.0)
    sim.tick(9)
    assert 1 in stimuli
    sim.tick(1)
    assert 1 not in stimuli
    sim.close()


def test_stimuli_of_a_tree_that_is_ticked_seldom_run_down_in_time():
    memory = plain_tree().memory()
    sim = driven_by(memory, every=4)
    sim.tick(1)
    memory.stimuli.add(1, timeout=0.3)
    gone = []
    for _ in range(6):
        sim.tick(1)
        gone.append(1 not in memory.stimuli)
    assert gone == [False, False, True, True, True, True]
    sim.close()


@pytest.mark.states("002: S09: (ours) While a tree drives an agent its stimuli run down by themselves: before ...")
def test_time_has_passed_before_anybody_is_driven():
    """A goal, which comes before the tree, does not see what has run down."""
    seen = []

    class Look(Goal):
        requires_update_every_tick = True

        def can_use(self):
            return True

        def tick(self):
            seen.append((self.body.kernel.tick, 1 in memory.stimuli))

    memory = plain_tree().memory()
    selector = GoalSelector()
    selector.add_goal(1, Look())
    sim = Simulation(ticks_per_second=10)
    sim.add(Agent(Entity("sheep"), drivers=[memory, selector]))
    memory.stimuli.add(1, timeout=0.2)
    sim.tick(4)
    sim.close()
    assert seen == [(1, True), (2, True), (3, False), (4, False)]


def test_time_passes_no_more_when_nobody_is_driven():
    memory = plain_tree().memory()
    sim = Simulation(ticks_per_second=10)
    agent = sim.add(Agent(Entity("sheep")))
    attachment = agent.attach(memory)
    memory.stimuli.add(1, timeout=0.5)
    sim.tick(3)
    attachment.detach()
    sim.tick(20)
    assert 1 in memory.stimuli
    agent.attach(memory)
    sim.tick(5)
    assert 1 not in memory.stimuli
    sim.close()
