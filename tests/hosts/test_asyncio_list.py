"""What must work unchanged inside an action on asyncio, and a cancellation from outside while each of it is under way."""

# Sleeping for zero seconds, bare coroutines and task groups that raise are what is tested here.
# ruff: noqa: PT012

from __future__ import annotations

import asyncio
import threading
from functools import partial

import anyio
import anyio.to_thread
import pytest

from agentrt.kernel.strand import move_on_after
from agentrt.kernel.traps import next_tick, park, sleep_ticks

SHORT = 0.0015  # seconds of the loop
LONG = 1e6


async def sleep(stage, seconds):
    return await asyncio.sleep(seconds, "slept")


async def bare_yield(stage, seconds):
    for _ in range(3):
        await asyncio.sleep(0)
    await asyncio.sleep(seconds)


async def timeout_around_foreign(stage, seconds):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.Event().wait()


async def timeout_around_native(stage, seconds):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(seconds):
            await park()


async def task_group(stage, seconds):
    async with asyncio.TaskGroup() as group:
        one = group.create_task(asyncio.sleep(seconds, 1))
        two = group.create_task(asyncio.sleep(seconds, 2))
        await next_tick()
    return one.result() + two.result()


async def fail_after(seconds):
    await asyncio.sleep(seconds)
    raise LookupError("the child failed")


async def task_group_whose_child_fails_during_a_native_wait(stage, seconds):
    with pytest.raises(ExceptionGroup) as caught:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail_after(seconds))
            await park()
    assert caught.group_contains(LookupError)
    await next_tick()  # the group took its cancellation back


async def task_group_whose_child_fails_during_a_foreign_wait(stage, seconds):
    with pytest.raises(ExceptionGroup):
        async with asyncio.TaskGroup() as group:
            group.create_task(fail_after(seconds))
            await asyncio.Event().wait()
    await next_tick()


async def wait_for(stage, seconds):
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), seconds)
    return await asyncio.wait_for(asyncio.sleep(0, "in time"), LONG)


async def gather(stage, seconds):
    return await asyncio.gather(asyncio.sleep(seconds, "a"), asyncio.sleep(0, "b"))


async def gather_with_an_error(stage, seconds):
    with pytest.raises(LookupError):
        await asyncio.gather(fail_after(seconds))


async def shield(stage, seconds):
    await asyncio.shield(asyncio.sleep(seconds))


async def own_task(stage, seconds):
    task = asyncio.create_task(asyncio.sleep(seconds, "from the task"))
    try:
        return await task
    finally:
        task.cancel()


async def queue(stage, seconds):
    items: asyncio.Queue[str] = asyncio.Queue()
    asyncio.get_running_loop().call_later(seconds, items.put_nowait, "item")
    return await items.get()


async def lock_and_condition(stage, seconds):
    condition = asyncio.Condition()
    asyncio.get_running_loop().call_later(seconds, lambda: stage.keep.append(asyncio.ensure_future(notify(condition))))
    async with condition:
        await condition.wait()


async def notify(condition):
    async with condition:
        condition.notify_all()


async def connection(stage, seconds):
    server = await asyncio.start_server(partial(echo, seconds), "127.0.0.1", 0)
    try:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        try:
            writer.write(b"hello\n")
            await writer.drain()
            await next_tick()
            return await reader.readline()
        finally:
            writer.close()
    finally:
        server.close()


async def echo(seconds, reader, writer):
    try:
        line = await reader.readline()
        if seconds < LONG:
            writer.write(line)
            await writer.drain()
        await reader.read()  # until the other side closes
    finally:
        writer.close()


async def to_thread(stage, seconds):
    return await asyncio.to_thread(answer, stage, seconds)


def answer(stage, seconds):
    if seconds == LONG:
        stage.blocker.wait()
    return "from a thread"


async def anyio_move_on_after_around_foreign(stage, seconds):
    with anyio.move_on_after(seconds) as scope:
        await asyncio.Event().wait()
    assert scope.cancelled_caught


async def anyio_move_on_after_around_native(stage, seconds):
    with anyio.move_on_after(seconds) as scope:
        await park()
    assert scope.cancelled_caught
    await next_tick()


async def anyio_fail_after_around_native(stage, seconds):
    with pytest.raises(TimeoutError), anyio.fail_after(seconds):
        await sleep_ticks(10**9)


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
            group.start_soon(fail_after, seconds)
            await park()
    await next_tick()


async def anyio_task_group_cancelled_by_its_child(stage, seconds):
    async with anyio.create_task_group() as group:
        asyncio.get_running_loop().call_later(seconds, group.cancel_scope.cancel)
        await park()
    await next_tick()


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
            stage.connected = True
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
        await asyncio.Event().wait()
    assert scope.cancelled_caught


