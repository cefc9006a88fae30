"""The livelock guard: finds who does not let time pass, when a tick has become suspiciously long.

Counting every step would cost the main loop a look-up a step. So a tick runs uncounted until it has taken many more
steps than there are strands; only then a guard is made, and everything that happens in the rest of the tick is counted.

* A strand that takes more than ``Kernel.livelock_steps`` counted steps is killed: it alone.
* Strands that end and spawn their like, and calls that call again, take few steps each: they are counted by name. Most
  of them are innocent links of a chain, so nobody is killed; time is made to pass by putting the next link off to the
  next tick, and the chain is reported once in each tick that it spoils.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.errors import LivelockError
from agentrt.kernel.agenda import Entry
from agentrt.kernel.killing import kill, livelocked
from agentrt.kernel.strand import Strand

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel

__all__ = ["LivelockGuard", "patience"]


def patience(kernel: Kernel) -> int:
    """How many steps a tick may take before they are counted.

    Args:
        kernel: whose tick it is.
    """
    return 10_000 + 20 * (kernel.live + len(kernel.ready))


class LivelockGuard:
    """Counts the steps of one tick.

    Args:
        kernel: whose ready queue it looks at.
    """

    __slots__ = ("_families", "_kernel", "_peak", "_reported", "_steps")

    def __init__(self, kernel: Kernel) -> None:
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
