/**
 * How long ticks take: a small chart in the bar at the top, and the tab with the large one and the figures.
 *
 * Two areas over the ticks: the whole tick, and of it what was spent thinking (as far as the trace can tell: the time
 * since the record before is counted to what the record tells of). The dashed line is the time that a tick may take at
 * the pace of the run; what is above it, the run cannot keep up with.
 */

import { colors, makeCanvas } from "./canvas.js";
import { fill, h, setText, show } from "./dom.js";
import { count, milliseconds, number } from "./format.js";
import { isOver } from "./past.js";

/** The milliseconds that a tick may take; null if there is no pace. */
export function budgetOf({ hello, world }) {
  const rate = hello?.ticks_per_second ?? 0;
  const speed = world?.speed ?? 1;
  return rate > 0 && speed > 0 ? 1000 / (rate * speed) : null;
}

/** The largest value that the axis has to show: a round one above the values. */
function ceiling(values) {
  const largest = Math.max(0.1, ...values.filter(Number.isFinite));
  const power = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= largest) ?? largest;
}

/**
 * The small chart in the bar.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the chart with the last tick's time.
 */
export function sparkline(store) {
  const text = h("span", { class: "spark-value" });
  const canvas = makeCanvas("Time of the last ticks", () => draw(store.state));
  const element = h(
    "div",
    { class: "spark", title: "Time of a tick: the last one, and those before  (5)" },
    canvas.element,
    text,
  );
  function draw({ world }) {
    const { pen, width, height } = canvas.begin();
    const values = (world?.history?.tick_ms ?? []).slice(-Math.floor(width / 2));
    const top = ceiling(values);
    pen.fillStyle = colors()["chart-tick"];
    values.forEach((value, index) => {
      const high = Math.max(0.5, (Math.min(value, top) / top) * height);
      pen.fillRect(width - (values.length - index) * 2, height - high, 1.4, high);
    });
    setText(text, world?.tick_ms ? milliseconds(world.tick_ms.last) : "");
  }
  store.view(["world", "theme"], draw);
  store.view(["hello", "world"], (state) => show(element, !isOver(state)));
  return element;
}

/**
 * The tab.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the panel.
 */
export function performanceView(store) {
  let pointer = null;
  const canvas = makeCanvas("Time of ticks and of thinking", () => draw(store.state));
  const readout = h("div", { class: "chart-readout" });
  const tiles = h("dl", { class: "tiles" });
  const none = h("div", {
    class: "empty",
    text: "What is over keeps no times: they are of the machine, not of the run.",
  });
  canvas.element.addEventListener("pointermove", (event) => {
    pointer = event.offsetX;
    draw(store.state);
  });
  canvas.element.addEventListener("pointerleave", () => {
    pointer = null;
    draw(store.state);
  });
  function draw(state) {
    if (state.tab !== "performance") return;
    const isRecording = isOver(state);
    for (const part of [tiles, legend, chartBox]) show(part, !isRecording);
    show(none, isRecording);
    if (isRecording) return;
    const chart = drawChart(canvas.begin(), state, pointer);
    setText(readout, chart);
    fill(
      tiles,
      ...tileList(state).flatMap(([name, value, hint]) => [
        h("div", { title: hint }, h("dt", { text: name }), h("dd", { text: value })),
      ]),
    );
  }
  const legend = h(
    "div",
    { class: "legend" },
    h("span", {}, h("i", { class: "key tick" }), "tick"),
    h("span", {}, h("i", { class: "key think" }), "of it thinking"),
    h("span", {}, h("i", { class: "key budget" }), "time that a tick may take"),
    readout,
  );
  const chartBox = h("div", { class: "chart" }, canvas.element);
  store.view(["world", "hello", "tab", "theme"], draw);
  return h("div", { class: "view performance-view" }, tiles, legend, chartBox, none);
}

const LEFT = 46;
const BOTTOM = 18;

