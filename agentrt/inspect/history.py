"""What happened lately: the newest records of the trace, in a ring, for event logs and time lines.

Nothing is composed of records until somebody looks. Two rings: all records, for logs; and only those that begin or end
something, for time lines, which reach back much further that way. A record is known by its number, counted from the
first one that was heard. A client asks for what came after the number that it knows; if the ring has dropped some of
that, it is told how many.

A record is kept as a bare tuple of numbers and texts. The garbage collector soon leaves such a tuple alone, whereas it
would go through tens of thousands of named ones again and again, and a tick of the game would wait for it (measured
with 1,000 agents: a third of what listening costs).

The ring is a list that is shortened now and then, because a deque cannot be cut from the middle at no cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from agentrt.inspect.protocol import EventsQuery
from agentrt.kernel.trace import Detail, Event, TraceRecord

__all__ = ["SPANS", "History", "Kept", "Ring", "Told", "as_row", "fits", "kept", "record_of"]

KEPT_RECORDS = 20_000
KEPT_STARTS = 60_000

Kept: TypeAlias = tuple[int, str, str, str, Detail]
"""A record as it is kept: tick, agent, path, kind of event, detail."""

_FIRST_ROWS = 300  # of a log that is opened
_MOST_ROWS = 1000  # in one update

SPANS = frozenset(  # what spans are folded from; see agentrt.record.spans
    {
        Event.RUN,
        Event.FINISH,
        Event.START,
        Event.STOP,
        Event.ACTIVATE,
        Event.DEACTIVATE,
        Event.PREEMPT,
        Event.ABORT,
        Event.TRY,
        Event.SOLVED,
        Event.FAILED,
        Event.REMOVED,
    }
)


class Told(NamedTuple):
    """What a client is told of the events.

    Attributes:
        records: those that it looks for, the oldest first.
        missed: how many it will never be told of: they were dropped, or there are too many of them.
        cursor: the number of the record that comes next.
    """

    records: list[Kept]
    missed: int
    cursor: int


class Ring:
    """The newest records.

    Args:
        keep: how many at least.

    Attributes:
        append: takes the next record.
        total_dropped: how many were dropped; the number of the first one that is kept.
    """

    __slots__ = ("_keep", "_records", "append", "total_dropped")

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._records: list[Kept] = []
        self.append: Callable[[Kept], None] = self._records.append  # as quick as can be, for a trace listener
        self.total_dropped: int = 0

    @property
    def total(self) -> int:
        """How many records there ever were: the number of the next one."""
        return self.total_dropped + len(self._records)

    def trim(self) -> None:
        """Drop what is too old; once a tick."""
        too_many = len(self._records) - self._keep
        if too_many > self._keep:
            del self._records[:too_many]
            self.total_dropped += too_many

    def since(self, number: int) -> list[Kept]:
        """The records from a number on, as far as they are there.

        Args:
            number: of the first one.
        """
        return self._records[max(0, number - self.total_dropped) :]

    def missed(self, number: int) -> int:
        """How many records from a number on are not there any more.

        Args:
            number: of the first one.
        """
        return max(0, self.total_dropped - number)

    def clear(self) -> None:
        """Forget all, but not their count."""
        self.total_dropped += len(self._records)
        self._records.clear()


class History:
    """What happened lately in one runtime.

    Attributes:
        records: all records.
        starts: those that begin or end something.
    """

    __slots__ = ("records", "starts")

    def __init__(self) -> None:
        self.records: Ring = Ring(KEPT_RECORDS)
        self.starts: Ring = Ring(KEPT_STARTS)

    def heard(self, record: TraceRecord) -> None:
        """A record was made.

        Args:
            record: which.
        """
        one = kept(record)
        self.records.append(one)
        if record.event in SPANS:
            self.starts.append(one)

    def trim(self) -> None:
        """Drop what is too old; once a tick."""
        self.records.trim()
        self.starts.trim()

    def clear(self) -> None:
        """Nobody listens any more: what comes next does not follow on what was."""
        self.records.clear()
        self.starts.clear()

    def tell(self, query: EventsQuery, cursor: int, *, is_new: bool) -> Told:
        """What a client is told next.

        Args:
            query: what it looks for.
            cursor: the number of the first record that it was not told of.
            is_new: it was told nothing yet: the newest ones are enough, and nothing is missing.
        """
        records = [record for record in self.records.since(0 if is_new else cursor) if fits(record, query)]
        if is_new:
            return Told(records[-_FIRST_ROWS:], 0, self.records.total)
        too_many = max(0, len(records) - _MOST_ROWS)
        return Told(records[too_many:], self.records.missed(cursor) + too_many, self.records.total)


def kept(record: TraceRecord) -> Kept:
    """A record as it is kept.

    Args:
        record: the record.
    """
    tick, agent, path, event, detail = record
    return tick, agent, path, event._value_, detail


def record_of(one: Kept) -> TraceRecord:
    """A record as it was made.

    Args:
        one: as it is kept.
    """
    tick, agent, path, event, detail = one
    return TraceRecord(tick, agent, path, Event(event), detail)


def fits(one: Kept, query: EventsQuery) -> bool:
    """Whether a record is one that a client looks for.

    Args:
        one: the record.
        query: what it looks for.
    """
    if query.agent is not None and one[1] != query.agent:
        return False
    if query.events is not None and one[3] not in query.events:
        return False
    return not query.text or query.text.casefold() in record_of(one).line().casefold()


def as_row(one: Kept) -> list[Any]:
    """A record as it is sent.

    Args:
        one: the record.
    """
    return [*one[:4], dict(one[4])]
