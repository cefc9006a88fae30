"""How long ticks take, and how much of that is thinking: real time, measured only while somebody looks.

A tick is measured from its beginning to its publishing. Its beginning is the first function of the drivers' phase that
is ours, or the first record of that tick if that came sooner (from an intake, say); what was done before either is not
measured, nor is what the event loop wakes between two ticks.

Thinking is *attributed*, not measured: the time between two records of the trace belongs to the later one, and what was
said there tells what was being done: a unit that became ready, was elected or rejected was thinking. So a step that
thinks long and says nothing before it runs is counted as running, and what a trace listener costs is in it. That is
good enough to see which of the two a slow tick is made of. Rejected: a clock around each step of a coroutine, which
would cost the main loop of the kernel its speed also while nobody looks.

Reading a clock changes nothing in the run: no figure of this module reaches an agent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from agentrt.kernel.trace import Event, TraceRecord

__all__ = ["TickTimes"]

_POINTS = 240

_THINKING = frozenset(
    {
        Event.THINK,
        Event.READY,
        Event.UNREADY,
        Event.REJECT,
        Event.STOP_THINKING,
        Event.BLOCKED,
        Event.ELECT,
        Event.UTILITY,
        Event.RECONSIDER,
        Event.STORM,
        Event.TIMEOUT,
    }
)


class TickTimes:
    """The real time of the last ticks.

    Args:
        clock: gives real seconds, from any start.
    """

    __slots__ = ("_begin", "_clock", "_last", "_points", "_think")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._points: deque[tuple[int, float, float]] = deque(maxlen=_POINTS)  # tick, milliseconds, thinking
        self._begin: float | None = None
        self._last = 0.0
        self._think = 0.0

    def begin(self) -> None:
        """A tick begins, unless it was heard of before."""
        if self._begin is None:
            self._begin = self._last = self._clock()
            self._think = 0.0

    def heard(self, record: TraceRecord, *, is_in_tick: bool) -> None:
        """A record was made.

        Args:
            record: which.
            is_in_tick: whether a tick runs; what happens between two of them belongs to none.
        """
        if not is_in_tick:
            return
        now = self._clock()
        if self._begin is None:
            self._begin = now
            self._think = 0.0
        elif record.event in _THINKING:
            self._think += now - self._last
        self._last = now

    def end(self, tick: int) -> None:
        """A tick was published.

        Args:
            tick: which.
        """
        if self._begin is not None:
            self._points.append((tick, (self._clock() - self._begin) * 1000, self._think * 1000))
            self._begin = None

    def as_json(self) -> dict[str, Any]:
        """The figures in milliseconds: ``tick_ms`` and ``think_ms``, with last, mean and worst, and ``history``."""
        ticks = [round(point[1], 3) for point in self._points]
        thinks = [round(point[2], 3) for point in self._points]
        return {
            "tick_ms": _summary(ticks),
            "think_ms": _summary(thinks),
            "history": {"tick": [point[0] for point in self._points], "tick_ms": ticks, "think_ms": thinks},
        }


def _summary(values: list[float]) -> dict[str, float]:
    if not values:
        return {"last": 0.0, "mean": 0.0, "worst": 0.0}
    return {"last": values[-1], "mean": round(sum(values) / len(values), 3), "worst": max(values)}
