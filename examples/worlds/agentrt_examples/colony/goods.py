"""Goods: items, the hands that carry them, the shelves that keep them.

An item is in one of three states, and its tags in the census say which:

========  =================================================  ======================================
state     tags                                               where it is
========  =================================================  ======================================
loose     ``item``, ``loose``, ``loose:<kind>``, ``<kind>``  on the ground, at its position
stored    ``item``, ``stored:<kind>``, ``<kind>``            on a shelf, at the shelf's position
held      ``item``                                           in hands or a backpack; its position is old
========  =================================================  ======================================

So ``turnip`` finds every turnip that can be had, ``loose:turnip`` only those that should be tidied away,
``stored:turnip`` those of the stockpile, and nobody finds what somebody else carries. All changes of state are in this
module.

An item that was held when the world was rebuilt is held on (``Hands.keep``), and stands under the tags under which it
was found, at the place where its holder stands: so the holder's new plan finds it as nearest of all and *picks it up*
out of its own hands. Once the holder walks, whatever no plan has picked up is let go.
"""

from __future__ import annotations

from typing import Any, ClassVar

from agentrt import Entity
from agentrt_actions import Backpacker
from agentrt_examples.colony.bodies import FULL, Needs, Position, Traits
from agentrt_examples.colony.census import Census
from agentrt_examples.colony.chronicle import Chronicle
from agentrt_examples.colony.terrain import Cell

__all__ = ["Backpack", "Food", "Goods", "Hands", "Picture", "Shelf"]


class Goods:
    """What makes an entity an item.

    Args:
        census: where it is listed.

    Attributes:
        shelf: where it is stored.
        held_by: the hands that carry it, or the backpack that it is in.
        kept_by: the hands that hold it for no plan, since the world was rebuilt; they may have it in the backpack.
        was_stored: whether whoever holds it took it from a shelf.
    """

    __slots__ = ("_census", "held_by", "kept_by", "shelf", "was_stored")

    def __init__(self, census: Census) -> None:
        self._census = census
        self.shelf: Shelf | None = None
        self.held_by: Hands | Backpack | None = None
        self.kept_by: Hands | None = None
        self.was_stored = False

    def lie(self, item: Entity) -> None:
        """Lie on the ground, to be found.

        Args:
            item: the item itself.
        """
        self._census.take(item, f"stored:{item.kind}")
        self._census.put(item, "item", item.kind, "loose", f"loose:{item.kind}")

    def keep(self, item: Entity, hands: Hands, *, was_stored: bool) -> None:
        """Be kept by hands, to be found by them.

        Args:
            item: the item itself, which lies on the ground.
            hands: whose.
            was_stored: whether it was taken from a shelf.
        """
        self.kept_by, self.was_stored = hands, was_stored
        if was_stored:
            self._census.take(item, "loose", f"loose:{item.kind}")
            self._census.put(item, f"stored:{item.kind}")

    def detach(self, item: Entity) -> None:
        """Leave the shelf or the hands; what comes next is up to the caller.

        Args:
            item: the item itself.
        """
        if self.shelf is not None:
            self.shelf.remove(item)
        if self.held_by is not None:
            self.held_by.release(item)
            self.held_by = self.kept_by = None

    def use_up(self, item: Entity) -> None:
        """Be no more.

        Args:
            item: the item itself.
        """
        self.detach(item)
        item.destroy()


