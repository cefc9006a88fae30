"""Every row does its work on every side. How fast is not asked: a test of that would fail by chance."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.harness import Size, measure_row
from benchmarks.rows import ROWS
from benchmarks.rows.think_cycle import AT_ONCE, ON_EVENTS, agents, emit_all

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
        ("tasks_thousand", 1.5, None, []),
        ("tasks_three_thousand", 2, None, []),
        ("lease_line", 1.5, None, []),
        ("goal_selector", 2, None, []),
        ("behavior_tick", 4, None, [("py_trees", 25)]),
        ("selection_unchanged", 2, None, []),
        ("selection_changed", 8, None, []),
        ("selection_fresh", 12, None, []),
        ("strategies_ten", None, None, []),
        ("strategies_one_need", None, 0.001, []),
        ("strategies_thousand", None, None, []),
        ("strategies_chained", None, 0.001, []),
        ("idle_memory", None, 10240, sleepers),
        ("idle_tick", 1.25, None, []),
        ("ten_thousand", None, 0.05, []),
        ("mixed_memory", None, 10240, []),
        ("mixed_ten_thousand", None, 0.05, []),
        ("colony", None, 0.025, []),
        ("miner", None, None, [("no look-ahead, options, order", 1.2)]),
        ("unwatched", 1.05, None, []),
        ("watched", 3, None, []),
        ("snapshot", None, 0.0004, []),
        ("recording", 3, None, []),
        ("recording_views", 6, None, []),
        ("inspecting_nobody", 1.1, None, []),
        ("inspecting", 2.5, None, []),
        ("importing", None, 0.15, []),
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
    if row.gauge == "game seconds":
        assert 0 < units < 600  # a few pickaxes
    else:
        assert units in (TINY.count, TINY.rounds, TINY.count * TINY.rounds)


def test_a_row_is_measured_whole():
    wake = ROWS[0]
    result = measure_row(wake, TINY, repeats=2)
    sides = [result.ours, result.limit, *(peer for peer in result.peers if peer.absent is None)]
    assert all(len(side.turns) == 2 and min(side.turns) > 0 for side in sides)
    assert result.ratio > 0


@pytest.mark.parametrize(("actions", "ticks"), [(AT_ONCE, 1), (ON_EVENTS, 2)], ids=["at-once", "on-events"])
def test_a_cycle_is_five_thoughts_one_election_and_one_run(actions, ticks):
    seen = []
    with agents(Size(1), actions) as (runtime, minds):
        listening = runtime.trace.listen(seen.append)
        runtime.post(emit_all, minds)
        for _ in range(ticks):
            runtime.step()
        listening()
    assert Counter(record.event for record in seen) == {
        "think": 5,
        "ready": 5,
        "utility": 5,
        "elect": 1,
        "start": 1,
        "stop_thinking": 5,
        "run": 1,
        "finish": 1,
        "stop": 1,
        "complete": 1,
    }
    (elected,) = (record for record in seen if record.event == "elect")
    assert dict(elected.detail)["utility"] == 0.9
