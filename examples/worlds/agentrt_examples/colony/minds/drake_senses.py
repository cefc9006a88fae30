"""What a drake knows when it decides: decision flags, stimuli, and who is how near.

``State`` are the decision flags of its tree, worked out in each tick; ``Sense`` are the tokens of its stimuli, a
component of the drake; a ``Foe`` is the DBlock by which a Decide hands to its behavior whom it is about.

Source: Spore, behavior trees: S06, S07.
"""

from __future__ import annotations

from enum import IntFlag, auto

from agentrt import Entity
from agentrt_examples.colony.bodies import Health, Position
from agentrt_examples.colony.nests import Kin, Nest
from agentrt_examples.colony.terrain import Cell
from agentrt_examples.colony.town import Town

__all__ = [
    "SMART",
    "Foe",
    "Sense",
    "State",
    "is_at_nest",
    "is_within",
    "may_be_fought",
    "nest_of",
    "state_of",
    "steps_to",
]

SMART = 5.0
"""For how many game seconds a blow is felt."""

_FAR = 9  # steps from the nest: who is farther away is let go


class State(IntFlag):
    """The decision flags of a drake."""

    HURT = auto()
    NIGHT = auto()


class Sense(IntFlag):
    """The stimuli of a drake."""

    HIT = auto()
    HELP = auto()
    GROWLED = auto()
    PASTURE = auto()


class Foe:
    """What a Decide hands to its behavior: whom it is about.

    Attributes:
        entity: whom.
    """

    __slots__ = ("entity",)

    def __init__(self) -> None:
        self.entity: Entity | None = None


def state_of(drake: Entity) -> int:
    """The decision flags of a drake.

    Args:
        drake: whose.
    """
    health = drake[Health]
    hurt = State.HURT if health.points * 5 < health.most * 2 else 0
    return hurt | (State.NIGHT if drake[Town].daylight.is_dark else 0)


def steps_to(drake: Entity, other: Entity) -> int:
    """How many steps somebody is away.

    Args:
        drake: from whom.
        other: who.
    """
    return drake[Town].finder.distance(drake[Position].location, other[Position].location)


def is_within(drake: Entity, foe: Entity, steps: int) -> bool:
    """Whether somebody is still there, and so near.

    Args:
        drake: to whom.
        foe: who.
        steps: how near.
    """
    return not foe.is_destroyed and steps_to(drake, foe) <= steps


def is_at_nest(drake: Entity, other: Entity, steps: int) -> bool:
    """Whether somebody is near the nest of a drake.

    Args:
        drake: whose nest.
        other: who.
        steps: how near.
    """
    home: Cell = drake[Kin].nest[Position].location
    return drake[Town].finder.distance(home, other[Position].location) <= steps


def nest_of(drake: Entity) -> Nest:
    """The nest to which a drake belongs.

    Args:
        drake: who.
    """
    return drake[Kin].nest[Nest]


def may_be_fought(drake: Entity, foe: Entity) -> bool:
    """Whether somebody is worth a fight: nobody is who is far from the nest.

    Args:
        drake: who would fight.
        foe: against whom.
    """
    return not foe.is_destroyed and is_at_nest(drake, foe, _FAR)
