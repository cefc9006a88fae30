"""A strand on the asyncio host as a task: its identity, its end by force, errors at its awaits."""

# Sleeping for zero seconds, bare coroutines and task groups that raise are what is tested here.
# ruff: noqa: PT012

from __future__ import annotations

import asyncio
import contextvars
import gc
import sys
import weakref

import pytest
from cast import QuietOwner

from agentrt.errors import ForeignAwaitError, NotRunningError, WrongStateError
from agentrt.kernel.hosts.loops import rest
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.strand import kill
from agentrt.kernel.traps import next_tick, park

# --- memory -----------------------------------------------------------------------------------------------------------


def test_one_that_has_ended_is_given_free_without_the_garbage_collector(on_asyncio):
    async def action():
        await next_tick()
        await asyncio.sleep(0)

    async def main(stage):
        known = weakref.ref(stage.kernel.spawn(action()))
        gc.disable()
        try:
            await stage.tick()
            assert known() is not None
            await stage.tick(3)
            assert known() is None
        finally:
            gc.enable()

    on_asyncio(main)


# --- identity ---------------------------------------------------------------------------------------------------------


def test_the_current_task_is_the_strand_while_it_is_stepped_and_the_stepping_task_before_and_after(on_asyncio):
    async def action(seen):
        seen.append(asyncio.current_task())
        await next_tick()
        seen.append(asyncio.current_task())
        await asyncio.sleep(0)
        seen.append(asyncio.current_task())

    async def main(stage):
        outside = asyncio.current_task()
        seen = []
        stage.kernel.call_soon(lambda: seen.append(asyncio.current_task()))
        strand = stage.spawn(action, seen)
        await stage.end(strand)
        assert seen == [None, strand, strand, strand]
        assert asyncio.current_task() is outside

    on_asyncio(main)


def test_a_tick_may_be_stepped_from_a_plain_callback_of_the_loop(on_asyncio):
    async def action():
        await next_tick()
        return asyncio.current_task()

    async def main(stage):
        strand = stage.spawn(action)
        done = asyncio.get_running_loop().create_future()

        def callback():
            stage.kernel.step_tick()
            stage.kernel.step_tick()
            done.set_result(asyncio.current_task())

        asyncio.get_running_loop().call_soon(callback)
        assert await done is None
        assert strand.value is strand

    on_asyncio(main)


def test_what_libraries_ask_a_task(on_asyncio):
    async def action():
        await park()

    async def main(stage):
        strand = stage.spawn(action, name="picker")
        await stage.tick()
        assert strand.get_name() == "picker"
        strand.set_name(7)
        assert (strand.get_name(), strand.name) == ("7", "7")
        assert strand.get_coro() is strand.coro
        assert strand.get_loop() is asyncio.get_running_loop()
        assert isinstance(strand.get_context(), contextvars.Context)
        assert weakref.ref(strand)() is strand
        assert {strand: 1}[strand] == 1
        assert strand not in asyncio.all_tasks()
        assert not asyncio.isfuture(strand)
        assert (strand.done(), strand.cancelled(), strand.cancelling()) == (False, False, 0)
        assert (strand._fut_waiter, strand._must_cancel) == (None, False)
        with pytest.raises(asyncio.InvalidStateError, match="has not ended"):
            strand.result()
        with pytest.raises(asyncio.InvalidStateError, match="has not ended"):
            strand.exception()

    on_asyncio(main)


def test_the_outcome_of_a_strand_is_that_of_a_task(on_asyncio):
    async def returns():
        return 5

    async def raises():
        raise LookupError("nothing there")

    async def main(stage):
        good, bad, gone = stage.spawn(returns), stage.spawn(raises), stage.spawn(park)
        gone.stop("no longer wanted")
        await stage.tick()
        assert (good.done(), good.result(), good.exception(), good.cancelled()) == (True, 5, None, False)
        assert bad.cancelled() is False
        assert isinstance(bad.exception(), LookupError)
        with pytest.raises(LookupError):
            bad.result()
        assert gone.cancelled() is True
        with pytest.raises(asyncio.CancelledError, match="no longer wanted"):
            gone.result()
        with pytest.raises(asyncio.CancelledError):
            gone.exception()
        assert good.get_coro() is None

    on_asyncio(main)


