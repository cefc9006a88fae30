"""Growing: the plots of the fields, the herb bushes.

A plot goes round: bare, tilled, planted, ripe, and after the harvest bare again. What may be done to it is
what its state allows; anything else raises, because an action that does it anyway is wrong (actions look
before they act). The census lists a plot under ``plot:<state>``. Growing itself needs no hands: the system
``grow`` advances a planted plot when it is due.
"""

from __future__ import annotations

from collections.abc import Callable

from agentrt import Entity
from agentrt_examples.colony.census import Census

__all__ = ["STATES", "Bush", "Plot"]

STATES = ("bare", "tilled", "planted", "ripe")


class Plot:
    """One cell of a field.

    Args:
        entity: the plot itself.
        census: where it is listed.
        state: to begin with, one of ``STATES``.

    Attributes:
        state: one of ``STATES``.
        due: in which tick a planted plot is ripe.
    """

    __slots__ = ("_census", "_entity", "due", "state")

    def __init__(self, entity: Entity, census: Census, state: str = "bare") -> None:
        self._entity = entity
        self._census = census
        self.state = state
        self.due = 0
        census.put(entity, "plot", f"plot:{state}")

    def advance(self, before: str) -> None:
        """Go on to the next state.

        Args:
            before: the state that it has to be in.

        Raises:
            ValueError: it is in another one.
        """
        if self.state != before:
            raise ValueError(f"{self._entity.name} is {self.state}, not {before}")
        self.put(STATES[(STATES.index(before) + 1) % len(STATES)])

    def put(self, state: str) -> None:
        """Be in another state, whatever it was in before.

        Args:
            state: one of ``STATES``.
        """
        self._census.take(self._entity, f"plot:{self.state}")
        self.state = state
        self._census.put(self._entity, f"plot:{state}")


class Bush:
    """A herb bush. It bears one herb; when that is gone it grows another one after a while.

    Args:
        bear: makes a herb, and returns it.
        pause: how many ticks a herb takes.

    Attributes:
        herb: the one that it bears.
        due: in which tick it bears the next one.
    """

    __slots__ = ("_bear", "_pause", "due", "herb")

    def __init__(self, bear: Callable[[], Entity], pause: int) -> None:
        self._bear = bear
        self._pause = pause
        self.herb: Entity | None = None
        self.due = 0

    def grow(self, tick: int, still_there: Callable[[Entity], bool]) -> None:
        """See to it that there is a herb sooner or later.

        Args:
            tick: now.
            still_there: whether the last herb can still be picked.
        """
        if self.herb is not None:
            if still_there(self.herb):
                return
            self.herb = None
            self.due = tick + self._pause
        if tick >= self.due:
            self.herb = self._bear()
