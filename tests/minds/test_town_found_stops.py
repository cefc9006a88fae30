"""A thought that is stopped while what it chose is being thought about: it ends there, and that is no fault."""

from __future__ import annotations

import pytest
from walkers import Flee

from agentrt import TOP, Action
from agentrt.minds import Consider


class Stand(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        await ctx.sleep(1)


class Slow(Action):
    does = "t:slow"
    utility = 1.0

    async def think(self, ctx, args):
        await ctx.signals["bell"].wait()
        ctx.set_think_output()


class Wonder(Consider):
    does = TOP
    utility = 0.5
    menu = ("t:slow",)
    patience = 2.0


@pytest.mark.parametrize("signals", [("wolf",), ("bell", "wolf"), ("wolf", "bell")], ids="-".join)
@pytest.mark.parametrize("ticks", [14, 20])
def test_a_wolf_comes_while_the_choice_is_being_thought_about(place, ticks, signals):
    here = place(lambda asked: {"activity": "t:slow", "args": {}, "why": "it is nice"})
    ann = here.person("Ann", Wonder, Slow, Stand, Flee)
    here.tick(ticks)
    assert here.became("Ann")[-1] == (13, "answered")
    for name in signals:  # the choice is ready in the very tick in which its thinking is stopped
        here.runtime.post(ann.signal(name).emit)
    here.tick(5)
    assert here.faults == []
    assert ann.snapshot().running.endswith("Flee")


class Work(Action):
    does = TOP
    utility = 0.2

    async def run(self, ctx, args):
        await ctx.sleep_ticks(29)

    def stop(self, ctx, args):
        ctx.agent.signal("bell").emit()


class Sleep(Action):
    does = TOP
    utility = 0.9

    async def think(self, ctx, args):
        await ctx.signals["bell"].wait()
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep(1)


def test_the_choice_is_ready_in_the_tick_in_which_another_plan_begins(place):
    here = place(lambda asked: {"activity": "t:slow", "args": {}, "why": "it is nice"})
    ann = here.person("Ann", Wonder, Slow, Work, Sleep)
    here.tick(40)
    assert here.became("Ann")[0] == (2, "asked")
    assert here.faults == []
    assert ann.snapshot().running.endswith("Sleep")
