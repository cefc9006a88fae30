"""A run is written down while it goes on: what happens, what comes in, and what it was."""

from __future__ import annotations

import functools
import re
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load
from players import HOSTS

from agentrt import Runtime
from agentrt.errors import RecordingError, WrongStateError
from agentrt.kernel.trace import TraceDigest
from agentrt.record import Codec, Unkept
from agentrt.record.recording import RecordedInput, Recording

camp = load("tests/record/camp.py")


def heard(runtime):
    records = []
    runtime.trace.listen(records.append)
    return records


# --- the trace ----------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Recording: `runtime.record(path)` writes a run into one SQLite file: all records in order, a digest of "
    "each tick that is that of the trace, on every host",
    source="design 7",
)
@pytest.mark.parametrize("host", HOSTS)
def test_a_recording_has_the_whole_trace_in_batches(tmp_path, opened, host):
    runtime = camp.camp(host=host)
    recorder = runtime.record(tmp_path / "run.sqlite", world="camp")
    records, digest, digests = heard(runtime), TraceDigest(runtime.trace), {}
    runtime.after_tick(lambda: digests.setdefault(runtime.tick, (len(records), digest.hexdigest())))
    camp.drive(runtime, 40, between=lambda runtime: runtime.tick == 9 and runtime.send("blow"))
    recording = opened(tmp_path / "run.sqlite")
    last, whole = digests[40]
    assert list(recording.records()) == records[:last]
    assert recording.digest() == recording.digest(40) == whole
    assert [recording.digest(tick) for tick in range(1, 41)] == [digests[tick][1] for tick in range(1, 41)]
    batches = [recording.batch(tick) for tick in range(1, 41)]
    assert [record for batch in batches for record in batch] == records[:last]
    assert [(tick, count) for tick, count, _ in recording.digests()] == [
        (tick, len(batches[tick - 1])) for tick in range(1, 41)
    ]
    assert (recording.first_tick, recording.last_tick, recorder.ticks) == (1, 40, 40)
    assert recording.unreplayable == []


def test_the_header(tmp_path, opened):
    runtime = camp.camp(seed="dice")
    runtime.record(tmp_path / "run.sqlite", world="camp", meta={"note": ["mine"]})
    camp.drive(runtime, 3)
    meta = opened(tmp_path / "run.sqlite").meta
    assert meta.pop("created").endswith("+00:00")
    assert meta.pop("run") == runtime.calls.run
    assert meta == {
        "agentrt": "0.1.0",
        "commit_every": 1,
        "drawings": "changed",
        "durability": "process",
        "ended": "the runtime was closed",
        "epoch": 0,
        "host": "plain",
        "keep_ticks": None,
        "max_bytes": None,
        "note": ["mine"],
        "params": {},
        "python": ".".join(map(str, sys.version_info[:3])),
        "restart": {"1": None},
        "schema": 1,
        "seed": "dice",
        "started": 0,
        "ticks_per_second": 20,
        "views": "changed",
        "world": "camp",
    }


def test_the_host_is_the_one_that_the_first_tick_ran_on(tmp_path, opened):
    runtime = camp.camp(host="auto")
    runtime.record(tmp_path / "run.sqlite")
    runtime.step()
    runtime.close()
    assert opened(tmp_path / "run.sqlite").meta["host"] == "plain"


@pytest.mark.states(
    "tools: Recording: Recording changes nothing: a recorded run has the digest of one that nobody recorded, on "
    "plain, asyncio and trio",
    source="design 7",
)
@pytest.mark.parametrize("host", HOSTS)
def test_recording_changes_nothing(tmp_path, host):
    digests = []
    # On an event loop a worker thread answers the scout, in a tick that depends on the machine: two runs may differ.
    scout = camp.Scout if host == "plain" else None
    for options in (None, {}, {"views": "none"}, {"views": 3, "keep_ticks": 4}):
        runtime = camp.camp(host=host, scout=scout)
        digest = TraceDigest(runtime.trace)
        if options is not None:
            runtime.record(tmp_path / f"run{len(digests)}.sqlite", **options)
        camp.drive(runtime, 50)
        digests.append((digest.hexdigest(), digest.records))
    assert len(set(digests)) == 1


