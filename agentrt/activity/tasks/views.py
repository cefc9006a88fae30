"""Task groups as frozen, plain data, for tools and terminal views.

Source: Stonehearth, AI: "Issuing tasks" (annotation and source are for debugging).
"""

from __future__ import annotations

from typing import Any

from agentrt.body.codec import View, told, view

__all__ = ["TaskGroupView", "TaskView"]


@view
class TaskView(View):
    """A task.

    Attributes:
        number: its number in the group.
        activity: what is to be done.
        args: with which arguments, in words.
        state: paused, started, completed or destroyed.
        is_permanent: whether it is there for as long as the group.
        finished: how many times it was done.
        remaining: how many times it is still to be done; None for ever.
        worker_limit: how many may do it at a time; None for any number.
        workers: the names of those who do it now.
        annotation: what it is about.
        source: what it was created for, in words.
    """

    number: int
    activity: str
    args: tuple[tuple[str, str], ...] = told(by_name=True)
    state: str
    is_permanent: bool
    finished: int
    remaining: int | None
    worker_limit: int | None
    workers: tuple[str, ...]
    annotation: str
    source: str


@view
class TaskGroupView(View):
    """A task group.

    Attributes:
        name: the group's.
        activity: what its members do for it.
        members: their names, in the order in which they joined.
        tasks: those that are not over.
        waits: how long work was available before somebody began it, as plain data.
    """

    name: str
    activity: str
    members: tuple[str, ...]
    tasks: tuple[TaskView, ...]
    waits: dict[str, Any]
