"""How a row is measured.

A *side* prepares its work, does it under the gauge, and clears up after itself: it is a context manager that
takes a size and gives the work, a function that returns how many units it did. Only the work is measured.

Rules:

* The sides of a row take turns: ours, limit, peer, ours, limit, peer... so that a machine that becomes slower
  in the middle is slower for all of them. Each counts with its best turn, because noise only ever adds.
* Every turn prepares afresh. Garbage is collected before it; the collector is off while it is measured, on
  all sides. Only the gauges of ticks have it on, from before the side prepares: what a full collection does to
  a tick is what they are there for, and it depends on how much was made since the last one.
* A side whose library is not installed is left out, and a target that depends on it is neither met nor
  missed.
* A gauge of time measures seconds of processor time, so that what others run on the machine meanwhile is not
  counted; nothing that is measured here waits. A gauge of memory measures bytes. Both for one unit of work;
  whoever prints chooses the unit. A gauge of game time measures nothing itself: the work says what it took.
* A gauge of real seconds is for what waits for other processes; whatever else the machine does is in it.
* A gauge of ticks looks at each tick alone: the side prepares for one round, and its work is done for each round
  of the size. What counts is the median of the ticks, or the worst of them.
* A target is a ratio within the row: to the limit, to a peer, of the worst tick to the median. Absolute figures are
  shown and never judged, since they say more about the machine than about the code.

Rejected: pytest-benchmark and pyperf (neither lets several sides take turns within one process); the median
of the turns (on a machine that others use, it measures the others).
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from statistics import median
from time import perf_counter
from typing import Literal

from benchmarks.alone import processor_time

__all__ = ["Gauge", "Measured", "Peer", "Prepare", "Row", "RowResult", "Side", "Size", "Work", "measure_row"]

Work = Callable[[], float]
"""Does the work that is measured, and returns how many units it did; or how many game seconds it took."""

Gauge = Literal["seconds", "bytes", "game seconds", "real seconds", "ticks", "worst tick"]


@dataclass(frozen=True, slots=True)
class Size:
    """How much work one turn is.

    Attributes:
        count: how many strands, agents, coroutines.
        rounds: how many ticks or repetitions for each of them.
    """

    count: int
    rounds: int = 1


Prepare = Callable[[Size], AbstractContextManager[Work]]
"""Prepares the work, gives it, and clears up."""


@dataclass(frozen=True, slots=True)
class Side:
    """One way to do the work of a row.

    Attributes:
        label: what it is, for the table.
        prepare: see ``Prepare``.
    """

    label: str
    prepare: Prepare


@dataclass(frozen=True, slots=True)
class Peer:
    """Somebody else's library.

    Attributes:
        side: how it does the work.
        at_least: how many times faster (or smaller) than it we mean to be; None if it is only shown.
    """

    side: Side
    at_least: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One piece of work, who does it, and what we mean to reach.

    Attributes:
        name: what it is called on the command line.
        what: what is measured, in one sentence.
        gauge: processor time, memory, game time, real time, or the processor time of each tick: the median of them, or
            the worst.
        ours: how agentrt does it.
        limit: how it is done by hand; None if there is no such thing.
        peers: how others do it.
        at_most_times: the target as a multiple of the limit; None if it is not one.
        worst_at_most_times: the target for the worst tick as a multiple of the median; only with a gauge of ticks.
        size: how much work one turn is.
        quick: the same for a quick run, which shows that everything works and little more.
        most_repeats: how many turns are enough, where preparing takes long.
        is_big: whether it is measured only when it is named, or all rows are asked for.
    """

    name: str
    what: str
    gauge: Gauge
    ours: Side
    size: Size
    quick: Size
    limit: Side | None = None
    peers: Sequence[Peer] = ()
    at_most_times: float | None = None
    worst_at_most_times: float | None = None
    most_repeats: int = 100
    is_big: bool = False

    @property
    def has_target(self) -> bool:
        """Whether there is anything to meet."""
        own = self.at_most_times, self.worst_at_most_times
        return any(target is not None for target in (*own, *(peer.at_least for peer in self.peers)))

    def sides(self) -> list[Side]:
        """Everybody who takes turns, in order."""
        limits = [] if self.limit is None else [self.limit]
        return [self.ours, *limits, *(peer.side for peer in self.peers)]


@dataclass(slots=True)
class Measured:
    """What one side took.

    Attributes:
        label: what it is.
        turns: seconds or bytes for one unit of work, for each turn.
        worsts: the worst tick of each turn, if the turns are medians of ticks.
        absent: why it could not be measured; None if it could.
    """

    label: str
    turns: list[float] = field(default_factory=list)
    worsts: list[float] = field(default_factory=list)
    absent: str | None = None

    @property
    def best(self) -> float | None:
        """The best turn; None if there was none."""
        return min(self.turns, default=None)

    @property
    def worst(self) -> float | None:
        """The least of the turns' worst ticks; None without a gauge of ticks."""
        return min(self.worsts, default=None)


