"""Comparing runs: where two traces part, and how they differ from there on.

Two questions, two answers:

* ``first_difference`` compares what two runs of the same thing emitted between two publishes, record by record, and
  gives the first place where they part: both sides of it, what stands before it in both, and what follows on each side.
* ``TraceComparison`` compares two runs that are *meant* to part, tick by tick: where each agent first does something
  else, which actions ran more or less often, who is there in the end.

Of two recordings nothing is read as long as the digests of both are the same, tick by tick. Only ticks that both have
are compared, and the header says nothing: two recordings of one run are the same wherever and whenever they were made.

Records are compared as their digest is made, field by field in ``ascii()``: 1 is not True and 1.0 is not 1, and a
number that is no number equals itself. So two traces are equal here exactly if their digests are.

Rejected: aligning the traces after the first difference, as a diff of texts does. After it everything may be shifted by
a tick, and what such an alignment says is guessed. The agents are looked at one by one instead: one whose records are
the same is not touched by the change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from agentrt.errors import RecordingError
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.words import counted

if TYPE_CHECKING:
    from agentrt.record.recording import Recording


_BEFORE, _AFTER = 4, 3  # records that are shown around a difference
_TOLD = 12  # agents, and names of what ran: the rest is counted
_LONGEST_LINE = 240


class Difference(NamedTuple):
    """The first place where a replay is not what was recorded."""

    tick: int  # the tick in which it shows
    reason: str  # what it is, in words
    place: int = 0  # how many records of that tick are the same
    expected: TraceRecord | None = None  # the record that was recorded there; None if there was no more
    got: TraceRecord | None = None  # the record of the replay; None if there is no more
    before: tuple[TraceRecord, ...] = ()  # the last records that are the same, in this tick
    expected_after: tuple[TraceRecord, ...] = ()  # the recorded ones that follow
    got_after: tuple[TraceRecord, ...] = ()  # those of the replay that follow
    agent: str = ""  # whom the records are about; empty for the runtime itself
    # what that agent did by the end of that tick when it was recorded, in words; may be empty
    expected_explained: str = ""
    got_explained: str = ""  # what it does now

    def as_json(self) -> dict[str, Any]:
        """Both sides, as plain values; records as lines."""
        told: dict[str, Any] = self._asdict()
        for name in ("expected", "got"):
            told[name] = None if told[name] is None else _line(told[name])
        for name in ("before", "expected_after", "got_after"):
            told[name] = [_line(one) for one in told[name]]
        return told

    def explained_lines(self, one: str, other: str) -> Iterator[str]:
        """What the agent did by the end of that tick, with what the two sides are called."""
        for title, text in ((one, self.expected_explained), (other, self.got_explained)):
            if text:
                yield f"{title}, at the end of tick {self.tick}:"
                yield from (f"    {line}" for line in text.splitlines())

    def as_text(self) -> str:
        """Both sides, in several lines."""
        lines = [f"first difference in tick {self.tick}: {self.reason}"]
        lines += [f"    {_line(record)}" for record in self.before]
        if self.expected is not None or self.got is not None:
            lines += [f"  - {line}" for line in _side(self.expected, self.expected_after)]
            lines += [f"  + {line}" for line in _side(self.got, self.got_after)]
            lines.append("  (- as recorded, + as replayed)")
        for title, text in (("as recorded", self.expected_explained), ("as replayed", self.got_explained)):
            if text:
                lines.append(f"{title}, at the end of that tick:")
                lines += [f"    {line}" for line in text.splitlines()]
        return "\n".join(lines)


def first_difference(tick: int, expected: Sequence[TraceRecord], got: Sequence[TraceRecord]) -> Difference | None:
    """Compare what was emitted up to the publish of one tick."""
    pairs = enumerate(zip(expected, got, strict=False))
    place = next((at for at, pair in pairs if not _is_same(*pair)), min(len(expected), len(got)))
    if place == len(expected) == len(got):
        return None
    left = expected[place] if place < len(expected) else None
    right = got[place] if place < len(got) else None
    about = left or right
    assert about is not None
    before = f"after {counted(place, 'equal record')} " if place else ""
    if left is None:
        reason = f"{before}the replay has more records"
    elif right is None:
        reason = f"{before}the replay has no more records"
    else:
        reason = f"record {place + 1} is another one: {_fields(left, right)}"
    return Difference(
        tick=tick,
        reason=reason,
        place=place,
        expected=left,
        got=right,
        before=tuple(expected[max(0, place - _BEFORE) : place]),
        expected_after=tuple(expected[place + 1 : place + 1 + _AFTER]),
        got_after=tuple(got[place + 1 : place + 1 + _AFTER]),
        agent=about.agent,
    )


def _is_same(one: TraceRecord, other: TraceRecord) -> bool:
    """Whether two records are the same, as their digest has it."""
    return one[:4] == other[:4] and (one.detail is other.detail or ascii(one.detail) == ascii(other.detail))


def _fields(left: TraceRecord, right: TraceRecord) -> str:
    names = [name for name in ("tick", "agent", "path", "event") if getattr(left, name) != getattr(right, name)]
    if names:
        return f"another {' and '.join(names)}"
    pairs = zip(left.detail, right.detail, strict=False)
    names = [one[0] for one, other in pairs if ascii(one) != ascii(other)]
    return f"the same, but for {', '.join(names)}" if names else "the same, with other details"


def _side(record: TraceRecord | None, after: Iterable[TraceRecord]) -> list[str]:
    return ["nothing"] if record is None else [_line(record), *(_line(one) for one in after)]


def _line(record: TraceRecord) -> str:
    line = record.line()
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"


# --- two runs that are meant to part ----------------------------------------------------------------------------------


class AgentDifference(NamedTuple):
    """Where one agent first does something else."""

    agent: str  # its name; empty for the runtime itself
    tick: int  # when
    one: TraceRecord | None  # its record in the first run; None if there was no more in that tick
    other: TraceRecord | None  # its record in the second run


class TraceDifference(NamedTuple):
    """How two runs differ."""

    names: tuple[str, str]  # what the two are called
    first_tick: int  # the first tick that was compared
    last_tick: int  # the last one
    agents: tuple[AgentDifference, ...]  # where each agent that differs first does so, in the order of ticks
    untouched: int  # how many agents have the same records in both
    ran: tuple[tuple[str, int, int], ...]  # what ran, and how often in each; only where that differs
    events: tuple[tuple[str, int, int], ...]  # how often there was a record of a kind, likewise
    gone: tuple[str, ...]  # agents that are there in the end of the first run only
    come: tuple[str, ...]  # agents that are there in the end of the second run only
    # how often each action, goal and decider began, and each record that tells of trouble came, also if as often in
    # both: the kind, the name, and the count in each
    counts: tuple[tuple[str, str, int, int], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """It as plain values; records as lines."""
        told: dict[str, Any] = self._asdict()
        told["agents"] = [
            {
                "agent": found.agent,
                "tick": found.tick,
                "one": None if found.one is None else _line(found.one),
                "other": None if found.other is None else _line(found.other),
            }
            for found in self.agents
        ]
        return told

    @property
    def is_empty(self) -> bool:
        """Whether the two are the same."""
        return not self.agents and not self.gone and not self.come

    def as_text(self) -> str:
        """It in several lines."""
        one, other = self.names
        span = f"ticks {self.first_tick} to {self.last_tick}"
        if self.is_empty:
            return f"{one} and {other} are the same in {span}"
        differ = sum(1 for found in self.agents if found.agent)
        summary = f"{counted(differ, 'agent')} with other records, {self.untouched} with the same"
        lines = [f"{one} (-) and {other} (+) in {span}: {summary}"]
        for found in self.agents[:_TOLD]:
            lines.append(f"{found.agent or 'the runtime'} from tick {found.tick} on:")
            lines += [f"  - {line}" for line in _side(found.one, ())]
            lines += [f"  + {line}" for line in _side(found.other, ())]
        if len(self.agents) > _TOLD:
            lines.append(f"and {len(self.agents) - _TOLD} more")
        for title, rows in (("ran", self.ran), ("records", self.events)):
            told = [f"{name} {before} → {after}" for name, before, after in rows[:_TOLD]]
            told += [f"and {len(rows) - _TOLD} more"] if len(rows) > _TOLD else []
            lines += [f"{title}: {', '.join(told)}"] if told else []
        for name, only in ((one, self.gone), (other, self.come)):
            lines += [f"in the end only in {name}: {', '.join(only)}"] if only else []
        return "\n".join(lines)


@dataclass(slots=True)
class TraceComparison:
    """Compares two runs tick by tick; feed it every tick of both."""

    names: tuple[str, str] = ("one", "other")  # what the two are called
    _first_tick: int = -1
    _last_tick: int = -1
    _agents: dict[str, AgentDifference | None] = field(default_factory=dict)
    _ran: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    _events: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    _counts: tuple[_Counts, _Counts] = field(default_factory=lambda: (Counter(), Counter()))

    def feed(self, tick: int, one: Sequence[TraceRecord], other: Sequence[TraceRecord]) -> None:
        """Take what was emitted up to the publish of one tick."""
        if self._first_tick < 0:
            self._first_tick = tick
        self._last_tick = tick
        sides = (_by_agent(one), _by_agent(other))
        for agent in dict.fromkeys((*sides[0], *sides[1])):
            if self._agents.setdefault(agent, None) is None:
                difference = first_difference(tick, sides[0].get(agent, ()), sides[1].get(agent, ()))
                if difference is not None:
                    self._agents[agent] = AgentDifference(agent, tick, difference.expected, difference.got)
        for side, records in enumerate((one, other)):
            for record in records:
                self._events[side][record.event.value] += 1
                if record.event is TraceEvent.RUN or record.event is TraceEvent.ACTIVATE:
                    self._ran[side][record.path.rpartition("/")[2]] += 1
                if (kind := _counted_as(record)) is not None:
                    self._counts[side][kind] += 1

    @property
    def first_agent(self) -> str | None:
        """Who does something else first: an agent, or nobody (an empty name) if only the runtime; None so far."""
        differ = [found for found in self._agents.values() if found is not None]
        return min(differ, key=lambda found: (found.tick, not found.agent)).agent if differ else None

    def result(self, one: Sequence[str], other: Sequence[str], ticks: tuple[int, int] | None = None) -> TraceDifference:
        """How the two differ in what was fed; ``one`` and ``other`` name the agents that are there in the end.

        ``ticks`` are the first and the last one that were compared, if not all of them had to be fed.
        """
        first, last = ticks or (self._first_tick, self._last_tick)
        here, there = set(one), set(other)
        differ = [found for found in self._agents.values() if found is not None]
        return TraceDifference(
            names=self.names,
            first_tick=first,
            last_tick=last,
            agents=tuple(sorted(differ, key=lambda found: found.tick)),
            untouched=sum(1 for name, found in self._agents.items() if name and found is None),
            ran=_changed(*self._ran),
            events=_changed(*self._events),
            gone=tuple(name for name in one if name not in there),
            come=tuple(name for name in other if name not in here),
            counts=_all_counts(*self._counts),
        )


def _by_agent(records: Iterable[TraceRecord]) -> dict[str, list[TraceRecord]]:
    agents: dict[str, list[TraceRecord]] = {}
    for record in records:
        agents.setdefault(record.agent, []).append(record)
    return agents


_Counts: TypeAlias = "Counter[tuple[str, str]]"
_TROUBLE = (TraceEvent.ABORT, TraceEvent.FAULT, TraceEvent.KILLED, TraceEvent.PREEMPT, TraceEvent.TIMEOUT)


def _counted_as(record: TraceRecord) -> tuple[str, str] | None:
    """As what a record is counted: what began, or what went wrong; None for the others."""
    event, name = record.event, record.path.rpartition("/")[2].partition("#")[0]
    if event is TraceEvent.RUN:
        return "action", name
    if event is TraceEvent.ACTIVATE:
        return "decider", name
    if event is TraceEvent.START and record.detail and record.detail[0][0] == "priority":  # as selectors write it
        return "goal", name
    if event is TraceEvent.TRY:
        return "strategy", name
    return ("trouble", event.value) if event in _TROUBLE else None


def _all_counts(one: _Counts, other: _Counts) -> tuple[tuple[str, str, int, int], ...]:
    """What was counted in either, the greatest changes first."""
    rows = [(*key, one[key], other[key]) for key in dict.fromkeys((*one, *other))]
    return tuple(sorted(rows, key=lambda row: (-abs(row[3] - row[2]), -row[2], row[0], row[1])))


def _changed(one: Counter[str], other: Counter[str]) -> tuple[tuple[str, int, int], ...]:
    """What was counted differently, the greatest changes first."""
    rows = [(name, one[name], other[name]) for name in dict.fromkeys((*one, *other)) if one[name] != other[name]]
    return tuple(sorted(rows, key=lambda row: (-abs(row[2] - row[1]), row[0])))


def compare_recordings(one: Recording, other: Recording) -> TraceDifference:
    """Compare the traces of two recordings in the ticks that both have.

    Raises:
        RecordingError: they have no tick in common, or one is broken.
    """
    first = max(one.first_tick, other.first_tick)
    last = min(one.last_tick, other.last_tick)
    if first > last:
        raise RecordingError(
            other.where,
            f"it has no tick in common with {one.where}: ticks {other.first_tick} to {other.last_tick} here, "
            f"{one.first_tick} to {one.last_tick} there",
            "Compare recordings of the same ticks.",
        )
    names = (one.path.name, other.path.name) if one.path.name != other.path.name else (str(one.path), str(other.path))
    comparison = TraceComparison(names)
    for tick in range(_first_to_read(one, other, first, last), last + 1):
        comparison.feed(tick, one.batch(tick), other.batch(tick))
    return comparison.result(one.agents(last), other.agents(last), ticks=(first, last))


def _first_to_read(one: Recording, other: Recording, first: int, last: int) -> int:
    """The first tick at whose end the digests differ, or of which one has none."""
    there = other.digests(first, last)
    tick = first
    for here in one.digests(first, last):
        if here[0] != tick or here != next(there, None):
            break
        tick += 1
    return tick
