"""The map that the player keeps in its head: what it saw, where, and how to get there.

* The ground is an array of bytes, one for each cell of a world of 64 by 64, with a rim of cells around it that are
  the end of the world. A player begins in the middle, which is a rule of the game; from there on it counts its steps.
  Nothing is ever in this map that was not seen.
* The ground is changed by the player alone, but for arrows that break a table or a furnace; so what was seen once is
  taken to be true until it is seen again. What a creature stands on is not seen; if nothing is known of the cell, it is
  taken for what such a creature walks on.
* Creatures are known while they are in view. Of cows it is remembered where the last ones were; saplings stay where
  they are, and have grown by one for each step in which the player was near.
* How far everything is (``reach``) is computed once for a place and a state of the map, and shared by all who ask.

Whoever wants to know whether something changed compares ``version``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from examples.crafter.eyes import VIEW, Sight
from examples.crafter.reach import FAR, RIM, SIDE, START, Cell, Finder, Reach, apart, entry_costs, tools_of
from examples.crafter.rules import (
    ARROW,
    COW,
    EDGE,
    HIDDEN,
    MATERIALS,
    PLANT,
    RULES,
    SIDES,
    SKELETON,
    UNKNOWN,
    WALKABLE,
    ZOMBIE,
)

__all__ = ["Atlas"]

_FENCES: Final = (MATERIALS["stone"], MATERIALS["tree"])
_RARE: Final = MATERIALS["coal"]  # and all numbers above it
_HERD: Final = 1200  # steps for which a cow is remembered
_OLD: Final = MATERIALS["furnace"]  # the last number of a material
_UNDER: Final = {COW: MATERIALS["grass"], ZOMBIE: MATERIALS["grass"], PLANT: MATERIALS["grass"],
                 SKELETON: MATERIALS["path"]}  # fmt: skip


class Atlas:
    """What one player knows of its world.

    Attributes:
        ground: the number of the material in each cell; ``UNKNOWN`` where nobody looked.
        looked: the step in which each cell was in view for the last time; 0: never.
        creatures: the creatures in view, by their cell.
        herd: where a cow was last seen, and in which step.
        plants: the saplings, and for how many steps each has grown.
        version: changes whenever the ground does.
        finds: changes when coal or something rarer was seen that was not known.
        walls: cells that are being made walls of a shelter, and so are no way.
        is_dark: whether ways avoid grass, since it is night.
        step: the step of the last look.
    """

    def __init__(self) -> None:
        self.ground = np.full((SIDE, SIDE), EDGE, np.uint8)
        self.ground[RIM:-RIM, RIM:-RIM] = UNKNOWN
        self.ground[START] = MATERIALS["grass"]
        self.looked = np.zeros((SIDE, SIDE), np.int32)
        self.creatures: dict[Cell, int] = {}
        self._before: dict[Cell, int] = {}
        self.herd: dict[Cell, int] = {}
        self.plants: dict[Cell, int] = {}
        self.version = 0
        self.finds = 0
        self.is_dark = False
        self.walls: tuple[Cell, ...] = ()
        self.step = 0
        self._last = b""
        self._finder = Finder()
        self._reach: Reach | None = None
        self._reach_state: object = None

    # --- looking ------------------------------------------------------------------------------------------------------

    def note(self, sight: Sight, place: Cell) -> None:
        """Write down what is seen.

        Args:
            sight: what is seen.
            place: where the player stands.
        """
        self.step = sight.step
        for plant in self.plants:
            if apart(plant, place) < RULES["lives_within"]:
                self.plants[plant] += 1
        cells = sight.cells
        left, top = place[0] - VIEW[0] // 2, place[1] - VIEW[1] // 2
        self.looked[left : left + VIEW[0], top : top + VIEW[1]] = sight.step
        seen = cells.tobytes()
        if seen == self._last and sight.scrolled == (0, 0):
            return
        self._last = seen
        known = self.ground[left : left + VIEW[0], top : top + VIEW[1]]
        if self.herd:
            self._forget_cows(cells, left, top)
        if self.plants:
            self._forget_plants(cells, left, top)
        self._before, self.creatures = self.creatures, {}
        is_new = False
        before = known.tobytes()
        for number, kind in enumerate(seen):  # most are as they were; for so few cells this is quicker than numpy
            if kind != before[number] and kind != HIDDEN:
                x, y = divmod(number, VIEW[1])
                if kind <= _OLD:
                    known[x, y] = kind
                    is_new = True
                    self.finds += kind >= _RARE
                elif COW <= kind <= PLANT and self._note_creature(kind, (left + x, top + y), before[number] == UNKNOWN):
                    is_new = True
        self.version += is_new

    def _forget_plants(self, cells: Any, left: int, top: int) -> None:
        """Those that should be in view, where there is bare ground."""
        gone = [
            plant
            for plant in self.plants
            if 0 <= plant[0] - left < VIEW[0]
            and 0 <= plant[1] - top < VIEW[1]
            and cells[plant[0] - left, plant[1] - top] <= _OLD
        ]
        for plant in gone:
            del self.plants[plant]
            self.version += 1

    def _note_creature(self, kind: int, cell: Cell, is_unknown: bool) -> bool:
        """A creature or a sapling; whether that changes what is known of the ground."""
        is_new = False
        if is_unknown and kind != ARROW:
            self.ground[cell] = _UNDER[kind]
            is_new = True
        if kind == PLANT:
            is_new = is_new or cell not in self.plants
            self.plants.setdefault(cell, 0)
        else:
            self.creatures[cell] = kind
            if kind == COW:
                self.herd[cell] = self.step
        return is_new

    def _forget_cows(self, cells: Any, left: int, top: int) -> None:
        """Cows that should be in view are not where they were, and others have wandered off by now."""
        for cell, step in list(self.herd.items()):
            x, y = cell[0] - left, cell[1] - top
            is_seen = 0 <= x < VIEW[0] and 0 <= y < VIEW[1] and cells[x, y] != HIDDEN
            if is_seen or step + _HERD < self.step:
                del self.herd[cell]

    def flies(self, cell: Cell) -> tuple[int, int] | None:
        """Which way an arrow flies, as a step (x, y); None if it was not seen before.

        Args:
            cell: where it is now.
        """
        for x, y in SIDES:
            if self._before.get((cell[0] - x, cell[1] - y)) == ARROW:
                return x, y
        return None

    def under_fire(self, cell: Cell, within: int) -> Cell | None:
        """The arrow that will come to a cell; one that was not seen before may fly anywhere.

        Args:
            cell: where to.
            within: in how many steps at most.
        """
        for arrow, kind in self.creatures.items():
            if kind != ARROW:
                continue
            x, y = cell[0] - arrow[0], cell[1] - arrow[1]
            far = abs(x) + abs(y)
            if (x == 0 or y == 0) and 0 < far <= within and self.flies(arrow) in (None, (x // far, y // far)):
                return arrow
        return None

    # --- asking -------------------------------------------------------------------------------------------------------

    def can_walk(self, cell: Cell) -> bool:
        """Whether one could step there now: safe ground, and nobody on it.

        Args:
            cell: where.
        """
        return bool(WALKABLE[self.ground[cell]]) and cell not in self.creatures and cell not in self.plants

    def is_there(self, cell: Cell, material: str) -> bool:
        """Whether a cell is known to be of a material.

        Args:
            cell: where.
            material: its name.
        """
        return bool(self.ground[cell] == MATERIALS[material])

    def count(self, material: str) -> int:
        """How many cells of a material are known.

        Args:
            material: its name.
        """
        return int(np.count_nonzero(self.ground == MATERIALS[material]))

    def knows(self, material: str) -> bool:
        """Whether any cell of a material is known.

        Args:
            material: its name.
        """
        return MATERIALS[material] in self.ground.tobytes()

    def reach(self, place: Cell, inventory: dict[str, int]) -> Reach:
        """How far everything is.

        Args:
            place: from where.
            inventory: of the player; its pickaxes dig.
        """
        state = (
            place,
            self.version,
            tools_of(inventory),
            frozenset(self.creatures.items()),
            self.is_dark,
            self.walls,
        )
        if self._reach is None or self._reach_state != state:
            self._reach_state = state
            self._reach = Reach(self._finder.search(self.costs(inventory), place), place)
        return self._reach

    def costs(self, inventory: dict[str, int]) -> np.ndarray[Any, np.dtype[np.int32]]:
        """What it takes to enter each cell, in steps; 0: nobody can.

        Args:
            inventory: of the player; its pickaxes dig.
        """
        return entry_costs(self.ground, inventory, self.creatures, self.kept(), self.is_dark)

    def kept(self) -> set[Cell]:
        """What must stay as it is: saplings, stones and trees beside them, and the walls of a shelter that is built."""
        cells = {*self.plants, *self.walls}
        for plant in self.plants:
            for x, y in SIDES:
                side = (plant[0] + x, plant[1] + y)
                if self.ground[side] in _FENCES:
                    cells.add(side)
        return cells

    def to_plant(self, reach: Reach, plant: Cell) -> tuple[int, Cell]:
        """In how many steps one is beside a sapling, fenced in or not, and where one stands then.

        Args:
            reach: from where.
            plant: where it is.
        """
        ways = []
        for x, y in SIDES:
            side = (plant[0] + x, plant[1] + y)
            if WALKABLE[self.ground[side]]:
                ways.append((int(reach.steps[side]), side))
            elif self.ground[side] in _FENCES:
                ways.append((int(reach.beside[side]) + 3, side))
        return min(ways, default=(FAR, plant))

    def nearest(self, reach: Reach, material: str) -> tuple[Cell, int] | None:
        """The cell of a material that is reached the soonest, and in how many steps one is beside it.

        Args:
            reach: from where.
            material: its name.
        """
        there = self.ground == MATERIALS[material]
        for cell in self.kept():
            there[cell] = False
        cells = np.flatnonzero(there)
        if not len(cells):
            return None
        steps = reach.beside.ravel()[cells]
        best = int(steps.argmin())
        if steps[best] >= FAR:
            return None
        return divmod(int(cells[best]), SIDE), int(steps[best])

    def beside_all(self, reach: Reach, materials: tuple[str, ...]) -> tuple[Cell, int] | None:
        """Where one stands beside several materials at once, corners counted, and in how many steps one is there.

        Args:
            reach: from where.
            materials: their names.
        """
        good = reach.steps < FAR
        for material in materials:
            there = self.ground == MATERIALS[material]
            if not there.any():
                return None
            rows = there.copy()
            rows[1:] |= there[:-1]
            rows[:-1] |= there[1:]
            around = rows.copy()
            around[:, 1:] |= rows[:, :-1]
            around[:, :-1] |= rows[:, 1:]
            good &= around
        cells = np.flatnonzero(good)
        if not len(cells):
            return None
        steps = reach.steps.ravel()[cells]
        best = int(steps.argmin())
        return divmod(int(cells[best]), SIDE), int(steps[best])

    def cells(self, material: str, reach: Reach, within: int) -> list[Cell]:
        """The cells of a material where one can be in so many steps, from the top left down.

        Args:
            material: its name.
            reach: from where.
            within: how many steps.
        """
        found = np.flatnonzero((self.ground == MATERIALS[material]) & (reach.steps <= within) & (reach.steps > 0))
        return [divmod(int(cell), SIDE) for cell in found]

    def around(self, cell: Cell, reach: Reach, within: int) -> list[Cell]:
        """The cells near one where one can be, the soonest reached first.

        Args:
            cell: near which.
            reach: from where.
            within: how many steps away from it.
        """
        x, y = cell
        part = reach.steps[x - within : x + within + 1, y - within : y + within + 1]
        found = [
            (int(part[i, j]), (x - within + i, y - within + j))
            for i in range(part.shape[0])
            for j in range(part.shape[1])
            if part[i, j] < FAR and abs(i - within) + abs(j - within) <= within
        ]
        return [place for _, place in sorted(found)]
