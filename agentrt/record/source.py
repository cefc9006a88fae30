"""What a recording is read from: one connection, behind which whatever fails is a ``RecordingError``; and the header.

SQLite looks at a page when it is read, so that a file which opens may turn out to be broken at any row. So each
selection goes through here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from agentrt.errors import RecordingError
from agentrt.record.schema import THINNED, connect_reader

__all__ = ["Source"]

_TEXTS = ("world", "host", "agentrt", "python", "ended")
_NUMBERS = {"started": 0, "ticks_per_second": 1}  # and the least that each can be


class Source:
    """A file that is read. Also a context manager.

    Args:
        path: where it lies.

    Raises:
        RecordingError: there is none, or it cannot be read.

    Attributes:
        path: as given.
        where: the same, for errors.
        meta: the header, as it was when it was opened.
    """

    def __init__(self, path: Path) -> None:
        self.path: Path = path
        self.where: str = str(path)
        self._connection = connect_reader(path)
        try:
            self.meta: dict[str, Any] = self._read_meta()
            self._require_ticks()
        except RecordingError:
            self._connection.close()
            raise

    def rows(self, statement: str, *args: Any) -> Iterator[tuple[Any, ...]]:
        """Select.

        Args:
            statement: SQL.
            args: for its places.

        Raises:
            RecordingError: the file is broken, or closed.
        """
        try:
            for row in self._connection.execute(statement, args):  # noqa: UP028 - `yield from` closes the cursor
                yield row
        except (sqlite3.Error, OverflowError) as error:
            raise self._broken(error) from None

    def row(self, statement: str, *args: Any) -> tuple[Any, ...] | None:
        """Select the first row.

        Args:
            statement: SQL.
            args: for its places.

        Raises:
            RecordingError: the file is broken, or closed.
        """
        try:
            row: tuple[Any, ...] | None = self._connection.execute(statement, args).fetchone()
        except (sqlite3.Error, OverflowError) as error:
            raise self._broken(error) from None
        return row

    def _broken(self, error: Exception) -> RecordingError:
        return RecordingError(self.where, f"it cannot be read any further: {error}")

    def _read_meta(self) -> dict[str, Any]:
        meta = {
            str(key): self._plain(key, value) for key, value in self.rows("SELECT key, value FROM meta ORDER BY key")
        }
        wrong = [key for key in _TEXTS if not isinstance(meta.get(key), str)]
        wrong += [key for key, least in _NUMBERS.items() if not self._is_number(meta.get(key), least)]
        if type(meta.get("seed")) not in (int, str):
            wrong.append("seed")
        if wrong:
            raise RecordingError(self.where, f"its header has no proper {wrong[0]!r}")
        return meta

    def _plain(self, key: Any, value: Any) -> Any:
        try:
            return json.loads(value)
        except (ValueError, TypeError, RecursionError):
            raise RecordingError(self.where, f"its header is broken at {str(key)[:40]!r}") from None

    def _is_number(self, value: Any, least: int) -> bool:
        return type(value) is int and value >= least

    def _require_ticks(self) -> None:
        """Each tick that is kept has its row, and each so many-th of those before: no file pretends to be longer.

        Whoever goes through all ticks has no more to do than there are rows.
        """
        statement = (
            "SELECT count(*) FILTER (WHERE tick >= kept), count(*) FILTER (WHERE tick < kept), max(tick), kept "
            "FROM ticks, (SELECT ifnull((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'kept_from'), ?) AS kept)"
        )
        started = self.meta["started"]
        kept, thinned, last, first = self.row(statement, started + 1) or (0, 0, None, 0)
        is_whole = last is None or (kept == last - first + 1 and first - 1 - started <= (thinned + 1) * THINNED)
        if not is_whole:
            raise RecordingError(self.where, "ticks of it are missing")

    def header(self, key: str) -> Any:
        """What stands in the header now; it may still be written.

        Args:
            key: what.

        Returns:
            Plain data; None if there is nothing.

        Raises:
            RecordingError: it is broken.
        """
        row = self.row("SELECT value FROM meta WHERE key = ?", key)
        return None if row is None else self._plain(key, row[0])

    @property
    def first_tick(self) -> int:
        """The first tick whose records are kept."""
        return self._tick(self.header("kept_from"), self.meta["started"] + 1)

    @property
    def last_tick(self) -> int:
        """The last tick that was committed; that after which the recording began if there is none."""
        row = self.row("SELECT max(tick) FROM ticks")
        return self._tick(row and row[0], self.meta["started"])

    def _tick(self, value: Any, otherwise: int) -> int:
        if value is None:
            return otherwise
        if not self._is_number(value, 0):
            raise RecordingError(self.where, f"it has {str(value)[:40]!r} where a tick belongs")
        return int(value)

    def close(self) -> None:
        """Close the file. Calling it twice does nothing."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()
