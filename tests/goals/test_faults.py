"""A callback that raises: its goal is stopped, disabled for this body and reported once; nothing else changes."""

from __future__ import annotations

import pytest
from modules import load

from agentrt.goals import LOOK, MOVE
from agentrt.goals.goal import Goal

worlds = load("tests/goals/worlds.py")
Scripted, names = worlds.Scripted, worlds.names
BOOM = worlds.BOOM


@pytest.mark.states(
    "000: Ours: (ours) A goal that raises is stopped, disabled and reported once; nothing else changes",
    source="Operation",
)
@pytest.mark.parametrize(
    ("script", "hook", "expected"),
    [
        ({"use": BOOM}, "can_use", ["canUse a=boom"]),
        ({"cont": BOOM}, "can_continue_to_use", ["canUse a=1", "start a", "tick a", "canContinue a=boom", "stop a"]),
        ({"start": BOOM}, "start", ["canUse a=1", "start a", "stop a"]),
        ({"tick": BOOM}, "tick", ["canUse a=1", "start a", "tick a", "stop a"]),
        ({"cont": False, "stop": BOOM}, "stop", ["canUse a=1", "start a", "tick a", "canContinue a=0", "stop a"]),
    ],
)
def test_a_goal_that_raises(stage, script, hook, expected):
    selector = stage.selector()
    bad, good = Scripted("a", [MOVE], **script), Scripted("b", [LOOK])
    selector.add_goal(1, bad)
    selector.add_goal(1, good)
    for _ in range(3):
        selector.tick()
    assert bad.calls == expected
    assert stage.faults == [("goals/a", hook, "Boom")]
    assert [(path, detail) for _, path, detail in stage.details("disabled")] == [("goals/a", {"hook": hook})]
    assert good.calls == ["canUse b=1", "start b", "tick b"] + ["canUse b=1", "tick b"] * 2
    assert stage.held() == {"LOOK": "goals/b"}
    assert selector.view().goals[0].state == "disabled"


def test_a_goal_whose_stop_raises_makes_room_all_the_same(stage):
    selector = stage.selector()
    worse, better = Scripted("worse", [MOVE], stop=BOOM), Scripted("better", [MOVE], use=False)
    selector.add_goal(5, worse)
    selector.add_goal(1, better)
    selector.tick()
    better.answers["use"] = True
    selector.tick()
    assert names(selector.running_goals) == ["better"]
    assert stage.held() == {"MOVE": "goals/better"}


@pytest.mark.parametrize("as_property", [True, False])
@pytest.mark.parametrize("question", ["is_interruptible", "requires_update_every_tick"])
def test_a_question_that_raises(stage, question, as_property):
    class Bad(Goal):
        flags = [MOVE]
        calls = []

        def can_use(self):
            return True

        def stop(self):
            self.calls.append("stop")

    def answer(self):
        raise worlds.Boom

    setattr(Bad, question, property(answer) if as_property else answer)
    selector = stage.selector()
    selector.add_goal(5, Bad())
    selector.tick()
    selector.add_goal(1, Scripted("better", [MOVE]))
    if question == "is_interruptible":
        selector.tick()
    else:
        selector.tick_running_goals()
        assert selector.running_goals == ()
        selector.tick()
    assert Bad.calls == ["stop"]
    assert stage.faults == [("goals/Bad", question, "Boom")]
    assert names(selector.running_goals) == ["better"]


@pytest.mark.parametrize("hook", ["can_use", "start", "run"])
def test_a_callback_that_raises_when_it_is_looked_up(stage, hook):
    class Bad(Goal):
        flags = [MOVE]

        def can_use(self):
            return True

        async def run(self):
            pass

        def __getattribute__(self, name):
            if name == hook:
                raise worlds.Boom
            return super().__getattribute__(name)

    selector = stage.selector()
    selector.add_goal(1, Bad())
    selector.add_goal(2, Scripted("other", [MOVE]))
    selector.tick()
    selector.tick()
    assert stage.faults == [("goals/Bad", hook, "Boom")]
    assert names(selector.running_goals) == ["other"]


def test_one_that_was_removed_and_added_again_may_try_again(stage):
    selector = stage.selector()
    bad = Scripted("a", start=BOOM)
    selector.add_goal(1, bad)
    selector.tick()
    selector.remove_goal(bad)
    bad.answers["start"] = None
    selector.add_goal(1, bad)
    selector.tick()
    assert names(selector.running_goals) == ["a"]


def test_a_goal_that_removes_itself_and_raises(stage):
    class Leaver(Scripted):
        def start(self):
            selector.remove_goal(self)
            super().start()

    selector = stage.selector()
    leaver = Leaver("a", [MOVE], start=BOOM)
    selector.add_goal(1, leaver)
    selector.tick()
    assert leaver.calls == ["canUse a=1", "stop a", "start a"]
    assert stage.faults == [("a", "start", "Boom")]
    assert stage.details("disabled") == []
    assert stage.body.flags.is_free


def test_what_is_no_exception_is_not_swallowed_and_leaves_no_flag_behind(stage):
    class Interrupted(Scripted):
        def stop(self):
            raise KeyboardInterrupt

    selector = stage.selector()
    selector.add_goal(1, Interrupted("a", [MOVE], cont=False))
    selector.tick()
    with pytest.raises(KeyboardInterrupt):
        selector.tick()
    assert stage.body.flags.is_free
    assert selector.view().goals[0].state == "idle"


def test_a_coroutine_without_a_kernel_is_a_fault_of_its_goal():
    class Slow(Goal):
        def can_use(self):
            return True

        async def run(self):
            pass

    class SlowToStop(Slow):
        run = Goal.run

        async def stop(self):
            pass

    selector = worlds.GoalSelector()
    selector.add_goal(1, Slow())
    with pytest.warns(RuntimeWarning, match=r"goals/Slow: run raised NotRunningError.*nothing is there to step it"):
        selector.tick()
    selector.add_goal(1, SlowToStop())
    selector.tick()
    with pytest.warns(RuntimeWarning, match=r"goals/SlowToStop: stop raised NotRunningError"):
        selector.remove_all_goals()
