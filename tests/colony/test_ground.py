"""The ground, and paths over it."""

from __future__ import annotations

from heapq import heappop, heappush

import pytest

from agentrt_examples.colony.paths import GridPathFinder
from agentrt_examples.colony.terrain import CHART, Ground


def test_the_chart_is_forty_by_twenty_five():
    ground = Ground()
    assert (ground.width, ground.height) == (40, 25)
    assert len(ground.marked("b")) == 12
    assert len(ground.marked("f")) == 54
    assert len(ground.marked("t")) == 3


def test_terrain_and_cost():
    ground = Ground()
    assert ground.terrain((0, 0)).name == "tree"
    assert ground.cost((0, 0)) == 0
    assert ground.terrain((8, 9)).name == "path"
    assert ground.cost((8, 9)) == 7
    assert ground.cost((-1, 3)) == 0
    assert ground.cost((40, 3)) == 0


def test_what_is_marked_stands_on_ground():
    ground = Ground()
    assert ground.terrain(ground.marked("b")[0]).name == "floor"
    assert ground.terrain(ground.marked("h")[0]).name == "grass"


def test_neighbors_come_in_one_order_and_are_walkable():
    assert Ground("...\n.T.\n...\n").neighbors((1, 0)) == [(2, 0), (0, 0)]
    assert Ground("...\n...\n...\n").neighbors((1, 1)) == [(1, 0), (2, 1), (1, 2), (0, 1)]


def test_the_edge_goes_clockwise():
    assert list(Ground("..T\n...\n...\n").edge()) == [(0, 0), (1, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1)]


@pytest.mark.parametrize(
    ("chart", "words"), [("...\n..\n", "row 1 of the chart has 2 letters"), ("..!\n", "letters that mean nothing: !")]
)
def test_a_chart_that_is_wrong_is_refused(chart, words):
    with pytest.raises(ValueError, match=words):
        Ground(chart)


def test_everything_that_somebody_goes_to_can_be_reached():
    ground = Ground()
    finder = GridPathFinder(ground)
    bed = ground.marked("b")[0]
    for letter in "bfscgh":
        assert None not in finder.costs(bed, ground.marked(letter)), letter
    assert None not in finder.costs(bed, ground.marked("K"), reach=1)
    assert None not in finder.costs(bed, list(ground.edge()))
    assert finder.costs(bed, ground.marked("~")) == [None] * CHART.count("~")


def test_a_path_goes_round_and_costs_what_its_steps_cost():
    ground = Ground("..T..\n..T..\n.....\n")
    path = GridPathFinder(ground).find((0, 0), (4, 0))
    assert path.start == (0, 0)
    assert path.destination == (4, 0)
    assert len(path.places) == 8
    assert path.cost == 80
    assert all(ground.cost(place) for place in path.places)


def test_a_path_may_end_before_its_goal():
    finder = GridPathFinder(Ground(".....\n"))
    assert finder.find((0, 0), (4, 0), reach=1).places == ((1, 0), (2, 0), (3, 0))
    assert finder.find((3, 0), (4, 0), reach=1).places == ()
    assert finder.find((0, 0), (0, 0)).places == ()


def test_a_goal_where_nobody_walks_is_reached_from_beside_it():
    finder = GridPathFinder(Ground(".....\n..T..\n.....\n"))
    assert finder.find((0, 1), (2, 1)) is None
    assert finder.find((0, 1), (2, 1), reach=1).destination == (1, 1)


def test_an_island_is_not_reached():
    finder = GridPathFinder(Ground("..~..\n"))
    assert finder.find((0, 0), (4, 0)) is None
    assert finder.costs((0, 0), [(1, 0), (4, 0)]) == [10, None]


def test_one_field_answers_for_one_goal():
    finder = GridPathFinder(Ground())
    for start in ((20, 15), (6, 6), (20, 20)):
        finder.find(start, (20, 10))
    assert finder.searches == 2  # a small one for who was near, then one of the whole ground
    finder.costs((6, 9), [(20, 10)])
    assert finder.searches == 2
    finder.find((6, 5), (8, 9))
    assert finder.searches == 3


