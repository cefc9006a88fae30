"""What is not the kernel's: what hosts do with what strands await of an event loop, and with real time.

A foreign command is what comes out of a strand and was not yielded by the traps module.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from agentrt.errors import ForeignAwaitError
from agentrt.kernel.strand import Strand
from agentrt.words import type_name, words_of

# What the libraries raise when their functions are called where none of their loops runs.
ASYNCIO_WORDS = ("no running event loop", "There is no current event loop")
TRIO_WORDS = (
    "must be called from async context",
    "'RunContext' object has no attribute",  # trio.open_nursery and trio.CancelScope
)
_NO_LOOP_TYPES = ("AsyncLibraryNotFoundError", "NoEventLoopError")


class Way:
    """A stepper: one of the ways in which a strand goes on."""

    __slots__ = ("send",)

    def __init__(self, send: Callable[..., object]) -> None:
        self.send: Callable[..., object] = send


class Budget:
    """Real time that one slice of a tick may take, on a host with an event loop."""

    __slots__ = ("_end", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.renew()

    def renew(self) -> None:
        self._end = time.monotonic() + self._seconds

    def expired(self) -> bool:
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
    error = ForeignAwaitError(awaited, host, path=f"{strand.name} ({strand.where()})", tick=strand.kernel.clock.tick)
    throw_soon(strand, error)


def throw_soon(strand: Strand, error: BaseException) -> None:
    """Raise an error at the await in which a strand is, when its turn comes."""
    strand.waiting = 0
    strand.stepper = Way(partial(_throw, strand, error))
    strand.kernel.ready.append(strand)


def _throw(strand: Strand, error: BaseException, _value: None) -> object:
    strand.stepper = strand.ordinary_stepper()
    command = strand.throw(error)
    if strand.pending() is not None:
        strand.interrupt()
    return command
