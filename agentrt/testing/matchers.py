"""Matchers: what is said of a trace in a test, in words that read like the claim, and errors that show what was there.

A ``Pattern`` describes records: of whom, which event, where, and what stands beside it. The functions make claims with
patterns and raise ``TraceMismatch``, which is an ``AssertionError``, so that every test runner shows it as a failure.
Rules:

* A trace is whatever gives records when it is gone through: ``sim``, ``sim.trace``, what ``between`` returned, a list.
* The end of a path counts: ``"Eat"`` matches ``top/Live/mod:eat/Eat``, ``"mod:eat/*"`` whatever performs that activity.
  A ``/`` in front ties it to the root, ``*`` stands for one part or for letters of one, ``**`` for any number of parts.
* A detail is equal, or a function says whether it fits. Details that are not named do not matter.
* A claim that fails shows the records that come nearest, and for each of them what does not fit. pytest shows the line
  of the test: it leaves out functions with ``__tracebackhide__``.

Rejected: classes of matchers in the manner of Hamcrest. What they compare is always the same five fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

from agentrt.errors import TraceMismatch
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.words import counted


class Traced(Protocol):
    """What has a trace of its own, such as a simulation."""

    @property
    def trace(self) -> Iterable[TraceRecord]: ...


Trace: TypeAlias = Traced | Iterable[TraceRecord]
"""Whatever gives records."""

_NEAREST = 4
_COMPARED = 200  # so many are compared letter by letter
_TAIL = 8
_MISSING = object()


class Pattern:
    """What a record is to be like. What is not given does not matter.

    Args:
        event: which event, by its name.
        agent: of whom; empty for the runtime itself.
        path: where; see the module.
        tick: when: a number, or a function of it.
        detail: what is to stand beside it: a value, or a function that says whether a value fits.
    """

    __slots__ = ("agent", "detail", "event", "path", "tick")

    def __init__(
        self,
        event: str | None = None,
        *,
        agent: str | None = None,
        path: str | None = None,
        tick: int | Callable[[int], object] | None = None,
        **detail: object,
    ) -> None:
        self.event: str | None = None if event is None else TraceEvent(event).value
        self.agent: str | None = agent
        self.path: str | None = path
        self.tick: int | Callable[[int], object] | None = tick
        self.detail: dict[str, object] = detail

    def matches(self, record: TraceRecord) -> bool:
        """Whether a record is like that."""
        return next(self._misfits(record), None) is None

    def misfits(self, record: TraceRecord) -> list[str]:
        """What does not fit, in words; empty for a record that matches."""
        return list(self._misfits(record))

    def _misfits(self, record: TraceRecord) -> Iterator[str]:
        if self.event is not None and record.event != self.event:
            yield f"the event is {record.event.value!r}"
        if self.agent is not None and record.agent != self.agent:
            yield f"the agent is {record.agent!r}"
        if self.path is not None and not fits_path(self.path, record.path):
            yield f"the path is {record.path!r}"
        if self.tick is not None and not _fits(self.tick, record.tick):
            yield f"the tick is {record.tick}"
        if self.detail:
            detail = dict(record.detail)
            for name, wanted in self.detail.items():
                value = detail.get(name, _MISSING)
                if value is _MISSING:
                    yield f"it has no {name!r}"
                elif not _fits(wanted, value):
                    yield f"{name} is {value!r}"

    def __repr__(self) -> str:
        fields = [] if self.event is None else [self.event]
        fields += [f"{name}={value!r}" for name in ("agent", "path") if (value := getattr(self, name)) is not None]
        more = self.detail if self.tick is None else {"tick": self.tick, **self.detail}
        fields += [f"{name}={_shown(value)}" for name, value in more.items()]
        return f"<{' '.join(fields) or 'any record'}>"


def _fits(wanted: object, value: object) -> bool:
    return bool(wanted(value)) if callable(wanted) else bool(wanted == value)


def _shown(value: object) -> str:
    return getattr(value, "__name__", repr(value)) if callable(value) else repr(value)


def fits_path(pattern: str, path: str) -> bool:
    return _compiled(pattern).fullmatch(path) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    is_rooted = pattern.startswith("/")
    text = "" if is_rooted else "(?:.*/)?"
    parts = pattern.strip("/").split("/")
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        if part == "**":
            text += ".+" if is_last else "(?:.+/)?"
        else:
            text += "".join("[^/]*" if piece == "*" else re.escape(piece) for piece in re.split(r"(\*)", part))
            text += "" if is_last else "/"
    return re.compile(text, re.DOTALL)


# --- claims -----------------------------------------------------------------------------------------------------------


def happened(
    trace: Trace, event: str | Pattern | None = None, *, times: int | None = None, **fields: Any
) -> TraceRecord:
    """There is such a record.

    Args:
        trace: where to look.
        event: which event, or a whole pattern.
        times: how many there are; None for at least one. 0 is what ``never`` says.
        fields: the other fields of a ``Pattern``.

    Returns:
        The first of them.

    Raises:
        TraceMismatch: there is none, or another number of them.
    """
    __tracebackhide__ = True
    pattern = as_pattern(event, fields)
    records = records_of(trace)
    found = [record for record in records if pattern.matches(record)]
    if not found:
        raise TraceMismatch(f"{pattern} did not happen", _nearest(pattern, records))
    if times is not None and len(found) != times:
        raise TraceMismatch(
            f"{pattern} happened {counted(len(found), 'time')} and not {counted(times, 'time')}", _lines(found)
        )
    return found[0]


def never(trace: Trace, event: str | Pattern | None = None, **fields: Any) -> None:
    """There is no such record; it is described as for ``happened``.

    Raises:
        TraceMismatch: there is one.
    """
    __tracebackhide__ = True
    pattern = as_pattern(event, fields)
    found = [record for record in records_of(trace) if pattern.matches(record)]
    if found:
        raise TraceMismatch(f"{pattern} happened {counted(len(found), 'time')} and was never to happen", _lines(found))


def in_order(trace: Trace, *patterns: Pattern) -> list[TraceRecord]:
    """There is a record of each pattern, each after the one before; whatever else lies between does not matter.

    Returns:
        The records: for each pattern the first one after the one before.

    Raises:
        TraceMismatch: one does not come after the one before.
    """
    __tracebackhide__ = True
    records = records_of(trace)
    return [records[at] for at in _found_in_order(records, patterns)]


def _found_in_order(records: list[TraceRecord], patterns: Sequence[Pattern]) -> list[int]:
    __tracebackhide__ = True
    found: list[int] = []
    for pattern in patterns:
        begin = found[-1] + 1 if found else 0
        at = next((index for index in range(begin, len(records)) if pattern.matches(records[index])), None)
        if at is None:
            after = f" after {records[begin - 1].line()!r}" if found else ""
            earlier = [record for record in records[:begin] if pattern.matches(record)]
            shown = [f"it came before that: {one.line()}" for one in earlier[-2:]]
            raise TraceMismatch(f"{pattern} did not come{after}", [*shown, *_nearest(pattern, records[begin:])])
        found.append(at)
    return found


def between(trace: Trace, first: Pattern, last: Pattern) -> list[TraceRecord]:
    """The part of a trace from one record to the next of another kind.

    Args:
        trace: where to look.
        first: where it begins: with the first record that is like that.
        last: where it ends: with the next one after it that is like that.

    Returns:
        The records from the one to the other, both of them included.

    Raises:
        TraceMismatch: there is no such part.
    """
    __tracebackhide__ = True
    records = records_of(trace)
    begin, end = _found_in_order(records, (first, last))
    return records[begin : end + 1]


def pairs(
    trace: Trace, first: str | Pattern, last: str | Pattern, *, may_stay_open: bool = False
) -> list[tuple[TraceRecord, TraceRecord]]:
    """Whatever was opened was closed, at the same place of the same agent, before it was opened again.

    Args:
        trace: where to look.
        first: what opens: an event, or a pattern.
        last: what closes.
        may_stay_open: whether something may be open at the end of the trace, as while a world goes on.

    Returns:
        Each pair, in the order in which they were closed.

    Raises:
        TraceMismatch: something was opened twice, or closed without having been opened, or is open at the end.
    """
    __tracebackhide__ = True
    opening, closing = as_pattern(first, {}), as_pattern(last, {})
    opened: dict[tuple[str, str], TraceRecord] = {}
    found: list[tuple[TraceRecord, TraceRecord]] = []
    records = records_of(trace)
    for record in records:
        place = (record.agent, record.path)
        if closing.matches(record) and (place in opened or not opening.matches(record)):
            if place not in opened:
                raise TraceMismatch(f"closed without {opening}: {record.line()}", _of_place(records, record))
            found.append((opened.pop(place), record))
        elif opening.matches(record):
            if place in opened:
                raise TraceMismatch(f"opened again without {closing}: {record.line()}", _of_place(records, record))
            opened[place] = record
    if opened and not may_stay_open:
        left = next(iter(opened.values()))
        raise TraceMismatch(f"{closing} never came for {counted(len(opened), 'opening')}", _of_place(records, left))
    return found


# --- shared -----------------------------------------------------------------------------------------------------------


def records_of(trace: Trace) -> list[TraceRecord]:
    source: Any = trace
    return list(getattr(source, "trace", source))


def as_pattern(event: str | Pattern | None, fields: dict[str, Any]) -> Pattern:
    """A pattern from what was written: an event with fields, or a pattern alone."""
    if isinstance(event, Pattern):
        if fields:
            raise TypeError(f"{event} is a whole pattern: write {', '.join(fields)} into it")
        return event
    return Pattern(event, **fields)


def _nearest(pattern: Pattern, records: list[TraceRecord]) -> list[str]:
    """The records that come nearest, the newest first among equals, and what does not fit."""
    told = [(misfits, record) for record in reversed(records) if (misfits := pattern.misfits(record))]
    if not told:
        return ["there are no records here"]
    told.sort(key=lambda one: len(one[0]))
    told = told[:_COMPARED]
    if pattern.path is not None:
        end = pattern.path.rpartition("/")[2]
        told.sort(key=lambda one: (len(one[0]), -SequenceMatcher(None, end, one[1].path.rpartition("/")[2]).ratio()))
    return ["the nearest:", *(f"  {record.line()}  ({', '.join(misfits)})" for misfits, record in told[:_NEAREST])]


def _lines(records: list[TraceRecord]) -> list[str]:
    lines = [f"  {record.line()}" for record in records[:_TAIL]]
    return lines if len(records) <= _TAIL else [*lines, f"  and {len(records) - _TAIL} more"]


def _of_place(records: list[TraceRecord], at: TraceRecord) -> list[str]:
    place = (at.agent, at.path)
    return _lines([record for record in records if (record.agent, record.path) == place][-_TAIL:])
