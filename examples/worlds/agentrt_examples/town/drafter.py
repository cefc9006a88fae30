"""The map of the town, as the drawing that its world offers. Only looks, never changes anything.

From below: the ground; names of places; a ring around everybody who knows the newest rumor; a party, a square around
each who celebrates; the people, in the color of their mood; wolves; and what is being said, beside who says it. At
night the ground is dimmed.
"""

from __future__ import annotations

from typing import Final

from agentrt.drawing import Drawing, Mark, Tile, Tiles
from agentrt_examples.town.chart import CHART, FOR_ALL, PLACES
from agentrt_examples.town.hours import is_night
from agentrt_examples.town.people import Person
from agentrt_examples.town.town import Town

__all__ = ["KNOWS", "Drafter"]

KNOWS: Final = "#f5c542"
"""The color of the ring around who knows the newest rumor."""

_TILES: Final[dict[str, Tile]] = {
    ".": Tile("#3b5335"),
    ":": Tile("#8a7a5c"),
    "_": Tile("#6e563e"),
    "f": Tile("#6a5a2c", "\N{ALMOST EQUAL TO}", "#9a8440"),
    "T": Tile("#27402a", "\N{BLACK CLUB SUIT}", "#5c9a58"),
    "~": Tile("#28497c", "~", "#7aa8e0"),
    "#": Tile("#4a3a30", "\N{FULL BLOCK}", "#4a3a30"),
    "+": Tile("#a07848", "+", "#d8b078"),
    "q": Tile("#a0927a"),
    "W": Tile("#33588c", "O", "#c8dcf4", True),
}
_NIGHT: Final = (12, 18, 46)
_MOODS: Final = {"good": "#b8f0a0", "calm": "#ffffff", "bad": "#ff9a80"}
_ASLEEP: Final = "#9ab8f0"
_WOLF: Final = "#ff4a40"
_PARTY: Final = "#e070d0"
_SAID: Final = "#ffe9a8"
_UNDER: Final = "#201a16"  # a disc below everybody: letters are read on any ground
_LINE: Final = 38  # characters of what is said that are drawn
_LABEL: Final = 80  # characters of any label
_LAYERS: Final = {"places": 0, "parties": 1, "rings": 2, "under": 3, "people": 10, "wolves": 11, "lines": 20}


class Drafter:
    """Draws a town."""

    def __init__(self, town: Town) -> None:
        self._town = town
        self._tiles: tuple[Tiles, Tiles] | None = None  # by day and by night

    def draw(self) -> Drawing:
        """What is there now."""
        if self._tiles is None:
            self._tiles = _ground()
        town = self._town
        tiles = self._tiles[is_night(town.tick)]
        marks: dict[str, Mark] = {}
        self._places(marks)
        newest, party = town.newest, town.next_party
        for name, person in town.people.items():
            x, y = town.at(name)
            if party is not None and name in party.came:
                marks[f"feast {name}"] = Mark(x, y, color=_PARTY, shape="square", size=1.3, layer=_LAYERS["parties"])
            if newest is not None and newest.name in person.knows:
                knows = f"knows that {newest.text}"[:_LABEL]
                marks[f"knows {name}"] = Mark(
                    x, y, color=KNOWS, shape="ring", size=1.5, layer=_LAYERS["rings"], label=knows
                )
            marks[f"under {name}"] = Mark(x, y, color=_UNDER, shape="dot", layer=_LAYERS["under"])
            sign = "z" if person.is_asleep else name[:1]
            marks[name] = Mark(
                x, y, sign, _color(person), label=f"{name} {person.doing}"[:_LABEL], agent=name,
                layer=_LAYERS["people"], bold=True,
            )  # fmt: skip
            saying = town.sayings.get(name)
            if saying is not None and town.tick < saying.until:
                label = f"\N{LEFT DOUBLE QUOTATION MARK}{_cut(saying.text)}\N{RIGHT DOUBLE QUOTATION MARK}"
                marks[f"says {name}"] = Mark(x, y - 1.1, color=_SAID, label=label, layer=_LAYERS["lines"])
        for name in town.wolves:
            x, y = town.at(name)
            marks[f"under {name}"] = Mark(x, y, color=_UNDER, shape="dot", layer=_LAYERS["people"], size=1.4)
            marks[name] = Mark(x, y, "W", _WOLF, label=name, agent=name, layer=_LAYERS["wolves"], bold=True, size=1.3)
        ground = town.ground
        return Drawing(ground.width, ground.height, tiles, marks)

    def _places(self, marks: dict[str, Mark]) -> None:
        party = self._town.next_party
        for name, cells in PLACES.items():
            if name.startswith("home"):
                continue
            x = sum(cell[0] for cell in cells) / len(cells)
            y = min(cell[1] for cell in cells) - 1
            label = name if party is None or party.place != name else f"{name}: {party.host}'s party"
            marks[f"place {name}"] = Mark(x, y, label=label, color=_PARTY if label != name else "#f0e6d0", layer=0)


def _cut(text: str) -> str:
    return text if len(text) <= _LINE else text[: _LINE - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _color(person: Person) -> str:
    if person.is_asleep:
        return _ASLEEP
    return _MOODS["good" if person.mood > 20 else "bad" if person.mood < -20 else "calm"]


def _ground() -> tuple[Tiles, Tiles]:
    rows = tuple("".join(_letter(letter) for letter in row) for row in CHART.splitlines())
    night = {key: Tile(_dim(one.ground), one.sign, _dim(one.color), one.bold) for key, one in _TILES.items()}
    return Tiles(rows, _TILES), Tiles(rows, night)


def _letter(letter: str) -> str:
    return letter if letter in _TILES else FOR_ALL[letter]


def _dim(color: str) -> str:
    if not color:
        return color
    parts = zip(bytes.fromhex(color[1:]), _NIGHT, strict=True)
    return "#" + bytes((part * 2 + night * 3) // 5 for part, night in parts).hex()
