"""A drawing: what a world looks like between two ticks, as plain data that a page, a terminal and a recording show.

A world offers one by a hook of its own, ``runtime.drawing = draw``: a function without arguments that makes a
``Drawing`` of what is there and changes nothing. It is called only while somebody looks, or a recorder asks.

* Places are counted in cells. A whole number is the middle of a cell: what is at ``(3, 4)`` stands in the fourth cell
  of the fifth row, and a drawing reaches from -0.5 to its width less 0.5. Who has no cells takes any unit.
* From below: the image, the tiles, the marks by their layer, then from top to bottom, then by their key. So the same
  marks give the same drawing, in whatever order they came.
* What stands still belongs into tiles and image, which are sent when they change; what moves is a mark. A mark has a
  key that stays its own: from one drawing to the next only marks that changed are sent and written.
* All of it is checked when it is made, and bounded: a drawing may come out of somebody else's file. What is wrong is a
  ``DataFault`` that says where and what to write instead. Nothing in it is ever read as markup or code.

An ``Overlay`` is what an action offers to be drawn above it while its agent is chosen; it lives with what authors
write, so that actions load nothing of this.

Rejected: shapes of any kind with fills and turns (a page would be a graphics library, and a terminal could show none
of it); colors by name (a terminal, a page and a test would each need the list).

Source: ours; Unreal, the Visual Logger, which draws what an agent knows where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Final, Literal, NamedTuple, TypeVar, final

from agentrt.activity.author.overlay import FARTHEST, Overlay
from agentrt.errors import DataFault
from agentrt.words import repr_of, words_of

__all__ = ["Drawing", "Glyph", "Mark", "Overlay", "Shape", "Tile", "Tiles", "glyphs"]

MOST_CELLS: Final = 65_536
MOST_SIDE: Final = 16_384  # cells each way: no browser's canvas is larger
MOST_MARKS: Final = 5_000
MOST_CORNERS: Final = 20_000  # of the lines of all marks together
MOST_TEXT: Final = 1_000_000  # characters, of all marks together: a recording has to hold it
MOST_LOOKS: Final = 10_000  # of a palette
MOST_IMAGE: Final = 256 * 1024  # bytes
MOST_PIXELS: Final = 4096  # of an image, each way

_LARGEST: Final = 1_000  # cells that a mark is wide
_LONGEST_KEY: Final = 120
_LONGEST_LABEL: Final = 80
_LONGEST_NAME: Final = 4000  # of an agent: what the trace has of one
_LONGEST_LINE: Final = 256  # corners
_LAYERS: Final = 1_000
_PNG: Final = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
_COLOR: Final = re.compile(r"#[0-9a-f]{6}")

Shape = Literal["", "dot", "square", "ring"]
_SHAPES: Final = ("", "dot", "square", "ring")
_SHAPE_SIGNS: Final = {"dot": "\N{BULLET}", "square": "\N{BLACK SQUARE}", "ring": "\N{WHITE CIRCLE}"}

T = TypeVar("T")


def _wrong(pointer: str, found: object, wanted: str) -> DataFault:
    return DataFault(f"here stands {repr_of(found, 80)}. Write {wanted}.", pointer=pointer)


def _number(name: str, value: object, least: float, most: float) -> None:
    # Neither nan nor infinity lies between two numbers.
    if type(value) not in (int, float) or not least <= value <= most:  # type: ignore[operator]
        raise _wrong(f"/{name}", value, f"a number from {least:g} to {most:g}")


def _text(name: str, value: object, most: int) -> None:
    if type(value) is not str or len(value) > most:
        raise _wrong(f"/{name}", value, f"a text of at most {most} characters")


def _sign(name: str, value: object) -> None:
    if type(value) is not str or len(value) > 2 or not value.isprintable():
        raise _wrong(f"/{name}", value, "one or two characters that can be printed, or an empty text")


def _color(name: str, value: object) -> None:
    if type(value) is not str or (value and _COLOR.fullmatch(value) is None):
        raise _wrong(f"/{name}", value, "a color as '#rrggbb', with small letters, or an empty text")


def _flag(name: str, value: object) -> None:
    if type(value) is not bool:
        raise _wrong(f"/{name}", value, "true or false")


@final
@dataclass(frozen=True, slots=True)
class Tile:
    """What a cell of the ground looks like.

    Raises:
        DataFault: a color or the sign is none.
    """

    ground: str  # its color, as "#rrggbb"; empty for none
    sign: str = ""  # one or two characters on it
    color: str = ""  # of the sign; empty for that of texts
    bold: bool = False  # whether the sign is bold

    def __post_init__(self) -> None:
        _color("ground", self.ground)
        _sign("sign", self.sign)
        _color("color", self.color)
        _flag("bold", self.bold)


@final
@dataclass(frozen=True, slots=True)
class Tiles:
    """The ground: rows of characters, one for each cell, and what each character looks like.

    Raises:
        DataFault: rows are of different lengths, there are too many cells, or a character is not in the palette.
    """

    rows: tuple[str, ...]  # from top to bottom
    palette: Mapping[str, Tile]  # by character

    def __post_init__(self) -> None:
        # Declared as object: whoever breaks the types is told so here.
        rows: object = self.rows
        palette: object = self.palette
        if not isinstance(rows, tuple) or not rows or not all(type(row) is str and row for row in rows):
            raise _wrong("/rows", rows, "a tuple of texts that are not empty")
        if len(rows) * len(rows[0]) > MOST_CELLS or max(len(rows), len(rows[0])) > MOST_SIDE:
            said = f"{len(rows[0])} x {len(rows)} cells"
            raise _wrong("/rows", said, f"at most {MOST_CELLS} cells, and {MOST_SIDE} each way")
        if not isinstance(palette, Mapping) or len(palette) > MOST_LOOKS:
            raise _wrong("/palette", palette, f"a tile for each character, of which there are at most {MOST_LOOKS}")
        palette = dict(palette)  # theirs may be changed, and then tell of another world
        object.__setattr__(self, "palette", palette)
        for key, tile in palette.items():
            # Two halves of a character, one after the other, are one cell to a page.
            if type(key) is not str or len(key) != 1 or "\ud800" <= key <= "\udfff" or type(tile) is not Tile:
                raise _wrong(_pointer("/palette", key), tile, "a Tile below a single character")
        for number, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise _wrong(f"/rows/{number}", row, f"{len(rows[0])} characters, as in the first row")
            unknown = [one for one in row if one not in palette]
            if unknown:
                raise _wrong(f"/rows/{number}", unknown[0], "characters of the palette")


@final
@dataclass(frozen=True, slots=True)
class Mark:
    """Something that stands on the ground: a sign, a shape, a line, or a text alone.

    Raises:
        DataFault: a value is none that can be drawn.
    """

    x: float  # in cells, from the left
    y: float  # in cells, from the top
    sign: str = ""  # one or two characters
    color: str = ""  # as "#rrggbb"; empty for that of texts
    shape: Shape = ""  # behind the sign, or instead of it
    label: str = ""  # told when it is pointed at; drawn where it is an agent, or has nothing else to show
    agent: str = ""  # the name of the agent that it is: whoever clicks it chooses that one
    holder: str = ""  # the name of the agent that has it reserved
    layer: int = 0  # what is in a higher one is drawn above
    bold: bool = False  # whether the sign is bold
    size: float = 1.0  # how many cells it is wide
    to: tuple[tuple[float, float], ...] = ()  # a line from here, through these places

    def __post_init__(self) -> None:
        # Hundreds are made for each look at a world: what has its default is not checked.
        _number("x", self.x, -FARTHEST, FARTHEST)
        _number("y", self.y, -FARTHEST, FARTHEST)
        if self.sign != "":
            _sign("sign", self.sign)
        if self.color != "":
            _color("color", self.color)
        if self.shape != "" and self.shape not in _SHAPES:
            raise _wrong("/shape", self.shape, "'dot', 'square', 'ring', or an empty text")
        if self.label != "":
            _text("label", self.label, _LONGEST_LABEL)
        if self.agent != "":
            _text("agent", self.agent, _LONGEST_NAME)
        if self.holder != "":
            _text("holder", self.holder, _LONGEST_NAME)
        if type(self.layer) is not int or not -_LAYERS <= self.layer <= _LAYERS:
            raise _wrong("/layer", self.layer, f"a whole number from {-_LAYERS} to {_LAYERS}")
        if self.bold is not False:
            _flag("bold", self.bold)
        if self.size != 1.0:
            _number("size", self.size, 0.01, _LARGEST)
        if self.to != ():
            _line("to", self.to)

    def as_json(self) -> dict[str, Any]:
        """The mark as JSON values; what has its default is left out."""
        data: dict[str, Any] = {"x": self.x, "y": self.y}
        for name, default in _MARK_DEFAULTS:
            value = getattr(self, name)
            if value != default:
                data[name] = value
        if self.to:
            data["to"] = [list(corner) for corner in self.to]
        return data

    @staticmethod
    def from_json(data: object) -> Mark:
        """What ``as_json`` made, or somebody else; checked like any other."""
        given = _object(data, Mark)
        if type(given.get("to")) is list:
            given["to"] = tuple(tuple(one) if type(one) is list else one for one in given["to"])
        return Mark(**given)


_MARK_DEFAULTS: Final = tuple((one.name, one.default) for one in fields(Mark) if one.name not in ("x", "y", "to"))


def _line(name: str, corners: object) -> None:
    if not isinstance(corners, tuple) or len(corners) > _LONGEST_LINE:
        raise _wrong(f"/{name}", corners, f"a tuple of at most {_LONGEST_LINE} pairs of numbers")
    for index, corner in enumerate(corners):
        if not isinstance(corner, tuple) or len(corner) != 2:
            raise _wrong(f"/{name}/{index}", corner, "a pair of numbers")
        for value in corner:
            _number(f"{name}/{index}", value, -FARTHEST, FARTHEST)


@final
@dataclass(frozen=True, slots=True)
class Drawing:
    """What a world looks like.

    Raises:
        DataFault: something in it is too large, or is not what it has to be.
    """

    width: float  # in cells
    height: float  # in cells
    tiles: Tiles | None = None
    marks: Mapping[str, Mark] = field(default_factory=dict)  # by keys that stay the same from drawing to drawing
    image: bytes = b""  # a PNG, which is stretched over the whole of it

    def __post_init__(self) -> None:
        _number("width", self.width, 0.1, FARTHEST)
        _number("height", self.height, 0.1, FARTHEST)
        # Declared as object: whoever breaks the types is told so here.
        tiles: object = self.tiles
        marks: object = self.marks
        image: object = self.image
        if tiles is not None:
            if type(tiles) is not Tiles:
                raise _wrong("/tiles", tiles, "Tiles, or none")
            if (self.width, self.height) != (len(tiles.rows[0]), len(tiles.rows)):
                said = f"{len(tiles.rows[0])} x {len(tiles.rows)} cells"
                raise _wrong("/tiles", said, f"{self.width:g} x {self.height:g} of them, as the drawing is large")
        if not isinstance(marks, Mapping) or len(marks) > MOST_MARKS:
            raise _wrong("/marks", marks, f"at most {MOST_MARKS} marks by their keys")
        marks = dict(marks)  # many a world keeps one and changes it, and this is compared with the next drawing
        object.__setattr__(self, "marks", marks)
        corners = letters = 0
        for key, mark in marks.items():
            if type(key) is not str or len(key) > _LONGEST_KEY or type(mark) is not Mark:
                raise _wrong(_pointer("/marks", key), mark, f"a Mark below a key of at most {_LONGEST_KEY} characters")
            corners += len(mark.to)
            letters += len(key) + len(mark.label) + len(mark.agent) + len(mark.holder)
        if corners > MOST_CORNERS:
            raise _wrong("/marks", f"lines of {corners} corners", f"at most {MOST_CORNERS} of them")
        if letters > MOST_TEXT:
            raise _wrong("/marks", f"keys and texts of {letters} characters", f"at most {MOST_TEXT} of them")
        if not isinstance(image, bytes) or len(image) > MOST_IMAGE or (image and not _is_png(image)):
            begins: object = image[:26] if isinstance(image, bytes) else image
            raise _wrong("/image", begins, f"a PNG of at most {MOST_IMAGE} bytes and {MOST_PIXELS} pixels each way")

    def in_order(self) -> list[tuple[str, Mark]]:
        """The marks as they are drawn, from below."""
        return sorted(self.marks.items(), key=lambda one: (one[1].layer, one[1].y, one[0]))

    # --- as plain data ------------------------------------------------------------------------------------------------

    def still(self) -> dict[str, Any]:
        """What stands still, as JSON values: the size, the tiles, the image."""
        data: dict[str, Any] = {"width": self.width, "height": self.height}
        if self.tiles is not None:
            palette = {key: [one.ground, one.sign, one.color, one.bold] for key, one in self.tiles.palette.items()}
            data["tiles"] = {"rows": list(self.tiles.rows), "palette": palette}
        if self.image:
            import base64  # few have one

            data["image"] = base64.b64encode(self.image).decode()
        return data

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON values."""
        return {**self.still(), "marks": {key: mark.as_json() for key, mark in self.marks.items()}}

    @staticmethod
    def from_json(data: object) -> Drawing:
        """What ``as_json`` made, or somebody else; checked like any other.

        Raises:
            DataFault: it is no drawing; the pointer says where.
        """
        given = _object(data, Drawing)
        if given.get("tiles") is not None:
            given["tiles"] = _below("/tiles", _tiles, given["tiles"])
        marks = given.get("marks", {})
        if type(marks) is not dict or len(marks) > MOST_MARKS:
            raise _wrong("/marks", marks, f"an object of at most {MOST_MARKS} marks")
        given["marks"] = {key: _below(_pointer("/marks", key), Mark.from_json, one) for key, one in marks.items()}
        if "image" in given:
            given["image"] = _bytes(given["image"])
        return Drawing(**given)


