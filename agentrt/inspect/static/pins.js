/**
 * The side panel's part with pinned expressions: a field to write one, and a small chart over time for each.
 *
 * A chart of a run that lives begins when its expression was pinned; one of a recording has all of it, with a line at
 * the tick that is looked at. A click goes to a tick, if that can be gone to. What is pinned is kept by the browser for
 * each world.
 *
 * Source: Unreal, the Visual Logger: graphs of values over time; debuggers: watches.
 */

import { colors, makeCanvas } from "./canvas.js";
import { button, h, reconcile, setAttr, setText, show } from "./dom.js";
import { withheld } from "./emptiness.js";
import { clip, number, plain } from "./format.js";
import { boundsOf, keyOf, MOST_PINS, pinsFrom } from "./pinned.js";
import { isOver, reachOf as ticksOf, within } from "./past.js";
import { choose, remember, remembered } from "./store.js";

const FILE_HAS = "These were watched when the file was made; others need a server: agentrt inspect FILE.";
const FILE_HAS_NONE = "Nothing was watched when this file was made; to watch needs a server: agentrt inspect FILE.";

/**
 * Make the section.
 *
 * @param {Store} store - the state.
 * @param {Playback} playback - goes to a tick of a recording.
 * @returns {{element: HTMLElement, focus: function(): void}} the section; and what the key does.
 */
export function pinsSection(store, playback) {
  const list = h("ul", { class: "pin-list" });
  const field = h("input", {
    class: "input",
    placeholder: "hunger > 0.8",
    "aria-label": "Expression to watch",
    "aria-describedby": "pin-said",
    title: "Names of values, numbers, + - * / %, < <= > >= == !=, and, or, not, abs, min, max  (w)",
    maxlength: 300,
    spellcheck: "false",
    autocomplete: "off",
  });
  const said = h("p", { class: "pin-said", id: "pin-said", role: "status" });
  const form = h(
    "form",
    { class: "pin-form" },
    field,
    h("button", { type: "submit", class: "button", text: "Pin", title: "Pin it to the chosen agent" }),
  );
  field.addEventListener("input", () => store.set({ typing: field.value }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text || store.state.chosen === null) return field.focus();
    if (!togglePin(store, { agent: store.state.chosen, text }, true)) return undefined;
    field.value = "";
    store.set({ typing: "" });
    return undefined;
  });
  const none = h("p", { class: "empty-line", hidden: true });
  const edit = (pin) => {
    choose(store, pin.agent);
    if (form.hidden) return;
    field.value = pin.text;
    store.set({ typing: pin.text });
    field.focus();
  };

  let title = null;
  store.view(["hello"], ({ hello }) => {
    if (hello === null || hello.title === title) return;
    title = hello.title;
    // A file has its own, and whoever is sent it has others in his browser.
    const kept = hello.file ? JSON.stringify(hello.pins) : remembered(`pins.${title}`, "[]");
    const why = withheld({ hello }, "pins");
    store.set({ pins: why === "" ? pinsFrom(kept) : [] });
    show(form, !hello.file && why === "");
    show(none, Boolean(hello.file) || why !== "");
    setText(none, why || (hello.pins?.length > 0 ? FILE_HAS : FILE_HAS_NONE));
  });
  store.view(["pins", "readings", "typing", "chosen", "theme", "hello", "world"], (state) => {
    const { pins, readings, typing, chosen } = state;
    reconcile(list, pins, keyOf, (pin) => makePin(store, playback, pin, edit), (row) => drawPin(row, state));
    const text = typing.trim();
    const now = text ? readings.get(keyOf({ agent: chosen ?? "", text })) : undefined;
    setText(said, now === undefined ? "" : now.error ? errorWords(now) : `= ${valueWords(now.value)}`);
    said.classList.toggle("is-trouble", Boolean(now?.error));
    setAttr(field, "aria-invalid", Boolean(now?.error) && "true");
    show(said, said.textContent !== "");
  });
  const element = h(
    "section",
    { class: "side-section pins", "aria-label": "Watched" },
    h("div", { class: "panel-head" }, h("h2", { text: "Watched" })),
    h("div", { class: "side-body" }, form, said, list, none),
  );
  return { element, focus: () => (form.hidden ? element.scrollIntoView({ block: "nearest" }) : field.focus()) };
}

/** Pin an expression, or take it away; false if there are too many. */
export function togglePin(store, pin, isWanted = null) {
  const { pins, hello } = store.state;
  if (withheld(store.state, "pins") !== "") {
    store.set({ message: withheld(store.state, "pins") });
    return false;
  }
  const key = keyOf(pin);
  const others = pins.filter((one) => keyOf(one) !== key);
  const add = isWanted ?? others.length === pins.length;
  if (add && others.length >= MOST_PINS) {
    store.set({ message: `${MOST_PINS} expressions are watched already: remove one.` });
    return false;
  }
  const next = !add ? others : others.length < pins.length ? pins : [...pins, { agent: pin.agent, text: pin.text }];
  store.set({ pins: next });
  if (!hello?.file) remember(`pins.${hello?.title ?? ""}`, JSON.stringify(next));
  return true;
}

/** What is wrong with an expression, in words. */
function errorWords({ error, column }) {
  return column > 0 ? `column ${column}: ${error}` : error;
}

/** A value as it stands beside its name. */
export function valueWords(value) {
  return typeof value === "number" ? number(value) : clip(plain(value), 60);
}

// --- one pin --------------------------------------------------------------------------------------------------------

