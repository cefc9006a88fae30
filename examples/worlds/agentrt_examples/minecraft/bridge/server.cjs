// The server, in a thread of its own: flying-squid reads the process's standard input as commands and writes to its
// standard output as soon as it is loaded, and the bridge's lines go over both. A thread has streams of its own.
//
// It listens on loopback, on a port that the system picks; names are not checked (offline mode), nothing is written to
// disk. What is told to it and what it tells are the messages at the end of this file.
"use strict";

const { createRequire } = require("node:module");
const path = require("node:path");
const { parentPort, workerData } = require("node:worker_threads");

const load = createRequire(path.join(workerData.modules, "package.json"));
const { Vec3 } = load("vec3");
const { GROUND } = require("./world.cjs");

const server = load("flying-squid").createMCServer({
  host: "127.0.0.1",
  port: 0,
  version: workerData.version,
  motd: "agentrt",
  "max-players": 4,
  "online-mode": false,
  "everybody-op": false,
  "view-distance": 4,
  "max-entities": 100,
  "player-list-text": { header: { text: "" }, footer: { text: "" } },
  gameMode: 0,
  difficulty: 1,
  generation: { name: path.join(__dirname, "world.cjs"), options: { seed: workerData.seed, load } },
  kickTimeout: 60000,
  plugins: {},
  modpe: false,
  logging: false,
  noConsoleOutput: true,
});
server.on("error", (error) => parentPort.postMessage({ failed: String(error.stack ?? error) }));

/** Everybody appears at the origin: by itself the server draws a place at random. */
server.getSpawnPoint = async () => new Vec3(0.5, GROUND + 1, 0.5);

function player(name) {
  const found = server.getPlayer(name);
  if (!found) throw new Error(`no player is called ${name}`);
  return found;
}

const commands = {
  hurt({ name, amount }) { player(name).takeDamage({ damage: amount }); },
  async give({ name, item, count }) {
    const kind = server.registry.itemsByName[item];
    if (!kind) throw new Error(`no item is called ${item}`);
    const Item = load("prismarine-item")(server.registry);
    const { inventory } = player(name);
    inventory.updateSlot(inventory.firstEmptyInventorySlot(), new Item(kind.id, count));
  },
  async set_block({ x, y, z, block }) {
    const kind = server.registry.blocksByName[block];
    if (!kind) throw new Error(`no block is called ${block}`);
    await server.setBlock(server.overworld, new Vec3(x, y, z), kind.defaultState);
  },
};

parentPort.on("message", async ({ id, do: name, ...fields }) => {
  try {
    await commands[name](fields);
    parentPort.postMessage({ id });
  } catch (error) {
    parentPort.postMessage({ id, error: String(error.message ?? error) });
  }
});
server.waitForReady(30000).then(
  () => parentPort.postMessage({ port: server.listeningPort }),
  (error) => parentPort.postMessage({ failed: String(error.stack ?? error) }),
);
