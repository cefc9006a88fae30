"""The file of a recording: which tables there are, and how a file is opened that anybody may have made.

Tables:

* ``meta``      what the recording is of: key, JSON.
* ``ticks``     each tick that was committed: how many records it has, and the digest of all records up to its end.
* ``traces``    the records of each tick. Runs repeat themselves: most records differ from an earlier one in their
  tick only. So a *segment* of ticks has a list of distinct lines (agent, path, event, detail), and a tick has the
  numbers of its lines. A segment can be read, and dropped, by itself.
* ``inputs``    what came in from outside, with the place in the intake.
* ``agents``    who was there, from which tick to which.
* ``views``     snapshots of agents: whole ones, and what changed since the one before; drawings of the world are those
  of agent 0, whom nobody is.
* ``outlines``, ``drawings``  the trees that agents have, and which agent has which.

* ``saves``     of what the world was rebuilt, after which tick; only in a recording of which a world was (``SAVES``).

A file from somebody else is hostile until it was looked at. SQLite runs what stands in a schema (views, triggers,
virtual tables), so the schema has to be the one below, word by word, before anything is selected. Lengths are bounded
by SQLite itself. Another schema number is refused: there is one so far.

A file has one writer, and who that is says SQLite's own lock: whoever writes is always in a transaction that may write,
from one commit to the next. So nobody goes on with a file that a living process still writes, and a process that was
killed holds no lock. Readers are not kept out by it. A file is made in one transaction, that of its header, so that who
is killed meanwhile leaves an empty one; only then it gets its log (WAL).

Rejected: a row for each record (three times the time to write and five times the file, and what is asked for is mostly
a range of ticks); pickle, marshal (they run code or crash).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path
from typing import Literal, TypeAlias, TypeGuard

from agentrt.errors import RecordingError

APPLICATION_ID = 0x61677274  # "agrt"
SCHEMA = 1
NOBODY = 0  # the agent that drawings of the world stand under: a recorder's agents are numbered from 1
THINNED = 1000  # of the ticks whose trace was dropped, each so many-th keeps its digest

_LONGEST = 64 * 1024 * 1024  # bytes of one value of a row
_READER_WAIT = 2.0  # seconds for which a locked file is waited for
_WRITER_WAIT = 0.5  # the run stands still meanwhile
_LOG_PAGES = 1000  # of the log beside the file, before it is taken up; SQLite's own number
# Seconds between knocking at a file that somebody may still write: between two of its transactions the lock is free for
# some microseconds, and nobody is in that gap three times.
_KNOCKS = (0.05, 0.05, 0.0)

Durability: TypeAlias = Literal["process", "power"]
"""What a commit survives: the end of the process, or also that of the machine, for which it waits for the disk."""

DURABILITIES: tuple[Durability, ...] = ("process", "power")

_TABLES = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "ticks": "CREATE TABLE ticks (tick INTEGER PRIMARY KEY, records INTEGER NOT NULL, digest BLOB NOT NULL)",
    "traces": (
        "CREATE TABLE traces (tick INTEGER PRIMARY KEY, segment INTEGER NOT NULL, lines BLOB, numbers BLOB NOT NULL)"
    ),
    "inputs": (
        "CREATE TABLE inputs (tick INTEGER, place INTEGER, nth INTEGER, kind TEXT NOT NULL, number INTEGER NOT NULL, "
        "name NOT NULL, value TEXT NOT NULL, PRIMARY KEY (tick, place, nth)) WITHOUT ROWID"
    ),
    "agents": "CREATE TABLE agents (id INTEGER PRIMARY KEY, name NOT NULL, first INTEGER NOT NULL, last INTEGER)",
    "views": (
        "CREATE TABLE views (agent INTEGER, tick INTEGER, whole INTEGER NOT NULL, data BLOB NOT NULL, "
        "PRIMARY KEY (agent, tick)) WITHOUT ROWID"
    ),
    "outlines": "CREATE TABLE outlines (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    "drawings": (
        "CREATE TABLE drawings (agent INTEGER, driver TEXT, tick INTEGER, outline INTEGER NOT NULL, "
        "PRIMARY KEY (agent, driver, tick)) WITHOUT ROWID"
    ),
}

_SAVES = "CREATE TABLE saves (tick INTEGER PRIMARY KEY, save TEXT NOT NULL)"
SAVES = _SAVES.replace("TABLE", "TABLE IF NOT EXISTS")  # which SQLite keeps without these words


def is_number(value: object, least: int) -> TypeGuard[int]:
    """Whether something is a whole number of at least so much."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def name_in(name: str) -> str | bytes:
    """A name as SQLite takes it: text, or bytes if it is no proper text (half of a surrogate pair)."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogatepass")
    return name


def name_out(name: object) -> str:
    if not isinstance(name, bytes):
        return str(name)
    try:
        return name.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # nobody wrote this
        return name.decode("utf-8", "replace")


def connect_writer(path: Path, max_bytes: int | None, durability: Durability) -> sqlite3.Connection:
    """Make a new recording, and begin; ``RecordingError`` if there is something at that path, or it cannot be made.

    It is there with the first commit, after which ``begin_log`` is to be called.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))  # never into what is somebody's
        if durability == "power":
            _sync_folder(path.parent)
    except FileExistsError:
        raise RecordingError(str(path), "there is a file already", "Choose another name, or move it away.") from None
    except (OSError, ValueError) as error:
        raise RecordingError(str(path), f"it cannot be made: {error}") from None
    connection: sqlite3.Connection | None = None
    try:
        # The runtime may be driven on another thread than the one that began to record; see Recorder.
        connection = sqlite3.connect(path, timeout=_WRITER_WAIT, isolation_level=None, check_same_thread=False)
        _set_durability(connection, durability)
        if max_bytes is not None:
            pages = max_bytes // connection.execute("PRAGMA page_size").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count={pages}")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={SCHEMA}")
        for statement in _TABLES.values():
            connection.execute(statement)
    except BaseException as error:
        discard(connection, path)
        if isinstance(error, (sqlite3.Error, OSError)):
            raise RecordingError(str(path), f"it cannot be written: {error}") from None
        raise
    return connection


