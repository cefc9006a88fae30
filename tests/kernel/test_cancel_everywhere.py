"""The pairing claim: a strand that is cancelled at any of its awaits leaves every block that it entered exactly once.

Each scenario is first run to its end, and its suspensions are counted. Then it is run again for each suspension, and is
stopped there in one of four ways. Whatever the moment: every block that was entered is left once, the innermost first;
nobody else's order changes; and what the strand waited for works for whoever comes next.
"""

from __future__ import annotations

import types
from contextlib import contextmanager

import pytest

from agentrt.kernel.signals import Condition, Event, Queue, Signal
from agentrt.kernel.strand import Cancelled, CancelScope, current_strand, fail_after, move_on_after
from agentrt.kernel.traps import next_tick, park, sleep, sleep_ticks


class Tap:
    """Stands between a coroutine and the kernel, and is told of every suspension."""

    def __init__(self, coro, on_suspend):
        self.coro = coro
        self.on_suspend = on_suspend

    def __iter__(self):
        return self

    def __next__(self):
        return self._passed(self.coro.send(None))

    def send(self, value):
        return self._passed(self.coro.send(value))

    def throw(self, *error):
        return self._passed(self.coro.throw(*error))

    def close(self):
        self.coro.close()

    def _passed(self, command):
        self.on_suspend()
        return command


@types.coroutine
def tapped(coro, on_suspend):
    return (yield from Tap(coro, on_suspend))


class World:
    """What the scenarios share: one of each primitive, helpers that keep them going, and a record of the blocks."""

    def __init__(self, lab):
        self.lab = lab
        self.signal, self.event, self.condition = Signal(), Event(), Condition()
        self.queue, self.full = Queue(), Queue(limit=1)
        self.full.put_nowait("full")
        self.open, self.entered, self.left = [], 0, 0
        self.child = lab.spawn(self._child(), "child")

    async def _child(self):
        await sleep_ticks(2)
        return "child"

    @contextmanager
    def block(self, name):
        """A block with a ``finally``; they must be left in the reverse order."""
        self.open.append(name)
        self.entered += 1
        try:
            yield
        finally:
            assert self.open.pop() == name
            self.left += 1

    async def stage_hand(self):
        """Gives each primitive what somebody may wait for, tick after tick."""
        while True:
            await next_tick()
            self.signal.emit("signal")
            self.event.set()
            self.condition.notify_all()
            self.queue.put_nowait("item")
            if len(self.full):
                await self.full.get()


async def naps(world):
    with world.block("outer"):
        await next_tick()
        with world.block("inner"):
            await sleep(0.1)
        await sleep_ticks(1)


async def waits(world):
    with world.block("signal"):
        assert await world.signal.wait() == "signal"
        with world.block("event"):
            await world.event.wait()
        world.event.clear()
        with world.block("event again"):
            await world.event.wait()
    with world.block("condition"):
        start = world.lab.kernel.tick
        await world.condition.wait_for(lambda: world.lab.kernel.tick > start + 1)


async def queues(world):
    with world.block("get"):
        assert await world.queue.get() == "item"
        with world.block("put"):
            for number in range(3):
                await world.full.put(number)


async def joins(world):
    with world.block("join"):
        assert await world.child.join() == "child"


async def scopes(world):
    with world.block("outer"):
        with move_on_after(0.1) as scope, world.block("deadline"):
            await park()
        if scope.cancelled_caught:
            with CancelScope() as inner, world.block("own"):
                inner.cancel()
                with world.block("innermost"):
                    await next_tick()
        with pytest.raises(TimeoutError), fail_after(0.1), world.block("fail"):
            await park()


async def shields(world):
    with world.block("outer"):
        try:
            await sleep_ticks(2)
        finally:
            with world.block("tidy up"), CancelScope(shield=True):
                await next_tick()
                with world.block("deeper"):
                    await world.signal.wait()
                await next_tick()


async def nested_coroutines(world):
    async def deep(level):
        with world.block(level):
            await next_tick()
            if level:
                await deep(level - 1)
            await next_tick()

    await deep(4)


