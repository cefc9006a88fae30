"""Time limits for thinking, declared by an action and by a step."""

from __future__ import annotations

import pytest

from agentrt import PREV, Action, ActionArgs, CompoundAction, Event, ThinkOutput, step
from agentrt.errors import DefinitionError


def agenda(play):
    """How many timers and sleepers there are."""
    kernel = play.sim.runtime.kernel
    return sum(len(bucket) for bucket in kernel.agenda.buckets.values()) - kernel.agenda.stale


def slow(ticks, *, does="top", name="Slow", utility=0.9, **attributes):
    """Ready after some ticks."""

    async def think(self, ctx, args):
        await ctx.sleep_ticks(ticks)
        ctx.set_think_output()
        await ctx.sleep(1000)

    async def run(self, ctx, args):
        await ctx.sleep(1000)

    return type(name, (Action,), {"does": does, "utility": utility, "think": think, "run": run, **attributes})


# --- of an action -----------------------------------------------------------------------------------------------------


@pytest.mark.states("001: AI contexts: (ours) Think timeouts of actions and steps")
def test_who_is_not_ready_in_time_is_out(play, idle):
    play.add(slow(100, think_timeout=0.5), idle)
    play.tick(20)
    assert play.details("timeout") == [(12, "top/Slow", "timeout", {"seconds": 0.5})]
    assert play.trace("ready", "stop_thinking", "timeout", since=2) == [
        (12, "top/Slow", "timeout"),
        (12, "top/Slow", "stop_thinking"),
    ]
    assert agenda(play) == 1  # Idle's sleep


def test_until_its_branch_is_thought_again(play):
    class Short(Action):
        does = "top"
        utility = 0.1

        async def run(self, ctx, args):
            await ctx.sleep(1)

    play.add(slow(100, think_timeout=0.5), Short)
    play.tick(45)
    assert play.trace("think", "timeout") == [
        (1, "top/Slow", "think"),
        (12, "top/Slow", "timeout"),
        (21, "top/Slow", "think"),
        (32, "top/Slow", "timeout"),
        (41, "top/Slow", "think"),
    ]


def test_the_tick_in_which_the_time_is_over_is_in_time(play, idle):
    play.add(slow(10, think_timeout=0.5), idle)
    play.tick(12)
    assert play.trace("timeout", "start") == [(1, "top/Idle", "start"), (11, "top/Slow", "start")]


def test_the_limit_ends_with_the_thinking(play, leaf, idle):
    """Elected, or not elected and stopped: nothing is left in the agenda."""
    play.add(slow(2, think_timeout=50), slow(9, think_timeout=50, name="Other", utility=0.5), idle)
    play.tick(4)
    assert play.trace("start")[-1] == (3, "top/Slow", "start")
    assert agenda(play) == 1


def test_ready_means_in_time_even_if_it_is_not_started(play, leaf):
    """It waits, ready, behind a better one; its time goes by."""
    play.add(slow(1, think_timeout=0.2, utility=(0.4, 0.8)), leaf("Best", (0.5, 0.9), run=50, quiet=True))
    play.tick(10)
    assert play.trace("timeout") == []


def test_a_plan_has_to_be_ready_with_all_its_steps(play, idle):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        think_timeout = 0.5
        steps = [step("quick"), step("slow")]

    agent = play.add(Plan, slow(1, does="quick", name="Quick"), slow(100, does="slow"), idle)
    play.tick(12)
    assert play.trace("timeout", "stop_thinking", since=2) == [
        (12, "top/Plan", "timeout"),
        (12, "top/Plan/quick/Quick", "stop_thinking"),
        (12, "top/Plan/slow/Slow", "stop_thinking"),
        (12, "top/Plan", "stop_thinking"),
    ]
    assert agent.planner.busy_frames == 1
    assert agenda(play) == 1


def test_a_plan_with_a_think_of_its_own(play, idle):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        think_timeout = 0.5
        steps = [step("slow")]

        async def think(self, ctx, args):
            await ctx.sleep_ticks(3)
            ctx.set_think_output()

    play.add(Plan, slow(100, does="slow"), idle)
    play.tick(12)
    assert play.trace("timeout") == [(12, "top/Plan", "timeout")]


def test_a_plan_that_thinks_again_after_rejections_has_no_more_time_for_that(play, idle):
    class Find(Action):
        does = "find"
        utility = 0.5

        async def think(self, ctx, args):
            ctx.reject("nothing there")

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        think_timeout = 1
        steps = [step("find")]

    play.add(Plan, Find, idle)
    play.tick(40)
    assert play.trace("timeout") == [(22, "top/Plan", "timeout")]
    assert play.trace("think")[-1][0] < 22
    assert agenda(play) == 1


