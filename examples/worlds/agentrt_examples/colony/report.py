"""What a run came to: how often each action ran and how it ended, what happened in the world, what became of tasks.

``ActionTable`` listens to the trace and reads nothing else. An action that ran either completed, or was cut
short; what cut it short is what was said about its agent's plan just before: a preemption or an abort. If
nothing was said, the agent left.

``run_headless`` runs a colony on any of the three hosts. Only the ticks of the run are counted and hashed,
and not how it is taken down afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agentrt.kernel import TraceEvent, TraceHub, TraceRecord
from agentrt.snapshot import AgentSnapshot
from agentrt.testing import TraceDigest
from agentrt.worlds import Progress, Value, Watch, WorldReport, drive, nobody, told_params
from agentrt_examples.colony.bodies import Needs
from agentrt_examples.colony.colony import Colony
from agentrt_examples.colony.decisions import DecisionTable
from agentrt_examples.colony.foreman import Tally
from agentrt_examples.colony.models import doing, driver_lines, flag_lines, models_of
from agentrt_examples.colony.saving import found

__all__ = [
    "ActionCount",
    "ActionTable",
    "describe",
    "measured",
    "model_lines",
    "run_headless",
    "task_lines",
    "wait_lines",
]

_PROGRESS_EVERY = 100
_NOTES_A_LINE = 5


@dataclass(slots=True)
class ActionCount:
    """How one action fared.

    Attributes:
        ran: how often it ran.
        completed: how often it ran to its end.
        preempted: how often something better took its place, or that of the plan that it was part of.
        aborted: how often its plan was aborted.
    """

    ran: int = 0
    completed: int = 0
    preempted: int = 0
    aborted: int = 0


class ActionTable:
    """Counts how actions fare.

    Args:
        hub: whose records to count.

    Attributes:
        counts: by the name of the action's class, in the order in which they first ran.
        close: stops counting.
    """

    def __init__(self, hub: TraceHub) -> None:
        self.counts: dict[str, ActionCount] = {}
        self._open: dict[tuple[str, str], ActionCount] = {}
        self._cause: dict[str, TraceEvent] = {}
        self.close = hub.listen(self._count)

    def _count(self, record: TraceRecord) -> None:
        event, key = record.event, (record.agent, record.path)
        if event is TraceEvent.RUN:
            name = record.path.rpartition("/")[2].partition("#")[0].rpartition(":")[2]
            self._cause.pop(record.agent, None)
            count = self._open[key] = self.counts.setdefault(name, ActionCount())
            count.ran += 1
        elif event is TraceEvent.FINISH:
            done = self._open.pop(key, None)
            if done is not None:
                done.completed += 1
        elif event is TraceEvent.PREEMPT or event is TraceEvent.ABORT:
            self._cause[record.agent] = event
        elif event is TraceEvent.STOP:
            cut = self._open.pop(key, None)
            cause = self._cause.get(record.agent)
            if cut is not None and cause is TraceEvent.PREEMPT:
                cut.preempted += 1
            elif cut is not None and cause is TraceEvent.ABORT:
                cut.aborted += 1

    def rows(self) -> tuple[tuple[str | int | float, ...], ...]:
        """The table, most frequent action first."""
        ordered = sorted(self.counts.items(), key=lambda pair: (-pair[1].ran, pair[0]))
        return tuple((name, one.ran, one.completed, one.preempted, one.aborted) for name, one in ordered)


def run_headless(
    *,
    ticks: int,
    seed: int,
    host: str,
    progress: Progress,
    watch: Watch = nobody,
    params: Mapping[str, Value] | None = None,
) -> WorldReport:
    """Run a colony without a terminal.

    Args:
        ticks: how many ticks.
        seed: of all that is random.
        host: plain, asyncio or trio.
        progress: called every hundred ticks.
        watch: called with the runtime before the first tick.
        params: what is not as by default.

    Returns:
        What it came to.
    """
    runtime = found(seed, host, params).runtime

    def here() -> Colony:  # another one after each epoch
        assert isinstance(runtime.game, Colony)
        return runtime.game

    watch(runtime)
    digest = TraceDigest(runtime.trace)
    table = ActionTable(runtime.trace)
    decisions = DecisionTable(runtime.trace)

    snapshots: list[AgentSnapshot] = []

    def after_tick() -> None:
        if runtime.tick % _PROGRESS_EVERY == 0:
            progress(runtime.tick, ticks, describe(here()))
        if runtime.tick == ticks:
            digest.close()
            table.close()
            decisions.close()
            snapshots.extend(agent.snapshot() for agent in here().population.agents if agent.attachments)
            runtime.stop()

    runtime.after_tick(after_tick)
    drive(runtime, host, lambda: runtime.tick >= ticks)
    colony = here()
    return WorldReport(
        digest=digest.hexdigest(),
        title=f"colony: {ticks} ticks, seed {seed}, {host} host{told_params(params)}",
        columns=("action", "ran", "completed", "preempted", "aborted"),
        rows=table.rows(),
        notes=(
            *_notes(colony.town.chronicle.counts),
            *model_lines(snapshots),
            *decisions.lines(),
            *task_lines(colony),
            *wait_lines(colony),
        ),
    )


_FIGHTS = ("bites", "blows struck", "shots fired", "wolves bitten")


def measured(colony: Colony) -> dict[str, int | float | str]:
    """What can be said of a run in numbers: what happened so far, and what there is now.

    Args:
        colony: which.
    """
    town, counts = colony.town, colony.town.chronicle.counts
    beings = [entity[Needs] for entity in town.census.find("hearthling")]
    return {
        **{kind.replace(" ", "_"): count for kind, count in counts.items()},
        "fights": sum(counts[kind] for kind in _FIGHTS),
        "deaths": town.deaths,
        **{f"{kind}s": town.census.count(kind) for kind in ("hearthling", "critter", "drake", "meal", "turnip")},
        "wolves": town.census.count("wolf"),
        "hunger": sum(needs.hunger for needs in beings) / len(beings) if beings else 0.0,
        "tiredness": sum(needs.tiredness for needs in beings) / len(beings) if beings else 0.0,
    }


def model_lines(snapshots: Iterable[AgentSnapshot]) -> Iterator[str]:
    """What drives those who are driven by more than a plan: each model and its state, held flags, refusals.

    Args:
        snapshots: of agents.
    """
    yield "models:"
    for snapshot in snapshots:
        yield f"  {snapshot.name} ({models_of(snapshot)}): {doing(snapshot)}"
        for line in (*driver_lines(snapshot), *flag_lines(snapshot)):
            yield f"    {line}"


def _notes(counts: Mapping[str, int]) -> tuple[str, ...]:
    words = [f"{kind} {count}" for kind, count in counts.items()]
    return tuple(", ".join(words[first : first + _NOTES_A_LINE]) for first in range(0, len(words), _NOTES_A_LINE))


def task_lines(colony: Colony) -> Iterator[str]:
    """What became of the tasks of each group: those of the town, the parties, and the orders of soldiers.

    Args:
        colony: which.
    """
    foreman = colony.foreman
    yield "tasks:"
    for group in colony.town.groups:
        tally = foreman.tallies.get(group.name, Tally())
        seconds = group.waits.mean * colony.runtime.clock.seconds_per_tick
        yield f"{_tally_line(group.name, foreman.done(group), tally)}, waited {seconds:.1f} s on average"
    for name, tally in foreman.tallies.items():
        if name not in colony.town.groups:
            yield _tally_line(name, tally.done, tally)


def _tally_line(name: str, done: int, tally: Tally) -> str:
    words = name.removeprefix("colony:task_groups:").replace("solo:", "").replace("_", " ")
    return f"  {words}: done {done} times, {tally.completed} tasks completed, {tally.interrupted} times interrupted"


def wait_lines(colony: Colony) -> Iterator[str]:
    """How long work waited until somebody began it, and how long searches waited for their part of the think budget.

    Args:
        colony: which.
    """
    seconds = colony.runtime.clock.seconds_per_tick
    for what, waits in (("work", colony.runtime.waits), ("a search", colony.runtime.search_waits)):
        yield (
            f"{what} waited {waits.mean * seconds:.1f} s on average, {waits.quantile(0.9) * seconds:.1f} s or less "
            f"nine times of ten, {waits.longest * seconds:.1f} s at most ({waits.count} waits)"
        )


def describe(colony: Colony) -> str:
    """The state of a colony in a few words.

    Args:
        colony: which.
    """
    town = colony.town
    census = town.census
    return (
        f"day {town.daylight.day}, {town.daylight.phase}: {len(colony.population.agents)} agents, "
        f"{census.count('wolf')} wolves, {census.count('turnip')} turnips, {census.count('meal')} meals, "
        f"{census.count('picture')} pictures"
    )
