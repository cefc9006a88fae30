"""The plain host: a foreign await fails at that await, says what to do, and takes nobody with it."""

# Sleeping for zero seconds, bare coroutines and task groups that raise are what is tested here.
# ruff: noqa: ASYNC105

from __future__ import annotations

import asyncio

import anyio
import pytest
import trio

from agentrt.errors import ForeignAwaitError
from agentrt.kernel.traps import next_tick, park


class Foreign:
    def __init__(self, command):
        self.command = command

    def __await__(self):
        yield self.command


async def bystander(stage):
    for _ in range(3):
        stage.note("bystander")
        await next_tick()


CALLS = {
    "asyncio.sleep(0)": (lambda: asyncio.sleep(0), "a bare yield"),
    "asyncio.sleep(1)": (lambda: asyncio.sleep(1), "no running event loop"),
    "asyncio.timeout": (lambda: asyncio.timeout(1).__aenter__(), "something that needs an event loop"),
    "asyncio.to_thread": (lambda: asyncio.to_thread(print), "something that needs an event loop"),
    "trio.sleep": (lambda: trio.sleep(1), "something that needs an event loop"),
    "anyio.sleep": (lambda: anyio.sleep(1), "something that needs an event loop"),
    "an object": (lambda: Foreign(object()), "a builtins.object"),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_foreign_await_kills_only_its_strand_and_says_what_to_do(on, call):
    make, what = CALLS[call]

    async def action():
        await next_tick()
        await make()

    async def main(stage):
        strand = stage.spawn(action)
        stage.spawn(bystander, stage)
        await stage.tick(4)
        assert stage.ends == {"action": "raised ForeignAwaitError", "bystander": "returned None"}
        assert stage.log == [(1, "bystander"), (2, "bystander"), (3, "bystander")]
        text = str(strand.error)
        assert what in text
        assert "on the plain host" in text
        assert "await ctx.call(fn, *args)" in text
        assert "'await runtime.run()' under asyncio or trio" in text

    on("plain", main)


def test_it_says_where(on):
    async def action():
        await Foreign(object())

    async def main(stage):
        strand = stage.spawn(action)
        await stage.tick()
        assert f"{__file__}:" in str(strand.error)
        assert strand.error.tick == 1

    on("plain", main)


def test_an_action_may_catch_it_and_go_on(on):
    async def action():
        with pytest.raises(ForeignAwaitError):
            await Foreign(object())
        await next_tick()
        return "went on"

    async def main(stage):
        assert await stage.play(action) == "returned 'went on'"

    on("plain", main)


def test_stopped_before_it_was_raised_the_stop_comes_first(on):
    async def action(stage):
        try:
            await Foreign(object())
        except BaseException as error:
            stage.note(type(error).__name__)
            raise

    async def main(stage):
        strand = stage.spawn(action, stage)
        stage.kernel.call_soon(strand.stop)
        await stage.tick()
        assert stage.notes == ["Cancelled"]

    on("plain", main)


def test_a_future_may_be_awaited_elsewhere_after_it_was_refused(on):
    loop = asyncio.new_event_loop()
    future = loop.create_future()

    async def action():
        await future

    async def main(stage):
        assert await stage.play(action) == "raised ForeignAwaitError"

    async def elsewhere():
        return await future

    on("plain", main)
    loop.call_soon(future.set_result, 5)
    assert loop.run_until_complete(elsewhere()) == 5
    loop.close()


def test_a_parked_strand_costs_no_real_time(on):
    async def main(stage):
        strand = stage.spawn(park)
        await stage.tick(1000)
        assert strand.state == "parked"

    on("plain", main)
