"""The one door to the kernel: everything that suspends a strand yields here, and nowhere else.

A strand suspends by yielding a *command*:

* an ``int`` n >= 1: wake me n ticks from now;
* an ``Audience``: put me at its end, and wake me with the others when it is notified;
* a ``Waiter``: wake me when somebody notifies it;
* ``GIVE_WAY``: step me again in this tick, when all who are ready have had their turn.

Anything else that comes out of a strand was not yielded here; it belongs to somebody else's event loop, and the host
decides about it. Signals, events and conditions are built on ``Audience``, queues and joins on ``Waiter``, in the
modules above.

``next_tick``, ``sleep_ticks`` and a wait in an audience are awaitables whose iterator is a C one: no Python code runs
between the kernel and the author's coroutine, and an idle agent, of which every think is suspended in an audience,
holds 48 bytes for each. Rejected: a generator (216 bytes, and a frame each time), an iterator in Python (twice the
time). A C iterator returns nothing; so what an audience is notified with waits as a ``Notice`` in the strand, which
sends it in with its next step.

A wait that has nothing to wait for (an event that is set, a queue that holds something, ``sleep(0)``) ends at once, and
nobody else gets a turn: its order is that of plain code. But a loop of such waits would keep the tick for ever, and the
kernel, which never gets a command, could not even tell who does. So whoever writes an awaitable that may end, or raise,
without suspending asks ``goes_on()`` first, or awaits ``at_once()``, which does. Both count; beyond what any innocent
step does, the answer is no, and then the wait gives way. A strand that goes on like that is killed as a livelock (see
``kernel``). What it was let go on for must be looked at again after it gave way: others ran.

*The agenda* says who is due in which tick.

A list for each due tick and a heap of the distinct ticks, so that putting an entry in and taking it out costs the same
however many sleep, and a sleeper costs nothing. Within a tick the order is the order of arrival.

An entry that is woken early (its strand was cancelled) is not searched for: it stays in its list and is passed over
when the tick comes, because its ``waiting`` no longer says that tick. Such entries are counted for each tick, so that
only the lists that hold some are looked through; when they outnumber what could possibly be live, those are swept.
"""

from __future__ import annotations

import heapq
import sys
import threading  # noqa: TID251 - for a local of the thread; nothing here starts or meets one
import types
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from itertools import repeat
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from agentrt.errors import NotRunningError

if TYPE_CHECKING:
    from agentrt.kernel.clock import Clock


# --- the kernel and what it steps, as whoever lies below them sees them -----------------------------------------------


class Stepper(Protocol):
    """What the kernel steps when an entry's turn comes: a coroutine, or whatever can be stepped like one."""

    def send(self, value: None, /) -> object:
        """Go on; returns a command of the traps module."""
        ...


class Entry(Protocol):
    """What the ready queue and the agenda hold: strands, timers, calls."""

    waiting: object  # the tick in which the entry is due, while it sleeps

    @property
    def stepper(self) -> Stepper: ...

    @property
    def name(self) -> str: ...

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
    def kernel(self) -> Scheduler: ...

    def notice(self, notice: Any, /) -> None:
        """What it waits for was notified with a value: its next step delivers it."""


class Idle(Protocol):
    """Who counts the waits that had nothing to wait for."""

    def goes_on(self, weight: int) -> bool:
        """Count one; says whether it may end at once."""
        ...


class Due(Protocol):
    """A call that is due in a later tick."""

    def cancel(self) -> None:
        """Do not make the call."""


class Cancellation(Protocol):
    """How a host cancels."""

    cancelled_type: type[BaseException]  # the exception that a cancelled wait raises

    def cancelled(self, reason: str) -> BaseException:
        """A fresh exception for one cancelled wait."""
        ...


class Refused(Protocol):
    """What the code that was stepped could not have."""

    refused: object


class Scheduler(Protocol):
    """The kernel, as what lies below it sees it."""

    abandoned: list[Coroutine[Any, Any, Any]]
    agenda: Agenda
    clock: Clock
    current: Entry | None
    families: dict[Any, None]
    in_tick: bool
    free_waits: int
    live: int
    livelock_steps: int
    ready: deque[Entry]

    @property
    def host(self) -> Cancellation:
        """What stands between it and an event loop."""
        ...

    @property
    def inline(self) -> Refused:
        """What is stepped where it stands."""
        ...

    @property
    def strays(self) -> object:
        """Who keeps the strands that nobody waits for."""
        ...

    @property
    def idle_waits(self) -> Idle:
        """Who counts the waits that end at once, when there were many."""
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