function drawChart({ pen, width, height }, state, pointer) {
  const paint = colors();
  const { tick = [], tick_ms: whole = [], think_ms: think = [] } = state.world?.history ?? {};
  const budget = budgetOf(state);
  const top = ceiling([...whole, ...(budget !== null && budget < 4 * Math.max(1, ...whole) ? [budget] : [])]);
  const plot = { left: LEFT, top: 8, width: width - LEFT - 8, height: height - BOTTOM - 8 };
  const y = (value) => plot.top + plot.height * (1 - Math.min(value, top) / top);
  const x = (index) => plot.left + (whole.length < 2 ? 0 : (index / (whole.length - 1)) * plot.width);
  pen.font = `10.5px ${paint.font}`;
  pen.textBaseline = "middle";
  for (let part = 0; part <= 4; part += 1) {
    const value = (top * part) / 4;
    pen.fillStyle = paint.line;
    pen.fillRect(plot.left, Math.round(y(value)) - 0.5, plot.width, 0.5);
    pen.fillStyle = paint["text-3"];
    pen.fillText(number(value, 2), 8, y(value));
  }
  if (whole.length === 0) return "no tick was measured yet";
  area(pen, whole, x, y, paint["chart-tick"], 0.3);
  area(pen, think, x, y, paint["chart-think"], 0.5);
  if (budget !== null && budget <= top) dashed(pen, plot, y(budget), paint.impossible);
  pen.fillStyle = paint["text-3"];
  pen.fillText(`tick ${tick[0]}`, plot.left, height - 8);
  pen.textAlign = "right";
  pen.fillText(`${tick.at(-1)}`, plot.left + plot.width, height - 8);
  pen.textAlign = "left";
  if (pointer === null) return "";
  const index = Math.round(((pointer - plot.left) / plot.width) * (whole.length - 1));
  if (index < 0 || index >= whole.length) return "";
  pen.fillStyle = paint.accent;
  pen.fillRect(x(index) - 0.5, plot.top, 1, plot.height);
  return `tick ${tick[index]}: ${milliseconds(whole[index])}, of it ${milliseconds(think[index])} thinking`;
}

function area(pen, values, x, y, color, opacity) {
  if (values.length === 0) return;
  pen.beginPath();
  values.forEach((value, index) => pen.lineTo(x(index), y(value)));
  pen.strokeStyle = color;
  pen.lineWidth = 1.25;
  pen.stroke();
  pen.lineTo(x(values.length - 1), y(0));
  pen.lineTo(x(0), y(0));
  pen.globalAlpha = opacity;
  pen.fillStyle = color;
  pen.fill();
  pen.globalAlpha = 1;
}

function dashed(pen, plot, at, color) {
  pen.strokeStyle = color;
  pen.lineWidth = 1;
  pen.setLineDash([4, 4]);
  pen.beginPath();
  pen.moveTo(plot.left, at);
  pen.lineTo(plot.left + plot.width, at);
  pen.stroke();
  pen.setLineDash([]);
}

function tileList(state) {
  const { world } = state;
  if (world === null) return [];
  const budget = budgetOf(state);
  const { tick_ms: tick = {}, think_ms: think = {}, search = {} } = world;
  return [
    ["Last tick", milliseconds(tick.last), "the last tick"],
    ["Mean tick", milliseconds(tick.mean), "of the ticks in the chart"],
    ["Worst tick", milliseconds(tick.worst), "of the ticks in the chart"],
    ["Mean think", milliseconds(think.mean), "mean of the ticks in the chart; attributed by the trace"],
    ["May take", budget === null ? "–" : milliseconds(budget), "at this pace"],
    ["Strands", count(world.strands), "coroutines that live"],
    [
      "Search",
      search.budget === null || search.budget === undefined
        ? count(search.used ?? 0)
        : `${count(search.used)} / ${count(search.budget)}`,
      "units of search work used in the last tick, of those allowed",
    ],
    ["Waiting", count(search.waiting ?? 0), "requests for search work that wait for their part of the budget"],
    ["Late ticks", count(world.late_ticks), "left out because the machine could not keep up"],
  ];
}
