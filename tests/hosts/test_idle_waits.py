"""Waits that have nothing to wait for: a loop of them never keeps a tick, whatever it is made of and on whatever host."""

from __future__ import annotations

import asyncio

import pytest
import trio

from agentrt.body.leases import LeaseBook
from agentrt.errors import LivelockError
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.signals import Condition, Event, Queue
from agentrt.kernel.strand import CancelScope, current_strand, kill
from agentrt.kernel.traps import next_tick, sleep, sleep_ticks


async def ended(_stage):
    return "value"


async def failed(_stage):
    raise KeyError("failed")


class Waits:
    """What never has to wait, one by one."""

    def __init__(self, stage):
        self.stage = stage
        self.event, self.queue, self.roomy, self.condition = Event(), Queue(), Queue(limit=10**9), Condition()
        self.event.set()
        self.queue.put_nowait("item")
        self.kept = sleep_ticks(0)
        self.leases = LeaseBook()

    async def sleep(self):
        await sleep(0)

    async def sleep_less_than_nothing(self):
        await sleep(-1.5)

    async def sleep_ticks(self):
        await sleep_ticks(0)

    async def a_kept_wait(self):
        await self.kept

    async def set_event(self):
        await self.event.wait()

    async def true_condition(self):
        await self.condition.wait_for(lambda: True)

    async def get(self):
        self.queue.put_nowait(await self.queue.get())

    async def put(self):
        await self.roomy.put("item")
        self.roomy._items.clear()

    async def take(self):
        (await self.leases.take("well", "somebody")).release()

    async def take_again(self):
        await self.leases.take("cave", "somebody")

    async def join(self):
        await self.stage.strands[0].join()

    async def join_what_failed(self):
        try:
            await self.stage.strands[1].join()
        except KeyError:
            pass

    async def join_itself(self):
        try:
            await current_strand().join()
        except Exception:
            pass


KINDS = [name for name in vars(Waits) if not name.startswith("_")]


async def with_neighbors(stage, bad, ticks=3):
    """Run a bad strand between two good ones, and return it; each good one notes each tick."""

    async def good():
        while True:
            stage.note("good")
            await next_tick()

    stage.kernel.livelock_steps = 50  # twenty times as fast
    stage.spawn(ended, stage)
    stage.spawn(failed, stage)
    await stage.tick()
    stage.spawn(good, name="before")
    strand = stage.spawn(bad, name="bad")
    stage.spawn(good, name="after")
    await stage.tick(ticks)
    assert stage.log == [(tick, "good") for tick in range(2, 2 + ticks) for _ in range(2)]
    return strand


