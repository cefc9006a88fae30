"""Whatever strategies support and whatever comes up: things pair, the inner comes first, nothing is left, on all hosts."""

from __future__ import annotations

import asyncio

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load
from virtual_loop import VirtualLoop

from agentrt.runtime.runtime import Runtime

worlds = load("tests/strategy/interrupted_worlds.py")


def play(seed):
    runtime = Runtime(seed=seed, host="plain")
    world = worlds.InterruptedWorld(seed, runtime)
    for tick in range(worlds.TICKS):
        world.before_tick(tick)
        runtime.step()
    runtime.close()
    world.check()
    return world.digest.hexdigest()


@pytest.mark.states("003: Pauseable/Cancelable Tasks: At given breakpoints: any await of a strategy, and between ...")
@pytest.mark.states("003: Pauseable/Cancelable Tasks: All parents are told of an interruption, up to the root, so ...")
@pytest.mark.states(
    "003: Left open, requests: Whatever comes up whenever: everything pairs, the inner first, nothing is left, the "
    "same on each host",
    source="design 2, total order",
)
@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=120)
def test_everything_pairs_and_nothing_is_left(seed):
    play(seed)


def play_on(host, seed):
    async def whole():
        runtime = Runtime(seed=seed, host=host)
        world = worlds.InterruptedWorld(seed, runtime)
        for tick in range(worlds.TICKS):
            world.before_tick(tick)
            await runtime.kernel.host.run_tick(runtime.kernel)
        await runtime.aclose()
        world.check()
        return world.digest.hexdigest()

    if host == "trio":
        return trio.run(whole, clock=trio.testing.MockClock(autojump_threshold=0))
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(whole())


@pytest.mark.states("003: Left open, requests: Whatever comes up whenever: everything pairs, the inner first ...")
@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_it_goes_the_same_on_every_host(seed):
    assert play(seed) == play_on("asyncio", seed) == play_on("trio", seed)
