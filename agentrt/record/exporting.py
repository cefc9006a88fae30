"""Exporting: spans as other tools want them, with ids, times of a clock, and what happened within them.

An ``Exported`` is a span with what its neighbors need to find each other: its own id, that of the span it lies within,
and that of the whole *trace* it belongs to, as OpenTelemetry calls it. A trace here is what one outermost span holds:
one plan from its root to its end, one stay of a goal. A trace for the whole life of an agent would be one that no tool
shows.

Rules:

* Ids come from what the span is (run, agent, path, when), by a hash: equal runs export equal files.
* A tick is a moment, and much may happen in it, one thing within another. So that the order can be seen, each record of
  a tick is put one microsecond after the one before, as long as the tick has room.
* What is open in the end is exported with the last tick as its end, and ``open`` as its outcome.

Works on a live run as well: a ``SpanFold`` is fed by whoever has records.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

from agentrt.kernel.trace import Event, TraceRecord
from agentrt.record.spans import Span, SpanBuilder

__all__ = ["INSTANTS", "Exported", "Moment", "SpanFold", "Timeline", "is_finite", "json_line"]

INSTANTS = (
    Event.PREEMPT, Event.ABORT, Event.KILLED, Event.RESTARTED, Event.DISABLED, Event.FAULT, Event.STORM, Event.TIMEOUT,
    Event.COMPLETE, Event.INTERRUPTED, Event.RESUMED, Event.NOTE,
)  # fmt: skip
"""The events that are shown as moments."""

_MOST_MOMENTS = 32
_ROOM = 0.8  # of a tick, for the order of its records


def is_finite(value: object) -> bool:
    """Whether a value of a record can stand in JSON as it is: infinite numbers cannot.

    Args:
        value: any.
    """
    return not isinstance(value, float) or value - value == 0


def json_line(value: object) -> str:
    """Plain data as one line of JSON in ASCII, which every reader takes.

    Half of a surrogate pair is no text, and a strict reader refuses the file: it is written as its escape.

    Args:
        value: what ``json.dumps`` takes.
    """
    line = json.dumps(value, separators=(",", ":"))
    if "\\ud" in line:  # there may be whole pairs, too
        line = json.dumps(_whole(value), separators=(",", ":"))
    return line


def _whole(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_whole(key): _whole(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(one) for one in value]
    return value


class Timeline:
    """Where ticks lie on a clock.

    Args:
        ticks_per_second: how many ticks make one second.
        begin: what the clock shows at tick 0, in nanoseconds.
    """

    def __init__(self, ticks_per_second: float, begin: int = 0) -> None:
        if not ticks_per_second > 0:
            raise ValueError(f"{ticks_per_second!r} ticks per second: it takes a number above 0")
        self._tick = 1e9 / ticks_per_second
        self._begin = begin

    def at(self, tick: int, place: int = 0) -> int:
        """When something happened, in nanoseconds.

        Args:
            tick: in which tick.
            place: how many records of that tick came before.
        """
        return self._begin + int(tick * self._tick + min(place * 1000, self._tick * _ROOM))


class Moment(NamedTuple):
    """Something that happened within a span.

    Attributes:
        at: when, in nanoseconds.
        record: what.
    """

    at: int
    record: TraceRecord


class Exported(NamedTuple):
    """A span with its place among others.

    Attributes:
        span: the span.
        trace_id: which trace it belongs to, 16 bytes.
        span_id: its own id, 8 bytes.
        parent_id: that of the span it lies within; empty for an outermost one.
        begin: when it began, in nanoseconds.
        end: when it ended.
        moments: what happened within it, and within nothing that lies deeper.
    """

    span: Span
    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    begin: int
    end: int
    moments: tuple[Moment, ...]


class SpanFold:
    """Folds trace records into spans for other tools.

    Args:
        timeline: when the ticks are.
        run: what tells this run from others; part of every id.
    """

    def __init__(self, timeline: Timeline, run: str = "") -> None:
        self._timeline = timeline
        self._run = run
        self._builder = SpanBuilder(keep=0)
        self._moments: dict[tuple[str, str], list[Moment]] = {}
        self._tick = 0
        self._place = 0

    def feed(self, record: TraceRecord) -> list[Exported]:
        """Take the next record.

        Args:
            record: what happened.

        Returns:
            The spans that ended with it, inner ones first.
        """
        self._place = self._place + 1 if record.tick == self._tick else 0
        self._tick = record.tick
        if record.event in INSTANTS and record.agent:
            self._note(record)
        return self._export(self._builder.feed(record))

    def finish(self) -> Iterator[Exported]:
        """The trace is over: what is open ends."""
        for agent in self._builder.agents:
            spans = self._builder.open_spans(agent)
            ended = [span._replace(end=self._tick, last=self._place + 1) for span in reversed(spans)]
            yield from self._export(ended)

    def _note(self, record: TraceRecord) -> None:
        """Put a moment to the innermost open span that it happened in."""
        inner: Span | None = None
        for span in self._builder.open_spans(record.agent):
            if record.path == span.path or record.path.startswith(span.path + "/"):
                inner = span
        if inner is not None:
            moments = self._moments.setdefault((record.agent, inner.path), [])
            if len(moments) < _MOST_MOMENTS:
                moments.append(Moment(self._timeline.at(record.tick, self._place), record))

    def _export(self, ended: list[Span]) -> list[Exported]:
        if not ended:
            return []
        lanes = {(span.lane, span.depth): span for span in self._builder.open_spans(ended[0].agent)}
        lanes.update(((span.lane, span.depth), span) for span in ended)
        exported = []
        for span in ended:
            outermost = lanes.get((span.lane, 0), span)
            outer = lanes.get((span.lane, span.depth - 1))
            exported.append(
                Exported(
                    span=span,
                    trace_id=self._id(outermost, 16),
                    span_id=self._id(span, 8),
                    parent_id=b"" if outer is None else self._id(outer, 8),
                    begin=self._timeline.at(span.begin, span.first),
                    end=self._timeline.at(self._tick if span.end is None else span.end, span.last),
                    moments=tuple(self._moments.pop((span.agent, span.path), ())),
                )
            )
        return exported

    def _id(self, span: Span, size: int) -> bytes:
        told = ascii((self._run, span.agent, span.path, span.begin, span.first, size))
        return blake2b(told.encode(), digest_size=size).digest()
