"""Leases: reservations of things, so that two agents do not go for the same one.

A lease is held by an owner and released by it, or by its owner's end: an owner that has a ``destroyed`` signal loses
its leases when it is destroyed, an agent when it has left its runtime, after all of its ``stop`` hooks; and a thing
that is destroyed is not leased any more. Who is gone gets none: nobody would ever give it back. What an agent's entity
holds by itself stays with the entity.

Acquiring is immediate: whoever asks for a free thing has it. Those who come too late can wait in the thing's *line*,
first come, first served:

* When the thing is given back, the first in line gets its *turn*. A turn is a promise: for everybody else the thing is
  taken. Who does not come for it in that tick and the next loses it, and it is the next one's turn.
* Who gives a thing back that others were refused does not get it again in the same tick, line or no line: it would
  always be the first to know.
* Giving up a place in the line costs the same however many wait.

``take`` waits in line for a coroutine. Actions that look at a lease while they think, or acquire it in ``start``, and
reject if they cannot have it, wait in line by themselves: what a kernel's code was refused last is noted in
``Kernel.inline.refused``, and whoever deals with the rejection finds it there.

Rejected: to wake all who wait. Each of a thousand begins anew whenever one is served, and whoever has just let go is
quicker than they are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agentrt.kernel.signals import Connection, Event, Signal
from agentrt.kernel.traps import Waiter, at_once, current_kernel, running, suspend_on

if TYPE_CHECKING:
    from agentrt.kernel.traps import Due, Entry, Scheduler

_PATIENCE: Final = 2  # ticks until a turn is lost, with that in which it was given


class LeaseRefusal(NamedTuple):
    """What somebody could not have."""

    book: LeaseBook  # who refused it
    thing: object
    owner: object
    entry: Entry | None  # whose code was stepped; of strands that belong to another one, that one


def refusal_of(kernel: Scheduler) -> LeaseRefusal | None:
    """What the code that is stepped at this moment was refused last; None if it was refused nothing."""
    refused = kernel.inline.refused
    return refused if isinstance(refused, LeaseRefusal) and refused.entry is kernel.current else None


class Lease:
    """One reservation. Made by ``LeaseBook.acquire``."""

    __slots__ = ("_book", "_connections", "count", "is_wanted", "owner", "released", "thing")

    def __init__(self, book: LeaseBook, thing: object, owner: object) -> None:
        self._book: LeaseBook | None = book
        self.thing: Any = thing  # what is reserved
        self.owner: Any = owner  # for whom
        self.count: int = 1  # how often it was acquired and not released
        self.is_wanted: bool = False  # whether somebody else was refused it
        self.released: Signal = Signal()  # emitted once, with the lease, when it ends for whatever reason
        self._connections: list[Connection] = []
        for end in (thing, owner):
            destroyed = getattr(end, "destroyed", None)
            if isinstance(destroyed, Signal):
                self._connections.append(destroyed.connect(self._end))

    @property
    def is_held(self) -> bool:
        """Whether it still stands."""
        return self._book is not None

    def release(self) -> None:
        """Give it back once; an owner that acquired a thing twice gives it back twice. Further calls do nothing."""
        if self._book is not None:
            self.count -= 1
            if self.count == 0:
                self._end()

    def __repr__(self) -> str:
        return f"<Lease of {self.thing!r} for {self.owner!r}: {'held' if self.is_held else 'released'}>"

    def _end(self, _gone: object = None) -> None:
        book = self._book
        if book is not None:
            self._book = None
            book._forget(self)
            for connection in self._connections:
                connection.close()
            self.released.emit(self)
            book._given_back(self)  # last: the next one's turn comes when who had it knows that it has not


class Place:
    """A place in the line for a thing. Made by ``LeaseBook.line_up``."""

    __slots__ = ("_kernel", "_line", "_timer", "_told", "is_turn", "owner", "thing")

    def __init__(self, line: _WaitingLine, owner: object, told: Callable[[], object], kernel: Scheduler) -> None:
        self._line: _WaitingLine | None = line
        self._told = told
        self._kernel = kernel
        self._timer: Due | None = None
        self.thing: Any = line.thing  # what it waits for
        self.owner: Any = owner
        self.is_turn: bool = False  # whether the thing is promised to it

    @property
    def is_open(self) -> bool:
        """Whether it still waits, or may still come for its turn."""
        return self._line is not None

    def close(self) -> None:
        """Give it up; it is the next one's turn then, if it was its own. Does nothing once it was used."""
        line = self._line
        if line is not None:
            self._line = None
            if self._timer is not None:
                self._timer.cancel()
            line.left(self)

    def promise(self, ticks: int) -> None:
        """The thing is kept for it until the tick that is so many later."""
        self.is_turn = True
        self._timer = self._kernel.call_later(ticks, self.close)

    def give(self) -> None:
        """It is its turn."""
        self.promise(_PATIENCE)
        self._kernel.call_soon(self._tell)  # not on the stack of whoever gave the thing back

    def _tell(self) -> None:
        if self._line is not None:
            self._told()

    def __repr__(self) -> str:
        state = "its turn" if self.is_turn else "waiting"
        return f"<Place in the line for {self.thing!r}, for {self.owner!r}: {state if self.is_open else 'closed'}>"


