"""Wolves: two goal selectors, one for whom to hunt, one for what to do.

========  ====================  ========  ===========  ==========================================================
selector  goal                  priority  flags        when
========  ====================  ========  ===========  ==========================================================
targets   answer a blow         1         TARGET       somebody struck it, and is near
targets   choose prey           2         TARGET       it smells prey that nobody else hunts, or a nest with eggs
goals     leave                 0         MOVE         it is hurt, or fed, or the night is over
goals     lick lips             1         MOVE         it has bitten; nothing interrupts that
goals     attack                2         MOVE         its target is somebody
goals     rob the nest          2         MOVE         its target is a nest
goals     prowl                 4         MOVE         always
goals     howl                  5         LOOK         at night, now and then
========  ====================  ========  ===========  ==========================================================

The selectors meet in the component ``Quarry``: the first writes the target, the second reads it. What takes time is a
coroutine (``Leave``, ``Attack``, ``RobNest``); to run after somebody and to walk somewhere are activities of the
standard library, which the goal performs with its own flags. What is a step at a time is a ``tick`` (``Prowl``).

A chase that fails is no failure of anything: the wolf gives the target up and looks for another one.

Source: Minecraft, goal selectors: "Usage", "Priorities", "Flags".
"""

from __future__ import annotations

from abc import abstractmethod

from agentrt import LOOK, MOVE, TARGET, Entity
from agentrt.body import Lease
from agentrt.errors import ActivityAbortedError, ActivityImpossibleError
from agentrt.goals import TARGETS, Goal, GoalSelector
from agentrt_examples.colony.bodies import FULL, Health, Legs, Needs, Position
from agentrt_examples.colony.buffs import Buffs
from agentrt_examples.colony.effects import Playing
from agentrt_examples.colony.harm import wound
from agentrt_examples.colony.nests import Nest
from agentrt_examples.colony.quarry import Quarry, choose_prey
from agentrt_examples.colony.town import Town

__all__ = ["HOWLED", "AnswerBlow", "Attack", "ChoosePrey", "Howl", "Leave", "LickLips", "Prowl", "RobNest", "selectors"]

HOWLED = "howled"
"""The event of somebody who has howled to the end."""

_BITE = (32, 48)
_FED = 800
_SNIFF_EVERY = 8
_ANSWERS = 6  # steps
_LICKS = 24
_HOWLS = (200, 400)
_EGG = 300  # of 1,000


def selectors() -> tuple[GoalSelector, GoalSelector]:
    """What drives one wolf.

    Returns:
        The selector of its targets, and that of its goals.
    """
    targets = GoalSelector(name="targets", rank=TARGETS)
    targets.add_goal(1, AnswerBlow())
    targets.add_goal(2, ChoosePrey())
    goals = GoalSelector()
    goals.add_goal(0, Leave())
    goals.add_goal(1, LickLips())
    goals.add_goal(2, Attack())
    goals.add_goal(2, RobNest())
    goals.add_goal(4, Prowl())
    goals.add_goal(5, Howl())
    return targets, goals


def _near(hunter: Entity, other: Entity, steps: int) -> bool:
    finder = hunter[Town].finder
    return finder.distance(hunter[Position].location, other[Position].location) <= steps


# --- whom to hunt -----------------------------------------------------------------------------------------------------


class AnswerBlow(Goal):
    """Turn on whoever struck it, while that one is near."""

    flags = frozenset({TARGET})
    name = "answer a blow"

    def can_use(self) -> bool:
        """Whether somebody struck it, and is near."""
        enemy = self.entity[Quarry].enemy_at(self.entity[Town].clock.tick)
        return enemy is not None and not enemy[Health].is_down and _near(self.entity, enemy, _ANSWERS)

    def start(self) -> None:
        """Be after that one."""
        quarry = self.entity[Quarry]
        quarry.target = quarry.enemy

    def stop(self) -> None:
        """Be after nobody."""
        self.entity[Quarry].target = None


class ChoosePrey(Goal):
    """Be after the best prey, which nobody else hunts meanwhile."""

    flags = frozenset({TARGET})
    name = "choose prey"

    def __init__(self) -> None:
        super().__init__()
        self._due = 0
        self._found: Entity | None = None
        self._lease: Lease | None = None

    def can_use(self) -> bool:
        """Whether it smells anything; it sniffs now and then only."""
        town: Town = self.entity[Town]
        tick = town.clock.tick
        if tick < self._due:
            return False
        self._due = tick + _SNIFF_EVERY
        self._found = choose_prey(town, self.entity, self.entity[Quarry])
        return self._found is not None

    def can_continue_to_use(self) -> bool:
        """Whether the prey is still prey, and the wolf has not given it up."""
        town: Town = self.entity[Town]
        quarry, found = self.entity[Quarry], self._found
        if found is None or quarry.target is not found:
            return False
        if Nest in found:
            return town.census.has(found, "eggs") and quarry.dares(found, town.clock.tick)
        return town.census.has(found, "prey")

    def start(self) -> None:
        """Reserve it."""
        found = self._found
        if found is not None and Nest not in found:
            self._lease = self.entity[Town].leases.acquire(found, self.entity)
        self.entity[Quarry].target = found

    def stop(self) -> None:
        """Let it go."""
        if self._lease is not None:
            self._lease.release()
            self._lease = None
        self.entity[Quarry].target = self._found = None


# --- what to do -------------------------------------------------------------------------------------------------------


