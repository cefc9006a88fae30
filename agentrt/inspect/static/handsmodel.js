/**
 * Changes by hand of what lives: what the server tells of them, and what is typed for one as an edit.
 *
 * An edit is what `agentrt.record.hands` reads: `{disable: "action", of: "Eat", agent: "Ann"}`. Each that is sent has a
 * number, and its answer the same: at once if it is wrong (with the field that is), or after the tick that took it.
 */

import { SETTINGS, STEERED, typedValue } from "./whatifmodel.js";

/** What the page knows of them at first. */
export function handsState() {
  return {
    hands: { force: [], more: 0, marks: [] }, // what is in force, and where the run was touched
    offers: { agent: null, offers: {}, forms: [] }, // what can be changed of the chosen agent, and the inputs
    answers: new Map(), // by the number of a change: {ok, message, field}
    breakError: "", // what is wrong with the breakpoint that was typed
  };
}

/** What the server tells of them, by the kind of message. */
export const handsHandlers = {
  hands(store, message) {
    store.set({ hands: message });
  },
  offers(store, message) {
    store.set({ offers: message });
  },
  hand(store, message) {
    const answers = new Map([...store.state.answers].slice(-20));
    store.set({ answers: answers.set(message.id, message) });
  },
};

let lastNumber = 0;

/** Ask for a change; the number of its answer. */
export function ask(connection, edit) {
  lastNumber += 1;
  connection.send({ do: "hand", id: lastNumber, edit });
  return lastNumber;
}

/** The kinds of changes: key, words, what offers its names (none: it has no name), and an example of a value. */
export const CHANGES = [
  ...STEERED.map(([kind, words]) => ({ key: `disable ${kind}`, words: `Disable ${words}`, names: kind, value: "" })),
  ...STEERED.map(([kind, words]) => ({ key: `force ${kind}`, words: `Force ${words}`, names: kind, value: "" })),
  ...SETTINGS.map(({ key, words, name, value }) => ({ key: `set ${key}`, words, names: name.toLowerCase(), value })),
  { key: "set stimulus", words: "Stimulus", names: "stimulus", value: "true, false, or seconds" },
  { key: "inject", words: "Give a pack", names: "inject", value: "" },
  { key: "revoke", words: "Take a pack", names: "revoke", value: "" },
  { key: "abort", words: "Abort the plan", names: "", value: "" },
];

/** An edit of what was typed; what does not fit is sent as it is, and the server says what is wrong with it. */
export function editOf(key, { name, value, agent }) {
  const [does, what] = key.split(" ");
  if (does === "abort") return { abort: "plan", agent };
  if (does === "inject" || does === "revoke") return { [does]: name, agent };
  const edit = { [does]: what, of: name, agent };
  if (does === "set") edit.to = valueOf(value);
  return edit;
}

function valueOf(text) {
  const { truth, isOne, numbers } = typedValue(text);
  if (truth !== undefined && isOne) return truth;
  if (numbers === null) return text;
  return numbers.length === 1 ? numbers[0] : numbers;
}

/** What is in force on something of an agent: `["force" or "disable", since when]`, or null. */
export function forceOf({ hands }, agent, kind, ...names) {
  const found = hands.force.find(([who, , what, name]) => who === agent && what === kind && names.includes(name));
  return found === undefined ? null : [found[1], found[4]];
}

/** The same in a word, for a row; empty if nothing is in force. */
export function forceWord(state, agent, kind, ...names) {
  const found = forceOf(state, agent, kind, ...names);
  return found === null ? "" : { force: "forced", disable: "disabled" }[found[0]];
}

/** The marks that are about an agent, or about all. */
export function marksOf({ hands, chosen }) {
  return hands.marks.filter(([, agent]) => agent === "" || agent === chosen);
}

/** A field of an input, of what was typed: `{value}`, `{}` if it is left out, or `{error}`. */
export function fieldValue({ kind, choices, is_required: isRequired, may_be_none: mayBeNone }, text) {
  if (choices.length > 0) return text === "" ? {} : { value: choices[Number(text)] };
  if (kind === "text") return text === "" && (!isRequired || mayBeNone) ? {} : { value: text };
  const trimmed = text.trim();
  if (trimmed === "") return {};
  if (kind === "bool") return { value: { true: true, false: false }[trimmed] ?? text };
  if (kind === "int" || kind === "float") {
    const number = Number(trimmed);
    return { value: Number.isFinite(number) ? number : text };
  }
  try {
    return { value: JSON.parse(trimmed) };
  } catch {
    return kind === "any" && !/^[[{"]/.test(trimmed) ? { value: trimmed } : { error: 'This is no JSON: ["a", 1].' };
  }
}