@dataclass(slots=True, eq=False, repr=False)
class _WaitingLine:
    """Who waits for one thing, in order; who gave up stays in it until such places are the greater part."""

    book: LeaseBook
    thing: object
    places: deque[Place] = field(default_factory=deque)
    promised: Place | None = None
    barred: object = None  # who gave it back in this tick and may not have it at once
    next_timer: Due | None = None  # while somebody is barred
    _given_up: int = 0

    def left(self, place: Place) -> None:
        if self.promised is place:
            self.promised = None
            self.book._unpromised(place)
            if not self.serve() and not self.book.is_leased(self.thing):
                self.book.changed.emit(self.thing)
        elif not place.is_turn:
            self._given_up += 1
            if self._given_up * 2 > len(self.places):  # so giving up costs the same however many wait
                self.places = deque([other for other in self.places if other.is_open])
                self._given_up = 0
        self.forget_if_empty()

    def serve(self) -> bool:
        """Give the turn to the first who is still there; of one that is barred, the next before it."""
        if self.promised is not None or self.book.is_leased(self.thing):
            return self.promised is not None
        if getattr(self.thing, "is_destroyed", False):
            self.give_all()
            return False
        passed: list[Place] = []
        while self.places:
            place = self.places.popleft()
            if not place.is_open:
                self._given_up = max(0, self._given_up - 1)
            elif self.is_barred(place.owner):
                passed.append(place)
            else:
                self.promise(place)
                place.give()
                break
        self.places.extendleft(reversed(passed))
        return self.promised is not None

    def promise(self, place: Place) -> None:
        """Note for whom the thing is kept."""
        self.promised = place
        self.book._promised.setdefault(id(place.owner), {})[place] = None

    def give_all(self) -> None:
        """Tell all, who find out that there is nothing to be had."""
        places = [place for place in self.places if place.is_open]
        self.places.clear()
        self._given_up = 0
        for place in places:
            place.give()

    def is_barred(self, owner: object) -> bool:
        return self.next_timer is not None and self.barred is owner

    def bar(self, owner: object, kernel: Scheduler) -> None:
        if self.next_timer is not None:
            self.next_timer.cancel()
        self.barred = owner
        self.next_timer = kernel.call_later(1, self._unbar)

    def _unbar(self) -> None:
        self.barred = self.next_timer = None
        if not self.book.is_leased(self.thing) and self.promised is None and not self.serve():
            self.book.changed.emit(self.thing)  # for who was barred, and waits for that
        self.forget_if_empty()

    def forget_if_empty(self) -> None:
        if self.promised is None and self.next_timer is None and len(self.places) == self._given_up:
            lines, key = self.book._lines, id(self.thing)
            if lines.get(key) is self:
                del lines[key]


