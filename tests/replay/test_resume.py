"""A run that died goes on where its recording ends; the file becomes what it would be had nothing happened."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from left_behind import crash, tables
from modules import load
from players import HOSTS, play_on

from agentrt import TOP, Action, Agent, Runtime, call_key
from agentrt.errors import RecordingError, ReplayDifferenceError, ReplayError, WrongStateError
from agentrt.record import Recording, Replay, replay, resume

camp = load("tests/record/camp.py")
yard = load("tests/replay/yard.py")


@pytest.fixture(autouse=True)
def knocks(monkeypatch):
    monkeypatch.setattr("agentrt.record.schema._KNOCKS", (0.001, 0.0))


def disturbed(path, make, ticks, crashes, *, between=yard.ringing, **options):
    """Record a run, and keep what it would have left behind had it been killed after some of its ticks."""
    runtime = make(seed=3, host="plain")
    runtime.record(path, **options)
    left = []
    for tick in range(1, ticks + 1):
        between(runtime)
        runtime.step()
        if tick in crashes:
            left.append(crash(path, path.with_name(f"killed at {tick}.sqlite")))
    runtime.close()
    return left


def go_on(runtime, ticks, between=yard.ringing):
    while runtime.tick < ticks:
        between(runtime)
        runtime.step()


# --- the file -----------------------------------------------------------------------------------------------------------


class Guest:
    def __init__(self, name):
        self.name = name


class Drink(Action):
    does = TOP
    utility = 0.3

    async def run(self, ctx, args):
        await ctx.sleep_ticks(5 + ctx.random.below(9))


def coming_and_going(*, seed, host):
    """A yard that somebody enters and leaves now and then, some of them by the same name."""
    runtime = yard.Yard(questions=40)(seed=seed, host=host)

    def every_tick():
        if runtime.tick % 13 == 4:
            runtime.add(Agent(Guest("guest"), name=f"guest {runtime.tick % 2}", actions=[Drink]))
        if runtime.tick % 17 == 6:
            runtime.remove(runtime.agents[-1], "left")

    runtime.every_tick(every_tick)
    return runtime


@pytest.mark.states(
    "tools: Durable runs: A run that is resumed goes on in the same file, which in the end holds what that of the "
    "undisturbed run holds, row by row",
)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "ticks", "crashes"),
    [
        ({}, 120, (1, 37, 119)),
        ({"commit_every": 7}, 60, (5, 13, 30)),
        ({"views": 4, "drawings": "none"}, 60, (21,)),
        ({"views": "none"}, 60, (21,)),
        ({"keep_ticks": 40}, 260, (130, 195, 259)),
    ],
    ids=["every tick", "seven ticks at once", "few views", "no views", "cut"],
)
def test_the_file_is_that_of_the_undisturbed_run(tmp_path, options, ticks, crashes):
    path = tmp_path / "run.sqlite"
    left = disturbed(path, coming_and_going, ticks, crashes, **options)
    every = options.get("commit_every", 1)
    for tick, killed in zip(crashes, left, strict=True):
        with resume(killed, coming_and_going) as runtime:
            assert runtime.tick == runtime.recorder.committed_tick == tick - tick % every
            go_on(runtime, ticks)
        assert tables(killed) == tables(path)
    with Recording.open(left[-1]) as recording:
        (resumed,) = recording.header("resumed")
        assert (resumed["tick"], resumed["host"]) == (crashes[-1] - crashes[-1] % every, "plain")
        assert recording.unreplayable == []
        report = replay(recording, coming_and_going)
        assert report.is_same
        assert report.digest == recording.digest()


def test_a_file_that_is_bounded_in_bytes_stays_whole(tmp_path):
    path = tmp_path / "run.sqlite"
    (killed,) = disturbed(path, coming_and_going, 30, (25,), max_bytes=1024 * 1024)
    with resume(killed, coming_and_going) as runtime:
        go_on(runtime, 30)
    assert {**tables(killed), "meta": 0} == {**tables(path), "meta": 0}


@pytest.mark.states(
    "tools: Durable runs: What was resumed can be resumed again, and so can a recording that was ended; its header "
    "tells when",
)
def test_what_was_resumed_or_ended_is_resumed_again(tmp_path):
    path = tmp_path / "run.sqlite"
    (killed,) = disturbed(path, yard.Yard(), 90, (20,))
    with resume(killed, yard.Yard()) as runtime:
        go_on(runtime, 41)
        killed = crash(killed, tmp_path / "killed twice.sqlite")
    with resume(killed, yard.Yard()) as runtime:  # which is ended by that
        go_on(runtime, 60)
    with Recording.open(killed) as recording:
        assert recording.header("ended") == "the runtime was closed"
    with resume(killed, yard.Yard()) as runtime:
        go_on(runtime, 90)
    assert tables(killed) == tables(path)
    with Recording.open(killed) as recording:
        assert [one["tick"] for one in recording.header("resumed")] == [20, 41, 60]


def test_nothing_to_go_on_with_changes_nothing_but_the_header(tmp_path):
    path = tmp_path / "run.sqlite"
    disturbed(path, yard.Yard(), 20, ())
    before = tables(path)
    with resume(path, yard.Yard()) as runtime:
        assert runtime.tick == 20
    assert tables(path) == before


def test_a_recording_without_a_tick_is_begun(tmp_path):
    path = tmp_path / "run.sqlite"
    killed = tmp_path / "killed.sqlite"
    runtime = yard.Yard()(seed=3, host="plain")
    with runtime.record(path):
        crash(path, killed)
        go_on(runtime, 20)
    runtime.close()
    with resume(killed, yard.Yard()) as runtime:
        assert runtime.tick == 0
        go_on(runtime, 20)
        runtime.recorder.close()
    assert tables(killed) == tables(path)


@pytest.mark.states(
    "tools: Durable runs: A log that is torn, as after the machine stopped, is read up to its last whole commit, and "
    "the run is resumed from there",
)
@pytest.mark.parametrize("damage", ["cut", "spoilt"])
def test_a_torn_log_is_taken_up_to_its_last_whole_commit(tmp_path, damage):
    path = tmp_path / "run.sqlite"
    (killed,) = disturbed(path, yard.Yard(), 60, (40,))
    log = Path(f"{killed}-wal")
    raw = log.read_bytes()
    cut = len(raw) * 2 // 3
    log.write_bytes(raw[:cut] if damage == "cut" else raw[:cut] + bytes(len(raw) - cut))
    with resume(killed, yard.Yard()) as runtime:
        assert 5 < runtime.tick < 40
        go_on(runtime, 60)
    assert tables(killed) == tables(path)


def test_killed_while_its_log_was_taken_up_it_is_put_in_order_by_who_resumes_it(tmp_path):
    path, killed = tmp_path / "run.sqlite", tmp_path / "killed.sqlite"
    disturbed(path, yard.Yard(), 20, ())
    before = tables(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size=1")  # so that pages are written before the commit
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE views SET data = zeroblob(2000)")
        for suffix in ("", "-journal"):
            shutil.copy(f"{path}{suffix}", f"{killed}{suffix}")
        connection.execute("ROLLBACK")
    with pytest.raises(RecordingError, match="killed while its log was taken up.*agentrt resume FILE"):
        Recording(killed)
    with resume(killed, yard.Yard()) as runtime:
        assert runtime.tick == 20
    assert tables(killed) == before


# --- what stands against it ---------------------------------------------------------------------------------------------


def content(path):
    return [file.read_bytes() if file.exists() else None for file in (path, Path(f"{path}-wal"))]


@pytest.mark.states(
    "tools: Durable runs: A file that somebody still writes, or resumes, is not resumed; neither of the two is harmed",
)
def test_somebody_still_writes_it(tmp_path):
    path = tmp_path / "run.sqlite"
    runtime = yard.Yard()(seed=3, host="plain")
    recorder = runtime.record(path)
    go_on(runtime, 10)
    with pytest.raises(RecordingError, match="somebody is still writing it"):
        resume(path, yard.Yard()).__enter__()
    go_on(runtime, 20)
    assert recorder.is_open
    runtime.close()
    with resume(path, yard.Yard()) as first:
        with pytest.raises(RecordingError, match="somebody is still writing it"):
            resume(path, yard.Yard()).__enter__()
        go_on(first, 30)
    with Recording.open(path) as recording:
        assert replay(recording, yard.Yard()).is_same


def test_two_that_resume_it_at_once(tmp_path):
    path = tmp_path / "run.sqlite"
    disturbed(path, yard.Yard(), 20, ())
    refused = []

    def make(*, seed, host):
        with pytest.raises(RecordingError, match="somebody is still writing it") as caught:
            resume(path, yard.Yard()).__enter__()
        refused.append(caught.value)
        return yard.Yard()(seed=seed, host=host)

    with resume(path, make) as runtime:
        go_on(runtime, 25)
    assert len(refused) == 1
    with Recording.open(path) as recording:
        assert recording.last_tick == 25


@pytest.mark.states(
    "tools: Durable runs: If the world is another one by now, the first difference is told and nothing is written; the "
    "run as the code of now has it can be recorded into another file, and goes on there",
)
def test_a_world_whose_code_changed(tmp_path):
    path = tmp_path / "run.sqlite"
    (killed,) = disturbed(path, yard.Yard(), 60, (40,))

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1)
        ctx.entity.alarm = 0
        ctx.entity.rung.emit()

    quick = type("Chase", (yard.Chase,), {"run": run})

    before = tables(killed)
    with pytest.raises(ReplayDifferenceError, match="the replay differs in tick 4") as caught:
        resume(killed, yard.Yard(chase=quick)).__enter__()
    assert "agentrt resume FILE --no-verify --into NEW" in caught.value.__notes__[-1]
    assert tables(killed) == before
    anew = tmp_path / "anew.sqlite"
    with resume(killed, yard.Yard(chase=quick), verify=False, into=anew) as runtime:
        assert runtime.tick == 40
        go_on(runtime, 60)
    assert tables(killed) == before
    with Recording.open(anew) as recording, Recording.open(killed) as old:
        assert replay(recording, yard.Yard(chase=quick)).is_same
        assert [one.tick for one in recording.inputs(last=40)] != []
        assert recording.header("run") == old.header("run")
        assert recording.header("resumed_from") == {"recording": "killed at 40.sqlite", "tick": 40}
    with pytest.raises(ValueError, match="verify=False goes with into="):
        resume(killed, verify=False)


def test_no_recording_an_empty_one_and_one_that_was_saved_from_the_past(tmp_path):
    path = tmp_path / "run.sqlite"
    with pytest.raises(RecordingError, match="there is no such file"):
        resume(path, yard.Yard()).__enter__()
    path.write_bytes(b"")
    with pytest.raises(RecordingError, match="nothing was recorded in it yet"):
        resume(path, yard.Yard()).__enter__()
    path.write_text("mine" * 2000)
    with pytest.raises(RecordingError, match="no recording"):
        resume(path, yard.Yard()).__enter__()
    assert path.read_text() == "mine" * 2000


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("CREATE TRIGGER t AFTER INSERT ON ticks BEGIN DELETE FROM ticks; END", "it has what no recording has: 't'"),
        ("DELETE FROM meta WHERE key = 'durability'", "an older agentrt wrote it"),
        ("UPDATE meta SET value = '\"never\"' WHERE key = 'durability'", "its header is broken: durability is 'never'"),
        ("UPDATE meta SET value = '0' WHERE key = 'commit_every'", "its header is broken: commit_every is 0"),
        ("UPDATE meta SET value = '-3' WHERE key = 'views'", "its header is broken: views is -3"),
        ("DELETE FROM ticks WHERE tick = 9", "ticks of it are missing"),
    ],
)
def test_a_file_of_somebody_else_is_looked_at_before_it_is_written(tmp_path, statement, told):
    path = tmp_path / "run.sqlite"
    disturbed(path, yard.Yard(), 20, ())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    before = content(path)
    with pytest.raises(RecordingError, match=told):
        resume(path, yard.Yard()).__enter__()
    assert content(path) == before


def test_one_that_began_in_the_middle_cannot_be_resumed(tmp_path):
    path = tmp_path / "run.sqlite"
    runtime = yard.Yard()(seed=3, host="plain")
    go_on(runtime, 5)
    with runtime.record(path):
        go_on(runtime, 10)
    runtime.close()
    with pytest.raises(ReplayError, match="it begins after tick 5"):
        resume(path, yard.Yard()).__enter__()
    with Recording.open(path) as recording:
        assert recording.header("ended") == "closed"


def test_who_drives_it_fails(tmp_path):
    path = tmp_path / "run.sqlite"
    disturbed(path, yard.Yard(), 20, ())

    def drive():
        with resume(path, yard.Yard()) as runtime:
            go_on(runtime, 25)
            raise LookupError("no more")

    with pytest.raises(LookupError):
        drive()
    with Recording.open(path) as recording:
        assert (recording.last_tick, recording.header("ended")) == (25, "LookupError: no more")


# --- what comes in ------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Durable runs: `recorder.committed_tick` and `on_commit` tell what is kept whatever happens, so that whoever "
    "sends knows what to send again",
)
def test_commits_are_told(tmp_path, caplog):
    runtime = camp.camp()
    recorder = runtime.record(tmp_path / "run.sqlite", commit_every=4)
    told = []

    def fail(tick):
        raise ArithmeticError("who is told fails")

    close = recorder.on_commit(told.append)
    recorder.on_commit(fail)
    assert (recorder.committed_tick, runtime.recorder) == (0, recorder)
    for tick in range(1, 10):
        runtime.step()
        assert recorder.committed_tick == tick - tick % 4
    assert told == [4, 8]
    lines = [record.getMessage().splitlines()[0] for record in caplog.records]
    assert len([line for line in lines if "who is told of commits failed, and is told of no more" in line]) == 1
    runtime.close()
    assert told == [4, 8, 9]
    assert (recorder.committed_tick, runtime.recorder) == (9, None)
    close()
    close()


def test_who_is_told_of_a_commit_may_end_the_recording(tmp_path):
    runtime = camp.camp()
    recorder = runtime.record(tmp_path / "run.sqlite")
    recorder.on_commit(lambda tick: recorder.close("enough") if tick == 3 else None)
    for _ in range(5):
        runtime.step()
    runtime.close()
    assert (recorder.stopped, recorder.ticks) == ("enough", 3)


@pytest.mark.states(
    "tools: Durable runs: With durability='power' each commit waits for the disk, also after it was resumed; "
    "'process' does not",
)
@pytest.mark.parametrize(("durability", "synchronous"), [("process", 1), ("power", 2)])
def test_what_a_commit_survives(tmp_path, durability, synchronous):
    path = tmp_path / "run.sqlite"

    def pragma(recorder):
        return recorder._store._connection.execute("PRAGMA synchronous").fetchone()

    runtime = yard.Yard()(seed=3, host="plain")
    recorder = runtime.record(path, durability=durability)
    assert pragma(recorder) == (synchronous,)
    go_on(runtime, 5)
    runtime.close()
    with resume(path, yard.Yard()) as runtime:
        assert pragma(runtime.recorder) == (synchronous,)


def test_a_durability_that_there_is_not(tmp_path):
    with pytest.raises(ValueError, match="durability is 'disk': choose one of process, power"):
        Runtime(host="plain").record(tmp_path / "run.sqlite", durability="disk")
    assert not list(tmp_path.iterdir())


# --- calls --------------------------------------------------------------------------------------------------------------


class Bank:
    """Outside of the game: pays once for each key, and is slow where there is an event loop."""

    def __init__(self):
        self.asked = []
        self.paid = {}
        self.is_dead = False  # the process that asks is

    def pay(self, who, coins):
        return self._pay(who, coins)

    async def pay_slowly(self, who, coins):
        import anyio

        key = self._pay(who, coins)
        await anyio.sleep(0 if self.is_dead else 1000)
        return key

    def _pay(self, who, coins):
        key = call_key()
        self.asked.append((who, coins))
        self.paid.setdefault(key, coins)
        return key


def market(pay, payers=3):
    class Pay(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            for coins in range(1, 100):
                key = await ctx.call(pay, ctx.entity.name, coins)
                ctx.agent.runtime.note("paid", key=key)
                await ctx.sleep_ticks(2)

    def make(*, seed, host):
        runtime = Runtime(seed, host=host)
        for number in range(payers):
            runtime.add(Agent(Guest(f"payer {number}"), name=f"payer {number}", actions=[Pay]))
        return runtime

    return make


@pytest.mark.states(
    "tools: Durable runs: Calls that had no result when the run died are made again, with the same key, on plain, "
    "asyncio and trio; none is made while it is replayed",
)
@pytest.mark.parametrize("host", HOSTS)
def test_calls_that_wait_are_made_again(tmp_path, host):
    bank = Bank()
    make = market(bank.pay if host == "plain" else bank.pay_slowly)
    path, killed = tmp_path / "run.sqlite", tmp_path / "killed.sqlite"

    async def first():
        runtime = make(seed=3, host=host)
        runtime.record(path)
        await runtime.run(2, speed=math.inf, blocking_ms=None)
        crash(path, killed)
        asked.extend(bank.asked)
        await runtime.aclose()

    async def second():
        async with resume(killed, make) as runtime:
            assert (runtime.tick, runtime.host) == (2, host)
            for _ in range(8):
                await runtime.run(1, speed=math.inf, blocking_ms=None)

    asked = []
    play_on(host, first)
    payers = [f"payer {number}" for number in range(3)]
    assert sorted(asked) == [(payer, 1) for payer in payers]
    if host == "plain":  # the results came in in tick 2
        asked.clear()
    bank.asked.clear()
    bank.is_dead = True
    play_on(host, second)
    assert sorted(bank.asked[:3]) == (sorted(asked) or [(payer, 2) for payer in payers])
    with Recording.open(killed) as recording:
        paid = [(one.number, one.value) for one in recording.inputs() if one.kind == "answered"]
        assert len(paid) >= 6
        assert all(key.startswith(f"{recording.header('run')}-{number}-") for number, key in paid)
        assert replay(recording, make, host=host).is_same
    assert list(bank.paid.values()).count(1) == 3


@pytest.mark.slow
def test_the_result_of_a_call_that_is_made_again_at_once_comes_in_at_its_place(tmp_path):
    path = tmp_path / "run.sqlite"
    make = yard.Yard(clerks=6, questions=40)
    ticks = range(1, 20, 2)
    for tick, killed in zip(ticks, disturbed(path, make, 20, ticks), strict=True):
        with resume(killed, make) as runtime:
            assert runtime.tick == tick
            go_on(runtime, 20)
        assert tables(killed)["inputs"] == tables(path)["inputs"]
        assert tables(killed)["ticks"] == tables(path)["ticks"]


def test_a_coroutine_function_that_is_asked_again_where_no_loop_runs_it(tmp_path):
    bank = Bank()
    path, killed = tmp_path / "run.sqlite", tmp_path / "killed.sqlite"

    async def main():
        runtime = market(bank.pay_slowly, 1)(seed=3, host="asyncio")
        runtime.record(path)
        await runtime.run(2, speed=math.inf, blocking_ms=None)
        crash(path, killed)
        await runtime.aclose()

    play_on("asyncio", main)
    with resume(killed, market(bank.pay_slowly, 1)) as runtime:
        runtime.step()
        runtime.recorder.close()
    with Recording.open(killed) as recording:
        (failed,) = [one for one in recording.inputs() if one.kind == "answered"]
        assert "called the coroutine function Bank.pay_slowly on the plain host" in str(failed.error)


@pytest.mark.states(
    "tools: Durable runs: `call_key()` tells what is called which call it is: one key for one call of one run with the "
    "same arguments",
)
@pytest.mark.parametrize("host", HOSTS)
def test_the_key_of_a_call(host):
    keys = []

    def told(*args):
        keys.append(call_key())

    def make(told):
        async def ask():
            for args in ((), (1,), (1,), (object(),), ({"a": {1}},), (keys,)):
                await runtime.call(told, *args)

        runtime = Runtime(host=host)
        runtime.calls.run = "cafe"
        runtime.spawn(ask)
        return runtime

    def found(told):
        nonlocal runtime
        keys.clear()
        runtime = make(told)

        async def main():
            while len(keys) < 6:
                await runtime.run(1, speed=math.inf, blocking_ms=None)
                await checkpoint(host)
            await runtime.aclose()

        play_on(host, main)
        return list(keys)

    runtime = None
    first = found(told)
    assert [key.rpartition("-")[0] for key in first] == [f"cafe-{number}" for number in range(6)]
    assert len(set(first)) == 6
    assert first[1].rpartition("-")[2] == first[2].rpartition("-")[2] != first[0].rpartition("-")[2]
    assert found(told)[:5] == first[:5]


async def checkpoint(host):
    """Let threads answer, where there are any."""
    if host != "plain":
        import anyio

        await anyio.sleep(0.001)


def test_the_key_of_no_call():
    with pytest.raises(WrongStateError, match="agentrt.call_key cannot be called while no call to the outside runs"):
        call_key()
    assert len({Runtime().calls.run for _ in range(3)}) == 3


# --- a replay that leaves its recording behind --------------------------------------------------------------------------


def test_a_replay_goes_live_from_any_tick(tmp_path):
    path = tmp_path / "run.sqlite"
    disturbed(path, yard.Yard(), 60, ())
    with Recording.open(path) as recording, Replay(recording, yard.Yard()) as one:
        one.to(31)
        assert "agentrt:set" in one.runtime.inputs
        runtime = one.go_live()
        assert runtime.inputs == ("ring", "say")  # nobody who sends what others type changes the world by hand
        go_on(runtime, 60)
        assert one.tick == 60
        digests = {tick: digest for tick, _, digest in recording.digests()}
    assert digests[60] == recording_digest(path)


def recording_digest(path):
    with Recording.open(path) as recording, Replay(recording, yard.Yard()) as one:
        one.to()
        return one.digest


def test_a_replay_that_differs_does_not_go_live(tmp_path):
    path = tmp_path / "run.sqlite"
    disturbed(path, yard.Yard(), 20, ())
    with Recording.open(path) as recording, Replay(recording, yard.Yard(clerks=1)) as one:
        one.to()
        with pytest.raises(ReplayDifferenceError):
            one.go_live()


def test_the_header_tells_who_resumed_it_the_newest_times(tmp_path, monkeypatch):
    monkeypatch.setattr("agentrt.record.recorder._MOST_RESUMED", 2)
    path = tmp_path / "run.sqlite"
    disturbed(path, yard.Yard(), 5, ())
    for tick in (6, 7, 8):
        with resume(path, yard.Yard()) as runtime:
            go_on(runtime, tick)
    with closing(sqlite3.connect(path)) as connection:
        (text,) = connection.execute("SELECT value FROM meta WHERE key = 'resumed'").fetchone()
    assert [one["tick"] for one in json.loads(text)] == [6, 7]
