"""A tick wheel by hand: the least that can wake coroutines tick by tick.

A dict of lists by due tick, and bare coroutines that yield how many ticks they want to sleep. No names, no
cancellation, no errors, no signals, no order beyond that of arrival. What agentrt costs on top of this is
what all of those cost.
"""

from __future__ import annotations

import types
from collections.abc import Coroutine, Generator
from typing import Any

__all__ = ["Wheel", "next_tick"]


@types.coroutine
def next_tick() -> Generator[int, None, None]:
    """Sleep until the next tick."""
    yield 1


class Wheel:
    """Coroutines by the tick in which they are due."""

    __slots__ = ("buckets", "tick")

    def __init__(self) -> None:
        self.tick = 0
        self.buckets: dict[int, list[Coroutine[int, None, None]]] = {}

    def add(self, coro: Coroutine[Any, Any, None]) -> None:
        """Have a coroutine begin in the next tick."""
        self.buckets.setdefault(self.tick + 1, []).append(coro)

    def step(self) -> None:
        """Run one tick."""
        self.tick = tick = self.tick + 1
        buckets = self.buckets
        for coro in buckets.pop(tick, ()):
            try:
                due = tick + coro.send(None)
            except StopIteration:
                continue
            if due in buckets:
                buckets[due].append(coro)
            else:
                buckets[due] = [coro]

    def close(self) -> None:
        """Close all coroutines."""
        for bucket in self.buckets.values():
            for coro in bucket:
                coro.close()
        self.buckets.clear()
