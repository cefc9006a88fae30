"""The rules of the game as data: kinds of blocks, items, recipes and creatures, read once from JSON.

Everything that somebody may want to change is a number in ``data``; the code knows a block or an item by what its entry
says (what digs it, what drops, what it burns like) and hardly ever by its name. The files are checked against
``data/schema.json`` and for names that nobody declares, so that a slip of the pen is found when the game is imported.

Rules of digging: a block takes ``dig`` ticks by hand, divided by the speed of a tool of its own kind. Below the tier
that it asks for it can be dug, as slowly as by hand, but nothing drops. Rules of smelting: one piece takes
``SMELT_TICKS`` and two units of fuel.

A world stores the number of a kind in a byte; ``BLOCKS`` is indexed by that number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

__all__ = [
    "BLOCKS",
    "BLOCK_NUMBERS",
    "ITEMS",
    "MOBS",
    "NATURAL",
    "RECIPES",
    "SMELTS",
    "SMELT_FUEL",
    "SMELT_TICKS",
    "BlockKind",
    "Drop",
    "ItemKind",
    "MobKind",
    "Natural",
    "Recipe",
    "dig_ticks",
    "harvests",
]

SMELT_TICKS = 120
"""How long a furnace takes for one piece."""

SMELT_FUEL = 2
"""How many units of fuel one piece takes."""

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Drop:
    """What may fall out of something.

    Attributes:
        item: its name.
        least: how many at least.
        most: how many at most.
        chance: how likely, in thousandths.
    """

    item: str
    least: int
    most: int
    chance: int

    @property
    def expected(self) -> float:
        """How many are to be expected."""
        return self.chance * (self.least + self.most) / 2000


@dataclass(frozen=True, slots=True)
class BlockKind:
    """A kind of block.

    Attributes:
        name: its name.
        number: the byte that stands for it.
        dig: ticks to dig it by hand; 0 if nobody can.
        tool: the kind of tool that digs it faster; empty for none.
        tier: the least tier of that tool for anything to drop.
        drops: what drops.
        passable: whether a body fits into it.
        clear: whether one sees through it.
        liquid: whether it carries swimmers.
        burns: whether it hurts whoever is in it.
        landmark: whether it is worth remembering one by one.
    """

    name: str
    number: int
    dig: int = 0
    tool: str = ""
    tier: int = 0
    drops: tuple[Drop, ...] = ()
    passable: bool = False
    clear: bool = False
    liquid: bool = False
    burns: bool = False
    landmark: bool = False


@dataclass(frozen=True, slots=True)
class ItemKind:
    """A kind of item.

    Attributes:
        name: its name.
        keep: how many are carried at most, unless told otherwise; -1 for any number.
        places: the block that it can be placed as; empty for none.
        food: by how much it feeds.
        fuel: units of fuel.
        tool: what kind of tool it is; empty for none.
        tier: its tier.
        speed: by how much it is faster than a hand.
        wear: after how many uses it breaks; 0 for never.
        damage: what a blow with it does.
    """

    name: str
    keep: int = -1
    places: str = ""
    food: int = 0
    fuel: int = 0
    tool: str = ""
    tier: int = 0
    speed: int = 1
    wear: int = 0
    damage: int = 1

    @property
    def stack(self) -> int:
        """How many of it lie in one slot."""
        return 1 if self.wear else 64


@dataclass(frozen=True, slots=True)
class Recipe:
    """How something is crafted.

    Attributes:
        makes: what.
        count: how many at once.
        needs: what that takes, in the order of the file.
        at: the block that must be within reach; empty for bare hands.
    """

    makes: str
    count: int
    needs: Mapping[str, int]
    at: str = ""


@dataclass(frozen=True, slots=True)
class MobKind:
    """A kind of creature.

    Attributes:
        name: its name.
        health: what it can take.
        pace: ticks for a step.
        where: its dimension.
        damage: what a blow of it does; 0 for a peaceful one.
        pause: ticks between its blows.
        effect: what its blow leaves behind, with how many ticks that lasts; empty for nothing.
        drops: what it leaves when it dies.
    """

    name: str
    health: int
    pace: int
    where: str
    damage: int = 0
    pause: int = 20
    effect: tuple[str, int] | tuple[()] = ()
    drops: tuple[Drop, ...] = ()

    @property
    def is_hostile(self) -> bool:
        """Whether it attacks."""
        return self.damage > 0


@dataclass(frozen=True, slots=True)
class Natural:
    """Where blocks of a kind are found.

    Attributes:
        vein: how many lie together, on the average.
        height: what height to search at; 0 for the surface. Above the surface it means: right below it.
        per: how many blocks are dug, on the average, until one is seen.
        seconds: how long a search on the surface takes, on the average.
    """

    vein: int
    height: int = 0
    per: int = 0
    seconds: float = 0.0


def _read(name: str) -> dict[str, Any]:
    schema = json.loads((_DATA / "schema.json").read_text(encoding="utf-8"))
    data: dict[str, Any] = json.loads((_DATA / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, schema)
    return data


def _fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(entry)
    if "drops" in fields:
        fields["drops"] = tuple(Drop(*drop) for drop in fields["drops"])
    if "effect" in fields:
        fields["effect"] = tuple(fields["effect"])
    return fields


_RECIPES = _read("recipes")

BLOCKS: tuple[BlockKind, ...] = tuple(
    BlockKind(name, number, **_fields(entry)) for number, (name, entry) in enumerate(_read("blocks")["blocks"].items())
)
"""The kinds of blocks, by number."""

BLOCK_NUMBERS: Mapping[str, int] = {kind.name: kind.number for kind in BLOCKS}
"""The numbers of the kinds of blocks, by name."""

ITEMS: Mapping[str, ItemKind] = {
    name: ItemKind(name, **_fields(entry)) for name, entry in _read("items")["items"].items()
}
"""The kinds of items, by name."""

RECIPES: tuple[Recipe, ...] = tuple(Recipe(**entry) for entry in _RECIPES["recipes"])
"""The recipes, in the order of the file."""

SMELTS: Mapping[str, str] = _RECIPES["smelts"]
"""What a furnace makes of what."""

MOBS: Mapping[str, MobKind] = {name: MobKind(name, **_fields(entry)) for name, entry in _read("mobs")["mobs"].items()}
"""The kinds of creatures, by name."""


NATURAL: Mapping[str, Natural] = {name: Natural(**entry) for name, entry in _read("natural")["natural"].items()}
"""Where blocks are found in the overworld, by the names of their kinds."""


def _undeclared() -> list[str]:
    drops = [drop for block in BLOCKS for drop in block.drops] + [drop for mob in MOBS.values() for drop in mob.drops]
    items = [drop.item for drop in drops]
    items += [name for recipe in RECIPES for name in (recipe.makes, *recipe.needs)]
    items += [*SMELTS, *SMELTS.values()]
    blocks = [kind.places for kind in ITEMS.values() if kind.places] + [recipe.at for recipe in RECIPES if recipe.at]
    blocks += NATURAL
    return [name for name in items if name not in ITEMS] + [name for name in blocks if name not in BLOCK_NUMBERS]


if _undeclared():
    raise ValueError(f"the game's data name what no file declares: {', '.join(_undeclared())}")


def harvests(tool: ItemKind | None, block: BlockKind) -> bool:
    """Whether something drops when a block is dug.

    Args:
        tool: what it is dug with; None for bare hands.
        block: its kind.
    """
    return block.tier == 0 or (tool is not None and tool.tool == block.tool and tool.tier >= block.tier)


def dig_ticks(tool: ItemKind | None, block: BlockKind) -> int:
    """How many ticks a block takes.

    Args:
        tool: what it is dug with; None for bare hands.
        block: its kind, one that can be dug.
    """
    if tool is None or tool.tool != block.tool or not harvests(tool, block):
        return block.dig
    return -(-block.dig // tool.speed)
