"""The ground of the colony: a chart of letters, read once, that says what every cell is.

Rules: a cell is ``(column, row)``, counted from the upper left corner; the ground never changes during a run,
so that whatever is computed from it (paths above all) may be kept; what *does* change (crops, items, animals)
stands on it as entities. ``cost`` is what one step onto a cell costs, in tenths of a step over grass: a whole
number, because paths are compared by it and the comparison has to come out the same on every machine. A cost
of 0 means: nobody walks here.

The chart is text in this module, and not a data file, because it is the one picture of the world that every
reader of this package wants to look at first. Letters that are not terrain (``b`` a bed, ``h`` a herb bush,
...) mark what stands there; ``MARKS`` says on which ground.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["CHART", "MARKS", "TERRAINS", "Cell", "Ground", "Terrain"]

Cell = tuple[int, int]


class Terrain(NamedTuple):
    """A kind of ground.

    Attributes:
        name: for people.
        cost: what a step onto it costs, in tenths of a step over grass; 0 if nobody can walk there.
    """

    name: str
    cost: int


TERRAINS: dict[str, Terrain] = {
    ".": Terrain("grass", 10),
    ":": Terrain("path", 7),
    "_": Terrain("floor", 8),
    "f": Terrain("field", 12),
    "s": Terrain("stockpile", 9),
    "T": Terrain("tree", 0),
    "~": Terrain("water", 0),
    "^": Terrain("rock", 0),
    "#": Terrain("wall", 0),
    "K": Terrain("hearth", 0),
    "F": Terrain("fire", 0),
    "t": Terrain("tower", 0),
}

# What stands on a cell, and on which ground it stands.
MARKS: dict[str, str] = {"b": "_", "k": "_", "c": "_", "+": "_", "g": "_", "h": ".", "n": "."}

CHART = """\
TTTTTTTTT..TTTTTTTTT...TTTTTTTTT..TTTTTT
TTTT.h.........TTT.........TT....h..TTTT
TT..................................^^TT
T....................................^^T
....#########..........ffffff........^^^
....#bbb_bbb#....t.....ffffff.........^^
T...#_______#..........ffffff..........^
T...#bbb_bbb#..........ffffff........h.T
TT..####+####....h.....ffffff..........T
T.......:.......................t.......
........:.............:.................
T.......:::::::::::::::::............T..
T.......:......:......:..............TTT
TT..kkKKk..ssss:..F...:.............TTTT
T...kkkkk..ssss:....ffffff...........T..
....ccccc..ssss:....ffffff..............
....ccccc..ssss:....ffffff.........~~~..
T..............:....ffffff........~~~~~~
TT.........h....gggg.............~~~~~~~
T...............gggg............~~~~~~~~
..h..TT......................h.~~~~~~~~~
....TTT..n....h...t...........~~~~~~~~~~
T....T.........................~~~~~~~~~
TTT...h....TT......TTT....TT....~~~~~~~T
TTTTTTTT..TTTTTTTTTTTTTTTTTTTTT..TTTTTTT
"""


class Ground:
    """A chart that was read.

    Args:
        chart: rows of letters, all of the same length.
        across: how often the chart is repeated side by side.
        down: how often it is repeated one below the other.

    Attributes:
        width: columns.
        height: rows.
        parts: the upper left cell of each repetition of the chart.
        cheapest: the cost of the cheapest step that there is.

    Raises:
        ValueError: a row has another length, or a letter is unknown.
    """

    __slots__ = ("_across", "_costs", "_down", "_letters", "cheapest", "height", "parts", "width")

    def __init__(self, chart: str = CHART, across: int = 1, down: int = 1) -> None:
        self._across, self._down = across, down
        rows = chart.splitlines()
        self.parts = [(part * len(rows[0]), row * len(rows)) for row in range(down) for part in range(across)]
        self._letters = [row * across for row in rows] * down
        self.height = len(self._letters)
        self.width = len(self._letters[0])
        self._costs: dict[Cell, int] = {}
        for number, row in enumerate(self._letters):
            if len(row) != self.width:
                raise ValueError(f"row {number} of the chart has {len(row)} letters, row 0 has {self.width}")
            unknown = sorted(set(row) - TERRAINS.keys() - MARKS.keys())
            if unknown:
                raise ValueError(f"row {number} of the chart has letters that mean nothing: {''.join(unknown)}")
            for column, letter in enumerate(row):
                self._costs[column, number] = TERRAINS[MARKS.get(letter, letter)].cost
        self.cheapest = min(cost for cost in self._costs.values() if cost)

    def __contains__(self, cell: object) -> bool:
        return cell in self._costs

    def terrain(self, cell: Cell) -> Terrain:
        """What a cell is.

        Args:
            cell: column and row, inside the chart.
        """
        letter = self._letters[cell[1]][cell[0]]
        return TERRAINS[MARKS.get(letter, letter)]

    def cost(self, cell: Cell) -> int:
        """What a step onto a cell costs; 0 for a cell where nobody walks, or outside the chart.

        Args:
            cell: column and row.
        """
        return self._costs.get(cell, 0)

    def marked(self, letter: str) -> list[Cell]:
        """The cells with one letter in the chart: those of the first part row by row, then those of the next.

        Args:
            letter: terrain or mark.
        """
        width, height = self.width // self._across, self.height // self._down
        return [
            (column, row)
            for left, top in self.parts
            for row in range(top, top + height)
            for column in range(left, left + width)
            if self._letters[row][column] == letter
        ]

    def neighbors(self, cell: Cell) -> list[Cell]:
        """The cells that one step leads to: up, right, down, left, in this order.

        Args:
            cell: column and row.
        """
        column, row = cell
        around = ((column, row - 1), (column + 1, row), (column, row + 1), (column - 1, row))
        return [near for near in around if self.cost(near)]

    def edge(self) -> Iterator[Cell]:
        """The walkable cells of the outermost ring, clockwise from the upper left corner: where strangers come from."""
        right, bottom = self.width - 1, self.height - 1
        ring = [(column, 0) for column in range(self.width)]
        ring += [(right, row) for row in range(1, self.height)]
        ring += [(column, bottom) for column in range(right - 1, -1, -1)]
        ring += [(0, row) for row in range(bottom - 1, 0, -1)]
        return (cell for cell in ring if self.cost(cell))
