"""The picture: the map of the colony as cells of a glyph and two colors. Only looks, never changes anything.

``Picture.cells`` decides what is seen where; the plain text for tests and logs and the colored lines for the
terminal are made from the same cells. From below: terrain, plots, shelves and beds, items, those who live
there, the selected one. At night everything is dimmed towards blue, except those who live there.

Colors are ``(red, green, blue)``. Glyphs are one column wide in every terminal that this was tried in.
"""

from __future__ import annotations

from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style

from agentrt import Entity
from agentrt_examples.colony.animals import Poser
from agentrt_examples.colony.bodies import Health, Needs, Position
from agentrt_examples.colony.colony import Colony
from agentrt_examples.colony.goods import Shelf
from agentrt_examples.colony.growing import Plot
from agentrt_examples.colony.nests import Nest
from agentrt_examples.colony.terrain import Cell

__all__ = ["COLORS", "Glyph", "Picture", "glyph_of"]

Color = tuple[int, int, int]


class Glyph(NamedTuple):
    """What is seen on one cell.

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


# Terrain: the sign, its color, and the color of the ground.
_TERRAIN: dict[str, tuple[str, Color, Color]] = {
    "grass": (" ", (70, 110, 60), (38, 62, 36)),
    "path": (" ", (150, 130, 95), (92, 80, 58)),
    "floor": (" ", (140, 115, 85), (84, 66, 48)),
    "field": ("\N{MIDDLE DOT}", (120, 95, 60), (72, 54, 32)),
    "stockpile": ("\N{MIDDLE DOT}", (140, 130, 100), (70, 66, 52)),
    "tree": ("\N{BLACK CLUB SUIT}", (70, 140, 70), (24, 46, 26)),
    "water": ("~", (110, 160, 220), (28, 56, 104)),
    "rock": ("\N{BLACK UP-POINTING TRIANGLE}", (150, 150, 150), (72, 72, 74)),
    "wall": ("\N{FULL BLOCK}", (130, 92, 60), (130, 92, 60)),
    "hearth": ("\N{IDENTICAL TO}", (255, 150, 60), (100, 40, 24)),
    "fire": ("*", (255, 190, 80), (90, 44, 20)),
    "tower": ("\N{FULL BLOCK}", (120, 120, 130), (120, 120, 130)),
}

_GRASS_SIGNS = (" ", " ", ",", " ", "'", " ", " ", ".", " ", " ", "`")

_PLOTS: dict[str, tuple[str, Color]] = {
    "bare": ("\N{MIDDLE DOT}", (120, 95, 60)),
    "tilled": ("\N{ALMOST EQUAL TO}", (160, 120, 75)),
    "planted": ("\N{MODIFIER LETTER VERTICAL LINE}", (120, 190, 80)),
    "ripe": ("\N{BLACK SPADE SUIT}", (240, 190, 70)),
}

_ITEMS: dict[str, tuple[str, Color]] = {
    "turnip": ("o", (235, 170, 210)),
    "meal": ("u", (255, 205, 120)),
    "herb": ("\N{DAGGER}", (130, 240, 150)),
    "picture": ("\N{WHITE SQUARE CONTAINING BLACK SMALL SQUARE}", (200, 170, 255)),
}

COLORS: dict[str, Color] = {
    "hearthling": (255, 255, 255),
    "critter": (240, 200, 140),
    "pet": (255, 170, 220),
    "wolf": (255, 90, 80),
    "drake": (170, 230, 120),
    "turret": (150, 220, 255),
}

_NIGHT: Color = (10, 16, 44)


def glyph_of(entity: Entity) -> str:
    """The sign of somebody: hearthlings by their initial, the others by their kind.

    Args:
        entity: who.
    """
    if entity.kind == "hearthling":
        return entity.name[:1]
    if entity.kind == "critter":
        return "\N{WHITE SMILING FACE}" if entity[Poser].is_ready else "c"
    return {"pet": "d", "wolf": "W", "drake": "&", "turret": "\N{BLACK CHESS ROOK}"}.get(entity.kind, "?")


class Picture:
    """Draws a colony.

    Args:
        colony: which.
    """

    def __init__(self, colony: Colony) -> None:
        self._colony = colony
        self._styles: dict[tuple[Color, Color, bool], Style] = {}
        ground = colony.town.ground
        self._base = [[self._terrain((column, row)) for column in range(ground.width)] for row in range(ground.height)]

    def _terrain(self, cell: Cell) -> Glyph:
        name = self._colony.town.ground.terrain(cell).name
        sign, color, ground = _TERRAIN[name]
        if name == "grass":
            sign = _GRASS_SIGNS[(cell[0] * 7 + cell[1] * 13) % len(_GRASS_SIGNS)]
        return Glyph(sign, color, ground)

    def cells(self, selected: Entity | None = None) -> list[list[Glyph]]:
        """What is seen, row by row.

        Args:
            selected: who is highlighted.
        """
        census = self._colony.town.census
        rows = [list(row) for row in self._base]
        for entity in census.find("plot"):
            _put(rows, entity, *_PLOTS[entity[Plot].state])
        for entity in census.find("bed"):
            _put(rows, entity, "\N{LOWER HALF BLOCK}", (190, 80, 80))
        for entity in census.find("shelf"):
            if not entity[Shelf].items:
                _put(rows, entity, "\N{MIDDLE DOT}", (120, 108, 84))
        for entity in census.find("nest"):
            _put(rows, entity, str(len(entity[Nest].eggs)), (240, 225, 170), bold=True)
        for kind, (sign, color) in _ITEMS.items():
            for entity in census.find(kind):
                _put(rows, entity, sign, color)
        if self._colony.town.daylight.is_dark:
            rows = [[_dim(glyph) for glyph in row] for row in rows]
        for entity in census.find("being"):
            self._being(rows, entity)
        if selected is not None and not selected.is_destroyed:
            column, row = selected[Position].location
            rows[row][column] = Glyph(glyph_of(selected), (0, 0, 0), (255, 225, 90), True)
        return rows

    def _being(self, rows: list[list[Glyph]], entity: Entity) -> None:
        color = COLORS[entity.kind]
        sign = glyph_of(entity)
        if entity[Health].is_down:
            color = (255, 120, 120)
            sign = sign.lower()
        elif entity.kind == "hearthling" and entity[Needs].asleep:
            color = (120, 170, 255)
            sign = "z"
        _put(rows, entity, sign, color, bold=True)

    def lines(self, selected: Entity | None = None, width: int = 1) -> list[list[Segment]]:
        """The map in color, row by row; neighbors that look alike are one segment.

        Args:
            selected: who is highlighted.
            width: how many columns a cell takes, 1 or 2.
        """
        lines = []
        for row in self.cells(selected):
            line: list[Segment] = []
            words = ""
            style: Style | None = None
            for glyph in row:
                look = self._style(glyph)
                if look is not style and style is not None:
                    line.append(Segment(words, style))
                    words = ""
                style = look
                filler = glyph.sign if glyph.color == glyph.ground else " "
                words += glyph.sign + filler * (width - 1)
            line.append(Segment(words, style))
            lines.append(line)
        return lines

    def _style(self, glyph: Glyph) -> Style:
        look = glyph[1:]
        style = self._styles.get(look)
        if style is None:
            style = Style(color=_hex(glyph.color), bgcolor=_hex(glyph.ground), bold=glyph.bold)
            self._styles[look] = style
        return style

    def plain(self) -> str:
        """The map without color."""
        return "\n".join("".join(glyph.sign for glyph in row) for row in self.cells())


def _put(rows: list[list[Glyph]], entity: Entity, sign: str, color: Color, *, bold: bool = False) -> None:
    column, row = entity[Position].location
    rows[row][column] = Glyph(sign, color, rows[row][column].ground, bold)


def _dim(glyph: Glyph) -> Glyph:
    return Glyph(glyph.sign, _toward_night(glyph.color), _toward_night(glyph.ground), glyph.bold)


def _toward_night(color: Color) -> Color:
    red, green, blue = color
    return (red * 2 + _NIGHT[0] * 3) // 5, (green * 2 + _NIGHT[1] * 3) // 5, (blue * 2 + _NIGHT[2] * 3) // 5


def _hex(color: Color) -> str:
    return f"#{color[0]:02x}{color[1]:02x}{color[2]:02x}"
