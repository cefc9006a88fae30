"""``agentrt inspect``: look at a recording in the browser; and ``agentrt demo --inspect``: look at a world that runs.

Both print the address of the page on standard output, serve until Ctrl-C, and end cleanly.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agentrt.cli.groups import tell

if TYPE_CHECKING:
    from agentrt.inspect import Inspector
    from agentrt.worlds import Watch, World

__all__ = ["Page", "inspect", "inspect_world", "page_options"]

DEFAULT_PORT = 8765  # as agentrt.inspect has it, which is imported when it is needed
DEFAULT_ADDRESS = "127.0.0.1"


class Page(NamedTuple):
    """How a page is served: what the options say.

    Attributes:
        port: where it listens; 0 for any port that is free.
        address: what it listens on.
        token: what clients have to know, or None.
        is_opened: whether a browser is opened.
    """

    port: int
    address: str
    token: str | None
    is_opened: bool

    @property
    def was_asked_for(self) -> bool:
        """Whether any option on the command line says something of it."""
        return self.is_opened or (self.port, self.address) != (DEFAULT_PORT, DEFAULT_ADDRESS)


def page_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a page; it is called with a ``page``.

    Args:
        command: a function that is to be a command.
    """

    @click.option(
        "--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True,
        help="Where the page is; 0 takes any port that is free.",
    )  # fmt: skip
    @click.option(
        "--address",
        default=DEFAULT_ADDRESS,
        show_default=True,
        help="What it listens on; all but loopback need a token.",
    )
    @click.option(
        "--token", envvar="AGENTRT_INSPECT_TOKEN", show_envvar=True,
        help="What clients have to know: 16 characters or more.",
    )  # fmt: skip
    @click.option("--open", "is_opened", is_flag=True, help="Open the page in a browser.")
    @functools.wraps(command)
    def with_page(*, port: int, address: str, token: str | None, is_opened: bool, **others: Any) -> None:
        command(page=Page(port, address, token, is_opened), **others)

    return with_page


@click.command()
@click.argument("recording")
@page_options
def inspect(*, recording: str, page: Page) -> None:
    """Look at a RECORDING in the browser, at any tick of it.

    A recording that is still being written can be looked at, too.
    """
    from agentrt.inspect import Inspector

    inspector = Inspector(recording, port=page.port, address=page.address, token=page.token)
    with contextlib.suppress(KeyboardInterrupt), inspector:
        _tell(inspector, page.is_opened)
        _wait()


def inspect_world(
    world: World, page: Page, *, seed: int, speed: float, controls: bool, paused: bool, watch: Watch | None = None
) -> None:
    """Run a world at its own pace and show it in the browser, until Ctrl-C.

    Args:
        world: which.
        page: how the page is served.
        seed: the seed of all that is random.
        speed: game seconds for each real second.
        controls: whether the page may pause, step and set breakpoints.
        paused: whether it waits before its first tick.
        watch: called with the runtime before the first tick, if given.
    """
    import asyncio

    from agentrt.inspect import Inspector

    runtime = world.make(seed=seed, host="asyncio")
    inspector = Inspector(
        runtime, port=page.port, address=page.address, token=page.token, controls=controls, title=world.name
    )
    if watch is not None:
        watch(runtime)

    async def run() -> None:
        async with runtime, inspector:
            if paused:
                inspector.pause()
            _tell(inspector, page.is_opened)
            await runtime.run(speed=speed)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


def _wait() -> None:
    """Wait until it is interrupted."""
    import threading

    threading.Event().wait()


def _tell(inspector: Inspector, is_opened: bool) -> None:
    tell("Ctrl-C ends it.", err=True)  # first: whoever reads the address may end it at once
    tell(inspector.url)
    if is_opened:
        click.launch(inspector.url)
