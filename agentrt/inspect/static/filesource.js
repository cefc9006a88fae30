/**
 * The source of a page that is a file: what a server would send, put together from what the file holds.
 *
 * `agentrt/inspect/onefile.py` makes such files and says what is in them. Here they are unpacked: an index at once, and
 * of the chunks of ticks only those that are looked at; a few of them are kept. `FileSource` stands where otherwise a
 * `Connection` stands, hears the same commands and answers with the same messages (`agentrt/inspect/recorded.py`).
 *
 * Unpacking takes a moment, so composing is asynchronous, one thing at a time: whatever is asked for meanwhile is
 * composed afterwards, for the last tick that was asked for.
 *
 * Keys come from authors. What is put together keeps them as own keys of plain objects (`Object.fromEntries`), so that
 * none of them, whatever it is called, means anything.
 */

import { watchOf, WATCHED } from "./connection.js";
import { mindAt, nth, patched, pinRow, said, settled, textAt } from "./fileviews.js";
import { keyOf } from "./pinned.js";
import { receive } from "./store.js";

const KEPT_CHUNKS = 6;
const MOST_EVENTS = 300;
const MOST_SPANS = 3000;
const FAR = 400; // ticks; what is played further than this in one go is read anew
const WINDOW = 2000; // how many ticks back a log is read
const PLAY_PAUSE = 100; // milliseconds
const NO_TIMES = { last: 0, mean: 0, worst: 0 };

/** Whether this page is such a file. */
export function isFile() {
  return document.getElementById("recorded") !== null;
}

