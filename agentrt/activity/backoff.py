"""Asking again after a delay: each is twice as long as the one before.

Of actions whose arguments were rejected, and of those that refused to be started; a no that repeats is a storm.

Source: Stonehearth, AI: `reject`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel, Timer

_FIRST: Final = 0.02  # game seconds before the first repeat: the 20 ms of Stonehearth's `reject`
_LONGEST_WAIT: Final = 2.0  # game seconds between repeats at most
_STORM: Final = 4  # how many times the delay was doubled before repeats are a storm


class Backoff:
    """The repeats of one asker: how long the next delay is, and the timer while one runs."""

    __slots__ = ("_timer", "delay")

    def __init__(self) -> None:
        self.delay: float = _FIRST  # game seconds of the next delay
        self._timer: Timer | None = None

    @property
    def is_waiting(self) -> bool:
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
        """Call a function after the delay; the next one is twice as long, up to the longest."""

        def due() -> None:
            self._timer = None
            then(*args)

        self._timer = kernel.call_later(max(1, kernel.clock.ticks(self.delay)), due)
        self.delay = min(self.delay * 2, _LONGEST_WAIT)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
