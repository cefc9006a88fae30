"""What an agent offers to be looked at besides its plan: its needs, attributes, components, variables.

*Its values* are taken with its snapshot (``values_of``), in groups by name, as numbers, texts and truth values:

* what the hook of its author says, ``agent.values = lambda: {"hunger": 0.7, "mood": {"joy": 0.2}}``: a mapping within
  it is a group, and what stands alone is in the group without a name;
* the fields of its entity's components, below the names of their classes: what an object keeps in its ``__dict__`` or
  its slots, if it is a number, a text or a truth value. No property is asked, no code of an author's runs, and what
  begins with ``_`` is its own business.

*Everything that has a name* (``offered``) is made of a snapshot as JSON, so that it is the same live and in a
recording: those values, the variables of selection trees, what behavior trees perceive, and of each action that is not
idle its ``utility`` and the plain part of ``ctx.get_debug_info_datastore()``. ``values_by_name`` makes one mapping of
them, for ``agentrt.expressions.Expression``: ``hunger``, ``Needs.satiety``, ``selection.alerted``, ``Eat.utility``.

An action that declares ``made_of = ("hunger",)`` says which of them its utility was made of (``MadeOf``). What it keeps
in its own datastore under that name comes first: that is what it had when it thought. Else it is what the agent offers
now, and None where there is nothing of that name.

All of it is bounded, whoever wrote the world and whoever made the recording.

Source: Unreal, the Visual Logger and the StateTree debugger; Stonehearth, AI: `get_debug_info_datastore`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from itertools import islice
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Final, NamedTuple, Protocol
from weakref import WeakKeyDictionary

from agentrt.errors import ENDS_PROGRAM
from agentrt.expressions import NamedValues, Value
from agentrt.words import error_words, plain, words_of

MOST_GROUPS: Final = 64
MOST_VALUES: Final = 64  # in a group
_LONGEST_NAME: Final = 60
_LONGEST_TEXT: Final = 120
_LARGEST: Final = 2**53  # what a page can count, too
_MOST_UNITS: Final = 2000  # of a plan, that are looked at
_DEEPEST: Final = 100  # activities below each other

Values = dict[str, dict[str, Value]]


class Offering(Protocol):
    """An agent, as its values are read."""

    @property
    def entity(self) -> object:
        """What it acts for."""
        ...

    def ask_values(self) -> Mapping[str, object]:
        """What its author's hook says."""
        ...


# --- taking them ------------------------------------------------------------------------------------------------------


def values_of(agent: Offering) -> Values:
    """What an agent offers now, in groups."""
    own: dict[str, Value] = {}
    groups: Values = {}
    try:
        for name, value in _first(agent.ask_values()):
            if not isinstance(value, Mapping):
                own[name] = _value(value)
            elif len(groups) < MOST_GROUPS:
                groups[name] = {key: _value(one) for key, one in _first(value)}
    except ENDS_PROGRAM:
        raise
    except BaseException as error:  # a mapping of somebody's own that cannot be gone through
        own["problem"] = f"its values cannot be gone through: {error_words(error, _LONGEST_TEXT)}"
    found = {"": own, **groups} if own else groups
    for component in _components(agent.entity):
        fields = _fields(component)
        if fields and len(found) < MOST_GROUPS:
            found.setdefault(_name(type(component).__name__), {}).update(fields)
    return found


