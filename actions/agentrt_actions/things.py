"""What the standard actions ask of things and bodies: hands, storages, food, beds, effects.

The rules of the module ``protocols`` hold here too. Each protocol is one thing that an entity can do or that can be
done with it; a world gives an entity the components for what it is able to, and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from agentrt import Entity, Signal
from agentrt_actions.protocols import Place

__all__ = [
    "Backpacker",
    "Carrier",
    "Consumable",
    "Contents",
    "EffectPlayer",
    "IdleEffects",
    "Needs",
    "PlayedEffect",
    "Region",
    "RegionPart",
    "Sleeper",
    "Storage",
]


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


class Contents(Protocol):
    """What is in a backpack."""

    @property
    def items(self) -> Mapping[Any, Entity]:
        """The items, each under its id, or under itself if it has none."""
        ...

    @property
    def full(self) -> bool:
        """Whether nothing more goes in."""
        ...


@runtime_checkable
class Backpacker(Protocol):
    """Somebody who carries things along besides what is in its hands.

    The attribute ``storage`` is where ``CURRENT.storage`` begins.
    """

    @property
    def storage(self) -> Contents:
        """What is in the backpack."""
        ...

    def stow(self) -> bool:
        """Put what the hands hold into the backpack.

        Returns:
            False if it is full, or nothing is held; nothing has changed then.
        """
        ...

    def unpack(self, item: Entity) -> bool:
        """Take an item out of the backpack into the hands.

        Args:
            item: the item.

        Returns:
            False if it is not in there, or the hands are full; nothing has changed then.
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


@dataclass(frozen=True, slots=True, eq=False)
class RegionPart:
    """One part of what several can use at a time: a seat of a bench, a cell of a field. Reserved as it is.

    Attributes:
        key: tells it from the other parts of the same region.
        offset: where it lies within the entity.
        location: where to stand to use it.
    """

    key: Hashable
    offset: Any
    location: Place


@runtime_checkable
class Region(Protocol):
    """A destination that several can use at a time, each at a part of its own."""

    @property
    def parts(self) -> Sequence[RegionPart]:
        """The parts there are now; a part that stays is the same object each time."""
        ...

    @property
    def changed(self) -> Signal:
        """Fired when parts came, went or moved."""
        ...


@runtime_checkable
class Needs(Protocol):
    """What a body needs."""

    def urgency(self, need: str) -> float:
        """How urgent a need is.

        Args:
            need: such as ``hunger``, ``sleep``, ``recovery``.

        Returns:
            From 0.0, nothing is needed, to 1.0, nothing is needed more.
        """
        ...

    @property
    def changed(self) -> Signal:
        """Fired when the urgency of a need changed."""
        ...


@runtime_checkable
class Sleeper(Protocol):
    """Somebody who can lie down; what that does to its needs is the world's business."""

    def lie_down(self, place: Entity | None) -> None:
        """Lie down.

        Args:
            place: the bed, or None for the ground.
        """
        ...

    def get_up(self) -> None:
        """Get up again; nothing happens if it does not lie."""
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


@runtime_checkable
class IdleEffects(Protocol):
    """Somebody who has effects of its own for when there is nothing to do: to yawn, to whistle."""

    @property
    def idle_effects(self) -> Mapping[str, float]:
        """The effects with their weights: one of twice the weight is played twice as often."""
        ...
