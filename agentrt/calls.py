"""Calls to the outside: ``await ctx.call(fn, *args)``.

The function runs on the host, beside the game; its result comes in at a tick's intake, in order of arrival, as any other
input. Between the two nothing of the game waits, except the strand that called.

* asyncio and trio: a coroutine function runs as a task of the event loop, a plain function in a worker thread.
* plain: a plain function is called at once, on this thread, so that a simulation stays deterministic; its result still
  comes in at the next tick. A coroutine function has no loop to run on there: that is an error that says so.

A call whose strand is cancelled is cancelled too, if it is a coroutine; a thread runs to its end and its result is dropped.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from agentrt.errors import ForeignAwaitError
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.traps import Waiter, suspend_on

__all__ = ["call_outside"]

_running: set[asyncio.Task[None]] = set()  # asyncio itself keeps only weak references


class _Call:
    """One call: its waiter, and what came of it."""

    __slots__ = ("cancel", "error", "kernel", "waiter")

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.waiter = Waiter()
        self.error: BaseException | None = None
        self.cancel: Callable[[], object] | None = None

    def deliver(self, value: Any, error: BaseException | None) -> None:
        self.error = error
        self.waiter.notify(value)

    async def make(self, fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Run the function on an event loop, and post what comes of it."""
        import anyio

        try:
            if inspect.iscoroutinefunction(fn):
                value = await fn(*args)
            else:
                value = await anyio.to_thread.run_sync(lambda: fn(*args))
        except Exception as error:
            self.kernel.post(self.deliver, None, error)
        else:
            self.kernel.post(self.deliver, value, None)


async def call_outside(kernel: Kernel, fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call a function outside the game.

    Args:
        kernel: whose intake takes the result.
        fn: a coroutine function or a plain function.
        args: what to call it with.

    Returns:
        What it returned.

    Raises:
        ForeignAwaitError: a coroutine function, and no event loop.
        Exception: what it raised.
    """
    call = _Call(kernel)
    start = {"asyncio": _on_asyncio, "trio": _on_trio}.get(kernel.host.name, _inline)
    start(call, fn, args)
    try:
        value = await suspend_on(call.waiter)
    except BaseException:
        if call.cancel is not None:
            call.cancel()
        raise
    if call.error is not None:
        raise call.error
    return value


def _inline(call: _Call, fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    if inspect.iscoroutinefunction(fn):
        name = getattr(fn, "__qualname__", repr(fn))
        raise ForeignAwaitError(f"the coroutine function {name}", call.kernel.host.name, tick=call.kernel.tick)
    try:
        value = fn(*args)
    except Exception as error:
        call.kernel.post(call.deliver, None, error)
    else:
        call.kernel.post(call.deliver, value, None)


def _on_asyncio(call: _Call, fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    task = asyncio.get_running_loop().create_task(call.make(fn, args))
    _running.add(task)
    task.add_done_callback(_running.discard)
    call.cancel = task.cancel


def _on_trio(call: _Call, fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    import trio

    scope = trio.CancelScope()

    async def make() -> None:
        with scope:
            await call.make(fn, args)

    trio.lowlevel.spawn_system_task(make)
    call.cancel = scope.cancel
