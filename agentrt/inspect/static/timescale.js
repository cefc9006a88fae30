/**
 * The scale of the time line: which tick is at which pixel. Pure arithmetic.
 *
 * A tick is as wide as it lasts: tick 12 covers [12, 13). So a span from tick 12 to tick 12 is one tick wide and can be
 * seen. The window is kept as its last tick (or "follows the run") and its length in ticks, since that is what stays
 * when the page gets wider.
 */

import { isOver, reachOf } from "./past.js";

/** The shortest and the longest window, in ticks. */
export const SHORTEST = 8;
export const LONGEST = 200_000;

/** The tick that the run, or the reader of a recording, is at. */
export function nowOf(state) {
  return state.world?.tick ?? state.timeline?.now ?? state.hello?.tick ?? 0;
}

/**
 * The tick up to which something is drawn that has not ended: now; in a recording, where what comes is known, the last
 * tick that the time line was told of.
 */
export function openUntilOf(state) {
  const now = nowOf(state);
  return isOver(state) ? Math.max(now, state.timeline?.last ?? now) : now;
}

/**
 * The tick at the right edge of the window. One that follows a run has now there; one that follows the reader of a
 * recording has now in its middle, since there what comes is known.
 */
export function windowEnd(state) {
  if (state.windowLast !== null) return state.windowLast;
  const { windowTicks } = state;
  const now = nowOf(state);
  const last = isOver(state) ? Math.min(reachOf(state).last, now + Math.floor(windowTicks / 2)) : now;
  return Math.max(last, windowTicks - 1);
}

/** Which tick is where. */
export class TimeScale {
  /**
   * @param {number} last - the tick at the right edge.
   * @param {number} ticks - how many ticks are on the screen.
   * @param {number} width - in pixels.
   */
  constructor(last, ticks, width) {
    this.ticks = ticks;
    this.width = Math.max(1, width);
    this.first = last + 1 - ticks;
    this.last = last + 1;
    this.pixels = this.width / ticks;
  }

  /** The pixel at which a tick begins. */
  x(tick) {
    return (tick - this.first) * this.pixels;
  }

  /** The tick at a pixel. */
  tickAt(x) {
    return this.first + x / this.pixels;
  }

  /**
   * The window after zooming around a pixel.
   *
   * @param {number} factor - below 1 makes the window shorter.
   * @param {number} x - the pixel that stays where it is.
   * @returns {{last: number, ticks: number}} the window.
   */
  zoomed(factor, x) {
    const ticks = Math.min(LONGEST, Math.max(SHORTEST, Math.round(this.ticks * factor)));
    const anchor = this.tickAt(x);
    const last = anchor + ((this.width - x) / this.width) * ticks - 1;
    return { last, ticks };
  }

  /**
   * Where to put marks: at round ticks, not closer than so many pixels.
   *
   * @param {number} [distance] - in pixels.
   * @returns {number[]} ticks, ascending.
   */
  marks(distance = 76) {
    const step = niceStep(distance / this.pixels);
    const marks = [];
    for (let tick = Math.ceil(Math.max(0, this.first) / step) * step; tick <= this.last; tick += step) marks.push(tick);
    return marks;
  }
}

/** The smallest of 1, 2, 5, 10, 20, 50, … that is not below a number. */
export function niceStep(least) {
  let power = 1;
  for (;;) {
    for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power;
    power *= 10;
  }
}

/**
 * Put spans into rows: those of one lane together, lanes in the order of their names with the plan first, in each lane
 * a row for each depth that occurs.
 *
 * @param {Array[]} spans - `[lane, depth, path, name, begin, end, outcome]`.
 * @returns {{lanes: {name: string, top: number, rows: number}[], boxes: {span: Array, row: number}[], rows: number}}
 *   where everything is, in rows.
 */
export function arrange(spans) {
  const depths = new Map();
  for (const [lane, depth] of spans) {
    if (!depths.has(lane)) depths.set(lane, new Set());
    depths.get(lane).add(depth);
  }
  const lanes = [];
  const rowOf = new Map();
  let rows = 0;
  const names = [...depths.keys()].sort((a, b) => (b === "plan") - (a === "plan") || (a < b ? -1 : a > b ? 1 : 0));
  for (const name of names) {
    const sorted = [...depths.get(name)].sort((a, b) => a - b);
    sorted.forEach((depth, index) => rowOf.set(`${depth} ${name}`, rows + index));
    lanes.push({ name, top: rows, rows: sorted.length });
    rows += sorted.length;
  }
  const boxes = spans.map((span) => ({ span, row: rowOf.get(`${span[1]} ${span[0]}`) }));
  return { lanes, boxes, rows };
}
