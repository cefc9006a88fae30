"""How far everything is from one place, and by which way.

The map of a player is a square: 64 by 64 cells of the world, and a rim around it that nobody can enter, so that whoever
looks at the neighbors of a cell never leaves the array. What it takes to enter each cell follows from what stands there
and what one has: a step where one can walk, more where one has to dig or to fell, more where somebody is in the way or
dangerous; 0 where nobody gets through. The shortest ways over that are the library tcod's.

Rejected: ways around where each creature will be (they move at random, and the way is looked at again in each step).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import tcod.path

from examples.crafter.rules import DIGGABLE, MATERIALS, SIDES, SKELETON, WALKABLE, ZOMBIE

__all__ = ["FAR", "RIM", "SIDE", "START", "Cell", "Finder", "Reach", "apart", "entry_costs", "tools_of"]

Cell = tuple[int, int]

_WORLD: Final = 64
RIM: Final = 8
SIDE: Final = _WORLD + 2 * RIM
START: Final[Cell] = (RIM + _WORLD // 2, RIM + _WORLD // 2)
FAR: Final = 1_000_000  # steps: what cannot be reached

_DIG: Final = 3  # steps to walk into rock: face it, strike it, go; it leaves a stone in the bag
_FELL: Final = 4
_IN_THE_WAY: Final = 4  # steps that a creature costs who stands on the way
_GRASS_AT_NIGHT: Final = 6
_WARY: Final = {ZOMBIE: (2, 3), SKELETON: (4, 4)}  # how far around one each step costs more, and how much


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


def apart(one: Cell, other: Cell) -> int:
    """How many steps lie between two cells, if nothing is in the way.

    Args:
        one: a cell.
        other: another.
    """
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def tools_of(inventory: dict[str, int]) -> tuple[str, ...]:
    """The pickaxes that one has, each as good as all before it.

    Args:
        inventory: what one has.
    """
    count = max((number for number, tool in enumerate(DIGGABLE, 1) if inventory.get(tool)), default=0)
    return tuple(DIGGABLE)[:count]


def entry_costs(
    ground: np.ndarray[Any, np.dtype[np.uint8]],
    inventory: dict[str, int],
    creatures: Mapping[Cell, int],
    kept: Iterable[Cell],
    is_dark: bool = False,
) -> np.ndarray[Any, np.dtype[np.int32]]:
    """What it takes to enter each cell, in steps; 0: nobody can.

    Args:
        ground: the number of the material in each cell.
        inventory: of the player; its pickaxes dig.
        creatures: by their cells.
        kept: cells that are not to be entered: saplings, and what protects them.
        is_dark: whether grass is to be avoided, since zombies come up there.
    """
    costs: np.ndarray[Any, np.dtype[np.int32]] = _COSTS[tools_of(inventory)].take(ground)
    if is_dark:
        costs[ground == MATERIALS["grass"]] += _GRASS_AT_NIGHT
    for cell in kept:
        costs[cell] = 0
    for cell, kind in creatures.items():
        if costs[cell]:
            costs[cell] += _IN_THE_WAY
        if kind in _WARY:
            far, more = _WARY[kind]
            x, y = cell
            part = costs[x - far : x + far + 1, y - far : y + far + 1]
            part[part > 0] += more
    return costs


class Finder:
    """Finds ways on a map whose costs change; one for each map, since to make tcod's costs as much as to use it."""

    def __init__(self) -> None:
        self._costs: np.ndarray[Any, np.dtype[np.int32]] = np.zeros((SIDE, SIDE), np.int32)
        self._finder = tcod.path.Pathfinder(tcod.path.SimpleGraph(cost=self._costs, cardinal=1, diagonal=0))

    def search(self, costs: np.ndarray[Any, np.dtype[np.int32]], start: Cell) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Find out how far everything is.

        Args:
            costs: what it takes to enter each cell; 0 for those that cannot be entered.
            start: where one stands.

        Returns:
            The steps to each cell, ``FAR`` where one cannot be.
        """
        self._costs[:] = costs
        steps = self._finder.distance
        steps.fill(FAR)  # a search for everywhere leaves nothing else behind; ``clear`` takes as long as the search
        self._finder.add_root(start)
        self._finder.resolve()
        return steps.copy()


class Reach:
    """How far it is from one place to every other.

    Args:
        steps: to stand in each cell, ``FAR`` where one cannot be.
        place: where one stands.

    Attributes:
        place: as given.
        steps: as given.
        memo: what was found out from here, for whoever does not mind that it may be a little old.
    """

    def __init__(self, steps: np.ndarray[Any, np.dtype[np.int32]], place: Cell) -> None:
        self.place = place
        self.steps = steps
        self.memo: dict[object, Any] = {}
        self._beside: np.ndarray[Any, np.dtype[np.int32]] | None = None

    @property
    def beside(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """In how many steps one stands beside each cell."""
        beside = self._beside
        if beside is None:
            self._beside = beside = np.full_like(self.steps, FAR)
            inner = beside[1:-1, 1:-1]
            for x, y in SIDES:
                np.minimum(inner, self.steps[1 + x : SIDE - 1 + x, 1 + y : SIDE - 1 + y], out=inner)
        return beside

    def way(self, cell: Cell) -> list[Cell]:
        """The cells on the shortest way, without the one where one stands and with the last; empty if there is none.

        Args:
            cell: where to.
        """
        if self.steps[cell] >= FAR:
            return []
        back = tcod.path.hillclimb2d(
            self.steps, cell, True, False
        )  # from there, always to the cell reached the soonest
        return [(x, y) for x, y in back[-2::-1].tolist()]

    def way_beside(self, cell: Cell) -> list[Cell]:
        """The same, to a cell beside one.

        Args:
            cell: which.
        """
        sides = [(cell[0] + x, cell[1] + y) for x, y in SIDES]
        return self.way(min(sides, key=lambda side: int(self.steps[side])))
