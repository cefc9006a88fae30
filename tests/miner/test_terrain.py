"""The worlds that grow from seeds."""

from __future__ import annotations

import hashlib

import numpy
import pytest

from agentrt.kernel import Stream
from agentrt.kernel.rng import derive_seed
from agentrt_examples.miner.game import Game
from agentrt_examples.miner.noise import noise
from agentrt_examples.miner.places import above
from agentrt_examples.miner.rules import BLOCK_NUMBERS
from agentrt_examples.miner.terrain import DIAMOND_BELOW, IRON_BELOW, grow_overworld
from agentrt_examples.miner.underworld import LAKES, grow_nether


def stream(seed, name="overworld"):
    return Stream(derive_seed(seed, name))


def counts(dimension):
    return {name: int((dimension.blocks == number).sum()) for name, number in BLOCK_NUMBERS.items()}


def test_noise_is_made_of_these_numbers():
    values = noise(7, (6, 4), 3)
    assert values.tolist() == NOISE
    assert (noise(8, (6, 4), 3) != values).any()


@pytest.mark.states(
    "003: The miner: (ours) A world is a seed: equal on every host, hash seed and version of Python",
    source="design 2",
)
@pytest.mark.slow
def test_a_seed_is_a_world():
    digests = [
        hashlib.blake2b(bytes(grow_overworld(stream(seed)).dimension.cells), digest_size=6).hexdigest()
        for seed in (1, 1, 2)
    ]
    assert digests == DIGESTS
    nether = grow_nether(stream(1, "nether")).dimension
    assert hashlib.blake2b(bytes(nether.cells), digest_size=6).hexdigest() == NETHER


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_ores_lie_at_their_depths(seed):
    dimension = grow_overworld(stream(seed)).dimension
    found = counts(dimension)
    assert dimension.size[0] * dimension.size[1] * dimension.size[2] > 1_000_000
    assert 60 <= found["diamond_ore"] < found["iron_ore"] < found["coal_ore"]
    assert found["oak_log"] > 150
    for ore, below in (("diamond_ore", DIAMOND_BELOW), ("iron_ore", IRON_BELOW)):
        heights = (dimension.blocks == BLOCK_NUMBERS[ore]).nonzero()[1]
        assert heights.max() < below
        assert heights.min() > 0


def test_the_box_is_closed():
    dimension = grow_overworld(stream(3)).dimension
    blocks = dimension.blocks
    border = BLOCK_NUMBERS["border"]
    assert (blocks[[0, -1], :, :] == border).all()
    assert (blocks[:, :, [0, -1]] == border).all()
    assert (blocks[1:-1, 0, 1:-1] == BLOCK_NUMBERS["bedrock"]).all()
    nether = grow_nether(stream(3, "nether")).dimension
    assert (nether.blocks[1:-1, -1, 1:-1] == BLOCK_NUMBERS["bedrock"]).all()
    lava = (nether.blocks == BLOCK_NUMBERS["lava"]).nonzero()[1]
    assert lava.max() == LAKES


def test_no_ore_grows_in_the_nether():
    found = counts(grow_nether(stream(4, "nether")).dimension)
    assert {name for name, count in found.items() if count} == {"air", "bedrock", "border", "ember_rock", "lava"}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_somebody_can_stand_where_it_begins_and_at_both_portals(seed):
    game = Game(seed)
    world = game.world
    overworld = world.dimensions["overworld"]
    assert overworld.can_stand(world.spawn)
    assert overworld.name_at(above(world.spawn, -1)) == "grass"
    assert [len([name for name, _ in world.links if name == kind]) for kind in ("overworld", "nether")] == [6, 6]
    for (name, place), (other, there) in world.links.items():
        assert world.dimensions[name].name_at(place) == "portal"
        assert world.dimensions[other].can_stand(there)
        assert world.links[other, there][0] == name  # there is a way back
    for creature in world.fauna.creatures:
        assert overworld.can_stand(creature.place)
    game.runtime.close()


def test_the_sky_is_kept_when_blocks_change(flat):
    dimension = flat.miner.dimension
    x, y, z = flat.beside(x=3)
    assert dimension.surface(x, z) == y
    flat.put("stone", (x, y + 4, z))
    assert dimension.surface(x, z) == y + 5
    assert not dimension.is_under_sky((x, y, z))
    flat.put("air", (x, y + 4, z), (x, y - 1, z))
    assert dimension.surface(x, z) == y - 1
    assert dimension.is_under_sky((x, y - 1, z))
    tops = [dimension.size[1] - 1 - int(numpy.argmax(dimension.blocks[x, ::-1, z] != 0)) for z in range(40, 80)]
    assert dimension.sky[x * dimension.size[2] + 40 : x * dimension.size[2] + 80] == tops


NOISE = [
    [55201, 51723, 45143, 41506],
    [50005, 45255, 36267, 31298],
    [40172, 33014, 19471, 11984],
    [34737, 26248, 10186, 1306],
    [34801, 29090, 18284, 12310],
    [34924, 34469, 33609, 33134],
]
DIGESTS = [
    "0d061d75b08d",
    "0d061d75b08d",
    "689c77da1da7",
]
NETHER = "d0cea84235d0"
