"""Random goals, answers and events: the selector makes the calls of the reference, in its order.

The reference (``reference.py``) is written from the seed's text alone. Calls, running goals and the map of locked flags
are compared after each event; so are the trace of the library and what the ledger of control flags says.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

from agentrt.body.driver import LoneBody
from agentrt.goals import GoalSelector
from agentrt.kernel.kernel import Kernel

worlds = load("tests/goals/worlds.py")
reference = load("tests/goals/reference.py")

FLAGS = ("MOVE", "LOOK", "JUMP", "TARGET", "WINGS")

flag_lists = st.lists(st.sampled_from(FLAGS), unique=True, max_size=3)
answers = st.sampled_from([True, True, True, False])
continues = st.sampled_from([None, None, True, False])
quiet_or_boom = st.sampled_from([None] * 12 + [worlds.BOOM])


@st.composite
def specs(draw, name, may_raise):
    """A goal in plain values."""
    script = worlds.answers_of(draw(answers), draw(continues))
    if may_raise:
        for call in ("start", "tick", "stop"):
            script[call] = draw(quiet_or_boom)
        if draw(st.integers(0, 15)) == 0:
            script["use"] = worlds.BOOM
        if draw(st.integers(0, 15)) == 0:
            script["continue"] = worlds.BOOM
    return {
        "name": name,
        "priority": draw(st.integers(0, 4)),
        "flags": draw(flag_lists),
        "interruptible": draw(st.sampled_from([True, True, True, False])),
        "every_tick": draw(st.booleans()),
        "script": script,
    }


@st.composite
def stories(draw, may_raise=False):
    """Goals, and what happens to them: ticks, new answers, flags that are disabled, goals that come and go."""
    goals = [draw(specs(f"g{number}", may_raise)) for number in range(draw(st.integers(1, 7)))]
    events = [("add", spec) for spec in goals]
    names = [spec["name"] for spec in goals]
    for number in range(draw(st.integers(1, 30))):
        kind = draw(
            st.sampled_from(["tick"] * 5 + ["ai_step"] * 3 + ["partial", "set", "set", "set", "flag", "member"])
        )
        if kind == "set":
            question = draw(st.sampled_from(["use", "continue"]))
            answer = draw(answers if question == "use" else continues)
            events.append(("set", draw(st.sampled_from(names)), question, answer))
        elif kind == "flag":
            events.append((draw(st.sampled_from(["disable", "enable"])), draw(st.sampled_from(FLAGS))))
        elif kind == "member" and draw(st.booleans()):
            events.append(("remove", draw(st.sampled_from(names))))
            if draw(st.booleans()):
                events.append(("again", events[-1][1], draw(st.integers(0, 4))))
        elif kind == "member":
            names.append(f"new{number}")
            events.append(("add", draw(specs(names[-1], may_raise))))
        else:
            events.append((kind,))
    return draw(st.integers(0, 3)), events


class Both:
    """The library and the reference, side by side."""

    def __init__(self, number):
        self.kernel = Kernel()
        self.records = []
        self.kernel.trace.listen(self.records.append)
        self.faults = []
        self.body = LoneBody(number=number, kernel=self.kernel, report=lambda *fault: self.faults.append(fault))
        self.selector = GoalSelector(self.body)
        self.calls = []
        self.goals = {}
        self.answers = {}
        self.reference = reference.ReferenceSelector(self.answers, number)

    def happen(self, kind, *details):
        getattr(self, kind)(*details)
        ledger = self.body.flags
        assert self.calls == self.reference.calls
        assert worlds.names(self.selector.running_goals) == self.reference.running()
        assert worlds.locked(self.selector) == self.reference.locked()
        held = {flag: row.name for row in self.reference.available_goals if row.running for flag in row.flags}
        assert {flag: hold.owner.name for flag, hold in ledger.holds().items()} == held
        assert not ledger.waiting()
        assert not ledger.refusals()

    def add(self, spec):
        self.answers[spec["name"]] = script = dict(spec["script"])
        options = {name: spec[name] for name in ("interruptible", "every_tick")}
        goal = worlds.Scripted(spec["name"], spec["flags"], self.calls, answers=script, **options)
        self.goals[spec["name"]] = goal
        self.selector.add_goal(spec["priority"], goal)
        self.reference.add(reference.Row(spec["name"], spec["priority"], spec["flags"], **options))

    def again(self, name, priority):
        """A goal that was removed is added again: with a new wrapper, at the end."""
        goal = self.goals[name]
        self.selector.add_goal(priority, goal)
        interruptible, every_tick = goal.is_interruptible, goal.requires_update_every_tick
        self.reference.add(reference.Row(name, priority, goal.control_flags, interruptible, every_tick))

    def set(self, name, question, answer):
        if self.answers[name][question] != worlds.BOOM:
            self.answers[name][question] = answer

    def tick(self):
        self.selector.tick()
        self.reference.tick()

    def partial(self):
        self.selector.tick_running_goals()
        self.reference.tick_running_goals(False)

    def ai_step(self):
        self.selector.drive()
        self.reference.ai_step()

    def disable(self, flag):
        self.selector.disable_control_flag(flag)
        self.reference.disable(flag)

    def enable(self, flag):
        self.selector.enable_control_flag(flag)
        self.reference.enable(flag)

    def remove(self, name):
        self.selector.remove_goal(self.goals[name])
        self.reference.remove(name)


def play(story):
    number, events = story
    world = Both(number)
    for event in events:
        world.happen(*event)
    return world


@pytest.mark.states("000: Operation: Every call of a full or partial tick, in order, for any goals and events")
@pytest.mark.states(
    "000: Operation: Step 2: the entries of goals that do not run are removed from the locked flags",
    source="Operation 2, Flowchart: Step-2",
)
@pytest.mark.states("000: Operation: Step 3: not running, no disabled flag, replaceable holders, in this order ...")
@pytest.mark.states("000: Operation: It locks all of its flags", source="Flowchart: Step-3")
@pytest.mark.states("000: Adding and Removing Goals: Goals are added and removed at any time")
@pytest.mark.slow
@given(stories())
def test_it_makes_the_calls_of_the_reference(story):
    world = play(story)
    assert world.faults == []


@pytest.mark.states("000: Ours: (ours) A goal that raises is stopped, disabled and reported once; nothing else ...")
@pytest.mark.slow
@given(stories(may_raise=True))
def test_goals_that_raise_change_nothing_else(story):
    world = play(story)
    assert len(world.faults) == len({fault[:2] for fault in world.faults})


@pytest.mark.slow
@given(stories(may_raise=True))
def test_the_trace_tells_each_start_and_each_stop(story):
    world = play(story)
    told = [(one.event.value, one.path) for one in world.records if one.event.value in ("start", "stop")]
    called = [call.split(" ", 1) for call in world.calls]
    assert told == [(word, f"goals/{name}") for word, name in called if word in ("start", "stop")]


@pytest.mark.states(
    "000: WrappedGoals: (decided) The wrapper cannot be started or stopped by hand: the selector pairs the two",
)
@pytest.mark.states("000: Ours: (ours) Every start has exactly one stop, whatever happens", source="Operation")
@pytest.mark.slow
@given(stories(may_raise=True))
def test_every_start_has_one_stop(story):
    """Whatever comes before: when the selector leaves, every goal was stopped as often as it was started."""
    world = play(story)
    left = []
    world.selector.leave("it is over", lambda: left.append(1))
    for name in world.goals:
        assert world.calls.count(f"start {name}") == world.calls.count(f"stop {name}")
    assert left == [1]
    assert world.body.flags.is_free
    before = len(world.calls)
    world.selector.drive()
    world.selector.tick()
    world.selector.tick_running_goals()
    assert len(world.calls) == before


@pytest.mark.slow
@given(stories())
def test_the_same_story_gives_the_same_trace(story):
    assert play(story).records == play(story).records


@pytest.mark.states("000: Flags: (decided) They are taken in a fixed order: as given in a sequence; of a set, the ...")
@given(st.permutations(FLAGS))
def test_a_set_of_flags_has_one_order(flags):
    assert worlds.Scripted("g", set(flags)).control_flags == ("MOVE", "LOOK", "JUMP", "TARGET", "WINGS")
