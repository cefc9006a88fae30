"""Wounds: the one place where a body is hurt and healed, so that the census always knows who needs help.

Tags that are kept here: ``wounded`` for hearthlings that should be looked after, ``prey`` for whom wolves
hunt (those who lie on the ground are left alone). A hearthling that can take no more lies down and recovers;
anybody else dies.
"""

from __future__ import annotations

from agentrt import Entity
from agentrt_examples.colony.bodies import Health, Legs
from agentrt_examples.colony.buffs import Buffs
from agentrt_examples.colony.town import Town

__all__ = ["BADLY_HURT", "STRUCK", "heal", "mark", "wound"]

BADLY_HURT = "badly_hurt"
"""The event of an entity that has less than two fifths of its health left."""

STRUCK = "struck"
"""The event of an entity that was struck by somebody; its value is who did it."""


def wound(town: Town, victim: Entity, points: int, by: Entity | None = None) -> bool:
    """Hurt somebody.

    Args:
        town: where.
        victim: who.
        points: how much.
        by: who did it; None if nobody can be blamed.

    Returns:
        Whether the victim died of it.
    """
    health = victim[Health]
    was_down = health.is_down
    before = health.points
    health.add(-points)
    if health.points * 10 < health.most * 4 <= before * 10:
        victim.signal(BADLY_HURT).emit()
    if by is not None:
        victim.signal(STRUCK).emit(by)
    if not health.is_down:
        mark(town, victim)
        return False
    if victim.kind != "hearthling":
        town.deaths += 1
        victim.destroy()
        return True
    if not was_down:
        town.chronicle.note("knocked down", victim, "was knocked down")
    mark(town, victim)
    return False


def heal(town: Town, patient: Entity, points: int) -> None:
    """Heal somebody.

    Args:
        town: where.
        patient: who.
        points: how much.
    """
    patient[Health].add(points)
    mark(town, patient)


def mark(town: Town, somebody: Entity) -> None:
    """See to it that the tags of a body and its legs fit its wounds.

    Args:
        town: where.
        somebody: whose.
    """
    health = somebody[Health]
    if somebody.kind == "hearthling":
        town.census.mark(somebody, "wounded", health.is_hurt)
        town.census.mark(somebody, "prey", not health.is_down)
        somebody[Legs].limping = health.is_hurt or somebody[Buffs].left("poisoned") > 0
