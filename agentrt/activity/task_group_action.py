"""Task group actions: what authors write to have activities scheduled from outside, and compete.

A task group action is a class that declares which activities its tasks may do and how good each is among the others. It
is a description; ``TaskGroup`` makes groups of it, which hold tasks and members. A member knows the action of each
group that it is in, and performs the activity that the action ``does`` by doing the best task that is ready.

Source: seed 001, "Task group example".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from agentrt.activity.action import Action
from agentrt.activity.spec import ActionSpec, default_hook
from agentrt.activity.task_specs import GroupSpec, TaskDeclaration
from agentrt.activity.utility import UtilityRange

__all__ = ["TaskAction", "TaskGroupAction"]


class TaskGroupAction(Action):
    """An action that does the best of the tasks that somebody has created for it.

    It has the metadata of any action and no hooks; it takes no arguments.

    Attributes:
        tasks: what its tasks may do: ``declare_task``, ``declare_multiple_tasks`` and ``declare_permanent_task``.

    Source: seed 001, "Task group example".
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

    Source: seed 001, "Overview of the AI system", task action.
    """

    does = "agentrt:task"
    name = "task"
    utility: ClassVar[float | UtilityRange] = 1.0
