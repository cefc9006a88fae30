/**
 * What if, as data: a draft of changes, what can be changed, and what the server tells of branches. It knows no
 * element.
 *
 * A draft is a script as the command line takes it: a list of edits, each of one tick. So what is put together in the
 * page can be saved, sent to somebody, opened again, and run by `agentrt replay`; the digest is the same.
 */

import { clip, number } from "./format.js";

const MOST_EDITS = 200;
const MOST_NODES = 200; // of trees, as names for a form
const MOST_LETTERS = 60_000; // of a script: a message has a bound

/** What the page keeps of it at first. */
export function whatIfState() {
  return {
    branches: [], // those of the server, the oldest first
    branchId: 0, // the one that is looked at
    branch: null, // what came of it
    sides: null, // time lines of both runs, of the chosen agent
    inputs: null, // what came in after the tick
    draft: { at: null, ticks: null, edits: [] },
  };
}

/** What the server tells of branches, by the kind of message. */
export const whatIfHandlers = {
  branches(store, message) {
    const patch = { branches: message.rows };
    const { branchId } = store.state;
    if (branchId !== 0 && !message.rows.some((row) => row.id === branchId))
      Object.assign(patch, { branchId: 0, branch: null, sides: null });
    store.set(patch);
  },
  branched(store, message) {
    store.set({ branchId: message.id, branch: null, sides: null });
  },
  branch(store, message) {
    if (message.id === store.state.branchId) store.set({ branch: message });
  },
  sides(store, message) {
    const { branchId, chosen } = store.state;
    if (message.id === branchId && message.agent === chosen) store.set({ sides: message });
  },
  inputs(store, message) {
    store.set({ inputs: message });
  },
};

/** What can be set, in a branch and of what lives: key, words, how what is changed is called, an example of a value. */
export const SETTINGS = [
  { key: "utility", words: "Utility of an action", name: "Action", value: "0.7 (0 to 1), or 0.2 0.9 for a range" },
  { key: "weight", words: "Weight of an action", name: "Action", value: "2" },
  { key: "sunk_cost_boost", words: "Sunk cost boost of an action", name: "Action", value: "0.05" },
  { key: "priority", words: "Priority of a goal", name: "Goal", value: "a number; low goes first" },
  { key: "variable", words: "Variable of a selection tree", name: "Variable", value: "true or false" },
];

/** What can be disabled and forced, here and by hand: the kind, and words for one of it. */
export const STEERED = [
  ["action", "an action"],
  ["goal", "a goal"],
  ["decider", "a decider"],
  ["leaf", "a leaf"],
];

const steered = (does, words) =>
  STEERED.map(([kind, one]) => {
    const name = kind[0].toUpperCase() + kind.slice(1);
    return { key: `${does} ${kind}`, words: `${words} ${one}`, name, value: "" };
  });

/** The kinds of changes, as `SETTINGS`; no example: it has no value, no name: it needs none. */
export const CHANGES = [
  ...SETTINGS,
  ...steered("disable", "Disable"),
  ...steered("force", "Force"),
  { key: "stimulus", words: "Stimulus of a behavior tree", name: "Stimulus", value: "true, false, or seconds" },
  { key: "abort", words: "Abort the plan", name: "", value: "" },
  { key: "inject", words: "Give a pack", name: "Alias of the pack", value: "" },
  { key: "revoke", words: "Take a pack", name: "Alias of the pack", value: "" },
  { key: "send", words: "Send an input", name: "Input", value: '{"name": "value"}' },
  { key: "drop", words: "Leave out an input", name: "Input, or number of a call", value: "" },
  {
    key: "change",
    words: "Change an input",
    name: "Input, or number of a call",
    value: '{"name": "value"}, or the result',
  },
];

/**
 * Make an edit of what was typed.
 *
 * @param {string} key - of `CHANGES`.
 * @param {{tick: number, name: string, value: string, agent: string}} typed - as it was typed; no agent means all.
 * @returns {{edit: object}|{error: string}} the edit, or what is wrong.
 */
