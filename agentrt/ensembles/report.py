"""What an ensemble says: means and intervals of each measure, what a setting changes, a picture.

Runs of one world, code, setting and number of ticks are a *group*; its runs differ in their seeds alone, and are taken
for independent draws. Intervals are those of Student's t, at 95 %; they are of the mean, and tell nothing of one run.

The first group is what the others are compared with, in two ways: *unpaired* (Welch), and *paired* over equal seeds.
Equal seeds are no common random numbers here: where a parameter changes how much is drawn, the streams of two runs
part in that tick, and what they have in common is lost. So the correlation stands beside: the paired interval is worth
something where it is well above 0, and is wider than the other one where it is below. Which one is read is decided
before one looks; the narrower of the two is no interval.

Means and deviations need nothing else; intervals need SciPy, pictures Matplotlib: the extra ``ensembles``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from statistics import StatisticsError, correlation, fmean, stdev
from typing import TYPE_CHECKING, Final, NamedTuple

from agentrt.ensembles.store import LARGEST, RunRow, is_reckoned
from agentrt.errors import EnsembleError, MissingExtraError, did_you_mean
from agentrt.installed import how_to_add
from agentrt.words import counted, few

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONFIDENCE: Final = 0.95
ABOUT_PAIRS: Final = (
    "Equal seeds are no common random numbers: once a parameter changes how much is drawn, two runs draw otherwise.",
    "The paired interval is worth something where the correlation is well above 0.",
)
_MOST_VALUES = 6  # of a text that are told


class Summary(NamedTuple):
    """A measure in the runs of one group."""

    runs: int  # in which it is a number
    mean: float
    margin: float | None  # half of the interval of the mean; None for one run, or without SciPy
    deviation: float | None  # of the runs, around their mean; None for one run
    least: float
    most: float


class Contrast(NamedTuple):
    """A measure in one group, less what it is in the first one."""

    difference: float
    unpaired: float | None  # half of the interval of the difference; None for one run, or without SciPy
    pairs: int  # seeds that both have
    paired_difference: float | None
    paired: float | None  # half of its interval
    correlation: float | None  # over the pairs; None where one of them does not vary


class RunGroup(NamedTuple):
    """The runs of one world, code, setting and number of ticks, by seed."""

    about: dict[str, str]  # what it is, by the headings of its table: only what differs between groups
    rows: tuple[RunRow, ...]  # that have measures
    failed: tuple[RunRow, ...]  # that have none

    def values(self, measure: str) -> dict[int, float]:
        """The runs in which a measure is a number that is reckoned with, by seed."""
        found = {row.seed: row.measures.get(measure) for row in self.rows}
        return {seed: value for seed, value in found.items() if is_reckoned(value)}


class EnsembleReport:
    """What some rows say.

    Args:
        rows: of an ensemble.
        measures: which are wanted; none for all.

    Raises:
        EnsembleError: there is no such measure, or there are no rows.
    """

    def __init__(self, rows: Sequence[RunRow], measures: Sequence[str] = ()) -> None:
        if not rows:
            raise EnsembleError("the report", "there are no runs", "Carry some out: agentrt sweep.")
        self.groups: list[RunGroup] = _groups(rows)
        known = list(dict.fromkeys(name for row in rows for name in row.measures))
        for name in measures:
            if name not in known:
                told = f"{did_you_mean(name, known)} They are {few(known, 20)}.".strip() if known else "There are none."
                raise EnsembleError("the report", f"no run has a measure '{name}'", told)
        self.measures: list[str] = list(measures) or known

    def summary(self, group: RunGroup, measure: str) -> Summary | None:
        """A measure in a group; None if it is no number in any of its runs."""
        values = list(group.values(measure).values())
        if not values:
            return None
        deviation = stdev(values) if len(values) > 1 else None
        margin = None if deviation is None else _margin(deviation / math.sqrt(len(values)), len(values) - 1)
        return Summary(len(values), fmean(values), margin, deviation, min(values), max(values))

    def contrast(self, group: RunGroup, measure: str) -> Contrast | None:
        """A measure in a group, compared with the first group; None if one of them has none."""
        ours, first = group.values(measure), self.groups[0].values(measure)
        if not ours or not first:
            return None
        both = sorted(ours.keys() & first.keys())
        gaps = [ours[seed] - first[seed] for seed in both]
        paired = _margin(stdev(gaps) / math.sqrt(len(gaps)), len(gaps) - 1) if len(gaps) > 1 else None
        return Contrast(
            fmean(ours.values()) - fmean(first.values()),
            _welch(list(ours.values()), list(first.values())),
            len(both),
            fmean(gaps) if gaps else None,
            paired,
            _correlation([ours[seed] for seed in both], [first[seed] for seed in both]),
        )

    # --- in words -----------------------------------------------------------------------------------------------------

    def lines(self, *, contrasts: bool = True) -> Iterator[str]:
        """The report for people: a table for each measure, and one of what the settings change."""
        yield from self._heading()
        has_numbers = False
        for measure in self.measures:
            yield ""
            if any(group.values(measure) for group in self.groups):
                has_numbers = True
                yield from self._numbers(measure, contrasts)
            else:
                yield from self._texts(measure)
        if not self.measures:
            yield "This world measures nothing: give it a method measure, or SimpleWorld(..., measure=...)."
        if has_numbers and contrasts and len(self.groups) > 1:
            yield from ("", *ABOUT_PAIRS)
        if has_numbers and _quantile(1) is None:
            yield from ("", f"Intervals need the extra 'ensembles'. {how_to_add('ensembles', 'scipy')}")

    def _heading(self) -> Iterator[str]:
        runs = sum(len(group.rows) for group in self.groups)
        failed = [row for group in self.groups for row in group.failed]
        yield f"{counted(runs, 'run')} in {counted(len(self.groups), 'group')}, {len(failed)} failed"
        for row in failed[:_MOST_VALUES]:
            yield f"  failed: seed {row.seed}{_told(row.setting)}: {row.error}"
        if len(failed) > _MOST_VALUES:
            yield f"  and {len(failed) - _MOST_VALUES} more"
        for raised in [row for row in failed if row.traceback][:1]:
            yield f"  seed {raised.seed}{_told(raised.setting)}, in full:"
            yield from (f"    {line}" for line in raised.traceback.splitlines())
        faulty = [row for group in self.groups for row in group.rows if row.faults]
        if faulty:
            first = faulty[0]
            yield (
                f"  hooks raised in {counted(len(faulty), 'run')}: seed {first.seed}{_told(first.setting)} "
                f"has {counted(first.faults, 'fault')}"
            )

    def _numbers(self, measure: str, contrasts: bool) -> Iterator[str]:
        table = [[*self.groups[0].about, "runs", "mean", "± 95 %", "deviation", "least", "most"]]
        for group in self.groups:
            told = self.summary(group, measure)
            cells = ("0", *[""] * 5) if told is None else (str(told.runs), *map(number, told[1:]))
            table.append([*group.about.values(), *cells])
        yield f"{measure}:"
        yield from _aligned(table, len(self.groups[0].about))
        given = [row.measures.get(measure) for group in self.groups for row in group.rows]
        if beyond := sum(isinstance(value, int | float) and not is_reckoned(value) for value in given):
            yield f"  without {counted(beyond, 'run')} in which it is infinite, NaN or beyond {LARGEST:g}"
        if contrasts and len(self.groups) > 1:
            yield "less that of the first:"
            yield from _aligned(self._contrasts(measure), len(self.groups[0].about))

    def _contrasts(self, measure: str) -> list[list[str]]:
        heading = ("difference", "± unpaired", "pairs", "difference of pairs", "± paired", "correlation")
        table = [[*self.groups[0].about, *heading]]
        for group in self.groups[1:]:
            told = self.contrast(group, measure)
            cells = [""] * 6 if told is None else [str(one) if type(one) is int else number(one) for one in told]
            table.append([*group.about.values(), *cells])
        return table

    def _texts(self, measure: str) -> Iterator[str]:
        yield f"{measure}:"
        table = [[*self.groups[0].about, "how often"]]
        for group in self.groups:
            counts = Counter(str(row.measures[measure]) for row in group.rows if measure in row.measures)
            ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
            table.append([*group.about.values(), few([f"{text}: {count}" for text, count in ordered], _MOST_VALUES)])
        yield from _aligned(table, len(self.groups[0].about) + 1)

    # --- in pictures --------------------------------------------------------------------------------------------------

    def draw(self, folder: Path) -> list[Path]:
        """A picture of each measure that is a number, as SVG: every run, the means and their intervals.

        Args:
            folder: where they go; it is made.

        Returns:
            The files.

        Raises:
            MissingExtraError: the extra ``ensembles`` is not installed.
            EnsembleError: a file cannot be written.
        """
        try:
            from matplotlib import rc_context
            from matplotlib.figure import Figure
        except ModuleNotFoundError as error:
            raise MissingExtraError("ensembles", error.name or "matplotlib") from error
        made = []
        for measure in self.measures:
            if any(group.values(measure) for group in self.groups):
                path = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', measure)}.svg"
                figure = Figure(figsize=(6.4, 4.0), layout="constrained")
                self._draw_on(figure.add_subplot(), measure)
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                    with rc_context({"svg.hashsalt": "agentrt"}):  # equal rows give equal files
                        figure.savefig(path, metadata={"Date": None})
                except OSError as error:
                    raise EnsembleError(str(path), f"it cannot be written: {error}", "Name another folder.") from error
                made.append(path)
        return made

    def _draw_on(self, axes: Axes, measure: str) -> None:
        shown = [(group, told) for group in self.groups if (told := self.summary(group, measure)) is not None]
        places, labels = _places([group for group, _ in shown])
        for place, (group, _) in zip(places, shown, strict=True):
            values = list(group.values(measure).values())
            axes.plot([place] * len(values), values, ".", color="0.7", zorder=1)
        margins = [told.margin or 0.0 for _, told in shown]
        means = [told.mean for _, told in shown]
        axes.errorbar(places, means, margins, fmt="o" if labels else "o-", color="black", capsize=4, zorder=2)
        if labels:
            axes.set_xticks(places, labels)
        elif shown:
            axes.set_xlabel(next(iter(shown[0][0].about)))
        axes.set_title(f"{measure}: each run, the mean, and its interval of 95 %", fontsize="medium")


def _places(groups: Sequence[RunGroup]) -> tuple[list[float], list[str]]:
    """Where groups stand: at the value of the one number that differs, or side by side under what they are."""
    told = [list(group.about.values()) for group in groups]
    try:
        return ([float(value) for (value,) in told], []) if len(groups) > 1 else ([0.0], ["all"])
    except ValueError:
        return [float(place) for place in range(len(groups))], ["\n".join(values) for values in told]


# --- groups -----------------------------------------------------------------------------------------------------------


def _groups(rows: Sequence[RunRow]) -> list[RunGroup]:
    grouped: dict[tuple[str, str, int, str], list[RunRow]] = {}
    for row in rows:
        grouped.setdefault((row.world, row.code, row.ticks, row.setting), []).append(row)
    abouts = [_about(members[0]) for members in grouped.values()]
    names = list(dict.fromkeys(name for about in abouts for name in about))
    differing = [name for name in names if len({about.get(name) for about in abouts}) > 1]
    return [
        RunGroup(
            {name: about.get(name, "default") for name in differing},
            tuple(row for row in members if not row.error),
            tuple(row for row in members if row.error),
        )
        for about, members in zip(abouts, grouped.values(), strict=True)
    ]


def _about(row: RunRow) -> dict[str, str]:
    params = {name: value if isinstance(value, str) else repr(value) for name, value in row.params.items()}
    return {"world": row.world, "code": row.code, "ticks": str(row.ticks), **params}


def _told(setting: str) -> str:
    return "" if setting == "{}" else f", {setting}"


# --- figures ----------------------------------------------------------------------------------------------------------


@cache
def _quantile(degrees: float) -> float | None:
    """How many standard errors the interval reaches to each side; None without SciPy."""
    try:
        from scipy import special  # scipy.stats, which has the same, takes a second to import
    except ModuleNotFoundError:
        return None
    return float(special.stdtrit(degrees, (1 + CONFIDENCE) / 2))


def _margin(error: float, degrees: float) -> float | None:
    quantile = _quantile(degrees)
    return None if quantile is None else quantile * error


def _welch(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Half of the interval of the difference of two means, whose variances may differ."""
    if len(one) < 2 or len(other) < 2:
        return None
    shares = [stdev(values) ** 2 / len(values) for values in (one, other)]
    total = sum(shares)
    if total == 0:
        return _margin(0.0, len(one) + len(other) - 2)
    # Of their parts of the total and not of themselves, whose squares are 0 if they are very small.
    parts = sum((share / total) ** 2 / (len(values) - 1) for share, values in zip(shares, (one, other), strict=True))
    return _margin(math.sqrt(total), 1 / parts)


def _correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    if len(one) < 2 or len(set(one)) < 2 or len(set(other)) < 2:
        return None
    try:
        return correlation(one, other)
    except StatisticsError:  # they vary by so little that their squares do not
        return None


def number(value: float | None) -> str:
    """A figure of a report: four digits, and all before the point."""
    if value is None:
        return ""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"


def _aligned(table: Sequence[Sequence[str]], texts: int) -> Iterator[str]:
    """A table in columns, the first of which are set to the left."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [
            cell.ljust(width) if place < texts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"  {'  '.join(cells)}".rstrip()
