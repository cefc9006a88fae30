"""The think cycle by hand, which is the limit, and in the task groups of others. See ``think_cycle``.

The limit makes five coroutines, sends to each, compares, runs the best, calls its stop. The others think in a
task group, one task for each candidate, and compare when it has ended. uvloop is no task group of its own: it runs
asyncio's on an event loop that is written in C, which is the fastest of the kind that is to be had.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from benchmarks.harness import Size, Work

__all__ = [
    "SCORES",
    "anyio_at_once",
    "anyio_on_events",
    "asyncio_at_once",
    "asyncio_on_events",
    "bare_at_once",
    "bare_on_events",
    "trio_at_once",
    "trio_on_events",
    "uvloop_at_once",
    "uvloop_on_events",
]

SCORES = (0.3, 0.5, 0.9, 0.1, 0.7)


class Candidate:
    """What every side but ours thinks with."""

    __slots__ = ("event", "output", "runs", "score", "stops", "utility")

    def __init__(self, score: float, event: Any = None) -> None:
        self.score = score
        self.event = event
        self.utility = 0.0
        self.output: float | None = None
        self.runs = 0
        self.stops = 0

    async def think(self) -> None:
        """Know at once."""
        self.utility = self.score
        self.output = self.score

    async def think_on_event(self) -> None:
        """Know after an event, of asyncio's kind or anyio's or trio's."""
        await self.event.wait()
        self.utility = self.score
        self.output = self.score

    async def run(self) -> None:
        """Be done at once."""
        self.runs += 1

    def stop(self) -> None:
        """Count."""
        self.stops += 1


def _best(candidates: list[Candidate]) -> Candidate:
    best = candidates[0]
    for candidate in candidates:
        if candidate.utility > best.utility:
            best = candidate
    return best


def _minds(size: Size, event: Callable[[], Any] | None = None) -> list[list[Candidate]]:
    return [[Candidate(score, event and event()) for score in SCORES] for _ in range(size.count)]


def _check(minds: list[list[Candidate]], size: Size) -> None:
    for mind in minds:
        assert [candidate.runs for candidate in mind] == [0, 0, size.rounds, 0, 0], "the wrong one was elected"


# --- the limit ----------------------------------------------------------------------------------------------


class BareSignal:
    """Bare coroutines that wait for the same thing."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: list[Any] = []

    @types.coroutine
    def wait(self) -> Generator[BareSignal, None, None]:
        """Suspend; whoever drives the coroutine puts it into ``waiting``."""
        yield self

    def emit(self) -> None:
        """Go on with all who wait."""
        waiting = self.waiting
        self.waiting = []
        for coro in waiting:
            try:
                coro.send(None).waiting.append(coro)
            except StopIteration:
                pass


def _run_best(mind: list[Candidate]) -> None:
    best = _best(mind)
    try:
        best.run().send(None)
    except StopIteration:
        pass
    best.stop()


@contextmanager
def bare_at_once(size: Size) -> Iterator[Work]:
    """Bare coroutines that know at once."""
    minds = _minds(size)

    def work() -> int:
        for _ in range(size.rounds):
            for mind in minds:
                for candidate in mind:
                    try:
                        candidate.think().send(None)
                    except StopIteration:
                        pass
                _run_best(mind)
        return size.count * size.rounds

    yield work
    _check(minds, size)


@contextmanager
def bare_on_events(size: Size) -> Iterator[Work]:
    """Bare coroutines that know after one event each."""
    minds = _minds(size, BareSignal)

    def work() -> int:
        for _ in range(size.rounds):
            for mind in minds:
                for candidate in mind:
                    coro = candidate.think_on_event()
                    try:
                        coro.send(None).waiting.append(coro)
                    except StopIteration:
                        pass
            for mind in minds:
                for candidate in mind:
                    candidate.event.emit()
                _run_best(mind)
        return size.count * size.rounds

    yield work
    _check(minds, size)


# --- the peers ----------------------------------------------------------------------------------------------

Cycle = Callable[[list[Candidate]], Awaitable[None]]


async def _cycles(minds: list[list[Candidate]], rounds: int, cycle: Cycle) -> None:
    for _ in range(rounds):
        for mind in minds:
            await cycle(mind)


async def _elect_and_run(mind: list[Candidate]) -> None:
    best = _best(mind)
    await best.run()
    best.stop()


LoopFactory = Callable[[], asyncio.AbstractEventLoop]


@contextmanager
def _on_asyncio(
    size: Size, minds: list[list[Candidate]], cycle: Cycle, loop_factory: LoopFactory | None = None
) -> Iterator[Work]:
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(asyncio.sleep(0))

        def work() -> int:
            runner.run(_cycles(minds, size.rounds, cycle))
            return size.count * size.rounds

        yield work
    _check(minds, size)


async def _cycle_at_once(mind: list[Candidate]) -> None:
    async with asyncio.TaskGroup() as group:
        for candidate in mind:
            group.create_task(candidate.think())
    await _elect_and_run(mind)


async def _cycle_on_events(mind: list[Candidate]) -> None:
    async with asyncio.TaskGroup() as group:
        for candidate in mind:
            candidate.event.clear()
            group.create_task(candidate.think_on_event())
        await asyncio.sleep(0)
        for candidate in mind:
            candidate.event.set()
    await _elect_and_run(mind)


def asyncio_at_once(size: Size) -> AbstractContextManager[Work]:
    """asyncio's task group."""
    return _on_asyncio(size, _minds(size), _cycle_at_once)


