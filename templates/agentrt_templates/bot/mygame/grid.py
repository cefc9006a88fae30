"""The game of somebody else: a grid with trees, rocks and gems. It knows nothing of agents.

It is played in steps, as environments are in which programs learn to play: ``reset`` tells each player what it sees;
``step`` takes a move of each, and tells them again.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

Place = tuple[int, int]

SIZE = 16
WAYS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
GIVES = {"tree": "wood", "rock": "stone", "gem": "gem"}  # what is taken from a thing
MOVES = (*WAYS, "take", "make pick", "wait")


@dataclass
class Sight:
    """What a player sees after a step."""

    at: Place
    things: dict[Place, str]  # what lies on the grid, and where
    bag: Counter[str] = field(default_factory=Counter)  # what it carries


class Grid:
    """The game."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._things: dict[Place, str] = {}
        self._at: dict[str, Place] = {}
        self._bags: dict[str, Counter[str]] = {}

    def reset(self, players: list[str]) -> dict[str, Sight]:
        """Begin a game."""
        places = [(x, y) for x in range(SIZE) for y in range(SIZE)]
        self._chance.shuffle(places)
        self._at = {player: places.pop() for player in players}
        self._bags = {player: Counter() for player in players}
        kinds = ["tree"] * 12 + ["rock"] * 12 + ["gem"] * 6
        self._things = dict(zip(places, kinds, strict=False))
        return self._sights()

    def step(self, moves: dict[str, str]) -> dict[str, Sight]:
        """Let each player make its move; what is not possible does nothing."""
        for player, move in moves.items():
            x, y = self._at[player]
            bag = self._bags[player]
            if move in WAYS:
                east, south = WAYS[move]
                self._at[player] = (min(max(x + east, 0), SIZE - 1), min(max(y + south, 0), SIZE - 1))
            elif move == "take" and (x, y) in self._things:
                kind = self._things[x, y]
                if kind != "gem" or bag["pick"]:
                    del self._things[x, y]
                    bag[GIVES[kind]] += 1
            elif move == "make pick" and bag["wood"] >= 2 and bag["stone"] >= 1:
                bag.update({"wood": -2, "stone": -1, "pick": 1})
        return self._sights()

    def _sights(self) -> dict[str, Sight]:
        return {name: Sight(at, dict(self._things), Counter(self._bags[name])) for name, at in self._at.items()}
