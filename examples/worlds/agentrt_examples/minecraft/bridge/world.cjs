// The world that the server generates: level meadow, trees in rows with gaps, and heaps of stone with ore on them.
//
// What stands where follows from the seed and the place alone, never from the order in which pieces are asked for, so
// that the same seed is the same world on every machine. flying-squid loads this file by its path, calls it once with
// its options, and calls what it returns once for each column of 16 by 16 blocks.
"use strict";

const GROUND = 4; // the grass; one stands on it at GROUND + 1
const CELL = 8; // a square with at most one tree or heap, which stays inside it

/** A number of 32 bits that follows from three others alone: an integer hash, with the constants of MurmurHash3. */
function mixed(seed, x, z) {
  let h = seed | 0;
  for (const part of [x, z]) {
    h = Math.imul(h ^ part, 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    h ^= h >>> 16;
  }
  return h >>> 0;
}

/** What stands in a cell: [height, x, z, block] for each block over the ground, relative to the cell's corner. */
function furniture(seed, cellX, cellZ) {
  if (Math.abs(cellX + 0.5) < 1 && Math.abs(cellZ + 0.5) < 1) return []; // the four cells around the origin stay open
  const draw = mixed(seed, cellX, cellZ);
  const x = 2 + (draw & 3);
  const z = 2 + ((draw >>> 2) & 3);
  const kind = (draw >>> 4) % 8;
  if (kind < 4) return tree(x, z);
  if (kind < 6) return heap(x, z, (draw >>> 8) % 3 === 0 ? "iron_ore" : "coal_ore");
  return [];
}

function tree(x, z) {
  const blocks = [1, 2, 3].map((height) => [height, x, z, "oak_log"]);
  for (const [dx, dz] of [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]) blocks.push([4, x + dx, z + dz, "oak_leaves"]);
  return blocks;
}

function heap(x, z, ore) {
  const blocks = [];
  for (let dx = 0; dx < 2; dx++) {
    for (let dz = 0; dz < 2; dz++) blocks.push([1, x + dx, z + dz, dx && dz ? ore : "stone"]);
  }
  return blocks;
}

module.exports = function world({ seed, registry, load }) {
  const Chunk = load("prismarine-chunk")(registry);
  const { Vec3 } = load("vec3");
  const state = (name) => registry.blocksByName[name].defaultState;
  const layers = ["bedrock", "stone", "stone", "dirt", "grass_block"].map(state);
  const plains = registry.biomesByName.plains.id;

  return function column(chunkX, chunkZ) {
    const chunk = new Chunk();
    const at = new Vec3(0, 0, 0);
    for (at.x = 0; at.x < 16; at.x++) {
      for (at.z = 0; at.z < 16; at.z++) {
        layers.forEach((block, y) => { at.y = y; chunk.setBlockStateId(at, block); });
        for (at.y = 0; at.y < 256; at.y++) chunk.setSkyLight(at, 15);
        for (at.y = 0; at.y < 256; at.y += 4) chunk.setBiome(at, plains);
      }
    }
    for (let cellX = 0; cellX < 16 / CELL; cellX++) {
      for (let cellZ = 0; cellZ < 16 / CELL; cellZ++) {
        for (const [height, x, z, name] of furniture(seed, chunkX * 2 + cellX, chunkZ * 2 + cellZ)) {
          chunk.setBlockStateId(new Vec3(cellX * CELL + x, GROUND + height, cellZ * CELL + z), state(name));
        }
      }
    }
    return chunk;
  };
};
module.exports.GROUND = GROUND;
