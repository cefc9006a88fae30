/**
 * How a world is painted: its ground, what stands on it, and for the chosen agent where it goes, what it sees and what
 * it has reserved.
 *
 * Two canvases, one on the other in effect: the ground is drawn onto one that is never shown, anew when the eye moves
 * or the ground changes, and copied; what moves is drawn over it ten times a second. The ground's colors are an image
 * with a pixel for each cell, so that sixty thousand cells cost no more than forty; its signs are drawn where they can
 * be read. (Signs as small pictures that are copied were tried: they take longer than texts.)
 *
 * A drawing has colors of its own and no themes; what the page adds has the theme's.
 */

import { colors, fitting } from "./canvas.js";
import { widthOf } from "./drawing.js";
import { clip } from "./format.js";

const READABLE = 7; // pixels of a cell from which on its sign is drawn
const NAMED = 22; // and from which on whoever stands there has its name below
const MOST_SIGNS = 8000; // of the ground
const MOST_NAMES = 150;
const LONGEST_NAME = 40; // letters of a name on the world: a long one would hide it
const MOST_DASHED = 20_000; // pixels of a dashed line; who draws a million dashes draws nothing else

// --- the ground ------------------------------------------------------------------------------------------------------

/** What stands still, drawn onto a canvas that is never shown. */
export class Ground {
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

export function drawMarks(pen, camera, order) {
  const paint = colors();
  for (const mark of order) {
    if (mark.to.length > 0) drawLine(pen, camera, [[mark.x, mark.y], ...mark.to], mark.color || paint["text-2"]);
    if (!isSeen(camera, mark)) continue;
    if (mark.shape) drawShape(pen, camera, mark, mark.color || paint.text);
    if (!mark.sign) {
      continue; // a label alone is written with the names
    } else if (mark.size * camera.scale >= READABLE) {
      sketch(pen, camera, paint, mark.shape ? { ...mark, color: "", size: mark.size * 0.7 } : mark);
    } else if (!mark.shape) {
      const small = { ...mark, shape: mark.agent ? "dot" : "square", size: mark.size * 0.6 };
      drawShape(pen, camera, small, mark.color || paint.text);
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

/**
 * A text on its own ground, so that it can be read on any color. It stays on the screen, and is left out where it would
 * lie on another one; `taken` has the places of those.
 */
function drawText(pen, camera, mark, text, below, taken) {
  const paint = colors();
  pen.font = `600 11px ${paint.font}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const told = fitting(pen, text, camera.width - 10);
  const wide = pen.measureText(told).width;
  const half = wide / 2 + 5;
  const x = Math.min(Math.max(camera.left(mark.x), half), Math.max(half, camera.width - half));
  const y = camera.top(mark.y) + below;
  const isTaken = taken.some((one) => Math.abs(one.x - x) < one.half + half && Math.abs(one.y - y) < 15);
  if (isTaken || told === "") return;
  taken.push({ x, y, half });
  pen.globalAlpha = 0.82;
  pen.fillStyle = paint.surface;
  pen.fillRect(x - wide / 2 - 3, y - 7.5, wide + 6, 15);
  pen.globalAlpha = 1;
  pen.fillStyle = paint.text;
  pen.fillText(told, x, y + 0.5);
}

export function drawNames(pen, camera, order, chosen) {
  const taken = [];
  const name = (mark) =>
    drawText(pen, camera, mark, clip(mark.agent, LONGEST_NAME), widthOf(mark, camera.scale) / 2 + 9, taken);
  const seen = order.filter((mark) => (mark.agent || mark.label) && isSeen(camera, mark));
  seen.filter((mark) => mark.agent === chosen).forEach(name); // first: whoever comes later gives way
  for (const mark of seen) {
    if (taken.length >= MOST_NAMES) break;
    if (mark.agent && mark.agent !== chosen && camera.scale >= NAMED) name(mark);
    const isLabel = !mark.sign && !mark.shape && mark.to.length === 0;
    if (isLabel && mark.label) drawText(pen, camera, mark, mark.label, 0, taken);
  }
}

// --- for the chosen agent --------------------------------------------------------------------------------------------

export function drawBelow(pen, camera, { paths, held, seen }, own) {
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

export function drawAbove(pen, camera, { targets, held }, own, hovered) {
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