def test_records_by_range_agent_events_and_number(tmp_path, opened):
    runtime = camp.camp()
    runtime.record(tmp_path / "run.sqlite")
    records = heard(runtime)
    camp.drive(runtime, 40)
    recording = opened(tmp_path / "run.sqlite")
    records = [record for record in records if record.tick <= 40 and record.event != "removed"][
        : len(list(recording.records()))
    ]
    assert list(recording.records(5, 9)) == [record for record in records if 5 <= record.tick <= 9]
    assert list(recording.records(38, 99)) == [record for record in records if record.tick >= 38]
    assert list(recording.records(9, 5)) == []
    assert list(recording.records(-5, 0)) == []
    assert list(recording.records(agent="cook 2")) == [record for record in records if record.agent == "cook 2"]
    runs = [record for record in records if record.event in ("run", "finish")]
    assert list(recording.records(events=["run", "finish"])) == runs
    assert list(recording.records(events=["run", "finish"], limit=3)) == runs[:3]
    assert list(recording.records(limit=0)) == []


@given(st.integers(1, 9), st.integers(0, 30), st.integers(0, 30))
@settings(max_examples=30)
def test_ranges_across_segments(segmented, segment_ticks, first, last):
    recording, records = segmented(segment_ticks)
    assert list(recording.records(first, last)) == [record for record in records if first <= record.tick <= last]
    for tick in {max(first, 1), max(min(last, 25), 1)}:
        if tick <= 25:
            assert recording.batch(tick) == [record for record in records if record.tick == tick]


@pytest.fixture(scope="module")
def segmented(tmp_path_factory):
    """Recordings of 25 ticks with segments of some length, and the records of the run."""
    folder, made = tmp_path_factory.mktemp("segments"), []

    @functools.cache
    def segmented(ticks):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("agentrt.record.recorder.SEGMENT_TICKS", ticks)
            runtime = camp.camp()
            runtime.record(folder / f"{ticks}.sqlite")
        records = heard(runtime)
        for _ in range(25):
            runtime.step()
        records = list(records)
        runtime.close()
        made.append(Recording.open(folder / f"{ticks}.sqlite"))
        return made[-1], records

    yield segmented
    for recording in made:
        recording.close()


def test_records_between_ticks_are_kept_and_told(tmp_path, opened):
    runtime = camp.camp()
    runtime.record(tmp_path / "run.sqlite")
    runtime.note("before all")
    camp.drive(runtime, 6, between=lambda runtime: runtime.tick == 4 and runtime.note("between"))
    recording = opened(tmp_path / "run.sqlite")
    notes = [(record.tick, dict(record.detail)["text"]) for record in recording.records(events=["note"])]
    assert notes == [(0, "before all"), (4, "between")]
    assert [dict(record.detail)["text"] for record in recording.batch(5) if record.event == "note"] == ["between"]
    (reason,) = recording.unreplayable
    assert reason.startswith("something came in beside the inputs, the first time at tick 5")


# --- what comes in ------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Recording: Inputs stand in a recording with their tick and place in the intake; what a world sends itself "
    "while it is made does not",
    source="design 7",
)
def test_inputs_stand_with_their_places(tmp_path, opened):
    runtime = camp.camp()
    runtime.record(tmp_path / "run.sqlite")

    def between(runtime):
        if runtime.tick == 3:
            runtime.send("blow", who=1)
            runtime.send("blow", who=0, loud=False)
        if runtime.tick == 7:
            runtime.send("blow")

    camp.drive(runtime, 10, between=between)
    recording = opened(tmp_path / "run.sqlite")
    expected = [
        RecordedInput(4, 0, "sent", -1, "blow", {"who": 1}, None, None),
        RecordedInput(4, 1, "sent", -1, "blow", {"who": 0, "loud": False}, None, None),
        RecordedInput(8, 0, "sent", -1, "blow", {}, None, None),
    ]
    assert list(recording.inputs()) == expected
    assert list(recording.inputs(5)) == expected[2:]
    assert list(recording.inputs(last=7)) == expected[:2]
    assert recording.unreplayable == []


def test_what_a_world_sends_itself_while_it_is_made_is_no_input(tmp_path, opened):
    runtime = camp.camp()
    runtime.send("blow", who=1)
    runtime.post(lambda: None)
    runtime.record(tmp_path / "run.sqlite")
    runtime.send("blow", who=0)
    camp.drive(runtime, 3)
    recording = opened(tmp_path / "run.sqlite")
    assert [(one.tick, one.place, one.args) for one in recording.inputs()] == [(1, 4, {"who": 0})]  # after two agents
    assert recording.unreplayable == []


