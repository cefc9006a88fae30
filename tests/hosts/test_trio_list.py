"""What must work unchanged inside an action on trio, and a cancellation from outside while each of it is under way."""

# Sleeping for zero seconds, bare coroutines and task groups that raise are what is tested here.
# ruff: noqa: ASYNC115, PT012

from __future__ import annotations

import threading
from functools import partial

import anyio
import anyio.to_thread
import pytest
import trio

from agentrt.kernel.strand import move_on_after
from agentrt.kernel.traps import next_tick, park, sleep_ticks

SHORT = 0.0015  # seconds of trio's clock
LONG = 1e6


async def sleep(stage, seconds):
    await trio.sleep(seconds)
    return "slept"


async def checkpoint(stage, seconds):
    await trio.lowlevel.checkpoint()
    await trio.lowlevel.cancel_shielded_checkpoint()
    await trio.sleep(seconds)


async def move_on_after_around_foreign(stage, seconds):
    with trio.move_on_after(seconds) as scope:
        await trio.sleep_forever()
    assert scope.cancelled_caught


async def move_on_after_around_native(stage, seconds):
    with trio.move_on_after(seconds) as scope:
        await park()
    assert scope.cancelled_caught
    await next_tick()


async def fail_after_around_native(stage, seconds):
    with pytest.raises(trio.TooSlowError), trio.fail_after(seconds):
        await sleep_ticks(10**9)


async def nursery(stage, seconds):
    results = []

    async def child(number):
        await trio.sleep(seconds)
        results.append(number)

    async with trio.open_nursery() as children:
        children.start_soon(child, 1)
        children.start_soon(child, 2)
        await next_tick()
    return sum(results)


async def fail_later(seconds):
    await trio.sleep(seconds)
    raise LookupError("the child failed")


async def nursery_whose_child_fails_during_a_native_wait(stage, seconds):
    with pytest.raises(ExceptionGroup) as caught:
        async with trio.open_nursery() as children:
            children.start_soon(fail_later, seconds)
            await park()
    assert caught.group_contains(LookupError)
    await next_tick()


async def nursery_cancelled_by_its_child(stage, seconds):
    async def child():
        await trio.sleep(seconds)
        children.cancel_scope.cancel()

    async with trio.open_nursery() as children:
        children.start_soon(child)
        await park()
    await next_tick()


async def nursery_start(stage, seconds):
    async def child(task_status):
        await trio.sleep(seconds)
        task_status.started("is up")

    async with trio.open_nursery() as children:
        return await children.start(child)


async def channel(stage, seconds):
    send, receive = trio.open_memory_channel[str](0)

    async def child():
        await trio.sleep(seconds)
        await send.send("through the channel")

    async with trio.open_nursery() as children, send, receive:
        children.start_soon(child)
        return await receive.receive()


async def event_and_lock(stage, seconds):
    event, lock = trio.Event(), trio.Lock()

    async def child():
        await trio.sleep(seconds)
        event.set()

    async with trio.open_nursery() as children, lock:
        children.start_soon(child)
        await event.wait()


async def connection(stage, seconds):
    async def echo(stream):
        data = await stream.receive_some()
        if seconds < LONG:
            await stream.send_all(data)
        await stream.receive_some()

    async with trio.open_nursery() as children:
        listeners = await children.start(trio.serve_tcp, echo, 0)
        stream = await trio.testing.open_stream_to_socket_listener(listeners[0])
        async with stream:
            await stream.send_all(b"hello")
            await next_tick()
            got = await stream.receive_some()
        children.cancel_scope.cancel()
    return got


def answer(stage, seconds):
    if seconds == LONG:
        stage.blocker.wait()
    return "from a thread"


async def to_thread(stage, seconds):
    return await trio.to_thread.run_sync(answer, stage, seconds, abandon_on_cancel=True)


async def anyio_move_on_after_around_foreign(stage, seconds):
    with anyio.move_on_after(seconds) as scope:
        await anyio.sleep_forever()
    assert scope.cancelled_caught


async def anyio_move_on_after_around_native(stage, seconds):
    with anyio.move_on_after(seconds) as scope:
        await park()
    assert scope.cancelled_caught


