/**
 * The world on the screen: its ground, what stands on it, and for the chosen agent where it goes, what it sees and what
 * it has reserved.
 *
 * Two canvases, one on the other in effect: the ground is drawn onto one that is never shown, anew when the eye moves
 * or the ground changes, and copied; what moves is drawn over it ten times a second. The ground's colors are an image
 * with a pixel for each cell, so that sixty thousand cells cost no more than forty; its signs are drawn where they can
 * be read. (Signs as small pictures that are copied were tried: they take longer than texts.)
 *
 * The wheel, two fingers and the buttons zoom, dragging and the arrow keys move, a click chooses who is there. A drawing
 * has colors of its own and no themes; what the page adds has the theme's.
 */

import { colors, makeCanvas } from "./canvas.js";
import { button, fill, h, setAttr, setText, show } from "./dom.js";
import { Camera, markAt, overlaysOf, widthOf } from "./drawing.js";
import { clip, plural } from "./format.js";
import { choose } from "./store.js";

const READABLE = 7; // pixels of a cell from which on its sign is drawn
const NAMED = 22; // and from which on whoever stands there has its name below
const MOST_SIGNS = 8000; // of the ground
const MOST_NAMES = 150;
const LONGEST_NAME = 40; // letters of a name on the world: a long one would hide it
const MOST_DASHED = 20_000; // pixels of a dashed line; who draws a million dashes draws nothing else
const STEP = 60; // pixels for an arrow key
const NEAR = 10; // pixels beside which a click still hits
const HINT =
  "Give it one: runtime.drawing = a function that returns an agentrt.drawing.Drawing; see docs/how-to/drawing.md.";

/** Whether there is nothing to see here. */
export function hasNoDrawing({ world }) {
  return world !== null && !world.drawn;
}

/**
 * Make the view.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the panel.
 */
export function worldView(store) {
  const camera = new Camera();
  const ground = new Ground();
  const canvas = makeCanvas("The world", () => draw());
  const tip = h("div", { class: "world-tip", role: "tooltip", hidden: true });
  const legend = h("span", { class: "world-legend" });
  const empty = h("div", { class: "empty world-empty" });
  const zoomIn = button({ label: "+", name: "Larger", title: "Larger  (+)", kind: "quiet" }, () => act(zoom, 1.5));
  const zoomOut = button({ label: "−", name: "Smaller", title: "Smaller  (−)", kind: "quiet" }, () => act(zoom, 1 / 1.5));
  const whole = button({ label: "All", title: "Show all of the world  (0)", kind: "quiet" }, () => act(fit));
  const follow = button({ label: "Follow", title: "Keep the chosen agent in the middle  (c)", kind: "quiet" }, () =>
    setFollowing(!following),
  );
  const stage = h("div", { class: "world-stage" }, canvas.element, tip, empty);
  setAttr(canvas.element, "tabindex", 0);
  let following = false;
  let hovered = null;

  const still = () => store.state.drawing?.still ?? null;
  const zoom = (factor, x, y) => camera.zoom(factor, still(), x, y);
  const fit = () => {
    setFollowing(false);
    camera.fit(still());
  };

  /** Do something with the camera, if there is anything to see, and draw. */
  function act(change, ...args) {
    if (still() === null) return;
    change(...args);
    draw();
  }

  function setFollowing(wanted) {
    following = wanted;
    setAttr(follow, "aria-pressed", String(following));
    if (following && camera.fits) camera.zoom(2, still());
    draw();
  }

  function draw() {
    const { state } = store;
    if (state.tab !== "world") return;
    const { pen, width, height } = canvas.begin();
    const { drawing } = state;
    if (still() === null || width < 2 || height < 2) return;
    camera.resize(width, height, still());
    const own = ownOf(drawing, state.chosen);
    if (following && own !== null) camera.look(own.x, own.y, still());
    ground.draw(pen, camera, drawing.still);
    const overlays = overlaysOf(state);
    drawBelow(pen, camera, overlays, own);
    drawMarks(pen, camera, drawing.order);
    drawAbove(pen, camera, overlays, own, hovered === null ? null : drawing.marks.get(hovered));
    drawNames(pen, camera, drawing.order, state.chosen); // after that: a ring would go through the name of its own
    setText(legend, legendOf(overlays, own, state.chosen));
    setAttr(canvas.element, "aria-label", labelOf(drawing, own, state.chosen));
  }

  store.view(["drawing", "chosen", "agent", "tab", "theme", "world", "hello"], (state) => {
    if (state.tab !== "world") return;
    const isThere = state.drawing?.offered ?? false;
    show(canvas.element, isThere);
    show(empty, !isThere);
    setText(empty, isThere ? "" : emptyText(state));
    for (const one of [zoomIn, zoomOut, whole, follow]) one.disabled = !isThere;
    if (!isThere) {
      setText(legend, "");
      show(tip, false);
    }
    draw();
  });
  ground.loaded = draw;
  setAttr(follow, "aria-pressed", "false");
  bindPointer({
    canvas: canvas.element,
    camera,
    tip,
    act,
    zoom,
    pan: (x, y) => {
      setFollowing(false);
      camera.pan(x, y, still());
    },
    markAt: (left, top) =>
      still() === null ? null : markAt(store.state.drawing.order, camera, left, top, NEAR),
    hover: (mark) => {
      hovered = mark?.key ?? null;
      draw();
    },
    pick: (mark) => choose(store, mark.agent),
  });
  canvas.element.addEventListener("keydown", (event) => {
    const run = {
      ArrowLeft: () => act(() => camera.pan(STEP, 0, still())),
      ArrowRight: () => act(() => camera.pan(-STEP, 0, still())),
      ArrowUp: () => act(() => camera.pan(0, STEP, still())),
      ArrowDown: () => act(() => camera.pan(0, -STEP, still())),
      "+": () => act(zoom, 1.5),
      "=": () => act(zoom, 1.5),
      "-": () => act(zoom, 1 / 1.5),
      0: () => act(fit),
      c: () => setFollowing(!following),
    }[event.key];
    if (run === undefined || event.ctrlKey || event.altKey || event.metaKey || still() === null) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  });
  return h(
    "div",
    { class: "view world-view" },
    h("div", { class: "toolbar" }, legend, h("span", { class: "gap" }), zoomOut, zoomIn, whole, follow),
    stage,
  );
}

