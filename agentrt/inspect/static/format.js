/**
 * Words and numbers: how values of a run are written. Pure functions; they know no element and no state.
 *
 * Whatever comes here was written by authors of actions, or by nobody known (a recording): a number may be missing,
 * infinite or a text. So each function takes anything and gives back a text of a bounded length.
 */

const LONGEST = 2000;

/** A utility, a time: at most `digits` places after the point, without the zeros that say nothing. */
export function number(value, digits = 3) {
  if (typeof value !== "number") return value === null || value === undefined ? "–" : clip(String(value), 24);
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "NaN";
  if (Math.abs(value) >= 1e6) return value.toExponential(2);
  const text = value.toFixed(digits);
  return (digits > 0 ? text.replace(/\.?0+$/, "") : text).replace("-", "−");
}

/** A utility, always with two places, so that a column of them aligns. */
export function utility(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return number(value);
  return Math.abs(value) >= 1000 ? value.toExponential(1) : value.toFixed(3);
}

/** A count, with narrow blanks between the thousands. */
export function count(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, " ");
}

/** Milliseconds. */
export function milliseconds(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  return `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ms`;
}

/** Game time: `4.2 s`, `3:07.5`, `1:02:03`. */
export function gameTime(seconds) {
  if (typeof seconds !== "number" || !Number.isFinite(seconds)) return "–";
  if (seconds < 60) return `${seconds.toFixed(2)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${(seconds % 60).toFixed(1).padStart(4, "0")}`;
  const rest = Math.floor(seconds % 60);
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
}

/** A time that is read and not compared: `4.2 s`, and from a minute on as `gameTime` has it. */
export function timeWords(seconds) {
  return seconds < 60 ? `${number(seconds, 1)} s` : gameTime(seconds);
}

/** A text of at most so many characters. */
export function clip(text, longest = LONGEST) {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

/** A plain value on one line: texts as they are, everything else as JSON. */
export function plain(value) {
  if (typeof value === "string") return clip(value);
  if (typeof value === "number") return number(value, 4);
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "true" : "false";
  try {
    return clip(JSON.stringify(value));
  } catch {
    return clip(String(value));
  }
}

/** The detail of a record on one line: `reason=… utility=…`. */
export function detailLine(detail) {
  return Object.entries(detail ?? {})
    .map(([key, value]) => `${key}=${plain(value)}`)
    .join("  ");
}

/** The last part of a path. */
export function leafOf(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** A path for a narrow column: its last parts, with an ellipsis for those left out. */
export function shortPath(path, parts = 2) {
  const all = path.split("/");
  return all.length <= parts ? path : `…/${all.slice(-parts).join("/")}`;
}

/** Whether a path is another one, or stands above it. */
export function isWithin(path, above) {
  return path === above || path.startsWith(`${above}/`);
}

/** A small number that is the same for the same text, for choosing a color. */
export function hash(text) {
  let value = 2166136261;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 16777619);
  }
  return value >>> 0;
}

/** `1 tick`, `2 ticks`. */
export function plural(amount, word) {
  return `${count(amount)} ${word}${amount === 1 ? "" : "s"}`;
}
