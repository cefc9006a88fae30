"""The ranking: those that pass a filter, in the order of a rating, the best first.

It is advanced a few candidates at a time by whoever needs an answer and pays for it, one worker at a time; it rates
again who changed, and all of them when it is told that the ratings moved. Equals stand in the order in which they were
listed.

Rejected: one sorted list (to insert into one of 100,000 moves half of it); reading a heap by copying it (as dear as the
search). The best are taken off a heap into a short sorted list, as far as anybody read; what is out of date is left in
both, and passed over when it is met.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from typing import TypeAlias

from agentrt import Entity, Signal
from agentrt_actions.sieve import Sieve

__all__ = ["Ranking", "RateMany", "Rating"]

Rating: TypeAlias = Callable[[Entity], float | None]
"""How good a candidate is, from 0.0 to 1.0; None if it does not count after all."""

RateMany: TypeAlias = Callable[[Sequence[Entity]], Sequence[float | None]]
"""The same for several at a time, for ratings that are cheaper so."""

_Entry: TypeAlias = tuple[float, int, Entity]  # the rating below zero, the number of the candidate, the candidate


class Ranking:
    """Those that pass a filter, the best first. Iterating gives them as (rating, entity); stop before changing it.

    Args:
        sieve: who passes.
        rate: how good they are.

    Attributes:
        sieve: as given.
        changed: fired when it is worth reading again, or when there is something to find out; with True if nobody
            said which candidates changed.
        is_complete: whether all candidates have been looked at at least once.
        worker: who advances it at the moment, so that its readers do not all do the same work.
    """

    __slots__ = (
        "_entries",
        "_heap",
        "_inbox",
        "_is_moved",
        "_noted",
        "_number",
        "_rate",
        "_renewed",
        "_rest",
        "_rest_at",
        "_top",
        "changed",
        "is_complete",
        "sieve",
        "worker",
    )

    def __init__(self, sieve: Sieve, rate: RateMany) -> None:
        self.sieve: Sieve = sieve
        self.changed: Signal = Signal()
        self.worker: object | None = None
        self._rate = rate
        self._entries: dict[Entity, _Entry] = {}
        self._top: list[_Entry] = []
        self._heap: list[_Entry] = []
        self._number = 0
        self.is_complete: bool = False
        self._inbox: deque[Entity] = deque(sieve.passing)
        self._renewed: deque[Entity] = deque()
        self._noted: set[Entity] = set(sieve.passing)  # for membership
        self._rest: Sequence[Entity] = ()  # who is rated again because the ratings moved
        self._rest_at = 0
        self._is_moved = False
        sieve.readers.append(self)

    def __contains__(self, entity: object) -> bool:
        return entity in self._entries

    def rating(self, entity: Entity) -> float | None:
        """How good a candidate is, as far as is known.

        Args:
            entity: the candidate.
        """
        entry = self._entries.get(entity)
        return None if entry is None else -entry[0]

    @property
    def has_news(self) -> bool:
        """Whether candidates changed whose place here is not up to date."""
        return bool(self._renewed) or self.sieve.has_news

    def left(self) -> int:
        """How many candidates are to be examined or rated, as far as can be told now; 0 if there is nothing left."""
        left = len(self._renewed) + len(self._inbox) + len(self._rest) - self._rest_at + self.sieve.left()
        if not left and self._is_moved:
            self._is_moved = False
            self._rest = tuple(self._entries)
            self._rest_at = 0
            left = len(self._rest)
        if not left:
            self.is_complete = True
        return left

    def advance(self, units: int) -> None:
        """Find out more: first what changed, then what is new, then the rest.

        Args:
            units: how many candidates to examine or rate at most.
        """
        ways = (self._renew, self.sieve.examine_news, self._take_in, self._rate_rest, self.sieve.advance)
        while units > 0:
            for way in ways:
                done = way(units)
                if done:
                    units -= done
                    break
            else:
                return

    def _renew(self, units: int) -> int:
        return self._rate_first(self._renewed, units)

    def _take_in(self, units: int) -> int:
        return self._rate_first(self._inbox, units)

    def _rate_first(self, waiting: deque[Entity], units: int) -> int:
        batch = [waiting.popleft() for _ in range(min(units, len(waiting)))]
        self._noted.difference_update(batch)
        self._take_ratings(batch)
        return len(batch)

    def _rate_rest(self, units: int) -> int:
        batch = self._rest[self._rest_at : self._rest_at + units]
        self._rest_at += len(batch)
        self._take_ratings(batch)
        return len(batch)

    def _take_ratings(self, batch: Sequence[Entity]) -> None:
        batch = [entity for entity in batch if entity in self.sieve.passing]
        if not batch:
            return
        head = self._top[0] if self._top else None
        is_news = False
        for entity, rating in zip(batch, self._rate(batch), strict=True):
            known = self._entries.get(entity)
            if rating is None:
                self.drop(entity)
            elif not 0.0 <= rating <= 1.0:
                raise ValueError(f"the rating of {entity.name} is {rating!r}: it must be a number from 0 to 1, or None")
            elif known is None or known[0] != -rating:
                self._enter(entity, rating, known)
                is_news = is_news or known is not None
        if is_news or head is not (self._top[0] if self._top else None):
            self.changed.emit()

    def _enter(self, entity: Entity, rating: float, known: _Entry | None) -> None:
        if known is None:
            self._number += 1
        entry = (-rating, self._number if known is None else known[1], entity)
        self._entries[entity] = entry
        if self._top and entry < self._top[-1]:
            insort(self._top, entry)
        else:
            heappush(self._heap, entry)

    def take(self, entity: Entity) -> None:
        """A candidate passed the filter, or passed it again.

        Args:
            entity: the candidate.
        """
        if entity not in self._noted:
            self._noted.add(entity)
            (self._renewed if entity in self._entries else self._inbox).append(entity)

    def drop(self, entity: Entity) -> None:
        """A candidate does not count any more.

        Args:
            entity: the candidate.
        """
        if self._entries.pop(entity, None) is not None:
            self.changed.emit()

    def rate_again(self) -> None:
        """What ratings depend on changed for all candidates; the old ones stand until their turn comes."""
        self._is_moved = True
        self.changed.emit()

    def __iter__(self) -> Iterator[tuple[float, Entity]]:
        index = 0
        while index < len(self._top) or self._pull():
            entry = self._top[index]
            if self._entries.get(entry[2]) is entry:
                yield -entry[0], entry[2]
                index += 1
            else:
                del self._top[index]

    def _pull(self) -> bool:
        while self._heap:
            entry = heappop(self._heap)
            if self._entries.get(entry[2]) is entry:
                self._top.append(entry)
                return True
        return False

    def close(self) -> None:
        """Its sieve tells it nothing any more."""
        if self in self.sieve.readers:
            self.sieve.readers.remove(self)
