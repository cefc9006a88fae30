/**
 * The plan tree on the screen: activities in angle brackets, the actions that could perform them beneath, the running
 * branch marked from the root to the leaf, and for each candidate its state, its utility with the sunk-cost part, and
 * why not.
 *
 * The bar of a candidate is drawn against its competitors: one scale within an activity. The solid part is the utility
 * that the action composed; the hatched part is what the elected one has on top because changing one's mind has a cost.
 * So one sees at once by how much a competitor fails.
 *
 * Source: Stonehearth, AI: the AI inspector.
 */

import { fill, h, setAttr, setClass, setText, show } from "./dom.js";
import { whyNothing } from "./emptiness.js";
import { number, timeWords, utility } from "./format.js";
import { valueWords } from "./pins.js";
import { census, PLAN_MODES, planRows } from "./plantree.js";
import { remember } from "./store.js";
import { forceWord } from "./handsmodel.js";
import { Tree } from "./tree.js";

/**
 * Make the view.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the panel.
 */
export function planView(store) {
  const tree = new Tree({
    label: "Plan",
    create: makeCells,
    update: (cells, row) => fillCells(cells, row, store.state),
    onToggle: (row, open) => store.set({ toggled: { ...store.state.toggled, [row.key]: open } }),
    onSelect: (row) => {
      if (row.kind !== "heading") store.set({ selection: { what: row.kind, path: row.path, key: row.key } });
    },
  });
  const modes = PLAN_MODES.map(([mode, label]) =>
    h("button", {
      type: "button",
      class: "segment",
      text: label,
      on: {
        click: () => {
          remember("planMode", mode);
          store.set({ planMode: mode, toggled: {} });
        },
      },
    }),
  );
  const states = h("span", { class: "census" });
  const empty = h("div", { class: "empty" });
  const head = h(
    "div",
    { class: "tree-head", "aria-hidden": "true" },
    h("span", { text: "Activity and actions" }),
    h("span", { class: "col-state", text: "State" }),
    h("span", { class: "col-utility", text: "Utility" }),
  );

  store.view(["planMode"], ({ planMode }) => {
    modes.forEach((one, index) => setAttr(one, "aria-pressed", String(PLAN_MODES[index][0] === planMode)));
  });
  const scroll = h("div", { class: "scroll" }, head, tree.element, empty);
  const reveal = follower(scroll, tree);
  let isAsking = false; // whether something of it waits for a mind: how long it does is another time in each tick
  const draw = (state) => {
    const snapshot = state.agent?.snapshot;
    const rows = snapshot ? planRows(snapshot, state.planMode, state.toggled) : [];
    for (const row of rows)
      if (row.kind === "unit") row.hand = forceWord(state, state.chosen, "action", row.node.action, row.node.name);
    isAsking = rows.some(({ kind, node }) => kind === "unit" && node.asked > 0);
    tree.show(rows, state.selection?.key ?? null);
    if (snapshot && state.tab === "plan") reveal(snapshot, rows);
    show(empty, rows.length === 0);
    show(head, rows.length > 0);
    setText(empty, emptyText(state));
    drawCensus(states, snapshot);
  };
  store.view(["agent", "chosen", "planMode", "toggled", "selection", "tab", "hands"], draw);
  store.view(["world"], (state) => isAsking && state.tab === "plan" && draw(state));
  return h(
    "div",
    { class: "view plan-view" },
    h(
      "div",
      { class: "toolbar" },
      h("div", { class: "segments", role: "group", "aria-label": "What to show" }, ...modes),
      states,
    ),
    scroll,
  );
}

/** Keep the running leaf in sight, until the user scrolls; anew for another agent. */
function follower(scroll, tree) {
  let name = "";
  let leaf = "";
  let top = 0;
  return (snapshot, rows) => {
    const isOurs = snapshot.name !== name || Math.abs(scroll.scrollTop - top) < 2;
    if (snapshot.name === name && (snapshot.running === leaf || !isOurs)) return;
    name = snapshot.name;
    leaf = snapshot.running;
    tree.reveal(rows.findLastIndex((row) => row.isOnBranch));
    top = scroll.scrollTop;
  };
}

function emptyText(state) {
  return whyNothing(state) || `${state.agent.name} has no plan: see Models (2).`;
}

