"""The plan tree as frozen, plain data: activities, and the actions that could perform them.

An activity (``FrameView``) has the actions that the agent knows for it (``UnitView``), and an action has the activities
that it is made of. What is shown is what is true now, and nothing that is left over: of an action that is idle or not
possible there is nothing below; of any other, all steps, where those that have not thought yet are idle and have no
actions. So equal states look equal, however they came about.

``as_json`` leaves out whatever has its default (``DEFAULTS`` are in the signature of the classes), since most of a plan
tree says nothing unusual; ``read`` puts it in again. Written by hand: ``dataclasses.asdict`` took ten times as long.

Source: seed 001, the AI inspector: activities in brackets, actions beneath them, the running branch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentrt.body.reading import Fields

__all__ = ["FrameView", "TaskPlace", "UnitView"]


class TaskPlace(NamedTuple):
    """Which task an action stands for.

    Attributes:
        group: the name of its group.
        number: its number there.
        args: what it is to be done with, in words.
    """

    group: str
    number: int
    args: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class UnitView:
    """An action at one place of a plan.

    Attributes:
        action: the name of its class.
        name: what it calls itself; a task with what it is to be done with, cut short.
        path: its place, which is its stable id: the same in the trace, and in every equal run.
        kind: ``leaf``, ``compound``, ``group`` or ``task``.
        state: idle, thinking, ready, impossible, started, running or finished.
        utility: within its activity.
        boosted: with the sunk-cost boost, if it is the elected one and has run for a while.
        is_elected: whether it is.
        low: the least utility that it can have.
        high: the greatest one.
        boost: what sunk cost will add; 0 unless it is elected, runs, and does not have it yet.
        boost_at: the tick from which on it will have it; 0 likewise.
        weight: of several equals, how likely it is drawn.
        since: the tick in which it began to think; once it runs, in which it began to run; 0 while it is idle.
        again: the tick in which it is asked again; 0 if that is not known.
        until: the tick at the end of which it has to be ready; 0 if there is no limit.
        progress: what it says about itself, for debugging.
        reason: why it is not possible or not ready, or does not take over though its utility is higher; else empty.
        waits: what it waits for, in words; empty if that is not known, or nothing.
        flags: the control flags that it declares.
        restarts: how often its thinking was stopped before it had an answer, since it last had one.
        restart_reason: why, the last time; empty if it was not.
        restarts_since: the tick in which the first of these thoughts began; 0 likewise.
        task: the task that it stands for.
        debug: what its author put into ``ctx.get_debug_info_datastore()``, as plain values; entities by their names.
        frames: the activities below it.
    """

    action: str
    name: str
    path: str
    kind: str
    state: str
    utility: float
    boosted: float
    is_elected: bool
    low: float
    high: float
    boost: float = 0.0
    boost_at: int = 0
    weight: float = 1.0
    since: int = 0
    again: int = 0
    until: int = 0
    progress: str = ""
    reason: str = ""
    waits: str = ""
    flags: tuple[str, ...] = ()
    task: TaskPlace | None = None
    debug: dict[str, Any] = field(default_factory=dict)
    frames: tuple[FrameView, ...] = ()
    restarts: int = 0
    restart_reason: str = ""
    restarts_since: int = 0

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values, without what has its default."""
        data: dict[str, Any] = {
            "action": self.action,
            "name": self.name,
            "path": self.path,
            "kind": self.kind,
            "state": self.state,
            "utility": self.utility,
        }
        if self.is_elected:
            data["is_elected"] = True
        if self.boosted != self.utility:
            data["boosted"] = self.boosted
        if self.low != self.utility or self.high != self.utility:
            data["low"] = self.low
            data["high"] = self.high
        if self.since:
            data["since"] = self.since
        if self.state != "idle":
            self._add_rare(data)
        elif self.reason:
            data["reason"] = self.reason
        self._add_other(data)
        if self.flags:
            data["flags"] = list(self.flags)
        if self.task is not None:
            data["task"] = _as_json(self.task)
        if self.debug:
            data["debug"] = self.debug
        if self.frames:
            data["frames"] = [frame.as_json() for frame in self.frames]
        return data

    def _add_other(self, data: dict[str, Any]) -> None:
        if self.restarts:
            data["restarts"] = self.restarts
            data["restart_reason"] = self.restart_reason
            data["restarts_since"] = self.restarts_since
        if self.weight != 1.0:
            data["weight"] = self.weight

    def _add_rare(self, data: dict[str, Any]) -> None:
        if self.boost_at:
            data["boost"] = self.boost
            data["boost_at"] = self.boost_at
        if self.again:
            data["again"] = self.again
        if self.until:
            data["until"] = self.until
        if self.progress:
            data["progress"] = self.progress
        if self.reason:
            data["reason"] = self.reason
        if self.waits:
            data["waits"] = self.waits

    @classmethod
    def read(cls, fields: Fields) -> UnitView:
        """Read what ``as_json`` wrote.

        Args:
            fields: its object.

        Raises:
            DataFault: it is no such view.
        """
        utility = fields.number("utility")
        return cls(
            action=fields.text("action"),
            name=fields.text("name"),
            path=fields.text("path"),
            kind=fields.text("kind"),
            state=fields.text("state"),
            utility=utility,
            boosted=fields.number("boosted", utility),
            is_elected=fields.flag("is_elected", False),
            low=fields.number("low", utility),
            high=fields.number("high", utility),
            boost=fields.number("boost", 0.0),
            boost_at=fields.whole("boost_at", 0),
            weight=fields.number("weight", 1.0),
            since=fields.whole("since", 0),
            again=fields.whole("again", 0),
            until=fields.whole("until", 0),
            progress=fields.text("progress", ""),
            reason=fields.text("reason", ""),
            waits=fields.text("waits", ""),
            flags=fields.texts("flags"),
            task=None if fields.is_null("task") else _task(fields.inner("task")),
            debug=fields.plain_object("debug"),
            frames=fields.each("frames", FrameView.read),
            restarts=fields.whole("restarts", 0),
            restart_reason=fields.text("restart_reason", ""),
            restarts_since=fields.whole("restarts_since", 0),
        )