@dataclass(slots=True)
class RowResult:
    """What all sides of a row took.

    Attributes:
        row: what was measured.
        size: how much work one turn was.
        ours: agentrt.
        limit: the same by hand.
        peers: others, in the order of ``row.peers``.
    """

    row: Row
    size: Size
    ours: Measured
    limit: Measured | None
    peers: list[Measured]

    @property
    def ratio(self) -> float | None:
        """Ours as a multiple of the limit."""
        return None if self.limit is None else _quotient(self.ours.best, self.limit.best)

    @property
    def worst_ratio(self) -> float | None:
        """Our worst tick as a multiple of the median one."""
        return _quotient(self.ours.worst, self.ours.best)

    def peer_ratios(self) -> list[float | None]:
        """Each peer as a multiple of ours."""
        return [_quotient(peer.best, self.ours.best) for peer in self.peers]

    @property
    def limit_met(self) -> bool | None:
        """Whether ours is near enough to the limit; None if that is no target, or could not be judged."""
        return _not_above(self.ratio, self.row.at_most_times)

    @property
    def worst_met(self) -> bool | None:
        """Whether the worst tick is near enough to the median; None as above."""
        return _not_above(self.worst_ratio, self.row.worst_at_most_times)

    def peers_met(self) -> list[bool | None]:
        """Whether each peer is so much slower as it is to be; None as above."""
        return [
            None if peer.at_least is None or ratio is None else ratio >= peer.at_least
            for peer, ratio in zip(self.row.peers, self.peer_ratios(), strict=True)
        ]

    @property
    def met(self) -> bool | None:
        """Whether all targets are met; None if none is missed but one could not be judged, or if there is none."""
        targets = [self.row.at_most_times, self.row.worst_at_most_times, *(peer.at_least for peer in self.row.peers)]
        verdicts = [self.limit_met, self.worst_met, *self.peers_met()]
        judged = [met for met, target in zip(verdicts, targets, strict=True) if target is not None]
        if False in judged:
            return False
        return None if None in judged or not judged else True


def _quotient(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


def _not_above(value: float | None, most: float | None) -> bool | None:
    return None if value is None or most is None else value <= most


def measure_row(row: Row, size: Size, repeats: int) -> RowResult:
    """Measure all sides of a row, in turn.

    Args:
        row: what to measure.
        size: how much work one turn is.
        repeats: how many turns each side has, if ``row.most_repeats`` is not less.

    Returns:
        What they took.
    """
    measured = [(side, Measured(side.label)) for side in row.sides()]
    has_collector = row.gauge in ("ticks", "worst tick")  # then who freezes what is a side's own affair
    with nullcontext() if has_collector else _rest_frozen():
        for _ in range(min(repeats, row.most_repeats)):
            for side, result in measured:
                if result.absent is None:
                    _take_turn(side, result, row.gauge, size)
    results = [result for _, result in measured]
    limit = None if row.limit is None else results[1]
    return RowResult(row, size, results[0], limit, results[len(results) - len(row.peers) :])


def _take_turn(side: Side, result: Measured, gauge: Gauge, size: Size) -> None:
    try:
        if gauge in ("ticks", "worst tick"):
            _take_ticks(side, result, gauge, size)
        else:
            with _collected(), side.prepare(size) as work:
                result.turns.append(_MEASURES[gauge](work))
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] in ("agentrt", "benchmarks"):
            raise
        result.absent = f"{missing.name} is not installed"


def _take_ticks(side: Side, result: Measured, gauge: Gauge, size: Size) -> None:
    gc.collect()
    with side.prepare(replace(size, rounds=1)) as work:
        ticks = [_seconds(work) for _ in range(size.rounds)]
    if gauge == "worst tick":
        result.turns.append(max(ticks))
    else:
        result.turns.append(median(ticks))
        result.worsts.append(max(ticks))


@contextmanager
def _rest_frozen() -> Iterator[None]:
    """What is there already (modules, mostly) is not searched for garbage at every turn."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _collected() -> Iterator[None]:
    """No garbage from before, and no collection inside, not even while the side prepares."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _real_seconds(work: Work) -> float:
    before = perf_counter()
    units = work()
    return (perf_counter() - before) / units


def _seconds(work: Work) -> float:
    before = processor_time()
    units = work()
    return (processor_time() - before) / units


def _bytes(work: Work) -> float:
    """What the work leaves behind and somebody still holds."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        units = work()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return (after - before) / units


_MEASURES: dict[Gauge, Callable[[Work], float]] = {
    "seconds": _seconds,
    "bytes": _bytes,
    "game seconds": lambda work: work(),
    "real seconds": _real_seconds,
}
