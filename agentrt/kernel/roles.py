"""What the parts of the kernel are to each other: what can be queued, and what all of them ask of the kernel.

Traps and strands lie below the kernel, and each of them has to do with it: a wake appends to its ready
queue, a strand that ends tells it. What they need of it stands here, so that they need not know the kernel itself, and
one can be read after the other: ``traps``, ``strand``, ``kernel``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agentrt.kernel.clock import Clock


class Stepper(Protocol):
    """What the kernel steps when an entry's turn comes: a coroutine, or whatever can be stepped like one."""

    def send(self, value: None, /) -> object:
        """Go on; returns a command of the traps module."""
        ...


class Entry(Protocol):
    """What the ready queue and the agenda hold: strands, timers, calls."""

    waiting: object  # the tick in which the entry is due, while it sleeps

    @property
    def stepper(self) -> Stepper:
        """How it goes on."""
        ...

    @property
    def name(self) -> str:
        """For people."""
        ...

    @property
    def coro(self) -> Coroutine[Any, Any, Any] | None:
        """The coroutine whose code runs while it goes on; None for a plain function's."""
        ...

    def strand(self) -> Suspended | None:
        """The strand of that coroutine, made if it has none yet; None for a plain function's."""
        ...


class Suspended(Entry, Protocol):
    """A strand, as what it waits for sees it."""

    @property
    def owner(self) -> object:
        """Who is told when it ends."""
        ...

    @property
    def kernel(self) -> Scheduler:
        """Who steps it."""
        ...

    def notice(self, notice: Any, /) -> None:
        """What it waits for was notified with a value: its next step delivers it."""


class Idle(Protocol):
    """Who counts the waits that had nothing to wait for."""

    def goes_on(self, weight: int) -> bool:
        """Count one; says whether it may end at once."""
        ...


class Forgetful(Protocol):
    """The agenda, as who leaves it sees it."""

    def leave(self, entry: Entry, tick: int, live: int) -> bool:
        """Take an entry out that sleeps; says whether it did."""
        ...


class Due(Protocol):
    """A call that is due in a later tick."""

    def cancel(self) -> None:
        """Do not make the call."""


class Hooked(Protocol):
    """Who hears of async generators."""

    hooks: tuple[Callable[[Any], None], Callable[[Any], None]]  # for ``sys.set_asyncgen_hooks``


class Cancellation(Protocol):
    """How a host cancels."""

    cancelled_type: type[BaseException]  # the exception that a cancelled wait raises

    def cancelled(self, reason: str) -> BaseException:
        """A fresh exception for one cancelled wait."""
        ...


class Scheduler(Protocol):
    """The kernel, as what lies below it sees it."""

    abandoned: list[Coroutine[Any, Any, Any]]
    clock: Clock
    current: Entry | None
    draining: bool
    in_tick: bool
    refused: object
    free_waits: int
    live: int
    livelock_steps: int
    ready: deque[Entry]

    @property
    def agenda(self) -> Forgetful:
        """Who sleeps until when."""
        ...

    @property
    def generators(self) -> Hooked:
        """The async generators that were begun in its strands."""
        ...

    @property
    def host(self) -> Cancellation:
        """What stands between it and an event loop."""
        ...

    @property
    def idle_waits(self) -> Idle:
        """Who counts the waits that end at once, when there were many."""
        ...

    @property
    def tick(self) -> int:
        """The number of the tick."""
        ...

    def call_soon(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function when the ready queue comes to it."""

    def call_later(self, ticks: int, fn: Callable[..., object], *args: Any) -> Due:
        """Call a function in a later tick."""
        ...

    def report(self, text: str, error: BaseException) -> None:
        """Report a failure that nobody else handles."""

    def end(self, strand: Entry, result: Any, error: BaseException | None) -> None:
        """Close the books on a strand whose coroutine has ended."""

    def drain(self, expired: Callable[[], bool] | None = None) -> bool:
        """Step what is ready."""
        ...

    def park(self, entry: Entry, command: object) -> None:
        """Do what an entry yielded."""

    def step_tick(self) -> None:
        """Run one whole tick."""
