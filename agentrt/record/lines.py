"""The trace in a file: distinct lines, and which tick has which; and the digest, made on the way.

A *line* is a record without its tick: agent, path, event, detail. A *segment* is some hundred ticks with a list of its
lines, numbered from 0. A tick brings its new lines and the numbers of all its lines, in order. Almost every record has
its line already, so that writing one is a look into a dict; the text that the digest hashes is kept there as well.

Rules:

* What is looked up must tell 1 from 1.0 from True, which are equal in Python and not in a digest: a detail is looked
  up by its bytes in ``marshal``, which are made for that and never written.
* The digest is that of ``TraceDigest``, byte by byte.
* A tick's records are those that were emitted since the end of the tick before it. Some may bear that tick's number, or
  what an author gave them: their places and ticks stand beside the numbers.
* What is read is bounded and looked at; whatever is wrong is a ``RecordingError``.
"""

from __future__ import annotations

import json
import marshal
import zlib
from collections.abc import Iterable, Sequence, Set
from hashlib import blake2b
from typing import Any, NamedTuple

from agentrt.errors import RecordingError
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.words import error_words

SEGMENT_TICKS = 256
_SEGMENT_LINES = 50_000
LONGEST = 16 * 1024 * 1024  # characters of one text that is packed; what it holds takes some twenty times as much
_COMPRESS = 120  # characters from which it is worth it

EMPTY_DIGEST: bytes = blake2b(digest_size=16).digest()

_PLAIN = frozenset((str, int, float, bool, type(None)))  # what a detail can be, once it was JSON
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_EVENTS: dict[str, TraceEvent] = {event.value: event for event in TraceEvent}


def pack(data: object) -> bytes:
    raw = _encode(data).encode()
    if len(raw) > LONGEST:
        raise ValueError(f"a tick, or a view of an agent, takes more than {LONGEST} characters")
    return b"z" + zlib.compress(raw, 1) if len(raw) > _COMPRESS else b" " + raw


def unpack(data: Any, where: str) -> Any:
    """What ``pack`` packed, from a file that anybody may have made: ``RecordingError`` if it is no such thing."""
    return unpacked(data, where)[0]