def asyncio_on_events(size: Size) -> AbstractContextManager[Work]:
    """asyncio's task group, an event for each task."""
    return _on_asyncio(size, _minds(size, asyncio.Event), _cycle_on_events)


def uvloop_at_once(size: Size) -> AbstractContextManager[Work]:
    """asyncio's task group, on uvloop."""
    import uvloop

    return _on_asyncio(size, _minds(size), _cycle_at_once, uvloop.new_event_loop)


def uvloop_on_events(size: Size) -> AbstractContextManager[Work]:
    """asyncio's task group, on uvloop, an event for each task."""
    import uvloop

    return _on_asyncio(size, _minds(size, asyncio.Event), _cycle_on_events, uvloop.new_event_loop)


@contextmanager
def anyio_at_once(size: Size) -> Iterator[Work]:
    """anyio's task group, on asyncio."""
    import anyio

    async def cycle(mind: list[Candidate]) -> None:
        async with anyio.create_task_group() as group:
            for candidate in mind:
                group.start_soon(candidate.think)
        await _elect_and_run(mind)

    with _on_asyncio(size, _minds(size), cycle) as work:
        yield work


@contextmanager
def anyio_on_events(size: Size) -> Iterator[Work]:
    """anyio's task group, on asyncio, an event for each task."""
    import anyio

    async def cycle(mind: list[Candidate]) -> None:
        async with anyio.create_task_group() as group:
            for candidate in mind:
                candidate.event = anyio.Event()  # it cannot be cleared
                group.start_soon(candidate.think_on_event)
            await asyncio.sleep(0)
            for candidate in mind:
                candidate.event.set()
        await _elect_and_run(mind)

    with _on_asyncio(size, _minds(size), cycle) as work:
        yield work


@contextmanager
def _on_trio(size: Size, minds: list[list[Candidate]], cycle: Cycle) -> Iterator[Work]:
    import trio

    def work() -> int:
        trio.run(_cycles, minds, size.rounds, cycle)
        return size.count * size.rounds

    yield work
    _check(minds, size)


@contextmanager
def trio_at_once(size: Size) -> Iterator[Work]:
    """trio's nursery."""
    import trio

    async def cycle(mind: list[Candidate]) -> None:
        async with trio.open_nursery() as nursery:
            for candidate in mind:
                nursery.start_soon(candidate.think)
        await _elect_and_run(mind)

    with _on_trio(size, _minds(size), cycle) as work:
        yield work


@contextmanager
def trio_on_events(size: Size) -> Iterator[Work]:
    """trio's nursery, an event for each task."""
    import trio

    async def cycle(mind: list[Candidate]) -> None:
        async with trio.open_nursery() as nursery:
            for candidate in mind:
                candidate.event = trio.Event()  # it cannot be cleared
                nursery.start_soon(candidate.think_on_event)
            await trio.lowlevel.checkpoint()
            for candidate in mind:
                candidate.event.set()
        await _elect_and_run(mind)

    with _on_trio(size, _minds(size), cycle) as work:
        yield work
