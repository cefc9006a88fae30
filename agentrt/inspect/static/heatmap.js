/**
 * The map of thinking: a row for each agent, a column for each activity, the more the deeper.
 *
 * What lives is measured in real time, over the last ten seconds, while this is on the screen; a recording keeps no
 * real time, and there the answers of thinking are counted: the line above says which. Only the rows on the screen have
 * elements; a row chooses its agent.
 */

import { h, reconcile, setAttr, setClass, setText, show } from "./dom.js";
import { count, milliseconds, plural } from "./format.js";
import { choose } from "./store.js";
import { VirtualList } from "./virtual.js";

const ROW_HEIGHT = 20;

/**
 * Make the map.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the part of the tab.
 */
export function heatMap(store) {
  const note = h("span", { class: "tally", role: "status" });
  const heads = h("div", { class: "heat-cells" });
  const head = h(
    "div",
    { class: "heat-row heat-head", "aria-hidden": "true" },
    h("span", { class: "heat-name", text: "agent" }),
    h("span", { class: "heat-total", text: "all" }),
    heads,
  );
  const list = new VirtualList({
    rowHeight: ROW_HEIGHT,
    label: "Who thinks how much about what",
    create: makeRow,
    update: (element, row) => fillRow(element, row, store.state),
    keyOf: (row) => row[0],
  });
  list.element.addEventListener("click", (event) => {
    const row = event.target.closest(".heat-row");
    if (row?.dataset.name !== undefined) choose(store, row.dataset.name);
  });
  list.element.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const rows = store.state.heat?.rows ?? [];
    if (by === undefined || rows.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const at = rows.findIndex(([name]) => name === store.state.chosen);
    const next = Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + by));
    list.reveal(next);
    choose(store, rows[next][0]);
  });
  const empty = h("div", { class: "empty" });
  store.view(["heat", "tab", "chosen", "hello"], (state) => {
    if (state.tab !== "crowd") return;
    const { heat, chosen } = state;
    const rows = heat?.rows ?? [];
    const isMeasuring = heat === null || heat.ticks === 0; // whole seconds are told, and the first one is not over
    setText(note, isMeasuring ? "" : noteOf(heat));
    setText(empty, isMeasuring ? "Measuring …" : "Nobody thought in that time.");
    show(empty, rows.length === 0);
    for (const part of [head, list.element]) show(part, rows.length > 0);
    if (rows.length === 0) return;
    reconcile(heads, heat.columns, ([name]) => name, () => h("span", { class: "heat-column" }, h("bdi")), fillHead);
    setClass(head, `heat-row heat-head${heat.columns.length > 4 ? " is-upright" : ""}`);
    list.show(rows.length, (index) => rows[index]);
    list.setCurrent(rows.findIndex(([name]) => name === chosen));
  });
  return h(
    "section",
    { class: "heat", "aria-label": "Thinking" },
    h("div", { class: "toolbar" }, h("h3", { text: "Thinking" }), note),
    head,
    list.element,
    empty,
  );
}

function fillHead(element, [name]) {
  setText(element.firstChild, name.slice(name.lastIndexOf(":") + 1));
  setAttr(element, "title", name);
}

/** What the colors mean. */
function noteOf({ unit, ticks, seconds, agents, rows, columns, activities, total }) {
  const span = `the last ${seconds} s (${plural(ticks, "tick")})`;
  const what =
    unit === "ms"
      ? `real time of ${span}, ${milliseconds(total)} in all; measured while you look`
      : `answers (ready or rejected) in the last ${plural(ticks, "tick")}; what is over keeps no real time`;
  const most = rows.length < agents ? `; the ${count(rows.length)} of ${count(agents)} agents that think most` : "";
  const about = columns.length < activities ? `; ${columns.length} of ${count(activities)} activities` : "";
  return `${what}${most}${about}`;
}

function makeRow() {
  return h(
    "div",
    { class: "heat-row" },
    h("span", { class: "heat-name" }),
    h("span", { class: "heat-total" }),
    h("div", { class: "heat-cells" }),
  );
}

const MOSTS = new WeakMap();

/** The largest amount of a map; looked for once. */
function mostOf(heat) {
  if (!MOSTS.has(heat)) MOSTS.set(heat, Math.max(...heat.rows.map((one) => Math.max(...one[2])), Number.MIN_VALUE));
  return MOSTS.get(heat);
}

function fillRow(element, row, { heat, chosen }) {
  const [nameBox, totalBox, cells] = element.children;
  const [name, total, amounts] = row;
  const words = (amount) => (heat.unit === "ms" ? milliseconds(amount) : count(amount));
  element.dataset.name = name;
  setClass(element, `heat-row virtual-row${name === chosen ? " is-chosen" : ""}`);
  setAttr(element, "aria-selected", name === chosen ? "true" : "false");
  setText(nameBox, name);
  setText(totalBox, words(total));
  const most = mostOf(heat);
  const told = heat.columns.map(([column], index) => [column, amounts[index]]);
  const said = told.filter((one) => one[1] > 0).map(([column, amount]) => `${column} ${words(amount)}`);
  setAttr(element, "aria-label", `${name}: ${said.join(", ")}`);
  const makeCell = () => h("span", { class: "heat-cell" }, h("i"));
  reconcile(cells, told, ([column]) => column, makeCell, (cell, [column, amount]) => {
    cell.firstChild.style.opacity = amount > 0 ? 0.12 + 0.88 * Math.sqrt(amount / most) : 0; // a little is seen, too
    setAttr(cell, "title", `${name}, ${column}: ${words(amount)}`);
  });
}
