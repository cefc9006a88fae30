"""Driving a kernel on a host: whole ticks, budgets, rests, foreign results between ticks, failures, waiting for the end."""

# Sleeping for zero seconds, bare coroutines and task groups that raise are what is tested here.
# ruff: noqa: ASYNC115

from __future__ import annotations

import asyncio

import anyio
import pytest

from agentrt.errors import ForeignAwaitError
from agentrt.kernel.hosts.loops import drained, rest
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.strand import CancelScope
from agentrt.kernel.traps import next_tick, park


async def three_ticks(stage, name):
    for _ in range(3):
        stage.note(name)
        await next_tick()


def test_a_tick_with_a_budget_is_the_same_tick(on_any):
    async def main(stage):
        for name in "abc":
            stage.spawn(three_ticks, stage, name, name=name)
        for _ in range(4):
            await stage.host.run_tick(stage.kernel, 0.0)
        assert stage.log == [(tick, name) for tick in (1, 2, 3) for name in "abc"]

    on_any(main)


def test_a_long_tick_with_a_budget_lets_the_loop_work_and_stays_one_tick(on_loop):
    async def action(stage, number):
        stage.note(f"strand {number}")

    async def beside(stage):
        for _ in range(3):
            stage.note("the loop works")
            await anyio.sleep(0)

    async def main(stage):
        for number in range(600):
            stage.spawn(action, stage, number, name=str(number))
        async with anyio.create_task_group() as group:
            group.start_soon(beside, stage)
            await stage.host.run_tick(stage.kernel, 0.0)
            assert stage.kernel.tick == 1
            worked = [index for index, note in enumerate(stage.notes) if note == "the loop works"]
            assert worked
            assert worked[0] < 599
            strands = [note for note in stage.notes if note != "the loop works"]
            assert strands == [f"strand {number}" for number in range(600)]

    on_loop(main)


def test_a_foreign_result_during_a_paused_tick_belongs_to_that_tick(on_virtual_asyncio):
    async def foreign(stage):
        await asyncio.sleep(0)
        stage.note("woken in the tick")

    async def many(stage, number):
        if number == 0:
            stage.note("first")
        if number == 599:
            stage.note("last")

    async def main(stage):
        stage.spawn(foreign, stage)
        for number in range(600):
            stage.spawn(many, stage, number, name=str(number))
        stage.kernel.after_tick(lambda: stage.note("published"))
        await stage.host.run_tick(stage.kernel, 0.0)
        assert stage.notes == ["first", "last", "woken in the tick", "published"]

    on_virtual_asyncio(main)


def test_a_task_that_is_cancelled_in_a_paused_tick_makes_the_tick_whole_first(on_virtual_asyncio):
    async def many(stage, number):
        stage.count += 1

    async def main(stage):
        stage.count = 0
        for number in range(600):
            stage.spawn(many, stage, number, name=str(number))
        task = asyncio.create_task(stage.host.run_tick(stage.kernel, 0.0))
        await asyncio.sleep(0)
        assert 0 < stage.count < 600
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert stage.count == 600
        assert not stage.kernel.in_tick

    on_virtual_asyncio(main)


def test_a_foreign_result_wakes_its_strand_between_ticks(on_loop):
    async def action(stage):
        stage.note("asks")
        await anyio.sleep(stage.beat / 2)
        stage.note("hears")
        await next_tick()
        stage.note("acts")

    async def main(stage):
        stage.spawn(action, stage)
        await stage.host.run_tick(stage.kernel)
        await rest(stage.beat)
        if stage.is_exact:
            assert stage.log == [(1, "asks"), (1, "hears")]
        await stage.until(lambda: "acts" in stage.notes)

    on_loop(main)


def test_foreign_results_arrive_in_the_order_of_the_loops_clock(on_loop):
    async def action(stage, beats):
        await anyio.sleep(stage.beat * beats)
        stage.note(str(beats))

    async def main(stage):
        if not stage.is_exact:
            return
        for beats in (2.4, 0.2, 1.3):
            stage.spawn(action, stage, beats, name=str(beats))
        await stage.tick(4)
        assert stage.log == [(1, "0.2"), (2, "1.3"), (3, "2.4")]

    on_loop(main)


