"""Await points: counted in order, the same in equal runs, for every kind of strand; counting changes nothing."""

from __future__ import annotations

import pytest
from modules import load
from players import HOSTS

from agentrt import Entity, Runtime, sleep_ticks
from agentrt.errors import WrongStateError
from agentrt.kernel.trace import TraceDigest
from agentrt.testing.chaos import Chaos, play

worlds = load("tests/chaos/worlds.py")
village = load("tests/chaos/village.py").village


def points_of(scenario, host="plain", ticks=6):
    points = []
    runtime = Runtime(1, host=host)
    chaos = Chaos(runtime, points.append)
    play(runtime, ticks, scenario(runtime) or (lambda tick: None))
    assert chaos.finish() == []
    assert chaos.points == len(points)
    return [tuple(point) for point in points]


def test_a_plan_from_its_first_think_to_its_clean_up():
    assert points_of(worlds.with_plan) == [
        (1, 1, "ann", "walk", 1),  # thinks; on the plain host it has no strand before its first wait
        (2, 2, "ann", "walk", 0),  # runs
        (3, 2, "ann", "walk", 1),
        (4, 5, "ann", "walk", 2),  # cleans up
        (5, 6, "ann", "walk", 1),  # thinks again
    ]


@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_where_every_think_has_a_strand_its_beginning_is_a_point_too(host):
    assert points_of(worlds.with_plan, host) == [
        (1, 1, "ann", "walk", 0),
        (2, 1, "ann", "walk", 1),
        (3, 2, "ann", "walk", 0),
        (4, 2, "ann", "walk", 1),
        (5, 5, "ann", "walk", 2),
        (6, 6, "ann", "walk", 0),
        (7, 6, "ann", "walk", 1),
    ]


@pytest.mark.states(
    "tools: Faults: Every await of every coroutine that the runtime steps is a point, numbered in the order of the "
    "run, on every host; counting changes no run",
    source="design 7",
)
@pytest.mark.parametrize(
    ("kind", "name", "ticks"),
    [
        ("goal", "ann: goals/Wish", [1, 1, 6, 6]),
        ("behavior", "ann: tree/ROOT/GO", [1, 1]),
        ("leaf", "ann: selection/R/Stand", [1, 1]),
        ("observer", "ann: observers/m:observers:watch", [1, 1, 3, 5]),
    ],
)
@pytest.mark.parametrize("host", HOSTS)
def test_every_kind_of_strand_has_points(host, kind, name, ticks):
    points = points_of(worlds.KINDS[kind], host)
    assert [(tick, agent, strand) for _, tick, agent, strand, _ in points] == [(tick, "ann", name) for tick in ticks]
    assert [number for number, *_ in points] == list(range(1, len(points) + 1))


def test_a_coroutine_of_the_world_and_what_it_has_performed():
    points = points_of(worlds.with_performance)
    assert [(agent, strand, wait) for _, _, agent, strand, wait in points] == [
        ("", "with_performance.<locals>.ask", 0),
        ("", "with_performance.<locals>.ask", 1),
        ("ann", "walk", 1),
        ("ann", "walk", 0),
        ("ann", "walk", 1),
        ("ann", "walk", 2),
    ]


def test_a_strategy_what_it_needs_and_who_asked_for_it():
    points = points_of(worlds.with_strategy, ticks=8)
    assert [(tick, strand, wait) for _, tick, _, strand, wait in points] == [
        (1, "with_strategy.<locals>.ask", 0),
        (1, "with_strategy.<locals>.ask", 1),
        (1, "solve request", 0),
        (1, "solve request", 1),
        (1, "get", 0),
        (1, "get", 1),
        (2, "get", 2),  # until what it needs is solved
        (2, "get", 0),
        (2, "get", 1),
        (3, "get", 2),
        (4, "get", 3),
    ]


def digest_of(host, counts, seed=3):
    runtime = Runtime(seed, host=host, think_budget=10)
    digest = TraceDigest(runtime.trace)
    chaos = Chaos(runtime, lambda point: None) if counts else None
    play(runtime, 15, village(seed)(runtime))
    if chaos is not None:
        assert chaos.points > 100
        assert chaos.finish() == []
    return digest.hexdigest()


@pytest.mark.states("tools: Faults: Every await of every coroutine that the runtime steps is a point, numbered in ...")
@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_counting_changes_no_run(host):
    assert digest_of(host, counts=True) == digest_of(host, counts=False)


@pytest.mark.states("tools: Faults: Every await of every coroutine that the runtime steps is a point, numbered in ...")
@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_equal_runs_have_equal_points(host):
    assert points_of(village(4), host, 15) == points_of(village(4), host, 15)


def test_what_is_counted_can_still_be_asked_where_it_is():
    runtime = Runtime(1, host="plain")
    chaos = Chaos(runtime, lambda point: None)
    runtime.spawn(sleep_ticks_twice)
    runtime.step()
    (strand,) = runtime.kernel.strays.strands
    assert strand.coro.__qualname__ == "sleep_ticks_twice"
    assert strand.where().startswith(__file__)
    assert strand.state == "sleeping"
    runtime.close()
    assert chaos.finish() == []


async def sleep_ticks_twice():
    await sleep_ticks(3)
    await sleep_ticks(3)


def test_afterwards_nothing_is_left_of_it():
    runtime = Runtime(1, host="plain")
    assert "strand" not in vars(runtime.kernel.host)
    add = type(Entity("x").destroyed).add
    chaos = Chaos(runtime, lambda point: None)
    assert "strand" in vars(runtime.kernel.host)
    assert type(Entity("x").destroyed).add is not add
    chaos.finish()
    assert "strand" not in vars(runtime.kernel.host)
    assert type(Entity("x").destroyed).add is add
    assert not runtime.trace.on


def test_a_host_must_have_been_chosen():
    with pytest.raises(WrongStateError, match="Runtime\\(host='plain'\\)"):
        Chaos(Runtime(1), lambda point: None)