def test_the_near_field_says_what_the_whole_one_says():
    ground = Ground()
    goals = [*ground.marked("f")[:3], *ground.marked("s")[:3]]
    for goal in goals:
        fresh, known = GridPathFinder(ground), GridPathFinder(ground)
        known.cost((0, 4), goal)  # far away: the field of the whole ground
        for start in ground.marked("."):
            if known.distance(start, goal) <= 14:
                assert fresh.cost(start, goal, reach=1) == known.cost(start, goal, reach=1)
                one, other = GridPathFinder(ground).find(start, goal), known.find(start, goal)
                assert (one.cost, one.places, one.destination) == (other.cost, other.places, other.destination)
                break


def test_costs_from_one_cell_are_those_of_each_path():
    ground = Ground()
    finder = GridPathFinder(ground)
    goals = [*ground.marked("b"), *ground.marked("h"), (0, 0)]
    assert finder.costs((20, 10), goals) == [finder.cost((20, 10), goal) for goal in goals]


def test_paths_are_walked_when_they_are_asked_for():
    finder = GridPathFinder(Ground())
    path, same = finder.find((6, 6), (25, 15), reach=2), finder.find((6, 6), (25, 15), reach=2)
    assert path == same
    assert hash(path) == hash(same)
    assert path != finder.find((6, 6), (25, 15))
    assert path.destination == path.places[-1]
    assert finder.find(path.places[3], (25, 15), reach=2).destination == path.destination


def test_the_way_out_leads_to_the_nearest_cell_of_the_edge():
    ground = Ground(".....\n.....\n.....\n.....\n.....\n")
    finder = GridPathFinder(ground)
    assert finder.nearest_edge((2, 1)) == (2, 0)
    assert finder.nearest_edge((0, 3)) == (0, 3)
    assert GridPathFinder(Ground("~~~\n~.~\n~~~\n")).nearest_edge((1, 1)) is None


def test_a_ground_may_be_repeated():
    ground = Ground("..b\nb..\n", across=2, down=2)
    assert (ground.width, ground.height) == (6, 4)
    assert ground.parts == [(0, 0), (3, 0), (0, 2), (3, 2)]
    assert ground.marked("b") == [(2, 0), (0, 1), (5, 0), (3, 1), (2, 2), (0, 3), (5, 2), (3, 3)]


def test_the_same_path_is_found_every_time():
    found = {GridPathFinder(Ground()).find((6, 6), (25, 15)) for _ in range(3)}
    assert len(found) == 1
    (path,) = found
    assert path.cost == 219
    assert path.places[:5] == ((7, 6), (8, 6), (8, 7), (8, 8), (8, 9))


def _costs_by_hand(ground, goal):
    """What it costs to come to a goal from wherever a path leads there."""
    costs, waiting = {goal: 0}, [(0, goal)]
    while waiting:
        cost, cell = heappop(waiting)
        if cost == costs[cell]:
            for before in ground.neighbors(cell):
                more = cost + ground.cost(cell)
                if more < costs.get(before, more + 1):
                    costs[before] = more
                    heappush(waiting, (more, before))
    return costs


def _serpentine():
    """Walls across the first window around (20, 20), with a way through that is longer than the one outside of it."""
    rows = [["."] * 60 for _ in range(41)]
    for number, column in enumerate((21, 23, 25, 27)):
        for row in range(7, 34):
            rows[row][column] = "." if row == (8 if number % 2 else 32) else "#"
    return "".join(f"{''.join(row)}\n" for row in rows)


GOALS = pytest.mark.parametrize(
    ("ground", "goal"),
    [
        (Ground(CHART, across=2, down=2), (6, 6)),
        (Ground(CHART, across=2, down=2), (39, 24)),
        (Ground(CHART, across=2, down=2), (70, 40)),
        (Ground(_serpentine()), (20, 20)),
    ],
)


