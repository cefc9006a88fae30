"""What must work unchanged inside an action on trio, and a cancellation from outside while each of it is under way."""

# Sleeping for zero seconds, bare coroutines and task groups that raise are what is tested here.
# ruff: noqa: ASYNC105, ASYNC115, ASYNC116, PT012

from __future__ import annotations

import contextvars
import signal as signal_module
import threading
from functools import partial

import anyio
import anyio.to_thread
import pytest
import trio

from agentrt.errors import ForeignAwaitError, NotRunningError, WrongStateError
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.killing import kill
from agentrt.kernel.scope import CancelScope, move_on_after
from agentrt.kernel.signals import Signal
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


# --- a strand is a task of trio's -------------------------------------------------------------------------------------


def test_the_current_task_is_the_strands_own(on_trio):
    async def action(seen):
        for wait in (next_tick, lambda: trio.sleep(0), next_tick):
            seen.append(trio.lowlevel.current_task())
            await wait()

    async def main(stage):
        seen = []
        strand = stage.spawn(action, seen, name="picker")
        await stage.end(strand)
        assert seen == [strand.task] * 3
        assert strand.task.name == "picker"

    on_trio(main)


def test_a_deadline_of_trio_ends_a_native_wait_between_ticks(on_trio):
    async def action(stage):
        with trio.move_on_after(2.5 * stage.beat):
            await park()
        stage.note(f"after {(trio.current_time() - stage.start) / stage.beat:.1f} beats")

    async def main(stage):
        stage.start = trio.current_time()
        await stage.play(action, stage)
        assert stage.log == [(3, "after 2.5 beats")]

    on_trio(main)


def test_level_cancellation_a_stopped_strand_can_await_nothing_without_a_shield(on_trio):
    async def action(stage):
        try:
            await park()
        finally:
            for name, wait in (("the kernel", next_tick), ("trio", lambda: trio.sleep(0))):
                with pytest.raises(trio.Cancelled):
                    await wait()
                stage.note(f"{name} raised")
            with CancelScope(shield=True):
                await next_tick()
                await trio.sleep(0)
            stage.note("shielded by us")
            with trio.CancelScope(shield=True):
                await next_tick()
                await trio.sleep(0)
            stage.note("shielded by trio")

    async def main(stage):
        strand = stage.spawn(action, stage)
        await stage.tick()
        strand.stop()
        await stage.end(strand)
        assert stage.notes == ["the kernel raised", "trio raised", "shielded by us", "shielded by trio"]
        assert stage.ends == {"action": "cancelled"}

    on_trio(main)


@pytest.mark.parametrize("wait", [park, lambda: trio.sleep(1e6)], ids=["native", "foreign"])
def test_a_shield_of_trios_keeps_a_stop_away(on_trio, wait):
    async def action(stage):
        with trio.move_on_after(3.5 * stage.beat, shield=True):
            await wait()
        stage.note("the shield held")
        await wait()

    async def main(stage):
        strand = stage.spawn(action, stage)
        await stage.tick(2)
        strand.stop()
        await stage.tick(1)
        assert not strand.is_done
        await stage.end(strand)
        assert stage.notes == ["the shield held"]
        assert stage.ends == {"action": "cancelled"}

    on_trio(main)


def test_stopped_before_its_first_step_it_never_starts(on_trio):
    async def action(stage):
        stage.note("started")

    async def main(stage):
        strand = stage.spawn(action, stage)
        strand.stop()
        await stage.tick()
        assert stage.ends == {"action": "cancelled"}
        assert stage.log == []

    on_trio(main)


def test_stopped_by_itself_in_its_last_step_it_has_returned(on_trio):
    async def action(stage):
        stage.strands[0].stop()
        return "done"

    async def main(stage):
        assert await stage.play(action, stage) == "returned 'done'"

    on_trio(main)


@pytest.mark.parametrize("wait", [park, lambda: trio.sleep(1e6)], ids=["native", "foreign"])
def test_stopped_by_itself_while_it_runs(on_trio, wait):
    async def action(stage):
        stage.strands[0].stop("why not")
        stage.note("still running")
        await wait()

    async def main(stage):
        assert await stage.play(action, stage) == "cancelled"
        assert stage.log == [(1, "still running")]

    on_trio(main)


def test_a_nursery_that_is_stopped_reports_one_cancellation_and_not_a_group(on_trio):
    async def action():
        async with trio.open_nursery() as children:
            for _ in range(3):
                children.start_soon(trio.sleep_forever)
            await park()

    async def main(stage):
        strand = stage.spawn(action)
        await stage.tick()
        strand.stop()
        await stage.end(strand)
        assert isinstance(strand.error, trio.Cancelled)

    on_trio(main)


