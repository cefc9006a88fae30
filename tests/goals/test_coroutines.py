"""Coroutine goals on the plain kernel: when each of their coroutines begins and ends, as literal logs."""

from __future__ import annotations

import pytest
from modules import load

from agentrt.errors import WrongStateError
from agentrt.goals import LOOK, MOVE, Goal
from agentrt.kernel.signals import Event
from agentrt.kernel.strand import CancelScope
from agentrt.kernel.traps import next_tick, sleep_ticks

worlds = load("tests/goals/worlds.py")
Noted, Runner = worlds.Noted, worlds.Runner


@pytest.mark.states(
    "000: Ours: (ours) A goal may be one coroutine: it begins after `start`, is cancelled on stop, and ends the goal",
    source="Operation",
)
def test_run_begins_in_the_tick_of_the_start_and_ends_the_goal(stage):
    selector = stage.selector()
    goal = Runner(stage, "walk", [MOVE], ticks=2)
    selector.add_goal(1, goal)
    stage.tick(2)
    goal.use, goal.cont = False, True
    stage.tick(2)
    assert stage.log == [
        (1, "walk start"), (1, "walk runs"), (3, "walk is done"), (3, "walk is clean"), (3, "walk stop"),
    ]  # fmt: skip
    assert stage.held() == {}
    assert stage.details("stop") == [(3, "goals/walk", {"reason": "its run is over"})]


def test_a_goal_that_is_over_is_asked_again_in_the_next_full_tick(stage):
    selector = stage.selector()
    selector.add_goal(1, Runner(stage, "walk", [MOVE], ticks=1))
    stage.tick(5)
    assert [entry for entry in stage.log if "start" in entry[1]] == [
        (1, "walk start"),
        (3, "walk start"),
        (5, "walk start"),
    ]


@pytest.mark.states("000: Ours: (ours) A goal may be one coroutine: it begins after `start`, is cancelled on stop ...")
def test_it_is_cancelled_when_it_cannot_continue_and_stop_comes_last(stage):
    selector = stage.selector()
    goal = Runner(stage, "walk", [MOVE], clean_up=2)
    selector.add_goal(1, goal)
    stage.tick(2)
    goal.use = False
    stage.tick(1)
    assert selector.view().goals[0].state == "ending"
    assert stage.held() == {"MOVE": "goals/walk"}
    stage.tick(3)
    assert stage.log == [(1, "walk start"), (1, "walk runs"), (5, "walk is clean"), (5, "walk stop")]
    assert stage.held() == {}
    assert stage.details("stop") == [(3, "goals/walk", {"reason": "it cannot continue"})]


@pytest.mark.states(
    "000: Ours: (ours) Their clean-up runs before the successor starts, in the same tick if it takes no time",
    source="Operation",
)
def test_the_clean_up_of_a_replaced_goal_comes_before_its_successor_in_the_same_tick(stage):
    selector = stage.selector()
    better = Noted(stage, "flee", [MOVE], use=False)
    selector.add_goal(5, Runner(stage, "walk", [MOVE]))
    selector.add_goal(1, better)
    stage.tick(2)
    better.use = True
    stage.tick(1)
    assert stage.log == [
        (1, "walk start"), (1, "walk runs"), (3, "walk is clean"), (3, "walk stop"), (3, "flee start"),
    ]  # fmt: skip
    assert stage.trace("start", "stop")[1:] == [(3, "stop", "goals/walk"), (3, "start", "goals/flee")]


@pytest.mark.states("000: Ours: (ours) Their clean-up runs before the successor starts, in the same tick if it ...")
def test_a_successor_waits_as_long_as_the_clean_up_takes(stage):
    selector = stage.selector()
    better = Noted(stage, "flee", [MOVE, LOOK], use=False)
    selector.add_goal(5, Runner(stage, "walk", [MOVE], clean_up=3))
    selector.add_goal(1, better)
    stage.tick(2)
    better.use = True
    stage.tick(1)
    assert [(goal.name, goal.state) for goal in selector.view().goals] == [("walk", "ending"), ("flee", "pending")]
    assert stage.held() == {"MOVE": "goals/walk", "LOOK": "goals/flee"}
    stage.tick(4)
    assert stage.log[2:] == [(6, "walk is clean"), (6, "walk stop"), (6, "flee start")]
    assert stage.held() == {"LOOK": "goals/flee", "MOVE": "goals/flee"}


