/**
 * The world's drawing as data: what messages make of it, where things are on the screen, and what is above it for the
 * chosen agent. Pure functions and arithmetic; they know no element.
 *
 * Places are counted in cells; a whole number is the middle of a cell, so a drawing reaches from -0.5 to its width less
 * 0.5. The server has checked every value (`agentrt/drawing.py`), in a live run and in a recording, so nothing here has
 * to. Keys and texts are anybody's: marks are kept in a `Map`, where no key means anything.
 */

import { plural } from "./format.js";

/** How large a cell may become, in pixels. */
export const LARGEST_CELL = 128;

/**
 * What the page knows after a message.
 *
 * @param {object|null} before - what it knew.
 * @param {object} message - the server's; see `agentrt/inspect/drawn.py`.
 * @returns {object} the drawing: `offered`, `problem`, `still`, `marks` by key, and `order`, the same from below.
 */
export function taken(before, message) {
  if (!message.offered) {
    return { offered: false, problem: message.problem ?? "", still: null, marks: new Map(), order: [] };
  }
  const marks = new Map(message.whole ? [] : before?.marks);
  for (const key of message.gone) marks.delete(key);
  for (const [key, mark] of Object.entries(message.marks)) marks.set(key, { ...PLAIN, ...mark, key });
  return { offered: true, problem: "", still: message.still ?? before?.still, marks, order: inOrder(marks) };
}

const PLAIN = {
  sign: "",
  color: "",
  shape: "",
  label: "",
  agent: "",
  holder: "",
  layer: 0,
  bold: false,
  size: 1,
  to: [],
};

function inOrder(marks) {
  const byKey = (one, other) => (one.key < other.key ? -1 : 1);
  return [...marks.values()].sort((one, other) => one.layer - other.layer || one.y - other.y || byKey(one, other));
}

/** Where the eye is: a place of the world in the middle of the screen, and how many pixels a cell has. */
export class Camera {
  constructor() {
    this.x = 0;
    this.y = 0;
    this.scale = 1;
    this.width = 1; // of the screen, in pixels
    this.height = 1;
    this.fits = true; // whether it shows all of the drawing, whatever the size of the screen
  }

  /** The size of the screen, and of what is drawn. */
  resize(width, height, still) {
    this.width = width;
    this.height = height;
    if (this.fits) this.fit(still);
  }

  /** Show all of it. */
  fit(still) {
    this.fits = true;
    this.x = still.width / 2 - 0.5;
    this.y = still.height / 2 - 0.5;
    this.scale = fitting(this, still);
  }

  /** Show more or less, so that what is at a pixel stays there. */
  zoom(factor, still, x = this.width / 2, y = this.height / 2) {
    const { x: atX, y: atY } = this.placeAt(x, y);
    const least = Math.min(fitting(this, still) / 2, LARGEST_CELL);
    const most = Math.max(LARGEST_CELL, fitting(this, still) * 4);
    this.scale = Math.min(most, Math.max(least, this.scale * factor));
    this.fits = false;
    this.look(atX - (x - this.width / 2) / this.scale, atY - (y - this.height / 2) / this.scale, still);
  }

  /** Move by so many pixels. */
  pan(x, y, still) {
    this.fits = false;
    this.look(this.x - x / this.scale, this.y - y / this.scale, still);
  }

  /** Look at a place; some of the drawing stays on the screen. */
  look(x, y, still) {
    this.x = Math.min(still.width, Math.max(-1, x));
    this.y = Math.min(still.height, Math.max(-1, y));
  }

  left(x) {
    return (x - this.x) * this.scale + this.width / 2;
  }

  top(y) {
    return (y - this.y) * this.scale + this.height / 2;
  }

  placeAt(left, top) {
    return { x: (left - this.width / 2) / this.scale + this.x, y: (top - this.height / 2) / this.scale + this.y };
  }
}

function fitting({ width, height }, still) {
  return Math.max(0.001, Math.min((width - 16) / still.width, (height - 16) / still.height));
}

/** How wide a mark is on the screen, in pixels: who acts can be seen and hit from any distance. */
export function widthOf(mark, scale) {
  return Math.max(mark.size * scale, mark.agent ? 7 : 1.5);
}

/**
 * The mark at a pixel: the topmost one that is there, or the nearest one that acts, since fingers are thick.
 *
 * @param {object[]} order - the marks, from below.
 * @param {Camera} camera - where the eye is.
 * @param {number} slack - in pixels.
 * @returns {object|null} the mark.
 */
export function markAt(order, camera, left, top, slack) {
  let near = null;
  let least = slack;
  for (let index = order.length - 1; index >= 0; index -= 1) {
    const mark = order[index];
    const apart = Math.max(Math.abs(camera.left(mark.x) - left), Math.abs(camera.top(mark.y) - top));
    const within = apart - widthOf(mark, camera.scale) / 2;
    if (within <= 0 && (mark.label || mark.agent)) return mark;
    if (mark.agent && within < least) {
      near = mark;
      least = within;
    }
  }
  return near;
}

/**
 * What is drawn above the world for the chosen agent: what the actions that it runs offer, and what it has reserved.
 *
 * @param {object} state - the state of the page.
 * @returns {{paths: number[][][], targets: number[][], seen: number[][], held: object[]}} places, and marks.
 */
export function overlaysOf({ agent, chosen, drawing }) {
  const found = { paths: [], targets: [], seen: [], held: [] };
  if (chosen === null) return found;
  found.held = (drawing?.order ?? []).filter((mark) => mark.holder === chosen);
  const snapshot = agent?.snapshot;
  const frames = snapshot ? [snapshot.plan, ...(snapshot.performances ?? [])] : [];
  while (frames.length > 0) {
    for (const unit of frames.pop()?.units ?? []) {
      if (!unit.is_elected) continue;
      for (const offered of Object.values(unit.debug ?? {})) collect(found, offered);
      frames.push(...(unit.frames ?? []));
    }
  }
  return found;
}

/** What an action offers to be drawn, in words; null if it is something else. */
export function overlayWords(offered) {
  const draws = { path: "a path of", target: "a target at", seen: "sees" }[offered?.draws];
  if (!draws || !Array.isArray(offered.points)) return null;
  return `${draws} ${plural(offered.points.length, "place")}, see World`;
}

function collect(found, offered) {
  if (offered === null || typeof offered !== "object" || !Array.isArray(offered.points)) return;
  const isPlace = (place) => Array.isArray(place) && place.length === 2 && place.every((one) => Number.isFinite(one));
  const places = offered.points.filter(isPlace);
  if (places.length === 0) return;
  if (offered.draws === "path") found.paths.push(places);
  else if (offered.draws === "target") found.targets.push(...places);
  else if (offered.draws === "seen") found.seen.push(...places);
}
