/**
 * XML as text: where each element and attribute stands in it, and how one is changed there. Pure.
 *
 * The same as `jsontext.js` for selection trees: a form changes the one attribute, or puts in or takes out the one
 * line, and comments, order and indents stay. It knows no entities but those of XML itself: a document type makes it
 * say that it cannot read the text, as the world's own loader does.
 */

const NAME = "[A-Za-z_:][\\w:.-]*";
const PAIR = `\\s+${NAME}\\s*=\\s*(?:"[^"<]*"|'[^'<]*')`;
const COMMENT = "<!-{2}[^]*?-->"; // written so, since the page may stand in a file of HTML
const PIECE = new RegExp(
  `${COMMENT}|<\\?[^]*?\\?>|</(${NAME})\\s*>|<(${NAME})((?:${PAIR})*)\\s*(/?)>|[^<]+`,
  "y",
);
const ATTRIBUTE = new RegExp(`(${NAME})\\s*=\\s*("[^"]*"|'[^']*')`, "g");
const KNOWN = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const DEEPEST = 70;

function decoded(text) {
  return text.replace(/&(#x[\da-fA-F]+|#\d+|\w+);/g, (whole, name) => {
    if (name[0] !== "#") return KNOWN[name] ?? whole;
    const code = name[1] === "x" ? parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function encoded(text, quote) {
  const quoted = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\n", " ");
  return quote === '"' ? quoted.replaceAll('"', "&quot;") : quoted.replaceAll("'", "&apos;");
}

/**
 * Read a text.
 *
 * @param {string} text - the document.
 * @returns {object|null} its root: `tag`, `start`, `headEnd` (of its opening tag), `end`, `isEmpty` (it closes itself),
 *   `line`, `attributes` (`name`, `value`, `start`, `end`, `quote`) and `children`. null if it cannot be read.
 */
export function parseXml(text) {
  const open = [];
  let root = null;
  let [at, line] = [0, 1];
  while (at < text.length) {
    PIECE.lastIndex = at;
    const found = PIECE.exec(text);
    if (found === null) return null;
    const [whole, closed, tag, attributes, slash] = found;
    if (closed !== undefined) {
      const element = open.pop();
      if (element?.tag !== closed) return null;
      element.end = at + whole.length;
      element.closeStart = at;
    } else if (tag !== undefined) {
      const element = { tag, start: at, headEnd: at + whole.length, end: at + whole.length, line, children: [] };
      Object.assign(element, { isEmpty: slash === "/", lastLine: line + count(whole), closeStart: at + whole.length });
      element.attributes = attributesOf(attributes, at + 1 + tag.length);
      if (open.length > DEEPEST || (open.length === 0 && root !== null)) return null;
      if (open.length > 0) open.at(-1).children.push(element);
      else root = element;
      if (!element.isEmpty) open.push(element);
    }
    at += whole.length;
    line += count(whole);
  }
  return open.length === 0 ? root : null;
}

const count = (text) => text.split("\n").length - 1;

function attributesOf(text, offset) {
  return [...text.matchAll(ATTRIBUTE)].map((found) => ({
    name: found[1],
    quote: found[2][0],
    value: decoded(found[2].slice(1, -1)),
    start: offset + found.index,
    end: offset + found.index + found[0].length,
  }));
}

/** The element at a path of indices, or null. */
export function elementAt(root, path) {
  return path.reduce((element, index) => element?.children[index] ?? null, root);
}

/** The innermost element around a place of the text, with its path; null if there is none. */
export function elementAround(root, at) {
  if (root === null || at < root.start || at > root.end) return null;
  let element = root;
  for (;;) {
    const inner = element.children.find((one) => one.start < at && at < one.end);
    if (inner === undefined) return element;
    element = inner;
  }
}

/** An attribute by its name, whatever its case. */
export function attributeOf(element, name) {
  return element.attributes.find((one) => one.name.toLowerCase() === name.toLowerCase());
}

const spliced = (text, start, end, fresh) => text.slice(0, start) + fresh + text.slice(end);

/** The text with an attribute of another value; null takes it out. */
export function setAttribute(text, element, name, value) {
  const found = attributeOf(element, name);
  if (found === undefined) {
    if (value === null) return text;
    const at = element.attributes.at(-1)?.end ?? element.start + 1 + element.tag.length;
    return spliced(text, at, at, ` ${name}="${encoded(value, '"')}"`);
  }
  if (value === null) {
    const lead = /\s*$/.exec(text.slice(0, found.start))[0].length;
    return spliced(text, found.start - lead, found.end, "");
  }
  const { start, end, quote } = found;
  const begin = start + text.slice(start, end).indexOf(quote) + 1;
  return spliced(text, begin, end - 1, encoded(value, quote));
}

/** The indent of the line in which something begins; null if it is not the first thing on that line. */
function indentOf(text, at) {
  const lead = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*$/.test(lead) ? lead : null;
}

/** The text without an element, and without its lines if it has them for itself. */
export function removeElement(text, element) {
  const indent = indentOf(text, element.start);
  const rest = /^[ \t]*(\n|$)/.exec(text.slice(element.end));
  if (indent === null || rest === null) return spliced(text, element.start, element.end, "");
  return spliced(text, element.start - indent.length, element.end + rest[0].length, "");
}

/** The text with another element at the end of one, on a line of its own. */
export function appendChild(text, element, written) {
  const own = indentOf(text, element.start) ?? "";
  const last = element.children.at(-1);
  if (last !== undefined) return spliced(text, last.end, last.end, `\n${indentOf(text, last.start) ?? own}${written}`);
  const inner = `\n${own}${unitOf(text)}${written}\n${own}`;
  if (!element.isEmpty) {
    const isBlank = /^\s*$/.test(text.slice(element.headEnd, element.closeStart));
    if (isBlank) return spliced(text, element.headEnd, element.closeStart, inner);
    const lead = indentOf(text, element.closeStart);
    if (lead === null) return spliced(text, element.closeStart, element.closeStart, written);
    return spliced(text, element.closeStart - lead.length, element.closeStart, inner.slice(1));
  }
  const from = element.headEnd - /\s*\/>$/.exec(text.slice(element.start, element.headEnd))[0].length;
  return spliced(text, from, element.headEnd, `>${inner}</${element.tag}>`);
}

/** By how much a line is indented more than the one around it, as most files have it. */
function unitOf(text) {
  return /\n([ \t]+)</.exec(text)?.[1] ?? "  ";
}

/** The text with two elements of one parent exchanged. */
export function swapElements(text, one, two) {
  const [first, second] = one.start < two.start ? [one, two] : [two, one];
  const [before, after] = [text.slice(first.start, first.end), text.slice(second.start, second.end)];
  return spliced(spliced(text, second.start, second.end, before), first.start, first.end, after);
}

/** What an element with attributes is written as. */
export function written(tag, attributes) {
  const pairs = Object.entries(attributes).map(([name, value]) => ` ${name}="${encoded(value, '"')}"`);
  return `<${tag}${pairs.join("")}/>`;
}