# --- what a strand yields ---------------------------------------------------------------------------------------------


class Ticks(tuple[int, ...]):
    """An awaitable that lets a number of ticks pass. Reusable; made once for each number."""

    __slots__ = ()

    if TYPE_CHECKING:  # what awaits it takes any iterator; type checkers want a generator

        def __await__(self) -> Generator[int, None, None]: ...

    else:
        __await__ = tuple.__iter__


_ASTRAY = (
    "a task waits for the runtime that was made outside of its coroutines. Make it inside of an action's 'run' "
    "(asyncio.create_task, a task group, a nursery), where it belongs to the action; or post to the runtime what is to "
    "be done: runtime.post(fn, *args)."
)


def astray() -> NotRunningError:
    """The error of a task of an event loop that waits for the kernel and is no strand."""
    return NotRunningError(_ASTRAY)


class Yielded:
    """What a strand yields. An event loop that is given one shows it in its own error: so it says what is wrong."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {astray()}>"


_NOT_NOTIFIED = object()
_Waits = TypeVar("_Waits", bound=Entry)


class Waiter(Yielded):
    """One wait of one strand."""

    __slots__ = ("strand", "value")

    def __init__(self) -> None:
        # who waits; None before it is suspended, and again once it was notified or gave up
        self.strand: Suspended | None = None
        self.value: Any = _NOT_NOTIFIED  # what the wait returns, once it was notified

    @property
    def was_notified(self) -> bool:
        """Whether its strand was woken by a notification; a strand that is cancelled after that still was."""
        return self.value is not _NOT_NOTIFIED

    def notify(self, value: Any = None) -> bool:
        """Wake the strand that waits; False if nobody waits here any more."""
        strand = self.strand
        if strand is None:
            return False
        self.strand = (
            None  # ``waiting`` goes on naming this waiter: that it names nobody is what makes the strand ready
        )
        self.value = value
        strand.kernel.ready.append(strand)
        return True


def still_waiting(entries: list[_Waits], awaited: object) -> list[_Waits]:
    """Those whose ``waiting`` says so, in order of arrival; of one that left and came back, the last place counts."""
    kept: dict[_Waits, None] = {}
    for entry in entries:
        if entry.waiting == awaited:
            kept.pop(entry, None)
            kept[entry] = None
    return list(kept)


class Agenda:
    """Entries by the tick in which they are due."""

    __slots__ = ("_hollow", "_spoiled", "buckets", "heap", "stale")

    _SWEEP_FROM = 1024

    def __init__(self) -> None:
        # due tick to entries, in order of arrival. The kernel's main loop puts strands in here itself
        self.buckets: dict[int, list[Entry]] = {}
        self.heap: list[int] = []  # the distinct due ticks
        self.stale: int = 0  # how many entries were woken early and still lie in a bucket
        self._spoiled: dict[int, int] = {}  # due tick to how many stale entries lie in its bucket
        self._hollow = False  # whether sweeping may have left buckets with nothing in them

    def add(self, due: int, entry: Entry) -> None:
        """Put an entry in; its ``waiting`` becomes the tick in which it is due."""
        entry.waiting = due
        bucket = self.buckets.get(due)
        if bucket is None:
            self.buckets[due] = [entry]
            heapq.heappush(self.heap, due)
        else:
            bucket.append(entry)

    def clear(self) -> None:
        """Nobody sleeps any more."""
        self.buckets.clear()
        self.heap.clear()
        self._spoiled.clear()
        self.stale, self._hollow = 0, False

    def leave(self, entry: Entry, tick: int, live: int) -> bool:
        """Take an entry out that sleeps; says whether it did. In the tick in which it is due it does no more.

        Args:
            tick: which it is now.
            live: how many strands there are, the most that can be asleep.
        """
        due = entry.waiting
        if not isinstance(due, int) or due <= tick:
            return False
        entry.waiting = 0
        self.forget(due, live)
        return True

    def take_out(self, entry: Entry, tick: int) -> bool:
        """As ``leave``, for an entry that holds on to its agent: it must not lie there until the tick comes."""
        due = entry.waiting
        if not isinstance(due, int) or due <= tick:
            return False
        entry.waiting = 0
        self.buckets[due].remove(entry)
        return True

    def forget(self, due: int, live: int) -> None:
        """Note that an entry was woken early, of which ``waiting`` does not say any more that it is due then.

        Args:
            live: how many strands there are, the most that can be asleep.
        """
        self._spoiled[due] = self._spoiled.get(due, 0) + 1
        self.stale += 1
        if self.stale > self._SWEEP_FROM and self.stale > live:
            self._sweep()

    def _sweep(self) -> None:
        for due in self._spoiled:
            bucket = self.buckets[due]
            bucket[:] = still_waiting(bucket, due)
        self._spoiled.clear()
        self.stale = 0
        self._hollow = True

    def take_due(self, tick: int, ready: deque[Entry]) -> None:
        """Move all that is due to the ready queue."""
        if self._hollow:
            self._drop_hollow()
        heap = self.heap
        while heap and heap[0] <= tick:
            due = heapq.heappop(heap)
            bucket = self.buckets.pop(due)
            if due in self._spoiled:
                self.stale -= self._spoiled.pop(due)
                bucket = still_waiting(bucket, due)
            ready.extend(bucket)

    def _drop_hollow(self) -> None:
        # Not while sweeping: the main loop may hold on to the bucket that it filled last.
        self._hollow = False
        for due in [due for due, bucket in self.buckets.items() if not bucket]:
            del self.buckets[due]
        self.heap[:] = self.buckets
        heapq.heapify(self.heap)


class Notice:
    """What an audience was notified with; ``waiting`` of each strand that was woken, until its next step."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value


