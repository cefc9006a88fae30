/**
 * The task trees on the screen: what was asked for, which strategies were tried for it and what became of each, down to
 * the one that runs innermost, and what it is expected to need next; how long each takes beside what was expected.
 *
 * Dependencies and strategies take turns in a tree, so they look different: what is wanted stands in angle brackets, as
 * activities do in the plan. What is foreseen and has not begun is faint, with a star if only some branches need it.
 *
 * Source: prismarine-gameplay: "Task Tree"; "Planning Ahead Using Probability", the estimate beside what happened.
 */

import { h, setAttr, setClass, setText, show } from "./dom.js";
import { plural } from "./format.js";
import { expected, OUTCOME_DOTS, taskRows, took } from "./tasktree.js";
import { Tree } from "./tree.js";

/**
 * Make the view.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the panel.
 */
export function tasksView(store) {
  const tree = new Tree({
    label: "Task tree",
    create: makeCells,
    update: (cells, row) => fillCells(cells, row, store.state),
    onToggle: (row, open) => store.set({ toggled: { ...store.state.toggled, [row.key]: open } }),
    onSelect: (row) => {
      if (row.kind === "task") store.set({ selection: { what: "task", place: row.place, key: row.key } });
    },
  });
  const settings = h("span", { class: "census" });
  const waiting = h("span", { class: "tally is-trouble" });
  const empty = h("div", { class: "empty" });
  const head = h(
    "div",
    { class: "tree-head", "aria-hidden": "true" },
    h("span", { text: "What is wanted, and who provides it" }),
    h("span", { class: "col-state", text: "Outcome" }),
    h("span", { class: "col-seconds", text: "Took" }),
    h("span", { class: "col-seconds", text: "Expected" }),
  );
  store.view(["agent", "chosen", "toggled", "selection", "tab", "hello"], (state) => {
    const gameplay = state.agent?.snapshot?.strategies;
    const rows = gameplay && state.tab === "tasks" ? taskRows(gameplay, state.toggled) : [];
    tree.show(rows, state.selection?.key ?? null);
    show(head, rows.length > 0);
    show(empty, rows.length === 0);
    setText(empty, emptyText(state.agent?.snapshot));
    setText(settings, gameplay ? settingsText(gameplay) : "");
    setAttr(settings, "title", settings.textContent || null);
    setText(waiting, gameplay ? waitingText(gameplay) : "");
  });
  return h(
    "div",
    { class: "view tasks-view" },
    h("div", { class: "toolbar" }, settings, h("span", { class: "gap" }), waiting),
    h("div", { class: "scroll" }, head, tree.element, empty),
  );
}

function emptyText(snapshot) {
  if (!snapshot) return "";
  if (!snapshot.strategies) return `${snapshot.name} has no strategies.`;
  const known = snapshot.strategies.provided.map((one) => one.activity).join(", ");
  return `${snapshot.name} was asked for nothing yet. It can be asked for: ${known || "nothing"}.`;
}

/** What holds requests up. */
function waitingText({ requests }) {
  const pending = requests.flatMap((one) => one.pending);
  return [
    requests.some((one) => one.is_paused) ? "told to pause" : "",
    pending.length > 0 ? `came up, and waits: ${pending.join(", ")}` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

function settingsText({ strategies, lookahead, takes_options: takesOptions, order, params, triggers }) {
  const looks = lookahead > 0 ? `looks ${plural(lookahead, "level")} ahead` : "does not look ahead";
  const options = takesOptions ? "" : "no options";
  const given = params.map(([name, value]) => `${name}=${value}`).join(" ");
  const count = plural(strategies, "strategy").replace("strategys", "strategies");
  const looksOut = triggers.length > 0 ? `looks out for ${triggers.map(([name]) => name).join(", ")}` : "";
  return [count, looks, options, `order: ${order}`, given, looksOut].filter(Boolean).join(" · ");
}

function makeCells() {
  const dot = h("span", { class: "dot" });
  const name = h("span", { class: "node-name" });
  const note = h("span", { class: "node-note" });
  const state = h("span", { class: "col-state" });
  const time = h("span", { class: "col-seconds" });
  const estimate = h("span", { class: "col-seconds" });
  const lead = h("span", { class: "node" }, dot, name, note);
  return { lead, columns: [state, time, estimate], dot, name, note, state, time, estimate };
}

function fillCells(cells, row, { agent, hello }) {
  if (row.kind !== "task") {
    setText(cells.name, row.text);
    setClass(cells.dot, "dot none");
    for (const cell of [cells.note, cells.state, cells.time, cells.estimate]) setText(cell, "");
    return row.kind === "heading" ? "heading" : "task more";
  }
  const { node } = row;
  const look = OUTCOME_DOTS[node.outcome] ?? node.outcome;
  setClass(cells.dot, `dot ${look}`);
  setText(cells.name, `${node.is_conditional ? "* " : ""}${nameOf(node)}`);
  setText(cells.note, node.reason ?? "");
  setAttr(cells.note, "title", node.reason || null);
  setClass(cells.note, node.outcome === "failed" ? "node-note reason" : "node-note");
  setText(cells.state, node.outcome);
  setClass(cells.state, `col-state ${look}`);
  setText(cells.time, took(node, agent?.tick ?? 0, hello?.ticks_per_second ?? 0));
  setText(cells.estimate, expected(node));
  return `task ${node.kind} ${node.outcome}${row.isOnBranch ? " on-branch" : ""}`;
}

/** What a node is called: what is wanted stands in brackets. */
function nameOf({ kind, label }) {
  if (kind === "dependency" || kind === "activity") return `<${label}>`;
  return kind === "interruption" ? `interrupted by ${label}` : label;
}
