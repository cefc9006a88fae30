"""One scenario, three hosts, one literal trace.

A painter looks for a subject, walks to it and paints it; it is interrupted by a bell, fails once, and is removed in the middle
of its next plan, while its clean-up takes two ticks. A guard shares the world with it.
"""

from __future__ import annotations

import math

from agentrt import (
    LOOK,
    MOVE,
    OUT,
    PREV,
    TOP,
    Action,
    ActionArgs,
    Agent,
    CancelScope,
    CompoundAction,
    Signal,
    ThinkOutput,
    next_tick,
    step,
)


class Idle(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        await ctx.sleep(100)


class PaintSomebody(CompoundAction):
    does = TOP
    utility = (0.2, 0.6)
    steps = [
        step("t:find", name="found"),
        step("t:walk", place=PREV.place),
        step("t:paint", subject=OUT["found"].subject),
    ]

    async def think(self, ctx, args):
        ctx.set_utility(0.75)
        ctx.set_think_output()


class FindSlowly(Action):
    does = "t:find"
    utility = 0.5

    class Output(ThinkOutput):
        subject: str
        place: int

    async def think(self, ctx, args):
        await ctx.sleep_ticks(2)
        ctx.set_think_output(subject="cow", place=3)


class FindBetter(Action):
    does = "t:find"
    utility = 0.7
    Output = FindSlowly.Output

    async def think(self, ctx, args):
        await ctx.sleep_ticks(2)
        ctx.set_think_output(subject="hen", place=2)


class Walk(Action):
    does = "t:walk"
    utility = 0.5
    flags = {MOVE}

    class Args(ActionArgs):
        place: int

    async def run(self, ctx, args):
        for _ in range(args.place):
            await ctx.next_tick()


class Paint(Action):
    does = "t:paint"
    utility = 0.5
    flags = {LOOK}

    class Args(ActionArgs):
        subject: str

    async def run(self, ctx, args):
        ctx.set_debug_progress(f"paints the {args.subject}")
        if ctx.clock.tick < 16:
            await ctx.execute("t:sharpen", pencils=1)
            ctx.abort("the pencil broke")
        try:
            await ctx.sleep_ticks(50)
        finally:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(2)


class Sharpen(Action):
    does = "t:sharpen"
    utility = 0.5

    class Args(ActionArgs):
        pencils: int

    async def run(self, ctx, args):
        await ctx.sleep_ticks(args.pencils)


class Answer(Action):
    does = TOP
    utility = 0.9

    async def think(self, ctx, args):
        await ctx.entity.bell.wait()
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.next_tick()


class Person:
    def __init__(self, name, bell):
        self.name = name
        self.bell = bell


STEPS = [FindSlowly, FindBetter, Walk, Paint, Sharpen]


def play_scenario(player):
    runtime = player.runtime(seed=1)
    bell = Signal()
    records = []
    runtime.trace.listen(records.append)
    painter = runtime.add(Agent(Person("painter", bell), actions=[PaintSomebody, *STEPS, Answer, Idle]))
    runtime.add(Agent(Person("guard", bell), actions=[Answer, Idle]))

    async def ring():
        while runtime.tick < 4:
            await next_tick()
        bell.emit()

    runtime.spawn(ring)
    runtime.every_tick(lambda: runtime.tick == 20 and runtime.remove(painter))

    async def main():
        await runtime.run(23, speed=math.inf, blocking_ms=None)
        await runtime.aclose()

    player(main)
    return [record.line() for record in records]
