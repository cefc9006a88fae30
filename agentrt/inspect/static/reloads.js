/**
 * Reloads: edits of the code and the content while a world runs. What was taken up, by whom, and what was refused.
 *
 * The server tells all of them, the oldest first (`state.reloads`). What stands now is worked out here (`standings`): a
 * reload that was refused stays *open* while there is a file of it that none took since, since then something else runs
 * than what was saved. The newest open one is told in red over the whole page; it cannot be dismissed, and goes when
 * the mistake is mended. In a recording "now" is the tick that is looked at.
 */

import { button, h, reconcile, setAttr, setClass, setText, show } from "./dom.js";
import { clip, plural } from "./format.js";
import { isOver as isOverNow } from "./past.js";

const MOST_LISTED = 20;
const MOST_LETTERS = 400; // of the names of files

/**
 * What became of each reload.
 *
 * @param {object} state - the state of the page.
 * @returns {{row: object, key: string, state: string, words: string, isOver: boolean}[]} the reload; what it is known
 *   by; the state whose color it has; that in words; whether a refusal is over.
 */
export function standings({ reloads, hello, world }) {
  const now = isOverNow({ hello, world }) ? (world?.tick ?? 0) : Infinity;
  if (known.reloads !== reloads || known.now !== now) known = { reloads, now, made: judged(reloads, now) };
  return known.made;
}

let known = { reloads: null, now: null, made: [] }; // many views ask, each time that the world moves

function judged(reloads, now) {
  const nths = new Map(); // of each tick: how many there were
  const made = reloads.map(({ tick }) => {
    const nth = nths.get(tick) ?? 0;
    nths.set(tick, nth + 1);
    return { key: `${tick}.${nth}` };
  });
  const next = new Map(); // of each file: the reload that took it next. An edit may be of ten thousand.
  for (let index = reloads.length - 1; index >= 0; index -= 1) {
    const row = reloads[index];
    Object.assign(made[index], { row, isOver: false }, verdict(row, now, next));
    if (row.tick <= now) for (const file of row.files) next.set(file, row);
  }
  return made;
}

function verdict(row, now, next) {
  if (row.tick > now) return { state: "idle", words: "comes later" };
  if (!row.error) return { state: "running", words: "taken up" };
  const after = row.files.map((file) => next.get(file));
  if (after.length === 0) return { isOver: true, state: "idle", words: "refused" }; // a file may say so
  if (after.includes(undefined)) return { state: "impossible", words: "refused" };
  const last = after.reduce((one, other) => (other.tick > one.tick ? other : one));
  const words = `${last.error ? "refused again" : "mended"} in tick ${last.tick}`;
  return { isOver: true, state: "idle", words };
}

/** What a reload is about, on one line. */
export function summaryOf({ files, changed, removed, error, took }) {
  if (error) return clip(error.split("\n")[0], MOST_LETTERS);
  const names = [...changed, ...removed.map((name) => `${name} is gone`)];
  if (names.length === 0) return `${clip(files.join(", "), MOST_LETTERS)}: as before`;
  return `${clip(names.join(", "), 120)} · ${plural(took, "agent")}`;
}

/** Select a reload: the details are about it. */
export function selectReload(store, key) {
  store.set({ selection: { what: "reload", key } });
}

/**
 * Make the bar that tells of what was refused.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the bar; hidden while all that was saved runs.
 */
export function reloadBar(store) {
  const title = h("strong", {});
  const error = h("span", { class: "refused-error" });
  let key = "";
  const element = h(
    "div",
    { class: "refused", role: "alert", hidden: true },
    h("span", { class: "dot impossible" }),
    h("span", { class: "refused-text" }, title, error),
    button({ label: "Details", name: "Details of what was refused", title: "Look at it  (r)" }, () => {
      selectReload(store, key);
      document.querySelector(".selected")?.scrollIntoView({ block: "nearest" }); // on a phone they stand below
    }),
  );
  store.view(["reloads", "hello", "world"], (state) => {
    const open = standings(state).filter((one) => one.state === "impossible");
    show(element, open.length > 0);
    if (open.length === 0) return;
    const { row } = open.at(-1);
    key = open.at(-1).key;
    const more = open.length > 1 ? ` (and ${open.length - 1} more)` : "";
    setText(title, `Not reloaded in tick ${row.tick}, the old code goes on${more}`);
    setText(error, row.error);
  });
  return element;
}

/**
 * Make the part of the side panel.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the section; hidden while nothing was edited.
 */
export function reloadsSection(store) {
  const list = h("ul", { class: "reload-list" });
  const more = h("p", { class: "empty-line" });
  const element = h(
    "section",
    { class: "side-section reloads", "aria-label": "Reloads", hidden: true },
    h("div", { class: "panel-head" }, h("h2", { text: "Reloads" })),
    h("div", { class: "side-body" }, list, more),
  );
  store.view(["reloads", "hello", "world", "selection"], (state) => {
    const all = standings(state);
    show(element, all.length > 0);
    reconcile(
      list,
      all.slice(-MOST_LISTED).reverse(),
      (one) => one.key,
      () => makeRow(store),
      (row, one) => fillRow(row, one, state.selection),
    );
    setText(more, all.length > MOST_LISTED ? `and ${all.length - MOST_LISTED} before` : "");
    show(more, all.length > MOST_LISTED);
  });
  return element;
}

function makeRow(store) {
  const [tick, words] = ["reload-tick", "reload-words"].map((name) => h("span", { class: name }));
  const parts = { dot: h("span"), tick, words };
  const link = h(
    "button",
    { type: "button", class: "link", on: { click: () => selectReload(store, row.key) } },
    parts.dot,
    parts.tick,
    parts.words,
  );
  const row = h("li", {}, link);
  row.parts = { ...parts, link };
  return row;
}

function fillRow(row, { key, row: reload, state, words, isOver }, selection) {
  row.key = key;
  const isSelected = selection?.what === "reload" && selection.key === key;
  setClass(row, [isSelected && "is-selected", isOver && "is-over"].filter(Boolean).join(" "));
  setClass(row.parts.dot, `dot ${state}`);
  setText(row.parts.tick, `tick ${reload.tick}`);
  setText(row.parts.words, isOver ? `${words}: ${summaryOf(reload)}` : summaryOf(reload));
  setAttr(row.parts.link, "title", clip(`${words}: ${reload.files.join(", ")}`, MOST_LETTERS));
}
