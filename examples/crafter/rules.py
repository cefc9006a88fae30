"""The rules of Crafter as its player knows them, and the numbers of what it sees.

``data/rules.json`` is the book of rules: what is collected from what and with which tool, what is placed where, what is
made beside what. It was written down by hand and is part of what the agent is given, as the README says. A test holds
it against the table of the game that is installed; the agent itself never reads that table.

What stands in a cell is a small number, so that a map is an array of bytes. The numbers of materials and creatures are
those in which the game hands out its picture in symbols; three of our own are for what a player sees besides: that a
cell is too dark, that the world ends there, and that nothing is known about it.

Times are in steps of the game. One step is one tick of the runtime, and one second of its game time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

__all__ = [
    "ACHIEVEMENTS",
    "ACTIONS",
    "ARROW",
    "BARS",
    "COW",
    "CREATURES",
    "DIGGABLE",
    "EDGE",
    "HIDDEN",
    "MATERIALS",
    "PLANT",
    "PLAYER",
    "RULES",
    "SIDES",
    "SKELETON",
    "TURNS",
    "UNKNOWN",
    "WALKABLE",
    "ZOMBIE",
    "damage",
    "table_of",
]

RULES: Final[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "rules.json").read_text(encoding="utf-8"))

ACTIONS: Final = (
    "noop",
    "move_left",
    "move_right",
    "move_up",
    "move_down",
    "do",
    "sleep",
    "place_stone",
    "place_table",
    "place_furnace",
    "place_plant",
    "make_wood_pickaxe",
    "make_stone_pickaxe",
    "make_iron_pickaxe",
    "make_wood_sword",
    "make_stone_sword",
    "make_iron_sword",
)

ACHIEVEMENTS: Final = (
    "collect_coal",
    "collect_diamond",
    "collect_drink",
    "collect_iron",
    "collect_sapling",
    "collect_stone",
    "collect_wood",
    "defeat_skeleton",
    "defeat_zombie",
    "eat_cow",
    "eat_plant",
    "make_iron_pickaxe",
    "make_iron_sword",
    "make_stone_pickaxe",
    "make_stone_sword",
    "make_wood_pickaxe",
    "make_wood_sword",
    "place_furnace",
    "place_plant",
    "place_stone",
    "place_table",
    "wake_up",
)

BARS: Final = ("health", "food", "drink", "energy")

UNKNOWN: Final = 0
_MATERIALS: Final = (
    "water", "grass", "stone", "path", "sand", "tree", "lava", "coal", "iron", "diamond", "table", "furnace"
)  # fmt: skip
MATERIALS: Final[dict[str, int]] = {name: number for number, name in enumerate(_MATERIALS, 1)}
PLAYER, COW, ZOMBIE, SKELETON, ARROW, PLANT = range(13, 19)
EDGE, HIDDEN = 30, 31
CREATURES: Final[dict[str, int]] = {"cow": COW, "zombie": ZOMBIE, "skeleton": SKELETON, "arrow": ARROW, "plant": PLANT}

SIDES: Final = ((-1, 0), (1, 0), (0, -1), (0, 1))
TURNS: Final = {(-1, 0): "move_left", (1, 0): "move_right", (0, -1): "move_up", (0, 1): "move_down"}


def table_of(names: Sequence[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Whether each number is that of one of some materials.

    Args:
        names: of the materials.
    """
    table = np.zeros(32, bool)
    table[[MATERIALS[name] for name in names]] = True
    return table


WALKABLE: Final = table_of(("grass", "sand", "path"))
"""For each number, whether one can stand there and live."""

DIGGABLE: Final[dict[str, tuple[str, ...]]] = {
    "wood_pickaxe": ("stone", "coal"),
    "stone_pickaxe": ("iron",),
    "iron_pickaxe": ("diamond",),
}
"""What gives way to which tool, besides trees."""


def damage(inventory: dict[str, int]) -> int:
    """What one blow takes from a creature.

    Args:
        inventory: of the player.
    """
    strongest: int = max([1] + [points for sword, points in RULES["damage"].items() if inventory.get(sword)])
    return strongest
