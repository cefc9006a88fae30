"""The work on a task: who does it, how many may, and what is told of it.

``TaskWork`` is what the units and the group of a task deal with; ``Task`` adds what its owner does. A worker is a
unit that has a *place*; it has it from the moment in which it is to be started, or in which something is to be
interrupted for it. Who has done the task gives the place back then, and not only when its plan is over.

Source: seed 001, "Issuing tasks".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agentrt.activity.protection import entities_in
from agentrt.activity.states import READY, THINKING
from agentrt.activity.task_states import TASK_TABLE, TaskState
from agentrt.errors import WrongStateError
from agentrt.kernel.signals import Connection, Event

if TYPE_CHECKING:
    from agentrt.activity.task_group import TaskGroup
    from agentrt.activity.task_specs import TaskDeclaration, TaskSpec
    from agentrt.activity.task_units import TaskUnit

__all__ = ["TaskWork"]


class TaskWork:
    """A task, as its units and its group see it.

    Attributes:
        group: the group that it belongs to.
        number: its number in the group, from 1; never given twice.
        declaration: what it was created from.
        activity: what is to be done.
        args: with which arguments.
        is_permanent: whether it is there for as long as the group is.
        state: see ``TaskState``.
        remaining: how many times it is still to be done; None for ever.
        worker_limit: how many members may do it at a time; None for any number.
        finished: how many times it was done.
        spec: what the members know of it, while they do.
        units: the places where members think about it or do it.
        working: those of them that have a place.
    """

    __slots__ = (
        "_connections",
        "_is_doomed",
        "_is_told",
        "_open_since",
        "_over",
        "_told",
        "activity",
        "args",
        "declaration",
        "finished",
        "group",
        "is_permanent",
        "number",
        "remaining",
        "spec",
        "state",
        "units",
        "worker_limit",
        "working",
    )

    def __init__(self, group: TaskGroup, number: int, declaration: TaskDeclaration, args: Mapping[str, Any]) -> None:
        self.group: TaskGroup = group
        self.number: int = number
        self.declaration: TaskDeclaration = declaration
        self.activity: str = declaration.activity
        self.args: dict[str, Any] = dict(args)
        self.is_permanent: bool = declaration.is_permanent
        self.state: TaskState = TaskState.PAUSED
        self.remaining: int | None = None
        self.worker_limit: int | None = None
        self.finished: int = 0
        self.spec: TaskSpec | None = None
        self.units: list[TaskUnit] = []
        self.working: list[TaskUnit] = []
        self._open_since: int | None = None  # the tick since which it waits for somebody
        self._is_doomed = False  # an argument was destroyed
        self._is_told = False  # whether its end was told
        self._over = Event()
        self._told: dict[str, list[Callable[[Any], object]]] = {}
        self._connections: list[Connection] = []
        for value in self.args.values():
            for entity in entities_in(value):
                self._watch(entity)

    @property
    def is_over(self) -> bool:
        """Whether it was completed or destroyed."""
        return self.state is TaskState.COMPLETED or self.state is TaskState.DESTROYED

    def discard(self) -> None:
        """Destroy it, permanent or not; its group is done with it."""
        if not self.is_over:
            self._move("destroy", TaskState.DESTROYED)

    def _move(self, method: str, state: TaskState) -> None:
        if state not in TASK_TABLE[self.state]:
            raise WrongStateError(method, f"{self!r} is {self.state}", "Create another one with create_task().")
        self.state = state
        self.group.note(self, state.value)
        self.group.changed(self)

    def make_room(self, count: int) -> None:
        """There may be fewer workers from now on. If there are more, all are stopped at the next intake.

        Args:
            count: how many there may be.
        """
        if count < len(self.working):
            self.spec = None  # what members know of it now is taken back; once it is started they get another one

    # --- what its units do --------------------------------------------------------------------------------------------

    def has_room(self) -> bool:
        """Whether one more member may do it."""
        if self.state is not TaskState.STARTED:
            return False
        limits = [limit for limit in (self.worker_limit, self.remaining) if limit is not None]
        return not limits or len(self.working) < min(limits)

    def take(self, unit: TaskUnit) -> bool:
        """A member begins to do it.

        Args:
            unit: its task action.

        Returns:
            Whether there was room for it.
        """
        if not self.has_room():
            return False
        self.working.append(unit)
        if self._open_since is not None:
            self.group.waited(self, unit.frame.planner.kernel.clock.tick - self._open_since)
            self._open_since = None
        self._room_changed()
        return True

    def finish(self, unit: TaskUnit) -> None:
        """A member has done it once.

        Args:
            unit: its task action.
        """
        if unit not in self.working:
            return
        self.working.remove(unit)
        self.finished += 1
        self.group.note(self, "finished", unit)
        if self.remaining:
            self.remaining -= 1
            if self.remaining == 0 and not self.is_over:
                self._move("finish", TaskState.COMPLETED)
                self._tell("completed")
        self._left(unit)

    def leave(self, unit: TaskUnit, *, is_interrupted: bool) -> None:
        """A member that was doing it is stopped before the end.

        Args:
            unit: its task action.
            is_interrupted: whether somebody is to be told; not for one that was refused in the moment of its start.
        """
        if unit in self.working:
            self.working.remove(unit)
            if is_interrupted:
                self.group.note(self, "interrupted", unit)
                self._tell("interrupted")
            self._left(unit)

    def _left(self, unit: TaskUnit) -> None:
        if not self.working:
            if self._is_doomed and not self.is_over:
                self.discard()
            elif self.state is TaskState.STARTED:
                self.offered(unit.frame.planner.kernel.clock.tick)
        self._room_changed()
        self.tell_end()

    def _room_changed(self) -> None:
        """Have those who think about it see whether there is room; not on this stack, which may start one of them."""
        if self.worker_limit is None and self.remaining is None:
            return
        self.group.room_changed(self)
        for unit in self.units:
            if unit.state == THINKING or unit.state == READY:
                unit.frame.planner.kernel.call_soon(unit.room_changed)

    # --- what its group does ------------------------------------------------------------------------------------------

    def offered(self, tick: int) -> None:
        """The members know it now.

        Args:
            tick: when.
        """
        if not self.working and not self.is_permanent:  # a permanent one is no work that somebody waits for
            self._open_since = tick

    def withdrawn(self) -> None:
        """The members do not know it any more."""
        self._open_since = None

    def tell_end(self) -> None:
        """Tell its end, once it is over and nobody works on it any more."""
        if self.is_over and not self.working and not self._is_told:
            self._is_told = True
            for connection in self._connections:
                connection.close()
            self._connections.clear()
            self._tell("destroyed")
            self.group.tell(self._over.set)

    def _tell(self, what: str) -> None:
        for told in self._told.get(what, ()):
            self.group.tell(told, self)

    def _watch(self, entity: Any) -> None:
        def gone(_entity: object) -> None:
            self._is_doomed = True
            if not self.working and not self.is_over:
                self.discard()

        self._connections.append(entity.destroyed.connect(gone))
