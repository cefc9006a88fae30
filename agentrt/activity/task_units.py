"""Groups and tasks in the plan tree of a member.

``GroupUnit`` is a compound of one step, whose frame takes its actions from the group instead of from what the agent
knows. ``TaskUnit`` is one of these actions: a compound of one step again, the activity of the task. So thinking,
electing, running and unwinding are those of compounds; what is added here is where tasks come and go, the two
remappings of utility, and the places of a task.

Both are known to what they stand for while they are not idle, so that a change finds those whom it concerns.

Source: seed 001, "Task group example", "Utility".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.activity import hooks
from agentrt.activity.composing import ChildUtilities
from agentrt.activity.compound import CompoundUnit
from agentrt.activity.knowledge import take_up
from agentrt.activity.states import FINISHED, IDLE, READY, RUNNING, STARTED, THINKING
from agentrt.activity.task_frame import TaskFrame
from agentrt.activity.task_specs import GroupSpec, TaskSpec
from agentrt.activity.utility import remap
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from typing import Any

    from agentrt.activity.frame import Frame
    from agentrt.activity.task import Task
    from agentrt.activity.task_group import TaskGroup

__all__ = ["GroupUnit", "TaskUnit"]


class GroupUnit(CompoundUnit):
    """A task group at one place of a member's plan."""

    __slots__ = ("_seen", "group")

    def __init__(self, frame: Frame, spec: GroupSpec) -> None:
        super().__init__(frame, spec)
        assert spec.group is not None
        self.group: TaskGroup = spec.group
        self._seen = -1  # which version of the group its frame knows

    def move(self, state: int) -> None:
        """Change the state, if the table allows it."""
        was = self.state
        super().move(state)
        if was == IDLE:
            self.frame.planner.group_places().append(self)
        elif state == IDLE:
            self.frame.planner.group_places().remove(self)

    def _steps_think(self, own: Any) -> None:
        group = self.group
        if not self.frames:
            assert self.spec.steps is not None
            self.frames.append(TaskFrame(self, self.spec.steps[0].activity))
        elif self._seen != group.version:
            self.frames[0].version = -1
        self._seen = group.version
        super()._steps_think(own)

    def take_up_tasks(self) -> None:
        """Tasks of the group came or went."""
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
            composed = hooks.compose_utility(self, task_utility)
            if composed is not None:
                return composed
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
        """Change the state, if the table allows it."""
        was = self.state
        super().move(state)
        if was == IDLE:
            self.task.units.append(self)
        elif state == IDLE:
            self.task.units.remove(self)
        if was == READY and state != STARTED:
            self.leave_place()

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
        """A worker of the task came or went."""
        task = self.task
        if (self.state != THINKING and self.state != READY) or self in task.working:
            return
        has_room = task.has_room()
        if self._is_full and has_room:
            self.end_thinking()
            self.frame.begin_again(self)
        elif not self._is_full and not has_room:
            self._wait_for_room()

    def _wait_for_room(self) -> None:
        self._is_full = True
        self._stop_steps(1)
        if self.state == READY:
            self.withdraw(THINKING)
        if self.frame.planner.trace.on:
            self.note(Event.FULL)
        self._answered()

    def start(self) -> bool:
        """Take a place, and start the activity.

        Returns:
            Whether it is started; if there is no place left, it waits for one.
        """
        return self.take_place() and super().start()

    def take_place(self) -> bool:
        """Take a place among the workers; if there is none, it waits for one.

        Returns:
            Whether it has one.
        """
        task = self.task
        if self in task.working or task.take(self):
            return True
        self._wait_for_room()
        return False

    def leave_place(self) -> None:
        """It was not started after all."""
        self.task.leave(self, is_interrupted=False)

    def finish(self) -> None:
        """It is done."""
        self.task.finish(self)
        super().finish()

    def stop(self, state: int = IDLE) -> None:
        """Stop it; if it was not done, it is interrupted."""
        was_working = self.state in (STARTED, RUNNING)
        super().stop(state)
        if self.state != FINISHED:
            self.task.leave(self, is_interrupted=was_working and state == IDLE)

    def _composed(self) -> float:
        return remap(ChildUtilities(self.frames)[1], self.spec.low, self.spec.high)
