"""What the kernel asks of a host: whoever stands between it and an event loop. The hosts are in the folder beside."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand, StrandOwner

__all__ = ["Host"]


class Host(Protocol):
    """What stands between the kernel and an event loop."""

    name: str  # plain, asyncio or trio
    steps_inline: bool  # whether a coroutine may make its first step before it has a strand
    foreign_waits: int  # how often a strand waited for something of the event loop, which no journal can repeat
    cancelled_type: type[BaseException]  # the exception that a cancelled wait raises

    def strand(self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None) -> Strand:
        """Make a strand for a coroutine."""
        ...

    def cancelled(self, reason: str) -> BaseException:
        """A fresh exception for one cancelled wait."""
        ...

    def foreign(self, strand: Strand, command: object) -> None:
        """A strand yielded something that is not the kernel's: wait for it, or make it fail."""

    def translate(self, error: BaseException) -> BaseException:
        """The error to report for what a strand raised, often the same."""
        ...

    def enter(self) -> None:
        """The kernel begins to step strands, synchronously."""

    def leave(self) -> None:
        """The kernel has stepped them."""

    async def run_tick(self, kernel: Kernel, budget: float | None = None) -> None:
        """Run one whole tick; the event loop gets a turn whenever a budget of real seconds is used up."""

    async def rest(self, kernel: Kernel, seconds: float) -> None:
        """Let real time pass between two ticks, and the event loop work."""

    async def drained(self, kernel: Kernel, strands: Iterable[Strand], seconds: float) -> bool:
        """Wait until strands that wait outside the kernel have ended, without ticking; says whether all have."""
        ...
