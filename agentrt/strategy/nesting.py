"""Requests within requests: what a strategy asks for through the gameplay of its agent, or has a plan do for it.

Such a request is one of its own, beside or below. But it is asked for by a strategy that runs, and that must not be
forgotten: it would be a way around the recursion guard, and around the bounds on attempts. So each request knows who
asked for it, which counts as long as that one runs, and all that were asked for by one another keep one *pace*.

Source: seed 003, "Hierarchy": nodes that depend on those above them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentrt.activity.performing import Performance
from agentrt.activity.unit import Unit
from agentrt.kernel.traps import next_tick

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentrt.kernel.clock import Clock
    from agentrt.kernel.kernel import Kernel

__all__ = ["MAX_ATTEMPTS", "MAX_A_TICK", "MAX_NESTED", "Pace", "owners_above"]

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

    async def keep(self, clock: Clock) -> None:
        """An attempt is to begin. Strategies that end at once must not keep everybody else from the next tick.

        Args:
            clock: of the runtime.
        """
        while self._tick == clock.tick and self._began >= MAX_A_TICK:
            await next_tick()
        if self._tick != clock.tick:
            self._tick, self._began = clock.tick, 0
        self._began += 1


def owners_above(kernel: Kernel | None) -> Iterator[object]:
    """Who manages the frames above the action whose coroutine runs at this moment, the nearest first.

    Args:
        kernel: of the runtime; None outside of one.
    """
    current = None if kernel is None else kernel.current
    strand = None if current is None else current.strand()
    unit: Unit | None = strand.owner if strand is not None and isinstance(strand.owner, Unit) else None
    while unit is not None:
        frame = unit.frame
        yield frame.owner
        unit = frame.parent
        if unit is None and isinstance(frame.execution, Performance):
            unit = frame.execution.asker
