"""The sieve: which of many candidates pass a filter, found out a few at a time, remembered, and kept true.

A verdict is kept until the candidate changes: the ``Directory`` says so with a ``Change``, or the candidate itself, if
it has ``Changing``. A directory that only says that something changed has all candidates examined again; until its turn
comes, a candidate's old verdict stands. A round that is under way is finished before the next begins, so that a world
that changes in every tick does not keep a search from ever ending.

After a round that is not the first, those are forgotten that were not listed any more; a few at a time, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from agentrt import Entity, Signal
from agentrt.kernel import Connection
from agentrt_actions.protocols import Change, Changing

__all__ = ["Filter", "Sieve", "SieveReader"]

Filter: TypeAlias = Callable[[Entity], bool]
"""Whether a candidate counts."""


class SieveReader(Protocol):
    """Who is told what comes through a sieve."""

    @property
    def changed(self) -> Signal:
        """Fired by the sieve when there is something to examine; with True if nobody said which candidates changed."""
        ...

    def take(self, entity: Entity) -> None:
        """A candidate passed the filter, or changed and passed it again."""

    def drop(self, entity: Entity) -> None:
        """A candidate that had passed does not count any more."""


class _Told:
    """A candidate says that it changed."""

    __slots__ = ("_entity", "_sieve")

    def __init__(self, sieve: Sieve, entity: Entity) -> None:
        self._sieve = sieve
        self._entity = entity

    def __call__(self, _value: object) -> None:
        self._sieve.note(self._entity)


class Sieve:
    """Which of the candidates pass a filter.

    Args:
        test: the filter; None lets all pass.
        candidates: lists them.
        changed: tells that they changed; None if nobody does.

    Attributes:
        passing: those that pass, as far as is known, in the order in which that was found out.
        readers: who is told.
    """

    __slots__ = (
        "_candidates",
        "_changed",
        "_cursor",
        "_gone",
        "_is_purging",
        "_is_stale",
        "_listed",
        "_noted",
        "_queue",
        "_round",
        "_test",
        "_verdicts",
        "_watched",
        "passing",
        "readers",
    )

    def __init__(
        self, test: Filter | None, candidates: Callable[[], Sequence[Entity]], changed: Signal | None = None
    ) -> None:
        self._test = test
        self._candidates = candidates
        self._changed: Connection | None = None if changed is None else changed.connect(self._on_changed)
        self._verdicts: dict[Entity, int] = {}  # the round in which each was examined; below zero: it failed
        self._round = 0
        self._listed: Sequence[Entity] = ()
        self._cursor = 0
        self._is_stale = True
        self._is_purging = False  # whether the list is searched for those that are no candidates any more
        self._queue: deque[Entity] = deque()  # who said that it changed
        self._noted: set[Entity] = set()  # the same, for membership; who is in the queue and not in here has left
        self._gone: set[Entity] = set()  # who left since the candidates were listed
        self._watched: dict[Entity, Connection] = {}
        self.passing: dict[Entity, None] = {}
        self.readers: list[SieveReader] = []

    @property
    def has_news(self) -> bool:
        """Whether candidates changed that were not examined since."""
        return bool(self._queue)

    def left(self) -> int:
        """How many candidates are to be examined, as far as can be told now; 0 if there is nothing left to find out."""
        while self._cursor >= len(self._listed):
            if not self._next_round():
                return len(self._queue)
        return len(self._queue) + len(self._listed) - self._cursor

    def examine_news(self, units: int) -> int:
        """Examine candidates that changed.

        Args:
            units: how many at most.

        Returns:
            How many.
        """
        done = 0
        while self._queue and done < units:
            entity = self._queue.popleft()
            if entity in self._noted:  # else it left meanwhile
                self._noted.discard(entity)
                self._examine(entity)
            done += 1
        return done

    def advance(self, units: int) -> int:
        """Examine some candidates, those that changed first.

        Args:
            units: how many at most.

        Returns:
            How many; 0 if there is nothing left to find out.
        """
        done = self.examine_news(units)
        while done < units:
            if self._cursor < len(self._listed):
                entity = self._listed[self._cursor]
                self._cursor += 1
                known = self._verdicts.get(entity)
                if entity in self._gone:
                    pass  # it left after it was listed
                elif known is not None and abs(known) != self._round:
                    (self._forget if self._is_purging else self._examine)(entity)
                elif known is None and not self._is_purging:
                    self._examine(entity)
            elif self._next_round():
                continue
            else:
                break
            done += 1
        return done

    def _next_round(self) -> bool:
        self._cursor = 0
        self._gone.clear()
        if not self._is_purging and self._round > 1 and self._listed:
            self._is_purging = True
            self._listed = tuple(self._verdicts)
            return True
        self._is_purging = False
        self._listed = ()
        if not self._is_stale:
            return False
        self._is_stale = False
        self._round += 1
        self._listed = self._candidates()
        if not self._listed and self._verdicts:
            self._is_purging = True
            self._listed = tuple(self._verdicts)
        return True

    def _examine(self, entity: Entity) -> None:
        if entity.is_destroyed:
            self._forget(entity)
            return
        if entity not in self._verdicts:
            changing = entity.get(Changing)
            if changing is not None:
                self._watched[entity] = changing.changed.connect(_Told(self, entity))
        passes = False
        try:
            passes = self._test is None or self._test(entity)
        finally:
            # One whose filter raises has failed, so that it is not asked again and again.
            self._judge(entity, passes)

    def _judge(self, entity: Entity, passes: bool) -> None:
        self._verdicts[entity] = self._round if passes else -self._round
        if passes:
            self.passing[entity] = None
            for reader in self.readers:
                reader.take(entity)
        elif entity in self.passing:
            self._drop(entity)

    def _drop(self, entity: Entity) -> None:
        del self.passing[entity]
        for reader in self.readers:
            reader.drop(entity)

    def _forget(self, entity: Entity) -> None:
        self._verdicts.pop(entity, None)
        connection = self._watched.pop(entity, None)
        if connection is not None:
            connection.close()
        if entity in self.passing:
            self._drop(entity)

    def _on_changed(self, value: object) -> None:
        if not isinstance(value, Change):
            self._is_stale = True
            self._wake(True)
        elif value.is_there:
            self.note(value.entity)
        else:
            if self._cursor < len(self._listed):
                self._gone.add(value.entity)
            self._noted.discard(value.entity)
            self._forget(value.entity)

    def note(self, entity: Entity) -> None:
        """A candidate came, or changed: it is to be examined.

        Args:
            entity: the candidate.
        """
        self._gone.discard(entity)
        if entity not in self._noted:
            self._noted.add(entity)
            self._queue.append(entity)
            self._wake()

    def _wake(self, is_stale: bool = False) -> None:
        for reader in tuple(self.readers):
            reader.changed.emit(is_stale)

    def close(self) -> None:
        """Watch no more."""
        if self._changed is not None:
            self._changed.close()
        for connection in self._watched.values():
            connection.close()
        self._watched.clear()
