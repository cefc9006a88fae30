"""What walks about: animals that graze where they were born, and hostile creatures that come out of the dark.

Nothing is done for what is far away. Whoever is near a body is looked for every ``ROUND`` ticks; in between, a creature
has a tick at which it does its next thing, and the least of them is all that anybody looks at. Hostile ones exist near
a body only: they appear in the dark (at night under the sky; in caves and in the nether always) at some distance, go
straight for the body, and are gone when they lose it or daylight finds them.

A torch within ``TORCHLIGHT`` blocks keeps them from appearing. They know no paths: a wall is an end for them.

Whoever comes first acts first; creatures are kept in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentrt import Entity
from agentrt.kernel import Stream
from agentrt_examples.miner.dimension import Dimension
from agentrt_examples.miner.places import SIDES, Place, squared
from agentrt_examples.miner.rules import BLOCK_NUMBERS, MOBS, MobKind

__all__ = ["ROUND", "TORCHLIGHT", "Clock", "Creature", "Fauna", "Land", "Prey"]

ROUND = 40
"""Ticks between two looks at who is near."""

TORCHLIGHT = 7
"""Within so many blocks of a torch nothing appears."""

_NEAR = 24 * 24
_CHASE = 14 * 14
_LOST = 32 * 32
_MOST_HOSTILE = 2
_APPEARS = (1, 7)  # this often in so many rounds
_FROM, _TO = 7, 13
_STRIKE = 3  # the square of the distance at which a blow lands: one block away, diagonally and a step up
_TORCH = BLOCK_NUMBERS["torch"]


class Creature(Entity):
    """An animal, or something hostile.

    Args:
        kind: what it is.
        dimension: where it is.
        place: where its feet are.
        number: its id.

    Attributes:
        rules: what the data say about its kind.
        dimension: as given.
        place: as given.
        health: what it can still take.
        due: the tick at which it does its next thing.
        strikes: the tick from which it can strike.
    """

    __slots__ = ("dimension", "due", "health", "place", "rules", "strikes")

    def __init__(self, kind: str, dimension: Dimension, place: Place, number: int) -> None:
        super().__init__(kind, id=number)
        self.rules: MobKind = MOBS[kind]
        self.dimension = dimension
        self.place = place
        self.health = self.rules.health
        self.due = 0
        self.strikes = 0


class Clock(Protocol):
    """Whatever tells the tick."""

    @property
    def tick(self) -> int:
        """The number of the tick."""
        ...


class Prey(Protocol):
    """Somebody whom hostile creatures go for, as they see it."""

    place: Place
    dimension: Dimension

    def struck(self, by: Creature) -> None:
        """Something struck it."""


class Land(Protocol):
    """The world, as its creatures see it."""

    clock: Clock

    @property
    def bodies(self) -> Sequence[Prey]:
        """Who acts there."""
        ...

    @property
    def is_night(self) -> bool:
        """Whether the sky is dark."""
        ...

    def is_dark(self, dimension: Dimension, place: Place) -> bool:
        """Whether there is no daylight at a place."""
        ...


class Fauna:
    """All creatures of a world.

    Args:
        world: theirs.
        random: where their chance comes from.

    Attributes:
        creatures: all of them.
        due: the tick at which something happens next.
        is_peaceful: whether nothing hostile appears.
    """

    __slots__ = ("_active", "_next_round", "_number", "_random", "_world", "creatures", "due", "is_peaceful")

    def __init__(self, world: Land, random: Stream) -> None:
        self.creatures: list[Creature] = []
        self.due = 0
        self.is_peaceful = False
        self._world = world
        self._random = random
        self._active: list[Creature] = []
        self._next_round = 0
        self._number = 0

    def add(self, kind: str, dimension: Dimension, place: Place) -> Creature:
        """Let a creature be there.

        Args:
            kind: what it is.
            dimension: where.
            place: where its feet are.
        """
        self._number += 1
        made = Creature(kind, dimension, place, self._number)
        made.due = made.strikes = self._world.clock.tick + made.rules.pace
        self.creatures.append(made)
        self._next_round = self.due = 0
        return made

    def near(self, body: Prey, within: int) -> list[Creature]:
        """The creatures near a body, the nearest first.

        Args:
            body: near whom.
            within: how many blocks away at most.
        """
        found = [
            (squared(one.place, body.place), one.id or 0, one)
            for one in self.creatures
            if one.dimension is body.dimension
        ]
        return [one for apart, _, one in sorted(found, key=lambda entry: entry[:2]) if apart <= within * within]

    def remove(self, creature: Creature) -> None:
        """Let a creature be gone.

        Args:
            creature: which.
        """
        self.creatures = [one for one in self.creatures if one is not creature]
        self._active = [one for one in self._active if one is not creature]
        creature.destroy()

    # --- what happens -------------------------------------------------------------------------------------------------

    def tick(self, tick: int) -> None:
        """Let happen what is due.

        Args:
            tick: now.
        """
        if tick >= self._next_round:
            self._next_round = tick + ROUND
            self._look_around(tick)
        for creature in list(self._active):
            if creature.due <= tick and not creature.is_destroyed:
                self._act(creature, tick)
        self.due = min((one.due for one in self._active), default=self._next_round)
        self.due = min(self.due, self._next_round)

    def _look_around(self, tick: int) -> None:
        for body in self._world.bodies:
            for creature in self.near(body, 64):
                if creature.rules.is_hostile and self._is_lost(creature, body):
                    self.remove(creature)
            if not self.is_peaceful:
                self._appear(body)
        self._active = [
            one
            for one in self.creatures
            if any(
                one.dimension is body.dimension and squared(one.place, body.place) <= _NEAR
                for body in self._world.bodies
            )
        ]
        gone = [one for one in self.creatures if one.rules.is_hostile and one not in self._active]
        for one in gone:
            self.remove(one)
        for one in self._active:
            one.due = max(one.due, tick)

    def _is_lost(self, creature: Creature, body: Prey) -> bool:
        in_daylight = not self._world.is_night and creature.dimension.is_under_sky(creature.place)
        return in_daylight or squared(creature.place, body.place) > _LOST

    def _appear(self, body: Prey) -> None:
        random, dimension = self._random, body.dimension
        hostile = sum(1 for one in self._active if one.rules.is_hostile)
        if hostile >= _MOST_HOSTILE or random.below(_APPEARS[1]) >= _APPEARS[0]:
            return
        side_x, side_z = random.between(-_TO, _TO), random.between(-_TO, _TO)
        x, z = body.place[0] + side_x, body.place[2] + side_z
        if max(abs(side_x), abs(side_z)) < _FROM or not dimension.holds((x, 0, z)):
            return
        kinds = [kind.name for kind in MOBS.values() if kind.is_hostile and kind.where == dimension.name]
        for y in range(min(body.place[1] + 4, dimension.size[1] - 3), max(1, body.place[1] - 4), -1):
            feet = (x, y, z)
            if dimension.can_stand(feet) and dimension.name_at(feet) == "air":
                if self._world.is_dark(dimension, feet) and not self._is_lit(dimension, feet):
                    self.add(random.choice(kinds), dimension, feet)
                return

    def _is_lit(self, dimension: Dimension, place: Place) -> bool:
        box = dimension.blocks[tuple(slice(max(0, at - TORCHLIGHT), at + TORCHLIGHT + 1) for at in place)]
        return bool((box == _TORCH).any())

    # --- what one does ------------------------------------------------------------------------------------------------

    def _act(self, creature: Creature, tick: int) -> None:
        creature.due = tick + creature.rules.pace
        body = self._victim(creature) if creature.rules.is_hostile else None
        if body is None:
            if not creature.rules.is_hostile and self._random.below(6) == 0:
                side = self._random.choice(SIDES)
                self._step(creature, side)
            return
        if squared(creature.place, body.place) <= _STRIKE:
            if tick >= creature.strikes:
                creature.strikes = tick + creature.rules.pause
                body.struck(creature)
            return
        self._chase(creature, body.place)

    def _victim(self, creature: Creature) -> Prey | None:
        for body in self._world.bodies:
            if body.dimension is creature.dimension and squared(creature.place, body.place) <= _CHASE:
                return body
        return None

    def _chase(self, creature: Creature, goal: Place) -> None:
        ranked = sorted(
            (squared((creature.place[0] + x, creature.place[1], creature.place[2] + z), goal), at)
            for at, (x, z) in enumerate(SIDES)
        )
        for apart, at in ranked[:2]:
            if apart < squared(creature.place, goal) and self._step(creature, SIDES[at]):
                return

    def _step(self, creature: Creature, side: tuple[int, int]) -> bool:
        """Step to a side, one up or down if need be."""
        x, y, z = creature.place
        dimension = creature.dimension
        taken = [one.place for one in self._active] + [body.place for body in self._world.bodies]
        for rise in (0, 1, -1, -2):
            there = (x + side[0], y + rise, z + side[1])
            if there[1] > 1 and dimension.can_stand(there) and dimension.name_at(there) == "air":
                if there in taken:
                    return False
                creature.place = there
                return True
        return False
