"""A strand on the trio host as a task of trio's: its identity, its cancellation, what it cannot do."""

# Sleeping for zero seconds and bare coroutines are what is tested here.
# ruff: noqa: ASYNC105, ASYNC115, ASYNC116

from __future__ import annotations

import contextvars
import signal as signal_module

import pytest
import trio

from agentrt.errors import ForeignAwaitError, NotRunningError, WrongStateError
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.signals import Signal
from agentrt.kernel.strand import CancelScope
from agentrt.kernel.traps import next_tick, park

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
