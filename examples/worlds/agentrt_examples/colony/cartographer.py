"""The map of the colony, as the drawing that its world offers. Only looks, never changes anything.

From below: terrain, plots, beds and empty shelves, nests, items, those who live there. At night everything is dimmed
towards blue, except those who live there. The terminal, the inspector's page and recordings all show this one.

What stands still is made once, for day and for night. Signs are one column wide in every terminal that this was tried
in.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrt import Agent, Entity
from agentrt.drawing import Drawing, Mark, Tile, Tiles
from agentrt_examples.colony.animals import Poser
from agentrt_examples.colony.bodies import Health, Needs, Position
from agentrt_examples.colony.goods import Shelf
from agentrt_examples.colony.growing import Plot
from agentrt_examples.colony.nests import Nest
from agentrt_examples.colony.population import Population
from agentrt_examples.colony.terrain import TERRAINS, Ground
from agentrt_examples.colony.town import Town

__all__ = ["COLORS", "Cartographer", "sign_of"]

# Terrain: the color of the ground, the sign on it, and its color.
_TERRAIN: dict[str, Tile] = {
    "grass": Tile("#263e24", "", "#466e3c"),
    "path": Tile("#5c503a"),
    "floor": Tile("#544230"),
    "field": Tile("#483620", "\N{MIDDLE DOT}", "#785f3c"),
    "stockpile": Tile("#464234", "\N{MIDDLE DOT}", "#8c8264"),
    "tree": Tile("#182e1a", "\N{BLACK CLUB SUIT}", "#468c46"),
    "water": Tile("#1c3868", "~", "#6ea0dc"),
    "rock": Tile("#48484a", "\N{BLACK UP-POINTING TRIANGLE}", "#969696"),
    "wall": Tile("#825c3c", "\N{FULL BLOCK}", "#825c3c"),
    "hearth": Tile("#642818", "\N{IDENTICAL TO}", "#ff963c"),
    "fire": Tile("#5a2c14", "*", "#ffbe50"),
    "tower": Tile("#787882", "\N{FULL BLOCK}", "#787882"),
}
_GRASS = ("", "", ",", "", "'", "", "", ".", "", "", "`")
_BLADES = {"": "0", ",": "1", "'": "2", ".": "3", "`": "4"}  # their letters in the rows

_PLOTS: dict[str, tuple[str, str]] = {
    "bare": ("\N{MIDDLE DOT}", "#785f3c"),
    "tilled": ("\N{ALMOST EQUAL TO}", "#a0784b"),
    "planted": ("\N{MODIFIER LETTER VERTICAL LINE}", "#78be50"),
    "ripe": ("\N{BLACK SPADE SUIT}", "#f0be46"),
}
_ITEMS: dict[str, tuple[str, str]] = {
    "turnip": ("o", "#ebaad2"),
    "meal": ("u", "#ffcd78"),
    "herb": ("\N{DAGGER}", "#82f096"),
    "picture": ("\N{WHITE SQUARE CONTAINING BLACK SMALL SQUARE}", "#c8aaff"),
}
COLORS: dict[str, str] = {
    "hearthling": "#ffffff",
    "critter": "#f0c88c",
    "pet": "#ffaadc",
    "wolf": "#ff5a50",
    "drake": "#aae678",
    "turret": "#96dcff",
}
"""Of those who live there, by their kind."""

_BED, _SHELF, _NEST = "#be5050", "#786c54", "#f0e1aa"
_DOWN, _ASLEEP = "#ff7878", "#78aaff"
_NIGHT = (10, 16, 44)
_BEINGS = 10  # the layer of those who live there


def sign_of(entity: Entity) -> str:
    """The sign of somebody: hearthlings by their initial, the others by their kind.

    Args:
        entity: who.
    """
    if entity.kind == "hearthling":
        return entity.name[:1]
    if entity.kind == "critter":
        return "\N{WHITE SMILING FACE}" if entity[Poser].is_ready else "c"
    return {"pet": "d", "wolf": "W", "drake": "&", "turret": "\N{BLACK CHESS ROOK}"}.get(entity.kind, "?")


class Cartographer:
    """Draws a town and those who live in it.

    Args:
        town: which.
        population: who lives there.
    """

    def __init__(self, town: Town, population: Population) -> None:
        self._town = town
        self._population = population
        self._tiles: tuple[Tiles, Tiles] | None = None  # by day and by night
        self._dimmed: dict[str, str] = {"": ""}

    def draw(self) -> Drawing:
        """What is there now."""
        if self._tiles is None:
            self._tiles = self._ground(self._town.ground)
        dark = self._town.daylight.is_dark
        marks = {f"{entity.id:05}": mark for entity, mark in self._things(dark=dark)}
        marks.update({f"{entity.id:05}": mark for entity, mark in self._beings()})
        ground = self._town.ground
        return Drawing(ground.width, ground.height, self._tiles[dark], marks)

    # --- what stands still --------------------------------------------------------------------------------------------

    def _ground(self, ground: Ground) -> tuple[Tiles, Tiles]:
        letters = {terrain.name: letter for letter, terrain in TERRAINS.items() if terrain.name != "grass"}

        def letter(column: int, row: int) -> str:
            name = ground.terrain((column, row)).name
            return letters.get(name) or _BLADES[_GRASS[(column * 7 + row * 13) % len(_GRASS)]]

        rows = tuple("".join(letter(column, row) for column in range(ground.width)) for row in range(ground.height))
        grass = _TERRAIN["grass"]
        palette = {letter: _TERRAIN[name] for name, letter in letters.items()}
        palette.update({letter: Tile(grass.ground, sign, grass.color) for sign, letter in _BLADES.items()})
        night = {
            letter: Tile(self._dim(tile.ground), tile.sign, self._dim(tile.color)) for letter, tile in palette.items()
        }
        return Tiles(rows, palette), Tiles(rows, night)

    def _dim(self, color: str) -> str:
        found = self._dimmed.get(color)
        if found is None:
            parts = zip(bytes.fromhex(color[1:]), _NIGHT, strict=True)
            found = self._dimmed[color] = "#" + bytes((part * 2 + night * 3) // 5 for part, night in parts).hex()
        return found

    # --- what stands on it --------------------------------------------------------------------------------------------

    def _things(self, *, dark: bool) -> Iterator[tuple[Entity, Mark]]:
        census = self._town.census

        def mark(entity: Entity, sign: str, color: str, layer: int, label: str = "", *, bold: bool = False) -> Mark:
            return self._mark(entity, sign, self._dim(color) if dark else color, layer, label or entity.name, bold=bold)

        for entity in census.find("plot"):
            state = entity[Plot].state
            yield entity, mark(entity, *_PLOTS[state], 0, f"a plot, {state}")
        for entity in census.find("bed"):
            yield entity, mark(entity, "\N{LOWER HALF BLOCK}", _BED, 1)
        for entity in census.find("shelf"):
            if not entity[Shelf].items:
                yield entity, mark(entity, "\N{MIDDLE DOT}", _SHELF, 2, "an empty shelf")
        for entity in census.find("nest"):
            eggs = str(len(entity[Nest].eggs))
            yield entity, mark(entity, eggs[:2], _NEST, 3, f"a nest, eggs: {eggs}", bold=True)
        for layer, (kind, (sign, color)) in enumerate(_ITEMS.items(), 4):
            for entity in census.find(kind):
                yield entity, mark(entity, sign, color, layer)

    def _beings(self) -> Iterator[tuple[Entity, Mark]]:
        names = {agent.entity: agent.name for agent in self._population.agents}
        for entity in self._town.census.find("being"):
            sign, color, how = sign_of(entity), COLORS[entity.kind], ""
            if entity[Health].is_down:
                sign, color, how = sign.lower(), _DOWN, ", down"
            elif entity.kind == "hearthling" and entity[Needs].asleep:
                sign, color, how = "z", _ASLEEP, ", asleep"
            agent = names.get(entity, "")
            yield entity, self._mark(entity, sign, color, _BEINGS, entity.name + how, agent=agent, bold=True)

    def _mark(
        self, entity: Entity, sign: str, color: str, layer: int, label: str, *, agent: str = "", bold: bool
    ) -> Mark:
        column, row = entity[Position].location
        holder = self._town.leases.holder(entity)
        held_by = holder.name if isinstance(holder, Agent) else ""
        return Mark(column, row, sign, color, label=label, agent=agent, holder=held_by, layer=layer, bold=bold)
