"""Shelters: wherever one is found it can be closed, and then nobody gets in, as the game sees it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load

pytest.importorskip("crafter")

from examples.crafter import shelter
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


@pytest.mark.slow
@settings(max_examples=60)
@given(st.text("...#.T~#", min_size=81, max_size=81), st.integers(0, 8), st.booleans())
def test_where_a_shelter_is_found_it_can_be_closed(text, stones, pickaxe):
    rows = [text[9 * y : 9 * y + 9] for y in range(9)]
    rows[4] = rows[4][:4] + "@" + rows[4][5:]
    with Scene("\n".join(rows), {"stone": stones, "wood_pickaxe": int(pickaxe)}) as scene:
        found = shelter.find(scene.player)
        if found is None:
            assert stones < 6 or not pickaxe or len(room(scene)) < 6
            return
        scene.do(shelter.close, found)
        assert len(room(scene)) <= 2
        assert shelter.is_closed(scene.player)
        assert scene.place in (found.first, found.second)


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
    [("###\n#@#\n###", True), ("###\n#@.\n###", False), ("####\n#@.#\n####", True), ("TT#\n~@#\n#~#", True), ("###\n#@P\n#.#", False)],
)
def test_it_knows_whether_it_is_closed_in(text, closed):
    with Scene(text, beyond="grass") as scene:
        assert shelter.is_closed(scene.player) == closed


def test_with_a_zombie_inside_it_is_not_closed():
    with Scene("####\n#@Z#\n####") as scene:
        assert not shelter.is_closed(scene.player)


def test_what_is_not_known_may_be_open():
    with Scene("###\n#@#\n###") as scene:
        scene.player.atlas.ground[START[0] + 1, START[1]] = 0
        assert not shelter.is_closed(scene.player)


def test_nobody_gets_at_a_sleeper_behind_six_stones():
    """A night on a meadow with zombies all around: it loses no health."""
    text = "Z.....Z\n.......\n...@...\n.......\nZ.....Z"
    with Scene(text, {"stone": 6}, beyond="grass", alive=True, seed=2, steps=150) as scene:
        for zombie in scene.garden.creatures:
            zombie.cooldown = 99  # until it is closed
        for _ in range(8):
            try:
                scene.do(shelter.close, shelter.find(scene.player))
                break
            except Exception:
                scene.step("noop")
        for zombie in scene.garden.creatures:
            zombie.cooldown = 0
        assert shelter.is_closed(scene.player)
        before = scene.body.health
        for _ in range(120):
            scene.step("sleep")
        assert scene.body.health >= before
