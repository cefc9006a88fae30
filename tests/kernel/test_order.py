"""The total order: (tick, phase, arrival), written out as literal logs."""

from __future__ import annotations

import pytest

from agentrt.errors import NotRunningError, WrongStateError
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.signals import Signal
from agentrt.kernel.strand import current_strand
from agentrt.kernel.traps import current_kernel, next_tick, park, sleep_ticks


def test_five_phases_in_order(lab):
    async def sleeper():
        await sleep_ticks(2)
        lab.note("strand that slept")
        lab.kernel.call_soon(lab.note, "called soon")
        lab.kernel.spawn(child())
        await next_tick()

    async def child():
        lab.note("strand spawned in the strands phase")

    lab.spawn(sleeper())
    lab.kernel.every_tick(lambda: lab.note("driver 1"))
    lab.kernel.every_tick(lambda: lab.note("driver 2"))
    lab.kernel.after_tick(lambda: lab.note("publish 1"))
    lab.kernel.after_tick(lambda: lab.note("publish 2"))
    lab.kernel.call_later(3, lab.note, "timer")
    lab.tick(2)
    lab.take_log()
    lab.kernel.post(lab.note, "intake 1")
    lab.kernel.post(lab.note, "intake 2")
    lab.tick()
    assert lab.take_log() == [
        (3, "intake 1"),
        (3, "intake 2"),
        (3, "driver 1"),
        (3, "driver 2"),
        (3, "timer"),
        (3, "strand that slept"),
        (3, "called soon"),
        (3, "strand spawned in the strands phase"),
        (3, "publish 1"),
        (3, "publish 2"),
    ]


def test_who_arrived_in_an_earlier_phase_is_stepped_first(lab):
    signal = Signal()

    async def waits(name):
        await signal.wait()
        lab.note(name)

    async def sleeps():
        await next_tick()
        lab.note("time")

    async def fresh(name):
        lab.note(name)

    lab.spawn(sleeps())
    lab.spawn(waits("intake"))
    close = lab.kernel.every_tick(lambda: None)
    lab.tick()
    close()
    lab.kernel.every_tick(lambda: lab.spawn(fresh("driver")))
    lab.kernel.post(signal.emit)
    lab.spawn(fresh("between ticks"))
    lab.tick()
    assert lab.take_log() == [(2, "between ticks"), (2, "intake"), (2, "time"), (2, "driver")]


def test_strands_of_one_tick_go_in_order_of_falling_asleep(lab):
    async def sleeper(name, *naps):
        for ticks in naps:
            await sleep_ticks(ticks)
            lab.note(name)

    lab.spawn(sleeper("a", 3, 1))
    lab.spawn(sleeper("b", 1, 2, 1))
    lab.spawn(sleeper("c", 2, 1, 1))
    lab.tick(6)
    # Tick 4: a fell asleep in tick 1, b in tick 2, c in tick 3.
    assert lab.log == [
        (2, "b"),
        (3, "c"),
        (4, "a"),
        (4, "b"),
        (4, "c"),
        (5, "a"),
        (5, "b"),
        (5, "c"),
    ]


def test_spawned_strands_take_their_first_step_when_the_queue_comes_to_them(lab):
    async def parent(name):
        lab.note(name, "begins")
        lab.spawn(child(name + "1"))
        lab.spawn(child(name + "2"))
        lab.note(name, "ends")

    async def child(name):
        lab.note(name)

    lab.spawn(parent("a"))
    lab.spawn(parent("b"))
    assert lab.log == []
    lab.tick()
    assert lab.log == [
        (1, "a", "begins"),
        (1, "a", "ends"),
        (1, "b", "begins"),
        (1, "b", "ends"),
        (1, "a1"),
        (1, "a2"),
        (1, "b1"),
        (1, "b2"),
    ]


def test_waking_does_not_step_on_the_wakers_stack(lab):
    first, second = Signal(), Signal()

    async def relay(name, source, target):
        value = await source.wait()
        lab.note(name, "woke", value)
        target.emit(value + 1)
        lab.note(name, "emitted")

    async def last():
        lab.note("last", await second.wait())

    lab.spawn(relay("relay", first, second))
    lab.spawn(last())
    lab.tick()
    lab.kernel.post(first.emit, 1)
    lab.tick()
    assert lab.log == [(2, "relay", "woke", 1), (2, "relay", "emitted"), (2, "last", 2)]


