"""The map that the player keeps in its head: what it saw, where, and how to get there.

* The ground is an array of bytes, one for each cell of a world of 64 by 64, with a rim of cells around it that are
  the end of the world. A player begins in the middle, which is a rule of the game; from there on it counts its steps.
  Nothing is ever in this map that was not seen.
* The ground is changed by the player alone, but for arrows that break a table or a furnace; so what was seen once is
  taken to be true until it is seen again. What a creature stands on is not seen; if nothing is known of the cell, it is
  taken for what such a creature walks on.
* Creatures are known while they are in view. Of cows it is remembered where the last ones were; saplings stay where
  they are, and have grown by one for each step in which the player was near.
* ``Reach`` is how far everything is from one place, and by which way: the shortest ways over all that is known, where
  digging through rock costs more than walking. It is computed once for a place and a state of the map, by the library
  tcod, and shared by all who ask.

Whoever wants to know whether something changed compares ``version``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import tcod.path

from examples.crafter.eyes import VIEW, Sight
from examples.crafter.rules import (
    ARROW,
    COW,
    DIGGABLE,
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

__all__ = ["FAR", "START", "Atlas", "Cell", "Reach"]

Cell = tuple[int, int]

_WORLD: Final = 64
_RIM: Final = 8
_SIDE: Final = _WORLD + 2 * _RIM
START: Final[Cell] = (_RIM + _WORLD // 2, _RIM + _WORLD // 2)
FAR: Final = 1_000_000  # steps: what cannot be reached

_DIG: Final = 3  # steps to walk into rock: face it, strike it, go; it leaves a stone in the bag
_FELL: Final = 4
_HERD: Final = 300  # steps for which a cow is remembered
_BESIDE_A_COW: Final = 4
_BESIDE_A_ZOMBIE: Final = 12
_OLD: Final = MATERIALS["furnace"]  # the last number of a material
_UNDER: Final = {COW: MATERIALS["grass"], ZOMBIE: MATERIALS["grass"], PLANT: MATERIALS["grass"],
                 SKELETON: MATERIALS["path"]}  # fmt: skip


def _costs() -> dict[tuple[str, ...], np.ndarray[Any, np.dtype[np.int32]]]:
    """For each set of tools, what it costs to enter a cell of each material; 0: nobody can."""
    costs = {}
    tools = tuple(DIGGABLE)
    for count in range(len(tools) + 1):
        cost = np.zeros(32, np.int32)
        cost[WALKABLE] = 1
        cost[MATERIALS["tree"]] = _FELL
        for tool in tools[:count]:
            cost[[MATERIALS[name] for name in DIGGABLE[tool]]] = _DIG
        costs[tools[:count]] = cost
    return costs


_COSTS: Final = _costs()


def _tools(inventory: dict[str, int]) -> tuple[str, ...]:
    """The pickaxes that one has, each as good as all before it."""
    count = max((number for number, tool in enumerate(DIGGABLE, 1) if inventory.get(tool)), default=0)
    return tuple(DIGGABLE)[:count]


class Reach:
    """How far it is from one place to every other.

    Args:
        costs: what it takes to enter each cell; 0 for those that cannot be entered.
        place: where one stands.

    Attributes:
        place: as given.
        steps: to stand in each cell.
        beside: to stand beside each cell.
    """

    def __init__(self, costs: np.ndarray[Any, np.dtype[np.int32]], place: Cell) -> None:
        self.place = place
        self._finder = tcod.path.Pathfinder(tcod.path.SimpleGraph(cost=costs, cardinal=1, diagonal=0))
        self._finder.add_root(place)
        self._finder.resolve()
        self.steps = np.minimum(self._finder.distance, FAR)
        beside = np.full_like(self.steps, FAR)
        inner = beside[1:-1, 1:-1]
        for x, y in SIDES:
            part = self.steps[1 + x : _SIDE - 1 + x, 1 + y : _SIDE - 1 + y]
            np.minimum(inner, part, out=inner)
        self.beside = beside

    def way(self, cell: Cell) -> list[Cell]:
        """The cells on the shortest way, without the one where one stands and with the last.

        Args:
            cell: where to; it can be reached.
        """
        return [(int(x), int(y)) for x, y in self._finder.path_to(cell)[1:]]


class Atlas:
    """What one player knows of its world.

    Attributes:
        ground: the number of the material in each cell; ``UNKNOWN`` where nobody looked.
        creatures: the creatures in view, by their cell.
        herd: where a cow was last seen, and in which step.
        plants: the saplings, and for how many steps each has grown.
        version: changes whenever the ground does.
        step: the step of the last look.
    """

    def __init__(self) -> None:
        self.ground = np.full((_SIDE, _SIDE), EDGE, np.uint8)
        self.ground[_RIM:-_RIM, _RIM:-_RIM] = UNKNOWN
        self.ground[START] = MATERIALS["grass"]
        self.creatures: dict[Cell, int] = {}
        self._before: dict[Cell, int] = {}
        self.herd: dict[Cell, int] = {}
        self.plants: dict[Cell, int] = {}
        self.version = 0
        self.step = 0
        self._last = b""
        self._reaches: dict[Any, Reach] = {}

    # --- looking ------------------------------------------------------------------------------------------------------

    def note(self, sight: Sight, place: Cell) -> None:
        """Write down what is seen.

        Args:
            sight: what is seen.
            place: where the player stands.
        """
        self.step = sight.step
        for plant in self.plants:
            if abs(plant[0] - place[0]) + abs(plant[1] - place[1]) < RULES["lives_within"]:
                self.plants[plant] += 1
        cells = sight.cells
        seen = cells.tobytes()
        if seen == self._last and sight.scrolled == (0, 0):
            return
        self._last = seen
        left, top = place[0] - VIEW[0] // 2, place[1] - VIEW[1] // 2
        known = self.ground[left : left + VIEW[0], top : top + VIEW[1]]
        new = (cells <= _OLD) & (cells != known)
        if new.any():
            known[new] = cells[new]
            self.version += 1
        self._note_creatures(cells, known, left, top)

    def _note_creatures(self, cells: Any, known: Any, left: int, top: int) -> None:
        self._before, self.creatures = self.creatures, {}
        if self.herd:
            self._forget_cows(cells, left, top)
        xs, ys = np.nonzero((cells >= COW) & (cells <= PLANT))
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
        for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
            kind, cell = int(cells[x, y]), (left + x, top + y)
            if known[x, y] == UNKNOWN and kind != ARROW:
                known[x, y] = _UNDER[kind]
                self.version += 1
            if kind == PLANT:
                if cell not in self.plants:
                    self.plants[cell] = 0
                    self.version += 1
                continue
            self.creatures[cell] = kind
            if kind == COW:
                self.herd[cell] = self.step

    def _forget_cows(self, cells: Any, left: int, top: int) -> None:
        """Cows that should be in view are not where they were, and others have wandered off by now."""
        for cell, step in list(self.herd.items()):
            x, y = cell[0] - left, cell[1] - top
            is_seen = 0 <= x < VIEW[0] and 0 <= y < VIEW[1] and cells[x, y] != HIDDEN
            if is_seen or step + _HERD < self.step:
                del self.herd[cell]

    def was_nearer(self, cell: Cell, place: Cell) -> bool:
        """Whether what flies in a line with a place was nearer to it a step ago, and so flies away.

        Args:
            cell: where it is now.
            place: in a line with that.
        """
        step = ((place[0] > cell[0]) - (place[0] < cell[0]), (place[1] > cell[1]) - (place[1] < cell[1]))
        return self._before.get((cell[0] + step[0], cell[1] + step[1])) == ARROW

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

    def knows(self, material: str) -> bool:
        """Whether any cell of a material is known.

        Args:
            material: its name.
        """
        return bool((self.ground == MATERIALS[material]).any())

    def reach(self, place: Cell, inventory: dict[str, int]) -> Reach:
        """How far everything is.

        Args:
            place: from where.
            inventory: of the player; its pickaxes dig.
        """
        key = (place, self.version, _tools(inventory), frozenset(self.creatures.items()))
        found = self._reaches.get(key)
        if found is None:
            found = Reach(self.costs(inventory), place)
            self._reaches = {key: found}
        return found

    def costs(self, inventory: dict[str, int]) -> np.ndarray[Any, np.dtype[np.int32]]:
        """What it takes to enter each cell, in steps; 0: nobody can.

        Args:
            inventory: of the player; its pickaxes dig.
        """
        costs = _COSTS[_tools(inventory)][self.ground]
        for cell in self.plants:
            costs[cell] = 0
        for cell, kind in self.creatures.items():
            if costs[cell]:
                costs[cell] += _BESIDE_A_ZOMBIE if kind == ZOMBIE else _BESIDE_A_COW
        return costs

    def nearest(self, reach: Reach, material: str) -> tuple[Cell, int] | None:
        """The cell of a material that is reached the soonest, and in how many steps one is beside it.

        Args:
            reach: from where.
            material: its name.
        """
        cells = np.flatnonzero(self.ground == MATERIALS[material])
        if not len(cells):
            return None
        steps = reach.beside.ravel()[cells]
        best = int(steps.argmin())
        if steps[best] >= FAR:
            return None
        return divmod(int(cells[best]), _SIDE), int(steps[best])

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
        return divmod(int(cells[best]), _SIDE), int(steps[best])

    def cells(self, material: str, reach: Reach, within: int) -> list[Cell]:
        """The cells of a material where one can be in so many steps, from the top left down.

        Args:
            material: its name.
            reach: from where.
            within: how many steps.
        """
        found = np.flatnonzero((self.ground == MATERIALS[material]) & (reach.steps <= within) & (reach.steps > 0))
        return [divmod(int(cell), _SIDE) for cell in found]

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

    def planting_site(self, reach: Reach) -> Cell | None:
        """Grass where a sapling would be well kept: near, with little open around it, and not far from water.

        Args:
            reach: from where.
        """
        grass = self.ground == MATERIALS["grass"]
        open_ = np.zeros(grass.shape, np.int32)
        for x, y in SIDES:
            side = np.roll(self.ground, (-x, -y), (0, 1))
            open_ += WALKABLE[side] | (side == UNKNOWN)
        for cell in [*self.creatures, *self.plants, reach.place]:
            grass[cell] = False
        worth = np.where(grass & (reach.beside < 40) & (open_ > 0), reach.beside + 6 * open_, FAR)
        best = int(worth.argmin())
        return divmod(best, _SIDE) if worth.flat[best] < FAR else None

    def is_seen_around(self, cell: Cell) -> bool:
        """Whether all four cells beside one are known.

        Args:
            cell: which.
        """
        return all(self.ground[cell[0] + x, cell[1] + y] != UNKNOWN for x, y in SIDES)

    def frontier(self, reach: Reach, likes: str | None = None) -> tuple[Cell, int] | None:
        """The cell beside the unknown that is best to go to for a look.

        Args:
            reach: from where.
            likes: a material that should be near; None for whatever is near.

        Returns:
            The cell, and in how many steps one is there; None if all that can be reached was seen.
        """
        unknown = self.ground == UNKNOWN
        rim = np.zeros_like(unknown)
        rim[1:-1, 1:-1] = unknown[:-2, 1:-1] | unknown[2:, 1:-1] | unknown[1:-1, :-2] | unknown[1:-1, 2:]
        cells = np.flatnonzero(rim & ~unknown & (reach.steps < FAR))
        if not len(cells):
            return None
        steps = reach.steps.ravel()[cells]
        worth = steps.astype(np.float64)
        if likes is not None:
            worth -= self._scent(likes).ravel()[cells]
        worth -= 3.0 * self._openness(unknown).ravel()[cells]
        best = int(worth.argmin())
        return divmod(int(cells[best]), _SIDE), int(steps[best])

    @staticmethod
    def _openness(unknown: Any) -> Any:
        """How many unknown cells are two or three steps away, along each side."""
        open_ = np.zeros(unknown.shape, np.int32)
        for far in (1, 2, 3):
            for x, y in SIDES:
                open_ += np.roll(unknown, (x * far, y * far), (0, 1))
        return open_

    def _scent(self, material: str) -> Any:
        """How much of a material is seen around each cell, up to four cells away."""
        there = (self.ground == MATERIALS[material]).astype(np.int32)
        total = np.pad(there.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        size = 9
        count = total[size:, size:] - total[:-size, size:] - total[size:, :-size] + total[:-size, :-size]
        scent = np.zeros(there.shape, np.float64)
        scent[size // 2 : size // 2 + count.shape[0], size // 2 : size // 2 + count.shape[1]] = count
        return np.minimum(scent, 12.0)
