"""The think budget on each host: one order of service, a clean end, and the event loop's own waits among it."""

from __future__ import annotations

import math

from agentrt import TOP, Action, Agent, CompoundAction, next_tick, step


class Being:
    def __init__(self, name):
        self.name = name


def searching(diary, pieces, units, priority):
    """A plan that searches in two steps at a time, over an action that is idle with a priority."""

    class Look(Action):
        does = "look"
        utility = 0.5

        async def think(self, ctx, args):
            for piece in range(pieces):
                await ctx.work(units)
                diary.append((ctx.clock.tick, ctx.agent.name, piece))
            ctx.set_think_output()

    class Peek(Action):
        does = "look"
        utility = 0.4

        async def think(self, ctx, args):
            await ctx.work(1)
            diary.append((ctx.clock.tick, ctx.agent.name, "peek"))
            await next_tick()
            await ctx.work(2)
            diary.append((ctx.clock.tick, ctx.agent.name, "peeked"))

    class Take(Action):
        does = "take"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.work(3)
            diary.append((ctx.clock.tick, ctx.agent.name, "took"))
            await ctx.sleep_ticks(4)

    class Work(CompoundAction):
        does = TOP
        utility = 0.9
        steps = [step("look"), step("take")]

    class Idle(Action):
        does = TOP
        utility = 0.1
        scheduler_priority = priority

        async def run(self, ctx, args):
            await ctx.sleep(1000)

    return [Look, Peek, Take, Work, Idle]


def play_scenario(player):
    runtime = player.runtime(seed=1, think_budget=6)
    diary = []
    agents = [
        runtime.add(Agent(Being(name), actions=searching(diary, *how)))
        for name, how in {"ada": (8, 1, 1), "bob": (3, 5, 3), "cyd": (20, 1, 1)}.items()
    ]
    runtime.every_tick(lambda: runtime.tick == 9 and runtime.remove(agents[2]))

    async def main():
        await runtime.run(16, speed=math.inf, blocking_ms=None)
        await runtime.aclose()

    player(main)
    assert runtime.search.budget.is_idle
    return [" ".join(map(str, entry)) for entry in diary]


DIARY = """\
1 ada 0
1 ada 1
1 ada 2
1 ada 3
1 ada 4
1 ada 5
2 ada 6
2 cyd 0
3 ada peek
3 ada 7
3 bob 0
3 bob peek
3 cyd peek
4 cyd 1
4 bob 1
5 bob peeked
5 cyd peeked
6 ada took
6 bob 2
6 cyd 2
7 cyd 3
7 cyd 4
7 cyd 5
7 bob took
8 cyd 6
8 cyd 7
8 cyd 8
8 cyd 9
8 cyd 10
8 cyd 11
9 cyd 12
9 cyd 13
9 cyd 14
9 cyd 15
9 cyd 16
9 cyd 17
10 ada 0
10 ada 1
10 ada 2
10 ada 3
10 ada 4
10 ada peek
11 ada peeked
11 ada 5
11 ada 6
11 ada 7
12 bob 0
13 bob peek
13 ada took
14 bob peeked
14 bob 1
15 bob 2
15 bob took
"""


def test_the_order_of_service_is_this_one(play):
    assert play_scenario(play) == DIARY.splitlines()
