"""Paths over the ground, found by tcod (the roguelike library), as the path finder of the standard actions.

Why tcod: it computes in C with whole numbers and breaks ties by the order in which it visits cells, so one
wheel gives one answer on every Python and every hash seed; a search over this world takes a third of a
millisecond, where pure Python libraries take two to four. Rejected: ``pathfinding`` (12 times slower, and it
stops by a wall-clock limit), ``networkx`` (6 times slower), ``rustworkx`` and ``scipy`` (weights are floats,
and a graph for a grid is a detour).

One search answers all questions about one starting cell, and the ground never changes: the searches of the
last cells that were asked about are kept. Steps go up, right, down and left; there are no diagonals, so
nobody squeezes between two corners.

tcod comes with the extra ``demo``. Its arrays are indexed ``[column, row]`` here, so that a cell is an index.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy
import tcod.path

from agentrt import Signal
from agentrt_actions import Path
from agentrt_examples.colony.terrain import Cell, Ground

__all__ = ["GridPathFinder"]

_KEPT = 256
_UNREACHED = int(numpy.iinfo(numpy.int32).max)


class GridPathFinder:
    """Finds paths over a ground; implements ``agentrt_actions.PathFinder``.

    Args:
        ground: where.

    Attributes:
        changed: fired when paths that were found may be worth finding again; this ground never changes.
        searches: how many searches were made.
    """

    def __init__(self, ground: Ground) -> None:
        self.changed = Signal()
        self.searches = 0
        self._ground = ground
        cost = numpy.array(
            [[ground.cost((column, row)) for row in range(ground.height)] for column in range(ground.width)],
            dtype=numpy.int32,
        )
        self._graph = tcod.path.SimpleGraph(cost=cost, cardinal=1, diagonal=0)
        self._kept: OrderedDict[Cell, tuple[tcod.path.Pathfinder, Any]] = OrderedDict()

    def find(self, start: Cell, goal: Cell, *, reach: int = 0) -> Path | None:
        """The cheapest path.

        Args:
            start: where it begins.
            goal: where it leads to.
            reach: how many steps before the goal it may end.

        Returns:
            The path, or None if there is none.
        """
        end = self._cheapest_end(start, goal, reach)
        if end is None:
            return None
        finder, distances = self._search(start)
        cells = [(int(column), int(row)) for column, row in finder.path_to(end)]
        return Path(start, tuple(cells[1:]), int(distances[end]))

    def costs(self, start: Cell, goals: Sequence[Cell], *, reach: int = 0) -> list[int | None]:
        """What the cheapest paths to several goals cost.

        Args:
            start: where they begin.
            goals: where they lead to.
            reach: how many steps before its goal each may end.

        Returns:
            For each goal a cost in tenths of a step over grass, or None if no path leads there.
        """
        _, distances = self._search(start)
        ends = [self._cheapest_end(start, goal, reach) for goal in goals]
        return [None if end is None else int(distances[end]) for end in ends]

    def neighbors(self, place: Cell) -> list[Cell]:
        """The cells that one step leads to.

        Args:
            place: from here.
        """
        return self._ground.neighbors(place)

    def distance(self, first: Cell, second: Cell) -> int:
        """How many steps two cells are apart at least.

        Args:
            first: one cell.
            second: another.
        """
        return abs(first[0] - second[0]) + abs(first[1] - second[1])

    def _cheapest_end(self, start: Cell, goal: Cell, reach: int) -> Cell | None:
        _, distances = self._search(start)
        best: tuple[int, int, Cell] | None = None
        for column in range(max(0, goal[0] - reach), min(self._ground.width, goal[0] + reach + 1)):
            room = reach - abs(column - goal[0])
            for row in range(max(0, goal[1] - room), min(self._ground.height, goal[1] + room + 1)):
                cost = int(distances[column, row])
                if cost < _UNREACHED:
                    candidate = (cost, self.distance((column, row), goal), (column, row))
                    best = candidate if best is None else min(best, candidate)
        return None if best is None else best[2]

    def _search(self, start: Cell) -> tuple[tcod.path.Pathfinder, Any]:
        kept = self._kept.get(start)
        if kept is not None:
            self._kept.move_to_end(start)
            return kept
        finder = tcod.path.Pathfinder(self._graph)
        finder.add_root(start)
        finder.resolve()
        self.searches += 1
        made = self._kept[start] = (finder, finder.distance)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return made
