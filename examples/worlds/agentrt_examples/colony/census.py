"""The census: what there is in the colony, by tags. The directory of the standard actions.

Rules: an entity stands under any number of tags; under each tag entities stand in the order in which they
came; an entity that is destroyed is struck from all of them by itself. Whoever changes an entity's state
moves it between tags: a plot goes from ``plot:bare`` to ``plot:tilled``, an item from ``loose`` to
``stored``. So an action that looks for work waits for one signal, and nobody scans the world.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from agentrt import Entity, Signal
from agentrt_actions import Change

__all__ = ["Census", "Watcher"]


class Watcher(Protocol):
    """Whoever keeps something of its own about what stands under a tag."""

    def came(self, entity: Entity) -> None:
        """An entity was put under the tag."""
        ...

    def went(self, entity: Entity) -> None:
        """An entity was taken from the tag."""
        ...


class Census:
    """Entities by tags; implements ``agentrt_actions.Directory``."""

    __slots__ = ("_entries", "_found", "_signals", "_tags", "_under", "_watchers")

    def __init__(self) -> None:
        # A dict stands for an ordered set: never iterate over a set, its order is not the same in every run.
        self._under: dict[str, dict[Entity, int]] = {}
        self._found: dict[str, tuple[Entity, ...]] = {}
        self._entries = 0
        self._watchers: dict[str, Watcher] = {}
        self._tags: dict[Entity, dict[str, None]] = {}
        self._signals: dict[str, Signal] = {}

    def find(self, tag: str) -> tuple[Entity, ...]:
        """What stands under a tag, in the order in which it came.

        Args:
            tag: the tag.
        """
        found = self._found.get(tag)
        if found is None:
            found = self._found[tag] = tuple(self._under.get(tag, ()))
        return found

    def entries(self, tag: str) -> Mapping[Entity, int]:
        """What stands under a tag, each with a number that is greater for what came later.

        Args:
            tag: the tag.
        """
        return self._under.setdefault(tag, {})

    def watch(self, tag: str, watcher: Watcher) -> None:
        """Have somebody told of each entry from now on; one for each tag.

        Args:
            tag: the tag.
            watcher: who is told.
        """
        self._watchers[tag] = watcher

    def tags_of(self, entity: Entity) -> tuple[str, ...]:
        """The tags under which an entity stands, in the order in which it was put there."""
        return tuple(self._tags.get(entity, ()))

    def count(self, tag: str) -> int:
        """How many stand under a tag.

        Args:
            tag: the tag.
        """
        return len(self._under.get(tag, ()))

    def has(self, entity: Entity, tag: str) -> bool:
        """Whether an entity stands under a tag.

        Args:
            entity: the entity.
            tag: the tag.
        """
        return entity in self._under.get(tag, ())

    def changed(self, tag: str) -> Signal:
        """The signal that is fired when something about a tag changed.

        Args:
            tag: the tag.
        """
        signal = self._signals.get(tag)
        if signal is None:
            signal = self._signals[tag] = Signal()
        return signal

    def tell(self, tag: str, change: Change | None = None) -> None:
        """Fire the signal of a tag: what stands there is not what it was.

        Args:
            tag: the tag.
            change: what changed; None if it is not who stands there, but something about them.
        """
        signal = self._signals.get(tag)
        if signal is not None:
            signal.emit(change)

    def put(self, entity: Entity, *tags: str) -> None:
        """Put an entity under tags; those under which it stands already do nothing.

        Args:
            entity: the entity.
            tags: the tags.
        """
        own = self._tags.get(entity)
        if own is None:
            own = self._tags[entity] = {}
            entity.destroyed.connect(lambda _value: self.strike(entity))
        new = [tag for tag in tags if tag not in own]
        for tag in new:
            own[tag] = None
            self._entries += 1
            self._under.setdefault(tag, {})[entity] = self._entries
            self._found.pop(tag, None)
            if tag in self._watchers:
                self._watchers[tag].came(entity)
        if new:
            change = Change(entity, True)
            for tag in new:
                self.tell(tag, change)

    def take(self, entity: Entity, *tags: str) -> None:
        """Take an entity from tags; those under which it does not stand do nothing.

        Args:
            entity: the entity.
            tags: the tags.
        """
        own = self._tags.get(entity, {})
        old = [tag for tag in tags if tag in own]
        for tag in old:
            del own[tag]
            del self._under[tag][entity]
            self._found.pop(tag, None)
            if tag in self._watchers:
                self._watchers[tag].went(entity)
        if old:
            change = Change(entity, False)
            for tag in old:
                self.tell(tag, change)

    def mark(self, entity: Entity, tag: str, present: bool) -> None:
        """Put an entity under a tag, or take it from it.

        Args:
            entity: the entity.
            tag: the tag.
            present: which of the two.
        """
        if present:
            self.put(entity, tag)
        else:
            self.take(entity, tag)

    def strike(self, entity: Entity) -> None:
        """Take an entity from all its tags."""
        self.take(entity, *self._tags.get(entity, {}))
        self._tags.pop(entity, None)
