"""A task: something that a group is to have done by one of its members, or by several.

A task begins paused, so that it can be configured, is started, and ends completed or destroyed. Rules:

* The state changes when it is told to; what that means for members who think about it or do it comes with the next
  intake, like everything that is told from outside.
* A worker is a member whose task action was started. There are never more workers than ``max_workers``, nor than how
  many times are left to be done. While there is no room, the others do not consider the task; when there is again, they
  think about it anew, at once.
* *Interrupted* is told each time a worker is stopped before its end, *completed* once, when the last of the times
  is done, and *destroyed* exactly once and last, when nobody works on it any more. They are told from the ready queue,
  never on the stack of the plan.
* A task whose argument is destroyed cannot be done: it is destroyed as soon as nobody works on it. A worker may finish,
  since it may be the one that used the thing up.

Source: seed 001, "Tasks".

The states of a task, as a table: for each the states that may follow. A change that is not in it is an error.

A paused task can be completed: who worked on it stops at the next intake only, and may be done before that.

Source: seed 001, "Issuing tasks".

The work on a task: who does it, how many may, and what is told of it.

``TaskWork`` is what the units and the group of a task deal with; ``Task`` adds what its owner does. A worker is a
unit that has a *place*; it has it from the moment in which it is to be started, or in which something is to be
interrupted for it. Who has done the task gives the place back then, and not only when its plan is over.

Source: seed 001, "Issuing tasks".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.plan.extras import entities_in
from agentrt.activity.states import READY, STARTED, THINKING
from agentrt.errors import WrongStateError
from agentrt.kernel.signals import Connection, Event
from agentrt.kernel.traps import at_once, current_kernel
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.tasks.declare import TaskDeclaration, TaskSpec
    from agentrt.activity.tasks.group import TaskGroup
    from agentrt.activity.tasks.units import TaskUnit

__all__ = ["TASK_TABLE", "TaskState", "TaskWork", "Task"]


class TaskState(StrEnum):
    """What became of a task."""

    PAUSED = "paused"  # nobody considers it; so it begins
    STARTED = "started"  # members think about it and do it
    COMPLETED = "completed"  # done as often as it was to be
    DESTROYED = "destroyed"  # taken back


TASK_TABLE: Final[Mapping[TaskState, tuple[TaskState, ...]]] = {
    TaskState.PAUSED: (TaskState.STARTED, TaskState.COMPLETED, TaskState.DESTROYED),
    TaskState.STARTED: (TaskState.PAUSED, TaskState.COMPLETED, TaskState.DESTROYED),
    TaskState.COMPLETED: (),
    TaskState.DESTROYED: (),
}


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


Told = Callable[["Task"], object]


class Task(TaskWork):
    """Something to be done by the members of a group. Made by ``TaskGroup.create_task``.

    Attributes:
        group: the group that it belongs to.
        number: its number in the group, from 1; never given twice.
        activity: what is to be done.
        args: with which arguments.
        is_permanent: whether it is there for as long as the group is.
        state: see ``TaskState``.
        remaining: how many times it is still to be done; None for ever.
        worker_limit: how many members may do it at a time; None for any number.
        annotation: a text about it, for debugging tools.
        source: what it was created for, for debugging tools.
        finished: how many times it was done.

    Source: seed 001, "Issuing tasks".
    """

    __slots__ = ("annotation", "source")

    def __init__(self, group: TaskGroup, number: int, declaration: TaskDeclaration, args: Mapping[str, Any]) -> None:
        super().__init__(group, number, declaration, args)
        self.annotation: str = ""
        self.source: Any = None

    # --- configuration ------------------------------------------------------------------------------------------------

    def times(self, count: int) -> Task:
        """Say how many times it is to be done; without that, again and again.

        Args:
            count: 1 or more.

        Returns:
            The task.

        Raises:
            WrongStateError: it is not paused, or permanent.
            ValueError: it is no such number.
        """
        self._configure("times")
        if self.is_permanent:
            raise WrongStateError("times", f"{self!r} is permanent", "Declare it with declare_task to have an end.")
        self.remaining: int | None = _count("times", count)
        self.make_room(count)
        return self

    def once(self) -> Task:
        """Have it done once: ``times(1)``.

        Returns:
            The task.

        Raises:
            WrongStateError: it is not paused, or permanent.
        """
        return self.times(1)

    def max_workers(self, count: int) -> Task:
        """Say how many members may do it at a time; without that, all who want to.

        Args:
            count: 1 or more.

        Returns:
            The task.

        Raises:
            WrongStateError: it is not paused.
            ValueError: it is no such number.
        """
        self._configure("max_workers")
        self.worker_limit: int | None = _count("max_workers", count)
        self.make_room(count)
        return self

    def set_annotation(self, text: str) -> Task:
        """Attach a text, for debugging tools.

        Args:
            text: a few words.

        Returns:
            The task.
        """
        self.annotation = text
        return self

    def set_source(self, source: Any) -> Task:
        """Name what it was created for, for debugging tools.

        Args:
            source: any object.

        Returns:
            The task.
        """
        self.source = source
        return self

    def notify_completed(self, told: Told) -> Task:
        """Call a function once when it is completed: done as often as ``times`` says.

        Args:
            told: called with the task.

        Returns:
            The task.
        """
        return self._tell_later("notify_completed", "completed", told)

    def notify_interrupted(self, told: Told) -> Task:
        """Call a function each time a worker is stopped before it is done.

        Args:
            told: called with the task.

        Returns:
            The task.
        """
        return self._tell_later("notify_interrupted", "interrupted", told)

    def notify_destroyed(self, told: Told) -> Task:
        """Call a function once when it is gone: destroyed, or completed, and nobody works on it any more.

        Args:
            told: called with the task.

        Returns:
            The task.
        """
        return self._tell_later("notify_destroyed", "destroyed", told)

    def _configure(self, method: str) -> None:
        if self.state is not TaskState.PAUSED:
            raise WrongStateError(method, f"{self!r} is {self.state}", "Call it before start(), or pause it first.")

    def _tell_later(self, method: str, what: str, told: Told) -> Task:
        if not callable(told):
            raise TypeError(f"{method}({repr_of(told)}): it takes a function, which is called with the task")
        self._told.setdefault(what, []).append(told)
        return self

    # --- what its owner does ------------------------------------------------------------------------------------------

    def start(self) -> Task:
        """Offer it to the members, from the next intake on; again after a pause.

        Returns:
            The task.

        Raises:
            WrongStateError: it is over.
        """
        if self.state is not TaskState.STARTED:
            self._move("start", TaskState.STARTED)
        return self

    def pause(self) -> Task:
        """Take it from the members at the next intake, and have those who work on it stop; ``start`` offers it again.

        Returns:
            The task.

        Raises:
            WrongStateError: it is over.
        """
        if self.state is not TaskState.PAUSED:
            self._move("pause", TaskState.PAUSED)
        return self

    def destroy(self) -> None:
        """Take it back for good at the next intake; nothing happens if it is over.

        Raises:
            WrongStateError: it is permanent.
        """
        if self.is_permanent:
            raise WrongStateError(
                "destroy", f"{self!r} is permanent", "Pause it, or destroy the group or what declared it."
            )
        self.discard()

    async def wait(self) -> bool:
        """Wait until it is over and nobody works on it. For coroutines that the runtime steps: observers, actions.

        Returns:
            Whether it was completed; else it was destroyed.

        Raises:
            NotRunningError: called by a coroutine that no runtime steps, while it is not over.
        """
        if not self._over.is_set:
            await at_once()
            current_kernel()  # or raises, and says what else to do
        await self._over.wait()
        return self.state is TaskState.COMPLETED

    @property
    def workers(self) -> tuple[str, ...]:
        """The names of the agents that do it now, in the order in which they began."""
        return tuple(unit.frame.planner.name for unit in self.working if unit.state >= STARTED)

    def __repr__(self) -> str:
        words = f", {self.annotation}" if self.annotation else ""
        return f"<Task {self.number} of {self.group.name}: {self.activity}, {self.state}{words}>"


def _count(method: str, count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"{method}({repr_of(count)}): it takes a whole number from 1")
    return count
