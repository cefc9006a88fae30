"""The results for people (a table and what is met) and for programs (a JSON document).

A row takes one line of the table for each of its peers, and at least one; a row of ticks takes one more, for the
worst tick. Each target has its verdict beside it. In the JSON document times are in seconds and memory is in bytes,
for one unit of work; a value that could not be measured is null.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import Gauge, Measured, RowResult
from benchmarks.instructions import Counted

__all__ = ["commit", "count_table", "document", "summary", "table"]

_HEADINGS = ("row", "ours", "limit", "ratio", "target", "met", "peer", "theirs", "peer ratio", "peer target", "met")
_TIMES = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
_SIZES = (("MiB", 1024.0**2), ("KiB", 1024.0), ("B", 1.0))
_NOTHING = "-"
_OF_MEDIAN = " median"


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


def _verdict(target: float | None, met: bool | None) -> str:
    return _NOTHING if target is None else "?" if met is None else "yes" if met else "NO"


def _most(target: float | None, of: str = "") -> str:
    return _NOTHING if target is None else f"<= {target:g} x{of}"


def _least(target: float | None) -> str:
    return _NOTHING if target is None else f">= {target:g} x"


def _lines(result: RowResult) -> list[tuple[str, ...]]:
    row, limit = result.row, result.limit
    own = (
        row.name,
        amount(result.ours.best, row.gauge),
        amount(None if limit is None else limit.best, row.gauge),
        times(result.ratio),
        _most(row.at_most_times),
        _verdict(row.at_most_times, result.limit_met),
    )
    peers = [
        (
            peer.label,
            peer.absent or amount(peer.best, row.gauge),
            times(ratio),
            _least(declared.at_least),
            _verdict(declared.at_least, met),
        )
        for declared, peer, ratio, met in zip(
            row.peers, result.peers, result.peer_ratios(), result.peers_met(), strict=True
        )
    ] or [(_NOTHING,) * 5]
    first, *more = peers
    lines = [(*own, *first), *(("",) * len(own) + peer for peer in more)]
    if row.gauge == "ticks":
        worst = (
            "  worst tick",
            amount(result.ours.worst, row.gauge),
            amount(None if limit is None else limit.worst, row.gauge),
            f"{times(result.worst_ratio)}{_OF_MEDIAN}",
            _most(row.worst_at_most_times, _OF_MEDIAN),
            _verdict(row.worst_at_most_times, result.worst_met),
        )
        lines.append(worst + ("",) * len(first))
    return lines


def table(results: Sequence[RowResult]) -> str:
    """The results as a table.

    Args:
        results: one for each row.

    Returns:
        Lines of text, headings first.
    """
    lines = [_HEADINGS, *(line for result in results for line in _lines(result))]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    left = {0, 5, 6, 10}
    texts = [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    texts.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(texts)


def count_table(counted: Mapping[str, Sequence[Counted]]) -> str:
    """Instructions for a unit of work, and each side as a multiple of ours.

    Args:
        counted: the sides of each row, ours first.

    Returns:
        Lines of text, headings first.
    """
    lines = [f"{'row':<22} {'side':<22} {'instructions':>12}  of ours"]
    for name, sides in counted.items():
        ours = sides[0].instructions
        for side in sides:
            told = side.absent or f"{side.instructions:>12,.0f}  {times(_share(side.instructions, ours)):>7}"
            lines.append(f"{name:<22} {side.label:<22} {told}")
            name = ""  # once is enough
    return "\n".join(lines)


def _share(part: float | None, of: float | None) -> float | None:
    return None if part is None or not of else part / of


def _misses(result: RowResult) -> list[str]:
    row = result.row
    found = []
    if result.limit_met is False and result.limit is not None:
        found.append(f"{times(result.ratio)} of {result.limit.label}, target {_most(row.at_most_times)}")
    if result.worst_met is False:
        found.append(f"worst tick {times(result.worst_ratio)} of the median, target {_most(row.worst_at_most_times)}")
    for declared, ratio, met in zip(row.peers, result.peer_ratios(), result.peers_met(), strict=True):
        if met is False:
            found.append(f"{declared.side.label} takes {times(ratio)} of ours, target {_least(declared.at_least)}")
    return found


def summary(results: Sequence[RowResult]) -> str:
    """How many rows meet their targets, and each target that is not met, in words.

    Args:
        results: one for each row.

    Returns:
        Lines of text.
    """
    aimed = [result for result in results if result.row.has_target]
    missed = [result for result in aimed if result.met is False]
    unknown = [result.row.name for result in aimed if result.met is None]
    lines = [f"{len(aimed) - len(missed) - len(unknown)} of {len(aimed)} rows with a target meet it"]
    lines += [f"not met: {result.row.name}: {miss}" for result in missed for miss in _misses(result)]
    lines += [f"not judged: {name}: a side is missing" for name in unknown]
    return "\n".join(lines)


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
    return {
        "label": measured.label,
        "best": measured.best,
        "turns": measured.turns,
        "worst": measured.worst,
        "absent": measured.absent,
    }


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
        "limit_met": result.limit_met,
        "worst_ratio": result.worst_ratio,
        "worst_at_most_times": row.worst_at_most_times,
        "worst_met": result.worst_met,
        "peers": [
            {**_side(peer), "ratio": ratio, "at_least": declared.at_least, "met": met}
            for declared, peer, ratio, met in zip(
                row.peers, result.peers, result.peer_ratios(), result.peers_met(), strict=True
            )
        ],
        "met": result.met,
    }
