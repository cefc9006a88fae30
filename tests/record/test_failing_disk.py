"""Whatever fails while a run is recorded, the run goes on as if nobody recorded it; it is said once."""

from __future__ import annotations

import sqlite3
import subprocess

import pytest
from modules import load

from agentrt.errors import RecordingError
from agentrt.kernel.trace import TraceDigest
from agentrt.record import recorder as recorder_module
from agentrt.record.store import Store

camp = load("tests/record/camp.py")


def blowing(runtime):
    if runtime.tick % 9 == 5:
        runtime.send("blow", who=runtime.tick % 2)


def digest_of(runtime):
    digest = TraceDigest(runtime.trace)
    camp.drive(runtime, 30, between=blowing)
    return digest.hexdigest(), digest.records


@pytest.fixture(scope="module")
def undisturbed():
    return digest_of(camp.camp())


FAILURES = [
    (sqlite3.OperationalError("database or disk is full"), "OperationalError: database or disk is full"),
    (sqlite3.DatabaseError("database disk image is malformed"), "DatabaseError: database disk image is malformed"),
    (OSError(5, "Input/output error"), "OSError: [Errno 5] Input/output error"),
    (RuntimeError("a bug"), "RuntimeError: a bug"),
]


@pytest.mark.parametrize("method", ["put_trace", "put_view", "put_inputs", "end_tick", "commit", "agent_goes"])
@pytest.mark.parametrize(("error", "told"), FAILURES, ids=lambda value: str(value)[:20])
def test_the_run_goes_on(tmp_path, opened, logged, monkeypatch, undisturbed, method, error, told):
    runtime = camp.camp()
    recorder = runtime.record(tmp_path / "run.sqlite")
    if method == "agent_goes":  # of an agent that the recorder alone misses
        monkeypatch.setattr(runtime, "find", lambda name: None if runtime.tick == 12 else runtime._agents.get(name))
    original = getattr(Store, method)

    def broken(self, *args):
        if runtime.tick >= 12:
            raise error
        return original(self, *args)

    monkeypatch.setattr(Store, method, broken)
    assert digest_of(runtime) == undisturbed
    assert recorder.stopped == told
    texts = [text for text in logged() if "recording" in text]
    assert len(texts) == 1
    assert f"the recording {recorder.path} ends here; what was written can be read" in texts[0]
    recording = opened(recorder.path)
    assert 11 <= recording.last_tick == recorder.ticks < 30
    assert len(list(recording.records())) > 10


def test_a_view_that_raises_ends_the_recording_and_not_the_run(tmp_path, logged, monkeypatch, undisturbed):
    runtime = camp.camp()
    recorder = runtime.record(tmp_path / "run.sqlite")
    monkeypatch.setattr(recorder._views, "_find", lambda name: object())
    assert digest_of(runtime) == undisturbed
    assert recorder.stopped.startswith("AttributeError")


def test_a_codec_that_breaks_the_recorder_harms_no_input(tmp_path, logged, monkeypatch, undisturbed):
    runtime = camp.camp()
    recorder = runtime.record(tmp_path / "run.sqlite")
    monkeypatch.setattr(recorder, "_codecs", None)
    assert digest_of(runtime) == undisturbed
    assert recorder.stopped == "AttributeError: 'NoneType' object has no attribute 'write'"


def test_a_lock_of_somebody_else_is_waited_for_and_then_ends_it(tmp_path, opened, logged, monkeypatch, undisturbed):
    monkeypatch.setattr("agentrt.record.schema._WRITER_WAIT", 0.01)
    runtime = camp.camp()
    recorder = runtime.record(tmp_path / "run.sqlite")
    other = sqlite3.connect(recorder.path, isolation_level=None)

    def between(runtime):
        blowing(runtime)
        if runtime.tick == 10:
            other.execute("BEGIN IMMEDIATE")

    digest = TraceDigest(runtime.trace)
    camp.drive(runtime, 30, between=between)
    other.execute("ROLLBACK")
    other.close()
    assert (digest.hexdigest(), digest.records) == undisturbed
    assert recorder.stopped == "OperationalError: database is locked"
    assert len([text for text in logged() if "ends here" in text]) == 1
    assert opened(recorder.path).last_tick == 10


def test_a_key_press_in_the_middle_of_a_tick_leaves_no_half_tick(tmp_path, opened, logged, monkeypatch):
    runtime = camp.camp()
    recorder = runtime.record(tmp_path / "run.sqlite")
    for _ in range(7):
        runtime.step()

    def end_tick(self, *args):
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "end_tick", end_tick)
    with pytest.raises(KeyboardInterrupt):
        runtime.step()
    monkeypatch.undo()
    assert recorder.stopped == "KeyboardInterrupt: "
    runtime.close()
    recording = opened(recorder.path)
    assert recording.last_tick == 7
    assert max(record.tick for record in recording.records()) <= 7


def test_an_end_that_fails_is_reported_and_raises_nothing(tmp_path, logged, monkeypatch):
    runtime = camp.camp()
    recorder = runtime.record(tmp_path / "run.sqlite")
    runtime.step()
    monkeypatch.setattr(recorder._store, "put", None)
    recorder.close()
    assert recorder.stopped == "closed"
    (text,) = logged()
    assert "could not be ended properly" in text
    runtime.close()
    recorder._store.give_up()


# --- files that cannot be made ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("folder", "there is a file already"),
        ("file", "there is a file already. Choose another name, or move it away"),
        ("missing/run.sqlite", "it cannot be made: .*No such file or directory"),
        ("file/run.sqlite", "it cannot be made: .*Not a directory"),
        ("nul\0byte", "it cannot be made: .*embedded null"),
        ("x" * 300, "it cannot be made: .*too long"),
    ],
)
def test_a_file_that_cannot_be_made(tmp_path, path, words):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    runtime = camp.camp()
    with pytest.raises(RecordingError, match=words):
        runtime.record(tmp_path / path)
    assert not runtime.trace.on
    assert runtime.journal is None
    assert (tmp_path / "file").read_text() == "mine"
    runtime.close()


def test_a_beginning_that_fails_leaves_nothing_listening(tmp_path, monkeypatch):
    def broken(*args):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Store, "put", broken)
    runtime = camp.camp()
    with pytest.raises(RecordingError, match="it cannot be written: database or disk is full"):
        runtime.record(tmp_path / "run.sqlite")
    monkeypatch.setattr(recorder_module, "_origin", lambda runtime: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        runtime.record(tmp_path / "other.sqlite")
    assert (runtime.trace.on, runtime.journal) == (False, None)
    runtime.close()


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of one megabyte; where nobody may mount one the test says so."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_disk_that_runs_full(tiny_disk, opened, logged):
    runtime = camp.camp()
    runtime.on_input("say", lambda text: None)
    recorder = runtime.record(tiny_disk / "run.sqlite")
    for _ in range(30):
        runtime.send("say", text="x" * 50_000)
        runtime.step()
    assert not recorder.is_open
    assert "full" in recorder.stopped or "I/O" in recorder.stopped
    assert len([text for text in logged() if "ends here" in text]) == 1
    assert runtime.tick == 30
    runtime.close()
    recording = opened(recorder.path)
    assert recording.last_tick == recorder.ticks > 0
    assert len(list(recording.inputs())) == recorder.ticks
    recording.close()
