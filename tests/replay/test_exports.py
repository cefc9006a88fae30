"""Exports: what other tools read has the form that they document, and holds what the run held."""

from __future__ import annotations

import io
import json

import pytest
from modules import load
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from agentrt.errors import MissingExtraError
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.record.export import OtelExport, PerfettoWriter, Timeline, export_spans, write_otlp, write_perfetto
from agentrt.record.recording import Recording
from agentrt.record.spans import SpanBuilder

yard = load("tests/replay/yard.py")


def rec(tick, path, event, agent="Ann", **detail):
    return TraceRecord(tick, agent, path, TraceEvent(event), tuple(detail.items()))


HUNT = [
    rec(1, "", "added"),
    rec(1, "", "added", agent="Bob"),
    rec(1, "top/Hunt", "run"),
    rec(1, "top/Hunt/chase/Chase", "run"),
    rec(2, "goals/hum", "start", priority=1),
    rec(2, "", "note", agent="", text="dawn", light=float("inf")),
    rec(3, "top/Hunt/chase/Chase", "abort", reason="lost it"),
    rec(3, "top/Hunt/chase/Chase", "stop"),
    rec(3, "top/Hunt", "stop"),
    rec(4, "", "removed", agent="Bob"),
]


# --- Perfetto ---------------------------------------------------------------------------------------------------------


def perfetto(records, **options):
    out = io.StringIO()
    writer = PerfettoWriter(out, 20, "a hunt", **options)
    for record in records:
        writer.feed(record)
    writer.close()
    data = json.loads(out.getvalue(), parse_constant=pytest.fail)
    assert len(data["traceEvents"]) == writer.events
    return data


@pytest.mark.states(
    "tools: Replay: A run opens in Perfetto: a group of tracks for each agent, slices within each other",
    source="design 7",
)
def test_a_run_as_trace_events():
    data = perfetto(HUNT)
    assert data["displayTimeUnit"] == "ms"
    events = [
        (one["ph"], one["pid"], one["tid"], one["name"], one.get("ts"), one.get("dur", one["args"].get("name")))
        for one in data["traceEvents"]
        if one["ph"] != "C" and one["name"] != "process_sort_index"
    ]
    assert events == [
        ("M", 0, 0, "process_name", None, "a hunt"),
        ("M", 1, 0, "process_name", None, "Ann"),
        ("M", 2, 0, "process_name", None, "Bob"),
        ("i", 0, 0, "note: dawn", 100_001, None),
        ("i", 1, 0, "abort", 150_000, None),
        ("M", 1, 1, "thread_name", None, "plan"),
        ("X", 1, 1, "Chase", 50_003, 99_998),
        ("X", 1, 1, "Hunt", 50_002, 100_000),
        ("M", 1, 2, "thread_name", None, "goals"),
        ("X", 1, 2, "hum", 100_000, 100_001),
    ]
    note, abort = [one for one in data["traceEvents"] if one["ph"] == "i"]
    assert note["args"] == {"path": "", "text": "dawn", "light": "inf"}
    assert (abort["s"], abort["args"]["reason"]) == ("p", "lost it")
    chase = next(one for one in data["traceEvents"] if one["name"] == "Chase")
    assert chase["args"] == {
        "path": "top/Hunt/chase/Chase", "outcome": "aborted", "begin": 1, "end": 3, "reason": "lost it"
    }  # fmt: skip
    counters = [(one["name"], one["ts"], one["args"]) for one in data["traceEvents"] if one["ph"] == "C"]
    assert counters[:4] == [
        ("records", 50_000, {"records": 4}),
        ("agents", 50_000, {"agents": 2}),
        ("records", 100_000, {"records": 2}),
        ("agents", 100_000, {"agents": 2}),
    ]
    assert counters[-1] == ("agents", 200_000, {"agents": 1})


def assert_valid(data):
    """The fields that the document of the format requires, and slices of one thread that lie within each other."""
    names = {"process_name": set(), "thread_name": set()}
    tracks = {}
    for one in data["traceEvents"]:
        assert {"name", "ph", "pid", "tid", "args"} <= set(one)
        assert all(type(one[key]) is int for key in ("pid", "tid"))
        if one["ph"] == "M":
            if one["name"] in names:
                assert (one["pid"], one["tid"]) not in names[one["name"]]
                names[one["name"]].add((one["pid"], one["tid"]))
            continue
        assert type(one["ts"]) is int
        assert one["ts"] >= 0
        assert (one["pid"], 0) in names["process_name"]
        if one["ph"] == "X":
            assert one["dur"] >= 0
            assert (one["pid"], one["tid"]) in names["thread_name"]
            tracks.setdefault((one["pid"], one["tid"]), []).append((one["ts"], -one["dur"]))
        else:
            assert one["ph"] in ("i", "C")
    for slices in tracks.values():
        ends = []
        for begin, length in sorted(slices):
            while ends and ends[-1] <= begin:
                ends.pop()
            assert not ends or begin - length <= ends[-1]
            ends.append(begin - length)