async def anyio_task_group(stage, seconds):
    send, receive = anyio.create_memory_object_stream[str](1)
    async with anyio.create_task_group() as group, send, receive:
        group.start_soon(anyio.sleep, seconds)
        group.start_soon(send.send, "through the stream")
        await next_tick()
        return await receive.receive()


async def anyio_task_group_whose_child_fails(stage, seconds):
    with pytest.raises(ExceptionGroup):
        async with anyio.create_task_group() as group:
            group.start_soon(fail_later, seconds)
            await park()


async def anyio_to_thread(stage, seconds):
    return await anyio.to_thread.run_sync(answer, stage, seconds, abandon_on_cancel=True)


async def anyio_connection(stage, seconds):
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    host, port = listener.extra(anyio.abc.SocketAttribute.local_address)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, partial(anyio_echo, seconds))
        async with await anyio.connect_tcp(host, port) as stream:
            await stream.send(b"hello")
            await next_tick()
            got = await stream.receive()
        group.cancel_scope.cancel()
    return got


async def anyio_echo(seconds, stream):
    async with stream:
        data = await stream.receive()
        if seconds < LONG:
            await stream.send(data)
        await anyio.sleep(seconds)


async def native_scope_around_foreign(stage, seconds):
    with move_on_after(2 * stage.kernel.clock.seconds_per_tick if seconds == SHORT else LONG) as scope:
        await trio.sleep_forever()
    assert scope.cancelled_caught


RETURNS = {
    sleep: "slept",
    checkpoint: None,
    move_on_after_around_foreign: None,
    move_on_after_around_native: None,
    fail_after_around_native: None,
    nursery: 3,
    nursery_whose_child_fails_during_a_native_wait: None,
    nursery_cancelled_by_its_child: None,
    nursery_start: "is up",
    channel: "through the channel",
    event_and_lock: None,
    connection: b"hello",
    to_thread: "from a thread",
    anyio_move_on_after_around_foreign: None,
    anyio_move_on_after_around_native: None,
    anyio_task_group: "through the stream",
    anyio_task_group_whose_child_fails: None,
    anyio_to_thread: "from a thread",
    anyio_connection: b"hello",
    native_scope_around_foreign: None,
}
each = pytest.mark.parametrize("item", RETURNS, ids=lambda item: item.__name__)


async def action(stage, item, seconds):
    await next_tick()
    try:
        result = await item(stage, seconds)
        await next_tick()
        return result
    finally:
        stage.note("cleaned up")


async def with_blocker(stage, steps):
    stage.blocker = threading.Event()
    try:
        await steps()
    finally:
        stage.blocker.set()


@each
def test_it_works_inside_an_action(on_trio, item):
    async def main(stage):
        assert await stage.play(action, stage, item, SHORT) == f"returned {RETURNS[item]!r}"
        assert stage.notes == ["cleaned up"]

    on_trio(main)


@each
def test_stopped_from_outside_while_it_is_under_way(on_trio, item):
    async def main(stage):
        async def steps():
            strand = stage.spawn(action, stage, item, LONG)
            await stage.tick(4)
            assert not strand.is_done
            strand.stop("no longer wanted")
            await stage.end(strand)
            assert stage.ends == {"action": "cancelled"}
            assert stage.notes == ["cleaned up"]

        await with_blocker(stage, steps)

    on_trio(main)


async def cut_short(stage, scope, item):
    with scope:
        await action(stage, item, LONG)
    assert scope.cancelled_caught
    await next_tick()
    await trio.sleep(0)
    return "went on"


SCOPES = {
    "native": lambda stage: move_on_after(4 * stage.kernel.clock.seconds_per_tick),
    "trio": lambda stage: trio.move_on_after(5 * stage.beat),
    "anyio": lambda stage: anyio.move_on_after(5 * stage.beat),
}


@each
@pytest.mark.parametrize("scope", SCOPES)
def test_cut_short_by_a_scope(on_trio, item, scope):
    async def limited(stage):
        return await cut_short(stage, SCOPES[scope](stage), item)

    async def main(stage):
        async def steps():
            assert await stage.play(limited, stage) == "returned 'went on'"

        await with_blocker(stage, steps)

    on_trio(main)
