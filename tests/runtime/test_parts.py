"""The parts of an agent: what they say of themselves, and that each is told of what happens to the agent in one order."""

from __future__ import annotations

import pytest

from agentrt import MOVE, Action, Agent, Entity, Runtime
from agentrt.behavior import BehaviorTree, decider, group
from agentrt.goals import Goal, GoalSelector


class Idle(Action):
    """Nothing is done."""

    does = "t:idle"
    utility = 0.5


def test_parts_say_what_they_hold():
    agent = Agent(Entity("Ann"), actions=[Idle], drivers=[GoalSelector()])
    assert repr(agent._knowledge) == "<Knowledge of 'Ann': 1 actions, 0 task groups>"
    assert repr(agent.drivers) == "<Drivers of 'Ann': goals>"
    agent.attachments[0].detach()
    assert repr(agent.drivers) == "<Drivers of 'Ann': none>"


def test_an_injection_names_what_it_taught_besides_actions(known):
    agent = Agent(Entity("Ann"), registry=known)
    plain = agent.inject(Idle)
    more = agent.inject({"actions": ["t:actions:idle"], "observers": ["t:observers:look"]})
    assert (plain.teaches, more.teaches) == ((), ("t:observers:look",))
    assert [view.teaches for view in agent.snapshot().injections] == [(), ("t:observers:look",)]


@pytest.fixture
def known():
    from agentrt import Manifest, Registry

    async def look(agent):
        """It sees nothing."""

    return Registry([Manifest("t", {"actions:idle": Idle, "observers:look": look})])


def test_looking_at_an_agent_makes_no_gameplay():
    agent = Agent(Entity("Ann"))
    agent.snapshot()
    assert agent.gameplay_if_made is None
    assert agent.gameplay is agent.gameplay_if_made


def test_a_ledger_is_made_when_somebody_takes_a_flag():
    """Asking goals and deciders that have flags, looking and leaving make none; and all see the one that is made."""

    class Walk(Goal):
        flags = {MOVE}
        is_wanted = False

        def can_use(self):
            return self.is_wanted

    class Other(Walk):
        pass

    tree = BehaviorTree(group("ROOT")[decider("GO", lambda at: True, decide=lambda memory: 0.0, flags={MOVE})])
    first, second = GoalSelector(full_ticks=True), GoalSelector(name="second", full_ticks=True)
    first.add_goal(1, Walk())
    second.add_goal(1, Other())
    agent = Agent(Entity("Ann"), actions=[Idle], drivers=[first, second, tree.memory(name="tree")])
    runtime = Runtime(host="plain")
    runtime.add(agent)
    for _ in range(3):
        runtime.step()
    assert (agent.snapshot().flags, first.view().locked) == ((), ())
    assert agent.flags_if_made is None
    Walk.is_wanted = True
    runtime.step()
    assert agent.flags is agent.flags_if_made
    assert [(flag, holder) for flag, holder, _ in agent.snapshot().flags] == [(MOVE, "goals/Walk")]
    assert [goal.reason for goal in second.view().goals] == [
        "MOVE is held by goals/Walk, which came first, in tick 4, with precedence 0 against 0"
    ]
    agent.attachments[0].detach()
    runtime.step()
    runtime.step()
    assert [(flag, holder) for flag, holder, _ in agent.snapshot().flags] == [(MOVE, "second/Other")]
    runtime.close()


def test_a_life_begins_and_ends_in_one_order(known):
    """Observers, drivers and the plan begin in that order; drivers, plan and observers end in that."""
    told = []

    class Living(Action):
        does = "agentrt:top"
        utility = 0.5

        async def run(self, ctx, args):
            told.append((ctx.agent.runtime.tick, "plan runs"))
            try:
                await ctx.sleep(100)
            finally:
                told.append((ctx.agent.runtime.tick, "plan ends"))

    class Model:
        name, rank, precedence = "model", 2, 0
        body = None

        def join(self, body):
            told.append((body.kernel.tick, "driver joins"))
            self.body = body

        def drive(self):
            if self.body.kernel.tick == 1:
                told.append((1, "driver drives"))

        def leave(self, reason, then):
            told.append((self.body.kernel.tick, "driver leaves"))
            then()

        def strands(self):
            return []

        def view(self):
            return None

    async def watch(agent):
        told.append((agent.runtime.tick, "observer begins"))
        try:
            await agent.signal("never").wait()
        finally:
            told.append((agent.runtime.tick, "observer ends"))

    known.register("t:observers:watch", watch)
    runtime = Runtime(host="plain")
    pack = {"observers": ["t:observers:watch"]}
    agent = runtime.add(Agent(Entity("Ann"), actions=[Living], packs=[pack], registry=known, drivers=[Model()]))
    runtime.step()
    runtime.step()
    runtime.remove(agent)
    runtime.step()
    assert told == [
        (1, "driver joins"),
        (1, "driver drives"),
        (1, "observer begins"),
        (1, "plan runs"),
        (3, "driver leaves"),
        (3, "plan ends"),
        (3, "observer ends"),
    ]
    assert runtime.agents == ()
