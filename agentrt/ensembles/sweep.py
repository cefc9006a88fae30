"""A sweep: carry out the runs of a design that are not in its file yet.

Whatever ends a sweep, starting it again goes on with it: a run whose row is in the file is finished, even if the row
has an error. Rows of another version of the code count only where that is asked for, since a changed world is another
experiment; how many there are is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from agentrt.ensembles.design import Run, runs_of
from agentrt.ensembles.store import RunRow, RunStore, require_apart, write_csv
from agentrt.ensembles.subject import Subject
from agentrt.ensembles.workers import Crew, RunResult, crew_of


class SweepState(NamedTuple):
    """How far a sweep has come: what a function is called with that is told of its progress."""

    done: int  # runs that this sweep has carried out
    todo: int  # runs that were not in the file when it began
    failed: int  # of those that are done


Told: TypeAlias = Callable[[SweepState], object]


class SweepResult(NamedTuple):
    """What a sweep came to."""

    rows: tuple[
        RunRow, ...
    ]  # all runs of the design, those that were in the file before too, in the order of the table
    carried_out: int  # how many runs were not in the file before
    other_code: int  # how many rows of these runs the file has of other versions of the code

    @property
    def failed(self) -> tuple[RunRow, ...]:
        """The runs that have no digest and no measures, each with its error."""
        return tuple(row for row in self.rows if row.error)


def sweep(
    world: str = "",
    *,
    ticks: int,
    seeds: str | Iterable[int],
    params: Mapping[str, object] | None = None,
    out: str | Path,
    workers: int | None = None,
    ray: str = "",
    time_limit: float | None = None,
    any_code: bool = False,
    retry: bool = False,
    app: str = "",
    csv: str | Path | None = None,
    told: Told | None = None,
) -> SweepResult:
    """Run a world with many seeds, and with each setting of some parameters; keep a row of each run in a file.

    Equal arguments and equal code give equal rows, wherever they are carried out. In a program of your own, call it
    below ``if __name__ == "__main__":``, since its workers import that program.

    Args:
        world: the name of a world; empty for that of the project.
        ticks: how many ticks each run has.
        seeds: numbers, or a text such as ``"0:200"``.
        params: by the name of a parameter its values: one, several, or a text such as ``"2,8"`` or ``"0.3:0.9:7"``.
        out: the file, SQLite; it is made, or gone on with.
        workers: how many runs at the same time, each in a process of its own; None for one on each processor, 0 to run
            all in this process.
        ray: ``"local"`` or the address of a cluster: run them in actors of Ray.
        time_limit: real seconds after which a run is given up; None for no limit.
        any_code: whether rows of other versions of the code count as finished.
        retry: whether runs whose row has an error are carried out again.
        app: where the world of the project is, as ``module:name``, if not where the project says.
        csv: where the rows are written as a table when it ends, even if an error or Ctrl-C ends it.
        told: called when it begins and after each run.

    Returns:
        The rows of all runs of the design.

    Raises:
        EnsembleError: the design, the file or the workers are not right.
        ParameterError: the world does not take one of the parameters.
        MissingExtraError: Ray is asked for and not installed.

    Source: parameter sweeps, ensembles of simulations.
    """
    require_apart(Path(out), None if csv is None else Path(csv))
    subject = Subject.of(world, app)
    runs = runs_of(subject.world(), params or {}, seeds, ticks)
    with crew_of(subject, workers=workers, ray=ray, time_limit=time_limit) as crew, RunStore(Path(out)) as store:
        try:
            return carry_on(store, subject, runs, crew, any_code=any_code, retry=retry, told=told)
        finally:
            if csv is not None:
                write_csv(_rows_of(store, subject, runs, any_code)[0], Path(csv))


def carry_on(
    store: RunStore,
    subject: Subject,
    runs: list[Run],
    crew: Crew,
    *,
    any_code: bool = False,
    retry: bool = False,
    told: Told | None = None,
) -> SweepResult:
    """Carry out what is not in the file yet; see ``sweep``."""
    code, wanted = subject.code(), set(runs)
    kept = [row for row in store.rows(subject.name) if row.run in wanted]
    finished = {row.run for row in kept if (row.code == code or any_code) and not (retry and row.error)}
    todo = [run for run in runs if run not in finished]
    done = failed = 0

    def take(run: Run, result: RunResult) -> None:
        nonlocal done, failed
        store.put(RunRow(subject.name, code, run.setting, run.seed, run.ticks, *result))
        done += 1
        failed += bool(result.error)
        if told is not None:
            told(SweepState(done, len(todo), failed))

    if told is not None:
        told(SweepState(0, len(todo), 0))
    crew.carry_out(todo, take)
    rows, other_code = _rows_of(store, subject, runs, any_code)
    return SweepResult(tuple(rows), len(todo), other_code)


def _rows_of(store: RunStore, subject: Subject, runs: list[Run], any_code: bool) -> tuple[list[RunRow], int]:
    """What the file has of some runs, each once, of this code or else another; and how many are of another."""
    code, wanted = subject.code(), set(runs)
    found = [row for row in store.rows(subject.name) if row.run in wanted]
    chosen = {row.run: row for row in reversed(found) if row.code == code or any_code}
    chosen |= {row.run: row for row in found if row.code == code}
    return [row for row in found if chosen.get(row.run) is row], sum(row.code != code for row in found)
