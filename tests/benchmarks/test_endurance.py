"""The long run, made short: that it looks at everything, and says what is wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmarks.endurance import Look, main, verdict

WELL = Look(
    tick=1300, game_hours=0.02, seconds=9.0, memory_kib=70_000, objects=90_000, listeners=900, leases=10, strands=200,
    agents=24, errors=0,
)  # fmt: skip


def test_what_stays_as_it_is_is_well():
    assert verdict([WELL, WELL, WELL, replace(WELL, objects=95_000, leases=20)]) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"memory_kib": 90_000}, "memory_kib grew from 70000 to 90000"),
        ({"listeners": 2000}, "listeners grew from 900 to 2000"),
        ({"leases": 30}, "leases grew from 10 to 30"),
        ({"errors": 3}, "3 errors"),
        ({"agents": 11}, "of 24 agents 11 are left"),
    ],
)
def test_what_is_wrong_is_named(change, words):
    assert verdict([WELL, WELL, WELL, replace(WELL, **change)]) == [words]


@pytest.mark.slow
def test_a_short_long_run(tmp_path, capsys):
    file = tmp_path / "run.json"
    main(["--ticks", "40", "--json", str(file)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["tick", "game_hours", "seconds"]
    assert [line.split()[0] for line in lines[1:5]] == ["300", "300", "300", "300"]
    document = json.loads(file.read_text(encoding="utf-8"))
    assert [look["errors"] for look in document["looks"]] == [0, 0, 0, 0]
    assert document["faults"] == {}
