/**
 * The time line of the chosen agent: what ran from when until when, nested, one lane for its plan and one for each
 * driver.
 *
 * It is a canvas, since there may be thousands of spans; a hidden table says the same to those who cannot see it (the
 * spans that are open now and the last ones that ended). The window follows the run until the user moves it. Wheel
 * zooms around the pointer, drag or shift and wheel move, a double click on the ruler (or on a span, in a recording)
 * goes there in time.
 *
 * A reload is a line through all lanes with a mark on the ruler, green if it was taken and red if it was refused
 * (hollow when that is mended); pointing at the mark tells what it is, pressing selects it.
 *
 * What was changed by hand is a triangle on the ruler (`handsmarks.js`), red if nothing came of it.
 *
 * A span is drawn in the color of its name, so that a habit is seen as a pattern; how it ended is drawn at its end: red
 * for aborted and failed, amber for preempted, open ends fade into now.
 */

import { colorOf, colors, fitting, makeCanvas } from "./canvas.js";
import { button, fill, h, setAttr, setText, show } from "./dom.js";
import { gameTime, plural } from "./format.js";
import { drawMarks, markLines } from "./handsmarks.js";
import { marksOf } from "./handsmodel.js";
import { isOver, reachOf } from "./past.js";
import { selectReload, standings, summaryOf } from "./reloads.js";
import { arrange, nowOf, openUntilOf, TimeScale, windowEnd } from "./timescale.js";

const GUTTER = 84;
const RULER = 20;
const ROW = 18;
const TABLE_ROWS = 40;
const MARK = 4; // half of the width of a mark on the ruler

/**
 * Make the time line.
 *
 * @param {Store} store - the state.
 * @param {{goTo: function(number): void}} playback - goes to a tick of a recording; does nothing in a live run.
 * @returns {{element: HTMLElement, zoom: function(number): void, follow: function(): void}} the panel and what the keys
 *   do.
 */
