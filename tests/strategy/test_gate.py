"""A strategy stands still at any await: of the kernel, of the event loop, in its clean-up; on each host."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
import trio
import trio.testing
from players import HOSTS
from virtual_loop import VirtualLoop
from wants import Bearer, Know, Reach

from agentrt import Agent, CancelScope, Signal, move_on_after, sleep_ticks
from agentrt.runtime.runtime import Runtime
from agentrt.strategy import Interruptible, Interruption, Strategy
from agentrt.strategy.solve import Incident, Pausable


def play(host, run, *, ticks, interrupt_at, lasts=6, more=None):
    """Let a strategy run on a host, and interrupt it; what it noted."""
    log = []

    async def whole():
        runtime = Runtime(seed=1, host=host)
        agent = Agent(Bearer(), name="a")

        class Look(Strategy):
            provides = Know
            cost = 1
            interruption = Interruptible.PAUSE

            async def run(self, ctx, wanted):
                await run(ctx, lambda *what: log.append((runtime.tick, *what)))

        class Flee(Strategy):
            provides = Reach
            cost = 1

            async def run(self, ctx, wanted):
                log.append((runtime.tick, "flee"))
                await sleep_ticks(lasts)
                log.append((runtime.tick, "safe"))

        agent.gameplay.add_strategy(Look, Flee)
        runtime.add(agent)
        request = agent.gameplay.begin(Know("it"))
        try:
            for _ in range(ticks):
                if runtime.tick == interrupt_at:
                    agent.gameplay.running[0].interruptions.add(Incident(Interruption("attack"), Reach("home")))
                if more is not None:
                    more(runtime, agent)
                await runtime.kernel.host.run_tick(runtime.kernel)
                if host != "plain":
                    await (trio.sleep if host == "trio" else asyncio.sleep)(0.05)
            log.append(request.outcome.value)
        finally:
            await runtime.aclose()
        assert runtime.kernel.live == 0

    if host == "trio":
        trio.run(whole, clock=trio.testing.MockClock(autojump_threshold=0))
    elif host == "asyncio":
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(whole())
    else:
        with suppress(StopIteration):
            whole().send(None)
    return log


@pytest.fixture(params=HOSTS)
def host(request):
    return request.param


@pytest.mark.states(
    "003: Left open, requests: A strategy stands still at any await: of the kernel, of asyncio, of trio; a wake is "
    "kept for it",
    source="design 6, interruption",
)
def test_a_sleep_that_ends_meanwhile_has_ended_afterwards(host):
    async def run(ctx, note):
        await ctx.sleep_ticks(4)
        note("slept")
        await ctx.sleep_ticks(10)
        note("slept again")

    assert play(host, run, ticks=24, interrupt_at=2) == [
        (3, "flee"), (9, "safe"), (9, "slept"), (19, "slept again"), "done",
    ]  # fmt: skip


@pytest.mark.states("003: Pauseable/Cancelable Tasks: A task is paused and resumed, where it supports that ...")
def test_a_longer_one_goes_on_undisturbed(host):
    async def run(ctx, note):
        await ctx.sleep_ticks(12)
        note("slept")

    assert play(host, run, ticks=16, interrupt_at=2) == [(3, "flee"), (9, "safe"), (13, "slept"), "done"]


@pytest.mark.states("003: Left open, requests: A strategy stands still at any await: of the kernel, of asyncio, of ...")
def test_the_value_of_a_signal_is_kept(host):
    signal = Signal()

    async def run(ctx, note):
        note(await signal.wait())
        await ctx.sleep_ticks(1)

    def more(runtime, agent):
        if runtime.tick == 5:
            runtime.post(signal.emit, "news")

    assert play(host, run, ticks=12, interrupt_at=2, more=more) == [(3, "flee"), (9, "safe"), (9, "news"), "done"]


@pytest.mark.states("003: Pauseable/Cancelable Tasks: At given breakpoints: any await of a strategy, and between ...")
@pytest.mark.states("003: Left open, requests: A strategy stands still at any await: of the kernel, of asyncio, of ...")
@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_what_the_event_loop_brings_is_kept(host):
    made = []

    async def run(ctx, note):
        event = asyncio.Event() if host == "asyncio" else trio.Event()
        made.append(event)
        await event.wait()
        note("woken")
        await ctx.sleep_ticks(1)
        note("end")

    def more(runtime, agent):
        if runtime.tick == 5:
            made[0].set()

    found = play(host, run, ticks=12, interrupt_at=2, more=more)
    assert found == [(3, "flee"), (9, "safe"), (9, "woken"), (10, "end"), "done"]


@pytest.mark.states("003: Left open, requests: A strategy stands still at any await: of the kernel, of asyncio, of ...")
def test_a_timeout_of_asyncio_is_a_wake_and_is_kept():
    async def run(ctx, note):
        with suppress(TimeoutError):
            async with asyncio.timeout(0.22):
                await asyncio.Event().wait()
        note("timeout")
        await ctx.sleep_ticks(1)
        note("end")

    found = play("asyncio", run, ticks=12, interrupt_at=2)
    assert found == [(3, "flee"), (9, "safe"), (9, "timeout"), (10, "end"), "done"]


def test_a_timeout_of_trio_is_raised_and_goes_through():
    async def run(ctx, note):
        with trio.move_on_after(0.22):
            await trio.sleep_forever()
        note("timeout")
        await ctx.sleep_ticks(1)
        note("end")

    found = play("trio", run, ticks=12, interrupt_at=2)
    assert found == [(3, "flee"), (5, "timeout"), (9, "safe"), (9, "end"), "done"]


@pytest.mark.states(
    "003: Left open, requests: What is raised goes through to one that stands still: deadlines of its own, being "
    "unwound",
    source="design 2, cancellation",
)
def test_a_deadline_of_the_author_goes_through_at_once(host):
    async def run(ctx, note):
        with move_on_after(0.25):
            await ctx.sleep_ticks(100)
        note("deadline")
        await ctx.sleep_ticks(1)
        note("end")

    assert play(host, run, ticks=12, interrupt_at=2) == [
        (3, "flee"), (6, "deadline"), (9, "safe"), (9, "end"), "done",
    ]  # fmt: skip


def test_what_one_would_do_after_its_deadline_waits_for_the_end_of_the_handling(host):
    """It steps while it stands still; but one thing is done at a time."""

    async def run(ctx, note):
        with move_on_after(0.25):
            await ctx.sleep_ticks(100)
        note("deadline")
        await ctx.solve(Reach("there"))
        note("end")

    assert play(host, run, ticks=18, interrupt_at=2) == [
        (3, "flee"), (6, "deadline"), (9, "safe"), (9, "flee"), (15, "safe"), (15, "end"), "done",
    ]  # fmt: skip


def test_one_that_ends_by_a_deadline_meanwhile_waits_for_the_end_of_the_handling(host):
    async def run(ctx, note):
        with move_on_after(0.25):
            await ctx.sleep_ticks(100)
        note("end")

    assert play(host, run, ticks=9, interrupt_at=2) == [(3, "flee"), (6, "end"), (9, "safe"), "done"]


@pytest.mark.states("003: Left open, requests: What is raised goes through to one that stands still: deadlines of ...")
def test_one_that_stands_still_behind_its_own_shield_is_unwound_too(host):
    """A shielded strand is not woken by being stopped."""

    async def run(ctx, note):
        try:
            with CancelScope(shield=True):
                await sleep_ticks(3)
                note("shielded")
            await sleep_ticks(9)
        finally:
            note("unwound")

    def more(runtime, agent):
        if runtime.tick == 5:
            runtime.remove(agent)

    found = play(host, run, ticks=12, interrupt_at=2, more=more)
    assert found == [(3, "flee"), (6, "shielded"), (6, "unwound"), "cancelled"]


@pytest.mark.states("003: Left open, requests: What is raised goes through to one that stands still: deadlines of ...")
@pytest.mark.parametrize("waits", [0, 3])
def test_unwinding_goes_through_inner_first_and_waits_for_its_clean_up(host, waits):
    async def run(ctx, note):
        try:
            await ctx.sleep_ticks(100)
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(waits)
            note("cleaned up")

    def more(runtime, agent):
        if runtime.tick == 5:
            runtime.remove(agent)

    found = play(host, run, ticks=12, interrupt_at=2, more=more)
    assert found == [(3, "flee"), (6 + waits, "cleaned up"), "cancelled"]


def test_who_asks_where_a_strand_is_finds_the_author_s_line(game, way):
    async def run(self, ctx, wanted):
        await sleep_ticks(5)

    agent = game.add(way("Look", Know, run=run))
    wish = game.wish(agent.gameplay.know("it"))
    game.tick(2)
    unit = agent.gameplay.running[0].stack[0].frame.active
    assert unit.running.where() == f"{__file__}:{run.__code__.co_firstlineno + 1}"
    game.tick(8)
    assert wish.is_over


def test_a_gate_says_what_it_is():
    async def nothing():
        pass

    coro = nothing()
    driven = Pausable(coro)
    assert repr(driven) == "<Pausable: going on>"
    driven.hold()
    assert repr(driven) == "<Pausable: held>"
    driven.close()
