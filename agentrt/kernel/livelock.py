"""The livelock guard: finds who does not let time pass, when a tick has become suspiciously long.

Counting every step would cost the main loop a look-up a step. So a tick runs uncounted until it has taken many more
steps than there are strands; only then a guard is made, and everything that happens in the rest of the tick is counted.

* A strand that takes more than ``Kernel.livelock_steps`` counted steps is killed: it alone.
* A strand that never suspends takes no steps at all: it awaits what need not wait, again and again (``traps.goes_on``).
  Such waits are free until there were many in the tick, then they are counted for each strand. It gives way after
  ``Kernel.livelock_steps`` of them, so that the others run, and is killed when it did so too often in one tick. That
  is quick: each gets a hundred thousand waits at most, and when all in a tick have had a million, two rounds.
* Strands that end and spawn their like, and calls that call again, take few steps each: they are counted by name. Most
  of them are innocent links of a chain, so nobody is killed; time is made to pass by putting the next link off to the
  next tick, and the chain is reported once in each tick that it spoils.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from agentrt.errors import LivelockError
from agentrt.kernel.strand import Strand, kill, livelocked

if TYPE_CHECKING:
    from agentrt.kernel.roles import Entry, Scheduler

__all__ = ["FREE_WAITS", "IdleWaits", "LivelockGuard", "patience"]

FREE_WAITS = 1000  # how many waits of one tick may end at once before anybody counts whose they are
_ROUNDS = 100  # how often a strand may give way in one tick
_TURNS = 1000  # how often all may, before _FEW_ROUNDS is the limit: many agents may have the same mistake
_FEW_ROUNDS = 2


def patience(kernel: Scheduler) -> int:
    """How many steps a tick may take before they are counted."""
    return 10_000 + 20 * (kernel.live + len(kernel.ready))


class LivelockGuard:
    """Counts the steps of one tick.

    Args:
        kernel: whose ready queue it looks at.
    """

    __slots__ = ("_families", "_kernel", "_peak", "_reported", "_steps")

    def __init__(self, kernel: Scheduler) -> None:
        self._kernel = kernel
        self._steps: dict[Entry, int] = {}
        self._families: dict[str, int] = {}
        self._peak = 0
        self._reported: set[str] = set()

    def admit(self) -> int:
        """Look at the entry that is next in the ready queue, and take it out if it must not be stepped.

        Returns:
            How many entries to step before the next call: 1, or 0 if it was taken out.
        """
        kernel = self._kernel
        entry = kernel.ready[0]
        if isinstance(entry, Strand):
            if entry.is_done:
                return 1
            self._steps[entry] = steps = self._steps.get(entry, 0) + 1
            if steps > kernel.livelock_steps:
                kernel.ready.popleft()
                kill(entry, livelocked(entry))
                return 0
            if steps > 1:
                return 1
        return self._admit_newcomer(entry, entry.name)

    def _admit_newcomer(self, entry: Entry, family: str) -> int:
        kernel = self._kernel
        # However many there ever were at once may all have ended since.
        self._peak = max(self._peak, kernel.live + len(kernel.ready))
        self._families[family] = steps = self._families.get(family, 0) + 1
        if steps <= kernel.livelock_steps + kernel.livelock_steps // 10 * self._peak:
            return 1
        kernel.ready.popleft()
        kernel.agenda.add(kernel.tick + 1, entry)
        if family not in self._reported:
            self._reported.add(family)
            error = LivelockError(steps, path=family, tick=kernel.tick)
            kernel.report(f"{family!r} was spawned or called again and again; it goes on in the next tick", error)
        return 0


class IdleWaits:
    """Counts, in one tick, the waits that had nothing to wait for, when there have been many.

    They are counted by coroutine and not by entry of the ready queue: a batch is one entry for many.
    """

    __slots__ = ("_kernel", "_left", "_rounds", "_turns")

    def __init__(self, kernel: Scheduler) -> None:
        self._kernel = kernel
        self._left: dict[Coroutine[Any, Any, Any] | None, int] = {}
        self._rounds: dict[Strand, int] = {}
        self._turns = 0

    def begin(self) -> None:
        """A tick begins, or what comes between two ticks: nothing of the last one counts."""
        self._kernel.free_waits = FREE_WAITS
        if self._left:
            self._left.clear()
            self._rounds.clear()
            self._turns = 0

    def goes_on(self, weight: int) -> bool:
        """Count a wait of what is stepped; says whether it may end at once. See ``traps.goes_on``."""
        kernel = self._kernel
        entry = kernel.current
        coro = None if entry is None else entry.coro
        left = self._left.get(coro)
        if left is None:
            left = kernel.livelock_steps * (1 if coro is not None else _ROUNDS)
        if left > 0:
            self._left[coro] = left - weight
            return True
        if coro is None:  # nobody could give it another turn
            raise LivelockError(kernel.livelock_steps * _ROUNDS, path="a plain function", tick=kernel.clock.tick)
        return False

    def give_way(self, strand: Strand) -> None:
        """A strand gives way: give it another turn in this tick, or kill it.

        Args:
            strand: it was just stepped, and stands nowhere.
        """
        kernel = self._kernel
        strand.waiting = 0
        self._turns += 1
        rounds = self._rounds[strand] = self._rounds.get(strand, 0) + 1
        if rounds >= (_ROUNDS if self._turns < _TURNS else _FEW_ROUNDS):
            # Nothing is left to it: whatever it awaits while it is killed gives way at once, and so ends.
            kill(strand, livelocked(strand, rounds * kernel.livelock_steps))
            return
        assert strand.coro is not None
        self._left[strand.coro] = kernel.livelock_steps
        kernel.ready.append(strand)