export function timelinePanel(store, playback) {
  const canvas = makeCanvas("Time line of the chosen agent", () => draw());
  const tip = h("div", { class: "tip", role: "tooltip", hidden: true });
  const spacer = h("div", { class: "timeline-spacer" }, canvas.element);
  const scroller = h(
    "div",
    { class: "timeline-scroll", tabindex: 0, role: "region", "aria-label": "Time line" },
    spacer,
  );
  const table = h("tbody");
  const title = h("span", { class: "panel-sub" });
  const followButton = button({ label: "Follow", title: "Follow the run  (f)", kind: "quiet" }, () => follow());
  let layout = arrange([]);
  let scale = new TimeScale(0, 1, 1);
  let hovered = null;
  let drawnAt = 0;

  function follow() {
    store.set({ windowLast: null });
  }

  function zoom(factor, x = scale.width) {
    const { last, ticks } = scale.zoomed(factor, x);
    const follows = store.state.windowLast === null;
    store.set(follows ? { windowTicks: ticks } : { windowTicks: ticks, windowLast: clampLast(last) });
  }

  function clampLast(last) {
    const { windowTicks } = store.state;
    const most = isOver(store.state) ? reachOf(store.state).last : nowOf(store.state);
    return Math.max(0, Math.min(last, most + windowTicks / 2));
  }

  function pan(ticks) {
    store.set({ windowLast: clampLast(scale.last - 1 + ticks) });
  }

  function draw() {
    const { state } = store;
    const { pen, width, height } = canvas.begin();
    scale = new TimeScale(windowEnd(state), state.windowTicks, width - GUTTER);
    const scene = {
      pen,
      width,
      height,
      scale,
      top: RULER - scroller.scrollTop,
      now: nowOf(state),
      openUntil: openUntilOf(state),
      selected: state.selection,
      hovered,
    };
    drawLanes(scene, layout);
    drawBoxes(scene, layout);
    drawRuler(scene, state.hello?.ticks_per_second ?? 0);
    drawReloads(scene, standings(state));
    drawMarks(scene, marksOf(state), GUTTER, RULER);
    drawNow(scene);
  }

  /** The reload whose mark on the ruler is under the pointer; of several, the one that is drawn last. */
  function reloadAt(event) {
    const box = canvas.element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (x < GUTTER || y >= RULER) return null;
    const near = (one) => Math.abs(GUTTER + scale.x(one.row.tick) - x) <= MARK + 2;
    return standings(store.state).findLast(near) ?? null;
  }

  /** The changes by hand whose mark is under the pointer. */
  function marksAt(event) {
    const box = canvas.element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (x < GUTTER || y >= RULER) return [];
    return marksOf(store.state).filter(([tick]) => Math.abs(GUTTER + scale.x(tick) - x) <= MARK + 2);
  }

  function spanAt(event) {
    const box = canvas.element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - GUTTER, event.clientY - box.top - RULER + scroller.scrollTop];
    if (x < 0 || event.clientY - box.top < RULER) return null;
    const row = Math.floor(y / ROW);
    const slack = 2 / scale.pixels;
    const tick = scale.tickAt(x);
    const openUntil = openUntilOf(store.state);
    const hits = layout.boxes.filter(
      (one) => one.row === row && one.span[4] - slack <= tick && tick < (one.span[5] ?? openUntil) + 1 + slack,
    );
    return hits.at(-1)?.span ?? null;
  }

  store.view(["timeline", "chosen"], ({ timeline, chosen }) => {
    layout = arrange(timeline?.spans ?? []);
    spacer.style.height = `${Math.max(RULER + layout.rows * ROW + 6, 1)}px`;
    setText(title, chosen ?? "");
    fillTable(table, timeline?.spans ?? []);
    draw();
  });
  store.view(
    ["windowTicks", "windowLast", "world", "selection", "theme", "reloads", "hands"],
    ({ windowLast, windowTicks, hello, world }) => {
      const isOutside =
        windowLast !== null && world !== null && (world.tick > windowLast + 1 || world.tick < windowLast - windowTicks);
      // Gone to a tick of a recording that is not in sight:
      if (isOutside && isOver({ hello, world }) && world.tick !== drawnAt) follow();
      drawnAt = world?.tick ?? 0;
      setAttr(followButton, "aria-pressed", String(windowLast === null));
      draw();
    },
  );
  scroller.addEventListener("scroll", draw, { passive: true });
  bindPointer({
    scroller,
    canvas: canvas.element,
    tip,
    store,
    playback,
    zoom,
    pan,
    spanAt,
    reloadAt,
    marksAt,
    scaleNow: () => scale,
    hover: (span) => {
      hovered = span;
      draw();
    },
  });
  const element = h(
    "section",
    { class: "timeline panel", "aria-label": "Time line" },
    h(
      "div",
      { class: "panel-head" },
      h("h2", { text: "Time line" }),
      title,
      h("span", { class: "gap" }),
      button({ label: "−", name: "Zoom out", title: "Show more time  (−)", kind: "quiet" }, () => zoom(1.5)),
      button({ label: "+", name: "Zoom in", title: "Show less time  (+)", kind: "quiet" }, () => zoom(1 / 1.5)),
      followButton,
    ),
    scroller,
    tip,
    h("div", { class: "unseen" }, h("table", {}, h("caption", { text: "Spans of the time line" }), table)),
  );
  return { element, zoom: (factor) => zoom(factor), follow };
}

// --- drawing ---------------------------------------------------------------------------------------------------------

function drawLanes({ pen, width, top }, { lanes }) {
  const paint = colors();
  pen.font = `11px ${paint.font}`;
  pen.textBaseline = "middle";
  lanes.forEach((lane, index) => {
    const y = top + lane.top * ROW;
    if (index % 2 === 0) {
      pen.fillStyle = paint["surface-1"];
      pen.fillRect(0, y, width, lane.rows * ROW);
    }
    pen.fillStyle = paint.line;
    pen.fillRect(0, y + lane.rows * ROW - 0.5, width, 0.5);
    pen.fillStyle = paint["text-2"];
    pen.fillText(fitting(pen, lane.name, GUTTER - 14), 8, y + ROW / 2);
  });
}

