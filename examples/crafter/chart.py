"""The map of the live view: what the player knows, as cells of a sign and two colors. It only looks.

``cells`` decides what is seen where; the screen colors it, and tests read the signs. From below:

* the ground as it is remembered, dimmed, and darker by night; what nobody has seen is dark, and beyond the end of the
  world there is nothing at all;
* the nine by seven cells that the player sees at this moment, bright; those among them that the night hides keep what
  is remembered, veiled;
* cows that were seen there once, small; saplings, and plants that should be ripe by now, which is what it counts;
* creatures in view, and the player as an arrow that points where it looks.

Colors are ``(red, green, blue)``. Signs are one column wide; the screen draws each cell two columns wide, which is
about square in most terminals.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from examples.crafter.eyes import DAY, VIEW, darkness
from examples.crafter.player import Player
from examples.crafter.reach import Cell
from examples.crafter.rules import CREATURES, EDGE, MATERIALS, RULES, UNKNOWN

__all__ = ["Glyph", "cells"]

Color = tuple[int, int, int]


class Glyph(NamedTuple):
    """What is seen in one cell.

    Attributes:
        sign: one character.
        color: of the sign.
        ground: of what lies behind it.
        bold: whether the sign is bold.
    """

    sign: str
    color: Color
    ground: Color
    bold: bool = False


_ROCK: Final[Color] = (112, 112, 116)
_GROUND: Final = {
    "water": Glyph("~", (110, 165, 235), (46, 98, 180)),
    "grass": Glyph(".", (96, 158, 76), (66, 122, 54)),
    "stone": Glyph("#", (132, 132, 136), _ROCK),
    "path": Glyph(" ", (150, 132, 108), (142, 124, 98)),
    "sand": Glyph(":", (222, 210, 160), (200, 186, 132)),
    "tree": Glyph("\N{BLACK CLUB SUIT}", (112, 178, 88), (30, 76, 34)),
    "lava": Glyph("%", (255, 226, 110), (214, 82, 20)),
    "coal": Glyph("o", (16, 16, 18), _ROCK, bold=True),
    "iron": Glyph("i", (255, 190, 130), _ROCK, bold=True),
    "diamond": Glyph("\N{BLACK DIAMOND SUIT}", (240, 252, 255), _ROCK, bold=True),
    "table": Glyph("T", (255, 226, 170), (128, 84, 44), bold=True),
    "furnace": Glyph("F", (255, 170, 90), (66, 64, 68), bold=True),
}
_KNOWN: Final = {MATERIALS[name]: glyph for name, glyph in _GROUND.items()}
_NOWHERE: Final = Glyph(" ", (0, 0, 0), (0, 0, 0))
_DARK: Final = Glyph(" ", (28, 30, 36), (18, 20, 25))

_CREATURES: Final[dict[str, tuple[str, Color]]] = {
    "cow": ("C", (255, 240, 225)),
    "zombie": ("Z", (120, 255, 120)),
    "skeleton": ("S", (250, 250, 250)),
    "arrow": ("*", (255, 255, 140)),
}
_SIGNS: Final = {CREATURES[name]: look for name, look in _CREATURES.items()}
_COW_ONCE: Final[Color] = (226, 206, 190)
_SAPLING: Final = ("+", (190, 255, 130))
_RIPE: Final = ("\N{BLACK SPADE SUIT}", (255, 214, 90))
_VEIL: Final = ("\N{LIGHT SHADE}", (54, 62, 100))
_FACES: Final = {(-1, 0): "\N{BLACK LEFT-POINTING TRIANGLE}", (1, 0): "\N{BLACK RIGHT-POINTING TRIANGLE}",
                 (0, -1): "\N{BLACK UP-POINTING TRIANGLE}", (0, 1): "\N{BLACK DOWN-POINTING TRIANGLE}"}  # fmt: skip
_WHITE: Final[Color] = (255, 255, 255)
_NIGHT: Final[Color] = (8, 12, 40)
_MEMORY: Final = 0.6  # how much of its color is left to what is only remembered


def cells(player: Player, columns: int, rows: int) -> list[list[Glyph]]:
    """What the player knows of the cells around it, row by row.

    Args:
        player: it.
        columns: how many cells in a row; the player stands in the middle one.
        rows: how many rows.
    """
    left, top = player.place[0] - columns // 2, player.place[1] - rows // 2
    shown = [[_ground(player, (left + x, top + y)) for x in range(columns)] for y in range(rows)]

    def put(cell: Cell, sign: str, color: Color, *, bold: bool = True) -> None:
        x, y = cell[0] - left, cell[1] - top
        if 0 <= x < columns and 0 <= y < rows:
            shown[y][x] = Glyph(sign, color, shown[y][x].ground, bold)

    for cell in player.atlas.herd:
        put(cell, "c", _COW_ONCE, bold=False)
    for cell, grown in player.atlas.plants.items():
        put(cell, *(_RIPE if grown > RULES["ripe_after"] else _SAPLING))
    for cell, kind in player.atlas.creatures.items():
        put(cell, *_SIGNS[kind])
    put(player.place, "z" if player.is_asleep else _FACES[player.facing], _WHITE)
    return shown


def _ground(player: Player, cell: Cell) -> Glyph:
    known = player.atlas.ground
    inside = 0 <= cell[0] < known.shape[0] and 0 <= cell[1] < known.shape[1]
    number = int(known[cell]) if inside else EDGE
    if number == EDGE:
        return _NOWHERE
    x, y = cell[0] - player.place[0] + VIEW[0] // 2, cell[1] - player.place[1] + VIEW[1] // 2
    is_near = 0 <= x < VIEW[0] and 0 <= y < VIEW[1]
    is_hidden = is_near and bool(darkness()[player.step % DAY][x, y])
    glyph = _DARK if number == UNKNOWN else _KNOWN[number]
    share = (1.0 if is_near and not is_hidden else _MEMORY) * (0.6 + 0.4 * min(1.0, 2.0 * player.light))
    color, ground = _toward_night(glyph.color, share), _toward_night(glyph.ground, share)
    if is_hidden:
        return Glyph(_VEIL[0], _VEIL[1], ground)
    return Glyph(glyph.sign, color, ground, glyph.bold)


def _toward_night(color: Color, share: float) -> Color:
    red, green, blue = (int(part * share + night * (1.0 - share)) for part, night in zip(color, _NIGHT, strict=True))
    return red, green, blue
