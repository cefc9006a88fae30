"""Paths over the ground, from distance fields that tcod (the roguelike library) computes.

A *field* belongs to a goal: for every cell what it costs to come from there. One field answers for everybody who goes
to that goal, and the ground never changes, so fields are kept, the last ones that were asked for. In a colony most
goals (plots, shelves, beds, the hearth) stay where they are: after a while nearly every question is one look into an
array, and a path is found by walking downhill.

A field is spread over a window around its goal. Whoever leaves the window comes back to the goal over a cell of its
border, so it is exact for what costs less than the cheapest of those. A question beyond it makes a window twice as
wide, and so on up to the whole ground.

What moves (prey, patients, whoever carries something) is a new goal at every step, about which somebody asks once or
twice, and who asks from far away passes by most of what lies around the goal. So the first question about a goal, and
the first few from far away, are answered by a *beam*: a field that spreads towards who asks, and no farther than to
there (A*). Each step that is left counts for ``pull``, which is less than any step costs. Spreading has passed every
cell for which its value and what is left from it, at ``pull`` a step, are no more than the value where the beam ends.
There the beam is exact; and the cheapest paths from such a cell, all of them, lead over such cells alone.

Rules:

* All numbers are whole, and of neighbors that lie equally well the first is taken: the answers depend on the ground
  and on nothing else, not on what was asked before, the machine, or the hash seed.
* Steps go up, right, down and left; there are no diagonals, so nobody squeezes between two corners.
* A step costs what the cell costs that it leads to. Backwards, from the goal, the costs of the cells are the same but
  for the first and the last one; so a field is computed backwards, counts the goal's own cell as well, and the cost
  from a cell is what the field says there less the cost of that cell itself.

Rejected: a search from each cell on which somebody stands and thinks (ten times as many searches as there are goals);
``tcod.path.dijkstra2d`` (twice as fast on a small window, but tcod 21 never gives back four kilobytes of each call);
``pathfinding`` (pure Python, and it stops by a wall-clock limit), ``networkx``, ``rustworkx`` and ``scipy`` (a graph is
a detour for a grid).

tcod comes with the extra ``demo``. Its arrays are indexed ``[column, row]`` here, so that a cell is an index.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import Field
from typing import Any, ClassVar

import numpy
import tcod.path

from agentrt import Signal
from agentrt_actions import Path
from agentrt_examples.colony.terrain import Cell, Ground

__all__ = ["GridPathFinder"]

_NEAR = 8  # cells around a goal; where it was measured, with 6, 10 and 12 searches look at more of them
_FAR_OFF = 24  # from farther away than so many cells
_BEAMS = 4  # of one goal; whoever is asked about more often stays where it is
_KEPT = 24_000_000  # cells of fields, at two bytes each
_MOST = 4096  # fields
_SHAPES = 256  # windows that lie at the edge of the ground have many
_FAR = (1 << 16) - 1
_UNKNOWN = (1 << 31) - 1  # of a cell that tcod has not come to

_Key = tuple[Cell, int]


class _Field:
    """What it costs to come to a goal, the goal's own cell included, from each cell of a window.

    Attributes:
        ends: where a way along some cells ends, of those for which somebody asked.
        left: the first column of the window.
        right: the one behind its last column.
        top: its first row.
        bottom: the one behind its last row.
        values: column by column, with a border of one cell around them; 65,535 where nobody comes from.
        stride: how many values a column has, the border included.
        base: where in ``values`` that of column 0 and row 0 would be.
        around: how many cells there are around where the goal is reached, at least.
        exact: up to which value they are what the whole ground would say.
        to: the cell where a beam ends; None for what is none, or leads nowhere and so has looked everywhere.
        pull: what each step that is left to there counted for.
    """

    __slots__ = (
        "_most", "around", "base", "bottom", "ends", "exact", "left", "pull", "right", "stride", "to", "top", "values",
    )  # fmt: skip

    def __init__(
        self, left: int, top: int, values: numpy.ndarray, around: int, exact: int, to: Cell | None, pull: int
    ) -> None:
        width, height = values.shape
        self.left, self.right = left, left + width
        self.top, self.bottom = top, top + height
        self.stride = height + 2
        self.base = (1 - left) * self.stride + 1 - top
        self.values = _bordered(numpy.minimum(values, _FAR), _FAR)
        self.around = around
        self.exact = exact
        self.ends: dict[Cell, Cell] = {}
        self._most = _FAR if to is None else int(values[to[0] - left, to[1] - top])
        self.to = to if self._most < _FAR else None
        self.pull = pull

    def at(self, cell: Cell) -> int:
        """The value of a cell; -1 if the window cannot tell.

        Args:
            cell: column and row.
        """
        column, row = cell
        if self.left <= column < self.right and self.top <= row < self.bottom:
            value: int = self.values[column * self.stride + row + self.base]
            if value <= self.exact:
                to = self.to
                if to is None or value + self.pull * (abs(column - to[0]) + abs(row - to[1])) <= self._most:
                    return value
        return -1


def _bordered(values: numpy.ndarray, border: int) -> memoryview:
    """The values in one row, with a border around them: so every neighbor has a place in the row.

    A memory view gives Python's own numbers, three times as fast as the array does.
    """
    width, height = values.shape
    bordered = numpy.full((width + 2, height + 2), border, dtype=numpy.uint16)
    bordered[1:-1, 1:-1] = values
    return bordered.ravel().data


class _Known:
    """What is known of the ways to a goal: a field, the last beam, and how many there were."""

    __slots__ = ("beam", "beams", "field")

    def __init__(self) -> None:
        self.field: _Field | None = None
        self.beam: _Field | None = None
        self.beams = 0


class _GridPath(Path):
    """A path whose cells are found when somebody walks it: most paths are only thought about, and their cost is known.

    Equal if start and goal are, since there is one way from each to each.
    """

    __slots__ = ("_end", "_finder", "_key", "_places")

    # What a dataclass holds is searched for entities to protect. There are none here, and the search would walk it.
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]] = {}

    start: Cell
    _finder: GridPathFinder
    _key: _Key
    _places: tuple[Cell, ...] | None
    _end: Cell | None

    def __init__(self, finder: GridPathFinder, key: _Key, start: Cell, cost: int) -> None:
        put = object.__setattr__
        put(self, "start", start)
        put(self, "cost", cost)
        put(self, "_finder", finder)
        put(self, "_key", key)
        put(self, "_places", None)
        put(self, "_end", None if key[1] else key[0])

    @property
    def places(self) -> tuple[Cell, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The cells to step onto, in order."""
        places = self._places
        if places is None:
            places = self._finder.walk(self._key, self.start)
            object.__setattr__(self, "_places", places)
        return places

    @property
    def first(self) -> Cell | None:
        """The cell to step onto first."""
        return self._finder.first(self._key, self.start) if self._places is None else super().first

    @property
    def destination(self) -> Cell:
        """Where it ends."""
        end = self._end
        if end is None:
            end = self._finder.end(self._key, self.start)
            object.__setattr__(self, "_end", end)
        return end

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _GridPath) and self.start == other.start and self._key == other._key

    def __hash__(self) -> int:
        return hash((self.start, self._key))


