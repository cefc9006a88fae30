/**
 * What there is to say about the selected thing: data for the side panel. Pure.
 *
 * What is selected is named by what it is and where (`state.selection`), never by its data: with each tick the data is
 * looked up anew, so the panel is live, and says so when the thing is not there any more. Nothing selected: the
 * innermost running action, which is what most people look for.
 */

import { whyNothing } from "./emptiness.js";
import { clip, gameTime, leafOf, number, plural } from "./format.js";
import { within } from "./past.js";
import { nameIn } from "./pinned.js";
import { findNode } from "./plantree.js";
import { standings } from "./reloads.js";
import { expected, findTask, OUTCOME_DOTS, took } from "./tasktree.js";

/**
 * Describe what is selected.
 *
 * @param {object} state - the state of the page.
 * @returns {object} `title`; and either `empty`, why there is nothing, or `heading`, `state`, `bar`, `madeOf` (what its
 *   utility is made of: name, value, expression), `worth` (its utility as an expression), `why`, `rows` (name and
 *   value), `data`, `candidates`, `offers`, `agents` (names, and how many more), `path`, `stop` (kind and
 *   name of a breakpoint) and `goTo` (a tick), as they apply.
 */
export function describe(state) {
  const { selection, agent } = state;
  if (selection?.what === "event") return ofEvent(selection.record, state);
  if (selection?.what === "span") return ofSpan(selection.span, state);
  if (selection?.what === "reload") return ofReload(selection.key, state);
  const snapshot = agent?.snapshot;
  if (!snapshot)
    return {
      title: "Selected",
      empty: state.chosen === null ? "Nothing is selected." : whyNothing(state),
    };
  if (selection?.what === "goal") return ofGoal(selection, snapshot);
  if (selection?.what === "node") return ofTreeNode(selection, snapshot, state.outlines);
  if (selection?.what === "task") return ofTask(selection, state);
  const path = selection?.path ?? snapshot.running;
  if (!path) return ofWhatDrives(snapshot, state.outlines);
  const found = findNode(snapshot, path);
  if (found === null) {
    return { title: "Selected", empty: "It is not part of the plan at this tick.", path };
  }
  const lead = selection ? "" : "Running now";
  return found.kind === "unit" ? ofUnit(found, lead) : ofFrame(found.node);
}

/** Nothing runs in a plan and nothing is selected: what another model does. */
function ofWhatDrives(snapshot, outlines) {
  for (const { name: driver, active = [], state } of snapshot.drivers) {
    const path = active.at(-1);
    if (path === undefined) continue;
    const name = leafOf(path);
    const goal = state?.goals?.find((one) => one.path === path);
    const content = goal
      ? ofGoal({ driver, name: goal.name }, snapshot)
      : ofTreeNode({ driver, path, name }, snapshot, outlines);
    return { ...content, title: "Running now" };
  }
  return { title: "Selected", empty: `${snapshot.name} runs nothing now.` };
}

function ofUnit({ node: unit, frame }, lead) {
  return {
    title: lead || "Action",
    heading: unit.name || unit.action,
    state: unit.state,
    bar: { utility: unit.utility, boosted: unit.boosted },
    madeOf: Object.entries(unit.made_of ?? {}).map(([name, value]) => [
      name,
      value,
      Object.hasOwn(unit.debug ?? {}, name) ? nameIn(unit.action, name) : nameIn("", name),
    ]),
    worth: nameIn(unit.action, "utility"),
    why: unit.reason ?? "",
    stop: ["action", unit.action],
    rows: [
      ["Class", unit.action + (unit.kind && unit.kind !== "leaf" ? ` (${unit.kind})` : "")],
      ["Performs", `<${frame.activity}>`],
      ["Since", unit.since ? `tick ${unit.since}` : ""],
      ["Utility", number(unit.utility, 4) + rangeOf(unit)],
      ["Sunk cost", sunkCost(unit)],
      ["Weight", unit.weight === undefined ? "" : number(unit.weight)],
      ["Asked", unit.asked ? `a mind, in tick ${unit.asked}` : ""],
      ["Progress", unit.progress ?? ""],
      ["Waits", unit.waits ?? ""],
      ["Asked again", unit.again ? `tick ${unit.again}` : ""],
      ["Ready by", unit.until ? `tick ${unit.until}` : ""],
      ["Flags", (unit.flags ?? []).join(" ")],
      ["Task", unit.task ? `${unit.task.number} of ${unit.task.group}` : ""],
    ],
    data: unit.debug ?? {},
    path: unit.path,
  };
}

function rangeOf(unit) {
  return unit.low === undefined && unit.high === undefined
    ? ""
    : ` of ${number(unit.low ?? unit.utility)} to ${number(unit.high ?? unit.utility)}`;
}

function sunkCost(unit) {
  if (unit.boosted > unit.utility) return `+${number(unit.boosted - unit.utility, 4)} = ${number(unit.boosted, 4)}`;
  return unit.boost ? `+${number(unit.boost, 4)}${unit.boost_at ? ` from tick ${unit.boost_at} on` : ""}` : "";
}

function ofFrame(frame) {
  return {
    title: "Activity",
    heading: `<${frame.activity}>`,
    state: frame.state,
    stop: ["activity", frame.activity],
    rows: [
      ["Since", frame.since ? `tick ${frame.since}` : ""],
      ["Fixed", frame.is_fixed ? "later steps read its output: it is not exchanged" : ""],
    ],
    argumentsOf: frame.args ?? {},
    candidates: frame.units.map((unit) => ({
      name: unit.name || unit.action,
      state: unit.state,
      utility: unit.utility,
      boosted: unit.boosted,
      elected: unit.is_elected === true,
      why: unit.reason ?? "",
      path: unit.path,
    })),
    path: frame.path,
  };
}

