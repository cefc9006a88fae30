"""The agenda: who is due in which tick.

A list for each due tick and a heap of the distinct ticks, so that putting an entry in and taking it out costs the same
however many sleep, and a sleeper costs nothing. Within a tick the order is the order of arrival.

An entry that is woken early (its strand was cancelled) is not searched for: it stays in its list and is passed over
when the tick comes, because its ``waiting`` no longer says that tick. Such entries are counted for each tick, so that
only the lists that hold some are looked through; when they outnumber what could possibly be live, those are swept.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agentrt.kernel.strand import Strand

__all__ = ["Agenda", "Entry", "Stepper"]


class Stepper(Protocol):
    """What the kernel steps when an entry's turn comes: a coroutine, or whatever can be stepped like one."""

    def send(self, value: None, /) -> object:
        """Go on; returns a command of the traps module."""
        ...


class Entry(Protocol):
    """What the ready queue and the agenda hold: strands, timers, calls.

    Attributes:
        waiting: the tick in which the entry is due, while it sleeps.
    """

    waiting: object

    @property
    def stepper(self) -> Stepper:
        """How it goes on."""
        ...

    @property
    def name(self) -> str:
        """For people."""
        ...

    @property
    def coro(self) -> Coroutine[Any, Any, Any] | None:
        """The coroutine whose code runs while it goes on; None for a plain function's."""
        ...

    def strand(self) -> Strand | None:
        """The strand of that coroutine, made if it has none yet; None for a plain function's."""
        ...


class Agenda:
    """Entries by the tick in which they are due.

    Attributes:
        buckets: due tick to entries, in order of arrival. The kernel's main loop puts strands in here itself.
        heap: the distinct due ticks.
        stale: how many entries were woken early and still lie in a bucket.
    """

    __slots__ = ("_hollow", "_spoiled", "buckets", "heap", "stale")

    _SWEEP_FROM = 1024

    def __init__(self) -> None:
        self.buckets: dict[int, list[Entry]] = {}
        self.heap: list[int] = []
        self.stale: int = 0
        self._spoiled: dict[int, int] = {}  # due tick to how many stale entries lie in its bucket
        self._hollow = False  # whether sweeping may have left buckets with nothing in them

    def add(self, due: int, entry: Entry) -> None:
        """Put an entry in.

        Args:
            due: the tick in which it wakes.
            entry: a strand or a timer; its ``waiting`` becomes the due tick.
        """
        entry.waiting = due
        bucket = self.buckets.get(due)
        if bucket is None:
            self.buckets[due] = [entry]
            heapq.heappush(self.heap, due)
        else:
            bucket.append(entry)

    def forget(self, due: int, live: int) -> None:
        """Note that one entry was woken early.

        Args:
            due: the tick in which it was due; its ``waiting`` does not say so any more.
            live: how many strands there are, the most that can be asleep.
        """
        self._spoiled[due] = self._spoiled.get(due, 0) + 1
        self.stale += 1
        if self.stale > self._SWEEP_FROM and self.stale > live:
            self._sweep()

    def _sweep(self) -> None:
        for due in self._spoiled:
            bucket = self.buckets[due]
            bucket[:] = _live(bucket, due)
        self._spoiled.clear()
        self.stale = 0
        self._hollow = True

    def take_due(self, tick: int, ready: deque[Entry]) -> None:
        """Move all that is due to the ready queue.

        Args:
            tick: the tick that begins.
            ready: where to put it.
        """
        if self._hollow:
            self._drop_hollow()
        heap = self.heap
        while heap and heap[0] <= tick:
            due = heapq.heappop(heap)
            bucket = self.buckets.pop(due)
            if due in self._spoiled:
                self.stale -= self._spoiled.pop(due)
                bucket = _live(bucket, due)
            ready.extend(bucket)

    def _drop_hollow(self) -> None:
        # Not while sweeping: the main loop may hold on to the bucket that it filled last.
        self._hollow = False
        for due in [due for due, bucket in self.buckets.items() if not bucket]:
            del self.buckets[due]
        self.heap[:] = self.buckets
        heapq.heapify(self.heap)


def _live(bucket: list[Entry], due: int) -> list[Entry]:
    """The entries of a bucket that still wait for it, in order of arrival."""
    kept: dict[Entry, None] = {}
    for entry in bucket:
        if entry.waiting == due:
            # The same strand may have left and come back to the same tick: its last place counts.
            kept.pop(entry, None)
            kept[entry] = None
    return list(kept)
