"""The pace: when the next tick is due.

It is kept by the event loop's own clock (so a loop with a virtual clock paces in virtual time); the times are handed
in. It decides how long to rest, and reaches no agent. A tick that is due stays due while the machine is late, up to a
bound; what is beyond it is left out: otherwise a runtime that fell behind once would run flat out for ever.
"""

from __future__ import annotations

__all__ = ["Pacer"]


class Pacer:
    """When the next tick is due.

    Args:
        period: real seconds from one tick to the next; 0 for no pause at all.
        catch_up: how many ticks may be run in a row, without a rest, when it is late.
        now: the time now, in seconds from any start; the first tick is due at once.
    """

    __slots__ = ("_catch_up", "_due", "_given", "_period")

    def __init__(self, period: float, catch_up: int, now: float) -> None:
        self._given = period
        self._period = period
        self._catch_up = catch_up
        self._due = now

    def rest(self, now: float) -> float:
        """How many seconds there are until the next tick.

        Args:
            now: the time now.
        """
        return max(0.0, self._due - now)

    def accelerate(self, speed: float) -> None:
        """Change the pace.

        Args:
            speed: how many times as fast as it was given.
        """
        self._period = self._given / speed

    def restart(self, now: float) -> None:
        """Forget what is due: the next tick is due at once. After a pause, nothing is late.

        Args:
            now: the time now.
        """
        self._due = now

    def ticked(self, now: float) -> int:
        """A tick was run.

        Args:
            now: the time now.

        Returns:
            How many ticks are left out because it is too late for them.
        """
        self._due += self._period
        late = now - self._due
        if late <= self._catch_up * self._period:
            return 0
        if not self._period:
            self._due = now
            return 0
        left_out = int(late / self._period) - self._catch_up
        self._due += left_out * self._period
        return left_out