RETURNS = {
    sleep: "slept",
    bare_yield: None,
    timeout_around_foreign: None,
    timeout_around_native: None,
    task_group: 3,
    task_group_whose_child_fails_during_a_native_wait: None,
    task_group_whose_child_fails_during_a_foreign_wait: None,
    wait_for: "in time",
    gather: ["a", "b"],
    gather_with_an_error: None,
    shield: None,
    own_task: "from the task",
    queue: "item",
    lock_and_condition: None,
    connection: b"hello\n",
    to_thread: "from a thread",
    anyio_move_on_after_around_foreign: None,
    anyio_move_on_after_around_native: None,
    anyio_fail_after_around_native: None,
    anyio_task_group: "through the stream",
    anyio_task_group_whose_child_fails: None,
    anyio_task_group_cancelled_by_its_child: None,
    anyio_to_thread: "from a thread",
    anyio_connection: b"hello",
    native_scope_around_foreign: None,
}
each = pytest.mark.parametrize("item", RETURNS, ids=lambda item: item.__name__)
# While anyio connects, its own task group may swallow a cancellation of asyncio's, that of a real task too. So nothing
# is said about a connection that is cut short at any moment.
each_but_connecting = pytest.mark.parametrize(
    "item", [item for item in RETURNS if item is not anyio_connection], ids=lambda item: item.__name__
)


async def action(stage, item, seconds):
    """An action around an item: native waits before and after it, a cleanup that may wait."""
    await next_tick()
    try:
        result = await item(stage, seconds)
        await next_tick()
        return result
    finally:
        stage.note("cleaned up")


@each
def test_it_works_inside_an_action(on_asyncio, item):
    async def main(stage):
        assert await stage.play(action, stage, item, SHORT) == f"returned {RETURNS[item]!r}"
        assert stage.notes == ["cleaned up"]

    on_asyncio(main)


async def with_blocker(stage, steps):
    stage.blocker = threading.Event()
    try:
        await steps()
    finally:
        stage.blocker.set()


async def under_way(stage, item):
    strand = stage.spawn(action, stage, item, LONG)
    await stage.tick(4)
    if item is anyio_connection:
        await stage.until(lambda: stage.connected)
    assert not strand.is_done
    return strand


@each
def test_stopped_from_outside_while_it_is_under_way(on_asyncio, item):
    async def main(stage):
        async def steps():
            strand = await under_way(stage, item)
            strand.stop("no longer wanted")
            await stage.end(strand)
            assert stage.ends == {"action": "cancelled"}
            assert stage.notes == ["cleaned up"]
            assert strand.cancelled()

        await with_blocker(stage, steps)

    on_asyncio(main)


@each
def test_cancelled_as_a_task_from_outside_while_it_is_under_way(on_asyncio, item):
    async def main(stage):
        async def steps():
            strand = await under_way(stage, item)
            tick = stage.kernel.tick
            assert strand.cancel("by the server") is True
            assert strand.cancelling() == 1
            # At once, between ticks: nobody ticks here. A few turns of the loop, and of the loops inside libraries.
            for _ in range(30):
                await asyncio.sleep(0)
            if not strand.is_done:
                await stage.end(strand)
            else:
                assert stage.kernel.tick == tick
            assert stage.ends == {"action": "cancelled"}
            assert stage.notes == ["cleaned up"]

        await with_blocker(stage, steps)

    on_asyncio(main)


@each_but_connecting
def test_cut_short_by_a_native_deadline(on_asyncio, item):
    async def limited(stage):
        with move_on_after(4 * stage.kernel.clock.seconds_per_tick) as scope:
            await action(stage, item, LONG)
        assert scope.cancelled_caught
        await next_tick()
        await asyncio.sleep(0)
        return "went on"

    async def main(stage):
        async def steps():
            assert await stage.play(limited, stage) == "returned 'went on'"

        await with_blocker(stage, steps)

    on_asyncio(main)


@each_but_connecting
def test_cut_short_by_a_timeout_of_asyncio(on_asyncio, item):
    async def limited(stage):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5 * stage.beat):
                await action(stage, item, LONG)
        assert stage.strands[0].cancelling() == 0
        await next_tick()
        await asyncio.sleep(0)
        return "went on"

    async def main(stage):
        async def steps():
            assert await stage.play(limited, stage) == "returned 'went on'"

        await with_blocker(stage, steps)

    on_asyncio(main)


@each_but_connecting
def test_cut_short_by_a_scope_of_anyio(on_asyncio, item):
    async def limited(stage):
        with anyio.move_on_after(5 * stage.beat) as scope:
            await action(stage, item, LONG)
        assert scope.cancelled_caught
        assert stage.strands[0].cancelling() == 0
        await next_tick()
        await asyncio.sleep(0)
        return "went on"

    async def main(stage):
        async def steps():
            assert await stage.play(limited, stage) == "returned 'went on'"

        await with_blocker(stage, steps)

    on_asyncio(main)
