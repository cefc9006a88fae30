"""The table and the JSON document, from made-up figures."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from benchmarks.harness import Measured, Peer, Row, RowResult, Side, Size
from benchmarks.report import amount, commit, document, table, times


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
        at_most=10240,
        size=Size(2000),
        quick=Size(1),
    ),
    size=Size(2000),
    ours=Measured("agentrt", [10752.0]),
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
    assert table([WAKE, MEMORY]).splitlines() == [
        "row         ours   limit   ratio       target  peer                  theirs  peer ratio  peer target  met",
        "------  --------  ------  ------  -----------  -----  ---------------------  ----------  -----------  ---",
        "wake      200 ns  100 ns  2.00 x     <= 2.5 x  simpy                1.10 µs      5.50 x       >= 3 x  yes",
        "                                               trio   trio is not installed           -            -",
        "memory  10.5 KiB       -       -  <= 10.0 KiB  -                          -           -            -  NO",
    ]


def test_the_document(tmp_path):
    made = document([WAKE, MEMORY], repeats=2, quick=True, root=tmp_path)
    assert made == json.loads(json.dumps(made))
    assert (made["python"], made["repeats"], made["quick"], made["commit"]) == (sys.version, 2, True, None)
    wake, memory = made["rows"]
    assert wake == {
        "name": "wake",
        "what": "wake a strand",
        "gauge": "seconds",
        "count": 100,
        "rounds": 10,
        "ours": {"label": "agentrt", "best": 2e-7, "turns": [3e-7, 2e-7], "absent": None},
        "limit": {"label": "wheel", "best": 1e-7, "turns": [1e-7, 1.5e-7], "absent": None},
        "ratio": 2.0,
        "at_most_times": 2.5,
        "at_most": None,
        "peers": [
            {
                "label": "simpy",
                "best": 1.1e-6,
                "turns": [1.2e-6, 1.1e-6],
                "absent": None,
                "ratio": pytest.approx(5.5),
                "at_least": 3,
            },
            {
                "label": "trio",
                "best": None,
                "turns": [],
                "absent": "trio is not installed",
                "ratio": None,
                "at_least": None,
            },
        ],
        "met": True,
    }
    assert (memory["limit"], memory["ratio"], memory["peers"], memory["met"]) == (None, None, [], False)


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
