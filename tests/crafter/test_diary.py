"""What the player believes to have achieved, against what the game has counted."""

from __future__ import annotations

import random

import pytest
from modules import load

pytest.importorskip("crafter")

from examples.crafter.eyes import Eyes
from examples.crafter.player import Player
from examples.crafter.rules import ACHIEVEMENTS, ACTIONS, RULES

scenes = load("tests/crafter/scenes.py")
Scene = scenes.Scene

CERTAIN = {name for name in ACHIEVEMENTS if name.startswith(("collect_", "make_", "place_"))} | {"wake_up", "eat_plant"}
YARD = """
    TTT~~~###
    T.C.c.C.#
    t.Z...P.i
    f..S@..C.
    #.P..Z..d
    #.C...S.#
    ##,,,_###
"""


def play(scene, *actions):
    for action in actions:
        scene.step(action)
    return set(scene.player.diary.achieved)


# --- one after the other ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["T", "#", "c", "i", "d", "~"])
def test_what_is_collected(mark):
    with Scene(f"{mark}@", {"wood_pickaxe": 1, "stone_pickaxe": 1, "iron_pickaxe": 1}) as scene:
        assert play(scene, "move_left") == set()
        done = play(scene, "do")
        assert done == scene.achieved
        assert len(done) == 1


def test_without_the_tool_nothing_is_collected():
    with Scene("#@") as scene:
        assert play(scene, "move_left", "do") == set() == scene.achieved


def test_a_sapling_takes_a_few_tries():
    with Scene(".@", beyond="grass") as scene:
        for _ in range(60):
            assert play(scene, "do") == scene.achieved
        assert scene.achieved == {"collect_sapling"}


def test_who_is_not_thirsty_drinks_too():
    with Scene("~@") as scene:
        assert scene.player.inventory["drink"] == 9
        assert play(scene, "move_left", "do") == {"collect_drink"} == scene.achieved


@pytest.mark.parametrize("thing", RULES["place"])
def test_what_is_placed(thing):
    with Scene(".@.", {"sapling": 1, "stone": 4, "wood": 2}) as scene:
        scene.step("move_right")
        scene.step("move_left")
        done = play(scene, f"place_{thing}")
        assert done == scene.achieved == {f"place_{thing}"}


def test_what_cannot_be_placed_is_not():
    with Scene("#@", {"sapling": 1, "stone": 1}) as scene:
        assert play(scene, "move_left", "place_plant", "place_stone", "place_table") == set() == scene.achieved


@pytest.mark.parametrize("thing", RULES["make"])
def test_what_is_made(thing):
    with Scene("t#\nf@", {"wood": 1, "stone": 1, "coal": 1, "iron": 1}) as scene:
        done = play(scene, f"make_{thing}")
        assert done == scene.achieved == {f"make_{thing}"}
    with Scene("..\n.@", {"wood": 1, "stone": 1, "coal": 1, "iron": 1}) as scene:
        assert play(scene, f"make_{thing}") == set() == scene.achieved


@pytest.mark.parametrize("food", [9, 3])
def test_a_cow_is_eaten_hungry_or_not(food):
    with Scene("C@") as scene:
        cow = scene.garden.creatures[0]
        cow.update = lambda: cow.health <= 0 and cow.world.remove(cow)
        scene.body.inventory["food"] = food
        assert play(scene, "move_left", "do", "do") == set()
        assert play(scene, "do") == {"eat_cow"} == scene.achieved


@pytest.mark.parametrize(("mark", "blows"), [("Z", 5), ("S", 3)])
def test_enemies_are_defeated(mark, blows):
    with Scene(f"{mark}@") as scene:
        enemy = scene.garden.creatures[0]
        enemy.update = lambda: enemy.health <= 0 and enemy.world.remove(enemy)
        done = play(scene, "move_left", *["do"] * (blows - 1))
        assert done == set() == scene.achieved
        assert play(scene, "do") == {f"defeat_{scenes.CREATURES[mark][0].__name__.lower()}"} == scene.achieved


def test_an_enemy_is_followed_with_the_eyes_between_blows():
    with Scene("...\nZ@.\n...", steps=9) as scene:
        enemy = scene.garden.creatures[0]
        enemy.update = lambda: enemy.health <= 0 and enemy.world.remove(enemy)
        play(scene, "move_left", "do", "do")
        for _ in range(2):
            enemy.move((0, 1))
            play(scene, "noop")
            enemy.move((0, -1))
            play(scene, "noop")
        assert play(scene, "do", "do") == set() == scene.achieved
        assert play(scene, "do") == {"defeat_zombie"} == scene.achieved
        assert scene.player.step % 10 == 0  # so that it could have vanished by itself: it was counted


def test_a_zombie_that_vanishes_was_not_defeated():
    """In each tenth step the game may take one away."""
    with Scene("Z@", steps=15) as scene:
        enemy = scene.garden.creatures[0]
        enemy.update = lambda: scene.game._step == 20 and enemy.world.remove(enemy)
        play(scene, "move_left", "do", "do")
        assert play(scene, "do") == set() == scene.achieved
        assert not scene.player.atlas.creatures


def test_one_that_walks_away_was_not_defeated():
    with Scene("....Z@") as scene:
        enemy = scene.garden.creatures[0]
        play(scene, "move_left", "do")
        for _ in range(3):
            enemy.move((-1, 0))
            assert play(scene, "do") == set() == scene.achieved


