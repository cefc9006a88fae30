"""``agentrt demo``: run a world, watch it, record it."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

__all__ = ["demo"]

DEFAULT_WORLD = "colony"
DEFAULT_TICKS = 2000
HOSTS = ("plain", "asyncio", "trio")


@click.command()
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