function drawBoxes(scene, { boxes }) {
  const { pen, width, height } = scene;
  pen.save();
  pen.beginPath();
  pen.rect(GUTTER, RULER, width - GUTTER, height - RULER);
  pen.clip();
  for (const box of boxes) {
    const y = scene.top + box.row * ROW + 1;
    if (y + ROW < RULER || y > height) continue;
    drawBox(scene, box.span, y);
  }
  pen.restore();
}

function drawBox({ pen, width, scale, openUntil, selected, hovered }, span, y) {
  const paint = colors();
  const [, , path, name, begin, end, outcome] = span;
  const x = Math.max(GUTTER - 4, GUTTER + scale.x(begin));
  const right = Math.min(width + 4, GUTTER + scale.x((end ?? openUntil) + (end === null || end === begin ? 1 : 0)));
  if (right < GUTTER || x > width) return;
  const wide = Math.max(1.5, right - x - 0.5);
  const high = ROW - 2;
  pen.fillStyle = colorOf(name);
  pen.fillRect(x, y, wide, high);
  if (outcome === "aborted" || outcome === "failed" || outcome === "preempted") {
    pen.fillStyle = outcome === "preempted" ? paint.started : paint.impossible;
    pen.fillRect(x + wide - Math.min(3, wide), y, Math.min(3, wide), high);
  }
  if ((selected?.what === "span" && selected.path === path && selected.begin === begin) || hovered === span) {
    pen.strokeStyle = paint.accent;
    pen.lineWidth = 1.5;
    pen.strokeRect(x + 0.75, y + 0.75, Math.max(1, wide - 1.5), high - 1.5);
  }
  const text = fitting(pen, name, wide - 8);
  if (text) {
    pen.fillStyle = paint.spanText;
    pen.fillText(text, Math.max(x, GUTTER) + 4, y + high / 2 + 0.5);
  }
}

function drawRuler({ pen, width, scale }, rate) {
  const paint = colors();
  pen.fillStyle = paint.surface;
  pen.fillRect(0, 0, width, RULER);
  pen.fillStyle = paint.line;
  pen.fillRect(0, RULER - 0.5, width, 0.5);
  pen.font = `10.5px ${paint.font}`;
  pen.textBaseline = "middle";
  for (const tick of scale.marks()) {
    const x = GUTTER + scale.x(tick);
    if (x < GUTTER - 1) continue;
    pen.fillStyle = paint["line-2"];
    pen.fillRect(x, RULER - 5, 0.5, 5);
    pen.fillStyle = paint["text-3"];
    pen.fillText(`${tick}`, x + 3, RULER / 2 - 0.5);
  }
  pen.fillText(rate ? `${gameTime(scale.ticks / rate)}` : "ticks", 8, RULER / 2 - 0.5);
}

function drawReloads({ pen, height, width, scale, selected }, all) {
  const paint = colors();
  for (const { row, key, state, isOver } of all) {
    const x = Math.round(GUTTER + scale.x(row.tick)) + 0.5;
    if (x < GUTTER || x > width) continue;
    const isSelected = selected?.what === "reload" && selected.key === key;
    const color = row.error ? paint.impossible : state === "idle" ? paint["text-3"] : paint.running;
    pen.strokeStyle = pen.fillStyle = color;
    pen.globalAlpha = isSelected ? 1 : 0.55;
    pen.lineWidth = 1;
    pen.setLineDash(isSelected ? [] : [3, 3]);
    pen.beginPath();
    pen.moveTo(x, RULER);
    pen.lineTo(x, height);
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    pen.lineWidth = 1.5;
    pen.beginPath();
    for (const [across, down] of [[0, -MARK], [MARK, 0], [0, MARK], [-MARK, 0]]) {
      pen.lineTo(x + across, RULER - MARK - 2 + down);
    }
    pen.closePath();
    if (isOver) pen.fillStyle = paint.surface;
    pen.fill();
    pen.stroke();
  }
}

