"""Task groups as frozen, plain data, for tools and terminal views.

Source: Stonehearth, AI: "Issuing tasks" (annotation and source are for debugging).
"""

from __future__ import annotations

from typing import Any

from agentrt.body.codec import View, told, view


@view()
class TaskView(View):
    """A task."""

    number: int  # in the group
    activity: str  # what is to be done
    args: tuple[tuple[str, str], ...] = told(by_name=True)  # with which arguments, in words
    state: str  # paused, started, completed or destroyed
    is_permanent: bool  # whether it is there for as long as the group
    finished: int  # how many times it was done
    remaining: int | None  # how many times it is still to be done; None for ever
    worker_limit: int | None  # how many may do it at a time; None for any number
    workers: tuple[str, ...]  # the names of those who do it now
    annotation: str  # what it is about
    source: str  # what it was created for, in words


@view()
class TaskGroupView(View):
    """A task group."""

    name: str
    activity: str  # what its members do for it
    members: tuple[str, ...]  # their names, in the order in which they joined
    tasks: tuple[TaskView, ...]  # those that are not over
    waits: dict[str, Any]  # how long work was available before somebody began it, as plain data
