/**
 * The state of the page, in one place.
 *
 * Rules. Views read `store.state` and never each other. Whoever changes something calls `store.set({key: value})`;
 * values are replaced and never changed in place, so that "is it the same?" is one comparison. A view says of which
 * keys it depends; it is called once a frame at most, after whatever number of changes, in the order in which the
 * views were registered. A hidden tab of the browser draws no frames: then the state goes on and the views do not.
 *
 * What comes from the server is kept as the protocol gives it (`hello`, `world`, `agents`, `agent`, `timeline`,
 * `drawing`), and
 * what the user has chosen beside it. What the user chose about looks is kept by the browser between visits.
 */

import { crowdHandlers, crowdState, UNKNOWN_CROWD } from "./crowdmodel.js";
import { taken } from "./drawing.js";
import { editingHandlers, editingState } from "./editingmodel.js";
import { clip } from "./format.js";
import { taken as takenPins } from "./pinned.js";
import { handsHandlers, handsState } from "./handsmodel.js";
import { complete } from "./plantree.js";
import { thoughtsHandlers, thoughtsState, UNKNOWN_THOUGHTS } from "./thoughtsmodel.js";
import { whatIfHandlers, whatIfState } from "./whatifmodel.js";
import { learnNames, withNames } from "./spannames.js";

/** How many events are kept; the oldest go first. */
export const EVENT_LIMIT = 5000;

/** What there is at first. */
export function initialState() {
  return {
    link: "connecting", // connecting, open, lost, refused
    linkText: "",
    hello: null,
    world: null, // the last "state" message
    agents: { total: 0, matching: 0, offset: 0, rows: [] },
    agent: null, // the last "agent" message
    outlines: {}, // of the chosen agent's drivers, by name
    events: [],
    eventsMissed: 0,
    timeline: null,
    drawing: null, // of the world; see drawing.js
    pins: [], // expressions that are watched over time: {agent, text}
    typing: "", // the one that is being typed
    readings: new Map(), // what each comes to, by its key; see pinned.js
    justNow: null, // what an agent did before the breakpoint that was hit last
    reloads: [], // what was edited while it ran, the oldest first
    ...whatIfState(),
    ...handsState(),
    ...editingState(),
    ...crowdState(),
    ...thoughtsState(),
    message: "", // an error of the server, or what became of something, shown until it is dismissed
    messageIsGood: false, // whether it is no error
    chosen: null, // the name of the agent that is looked at
    selection: null, // {what: "unit"|"frame"|"node"|"goal"|"task"|"event"|"span"|"reload", …}: of the side panel
    search: "",
    tab: "plan",
    page: { offset: 0, limit: 60 }, // the part of the list of agents that is on the screen
    eventFilter: { text: "", only: false, groups: [] },
    windowTicks: 240, // how much of the time line is on the screen
    windowLast: null, // its last tick; null follows the run
    planMode: remembered("planMode", "active"),
    toggled: {}, // what the user opened or closed of the plan, by key
    theme: remembered("theme", "auto"),
  };
}

const FLUSH_TIME = 5; // milliseconds of a frame, in which the browser has to lay out and to paint as well

/** The state, and who wants to know of its changes. */
export class Store {
  constructor(state = initialState()) {
    this.state = state;
    this.views = [];
    this.changed = new Set();
    this.due = new Set(); // views that have to be drawn
    this.scheduled = false;
  }

  /**
   * Change the state.
   *
   * @param {object} patch - the keys that change, with their new values.
   */
  set(patch) {
    for (const [key, value] of Object.entries(patch)) {
      if (this.state[key] === value) continue;
      this.state[key] = value;
      this.changed.add(key);
    }
    if (this.changed.size > 0 && !this.scheduled) {
      this.scheduled = true;
      requestAnimationFrame(() => this.flush());
    }
  }

  /**
   * Draw a view now, and whenever one of some keys changes.
   *
   * @param {string[]} keys - the keys.
   * @param {function(object): void} draw - the view; called with the state.
   */
  view(keys, draw) {
    this.views.push({ keys, draw });
    draw(this.state);
  }