def answers(number):
    if number == 1:
        raise LookupError("nothing", number)
    return (number, b"\x00")


@pytest.mark.states(
    "tools: Recording: Results and errors of `ctx.call` stand in a recording with the number of the call, on every "
    "host",
    source="design 2",
)
@pytest.mark.parametrize("host", HOSTS)
def test_answers_of_the_outside_stand_with_values_and_errors(tmp_path, opened, host):
    runtime = camp.camp(host=host, scout=camp.asking(answers))
    (scout,) = (agent.entity for agent in runtime.agents if agent.name == "scout")
    runtime.record(tmp_path / "run.sqlite")
    camp.drive(
        runtime,
        4000 if host != "plain" else 40,
        between=lambda runtime: None if len(scout.answers) < 3 else runtime.stop(),
    )
    recording = opened(tmp_path / "run.sqlite")
    told = [(one.kind, one.number, one.name, one.value, repr(one.error)) for one in recording.inputs()]
    assert told == [
        ("answered", 0, "answers", (0, b"\x00"), "None"),
        ("answered", 1, "answers", None, "LookupError('nothing', 1)"),
        ("answered", 2, "answers", (2, b"\x00"), "None"),
    ]
    assert recording.unreplayable == []


class Map:
    def __init__(self, name):
        self.name = name


MAP = Codec("map", Map, lambda sheet: sheet.name, Map)


@pytest.mark.states(
    "tools: Recording: A value that cannot be kept is written as such, told once, and makes the recording "
    "unreplayable from there; a codec by name keeps it",
)
def test_a_value_that_cannot_be_kept_is_told_once_and_the_run_goes_on(tmp_path, opened, logged):
    runtime = camp.camp(scout=camp.asking(lambda number: Map(str(number))))
    recorder = runtime.record(tmp_path / "run.sqlite")
    camp.drive(runtime, 30)
    assert [text for text in logged() if "recorded" in text] == [
        line for line in logged() if "a value could not" in line
    ]
    assert len([text for text in logged() if "a value could not be recorded" in text]) == 1
    recording = opened(recorder.path)
    kept = [one.value for one in recording.inputs()]
    assert len(kept) == 3
    assert kept == [Unkept("Map", "Map: it is no plain value, and there is no codec for its type")] * 3
    (reason,) = recording.unreplayable
    assert reason.startswith("a value could not be recorded: ")
    assert "Map: it is no plain value" in reason


def test_a_codec_keeps_it(tmp_path, opened, logged):
    runtime = camp.camp(scout=camp.asking(lambda number: Map(str(number))))
    recorder = runtime.record(tmp_path / "run.sqlite", codecs=[MAP])
    camp.drive(runtime, 30)
    assert logged() == []
    assert [one.value.name for one in opened(recorder.path, codecs=[MAP]).inputs()] == ["0", "1", "2"]
    with pytest.raises(RecordingError, match="it needs the codec 'map'"):
        list(opened(recorder.path).inputs())


def test_an_input_that_is_too_long_to_be_kept_is_not_read_as_another(tmp_path, opened, monkeypatch, logged):
    monkeypatch.setattr("agentrt.record.values._LONGEST", 200)
    runtime = camp.camp()
    runtime.on_input("say", lambda text: None)
    runtime.record(tmp_path / "run.sqlite")
    camp.drive(runtime, 5, between=lambda runtime: runtime.tick == 2 and runtime.send("say", text="x" * 300))
    recording = opened(tmp_path / "run.sqlite")
    assert len(recording.unreplayable) == 1
    with pytest.raises(RecordingError, match="the arguments of the input 'say' in tick 3: it is longer than 200"):
        list(recording.inputs())


def test_a_runtime_may_be_driven_on_another_thread_than_the_one_that_began_to_record(tmp_path, opened):
    runtime = camp.camp()
    recorder = runtime.record(tmp_path / "run.sqlite")
    thread = threading.Thread(target=lambda: [runtime.step() for _ in range(9)])
    thread.start()
    thread.join()
    assert recorder.is_open
    runtime.close()
    assert opened(recorder.path).last_tick == 9


