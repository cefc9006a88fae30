/**
 * The side panel's first part: the selected thing, whole.
 *
 * What it says is composed as data (`describe.js`); here it becomes elements, and only when it differs from what is
 * shown: a run that goes on must not unmark a text that somebody is about to copy.
 */

import { mayControl } from "./breakpoints.js";
import { describe } from "./describe.js";
import { fill, h, setText } from "./dom.js";
import { overlayWords } from "./drawing.js";
import { clip, count, number, plain } from "./format.js";
import { drawBar } from "./planview.js";
import { choose } from "./store.js";
import { fillValueRow, valueRow } from "./values.js";

/**
 * Make the part about the selected thing.
 *
 * @param {Store} store - the state.
 * @param {function(string, string): HTMLElement} breakButtons - buttons that set a breakpoint on a kind and a name.
 * @param {function(string, string): (HTMLElement|null)} changeButtons - in a recording, one that asks what if.
 * @returns {HTMLElement} the section.
 */
export function selectedSection(store, breakButtons, changeButtons) {
  // The buttons stand above what is drawn anew while a run goes on, and apart from it: one that is moved, or taken out,
  // between the press and the release of a mouse hears of no click.
  const head = h("div");
  const pressed = h("div");
  const words = h("div");
  const body = h("div", { class: "side-body" }, head, pressed, words);
  const title = h("h2", { text: "Selected" });
  let drawn = "";
  let offered = "";
  let made = null; // the part with what a utility is made of
  store.view(["agent", "selection", "chosen", "hello", "world", "outlines", "reloads", "pins", "hands"], (state) => {
    const content = describe(state);
    // What a utility is made of changes all the time: that is brought up to date in place.
    const text = JSON.stringify({ ...content, madeOf: content.madeOf?.map(([name, , words]) => [name, words]) });
    setText(title, content.title);
    if (text !== drawn) {
      drawn = text; // else it is the same as before: a text that is being copied stays marked
      made = content.madeOf?.length > 0 ? madeOf(content, store) : null;
      fill(head, content.empty ? null : heading(content));
      fill(words, ...render(content, made, state, store));
    }
    made?.update(content, state);
    const isRecorded = state.hello?.source === "recording";
    const force = state.hands.force.filter(([who, , , name]) => who === state.chosen && name === content.stop?.[1]);
    const offers = JSON.stringify([
      content.stop, state.chosen, force, isRecorded, mayControl(state), state.world?.breakpoints, state.hello?.file,
    ]);
    if (offers !== offered) {
      offered = offers;
      fill(pressed, content.stop ? (isRecorded ? changeButtons : breakButtons)(...content.stop) : null);
    }
  });
  return h(
    "section",
    { class: "side-section selected", "aria-label": "Selected" },
    h("div", { class: "panel-head" }, title),
    body,
  );
}

function heading(content) {
  return h(
    "div",
    { class: "side-heading" },
    content.state ? h("span", { class: `dot ${content.state}` }) : null,
    h("strong", { text: content.heading }),
    content.state
      ? h("span", { class: `state-word ${content.state}`, text: content.stateWord ?? content.state })
      : null,
  );
}

function render(content, made, state, store) {
  if (content.empty)
    return [h("p", { class: "empty-line", text: content.empty }), content.path ? pathLine(content.path) : null];
  return [
    content.bar ? largeBar(content.bar) : null,
    made?.element,
    content.why ? h("p", { class: "why-box", text: content.why }) : null,
    pairs(content.rows.filter(([, value]) => value !== "" && value !== null && value !== undefined)),
    named("Arguments", content.argumentsOf),
    content.candidates ? candidates(content.candidates, store) : null,
    content.offers?.length > 0 ? offers(content.offers) : null,
    named(content.title === "Event" ? "Detail" : "Debug data", content.data),
    content.agents ? takers(content.agents, store) : null,
    content.path ? pathLine(content.path) : null,
    content.goTo === undefined
      ? null
      : h("button", { type: "button", class: "button", text: `Go to tick ${content.goTo}`, "data-go": content.goTo }),
  ];
}

