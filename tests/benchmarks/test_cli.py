"""``python -m benchmarks``: the choice of rows, the table, the document, the exit code."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace

import pytest

from benchmarks import cli
from benchmarks.rows import ROWS


def test_a_quick_run_of_one_row_prints_the_table_and_writes_the_document(tmp_path, capsys):
    path = tmp_path / "out.json"
    assert cli.main(["--quick", "--repeats", "1", "--json", str(path), "wake"]) == 0
    printed = capsys.readouterr()
    assert printed.out.split()[:3] == ["row", "ours", "limit"]
    assert printed.err == "measuring wake: wake one sleeping strand, 10,000 of them awake in every tick\n"
    made = json.loads(path.read_text(encoding="utf-8"))
    assert [row["name"] for row in made["rows"]] == ["wake"]
    assert (made["quick"], made["repeats"]) == (True, 1)
    (wake,) = made["rows"]
    assert (wake["count"], wake["rounds"]) == (200, 5)
    assert len(wake["ours"]["turns"]) == len(wake["limit"]["turns"]) == 1


def test_the_document_may_go_to_stdout(capsys):
    assert cli.main(["--quick", "--repeats", "1", "--json", "-", "wake"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["name"] == "wake"


def test_the_list(capsys):
    assert cli.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [row.name for row in ROWS]
    assert [line.split()[0] for line in lines if line.endswith(" (big)")] == ["planners_100k", "shards_ray"]


def test_rows_keep_their_order_whatever_is_asked_for(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(cli, "measure_row", lambda row, size, repeats: asked.append((row.name, size, repeats)))
    monkeypatch.setattr(cli, "table", lambda results: "the table")
    monkeypatch.setattr(cli, "summary", lambda results: "what is met")
    assert cli.main(["leaf_wake", "wake"]) == 0
    assert asked == [("wake", ROWS[0].size, 7), ("leaf_wake", ROWS[1].size, 7)]
    assert capsys.readouterr().out == "the table\n\nwhat is met\n"


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ([], ["small", "last"]),
        (["--quick"], ["small", "last"]),
        (["--all"], ["small", "big", "last"]),
        (["big"], ["big"]),
        (["big", "last"], ["big", "last"]),
        (["--all", "last"], ["last"]),
    ],
)
def test_big_rows_are_measured_when_they_are_named_or_all_are(arguments, names, monkeypatch):
    asked = []
    rows = tuple(replace(ROWS[0], name=name, is_big=name == "big") for name in ("small", "big", "last"))
    monkeypatch.setattr(cli, "ROWS", rows)
    monkeypatch.setattr(cli, "measure_row", lambda row, size, repeats: asked.append(row.name))
    monkeypatch.setattr(cli, "table", lambda results: "the table")
    monkeypatch.setattr(cli, "summary", lambda results: "what is met")
    assert cli.main(arguments) == 0
    assert asked == names


@pytest.mark.parametrize("arguments", [["no_such_row"], ["--repeats", "0"], ["--repeats", "x"], ["--fast"]])
def test_what_it_does_not_understand_it_says(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err


@pytest.mark.slow
def test_a_miss_is_an_exit_code_only_when_asked_for(monkeypatch, capsys):
    monkeypatch.setattr(cli, "ROWS", (replace(ROWS[0], at_most_times=0.0, peers=()),))
    assert cli.main(["--quick", "--repeats", "1"]) == 0
    assert cli.main(["--quick", "--repeats", "1", "--strict"]) == 1
    printed = capsys.readouterr().out
    assert printed.count("NO") == 2
    assert printed.count("0 of 1 rows with a target meet it\nnot met: wake: ") == 2


def test_a_row_that_is_only_shown_fails_no_strict_run(monkeypatch, capsys):
    monkeypatch.setattr(cli, "ROWS", (replace(ROWS[0], at_most_times=None, peers=()),))
    assert cli.main(["--quick", "--repeats", "1", "--strict"]) == 0
    assert "0 of 0 rows with a target" in capsys.readouterr().out


def test_what_could_not_be_judged_fails_a_strict_run(monkeypatch):
    @contextmanager
    def prepare(size):
        raise ModuleNotFoundError("No module named 'simpy'", name="simpy")
        yield

    (first, *_) = ROWS[0].peers
    absent = replace(first, side=replace(first.side, prepare=prepare))
    monkeypatch.setattr(cli, "ROWS", (replace(ROWS[0], at_most_times=1e9, peers=(absent,)),))
    assert cli.main(["--quick", "--repeats", "1"]) == 0
    assert cli.main(["--quick", "--repeats", "1", "--strict"]) == 1


def test_a_crash_is_a_crash(monkeypatch):
    @contextmanager
    def prepare(size):
        raise RuntimeError("broken")
        yield

    broken = replace(ROWS[0], ours=replace(ROWS[0].ours, prepare=prepare))
    monkeypatch.setattr(cli, "ROWS", (broken,))
    with pytest.raises(RuntimeError, match="broken"):
        cli.main(["--quick"])
