"""A task group and its tasks: work that waits, and the agents that it is given to.

A group is made of a ``TaskGroupAction``; it needs neither members nor a runtime, so that tasks can wait for those who
come later. Each member knows the action of the group as if it had been injected, and under it the action of each task
that is started. Personal groups, those of a town and those that are made for an hour are all the same thing. A task
comes from a declaration; that from the class of the group, or from an extension, which is this group's alone and can
be revoked.

Rules of a group:

* What changes (a task, a declaration, a member) changes in the group's books at once, and for members that act in a
  runtime at the next intake, all changes in one go. Without such a member there is nobody to be disturbed, and it
  takes effect at once.
* All members act in one runtime.
* A shared group loses a member that leaves its runtime; a personal one keeps its owner.

Rules of a task, which begins paused, so that it can be configured, is started, and ends completed or destroyed:

* The state (``TASK_TABLE``) changes when it is told to. A paused task can be completed: who worked on it stops at the
  next intake only, and may be done before that.
* A worker is a unit that has a *place*. It has it from the moment in which it is to be started, or in which something
  is to be interrupted for it: of several who would all drop what they do, only one does. Who has done the task gives
  the place back then, and not only when its plan is over.
* There are never more workers than ``max_workers``, nor than how many times are left to be done. While there is no
  room, the others do not consider the task; when there is again, they think about it anew, at once.
* *Interrupted* is told each time a worker is stopped before its end, *completed* once, when the last of the times is
  done, and *destroyed* exactly once and last, when nobody works on it any more. They are told from the ready queue,
  never on the stack of the plan.
* A task whose argument is destroyed is destroyed itself as soon as nobody works on it. A worker may finish, since it
  may be the one that used the thing up.

Kept in sync: ``known`` has a task's spec from one publication to the next, ``lines`` the same spec exactly while the
task has room, ``Task.units`` whoever is not idle, ``Task.working`` those of them that have a place.

It is one module, since a group and its tasks show each other to users, and neither can be said without the other.

Source: Stonehearth, AI: "Tasks", "Task group example", "Issuing tasks".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Protocol

from agentrt.activity.author.arguments import entities_in, first_gone
from agentrt.activity.states import READY, STARTED, THINKING
from agentrt.activity.tasks.declare import (
    GroupSpec,
    TaskAction,
    TaskDeclaration,
    TaskGroupAction,
    TaskSpec,
    check_declarations,
    declare_multiple_tasks,
    declare_permanent_task,
    declare_task,
)
from agentrt.activity.tasks.units import GroupUnit, OpenTasks, TaskUnit
from agentrt.activity.tasks.views import TaskGroupView, TaskView
from agentrt.body.budget import WaitTimes
from agentrt.errors import ENDS_PROGRAM, ArgumentError, DefinitionError, TaskError, WrongStateError, did_you_mean
from agentrt.kernel import signals
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.kernel.traps import at_once, current_kernel
from agentrt.words import called, repr_of

if TYPE_CHECKING:
    from agentrt.activity.author.utility import UtilityRange
    from agentrt.activity.plan.planner import Planner
    from agentrt.activity.plan.tree import Frame
    from agentrt.activity.tasks.declare import Worker
    from agentrt.kernel.signals import Connection

__all__ = ["TASK_TABLE", "Extension", "Member", "Task", "TaskGroup", "TaskState"]


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


Told = Callable[["Task"], object]


class Task:
    """Something to be done by the members of a group. Made by ``TaskGroup.create_task``.

    What configures it, starts and pauses it returns it, so that such calls can be chained.

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

    Source: Stonehearth, AI: "Issuing tasks".
    """

    __slots__ = (
        "_connections",
        "_is_doomed",
        "_is_told",
        "_open_since",
        "_over",
        "_told",
        "activity",
        "annotation",
        "args",
        "declaration",
        "finished",
        "group",
        "is_permanent",
        "number",
        "remaining",
        "source",
        "spec",
        "state",
        "units",
        "worker_limit",
        "working",
    )

    def __init__(self, group: TaskGroup, number: int, declaration: TaskDeclaration, args: Mapping[str, Any]) -> None:
        self.group: TaskGroup = group
        self.number: int = number
        self.activity: str = declaration.activity
        self.args: dict[str, Any] = dict(args)
        self.is_permanent: bool = declaration.is_permanent
        self.state: TaskState = TaskState.PAUSED
        self.remaining: int | None = None
        self.worker_limit: int | None = None
        self.annotation: str = ""
        self.source: Any = None
        self.finished: int = 0
        self.declaration: TaskDeclaration = declaration  # what it was created from
        self.spec: TaskSpec | None = None  # what the members know of it, while they do
        self.units: list[Worker] = []  # the places where members think about it or do it
        self.working: list[Worker] = []  # those of them that have a place
        self._open_since: int | None = None  # the tick since which it waits for somebody
        self._is_doomed = False  # an argument was destroyed
        self._is_told = False  # whether its end was told
        self._over = signals.Event()
        self._told: dict[str, list[Callable[[Any], object]]] = {}
        self._connections: list[Connection] = []
        for value in self.args.values():
            for entity in entities_in(value):
                self._connections.append(entity.destroyed.connect(self._lose_argument))

    @property
    def is_over(self) -> bool:
        """Whether it was completed or destroyed."""
        return self.state is TaskState.COMPLETED or self.state is TaskState.DESTROYED

    # --- configuration ------------------------------------------------------------------------------------------------

    def times(self, count: int) -> Task:
        """Say how many times it is to be done; without that, again and again.

        Args:
            count: 1 or more.

        Raises:
            WrongStateError: it is not paused, or permanent.
            ValueError: it is no such number.
        """
        self._require_paused("times")
        if self.is_permanent:
            raise WrongStateError("times", f"{self!r} is permanent", "Declare it with declare_task to have an end.")
        self.remaining = self._limited("times", count)
        return self

    def once(self) -> Task:
        """Have it done once: ``times(1)``.

        Raises:
            WrongStateError: it is not paused, or permanent.
        """
        return self.times(1)

    def max_workers(self, count: int) -> Task:
        """Say how many members may do it at a time; without that, all who want to.

        Args:
            count: 1 or more.

        Raises:
            WrongStateError: it is not paused.
            ValueError: it is no such number.
        """
        self._require_paused("max_workers")
        self.worker_limit = self._limited("max_workers", count)
        return self

    def set_annotation(self, text: str) -> Task:
        """Attach a few words, for debugging tools."""
        self.annotation = text
        return self

    def set_source(self, source: Any) -> Task:
        """Name the object that it was created for, for debugging tools."""
        self.source = source
        return self

    def notify_completed(self, told: Told) -> Task:
        """Call a function, with it, once when it is completed: done as often as ``times`` says."""
        return self._tell_later("notify_completed", "completed", told)

    def notify_interrupted(self, told: Told) -> Task:
        """Call a function, with it, each time a worker is stopped before it is done."""
        return self._tell_later("notify_interrupted", "interrupted", told)

    def notify_destroyed(self, told: Told) -> Task:
        """Call a function, with it, once when it is gone: destroyed, or completed, and nobody works on it any more."""
        return self._tell_later("notify_destroyed", "destroyed", told)

    def _require_paused(self, method: str) -> None:
        if self.state is not TaskState.PAUSED:
            raise WrongStateError(method, f"{self!r} is {self.state}", "Call it before start(), or pause it first.")

    def _limited(self, method: str, count: object) -> int:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"{method}({repr_of(count)}): it takes a whole number from 1")
        if count < len(self.working):
            # There are too many workers, and nobody is the one too many: what members know of it is taken back at the
            # next intake, which stops all. Once it is started they get another spec.
            self.spec = None
        return count

    def _tell_later(self, method: str, what: str, told: Told) -> Task:
        if not callable(told):
            raise TypeError(f"{method}({repr_of(told)}): it takes a function, which is called with the task")
        self._told.setdefault(what, []).append(told)
        return self

    # --- what its owner does ------------------------------------------------------------------------------------------

    def start(self) -> Task:
        """Offer it to the members, from the next intake on; again after a pause.

        Raises:
            WrongStateError: it is over.
        """
        if self.state is not TaskState.STARTED:
            self._move("start", TaskState.STARTED)
        return self

    def pause(self) -> Task:
        """Take it from the members at the next intake, and have those who work on it stop; ``start`` offers it again.

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

    def snapshot(self) -> TaskView:
        """What it is now, as plain data."""
        return TaskView(
            number=self.number,
            activity=self.activity,
            args=tuple((name, called(value)) for name, value in self.args.items()),
            state=self.state.value,
            is_permanent=self.is_permanent,
            finished=self.finished,
            remaining=self.remaining,
            worker_limit=self.worker_limit,
            workers=self.workers,
            annotation=self.annotation,
            source="" if self.source is None else called(self.source),
        )

    def __repr__(self) -> str:
        words = f", {self.annotation}" if self.annotation else ""
        return f"<Task {self.number} of {self.group.name}: {self.activity}, {self.state}{words}>"

    # --- inside: ends and changes -------------------------------------------------------------------------------------

    def discard(self) -> None:
        """Destroy it, permanent or not, unless it is over."""
        if not self.is_over:
            self._move("destroy", TaskState.DESTROYED)

    def _move(self, method: str, state: TaskState) -> None:
        if state not in TASK_TABLE[self.state]:
            raise WrongStateError(method, f"{self!r} is {self.state}", "Create another one with create_task().")
        self.state = state
        self.group.note(self, state.value)
        self.group.changed(self)

    # --- what its units do --------------------------------------------------------------------------------------------

    def has_room(self) -> bool:
        """Whether one more member may do it."""
        if self.state is not TaskState.STARTED:
            return False
        limits = [limit for limit in (self.worker_limit, self.remaining) if limit is not None]
        return not limits or len(self.working) < min(limits)

    def take(self, unit: Worker) -> bool:
        """A member begins to do it, if there is room for it."""
        if not self.has_room():
            return False
        self.working.append(unit)
        if self._open_since is not None:
            self.group.waited(unit.frame.planner.kernel.tick - self._open_since)
            self._open_since = None
        self._room_changed()
        return True

    def finish(self, unit: Worker) -> None:
        """A member has done it once."""
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

    def leave(self, unit: Worker, *, is_interrupted: bool) -> None:
        """A member that was doing it is stopped before the end, or was refused in the moment of its start."""
        if unit in self.working:
            self.working.remove(unit)
            if is_interrupted:
                self.group.note(self, "interrupted", unit)
                self._tell("interrupted")
            self._left(unit)

    def _left(self, unit: Worker) -> None:
        if not self.working:
            if self._is_doomed:
                self.discard()
            elif self.state is TaskState.STARTED:
                self.offered(unit.frame.planner.kernel.tick)
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
        """The members know it now."""
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

    def _lose_argument(self, _entity: object) -> None:
        self._is_doomed = True
        if not self.working:  # else whoever works on it may be the one that used it up
            self.discard()


