"""OpenTelemetry: the spans of a run, for whatever tool takes them.

Two ways out:

* ``write_otlp`` writes a recording as OTLP in JSON, a request on each line. That is what the collector's file receiver
  reads, and what a collector takes at ``/v1/traces``. It needs no package.
* ``OtelExport`` hands spans to an exporter of ``opentelemetry-sdk`` (the extra ``otel``): of a recording, or
  live as a trace listener.

Each outermost span begins a trace: see ``exporting``. Attributes are called ``agentrt.agent``, ``agentrt.path``,
``agentrt.lane``, ``agentrt.outcome``, ``agentrt.tick.begin``, ``agentrt.tick.end``. What was aborted, and a strategy
that failed, has the status ERROR with the reason; preemption is no error.

Times are game time from the moment on when the recording was made; a live export begins where it is told.

Rejected: the SDK's own tracer and context. A tracer wants to be told when a span begins, on the thread where it
happens, with ids that it draws at random; here all is known at the end, and equal runs give equal ids.

Source: the OpenTelemetry protocol specification (OTLP 1.x), JSON Protobuf encoding; design section 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from agentrt.errors import MissingExtraError
from agentrt.record.exporting import Exported, SpanFold, Timeline, is_finite, json_line
from agentrt.record.spans import ABORTED, FAILED

if TYPE_CHECKING:
    from _typeshed import SupportsWrite
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter

    from agentrt.kernel.trace import TraceRecord
    from agentrt.record.recording import Recording

__all__ = ["OtelExport", "export_spans", "write_otlp"]

_BATCH = 512
_INTERNAL, _ERROR = 1, 2  # OTLP's numbers for a kind of span, and for a status
_SCOPE = "agentrt"


def _attributes(exported: Exported) -> dict[str, str | int]:
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
    """Write the spans of a recording as OTLP in JSON, one request on each line.

    Args:
        recording: what to write.
        out: where to.
        first: the first tick; None for the first that was kept.
        last: the last tick; None for the last.

    Returns:
        How many spans were written.

    Raises:
        RecordingError: the recording cannot be read.
    """
    resource = {"attributes": _pairs(_resource(recording))}
    written = 0
    for batch in _batches(_exported(recording, first, last)):
        spans = [_otlp(exported) for exported in batch]
        request = {
            "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": _SCOPE}, "spans": spans}]}]
        }
        out.write(json_line(request) + "\n")
        written += len(batch)
    return written


def _otlp(exported: Exported) -> dict[str, Any]:
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


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value if is_finite(value) else str(value)}
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

    Attributes:
        spans: how many spans were handed over.

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
        self.spans: int = 0
        self._exporter = exporter
        self._fold = SpanFold(Timeline(ticks_per_second, begin), run)
        self._resource = Resource({"service.name": _SCOPE, **(resource or {})})
        self._scope = InstrumentationScope(_SCOPE)
        self._batch = batch
        self._waiting: list[ReadableSpan] = []

    def feed(self, record: TraceRecord) -> None:
        """Take the next record.

        Args:
            record: what happened.
        """
        self._take(self._fold.feed(record))

    def close(self) -> None:
        """The run is over: hand over what is open, and what waits. The exporter is left to who made it."""
        self._take(self._fold.finish())
        self._flush()

    def _take(self, ended: Iterable[Exported]) -> None:
        for exported in ended:
            self._waiting.append(self._span(exported))
            if len(self._waiting) >= self._batch:
                self._flush()

    def _flush(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._exporter.export(waiting)
            self.spans += len(waiting)

    def _span(self, exported: Exported) -> ReadableSpan:
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
    """Hand the spans of a recording to an exporter of ``opentelemetry-sdk``.

    Args:
        recording: what to export.
        exporter: of the SDK.
        first: the first tick; None for the first that was kept.
        last: the last tick; None for the last.

    Returns:
        How many spans were handed over.

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


def _exported(recording: Recording, first: int | None, last: int | None) -> Iterable[Exported]:
    meta = recording.meta
    fold = SpanFold(Timeline(meta["ticks_per_second"], _created(meta)), _run(meta))
    for record in recording.records(first, last):
        yield from fold.feed(record)
    yield from fold.finish()


def _batches(spans: Iterable[Exported]) -> Iterable[Sequence[Exported]]:
    batch: list[Exported] = []
    for one in spans:
        batch.append(one)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


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
