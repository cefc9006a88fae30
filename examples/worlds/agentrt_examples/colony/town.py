"""The town: everything that is in the world besides those who live in it, and the making of it.

``Town`` owns the services (ground, paths, census, chronicle, daylight, effects, reservations, chance) and
builds what stands on the ground: plots, shelves, beds, the hearth, bushes, items. It gives the services to an
entity as components, under the protocols by which actions ask for them; the colony's own actions ask for
``Town`` itself as well. It does not tick (see ``systems``) and knows no agent (see ``population``).

Numbers of entities come from one counter, so that names are the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentrt import Entity
from agentrt.body import LeaseBook
from agentrt.errors import MissingExtraError
from agentrt.kernel import Stream
from agentrt.tasks import TaskGroups
from agentrt_actions import (
    Carrier,
    Consumable,
    Directory,
    EffectPlayer,
    Located,
    Mover,
    PathFinder,
    Region,
    Storage,
    Surveyor,
    Threats,
)
from agentrt_examples.colony.animals import Models
from agentrt_examples.colony.bodies import Being, Fear, Health, Legs, Needs, Position
from agentrt_examples.colony.buffs import Buffs
from agentrt_examples.colony.census import Census
from agentrt_examples.colony.chronicle import Chronicle
from agentrt_examples.colony.daylight import DAWN, DUSK, Clock, Daylight
from agentrt_examples.colony.effects import EffectBoard
from agentrt_examples.colony.goods import Food, Goods, Hands, Picture, Shelf
from agentrt_examples.colony.growing import STATES, Bush, Plot
from agentrt_examples.colony.jobs import GROUPS, KINDS
from agentrt_examples.colony.nests import HATCHING, Nest
from agentrt_examples.colony.seats import Seats
from agentrt_examples.colony.survey import Survey
from agentrt_examples.colony.terrain import Cell, Ground

if TYPE_CHECKING:
    from agentrt_examples.colony.paths import GridPathFinder

__all__ = ["GROWTH", "Town"]

# Letter in the chart: what is kept on a shelf there, and how many of it.
_SHELVES: dict[str, tuple[str, int]] = {"s": ("turnip", 4), "c": ("meal", 3), "g": ("picture", 2)}
_SATIETY: dict[str, int] = {"meal": 700, "turnip": 250}
_HERB_PAUSE = 160
_EGGS_AT_FIRST = 2

GROWTH = (240, 400)
"""How many ticks a crop grows, at least and at most."""


class Town:
    """The world without its inhabitants.

    Args:
        clock: of the runtime.
        leases: of the runtime.
        random: where the world's chance comes from.
        furnish: whether to build what the chart marks; without it there is only the ground.
        ground: where; by default the chart of the colony.

    Attributes:
        clock, leases, random, ground: as given.
        finder: paths.
        census: what there is.
        survey: which of it is the nearest.
        models: the animal that looks best at the moment.
        chronicle: what happened.
        daylight: what time of day it is.
        effects: what is seen of actions.
        bushes: the herb bushes.
        fires: where people sit at night.
        groups: the task groups of the town.
        deaths: how many were killed, of whatever kind; hearthlings never are.
    """

    def __init__(
        self,
        clock: Clock,
        leases: LeaseBook,
        random: Stream,
        *,
        furnish: bool = True,
        ground: Ground | None = None,
    ) -> None:
        self.clock = clock
        self.leases = leases
        self.random = random
        self.ground = ground if ground is not None else Ground()
        self.finder = _path_finder(self.ground)
        self.census = Census()
        self.survey = Survey(self.census, self.finder, self.ground)
        self.models = Models(self.census)
        self.chronicle = Chronicle(clock)
        self.daylight = Daylight(clock)
        self.effects = EffectBoard(clock)
        self.bushes: list[Bush] = []
        self.fires: list[Entity] = []
        self.groups = TaskGroups(GROUPS)
        self.number = 0
        self.deaths = 0
        if furnish:
            self._furnish()

    # --- entities -----------------------------------------------------------------------------------------------------

    def entity(self, kind: str, cell: Cell, name: str = "", number: int = 0) -> Entity:
        """Make something that has a place.

        Args:
            kind: what it is.
            cell: where.
            name: what to call it; the kind and its number by default.
            number: its number; the next one by default.

        Returns:
            The entity, with a ``Position``; a ``Being`` if it is of a kind that acts.
        """
        if not number:
            self.number += 1
            number = self.number
        made = (Being if kind in KINDS else Entity)(kind, name=name or f"{kind} {number}", id=number)
        if isinstance(made, Being):
            made.entity_data = KINDS[kind]
        made.add(Position(cell), Located)
        return made

    def being(
        self,
        kind: str,
        cell: Cell,
        *,
        name: str = "",
        pace: int = 0,
        health: int = 100,
        fears: tuple[str, int] | None = None,
        number: int = 0,
    ) -> Entity:
        """Make somebody who acts: with health, needs, hands, and all services of the town.

        Args:
            kind: what it is.
            cell: where.
            name: what to call it; the kind and a number by default.
            pace: how many ticks a step over grass takes; 0 for somebody who cannot walk.
            health: what it can take.
            fears: the tag of those whom it fears, and from how many steps away it notices them.
            number: its number; the next one by default.

        Returns:
            The entity.
        """
        made = self.entity(kind, cell, name, number)
        position = made[Position]
        if pace:
            made.add(Legs(position, self.ground, pace), Mover)
        made.add(Health(health))
        made.add(Needs())
        made.add(Hands(position, self.census), Carrier)
        made.add(Buffs(lambda: self.clock.tick))
        if fears is not None:
            made.add(Fear(*fears), Threats)
            self.census.put(made, "watchful")
        made.add(self)
        made.add(self.finder, PathFinder)
        made.add(self.census, Directory)
        made.add(self.survey, Surveyor)
        made.add(self.effects, EffectPlayer)
        made.add(self.leases)
        self.census.put(made, "being", kind)
        return made

    def item(self, kind: str, cell: Cell, number: int = 0) -> Entity:
        """Make an item that lies on the ground.

        Args:
            kind: turnip, meal, herb or picture.
            cell: where.
            number: its number; the next one by default.
        """
        made = self.entity(kind, cell, number=number)
        made.add(Goods(self.census))
        if kind == "picture":
            made.add(Picture())
        if kind in _SATIETY:
            made.add(Food(made, _SATIETY[kind], self.chronicle), Consumable)
        made[Goods].lie(made)
        return made

    # --- what stands on the ground ------------------------------------------------------------------------------------

    def _furnish(self) -> None:
        for number, cell in enumerate(self.ground.marked("f")):
            plot = self.entity("plot", cell)
            # The colony is found in the middle of the season: plots are in all states.
            plot.add(Plot(plot, self.census, STATES[number % len(STATES)])).due = self.random.between(*GROWTH)
        for letter, (kind, room) in _SHELVES.items():
            for cell in self.ground.marked(letter):
                shelf = self.entity("shelf", cell)
                shelf.add(Shelf(shelf, kind, room, self.census, self.chronicle), Storage)
        for cell in self.ground.marked("b"):
            self.census.put(self.entity("bed", cell), "bed")
        for cell in self.ground.marked("K"):
            self.census.put(self.entity("hearth", cell), "hearth")
        for cell in self.ground.marked("h"):
            self.bushes.append(Bush(self._bearer(cell), _HERB_PAUSE))
        for cell in self.ground.marked("F"):
            self.fire(cell)
        for cell in self.ground.marked("n"):
            nest = self.nest(cell)[Nest]
            for number in range(_EGGS_AT_FIRST):
                nest.lay(self.clock.tick + HATCHING * (number + 1) // 2)

    def nest(self, cell: Cell) -> Entity:
        """Build a nest, without eggs.

        Args:
            cell: where.
        """
        made = self.entity("nest", cell)
        made.add(Nest(made, self.census))
        return made

    def fire(self, cell: Cell) -> Entity:
        """Build a place for a fire, with seats around it.

        Args:
            cell: where.
        """
        made = self.entity("fire", cell)
        made.add(Seats(cell, self.ground), Region)
        self.fires.append(made)
        return made

    def tend_fires(self) -> None:
        """See to it that fires burn from dusk till dawn. One that burns stands under the tag ``fire``."""
        for fire in self.fires:
            self.census.mark(fire, "fire", DUSK <= self.daylight.time < DAWN)

    def _bearer(self, cell: Cell) -> Callable[[], Entity]:
        return lambda: self.item("herb", cell)

    def stock(self, kind: str, count: int) -> None:
        """Put items on the shelves, as if they had been stored before the story begins.

        Args:
            kind: of the items.
            count: how many; no more than there is room for.
        """
        for entity in self.census.find("shelf"):
            shelf = entity[Shelf]
            while count and shelf.kind == kind:
                item = self.item(kind, entity[Position].location)
                if not shelf.put(item):
                    item[Goods].use_up(item)
                    break
                count -= 1


def _path_finder(ground: Ground) -> GridPathFinder:
    # Here and not above: the actions, and so every registry of aliases, are loaded without the extra that it needs.
    try:
        from agentrt_examples.colony.paths import GridPathFinder
    except ModuleNotFoundError as error:
        raise MissingExtraError("demo", error.name or "tcod") from error
    return GridPathFinder(ground)
