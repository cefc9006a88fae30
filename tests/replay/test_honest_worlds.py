"""Worlds that do nothing wrong and something unusual: they are recorded, and replayed as the same."""

from __future__ import annotations

import asyncio
import enum
import math

import pytest
import trio

from agentrt import TOP, Action, Agent, Entity, Runtime
from agentrt.record import Recording, replay


class Mood(enum.StrEnum):
    GLAD = "glad"


class Level(enum.IntEnum):
    LOW = 3


class Word(str):
    __slots__ = ()


def asking(fn):
    class Ask(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            for _ in range(3):
                answer = await ctx.call(fn, ctx.agent.runtime)
                ctx.agent.runtime.note("got", answer=answer)
            await ctx.sleep_ticks(1000)

    return Ask


def recorded(tmp_path, make, ticks, drive=None, host="plain"):
    path = tmp_path / "run.sqlite"
    runtime = make(1, host)
    with runtime.record(path):
        if drive is not None:
            drive(runtime, ticks)
        else:
            for _ in range(ticks):
                runtime.gate.resume()
                runtime.step()
    if drive is None:
        runtime.close()
    return path


def test_what_a_called_function_hands_in_is_an_input(tmp_path):
    """On the plain host it is called at once, in the middle of the tick; it is outside all the same."""

    def call_back(runtime):
        runtime.send("hello", name="ann")
        return 7

    def make(seed, host):
        runtime = Runtime(seed, host=host)
        runtime.on_input("hello", lambda name: runtime.note(f"hello {name}"))
        runtime.add(Agent(Entity("ann"), actions=[asking(call_back)]))
        return runtime

    path = recorded(tmp_path, make, 8)
    with Recording.open(path) as recording:
        assert [(one.tick, one.place, one.kind) for one in recording.inputs()] == [
            (2, 0, "sent"),
            (2, 1, "answered"),
            (3, 0, "sent"),
            (3, 1, "answered"),
            (4, 0, "sent"),
            (4, 1, "answered"),
        ]
        assert recording.unreplayable == []
    assert replay(path, make).is_same


@pytest.mark.parametrize("value", [Mood.GLAD, Level.LOW, Word("x"), True, 1.5, math.inf, None])
def test_values_of_ones_own_classes_stand_in_the_trace_as_plain_ones(tmp_path, value):
    def make(seed, host):
        runtime = Runtime(seed, host=host)
        runtime.every_tick(lambda: runtime.note("value", value=value))
        return runtime

    path = recorded(tmp_path, make, 3)
    with Recording.open(path) as recording:
        assert recording.last_tick == 3
        [[_, (_, kept)], *_] = [record.detail for record in recording.records()]
        assert type(kept) in (str, int, float, bool, type(None))
        assert kept == ("inf" if value == math.inf else value)
    assert replay(path, make).is_same


def test_a_text_of_a_class_of_ones_own_does_not_end_a_recording(tmp_path):
    """Debugging words go into the trace as they are."""

    class Say(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            ctx.set_debug_progress(Mood.GLAD)
            await ctx.sleep_ticks(1000)

    def make(seed, host):
        runtime = Runtime(seed, host=host)
        runtime.add(Agent(Entity("ann"), actions=[Say]))
        return runtime

    path = recorded(tmp_path, make, 3)
    with Recording.open(path) as recording:
        assert recording.last_tick == 3


def test_a_world_that_pauses_itself(tmp_path):
    def make(seed, host):
        runtime = Runtime(seed, host=host)
        runtime.every_tick(lambda: runtime.gate.pause("a menu") if runtime.tick == 2 else None)
        return runtime

    report = replay(recorded(tmp_path, make, 5), make)
    assert report.is_same
    assert report.tick == 5


@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_a_wait_for_the_event_loop_is_named_even_if_nothing_was_recorded_then(tmp_path, host):
    library = {"asyncio": asyncio, "trio": trio}[host]

    class Doze(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(2)
            await library.sleep(0)
            await ctx.sleep_ticks(1000)

    def make(seed, host):
        runtime = Runtime(seed, host=host)
        runtime.add(Agent(Entity("ann"), actions=[Doze]))
        return runtime

    def drive(runtime, ticks):
        async def main():
            await runtime.run(ticks, speed=math.inf, blocking_ms=None)
            runtime.journal.close()
            await runtime.aclose()

        asyncio.run(main()) if host == "asyncio" else trio.run(main)

    path = recorded(tmp_path, make, 8, drive, host)
    with Recording.open(path) as recording:
        [reason] = recording.unreplayable
    assert reason.startswith("something came in beside the inputs, the first time at tick 3")
