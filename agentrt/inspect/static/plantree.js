/**
 * From a snapshot to the rows of the plan tree. Pure: data in, data out, so that it can be reasoned about alone.
 *
 * A plan is a tree of two kinds of nodes in turn: an activity ("what is wanted", shown in angle brackets) has the
 * actions that could perform it below it, and an action has the activities that it performs in turn. Each node's path
 * is its identity; the same place has the same path in every equal run.
 *
 * What is open: what the user opened or closed stays so (`toggled`). Of the rest the mode decides: "active" opens what
 * runs, thinks or is ready and leaves idle branches closed; "branch" shows nothing but the running branch and, at each
 * activity of it, the candidates; "all" opens everything.
 */

import { isWithin } from "./format.js";

/**
 * Fill in what a snapshot leaves out because it has its default, so that nobody else has to ask for it.
 *
 * @param {object} snapshot - an agent's, as it came; changed in place.
 * @returns {object} the same.
 */
export function complete(snapshot) {
  for (const key of ["performances", "drivers", "flags", "waiting", "refusals", "observers", "groups", "injections"]) {
    snapshot[key] ??= [];
  }
  const frames = [snapshot.plan, ...snapshot.performances].filter(Boolean);
  while (frames.length > 0) {
    const frame = frames.pop();
    frame.units ??= [];
    for (const unit of frame.units) {
      unit.path ??= `${frame.path}/${unit.action}`;
      unit.boosted ??= unit.utility;
      unit.frames ??= [];
      unit.reason ??= "";
      unit.progress ??= "";
      frames.push(...unit.frames);
    }
  }
  return snapshot;
}

/** The ways to show a plan. */
export const PLAN_MODES = [
  ["active", "Fold idle"],
  ["branch", "Running branch"],
  ["all", "Everything"],
];

const BUSY = new Set(["running", "started", "switching"]);
const RESTING = new Set(["idle", "finished"]);

/**
 * The rows of all plan trees of a snapshot.
 *
 * @param {object} snapshot - an agent's.
 * @param {string} mode - see `PLAN_MODES`.
 * @param {Object<string, boolean>} toggled - what the user opened (true) or closed (false), by key.
 * @returns {object[]} rows: `key`, `kind` ("frame", "unit" or "heading"), `node`, `depth`, `isOpen` (null: nothing
 *   below), `isOnBranch`, `parent` (the key above), `scale` (the utility that fills a bar), `path`.
 */
export function planRows(snapshot, mode, toggled) {
  const rows = [];
  const walk = { rows, mode, toggled, running: snapshot.running, prefix: "" };
  if (snapshot.plan) addFrame(walk, snapshot.plan, 0, null, true);
  snapshot.performances.forEach((frame, index) => {
    if (index === 0)
      rows.push({
        key: "performances",
        kind: "heading",
        node: null,
        depth: 0,
        isOpen: null,
        text: "Performed beside the plan",
      });
    addFrame({ ...walk, prefix: `${index}:`, running: runningOf(frame) }, frame, 0, null, true);
  });
  return rows;
}

function addFrame(walk, frame, depth, parent, isRoot) {
  const key = `${walk.prefix}f:${frame.path}`;
  const isOnBranch = isWithin(walk.running, frame.path);
  const hasBelow = frame.units.length > 0;
  const isOpen = hasBelow
    ? (walk.toggled[key] ?? (walk.mode === "all" || isRoot || isOnBranch || !RESTING.has(frame.state)))
    : null;
  walk.rows.push({ key, kind: "frame", node: frame, depth, isOpen, isOnBranch, parent, path: frame.path });
  if (!isOpen) return;
  const scale = scaleOf(frame.units);
  for (const unit of frame.units) addUnit(walk, frame, unit, depth + 1, key, scale);
}

function addUnit(walk, frame, unit, depth, parent, scale) {
  const path = unit.path;
  const key = `${walk.prefix}u:${path}`;
  const isOnBranch = BUSY.has(unit.state) && isWithin(walk.running, path);
  const below =
    walk.mode === "branch" ? unit.frames.filter((child) => isWithin(walk.running, child.path)) : unit.frames;
  const opens =
    walk.mode === "all" || isOnBranch || (walk.mode === "active" && unit.state === "ready" && unit.is_elected);
  const isOpen = unit.frames.length > 0 ? (walk.toggled[key] ?? opens) : null;
  walk.rows.push({ key, kind: "unit", node: unit, frame, depth, isOpen, isOnBranch, parent, scale, path });
  if (!isOpen) return;
  for (const child of walk.toggled[key] ? unit.frames : below) addFrame(walk, child, depth + 1, key, false);
}

/** The utility that fills the bars of an activity's candidates: 1, or the largest if one is above it. */
function scaleOf(units) {
  let largest = 1;
  for (const unit of units) {
    for (const value of [unit.utility, unit.boosted]) if (Number.isFinite(value) && value > largest) largest = value;
  }
  return largest;
}

/** The innermost path that runs below an activity that is performed beside the plan. */
function runningOf(frame) {
  let path = frame.path;
  let inner = frame;
  while (inner !== undefined) {
    const unit = inner.units.find((one) => BUSY.has(one.state));
    if (unit === undefined) break;
    path = unit.path;
    inner = unit.frames.find((one) => BUSY.has(one.state));
  }
  return path;
}

/**
 * Find a node of a snapshot by its path.
 *
 * @param {object} snapshot - an agent's.
 * @param {string} path - of an action or activity.
 * @returns {{kind: string, node: object, frame: object}|null} the node with its activity, or null if it is not there.
 */
export function findNode(snapshot, path) {
  const frames = [snapshot.plan, ...snapshot.performances].filter(Boolean);
  while (frames.length > 0) {
    const frame = frames.pop();
    if (frame.path === path) return { kind: "frame", node: frame, frame };
    for (const unit of frame.units) {
      if (unit.path === path) return { kind: "unit", node: unit, frame };
      frames.push(...unit.frames);
    }
  }
  return null;
}

/** How many actions of a plan are in each state. */
export function census(snapshot) {
  const states = new Map();
  const frames = [snapshot.plan, ...snapshot.performances].filter(Boolean);
  while (frames.length > 0) {
    for (const unit of frames.pop().units) {
      states.set(unit.state, (states.get(unit.state) ?? 0) + 1);
      frames.push(...unit.frames);
    }
  }
  return states;
}
