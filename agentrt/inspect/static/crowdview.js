/**
 * The tab about all agents: how many do what over time, and who thinks how long about what.
 *
 * The chart is a stack: each band is something that agents do, as high as so many of them do it. A band, and its entry
 * in the legend, filters the list of agents; in a recording a double click goes to a tick. Below it the map: a row for
 * each agent, a column for each activity, the more the deeper; a click on a row chooses the agent.
 *
 * Colors stay with what they mean while the page is open, whatever becomes more or less; "nothing" is gray.
 *
 * Source: Perfetto: counter tracks, stacked; ours: the heat map.
 */

import { colors, makeCanvas } from "./canvas.js";
import { doingWord, filterByDoing, rateWords } from "./crowdmodel.js";
import { h, reconcile, setAttr, setClass, setText, show } from "./dom.js";
import { withheld } from "./emptiness.js";
import { count, plural } from "./format.js";
import { heatMap } from "./heatmap.js";
import { within } from "./past.js";

const LEFT = 46;
const BOTTOM = 18;
const OTHERS = "\u0000others";
const HUES = 12;

/** Whether there is nobody. */
export function hasNoCrowd({ world, hello }) {
  return world?.agents === 0 || Boolean(hello?.file);
}

const IN_A_FILE = "This page is a file, without a server, and it does not count them. Look at the recording for that.";

/**
 * Make the tab.
 *
 * @param {Store} store - the state.
 * @param {Playback} playback - goes to a tick of a recording.
 * @returns {HTMLElement} the panel.
 */
export function crowdView(store, playback) {
  const hues = new Map(); // the number of a color, by what it means
  let pointer = null;
  const kind = h("select", {
    class: "select",
    "aria-label": "Kind of agents in the chart",
    title: "Kind of agents",
    on: { change: () => store.set({ crowdKind: kind.value, crowd: null, heat: null }) },
  });
  const note = h("span", { class: "tally", role: "status" });
  const readout = h("div", { class: "chart-readout" });
  const legend = h("div", { class: "crowd-legend", role: "group", "aria-label": "What they do; choosing one filters" });
  const canvas = makeCanvas("How many agents do what, over time", () => draw(store.state));
  const box = h("div", { class: "chart crowd-chart" }, canvas.element);
  const empty = h("div", { class: "empty", text: "Looking at all agents …" });
  const heat = heatMap(store);

  canvas.element.addEventListener("pointermove", (event) => {
    pointer = { x: event.offsetX, y: event.offsetY };
    draw(store.state);
  });
  canvas.element.addEventListener("pointerleave", () => {
    pointer = null;
    draw(store.state);
  });
  canvas.element.addEventListener("click", (event) => {
    const { crowd } = store.state;
    const found = crowd && bandAt(crowd, plotOf(canvas.element), event.offsetX, event.offsetY);
    if (found && found.name !== OTHERS) filterByDoing(store, found.name);
  });
  canvas.element.addEventListener("dblclick", (event) => {
    const { crowd } = store.state;
    const at = crowd && pointAt(crowd, plotOf(canvas.element), event.offsetX);
    if (at && within(store.state, at[0]) !== undefined) playback.goTo(at[0]);
  });

  function draw(state) {
    if (state.tab !== "crowd") return;
    const { crowd, arrange } = state;
    const isKnown = crowd !== null && crowd.points.length > 0;
    show(empty, !isKnown);
    for (const part of [legend, box]) show(part, isKnown);
    setText(empty, withheld(state, "crowd") || (state.hello?.file ? IN_A_FILE : "Looking at all agents …"));
    show(heat, !state.hello?.file);
    setText(note, noteOf(state));
    drawKinds(kind, crowd, state.crowdKind);
    if (!isKnown) return setText(readout, "");
    const bands = bandsOf(crowd);
    for (const { name } of bands) colorNumber(hues, name, bands);
    const now = nowOf(crowd, state);
    setAttr(canvas.element, "aria-label", `How many agents do what: ${wordsOf(bands, now)}`);
    reconcile(legend, bands, ({ name }) => `=${name}`, ({ name }) => legendButton(store, name), (element, band) => {
      const isOn = arrange.doing === band.name;
      setClass(element, `chip crowd-key${isOn ? " is-on" : ""}`);
      setAttr(element, "aria-pressed", String(isOn));
      element.disabled = band.name === OTHERS;
      element.firstChild.style.backgroundColor = colorOf(hues, band.name);
      setText(element.children[1], bandWord(band.name));
      setText(element.children[2], count(now[band.index + 1]));
    });
    const found = drawStack(canvas.begin(), state, bands, hues, pointer);
    canvas.element.classList.toggle("can-go", found !== null && found.name !== OTHERS);
    return setText(readout, found === null ? "" : found.words);
  }
  let drawn = [];
  store.view(["crowd", "tab", "theme", "world", "hello", "arrange", "crowdKind"], (state) => {
    const { crowd, tab, theme, hello, arrange, crowdKind, world } = state;
    const shown = hello?.source === "recording" ? world?.tick : world?.agents; // all that is drawn of the state
    const now = [crowd, tab, theme, hello, arrange, crowdKind, shown];
    if (now.every((one, index) => one === drawn[index])) return;
    drawn = now;
    draw(state);
  });

  return h(
    "div",
    { class: "view crowd-view" },
    h("div", { class: "toolbar" }, h("h3", { text: "What they do" }), kind, note, readout),
    box,
    legend,
    empty,
    heat,
  );
}

