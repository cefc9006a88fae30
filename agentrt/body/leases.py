"""Leases: reservations of things, so that two agents do not go for the same one.

A lease is held by an owner and released by it, or by its owner's end: an owner that has a ``destroyed`` signal loses
its leases when it is destroyed, an agent when it has left its runtime, after all of its ``stop`` hooks; and a thing
that is destroyed is not leased any more. Who is gone gets none: nobody would ever give it back. What an agent's entity
holds by itself stays with the entity. Acquiring is immediate: whoever asks first has it, there is no queue.
"""

from __future__ import annotations

from typing import Any

from agentrt.kernel.signals import Connection, Event, Signal

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
            held = book._held.get(id(self.owner))
            if held is not None:
                held.pop(self, None)
                if not held:
                    del book._held[id(self.owner)]
            for connection in self._connections:
                connection.close()
            self.released.emit(self)
            book.changed.emit(self.thing)


class LeaseBook:
    """All reservations of one runtime.

    Attributes:
        changed: emitted with the thing whenever one is newly reserved or free again; who looks for work waits for it.
        left: emitted with each lease that its owner still held when it was gone, before that is released: some action
            of an agent did not give it back. For those who look for mistakes.
    """

    __slots__ = ("_held", "_leases", "changed", "left")

    def __init__(self) -> None:
        self.changed: Signal = Signal()
        self.left: Signal = Signal()
        # Keyed by identity, since things need not be hashable; never iterated, so no order depends on it.
        self._leases: dict[int, Lease] = {}
        self._held: dict[int, dict[Lease, None]] = {}  # those of each owner, in the order in which it got them

    def acquire(self, thing: Any, owner: Any) -> Lease | None:
        """Reserve a thing.

        Args:
            thing: any object.
            owner: for whom; the same owner may acquire it again and then shares one lease.

        Returns:
            The lease, or None if somebody else has it, it is destroyed, or the owner is gone.
        """
        if getattr(thing, "is_destroyed", False) or _is_gone(owner):
            return None
        lease = self._leases.get(id(thing))
        if lease is None:
            lease = self._leases[id(thing)] = Lease(self, thing, owner)
            self._held.setdefault(id(owner), {})[lease] = None
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
        if getattr(thing, "is_destroyed", False) or _is_gone(owner):
            return False
        holder = self.holder(thing)
        return holder is None or holder is owner

    def release_all(self, owner: Any) -> None:
        """An owner is gone: what it still holds is free, in the order in which it got it.

        Args:
            owner: for whom.
        """
        for lease in tuple(self._held.get(id(owner), ())):
            self.left.emit(lease)
            lease._end()

    def __len__(self) -> int:
        return len(self._leases)

    def __repr__(self) -> str:
        return f"<LeaseBook: {len(self._leases)} leases>"


def _is_gone(owner: Any) -> bool:
    """Whether an owner can give nothing back any more: an entity that is destroyed, an agent that has ended."""
    ended = getattr(owner, "has_ended", None)
    return bool(getattr(owner, "is_destroyed", False)) or (isinstance(ended, Event) and ended.is_set)
