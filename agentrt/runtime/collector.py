"""The garbage collector beside a world that runs: it does not look through what lives on, and never within a tick.

A full collection looks at everything that is alive, and a world of a hundred thousand agents is two million objects: on
one machine a tick of 0.1 s became one of 2 s. What it finds there is nothing, because planning leaves no cycles behind:
what ends is freed by its reference count. Agents that end, and authors' own objects, may leave cycles. So, while a
runtime runs:

* When it begins, what is alive is *frozen* (``gc.freeze``): the collector passes over it. That moves a list, whatever
  its length. What a collection of the middle generation leaves alive is frozen, too, so that there is never more to
  look through than came since, some thousand objects. Thresholds are left alone.
* Frozen garbage is not found. It shows in what the process holds, so all is *thawed* and collected in full once the
  blocks of memory that are allocated have grown by ``GROWTH``: between two ticks, where a pause is a late tick and no
  long one. It takes as long as a full collection of Python's own; in a world that does not grow it never comes.
* When the last runtime of the process ends its run, all is thawed, and the collector is as it was found.

The collector belongs to the process. Whoever has switched it off, or frozen something, has a policy of their own, and
is left alone (who froze something, for as long as the process lives): what was frozen once cannot be told apart from
what we freeze.

Rejected: counting what is frozen (``gc.get_freeze_count`` walks the list: 0.3 s for two million); freezing after full
collections only (what comes between two of them took 35 ms to look through, in a world whose tick takes 10); a full
collection when a run begins (half a second for each ``await agent.run()`` of a server); higher thresholds (full
collections come more rarely, and each still stops the world); to switch it off (authors' cycles).
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Policy = Literal["freeze", "leave"]
POLICIES: tuple[Policy, ...] = ("freeze", "leave")

GROWTH = 0.5  # Python itself looks again when there is a quarter more; most of what a world adds is no garbage
LEAST = 500_000  # blocks, some 50 MB: for less a world is not stopped


class Collector:
    """What runs of runtimes have to do with the collector of the process. There is one, ``COLLECTOR``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # runtimes may run in several threads
        self._runs = 0
        self._is_ours = False  # whether it is frozen by us: then nobody else had frozen anything
        self._is_taken = False  # whether somebody else was found to have a policy, once: it is not asked again
        self._has_frozen_more = False  # since it was last compared how much there is
        self._blocks = 0  # of memory, when all was last looked through

    @contextmanager
    def freezing(self, policy: Policy) -> Iterator[None]:
        """Keep what is alive frozen, as long as anybody runs."""
        if policy == "leave":
            yield
            return
        with self._lock:
            self._runs += 1
            if self._runs == 1:
                self._begin()
        try:
            yield
        finally:
            with self._lock:
                self._runs -= 1
                if not self._runs:
                    self._end()

    def _begin(self) -> None:
        if self._is_taken or not gc.isenabled():
            return
        # Not for each run: who awaits ``run(1)`` again and again would walk through all that is frozen each time.
        self._is_taken = gc.get_freeze_count() > 0
        self._is_ours = not self._is_taken
        if self._is_ours:
            self._has_frozen_more = False
            self._blocks = sys.getallocatedblocks()
            gc.freeze()
            gc.callbacks.append(self._collected)

    def _end(self) -> None:
        if self._is_ours:
            self._is_ours = False
            gc.callbacks.remove(self._collected)
            gc.unfreeze()

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        """Called by the collector itself, before and after each of its passes."""
        if phase == "stop" and info["generation"] > 0:
            self._has_frozen_more = True
            gc.freeze()

    def between_ticks(self) -> None:
        """Look through everything, if it is time for that."""
        if self._has_frozen_more and self._is_ours:
            self._has_frozen_more = False
            grown = sys.getallocatedblocks() - self._blocks  # a few milliseconds for ten million of them
            if grown > LEAST and grown > self._blocks * GROWTH:
                self._thaw()

    def _thaw(self) -> None:
        with self._lock:
            if self._is_ours:
                gc.unfreeze()
                gc.collect()  # freezes what it leaves, by ``_collected``
                self._has_frozen_more = False
                self._blocks = sys.getallocatedblocks()


COLLECTOR = Collector()