  /**
   * Call the views of what has changed. A view that throws is told to the console and stops no other.
   *
   * What takes longer than a part of a frame goes on in the next one, so that scrolling does not wait for it.
   */
  flush() {
    this.scheduled = false;
    const changed = this.changed;
    this.changed = new Set();
    const end = performance.now() + FLUSH_TIME;
    for (const view of this.views) if (view.keys.some((key) => changed.has(key))) this.due.add(view);
    for (const view of this.due) {
      this.due.delete(view); // a view that becomes due again stands behind all others
      try {
        view.draw(this.state);
      } catch (error) {
        console.error("a view of the inspector failed", error);
      }
      if (performance.now() > end) break;
    }
    if (this.due.size > 0 && !this.scheduled) {
      this.scheduled = true;
      requestAnimationFrame(() => this.flush());
    }
  }
}

/**
 * Take a message of the server into the state.
 *
 * @param {Store} store - the state.
 * @param {object} message - the message; of an unknown kind, it is ignored.
 */
export function receive(store, message) {
  const handler = HANDLERS[message.is];
  if (handler !== undefined) handler(store, message);
}

const HANDLERS = {
  ...whatIfHandlers,
  ...handsHandlers,
  ...editingHandlers,
  ...crowdHandlers,
  ...thoughtsHandlers,
  hello(store, message) {
    if (store.state.link === "open") return store.set({ hello: message }); // a recording that grows
    // Another server, or the same one after a restart: what was known of the run may be of another one.
    const unknown = { outlines: {}, events: [], eventsMissed: 0, timeline: null, drawing: null, reloads: [] };
    Object.assign(unknown, { agent: null, world: null, readings: new Map(), justNow: null, ...handsState() });
    Object.assign(unknown, UNKNOWN_CROWD, UNKNOWN_THOUGHTS);
    return store.set({ ...unknown, hello: message, link: "open", linkText: "" });
  },
  state(store, message) {
    store.set({ world: message });
  },
  agents(store, message) {
    const patch = { agents: message, reading: null };
    const first = message.rows.find((row) => row.group === undefined); // not the head of a group
    if (store.state.chosen === null && first !== undefined) patch.chosen = first.name;
    store.set(patch);
  },
  agent(store, message) {
    if (message.name !== store.state.chosen) return; // sent before the server knew of another choice
    if (message.snapshot) learnNames(complete(message.snapshot));
    const patch = { agent: message };
    if (message.outlines) patch.outlines = { ...store.state.outlines, ...message.outlines };
    store.set(patch);
  },
  events(store, message) {
    const before = message.reset ? [] : store.state.events;
    const missed = (message.reset ? 0 : store.state.eventsMissed) + (message.missed ?? 0);
    const numbered = message.records.map((record) => Object.assign(record, { number: nextEvent() }));
    store.set({ events: before.concat(numbered).slice(-EVENT_LIMIT), eventsMissed: missed });
  },
  timeline(store, message) {
    if (message.agent === store.state.chosen) store.set({ timeline: withNames(message) });
  },
  drawing(store, message) {
    store.set({ drawing: taken(store.state.drawing, message) });
  },
  pins(store, message) {
    store.set({ readings: takenPins(store.state.readings, message) });
  },
  just_now(store, message) {
    store.set({ justNow: message });
  },
  reloads(store, message) {
    store.set({ reloads: message.rows });
  },
  error(store, message) {
    if (message.code === "bad_breakpoint") return store.set({ breakError: message.message }); // said beside its field
    const words = clip(message.message ?? "the server reports an error", 400); // its code is for programs
    return store.set({ messageIsGood: false, message: words });
  },
};

let eventNumber = 0;

/** A number of its own for each event, so that a row of the log keeps its element. */
function nextEvent() {
  eventNumber += 1;
  return eventNumber;
}

/** Look at another agent. */
export function choose(store, name, selection = null) {
  if (name === store.state.chosen) {
    if (selection) store.set({ selection });
    return;
  }
  store.set({ chosen: name, agent: null, outlines: {}, timeline: null, selection, toggled: {} });
}

/** What the browser kept of an earlier visit, or a default; a browser that keeps nothing is no error. */
export function remembered(key, otherwise) {
  try {
    return localStorage.getItem(`agentrt.${key}`) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Let the browser keep something for the next visit. */
export function remember(key, value) {
  try {
    localStorage.setItem(`agentrt.${key}`, String(value));
  } catch {
    // Private windows keep nothing; then it is asked again next time.
  }
}
