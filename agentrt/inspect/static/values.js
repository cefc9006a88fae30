/**
 * The side panel's part with what the chosen agent offers besides its plan: needs, components, variables, what it
 * perceives, and what its actions keep for debugging; each with a button that pins it.
 *
 * Groups are opened and closed by the user and stay so for all agents. What is between 0 and 1 has a bar.
 */

import { h, icon, reconcile, setAttr, setClass, setText, show } from "./dom.js";
import { whyNothing } from "./emptiness.js";
import { keyOf, nameIn } from "./pinned.js";
import { togglePin, valueWords } from "./pins.js";

const KINDS = { agent: "", variables: "variables", stimuli: "perceives", action: "what they are worth" };

/**
 * Make the section.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the section.
 */
export function valuesSection(store) {
  const groups = h("div", { class: "value-groups" });
  const none = h("p", { class: "empty-line" });
  const draw = (state) => {
    const { agent, chosen } = state;
    const found = grouped(agent?.values ?? []);
    reconcile(
      groups,
      found,
      ([name, kind]) => `${kind} ${name}`,
      (group) => makeGroup(group, () => draw(store.state)),
      (element, group) => fillGroup(element, group, state, store),
    );
    show(none, found.length === 0);
    setText(none, whyNothing(state) || `${chosen} offers none: see agent.values.`);
  };
  store.view(["agent", "chosen", "pins"], draw);
  return h(
    "section",
    { class: "side-section values", "aria-label": "Values" },
    h("div", { class: "panel-head" }, h("h2", { text: "Values" })),
    h("div", { class: "side-body" }, groups, none),
  );
}

/** The groups as they are shown: rows of a name, an expression and a value. Actions are many: they are one group. */
function grouped(values) {
  const rowsOf = ([group, kind, found]) =>
    Object.entries(found).map(([name, value]) => [
      kind === "action" ? `${group}.${name}` : name,
      nameIn(group, name),
      value,
    ]);
  const groups = values.filter(([, kind]) => kind !== "action").map((one) => [one[0] || "Own", one[1], rowsOf(one)]);
  const actions = values.filter(([, kind]) => kind === "action").flatMap(rowsOf);
  return actions.length > 0 ? [...groups, ["Actions", "action", actions]] : groups;
}

function makeGroup([name, kind], draw) {
  const rows = h("ul", { class: "value-list" });
  const head = h(
    "summary",
    {},
    h("span", { class: "value-group-name", text: name }),
    h("span", { class: "value-group-kind", text: KINDS[kind] ?? kind }),
  );
  const element = h("details", { class: "value-group" }, head, rows);
  element.open = kind !== "action";
  element.addEventListener("toggle", draw);
  element.rows = rows;
  return element;
}

function fillGroup(element, [, , rows], state, store) {
  if (!element.open) return; // what nobody sees; it is filled when it is opened
  reconcile(
    element.rows,
    rows,
    ([name]) => name,
    ([name, text]) => valueRow(store, name, text),
    (row, [, , value]) => fillValueRow(row, value, state),
  );
}

/**
 * A row with a value: its name, a bar, the value, and a button that pins it.
 *
 * @param {Store} store - the state.
 * @param {string} name - what it is called.
 * @param {string} text - the expression that is pinned.
 * @returns {HTMLElement} the row; see `fillValueRow`.
 */
export function valueRow(store, name, text) {
  const solid = h("span", { class: "bar-solid" });
  const bar = h("span", { class: "bar" }, solid);
  const words = h("span", { class: "value-words" });
  const pin = h("button", {
    type: "button",
    class: "button quiet value-pin",
    on: { click: () => store.state.chosen !== null && togglePin(store, { agent: store.state.chosen, text }) },
  });
  pin.append(icon("pin"));
  const row = h("li", {}, h("span", { class: "value-name", text: name, title: text }), bar, words, pin);
  row.parts = { solid, bar, words, pin, text, name };
  return row;
}

/** Bring such a row up to date. */
export function fillValueRow(row, value, { chosen, pins, hello }) {
  const { solid, bar, words, pin, text, name } = row.parts;
  const share = typeof value === "number" && value >= 0 && value <= 1 ? value : null;
  setClass(bar, share === null ? "bar is-none" : "bar");
  const width = share === null ? "0%" : `${(100 * share).toFixed(1)}%`;
  if (solid.style.width !== width) solid.style.width = width;
  setText(words, value === null ? "none" : valueWords(value));
  setAttr(words, "title", typeof value === "string" ? value : null);
  const isPinned = pins.some((one) => keyOf(one) === keyOf({ agent: chosen ?? "", text }));
  setAttr(pin, "aria-pressed", String(isPinned));
  setAttr(pin, "aria-label", isPinned ? `Watch ${name} no more` : `Watch ${name} over time`);
  setAttr(pin, "title", isPinned ? `Watch ${name} no more` : `Watch ${name} over time`);
  show(pin, !hello?.file); // nobody evaluates it there
}