function emptyText({ drawing, hello, world }) {
  if (drawing?.problem) return `The world cannot be drawn here: ${drawing.problem}`;
  if (drawing === null && world?.drawn !== false) return "Waiting for the world …";
  if (hello?.source !== "recording") return `This world offers no drawing. ${HINT}`;
  return world?.drawn
    ? "The world was not drawn up to this tick."
    : `This recording has no drawing of its world, which offered none, or was recorded without. ${HINT}`;
}

function ownOf(drawing, chosen) {
  return chosen === null ? null : (drawing.order.findLast((mark) => mark.agent === chosen) ?? null);
}

function labelOf(drawing, own, chosen) {
  const agents = drawing.order.filter((mark) => mark.agent).length;
  const where = own === null ? "" : `; ${chosen} is at column ${Math.round(own.x)}, row ${Math.round(own.y)}`;
  return `The world, with ${plural(agents, "agent")} in it${where}`;
}

function legendOf({ paths, targets, seen, held }, own, chosen) {
  if (chosen === null) return "";
  const parts = [own === null ? `${chosen} is not in the drawing` : own.label || chosen];
  if (paths.length > 0) parts.push("path");
  if (targets.length > 0) parts.push(plural(targets.length, "target"));
  if (held.length > 0) parts.push(`reserved: ${held.map((mark) => mark.label || mark.key).slice(0, 3).join(", ")}`);
  if (seen.length > 0) parts.push(`sees ${seen.length}`);
  return parts.join(" · ");
}

// --- the ground ------------------------------------------------------------------------------------------------------

/** What stands still, drawn onto a canvas that is never shown. */
class Ground {
  constructor() {
    this.layer = document.createElement("canvas");
    this.cells = document.createElement("canvas"); // a pixel for each cell
    this.still = null;
    this.drawn = "";
    this.image = null;
    this.loaded = () => {};
  }

