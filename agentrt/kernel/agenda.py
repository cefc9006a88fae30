"""The agenda: who is due in which tick.

A list for each due tick and a heap of the distinct ticks, so that putting an entry in and taking it out costs the same
however many sleep, and a sleeper costs nothing. Within a tick the order is the order of arrival.

An entry that is woken early (its strand was cancelled) is not searched for: it stays in its list and is passed over
when the tick comes, because its ``waiting`` no longer says that tick. Such entries are counted for each tick, so that
only the lists that hold some are looked through; when they outnumber what could possibly be live, those are swept.

Plain functions stand among the strands: calls in the ready queue, timers in the agenda, hooks of every tick. One that
raises is reported, and whatever stands behind it goes on.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.traps import KEEP
from agentrt.words import type_name

if TYPE_CHECKING:
    from agentrt.kernel.roles import Entry, Scheduler

__all__ = [
    "Agenda",
    "Call",
    "Callbacks",
    "Caller",
    "ControlFlow",
    "Hooks",
    "Timer",
    "name_of",
    "raise_fault",
]


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
        """Put an entry in.

        Args:
            due: the tick in which it wakes.
            entry: a strand or a timer; its ``waiting`` becomes the due tick.
        """
        entry.waiting = due
        bucket = self.buckets.get(due)
        if bucket is None:
            self.buckets[due] = [entry]
            heapq.heappush(self.heap, due)
        else:
            bucket.append(entry)

    def forget(self, due: int, live: int) -> None:
        """Note that one entry was woken early.

        Args:
            due: the tick in which it was due; its ``waiting`` does not say so any more.
            live: how many strands there are, the most that can be asleep.
        """
        self._spoiled[due] = self._spoiled.get(due, 0) + 1
        self.stale += 1
        if self.stale > self._SWEEP_FROM and self.stale > live:
            self._sweep()

    def _sweep(self) -> None:
        for due in self._spoiled:
            bucket = self.buckets[due]
            bucket[:] = _live(bucket, due)
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
                bucket = _live(bucket, due)
            ready.extend(bucket)

    def _drop_hollow(self) -> None:
        # Not while sweeping: the main loop may hold on to the bucket that it filled last.
        self._hollow = False
        for due in [due for due, bucket in self.buckets.items() if not bucket]:
            del self.buckets[due]
        self.heap[:] = self.buckets
        heapq.heapify(self.heap)


def _live(bucket: list[Entry], due: int) -> list[Entry]:
    """The entries of a bucket that still wait for it, in order of arrival."""
    kept: dict[Entry, None] = {}
    for entry in bucket:
        if entry.waiting == due:
            # The same strand may have left and come back to the same tick: its last place counts.
            kept.pop(entry, None)
            kept[entry] = None
    return list(kept)


_Function = TypeVar("_Function", bound=Callable[..., object])


def name_of(fn: object) -> str:
    """What a function is called, for people; the same in every run, which its repr, with its address, is not.

    Args:
        fn: a function, or whatever else can be called.
    """
    try:
        name = getattr(fn, "__qualname__", None)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # of an author's own class: whoever reports it needs a name all the same
        name = None
    return name if isinstance(name, str) and name else type_name(fn)


class ControlFlow(BaseException):
    """What ends the code of an author and is meant for one who knows what to do about it. Not an error.

    Code that knows nothing of it may contain it: a listener is called in the middle of whoever emits the signal. It is
    no failure then, and reaches the one for whom it is meant in another way.
    """

    def send_on(self) -> None:
        """It was contained on its way: have the one for whom it is meant know of it, without raising anything."""


class Caller:
    """Makes the call whose turn has come: the stepper of all calls of one kernel.

    A call could be its own stepper, but would be a reference cycle then, or a property that costs more than the step.

    Args:
        kernel: whose ready queue they stand in.
    """

    __slots__ = ("kernel",)

    def __init__(self, kernel: Scheduler) -> None:
        self.kernel: Scheduler = kernel

    def send(self, _value: None) -> object:
        """Make the call."""
        call: Any = self.kernel.current
        try:
            call.fn(*call.args)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.kernel.report(f"a callback raised: {call.name}", error)
        return KEEP


class Call:
    """An entry of the ready queue that is a function call and not a strand."""

    __slots__ = ("args", "fn", "stepper", "waiting")

    def __init__(self, caller: Caller, fn: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.stepper: Caller = caller
        self.fn: Callable[..., object] = fn  # what to call
        self.args: tuple[Any, ...] = args  # what to call it with
        self.waiting: object = 0  # the tick in which it is due, while it lies in the agenda

    @property
    def name(self) -> str:
        """What it calls, for people."""
        return name_of(self.fn)

    @property
    def coro(self) -> None:
        """None: it is a plain function's turn."""

    def strand(self) -> None:
        """None: it is a plain function's turn."""


class Timer(Call):
    """A call that is due in a later tick. Made by ``Kernel.call_later``."""

    __slots__ = ()

    def cancel(self) -> None:
        """Do not make the call; does nothing once it was made."""
        kernel = self.stepper.kernel
        waiting = self.waiting
        if isinstance(waiting, int) and waiting > kernel.clock.tick:
            self.waiting: object = 0
            kernel.agenda.forget(waiting, kernel.live)
        self.fn: Callable[..., object] = _nothing
        self.args: tuple[Any, ...] = ()


def _nothing() -> None:
    pass


class Callbacks(Generic[_Function]):
    """Functions in the order in which they were added, each until it is taken out again."""

    __slots__ = ("_functions",)

    def __init__(self) -> None:
        self._functions: dict[object, _Function] = {}

    def add(self, fn: _Function) -> Callable[[], None]:
        """Add a function; the same one may be added twice.

        Returns:
            A function that takes it out again; calling it twice does nothing.
        """
        key = object()
        self._functions[key] = fn

        def close() -> None:
            self._functions.pop(key, None)

        return close

    def __len__(self) -> int:
        return len(self._functions)

    def __iter__(self) -> Iterator[_Function]:
        """Those that are there now, whatever becomes of them meanwhile."""
        return iter(tuple(self._functions.values()))


class Hooks(Callbacks[Callable[[], object]]):
    """Functions that are called once a tick."""

    __slots__ = ()

    def call(self, kernel: Scheduler) -> None:
        """Call them; one that was taken out meanwhile is passed over.

        Args:
            kernel: told what one of them raises.
        """
        for key, fn in tuple(self._functions.items()):
            if key in self._functions:
                kernel.guarded(fn)


def raise_fault(text: str, error: BaseException) -> None:
    """What a kernel does with a failure that nobody handles, unless it is told otherwise.

    Raises:
        BaseException: the error.
    """
    if isinstance(error, StopIteration):
        raise RuntimeError(text) from error  # else the main loop would take it for the end of a coroutine
    raise error