SMALL = 16  # up to so many who wait for one thing are searched for who gives up


class Audience(Yielded):
    """Strands that wait for the same thing, in order of arrival; all are woken at once.

    The kernel enters whoever yields it. A strand of which ``waiting`` is not this audience does not wait here any
    more: in a small audience it is taken out at once, in a larger one it stays until such entries are the greater
    part, so that giving up costs the same however many wait.
    """

    __slots__ = ("_stale", "strands")

    def __init__(self) -> None:
        self.strands: list[Suspended] = []  # who waits. The kernel's main loop appends to it
        self._stale = 0  # how many of them gave up

    def wait(self) -> Awaitable[Any]:
        """Wait to be notified; the wait gives the value of the notification."""
        return Attendance(self, 1)

    def give_up(self, strand: Suspended) -> None:
        """Let a strand that waits here go without a notification; its ``waiting`` must be changed first."""
        if len(self.strands) <= SMALL:  # then none of them is stale
            self.strands.remove(strand)
            return
        self._stale += 1
        if self._stale * 2 > len(self.strands):
            self.strands = self._present()
            self._stale = 0

    def take_out(self, entry: Suspended) -> None:
        """As ``give_up``, for an entry that holds on to its agent: it must not lie here until somebody notifies."""
        self.strands.remove(entry)

    def _present(self) -> list[Suspended]:
        """Who waits."""
        return still_waiting(self.strands, self)

    def notify_all(self, value: Any = None) -> int:
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

    if TYPE_CHECKING:

        def __await__(self) -> Generator[Audience, Any, Any]: ...

    else:
        __await__ = repeat.__iter__

    def send(self, value: Any) -> Any:
        """End the wait with a value. Python calls it when something else than None is sent into the coroutine."""
        if value is None:
            raise TypeError("the wait of a signal is no coroutine: await it in an 'async def', and start that")
        raise StopIteration(value)


class Keep:
    """The command of an entry that leaves the books as they are."""

    __slots__ = ()