class GridPathFinder:
    """Finds paths over a ground; implements ``agentrt_actions.PathFinder``.

    Args:
        ground: where.

    Attributes:
        changed: fired when paths that were found may be worth finding again; this ground never changes.
        searches: how many fields were computed.
    """

    def __init__(self, ground: Ground) -> None:
        self.changed = Signal()
        self.searches = 0
        self._ground = ground
        self._cost = numpy.array(
            [[ground.cost((column, row)) for row in range(ground.height)] for column in range(ground.width)],
            dtype=numpy.int32,
        )
        self._costs = _bordered(self._cost, 0)
        self._most = max(1, min(_MOST, _KEPT // 2 // (ground.width * ground.height)))
        self._pull = ground.cheapest - 1
        self._known: OrderedDict[_Key, _Known] = OrderedDict()
        self._way_out: _Field | None = None
        self._searches: dict[tuple[int, ...], tuple[numpy.ndarray, tcod.path.Pathfinder]] = {}
        cells = [(column, row) for column in range(ground.width) for row in range(ground.height)]
        # What a step onto each cell costs, and where one leads from it.
        self._steps = {cell: (ground.cost(cell), ground.neighbors(cell)) for cell in cells}

    def find(self, start: Cell, goal: Cell, *, reach: int = 0) -> Path | None:
        """The cheapest path.

        Args:
            start: where it begins.
            goal: where it leads to.
            reach: how many steps before the goal it may end.

        Returns:
            The path, or None if there is none.
        """
        cost = self.cost(start, goal, reach=reach)
        if cost is None:
            return None
        return _GridPath(self, (goal, reach), start, cost)

    def _downhill(self, field: _Field, start: Cell) -> Iterator[Cell]:
        """The cells of the path, without the start. All its values are less than that of the start, which is exact."""
        values, costs = field.values, self._costs
        column, row = start
        stride, long_stride = field.stride, self._ground.height + 2
        at = column * stride + row + field.base
        over = (column + 1) * long_stride + row + 1
        value = values[at]
        while value := value - costs[over]:
            # Up, right, down, left: the first that lies so much lower.
            if values[at - 1] == value:
                row, at, over = row - 1, at - 1, over - 1
            elif values[at + stride] == value:
                column, at, over = column + 1, at + stride, over + long_stride
            elif values[at + 1] == value:
                row, at, over = row + 1, at + 1, over + 1
            else:
                column, at, over = column - 1, at - stride, over - long_stride
            yield column, row

    def walk(self, key: tuple[Cell, int], start: Cell) -> tuple[Cell, ...]:
        """The cells of a path that was found.

        Args:
            key: the goal, and how many steps before it the path may end.
            start: where it begins.
        """
        return tuple(self._downhill(self._covering(key, start), start))

    def first(self, key: tuple[Cell, int], start: Cell) -> Cell | None:
        """The first cell of a path that was found; None if it ends where it begins.

        Args:
            key: the goal, and how many steps before it the path may end.
            start: where it begins.
        """
        return next(self._downhill(self._covering(key, start), start), None)

    def end(self, key: tuple[Cell, int], start: Cell) -> Cell:
        """Where a path that was found ends.

        From each cell the way leads on to the same next one, so that ways which meet end at one place. Whoever walks
        asks at each step, and finds that place after a cell or two.

        Args:
            key: the goal, and how many steps before it the path may end.
            start: where it begins.
        """
        field = self._covering(key, start)
        ends, passed = field.ends, [start]
        end = ends.get(start)
        if end is None:
            for cell in self._downhill(field, start):
                if cell in ends:
                    end = ends[cell]
                    break
                passed.append(cell)
            else:
                end = passed[-1]
            ends.update(dict.fromkeys(passed, end))
        return end

    def cost(self, start: Cell, goal: Cell, *, reach: int = 0, most: int = _FAR) -> int | None:
        """What the cheapest path costs.

        Args:
            start: where it begins.
            goal: where it leads to.
            reach: how many steps before the goal it may end.
            most: what is more than that need not be known: no wider window is computed for it.

        Returns:
            A cost in tenths of a step over grass, or None if no path leads there; perhaps also if it costs more than
            what is asked for.
        """
        own = self._ground.cost(start)
        if not own:
            return None
        value = self._value((goal, reach), start, own + most)
        return None if value >= _FAR else value - own

    def costs(self, start: Cell, goals: Sequence[Cell], *, reach: int = 0) -> list[int | None]:
        """What the cheapest paths to several goals cost.

        Args:
            start: where they begin.
            goals: where they lead to.
            reach: how many steps before its goal each may end.

        Returns:
            For each goal a cost in tenths of a step over grass, or None if no path leads there.
        """
        if reach or len(goals) < 2:
            return [self.cost(start, goal, reach=reach) for goal in goals]
        # The other way round: one field of the start answers for all goals.
        ground = self._ground
        own = ground.cost(start)
        if not own:
            return [None] * len(goals)
        values = [self._value((start, 0), goal, is_alone=False) if ground.cost(goal) else _FAR for goal in goals]
        return [None if value >= _FAR else value - own for value in values]

    def nearest_edge(self, start: Cell) -> Cell | None:
        """The cell on the edge of the world to which the cheapest path leads.

        Args:
            start: where it begins.
        """
        if self._way_out is None:
            values = self._spread(list(self._ground.edge()), 0, 0, self._cost, None)
            self._way_out = _Field(0, 0, values, 0, _FAR, None, 0)
        if not 0 <= self._way_out.at(start) < _FAR:
            return None
        return (start, *self._downhill(self._way_out, start))[-1]

    def neighbors(self, place: Cell) -> Sequence[Cell]:
        """The cells that one step leads to.

        Args:
            place: from here.
        """
        return self._steps[place][1]

    def distance(self, first: Cell, second: Cell) -> int:
        """How many steps two cells are apart at least.

        Args:
            first: one cell.
            second: another.
        """
        return abs(first[0] - second[0]) + abs(first[1] - second[1])

    # --- fields -------------------------------------------------------------------------------------------------------

    def _value(self, key: _Key, cell: Cell, most: int = _FAR, *, is_alone: bool = True) -> int:
        """What it costs to come from a cell; ``_FAR`` for more than ``most``, or if nothing leads there.

        ``is_alone`` unless others will ask about the same goal at once.
        """
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _Known()
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        field, beam, around = known.field, known.beam, _NEAR
        if field is not None:
            value = field.at(cell)
            if value >= 0:
                return value
            if field.exact >= most:
                return _FAR
            around = field.around * 2
        if beam is not None:
            value = beam.at(cell)
            if value >= 0:
                return value
        steps = self.distance(key[0], cell) - key[1]
        while around < steps:
            around *= 2
        is_first = is_alone and field is None and beam is None
        is_beam = is_first or (steps > _FAR_OFF and known.beams < _BEAMS)
        while True:
            found = self._field(key, around, cell if is_beam else None)
            value = found.at(cell)
            if value >= 0 or found.exact >= most:
                break
            around *= 2
        if is_beam:
            known.beam = found
            known.beams += 1
        else:
            known.field = found
        return value if value >= 0 else _FAR

    def _covering(self, key: _Key, start: Cell) -> _Field:
        """The field that knows the way from a cell from which there is one."""
        self._value(key, start)
        known = self._known[key]
        found = known.beam if known.field is None or known.field.at(start) < 0 else known.field
        assert found is not None
        return found

    def _field(self, key: _Key, around: int, to: Cell | None) -> _Field:
        """Compute a field over a window: so many cells around where the goal is reached, and their neighbors."""
        (column, row), reach = key
        width, height = self._cost.shape
        wide = around + 1 + reach
        left, top, right, bottom = column - wide, row - wide, column + wide + 1, row + wide + 1
        window = self._cost[max(0, left) : right, max(0, top) : bottom]
        values = self._spread(self._ends(key), max(0, left), max(0, top), window, to)
        # Where the window ends and the ground does not.
        borders = (
            (left > 0, values[0]),
            (top > 0, values[:, 0]),
            (right < width, values[-1]),
            (bottom < height, values[:, -1]),
        )
        exact = min((int(border.min()) - 1 for is_open, border in borders if is_open), default=_FAR)
        return _Field(max(0, left), max(0, top), values, around, min(exact, _FAR), to, self._pull)

    def _ends(self, key: _Key) -> list[Cell]:
        (column, row), reach = key
        return [
            (x, y)
            for x in range(column - reach, column + reach + 1)
            for y in range(row - reach + abs(x - column), row + reach - abs(x - column) + 1)
        ]

    def _spread(self, ends: list[Cell], left: int, top: int, cost: numpy.ndarray, to: Cell | None) -> numpy.ndarray:
        """Compute the values of a field over a window of the ground; if only as far as ``to``, towards that.

        They stand in an array that the next window of that shape takes: to be copied before.
        """
        self.searches += 1
        # To make a graph and its arrays takes as long as to spread over a small window, and costs are looked at when
        # it spreads: so there is one for each shape of a window, and the costs and where it begins are put into it.
        kept = self._searches.get(cost.shape)
        if kept is None:
            if len(self._searches) >= _SHAPES:
                self._searches.clear()
            kept = self._searches[cost.shape] = self._search(cost.shape)
        costs, search = kept
        costs[:] = cost
        # Not by ``clear`` and ``add_root``: they make the array of directions anew, at which nobody looks here.
        values = search.distance
        values.fill(_UNKNOWN)
        for column, row in ends:
            own = self._ground.cost((column, row))
            if own:
                values[column - left, row - top] = own
        search.rebuild_frontier()
        search.resolve(None if to is None else (to[0] - left, to[1] - top))
        return values

    def _search(self, shape: tuple[int, ...]) -> tuple[numpy.ndarray, tcod.path.Pathfinder]:
        """A search over windows of one shape, and the array into which their costs are put."""
        costs = numpy.empty(shape, numpy.int32)
        graph = tcod.path.SimpleGraph(cost=costs, cardinal=1, diagonal=0)
        graph.set_heuristic(cardinal=self._pull, diagonal=2 * self._pull)
        return costs, tcod.path.Pathfinder(graph)
