/**
 * Outlines: the whole of a behavior tree or a selection tree, with what is active in it and why the rest is not.
 *
 * The outline itself (names, kinds, notes) is static and travels once; with each tick come only the active paths and
 * the verdicts (`state` of the driver). Both are joined here by path. A tree that is too large to be seen at once is
 * folded beside the active path.
 *
 * Source: Spore, behavior trees: "S11: Debugging"; CryEngine, selection trees: debug information.
 */

import { h, setAttr, setClass, setText } from "./dom.js";
import { isWithin } from "./format.js";
import { Tree } from "./tree.js";

const LARGE = 40;

const VERDICTS = {
  time: "not yet time",
  decision_flags: "decision flags",
  stimuli_flags: "stimuli",
  control_flags: "control flags",
  disabled: "disabled",
  target: "no target",
  refused: "refused",
  not_asked: "not asked",
  after: "comes later",
};

/**
 * The rows of an outline.
 *
 * @param {object} outline - the tree.
 * @param {object} driver - the driver's view: `active` and `state`.
 * @param {Object<string, boolean>} toggled - what the user opened or closed.
 * @returns {object[]} rows for a `Tree`.
 */
export function outlineRows(outline, driver, toggled) {
  const active = new Set(driver.active ?? []);
  const activePaths = [...active];
  const notes = notesOf(driver);
  const isLarge = sizeOf(outline) > LARGE;
  const rows = [];
  const add = (node, depth, parent) => {
    const key = `o:${node.path}`;
    const children = node.children ?? [];
    const isActive = active.has(node.path);
    const leadsToActive = isActive || activePaths.some((path) => isWithin(path, node.path));
    const isOpen = children.length > 0 ? (toggled[key] ?? (!isLarge || leadsToActive || depth === 0)) : null;
    rows.push({
      key,
      kind: "node",
      node,
      depth,
      isOpen,
      parent,
      path: node.path,
      isActive,
      leadsToActive,
      note: notes.get(node.path) ?? null,
    });
    if (isOpen) for (const child of children) add(child, depth + 1, key);
  };
  add(outline, 0, null);
  return rows;
}

function sizeOf(outline) {
  let size = 0;
  const nodes = [outline];
  while (nodes.length > 0 && size <= LARGE) {
    size += 1;
    nodes.push(...(nodes.pop().children ?? []));
  }
  return size;
}

/** What the driver says of single nodes: since when they are active, or why they are not. */
function notesOf(driver) {
  const notes = new Map();
  const state = driver.state ?? {};
  for (const one of state.path ?? []) {
    const words = [one.flags?.length ? `holds ${one.flags.join(" ")}` : "", one.is_waiting ? "activating" : ""];
    notes.set(one.path, { text: words.filter(Boolean).join(", "), since: one.since });
  }
  for (const one of state.asked ?? []) {
    notes.set(one.path, {
      text: one.reason || VERDICTS[one.verdict] || "",
      verdict: VERDICTS[one.verdict] ?? one.verdict,
    });
  }
  for (const one of state.failed ?? []) {
    notes.set(one.path, { text: one.because, verdict: "condition" });
  }
  for (const path of state.disabled ?? [])
    if (typeof path === "string") notes.set(path, { text: "disabled", verdict: "disabled" });
  for (const path of state.waiting ?? [])
    notes.set(path, { text: "waits for its control flags", verdict: "control flags" });
  return notes;
}

/** A tree on the screen for outlines. */
export function outlineTree(label, onToggle, onSelect) {
  return new Tree({ label, create: makeCells, update: fillCells, onToggle, onSelect });
}

function makeCells() {
  const dot = h("span", { class: "dot" });
  const name = h("span", { class: "node-name" });
  const label = h("span", { class: "node-label" });
  const hand = h("span", { class: "hand-tag" });
  const state = h("span", { class: "col-state" });
  const note = h("span", { class: "col-why" });
  return {
    lead: h("span", { class: "node" }, dot, name, label, hand),
    columns: [state, note],
    dot,
    name,
    label,
    hand,
    state,
    note,
  };
}

function fillCells(cells, row) {
  const { node, note } = row;
  setClass(cells.dot, `dot ${row.isActive ? "running" : note?.verdict ? "impossible-soft" : "idle"}`);
  setText(cells.name, node.name);
  setText(cells.label, node.note ?? "");
  setText(cells.hand, row.hand ?? "");
  setClass(cells.hand, `hand-tag is-${row.hand}`);
  setAttr(cells.label, "title", `${node.kind}${node.note ? `: ${node.note}` : ""}`);
  const word = row.isActive ? "active" : (note?.verdict ?? "");
  setText(cells.state, word);
  setClass(cells.state, `col-state ${row.isActive ? "running" : ""}`);
  const why = note === null || note.text === word ? "" : note.text;
  setText(cells.note, why);
  setAttr(cells.note, "title", why || null);
  return row.isActive ? "node-row on-branch elected running" : "node-row";
}

/** An outline made of the active path alone, for a driver whose whole tree is not known. */
export function outlineOfPath(driver) {
  let outline = null;
  for (const one of [...(driver.state?.path ?? [])].reverse()) {
    outline = {
      path: one.path ?? one.name,
      name: one.name,
      kind: one.kind,
      note: one.behavior ?? one.policy ?? "",
      children: outline === null ? [] : [outline],
    };
  }
  return outline;
}
