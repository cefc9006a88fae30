"""The commands for many runs: ``agentrt sweep``, ``agentrt sweep report``, ``agentrt tune``.

``agentrt sweep WORLD`` is short for ``agentrt sweep run WORLD``: whatever follows ``sweep`` and is no other command of
it is taken for the arguments of that one. So a world may be called "report", and be run by the longer form.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentrt.cli.groups import Group, app_option, aside, given_app, given_option, progress_printer, tell, tell_text
from agentrt.installed import called
from agentrt.words import counted

if TYPE_CHECKING:
    from agentrt.ensembles import RunRow, SweepState

INTERRUPTED = 130  # as a shell has it for Ctrl-C


class _WithDefault(Group):
    """A group of which one command need not be named: ``run``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args and args[0] in self.commands else ["run", *args])


class _Unnamed(click.Context):
    """Of that command: what tells its usage leaves its name out, too."""

    @property
    def command_path(self) -> str:
        return self.parent.command_path if self.parent is not None else super().command_path


class _Default(click.Command):
    context_class = _Unnamed


@click.group(cls=_WithDefault)
def sweep() -> None:
    """Run a world many times, and say what came of it."""


# --- options ----------------------------------------------------------------------------------------------------------

_file = click.Path(dir_okay=False, path_type=Path)


