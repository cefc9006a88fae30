"""Shards run the same world wherever they live, in whichever order they are asked, and nothing is lost on the way."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import sqlite3

import pytest
from strips import Strip, measure, partition, world

from agentrt.errors import DefinitionError, ParameterError, ShardError, ShardLostError
from agentrt.record import Recording, replay
from agentrt.shards import LocalShards, PipeShards, ShardedWorld, Shards, places

DIGEST = "766be2cfe190f32ceaf90880f44e90e7"  # of four strips with seed 3, after 25 windows


PARAMETERS = {name: one for name, one in world.parameters.items() if name not in ("shard", "shards")}


def run(shards=4, windows=25, **options):
    with Shards(world, shards, seed=3, **options) as run:
        run.run(windows)
        return outcome(run)


def outcome(run):
    return run.digest, {**run.messages, "moving": run.moving}, run.measure()


class Backward(LocalShards):
    """A place that does what it is asked in the opposite order."""

    def ask(self, requests):
        super().ask(requests[::-1])

    def answers(self):
        return super().answers()[::-1]


class Slips(LocalShards):
    """A place that does something with what it is asked, or with what it answers."""

    def __init__(self, slip):
        super().__init__()
        self.slip = slip

    def ask(self, requests):
        self.is_window = any(one["ask"] == "window" for one in requests)
        super().ask(requests)

    def answers(self):
        answers = super().answers()
        return self.slip(answers) if self.is_window else answers


@pytest.fixture(scope="module")
def undisturbed():
    return run()


def test_a_world_in_shards_is_a_run_that_can_be_repeated(undisturbed):
    digest, messages, measures = undisturbed
    assert digest == DIGEST
    assert messages == {"sent": 231, "taken": 221, "dead": 0, "waiting": 10, "moving": 4}
    assert [one["walkers"] for one in measures] == [14, 8, 8, 6]  # and four are on their way
    assert [one["called"] for one in measures] == [22, 15, 18, 16]


@pytest.mark.parametrize(
    "places",
    [(LocalShards,) * 4, (LocalShards,) * 3, (Backward,), (Backward, LocalShards, Backward)],
    ids=["four places", "three places", "backward", "mixed"],
)
def test_a_run_does_not_depend_on_where_shards_live(undisturbed, places):
    assert run(places=[place() for place in places]) == undisturbed


def test_a_run_does_not_depend_on_being_written_down(undisturbed, tmp_path):
    assert run(folder=tmp_path) == undisturbed


def test_a_run_depends_on_how_the_world_is_cut(undisturbed):
    assert run(shards=3)[0] != undisturbed[0]


def test_a_run_depends_on_the_seed_and_the_parameters():
    digests = {run(windows=3)[0], run(windows=3, params={"walkers": 41})[0]}
    with Shards(world, 4, seed=4) as other:
        other.run(3)
        digests.add(other.digest)
    assert len(digests) == 3


def test_one_shard_is_the_whole_world_and_needs_no_barrier():
    """Nobody leaves it, and messages are due as ever: ``agentrt run`` runs it as it stands."""
    runtime = world.make(seed=3, host="plain")
    for _ in range(100):
        runtime.step()
    with Shards(world, 1, seed=3) as whole:
        whole.run(25)
        assert whole.measure() == [dict(world.measure(runtime))]
    assert world.measure(runtime)["greeted"] == 163
    runtime.close()


def test_the_directory_knows_where_everybody_is():
    with Shards(world, 4, seed=3) as run:
        homes = [run.where(f"w{number}") for number in range(8)]
        run.run(25)
        later = [run.where(f"w{number}") for number in range(8)]
        assert (homes, later) == ([0, 1, 2, 3, 0, 1, 2, 3], [1, 1, 3, 0, 1, 2, 2, 0])
        assert run.where("nobody") is None
        assert (run.agents, run.windows, run.tick, repr(run)) == (
            40,
            25,
            100,
            "<Shards: 4 of 'strips', tick 100, 40 agents>",
        )


# --- going on ---------------------------------------------------------------------------------------------------------


def test_a_run_goes_on_in_its_folder(undisturbed, tmp_path):
    with Shards(world, 4, seed=3, folder=tmp_path) as first:
        first.run(10)
    with Shards(world, 4, seed=3, folder=tmp_path, places=[Backward()]) as second:
        assert second.windows == 10
        second.run(15)
        assert outcome(second) == undisturbed


def test_who_still_writes_a_journal_is_waited_for(undisturbed, tmp_path, monkeypatch):
    """The processes of a leader that was killed finish their window before they hear of it."""
    with Shards(world, 4, seed=3, folder=tmp_path) as first:
        first.run(10)
    late = sqlite3.connect(tmp_path / "shard-2.sqlite")
    late.execute("PRAGMA journal_mode=WAL")
    late.execute("BEGIN IMMEDIATE")
    with monkeypatch.context() as hasty:
        hasty.setattr(places, "_PATIENCE", 0.0)
        with pytest.raises(ShardError, match=r"its journal, shard-2.sqlite: somebody is still writing it. End that"):
            Shards(world, 4, seed=3, folder=tmp_path).__enter__()
    monkeypatch.setattr(places.time, "sleep", lambda seconds: late.close())
    with Shards(world, 4, seed=3, folder=tmp_path) as second:
        second.run(15)
        assert outcome(second) == undisturbed


def test_a_run_goes_on_from_the_middle_of_a_window(undisturbed, tmp_path):
    """Two shards have run a window and two have not when the process dies: none of them runs it twice."""

    class Dies(LocalShards):
        def ask(self, requests):
            if requests[0]["ask"] == "window" and requests[0]["windows"] == 10:
                raise KeyboardInterrupt
            super().ask(requests)

    places = [LocalShards(), Dies()]
    with Shards(world, 4, seed=3, folder=tmp_path, places=places) as first:
        first.run(10)
        places[0].ask, ask = lambda requests: [ask(requests), places[0].answers()], places[0].ask
        with pytest.raises(KeyboardInterrupt):
            first.run()
        with pytest.raises(ShardError, match="an earlier call has failed within a window, so nothing more is run here"):
            first.run()
    with Shards(world, 4, seed=3, folder=tmp_path) as second:
        assert second.windows == 11
        second.run(14)
        assert outcome(second) == undisturbed


def test_a_lost_place_comes_back_by_its_journals(undisturbed, tmp_path):
    class Lost(LocalShards):
        times = 0

        def answers(self):
            answers = super().answers()
            if self._is_window and Lost.times < 3:
                Lost.times += 1
                raise ShardLostError(None, "gone")
            return answers

        def ask(self, requests):
            self._is_window = any(one["ask"] == "window" for one in requests)
            super().ask(requests)

    places = [Lost(), LocalShards()]
    with Shards(world, 4, seed=3, folder=tmp_path, places=places) as run:
        run.run(25)
        assert run.losses == 3
        assert outcome(run) == undisturbed


REBUILT = "e997a3f147c0753f0f3790d069b291f6"  # of two strips that are rebuilt after each 8 ticks, with seed 3, after 8 windows
OFTEN = {"pause": 3, "epoch": 8}


class Watched(Strip):
    """Notes which ticks are run, of which shard."""

    ran: list = []

    def __init__(self, shard, part, **more):
        super().__init__(shard, part, **more)
        self.runtime.after_tick(lambda: self.ran.append((shard.number, self.runtime.tick)))


@pytest.fixture
def watched():
    Watched.ran.clear()
    yield ShardedWorld("strips", Watched, partition, window=4, parameters=PARAMETERS, measure=measure)
    Watched.ran.clear()


def test_shards_that_are_rebuilt_begin_at_their_last_epoch_when_they_come_back(watched, tmp_path):
    def ran(shard):
        return [tick for one, tick in Watched.ran if one == shard]

    with Shards(watched, 2, seed=3, params=OFTEN) as run:
        run.run(8)
        assert run.digest == REBUILT
        undisturbed = outcome(run)
    lossy = Slips(lambda answers: answers)
    with Shards(watched, 2, seed=3, params=OFTEN, folder=tmp_path, places=[lossy, LocalShards()]) as run:
        run.run(4)
        Watched.ran.clear()
        lossy.slip = _lost_once(lossy)
        run.run()  # to tick 20, of which the first place is lost
        assert (run.losses, ran(1)) == (1, [17, 18, 19, 20])
        assert ran(0) == [17, 18, 19, 20, 21, 17, 18, 19, 20]  # one more in which the lost one ends
    Watched.ran.clear()
    with Shards(watched, 2, seed=3, params=OFTEN, folder=tmp_path) as run:  # who leads it is another one
        assert ran(0) == ran(1) == [17, 18, 19, 20]
        run.run(3)
        assert outcome(run) == undisturbed
        digests = run.digests
    report = replay(tmp_path / "shard-1.sqlite", watched.make, since=24)
    assert (report.is_same, report.compared, report.digest) == (True, 8, digests[1])


def _lost_once(place):
    def slip(answers):
        place.slip = lambda answers: answers
        return _lost(answers)

    return slip


@pytest.mark.parametrize("cut", [1, 2, 4, 5])
def test_shards_that_were_closed_at_an_epoch_or_near_it_go_on(tmp_path, cut):
    with Shards(world, 2, seed=3, params=OFTEN) as run:
        run.run(6)
        undisturbed = outcome(run)
    for windows in (cut, 6 - cut):
        with Shards(world, 2, seed=3, params=OFTEN, folder=tmp_path) as run:
            run.run(windows)
    with Shards(world, 2, seed=3, params=OFTEN, folder=tmp_path) as run:
        assert outcome(run) == undisturbed


def test_a_part_that_keeps_something_over_an_epoch_is_told_of(tmp_path):
    class Forgetful(Strip):
        def load(self, runtime, saved):
            super().load(runtime, saved)
            self.pause += 1  # and is not in the save

    other = ShardedWorld("strips", Forgetful, partition, window=4, parameters=PARAMETERS)
    with Shards(other, 2, seed=3, params=OFTEN, folder=tmp_path) as run:
        run.run(5)
    with pytest.raises(
        ShardError, match=r"(?s)shard-0.sqlite: .*the replay differs in tick 1\d, .*Put back the journal, or"
    ):
        Shards(other, 2, seed=3, params=OFTEN, folder=tmp_path)


def test_durability_may_be_another_one_when_a_run_goes_on(tmp_path):
    for durability in ("process", "power", "power", "process"):
        with Shards(world, 2, seed=3, folder=tmp_path, durability=durability) as run:
            run.run(1)
        with Recording.open(tmp_path / "shard-1.sqlite") as recording:
            assert recording.header("durability") == durability


def _lost(answers):
    raise ShardLostError(None, "gone")


def test_a_place_that_is_lost_again_and_again_is_an_error(tmp_path):
    class Hopeless(Slips):
        def ask(self, requests):
            super().ask(requests)
            self.is_window = True

    with pytest.raises(ShardLostError, match="its place was lost 5 times at this barrier, with shards 0, 1; the last"):
        Shards(world, 2, folder=tmp_path, places=[Hopeless(_lost)])


def test_what_was_not_written_down_cannot_come_back():
    with pytest.raises(ShardLostError, match="gone") as caught, Shards(world, 2, places=[Slips(_lost)]) as run:
        run.run()
    assert caught.value.__notes__[-1] == "Nothing was written down, so it cannot come back: give Shards(folder=...)."


@pytest.mark.parametrize("host", ["plain", "asyncio", "trio"])
def test_one_shard_is_replayed_alone(tmp_path, host):
    with Shards(world, 4, seed=3, folder=tmp_path) as run:
        run.run(6)
        digest = run.digests[2]

    report = replay(tmp_path / "shard-2.sqlite", world.make, host=host)
    assert (report.is_same, report.tick, report.sent, report.digest) == (True, 24, 6, digest)


# --- what must not change ---------------------------------------------------------------------------------------------


def _change(key, change):
    def slip(answers):
        for answer in answers:
            answer["report"][key] = change(answer["report"][key])
        return answers

    return slip


@pytest.mark.parametrize(
    ("slip", "problem"),
    [
        (
            _change("leaving", lambda rows: rows[1:]),
            "agents were lost or doubled, by their number: 2 left, 0 came, 0 are",
        ),
        (_change("leaving", lambda rows: rows * 2), r"shard \d: '(w\d+)' leaves it, and is in shard \d as well"),
        (_change("messages", lambda rows: rows[1:]), "messages were lost or doubled, by their number: "),
        (_change("messages", lambda rows: rows + rows[:1]), "messages were lost or doubled, by their number: "),
        (
            _change("messages", lambda rows: [[*row[:2], row[2] + 99, *row[3:]] for row in rows]),
            "doubled, by their marks: ",
        ),
        (_change("came", lambda names: [*names, "stranger"]), r"it has \d+ agents, and should have \d+"),
        (_change("came", lambda names: ["w0"]), r"shard \d: 'w0' is there, and in shard \d as well. Names are for"),
        (_change("went", lambda names: ["stranger"]), "'stranger' is gone, and was not there"),
        (_change("tick", lambda tick: tick - 1), "it stands at tick 3, after 1 window; the others are at 4, after 1"),
    ],
    ids=["lost", "doubled", "message lost", "message doubled", "message changed", "born", "twice", "gone", "behind"],
)
def test_what_is_lost_or_doubled_is_an_error_at_the_barrier(slip, problem):
    with (
        pytest.raises(ShardError, match=problem),
        Shards(world, 4, seed=3, places=[Slips(slip)], params={"pause": 2}) as run,
    ):
        run.run(3)


def test_a_window_is_opened_once():
    place = LocalShards()
    with Shards(world, 2, places=[place]) as run:
        run.run(2)
        inbound = {"number": 1, "halo": [], "arrivals": [], "messages": [], "dead": []}
        place.ask([{"ask": "window", "shard": 1, "windows": 1, "inbound": inbound}])
        with pytest.raises(ShardError, match="shard 1: it was asked for window 1, and the next one is 2"):
            place.answers()


# --- folders ----------------------------------------------------------------------------------------------------------


def test_a_folder_belongs_to_one_run(tmp_path):
    with Shards(world, 2, seed=3, folder=tmp_path) as run:
        with pytest.raises(ShardError, match="or another process leads these shards: database is locked"):
            Shards(world, 2, seed=3, folder=tmp_path)
        run.run()
    for shards, seed, params in ((3, 3, {}), (2, 4, {}), (2, 3, {"walkers": 2})):
        with pytest.raises(ShardError, match=r"barrier.sqlite is of another run: .* Choose another folder"):
            Shards(world, shards, seed=seed, params=params, folder=tmp_path)


def test_a_shard_without_its_journal_does_not_begin_anew(tmp_path):
    with Shards(world, 2, folder=tmp_path) as run:
        run.run(3)
    (tmp_path / "shard-1.sqlite").unlink()
    with pytest.raises(ShardError, match="shard 1: its journal has 0 windows, and 2 were run. Put the journal back"):
        Shards(world, 2, folder=tmp_path)


def test_a_journal_that_was_never_begun_is_made_anew(tmp_path):
    with Shards(world, 2, folder=tmp_path):
        pass
    (tmp_path / "shard-1.sqlite").write_bytes(b"")
    with Shards(world, 2, folder=tmp_path) as run:
        run.run()


def test_a_file_that_is_no_journal_is_left_as_it_is(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "shard-0.sqlite")) as other:
        other.execute("CREATE TABLE mine (cell)")
    with pytest.raises(ShardError, match=r"shard-0.sqlite: it is a SQLite database, but no recording"):
        Shards(world, 2, folder=tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "shard-0.sqlite")) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]
    (tmp_path / "shard-0.sqlite").write_bytes(b"my notes, which are no database")
    with pytest.raises(
        ShardError, match=r"shard 0: its journal, shard-0.sqlite: it is no recording that can be gone on"
    ):
        Shards(world, 2, folder=tmp_path)
    assert (tmp_path / "shard-0.sqlite").read_bytes() == b"my notes, which are no database"


def _saved_after_each_window(folder, kept, windows):
    """What the folder held after each window: copies, as a power loss may leave each file."""
    with Shards(world, 2, seed=3, folder=folder, params={"pause": 2}, durability="power") as run:
        for number in range(windows + 1):
            shutil.copytree(folder, kept / str(number))
            if number < windows:
                run.run()
    with Shards(world, 2, seed=3, params={"pause": 2}) as whole:
        whole.run(windows + 2)
        return outcome(whole)


@pytest.mark.slow
def test_a_folder_of_which_files_are_cut_back_goes_on_or_is_refused(tmp_path):
    """Who leads writes a window down before a shard runs it: it is at the shard's window, or one further."""
    windows = 2
    wanted = _saved_after_each_window(tmp_path / "run", tmp_path, windows)
    went_on, refused = [], []
    for cut in itertools.product(range(windows + 1), repeat=3):
        folder = tmp_path / "-".join(map(str, cut))
        folder.mkdir()
        for number, name in zip(cut, ("barrier", "shard-0", "shard-1"), strict=True):
            for file in (tmp_path / str(number)).glob(f"{name}.sqlite*"):
                shutil.copy(file, folder)
        try:
            with Shards(world, 2, seed=3, folder=folder, params={"pause": 2}) as run:
                run.run(windows + 2 - run.windows)
                assert outcome(run) == wanted
                went_on.append(cut)
        except ShardError as error:
            refused.append(error.problem)
    assert all("Put " in problem for problem in refused)
    assert went_on == [
        cut
        for cut in itertools.product(range(windows + 1), repeat=3)
        if all(max(cut[0] - 1, 0) <= shard <= cut[0] for shard in cut[1:])
    ]