def _first(mapping: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """As many of its items as a group holds, by names."""
    for number, (name, value) in enumerate(mapping.items()):
        if number >= MOST_VALUES:
            return
        yield _name(name), value


def _name(name: object) -> str:
    return words_of(name, _LONGEST_NAME).replace("`", "'")  # in expressions, an odd one stands between these


def _value(value: object) -> Value:
    """A value as numbers, texts and truth values know it; anything else in words."""
    kind = type(value)
    if value is None or kind is bool or (kind is int and -_LARGEST <= value <= _LARGEST):  # type: ignore[operator]
        return value  # type: ignore[return-value]
    shown = plain(value)
    if type(shown) is str:
        return words_of(shown, _LONGEST_TEXT)
    if type(shown) is float or (type(shown) is int and -_LARGEST <= shown <= _LARGEST):
        return shown
    return words_of(shown, _LONGEST_TEXT)


def _components(entity: object) -> list[object]:
    try:
        components = getattr(entity, "components", None)
        found = components() if callable(components) else components
        found = found.values() if isinstance(found, Mapping) else found
        first = islice(found, MOST_GROUPS) if isinstance(found, Iterable) else ()
        return [one for one in first if one is not entity]  # one that is its own component has its hook
    except ENDS_PROGRAM:
        raise
    except BaseException:  # an entity of somebody's own that does not tell
        return []


class _Fields(NamedTuple):
    """Where objects of a class keep their fields, by the interpreter's own descriptors: none of them runs any code."""

    slots: tuple[tuple[str, MemberDescriptorType], ...]  # the public ones
    names: GetSetDescriptorType | None  # gives the ``__dict__``, if there is one


_FIELDS: Final[WeakKeyDictionary[type, _Fields]] = WeakKeyDictionary()
"""Of each class of components: they are looked at again and again, and a class keeps its shape."""


def _kept_by(cls: type) -> _Fields:
    found = _FIELDS.get(cls)
    if found is None:
        slots: dict[str, MemberDescriptorType] = {}
        names: GetSetDescriptorType | None = None
        for base in reversed(cls.__mro__):
            for name, one in vars(base).items():
                if type(one) is MemberDescriptorType and not name.startswith("_"):
                    slots[name] = one
                elif name == "__dict__":
                    names = one if type(one) is GetSetDescriptorType and base is not type else None
        found = _FIELDS[cls] = _Fields(tuple(slots.items())[:MOST_VALUES], names)
    return found


def _fields(component: object) -> dict[str, Value]:
    """What a component keeps that is plain; nothing of it is called."""
    slots, names = _kept_by(type(component))
    found: dict[str, Value] = {}
    for name, slot in slots:
        try:
            value = slot.__get__(component)
        except AttributeError:  # it was not set
            continue
        if _is_plain(value):
            found[name] = _value(value)
    kept = {} if names is None else names.__get__(component)
    for name, value in list(kept.items()):
        if len(found) >= MOST_VALUES:
            break
        if type(name) is str and not name.startswith("_") and _is_plain(value):
            found[name] = _value(value)
    return found


def _is_plain(value: object) -> bool:
    return type(value) in (float, int, bool, str) or isinstance(value, Enum)


class MadeOf:
    """What utilities are made of, at one moment of one agent; nothing is composed unless an action asks for it."""

    __slots__ = ("_named", "_values")

    def __init__(self, values: Values) -> None:
        self._values = values
        self._named: NamedValues | None = None

    def of(self, names: Iterable[str], kept: Mapping[str, object] | None) -> dict[str, Value]:
        """Each name with its value: what the action keeps under it, else what the agent offers, else None."""
        made: dict[str, Value] = {}
        for name in islice(names, MOST_VALUES):
            if kept and name in kept:
                made[name] = _value(kept[name])
                continue
            if self._named is None:
                self._named = NamedValues(_flat(self._values.items()))
            key = self._named.find(name)
            made[name] = None if key is None else self._named.values[key]
        return made


# --- everything that has a name ---------------------------------------------------------------------------------------


class ValueGroup(NamedTuple):
    """Values that belong together."""

    name: str  # empty for what the agent's own hook says by itself
    kind: str  # ``agent``, ``variables``, ``stimuli`` or ``action``
    values: dict[str, Value]


def offered(view: Mapping[str, object]) -> list[ValueGroup]:
    """All that an agent offers, by its snapshot as JSON, from wherever that comes."""
    groups = [ValueGroup(name, "agent", values) for name, values in _read(view.get("values")).items()]
    for driver in _objects(view.get("drivers")):
        state = driver.get("state")
        if not isinstance(state, dict) or len(groups) >= MOST_GROUPS:
            continue
        name = _name(driver.get("name"))
        if driver.get("model") == "selection":
            groups.append(ValueGroup(name, "variables", _pairs(state.get("variables"))))
        elif driver.get("model") == "behavior":
            stimuli = _objects(state.get("stimuli"))
            groups.append(ValueGroup(name, "stimuli", {_name(one.get("token")): True for one in stimuli[:MOST_VALUES]}))
    groups += _actions(view)
    return [group for group in groups if group.values]


def values_by_name(groups: Iterable[ValueGroup]) -> dict[str, Value]:
    """One mapping of them, as expressions read it: ``group.name``, and the name alone of what has no group."""
    return _flat((group.name, group.values) for group in groups)


def _flat(groups: Iterable[tuple[str, dict[str, Value]]]) -> dict[str, Value]:
    flat: dict[str, Value] = {}
    for group, values in groups:
        for name, value in values.items():
            flat.setdefault(f"{group}.{name}" if group else name, value)
    return flat


def _read(values: object) -> Values:
    """The values of a view; whatever a file says."""
    if not isinstance(values, dict):
        return {}
    found = [(name, group) for name, group in values.items() if isinstance(group, dict)][:MOST_GROUPS]
    return {_name(name): {key: _value(one) for key, one in _first(group)} for name, group in found}


def _objects(values: object) -> list[dict[str, object]]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, (list, tuple)) else []


def _pairs(values: object) -> dict[str, Value]:
    if isinstance(values, dict):
        return {name: _value(value) for name, value in _first(values)}
    pairs = values[:MOST_VALUES] if isinstance(values, (list, tuple)) else ()
    return {_name(one[0]): _value(one[1]) for one in pairs if isinstance(one, (list, tuple)) and len(one) == 2}


def _actions(view: Mapping[str, object]) -> list[ValueGroup]:
    """Of each action that is not idle its utility, and what it keeps for debugging. Of one name, the elected one."""
    found: dict[str, ValueGroup] = {}
    elected: set[str] = set()
    room = _MOST_UNITS
    frames = [(frame, 0) for frame in [*_objects(view.get("performances"))[::-1], *_objects([view.get("plan")])]]
    while frames and room > 0:
        frame, depth = frames.pop()
        below: list[tuple[dict[str, object], int]] = []
        for unit in _objects(frame.get("units"))[:room]:
            room -= 1
            name, is_elected = _name(unit.get("action")), unit.get("is_elected") is True
            kept = unit.get("debug")
            is_told = unit.get("state", "idle") != "idle" and unit.get("kind") not in ("task", "group")
            if is_told and (name not in found or (is_elected and name not in elected)):
                utility = unit.get("boosted", unit.get("utility", 0.0))
                values = {"utility": _value(utility)}
                if isinstance(kept, dict):
                    values |= {key: _value(one) for key, one in _first(kept) if _is_plain(one)}
                if name in found or len(found) < MOST_GROUPS:
                    found[name] = ValueGroup(name, "action", values)
                if is_elected:
                    elected.add(name)
            if depth < _DEEPEST:
                below += [(child, depth + 1) for child in _objects(unit.get("frames"))]
        frames += below[::-1]
    return list(found.values())
