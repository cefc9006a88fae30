"""The traps: what each does, what it returns, what it refuses, and that nothing but they suspends."""

from __future__ import annotations

import math
import threading

import pytest

from agentrt.errors import NotRunningError
from agentrt.kernel.strand import current_strand
from agentrt.kernel.traps import Waiter, current_kernel, next_tick, park, sleep, sleep_ticks, suspend_on


def test_next_tick(lab):
    async def strand():
        for _ in range(3):
            assert await next_tick() is None
            lab.note("woke")

    lab.spawn(strand())
    lab.tick(5)
    assert lab.log == [(2, "woke"), (3, "woke"), (4, "woke")]


@pytest.mark.parametrize(("ticks", "wakes"), [(1, 2), (2, 3), (7, 8), (1000, 1001), (1001, 1002), (3.0, 4), (True, 2)])
def test_sleep_ticks(lab, ticks, wakes):
    async def strand():
        assert await sleep_ticks(ticks) is None
        lab.note("woke")

    lab.spawn(strand())
    lab.tick(1003)
    assert lab.log == [(wakes, "woke")]


@pytest.mark.parametrize(
    ("seconds", "wakes"), [(0.05, 2), (0.0500001, 3), (1e-12, 2), (1, 21), (0.15, 4), (0.3, 7), (0.1 + 0.2, 7)]
)
def test_sleep(lab, seconds, wakes):
    async def strand():
        assert await sleep(seconds) is None
        lab.note("woke")

    lab.spawn(strand())
    lab.tick(22)
    assert lab.log == [(wakes, "woke")]


def test_sleep_follows_the_rate_of_its_kernel(laboratory):
    lab = laboratory(ticks_per_second=60)

    async def strand():
        await sleep(0.5)
        lab.note("woke")

    lab.spawn(strand())
    lab.tick(31)
    assert lab.log == [(31, "woke")]


@pytest.mark.parametrize("nap", [lambda: sleep_ticks(0), lambda: sleep(0), lambda: sleep(-3), lambda: sleep(-math.inf)])
def test_sleeping_for_nothing_does_not_suspend(lab, nap):
    async def strand():
        await nap()
        lab.note("first")

    lab.spawn(strand())
    lab.kernel.call_soon(lab.note, "second")
    lab.tick()
    assert lab.log == [(1, "first"), (1, "second")]


@pytest.mark.parametrize("ticks", [-1, 0.5, 2.25, math.nan])
def test_sleep_ticks_takes_whole_numbers(ticks):
    with pytest.raises(ValueError, match="integer|must be whole|must not be negative"):
        sleep_ticks(ticks)


@pytest.mark.parametrize("seconds", [math.inf, math.nan, 1e308])
def test_sleep_takes_a_finite_duration(lab, seconds):
    async def strand():
        with pytest.raises(ValueError, match="never ends: use park"):
            await sleep(seconds)

    lab.spawn(strand())
    lab.tick()


def test_an_awaitable_of_a_trap_can_be_awaited_again(lab):
    async def strand():
        nap = sleep_ticks(2)
        await nap
        await nap
        lab.note("woke")

    lab.spawn(strand())
    lab.tick(6)
    assert lab.log == [(5, "woke")]


def test_park_ends_by_cancellation_only(lab):
    async def strand():
        try:
            await park()
        finally:
            lab.note("ended")

    parked = lab.spawn(strand())
    lab.tick(100)
    assert lab.log == []
    assert parked.state == "parked"
    parked.stop()
    lab.tick()
    assert lab.log == [(101, "ended")]


def test_suspend_on_returns_what_the_waiter_was_notified_with(lab):
    waiter = Waiter()

    async def strand():
        lab.note(await suspend_on(waiter))

    parked = lab.spawn(strand())
    assert not waiter.notify("too early")
    lab.tick()
    assert waiter.strand is parked
    assert not waiter.was_notified
    assert waiter.notify("now")
    assert waiter.was_notified
    assert not waiter.notify("too late")
    lab.tick()
    assert lab.log == [(2, "now")]


def test_a_waiter_notified_with_nothing_was_notified(lab):
    waiter = Waiter()

    async def strand():
        assert await suspend_on(waiter) is None

    lab.spawn(strand())
    lab.tick()
    waiter.notify()
    assert waiter.was_notified
    lab.tick()


def test_a_waiter_whose_strand_was_cancelled_cannot_be_notified(lab):
    waiter = Waiter()

    async def strand():
        await suspend_on(waiter)

    parked = lab.spawn(strand())
    lab.tick()
    parked.stop()
    assert not waiter.notify("gone")
    assert not waiter.was_notified
    lab.tick()
    assert parked.is_done


def test_current(lab):
    async def strand():
        assert current_kernel() is lab.kernel
        assert current_strand() is this
        await next_tick()
        assert current_strand() is this
        lab.note("checked")

    this = lab.spawn(strand())
    lab.tick(2)
    assert lab.log == [(2, "checked")]


def test_outside_a_kernel_there_is_no_current_one():
    with pytest.raises(NotRunningError, match=r"\[ART105\].*runtime.post\(fn, \*args\)"):
        current_kernel()
    with pytest.raises(NotRunningError):
        current_strand()
    with pytest.raises(NotRunningError):
        sleep(1)


def test_in_a_callback_there_is_a_kernel_but_no_strand(lab):
    def callback(where):
        assert current_kernel() is lab.kernel
        with pytest.raises(NotRunningError, match="not in a plain callback"):
            current_strand()
        lab.note(where)

    lab.kernel.post(callback, "intake")
    lab.kernel.every_tick(lambda: callback("driver"))
    lab.kernel.call_soon(callback, "call")
    lab.kernel.call_later(1, callback, "timer")
    lab.tick()
    assert lab.log == [(1, "intake"), (1, "driver"), (1, "call"), (1, "timer")]


def test_current_is_a_matter_of_the_thread(lab):
    seen = []

    def elsewhere():
        with pytest.raises(NotRunningError):
            current_kernel()
        seen.append("no kernel there")

    async def strand():
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()

    lab.spawn(strand())
    lab.tick()
    assert seen == ["no kernel there"]
