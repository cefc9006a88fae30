"""A sweep: what a row holds, what is run again and what is not, and what ends badly without ending the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from patience import Patience

from agentrt.ensembles import RunStore, SweepState, sweep, workers, write_csv
from agentrt.ensembles.subject import Subject
from agentrt.errors import EnsembleError, ParameterError, ProjectError, UnknownWorldError
from agentrt.worlds import nobody


def runs(*, out="runs.sqlite", seeds="0:2", workers=0, **more):
    """A sweep of the pond, by default in this process."""
    return sweep("pond", ticks=30, seeds=seeds, out=out, workers=workers, **more)


@pytest.fixture
def edited(pond):
    """Edits the project, as if its next command were given afterwards."""

    def edit(file, text):
        (pond.parent / file).parent.mkdir(exist_ok=True)
        with (pond.parent / file).open("a") as opened:
            opened.write(text)
        forget()

    from agentrt.ensembles import subject

    def forget():
        subject._code.cache_clear()

    yield edit
    forget()


def limited(monkeypatch, limit, **more):
    """A sweep in which one run hangs: that alone reaches the limit."""
    monkeypatch.setattr(workers, "time", clock := Patience(hanging=1))
    return runs(workers=2, time_limit=limit, told=clock.told, **more)


def told(result):
    return [(row.seed, row.params, row.measures, row.error) for row in result.rows]


def test_a_row_of_each_run(pond):
    done = runs(params={"ducks": "1,2"})
    assert told(done) == [
        (0, {"ducks": 1}, {"swims": 3, "each": 3.0, "mood": "dry"}, ""),
        (1, {"ducks": 1}, {"swims": 3, "each": 3.0, "mood": "dry"}, ""),
        (0, {"ducks": 2}, {"swims": 7, "each": 3.5, "mood": "dry"}, ""),
        (1, {"ducks": 2}, {"swims": 6, "each": 3.0, "mood": "wet"}, ""),
    ]
    assert (done.carried_out, done.other_code, done.failed) == (4, 0, ())
    first = done.rows[0]
    assert (first.world, first.ticks, first.faults) == ("pond", 30, 0)
    assert first.code == Subject.of("pond").code()
    assert first.seconds > 0


def test_a_digest_is_that_of_any_other_run(pond, world):
    alone = world.run_headless(ticks=30, seed=1, host="plain", progress=lambda *_: None, watch=nobody)
    assert runs(seeds=[1]).rows[0].digest == alone.digest


def test_without_a_name_it_is_the_project_s_world(pond):
    done = sweep(ticks=5, seeds=[0], out="runs.sqlite", workers=0)
    assert [row.world for row in done.rows] == ["pond"]


def test_what_is_finished_is_not_run_again(pond):
    states = []
    first = runs(seeds="0:3", told=states.append)
    more = runs(seeds="1:5", params={"ducks": [2, 3]}, told=states.append)
    assert states == [
        SweepState(0, 3, 0), SweepState(1, 3, 0), SweepState(2, 3, 0), SweepState(3, 3, 0),
        SweepState(0, 8, 0), *(SweepState(done, 8, 0) for done in range(1, 9)),
    ]  # fmt: skip
    assert (more.carried_out, len(more.rows)) == (8, 8)  # ducks=2 is said here, and was not there
    again = runs(seeds="0:3", told=states.append)
    assert states[-1] == SweepState(0, 0, 0)
    assert (again.carried_out, again.rows) == (0, first.rows)


def test_changed_code_is_another_experiment(pond, edited):
    old = runs()
    edited(pond.name, "\n# the same, and yet not the same\n")
    new = runs()
    assert (new.carried_out, new.other_code) == (2, 2)
    assert old.rows[0].code != new.rows[0].code
    assert [row.digest for row in old.rows] == [row.digest for row in new.rows]
    edited("data.json", "{}")
    counted = runs(seeds="0:3", any_code=True)
    assert (counted.carried_out, counted.other_code) == (1, 4)
    assert sorted(row.seed for row in counted.rows) == [0, 1, 2]


def test_code_that_no_run_depends_on_is_none(pond, edited):
    before = Subject.of("pond").code()
    edited("tests/test_pond.py", "import pond")
    edited("test_it.py", "import pond")
    edited("runs.csv", "world")
    edited(".cache/x.py", "")
    assert Subject.of("pond").code() == before


@pytest.mark.parametrize("point", [point for point in entry_points(group="agentrt.worlds") if point.name == "miner"])
def test_the_code_of_an_installed_world_is_its_package(point, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    version, _, code = Subject.of(point.name).code().partition("+")
    assert (version, len(code)) == (__import__("agentrt").__version__, 12)


def test_runs_that_fail_are_rows(pond):
    states = []
    done = runs(params={"trouble": ["fail 1", "leave 0", "gate 2"]}, seeds="0:3", told=states.append)
    failed = [(row.seed, row.params["trouble"], row.error, row.measures, row.digest) for row in done.failed]
    assert failed == [
        (1, "fail 1", "ValueError: no water\\nand no \\x1b[31mducks", {}, ""),
        *((seed, "gate 2", "EnsembleError: [ART240] the world 'pond': it stands still in tick 0. Let it run: nobody "
           "opens the gate of a run that nobody watches.", {}, "") for seed in range(3)),
        (0, "leave 0", "SystemExit: 3", {}, ""),
    ]  # fmt: skip
    assert states[-1] == SweepState(9, 9, 5)
    assert runs(params={"trouble": "fail 1"}).carried_out == 0
    assert runs(params={"trouble": "fail 1"}, retry=True).carried_out == 1


@pytest.mark.parametrize(("value", "said"), [("[1]", "[1]"), ("10**5000", "<a number of 16610 bits>")])
def test_what_is_measured_has_to_be_plain(pond, edited, value, said):
    edited(pond.name, f"\nworld._measure = lambda runtime: {{'swims': {value}}}\n")
    assert f"its measure gives {said} for 'swims'" in runs(seeds=[0]).rows[0].error


def test_what_is_measured_may_be_nothing_to_reckon_with(pond, edited):
    edited(
        pond.name,
        """
