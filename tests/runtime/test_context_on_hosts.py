"""Spawned frames, choices, time limits and suspension on every host: one story with one literal trace.

A trader thinks about two errands at once, takes the better one, gives it up at its deadline, does the other, and is called
away. A porter beside it goes through its choices until one is free and can be reached in time.
"""

from __future__ import annotations

import math

from agentrt import (
    PREV,
    TOP,
    Action,
    ActionArgs,
    Agent,
    CancelScope,
    CompoundAction,
    Entity,
    Signal,
    ThinkOutput,
    move_on_after,
    next_tick,
    step,
)

bell, effect = Signal(), Signal()


class Errand(ActionArgs):
    place: str


class Trade(Action):
    does = TOP
    utility = 0.5

    async def think(self, ctx, args):
        self.frames = [ctx.spawn("t:errand", place=place) for place in ("mill", "well")]
        for frame in self.frames:
            frame.start_thinking()
        for frame in self.frames:
            await frame.ready()
        ctx.set_think_output()

    async def run(self, ctx, args):
        best, other = sorted(self.frames, key=lambda frame: -frame.utility)
        with move_on_after(0.2):
            await best.run()
        best.stop()
        await other.run()
        ctx.listen(effect, ctx.resume)
        await ctx.suspend()
        await ctx.execute("t:errand", place="home")


class Walk(Action):
    """Cleans up for a tick."""

    does = "t:errand"
    utility = (0.0, 1.0)
    Args = Errand

    async def think(self, ctx, args):
        await ctx.sleep_ticks(len(args.place) % 3)
        ctx.set_utility({"mill": 0.9, "well": 0.4, "home": 1.0}[args.place])
        ctx.set_think_output()

    async def run(self, ctx, args):
        try:
            await ctx.sleep_ticks({"mill": 50, "well": 2, "home": 50}[args.place])
        finally:
            with CancelScope(shield=True):
                await next_tick()


class Answer(Action):
    does = TOP
    utility = 0.9

    async def think(self, ctx, args):
        await bell.wait()
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep(60)


class Carry(CompoundAction):
    does = TOP
    utility = 0.5
    steps = [step("t:choose"), step("t:reach", think_timeout=0.1, place=PREV.place), step("t:errand", place=PREV.place)]


class Choose(Action):
    does = "t:choose"
    utility = 0.5

    class Output(ThinkOutput):
        place: str

    async def think(self, ctx, args):
        ctx.candidates({"place": place} for place in ("taken", "far", "well"))


class Reach(Action):
    does = "t:reach"
    utility = 0.5
    Args = Errand

    async def think(self, ctx, args):
        if args.place == "taken":
            ctx.reject("it is taken")
        if args.place == "far":
            await ctx.sleep(60)
        ctx.set_think_output()


EVENTS = ("run", "finish", "stop", "preempt", "timeout", "reject", "reconsider", "ignored")

TRACE = """\
1 porter Reach reject it is taken
1 porter Choose reconsider t:reach it is taken
2 trader Trade run
2 trader t:errand/Walk run
4 porter t:reach timeout 0.1
4 porter Choose reconsider t:reach t:reach is not possible with that
5 porter Carry run
5 porter t:choose/Choose run
5 porter t:choose/Choose finish
5 porter t:reach/Reach run
5 porter t:reach/Reach finish
5 porter t:errand/Walk run
7 trader t:errand/Walk stop
7 trader Trade ignored SpawnedFrame.stop running
7 trader t:errand#2/Walk run
8 porter t:errand/Walk finish
8 porter Carry finish
8 porter t:choose/Choose stop
8 porter t:reach/Reach stop
8 porter t:errand/Walk stop
8 porter Carry stop
8 porter Reach reject it is taken
8 porter Choose reconsider t:reach it is taken
10 trader t:errand#2/Walk finish
11 porter t:reach timeout 0.1
11 porter Choose reconsider t:reach t:reach is not possible with that
12 trader t:errand/Walk run
12 porter Carry run
12 porter t:choose/Choose run
12 porter t:choose/Choose finish
12 porter t:reach/Reach run
12 porter t:reach/Reach finish
12 porter t:errand/Walk run
14 trader Trade preempt Answer
15 porter t:errand/Walk finish
15 porter Carry finish
15 porter t:choose/Choose stop
15 porter t:reach/Reach stop
15 porter t:errand/Walk stop
15 porter Carry stop
15 trader t:errand/Walk stop
15 porter Reach reject it is taken
15 porter Choose reconsider t:reach it is taken
15 trader t:errand#2/Walk stop
15 trader Trade stop
15 trader Answer run
18 trader Answer stop
"""


def line(record):
    place = record.path.removeprefix("agentrt:top/")
    said = [str(value) for key, value in record.detail if key not in ("utility", "against", "ready")]
    short = "/".join(place.split("/")[-2:]) if record.event.value in ("run", "finish", "stop") else place.split("/")[-1]
    return " ".join([str(record.tick), record.agent, short, record.event.value, *said])


def play_scenario(player):
    runtime = player.runtime(seed=1)
    records = []
    runtime.trace.listen(records.append)
    trader = runtime.add(Agent(Entity("human"), name="trader", actions=[Trade, Walk, Answer]))
    runtime.add(Agent(Entity("human"), name="porter", actions=[Carry, Choose, Reach, Walk]))

    async def world():
        while runtime.tick < 11:
            await next_tick()
        effect.emit("over")
        while runtime.tick < 14:
            await next_tick()
        bell.emit()

    runtime.spawn(world)

    async def main():
        await runtime.run(17, speed=math.inf, blocking_ms=None)
        told = trader.snapshot().running
        await runtime.aclose()
        return told

    running = player(main)
    return running, [line(record) for record in records if record.event.value in EVENTS]


def test_the_story(play):
    running, told = play_scenario(play)
    assert told == TRACE.splitlines()
    assert running == "agentrt:top/Answer"
