"""What the miner knows: what it saw, and not what is there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt_examples.miner.memory import UNKNOWN, Chart
from agentrt_examples.miner.places import above, squared
from agentrt_examples.miner.rules import BLOCK_NUMBERS

LOG, STONE, AIR = BLOCK_NUMBERS["oak_log"], BLOCK_NUMBERS["stone"], BLOCK_NUMBERS["air"]


class Box:
    name = "box"
    size = (40, 40, 40)


PLACES = st.tuples(*[st.integers(1, 38)] * 3)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(PLACES, st.sampled_from([LOG, STONE, AIR])), max_size=60), PLACES, st.integers(1, 8))
def test_the_nearest_are_those_that_a_full_search_finds(notes, around, limit):
    chart = Chart(Box())
    truth = {}
    for place, number in notes:
        assert chart.note(place, number) == (truth.get(place) != number)
        truth[place] = number
    logs = sorted((squared(place, around), place) for place, number in truth.items() if number == LOG)
    assert chart.nearest("oak_log", around, limit=limit) == [place for _, place in logs[:limit]]
    near = [place for place, number in truth.items() if number == STONE]
    near = [place for place in near if all(-9 <= at - here <= 9 for at, here in zip(place, around, strict=True))]
    near.sort(key=lambda place: (squared(place, around), place))
    assert chart.nearest("stone", around, limit=limit) == near[:limit]  # what is common is looked for nearby


def test_what_is_shunned_is_left_out_for_a_while():
    chart = Chart(Box())
    for x in (5, 9):
        chart.note((x, 5, 5), LOG)
    chart.shun((5, 5, 5), 100)
    assert [chart.nearest("oak_log", (4, 5, 5), tick=tick)[0][0] for tick in (0, 99, 100)] == [9, 9, 5]


def test_parcels_are_explored_from_near_to_far():
    chart = Chart(Box())
    seen = []
    here = (8, 5, 8)
    for _ in range(9):
        column = chart.unexplored(here)
        seen.append(column)
        here = (column[0], 5, column[1])
        chart.explore(*column)
    assert seen == [(8, 8), (8, 24), (8, 40), (24, 40), (24, 24), (24, 8), (40, 8), (40, 24), (40, 40)]
    assert chart.unexplored(here) is None


# --- looking ------------------------------------------------------------------------------------------------------


def names(flat, *places):
    chart = flat.miner.chart
    return ["?" if chart.at(place) == UNKNOWN else flat.miner.dimension.name_at(place) for place in places]


@pytest.mark.states(
    "003: The miner: The agent knows what it has seen and nothing else; what is hidden is found out on the way",
    source="2.1. Hierarchy",
)
def test_it_sees_the_surface_and_not_what_is_below(flat):
    flat.put("diamond_ore", flat.beside(x=2, y=-1), flat.beside(x=4, y=-2), flat.beside(x=13, y=-1))
    assert flat.miner.known("diamond_ore", 9) == [flat.beside(x=2, y=-1)]
    assert names(flat, flat.beside(y=-1), flat.beside(y=-2), flat.beside(x=12, y=-1), flat.beside(x=13, y=-1)) == [
        "grass",
        "?",
        "grass",
        "?",
    ]


@pytest.mark.states("003: The miner: The agent knows what it has seen and nothing else; what is hidden is found ...")
def test_it_does_not_see_through_walls_but_round_corners(flat):
    for side in (-1, 0, 1):
        flat.put("stone", *(flat.beside(x=3, y=height, z=side) for height in range(4)))
    hidden = flat.beside(x=4)
    closed = [flat.beside(x=8 + x, y=y, z=z) for x in (-1, 0, 1) for y in (0, 1, 2) for z in (-1, 0, 1)]
    flat.put("stone", *(place for place in closed if place != flat.beside(x=8, y=1)))
    flat.put("oak_log", hidden)
    flat.put("coal_ore", flat.beside(x=8, y=1))  # in the middle of a closed box
    assert flat.miner.known("oak_log") == [hidden]
    assert flat.miner.known("coal_ore") == []


@pytest.mark.states(
    "003: The miner: Whether the agent sees through rock is a matter of how it is set up",
    source="2.3. Global Parameters",
)
def test_with_xray_it_sees_all_that_is_near(make_flat):
    game = make_flat(xray=True)
    game.put("diamond_ore", game.beside(x=4, y=-5), game.beside(x=4, y=-10), game.beside(x=13, y=-5))
    assert game.miner.known("diamond_ore", 9) == [game.beside(x=4, y=-5)]


def test_digging_shows_what_was_behind_and_hollows_are_looked_into(flat):
    miner = flat.miner
    flat.put("coal_ore", flat.beside(x=1, y=-2))
    for x in range(2, 8):
        flat.put("air", flat.beside(x=x, y=-3), flat.beside(x=x, y=-4))
    flat.put("iron_ore", flat.beside(x=8, y=-3))
    seen = []
    miner.signal("seen").connect(lambda kind: seen.append((flat.runtime.tick, kind)))
    flat.do(lambda: miner.dig(flat.beside(x=1, y=-1)), lambda: miner.dig(flat.beside(x=1, y=-2)))
    assert seen == [(15, "coal_ore")]
    hole, behind = flat.beside(x=1, y=-2), flat.beside(x=2, y=-2)
    flat.do(lambda: miner.go(hole), lambda: miner.dig(behind))
    assert seen[1:] == [(465, "iron_ore")]


def test_what_is_gone_is_known_only_when_it_is_seen(flat):
    log = flat.beside(x=2)
    flat.put("oak_log", log)
    flat.world.put(flat.miner.dimension, log, "air")
    assert flat.miner.known("oak_log") == [log]
    flat.miner.look()
    assert flat.miner.known("oak_log") == []


def test_animals_are_remembered_where_they_were_seen(flat):
    miner = flat.miner
    open_, hidden = flat.beside(x=5), flat.beside(x=-5)
    flat.put("stone", *(above(flat.beside(x=-3, z=z), height) for z in (-1, 0, 1) for height in (0, 1, 2)))
    cow, _pig = (
        flat.world.fauna.add(kind, miner.dimension, place) for kind, place in (("cow", open_), ("pig", hidden))
    )
    miner.look()
    assert miner.creatures == {cow: open_}
    flat.world.fauna.remove(cow)
    miner.look()
    assert miner.creatures == {}


@pytest.mark.parametrize(("x", "is_seen"), [(12, True), (13, False)])
def test_sight_ends_somewhere(flat, x, is_seen):
    flat.put("oak_log", flat.beside(x=x))
    assert bool(flat.miner.known("oak_log")) is is_seen