class Hands:
    """Carrying one item; implements ``agentrt_actions.Carrier``.

    Args:
        position: whose hands.
        census: where items are listed.

    Attributes:
        carrying: the item.
    """

    __slots__ = ("_census", "_kept", "_position", "carrying")

    def __init__(self, position: Position, census: Census) -> None:
        self._position = position
        self._census = census
        self._kept: list[Entity] = []
        self.carrying: Entity | None = None

    @property
    def location(self) -> Cell:
        """Where the hands are."""
        return self._position.location

    def pick_up(self, item: Entity) -> bool:
        """Take an item from the ground or from its shelf; one that somebody keeps for no plan, from where that has it.

        Args:
            item: the item.

        Returns:
            False if the hands are full, or the item is in other hands or gone.
        """
        goods = item.get(Goods)
        if goods is None or item.is_destroyed or (goods.held_by is not None and goods.kept_by is None):
            return False
        if self.carrying is not None and self.carrying is not item:
            if self.carrying[Goods].kept_by is None:
                return False
            self.put_down()
        if goods.kept_by is None:
            goods.was_stored = goods.shelf is not None
        goods.detach(item)
        self.take(item)
        self._census.take(item, "loose", f"loose:{item.kind}", f"stored:{item.kind}", item.kind)
        return True

    def keep(self, item: Entity, backpack: Backpack | None = None, *, was_stored: bool = False) -> None:
        """Hold an item that was held when the world was rebuilt, until a plan picks it up or its holder walks.

        Args:
            item: the item; it lies where the hands are.
            backpack: in which it was, if it was not in the hands.
            was_stored: whether it was taken from a shelf.
        """
        if not self._kept:
            self._position.moved.connect(self._let_go)
        self._kept.append(item)
        if backpack is None:
            self.take(item)
        else:
            backpack.take(item)
        item[Goods].keep(item, self, was_stored=was_stored)

    def _let_go(self, _cell: Cell) -> None:
        """Of what nobody has picked up; it lies where it was kept."""
        kept, self._kept = self._kept, []
        for item in kept:
            goods = item[Goods]
            if goods.kept_by is self:
                goods.detach(item)
                goods.lie(item)

    def take(self, item: Entity) -> None:
        """Hold an item from now on that nobody else holds.

        Args:
            item: the item.
        """
        item[Goods].held_by = self
        self.carrying = item

    def release(self, item: Entity) -> None:
        """Hold an item no more.

        Args:
            item: the item.
        """
        self.carrying = None

    def put_down(self) -> Entity | None:
        """Lay the item down on the ground.

        Returns:
            The item, or None if the hands were empty.
        """
        item = self.carrying
        if item is not None:
            goods = item[Goods]
            goods.detach(item)
            item[Position].place(self._position.location)
            goods.lie(item)
        return item


class Backpack:
    """Carrying items on the back; implements ``agentrt_actions.Backpacker`` and its ``Contents``. Comes with a job.

    It is filled and emptied within one plan, and empty between plans, as hands are.

    Args:
        entity: whose back.
        room: how many items go in.

    Attributes:
        also_as: under which protocols it is found.
        capacity: how many items go in.
        items: what is in it, by number.
    """

    __slots__ = ("_entity", "capacity", "items")

    also_as: ClassVar[tuple[type, ...]] = (Backpacker,)

    def __init__(self, entity: Entity, room: int = 2) -> None:
        self._entity = entity
        self.capacity = room
        self.items: dict[Any, Entity] = {}

    @property
    def storage(self) -> Backpack:
        """What is in it: it says so itself."""
        return self

    @property
    def full(self) -> bool:
        """Whether nothing more goes in."""
        return len(self.items) >= self.capacity

    @property
    def location(self) -> Cell:
        """Where it is."""
        return self._entity[Position].location

    def stow(self) -> bool:
        """Put what the hands hold into it.

        Returns:
            False if it is full, or the hands are empty.
        """
        item = self._entity[Hands].carrying
        if item is None or self.full:
            return False
        item[Goods].detach(item)
        self.take(item)
        return True

    def take(self, item: Entity) -> None:
        """Have an item in it from now on that nobody else holds.

        Args:
            item: the item.
        """
        item[Goods].held_by = self
        self.items[item.id] = item

    def unpack(self, item: Entity) -> bool:
        """Take an item into the hands.

        Args:
            item: the item.

        Returns:
            False if it is not in there, or the hands are full.
        """
        hands = self._entity[Hands]
        if self.items.get(item.id) is not item or hands.carrying is not None:
            return False
        item[Goods].detach(item)
        hands.take(item)
        return True

    def release(self, item: Entity) -> None:
        """Hold an item no more.

        Args:
            item: the item.
        """
        del self.items[item.id]

    def empty(self) -> None:
        """Lay everything down on the ground."""
        for item in list(self.items.values()):
            goods = item[Goods]
            goods.detach(item)
            item[Position].place(self.location)
            goods.lie(item)


