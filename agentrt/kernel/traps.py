"""The one door to the kernel: everything that suspends a strand yields here, and nowhere else.

A strand suspends by yielding a *command*:

* an ``int`` n >= 1: wake me n ticks from now;
* an ``Audience``: put me at its end, and wake me with the others when it is notified;
* a ``Waiter``: wake me when somebody notifies it.

Anything else that comes out of a strand was not yielded here; it belongs to somebody else's event loop, and the host
decides about it. Signals, events and conditions are built on ``Audience``, queues and joins on ``Waiter``, in the
modules above.

``next_tick``, ``sleep_ticks`` and a wait in an audience are awaitables whose iterator is a C one: no Python code runs
between the kernel and the author's coroutine, and an idle agent, of which every think is suspended in an audience,
holds 48 bytes for each. Rejected: a generator (216 bytes, and a frame each time), an iterator in Python (twice the
time). A C iterator returns nothing; so what an audience is notified with waits as a ``Notice`` in the strand, which
sends it in with its next step.
"""

from __future__ import annotations

import threading  # noqa: TID251 - for a local of the thread; nothing here starts or meets one
import types
from collections.abc import Awaitable, Callable, Generator, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any, cast

from agentrt.errors import NotRunningError

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand

__all__ = [
    "COMMANDS",
    "KEEP",
    "Attendance",
    "Audience",
    "Keep",
    "Notice",
    "Ticks",
    "Waiter",
    "current_kernel",
    "current_strand",
    "next_tick",
    "park",
    "sleep",
    "sleep_ticks",
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


class Notice:
    """What an audience was notified with; ``waiting`` of each strand that was woken, until its next step.

    Args:
        value: what the wait returns.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value


class Audience:
    """Strands that wait for the same thing, in order of arrival; all are woken at once.

    The kernel enters whoever yields it. A strand of which ``waiting`` is not this audience does not wait here any
    more: in a small audience it is taken out at once, in a larger one it stays until such entries are the greater
    part, so that giving up costs the same however many wait.

    Attributes:
        strands: who waits. The kernel's main loop appends to it.
    """

    __slots__ = ("_stale", "strands")

    _SMALL = 16

    def __init__(self) -> None:
        self.strands: list[Strand] = []
        self._stale = 0  # how many of them gave up

    def wait(self) -> Awaitable[Any]:
        """Wait to be notified.

        Returns:
            An awaitable for the value of the notification.
        """
        return cast("Awaitable[Any]", Attendance(self, 1))

    def give_up(self, strand: Strand) -> None:
        """Let a strand go without a notification.

        Args:
            strand: one that waits here; its ``waiting`` must be changed first.
        """
        if len(self.strands) <= self._SMALL:  # then none of them is stale
            self.strands.remove(strand)
            return
        self._stale += 1
        if self._stale * 2 > len(self.strands):
            self.strands = self._present()
            self._stale = 0

    def _present(self) -> list[Strand]:
        """Who waits; of one that left and came back, the last place counts."""
        present: dict[Strand, None] = {}
        for strand in self.strands:
            if strand.waiting is self:
                present.pop(strand, None)
                present[strand] = None
        return list(present)

    def notify_all(self, value: Any = None) -> int:
        """Wake all who wait.

        Args:
            value: what their waits return.

        Returns:
            How many there were.
        """
        strands = self.strands
        if not strands:
            return 0
        if self._stale:
            strands = self._present()
            self._stale = 0
        self.strands = []
        if value is None:
            for strand in strands:
                strand.waiting = 0
                strand.kernel.ready.append(strand)
        else:
            notice = Notice(value)
            for strand in strands:
                strand.notice(notice)
                strand.kernel.ready.append(strand)
        return len(strands)

    def __len__(self) -> int:
        return len(self._present())


if TYPE_CHECKING:
    _Once = repeat[Audience]
else:
    _Once = repeat  # it takes no brackets at run time


class Attendance(_Once):
    """One wait in an audience: an awaitable that is its own iterator, and yields the audience once."""

    __slots__ = ()

    __await__: Callable[[Any], Iterator[Audience]] = repeat.__iter__

    def send(self, value: Any) -> Any:
        """End the wait with a value. Python calls it when something else than None is sent into the coroutine.

        Args:
            value: what the wait returns.

        Raises:
            StopIteration: with the value.
            TypeError: it was started like a coroutine.
        """
        if value is None:
            raise TypeError("the wait of a signal is no coroutine: await it in an 'async def', and start that")
        raise StopIteration(value)


class Keep:
    """The command of an entry that leaves the books as they are."""

    __slots__ = ()


KEEP = Keep()
COMMANDS: tuple[type, ...] = (int, Audience, Waiter, Keep)

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


async def park() -> None:
    """Wait without a limit: only cancellation ends it."""
    await suspend_on(Waiter())


class _Running(threading.local):
    kernel: Kernel | None = None


running: _Running = _Running()
this_thread: Callable[[], int] = threading.get_ident


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