async def generators(world):
    async def numbers():
        with world.block("generator"):
            for number in range(3):
                await next_tick()
                yield number

    with world.block("consumer"):
        source = numbers()
        try:
            async for _ in source:
                await next_tick()
        finally:
            await source.aclose()


async def swallows(world):
    for _ in range(2):
        with world.block("patient"):
            try:
                await sleep_ticks(2)
            except Cancelled:
                with world.block("handler"), CancelScope(shield=True):
                    await next_tick()


SCENARIOS = [naps, waits, queues, joins, scopes, shields, nested_coroutines, generators, swallows]


def stop_at_once(lab, strand):
    """While it still runs, on its way into the suspension."""
    strand.stop("at once")


def stop_soon(lab, strand):
    """In the same tick, when the queue comes to it."""
    lab.kernel.call_soon(strand.stop, "soon")


def stop_at_intake(lab, strand):
    """At the next intake: a sleeper of one tick is due then."""
    lab.kernel.post(strand.stop, "intake")


def stop_last(lab, strand):
    """In the next tick, behind whoever is woken in it."""
    lab.kernel.call_later(1, lab.kernel.call_soon, strand.stop, "last")


async def bystander(lab, number):
    for _ in range(12):
        lab.note(number)
        await sleep_ticks(1 + number % 2)


def perform(laboratory, scenario, stop=None, at=None):
    """Run a scenario, perhaps with a stop at its suspension ``at``.

    Returns:
        How often it suspended, and the notes of the bystanders.
    """
    lab = laboratory()
    world = World(lab)
    suspensions = 0

    def suspended():
        nonlocal suspensions
        suspensions += 1
        if suspensions == at:
            stop(lab, current_strand())

    lab.spawn(bystander(lab, 1))
    strand = lab.spawn(tapped(scenario(world), suspended), scenario.__name__)
    lab.spawn(bystander(lab, 2))
    lab.spawn(world.stage_hand(), "stage hand")
    lab.tick(26)
    assert strand.is_done, strand
    assert lab.faults == []
    assert (world.open, world.entered) == ([], world.left)
    if stop is None:
        assert strand.error is None, strand
    if stop is not None and strand.stop_reason is not None and scenario is not swallows:
        assert isinstance(strand.error, Cancelled | None)
    still_works(lab, world)
    lab.close()
    return suspensions, [entry for entry in lab.log if entry[1] in (1, 2)]


def still_works(lab, world):
    """Whoever comes next finds each primitive in order."""

    async def next_one():
        await world.signal.wait()
        await world.event.wait()
        await world.queue.get()
        await world.full.put("more")
        await world.child.join()
        lab.note("next one")

    lab.spawn(next_one())
    lab.tick(6)
    assert lab.log[-1][1] == "next one"
    assert lab.kernel.agenda.stale <= 2


@pytest.mark.parametrize("stop", [stop_at_once, stop_soon, stop_at_intake, stop_last])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_block_is_left_exactly_once(laboratory, scenario, stop):
    suspensions, undisturbed = perform(laboratory, scenario)
    assert suspensions >= 1
    for at in range(1, suspensions + 1):
        _, notes = perform(laboratory, scenario, stop, at)
        assert notes == undisturbed


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_stopped_before_the_first_step_no_block_is_entered(laboratory, scenario):
    lab = laboratory()
    world = World(lab)
    strand = lab.spawn(scenario(world))
    strand.stop()
    lab.tick()
    assert isinstance(strand.error, Cancelled)
    assert world.entered == 0
    lab.close()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_stopped_twice_at_every_await(laboratory, scenario):
    """A second stop, and one behind a shield, change nothing about the pairing."""
    suspensions, _ = perform(laboratory, scenario)

    def twice(lab, strand):
        stop_at_once(lab, strand)
        stop_soon(lab, strand)
        stop_at_intake(lab, strand)

    for at in range(1, suspensions + 1):
        perform(laboratory, scenario, twice, at)
