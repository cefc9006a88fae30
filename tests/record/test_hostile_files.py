"""A file from somebody else: whatever it is, nothing comes out of the reader but data or a ``RecordingError``."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load

from agentrt.errors import RecordingError
from agentrt.record.recording import Recording

camp = load("tests/record/camp.py")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A recording with all that one can have."""
    path = tmp_path_factory.mktemp("good") / "good.sqlite"
    runtime = camp.camp(scout=camp.asking(lambda number: (number, b"x") if number else 1 / 0))
    runtime.record(path)
    camp.drive(runtime, 60, between=lambda runtime: runtime.tick % 9 == 5 and runtime.send("blow"))
    return path


def read_all(path):
    """Ask for everything that a recording can be asked for."""
    with Recording.open(path) as recording:
        last = recording.last_tick
        told = [
            recording.meta,
            recording.first_tick,
            recording.unreplayable,
            list(recording.digests()),
            recording.digest(),
        ]
        told += [list(recording.inputs()), recording.reloads(), list(recording.records())]
        told += [list(recording.records(agent="scout", limit=3))]
        for tick in (1, min(last, 30), last):
            told.append(recording.batch(tick))
            for name in recording.agents(tick):
                told += [recording.view(name, tick), recording.explain(name, tick), recording.outlines(name, tick)]
        return told


def test_the_good_one_is_good(good):
    told = read_all(good)
    assert len(told) > 15
    assert all(part is not None for part in told)


@pytest.fixture
def copy(good, tmp_path):
    """A copy that may be spoilt."""
    return shutil.copy(good, tmp_path / "copy.sqlite")


def spoilt(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(*statement) if isinstance(statement, tuple) else connection.execute(statement)
    return path


# --- what is no recording at all ----------------------------------------------------------------------------------------


def test_no_file(tmp_path):
    with pytest.raises(RecordingError, match="missing.sqlite: there is no such file"):
        Recording.open(tmp_path / "missing.sqlite")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["", ".", "\0", "x" * 5000], ids=["empty", "folder", "nul", "long"])
def test_what_is_no_name_of_a_file(tmp_path, path):
    with pytest.raises(RecordingError):
        Recording.open(path)
    with pytest.raises(RecordingError):
        Recording.open(tmp_path / path)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00" * 4096, b"SQLite format 3\x00", b"SQLite format 3\x00" + b"\xff" * 9000, b"PK\x03\x04", b"{}" * 2000],
)
def test_a_file_that_is_something_else(tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=r"it is no recording that can be read|but no recording"):
        Recording.open(path)
    assert path.read_bytes() == data


def test_a_database_of_somebody_else(tmp_path):
    path = spoilt(tmp_path / "other.sqlite", "CREATE TABLE people (name)")
    with pytest.raises(RecordingError, match="it is a SQLite database, but no recording"):
        Recording.open(path)


@pytest.mark.states("tools: Recording: Another schema number is refused with both numbers")
@pytest.mark.parametrize("number", [0, 2, -1, 2**31 - 1])
def test_another_schema(copy, number):
    spoilt(copy, f"PRAGMA user_version={number}")
    with pytest.raises(RecordingError, match=f"its schema is number {number}, and this agentrt reads number 1"):
        Recording.open(copy)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="users of Unix")
def test_a_file_that_one_may_not_read(copy):
    copy.chmod(0)
    code = (
        "import os, sys\n"
        "from agentrt.errors import RecordingError\n"
        "from agentrt.record.recording import Recording\n"
        "os.setuid(65534) if os.getuid() == 0 else None\n"
        "try: Recording.open(sys.argv[1])\n"
        "except RecordingError as error: print(error.code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, copy], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("ART230\n", "")


def test_a_recording_where_nothing_may_be_written(good, tmp_path):
    folder = tmp_path / "disc"
    folder.mkdir()
    shutil.copy(good, folder / "run.sqlite")
    spoilt(folder / "run.sqlite", "PRAGMA journal_mode=WAL")  # as after a copy of one that was being written
    for path in folder.iterdir():
        path.chmod(0o444)
    mount = subprocess.run(["mount", "--bind", "-o", "ro", folder, folder], capture_output=True, text=True, check=False)
    if mount.returncode:
        pytest.skip(f"no folder can be made read-only here: {mount.stderr.strip()}")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True, capture_output=True)
        assert repr(read_all(folder / "run.sqlite")) == repr(read_all(good))
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


# --- what SQLite would run ----------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Recording: A schema with anything but the known tables (triggers, views, generated columns) is refused "
    "before anything is selected",
)
@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TRIGGER t AFTER INSERT ON ticks BEGIN DELETE FROM ticks; END"],
        ["CREATE VIEW v AS SELECT * FROM ticks"],
        ["DROP TABLE ticks", "CREATE VIEW ticks AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS tick, 1 AS records, x'' AS digest FROM n"],
        ["CREATE INDEX i ON inputs (abs(tick))"],
        ["ALTER TABLE ticks ADD COLUMN more GENERATED ALWAYS AS (tick * 1000) VIRTUAL"],
        ["DROP TABLE views"],
        ["CREATE TABLE \"x'\u202e\" (a)"],
    ],
    ids=["trigger", "view", "endless", "index", "column", "missing", "more"],
)  # fmt: skip
def test_a_schema_with_anything_else_is_not_even_selected_from(copy, statements):
    spoilt(copy, *statements)
    with pytest.raises(RecordingError, match="is not what it has to be|it has what no recording has"):
        Recording.open(copy)