def test_an_error_beside_a_cancellation_is_the_strands_error(on_trio):
    async def child():
        try:
            await trio.sleep_forever()
        finally:
            raise LookupError("while it was cancelled")

    async def action():
        async with trio.open_nursery() as children:
            children.start_soon(child)
            await park()

    async def main(stage):
        strand = stage.spawn(action)
        await stage.tick()
        strand.stop()
        await stage.end(strand)
        assert isinstance(strand.error, ExceptionGroup)
        assert strand.error.split(LookupError)[1] is None

    on_trio(main)


def test_each_strand_has_its_own_context(on_trio):
    variable = contextvars.ContextVar("variable", default=0)

    async def action(value):
        variable.set(value)
        await next_tick()
        await trio.sleep(0)
        return variable.get(), await trio.to_thread.run_sync(variable.get)

    async def main(stage):
        strands = [stage.spawn(action, value, name=str(value)) for value in (1, 2)]
        for strand, value in zip(strands, (1, 2), strict=True):
            assert await stage.end(strand) == (value, value)
        assert variable.get() == 0

    on_trio(main)


def test_cancelled_while_it_is_ready_the_wait_raises_as_on_every_host(on_trio):
    signal = Signal()

    async def action(stage):
        try:
            stage.note(f"got {await signal.wait()}")
        except trio.Cancelled:
            stage.note("cancelled")
            raise

    async def main(stage):
        strand = stage.spawn(action, stage)
        await stage.tick()
        stage.kernel.post(signal.emit, "too late")
        stage.kernel.post(strand.stop)
        await stage.tick()
        assert stage.log == [(2, "cancelled")]

    on_trio(main)


def test_asyncio_on_trio_fails_at_its_await_and_may_be_caught(on_trio):
    import asyncio

    class BareYield:
        def __await__(self):
            yield None

    async def action():
        with pytest.raises(ForeignAwaitError, match="a bare yield .* on the trio host"):
            await BareYield()
        await next_tick()
        await trio.sleep(0)
        await asyncio.sleep(1)

    async def main(stage):
        strand = stage.spawn(action)
        await stage.end(strand)
        assert isinstance(strand.error, ForeignAwaitError)
        assert "no running event loop" in str(strand.error)

    on_trio(main)


def test_a_tick_cannot_be_stepped_synchronously():
    from agentrt.kernel.hosts.trio_ import TrioHost

    kernel = Kernel(host=TrioHost())
    with pytest.raises(NotRunningError, match=r"await runtime\.run\(\)"):
        kernel.step_tick()
    assert not kernel.in_tick


def test_a_tick_within_a_tick_is_refused(on_trio):
    async def action(stage):
        with pytest.raises(WrongStateError):
            await stage.host.run_tick(stage.kernel)
        await trio.sleep(0)
        with pytest.raises(WrongStateError):
            await stage.host.run_tick(stage.kernel)
        return "refused"

    async def main(stage):
        assert await stage.play(action, stage) == "returned 'refused'"

    on_trio(main)


def test_a_cancelled_task_finishes_the_tick_that_it_runs(on_trio):
    async def action(stage):
        stage.note("begins")
        stage.scope.cancel()
        await trio.sleep(0)
        await next_tick()
        stage.note("next tick")

    async def other(stage):
        stage.note("stepped behind it")

    async def main(stage):
        strand = stage.spawn(action, stage)
        stage.spawn(other, stage)
        with trio.CancelScope() as stage.scope:
            await stage.host.run_tick(stage.kernel)
            await trio.lowlevel.checkpoint()
            raise AssertionError("it was cancelled")
        assert stage.log == [(1, "begins"), (1, "stepped behind it")]
        await stage.end(strand)

    on_trio(main)


def test_an_interrupt_from_the_keyboard_ends_even_a_strand_that_never_awaits():
    from agentrt.kernel.hosts.trio_ import TrioHost

    kernel = Kernel(host=TrioHost())

    async def action():
        signal_module.raise_signal(signal_module.SIGINT)
        while True:
            pass

    async def main():
        kernel.spawn(action())
        await kernel.host.run_tick(kernel)

    with pytest.raises(KeyboardInterrupt):
        trio.run(main)
    assert kernel.live == 0


# --- killed strands, and strands that are left when trio ends ---------------------------------------------------------


