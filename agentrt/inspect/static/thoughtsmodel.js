/**
 * Thoughts: what the page knows of the runtime's mind, and the words for it. The state of it; no elements.
 *
 * `mind` is how it stands with the mind, `thoughtId` the thought that is looked at, and `thoughtText` what was asked
 * and answered in it: that may hold what players wrote, and is asked for only by who has controls.
 */

import { count, leafOf, number, timeWords } from "./format.js";

/** The part of the page's state that is about thoughts. */
export function thoughtsState() {
  return {
    mind: null, // the last "mind" message
    thoughtId: 0, // the thought that is looked at; 0 for none
    thoughtText: null, // the last "thought" message
    thoughtsBy: "thought", // thought or agent: what the tab lists
  };
}

/** Takes the server's messages into the state. */
export const thoughtsHandlers = {
  mind(store, message) {
    store.set({ mind: message });
  },
  thought(store, message) {
    if (message.id === store.state.thoughtId) store.set({ thoughtText: message });
  },
};

/** What is known of another run is forgotten. */
export const UNKNOWN_THOUGHTS = { mind: null, thoughtId: 0, thoughtText: null };

/** Look at one thought. */
export function openThought(store, id) {
  store.set({ thoughtId: id, thoughtText: null });
}

/** State, its word, and the color of its dot. */
const STATES = {
  called: ["under way", "thinking"],
  queued: ["waits", "started"],
  answered: ["answered", "running"],
  failed: ["no answer", "impossible"],
  outpaced: ["outpaced", "idle"],
};

export function stateOf({ state }) {
  return STATES[state] ?? [state, "idle"];
}

export const GROUP_HEADS = {
  running: ["Under way", "nothing is asked now"],
  waiting: ["Waiting", "nothing waits"],
  over: ["Over, the newest first", "nothing was asked yet"],
};

export const PART_WORDS = {
  system: "System",
  prompt: "Prompt",
  schema: "Schema of the answer",
  untaken: "Answer that was not taken",
  answer: "Answer",
};

/** What a thought is for: its purpose, and the action that asks. */
export function whatFor({ purpose, path }) {
  return [purpose, leafOf(path)].filter(Boolean).join(" · ") || "–";
}

/** How old a thought is, or how long it took, in game time. */
export function ageOf({ asked, ended }, tick, rate) {
  if (!(rate > 0)) return "–";
  return timeWords(Math.max(0, (ended || tick) - asked) / rate);
}

/** The state in words: of one that waits for nothing else, its place. */
export function standingOf(thought) {
  return thought.place ? thought.words : stateOf(thought)[0];
}

/** What else there is to say of a thought: why it waits, why it has no answer. */
export function wordsOf(thought) {
  const { state, words, model, place } = thought;
  if (thought.is_from_cache) return "from the cache";
  return place || words === state || words === `${model} was asked` ? "" : words;
}

/** Whether nobody has asked anything. */
export function isUnasked({ groups, agents }) {
  return agents.length === 0 && groups.every(({ rows }) => rows.length === 0);
}

/** The figures of a mind: name, value, and whether it is trouble. */
export function figuresOf(mind, tick, rate) {
  const limit = (left) => (left === null ? "no limit" : count(left));
  const rests = mind.rests_until - tick;
  const known = [
    ["Models", mind.models.join(", ") || "–"],
    ["Under way", mind.recorded ? count(mind.running) : `${count(mind.running)} of ${count(mind.at_once)} at once`],
    ["Waiting", count(mind.waiting)],
    ["Calls made", count(mind.calls)],
    ["From the cache", count(mind.hits)],
    ["Tokens used", count(mind.tokens)],
    ["Money", moneyWords(mind.money)],
  ];
  const ofNow = [
    ["Tokens left", limit(mind.tokens_left), mind.tokens_left !== null && mind.tokens_left <= 0],
    ["Calls left", limit(mind.calls_left), mind.calls_left === 0],
    ["Rests", rests > 0 ? `${timeWords(rests / rate)}, until tick ${count(mind.rests_until)}` : "no", rests > 0],
    ["Overruns", count(mind.overruns), mind.overruns > 0],
  ];
  const figures = mind.recorded ? known : [...known, ...ofNow]; // the others are in no recording
  return figures.map(([name, value, isTrouble = false]) => ({ name, value, isTrouble }));
}

/** An amount by the models' prices, in whatever they are given. */
export function moneyWords(amount) {
  return amount === 0 ? "0" : number(amount, amount < 1 ? 5 : 2);
}

/** A thought of the last message by its number. */
export function thoughtOf(mind, id) {
  for (const { rows } of mind?.groups ?? []) {
    const found = rows.find((row) => row.number === id);
    if (found !== undefined) return found;
  }
  return null;
}
