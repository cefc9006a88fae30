"""The command line: ``python -m benchmarks [--json FILE] [--repeats N] [--quick] [--all] [--strict] [--list]
[--instructions [--keep WORDS]] [--against REVISION] [NAME...]``.

The exit code says whether it ran, not whether it was fast: a target that is missed on a busy machine must not
stop a build. ``--strict`` is for whoever wants that; then a target that could not be judged counts as missed. A row
without a target is only shown, and counts as nothing.

Big rows (a hundred thousand agents) take minutes and gigabytes: they are measured when they are named, or with
``--all``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from benchmarks.compare import checked_out, compare_row, comparison
from benchmarks.harness import Row, RowResult, measure_row
from benchmarks.history import HISTORY, PICTURE, draw, keep
from benchmarks.instructions import count_row, counts, valgrind
from benchmarks.report import count_table, document, summary, table
from benchmarks.rows import ROWS

__all__ = ["main"]

_ROOT = Path(__file__).resolve().parent.parent
_REPEATS = 7
_QUICK_REPEATS = 2


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is less than 1")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure agentrt beside a limit written by hand and beside its peers, in one run and in turn.",
        epilog="Targets are ratios within a row. Those that are not met are shown as such; the exit code is 0 all the "
        "same, unless --strict is given. benchmarks/README.md tells what stands beside what.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="the rows to measure; without one all but the big ones"
    )
    parser.add_argument("--all", action="store_true", help="the big rows, too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures; - for stdout")
    parser.add_argument("--repeats", type=_positive, metavar="N", help=f"turns of each side; {_REPEATS} without it")
    parser.add_argument("--quick", action="store_true", help="little work: shows that it runs, hardly how fast")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a target is not met or not judged")
    parser.add_argument(
        "--instructions", action="store_true", help="count instructions with valgrind, of the rows of time; slow"
    )
    parser.add_argument("--keep", metavar="WORDS", help="with --instructions: add them to the history, as this step")
    parser.add_argument(
        "--against", metavar="REVISION", help="our side here and in another commit, or in a folder, in turn"
    )
    parser.add_argument("--list", action="store_true", help="say what the rows are, and measure nothing")
    return parser


def _choose(parser: argparse.ArgumentParser, names: Sequence[str], *, with_big: bool) -> list[Row]:
    known = {row.name: row for row in ROWS}
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"no row is called {', '.join(unknown)}; there are {', '.join(known)}")
    return [row for row in ROWS if row.name in names or (not names and (with_big or not row.is_big))]


def _measure(rows: Sequence[Row], repeats: int, *, quick: bool) -> list[RowResult]:
    results = []
    for row in rows:
        print(f"measuring {row.name}: {row.what}", file=sys.stderr, flush=True)
        results.append(measure_row(row, row.quick if quick else row.size, repeats))
    return results


HOT = ("wake", "think_ready", "think_event", "three_steps", "goal_selector", "behavior_tick")


def _count(parser: argparse.ArgumentParser, names: Sequence[str], step: str | None) -> int:
    if valgrind() is None:
        parser.error("--instructions needs valgrind (Debian: apt install valgrind)")
    rows = _choose(parser, names or HOT, with_big=False)
    without = [row.name for row in rows if not counts(row)]
    if without:
        parser.error(f"these measure no time, or none that grows with their rounds: {', '.join(without)}")
    counted = {}
    for row in rows:
        print(f"counting {row.name}: {row.what}", file=sys.stderr, flush=True)
        counted[row.name] = count_row(row, _ROOT)
    print(count_table(counted))
    if step is not None:
        keep(step, counted)
        draw()
        print(f"kept in {HISTORY.relative_to(_ROOT)}; drawn in {PICTURE.relative_to(_ROOT)}")
    return 0


def _compare(parser: argparse.ArgumentParser, asked: argparse.Namespace, repeats: int) -> int:
    results = []
    try:
        folder = Path(asked.against)
        with nullcontext(folder) if folder.is_dir() else checked_out(_ROOT, asked.against) as there:
            for row in _choose(parser, asked.names or HOT, with_big=False):
                print(f"measuring {row.name} here and in {asked.against}", file=sys.stderr, flush=True)
                results.append(compare_row(row, row.quick if asked.quick else row.size, _ROOT, there, repeats))
    except ValueError as error:
        parser.error(str(error))
    print(comparison(results, asked.against))
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the table and what is met, write the JSON document.

    Args:
        argv: the arguments; those of the process without it.

    Returns:
        The exit code.
    """
    parser = _parser()
    asked = parser.parse_args(argv)
    rows = _choose(parser, asked.names, with_big=asked.all or asked.list)
    if asked.list:
        width = max(len(row.name) for row in rows)
        print("\n".join(f"{row.name:<{width}}  {row.what}{' (big)' if row.is_big else ''}" for row in rows))
        return 0
    if asked.keep is not None and not asked.instructions:
        parser.error("--keep keeps what was counted: add --instructions")
    if asked.instructions:
        return _count(parser, asked.names, asked.keep)
    repeats = asked.repeats or (_QUICK_REPEATS if asked.quick else _REPEATS)
    if asked.against is not None:
        return _compare(parser, asked, repeats)
    results = _measure(rows, repeats, quick=asked.quick)
    on_stdout = asked.json is not None and str(asked.json) == "-"
    print(f"{table(results)}\n\n{summary(results)}", file=sys.stderr if on_stdout else sys.stdout)
    if asked.json is not None:
        text = json.dumps(document(results, repeats=repeats, quick=asked.quick, root=_ROOT), indent=2) + "\n"
        if on_stdout:
            print(text, end="")
        else:
            asked.json.write_text(text, encoding="utf-8")
    return 1 if asked.strict and not all(result.met for result in results if result.row.has_target) else 0