def _crew_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a function that is to be a command the options of who carries runs out."""
    for option in (
        click.option(
            "--workers", type=click.IntRange(0), metavar="N",
            help="How many runs at the same time, each in a process of its own; 0 for none but this one.  "
            "[default: one for each processor]",
        ),
        click.option(
            "--ray", default="", metavar="ADDRESS|local",
            help="Run them in actors of Ray: of a cluster, or of one on this machine. Needs the extra 'ray'.",
        ),
        click.option(
            "--time-limit", type=float, metavar="SECONDS",
            help="Give a run up that takes longer, in real time; the others go on.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@contextlib.contextmanager
def _going_on(path: Path, table: Path | None = None) -> Iterator[Callable[[SweepState], None]]:
    """Tells how far it has come; after Ctrl-C, that nothing that was finished is lost."""
    progress = progress_printer("run")

    def told(state: SweepState) -> None:
        progress(state.done, state.todo, f"{state.failed} failed" if state.failed else "")

    try:
        with aside():  # what worlds print in this process is no result
            yield told
    except KeyboardInterrupt:
        tell(f"interrupted: what was finished is in {path}; the same command goes on with it", err=True)
        if table is not None and table.exists():
            tell(f"the table has it, too: {table}", err=True)
        sys.exit(INTERRUPTED)


# --- sweep ------------------------------------------------------------------------------------------------------------


@sweep.command(name="run", cls=_Default)
@click.argument("world", required=False, default="")
@click.option("--ticks", type=click.IntRange(1), default=2000, show_default=True, help="How many ticks each run has.")
@click.option(
    "--seeds", default="0:20", show_default=True, metavar="FROM:TO|LIST",
    help="The seeds: a range, of which the last is left out, or a list as in 1,5,9.",
)  # fmt: skip
@click.option(
    "--set", "given", multiple=True, metavar="NAME=VALUES", callback=given_option,
    help="Values of a parameter of the world: 2,8, or 0.3:0.9:7 for seven from 0.3 to 0.9. May be repeated: all are "
    "combined with all.",
)  # fmt: skip
@click.option("--out", type=_file, default=Path("runs.sqlite"), show_default=True, help="The file that keeps the runs.")
@click.option("--csv", type=_file, help="Where the table is written.  [default: beside the file, with .csv]")
@click.option("--parquet", type=_file, help="Write the table as Parquet, too. Needs the extra 'ensembles'.")
@click.option("--any-code", is_flag=True, help="Count runs of another version of the code as finished.")
@click.option("--retry", is_flag=True, help="Run again what has failed.")
@_crew_options
@app_option
def run(
    *, world: str, ticks: int, seeds: str, given: dict[str, str], out: Path, csv: Path | None, parquet: Path | None,
    any_code: bool, retry: bool, workers: int | None, ray: str, time_limit: float | None,
) -> None:  # fmt: skip
    """Run WORLD, or the world of your project, with many seeds and with each setting of some parameters.

    Each run is a row in a file. Whatever ends this command, the same command goes on where it was. What the file says
    is told by: agentrt sweep report FILE.
    """
    from agentrt.ensembles.report import EnsembleReport
    from agentrt.ensembles.store import require_apart
    from agentrt.ensembles.sweep import sweep as carry_out

    table = csv or out.with_suffix(".csv")
    require_apart(out, table, parquet)
    with _going_on(out, table) as told:
        done = carry_out(
            world, ticks=ticks, seeds=seeds, params=given, out=out, workers=workers, ray=ray, time_limit=time_limit,
            any_code=any_code, retry=retry, app=given_app(), csv=table, told=told,
        )  # fmt: skip
    tell(f"written: {table}", err=True)
    _write_tables(done.rows, None, parquet)
    before = len(done.rows) - done.carried_out
    tell(f"{counted(len(done.rows), 'run')} in {out}, {before} of them from before", err=True)
    if done.other_code:
        what = f"{counted(done.other_code, 'run')} of another version of the code"
        tell(f"{what} are in the file, too: --any-code counts them as finished", err=True)
    for line in EnsembleReport(done.rows).lines(contrasts=False):
        tell_text(f"{line}\n")
    tell(f"compared: {called('sweep', 'report', out)}", err=True)
    if done.failed:
        sys.exit(1)


def _write_tables(rows: tuple[RunRow, ...] | list[RunRow], csv: Path | None, parquet: Path | None) -> None:
    from agentrt.ensembles.store import write_csv, write_parquet

    if csv is not None:
        write_csv(rows, csv)
        tell(f"written: {csv}", err=True)
    if parquet is not None:
        write_parquet(rows, parquet)
        tell(f"written: {parquet}", err=True)


@sweep.command(name="report")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--world", default="", help="Of this world alone.")
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="Only this measure. May be repeated.")
@click.option(
    "--pictures", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Draw a picture of each measure. Needs the extra 'ensembles'.",
)  # fmt: skip
@click.option("--csv", type=_file, help="Write all runs of the file as a table.")
@click.option("--parquet", type=_file, help="Likewise, as Parquet. Needs the extra 'ensembles'.")
def report(
    *, file: Path, world: str, measures: tuple[str, ...], pictures: Path | None, csv: Path | None, parquet: Path | None
) -> None:
    """Say what the runs in a FILE measured: means, intervals, and what each setting changes."""
    from agentrt.ensembles.report import EnsembleReport
    from agentrt.ensembles.store import RunStore, require_apart

    require_apart(file, csv, parquet)
    with RunStore(file, is_read_only=True) as store:
        rows = store.rows(world)
    told = EnsembleReport(rows, measures)
    for line in told.lines():
        tell_text(f"{line}\n")
    _write_tables(rows, csv, parquet)
    for path in told.draw(pictures) if pictures is not None else ():
        tell(f"drawn: {path}", err=True)


# --- tune -------------------------------------------------------------------------------------------------------------


def _over_option(_ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    given = {name: value for name, _, value in (text.partition("=") for text in values)}
    if len(given) < len(values) or "" in given:
        raise click.BadParameter("each is NAME or NAME=LOW:HIGH, and a name stands once.")
    return given


@click.command()
@click.argument("world", required=False, default="")
@click.option("--measure", required=True, metavar="NAME", help="The number that is to be as large as possible.")
@click.option("--minimize", is_flag=True, help="As small as possible.")
@click.option(
    "--over", multiple=True, required=True, metavar="NAME[=LOW:HIGH]", callback=_over_option,
    help="A parameter to search over: in a range, among values as in 2,4,8, or in all that it can be. May be repeated.",
)  # fmt: skip
@click.option(
    "--set", "given", multiple=True, metavar="NAME=VALUE", callback=given_option, help="A parameter that is set."
)
@click.option("--trials", type=click.IntRange(1), default=40, show_default=True, help="How many settings are tried.")
@click.option("--ticks", type=click.IntRange(1), default=2000, show_default=True, help="How many ticks each run has.")
@click.option("--seeds", default="0:8", show_default=True, metavar="FROM:TO|LIST", help="The seeds of each trial.")
@click.option(
    "--held-out", default="1000:1020", show_default=True, metavar="FROM:TO|LIST",
    help="The seeds with which the best setting and the defaults are compared.",
)  # fmt: skip
@click.option("--out", type=_file, default=Path("runs.sqlite"), show_default=True, help="The file that keeps the runs.")
@click.option("--sampler-seed", type=int, default=0, show_default=True, help="The seed of the search itself.")
@_crew_options
@app_option
def tune(
    *, world: str, measure: str, minimize: bool, over: dict[str, str], given: dict[str, str], trials: int, ticks: int,
    seeds: str, held_out: str, out: Path, sampler_seed: int, workers: int | None, ray: str, time_limit: float | None,
) -> None:  # fmt: skip
    """Search for the parameters with which a measure of WORLD, or of the world of your project, is best.

    What is best is then compared with the defaults, with seeds that the search has not seen. Whatever ends this
    command, the same command goes on where it was. Needs the extra 'tune'.
    """
    from agentrt.ensembles.report import EnsembleReport
    from agentrt.ensembles.tune import tune as search

    with _going_on(out) as told:
        tuned = search(
            world, ticks=ticks, over=over, measure=measure, minimize=minimize, trials=trials, seeds=seeds,
            held_out=held_out, params=given, out=out, sampler_seed=sampler_seed, workers=workers, ray=ray,
            time_limit=time_limit, app=given_app(), told=told,
        )  # fmt: skip
    for number, trial in enumerate(tuned.trials):
        mark = "  best" if trial is tuned.best else ""
        value = "no value" if trial.value is None else f"{trial.value:.6g}"
        tell(f"trial {number}: {value}{_settings(trial.params)}{mark}")
    tell_text("\nwith held-out seeds, by default and with the best setting:\n")
    for line in EnsembleReport(tuned.held_out, [measure]).lines():
        tell_text(f"{line}\n")


def _settings(params: Mapping[str, object]) -> str:
    return "".join(f"  {name}={value}" for name, value in params.items())
