"""``python -m examples.crafter score``: play many episodes on all cores, and say how good the agent is.

What takes hours must not be lost, and must not fail at its end:

* where the results go is tried before the first episode, and they are written again after each one, at once (a file
  beside it takes its place), so that there is always a whole file;
* Ctrl-C ends it at once and shows what is finished. The episodes that were cut off do not count at all. Since those in
  which the player dies early are finished early, such a score is a hint and no more; it says how many are missing.

Results go to standard output; the bar, or a line now and then where there is no terminal, to standard error. Exit code
0: all is well; 1: an episode failed; 130: Ctrl-C.
"""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from agentrt.cli.groups import tell, tell_text
from examples.crafter import workers
from examples.crafter.game import LENGTH
from examples.crafter.options import thinking_options, thoughts_of
from examples.crafter.record import Record, play_one
from examples.crafter.report import Summary, show, success_rates, versions, write_markdown
from examples.crafter.report import score as score_of
from examples.crafter.workers import News

__all__ = ["score"]

_EXAMPLES: Final = """\b
Examples:
  python -m examples.crafter score --episodes 4 --length 500
  python -m examples.crafter score --episodes 100 --json results.json
  python -m examples.crafter score --episodes 4 --length 500 --thoughts
  python -m examples.crafter score --model small --base-url http://127.0.0.1:8080/v1
"""
_CTRL_C: Final = 130
_MEMORY: Final = 600.0  # seconds of the past by which the time left is estimated: episodes differ much in length
_LINES: Final = 20  # how many lines tell of the way where there is no terminal


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@click.command(epilog=_EXAMPLES)
@click.option(
    "--episodes", type=click.IntRange(min=1), default=10, show_default=True, help="How many episodes to play."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The seed of the first episode; the others have those that follow it.",
)
@click.option(
    "--length",
    type=click.IntRange(min=1),
    default=LENGTH,
    show_default=True,
    help="How long an episode is at most, in steps. Published scores are for the default.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="How many episodes to play at the same time.  [default: one for each core]",
)
@click.option(
    "--json",
    "path",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Write the figures and a record of each episode into FILE, after each. A file that is there is replaced.",
)
@click.option("--markdown", is_flag=True, help="Print the tables as Markdown.")
@thinking_options
@click.pass_context
def score(
    ctx: click.Context,
    /,
    *,
    episodes: int,
    seed: int,
    length: int,
    jobs: int | None,
    path: Path | None,
    markdown: bool,
    **thinking: Any,
) -> None:
    """Play many episodes, and print success rates, score and speed.

    The same seeds give the same episodes, and so the same digest, however many are played at the same time. An episode
    of 10,000 steps takes half a minute or so on a core; Ctrl-C shows what is finished.

    With thoughts each seed is played twice, by rules alone and with them, and the tables show both.
    """
    thoughts = thoughts_of(**thinking)
    seeds = range(seed, seed + episodes)
    jobs = min(jobs or _cores(), episodes)
    asked: dict[str, Any] = {"episodes": episodes, "seed": seed, "length": length, "jobs": jobs}
    if thoughts is not None:
        asked["thoughts"] = thoughts.as_dict()
    is_cut = False
    with Results(path, asked) as results:
        try:
            _play(functools.partial(play_one, length=length), seeds, jobs, results)
            if thoughts is not None:
                task = functools.partial(play_one, length=length, thoughts=thoughts)
                _play(task, seeds, jobs, results, has_thoughts=True)
        except KeyboardInterrupt:
            is_cut = True
    _print(results, seeds, length, markdown, has_thoughts=thoughts is not None)
    if is_cut:
        ctx.exit(_CTRL_C)
    ctx.exit(int(any(record.error for record in (*results.records, *results.thinking))))


def _play(
    task: Callable[[int, workers.Tell], Record],
    seeds: range,
    jobs: int,
    results: Results,
    *,
    has_thoughts: bool = False,
) -> None:
    """Play all seeds in one of the two ways."""
    records = results.thinking if has_thoughts else results.records
    with Bar(len(seeds), "with thoughts: " if has_thoughts else "") as bar:

        def hear(news: News[Record]) -> None:
            record = Record(news.seed, error=news.lost) if news.lost else news.result
            if record is not None:
                results.add(record, has_thoughts=has_thoughts)
            bar.move(news, records)

        workers.run(task, seeds, jobs, hear)


