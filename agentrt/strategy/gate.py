"""The gate before a strategy's coroutine: while it is closed, the coroutine takes no step, wherever it awaits.

``await Gate(coroutine)`` is the same as ``await coroutine``: what the coroutine yields goes up to the kernel as
it is, and what the kernel sends or raises goes down. So it works for every await: those of the kernel, and futures and
whatever else the host knows. Rules:

* While the gate is closed, a wake goes no further: it is kept, the strand waits at the gate, and when it opens the
  coroutine gets what it was woken with. A sleep that came to its end meanwhile has ended then.
* What is *raised* goes through at once: a cancellation, or a deadline of the author's own around the await. The
  coroutine deals with it, and stands still at its next await. How a host tells of the deadline of a library is the
  host's affair: trio raises (``trio.sleep`` is such a deadline, too), asyncio cancels a future, which is a wake.
* The gate never holds up the end: whoever unwinds the strategy opens it (``Extras.unwinding``), so that clean-up that
  waits is waited for. It may be standing behind a shield, where it is not woken by being stopped.

It is an iterator with ``send``, ``throw`` and ``close`` and no generator: whoever looks for the line at which a strand
is suspended follows ``gi_frame`` and ``gi_yieldfrom`` through it.

Rejected: taking the strand out of the books of what it waits for. A future of the host knows no such thing, and a
notification that came meanwhile would be lost.

Source: seed 003, "Pauseable/Cancelable Tasks".
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import TYPE_CHECKING, Any

from agentrt.kernel.traps import Waiter

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["Gate"]


class Gate(Generator[Any, Any, Any]):
    """Drives a coroutine, and has it stand still while it is closed. Await it, once.

    Args:
        coro: the coroutine.

    Attributes:
        is_closed: whether the coroutine stands still.
    """

    __slots__ = ("_coro", "_kept", "_waiter", "is_closed")

    def __init__(self, coro: Coroutine[Any, Any, Any]) -> None:
        self.is_closed: bool = False
        self._coro = coro
        self._waiter: Waiter | None = None  # at the gate, while a wake is kept
        self._kept: Any = None

    def close_gate(self) -> None:
        """Have the coroutine stand still from its next wake on."""
        self.is_closed = True

    def open_gate(self) -> None:
        """Let it go on. If a wake was kept, it gets it when the ready queue comes to it."""
        self.is_closed = False
        if self._waiter is not None:
            self._waiter.notify()

    # --- what Python asks of whatever is awaited ----------------------------------------------------------------------

    def __await__(self) -> Gate:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        """A wake: on to the coroutine, or kept.

        Args:
            value: what the wait returns.

        Returns:
            What the coroutine awaits next, or the wait at the gate.
        """
        if self._waiter is not None:  # it was the gate's own
            value, self._kept, self._waiter = self._kept, None, None
        if self.is_closed:
            self._kept = value
            self._waiter = Waiter()
            return self._waiter
        return self._coro.send(value)

    def throw(self, *raised: Any) -> Any:
        """Something is raised: it goes through.

        Args:
            raised: as for a coroutine.

        Returns:
            What the coroutine awaits next.
        """
        self._kept = self._waiter = None
        return self._coro.throw(*raised)

    def close(self) -> None:
        """Nobody steps it any more."""
        self._coro.close()

    @property
    def gi_frame(self) -> FrameType | None:
        """The frame of the coroutine."""
        frame: FrameType | None = getattr(self._coro, "cr_frame", None)
        return frame

    @property
    def gi_yieldfrom(self) -> Any:
        """What the coroutine awaits."""
        return getattr(self._coro, "cr_await", None)

    def __repr__(self) -> str:
        return f"<Gate: {'closed' if self.is_closed else 'open'}>"
