"""Ways: the shortest by what is known, through rock and over gaps, and what is done when the world is different."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.game import Game
from agentrt_examples.miner.paths import MOST_CELLS, Step, find_way
from agentrt_examples.miner.places import steps_apart
from tests.miner.conftest import GROUND, Flat


def cells(way, here):
    return [tuple(at - start for at, start in zip(step.place, here, strict=True)) for step in way.steps]


def test_a_way_over_flat_ground_is_straight(flat):
    way = flat.miner.way_to(flat.beside(x=4))
    assert cells(way, flat.miner.place) == [(1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0)]
    assert (way.cost, way.is_whole) == (20, True)
    assert all(not step.digs or step.digs[-1] == step.place for step in way.steps)


def test_a_wall_is_gone_round_climbed_or_dug_through_whatever_is_cheapest(flat):
    for z in range(-2, 3):
        for y in range(2):
            flat.put("stone", flat.beside(x=2, y=y, z=z))
    here, goal = flat.miner.place, flat.beside(x=4)
    assert flat.miner.way_to(goal).cost == 50  # round it: ten steps
    flat.give(diamond_pickaxe=1, iron_pickaxe=1)
    flat.miner.saves = 5
    way = flat.miner.way_to(goal)
    # Half a wall is enough: it climbs onto the lower block, and down again.
    assert cells(way, here) == [(1, 0, 0), (2, 1, 0), (3, 0, 0), (4, 0, 0)]
    assert way.steps[1].digs == (flat.beside(x=1, y=2), flat.beside(x=2, y=2), flat.beside(x=2, y=1))
    assert way.cost == 5 + (7 + 13) + (5 + 2) + 5


def test_down_below_it_digs_a_staircase(flat):
    flat.give(stone_pickaxe=1)
    here = flat.miner.place
    way = flat.miner.way_to(flat.beside(x=3, y=-3))
    results = flat.do(lambda: flat.miner.walk(way))
    assert results == [(None, flat.runtime.tick)]
    assert flat.miner.place == (here[0] + 3, here[1] - 3, here[2])
    assert way.is_whole
    before = flat.runtime.tick
    flat.do(lambda: flat.miner.go(here))
    assert flat.miner.place == here
    assert flat.runtime.tick - before < 3 * (7 + 25) + 20  # it is open, but for a block over one's head at each step


def test_a_gap_is_bridged_when_there_is_something_to_put_down(flat):
    for x in range(2, 5):
        for z in range(-20, 21):
            for y in (-1, -2, -3, -4, -5, -6):
                flat.world.put(flat.miner.dimension, flat.beside(x=x, y=y, z=z), "air")
    flat.miner.look()
    goal = flat.beside(x=6)
    here = flat.miner.place
    flat.give(dirt=10)
    way = flat.miner.way_to(goal)
    assert [step.builds for step in way.steps if step.builds] == [flat.beside(x=x, y=-1) for x in (2, 3, 4)]
    flat.do(lambda: flat.miner.go(goal))
    assert (flat.miner.place, flat.miner.inventory.counts()) == (goal, {"dirt": 7})
    assert flat.miner.vitals.health == 20
    flat.do(lambda: flat.miner.go(here))
    assert flat.miner.inventory.count("dirt") == 7  # the bridge stands


def test_a_shaft_is_climbed_on_what_is_put_down(flat):
    here = flat.miner.place
    for x in range(-1, 2):
        for z in range(-1, 2):
            if (x, z) != (0, 0):
                flat.put("bedrock", *(flat.beside(x=x, y=y, z=z) for y in range(4)))
    flat.give(dirt=10)
    top = (here[0] + 1, here[1] + 4, here[2])
    flat.do(lambda: flat.miner.go(top))
    assert (flat.miner.place, flat.miner.inventory.count("dirt")) == (top, 7)


def test_lava_is_never_walked_into(flat):
    for x in range(2, 4):
        for z in range(-20, 21):
            flat.world.put(flat.miner.dimension, flat.beside(x=x, y=-1, z=z), "lava")
    flat.miner.look()
    goal = flat.beside(x=6)
    ((fault, _),) = flat.do(lambda: flat.miner.go(goal))
    # Without a pickaxe it goes under the lava; that takes long, and hands are enough.
    assert fault is None
    assert (flat.miner.place, flat.miner.vitals.health) == (goal, 20)


@pytest.mark.states("003: The miner: The agent knows what it has seen and nothing else; what is hidden is found ...")
def test_what_was_not_known_is_found_out_on_the_way(flat):
    hollow = [flat.beside(x=x, y=y, z=z) for x in range(3, 6) for y in range(-7, -1) for z in range(-2, 3)]
    for place in hollow:
        flat.world.put(flat.miner.dimension, place, "air")
    flat.put("lava", *(place for place in hollow if place[1] == GROUND - 7))
    flat.give(stone_pickaxe=2)
    goal = flat.beside(x=9, y=-5)
    ((fault, _),) = flat.do(lambda: flat.miner.go(goal))
    assert (fault, flat.miner.place, flat.miner.vitals.health) == (None, goal, 20)


def test_no_way_is_said_to_be_none(flat):
    goal = flat.beside(x=5)
    for x in range(4, 7):
        for z in range(-1, 2):
            for y in range(-2, 4):
                if (x, y, z) not in ((5, 0, 0), (5, 1, 0)):
                    flat.put("bedrock", flat.beside(x=x, y=y, z=z))
    ((fault, _),) = flat.do(lambda: flat.miner.go(goal))
    assert isinstance(fault, CannotAct)
    assert (fault.reason, fault.place) == ("way", goal)
    assert str(fault) == f"cannot go at {goal[0]},{goal[1]},{goal[2]}: no way leads there"


def test_a_far_goal_is_approached_in_legs(flat):
    goal = flat.beside(x=50, z=-40)
    first = flat.miner.way_to(goal)
    assert not first.is_whole
    flat.do(lambda: flat.miner.go(goal))
    assert flat.miner.place == goal
    assert flat.runtime.tick == 90 * 5 + 1  # and no step too many


def test_a_walk_stops_where_it_is_told_to(flat):
    here = flat.miner.place
    flat.do(lambda: flat.miner.go(flat.beside(x=20), lambda: flat.miner.place[0] >= here[0] + 3))
    assert flat.miner.place == (here[0] + 3, here[1], here[2])


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(-6, 6), st.integers(-1, 3), st.integers(-6, 6)), max_size=60), st.data())
def test_each_step_leads_to_a_neighbor_and_costs_what_it_takes(walls, data):
    game = Flat()
    for x, y, z in walls:
        place = game.beside(x=x, y=y, z=z)
        if place not in (game.miner.place, game.beside(y=1)):
            game.world.put(game.miner.dimension, place, "dirt")
    if not game.miner.dimension.can_stand(game.miner.place):
        return
    game.miner.look()
    goal = game.beside(x=data.draw(st.integers(-7, 7)), z=data.draw(st.integers(-7, 7)))
    way = game.miner.way_to(goal)
    if way is None:
        return
    here = game.miner.place
    for step in way.steps:
        assert isinstance(step, Step)
        assert abs(step.place[0] - here[0]) + abs(step.place[2] - here[2]) <= 1
        assert steps_apart(step.place, here) <= 4
        here = step.place
    assert here == goal
    ((fault, tick),) = game.do(lambda: game.miner.walk(way))
    assert fault is None
    assert game.miner.place == goal
    assert tick - 1 == way.cost  # the surface is known, so the estimate is exact
    game.runtime.close()


@pytest.mark.slow
def test_a_search_is_bounded():
    game = Game(5)
    costs = game.miner.costs()
    durations = []
    for x in range(8, 120, 9):
        start = time.process_time()
        find_way(game.miner.chart, costs, game.miner.place, (x, 6, 127 - x))
        durations.append(time.process_time() - start)
    durations.sort()
    assert MOST_CELLS <= 11_000
    assert durations[len(durations) // 2] < 0.03  # ten milliseconds on the machine of the benchmarks
    game.runtime.close()
