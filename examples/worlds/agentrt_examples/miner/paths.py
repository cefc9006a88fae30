"""Ways through what the miner knows of the world, found by tcod (the roguelike library) in boxes of bounded size.

A way may lead through rock: then it says what to dig. It may lead over a gap or up a shaft: then it says where to put a
block. What is unknown counts as stone, so a tunnel into the unknown is planned like any other, and whoever walks it
looks at each step whether the world is as it was believed.

Costs are ticks, by the tools that are at hand. A cell is where one's feet are; the edges between cells are a step to a
side on the level, one up (a jump) or one to three down (a fall), a shaft up (by putting a block under one's feet) and
one down. What an edge costs is the sum of what has to be cleared for it, and stands in one array for each edge.

One search looks at ``MOST_CELLS`` cells at most, which bounds its time. A goal that lies further away is approached
in *legs*: the way goes to the cell of the box from which the rest, as the crow flies, is the shortest.

Rejected: a search in Python (a tunnel through rock visits thousands of cells: 50 ms), one graph of the whole world (a
million cells, a second), and portals between chunks (they would change with every block that is dug).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy
import tcod.path
from numpy.typing import NDArray

from agentrt_examples.miner.memory import UNKNOWN, Chart
from agentrt_examples.miner.places import SIDES, Place, above, steps_apart
from agentrt_examples.miner.rules import BLOCK_NUMBERS, BLOCKS, ItemKind, dig_ticks

__all__ = ["FALL", "JUMP", "MOST_CELLS", "STEP", "SWIM", "Costs", "Step", "Way", "find_way"]

STEP = 5
"""Ticks for a step on the level."""

JUMP = 7
"""Ticks for a step up."""

FALL = 2
"""Ticks for each block of a fall."""

SWIM = 5
"""Ticks more for a step through water."""

MOST_CELLS = 11_000
"""How many cells one search looks at."""

_BUILD = 6
_FAR = 1 << 20  # what cannot be done costs this, or more
_MARGIN = 6
_STONE = BLOCK_NUMBERS["stone"]
_WIDE, _HIGH = 23, 19  # the box of a leg
_LAVA = BLOCK_NUMBERS["lava"]
_WATER = BLOCK_NUMBERS["water"]
# What somebody put there, or may need, is not dug away just to get through.
_KEPT = ("furnace", "crafting_table", "portal")

_Array = NDArray[numpy.int32]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a way.

    Attributes:
        place: where the feet are after it.
        digs: what has to be passable first, in this order.
        builds: where a block has to be put; None for nowhere.
    """

    place: Place
    digs: tuple[Place, ...]
    builds: Place | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """A way.

    Attributes:
        steps: in order.
        cost: what it takes, in ticks, if the world is as it is known.
        is_whole: whether it leads to the goal, and not only nearer to it.
    """

    steps: tuple[Step, ...]
    cost: int
    is_whole: bool


class Costs:
    """What it costs to get through each kind of block, with certain tools.

    Args:
        tools: the tool for each kind of tool, if there is one.
        can_build: whether there are blocks to put down.

    Attributes:
        clear: ticks to make a block passable, by number.
        firm: whether one stands on a block, by number.
        can_build: as given.
    """

    __slots__ = ("can_build", "clear", "firm")

    def __init__(self, tools: Mapping[str, ItemKind], *, can_build: bool) -> None:
        self.can_build = can_build
        self.clear: _Array = numpy.zeros(256, dtype=numpy.int32)
        self.firm: NDArray[numpy.bool_] = numpy.zeros(256, dtype=bool)
        for kind in BLOCKS:
            if kind.burns or kind.name in _KEPT or not (kind.passable or kind.dig):
                self.clear[kind.number] = _FAR
            elif not kind.passable:
                self.clear[kind.number] = dig_ticks(tools.get(kind.tool), kind)
            self.firm[kind.number] = not kind.passable
        self.clear[BLOCK_NUMBERS["portal"]] = 0
        self.clear[_WATER] = SWIM
        self.firm[_WATER] = True
        self.clear[UNKNOWN] = self.clear[BLOCK_NUMBERS["stone"]] + 1
        self.firm[UNKNOWN] = True


def find_way(chart: Chart, costs: Costs, start: Place, goal: Place) -> Way | None:
    """The cheapest way, or the best first leg of it.

    Args:
        chart: what is known.
        costs: what it costs to get through.
        start: where one stands.
        goal: where one wants to stand.

    Returns:
        The way; None if there is none within the box that was searched.
    """
    if not all(0 < at < size - 1 for at, size in zip(goal, chart.size, strict=True)):
        return None  # beyond the edge, and beyond what a search looks at
    if start == goal:
        return Way((), 0, is_whole=True)
    box = _whole_box(chart, start, goal)
    is_whole = box is not None
    search = _Search(chart, costs, start, box or _leg_box(chart, start, goal))
    end = goal if is_whole else search.nearest_to(goal)
    if end is None or end == start:
        return None
    cells = search.cells_to(end)
    if cells is None:
        return None
    return Way(tuple(search.steps(cells)), search.cost_of(end), is_whole=is_whole)


_Box = tuple[Place, Place]