function drawNow({ pen, height, width, scale, now }) {
  const x = Math.min(width - 1, GUTTER + scale.x(now + 1));
  if (x < GUTTER) return;
  pen.fillStyle = colors().accent;
  pen.fillRect(x - 1, 0, 1, height);
}

// --- pointer ---------------------------------------------------------------------------------------------------------

function bindPointer(parts) {
  const { scroller, canvas, tip, store, playback, zoom, pan, spanAt, reloadAt, marksAt, scaleNow, hover } = parts;
  let drag = null;
  let moved = false;
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const scale = scaleNow();
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (Math.abs(sideways) > Math.abs(event.deltaY) || event.shiftKey) pan(sideways / scale.pixels);
      else zoom(Math.exp(event.deltaY * 0.0016), event.clientX - canvas.getBoundingClientRect().left - GUTTER);
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (event) => {
    drag = {
      x: event.clientX,
      y: event.clientY,
      last: store.state.windowLast ?? scaleNow().last - 1,
      scroll: scroller.scrollTop,
    };
    moved = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag !== null && (moved || Math.abs(event.clientX - drag.x) + Math.abs(event.clientY - drag.y) > 3)) {
      moved = true;
      store.set({ windowLast: Math.max(0, drag.last - (event.clientX - drag.x) / scaleNow().pixels) });
      scroller.scrollTop = drag.scroll - (event.clientY - drag.y);
      show(tip, false);
      return;
    }
    point(event);
  });
  const release = () => (drag = null);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerup", (event) => {
    release();
    if (moved) return;
    const [span, reload] = [spanAt(event), reloadAt(event)];
    if (reload !== null) selectReload(store, reload.key);
    else if (span !== null) store.set({ selection: { what: "span", span, path: span[2], begin: span[4] } });
  });
  canvas.addEventListener("dblclick", (event) => {
    const box = canvas.getBoundingClientRect();
    const span = spanAt(event);
    playback.goTo(span === null ? Math.floor(scaleNow().tickAt(event.clientX - box.left - GUTTER)) : span[4]);
  });
  canvas.addEventListener("pointerleave", () => {
    show(tip, false);
    hover(null);
  });

  function point(event) {
    const [span, reload, marks] = [spanAt(event), reloadAt(event), marksAt(event)];
    hover(span);
    show(tip, span !== null || reload !== null || marks.length > 0);
    if (tip.hidden) return;
    fill(tip, ...(marks.length > 0 ? markLines(marks) : reload ? reloadLines(reload) : tipLines(span, store.state)));
    const panel = scroller.parentElement.getBoundingClientRect();
    const left = Math.min(event.clientX - panel.left + 12, panel.width - tip.offsetWidth - 6);
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.bottom = `${panel.bottom - event.clientY + 10}px`;
  }
}

function tipLines([lane, , path, name, begin, end, outcome], state) {
  const rate = state.hello?.ticks_per_second ?? 0;
  const last = end ?? openUntilOf(state);
  const length = Math.max(end === null ? 1 : 0, last - begin);
  const time = rate ? ` (${gameTime(length / rate)})` : "";
  const ended = outcome === "open" ? "runs" : outcome;
  return [
    h("strong", { text: name }),
    h("div", { text: `tick ${begin} – ${end ?? "now"}, ${plural(length, "tick")}${time}, ${ended}` }),
    h("div", { class: "tip-path", text: lane === "plan" ? path : `${lane}: ${path}` }),
  ];
}

function reloadLines({ row, words }) {
  return [
    h("strong", { text: `reload: ${words}` }),
    h("div", { text: `tick ${row.tick}, ${row.files.join(", ")}` }),
    h("div", { class: "tip-path", text: summaryOf(row) }),
  ];
}

function fillTable(table, spans) {
  const rows = spans.slice(-TABLE_ROWS).map(([lane, , , name, begin, end, outcome]) => {
    return h("tr", {}, ...[lane, name, begin, end ?? "", outcome].map((text) => h("td", { text })));
  });
  table.replaceChildren(...rows);
}
