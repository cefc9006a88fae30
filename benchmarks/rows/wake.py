"""Wake one sleeping strand.

Many strands, each ``while True: await next_tick()``; one unit is one wake. The limit sends to bare coroutines
from a tick wheel. simpy's processes wait for a timeout of one time unit; asyncio's tasks wait for a future
each, and all the futures of a tick are resolved before the loop is given one turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from agentrt.kernel.kernel import Kernel
from agentrt.kernel.traps import next_tick
from benchmarks import wheel
from benchmarks.harness import Peer, Row, Side, Size, Work

__all__ = ["BARE_WHEEL", "WAKE"]


@contextmanager
def ours(size: Size) -> Iterator[Work]:
    """Strands on the kernel."""

    async def sleeper() -> None:
        while True:
            await next_tick()

    kernel = Kernel()
    strands = [kernel.spawn(sleeper()) for _ in range(size.count)]
    kernel.step_tick()

    def work() -> int:
        for _ in range(size.rounds):
            kernel.step_tick()
        return size.count * size.rounds

    yield work
    for strand in strands:
        strand.stop("measured")
    kernel.step_tick()


@contextmanager
def bare_wheel(size: Size) -> Iterator[Work]:
    """Bare coroutines on a tick wheel."""

    async def sleeper() -> None:
        while True:
            await wheel.next_tick()

    ticks = wheel.Wheel()
    for _ in range(size.count):
        ticks.add(sleeper())
    ticks.step()

    def work() -> int:
        for _ in range(size.rounds):
            ticks.step()
        return size.count * size.rounds

    yield work
    ticks.close()


@contextmanager
def simpy_processes(size: Size) -> Iterator[Work]:
    """simpy's processes on timeouts."""
    import simpy

    env = simpy.Environment()

    def sleeper() -> Generator[Any, Any, None]:
        while True:
            yield env.timeout(1)

    for _ in range(size.count):
        env.process(sleeper())
    env.run(until=0.5)

    def work() -> int:
        env.run(until=env.now + size.rounds)
        return size.count * size.rounds

    yield work


@contextmanager
def asyncio_tasks(size: Size) -> Iterator[Work]:
    """asyncio's tasks on futures."""
    waiting: list[asyncio.Future[None]] = []

    async def sleeper() -> None:
        loop = asyncio.get_running_loop()
        while True:
            future = loop.create_future()
            waiting.append(future)
            await future

    async def start() -> list[asyncio.Task[None]]:
        tasks = [asyncio.create_task(sleeper()) for _ in range(size.count)]
        await asyncio.sleep(0)
        return tasks

    async def drive() -> None:
        for _ in range(size.rounds):
            due = waiting.copy()
            waiting.clear()
            for future in due:
                future.set_result(None)
            await asyncio.sleep(0)

    with asyncio.Runner() as runner:
        tasks = runner.run(start())

        def work() -> int:
            runner.run(drive())
            return size.count * size.rounds

        yield work
        assert len(waiting) == len(tasks)


BARE_WHEEL = Side("tick wheel", bare_wheel)

WAKE = Row(
    name="wake",
    what="wake one sleeping strand, 10,000 of them awake in every tick",
    gauge="seconds",
    ours=Side("agentrt", ours),
    limit=BARE_WHEEL,
    at_most_times=1.3,
    peers=(
        Peer(Side("simpy", simpy_processes), at_least=5),
        Peer(Side("asyncio tasks", asyncio_tasks), at_least=6),
    ),
    size=Size(10_000, 10),
    quick=Size(200, 5),
)
