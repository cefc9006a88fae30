"""Recordings of a world with epochs: the newest saves are kept, and a replay that begins with one is the same run."""

from __future__ import annotations

import shutil
import sqlite3
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load
from players import HOSTS

from agentrt.errors import RecordingError, ReplayError
from agentrt.kernel.trace import TraceDigest
from agentrt.record.recording import Recording
from agentrt.record.replay import Replay, replay
from agentrt.record.resume import resume

mill = load("tests/epochs/mill.py")


def record(path, host="plain", ticks=180, between=mill.windy, make=mill.make, **options):
    runtime = make(seed=3, host=host)
    runtime.record(path, **options)
    mill.drive(runtime, ticks, between)
    return Recording(path)


@pytest.mark.parametrize("host", HOSTS)
def test_a_replay_can_begin_with_each_save_that_is_kept(tmp_path, host):
    with record(tmp_path / "run.sqlite", host) as recording:
        assert recording.saves == (100, 150)
        assert recording.unreplayable == []
        for since, compared, other in ((None, 180, "plain"), (100, 80, host), (150, 30, "plain")):
            report = replay(recording, mill.make, since=since, host=other)
            assert report.is_same, report.as_text()
            assert (report.compared, report.digest) == (compared, recording.digest())


def test_another_world_parts_at_the_epoch_and_not_somewhere_later(tmp_path):
    def save(runtime):
        return {**mill.save(runtime), "wind": 99}

    with record(tmp_path / "run.sqlite") as recording:
        report = replay(recording, lambda *, seed, host: mill.make(seed=seed, host=host, save=save))
    assert report.difference.tick == 51
    assert "record 1 is another one: the same, but for save" in report.difference.as_text()


quiet = partial(mill.make, asks=False)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The digest of a run of 180 ticks, and its file as it was at the end of each tick."""
    folder = tmp_path_factory.mktemp("undisturbed")
    runtime = quiet(seed=3, host="plain")
    digest = TraceDigest(runtime.trace)
    runtime.record(folder / "run.sqlite", views="none", commit_every=7)
    runtime.after_tick(lambda: runtime.tick == 180 and digest.close())

    def between(runtime):
        mill.windy(runtime)
        for end in ("", "-wal"):
            shutil.copyfile(folder / f"run.sqlite{end}", folder / f"{runtime.tick}.sqlite{end}")

    mill.drive(runtime, 180, between)
    return folder, digest.hexdigest()


@settings(max_examples=12, deadline=None)
@given(st.integers(51, 179))
def test_killed_at_any_tick_it_goes_on_from_the_last_save_to_the_same_end(undisturbed, tick):
    folder, digest = undisturbed
    with Recording(folder / f"{tick}.sqlite") as recording:
        last = recording.last_tick
        assert tick - 7 < last <= tick
        since = max(recording.saves, default=0)
        assert since == (last - 1) // 50 * 50  # the save of a tick is committed with the next one
        with Replay(recording, quiet, since=since) as again:
            assert again.to() is None
            assert again.compared == last - since
            again.last_tick = 180
            runtime = again.runtime
            while runtime.tick < 180:
                if runtime.tick >= last:
                    mill.windy(runtime)
                runtime.step()
            assert again.digest == digest


@pytest.mark.parametrize("tick", [47, 104, 150, 158])
def test_killed_and_resumed_in_its_file_it_comes_over_its_epochs_to_the_same_end(undisturbed, tmp_path, tick):
    folder, digest = undisturbed
    for end in ("", "-wal"):
        shutil.copyfile(folder / f"{tick}.sqlite{end}", tmp_path / f"run.sqlite{end}")
    with resume(tmp_path / "run.sqlite", quiet) as runtime:
        while runtime.tick < 180:
            mill.windy(runtime)  # also what was not committed: its sender repeats it
            runtime.step()
        assert runtime.recorder.digest == digest
    with Recording(tmp_path / "run.sqlite") as recording:
        assert recording.saves == (100, 150)
        assert replay(recording, quiet, since=150).digest == digest


def test_killed_before_its_first_save_it_goes_on_from_the_beginning(undisturbed):
    with Recording(undisturbed[0] / "49.sqlite") as recording:
        assert recording.saves == ()
        with pytest.raises(RecordingError, match="it keeps no save of tick 0: it has none"):
            recording.save(0)
        assert replay(recording, quiet).is_same


def test_what_is_recorded_after_a_restore_can_be_replayed(tmp_path):
    before = mill.make(seed=3, host="plain")
    for _ in range(70):
        before.step()
    saved = before.save()
    before.close()

    def make(*, seed, host):
        runtime = mill.make(seed=seed, host=host)
        if host == "plain":
            runtime.restore(saved)
        return runtime

    with record(tmp_path / "run.sqlite", ticks=230, make=make) as recording:
        assert recording.meta["started"] == 70
        assert recording.saves == (70, 150, 200)  # what it began with, and the newest two
        assert recording.unreplayable == []
        for since in (None, 70, 150, 200):
            assert replay(recording, mill.make, since=since).is_same
        with pytest.raises(ReplayError, match="it begins after tick 100, and nobody knows how the world was then"):
            replay(recording, mill.make, since=100)


def test_whoever_is_gone_with_the_old_world_went_at_the_epoch_and_views_begin_whole(tmp_path):
    def save(runtime):
        saved = mill.save(runtime)
        return {**saved, "millers": [one for one in saved["millers"] if one[0] != "Bob"]}

    def make(*, seed, host):
        return mill.make(seed=seed, host=host, save=save)

    with record(tmp_path / "run.sqlite", ticks=60, make=make) as recording:
        assert recording.agents(49) == ("Ann", "Bob", "Cem")
        assert recording.agents(50) == ("Ann", "Cem")
        assert recording.view("Ann", 51)["name"] == "Ann"
        assert replay(recording, make, since=50).is_same
    with sqlite3.connect(tmp_path / "run.sqlite") as connection:
        rows = "SELECT whole FROM views WHERE agent = 1 AND tick > 50 ORDER BY tick LIMIT 1"
        assert connection.execute(rows).fetchall() == [(1,)]
        rows = "SELECT DISTINCT tick > 50, segment FROM traces ORDER BY tick"
        assert connection.execute(rows).fetchall() == [(0, 0), (1, 1)]
    connection.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE saves SET save = '{'", "its save of tick 150 is broken"),
        ("UPDATE saves SET save = x'00'", "its save of tick 150 is broken"),
        ("UPDATE saves SET save = '{}'", "this is nothing that runtime.save gave"),
        ("DROP TABLE saves; CREATE TABLE saves (tick INTEGER)", "its table 'saves' is not what it has to be"),
    ],
)
def test_saves_from_somebody_else_are_looked_at(tmp_path, statement, words):
    record(tmp_path / "run.sqlite").close()
    connection = sqlite3.connect(tmp_path / "run.sqlite")
    connection.executescript(statement)
    connection.close()
    with pytest.raises(Exception, match=words), Recording(tmp_path / "run.sqlite") as recording:
        replay(recording, mill.make, since=150)


def test_a_recording_without_epochs_has_no_table_for_them(tmp_path):
    with record(tmp_path / "run.sqlite", ticks=60, make=lambda **how: mill.make(**how, every=0)) as recording:
        assert recording.saves == ()
    connection = sqlite3.connect(tmp_path / "run.sqlite")
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'saves'").fetchone() == (0,)
    connection.close()
