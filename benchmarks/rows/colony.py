"""The colony: two hundred agents who live, at twenty ticks a second.

Eight colonies of the example lie on one ground of 160 by 50 cells, and are one: 88 hearthlings with their jobs,
abilities, needs and tasks (16 of them soldiers with a selection tree, 8 possessed by four models at once), 8 pets with
collars, 48 critters, 16 wolves with two goal selectors each, 16 drakes with a behavior tree, 24 turrets. One unit is
one tick of all of it: the world, the searches for paths, all planning and all deciding.

The limit is the same world with nobody who plans: hunger, growth and daylight pass, and the town's tasks are issued to
members who never think. What is above it is what planning costs, paths included.

It is measured in the afternoon of the first day, when everybody works; the first hundred ticks, in which all begin to
think at once, are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchmarks.harness import Row, Side, Size, Work

if TYPE_CHECKING:
    from agentrt_examples.colony.colony import Colony

__all__ = ["COLONY"]

_DOWN = 2  # size.count colonies lie in so many rows
_SETTLED = 100


def _found(size: Size) -> Colony:
    from agentrt_examples.colony.colony import Colony

    down = _DOWN if size.count >= _DOWN * _DOWN else 1
    return Colony(seed=7, across=size.count // down if down > 1 else 1, down=down)


@contextmanager
def ours(size: Size) -> Iterator[Work]:
    """The colony as it is."""
    colony = _found(size)
    step = colony.runtime.step
    for _ in range(min(_SETTLED, size.rounds)):
        step()

    def work() -> int:
        for _ in range(size.rounds):
            step()
        return size.rounds

    yield work
    assert any(agent.snapshot().running for agent in colony.population.agents), "nobody does anything"
    colony.runtime.close()


@contextmanager
def without_planners(size: Size) -> Iterator[Work]:
    """The same world; its agents are made, but take no part in it."""
    colony = _found(size)
    for agent in colony.runtime.agents:
        colony.runtime.remove(agent)
    step = colony.runtime.step
    for _ in range(min(_SETTLED, size.rounds)):
        step()

    def work() -> int:
        for _ in range(size.rounds):
            step()
        return size.rounds

    yield work
    colony.runtime.close()


COLONY = Row(
    name="colony",
    what="one tick of 200 agents of the colony, path finding included",
    gauge="seconds",
    ours=Side("agentrt", ours),
    limit=Side("world without planners", without_planners),
    at_most_times=23,
    size=Size(8, 400),
    quick=Size(1, 20),
    most_repeats=2,
)
