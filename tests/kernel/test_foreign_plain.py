"""Awaiting what belongs to an event loop, on the plain host: only that strand dies, and the error says what to do."""

from __future__ import annotations

import asyncio
import re
import types

import anyio
import pytest
import trio
from strands import good

from agentrt.errors import ForeignAwaitError
from agentrt.kernel.strand import Cancelled, CancelScope
from agentrt.kernel.traps import next_tick, park

REMEDY = "or run the runtime on the event loop that it belongs to: 'await runtime.run()' under asyncio or trio"


@pytest.fixture
def loop():
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


def killed_alone(lab, coro):
    """Run a bad strand between two good ones; returns its error."""
    lab.spawn(good(lab, "before"))
    bad = lab.spawn(coro, "bad")
    lab.spawn(good(lab, "after"))
    lab.tick(3)
    assert lab.log == [(tick, name) for tick in (1, 2, 3) for name in ("before", "after")]
    assert bad.is_done
    assert lab.take_faults() == [("the strand 'bad' raised", "ForeignAwaitError")]
    assert REMEDY in str(bad.error)
    assert bad.error.code == "ART301"
    return bad.error


@types.coroutine
def yields(thing):
    return (yield thing)


async def sleeps_asyncio():
    await asyncio.sleep(1)


async def sleeps_asyncio_for_nothing():
    await asyncio.sleep(0)


async def sleeps_anyio():
    await anyio.sleep(1)


async def sleeps_trio():
    await trio.sleep(1)


async def waits_for_an_asyncio_timeout():
    async with asyncio.timeout(1):
        await park()


async def opens_an_anyio_task_group():
    async with anyio.create_task_group():
        pass


async def enters_a_trio_cancel_scope():
    with trio.CancelScope():
        await park()


async def opens_a_trio_nursery():
    async with trio.open_nursery():
        pass


async def gets_from_a_trio_channel():
    _, receiver = trio.open_memory_channel(0)
    await receiver.receive()


async def connects():
    await asyncio.open_connection("127.0.0.1", 1)


@pytest.mark.parametrize(
    "library",
    [
        sleeps_asyncio,
        sleeps_asyncio_for_nothing,
        sleeps_anyio,
        sleeps_trio,
        waits_for_an_asyncio_timeout,
        opens_an_anyio_task_group,
        enters_a_trio_cancel_scope,
        opens_a_trio_nursery,
        gets_from_a_trio_channel,
        connects,
    ],
)
def test_functions_of_event_loops(lab, library):
    killed_alone(lab, library())


def test_a_plain_future(lab, loop):
    future = loop.create_future()

    async def awaits():
        await future

    error = killed_alone(lab, awaits())
    assert "awaited a _asyncio.Future on the plain host, which cannot wait for it" in str(error)
    assert re.search(rf"\(at bad \({re.escape(__file__)}:\d+\), tick 1\)$", str(error))
    assert (error.tick, error.agent) == (1, "")


def test_a_bare_yield(lab):
    error = killed_alone(lab, sleeps_asyncio_for_nothing())
    assert "awaited a bare yield (asyncio.sleep(0), for one) on the plain host" in str(error)


@pytest.mark.parametrize("thing", ["text", 1.0, True, object(), (1,), [1]])
def test_whatever_else_is_yielded_is_foreign(lab, thing):
    error = killed_alone(lab, awaits_thing(thing))
    assert f"awaited a {type(thing).__module__}.{type(thing).__qualname__} on" in str(error)


async def awaits_thing(thing):
    await yields(thing)


def test_it_is_raised_at_that_very_await_and_may_be_caught(lab, loop):
    future = loop.create_future()

    async def careful():
        try:
            await future
        except ForeignAwaitError:
            lab.note("caught")
        await next_tick()
        lab.note("goes on")

    lab.spawn(careful())
    lab.kernel.call_soon(lab.note, "meanwhile")
    lab.tick(2)
    assert lab.log == [(1, "meanwhile"), (1, "caught"), (2, "goes on")]


def test_again_and_again(lab, loop):
    future = loop.create_future()

    async def careless():
        for _ in range(3):
            with pytest.raises(ForeignAwaitError):
                await future
        lab.note("done")

    lab.spawn(careless())
    lab.tick()
    assert lab.log == [(1, "done")]


def test_a_future_that_was_refused_can_still_be_awaited_where_it_belongs(lab):
    async def awaits(future):
        await future

    async def main():
        future = asyncio.get_running_loop().create_future()
        killed_alone(lab, awaits(future))
        task = asyncio.ensure_future(awaits(future))
        future.set_result("value")
        await task
        return await future

    assert asyncio.run(main()) == "value"


def test_inside_a_running_loop_the_plain_host_still_refuses(lab):
    """Whoever steps a plain kernel from a coroutine of asyncio: its futures exist, but nobody would wake the strand."""

    async def main():
        return killed_alone(lab, sleeps_asyncio())

    error = asyncio.run(main())
    assert "awaited a _asyncio.Future on the plain host" in str(error)


def test_inside_a_running_trio_as_well(lab):
    async def main():
        return killed_alone(lab, sleeps_trio())

    error = trio.run(main)
    assert "on the plain host" in str(error)


@pytest.mark.parametrize("order", ["cancel, then await", "await, then cancel"])
def test_a_cancelled_strand_that_awaits_something_foreign_is_cancelled(lab, loop, order):
    future = loop.create_future()

    async def strand():
        if order == "cancel, then await":
            this.stop("enough")
        else:
            lab.kernel.call_soon(this.stop, "enough")
            lab.kernel.ready.rotate()  # before its turn to hear about the foreign await
        try:
            await future
        finally:
            lab.note("finally")

    this = lab.spawn(strand(), "s")
    lab.tick(2)
    assert lab.log == [(1, "finally")]
    assert isinstance(this.error, (Cancelled, ForeignAwaitError))
    lab.take_faults()


def test_a_foreign_await_in_a_finally_block(lab, loop):
    future = loop.create_future()

    async def strand():
        try:
            await park()
        finally:
            with CancelScope(shield=True):
                try:
                    await future
                except ForeignAwaitError:
                    lab.note("refused")
                await next_tick()
                lab.note("shielded")

    bad = lab.spawn(strand())
    lab.tick()
    bad.stop()
    lab.tick(3)
    assert lab.log == [(2, "refused"), (3, "shielded")]
    assert isinstance(bad.error, Cancelled)


def test_other_runtime_errors_are_left_alone(lab):
    async def strand():
        raise RuntimeError("running out of ideas")

    lab.spawn(strand(), "s")
    lab.tick()
    assert lab.take_faults() == [("the strand 's' raised", "RuntimeError")]


def test_the_error_of_the_library_is_kept_as_the_cause(lab):
    error = killed_alone(lab, sleeps_asyncio())
    assert "something that needs an event loop (no running event loop)" in str(error)
    assert repr(error.__cause__) == "RuntimeError('no running event loop')"
