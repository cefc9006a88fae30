"""A flat world to act in."""

from __future__ import annotations

import functools

import numpy
import pytest

pytest.importorskip("tcod", reason="the miner needs the extra 'demo'")

from agentrt_examples.miner.dimension import Dimension
from agentrt_examples.miner.game import Game
from agentrt_examples.miner.rules import BLOCK_NUMBERS
from agentrt_examples.miner.terrain import OVERWORLD_SIZE, Grown, wall_in

GROUND = 33
"""The height at which one stands in a flat world; stone below, one layer of grass on it."""


@functools.cache
def flat_blocks():
    blocks = numpy.zeros(OVERWORLD_SIZE, dtype=numpy.uint8)
    blocks[:, : GROUND - 1, :] = BLOCK_NUMBERS["stone"]
    blocks[:, GROUND - 1, :] = BLOCK_NUMBERS["grass"]
    wall_in(blocks)
    return blocks


class Flat(Game):
    """A game on flat ground without creatures, with helpers for tests."""

    def __init__(self, seed=1, **options):
        super().__init__(seed, overworld=Grown(Dimension("overworld", flat_blocks(), has_sky=True)), **options)
        self.world.fauna.is_peaceful = True

    def put(self, kind, *places):
        for place in places:
            self.world.put(self.miner.dimension, place, kind)
        self.miner.look()

    def give(self, **items):
        for item, count in items.items():
            assert self.miner.inventory.take_in(item, count) == 0

    def beside(self, x=0, y=0, z=0):
        here = self.miner.place
        return here[0] + x, here[1] + y, here[2] + z

    def do(self, *acts, limit=20_000):
        """Do some acts in a row; what each returned, or the fault that it raised, and the tick at which it was over."""
        results = []

        async def play():
            for act in acts:
                try:
                    results.append((await act(), self.runtime.tick))
                except Exception as fault:
                    results.append((fault, self.runtime.tick))

        self.runtime.spawn(play, name="play")
        for _ in range(limit):
            if len(results) == len(acts):
                break
            self.runtime.step()
        assert len(results) == len(acts), f"not done after {limit} ticks: {results}"
        return results


@pytest.fixture
def flat():
    game = Flat()
    yield game
    game.runtime.close()


@pytest.fixture
def make_flat():
    games = []

    def make(**options):
        games.append(Flat(**options))
        return games[-1]

    yield make
    for game in games:
        game.runtime.close()
