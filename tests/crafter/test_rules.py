"""The book of rules that was written by hand, against the game that is installed: its table, its objects, its symbols."""

from __future__ import annotations

import re

import numpy as np
import pytest
from modules import load

pytest.importorskip("crafter")

import crafter
from crafter import constants, objects

from examples.crafter import rules
from examples.crafter.rules import RULES

scenes = load("tests/crafter/scenes.py")
Scene = scenes.Scene

# --- against the table ------------------------------------------------------------------------------------------------


def test_actions_and_achievements_are_those_of_the_game():
    assert list(rules.ACTIONS) == constants.actions
    assert list(rules.ACHIEVEMENTS) == constants.achievements


def test_materials_have_the_numbers_of_the_game():
    assert list(rules.MATERIALS) == constants.materials
    game = scenes.make_game()
    assert {name: game._world._mat_ids[name] for name in constants.materials} == rules.MATERIALS


def test_creatures_have_the_numbers_of_the_game():
    theirs = {kind.__name__.lower(): number for kind, number in scenes.make_game()._sem_view._obj_ids.items()}
    assert theirs == {**rules.CREATURES, "player": rules.PLAYER}


def test_our_own_numbers_are_nobody_else_s():
    theirs = {*scenes.make_game()._sem_view._obj_ids.values(), *rules.MATERIALS.values()}
    assert not {rules.UNKNOWN, rules.EDGE, rules.HIDDEN} & theirs
    assert len({rules.UNKNOWN, rules.EDGE, rules.HIDDEN}) == 3
    assert max(theirs) < rules.EDGE < 32
    assert rules.HIDDEN < 32


def test_one_walks_where_the_game_lets_one():
    assert {name for name, number in rules.MATERIALS.items() if rules.WALKABLE[number]} == set(constants.walkable)
    assert rules.WALKABLE.sum() == len(constants.walkable)


def test_what_is_collected():
    ours = {}
    for item, rule in RULES["collect"].items():
        ours[rule["from"]] = {
            "require": {rule["tool"]: 1} if rule["tool"] else {},
            "receive": {item: 1},
            "leaves": rule["leaves"],
        }
        if "tries" in rule:
            ours[rule["from"]]["probability"] = 1 / rule["tries"]
    ours["water"] = {"require": {}, "receive": {"drink": RULES["bars"]["drink"]}, "leaves": "water"}
    assert ours == constants.collect


def test_what_is_placed():
    theirs = {name: {"uses": rule["uses"], "where": rule["where"]} for name, rule in constants.place.items()}
    assert RULES["place"] == theirs


def test_what_is_made():
    theirs = {name: {"uses": rule["uses"], "beside": rule["nearby"]} for name, rule in constants.make.items()}
    assert RULES["make"] == theirs
    assert {rule["gives"] for rule in constants.make.values()} == {1}


def test_nobody_carries_more_than_nine():
    assert {rule["max"] for rule in constants.items.values()} == {RULES["bars"]["most"]}
    assert {name for name, rule in constants.items.items() if rule["initial"]} == set(rules.BARS)
    assert {constants.items[name]["initial"] for name in rules.BARS} == {RULES["bars"]["most"]}


def test_which_pickaxe_digs_what():
    theirs = {}
    for material, rule in constants.collect.items():
        for tool in rule["require"]:
            theirs.setdefault(tool, []).append(material)
    assert {tool: list(materials) for tool, materials in rules.DIGGABLE.items()} == theirs


def test_moves_turn_to_their_side():
    for side, move in rules.TURNS.items():
        with Scene("...\n.@.\n...") as scene:
            scene.step(move)
            assert tuple(scene.body.facing) == side == scene.player.facing
            assert scene.place == (scenes.START[0] + side[0], scenes.START[1] + side[1]) == scene.player.place
    assert set(rules.SIDES) == set(rules.TURNS)


# --- against what happens ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mark", "kind"), [("Z", "zombie"), ("S", "skeleton"), ("C", "cow")])
def test_what_creatures_can_bear(mark, kind):
    with Scene(f"{mark}@") as scene:
        assert scene.garden.creatures[0].health == RULES["health"][kind]


@pytest.mark.parametrize("sword", [None, "wood_sword", "stone_sword", "iron_sword"])
def test_what_a_blow_takes(sword):
    with Scene("Z@", {sword: 1} if sword else {}) as scene:
        scene.garden.creatures[0].health = 9
        scene.step("move_left")
        scene.step("do")
        taken = 9 - scene.garden.creatures[0].health
        assert taken == rules.damage(scene.player.inventory)
        assert taken == RULES["damage"].get(sword, 1)


def test_the_best_sword_counts():
    assert rules.damage({"wood_sword": 1, "iron_sword": 1, "stone_sword": 1}) == RULES["damage"]["iron_sword"]


def test_a_sapling_is_ripe_after_so_many_steps():
    with Scene("P@") as scene:
        plant = scene.garden.creatures[0]
        plant.grown = RULES["ripe_after"]
        assert not plant.ripe
        plant.grown += 1
        assert plant.ripe


@pytest.mark.parametrize(("far", "lives"), [(RULES["lives_within"] - 1, True), (RULES["lives_within"], False)])
def test_what_is_farther_away_stands_still(far, lives):
    with Scene("P" + "." * (far - 1) + "@", alive=True) as scene:
        before = scene.garden.creatures[0].grown
        scene.step("noop")
        assert scene.garden.creatures[0].grown - before == lives


@pytest.mark.parametrize("bar", ["food", "drink", "energy"])
def test_how_long_a_point_of_a_bar_lasts(bar):
    """The game counts until the number is passed."""
    with Scene("@") as scene:
        lost = []
        for step in range(2, 100):
            before = scene.body.inventory[bar]
            scene.step("noop")
            if scene.body.inventory[bar] < before:
                lost.append(step)
        assert set(np.diff([0, *lost]).tolist()) == {RULES["bars"]["every"][bar] + 1}


@pytest.mark.parametrize(("mark", "food"), [("C", RULES["bars"]["cow"]), ("P", RULES["bars"]["plant"])])
def test_what_a_meal_gives(mark, food):
    with Scene(f"{mark}@", {"iron_sword": 1}) as scene:
        scene.garden.creatures[0].grown = RULES["ripe_after"] + 1
        scene.body.inventory["food"] = 1
        scene.step("move_left")
        scene.step("do")
        assert scene.body.inventory["food"] == 1 + food


def test_the_table_of_the_game_is_never_read(root):
    """The loop and the ordered sets import the game; what the agent is made of does not."""
    importing = re.compile(r"^\s*(import|from) crafter\b", re.MULTILINE)
    modules = (root / "examples" / "crafter").rglob("*.py")
    who = {path.name for path in modules if importing.search(path.read_text(encoding="utf-8"))}
    assert {"game.py", "ordered.py"} <= who <= {"game.py", "ordered.py", "__main__.py", "film.py"}


def test_the_world_is_as_large_as_the_map_takes_it_to_be():
    assert crafter.Env(seed=1)._area == (64, 64)
    assert objects.Player(scenes.make_game()._world, (3, 3)).facing == (0, 1)
    with Scene("@") as scene:
        assert scene.player.facing == (0, 1)
