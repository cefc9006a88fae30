"""The map of the town: a chart of letters, and where its places are.

The ground is the colony's (``Ground``: costs of steps, neighbors, the edge), and so are its paths; what is the town's
own stands here: which cells belong to which place. A wolf has a ground of its own, on which houses are closed.
"""

from __future__ import annotations

from typing import Final

from agentrt_examples.colony.terrain import Cell, Ground

__all__ = ["CHART", "FOR_ALL", "FOR_WOLVES", "PLACES", "ground_for"]

CHART: Final = """\
TTTTTTTTTT..TTTTTTTTTTTTTTT.TTTTTTTTTTTT
T......................................T
T..#####..#####..#####T.#######..#####.T
T..#1_2#..#3_4#..#5_6#..#MMMMM#..#SSS#.T
T..##+##..##+##..##+##..###+###T.##+##.T
T....:......:......:.......:.......:...T
::::::::::::::::::::::::::::::::::::::::
T...........:.T..........T.:........T..T
T.########..:..qqqqqqqqqq..:.#######...T
T.#IIIIII#..:..qqqqqqqqqq..:.#BBBBB#.~~T
..#II__II+:::..qqqqqqqqqq..::+BBBBB#.~~T
..#IIIIII#..:::qqqqWqqqqq:::.#######...T
T.########..:..qqqqqqqqqq..:.#######....
T.......T...:..qqqqqqqqqq..::+LLLLL#...T
T.~~~.......:..qqqqqqqqqq..:.#LLLLL#.T.T
T.~~~~......:..............:.#######...T
::::::::::::::::::::::::::::::::::::::::
T....:......:......:...........T.......T
T..##+##..##+##..##+##...fffffffffffff.T
T..#7_8#..#9_a#..#b_c#...fffffffffffff.T
T..#####..#####..#####...fffffffffffff.T
T.T.....T......T.........fffffffffffff.T
T......................T...............T
TTTTT..TTTTTTTTTTTTTTTTTTT..TTTTTTTTTTTT
"""

FOR_ALL: Final = dict.fromkeys("123456789abcIMSBL", "_") | {"q": ":", "W": "~"}
"""Letters of this chart that are no terrain of the colony's, and the ground that they stand on."""

FOR_WOLVES: Final = FOR_ALL | dict.fromkeys("123456789abcIMSBL_+", "#")
"""The same for a wolf: it enters no house."""

_NAMED: Final = {"I": "inn", "M": "mill", "S": "smithy", "B": "bakery", "L": "school", "q": "square", "f": "farm"}


def ground_for(letters: dict[str, str]) -> Ground:
    """The ground of the chart, with its letters read in one way or another."""
    return Ground("".join(letters.get(letter, letter) for letter in CHART))


def _places() -> dict[str, tuple[Cell, ...]]:
    found: dict[str, list[Cell]] = {}
    for row, letters in enumerate(CHART.splitlines()):
        for column, letter in enumerate(letters):
            name = _NAMED.get(letter, f"home {letter}" if letter in "123456789abc" else "")
            if name:
                found.setdefault(name, []).append((column, row))
            elif letter == "W":
                found["well"] = [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
    return {name: tuple(cells) for name, cells in found.items()}


PLACES: Final[dict[str, tuple[Cell, ...]]] = _places()
"""The cells of each place, by its name: ``inn``, ``well``, ``home 3``."""
