"""CURRENT: the state that an entity is expected to have at a step of a plan that has not run yet.

The root is the entity as it is. Every thinking unit that touches CURRENT gets a layer of its own on top of what came
before it; what it writes stays in that layer. The elected unit's layer is what the steps after it build on. Competing
futures therefore never see each other, and taking a unit back takes its future back; nothing is copied that nobody
touches.

What nobody in the plan has changed is read from the entity each time: an action that watches the world for an hour sees
where its entity is, and not where it was when the thinking began. A value that can be changed in place is copied into
the layer of the first unit that reads it, so that changing it there changes that future only; it stays as it was then,
but for a storage, which is read anew as long as nothing was added or removed. What is copied, and how:

* lists, dicts and sets are copied, and those inside of them, so that no two futures share one;
* anything else with a ``copy()`` method is copied by it;
* a ``storage`` with ``items`` and ``capacity`` or ``full`` becomes an ``ExpectedStorage``;
* what is carried is a thing and not a value: it is never copied, whatever it can do;
* everything else is the value itself, which must not be changed in place.

``CurrentFields`` is a declaration only, the table of fields with their types and defaults; nobody makes one. Every
attribute of a layer is a field of CURRENT, so what is asked of a layer itself is asked by functions.

Rejected: taking all fields down when thinking begins. It would cost a copy of everything for each plan that looks at
nothing, and an action that goes on watching would decide by a state that is long over.

Source: Stonehearth, AI: "Step declarations", `ai.CURRENT`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, SupportsIndex

from agentrt.activity.author.arguments import REQUIRED, Fields, plain_default
from agentrt.errors import ExpectedStateError, did_you_mean
from agentrt.words import repr_of, type_name


class ExpectedStorage:
    """The expected contents of a storage, such as a backpack.

    Args:
        items: what is in it: a mapping from id to entity, or entities.
        capacity: how many items it holds; None for any number.

    Source: Stonehearth, AI: `ai.CURRENT`, storage.
    """

    __slots__ = ("_items", "capacity", "is_changed")

    def __init__(self, items: Mapping[Any, Any] | Iterable[Any] = (), capacity: int | None = None) -> None:
        self._items: dict[Any, Any] = _table(items)
        self.capacity: int | None = capacity
        self.is_changed: bool = False  # whether something was added or removed here

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
        """Take over the contents of a storage as they are now; see ``of``."""
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
    """A value for one future alone: a copy, or the value itself if it cannot be changed in place."""
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
    """Whether something can be turned into an expected storage: it has ``items``, and ``capacity`` or ``full``."""
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

    Source: Stonehearth, AI: "Step declarations", `ai.CURRENT`.
    """

    __slots__ = ()

    location: Any = None
    carrying: Any = None
    storage: Any = None
    self_reserved: dict[Any, Any] = {}  # noqa: RUF012 - each future gets a copy
    self_region_reserved: dict[Any, Any] = {}  # noqa: RUF012

    @classmethod
    def require(cls, name: str) -> None:
        """Raise ``ExpectedStateError`` if a field is not declared."""
        if name not in cls._fields:
            raise ExpectedStateError(
                name,
                f"is not declared in {cls.__qualname__}.{did_you_mean(name, cls._fields)}",
                f"Declared: {', '.join(cls._fields)}.",
            )

    @classmethod
    def check(cls, name: str, value: Any) -> None:
        """Raise ``ExpectedStateError`` if a field is not declared, or does not take the value."""
        cls.require(name)
        accept = cls._known_fields()[name][1]
        if not accept.takes(value):
            raise ExpectedStateError(
                name,
                f"takes {accept.text}, not {type_name(value)} {repr_of(value)}.",
                f"See {cls.__qualname__}.",
            )

    @classmethod
    def default(cls, name: str) -> Any:
        """What a declared field is if the entity does not have it; ``ExpectedStateError`` if there is no default."""
        default = cls._fields[name][0]
        if default is REQUIRED:
            raise ExpectedStateError(
                name,
                f"is declared in {cls.__qualname__} without a default, and the entity does not have it.",
                "Give one of the two.",
            )
        return plain_default(default)


StateReader = Callable[[Any, str], Any]

_FLAGS = {"location_changed": "location", "carrying_changed": "carrying", "storage_changed": "storage"}
_SETS = ("self_reserved", "self_region_reserved")
_NOTHING: Final[frozenset[str]] = frozenset()


def read_entity(entity: Any, name: str) -> Any:
    """What a field of CURRENT is before any action changed it.

    That is an attribute of that name on the entity, else on its components in their order; else an empty dict for the
    two reservation tables, and None for anything that nobody has.
    """
    value = getattr(entity, name, None)
    if value is not None and not callable(value):
        return value
    components = getattr(entity, "components", None)
    if components is not None:
        for component in components():
            found = getattr(component, name, None)
            if found is not None:
                return found
    return {} if name in _SETS else None


