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
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agentrt.activity.states import STARTED
from agentrt.activity.task_states import TaskState
from agentrt.activity.task_work import TaskWork
from agentrt.errors import WrongStateError
from agentrt.kernel.traps import at_once, current_kernel
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.task_group import TaskGroup
    from agentrt.activity.task_specs import TaskDeclaration

__all__ = ["Task"]


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
