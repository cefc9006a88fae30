"""The player: what it perceives, what it remembers, and the one thing that it does in each step.

Rules:

* ``perceive`` is called once a step, in the intake of a tick, with what the eyes saw. It brings memory up to date and
  emits signals for what has changed: ``bars``, ``stock``, ``map``, ``seen`` (creatures came or went), ``woke``.
* ``act`` is how anybody moves the body: it sets what is to be done in this step and waits for the next. Whoever comes
  last within a tick has it; control flags see to it that it is one.
* What it knows of itself (where it stands, where it looks, what it has achieved) it works out from what it did and
  saw. It is never told.
"""

from __future__ import annotations

from typing import Final

from agentrt import Entity, next_tick
from examples.crafter.atlas import START, Atlas, Cell, Reach
from examples.crafter.diary import Diary
from examples.crafter.eyes import Sight, daylight
from examples.crafter.rules import BARS, TURNS, ZOMBIE

__all__ = ["Player"]

_FACING: Final = {turn: side for side, turn in TURNS.items()}


class Player(Entity):
    """Who plays.

    Attributes:
        atlas: what it remembers.
        diary: what it has achieved.
        place: where it stands.
        facing: where it looks, as a step (x, y).
        inventory: what it carries, and its bars.
        is_asleep: whether it sleeps.
        step: of the episode.
        intention: what it does in this step.
    """

    def __init__(self) -> None:
        super().__init__("player", name="player")
        self.atlas = Atlas()
        self.diary = Diary()
        self.place: Cell = START
        self.facing: tuple[int, int] = (0, 1)
        self.inventory: dict[str, int] = dict.fromkeys(BARS, 9)
        self.is_asleep = False
        self.step = 0
        self.intention = "noop"

    # --- perceiving ---------------------------------------------------------------------------------------------------

    def perceive(self, sight: Sight, did: str) -> None:
        """Take in what was seen after a step.

        Args:
            sight: what was seen.
            did: what it did in that step.
        """
        was_asleep, before, version = self.is_asleep, self.inventory, self.atlas.version
        creatures = self.atlas.creatures
        ahead = self.ahead
        self.step = sight.step
        self.place = (self.place[0] + sight.scrolled[0], self.place[1] + sight.scrolled[1])
        if not was_asleep and did in _FACING:
            self.facing = _FACING[did]
        self.is_asleep = sight.is_asleep
        self.inventory = sight.inventory
        self.atlas.note(sight, self.place)
        self.diary.write(did, before, self, was_asleep, creatures.get(ahead))
        self._tell(before, version, was_asleep, creatures)

    def _tell(self, before: dict[str, int], version: int, was_asleep: bool, creatures: dict[Cell, int]) -> None:
        now = self.inventory
        if now != before:
            if any(now[bar] != before.get(bar) for bar in BARS):
                self.signal("bars").emit(now)
            if any(now[item] != before.get(item, 0) for item in now if item not in BARS):
                self.signal("stock").emit(now)
        if self.atlas.version != version:
            self.signal("map").emit(self.atlas.version)
        if self.atlas.creatures.keys() != creatures.keys():
            self.signal("seen").emit(self.atlas.creatures)
        if was_asleep and not self.is_asleep:
            self.signal("woke").emit(None)

    # --- acting -------------------------------------------------------------------------------------------------------

    async def act(self, action: str) -> None:
        """Do one thing, and wait until it is done.

        Args:
            action: a name of ``rules.ACTIONS``.
        """
        self.intention = action
        await next_tick()

    def take_intention(self) -> str:
        """What is to be done in this step; from then on, nothing."""
        action, self.intention = self.intention, "noop"
        return action

    # --- knowing ------------------------------------------------------------------------------------------------------

    @property
    def ahead(self) -> Cell:
        """The cell that it faces."""
        return (self.place[0] + self.facing[0], self.place[1] + self.facing[1])

    @property
    def reach(self) -> Reach:
        """How far everything is from where it stands."""
        return self.atlas.reach(self.place, self.inventory)

    @property
    def light(self) -> float:
        """How light it is, from 0 to 1."""
        return daylight(self.step)

    def has(self, item: str, count: int = 1) -> bool:
        """Whether it carries so many of an item.

        Args:
            item: its name.
            count: how many.
        """
        return self.inventory.get(item, 0) >= count

    def zombies(self, within: int) -> list[Cell]:
        """Where zombies are, the nearest first.

        Args:
            within: how many steps away at most.
        """
        x, y = self.place
        found = [
            (abs(cell[0] - x) + abs(cell[1] - y), cell)
            for cell, kind in self.atlas.creatures.items()
            if kind == ZOMBIE
        ]
        return [cell for far, cell in sorted(found) if far <= within]
