"""A runtime on each host, in virtual time: asyncio's and trio's clocks jump to the next timer, so nothing waits.

``play(main)`` runs a coroutine function on the host of the test. On the plain host there is no event loop; there the
coroutine has to come to its end without suspending, which is what a runtime at infinite speed does.

Every play checks that it leaves nothing: no strand, no task, no suspended coroutine.
"""

from __future__ import annotations

import asyncio
import gc
import random

import pytest
import trio
import trio.testing
from virtual_loop import VirtualLoop

from agentrt import Runtime

HOSTS = ("plain", "asyncio", "trio")


class InOrder(random.Random):
    """In place of trio's dice, by which it reverses or shuffles each batch of tasks."""

    def random(self):
        return 1.0

    def shuffle(self, batch):
        pass


def play_on(host, main):
    if host == "plain":
        coro = main()
        try:
            coro.send(None)
        except StopIteration as stop:
            return stop.value
        coro.close()
        pytest.fail("on the plain host the test awaited something real")
    if host == "trio":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trio._core._run, "_r", InOrder())
            return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))

    async def whole():
        result = await main()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left
        return result

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(whole())


class Player:
    """Runs coroutine functions on one host; makes runtimes for it."""

    def __init__(self, host):
        self.host = host
        self.runtimes = []

    def runtime(self, **options):
        options.setdefault("host", self.host)
        runtime = Runtime(**{"restart": None, **options})  # whoever drives it
        self.runtimes.append(runtime)
        return runtime

    def __call__(self, main):
        return play_on(self.host, main)

    def ticks(self, runtime, ticks):
        """Run so many ticks at once, and close the runtime."""

        async def main():
            await runtime.run(ticks, speed=float("inf"), blocking_ms=None)
            await runtime.aclose()

        self(main)

    def now(self):
        """The time on the event loop's clock."""
        return trio.current_time() if self.host == "trio" else asyncio.get_running_loop().time()

    async def sleep(self, seconds):
        if self.host == "trio":
            await trio.sleep(seconds)
        else:
            await asyncio.sleep(seconds)

    async def together(self, *functions):
        """Run coroutine functions at the same time; an error in one cancels the others and comes out as a group."""
        if self.host == "trio":
            async with trio.open_nursery() as nursery:
                for function in functions:
                    nursery.start_soon(function)
        else:
            async with asyncio.TaskGroup() as group:
                for function in functions:
                    group.create_task(function())

    async def cancel_after(self, seconds, function):
        """Run a coroutine function and cancel it after a time; returns whether it came to that."""
        if self.host == "trio":
            with trio.move_on_after(seconds) as scope:
                await function()
            return scope.cancelled_caught
        task = asyncio.get_running_loop().create_task(function())
        asyncio.get_running_loop().call_later(seconds, task.cancel)
        try:
            await task
        except asyncio.CancelledError:
            return True
        return False

    def check(self):
        for runtime in self.runtimes:
            assert runtime.agents == ()
            assert runtime.kernel.live == 0
            assert not runtime.kernel.strays.strands
            assert not runtime.kernel.ready
            assert not runtime.kernel.in_tick
            assert not runtime.calls.running
            assert not runtime.is_driven


def _player(request):
    gc.collect()
    gc.freeze()  # so that the collection at the end looks at this test's objects only, and is quick
    player = Player(request.param)
    yield player
    player.check()
    gc.collect()  # what is wrong with a forgotten coroutine is said now, and fails this test


play = pytest.fixture(params=HOSTS, name="play")(_player)
play_loop = pytest.fixture(params=("asyncio", "trio"), name="play_loop")(_player)


@pytest.fixture
def plain():
    player = Player("plain")
    yield player
    player.check()


@pytest.fixture
def asyncio_player():
    player = Player("asyncio")
    yield player
    player.check()
