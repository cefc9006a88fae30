"""Day and night, derived from the tick and from nothing else.

A day has 1,000 ticks (50 seconds of game time): morning and noon until 600, dusk until 700, night until 950,
dawn until the end. Wolves come at dusk, and everybody tires faster after it.
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["DAWN", "DAY", "DUSK", "NIGHT", "Clock", "Daylight"]

DAY = 1000
DUSK = 600
NIGHT = 700
DAWN = 950


class Clock(Protocol):
    """Whatever tells the tick: a runtime, the clock of one, or something that a test sets."""

    @property
    def tick(self) -> int:
        """The number of the tick."""
        ...


class Daylight:
    """What time of day it is.

    Args:
        clock: of the runtime.
    """

    __slots__ = ("_clock",)

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    @property
    def time(self) -> int:
        """Ticks since the day began, from 0 to 999."""
        return self._clock.tick % DAY

    @property
    def day(self) -> int:
        """The number of the day; the first is 1."""
        return self._clock.tick // DAY + 1

    @property
    def phase(self) -> str:
        """The time of day in a word: day, dusk, night or dawn."""
        time = self.time
        return "day" if time < DUSK else "dusk" if time < NIGHT else "night" if time < DAWN else "dawn"

    @property
    def is_dark(self) -> bool:
        """Whether it is night."""
        return self.phase == "night"
