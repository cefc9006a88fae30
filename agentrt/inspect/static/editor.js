/**
 * A text with numbers beside its lines, marks where something is wrong, and what may stand at the caret.
 *
 * It is a text area: the browser's own, so that it can be read aloud, searched and pasted into. The numbers beside it
 * are for the eye, and scroll with it; long lines are not broken, so that a line is a line. Tab leaves it, as any
 * field; Ctrl+S saves, Ctrl+Z takes back, also what was done in the form.
 */

import { button, fill, h, setText, show } from "./dom.js";
import { clip } from "./format.js";
import { resolved, schemaBelow } from "./jsonform.js";
import { nodeAt, parseJson, pathAt } from "./jsontext.js";
import { elementAround, parseXml } from "./xmltext.js";

const MOST_OFFERED = 8;
const LONGEST_HINT = 240; // letters
const PART_OF_NAME = /[\w:.-]*$/;

/**
 * Make the editor.
 *
 * @param {object} act - `type(text)`, `save()`, `undo()`, `redo()`.
 * @returns {{element: HTMLElement, draw: function(object): void, goTo: function(number): void}} the editor; `draw`
 *   brings it up to date with a draft; `goTo` puts the caret into a line.
 */
export function textEditor(act) {
  const area = h("textarea", {
    class: "edit-text",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    wrap: "off",
    "aria-label": "The text of the file",
    "aria-describedby": "edit-caret",
  });
  const gutter = h("div", { class: "edit-gutter", "aria-hidden": "true" });
  const hint = h("p", { class: "edit-caret", id: "edit-caret" });
  const offers = h("div", { class: "edit-offers", role: "group", "aria-label": "Names that may stand here" });
  let [draft, drawn, read] = [null, "", null];

  area.addEventListener("input", () => act.type(area.value));
  area.addEventListener("scroll", () => (gutter.scrollTop = area.scrollTop));
  for (const kind of ["keyup", "click", "focus", "input"]) area.addEventListener(kind, tellCaret);
  area.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    const run = key === "z" ? (event.shiftKey ? act.redo : act.undo) : key === "y" ? act.redo : null;
    if (run === null) return;
    event.preventDefault();
    run();
  });

  function drawGutter() {
    const lines = draft.text.split("\n").length;
    const wrong = new Map();
    for (const one of draft.problems ?? []) {
      if (!one.file && one.line) wrong.set(one.line, [...(wrong.get(one.line) ?? []), one]);
    }
    const key = JSON.stringify([lines, [...wrong.entries()].map(([line, all]) => [line, all.map(({ text }) => text)])]);
    if (key === drawn) return;
    drawn = key;
    const numbers = Array.from({ length: lines }, (_, index) => {
      const found = wrong.get(index + 1);
      const kind = found ? (found.some((one) => one.is_error) ? "is-wrong" : "is-doubtful") : null;
      return h("div", { class: kind, title: found?.map(({ text }) => text).join("\n"), text: String(index + 1) });
    });
    fill(gutter, ...numbers);
    gutter.scrollTop = area.scrollTop;
  }

  /** What is at the caret: where that is in the document, what the schema says of it, names that go on from there. */
  function tellCaret() {
    if (draft === null) return;
    const at = area.selectionStart;
    const upTo = area.value.slice(0, at);
    const place = `line ${upTo.split("\n").length}, column ${at - upTo.lastIndexOf("\n")}`;
    if (read?.text !== area.value) {
      read = { text: area.value, json: draft.opened.schema ? parseJson(area.value) : null };
      read.xml = draft.opened.schema ? null : parseXml(area.value);
    }
    const words = draft.opened.schema ? aboutJson(read.json, draft.opened.schema, at) : aboutXml(read.xml, draft, at);
    setText(hint, [place, words].filter(Boolean).join(" · "));
    drawOffers(PART_OF_NAME.exec(upTo)[0], at);
  }

  function drawOffers(part, at) {
    const all = part.length < 2 ? [] : Object.values(draft.opened.names).flat();
    const found = all.filter((name) => name.includes(part) && name !== part).slice(0, MOST_OFFERED);
    show(offers, found.length > 0);
    const take = (name) => {
      const end = at + /^[\w:.-]*/.exec(area.value.slice(at))[0].length;
      area.setRangeText(name, at - part.length, end, "end");
      area.focus();
      act.type(area.value);
      tellCaret();
    };
    const made = found.map((name) => button({ label: name, title: "Write it here", kind: "quiet" }, () => take(name)));
    fill(offers, ...made);
  }

  return {
    element: h("div", { class: "edit-editor" }, h("div", { class: "edit-page" }, gutter, area), offers, hint),
    draw(now) {
      draft = now;
      if (area.value !== now.text) {
        const [caret, top] = [area.selectionStart, area.scrollTop];
        area.value = now.text;
        area.setSelectionRange(caret, caret);
        area.scrollTop = top;
      }
      area.readOnly = Boolean(now.opened.why_not);
      drawGutter();
    },
    goTo(line) {
      const lines = area.value.split("\n");
      const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
      area.focus();
      area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
      area.scrollTop = Math.max(0, (line - 4) * (area.scrollHeight / Math.max(1, lines.length)));
      tellCaret();
    },
  };
}

function aboutJson(root, schema, at) {
  if (root === null) return "";
  const path = pathAt(root, at);
  let part = resolved(schema, schema);
  for (const key of path) part = schemaBelow(part, key, schema);
  const where = path.join(" › ");
  const known = part.properties && nodeAt(root, path)?.kind === "object" ? Object.keys(part.properties).join(", ") : "";
  const words = path.length > 0 ? clip(part.description ?? "", LONGEST_HINT) : "";
  return [where, words, known && `keys: ${known}`].filter(Boolean).join(" · ");
}

function aboutXml(root, { opened }, at) {
  const shape = opened.shapes[elementAround(root, at)?.tag.toLowerCase()];
  if (shape === undefined) return "";
  const { tag, required, optional, children } = shape;
  const takes = [...required, ...optional.map((name) => `${name}?`)].join(", ");
  const holds = children.map((name) => opened.shapes[name].tag).join(", ");
  return [`<${tag}>`, takes && `takes ${takes}`, holds && `holds ${holds}`].filter(Boolean).join(" · ");
}