def begin_log(connection: sqlite3.Connection, max_bytes: int | None, durability: Durability) -> None:
    """Between two transactions of a writer: from here on each commit is appended to a log beside the file."""
    connection.execute("PRAGMA journal_mode=WAL")
    _set_durability(connection, durability)
    if max_bytes is not None:
        pages = max_bytes // connection.execute("PRAGMA page_size").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")
        # The log counts, too: it is taken up early, and is not left as long as it once was.
        connection.execute(f"PRAGMA wal_autocheckpoint={min(max(pages // 8, 16), _LOG_PAGES)}")
        connection.execute(f"PRAGMA journal_size_limit={max_bytes // 8}")


def _set_durability(connection: sqlite3.Connection, durability: Durability) -> None:
    # NORMAL does not wait for the disk when a commit is appended to the log: it survives the process, not the machine.
    is_power = durability == "power"
    connection.execute(f"PRAGMA synchronous={'FULL' if is_power else 'NORMAL'}")
    connection.execute(f"PRAGMA fullfsync={int(is_power)}")  # where the system's own word for it waits for less


def _sync_folder(folder: Path) -> None:
    """Have the name of a new file on the disk, where a folder can be opened at all."""
    with contextlib.suppress(PermissionError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def connect_appender(path: Path) -> sqlite3.Connection:
    """Open a recording that anybody may have made to go on with it, and keep all others from writing it.

    Nothing is changed by that. ``RecordingError`` if it is none, or somebody writes it.
    """
    connection: sqlite3.Connection | None = None
    try:
        if not path.is_file():
            raise RecordingError(str(path), "there is no such file")
        address = path.absolute().as_uri()
        connection = sqlite3.connect(
            f"{address}?mode=rw", uri=True, timeout=_READER_WAIT, isolation_level=None, check_same_thread=False
        )
        _distrust(connection)
        if _number(connection, "page_count") == 0:
            raise RecordingError(str(path), NOTHING_YET, "Take it away, and record anew.")
        _check(connection, path)
        connection.execute("PRAGMA busy_timeout=0")
        for pause in _KNOCKS:
            connection.execute("BEGIN IMMEDIATE")
            if pause:
                connection.execute("ROLLBACK")
                time.sleep(pause)
        connection.execute(f"PRAGMA busy_timeout={int(_WRITER_WAIT * 1000)}")
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise RecordingError(
                str(path), STILL_WRITTEN, "End whoever does, or look at it: agentrt inspect FILE."
            ) from None
        if isinstance(error, (sqlite3.Error, OSError, ValueError, OverflowError)):
            raise RecordingError(str(path), f"it is no recording that can be gone on with: {error}") from None
        raise
    return connection


STILL_WRITTEN = "somebody is still writing it"
"""What is wrong with a file that has a recorder."""

NOTHING_YET = "nothing was recorded in it yet"
"""What is wrong with a file whose recorder was killed before it had a header."""


def discard(connection: sqlite3.Connection | None, path: Path) -> None:
    """Take away a file of which nothing can be read yet, so that its name is free again."""
    with contextlib.suppress(sqlite3.Error, OSError):
        if connection is not None:
            connection.close()
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(OSError):
            path.with_name(path.name + suffix).unlink()


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open a recording that anybody may have made; ``RecordingError`` if it is none that can be read here."""
    connection: sqlite3.Connection | None = None
    try:
        if not path.is_file():
            raise RecordingError(str(path), "there is no such file")
        connection = _connect(path)
        _distrust(connection)
        connection.execute("PRAGMA query_only=ON")
        _check(connection, path)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_ROLLBACK:
            # Not here: what lies beside the file may be of somebody else as well, and SQLite writes what it says.
            raise RecordingError(
                str(path),
                "whoever wrote it was killed while its log was taken up, and it has to be put in order first",
                "Go on with it, which does so: agentrt resume FILE.",
            ) from None
        if isinstance(error, (sqlite3.Error, OSError, ValueError, OverflowError)):
            raise RecordingError(str(path), f"it is no recording that can be read: {error}") from None
        raise
    return connection


def _distrust(connection: sqlite3.Connection) -> None:
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    # No memory map: a file that somebody shortens while it is mapped ends the process, and is no error to catch.
    for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0"):
        connection.execute(f"PRAGMA {pragma}")


def _connect(path: Path) -> sqlite3.Connection:
    """For reading only. Where nothing may be written beside the file, as it is: nobody can be writing to it."""
    address = path.absolute().as_uri()
    connection = sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=_READER_WAIT, check_same_thread=False)
    try:
        connection.execute("PRAGMA user_version").fetchone()  # SQLite opens a file when it first reads from it
    except sqlite3.Error as error:
        connection.close()
        is_closed_off = isinstance(error, sqlite3.OperationalError) and not os.access(path.parent, os.W_OK)
        if not (is_closed_off and os.access(path, os.R_OK)):
            raise
        connection = sqlite3.connect(f"{address}?immutable=1", uri=True, check_same_thread=False)
    return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what is no recording. These pragmas and ``sqlite_master`` run nothing that the file brings along."""
    if _number(connection, "application_id") != APPLICATION_ID:
        raise RecordingError(str(path), "it is a SQLite database, but no recording")
    schema = _number(connection, "user_version")
    if schema != SCHEMA:
        raise RecordingError(
            str(path),
            f"its schema is number {schema}, and this agentrt reads number {SCHEMA}",
            "Read it with the version of agentrt that wrote it.",
        )
    found = dict(connection.execute("SELECT name, sql FROM sqlite_master"))
    for name, statement in _TABLES.items():
        if found.pop(name, None) != statement:
            raise RecordingError(str(path), f"its table {name!r} is not what it has to be")
    if found.pop("saves", _SAVES) != _SAVES:
        raise RecordingError(str(path), "its table 'saves' is not what it has to be")
    if found:
        raise RecordingError(str(path), f"it has what no recording has: {str(min(map(str, found)))[:80]!r}")


def _number(connection: sqlite3.Connection, pragma: str) -> object:
    return connection.execute(f"PRAGMA {pragma}").fetchone()[0]
