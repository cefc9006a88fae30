"""What a process leaves behind that is killed while it records, and what two recordings have to have in common."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

_TABLES = ("ticks", "traces", "inputs", "agents", "views", "outlines", "drawings", "saves", "meta")


def tables(path):
    """All that a recording holds, but for what tells of one file from the other; saves, if it has any."""
    with closing(sqlite3.connect(path)) as connection:
        there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert there >= {*_TABLES} - {"saves"}
        found = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in _TABLES if table in there}
    found["meta"] = [(key, value) for key, value in found["meta"] if key not in ("created", "run", "resumed")]
    return found


def crash(path, to):
    """What a process leaves behind that is killed now."""
    for end in ("", "-wal"):
        shutil.copyfile(f"{path}{end}", f"{to}{end}")
    return to
