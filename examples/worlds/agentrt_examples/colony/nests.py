"""Nests: places with eggs, which wolves are after and drakes guard.

Rules: a nest knows its *kin*, the drakes that belong to it, and which of them are on watch; it knows nothing of how
they decide. Watches go round: whoever had the last one leaves the next to the others, as long as one of them is able.
Eggs are laid at dawn and hatch when they are due and a drake is missing; a nest that lost everybody gets a drake from
the woods. An egg is a number, the tick from which it may hatch: nobody carries one about but in the belly.

The census lists a nest under ``nest``, and under ``eggs`` while there are any, so that a wolf that looks for eggs waits
for one signal and looks at no empty nest.

Source: Spore, behavior trees: S05 (GUARD_NEST), S08 ("notifying the nest that you're guarding it or no longer guarding
it").
"""

from __future__ import annotations

from agentrt import Entity, Signal
from agentrt_examples.colony.bodies import Health
from agentrt_examples.colony.census import Census

__all__ = ["EGGS", "HATCHING", "KIN", "Kin", "Nest"]

EGGS = 3
"""How many eggs a nest holds at most."""

KIN = 2
"""How many drakes belong to a nest when it is well."""

HATCHING = 600
"""For how many ticks an egg is brooded."""


class Nest:
    """A nest.

    Args:
        entity: the nest itself.
        census: where it is listed.

    Attributes:
        eggs: for each egg from which tick on it hatches, the oldest first.
        kin: the drakes that belong to it, in the order in which they came.
        watchers: those of them who are on watch.
        last: who was relieved last; None before the first watch ended.
        changed: fired when any of this changed.
    """

    __slots__ = ("_census", "_entity", "changed", "eggs", "kin", "last", "watchers")

    def __init__(self, entity: Entity, census: Census) -> None:
        self._entity = entity
        self._census = census
        self.eggs: list[int] = []
        self.kin: list[Entity] = []
        self.watchers: list[Entity] = []
        self.last: Entity | None = None
        self.changed = Signal()
        census.put(entity, "nest")

    # --- eggs ---------------------------------------------------------------------------------------------------------

    def lay(self, due: int) -> bool:
        """Have one egg more.

        Args:
            due: from which tick on it hatches.

        Returns:
            False if there is no room for it.
        """
        if len(self.eggs) >= EGGS:
            return False
        self.eggs.append(due)
        self._told()
        return True

    def lose(self) -> bool:
        """Have one egg less: the oldest.

        Returns:
            False if there is none.
        """
        if not self.eggs:
            return False
        del self.eggs[0]
        self._told()
        return True

    def hatch(self, tick: int) -> bool:
        """Open the oldest egg if it is due and a drake is missing.

        Args:
            tick: now.

        Returns:
            Whether somebody came out of it.
        """
        return len(self.kin) < KIN and bool(self.eggs) and self.eggs[0] <= tick and self.lose()

    def put(self, eggs: list[int]) -> None:
        """Have these eggs, whatever it had before.

        Args:
            eggs: for each from which tick on it hatches, the oldest first.
        """
        self.eggs = list(eggs)
        self._told()

    def _told(self) -> None:
        self._census.mark(self._entity, "eggs", bool(self.eggs))
        self.changed.emit()

    # --- kin and watches ----------------------------------------------------------------------------------------------

    def adopt(self, drake: Entity) -> None:
        """Have one more who belongs to it, until it dies.

        Args:
            drake: who.
        """
        self.kin.append(drake)
        drake.destroyed.connect(self._lose_kin)

    def _lose_kin(self, drake: Entity) -> None:
        self.kin.remove(drake)
        if self.last is drake:
            self.last = None
        self.end_watch(drake)

    def is_turn_of(self, drake: Entity) -> bool:
        """Whether a watch is somebody's business: it is on watch, or nobody is and it is not the one to rest now.

        Args:
            drake: one of its kin.
        """
        if self.watchers:
            return drake in self.watchers
        return drake is not self.last or not self.can_be_relieved(drake)

    def can_be_relieved(self, drake: Entity) -> bool:
        """Whether anybody else is able to take over.

        Args:
            drake: who would go.
        """
        return any(other is not drake and not other[Health].is_hurt for other in self.kin)

    def begin_watch(self, drake: Entity) -> None:
        """Somebody is on watch from now on.

        Args:
            drake: who.
        """
        if drake not in self.watchers:
            self.watchers.append(drake)
            self.changed.emit()

    def end_watch(self, drake: Entity) -> None:
        """Somebody is on watch no more; nothing happens if it was not.

        Args:
            drake: who.
        """
        if drake in self.watchers:
            self.watchers.remove(drake)
            if drake in self.kin:
                self.last = drake
            self.changed.emit()


class Kin:
    """To which nest somebody belongs.

    Args:
        nest: the nest.

    Attributes:
        nest: the nest; its entity has a ``Nest``.
    """

    __slots__ = ("nest",)

    def __init__(self, nest: Entity) -> None:
        self.nest = nest
