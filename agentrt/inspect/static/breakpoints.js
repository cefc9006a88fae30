/**
 * Breakpoints: "stop when this starts", for an action, an activity, a strategy, a decider, a goal or an agent; or
 * when something is so: a condition over values, an abort, a long wait, a late tick.
 *
 * They belong to the runtime and not to the page: every page that looks at it sees the same, and they stay when a page
 * is closed. The one that closed the gate is marked. Without controls they are shown and cannot be changed; a recording
 * has none, since nothing starts in it.
 */

import { button, h, reconcile, setAttr, setClass, setText, show } from "./dom.js";
import { plural } from "./format.js";
import { choose } from "./store.js";

/** The kinds: what the list of choices says, and an example of what is typed; none: nothing is. */
const KINDS = [
  ["action", "action", "Name, as in paths"],
  ["activity", "activity", "Name, as in paths"],
  ["strategy", "strategy", "Name, as in task trees"],
  ["decider", "decider", "Name, or of its behavior"],
  ["goal", "goal", "Name"],
  ["agent", "agent", "Name"],
  ["condition", "condition", "hunger > 0.8"],
  ["aborts", "aborts", ""],
  ["waits", "waits", "longer than 5 s: 5"],
  ["late", "late tick", ""],
];

/**
 * Make the part of the side panel, and the buttons that set breakpoints elsewhere.
 *
 * @param {Store} store - the state.
 * @param {Connection} connection - tells the server.
 * @returns {{element: HTMLElement, buttons: function(string, string): HTMLElement, toggle: function(string, string):
 *   void}} the section; buttons for a kind and a name; what the key does.
 */
export function breakpointsSection(store, connection) {
  const list = h("ul", { class: "break-list" });
  const none = h("p", { class: "empty-line", text: "None is set." });
  const kind = h(
    "select",
    { class: "select", "aria-label": "Kind of breakpoint" },
    ...KINDS.map(([one, words]) => h("option", { value: one, text: words })),
  );
  const wrong = h("p", { class: "hand-error", role: "alert" });
  const name = h("input", {
    class: "input",
    placeholder: "Name, as in paths",
    "aria-label": "Name of what starts",
    maxlength: 200,
    spellcheck: "false",
  });
  const only = h("input", { type: "checkbox" });
  const add = h("button", { type: "submit", class: "button", text: "Add" });
  const form = h(
    "form",
    {
      class: "break-form",
      on: {
        submit: (event) => {
          event.preventDefault();
          if (isNamed() && !name.value.trim()) return name.focus();
          store.set({ breakError: "" });
          pending = isNamed() ? name.value.trim() : "";
          set(kind.value, pending, only.checked ? store.state.chosen : "");
          name.value = "";
          return undefined;
        },
      },
    },
    wrong,
    kind,
    name,
    add,
    h("label", { class: "check" }, only, h("span", { text: "only in the chosen agent" })),
  );
  let pending = ""; // what was typed last, so that it can be mended
  const isNamed = () => KINDS.find(([one]) => one === kind.value)[2] !== "";
  function example() {
    setAttr(name, "placeholder", KINDS.find(([one]) => one === kind.value)[2]);
    name.classList.toggle("is-blank", !isNamed()); // it keeps its place: the button does not move
    setText(wrong, "");
  }
  kind.addEventListener("change", example);
  example();
  store.view(["breakError"], ({ breakError }) => {
    setText(wrong, breakError);
    if (breakError && name.value === "") name.value = pending;
  });

  function set(which, what, agent) {
    connection.send({ do: "break", kind: which, name: what, agent: which === "agent" ? "" : (agent ?? "") });
  }

  function find(which, what, agent) {
    return store.state.world?.breakpoints?.find(
      (one) => one.kind === which && one.name === what && one.agent === agent,
    );
  }

  function toggle(which, what, agent = "") {
    const known = find(which, what, agent);
    if (known === undefined) set(which, what, agent);
    else connection.send({ do: "unbreak", id: known.id });
  }

  function buttons(which, what) {
    const isOff = !mayControl(store.state);
    const agent = store.state.chosen ?? "";
    const make = (label, owner) => {
      const isSet = find(which, what, owner) !== undefined;
      const made = h("button", {
        type: "button",
        class: "button break-button",
        "aria-pressed": String(isSet),
        disabled: isOff,
        title: isOff ? "Watching only: start the inspector with its controls" : `Stop when ${which} ${what} starts`,
        on: { click: () => toggle(which, what, owner) },
      });
      made.append(h("span", { class: "break-dot" }), h("span", { class: "break-label", text: label }));
      return made;
    };
    return h("div", { class: "button-row" }, make("Break on start", ""), make(`in ${agent} only`, agent));
  }

  store.view(["world", "hello"], (state) => {
    const { world } = state;
    const points = world?.breakpoints ?? [];
    const isOff = !mayControl(state);
    reconcile(
      list,
      points,
      (point) => String(point.id),
      () => makeRow(store, connection),
      (row, point) => fillRow(row, point, world, isOff),
    );
    show(none, points.length === 0);
    for (const field of [kind, name, only, add]) field.disabled = isOff;
  });
  const element = h(
    "section",
    { class: "side-section breakpoints", "aria-label": "Breakpoints" },
    h("div", { class: "panel-head" }, h("h2", { text: "Breakpoints" })),
    h("div", { class: "side-body" }, list, none, form),
  );
  store.view(["hello"], ({ hello }) => show(element, hello?.source !== "recording"));
  return { element, buttons, toggle };
}

