"""How urgent needs are: by their bars, by the time of day, and by what is near."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

pytest.importorskip("crafter")

from agentrt import MOVE
from examples.crafter.actions.feeding import Drink, HuntCow, LookForCows
from examples.crafter.actions.needs import urgency
from examples.crafter.actions.resting import Rest
from examples.crafter.eyes import DAY
from examples.crafter.mind import make_mind
from examples.crafter.player import Player
from examples.crafter.reflexes import make_reflexes

Scene = load("tests/crafter/scenes.py").Scene
NOON, EVENING, NIGHT, DAWN = 60, 120, 200, 275  # steps of a day


@given(st.integers(0, 8), st.integers(0, DAY - 1), st.booleans())
def test_the_lower_a_bar_the_more_urgent(level, step, is_dark):
    player = Player()
    player.step, player.is_dark = step, is_dark
    assert 0.0 <= urgency(player, level + 1) <= urgency(player, level) <= 1.0


@given(st.integers(0, 6), st.integers(0, DAY - 1))
def test_what_is_urgent_by_day_can_wait_in_the_dark(level, step):
    player = Player()
    player.step = step
    by_day = urgency(player, level)
    player.is_dark = True
    assert urgency(player, level) <= by_day


@pytest.mark.parametrize(
    ("steps", "distance", "worth"),
    [(NOON, 4, 0.12), (EVENING, 4, 0.62), (EVENING, 19, 0.62), (EVENING, 30, 0.12), (NIGHT, 2, 0.2), (DAWN, 2, 0.62)],
)
def test_it_drinks_before_it_hides_and_as_soon_as_it_sees_again(steps, distance, worth):
    with Scene("@" + "." * distance + "~", {"drink": 7}, beyond="grass", steps=steps) as scene:
        assert Drink().worth(scene.player) == pytest.approx(worth)


def test_it_drinks_at_night_what_is_beside_it():
    with Scene("###\n#@~\n###", {"drink": 7}, steps=NIGHT) as scene:
        assert Drink().worth(scene.player) == pytest.approx(0.7)


@pytest.mark.parametrize(("steps", "worth"), [(NOON, 0.25), (EVENING, 0.61), (NIGHT, 0.2)])
def test_it_eats_before_it_hides(steps, worth):
    with Scene("@..C", {"food": 6}, beyond="grass", steps=steps) as scene:
        scene.player.atlas.herd[scene["C"]] = scene.player.step  # at night it is not seen
        assert HuntCow().worth(scene.player) == pytest.approx(worth)


def test_it_looks_for_cows_when_none_is_known():
    with Scene("@", {"food": 2}, beyond="grass", steps=NOON) as scene:
        assert HuntCow().worth(scene.player) == 0.0
        assert LookForCows().worth(scene.player) == pytest.approx(0.75)


def test_dusk_and_rock_make_it_think_of_rest_at_once():
    """The step in which it gets dark, and the one in which it leaves the rock at night, are told."""
    rock = "########"
    text = f"{rock}\n{rock}\n@_______...\n{rock}\n{rock}"
    with Scene(text, {"energy": 7}, beyond="grass", steps=125) as scene:
        for _ in range(3):
            scene.step("move_right")
        told = []
        scene.player.signal("tired").connect(lambda _: told.append((scene.player.step, Rest().worth(scene.player))))
        while not scene.player.is_dark:
            scene.step("noop")
        assert told[-1] == (scene.player.step, 0.1)  # in rock
        for _ in range(3):
            scene.step("move_right")
        assert told[-1] == (scene.player.step, 0.6)


@pytest.mark.parametrize(
    ("text", "is_awake"), [("@Z", True), ("@.Z", False), ("@C", False), ("@", False), ("S__@", False)]
)
def test_reflexes_rest_unless_an_enemy_is_at_hand(text, is_awake):
    with Scene(text, beyond="grass") as scene:
        selector = make_reflexes(scene.player)
        scene.step("noop")
        assert (MOVE not in selector.disabled_flags) == is_awake


def test_reflexes_rest_again_when_the_enemy_is_gone():
    with Scene("@Z", {"iron_sword": 1}, beyond="grass") as scene:
        selector = make_reflexes(scene.player)
        scene.step("move_right")
        assert selector.disabled_flags == ()
        zombie = scene.garden.creatures[0]
        scene.game._world.remove(zombie)
        scene.step("noop")
        assert selector.disabled_flags == (MOVE,)


@pytest.mark.states("tools: Values: The colony, the miner and Crafter offer theirs ...")
def test_what_it_offers_to_whoever_watches():
    with Scene("@", {"food": 2, "wood": 5}, steps=NIGHT) as scene:
        offered = make_mind(scene.player).snapshot().values
        assert offered[""]["food"] == 2
        assert offered[""]["is_dark"] is scene.player.is_dark
        assert offered["carries"]["wood"] == 5
        for action in (Drink, HuntCow, LookForCows, Rest):  # each name that they say is offered
            assert set(action.made_of) <= set(offered[""])
