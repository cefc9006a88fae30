"""What drakes do: the behaviors of their tree, each for all drakes.

What takes time is a coroutine, which is cancelled when something more important begins; running after somebody, walking
and fleeing are activities of the standard library, performed with the control flags of the behavior. What a behavior
has to remember while it is active is in its block (``Round``), and nothing is kept in the behavior itself.

Source: Spore, behavior trees: S07, S08.
"""

from __future__ import annotations

from contextlib import suppress

from agentrt import LOOK, MOVE, Entity
from agentrt.behavior import Activation, Behavior, Stimuli
from agentrt.errors import ActivityAbortedError, ActivityImpossibleError
from agentrt_examples.colony.bodies import Fear, Legs, Needs, Position
from agentrt_examples.colony.harm import wound
from agentrt_examples.colony.minds.drake_senses import Sense, is_within, may_be_fought, nest_of
from agentrt_examples.colony.nests import Kin
from agentrt_examples.colony.quarry import Quarry
from agentrt_examples.colony.terrain import Cell
from agentrt_examples.colony.town import Town

__all__ = [
    "Brood",
    "EatFood",
    "Fight",
    "FindFood",
    "Flee",
    "Growl",
    "GuardNest",
    "Help",
    "Loiter",
    "Patrol",
    "Round",
    "Sleep",
]

_SNAP = (12, 26)
_WATCH = 20.0  # game seconds
_FAMISHED = 225  # of 1,000
_FULL = 850
_RESTED = 900
_CALL = 6.0  # game seconds for which a call for help is heard
_SILENCE = 5.0  # game seconds between two growls
_PASTURE = 8.0  # game seconds for which a pasture is good
_ROUND = ((0, -2), (2, 0), (0, 2), (-2, 0))


async def _chase(at: Activation, foe: Entity) -> bool:
    """Run after somebody; whether it is in reach now."""
    try:
        await at.perform("agentrt:chase_entity", target=foe, patience=12)
    except (ActivityImpossibleError, ActivityAbortedError):
        return False  # it got away, or is no more
    return is_within(at.agent, foe, 1)


def _call_kin(drake: Entity, foe: Entity) -> None:
    for other in nest_of(drake).kin:
        if other is not drake:
            other[Stimuli].add(Sense.HELP, foe, timeout=_CALL)


class Flee(Behavior):
    """Run away from wolves."""

    flags = (MOVE,)

    async def run(self, at: Activation) -> None:
        """Run, until none is near."""
        with suppress(ActivityImpossibleError, ActivityAbortedError):
            await at.perform("agentrt:flee_threats")


class GuardNest(Behavior):
    """Tell the nest that it is guarded, and end the watch when it is time."""

    def activate(self, at: Activation) -> None:
        """Begin the watch."""
        nest_of(at.agent).begin_watch(at.agent)

    def tick(self, at: Activation) -> bool:
        """Whether the watch goes on."""
        nest = nest_of(at.agent)
        if Sense.HELP in at.stimuli or at.agent[Fear].nearby:
            return True
        if nest.watchers[0] is not at.agent:
            return False  # it came to help, and is not needed any more
        is_due = at.duration >= _WATCH or at.agent[Needs].satiety < _FAMISHED
        return not (is_due and nest.can_be_relieved(at.agent))

    def deactivate(self, at: Activation) -> None:
        """End the watch."""
        nest_of(at.agent).end_watch(at.agent)


class Help(Behavior):
    """Run to where somebody calls from."""

    flags = (MOVE,)

    async def run(self, at: Activation) -> None:
        """Run."""
        await _chase(at, at.dblock.entity)


class Fight(Behavior):
    """Call the others, and bite whoever came too near, again and again."""

    flags = (MOVE, LOOK)

    async def run(self, at: Activation) -> None:
        """Fight, until the foe is far from the nest, or gone."""
        drake: Entity = at.agent
        foe: Entity = at.dblock.entity
        _call_kin(drake, foe)
        while may_be_fought(drake, foe) and await _chase(at, foe):
            await drake[Town].effects.show(drake, "snap")
            if is_within(drake, foe, 2):
                town = drake[Town]
                town.chronicle.note("wolves bitten", drake, f"bit {foe.name}")
                wound(town, foe, town.random.between(*_SNAP), by=drake)