def test_a_long_chain_of_wakes_needs_no_stack(lab):
    signals = [Signal() for _ in range(2000)]

    async def link(index):
        await signals[index].wait()
        if index + 1 < len(signals):
            signals[index + 1].emit()
        else:
            lab.note("end of the chain")

    for index in range(len(signals)):
        lab.spawn(link(index))
    lab.tick()
    lab.kernel.post(signals[0].emit)
    lab.tick()
    assert lab.log == [(2, "end of the chain")]


def test_posts_made_in_the_intake_wait_for_the_next_one(lab):
    def again(left):
        lab.note("intake", left)
        if left:
            lab.kernel.post(again, left - 1)

    lab.kernel.post(again, 2)
    lab.tick(4)
    assert lab.log == [(1, "intake", 2), (2, "intake", 1), (3, "intake", 0)]


def test_posts_made_by_strands_and_publishers_enter_at_the_next_intake(lab):
    async def poster():
        lab.kernel.post(lab.note, "from a strand")

    close = lab.kernel.after_tick(lambda: lab.kernel.post(lab.note, "from a publisher"))
    lab.spawn(poster())
    lab.tick()
    close()
    lab.tick(2)
    assert lab.log == [(2, "from a strand"), (2, "from a publisher")]


def test_calls_soon_go_in_order_with_strands(lab):
    async def strand(name):
        lab.note(name)

    lab.kernel.call_soon(lab.note, 1)
    lab.spawn(strand(2))
    lab.kernel.call_soon(lambda: lab.kernel.call_soon(lab.note, 4))
    lab.kernel.call_later(0, lab.note, 3)
    lab.tick()
    assert lab.log == [(1, 1), (1, 2), (1, 3), (1, 4)]


def test_timers_and_sleepers_of_one_tick_share_one_line(lab):
    async def sleeper(name, ticks):
        await sleep_ticks(ticks)
        lab.note(name)

    async def scheduler():
        lab.kernel.call_later(2, lab.note, "timer 1")
        lab.spawn(sleeper("strand", 2))
        await next_tick()
        lab.kernel.call_later(1, lab.note, "timer 2")

    lab.spawn(scheduler())
    lab.tick(3)
    assert lab.log == [(3, "timer 1"), (3, "strand"), (3, "timer 2")]


@pytest.mark.parametrize("ticks", [0, -1])
def test_a_timer_for_now_is_called_in_this_tick(lab, ticks):
    async def scheduler():
        lab.kernel.call_later(ticks, lab.note, "now")

    lab.spawn(scheduler())
    lab.tick()
    assert lab.log == [(1, "now")]


def test_cancelled_timers_are_not_called(lab):
    kernel = lab.kernel
    sooner = kernel.call_later(1, lab.note, "sooner")
    later = kernel.call_later(2, lab.note, "later")
    now = kernel.call_later(0, lab.note, "now")
    kernel.call_later(1, lab.note, "kept")
    # In the tick in which it is due, but ahead of it in the queue.
    same_tick = kernel.call_later(3, lab.note, "same tick")
    same_intake = kernel.call_later(3, lab.note, "same intake")
    for timer in (sooner, later, now, sooner):
        timer.cancel()
    lab.tick(2)
    kernel.post(same_intake.cancel)
    kernel.call_soon(same_tick.cancel)
    lab.tick(2)
    assert lab.log == [(1, "kept")]
    sooner.cancel()
    assert kernel.agenda.stale == 0


def test_a_timer_cancelled_after_its_call_does_nothing(lab):
    timer = lab.kernel.call_later(1, lab.note, "called")
    lab.tick()
    timer.cancel()
    lab.tick()
    assert lab.log == [(1, "called")]
    assert lab.kernel.agenda.stale == 0