class GiveWay:
    """The command of a strand that goes on in this tick, behind all who are ready."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, Any, None]:
        return _once(self, 1) if running.kernel is not None else _turn_outside()


KEEP = Keep()
GIVE_WAY = GiveWay()
COMMANDS: tuple[type, ...] = (int, Audience, Waiter, Keep, GiveWay)

# Iterators that type checkers are to take for generators; see ``Ticks``.
_once: Callable[[object, int], Generator[Any, Any, None]] = repeat  # type: ignore[assignment]
_NO_COMMAND: Generator[Any, Any, None] = iter(())  # type: ignore[assignment]  # has ended, so that all can share it


class AtOnce:
    """The awaitable of what need not wait."""

    __slots__ = ("_weight",)

    def __init__(self, weight: int) -> None:
        self._weight = weight  # as how many waits it counts

    def __await__(self) -> Generator[Any, Any, None]:
        return _NO_COMMAND if goes_on(self._weight) else GIVE_WAY.__await__()


_AT_ONCE = AtOnce(1)
_DEAR_AT_ONCE = AtOnce(25)  # a plan takes so many times as long as a wait
_OUTSIDE = 1000
_NEXT = Ticks((1,))
_known: dict[int, Awaitable[None]] = {1: _NEXT, 0: _AT_ONCE}


def goes_on(weight: int = 1) -> bool:
    """Whether a wait that has nothing to wait for may end at once, as it nearly always may. Each call is counted.

    If not, it has to await ``give_way()`` first, and then to look again at what it waits for. ``LivelockError`` if a
    plain function drives a coroutine by hand, which does not let time pass.
    """
    kernel = running.kernel
    if kernel is None:  # a task of an event loop, which gets a turn now and then
        running.outside = left = running.outside - 1 or _OUTSIDE
        return left < _OUTSIDE
    free = kernel.free_waits
    if free >= weight:
        kernel.free_waits = free - weight
        return True
    return kernel.idle_waits.goes_on(weight)


def at_once(*, is_dear: bool = False) -> Awaitable[None]:
    """A wait for nothing: it ends at once, or gives way if there were too many of its like in a tick.

    It is *dear* if what follows is a plan or an estimate, and no mere look at something.
    """
    return _DEAR_AT_ONCE if is_dear else _AT_ONCE


def give_way() -> Awaitable[None]:
    """Let all who are ready have their turn; no time passes."""
    return GIVE_WAY


def next_tick() -> Awaitable[None]:
    """Wait for the next tick."""
    return _NEXT


def sleep_ticks(ticks: int) -> Awaitable[None]:
    """Wait for a number of ticks.

    Args:
        ticks: 0 or more; 0 ends at once.

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
    made = Ticks((number,))
    if ticks <= 1000:
        _known[ticks] = made
    return made


def sleep(seconds: float) -> Awaitable[None]:
    """Wait for a duration of game time.

    Args:
        seconds: game seconds; 0 or less ends at once, anything above waits for at least one tick.

    Raises:
        NotRunningError: no kernel is running on this thread.
    """
    return sleep_ticks(current_kernel().clock.ticks(seconds))


@types.coroutine
def suspend_on(waiter: Waiter) -> Generator[Waiter, None, Any]:
    """Wait until a waiter is notified, and return with what. It is a fresh one: a waiter serves one wait."""
    yield waiter
    return waiter.value


async def park() -> None:
    """Wait without a limit: only cancellation ends it."""
    await suspend_on(Waiter())


class _Running(threading.local):
    kernel: Scheduler | None = None
    outside: int = _OUTSIDE  # how many waits may still end at once in code that no kernel steps


def _turn_outside() -> Generator[Any, Any, None]:
    """What code yields that no kernel steps, so that others get a turn: whatever its event loop knows for that.

    Nothing is imported to find out; a library that was never imported runs no loop.
    """
    trio, asyncio = sys.modules.get("trio"), sys.modules.get("asyncio")
    if trio is not None and trio.lowlevel.in_trio_task():
        turn: Generator[Any, Any, None] = trio.lowlevel.checkpoint().__await__()
        return turn
    if asyncio is not None and asyncio._get_running_loop() is not None:
        return _once(None, 1)  # asyncio's own
    return _NO_COMMAND


running: _Running = _Running()
this_thread: Callable[[], int] = threading.get_ident


def current_kernel() -> Scheduler:
    """The kernel that steps a strand on this thread at the moment; ``NotRunningError`` if there is none."""
    kernel = running.kernel
    if kernel is None:
        raise NotRunningError(
            "this works only inside an action or another coroutine that a runtime steps. Outside, post it to the "
            "runtime: runtime.post(fn, *args)."
        )
    return kernel