def _as_json(task: TaskPlace) -> dict[str, Any]:
    data: dict[str, Any] = {"group": task.group, "number": task.number}
    if task.args:
        data["args"] = dict(task.args)
    return data


def _task(fields: Fields) -> TaskPlace:
    return TaskPlace(fields.text("group"), fields.whole("number"), _args(fields))


def _args(fields: Fields) -> tuple[tuple[str, str], ...]:
    if fields.is_null("args"):
        return ()
    inner = fields.inner("args")
    return tuple((name, inner.text(name)) for name in inner.names())


@dataclass(frozen=True, slots=True)
class FrameView:
    """An activity at one place of a plan.

    Attributes:
        activity: what is performed.
        path: its place, which is its stable id.
        state: idle, thinking, ready, started, running, finished or switching.
        units: the actions that could perform it.
        args: what it is called with, in words; empty while it is idle.
        since: the tick in which it began to think; 0 while it is idle.
        until: the tick at the end of which an action has to be ready; 0 if there is no limit.
        is_fixed: whether later steps read its output, so that its action is not exchanged once it was started.
        unasked: how many tasks of a group could perform it and were not asked, because that could change nothing.
        unasked_reason: why not, in words; empty if there are none.
    """

    activity: str
    path: str
    state: str
    units: tuple[UnitView, ...]
    args: tuple[tuple[str, str], ...] = ()
    since: int = 0
    until: int = 0
    is_fixed: bool = False
    unasked: int = 0
    unasked_reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values, without what has its default."""
        data: dict[str, Any] = {"activity": self.activity, "path": self.path, "state": self.state}
        if self.args:
            data["args"] = dict(self.args)
        if self.since:
            data["since"] = self.since
        if self.until:
            data["until"] = self.until
        if self.is_fixed:
            data["is_fixed"] = True
        if self.unasked:
            data["unasked"] = self.unasked
            data["unasked_reason"] = self.unasked_reason
        if self.units:
            data["units"] = [unit.as_json() for unit in self.units]
        return data

    @classmethod
    def read(cls, fields: Fields) -> FrameView:
        """Read what ``as_json`` wrote.

        Args:
            fields: its object.

        Raises:
            DataFault: it is no such view.
        """
        return cls(
            activity=fields.text("activity"),
            path=fields.text("path"),
            state=fields.text("state"),
            units=fields.each("units", UnitView.read),
            args=_args(fields),
            since=fields.whole("since", 0),
            until=fields.whole("until", 0),
            is_fixed=fields.flag("is_fixed", False),
            unasked=fields.whole("unasked", 0),
            unasked_reason=fields.text("unasked_reason", ""),
        )
