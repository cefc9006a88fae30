"""A selection tree that drives an agent, beside its plan, on all hosts."""

from __future__ import annotations

import dataclasses
import json

import pytest

from agentrt import MOVE, TOP, Action, Agent, sleep_ticks
from agentrt.selection import LeafBehavior, SelectionLibrary


class Diary(LeafBehavior):
    """Keeps a diary in the entity of its agent."""

    def note(self, ai, word):
        ai.entity.diary.append((ai.body.kernel.tick, f"{ai.behavior} {word}"))

    def constructor(self, ai):
        self.note(ai, "begins")

    def destructor(self, ai):
        self.note(ai, "ends")

    async def run(self, ai):
        try:
            await sleep_ticks(2)
            self.note(ai, "goes on")
            await sleep_ticks(100)
        finally:
            self.note(ai, "cleans up")


class Attack(Diary):
    flags = {MOVE}


class Walk(Action):
    does = TOP
    utility = 0.5
    flags = {MOVE}

    def start(self, ctx, args):
        ctx.entity.diary.append((ctx.clock.tick, "walk"))

    async def run(self, ctx, args):
        await ctx.sleep_ticks(100)

    def stop(self, ctx, args):
        ctx.entity.diary.append((ctx.clock.tick, "stop"))


BEHAVIORS = {"GruntIdle": Diary(), "GruntInvestigate": Diary(), "GruntAttack": Attack()}


@pytest.fixture
def grunt(examples):
    return SelectionLibrary.load(examples)["Grunt"]


class Soldier:
    def __init__(self):
        self.name = "sue"
        self.diary = []


def soldier(actions=()):
    return Agent(Soldier(), actions=list(actions))


def at(runtime, script):
    runtime.every_tick(lambda: script.get(runtime.tick, lambda: None)())


@pytest.mark.states(
    "004: Evaluation: An attached tree drives its agent in every tick, before its goals, its behavior tree and its "
    "plan (ours)",
)
def test_it_is_driven_in_every_tick(play, grunt):
    runtime = play.runtime()
    agent = runtime.add(soldier())
    state = grunt.state(BEHAVIORS)
    agent.attach(state)
    at(runtime, {4: lambda: state.signal("OnHearSound"), 6: lambda: state.signal("OnNoTarget")})
    play.ticks(runtime, 6)
    assert agent.entity.diary == [
        (1, "GruntIdle begins"),
        (3, "GruntIdle goes on"),
        (4, "GruntIdle cleans up"),
        (4, "GruntIdle ends"),
        (4, "GruntInvestigate begins"),
        (6, "GruntInvestigate cleans up"),
        (6, "GruntInvestigate ends"),
        (6, "GruntIdle begins"),
        (7, "GruntIdle cleans up"),
        (7, "GruntIdle ends"),
    ]


def test_detached_and_removed(play, grunt):
    runtime = play.runtime()
    agents = [runtime.add(soldier()) for _ in range(2)]
    attachments = [agent.attach(grunt.state(BEHAVIORS)) for agent in agents]
    at(runtime, {2: attachments[0].detach, 3: lambda: runtime.remove(agents[1])})
    play.ticks(runtime, 5)
    assert agents[0].entity.diary == [(1, "GruntIdle begins"), (3, "GruntIdle cleans up"), (3, "GruntIdle ends")]
    assert agents[1].entity.diary[-1][1] == "GruntIdle ends"


@pytest.mark.states("004: Evaluation: An attached tree drives its agent in every tick, before its goals, its ...")
def test_it_shares_control_flags_with_the_plan(play, grunt):
    """The plan came first and keeps its legs; at a higher precedence the attack has it give way."""
    runtime = play.runtime()
    agent = runtime.add(soldier([Walk]))
    state = grunt.state(BEHAVIORS, precedence=1)
    agent.attach(state)
    seen = []
    at(
        runtime,
        {
            2: lambda: state.signal("OnEnemySeen"),
            4: lambda: seen.extend((one.flag, one.holder) for one in agent.snapshot().flags),
            5: lambda: state.signal("OnNoTarget"),
        },
    )
    play.ticks(runtime, 8)
    assert seen == [("MOVE", "selection/Root/CommonRoot/Combat/Attack")]
    begun = [
        what for _, what in agent.entity.diary if what in ("walk", "stop", "GruntAttack begins", "GruntAttack ends")
    ]
    assert begun[:2] == ["walk", "stop"]
    assert begun.index("stop") < begun.index("GruntAttack begins") < begun.index("GruntAttack ends")


def test_at_the_same_precedence_the_leaf_is_passed_over(play, grunt):
    runtime = play.runtime()
    agent = runtime.add(soldier([Walk]))
    state = grunt.state(BEHAVIORS)
    agent.attach(state)
    told = []
    at(runtime, {2: lambda: state.signal("OnEnemySeen"), 4: lambda: told.extend((state.behavior, agent.explain()))})
    play.ticks(runtime, 5)
    assert told[0] == "GruntIdle"
    assert "would be GruntAttack, whose control flags are held by somebody else" in told[1]


def test_the_snapshot_is_plain_values(play, grunt):
    runtime = play.runtime()
    agent = runtime.add(soldier())
    agent.attach(grunt.state(BEHAVIORS))
    seen = []
    at(runtime, {2: lambda: seen.append(json.dumps(dataclasses.asdict(agent.snapshot())))})
    play.ticks(runtime, 3)
    (driver,) = json.loads(seen[0])["drivers"]
    assert (driver["state"]["behavior"], driver["state"]["routines"]) == ("GruntIdle", ["run"])
