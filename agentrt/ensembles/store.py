"""The file of an ensemble: one row a run, in SQLite. It is what is kept; tables and pictures are made of it.

* A row is written when its run is over, in a transaction of its own: whatever kills the program, with ``kill -9`` too,
  costs only the runs that were under way. (A power failure may cost the last rows; they are run again.)
* A row's key is all that a run follows from: the world, the version of the code, the setting, the seed, the ticks. So
  equal runs are one row, and a row of older code stays beside that of newer code.
* A run that raised or hung is a row, too, with its error, no digest and no measures.
* Only one process writes: whoever leads the sweep. Others may read meanwhile.

The order of rows is that of their keys and not that in which they were finished: equal ensembles give equal tables, and
equal files of CSV, whoever ran them on how many cores. How long a run took is in the file and not in the tables.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeGuard

from agentrt.ensembles.design import Run
from agentrt.errors import EnsembleError, MissingExtraError
from agentrt.worlds import Value

Cell = int | float | bool | str | None

_APPLICATION_ID: Final = 0x61656E73  # "aens": SQLite keeps it in the header of the file
_FORMAT: Final = 2  # the first one had no column "traceback"
_PATIENCE: Final = 30.0  # real seconds that another process may hold the file
LARGEST: Final = 1e100  # of numbers that are reckoned with: sums of squares of them are still floats
_TABLE: Final = """CREATE TABLE IF NOT EXISTS runs (
    world TEXT NOT NULL, code TEXT NOT NULL, params TEXT NOT NULL, seed INTEGER NOT NULL, ticks INTEGER NOT NULL,
    digest TEXT NOT NULL, faults INTEGER NOT NULL, measures TEXT NOT NULL, error TEXT NOT NULL, seconds REAL NOT NULL,
    traceback TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (world, code, params, seed, ticks)
)"""


class RunRow(NamedTuple):
    """A run that is over, as a sweep keeps it."""

    world: str
    code: str  # the version of agentrt, and a hash of the sources that the world is made of
    setting: str  # the parameters that were given, as JSON
    seed: int
    ticks: int
    digest: str  # a hash of the whole run; empty if it failed
    faults: int  # what was raised in hooks of authors and survived: something to look at
    measures: dict[str, int | float | str]  # what the world measured after the last tick; empty if it failed
    error: str  # what went wrong, in a line; empty if nothing did
    seconds: float  # real seconds that it took
    traceback: str = ""  # where an error was raised; empty if nothing was

    @property
    def params(self) -> dict[str, Value]:
        """The parameters that were given."""
        return dict(json.loads(self.setting))

    @property
    def run(self) -> Run:
        """What was run, whatever the code."""
        return Run(self.setting, self.seed, self.ticks)


class RunStore:
    """The rows in a file.

    Args:
        path: of the file; it is made if there is none.
        is_read_only: whether there has to be one, and nothing is written.

    Raises:
        EnsembleError: it cannot be opened, or it is another kind of file.
    """

    def __init__(self, path: Path, *, is_read_only: bool = False) -> None:
        self.path: Path = path
        if is_read_only and not path.is_file():
            raise self._error("there is no such file", "Name one that agentrt sweep has made.")
        with self._told():
            self._connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
        try:
            with self._told():
                self._open(is_read_only)
        except BaseException:
            self._connection.close()
            raise

    def _open(self, is_read_only: bool) -> None:
        (mark,) = self._connection.execute("PRAGMA application_id").fetchone()
        (known,) = self._connection.execute("PRAGMA user_version").fetchone()
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        is_new = tables == mark == 0 and not is_read_only
        if mark != _APPLICATION_ID and not is_new:
            raise self._error("it is another kind of file", "Name one that agentrt sweep has made, or a new one.")
        if known > _FORMAT:
            raise self._error("a newer agentrt has made it", "Use that one.")
        if not is_read_only:
            # Appending to a log survives the process with one write for each row, and lets others read meanwhile.
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(_TABLE)
            if known == 1:
                self._connection.execute("ALTER TABLE runs ADD COLUMN traceback TEXT NOT NULL DEFAULT ''")
            self._connection.execute(f"PRAGMA user_version={_FORMAT}")
            self._connection.execute("COMMIT")

    def put(self, row: RunRow) -> None:
        """Write a row, in place of one with the same key; it is in the file when this returns."""
        told = (*row[:7], json.dumps(row.measures), row.error, row.seconds, row.traceback)
        with self._told():
            self._connection.execute("REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", told)

    def rows(self, world: str = "") -> list[RunRow]:
        """All rows, or those of a world, in the order of their keys; settings in that of their values."""
        where, values = ("WHERE world = ?", (world,)) if world else ("", ())
        with self._told():
            found = self._connection.execute(f"SELECT * FROM runs {where}", values).fetchall()  # noqa: S608 - ours
            return sorted(map(_read, found), key=_place)

    def close(self) -> None:
        """Let go of the file; what was put is in it."""
        self._connection.close()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What goes wrong with the file is told as one error; it may be anybody's file, with anything in it."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError, AttributeError) as error:
            remedy = "Name one that agentrt sweep has made, or where one can be made."
            raise self._error(f"it cannot be used: {error}", remedy) from error

    def _error(self, problem: str, remedy: str) -> EnsembleError:
        return EnsembleError(str(self.path), problem, remedy)


def _read(told: tuple[Any, ...]) -> RunRow:
    """A row, as the file has it; what is none is a ``ValueError``."""
    values = (*told[:7], json.loads(told[7]), *told[8:], "")  # the first format has no traceback
    row = RunRow._make(values[: len(RunRow._fields)])
    plain = (*row.params.values(), *row.measures.values())
    if not all(isinstance(value, int | float | str) for value in plain):
        raise ValueError("it has a row that is none")
    return row


def is_reckoned(value: object) -> TypeGuard[int | float]:
    """Whether a measure is a number that means are made of: none that is NaN, infinite, or so large that squares are.

    Whoever measures a rate of nothing gives NaN, and one that diverges, 1e308: the other runs have their means.
    """
    return isinstance(value, int | float) and -LARGEST <= value <= LARGEST


def _place(row: RunRow) -> tuple[object, ...]:
    """Where a row stands among all: numbers by value, whatever their type, and then texts."""
    given = [
        (name, isinstance(value, str), 0 if isinstance(value, str) else value, str(value))
        for name, value in row.params.items()
    ]
    return (row.world, row.code, row.ticks, given, row.seed)


# --- tables -----------------------------------------------------------------------------------------------------------


def columns_of(rows: Sequence[RunRow]) -> dict[str, list[Cell]]:
    """Rows as a table: by the name of each column what stands in it; None where a row has nothing of it.

    Parameters and measures may have the same name, so their columns are called ``param.NAME`` and ``measure.NAME``.
    """
    names = sorted({name for row in rows for name in row.params})
    measures = sorted({name for row in rows for name in row.measures})
    columns: dict[str, list[Cell]] = {
        "world": [row.world for row in rows],
        "code": [row.code for row in rows],
        "ticks": [row.ticks for row in rows],
        "seed": [row.seed for row in rows],
    }
    params = [row.params for row in rows]
    columns |= {f"param.{name}": [given.get(name) for given in params] for name in names}
    columns["digest"] = [row.digest for row in rows]
    columns["faults"] = [row.faults for row in rows]
    columns["error"] = [row.error for row in rows]
    return columns | {f"measure.{name}": [row.measures.get(name) for row in rows] for name in measures}


def write_csv(rows: Sequence[RunRow], path: Path) -> None:
    """Write rows as CSV: UTF-8, a line feed after each line, floats as ``repr`` has them, nothing for nothing."""
    columns = columns_of(rows)
    with _replacing(path) as beside, beside.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(map(_in_csv, column) for column in columns.values()), strict=True))


def _in_csv(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()  # as a command line takes it
    return repr(cell) if isinstance(cell, float) else str(cell)


def write_parquet(rows: Sequence[RunRow], path: Path) -> None:
    """Write rows as Parquet, for pandas, polars, DuckDB and their like: the columns are those of the CSV.

    Raises:
        MissingExtraError: the extra ``ensembles`` is not installed.
        EnsembleError: the file cannot be written.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise MissingExtraError("ensembles", error.name or "pyarrow") from error
    columns = {_in_utf8(name): _of_one_type(column) for name, column in columns_of(rows).items()}
    with _replacing(path) as beside:
        parquet.write_table(pyarrow.table(columns), beside)


