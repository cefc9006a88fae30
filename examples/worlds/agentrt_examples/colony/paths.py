"""Paths over the ground, from distance fields that tcod (the roguelike library) computes.

A *field* belongs to a goal: for every cell what it costs to come from there. One field answers for everybody who goes
to that goal, and the ground never changes, so fields are kept, the last ones that were asked for. In a colony most
goals (plots, shelves, beds, the hearth) stay where they are: after a while nearly every question is one look into an
array, and a path is found by walking downhill.

A field is spread over a window around its goal. Whoever leaves the window comes back to the goal over a cell of its
border, so it is exact for what costs less than the cheapest of those. A question beyond it makes a window twice as
wide, and so on up to the whole ground.

What moves (prey, patients, whoever carries something) is a new goal at every step, about which somebody asks once or
twice, and a window around it that reaches to who asks from far away is mostly beside the way. So the first question
about a goal, and the first few from far away, are answered by a *beam*: a field over the window around the goal and who
asks. Whoever leaves it has come over a cell of its border, and has left at least the cheapest steps from there to who
asks. Let ``bound`` be the least that this comes to on the border: a cell whose value, and the cheapest steps from it to
who asked, come to less is one where the beam is exact; and the cheapest paths from such a cell, all of them, lead over
such cells alone.

Rules:

* All numbers are whole, and of neighbors that lie equally well the first is taken: the answers depend on the ground
  and on nothing else, not on what was asked before, the machine, or the hash seed.
* Steps go up, right, down and left; there are no diagonals, so nobody squeezes between two corners.
* A step costs what the cell costs that it leads to. Backwards, from the goal, the costs of the cells are the same but
  for the first and the last one; so a field is computed backwards, counts the goal's own cell as well, and the cost
  from a cell is what the field says there less the cost of that cell itself.

Fields are what libtcod's own Dijkstra finds, ``tcod.path.Dijkstra``, and are read from its array at once. It knows one
root, and what its steps cost are floats that it turns into whole numbers: the comments in ``_spread`` say how it is
made to answer for several ends.

Rejected, of what was measured: ``tcod.path.Pathfinder`` (four times as many instructions a cell, and eight times as
long: more even with A*, which comes to half of the cells); ``numpy.minimum.accumulate`` along rows and columns until
nothing changes (four rounds for a small window, twelve for a ground, each dearer than the search); a search from each
cell on which somebody stands and thinks (ten times as many searches as there are goals); ``tcod.path.dijkstra2d`` (no
faster than the Pathfinder, and tcod 21 never gives back four kilobytes of each call); ``pathfinding`` (pure Python, and
it stops by a wall-clock limit), ``networkx``, ``rustworkx`` and ``scipy`` (a graph is a detour for a grid).

tcod comes with the extra ``demo``. Its arrays are indexed ``[column, row]`` here, so that a cell is an index.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import Field
from typing import Any, ClassVar

import numpy
import tcod.path
from tcod.cffi import ffi

from agentrt import Signal
from agentrt_actions import Path
from agentrt_examples.colony.terrain import Cell, Ground

__all__ = ["GridPathFinder"]

_NEAR = 8  # cells around a goal; where it was measured, with 6 and 10 searches look at more of them
_PART = 5  # of the way: a beam is so much wider than it; with 4 and 6 searches look at more cells
_FAR_OFF = 24  # from farther away than so many cells
_BEAMS = 4  # of one goal; whoever is asked about more often stays where it is
_KEPT = 24_000_000  # cells of fields, at two bytes each
_MOST = 4096  # fields
_SHAPES = 256  # windows that lie at the edge of the ground have many
_FAR = (1 << 16) - 1

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
        to: the cell towards which a beam leads; None for what is none.
        bound: what a cell's value and the least that is left from it to there come to, where the window cannot tell.
        pull: the least that a step costs.
    """

    __slots__ = (
        "around", "base", "bottom", "bound", "ends", "exact", "left", "pull", "right", "stride", "to", "top", "values",
    )  # fmt: skip

    def __init__(self, left: int, top: int, values: numpy.ndarray, around: int) -> None:
        width, self.stride = values.shape
        self.left, self.right = left, left + width - 2
        self.top, self.bottom = top, top + self.stride - 2
        self.base = (1 - left) * self.stride + 1 - top
        self.values = values.ravel().data  # a memory view gives Python's own numbers, three times as fast as the array
        self.around = around
        self.exact = _FAR
        self.ends: dict[Cell, Cell] = {}
        self.to: Cell | None = None
        self.bound = self.pull = 0

    def at(self, cell: Cell) -> int:
        """The value of a cell; -1 if the window cannot tell.

        Args:
            cell: column and row.
        """
        column, row = cell
        if self.left <= column < self.right and self.top <= row < self.bottom:
            value: int = self.values[column * self.stride + row + self.base]
            if value <= self.exact:
                return value
            to = self.to
            if to is not None and value + self.pull * (abs(column - to[0]) + abs(row - to[1])) < self.bound:
                return value
        return -1


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


