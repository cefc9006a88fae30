"""What the standard actions ask of a world: small typed protocols, found among the components of the entity.

This module has those about places, ways, and what there is; the module ``things`` has those about hands, storages,
needs and effects.

An action never knows the world that it acts in. It asks the entity for a component by its protocol,
``ctx.entity[PathFinder]``, and the world has put there whatever implements it: a grid, a graph of rooms, a
physics engine. A world offers the protocols that its agents' packs need, and no other::

    entity.add(my_grid_walker, Located, Mover)

Rules that hold for all of them:

* A *place* is any hashable value that tells where something is: a cell, the name of a room. Only the world
  looks inside.
* Costs and times are whole numbers, so that comparing them gives the same answer on every machine. A step costs at
  least 1.
* Whatever is returned in an order is returned in the same order in every run: never in the order of a set.
* A signal is fired after the change that it tells of, so that who is woken sees the new state.

Protocols, and not base classes, because a world's component usually exists before it meets an agent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from agentrt import Entity, Signal

__all__ = [
    "Change",
    "Changing",
    "Directory",
    "Located",
    "Mover",
    "Path",
    "PathFinder",
    "Place",
    "Surveyor",
    "Threats",
]

Place: TypeAlias = Hashable


@dataclass(frozen=True, slots=True)
class Path:
    """A way from one place to another.

    Attributes:
        start: where it begins.
        places: the places to step onto, in order, without the start; empty if start and destination are one.
        cost: what walking it costs, in the world's own unit.
    """

    start: Place
    places: tuple[Any, ...]
    cost: int

    @property
    def first(self) -> Any:
        """The place to step onto first; None if start and destination are one."""
        return self.places[0] if self.places else None

    @property
    def destination(self) -> Any:
        """Where it ends."""
        return self.places[-1] if self.places else self.start


@runtime_checkable
class Located(Protocol):
    """Something that is somewhere."""

    @property
    def location(self) -> Any:
        """The place where it is."""
        ...

    @property
    def moved(self) -> Signal:
        """Fired with the new place when it has moved."""
        ...


@runtime_checkable
class Mover(Protocol):
    """Something that can move by itself, one step at a time."""

    def ticks_to(self, place: Any) -> int:
        """How many ticks a step onto a neighboring place takes, 1 or more.

        Args:
            place: where the step leads.
        """
        ...

    def step(self, place: Any) -> bool:
        """Take one step, at once; whoever calls has let the time pass.

        Args:
            place: where the step leads.

        Returns:
            False if the place cannot be entered; nothing has changed then.
        """
        ...


@runtime_checkable
class PathFinder(Protocol):
    """Knows the ways of the world."""

    @property
    def changed(self) -> Signal:
        """Fired when ways opened or closed, so that paths may be worth finding again."""
        ...

    def find(self, start: Any, goal: Any, *, reach: int = 0) -> Path | None:
        """The cheapest path.

        Args:
            start: where it begins.
            goal: where it leads to.
            reach: how many steps before the goal it may end.

        Returns:
            The path, or None if there is none.
        """
        ...

    def costs(self, start: Any, goals: Sequence[Any], *, reach: int = 0) -> Sequence[int | None]:
        """What the cheapest paths to several goals cost; dearer is farther.

        Args:
            start: where they begin.
            goals: where they lead to.
            reach: how many steps before its goal each may end.

        Returns:
            For each goal the cost, or None if no path leads there.
        """
        ...

    def neighbors(self, place: Any) -> Sequence[Any]:
        """The places that one step leads to.

        Args:
            place: from here.
        """
        ...

    def distance(self, first: Any, second: Any) -> int:
        """How many steps two places are apart at least, ways or no ways.

        Args:
            first: one place.
            second: another.
        """
        ...


@runtime_checkable
class Directory(Protocol):
    """Knows what there is, by tags such as ``food``; the world puts entities under tags as they change."""

    def find(self, tag: str) -> Sequence[Entity]:
        """What stands under a tag, in the order in which it was put there.

        Args:
            tag: the tag.
        """
        ...

    def changed(self, tag: str) -> Signal:
        """The signal that is fired when entities were put under a tag or taken from it, or what stands there changed.

        Fired with a ``Change``, it tells which one; with anything else, or nothing, that any of them may have changed:
        then whoever keeps a memory of them has to look at all of them again, a few at a time.

        Args:
            tag: the tag.
        """
        ...


class Change(NamedTuple):
    """What a ``Directory`` says of one entity when it changed there.

    Attributes:
        entity: the entity that came, went, or became another.
        is_there: whether it stands under the tag now.
    """

    entity: Entity
    is_there: bool


@runtime_checkable
class Changing(Protocol):
    """Something that tells when it changed, so that a memory of what it was like is not believed any more.

    A component of the candidates of a search, for worlds whose ``Directory`` does not tell.
    """

    @property
    def changed(self) -> Signal:
        """Fired when it changed."""
        ...


@runtime_checkable
class Surveyor(Protocol):
    """Knows where things are, and answers which is nearest without looking at all of them.

    Optional: who has none, or asks for more than nearness, has the cost of a path to each thing found out.
    """

    def nearest(
        self, tag: str, start: Any, *, reach: int = 0, within: int = 0, accepts: Callable[[Entity], bool]
    ) -> tuple[Entity, int] | None:
        """The nearest thing under a tag to which a path leads.

        Args:
            tag: the tag in the ``Directory``.
            start: where paths begin.
            reach: how many steps before it a path may end.
            within: the greatest cost of the path; 0 for any.
            accepts: whether a thing counts; asked of near ones first, and of no more than needed.

        Returns:
            The thing and the cost of the path to it; of equally near ones the first under the tag. None if there is
            none.
        """
        ...


@runtime_checkable
class Threats(Protocol):
    """Whom somebody fears at the moment."""

    @property
    def nearby(self) -> Sequence[Entity]:
        """The threats that it notices, the nearest first; each has ``Located``."""
        ...

    @property
    def changed(self) -> Signal:
        """Fired when threats came, went, or came nearer."""
        ...