def test_a_successor_that_cannot_be_used_any_more_does_not_begin(stage):
    selector = stage.selector()
    better = Noted(stage, "flee", [MOVE], use=False)
    selector.add_goal(5, Runner(stage, "walk", [MOVE], clean_up=1))
    selector.add_goal(1, better)
    stage.tick(2)
    better.use = True
    stage.tick(1)
    better.use = False
    stage.tick(1)
    assert stage.log[2:] == [(4, "walk is clean"), (4, "walk stop")]
    assert stage.held() == {}
    stage.tick(1)
    assert stage.log[4:] == [(5, "walk start"), (5, "walk runs")]


def test_a_better_one_takes_the_place_of_a_goal_that_waits(stage):
    selector = stage.selector()
    good, best = Noted(stage, "good", [MOVE], use=False), Noted(stage, "best", [MOVE], use=False)
    selector.add_goal(5, Runner(stage, "walk", [MOVE], clean_up=3))
    selector.add_goal(2, good)
    selector.add_goal(1, best)
    stage.tick(2)
    good.use = True
    stage.tick(2)
    best.use = True
    stage.tick(1)
    assert [goal.state for goal in selector.view().goals] == ["ending", "idle", "pending"]
    stage.tick(2)
    assert stage.log[2:] == [(6, "walk is clean"), (6, "walk stop"), (6, "best start")]


@pytest.mark.states("000: Ours: (ours) A goal that cleans up is not asked", source="Operation")
def test_a_goal_that_cleans_up_is_not_asked(stage):
    selector = stage.selector()
    goal = Runner(stage, "walk", [MOVE], clean_up=3, cont=False)
    selector.add_goal(1, goal)
    stage.tick(9)
    assert [entry for entry in stage.log if entry[1] in ("walk start", "walk stop")] == [
        (1, "walk start"), (6, "walk stop"), (7, "walk start"),
    ]  # fmt: skip


class Slow(Noted):
    """Each of its callbacks takes ticks."""

    async def start(self):
        self.note("start begins")
        await sleep_ticks(2)
        self.note("start ends")

    async def tick(self):
        self.note("tick begins")
        await sleep_ticks(3)
        self.note("tick ends")

    async def stop(self):
        self.note("stop begins")
        await sleep_ticks(2)
        self.note("stop ends")


@pytest.mark.states(
    "000: Ours: (ours) `start`, `tick` and `stop` may be coroutines; no two ticks at a time, none before the start is "
    "over",
    source="Operation",
)
def test_all_callbacks_may_be_coroutines(stage):
    """A tick comes only when the start has returned, the next one only when the last has."""
    selector = stage.selector()
    goal = Slow(stage, "slow", [MOVE])
    selector.add_goal(1, goal)
    stage.tick(8)
    goal.use = False
    stage.tick(4)
    assert stage.log == [
        (1, "slow start begins"), (3, "slow start ends"),
        (5, "slow tick begins"), (8, "slow tick ends"),
        (9, "slow stop begins"), (11, "slow stop ends"),
    ]  # fmt: skip
    assert stage.held() == {}


def test_run_begins_when_start_has_returned(stage):
    class Both(Slow):
        async def run(self):
            self.note("runs")

    selector = stage.selector()
    selector.add_goal(1, Both(stage, "both"))
    stage.tick(4)
    assert stage.log[:4] == [
        (1, "both start begins"),
        (3, "both start ends"),
        (3, "both runs"),
        (3, "both stop begins"),
    ]


def test_stopped_while_it_starts(stage):
    selector = stage.selector()
    goal = Slow(stage, "slow", [MOVE])
    selector.add_goal(1, goal)
    stage.tick(1)
    selector.remove_goal(goal)
    assert goal.body is stage.body
    with pytest.raises(WrongStateError, match="is in a selector"):
        selector.add_goal(1, goal)
    stage.tick(4)
    assert stage.log == [(1, "slow start begins"), (2, "slow stop begins"), (4, "slow stop ends")]
    with pytest.raises(WrongStateError, match="in no selector"):
        _ = goal.body
    selector.add_goal(1, goal)


