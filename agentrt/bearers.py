"""Bearers of AI: entities, equipment, jobs and buffs, and where each of them keeps its packs.

Two rules, one for each way:

* *Its own list.* An agent takes, when it is made, the packs that its entity lists: in the attribute ``ai_packs``, and
  then in each entry of the mapping ``entity_data`` whose key is ``ai_packs`` or ends with ``:ai_packs``. A list holds
  aliases and packs written in place; an object with the list under ``packs`` stands for it.
* *What it wears.* A bearer of AI has ``injected_ai``, an attribute or a key: a pack written in place, an alias, or a
  list of them. An entity or a mapping that has none itself is searched through its components: the collar is a thing
  whose equipment piece bears the AI. ``Agent.inject_from`` takes it; who takes the collar off, or ends the buff,
  revokes the injection.

A job is both in one: ``abilities`` is a bearer (or the alias of a pack), and ``task_groups`` names groups of the town;
see ``agentrt.town``.

Source: seed 001, "Injecting actions".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from agentrt.errors import DefinitionError
from agentrt.packs.loader import Pack
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.injection import Injectable

__all__ = ["ai_of", "attribute_of", "packs_of", "words_for"]

_KEY = "ai_packs"


def attribute_of(thing: object, name: str) -> Any:
    """What a mapping has under a key, or another object as an attribute; None if nothing.

    Args:
        thing: a mapping or any object.
        name: the key or attribute.
    """
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def words_for(bearer: object) -> str:
    """What to call a bearer: its ``name``, or the name of its type.

    Args:
        bearer: anything.
    """
    name = attribute_of(bearer, "name")
    return name if isinstance(name, str) and name else type(bearer).__name__.lower()


def packs_of(entity: object) -> tuple[Injectable, ...]:
    """The packs that an entity lists as its own.

    Args:
        entity: any object.

    Raises:
        DefinitionError: the list is none.
    """
    found: list[Injectable] = []
    own = getattr(entity, _KEY, None)
    if own:
        found.extend(_listed(own, f"{words_for(entity)}.{_KEY}"))
    data = getattr(entity, "entity_data", None)
    if isinstance(data, Mapping):
        for key, value in data.items():
            if isinstance(key, str) and (key == _KEY or key.endswith(f":{_KEY}")):
                found.extend(_listed(value, f"{words_for(entity)}.entity_data[{key!r}]"))
    return tuple(found)


def _listed(value: Any, where: str) -> Iterator[Injectable]:
    if isinstance(value, Mapping) and set(value) == {"packs"}:
        value = value["packs"]
    if isinstance(value, (str, Mapping)) or not isinstance(value, (list, tuple)):
        raise DefinitionError(
            where, f"it is {repr_of(value)}.", "Write a list of packs: their aliases, or packs written in place."
        )
    for one in value:
        if not isinstance(one, (str, Mapping, Pack)):
            raise DefinitionError(where, f"it lists {repr_of(one)}.", "Write the alias of a pack, or a pack in place.")
        yield one


def ai_of(bearer: object) -> tuple[Injectable, ...]:
    """The packs that a bearer of AI has.

    Args:
        bearer: an object or a mapping with ``injected_ai``, or one of whose components has it.

    Raises:
        DefinitionError: nothing there has it, or it is no pack.
    """
    found: list[Injectable] = []
    for thing in (bearer, *_components(bearer)):
        given = attribute_of(thing, "injected_ai")
        if given is not None:
            packs = given if isinstance(given, (list, tuple)) else (given,)
            for pack in packs:
                if not isinstance(pack, (str, Mapping, Pack)):
                    raise DefinitionError(
                        words_for(bearer),
                        f"its injected_ai is {repr_of(pack)}.",
                        "Write the alias of a pack, or a pack in place.",
                    )
                found.append(pack)
    if not found:
        raise DefinitionError(
            words_for(bearer),
            f"this {type(bearer).__name__} bears no AI.",
            "Give it 'injected_ai', as an attribute, a key or on a component: a pack in place, or the alias of one.",
        )
    return tuple(found)


def _components(bearer: object) -> Iterator[object]:
    """The components of an entity, or of the mapping that describes one, in their order."""
    components = attribute_of(bearer, "components")
    if callable(components):
        components = components()
    if isinstance(components, Mapping):
        yield from components.values()
    elif isinstance(components, Iterator):
        yield from components
