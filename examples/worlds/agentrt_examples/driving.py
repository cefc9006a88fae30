"""Driving a world without a terminal: on any host, as fast as it goes, until it is over.

What the worlds of this package have in common when they run headless. On an event loop the runtime drives itself and
is stopped by whoever looks after each tick; without one it is stepped here, and closed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentrt import Runtime

__all__ = ["drive"]


def drive(runtime: Runtime, host: str, is_over: Callable[[], bool]) -> None:
    """Run a world to its end.

    Args:
        runtime: the world's; a function of its own stops it when it is over (``runtime.after_tick``).
        host: what it was made for: plain, asyncio or trio.
        is_over: whether the last tick was run; asked where no event loop runs.
    """
    if host == "asyncio":
        import asyncio

        asyncio.run(runtime.run(speed=math.inf))
    elif host == "trio":
        import trio

        async def run() -> None:
            await runtime.run(speed=math.inf)

        trio.run(run)
    else:
        while not is_over():
            runtime.step()
        runtime.close()
