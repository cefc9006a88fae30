"""How rows are measured: who has a turn when, what is switched off, what counts as met."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import replace

import pytest

from benchmarks import harness
from benchmarks.harness import Measured, Peer, Row, RowResult, Side, Size, measure_row


def side(label, log, units=1, work=None):
    @contextmanager
    def prepare(size):
        log.append(("prepare", label, size.count, gc.isenabled()))

        def do():
            log.append(("work", label, size.rounds, gc.isenabled()))
            if work is not None:
                work()
            return units

        yield do
        log.append(("clear up", label, size.count, gc.isenabled()))

    return Side(label, prepare)


def row(log=None, **changes):
    log = [] if log is None else log
    given = {
        "name": "row",
        "what": "some work",
        "gauge": "seconds",
        "ours": side("ours", log),
        "limit": side("limit", log),
        "peers": (Peer(side("peer", log), at_least=3),),
        "at_most_times": 2,
        "size": Size(5, 7),
        "quick": Size(1),
    }
    return Row(**{**given, **changes})


def judged(made, ours, limit, peers):
    return RowResult(
        made,
        made.size,
        Measured("ours", ours),
        None if limit is None else Measured("limit", limit),
        [Measured("peer", turns) for turns in peers],
    )


def test_the_sides_take_turns_and_nobody_collects_garbage_meanwhile():
    log = []
    measure_row(row(log), Size(5, 7), repeats=2)
    turn = [
        (step, label, number, False)
        for label in ("ours", "limit", "peer")
        for step, number in (("prepare", 5), ("work", 7), ("clear up", 5))
    ]
    assert log == turn * 2
    assert gc.isenabled()


def test_every_turn_is_kept():
    measured = measure_row(row(), Size(1), repeats=3)
    assert [len(one.turns) for one in (measured.ours, measured.limit, *measured.peers)] == [3, 3, 3]
    assert (measured.ours.label, measured.limit.label, measured.peers[0].label) == ("ours", "limit", "peer")


def test_a_row_may_need_fewer_turns():
    measured = measure_row(row(most_repeats=2), Size(1), repeats=5)
    assert len(measured.ours.turns) == 2


def test_a_row_may_have_no_limit():
    measured = measure_row(row(limit=None), Size(1), repeats=1)
    assert measured.limit is None
    assert measured.ratio is None
    assert [peer.label for peer in measured.peers] == ["peer"]


def test_memory_is_what_is_left_for_each_unit():
    kept = []

    def build():
        kept.extend(bytearray(10_000) for _ in range(10))
        bytearray(1_000_000)  # let go at once

    measured = measure_row(row(gauge="bytes", ours=side("ours", [], 10, build)), Size(1), repeats=1)
    assert 10_000 < measured.ours.best < 10_500


def test_what_is_not_installed_is_left_out_and_said():
    @contextmanager
    def prepare(size):
        raise ModuleNotFoundError("No module named 'simpy'", name="simpy")
        yield

    measured = measure_row(row(peers=(Peer(Side("simpy", prepare), at_least=3),)), Size(1), repeats=2)
    assert measured.peers[0].absent == "simpy is not installed"
    assert measured.peers[0].turns == []
    assert measured.peer_ratios() == [None]
    assert gc.isenabled()


def test_what_we_forgot_ourselves_is_an_error():
    @contextmanager
    def prepare(size):
        raise ModuleNotFoundError("No module named 'agentrt.gone'", name="agentrt.gone")
        yield

    with pytest.raises(ModuleNotFoundError):
        measure_row(row(ours=Side("ours", prepare)), Size(1), repeats=1)
    assert gc.isenabled()


def test_the_best_turn_counts():
    measured = judged(row(), [4.0, 2.0, 3.0], [1.0, 5.0], [[8.0, 6.0]])
    assert measured.ratio == 2.0
    assert measured.peer_ratios() == [3.0]
    assert measured.met is True


@pytest.mark.parametrize(
    ("ours", "limit", "peer", "met"),
    [
        (2.0, 1.0, [6.0], True),
        (2.1, 1.0, [9.0], False),  # the limit is missed
        (2.0, 1.0, [5.9], False),  # the peer is missed
        (2.0, 1.0, [], None),  # the peer is not there
        (2.1, 1.0, [], False),  # the peer is not there, and the limit is missed
    ],
)
def test_what_counts_as_met(ours, limit, peer, met):
    assert judged(row(), [ours], [limit], [peer]).met is met


def test_each_target_has_a_verdict_of_its_own():
    measured = judged(row(), [2.1], [1.0], [[6.3]])
    assert (measured.limit_met, measured.worst_met, measured.peers_met()) == (False, None, [True])


@pytest.mark.parametrize(("worsts", "met"), [([4.0, 6.0], True), ([4.1], False)])
def test_the_worst_tick_is_judged_by_the_median(worsts, met):
    measured = judged(row(gauge="ticks", worst_at_most_times=2), [2.0, 3.0], [1.0], [[6.0]])
    measured.ours.worsts = worsts
    assert (measured.worst_ratio, measured.worst_met, measured.met) == (min(worsts) / 2, met, met)


def test_a_gauge_of_ticks_times_each_with_the_collector_on(monkeypatch):
    """Prepared for one round, done for each of them; the clock is made up."""
    log = []
    clock = iter([0, 1, 10, 14, 20, 22])
    monkeypatch.setattr(harness, "processor_time", lambda: next(clock))
    made = row(gauge="ticks", ours=side("ours", log), limit=None, peers=())
    measured = measure_row(made, Size(5, 3), repeats=1)
    assert log == [
        ("prepare", "ours", 5, True),
        ("work", "ours", 1, True),
        ("work", "ours", 1, True),
        ("work", "ours", 1, True),
        ("clear up", "ours", 5, True),
    ]
    assert (measured.ours.best, measured.ours.worst) == (2, 4)


def test_the_worst_tick_may_be_what_counts(monkeypatch):
    clock = iter([0, 1, 10, 14, 20, 22])
    monkeypatch.setattr(harness, "processor_time", lambda: next(clock))
    measured = measure_row(row(gauge="worst tick", limit=None, peers=()), Size(5, 3), repeats=1)
    assert (measured.ours.best, measured.ours.worst) == (4, None)


def test_a_row_without_a_target_is_neither_met_nor_missed():
    aimless = replace(row(), at_most_times=None, peers=())
    assert judged(aimless, [1.0], [1.0], []).met is None
    assert not aimless.has_target
    assert row().has_target