def test_done_callbacks_are_called_by_the_loop_in_their_contexts(on_asyncio):
    variable = contextvars.ContextVar("variable", default="outside")
    context = contextvars.copy_context()
    context.run(variable.set, "inside")
    seen = []

    async def main(stage):
        strand = stage.spawn(next_tick_twice)

        def first(ended):
            seen.append((ended is strand, variable.get()))

        strand.add_done_callback(first, context=context)
        strand.add_done_callback(first)
        strand.add_done_callback(seen.append)
        assert strand.remove_done_callback(seen.append) == 1
        assert strand.remove_done_callback(seen.append) == 0
        await stage.end(strand)
        assert seen == [(True, "inside"), (True, "outside")]
        strand.add_done_callback(seen.append)
        await asyncio.sleep(0)
        assert seen[2:] == [strand]

    on_asyncio(main)


async def next_tick_twice():
    await next_tick()
    await next_tick()


def test_each_strand_has_its_own_context_like_a_task(on_asyncio):
    variable = contextvars.ContextVar("variable", default=0)

    async def action(stage, value):
        variable.set(value)
        await next_tick()
        await asyncio.sleep(0)
        inner = stage.spawn(read, name=f"child of {value}")
        await inner.join()
        return variable.get(), inner.value, await asyncio.to_thread(variable.get)

    async def read():
        await asyncio.sleep(0)
        return variable.get()

    async def main(stage):
        variable.set(9)
        strands = [stage.spawn(action, stage, value) for value in (1, 2)]
        for strand, value in zip(strands, (1, 2), strict=True):
            assert await stage.end(strand) == (value, value, value)
        assert variable.get() == 9

    on_asyncio(main)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks came with Python 3.12")
def test_eager_tasks_inside_an_action(on_virtual_asyncio):
    async def child():
        before = asyncio.current_task()
        await asyncio.sleep(0)
        return before is asyncio.current_task()

    async def failing():
        raise LookupError("at once")

    async def action():
        me = asyncio.current_task()
        task = asyncio.create_task(child())
        assert asyncio.current_task() is me
        assert await task is True
        with pytest.raises(ExceptionGroup):
            async with asyncio.TaskGroup() as group:
                group.create_task(failing())  # it cancels this strand while it runs
                await park()
        with pytest.raises(ExceptionGroup):
            async with asyncio.TaskGroup() as group:
                group.create_task(failing())
                await asyncio.sleep(1e6)
        await next_tick()
        await asyncio.sleep(0)
        return asyncio.current_task() is me

    async def main(stage):
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        assert await stage.play(action) == "returned True"

    on_virtual_asyncio(main)


# --- killed strands ---------------------------------------------------------------------------------------------------


def test_a_strand_that_awaits_on_after_its_cancellation_is_killed(on_asyncio):
    async def action(stage):
        while not stage.is_over:
            try:
                await next_tick()
            except BaseException:
                pass

    async def main(stage):
        stage.is_over = False
        stage.kernel.livelock_steps = 20
        strand = stage.spawn(action, stage)
        other = stage.spawn(next_tick_twice)
        await stage.tick()
        strand.stop()
        await stage.tick(2)
        assert stage.ends == {"action": "raised LivelockError", "next_tick_twice": "returned None"}
        assert other.done()
        stage.is_over = True  # the garbage collector closes it once more

    on_asyncio(main)


@pytest.mark.parametrize("wait", [park, lambda: asyncio.sleep(1e6), lambda: asyncio.sleep(0)])
def test_killed_while_it_waits_it_cleans_up_as_the_current_task(on_asyncio, wait):
    async def main(stage):
        async def action():
            try:
                await wait()
            finally:
                stage.note(f"current: {asyncio.current_task() is strand}")

        strand = stage.spawn(action)
        await stage.host.run_tick(stage.kernel)
        outside = asyncio.current_task()
        kill(strand, LookupError("killed"))
        assert asyncio.current_task() is outside
        assert stage.notes == ["current: True"]
        assert isinstance(strand.exception(), LookupError)
        await stage.tick()  # what it waited for comes too late, and finds nobody

    on_asyncio(main)