_SIDES = numpy.s_[0], numpy.s_[-1], numpy.s_[:, 0], numpy.s_[:, -1]


def _along(values: numpy.ndarray, sides: Sequence[Any]) -> numpy.ndarray:
    """The values along some sides of a window, in one row: numpy takes as long to be called as to look at them."""
    return numpy.concatenate([values[side] for side in sides])


def _weight(cost: Any) -> Any:
    """What libtcod has to be told of a cost.

    It takes a hundred times that, as a float, and of the product what is before the point: with the half in between, no
    rounding on any machine makes another number of it.
    """
    return (cost + 0.5) / 100


def _diamond(middle: Cell, steps: int) -> list[Cell]:
    """The cells that are so few steps from one."""
    column, row = middle
    return [
        (x, y)
        for x in range(column - steps, column + steps + 1)
        for y in range(row - steps + abs(x - column), row + steps - abs(x - column) + 1)
    ]


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
        cost = numpy.zeros((ground.width + 2, ground.height + 2), dtype=numpy.uint16)
        cost[1:-1, 1:-1] = [[ground.cost((x, y)) for y in range(ground.height)] for x in range(ground.width)]
        self._costs = cost.ravel().data
        self._cost = cost[1:-1, 1:-1]
        self._weight = numpy.where(self._cost, _weight(self._cost), 0).astype(numpy.float32)
        steps = numpy.abs(numpy.arange(1 - ground.width, ground.width, dtype=numpy.int32))[:, None]
        steps = steps + numpy.abs(numpy.arange(1 - ground.height, ground.height, dtype=numpy.int32))
        self._least = steps * ground.cheapest  # what it costs at least to come so many columns and rows farther
        self._most = max(1, min(_MOST, _KEPT // 2 // (ground.width * ground.height)))
        self._known: OrderedDict[_Key, _Known] = OrderedDict()
        self._way_out: _Field | None = None
        self._searches: dict[tuple[int, int], tuple[numpy.ndarray, tcod.path.Dijkstra, numpy.ndarray]] = {}
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
        if not own or goal not in self._ground:
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
        values = [self._value((start, 0), goal) if ground.cost(goal) else _FAR for goal in goals]
        return [None if value >= _FAR else value - own for value in values]

    def nearest_edge(self, start: Cell) -> Cell | None:
        """The cell on the edge of the world to which the cheapest path leads.

        Args:
            start: where it begins.
        """
        if self._way_out is None:
            self._way_out = self._leading_out()
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

    def _value(self, key: _Key, cell: Cell, most: int = _FAR) -> int:
        """What it costs to come from a cell; ``_FAR`` for more than ``most``, or if nothing leads there."""
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
        return self._ask(known, key, cell, most, around)

    def _ask(self, known: _Known, key: _Key, cell: Cell, most: int, around: int) -> int:
        """The same, by a new field or beam."""
        steps = self.distance(key[0], cell) - key[1]
        is_first = known.field is None and known.beam is None
        is_beam = is_first or (steps > _FAR_OFF and known.beams < _BEAMS)
        if is_beam:
            around = max(_NEAR, steps // _PART)
        else:
            while around < steps:
                around *= 2
        while True:
            found = self._field(key, around, cell if is_beam else None)
            value = found.at(cell)
            if value >= 0 or max(found.exact, found.bound - 1) >= most:
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
        """Compute a field over a window: so many cells around where the goal is reached, and around ``to``."""
        (column, row), reach = key
        width, height = self._cost.shape
        wide = around + 1 + reach
        one, other = (column, row) if to is None else to
        left, right = max(0, min(column, one) - wide), min(width, max(column, one) + wide + 1)
        top, bottom = max(0, min(row, other) - wide), min(height, max(row, other) + wide + 1)
        values = self._spread(key, left, top, right, bottom)
        field = _Field(left, top, values, around)
        # Where the window ends and the ground does not.
        open_sides = [
            side
            for side, is_open in zip(_SIDES, (left > 0, right < width, top > 0, bottom < height), strict=True)
            if is_open
        ]
        if not open_sides:
            return field
        border = _along(values[1:-1, 1:-1], open_sides)
        least = int(border.min())
        if least == _FAR:
            return field
        field.exact = least - 1
        if to is not None:
            x, y = width - 1 - one, height - 1 - other
            still = _along(self._least[x + left : x + right, y + top : y + bottom], open_sides)
            field.to, field.pull, field.bound = to, self._ground.cheapest, int((border + still).min())
        return field

    def _spread(self, key: _Key, left: int, top: int, right: int, bottom: int) -> numpy.ndarray:
        """Compute the values of a field over a window of the ground, with a border of one cell around them."""
        self.searches += 1
        (column, row), reach = key
        # What is nearer to the goal than that is where a path may end as well: its value is its own cost, whatever
        # leads there. In the search each step between the goal and them costs 1, nobody's cell or not; so all that lie
        # farther away have one for each of these steps too much. Not 0: with such a step libtcod's sorting runs past
        # the beginning of its list.
        inside = [
            ((x, y), (x - left, y - top))
            for x, y in _diamond((column, row), reach - 1)
            if left <= x < right and top <= y < bottom
        ]
        costs, search, reached = self._search((right - left, bottom - top))
        costs[:] = self._weight[left:right, top:bottom]
        for _, at in inside:
            costs[at] = _weight(1)
        search.set_goal(column - left, row - top)
        bordered = numpy.full((right - left + 2, bottom - top + 2), _FAR, dtype=numpy.uint16)
        values = bordered[1:-1, 1:-1]
        if reach:
            values[:] = numpy.minimum(reached, _FAR + reach - 1) - (reach - 1)
        elif own := self._ground.cost((column, row)):
            values[:] = numpy.minimum(reached, _FAR - own) + own
        for cell, at in inside:
            values[at] = self._ground.cost(cell) or _FAR
        return bordered

    def _search(self, shape: tuple[int, int]) -> tuple[numpy.ndarray, tcod.path.Dijkstra, numpy.ndarray]:
        """A search over windows of one shape, the array of the costs there, and that of what it finds.

        To make it takes as long as a search of a small window, and costs are looked at when it searches: so there is
        one for each shape, and the costs are put into it.
        """
        kept = self._searches.get(shape)
        if kept is None:
            if len(self._searches) >= _SHAPES:
                self._searches.clear()
            costs = numpy.empty(shape, numpy.float32)
            search = tcod.path.Dijkstra(costs, 0)
            # As libtcod's header says: an int for each cell, row by row; -1 where nobody comes from, here the greatest.
            found = numpy.frombuffer(ffi.buffer(search._path_c.distances, 4 * costs.size), numpy.uint32)
            kept = self._searches[shape] = costs, search, found.reshape(shape[::-1]).T
        return kept

    def _leading_out(self) -> _Field:
        """The field of all cells of the edge at once, over the whole ground."""
        search = tcod.path.Pathfinder(
            tcod.path.SimpleGraph(cost=self._cost.astype(numpy.int32), cardinal=1, diagonal=0)
        )
        for cell in self._ground.edge():
            search.add_root(cell, self._ground.cost(cell))
        search.resolve()
        values = numpy.minimum(search.distance, _FAR).astype(numpy.uint16)
        return _Field(0, 0, numpy.pad(values, 1, constant_values=_FAR), 0)
