/**
 * The crowd: how the list of agents is arranged, and what all of them do. The state of it, what is asked of the server
 * for it, and words; no elements.
 *
 * `arrange` says in which groups and order the list stands, and which agents are in it; what the search says narrows it
 * further. `crowd` is how many do what over time, `heat` who thought how much about what, as the server tells them.
 */

import { count, milliseconds, number, plain } from "./format.js";

/** How the list stands when nobody has arranged it. */
export const PLAIN = Object.freeze({
  group: "",
  sort: "",
  down: false,
  value: "",
  states: [],
  doing: null, // exactly this; "" is nothing, null anything
  folded: [],
});

/** The part of the page's state that is about the crowd. */
export function crowdState() {
  return {
    arrange: PLAIN,
    isArranging: false, // whether the controls for it are on the screen
    crowd: null, // the last "crowd" message
    crowdKind: "", // the kind that the tab is about; empty for all
    heat: null, // the last "heat" message
    reading: null, // the last "reading" message: a list of a recording for which all agents are read
  };
}

/** Takes the server's messages into the state. */
export const crowdHandlers = {
  crowd(store, message) {
    if (message.kind === store.state.crowdKind) store.set({ crowd: message });
  },
  reading(store, message) {
    store.set({ reading: message });
  },
  heat(store, message) {
    store.set({ heat: message });
  },
};

/** What is known of another run is forgotten. */
export const UNKNOWN_CROWD = { crowd: null, heat: null, reading: null };

export const GROUP_WORDS = {
  "": "No groups",
  kind: "By kind",
  doing: "By what they do",
  state: "By state",
  tasks: "By task group",
  value: "By the value",
};

export const SORT_WORDS = {
  "": "As they came",
  name: "Name",
  kind: "Kind",
  doing: "What they do",
  state: "State",
  utility: "Utility",
  think: "Thinking",
  aborts: "Aborts",
  value: "The value",
};

/** Of these the greatest is looked for first. */
const GREATEST_FIRST = new Set(["utility", "think", "aborts", "value"]);

export const STATE_WORDS = {
  running: ["running", "something runs"],
  thinking: ["thinking", "has a plan, and nothing of it runs"],
  waiting: ["waits", "waits for a control flag"],
  aborted: ["aborted lately", "something was aborted in the last ten seconds, or again and again until now"],
  late: ["late", "in the last ten seconds a call came too late, or was not ready in time"],
  idle: ["idle", "has no plan, and its models do nothing"],
  ended: ["ended", "was removed, or its planner gave up"],
};

/** Arrange the list otherwise; from its top. */
export function arrange(store, patch) {
  const next = { ...store.state.arrange, ...patch };
  if (patch.sort !== undefined && patch.down === undefined) next.down = GREATEST_FIRST.has(patch.sort);
  store.set({ arrange: next, page: { ...store.state.page, offset: 0 } });
}

/** Only those that do one thing; or, if that is so already, all again. */
export function filterByDoing(store, doing) {
  arrange(store, { doing: store.state.arrange.doing === doing ? null : doing });
}

/** What the server is asked for. */
export function arrangedQuery({ arrange: wanted }) {
  return { ...wanted, value: wanted.value.trim() };
}

/** What is asked for the tab. */
export function crowdQuery(state) {
  return state.tab === "crowd" ? { kind: state.crowdKind, heat: true } : null;
}

/** Whether the list stands otherwise than it came. */
export function isArranged({ arrange: wanted }) {
  return Object.entries(PLAIN).some(([key, value]) => JSON.stringify(wanted[key]) !== JSON.stringify(value));
}

/** What agents do, in a word. */
export function doingWord(doing) {
  return doing === "" ? "nothing" : doing;
}

/** What is shown of an agent besides its name: what the list is in the order of. */
export function figureOf(row, { sort, value }, unit) {
  if (sort === "utility") return typeof row.utility === "number" ? number(row.utility) : "–";
  if (sort === "think") return unit === "ms" ? milliseconds(row.think) : count(row.think);
  if (sort === "aborts") return count(row.aborts);
  if (sort === "kind") return row.kind || "–";
  if (value.trim() === "") return "";
  return row.value === undefined ? "" : typeof row.value === "number" ? number(row.value) : plain(row.value);
}

/** How often something is made anew, in words; `seconds` is the time between. */
export function rateWords(seconds) {
  if (!(seconds > 0)) return "";
  if (seconds >= 1.5) return `updated every ${number(seconds, seconds < 10 ? 1 : 0)} s`;
  const times = Math.max(1, Math.round(1 / seconds));
  return times === 1 ? "updated once a second" : `updated ${times} times a second`;
}

/**
 * What stands below the search: how the list is made, if that is to be known.
 *
 * @param {object} state - of the page.
 * @returns {{text: string, isTrouble: boolean}} the words.
 */
export function listNote(state) {
  const { agents, world, hello } = state;
  if (state.reading !== null && isArranged(state)) {
    const { read, of } = state.reading;
    return { text: read > 0 ? `reading: ${count(read)} of ${count(of)} agents` : "reading …", isTrouble: false };
  }
  if (agents.problem) return { text: agents.problem, isTrouble: true };
  if (!isArranged(state) && agents.total < 200) return { text: "", isTrouble: false };
  const words = [];
  if (hello?.source === "recording") {
    const isBehind = agents.tick !== undefined && agents.tick !== world?.tick;
    if (isArranged(state) && isBehind) words.push(`of tick ${agents.tick}`);
    if (state.arrange.sort === "think") words.push("answers of thinking in 10 s; what is over keeps no real time");
  } else {
    words.push(`${count(agents.total)} agents, ${rateWords(agents.every || 0.5)}`);
    if (state.arrange.sort === "think") words.push("real time a tick, of the last 10 s");
  }
  return { text: words.join("; "), isTrouble: false };
}
