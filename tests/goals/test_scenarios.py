"""The scenarios that nobody on this project wrote: every call of the selector, in order, with what the goal answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from modules import load

from agentrt.goals import GoalSelector

worlds = load("tests/goals/worlds.py")
reference = load("tests/goals/reference.py")

DATA = Path(__file__).resolve().parents[1] / "data" / "goals"
SCENARIOS = json.loads((DATA / "scenarios.json").read_text(encoding="utf-8"))


class Ours:
    """The selector of the library."""

    def __init__(self):
        self.selector = GoalSelector()
        self.goals = {}
        self.calls = []

    def add(self, spec):
        self.goals[spec["id"]] = goal = worlds.Scripted(
            spec["id"],
            spec["flags"],
            self.calls,
            interruptible=spec.get("interruptible", True),
            every_tick=spec.get("every_tick", False),
            use=spec.get("use", True),
            cont=spec.get("cont"),
        )
        self.selector.add_goal(spec["prio"], goal)

    def set(self, name, question, answer):
        self.goals[name].answers[question] = answer

    def remove(self, name):
        self.selector.remove_goal(self.goals.pop(name))

    def tick(self):
        self.selector.tick()

    def tick_running(self):
        self.selector.tick_running_goals()

    def disable(self, flag):
        self.selector.disable_control_flag(flag)

    def enable(self, flag):
        self.selector.enable_control_flag(flag)

    def state(self):
        return worlds.names(self.selector.running_goals), worlds.locked(self.selector)


class Theirs:
    """The reference, so that it is known to be right before others are compared with it."""

    def __init__(self):
        self.answers = {}
        self.selector = reference.ReferenceSelector(self.answers)
        self.calls = self.selector.calls
        self.remove = self.selector.remove
        self.tick = self.selector.tick
        self.disable = self.selector.disable
        self.enable = self.selector.enable

    def add(self, spec):
        self.answers[spec["id"]] = worlds.answers_of(spec.get("use", True), spec.get("cont"))
        interruptible, every_tick = spec.get("interruptible", True), spec.get("every_tick", False)
        self.selector.add(reference.Row(spec["id"], spec["prio"], spec["flags"], interruptible, every_tick))

    def set(self, name, question, answer):
        self.answers[name][question] = answer

    def tick_running(self):
        self.selector.tick_running_goals(False)

    def state(self):
        return self.selector.running(), self.selector.locked()


STEPS = {"tickRunning": "tick_running"}


@pytest.mark.states("000: Priorities: It counts when a newcomer would interrupt one that runs: the lower number wins")
@pytest.mark.states("000: Flags: Goals without flags are stopped by none of this")
@pytest.mark.states("000: Operation: Every call of a full or partial tick, in order, for any goals and events ...")
@pytest.mark.states("000: Operation 1: Step 1: a running goal that cannot continue is stopped")
@pytest.mark.states("000: Operation 3, Flowchart: The holders are stopped, each once, before the newcomer starts ...")
@pytest.mark.states("000: Operation: A goal may be stopped and started, or started and replaced, within one tick")
@pytest.mark.states(
    "000: Operation: Who does *not* require it is ticked every second tick (the flowchart; the prose has it the other "
    "way round)",
    source="Operation, Flowchart: tickRunningGoals",
)
@pytest.mark.parametrize("side", [Ours, Theirs])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario["name"] for scenario in SCENARIOS])
def test_a_scenario(scenario, side):
    world = side()
    for spec in scenario["goals"]:
        world.add(spec)
    for moment in scenario["trace"]:
        world.calls.clear()
        word, *rest = moment["step"]
        getattr(world, STEPS.get(word, word))(*rest)
        assert (world.calls, *world.state()) == (moment["calls"], moment["running"], moment["locked"]), moment["step"]