@pytest.mark.states(
    "tools: Hang: No loop of our own waits can hang a tick, on any host; it is ended alone, after a count that is the "
    "same in each run",
    source="design 12",
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_of_it_costs_the_neighbors_no_tick_and_is_ended_alone(on_any, kind):
    async def main(stage):
        waits = Waits(stage)

        async def bad():
            while True:
                await getattr(waits, kind)()

        strand = await with_neighbors(stage, bad)
        assert isinstance(strand.error, LivelockError)
        assert (strand.error.code, strand.error.steps, strand.error.tick) == ("ART302", 5_000, 2)
        assert strand.error.path.startswith(f"bad ({__file__}:")

    on_any(main)


@pytest.mark.states("tools: Hang: No loop of our own waits can hang a tick, on any host; it is ended alone, after ...")
@pytest.mark.parametrize("swallowed", [Exception, BaseException])
def test_it_is_ended_although_it_swallows_whatever_is_raised(on_any, swallowed):
    async def main(stage):
        async def bad():
            while True:
                try:
                    while True:
                        await sleep_ticks(0)
                except swallowed:
                    pass

        strand = await with_neighbors(stage, bad)
        assert isinstance(strand.error, LivelockError)

    on_any(main)


def test_it_is_ended_although_it_is_cancelled_and_does_not_care(on_any):
    async def main(stage):
        async def bad():
            await next_tick()
            while True:
                try:
                    await sleep_ticks(0)
                except BaseException:
                    pass

        strand = stage.spawn(bad)
        await stage.tick()
        strand.stop("enough")
        await stage.tick(2)
        assert strand.is_done

    on_any(main)


@pytest.mark.states(
    "tools: Hang: Whoever gives way lets the others do what it waits for; much that is innocent changes no order",
    source="design 12 (ours)",
)
def test_who_gives_way_lets_the_others_do_what_it_waits_for(on_any):
    """A loop that asks again and again for what somebody else will do in this tick gets it, and lives."""

    async def main(stage):
        done = []

        async def asks():
            rounds = 0
            while not done:
                await sleep_ticks(0)
                rounds += 1
            return rounds

        async def does():
            done.append(True)

        strand = stage.spawn(asks)
        stage.spawn(does)
        await stage.tick()
        assert strand.value == 2001  # a thousand that nobody counts in a tick, a thousand of its own, and the last

    on_any(main)


@pytest.mark.states("tools: Hang: Whoever gives way lets the others do what it waits for; much that is innocent ...")
def test_much_that_is_innocent_changes_no_order(on_any):
    async def main(stage):
        queue = Queue()

        async def loads(name):
            for number in range(50):
                await queue.put((name, number))

        for name in range(100):
            stage.spawn(loads, name)
        await stage.tick()
        assert list(queue._items) == [(name, number) for name in range(100) for number in range(50)]

    on_any(main)


def test_a_large_load_comes_to_its_end_in_one_tick(on_any):
    async def main(stage):
        queue = Queue()

        async def loads():
            for number in range(50_000):
                await queue.put(number)
            return stage.kernel.tick

        strand = stage.spawn(loads)
        await stage.tick()
        assert strand.value == 1
        assert list(queue._items) == list(range(50_000))

    on_any(main)


def test_nothing_is_lost_and_no_predicate_is_trusted_after_giving_way(on_any):
    """Who gives way looks again: meanwhile somebody else may have taken what it saw."""

    async def main(stage):
        queue, condition, seen = Queue(), Condition(), []
        here = [True]

        async def takes():
            for number in range(2500):
                if not len(queue):
                    queue.put_nowait(number)
                seen.append(await queue.get())
            return "done"

        async def asks():
            for _ in range(5000):
                assert await condition.wait_for(lambda: here[0])
                assert here[0]
            return "done"

        async def changes():
            for _ in range(20):
                here[0] = not here[0]
                condition.notify_all()
                await sleep_ticks(0)
            here[0] = True
            condition.notify_all()

        strands = [stage.spawn(takes), stage.spawn(asks), stage.spawn(changes)]
        await stage.tick(2)
        assert [strand.value for strand in strands[:2]] == ["done", "done"]
        assert seen == list(range(2500))

    on_any(main)


@pytest.mark.untraced
def test_a_thousand_of_them_end_in_the_same_tick_and_quickly():
    """Many agents have the same mistake: then two rounds are all that each gets."""
    kernel = Kernel()
    kernel.livelock_steps = 50
    faults = []
    kernel.on_fault = lambda text, error: faults.append(error.steps)

    async def bad():
        while True:
            await sleep_ticks(0)

    strands = [kernel.spawn(bad()) for _ in range(1200)]
    kernel.step_tick()
    assert all(strand.is_done for strand in strands)
    assert faults == [100] * 1200
    kernel.step_tick()
    assert kernel.live == 0


def test_a_scope_that_is_cancelled_is_found_out_when_it_gives_way(on_any):
    async def main(stage):
        async def loops():
            with CancelScope() as scope:
                stage.kernel.call_soon(scope.cancel)
                while True:
                    await sleep_ticks(0)
            return scope.cancelled_caught

        strand = stage.spawn(loops)
        await stage.tick(1)
        assert strand.value is True

    on_any(main)


def test_a_plain_function_that_drives_a_coroutine_by_hand_cannot_hang_the_tick(on_any):
    async def main(stage):
        faults = []
        stage.kernel.on_fault = lambda text, error: faults.append(type(error).__name__)

        async def endless():
            while True:
                await sleep_ticks(0)

        coro = endless()
        stage.kernel.call_soon(lambda: coro.send(None))
        await stage.tick()
        assert faults == ["LivelockError"]

    on_any(main)


@pytest.mark.parametrize("library", ["asyncio", "trio"])
def test_a_task_that_no_kernel_steps_lets_its_event_loop_go_on(library):
    event = Event()
    event.set()
    turns = []

    async def loops():
        while True:
            await event.wait()

    async def on_asyncio():
        task = asyncio.get_running_loop().create_task(loops())
        for _ in range(3):
            await asyncio.sleep(0)
            turns.append("turn")
        task.cancel()

    async def on_trio():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(loops)
            for _ in range(3):
                await trio.lowlevel.checkpoint()
                turns.append("turn")
            nursery.cancel_scope.cancel()

    asyncio.run(on_asyncio()) if library == "asyncio" else trio.run(on_trio)
    assert turns == ["turn"] * 3


def test_a_coroutine_that_refuses_to_end_is_kept_beyond_all_lists():
    """Else the interpreter would try to close it at its end, and never come to that."""
    import sys

    kernel = Kernel()
    kernel.on_fault = lambda text, error: None

    async def refuses():
        while True:
            try:
                await sleep_ticks(1)
            except BaseException:
                pass

    coro = refuses()
    strand = kernel.spawn(coro)
    kernel.step_tick()
    before = sys.getrefcount(coro)
    kill(strand, LivelockError(1))
    assert kernel.abandoned == [coro]
    kernel.abandoned.clear()
    assert sys.getrefcount(coro) >= before - 1  # the strand's reference is gone, and another one has come