function drawCensus(element, snapshot) {
  const states = snapshot ? census(snapshot) : new Map();
  const parts = ["running", "ready", "thinking", "impossible", "finished", "idle"]
    .filter((state) => states.has(state))
    .map((state) =>
      h("span", { class: `count ${state}` }, h("span", { class: `dot ${state}` }), `${states.get(state)} ${state}`),
    );
  fill(element, ...parts);
}

function makeCells() {
  const dot = h("span", { class: "dot" });
  const name = h("span", { class: "node-name" });
  const label = h("span", { class: "node-label" });
  const hand = h("span", { class: "hand-tag" });
  const note = h("span", { class: "node-note" });
  const state = h("span", { class: "col-state" });
  const value = h("span", { class: "bar-value" });
  const solid = h("span", { class: "bar-solid" });
  const boost = h("span", { class: "bar-boost" });
  const bar = h("span", { class: "bar" }, solid, boost);
  const column = h("span", { class: "col-utility" }, bar, value);
  const lead = h("span", { class: "node" }, dot, name, label, hand, note);
  return { lead, columns: [state, column], dot, name, label, hand, note, state, value, solid, boost, bar, column };
}

function fillCells(cells, row, state) {
  if (row.kind === "heading") {
    setText(cells.name, row.text);
    setClass(cells.dot, "dot none");
    for (const cell of [cells.label, cells.hand, cells.note, cells.state, cells.value]) setText(cell, "");
    show(cells.bar, false);
    return "heading";
  }
  const { node } = row;
  setText(cells.hand, row.hand ?? "");
  setClass(cells.hand, `hand-tag is-${row.hand}`);
  setClass(cells.dot, row.kind === "frame" ? "dot none" : `dot ${node.state}`);
  setClass(cells.state, `col-state ${node.state}`);
  setText(cells.state, row.kind === "frame" && !row.isOnBranch && node.state === "idle" ? "" : node.state);
  if (row.kind === "frame") fillFrame(cells, node);
  else fillUnit(cells, node, row, state);
  return `${row.kind} ${node.state}${row.isOnBranch ? " on-branch" : ""}${node.is_elected ? " elected" : ""}`;
}

function fillFrame(cells, frame) {
  setText(cells.name, `<${frame.activity}>`);
  setText(cells.label, "");
  setText(cells.note, "");
  setText(cells.value, "");
  show(cells.bar, false);
}

function fillUnit(cells, unit, row, state) {
  setText(cells.name, unit.name || unit.action);
  setText(cells.label, unit.name && unit.name !== unit.action ? unit.action : "");
  const about = [askedWords(unit, state), unit.progress].filter(Boolean).join(", ");
  const note = unit.reason || [madeOfWords(unit), about].filter(Boolean).join(" · ");
  setText(cells.note, note);
  setClass(cells.note, unit.reason ? "node-note reason" : "node-note");
  setAttr(cells.note, "title", note || null);
  setText(cells.value, utility(unit.boosted));
  show(cells.bar, true);
  drawBar(cells, unit, row.scale);
}

/** For how long it waits for the answer of a mind. */
function askedWords({ asked }, { world, hello }) {
  if (!asked || !world || !(hello?.ticks_per_second > 0)) return "";
  return `asked ${timeWords(Math.max(0, world.tick - asked) / hello.ticks_per_second)} ago`;
}

/** What a utility is made of, by its author's word. */
function madeOfWords({ made_of: parts }) {
  return Object.entries(parts ?? {})
    .map(([name, value]) => `${name} ${value === null ? "not offered" : valueWords(value)}`)
    .join(", ");
}

/** Set the widths of a utility bar, and what it says when pointed at. */
export function drawBar({ solid, boost, bar }, unit, scale) {
  const part = (value) => `${(100 * Math.min(1, Math.max(0, (Number(value) || 0) / scale))).toFixed(1)}%`;
  solid.style.width = part(unit.utility);
  boost.style.width = part(Math.max(0, unit.boosted - unit.utility));
  const sunk =
    unit.boosted > unit.utility ? ` + ${number(unit.boosted - unit.utility)} sunk cost = ${number(unit.boosted)}` : "";
  setAttr(bar, "title", `utility ${number(unit.utility)}${sunk}`);
}
