/**
 * The tab Control: what may be changed of what lives, what is in force, and what was done.
 *
 * The forms stand apart from the lists, so that nothing moves under the pointer while a run goes on. A change
 * comes in with the next tick, and says then what came of it; what is wrong is said beside its field. A recording has
 * neither: there, what came in is listed, and What if changes it.
 */

import { mayControl } from "./breakpoints.js";
import { button, fill, h, reconcile, setAttr, setClass, setText, show } from "./dom.js";
import { withheld } from "./emptiness.js";
import { clip } from "./format.js";
import { sendForm } from "./handforms.js";
import { asker, labeled, panel } from "./handparts.js";
import { ask, CHANGES, editOf, forceOf } from "./handsmodel.js";

const MOST_MARKS = 50;

/** Whether there is nothing to do here. */
export function hasNoHands({ hello, hands }) {
  return hello !== null && hello.source === "recording" && hands.marks.length === 0;
}

/**
 * Make the view.
 *
 * @param {Store} store - the state.
 * @param {Connection} connection - tells the server.
 * @param {Playback} playback - goes to a tick of a recording.
 * @returns {{element: HTMLElement, buttons: function(string, string): (HTMLElement|null)}} the panel; the buttons that
 *   disable, force and free what is of a kind and has a name.
 */
export function handsView(store, connection, playback) {
  const notice = h("p", { class: "whatif-notice", role: "note" });
  const change = changeForm(store, connection);
  const send = sendForm(store, connection);
  const force = forceList(store, connection);
  const marks = markList(store, playback);
  const forms = h("div", { class: "hands-forms" }, change, send);
  const element = h(
    "div",
    { class: "hands-view view" },
    notice,
    h("div", { class: "hands-body" }, forms, h("div", {}, force, marks)),
  );
  store.view(["hello", "link"], (state) => {
    const isLive = state.hello?.source !== "recording";
    const isWithheld = withheld(state, "control") !== "";
    const why = isLive
      ? "Watching only: start the inspector with --controls to change what lives."
      : "What is recorded is as it was: What if runs on from here with changes.";
    setText(notice, withheld(state, "control") || why);
    show(notice, state.hello !== null && (!isLive || isWithheld || !mayControl(state)));
    show(forms, isLive && !isWithheld && mayControl(state));
    show(force, isLive && !isWithheld);
  });
  return { element, buttons: (kind, name) => steerButtons(store, connection, kind, name) };
}

function changeForm(store, connection) {
  const plainText = { class: "input", spellcheck: "false", autocomplete: "off" };
  const kind = h(
    "select",
    { class: "select" },
    ...CHANGES.map(({ key, words }) => h("option", { value: key, text: words })),
  );
  const names = h("datalist", { id: "hand-names" });
  const what = labeled("Change", kind);
  const name = labeled("Name", h("input", { ...plainText, list: "hand-names", maxlength: 500 }));
  const value = labeled("New value", h("input", { ...plainText, maxlength: 500 }));
  const only = h("input", { type: "checkbox", checked: true });
  const who = h("span", {});
  const whom = h("label", { class: "check" }, only, who);
  const status = h("p", { class: "hand-status", role: "status" });
  const current = () => CHANGES.find((one) => one.key === kind.value);
  const wrongs = {
    "/of": name.wrong,
    "/inject": name.wrong,
    "/revoke": name.wrong,
    "/to": value.wrong,
    "/agent": what.wrong,
  };
  const asking = asker(store, connection, { status, fields: () => wrongs });

  function draw() {
    const { names: offered, value: example } = current();
    show(name.element, offered !== "");
    show(value.element, example !== "");
    setText(name.name, { inject: "Alias of the pack", revoke: "Alias of the pack" }[offered] ?? "Name");
    setAttr(value.control, "placeholder", example || null);
    const { chosen, offers } = store.state;
    setText(who, chosen ? `only for ${clip(chosen, 40)}` : "only for the chosen agent");
    only.disabled = chosen === null;
    const found = offers.offers[offered] ?? [];
    const text = JSON.stringify(found);
    if (names.drawn === text) return;
    names.drawn = text;
    fill(names, ...found.map((one) => h("option", { value: one })));
    setAttr(name.control, "placeholder", found.length > 0 ? `${clip(found[0], 40)} …` : null);
  }
  kind.addEventListener("change", () => {
    name.control.value = value.control.value = "";
    for (const one of Object.values(wrongs)) setText(one, "");
    draw();
  });
  const form = h(
    "form",
    {
      class: "hand-form",
      "aria-label": "Change what lives",
      on: {
        submit: (event) => {
          event.preventDefault();
          const agent = only.checked ? (store.state.chosen ?? "") : "";
          if (current().names !== "" && name.control.value.trim() === "") {
            const message = `Say which: ${name.name.textContent.toLowerCase()}.`;
            return asking.tell({ ok: false, message, field: "/of" });
          }
          return asking.ask(editOf(kind.value, { name: name.control.value.trim(), value: value.control.value, agent }));
        },
      },
    },
    what.element,
    name.element,
    names,
    value.element,
    whom,
    h("button", { type: "submit", class: "button primary", text: "Change" }),
  );
  store.view(["offers", "chosen"], draw);
  return panel("Change what lives", form, status);
}