# --- rows that nobody wrote ---------------------------------------------------------------------------------------------

BOMB = b"z" + zlib.compress(b"[" + b"0," * 100_000_000 + b"0]", 9)[:200_000]
DEEP = json.dumps([1]).replace("1", "[" * 3000 + "]" * 3000)

ROWS = {
    "tick text": ("INSERT INTO ticks VALUES (99, 'x', 'y')",),
    "tick huge": ("INSERT INTO ticks VALUES (9223372036854775807, 1, x'00')",),
    "tick negative": ("DELETE FROM ticks", "INSERT INTO ticks VALUES (-5, 1, x'00')"),
    "digest short": ("UPDATE ticks SET digest = x'00'",),
    "no ticks": ("DELETE FROM ticks",),
    "trace bomb": (("UPDATE traces SET lines = ?", (BOMB,)),),
    "trace text": ("UPDATE traces SET numbers = 'text'",),
    "trace float": ("UPDATE traces SET numbers = 1.5",),
    "trace segments": ("UPDATE traces SET segment = tick % 2",),
    "trace no lines": ("UPDATE traces SET lines = NULL",),
    "trace swapped": ("UPDATE traces SET lines = numbers",),
    "input kind": ("UPDATE inputs SET kind = 'evil'",),
    "input place": ("UPDATE inputs SET number = 'x'",),
    "input value": ("UPDATE inputs SET value = '{'",),
    "input bare": ("UPDATE inputs SET value = '3', kind = 'sent'",),
    "input error": ("UPDATE inputs SET value = '3', kind = 'failed'",),
    "edit bare": ("UPDATE inputs SET value = '3', kind = 'edited'",),
    "edit files": ("UPDATE inputs SET value = '{\"files\": [3]}', kind = 'reloaded'",),
    "edit agents": ("UPDATE inputs SET value = '{\"files\": {}, \"agents\": 3}', kind = 'edited'",),
    "edit error": ("UPDATE inputs SET value = '{\"files\": {}, \"error\": [3]}', kind = 'edited'",),
    "input deep": (("UPDATE inputs SET value = ?", (DEEP,)),),
    "input blob": ("UPDATE inputs SET value = x'ff00ff'",),
    "input name": ("UPDATE inputs SET name = x'ff'",),
    "agent name": ("UPDATE agents SET name = x'ff'",),
    "agent names": ("UPDATE agents SET name = 'cook 1'",),
    "agent never": ("UPDATE agents SET first = 'x'",),
    "view text": ("UPDATE views SET data = 'text'",),
    "view number": ("UPDATE views SET data = ' 3'",),
    "view bomb": (("UPDATE views SET data = ?", (BOMB,)),),
    "view patches": ("UPDATE views SET whole = 0",),
    "view wholes": ("UPDATE views SET whole = 1",),
    "view empty": ("UPDATE views SET whole = 1, data = CAST(' {}' AS BLOB)",),
    "view moved": ("UPDATE views SET tick = tick + 1 WHERE tick = 1",),
    "outline": ("INSERT INTO outlines VALUES (1, 'x')", "INSERT INTO drawings VALUES (1, 'tree', 1, 1)"),
    "meta json": ("UPDATE meta SET value = '{' WHERE key = 'seed'",),
    "meta seed": ("UPDATE meta SET value = '[1]' WHERE key = 'seed'",),
    "meta started": ("UPDATE meta SET value = '-1' WHERE key = 'started'",),
    "meta rate": ("UPDATE meta SET value = '0' WHERE key = 'ticks_per_second'",),
    "meta world": ("DELETE FROM meta WHERE key = 'world'",),
    "meta kept": ("INSERT INTO meta VALUES ('kept_from', '\"x\"')",),
    "meta blob": ("UPDATE meta SET value = x'ff00'",),
    "meta deep": (("INSERT INTO meta VALUES ('more', ?)", ("[" * 100_000,)),),
    "not utf-8": ("UPDATE meta SET value = CAST(x'22ff22' AS TEXT) WHERE key = 'world'",),
}  # fmt: skip
HARMLESS = {
    "tick negative", "no ticks", "agent name", "agent names", "agent never", "input name", "view patches", "view moved",
    "outline",
}  # fmt: skip


@pytest.mark.states(
    "tools: Recording: Whatever is in a file (cut off, zeroed or swapped pages, changed bytes, rows nobody wrote), "
    "the reader gives data or a `RecordingError`",
)
@pytest.mark.parametrize("name", ROWS)
def test_rows_that_nobody_wrote(copy, name):
    spoilt(copy, *ROWS[name])
    if name in HARMLESS:
        try:
            read_all(copy)
        except RecordingError:
            pass
        return
    with pytest.raises(RecordingError) as info:
        read_all(copy)
    assert str(copy) in str(info.value)


