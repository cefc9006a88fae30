"""Goals that are removed while they run: they are stopped first, and clean up with what they hold."""

from __future__ import annotations

import pytest
from cast import Idle

from agentrt import MOVE, Action, Agent, Entity
from agentrt.goals import Goal, GoalSelector
from agentrt.testing import Simulation


class GoHome(Action):
    does = "farm:go_home"
    utility = 0.5
    flags = {MOVE}

    async def run(self, ctx, args):
        ctx.entity.diary.append((ctx.clock.tick, "goes home"))
        await ctx.sleep_ticks(2)


class Sheep(Entity):
    def __init__(self):
        super().__init__("sheep")
        self.diary = []


class Stroll(Goal):
    flags = {MOVE}

    def can_use(self):
        return True

    async def stop(self):
        await self.perform("farm:go_home")
        self.entity.diary.append((self.body.kernel.tick, "is home"))


@pytest.mark.states("000: Adding and Removing Goals: One that runs is stopped first and then removed; its clean-up ...")
@pytest.mark.parametrize("remove", [GoalSelector.remove_goal, lambda selector, goal: selector.remove_all_goals()])
def test_its_clean_up_still_has_its_control_flags(remove):
    """What it performs shares the flag that it holds until it has cleaned up; else the two would wait for each other."""
    goal, selector = Stroll(), GoalSelector()
    selector.add_goal(1, goal)
    sim = Simulation()
    agent = sim.add(Agent(Sheep(), actions=[Idle, GoHome], drivers=[selector]))
    sim.tick(2)
    sim.runtime.post(remove, selector, goal)
    sim.tick(4)
    assert agent.entity.diary == [(3, "goes home"), (5, "is home")]
    assert agent.snapshot().flags == ()
    sim.close()


@pytest.mark.states(
    "000: Adding and Removing Goals: One that runs is stopped first and then removed; its clean-up still has its flags",
)
def test_it_is_among_the_goals_while_it_is_stopped():
    """Source: seed 000, "Adding and Removing Goals": stopped if it runs, then removed."""
    seen = []

    class Watched(Goal):
        def can_use(self):
            return True

        def stop(self):
            seen.append(len(selector.available_goals))

    goal, selector = Watched(), GoalSelector()
    selector.add_goal(1, goal)
    sim = Simulation()
    sim.add(Agent(Entity("sheep"), drivers=[selector]))
    sim.tick(1)
    selector.remove_goal(goal)
    assert (seen, selector.available_goals) == ([1], ())
    sim.close()
