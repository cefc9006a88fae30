"""Every row does its work on every side. How fast is not asked: a test of that would fail by chance."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter

import pytest

from benchmarks import harness, wheel
from benchmarks.harness import Size, measure_row
from benchmarks.instructions import counts
from benchmarks.rows import ROWS, hosts, three_steps
from benchmarks.rows.by_hand import BareAgent, stirred_by_hand
from benchmarks.rows.hosts import HOSTS, THINK_READY_ASYNCIO, THREE_STEPS_ASYNCIO, THREE_STEPS_TRIO
from benchmarks.rows.ten_thousand import stirred
from benchmarks.rows.think_cycle import AT_ONCE, ON_EVENTS, THINK_EVENT, THINK_READY, agents, emit_all, plain
from benchmarks.rows.watching import made_again

TINY = Size(3, 2)


def test_names_and_targets():
    """Name, limit, worst tick, peers; as in the table of benchmarks/README.md, which says where they come from."""
    targets = [
        (row.name, row.at_most_times, row.worst_at_most_times, [(peer.side.label, peer.at_least) for peer in row.peers])
        for row in ROWS
    ]

    def cycle_peers(asyncio, uvloop, anyio):
        return [
            ("asyncio TaskGroup", asyncio),
            ("uvloop TaskGroup", uvloop),
            ("anyio task group", anyio),
            ("trio nursery", None),
        ]

    def loop_peers(task_group):
        return [("asyncio TaskGroup", task_group), ("agentrt on uvloop", None), ("uvloop TaskGroup", None)]

    sleepers = [("bare coroutine", None), ("simpy process", None), ("anyio task", None)]
    assert targets == [
        ("wake", 1.3, None, [("simpy", 5), ("asyncio tasks", 6)]),
        ("leaf_wake", 4, None, []),
        ("think_ready", 5, None, cycle_peers(3, 1.5, 10)),
        ("think_event", 5, None, cycle_peers(1, None, 5)),
        ("three_steps", None, None, [("gtpyhop", 2.5)]),
        ("think_ready_asyncio", None, None, loop_peers(2)),
        ("think_event_asyncio", None, None, loop_peers(None)),
        ("three_steps_asyncio", None, None, loop_peers(None)),
        ("think_ready_trio", None, None, [("trio nursery", None)]),
        ("think_event_trio", None, None, [("trio nursery", None)]),
        ("three_steps_trio", None, None, [("trio nursery", None)]),
        ("tasks_thousand", 1.5, None, []),
        ("tasks_three_thousand", 2, None, []),
        ("lease_line", 1.5, None, []),
        ("goal_selector", 1.5, None, []),
        ("behavior_tick", 2, None, [("py_trees", 80)]),
        ("selection_unchanged", 2, None, []),
        ("selection_changed", 8, None, []),
        ("selection_fresh", 12, None, []),
        ("strategies_ten", None, None, []),
        ("strategies_one_need", 17, None, []),
        ("strategies_thousand", None, None, []),
        ("strategies_chained", 17, None, []),
        ("idle_memory", 1.17, None, sleepers),
        ("idle_tick", 1.25, None, []),
        ("ten_thousand", 11, None, []),
        ("planners_1k", 11, 2, []),
        ("planners_10k", 11, 2, []),
        ("planners_100k", 11, 2, []),
        ("loaded_tick", None, None, []),
        ("mixed_memory", 1.31, None, []),
        ("mixed_ten_thousand", 0.88, None, [("nobody awake", None)]),
        ("colony", 23, None, []),
        ("miner", None, None, [("no look-ahead, options, order", 1.2)]),
        ("minds", None, None, []),
        ("minds_queue", None, None, []),
        ("shards_pipes", 1.25, None, []),
        ("shards_ray", 1.25, None, []),
        ("unwatched", 1.05, None, []),
        ("watched", 3, None, []),
        ("snapshot", 3.4, None, []),
        ("recording", 3, None, []),
        ("recording_views", 6, None, []),
        ("recording_drawings", 4, None, []),
        ("export_perfetto", 1.8, None, []),
        ("inspecting_nobody", 1.02, None, []),
        ("inspecting", 1.3, None, []),
        ("inspecting_past", 1.5, None, []),
        ("importing", 8, None, [("standard library", None), ("trio", None)]),
    ]


def test_the_readme_has_the_same_targets(root):
    def line(row):
        limit = "-" if row.limit is None else row.limit.label
        target = "-" if row.at_most_times is None else f"≤ {row.at_most_times:g} x"
        if row.worst_at_most_times is not None:
            target += f", worst ≤ {row.worst_at_most_times:g} x median"
        peers = [
            peer.side.label if peer.at_least is None else f"{peer.side.label} ≥ {peer.at_least:g} x"
            for peer in row.peers
        ]
        return f"| `{row.name}` | {limit} | {target} | {', '.join(peers) or '-'} |"

    text = (root / "benchmarks/README.md").read_text(encoding="utf-8")
    _, _, targets = text.partition("## Targets\n")
    table = targets.strip().partition("\n\n")[0].splitlines()
    assert table[2:] == [line(row) for row in ROWS]


SLOW = ("colony", "importing", "miner", "shards_pipes")  # whole worlds, and other processes
SIDES = [
    pytest.param(
        row,
        side,
        id=f"{row.name}-{side.label.replace(' ', '-')}",
        marks=[pytest.mark.slow] if row.name in SLOW else [],
    )
    for row in ROWS
    if row.name != "shards_ray"  # a cluster takes long to come up, and tests/shards has one
    for side in row.sides()
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


@pytest.mark.parametrize("name", ["plain", *HOSTS])
@pytest.mark.parametrize(("actions", "ticks"), [(AT_ONCE, 1), (ON_EVENTS, 2)], ids=["at-once", "on-events"])
def test_a_cycle_is_five_thoughts_one_election_and_one_run_on_each_host(actions, ticks, name):
    seen = []
    if name != "plain":
        pytest.importorskip(name)
    with agents(Size(1), actions, HOSTS.get(name, plain)) as (runtime, tick, minds):
        assert runtime.host == ("asyncio" if name == "uvloop" else name)
        listening = runtime.trace.listen(seen.append)
        runtime.post(emit_all, minds)
        for _ in range(ticks):
            tick()
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


def test_a_target_is_a_ratio_to_something_that_is_measured():
    for row in ROWS:
        assert row.limit is not None or row.at_most_times is None, row.name
        assert row.gauge == "ticks" or row.worst_at_most_times is None, row.name


@pytest.mark.slow
def test_without_uvloop_its_side_is_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvloop", None)
    for row in (THINK_READY, THINK_EVENT, THINK_READY_ASYNCIO, THREE_STEPS_ASYNCIO):
        result = measure_row(row, TINY, repeats=1)
        absent = {peer.label: peer.absent for peer in result.peers if peer.absent}
        assert absent.pop("uvloop TaskGroup") == "uvloop is not installed"
        assert absent.pop("agentrt on uvloop", "uvloop is not installed") == "uvloop is not installed"
        assert result.peers[0].turns, "asyncio's own is there"


def test_without_trio_its_rows_are_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "trio", None)
    result = measure_row(THREE_STEPS_TRIO, TINY, repeats=1)
    assert [side.absent for side in (result.ours, *result.peers)] == ["trio is not installed"] * 2
    assert result.limit.turns, "the plain host is there"


@pytest.mark.parametrize(
    ("location", "cash", "plan"),
    [
        ("home_a", 20.0, three_steps.PLAN),
        ("home_b", 20.0, [("walk", "park")]),
        ("home_a", 1.0, None),
    ],
)
def test_a_search_in_task_groups_finds_what_the_search_by_hand_finds(location, cash, plan):
    state = {"location": location, "cash": cash}
    found = asyncio.run(hosts._search(hosts._task_group, state, [("travel", "park")], []))
    assert found == plan == three_steps._search(state, [("travel", "park")], [])
    assert state == {"location": location, "cash": cash}


WITHOUT_ROUNDS = [param for param in SIDES if param.values[0].size.rounds == 1 and counts(param.values[0])]


@pytest.mark.parametrize(("row", "side"), WITHOUT_ROUNDS)
def test_what_a_side_prepares_can_be_counted_alone(row, side):
    """Instructions of a row without rounds: two runs, one of which prepares and does no work."""
    try:
        with side.prepare(Size(3, 0)):
            pass
    except ModuleNotFoundError as missing:
        pytest.skip(f"{missing.name} is not installed")


def test_the_search_by_hand_finds_the_plan_that_we_find():
    state = {"location": "home_a", "cash": 20.0}
    taxi = [("call_taxi",), ("ride_taxi", "park"), ("pay_driver",)]
    assert three_steps._search(state, [("travel", "park")], []) == taxi
    assert three_steps._search({**state, "location": "home_b"}, [("travel", "park")], []) == [("walk", "park")]
    assert three_steps._search({**state, "cash": 1.0}, [("travel", "park")], []) is None
    assert state == {"location": "home_a", "cash": 20.0}


def test_an_agent_by_hand_thinks_elects_runs_for_two_ticks_and_thinks_anew():
    ticks = wheel.Wheel()
    agent = BareAgent(ticks)
    seen = []
    for tick in range(1, 9):
        if tick in (1, 5):
            agent.stir()
        ticks.step()
        seen.append((tick, len(agent.stirred.waiting), max(agent.utilities), agent.runs))
    agent.close()
    assert seen == [
        (1, 7, 0.5, 0),  # seven look again, the eighth was elected
        (2, 7, 0.5, 0),
        (3, 8, 0.0, 1),
        (4, 8, 0.0, 1),
        (5, 7, 0.5, 1),
        (6, 7, 0.5, 1),
        (7, 8, 0.0, 2),
        (8, 8, 0.0, 2),
    ]


def test_an_agent_by_hand_prefers_what_is_better():
    ticks = wheel.Wheel()
    agent = BareAgent(ticks)
    agent.is_in_danger = True
    agent.stir()
    assert agent.utilities == [1.0] * 7 + [0.5]
    for _ in range(3):
        ticks.step()
    assert (agent.runs, agent.utilities[0]) == (1, 0.0)
    agent.close()


@pytest.mark.parametrize(("awake", "every"), [(1, 1), (2, 1), (5, 4), (0, 1)])
def test_ours_and_the_limit_are_stirred_alike(awake, every):
    """Each side asserts itself that every plan that was stirred was run."""
    from agentrt import Agent
    from benchmarks.rows.ten_thousand import ACTIONS

    size = Size(20, 8)
    with stirred(size, lambda idler: Agent(idler, actions=ACTIONS), awake, every) as work:
        assert work() == 8
    driven = []
    with stirred_by_hand(
        size, awake, every, 4, lambda agent: driven.append(agent.models), iter(range(20)).__next__
    ) as work:
        assert work() == 8
    assert driven == list(range(20)) * 12


def test_json_made_again_is_equal_and_another():
    json = {"a": [1, {"b": None}], "c": "d"}
    again = made_again(json)
    assert again == json
    assert again is not json
    assert again["a"] is not json["a"]
    assert again["a"][1] is not json["a"][1]


@pytest.mark.slow
def test_growth_is_measured_tick_by_tick(monkeypatch):
    growing = [row for row in ROWS if row.name.startswith("planners_")]
    assert [(row.size.count, row.gauge, row.is_big) for row in growing] == [
        (1000, "ticks", False),
        (10_000, "ticks", False),
        (100_000, "ticks", True),
    ]
    ticks = []
    monkeypatch.setattr(harness, "_seconds", lambda work: ticks.append(work()) or float(len(ticks)))
    result = measure_row(growing[2], growing[2].quick, repeats=3)
    assert ticks == [1] * 10  # five of ours, five by hand, one turn
    assert (result.ours.turns, result.ours.worsts) == ([3.0], [5.0])
    assert (result.limit.turns, result.limit.worsts) == ([8.0], [10.0])
