// What the bot can do: one function for each request, in a table at the end.
//
// At most one motion (walk, dig) is under way; a newer one replaces it. Every motion can be canceled: its request ends
// at once with the code "canceled" or "replaced", and the bot stands still. Places are [x, y, z] in whole blocks, and
// the bot's own place is the block that its feet are in.

/** A refusal with a code that a program can read and a text that a person can. */
export class Refusal extends Error {
  constructor(code, text) {
    super(text);
    this.code = code;
  }
}

const FAR = 64; // blocks, for a search
const MANY = 64; // answers to a search
const FACES = [[0, 1, 0], [1, 0, 0], [-1, 0, 0], [0, 0, 1], [0, 0, -1], [0, -1, 0]];
const WORLD = 30_000_000; // the game's own bound of a coordinate

function number(value, name, low, high) {
  if (typeof value !== "number" || !(value >= low && value <= high)) {
    throw new Refusal("bad_request", `${name} is a number from ${low} to ${high}, not ${JSON.stringify(value)}`);
  }
  return value;
}

function word(value, name) {
  if (typeof value !== "string" || !/^[a-z0-9_]{1,64}$/.test(value)) {
    throw new Refusal("bad_request", `${name} is a name such as "oak_log", not ${JSON.stringify(value)}`);
  }
  return value;
}

function place(value) {
  if (!Array.isArray(value) || value.length !== 3) {
    throw new Refusal("bad_request", `place is [x, y, z], not ${JSON.stringify(value)}`);
  }
  return value.map((part, axis) => number(part, "xyz"[axis], -WORLD, WORLD));
}

const feet = (bot) => bot.entity.position.floored().toArray();

function carried(bot) {
  const items = {};
  for (const item of bot.inventory.items()) items[item.name] = (items[item.name] ?? 0) + item.count;
  return items;
}

/** What lies there; null for anything else, and for a moment after something fell, before the server tells what. */
function dropped(entity) {
  try {
    return entity.getDroppedItem();
  } catch {
    return null;
  }
}

export class Body {
  /**
   * @param bot a mineflayer bot that has appeared
   * @param libraries {Vec3, Movements, goals}
   * @param server asks the server's thread: (name, fields) => promise
   */
  constructor(bot, libraries, server) {
    this.bot = bot;
    this.server = server;
    this.motion = null; // {id, halt}: what moves the bot, and how to end it with a code
    Object.assign(this, libraries);
    const movements = new libraries.Movements(bot);
    movements.canDig = false; // on its way it changes nothing: digging is a request of its own
    movements.allow1by1towers = false;
    movements.scafoldingBlocks = [];
    bot.pathfinder.setMovements(movements);
  }

  vector(value) {
    return new this.Vec3(...place(value));
  }

  block(at) {
    const block = this.bot.blockAt(at);
    if (!block) throw new Refusal("not_loaded", `nothing is known of ${at}: it is too far away`);
    return block;
  }

  /** Run something that moves the bot. `stop` ends it in the game; the promise of `begin` is then of no interest. */
  move(id, begin, stop) {
    this.halt("replaced");
    return new Promise((resolve, reject) => {
      const motion = { id, halt: (code) => { stop(); reject(new Refusal(code, `the motion was ${code}`)); } };
      this.motion = motion;
      const over = () => { if (this.motion === motion) this.motion = null; };
      begin().then(
        (value) => { over(); resolve(value); },
        (error) => { over(); reject(error); },
      );
    });
  }

  halt(code, id) {
    const motion = this.motion;
    if (!motion || (id !== undefined && motion.id !== id)) return false;
    this.motion = null;
    motion.halt(code);
    return true;
  }

  walk({ id, place: to, within = 0 }) {
    const { x, y, z } = this.vector(to);
    const goal = new this.goals.GoalNear(x, y, z, number(within, "within", 0, FAR));
    const { bot } = this;
    return this.move(id, async () => {
      try {
        await bot.pathfinder.goto(goal);
      } catch (error) {
        const none = error.name === "NoPath" || error.name === "Timeout"; // it gives up after some seconds of thinking
        throw none ? new Refusal("no_path", `no way to ${[x, y, z]} was found`) : error;
      }
      // The library also calls it a success when the best that it found was to stay where it is.
      if (!goal.isEnd(bot.entity.position.floored())) throw new Refusal("no_path", `no way leads to ${[x, y, z]}`);
      return { place: feet(bot) };
    }, () => bot.pathfinder.setGoal(null));
  }

  dig({ id, place: where }) {
    const { bot } = this;
    const block = this.block(this.vector(where));
    if (block.boundingBox === "empty") throw new Refusal("nothing_there", `${block.name} cannot be dug`);
    if (!bot.canDigBlock(block)) throw new Refusal("out_of_reach", `${block.name} at ${where} is out of reach`);
    return this.move(id, async () => {
      const tool = bot.pathfinder.bestHarvestTool(block);
      if (tool) await bot.equip(tool, "hand");
      // In the air it takes five times as long, to the end, and a blow lifts it off the ground for a moment.
      for (let ticks = 0; !bot.entity.onGround && ticks < 20; ticks++) await bot.waitForTicks(1);
      if (this.motion?.id !== id) return null; // halted in the meantime, and answered
      await bot.dig(block, true);
      return { kind: block.name };
    }, () => bot.stopDigging());
  }

  block_at({ place: where }) {
    return { kind: this.block(this.vector(where)).name };
  }

