"""The nether: a low, hot dimension of caverns over lakes of lava, and the portals that lead there and back.

Nothing grows there and there is no ore: whoever needs something else than ember rock has to return. Caverns come from
noise, so that most of the way is open; lava stands up to ``LAKES``.

A *portal* is a frame of obsidian, four blocks wide and five high, filled with portal blocks, on a platform with room to
stand in front and behind. Portals are linked in pairs, one in each dimension.
"""

from __future__ import annotations

import numpy

from agentrt.kernel import Stream
from agentrt_examples.miner.dimension import Dimension
from agentrt_examples.miner.noise import noise
from agentrt_examples.miner.places import Place
from agentrt_examples.miner.rules import BLOCK_NUMBERS
from agentrt_examples.miner.terrain import Blocks, Grown, wall_in

__all__ = ["LAKES", "NETHER_SIZE", "build_portal", "grow_nether"]

NETHER_SIZE = (64, 40, 64)
LAKES = 8

_OPEN_ABOVE = 33_500  # of 65,536; about half of it is open


def grow_nether(random: Stream) -> Grown:
    """Make the nether.

    Args:
        random: where all of its chance comes from.
    """
    blocks: Blocks = numpy.full(NETHER_SIZE, BLOCK_NUMBERS["ember_rock"], dtype=numpy.uint8)
    seed = random.bits()
    rough = (noise(seed, NETHER_SIZE, 11) * 3 + noise(seed >> 24, NETHER_SIZE, 5)) >> 2
    is_open = rough > _OPEN_ABOVE
    is_open[:, :2, :] = False
    is_open[:, -3:, :] = False
    blocks[is_open] = BLOCK_NUMBERS["air"]
    low = blocks[:, : LAKES + 1, :]
    low[low == BLOCK_NUMBERS["air"]] = BLOCK_NUMBERS["lava"]
    wall_in(blocks)
    blocks[:, -1, :] = BLOCK_NUMBERS["bedrock"]
    return Grown(Dimension("nether", blocks, has_sky=False))


def build_portal(dimension: Dimension, corner: Place) -> tuple[Place, ...]:
    """Build a portal.

    Args:
        dimension: where.
        corner: the left lower block of its frame, at least three blocks away from the edges of the box.

    Returns:
        The places of its portal blocks; the first is in the lowest row.
    """
    x, y, z = corner
    for column in range(x - 1, x + 5):
        for row in range(z - 2, z + 3):
            dimension.put((column, y, row), BLOCK_NUMBERS["obsidian"])
            for height in range(y + 1, y + 6):
                dimension.put((column, height, row), BLOCK_NUMBERS["air"])
    inner: list[Place] = []
    for height in range(y, y + 5):
        for column in range(x, x + 4):
            is_inner = x < column < x + 3 and y < height < y + 4
            dimension.put((column, height, z), BLOCK_NUMBERS["portal" if is_inner else "obsidian"])
            if is_inner:
                inner.append((column, height, z))
    return tuple(inner)
