"""The states of a task, as a table: for each the states that may follow. A change that is not in it is an error.

A paused task can be completed: who worked on it stops at the next intake only, and may be done before that.

Source: seed 001, "Issuing tasks".
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

__all__ = ["TASK_TABLE", "TaskState"]


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