def test_drivers_go_in_the_order_of_registration_and_closing_is_final(lab):
    kernel = lab.kernel

    def driver():
        lab.note("twice")

    closers = {}
    closers["first"] = kernel.every_tick(driver)
    closers["middle"] = kernel.every_tick(lambda: lab.note("middle"))
    closers["second"] = kernel.every_tick(driver)
    lab.tick()
    closers["second"]()
    closers["second"]()
    lab.tick()
    closers["first"]()
    lab.tick()
    assert lab.log == [
        (1, "twice"),
        (1, "middle"),
        (1, "twice"),
        (2, "twice"),
        (2, "middle"),
        (3, "middle"),
    ]


def test_a_driver_closed_by_one_before_it_is_not_called_and_one_added_waits_for_the_next_tick(lab):
    kernel = lab.kernel

    def first():
        lab.note("first")
        close_second()
        close_first()
        kernel.every_tick(lambda: lab.note("third"))

    close_first = kernel.every_tick(first)
    close_second = kernel.every_tick(lambda: lab.note("second"))
    lab.tick(2)
    assert lab.log == [(1, "first"), (2, "third")]


def test_publish_comes_when_nothing_is_runnable(lab):
    signal = Signal()

    async def chatter(left):
        while left:
            lab.kernel.call_soon(signal.emit)
            await signal.wait()
            left -= 1
        lab.note("quiet")

    lab.kernel.after_tick(lambda: lab.note("publish", len(lab.kernel.ready)))
    lab.spawn(chatter(20))
    lab.tick()
    assert lab.log == [(1, "quiet"), (1, "publish", 0)]


def test_drain_in_slices_gives_the_same_order(laboratory):
    def run(slices):
        lab = laboratory()
        signal = Signal()

        async def strand(name):
            for _ in range(3):
                lab.note(name)
                await signal.wait()

        for index in range(1000):
            lab.spawn(strand(index))
        lab.kernel.call_later(1, lambda: [lab.kernel.call_soon(signal.emit) for _ in range(2)])
        kernel = lab.kernel
        kernel.begin_tick()
        if slices:
            rounds = 0
            while not kernel.drain(lambda: True):
                rounds += 1
            assert rounds > 3
        else:
            assert kernel.drain()
        kernel.end_tick()
        lab.close()
        return lab.log

    assert run(slices=True) == run(slices=False)


def test_a_tick_cannot_be_run_from_inside_a_tick(lab):
    kernel = lab.kernel

    async def strand():
        with pytest.raises(WrongStateError, match=r"\[ART104\] Kernel.step_tick cannot be called while a tick runs"):
            kernel.step_tick()
        lab.note("strand")

    def driver():
        with pytest.raises(WrongStateError):
            kernel.step_tick()
        lab.note("driver")

    kernel.every_tick(driver)
    kernel.post(driver)
    lab.spawn(strand())
    lab.tick()
    assert lab.log == [(1, "driver"), (1, "driver"), (1, "strand")]


def test_a_kernel_inside_a_kernel(lab, laboratory):
    inner = laboratory()

    async def inside():
        inner.note(current_strand().name, current_kernel() is inner.kernel)
        await next_tick()
        inner.note("again")

    async def outside():
        inner.spawn(inside(), "inside")
        inner.tick(2)
        lab.note(current_strand().name, current_kernel() is lab.kernel)
        await next_tick()
        lab.note(current_strand().name)

    lab.spawn(outside(), "outside")
    lab.tick(2)
    assert inner.log == [(1, "inside", True), (2, "again")]
    assert lab.log == [(1, "outside", True), (2, "outside")]
    with pytest.raises(NotRunningError):
        current_kernel()
    inner.close()


def test_the_first_tick_is_one():
    kernel = Kernel()
    assert kernel.tick == 0
    kernel.step_tick()
    assert kernel.tick == 1
    assert kernel.clock.now == 0.05


def test_repr_of_a_kernel(lab):
    lab.spawn(park())
    lab.spawn(park())
    assert repr(lab.kernel) == "<Kernel: tick 0, 2 strands, 2 ready, plain host>"
    lab.tick()
    assert repr(lab.kernel) == "<Kernel: tick 1, 2 strands, 0 ready, plain host>"
