"""The picture: the drawing of the colony, as cells and as colored lines for the terminal."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style

from agentrt import Entity
from agentrt.drawing import Glyph, glyphs
from agentrt_examples.colony.bodies import Position
from agentrt_examples.colony.cartographer import Cartographer, sign_of

__all__ = ["Picture"]

_SELECTED = ("#000000", "#ffe15a")


class Picture:
    """Shows what a cartographer draws.

    Args:
        cartographer: of the colony.
    """

    def __init__(self, cartographer: Cartographer) -> None:
        self._cartographer = cartographer
        self._styles: dict[tuple[str, str, bool], Style] = {}

    def cells(self, selected: Entity | None = None) -> list[list[Glyph]]:
        """What is seen, row by row.

        Args:
            selected: who is highlighted.
        """
        rows = glyphs(self._cartographer.draw())
        if selected is not None and not selected.is_destroyed:
            column, row = selected[Position].location
            rows[row][column] = Glyph(sign_of(selected), *_SELECTED, True)
        return rows

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
            style = self._styles[look] = Style(color=glyph.color or None, bgcolor=glyph.ground, bold=glyph.bold)
        return style

    def plain(self) -> str:
        """The map without color."""
        return "\n".join("".join(glyph.sign for glyph in row) for row in self.cells())
