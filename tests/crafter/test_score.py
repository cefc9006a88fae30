"""Success rates, the score, the digest, what is kept of an episode, and the same episodes in other processes."""

from __future__ import annotations

import dataclasses
import functools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("crafter")

from agentrt import Runtime
from examples.crafter import record as record_module
from examples.crafter import workers
from examples.crafter.game import Spent
from examples.crafter.record import Record, play_one
from examples.crafter.report import (
    PUBLISHED,
    Summary,
    combined_digest,
    score,
    success_rates,
    versions,
    write_markdown,
)
from examples.crafter.rules import ACHIEVEMENTS
from examples.crafter.score import Results

WOOD, TABLE = {"collect_wood": 3}, {"collect_wood": 1, "place_table": 2}


def never(share):
    """Nobody wants to know how far it is."""


# --- the score --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([0.0] * 22, 0.0),
        ([100.0] * 22, 100.0),
        ([100.0] * 11 + [0.0] * 11, 9.04987562112089),  # the root of 101, less 1
        ([0.0, 3.0], 1.0),  # the root of 1 * 4, less 1
        ([7.0, 1.0, 3.0], 3.0),  # the cube root of 8 * 2 * 4, less 1
        ([2.0] * 22, 2.0),
    ],
)
def test_the_score_is_the_geometric_mean_with_an_offset_of_one_percent(rates, expected):
    assert score(rates) == pytest.approx(expected, abs=1e-12)


def test_what_is_rare_counts_for_more():
    assert score([2.0, 50.0]) > score([0.0, 100.0])


@settings(max_examples=30)
@given(st.lists(st.floats(0, 100), min_size=1, max_size=22))
def test_the_score_lies_between_the_lowest_and_the_highest_rate(rates):
    assert min(rates) - 1e-9 <= score(rates) <= max(rates) + 1e-9


def test_a_success_rate_counts_episodes_and_not_how_often():
    rates = success_rates([Record(0, achieved=WOOD), Record(1, achieved=TABLE), Record(2), Record(3)])
    assert tuple(rates) == ACHIEVEMENTS
    assert {name: rate for name, rate in rates.items() if rate} == {"collect_wood": 50.0, "place_table": 25.0}


# --- the figures ------------------------------------------------------------------------------------------------------

RECORDS = [
    Record(8, 100, True, TABLE, fate="died", digest="aa", spent=Spent(0.1, 3.0, 0.25, 0.5), faults=2),
    Record(9, 300, False, WOOD, fate="the time was up", digest="bb", spent=Spent(0.2, 4.0, 0.25, 1.0)),
    Record(10, 20, False, {}, digest="cc", spent=Spent(0.3, 1.0, 0.0, 0.0), error="ValueError: no"),
]


def test_the_summary():
    summary = Summary.of(RECORDS, 300)
    assert summary.as_dict() == {
        "episodes": 3,
        "length": 300,
        "rates": success_rates(RECORDS),
        "score": score(success_rates(RECORDS).values()),
        "achievements": 1.0,
        "mean_length": 140.0,
        "died": 1,
        "fates": {"died": 1, "failed": 1, "the time was up": 1},
        "failed": 1,
        "faults": 2,
        "steps": 420,
        "spent": {"world": 0.6, "game": 8.0, "eyes": 0.5, "mind": 1.5},
        "digest": combined_digest(RECORDS),
        "decisions_per_second": 210.0,
        "share": 0.1887,
    }


def test_a_summary_of_episodes_that_took_no_time():
    summary = Summary.of([Record(1)], 10)
    assert (summary.decisions_per_second, summary.spent.share, summary.score) == (0.0, 0.0, 0.0)


@given(st.permutations(RECORDS))
def test_the_order_in_which_episodes_end_does_not_matter(records):
    assert Summary.of(records, 300) == Summary.of(RECORDS, 300)
    assert Summary.of(records, 300).spent.world == 0.6


def test_the_most_frequent_end_is_told_first():
    fates = Summary.of([Record(seed, fate=fate) for seed, fate in enumerate("cabcbd")], 300).fates
    assert list(fates.items()) == [("b", 2), ("c", 2), ("a", 1), ("d", 1)]


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(RECORDS[0], digest="ab"),
        dataclasses.replace(RECORDS[0], seed=7),
        dataclasses.replace(RECORDS[0], error="ValueError: no"),
    ],
)
def test_the_digest_tells_what_differs(other):
    assert combined_digest([other, *RECORDS[1:]]) != combined_digest(RECORDS)


def test_the_digest_does_not_tell_how_long_it_took():
    slow = [dataclasses.replace(record, spent=Spent(9.0, 9.0, 9.0, 9.0)) for record in RECORDS]
    assert combined_digest(slow) == combined_digest(RECORDS)


def test_the_published_scores_are_in_order():
    values = [value for _, value, _ in PUBLISHED]
    assert values == sorted(values) == [1.6, 4.6, 14.5, 27.3, 50.5]


def test_markdown():
    lines = write_markdown(Summary.of(RECORDS, 300), "Three episodes").splitlines()
    assert lines[:5] == [
        "Three episodes.",
        "",
        "| achievement | success rate |",
        "| :--- | ---: |",
        "| collect_coal | 0.0 % |",
    ]
    assert "| collect_wood | 66.7 % |" in lines
    assert "| ends | died: 1; failed: 1; the time was up: 1 |" in lines
    ours = lines.index("| this example | 0.4 % | 3 episodes, 300 steps at most |")
    assert lines[ours + 1] == "| random | 1.6 % | Hafner 2021, arXiv:2109.06780 |"
    assert len({line.count("|") for line in lines if line.startswith("| collect")}) == 1


