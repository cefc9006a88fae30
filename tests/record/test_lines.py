"""The trace in a file: what was packed is read again, and the digest is that of the trace."""

from __future__ import annotations

import contextlib
import json
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt.errors import RecordingError
from agentrt.kernel.trace import TraceDigest, TraceEvent, TraceHub, TraceRecord
from agentrt.record.lines import EMPTY_DIGEST, LineWriter, Segment, pack, unpack

texts = st.text(alphabet=st.characters(), max_size=4)  # halves of surrogate pairs as well
plain = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), texts, st.sampled_from([0, 0.0, -0.0, False, 1, True, 1.0])
)
details = st.lists(st.tuples(texts, plain), max_size=3).map(tuple)
records = st.builds(
    TraceRecord,
    tick=st.just(None),
    agent=st.sampled_from(["", "ann", "bob", "\ud800"]),
    path=st.sampled_from(["", "top", "top/Walk"]),
    event=st.sampled_from(TraceEvent),
    detail=details,
)
batches = st.lists(st.lists(st.tuples(records, st.sampled_from([0, 0, 0, -1, 5])), max_size=6), max_size=12)


def numbered(batches):
    """The batches with their ticks: some records bear another one than that of their batch."""
    return [
        (tick, [record._replace(tick=tick + offset) for record, offset in batch])
        for tick, batch in enumerate(batches, start=1)
    ]


def fail(text, error):
    raise error


def written(batches, **options):
    """Rows by segment: tick, lines, numbers; and the digest after each tick."""
    writer = LineWriter(**options)
    segments, digests = {}, []
    for tick, batch in batches:
        packed = writer.pack(tick, batch)
        assert packed.is_first == (packed.segment not in segments)
        segments.setdefault(packed.segment, []).append((tick, packed.lines, packed.numbers))
        assert writer.digest() == packed.digest
        digests.append(packed.digest.hex())
    return segments, digests


@pytest.mark.slow
@settings(max_examples=40)
@given(batches, st.integers(1, 5))
def test_records_come_back_exactly(batches, segment_ticks):
    batches = numbered(batches)
    segments, _ = written(batches, segment_ticks=segment_ticks)
    assert [len(rows) for rows in segments.values()][:-1] == [segment_ticks] * (len(segments) - 1)
    read = [
        (tick, segment.records(tick))
        for segment in (Segment(rows, "file") for rows in segments.values())
        for tick in segment.ticks(0, 99)
    ]
    assert repr(read) == repr(batches)  # not ==: 1, 1.0 and True are another thing each; nan is nan


@pytest.mark.slow
@settings(max_examples=40)
@given(batches, st.integers(1, 5))
def test_the_digest_is_that_of_the_trace(batches, segment_ticks):
    hub = TraceHub(fail)
    digest = TraceDigest(hub)
    handed = []  # the hub makes words of what no file takes
    hub.listen(handed.append)
    expected = []
    batches = numbered(batches)
    for index, (tick, batch) in enumerate(batches):
        for record in batch:
            hub.emit(record)
        batches[index] = (tick, list(handed))
        handed.clear()
        expected.append(digest.hexdigest())
    assert written(batches, segment_ticks=segment_ticks)[1] == expected
    assert EMPTY_DIGEST.hex() == TraceDigest(TraceHub(fail)).hexdigest()


def test_values_that_python_calls_equal_stay_apart():
    values = [1, 1.0, True, 0, 0.0, -0.0, False, None, "1"]
    batches = [
        (tick, [TraceRecord(tick, "", "", TraceEvent.NOTE, (("a", value),)) for value in values]) for tick in (1, 2)
    ]
    segments, digests = written(batches)
    hub = TraceHub(fail)
    digest = TraceDigest(hub)
    for _, batch in batches:
        for record in batch:
            hub.emit(record)
    assert digests[-1] == digest.hexdigest()
    assert repr(Segment(segments[0], "file").records(2)) == repr(batches[1][1])


@pytest.mark.slow
@settings(max_examples=40)
@given(batches, st.sampled_from(["", "ann", "nobody"]), st.lists(st.sampled_from(TraceEvent), max_size=3, unique=True))
def test_filters_choose_what_a_look_at_each_record_would(batches, agent, events):
    batches = numbered(batches)
    segments, _ = written(batches)
    for rows in segments.values():
        segment = Segment(rows, "file")
        for tick, batch in batches:
            assert repr(segment.records(tick, agent)) == repr([record for record in batch if record.agent == agent])
            chosen = [record for record in batch if record.event in events and record.agent == agent]
            assert repr(segment.records(tick, agent, events)) == repr(chosen)


