"""A camp that is recorded: cooks who plan, a scout who asks the outside, and a horn that can be blown from outside."""

from __future__ import annotations

import asyncio
import math

import trio

from agentrt import TOP, Action, Agent, Runtime, Signal


class Person:
    def __init__(self, name):
        self.name = name
        self.alarm = False
        self.blown = Signal()
        self.answers = []


class Cook(Action):
    does = TOP
    utility = 0.4

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3 + ctx.random.below(4))


class Rest(Action):
    does = TOP
    utility = 0.2

    async def run(self, ctx, args):
        await ctx.sleep_ticks(30)


class Fight(Action):
    does = TOP
    utility = 0.9

    async def think(self, ctx, args):
        while True:
            if ctx.entity.alarm:
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await ctx.entity.blown.wait()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(6)
        ctx.entity.alarm = False
        ctx.entity.blown.emit()


class Scout(Action):
    """Asks the outside again and again, and keeps what it says."""

    does = TOP
    utility = 0.5
    ask = staticmethod(lambda number: number)

    async def run(self, ctx, args):
        for number in range(3):
            try:
                ctx.entity.answers.append(await ctx.call(self.ask, number))
            except Exception as error:
                ctx.entity.answers.append(error)
            await ctx.sleep_ticks(2)
        while True:
            await ctx.sleep_ticks(100)


def asking(function):
    """A Scout who asks by another function."""
    return type("Scout", (Scout,), {"ask": staticmethod(function)})


def camp(*, seed=5, host="plain", cooks=2, scout=None):
    """Two cooks, and perhaps a scout."""
    runtime = Runtime(seed, host=host)
    people = [Person(f"cook {number}") for number in range(1, cooks + 1)]
    for person in people:
        runtime.add(Agent(person, name=person.name, actions=[Cook, Rest, Fight]))
    if scout is not None:
        runtime.add(Agent(Person("scout"), name="scout", actions=[scout]))

    def blow(who=0, loud=True):
        people[who].alarm = loud
        people[who].blown.emit()

    runtime.on_input("blow", blow)
    return runtime


def drive(runtime, ticks, *, between=None):
    """Run it on its host, calling a function before each tick; then close it."""

    async def main():
        for _ in range(ticks):
            if between is not None:
                between(runtime)
            await runtime.run(1, speed=math.inf, blocking_ms=None)
        await runtime.aclose()

    if runtime.host == "plain":
        for _ in range(ticks):
            if between is not None:
                between(runtime)
            runtime.step()
        runtime.close()
    elif runtime.host == "trio":
        trio.run(main)
    else:
        asyncio.run(main())