  /** The nearest blocks of each kind that have a face to the air. A kind that this version does not know is told. */
  find_blocks({ kinds, within = 32, count = 16 }) {
    if (!Array.isArray(kinds) || kinds.length > MANY) {
      throw new Refusal("bad_request", `kinds is a list of up to ${MANY} names`);
    }
    const { registry } = this.bot;
    const known = registry.blocksByName;
    const unknown = kinds.filter((kind) => !Object.hasOwn(known, word(kind, "kind")));
    const wanted = new Set(kinds.filter((kind) => !unknown.includes(kind)).map((kind) => known[kind].id));
    const far = number(within, "within", 1, FAR);
    const most = number(count, "count", 1, MANY);
    const here = this.bot.entity.position.floored();
    const distance = (at) => at.distanceSquared(here);
    const found = this.scan((state) => wanted.has(registry.blocksByStateId[state].id), here, far)
      .filter((at) => distance(at) <= far * far && this.isOpen(at))
      .sort((a, b) => distance(a) - distance(b) || a.x - b.x || a.y - b.y || a.z - b.z);
    const blocks = Object.fromEntries(kinds.map((kind) => [kind, []]));
    for (const at of found) {
      const places = blocks[registry.blocksByStateId[this.bot.world.getBlockStateId(at)].name];
      if (places.length < most) places.push(at.toArray());
    }
    return { blocks, unknown };
  }

  /**
   * Where the blocks in a cube are whose states are wanted. The library's own search makes an object of every block
   * that it looks at, and holds up the whole process for a second; this one reads numbers, and leaves out sections that
   * cannot have any.
   */
  scan(isWanted, { x, y, z }, far) {
    const found = [];
    const at = new this.Vec3(0, 0, 0); // in its column
    for (let chunkX = (x - far) >> 4; chunkX <= (x + far) >> 4; chunkX++) {
      for (let chunkZ = (z - far) >> 4; chunkZ <= (z + far) >> 4; chunkZ++) {
        const column = this.bot.world.getColumn(chunkX, chunkZ);
        for (let level = Math.max(0, (y - far) >> 4); column && level <= (y + far) >> 4; level++) {
          const section = column.sections[level];
          if (!section || (section.palette && !section.palette.some(isWanted))) continue;
          for (at.y = level << 4; at.y < (level + 1) << 4; at.y++) {
            for (at.x = 0; at.x < 16; at.x++) {
              for (at.z = 0; at.z < 16; at.z++) {
                if (isWanted(column.getBlockStateId(at))) found.push(at.offset(chunkX << 4, 0, chunkZ << 4));
              }
            }
          }
        }
      }
    }
    return found;
  }

  /** Whether one of its faces can be seen. */
  isOpen(at) {
    const { world, registry } = this.bot;
    const beside = FACES.map((face) => registry.blocksByStateId[world.getBlockStateId(at.offset(...face))]);
    return beside.some((block) => block.boundingBox === "empty");
  }

  drops({ within = 16 }) {
    const { bot } = this;
    const far = number(within, "within", 0, FAR);
    const drops = [];
    for (const entity of Object.values(bot.entities)) {
      if (entity.name !== "item" || entity.position.distanceTo(bot.entity.position) > far) continue;
      const item = dropped(entity);
      if (item) drops.push({ kind: item.name, count: item.count, place: entity.position.floored().toArray() });
    }
    return { drops: drops.slice(0, MANY) };
  }

  state() {
    const { bot } = this;
    const held = bot.heldItem?.name ?? null;
    return { place: feet(bot), health: bot.health, food: bot.food, items: carried(bot), held };
  }

  stop() {
    return { stopped: this.halt("canceled") };
  }

  cancel({ of }) {
    return { stopped: this.halt("canceled", number(of, "of", 0, Number.MAX_SAFE_INTEGER)) };
  }

  async server_hurt({ amount = 1 }) {
    return this.server("hurt", { name: this.bot.username, amount: number(amount, "amount", 0, 20) });
  }

  async server_give({ kind, count = 1 }) {
    const fields = { item: word(kind, "kind"), count: number(count, "count", 1, 64) };
    return this.server("give", { name: this.bot.username, ...fields });
  }

  async server_set_block({ place: where, kind }) {
    const { x, y, z } = this.vector(where);
    return this.server("set_block", { x, y, z, block: word(kind, "kind") });
  }
}

/** What may be asked for, by name. */
export const REQUESTS = new Set([
  "walk", "dig", "block_at", "find_blocks", "drops", "state", "stop", "cancel",
  "server_hurt", "server_give", "server_set_block",
]);

/** Tell what happens to the bot, as events: {event, ...}. */
export function watch(bot, tell) {
  let before = { place: null, health: bot.health, items: "" };
  bot.on("move", () => {
    const now = feet(bot);
    if (String(now) === String(before.place)) return;
    before.place = now;
    tell({ event: "moved", place: now });
  });
  bot.on("health", () => {
    const by = before.health - bot.health;
    before.health = bot.health;
    tell({ event: "health", health: bot.health, food: bot.food });
    if (by > 0) tell({ event: "hurt", by, health: bot.health });
  });
  bot.inventory.on("updateSlot", () => setImmediate(() => {
    const items = carried(bot);
    const text = JSON.stringify(items);
    if (text === before.items) return;
    before.items = text;
    tell({ event: "inventory", items });
  }));
  bot.on("playerCollect", (collector, collected) => {
    if (collector === bot.entity) tell({ event: "collected", kind: dropped(collected)?.name ?? null });
  });
  bot.on("death", () => tell({ event: "died" }));
}
