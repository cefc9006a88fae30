"""Pinned expressions: what they come to now, and how they came to it, for small charts over time.

A client pins expressions over the values of agents (``agentrt.expressions``, ``agentrt.snapshot.offered``), each of one
agent; they are part of what it watches. Of each it is told what it comes to, or what is wrong with it and at which
column, and the points of a line: a tick, and a number there or none. Truth values are 0 and 1; texts have no line.

* A runtime that lives has no past: a line begins when somebody first pins it, and has a point for each tick in which
  the inspector composes, as far back as the oldest that is kept. It goes when nobody looks. Who was told the line
  before is told only what is new.
* A recording has all of it: a line has a point each so many ticks, a power of two, from the first tick to the last.
  They are read little by little, first a few over all of it, so that nobody waits for a long recording.

Nothing is written and nothing runs: whoever may look may pin.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from agentrt.errors import ENDS_PROGRAM, AgentRTError, ExpressionError
from agentrt.expressions import LONGEST_EXPRESSION, Expression, NamedValues, Value
from agentrt.inspect.protocol import Pin
from agentrt.inspect.sessions import Message, Session
from agentrt.record.recording import Recording
from agentrt.snapshot.offered import offered, values_by_name
from agentrt.words import words_of

KEPT_POINTS: Final = 240
_MOST_SAMPLES: Final = 160  # of a recording, and half as many at least if it has so many ticks
_ROUND_SECONDS: Final = 0.02  # of real time in one round, for reading samples
_KIND: Final = "pins"

Point = tuple[int, float | None]
View = Mapping[str, object]


class Reading(NamedTuple):
    """What an expression comes to in a tick."""

    value: Value = None
    error: str = ""  # what is wrong; empty if nothing is
    column: int = 0  # where, from 1; 0 if it is not the expression that is wrong

    def number(self) -> float | None:
        """Where its line is; None for what has no place on one."""
        if self.error or self.value is None or isinstance(self.value, str):
            return None
        return float(self.value)


@lru_cache(maxsize=512)  # what clients pin is read again in each round
def _parsed(text: str) -> Expression | Reading:
    try:
        return Expression(text)
    except ExpressionError as error:
        return Reading(None, error.problem, error.column)


def names_in(text: str) -> tuple[str, ...]:
    """The names that an expression reads; none if it is no expression."""
    parsed = _parsed(text[: LONGEST_EXPRESSION + 1])
    return () if isinstance(parsed, Reading) else parsed.names


def reading(text: str, values: NamedValues | None) -> Reading:
    """What an expression comes to; without values, because its agent is not there."""
    parsed = _parsed(text[: LONGEST_EXPRESSION + 1])
    if isinstance(parsed, Reading):
        return parsed
    if values is None:
        return Reading(None, "the agent is not there")
    try:
        return Reading(parsed.value(values))
    except ExpressionError as error:
        return Reading(None, error.problem, error.column)


def _row(pin: Pin, now: Reading, points: Iterable[Point], *, is_new: bool) -> Message:
    return {**pin._asdict(), **now._asdict(), "points": [list(point) for point in points], "is_new": is_new}


def readings(recording: Recording, pin: Pin, first: int, last: int) -> list[list[Value]]:
    """What an expression comes to in some ticks: from which tick on, the value, what is wrong, and at which column."""
    found: list[tuple[int, Reading]] = [(first, reading(pin.text, None))]
    for stay in recording.stays(first, last):
        if stay.name == pin.agent:
            for tick, _, view in recording.patches(stay, first, last):
                values = NamedValues(values_by_name(offered(view))) if isinstance(view, Mapping) else None
                found.append((tick, reading(pin.text, values)))
            if stay.last is not None and stay.last <= last:
                found.append((stay.last, reading(pin.text, None)))
    rows: list[list[Value]] = []
    for at, (tick, now) in enumerate(found):
        is_over = at + 1 < len(found) and found[at + 1][0] <= tick  # it came, or came back, in the same tick
        if not is_over and (not rows or rows[-1][1:] != list(now) or type(rows[-1][1]) is not type(now.value)):
            rows.append([tick, *now])
    return rows


class LivePins:
    """What is pinned of a runtime that lives, by all clients."""

    def __init__(self) -> None:
        self._lines: dict[Pin, deque[Point]] = {}
        self._totals: dict[Pin, int] = {}  # how many points each line ever had
        self._now: dict[Pin, Reading] = {}
        self._tick: int | None = None

    def look(self, tick: int, pins: Iterable[Pin], view_of: Callable[[str], View | None]) -> None:
        """Look at all that is pinned, in a tick; what is not pinned any more is forgotten."""
        wanted = dict.fromkeys(pins)
        is_same_tick = tick == self._tick
        self._tick = tick
        for pin in [pin for pin in self._lines if pin not in wanted]:
            del self._lines[pin], self._totals[pin], self._now[pin]
        values: dict[str, NamedValues | None] = {}
        for pin in wanted:
            if is_same_tick and pin in self._lines:
                continue
            try:
                if pin.agent not in values:
                    view = view_of(pin.agent)
                    values[pin.agent] = None if view is None else NamedValues(values_by_name(offered(view)))
                now = reading(pin.text, values[pin.agent])
            except ENDS_PROGRAM:
                raise
            except BaseException as error:  # one that cannot be shown keeps nobody from the rest
                now = Reading(None, f"it could not be shown: {words_of(error)}")
            self._now[pin] = now
            self._lines.setdefault(pin, deque(maxlen=KEPT_POINTS)).append((tick, now.number()))
            self._totals[pin] = self._totals.get(pin, 0) + 1

    def messages(self, session: Session, tick: int) -> Iterator[Message]:
        """What a client is told of what it pinned, if there is news."""
        pins = session.watch.pins
        told = session.told.get(_KIND)
        known: dict[object, object] = told if isinstance(told, dict) else {}
        totals = {pin: self._totals.get(pin, 0) for pin in pins}
        if (told is None and not pins) or not session.is_news(_KIND, totals):
            return
        rows: list[Message] = []
        for pin in pins:
            line, total, before = self._lines[pin], totals[pin], known.get(pin)
            fresh = total - before if isinstance(before, int) else -1
            is_new = not 0 <= fresh <= len(line)  # it has none, or lacks some that are gone
            points = list(line) if is_new else list(line)[len(line) - fresh :]
            rows.append(_row(pin, self._now[pin], points, is_new=is_new))
        yield {"is": _KIND, "tick": tick, "rows": rows}


class RecordedPins:
    """What is pinned of a recording, by all clients."""

    def __init__(self, recording: Recording, clock: Callable[[], float] = time.perf_counter) -> None:
        self._recording = recording
        self._clock = clock
        self._lines: dict[Pin, dict[int, float | None]] = {}  # what was read of them, by tick
        self._seen: dict[str, tuple[int, NamedValues | None]] = {}  # of an agent, the tick that was read last

    def read(self, pins: Iterable[Pin], last: int) -> None:
        """Read some of what is missing of all lines, up to the last tick; what is not pinned any more is forgotten."""
        wanted = dict.fromkeys(pins)
        self._lines = {pin: self._lines.get(pin, {}) for pin in wanted}
        self._seen = {agent: seen for agent, seen in self._seen.items() if any(pin.agent == agent for pin in wanted)}
        pinned = sorted(wanted)
        begin = self._clock()
        ticks = self._ticks(last)
        for tick in chain(ticks[::16], ticks[::4], ticks) if pinned else ():  # the shape of the whole line comes first
            missing = [pin for pin in pinned if tick not in self._lines[pin]]
            for pin in missing:  # those of one agent share what is read of a tick
                self._lines[pin][tick] = self._reading(pin, tick).number()
            if missing and self._clock() - begin > _ROUND_SECONDS:
                break

    def _ticks(self, last: int) -> range:
        """The ticks in which a line has points."""
        first = self._recording.first_tick
        step = 1
        while (last - first) // step > _MOST_SAMPLES:
            step *= 2
        return range(first, last + 1, step)

    def _values(self, agent: str, tick: int) -> NamedValues | None:
        seen = self._seen.get(agent)
        if seen is not None and seen[0] == tick:
            return seen[1]
        view = self._recording.view(agent, tick)
        values = None if view is None else NamedValues(values_by_name(offered(view)))
        self._seen[agent] = tick, values
        return values

    def _reading(self, pin: Pin, tick: int) -> Reading:
        try:
            return reading(pin.text, self._values(pin.agent, tick))
        except AgentRTError as error:  # the file is broken there; the rest can be looked at
            return Reading(None, words_of(error))
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # likewise
            return Reading(None, f"it could not be shown: {words_of(error)}")

    def messages(self, session: Session, tick: int, last: int) -> Iterator[Message]:
        """What a client is told of what it pinned, in a tick of a recording that reaches up to the last one."""
        pins = session.watch.pins
        if not pins and session.told.get(_KIND) is None:
            return
        now = {pin: self._reading(pin, tick) for pin in pins}
        ticks = self._ticks(last)
        read = {pin: self._lines.get(pin, {}) for pin in pins}
        lines = {pin: [(at, line[at]) for at in ticks if at in line] for pin, line in read.items()}
        told = session.told.get(_KIND)
        known: dict[object, object] = told[1] if isinstance(told, tuple) and isinstance(told[1], dict) else {}
        shape = {pin: (len(line), ticks[-1]) for pin, line in lines.items()}
        if session.is_news(_KIND, (tick, shape)):
            rows = [
                _row(pin, now[pin], lines[pin], is_new=True)
                if known.get(pin) != shape[pin]
                else _row(pin, now[pin], (), is_new=False)
                for pin in pins
            ]
            yield {"is": _KIND, "tick": tick, "first": self._recording.first_tick, "last": last, "rows": rows}