function legendButton(store, name) {
  return h(
    "button",
    {
      type: "button",
      title: name === OTHERS ? "What fewer of them do" : `Only those that do this: ${doingWord(name)}`,
      on: { click: () => filterByDoing(store, name) },
    },
    h("i", { class: "key" }),
    h("span", { class: "crowd-word" }),
    h("span", { class: "crowd-count" }),
  );
}

function noteOf({ crowd, hello, world }) {
  if (crowd === null) return "";
  if (crowd.read < crowd.agents) return `reading: ${count(crowd.read)} of ${count(crowd.agents)} agents`;
  if (hello?.source !== "recording" && world !== null)
    return [plural(world.agents, "agent"), rateWords(crowd.every)].filter(Boolean).join(", "); // a past has no rate
  if (crowd.points.length < crowd.of) return `${count(crowd.points.length)} of ${count(crowd.of)} points read`;
  if (crowd.counted >= crowd.agents) return "";
  return `${count(crowd.counted)} of ${count(crowd.agents)} agents are counted: all that they did is too much to keep`;
}

function drawKinds(box, crowd, chosen) {
  const kinds = crowd?.kinds ?? [];
  const wanted = ["", ...kinds.filter(Boolean)];
  if (chosen !== "" && !wanted.includes(chosen)) wanted.push(chosen);
  reconcile(box, wanted, (one) => `=${one}`, (one) => h("option", { value: one, text: one || "All kinds" }), () => {});
  if (box.value !== chosen) box.value = chosen;
  show(box, wanted.length > 2 || chosen !== "");
}

/** The bands from below: what most do lies at the bottom, nothing at the top. */
function bandsOf({ names, points }) {
  const bands = names.map((name, index) => ({ name, index }));
  if (points.some((point) => point.at(-1) > 0)) bands.push({ name: OTHERS, index: names.length });
  return [...bands.filter(({ name }) => name !== ""), ...bands.filter(({ name }) => name === "")];
}

function bandWord(name) {
  return name === OTHERS ? "other things" : doingWord(name);
}

function wordsOf(bands, now) {
  return bands.map(({ name, index }) => `${bandWord(name)} ${now[index + 1]}`).join(", ");
}

/** A number of a color that nothing else on the screen has, if there is one. */
function colorNumber(hues, name, bands) {
  if (hues.has(name) || name === "" || name === OTHERS) return;
  const taken = new Set(bands.map((band) => hues.get(band.name)));
  const free = Array.from({ length: HUES }, (_, index) => index).find((index) => !taken.has(index));
  hues.set(name, free ?? hues.size % HUES);
}

function colorOf(hues, name) {
  const paint = colors();
  if (name === "") return paint["line-2"];
  return name === OTHERS ? paint["text-3"] : paint.spans[hues.get(name) ?? 0];
}

/** The point that the page is at: the last one of what lives, the one of the tick of a recording. */
function nowOf({ points }, { hello, world }) {
  if (hello?.source !== "recording" || world === null) return points.at(-1);
  return points.findLast((point) => point[0] <= world.tick) ?? points[0];
}