  draw(pen, camera, still) {
    if (still !== this.still) this.read(still);
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(camera.width * ratio), Math.round(camera.height * ratio)];
    const looks = [wide, high, camera.x, camera.y, camera.scale, colors().surface].join();
    if (looks !== this.drawn) {
      this.drawn = looks;
      if (this.layer.width !== wide || this.layer.height !== high) [this.layer.width, this.layer.height] = [wide, high];
      const own = this.layer.getContext("2d");
      own.setTransform(ratio, 0, 0, ratio, 0, 0);
      own.clearRect(0, 0, camera.width, camera.height);
      this.paint(own, camera);
    }
    pen.drawImage(this.layer, 0, 0, camera.width, camera.height);
  }

  read(still) {
    const before = this.still;
    this.still = still;
    this.drawn = "";
    if (still.image !== before?.image) this.load(still.image);
    if (!still.tiles) return;
    const { rows, palette } = still.tiles;
    [this.cells.width, this.cells.height] = [still.width, still.height];
    const pen = this.cells.getContext("2d");
    const pixels = pen.createImageData(still.width, still.height);
    const inks = new Map(Object.entries(palette).map(([key, [ground]]) => [key, Number.parseInt(ground.slice(1), 16)]));
    let at = 0;
    for (const row of rows) {
      for (const letter of row) {
        const ink = inks.get(letter);
        if (Number.isInteger(ink)) pixels.data.set([ink >> 16, (ink >> 8) & 255, ink & 255, 255], at);
        at += 4;
      }
    }
    pen.putImageData(pixels, 0, 0);
  }

  load(text) {
    this.image?.close(); // a small PNG may be sixteen million pixels: do not wait for the garbage collector
    this.image = null;
    if (!text) return;
    const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    createImageBitmap(new Blob([bytes], { type: "image/png" })).then(
      (image) => {
        if (this.still?.image !== text) return image.close();
        this.image = image;
        this.drawn = "";
        return this.loaded();
      },
      () => undefined, // it begins as a PNG and is none: there is no image
    );
  }

  paint(pen, camera) {
    const { still } = this;
    const paint = colors();
    const box = [camera.left(-0.5), camera.top(-0.5), still.width * camera.scale, still.height * camera.scale];
    pen.fillStyle = paint["surface-1"];
    pen.fillRect(...box);
    pen.imageSmoothingEnabled = false;
    if (this.image !== null) pen.drawImage(this.image, ...box);
    if (!still.tiles) {
      pen.strokeStyle = paint.line;
      pen.strokeRect(...box);
      return;
    }
    pen.drawImage(this.cells, ...box);
    if (camera.scale >= READABLE) this.paintSigns(pen, camera, paint);
  }

  paintSigns(pen, camera, paint) {
    const { rows, palette } = this.still.tiles;
    const first = camera.placeAt(0, 0);
    const last = camera.placeAt(camera.width, camera.height);
    const [left, top] = [Math.max(0, Math.floor(first.x)), Math.max(0, Math.floor(first.y))];
    const [right, bottom] = [Math.min(this.still.width, last.x + 1), Math.min(rows.length, last.y + 1)];
    const looks = new Map(Object.entries(palette).filter(([, [, sign]]) => sign));
    let count = 0;
    for (let row = top; row < bottom; row += 1) {
      const letters = [...rows[row]];
      for (let column = left; column < right; column += 1) {
        const look = looks.get(letters[column]);
        if (look === undefined) continue;
        count += 1;
        if (count > MOST_SIGNS) return;
        const [, sign, color, bold] = look;
        sketch(pen, camera, paint, { x: column, y: row, sign, color, bold, size: 1 });
      }
    }
  }
}

