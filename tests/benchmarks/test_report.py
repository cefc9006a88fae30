"""The table and the JSON document, from made-up figures."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks.harness import Measured, Peer, Row, RowResult, Side, Size
from benchmarks.report import amount, commit, document, summary, table, times


def nobody(size):
    raise AssertionError("nothing is measured here")


WAKE = RowResult(
    row=Row(
        name="wake",
        what="wake a strand",
        gauge="seconds",
        ours=Side("agentrt", nobody),
        limit=Side("wheel", nobody),
        at_most_times=2.5,
        peers=(Peer(Side("simpy", nobody), at_least=3), Peer(Side("trio", nobody))),
        size=Size(100, 10),
        quick=Size(1),
    ),
    size=Size(100, 10),
    ours=Measured("agentrt", [3e-7, 2e-7]),
    limit=Measured("wheel", [1e-7, 1.5e-7]),
    peers=[Measured("simpy", [1.2e-6, 1.1e-6]), Measured("trio", absent="trio is not installed")],
)
MEMORY = RowResult(
    row=Row(
        name="memory",
        what="memory of an agent",
        gauge="bytes",
        ours=Side("agentrt", nobody),
        limit=Side("by hand", nobody),
        at_most_times=1.5,
        size=Size(2000),
        quick=Size(1),
    ),
    size=Size(2000),
    ours=Measured("agentrt", [10752.0]),
    limit=Measured("by hand", [5376.0]),
    peers=[],
)
CROWD = RowResult(
    row=Row(
        name="crowd",
        what="a tick of a crowd",
        gauge="ticks",
        ours=Side("agentrt", nobody),
        limit=Side("by hand", nobody),
        at_most_times=20,
        worst_at_most_times=2,
        peers=(Peer(Side("simpy", nobody), at_least=2),),
        size=Size(1000, 40),
        quick=Size(1),
    ),
    size=Size(1000, 40),
    ours=Measured("agentrt", [0.002, 0.003], [0.009, 0.007]),
    limit=Measured("by hand", [0.0001], [0.0002]),
    peers=[Measured("simpy", [0.003])],
)
SHOWN = RowResult(
    row=Row(name="shown", what="work", gauge="seconds", ours=Side("agentrt", nobody), size=Size(1), quick=Size(1)),
    size=Size(1),
    ours=Measured("agentrt", [1.0]),
    limit=None,
    peers=[],
)


@pytest.mark.parametrize(
    ("value", "gauge", "text"),
    [
        (None, "seconds", "-"),
        (1.37e-7, "seconds", "137 ns"),
        (9.994e-6, "seconds", "9.99 µs"),
        (0.0499, "seconds", "49.9 ms"),
        (2.0, "seconds", "2.00 s"),
        (3e-10, "seconds", "0.30 ns"),
        (521.0, "bytes", "521 B"),
        (10240.0, "bytes", "10.0 KiB"),
        (0.0, "bytes", "0.00 B"),
    ],
)
def test_amounts(value, gauge, text):
    assert amount(value, gauge) == text


def test_ratios():
    assert [times(value) for value in (None, 1.5, 12.34, 123.4)] == ["-", "1.50 x", "12.3 x", "123 x"]


def test_the_table():
    assert table([WAKE, MEMORY, CROWD, SHOWN]).splitlines() == [
        "row               ours     limit          ratio         target  met  peer                  theirs  peer ratio  peer target  met",
        "------------  --------  --------  -------------  -------------  ---  -----  ---------------------  ----------  -----------  ---",
        "wake            200 ns    100 ns         2.00 x       <= 2.5 x  yes  simpy                1.10 µs      5.50 x       >= 3 x  yes",
        "                                                                     trio   trio is not installed           -            -  -",
        "memory        10.5 KiB  5.25 KiB         2.00 x       <= 1.5 x  NO   -                          -           -            -  -",
        "crowd          2.00 ms    100 µs         20.0 x        <= 20 x  yes  simpy                3.00 ms      1.50 x       >= 2 x  NO",
        "  worst tick   7.00 ms    200 µs  3.50 x median  <= 2 x median  NO",
        "shown           1.00 s         -              -              -  -    -                          -           -            -  -",
    ]


def test_the_summary_names_each_target_that_is_not_met():
    assert summary([WAKE, MEMORY, CROWD, SHOWN]).splitlines() == [
        "1 of 3 rows with a target meet it",
        "not met: memory: 2.00 x of by hand, target <= 1.5 x",
        "not met: crowd: worst tick 3.50 x of the median, target <= 2 x",
        "not met: crowd: simpy takes 1.50 x of ours, target >= 2 x",
    ]


def test_the_summary_says_what_could_not_be_judged():
    aimed = replace(WAKE.row, peers=(WAKE.row.peers[0], replace(WAKE.row.peers[1], at_least=2)))
    assert summary([replace(WAKE, row=aimed)]).splitlines() == [
        "0 of 1 rows with a target meet it",
        "not judged: wake: a side is missing",
    ]


def test_the_document(tmp_path):
    made = document([WAKE, MEMORY, CROWD], repeats=2, quick=True, root=tmp_path)
    assert made == json.loads(json.dumps(made))
    assert (made["python"], made["repeats"], made["quick"], made["commit"]) == (sys.version, 2, True, None)
    wake, memory, crowd = made["rows"]
    assert wake == {
        "name": "wake",
        "what": "wake a strand",
        "gauge": "seconds",
        "count": 100,
        "rounds": 10,
        "ours": {"label": "agentrt", "best": 2e-7, "turns": [3e-7, 2e-7], "worst": None, "absent": None},
        "limit": {"label": "wheel", "best": 1e-7, "turns": [1e-7, 1.5e-7], "worst": None, "absent": None},
        "ratio": 2.0,
        "at_most_times": 2.5,
        "limit_met": True,
        "worst_ratio": None,
        "worst_at_most_times": None,
        "worst_met": None,
        "peers": [
            {
                "label": "simpy",
                "best": 1.1e-6,
                "turns": [1.2e-6, 1.1e-6],
                "worst": None,
                "absent": None,
                "ratio": pytest.approx(5.5),
                "at_least": 3,
                "met": True,
            },
            {
                "label": "trio",
                "best": None,
                "turns": [],
                "worst": None,
                "absent": "trio is not installed",
                "ratio": None,
                "at_least": None,
                "met": None,
            },
        ],
        "met": True,
    }
    assert (memory["ratio"], memory["limit_met"], memory["peers"], memory["met"]) == (2.0, False, [], False)
    assert (crowd["ours"]["best"], crowd["ours"]["worst"]) == (0.002, 0.007)
    assert (crowd["limit_met"], crowd["worst_ratio"], crowd["worst_met"]) == (True, 3.5, False)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_commit_and_whether_files_differ_from_it(tmp_path):
    def git(*words):
        subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=e", "-C", str(tmp_path), *words],
            check=True,
            capture_output=True,
        )

    git("init")
    assert commit(tmp_path) is None  # there is no commit yet
    git("commit", "--allow-empty", "-m", "first")
    clean = commit(tmp_path)
    assert clean is not None
    assert len(clean) == 40
    (tmp_path / "new").write_text("x")
    assert commit(tmp_path) == clean + "+"
