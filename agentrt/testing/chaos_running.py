"""Driving a runtime tick by tick on any host, from plain code: what a scenario of chaos is played with.

The plain host is stepped on the caller's stack. On asyncio and trio an event loop is started for it; between two ticks
it has one turn, so that results of the outside can come in. So it cannot be called where a loop runs already.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from agentrt.errors import MissingExtraError
from agentrt.runtime import Runtime

__all__ = ["play"]


def play(runtime: Runtime, ticks: int, before: Callable[[int], object]) -> None:
    """Run ticks, then close the runtime.

    Args:
        runtime: on the plain, the asyncio or the trio host.
        ticks: how many.
        before: called before each tick with its number.

    Raises:
        MissingExtraError: trio is not installed.
    """
    if runtime.host == "plain":
        try:
            for _ in range(ticks):
                before(runtime.tick + 1)
                runtime.step()
        finally:
            runtime.close()
        return

    async def run() -> None:
        try:
            for _ in range(ticks):
                before(runtime.tick + 1)
                await runtime.run(1, speed=math.inf, blocking_ms=None)
        finally:
            await runtime.aclose()

    if runtime.host == "asyncio":
        asyncio.run(run())
        return
    try:
        import trio
    except ModuleNotFoundError as error:
        raise MissingExtraError("trio", "trio") from error
    trio.run(run)
