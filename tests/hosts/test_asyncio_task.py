"""A strand on the asyncio host as a task: its identity, every state in which it can be cancelled, errors at its awaits."""

# Sleeping for zero seconds, bare coroutines and task groups that raise are what is tested here.
# ruff: noqa: PT012

from __future__ import annotations

import asyncio
import contextvars
import sys
import weakref

import pytest

from agentrt.errors import ForeignAwaitError, NotRunningError, WrongStateError
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.killing import kill
from agentrt.kernel.scope import CancelScope, move_on_after
from agentrt.kernel.signals import Signal
from agentrt.kernel.traps import next_tick, park, sleep_ticks

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


# --- cancelled in every state -----------------------------------------------------------------------------------------


def cancel_natively(strand):
    strand.stop("why not")


def cancel_as_a_task(strand):
    assert strand.cancel("why not") is True


both_ways = pytest.mark.parametrize("cancel", [cancel_natively, cancel_as_a_task])


async def note_where(stage, wait):
    stage.note("started")
    try:
        await wait()
    except asyncio.CancelledError as error:
        stage.note(f"cancelled: {error}")
        raise
    finally:
        stage.note("finally")


@both_ways
def test_before_its_first_step_it_never_starts(on_asyncio, cancel):
    async def main(stage):
        strand = stage.spawn(note_where, stage, park)
        cancel(strand)
        await stage.tick()
        assert stage.ends == {"note_where": "cancelled"}
        assert stage.log == []

    on_asyncio(main)


@both_ways
@pytest.mark.parametrize("wait", [park, lambda: sleep_ticks(9)], ids=["parked", "sleeping"])
def test_while_it_waits_for_the_kernel(on_asyncio, cancel, wait):
    async def main(stage):
        strand = stage.spawn(note_where, stage, wait)
        await stage.tick(2)
        stage.kernel.post(cancel, strand)
        await stage.tick()
        assert stage.log == [(1, "started"), (3, "cancelled: why not"), (3, "finally")]

    on_asyncio(main)


def test_cancelled_as_a_task_between_ticks_it_does_not_wait_for_the_tick(on_asyncio):
    async def main(stage):
        strand = stage.spawn(note_where, stage, park)
        await stage.tick()
        strand.cancel("at once")
        assert stage.notes == ["started"]  # but not in the middle of the caller
        await asyncio.sleep(0)
        assert stage.log == [(1, "started"), (1, "cancelled: at once"), (1, "finally")]

    on_asyncio(main)


@both_ways
def test_while_it_waits_for_the_loop(on_asyncio, cancel):
    async def main(stage):
        strand = stage.spawn(note_where, stage, asyncio.Event().wait)
        await stage.tick()
        cancel(strand)
        await asyncio.sleep(0)
        assert stage.log == [(1, "started"), (1, "cancelled: why not"), (1, "finally")]

    on_asyncio(main)


@both_ways
def test_in_a_bare_yield(on_asyncio, cancel):
    async def main(stage):
        strand = stage.spawn(note_where, stage, lambda: asyncio.sleep(0))
        await stage.host.run_tick(stage.kernel)
        cancel(strand)
        await asyncio.sleep(0)
        assert stage.notes == ["started", "cancelled: why not", "finally"]

    on_asyncio(main)


@both_ways
def test_while_it_is_ready_after_a_wait_for_the_kernel(on_asyncio, cancel):
    signal = Signal()

    async def main(stage):
        strand = stage.spawn(note_where, stage, signal.wait)
        await stage.tick()
        stage.kernel.post(signal.emit, "too late")
        stage.kernel.post(cancel, strand)
        await stage.tick()
        assert stage.log == [(1, "started"), (2, "cancelled: why not"), (2, "finally")]

    on_asyncio(main)


@both_ways
@pytest.mark.parametrize("outcome", ["result", "error"])
def test_while_the_result_of_its_future_is_on_its_way(on_asyncio, cancel, outcome):
    async def main(stage):
        future = asyncio.get_running_loop().create_future()
        strand = stage.spawn(note_where, stage, lambda: asyncio.wait_for(future, None))
        await stage.tick()
        if outcome == "result":
            future.set_result("lost, as in any task")
        else:
            future.set_exception(LookupError("lost too, and nobody complains"))
        cancel(strand)
        await asyncio.sleep(0)
        assert stage.notes == ["started", "cancelled: why not", "finally"]

    on_asyncio(main)


