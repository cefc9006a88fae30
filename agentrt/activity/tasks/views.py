"""Task groups as frozen, plain data, for tools and terminal views.

Source: seed 001, "Issuing tasks" (annotation and source are for debugging).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentrt.body.views import Fields

__all__ = ["TaskGroupView", "TaskView"]


@dataclass(frozen=True, slots=True)
class TaskView:
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
    args: tuple[tuple[str, str], ...]
    state: str
    is_permanent: bool
    finished: int
    remaining: int | None
    worker_limit: int | None
    workers: tuple[str, ...]
    annotation: str
    source: str

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        return {
            "number": self.number,
            "activity": self.activity,
            "args": dict(self.args),
            "state": self.state,
            "is_permanent": self.is_permanent,
            "finished": self.finished,
            "remaining": self.remaining,
            "worker_limit": self.worker_limit,
            "workers": list(self.workers),
            "annotation": self.annotation,
            "source": self.source,
        }

    @classmethod
    def read(cls, fields: Fields) -> TaskView:
        """Read what ``as_json`` wrote.

        Args:
            fields: its object.

        Raises:
            DataFault: it is no such view.
        """
        args = fields.inner("args")
        return cls(
            number=fields.whole("number"),
            activity=fields.text("activity"),
            args=tuple((name, args.text(name)) for name in args.names()),
            state=fields.text("state"),
            is_permanent=fields.flag("is_permanent"),
            finished=fields.whole("finished"),
            remaining=None if fields.is_null("remaining") else fields.whole("remaining"),
            worker_limit=None if fields.is_null("worker_limit") else fields.whole("worker_limit"),
            workers=fields.texts("workers"),
            annotation=fields.text("annotation"),
            source=fields.text("source"),
        )


@dataclass(frozen=True, slots=True)
class TaskGroupView:
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

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        return {
            "name": self.name,
            "activity": self.activity,
            "members": list(self.members),
            "tasks": [task.as_json() for task in self.tasks],
            "waits": self.waits,
        }

    @classmethod
    def read(cls, fields: Fields) -> TaskGroupView:
        """Read what ``as_json`` wrote.

        Args:
            fields: its object.

        Raises:
            DataFault: it is no such view.
        """
        return cls(
            fields.text("name"),
            fields.text("activity"),
            fields.texts("members"),
            fields.each("tasks", TaskView.read),
            fields.plain_object("waits"),
        )
