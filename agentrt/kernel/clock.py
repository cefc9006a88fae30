"""The clock: an integer tick, and what it means in game seconds.

Time in the kernel is the number of the tick and nothing else: whatever is pending is ordered by it. Game seconds are
a view for authors. The rate is a whole number of ticks a second, so that converting seconds to ticks is one
multiplication and one rounding, the same on every host.

A duration becomes at least one tick when it is greater than zero: a wait that was asked for always lets time pass.
"""

from __future__ import annotations

import math

from agentrt.words import repr_of

# A duration such as 0.15 s at 20 ticks a second is 3.0000000000000004 ticks in binary floating point: without this
# slack it would become four.
_SLACK = 1e-9
_LAST_START = 1 << 53  # game seconds of a larger number could not tell two ticks apart
_RELATIVE_SLACK = 2.0**-51  # the same for durations so long that their last binary digit is more than that


class Clock:
    """What time it is in the game.

    Args:
        ticks_per_second: how many ticks make a second of game time.
        start_tick: the tick after which it begins.
    """

    __slots__ = ("begun", "passed", "seconds_per_tick", "start_tick", "tick", "ticks_per_second")

    def __init__(self, ticks_per_second: int = 20, start_tick: int = 0) -> None:
        if isinstance(ticks_per_second, bool) or not isinstance(ticks_per_second, int):
            raise ValueError(f"ticks_per_second is {repr_of(ticks_per_second)}: it takes a whole number, such as 20")
        if not 1 <= ticks_per_second <= 1_000_000:
            raise ValueError(f"ticks_per_second is {ticks_per_second}: it takes a number from 1 to 1,000,000")
        if type(start_tick) is not int or not 0 <= start_tick < _LAST_START:
            raise ValueError(f"start_tick is {repr_of(start_tick, 80)}: it takes the number of a tick, 0 or more")
        self.start_tick: int = start_tick
        self.tick: int = start_tick  # the one that runs, or the last one that ran; the first is mostly 1
        self.ticks_per_second: int = ticks_per_second
        self.seconds_per_tick: float = 1.0 / ticks_per_second
        # ``now`` of the tick that began last, set by the kernel: one object, for all agents that remember it
        self.begun: float = self.now
        self.passed: float = 0.0  # since the tick before that one, for the same reason

    def go_to(self, tick: int) -> None:
        """Stand after a tick: one more to run, or any other if the world is another one from then on."""
        self.tick = tick
        self.begun = tick / self.ticks_per_second

    @property
    def now(self) -> float:
        """Game seconds since tick 0."""
        return self.tick / self.ticks_per_second

    def ticks(self, seconds: float) -> int:
        """How many ticks a duration takes, rounded up; 0 only for one of 0 or less. It must be finite."""
        if seconds <= 0:
            return 0
        exact = seconds * self.ticks_per_second
        if not math.isfinite(exact):
            raise ValueError(f"a duration of {repr_of(seconds)} seconds never ends: use park() to wait without a limit")
        return max(1, math.ceil(exact - _SLACK - exact * _RELATIVE_SLACK))

    def __repr__(self) -> str:
        return f"<Clock: tick {self.tick}, {self.ticks_per_second} ticks a second>"