export function editOf(key, { tick, name, value, agent }) {
  if (!Number.isInteger(tick) || tick < 1) return { error: "The tick is a whole number from 1." };
  const { name: called, value: example } = CHANGES.find((one) => one.key === key);
  if (name === "" && called !== "") return { error: `Say which: ${called.toLowerCase()}.` };
  const who = agent ? { agent } : {};
  const [does, kind] = key.split(" ");
  if (does === "abort") return { edit: { tick, abort: "plan", ...who } };
  if (kind !== undefined) return { edit: { tick, [does]: kind, of: name, ...who } };
  if (key === "inject" || key === "revoke") return { edit: { tick, [key]: name, ...who } };
  if (key === "send" || key === "drop" || key === "change") return inputEdit(key, tick, name, value);
  const to = valueOf(key, value);
  if (to === undefined || !isInRange(key, to)) return { error: `The value does not fit: ${example}.` };
  return { edit: { tick, set: key, of: name, to, ...who } };
}

function inputEdit(key, tick, name, value) {
  const what = key !== "send" && /^\d+$/.test(name) ? Number(name) : name;
  if (key === "drop") return { edit: { tick, drop: what } };
  let given;
  try {
    given = value.trim() === "" ? {} : JSON.parse(value);
  } catch {
    return { error: 'The arguments are JSON, as in {"who": "a king"}.' };
  }
  if (typeof what === "number") return { edit: { tick, change: what, value: given } };
  if (given === null || typeof given !== "object" || Array.isArray(given))
    return { error: 'The arguments are an object, as in {"who": "a king"}.' };
  return { edit: { tick, [key]: what, args: given } };
}

/** A typed value: the truth that its first word says, if it does; whether it is one word; its numbers, if all are. */
export function typedValue(text) {
  const words = text
    .trim()
    .replace(/^\[|\]$/g, "")
    .split(/[\s,;]+/)
    .filter(Boolean);
  const numbers = words.map(Number);
  const areNumbers = numbers.length > 0 && numbers.every((one) => Number.isFinite(one));
  const truth = { true: true, false: false }[words[0]?.toLowerCase()];
  return { truth, isOne: words.length === 1, numbers: areNumbers ? numbers : null };
}

function valueOf(key, text) {
  const { truth, numbers } = typedValue(text);
  if (key === "variable") return truth;
  if (key === "stimulus" && truth !== undefined) return truth;
  if (numbers === null) return undefined;
  if (numbers.length === 1) return numbers[0];
  return key === "utility" && numbers.length === 2 ? numbers : undefined;
}

/** Whether a number is one that the server takes: it would refuse the whole script, and not beside the form. */
function isInRange(key, value) {
  const all = [value].flat();
  if (key === "utility") return all.every((one) => one >= 0 && one <= 1) && all[0] <= all.at(-1);
  return key === "priority" || typeof value === "boolean" || value >= 0;
}

/** An edit in words. */
export function editWords(edit) {
  const value = (one) => (Array.isArray(one) ? one.map((end) => number(end)).join(" to ") : number(one));
  if ("set" in edit) {
    const to = typeof edit.to === "boolean" ? String(edit.to) : value(edit.to);
    const which = `${String(edit.set).replaceAll("_", " ")} of ${edit.of}`;
    return clip(`${which} becomes ${to}${edit.agent ? `, for ${edit.agent}` : ""}`, 200);
  }
  const args = clip(JSON.stringify(edit.args ?? edit.value ?? edit.error ?? {}), 120);
  if ("inject" in edit) return clip(`${edit.agent || "everybody"} is given ${edit.inject}`, 200);
  if ("revoke" in edit) return clip(`${edit.revoke} is taken from ${edit.agent || "everybody"}`, 200);
  if ("send" in edit) return clip(`${edit.send} comes in with ${args}`, 200);
  const steers = ["disable", "force", "free"].find((does) => does in edit);
  const whose = edit.agent ? ` of ${edit.agent}` : " of everybody";
  if (steers !== undefined) return clip(`${steers} ${edit[steers]} ${edit.of}${whose}`, 200);
  if ("abort" in edit) return clip(`abort the plan${whose}`, 200);
  if ("drop" in edit) return clip(`${callWords(edit.drop)} does not come in`, 200);
  if ("change" in edit) return clip(`${callWords(edit.change)} comes in as ${args}`, 200);
  return clip(JSON.stringify(edit), 200);
}

function callWords(what) {
  return typeof what === "number" ? `the result of call ${what}` : String(what);
}

/** A script as people read it: an edit on each line. */
export function scriptText(edits) {
  return edits.length === 0 ? "[]\n" : `[\n${edits.map((edit) => `  ${JSON.stringify(edit)}`).join(",\n")}\n]\n`;
}

/**
 * Read a script.
 *
 * @param {string} text - what was typed or opened.
 * @returns {{edits: object[]}|{error: string}} its edits, or what is wrong with it; the server looks closer.
 */