// --- the chart ------------------------------------------------------------------------------------------------------

function plotOf(element) {
  const width = element.clientWidth;
  const height = element.clientHeight;
  return { left: LEFT, top: 8, width: Math.max(1, width - LEFT - 8), height: Math.max(1, height - BOTTOM - 8) };
}

function topOf({ points }) {
  return Math.max(1, ...points.map((point) => point.slice(1).reduce((sum, one) => sum + one, 0)));
}

function xOf({ first, last }, plot, tick) {
  return plot.left + (last > first ? (tick - first) / (last - first) : 1) * plot.width;
}

function pointAt(crowd, plot, x) {
  let best = null;
  for (const point of crowd.points) {
    const far = Math.abs(xOf(crowd, plot, point[0]) - x);
    if (best === null || far < best.far) best = { far, point };
  }
  return best?.point ?? null;
}

function bandAt(crowd, plot, x, y) {
  const point = pointAt(crowd, plot, x);
  if (point === null || x < plot.left) return null;
  let left = ((plot.top + plot.height - y) / plot.height) * topOf(crowd);
  for (const { name, index } of left < 0 ? [] : bandsOf(crowd)) {
    left -= point[index + 1];
    if (left <= 0) return { name, point, amount: point[index + 1] };
  }
  return { name: OTHERS, point, amount: null };
}

function drawStack({ pen, width, height }, state, bands, hues, pointer) {
  const { crowd } = state;
  const paint = colors();
  const plot = { left: LEFT, top: 8, width: Math.max(1, width - LEFT - 8), height: Math.max(1, height - BOTTOM - 8) };
  const top = topOf(crowd);
  const x = (tick) => xOf(crowd, plot, tick);
  const y = (amount) => plot.top + plot.height * (1 - amount / top);
  drawAxis(pen, plot, top, y, paint);
  const low = crowd.points.map(() => 0);
  for (const { name, index } of bands) {
    const high = crowd.points.map((point, at) => low[at] + point[index + 1]);
    const isFaint = state.arrange.doing !== null && state.arrange.doing !== name;
    pen.globalAlpha = isFaint ? 0.35 : 1;
    pen.fillStyle = colorOf(hues, name);
    pen.beginPath();
    crowd.points.forEach(([tick], at) => pen.lineTo(x(tick), y(high[at])));
    if (crowd.points.length === 1) pen.lineTo(plot.left, y(high[0])); // one point is as wide as the chart
    for (let at = low.length - 1; at >= 0; at -= 1) {
      if (crowd.points.length === 1) pen.lineTo(plot.left, y(low[0]));
      pen.lineTo(x(crowd.points[at][0]), y(low[at]));
    }
    pen.fill();
    pen.globalAlpha = 1;
    high.forEach((value, at) => (low[at] = value));
  }
  pen.fillStyle = paint["text-3"];
  pen.fillText(`tick ${crowd.first}`, plot.left, height - 8);
  pen.textAlign = "right";
  pen.fillText(`${crowd.last}`, plot.left + plot.width, height - 8);
  pen.textAlign = "left";
  pen.fillStyle = paint.accent;
  const isRecording = state.hello?.source === "recording";
  if (isRecording && state.world) pen.fillRect(x(state.world.tick) - 0.5, plot.top, 1, plot.height);
  if (pointer === null) return null;
  const found = bandAt(crowd, plot, pointer.x, pointer.y);
  if (found === null) return null;
  pen.fillStyle = paint.text;
  pen.fillRect(x(found.point[0]) - 0.5, plot.top, 1, plot.height);
  const words = found.amount === null ? "" : `: ${count(found.amount)} do ${bandWord(found.name)}`;
  return { ...found, words: `tick ${found.point[0]}${words}` };
}

function drawAxis(pen, plot, top, y, paint) {
  pen.font = `10.5px ${paint.font}`;
  pen.textBaseline = "middle";
  const parts = top < 4 ? top : 4;
  for (let part = 0; part <= parts; part += 1) {
    const amount = Math.round((top * part) / parts);
    pen.fillStyle = paint.line;
    pen.fillRect(plot.left, Math.round(y(amount)) - 0.5, plot.width, 0.5);
    pen.fillStyle = paint["text-3"];
    pen.fillText(count(amount), 8, y(amount));
  }
}
