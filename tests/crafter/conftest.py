"""The tests of the agent that plays Crafter: each file skips itself if the extra ``crafter`` is not installed.

Making a world takes the game a second or two. So an episode that several tests look at is played once, and whoever needs
a world of the game's own takes seed 4 or 8, which are remembered (``scenes.worlds_are_remembered``).
"""

from __future__ import annotations

import copy

import pytest
from modules import load


@pytest.fixture(scope="session")
def short_records():
    """The records of two short episodes, seeds 4 and 8, played in this process."""
    from examples.crafter.record import play_one

    with load("tests/crafter/scenes.py").worlds_are_remembered():
        return [play_one(seed, lambda share: None, length=60) for seed in (4, 8)]


@pytest.fixture(scope="session")
def made_world():
    """The game with the world of seed 4, as it is before the first step."""
    import crafter

    from examples.crafter import ordered

    ordered.install()
    made = crafter.Env(length=None, seed=4)
    with load("tests/crafter/scenes.py").worlds_are_remembered():
        made.reset()
    return made


@pytest.fixture(scope="session")
def same_world(made_world):
    """Makes what takes the place of ``crafter.Env``: each is a copy of one world, which takes no time to make.

    It is called with the step in which the game's clock stands, for episodes that begin at night.
    """

    def make(begins=0):
        def env(length, seed):
            copied = copy.deepcopy(made_world)
            copied._length, copied._step = begins + length, begins
            copied.reset = lambda: None
            return copied

        return env

    return make
