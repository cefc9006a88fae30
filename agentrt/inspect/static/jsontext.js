/**
 * JSON as text: where each value stands in it, and how one is changed there. Pure.
 *
 * A form changes a document through these functions and never by writing it anew, so that everything else of the text
 * stays as it is: its order, its lines, its keys that begin with an underscore. What is put in looks like what stands
 * beside it. A change of one number is a change of one line.
 */

const DEEPEST = 70; // as deep as a document may be, and a little more
const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\n]|\\.)*"/y;
const WORD = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Whether a text is a number of JSON. */
export function isNumber(text) {
  return NUMBER.test(text) && Number.isFinite(Number(text));
}

/**
 * Read a text.
 *
 * @param {string} text - the document.
 * @returns {object|null} its value: `kind` (object, array, string, number, boolean or null), `start`, `end`, `value` of
 *   a plain one, and the `entries` of others: each with its `key`, `start`, `end` and `node`. null if it is no JSON.
 */
export function parseJson(text) {
  let at = 0;
  const fail = () => {
    throw new SyntaxError("no JSON");
  };
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at += found[0].length;
    return found?.[0] ?? null;
  };
  const take = (letter) => {
    match(SPACE);
    if (text[at] !== letter) return false;
    at += 1;
    return true;
  };
  function container(kind, close, depth) {
    const start = at;
    at += 1;
    const entries = [];
    if (!take(close)) {
      do {
        match(SPACE);
        const from = at;
        let key = entries.length;
        if (kind === "object") {
          key = JSON.parse(match(STRING) ?? fail());
          if (!take(":")) fail();
        }
        const node = value(depth + 1);
        entries.push({ key, start: from, end: node.end, node });
      } while (take(","));
      if (!take(close)) fail();
    }
    return { kind, start, end: at, entries };
  }
  function value(depth) {
    if (depth > DEEPEST) fail();
    match(SPACE);
    const start = at;
    if (text[at] === "{") return container("object", "}", depth);
    if (text[at] === "[") return container("array", "]", depth);
    const word = match(text[at] === '"' ? STRING : WORD) ?? fail();
    const read = JSON.parse(word);
    return { kind: read === null ? "null" : typeof read, start, end: at, value: read };
  }
  try {
    const root = value(0);
    match(SPACE);
    return at === text.length ? root : null;
  } catch {
    return null; // the server says what is wrong with it, and where
  }
}

/** The value at a path of keys and indices, or null. */
export function nodeAt(root, path) {
  let node = root;
  for (const key of path) {
    node = node?.entries?.find((one) => one.key === key)?.node ?? null;
  }
  return node;
}

/** The path at a place of the text: keys and indices, as far down as it goes. */
export function pathAt(root, at) {
  const path = [];
  let node = root;
  while (node?.entries) {
    const found = node.entries.find((one) => one.start <= at && at <= one.end);
    if (found === undefined) break;
    path.push(found.key);
    node = found.node;
  }
  return path;
}

/** A path as a JSON pointer. */
export function pointerOf(path) {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

const spliced = (text, start, end, fresh) => text.slice(0, start) + fresh + text.slice(end);

/** The text with another value in the place of one. */
export function replaceValue(text, node, literal) {
  return spliced(text, node.start, node.end, literal);
}

/** The text without one entry of a container, and without its comma and line. */
export function removeEntry(text, { start, end, entries }, index) {
  if (entries.length === 1) return spliced(text, start + 1, end - 1, "");
  if (index === 0) return spliced(text, entries[0].start, entries[1].start, "");
  return spliced(text, entries[index - 1].end, entries[index].end, "");
}

/** The text with another entry at the end of a container: a value, or a key with its value, as it is written. */
export function appendEntry(text, { kind, start, end, entries }, written) {
  const last = entries.at(-1);
  if (last === undefined) return spliced(text, start + 1, end - 1, kind === "object" ? ` ${written} ` : written);
  const before = entries.length > 1 ? entries.at(-2).end : start + 1;
  const gap = text.slice(before, last.start).replace(/^\s*,/, "");
  const lead = entries.length > 1 || gap.includes("\n") ? gap : " ";
  return spliced(text, last.end, last.end, `,${lead}${written}`);
}

/** The text with two entries of a container exchanged. */
export function swapEntries(text, { entries }, index, other) {
  const [one, two] = [entries[Math.min(index, other)], entries[Math.max(index, other)]];
  const [first, second] = [text.slice(one.start, one.end), text.slice(two.start, two.end)];
  return spliced(spliced(text, two.start, two.end, first), one.start, one.end, second);
}

/** What a key and a value are written as. */
export function member(key, literal) {
  return `${JSON.stringify(key)}: ${literal}`;
}
