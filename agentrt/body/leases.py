"""Leases: reservations of things, so that two agents do not go for the same one.

A lease is held by an owner and released by it, or by its owner's end: an owner that has a ``destroyed`` signal loses
its leases when it is destroyed, and a thing that is destroyed is not leased any more. Acquiring is immediate: whoever
asks first has it, there is no queue.
"""

from __future__ import annotations

from typing import Any

from agentrt.kernel.signals import Connection, Signal

__all__ = ["Lease", "LeaseBook"]


class Lease:
    """One reservation. Made by ``LeaseBook.acquire``.

    Attributes:
        thing: what is reserved.
        owner: for whom.
        released: emitted once, with the lease, when it ends for whatever reason.
    """

    __slots__ = ("_book", "_connections", "count", "owner", "released", "thing")

    def __init__(self, book: LeaseBook, thing: Any, owner: Any) -> None:
        self._book: LeaseBook | None = book
        self.thing: Any = thing
        self.owner: Any = owner
        self.count: int = 1
        self.released: Signal = Signal()
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
            book._leases.pop(id(self.thing), None)  # the two are one thing
            for connection in self._connections:
                connection.close()
            self.released.emit(self)
            book.changed.emit(self.thing)


class LeaseBook:
    """All reservations of one runtime.

    Attributes:
        changed: emitted with the thing whenever one is newly reserved or free again; who looks for work waits for it.
    """

    __slots__ = ("_leases", "changed")

    def __init__(self) -> None:
        self.changed: Signal = Signal()
        # Keyed by identity, since things need not be hashable; never iterated, so no order depends on it.
        self._leases: dict[int, Lease] = {}

    def acquire(self, thing: Any, owner: Any) -> Lease | None:
        """Reserve a thing.

        Args:
            thing: any object.
            owner: for whom; the same owner may acquire it again and then shares one lease.

        Returns:
            The lease, or None if somebody else has it or it is destroyed.
        """
        if getattr(thing, "is_destroyed", False):
            return None
        lease = self._leases.get(id(thing))
        if lease is None:
            lease = self._leases[id(thing)] = Lease(self, thing, owner)
            self.changed.emit(thing)
            return lease
        if lease.owner is owner:
            lease.count += 1
            return lease
        return None

    def holder(self, thing: Any) -> Any:
        """For whom a thing is reserved, or None.

        Args:
            thing: any object.
        """
        lease = self._leases.get(id(thing))
        return None if lease is None else lease.owner

    def can_acquire(self, thing: Any, owner: Any) -> bool:
        """Whether ``acquire`` would succeed.

        Args:
            thing: any object.
            owner: for whom.
        """
        if getattr(thing, "is_destroyed", False):
            return False
        holder = self.holder(thing)
        return holder is None or holder is owner

    def __len__(self) -> int:
        return len(self._leases)

    def __repr__(self) -> str:
        return f"<LeaseBook: {len(self._leases)} leases>"