def _in_utf8(text: str) -> str:
    """A text without lone surrogates, written as CSV has them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _of_one_type(column: Iterable[Cell]) -> list[Cell]:
    """A column that Parquet takes: of whole numbers, numbers, flags, or else texts."""
    cells = [_in_utf8(cell) if isinstance(cell, str) else cell for cell in column]
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float} and len(kinds) == 2:
        return [None if cell is None else float(cell) for cell in cells]
    is_long = kinds == {int} and any(cell is not None and abs(int(cell)) >= 2**63 for cell in cells)
    if len(kinds) > 1 or is_long:
        return [None if cell is None else _in_csv(cell) for cell in cells]
    return cells


def require_apart(store: Path, *tables: Path | None) -> None:
    """Refuse tables that would be written in place of the runs that they are made of.

    Raises:
        EnsembleError: one of them is the file of the runs.
    """
    for table in tables:
        if table is not None and os.path.realpath(table) == os.path.realpath(store):
            raise EnsembleError(str(table), "it is the file of the runs, and would be lost", "Name another table.")


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A path beside a file, to write to; what was written there is then the file, as a whole or not at all."""
    beside = path.with_name(f"{path.name}.new")
    try:
        try:
            yield beside
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise EnsembleError(str(path), f"it cannot be written: {error.strerror or error}", "Name another.") from error
