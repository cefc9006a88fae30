"""Instructions: two runs of each side, of which the difference counts; kept in the history and drawn."""

from __future__ import annotations

import compileall
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks import cli, history, instructions
from benchmarks.instructions import Counted, count_row, counts
from benchmarks.rows import ROWS

ROOT = Path(__file__).resolve().parents[2]
ROW = {row.name: row for row in ROWS}


def _pretended(monkeypatch, said, *, base=1_000_000, each=250, code=0):
    """A valgrind that finds ``base`` instructions for starting, and ``each`` for a unit."""
    calls = []

    def run(words, **options):
        count, rounds = (int(word) for word in words[-2:])
        calls.append((count, rounds))
        out = json.dumps(said or {"units": count * rounds, "seconds": 1.0})
        return subprocess.CompletedProcess(words, code, out, f"==7== I   refs:      {base + each * count * rounds:,}\n")

    monkeypatch.setattr(instructions.subprocess, "run", run)
    monkeypatch.setattr(instructions, "valgrind", lambda: "valgrind")
    return calls


def test_what_two_runs_have_in_common_is_subtracted(monkeypatch):
    calls = _pretended(monkeypatch, None)
    counted = count_row(ROW["wake"], ROOT)
    assert [(side.label, side.instructions) for side in counted] == [
        ("agentrt", 250),
        ("tick wheel", 250),
        ("simpy", 250),
        ("asyncio tasks", 250),
    ]
    assert calls[:2] == [(200, 5), (200, 15)]


def test_of_a_row_without_rounds_what_it_prepares_is_subtracted(monkeypatch):
    calls = _pretended(monkeypatch, None)
    count_row(ROW["three_steps"], ROOT)
    (count, without), (same, once) = calls[:2]
    assert (without, once, same) == (0, 1, count)


def test_a_side_that_is_missing_says_so(monkeypatch):
    _pretended(monkeypatch, {"absent": "simpy is not installed"})
    assert count_row(ROW["wake"], ROOT)[2] == Counted("simpy", None, "simpy is not installed")


def test_work_that_fails_is_an_error_with_what_it_said(monkeypatch):
    _pretended(monkeypatch, None, code=1)
    with pytest.raises(RuntimeError, match="wake could not be counted"):
        count_row(ROW["wake"], ROOT)


def test_only_time_is_counted():
    assert not any(counts(ROW[name]) for name in ("idle_memory", "planners_1k", "importing", "miner"))
    assert all(counts(ROW[name]) for name in cli.HOT)


@pytest.fixture
def small_tree(tmp_path):
    """The row ``wake`` alone, with its harness, and no agentrt: starting is what takes valgrind so long."""
    for name in ("__init__", "alone", "harness", "wheel", "rows/wake"):
        copy = tmp_path / "benchmarks" / f"{name}.py"
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "benchmarks" / f"{name}.py", copy)
    (tmp_path / "benchmarks" / "rows" / "__init__.py").write_text(
        "from benchmarks.rows.wake import WAKE\nROWS = (WAKE,)\n", encoding="utf-8"
    )
    kernel = (
        tmp_path / "agentrt" / "kernel"
    )  # imported by our own side of the row, which is not the one that is counted
    kernel.mkdir(parents=True)
    for folder in (kernel.parent, kernel):
        (folder / "__init__.py").touch()
    (kernel / "kernel.py").write_text("Kernel = None\n", encoding="utf-8")
    (kernel / "traps.py").write_text("next_tick = None\n", encoding="utf-8")
    for unused in ("asyncio", "statistics"):  # what other sides and the report import: a third of what starting takes
        (tmp_path / f"{unused}.py").write_text("median = None\n", encoding="utf-8")
    compileall.compile_dir(tmp_path, quiet=2)  # else the first of the runs compiles, and counts that
    return tmp_path


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_a_real_count_is_the_same_twice(small_tree):
    one, other = (instructions._count(ROW["wake"], 1, "tick wheel", small_tree).instructions for _ in range(2))
    assert one == pytest.approx(other, rel=0.01)
    assert 500 < one < 20_000


COUNTED = {
    "wake": [Counted("agentrt", 300.4), Counted("tick wheel", 200), Counted("simpy", None, "simpy is not installed")]
}


@pytest.mark.slow
def test_the_history_grows_and_is_drawn(tmp_path):
    kept, picture = tmp_path / "history.json", tmp_path / "docs" / "speed.svg"
    for step in ("one", "two"):
        history.keep(step, COUNTED, kept)
    assert [(entry["step"], entry["instructions"]) for entry in history.entries(kept)] == [
        ("one", {"wake": {"agentrt": 300, "tick wheel": 200}}),
        ("two", {"wake": {"agentrt": 300, "tick wheel": 200}}),
    ]
    pytest.importorskip("matplotlib")
    history.draw(kept, picture)
    first = picture.read_bytes()
    history.draw(kept, picture)
    assert picture.read_bytes() == first
    assert b"<svg" in first


def test_the_command_prints_what_was_counted(monkeypatch, capsys):
    monkeypatch.setattr(cli, "count_row", lambda row, root: COUNTED["wake"])
    monkeypatch.setattr(cli, "valgrind", lambda: "valgrind")
    assert cli.main(["--instructions", "wake"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "row                    side                   instructions  of ours",
        "wake                   agentrt                         300   1.00 x",
        "                       tick wheel                      200   0.67 x",
        "                       simpy                  simpy is not installed",
    ]


@pytest.mark.parametrize(
    ("arguments", "found", "said"),
    [
        (["--instructions", "wake"], None, "needs valgrind"),
        (["--instructions", "idle_memory"], "valgrind", "idle_memory"),
        (["--keep", "now", "wake"], None, "add --instructions"),
        (["--against", "no-such-commit", "wake"], None, "'no-such-commit' cannot be checked out"),
    ],
)
def test_what_cannot_be_done_is_said(monkeypatch, capsys, arguments, found, said):
    monkeypatch.setattr(cli, "valgrind", lambda: found)
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