def test_stopped_before_its_first_step(stage):
    selector = stage.selector()
    worse = Runner(stage, "worse", [MOVE])
    selector.add_goal(5, worse)
    selector.add_goal(1, Noted(stage, "better", [MOVE]))
    stage.tick(1)
    assert stage.log == [(1, "worse start"), (1, "worse stop"), (1, "better start")]


def test_a_start_that_is_cancelled_before_its_first_step_has_no_stop(stage):
    selector = stage.selector()
    selector.add_goal(5, Slow(stage, "worse", [MOVE]))
    selector.add_goal(1, Noted(stage, "better", [MOVE]))
    stage.tick(1)
    assert stage.log == [(1, "better start")]
    assert stage.trace("start", "stop") == [
        (1, "start", "goals/worse"), (1, "stop", "goals/worse"), (1, "start", "goals/better"),
    ]  # fmt: skip


@pytest.mark.states("000: Ours: (ours) So does one whose coroutine raises, also while it cleans up", source="Operation")
@pytest.mark.parametrize("hook", ["start", "tick", "run"])
def test_a_coroutine_that_raises(stage, hook):
    async def fail(self):
        await next_tick()
        raise worlds.Boom

    kind = type("Kind", (Noted,), {hook: fail})
    selector = stage.selector()
    selector.add_goal(1, kind(stage, "bad", [MOVE]))
    selector.add_goal(1, Noted(stage, "good", [LOOK]))
    stage.tick(4)
    assert stage.faults == [("goals/bad", hook, "Boom")]
    assert stage.log.count((2, "bad stop")) == 1
    assert stage.details("disabled") == [(2, "goals/bad", {"hook": hook})]
    assert stage.details("stop") == [(2, "goals/bad", {"reason": f"its {hook} raised"})]
    assert [goal.state for goal in selector.view().goals] == ["disabled", "running"]
    assert stage.held() == {"LOOK": "goals/good"}


@pytest.mark.states("000: Ours: (ours) So does one whose coroutine raises, also while it cleans up ...")
@pytest.mark.parametrize("hook", ["run", "stop"])
def test_a_clean_up_that_raises(stage, hook):
    async def fail(self):
        if hook == "stop":
            self.note("stop")
        try:
            await sleep_ticks(1 if hook == "stop" else 1000)
        finally:
            raise worlds.Boom

    selector = stage.selector()
    bad = type("Kind", (Noted,), {hook: fail})(stage, "bad", [MOVE])
    selector.add_goal(1, bad)
    stage.tick(2)
    bad.use = False
    stage.tick(3)
    assert stage.faults == [("goals/bad", hook, "Boom")]
    assert selector.view().goals[0].state == "disabled"
    assert stage.held() == {}


def test_what_became_of_it_once_is_forgotten_when_it_begins_anew(stage):
    """Disabled, joined again, begun, stopped: it is idle, and not disabled for what it did in its former life."""

    class Bad(Runner):
        broken = True

        async def tick(self):
            if self.broken:
                raise worlds.Boom

    selector = stage.selector()
    bad = Bad(stage, "bad", [MOVE])
    selector.add_goal(1, bad)
    stage.tick(2)
    assert selector.view().goals[0].state == "disabled"
    selector.leave("away", lambda: None)
    selector.join(stage.body)
    bad.broken = False
    stage.tick(2)
    bad.use = False
    stage.tick(2)
    assert selector.view().goals[0].state == "idle"