class Shelf:
    """A place that keeps a few items of one kind; implements ``agentrt_actions.Storage``.

    It stands under ``shelf``, and while there is room, under ``storage``: nobody looks for a place on a full shelf.

    Args:
        entity: the shelf itself, which has a position.
        kind: of the items.
        room: how many it keeps.
        census: where items are listed.
        chronicle: where storing is told.

    Attributes:
        kind: as given.
        items: what it keeps, in the order in which it came.
    """

    __slots__ = ("_census", "_chronicle", "_entity", "_room", "items", "kind")

    def __init__(self, entity: Entity, kind: str, room: int, census: Census, chronicle: Chronicle) -> None:
        self._entity = entity
        self._room = room
        self._census = census
        self._chronicle = chronicle
        self.kind = kind
        self.items: list[Entity] = []
        census.put(entity, "shelf", "storage")

    def accepts(self, item: Entity) -> bool:
        """Whether an item belongs here and there is room for it.

        Args:
            item: the item.
        """
        return item.kind == self.kind and len(self.items) < self._room

    def store(self, item: Entity, carrier: Hands) -> bool:
        """Take over what somebody carries.

        Args:
            item: the item.
            carrier: who carries it.

        Returns:
            False if it is not accepted or not carried.
        """
        if carrier.carrying is not item or not self.put(item):
            return False
        self._chronicle.note("items stored", item, "was stored")
        return True

    def put(self, item: Entity) -> bool:
        """Keep an item from now on, wherever it was.

        Args:
            item: the item.

        Returns:
            False if it is not accepted.
        """
        if not self.accepts(item):
            return False
        goods = item[Goods]
        goods.detach(item)
        goods.shelf = self
        self.items.append(item)
        item[Position].place(self._entity[Position].location)
        self._census.take(item, "loose", f"loose:{item.kind}")
        self._census.put(item, item.kind, f"stored:{item.kind}")
        if len(self.items) == self._room:
            self._census.take(self._entity, "storage")
        return True

    def remove(self, item: Entity) -> None:
        """Let an item go.

        Args:
            item: the item.
        """
        self.items.remove(item)
        item[Goods].shelf = None
        self._census.take(item, f"stored:{item.kind}")
        if len(self.items) == self._room - 1:
            self._census.put(self._entity, "storage")


class Food:
    """What makes an item food; implements ``agentrt_actions.Consumable``.

    Args:
        item: the item itself.
        satiety: how much it fills, of 1,000.
        chronicle: where the meal is told.
    """

    __slots__ = ("_chronicle", "_item", "_satiety")

    def __init__(self, item: Entity, satiety: int, chronicle: Chronicle) -> None:
        self._item = item
        self._satiety = min(satiety, FULL)
        self._chronicle = chronicle

    def consume(self, consumer: Entity) -> None:
        """Fill somebody's belly.

        Args:
            consumer: who eats it.
        """
        consumer[Needs].add(satiety=self._satiety)
        cooked = self._item.kind == "meal"
        traits = consumer.get(Traits)
        if traits is not None:
            traits.add_thought("had a warm meal" if cooked else "had to eat a raw turnip")
        self._chronicle.note(
            "meals eaten" if cooked else "raw food eaten", consumer, "ate a meal" if cooked else "ate a raw turnip"
        )
        self._item[Goods].use_up(self._item)


class Picture:
    """What makes an item a picture.

    Args:
        beauty: how much there is to see in it, from 0 to 100.

    Attributes:
        beauty: as given.
    """

    __slots__ = ("beauty",)

    def __init__(self, beauty: int = 50) -> None:
        self.beauty = beauty
