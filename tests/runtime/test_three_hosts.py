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
        if ctx.clock.tick < 10:
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
    runtime.every_tick(lambda: runtime.tick == 16 and runtime.remove(painter))

    async def main():
        await runtime.run(19, speed=math.inf, blocking_ms=None)
        await runtime.aclose()

    player(main)
    return [line(record) for record in records]


def line(record):
    """A record in short: the tick, the agent, the last part of the path, the event, and what it says."""
    place = record.path.rpartition("/")[2].removeprefix("agentrt:")
    said = " ".join(str(value) for key, value in record.detail if key not in ("utility", "ready", "against"))
    return " ".join(filter(None, [str(record.tick), record.agent, place, record.event.value, said]))


TRACE = """\
1 painter added
1 guard added
1 painter PaintSomebody think
1 painter Answer think
1 painter Idle ready
1 guard Answer think
1 guard Idle ready
1 painter PaintSomebody utility
1 guard top elect Idle
1 guard Idle start
1 guard Idle stop_thinking
1 guard Idle run
1 painter FindSlowly think
1 painter FindBetter think
1 painter top elect Idle
1 painter Idle start
1 painter Idle stop_thinking
1 painter Idle run
3 painter FindSlowly ready
3 painter FindBetter ready
3 painter t:find elect FindBetter
3 painter Walk ready
3 painter t:walk elect Walk
3 painter Paint ready
3 painter t:paint elect Paint
3 painter PaintSomebody ready
3 painter Idle preempt PaintSomebody
3 painter Idle stop
3 painter top elect PaintSomebody
3 painter PaintSomebody start
3 painter FindBetter start
3 painter FindBetter stop_thinking
3 painter FindSlowly stop_thinking
3 painter Walk start
3 painter Walk stop_thinking
3 painter Paint start
3 painter Paint stop_thinking
3 painter PaintSomebody stop_thinking
3 painter PaintSomebody run
3 painter FindBetter run
3 painter FindBetter finish
3 painter Walk run
4 painter Answer ready
4 guard Answer ready
4 painter PaintSomebody preempt Answer
4 guard Idle preempt Answer
4 painter FindBetter stop
4 painter Walk stop
4 painter Paint stop
4 painter PaintSomebody stop
4 painter top elect Answer
4 painter Answer start
4 painter Answer stop_thinking
4 painter Answer run
4 guard Idle stop
4 guard top elect Answer
4 guard Answer start
4 guard Answer stop_thinking
4 guard Answer run
5 painter Answer finish
5 painter Answer stop
5 painter top complete 1
5 painter PaintSomebody think
5 painter Answer think
5 painter Idle ready
5 guard Answer finish
5 guard Answer stop
5 guard top complete 1
5 guard Answer think
5 guard Idle ready
5 painter PaintSomebody utility
5 guard top elect Idle
5 guard Idle start
5 guard Idle stop_thinking
5 guard Idle run
5 painter FindSlowly think
5 painter FindBetter think
5 painter top elect Idle
5 painter Idle start
5 painter Idle stop_thinking
5 painter Idle run
7 painter FindSlowly ready
7 painter FindBetter ready
7 painter t:find elect FindBetter
7 painter Walk ready
7 painter t:walk elect Walk
7 painter Paint ready
7 painter t:paint elect Paint
7 painter PaintSomebody ready
7 painter Idle preempt PaintSomebody
7 painter Idle stop
7 painter top elect PaintSomebody
7 painter PaintSomebody start
7 painter FindBetter start
7 painter FindBetter stop_thinking
7 painter FindSlowly stop_thinking
7 painter Walk start
7 painter Walk stop_thinking
7 painter Paint start
7 painter Paint stop_thinking
7 painter PaintSomebody stop_thinking
7 painter PaintSomebody run
7 painter FindBetter run
7 painter FindBetter finish
7 painter Walk run
9 painter Walk finish
9 painter Paint run
9 painter Paint progress paints the hen
9 painter Sharpen ready
9 painter t:sharpen elect Sharpen
9 painter Sharpen start
9 painter Sharpen stop_thinking
9 painter Sharpen run
10 painter Sharpen finish
10 painter Sharpen stop
10 painter Paint abort the pencil broke
10 painter FindBetter stop
10 painter Walk stop
10 painter Paint stop
10 painter PaintSomebody stop
10 painter Answer stop_thinking
11 painter PaintSomebody think
11 painter Answer think
11 painter Idle ready
11 painter PaintSomebody utility
11 painter FindSlowly think
11 painter FindBetter think
11 painter top elect Idle
11 painter Idle start
11 painter Idle stop_thinking
11 painter Idle run
13 painter FindSlowly ready
13 painter FindBetter ready
13 painter t:find elect FindBetter
13 painter Walk ready
13 painter t:walk elect Walk
13 painter Paint ready
13 painter t:paint elect Paint
13 painter PaintSomebody ready
13 painter Idle preempt PaintSomebody
13 painter Idle stop
13 painter top elect PaintSomebody
13 painter PaintSomebody start
13 painter FindBetter start
13 painter FindBetter stop_thinking
13 painter FindSlowly stop_thinking
13 painter Walk start
13 painter Walk stop_thinking
13 painter Paint start
13 painter Paint stop_thinking
13 painter PaintSomebody stop_thinking
13 painter PaintSomebody run
13 painter FindBetter run
13 painter FindBetter finish
13 painter Walk run
15 painter Walk finish
15 painter Paint run
15 painter Paint progress paints the hen
19 painter FindBetter stop
19 painter Walk stop
19 painter Paint stop
19 painter PaintSomebody stop
19 painter Answer stop_thinking
19 painter removed
20 guard Answer stop_thinking
20 guard Idle stop
20 guard removed
"""


def test_the_trace_is_this_one(play):
    assert play_scenario(play) == TRACE.splitlines()