@pytest.mark.states(
    "000: Ours: (ours) A selector leaves its body in order, and can join another one",
    source="Operation",
)
def test_leaving_waits_for_all_coroutines(stage):
    selector = stage.selector()
    selector.add_goal(1, Runner(stage, "a", [MOVE], clean_up=1))
    selector.add_goal(1, Runner(stage, "b", [LOOK], clean_up=3))
    selector.add_goal(1, Noted(stage, "c"))
    stage.tick(2)
    assert [strand.name for strand in selector.strands()] == ["body: goals/a", "body: goals/b"]
    selector.leave("the end", lambda: stage.note("left"))
    assert stage.log[-1] == (2, "c stop")
    stage.tick(4)
    assert stage.log[6:] == [(4, "a is clean"), (4, "a stop"), (6, "b is clean"), (6, "b stop"), (6, "left")]
    assert selector.strands() == []
    assert stage.kernel.live == 0


def test_leaving_withdraws_who_waits(stage):
    selector = stage.selector()
    better = Noted(stage, "flee", [MOVE], use=False)
    selector.add_goal(5, Runner(stage, "walk", [MOVE], clean_up=2))
    selector.add_goal(1, better)
    stage.tick(2)
    better.use = True
    stage.tick(1)
    selector.leave("the end", lambda: stage.note("left"))
    stage.tick(4)
    assert stage.log[2:] == [(5, "walk is clean"), (5, "walk stop"), (5, "left")]
    assert stage.body.flags.is_free


def test_a_goal_may_remove_itself_from_within_its_coroutine(stage):
    class Leaver(Noted):
        async def run(self):
            await next_tick()
            selector.remove_goal(self)
            self.note("goes on until it waits")
            await next_tick()
            self.note("never")

    selector = stage.selector()
    selector.add_goal(1, Leaver(stage, "a", [MOVE]))
    stage.tick(3)
    assert stage.log == [(1, "a start"), (2, "a goes on until it waits"), (2, "a stop")]
    assert selector.available_goals == ()


def test_a_strand_that_somebody_else_stops_ends_its_goal(stage):
    for hook in ("start", "tick", "run"):

        async def wait(self):
            await sleep_ticks(1000)

        selector = stage.selector(name=hook)
        selector.add_goal(1, type("Kind", (Noted,), {hook: wait})(stage, hook, [hook]))
        stage.tick(1)
        selector.strands()[0].stop("somebody else")
        stage.tick(1)
        assert (2 if hook == "start" else stage.kernel.tick, f"{hook} stop") in stage.log
        selector.leave("done", lambda: None)


def test_a_plain_callback_may_return_a_coroutine(stage):
    class Odd(Noted):
        def tick(self):
            self.note("tick")
            return self.walk()

        async def walk(self):
            await sleep_ticks(3)

    selector = stage.selector()
    selector.add_goal(1, Odd(stage, "odd"))
    stage.tick(6)
    assert [entry for entry in stage.log if entry[1] == "odd tick"] == [(1, "odd tick"), (5, "odd tick")]


def test_a_plain_callback_that_stops_its_goal_and_returns_a_coroutine(stage):
    class Odd(Noted):
        def tick(self):
            selector.remove_goal(self)
            return self.walk()

        async def walk(self):
            self.note("walks")

    selector = stage.selector()
    selector.add_goal(1, Odd(stage, "odd"))
    stage.tick(2)
    assert stage.log == [(1, "odd start"), (1, "odd stop")]


def test_a_shielded_clean_up_may_go_on_for_ever_and_nobody_else_minds(stage):
    class Stubborn(Noted):
        async def run(self):
            with CancelScope(shield=True):
                await enough.wait()

    enough = Event()

    selector = stage.selector()
    stubborn = Stubborn(stage, "stubborn", [MOVE])
    selector.add_goal(5, stubborn)
    selector.add_goal(6, Noted(stage, "gaze", [LOOK]))
    stage.tick(2)
    stubborn.use = False
    stage.tick(10)
    assert stage.held() == {"MOVE": "goals/stubborn", "LOOK": "goals/gaze"}
    assert selector.view().lines()[0] == "stubborn: ending, priority 5, MOVE, since tick 1"
    enough.set()


def test_a_run_that_is_no_coroutine_after_all(stage):
    class Odd(Goal):
        def can_use(self):
            return True

    Odd.run = lambda self: 1 / 0
    selector = stage.selector()
    selector.add_goal(1, Odd())
    stage.tick(1)
    assert stage.faults == [("goals/Odd", "run", "ZeroDivisionError")]
