/**
 * Pinned expressions as data: what is pinned, what the server says of it, and names as expressions write them. Pure.
 *
 * A pin is an expression over the values of one agent (`hunger > 0.8`), and the server evaluates it: the page knows no
 * grammar. What is being typed is watched like a pin, so that one sees what it comes to, or the column at which it is
 * wrong, before it is one.
 */

/** How many may be pinned; the server takes a few more. */
export const MOST_PINS = 16;

const MOST_POINTS = 240;
const LONGEST = 300; // characters of an expression; a longer one is told so by the server
const LONGEST_NAME = 500; // of an agent
const WORDS = new Set(["and", "or", "not", "true", "false", "none"]);

/** The key of a pin, by which its readings are found. */
export function keyOf({ agent, text }) {
  return `${agent}\n${text}`;
}

/** All that is watched: the pins, and what is being typed. */
export function watchedPins({ pins, pinDraft, chosen }) {
  const text = pinDraft.trim();
  if (text === "" || chosen === null) return pins;
  const typed = { agent: chosen, text: text.slice(0, LONGEST + 50) };
  return pins.some((pin) => keyOf(pin) === keyOf(typed)) ? pins : [...pins, typed];
}

/**
 * Take a message of the server about pins.
 *
 * @param {Map<string, object>} before - the readings, by the keys of their pins.
 * @param {object} message - with `rows`: what each comes to, and points of its line: all of them if `is_new`.
 * @returns {Map<string, object>} the readings: `value`, `error`, `column`, `points`, and the `tick` of it.
 */
export function taken(before, message) {
  const readings = new Map();
  for (const { agent, text, value, error, column, points, is_new: isNew } of message.rows) {
    const key = keyOf({ agent, text });
    const known = isNew ? [] : (before.get(key)?.points ?? []);
    readings.set(key, {
      value,
      error,
      column,
      points: points.length === 0 ? known : known.concat(points).slice(-MOST_POINTS),
      tick: message.tick,
      reach: message.last === undefined ? null : [message.first, message.last],
    });
  }
  return readings;
}

/** What the browser kept of an earlier visit, as pins; whatever else it kept is none. */
export function pinsFrom(text) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(found)) return [];
  const pins = found
    .filter((one) => typeof one?.agent === "string" && typeof one?.text === "string")
    .filter(({ agent, text: said }) => agent !== "" && said !== "" && agent.length + said.length < LONGEST_NAME)
    .map(({ agent, text: said }) => ({ agent, text: said }));
  return [...new Map(pins.map((pin) => [keyOf(pin), pin])).values()].slice(0, MOST_PINS);
}

/** A value's name as an expression writes it: an odd one between backquotes. */
export function nameIn(group, name) {
  const whole = group ? `${group}.${name}` : name;
  return /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}\p{N}_]+)*$/u.test(whole) && !WORDS.has(whole)
    ? whole
    : `\`${whole.replaceAll("`", "'")}\``;
}

/** The numbers of a line from the smallest to the largest, as an axis shows them; truth values from 0 to 1. */
export function boundsOf(points) {
  const numbers = points.map(([, value]) => value).filter((value) => typeof value === "number");
  if (numbers.length === 0) return null;
  const low = Math.min(...numbers);
  const high = Math.max(...numbers);
  if (low >= 0 && high <= 1) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [Math.min(low, low >= 0 ? 0 : low), high];
}
