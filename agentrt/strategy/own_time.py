"""Own time: what a strategy takes, and how long it may go on by itself.

What a strategy says that it costs is the time that goes by while it, and what it has solved, is at work. So what it
*took* is counted in the same way: from the moment in which it has its control flags to its end, with the time of all
that it had solved (``ctx.solve``), and without the time in which nothing of that could be done or others did something:

* it, or something below it, waited for control flags;
* something came up, or the request was told to pause;
* it executed a plain activity (``ctx.execute``), or awaited a request or a performance of an agent
  (``agent.gameplay.collect(...)``, ``agent.gameplay.using(...)``, ``agent.perform``): these take as long as they take,
  and are not a matter of how it does its own work.

Whatever stops the time of one strategy stops that of all who wait for it in the same request. Several reasons may hold
at once, so they are counted. Its *patience* runs while its time does and it has nothing solved.

Rejected: subtracting each stretch when it is over. Two that overlap would be subtracted twice.

Source: seed 003, "Planning Ahead Using Probability": the actual result beside the estimated one; "Task Failure".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentrt.kernel.calls import Timer
    from agentrt.kernel.kernel import Kernel

__all__ = ["OwnTime"]


class OwnTime:
    """The time of one attempt.

    Args:
        kernel: who keeps the time.
        above: that of the attempt that waits for it; None at the root.
        hangs: called when its patience is over.
    """

    __slots__ = (
        "_above",
        "_began",
        "_hangs",
        "_is_lent",
        "_kernel",
        "_left",
        "_left_out",
        "_since",
        "_stopped_at",
        "_stops",
        "_timer",
    )

    def __init__(self, kernel: Kernel, above: OwnTime | None, hangs: Callable[[], object]) -> None:
        self._kernel = kernel
        self._above = above
        self._hangs = hangs
        self._began: int | None = None
        self._stops = 0  # how many reasons there are that it stands still
        self._stopped_at = 0
        self._left_out = 0  # ticks, up to the last time that it went on
        self._is_lent = False  # whether it has something solved
        self._left = 0  # ticks of its patience
        self._since = 0
        self._timer: Timer | None = None

    def begin(self, patience: int) -> None:
        """It has its control flags, and begins.

        Args:
            patience: how many ticks it may run by itself.
        """
        self._began = self._kernel.clock.tick
        self._left = patience
        self._count()

    def end(self) -> None:
        """Its coroutine has ended: nothing hangs any more."""
        self._is_lent = True
        self._count()

    def stop(self) -> None:
        """Its time, and that of all above it, stands still for one more reason."""
        for one in self._upwards():
            one._stops += 1
            if one._stops == 1:
                one._stopped_at = one._kernel.clock.tick
                one._count()

    def go(self) -> None:
        """One reason less."""
        for one in self._upwards():
            one._stops -= 1
            if one._stops == 0:
                one._left_out += one._kernel.clock.tick - one._stopped_at
                one._count()

    def lend(self) -> None:
        """It has something solved: its patience is not used up by that."""
        self._is_lent = True
        self._count()

    def take_back(self) -> None:
        """What it had solved is over."""
        self._is_lent = False
        self._count()

    def taken(self) -> int | None:
        """How many ticks it took up to now; None if it has not begun."""
        return None if self._began is None else self._kernel.clock.tick - self._began - self.left_out

    @property
    def left_out(self) -> int:
        """For how many ticks it stood still."""
        return self._left_out + (self._kernel.clock.tick - self._stopped_at if self._stops else 0)

    def _upwards(self) -> Iterator[OwnTime]:
        one: OwnTime | None = self
        while one is not None:
            yield one
            one = one._above

    def _count(self) -> None:
        """Its patience runs, or does not any more."""
        runs = self._began is not None and not self._stops and not self._is_lent
        if self._timer is not None and not runs:
            self._timer.cancel()
            self._timer = None
            self._left -= self._kernel.clock.tick - self._since
        elif self._timer is None and runs:
            self._since = self._kernel.clock.tick
            self._timer = self._kernel.call_later(max(1, self._left), self._over)

    def _over(self) -> None:
        self._timer = None
        self._hangs()

    def __repr__(self) -> str:
        return f"<OwnTime: {self.taken()} ticks, {self._stops} reasons to stand still>"
