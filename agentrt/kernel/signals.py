"""What strands wait for besides time: signals, events, conditions, queues. Built on ``Audience`` and ``Waiter``.

Rules: waking is first come, first served; notifying never runs a strand, it makes it ready; a wait that is cancelled
leaves nothing behind. Connected functions are called at once, in the order they were connected; all of them are
called even when one raises. What they raised is reported, and does not come upon whoever emitted the signal, who may
be anybody; outside any kernel there is nobody to report it to, and it is raised.

A ``Signal`` is an edge: who does not wait when it is emitted misses it. An ``Event`` is a level: it stays set.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.traps import Attendance, Audience, Waiter, at_once, give_way, goes_on, running, suspend_on

T = TypeVar("T")


def tell_errors(errors: list[BaseException], one: str, all_of_them: str) -> None:
    """Report what several functions raised; where no kernel runs there is nobody to report it to, and it is raised."""
    if running.kernel is not None:
        for error in errors:
            running.kernel.report(f"{one} raised", error)
    elif errors:
        raise errors[0] if len(errors) == 1 else BaseExceptionGroup(f"{all_of_them} raised", errors)


class Connection:
    """What is connected to a signal. Closing it twice does nothing.

    It is its own callback: those that are made by the thousand need no closure each to know for whom they hear.
    """

    __slots__ = ("_signal",)

    def __init__(self, signal: Signal) -> None:
        self._signal: Signal | None = signal

    def hear(self, value: object) -> None:
        """The signal is emitted, with a value."""

    @property
    def function(self) -> Callable[..., object]:
        """What is called in the end, for tools that tell of it."""
        return self.hear

    def close(self) -> None:
        """Do not call the function any more."""
        if self._signal is not None:
            self._signal._disconnect(self)
            self._signal = None


class _Function(Connection):
    """A function that is connected to a signal."""

    __slots__ = ("_function",)

    def __init__(self, signal: Signal, function: Callable[[Any], object]) -> None:
        self._signal = signal
        self._function = function

    def hear(self, value: object) -> None:
        self._function(value)

    @property
    def function(self) -> Callable[..., object]:
        return self._function


class BoundCall(Connection):
    """A function that is connected to a signal with its arguments; the value is none of them."""

    __slots__ = ("_args", "_function")

    def __init__(self, signal: Signal, function: Callable[..., object], *args: Any) -> None:
        self._signal = signal
        self._function = function
        self._args = args
        signal.add(self)

    def hear(self, value: object) -> None:
        self._function(*self._args)

    @property
    def function(self) -> Callable[..., object]:
        return self._function


class Signal:
    """Something that happens now and then. Who waits at that moment is woken; who is connected is called."""

    __slots__ = ("_connections", "_waiting", "was_emitted")

    def __init__(self) -> None:
        self.was_emitted: bool = False  # whether it ever happened
        self._waiting: Audience | None = None  # made when somebody waits, as hardly anybody does for most signals
        # Nobody, one, or several in the order in which they came, each by itself: any may go at any time, and hundreds
        # may listen to one signal. But most have one, and a dict for it would be six times as large as the signal.
        self._connections: Connection | dict[Connection, None] | None = None

    def wait(self) -> Awaitable[Any]:
        """Wait until it is emitted the next time.

        Returns:
            An awaitable for the value that it is emitted with.
        """
        waiting = self._waiting
        if waiting is None:
            waiting = self._waiting = Audience()
        return Attendance(waiting, 1)  # ``waiting.wait()`` without the call

    def connect(self, function: Callable[[Any], object]) -> Connection:
        """Call a function, with the value, whenever it is emitted.

        Returns:
            The connection, to close it.
        """
        if not callable(function):  # else who emits it would be told
            raise TypeError(f"signal.connect: {type(function).__name__} is no function")
        connection = _Function(self, function)
        self.add(connection)
        return connection

    def add(self, connection: Connection) -> None:
        """Have a fresh connection that was made for this signal hear it from now on, as ``connect`` does."""
        connected = self._connections
        if connected is None:
            self._connections = connection
        elif isinstance(connected, dict):
            connected[connection] = None
        else:
            self._connections = {connected: None, connection: None}

    def _disconnect(self, connection: Connection) -> None:
        connected = self._connections
        if connected is connection:
            self._connections = None
        elif isinstance(connected, dict):
            connected.pop(connection, None)
            if not connected:
                self._connections = None

    def emit(self, value: Any = None) -> None:
        """It happens now.

        Args:
            value: handed to who waits and who is connected.

        Raises:
            BaseException: what a connected function raised, if no kernel runs that could report it; all were called
                nevertheless.
        """
        self.was_emitted = True
        if self._waiting is not None:
            self._waiting.notify_all(value)
        connected = self._connections
        if connected is None:
            return
        errors: list[BaseException] = []
        for connection in tuple(connected) if isinstance(connected, dict) else (connected,):
            if connection._signal is not None:  # else one of those before it closed it
                try:
                    connection.hear(value)
                except ENDS_PROGRAM:
                    raise
                except BaseException as error:
                    errors.append(error)
        if errors:
            tell_errors(errors, f"a function connected to {self!r}", "functions connected to a signal")

    def __repr__(self) -> str:
        waiting = 0 if self._waiting is None else len(self._waiting)
        found = self._connections
        connected = len(found) if isinstance(found, dict) else int(found is not None)
        return f"<Signal: {waiting} waiting, {connected} connected>"


class Event:
    """A flag that can be waited for. It stays set until it is cleared."""

    __slots__ = ("_set", "_waiting")

    def __init__(self) -> None:
        self._set = False
        self._waiting: Audience | None = (
            None  # made when somebody waits, as hardly anybody does for the end of an agent
        )

    @property
    def is_set(self) -> bool:
        """Whether it is set."""
        return self._set

    def set(self) -> None:
        """Set it and wake all who wait."""
        self._set = True
        if self._waiting is not None:
            self._waiting.notify_all()

    def clear(self) -> None:
        """Take it back: who waits from now on waits for the next ``set``."""
        self._set = False

    async def wait(self) -> None:
        """Return at once if it is set, else wait until it is."""
        if self._set:
            await at_once()
        else:
            if self._waiting is None:
                self._waiting = Audience()
            await self._waiting.wait()

    def __repr__(self) -> str:
        waiting = 0 if self._waiting is None else len(self._waiting)
        return f"<Event: {'set' if self._set else 'clear'}, {waiting} waiting>"


class Condition:
    """Wait until something becomes true; whoever changes it says so.

    No lock goes with it: strands do not run at the same time, so what a predicate saw stays true until the next await.
    """

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting = Audience()

    def notify_all(self) -> None:
        """Have all who wait look again."""
        self._waiting.notify_all()

    async def wait_for(self, predicate: Callable[[], T]) -> T:
        """Wait until a plain function returns something true; asked at once, then after each notification.

        Returns:
            The true value.
        """
        while not (value := predicate()) or not goes_on():
            await (give_way() if value else self._waiting.wait())
        return value

    def __repr__(self) -> str:
        return f"<Condition: {len(self._waiting)} waiting>"


class Turns:
    """A line of strands, each waiting for its turn. A turn that was given is a promise: nobody else may use it."""

    __slots__ = ("_line", "promised")

    def __init__(self) -> None:
        self._line: OrderedDict[Waiter, None] = OrderedDict()  # giving up costs the same however many wait
        self.promised: int = 0  # how many were given their turn and have not come to use it yet

    async def wait(self) -> None:
        waiter = Waiter()
        self._line[waiter] = None
        try:
            await suspend_on(waiter)
        except BaseException:
            if waiter.was_notified:
                # Woken and cancelled in the same tick: the turn belongs to the next in line.
                self.promised -= 1
                self.give()
            else:
                self._line.pop(waiter, None)  # ``give`` may have passed it over already
            raise
        self.promised -= 1

    def give(self) -> bool:
        """Give a turn to the one who has waited longest."""
        while self._line:
            waiter, _ = self._line.popitem(last=False)
            if waiter.notify():  # else it was cancelled, and has not come to leave the line yet
                self.promised += 1
                return True
        return False

    def __len__(self) -> int:
        return sum(waiter.strand is not None for waiter in self._line)


class Queue(Generic[T]):
    """First in, first out, between strands; who waits is served first come, first served, and nobody overtakes.

    Somebody waits to get only while each item is promised to who was woken for it, and to put only while each free
    place is.

    Args:
        limit: how many items it holds before ``put`` waits; None for no limit.

    Raises:
        ValueError: the limit is less than 1.
    """

    __slots__ = ("_getters", "_items", "_putters", "limit")

    def __init__(self, limit: int | None = None) -> None:
        if limit is not None and limit < 1:
            raise ValueError(f"Queue(limit={limit}): the limit must be at least 1, or None for no limit")
        self.limit: int | None = limit
        self._items: deque[T] = deque()
        self._getters = Turns()
        self._putters = Turns()

    def __len__(self) -> int:
        return len(self._items)

    def put_nowait(self, item: T) -> bool:
        """Put an item in if there is room.

        Returns:
            Whether there was room.
        """
        if not self._has_room():
            return False
        self._append(item)
        return True

    def _has_room(self) -> bool:
        return self.limit is None or len(self._items) + self._putters.promised < self.limit

    async def put(self, item: T) -> None:
        """Put an item in, waiting for room."""
        while self._has_room():
            if goes_on():
                self._append(item)
                return
            await give_way()
        await self._putters.wait()
        self._append(item)

    def _append(self, item: T) -> None:
        self._items.append(item)
        self._getters.give()

    async def get(self) -> T:
        """Take the oldest item that is not promised to somebody who waited for it; wait if there is none."""
        # The items in front are for those who were woken and have not come for them yet.
        while (first := self._getters.promised) < len(self._items):
            if goes_on():
                break
            await give_way()
        else:
            await self._getters.wait()
            first = 0
        item = self._items[first]
        del self._items[first]
        self._putters.give()
        return item

    def __repr__(self) -> str:
        limit = "" if self.limit is None else f" of {self.limit}"
        getting, putting = len(self._getters), len(self._putters)
        return f"<Queue: {len(self._items)}{limit} items, {getting} getting, {putting} putting>"