// --- what is in force, and what was done -----------------------------------------------------------------------------

const WORDS = { force: "forced", disable: "disabled" };

function forceList(store, connection) {
  const list = h("ul", { class: "hand-list" });
  const none = h("p", { class: "empty-line", text: "Nothing is forced or disabled." });
  const more = h("p", { class: "empty-line" });
  store.view(["hands", "hello", "link"], (state) => {
    const { force, more: left } = state.hands;
    reconcile(
      list,
      force,
      (row) => row.slice(0, 4).join("\n"),
      () => forceRow(connection),
      (row, one) => fillForce(row, one, !mayControl(state)),
    );
    show(none, force.length === 0);
    show(more, left > 0);
    setText(more, `and ${left} more`);
  });
  return panel("In force", list, none, more);
}

function forceRow(connection) {
  const tag = h("span", { class: "hand-tag" });
  const words = h("span", { class: "hand-words" });
  const since = h("span", { class: "hand-since" });
  const free = button({ label: "Free", title: "Take it back" }, () => {
    const [agent, , kind, name] = row.one;
    ask(connection, { free: kind, of: name, agent });
  });
  const row = h("li", {}, tag, words, since, free);
  row.parts = { tag, words, since, free };
  return row;
}

function fillForce(row, one, isOff) {
  row.one = one;
  const [agent, does, kind, name, tick] = one;
  setClass(row.parts.tag, `hand-tag is-${WORDS[does]}`);
  setText(row.parts.tag, WORDS[does]);
  setText(row.parts.words, `${kind} ${name} of ${agent}`);
  setText(row.parts.since, `since tick ${tick}`);
  setAttr(row.parts.free, "aria-label", `Free ${kind} ${name} of ${agent}`);
  row.parts.free.disabled = isOff;
}

function markList(store, playback) {
  const list = h("ul", { class: "hand-list" });
  const none = h("p", { class: "empty-line", text: "Nothing was changed by hand." });
  store.view(["hands", "hello"], ({ hands, hello }) => {
    const isRecording = hello?.source === "recording";
    setText(none, isRecording ? "Nothing came in from outside." : "Nothing was changed by hand.");
    reconcile(
      list,
      hands.marks.slice(-MOST_MARKS).reverse(),
      (mark, index) => `${mark.join("\n")}\n${hands.marks.length - index}`,
      () => markRow(playback),
      (row, mark) => fillMark(row, mark, isRecording),
    );
    show(none, hands.marks.length === 0);
  });
  return panel("What was done", list, none);
}

function markRow(playback) {
  const tick = h("button", { type: "button", class: "link hand-tick", on: { click: () => playback.goTo(row.tick) } });
  const words = h("span", { class: "hand-words" });
  const wrong = h("span", { class: "hand-error" });
  const row = h("li", { class: "hand-mark" }, tick, h("span", {}, words, wrong));
  row.parts = { tick, words, wrong };
  return row;
}

function fillMark(row, [tick, , words, problem], isRecording) {
  row.tick = tick;
  setText(row.parts.tick, `tick ${tick}`);
  row.parts.tick.disabled = !isRecording;
  setText(row.parts.words, words);
  setText(row.parts.wrong, problem ? ` ${problem}` : "");
}

// --- at the thing itself ---------------------------------------------------------------------------------------------

/** Buttons that disable or force what is selected, or free it; none for what cannot be steered. */
function steerButtons(store, connection, kind, name) {
  const agent = store.state.chosen;
  const isOff = !mayControl(store.state);
  const why = withheld(store.state, "control");
  const known = forceOf(store.state, agent, kind, name);
  if (!["action", "goal", "decider", "leaf"].includes(kind) || agent === null) return null;
  if (known === null && isOff) return null;
  const make = (label, edit, title) => {
    const made = button({ label, title }, () => ask(connection, { ...edit, of: name, agent }));
    made.disabled = isOff || why !== "";
    if (why !== "") made.title = why;
    return made;
  };
  if (known !== null) {
    const [does, tick] = known;
    const words = `${WORDS[does]} by hand since tick ${tick}`;
    return h(
      "div",
      { class: "button-row hand-row" },
      h("span", { class: `hand-tag is-${WORDS[does]}`, text: words }),
      make("Free", { free: kind }, "Take it back"),
    );
  }
  return h(
    "div",
    { class: "button-row hand-row" },
    make("Disable", { disable: kind }, `${name} is out for ${agent}, until it is freed`),
    make("Force", { force: kind }, `All that compete with ${name} are out for ${agent}, until it is freed`),
  );
}