class Growl(Behavior):
    """Growl at who is in sight, and call the others."""

    flags = (LOOK,)

    async def run(self, at: Activation) -> None:
        """Growl once."""
        drake: Entity = at.agent
        foe: Entity = at.dblock.entity
        town = drake[Town]
        at.stimuli.add(Sense.GROWLED, timeout=_SILENCE)
        town.chronicle.note("growls", drake, f"growled at {foe.name}")
        _call_kin(drake, foe)
        await drake[Town].effects.show(drake, "growl")
        quarry = foe.get(Quarry)
        if quarry is not None and town.random.below(2) == 0:
            quarry.scare(drake[Kin].nest, town.clock.tick)


class Round:
    """The block of a patrol.

    Attributes:
        left: the places that it has still to go to.
        due: in which tick it takes the next step.
    """

    __slots__ = ("due", "left")

    def __init__(self) -> None:
        self.left: list[Cell] = []
        self.due = 0


class Patrol(Behavior):
    """Walk once around the nest, step by step."""

    flags = (MOVE,)
    block = Round

    def activate(self, at: Activation) -> None:
        """Plan the round."""
        column, row = at.agent[Kin].nest[Position].location
        ground = at.agent[Town].ground
        places = [(column + x, row + y) for x, y in _ROUND]
        at.block.left = [place for place in places if ground.cost(place)]

    def tick(self, at: Activation) -> bool:
        """Take a step when the one before is done.

        Args:
            at: where.

        Returns:
            Whether the round goes on.
        """
        drake: Entity = at.agent
        town, here, left = drake[Town], drake[Position].location, at.block.left
        if town.clock.tick < at.block.due:
            return True
        while left and left[0] == here:
            del left[0]
        path = town.finder.find(here, left[0]) if left else None
        if path is None:
            return False
        legs: Legs = drake[Legs]
        place = path.first
        legs.step(place)
        at.block.due = town.clock.tick + legs.ticks_to(place)
        return True


class Brood(Behavior):
    """Sit on the eggs."""

    flags = (MOVE,)

    async def run(self, at: Activation) -> None:
        """Go home and sit."""
        drake: Entity = at.agent
        home = drake[Kin].nest[Position].location
        if drake[Position].location != home:
            with suppress(ActivityImpossibleError, ActivityAbortedError):
                await at.perform("agentrt:goto_location", location=home)
        while True:
            await drake[Town].effects.show(drake, "brood")


class FindFood(Behavior):
    """Look for a place where grass grows."""

    flags = (MOVE,)

    async def run(self, at: Activation) -> None:
        """Walk a little."""
        with suppress(ActivityImpossibleError, ActivityAbortedError):
            await at.perform("agentrt:wander", least=2, most=4)
        at.stimuli.add(Sense.PASTURE, timeout=_PASTURE)


class EatFood(Behavior):
    """Eat grass until full."""

    flags = (MOVE,)

    async def run(self, at: Activation) -> None:
        """Eat."""
        needs: Needs = at.agent[Needs]
        while needs.satiety < _FULL:
            await at.agent[Town].effects.show(at.agent, "graze")
            needs.add(satiety=150)


class Sleep(Behavior):
    """Sleep until rested."""

    flags = (MOVE, LOOK)

    def activate(self, at: Activation) -> None:
        """Fall asleep."""
        at.agent[Needs].asleep = True

    def tick(self, at: Activation) -> bool:
        """Whether it sleeps on."""
        return bool(at.agent[Needs].rest < _RESTED)

    def deactivate(self, at: Activation) -> None:
        """Wake up."""
        at.agent[Needs].asleep = False


class Loiter(Behavior):
    """Stand around."""