/** Draw a sign in the middle of its place. */
function sketch(pen, camera, paint, { x, y, sign, color, bold, size }) {
  const high = camera.scale * size;
  if (sign === "█") {
    pen.fillStyle = color || paint.text;
    pen.fillRect(camera.left(x - size / 2), camera.top(y - size / 2), high + 0.5, high + 0.5);
    return;
  }
  pen.font = `${bold ? "700 " : ""}${Math.max(8, high * 0.82)}px ${paint.font}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = color || paint.text;
  pen.fillText(sign, camera.left(x), camera.top(y) + high * 0.04);
}

// --- what stands on it -----------------------------------------------------------------------------------------------

function isSeen(camera, mark) {
  const [x, y, slack] = [camera.left(mark.x), camera.top(mark.y), widthOf(mark, camera.scale)];
  return x > -slack && y > -slack && x < camera.width + slack && y < camera.height + slack;
}

function drawMarks(pen, camera, order) {
  const paint = colors();
  for (const mark of order) {
    if (mark.to.length > 0) drawLine(pen, camera, [[mark.x, mark.y], ...mark.to], mark.color || paint["text-2"]);
    if (!isSeen(camera, mark)) continue;
    if (mark.shape) drawShape(pen, camera, mark, mark.color || paint.text);
    if (!mark.sign) {
      if (!mark.shape && mark.to.length === 0 && mark.label) drawText(pen, camera, mark, mark.label, 0);
    } else if (mark.size * camera.scale >= READABLE) {
      sketch(pen, camera, paint, mark.shape ? { ...mark, color: "", size: mark.size * 0.7 } : mark);
    } else if (!mark.shape) {
      drawShape(pen, camera, { ...mark, shape: mark.agent ? "dot" : "square", size: mark.size * 0.6 }, mark.color || paint.text);
    }
  }
}

function drawShape(pen, camera, mark, color) {
  const wide = widthOf(mark, camera.scale) * 0.86;
  const [x, y] = [camera.left(mark.x), camera.top(mark.y)];
  pen.beginPath();
  if (mark.shape === "square") pen.rect(x - wide / 2, y - wide / 2, wide, wide);
  else pen.arc(x, y, wide / 2, 0, 2 * Math.PI);
  if (mark.shape === "ring") {
    pen.strokeStyle = color;
    pen.lineWidth = Math.max(1, wide / 8);
    pen.stroke();
  } else {
    pen.fillStyle = color;
    pen.fill();
  }
}

function drawLine(pen, camera, places, color, { dash = [], width = 1.5 } = {}) {
  pen.beginPath();
  places.forEach(([x, y], index) => {
    if (index === 0) pen.moveTo(camera.left(x), camera.top(y));
    else pen.lineTo(camera.left(x), camera.top(y));
  });
  pen.setLineDash(isLong(places, camera.scale) ? [] : dash);
  pen.lineWidth = width;
  pen.lineJoin = "round";
  pen.strokeStyle = color;
  pen.stroke();
  pen.setLineDash([]);
}

function isLong(places, scale) {
  let length = 0;
  for (let index = 1; index < places.length; index += 1) {
    length += Math.hypot(places[index][0] - places[index - 1][0], places[index][1] - places[index - 1][1]);
  }
  return length * scale > MOST_DASHED;
}

/** A text on its own ground, so that it can be read on any color. */
function drawText(pen, camera, mark, text, below) {
  const paint = colors();
  pen.font = `600 11px ${paint.font}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const [x, y] = [camera.left(mark.x), camera.top(mark.y) + below];
  const wide = pen.measureText(text).width;
  pen.globalAlpha = 0.82;
  pen.fillStyle = paint.surface;
  pen.fillRect(x - wide / 2 - 3, y - 7.5, wide + 6, 15);
  pen.globalAlpha = 1;
  pen.fillStyle = paint.text;
  pen.fillText(text, x, y + 0.5);
}

function drawNames(pen, camera, order, chosen) {
  let count = 0;
  for (const mark of order) {
    if (!mark.agent || !isSeen(camera, mark)) continue;
    if (mark.agent !== chosen && (camera.scale < NAMED || count >= MOST_NAMES)) continue;
    count += 1;
    drawText(pen, camera, mark, clip(mark.agent, LONGEST_NAME), widthOf(mark, camera.scale) / 2 + 9);
  }
}

// --- for the chosen agent --------------------------------------------------------------------------------------------

function drawBelow(pen, camera, { paths, held, seen }, own) {
  const paint = colors();
  const ring = Math.max(3, camera.scale * 0.42);
  for (const [x, y] of seen) {
    circle(pen, camera.left(x), camera.top(y), ring, paint.thinking, [2, 3]);
  }
  for (const path of paths) {
    const places = joined(path, own);
    drawLine(pen, camera, places, paint.surface, { width: 5 });
    drawLine(pen, camera, places, paint.accent, { width: 2.5, dash: [6, 4] });
  }
  for (const mark of own === null ? [] : held) {
    const places = [[own.x, own.y], [mark.x, mark.y]]; // prettier-ignore
    drawLine(pen, camera, places, paint.surface, { width: 4.5 });
    drawLine(pen, camera, places, paint.started, { width: 2 });
  }
}