function ofGoal({ driver, name }, snapshot) {
  const goal = snapshot.drivers.find((one) => one.name === driver)?.state?.goals?.find((one) => one.name === name);
  if (goal === undefined) return { title: "Goal", empty: "It is not there at this tick." };
  return {
    title: "Goal",
    heading: goal.name,
    state: goal.state,
    why: goal.reason ?? "",
    stop: ["goal", goal.name],
    rows: [
      ["Selector", driver],
      ["Priority", number(goal.priority)],
      ["Flags", (goal.flags ?? []).join(" ") || "none"],
      ["Since", goal.since ? `tick ${goal.since}` : ""],
    ],
    path: goal.path ?? `${driver}/${goal.name}`,
  };
}

function ofTreeNode({ driver, path, name }, snapshot, outlines) {
  const view = snapshot.drivers.find((one) => one.name === driver);
  const node = outlines[driver] ? findOutline(outlines[driver], path) : null;
  const at = view?.state?.path?.find((one) => (one.path ?? one.name) === path);
  const asked =
    view?.state?.asked?.find((one) => one.path === path) ?? view?.state?.failed?.find((one) => one.path === path);
  const isActive = view?.active?.includes(path) ?? at !== undefined;
  return {
    title: "Decider",
    heading: name,
    state: isActive ? "running" : "idle",
    stateWord: isActive ? "active" : "not active",
    why: asked ? asked.reason || asked.because || asked.verdict || "" : "",
    stop: ["decider", name],
    rows: [
      ["Tree", view?.state?.tree ?? driver],
      ["Kind", node?.kind ?? at?.kind ?? ""],
      ["Declared", node?.note ?? ""],
      ["Condition", asked?.condition ?? ""],
      ["Behavior", at?.behavior ?? ""],
      ["Active since", at ? gameTime(at.since) : ""],
      ["Flags", (at?.flags ?? []).join(" ")],
    ],
    path,
  };
}

function findOutline(outline, path) {
  const nodes = [outline];
  while (nodes.length > 0) {
    const node = nodes.pop();
    if (node.path === path) return node;
    nodes.push(...(node.children ?? []));
  }
  return null;
}

const TASK_TITLES = {
  dependency: "Dependency",
  strategy: "Strategy",
  option: "Optional dependency",
  interruption: "Interruption",
  activity: "Activity",
};

function ofTask({ place }, { agent, hello }) {
  const found = findTask(agent.snapshot.strategies, place);
  if (found === null) return { title: "Task", empty: "It is not shown at this tick." };
  const { node, above } = found;
  return {
    title: TASK_TITLES[node.kind] ?? "Task",
    heading: node.label,
    state: OUTCOME_DOTS[node.outcome] ?? node.outcome,
    stateWord: node.outcome,
    why: node.reason ?? "",
    stop: node.kind === "strategy" ? ["strategy", node.label] : undefined,
    rows: [
      [node.kind === "strategy" ? "Provides" : "Needed by", above?.label ?? ""],
      ["Expected", expected(node)],
      ["Took", took(node, agent.tick, hello?.ticks_per_second ?? 0)],
      ["Began", node.began ? `tick ${node.began}` : ""],
      ["Ended", node.ended ? `tick ${node.ended}` : ""],
      ["Needed", node.is_conditional ? "in some branches only" : ""],
      ["Probability", node.probability === undefined ? "" : number(node.probability)],
    ],
    offers: node.offers ?? [],
  };
}

function ofEvent([tick, agent, path, event, detail], state) {
  const { hello } = state;
  const rate = hello?.ticks_per_second ?? 0;
  return {
    title: "Event",
    heading: event.replace("_", " "),
    rows: [
      ["Tick", `${tick}${rate ? ` (${gameTime(tick / rate)})` : ""}`],
      ["Agent", agent || "the runtime"],
    ],
    data: detail ?? {},
    goTo: within(state, tick),
    path,
  };
}

function ofSpan([lane, , path, name, begin, end, outcome], state) {
  const { hello, world } = state;
  const rate = hello?.ticks_per_second ?? 0;
  const length = (end ?? world?.tick ?? begin) - begin;
  return {
    title: "Span",
    heading: name,
    rows: [
      ["Lane", lane],
      ["From", `tick ${begin}`],
      ["To", end === null ? "now" : `tick ${end}`],
      ["Lasted", end === null ? "" : plural(length, "tick") + (rate ? ` (${gameTime(length / rate)})` : "")],
      ["Ended", end === null ? "it runs" : outcome],
    ],
    goTo: within(state, begin),
    path,
  };
}

const CHANGED = {
  class: "Classes",
  function: "Functions",
  tree: "Trees",
  pack: "Packs",
  manifest: "Manifests",
  value: "Values",
};

function ofReload(key, state) {
  const found = standings(state).find((one) => one.key === key);
  if (found === undefined) return { title: "Reload", empty: "It is not known any more." };
  const { row, words } = found;
  const named = (kind) => row.changed.filter((_, index) => (row.kinds[index] ?? "value") === kind).join(", ");
  return {
    title: "Reload",
    heading: clip(row.files.join(", "), 400),
    state: found.state,
    stateWord: words,
    why: row.error,
    rows: [
      ["Tick", `${row.tick}`],
      ...Object.entries(CHANGED).map(([kind, title]) => [title, named(kind)]),
      ["Gone", row.removed.join(", ")],
      ["Besides", row.notes.join("\n")],
      ["Runs", row.error && !found.isOver ? "the code of before" : ""],
    ],
    agents: row.error ? undefined : { names: row.agents, more: row.took - row.agents.length },
    goTo: within(state, row.tick),
  };
}
