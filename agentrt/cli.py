"""The command line: run a world, check packs, check selection trees.

The commands only read options and print; what they print is made below (``agentrt.worlds``, ``agentrt.packs.check``,
``agentrt.selection.check``), and is imported when a command runs, so that ``agentrt --help`` is quick.

Rules:

* Results go to standard output, progress and notes to standard error, so that a pipe gets results alone.
* An ``AgentRTError`` is one clean message on standard error and exit code 2, like a wrong option. Exit code 1 says that
  the command worked and did not like what it found.
* ``demo`` without a terminal runs headless: a program that pipes it wants the report.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from agentrt.errors import AgentRTError

__all__ = ["main"]

DEFAULT_WORLD = "colony"
DEFAULT_TICKS = 2000
HOSTS = ("plain", "asyncio", "trio")


class _Failure(click.ClickException):
    exit_code = 2


class _Group(click.Group):
    """A group whose commands tell an ``AgentRTError`` as a message."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except AgentRTError as error:
            notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
            raise _Failure(f"{error}{notes}") from None


def _version() -> str:
    from importlib.metadata import version

    return version("agentrt")


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"agentrt {_version()}")
        ctx.exit()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
def main() -> None:
    """An agent runtime: game AI as coroutines on a deterministic clock."""


# --- demo -------------------------------------------------------------------------------------------------------------


@main.command()
@click.argument("name", required=False)
@click.option("--headless", is_flag=True, help="Run without a terminal and print a report.")
@click.option(
    "--ticks", type=click.IntRange(min=1), help=f"Headless: how many ticks to run.  [default: {DEFAULT_TICKS}]"
)
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of all that is random.")
@click.option("--digest", is_flag=True, help="Headless: end with one line 'digest: HEX', a hash of the whole run.")
@click.option("--host", type=click.Choice(HOSTS), help="Headless: what the kernel runs on.  [default: plain]")
@click.option("--speed", type=float, default=1.0, show_default=True, help="Live: game seconds for each real second.")
@click.option("--list", "list_only", is_flag=True, help="List the worlds that are installed.")
def demo(
    *,
    name: str | None,
    headless: bool,
    ticks: int | None,
    seed: int,
    digest: bool,
    host: str | None,
    speed: float,
    list_only: bool,
) -> None:
    """Run the world NAME and watch it; the colony, if no other is named.

    Worlds come from installed packages, through the entry-point group 'agentrt.worlds'.
    """
    from agentrt import worlds

    if list_only:
        for known in worlds.find_worlds():
            click.echo(f"{known}  {worlds.load_world(known).summary}")
        return
    world = worlds.load_world(name or DEFAULT_WORLD)
    if not headless and not _has_terminal():
        click.echo("standard output is not a terminal: running headless", err=True)
        headless = True
    if not headless:
        if ticks is not None or digest or host is not None:
            raise click.UsageError("--ticks, --digest and --host go with --headless.")
        if not speed > 0:
            raise click.BadParameter("a speed is more than 0.", param_hint="--speed")
        world.run_live(seed=seed, speed=speed)
        return
    report = world.run_headless(
        ticks=ticks or DEFAULT_TICKS, seed=seed, host=host or HOSTS[0], progress=_progress_printer()
    )
    for line in worlds.table_lines(report):
        click.echo(line)
    if digest:
        click.echo(f"digest: {report.digest}")


def _has_terminal() -> bool:
    return sys.stdout.isatty()


def _progress_printer() -> Callable[[int, int, str], None]:
    """Print a line at each twentieth of the way, however often the world reports."""
    told = -1

    def progress(tick: int, ticks: int, text: str) -> None:
        nonlocal told
        step = tick * 20 // max(ticks, 1)
        if step > told:
            told = step
            click.echo(f"tick {tick}/{ticks}{'  ' if text else ''}{text}", err=True)

    return progress


# --- packs ------------------------------------------------------------------------------------------------------------


@main.group(cls=_Group)
def packs() -> None:
    """Check AI packs, and list what they can refer to."""


def _alias_option(_ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> list[tuple[str, Path]]:
    pairs = []
    for value in values:
        alias, equals, file = value.partition("=")
        if not (alias and equals and file):
            raise click.BadParameter(f"'{value}' is not ALIAS=FILE, as in my_mod:ai_pack:core=packs/core.json.")
        pairs.append((alias, Path(file)))
    return pairs


@packs.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.option("--allow-unresolved", is_flag=True, help="List aliases that nobody registered without failing.")
@click.option(
    "--alias", "aliases", multiple=True, metavar="ALIAS=FILE", callback=_alias_option,
    help="Register a pack file for this check, so that others can require it. May be repeated.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check(*, paths: tuple[Path, ...], allow_unresolved: bool, aliases: list[tuple[str, Path]], as_json: bool) -> None:
    """Check files of packs and of task groups, or all *.json below a folder.

    Reports for each file its actions, its dependencies, everything that it holds together with them (its closure), and
    the aliases that nobody registered. Exit code 1 if anything is wrong.
    """
    from agentrt.packs.check import check_files, find_files
    from agentrt.packs.registry import Registry

    registry = Registry.discover()
    for alias, file in aliases:
        registry.register(alias, file, origin="--alias")
    report = check_files(find_files(paths), registry, allow_unresolved=allow_unresolved)
    if as_json:
        click.echo(json.dumps(report.as_json(), indent=2))
    else:
        for line in report.as_text():
            click.echo(line)
    if not report.ok:
        sys.exit(1)


@packs.command(name="schema")
@click.argument("kind", type=click.Choice(["ai_pack", "task_groups"]), default="ai_pack")
def print_schema(*, kind: str) -> None:
    """Print the JSON Schema of packs, or of task groups."""
    from agentrt.packs.schema import schema_text

    click.echo(schema_text(kind), nl=False)


@packs.command(name="list")
@click.option("--kind", help="Only aliases of this kind: actions, observers, components, task_groups, ai_pack.")
@click.option("--origin", is_flag=True, help="Show where each alias comes from.")
def list_aliases(*, kind: str | None, origin: bool) -> None:
    """List the aliases that packs can refer to here."""
    from agentrt.errors import did_you_mean
    from agentrt.packs.alias import KINDS
    from agentrt.packs.registry import Registry

    if kind is not None and kind not in KINDS:
        raise click.BadParameter(
            f"there is no kind '{kind}'.{did_you_mean(kind, KINDS)} The kinds are {', '.join(KINDS)}.",
            param_hint="--kind",
        )
    registry = Registry.discover()
    for alias in registry.aliases(kind or ""):
        click.echo(f"{alias}  from {registry.origin(alias)}" if origin else alias)


# --- selection --------------------------------------------------------------------------------------------------------


@main.group(cls=_Group)
def selection() -> None:
    """Check selection trees."""


@selection.command(name="check")
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--compatible", is_flag=True, help="For old files: what can be left out or ignored is a warning.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check_selection(*, path: Path, compatible: bool, as_json: bool) -> None:
    """Check the selection trees and blocks in all *.xml below the folder PATH, or in one file.

    Reports everything that is wrong, with file and line. Exit code 1 if there is an error; warnings are no errors.
    """
    from agentrt.selection.check import check_path

    report = check_path(path, "compatible" if compatible else "strict")
    if as_json:
        click.echo(json.dumps(report.as_json(), indent=2))
    else:
        for line in report.as_text():
            click.echo(line)
    if not report.ok:
        sys.exit(1)


if __name__ == "__main__":
    main()