/** A path with whoever goes it, who stands beside one of its ends. */
function joined(path, own) {
  const isBeside = ([x, y]) => own !== null && Math.hypot(x - own.x, y - own.y) <= 2;
  if (isBeside(path.at(-1))) return [...path, [own.x, own.y]];
  return isBeside(path[0]) ? [[own.x, own.y], ...path] : path;
}

function drawAbove(pen, camera, { targets, held }, own, hovered) {
  const paint = colors();
  const ring = Math.max(6, camera.scale * 0.62);
  for (const [x, y] of targets) {
    const [left, top] = [camera.left(x), camera.top(y)];
    haloed(pen, camera, [x, y], ring, paint.accent);
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) { // prettier-ignore
      pen.beginPath();
      pen.moveTo(left + dx * ring * 0.6, top + dy * ring * 0.6);
      pen.lineTo(left + dx * ring * 1.35, top + dy * ring * 1.35);
      pen.stroke();
    }
  }
  for (const mark of held) haloed(pen, camera, [mark.x, mark.y], ring * 0.85, paint.started);
  if (own !== null) {
    const wide = Math.max(ring, widthOf(own, camera.scale) * 0.66);
    haloed(pen, camera, [own.x, own.y], wide, paint.accent);
  }
  if (hovered) haloed(pen, camera, [hovered.x, hovered.y], ring, paint["text-2"]);
}

/** A ring on one of the page's ground, so that it is seen on any color. */
function haloed(pen, camera, [x, y], radius, color) {
  circle(pen, camera.left(x), camera.top(y), radius, colors().surface, [], 5);
  circle(pen, camera.left(x), camera.top(y), radius, color);
}

function circle(pen, x, y, radius, color, dash = [], width = 2) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.setLineDash(dash);
  pen.lineWidth = width;
  pen.strokeStyle = color;
  pen.stroke();
  pen.setLineDash([]);
}

// --- pointer ---------------------------------------------------------------------------------------------------------

function bindPointer({ canvas, tip, act, zoom, pan, markAt: find, hover, pick }) {
  const fingers = new Map();
  let moved = false;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const spread = () => {
    const [one, other] = [...fingers.values()];
    return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, apart: Math.hypot(one.x - other.x, one.y - other.y) };
  };
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { x, y } = at(event);
      act(zoom, Math.exp(-event.deltaY * 0.0016), x, y);
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (event) => {
    if (fingers.size === 0) moved = false;
    if (fingers.size < 2) fingers.set(event.pointerId, at(event));
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    const now = at(event);
    if (before === undefined) return point(now);
    if (!moved && Math.hypot(now.x - before.x, now.y - before.y) < 4) return undefined;
    moved = true;
    show(tip, false);
    if (fingers.size === 1) {
      fingers.set(event.pointerId, now);
      return act(pan, now.x - before.x, now.y - before.y);
    }
    const old = spread();
    fingers.set(event.pointerId, now);
    const next = spread();
    act(pan, next.x - old.x, next.y - old.y);
    return act(zoom, next.apart / Math.max(1, old.apart), next.x, next.y);
  });
  const release = (event) => fingers.delete(event.pointerId);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerup", (event) => {
    if (!release(event) || moved) return;
    const mark = find(at(event).x, at(event).y);
    if (mark?.agent) pick(mark);
    point(at(event));
  });
  canvas.addEventListener("pointerleave", () => {
    show(tip, false);
    hover(null);
  });

  function point({ x, y }) {
    const mark = find(x, y);
    hover(mark);
    show(tip, mark !== null);
    if (mark === null) return;
    const lines = [h("strong", { text: mark.label || mark.agent })];
    if (mark.agent && mark.label && mark.label !== mark.agent) lines.push(h("div", { text: mark.agent }));
    if (mark.holder) lines.push(h("div", { text: `reserved by ${mark.holder}` }));
    fill(tip, ...lines);
    const stage = canvas.parentElement;
    tip.style.left = `${Math.max(4, Math.min(x + 14, stage.clientWidth - tip.offsetWidth - 6))}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 14, stage.clientHeight - tip.offsetHeight - 6))}px`;
  }
}