def test_an_arrow_that_is_struck_is_no_victory():
    with Scene("_____\nZ@___\n_____") as scene:
        enemy = scene.garden.creatures[0]
        play(scene, "move_left", "do")
        arrow = scenes.objects.Arrow(scene.game._world, scene.true(scene["@"]) + scenes.np.array((1, 0)), (0, 1))
        arrow.update = lambda: None
        scene.game._world.add(arrow)
        play(scene, "noop", "move_right")
        enemy.world.remove(enemy)
        assert play(scene, "do", "do") == set() == scene.achieved


@pytest.mark.parametrize("food", [9, 3])
def test_a_sapling_is_eaten_when_it_is_ripe(food):
    """It counts what it has planted itself; so it knows without being hungry."""
    ripe = RULES["ripe_after"]
    with Scene(".@.", {"sapling": 1}, alive=True) as scene:
        play(scene, "move_right", "move_left", "place_plant")
        [plant] = scene.player.atlas.plants
        assert play(scene, "do") == {"place_plant"}
        scene.player.atlas.plants[plant] += ripe - 1
        scene.game._world[scene.true(plant)][1].grown += ripe - 1
        assert play(scene, "do") == {"place_plant"} == scene.achieved
        scene.body.inventory["food"] = food
        scene.step("noop")
        assert play(scene, "do") == {"place_plant", "eat_plant"} == scene.achieved
        grown = scene.game._world[scene.true(plant)][1].grown
        assert scene.player.atlas.plants[plant] == grown == 1
        scene.step("do")
        assert scene.player.atlas.plants[plant] == scene.game._world[scene.true(plant)][1].grown == 2


def test_who_sleeps_until_energy_is_back_wakes_up():
    with Scene("@.", steps=60) as scene:
        scene.body.inventory["energy"] = 8
        scene.step("sleep")
        assert scene.player.is_asleep
        for _ in range(40):
            if not scene.player.is_asleep:
                break
            assert play(scene, "noop") == scene.achieved
        assert play(scene, "noop") == {"wake_up"} == scene.achieved


def test_who_is_woken_by_a_blow_has_not_slept_enough():
    with Scene("@.", steps=60) as scene:
        scene.body.inventory["energy"] = 5
        scene.step("sleep")
        scene.body.inventory["health"] = 4
        assert play(scene, "noop") == set() == scene.achieved
        assert not scene.player.is_asleep


def test_in_the_step_in_which_it_wakes_it_acts():
    """It has all its energy again, so the game lets it wake and do what it means to do, at once."""
    with Scene("T@.", steps=60) as scene:
        scene.step("move_left")
        scene.body.inventory["energy"] = 8
        scene.step("sleep")
        while scene.player.inventory["energy"] < 9:
            scene.step("noop")
        assert scene.player.is_asleep
        assert play(scene, "do") == {"wake_up", "collect_wood"} == scene.achieved
        scene.body.inventory["energy"] = 8
        scene.step("sleep")
        while scene.player.inventory["energy"] < 9:
            scene.step("move_up")
        assert scene.player.facing == tuple(scene.body.facing) == (-1, 0)
        scene.step("move_right")
        assert scene.player.facing == tuple(scene.body.facing) == (1, 0)
        assert scene.player.place == scene.place == (scenes.START[0] + 1, scenes.START[1])


# --- all of them ------------------------------------------------------------------------------------------------------


def likely(dice):
    return dice.choice(["do"] * 9 + list(ACTIONS[1:5]) * 3 + list(ACTIONS))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_life_at_random_in_a_yard_of_everything(seed):
    """Whatever is done, it is right about what it collected, placed and made, and never claims what it has not."""
    dice = random.Random(f"yard {seed}")
    items = dict.fromkeys(("wood", "stone", "coal", "iron", "sapling", "wood_pickaxe", "stone_pickaxe"), 2)
    with Scene(YARD, items, alive=True, beyond="grass", seed=seed, steps=100) as scene:
        for plant in scene.garden.creatures:
            if isinstance(plant, scenes.objects.Plant):
                plant.grown = 0
        for _ in range(220):
            scene.step(likely(dice))
            scene.body.inventory["health"] = scene.body._last_health = 9
            believed = set(scene.player.diary.achieved)
            assert believed <= scene.achieved, (scene.player.step, believed - scene.achieved)
            assert scene.achieved & CERTAIN <= believed, (scene.player.step, scene.achieved - believed)
            assert scene.player.facing == tuple(scene.body.facing)
            assert scene.player.place == scene.place
        assert len(believed) >= 8


def test_a_real_episode():
    """Not all of its moments are seen: what it did and saw is written down without a runtime."""
    moments, _game = scenes.wander()
    player, looking = Player(), Eyes()
    for moment in moments:
        player.perceive(looking.see(moment.picture, moment.info), moment.action)
        counted = {name for name, count in moment.info["achievements"].items() if count}
        assert set(player.diary.achieved) <= counted
        assert counted & CERTAIN <= set(player.diary.achieved)
    assert {"collect_wood", "collect_sapling", "wake_up"} <= set(player.diary.achieved)
    assert player.diary.open == [name for name in ACHIEVEMENTS if name not in player.diary.achieved]