@GOALS
def test_windows_say_what_the_whole_ground_says(ground, goal):
    finder = GridPathFinder(ground)
    costs = _costs_by_hand(ground, goal)
    cells = [(column, row) for column in range(ground.width) for row in range(ground.height)]
    for start in sorted((cell for cell in cells if ground.cost(cell)), key=lambda cell: finder.distance(cell, goal)):
        assert finder.cost(start, goal) == costs.get(start), start
    assert finder.searches > 2  # a small window first, then wider ones


@GOALS
def test_beams_say_what_the_whole_ground_says(ground, goal):
    """Each with a finder of its own, so that its first question is answered by a beam; then those next to its way."""
    costs = _costs_by_hand(ground, goal)
    reached = [cell for cell in costs if cell != goal]
    for start in reached[:: len(reached) // 6 + 1]:
        finder = GridPathFinder(ground)
        places, cell = [], start
        while cell != goal:
            cell = next(near for near in ground.neighbors(cell) if costs[near] + ground.cost(near) == costs[cell])
            places.append(cell)
        path = finder.find(start, goal)
        assert (path.cost, path.places, path.destination) == (costs[start], tuple(places), goal)
        beside = {near for place in places for near in ground.neighbors(place)}
        assert {near: finder.cost(near, goal) for near in beside} == {near: costs[near] for near in beside}


def _costs_to_ends(ground, goal, reach):
    """What it costs at least to come to one of the cells that are at most so many steps from a goal."""
    column, row = goal
    cells = [(x, y) for x in range(ground.width) for y in range(ground.height)]
    ends = [(x, y) for x, y in cells if ground.cost((x, y)) and abs(x - column) + abs(y - row) <= reach]
    costs = {}
    for end in ends:
        for cell, cost in _costs_by_hand(ground, end).items():
            costs[cell] = min(cost, costs.get(cell, cost))
    return costs


@pytest.mark.parametrize("goal", [(20, 12), (0, 0), (7, 4), (39, 24)])
@pytest.mark.parametrize("reach", [0, 1, 2, 3])
def test_a_path_ends_at_the_cheapest_of_the_cells_in_reach(goal, reach):
    """Whatever lies between them and the goal: walls, water, the corner of the ground."""
    ground = Ground()
    costs = _costs_to_ends(ground, goal, reach)
    cells = [(x, y) for x in range(ground.width) for y in range(ground.height)]
    finder = GridPathFinder(ground)
    found = {cell: finder.cost(cell, goal, reach=reach) for cell in cells}
    assert found == {cell: costs.get(cell) for cell in cells}
    for start in list(costs)[::40]:
        path = finder.find(start, goal, reach=reach)
        assert path.cost == sum(ground.cost(place) for place in path.places)
        assert finder.distance(path.destination, goal) <= reach


def test_what_is_walled_in_is_found_out_by_one_search():
    rows = [["."] * 60 for _ in range(40)]
    for column in range(28, 33):
        for row in range(18, 23):
            rows[row][column] = "#"
    rows[20][30] = "."
    finder = GridPathFinder(Ground("".join(f"{''.join(row)}\n" for row in rows)))
    assert finder.cost((2, 20), (30, 20)) is None
    assert finder.cost((25, 20), (30, 20)) is None
    assert finder.searches == 1


def test_nothing_leads_out_of_the_ground():
    finder = GridPathFinder(Ground(".....\n.....\n"))
    assert finder.find((0, 0), (-1, 0)) is None
    assert finder.find((0, 0), (5, 1), reach=1) is None
    assert finder.find((-1, 0), (0, 0)) is None


def test_fields_may_be_made_in_any_order():
    """Searches share their arrays: what was found before must not be touched by what is asked afterwards."""
    ground = Ground(CHART, across=2, down=2)
    goals = [*ground.marked("f")[:40:4], *ground.marked("K")[:3]]
    starts = ground.marked("h")
    asked = [(start, goal, reach) for reach in (0, 1, 2) for goal in goals for start in starts]
    one, other = GridPathFinder(ground), GridPathFinder(ground)
    forth = {question: one.cost(*question[:2], reach=question[2]) for question in asked}
    back = {question: other.cost(*question[:2], reach=question[2]) for question in reversed(asked)}
    assert forth == back
    assert forth == {question: one.cost(*question[:2], reach=question[2]) for question in asked}
