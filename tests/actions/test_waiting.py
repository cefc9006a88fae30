"""Letting time pass: waiting, and effects that call back."""

from __future__ import annotations

import pytest

from agentrt import Action, CompoundAction, step
from agentrt_actions import IdleAtTop, RunEffect, StandIdle, Wait


class WaitAtTop(CompoundAction):
    does = "agentrt:top"
    utility = 0.5
    steps = (step("agentrt:wait", seconds=0.25),)


class Dance(CompoundAction):
    does = "agentrt:top"
    utility = 0.5
    steps = (step("agentrt:run_effect", effect="dance"),)


class Alarm(Action):
    does = "agentrt:top"
    utility = 0.9

    async def think(self, ctx, args):
        await ctx.sleep_ticks(5)
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(100)


def test_waiting_takes_game_seconds(world):
    world.agent(WaitAtTop, Wait)
    world.sim.tick(12)
    assert [tick for tick, *_ in world.sim.events("complete")] == [6, 11]


def test_idling_lasts_one_to_three_seconds(world):
    world.agent(IdleAtTop, StandIdle)
    world.sim.tick(400)
    ends = [tick for tick, *_ in world.sim.events("complete")]
    lengths = [after - before for before, after in zip([1, *ends], ends, strict=False)]
    assert len(lengths) > 5
    assert all(20 <= length <= 60 for length in lengths)


@pytest.mark.states("001: run: An effect is played, and its end wakes the action")
@pytest.mark.states("001: suspend: run_effect waits with it until the effect has ended")
def test_an_effect_lasts_until_it_calls_back(world):
    world.agent(Dance, RunEffect)
    world.sim.tick(30)
    assert world.stage.playing == [("Ada", "dance")]
    assert world.sim.events("complete") == []
    world.sim.runtime.post(world.stage.last.done)
    world.sim.tick()
    assert len(world.sim.events("complete")) == 1


def test_an_effect_is_stopped_when_something_better_comes(world):
    agent = world.agent(Dance, RunEffect, Alarm)
    world.sim.tick(10)
    assert world.stage.stopped == 1
    assert agent.snapshot().running == "agentrt:top/Alarm"


def dances(**args):
    class DanceOn(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (step("agentrt:run_effect", effect="dance", **args),)

    return DanceOn


@pytest.mark.states("001: suspend: run_effect waits with it until the effect has ended ...")
def test_an_effect_is_played_several_times(world):
    world.stage.ticks = 5
    world.agent(dances(times=3), RunEffect)
    world.sim.tick(16)
    assert world.stage.playing == [("Ada", "dance")] * 4  # the plan was done, and begins again
    assert world.told("complete") == [(16, "agentrt:top", "complete")]
    assert world.stage.stopped == 0


def test_an_effect_is_played_for_a_time_and_the_last_one_is_cut_short(world):
    world.stage.ticks = 8
    world.agent(dances(duration=1.0), RunEffect)
    world.sim.tick(20)
    assert world.stage.playing == [("Ada", "dance")] * 3
    assert world.stage.stopped == 0
    world.sim.tick()
    assert world.told("complete") == [(21, "agentrt:top", "complete")]
    assert world.stage.stopped == 1


def test_an_effect_of_no_times_is_not_played(world):
    world.agent(dances(times=0), RunEffect)
    world.sim.tick(2)
    assert world.stage.playing == []


def test_no_effect_begins_when_the_time_is_over(world):
    world.stage.ticks = 5
    world.agent(dances(duration=1.0), RunEffect)
    world.sim.tick(20)
    assert len(world.stage.playing) == 4
    world.sim.tick()
    assert world.told("complete") == [(21, "agentrt:top", "complete")]
    assert len(world.stage.playing) == 5  # the first of the next plan