class Extension:
    """Declarations that were added to a group. Made by ``TaskGroup.extend``."""

    __slots__ = ("declarations", "group")

    def __init__(self, group: TaskGroup, declarations: tuple[TaskDeclaration, ...]) -> None:
        self.group: TaskGroup = group
        self.declarations: tuple[TaskDeclaration, ...] = declarations  # what was added

    def revoke(self) -> None:
        """Take the declarations back; their tasks are destroyed. A second call does nothing."""
        self.group.retract(self)
        self.declarations = ()

    def __repr__(self) -> str:
        return f"<Extension of {self.group.name}: {', '.join(one.activity for one in self.declarations) or 'revoked'}>"


class Member(Protocol):
    """An agent, as a group sees it."""

    name: str
    planner: Planner | None

    @property
    def runtime(self) -> Any:
        """What it acts in, or None."""
        ...

    def group_joined(self, group: TaskGroup) -> None:
        """It is a member now."""

    def group_left(self, group: TaskGroup) -> None:
        """It is not a member any more."""


class TaskGroup:
    """Tasks, and those who are to do them.

    Args:
        action: what the tasks may be, and how good the group is at what.
        name: what to call it, such as the alias under which it is registered; the name of the class by default.
        owner: for a personal group, the agent whose it is; nobody else may be a member.

    Attributes:
        action, name, owner: as given.
        waits: how many ticks a task that was available waited until somebody began it.
        spec: the action that it is to its members.

    Raises:
        DefinitionError: ``action`` is not a task group action.

    Source: Stonehearth, AI: "Tasks".
    """

    def __init__(self, action: type[TaskGroupAction], *, name: str = "", owner: Member | None = None) -> None:
        spec = getattr(action, "spec", None)
        if not isinstance(spec, GroupSpec):
            raise DefinitionError(
                getattr(action, "__qualname__", repr(action)),
                "it is not a task group action.",
                "Derive a class from agentrt.TaskGroupAction, with 'does' and 'utility'.",
            )
        self.name: str = name or spec.label
        self.action: type[TaskGroupAction] = action
        self.owner: Member | None = owner
        self.spec: GroupSpec = spec.of(self.name, self._make_unit)
        self.known: dict[int, TaskSpec] = {}  # what members know of its tasks at present, by their numbers
        self.lines: dict[tuple[str, float, float], OpenTasks] = {}  # those of them that have room
        self.version: int = 0  # changes whenever ``known`` does
        self.waits: WaitTimes = WaitTimes()
        self._members: list[Member] = []
        self._declarations: dict[str, TaskDeclaration] = {}
        self._extensions: list[Extension] = []
        self._is_gone = False
        self._numbers = 0
        self._tasks: list[Task] = []
        self._latest: dict[str, Task] = {}  # the last task that does an activity of which there is one at a time
        self._specs: tuple[TaskSpec, ...] | None = None  # ``known`` in order, when somebody asked
        self._unpublished: dict[int, Task] = {}  # what changed since members were told
        self._over = 0  # how many in the list of tasks are over
        self._is_due = False  # whether changes wait for the next intake
        self._news: list[tuple[Callable[..., object], tuple[Any, ...]]] = []  # what is to be told without a runtime
        self._acts_in: Any = None  # the runtime in which a member acted last
        self._declare(spec.declarations)

    def _make_unit(self, frame: Frame, spec: GroupSpec) -> GroupUnit:
        return GroupUnit(frame, spec, self)

    # --- declarations -------------------------------------------------------------------------------------------------

    @property
    def declarations(self) -> tuple[TaskDeclaration, ...]:
        """What its tasks may be, in the order in which it was declared."""
        return tuple(self._declarations.values())

    def declare_task(self, activity: str, utility: float | UtilityRange) -> Extension:
        """Declare one more activity, for one task at a time; see ``extend`` and ``agentrt.declare_task``."""
        return self.extend([declare_task(activity, utility)])

    def declare_multiple_tasks(self, activity: str, utility: float | UtilityRange) -> Extension:
        """Declare one more activity, for any number of tasks; see ``extend`` and ``agentrt.declare_multiple_tasks``."""
        return self.extend([declare_multiple_tasks(activity, utility)])

    def declare_permanent_task(
        self, activity: str, args: Mapping[str, Any], utility: float | UtilityRange
    ) -> Extension:
        """Declare one more activity, with a task from now on; see ``extend`` and ``agentrt.declare_permanent_task``."""
        return self.extend([declare_permanent_task(activity, args, utility)])

    def extend(self, declarations: Iterable[TaskDeclaration]) -> Extension:
        """Declare more activities, for this group alone.

        Args:
            declarations: made by ``agentrt.declare_task`` and its like.

        Returns:
            The extension, which can be revoked.

        Raises:
            DefinitionError: one is declared already, or not well formed.
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
        """Take declarations back, with their tasks; called by ``Extension.revoke``."""
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
                self._make_task(one, one.args).start()

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

        Raises:
            TaskError: the activity is not declared; or one task of it at a time is, and there is one.
            ArgumentError: the arguments do not fit the activity, as far as a member knows it.
            WrongStateError: the group was destroyed.

        Source: Stonehearth, AI: "Issuing tasks".
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
        self._check_args(activity, values)
        return self._make_task(declaration, values)

    @property
    def is_gone(self) -> bool:
        """Whether it was destroyed."""
        return self._is_gone

    def _require(self, method: str) -> None:
        if self._is_gone:
            raise WrongStateError(f"group.{method}", f"{self.name} is destroyed", "Make another TaskGroup.")

    # --- members ------------------------------------------------------------------------------------------------------

    @property
    def members(self) -> tuple[Any, ...]:
        """The agents that its tasks are given to, in the order in which they were added."""
        return tuple(self._members)

    def add(self, agent: Member) -> None:
        """Add an agent; it considers the tasks of the group from the next intake on. Nothing happens for a member.

        Args:
            agent: an agent; it need not be in a runtime yet.

        Raises:
            WrongStateError: the group is another agent's own, its members act in another runtime, the agent is in
                another group of that name, or the group was destroyed.
            DefinitionError: the agent knows actions with arguments for what the group does; a group has none.
        """
        self._require("add")
        if agent in self._members:
            return
        if self.owner is not None and agent is not self.owner:
            raise WrongStateError(
                "group.add", f"{self.name} is the personal group of {self.owner.name!r}", "Make another TaskGroup."
            )
        runtime = self.runtime
        if runtime is not None and agent.runtime is not None and agent.runtime is not runtime:
            raise WrongStateError(
                "group.add", f"the members of {self.name} act in another runtime", "Make a TaskGroup for each runtime."
            )
        agent.group_joined(self)  # first: it may refuse
        self._members.append(agent)
        if runtime is None and agent.runtime is not None:
            self.begins_to_act(agent.runtime.tick)

    def remove(self, agent: Member) -> None:
        """Remove an agent; what it does for the group is stopped at the next intake. Nothing happens for a stranger.

        Raises:
            WrongStateError: it is the agent's own group.
        """
        if agent is self.owner and not self._is_gone:
            raise WrongStateError(
                "group.remove", f"{self.name} is the personal group of {agent.name!r}", "Revoke what brought it."
            )
        if agent in self._members:
            self._members.remove(agent)
            agent.group_left(self)

    def _make_task(self, declaration: TaskDeclaration, values: Mapping[str, Any]) -> Task:
        self._numbers += 1
        task = Task(self, self._numbers, declaration, values)
        self._tasks.append(task)
        if not declaration.is_multiple:
            self._latest[task.activity] = task
        self.note(task, "created")
        return task

    def _check_args(self, activity: str, values: Mapping[str, Any]) -> None:
        """Check the arguments of a task, as far as a member knows what takes them."""
        for member in self._members:
            if member.planner is not None:
                performers = member.planner.known.get(activity)
                if performers:
                    performers[0].cls.Args.build(activity, dict(values))
                    return

    def destroy(self) -> None:
        """Destroy it: its tasks with it, and its members leave. A second call does nothing."""
        if self._is_gone:
            return
        self._is_gone = True
        runtime, was_due = self.runtime, self._is_due
        self._is_due = True  # all at once
        for task in self.tasks:
            task.discard()
        for member in self.members:
            self.remove(member)
        if runtime is None:
            self.publish()
        elif not was_due:
            runtime.post(self.publish)

    # --- what its tasks and members do --------------------------------------------------------------------------------

    @property
    def runtime(self) -> Any:
        """What its members act in; None if none does."""
        for member in self._members:
            if member.runtime is not None:
                self._acts_in = member.runtime
                return self._acts_in
        # Whoever was the last member may still clean up in this very tick.
        return self._acts_in if self._acts_in is not None and self._acts_in.kernel.in_tick else None

    def changed(self, task: Task | None = None) -> None:
        """A task changed: publish it to the members at the next intake, or now if none acts."""
        if task is not None:
            self._unpublished[task.number] = task
            self.room_changed(task)
        if self._is_due:
            return
        runtime = self.runtime
        self._is_due = True
        if runtime is None:
            self.publish()
        else:
            runtime.post(self.publish)

    def publish(self) -> None:
        """Tell the members of all changes since the last time, if there are any. Called at an intake."""
        if self._is_due:
            self._is_due = False
            self._publish()

    def _publish(self) -> None:
        """What is done for each change is done for the tasks that changed; there may be thousands of others."""
        runtime = self.runtime
        tick = 0 if runtime is None else runtime.tick
        changed, self._unpublished = self._unpublished, {}
        over: list[Task] = []
        for number in sorted(changed):
            task = changed[number]
            if task.is_over:
                over.append(task)
            elif task.state is TaskState.STARTED and task.spec is None:
                task.spec = TaskSpec(TaskAction.spec, task, task.declaration, self.name, TaskUnit)
                task.offered(tick)
            elif task.state is TaskState.PAUSED and task.spec is not None:
                task.spec = None
                task.withdrawn()
            self._make_known(task, None if task.is_over else task.spec)
        self._forget(len(over))
        self.version += 1
        for member in self.members:
            if member.planner is not None:
                member.planner.take_up_tasks(self)
        for task in over:  # last: who is told that it is gone finds it gone for all members
            task.tell_end()
        if self._news:
            self._tell_all()

    def _make_known(self, task: Task, spec: TaskSpec | None) -> None:
        before = self.known.get(task.number)
        if before is not spec:
            if before is not None:
                self.line_of(before).discard(before)
                del self.known[task.number]
            if spec is not None:
                self.known[task.number] = spec
            self._specs = None
        self._book_room(task)

    def _forget(self, over: int) -> None:
        """So many more tasks are over; they are swept when they are the greater part, so that each costs the same."""
        self._over += over
        if self._over * 2 >= len(self._tasks):
            self._tasks = [task for task in self._tasks if not task.is_over]
            self._over = 0

    # --- what members know --------------------------------------------------------------------------------------------

    @property
    def specs(self) -> tuple[TaskSpec, ...]:
        """What members know of its tasks at present, in the order in which these were created."""
        if self._specs is None:
            self._specs = tuple([self.known[number] for number in sorted(self.known)])
        return self._specs

    def is_known(self, spec: TaskSpec) -> bool:
        """Whether members still know a task as they did."""
        return self.known.get(spec.task.number) is spec

    def is_open(self, spec: TaskSpec) -> bool:
        """Whether they do, and it has room for one more worker."""
        return spec in self.line_of(spec)

    def line_of(self, spec: TaskSpec) -> OpenTasks:
        """Where a task stands while it has room."""
        key = spec.task.activity, spec.low, spec.high
        line = self.lines.get(key)
        if line is None:
            line = self.lines[key] = OpenTasks(*key)
        return line

    def room_changed(self, task: Task) -> None:
        """A worker of a task came or went, or it was started, paused, or is over."""
        if self._book_room(task):
            for member in self._members:
                if member.planner is not None:
                    member.planner.look_for_tasks(self)

    def _book_room(self, task: Task) -> bool:
        """Note whether a task has room; says whether it has again."""
        spec = self.known.get(task.number)
        if spec is None:
            return False
        if spec is task.spec and task.has_room():
            return self.line_of(spec).add(spec)
        self.line_of(spec).discard(spec)
        return False

    def begins_to_act(self, tick: int) -> None:
        """The first of its members acts in a runtime: what waits begins to wait now, on that runtime's clock."""
        for task in self._tasks:
            if task.spec is not None:
                task.offered(tick)

    def waited(self, ticks: int) -> None:
        """A member begins a task that was available for so many ticks."""
        self.waits.add(ticks)
        runtime = self.runtime
        if runtime is not None:
            runtime.waits.add(ticks)

    def tell(self, fn: Callable[..., object], *args: Any) -> None:
        """Call what somebody wants to be told: from the ready queue, or if no member acts, when all is published."""
        runtime = self.runtime
        if runtime is None:
            self._news.append((fn, args))
        else:
            runtime.kernel.call_soon(fn, *args)

    def _tell_all(self) -> None:
        """Tell what is to be told; one that raises keeps nobody else from being told."""
        news, self._news = self._news, []
        errors: list[BaseException] = []
        for fn, args in news:
            try:
                fn(*args)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                errors.append(error)
        signals.tell_errors(errors, f"what was to be told of a task of {self.name}", "callbacks of tasks")

    def snapshot(self) -> TaskGroupView:
        """Its members and tasks now, as plain data."""
        return TaskGroupView(
            name=self.name,
            activity=self.spec.activity,
            members=tuple(member.name for member in self._members),
            tasks=tuple(task.snapshot() for task in self.tasks),
            waits=self.waits.as_json(),
        )

    def note(self, task: Task, what: str, unit: Worker | None = None) -> None:
        """Put into the trace what became of a task, and by which worker, if somebody listens."""
        runtime = self.runtime
        if runtime is not None and runtime.trace.on:
            agent = "" if unit is None else unit.frame.planner.name
            detail = (("what", what), ("task", task.number), ("activity", task.activity))
            runtime.trace.emit(TraceRecord(runtime.tick, agent, self.name, TraceEvent.TASK, detail))

    def __repr__(self) -> str:
        return f"<TaskGroup {self.name}: {len(self.tasks)} tasks, {len(self._members)} members>"
