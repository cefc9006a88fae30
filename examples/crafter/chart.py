"""The map that the player has in its head, as the drawing that its world offers. It only looks.

The inspector's page shows all of it, the live view of the terminal (``screen``) a part around the player. From below:

* the ground as it is remembered, dimmed, and darker by night; what nobody has seen is dark, and beyond the end of the
  world there is nothing at all;
* the nine by seven cells that the player sees at this moment, bright; those among them that the night hides keep what
  is remembered, veiled;
* cows that were seen there once, small; saplings, and plants that should be ripe by now, which is what it counts; the
  way that it goes;
* creatures in view, and the player as an arrow that points where it looks.

Signs are one column wide; the screen draws each cell two columns wide, which is about square in most terminals.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agentrt.drawing import Drawing, Glyph, Mark, Tile, Tiles, glyphs
from examples.crafter.eyes import DAY, VIEW, darkness
from examples.crafter.player import Player
from examples.crafter.reach import RIM, SIDE, Cell
from examples.crafter.rules import CREATURES, EDGE, MATERIALS, RULES, UNKNOWN

__all__ = ["cells", "draw"]

Color = tuple[int, int, int]

_ROCK: Final[Color] = (112, 112, 116)
_GROUND: Final[dict[str, tuple[str, Color, Color]]] = {  # of each material the sign, its color, and that of the ground
    "water": ("~", (110, 165, 235), (46, 98, 180)),
    "grass": (".", (96, 158, 76), (66, 122, 54)),
    "stone": ("#", (132, 132, 136), _ROCK),
    "path": (" ", (150, 132, 108), (142, 124, 98)),
    "sand": (":", (222, 210, 160), (200, 186, 132)),
    "tree": ("\N{BLACK CLUB SUIT}", (112, 178, 88), (30, 76, 34)),
    "lava": ("%", (255, 226, 110), (214, 82, 20)),
    "coal": ("o", (16, 16, 18), _ROCK),
    "iron": ("i", (255, 190, 130), _ROCK),
    "diamond": ("\N{BLACK DIAMOND SUIT}", (240, 252, 255), _ROCK),
    "table": ("T", (255, 226, 170), (128, 84, 44)),
    "furnace": ("F", (255, 170, 90), (66, 64, 68)),
}
_BOLD: Final = ("coal", "iron", "diamond", "table", "furnace")
_DARK: Final = (" ", (28, 30, 36), (18, 20, 25))  # where nobody looked
_NOWHERE: Final = Glyph(" ", "#000000", "#000000")  # beyond the end of the world

_CREATURES: Final[dict[str, tuple[str, str]]] = {
    "cow": ("C", "#fff0e1"),
    "zombie": ("Z", "#78ff78"),
    "skeleton": ("S", "#fafafa"),
    "arrow": ("*", "#ffff8c"),
}
_SIGNS: Final = {CREATURES[name]: (*look, name) for name, look in _CREATURES.items()}
_COW_ONCE: Final = "#e2cebe"
_SAPLING: Final = ("+", "#beff82", "a sapling")
_RIPE: Final = ("\N{BLACK SPADE SUIT}", "#ffd65a", "a plant that should be ripe")
_VEIL: Final = ("\N{LIGHT SHADE}", "#363e64")
_WAY: Final = "#ffd65a"
_FACES: Final = {(-1, 0): "\N{BLACK LEFT-POINTING TRIANGLE}", (1, 0): "\N{BLACK RIGHT-POINTING TRIANGLE}",
                 (0, -1): "\N{BLACK UP-POINTING TRIANGLE}", (0, 1): "\N{BLACK DOWN-POINTING TRIANGLE}"}  # fmt: skip
_NIGHT: Final[Color] = (8, 12, 40)
_MEMORY: Final = 0.6  # how much of its color is left to what is only remembered
_REMEMBERED, _BRIGHT, _VEILED = range(3)  # how a cell is seen
_STATES: Final = 3


def draw(player: Player, agent: str = "") -> Drawing:
    """What the player knows of its world.

    Args:
        player: it.
        agent: the name of the agent that plays.
    """
    marks: dict[str, Mark] = {}

    def put(name: str, cell: Cell, sign: str, color: str, layer: int, label: str, *, bold: bool = True) -> None:
        x, y = cell[0] - RIM, cell[1] - RIM
        who = agent if name == "player" else ""
        marks[name] = Mark(x, y, sign, color, label=label, agent=who, layer=layer, bold=bold)

    for cell in player.atlas.herd:
        put(f"herd {cell}", cell, "c", _COW_ONCE, 0, "a cow was here", bold=False)
    for cell, grown in player.atlas.plants.items():
        sign, color, label = _RIPE if grown > RULES["ripe_after"] else _SAPLING
        put(f"plant {cell}", cell, sign, color, 1, label)
    for cell, kind in player.atlas.creatures.items():
        sign, color, label = _SIGNS[kind]
        put(f"creature {cell}", cell, sign, color, 2, label)
    if player.way:
        first, *rest = ((x - RIM, y - RIM) for x, y in (player.place, *player.way[:200]))
        marks["way"] = Mark(*first, color=_WAY, layer=2, to=tuple(rest))
    sign = "z" if player.is_asleep else _FACES[player.facing]
    put("player", player.place, sign, "#ffffff", 3, "the player")
    rows = _rows(player)
    return Drawing(len(rows[0]), len(rows), Tiles(rows, _palette(player.light)), marks)


def cells(player: Player, columns: int, rows: int) -> list[list[Glyph]]:
    """What the player knows of the cells around it, row by row, for a terminal.

    Args:
        player: it.
        columns: how many cells in a row; the player stands in the middle one.
        rows: how many rows.
    """
    known = glyphs(draw(player))
    left, top = player.place[0] - RIM - columns // 2, player.place[1] - RIM - rows // 2

    def at(x: int, y: int) -> Glyph:
        return known[y][x] if 0 <= y < len(known) and 0 <= x < len(known[0]) else _NOWHERE

    return [[at(left + x, top + y) for x in range(columns)] for y in range(rows)]


def _rows(player: Player) -> tuple[str, ...]:
    known = player.atlas.ground
    x, y = (np.arange(SIDE) - player.place[axis] + VIEW[axis] // 2 for axis in (0, 1))
    is_near = ((x >= 0) & (x < VIEW[0]))[:, None] & ((y >= 0) & (y < VIEW[1]))
    is_hidden = darkness()[player.step % DAY][x.clip(0, VIEW[0] - 1)][:, y.clip(0, VIEW[1] - 1)]
    states = np.where(is_near, np.where(is_hidden, _VEILED, _BRIGHT), _REMEMBERED)
    letters = (0x21 + known.astype(np.int32) * _STATES + states)[RIM:-RIM, RIM:-RIM]
    return tuple("".join(map(chr, row)) for row in letters.T.tolist())


def _palette(light: float) -> dict[str, Tile]:
    known = {MATERIALS[name]: (*look, name in _BOLD) for name, look in _GROUND.items()}
    tiles = {chr(0x21 + EDGE * _STATES + state): Tile("#000000", "", "#000000") for state in range(_STATES)}
    for number, (sign, color, ground, bold) in {UNKNOWN: (*_DARK, False), **known}.items():
        for state in range(_STATES):
            share = (1.0 if state == _BRIGHT else _MEMORY) * (0.6 + 0.4 * min(1.0, 2.0 * light))
            below = _toward_night(ground, share)
            is_veiled = state == _VEILED
            tiles[chr(0x21 + number * _STATES + state)] = (
                Tile(below, *_VEIL) if is_veiled else Tile(below, sign.strip(), _toward_night(color, share), bold)
            )
    return tiles


def _toward_night(color: Color, share: float) -> str:
    parts = (int(part * share + night * (1.0 - share)) for part, night in zip(color, _NIGHT, strict=True))
    return "#" + bytes(parts).hex()
