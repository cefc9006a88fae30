"""CURRENT: the state that an entity is expected to have at a step of a plan that has not run yet.

The root is the entity as it is. Every thinking unit that touches CURRENT gets a layer of its own on top of what came
before it; what it writes stays in that layer. The elected unit's layer is what the steps after it build on. Competing
futures therefore never see each other, and taking a unit back takes its future back; nothing is copied that nobody
touches.

A value that has a ``copy()`` method (a list, a dict, a storage) is copied into the layer of the first unit that reads
it, so that changing it in place changes that future only.

Source: seed 001, "Step declarations", `ai.CURRENT`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Current", "StateReader", "read_entity"]

StateReader = Callable[[Any, str], Any]

_FLAGS = {"location_changed": "location", "carrying_changed": "carrying", "storage_changed": "storage"}
_SETS = ("self_reserved", "self_region_reserved")


def read_entity(entity: Any, name: str) -> Any:
    """What a field of CURRENT is before any action changed it.

    Looks for an attribute of that name on the entity, then on its components in their order.

    Args:
        entity: the entity.
        name: the field, such as ``location``, ``carrying``, ``storage``.

    Returns:
        The value; an empty dict for the two reservation tables, None for anything that nobody has.
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

    Args:
        below: the layer under it, or None for the entity as it is.
        entity: whose state it is.
        read: how to read the entity as it is.
    """

    __slots__ = ("_below", "_entity", "_own", "_read", "_written")

    def __init__(self, below: Current | None, entity: Any, read: StateReader) -> None:
        put = object.__setattr__
        put(self, "_below", below)
        put(self, "_entity", entity)
        put(self, "_read", read)
        put(self, "_own", {})
        put(self, "_written", set())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        own = self._own
        if name in own:
            return own[name]
        if name in _FLAGS:
            return self._changed(_FLAGS[name])
        value = self._read(self._entity, name) if self._below is None else self._below._peek(name)
        copy = getattr(value, "copy", None)
        if callable(copy):
            value = own[name] = copy()
        return value

    def _peek(self, name: str) -> Any:
        layer: Current | None = self
        while layer is not None:
            if name in layer._own:
                return layer._own[name]
            layer = layer._below
        return self._read(self._entity, name)

    def _changed(self, name: str) -> bool:
        layer: Current | None = self
        while layer is not None:
            if name in layer._written:
                return True
            layer = layer._below
        return False

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FLAGS:
            raise AttributeError(f"CURRENT.{name} is read-only: it says whether {_FLAGS[name]} was changed")
        self._own[name] = value
        self._written.add(name)

    def __repr__(self) -> str:
        return f"<CURRENT: {', '.join(f'{name}={value!r}' for name, value in self._own.items()) or 'unchanged'}>"