def _is_png(image: bytes) -> bool:
    """Whether it begins like one that is not too large: a few bytes can say that they are a billion pixels."""
    if not image.startswith(_PNG) or len(image) < 24:
        return False
    sizes = int.from_bytes(image[16:20], "big"), int.from_bytes(image[20:24], "big")
    return all(1 <= size <= MOST_PIXELS for size in sizes)


def _pointer(above: str, key: object) -> str:
    return f"{above}/{words_of(key, _LONGEST_KEY).replace('~', '~0').replace('/', '~1')}"


def _object(data: object, kind: type[Any]) -> dict[str, Any]:
    """The fields of an object; such as a newer writer may have added are passed over."""
    if type(data) is not dict:
        raise _wrong("", data, "an object")
    for one in fields(kind):
        if one.default is MISSING and one.default_factory is MISSING and one.name not in data:
            raise _wrong(f"/{one.name}", None, "what belongs there")
    return {one.name: data[one.name] for one in fields(kind) if one.name in data}


def _below(pointer: str, read: Callable[[object], T], data: object) -> T:
    try:
        return read(data)
    except DataFault as fault:
        text = str(fault).removeprefix(f"[{fault.code}] ").removeprefix(f"{fault.place}: ")
        raise DataFault(text, pointer=f"{pointer}{fault.pointer}") from None