/** What a utility is made of, below its bar, with buttons that watch it; `update` brings it up to date. */
function madeOf({ madeOf: parts, worth }, store) {
  const rows = [["utility", worth], ...parts.map(([name, , text]) => [name, text])].map(([name, text]) =>
    valueRow(store, name, text),
  );
  const update = ({ madeOf: values, bar }, state) => {
    [["utility", bar.boosted], ...values].forEach(([, value], index) => {
      fillValueRow(rows[index], value, state);
      if (value === null) setText(rows[index].parts.words, "not offered");
    });
  };
  const title = h("h3", { text: "Its utility, and what it is made of" });
  return { element: h("div", { class: "made-of" }, title, h("ul", { class: "value-list" }, ...rows)), update };
}

function pairs(rows) {
  return h(
    "dl",
    { class: "pairs" },
    ...rows.flatMap(([name, value]) => [h("dt", { text: name }), h("dd", { text: clip(String(value)) })]),
  );
}

function named(title, values) {
  const entries = Object.entries(values ?? {});
  if (entries.length === 0) return null;
  const rows = entries.map(([name, value]) => [name, overlayWords(value) ?? plain(value)]);
  return h("div", {}, h("h3", { text: title }), pairs(rows));
}

function pathLine(path) {
  return h("div", {
    class: "path-line",
    text: path,
    title: "Path: the place in the plan, as the trace and breakpoints name it",
  });
}

function largeBar({ utility: value, boosted }) {
  const parts = {
    solid: h("span", { class: "bar-solid" }),
    boost: h("span", { class: "bar-boost" }),
    bar: h("span", { class: "bar large" }),
  };
  parts.bar.append(parts.solid, parts.boost);
  drawBar(parts, { utility: value, boosted }, Math.max(1, value, boosted));
  return h("div", { class: "large-bar" }, parts.bar, h("span", { class: "bar-value", text: number(boosted) }));
}

/** What the strategies said when they were asked, the cheapest first. */
function offers(list) {
  const rows = list.map((one) =>
    h(
      "li",
      {},
      h(
        "span",
        { class: "candidate-name" },
        h("span", { class: `dot ${typeof one.cost === "number" ? "ready" : "impossible"}` }),
        ` ${one.strategy}`,
      ),
      h("span", { class: "bar-value", text: typeof one.cost === "number" ? `${number(one.cost, 1)} s` : "cannot" }),
      one.reason ? h("span", { class: "candidate-why", text: one.reason }) : null,
    ),
  );
  return h("div", {}, h("h3", { text: "Offers" }), h("ul", { class: "candidates offers" }, ...rows));
}

/** Who took a reload up; the details stay about it when one of them is chosen. */
function takers({ names, more }, store) {
  const rows = names.map((name) =>
    h(
      "li",
      {},
      h("button", {
        type: "button",
        class: "link",
        text: name,
        title: `Look at ${name}`,
        on: { click: () => choose(store, name, store.state.selection) },
      }),
    ),
  );
  if (more > 0) rows.push(h("li", { text: `and ${count(more)} more` }));
  const title = names.length === 0 ? "No agent runs or knows it" : "Taken up by";
  return h("div", {}, h("h3", { text: title }), h("ul", { class: "takers" }, ...rows));
}

function candidates(list, store) {
  const scale = Math.max(1, ...list.map((one) => one.boosted).filter(Number.isFinite));
  const rows = list.map((one) => {
    const parts = {
      solid: h("span", { class: "bar-solid" }),
      boost: h("span", { class: "bar-boost" }),
      bar: h("span", { class: "bar" }),
    };
    parts.bar.append(parts.solid, parts.boost);
    drawBar(parts, one, scale);
    const open = () => store.set({ selection: { what: "unit", path: one.path, key: `u:${one.path}` } });
    return h(
      "li",
      { class: one.elected ? "elected" : "" },
      h(
        "button",
        { type: "button", class: "link", on: { click: open } },
        h("span", { class: `dot ${one.state}` }),
        h("span", { class: "candidate-name", text: one.name }),
      ),
      parts.bar,
      h("span", { class: "bar-value", text: number(one.boosted) }),
      one.why ? h("span", { class: "candidate-why", text: one.why }) : null,
    );
  });
  return h(
    "div",
    {},
    h("h3", { text: rows.length === 0 ? "Nobody performs it" : "Candidates" }),
    h("ul", { class: "candidates" }, ...rows),
  );
}
