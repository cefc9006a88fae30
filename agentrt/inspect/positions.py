"""Where a client is in a recording: at a tick, or on its way through it at some speed.

A position that is played is computed from the time that has passed since, not added up, so that it does not matter how
often it is asked for.
"""

from __future__ import annotations

__all__ = ["Position"]


class Position:
    """Where a client is in a recording.

    Attributes:
        speed: at which it plays: game seconds for each real second.
    """

    __slots__ = ("_since", "_tick", "speed")

    def __init__(self) -> None:
        self.speed: float = 1.0
        self._tick: int = 0
        self._since: float | None = None

    @property
    def is_playing(self) -> bool:
        """Whether it is on its way."""
        return self._since is not None

    def go(self, tick: int) -> None:
        """Go to a tick, and stay there.

        Args:
            tick: which; what lies outside of the recording means its nearest end.
        """
        self._tick = tick
        self._since = None

    def play(self, now: float, tick: int) -> None:
        """Start to play.

        Args:
            now: real seconds, from any start.
            tick: from which tick.
        """
        if self._since is None:
            self._tick = tick
            self._since = now

    def change_speed(self, now: float, tick: int, speed: float) -> None:
        """Go on at another speed.

        Args:
            now: real seconds.
            tick: where it is.
            speed: game seconds for each real second.
        """
        self.speed = speed
        if self._since is not None:
            self._tick = tick
            self._since = now

    def now(self, now: float, first: int, last: int, ticks_per_second: float) -> int:
        """Where it is. At the end it stays.

        Args:
            now: real seconds.
            first: the first tick of the recording.
            last: the last one.
            ticks_per_second: of game time.
        """
        tick = self._tick
        if self._since is not None:
            tick += int((now - self._since) * self.speed * ticks_per_second)
            if tick >= last:
                self.go(last)
        return max(first, min(tick, last))
