"""Five creatures of a well-known game as goal tables: what they register, with priorities and flags, in their order."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from modules import load

from agentrt.body.driver import LoneBody
from agentrt.goals import MOVE, TARGETS, GoalSelector

worlds = load("tests/goals/worlds.py")
reference = load("tests/goals/reference.py")

DATA = json.loads((Path(__file__).resolve().parents[1] / "data" / "goals" / "mobs.json").read_text(encoding="utf-8"))
MOBS = {mob["mob"]: mob for mob in DATA["mobs"]}


class Creature:
    """A mob with its two selectors, targets first, and the reference beside each."""

    def __init__(self, mob, number=0):
        self.body = LoneBody(mob["mob"], number=number)
        self.calls = []
        self.answers = {}
        self.sides = []
        for name, rank in (("targets", TARGETS), ("goals", 2)):
            selector = GoalSelector(self.body, name=name, rank=rank)
            theirs = reference.ReferenceSelector(self.answers, number)
            theirs.calls = self.sides[0][1].calls if self.sides else []
            for row in mob[name]:
                # A zombie has four goals of one class; the reference knows them by their names.
                same = sum(other.partition("#")[0] == row["goal"] for other in self.answers)
                label = f"{row['goal']}#{same + 1}" if same else row["goal"]
                goal = worlds.Scripted(label, DATA["flags"][row["goal"]], self.calls, use=False)
                selector.add_goal(row["priority"], goal)
                self.answers[label] = goal.answers
                theirs.add(reference.Row(goal.name, row["priority"], goal.control_flags))
            self.sides.append((selector, theirs))
        self.targets, self.goals = (selector for selector, _ in self.sides)

    def tick(self):
        for selector, theirs in self.sides:
            selector.drive()
            theirs.ai_step()
        assert self.calls == self.sides[0][1].calls
        for selector, theirs in self.sides:
            assert worlds.names(selector.running_goals) == theirs.running()
            assert worlds.locked(selector) == theirs.locked()

    def wants(self, *names):
        for name, answers in self.answers.items():
            answers["use"] = name in names

    def running(self):
        return worlds.names((*self.targets.running_goals, *self.goals.running_goals))


@pytest.mark.states("000: Usage: The goals of a mob are registered with priorities, in an order")
@pytest.mark.parametrize("mob", MOBS.values(), ids=MOBS)
def test_a_table_is_registered_as_it_stands(mob):
    creature = Creature(mob)
    for selector, name in ((creature.targets, "targets"), (creature.goals, "goals")):
        rows = [(goal.name.partition("#")[0], goal.priority, list(goal.flags)) for goal in selector.view().goals]
        assert rows == [(row["goal"], row["priority"], DATA["flags"][row["goal"]]) for row in mob[name]]
        assert len({goal.name for goal in selector.view().goals}) == len(mob[name])


@pytest.mark.states("000: Operation: Every call of a full or partial tick, in order, for any goals and events ...")
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("mob", MOBS.values(), ids=MOBS)
def test_a_life_is_that_of_the_reference(mob, number):
    creature = Creature(mob, number)
    dice = random.Random(f"{mob['mob']}{number}")
    for _ in range(150):
        for answers in creature.answers.values():
            if dice.random() < 0.2:
                answers["use"] = not answers["use"]
        if dice.random() < 0.05:
            for selector, theirs in creature.sides:
                selector.disable_control_flag(MOVE)
                theirs.disable(MOVE)
        elif dice.random() < 0.2:
            for selector, theirs in creature.sides:
                selector.enable_control_flag(MOVE)
                theirs.enable(MOVE)
        creature.tick()
    assert len(creature.calls) > 200


@pytest.mark.states("000: Priorities: It counts when a newcomer would interrupt one that runs: the lower number ...")
def test_a_pig_that_is_hurt_panics_and_swims_on():
    pig = Creature(MOBS["pig"])
    pig.wants("FloatGoal", "BreedGoal", "LookAtPlayerGoal")
    pig.tick()
    assert pig.running() == ["FloatGoal", "BreedGoal"]
    pig.wants("FloatGoal", "BreedGoal", "LookAtPlayerGoal", "PanicGoal")
    pig.tick()
    assert pig.running() == ["FloatGoal", "BreedGoal"]
    pig.tick()
    # Panic comes before breeding in the table, and takes MOVE from it. What breeding had locked besides is locked until
    # the next full tick, also for the glance at the player.
    assert pig.running() == ["FloatGoal", "PanicGoal"]
    pig.tick()
    pig.tick()
    assert pig.running() == ["FloatGoal", "PanicGoal", "LookAtPlayerGoal"]


@pytest.mark.states("000: Usage: A mob has a primary selector and one for targets; both are the same kind of thing ...")
def test_a_zombie_strolls_until_it_has_a_target():
    zombie = Creature(MOBS["zombie"])
    zombie.wants("LookAtPlayerGoal", "WaterAvoidingRandomStrollGoal")
    zombie.tick()
    assert zombie.running() == ["LookAtPlayerGoal", "WaterAvoidingRandomStrollGoal"]
    zombie.wants("HurtByTargetGoal", "LookAtPlayerGoal", "WaterAvoidingRandomStrollGoal", "ZombieAttackGoal")
    zombie.tick()
    zombie.tick()
    assert zombie.running() == ["HurtByTargetGoal", "ZombieAttackGoal"]


def test_a_spider_leaps_out_of_its_attack():
    spider = Creature(MOBS["spider"])
    spider.wants("SpiderTargetGoal", "SpiderAttackGoal")
    spider.tick()
    assert spider.running() == ["SpiderTargetGoal", "SpiderAttackGoal"]
    spider.wants("SpiderTargetGoal", "SpiderAttackGoal", "LeapAtTargetGoal", "FloatGoal")
    spider.tick()
    spider.tick()
    # Floating is more important than leaping, and has the legs' JUMP.
    assert spider.running() == ["SpiderTargetGoal", "FloatGoal", "SpiderAttackGoal"]
    spider.wants("SpiderTargetGoal", "SpiderAttackGoal", "LeapAtTargetGoal")
    spider.tick()
    spider.tick()
    assert spider.running() == ["SpiderTargetGoal", "LeapAtTargetGoal"]


@pytest.mark.states("000: Flags: A mob on a leash does not move")
@pytest.mark.parametrize("mob", MOBS.values(), ids=MOBS)
def test_a_creature_on_a_leash_does_nothing_that_moves(mob):
    creature = Creature(mob)
    creature.wants(*creature.answers)
    creature.tick()
    assert any(MOVE in goal.flags for goal in creature.goals.running_goals)
    creature.goals.disable_control_flag(MOVE)
    for selector, theirs in creature.sides:
        theirs.disabled_flags = set(selector.disabled_flags)
    for _ in range(4):
        creature.tick()
    moving = [goal.name for goal in creature.goals.running_goals if MOVE in goal.flags]
    assert moving == []
    assert len(creature.running()) >= 1 + bool(mob["targets"])
