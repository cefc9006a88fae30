"""The outlook: what the miner knows of the land around it, seen from above, as the drawing that its world offers.

Under the sky one looks down from above; in the rock, from the height of its head: what is solid there is bright, and
floors are the darker the deeper they lie. What it has not seen is not drawn. The window is a part of the land and moves
by a parcel at a time, so that it is another one only now and then.

The way that it goes is a line, and what it will dig on it are small squares; the block that it is after has a ring.
It only looks, never changes anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from agentrt.drawing import Drawing, Mark, Tile, Tiles
from agentrt_examples.miner.memory import UNKNOWN
from agentrt_examples.miner.rules import BLOCKS

if TYPE_CHECKING:
    from agentrt_examples.miner.legs import Miner

__all__ = ["Outlook"]

WIDE, DEEP = 64, 48  # columns and rows of the window
_PARCEL = 16
_HIDDEN = " "
_NEAR = 4  # blocks above or below which creatures are drawn

_LOOKS: dict[str, tuple[str, str, str]] = {  # of each kind of block: its color, the sign on it, and the sign's color
    "border": ("#101014", "", ""),
    "bedrock": ("#2c2c30", "", ""),
    "stone": ("#7c7c82", "", ""),
    "dirt": ("#79593a", "", ""),
    "grass": ("#4f8a3c", "", ""),
    "sand": ("#d0c088", "", ""),
    "water": ("#2f62b8", "~", "#8fb6f0"),
    "lava": ("#d2571a", "~", "#ffd870"),
    "oak_log": ("#6a4a2a", "\N{BLACK CLUB SUIT}", "#b6e08a"),
    "leaves": ("#2f6a2c", "", ""),
    "cobblestone": ("#68686e", "", ""),
    "planks": ("#a8834f", "", ""),
    "coal_ore": ("#7c7c82", "o", "#17171a"),
    "iron_ore": ("#7c7c82", "i", "#ffcc9a"),
    "diamond_ore": ("#7c7c82", "\N{BLACK DIAMOND SUIT}", "#8ff2ff"),
    "diamond_block": ("#66d8e6", "\N{BLACK DIAMOND SUIT}", "#ffffff"),
    "obsidian": ("#241a36", "", ""),
    "crafting_table": ("#8a5f33", "T", "#ffe0a8"),
    "furnace": ("#55555a", "F", "#ffb070"),
    "torch": ("#7c7c82", "\N{INVERTED EXCLAMATION MARK}", "#ffe27a"),
    "portal": ("#5a2a8a", "O", "#d9b3ff"),
    "ember_rock": ("#7a2f2c", "", ""),
}
_OTHER = ("#b0509c", "?", "#ffffff")  # of kinds that somebody added to the rules
_CREATURES = {
    "cow": ("c", "#fff0e1"), "pig": ("p", "#ffb6c8"), "zombie": ("Z", "#78ff78"), "spider": ("S", "#ff8080"),
    "imp": ("I", "#ffb050"),
}  # fmt: skip
_SHADES = (1.0, 0.72, 0.52, 0.36)
_INSIDE = (2, 3, 5)  # blocks below its head from which on each of the darker shades is taken
_OUTSIDE = (-2, 3, 7)  # the same, below its head, under the sky
_WAY, _DIG, _AIM = "#ffd84a", "#ff9a3c", "#ff5a50"


def _palette() -> dict[str, Tile]:
    tiles = {_HIDDEN: Tile("#121318")}
    for kind in BLOCKS:
        ground, sign, color = _LOOKS.get(kind.name, _OTHER)
        for shade, share in enumerate(_SHADES):
            tiles[_letter(kind.number, shade)] = Tile(_dark(ground, share), sign, _dark(color, share))
    return tiles


def _dark(color: str, share: float) -> str:
    return color and "#" + bytes(int(part * share) for part in bytes.fromhex(color[1:])).hex()


def _letter(number: int, shade: int) -> str:
    return chr(0x21 + number * len(_SHADES) + shade)


class Outlook:
    """Draws what a miner knows.

    Args:
        miner: who.
    """

    def __init__(self, miner: Miner) -> None:
        self._miner = miner
        self._tiles = _palette()

    def draw(self) -> Drawing:
        """What it knows now."""
        miner = self._miner
        left, top = (
            self._first(miner.place[axis], size, miner.chart.size[axis]) for axis, size in ((0, WIDE), (2, DEEP))
        )
        rows = self._rows(left, top)
        marks = self._ahead(left, top)
        for creature, place in miner.creatures.items():
            if creature.dimension is miner.dimension and abs(place[1] - miner.place[1]) <= _NEAR:
                sign, color = _CREATURES.get(creature.kind, ("?", "#ffffff"))
                label = f"a {creature.kind}, where it was seen last"
                at = place[0] - left, place[2] - top
                marks[f"creature {creature.id:05}"] = Mark(*at, sign, color, label=label, layer=3, bold=True)
        if miner.aim is not None:
            label = f"what it is after: {miner.dimension.name_at(miner.aim)} at height {miner.aim[1]}"
            at = miner.aim[0] - left, miner.aim[2] - top
            marks["aim"] = Mark(*at, color=_AIM, shape="ring", label=label, layer=4, size=1.4)
        label = f"{miner.name}, at height {miner.place[1]} of the {miner.dimension.name}"
        at = miner.place[0] - left, miner.place[2] - top
        marks["miner"] = Mark(*at, "@", "#ffffff", label=label[:80], agent=miner.name, layer=5, bold=True)
        return Drawing(len(rows[0]), len(rows), Tiles(rows, self._tiles), marks)

    @staticmethod
    def _first(at: int, shown: int, size: int) -> int:
        """Where the window begins: at a parcel, so that it stays while the miner works in one."""
        return max(0, min(size - shown, (at - shown // 2 + _PARCEL // 2) // _PARCEL * _PARCEL))

    def _rows(self, left: int, top: int) -> tuple[str, ...]:
        miner = self._miner
        head = miner.place[1] + 1
        is_outside = miner.dimension.is_under_sky((miner.place[0], head, miner.place[2]))
        start = miner.chart.size[1] - 1 if is_outside else head
        box = miner.chart.blocks[left : left + WIDE, : start + 1, top : top + DEEP][:, ::-1, :]  # from above
        is_there = (box != UNKNOWN) & (box != 0)
        first = is_there.argmax(axis=1)
        number = numpy.take_along_axis(box, first[:, None, :], axis=1)[:, 0, :].astype(int)
        below = first - (start - head)  # how far below its head
        shade = sum((below >= bound).astype(int) for bound in (_OUTSIDE if is_outside else _INSIDE))
        is_known = is_there.any(axis=1)
        if not is_outside:
            is_known &= (box[:, :2, :] != UNKNOWN).any(axis=1)
        codes = numpy.where(is_known, 0x21 + number * len(_SHADES) + shade, ord(_HIDDEN))
        return tuple("".join(map(chr, row)) for row in codes.T.tolist())

    def _ahead(self, left: int, top: int) -> dict[str, Mark]:
        """The way that it goes, and what it will dig on it."""
        marks: dict[str, Mark] = {}
        steps = self._miner.way
        corners = tuple((step.place[0] - left, step.place[2] - top) for step in steps[:200])
        if len(corners) > 1:
            marks["way"] = Mark(*corners[0], color=_WAY, layer=1, to=corners[1:])
        for number, place in enumerate(place for step in steps[:50] for place in step.digs):
            marks[f"dig {number:03}"] = Mark(
                place[0] - left, place[2] - top, shape="square", color=_DIG, label="will be dug", layer=2, size=0.35
            )
        return marks
