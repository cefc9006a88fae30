"""What the standard actions ask of a world: small typed protocols, found among the components of the entity.

An action never knows the world that it acts in. It asks the entity for a component by its protocol,
``ctx.entity[PathFinder]``, and the world has put there whatever implements it: a grid, a graph of rooms, a
physics engine. A world offers the protocols that its agents' packs need, and no other::

    entity.add(my_grid_walker, Located, Mover)

Rules that hold for all of them:

* A *place* is any hashable value that tells where something is: a cell, the name of a room. Only the world
  looks inside.
* Costs and times are whole numbers, so that comparing them gives the same answer on every machine.
* Whatever is returned in an order is returned in the same order in every run: never in the order of a set.
* A signal is fired after the change that it tells of, so that who is woken sees the new state.

Protocols, and not base classes, because a world's component usually exists before it meets an agent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from agentrt import Entity, Signal

__all__ = [
    "Carrier",
    "Consumable",
    "Directory",
    "EffectPlayer",
    "Located",
    "Mover",
    "Path",
    "PathFinder",
    "Place",
    "PlayedEffect",
    "Storage",
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
class Carrier(Protocol):
    """Something that can carry one thing."""

    @property
    def carrying(self) -> Entity | None:
        """What it carries."""
        ...

    def pick_up(self, item: Entity) -> bool:
        """Take an item into the hands, from the ground or out of a storage.

        Args:
            item: the item, within reach.

        Returns:
            False if the hands are full or the item cannot be had; nothing has changed then.
        """
        ...

    def put_down(self) -> Entity | None:
        """Lay what is carried down where the carrier is.

        Returns:
            What was carried.
        """
        ...


@runtime_checkable
class Storage(Protocol):
    """Something that items are kept in. The entity that has it is where the items are brought to.

    Storages stand under the tag ``storage`` of the ``Directory``, whose signal also tells that one was filled
    or emptied.
    """

    def accepts(self, item: Entity) -> bool:
        """Whether an item belongs here and there is room for it.

        Args:
            item: the item.
        """
        ...

    def store(self, item: Entity, carrier: Carrier) -> bool:
        """Take over what somebody carries.

        Args:
            item: the item.
            carrier: who carries it.

        Returns:
            False if it is not accepted or not carried; nothing has changed then.
        """
        ...


@runtime_checkable
class Consumable(Protocol):
    """Something that somebody can use up: food, drink, medicine."""

    def consume(self, consumer: Entity) -> None:
        """Apply what it does, and destroy the item that it belongs to.

        Args:
            consumer: who uses it up.
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

        Args:
            tag: the tag.
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


class PlayedEffect(Protocol):
    """An effect that is being played."""

    def stop(self) -> None:
        """End it now, without telling that it is done; nothing happens if it ended already."""
        ...


@runtime_checkable
class EffectPlayer(Protocol):
    """Plays effects: an animation, a sound, or only the time that they take."""

    def play(self, entity: Entity, effect: str, done: Callable[[], None]) -> PlayedEffect:
        """Begin an effect.

        Args:
            entity: on whom it is seen.
            effect: its name.
            done: called once, when it has ended by itself; never before this call returns.

        Returns:
            A handle that can end it.
        """
        ...
