"""What happened lately: the newest records of the trace, in a ring, for event logs and time lines.

Nothing is composed of records until somebody looks. Two rings: all records, for logs; and only those that begin or end
something, for time lines, which reach back much further that way. A record is known by its number, counted from the
first one that was heard. A client asks for what came after the number that it knows; if the ring has dropped some of
that, it is told how many.

A record is kept as a bare tuple of numbers and texts. The garbage collector soon leaves such a tuple alone, whereas it
would go through tens of thousands of named ones again and again, and a tick of the game would wait for it (measured
with 1,000 agents: a third of what listening costs).

Time lines are spans, folded from what was heard, of the agents that somebody looks at. A line is folded when somebody
begins to look, from the records that are kept, and goes on while he looks. Whoever comes late would see nothing of what
has been running for long, since its beginning was not heard: so the agent is asked what it runs and since when, and
what began before is put before the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from agentrt.behavior.views import TreeView
from agentrt.goals.views import GoalSelectorView
from agentrt.inspect.protocol import EventsQuery, TimelineQuery
from agentrt.kernel.trace import Detail, TraceEvent, TraceRecord
from agentrt.record.spans import FOLDED, Span, SpanBuilder
from agentrt.selection.views import SelectionView
from agentrt.snapshot import AgentSnapshot, FrameView, UnitView

KEPT_RECORDS = 20_000
KEPT_STARTS = 60_000

Kept: TypeAlias = tuple[int, str, str, str, Detail]
"""A record as it is kept: tick, agent, path, kind of event, detail."""

_FIRST_ROWS = 300  # of a log that is opened
_MOST_ROWS = 1000  # in one update


class Told(NamedTuple):
    """What a client is told of the events."""

    records: list[Kept]  # those that it looks for, the oldest first
    missed: int  # how many it will never be told of: they were dropped, or there are too many of them
    cursor: int  # the number of the record that comes next


class Ring:
    """The newest records, and how many there ever were."""

    __slots__ = ("_records", "append", "total")

    def __init__(self, keep: int) -> None:
        self._records: deque[Kept] = deque(maxlen=keep)
        # takes the next record, as quick as can be, for a trace listener, which counts it, too
        self.append: Callable[[Kept], None] = self._records.append
        self.total: int = 0  # the number of the next one

    @property
    def total_dropped(self) -> int:
        """How many were dropped: the number of the first one that is kept."""
        return self.total - len(self._records)

    def since(self, number: int) -> list[Kept]:
        """The records from a number on, as far as they are there."""
        return list(islice(self._records, max(0, number - self.total_dropped), None))

    def clear(self) -> None:
        """Forget all, but not their count."""
        self._records.clear()


class History:
    """What happened lately in one runtime."""

    __slots__ = ("records", "starts")

    def __init__(self) -> None:
        self.records: Ring = Ring(KEPT_RECORDS)
        self.starts: Ring = Ring(KEPT_STARTS)  # those that begin or end something

    def heard(self, record: TraceRecord) -> None:
        """A record was made."""
        one = kept(record)
        records = self.records
        records.append(one)
        records.total += 1
        if record.event in FOLDED:
            self.starts.append(one)
            self.starts.total += 1

    def clear(self) -> None:
        """Nobody listens any more: what comes next does not follow on what was."""
        self.records.clear()
        self.starts.clear()

    def tell(self, query: EventsQuery, cursor: int, *, is_new: bool) -> Told:
        """What a client is told next, which was told of all before ``cursor``.

        One that is new was told nothing yet: the newest ones are enough, and nothing is missing.
        """
        records = [record for record in self.records.since(0 if is_new else cursor) if fits(record, query)]
        if is_new:
            return Told(records[-_FIRST_ROWS:], 0, self.records.total)
        too_many = max(0, len(records) - _MOST_ROWS)
        dropped = max(0, self.records.total_dropped - cursor)
        return Told(records[too_many:], dropped + too_many, self.records.total)


def kept(record: TraceRecord) -> Kept:
    """A record as it is kept."""
    tick, agent, path, event, detail = record
    return tick, agent, path, event._value_, detail


def record_of(one: Kept) -> TraceRecord:
    """A record as it was made."""
    tick, agent, path, event, detail = one
    return TraceRecord(tick, agent, path, TraceEvent(event), detail)


def fits(one: Kept, query: EventsQuery) -> bool:
    """Whether a record is one that a client looks for."""
    if query.agent is not None and one[1] != query.agent:
        return False
    if query.events is not None and one[3] not in query.events:
        return False
    return not query.text or query.text.casefold() in record_of(one).line().casefold()


def as_row(one: Kept) -> list[Any]:
    """A record as it is sent."""
    return [*one[:4], dict(one[4])]


_SEEN: Detail = (("seen", "running"),)
_BEGINS = frozenset({TraceEvent.RUN, TraceEvent.START, TraceEvent.ACTIVATE, TraceEvent.TRY})


class Timelines:
    """The time lines of the agents that are looked at."""

    __slots__ = ("_builders", "_cursor", "_history")

    def __init__(self, history: History) -> None:
        self._history = history
        self._builders: dict[str, SpanBuilder] = {}
        self._cursor = history.starts.total

    def keep(self, agents: Iterable[str], snapshot_of: Callable[[str], AgentSnapshot | None]) -> None:
        """Look at these agents from now on, and at no others; once for each round."""
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
        """The spans that a client looks at."""
        builder = self._builders.get(query.agent)
        return [] if builder is None else builder.spans(query.agent, query.first, query.last)

    def clear(self) -> None:
        """Nobody listens any more."""
        self._builders.clear()
        self._cursor = self._history.starts.total


def began_before(snapshot: AgentSnapshot) -> list[TraceRecord]:
    """What an agent runs, as the records that told when it began."""
    found: list[tuple[int, str, TraceEvent, Detail]] = []
    tried = _tried(snapshot)
    for frame in (*([] if snapshot.plan is None else [snapshot.plan]), *snapshot.performances):
        for unit in _running(frame):
            attempts = tried.get(unit.action)
            if attempts:
                needer = unit.path.rpartition("/")[0].rpartition("/")[0]
                found.append((unit.since, needer, TraceEvent.TRY, attempts.pop(0)))
            found.append((unit.since, unit.path, TraceEvent.RUN, _SEEN))
    for driver in snapshot.drivers:
        view = driver.state
        if isinstance(view, GoalSelectorView):
            found += ((goal.since, goal.path, TraceEvent.START, _SEEN) for goal in view.goals if goal.since)
        elif isinstance(view, TreeView):
            seconds = snapshot.ticks_per_second
            found += ((round(one.since * seconds), one.path, TraceEvent.ACTIVATE, _SEEN) for one in view.path)
        elif isinstance(view, SelectionView):  # it does not know since when: its lane begins where it was seen first
            found += ((snapshot.tick, path, TraceEvent.ACTIVATE, _SEEN) for path in driver.active)
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
    """A span as it is sent."""
    return [span.lane, span.depth, span.path, span.name, span.begin, span.end, span.outcome]