def test_an_executed_activity_that_runs_out_of_time(play):
    from agentrt.errors import ActivityImpossibleError

    class Caller(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            with pytest.raises(ActivityImpossibleError):
                await ctx.execute("effect")
            play.note("impossible")
            await ctx.sleep(1000)

    play.add(Caller, slow(100, does="effect", think_timeout=0.25))
    play.tick(7)
    assert play.log == [(7, "impossible")]


# --- of a step --------------------------------------------------------------------------------------------------------


class Thing(ActionArgs):
    thing: str


def seeker(play, *near):
    """Takes for ever to find a way to what is far."""

    class Reach(Action):
        does = "reach"
        utility = 0.5
        Args = Thing

        async def think(self, ctx, args):
            if args.thing not in near:
                await Event().wait()
            ctx.set_think_output()

        async def run(self, ctx, args):
            play.note("at", args.thing)
            await ctx.sleep(1000)

    return Reach


def finder(play, *things, candidates):
    class Find(Action):
        does = "find"
        utility = 0.5

        class Output(ThinkOutput):
            thing: str

        async def think(self, ctx, args):
            play.note("think")
            if candidates:
                ctx.candidates({"thing": thing} for thing in things)
            else:
                ctx.set_think_output(thing=things[min(len(play.log), len(things)) - 1])

    return Find


class FindAndReach(CompoundAction):
    does = "top"
    utility = 0.5
    steps = [step("find"), step("reach", think_timeout=0.2, thing=PREV.thing)]


@pytest.mark.states("001: AI contexts: (ours) Think timeouts of actions and steps ...")
def test_a_step_that_is_not_ready_in_time_has_rejected_and_the_next_choice_comes_at_once(play, idle):
    play.add(FindAndReach, finder(play, "moon", "sun", "barn", candidates=True), seeker(play, "barn"), idle)
    play.tick(12)
    assert play.log == [(1, "think"), (11, "at", "barn")]
    assert play.details("timeout", "reconsider") == [
        (6, "top/FindAndReach/reach", "timeout", {"seconds": 0.2}),
        (
            6,
            "top/FindAndReach/find/Find",
            "reconsider",
            {"step": "reach", "reason": "reach is not possible with that"},
        ),
        (11, "top/FindAndReach/reach", "timeout", {"seconds": 0.2}),
        (
            11,
            "top/FindAndReach/find/Find",
            "reconsider",
            {"step": "reach", "reason": "reach is not possible with that"},
        ),
    ]


def test_without_another_choice_the_plan_thinks_again_after_the_delay(play, idle):
    play.add(FindAndReach, finder(play, "moon", "barn", candidates=False), seeker(play, "barn"), idle)
    play.tick(8)
    assert play.log == [(1, "think"), (7, "think"), (7, "at", "barn")]


def test_a_step_that_is_ready_in_time(play, idle):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("slow", think_timeout=0.5), step("more", think_timeout=0.5)]

    play.add(Plan, slow(8, does="slow"), slow(10, does="more", name="More"), idle)
    play.tick(30)
    assert play.trace("timeout") == []
    assert play.trace("run")[1:3] == [(19, "top/Plan", "run"), (19, "top/Plan/slow/Slow", "run")]
    assert agenda(play) == 1


def test_the_limit_of_a_step_ends_with_its_thinking(play, leaf, idle):
    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("slow", think_timeout=5)]

    agent = play.add(Plan, slow(100, does="slow"), leaf("Best", 0.9, think=2, run=50, quiet=True))
    play.tick(5)
    assert agent.snapshot().running == "top/Best"
    assert agenda(play) == 1


def test_an_action_of_the_step_may_change_hands_within_its_time(play, idle):
    """The time of the step goes on while its actions come and go."""

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("a", think_timeout=0.5)]

    play.add(Plan, slow(100, does="a", name="One"), slow(100, does="a", name="Two", think_timeout=0.2), idle)
    play.tick(12)
    assert play.trace("timeout") == [(6, "top/Plan/a/Two", "timeout"), (12, "top/Plan/a", "timeout")]


# --- declarations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [0, -1, True, "2", float("inf"), float("nan")])
def test_wrong_limits(wrong):
    with pytest.raises(DefinitionError) as info:
        type("Slow", (Action,), {"does": "top", "utility": 0.5, "think_timeout": wrong})
    assert info.value.text.endswith(
        f"Slow: think_timeout is {wrong!r}. Write a number of game seconds above 0, or None for no limit."
    )
    with pytest.raises(DefinitionError) as info:
        type("Plan", (CompoundAction,), {"does": "top", "utility": 0.5, "steps": [step("a", think_timeout=wrong)]})
    assert f"Plan: think_timeout of step 1 is {wrong!r}." in info.value.text


def test_an_argument_of_the_step_that_is_called_so(play):
    class Wait(Action):
        does = "wait"
        utility = 0.5

        class Args(ActionArgs):
            think_timeout: float
            name: str

        async def run(self, ctx, args):
            play.note(args.think_timeout, args.name)
            await ctx.sleep(1000)

    class Plan(CompoundAction):
        does = "top"
        utility = 0.5
        steps = [step("wait", {"think_timeout": 3.0, "name": "x"}, think_timeout=2.0, name="w")]

    play.add(Plan, Wait)
    play.tick(1)
    assert play.log == [(1, 3.0, "x")]