@pytest.mark.states(
    "tools: Recording: A posted function, and records between ticks, are named as reasons why a recording cannot be "
    "replayed",
)
def test_a_posted_function_is_told_and_cannot_be_replayed(tmp_path, opened):
    runtime = camp.camp()
    runtime.record(tmp_path / "run.sqlite")
    runtime.post(lambda: None)  # before the first tick: part of how it is made

    def between(runtime):
        if runtime.tick == 5:
            thread = threading.Thread(target=runtime.post, args=(len, "x"))
            thread.start()
            thread.join()
        if runtime.tick == 8:
            runtime.post(print_nothing)

    camp.drive(runtime, 12, between=between)
    recording = opened(tmp_path / "run.sqlite")
    assert [one[:5] for one in recording.inputs()] == [
        (6, -1, "posted", -1, "len"),
        (9, -1, "posted", -1, "print_nothing"),
    ]
    (reason,) = recording.unreplayable
    assert reason.startswith("before tick 6 the function len was posted from outside, and 1 more later")


def test_what_is_posted_within_a_tick_and_after_it_comes_in_together(tmp_path, opened):
    runtime = camp.camp()
    ends = runtime.after_tick(lambda: runtime.post(len, "x"))  # before the recorder writes the tick
    recorder = runtime.record(tmp_path / "run.sqlite")
    camp.drive(runtime, 4, between=lambda runtime: runtime.post(print_nothing))  # and after it has
    ends()
    assert (recorder.stopped, recorder.ticks) == ("the runtime was closed", 4)
    names = ["len", "print_nothing"]
    found = [(one.tick, one.name) for one in opened(tmp_path / "run.sqlite").inputs() if one.tick > 1]
    assert found == [(tick, name) for tick in (2, 3, 4) for name in names]


def print_nothing():
    pass


# --- beginning and end --------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Recording: A recording that begins late can be looked at and says that it cannot be replayed",
)
def test_a_recording_may_begin_late_and_can_be_looked_at(tmp_path, opened):
    runtime = camp.camp()
    for _ in range(12):
        runtime.step()
    runtime.record(tmp_path / "run.sqlite")
    view = runtime.find("cook 1").snapshot().as_json()
    records = heard(runtime)
    for _ in range(20):
        runtime.step()
    records = list(records)
    runtime.close()
    recording = opened(tmp_path / "run.sqlite")
    assert (recording.meta["started"], recording.first_tick, recording.last_tick) == (12, 13, 32)
    assert recording.view("cook 1", 12) == view
    assert list(recording.records()) == records
    assert recording.unreplayable == ["it begins after tick 12, and how the world came there is not in it"]


def test_it_ends_when_the_runtime_is_closed_and_the_clean_up_is_no_part(tmp_path, opened):
    runtime = camp.camp()
    recorder = runtime.record(tmp_path / "run.sqlite")
    for _ in range(5):
        runtime.step()
    runtime.close("enough")
    assert (recorder.is_open, recorder.stopped, runtime.journal) == (False, "enough", None)
    assert repr(recorder) == f"<Recorder: {recorder.path}, 5 ticks, stopped: enough>"
    recording = opened(recorder.path)
    assert (recording.last_tick, recording.meta["ended"]) == (5, "enough")
    assert not list(recording.records(events=["removed"]))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.sqlite"]  # one whole file, no log beside it


def test_it_ends_when_it_is_closed_and_the_run_goes_on(tmp_path, opened):
    runtime = camp.camp()
    with runtime.record(tmp_path / "one.sqlite") as recorder:
        runtime.step()
        assert repr(recorder).endswith("1 ticks, open>")
    recorder.close("again")
    runtime.step()
    assert not runtime.trace.on
    runtime.record(tmp_path / "two.sqlite")
    runtime.step()
    runtime.close()
    assert opened(tmp_path / "one.sqlite").last_tick == 1
    assert opened(tmp_path / "one.sqlite").meta["ended"] == "closed"
    assert [record.tick for record in opened(tmp_path / "two.sqlite").records()][:1] == []
    assert opened(tmp_path / "two.sqlite").last_tick == 3


