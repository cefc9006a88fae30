"""Worlds and recordings to look at: ``agentrt demo`` and ``agentrt inspect``.

Whatever serves a page prints its address on standard output, serves until Ctrl-C, and ends cleanly.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from agentrt.cli.groups import HOSTS, progress_printer, tell, tell_text
from agentrt.errors import AgentRTError
from agentrt.worlds import Watch, World, find_worlds, load_world, nobody, table_lines

if TYPE_CHECKING:
    from agentrt.inspect import Inspector
    from agentrt.runtime.intake import RunRecorder

__all__ = ["demo", "inspect"]

DEFAULT_PORT = 8765  # as agentrt.inspect has it, which is imported when it is needed
DEFAULT_ADDRESS = "127.0.0.1"


class _Page(NamedTuple):
    """How a page is served: what the options say."""

    port: int  # where it listens; 0 for any port that is free
    address: str  # what it listens on
    token: str | None  # what clients have to know, or None
    is_opened: bool  # whether a browser is opened

    @property
    def was_asked_for(self) -> bool:
        """Whether any option on the command line says something of it."""
        return self.is_opened or (self.port, self.address) != (DEFAULT_PORT, DEFAULT_ADDRESS)


def _page_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a function that is to be a command the options of a page; it is called with a ``page``."""

    @click.option(
        "--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True,
        help="Where the page is; 0 takes any port that is free.",
    )  # fmt: skip
    @click.option(
        "--address", default=DEFAULT_ADDRESS, show_default=True,
        help="What it listens on; all but loopback need a token.",
    )  # fmt: skip
    @click.option(
        "--token", envvar="AGENTRT_INSPECT_TOKEN", show_envvar=True,
        help="What clients have to know: 16 characters or more.",
    )  # fmt: skip
    @click.option("--open", "is_opened", is_flag=True, help="Open the page in a browser.")
    @functools.wraps(command)
    def with_page(*, port: int, address: str, token: str | None, is_opened: bool, **others: object) -> None:
        command(page=_Page(port, address, token, is_opened), **others)

    return with_page


@click.command()
@click.argument("recording")
@_page_options
def inspect(*, recording: str, page: _Page) -> None:
    """Look at a RECORDING in the browser, at any tick of it.

    A recording that is still being written can be looked at, too.
    """
    from agentrt.inspect import Inspector

    inspector = Inspector(recording, port=page.port, address=page.address, token=page.token)
    with contextlib.suppress(KeyboardInterrupt), inspector:
        _tell(inspector, page.is_opened)
        _wait()


def _wait() -> None:
    """Wait until it is interrupted."""
    import threading

    threading.Event().wait()


def _inspect_world(
    world: World, page: _Page, *, seed: int, speed: float, controls: bool, paused: bool, watch: Watch
) -> None:
    """Run a world at its own pace and show it in the browser, until Ctrl-C."""
    import asyncio

    from agentrt.inspect import Inspector

    runtime = world.make(seed=seed, host="asyncio")
    inspector = Inspector(
        runtime, port=page.port, address=page.address, token=page.token, controls=controls, title=world.name
    )
    watch(runtime)

    async def run() -> None:
        async with runtime, inspector:
            if paused:
                inspector.pause()
            _tell(inspector, page.is_opened)
            await runtime.run(speed=speed)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


def _tell(inspector: Inspector, is_opened: bool) -> None:
    tell("Ctrl-C ends it.", err=True)  # first: whoever reads the address may end it at once
    tell(inspector.url)
    if is_opened:
        click.launch(inspector.url)


DEFAULT_WORLD = "colony"
DEFAULT_TICKS = 2000


@click.command()
@click.argument("name", required=False)
@click.option("--headless", is_flag=True, help="Run without a terminal and print a report.")
@click.option("--ticks", type=click.IntRange(1), help=f"Headless: how many ticks to run.  [default: {DEFAULT_TICKS}]")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of all that is random.")
@click.option("--digest", is_flag=True, help="Headless: end with one line 'digest: HEX', a hash of the whole run.")
@click.option("--host", type=click.Choice(HOSTS), help="Headless: what the kernel runs on.  [default: plain]")
@click.option("--speed", type=float, default=1.0, show_default=True, help="Live: game seconds for each real second.")
@click.option("--inspect", "is_inspected", is_flag=True, help="Watch it in the browser instead of the terminal.")
@_page_options
@click.option("--controls", is_flag=True, help="Inspect: let the page pause, step and set breakpoints.")
@click.option("--paused", is_flag=True, help="Inspect: wait before the first tick.")
@click.option(
    "--record", "path", type=click.Path(dir_okay=False, path_type=Path),
    help="Write the run into a file, which can be inspected and replayed.",
)  # fmt: skip
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
    is_inspected: bool,
    page: _Page,
    controls: bool,
    paused: bool,
    path: Path | None,
    list_only: bool,
) -> None:
    """Run the world NAME and watch it; the colony, if no other is named.

    Worlds come from installed packages, through the entry-point group 'agentrt.worlds'.
    """
    if list_only:
        _list()
        return
    world = load_world(name or DEFAULT_WORLD)
    if not is_inspected and not headless and not _has_terminal():
        tell("standard output is not a terminal: running headless", err=True)
        headless = True
    if not headless and (ticks is not None or digest or host is not None):
        raise click.UsageError("--ticks, --digest and --host go with --headless.")
    if not is_inspected and (controls or paused or page.was_asked_for):
        raise click.UsageError("--port, --address, --open, --controls and --paused go with --inspect.")
    if not speed > 0:
        raise click.BadParameter("a speed is more than 0.", param_hint="--speed")
    if is_inspected and headless:
        raise click.UsageError("--headless and --inspect do not go together.")
    if paused and not controls:
        raise click.UsageError("--paused goes with --controls: else nobody could let it run.")
    with _recorded(world.name, path) as watch:
        if is_inspected:
            _inspect_world(world, page, seed=seed, speed=speed, controls=controls, paused=paused, watch=watch)
        elif headless:
            _run_headless(world, ticks or DEFAULT_TICKS, seed, host or HOSTS[0], digest, watch)
        else:
            world.run_live(seed=seed, speed=speed, watch=watch)


def _has_terminal() -> bool:
    return sys.stdout.isatty()


def _list() -> None:
    """List all worlds that can be run; of the others it is said why not, and the exit code is 1."""
    is_fine = True
    for known in find_worlds():
        try:
            tell(f"{known}  {load_world(known).summary}")
        except AgentRTError as error:
            is_fine = False
            tell_text(f"{error}\n", err=True)
    if not is_fine:
        sys.exit(1)


@contextlib.contextmanager
def _recorded(world: str, path: Path | None) -> Iterator[Watch]:
    """Gives what records a world, or what does nothing if there is no path."""
    if path is None:
        yield nobody
        return
    recorders: list[RunRecorder] = []
    try:
        yield lambda runtime: recorders.append(runtime.record(path, world=world))
    finally:
        for recorder in recorders:
            recorder.close()
            tell(f"recorded {recorder.ticks} ticks: agentrt inspect {path}, agentrt replay {path}", err=True)


def _run_headless(world: World, ticks: int, seed: int, host: str, digest: bool, watch: Watch) -> None:
    report = world.run_headless(ticks=ticks, seed=seed, host=host, progress=progress_printer(), watch=watch)
    for line in table_lines(report):
        tell(line)
    if digest:
        tell(f"digest: {report.digest}")
