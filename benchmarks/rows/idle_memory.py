"""The memory of one idle agent.

An agent with eight known actions, all of which think and none of which is ready: each awaits a signal of the
agent's entity. One unit is one agent with all it holds, its entity and the entity's signal too. Memory is
what ``tracemalloc`` sees between before and after, divided by the number of agents.

The limit is such an agent by hand (``by_hand``): a signal and eight bare coroutines that wait for it. What is idle
with the peers does much less: one coroutine on a tick wheel, one process of simpy on a timeout, one task in a task
group of anyio on an event. They show what a sleeper costs at least.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from agentrt import Action, Agent, Runtime, Signal
from benchmarks import wheel
from benchmarks.harness import Peer, Row, Side, Size, Work
from benchmarks.rows.by_hand import BareAgent

__all__ = ["EIGHT", "IDLE_MEMORY", "Idler"]


class Idler:
    """The entity of an agent that waits to be stirred."""

    __slots__ = ("is_in_danger", "runs", "stirred")

    def __init__(self) -> None:
        self.stirred = Signal()
        self.is_in_danger = False
        self.runs = 0


class Waiting(Action):
    """One of the eight."""

    utility = (0.0, 1.0)

    async def think(self, ctx: Any, args: Any) -> None:
        await ctx.entity.stirred.wait()
        ctx.set_think_output()


EIGHT: list[type[Action]] = [type(f"Waiting{number}", (Waiting,), {"does": "agentrt:top"}) for number in range(8)]


@contextmanager
def ours(size: Size) -> Iterator[Work]:
    """Idle agents under one runtime."""
    runtime = Runtime(host="plain")
    runtime.add(Agent(Idler(), actions=EIGHT))  # what all agents share is made with the first of them
    runtime.step()

    def work() -> int:
        for _ in range(size.count):
            runtime.add(Agent(Idler(), actions=EIGHT))
        runtime.step()
        return size.count

    yield work
    runtime.close()


@contextmanager
def by_hand(size: Size) -> Iterator[Work]:
    """The same by hand."""
    ticks = wheel.Wheel()
    idle: list[BareAgent] = []

    def work() -> int:
        idle.extend(BareAgent(ticks) for _ in range(size.count))
        return size.count

    yield work
    for agent in idle:
        agent.close()


@contextmanager
def bare_wheel(size: Size) -> Iterator[Work]:
    """Coroutines asleep on a tick wheel."""

    async def sleeper() -> None:
        while True:
            await wheel.next_tick()

    ticks = wheel.Wheel()

    def work() -> int:
        for _ in range(size.count):
            ticks.add(sleeper())
        ticks.step()
        return size.count

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

    def work() -> int:
        for _ in range(size.count):
            env.process(sleeper())
        env.run(until=0.5)
        return size.count

    yield work


@contextmanager
def anyio_tasks(size: Size) -> Iterator[Work]:
    """anyio's tasks, on asyncio, on an event each."""
    import anyio

    async def sleeper() -> None:
        await anyio.Event().wait()

    async def hold() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(size.count):
                group.start_soon(sleeper)

    async def start() -> asyncio.Task[None]:
        holder = asyncio.create_task(hold())
        for _ in range(3):
            await asyncio.sleep(0)
        return holder

    async def end(holder: asyncio.Task[None]) -> None:
        holder.cancel()
        await asyncio.wait([holder])

    with asyncio.Runner() as runner:
        runner.run(asyncio.sleep(0))
        holders: list[asyncio.Task[None]] = []

        def work() -> int:
            holders.append(runner.run(start()))
            return size.count

        yield work
        for holder in holders:
            runner.run(end(holder))


IDLE_MEMORY = Row(
    name="idle_memory",
    what="memory of one idle agent with 8 known actions thinking",
    gauge="bytes",
    ours=Side("agentrt", ours),
    limit=Side("agents by hand", by_hand),
    at_most_times=1.17,
    peers=(
        Peer(Side("bare coroutine", bare_wheel)),
        Peer(Side("simpy process", simpy_processes)),
        Peer(Side("anyio task", anyio_tasks)),
    ),
    size=Size(2000),
    quick=Size(20),
    most_repeats=3,
)