/** Unpack one of the file's elements: gzip in base64. */
async function unpacked(name) {
  const text = atob(document.getElementById(name).textContent);
  const bytes = Uint8Array.from(text, (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** Values that are dear to make, of which the last few are kept. */
class Kept {
  constructor(most, make) {
    this.most = most;
    this.make = make;
    this.known = new Map();
  }

  async get(key) {
    const value = this.known.get(key) ?? (await this.make(key));
    this.known.delete(key);
    this.known.set(key, value);
    if (this.known.size > this.most) this.known.delete(this.known.keys().next().value);
    return value;
  }
}

/** Stands for a connection. */
export class FileSource {
  /**
   * @param {Store} store - the state that it fills.
   */
  constructor(store) {
    this.store = store;
    this.index = null;
    this.chunks = new Kept(KEPT_CHUNKS, (number) => unpacked(`chunk-${number}`).then(opened));
    this.lines = new Kept(KEPT_CHUNKS, (number) => unpacked(`line-${number}`).then(({ spans }) => spans));
    this.tick = 0;
    this.speed = 1;
    this.since = null; // when and where playing began: {at, tick}; null while it stands
    this.told = {}; // what the page was told last, by kind of message
    this.isComposing = false;
    this.isWanted = false;
    store.view(WATCHED, () => this.want());
    setInterval(() => this.since !== null && this.want(), PLAY_PAUSE);
  }

  /** Begin. */
  async open() {
    try {
      this.index = await unpacked("recorded");
    } catch (error) {
      console.error("the file cannot be unpacked", error);
      this.store.set({ link: "refused", linkText: "this browser cannot unpack the file, or it is not whole" });
      return;
    }
    this.tick = this.index.hello.first_tick;
    receive(this.store, this.index.hello);
    if (this.index.reloads.rows.length > 0) receive(this.store, this.index.reloads);
    this.want();
  }

  /** Hear a command. */
  send(message) {
    const act = COMMANDS[message.do];
    if (act === undefined) {
      const words = "nothing runs in a recording, so nothing can be stopped";
      receive(this.store, { is: "error", code: "not_live", message: words });
      return;
    }
    act(this, message);
    this.want();
  }

  within(tick) {
    const { first_tick: first, last_tick: last } = this.index.hello;
    return Math.max(first, Math.min(tick, last));
  }

  /** Where it is; at the end it stays. */
  now() {
    if (this.since === null) return this.tick;
    const { ticks_per_second: rate, last_tick: last } = this.index.hello;
    const gone = Math.floor(((performance.now() - this.since.at) / 1000) * this.speed * rate);
    this.tick = this.within(this.since.tick + gone);
    if (this.tick >= last) this.since = null;
    return this.tick;
  }

  go(tick) {
    this.tick = this.within(tick);
    this.since = null;
  }

  play() {
    const { first_tick: first, last_tick: last } = this.index.hello;
    if (this.since === null) this.since = { at: performance.now(), tick: this.tick >= last ? first : this.tick };
  }

  // --- composing -----------------------------------------------------------------------------------------------------

  async want() {
    if (this.index === null) return;
    this.isWanted = true;
    if (this.isComposing) return;
    this.isComposing = true;
    while (this.isWanted) {
      this.isWanted = false;
      try {
        await this.compose(this.now(), watchOf(this.store.state));
      } catch (error) {
        console.error("something of the file cannot be shown", error);
        receive(this.store, { is: "error", code: "failed", message: `it could not be shown: ${error.message}` });
      }
    }
    this.isComposing = false;
  }

  /** Whether the page was told something else of this kind last. */
  isNews(kind, ...parts) {
    const told = JSON.stringify(parts);
    if (this.told[kind] === told) return false;
    this.told[kind] = told;
    return true;
  }

  async compose(tick, watch) {
    const chunk = await this.chunkOf(tick);
    const there = this.index.agents.flatMap(([name, , first, last], number) =>
      first <= tick && (last === null || last > tick) ? [{ name, number }] : [],
    );
    const tell = (message) => receive(this.store, message);
    tell(this.state(tick, there.length));
    if (this.isNews("agents", tick, watch.agents)) tell(this.agents(chunk, tick, there, watch.agents));
    if (watch.agent !== null && this.isNews("agent", tick, watch.agent)) {
      tell(this.agent(chunk, tick, there, watch.agent));
    }
    if (watch.events === null) delete this.told.events;
    else for (const message of await this.events(tick, watch.events)) tell(message);
    if (watch.timeline !== null && this.isNews("timeline", tick, watch.timeline)) {
      tell(await this.timeline(tick, watch.timeline));
    }
    if (watch.drawing && this.isNews("drawing", tick)) tell(drawn(chunk, tick));
    if (watch.thoughts && this.isNews("mind", nth(chunk.minds, tick), chunk.first)) tell(mindAt(chunk, tick));
    if (this.isNews("pins", tick, watch.pins)) tell(this.pins(tick, watch.pins));
  }

  numberOf(tick) {
    return Math.max(0, nth(this.index.chunks, tick));
  }

  chunkOf(tick) {
    return this.chunks.get(this.numberOf(tick));
  }

  state(tick, agents) {
    return {
      is: "state",
      tick,
      seconds: tick / this.index.hello.ticks_per_second,
      paused: this.since === null,
      reason: "",
      speed: this.speed,
      late_ticks: 0,
      strands: 0,
      agents,
      drawn: this.index.drawn,
      tick_ms: NO_TIMES,
      think_ms: NO_TIMES,
      history: { tick: [], tick_ms: [], think_ms: [] },
      breakpoints: [],
      dropped: 0,
      search: { budget: null, used: 0, waiting: 0 },
    };
  }

  agents(chunk, tick, there, query) {
    const wanted = query.filter.toLowerCase();
    const running = query.running.toLowerCase();
    const rowOf = ({ name, number }) => chunk.rowAt(number, tick) ?? { ...NO_ROW, name };
    const matching = there.filter((one) => {
      const kind = this.index.agents[one.number][1];
      if (query.kind && kind !== query.kind) return false;
      if (wanted && !one.name.toLowerCase().includes(wanted) && !kind.toLowerCase().includes(wanted)) return false;
      if (!running) return true;
      const row = rowOf(one);
      return `${row.running}\n${row.doing}\n${row.status}`.toLowerCase().includes(running);
    });
    const rows = matching.slice(query.offset, query.offset + query.limit).map(rowOf);
    return { is: "agents", total: there.length, matching: matching.length, offset: query.offset, rows };
  }

  agent(chunk, tick, there, name) {
    const found = there.find((one) => one.name === name);
    const view = found === undefined ? null : chunk.viewAt(found.number, tick);
    if (view === null) {
      const none = { is: "agent", name, tick, snapshot: null, explain: "", outlines: {}, values: [] };
      return { ...none, unseen: found !== undefined };
    }
    const snapshot = settled(structuredClone(view), tick); // the page changes it, and views share their parts
    Object.assign(snapshot, { tick, seconds: tick / this.index.hello.ticks_per_second });
    const trees = chunk.treesAt(found.number, tick);
    const outlines = this.isNews("outlines", name, chunk.first, trees) ? (chunk.trees[trees] ?? {}) : {};
    const rate = this.index.hello.ticks_per_second;
    const [explain, values] = [chunk.explanationAt(found.number, tick, name, rate), chunk.valuesAt(found.number, tick)];
    return { is: "agent", name, tick, snapshot, explain, outlines, values };
  }

  /** What was asked and answered in a thought, if it is in the file. */
  async tellThought(id) {
    const texts = this.index.texts ? await (this.texts ??= unpacked("texts")) : null;
    receive(this.store, textAt(texts, id, this.now()));
  }

  /** What is watched over time: lines that were made with the file, and no others. */
  pins(tick, wanted) {
    const { first_tick: first, last_tick: last } = this.index.hello;
    const known = new Map(this.index.pins.map(([agent, text, entries]) => [keyOf({ agent, text }), entries]));
    const rows = wanted.map((pin) => ({ ...pin, ...pinRow(known.get(keyOf(pin)), tick, first, last) }));
    return { is: "pins", tick, first, last, rows };
  }

  /** The log up to a tick: what is new since it was told last, if that is not far, or the newest records. */
  async events(tick, query) {
    const told = this.told.events;
    const asked = JSON.stringify(query);
    this.told.events = { tick, asked };
    const goesOn = told?.asked === asked && told.tick <= tick && tick <= told.tick + FAR;
    if (goesOn && told.tick === tick) return [];
    const records = await this.newest(goesOn ? told.tick + 1 : tick - WINDOW, tick, query);
    if (goesOn && records.length === 0) return [];
    return [{ is: "events", reset: !goesOn, records, missed: 0 }];
  }

  /** The newest records of some ticks, the oldest of them first. */
  async newest(first, last, query) {
    const found = [];
    const least = this.within(first);
    for (let number = this.numberOf(last); number >= 0; number -= 1) {
      const chunk = await this.chunks.get(number);
      for (let at = chunk.records.length - 1; at >= 0 && found.length < MOST_EVENTS; at -= 1) {
        const [tick, lines] = chunk.records[at];
        if (tick > last || tick < first) continue;
        for (let place = lines.length - 1; place >= 0 && found.length < MOST_EVENTS; place -= 1) {
          const line = chunk.lines[lines[place]].is;
          if (fits(tick, line, query)) found.push([tick, ...line]);
        }
      }
      if (found.length >= MOST_EVENTS || this.index.chunks[number][0] <= least) break;
    }
    return found.reverse();
  }

  async timeline(tick, query) {
    const { last_tick: last } = this.index.hello;
    const until = query.last === null ? last : Math.min(query.last, last);
    const number = new Map(this.index.lines).get(query.agent);
    const all = number === undefined ? [] : await this.lines.get(number);
    const spans = all.filter(([, , , , begin, end]) => begin <= until && (end === null || end >= query.first));
    const newest = spans.slice(-MOST_SPANS);
    return { is: "timeline", agent: query.agent, first: query.first, last: until, now: tick, spans: newest };
  }
}

const NO_ROW = {
  number: 0,
  kind: "",
  status: "",
  running: "",
  doing: "",
  models: [],
  aborts: 0,
  waiting: false,
  alive: true,
};

const COMMANDS = {
  watch: () => {},
  thought: (source, { id }) => source.tellThought(id),
  at: (source, { tick }) => source.go(tick),
  step: (source, { ticks }) => source.go(source.now() + ticks),
  play: (source) => source.play(),
  resume: (source) => source.play(),
  pause: (source) => source.go(source.now()),
  speed(source, { speed }) {
    if (source.since !== null) source.since = { at: performance.now(), tick: source.now() };
    source.speed = speed;
  },
};

/** Whether a record is one that a log looks for. */
function fits(tick, [agent, path, event, detail], query) {
  if (query.agent !== null && agent !== query.agent) return false;
  if (query.events !== null && !query.events.includes(event)) return false;
  return !query.text || said(tick, agent, path, event, detail).includes(query.text.toLowerCase());
}

/** A chunk with its views by agent, found by tick. */
function opened(chunk) {
  const byAgent = new Map(chunk.views.map(({ agent, views }) => [agent, views]));
  const made = new Map(); // views that were put together: the last one of each agent, and at which place it stands
  const placeAt = (agent, tick) => nth(byAgent.get(agent) ?? [], tick);
  const entryAt = (agent, tick) => byAgent.get(agent)?.[placeAt(agent, tick)];
  return Object.assign(chunk, {
    rowAt: (agent, tick) => chunk.rows[entryAt(agent, tick)?.[3]],
    valuesAt: (agent, tick) => chunk.values[entryAt(agent, tick)?.[6]]?.is ?? [],
    viewAt(agent, tick) {
      const place = placeAt(agent, tick);
      if (place < 0) return null;
      const view = assembled(byAgent.get(agent), place, made.get(agent));
      made.set(agent, { place, value: view });
      return view;
    },
    explanationAt(agent, tick, name, rate) {
      const [, , , , explained] = entryAt(agent, tick);
      const [then, lines] = explained[Math.max(0, nth(explained, tick))];
      const words = lines.map((line) => chunk.texts[line]);
      return [`${name} at tick ${tick}: ${words[0]}`, ...words.slice(1).map(later(then, tick, rate))].join("\n");
    },
    treesAt(agent, tick) {
      const views = byAgent.get(agent) ?? [];
      for (let place = placeAt(agent, tick); place >= 0; place -= 1) if (views[place][5] >= 0) return views[place][5];
      return -1;
    },
  });
}

/** The value at a place of a list of whole ones and patches; `known` is one that was put together already. */
function assembled(entries, place, known) {
  let from = place;
  while (from > 0 && !entries[from][2] && from !== known?.place) from -= 1;
  let value = from === known?.place ? known.value : entries[from][1];
  for (let at = from + 1; at <= place; at += 1) value = patched(value, entries[at][1]);
  return value;
}

/** What is a time from now in an explanation of an earlier tick, is another one by now. */
function later(then, tick, rate) {
  if (then === tick) return (line) => line;
  const asked = (all, ago) => `asked ${ageWords(Number(ago) + (tick - then) / rate)} ago`;
  const comes = (all, due) => {
    const left = Number(due) - tick;
    return `in tick ${due}, ${left} tick${left === 1 ? "" : "s"} from now`;
  };
  return (line) =>
    line
      .replace(/\basked (\d{1,9}(?:\.\d{1,9})?) s ago\b/g, asked)
      .replace(/\bin tick (\d+), \d+ ticks? from now\b/g, comes);
}

/** A time in the words of an explanation. */
function ageWords(seconds) {
  return `${seconds < 999.5 ? Number(seconds.toPrecision(3)) : seconds.toFixed(0)} s`;
}

function drawn(chunk, tick) {
  const none = { is: "drawing", tick, offered: false, problem: "" };
  const place = nth(chunk.drawings, tick);
  if (place < 0) return none;
  const drawing = assembled(chunk.drawings, place, null);
  if (drawing === null) return { ...none, problem: chunk.drawings[place][3] };
  const { marks, ...still } = drawing;
  return { is: "drawing", tick, offered: true, problem: "", marks, gone: [], whole: true, still };
}
