"""What is shown of a run: the state of the miner with its open tasks, and afterwards what each strategy came to.

``StrategyTable`` listens to the trace and reads nothing else: which strategy was tried, and what became of it.
``status`` reads the game: a page of text with the part of the task tree that is not over yet, as the seed's sample
has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from agentrt.kernel import TraceEvent, TraceHub, TraceRecord
from agentrt.strategy import TaskNode
from agentrt.testing import TraceDigest
from agentrt.words import printable
from agentrt.worlds import Progress, Value, Watch, WorldReport, drive, nobody, told_params
from agentrt_examples.miner.times import RATE

if TYPE_CHECKING:
    from agentrt_examples.miner.game import Game

__all__ = ["StrategyTable", "measured", "open_tasks", "run_headless", "run_live", "status"]

_PROGRESS_EVERY = 1000
_TREE_LINES = 60
_TREE_LEVELS = 6


@dataclass(slots=True)
class _Tally:
    tried: int = 0
    solved: int = 0
    failed: int = 0
    interrupted: int = 0


class StrategyTable:
    """Counts how strategies fare.

    Args:
        hub: whose records to count.

    Attributes:
        close: stops counting.
    """

    def __init__(self, hub: TraceHub) -> None:
        self._tallies: dict[str, _Tally] = {}
        self.close = hub.listen(self._count)

    def _count(self, record: TraceRecord) -> None:
        by = str(dict(record.detail).get("by", ""))
        if record.event is TraceEvent.TRY:
            self._tallies.setdefault(by, _Tally()).tried += 1
        elif record.event is TraceEvent.SOLVED and by in self._tallies:
            self._tallies[by].solved += 1
        elif record.event is TraceEvent.FAILED and by in self._tallies:
            self._tallies[by].failed += 1
        elif record.event is TraceEvent.INTERRUPTED:
            self._tallies.setdefault(f"! {by}", _Tally()).interrupted += 1

    def rows(self) -> tuple[tuple[str | int | float, ...], ...]:
        """The table, the most frequent strategy first; what interrupted it comes last, with an exclamation mark."""
        ordered = sorted(self._tallies.items(), key=lambda pair: (pair[0].startswith("!"), -pair[1].tried, pair[0]))
        return tuple((name, one.tried, one.solved, one.failed, one.interrupted) for name, one in ordered)


# --- words ------------------------------------------------------------------------------------------------------------


def status(game: Game) -> Iterator[str]:
    """The state of a game in lines of text: the miner, what it carries, what it does and means to do.

    Args:
        game: which.
    """
    miner = game.miner
    seconds = game.runtime.tick // RATE
    time = "night" if game.world.is_night else "day"
    x, y, z = miner.place
    yield f"{seconds // 60}:{seconds % 60:02} {time}, {miner.where} at {x},{y},{z}, {miner.vitals!r}"
    yield f"carries {', '.join(f'{count} {item}' for item, count in miner.stock.items()) or 'nothing'}"
    for solving in game.agent.gameplay.running:
        yield from open_tasks(solving.root)


def open_tasks(node: TaskNode, depth: int = 0) -> Iterator[str]:
    """The part of a task tree that is not over yet, one task a line.

    Args:
        node: its top.
        depth: how far to indent.
    """
    if node.is_open:
        star = "* " if node.is_conditional else ""
        yield f"{'   ' * depth}{star}{node.label}{'' if node.outcome == 'planned' else f' - {node.outcome}'}"
        for child in node.children:
            yield from open_tasks(child, depth + 1)


def _tree(node: TaskNode) -> list[str]:
    """The upper part of a tree that is over."""
    lines = [
        f"{'   ' * depth}{one.label} - {one.outcome} in {(one.ended - one.began) / RATE:g} s"
        for depth, one in node.walk()
        if depth <= _TREE_LEVELS and one.ended > one.began
    ]
    left = len(lines) - _TREE_LINES
    return lines if left <= 0 else [*lines[:_TREE_LINES], f"... and {left} lines more"]


# --- running ----------------------------------------------------------------------------------------------------------


_COUNTED = ("dug", "crafted", "ate", "killed", "struck", "died", "passed")


def measured(game: Game) -> dict[str, int | float | str]:
    """What can be said of a run in numbers.

    Args:
        game: which.
    """
    outcome, miner = game.outcome, game.miner
    return {
        "outcome": "under way" if outcome is None else "had" if isinstance(outcome, int) else "failed",
        "had": miner.stock.get(game.item, 0),
        "ticks": game.runtime.tick,
        **{word: game.counts.get(word, 0) for word in _COUNTED},
        "health": miner.vitals.health,
        "food": miner.vitals.food,
        "kinds_carried": len(miner.stock),
    }


def run_headless(
    game: Game,
    *,
    ticks: int,
    host: str,
    progress: Progress,
    watch: Watch = nobody,
    params: Mapping[str, Value] | None = None,
) -> WorldReport:
    """Run a game without a terminal, until what was asked for is there or the ticks are over.

    Args:
        game: which; something was asked for.
        ticks: how many at most.
        host: plain, asyncio or trio.
        progress: called every thousand ticks.
        watch: called with the runtime before the first tick.
        params: what it was made with, for the title.

    Returns:
        What it came to.
    """
    runtime = game.runtime
    watch(runtime)
    digest, table = TraceDigest(runtime.trace), StrategyTable(runtime.trace)

    def after_tick() -> None:
        if runtime.tick % _PROGRESS_EVERY == 0:
            progress(runtime.tick, ticks, next(status(game)))
        if runtime.tick == ticks or game.outcome is not None:
            digest.close()
            table.close()
            runtime.stop()

    runtime.after_tick(after_tick)
    ended, *shown = _run(game, ticks, host)
    return WorldReport(
        digest=digest.hexdigest(),
        title=f"miner: {ended} ticks, {host} host{told_params(params)}",
        columns=("strategy", "tried", "solved", "failed", "interrupted"),
        rows=table.rows(),
        notes=tuple(shown),
    )


def _run(game: Game, ticks: int, host: str) -> list[str]:
    """Run it to its end; its last tick and its last status, before anything is taken down."""
    runtime = game.runtime
    last: list[str] = []
    runtime.after_tick(lambda: last.extend(_shown(game)) if not last and _is_over(game, ticks) else None)
    drive(runtime, host, lambda: _is_over(game, ticks))
    return last


def _is_over(game: Game, ticks: int) -> bool:
    return game.runtime.tick >= ticks or game.outcome is not None


def _shown(game: Game) -> list[str]:
    finished = game.agent.gameplay.finished
    tree = _tree(finished[-1]) if game.outcome is not None and finished else []
    return [str(game.runtime.tick), *status(game), *tree]


def run_live(game: Game, *, speed: float, watch: Watch = nobody) -> None:
    """Show the state of a game in the terminal, each second of game time, until what was asked for is there.

    Args:
        game: which; it is on the asyncio host.
        speed: game seconds for each real second.
        watch: called with the runtime before the first tick.
    """
    import asyncio

    runtime = game.runtime
    watch(runtime)

    def after_tick() -> None:
        if runtime.tick % RATE == 0 or game.outcome is not None:
            click.clear()
            click.echo("\n".join(map(printable, status(game))))
        if game.outcome is not None:
            runtime.stop()

    runtime.after_tick(after_tick)
    asyncio.run(runtime.run(speed=speed))
