"""Which event loop runs on this thread, and the few things that are done with whichever it is.

Nothing is imported to find out: a library that was never imported runs no loop. The hosts are imported when
they are made.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from agentrt.errors import MissingExtraError, NotRunningError
from agentrt.kernel.traps import at_once, running

if TYPE_CHECKING:
    from agentrt.kernel.kernel import PlainHost
    from agentrt.kernel.strand import Strand


def current_library() -> str:
    """Which event loop runs on this thread: asyncio, trio or plain."""
    trio = sys.modules.get("trio")
    # First, since trio may run as a guest of asyncio: then both say that they run, and who awaits here awaits trio.
    if trio is not None and trio.lowlevel.in_trio_run():
        return "trio"
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None and asyncio._get_running_loop() is not None:
        return "asyncio"
    return "plain"


def current_loop() -> object | None:
    """The event loop that runs on this thread, as an object; None if there is none."""
    library = current_library()
    if library == "trio":
        token: object = sys.modules["trio"].lowlevel.current_trio_token()
        return token
    loop: object | None = sys.modules["asyncio"].get_running_loop() if library == "asyncio" else None
    return loop


def now() -> float:
    """The time on the clock of the event loop, in seconds from any start; without a loop, real time."""
    library = current_library()
    if library == "plain":
        return time.monotonic()
    module = sys.modules[library]
    seconds: float = module.current_time() if library == "trio" else module.get_running_loop().time()
    return seconds


async def rest(seconds: float) -> None:
    """Let real time pass, and the event loop work, which gets one turn with 0; without a loop it blocks the thread."""
    if current_library() != "plain":
        import anyio

        await anyio.sleep(max(0.0, seconds))
    elif seconds > 0:
        time.sleep(seconds)  # noqa: ASYNC251 - there is no loop


async def drained(strands: Iterable[Strand], seconds: float) -> None:
    """Wait until strands that wait for the event loop have ended, so many real seconds at most; no tick is run."""
    import anyio

    async with at_most(seconds):
        for strand in strands:
            if not strand.is_done:
                event = anyio.Event()
                strand.when_ended(event.set)
                await event.wait()


@contextlib.asynccontextmanager
async def at_most(seconds: float) -> AsyncIterator[None]:
    """A block that is left after so many seconds of the event loop's clock; who is cancelled in it stays cancelled."""
    if current_library() == "asyncio":
        import asyncio

        # Not anyio's: before 4.16 it takes a cancellation that comes in the very turn in which it is due for its own.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                yield
    else:
        import anyio

        with anyio.move_on_after(seconds):
            yield


def shield() -> AbstractContextManager[object]:
    """What keeps a cancellation away from clean-up; without an event loop there is none."""
    if current_library() == "plain":
        return contextlib.nullcontext()
    import anyio

    return anyio.CancelScope(shield=True)


def is_cancellation(error: BaseException) -> bool:
    """Whether an error is the event loop's own cancellation."""
    if current_library() == "plain":
        return False
    import anyio

    return isinstance(error, anyio.get_cancelled_exc_class())


async def step_outside() -> None:
    """What a coroutine awaits first that a strand must not await, and that may refuse it without suspending.

    A strand that swallows the refusal, and asks again and again, does not let time pass. Where no kernel steps the
    caller this does nothing: whoever drives such a coroutine by hand, or is being cancelled, must get into it.
    """
    if running.kernel is not None:
        await at_once()


def is_foreign_cancellation(error: BaseException) -> bool:
    """Whether an error looks like the cancellation of the task that runs here, and is none: nobody cancelled it.

    ``asyncio.CancelledError`` comes out of much else, such as ``result()`` of a task that was cancelled. (Trio alone
    makes its exceptions, each where it is raised.)
    """
    if current_library() != "asyncio":
        return False
    import asyncio

    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and not task.cancelling()


async def wait_outside(connect: Callable[[Callable[[], None]], object]) -> None:
    """Wait, in a task of the event loop that runs on this thread, until a function is called, in whichever thread.

    Args:
        connect: given that function.
    """
    library = current_library()
    await step_outside()
    if library == "plain":
        raise NotRunningError(
            "this can be awaited only in a coroutine that a runtime steps, or in a task of an event loop."
        )
    import anyio

    soon: Callable[..., object]
    if library == "trio":
        import trio

        soon = trio.lowlevel.current_trio_token().run_sync_soon
    else:
        import asyncio

        soon = asyncio.get_running_loop().call_soon_threadsafe
    event = anyio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            soon(event.set)

    connect(wake)
    await event.wait()


def make_host(name: str) -> PlainHost:
    if name == "asyncio":
        from agentrt.kernel.hosts.asyncio_ import AsyncioHost

        return AsyncioHost()
    if name == "trio":
        try:
            from agentrt.kernel.hosts.trio_ import TrioHost
        except ModuleNotFoundError as error:
            raise MissingExtraError("trio", "trio") from error
        return TrioHost()
    from agentrt.kernel.kernel import PlainHost

    return PlainHost()