def _print(results: Results, seeds: range, length: int, markdown: bool, *, has_thoughts: bool) -> None:
    records, thinking = results.records, results.thinking
    wanted = len(seeds) * (1 + has_thoughts)
    missing = wanted - len(records) - len(thinking)
    if missing:
        tell(f"stopped: {missing} of {wanted} episodes were not finished and do not count", err=True)
    if thinking:  # the same seeds on both sides, or they could not be compared
        both = {record.seed for record in thinking}
        records = [record for record in records if record.seed in both]
    if not records:
        return
    summary, rival = Summary.of(records, length), Summary.of(thinking, length) if thinking else None
    count = f"{len(records)} of {len(seeds)}" if len(records) < len(seeds) else f"{len(seeds)}"
    title = f"Crafter: {count} episodes, seeds {seeds[0]} to {seeds[-1]}, {length:,} steps at most"
    if markdown:
        tell_text(f"{write_markdown(summary, title, rival)}\n")
    else:
        show(summary, title, Console(), rival)
    for record in (one for side in (records, thinking) for one in sorted(side, key=lambda record: record.seed)):
        if record.error:
            tell(f"seed {record.seed} failed after {record.steps} steps: {record.error}", err=True)
        elif record.faults:
            told = f"seed {record.seed}: {record.faults} faults in the mind, the first: {record.details}"
            tell_text(f"{told}\n", err=True)


class Results:
    """The records as they come in, and the file that they are kept in. A context manager.

    Args:
        path: the file; None for none.
        asked: what was asked for, for the file.

    Attributes:
        records: those that are there, in the order in which they came; of players with rules alone.
        thinking: those of players with thoughts.

    Raises:
        click.BadParameter: nothing can be written there.
    """

    def __init__(self, path: Path | None, asked: dict[str, Any]) -> None:
        self.records: list[Record] = []
        self.thinking: list[Record] = []
        self._asked = asked
        self._versions = versions()
        self._path = path
        self._has_failed = False
        self._beside = path.with_name(f"{path.name}.part") if path is not None else None

    def __enter__(self) -> Results:
        if self._beside is not None:
            try:
                self._beside.touch()
            except OSError as error:
                raise click.BadParameter(
                    f"cannot write {self._beside}: {error.strerror}.", param_hint="--json"
                ) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._beside is not None:
            self._beside.unlink(missing_ok=True)

    def add(self, record: Record, *, has_thoughts: bool = False) -> None:
        """Take in a record, and write the file.

        Args:
            record: of an episode that is over.
            has_thoughts: whether its player has.
        """
        (self.thinking if has_thoughts else self.records).append(record)
        if self._path is not None and self._beside is not None:
            try:
                self._beside.write_text(json.dumps(self.as_dict(), indent=1) + "\n", encoding="utf-8")
                self._beside.replace(self._path)
            except OSError as error:
                self._tell_once(error)

    def _tell_once(self, error: OSError) -> None:
        """A disk that is full now must not end what takes hours: what was written stays, and the next may be, too."""
        if not self._has_failed:
            self._has_failed = True
            wanted = self._asked["episodes"] * (2 if "thoughts" in self._asked else 1)
            done = f"{len(self.records) + len(self.thinking)} of {wanted} episodes"
            tell(f"{self._path} cannot be written after {done}, which go on: {error.strerror}", err=True)

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values; the same for the same episodes in whatever order, but for seconds and jobs."""
        made = {"asked": self._asked, "versions": self._versions, **self._side(self.records)}
        if self.thinking:
            made["thoughts"] = self._side(self.thinking)
        return made

    def _side(self, records: list[Record]) -> dict[str, Any]:
        return {
            "summary": Summary.of(records, self._asked["length"]).as_dict(),
            "records": [record.as_dict() for record in sorted(records, key=lambda record: record.seed)],
        }


class Bar:
    """How far it is, on standard error: a bar in a terminal, else a line now and then. A context manager.

    Args:
        episodes: how many there will be.
        words: what stands before all that it tells.
    """

    def __init__(self, episodes: int, words: str = "") -> None:
        console = Console(stderr=True)
        self._episodes = episodes
        self._words = words
        self._shares: dict[int, float] = {}
        self._told = 0
        self._is_live = console.is_terminal
        self._progress = Progress(
            TextColumn(f"{words}episodes"),
            BarColumn(),
            TextColumn("{task.fields[done]}/{task.total:.0f}"),
            TextColumn("{task.fields[score]}"),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=console,
            speed_estimate_period=_MEMORY,
            disable=not self._is_live,
        )
        self._bar = self._progress.add_task("", total=episodes, done=0, score="")

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def move(self, news: News[Record], records: Sequence[Record]) -> None:
        """Show how far it is.

        Args:
            news: what was heard last.
            records: all that are there by now.
        """
        self._shares[news.seed] = news.share
        done = len(records)
        text = f"score {score_of(success_rates(records).values()):.1f} %" if records else ""
        self._progress.update(self._bar, completed=math.fsum(self._shares.values()), done=done, score=text)
        line = done * min(_LINES, self._episodes) // self._episodes
        if not self._is_live and line > self._told:
            self._told = line
            tell(f"{self._words}{done} of {self._episodes} episodes, {text}", err=True)
