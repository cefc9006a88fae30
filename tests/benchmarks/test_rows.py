"""Every row does its work on every side. How fast is not asked: a test of that would fail by chance."""

from __future__ import annotations

import pytest

from benchmarks.harness import Size, measure_row
from benchmarks.rows import ROWS

TINY = Size(3, 2)


def test_names_and_targets():
    targets = [
        (row.name, row.at_most_times, row.at_most, [(peer.side.label, peer.at_least) for peer in row.peers])
        for row in ROWS
    ]
    cycle_peers = [("asyncio TaskGroup", 1), ("anyio task group", 5), ("trio nursery", None)]
    sleepers = [("bare coroutine", None), ("simpy process", None), ("anyio task", None)]
    assert targets == [
        ("wake", 2.5, None, [("simpy", 3), ("asyncio tasks", 6)]),
        ("leaf_wake", 4, None, []),
        ("think_ready", 12, None, cycle_peers),
        ("think_event", 12, None, cycle_peers),
        ("three_steps", 1, None, []),
        ("idle_memory", None, 10240, sleepers),
        ("idle_tick", 1.25, None, []),
        ("ten_thousand", None, 0.05, []),
    ]


SIDES = [
    pytest.param(row, side, id=f"{row.name}-{side.label.replace(' ', '-')}") for row in ROWS for side in row.sides()
]


@pytest.mark.parametrize(("row", "side"), SIDES)
def test_a_side_does_its_work(row, side):
    try:
        with side.prepare(TINY) as work:
            units = work()
    except ModuleNotFoundError as missing:
        pytest.skip(f"{missing.name} is not installed")
    assert units in (TINY.count, TINY.rounds, TINY.count * TINY.rounds)


def test_a_row_is_measured_whole():
    wake = ROWS[0]
    result = measure_row(wake, TINY, repeats=2)
    sides = [result.ours, result.limit, *(peer for peer in result.peers if peer.absent is None)]
    assert all(len(side.turns) == 2 and min(side.turns) > 0 for side in sides)
    assert result.ratio > 0
