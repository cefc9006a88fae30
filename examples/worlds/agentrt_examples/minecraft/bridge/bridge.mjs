// A bridge to a real server: it starts one, lets one bot appear on it, and speaks JSON lines on its standard streams.
//
//   in   {"id": 1, "do": "walk", "place": [4, 5, 9]}
//   out  {"id": 1, "ok": {"place": [4, 5, 9]}}  or  {"id": 1, "error": {"code": "no_path", "text": "..."}}
//   out  {"event": "moved", "place": [1, 5, 2]}
//
// Rules:
// * Every request is answered exactly once; an event is never an answer. The first line is "spawned" or "ended".
// * A line, the number of open requests, and each answer are bounded. What cannot be read is answered too.
// * It lives as long as its standard input: when that ends, for whatever reason (also a parent that was killed), the
//   server and the bot are gone with it. The server runs in a thread of this process, so nothing can stay behind.
// * Nothing else writes to standard output: what the libraries print goes to standard error.
import { Console } from "node:console";
import { createRequire } from "node:module";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { Body, REQUESTS, Refusal, watch } from "./bot.mjs";

const LONGEST_LINE = 65536; // bytes
const MOST_OPEN = 64;
const VERSION = "1.16.5";
const [modules, seed] = process.argv.slice(2);

globalThis.console = new Console(process.stderr);
const load = createRequire(path.join(modules, "package.json"));

function tell(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

let ending = false;
function end(reason) {
  if (ending) return;
  ending = true;
  tell({ event: "ended", reason });
  setTimeout(() => process.exit(reason === "asked to" ? 0 : 1), 50); // for the last line to go out
}
process.stdout.on("error", () => process.exit(1));
process.on("uncaughtException", (error) => { console.error(error); end(String(error.message ?? error)); });

// --- the server ------------------------------------------------------------------------------------------------------

const worker = new Worker(new URL("./server.cjs", import.meta.url), {
  workerData: { modules, version: VERSION, seed: Number(seed) },
  stdin: false,
  stdout: true, // it prints a prompt there
  stderr: false,
});
const asked = new Map();
let asks = 0;

function server(name, fields) {
  return new Promise((resolve, reject) => {
    asks += 1;
    asked.set(asks, { resolve, reject });
    worker.postMessage({ id: asks, do: name, ...fields });
  });
}

worker.stdout.resume();
worker.on("error", (error) => { console.error(error); end(`the server failed: ${error.message}`); });
worker.on("message", ({ port, failed, id, error }) => {
  if (failed) { console.error(failed); end(`the server failed: ${failed.split("\n")[0]}`); }
  else if (port) appear(port);
  else {
    const { resolve, reject } = asked.get(id);
    asked.delete(id);
    if (error) reject(new Refusal("server", error)); else resolve({});
  }
});

// --- the bot ---------------------------------------------------------------------------------------------------------

let body = null;

function appear(port) {
  const { pathfinder, Movements, goals } = load("mineflayer-pathfinder");
  const bot = load("mineflayer").createBot({
    host: "127.0.0.1", port, username: "agent", auth: "offline", version: VERSION, viewDistance: "short",
  });
  bot.loadPlugin(pathfinder);
  bot.on("error", (error) => end(`the bot failed: ${error.message}`));
  bot.on("kicked", (reason) => end(`the bot was kicked: ${reason}`));
  bot.on("end", (reason) => end(`the connection ended: ${reason}`));
  bot.once("spawn", async () => {
    await bot.waitForChunksToLoad();
    body = new Body(bot, { Vec3: load("vec3").Vec3, Movements, goals }, server);
    tell({ event: "spawned", version: VERSION, port, ...body.state() });
    watch(bot, tell);
  });
}

// --- requests --------------------------------------------------------------------------------------------------------

let open = 0;

async function answer(line) {
  let id = null;
  try {
    const request = parsed(line);
    id = request.id;
    if (!REQUESTS.has(request.do)) throw new Refusal("unknown", `no request is called ${JSON.stringify(request.do)}`);
    if (!body) throw new Refusal("too_early", "the bot has not appeared yet");
    if (open >= MOST_OPEN) throw new Refusal("too_many", `${MOST_OPEN} requests are open`);
    open += 1;
    try {
      tell({ id, ok: await body[request.do](request) });
    } finally {
      open -= 1;
    }
  } catch (error) {
    tell({ id, error: { code: error.code ?? "failed", text: String(error.message ?? error) } });
  }
}

function parsed(line) {
  let request;
  try {
    request = JSON.parse(line);
  } catch {
    throw new Refusal("bad_request", "a request is one line of JSON");
  }
  if (!Number.isSafeInteger(request?.id)) throw new Refusal("bad_request", "a request has an id, a whole number");
  return request;
}

let rest = Buffer.alloc(0);
let skipping = false; // the rest of a line that is too long

process.stdin.on("data", (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
    const line = rest.subarray(0, at);
    rest = rest.subarray(at + 1);
    if (skipping) skipping = false;
    else if (line.length > LONGEST_LINE) tooLong();
    else answer(line.toString());
  }
  if (rest.length > LONGEST_LINE) {
    if (!skipping) tooLong();
    skipping = true;
    rest = Buffer.alloc(0);
  }
});
process.stdin.on("end", () => end("asked to"));
process.stdin.on("error", () => end("asked to"));

function tooLong() {
  tell({ id: null, error: { code: "bad_request", text: `a request has at most ${LONGEST_LINE} bytes` } });
}
