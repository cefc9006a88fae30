/**
 * Breakpoints: "stop when this starts", for an action, an activity, a strategy, a decider, a goal or an agent.
 *
 * They belong to the runtime and not to the page: every page that looks at it sees the same, and they stay when a page
 * is closed. The one that closed the gate is marked. Without controls they are shown and cannot be changed; a recording
 * has none, since nothing starts in it.
 */

import { button, h, reconcile, setAttr, setClass, setText, show } from "./dom.js";
import { plural } from "./format.js";
import { choose } from "./store.js";

const KINDS = ["action", "activity", "strategy", "decider", "goal", "agent"];

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
    ...KINDS.map((one) => h("option", { value: one, text: one })),
  );
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
          if (!name.value.trim()) return name.focus();
          set(kind.value, name.value.trim(), only.checked ? store.state.chosen : "");
          name.value = "";
          return undefined;
        },
      },
    },
    kind,
    name,
    add,
    h("label", { class: "check" }, only, h("span", { text: "only in the chosen agent" })),
  );

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
  const row = h("li", {}, h("span", { class: "break-dot" }), h("span", { class: "break-text" }, words, last), remove);
  row.parts = { words, last, remove };
  return row;
}

/** Look at what was hit last. */
function goThere(store, { place, hits }) {
  const [agent, path] = place ?? [];
  if (hits > 0 && agent) choose(store, agent, { what: "unit", path, key: `u:${path}` });
}

function fillRow(row, point, world, isOff) {
  row.point = point;
  setText(row.parts.words, `${point.kind} ${point.name}${point.agent ? ` of ${point.agent}` : ""}`);
  row.parts.last.disabled = point.hits === 0;
  setText(row.parts.last, point.hits > 0 ? `${plural(point.hits, "hit")}, last: ${point.last}` : "not hit yet");
  setAttr(row.parts.last, "title", point.last ? `Look at it: ${point.last}` : null);
  const isHit = world.paused && point.hits > 0 && world.reason.includes(`${point.kind} ${point.name}`);
  setClass(row, isHit ? "is-hit" : "");
  row.parts.remove.disabled = isOff;
}
