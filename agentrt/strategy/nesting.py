"""Requests within requests: what a strategy asks for through the gameplay of its agent, or has a plan do for it.

Such a request is one of its own, beside or below. But it is asked for by a strategy that runs, and that must not be
forgotten: it would be a way around the recursion guard, and around the bounds on attempts. So each request knows who
asked for it, which counts as long as that one runs, and all that were asked for by one another keep one *pace*. What is
asked for while something that came up is dealt with is as urgent as that: it is a part of it.

Source: seed 003, "Hierarchy": nodes that depend on those above them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentrt.activity.performing import Performance
from agentrt.activity.unit import Unit
from agentrt.strategy.attempt import Attempt
from agentrt.strategy.tree import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentrt.kernel.clock import Clock
    from agentrt.kernel.kernel import Kernel

__all__ = ["MAX_ATTEMPTS", "MAX_A_TICK", "MAX_NESTED", "Pace", "Within", "waiting_above"]

MAX_ATTEMPTS: Final = 10_000
"""How many attempts one request may take."""

MAX_A_TICK: Final = 32
"""How many attempts may begin in one tick; the next one waits for the next tick."""

MAX_NESTED: Final = 32
"""How many requests may be within one another."""


class Pace:
    """How many attempts begin in one tick: of a request, and of those that were asked for within it."""

    __slots__ = ("_began", "_tick")

    def __init__(self) -> None:
        self._tick = -1
        self._began = 0  # how many attempts began in that tick

    def is_full(self, clock: Clock) -> bool:
        """Whether the next attempt has to wait: what ends at once must not keep everybody else from the next tick.

        Args:
            clock: of the runtime.
        """
        return self._tick == clock.tick and self._began >= MAX_A_TICK

    def count(self, clock: Clock) -> None:
        """An attempt begins.

        Args:
            clock: of the runtime.
        """
        if self._tick != clock.tick:
            self._tick, self._began = clock.tick, 0
        self._began += 1


class Within:
    """What a request is within, as long as who asked for it runs.

    Args:
        kernel: of the runtime; None outside of one.

    Attributes:
        asker: the attempt whose strategy asks for it, or has a plan ask for it; None if none does.
        pace: what all keep that were asked for by one another.
    """

    __slots__ = ("_floor", "asker", "pace")

    def __init__(self, kernel: Kernel | None) -> None:
        above = _owners_above(kernel)
        self.asker: Attempt | None = next((one for one in above if isinstance(one, Attempt)), None)
        self.pace: Pace = Pace() if self.asker is None else self.asker.solving.within.pace
        self._floor = None if self.asker is None else self.asker.solving.interruptions.floor()

    @property
    def floor(self) -> int | None:
        """The priority of what it is asked for in: who deals with that may have others do it. None for nothing."""
        asker = self.asker
        return self._floor if asker is not None and asker.outcome is Outcome.RUNNING else None

    @property
    def depth(self) -> int:
        """How many requests that still run it is within."""
        found, asker = 0, self.asker
        while asker is not None and asker.outcome is Outcome.RUNNING:
            found, asker = found + 1, asker.solving.asker
        return found


def waiting_above(unit: Unit) -> Iterator[Attempt]:
    """The attempts that wait for what is done below an action, in its request and in those that await it.

    Args:
        unit: the action.

    Yields:
        Each once, the nearest first.
    """
    units, seen = [unit], {unit}
    for one in units:  # which grows meanwhile
        frame, execution = one.frame, one.frame.execution
        if isinstance(frame.owner, Attempt):
            yield frame.owner
        if frame.parent is not None:
            above = [frame.parent]
        else:
            above = execution.awaiters if isinstance(execution, Performance) else []
        units += [other for other in above if other not in seen]
        seen.update(above)


def _owners_above(kernel: Kernel | None) -> Iterator[object]:
    """Who manages the frames above the action whose coroutine runs at this moment, the nearest first."""
    current = None if kernel is None else kernel.current
    strand = None if current is None else current.strand()
    unit: Unit | None = strand.owner if strand is not None and isinstance(strand.owner, Unit) else None
    while unit is not None:
        frame = unit.frame
        yield frame.owner
        unit = frame.parent
        if unit is None and isinstance(frame.execution, Performance):
            unit = frame.execution.asker
