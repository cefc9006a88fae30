"""The figures of many episodes: success rates, the score, where the time went; and how they are shown.

The score is the published one (Hafner 2021, "Benchmarking the Spectrum of Agent Capabilities", arXiv:2109.06780): the
geometric mean of the success rates of all 22 achievements, with an offset of one percent so that one that was never
achieved does not make it zero. A success rate is the share of the episodes in which the game counted an achievement at
least once. So what is rare counts for more: from 0 to 2 % is worth more than from 50 to 100 %.

Rules:

* All figures come from the set of records alone, whatever the order in which they came in: the digest goes by seeds,
  and what is added up is whole numbers, or seconds by a sum that is exact until it is rounded.
* Each record counts, and one of an episode that failed counts as it is.

The published scores are those of the scoreboard in the game's own README, with the papers that it names.
"""

from __future__ import annotations

import hashlib
import math
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any, Final

import rich.box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import agentrt
from agentrt.words import printable
from examples.crafter.game import Spent
from examples.crafter.record import Record
from examples.crafter.rules import ACHIEVEMENTS
from examples.crafter.thoughts import Thinking

__all__ = ["PUBLISHED", "Summary", "combined_digest", "score", "show", "success_rates", "versions", "write_markdown"]

PUBLISHED: Final[tuple[tuple[str, float, str], ...]] = (
    ("random", 1.6, "Hafner 2021, arXiv:2109.06780"),
    ("PPO", 4.6, "Hafner 2021, arXiv:2109.06780"),
    ("DreamerV3", 14.5, "Hafner et al. 2023, arXiv:2301.04104v1"),
    ("SPRING, a language model", 27.3, "Wu et al. 2023, arXiv:2305.15486"),
    ("human experts", 50.5, "Hafner 2021, arXiv:2109.06780"),
)
"""Who, the score in percent, and where it was published. Source: github.com/danijar/crafter, its scoreboards."""

_OURS: Final = "this example"
_RULES, _THOUGHTS = "rules alone", "with thoughts"
_BAR: Final = 20  # characters for 100 %


def success_rates(records: Sequence[Record]) -> dict[str, float]:
    """In how many percent of the episodes each achievement was achieved, in the published order.

    Args:
        records: of at least one episode.
    """
    return {name: 100.0 * sum(name in record.achieved for record in records) / len(records) for name in ACHIEVEMENTS}


def score(rates: Iterable[float]) -> float:
    """The score of success rates, in percent.

    Args:
        rates: each from 0 to 100.

    Source: Hafner 2021, "Benchmarking the Spectrum of Agent Capabilities", section on evaluation.
    """
    logs = [math.log(1.0 + rate) for rate in rates]
    return math.exp(math.fsum(logs) / len(logs)) - 1.0


