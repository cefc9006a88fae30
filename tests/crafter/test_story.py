"""What became of an episode: achievements with their steps, the probable cause of death, the summary."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("crafter")

import numpy as np

from examples.crafter.eyes import VIEW, Sight
from examples.crafter.player import Player
from examples.crafter.reach import START
from examples.crafter.rules import ARROW, MATERIALS, SKELETON, ZOMBIE
from examples.crafter.story import Story, cause_of_death

HERE = (VIEW[0] // 2, VIEW[1] // 2)


def last_sight(creatures=(), scrolled=(0, 0), **bars):
    cells = np.full(VIEW, MATERIALS["grass"], np.uint8)
    for (x, y), kind in dict(creatures).items():
        cells[HERE[0] + x, HERE[1] + y] = kind
    inventory = {"health": 0, "food": 5, "drink": 5, "energy": 5, **bars}
    return Sight(90, cells, scrolled, False, inventory)


@pytest.fixture
def player():
    made = Player()
    made.atlas.ground[START[0] - 2 : START[0] + 3, START[1]] = MATERIALS["grass"]
    made.atlas.ground[START[0] + 1, START[1]] = MATERIALS["lava"]
    made.atlas.ground[START[0], START[1] + 1] = 0
    made.inventory.update(health=2)
    return made


@pytest.mark.parametrize(
    ("did", "sight", "cause"),
    [
        ("move_right", last_sight(scrolled=(1, 0)), "lava"),
        ("move_down", last_sight(scrolled=(0, 1)), "lava that it had not seen"),
        ("move_left", last_sight({(-1, 0): ZOMBIE}, scrolled=(-1, 0)), "a zombie"),
        ("do", last_sight({(0, 1): ZOMBIE}), "a zombie"),
        ("do", last_sight({(1, 1): ZOMBIE}), "something that it did not see"),
        ("do", last_sight({(0, 1): ZOMBIE}, food=0, drink=0), "a zombie, weakened by hunger and thirst"),
        ("do", last_sight({(3, 0): SKELETON}), "an arrow"),
        ("do", last_sight({(0, -1): ARROW}, energy=0), "an arrow, weakened by exhaustion"),
        ("do", last_sight({(4, 3): SKELETON}), "something that it did not see"),
        ("noop", last_sight(food=0), "hunger"),
        ("noop", last_sight(drink=0, energy=0), "thirst and exhaustion"),
        ("noop", last_sight(), "something that it did not see"),
    ],
)
def test_what_it_probably_died_of(player, did, sight, cause):
    assert cause_of_death(player, did, sight) == cause


def test_the_last_of_its_health_goes_to_hunger_though_a_zombie_stands_by(player):
    player.inventory.update(health=1)
    assert cause_of_death(player, "do", last_sight({(0, 1): ZOMBIE}, food=0)) == "hunger"


def test_who_slept_is_said_to_have_slept(player):
    player.is_asleep = True
    assert cause_of_death(player, "noop", last_sight({(0, 1): ZOMBIE})) == "a zombie while it slept"


class Told:
    """An episode that a test tells what happens in it."""

    def __init__(self):
        self.seed, self.step, self.achieved = 7, 0, {}
        self.is_over = self.is_dead = False
        self.did, self.sight, self.player, self.digest = "do", None, Player(), "c0ffee"
        self.spent, self.thinking = SimpleNamespace(share=0.0625), None


def test_each_achievement_is_noted_once_with_its_step():
    episode = Told()
    story = Story(episode)
    news = []
    counts = [{}, {"collect_wood": 1}, {"collect_wood": 2}, {"collect_wood": 2, "wake_up": 1, "eat_cow": 1}]
    for step, counted in enumerate(counts, 1):
        episode.step, episode.achieved = step, counted
        news.append(story.note())
    assert news == [[], ["collect_wood"], [], ["wake_up", "eat_cow"]]
    assert story.achieved == {"collect_wood": 2, "wake_up": 4, "eat_cow": 4}


SUMMARY = """\
seed 7, 90 steps: died, probably of hunger
bars at the end: health 0, food 0, drink 5, energy 5
achievements: 2 of 22
     12  collect wood
     90  eat cow
missing: collect coal, collect diamond, collect drink, collect iron, collect sapling, collect stone, defeat skeleton, \
defeat zombie, eat plant, make iron pickaxe, make iron sword, make stone pickaxe, make stone sword, make wood pickaxe, \
make wood sword, place furnace, place plant, place stone, place table, wake up
which the player has not noticed: collect wood
which the player believes besides: wake up
digest: c0ffee
share of the time that is the agent's: 6.2 %
"""


def test_the_summary():
    episode = Told()
    story = Story(episode)
    episode.step, episode.achieved = 12, {"collect_wood": 1}
    story.note()
    episode.player.diary.achieved = {"wake_up": 50}
    episode.step, episode.achieved = 90, {"collect_wood": 1, "eat_cow": 1}
    episode.is_over = episode.is_dead = True
    episode.sight = last_sight(food=0)
    story.note()
    assert "\n".join(story.summary()) + "\n" == SUMMARY


def test_how_it_ends_besides():
    episode = Told()
    assert Story(episode).fate == "stopped"
    episode.is_over = True
    assert Story(episode).fate == "the time was up"
