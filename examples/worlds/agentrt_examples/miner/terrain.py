"""The overworld: hills and ponds, trees and herds, caves, lava in the depth, and ores.

Made from a seed alone, in layers: the ground from noise, then caves that wind through it, then veins of ore, then what
stands on it. Everything that is placed one by one comes from one random stream, in a fixed order; everything that
covers an area comes from noise in whole numbers. So a seed is a world, on every machine.

Depths: coal lies anywhere, iron below ``IRON_BELOW``, diamonds below ``DIAMOND_BELOW`` and are rare; caves whose floor
lies below ``LAVA_BELOW`` are lakes of lava. Water stands up to ``SEA``.

Rejected: caves from three-dimensional noise; a million values of it take half a second, winding tunnels a fiftieth.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy
from numpy.typing import NDArray

from agentrt.kernel import Stream
from agentrt_examples.miner.dimension import Dimension
from agentrt_examples.miner.noise import Whole, noise
from agentrt_examples.miner.places import SIDES, Place
from agentrt_examples.miner.rules import BLOCK_NUMBERS

__all__ = ["DIAMOND_BELOW", "IRON_BELOW", "OVERWORLD_SIZE", "SEA", "Blocks", "Grown", "grow_overworld", "wall_in"]

OVERWORLD_SIZE = (128, 64, 128)
SEA = 30
IRON_BELOW = 27
DIAMOND_BELOW = 12
LAVA_BELOW = 5

Blocks = NDArray[numpy.uint8]
"""The numbers of blocks, indexed ``[x, y, z]``."""

_AIR = BLOCK_NUMBERS["air"]
_STONE = BLOCK_NUMBERS["stone"]
_DIRT = BLOCK_NUMBERS["dirt"]
_GRASS = BLOCK_NUMBERS["grass"]
_SAND = BLOCK_NUMBERS["sand"]
_WATER = BLOCK_NUMBERS["water"]
_LAVA = BLOCK_NUMBERS["lava"]
_LOG = BLOCK_NUMBERS["oak_log"]
_LEAVES = BLOCK_NUMBERS["leaves"]

_TREES = 230
_HERDS = 16
_CAVES = 34
# Ore, how many veins, most blocks in a vein, below which height.
_VEINS = (("coal_ore", 300, 6, 44), ("iron_ore", 240, 4, IRON_BELOW), ("diamond_ore", 110, 3, DIAMOND_BELOW))


@dataclass(slots=True)
class Grown:
    """A dimension that was grown, and who lives in it at first.

    Attributes:
        dimension: its blocks.
        animals: the kind and the place of each animal.
    """

    dimension: Dimension
    animals: list[tuple[str, Place]] = field(default_factory=list)


def grow_overworld(random: Stream) -> Grown:
    """Make the overworld.

    Args:
        random: where all of its chance comes from.
    """
    blocks: Blocks = numpy.zeros(OVERWORLD_SIZE, dtype=numpy.uint8)
    heights = _hills(random.bits())
    _fill(blocks, heights)
    _wind_caves(blocks, heights, random)
    _sow_ores(blocks, random)
    _plant_trees(blocks, heights, random)
    wall_in(blocks)
    grown = Grown(Dimension("overworld", blocks, has_sky=True))
    _settle(grown, random)
    return grown


def wall_in(blocks: Blocks) -> None:
    """Close a box of blocks: bedrock below, and around it what nobody can pass.

    Args:
        blocks: changed in place.
    """
    blocks[:, 0, :] = BLOCK_NUMBERS["bedrock"]
    border = BLOCK_NUMBERS["border"]
    blocks[[0, -1], :, :] = border
    blocks[:, :, [0, -1]] = border


def _hills(seed: int) -> Whole:
    area = (OVERWORLD_SIZE[0], OVERWORLD_SIZE[2])
    wide, middle, fine = noise(seed, area, 32), noise(seed >> 20, area, 13), noise(seed >> 40, area, 5)
    heights: Whole = 27 + (wide * 14 >> 16) + (middle * 7 >> 16) + (fine * 2 >> 16)
    return heights


def _fill(blocks: Blocks, heights: Whole) -> None:
    levels = numpy.arange(blocks.shape[1])[None, :, None]
    tops = heights[:, None, :]
    blocks[levels < tops - 3] = _STONE
    blocks[(levels >= tops - 3) & (levels < tops)] = _DIRT
    blocks[levels == tops] = _GRASS
    shore = (levels <= tops) & (levels >= tops - 2) & (tops <= SEA + 1)
    blocks[shore] = _SAND
    blocks[(levels > tops) & (levels <= SEA)] = _WATER


# --- below ------------------------------------------------------------------------------------------------------------


def _wind_caves(blocks: Blocks, heights: Whole, random: Stream) -> None:
    width, _, depth = blocks.shape
    for number in range(_CAVES):
        x, z = random.between(6, width - 7), random.between(6, depth - 7)
        top = int(heights[x, z])
        # Every third cave begins at the surface, if that is dry: somebody may walk in.
        y = top if number % 3 == 0 and top > SEA + 1 else random.between(4, 26)
        side = random.choice(SIDES)
        for _ in range(random.between(50, 110)):
            _hollow(blocks, x, y, z, random.between(1, 2))
            if random.below(5) == 0:
                side = random.choice(SIDES)
            x = min(width - 6, max(5, x + side[0]))
            z = min(depth - 6, max(5, z + side[1]))
            if random.below(3) == 0:
                y = min(30 if y <= 30 else y, max(3, y + random.between(-2 if y > 12 else -1, 1)))
    low = blocks[:, :LAVA_BELOW, :]
    low[low == _AIR] = _LAVA


def _hollow(blocks: Blocks, x: int, y: int, z: int, reach: int) -> None:
    room = blocks[x - reach : x + reach + 1, max(1, y - reach + 1) : y + reach + 1, z - reach : z + reach + 1]
    room[room != _WATER] = _AIR
    above = blocks[x - reach - 1 : x + reach + 2, y + 1 : y + reach + 2, z - reach - 1 : z + reach + 2]
    if (above == _WATER).any() or (room == _WATER).any():  # the roof of a cave holds the pond above it
        room[room == _AIR] = _STONE


def _sow_ores(blocks: Blocks, random: Stream) -> None:
    width, _, depth = blocks.shape
    for name, veins, most, below in _VEINS:
        number = BLOCK_NUMBERS[name]
        for _ in range(veins):
            x, y, z = random.between(2, width - 3), random.between(2, below - 1), random.between(2, depth - 3)
            for _ in range(random.between(1, most)):
                if blocks[x, y, z] == _STONE:
                    blocks[x, y, z] = number
                step = random.below(6)
                x = min(width - 3, max(2, x + (step == 0) - (step == 1)))
                y = min(below - 1, max(2, y + (step == 2) - (step == 3)))
                z = min(depth - 3, max(2, z + (step == 4) - (step == 5)))


# --- above ------------------------------------------------------------------------------------------------------------


def _plant_trees(blocks: Blocks, heights: Whole, random: Stream) -> None:
    width, _, depth = blocks.shape
    for _ in range(_TREES):
        x, z = random.between(4, width - 5), random.between(4, depth - 5)
        ground = int(heights[x, z])
        trunk = random.between(3, 5)
        around = blocks[x - 1 : x + 2, ground + 1 : ground + 3, z - 1 : z + 2]
        if blocks[x, ground, z] != _GRASS or around.any():
            continue
        top = ground + trunk
        for reach, low, high in ((2, top - 1, top), (1, top + 1, top + 1)):
            crown = blocks[x - reach : x + reach + 1, low : high + 1, z - reach : z + reach + 1]
            crown[crown == _AIR] = _LEAVES
        blocks[x, ground + 1 : top + 1, z] = _LOG
        blocks[x, ground, z] = _DIRT


def _settle(grown: Grown, random: Stream) -> None:
    """Put herds onto the grass."""
    dimension = grown.dimension
    width, _, depth = dimension.size
    for number in range(_HERDS):
        kind = ("cow", "pig")[number % 2]
        x, z = random.between(6, width - 7), random.between(6, depth - 7)
        for _ in range(random.between(2, 4)):
            column, row = x + random.between(-3, 3), z + random.between(-3, 3)
            feet = (column, dimension.surface(column, row), row)
            if dimension.at((column, feet[1] - 1, row)) == _GRASS and dimension.can_stand(feet):
                grown.animals.append((kind, feet))
