"""What of the stepping of thinks is never compiled.

The compiler's coroutines cannot await in the middle of handling an error, and this one awaits what an author wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from agentrt.kernel.traps import Waiter, suspend_on

if TYPE_CHECKING:
    from agentrt.kernel.strand import Strand


async def think_after(leaving: Strand, then: Callable[[], Coroutine[Any, Any, Any] | None]) -> None:
    """Think when the think before, which was stopped and still cleans up, has ended."""
    if not leaving.is_done:
        waiter = Waiter()
        leaving.when_ended(waiter.notify)
        await suspend_on(waiter)
    coro = then()
    if coro is not None:
        await coro
