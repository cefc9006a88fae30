"""The player: what it perceives, what it remembers, and the one thing that it does in each step.

Rules:

* ``perceive`` is called once a step, in the intake of a tick, with what the eyes saw. It brings memory up to date and
  emits signals: the name of each bar that has changed, ``seen`` (creatures are, or were a step ago), ``tired`` (what
  decides how tired it is has changed), ``achieved``, ``woke``, ``ponders`` (now and then, when anything has changed,
  for whoever weighs plans), and ``news``, with the topics on which estimates rest.
* ``act`` is how anybody moves the body: it sets what is to be done in this step and waits for the next. Whoever comes
  last within a tick has it; control flags see to it that it is one.
* What it knows of itself (where it stands, where it looks, what it has achieved) it works out from what it did and
  saw. It is never told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from agentrt import Entity, next_tick
from examples.crafter import sites
from examples.crafter.atlas import Atlas
from examples.crafter.diary import Diary
from examples.crafter.eyes import DAY, Sight, daylight
from examples.crafter.reach import FAR, START, Cell, Reach, apart
from examples.crafter.rules import BARS, MATERIALS, RULES, TURNS

__all__ = ["Ambition", "Player"]

_ITEMS: Final = tuple(dict.fromkeys([*RULES["collect"], *RULES["make"]]))
_STATIONS: Final = ("place_table", "place_furnace")
_PONDERS_EVERY: Final = 50  # steps
_DUSK, _DAWN = 0.62, 0.8
_MIDNIGHT: Final = 210  # a step of a day
_FRESH: Final = 80  # steps for which distances are good enough to weigh things
_NEAR: Final = 12  # steps from where they were measured
_FACING: Final = {turn: side for side, turn in TURNS.items()}


class Ambition(NamedTuple):
    """What a thought has chosen to strive for."""

    name: str  # of the achievement
    answer: Mapping[str, Any]  # the choice as it came
    step: int  # when it was chosen


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
        is_dark: whether it is the time to hide: zombies come up in the dark, and are gone some time after dawn.
        stock: changes with what it carries.
        put_off: until which step it leaves an achievement alone that it could not have.
        failures: how often it could not have one.
        way: the cells of the way that it goes; none while it does not. For whoever draws it.
        ambition: what a thought has chosen, and has come to nothing yet; None for whoever lives by rules alone.
        thinks_for: how many steps a thought takes at the least; None if it has none, and lives by rules alone.
        unfit: until which step it does not try again to make a shelter at a place where it could not.
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
        self.is_dark = False
        self.stock = 0
        self.put_off: dict[str, int] = {}
        self.failures: dict[str, int] = {}
        self.ambition: Ambition | None = None
        self.thinks_for: int | None = None
        self.unfit: dict[Cell, int] = {}
        self.way: list[Cell] = []
        self._pondered = 0
        self._tires: tuple[object, ...] = ()
        self._about: Reach | None = None
        self._about_step = 0
        self._end: tuple[int, bool] = (-_FRESH, True)

    # --- what it offers to whoever watches ----------------------------------------------------------------------------

    def offers(self) -> dict[str, object]:
        """Its bars, whether it is dark, and what it carries."""
        own: dict[str, object] = {bar: self.inventory[bar] for bar in BARS}
        carried = {item: count for item, count in self.inventory.items() if item not in BARS}
        return {**own, "is_dark": self.is_dark, "is_asleep": self.is_asleep, "carries": carried}

    # --- perceiving ---------------------------------------------------------------------------------------------------

    def perceive(self, sight: Sight, did: str) -> None:
        """Take in what was seen after a step.

        Args:
            sight: what was seen.
            did: what it did in that step.
        """
        was_asleep, before, version = self.is_asleep, self.inventory, self.atlas.version
        creatures = self.atlas.creatures
        achieved = len(self.diary.achieved)
        self.step = sight.step
        self.place = (self.place[0] + sight.scrolled[0], self.place[1] + sight.scrolled[1])
        acted = not was_asleep or before["energy"] >= RULES["bars"]["most"]  # who has slept enough wakes and acts
        if acted and did in _FACING:
            self.facing = _FACING[did]
        self.is_asleep = sight.is_asleep
        self.inventory = sight.inventory
        self.is_dark = self.light < (_DUSK if sight.step % DAY < _MIDNIGHT else _DAWN)
        self.atlas.is_dark = self.is_dark
        self.atlas.note(sight, self.place)
        if did in _STATIONS:
            self._about = None
        if was_asleep and acted:
            self.diary.write_waking(self)
        self.diary.write(did if acted else "sleep", before, self, creatures)
        topics = [] if sight.scrolled == (0, 0) else ["place"]
        if len(self.diary.achieved) > achieved:
            topics.append("diary")
            self.signal("achieved").emit(None)
        self._tell(topics, before, version, was_asleep, creatures)
        if topics:
            self.signal("news").emit(topics)

    def _tell(
        self,
        topics: list[str],
        before: dict[str, int],
        version: int,
        was_asleep: bool,
        creatures: dict[Cell, int],
    ) -> None:
        now = self.inventory
        if now != before:
            bars = [now[bar] for bar in BARS] != [before.get(bar) for bar in BARS]
            if bars:
                topics.append("bars")
                for bar in BARS:
                    if now[bar] != before.get(bar):
                        self.signal(bar).emit(now[bar])
            if not bars or [now[item] for item in _ITEMS] != [before.get(item, 0) for item in _ITEMS]:
                self.stock += 1
                topics.append("stock")
        if self.atlas.version != version:
            topics.append("map")
        if creatures or self.atlas.creatures:
            self.signal("seen").emit(self.atlas.creatures)
        tires = (self.is_dark, self.is_dark and self.is_in_rock, now["energy"], now["health"])
        if tires != self._tires:
            self._tires = tires
            self.signal("tired").emit(tires)
        if was_asleep and not self.is_asleep:
            self.signal("woke").emit(None)
        if topics and self.step - self._pondered >= _PONDERS_EVERY and not self.is_asleep:
            self._pondered = self.step
            self.signal("ponders").emit(self.step)

    # --- acting -------------------------------------------------------------------------------------------------------

    async def act(self, action: str) -> None:
        """Do one thing, and wait until it is done.

        Args:
            action: a name of ``rules.ACTIONS``.
        """
        if self.is_asleep:
            await self.wake()
        self.intention = action
        await next_tick()

    async def wake(self) -> None:
        """Wait until it is awake. A sleeper can do nothing else, and wakes when its energy is back or it is hurt."""
        while self.is_asleep:
            await self.signal("woke").wait()

    def take_intention(self) -> str:
        """What is to be done in this step; from then on, nothing."""
        action, self.intention = self.intention, "noop"
        return action

    def standing(self, holds: int) -> Ambition | None:
        """What a thought has chosen, if it is still to be had, was not given up, and is no older than so many steps."""
        chosen = self.ambition
        if chosen is None or chosen.name in self.diary.achieved or self.step - chosen.step >= holds:
            return None
        return None if self.put_off.get(chosen.name, 0) > self.step else chosen

    # --- knowing ------------------------------------------------------------------------------------------------------

    @property
    def ahead(self) -> Cell:
        """The cell that it faces."""
        return (self.place[0] + self.facing[0], self.place[1] + self.facing[1])

    @property
    def reach(self) -> Reach:
        """How far everything is from where it stands."""
        return self.atlas.reach(self.place, self.inventory)

    def way_to(self, cell: Cell, *, ends_beside: bool = False) -> list[Cell]:
        """The cells on the shortest way to one, without that where it stands; empty if there is none.

        Args:
            cell: where to.
            ends_beside: whether it is enough to be beside it; it need not be a cell that can be entered.
        """
        return self.reach.way_beside(cell) if ends_beside else self.reach.way(cell)

    @property
    def about(self) -> Reach:
        """How far everything is from somewhere near: good enough to weigh things, and cheaper to have."""
        reach = self._about
        if reach is None or self.step - self._about_step > _FRESH or apart(reach.place, self.place) > _NEAR:
            self._about = reach = self.reach
            self._about_step = self.step
        return reach

    @property
    def is_in_rock(self) -> bool:
        """Whether no grass is near, and so no zombie comes up near."""
        x, y = self.place
        return MATERIALS["grass"] not in self.atlas.ground[x - 2 : x + 3, y - 2 : y + 3].tobytes()

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

    def closest(self, kind: int) -> Cell | None:
        """Where the nearest creature of a kind is that is in view; None if none is.

        Args:
            kind: its number.
        """
        found = [(apart(cell, self.place), cell) for cell, one in self.atlas.creatures.items() if one == kind]
        return min(found)[1] if found else None

    def nearest_cow(self) -> tuple[Cell, int] | None:
        """The cow that was seen lately and is the nearest, and about how many steps away; None if none is known."""
        if not self.atlas.herd:
            return None
        beside = self.about.beside
        steps, cell = min((int(beside[cell]), cell) for cell in self.atlas.herd)
        return None if steps >= FAR else (cell, steps)

    def nearest(self, material: str) -> tuple[Cell, int] | None:
        """The cell of a material that it is beside the soonest, and in how many steps.

        Args:
            material: its name.
        """
        return self.atlas.nearest(self.reach, material) if self.atlas.knows(material) else None

    def roughly(self, material: str) -> int | None:
        """In about how many steps it is beside a material; None if it cannot be, or knows of none.

        Args:
            material: its name.
        """
        about = self.about
        known = self.atlas.count(material)
        found: tuple[Cell, int] | None
        found, counted = about.memo.get(material, (None, 0))
        if counted != known:
            found = self.atlas.nearest(about, material)
            if found is None or known > counted:
                found = self.atlas.nearest(self.reach, material)
            about.memo[material] = (found, known)
        return None if found is None else found[1]

    def is_near(self, station: str, place: Cell | None = None) -> bool:
        """Whether a station stands in one of the eight cells around.

        Args:
            station: the name of its material.
            place: around where; None for where it stands.
        """
        x, y = place or self.place
        return MATERIALS[station] in self.atlas.ground[x - 1 : x + 2, y - 1 : y + 2].tobytes()

    def stations_at(self, stations: tuple[str, ...], reach: Reach) -> tuple[Cell, int] | None:
        """Where it would stand beside all of some stations the soonest, and in how many steps.

        Args:
            stations: the names of their materials.
            reach: how far everything is.
        """
        if stations not in reach.memo:
            reach.memo[stations] = self.atlas.beside_all(reach, stations)
        found: tuple[Cell, int] | None = reach.memo[stations]
        return found

    @property
    def sees_an_end(self) -> bool:
        """Whether there is anything left to explore, or was a moment ago."""
        if self.step - self._end[0] >= _FRESH:
            self._end = (self.step, sites.frontier(self.atlas, self.about) is not None)
        return self._end[1]
