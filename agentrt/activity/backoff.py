"""How long to wait before asking again what has just said no.

Rejected arguments and refused starts are asked again after 20 ms of game time; each repeat waits twice as long, up to
2 s. A no that repeats more than a few times is a storm, which the trace tells. Who said no because somebody else holds
a lease waits in line for that besides (the module ``lining_up``).

Source: seed 001, "AI contexts", `reject`; the doubling is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from agentrt.kernel.calls import Timer
    from agentrt.kernel.kernel import Kernel

__all__ = ["Backoff"]

_FIRST: Final = 0.02  # game seconds before the first repeat
_LONGEST: Final = 2.0  # game seconds between repeats at most
_STORM: Final = 4  # how many times the delay was doubled before repeats are a storm


class Backoff:
    """The repeats of one asker: how long the next delay is, and the timer while one runs.

    Attributes:
        delay: game seconds of the next delay.
    """

    __slots__ = ("_timer", "delay")

    def __init__(self) -> None:
        self.delay: float = _FIRST
        self._timer: Timer | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a delay runs."""
        return self._timer is not None

    @property
    def due(self) -> int:
        """The tick in which it is asked again; 0 while no delay runs."""
        return 0 if self._timer is None or not isinstance(self._timer.waiting, int) else self._timer.waiting

    @property
    def is_storm(self) -> bool:
        """Whether the delay has been doubled so often that the repeats are a storm."""
        return self.delay >= _FIRST * 2**_STORM

    def reset(self) -> None:
        """It said yes: the next delay is the first again."""
        self.delay = _FIRST

    def wait(self, kernel: Kernel, then: Callable[..., object], *args: Any) -> None:
        """Call a function after the delay; the next one is twice as long, up to the longest.

        Args:
            kernel: whose time passes.
            then: a plain function.
            args: what to call it with.
        """

        def due() -> None:
            self._timer = None
            then(*args)

        self._timer = kernel.call_later(max(1, kernel.clock.ticks(self.delay)), due)
        self.delay = min(self.delay * 2, _LONGEST)

    def cancel(self) -> None:
        """Do not ask again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
