"""The survey finds what comparing everything would find, wherever things stand and move."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt import Entity
from agentrt_examples.colony.bodies import Position
from agentrt_examples.colony.census import Census
from agentrt_examples.colony.paths import GridPathFinder
from agentrt_examples.colony.survey import Survey
from agentrt_examples.colony.terrain import Ground

GROUND = Ground()
FINDER = GridPathFinder(GROUND)
CELLS = [(column, row) for column in range(GROUND.width) for row in range(GROUND.height) if GROUND.cost((column, row))]

cells = st.sampled_from(CELLS)


def everything(census, start, reach, within, accepts):
    best = None
    for entity in census.find("thing"):
        cost = FINDER.cost(start, entity[Position].location, reach=reach) if accepts(entity) else None
        if cost is not None and (not within or cost <= within) and (best is None or cost < best[1]):
            best = (entity, cost)
    return best


def thing(census, cell):
    made = Entity("thing")
    made.add(Position(cell))
    census.put(made, "thing")
    return made


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    places=st.lists(cells, max_size=40),
    moves=st.lists(st.tuples(st.integers(0, 39), cells), max_size=10),
    gone=st.lists(st.integers(0, 39), max_size=10),
    refused=st.sets(st.integers(0, 39), max_size=20),
    start=cells,
    reach=st.integers(0, 3),
    within=st.sampled_from([0, 60, 200]),
)
def test_the_nearest_is_what_comparing_all_finds(places, moves, gone, refused, start, reach, within):
    census = Census()
    survey = Survey(census, FINDER, GROUND)
    things = [thing(census, cell) for cell in places]
    survey.nearest("thing", start, accepts=lambda entity: True)  # from now on it keeps up with what changes
    for index, cell in moves:
        if index < len(things):
            things[index][Position].place(cell)
    for index in gone:
        if index < len(things) and not things[index].is_destroyed:
            things[index].destroy()
    no = [things[index] for index in refused if index < len(things)]

    def accepts(entity):
        return entity not in no

    found = survey.nearest("thing", start, reach=reach, within=within, accepts=accepts)
    assert found == everything(census, start, reach, within, accepts)


def test_of_equally_near_ones_the_first_is_taken_and_the_next_when_it_came_again():
    census = Census()
    survey = Survey(census, FINDER, GROUND)
    first, second = thing(census, (19, 10)), thing(census, (21, 10))
    assert survey.nearest("thing", (20, 10), accepts=lambda entity: True) == (first, 10)
    census.take(first, "thing")
    census.put(first, "thing")
    assert survey.nearest("thing", (20, 10), accepts=lambda entity: True) == (second, 10)


def test_far_things_are_not_asked_about():
    census = Census()
    survey = Survey(census, FINDER, GROUND)
    near = thing(census, (20, 9))
    for column in range(12, 30):
        thing(census, (column, 19))
    asked = []
    assert survey.nearest("thing", (20, 10), accepts=lambda entity: asked.append(entity) or True) == (near, 10)
    assert asked == [near]


@pytest.mark.parametrize("tag", ["nothing", "thing"])
def test_where_nothing_is_nothing_is_found(tag):
    survey = Survey(Census(), FINDER, GROUND)
    assert survey.nearest(tag, (20, 10), accepts=lambda entity: True) is None