@pytest.mark.states("tools: Replay: A run opens in Perfetto: a group of tracks for each agent, slices within each ...")
def test_a_recording_opens_in_the_viewer(record):
    recording = record(ticks=60, between=yard.ringing)
    out = io.StringIO()
    count = write_perfetto(recording, out)
    data = json.loads(out.getvalue())
    assert count == len(data["traceEvents"])
    assert_valid(data)
    builder = SpanBuilder(keep=None)
    for one in recording.records():
        builder.feed(one)
    spans = [span for agent in builder.agents for span in builder.spans(agent)]
    slices = [one for one in data["traceEvents"] if one["ph"] == "X"]
    assert sorted(one["name"] for one in slices) == sorted(span.name for span in spans)
    assert data["traceEvents"][0]["args"]["name"] == "a world, seed 3"


def test_reading_only_what_is_shown_gives_the_same_file(record, root):
    def each(recording, first=None, last=None):
        out = io.StringIO()
        writer = PerfettoWriter(out, recording.meta["ticks_per_second"], "x")
        for one in recording.records(first, last):
            writer.feed(one)
        writer.close()
        return out.getvalue()

    def all_at_once(recording, first=None, last=None):
        out = io.StringIO()
        writer = PerfettoWriter(out, recording.meta["ticks_per_second"], "x")
        writer.feed_all(recording, first, last)
        writer.close()
        return out.getvalue()

    def between(runtime):
        yard.ringing(runtime)
        if runtime.tick == 7:
            runtime.note("between two ticks")  # it bears the number of the tick before

    recording = record(ticks=60, between=between)
    assert all_at_once(recording) == each(recording)
    assert all_at_once(recording, 7, 31) == each(recording, 7, 31)
    for path in sorted((root / "tests" / "data" / "recordings").glob("*.sqlite")):
        with Recording.open(path) as recording:
            assert all_at_once(recording) == each(recording), path.name


def test_a_range_of_ticks_can_be_exported(record):
    recording = record(ticks=30, between=yard.ringing)
    out = io.StringIO()
    write_perfetto(recording, out, first=10, last=20)
    data = json.loads(out.getvalue())
    assert_valid(data)
    times = [one["ts"] for one in data["traceEvents"] if "ts" in one]
    assert (min(times), max(times) < 21 * 50_000) == (500_000, True)


def test_nothing_is_a_trace_too():
    assert [one["name"] for one in perfetto([])["traceEvents"]] == ["process_name", "process_sort_index"]


def test_hostile_names_are_names():
    name = '"},\n\u2028<script>\udc80'
    data = perfetto([rec(1, "", "added", agent=name), rec(1, f"{name}/x", "run", agent=name)])
    assert data["traceEvents"][2]["args"]["name"] == name.replace("\udc80", "\\udc80")  # which is no text
    assert_valid(data)


# --- OpenTelemetry ----------------------------------------------------------------------------------------------------


def test_spans_for_the_sdk():
    exporter = InMemorySpanExporter()
    export = OtelExport(exporter, 20, begin=1_000_000_000, run="r", batch=2)
    for record in HUNT:
        export.feed(record)
    export.close()
    assert export.spans == 3
    chase, hunt, hum = exporter.get_finished_spans()
    assert [span.name for span in (chase, hunt, hum)] == ["Chase", "Hunt", "hum"]
    assert chase.parent.span_id == hunt.context.span_id
    assert chase.context.trace_id == hunt.context.trace_id != hum.context.trace_id
    assert hunt.parent is hum.parent is None
    assert (hunt.start_time, hunt.end_time) == (1_050_002_000, 1_150_002_000)
    assert (chase.status.status_code, chase.status.description) == (StatusCode.ERROR, "lost it")
    assert hum.status.status_code is StatusCode.UNSET
    assert [(event.name, event.timestamp, dict(event.attributes)) for event in chase.events] == [
        ("abort", 1_150_000_000, {"reason": "lost it"})
    ]
    assert dict(hum.attributes) == {
        "agentrt.agent": "Ann", "agentrt.path": "goals/hum", "agentrt.lane": "goals", "agentrt.outcome": "open",
        "agentrt.tick.begin": 2, "agentrt.tick.end": 4,
    }  # fmt: skip
    assert hunt.resource.attributes["service.name"] == "agentrt"
    assert hunt.instrumentation_scope.name == "agentrt"


