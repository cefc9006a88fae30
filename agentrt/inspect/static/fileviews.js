/**
 * Views that are kept as patches, as `agentrt/record/views.py` has them, and lines over time, as `onefile.py` has
 * them: pure functions that put them together.
 *
 * A patch of a value is `{"=": value}`, another value; `{"~": {key: patch}, "-": [keys]}`, an object of which some keys
 * changed and some are gone; `{"#": [[index, patch], …]}`, a list of the same length. What it makes shares with the
 * value before whatever did not change, and no value is changed.
 */

const SLEEPS = /^until tick (\d{1,18})$/;

/** What a patch makes of a value. */
export function patched(old, patch) {
  if ("=" in patch) return patch["="];
  if ("~" in patch) {
    const made = new Map(Object.entries(old));
    for (const key of patch["-"] ?? []) made.delete(key);
    for (const [key, change] of Object.entries(patch["~"])) made.set(key, patched(made.get(key), change));
    return Object.fromEntries(made);
  }
  const values = [...old];
  for (const [index, change] of patch["#"]) values[index] = patched(values[index], change);
  return values;
}

/**
 * Take out of a view what may not be so any more in a later tick: sleep that is over, a place in a mind's queue. It is
 * changed, and returned.
 */
export function settled(view, tick) {
  const frames = [view.plan, ...(view.performances ?? [])];
  while (frames.length > 0) {
    for (const unit of frames.pop()?.units ?? []) {
      const until = SLEEPS.exec(unit.waits ?? "");
      if (until !== null && Number(until[1]) <= tick) delete unit.waits;
      if (unit.queued) {
        delete unit.queued;
        unit.progress = "in the queue";
      }
      frames.push(...(unit.frames ?? []));
    }
  }
  return view;
}

/** The place of the last entry whose first value is not above a tick, in a list that ascends; -1 if there is none. */
export function nth(entries, tick) {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle][0] <= tick) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** How it stood with thoughts in a tick: the file has rows by their numbers. */
export function mindAt({ minds, thoughts }, tick) {
  const message = minds[Math.max(0, nth(minds, tick))][1];
  const rowsOf = (group) => ({ ...group, rows: group.rows.map((row) => thoughts[row]) });
  return { ...message, groups: message.groups.map(rowsOf), agents: message.agents.map((row) => thoughts[row].is) };
}

const NO_TEXTS =
  "This file was made without what models answered, since that may hold what players wrote: " +
  "agentrt export FILE --html --answers has it.";
const NO_ANSWER = "Up to this tick nothing was answered that the recording holds.";

/** What was asked and answered in a thought up to a tick; `texts` is what the file has, null if that is for nobody. */
export function textAt(texts, id, tick) {
  const known = texts?.[id] ?? [];
  const place = nth(known, tick);
  if (place >= 0) return known[place][1];
  return { is: "thought", id, problem: texts === null ? NO_TEXTS : NO_ANSWER, parts: [], why: "" };
}

/** A record as a line to search in, in small letters: as `TraceRecord.line` writes it, but for what is escaped. */
export function said(tick, agent, path, event, detail) {
  const parts = Object.entries(detail).map(([key, value]) => `${key}=${written(value)}`);
  return [tick, agent, path, event, ...parts].filter((part) => part !== "").join(" ").toLowerCase();
}

function written(value) {
  if (typeof value === "string") return `'${value}'`;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  return String(value);
}

const MOST_SAMPLES = 160; // of a line; as `agentrt/inspect/pins.py` has it
const NO_LINE = "no server evaluates it: this page is a file, which has only what was watched when it was made";

/**
 * What a server would tell of an expression in a tick, but for which one that is.
 *
 * @param {Array[]|undefined} entries - of its line: from which tick on, the value, what is wrong, and at which column.
 * @param {number} tick - the tick.
 * @param {number} first - the first tick of the line.
 * @param {number} last - its last one.
 */
export function pinRow(entries, tick, first, last) {
  if (entries === undefined) return { value: null, error: NO_LINE, column: 0, points: [], is_new: true };
  const [, value, error, column] = entries[Math.max(0, nth(entries, tick))];
  let step = 1;
  while (Math.floor((last - first) / step) > MOST_SAMPLES) step *= 2;
  const points = [];
  for (let at = first; at <= last; at += step) points.push([at, onLine(entries[Math.max(0, nth(entries, at))])]);
  return { value, error, column, points, is_new: true };
}

function onLine([, value, error]) {
  return error || value === null || typeof value === "string" ? null : Number(value);
}
