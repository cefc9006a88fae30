"""Reckoning: what things will probably take, in game seconds, by the tools that one has or will have.

Everybody reckons with the same few functions, so that costs of strategies that know nothing of each other can be
compared. They look at the assumed world: with a pickaxe that is only planned, digging is already faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

from agentrt_examples.miner.gatherer import Gatherer
from agentrt_examples.miner.places import Place
from agentrt_examples.miner.rules import (
    BLOCK_NUMBERS,
    BLOCKS,
    ITEMS,
    BlockKind,
    ItemKind,
    Natural,
    dig_ticks,
    harvests,
)
from agentrt_examples.miner.strategies.needs import have
from agentrt_examples.miner.times import RATE

if TYPE_CHECKING:
    from agentrt.strategy import Ask

__all__ = ["digging", "per_block", "searching", "shortage", "sources", "walking"]

_STEP = 0.3
_NEW_TOOL = 90.0  # seconds to go up and get what a pickaxe takes
_NEW_TABLE = 30.0  # the same, if there are sticks
_WEAR = 90  # how often a pickaxe of stone can be used


def sources(item: str) -> list[BlockKind]:
    """The kinds of blocks that drop an item, the likeliest first.

    Args:
        item: the kind of the item.
    """
    found = [kind for kind in BLOCKS if any(drop.item == item for drop in kind.drops)]
    return sorted(found, key=lambda kind: (-per_block(kind, item), kind.number))


def per_block(block: BlockKind, item: str) -> float:
    """How many of an item a block gives, on the average.

    Args:
        block: the kind of the block.
        item: the kind of the item.
    """
    return sum(drop.expected for drop in block.drops if drop.item == item)


def best_tool(ask: Ask, block: BlockKind) -> ItemKind | None:
    """The tool with which a block will be dug: the best that one has, else the least that one needs.

    Args:
        ask: the world.
        block: the kind of the block.
    """
    uses: Mapping[str, Any] = ask.CURRENT.uses
    fit = [ITEMS[item] for item in uses if ITEMS[item].tool == block.tool and harvests(ITEMS[item], block)]
    if fit or not block.tier:
        return max(fit, key=lambda tool: tool.speed, default=None)
    return next(kind for kind in ITEMS.values() if kind.tool == block.tool and kind.tier >= block.tier)


def digging(ask: Ask, kind: str) -> float:
    """Seconds for digging one block.

    Args:
        ask: the world.
        kind: the name of its kind.
    """
    block = BLOCKS[BLOCK_NUMBERS[kind]]
    return dig_ticks(best_tool(ask, block), block) / RATE


def walking(ask: Ask, place: Place) -> float:
    """Seconds to come to a place: over the ground, and through rock for what it lies lower.

    Args:
        ask: the world.
        place: where to.
    """
    here: Place = ask.entity[Gatherer].place
    level = abs(place[0] - here[0]) + abs(place[2] - here[2])
    down = max(0, here[1] - place[1])
    seconds: float = (level + abs(place[1] - here[1])) * _STEP + down * digging(ask, "stone")
    return seconds


def searching(ask: Ask, natural: Natural) -> tuple[float, float]:
    """What it takes to find one more vein.

    Args:
        ask: the world.
        natural: where such blocks are.

    Returns:
        Seconds, and how many blocks are dug.
    """
    if not natural.height:
        return natural.seconds, 0.0
    return natural.per * (digging(ask, "stone") + _STEP / 2), float(natural.per)


def shortage(ask: Ask, missing: float) -> float:
    """What it will cost to run out of pickaxes below the ground.

    Args:
        ask: the world.
        missing: how many uses there are too few.
    """
    if missing <= 0:
        return 0.0
    tools = ceil(missing / _WEAR)
    sticks = min(tools, have(ask, "stick") // 2)
    table = 0.0 if have(ask, "crafting_table") else _NEW_TABLE
    return sticks * table + (tools - sticks) * _NEW_TOOL
