"""What a recorder writes to its file, and what it drops again so that the file stays small.

Rules:

* One transaction for each tick, or for some. What is in it is on its way to the disk when it is committed, and in the
  file for whoever opens it, also after ``kill -9``.
* What is dropped goes by whole segments of the trace, oldest first. Views before it go as well, except for the newest
  whole one of each agent and what follows: every tick that is kept has its view. Digests are thinned: each thousandth
  stays, so that a replay from the first tick on can still be checked. Inputs stay: they are what a replay is made of.
* A limit in bytes is kept by dropping the oldest quarter when the file is nearly full. SQLite uses the room again.
  Its own limit of pages stands behind that.

Every method may raise ``sqlite3.Error``; the recorder deals with it.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import deque
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any

from agentrt.errors import RecordingError
from agentrt.record.lines import SEGMENT_TICKS, Packed, pack
from agentrt.record.schema import THINNED, connect_writer, discard, name_in

__all__ = ["InputRow", "Store"]

InputRow = tuple[int, int, int, str, int, Any, str]
"""tick, place, which of this place, kind, number of the call, name, JSON."""

_LOOK_EVERY = 64  # ticks after which the size is looked at
_NEARLY = 0.8
_LOG_PAGES = 1000  # of the log beside the file, before it is taken up


class Store:
    """The file of one recorder.

    Args:
        path: where; there must be nothing yet.
        keep_ticks: how many ticks of trace and views are kept at least; None for all.
        max_bytes: how large the file may become; None for any size.
        commit_every: after how many ticks it commits.

    Raises:
        RecordingError: it cannot be made.

    Attributes:
        committed: how many ticks are in the file, whatever happens.
    """

    def __init__(self, path: Path, keep_ticks: int | None, max_bytes: int | None, commit_every: int) -> None:
        self._path = path
        self._connection = connect_writer(path)
        self._keep_ticks = keep_ticks
        self._max_bytes = max_bytes
        self._commit_every = commit_every
        self.committed: int = 0
        self._open_ticks = 0  # in the transaction
        self._agents: dict[str, int] = {}  # those that are there
        self._next_agent = 1
        self._outlines: dict[bytes, int] = {}
        self._segments: deque[tuple[int, int]] = deque()  # their first ticks, and how much was written before them
        self._traced = 0  # the last tick with records
        self._written = 0  # bytes of trace and views
        self._looked = 0  # how many of them there were when the size was looked at
        try:
            self._page_size = self._set_up(max_bytes)
        except BaseException as error:
            self.discard()
            if isinstance(error, (sqlite3.Error, OSError)):
                raise RecordingError(str(path), f"it cannot be written: {error}") from None
            raise

    def _set_up(self, max_bytes: int | None) -> int:
        """Tell SQLite the limits, and begin; returns the size of a page."""
        execute = self._connection.execute
        page_size = int(execute("PRAGMA page_size").fetchone()[0])
        if max_bytes is not None:
            pages = max_bytes // page_size
            execute(f"PRAGMA max_page_count={pages}")
            execute(f"PRAGMA wal_autocheckpoint={min(max(pages // 8, 16), _LOG_PAGES)}")
            execute(f"PRAGMA journal_size_limit={max_bytes // 8}")
        execute("BEGIN")
        return page_size

    # --- what is written ----------------------------------------------------------------------------------------------

    def put(self, key: str, value: Any) -> None:
        """Write into the header.

        Args:
            key: what.
            value: plain data.
        """
        self._connection.execute("REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))

    def put_inputs(self, rows: Iterable[InputRow]) -> None:
        """Write what came in.

        Args:
            rows: of the table.
        """
        self._connection.executemany("INSERT INTO inputs VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def put_trace(self, tick: int, packed: Packed) -> None:
        """Write the records of a tick.

        Args:
            tick: which.
            packed: its records.
        """
        if packed.is_first:
            self._segments.append((tick, self._written))
        self._traced = tick
        self._written += len(packed.numbers) + len(packed.lines or b"")
        row = (tick, packed.segment, packed.lines, packed.numbers)
        self._connection.execute("INSERT INTO traces VALUES (?, ?, ?, ?)", row)

    def agent_comes(self, name: str, tick: int) -> None:
        """An agent is there.

        Args:
            name: whose.
            tick: from when on.
        """
        number = self._agents[name] = self._next_agent
        self._next_agent += 1
        self._connection.execute("INSERT INTO agents VALUES (?, ?, ?, NULL)", (number, name_in(name), tick))

    def agent_goes(self, name: str, tick: int) -> None:
        """An agent is there no more.

        Args:
            name: whose.
            tick: in which it ended.
        """
        number = self._agents.pop(name)
        self._connection.execute("UPDATE agents SET last = ? WHERE id = ?", (tick, number))

    def knows(self, name: str) -> bool:
        """Whether an agent of this name is there.

        Args:
            name: whose.
        """
        return name in self._agents

    def put_view(self, name: str, tick: int, is_whole: bool, data: Any) -> None:
        """Write a view.

        Args:
            name: whose; one that is there.
            tick: when.
            is_whole: whether it is no patch.
            data: the view, or the patch.
        """
        packed = pack(data)
        self._written += len(packed)
        row = (self._agents[name], tick, int(is_whole), packed)
        self._connection.execute("REPLACE INTO views VALUES (?, ?, ?, ?)", row)

    def put_outline(self, name: str, driver: str, tick: int, outline: Any) -> None:
        """Write which tree a driver has; equal ones are written once.

        Args:
            name: of the agent; one that is there.
            driver: its name.
            tick: from when on.
            outline: plain data.
        """
        mark = blake2b(json.dumps(outline).encode(), digest_size=16).digest()
        number = self._outlines.get(mark)
        if number is None:
            number = self._outlines[mark] = len(self._outlines) + 1
            self._connection.execute("INSERT INTO outlines VALUES (?, ?)", (number, pack(outline)))
        row = (self._agents[name], driver, tick, number)
        self._connection.execute("REPLACE INTO drawings VALUES (?, ?, ?, ?)", row)

    # --- ticks --------------------------------------------------------------------------------------------------------

    def end_tick(self, tick: int, records: int, digest: bytes) -> None:
        """A tick is whole.

        Args:
            tick: which.
            records: how many it has.
            digest: of all records so far.
        """
        self._connection.execute("INSERT INTO ticks VALUES (?, ?, ?)", (tick, records, digest))
        if self._keep_ticks is not None and tick % _LOOK_EVERY == 0:
            self._shorten(tick - self._keep_ticks)
        if self._max_bytes is not None and self._written - self._looked > self._max_bytes // 16:
            self._looked = self._written
            if self._used() > self._max_bytes * _NEARLY:
                self._shorten(self._quarter())
        self._open_ticks += 1
        if self._open_ticks >= self._commit_every:
            self.commit()

    def commit(self) -> None:
        """Have what was written stay."""
        self._connection.execute("COMMIT")
        self.committed += self._open_ticks
        self._open_ticks = 0
        self._connection.execute("BEGIN")

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
        pages = self._connection.execute("PRAGMA page_count").fetchone()[0]
        free = self._connection.execute("PRAGMA freelist_count").fetchone()[0]
        return int(pages - free) * self._page_size

    def _drop_before(self, start: int) -> None:
        execute = self._connection.execute
        execute("DELETE FROM traces WHERE tick < ?", (start,))
        execute("DELETE FROM ticks WHERE tick < ? AND tick % ? != 0", (start, THINNED))
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
        """Commit, and leave one whole file behind; if somebody reads it just now, the log stays beside it.

        Args:
            why: it ends, for the header. What was written before is committed without it if there is no room for it.
        """
        try:
            self.commit()
            self.put("ended", why)
            self._connection.execute("COMMIT")
            self._connection.execute("PRAGMA busy_timeout=0")
            with contextlib.suppress(sqlite3.OperationalError):  # somebody reads it
                self._connection.execute("PRAGMA journal_mode=DELETE")
        finally:
            self._connection.close()

    def discard(self) -> None:
        """Close, and take the file away: nothing can be read from it."""
        discard(self._connection, self._path)

    def give_up(self) -> None:
        """Close without what was not committed yet."""
        try:
            self._connection.rollback()
        except sqlite3.Error:
            pass  # the file is as it was at the last commit either way
        finally:
            self._connection.close()