@both_ways
@pytest.mark.parametrize("wait", [park, lambda: asyncio.sleep(1e6), lambda: asyncio.sleep(0)])
def test_by_itself_while_it_runs(on_asyncio, cancel, wait):
    async def main(stage):
        async def cancel_and_wait():
            cancel(asyncio.current_task())
            stage.note("still running")
            await wait()

        stage.spawn(note_where, stage, cancel_and_wait)
        await stage.until(lambda: stage.kernel.live == 0)
        assert stage.notes == ["started", "still running", "cancelled: why not", "finally"]

    on_asyncio(main)


@both_ways
def test_by_itself_in_its_last_step_it_has_returned(on_asyncio, cancel):
    async def action():
        cancel(asyncio.current_task())
        return "done"

    async def main(stage):
        assert await stage.play(action) == "returned 'done'"

    on_asyncio(main)


def test_twice_before_it_was_stepped_is_once(on_asyncio):
    async def main(stage):
        strand = stage.spawn(note_where, stage, asyncio.Event().wait)
        await stage.tick()
        assert strand.cancel("first")
        assert strand.cancel("second")
        strand.stop("third")
        assert strand.cancelling() == 3
        await asyncio.sleep(0)
        assert stage.notes == ["started", "cancelled: first", "finally"]

    on_asyncio(main)


def test_twice_in_a_native_wait_is_once(on_asyncio):
    async def main(stage):
        strand = stage.spawn(note_where, stage, park)
        await stage.tick()
        assert strand.cancel("first")
        assert strand.cancel("second")
        await asyncio.sleep(0)
        assert stage.notes == ["started", "cancelled: first", "finally"]

    on_asyncio(main)


def test_a_second_one_during_the_cleanup_interrupts_the_cleanup(on_asyncio):
    async def action(stage):
        try:
            await park()
        finally:
            try:
                await asyncio.sleep(1e6)
            except asyncio.CancelledError as error:
                stage.note(f"cleanup cut short: {error}")
                raise

    async def main(stage):
        strand = stage.spawn(action, stage)
        await stage.tick()
        strand.cancel("first")
        await stage.tick()
        assert stage.notes == []
        strand.cancel("second")
        await asyncio.sleep(0)
        assert stage.notes == ["cleanup cut short: second"]

    on_asyncio(main)


def test_after_its_end_nothing_happens(on_asyncio):
    async def main(stage):
        strand = stage.spawn(next_tick_twice)
        await stage.end(strand)
        assert strand.cancel() is False
        strand.stop()
        assert (strand.cancelling(), strand.cancelled()) == (0, False)

    on_asyncio(main)


def test_a_cancellation_that_is_swallowed_is_over(on_asyncio):
    async def action():
        for wait in (park, asyncio.Event().wait):
            with pytest.raises(asyncio.CancelledError):
                await wait()
            assert asyncio.current_task().uncancel() == 0
            await next_tick()
            await asyncio.sleep(0)
        return "went on"

    async def main(stage):
        strand = stage.spawn(action)
        for _ in range(2):
            await stage.tick()
            strand.cancel()
            await stage.tick(2)
        assert await stage.end(strand) == "went on"

    on_asyncio(main)


def test_uncancel_takes_back_what_was_not_raised_yet(on_asyncio):
    async def action():
        task = asyncio.current_task()
        task.cancel()
        assert task.cancelling() == 1
        assert task.uncancel() == 0
        await next_tick()
        await asyncio.sleep(0)
        return task.uncancel()

    async def main(stage):
        assert await stage.play(action) == "returned 0"

    on_asyncio(main)


def test_a_native_cancellation_that_is_uncancelled_and_cancelled_again_is_raised_again(on_asyncio):
    """What a task group does when its children failed while it was cancelled, from Python 3.13 on."""

    async def action(stage):
        task = asyncio.current_task()
        with CancelScope() as scope:
            stage.scope = scope
            try:
                await park()
            except asyncio.CancelledError:
                assert task.cancelling() == 1
                assert task.uncancel() == 0
                assert task.cancel() is True
                assert task.cancelling() == 1
            await asyncio.sleep(1e6)
        await asyncio.sleep(0)
        await next_tick()
        return scope.cancelled_caught, task.cancelling()

    async def main(stage):
        strand = stage.spawn(action, stage)
        await stage.tick()
        stage.scope.cancel("from outside")
        assert await stage.end(strand) == (True, 0)

    on_asyncio(main)


