"""The clock of the town: a day has 24 hours of 150 ticks. At 20 ticks a second that is three minutes of game time.

All that has to do with time of day is derived from the tick, here and nowhere else. The first day begins at six.
"""

from __future__ import annotations

from typing import Final

__all__ = ["BEAT", "DAY", "HOUR", "TICKS_PER_SECOND", "day_of", "hour_of", "is_night", "next_at", "told"]

TICKS_PER_SECOND: Final = 20
HOUR: Final = 150
"""Ticks of an hour of the town."""
DAY: Final = 24 * HOUR
BEAT: Final = 20
"""Every so many ticks needs grow, and whoever decides by rules looks again."""

_FIRST: Final = 6 * HOUR
_NIGHT, _MORNING = 22, 6


def hour_of(tick: int) -> int:
    """The hour of a tick, from 0 to 23."""
    return (tick + _FIRST) % DAY // HOUR


def day_of(tick: int) -> int:
    """The number of the day; the first is 1."""
    return (tick + _FIRST) // DAY + 1


def is_night(tick: int) -> bool:
    """Whether honest people sleep."""
    return not _MORNING <= hour_of(tick) < _NIGHT


def next_at(tick: int, hour: int) -> int:
    """The first tick of the next time that it is so late."""
    since = (tick + _FIRST) % DAY
    return tick - since + hour * HOUR + (DAY if since >= hour * HOUR else 0)


def told(tick: int) -> str:
    """A time as people tell it: ``day 1, 14:30``."""
    minutes = (tick + _FIRST) % HOUR * 60 // HOUR
    return f"day {day_of(tick)}, {hour_of(tick):02}:{minutes:02}"
