"""The game itself on little worlds that are drawn as text, and records of what it did in an episode, for these tests.

A ``Scene`` is Crafter with a map of one's own in place of the one that it makes up, so nothing of its rules is written
a second time here, and no test waits for a world to be made. Its creatures stand still unless a test lets them live,
and none come or go by themselves. The player stands in the middle, and is driven by coroutines on a real runtime, one
tick a step, just as in an episode.
"""

from __future__ import annotations

import contextlib
import functools
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from typing import Any
from unittest import mock

import crafter
import numpy as np
from crafter import objects, worldgen

from agentrt import Runtime
from examples.crafter import ordered
from examples.crafter.eyes import Eyes
from examples.crafter.player import Player
from examples.crafter.reach import START
from examples.crafter.rules import ACTIONS, MATERIALS

MARKS = {
    ".": "grass", ",": "sand", "_": "path", "~": "water", "#": "stone", "T": "tree", "L": "lava", "c": "coal",
    "i": "iron", "d": "diamond", "t": "table", "f": "furnace",
}  # fmt: skip
CREATURES = {"C": (objects.Cow, "grass"), "Z": (objects.Zombie, "grass"), "S": (objects.Skeleton, "path"),
             "P": (objects.Plant, "grass")}  # fmt: skip
MIDDLE = (32, 32)


class Garden:
    """Draws a text into the world of the game, with its ``@`` in the middle, and everything else of one material."""

    def __init__(self, text, beyond):
        self.rows = [row for row in text.split() if row]
        self.beyond = beyond
        self.cells = [(x, y, mark) for y, row in enumerate(self.rows) for x, mark in enumerate(row)]
        [(self.x, self.y)] = [(x, y) for x, y, mark in self.cells if mark == "@"]
        self.marks = {}
        self.creatures = []

    def place(self, x, y):
        """The place in the game of a mark in the text."""
        return MIDDLE[0] + x - self.x, MIDDLE[1] + y - self.y

    def plant(self, world, player):
        for x in range(world.area[0]):
            for y in range(world.area[1]):
                world[x, y] = self.beyond
        for x, y, mark in self.cells:
            place = self.place(x, y)
            kind, ground = CREATURES.get(mark, (None, MARKS.get(mark, "grass")))
            world[place] = ground
            self.marks.setdefault(mark, (place[0] - MIDDLE[0] + START[0], place[1] - MIDDLE[1] + START[1]))
            if kind is not None:
                more = (player,) if kind in (objects.Zombie, objects.Skeleton) else ()
                self.creatures.append(kind(world, place, *more))
                world.add(self.creatures[-1])


@functools.cache
def make_game():
    """A game without a world. Each test resets it, so they share one."""
    ordered.install()
    return crafter.Env(seed=0, length=None)


class Scene:
    """A player in a little world.

    Args:
        text: rows of marks; ``@`` is where it stands, on grass; any other letter names a cell of grass.
        items: what it carries.
        knows: whether it remembers all of the text; otherwise it knows what it sees.
        alive: whether creatures move and grow.
        beyond: the material of all cells that are not in the text.
        seed: of the game's random numbers.
        steps: how many the episode has had, for the time of day.
    """

    def __init__(self, text, items=None, *, knows=True, alive=False, beyond="water", seed=0, steps=0):
        self.garden = Garden(text, beyond)
        self.game = make_game()
        self.game._seed, self.game._episode = seed, 0
        with mock.patch.object(worldgen, "generate_world", self.garden.plant):
            self.game.reset()
        self.game._balance_chunk = lambda *_: None
        self.game._step = steps
        self.body = self.game._player
        self.body.inventory.update(items or {})
        if not alive:
            for creature in self.garden.creatures:
                creature.update = lambda: None
        self.eyes = Eyes()
        self.eyes._steps = steps
        self.player = Player()
        self.runtime = Runtime(seed, ticks_per_second=1, host="plain")
        self.did = []
        self.info = None
        if knows:
            for x, y, _mark in self.garden.cells:
                place = self.garden.place(x, y)
                cell = place[0] + START[0] - MIDDLE[0], place[1] + START[1] - MIDDLE[1]
                self.player.atlas.ground[cell] = MATERIALS[self.game._world[place][0]]
        self.step("noop")
        self.did.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.runtime.close()

    def __getitem__(self, mark):
        """The first cell with a mark, as the player counts cells."""
        return self.garden.marks[mark]

    # --- playing ------------------------------------------------------------------------------------------------------

    def step(self, action):
        """One step of the game, and a tick in which the player takes in what it saw."""
        picture, _, _, self.info = self.game.step(ACTIONS.index(action))
        self.did.append(action)
        self.runtime.post(self.player.perceive, self.eyes.see(picture, self.info), action)
        self.runtime.step()

    def do(self, skill, *args, limit=200):
        """Have the player do something, step by step; returns what it returned, or raises what it raised."""
        ended = []

        async def play():
            try:
                ended.append((await skill(self.player, *args), None))
            except Exception as error:
                ended.append((None, error))

        self.runtime.spawn(play, name="play")
        self.runtime.step()
        for _ in range(limit):
            if ended:
                break
            self.step(self.player.take_intention())
        assert ended, f"not done after {limit} steps: {self.did}"
        result, error = ended[0]
        if error is not None:
            raise error
        return result

    # --- what is true -------------------------------------------------------------------------------------------------

    def material(self, cell):
        return self.game._world[self.true(cell)][0]

    def true(self, cell):
        """A cell as the game counts it."""
        return cell[0] - START[0] + MIDDLE[0], cell[1] - START[1] + MIDDLE[1]

    @property
    def place(self):
        """Where the player really stands, as it counts cells."""
        x, y = (int(number) for number in self.body.pos)
        return x - MIDDLE[0] + START[0], y - MIDDLE[1] + START[1]

    @property
    def achieved(self):
        """What the game has counted."""
        return {name for name, count in self.body.achievements.items() if count}