def test_uncancel_comes_too_late_for_a_native_wait_that_was_ended(on_asyncio):
    async def main(stage):
        strand = stage.spawn(note_where, stage, park)
        await stage.tick()
        strand.cancel("first")
        strand.uncancel()
        await asyncio.sleep(0)
        assert stage.notes == ["started", "cancelled: first", "finally"]

    on_asyncio(main)


# --- native cancellation and foreign awaits ---------------------------------------------------------------------------


def test_a_stopped_strand_may_await_the_loop_in_its_cleanup_but_not_the_kernel(on_asyncio):
    async def action(stage):
        try:
            await park()
        finally:
            await asyncio.sleep(0)
            stage.note("closed the connection")
            try:
                await next_tick()
            finally:
                with CancelScope(shield=True):
                    await next_tick()
                    await asyncio.sleep(0)
                stage.note("shielded")
                await asyncio.sleep(0)
                stage.note("and the loop again")

    async def main(stage):
        strand = stage.spawn(action, stage)
        await stage.tick()
        strand.stop()
        await stage.until(lambda: strand.is_done)
        assert stage.notes == ["closed the connection", "shielded", "and the loop again"]
        assert stage.ends == {"action": "cancelled"}

    on_asyncio(main)


def test_a_shield_keeps_a_stop_away_from_an_await_of_the_loop_and_gives_it_to_the_next_one(on_asyncio):
    async def action(stage, event):
        with CancelScope(shield=True):
            await event.wait()
            stage.note("whole")
        await asyncio.sleep(1e6)

    async def main(stage):
        event = asyncio.Event()
        strand = stage.spawn(action, stage, event)
        await stage.tick()
        strand.stop("outside")
        assert strand.cancelling() == 0
        await stage.tick(2)
        event.set()
        await stage.tick(2)
        assert stage.notes == ["whole"]
        assert stage.ends == {"action": "cancelled"}

    on_asyncio(main)


def test_a_scope_that_is_cancelled_before_it_is_entered_cancels_the_first_await(on_asyncio):
    async def action(stage):
        scope = CancelScope()
        scope.cancel("already")
        with scope:
            await asyncio.sleep(1e6)
        return scope.cancelled_caught, asyncio.current_task().cancelling()

    async def main(stage):
        assert await stage.play(action, stage) == "returned (True, 0)"

    on_asyncio(main)


def test_each_cancelled_scope_interrupts_the_loops_awaits_once(on_asyncio):
    async def action(stage):
        with CancelScope() as outer:
            stage.outer = outer
            with CancelScope() as inner:
                try:
                    await asyncio.sleep(1e6)
                finally:
                    try:
                        await asyncio.sleep(1e6)
                    except asyncio.CancelledError as error:
                        stage.note(str(error))
                        await asyncio.sleep(0)
        stage.note(f"caught by the inner: {inner.cancelled_caught}, by the outer: {outer.cancelled_caught}")

    async def main(stage):
        strand = stage.spawn(action, stage)
        await stage.tick()
        strand.scope.cancel("inner")
        await stage.tick()
        assert stage.notes == []
        stage.outer.cancel("outer")
        await stage.until(lambda: strand.is_done)
        # The message is that of the innermost scope in force; which scope swallows it, the nesting decides.
        assert stage.notes == ["inner", "caught by the inner: False, by the outer: True"]

    on_asyncio(main)


def test_move_on_after_goes_on_natively_and_with_the_loop(on_asyncio):
    async def action():
        for wait in (park, asyncio.Event().wait):
            with move_on_after(0.1) as scope:
                await wait()
            assert scope.cancelled_caught
            await asyncio.sleep(0)
            await next_tick()
        return "went on"

    async def main(stage):
        assert await stage.play(action) == "returned 'went on'"

    on_asyncio(main)


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
    strand = kernel.spawn(park(), owner=Owner())
    assert strand.cancel() is True
    kill(strand, LookupError("killed"))
    assert isinstance(strand.error, LookupError)


class Owner:
    def on_strand_end(self, strand, result, error):
        pass


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
            await kernel.host.rest(kernel, 0.001)

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
