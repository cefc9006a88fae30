"""Exports: the spans of a run as other tools want them.

An ``_Exported`` is a span with what its neighbors need to find each other: its own id, that of the span it lies within,
and that of the whole *trace* it belongs to, as OpenTelemetry calls it. A trace here is what one outermost span holds:
one plan from its root to its end, one stay of a goal. A trace for the whole life of an agent would be one that no tool
shows. Rules:

* Ids come from what the span is (run, agent, path, when), by a hash: equal runs export equal files.
* A tick is a moment, and much may happen in it, one thing within another. So that the order can be seen, each record of
  a tick is put one microsecond after the one before, as long as the tick has room.
* Times are game time, from the moment on when the recording was made; a live export begins where it is told.
* What is open in the end is exported with the last tick as its end, and ``open`` as its outcome.
* It works on a live run as well: a ``SpanFold`` is fed by whoever has records. What is in memory is what is open.

Three ways out:

* ``write_otlp`` needs no package. A request on each line is what the collector's file receiver reads, and what a
  collector takes at ``/v1/traces``.
* ``OtelExport`` hands spans to an exporter of ``opentelemetry-sdk`` (the extra ``otel``): of a recording, or live as a
  trace listener. What was aborted, and a strategy that failed, has the status ERROR with the reason; preemption is no
  error.
* Perfetto: Chrome trace events. Each agent is a *process*, each lane of it a *thread*. ``X`` is a slice, ``i`` a
  moment, ``C`` a counter, ``M`` the name of a track. Slices are written when they end, so an outer one comes after what
  lies within it; the format leaves the order free.

Rejected: the SDK's own tracer and context. A tracer wants to be told when a span begins, on the thread where it
happens, with ids that it draws at random; here all is known at the end, and equal runs give equal ids.

Source: the OpenTelemetry protocol specification (OTLP 1.x), JSON Protobuf encoding; the Trace Event Format document of
the Chromium project, "Complete events", "Instant events", "Counter events", "Metadata events".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import blake2b
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.errors import MissingExtraError
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.record.spans import ABORTED, FAILED, FOLDED, Span, SpanBuilder

if TYPE_CHECKING:
    from _typeshed import SupportsWrite
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter

    from agentrt.record.recording import Recording


_INSTANTS = (  # what is shown as a moment
    TraceEvent.PREEMPT, TraceEvent.ABORT, TraceEvent.KILLED, TraceEvent.RESTARTED, TraceEvent.DISABLED,
    TraceEvent.FAULT, TraceEvent.STORM, TraceEvent.TIMEOUT, TraceEvent.COMPLETE, TraceEvent.INTERRUPTED,
    TraceEvent.RESUMED, TraceEvent.NOTE,
)  # fmt: skip
_MOST_MOMENTS = 32  # of one span: they wait in memory until it ends
_ROOM = 0.8  # of a tick, for the order of its records


def _is_finite(value: object) -> bool:
    """Whether a value of a record can stand in JSON as it is: infinite numbers cannot."""
    return not isinstance(value, float) or value - value == 0


_encode = json.JSONEncoder(separators=(",", ":")).encode
_quoted = json.encoder.encode_basestring_ascii


def _json_line(value: object) -> str:
    """Plain data as one line of JSON in ASCII, which every reader takes.

    Half of a surrogate pair is no text, and a strict reader refuses the file: it is written as its escape.
    """
    line = _encode(value)
    if "\\ud" in line:  # there may be whole pairs, too
        line = _encode(_whole(value))
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
    """Where ticks lie on a clock, which shows ``begin`` at tick 0, in nanoseconds."""

    def __init__(self, ticks_per_second: float, begin: int = 0) -> None:
        if not ticks_per_second > 0:
            raise ValueError(f"{ticks_per_second!r} ticks per second: it takes a number above 0")
        self._tick = 1e9 / ticks_per_second
        self._begin = begin

    def at(self, tick: int, place: int = 0) -> int:
        """When something happened, in nanoseconds; so many records of that tick came before."""
        return self._begin + int(tick * self._tick + min(place * 1000, self._tick * _ROOM))


class _Exported(NamedTuple):
    """A span with its place among others."""

    span: Span
    trace_id: bytes  # which trace it belongs to, 16 bytes
    span_id: bytes  # its own id, 8 bytes
    parent_id: bytes  # that of the span it lies within; empty for an outermost one
    begin: int  # when it began, in nanoseconds
    end: int  # when it ended
    # what happened within it, and within nothing that lies deeper; and when, in nanoseconds
    moments: tuple[tuple[int, TraceRecord], ...]


class SpanFold:
    """Folds trace records into spans for other tools; ``run`` tells this run from others, and is part of every id."""

    def __init__(self, timeline: Timeline, run: str = "") -> None:
        self._timeline = timeline
        self._run = run
        self._builder = SpanBuilder(keep=0)
        self._moments: dict[tuple[str, str], list[tuple[int, TraceRecord]]] = {}
        self._tick = 0
        self._place = 0

    def feed(self, record: TraceRecord) -> list[_Exported]:
        """Take the next record; returns the spans that ended with it, inner ones first."""
        self._place = self._place + 1 if record.tick == self._tick else 0
        self._tick = record.tick
        if record.event in _INSTANTS and record.agent:
            self._note(record)
        return self._export(self._builder.feed(record))

    def finish(self) -> Iterator[_Exported]:
        """The trace is over: what is open ends."""
        for agent in self._builder.agents:
            spans = self._builder.open_spans(agent)
            ended = [span._replace(end=self._tick, last=self._place + 1) for span in reversed(spans)]
            yield from self._export(ended)

    def _note(self, record: TraceRecord) -> None:
        """Put a moment to the innermost open span that it happened in."""
        spans = self._builder.open_spans(record.agent)  # in the order in which they began: the innermost comes last
        around = [span for span in spans if f"{record.path}/".startswith(f"{span.path}/")]
        if around:
            moments = self._moments.setdefault((record.agent, around[-1].path), [])
            if len(moments) < _MOST_MOMENTS:
                moments.append((self._timeline.at(record.tick, self._place), record))

    def _export(self, ended: list[Span]) -> list[_Exported]:
        if not ended:
            return []
        # What lies around one that ended is open still, or ended with it; all of them are of the record's agent.
        known = (*self._builder.open_spans(ended[0].agent), *ended)
        lanes = {(span.lane, span.depth): span for span in known}
        exported = []
        for span in ended:
            outermost = lanes.get((span.lane, 0), span)
            outer = lanes.get((span.lane, span.depth - 1))
            exported.append(
                _Exported(
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


_WORLD = 0  # the process of what belongs to no agent


_SHOWN = FOLDED | {TraceEvent.ADDED} | set(_INSTANTS)  # what a file for Perfetto is made of


def _text(value: str) -> str:
    """A text as JSON, as ``_json_line`` writes it; what lies around it is written where it is."""
    text = _quoted(value)
    return _json_line(value) if "\\ud" in text else text


class PerfettoWriter:
    """Writes one run, which has a title; feed it every record, in order, and close it."""

    def __init__(self, out: SupportsWrite[str], ticks_per_second: float, title: str = "") -> None:
        self.events: int = 0  # how many events were written
        self._out = out
        self._timeline = Timeline(ticks_per_second)
        self._builder = SpanBuilder(keep=0)
        self._processes: dict[str, int] = {"": _WORLD}
        self._threads: dict[tuple[str, str], int] = {}
        self._tick = -1
        self._place = 0
        self._agents = 0
        self._out.write('{"displayTimeUnit":"ms","traceEvents":[')
        self._begin_process(_WORLD, title or "the world")

    def feed(self, record: TraceRecord) -> None:
        """Take the next record."""
        self._begin_tick(record.tick)
        if record.event in _SHOWN:
            self._take(record, self._place)
        self._place += 1

    def feed_all(self, recording: Recording, first: int | None = None, last: int | None = None) -> None:
        """Take the records of a range of ticks: the same as feeding each, and most of them are not even looked at.

        Raises:
            RecordingError: the recording cannot be read.
        """
        for batch in recording.batches(_SHOWN, first, last):
            if batch.is_whole:
                for _, record in batch.placed:
                    self.feed(record)
                continue
            self._begin_tick(batch.tick)
            for place, record in batch.placed:
                self._take(record, self._place + place)
            self._place += batch.amount

    def close(self) -> None:
        """The run is over: write what is open, and the end."""
        self._end_tick()
        for agent in self._builder.agents:
            for span in reversed(self._builder.open_spans(agent)):
                self._slice(span._replace(end=self._tick, last=self._place))
        self._out.write("\n]}\n")

    def _begin_tick(self, tick: int) -> None:
        if tick != self._tick:
            self._end_tick()
            for span in self._builder.end_tick(self._place):
                self._slice(span)
            self._tick, self._place = tick, 0

    def _take(self, record: TraceRecord, place: int) -> None:
        event = record.event
        if event is TraceEvent.ADDED:
            self._process(record.agent)  # so that the viewer has them in the order in which they came
            self._agents += 1
        elif event is TraceEvent.REMOVED:
            self._agents -= 1
        if event in _INSTANTS:
            self._instant(record, place)
        if event in FOLDED:
            for span in self._builder.feed(record, place):
                self._slice(span)

    # --- events -------------------------------------------------------------------------------------------------------

    def _slice(self, span: Span) -> None:
        end_tick = self._tick if span.end is None else span.end
        process, thread = self._process(span.agent), self._thread(span.agent, span.lane)
        begin = self._timeline.at(span.begin, span.first) // 1000
        duration = self._timeline.at(end_tick, span.last) // 1000 - begin
        reason = f',"reason":{_text(span.reason)}' if span.reason else ""
        self._write(
            f'{{"name":{_text(span.name)},"cat":{_text(span.lane)},"ph":"X","pid":{process},"tid":{thread},'
            f'"ts":{begin},"dur":{duration},"args":{{"path":{_text(span.path)},"outcome":{_text(span.outcome)},'
            f'"begin":{span.begin},"end":{end_tick}{reason}}}}}'
        )

    def _instant(self, record: TraceRecord, place: int) -> None:
        detail = {key: value if _is_finite(value) else str(value) for key, value in record.detail}
        name = f"{record.event.value}: {detail['text']}" if "text" in detail else record.event.value
        # A moment belongs to the whole agent: which of its lanes is in the path.
        event = {
            "name": name, "cat": record.event.value, "ph": "i", "s": "p", "pid": self._process(record.agent), "tid": 0,
            "ts": self._timeline.at(record.tick, place) // 1000, "args": {"path": record.path, **detail},
        }  # fmt: skip
        self._write(_json_line(event))

    def _end_tick(self) -> None:
        if self._tick >= 0:
            at = self._timeline.at(self._tick) // 1000
            told = f'"ph":"C","pid":{_WORLD},"tid":0,"ts":{at},"args":'
            self._write(f'{{"name":"records",{told}{{"records":{self._place}}}}}')
            self._write(f'{{"name":"agents",{told}{{"agents":{self._agents}}}}}')

    # --- tracks -------------------------------------------------------------------------------------------------------

    def _process(self, agent: str) -> int:
        number = self._processes.get(agent)
        if number is None:
            number = self._processes[agent] = len(self._processes)
            self._begin_process(number, agent)
        return number

    def _thread(self, agent: str, lane: str) -> int:
        number = self._threads.get((agent, lane))
        if number is None:
            number = self._threads[agent, lane] = len(self._threads) + 1
            self._name("thread_name", self._process(agent), number, {"name": lane})
        return number

    def _begin_process(self, number: int, name: str) -> None:
        self._name("process_name", number, 0, {"name": name})
        self._name("process_sort_index", number, 0, {"sort_index": number})

    def _name(self, what: str, process: int, thread: int, args: dict[str, Any]) -> None:
        self._write(_json_line({"name": what, "ph": "M", "pid": process, "tid": thread, "args": args}))

    def _write(self, event: str) -> None:
        self._out.write(f",\n{event}" if self.events else f"\n{event}")
        self.events += 1


def write_perfetto(
    recording: Recording, out: SupportsWrite[str], *, first: int | None = None, last: int | None = None
) -> int:
    """Write a recording, from tick ``first`` to ``last`` (None: all that was kept); returns how many events it gave.

    Raises:
        RecordingError: the recording cannot be read.
    """
    meta = recording.meta
    writer = PerfettoWriter(out, meta["ticks_per_second"], f"{meta['world'] or 'a world'}, seed {meta['seed']}")
    writer.feed_all(recording, first, last)
    writer.close()
    return writer.events


_BATCH = 512
_INTERNAL, _ERROR = 1, 2  # OTLP's numbers for a kind of span, and for a status
_SCOPE = "agentrt"


def _attributes(exported: _Exported) -> dict[str, str | int]:
    span = exported.span
    told: dict[str, str | int] = {
        "agentrt.agent": span.agent,
        "agentrt.path": span.path,
        "agentrt.lane": span.lane,
        "agentrt.outcome": span.outcome,
        "agentrt.tick.begin": span.begin,
    }
    if span.end is not None:
        told["agentrt.tick.end"] = span.end
    if span.reason:
        told["agentrt.reason"] = span.reason
    return told


# --- OTLP in JSON -----------------------------------------------------------------------------------------------------


def write_otlp(
    recording: Recording, out: SupportsWrite[str], *, first: int | None = None, last: int | None = None
) -> int:
    """Write the spans of some ticks (None: of all) as OTLP in JSON, a request on each line; returns how many they were.

    Raises:
        RecordingError: the recording cannot be read.
    """
    meta = recording.meta
    fold = SpanFold(Timeline(meta["ticks_per_second"], _created(meta)), _run(meta))
    ended = chain.from_iterable(fold.feed(record) for record in recording.records(first, last))
    exported = chain(ended, fold.finish())  # what is open ends when all else was read
    resource = {"attributes": _pairs(_resource(recording))}
    written = 0
    while batch := list(islice(exported, _BATCH)):
        spans = [_otlp(one) for one in batch]
        request = {
            "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": _SCOPE}, "spans": spans}]}]
        }
        out.write(_json_line(request) + "\n")
        written += len(batch)
    return written


def _otlp(exported: _Exported) -> dict[str, Any]:
    span = exported.span
    data: dict[str, Any] = {
        "traceId": exported.trace_id.hex(),
        "spanId": exported.span_id.hex(),
        "name": span.name,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(exported.begin),
        "endTimeUnixNano": str(exported.end),
        "attributes": _pairs(_attributes(exported)),
    }
    if exported.parent_id:
        data["parentSpanId"] = exported.parent_id.hex()
    if exported.moments:
        data["events"] = [
            {"timeUnixNano": str(at), "name": record.event.value, "attributes": _pairs(dict(record.detail))}
            for at, record in exported.moments
        ]
    if span.outcome in (ABORTED, FAILED):
        data["status"] = {"code": _ERROR, "message": span.reason}
    return data


def _pairs(told: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in told.items() if value is not None]


def _value(value: object) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value if _is_finite(value) else str(value)}
    return {"stringValue": str(value)}


# --- the SDK ----------------------------------------------------------------------------------------------------------


class OtelExport:
    """Hands the spans of a run to an exporter of ``opentelemetry-sdk``; feed it every record, in order, and close it.

    ``runtime.trace.listen(export.feed)`` exports a live run: what the exporter raises ends it, and not the run.

    Args:
        exporter: of the SDK, such as ``OTLPSpanExporter``.
        ticks_per_second: how many ticks make one second of game time.
        begin: the time of tick 0, in nanoseconds since 1970.
        run: what tells this run from others; part of every id.
        resource: attributes of what made the spans.
        batch: how many spans are handed over at once.

    Raises:
        MissingExtraError: ``opentelemetry-sdk`` is not installed.
    """

    def __init__(
        self,
        exporter: SpanExporter,
        ticks_per_second: float,
        *,
        begin: int = 0,
        run: str = "",
        resource: dict[str, str] | None = None,
        batch: int = _BATCH,
    ) -> None:
        try:
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.util.instrumentation import InstrumentationScope
        except ModuleNotFoundError as error:
            raise MissingExtraError("otel", error.name or "opentelemetry") from error
        self.spans: int = 0  # how many spans were handed over
        self._exporter = exporter
        self._fold = SpanFold(Timeline(ticks_per_second, begin), run)
        self._resource = Resource({"service.name": _SCOPE, **(resource or {})})
        self._scope = InstrumentationScope(_SCOPE)
        self._batch = batch
        self._waiting: list[ReadableSpan] = []

    def feed(self, record: TraceRecord) -> None:
        """Take the next record."""
        self._take(self._fold.feed(record))

    def close(self) -> None:
        """The run is over: hand over what is open, and what waits. The exporter is left to who made it."""
        self._take(self._fold.finish())
        self._flush()

    def _take(self, ended: Iterable[_Exported]) -> None:
        for exported in ended:
            self._waiting.append(self._span(exported))
            if len(self._waiting) >= self._batch:
                self._flush()

    def _flush(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._exporter.export(waiting)
            self.spans += len(waiting)

    def _span(self, exported: _Exported) -> ReadableSpan:
        from opentelemetry.sdk.trace import Event, ReadableSpan
        from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

        def context(span_id: bytes) -> SpanContext:
            return SpanContext(
                int.from_bytes(exported.trace_id), int.from_bytes(span_id), False, TraceFlags(TraceFlags.SAMPLED)
            )

        span = exported.span
        return ReadableSpan(
            name=span.name,
            context=context(exported.span_id),
            parent=context(exported.parent_id) if exported.parent_id else None,
            resource=self._resource,
            attributes=_attributes(exported),
            events=[
                Event(record.event.value, {k: v for k, v in record.detail if v is not None}, timestamp=at)
                for at, record in exported.moments
            ],
            kind=SpanKind.INTERNAL,
            instrumentation_scope=self._scope,
            status=Status(StatusCode.ERROR, span.reason) if span.outcome in (ABORTED, FAILED) else Status(),
            start_time=exported.begin,
            end_time=exported.end,
        )


def export_spans(
    recording: Recording, exporter: SpanExporter, *, first: int | None = None, last: int | None = None
) -> int:
    """Hand the spans of some ticks (None: of all) to an exporter of ``opentelemetry-sdk``; returns how many they were.

    Raises:
        MissingExtraError: ``opentelemetry-sdk`` is not installed.
        RecordingError: the recording cannot be read.
    """
    meta = recording.meta
    export = OtelExport(
        exporter, meta["ticks_per_second"], begin=_created(meta), run=_run(meta), resource=_resource(recording)
    )
    for record in recording.records(first, last):
        export.feed(record)
    export.close()
    return export.spans


# --- recordings -------------------------------------------------------------------------------------------------------


def _created(meta: dict[str, Any]) -> int:
    """When a recording was made, in nanoseconds since 1970; 0 if it says nothing that can be read."""
    try:
        return int(datetime.fromisoformat(str(meta.get("created"))).timestamp()) * 1_000_000_000
    except (ValueError, OverflowError):
        return 0


def _run(meta: dict[str, Any]) -> str:
    return ascii((meta["world"], meta["seed"], meta.get("created")))


def _resource(recording: Recording) -> dict[str, str]:
    meta = recording.meta
    return {
        "service.name": _SCOPE,
        "agentrt.version": str(meta.get("agentrt", "")),
        "agentrt.world": str(meta["world"]),
        "agentrt.seed": str(meta["seed"]),
    }
