"""The results for people (a table) and for programs (a JSON document).

A row takes one line of the table for each of its peers, and at least one. In the JSON document times are in
seconds and memory is in bytes, for one unit of work; a value that could not be measured is null.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import Gauge, Measured, RowResult

__all__ = ["commit", "document", "table"]

_HEADINGS = ("row", "ours", "limit", "ratio", "target", "peer", "theirs", "peer ratio", "peer target", "met")
_TIMES = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
_SIZES = (("MiB", 1024.0**2), ("KiB", 1024.0), ("B", 1.0))
_NOTHING = "-"


def amount(value: float | None, gauge: Gauge) -> str:
    """A measured value with its unit, such as ``137 ns``."""
    if value is None:
        return _NOTHING
    units = _SIZES if gauge == "bytes" else _TIMES
    unit, worth = next((pair for pair in units if abs(value) >= pair[1]), units[-1])
    return f"{_digits(value / worth)} {unit}"


def times(value: float | None) -> str:
    """A ratio, such as ``1.52 x``."""
    return _NOTHING if value is None else f"{_digits(value)} x"


def _digits(value: float) -> str:
    """Three significant digits, but never fewer than the integer has."""
    decimals = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{decimals}f}"


def _target(result: RowResult) -> str:
    row = result.row
    targets = []
    if row.at_most_times is not None:
        targets.append(f"<= {row.at_most_times:g} x")
    if row.at_most is not None:
        targets.append(f"<= {amount(row.at_most, row.gauge)}")
    return ", ".join(targets) or _NOTHING


def _verdict(met: bool | None) -> str:
    return "?" if met is None else "yes" if met else "NO"


def _lines(result: RowResult) -> list[tuple[str, ...]]:
    gauge = result.row.gauge
    limit = None if result.limit is None else result.limit.best
    own = (
        result.row.name,
        amount(result.ours.best, gauge),
        amount(limit, gauge),
        times(result.ratio),
        _target(result),
    )
    peers = [
        (
            peer.label,
            peer.absent or amount(peer.best, gauge),
            times(ratio),
            _NOTHING if declared.at_least is None else f">= {declared.at_least:g} x",
        )
        for declared, peer, ratio in zip(result.row.peers, result.peers, result.peer_ratios(), strict=True)
    ] or [(_NOTHING,) * 4]
    first, *more = peers
    return [(*own, *first, _verdict(result.met)), *(("",) * len(own) + peer + ("",) for peer in more)]


def table(results: Sequence[RowResult]) -> str:
    """The results as a table.

    Args:
        results: one for each row.

    Returns:
        Lines of text, headings first.
    """
    lines = [_HEADINGS, *(line for result in results for line in _lines(result))]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    left = {0, 5, 9}
    texts = [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    texts.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(texts)


def commit(root: Path) -> str | None:
    """The commit that is checked out, with ``+`` if files differ from it; None without git."""
    git = shutil.which("git")
    if git is None:
        return None

    def ask(*words: str) -> str | None:
        done = subprocess.run([git, "-C", str(root), *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    head = ask("rev-parse", "--verify", "--quiet", "HEAD")
    return head + "+" if head and ask("status", "--porcelain") else head or None


def document(results: Sequence[RowResult], *, repeats: int, quick: bool, root: Path) -> dict[str, Any]:
    """The results as a JSON document.

    Args:
        results: one for each row.
        repeats: how many turns were asked for.
        quick: whether it was a quick run.
        root: the folder of the project.

    Returns:
        What ``json.dumps`` takes.
    """
    return {
        "python": sys.version,
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "commit": commit(root),
        "quick": quick,
        "repeats": repeats,
        "rows": [_row(result) for result in results],
    }


def _side(measured: Measured) -> dict[str, Any]:
    return {"label": measured.label, "best": measured.best, "turns": measured.turns, "absent": measured.absent}


def _row(result: RowResult) -> dict[str, Any]:
    row = result.row
    return {
        "name": row.name,
        "what": row.what,
        "gauge": row.gauge,
        "count": result.size.count,
        "rounds": result.size.rounds,
        "ours": _side(result.ours),
        "limit": None if result.limit is None else _side(result.limit),
        "ratio": result.ratio,
        "at_most_times": row.at_most_times,
        "at_most": row.at_most,
        "peers": [
            {**_side(peer), "ratio": ratio, "at_least": declared.at_least}
            for declared, peer, ratio in zip(row.peers, result.peers, result.peer_ratios(), strict=True)
        ],
        "met": result.met,
    }