def test_a_window_that_cannot_be_read_is_an_error(tmp_path):
    with Shards(world, 2, folder=tmp_path) as run:
        run.run()
    with contextlib.closing(sqlite3.connect(tmp_path / "barrier.sqlite")) as barrier:
        barrier.execute("UPDATE windows SET inbounds = '['")
        barrier.commit()
    with pytest.raises(ShardError, match=r"barrier.sqlite cannot be used: its window is broken: .* Put the file back"):
        Shards(world, 2, folder=tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "barrier.sqlite")) as barrier:  # nobody holds it
        assert barrier.execute("SELECT inbounds FROM windows").fetchall() == [("[",)]


@pytest.mark.parametrize("ask", [lambda run: run.run(), lambda run: run.measure(), lambda run: run.see({0: "{}"})])
def test_shards_that_are_closed_do_nothing_more(ask):
    with Shards(world, 2) as run:
        run.run()
    with pytest.raises(ShardError, match="these shards are closed. Do it before that, or open them anew"):
        ask(run)


def _interrupted():
    raise KeyboardInterrupt


def test_who_is_interrupted_while_shards_are_measured_does_not_take_its_answers_for_those_of_a_window():
    place = LocalShards()
    with Shards(world, 2, places=[place]) as run:
        answers, place.answers = place.answers, _interrupted
        with pytest.raises(KeyboardInterrupt):
            run.measure()
        place.answers = answers
        with pytest.raises(ShardError, match="an earlier call has failed within a window"):
            run.run()


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ShardError, match="cannot be used"):
        Shards(world, 2, folder=tmp_path / "file")


def test_a_shard_whose_journal_fails_does_not_go_on(tmp_path):
    place = LocalShards()
    with Shards(world, 2, folder=tmp_path, places=[place]) as run:
        run.run()
        place._tenants._shards[1]._recorder.close("the disk is full")
        with pytest.raises(ShardError, match="shard 1: its journal ends here: the disk is full"):
            run.run()


def test_what_shards_are_given_is_looked_at():
    place = LocalShards()
    with pytest.raises(DefinitionError, match="a place is given twice"):
        Shards(world, 2, places=[place, place])
    with pytest.raises(DefinitionError, match="its durability is 'forever'. Choose 'process' or 'power'"):
        Shards(world, 2, durability="forever")
    for limit in (0, -1, float("nan"), True, "long"):
        with pytest.raises(DefinitionError, match="PipeShards: its limit is .* Give seconds above 0, or None"):
            PipeShards(limit=limit)
    with pytest.raises(ParameterError, match="-1 is not 1 or more"):
        Shards(world, -1)
    with pytest.raises(ParameterError, match="Did you mean 'walkers'"):
        Shards(world, 2, params={"walker": 3})