@pytest.mark.parametrize(
    "statements",
    [
        ["INSERT INTO ticks SELECT 1000000000000000, 0, digest FROM ticks WHERE tick = 60"],
        ["DELETE FROM ticks WHERE tick = 30"],
        ["INSERT OR REPLACE INTO meta VALUES ('kept_from', '1000000000000000')"],
        [
            "INSERT OR REPLACE INTO meta VALUES ('kept_from', '999999999999999')",
            "INSERT INTO ticks SELECT 1000000000000000, 0, digest FROM ticks WHERE tick = 60",
        ],
    ],
    ids=["far away", "a gap", "nothing kept", "everything dropped"],
)
def test_nobody_is_sent_through_more_ticks_than_there_are(copy, statements):
    spoilt(copy, *statements)
    with pytest.raises(RecordingError, match="ticks of it are missing"):
        Recording.open(copy)


def test_little_that_unpacks_to_a_lot_is_refused_before_it_is_read(copy):
    bomb = b"z" + zlib.compress(b"[[" + b"[]," * 6_000_000 + b"0]]", 9)
    assert len(bomb) < 30_000
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE traces SET numbers = ?", (bomb,))
    with Recording.open(copy) as recording, pytest.raises(RecordingError, match="cut off, or too long"):
        recording.batch(30)


def test_a_value_that_is_too_large_for_sqlite_is_refused(copy, monkeypatch):
    monkeypatch.setattr("agentrt.record.schema._LONGEST", 1_000_000)
    spoilt(copy, "UPDATE inputs SET value = zeroblob(2000000)")
    with pytest.raises(RecordingError, match="it cannot be read any further: .*too big"):
        read_all(copy)


# --- files that are damaged ---------------------------------------------------------------------------------------------


def survives(path):
    """Whether it can be read; nothing but a RecordingError says that it cannot."""
    try:
        read_all(path)
    except RecordingError:
        return False
    return True


def test_a_file_that_was_cut_off_anywhere(good, tmp_path):
    data, path = good.read_bytes(), tmp_path / "cut.sqlite"
    outcomes = []
    for size in range(0, len(data), max(len(data) // 40, 1)):
        path.write_bytes(data[:size])
        outcomes.append(survives(path))
    assert outcomes.count(False) > 10


@pytest.mark.slow
def test_a_file_with_zeroed_or_swapped_pages(good, tmp_path):
    data, path = good.read_bytes(), tmp_path / "pages.sqlite"
    pages = [data[start : start + 4096] for start in range(0, len(data), 4096)]
    outcomes = []
    for number in range(len(pages)):
        for spoil in (b"\x00" * 4096, b"\xff" * 4096, pages[(number * 7 + 3) % len(pages)]):
            path.write_bytes(b"".join([*pages[:number], spoil, *pages[number + 1 :]]))
            outcomes.append(survives(path))
    assert outcomes.count(False) > len(pages)


@pytest.mark.slow
def test_a_file_with_bytes_that_are_others(good, tmp_path):
    data, path, dice = good.read_bytes(), tmp_path / "bytes.sqlite", random.Random(4)
    outcomes = []
    for _ in range(150):
        spoilt = bytearray(data)
        for _ in range(dice.choice([1, 10, 200])):
            spoilt[dice.randrange(len(data))] = dice.randrange(256)
        path.write_bytes(spoilt)
        outcomes.append(survives(path))
    assert 10 < outcomes.count(False) < 150


def test_edits_are_told_as_far_as_there_is_room_the_newest_first(copy, monkeypatch):
    monkeypatch.setattr("agentrt.record.recording._RELOADS_TEXT", 1000)
    row = "INSERT INTO inputs VALUES (?, 0, 99, 'edited', -1, 'x', ?)"
    texts = [json.dumps({"files": {f"{tick}.py": ""}, "notes": ["x" * 400]}) for tick in range(10)]
    spoilt(copy, *((row, (tick, text)) for tick, text in enumerate(texts)))
    with Recording.open(copy) as recording:
        assert [one.files for one in recording.reloads()] == [("8.py",), ("9.py",)]
        monkeypatch.setattr("agentrt.record.recording._RELOADS_TEXT", 300)
        assert recording.reloads() == []


@given(st.dictionaries(st.sampled_from(["a", "plan", "drivers", "name"]), st.integers(), max_size=3))
@settings(max_examples=20)
def test_views_of_another_shape_are_told_as_they_are_and_not_explained(good, tmp_path_factory, view):
    path = shutil.copy(good, tmp_path_factory.mktemp("shape") / "copy.sqlite")
    spoilt(path, ("UPDATE views SET whole = 1, data = ?", (b" " + json.dumps(view).encode(),)))
    with Recording.open(path) as recording:
        assert recording.view("scout", 30) == {**view, "tick": 30, "seconds": 1.5}
        with pytest.raises(RecordingError, match="the view of 'scout' in tick 30 is broken"):
            recording.explain("scout", 30)
