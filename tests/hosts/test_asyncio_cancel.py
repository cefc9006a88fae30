"""A strand on the asyncio host is cancelled: before its start, in each kind of wait, by itself, twice, after its end."""

from __future__ import annotations

import asyncio

import pytest

from agentrt.kernel.signals import Signal
from agentrt.kernel.strand import CancelScope
from agentrt.kernel.traps import next_tick, park, sleep_ticks

# --- cancelled in every state -----------------------------------------------------------------------------------------


async def two_ticks():
    await sleep_ticks(1)
    await sleep_ticks(1)


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
        strand = stage.spawn(two_ticks)
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