def test_what_a_foreign_result_makes_ready_is_stepped_at_once_too(on_loop):
    from agentrt.kernel.signals import Signal

    async def hears(stage, signal):
        stage.note(f"heard {await signal.wait()}")

    async def says(stage, signal):
        await anyio.sleep(0)
        signal.emit("news")

    async def main(stage):
        signal = Signal()
        stage.spawn(hears, stage, signal)
        stage.spawn(says, stage, signal)
        await stage.host.run_tick(stage.kernel)
        await rest(stage.beat)
        assert stage.log == [(1, "heard news")]

    on_loop(main)


def test_a_failure_between_ticks_is_raised_by_the_next_tick(on_loop):
    async def fails(wait):
        await wait()
        raise LookupError("nobody asked for this strand")

    async def goes_on(stage):
        await anyio.sleep(stage.beat / 2)
        stage.note("went on")

    async def main(stage):
        # Without an owner it is reported as a fault, which raises here.
        stage.kernel.spawn(fails(lambda: anyio.sleep(stage.beat / 4)))
        stage.spawn(goes_on, stage)
        await stage.host.run_tick(stage.kernel)
        await rest(5 * stage.beat)
        assert stage.notes == ["went on"]
        with pytest.raises(LookupError):
            await stage.host.run_tick(stage.kernel)
        await stage.host.run_tick(stage.kernel)
        assert stage.kernel.tick == 2

    on_loop(main)


def test_a_failure_within_a_tick_is_raised_by_it_and_the_next_one_goes_on(on_any):
    async def fails():
        raise LookupError

    async def main(stage):
        stage.kernel.spawn(fails())
        stage.spawn(three_ticks, stage, "goes on")
        with pytest.raises(LookupError):
            await stage.host.run_tick(stage.kernel)
        assert not stage.kernel.in_tick
        await stage.tick()
        assert stage.log == [(2, "goes on")]

    on_any(main)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_from_the_keyboard_in_a_strand_ends_the_tick_and_reaches_who_runs_it(on_any, kind):
    async def interrupted():
        await next_tick()
        raise kind

    async def main(stage):
        stage.spawn(interrupted)
        await stage.tick()
        with pytest.raises(kind):
            await stage.host.run_tick(stage.kernel)
        assert not stage.kernel.in_tick

    on_any(main)


def test_drained_waits_for_the_end_of_what_waits_for_the_loop(on_loop):
    async def closes_slowly(stage):
        try:
            await park()
        finally:
            with CancelScope(shield=True):
                await anyio.sleep(stage.beat)

    async def main(stage):
        host, kernel = stage.host, stage.kernel
        strands = [stage.spawn(closes_slowly, stage, name=name) for name in "ab"]
        await stage.tick()
        await drained(strands, stage.beat)
        assert [strand.state for strand in strands] == ["parked", "parked"]
        for strand in strands:
            strand.stop("shutdown")
        await host.run_tick(kernel)
        assert [strand.state for strand in strands] == ["foreign", "foreign"]
        await drained(strands, 20 * stage.beat)
        assert [strand.state for strand in strands] == ["done", "done"]
        assert kernel.tick == 2
        await drained(strands, 0)

    on_loop(main)


def test_a_strand_of_another_host_is_stepped_but_awaits_nothing_foreign(on_loop):
    """A runtime that chooses its host late may have strands already."""

    async def action():
        await next_tick()
        with pytest.raises(ForeignAwaitError):
            await Foreign()
        return "ended"

    async def main(stage):
        host = stage.kernel.host
        stage.kernel.host = Kernel().host
        strand = stage.spawn(action)
        stage.kernel.host = host
        assert await stage.end(strand) == "ended"

    on_loop(main)


class Foreign:
    def __await__(self):
        yield object()
