"""A yard that is recorded and replayed: guards who heed inputs, clerks who ask the outside, and dice."""

from __future__ import annotations

import asyncio
import math
import threading
import time

import anyio
import trio

from agentrt import TOP, Action, Agent, Runtime, Signal


class Outside:
    """The outside of the game; counts how often it is called, and can be shut."""

    def __init__(self):
        self.calls = 0
        self.shut = False

    def enter(self):
        assert not self.shut, "a replay called the outside"
        self.calls += 1


outside = Outside()


def ask(number):
    """A plain function: on an event loop it runs in a thread, and takes a while that nobody knows."""
    outside.enter()
    if threading.current_thread() is not threading.main_thread():
        time.sleep(0.001 + (number * 7 % 5) * 0.002)
    if number % 4 == 3:
        raise TimeoutError(f"nobody answers {number}")
    return {"number": number, "words": ["yes", None, 2.5], "pair": (number, b"\x00")}


async def ask_async(number):
    outside.enter()
    await anyio.sleep(0.002)
    return number * 10


class Clerk(Action):
    does = TOP
    utility = 0.5
    function = staticmethod(ask)

    async def run(self, ctx, args):
        for number in range(ctx.entity.questions):
            try:
                answer = await ctx.call(self.function, number)
            except TimeoutError as error:
                answer = str(error)
            ctx.agent.runtime.note("answered", clerk=ctx.entity.name, answer=repr(answer))
            await ctx.sleep_ticks(1 + ctx.random.below(3))
        while True:
            await ctx.sleep_ticks(50)


class AsyncClerk(Clerk):
    function = staticmethod(ask_async)


class Watch(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        while True:
            await ctx.sleep_ticks(2)


class Chase(Action):
    does = TOP
    utility = 0.6

    async def think(self, ctx, args):
        while True:
            if ctx.entity.alarm:
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await ctx.entity.rung.wait()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3 + ctx.random.below(4))
        ctx.entity.alarm = 0
        ctx.entity.rung.emit()


class Person:
    def __init__(self, name, questions=0):
        self.name = name
        self.questions = questions
        self.alarm = 0
        self.rung = Signal()


class Yard:
    """One way to make the yard; the tests change a part of it and see that a replay notices."""

    def __init__(self, *, clerk=Clerk, chase=Chase, clerks=2, every_tick=None, questions=6):
        self.clerk = clerk
        self.chase = chase
        self.clerks = clerks
        self.every_tick = every_tick
        self.questions = questions

    def __call__(self, *, seed, host):
        runtime = Runtime(seed, host=host)
        guards = [Person(f"guard {number}") for number in range(2)]
        for guard in guards:
            runtime.add(Agent(guard, name=guard.name, actions=[Watch, self.chase]))
        for number in range(self.clerks):
            clerk = Person(f"clerk {number}", self.questions)
            runtime.add(Agent(clerk, name=clerk.name, actions=[self.clerk]))

        def ring(guard=0, loud=1):
            guards[guard].alarm = loud
            guards[guard].rung.emit()
            runtime.note("rang", guard=guard, loud=loud)
            if loud > 1:
                runtime.post(runtime.note, "echo")  # the run posts this itself, in the middle of an intake

        runtime.on_input("ring", ring)
        runtime.on_input("say", lambda text="": runtime.note(text))
        if self.every_tick is not None:
            runtime.every_tick(lambda: self.every_tick(runtime))
        return runtime


def drive(runtime, ticks, *, between=None, speed=math.inf):
    """Run it on its host, calling a function before each tick."""

    async def main():
        for _ in range(ticks):
            if between is not None:
                between(runtime)
            await runtime.run(1, speed=speed, blocking_ms=None)
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


def ringing(runtime):
    """Inputs in some ticks, several in one."""
    tick = runtime.tick + 1
    if tick % 7 == 3:
        runtime.send("ring", guard=tick % 2)
    if tick % 11 == 0:
        runtime.send("ring", guard=1, loud=2)
        runtime.send("say", text=f"tick {tick}")


class YardWorld:
    """A world of the tests, offered by an entry point; the one called ``louder`` says something in tick 9."""

    summary = "Guards who heed bells."

    def __init__(self, name, *, clerk=Clerk):
        self.name = name
        self.clerk = clerk

    def make(self, *, seed, host):
        def every_tick(runtime):
            if self.name == "louder" and runtime.tick == 9:
                runtime.note("psst")

        return Yard(clerks=1, clerk=self.clerk, every_tick=every_tick)(seed=seed, host=host)

    def run_headless(self, *, ticks, seed, host, progress, watch=None):
        raise AssertionError

    def run_live(self, *, seed, speed, watch=None):
        raise AssertionError
