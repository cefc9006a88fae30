"""How many instructions a unit of work takes, counted by valgrind: a figure that the machine's mood does not change.

Each side is run twice in a process of its own, once with three times as many rounds as the other time; where a row has
no rounds, once without doing the work. What differs is the work alone: starting Python, importing and preparing are in
both, and are subtracted. The hash seed is fixed, because the order of a set decides how often a key is compared. The
same side counted again differs by less than 1 %.

Instructions are no seconds: a miss of the cache counts as nothing. They say whether a change made the way shorter.
Counting takes about fifty times as long as running, so it is done with the size of a quick run.

Rejected: perf's counters (not to be had in most containers); callgrind (the same total, twice as slow).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import Row, Size

__all__ = ["Counted", "count_row", "counts", "valgrind"]

ALONE = Path(__file__).with_name("alone.py")
TIMES = 3  # as many rounds in the longer run: enough to drown the noise of the allocator, and not yet minutes
_REFERENCES = re.compile(r"I\s+refs:\s+([\d,]+)")


@dataclass(frozen=True, slots=True)
class Counted:
    """How many instructions one unit of a side's work takes; or why that is not known."""

    label: str
    instructions: float | None
    absent: str | None = None


def valgrind() -> str | None:
    """Where valgrind is; None if it is not installed."""
    return shutil.which("valgrind")


def counts(row: Row) -> bool:
    """Whether a row's work can be counted: that of rows of time, whose units grow with the rounds."""
    return row.gauge == "seconds" and row.name not in ("importing",)


def count_row(row: Row, tree: Path) -> list[Counted]:
    """Count all sides of a row, ours first.

    Raises:
        RuntimeError: valgrind is not installed, or the work failed under it.
    """
    return [_count(row, number, side.label, tree) for number, side in enumerate(row.sides())]


def _count(row: Row, number: int, label: str, tree: Path) -> Counted:
    totals = []
    count, rounds = row.quick.count, row.quick.rounds
    sizes = (Size(count, 0), row.quick) if row.size.rounds == 1 else (row.quick, Size(count, rounds * TIMES))
    for size in sizes:
        found = _run(row.name, number, size, tree)
        if isinstance(found, str):
            return Counted(label, None, found)
        totals.append(found)
    (few, fewer_units), (many, units) = totals
    if many <= few:  # the watch over steps that hang looks at real time: on a busy machine a run under valgrind hangs
        return Counted(label, None, "the shorter run took more: the machine is too busy, count again")
    return Counted(label, (many - few) / (units - fewer_units))


def _run(name: str, side: int, size: Size, tree: Path) -> tuple[int, float] | str:
    tool = valgrind()
    if tool is None:
        raise RuntimeError("valgrind is not installed: it counts the instructions (Debian: apt install valgrind)")
    words = [str(ALONE), str(tree), name, str(side), str(size.count), str(size.rounds)]
    done = subprocess.run(
        [tool, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    total = _REFERENCES.search(done.stderr)
    if done.returncode or total is None:
        raise RuntimeError(f"{name} could not be counted:\n{done.stderr[-2000:]}")
    said = json.loads(done.stdout)
    return said["absent"] if "absent" in said else (int(total[1].replace(",", "")), said["units"])
