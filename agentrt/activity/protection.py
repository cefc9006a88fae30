"""Protected entities: what happens to a plan when something that it needs is destroyed.

The entities among the arguments of an activity are protected by themselves, others by ``ctx.protect_argument``. While
an action thinks or is ready, the loss of one is a rejection of its arguments; once it is started and does not run
yet, the plan is aborted. An action that runs is left alone: it may be the one that destroys it, and can listen
itself. What is gone already when it is to be protected is lost at that moment, with the same consequences; so is an
argument that went while an action did not think, when that begins to.

What is protected is whatever has a ``destroyed`` signal (``body.entity``). It may lie inside lists, tuples, sets,
dicts, dataclasses and records, within one another: as they are when thinking begins, and down to a depth
(``_DEEPEST``). What lies inside an entity is its own affair. A container of thousands is a map or a path, and nobody
should pay for looking through it with each thought: beyond ``_MOST`` values nothing is looked for. It is counted for
each argument and by whole levels, so that what is protected does not depend on the order of a set.

Source: seed 001, `protect_argument`, `unprotect_argument`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.fields import inner_values
from agentrt.activity.states import READY, STARTED, THINKING
from agentrt.body.entity import destroyed_signal, is_gone
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.signals import Connection
from agentrt.kernel.trace import Event
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame
    from agentrt.activity.unit import Unit

__all__ = ["Protection", "entities_in", "first_gone", "lost", "meant", "protect_arguments", "watch"]

_PLAIN: Final = frozenset({bool, bytes, float, int, str, type(None)})  # have no signals and hold nothing, for sure
_CONTAINERS: Final = frozenset({dict, frozenset, list, set, tuple})
_DEEPEST: Final = 8  # lists within lists
_MOST: Final = 10_000  # values that are looked at in one argument
_LONGEST: Final = 100  # characters of an entity's name


class Protection:
    """The watch over the arguments of one activity.

    Attributes:
        missing: the name of an argument's entity that was destroyed, before or meanwhile; None while all are there.
    """

    __slots__ = ("_connections", "missing")

    def __init__(self, frame: Frame, entities: list[Any]) -> None:
        gone = first_gone(entities)
        self.missing: str | None = None if gone is None else _name(gone)
        self._connections: list[Connection] = [] if gone is not None else [watch(frame, one, None) for one in entities]

    def release(self) -> None:
        """Watch no more."""
        for connection in self._connections:
            connection.close()


def protect_arguments(frame: Frame) -> Protection | None:
    """Watch the entities among the arguments of an activity.

    Args:
        frame: the activity.

    Returns:
        The watch; None if there is nothing to be watched.
    """
    found: list[Any] | None = None
    args = frame.args
    # A dict as it is: that of the record, or what nobody checked because nobody performs the activity.
    for value in (args if args.__class__ is dict else args.__dict__).values():
        if type(value) in _PLAIN:
            continue
        entities = entities_in(value)
        if entities:
            found = [*entities] if found is None else [*found, *entities]
    if found is None:
        return None
    protection = Protection(frame, found)
    if protection.missing is not None and frame.planner.trace.on:
        frame.note(Event.REJECT, reason=f"the entity {protection.missing} is destroyed")
    return protection


def entities_in(value: Any) -> Collection[Any]:
    """The entities that a value is or holds, each once.

    Args:
        value: an entity, something that holds some, or anything else.
    """
    if destroyed_signal(value) is not None:
        return (value,)
    found: list[Any] = []
    seen: dict[int, object] = {id(value): value}
    level, left = _inside(value), _MOST
    for _ in range(_DEEPEST):
        left -= len(level)
        if left < 0 or _PLAIN.issuperset(map(type, level)):
            break
        deeper: list[Any] = []
        for one in level:
            if type(one) in _PLAIN or id(one) in seen:
                continue
            seen[id(one)] = one
            if destroyed_signal(one) is not None:
                found.append(one)
            else:
                deeper.extend(_inside(one))
        level = deeper
    return found


def _inside(value: Any) -> Collection[Any]:
    try:
        if type(value) in _CONTAINERS and len(value) > _MOST:
            return ()
        return inner_values(value)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # an author's own, that cannot be looked into: nobody can protect what is in there
        return ()


def meant(frame: Frame, value: Any) -> Collection[Any]:
    """The entities that an author means who hands something to ``ctx.protect_argument`` or its counterpart.

    Args:
        frame: the activity of the action.
        value: an entity, something that holds some, or the name of an argument that is or holds some.
    """
    args = frame.args
    if isinstance(value, str) and args is not None and value in args:
        value = args[value]
    return entities_in(value)


def first_gone(entities: Iterable[Any]) -> Any:
    """The first by its name of those that were destroyed; None while all are there.

    Args:
        entities: in any order, that of a set for instance.
    """
    return min((one for one in entities if is_gone(one)), key=_name, default=None)


def watch(frame: Frame, entity: Any, only: Unit | None) -> Connection:
    """Call ``lost`` when an entity is destroyed.

    Args:
        frame: the activity that it concerns.
        entity: something with a ``destroyed`` signal.
        only: the one unit that it concerns, or None for all.
    """

    def on_destroyed(_gone: object) -> None:
        lost(frame, entity, only)

    destroyed = destroyed_signal(entity)
    assert destroyed is not None
    return destroyed.connect(on_destroyed)


def lost(frame: Frame, entity: Any, only: Unit | None) -> None:
    """A protected entity was destroyed.

    Args:
        frame: the activity that it concerns.
        entity: the entity.
        only: the unit that protected it, or None for an argument of the activity, which concerns all units.
    """
    name = _name(entity)
    if only is None and frame.protection is not None and frame.protection.missing is None:
        frame.protection.missing = name
    for unit in list(frame.units):
        if only is not None and unit is not only:
            continue
        if unit.extras is not None and unit.extras.is_unprotected(entity):
            continue
        if unit.state in (THINKING, READY):
            unit.lose(name)
        elif unit.state == STARTED:
            frame.execution.abort(f"the entity {name} was destroyed", unit)


def _name(entity: Any) -> str:
    try:
        name = getattr(entity, "name", entity)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # a property of the author's that does not work for this one
        name = entity
    return words_of(name, _LONGEST)
