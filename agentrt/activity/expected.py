"""What expected state is made of: values that each future has for itself, a storage, and fields of the game's own.

Rules, for a value that is read through CURRENT:

* lists, dicts and sets are copied, and those inside of them, so that no two futures share one;
* anything else with a ``copy()`` method is copied by it;
* a ``storage`` with ``items`` and ``capacity`` or ``full`` becomes an ``ExpectedStorage``;
* what is carried is a thing and not a value: it is never copied, whatever it can do;
* everything else is the value itself, which must not be changed in place.

``CurrentFields`` is a declaration only, the table of fields with their types and defaults; nobody makes one.

Source: seed 001, "Step declarations", `ai.CURRENT`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from agentrt.activity.fields import REQUIRED, Fields, Fresh
from agentrt.errors import ExpectedStateError, did_you_mean
from agentrt.words import repr_of, type_name

__all__ = ["CurrentFields", "ExpectedStorage", "is_storage", "own_copy"]


class ExpectedStorage:
    """The expected contents of a storage, such as a backpack.

    Args:
        items: what is in it: a mapping from id to entity, or entities.
        capacity: how many items it holds; None for any number.

    Attributes:
        capacity: as given.
        is_changed: whether something was added or removed here.

    Source: seed 001, `ai.CURRENT`, storage.
    """

    __slots__ = ("_items", "capacity", "is_changed")

    def __init__(self, items: Mapping[Any, Any] | Iterable[Any] = (), capacity: int | None = None) -> None:
        self._items: dict[Any, Any] = _table(items)
        self.capacity: int | None = capacity
        self.is_changed: bool = False

    @classmethod
    def of(cls, storage: Any) -> ExpectedStorage:
        """The expected contents of a storage of the game, as they are now.

        Args:
            storage: an object with ``items`` and with ``capacity`` or ``full``; one that says that it is full is
                taken to be so with as many items as it has now.
        """
        made = cls()
        made.take_from(storage)
        return made

    def take_from(self, storage: Any) -> None:
        """Take over the contents of a storage as they are now.

        Args:
            storage: as for ``of``.
        """
        self._items = _table(storage.items)
        self.capacity = getattr(storage, "capacity", None)
        if getattr(storage, "full", False) and (self.capacity is None or self.capacity > len(self._items)):
            self.capacity = len(self._items)

    @property
    def items(self) -> Mapping[Any, Any]:
        """Id to entity, in the order in which they came in; an entity without an id stands under itself."""
        return MappingProxyType(self._items)

    @property
    def full(self) -> bool:
        """Whether nothing more goes in."""
        return self.capacity is not None and len(self._items) >= self.capacity

    def add_item(self, item: Any) -> bool:
        """Expect an item to be put in.

        Args:
            item: the entity.

        Returns:
            Whether it goes in; a full storage stays as it is.
        """
        key = _key(item)
        if self.full and key not in self._items:
            return False
        self._items[key] = item
        self.is_changed = True
        return True

    def remove_item(self, item: Any) -> Any:
        """Expect an item to be taken out.

        Args:
            item: its id, or the entity.

        Returns:
            The entity; None if it is not in there.
        """
        found = self._items.pop(_key(item), None)
        if found is not None:
            self.is_changed = True
        return found

    def copy(self) -> ExpectedStorage:
        """The same contents for another future, unchanged as yet."""
        return ExpectedStorage(self._items, self.capacity)

    def __contains__(self, item: object) -> bool:
        return _key(item) in self._items

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        return True  # an empty storage is one

    def __repr__(self) -> str:
        room = "" if self.capacity is None else f" of {self.capacity}"
        return f"<ExpectedStorage: {len(self._items)}{room} items>"


def _key(item: Any) -> Any:
    """Under what an item stands: its id, or itself; an id stands for itself, too."""
    found = getattr(item, "id", None)
    return item if found is None else found


def _table(items: Mapping[Any, Any] | Iterable[Any]) -> dict[Any, Any]:
    return dict(items) if isinstance(items, Mapping) else {_key(item): item for item in items}


def own_copy(name: str, value: Any) -> Any:
    """A value for one future alone.

    Args:
        name: the field.
        value: what it is before.

    Returns:
        A copy, or the value itself if it cannot be changed in place.
    """
    if name == "carrying":
        return value
    if value.__class__ in _PLAIN:
        return _deep(value)
    copy = getattr(value, "copy", None)
    if callable(copy):
        return copy()
    if name == "storage" and is_storage(value):
        return ExpectedStorage.of(value)
    return value


_PLAIN = (dict, list, set)


def _deep(value: Any) -> Any:
    """A plain container with all the plain containers in it; what else is in it stays what it is."""
    kind = value.__class__
    if kind is dict:
        return {key: _deep(one) for key, one in value.items()}
    if kind is list:
        return [_deep(one) for one in value]
    return set(value) if kind is set else value


def is_storage(value: Any) -> bool:
    """Whether something can be turned into an expected storage: it has ``items``, and ``capacity`` or ``full``.

    Args:
        value: anything.
    """
    items = getattr(value, "items", None)
    return items is not None and not callable(items) and (hasattr(value, "capacity") or hasattr(value, "full"))


class CurrentFields(Fields):
    """The fields of CURRENT, with types and defaults.

    Subclass it to add a game's own::

        class Expected(CurrentFields):
            stamina: float = 1.0


        Agent(entity, expected=Expected)

    With it, a name that is not declared is an error, and so is a value of the wrong type when it is written. A field
    that the entity does not have reads as its default.

    Source: seed 001, "Step declarations", `ai.CURRENT`.
    """

    __slots__ = ()

    location: Any = None
    carrying: Any = None
    storage: Any = None
    self_reserved: dict[Any, Any] = {}  # noqa: RUF012 - each future gets a copy
    self_region_reserved: dict[Any, Any] = {}  # noqa: RUF012

    @classmethod
    def require(cls, name: str) -> None:
        """See to it that a field is declared.

        Args:
            name: the field.

        Raises:
            ExpectedStateError: it is not.
        """
        if name not in cls._fields:
            raise ExpectedStateError(
                name,
                f"is not declared in {cls.__qualname__}.{did_you_mean(name, cls._fields)}",
                f"Declared: {', '.join(cls._fields)}.",
            )

    @classmethod
    def check(cls, name: str, value: Any) -> None:
        """See to it that a field takes a value.

        Args:
            name: the field.
            value: what is to be written.

        Raises:
            ExpectedStateError: it is not declared, or takes another type.
        """
        cls.require(name)
        if cls._unresolved:
            cls._resolve(finally_=True)
        accept = cls._fields[name][1]
        if not accept.takes(value):
            raise ExpectedStateError(
                name,
                f"takes {accept.text}, not {type_name(value)} {repr_of(value)}.",
                f"See {cls.__qualname__}.",
            )

    @classmethod
    def default(cls, name: str) -> Any:
        """What a field is if the entity does not have it.

        Args:
            name: a declared field.

        Raises:
            ExpectedStateError: it has no default.
        """
        default = cls._fields[name][0]
        if default is REQUIRED:
            raise ExpectedStateError(
                name,
                f"is declared in {cls.__qualname__} without a default, and the entity does not have it.",
                "Give one of the two.",
            )
        return default.value if isinstance(default, Fresh) else default
