"""What authors declare of task groups, and what a group is to the planner.

A ``TaskGroupAction`` is a class that declares which activities its tasks may do and how good each is among the others.
It is a description; ``TaskGroup`` makes groups of it. To the planner a group is an action of one step: an activity of
its own that its tasks perform, so that they compete with each other as actions do. A task is an action of one step too:
the activity that it was declared for, with the arguments that it was created with. So nothing in a frame knows of
groups and tasks: their specs make their own units (``UnitMaker``), by what the group handed in.

Two remappings, both exact to twelve decimals: the utility of the activity into the range that the declaration gives to
the task (a fixed number ignores it), and that of the task into the range of the group, unless the group composes it.

A ``GroupSpec`` is compiled once for each class, which finds its mistakes, and copied for each group that is made of it.

Source: Stonehearth, AI: "Task group example".
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from agentrt.activity.author.action import Action, ActionSpec, default_hook
from agentrt.activity.author.arguments import ACTIVITY, ActionArgs
from agentrt.activity.author.steps import CompiledStep, has_placeholder, with_constants
from agentrt.activity.author.utility import UtilityRange, parse_range
from agentrt.activity.performances import UnitMaker
from agentrt.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentrt.activity.plan.tree import Frame, Unit


_HOOKS = ("should_start_thinking", "think", "stop_thinking", "start", "run", "stop")


@dataclass(frozen=True, slots=True)
class TaskDeclaration:
    """An activity that a task group may be asked to do. Made by ``declare_task`` and its like.

    Source: Stonehearth, AI: "Task group example", Task declarations.
    """

    activity: str  # what its tasks do
    low: float  # the utility of the task when that of the activity is 0
    high: float  # the same for 1; equal to ``low`` if the task has a fixed utility
    is_multiple: bool = False  # whether there may be several such tasks at a time
    is_permanent: bool = False  # whether there is one for as long as there is the group
    args: Mapping[str, Any] = field(default_factory=dict, hash=False)  # of the permanent task

    def is_like(self, other: TaskDeclaration) -> bool:
        """Whether a task of the one can be a task of the other; their utilities may differ."""
        return replace(self, low=other.low, high=other.high) == other


def _declared(word: str, activity: str, utility: object, **more: Any) -> TaskDeclaration:
    subject = f"{word}({activity!r})"
    given: object = activity
    if not isinstance(given, str) or not ACTIVITY.fullmatch(given):
        raise DefinitionError(subject, "this is no activity.", "Write an activity such as 'demo:sleep'.")
    (low, high), _ = parse_range(subject, utility)
    return TaskDeclaration(activity, low, high, **more)


def declare_task(activity: str, utility: float | UtilityRange) -> TaskDeclaration:
    """Declare that there may be one task at a time that does an activity.

    Args:
        activity: what the task does.
        utility: how good it is among the tasks of the group, from 0 to 1: a number, whatever the utility of the action
            that does it; or a range (low, high) into which that utility is put.

    Returns:
        The declaration, for the list ``tasks`` of a task group.

    Raises:
        DefinitionError: it is no activity, or no utility.

    Source: Stonehearth, AI: "Task group example", `declare_task`.
    """
    return _declared("declare_task", activity, utility)


def declare_multiple_tasks(activity: str, utility: float | UtilityRange) -> TaskDeclaration:
    """Declare that there may be any number of tasks at a time that do an activity, with arguments of their own.

    It is called like ``declare_task``.

    Source: Stonehearth, AI: "Task group example", `declare_multiple_tasks`.
    """
    return _declared("declare_multiple_tasks", activity, utility, is_multiple=True)


def declare_permanent_task(activity: str, args: Mapping[str, Any], utility: float | UtilityRange) -> TaskDeclaration:
    """Declare a task that is there for as long as the group is, with arguments that are values.

    Otherwise it is called like ``declare_task``.

    Source: Stonehearth, AI: "Task group example", `declare_permanent_task`.
    """
    subject = f"declare_permanent_task({activity!r})"
    given: object = args
    if not isinstance(given, Mapping):
        raise DefinitionError(subject, f"its arguments are {args!r}.", "Write a mapping: {} for none.")
    for name, value in args.items():
        if has_placeholder(value):
            raise DefinitionError(
                subject, f"the argument '{name}' is a placeholder.", "A task has no steps before it: write a value."
            )
    return _declared("declare_permanent_task", activity, utility, is_permanent=True, args=dict(args))


def check_declarations(subject: str, declared: object) -> tuple[TaskDeclaration, ...]:
    """Check what was written as the tasks of a group: a list of declarations, each activity once."""
    remedy = "Write a list: tasks = [declare_task('activity', 0.5), ...]."
    if isinstance(declared, (str, Mapping)) or not isinstance(declared, Iterable):
        raise DefinitionError(subject, f"tasks is {declared!r}.", remedy)
    found: dict[str, TaskDeclaration] = {}
    for one in declared:
        if not isinstance(one, TaskDeclaration):
            raise DefinitionError(subject, f"its tasks contain {one!r}.", remedy)
        if found.setdefault(one.activity, one) is not one:
            raise DefinitionError(subject, f"it declares '{one.activity}' twice.", "Keep one of the declarations.")
    return tuple(found.values())


class GroupSpec(ActionSpec, UnitMaker):
    """What a task group is to the planner."""

    __slots__ = ("_makes", "composes_group", "declarations")

    def __init__(self, cls: type[Action]) -> None:
        super().__init__(cls)
        self.kind: str = "group"
        self._makes: Callable[[Frame, GroupSpec], Unit] | None = None  # makes its units; None for the class itself
        for hook in _HOOKS:
            if getattr(self, "has_filter" if hook == "should_start_thinking" else f"has_{hook}"):
                raise self._wrong(
                    f"a task group has no {hook} of its own.", "Move it into an action that performs one of its tasks."
                )
        if cls.Args is not ActionArgs:
            raise self._wrong("a task group takes no arguments.", "Leave Args out; its tasks take arguments.")
        # its tasks, as its class declares them
        self.declarations: tuple[TaskDeclaration, ...] = check_declarations(self.subject, getattr(cls, "tasks", ()))
        self.composes_group: bool = self._hook("compose_utility", ("entity", "task_utility"), whose=" of a task group")
        if self.composes_group:
            self.high: float = 1.0
        self.steps: tuple[CompiledStep, ...] | None = None  # each group has its own
        # Without a hook and without a range the group's utility never changes, and nobody has to be asked.
        self.composes: bool = self.composes_group or self.is_range

    def of(self, name: str, makes: Callable[[Frame, GroupSpec], Unit]) -> GroupSpec:
        """The spec of one group that was made of this class, which makes its units; paths call it by its name."""
        if not ACTIVITY.fullmatch(name):
            raise self._wrong(f"a group is named {name!r}.", "Leave out spaces and slashes.")
        made = copy.copy(self)
        made._makes = makes
        made.label = name
        made.steps = (with_constants(f"tasks of {name}", "tasks", {}),)
        return made

    def make_unit(self, frame: Frame) -> Unit:
        assert self._makes is not None
        return self._makes(frame, self)


class TaskGroupAction(Action):
    """An action that does the best of the tasks that somebody has created for it.

    It has the metadata of any action and no hooks; it takes no arguments.

    Attributes:
        tasks: what its tasks may do: ``declare_task``, ``declare_multiple_tasks`` and ``declare_permanent_task``.

    Source: Stonehearth, AI: "Task group example".
    """

    _spec_type: ClassVar[type[ActionSpec]] = GroupSpec

    tasks: ClassVar[Sequence[TaskDeclaration]] = ()

    @default_hook
    def compose_utility(self, entity: Any, task_utility: float) -> float:
        """Derive the utility of the group from that of the task that it considers or runs.

        Without this hook the task's utility is put into the declared range; a fixed utility stays what it is.

        Args:
            entity: the entity that acts.
            task_utility: from 0 to 1, as the declaration of the task makes it.

        Returns:
            A number from 0 to 1: the utility of the group.
        """
        return task_utility


class TaskAction(Action):
    """The action that does a task; there is one unit of it for each task, under that of the group.

    Source: Stonehearth, AI: "Overview of the AI system", task action.
    """

    does = "agentrt:task"
    name = "task"
    utility: ClassVar[float | UtilityRange] = 1.0
