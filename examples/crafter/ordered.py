"""Equal seeds, equal episodes: a set that keeps its order, installed in Crafter from outside.

Crafter keeps the creatures of each part of its world in a ``set`` of objects, and draws one of them at random to let it
vanish. Such a set iterates in the order of the addresses of its objects, and these differ from process to process; so
two episodes with the same seed part ways as soon as a creature vanishes. ``install`` has ``crafter.engine.World`` keep
them in the order in which they came instead. It changes one thing that the game never promised, and no rule of it: each
creature is drawn with the same probability as before.

Nothing else in the game depends on such an order: the other set of objects (``World.nearby``) is never iterated, and
its set of materials is only asked what it contains. ``tests/crafter`` runs an episode in two processes with different
hash seeds and compares the digests.

Rejected: a copy of the game with the line changed (the published game is what is to be played).
"""

from __future__ import annotations

import collections
from collections.abc import Hashable, Iterator
from typing import Any

__all__ = ["OrderedSet", "install"]


class OrderedSet:
    """What Crafter asks of a set: add, remove, iterate, count; in the order of arrival."""

    __slots__ = ("_members",)

    def __init__(self) -> None:
        self._members: dict[Hashable, None] = {}

    def add(self, member: Hashable) -> None:
        """Take one in, as the last one if it is new.

        Args:
            member: it.
        """
        self._members[member] = None

    def remove(self, member: Hashable) -> None:
        """Take one out.

        Args:
            member: it.

        Raises:
            KeyError: it is not there.
        """
        del self._members[member]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, member: Hashable) -> bool:
        return member in self._members


def install() -> None:
    """Have each world of Crafter that is made or reset from now on keep its creatures in order.

    A second call does nothing.
    """
    from crafter import engine

    original = engine.World.reset
    if getattr(original, "keeps_order", False):
        return

    def reset(self: Any, seed: int | None = None) -> None:
        original(self, seed)
        self._chunks = collections.defaultdict(OrderedSet)

    reset.keeps_order = True  # type: ignore[attr-defined]
    engine.World.reset = reset