def test_a_strand_that_lets_no_time_pass_is_killed_and_its_nursery_is_closed(on_trio, monkeypatch):
    monkeypatch.setattr("agentrt.kernel.hosts.trio_.patience", lambda kernel: 50)

    async def child(stage):
        try:
            await trio.sleep_forever()
        finally:
            stage.note("child ended")

    async def action(stage):
        async with trio.open_nursery() as children:
            children.start_soon(child, stage)
            signal = Signal()
            while True:
                stage.kernel.call_soon(signal.emit)
                await signal.wait()

    async def main(stage):
        stage.kernel.livelock_steps = 20
        strand = stage.spawn(action, stage)
        other = stage.spawn(sleep_a_little)
        await stage.end(strand)
        await stage.end(other)
        assert stage.notes == ["child ended"]
        assert stage.ends == {"action": "raised LivelockError", "sleep_a_little": "returned None"}

    on_trio(main)


async def sleep_a_little():
    await sleep_ticks(3)


def test_a_strand_that_awaits_on_after_its_cancellation_is_killed(on_trio):
    async def action(stage):
        while not stage.is_over:
            try:
                await next_tick()
            except BaseException:
                pass

    async def main(stage):
        stage.kernel.livelock_steps = 20
        stage.is_over = False
        strand = stage.spawn(action, stage)
        other = stage.spawn(sleep_a_little)
        await stage.tick(2)
        strand.stop()
        await stage.tick()
        assert stage.ends == {"action": "raised LivelockError"}
        await stage.end(other)
        stage.is_over = True  # the garbage collector closes it once more

    on_trio(main)


def test_one_that_refuses_to_be_closed_with_an_open_nursery_stops_nobody_until_trio_ends():
    from agentrt.kernel.hosts.trio_ import TrioHost

    kernel = Kernel(host=TrioHost())
    kernel.livelock_steps = 5
    log = []

    async def child():
        try:
            await trio.sleep_forever()
        finally:
            log.append("its child ended")

    async def refuses():
        async with trio.open_nursery() as children:
            children.start_soon(child)
            while len(log) < 4:
                try:
                    await next_tick()
                except BaseException:
                    pass

    async def bystander():
        for number in range(3):
            log.append(number)
            await next_tick()

    async def main():
        kernel.spawn(bystander())
        strand = kernel.spawn(refuses(), owner=Owner())
        await kernel.host.run_tick(kernel)
        kill(strand, LookupError("killed"))
        for _ in range(3):
            await kernel.host.run_tick(kernel)
            await kernel.host.rest(kernel, 0.001)
        assert isinstance(strand.error, LookupError)
        assert log == [0, 1, "its child ended", 2]

    with pytest.raises(trio.TrioInternalError):  # nothing can mend it: trio tells so when the task ends
        trio.run(main)
    ABANDONED.extend(kernel.abandoned)


ABANDONED = []  # the garbage collector would try to close them, and complain


class Owner:
    def on_strand_end(self, strand, result, error):
        pass


def test_killed_while_it_waits(on_trio):
    async def main(stage):
        for wait in (park, trio.sleep_forever):
            strand = stage.spawn(wait)
            await stage.tick()
            kill(strand, LookupError("killed"))
            await stage.end(strand)
            assert isinstance(strand.error, LookupError)

    on_trio(main)


def test_strands_that_are_left_when_trio_ends_clean_up_quietly_and_in_order():
    from agentrt.kernel.hosts.trio_ import TrioHost

    log = []
    kernel = Kernel(host=TrioHost())

    async def action(name, wait, cleanup):
        try:
            await wait()
        finally:
            log.append(name)
            with trio.CancelScope(shield=True):
                await cleanup()
            log.append(f"{name} ended")

    async def main():
        for name, wait, cleanup in (
            ("sleeps", lambda: sleep_ticks(100), lambda: trio.sleep(0)),
            ("parks", park, lambda: trio.sleep(0)),
            ("never cleans up", park, park),
        ):
            kernel.spawn(action(name, wait, cleanup), name)
        kernel.spawn(trio.sleep_forever(), "foreign")
        for _ in range(3):
            await kernel.host.run_tick(kernel)

    trio.run(main)
    assert [entry for entry in log if "ended" not in entry] == ["sleeps", "parks", "never cleans up"]
    assert "never cleans up ended" not in log
    assert kernel.live == 0


def test_a_kernel_goes_on_in_another_run_of_trio():
    from agentrt.kernel.hosts.trio_ import TrioHost

    log = []
    kernel = Kernel(host=TrioHost())

    async def action(name):
        while True:
            log.append((kernel.tick, name))
            await trio.sleep(0)
            await next_tick()

    async def main(name):
        kernel.spawn(action(name), name)
        for _ in range(2):
            await kernel.host.run_tick(kernel)
            await kernel.host.rest(kernel, 0.001)

    trio.run(main, "first")
    kernel.spawn(action("made between"), "made between")
    trio.run(main, "second")
    assert log == [
        (1, "first"),
        (2, "first"),
        (3, "made between"),
        (3, "second"),
        (4, "made between"),
        (4, "second"),
    ]
    assert kernel.live == 0
