/**
 * What the drawings share: a canvas as sharp as the screen, the colors of the theme, and texts that fit.
 *
 * The colors are those of the style sheet (`--…`), read once for each theme: a canvas knows no style sheet, and there
 * must be one place that says what green is.
 */

import { h } from "./dom.js";
import { hash } from "./format.js";

const NAMES = [
  "text",
  "text-2",
  "text-3",
  "line",
  "line-2",
  "surface",
  "surface-1",
  "accent",
  "running",
  "started",
  "impossible",
  "thinking",
  "chart-tick",
  "chart-think",
];
const HUES = 12;

let palette = null;

/** The colors of the theme in use. */
export function colors() {
  if (palette === null) {
    const style = getComputedStyle(document.documentElement);
    palette = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    palette.spans = Array.from({ length: HUES }, (_, index) => style.getPropertyValue(`--span-${index}`).trim());
    palette.spanText = style.getPropertyValue("--span-text").trim();
    palette.font = style.getPropertyValue("--sans").trim();
  }
  return palette;
}

/** The theme has changed: read the colors anew. */
export function forgetColors() {
  palette = null;
}

/** The color of what has a name; the same for the same name. */
export function colorOf(name) {
  return colors().spans[hash(name) % HUES];
}

/**
 * A canvas that fills its place and is drawn again when the place changes its size.
 *
 * @param {string} label - what it shows, for those who cannot see it.
 * @param {function(): void} draw - draws it.
 * @returns {{element: HTMLCanvasElement, begin: function(): {pen: CanvasRenderingContext2D, width: number, height:
 *   number}}} the canvas, and a function that clears it and gives its pen and its size in pixels of the page.
 */
export function makeCanvas(label, draw) {
  const element = h("canvas", { role: "img", "aria-label": label });
  let size = null; // as it was told: to ask for it while the page is being changed lays it all out, in each drawing
  new ResizeObserver(([{ contentRect }]) => {
    size = contentRect;
    draw();
  }).observe(element);
  const begin = () => {
    const width = size === null ? element.clientWidth : Math.round(size.width);
    const height = size === null ? element.clientHeight : Math.round(size.height);
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (element.width !== wide || element.height !== high) {
      element.width = wide;
      element.height = high;
    }
    const pen = element.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    return { pen, width, height };
  };
  return { element, begin };
}

/** The part of a text that fits into a width; empty if not even two letters do. */
export function fitting(pen, text, width) {
  if (width < 12) return "";
  if (pen.measureText(text).width <= width) return text;
  let low = 0;
  let high = Math.min(text.length, 200);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low < 2 ? "" : `${text.slice(0, low)}…`;
}