def test_killed_before_any_loop_ran():
    from agentrt.kernel.hosts.asyncio_ import AsyncioHost

    kernel = Kernel(host=AsyncioHost())
    strand = kernel.spawn(park(), owner=QuietOwner())
    assert strand.cancel() is True
    kill(strand, LookupError("killed"))
    assert isinstance(strand.error, LookupError)


def test_a_kernel_goes_on_in_another_run_of_asyncio():
    from agentrt.kernel.hosts.asyncio_ import AsyncioHost

    log = []
    kernel = Kernel(host=AsyncioHost())

    async def action():
        for _ in range(4):
            loop = asyncio.get_running_loop()
            log.append((kernel.tick, asyncio.current_task().get_loop() is loop))
            await asyncio.sleep(0)
            await next_tick()

    async def main():
        for _ in range(2):
            await kernel.host.run_tick(kernel)
            await rest(0.001)

    strand = kernel.spawn(action())
    for _ in range(3):
        asyncio.run(main())
    assert log == [(1, True), (2, True), (3, True), (4, True)]
    assert strand.done()


# --- what cannot be awaited -------------------------------------------------------------------------------------------


class Odd:
    def __await__(self):
        yield "something odd"


def test_what_is_no_future_fails_at_its_await_and_may_be_caught(on_asyncio):
    async def action():
        with pytest.raises(ForeignAwaitError, match="awaited a builtins.str on the asyncio host"):
            await Odd()
        await next_tick()
        await asyncio.sleep(0)
        return "went on"

    async def main(stage):
        assert await stage.play(action) == "returned 'went on'"

    on_asyncio(main)


def test_a_future_of_another_loop_fails_at_its_await(on_asyncio):
    async def action():
        other = asyncio.new_event_loop()
        try:
            with pytest.raises(RuntimeError, match="attached to a different event loop"):
                await other.create_future()
        finally:
            other.close()
        await next_tick()
        return "went on"

    async def main(stage):
        assert await stage.play(action) == "returned 'went on'"

    on_asyncio(main)


def test_a_future_that_is_yielded_by_hand_fails_at_its_await(on_asyncio):
    class Raw:
        def __await__(self):
            yield asyncio.get_running_loop().create_future()

    async def action():
        with pytest.raises(RuntimeError, match="'yield' was used instead of 'yield from'"):
            await Raw()
        return "went on"

    async def main(stage):
        assert await stage.play(action) == "returned 'went on'"

    on_asyncio(main)


def test_trio_on_asyncio_says_what_to_do(on_asyncio):
    trio = pytest.importorskip("trio")

    async def action():
        await trio.sleep(1)

    async def main(stage):
        strand = stage.spawn(action)
        await stage.end(strand)
        assert isinstance(strand.error, ForeignAwaitError)
        assert "on the asyncio host" in str(strand.error)

    on_asyncio(main)


def test_without_a_running_loop_a_tick_says_what_to_do():
    from agentrt.kernel.hosts.asyncio_ import AsyncioHost

    kernel = Kernel(host=AsyncioHost())
    with pytest.raises(NotRunningError, match="only while its event loop runs"):
        kernel.step_tick()


def test_a_tick_within_a_tick_is_refused(on_asyncio):
    async def action(stage):
        with pytest.raises(WrongStateError):
            stage.kernel.step_tick()
        with pytest.raises(WrongStateError):
            await stage.host.run_tick(stage.kernel)
        with pytest.raises(WrongStateError):
            await stage.host.run_tick(stage.kernel, 1.0)
        return "refused"

    async def main(stage):
        assert await stage.play(action, stage) == "returned 'refused'"
        assert not stage.kernel.in_tick

    on_asyncio(main)
