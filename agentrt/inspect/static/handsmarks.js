/**
 * What was changed by hand, on the time line: a triangle on the ruler and a thin line through all lanes.
 */

import { colors } from "./canvas.js";
import { h } from "./dom.js";

const SIZE = 4; // half of the width of a triangle
const MOST_LINES = 6;

/**
 * Draw the marks.
 *
 * @param {object} scene - of the time line.
 * @param {[number, string, string, string][]} marks - tick, agent, words, and why nothing came of it.
 * @param {number} gutter - the width of what is left of the lanes.
 * @param {number} ruler - the height of the ruler.
 */
export function drawMarks({ pen, height, width, scale }, marks, gutter, ruler) {
  const paint = colors();
  for (const [tick, , , problem] of marks) {
    const x = Math.round(gutter + scale.x(tick)) + 0.5;
    if (x < gutter || x > width) continue;
    pen.fillStyle = pen.strokeStyle = problem ? paint.impossible : paint.started;
    pen.globalAlpha = 0.45;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, ruler);
    pen.lineTo(x, height);
    pen.stroke();
    pen.globalAlpha = 1;
    pen.beginPath();
    for (const [across, down] of [
      [-SIZE, -SIZE * 2],
      [SIZE, -SIZE * 2],
      [0, -1],
    ])
      pen.lineTo(x + across, ruler + down);
    pen.closePath();
    pen.fill();
  }
}

/** What the marks under the pointer say. */
export function markLines(marks) {
  const lines = marks
    .slice(-MOST_LINES)
    .map(([tick, , words, problem]) => h("div", { text: `tick ${tick}: ${words}${problem ? `: ${problem}` : ""}` }));
  const more = marks.length - lines.length;
  const rest = more > 0 ? h("div", { text: `and ${more} more` }) : null;
  return [h("strong", { text: "Came in from outside" }), ...lines, rest];
}