def test_an_error_in_the_block_stands_in_the_header(tmp_path, opened):
    runtime = camp.camp()
    with pytest.raises(ZeroDivisionError), runtime.record(tmp_path / "run.sqlite"):
        1 / 0  # noqa: B018
    runtime.close()
    recording = opened(tmp_path / "run.sqlite")
    assert (recording.meta["ended"], recording.last_tick) == ("ZeroDivisionError: division by zero", 0)
    assert recording.digest() == recording.digest(0)


def test_a_call_that_outlives_the_recorder_is_answered_to_nobody(tmp_path, opened):
    runtime = camp.camp(scout=camp.Scout)
    recorder = runtime.record(tmp_path / "run.sqlite")
    runtime.step()  # the scout asks; the answer lies in the inbox
    recorder.close()
    runtime.step()
    runtime.close()
    assert list(opened(recorder.path).inputs()) == []


@pytest.mark.states("tools: Recording: A recording can be read while it is written")
def test_it_can_be_read_while_it_is_written(tmp_path, opened):
    runtime = camp.camp()
    recorder = runtime.record(tmp_path / "run.sqlite", commit_every=3)
    recording = opened(recorder.path)
    last = []
    for _ in range(9):
        runtime.step()
        last.append(recording.last_tick)
    assert last == [0, 0, 3, 3, 3, 6, 6, 6, 9]
    assert recording.meta["ended"] == ""
    assert recording.batch(9) == [record for record in recording.records() if record.tick == 9]
    runtime.close()  # while it is read
    assert opened(recorder.path).last_tick == 9


def test_a_runtime_is_recorded_once_and_between_ticks(tmp_path):
    runtime = camp.camp()
    runtime.record(tmp_path / "run.sqlite")
    with pytest.raises(WrongStateError, match="its inputs are kept already"):
        runtime.record(tmp_path / "other.sqlite")
    assert not (tmp_path / "other.sqlite").exists()
    runtime.close()
    runtime = camp.camp()
    errors = []

    def inside():
        try:
            runtime.record(tmp_path / "inside.sqlite")
        except WrongStateError as error:
            errors.append(str(error))

    runtime.post(inside)
    runtime.step()
    runtime.close()
    assert "a tick runs" in errors[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"views": "all"}, "views is 'all'"),
        ({"views": 0}, "views is 0"),
        ({"views": True}, "views is True"),
        ({"drawings": "all"}, "drawings is 'all': it takes 'changed', 'none', or a whole number of ticks"),
        ({"drawings": 0}, "drawings is 0"),
        ({"keep_ticks": 0}, "keep_ticks is 0"),
        ({"max_bytes": 1000}, "max_bytes is 1000: it takes a whole number of at least 1048576"),
        ({"commit_every": 0}, "commit_every is 0"),
        ({"meta": {"seed": 3}}, "meta has 'seed', which the recorder writes itself"),
        ({"codecs": [MAP, MAP]}, "names and types are given once"),
    ],
)
def test_options_are_looked_at_before_a_file_is_made(tmp_path, options, words):
    runtime = Runtime(host="plain")
    with pytest.raises(ValueError, match=words):
        runtime.record(tmp_path / "run.sqlite", **options)
    assert list(tmp_path.iterdir()) == []
    assert not runtime.trace.on
    assert runtime.journal is None


@pytest.mark.parametrize(
    ("seed", "options", "words"),
    [
        (None, {}, "the runtime's seed is None"),
        (True, {}, "the runtime's seed is True"),
        (1.5, {}, "the runtime's seed is 1.5"),
        (1, {"world": None}, "world is None"),
        (1, {"params": ["frogs"]}, "params is ['frogs']: it takes numbers, flags and texts by name"),
        (1, {"params": {"frogs": None}}, "params is {'frogs': None}"),
        (1, {"params": {"frogs": float("nan")}}, "params is {'frogs': nan}"),
        (1, {"params": {3: 4}}, "params is {3: 4}"),
        (1, {"meta": {"params": {}}}, "meta has 'params', which the recorder writes itself"),
        (1, {"meta": {"a": object()}}, "meta is no plain data"),
    ],
)
def test_a_header_that_could_not_be_read_is_refused_before_there_is_a_file(tmp_path, seed, options, words):
    runtime = Runtime(seed, host="plain")
    with pytest.raises(ValueError, match=re.escape(words)):
        runtime.record(tmp_path / "run.sqlite", **options)
    assert list(tmp_path.iterdir()) == []
    assert runtime.journal is None
