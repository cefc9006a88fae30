"""The file that a recorder writes, and keeps small.

* What is dropped goes by whole segments of the trace, oldest first. Views before it go as well, except for the newest
  whole one of each agent and what follows: every tick that is kept has its view. Digests are thinned: each thousandth
  stays, so that a replay from the first tick on can still be checked. Inputs stay: they are what a replay is made of.
* A limit in bytes is kept by dropping the oldest quarter when the file is nearly full. SQLite uses the room again. Its
  own limit of pages stands behind that.
* Of what the world was rebuilt (see ``agentrt.runtime.epochs``) it keeps the newest saves. From each of them on nothing
  that is written needs anything of before: a new segment begins, views are whole, the digest is chained to the one
  before.
* A store that goes on with a file knows nothing of it until then: numbers of agents and trees, and where segments
  begin, it takes from the file in the end.
* Each of its methods may raise ``sqlite3.Error``; the recorder deals with it.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import deque
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from agentrt.errors import RecordingError
from agentrt.record.lines import SEGMENT_TICKS, Packed, pack, unpack
from agentrt.record.schema import (
    NOBODY,
    SAVES,
    THINNED,
    Durability,
    begin_log,
    connect_writer,
    discard,
    is_number,
    name_in,
    name_out,
)

InputRow = tuple[int, int, int, str, int, Any, str]
"""tick, place, which of this place, kind, number of the call, name, JSON."""

_KEPT_SAVES = 2  # one to go on from, and the one before, should that turn out to be of a world that was broken
_LOOK_EVERY = 64  # ticks after which the size is looked at
_NEARLY = 0.8  # of the bytes that the file may have


class Store:
    """The file of one recorder; ``RecordingError`` if it cannot be made. The limits are those of ``Recorder``.

    With a ``connection`` it retraces a file that has so many ``committed`` ticks, until it is to ``go_on``; meanwhile
    it knows who is there, and nothing else.
    """

    def __init__(
        self,
        path: Path,
        keep_ticks: int | None,
        max_bytes: int | None,
        commit_every: int,
        durability: Durability = "process",
        *,
        connection: sqlite3.Connection | None = None,
        committed: int = 0,
    ) -> None:
        self._path = path
        self._is_retracing = connection is not None
        self._has_log = False
        self._connection = connect_writer(path, max_bytes, durability) if connection is None else connection
        self._keep_ticks = keep_ticks
        self._max_bytes = max_bytes
        self._commit_every = commit_every
        self.durability: Durability = durability
        self.committed: int = committed  # how many ticks are in the file, whatever happens
        self._open_ticks = 0  # in the transaction
        self._agents: dict[str, int] = {}  # those that are there
        self._next_agent = 1
        self._outlines: dict[bytes, int] = {}
        self._segments: deque[tuple[int, int]] = deque()  # their first ticks, and how much was written before them
        self._traced = 0  # the last tick with records; of a file that has none yet, the one before its first
        self._written = 0  # bytes of trace and views
        self._looked = 0  # how many of them there were when the size was looked at

    # --- what is written ----------------------------------------------------------------------------------------------

    def _execute(self, statement: str, values: Sequence[object] = ()) -> None:
        if not self._is_retracing:
            self._connection.execute(statement, values)

    def put(self, key: str, value: object) -> None:
        self._execute("REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))

    def put_inputs(self, rows: Iterable[InputRow]) -> None:
        if not self._is_retracing:
            self._connection.executemany("INSERT INTO inputs VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def put_trace(self, tick: int, packed: Packed) -> None:
        if self._is_retracing:
            return
        if packed.is_first:
            self._segments.append((tick, self._written))
        self._traced = tick
        self._written += len(packed.numbers) + len(packed.lines or b"")
        row = (tick, packed.segment, packed.lines, packed.numbers)
        self._execute("INSERT INTO traces VALUES (?, ?, ?, ?)", row)

    def agent_comes(self, name: str, tick: int) -> None:
        number = self._agents[name] = self._next_agent
        self._next_agent += 1
        self._execute("INSERT INTO agents VALUES (?, ?, ?, NULL)", (number, name_in(name), tick))

    def agent_goes(self, name: str, tick: int) -> None:
        number = self._agents.pop(name)
        self._execute("UPDATE agents SET last = ? WHERE id = ?", (tick, number))

    @property
    def names(self) -> Iterable[str]:
        """Who is there."""
        return self._agents

    def put_save(self, tick: int, save: str, started: int) -> None:
        """Write of what the world was rebuilt; besides the one with which it started, the newest few are kept."""
        self._execute(SAVES)
        self._execute("REPLACE INTO saves VALUES (?, ?)", (tick, save))
        newest = "SELECT tick FROM saves ORDER BY tick DESC LIMIT ?"
        self._execute(
            f"DELETE FROM saves WHERE tick > ? AND tick NOT IN ({newest})",  # noqa: S608 - the text above
            (started, _KEPT_SAVES),
        )

    def knows(self, name: str) -> bool:
        return name in self._agents

    def put_view(self, name: str | None, tick: int, is_whole: bool, data: object) -> None:
        """Write a view of an agent; without a name, a drawing of the world."""
        if not self._is_retracing:
            self.put_packed_view(name, tick, is_whole, pack(data))

    def put_packed_view(self, whose: str | None, tick: int, is_whole: bool, packed: bytes) -> None:
        """Likewise, of what was packed before."""
        self._written += len(packed)
        number = NOBODY if whose is None else self._agents[whose]
        self._execute("REPLACE INTO views VALUES (?, ?, ?, ?)", (number, tick, int(is_whole), packed))

    def put_outline(self, name: str, driver: str, tick: int, outline: object) -> None:
        """Write which tree a driver has; equal ones are written once: agents of a kind have the same."""
        if self._is_retracing:
            return
        mark = _mark(outline)
        number = self._outlines.get(mark)
        if number is None:
            number = self._outlines[mark] = len(self._outlines) + 1
            self._execute("INSERT INTO outlines VALUES (?, ?)", (number, pack(outline)))
        row = (self._agents[name], driver, tick, number)
        self._execute("REPLACE INTO drawings VALUES (?, ?, ?, ?)", row)

    # --- ticks --------------------------------------------------------------------------------------------------------

    def end_tick(self, tick: int, records: int, digest: bytes) -> None:
        if self._is_retracing:
            return
        self._execute("INSERT INTO ticks VALUES (?, ?, ?)", (tick, records, digest))
        self._traced = self._traced or tick - 1  # one that begins late has nothing older to drop
        if self._keep_ticks is not None and tick % _LOOK_EVERY == 0:
            self._shorten(tick - self._keep_ticks)
        if self._max_bytes is not None and self._written - self._looked > self._max_bytes // 16:
            self._looked = self._written
            if self._used() > self._max_bytes * _NEARLY:
                self._shorten(self._quarter())
        self._open_ticks += 1
        # Counted from where the recording begins, so that a run that is resumed commits where the undisturbed one does.
        if (self.committed + self._open_ticks) % self._commit_every == 0:
            self.commit()

    def commit(self) -> None:
        if self._is_retracing:
            return
        self._connection.execute("COMMIT")
        self.committed += self._open_ticks
        self._open_ticks = 0
        if not self._has_log:
            begin_log(self._connection, self._max_bytes, self.durability)
            self._has_log = True
        self._connection.execute("BEGIN IMMEDIATE")  # at once: nobody else is to take it for a file without a writer

    def go_on(self) -> int | None:
        """The file was retraced to its end: write from here on.

        Returns:
            The number of its last segment; None if it has none.

        Raises:
            RecordingError: somebody has made something in it that no recorder writes.
        """
        segment = self._take_up()
        self._connection.execute("ROLLBACK")
        begin_log(self._connection, self._max_bytes, self.durability)
        self._has_log = True
        self._connection.execute("BEGIN IMMEDIATE")
        self._is_retracing = False
        return segment

    def _take_up(self) -> int | None:
        """Take from the file what is to be known of it."""
        execute, where = self._connection.execute, str(self._path)
        there = execute("SELECT name, id FROM agents WHERE id > ? AND last IS NULL ORDER BY id", (NOBODY,))
        self._agents = {name_out(name): number for name, number in there}
        # Whoever retraced from the beginning has counted them. Else the number of one that was dropped may come again.
        self._next_agent = max(self._next_agent, execute("SELECT ifnull(max(id), 0) + 1 FROM agents").fetchone()[0])
        outlines = execute("SELECT id, data FROM outlines ORDER BY id")
        self._outlines = {_mark(unpack(data, where)): number for number, data in outlines}
        tick, segment = execute("SELECT tick, segment FROM traces ORDER BY tick DESC").fetchone() or (0, None)
        self._traced = tick
        if self._keep_ticks is not None or self._max_bytes is not None:  # else nothing of it is dropped
            self._take_up_segments()
        if segment is not None and not is_number(segment, 0):
            raise RecordingError(where, f"its trace of tick {tick} is in the segment {str(segment)[:20]!r}")
        return segment

    def _take_up_segments(self) -> None:
        size = "length(numbers) + ifnull(length(lines), 0)"
        rows = self._connection.execute(
            f"SELECT tick, segment, {size} FROM traces UNION ALL SELECT tick, NULL, length(data) FROM views "  # noqa: S608
            "ORDER BY tick, segment DESC"
        )
        last: object = None
        for tick, segment, size in rows:
            if segment is not None and segment != last:
                self._segments.append((tick, self._written))
                last = segment
            self._written += size

    def _shorten(self, bound: int) -> None:
        """Drop what is older than a tick, as far as segments go."""
        segments = self._segments
        start = None
        while len(segments) > 1 and segments[1][0] <= bound:
            segments.popleft()
            start = segments[0][0]
        if self._traced < bound - SEGMENT_TICKS:  # nothing has happened for so long that the next segment is a new one
            segments.clear()
            start = bound - SEGMENT_TICKS
        if start is not None:
            self._drop_before(start)

    def _quarter(self) -> int:
        """The tick before which a quarter of all trace and views lies."""
        segments = self._segments
        wanted = (self._written - segments[0][1]) // 4 if segments else 0
        later = (first for first, before in segments if before - segments[0][1] >= wanted)
        return next(later, segments[-1][0] if segments else 0)

    def _used(self) -> int:
        pragmas = ("page_count", "freelist_count", "page_size")
        pages, free, size = [self._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas]
        return int((pages - free) * size)

    def _drop_before(self, start: int) -> None:
        execute = self._connection.execute
        execute("DELETE FROM traces WHERE tick < ?", (start,))
        # Whoever begins with a save goes on from its digest.
        has_saves = execute("SELECT 1 FROM sqlite_master WHERE name = 'saves'").fetchone() is not None
        others = " AND tick NOT IN (SELECT tick FROM saves)" if has_saves else ""
        execute(f"DELETE FROM ticks WHERE tick < ? AND tick % ? != 0{others}", (start, THINNED))  # noqa: S608 - the above
        gone = execute("SELECT id FROM agents WHERE last < ?", (start,)).fetchall()
        for table in ("views", "drawings"):
            self._connection.executemany(f"DELETE FROM {table} WHERE agent = ?", gone)  # noqa: S608 - one of two words
        self._connection.executemany("DELETE FROM agents WHERE id = ?", gone)
        execute(
            "DELETE FROM views WHERE tick < ? AND tick < "
            "(SELECT max(tick) FROM views AS whole WHERE whole.agent = views.agent AND whole AND tick <= ?)",
            (start, start),
        )
        self.put("kept_from", start)

    # --- the end ------------------------------------------------------------------------------------------------------

    def close(self, why: str) -> None:
        """Commit, and leave one whole file behind; if somebody reads it just now, the log stays beside it."""
        if self._is_retracing:
            self.give_up()
            return
        try:
            self.commit()  # before the header is written: what came is to stay, also if there is no room for more
            self.put("ended", why)
            self._connection.execute("COMMIT")
            self._connection.execute("PRAGMA busy_timeout=0")  # who reads may read for long, and the run waits
            with contextlib.suppress(sqlite3.OperationalError):  # somebody reads it
                self._connection.execute("PRAGMA journal_mode=DELETE")
        finally:
            self._connection.close()

    def discard(self) -> None:
        """Close, and take the file away if nothing can be read from it."""
        if self._is_retracing:
            self.give_up()
        else:
            discard(self._connection, self._path)

    def give_up(self) -> None:
        """Close without what was not committed yet."""
        # If that fails, the file is as it was at the last commit all the same.
        with contextlib.closing(self._connection), contextlib.suppress(sqlite3.Error):
            self._connection.rollback()


def _mark(outline: object) -> bytes:
    """What tells one tree from another."""
    return blake2b(json.dumps(outline).encode(), digest_size=16).digest()
