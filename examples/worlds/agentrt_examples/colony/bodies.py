"""What bodies are made of: position, legs, needs, health, fear, traits. Components, and nothing that decides.

Rules: every number is whole; every change goes through a method, which keeps the invariants in one place and
then fires the component's signal; nothing here knows an action. The classes implement the protocols of
``agentrt_actions`` where there is one (``Position`` is ``Located``, ``Legs`` a ``Mover``, ``Fear`` has
``Threats``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from agentrt import Entity, Signal
from agentrt_actions import IdleEffects
from agentrt_examples.colony.terrain import Cell, Ground

__all__ = ["FULL", "Being", "Fear", "Habits", "Health", "Legs", "Loyalty", "Needs", "Position", "Traits"]

FULL = 1000
"""What needs count down from."""


class Position:
    """Where an entity is.

    Args:
        location: the cell.

    Attributes:
        location: the cell.
        moved: fired with the new cell.
    """

    __slots__ = ("location", "moved")

    def __init__(self, location: Cell) -> None:
        self.location = location
        self.moved = Signal()

    def place(self, location: Cell) -> None:
        """Be somewhere else from now on.

        Args:
            location: the cell.
        """
        if location != self.location:
            self.location = location
            self.moved.emit(location)


class Legs:
    """Walking over the ground.

    Args:
        position: whose legs.
        ground: what they walk on.
        pace: how many ticks a step over grass takes.

    Attributes:
        pace: as given.
        limping: whether a step takes half as long again.
    """

    __slots__ = ("_ground", "_position", "limping", "pace")

    def __init__(self, position: Position, ground: Ground, pace: int) -> None:
        self._position = position
        self._ground = ground
        self.pace = pace
        self.limping = False

    def ticks_to(self, place: Cell) -> int:
        """How many ticks a step takes.

        Args:
            place: where the step leads.
        """
        pace = self.pace * 3 // 2 if self.limping else self.pace
        return max(1, (pace * self._ground.cost(place) + 5) // 10)

    def step(self, place: Cell) -> bool:
        """Take one step.

        Args:
            place: where it leads.

        Returns:
            False if it is not next to where the legs stand, or nobody walks there.
        """
        here = self._position.location
        if abs(place[0] - here[0]) + abs(place[1] - here[1]) != 1 or not self._ground.cost(place):
            return False
        self._position.place(place)
        return True


class Needs:
    """Hunger and tiredness, as what is left: 1,000 is full or wide awake, 0 is starving or asleep on one's feet.

    Args:
        satiety: to begin with.
        rest: to begin with.

    Attributes:
        satiety: from 0 to 1,000.
        rest: from 0 to 1,000.
        asleep: whether it sleeps, so that rest grows.
        changed: fired when a number changed.
    """

    __slots__ = ("asleep", "changed", "rest", "satiety")

    def __init__(self, satiety: int = FULL, rest: int = FULL) -> None:
        self.satiety = satiety
        self.rest = rest
        self.asleep = False
        self.changed = Signal()

    def add(self, *, satiety: int = 0, rest: int = 0) -> None:
        """Change both, within their bounds.

        Args:
            satiety: what is added.
            rest: what is added.
        """
        self.satiety = min(FULL, max(0, self.satiety + satiety))
        self.rest = min(FULL, max(0, self.rest + rest))
        self.changed.emit()

    @property
    def hunger(self) -> float:
        """From 0.0, sated, to 1.0, starving."""
        return 1.0 - self.satiety / FULL

    @property
    def tiredness(self) -> float:
        """From 0.0, wide awake, to 1.0."""
        return 1.0 - self.rest / FULL


class Health:
    """How much it can still take.

    Args:
        most: what it can take when it is well.

    Attributes:
        most: as given.
        points: what is left, from 0.
        is_down: whether it lies on the ground: since nothing was left, and until a fifth is.
        changed: fired when it changed.
    """

    __slots__ = ("changed", "is_down", "most", "points")

    def __init__(self, most: int) -> None:
        self.most = most
        self.points = most
        self.is_down = False
        self.changed = Signal()

    def add(self, points: int) -> None:
        """Heal, or hurt.

        Args:
            points: what is added; less than 0 hurts.
        """
        self.points = min(self.most, max(0, self.points + points))
        self.is_down = self.points == 0 or (self.is_down and self.points * 5 < self.most)
        self.changed.emit()

    @property
    def is_hurt(self) -> bool:
        """Whether somebody should look after it: less than seven tenths are left."""
        return self.points * 10 < self.most * 7


class Fear:
    """Whom it notices and fears. The system ``watch`` looks around for it.

    Args:
        tag: under which tag of the census those stand whom it fears.
        sight: how many steps away it notices them.

    Attributes:
        tag: as given.
        sight: as given.
        nearby: whom it notices, the nearest first.
        changed: fired when that changed, or the nearest came nearer.
    """

    __slots__ = ("_distance", "changed", "nearby", "sight", "tag")

    def __init__(self, tag: str, sight: int) -> None:
        self.tag = tag
        self.sight = sight
        self.nearby: tuple[Entity, ...] = ()
        self.changed = Signal()
        self._distance = 0

    def notice(self, nearby: tuple[Entity, ...], distance: int) -> None:
        """Look around has shown this.

        Args:
            nearby: whom it sees, the nearest first.
            distance: how many steps away the nearest is; 0 if there is none.
        """
        if nearby != self.nearby or distance != self._distance:
            self.nearby = nearby
            self._distance = distance
            self.changed.emit()


class Being(Entity):
    """Somebody who acts. The packs of its kind are part of its data, and its agent takes them from there.

    Attributes:
        entity_data: what the game says about its kind.
    """

    __slots__ = ("entity_data",)

    entity_data: Mapping[str, Any]


class Loyalty:
    """To whom somebody belongs.

    Args:
        owner: to whom.

    Attributes:
        owner: to whom.
    """

    __slots__ = ("owner",)

    def __init__(self, owner: Entity | None) -> None:
        self.owner = owner


class Habits:
    """What somebody does for no reason; implements ``agentrt_actions.IdleEffects``. Comes with a pack.

    Args:
        entity: whose habits.

    Attributes:
        also_as: under which protocols it is found.
        idle_effects: the effects, with how likely each is.
    """

    __slots__ = ("idle_effects",)

    also_as: ClassVar[tuple[type, ...]] = (IdleEffects,)

    def __init__(self, entity: Entity) -> None:
        self.idle_effects: dict[str, float] = {"scratch": 2, "yawn": 1}


class Traits:
    """What is peculiar to somebody, and what is on its mind.

    Args:
        names: such as ``artist``.
        home: where its own bed is.

    Attributes:
        names: as given.
        home: as given.
        thoughts: what it thought last, oldest first; at most five.
    """

    __slots__ = ("home", "names", "thoughts")

    def __init__(self, *names: str, home: Cell | None = None) -> None:
        self.names = names
        self.home = home
        self.thoughts: list[str] = []

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def add_thought(self, thought: str) -> None:
        """Have a thought.

        Args:
            thought: in words.
        """
        self.thoughts = [*self.thoughts[-4:], thought]