# --- an episode -------------------------------------------------------------------------------------------------------


def broken():
    raise KeyError("no such thing")


class Pretended:
    """An episode without a game, which fails in a step of its own."""

    thinking = None

    def __init__(self, seed, length, thoughts=None):
        if seed == 0:
            raise RuntimeError("no world")
        self.seed, self.length, self.step, self.is_over, self.is_dead = seed, length, 0, False, False
        self.spent, self.digest, self.sight = Spent(), f"d{seed}", None
        self.runtime = Runtime(host="plain")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @property
    def achieved(self):
        return {"collect_wood": self.step} if self.step else {}

    def advance(self):
        if (self.seed, self.step) == (3, 150):
            raise ValueError("a bad\nstep")
        if self.step == 1 and self.seed == 4:
            self.runtime.post(broken)
            self.runtime.post(broken)
            self.runtime.step()
        self.step += 1
        self.is_over = self.step == self.length


@pytest.fixture
def pretended(monkeypatch):
    monkeypatch.setattr(record_module, "Episode", Pretended)


def test_what_an_episode_achieved_before_it_failed_counts(pretended):
    shares = []
    record = play_one(3, shares.append, length=1000)
    assert (record.steps, record.achieved, record.first) == (150, {"collect_wood": 150}, {"collect_wood": 1})
    assert (record.fate, record.died, record.digest) == ("failed", False, "d3")
    assert record.error.startswith("ValueError: a bad step (test_score.py:")
    assert record.details.startswith("Traceback")
    assert shares == [0.1]


def test_an_episode_that_cannot_begin(pretended):
    record = play_one(0, never, length=1000)
    assert dataclasses.replace(record, error="", details="") == Record(0)
    assert record.error.startswith("RuntimeError: no world")


def test_faults_of_the_mind_are_counted_and_not_shown(pretended, capfd, caplog):
    record = play_one(4, never, length=10)
    assert (record.faults, record.error, record.fate) == (2, "", "the time was up")
    lines = record.details.splitlines()
    assert lines[0] == "a function of the tick raised: broken (step 1)"
    assert (lines[1], lines[-1]) == ("Traceback (most recent call last):", "KeyError: 'no such thing'")
    assert (capfd.readouterr(), caplog.records) == (("", ""), [])


@pytest.mark.slow
def test_a_real_episode(short_records):
    for record in short_records:
        assert record.error == ""
        assert record.steps == 60 or record.died
        assert set(record.achieved) <= set(ACHIEVEMENTS)
        assert record.achieved.keys() == record.first.keys()
        assert len(record.digest) == 32
        assert min(record.spent.world, record.spent.game, record.spent.eyes, record.spent.mind) > 0


@pytest.mark.slow
def test_two_processes_play_the_same_episodes_as_one(short_records):
    there = []
    workers.run(functools.partial(play_one, length=60), (8, 4), 2, lambda news: there.append(news.result))
    there = [record for record in there if record is not None]
    assert combined_digest(there) == combined_digest(short_records)
    spent = Spent()
    assert sorted((dataclasses.replace(record, spent=spent) for record in there), key=lambda record: record.seed) == [
        dataclasses.replace(record, spent=spent) for record in short_records
    ]


# --- the file ---------------------------------------------------------------------------------------------------------


def test_the_file_is_whole_after_each_episode(tmp_path):
    path = tmp_path / "results.json"
    asked = {"episodes": 3, "seed": 8, "length": 300, "jobs": 2}
    with Results(path, asked) as results:
        assert not path.exists()
        for count, record in enumerate(reversed(RECORDS), 1):
            results.add(record)
            assert len(json.loads(path.read_text(encoding="utf-8"))["records"]) == count
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert list(tmp_path.iterdir()) == [path]
    assert list(kept) == ["asked", "versions", "summary", "records"]
    assert (kept["asked"], kept["versions"]) == (asked, versions())
    assert kept["summary"] == Summary.of(RECORDS, 300).as_dict()
    assert kept["records"][0] == {
        "seed": 8,
        "steps": 100,
        "died": True,
        "achieved": {"collect_wood": 1, "place_table": 2},
        "first": {},
        "fate": "died",
        "digest": "aa",
        "spent": {"world": 0.1, "game": 3.0, "eyes": 0.25, "mind": 0.5},
        "faults": 2,
        "error": "",
        "details": "",
    }
    assert [record["seed"] for record in kept["records"]] == [8, 9, 10]


def test_a_run_without_results_leaves_an_old_file_alone(tmp_path):
    path = tmp_path / "results.json"
    path.write_text("old", encoding="utf-8")
    with Results(path, {"length": 1}):
        pass
    assert [(file.name, file.read_text(encoding="utf-8")) for file in tmp_path.iterdir()] == [("results.json", "old")]


def test_what_it_was_played_with():
    assert list(versions()) == ["python", "agentrt", "crafter", "numpy", "tcod"]
    assert all(versions().values())


def test_a_disk_that_runs_full_ends_no_run_and_keeps_the_last_whole_file(tmp_path, monkeypatch, capsys):
    path = tmp_path / "results.json"
    with Results(path, {"episodes": 4, "length": 10}) as results:
        results.add(Record(1))
        whole = path.read_text()

        def full(*_, **__):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(Path, "write_text", full)
            results.add(Record(2))
            results.add(Record(3))
        assert path.read_text() == whole
        results.add(Record(4))
    assert [one["seed"] for one in json.loads(path.read_text())["records"]] == [1, 2, 3, 4]
    said = capsys.readouterr().err
    assert said == f"{path} cannot be written after 2 of 4 episodes, which go on: No space left on device\n"
