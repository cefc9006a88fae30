"""Schedules: courses of events, and how they are played to a simulation; and what a drawn case says of itself.

A schedule is a list of happenings in the order of their ticks, counted from where it begins to be played. Several may
come in one tick; they keep the order in which they were drawn. It shrinks to fewer happenings and to earlier ticks.

hypothesis prints the smallest case that fails a test. A reader looks for what is peculiar about it, and a dozen
defaults beside that are in the way. What is printed can be put into ``@example(...)`` as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from typing import Any, Generic, NamedTuple, TypeVar

from hypothesis import strategies as st

from agentrt.testing.simulation import Simulation

__all__ = ["Brief", "Happening", "play", "schedules"]


class Brief:
    """The base of the dataclasses of this package that say only what differs from their defaults."""

    def __repr__(self) -> str:
        this: Any = self
        said = []
        for one in fields(this):
            value = getattr(self, one.name)
            default = one.default if one.default_factory is MISSING else one.default_factory()
            if value != default:
                said.append(f"{one.name}={value!r}")
        return f"{type(self).__name__}({', '.join(said)})"


T = TypeVar("T")


class Happening(NamedTuple, Generic[T]):
    """One thing that happens."""

    tick: int  # before which tick, from 1 for the first one that is played
    what: T


def schedules(
    what: st.SearchStrategy[T], *, ticks: int = 40, max_size: int = 12
) -> st.SearchStrategy[list[Happening[T]]]:
    """Courses of events.

    Args:
        what: a strategy for what can happen, such as ``st.sampled_from(["bell", "rain"])``.
        ticks: how many ticks long.
        max_size: how many things happen at most.
    """
    happenings = st.builds(Happening, st.integers(1, ticks), what)
    return st.lists(happenings, max_size=max_size).map(lambda found: sorted(found, key=lambda one: one.tick))


def play(
    sim: Simulation, schedule: Iterable[Happening[T]], do: Callable[[T], object], *, ticks: int | None = None
) -> None:
    """Play a schedule: what happens in a tick is done before that tick runs, so that it comes in at its intake.

    Args:
        sim: the simulation.
        schedule: what happens, in the order of the ticks.
        do: called with each thing: posts it, sends it, changes the world.
        ticks: how many ticks run in all, at least; None ends with the tick of the last happening.
    """
    begin = sim.now
    for tick, what in schedule:
        sim.tick(max(0, begin + tick - 1 - sim.now))
        do(what)
    sim.tick(max(1, begin + (ticks or 0) - sim.now))
