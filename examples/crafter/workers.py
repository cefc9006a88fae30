"""Many episodes at the same time: processes of our own, each of which plays one seed after the other.

Rules:

* A process is started afresh (``spawn``), so nothing of the parent decides what an episode becomes. It is given a seed,
  tells now and then how far it is, and answers with a result. What comes back first is heard first; whoever listens
  must not depend on the order.
* One that dies (out of memory, killed) costs its own seed alone: the listener is told so, and another one is hired.
* Ctrl-C is the affair of the parent. The children never see it, and are ended when ``run`` is left in whatever way; if
  the parent itself is killed, they find their pipe closed and go.

With one job nothing is started: the episodes are played here, so that a profiler or a debugger sees them.

Rejected: ``concurrent.futures`` (one process that dies breaks the whole pool, and a running episode cannot be ended),
``multiprocessing.Pool`` (it waits forever for what a dead process was to return).
"""

from __future__ import annotations

import contextlib
import signal
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Final, Generic, TypeVar

__all__ = ["News", "run"]

Result = TypeVar("Result")
Tell = Callable[[float], None]

_SPAWN: Final = get_context("spawn")
_GONE: Final = (EOFError, OSError)  # what a pipe raises when nobody is at its other end


@dataclass(frozen=True, slots=True)
class News(Generic[Result]):
    """What is heard of one seed.

    Attributes:
        seed: which.
        share: how much of it is done, from 0 to 1.
        result: what became of it; None until it is done, and if it is lost.
        lost: why there will be no result; empty if there is or will be one.
    """

    seed: int
    share: float
    result: Result | None = None
    lost: str = ""


@dataclass(frozen=True, slots=True)
class _Worker:
    process: SpawnProcess
    pipe: Connection
    seeds: list[int]

    def give(self, seed: int) -> None:
        self.seeds.append(seed)
        with contextlib.suppress(*_GONE):  # if it is dead, that is noticed where its answer is read
            self.pipe.send(seed)

    def listen(self) -> News[Any]:
        try:
            news: News[Any] = self.pipe.recv()
        except _GONE:
            self.process.join()
            news = News(self.seeds[-1], 1.0, lost=f"its process ended with exit code {self.process.exitcode}")
        return news

    def leave(self) -> None:
        self.pipe.close()
        self.process.join()


def run(
    task: Callable[[int, Tell], Result], seeds: Sequence[int], jobs: int, hear: Callable[[News[Result]], None]
) -> None:
    """Do something for each seed.

    Args:
        task: what; given the seed, and what it may call with the share that is done. For more than one job it must be
            something that can be pickled.
        seeds: for which.
        jobs: how many at the same time.
        hear: called with all news, here.
    """
    if jobs == 1:
        for seed in seeds:
            hear(News(seed, 1.0, task(seed, _teller(seed, hear))))
        return
    waiting = deque(seeds)
    crew: dict[Any, _Worker] = {}
    try:
        while waiting or crew:
            while waiting and len(crew) < jobs:
                worker = _hire(task)
                crew[worker.pipe] = worker
                worker.give(waiting.popleft())
            for pipe in wait(list(crew)):
                news = crew[pipe].listen()
                if news.lost or (news.result is not None and not waiting):
                    crew.pop(pipe).leave()
                elif news.result is not None:
                    crew[pipe].give(waiting.popleft())
                hear(news)
    finally:
        for worker in crew.values():
            worker.process.terminate()
            worker.leave()


def _teller(seed: int, hear: Callable[[News[Any]], None]) -> Tell:
    return lambda share: hear(News(seed, share))


def _hire(task: Callable[[int, Tell], Any]) -> _Worker:
    ours, theirs = _SPAWN.Pipe()
    process = _SPAWN.Process(target=_serve, args=(task, theirs), daemon=True)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # is inherited, so that it holds from its first instant
    try:
        process.start()
    finally:
        signal.signal(signal.SIGINT, before)
    theirs.close()
    return _Worker(process, ours, [])


def _serve(task: Callable[[int, Tell], Any], pipe: Connection) -> None:
    """The life of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # once more, for systems where it is not inherited
    with contextlib.suppress(*_GONE):
        while True:
            seed = pipe.recv()
            pipe.send(News(seed, 1.0, task(seed, _teller(seed, pipe.send))))
