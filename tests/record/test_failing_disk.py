"""Whatever fails while a run is recorded, the run goes on as if nobody recorded it; it is said once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest
from modules import load

from agentrt.errors import RecordingError
from agentrt.kernel.trace import TraceDigest
from agentrt.record import recorder as recorder_module
from agentrt.record.storage import Store

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


@pytest.mark.states(
    "tools: Recording: A disk that runs full, a lock of somebody else, an error of ours: the recording ends, it is "
    "logged once, the run goes on unchanged",
)
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
            with pytest.raises(sqlite3.OperationalError, match="locked"):  # it has a writer already
                other.execute("PRAGMA busy_timeout=0").connection.execute("BEGIN IMMEDIATE")
            recorder._store._connection.execute("ROLLBACK")  # as if it came between two transactions
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


def test_what_came_stays_if_there_is_no_room_for_the_header(tmp_path, opened, logged, monkeypatch):
    runtime = camp.camp()
    recorder = runtime.record(tmp_path / "run.sqlite", commit_every=100)
    for _ in range(7):
        runtime.step()

    def put(self, *args):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Store, "put", put)
    recorder.close()
    assert "could not be ended properly" in logged()[0]
    assert (recorder.ticks, opened(recorder.path).last_tick) == (7, 7)
    runtime.close()


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


@pytest.mark.states("tools: Recording: A file that is there is never written over")
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
    monkeypatch.setattr(recorder_module, "origin_of", lambda runtime: 1 / 0)
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


# --- whatever fails, at whatever moment ---------------------------------------------------------------------------------


TICKS = 6


class Failing(sqlite3.Connection):
    """A connection on which each call from the nth on fails, or that one alone; closing it always works."""

    calls = 0
    first = 0
    lasts = True
    error: BaseException = OSError()
    open_ones: set = set()

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.open_ones.add(self)

    def close(self):
        super().close()
        self.open_ones.discard(self)

    def _count(self):
        Failing.calls += 1
        if self.calls == self.first or (self.lasts and self.calls > self.first):
            raise self.error

    def execute(self, *args):
        self._count()
        return super().execute(*args)

    def executemany(self, *args):
        self._count()
        return super().executemany(*args)

    def rollback(self):
        self._count()
        super().rollback()


def failing_run(path, monkeypatch, first, lasts, error, **options):
    """A run of some ticks that is recorded on such a connection; what can be told of the recording."""
    real = sqlite3.connect
    for name, value in (("calls", 0), ("first", first), ("lasts", lasts), ("error", error), ("open_ones", set())):
        monkeypatch.setattr(Failing, name, value)
    monkeypatch.setattr("agentrt.record.schema.sqlite3.connect", lambda *args, **kw: real(*args, factory=Failing, **kw))
    runtime = camp.camp()
    digest = TraceDigest(runtime.trace)
    recorder = refused = None
    try:
        recorder = runtime.record(path, **options)
    except (RecordingError, type(error)) as raised:
        refused = raised
    camp.drive(runtime, TICKS, between=blowing)
    if recorder is not None:
        recorder.close()
    runtime.close()
    monkeypatch.setattr("agentrt.record.schema.sqlite3.connect", real)
    assert not Failing.open_ones
    return digest.hexdigest(), recorder, refused


@pytest.mark.states(
    "tools: Recording: Whatever call to the disk fails, and whenever: the file can be read up to the last tick that "
    "was committed, or there is an error and no file; the run goes on, and it is told once",
)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "lasts", "options"),
    [
        (sqlite3.OperationalError("database or disk is full"), True, {}),
        (sqlite3.OperationalError("database or disk is full"), False, {"commit_every": 3}),
        (OSError(28, "No space left on device"), True, {"commit_every": 3}),
        (MemoryError(), False, {"keep_ticks": 4, "max_bytes": 1024 * 1024}),
        (GeneratorExit("an author's"), True, {"views": "none"}),
    ],
)
def test_every_call_may_fail(tmp_path, opened, logged, monkeypatch, caplog, error, options, lasts):
    sound, recorder, _ = failing_run(tmp_path / "sound", monkeypatch, -1, lasts=False, error=error, **options)
    assert recorder.ticks == TICKS
    total = Failing.calls
    assert total > 30
    caplog.clear()
    for nth in range(1, total + 1):
        path = tmp_path / f"{nth}.sqlite"
        digest, recorder, refused = failing_run(path, monkeypatch, nth, lasts, error, **options)
        assert digest == sound
        told = [text for text in logged() if "recording" in text]
        caplog.clear()
        if recorder is None:
            assert refused is not None
            assert told == []
            assert list(tmp_path.glob(f"{nth}.sqlite*")) == []  # the name is free again
            continue
        assert len(told) <= 1
        recording = opened(path)
        assert recording.last_tick == recorder.ticks
        assert len(list(recording.records())) >= (recorder.ticks > 0)
        recording.close()
        if recorder.ticks < TICKS:
            assert len(told) == 1


FILLS = """
import logging, resource, signal, sys
sys.path[:0] = {path!r}
from modules import load
camp = load("tests/record/camp.py")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
logging.basicConfig(format="%(message)s", stream=sys.stderr)
runtime = camp.camp()
runtime.on_input("say", lambda text: None)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
try:
    recorder = runtime.record({file!r}, commit_every={every})
except Exception as error:
    print("refused", type(error).__name__)
    recorder = None
for number in range(60):
    runtime.send("say", text=f"{{number}} " + "x" * 9000)
    runtime.step()
if recorder is not None:
    print(recorder.is_open, recorder.ticks)
    recorder.close()
    print(recorder.ticks)
print(runtime.tick)
runtime.close()
"""


@pytest.mark.states("tools: Recording: Whatever call to the disk fails, and whenever: the file can be read up to ...")
@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("limit", [0, 4096, 20_000, 60_000, 150_000, 400_000])
def test_a_file_that_may_not_grow(root, tmp_path, opened, limit, every):
    pytest.importorskip("resource")
    file = tmp_path / "run.sqlite"
    path = [str(root), str(root / "tests" / "support"), str(root / "examples" / "worlds"), str(root / "actions")]
    code = FILLS.format(path=path, limit=limit, file=str(file), every=every)
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if "the recording" in line]
    *words, tick = done.stdout.splitlines()
    assert tick == "60"
    if words == ["refused RecordingError"]:
        assert list(tmp_path.iterdir()) == []
        assert told == []
        return
    recording = opened(file)
    assert recording.last_tick == int(words[-1]) < 60
    assert len(list(recording.inputs())) == recording.last_tick
    assert len(told) == 1