export function parseScript(text) {
  if (text.length > MOST_LETTERS) return { error: "It is too long to be run from here: use agentrt replay." };
  let edits;
  try {
    edits = text.trim() === "" ? [] : JSON.parse(text);
  } catch (error) {
    return { error: `This is no JSON: ${clip(error.message, 160)}` };
  }
  if (!Array.isArray(edits)) return { error: "A script is a list of edits: [{…}, {…}]." };
  if (edits.length > MOST_EDITS) return { error: `A script has at most ${MOST_EDITS} edits here.` };
  const at = edits.findIndex((edit) => edit === null || typeof edit !== "object" || Array.isArray(edit));
  if (at < 0) return { edits };
  return { error: `/${at}: an edit is an object, as in {"tick": 40, "set": "weight", "of": "Eat", "to": 2}.` };
}

/**
 * What can be changed of an agent, by the keys of `CHANGES`: each with its name and what it is now, in words.
 *
 * @param {object} state - of the page: the chosen `agent`, its `outlines`, and the `inputs` after the tick.
 * @returns {Object<string, [string, string, number=][]>} names, words, and of inputs the tick.
 */
export function offersOf({ agent, outlines, inputs }) {
  const snapshot = agent?.snapshot;
  const actions = new Map();
  const frames = [snapshot?.plan, ...(snapshot?.performances ?? [])].filter(Boolean);
  while (frames.length > 0) {
    for (const unit of frames.pop().units ?? []) {
      if (unit.kind === "leaf" || unit.kind === "compound") actions.set(unit.action, unit);
      frames.push(...(unit.frames ?? []));
    }
  }
  const units = [...actions].sort(([a], [b]) => (a < b ? -1 : 1));
  const driven = (snapshot?.drivers ?? []).map((driver) => driver.state ?? {});
  const goals = driven.flatMap((state) => (Array.isArray(state.goals) ? state.goals : []));
  const variables = driven.flatMap((state) => (Array.isArray(state.variables) ? state.variables : []));
  const came = inputs?.rows ?? [];
  return {
    utility: units.map(([name, unit]) => [name, utilityWords(unit)]),
    weight: units.map(([name, unit]) => [name, `now ${number(unit.weight ?? 1)}`]),
    sunk_cost_boost: units.map(([name]) => [name, ""]),
    priority: goals.map((goal) => [goal.name, `now ${number(goal.priority)}`]),
    variable: variables.map(([name, value]) => [name, `now ${value}`]),
    ...both("action", units.map(([name, unit]) => [name, utilityWords(unit)])),
    ...both("goal", goals.map((goal) => [goal.name, ""])),
    ...both("decider", nodesOf(snapshot, outlines, "path").slice(0, MOST_NODES)),
    ...both("leaf", nodesOf(snapshot, outlines, "variables").slice(0, MOST_NODES)),
    send: [...new Set(came.filter((row) => row[1] === "sent").map((row) => row[2]))].map((name) => [name, ""]),
    drop: came.map(inputOffer),
    change: came.map(inputOffer),
  };
}

/** The deciders of behavior trees, or the leaves of selection trees: which of them, says what a driver's state has. */
function nodesOf(snapshot, outlines, has) {
  const drivers = (snapshot?.drivers ?? []).filter((driver) => Array.isArray(driver.state?.[has]));
  const names = new Set();
  const add = (node, isRoot) => {
    const inner = node.children ?? [];
    if (has === "variables" ? inner.length === 0 : !isRoot) names.add(node.name);
    for (const child of inner) add(child, false);
  };
  for (const { name } of drivers) if (outlines[name]) add(outlines[name], true);
  return [...names].map((name) => [name, ""]);
}

/** What is offered of a kind, to be disabled and to be forced. */
const both = (kind, rows) => ({ [`disable ${kind}`]: rows, [`force ${kind}`]: rows });

function utilityWords(unit) {
  const { low, high, utility } = unit;
  return low !== undefined && high !== undefined && low !== high
    ? `now ${number(utility)} in ${number(low)} to ${number(high)}`
    : `now ${number(utility)}`;
}

function inputOffer([tick, kind, name, call, text]) {
  return kind === "sent"
    ? [name, `in tick ${tick}: ${clip(text, 60)}`, tick]
    : [String(call), `result of ${name} in tick ${tick}: ${clip(text, 60)}`, tick];
}