def _tiles(data: object) -> Tiles:
    given = _object(data, Tiles)
    rows, palette = given["rows"], given["palette"]
    if type(palette) is not dict or len(palette) > MOST_LOOKS:
        raise _wrong("/palette", palette, f"an object of at most {MOST_LOOKS} looks")
    for key, one in palette.items():
        if type(one) is not list or len(one) != 4:
            raise _wrong(_pointer("/palette", key), one, "a list of ground, sign, color, and whether it is bold")
    tiles = {key: _below(_pointer("/palette", key), lambda one: Tile(*one), one) for key, one in palette.items()}  # type: ignore[misc]
    return Tiles(tuple(rows) if type(rows) is list else rows, tiles)


def _bytes(text: object) -> bytes:
    if type(text) is str and len(text) <= 2 * MOST_IMAGE:
        import base64  # few have one

        try:
            return base64.b64decode(text, validate=True)
        except ValueError:
            pass
    raise _wrong("/image", text, "a PNG in base64")


# --- in a terminal ----------------------------------------------------------------------------------------------------


class Glyph(NamedTuple):
    """What is seen in one cell of a terminal."""

    sign: str  # one character
    color: str  # of the sign; empty for the terminal's own
    ground: str  # the color behind it
    bold: bool = False


_NOTHING: Final = Glyph(" ", "", "")


def glyphs(drawing: Drawing) -> list[list[Glyph]]:
    """A drawing as the cells of a terminal, row by row: one character stands for each cell.

    Lines, labels and the image have no place there, and marks that stand outside are left out.
    """
    rows: list[list[Glyph]]
    if drawing.tiles is None:
        width, height = int(drawing.width), int(drawing.height)
        if width * height > MOST_CELLS:
            raise _wrong("/width", f"{width} x {height} cells", f"at most {MOST_CELLS} of them for a terminal")
        rows = [[_NOTHING] * width for _ in range(height)]
    else:
        palette = {
            key: Glyph(one.sign[:1] or " ", one.color, one.ground, one.bold)
            for key, one in drawing.tiles.palette.items()
        }
        rows = [[palette[one] for one in row] for row in drawing.tiles.rows]
    for _, mark in drawing.in_order():
        sign = mark.sign[:1] or _SHAPE_SIGNS.get(mark.shape, "")
        column, row = round(mark.x), round(mark.y)
        if sign and 0 <= row < len(rows) and 0 <= column < len(rows[0]):
            rows[row][column] = Glyph(sign, mark.color, rows[row][column].ground, mark.bold)
    return rows