function makePin(store, playback, pin, edit) {
  const text = h("button", {
    type: "button",
    class: "link pin-text",
    title: `${pin.text}\nChange it`,
    text: pin.text,
    on: { click: () => edit(pin) },
  });
  const agent = h("button", {
    type: "button",
    class: "link pin-agent",
    title: `Look at ${pin.agent}`,
    text: pin.agent,
    on: { click: () => choose(store, pin.agent) },
  });
  const value = h("span", { class: "pin-value" });
  const remove = button({ glyph: "close", name: `Watch ${pin.text} no more`, kind: "quiet" }, () =>
    togglePin(store, pin, false),
  );
  const row = h("li", { class: "pin" });
  let pointer = null;
  const canvas = makeCanvas(pin.text, () => drawChart(row, store.state));
  canvas.element.addEventListener("pointermove", (event) => {
    pointer = event.offsetX;
    drawPin(row, store.state);
  });
  canvas.element.addEventListener("pointerleave", () => {
    pointer = null;
    drawPin(row, store.state);
  });
  canvas.element.addEventListener("click", (event) => {
    const points = store.state.readings.get(keyOf(pin))?.points ?? [];
    const at = nearest(points, event.offsetX, canvas.element.clientWidth, reachOf(row, store.state));
    if (at !== null && within(store.state, at[0]) !== undefined) playback.goTo(at[0]);
  });
  const trouble = h("p", { class: "pin-said is-trouble" });
  row.append(h("div", { class: "pin-head" }, text, agent, value, remove), canvas.element, trouble);
  Object.assign(row, { pin, canvas, parts: { agent, value, trouble }, pointerAt: () => pointer });
  return row;
}

function drawPin(row, state) {
  const reading = state.readings.get(keyOf(row.pin));
  const { agent, value, trouble } = row.parts;
  const at = pointed(row, state);
  const now = reading === undefined ? "…" : reading.error ? "–" : valueWords(reading.value);
  setText(value, at === null ? now : `tick ${at[0]}: ${number(at[1])}`);
  show(agent, row.pin.agent !== state.chosen);
  setText(trouble, reading?.error ? errorWords(reading) : "");
  show(trouble, Boolean(reading?.error));
  const bounds = boundsOf(reading?.points ?? []);
  show(row.canvas.element, bounds !== null);
  row.canvas.element.classList.toggle("can-go", ticksOf(state) !== null);
  setAttr(row.canvas.element, "aria-label", chartWords(row.pin, reading, now));
  drawChart(row, state);
}

function chartWords({ agent, text }, reading, now) {
  const numbers = (reading?.points ?? []).map((point) => point[1]).filter((one) => typeof one === "number");
  if (numbers.length === 0) return `${text} of ${agent}`;
  const reach = `from ${number(Math.min(...numbers))} to ${number(Math.max(...numbers))}`;
  return `${text} of ${agent} over time: ${reach}, now ${now}`;
}

/** The first and the last tick of a chart. */
function reachOf(row, state) {
  const reading = state.readings.get(keyOf(row.pin));
  const points = reading?.points ?? [];
  return reading?.reach ?? [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 1];
}

function nearest(points, x, width, [first, last]) {
  const tick = first + (x / Math.max(1, width)) * (last - first);
  let best = null;
  for (const point of points) if (best === null || Math.abs(point[0] - tick) < Math.abs(best[0] - tick)) best = point;
  return best;
}

function pointed(row, state) {
  const x = row.pointerAt();
  if (x === null) return null;
  const points = state.readings.get(keyOf(row.pin))?.points ?? [];
  return nearest(points, x, row.canvas.element.clientWidth, reachOf(row, state));
}

function drawChart(row, state) {
  const points = state.readings.get(keyOf(row.pin))?.points ?? [];
  const bounds = boundsOf(points);
  if (bounds === null) return;
  const { pen, width, height } = row.canvas.begin();
  const paint = colors();
  const [first, last] = reachOf(row, state);
  const [low, high] = bounds;
  const x = (tick) => (last === first ? width : ((tick - first) / (last - first)) * width);
  const y = (value) => 2 + (height - 4) * (1 - (value - low) / (high - low));
  pen.strokeStyle = paint["chart-tick"];
  pen.fillStyle = paint["chart-tick"];
  pen.lineWidth = 1.25;
  const isTruth = typeof state.readings.get(keyOf(row.pin))?.value === "boolean";
  for (const run of runsOf(points)) {
    pen.beginPath();
    run.forEach(([tick, value], index) => {
      if (isTruth && index > 0) pen.lineTo(x(tick), y(run[index - 1][1])); // it was so until then
      pen.lineTo(x(tick), y(value));
    });
    pen.stroke();
    pen.lineTo(x(run.at(-1)[0]), height);
    pen.lineTo(x(run[0][0]), height);
    pen.globalAlpha = 0.22;
    pen.fill();
    pen.globalAlpha = 1;
    if (run.length === 1) pen.fillRect(x(run[0][0]) - 1, y(run[0][1]) - 1, 2, 2);
  }
  const mark = pointed(row, state)?.[0] ?? (isOver(state) ? state.world?.tick : undefined);
  if (mark !== undefined) {
    pen.fillStyle = paint.accent;
    pen.fillRect(Math.min(width - 1, Math.max(0, x(mark) - 0.5)), 0, 1, height);
  }
}

/** The parts of a line between the ticks in which there was no number. */
function runsOf(points) {
  const runs = [];
  let run = [];
  for (const point of points) {
    if (typeof point[1] === "number") run.push(point);
    else if (run.length > 0) {
      runs.push(run);
      run = [];
    }
  }
  return run.length > 0 ? [...runs, run] : runs;
}
