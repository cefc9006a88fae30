/**
 * The socket to the server: one WebSocket, JSON texts, one thing that the client watches.
 *
 * Rules. The client does not keep a conversation: `watch` says wholly what it looks at, and replaces what it said
 * before. So after a break nothing has to be recovered: connect, say what is watched, and the server sends all of it.
 * Breaks are repaired without asking, at first after a quarter of a second, then ever later, up to five seconds; a page
 * that is looked at again tries at once.
 *
 * The watch message is made from the state (`watchOf`), is sent when it differs from the last one, and at most every 40
 * milliseconds: typing, scrolling and zooming change it quickly, and the server bounds how much it listens to.
 */

import { arrangedQuery, crowdQuery } from "./crowdmodel.js";
import { isOver } from "./past.js";
import { watchedPins } from "./pinned.js";
import { receive } from "./store.js";
import { windowEnd } from "./timescale.js";

const FIRST_DELAY = 250;
const LONGEST_DELAY = 5000;
const WATCH_PAUSE = 40;
const PROTOCOL = 1;
const CLOSED = {
  1008: "this page asked for too much",
  1012: "the inspector was ended",
  1013: "too many pages look at it",
};

/** What the keys of the state come to for the server. */
export function watchOf(state) {
  return {
    do: "watch",
    agents: { ...parseSearch(state.search), ...arrangedQuery(state), ...state.page },
    agent: state.chosen,
    events: state.tab === "events" ? eventsOf(state) : null,
    timeline: timelineOf(state),
    drawing: state.tab === "world",
    pins: watchedPins(state),
    branches: state.tab === "whatif",
    branch: state.tab === "whatif" ? state.branchId : 0,
    hands: state.tab === "control",
    editing: state.tab === "edit" || state.tab === "models",
    crowd: crowdQuery(state),
    thoughts: state.tab === "thoughts",
  };
}

/** The keys that `watchOf` reads. */
export const WATCHED = [
  ...["search", "page", "chosen", "tab", "eventFilter", "windowTicks", "windowLast", "world", "hello"],
  ...["pins", "typing", "branchId", "arrange", "crowdKind"],
];

/**
 * The parts of a search: `kind:wolf run:attack Ann` are a kind, something in what it runs, and words of its name or
 * status.
 *
 * @param {string} search - what the user typed.
 * @returns {{filter: string, kind: string, running: string}} the parts.
 */
export function parseSearch(search) {
  const parts = { filter: [], kind: "", running: "" };
  for (const word of search.trim().split(/\s+/)) {
    if (word.startsWith("kind:")) parts.kind = word.slice(5);
    else if (word.startsWith("run:")) parts.running = word.slice(4);
    else parts.filter.push(word);
  }
  return { filter: parts.filter.join(" "), kind: parts.kind, running: parts.running };
}

function eventsOf(state) {
  const { text, only, groups } = state.eventFilter;
  const events = groups.flatMap((group) => EVENT_GROUPS[group] ?? []);
  return { agent: only ? state.chosen : null, events: events.length > 0 ? events : null, text };
}

/** The kinds of records, in the groups in which the log shows them. */
export const EVENT_GROUPS = {
  running: ["start", "run", "finish", "stop", "complete", "restarted", "status", "progress"],
  choices: ["elect", "preempt", "utility", "activate", "deactivate", "variable", "stimulus", "reconsider"],
  thinking: ["think", "ready", "unready", "reject", "stop_thinking", "blocked", "timeout", "storm"],
  trouble: ["abort", "fault", "disabled", "refused", "killed", "full", "ignored", "late"],
  solving: ["try", "solved", "failed", "interrupted", "resumed", "forecast"],
  minds: ["thought"],
  world: ["added", "removed", "injected", "revoked", "task", "note", "hand"],
};

/**
 * The part of the time that is asked for: a quarter more than is on the screen on its left, in steps of a quarter, so
 * that a window that follows the run does not ask anew with each tick.
 */
function timelineOf(state) {
  if (state.chosen === null || state.hello === null) return null;
  const end = windowEnd(state);
  const quarter = Math.max(1, Math.floor(state.windowTicks / 4));
  const first = Math.max(0, Math.floor((end - state.windowTicks) / quarter - 1) * quarter);
  const follows = state.windowLast === null && !isOver(state);
  return { agent: state.chosen, first, last: follows ? null : Math.ceil(end / quarter + 1) * quarter };
}

/** The socket. */
export class Connection {
  /**
   * @param {Store} store - the state that it fills.
   * @param {string} address - of the page; its query carries the token, if there is one.
   */
  constructor(store, address) {
    const url = new URL(address);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.pathname = url.pathname.replace(/[^/]*$/, "ws");
    url.hash = "";
    this.url = url.href;
    this.store = store;
    this.socket = null;
    this.delay = FIRST_DELAY;
    this.retry = 0;
    this.watched = "";
    this.watchTimer = 0;
    store.view(WATCHED, () => this.watchSoon());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.store.state.link === "lost") this.open();
    });
  }

  /** Connect; a connection that stands is left alone. */
  open() {
    clearTimeout(this.retry);
    if (this.socket !== null) return;
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.addEventListener("message", (event) => this.hear(event.data));
    socket.addEventListener("close", (event) => this.closed(socket, event));
  }

  hear(text) {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return this.store.set({ message: "The server sent something that is not JSON." });
    }
    if (message === null || typeof message !== "object") return undefined;
    if (message.is === "hello" && this.store.state.link !== "open") {
      if (message.protocol !== PROTOCOL) {
        this.store.set({
          message: `The server speaks protocol ${message.protocol}, this page ${PROTOCOL}: reload the page.`,
        });
      }
      this.delay = FIRST_DELAY;
      this.watched = "";
    }
    receive(this.store, message);
    if (message.is === "hello") this.watchNow();
    return undefined;
  }

  /** A socket that was refused does not say so: ask by another road whether it was the token. */
  async askWhy() {
    const url = new URL(this.url);
    try {
      const answer = await fetch(`${url.pathname.replace(/ws$/, "api/hello")}${url.search}`);
      if (answer.status === 401 || answer.status === 403) {
        this.store.set({ link: "refused", linkText: "open the address that the inspector printed, with its token" });
      }
    } catch {
      // Nobody answers: it is lost, as is said already.
    }
  }

  closed(socket, event) {
    if (socket !== this.socket) return;
    this.socket = null;
    this.watched = "";
    this.store.set({ link: "lost", linkText: event.reason || CLOSED[event.code] || "" });
    if (event.code === 1006) this.askWhy();
    this.retry = setTimeout(() => this.open(), this.delay);
    this.delay = Math.min(LONGEST_DELAY, this.delay * 1.7);
  }

  /**
   * Tell the server something.
   *
   * @param {object} message - what; dropped while there is no connection.
   */
  send(message) {
    if (this.socket !== null && this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  watchSoon() {
    if (this.watchTimer !== 0) return;
    this.watchTimer = setTimeout(() => {
      this.watchTimer = 0;
      this.watchNow();
    }, WATCH_PAUSE);
  }

  watchNow() {
    if (this.store.state.link !== "open") return;
    const message = watchOf(this.store.state);
    const text = JSON.stringify(message);
    if (text === this.watched) return;
    this.watched = text;
    this.send(message);
  }
}
