/**
 * The tab World: the world on the screen (`worldpaint.js`), and the eye that looks at it.
 *
 * The wheel, two fingers and the buttons zoom, dragging and the arrow keys move, a click chooses who is there.
 */

import { makeCanvas } from "./canvas.js";
import { button, fill, h, setAttr, setText, show } from "./dom.js";
import { Camera, markAt, overlaysOf } from "./drawing.js";
import { plural } from "./format.js";
import { isOver } from "./past.js";
import { choose } from "./store.js";
import { Ground, drawAbove, drawBelow, drawMarks, drawNames } from "./worldpaint.js";

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
  const zoomOut = button({ label: "−", name: "Smaller", title: "Smaller  (−)", kind: "quiet" }, () =>
    act(zoom, 1 / 1.5),
  );
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
  if (!isOver({ hello, world })) return `This world offers no drawing. ${HINT}`;
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
