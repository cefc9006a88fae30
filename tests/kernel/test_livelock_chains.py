"""The livelock guard: chains of strands or calls, slices of a tick, and what is no livelock at all."""

from __future__ import annotations

from strands import GOOD_THREE_TICKS, good, wakes_itself, with_neighbors

from agentrt.errors import LivelockError
from agentrt.kernel.signals import Signal
from agentrt.kernel.traps import next_tick


def test_strands_that_spawn_their_like_and_end_are_put_off_to_the_next_tick(lab):
    async def link(number):
        links.append((lab.kernel.tick, number))
        if not stop:
            lab.spawn(link(number + 1), "link")

    links, stop = [], []
    lab.spawn(good(lab, "before"), "before")
    lab.spawn(link(0), "link")
    lab.spawn(good(lab, "after"), "after")
    lab.tick(2)
    assert lab.log == GOOD_THREE_TICKS[:4]
    assert [number for _, number in links] == list(range(len(links)))
    assert {tick for tick, _ in links} == {1, 2}
    text = "'link' was spawned or called again and again; it goes on in the next tick"
    assert lab.take_faults() == [(text, "LivelockError")] * 2
    stop.append(True)
    lab.tick()


def test_calls_that_call_again_are_put_off_to_the_next_tick(lab):
    def again():
        calls.append(lab.kernel.tick)
        if not stop:
            lab.kernel.call_soon(again)

    calls, stop = [], []
    lab.spawn(good(lab, "before"), "before")
    lab.kernel.call_soon(again)
    lab.spawn(good(lab, "after"), "after")
    lab.tick(3)
    assert lab.log == GOOD_THREE_TICKS
    assert set(calls) == {1, 2, 3}
    faults = lab.take_faults()
    assert len(faults) == 3
    assert "again' was spawned or called again and again" in faults[0][0]
    stop.append(True)
    lab.tick()


def test_many_strands_spawned_at_once_are_no_chain(lab):
    async def short():
        pass

    async def spawner():
        for _ in range(12_500):
            lab.kernel.spawn(short(), "short")

    lab.spawn(spawner())
    lab.tick()
    assert lab.faults == []
    assert lab.kernel.live == 0


def test_a_livelock_is_found_when_the_tick_is_drained_in_small_slices(lab):
    strand = with_neighbors(lab, wakes_itself(lab))
    kernel = lab.kernel
    kernel.begin_tick()
    slices = 0
    while not kernel.drain(lambda: True):
        slices += 1
        assert slices < 50_000
    kernel.end_tick()
    assert isinstance(strand.error, LivelockError)
    assert lab.take_faults() == [("the strand 'bad' raised", "LivelockError")]


def test_the_count_starts_again_in_each_tick(lab):
    signal = Signal()

    async def busy():
        while True:
            for _ in range(900):
                lab.kernel.call_soon(signal.emit)
                await signal.wait()
            await next_tick()

    strand = lab.spawn(busy())
    lab.tick(30)
    assert strand.state == "sleeping"
    assert lab.faults == []


def test_much_work_in_one_tick_is_no_livelock(lab):
    """Fifty strands of one name that take 390 steps each in one tick: long, but each of them comes to an end."""
    lab.kernel.livelock_steps = 400
    signal = Signal()

    async def worker():
        for _ in range(390):
            await signal.wait()

    async def conductor():
        for _ in range(390):
            lab.kernel.call_soon(signal.emit)
            await turn(lab)

    for _ in range(50):
        lab.spawn(worker())
    lab.spawn(conductor())
    lab.tick()
    assert lab.faults == []
    assert lab.kernel.live == 0


async def turn(lab):
    """Let everybody else who is ready go first, in the same tick."""
    signal = Signal()
    lab.kernel.call_soon(lab.kernel.call_soon, signal.emit)
    await signal.wait()