world._measure = lambda runtime: {"swims": [10**400, float("nan"), float("-inf")][len(runtime.agents) - 1]}
""",
    )
    done = runs(seeds=[0], params={"ducks": "1,2,3"}, csv="runs.csv")
    assert [row.error for row in done.rows] == ["", "", ""]
    told = [line.rpartition(",")[2] for line in Path("runs.csv").read_text().splitlines()]
    assert told == ["measure.swims", f"1{'0' * 400}", "nan", "-inf"]


def test_ctrl_c_keeps_what_is_finished(pond):
    def interrupt(state):
        if state.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs(seeds="0:5", told=interrupt, csv="runs.csv")
    with RunStore(pond.parent / "runs.sqlite") as store:
        assert [row.seed for row in store.rows()] == [0, 1]
    assert [row.split(",")[3] for row in (pond.parent / "runs.csv").read_text().splitlines()] == ["seed", "0", "1"]
    assert runs(seeds="0:5").carried_out == 3


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"workers": -1}, "-1 is no number of them"),
        ({"workers": 1.5}, "1.5 is no number of them"),
        ({"workers": 5000}, "5000 is no number of them"),
        ({"workers": 0, "time_limit": 3.0}, "a run in this process cannot be ended"),
        ({"workers": 0, "ray": "local"}, "a run in this process cannot be ended"),
        ({"workers": 1, "time_limit": 0}, "0 is no time"),
        ({"workers": 1, "time_limit": float("nan")}, "nan is no time"),
        ({"workers": 1, "time_limit": float("inf")}, "inf is no time"),
        ({"seeds": ""}, "is no seed"),
    ],
)
def test_what_cannot_be_done(pond, more, said):
    with pytest.raises(EnsembleError) as raised:
        runs(**more)
    assert said in str(raised.value)


def test_what_is_not_there(pond, tmp_path, monkeypatch):
    with pytest.raises(ParameterError, match="Did you mean 'ducks'"):
        runs(params={"duck": 3})
    with pytest.raises(UnknownWorldError):
        sweep("lake", ticks=1, seeds=[0], out="runs.sqlite")
    assert not (pond.parent / "runs.sqlite").exists()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProjectError, match="there is no project, and no world was named"):
        sweep(ticks=1, seeds=[0], out="runs.sqlite")


# --- in other processes -----------------------------------------------------------------------------------------------


def _rows(path):
    try:
        with RunStore(path, is_read_only=True) as store:
            return len(store.rows())
    except EnsembleError:  # not yet
        return 0


def _processes_in(folder):
    """The processes whose working directory that is."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and (process / "cwd").readlink() == folder:
                found.append(int(process.name))
        except OSError:
            continue
    return [process for process in found if process != os.getpid()]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_killed_twice_and_continued_it_has_the_table_of_one_that_was_not(pond, monkeypatch):
    """What hangs, dies and raises in the middle costs its own row. Nothing but the kill ends the worker that hangs."""
    path = pond.parent / "runs.sqlite"
    command = [sys.executable, "-m", "agentrt.cli", "sweep", "--ticks=30", "--workers=2", "--set=trouble=hang 5,"]
    kept = 0
    # One of the workers hangs in seed 5. Whoever looks late finds more rows, so the second sweep has more to do.
    for seeds, runs_of_it, least in (("0:6", 12, 5), ("0:8", 16, 1)):
        process = subprocess.Popen([*command, f"--seeds={seeds}"], stderr=subprocess.DEVNULL)
        patience = time.monotonic() + 100
        while _rows(path) < kept + least and time.monotonic() < patience:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        while _processes_in(pond.parent) and time.monotonic() < patience:
            time.sleep(0.01)
        assert _processes_in(pond.parent) == []  # no worker is left behind
        assert kept + least <= _rows(path) < runs_of_it
        kept = _rows(path)
    troubles = ["hang 5", "", "die 0", "fail 1"]
    done = limited(monkeypatch, 4.0, seeds="0:8", params={"trouble": troubles})
    assert done.carried_out == 32 - kept
    assert [(row.seed, row.params["trouble"], row.error) for row in done.failed] == [
        (0, "die 0", "its process died, 2 times"),
        (1, "fail 1", "ValueError: no water\\nand no \\x1b[31mducks"),
        (5, "hang 5", "it did not end within 4 s of real time"),
    ]
    write_csv([row for row in done.rows if not row.params["trouble"]], pond.parent / "beside.csv")
    write_csv(runs(out="here.sqlite", seeds="0:8", params={"trouble": [""]}).rows, pond.parent / "here.csv")
    assert (pond.parent / "beside.csv").read_bytes() == (pond.parent / "here.csv").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_children_that_a_world_leaves_behind_keep_nobody(pond, monkeypatch):
    """They hold what is open in their worker, by which alone its death is seen."""
    troubles = ["stay 0", "die+stay 0", "hang+stay 0", "interrupt 0"]
    done = limited(monkeypatch, 0.5, seeds=[0], params={"trouble": troubles})
    assert [(row.params["trouble"], row.error) for row in done.rows] == [
        ("die+stay 0", "its process died, 2 times"),
        ("hang+stay 0", "it did not end within 0.5 s of real time"),
        ("interrupt 0", "KeyboardInterrupt: "),
        ("stay 0", ""),
    ]
    patience = time.monotonic() + 100
    while _processes_in(pond.parent) and time.monotonic() < patience:
        time.sleep(0.01)  # who was killed is there for a moment
    assert _processes_in(pond.parent) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # a Python with threads says that it is dangerous
def test_what_forks_while_it_is_imported_is_imported_once(pond, edited):
    edited(pond.name, "\nchild = os.fork()\n")
    assert [row.error for row in runs(seeds=[0]).rows] == [""]
    module = sys.modules[pond.stem]
    assert os.waitstatus_to_exitcode(os.waitpid(module.child, 0)[1]) == 0
