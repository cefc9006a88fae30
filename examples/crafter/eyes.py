"""What a player of Crafter sees, and nothing else.

After each step the game returns a picture and a dictionary. The dictionary has more than a player sees: the whole world
in symbols, and where the player stands in it. ``Eyes`` is the only place that touches it, and this is all it takes:

* of the symbols, the nine by seven cells around the player, which are those that the picture shows; each is a material
  or a creature. A creature hides the ground that it stands on;
* of the place, how far the picture has scrolled since the step before. Where it stands, the player has to know itself;
* the inventory with the four bars, which is drawn below the view;
* of the picture, whether the player is drawn in gray, which is how one sees that it sleeps.

At night the game draws noise over the picture, more of it toward the rim. A cell whose picture is noise by more than
three quarters is ``HIDDEN``: that is the same formula that the game draws by, computed once for each step of a day. So
by midnight a player sees seven by five cells.

Its facing is drawn too, but it is what the player did last, and so it is left to the player.

``tests/crafter/test_eyes.py`` puts garbage into everything outside the view and plays the same episode again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from examples.crafter.rules import EDGE, HIDDEN

__all__ = ["DAY", "VIEW", "Cells", "Eyes", "Sight", "darkness", "daylight"]

Cells = np.ndarray[Any, np.dtype[np.uint8]]

VIEW: Final = (9, 7)
DAY: Final = 300  # steps
_NOISE: Final = 0.75  # the share of noise from which on a cell cannot be read
_UNIT: Final = 7  # pixels of a cell, in the picture of 64 by 64 that the game returns
_HERE: Final = (slice(3 * _UNIT, 4 * _UNIT), slice(4 * _UNIT, 5 * _UNIT))  # rows and columns of the player's own cell


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen after one step.

    Attributes:
        step: how many steps the episode has had.
        cells: nine by seven numbers, ``cells[x, y]``, the player in the middle at (4, 3).
        scrolled: by how many cells the picture has moved since the step before, as (x, y) of the player.
        is_asleep: whether the player is drawn asleep.
        inventory: how much of each item, and the four bars, each from 0 to 9.
    """

    step: int
    cells: Cells
    scrolled: tuple[int, int]
    is_asleep: bool
    inventory: dict[str, int]


def daylight(step: int) -> float:
    """How light it is, from 0 to 1.

    Args:
        step: of the episode.

    Source: Crafter 1.8.3, the formula of its day of 300 steps.
    """
    return _LIGHT[step % DAY]


_LIGHT: Final = [1.0 - abs(math.cos(math.pi * (step / DAY + 0.3))) ** 3 for step in range(DAY)]


@cache
def darkness() -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For each step of a day, which cells cannot be read."""
    width, height = (side * _UNIT for side in VIEW)
    x, y = np.meshgrid(np.linspace(-1, 1, width), np.linspace(-1, 1, height), indexing="ij")
    rim = 1.0 - np.exp(-2.0 * (x * x + y * y))
    cells = rim.reshape(VIEW[0], _UNIT, VIEW[1], _UNIT).mean(axis=(1, 3))
    noise = [2.0 * max(0.0, 0.5 - daylight(step)) for step in range(DAY)]
    # To the last bit the exponential may differ between machines; no cell is that near to the limit.
    return np.array([amount * cells > _NOISE for amount in noise])


class Eyes:
    """The eyes of one player in one episode."""

    def __init__(self) -> None:
        self._dark = darkness()
        self._is_dim: list[bool] = [bool(hidden.any()) for hidden in self._dark]
        self._steps = 0
        self._at: tuple[int, int] | None = None

    def see(self, picture: Any, info: dict[str, Any]) -> Sight:
        """Look at what the game returned.

        Args:
            picture: 64 by 64 pixels of 3 bytes, as returned by a step of the game.
            info: the dictionary that was returned with it.

        Returns:
            What a player sees of it.
        """
        self._steps += 1
        symbols = info["semantic"]
        x, y = info["player_pos"].tolist()
        left, top = x - VIEW[0] // 2, y - VIEW[1] // 2
        width, height = symbols.shape
        part = symbols[max(left, 0) : min(left + VIEW[0], width), max(top, 0) : min(top + VIEW[1], height)]
        if part.shape == VIEW:
            cells = part.copy()
        else:
            cells = np.full(VIEW, EDGE, np.uint8)
            column, row = max(-left, 0), max(-top, 0)
            cells[column : column + part.shape[0], row : row + part.shape[1]] = part
        if self._is_dim[self._steps % DAY]:
            cells[self._dark[self._steps % DAY] & (cells != EDGE)] = HIDDEN
        before = self._at or (width // 2, height // 2)  # a player begins in the middle
        self._at = (x, y)
        here = picture[_HERE]
        is_asleep = bool(here[3, 3, 0] == here[3, 3, 1]) and bool((here[..., 0] == here[..., 1]).all())
        return Sight(self._steps, cells, (x - before[0], y - before[1]), is_asleep, info["inventory"])
