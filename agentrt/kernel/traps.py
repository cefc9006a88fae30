"""The one door to the kernel: everything that suspends a strand yields here, and nowhere else.

A strand suspends by yielding a *command*:

* an ``int`` n >= 1: wake me n ticks from now;
* a ``Waiter``: wake me when somebody notifies it.

Anything else that comes out of a strand was not yielded here; it belongs to somebody else's event loop, and the host
decides about it. Signals, conditions, queues and joins are built on ``Waiter``, in the modules above.

``next_tick`` and ``sleep_ticks`` return an awaitable whose iterator is a C one (of a tuple with one element): a wake
then runs no Python code between the kernel and the author's coroutine. A generator would cost a frame each time.
"""

from __future__ import annotations

import threading  # noqa: TID251 - for a local of the thread; nothing here starts or meets one
import types
from collections.abc import Awaitable, Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, cast

from agentrt.errors import NotRunningError

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.signals import WaitList
    from agentrt.kernel.strand import Strand

__all__ = [
    "KEEP",
    "Keep",
    "Ticks",
    "Waiter",
    "current_kernel",
    "current_strand",
    "next_tick",
    "park",
    "sleep",
    "sleep_ticks",
    "suspend_in",
    "suspend_on",
]


class Ticks(tuple[int, ...]):
    """An awaitable that lets a number of ticks pass. Reusable; made once for each number."""

    __slots__ = ()

    __await__: Callable[[], Iterator[int]] = tuple.__iter__  # type: ignore[assignment]


_NOT_NOTIFIED = object()


class Waiter:
    """One wait of one strand.

    Attributes:
        strand: who waits; None before it is suspended, and again once it was notified or gave up.
        value: what the wait returns, once it was notified.
    """

    __slots__ = ("strand", "value")

    def __init__(self) -> None:
        self.strand: Strand | None = None
        self.value: Any = _NOT_NOTIFIED

    @property
    def was_notified(self) -> bool:
        """Whether its strand was woken by a notification; a strand that is cancelled after that still was."""
        return self.value is not _NOT_NOTIFIED

    def notify(self, value: Any = None) -> bool:
        """Wake the strand that waits.

        Args:
            value: what its wait returns.

        Returns:
            False if nobody waits here any more.
        """
        strand = self.strand
        if strand is None:
            return False
        self.strand = None
        self.value = value
        strand.kernel.ready.append(strand)
        return True


class Keep:
    """The command of an entry that leaves the books as they are."""

    __slots__ = ()


KEEP = Keep()

_NEXT: Awaitable[None] = cast("Awaitable[None]", Ticks((1,)))  # no type checker takes a tuple's iterator for its own
_known: dict[int, Awaitable[None]] = {1: _NEXT, 0: cast("Awaitable[None]", Ticks(()))}


def next_tick() -> Awaitable[None]:
    """Wait for the next tick.

    Returns:
        An awaitable that returns None.
    """
    return _NEXT


def sleep_ticks(ticks: int) -> Awaitable[None]:
    """Wait for a number of ticks.

    Args:
        ticks: 0 or more; 0 does not suspend.

    Returns:
        An awaitable that returns None.

    Raises:
        ValueError: the number is negative or not whole.
    """
    known = _known.get(ticks)
    if known is not None:
        return known
    if ticks < 0:
        raise ValueError(f"sleep_ticks({ticks}): the number of ticks must not be negative")
    number = int(ticks)
    if number != ticks:
        raise ValueError(
            f"sleep_ticks({ticks}): the number of ticks must be whole. To wait for seconds: sleep(seconds)"
        )
    made = cast("Awaitable[None]", Ticks((number,)))
    if ticks <= 1000:
        _known[ticks] = made
    return made


def sleep(seconds: float) -> Awaitable[None]:
    """Wait for a duration of game time.

    Args:
        seconds: game seconds; 0 or less does not suspend, anything above waits for at least one tick.

    Returns:
        An awaitable that returns None.

    Raises:
        NotRunningError: no kernel is running on this thread.
    """
    return sleep_ticks(current_kernel().clock.ticks(seconds))


@types.coroutine
def suspend_on(waiter: Waiter) -> Generator[Waiter, None, Any]:
    """Wait until a waiter is notified.

    Args:
        waiter: a fresh one; a waiter serves one wait.

    Returns:
        The value that it was notified with.
    """
    yield waiter
    return waiter.value


@types.coroutine
def suspend_in(waiters: WaitList, waiter: Waiter) -> Generator[Waiter, None, Any]:
    """Wait in a list of waiters. One frame for the whole wait: most thinks of an idle agent are suspended right here.

    Args:
        waiters: the list.
        waiter: a fresh one.

    Returns:
        The value that it was notified with.
    """
    waiters.enter(waiter)
    try:
        yield waiter
    except BaseException:
        if not waiter.was_notified:  # else it is not in the list any more
            waiters.give_up()
        raise
    return waiter.value


async def park() -> None:
    """Wait without a limit: only cancellation ends it."""
    await suspend_on(Waiter())


class _Running(threading.local):
    kernel: Kernel | None = None


running: _Running = _Running()


def current_kernel() -> Kernel:
    """The kernel that steps a strand on this thread at the moment.

    Raises:
        NotRunningError: there is none.
    """
    kernel = running.kernel
    if kernel is None:
        raise NotRunningError(
            "this works only inside an action or another coroutine that a runtime steps. Outside, post it to the "
            "runtime: runtime.post(fn, *args)."
        )
    return kernel


def current_strand() -> Strand:
    """The strand that is stepped on this thread at the moment.

    Raises:
        NotRunningError: there is none.
    """
    entry = current_kernel().current
    strand = None if entry is None else entry.strand()
    if strand is None:
        raise NotRunningError("this works only inside a coroutine that a runtime steps, not in a plain callback of it.")
    return strand