class Leave(Goal):
    """Leave the world where it is nearest, when hurt, fed, or when it dawns."""

    flags = frozenset({MOVE})
    name = "leave"

    def can_use(self) -> bool:
        """Whether it has had enough."""
        health, needs = self.entity[Health], self.entity[Needs]
        if health.points * 2 < health.most or needs.satiety >= _FED:
            return True
        return bool(self.entity[Town].daylight.phase == "dawn")

    async def run(self) -> None:
        """Walk to the edge of the world and be gone."""
        town: Town = self.entity[Town]
        way_out = town.finder.nearest_edge(self.entity[Position].location)
        if way_out is None:
            return
        try:
            await self.perform("agentrt:goto_location", location=way_out)
        except (ActivityImpossibleError, ActivityAbortedError):
            return  # it tries again
        health = self.entity[Health]
        if health.points * 2 < health.most:
            town.chronicle.note("wolves driven off", self.entity, "was driven off")
        self.entity.destroy()


class LickLips(Goal):
    """Stand still for a moment after a bite."""

    flags = frozenset({MOVE})
    name = "lick lips"

    def __init__(self) -> None:
        super().__init__()
        self._until = 0
        self._effect: Playing | None = None

    @property
    def is_interruptible(self) -> bool:
        """Never: the moment is short."""
        return False

    def can_use(self) -> bool:
        """Whether it has bitten."""
        return bool(self.entity[Quarry].has_bitten)

    def can_continue_to_use(self) -> bool:
        """Whether the moment lasts."""
        return bool(self.entity[Town].clock.tick < self._until)

    def start(self) -> None:
        """Begin."""
        town: Town = self.entity[Town]
        self.entity[Quarry].has_bitten = False
        self._until = town.clock.tick + _LICKS
        self._effect = town.effects.play(self.entity, "lick_lips", lambda: None)

    def stop(self) -> None:
        """Go on."""
        if self._effect is not None:
            self._effect.stop()
            self._effect = None


class _Pursuit(Goal):
    """What is done about a target: run after it, then do something to it."""

    flags = frozenset({MOVE})

    def can_continue_to_use(self) -> bool:
        """Whether it is still after the same target."""
        return self.entity[Quarry].target is self._target

    def __init__(self) -> None:
        super().__init__()
        self._target: Entity | None = None

    async def run(self) -> None:
        """Run after the target; when it is in reach, do it, else give the target up."""
        quarry = self.entity[Quarry]
        target: Entity = quarry.target
        self._target = target
        try:
            await self.perform("agentrt:chase_entity", target=target)
        except (ActivityImpossibleError, ActivityAbortedError):
            pass  # it got away, or nobody can come to it
        if target.is_destroyed or not _near(self.entity, target, 1):
            quarry.target = None
            return
        await self.reached(target)

    @abstractmethod
    async def reached(self, target: Entity) -> None:
        """Do what it ran for.

        Args:
            target: it is next to it.
        """


class Attack(_Pursuit):
    """Run after somebody and bite."""

    name = "attack"

    def can_use(self) -> bool:
        """Whether it is after somebody."""
        target = self.entity[Quarry].target
        return target is not None and Nest not in target

    async def reached(self, target: Entity) -> None:
        """Bite, if the victim is still there when the teeth close.

        Args:
            target: whom.
        """
        await self.entity[Town].effects.show(self.entity, "bite")
        if target.is_destroyed or not _near(self.entity, target, 2):
            return
        town: Town = self.entity[Town]
        town.chronicle.note("bites", self.entity, f"bit {target.name}")
        self.entity[Quarry].has_bitten = True
        if wound(town, target, town.random.between(*_BITE), by=self.entity):
            town.chronicle.note("critters caught", self.entity, f"caught {target.name}")
            self.entity[Needs].add(satiety=FULL)
            return
        self.entity[Needs].add(satiety=160)
        if target.kind == "hearthling" and town.random.below(2) == 0:
            target[Buffs].begin("poisoned")


class RobNest(_Pursuit):
    """Run to a nest and eat an egg."""

    name = "rob the nest"

    def can_use(self) -> bool:
        """Whether it is after eggs."""
        target = self.entity[Quarry].target
        return target is not None and Nest in target

    async def reached(self, target: Entity) -> None:
        """Eat an egg.

        Args:
            target: the nest.
        """
        await self.entity[Town].effects.show(self.entity, "eat")
        if target[Nest].lose():
            self.entity[Town].chronicle.note("eggs robbed", self.entity, f"ate an egg of {target.name}")
            self.entity[Quarry].has_bitten = True
            self.entity[Needs].add(satiety=_EGG)


class Prowl(Goal):
    """Walk about, a step at a time."""

    flags = frozenset({MOVE})
    name = "prowl"

    def __init__(self) -> None:
        super().__init__()
        self._due = 0

    def can_use(self) -> bool:
        """Always."""
        return True

    def tick(self) -> None:
        """Take a step when the one before is done."""
        town: Town = self.entity[Town]
        tick = town.clock.tick
        if tick >= self._due:
            legs: Legs = self.entity[Legs]
            place = town.random.choice(town.finder.neighbors(self.entity[Position].location))
            legs.step(place)
            self._due = tick + legs.ticks_to(place)


class Howl(Goal):
    """Howl at night."""

    flags = frozenset({LOOK})
    name = "howl"

    def __init__(self) -> None:
        super().__init__()
        self._due = 0

    def can_use(self) -> bool:
        """Whether it is night, and the mood has come."""
        town: Town = self.entity[Town]
        return town.daylight.is_dark and town.clock.tick >= self._due

    def can_continue_to_use(self) -> bool:
        """To the end."""
        return True

    async def run(self) -> None:
        """Howl."""
        town: Town = self.entity[Town]
        self._due = town.clock.tick + town.random.between(*_HOWLS)
        await town.effects.show(self.entity, "howl")
        self.entity.signal(HOWLED).emit()