def _whole_box(chart: Chart, start: Place, goal: Place) -> _Box | None:
    """The box around both ends; None if it has too many cells."""
    low = [max(0, min(pair) - _MARGIN) for pair in zip(start, goal, strict=True)]
    high = [
        min(size, max(pair) + _MARGIN + 1) for pair, size in zip(zip(start, goal, strict=True), chart.size, strict=True)
    ]
    size = [above - below for below, above in zip(low, high, strict=True)]
    if size[0] * size[1] * size[2] > MOST_CELLS:
        return None
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def _leg_box(chart: Chart, start: Place, goal: Place) -> _Box:
    """A box of which most lies on the side of the goal."""
    low, high = [], []
    for at, to, size, extent in zip(start, goal, chart.size, (_WIDE, _HIGH, _WIDE), strict=True):
        lean = max(-extent // 3, min(extent // 3, to - at))
        least = max(0, min(size - extent, at + lean - extent // 2))
        low.append(least)
        high.append(min(size, least + extent))
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


class _Search:
    """One search in a box."""

    def __init__(self, chart: Chart, costs: Costs, start: Place, box: _Box) -> None:
        (self._low, high), self._start = box, start
        known = chart.blocks[tuple(slice(least, most) for least, most in zip(self._low, high, strict=True))]
        clear = costs.clear[known]
        firm = costs.firm[known]
        self._firm = firm
        self._can_build = costs.can_build
        # The rest of the way, as if it led up through rock: more than a leg ever costs, so that each leg leads on.
        self._per_block = JUMP + 3 * int(costs.clear[_STONE]) + 1
        self._finder = tcod.path.Pathfinder(self._graph(clear, firm, known == _WATER))
        self._finder.add_root(self._inside(start))

    def _inside(self, place: Place) -> Place:
        low = self._low
        return place[0] - low[0], place[1] - low[1], place[2] - low[2]

    def _outside(self, cell: Place) -> Place:
        low = self._low
        return cell[0] + low[0], cell[1] + low[1], cell[2] + low[2]

    # --- the graph ----------------------------------------------------------------------------------------------------

    def _graph(self, clear: _Array, firm: NDArray[numpy.bool_], wet: NDArray[numpy.bool_]) -> tcod.path.CustomGraph:
        body = clear + _raised(clear, 1)  # feet and head
        floor = numpy.zeros_like(firm)
        floor[:, 1:] = firm[:, :-1]
        floor |= wet
        stands = numpy.where(floor, body, _FAR)
        level = STEP + (numpy.where(floor, body, body + _BUILD) if self._can_build else stands)
        level[:, 0] = _FAR
        graph = tcod.path.CustomGraph(clear.shape)
        for x, z in SIDES:
            graph.add_edge((x, 0, z), 1, cost=_closed(level))
            # To go up, one also clears the block over one's own head: in the column that one comes from.
            graph.add_edge((x, 1, z), 1, cost=_closed(JUMP + stands + _shifted(_raised(clear, 1), x, z)))
            fall = STEP + stands
            for depth in (1, 2, 3):
                fall = fall + FALL + _raised(clear, depth + 1)
                graph.add_edge((x, -depth, z), 1, cost=_closed(fall))
        graph.add_edge((0, -1, 0), 1, cost=_closed(STEP + numpy.where(floor, clear, _FAR)))
        if self._can_build:
            graph.add_edge((0, 1, 0), 1, cost=_closed(JUMP + _BUILD + _raised(clear, 1)))
        return graph

    # --- the answer ---------------------------------------------------------------------------------------------------

    def nearest_to(self, goal: Place) -> Place | None:
        """The cell from which the rest is the shortest, reckoned with what it costs to come there."""
        self._finder.resolve()
        reached = self._finder.distance.astype(numpy.int64)
        total = reached
        for axis, (least, to) in enumerate(zip(self._low, goal, strict=True)):
            away = numpy.abs(numpy.arange(reached.shape[axis]) + least - to) * self._per_block
            total = total + away.reshape([-1 if axis == at else 1 for at in range(3)])
        total[reached >= _FAR] = numpy.iinfo(numpy.int64).max
        best = int(total.argmin())
        cell = numpy.unravel_index(best, reached.shape)
        end = self._outside((int(cell[0]), int(cell[1]), int(cell[2])))
        return end if steps_apart(end, goal) < steps_apart(self._start, goal) else None

    def cells_to(self, end: Place) -> list[Place] | None:
        """The places of the way, the start among them; None if it cannot be reached."""
        self._finder.resolve(self._inside(end))
        if self.cost_of(end) >= _FAR:
            return None
        path = self._finder.path_to(self._inside(end)).tolist()
        return [self._outside((x, y, z)) for x, y, z in path]

    def cost_of(self, end: Place) -> int:
        """What it costs to come to a place that was searched for."""
        return int(self._finder.distance[self._inside(end)])

    def steps(self, cells: list[Place]) -> list[Step]:
        """The steps between places."""
        return [self._step(here, there) for here, there in pairwise(cells)]

    def _step(self, here: Place, there: Place) -> Step:
        rise = there[1] - here[1]
        if here[0] == there[0] and here[2] == there[2]:
            return Step(there, (above(here, 2),), here) if rise > 0 else Step(there, (there,))
        if rise > 0:
            return Step(there, (above(here, 2), above(there), there))
        digs = tuple(above(there, height) for height in range(1 - rise, -1, -1))
        builds = None
        if rise == 0 and self._can_build and not self._firm[self._inside(above(there, -1))]:
            builds = above(there, -1)
        return Step(there, digs, builds)


def _raised(array: _Array, height: int) -> _Array:
    """For each cell the value so many blocks above it; what lies above the box cannot be cleared."""
    raised = numpy.full_like(array, _FAR)
    raised[:, :-height] = array[:, height:]
    return raised


def _shifted(array: _Array, x: int, z: int) -> _Array:
    """For each cell the value of the column that a step to a side comes from."""
    return numpy.roll(array, (x, z), axis=(0, 2))


def _closed(cost: _Array) -> _Array:
    """Costs as tcod wants them: 0 where nobody can go."""
    return numpy.where(cost >= _FAR, 0, cost).astype(numpy.int32)
