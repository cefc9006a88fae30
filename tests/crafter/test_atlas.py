"""The map in the player's head: what is written down, what is forgotten, how far things are, and where the player is."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load

pytest.importorskip("crafter")

from examples.crafter import atlas as atlas_module
from examples.crafter import sites
from examples.crafter.atlas import Atlas
from examples.crafter.eyes import VIEW, Eyes, Sight
from examples.crafter.player import Player
from examples.crafter.reach import FAR, START
from examples.crafter.rules import (
    ARROW,
    COW,
    EDGE,
    HIDDEN,
    MATERIALS,
    PLANT,
    PLAYER,
    RULES,
    SIDES,
    SKELETON,
    UNKNOWN,
    WALKABLE,
    ZOMBIE,
)

scenes = load("tests/crafter/scenes.py")

NUMBERS = {
    **{mark: MATERIALS[name] for mark, name in scenes.MARKS.items()},
    "C": COW, "Z": ZOMBIE, "S": SKELETON, "A": ARROW, "P": PLANT, "@": PLAYER, "?": HIDDEN, "!": EDGE,
}  # fmt: skip
NONE = " "  # of the cells that a test does not care for
NEAR = range(START[0] - 5, START[0] + 6)
PICKAXES = {"wood_pickaxe": 1, "stone_pickaxe": 1, "iron_pickaxe": 1}


class Map:
    """An atlas, and looks at worlds that are drawn around the player: ``@`` in the middle, grass all around."""

    def __init__(self):
        self.atlas = Atlas()
        self.step = 0
        self.place = START

    def look(self, text="@", moved=(0, 0)):
        """Look at what is drawn; whatever is not drawn is grass. One step."""
        self.step += 1
        self.place = (self.place[0] + moved[0], self.place[1] + moved[1])
        rows = text.split()
        [(x, y)] = [(x, y) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "@"]
        cells = np.full(VIEW, MATERIALS["grass"], np.uint8)
        for j, row in enumerate(rows):
            for i, mark in enumerate(row):
                cells[4 + i - x, 3 + j - y] = NUMBERS[mark]
        self.atlas.note(Sight(self.step, cells, moved, False, {}), self.place)
        return self.atlas

    def at(self, x, y):
        """A cell so far from where it began."""
        return START[0] + x, START[1] + y


@pytest.fixture
def map_():
    return Map()


# --- ground -----------------------------------------------------------------------------------------------------------


def test_nothing_is_known_but_the_grass_below_its_feet(map_):
    ground = map_.atlas.ground
    assert ground[START] == MATERIALS["grass"]
    assert (ground[8:-8, 8:-8] == UNKNOWN).sum() == 64 * 64 - 1
    assert (ground == EDGE).sum() == 80 * 80 - 64 * 64
    assert START == (40, 40)


def test_what_was_seen_stays(map_):
    map_.look("T..@..~")
    map_.look("@", (9, 0))
    ground = map_.atlas.ground
    assert [ground[map_.at(-3, 0)], ground[map_.at(3, 0)], ground[map_.at(0, 3)]] == [6, 1, 2]
    assert ground[map_.at(-5, 0)] == UNKNOWN
    assert (ground[8:-8, 8:-8] != UNKNOWN).sum() == 2 * 63 - 1  # where it stands now is not seen


def test_what_was_seen_is_seen_again_otherwise(map_):
    map_.look("t@")
    assert map_.atlas.is_there(map_.at(-1, 0), "table")
    map_.look("_@")
    assert not map_.atlas.is_there(map_.at(-1, 0), "table")
    assert map_.atlas.is_there(map_.at(-1, 0), "path")


def test_the_dark_hides_nothing_that_is_known(map_):
    map_.look("d..@")
    map_.look("?..@..?")
    assert map_.atlas.is_there(map_.at(-3, 0), "diamond")
    assert map_.atlas.knows("diamond")
    map_.look("????@????", (0, 7))
    assert map_.atlas.ground[map_.at(-4, 7)] == UNKNOWN


def test_the_version_tells_of_changes(map_):
    versions = [map_.look(text).version for text in ("@", "@", "@T", "@T", "@TC", "@T?", "@..")]
    assert versions == [1, 1, 2, 2, 2, 2, 3]


@pytest.mark.parametrize(("mark", "ground"), [("C", "grass"), ("Z", "grass"), ("P", "grass"), ("S", "path")])
def test_who_stands_on_the_unknown_stands_on_the_usual(map_, mark, ground):
    map_.look(f"{mark}..@")
    assert map_.atlas.is_there(map_.at(-3, 0), ground)


def test_who_stands_on_the_known_hides_it_and_no_more(map_):
    map_.look(",..@")
    map_.look("C..@")
    assert map_.atlas.is_there(map_.at(-3, 0), "sand")


def test_an_arrow_flies_over_anything(map_):
    map_.look("A..@")
    assert map_.atlas.ground[map_.at(-3, 0)] == UNKNOWN
    assert map_.atlas.creatures == {map_.at(-3, 0): ARROW}


def test_it_knows_when_it_looked(map_):
    map_.look("@")
    map_.look("@", (9, 0))
    for _ in range(3):
        map_.look("@")
    looked = map_.atlas.looked
    assert [looked[map_.at(0, 0)], looked[map_.at(9, 0)], looked[map_.at(30, 0)]] == [1, 5, 0]


def test_what_was_not_looked_at_for_long_is_neglected(map_):
    """Ground that was seen long ago, and is not far."""
    map_.look("@")
    map_.look("@", (7, 0))
    map_.step = 100
    map_.look("@", (7, 0))
    found = sites.neglected(map_.atlas, "grass", map_.atlas.reach(map_.place, {}))
    assert map_.atlas.looked[found] == 2
    assert found == map_.at(9, 0)  # the nearest of what was not seen since
    assert sites.neglected(map_.atlas, "sand", map_.atlas.reach(map_.place, {})) is None


@pytest.mark.parametrize(("text", "site"), [("###.\n@..#\n.###", (2, 0)), ("~@~\n~.~", (0, 1))])
def test_a_sapling_is_planted_where_little_is_open_around(map_, text, site):
    """Not below its own feet, and not where all sides are open."""
    map_.look(text)
    found = sites.planting_site(map_.atlas, map_.atlas.reach(START, {}))
    assert found == map_.at(*site)


# --- creatures --------------------------------------------------------------------------------------------------------


def test_creatures_are_those_in_view(map_):
    assert map_.look("C.@.Z").creatures == {map_.at(-2, 0): COW, map_.at(2, 0): ZOMBIE}
    assert map_.look(".C@.Z").creatures == {map_.at(-1, 0): COW, map_.at(2, 0): ZOMBIE}
    assert map_.look("..@.?").creatures == {}


def test_the_same_view_from_another_place_is_another_one(map_):
    map_.look("C.@")
    assert map_.look("C.@", (1, 0)).creatures == {map_.at(-1, 0): COW}


def test_cows_are_remembered_where_they_were(map_):
    map_.look("C..@")
    map_.look("@", (9, 0))
    assert map_.atlas.herd == {map_.at(-3, 0): 1}
    map_.step = atlas_module._HERD - 1
    map_.look("@C")
    map_.look("C@")
    assert map_.at(-3, 0) in map_.atlas.herd
    map_.look("@C")
    assert map_.at(-3, 0) not in map_.atlas.herd


def test_a_cow_that_has_gone_is_looked_for_no_more(map_):
    map_.look("C..@")
    map_.look(".C.@")
    assert map_.atlas.herd == {map_.at(-2, 0): 2}
    map_.look("...@")
    assert map_.atlas.herd == {}


def test_a_cow_in_the_dark_may_still_be_there(map_):
    map_.look("C...@")
    map_.look("?...@")
    assert map_.atlas.herd == {map_.at(-4, 0): 1}
    assert map_.atlas.creatures == {}


def test_it_sees_which_way_an_arrow_flies(map_):
    map_.look("..A@..")
    assert map_.atlas.flies(map_.at(-1, 0)) is None
    map_.look(".A.@..")
    assert map_.atlas.flies(map_.at(-2, 0)) == (-1, 0)
    map_.look("..A@..")
    assert map_.atlas.flies(map_.at(-1, 0)) == (1, 0)


@pytest.mark.parametrize(
    ("before", "now", "comes"),
    [
        ("A...@", ".A..@", True),
        (".A..@", "A...@", False),
        ("....@", "A...@", True),  # it may
        ("...@.\n...A.\n.....", "...@.\n.....\n...A.", False),
        ("...@.\n.....\n...A.", "...@.\n...A.\n.....", True),
        ("..A@.\n.....", "...@.\n..A..", False),
        ("C..@", ".C.@", False),
    ],
)
def test_it_knows_when_it_is_under_fire(map_, before, now, comes):
    map_.look(before)
    map_.look(now)
    assert (map_.atlas.under_fire(START, 4) is not None) == comes
    assert map_.atlas.under_fire(START, 0) is None


# --- saplings ---------------------------------------------------------------------------------------------------------


def test_saplings_grow_while_one_is_near(map_):
    map_.look("P@")
    plant = map_.at(-1, 0)
    assert map_.atlas.plants == {plant: 0}
    for _ in range(5):
        map_.look("P@")
    assert map_.atlas.plants == {plant: 5}
    map_.look("@", (RULES["lives_within"] - 2, 0))
    assert map_.atlas.plants == {plant: 6}
    map_.look("@", (1, 0))
    assert map_.atlas.plants == {plant: 6}
    map_.look("@", (-1, 0))
    assert map_.atlas.plants == {plant: 7}


def test_a_sapling_that_was_eaten_is_gone_and_the_way_is_free(map_):
    map_.look("###\nP@.\n###")
    version = map_.atlas.version
    assert not map_.atlas.can_walk(map_.at(-1, 0))
    assert map_.atlas.reach(START, {}).steps[map_.at(-1, 0)] == FAR
    map_.look("###\n.@.\n###")
    assert map_.atlas.plants == {}
    assert map_.atlas.version > version
    assert map_.atlas.can_walk(map_.at(-1, 0))
    assert map_.atlas.reach(START, {}).steps[map_.at(-1, 0)] == 1


def test_a_sapling_out_of_sight_is_still_there(map_):
    map_.look("P..@")
    map_.look("?..@")
    map_.look("@", (20, 0))
    assert list(map_.atlas.plants) == [map_.at(-3, 0)]


def test_saplings_grow_as_in_the_game():
    """Planted by its own hand, left and come back to: the count is exact."""
    with scenes.Scene("." * 30 + "@..", {"sapling": 1}, alive=True, beyond="grass") as scene:
        for action in ["place_plant", *["move_left"] * 25, *["noop"] * 9, *["move_right"] * 25]:
            scene.step(action)
            [(plant, grown)] = scene.player.atlas.plants.items()
            assert scene.game._world[scene.true(plant)][1].grown == grown
        assert 20 < grown < 50


# --- how far ----------------------------------------------------------------------------------------------------------


def distances(costs, place):
    """Breadth first, with weights, straight down: for comparing."""
    far = {place: 0}
    todo = [(0, place)]
    while todo:
        steps, (x, y) = heapq.heappop(todo)
        for i, j in SIDES:
            cell = (x + i, y + j)
            if not (0 <= cell[0] < costs.shape[0] and 0 <= cell[1] < costs.shape[1]) or not costs[cell]:
                continue
            if steps + int(costs[cell]) < far.get(cell, FAR):
                far[cell] = steps + int(costs[cell])
                heapq.heappush(todo, (far[cell], cell))
    return far


@st.composite
def maps(draw):
    """An atlas with a random part in its middle, what is carried, and where one stands."""
    atlas = Atlas()
    marks = draw(st.text("..,_#cidT~Lt ", min_size=64, max_size=64))
    for number, mark in enumerate(marks):
        cell = (START[0] - 4 + number // 8, START[1] - 4 + number % 8)
        atlas.ground[cell] = UNKNOWN if mark == NONE else NUMBERS[mark]
    places = st.tuples(st.integers(START[0] - 4, START[0] + 3), st.integers(START[1] - 4, START[1] + 3))
    kinds = st.sampled_from([COW, ZOMBIE, SKELETON, ARROW])
    atlas.creatures = draw(st.dictionaries(places, kinds, max_size=5))
    atlas.plants = dict.fromkeys(draw(st.lists(places, max_size=3)), 0)
    items = draw(st.sampled_from([{}, {"wood_pickaxe": 1}, {"wood_pickaxe": 1, "stone_pickaxe": 2}, PICKAXES]))
    return atlas, items, draw(places)


def is_passable(atlas, items, cell):
    """Whether somebody with these tools gets through, as the rules of the game say; whoever stands there will leave."""
    ground = atlas.ground[cell]
    tools = {"stone": "wood_pickaxe", "coal": "wood_pickaxe", "iron": "stone_pickaxe", "diamond": "iron_pickaxe"}
    name = next((name for name, number in MATERIALS.items() if number == ground), None)
    return cell not in atlas.kept() and bool(WALKABLE[ground] or name == "tree" or items.get(tools.get(name)))


@pytest.mark.slow
@settings(max_examples=40)
@given(maps())
def test_what_can_be_passed_costs_something(drawn):
    """A step where one can walk, more where one has to dig or somebody is about; what cannot be passed has no cost."""
    atlas, items, _ = drawn
    costs = atlas.costs(items)
    for cell in ((x, y) for x in NEAR for y in NEAR):
        assert (costs[cell] > 0) == is_passable(atlas, items, cell)
        if costs[cell] and (not WALKABLE[atlas.ground[cell]] or cell in atlas.creatures):
            assert costs[cell] > 1
    assert costs.sum() == costs[START[0] - 5 : START[0] + 6, START[1] - 5 : START[1] + 6].sum()
    atlas.creatures = {}
    costs = atlas.costs(items)
    assert {int(costs[x, y]) for x, y in np.argwhere(WALKABLE[atlas.ground]) if (x, y) not in atlas.plants} <= {1}


@pytest.mark.slow
@settings(max_examples=40)
@given(maps())
def test_distances_are_those_of_a_plain_search(drawn):
    atlas, items, place = drawn
    reach = atlas.reach(place, items)
    far = distances(atlas.costs(items), place)
    assert {tuple(cell): int(reach.steps[tuple(cell)]) for cell in np.argwhere(reach.steps < FAR).tolist()} == far
    for x, y in ((x, y) for x in NEAR for y in NEAR):
        assert reach.beside[x, y] == min(far.get((x + i, y + j), FAR) for i, j in SIDES)


@pytest.mark.slow
@settings(max_examples=40)
@given(maps())
def test_ways_lead_there_step_by_step_and_are_as_long_as_it_is_far(drawn):
    atlas, items, place = drawn
    reach, costs = atlas.reach(place, items), atlas.costs(items)
    for cell in map(tuple, np.argwhere(reach.steps < FAR).tolist()):
        way = reach.way(cell)
        assert [place, *way][-1] == cell
        assert len({place, *way}) == len(way) + 1
        for before, after in zip([place, *way], way, strict=False):
            assert (after[0] - before[0], after[1] - before[1]) in SIDES
            assert not {int(atlas.ground[after])} & {UNKNOWN, EDGE, MATERIALS["lava"], MATERIALS["water"]}
        assert sum(int(costs[one]) for one in way) == reach.steps[cell]


@pytest.mark.slow
@settings(max_examples=40)
@given(maps(), st.sampled_from(sorted(MATERIALS)))
def test_the_nearest_is_the_nearest(drawn, material):
    atlas, items, place = drawn
    reach = atlas.reach(place, items)
    cells = [tuple(cell) for cell in np.argwhere(atlas.ground == MATERIALS[material]).tolist()]
    found = atlas.nearest(reach, material)
    known = {cell: int(reach.beside[cell]) for cell in cells if reach.beside[cell] < FAR and cell not in atlas.kept()}
    assert atlas.knows(material) == bool(cells)
    assert atlas.count(material) == len(cells)
    if found is None:
        assert not known
    else:
        assert found[1] == known[found[0]] == min(known.values())
        assert found[0] == min(cell for cell, steps in known.items() if steps == found[1])


@pytest.mark.slow
@settings(max_examples=40)
@given(maps(), st.sampled_from([("table",), ("table", "coal"), ("stone", "iron", "tree")]))
def test_beside_all_is_the_nearest_place_beside_all_of_them(drawn, materials):
    atlas, items, place = drawn
    reach = atlas.reach(place, items)

    def is_beside(cell):
        x, y = cell
        near = atlas.ground[x - 1 : x + 2, y - 1 : y + 2]
        return all((near == MATERIALS[material]).any() for material in materials)

    good = {tuple(cell) for cell in np.argwhere(reach.steps < FAR).tolist() if is_beside(cell)}
    found = atlas.beside_all(reach, materials)
    if found is None:
        assert not good
    else:
        assert found[0] in good
        assert found[1] == min(int(reach.steps[cell]) for cell in good) == reach.steps[found[0]]


@pytest.mark.slow
@settings(max_examples=40)
@given(maps(), st.sampled_from([(), ("tree",), ("iron", "path")]))
def test_the_frontier_is_known_and_can_be_reached_and_lies_beside_the_unknown(drawn, likes):
    atlas, items, place = drawn
    reach = atlas.reach(place, items)
    good = [
        (x, y)
        for x, y in np.argwhere((atlas.ground != UNKNOWN) & (reach.steps < FAR)).tolist()
        if any(atlas.ground[x + i, y + j] == UNKNOWN for i, j in SIDES)
    ]
    found = sites.frontier(atlas, reach, likes)
    if found is None:
        assert not good
    else:
        assert found[0] in good
        assert found[1] == reach.steps[found[0]]
        assert not sites.is_seen_around(atlas, found[0])


@pytest.mark.slow
@settings(max_examples=40)
@given(maps(), st.integers(0, 9))
def test_cells_and_those_around(drawn, within):
    atlas, items, place = drawn
    reach = atlas.reach(place, items)
    for x, y in atlas.cells("grass", reach, within):
        assert 0 < reach.steps[x, y] <= within
        assert atlas.ground[x, y] == MATERIALS["grass"]
    around = atlas.around(START, reach, within % 5)
    assert [int(reach.steps[cell]) for cell in around] == sorted(int(reach.steps[cell]) for cell in around)
    assert set(around) == {
        tuple(cell)
        for cell in np.argwhere(reach.steps < FAR).tolist()
        if abs(cell[0] - START[0]) + abs(cell[1] - START[1]) <= within % 5
    }


def test_what_protects_a_sapling_is_not_dug_away(map_):
    """Nor is it the nearest stone or tree to fetch."""
    map_.look(".#.T.\n@PT..\n.#...\n.....")
    reach = map_.atlas.reach(START, {"wood_pickaxe": 1})
    for cell in (map_.at(1, -1), map_.at(2, 0), map_.at(1, 1), map_.at(1, 0)):
        assert cell in map_.atlas.kept()
        assert reach.steps[cell] == FAR
    assert map_.atlas.nearest(reach, "stone") is None
    assert map_.atlas.nearest(reach, "tree")[0] == map_.at(3, -1)


def test_each_pickaxe_opens_more(map_):
    map_.look("..#c\n@~id\n~~~~")
    cells = {
        name: next(map(tuple, np.argwhere(map_.atlas.ground == MATERIALS[name]).tolist()))
        for name in ("coal", "diamond")
    }
    far = []
    for items in ({}, {"wood_pickaxe": 1}, {"stone_pickaxe": 1}, PICKAXES):
        reach = map_.atlas.reach(map_.place, items)
        far.append((int(reach.steps[cells["coal"]]) < FAR, int(reach.steps[cells["diamond"]]) < FAR))
    assert far == [(False, False), (True, False), (True, False), (True, True)]


def test_a_reach_is_computed_once_for_a_state_of_the_map(map_):
    map_.look("C.@.T")
    first = map_.atlas.reach(START, {})
    assert map_.atlas.reach(START, {"sapling": 1}) is first
    for text in ("C.@..", ".C@..", ".Z@.."):
        map_.look(text)
        assert map_.atlas.reach(START, {}) is not first
        first = map_.atlas.reach(START, {})
    assert map_.atlas.reach(START, {"wood_pickaxe": 1}) is not first
    assert map_.atlas.reach(map_.at(1, 0), {}) is not first


def test_it_is_drawn_to_what_it_likes(map_):
    """Of two ends of the known, as far away and with as much unknown behind, the one near trees."""
    map_.look("....@....")
    places = []
    for text in ("T.......@", "@.......T"):
        other = Map()
        other.look(text.replace("@", ".")[:4] + "@" + text.replace("@", ".")[5:])
        reach = other.atlas.reach(START, {})
        places.append(sites.frontier(other.atlas, reach, ("tree",))[0])
    assert places[0][0] < START[0] < places[1][0]


# --- where the player is ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_knows_where_it_is_in_a_real_episode():
    """By night and in its sleep, too: it counts how the picture scrolls, and the game says the same."""
    moments, _ = scenes.wander()
    player, looking = Player(), Eyes()
    for moment in moments:
        player.perceive(looking.see(moment.picture, moment.info), moment.action)
        x, y = moment.info["player_pos"]
        assert player.place == (START[0] + x - 32, START[1] + y - 32)
        assert player.facing == moment.facing
        assert player.is_asleep == moment.sleeping
    assert player.place != START


@pytest.mark.untraced
def test_it_never_believes_what_is_wrong():
    """Each cell of the map of a real episode is what it was when it was seen last, or still unknown."""
    moments, _ = scenes.wander()
    player, looking = Player(), Eyes()
    for moment in moments:
        player.perceive(looking.see(moment.picture, moment.info), moment.action)
    known = player.atlas.ground[8:-8, 8:-8]
    assert ((known == moments[-1].ground) | (known == UNKNOWN)).all()
    assert 300 < (known != UNKNOWN).sum() < 64 * 64


def test_the_first_move_counts():
    with scenes.Scene("...@...") as scene:
        player, looking = Player(), Eyes()
        picture, _, _, info = scene.game.step(1)
        player.perceive(looking.see(picture, info), "move_left")
        assert player.place == (START[0] - 1, START[1])