def test_a_segment_ends_when_it_has_enough_lines_or_bytes(monkeypatch):
    monkeypatch.setattr("agentrt.record.lines._SEGMENT_LINES", 3)
    batches = [(tick, [TraceRecord(tick, "ann", str(tick), TraceEvent.NOTE)]) for tick in range(1, 13)]
    assert [len(rows) for rows in written(batches)[0].values()] == [4, 4, 4]
    monkeypatch.undo()
    assert len(written(batches)[0]) == 1
    assert len(written(batches, segment_bytes=60)[0]) > 2


def test_repeated_records_cost_a_number():
    batches = [
        (tick, [TraceRecord(tick, "ann", "top/Walk", TraceEvent.RUN, (("utility", 0.5),))] * 20)
        for tick in range(1, 101)
    ]
    (rows,) = written(batches)[0].values()
    assert [lines is None for _, lines, _ in rows] == [False] + [True] * 99
    assert max(len(numbers) for _, _, numbers in rows) < 60


def test_records_between_ticks_are_counted():
    writer = LineWriter()
    assert (
        writer.pack(4, [TraceRecord(3, "", "", TraceEvent.NOTE), TraceRecord(4, "", "", TraceEvent.NOTE)]).between == 1
    )
    assert writer.pack(5, [TraceRecord(9, "", "", TraceEvent.NOTE)]).between == 0  # of an author's own making


# --- hostile data -------------------------------------------------------------------------------------------------------


@given(st.one_of(st.binary(max_size=40), st.none(), st.integers(), st.text(max_size=5)))
def test_unpacking_anything_gives_data_or_a_recording_error(data):
    with contextlib.suppress(RecordingError):
        unpack(data, "file")


def test_a_bomb_does_not_go_off(monkeypatch):
    monkeypatch.setattr("agentrt.record.lines.LONGEST", 1000)
    assert unpack(pack("x" * 900), "file") == "x" * 900
    with pytest.raises(RecordingError, match="cut off, or too long"):
        unpack(b"z" + zlib.compress(json.dumps("x" * 10**7).encode()), "file")
    with pytest.raises(RecordingError, match="cut off, or too long"):
        unpack(b" " + json.dumps("x" * 10**4).encode(), "file")
    with pytest.raises(RecordingError, match="cut off, or too long"):
        unpack(pack("x" * 900)[:-5], "file")
    monkeypatch.undo()
    with pytest.raises(RecordingError, match="RecursionError"):
        unpack(b"z" + zlib.compress(b"[" * 10**6), "file")


LINE = ["ann", "top", "run", [["utility", 0.5]]]


@pytest.mark.parametrize(
    ("lines", "numbers"),
    [
        ({}, [[0]]),
        ([["ann", "top", "run"]], [[0]]),
        ([["ann", "top", "ran", []]], [[0]]),
        ([["ann", "top", ["run"], []]], [[0]]),
        ([[1, "top", "run", []]], [[0]]),
        ([["ann", None, "run", []]], [[0]]),
        ([["ann", "top", "run", [["a", []]]]], [[0]]),
        ([["ann", "top", "run", [[1, 2]]]], [[0]]),
        ([["ann", "top", "run", 3]], [[0]]),
        (["text"], [[0]]),
        ([LINE], [[1]]),
        ([LINE], [[-1]]),
        ([LINE], [[True]]),
        ([LINE], [["0"]]),
        ([LINE], [0]),
        ([LINE], []),
        ([LINE], {"a": 1}),
        ([LINE], [[0], 3]),
        ([LINE], [[0], [["a", 1]]]),
        ([LINE], [[0], [[0, None]]]),
        ([LINE], [[0], [[[], 1]]]),
    ],
)
def test_rows_that_nobody_wrote_are_a_recording_error(lines, numbers):
    Segment([(1, pack([LINE]), pack([[0]]))], "file")
    with pytest.raises(RecordingError, match="file: the trace has"):
        Segment([(1, pack(lines), pack(numbers))], "file")


def test_a_segment_without_rows_is_a_recording_error():
    with pytest.raises(RecordingError, match="a segment of the trace is missing"):
        Segment([], "file")