def unpacked(data: bytes, where: str) -> tuple[object, int]:
    """The same, and how many bytes it was before it was packed."""
    try:
        raw, is_whole = data, len(data) <= LONGEST
        if data[:1] == b"z":
            inflate = zlib.decompressobj()  # which stops at a length: a kilobyte may hold a gigabyte
            raw = inflate.decompress(data[1:], LONGEST)
            is_whole = inflate.eof
        if not is_whole:
            raise RecordingError(where, "packed data is cut off, or too long")
        # A text: of bytes it would look first how they are to be read.
        return json.loads(raw.decode() if type(raw) is bytes else raw), len(raw)
    except (zlib.error, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise RecordingError(where, f"packed data cannot be read: {error_words(error)}") from None


class Packed(NamedTuple):
    """The records of one tick, as they are written."""

    segment: int  # the number of the segment
    is_first: bool  # whether the segment begins here
    lines: bytes | None  # its new lines, packed; None if there are none
    numbers: bytes  # the numbers of its lines, packed
    digest: bytes  # of all records so far
    between: int  # how many of them were emitted before the tick began, by the number that they bear


class LineWriter:
    """Packs the records of one tick after the other; a segment ends after so many ticks, or so many packed bytes."""

    def __init__(self, segment_ticks: int = SEGMENT_TICKS, segment_bytes: int | None = None) -> None:
        self._segment_ticks = segment_ticks
        self._segment_bytes = segment_bytes
        self._hash = blake2b(digest_size=16)
        self._before = b""  # the digest so far, if somebody else made it; until the next epoch
        self._lines: dict[Any, tuple[int, str]] = {}
        self.segment: int = -1  # the number of the one that is written
        self._epochs: set[int] = set()  # which of the lines say that the world was rebuilt
        self._first = 0  # its first tick
        self._is_new_world = False
        self._bytes = 0

    def digest(self) -> bytes:
        """Of all records so far."""
        return self._before or self._hash.digest()

    def begin_after(self, digest: bytes) -> None:
        """What is packed first is an epoch of a run whose digest so far is this."""
        self._before = digest

    def begin_epoch(self) -> None:
        """The world was rebuilt: what follows needs no line of before, so a segment begins."""
        self._is_new_world = True

    def pack(self, tick: int, records: Sequence[TraceRecord]) -> Packed:
        """Pack what was emitted since the end of the tick before."""
        is_first = self._turn_over(tick)
        known = self._lines
        get, dumps = known.get, marshal.dumps  # each record of a run passes here
        numbers: list[int] = []
        told: list[str] = []
        new: list[tuple[Any, ...]] = []
        odd: list[tuple[int, int]] = []
        for at, agent, path, event, detail in records:
            if at != tick:
                odd.append((len(numbers), at))
            try:
                key = (agent, path, event, dumps(detail, 2) if detail else detail)
            except ValueError:  # a value of a class of somebody's own, such as a member of an enumeration
                key = (agent, path, event, ascii(detail).encode())
            line = get(key)
            if line is None:
                # ascii() of the plain fields, as TraceDigest has it, without the tick that comes first.
                text = ascii((agent, path, event.value, detail))[1:]
                line = known[key] = (len(known), text)
                new.append((agent, path, event, detail))
                if event is TraceEvent.EPOCH:  # looked at here, where few records pass
                    self._epochs.add(line[0])
            numbers.append(line[0])
            told.append(line[1])
        cuts = [place for place, number in enumerate(numbers) if number in self._epochs] if self._epochs else []
        self._hash_all(tick, told, odd, cuts)
        between = sum(at < tick for _, at in odd)
        lines = pack(new) if new else None
        packed = pack((numbers, odd) if odd else (numbers,))
        self._bytes += len(packed) + len(lines or b"")
        return Packed(self.segment, is_first, lines, packed, self.digest(), between)

    def _turn_over(self, tick: int) -> bool:
        """Begin the next segment, if this one has enough."""
        is_full = (
            self._is_new_world
            or len(self._lines) > _SEGMENT_LINES
            or self._bytes > (self._segment_bytes or self._bytes)
        )
        if self.segment >= 0 and tick - self._first < self._segment_ticks and not is_full:
            return False
        self.segment += 1
        self._is_new_world = False
        self._epochs.clear()
        self._first, self._bytes = tick, 0
        self._lines.clear()
        return True

    def _hash_all(self, tick: int, told: list[str], odd: list[tuple[int, int]], cuts: list[int]) -> None:
        if odd or cuts:
            heads = dict(odd)
            told = [f"({heads.get(place, tick)}, {text}" for place, text in enumerate(told)]
            done = 0
            for cut in cuts:  # where the digest begins anew, as TraceDigest has it
                self._hash.update("".join(told[done:cut]).encode())
                self._hash, self._before = blake2b(self.digest(), digest_size=16), b""
                done = cut
            self._hash.update("".join(told[done:]).encode())
        elif told:
            head = f"({tick}, "
            self._hash.update((head + head.join(told)).encode())


class TickRecords(NamedTuple):
    """What one tick brought, for who looks at some kinds of records and has to know where each one stands."""

    tick: int
    amount: int  # how many records of any kind it has
    placed: list[tuple[int, TraceRecord]]  # those of the kinds that were asked for, each with its place
    is_whole: bool  # whether all of them are there: some bear the number of another tick, and no place counts alone


class Segment:
    """The records of one segment, read from its rows (tick, lines, numbers): ``RecordingError`` if it is none."""

    def __init__(self, rows: Iterable[tuple[int, Any, Any]], where: str) -> None:
        self._where = where
        self._lines: list[tuple[str, str, TraceEvent, Any]] = []
        self._numbers: dict[int, tuple[list[int], dict[int, int]]] = {}
        for tick, lines, numbers in rows:
            if lines is not None:
                self._lines.extend(self._read_line(line) for line in self._list(unpack(lines, where)))
            self._numbers[tick] = self._read_numbers(unpack(numbers, where))
        if not self._numbers:
            raise RecordingError(where, "a segment of the trace is missing")
        self.first: int = min(self._numbers)
        self.last: int = max(self._numbers)

    def _list(self, data: object) -> list[Any]:
        if not isinstance(data, list):
            raise RecordingError(self._where, "the trace has something else where a list belongs")
        return data

    def _read_line(self, line: Any) -> tuple[str, str, TraceEvent, Any]:
        # Each distinct record of a run passes here: loops, since generators cost twice as much.
        try:
            agent, path, event, pairs = line
            detail = tuple([(name, value) for name, value in pairs])
            plain = type(agent) is str and type(path) is str
            for name, value in detail:
                if type(name) is not str or type(value) not in _PLAIN:
                    plain = False
            if plain:
                return agent, path, _EVENTS[event], detail
        except (TypeError, ValueError, KeyError):
            pass
        raise RecordingError(self._where, f"the trace has a line that is none: {str(line)[:100]}")

    def _read_numbers(self, data: object) -> tuple[list[int], dict[int, int]]:
        parts = self._list(data)
        numbers = self._list(parts[0] if parts else None)
        if numbers and (set(map(type, numbers)) != {int} or min(numbers) < 0 or max(numbers) >= len(self._lines)):
            raise RecordingError(self._where, "the trace has a number of a line that there is not")
        try:
            odd: dict[Any, Any] = dict(parts[1]) if len(parts) > 1 else {}
        except (TypeError, ValueError):
            odd = {"": ""}
        if not all(type(place) is int and type(tick) is int for place, tick in odd.items()):
            raise RecordingError(self._where, "the trace has a tick that is none")
        return numbers, odd

    def ticks(self, first: int, last: int) -> list[int]:
        """Its ticks that have records, within a range."""
        return [tick for tick in self._numbers if first <= tick <= last]

    def records(self, tick: int, agent: str | None = None, events: Sequence[str] | None = None) -> list[TraceRecord]:
        lines = self._lines
        numbers, odd = self._numbers.get(tick, ([], {}))
        found: list[TraceRecord] = []
        for place, number in enumerate(numbers):
            line = lines[number]
            if (agent is None or line[0] == agent) and (events is None or line[2] in events):
                found.append(TraceRecord(odd.get(place, tick), *line))
        return found

    def placed(self, tick: int, events: Set[TraceEvent]) -> TickRecords:
        """Its records of some kinds, with their places among all."""
        lines = self._lines
        numbers, odd = self._numbers.get(tick, ([], {}))
        if odd:
            return TickRecords(tick, len(numbers), list(enumerate(self.records(tick))), is_whole=True)
        placed = [
            (place, TraceRecord(tick, *lines[number]))
            for place, number in enumerate(numbers)
            if lines[number][2] in events
        ]
        return TickRecords(tick, len(numbers), placed, is_whole=False)
