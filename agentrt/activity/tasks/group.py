"""A task group and its tasks: work that waits, the agents that it is given to, and where it stands in their plans.

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

*In the plan of a member* ``GroupUnit`` is a compound of one step, whose frame (``TaskFrame``) takes its actions from
the group instead of from what the agent knows. ``TaskUnit`` is one of these actions: a compound of one step again, the
activity of the task. So thinking, electing, running and unwinding are those of compounds; what is added here is where
tasks come and go, the two remappings of utility, and the places of a task. Both are known to what they stand for while
they are not idle (the planner's ``group_places``, ``Task.units``), so that a change finds those whom it concerns; that
is why both override ``move``, and why a unit without steps may set its state itself.

A group may have thousands of tasks, and a member does one. Up to ``WINDOW`` tasks are all asked, as the actions of any
activity are. Of more, only as many as can matter; who is elected is who would have been elected if all had been asked:

* A task has a *bound*: the utility that it has if the best action that the member knows for its activity is as good as
  it can be. Tasks are asked in the order of their bounds, a window at a time, and the next window only while what is
  ready is worse than the bound of what is left. So whoever is not asked could not have been elected.
* Of tasks with one bound, those that are asked are *drawn* from the agent's own stream. Equals are drawn by weight, and
  all tasks weigh the same: to draw one of those that are asked, which were drawn before, is to draw one of all. Whoever
  has fewer equals than a window holds asks them all, and draws once.
* Who waits goes on thinking and keeps nobody else from being asked; so does who rejects. A task whose places are all
  taken is not asked, until one is free.
* What was asked and is neither among the best nor waits for anything is let go of, and its utility is remembered: it is
  asked again if that becomes good enough, because what was better withdrew, say.
* One member asks so many in one tick, all members of a group together ``MOST_ASKED`` and a window each at the least,
  and goes on in the next; what is best by then is begun meanwhile, and gives way to what is better, like to any
  action that becomes ready later.

What members know that nobody has to be asked about stands in the ``OpenTasks`` of the group, one for each activity and
utility; so what a task costs when it comes, goes or gets a worker does not depend on how many there are.

Kept in sync: ``known`` has a task's spec from one publication to the next, ``lines`` the same spec exactly while the
task has room, ``Task.units`` whoever is not idle, ``Task.working`` those of them that have a place.

It is one module, since a group, its tasks and their places in plans show each other to users and keep each other's
books: none of them can be said without the others, or only by as many protocols.

Rejected: asking the oldest first. Tasks without an end would have the first few done for ever; and all members would
think about the same few, of which each but one comes too late.

Source: Stonehearth, AI: "Tasks", "Task group example", "Issuing tasks", "Utility", "Comparing plans"; the bounds are
ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heappop, heappush
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Protocol

from agentrt.activity.author.action import ActionSpec
from agentrt.activity.author.answering import FIELDS
from agentrt.activity.author.arguments import entities_in, first_gone
from agentrt.activity.author.control import composed
from agentrt.activity.author.seat import ChildUtilities
from agentrt.activity.author.steps import CompiledStep, with_constants
from agentrt.activity.author.utility import remap
from agentrt.activity.performances import UnitMaker
from agentrt.activity.plan.compound import CompoundUnit
from agentrt.activity.plan.tree import MAX_FRAMES, Frame, asides_below, make_unit, take_up
from agentrt.activity.states import FINISHED, IDLE, READY, RUNNING, STARTED, SWITCHING, THINKING
from agentrt.activity.tasks.declare import (
    GroupSpec,
    TaskAction,
    TaskDeclaration,
    TaskGroupAction,
    check_declarations,
    declare_multiple_tasks,
    declare_permanent_task,
    declare_task,
)
from agentrt.body.budget import WaitTimes
from agentrt.errors import ENDS_PROGRAM, ArgumentError, DefinitionError, TaskError, WrongStateError, did_you_mean
from agentrt.kernel import signals
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.kernel.traps import at_once, current_kernel
from agentrt.words import called, repr_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentrt.activity.author.expected import Current
    from agentrt.activity.author.utility import UtilityRange
    from agentrt.activity.plan.tree import Planner, Unit
    from agentrt.activity.tasks.views import TaskGroupView, TaskView
    from agentrt.kernel.signals import Connection


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


@dataclass(eq=False, repr=False, slots=True)
class Task:
    """Something to be done by the members of a group. Made by ``TaskGroup.create_task``.

    What configures it, starts and pauses it returns it, so that such calls can be chained.

    Source: Stonehearth, AI: "Issuing tasks".
    """

    group: TaskGroup  # the group that it belongs to
    number: int  # its number in the group, from 1; never given twice
    declaration: TaskDeclaration  # what it was created from
    args: dict[str, Any]  # with which arguments it is to be done
    activity: str = field(init=False)  # what is to be done
    is_permanent: bool = field(init=False)  # whether it is there for as long as the group is
    state: TaskState = TaskState.PAUSED
    remaining: int | None = None  # how many times it is still to be done; None for ever
    worker_limit: int | None = None  # how many members may do it at a time; None for any number
    annotation: str = ""  # a text about it, for debugging tools
    source: Any = None  # what it was created for, for debugging tools
    finished: int = 0  # how many times it was done
    spec: TaskSpec | None = None  # what the members know of it, while they do
    units: list[TaskUnit] = field(default_factory=list)  # the places where members think about it or do it
    working: list[TaskUnit] = field(default_factory=list)  # those of them that have a place
    _open_since: int | None = None  # the tick since which it waits for somebody
    _is_doomed: bool = False  # an argument was destroyed
    _is_told: bool = False  # whether its end was told
    _over: signals.Event = field(default_factory=signals.Event)
    _told: dict[str, list[Callable[[Any], object]]] = field(default_factory=dict)
    _connections: list[Connection] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.activity = self.declaration.activity
        self.is_permanent = self.declaration.is_permanent
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
        from agentrt.activity.tasks.views import TaskView  # who looks at nothing loads no views

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

    def take(self, unit: TaskUnit) -> bool:
        """A member begins to do it, if there is room for it."""
        if not self.has_room():
            return False
        self.working.append(unit)
        if self._open_since is not None:
            self.group.waited(unit.frame.planner.kernel.tick - self._open_since)
            self._open_since = None
        self._room_changed()
        return True

    def finish(self, unit: TaskUnit) -> None:
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

    def leave(self, unit: TaskUnit, *, is_interrupted: bool) -> None:
        """A member that was doing it is stopped before the end, or was refused in the moment of its start."""
        if unit in self.working:
            self.working.remove(unit)
            if is_interrupted:
                self.group.note(self, "interrupted", unit)
                self._tell("interrupted")
            self._left(unit)

    def _left(self, unit: TaskUnit) -> None:
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


class TaskSpec(ActionSpec, UnitMaker):
    """What a task is to the planner. One is made each time it is offered: "another spec" means "offered anew"."""

    __slots__ = ("task",)

    def __init__(self, task: Task) -> None:
        template, declaration = TaskAction.spec, task.declaration
        for slot in FIELDS:
            setattr(self, slot, getattr(template, slot))
        self.task: Task = task
        self.kind: str = "task"
        self.label: str = f"{template.label}#{task.number}"
        self.subject: str = f"task {task.number} of {task.group.name}"
        self.name: str = f"task {task.number}: {task.activity}"
        self.low: float = declaration.low
        self.high: float = declaration.high
        self.span: float = declaration.high - declaration.low
        # A fixed utility does not depend on the action that does the task, and nobody has to be asked.
        self.composes: bool = self.span > 0.0
        step = with_constants(task.activity, task.activity, dict(task.args))
        self.steps: tuple[CompiledStep, ...] | None = (step,)
        self.must_stop_think: bool = True  # which the template, without a step, need not; else its step would think on

    def make_unit(self, frame: Frame) -> TaskUnit:
        return TaskUnit(frame, self)


class OpenTasks:
    """Tasks of one activity and utility that members know and that have room for one more worker."""

    __slots__ = ("_places", "activity", "arrivals", "high", "low", "specs")

    def __init__(self, activity: str, low: float, high: float) -> None:
        self.activity: str = activity
        self.low: float = low
        self.high: float = high
        # the tasks, in no order that means anything, and in the same one in every equal run
        self.specs: list[TaskSpec] = []
        self.arrivals: int = 0  # how often one came
        self._places: dict[TaskSpec, int] = {}

    def __contains__(self, spec: object) -> bool:
        return spec in self._places

    def add(self, spec: TaskSpec) -> bool:
        if spec in self._places:
            return False
        self._places[spec] = len(self.specs)
        self.specs.append(spec)
        self.arrivals += 1
        return True

    def discard(self, spec: TaskSpec) -> None:
        """Take one out, if it is in; the last one takes its place."""
        place = self._places.pop(spec, None)
        if place is not None:
            last = self.specs.pop()
            if last is not spec:
                self.specs[place] = last
                self._places[last] = place


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

    def group_changed(self, group: TaskGroup) -> None:
        """Its group is another action to it now; at an intake."""

    def group_left(self, group: TaskGroup) -> None:
        """It is not a member any more."""


class TaskGroup:
    """Tasks, and those who are to do them.

    Args:
        action: what the tasks may be, and how good the group is at what.
        name: what to call it, such as the alias under which it is registered; the name of the class by default.
        owner: for a personal group, the agent whose it is; nobody else may be a member.

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
                "Derive a class from agentrt.tasks.TaskGroupAction, with 'does' and 'utility'.",
            )
        self.name: str = name or spec.label
        self.action: type[TaskGroupAction] = action
        self.owner: Member | None = owner
        self.spec: GroupSpec = spec.of(self.name, self._make_unit)  # the action that it is to its members
        self.known: dict[int, TaskSpec] = {}  # what members know of its tasks at present, by their numbers
        self.lines: dict[tuple[str, float, float], OpenTasks] = {}  # those of them that have room
        self.version: int = 0  # changes whenever ``known`` does
        self.waits: WaitTimes = WaitTimes()  # for how many ticks tasks were available until somebody began them
        self._members: list[Member] = []
        self._declarations: dict[str, TaskDeclaration] = {}
        self._extensions: list[Extension] = []
        self.is_gone: bool = False  # whether it was destroyed
        self._numbers = 0
        self._tasks: list[Task] = []
        self._latest: dict[str, Task] = {}  # the last task that does an activity of which there is one at a time
        self._specs: tuple[TaskSpec, ...] | None = None  # ``known`` in order, when somebody asked
        self._unpublished: dict[int, Task] = {}  # what changed since members were told
        self._over = 0  # how many in the list of tasks are over
        self._is_due = False  # whether changes wait for the next intake
        self._news: list[tuple[Callable[..., object], tuple[Any, ...]]] = []  # what is to be told without a runtime
        self._acts_in: Any = None  # the runtime in which a member acted last
        self._base = spec.declarations  # what its class declares
        self._declare(spec.declarations)

    def _make_unit(self, frame: Frame, spec: GroupSpec) -> GroupUnit:
        return GroupUnit(frame, spec, self)

    # --- declarations -------------------------------------------------------------------------------------------------

    @property
    def declarations(self) -> tuple[TaskDeclaration, ...]:
        """What its tasks may be, in the order in which it was declared."""
        return tuple(self._declarations.values())

    def declare_task(self, activity: str, utility: float | UtilityRange) -> Extension:
        """Declare one more activity, for one task at a time; see ``extend``, ``agentrt.tasks.declare_task``."""
        return self.extend([declare_task(activity, utility)])

    def declare_multiple_tasks(self, activity: str, utility: float | UtilityRange) -> Extension:
        """Declare an activity more, for any number of tasks; see ``extend``, ``tasks.declare_multiple_tasks``."""
        return self.extend([declare_multiple_tasks(activity, utility)])

    def declare_permanent_task(
        self, activity: str, args: Mapping[str, Any], utility: float | UtilityRange
    ) -> Extension:
        """Declare an activity more, with a task from now on; see ``extend``, ``tasks.declare_permanent_task``."""
        return self.extend([declare_permanent_task(activity, args, utility)])

    def extend(self, declarations: Iterable[TaskDeclaration]) -> Extension:
        """Declare more activities, for this group alone.

        Args:
            declarations: made by ``agentrt.tasks.declare_task`` and its like.

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
            self._withdraw(one)

    def _withdraw(self, one: TaskDeclaration) -> None:
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

    def redeclare(self, action: type[TaskGroupAction]) -> None:
        """Its class reads otherwise, or another one stands for it: its tasks stay, as far as they are still declared.

        What was added to it later stays as it is. Who does one of its tasks is stopped, and may begin it again. Called
        at an intake.
        """
        spec = action.spec
        assert isinstance(spec, GroupSpec)
        before, now = self._base, {one.activity: one for one in spec.declarations}
        self.action, self.spec, self._base = action, spec.of(self.name, self._make_unit), spec.declarations
        for one in before:
            new = now.pop(one.activity, None)
            if new is not None and new.is_like(one):
                self._declarations[one.activity] = new
                for task in self.tasks:
                    if task.declaration is one:
                        task.declaration, task.spec = new, None
                        self.changed(task)
            else:
                self._withdraw(one)
                if new is not None:
                    self._declare([new])
        self._declare([one for one in now.values() if one.activity not in self._declarations])
        self.changed()
        self.publish()
        for member in self.members:
            member.group_changed(self)

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

    def _require(self, method: str) -> None:
        if self.is_gone:
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
        if agent is self.owner and not self.is_gone:
            raise WrongStateError(
                "group.remove", f"{self.name} is the personal group of {agent.name!r}", "Revoke what brought it."
            )
        if agent in self._members:
            self._members.remove(agent)
            agent.group_left(self)

    def _make_task(self, declaration: TaskDeclaration, values: Mapping[str, Any]) -> Task:
        self._numbers += 1
        task = Task(self, self._numbers, declaration, dict(values))
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
        if self.is_gone:
            return
        self.is_gone = True
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
                task.spec = TaskSpec(task)
                task.offered(tick)
            elif task.state is TaskState.PAUSED and task.spec is not None:
                task.spec = None
                task.withdrawn()
            self._make_known(task, None if task.is_over else task.spec)
        self._forget(len(over))
        self.version += 1
        for member in self.members:
            for place in self._places_of(member):
                place.take_up_tasks()
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

    def _places_of(self, member: Member) -> list[GroupUnit]:
        """Where in the plan of a member it is considered or run."""
        planner = member.planner
        if planner is None or planner.execution.is_stopped:
            return []
        return [unit for unit in planner.group_places if isinstance(unit, GroupUnit) and unit.group is self]

    def room_changed(self, task: Task) -> None:
        """A worker of a task came or went, or it was started, paused, or is over."""
        if self._book_room(task):
            for member in self._members:
                for place in self._places_of(member):
                    place.look_further()

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
        from agentrt.activity.tasks.views import TaskGroupView

        return TaskGroupView(
            name=self.name,
            activity=self.spec.activity,
            members=tuple(member.name for member in self._members),
            tasks=tuple(task.snapshot() for task in self.tasks),
            waits=self.waits.as_json(),
        )

    def note(self, task: Task, what: str, unit: TaskUnit | None = None) -> None:
        """Put into the trace what became of a task, and by which worker, if somebody listens."""
        runtime = self.runtime
        if runtime is not None and runtime.trace.on:
            agent = "" if unit is None else unit.frame.planner.name
            detail = (("what", what), ("task", task.number), ("activity", task.activity))
            runtime.trace.emit(TraceRecord(runtime.tick, agent, self.name, TraceEvent.TASK, detail))

    def __repr__(self) -> str:
        return f"<TaskGroup {self.name}: {len(self.tasks)} tasks, {len(self._members)} members>"


# --- in a member's plan -----------------------------------------------------------------------------------------------

WINDOW: Final = 8  # how many tasks a member is asked about at first
MOST_ASKED: Final = 512  # how many all members of a group are in one tick, if that is more than a window for each
_NOTHING: Final = -1.0  # the utility of nothing, and the bound of what nobody can do
_EVERYTHING: Final = 2.0  # a bar that no bound reaches


class _Pool:
    """What one member has not been asked about yet, of all tasks with one bound."""

    __slots__ = ("_left", "_seen", "bound", "is_begun", "lines")

    def __init__(self, bound: float) -> None:
        self.bound: float = bound  # what they could be worth
        self.lines: list[OpenTasks] = []  # where they stand
        self.is_begun: bool = False  # whether one was asked
        self._left: list[TaskSpec] | None = None  # counted one by one only when a second window is asked
        self._seen = 0  # how many had come by then

    def draw(self, frame: TaskFrame, count: int) -> list[TaskSpec]:
        """Some that were not asked: all, or drawn ones."""
        total = sum([len(line.specs) for line in self.lines])
        if not self.is_begun:
            self.is_begun = True
            # Only where a draw is nearly always a new one: drawing again costs more than to count, from here on.
            if total > 4 * count and total > 2 * len(frame.asked):
                return self._sample(frame, total, count)
        chosen: list[TaskSpec] = []
        while len(chosen) < count:
            left = self._fill(frame)
            if not left:
                break
            if len(left) > count - len(chosen):
                index = frame.planner.agent.random.below(len(left))
                left[index], left[-1] = left[-1], left[index]
            spec = left.pop()
            if spec not in frame.asked and any(spec in line for line in self.lines):
                frame.asked[spec] = None
                chosen.append(spec)
        return chosen

    def _sample(self, frame: TaskFrame, total: int, count: int) -> list[TaskSpec]:
        """Drawn from many, without looking at all of them; most are new."""
        chosen: list[TaskSpec] = []
        while len(chosen) < count:
            spec = self._at(frame.planner.agent.random.below(total))
            if spec not in frame.asked:
                frame.asked[spec] = None
                chosen.append(spec)
        return chosen

    def _at(self, index: int) -> TaskSpec:
        for line in self.lines:
            if index < len(line.specs):
                return line.specs[index]
            index -= len(line.specs)
        raise IndexError(index)

    def _fill(self, frame: TaskFrame) -> list[TaskSpec]:
        """What is left; counted anew when it is used up and more have come."""
        arrivals = sum([line.arrivals for line in self.lines])
        if self._left is None or (not self._left and self._seen != arrivals):
            self._seen = arrivals
            self._left = [spec for line in self.lines for spec in line.specs if spec not in frame.asked]
            self._left.sort(key=_number, reverse=True)  # who asks them all asks the oldest first
        return self._left

    def has_more(self, frame: TaskFrame) -> bool:
        left = self._fill(frame)
        while left and (left[-1] in frame.asked or not any(left[-1] in line for line in self.lines)):
            left.pop()
        return bool(left) or (self._seen != sum([line.arrivals for line in self.lines]) and bool(self._fill(frame)))


_number = attrgetter("task.number")


class TaskFrame(Frame):
    """The place in a member's plan where the tasks of a group compete."""

    __slots__ = (
        "_asked_now", "_asked_tick", "_is_beginning", "_is_due", "_let_go", "_pools", "_pools_of", "_untidy", "_width",
        "asked", "group",
    )  # fmt: skip

    def __init__(self, unit: GroupUnit, activity: str) -> None:
        super().__init__(unit.frame.execution, unit, unit, activity, 1, is_bound=False)
        self.group: TaskGroup = unit.group  # whose tasks they are
        # the tasks that were asked since it began to think, or have a unit at least; with the utility of those that it
        # let go of, None for the others
        self.asked: dict[TaskSpec, float | None] = {}
        self._let_go: list[tuple[float, int, TaskSpec]] = []  # a heap: the best first
        self._pools: list[_Pool] = []
        self._pools_of: tuple[int, int] = (-1, -1)  # what the agent knew, and how many lines there were, then
        self._width = WINDOW
        self._untidy = 2 * WINDOW  # how many units there are when it lets go of some
        self._asked_tick = 0
        self._asked_now = 0
        self._is_due = False  # whether it goes on in the next tick
        self._is_beginning = False

    # --- who performs -------------------------------------------------------------------------------------------------

    def performers(self) -> tuple[TaskSpec, ...]:
        """The tasks that are asked: all; or of many the first window, and then those that are and still are known."""
        group = self.group
        is_beginning, self._is_beginning = self._is_beginning, False
        self.is_choosy: bool = len(group.known) > WINDOW
        if not self.is_choosy:
            return group.specs
        if is_beginning:
            if self.execution.seldom.asides:
                for unit in self.units:
                    if group.is_known(_spec(unit)) and any(asides_below(unit)):
                        self.asked[_spec(unit)] = None  # somebody who does it goes on thinking
            self._count(len(self._draw(WINDOW, _NOTHING, is_first=True)))
            return tuple(sorted(self.asked, key=_number))
        if self.state == IDLE:
            return ()
        if len(self.asked) > 2 * len(group.known) + WINDOW:  # it may think for hours, while tasks come and go
            self.asked = {spec: utility for spec, utility in self.asked.items() if group.is_known(spec)}
        kept = tuple([spec for spec in map(_spec, self.units) if group.is_known(spec)])
        for spec in kept:
            self.asked.setdefault(spec)
        return kept

    def begin(self, args: Any, expected: Current | None, at_once: bool = True) -> None:
        """Have the tasks think, or a window of them."""
        self.asked.clear()
        self._let_go.clear()
        self._pools_of = (-1, -1)
        self._width = WINDOW
        self._untidy = 2 * WINDOW
        self._is_due = False
        if self.is_choosy or len(self.group.known) > WINDOW:
            self.version: int = -1
            self._is_beginning = True
        super().begin(args, expected, at_once)

    # --- asking more --------------------------------------------------------------------------------------------------

    def close_answer(self) -> None:
        """An answer is in; with the last one the round is over, unless somebody who was not asked could be better."""
        while self.pending == 1 and self.round_open and self.is_choosy and not self.execution.is_unwinding(self):
            specs = self._next()
            if not specs:
                break
            self.pending: int = 2  # else the answer of one who knows it at once would end the round, inside this loop
            self._ask(specs)
            self.pending -= 1
        super().close_answer()

    def compare(self) -> None:
        if not self.ask_more():  # else they answer first
            super().compare()

    def ask_more(self) -> bool:
        """Ask more tasks, if one of them could be better than what is ready; says whether some were asked."""
        if not self.is_choosy or self.round_open or self.execution.is_unwinding(self):
            return False
        specs = self._next()
        if specs:
            self._ask(specs)
            self.look_again()
        return bool(specs)

    def begin_late(self, units: list[Unit]) -> None:
        """Have units think outside of a round, and newcomers with them: before what is due in this tick."""
        self.look_further()
        super().begin_late(units)

    def look_further(self) -> None:
        """What there was to beat may be less, or more tasks be there: see whether more are to be asked."""
        if not self._is_due:
            self.ask_more()

    def _nobody(self) -> None:
        if self.may_ask():
            self.owner.frame_answered(self)
        else:
            super()._nobody()

    def may_ask(self) -> bool:
        """Whether more are asked in the next tick."""
        return self.is_choosy and self._is_due

    def may_change(self) -> bool:
        return self.may_ask() or super().may_change()

    def _ask(self, specs: Sequence[TaskSpec]) -> None:
        self._tidy()
        made = [unit for spec in specs if (unit := make_unit(self, spec)) is not None]
        self.units: tuple[Unit, ...] = (*self.units, *made)
        asked: list[Unit] = []
        for unit in made:
            unit.begin(asked)

    def _next(self) -> list[TaskSpec]:
        """Whom to ask now: nobody, if that could change nothing, or there were enough in this tick."""
        bar = self._bar()
        if not self._is_wanting():
            return []
        self._count(0)
        most = max(WINDOW, MOST_ASKED // max(1, len(self.group.members)))
        count = min(self._width, most - self._asked_now)
        if count <= 0:
            if not self._is_due:
                self._is_due = True
                self.planner.kernel.call_later(1, self._go_on, self.round)
            return []
        self._width *= 2
        chosen = self._draw(count, bar)
        self._count(len(chosen))
        return chosen

    def _count(self, number: int) -> None:
        tick = self.planner.kernel.clock.tick
        self._asked_now = number + (self._asked_now if tick == self._asked_tick else 0)
        self._asked_tick = tick

    def _go_on(self, number: int) -> None:
        if number == self.round and self.state != IDLE:
            self._is_due = False
            self.look_again()  # while a round is open it goes on by itself

    def _bar(self) -> float:
        state = self.state
        if state == THINKING or state == READY:
            return max([unit.utility for unit in self.units if unit.state == READY], default=_NOTHING)
        if state in (IDLE, FINISHED, SWITCHING) or self.active is None:
            return _EVERYTHING
        return self.active.utility

    def _is_wanting(self) -> bool:
        """Whether somebody who is not asked could be better than what is ready."""
        bar = self._bar()
        if bar == _EVERYTHING or self.planner.busy_frames >= MAX_FRAMES * 3 // 4:
            return False
        if self._best_let_go() > bar:
            return True
        for pool in self._sorted_pools():
            if pool.bound < bar or pool.bound == _NOTHING:
                return False
            if (pool.bound > bar or self._is_tie(pool)) and pool.has_more(self):
                return True
        return False

    def _is_tie(self, pool: _Pool) -> bool:
        """Whether it may be as good as what is ready, and in the same round; a draw between them takes one window."""
        return self.state == THINKING and not pool.is_begun

    def _draw(self, count: int, bar: float, *, is_first: bool = False) -> list[TaskSpec]:
        """Up to so many that could be better, the best bounds first; what nobody knows at the first time only."""
        chosen: list[TaskSpec] = []
        for pool in self._sorted_pools():
            while len(chosen) < count and self._best_let_go() > max(bar, pool.bound):
                chosen.append(self._take_back())
            if len(chosen) == count or pool.bound < bar or (pool.bound == _NOTHING and not is_first):
                break
            if pool.bound > bar or is_first or self._is_tie(pool):
                chosen += pool.draw(self, count - len(chosen))
        while len(chosen) < count and self._best_let_go() > bar:
            chosen.append(self._take_back())
        return chosen

    def _sorted_pools(self) -> list[_Pool]:
        planner, lines = self.planner, self.group.lines
        if self._pools_of != (planner.version, len(lines)):
            self._pools_of = (planner.version, len(lines))
            pools: dict[float, _Pool] = {}
            for line in lines.values():
                bound = self._bound(line)
                pools.setdefault(bound, _Pool(bound)).lines.append(line)
            self._pools = [pools[bound] for bound in sorted(pools, reverse=True)]
        return self._pools

    def _bound(self, line: OpenTasks) -> float:
        """What a task could be worth for this member."""
        planner = self.planner
        known = (*planner.known.get(line.activity, ()), *planner.groups.get(line.activity, ()))
        tops = [spec.high for spec in known if not spec.is_filter]
        return remap(max(tops), line.low, line.high) if tops else _NOTHING

    # --- letting go ---------------------------------------------------------------------------------------------------

    def _tidy(self) -> None:
        """Let go of those that answered, for the time being, and are not among the best."""
        if len(self.units) < self._untidy:
            return
        self._untidy = max(2 * WINDOW, 2 * len(self.units))  # so each is looked at a few times, however many wait
        answered = [unit for unit in self.units if unit is not self.active and not unit.may_change()]
        ready = [unit for unit in answered if unit.state == READY and unit.is_settled()]
        ready.sort(key=attrgetter("utility"), reverse=True)
        bar = self._bar()
        gone = [unit for unit in ready[WINDOW:] if unit.utility < bar]
        gone += [unit for unit in answered if unit.state == THINKING][WINDOW:]
        if not gone:
            return
        for unit in gone:
            spec = _spec(unit)
            if unit.state == READY:
                self.asked[spec] = unit.utility
                heappush(self._let_go, (-unit.utility, spec.task.number, spec))
        dropped = set(gone)
        self.units = tuple([unit for unit in self.units if unit not in dropped])
        self._untidy = max(2 * WINDOW, 2 * len(self.units))
        for unit in gone:
            unit.end_thinking()  # last: it may wake others, who are to find the books of this frame in order

    def _best_let_go(self) -> float:
        """The utility of the best of those that were let go of and can be done still."""
        heap, group = self._let_go, self.group
        while heap and not group.is_open(heap[0][2]):
            self.asked.pop(heappop(heap)[2], None)  # if it can be done again, it is asked as a new one
        return -heap[0][0] if heap else _NOTHING

    def _take_back(self) -> TaskSpec:
        spec = heappop(self._let_go)[2]
        self.asked[spec] = None
        return spec

    # --- for people ---------------------------------------------------------------------------------------------------

    def note(self, event: TraceEvent, **detail: Any) -> None:
        """Put a record into the trace; an election says how many were not asked."""
        if event is TraceEvent.ELECT and self.is_choosy:
            detail["unasked"] = self.unasked
        super().note(event, **detail)

    @property
    def unasked(self) -> int:
        """How many tasks were not asked, of those that the member knows."""
        if not self.is_choosy or self.state == IDLE:
            return 0
        return len(self.group.known) - sum([self.group.is_known(spec) for spec in self.asked])

    def why_unasked(self) -> str:
        total = self.unasked
        if total <= 0:
            return ""
        left = {pool.bound: sum([len(line.specs) for line in pool.lines]) for pool in self._sorted_pools()}
        for spec in self.asked:
            if self.group.is_open(spec):
                left[self._bound(self.group.line_of(spec))] -= 1
        unknown = left.pop(_NOTHING, 0)
        bar = self._bar()
        better = sum([number for bound, number in left.items() if bound > bar])
        equal_or_worse = sum(left.values()) - better
        parts = [(total - unknown - better - equal_or_worse, "have no place left")]
        parts.append((unknown, "are beyond what the agent knows"))
        parts.append((better, "are asked in the next ticks" if self._is_due else "could be better"))
        parts.append((equal_or_worse, f"could not be better than {bar:g}"))
        return ", ".join(f"{number} {words}" for number, words in parts if number > 0)


def _spec(unit: Unit) -> TaskSpec:
    spec = unit.spec
    assert isinstance(spec, TaskSpec)
    return spec


class GroupUnit(CompoundUnit):
    """A task group at one place of a member's plan."""

    __slots__ = ("_seen", "group")

    def __init__(self, frame: Frame, spec: GroupSpec, group: TaskGroup) -> None:
        super().__init__(frame, spec)
        self.group: TaskGroup = group
        self._seen = -1  # which version of the group its frame knows

    def move(self, state: int) -> None:
        was = self.state
        super().move(state)
        if was == IDLE:
            self.frame.planner.group_places += (self,)
        elif state == IDLE:
            planner = self.frame.planner
            planner.group_places = tuple([unit for unit in planner.group_places if unit is not self])

    def _steps_think(self, own: Any) -> None:
        group = self.group
        if not self.frames:
            assert self.spec.steps is not None
            self.frames.append(TaskFrame(self, self.spec.steps[0].activity))
        elif self._seen != group.version:
            self.frames[0].version = -1
        self._seen = group.version
        super()._steps_think(own)

    def look_further(self) -> None:
        """A task of the group has room again: see whether to ask it."""
        if self.frames:
            self.frames[0].look_further()

    def take_up_tasks(self) -> None:
        group = self.group
        if not self.frames:
            return
        frame = self.frames[0]
        self._seen = group.version
        frame.version = -1
        lost = take_up(frame)
        if lost is not None:
            self.frame.execution.replan(f"{lost.spec.name} was taken back", lost)

    def may_change(self) -> bool:
        """Whether it may become ready: also if a task is still to be asked."""
        return super().may_change() or (
            self.state in (THINKING, READY) and bool(self.frames) and self.frames[0].may_change()
        )

    def _composed(self) -> float:
        task_utility = ChildUtilities(self.frames)[1]
        spec = self.group.spec
        if spec.composes_group:
            own = composed(self, self.action, task_utility)
            if own is not None:
                return own
        # Not up to ``high``, which is 1 for a group that composes: no more than that is known of what it returns.
        return remap(task_utility, spec.low, spec.low + spec.span)


class TaskUnit(CompoundUnit):
    """A task at one place of a member's plan."""

    __slots__ = ("_is_full", "task")

    def __init__(self, frame: Frame, spec: TaskSpec) -> None:
        super().__init__(frame, spec)
        self.task: Task = spec.task
        self._is_full = False  # whether there is no room for one more worker

    def move(self, state: int) -> None:
        was = self.state
        super().move(state)
        if was == IDLE:
            self.task.units.append(self)
        elif state == IDLE:
            self.task.units.remove(self)
        if was == READY and state != STARTED:
            self.task.leave(self, is_interrupted=False)

    def _steps_think(self, own: Any) -> None:
        task = self.task
        if task.annotation:
            self.own_extras().progress = task.annotation
        self._is_full = not task.has_room()
        if self._is_full:
            self._answered()  # it waits for a place, and nobody waits for it
        else:
            super()._steps_think(own)

    def may_change(self) -> bool:
        """Whether it may become ready: a place may become free, or an action of its activity become ready."""
        return (self._is_full and self.state == THINKING) or super().may_change()

    def room_changed(self) -> None:
        task = self.task
        if (self.state != THINKING and self.state != READY) or self in task.working:
            return
        has_room = task.has_room()
        if self._is_full and has_room:
            self.end_thinking()
            self.frame.begin_late([self])
        elif not self._is_full and not has_room:
            self._wait_for_room()

    def _wait_for_room(self) -> None:
        self._is_full = True
        self._stop_steps(1)
        if self.state == READY:
            self.withdraw(THINKING)
        if self.frame.planner.trace.on:
            self.note(TraceEvent.FULL)
        self._answered()

    def start(self) -> bool:
        """Take a place, and start the activity; if there is no place left, it waits for one."""
        return self._take_place() and super().start()

    def _take_place(self) -> bool:
        """Take a place among the workers; if there is none, it waits for one."""
        task = self.task
        if self in task.working or task.take(self):
            return True
        self._wait_for_room()
        return False

    def take_places(self) -> bool:
        return self._take_place() and super().take_places()

    def leave_places(self) -> None:
        if self.state in (READY, THINKING):
            self.task.leave(self, is_interrupted=False)
        super().leave_places()

    def finish(self) -> None:
        self.task.finish(self)
        super().finish()

    def stop(self, state: int = IDLE) -> None:
        """Stop it; if it was not done, it is interrupted."""
        was_working = self.state in (STARTED, RUNNING)
        super().stop(state)
        if self.state != FINISHED:  # else ``finish`` has given the place back
            self.task.leave(self, is_interrupted=was_working and state == IDLE)

    def _composed(self) -> float:
        return remap(ChildUtilities(self.frames)[1], self.spec.low, self.spec.high)