def combined_digest(records: Iterable[Record]) -> str:
    """What happened in all episodes, in 32 hexadecimal digits: equal seeds and lengths, equal digests.

    Args:
        records: in any order.
    """
    made = hashlib.blake2b(digest_size=16)
    for record in sorted(records, key=lambda record: record.seed):
        made.update(f"{record.seed} {record.digest} {record.error}\n".encode())
    return made.hexdigest()


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of some episodes.

    Attributes:
        episodes: how many they are.
        length: how long one is at most, in steps.
        rates: the success rate of each achievement, in percent.
        score: the score, in percent.
        achievements: how many different ones an episode has, on average.
        mean_length: of an episode, in steps.
        died: in how many the player died.
        fates: how they ended, and how many of them, the most frequent first.
        failed: how many were ended by an error.
        faults: how often something in the mind raised and the runtime went on.
        steps: of all episodes.
        spent: the time for all of them, in seconds; on several cores more than passed.
        digest: what happened in all of them.
        thinking: what the thoughts of all of them have cost; None if they had rules alone.
    """

    episodes: int
    length: int
    rates: dict[str, float]
    score: float
    achievements: float
    mean_length: float
    died: int
    fates: dict[str, int]
    failed: int
    faults: int
    steps: int
    spent: Spent
    digest: str
    thinking: Thinking | None = None

    @classmethod
    def of(cls, records: Iterable[Record], length: int) -> Summary:
        """The figures of some episodes.

        Args:
            records: of at least one, in any order.
            length: how long one is at most, in steps.
        """
        known = list(records)
        count, steps, rates = len(known), sum(record.steps for record in known), success_rates(known)
        times = [record.spent for record in known]
        return cls(
            episodes=count,
            length=length,
            rates=rates,
            score=score(rates.values()),
            achievements=sum(len(record.achieved) for record in known) / count,
            mean_length=steps / count,
            died=sum(record.died for record in known),
            fates=_counted(record.fate for record in known),
            failed=sum(bool(record.error) for record in known),
            faults=sum(record.faults for record in known),
            steps=steps,
            spent=Spent(
                world=math.fsum(time.world for time in times),
                game=math.fsum(time.game for time in times),
                eyes=math.fsum(time.eyes for time in times),
                mind=math.fsum(time.mind for time in times),
            ),
            digest=combined_digest(known),
            thinking=_summed(known),
        )

    @property
    def decisions_per_second(self) -> float:
        """How many steps eyes and mind could play in a second if the game took no time."""
        ours = self.spent.eyes + self.spent.mind
        return self.steps / ours if ours else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        made = asdict(self)
        made["spent"] = {name: round(seconds, 3) for name, seconds in made["spent"].items()}
        made["decisions_per_second"] = round(self.decisions_per_second, 1)
        made["share"] = round(self.spent.share, 4)
        if self.thinking is None:
            del made["thinking"]
        return made


def _summed(records: Iterable[Record]) -> Thinking | None:
    had = [record.thinking for record in records if record.thinking is not None]
    return sum(had, Thinking()) if had else None


def _counted(words: Iterable[str]) -> dict[str, int]:
    counts = Counter(words)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def versions() -> dict[str, str]:
    """What it was played with."""
    return {
        "python": platform.python_version(),
        "agentrt": agentrt.__version__,
        **{name: version(name) for name in ("crafter", "numpy", "tcod")},
    }


# --- showing ----------------------------------------------------------------------------------------------------------


def _sides(summary: Summary, rival: Summary | None) -> list[tuple[str, Summary]]:
    """What there is to show: one agent, or the same on the same seeds without thoughts and with them."""
    if rival is None:
        return [(_OURS, summary)]
    return [(_RULES, summary), (_THOUGHTS, rival)]


def _standings(sides: Sequence[tuple[str, Summary]]) -> list[tuple[str, str, str]]:
    """The published scores and ours, from the lowest to the highest."""
    ours = [(_named(name), one.score, f"{one.episodes} episodes, {one.length:,} steps at most") for name, one in sides]
    rows = [*PUBLISHED, *ours]
    return [(name, f"{value:.1f} %", source) for name, value, source in sorted(rows, key=lambda row: row[1])]


def _named(side: str) -> str:
    return side if side == _OURS else f"{_OURS}, {side}"


def _figures(summary: Summary) -> dict[str, str]:
    spent = summary.spent
    return {
        "score": f"{summary.score:.1f} %",
        "achievements": f"{summary.achievements:.1f} of {len(ACHIEVEMENTS)} in an episode",
        "mean length": f"{summary.mean_length:,.0f} steps",
        "died": f"{summary.died} of {summary.episodes}",
        "ends": "; ".join(f"{fate}: {count}" for fate, count in summary.fates.items()),
        "failed": f"{summary.failed} of {summary.episodes}; faults in the mind: {summary.faults}",
        "decisions": f"{summary.decisions_per_second:,.0f} in a second of eyes and mind",
        "ours": f"{100 * spent.share:.1f} % of the time: eyes {spent.eyes:,.1f} s, mind {spent.mind:,.1f} s",
        "the game's": f"making worlds {spent.world:,.1f} s, steps {spent.game:,.1f} s",
        **_costs(summary),
        "digest": summary.digest,
    }


def _costs(summary: Summary) -> dict[str, str]:
    """What its thoughts have cost, in an episode and for each decision that came of them."""
    thinking = summary.thinking
    if thinking is None:
        return {}
    taken = thinking.decisions

    def each(number: float, form: str, by_decision: str) -> str:
        told = f"{number / summary.episodes:{form}} in an episode"
        return f"{told}, {number / taken:{by_decision}} for a decision" if taken else told

    made = {
        "thoughts": f"{taken / summary.episodes:,.1f} decisions in an episode, {taken:,} in all",
        "calls": each(thinking.calls, ",.1f", ",.2f"),
        "tokens read": each(thinking.read, ",.0f", ",.0f"),
        "tokens written": each(thinking.written, ",.0f", ",.0f"),
    }
    if thinking.money:
        made["cost"] = each(thinking.money, ".4f", ".5f")
    return made


def _figure_rows(sides: Sequence[tuple[str, Summary]]) -> list[tuple[str, ...]]:
    figures = [_figures(one) for _, one in sides]
    names = max(figures, key=len)  # who has no thoughts has fewer
    return [(name, *(one.get(name, "none") for one in figures)) for name in names]


def show(summary: Summary, title: str, console: Console, rival: Summary | None = None) -> None:
    """Print the figures as tables for a terminal.

    Args:
        summary: the figures.
        title: what was played.
        console: where to.
        rival: those of the same with thoughts, beside it.
    """
    sides = _sides(summary, rival)
    rates = Table("achievement", box=rich.box.SIMPLE_HEAD, title=Text(printable(title)), title_justify="left",
                  title_style="bold")  # fmt: skip
    for name, _ in sides:
        rates.add_column("")
        rates.add_column("success rate" if rival is None else name, justify="right")
    for name in ACHIEVEMENTS:
        cells = [(one.rates[name], "█" * round(_BAR * one.rates[name] / 100)) for _, one in sides]
        rates.add_row(name, *(cell for rate, bar in cells for cell in (bar, f"{rate:.1f} %")))
    figures = Table(box=None, show_header=rival is not None, pad_edge=False, padding=(0, 2))
    for name in ("", *(name for name, _ in sides)):
        figures.add_column(name, overflow="fold")
    for row in _figure_rows(sides):
        figures.add_row(*(Text(printable(cell)) for cell in row))  # a fate is no markup
    standings = Table("who", box=rich.box.SIMPLE_HEAD)
    standings.add_column("score", justify="right")
    standings.add_column("source")
    for who, value, source in _standings(sides):
        standings.add_row(who, value, source, style="bold" if who.startswith(_OURS) else None)
    for table in (rates, figures, standings):
        console.print(table)


def write_markdown(summary: Summary, title: str, rival: Summary | None = None) -> str:
    """The figures as Markdown.

    Args:
        summary: the figures.
        title: what was played.
        rival: those of the same with thoughts, beside it.
    """
    sides = _sides(summary, rival)
    names = ("success rate",) if rival is None else tuple(name for name, _ in sides)
    rates = [(name, *(f"{one.rates[name]:.1f} %" for _, one in sides)) for name in ACHIEVEMENTS]
    lines = [f"{title}.", ""]
    lines += _markdown(("achievement", *names), "l" + "r" * len(sides), rates)
    heads = ("value",) if rival is None else names
    lines += _markdown(("figure", *heads), "l" + "l" * len(sides), _figure_rows(sides))
    lines += _markdown(("who", "score", "source"), "lrl", _standings(sides))
    return "\n".join(lines[:-1])


def _markdown(heads: Sequence[str], sides: str, rows: Iterable[Sequence[str]]) -> list[str]:
    rules: Mapping[str, str] = {"l": ":---", "r": "---:"}
    body = [
        heads,
        [rules[side] for side in sides],
        *([printable(cell).replace("|", "\\|") for cell in row] for row in rows),
    ]
    return [f"| {' | '.join(row)} |" for row in body] + [""]
