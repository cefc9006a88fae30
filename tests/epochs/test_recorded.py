"""Recordings of a world with epochs: they keep the newest saves, and replays and resumed runs begin with one."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from left_behind import crash, tables
from modules import load
from players import HOSTS, play_on

from agentrt import Restart
from agentrt.drawing import Drawing
from agentrt.errors import (
    AgentRTError,
    EpochLengthError,
    RecordingError,
    ReplayDifferenceError,
    ReplayError,
    WrongStateError,
)
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
        crash(folder / "run.sqlite", folder / f"{runtime.tick}.sqlite")

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
    crash(folder / f"{tick}.sqlite", tmp_path / "run.sqlite")
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


# --- resumed ------------------------------------------------------------------------------------------------------------

TICKS = 190


def drawn(*, seed, host):
    """A mill that asks for prices, is drawn, and whose program says in between what becomes of who gives up."""
    runtime = mill.make(seed=seed, host=host, save=save_drawn, load=load_drawn)
    draw(runtime)
    return runtime


def draw(runtime):
    runtime.drawing = lambda: Drawing(10, 1 + sum(one.sacks for one in runtime.game.millers))


def save_drawn(runtime):
    return mill.save(runtime)


def load_drawn(runtime, saved):
    mill.load(runtime, saved)
    draw(runtime)


def strict(runtime):
    mill.windy(runtime)
    if runtime.tick == 62:
        runtime.restart = Restart(first=3.0)
    if runtime.tick == 171:
        runtime.restart = None


@pytest.mark.states(
    "tools: Durable runs: A run with epochs is resumed from its last save: what lies before is not repeated, and the "
    "file holds in the end what that of the undisturbed run holds, row by row",
)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "crashes"),
    [
        ({}, (49, 50, 51, 99, 100, 151, 188)),
        ({"commit_every": 7}, (55, 106, 150)),
        ({"views": 4, "drawings": 9}, (163,)),
        ({"keep_ticks": 40}, (128, 140, 188)),
        ({"keep_ticks": 16}, (149,)),
        ({"max_bytes": 1024 * 1024}, (130,)),
    ],
    ids=["every tick", "seven ticks at once", "few views", "cut", "cut behind the save", "bounded"],
)
def test_the_file_is_that_of_the_undisturbed_run(tmp_path, options, crashes):
    path = tmp_path / "run.sqlite"
    runtime = drawn(seed=3, host="plain")
    runtime.record(path, **options)
    left = {}
    while runtime.tick < TICKS:
        strict(runtime)
        runtime.step()
        if runtime.tick in crashes:
            left[runtime.tick] = crash(path, tmp_path / f"killed at {runtime.tick}.sqlite")
    runtime.close()
    for tick, killed in left.items():
        last = tick - tick % options.get("commit_every", 1)
        with resume(killed, drawn) as runtime:
            assert runtime.tick == runtime.recorder.committed_tick == last
            assert runtime.recorder.ticks == last
            while runtime.tick < TICKS:
                strict(runtime)
                runtime.step()
        assert tables(killed) == tables(path), tick


@pytest.fixture
def ended(tmp_path):
    """A recording of 160 ticks, ended."""
    record(tmp_path / "run.sqlite", ticks=160).close()
    return tmp_path / "run.sqlite"


@pytest.mark.parametrize("host", HOSTS)
def test_only_the_ticks_since_the_last_save_are_repeated(ended, host):
    ticks = []

    def make(*, seed, host):
        runtime = mill.make(seed=seed, host=host)
        runtime.after_tick(lambda: ticks.append(runtime.tick))
        return runtime

    async def main():
        async with resume(ended, make) as runtime:
            assert (runtime.tick, runtime.host) == (160, host)
            await runtime.run(1, speed=float("inf"), blocking_ms=None)

    play_on(host, main)
    assert ticks[:11] == list(range(151, 162))


def test_a_recording_that_was_ended_right_after_an_epoch_is_gone_on_with(tmp_path):
    path, killed = tmp_path / "run.sqlite", tmp_path / "ended.sqlite"
    record(path, ticks=TICKS).close()
    record(killed, ticks=150).close()
    with resume(killed, mill.make) as runtime:
        while runtime.tick < TICKS:
            mill.windy(runtime)
            runtime.step()
    assert tables(killed) == tables(path)


def test_without_a_digest_for_its_save_it_is_repeated_from_an_earlier_one(ended):
    with closing(sqlite3.connect(ended)) as connection, connection:
        connection.execute("INSERT INTO meta VALUES ('kept_from', '151')")
        connection.execute("DELETE FROM ticks WHERE tick = 150")
    with resume(ended, mill.make) as runtime:
        assert (runtime.tick, runtime.recorder.ticks) == (160, 160)
        runtime.step()
        digest = runtime.recorder.digest
    with Recording(ended) as recording:
        assert (recording.digest(), recording.last_tick) == (digest, 161)


def test_another_world_is_told_of_and_nothing_is_written(ended):
    before = tables(ended)

    def load(runtime, saved):
        mill.load(runtime, {**saved, "millers": saved["millers"][1:]})

    with pytest.raises(ReplayDifferenceError, match="Nothing was written"):
        resume(ended, lambda *, seed, host: mill.make(seed=seed, host=host, load=load)).__enter__()
    with pytest.raises(WrongStateError, match="its world never said how"):
        resume(ended, lambda *, seed, host: mill.make(seed=seed, host=host, declares=False)).__enter__()
    assert tables(ended) == before


@pytest.mark.parametrize(("every", "words"), [(75, "each 75 ticks"), (5, "each 5 ticks"), (0, "never")])
def test_a_world_that_is_rebuilt_at_other_ticks_is_told_of_and_nothing_is_written(ended, every, words):
    """Also where the next epoch would come long after the last tick of the file: 75 fits it up to there."""
    before = tables(ended)

    def make(*, seed, host):
        return mill.make(seed=seed, host=host, every=every)

    with pytest.raises(
        EpochLengthError, match=rf"\[ART346\].*is rebuilt each 50 ticks, .* is rebuilt {words}: "
    ) as told:
        resume(ended, make).__enter__()
    assert (told.value.recorded, told.value.made) == (50, every)
    assert tables(ended) == before


def test_into_another_file_its_epochs_may_be_others(tmp_path):
    path, into = tmp_path / "run.sqlite", tmp_path / "new.sqlite"
    record(path, ticks=60, between=lambda runtime: None, make=quiet).close()
    with resume(path, partial(quiet, every=75), verify=False, into=into) as runtime:
        runtime.step()
    with Recording(into) as recording:
        assert (recording.meta["epoch"], recording.last_tick) == (75, 61)


def test_a_file_of_before_lengths_were_noted_is_gone_on_with_and_has_one_then(ended):
    with closing(sqlite3.connect(ended)) as connection, connection:
        connection.execute("DELETE FROM meta WHERE key = 'epoch'")
    with resume(ended, mill.make) as runtime:
        runtime.step()
    with Recording(ended) as recording:
        assert recording.meta["epoch"] == 50


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE traces SET segment = 'x' WHERE tick = 160", "its trace of tick 160 is in the segment 'x'"),
        ("INSERT INTO outlines VALUES (7, x'00')", "packed data cannot be read"),
        ("UPDATE saves SET save = '[]'", "this is nothing that runtime.save gave"),
    ],
)
def test_what_is_taken_up_of_a_file_is_looked_at(ended, statement, words):
    with closing(sqlite3.connect(ended)) as connection, connection:
        connection.execute(statement)
    before = tables(ended)
    with pytest.raises(AgentRTError, match=words):
        resume(ended, mill.make).__enter__()
    assert tables(ended) == before


def test_into_another_file_the_whole_run_is_recorded(ended):
    into = ended.with_name("new.sqlite")
    with resume(ended, mill.make, into=into) as runtime:
        runtime.step()
    with Recording(into) as recording:
        assert (recording.first_tick, recording.last_tick) == (1, 161)
        assert replay(recording, mill.make).is_same


KILLED = """
import os, signal, sys
sys.path[:0] = [{support!r}]
from modules import load
mill = load("tests/epochs/mill.py")
runtime = mill.make(seed=3, host="plain")
runtime.record(sys.argv[1])
runtime.after_tick(lambda: runtime.tick == 137 and os.kill(os.getpid(), signal.SIGKILL))
mill.drive(runtime, 1000)
"""


@pytest.mark.states(
    "tools: Durable runs: A run that is killed by `kill -9` over an epoch and resumed ends with the file of the "
    "undisturbed one; `tools/kill_campaign.py --epoch 70` does it to a colony with outside calls, a hundred times",
)
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_run_that_is_killed_over_an_epoch_becomes_the_undisturbed_one(tmp_path, root):
    path, killed = tmp_path / "run.sqlite", tmp_path / "killed.sqlite"
    record(path, ticks=TICKS).close()
    code = KILLED.format(support=str(root / "tests" / "support"))
    done = subprocess.run([sys.executable, "-c", code, killed], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    with resume(killed, mill.make) as runtime:
        assert runtime.tick == 137  # after_tick: the recorder, which came first, has committed it
        while runtime.tick < TICKS:
            mill.windy(runtime)
            runtime.step()
    assert tables(killed) == tables(path)
