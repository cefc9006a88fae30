"""How long to wait before asking again what has just said no.

Rejected arguments and refused starts are asked again after 20 ms of game time; each repeat waits twice as long, up to
2 s. A no that repeats more than a few times is a storm, which the trace tells.

Source: seed 001, "AI contexts", `reject`; the doubling is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agentrt.kernel.calls import Timer
    from agentrt.kernel.kernel import Kernel

__all__ = ["FIRST_DELAY", "LONGEST_DELAY", "Backoff", "is_storm", "longer"]

FIRST_DELAY: Final = 0.02
"""Game seconds before the first repeat."""

LONGEST_DELAY: Final = 2.0
"""Game seconds between repeats at most."""

_STORM: Final = 4  # how many times the delay was doubled before repeats are a storm


def longer(delay: float) -> float:
    """The delay after a delay.

    Args:
        delay: game seconds.
    """
    return min(delay * 2, LONGEST_DELAY)


def is_storm(delay: float) -> bool:
    """Whether repeats with this delay are a storm.

    Args:
        delay: game seconds.
    """
    return delay >= FIRST_DELAY * 2**_STORM


class Backoff:
    """The repeats of one asker: how long the next delay is, and the timer while one runs.

    Attributes:
        delay: game seconds of the next delay.
    """

    __slots__ = ("_timer", "delay")

    def __init__(self) -> None:
        self.delay: float = FIRST_DELAY
        self._timer: Timer | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a delay runs."""
        return self._timer is not None

    def wait(self, kernel: Kernel, then: Callable[[], object]) -> None:
        """Call a function after the delay; the next one is longer.

        Args:
            kernel: whose time passes.
            then: a plain function.
        """

        def due() -> None:
            self._timer = None
            then()

        self._timer = kernel.call_later(max(1, kernel.clock.ticks(self.delay)), due)
        self.delay = longer(self.delay)

    def cancel(self) -> None:
        """Do not ask again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
