"""Shelters: wherever one is found it can be closed, and then nobody gets in, as the game sees it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load

pytest.importorskip("crafter")

from examples.crafter import legs, shelter
from examples.crafter.reach import START
from examples.crafter.rules import SIDES

scenes = load("tests/crafter/scenes.py")
Scene = scenes.Scene


def room(scene):
    """The cells that a creature could walk to from where the player really stands, and from which it could come."""
    seen = [scene.place]
    for x, y in seen:
        for i, j in SIDES:
            cell = (x + i, y + j)
            if cell not in seen and scene.material(cell) in ("grass", "sand", "path"):
                seen.append(cell)
        if len(seen) > 20:
            break
    return seen


def end_of_line(scene, side):
    """What stands at the end of a straight line from where the player is."""
    x, y = scene.place
    while scene.material((x := x + side[0], y := y + side[1])) in ("grass", "sand", "path"):
        pass
    return scene.material((x, y))


@pytest.mark.slow
@settings(max_examples=60)
@given(st.text("....#.T~#", min_size=81, max_size=81), st.integers(0, 8), st.booleans())
def test_a_shelter_that_was_closed_is_closed(text, stones, pickaxe):
    """In the thick of a forest one may fell what would have been a wall; such a place is left alone for a while."""
    rows = [text[9 * y : 9 * y + 9] for y in range(9)]
    rows[4] = rows[4][:4] + "@" + rows[4][5:]
    with Scene("\n".join(rows), {"stone": stones, "wood_pickaxe": int(pickaxe)}) as scene:
        found = shelter.find(scene.player)
        if found is None:
            return
        try:
            scene.do(shelter.close, found)
        except legs.CannotAct:
            other = shelter.find(scene.player)
            assert other is None or other.first != found.first
        else:
            assert len(room(scene)) == 2
            assert shelter.is_closed(scene.player)
            assert scene.place == found.first
        assert scene.player.atlas.walls == ()


def test_on_a_meadow_six_stones_are_enough():
    with Scene("@", {"stone": 6}, beyond="grass") as scene:
        scene.do(shelter.close, shelter.find(scene.player))
        assert room(scene) == [scene.place, *room(scene)[1:]]
        assert len(room(scene)) == 2
        assert scene.player.inventory["stone"] == 0
    with Scene("@", {"stone": 5}, beyond="grass") as scene:
        assert shelter.find(scene.player) is None


def test_in_rock_it_brings_its_own_stones():
    with Scene("@", {"wood_pickaxe": 1}, beyond="stone") as scene:
        scene.do(shelter.close, shelter.find(scene.player))
        assert shelter.is_closed(scene.player)
        assert len(room(scene)) == 2


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("###\n#@#\n###", True),
        ("###\n#@.\n###", False),
        ("####\n#@.#\n####", True),
        ("TT#\n~@#\n#~#", True),
        ("###\n#@P\n#.#", False),
    ],
)
def test_it_knows_whether_it_is_closed_in(text, closed):
    with Scene(text, beyond="grass") as scene:
        assert shelter.is_closed(scene.player) == closed


def test_with_a_zombie_inside_it_is_not_closed():
    with Scene("####\n#@Z#\n####") as scene:
        assert not shelter.is_closed(scene.player)


def test_what_is_not_known_may_be_open():
    with Scene("###\n#@#\n###", beyond="grass") as scene:
        assert shelter.is_closed(scene.player)
        scene.player.atlas.ground[START[0] + 1, START[1]] = 0
        assert not shelter.is_closed(scene.player)


def test_far_away_it_does_not_look():
    """A bank between waters, with rock at its end: at the edge of what is looked at, and one step farther."""
    for far, is_found in ((22, True), (23, False)):
        water = "~" * (far + 4)
        with Scene(f"{water}\n@{'.' * far}###\n{water}", {"wood_pickaxe": 1}) as scene:
            assert (shelter.find(scene.player) is not None) == is_found


def test_it_would_rather_sleep_where_its_plants_grow():
    """Two rocks, as far away; beside one of them stands a plant."""
    text = "###.........###\n###....@....###\n###.........###"
    for mark, side in ((1, 1), (-1, -1)):
        with Scene(text, {"wood_pickaxe": 1}, beyond="grass") as scene:
            scene.player.atlas.plants[START[0] + 14 * mark, START[1] + 5] = 100
            found = shelter.find(scene.player)
            assert (found.first[0] - START[0]) * side > 0


def test_who_is_hit_in_a_shelter_closes_it_to_arrows():
    """Water is a wall for whoever walks, not for arrows: on each straight line from where it stands it ends at stone."""
    with Scene("#~##\n~@.~\n#~##", {"stone": 4}) as scene:
        assert shelter.is_closed(scene.player)
        scene.do(shelter.close_to_arrows)
        ends = [end_of_line(scene, side) for side in SIDES]
        assert ends == ["stone"] * 4
        before = len(scene.did)
        scene.do(shelter.close_to_arrows)
        assert len(scene.did) == before  # there is nothing left to do


def test_without_stones_it_stays_open_to_arrows():
    with Scene("#~#\n~@#\n###") as scene:
        scene.do(shelter.close_to_arrows)
        assert scene.did == []


@pytest.mark.parametrize("seed", range(3))
def test_nobody_gets_at_a_sleeper(seed):
    """A night on a meadow with zombies all around: once it is closed in, it loses no health."""
    text = "Z.......Z\n.........\n....@....\n.........\nZ.......Z"
    with Scene(
        text, {"stone": 9, "wood_pickaxe": 1, "iron_sword": 1}, beyond="grass", alive=True, seed=seed, steps=150
    ) as scene:
        for _ in range(30):
            scene.body.inventory["health"] = scene.body._last_health = 9
            found = shelter.find(scene.player)
            try:
                assert found is not None
                scene.do(shelter.close, found)
            except (legs.CannotAct, AssertionError):
                for x, y in SIDES:  # as its reflexes would
                    enemy = (scene.player.place[0] + x, scene.player.place[1] + y)
                    if enemy in scene.player.atlas.creatures:
                        scene.do(legs.face, enemy)
                        scene.do(legs.strike, enemy, 3)
                scene.step("noop")
            if shelter.is_closed(scene.player):
                break
        assert shelter.is_closed(scene.player)
        scene.body.inventory["energy"] = 3
        before = scene.body.health
        for _ in range(100):
            scene.step("sleep")
            assert scene.body.health >= before
            before = scene.body.health
