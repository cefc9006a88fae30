"""Breakpoints: stop when this starts.

A breakpoint is matched against records of the trace, which tell of everything that starts, so no part of a plan or a
tree knows that there are any. When one is hit the tick goes on to its end (an agent is never stopped in the middle of
a tick: that would be another run), and then the gate is closed. The last part of a record's path tells what starts:

* ``action``    an action runs: the name of its class, as paths show it (``Eat``; ``Eat#2`` is an ``Eat``, too);
* ``activity``  an activity is performed: any action runs for it (``colony:eat``);
* ``strategy``  a strategy is tried, for whatever it is needed: as task trees call it (``Mine Ore``) or by its name
  (``mine_ore``);
* ``decider``   a decider of a behavior tree or a leaf of a selection tree becomes active, by its name or by that of its
  behavior;
* ``goal``      a goal of a selector starts;
* ``agent``     an agent is added, or anything of the above starts in it.

All but the last may be bound to one agent. The gate is closed with a reason that names the record that was hit.
"""

from __future__ import annotations

from typing import Any

from agentrt.inspect.sessions import Message
from agentrt.kernel.trace import TraceEvent, TraceRecord

__all__ = ["Breakpoint", "Breakpoints"]

MOST = 64

_STARTS = frozenset({TraceEvent.ADDED, TraceEvent.RUN, TraceEvent.START, TraceEvent.ACTIVATE, TraceEvent.TRY})


class Breakpoint:
    """One breakpoint.

    Args:
        kind: action, activity, strategy, decider, goal or agent.
        agent: in which agent; empty for any.
    """

    __slots__ = ("_kind", "_name", "agent", "hits", "last", "number", "place")

    def __init__(self, number: int, kind: str, name: str, agent: str) -> None:
        self.number: int = number
        self._kind = kind
        self._name = name
        self.agent: str = agent
        self.hits: int = 0  # how often it was hit
        self.last: str = ""  # the record that was hit last, as a line; empty if none was
        self.place: tuple[str, str] = ("", "")  # its agent and its path, so that a page can go there

    def matches(self, record: TraceRecord) -> bool:
        """Whether a record tells that it starts."""
        if self._kind == "agent":
            return record.agent == self._name
        if self.agent and record.agent != self.agent:
            return False
        detail = dict(record.detail)
        above, _, last = record.path.rpartition("/")
        if record.event is TraceEvent.RUN:
            if self._kind == "action":
                return last.partition("#")[0] == self._name or last == self._name
            return self._kind == "activity" and above.rpartition("/")[2].partition("#")[0] == self._name
        if record.event is TraceEvent.ACTIVATE:
            return self._kind == "decider" and self._name in (last, detail.get("behavior"))
        if record.event is TraceEvent.TRY:
            label = str(detail.get("by"))
            return self._kind == "strategy" and self._name in (label, label.lower().replace(" ", "_"))
        # The start of a goal says more about it; that of an action says nothing.
        return record.event is TraceEvent.START and self._kind == "goal" and last == self._name and bool(detail)

    def hit(self, record: TraceRecord) -> None:
        """It was hit."""
        self.hits += 1
        self.last = f"tick {record.tick} {record.agent} {record.path}"
        self.place = (record.agent, record.path)

    def words(self) -> str:
        """What it waits for, for people."""
        return f"{self._kind} {self._name}" + (f" of {self.agent}" if self.agent else "")

    def as_json(self) -> Message:
        """The same as plain values."""
        return {
            "id": self.number,
            "kind": self._kind,
            "name": self._name,
            "agent": self.agent,
            "hits": self.hits,
            "last": self.last,
            "place": list(self.place),
        }


class Breakpoints:
    """The breakpoints of one runtime. Used on the runtime's thread alone."""

    __slots__ = ("_count", "_points", "reason")

    def __init__(self) -> None:
        self._points: dict[int, Breakpoint] = {}
        self._count = 0
        self.reason: str = ""  # of the first one that was hit since ``take`` was asked, in words; empty if none was

    def __len__(self) -> int:
        return len(self._points)

    def add(self, kind: str, name: str, agent: str) -> int | None:
        """Set one.

        Args:
            kind: action, activity, strategy, decider, goal or agent.
            agent: in which agent; empty for any.

        Returns:
            Its id; that of the one that is there, if it is the same; None if there are too many.
        """
        wanted = (kind, name, agent)
        for number, point in self._points.items():
            shown = point.as_json()
            if (shown["kind"], shown["name"], shown["agent"]) == wanted:
                return number
        if len(self._points) >= MOST:
            return None
        self._count += 1
        self._points[self._count] = Breakpoint(self._count, kind, name, agent)
        return self._count

    def remove(self, number: int) -> bool:
        """Take one away."""
        return self._points.pop(number, None) is not None

    def clear(self) -> None:
        """Take all away."""
        self._points.clear()

    def heard(self, record: TraceRecord) -> None:
        """A record was made."""
        if record.event in _STARTS:
            for point in self._points.values():
                if point.matches(record):
                    point.hit(record)
                    if not self.reason:
                        self.reason = f"breakpoint: {point.words()} ({record.agent} {record.path})"

    def take(self) -> str:
        """The reason to stop, once."""
        reason, self.reason = self.reason, ""
        return reason

    def as_json(self) -> list[dict[str, Any]]:
        """All of them as plain values, in the order in which they were set."""
        return [point.as_json() for point in self._points.values()]