/** Whether this page may do more than watch. */
export function mayControl({ hello, link }) {
  return link === "open" && hello !== null && (hello.controls || hello.source === "recording");
}

function makeRow(store, connection) {
  const words = h("span", { class: "break-words" });
  const last = h("button", {
    type: "button",
    class: "link break-last",
    on: { click: () => goThere(store, row.point) },
  });
  const remove = button({ glyph: "close", name: "Remove this breakpoint", kind: "quiet" }, () =>
    connection.send({ do: "unbreak", id: row.point.id }),
  );
  const on = h("input", {
    type: "checkbox",
    class: "break-on",
    on: { change: () => connection.send({ do: "arm", id: row.point.id, on: on.checked }) },
  });
  const was = h("span", { class: "break-was" });
  const error = h("span", { class: "break-error hand-error" });
  const dot = h("span", { class: "break-dot" });
  const row = h("li", {}, on, dot, h("span", { class: "break-text" }, words, last, was, error), remove);
  row.parts = { on, words, last, was, error, remove };
  return row;
}

/** Look at what was hit last. */
function goThere(store, { place, hits }) {
  const [agent, path] = place ?? [];
  if (hits > 0 && agent) choose(store, agent, { what: "unit", path, key: `u:${path}` });
}

function fillRow(row, point, world, isOff) {
  row.point = point;
  const { on, was, error } = row.parts;
  const words = wordsOf(point);
  setText(row.parts.words, words);
  setAttr(row.parts.words, "title", words);
  if (on.checked !== point.enabled) on.checked = point.enabled;
  on.disabled = isOff;
  setAttr(on, "aria-label", `Enabled: ${words}`);
  setAttr(on, "title", point.enabled ? "It stops the run: uncheck to keep it and not stop" : "Kept, and stops nothing");
  setText(was, point.was.map(([one, value]) => `${one} ${value}`).join(", "));
  setText(error, point.error);
  row.parts.last.disabled = point.hits === 0;
  setText(row.parts.last, point.hits > 0 ? `${plural(point.hits, "hit")}, last: ${point.last}` : "not hit yet");
  setAttr(row.parts.last, "title", point.last ? `Look at it: ${point.last}` : null);
  const isHit = world.paused && point.hits > 0 && world.reason.startsWith(`breakpoint: ${words}`);
  setClass(row, `${isHit ? "is-hit" : ""}${point.enabled ? "" : " is-off"}`.trim());
  row.parts.remove.disabled = isOff;
}

/** A breakpoint in words, as the reason of a pause has it. */
function wordsOf({ kind, name, agent }) {
  const whose = agent ? ` of ${agent}` : "";
  if (kind === "waits") return `waits longer than ${name} s${whose}`;
  if (kind === "late") return "late tick";
  return `${kind} ${name}`.trim() + whose;
}
