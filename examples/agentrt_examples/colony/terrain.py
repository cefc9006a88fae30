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
    "t": Terrain("tower", 0),
}

# What stands on a cell, and on which ground it stands.
MARKS: dict[str, str] = {"b": "_", "k": "_", "c": "_", "+": "_", "g": "_", "h": "."}

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
TT..kkKKk..ssss:......:.............TTTT
T...kkkkk..ssss:....ffffff...........T..
....ccccc..ssss:....ffffff..............
....ccccc..ssss:....ffffff.........~~~..
T..............:....ffffff........~~~~~~
TT.........h....gggg.............~~~~~~~
T...............gggg............~~~~~~~~
..h..TT......................h.~~~~~~~~~
....TTT.......h...t...........~~~~~~~~~~
T....T.........................~~~~~~~~~
TTT...h....TT......TTT....TT....~~~~~~~T
TTTTTTTT..TTTTTTTTTTTTTTTTTTTTT..TTTTTTT
"""


class Ground:
    """A chart that was read.

    Args:
        chart: rows of letters, all of the same length.

    Attributes:
        width: columns.
        height: rows.

    Raises:
        ValueError: a row has another length, or a letter is unknown.
    """

    __slots__ = ("_letters", "_terrain", "height", "width")

    def __init__(self, chart: str = CHART) -> None:
        self._letters = chart.splitlines()
        self.height = len(self._letters)
        self.width = len(self._letters[0])
        self._terrain: list[list[Terrain]] = []
        for number, row in enumerate(self._letters):
            if len(row) != self.width:
                raise ValueError(f"row {number} of the chart has {len(row)} letters, row 0 has {self.width}")
            unknown = sorted(set(row) - TERRAINS.keys() - MARKS.keys())
            if unknown:
                raise ValueError(f"row {number} of the chart has letters that mean nothing: {''.join(unknown)}")
            self._terrain.append([TERRAINS[MARKS.get(letter, letter)] for letter in row])

    def __contains__(self, cell: object) -> bool:
        return isinstance(cell, tuple) and len(cell) == 2 and 0 <= cell[0] < self.width and 0 <= cell[1] < self.height

    def terrain(self, cell: Cell) -> Terrain:
        """What a cell is.

        Args:
            cell: column and row, inside the chart.
        """
        return self._terrain[cell[1]][cell[0]]

    def cost(self, cell: Cell) -> int:
        """What a step onto a cell costs; 0 for a cell where nobody walks, or outside the chart.

        Args:
            cell: column and row.
        """
        return self._terrain[cell[1]][cell[0]].cost if cell in self else 0

    def marked(self, letter: str) -> list[Cell]:
        """The cells with one letter in the chart, row by row.

        Args:
            letter: terrain or mark.
        """
        return [
            (column, row)
            for row in range(self.height)
            for column in range(self.width)
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
