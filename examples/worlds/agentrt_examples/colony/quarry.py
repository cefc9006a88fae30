"""Quarry: whom a hunter is after, and what it remembers of others.

The one selector of a wolf chooses (``targets``), the other one acts (``goals``); they never speak with each other, they
meet here: the first writes ``target``, the second reads it.

What a hunter remembers is a *grudge* against whoever struck it, and *awe* of a nest whose guard growled at it. Both
fade, and both are saved with the game; the target is not, because it follows from them and from who is near.

The choice, by what it costs to get there in tenths of a step: the nearest prey that nobody else hunts, or the nearest
nest with eggs that it is not in awe of, when that is nearer even though each guard counts as so many steps more.

Source: Minecraft, goal selectors: "Usage" (the targeting goal selector).
"""

from __future__ import annotations

from agentrt import Entity
from agentrt_examples.colony.bodies import Position
from agentrt_examples.colony.nests import Nest
from agentrt_examples.colony.town import Town

__all__ = ["AWE", "GRUDGE", "Quarry", "choose_prey"]

GRUDGE = 160
"""For how many ticks a blow is remembered."""

AWE = 300
"""For how many ticks a growl is."""

_SMELL = 320
_EGGS = 260  # from how far eggs are smelled
_GUARD = 30  # what a guard adds


class Quarry:
    """Whom a hunter is after.

    Attributes:
        target: whom it is after; None for nobody.
        enemy: who struck it last.
        grudge: the tick until which that counts.
        has_bitten: whether it bit somebody a moment ago.
        awe: for each nest that it keeps away from, the tick until which it does.
    """

    __slots__ = ("awe", "enemy", "grudge", "has_bitten", "target")

    def __init__(self) -> None:
        self.target: Entity | None = None
        self.enemy: Entity | None = None
        self.grudge = 0
        self.has_bitten = False
        self.awe: dict[Entity, int] = {}

    def struck(self, by: Entity, tick: int) -> None:
        """Remember a blow.

        Args:
            by: who struck.
            tick: now.
        """
        self.enemy = by
        self.grudge = tick + GRUDGE

    def enemy_at(self, tick: int) -> Entity | None:
        """Whom it has a grudge against.

        Args:
            tick: now.
        """
        enemy = self.enemy
        if enemy is not None and (tick >= self.grudge or enemy.is_destroyed):
            enemy = self.enemy = None
        return enemy

    def scare(self, nest: Entity, tick: int) -> None:
        """Keep away from a nest for a while.

        Args:
            nest: which.
            tick: now.
        """
        self.awe[nest] = tick + AWE

    def dares(self, nest: Entity, tick: int) -> bool:
        """Whether it would go to a nest.

        Args:
            nest: which.
            tick: now.
        """
        if self.awe.get(nest, 0) > tick:
            return False
        self.awe.pop(nest, None)
        return True


def choose_prey(town: Town, hunter: Entity, quarry: Quarry) -> Entity | None:
    """The best target for a hunter: prey, or a nest with eggs.

    Args:
        town: where.
        hunter: who looks.
        quarry: what it remembers.

    Returns:
        The target, or None if it smells nothing.
    """
    here, tick, leases = hunter[Position].location, town.clock.tick, town.leases
    prey = town.survey.nearest(
        "prey", here, reach=1, within=_SMELL, accepts=lambda one: leases.can_acquire(one, hunter)
    )
    eggs = town.survey.nearest("eggs", here, reach=1, within=_EGGS, accepts=lambda nest: quarry.dares(nest, tick))
    if eggs is not None and (prey is None or eggs[1] + _GUARD * len(eggs[0][Nest].watchers) < prey[1]):
        return eggs[0]
    return None if prey is None else prey[0]