class LeaseBook:
    """All reservations of one runtime."""

    __slots__ = ("_held", "_leases", "_lines", "_promised", "changed", "left")

    def __init__(self) -> None:
        # emitted with the thing whenever one is newly reserved or free again; who looks for work waits for it
        self.changed: Signal = Signal()
        # emitted with each lease that its owner still held when it was gone, before that is released: some action of an
        # agent did not give it back; for those who look for mistakes
        self.left: Signal = Signal()
        # Keyed by identity, since things need not be hashable; no order depends on it.
        self._leases: dict[int, Lease] = {}
        self._held: dict[int, dict[Lease, None]] = {}  # those of each owner, in the order in which it got them
        self._lines: dict[int, _WaitingLine] = {}  # likewise; each keeps its thing
        # Those of each owner whose turn it is, in the order in which it was: a save asks for every agent.
        self._promised: dict[int, dict[Place, None]] = {}

    def acquire(self, thing: object, owner: object) -> Lease | None:
        """Reserve a thing.

        Args:
            thing: any object.
            owner: for whom; the same owner may acquire it again and then shares one lease.

        Returns:
            The lease, or None if somebody else has it, or it is somebody else's turn, or it is destroyed, or the owner
            is gone.
        """
        if not self.can_acquire(thing, owner):
            return None
        lease = self._leases.get(id(thing))
        if lease is not None:
            lease.count += 1
            return lease
        lease = self._leases[id(thing)] = Lease(self, thing, owner)
        self._held.setdefault(id(owner), {})[lease] = None
        line = self._lines.get(id(thing))
        if line is not None and line.promised is not None:
            line.promised.close()  # it was this owner's, or ``can_acquire`` had said no
        self.changed.emit(thing)
        return lease

    async def take(self, thing: object, owner: object) -> Lease | None:
        """Reserve a thing, waiting in line for it: first come, first served. For coroutines that a runtime steps.

        Returns:
            The lease; None if the thing is destroyed, or the owner is gone.

        Raises:
            NotRunningError: no runtime steps the coroutine.
        """
        await at_once()  # it may be free
        current_kernel()  # or raises, before anything is begun
        await at_once(is_dear=True)
        while not getattr(thing, "is_destroyed", False) and not _is_gone(owner):
            lease = self.acquire(thing, owner)
            if lease is not None:
                return lease
            waiter = Waiter()
            place = self.line_up(thing, owner, waiter.notify)
            try:
                await suspend_on(waiter)
            except BaseException:
                place.close()
                raise
        return None

    def line_up(self, thing: object, owner: object, told: Callable[[], object]) -> Place:
        """Wait in line for a thing, behind all who wait already.

        Args:
            thing: any object.
            owner: for whom.
            told: called from the ready queue when it is its turn: the thing is promised to the owner, who is to acquire
                it in that tick or the next.

        Returns:
            The place in the line; close it when the thing is not wanted any more.

        Raises:
            NotRunningError: no runtime steps the code that calls it.
        """
        line = self._line_of(thing)
        place = Place(line, owner, told, current_kernel())
        line.places.append(place)
        line.serve()
        return place

    def promise(self, thing: object, owner: object, kernel: Scheduler, ticks: int) -> bool:
        """Keep a thing for somebody who will come for it, as if its turn had come: for worlds that are rebuilt.

        Args:
            thing: any object.
            owner: for whom; acquires it as ever.
            kernel: whose ticks are counted.
            ticks: in the tick that is so many later it is free again, unless it was acquired.

        Returns:
            False if somebody else has it or was promised it, or it is destroyed, or the owner is gone.
        """
        holder = self.holder(thing)
        if holder is not None or getattr(thing, "is_destroyed", False) or _is_gone(owner):
            return holder is owner
        line = self._line_of(thing)
        place = Place(line, owner, _nothing, kernel)
        line.promise(place)
        place.promise(ticks)
        self.changed.emit(thing)
        return True

    def reserved_for(self, owner: object) -> tuple[Any, ...]:
        """The things that an owner has, in the order in which it got them, and then those that are promised to it."""
        key = id(owner)
        return (
            *[lease.thing for lease in self._held.get(key, ())],
            *[place.thing for place in self._promised.get(key, ())],
        )

    def waiting(self, thing: object) -> tuple[Any, ...]:
        """For whom somebody waits in line for a thing, in order; first for whom it is promised."""
        line = self._lines.get(id(thing))
        if line is None:
            return ()
        first = () if line.promised is None else (line.promised,)
        return tuple([place.owner for place in (*first, *line.places) if place.is_open])

    def is_leased(self, thing: object) -> bool:
        """Whether somebody has it; a thing that is promised is not leased."""
        return id(thing) in self._leases

    def _line_of(self, thing: object) -> _WaitingLine:
        line = self._lines.get(id(thing))
        if line is None:
            line = self._lines[id(thing)] = _WaitingLine(self, thing)
        return line

    def _forget(self, lease: Lease) -> None:
        self._leases.pop(id(lease.thing), None)
        held = self._held.get(id(lease.owner), {})
        held.pop(lease, None)
        if not held:
            self._held.pop(id(lease.owner), None)

    def _unpromised(self, place: Place) -> None:
        places = self._promised.get(id(place.owner), {})
        places.pop(place, None)
        if not places:
            self._promised.pop(id(place.owner), None)

    def _given_back(self, lease: Lease) -> None:
        thing, kernel = lease.thing, running.kernel
        if lease.is_wanted and kernel is not None and kernel.in_tick:
            self._line_of(thing).bar(lease.owner, kernel)
        line = self._lines.get(id(thing))
        if line is not None:
            line.serve()
        self.changed.emit(thing)

    def holder(self, thing: object) -> Any:
        """For whom a thing is reserved, or to whom it is promised; None if it is free."""
        lease = self._leases.get(id(thing))
        if lease is not None:
            return lease.owner
        line = self._lines.get(id(thing))
        return None if line is None or line.promised is None else line.promised.owner

    def can_acquire(self, thing: object, owner: object) -> bool:
        """Whether ``acquire`` would succeed."""
        if getattr(thing, "is_destroyed", False) or _is_gone(owner):
            return False
        holder = self.holder(thing)
        if holder is owner:
            return True
        line = self._lines.get(id(thing))
        if holder is None and (line is None or not line.is_barred(owner)):
            return True
        lease = self._leases.get(id(thing))
        if lease is not None:
            lease.is_wanted = True
        kernel = running.kernel
        if kernel is not None:
            current = kernel.current
            kernel.inline.refused = LeaseRefusal(self, thing, owner, getattr(current, "root", current))
        return False

    def release_all(self, owner: object) -> None:
        """An owner is gone: what it still holds is free, in the order in which it got it."""
        for lease in tuple(self._held.get(id(owner), ())):
            self.left.emit(lease)
            lease._end()

    def clear(self) -> None:
        """All of it belonged to a world that is over: nothing is reserved, and nobody is told."""
        self._leases.clear()
        self._held.clear()
        self._lines.clear()
        self._promised.clear()
        self.changed = Signal()

    def __len__(self) -> int:
        return len(self._leases)

    def __repr__(self) -> str:
        return f"<LeaseBook: {len(self._leases)} leases>"


def _nothing() -> None:
    """Whoever is promised a thing without having waited needs not be told."""


def _is_gone(owner: object) -> bool:
    """Whether an owner can give nothing back any more: an entity that is destroyed, an agent that has ended."""
    ended = getattr(owner, "has_ended", None)
    return bool(getattr(owner, "is_destroyed", False)) or (isinstance(ended, Event) and ended.is_set)