# --- records of whole episodes ----------------------------------------------------------------------------------------


@dataclass
class Moment:
    """What a step of the game returned, and what was true after it.

    Attributes:
        action: what was done in it.
        picture: 64 by 64 pixels.
        info: as the game returned it, whole.
        facing: where the player looks.
        sleeping: whether it sleeps.
        ground: the number of the material in each cell.
    """

    action: str
    picture: Any
    info: dict[str, Any]
    facing: tuple[int, int]
    sleeping: bool
    ground: Any


_worlds = {}


def remembered(generate):
    """What makes a world, if it made one like it before: the same one again, at once instead of in two seconds.

    Args:
        generate: the game's own function.
    """

    def generate_world(world, player):
        key = world.random.get_state()[1].tobytes()
        if key not in _worlds:
            generate(world, player)
            made = [(type(one), tuple(one.pos)) for one in world.objects if one is not player]
            _worlds[key] = (world._mat_map.copy(), made, world.random.get_state())
            return
        ground, creatures, numbers = _worlds[key]
        world._mat_map[:] = ground
        for kind, place in creatures:
            world.add(kind(world, place, *([player] if kind in (objects.Zombie, objects.Skeleton) else [])))
        world.random.set_state(numbers)

    return generate_world


@contextlib.contextmanager
def worlds_are_remembered():
    """While it lasts, a world of a seed is made once."""
    with mock.patch.object(worldgen, "generate_world", remembered(worldgen.generate_world)):
        yield


SLEEPY = ("move_left", "move_right", "move_up", "move_down", "do", "do", "noop", "sleep")


@functools.cache
def wander(seed=4, steps=300):
    """A real episode at random, through a day and a night. The wanderer is healed in each step, so that it is not over.

    It walks on for a while in one direction, and does not step into lava. Returns the moments, and the game at its end.
    """
    ordered.install()
    dice = random.Random(f"wander {seed}")
    game = crafter.Env(seed=seed)
    with worlds_are_remembered():
        game.reset()
    moments, action = [], "move_left"
    for _ in range(steps):
        if dice.random() < 0.5:
            action = dice.choice(SLEEPY)
        player = game._player
        if action.startswith("move_"):
            turn = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}[action[5:]]
            if game._world[player.pos + np.array(turn)][0] == "lava":
                action = "noop"
        picture, _, _, info = game.step(ACTIONS.index(action))
        info["player_pos"] = info["player_pos"].copy()
        moments.append(
            Moment(action, picture, info, tuple(player.facing), player.sleeping, game._world._mat_map.copy())
        )
        player.inventory["health"] = player._last_health = 9
    return moments, game


def in_two_processes(root, program):
    """Begin a program in two processes that differ in their hash seeds; nobody waits for them yet."""
    return [
        subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
