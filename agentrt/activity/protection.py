"""Protected entities: what happens to a plan when something that it needs is destroyed.

The entities among the arguments of an activity are protected by themselves, others by ``ctx.protect_argument``. While
an action thinks or is ready, the loss of one is a rejection of its arguments; once it is started and does not run
yet, the plan is aborted. An action that runs is left alone: it may be the one that destroys it, and can listen
itself.

What is protected is whatever has a ``destroyed`` signal.

Source: seed 001, `protect_argument`, `unprotect_argument`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrt.activity.states import READY, STARTED, THINKING
from agentrt.kernel.signals import Connection, Signal
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame
    from agentrt.activity.unit import Unit

__all__ = ["Protection", "lost", "protect_arguments", "watch"]

_PLAIN = frozenset({bool, bytes, dict, float, int, list, set, str, tuple, type(None)})  # have no signals, for sure


class Protection:
    """The watch over the arguments of one activity.

    Attributes:
        missing: the name of an argument's entity that was destroyed before, or None.
    """

    __slots__ = ("_connections", "missing")

    def __init__(self) -> None:
        self._connections: list[Connection] = []
        self.missing: str | None = None

    def add(self, frame: Frame, entity: Any) -> None:
        """Watch an entity that has a ``destroyed`` signal.

        Args:
            frame: whose argument it is.
            entity: the entity.
        """
        if getattr(entity, "is_destroyed", False):
            self.missing = str(getattr(entity, "name", entity))
        else:
            self._connections.append(watch(frame, entity, None))

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
    protection = None
    args = frame.args
    # A dict as it is: that of the record, or what nobody checked because nobody performs the activity.
    for entity in (args if args.__class__ is dict else args.__dict__).values():
        if type(entity) in _PLAIN:
            continue
        if isinstance(getattr(entity, "destroyed", None), Signal):
            if protection is None:
                protection = Protection()
            protection.add(frame, entity)
    if protection is not None and protection.missing is not None and frame.planner.trace.on:
        frame.note(Event.REJECT, reason=f"the entity {protection.missing} is destroyed")
    return protection


def watch(frame: Frame, entity: Any, only: Unit | None) -> Connection:
    """Call ``lost`` when an entity is destroyed.

    Args:
        frame: the activity that it concerns.
        entity: something with a ``destroyed`` signal.
        only: the one unit that it concerns, or None for all.
    """

    def on_destroyed(_gone: object) -> None:
        lost(frame, entity, only)

    destroyed: Signal = entity.destroyed
    return destroyed.connect(on_destroyed)


def lost(frame: Frame, entity: Any, only: Unit | None) -> None:
    """A protected entity was destroyed.

    Args:
        frame: the activity that it concerns.
        entity: the entity.
        only: the unit that protected it, or None for an argument of the activity, which concerns all units.
    """
    name = str(getattr(entity, "name", entity))
    for unit in list(frame.units):
        if only is not None and unit is not only:
            continue
        if unit.extras is not None and unit.extras.is_unprotected(entity):
            continue
        if unit.state in (THINKING, READY):
            unit.lose(name)
        elif unit.state == STARTED:
            frame.execution.abort(f"the entity {name} was destroyed", unit)
