"""Idling and free time: what runs when nothing else is to be done."""

from __future__ import annotations

from collections import Counter

import pytest

from agentrt import TOP, Action, CompoundAction, step
from agentrt_actions import (
    FreeTimeAtTop,
    IdleAtTop,
    IdleEffect,
    IdleEffects,
    IdleWander,
    RunEffect,
    StandIdle,
    Stroll,
    Wander,
)

IDLING = (IdleAtTop, StandIdle, IdleEffect, RunEffect)


class Fidgets:
    def __init__(self, **weights):
        self.idle_effects = weights


def test_idle_effects_are_drawn_by_their_weights(grid):
    grid.stage.ticks = 2
    agent = grid.agent(IdleAtTop, IdleEffect, RunEffect, place=(0, 0))
    agent.entity.add(Fidgets(yawn=3, whistle=1, faint=0), IdleEffects)
    grid.sim.tick(800)
    played = Counter(effect for _, effect in grid.stage.playing)
    assert set(played) == {"yawn", "whistle"}
    assert 2 < played["yawn"] / played["whistle"] < 4


def test_who_has_no_effects_of_its_own_only_stands(grid):
    agent = grid.agent(*IDLING, place=(0, 0))
    grid.sim.tick(400)
    assert grid.stage.playing == []
    agent.entity.add(Fidgets(faint=0), IdleEffects)
    grid.sim.tick(400)
    assert grid.stage.playing == []


@pytest.mark.states("001: Leaf action, Metadata: The standard ways to idle are drawn by their weights")
def test_the_variants_of_idling_are_drawn_by_weight(grid):
    grid.stage.ticks = 40
    agent = grid.agent(*IDLING, IdleWander, Wander, place=(0, 0))
    agent.entity.add(Fidgets(yawn=1), IdleEffects)
    grid.sim.tick(6000)
    ran = Counter(what for _, what, _ in grid.told("run"))
    assert 1.3 < ran["StandIdle"] / ran["IdleEffect"] < 3  # weights 2 and 1
    assert 1.3 < ran["StandIdle"] / ran["IdleWander"] < 3


class Sing(Action):
    does = "agentrt:free_time"
    utility = (0.0, 1.0)

    async def think(self, ctx, args):
        await ctx.signals["in the mood"].wait()
        ctx.set_utility(0.75)
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep(1)


class Work(Action):
    does = TOP
    utility = 0.06

    async def think(self, ctx, args):
        await ctx.signals["bell"].wait()
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep(100)


def test_free_time_takes_the_best_pastime_and_gives_way_to_work(grid):
    agent = grid.agent(FreeTimeAtTop, Stroll, Sing, Work, Wander, *IDLING, place=(0, 0))
    grid.sim.tick(3)
    assert agent.snapshot().running.startswith("agentrt:top/FreeTimeAtTop/agentrt:free_time/Stroll")
    agent.entity.signal("in the mood").emit()
    grid.sim.tick()
    assert agent.snapshot().running == "agentrt:top/FreeTimeAtTop/agentrt:free_time/Sing"
    composed = [
        dict(record.detail)["utility"]
        for record in grid.sim.trace
        if record.path == "agentrt:top/FreeTimeAtTop" and record.event in ("ready", "utility")
    ]
    assert composed[0] == 0.014  # 0.1 within (0.01, 0.05)
    assert composed[-1] == 0.04  # 0.75 within (0.01, 0.05)
    agent.entity.signal("bell").emit()
    grid.sim.tick()
    assert agent.snapshot().running == "agentrt:top/Work"


def test_without_any_pastime_there_is_only_idling(grid):
    agent = grid.agent(FreeTimeAtTop, *IDLING, place=(0, 0))
    grid.sim.tick(3)
    assert agent.snapshot().running == "agentrt:top/IdleAtTop/agentrt:idle/StandIdle"


def test_a_pastime_of_ones_own_is_one_more_action(grid):
    class Skip(CompoundAction):
        does = "agentrt:free_time"
        utility = 0.5
        steps = (step("agentrt:wander", least=1, most=1),)

    agent = grid.agent(FreeTimeAtTop, Stroll, Skip, Wander, *IDLING, place=(0, 0))
    grid.sim.tick(2)
    assert agent.snapshot().running.startswith("agentrt:top/FreeTimeAtTop/agentrt:free_time/Skip")
