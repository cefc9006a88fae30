"""Two commits, in turn: what a change makes of our side of some rows.

The other commit is checked out into a temporary folder and measured there, with the same interpreter and the same
installed libraries, each turn in a process of its own (``alone.py``). The order changes with each turn, so that neither
always runs on the cache that the other left. Two figures are told, because either can mislead: the ratio of the best
turns (noise only adds), and the median of the ratios of neighbors (the machine may become slower while it is measured).
A difference is one when both say so.

Rejected: both trees in one process (modules have one name); comparing with figures kept from another day.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.harness import Row, Size
from benchmarks.instructions import ALONE

__all__ = ["Compared", "checked_out", "compare_row", "comparison"]


@dataclass(frozen=True, slots=True)
class Compared:
    """What our side of a row took in this tree and in the other one: seconds for a unit, turn by turn.

    ``absent`` says why there is nothing to compare, such as a row that the other commit does not have.
    """

    name: str
    here: Sequence[float] = ()
    there: Sequence[float] = ()
    absent: str | None = None

    @property
    def best(self) -> float:
        """How many times as long it takes here, by the best turns."""
        return min(self.here) / min(self.there)

    @property
    def middle(self) -> float:
        """The same by the median of what neighboring turns say."""
        return median(one / other for one, other in zip(self.here, self.there, strict=True))


@contextmanager
def checked_out(root: Path, revision: str) -> Iterator[Path]:
    """The tree of another commit, in a folder that goes again.

    Raises:
        ValueError: there is no such commit.
    """
    with tempfile.TemporaryDirectory(prefix="agentrt-compare-") as folder:
        tree = Path(folder, "tree")
        added = _git(root, "worktree", "add", "--detach", str(tree), revision)
        if added.returncode:
            raise ValueError(f"{revision!r} cannot be checked out: {added.stderr.strip()}")
        try:
            yield tree
        finally:
            _git(root, "worktree", "remove", "--force", str(tree))


def _git(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)


def compare_row(row: Row, size: Size, here: Path, there: Path, turns: int) -> Compared:
    """Measure our side of a row in both trees, in turn."""
    took: dict[Path, list[float]] = {here: [], there: []}
    for turn in range(turns):
        for tree in (here, there) if turn % 2 else (there, here):
            seconds = _measure(row.name, size, tree)
            if isinstance(seconds, str):
                return Compared(row.name, absent=seconds)
            took[tree].append(seconds)
    return Compared(row.name, took[here], took[there])


def _measure(name: str, size: Size, tree: Path) -> float | str:
    """Seconds for a unit; or why there are none."""
    done = subprocess.run(
        [sys.executable, str(ALONE), ".", name, "0", str(size.count), str(size.rounds)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tree,  # what it starts imports from there, too
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    if done.returncode:
        return f"it failed in {tree.name}: {done.stderr.strip().splitlines()[-1]}"
    said = json.loads(done.stdout)
    return str(said["absent"]) if "absent" in said else float(said["seconds"] / said["units"])


def comparison(results: Sequence[Compared], revision: str) -> str:
    """The results as a table: below 1 the tree of now is faster."""
    lines = [f"{'row':<22} best turns  median   of {revision}"]
    for result in results:
        told = result.absent or f"{result.best:>8.3f} x {result.middle:>6.3f} x"
        lines.append(f"{result.name:<22} {told}")
    return "\n".join(lines)
