"""``agentrt sweep``, ``agentrt sweep report`` and ``agentrt tune``: what goes to which stream, which files, which exit code."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from agentrt.cli import main

MILL = """
import agentrt as art
from agentrt.worlds import Parameter, SimpleWorld

def make(*, seed, host, params):
    print("the mill is made")
    if seed == params["fails"]:
        raise ValueError("no wind")
    if seed == params["stops"]:
        raise KeyboardInterrupt
    runtime = art.Runtime(seed, host=host)
    runtime.game = params["wheels"] * (seed + 1)
    return runtime

NOBODY = -1
parameters = {"wheels": Parameter(1, low=1, high=4), "fails": Parameter(NOBODY), "stops": Parameter(NOBODY)}
world = SimpleWorld("mill", make, parameters=parameters, measure=lambda runtime: {"flour": runtime.game})
"""


@pytest.fixture
def mill(tmp_path, monkeypatch, request):
    name = f"mill_{abs(sum(request.node.name.encode()))}"
    (tmp_path / "pyproject.toml").write_text(f'[tool.agentrt]\napp = "{name}:world"\n')
    (tmp_path / f"{name}.py").write_text(MILL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop(name, None)


def agentrt(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


def sweep(*args):
    return agentrt("sweep", *args, "--ticks=3", "--workers=0")


def test_a_sweep_of_the_project_s_world(mill):
    done = sweep("--seeds=0:3", "--set=wheels=1,2")
    assert (done.exit_code, done.stdout.splitlines()[:3]) == (0, ["6 runs in 2 groups, 0 failed", "", "flour:"])
    assert "the mill is made" not in done.stdout
    assert "6 runs in runs.sqlite, 0 of them from before" in done.stderr
    rows = (mill / "runs.csv").read_text().splitlines()
    assert [row.rpartition(",")[2] for row in rows] == ["measure.flour", "1", "2", "3", "2", "4", "6"]
    assert "6 runs in runs.sqlite, 6 of them from before" in sweep("mill", "--seeds=0:3", "--set=wheels=1,2").stderr
    assert sweep("run", "mill", "--seeds=0:3", "--set=wheels=1,2").exit_code == 0


def test_a_report_of_a_file(mill):
    sweep("--seeds=0:3", "--set=wheels=1,2", "--out=a.sqlite")
    told = agentrt("sweep", "report", "a.sqlite", "--csv=b.csv", "--world=mill")
    assert told.exit_code == 0
    assert "less that of the first:" in told.stdout
    assert "Equal seeds are no common random numbers" in told.stdout
    assert (mill / "b.csv").read_bytes() == (mill / "a.csv").read_bytes()
    wrong = agentrt("sweep", "report", "a.sqlite", "--measure=flower")
    assert (wrong.exit_code, "Did you mean 'flour'?" in wrong.stderr) == (2, True)
    assert agentrt("sweep", "report", "c.sqlite").exit_code == 2


@pytest.mark.parametrize("table", ["--csv=a.sqlite", "--csv=./a.sqlite", "--parquet=a.sqlite"])
def test_no_table_takes_the_place_of_its_runs(mill, table):
    sweep("--seeds=0:2", "--out=a.sqlite")
    before = (mill / "a.sqlite").read_bytes()
    for done in (sweep("--seeds=0:3", "--out=a.sqlite", table), agentrt("sweep", "report", "a.sqlite", table)):
        assert done.exit_code == 2
        assert "a.sqlite: it is the file of the runs, and would be lost. Name another table." in done.stderr
    assert (mill / "a.sqlite").read_bytes() == before


def test_what_failed_is_told_and_ends_with_1(mill):
    done = sweep("--seeds=0:3", "--set=fails=1")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[:2] == [
        "2 runs in 1 group, 1 failed",
        '  failed: seed 1, {"fails": 1}: ValueError: no wind',
    ]
    assert done.stdout.splitlines()[2:4] == [
        '  seed 1, {"fails": 1}, in full:',
        "    Traceback (most recent call last):",
    ]
    at = MILL.splitlines().index('        raise ValueError("no wind")') + 1
    assert f'{next(mill.glob("*.py"))}", line {at}, in make\n' in done.stdout
    assert "no wind" in (mill / "runs.csv").read_text()
    assert "Traceback" not in (mill / "runs.csv").read_text()


def test_its_help_does_not_say_the_word_that_need_not_be_said(mill):
    usage = "Usage: agentrt sweep [OPTIONS] [WORLD]\n"
    for args in (["sweep", "--help"], ["sweep", "run", "--help"]):
        assert CliRunner().invoke(main, args, prog_name="agentrt").stdout.startswith(usage)
    assert "Try 'agentrt sweep --help'" in CliRunner().invoke(main, ["sweep", "--tick=x"], prog_name="agentrt").stderr


def test_code_that_was_edited_is_told(mill):
    sweep("--seeds=0:2")
    with next(mill.glob("*.py")).open("a") as file:
        file.write("# edited\n")
    from agentrt.ensembles import subject

    subject._code.cache_clear()
    done = sweep("--seeds=0:2")
    assert "2 runs in runs.sqlite, 0 of them from before" in done.stderr
    assert "2 runs of another version of the code are in the file, too: --any-code counts them" in done.stderr


def test_ctrl_c_says_that_nothing_is_lost(mill):
    done = sweep("--seeds=0:4", "--set=stops=2")
    assert done.exit_code == 130
    assert "interrupted: what was finished is in runs.sqlite; the same command goes on with it" in done.stderr
    assert "the table has it, too: runs.csv" in done.stderr
    assert [row.split(",")[3] for row in (mill / "runs.csv").read_text().splitlines()] == ["seed", "0", "1"]


@pytest.mark.slow  # Optuna is slow to import
def test_a_search(mill):
    done = agentrt(
        "tune", "--ticks=2", "--workers=0", "--measure=flour", "--over=wheels", "--trials=3", "--seeds=0:2", "--held-out=5:7"
    )  # fmt: skip
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "trial 0: 1.5  wheels=1"
    assert sum(line.endswith("  best") for line in lines[:3]) == 1
    assert lines[4] == "with held-out seeds, by default and with the best setting:"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["sweep", "--set=wheels"], "'wheels' is not NAME=VALUE"),
        (["sweep", "--set==2"], "'=2' is not NAME=VALUE"),
        (["sweep", "--set=wheels=1", "--set=wheels=2"], "'wheels' is set twice"),
        (["sweep", "--seeds=x"], "is no seed and no range of seeds"),
        (["sweep", "--set=wheel=1"], "Did you mean 'wheels'?"),
        (["sweep", "--workers=0", "--time-limit=3"], "a run in this process cannot be ended"),
        (["sweep", "nowhere"], "there is no world 'nowhere'"),
        (["tune", "--measure=flour", "--over=wheels", "--over=wheels=1:2"], "a name stands once"),
        (["tune", "--measure=flour", "--over=fails"], "it has no bounds of its own"),
        (["tune", "--measure=flour"], "Missing option '--over'"),
    ],
)
def test_what_is_said_wrongly(mill, args, said):
    done = agentrt(*args)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert not (mill / "runs.sqlite").exists()
