"""Soldiers: a selection tree chooses the stance, and the stance says what the plan may do.

The tree is data, ``data/selection/Soldier.xml``; what its leaves mean is here:

==========  =======================================  ==============================================================
stance      when                                     what it switches
==========  =======================================  ==============================================================
Retreat     badly hurt                               nothing is left to forbid fleeing
Attack      there are wolves                         the pack ``stance_attack``: run after wolves, strike, stand fast
HoldPost    there are wolves, none near, on watch    the pack ``stance_watch``, and the goals of a ``vigil``
Watch       on watch                                 the pack ``stance_watch``
OffDuty     otherwise                                the pack ``evenings``: stories and songs by the fire
==========  =======================================  ==============================================================

The signals of the tree come from ``perception`` and from the captain.

Source: CryEngine, selection trees: Overview, "Signal Variables", "Behavior Selection Tree Evaluation".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from agentrt import LOOK, Agent, Entity
from agentrt.bridges import attaches, injects
from agentrt.goals import Goal, GoalSelector
from agentrt.selection import LeafBehavior, SelectionState
from agentrt_examples.colony.bodies import Fear, Position
from agentrt_examples.colony.harm import wound
from agentrt_examples.colony.minds.perception import TREES, Perception
from agentrt_examples.colony.town import Town

__all__ = ["STANCES", "Challenge", "StrikeBack", "senses", "vigil"]

_STRIKE = (10, 24)
_WATCH = "colony:ai_pack:stance_watch"


# --- the vigil --------------------------------------------------------------------------------------------------------


class StrikeBack(Goal):
    """Strike a wolf that comes next to the post, without leaving it."""

    flags = frozenset({LOOK})
    name = "strike back"

    def __init__(self) -> None:
        super().__init__()
        self._wolf: Entity | None = None

    def can_use(self) -> bool:
        """Whether a wolf is next to the post."""
        here = self.entity[Position].location
        distance = self.entity[Town].finder.distance
        near = (wolf for wolf in self.entity[Fear].nearby if not wolf.is_destroyed)
        self._wolf = next((wolf for wolf in near if distance(here, wolf[Position].location) <= 1), None)
        return self._wolf is not None

    def can_continue_to_use(self) -> bool:
        """Until the blow is struck."""
        return True

    async def run(self) -> None:
        """Strike."""
        town: Town = self.entity[Town]
        wolf = self._wolf
        assert wolf is not None
        await town.effects.show(self.entity, "strike")
        distance = town.finder.distance(self.entity[Position].location, wolf[Position].location)
        if not wolf.is_destroyed and distance <= 2:
            town.chronicle.note("blows struck", self.entity, f"struck {wolf.name}")
            if wound(town, wolf, town.random.between(*_STRIKE), by=self.entity):
                town.chronicle.note("wolves slain", self.entity, f"slew {wolf.name}")


class Challenge(Goal):
    """Call at whoever sneaks about out there, now and then."""

    flags = frozenset({LOOK})
    name = "challenge"
    _every: ClassVar[int] = 80

    def __init__(self) -> None:
        super().__init__()
        self._due = 0

    def can_use(self) -> bool:
        """Whether it is time."""
        return bool(self.entity[Town].clock.tick >= self._due)

    def can_continue_to_use(self) -> bool:
        """Until it has called."""
        return True

    async def run(self) -> None:
        """Call."""
        town: Town = self.entity[Town]
        self._due = town.clock.tick + self._every
        await town.effects.show(self.entity, "call")


def vigil() -> GoalSelector:
    """What a soldier does who holds its post, besides standing there."""
    selector = GoalSelector(name="vigil")
    selector.add_goal(1, StrikeBack())
    selector.add_goal(2, Challenge())
    return selector


# --- the stances ------------------------------------------------------------------------------------------------------


class HoldPost(LeafBehavior):
    """Stay at the post, and strike who comes next to it: a pack and a goal selector."""

    def __init__(self) -> None:
        self._parts = (injects(_WATCH)(), attaches(vigil)())

    def constructor(self, ai: SelectionState) -> None:
        """Begin.

        Args:
            ai: the state of the tree.
        """
        for part in self._parts:
            part.constructor(ai)

    def destructor(self, ai: SelectionState) -> None:
        """End.

        Args:
            ai: the state of the tree.
        """
        for part in reversed(self._parts):
            part.destructor(ai)


STANCES: Mapping[str, LeafBehavior | Callable[[], LeafBehavior]] = {
    "Retreat": LeafBehavior(),
    "Attack": injects("colony:ai_pack:stance_attack"),
    "HoldPost": HoldPost,
    "Watch": injects(_WATCH),
    "OffDuty": injects("colony:ai_pack:evenings"),
}
"""What the leaves of ``Soldier.xml`` do."""


def senses(agent: Agent) -> Perception:
    """Give a soldier its stances.

    Args:
        agent: the soldier's.

    Returns:
        What it perceives from now on.
    """
    return Perception(agent, TREES["Soldier"].state(STANCES, name="stance"))