def test_the_moments_of_a_span_are_bounded_and_belong_to_the_innermost():
    exporter = InMemorySpanExporter()
    export = OtelExport(exporter, 20)
    for record in [
        rec(1, "top/A", "run"),
        rec(1, "top/A/b/B", "run"),
        rec(2, "top/A/b/B", "timeout"),
        rec(2, "top/A/c", "storm"),
        *[rec(3, "top/A", "preempt") for _ in range(40)],
    ]:
        export.feed(record)
    export.close()
    inner, outer = exporter.get_finished_spans()
    assert [event.name for event in inner.events] == ["timeout"]
    assert [event.name for event in outer.events] == ["storm", *["preempt"] * 31]


def test_the_records_of_a_tick_stay_within_it():
    timeline = Timeline(20, begin=7)
    assert [timeline.at(0), timeline.at(2), timeline.at(2, 3)] == [7, 100_000_007, 100_003_007]
    assert timeline.at(2, 39_999) < timeline.at(2, 10**9) < timeline.at(3)
    with pytest.raises(ValueError, match="0 ticks per second: it takes a number above 0"):
        Timeline(0)


@pytest.mark.states("tools: Replay: A run is exported as OpenTelemetry spans, of a recording or live ...")
def test_a_live_run_can_be_exported():
    runtime = yard.Yard(clerks=0)(seed=1, host="plain")
    exporter = InMemorySpanExporter()
    export = OtelExport(exporter, 20)
    runtime.trace.listen(export.feed)
    for _ in range(30):
        if runtime.tick == 8:
            runtime.send("ring")
        runtime.step()
    runtime.close()
    export.close()
    assert [span.name for span in exporter.get_finished_spans()][:2] == ["Watch", "Chase"]


def otlp(recording, **options):
    out = io.StringIO()
    count = write_otlp(recording, out, **options)
    requests = [json.loads(line) for line in out.getvalue().splitlines()]
    spans = [
        span
        for one in requests
        for part in one["resourceSpans"]
        for scope in part["scopeSpans"]
        for span in scope["spans"]
    ]
    assert count == len(spans)
    return requests, spans


@pytest.mark.states(
    "tools: Replay: A run is exported as OpenTelemetry spans, of a recording or live",
    source="design 7",
)
def test_a_recording_as_otlp(record):
    """As the protocol has it: ids in hexadecimal digits, large numbers as texts, every parent in the same trace."""
    recording = record(ticks=60, between=yard.ringing)
    requests, spans = otlp(recording)
    resource = {pair["key"]: pair["value"] for pair in requests[0]["resourceSpans"][0]["resource"]["attributes"]}
    assert resource["service.name"] == {"stringValue": "agentrt"}
    assert resource["agentrt.seed"] == {"stringValue": "3"}
    by_id = {span["spanId"]: span for span in spans}
    assert len(by_id) == len(spans) > 10
    for span in spans:
        assert (len(span["traceId"]), len(span["spanId"]), span["kind"]) == (32, 16, 1)
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        if "parentSpanId" in span:
            outer = by_id[span["parentSpanId"]]
            assert outer["traceId"] == span["traceId"]
            assert int(outer["startTimeUnixNano"]) <= int(span["startTimeUnixNano"])
            assert int(span["endTimeUnixNano"]) <= int(outer["endTimeUnixNano"])
        attributes = {pair["key"]: pair["value"] for pair in span["attributes"]}
        assert attributes["agentrt.tick.begin"]["intValue"].isdigit()


@pytest.mark.states("tools: Replay: A run is exported as OpenTelemetry spans, of a recording or live ...")
def test_both_ways_give_the_same_spans(record):
    recording = record(ticks=60, between=yard.ringing)
    exporter = InMemorySpanExporter()
    count = export_spans(recording, exporter)
    _, spans = otlp(recording)
    assert count == len(spans)
    assert [
        (
            span.name,
            f"{span.context.trace_id:032x}",
            f"{span.context.span_id:016x}",
            str(span.start_time),
            len(span.events),
        )
        for span in exporter.get_finished_spans()
    ] == [
        (span["name"], span["traceId"], span["spanId"], span["startTimeUnixNano"], len(span.get("events", ())))
        for span in spans
    ]


@pytest.mark.slow
def test_many_spans_are_several_requests(record):
    def work(runtime):
        runtime.trace.emit(TraceRecord(runtime.tick, "Ann", "top/A", TraceEvent.RUN))
        runtime.trace.emit(TraceRecord(runtime.tick, "Ann", "top/A", TraceEvent.FINISH))

    requests, spans = otlp(record(yard.Yard(every_tick=work, clerks=0), ticks=1100, views="none"))
    assert [len(one["resourceSpans"][0]["scopeSpans"][0]["spans"]) for one in requests][:2] == [512, 512]
    assert len(spans) > 1100


@pytest.mark.checkout
def test_without_the_package_the_error_says_which_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with pytest.raises(MissingExtraError, match=r"pip install -e '.\[otel\]'"):
        OtelExport(InMemorySpanExporter(), 20)
