"""The plain host: no event loop at all. For simulations, tests, and whoever owns the loop.

A strand can await only the kernel's own traps. Anything else comes out of it as a foreign command; it then gets a
``ForeignAwaitError`` at that very await, which says what to do, and which it may catch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from agentrt.errors import ForeignAwaitError
from agentrt.kernel.strand import Cancelled, Strand
from agentrt.words import type_name, words_of

if TYPE_CHECKING:
    from agentrt.kernel.roles import Scheduler

__all__ = [
    "ASYNCIO_WORDS",
    "TRIO_WORDS",
    "Budget",
    "PlainHost",
    "describe",
    "throw_foreign",
    "throw_soon",
    "translate_no_loop",
]

# What the libraries raise when their functions are called where none of their loops runs.
ASYNCIO_WORDS = ("no running event loop", "There is no current event loop")
TRIO_WORDS = (
    "must be called from async context",
    "'RunContext' object has no attribute",  # trio.open_nursery and trio.CancelScope
)
_NO_LOOP_TYPES = ("AsyncLibraryNotFoundError", "NoEventLoopError")


class PlainHost:
    """Strands that await nothing but the kernel."""

    name = "plain"
    steps_inline = True
    foreign_waits: int = 0
    cancelled_type: type[BaseException] = Cancelled

    strand: type[Strand] = Strand  # makes a strand; the class itself, since a method would only call it

    def cancelled(self, reason: str) -> BaseException:
        """The exception for one cancelled wait."""
        return Cancelled(reason)

    def foreign(self, strand: Strand, command: object) -> None:
        """Make the await of something foreign fail."""
        if getattr(command, "_asyncio_future_blocking", False) is True:
            # The mark that somebody waits for it. Left standing, it would make the next await of it fail, anybody's.
            command._asyncio_future_blocking = False  # type: ignore[attr-defined]
        throw_foreign(strand, describe(command), self.name)

    def as_task(self, inline: object, step: Callable[..., object], *args: Any) -> None:
        """Step it: nobody here asks on which task."""
        step(*args)

    def left_open(self) -> BaseException | None:
        """None: there is no event loop."""
        return None

    def translate(self, error: BaseException) -> BaseException:
        """Tell an author who called an event loop's function here what to do instead."""
        return translate_no_loop(error, self.name, ASYNCIO_WORDS + TRIO_WORDS)

    def enter(self) -> None:
        """Nothing to do without a loop."""

    def leave(self) -> None:
        """Nothing to do without a loop."""

    async def run_tick(self, kernel: Scheduler, budget: float | None = None) -> None:
        """Run one whole tick, synchronously: there is no event loop that a budget could give a turn to."""
        kernel.step_tick()

    async def rest(self, kernel: Scheduler, seconds: float) -> None:
        """Let real time pass. Blocks the thread, which is the runtime's own if there is no loop."""
        if seconds > 0:
            time.sleep(seconds)  # noqa: ASYNC251 - there is no loop that it could block

    async def drained(self, kernel: Scheduler, strands: Iterable[Strand], seconds: float) -> bool:
        """Nothing ends here without a tick."""
        return all(strand.is_done for strand in strands)


class Budget:
    """Real time that one slice of a tick may take, on a host with an event loop."""

    __slots__ = ("_end", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def renew(self) -> None:
        """The next slice begins."""
        self._end = time.monotonic() + self._seconds

    def expired(self) -> bool:
        """Whether the slice has used its time up."""
        return time.monotonic() >= self._end


def translate_no_loop(error: BaseException, host: str, words: tuple[str, ...]) -> BaseException:
    """Turn what a library raises where its loop does not run, known by its words, into an error that teaches."""
    text = words_of(error)
    if type_name(error) in _NO_LOOP_TYPES or (
        isinstance(error, (RuntimeError, AttributeError)) and any(known in text for known in words)
    ):
        better = ForeignAwaitError(f"something that needs an event loop ({text})", host)
        better.__cause__ = error
        return better
    return error


def describe(command: object) -> str:
    """What a foreign command is, in words."""
    if command is None:
        return "a bare yield (asyncio.sleep(0), for one)"
    kind = type(command)
    return f"a {kind.__module__}.{kind.__qualname__}"


def throw_foreign(strand: Strand, awaited: str, host: str) -> None:
    """Raise ``ForeignAwaitError`` at the await in which a strand is, when its turn comes."""
    error = ForeignAwaitError(awaited, host, path=f"{strand.name} ({strand.where()})", tick=strand.kernel.tick)
    throw_soon(strand, error)


def throw_soon(strand: Strand, error: BaseException) -> None:
    """Raise an error at the await in which a strand is, when its turn comes."""
    strand.waiting = 0
    strand.stepper = _Thrower(strand, error)
    strand.kernel.ready.append(strand)


class _Thrower:
    """A stepper that raises an error in a strand."""

    __slots__ = ("_error", "_strand")

    def __init__(self, strand: Strand, error: BaseException) -> None:
        self._strand = strand
        self._error = error

    def send(self, _value: None, /) -> object:
        strand = self._strand
        strand.stepper = strand.ordinary_stepper()
        command = strand.throw(self._error)
        if strand.pending() is not None:
            strand.interrupt()
        return command
