"""Reading a recording: what happened, what came in, what an agent was doing in any tick, and why.

A ``Recording`` reads one file, also while it is still written. It holds little: the header, and the segment of the
trace that was read last. What it is asked for it selects.

Rules:

* Everything in the file is hostile until it was looked at: types, lengths, numbers. What is wrong is a
  ``RecordingError``, whatever SQLite, zlib or JSON call it; nothing else comes out. SQLite
  looks at a page when it is read, so a file that opens may turn out to be broken at any row: whatever is selected goes
  through ``_rows`` or ``_row``.
* A tick counts when it was committed. What stands in the file beyond the last one is not told.
* The *batch* of a tick is what was emitted after the end of the tick before, up to its end. This is what a replay
  compares. Records that came between two ticks stand at its beginning, with the number of the tick before.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections import deque
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple, Self

from agentrt.drawing import Drawing
from agentrt.errors import AgentRTError, DataFault, RecordingError
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.record.lines import EMPTY_DIGEST, LONGEST, Segment, TickRecords, unpack, unpacked
from agentrt.record.schema import NOBODY, THINNED, connect_reader, is_number, name_in, name_out
from agentrt.record.values import Codecs, Unkept
from agentrt.record.views import WHOLE_EVERY, altered, patched, settle
from agentrt.runtime.intake import Codec, Reloaded
from agentrt.snapshot import AgentSnapshot, explain
from agentrt.words import words_of
from agentrt.worlds import are_params

_LONGEST_CHAIN = 2 * WHOLE_EVERY  # of views that are put together; a recorder writes a whole one much sooner
_LARGEST_CHAIN = 4 * LONGEST  # bytes that are read for one view: the longest takes a second, and others wait
_CHANGES = "SELECT tick, whole, data FROM views WHERE agent = ? AND tick > ? AND tick <= ? ORDER BY tick LIMIT ?"
_PORTION = 100
_MOST_RELOADS = 200
_RELOADS_TEXT = 4 * 1024 * 1024  # characters of all of them together; older ones are left out
_HEADER_TEXTS = ("world", "host", "agentrt", "python", "ended")
_HEADER_NUMBERS = {"started": 0, "ticks_per_second": 1}  # and the least that each can be


PAST_WORDS = "it was saved from the past of a live run, so that what came in from outside is not in it"
"""What stands against a replay of such a file."""


class RecordedInput(NamedTuple):
    """Something that came in from outside."""

    tick: int  # the tick whose intake took it
    place: int  # its place in that intake, from 0; -1 if it is not known
    kind: str  # ``"sent"``, ``"answered"``, ``"posted"``, ``"reloaded"``, or ``"edited"`` if that changed no code
    number: int  # which call of the run, from 0; -1 for what is no answer
    name: str  # of the input, of the function that was called, or of the function that was posted
    args: dict[str, Any]  # what was sent with it
    value: Any  # what a call returned; an ``Unkept`` if what it returned or raised could not be kept
    error: BaseException | None  # what it raised, or None


class Stay(NamedTuple):
    """An agent, from when to when it was there; one that came again stayed twice."""

    number: int  # of its own in the file
    name: str
    first: int  # the tick in which it came
    last: int | None  # the tick in which it went; None if it did not


class Recording:
    """A recording, opened to be read; ``codecs`` are for values of one's own types. Also a context manager.

    Raises:
        RecordingError: there is none, or it cannot be read. So do its methods where the file turns out to be broken.
    """

    def __init__(self, path: str | Path, *, codecs: Sequence[Codec] = ()) -> None:
        self.path: Path = Path(path)
        self.where: str = str(self.path)  # the same, for errors
        self._codecs = Codecs(codecs)
        self._segment: Segment | None = None  # the one that was read last: who reads a tick reads the next one, too
        self._numbers: dict[str, list[int]] = {}  # of agents, by name: whoever looks at one asks for it again and again
        self._numbered = 0  # the last number that was read for these
        self._connection = connect_reader(self.path)
        try:
            self.meta: dict[str, Any] = self._read_meta()  # the header, as it was when it was opened
            self._require_ticks()
        except RecordingError:
            self._connection.close()
            raise

    @classmethod
    def open(cls, path: str | Path, *, codecs: Sequence[Codec] = ()) -> Recording:
        """Open a recording; the same as ``Recording(path)``."""
        return cls(path, codecs=codecs)

    def close(self) -> None:
        """Close the file. Calling it twice does nothing."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _rows(self, statement: str, *args: object) -> Iterator[tuple[Any, ...]]:
        try:
            for row in self._connection.execute(statement, args):  # noqa: UP028 - `yield from` closes the cursor
                yield row
        except (sqlite3.Error, OverflowError) as error:
            raise RecordingError(self.where, f"it cannot be read any further: {error}") from None

    def _row(self, statement: str, *args: object) -> tuple[Any, ...] | None:
        """The first row, if there is one."""
        return next(self._rows(statement, *args), None)

    # --- the header ---------------------------------------------------------------------------------------------------

    def _read_meta(self) -> dict[str, Any]:
        rows = self._rows("SELECT key, value FROM meta ORDER BY key")
        meta = {str(key): self._plain(key, value) for key, value in rows}
        wrong = [key for key in _HEADER_TEXTS if not isinstance(meta.get(key), str)]
        wrong += [key for key, least in _HEADER_NUMBERS.items() if not is_number(meta.get(key), least)]
        if type(meta.get("seed")) not in (int, str):
            wrong.append("seed")
        if not are_params(meta.setdefault("params", {})):  # older recordings know of none
            wrong.append("params")
        if wrong:
            raise RecordingError(self.where, f"its header has no proper {wrong[0]!r}")
        return meta

    def _plain(self, key: object, value: Any) -> Any:
        try:
            return json.loads(value)
        except (ValueError, TypeError, RecursionError):
            raise RecordingError(self.where, f"its header is broken at {str(key)[:40]!r}") from None

    def _require_ticks(self) -> None:
        """Each tick that is kept has its row, and each so many-th of those before: no file pretends to be longer.

        Whoever goes through all ticks has no more to do than there are rows.
        """
        statement = (
            "SELECT count(*) FILTER (WHERE tick >= kept), count(*) FILTER (WHERE tick < kept), max(tick), kept "
            "FROM ticks, (SELECT ifnull((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'kept_from'), ?) AS kept)"
        )
        started = self.meta["started"]
        kept, thinned, last, first = self._row(statement, started + 1) or (0, 0, None, 0)
        is_whole = last is None or (kept == last - first + 1 and first - 1 - started <= (thinned + 1) * THINNED)
        if not is_whole:
            raise RecordingError(self.where, "ticks of it are missing")

    def header(self, key: str) -> Any:
        """What stands in the header now, as plain data; it may still be written. None if there is nothing."""
        row = self._row("SELECT value FROM meta WHERE key = ?", key)
        return None if row is None else self._plain(key, row[0])

    @property
    def first_tick(self) -> int:
        """The first tick whose records are kept."""
        return self._tick(self.header("kept_from"), self.meta["started"] + 1)

    @property
    def last_tick(self) -> int:
        """The last tick that was committed; that after which the recording began if there is none."""
        row = self._row("SELECT max(tick) FROM ticks")
        return self._tick(row and row[0], self.meta["started"])

    def _tick(self, value: object, otherwise: int) -> int:
        if value is None:
            return otherwise
        if not is_number(value, 0):
            raise RecordingError(self.where, f"it has {str(value)[:40]!r} where a tick belongs")
        return value

    @property
    def is_past(self) -> bool:
        """Whether it is what was kept of the last ticks of a run that went on; see ``agentrt.record.ring``."""
        return self.header("past") is not None

    @property
    def unreplayable(self) -> list[str]:
        """Why it cannot be replayed, or not to its end, in words; empty if it can."""
        reasons: list[str] = [PAST_WORDS] if self.is_past else []
        started = self.meta["started"]
        if started > 0 and started not in self.saves:
            reasons.append(f"it begins after tick {started}, and how the world came there is not in it")
        posted = self._row("SELECT min(tick), count(*), name FROM inputs WHERE kind = 'posted'")
        if posted is not None and posted[1]:
            more = f", and {posted[1] - 1} more later" if posted[1] > 1 else ""
            reasons.append(
                f"before tick {posted[0]} the function {name_out(posted[2])} was posted from outside{more}, which "
                f"cannot be written down; use runtime.send"
            )
        reloaded = self._row("SELECT tick, name FROM inputs WHERE kind = 'reloaded' ORDER BY tick, place, nth LIMIT 1")
        if reloaded is not None:
            reasons.append(f"in tick {reloaded[0]} its code was changed ({name_out(reloaded[1])}): it ends before that")
        if (between := self.header("between")) is not None:
            reasons.append(
                f"something came in beside the inputs, the first time at tick {between}: somebody awaited what is not "
                f"the game's, or a program noted something between ticks; use ctx.call and runtime.send"
            )
        if (unkept := self.header("unkept")) is not None:
            reasons.append(f"a value could not be recorded: {unkept}")
        return reasons

    # --- saves --------------------------------------------------------------------------------------------------------

    @property
    def saves(self) -> tuple[int, ...]:
        """After which ticks the world was rebuilt of a save that is kept, ascending; a replay can begin with each."""
        if self._row("SELECT name FROM sqlite_master WHERE name = 'saves'") is None:
            return ()
        rows = self._rows("SELECT tick FROM saves WHERE tick <= ? ORDER BY tick", self.last_tick)
        return tuple([self._tick(row[0], 0) for row in rows])

    def save(self, tick: int) -> Any:
        """Of what the world was rebuilt after a tick, as ``Runtime.save`` gave it.

        Raises:
            RecordingError: no such save is kept.
        """
        if tick not in self.saves:
            raise RecordingError(self.where, f"it keeps no save of tick {tick}: it has {self.saves or 'none'}")
        row = self._row("SELECT save FROM saves WHERE tick = ?", tick)
        try:
            return json.loads(row[0]) if row is not None else None
        except (ValueError, TypeError, RecursionError):
            raise RecordingError(self.where, f"its save of tick {tick} is broken") from None

    # --- the trace ----------------------------------------------------------------------------------------------------

    def digest(self, tick: int | None = None) -> str:
        """A hash of all records up to the end of a tick (None: the last one): what ``TraceDigest`` gives there, in hex.

        Raises:
            RecordingError: it is not in the file.
        """
        wanted = self.last_tick if tick is None else tick
        if wanted == self.meta["started"]:
            return EMPTY_DIGEST.hex()
        for _, _, digest in self.digests(wanted, wanted):
            return digest
        raise RecordingError(self.where, f"it has no digest of tick {wanted}")

    def digests(self, first: int | None = None, last: int | None = None) -> Iterator[tuple[int, int, str]]:
        """The digests that are in the file, of a range of ticks: also some of ticks whose records were dropped.

        Yields:
            The tick, how many records it has, and the digest of all records up to its end.
        """
        statement = "SELECT tick, records, digest FROM ticks WHERE tick BETWEEN ? AND ? ORDER BY tick"
        for tick, records, digest in self._rows(statement, *self._range(first or 0, last)):
            if type(records) is not int or type(digest) is not bytes or len(digest) != len(EMPTY_DIGEST):
                raise RecordingError(self.where, f"its tick {tick} is broken")
            yield tick, records, digest.hex()

    def batch(self, tick: int) -> list[TraceRecord]:
        """What was emitted after the end of the tick before, up to the end of a tick, in order.

        Raises:
            RecordingError: its records are not in the file.
        """
        first, last = self.first_tick, self.last_tick
        if not first <= tick <= last:
            raise RecordingError(self.where, f"it has no records of tick {tick}: it has those of {first} to {last}")
        segment = self._segment_of(tick)
        return [] if segment is None else segment.records(tick)

    def records(
        self,
        first: int | None = None,
        last: int | None = None,
        *,
        agent: str | None = None,
        events: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> Iterator[TraceRecord]:
        """The records of a range of ticks, batch by batch, in order.

        Args:
            first, last: which ticks; None for all that are kept.
            agent: only this one's; an empty string for the runtime's own.
            events: only of these kinds.
            limit: how many at most.
        """
        records = self._records(*self._range(first, last), agent, events)
        yield from itertools.islice(records, limit)

    def _records(self, low: int, high: int, agent: str | None, events: Sequence[str] | None) -> Iterator[TraceRecord]:
        for segment, tick in self._segments(low, high):
            yield from segment.records(tick, agent, events)

    def batches(
        self, events: Set[TraceEvent], first: int | None = None, last: int | None = None
    ) -> Iterator[TickRecords]:
        """The batches of a range of ticks, as far as they have records; of those, some kinds."""
        for segment, tick in self._segments(*self._range(first, last)):
            yield segment.placed(tick, events)

    def _segments(self, low: int, high: int) -> Iterator[tuple[Segment, int]]:
        """The ticks of a range that have records, each with the segment that has them."""
        statement = "SELECT min(tick) FROM traces WHERE tick BETWEEN ? AND ?"
        while (row := self._row(statement, low, high)) is not None and row[0] is not None:
            segment = self._segment_of(self._tick(row[0], low))
            if segment is None:
                return
            for tick in segment.ticks(low, high):
                yield segment, tick
            low = segment.last + 1

    def _range(self, first: int | None, last: int | None) -> tuple[int, int]:
        """A range of ticks; up to the last one that was committed."""
        low = self.first_tick if first is None else first
        final = self.last_tick
        return low, final if last is None else min(last, final)

    def _segment_of(self, tick: int) -> Segment | None:
        """The segment that has a tick; None if that tick has no records."""
        segment = self._segment
        if segment is not None and segment.first <= tick <= segment.last:
            return segment
        row = self._row("SELECT segment FROM traces WHERE tick = ?", tick)
        if row is None:
            return None
        before = self._row("SELECT tick FROM traces WHERE tick < ? AND segment != ? ORDER BY tick DESC", tick, row[0])
        rows = self._rows(
            "SELECT segment, tick, lines, numbers FROM traces WHERE tick > ? ORDER BY tick",
            -1 if before is None else before[0],
        )
        ours = itertools.takewhile(lambda one: one[0] == row[0], rows)
        self._segment = Segment((one[1:] for one in ours), self.where)
        return self._segment

    # --- what came in -------------------------------------------------------------------------------------------------

    def inputs(self, first: int | None = None, last: int | None = None) -> Iterator[RecordedInput]:
        """What came in from outside in a range of ticks, in the order in which it was taken. None: all of them."""
        rows = self._rows(
            "SELECT tick, place, kind, number, name, value FROM inputs WHERE tick BETWEEN ? AND ? "
            "ORDER BY tick, place, nth",
            *self._range(first or 0, last),  # inputs are kept when the trace before them was dropped
        )
        for tick, place, kind, number, name, text in rows:
            plain = all(type(value) is int for value in (tick, place, number))
            if not plain or kind not in ("sent", "answered", "failed", "posted", "reloaded", "edited"):
                raise RecordingError(self.where, f"it has a broken input in tick {str(tick)[:20]}")
            value = self._codecs.read(str(text), self.where)
            yield self._input(tick, place, kind, number, name_out(name), value)

    def _input(self, tick: int, place: int, kind: str, number: int, name: str, value: Any) -> RecordedInput:
        args, error = {}, None
        if kind == "posted":
            value = None
        elif kind in ("sent", "reloaded", "edited"):
            if not isinstance(value, dict):
                why = value.reason if isinstance(value, Unkept) else "there are none"
                raise RecordingError(self.where, f"the arguments of the input {name!r} in tick {tick}: {why}")
            args, value = value, None
        elif kind == "failed" and not isinstance(value, Unkept):
            if not isinstance(value, BaseException):
                raise RecordingError(self.where, f"call {number} in tick {tick} has no error")
            error, value = value, None
        return RecordedInput(tick, place, "answered" if kind == "failed" else kind, number, name, args, value, error)

    def reloads(self) -> list[Reloaded]:
        """What came of the edits of code and content while it ran: the newest ones, the oldest of them first."""
        rows = self._rows(
            "SELECT tick, value FROM inputs WHERE kind IN ('reloaded', 'edited') AND tick <= ? "
            "ORDER BY tick DESC, place DESC, nth DESC LIMIT ?",
            self.last_tick, _MOST_RELOADS,
        )  # fmt: skip
        found: deque[Reloaded] = deque()
        room = _RELOADS_TEXT
        for tick, text in rows:
            room -= len(str(text))
            if room < 0:
                break
            found.appendleft(self._reloaded(tick, text))
        return list(found)

    def _reloaded(self, tick: object, text: object) -> Reloaded:
        """One of them; what a file does not say of it is empty."""
        what = self._codecs.read(str(text), self.where)
        what = what if isinstance(what, dict) else {}
        files, error = what.get("files"), what.get("error", "")
        told = {name: what.get(name, []) for name in ("changed", "removed", "agents", "notes", "kinds")}
        has_lists = all(isinstance(one, list) for one in told.values())
        if not has_lists or not is_number(tick, 0) or not isinstance(files, dict) or not isinstance(error, str):
            raise RecordingError(self.where, f"what it says of an edit in tick {str(tick)[:20]} is broken")
        names = {name: tuple(map(words_of, one)) for name, one in told.items()}
        return Reloaded(tick=tick, files=tuple(map(words_of, files)), error=error, **names)

    # --- agents -------------------------------------------------------------------------------------------------------

    def agents(self, tick: int) -> tuple[str, ...]:
        """Who was there at the end of a tick, in the order in which they came."""
        statement = "SELECT name FROM agents WHERE id > ? AND first <= ? AND (last IS NULL OR last > ?) ORDER BY id"
        return tuple(name_out(row[0]) for row in self._rows(statement, NOBODY, tick, tick))

    def stays(self, first: int, last: int) -> Iterator[Stay]:
        """Who was there at the end of any tick of a range, in the order in which they came."""
        statement = (
            "SELECT id, name, first, last FROM agents WHERE id > ? AND first <= ? AND (last IS NULL OR last > ?) "
            "ORDER BY id"
        )
        for number, name, came, left in self._rows(statement, NOBODY, last, first):
            if not is_number(number, 1) or not is_number(came, 0) or not (left is None or is_number(left, 0)):
                raise RecordingError(self.where, f"it has a broken agent: {str(number)[:20]}")
            yield Stay(number, name_out(name), came, left)

    def patches(self, stay: Stay | None, first: int, last: int) -> Iterator[tuple[int, Any, Any]]:
        """How a view becomes another one in a range of ticks: that of an agent, or, for None, the world's drawing.

        It begins with the view at the end of the first tick, if there is one then.

        Yields:
            The tick; the patch that makes it from the one before, None where it is whole; and the view, as it was
            kept. Views share what did not change, so that nobody may change them.
        """
        number = NOBODY if stay is None else stay.number
        view = self._put_together(number, first)
        if view is not None:
            yield first, None, view
        statement = "SELECT tick, whole, data FROM views WHERE agent = ? AND tick > ? AND tick <= ? ORDER BY tick"
        for tick, is_whole, data in self._rows(statement, number, first, last):
            part = unpack(data, self.where)
            view = part if is_whole else patched(view, part, self.where)
            yield self._tick(tick, first), None if is_whole else part, view

    def everybody(self) -> tuple[str, ...]:
        """Everybody who ever was there, in the order in which they came; of several with one name the first counts."""
        found = self._rows("SELECT name FROM agents WHERE id > ? ORDER BY id", NOBODY)
        return tuple(dict.fromkeys(name_out(row[0]) for row in found))

    def view(self, agent: str, tick: int) -> dict[str, Any] | None:
        """What an agent was doing at the end of a tick: its snapshot, as ``AgentSnapshot.as_json`` gave it.

        None if the agent was not there, or no views were recorded.
        """
        number = self._number(agent, tick)
        view = None if number is None else self._put_together(number, tick)
        if view is None:
            return None
        if not isinstance(view, dict):
            raise RecordingError(self.where, f"the view of {agent[:40]!r} in tick {tick} is none")
        settle(view, tick)
        return {**view, "tick": tick, "seconds": tick / self.meta["ticks_per_second"]}

    def looked_at(self, agent: str, tick: int) -> int | None:
        """The tick, up to this one, in which what an agent was doing last became another thing; None without views.

        Its views from then on, up to the tick, differ in nothing but their time and in what does not sleep any more.
        """
        number = self._number(agent, tick)
        if number is None:
            return None
        row = self._row("SELECT max(tick) FROM views WHERE agent = ? AND tick <= ?", number, tick)
        return row[0] if row is not None and is_number(row[0], 0) else None

    def changes(self, agent: str, after: int = -1, last: int | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
        """Each change of what an agent was doing, in order; for who goes through all of them, which is quick this way.

        Args:
            agent: by its name; several that had it one after the other are one.
            after: only later changes; by default all of them.
            last: up to which tick; None for the last one.

        Yields:
            The tick in which it changed, and the view then, as ``view`` gives it.
        """
        rate = self.meta["ticks_per_second"]
        final = self.last_tick if last is None else min(last, self.last_tick)
        for number in self._numbers_of(agent):
            view = self._put_together(number, after) if after >= 0 else None
            length, room, low = 0, _LARGEST_CHAIN, after
            # In portions: who reads on later holds no part of a file that is still written.
            while rows := list(self._rows(_CHANGES, number, low, final, _PORTION)):
                for tick, is_whole, data in rows:
                    part, size = unpacked(data, self.where)
                    length, room = (0, _LARGEST_CHAIN) if is_whole else (length + 1, room - size)
                    if length > _LONGEST_CHAIN or room < 0:
                        raise RecordingError(self.where, f"what makes the view in tick {tick} is too long")
                    view = part if is_whole else patched(view, part, self.where)
                    if not isinstance(view, dict):
                        raise RecordingError(self.where, f"the view of {agent[:40]!r} in tick {tick} is none")
                    yield tick, {**view, "tick": tick, "seconds": tick / rate}
                    low = tick

    def _numbers_of(self, agent: str) -> list[int]:
        """The numbers of all agents that had a name, one after the other."""
        if agent not in self._numbers:
            for number, name in self._rows("SELECT id, name FROM agents WHERE id > ? ORDER BY id", self._numbered):
                self._numbers.setdefault(name_out(name), []).append(number)
                self._numbered = number
        return self._numbers.get(agent, [])

    def _number(self, agent: str, tick: int) -> int | None:
        """The number of the agent that had a name at the end of a tick; None if nobody had."""
        statement = "SELECT 1 FROM agents WHERE id = ? AND first <= ? AND (last IS NULL OR last > ?)"
        there = (one for one in self._numbers_of(agent) if self._row(statement, one, tick, tick) is not None)
        return next(there, None)

    def _put_together(self, number: int, tick: int) -> Any:
        rows = self._rows(
            "SELECT whole, data FROM views WHERE agent = ? AND tick <= ? AND tick >= "
            "(SELECT max(tick) FROM views WHERE agent = ? AND whole AND tick <= ?) ORDER BY tick LIMIT ?",
            number, tick, number, tick, _LONGEST_CHAIN,
        )  # fmt: skip
        view: Any = None
        room = _LARGEST_CHAIN
        for is_whole, data in rows:
            part, size = unpacked(data, self.where)
            room -= size
            if room < 0:
                text = f"what makes the view in tick {tick} is longer than {_LARGEST_CHAIN} bytes"
                raise RecordingError(self.where, text)
            view = part if is_whole else altered(view, part, self.where)  # nobody else has it
        return view

    def drawing(self, tick: int) -> Drawing | None:
        """What the world looked like at the end of a tick, as its own hook drew it.

        None if it offered nothing, or no drawings were recorded. If only some ticks have one, it is the last before.
        """
        data = self._put_together(NOBODY, tick)
        try:
            return None if data is None else Drawing.from_json(data)
        except DataFault as fault:
            raise RecordingError(self.where, f"the drawing in tick {tick} is broken: {fault}") from None

    @property
    def has_drawings(self) -> bool:
        """Whether the world is drawn in any of its ticks."""
        return self._row("SELECT 1 FROM views WHERE agent = ? LIMIT 1", NOBODY) is not None

    def explain(self, agent: str, tick: int) -> str:
        """Why an agent did what it did at the end of a tick, and why not something else, in several lines of text."""
        view = self.view(agent, tick)
        if view is None:
            return f"{agent} at tick {tick}: the recording has no view of it"
        try:
            return explain(AgentSnapshot.from_json(view))
        except AgentRTError as error:
            raise RecordingError(self.where, f"the view of {agent[:40]!r} in tick {tick} is broken: {error}") from None

    def outlines(self, agent: str, tick: int | None = None) -> dict[str, Any]:
        """The trees of an agent's models: for the name of each driver the outline, as JSON. None: in the last tick."""
        rows = self._rows(
            "SELECT driver, data FROM drawings JOIN agents ON agents.id = drawings.agent "
            "JOIN outlines ON outlines.id = outline WHERE name = ? AND tick <= ? ORDER BY tick",
            name_in(agent), self.last_tick if tick is None else tick,
        )  # fmt: skip
        return {str(driver): unpack(data, self.where) for driver, data in rows}

    def __repr__(self) -> str:
        return f"<Recording: {self.path}>"
