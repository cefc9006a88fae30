"""Time lines of a run that lives: spans, folded from what was heard, of the agents that somebody looks at.

A line is folded when somebody begins to look, from the records that are kept, and goes on while he looks. Whoever comes
late would see nothing of what has been running for long, since its beginning was not heard: so the agent is asked what
it runs and since when, and what began before is put before the rest.

Source: design section 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agentrt.behavior.views import TreeView
from agentrt.goals.views import GoalSelectorView
from agentrt.inspect.history import History, record_of
from agentrt.inspect.protocol import TimelineQuery
from agentrt.kernel.trace import Detail, Event, TraceRecord
from agentrt.record.spans import Span, SpanBuilder
from agentrt.selection.view import SelectionView
from agentrt.snapshot import AgentSnapshot, FrameView, UnitView

__all__ = ["Timelines", "as_span_row", "began_before"]

_SEEN: Detail = (("seen", "running"),)
_BEGINS = frozenset({Event.RUN, Event.START, Event.ACTIVATE, Event.TRY})


class Timelines:
    """The time lines of the agents that are looked at.

    Args:
        history: where the records are.
    """

    __slots__ = ("_builders", "_cursor", "_history")

    def __init__(self, history: History) -> None:
        self._history = history
        self._builders: dict[str, SpanBuilder] = {}
        self._cursor = history.starts.total

    def keep(self, agents: Iterable[str], snapshot_of: Callable[[str], AgentSnapshot | None]) -> None:
        """Look at these agents from now on, and at no others; once for each round.

        Args:
            agents: their names.
            snapshot_of: what one of them does now; None if it is not there.
        """
        wanted = dict.fromkeys(agents)
        starts = self._history.starts
        for name in [name for name in self._builders if name not in wanted]:
            del self._builders[name]
        for record in starts.since(self._cursor) if self._builders else ():
            builder = self._builders.get(record[1])
            if builder is not None:
                builder.feed(record_of(record))
        self._cursor = starts.total
        for name in wanted:
            if name not in self._builders:
                self._builders[name] = self._fold(name, snapshot_of(name))

    def _fold(self, name: str, snapshot: AgentSnapshot | None) -> SpanBuilder:
        builder = SpanBuilder()
        records = [record_of(one) for one in self._history.starts.since(0) if one[1] == name]
        heard = {(record.tick, record.path) for record in records if record.event in _BEGINS}
        for record in () if snapshot is None else began_before(snapshot):
            if (record.tick, record.path) not in heard:
                builder.feed(record)
        for record in records:
            builder.feed(record)
        return builder

    def spans(self, query: TimelineQuery) -> list[Span]:
        """The spans that a client looks at.

        Args:
            query: which.
        """
        builder = self._builders.get(query.agent)
        return [] if builder is None else builder.spans(query.agent, query.first, query.last)

    def clear(self) -> None:
        """Nobody listens any more."""
        self._builders.clear()
        self._cursor = self._history.starts.total


def began_before(snapshot: AgentSnapshot) -> list[TraceRecord]:
    """What an agent runs, as the records that told when it began.

    Args:
        snapshot: what it does.
    """
    found: list[tuple[int, str, Event, Detail]] = []
    tried = _tried(snapshot)
    for frame in (*([] if snapshot.plan is None else [snapshot.plan]), *snapshot.performances):
        for unit in _running(frame):
            attempts = tried.get(unit.action)
            if attempts:
                needer = unit.path.rpartition("/")[0].rpartition("/")[0]
                found.append((unit.since, needer, Event.TRY, attempts.pop(0)))
            found.append((unit.since, unit.path, Event.RUN, _SEEN))
    for driver in snapshot.drivers:
        view = driver.state
        if isinstance(view, GoalSelectorView):
            found += ((goal.since, goal.path, Event.START, _SEEN) for goal in view.goals if goal.since)
        elif isinstance(view, TreeView):
            seconds = snapshot.ticks_per_second
            found += ((round(one.since * seconds), one.path, Event.ACTIVATE, _SEEN) for one in view.path)
        elif isinstance(view, SelectionView):  # it does not know since when: its lane begins where it was seen first
            found += ((snapshot.tick, path, Event.ACTIVATE, _SEEN) for path in driver.active)
    found.sort(key=lambda one: one[0])  # what lies within something began with it or after it, and keeps its place
    return [TraceRecord(since, snapshot.name, path, event, detail) for since, path, event, detail in found]


def _running(frame: FrameView) -> Iterator[UnitView]:
    for unit in frame.units:
        if unit.is_elected and unit.state == "running":
            yield unit
            for child in unit.frames:
                yield from _running(child)


def _tried(snapshot: AgentSnapshot) -> dict[str, list[Detail]]:
    """What the strategies that run are tried for, by the names of their classes, the outermost first."""
    tried: dict[str, list[Detail]] = {}
    for request in () if snapshot.strategies is None else snapshot.strategies.requests:
        wanted = ""
        for node in request.tree.under_way():
            if node.kind == "strategy":
                tried.setdefault(node.label.replace(" ", ""), []).append((("wanted", wanted), ("by", node.label)))
            else:
                wanted = node.label
    return tried


def as_span_row(span: Span) -> list[Any]:
    """A span as it is sent.

    Args:
        span: the span.
    """
    return [span.lane, span.depth, span.path, span.name, span.begin, span.end, span.outcome]
