"""What a group may be asked to do, and what it was asked: the declarations and tasks of one group.

A declaration comes from the class of the group, or from an extension, which is this group's alone and can be revoked; a
task comes from a declaration. The book knows nothing of members but what it asks the group for.

Source: seed 001, "Task group example", Task declarations; "Issuing tasks".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from agentrt.activity.protection import entities_in, first_gone
from agentrt.activity.task import Task
from agentrt.activity.task_specs import (
    TaskDeclaration,
    check_declarations,
    declare_multiple_tasks,
    declare_permanent_task,
    declare_task,
)
from agentrt.errors import ArgumentError, DefinitionError, TaskError, WrongStateError, did_you_mean
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.task_units import TaskUnit
    from agentrt.activity.task_work import TaskWork
    from agentrt.activity.utility import UtilityRange

__all__ = ["Extension", "TaskBook"]


class Extension:
    """Declarations that were added to a group. Made by ``TaskGroup.extend``.

    Attributes:
        group: the group.
        declarations: what was added.
    """

    __slots__ = ("declarations", "group")

    def __init__(self, group: TaskBook, declarations: tuple[TaskDeclaration, ...]) -> None:
        self.group: TaskBook = group
        self.declarations: tuple[TaskDeclaration, ...] = declarations

    def revoke(self) -> None:
        """Take the declarations back; their tasks are destroyed. A second call does nothing."""
        self.group.retract(self)
        self.declarations = ()

    def __repr__(self) -> str:
        return f"<Extension of {self.group.name}: {', '.join(one.activity for one in self.declarations) or 'revoked'}>"


class TaskBook(ABC):
    """The declarations and tasks of a group; ``TaskGroup`` derives from it.

    Attributes:
        name: what the group is called.
    """

    __slots__ = ("_declarations", "_extensions", "_is_gone", "_latest", "_numbers", "_tasks", "name")

    def __init__(self, name: str) -> None:
        self.name: str = name
        self._declarations: dict[str, TaskDeclaration] = {}
        self._extensions: list[Extension] = []
        self._is_gone = False
        self._numbers = 0
        self._tasks: list[Task] = []
        self._latest: dict[str, Task] = {}  # the last task that does an activity of which there is one at a time

    # --- what the group does ------------------------------------------------------------------------------------------

    @abstractmethod
    def changed(self, task: TaskWork | None = None) -> None:
        """A task, or what the group declares, changed: tell the members."""

    @abstractmethod
    def note(self, task: TaskWork, what: str, unit: TaskUnit | None = None) -> None:
        """Put a record into the trace."""

    @abstractmethod
    def make_task(self, declaration: TaskDeclaration, values: Mapping[str, Any]) -> Task:
        """Make a task of the group."""

    @abstractmethod
    def check_args(self, activity: str, values: Mapping[str, Any]) -> None:
        """Check arguments, as far as a member knows what takes them."""

    # --- declarations -------------------------------------------------------------------------------------------------

    @property
    def declarations(self) -> tuple[TaskDeclaration, ...]:
        """What its tasks may be, in the order in which it was declared."""
        return tuple(self._declarations.values())

    def declare_task(self, activity: str, utility: float | UtilityRange) -> Extension:
        """Declare one more activity, for one task at a time; see ``agentrt.declare_task``.

        Args:
            activity: what the task does.
            utility: among the tasks of the group.

        Returns:
            The extension, which can be revoked.

        Raises:
            DefinitionError: it is declared already, or not well formed.
        """
        return self.extend([declare_task(activity, utility)])

    def declare_multiple_tasks(self, activity: str, utility: float | UtilityRange) -> Extension:
        """Declare one more activity, for any number of tasks; see ``agentrt.declare_multiple_tasks``.

        Args:
            activity: what the tasks do.
            utility: among the tasks of the group.

        Returns:
            The extension, which can be revoked.

        Raises:
            DefinitionError: it is declared already, or not well formed.
        """
        return self.extend([declare_multiple_tasks(activity, utility)])

    def declare_permanent_task(
        self, activity: str, args: Mapping[str, Any], utility: float | UtilityRange
    ) -> Extension:
        """Declare one more activity with a task that is there from now on; see ``agentrt.declare_permanent_task``.

        Args:
            activity: what the task does.
            args: its arguments.
            utility: among the tasks of the group.

        Returns:
            The extension, which can be revoked.

        Raises:
            DefinitionError: it is declared already, or not well formed.
        """
        return self.extend([declare_permanent_task(activity, args, utility)])

    def extend(self, declarations: Iterable[TaskDeclaration]) -> Extension:
        """Declare more activities, for this group alone.

        Args:
            declarations: made by ``declare_task`` and its like.

        Returns:
            The extension, which can be revoked.

        Raises:
            DefinitionError: one is declared already.
        """
        self._require("extend")
        added = check_declarations(f"extension of {self.name}", declarations)
        for one in added:
            if one.activity in self._declarations:
                raise DefinitionError(
                    f"extension of {self.name}", f"'{one.activity}' is declared there already.", "Leave it out."
                )
        self._declare(added)
        self.changed()
        extension = Extension(self, added)
        self._extensions.append(extension)
        return extension

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """What was added to it later and not revoked, in that order."""
        return tuple(self._extensions)

    def retract(self, extension: Extension) -> None:
        """Take declarations back, with their tasks; called by ``Extension.revoke``.

        Args:
            extension: what was added.
        """
        if extension in self._extensions:
            self._extensions.remove(extension)
        for one in extension.declarations:
            if self._declarations.get(one.activity) is one:
                del self._declarations[one.activity]
                for task in self.tasks:
                    if task.declaration is one:
                        task.discard()

    def _declare(self, declarations: Iterable[TaskDeclaration]) -> None:
        for one in declarations:
            self._declarations[one.activity] = one
            if one.is_permanent:
                self.make_task(one, one.args).start()

    # --- tasks --------------------------------------------------------------------------------------------------------

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Its tasks that are not over, in the order in which they were created."""
        return tuple(task for task in self._tasks if not task.is_over)

    def create_task(self, activity: str, args: Mapping[str, Any] | None = None, /, **more: Any) -> Task:
        """Create a task; it is paused, to be configured and started.

        Args:
            activity: what is to be done; the group declares it.
            args: its arguments; needed only for names that are no Python names.
            more: its arguments.

        Returns:
            The task.

        Raises:
            TaskError: the activity is not declared; or one task of it at a time is, and there is one.
            ArgumentError: the arguments do not fit the activity, as far as a member knows it.
            WrongStateError: the group was destroyed.

        Source: seed 001, "Issuing tasks".
        """
        self._require("create_task")
        given: object = args
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(
                f"create_task({repr_of(activity)}, {repr_of(args)}): the arguments are a mapping, or keyword arguments"
            )
        word: object = activity
        declaration = self._declarations.get(word) if isinstance(word, str) else None
        if declaration is None:
            declared = tuple(self._declarations)
            raise TaskError(
                self.name,
                f"the activity {repr_of(activity)} is not declared there.{did_you_mean(activity, declared)}",
                f"Declare it in the group, or with group.declare_task; declared: {', '.join(declared) or 'nothing'}.",
            )
        if not declaration.is_multiple:
            task = self._latest.get(activity)
            if task is not None and not task.is_over:
                raise TaskError(
                    self.name,
                    f"there is a task that does '{activity}' already: {task!r}.",
                    "Destroy that one first, or declare the activity with declare_multiple_tasks.",
                )
        values = {**(args or {}), **more}
        for name, value in values.items():
            gone = first_gone(entities_in(value))
            if gone is not None:
                raise ArgumentError(activity, name, f"{repr_of(gone)} is destroyed already.")
        self.check_args(activity, values)
        return self.make_task(declaration, values)

    @property
    def is_gone(self) -> bool:
        """Whether it was destroyed."""
        return self._is_gone

    def _require(self, method: str) -> None:
        if self._is_gone:
            raise WrongStateError(f"group.{method}", f"{self.name} is destroyed", "Make another TaskGroup.")