class Current:
    """One layer of expected state. Read and write any field as an attribute.

    The fields of the seed: ``location``; ``carrying``; ``storage``, with ``items``, ``full``, ``add_item`` and
    ``remove_item``; ``self_reserved``, id to entity; ``self_region_reserved``, id to offset key to offset. To be read
    only: ``location_changed`` and ``carrying_changed``; ``storage_changed`` is ours.

    Args:
        below: the layer under it, or None for the entity as it is.
        fields: the fields that there are, with their types; None for any.
    """

    __slots__ = ("_below", "_own", "_source", "_written")

    def __init__(
        self, below: Current | None, entity: Any, read: StateReader, fields: type[CurrentFields] | None = None
    ) -> None:
        put = object.__setattr__
        put(self, "_below", below)
        put(self, "_source", (entity, read, fields))
        put(self, "_own", {})
        put(self, "_written", _NOTHING)

    def __getattribute__(self, name: str) -> Any:
        own = _own(self)
        if name in own:
            value = own[name]
            if not _is_as_read(self, name, value):
                return value
            source = _before(self, name)
            if is_storage(source):
                value.take_from(source)
                return value
        if name in _FLAGS:
            return _changed(self, _FLAGS[name])
        if name in _SLOTS or name.startswith("__"):
            return object.__getattribute__(self, name)
        value = _before(self, name)
        mine = own_copy(name, value)
        if mine is not value:
            own[name] = mine
        return mine

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FLAGS:
            raise ExpectedStateError(
                name, f"is read-only: it says whether {_FLAGS[name]} was changed.", f"Write CURRENT.{_FLAGS[name]}."
            )
        _, _, fields = _source(self)
        if fields is not None:
            fields.check(name, value)
        _own(self)[name] = value
        if name not in _written(self):
            object.__setattr__(self, "_written", _written(self) | {name})

    def __delattr__(self, name: str) -> None:
        raise ExpectedStateError(name, "cannot be deleted.", "Write the value that is expected, such as None.")

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        raise TypeError("CURRENT cannot be copied: it is what one action expects. Keep the values of its fields")

    def __repr__(self) -> str:
        return f"<CURRENT: {', '.join(f'{name}={value!r}' for name, value in _own(self).items()) or 'unchanged'}>"


# How the functions here get at what a layer is made of: its attributes are the fields of CURRENT, and
# ``__getattribute__`` is asked for each. (With ``__getattr__`` every field that is read would raise an error first.)
_SLOTS: Final = frozenset(Current.__slots__)
_below: Final[Callable[[Current], Current | None]] = Current.__dict__["_below"].__get__
_own: Final[Callable[[Current], dict[str, Any]]] = Current.__dict__["_own"].__get__
_source: Final[Callable[[Current], tuple[Any, StateReader, type[CurrentFields] | None]]] = Current.__dict__[
    "_source"
].__get__
_written: Final[Callable[[Current], frozenset[str]]] = Current.__dict__["_written"].__get__


def _before(layer: Current, name: str) -> Any:
    node = _below(layer)
    while node is not None:
        own = _own(node)
        if name in own and not _is_as_read(node, name, own[name]):
            return own[name]
        node = _below(node)
    entity, read, fields = _source(layer)
    if fields is not None:
        fields.require(name)
    value = read(entity, name)
    if value is None and fields is not None:
        value = fields.default(name)
    return value


def _changed(layer: Current, name: str) -> bool:
    node: Current | None = layer
    while node is not None:
        own = _own(node)
        if name in own:  # most layers have nothing of their own
            value: Any = own[name]
            if name in _written(node) or (value.__class__ is ExpectedStorage and value.is_changed):
                return True
        node = _below(node)
    return False


def _is_as_read(layer: Current, name: str, value: Any) -> bool:
    """Whether a layer's own value is a storage that it has only looked at."""
    return value.__class__ is ExpectedStorage and not value.is_changed and name not in _written(layer)


def has_changes(layer: Current | None, below: Current | None) -> bool:
    """Whether something was written above the layer below, or handed out as a copy that can be changed in place."""
    node = layer
    while node is not None and node is not below:
        if any(not _is_as_read(node, name, value) for name, value in _own(node).items()):
            return True
        node = _below(node)
    return False


def expected_fields(layer: Current) -> dict[str, Any]:
    """The fields that a layer, or one below it, holds as expected, each as the topmost has it."""
    found: dict[str, Any] = {}
    node: Current | None = layer
    while node is not None:
        for name, value in _own(node).items():
            if name not in found and not _is_as_read(node, name, value):
                found[name] = value
        node = _below(node)
    return found
