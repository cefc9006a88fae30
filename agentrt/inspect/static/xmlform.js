/**
 * Selection trees as a form: each element a row with its attributes, its children below it.
 *
 * The shapes come from the loader itself (which attributes an element takes, and which children). As in `jsonform.js` a
 * field knows its place and replaces one attribute in the text; the form is built again when the structure is another.
 */

import { button, fill, h, setAttr, setText } from "./dom.js";
import { problemList } from "./jsonform.js";
import {
  appendChild,
  attributeOf,
  elementAt,
  parseXml,
  removeElement,
  setAttribute,
  swapElements,
  written,
} from "./xmltext.js";

const FRESH = { condition: "true", value: "true", default: "true" }; // what an attribute is at first; others are a name
const HINTS = {
  condition: "An expression over variables: Late and !Hungry. Nodes are asked in order; the first that holds is it.",
  default: "What the variable is in the beginning: true or false.",
  variable: "The variable that the signal sets.",
  value: "What it becomes: true, false, or an expression.",
  target: "The behavior that the node stands for.",
};

/**
 * Make the form.
 *
 * @param {function(string, object=): void} type - has the draft hold another text.
 * @returns {{element: HTMLElement, draw: function(object): void}} the form; `draw` brings it up to date with a draft.
 */
export function xmlForm(type) {
  const element = h("div", { class: "edit-form" });
  let [shape, text, fields, rows, opened] = ["", "", [], [], null];

  const change = (path, make, options) => {
    const found = elementAt(parseXml(text), path);
    if (found) type(make(found), options);
  };
  const act = {
    set: (path, name, value, options) => change(path, (one) => setAttribute(text, one, name, value), options),
    remove: (path) => change(path, (one) => removeElement(text, one)),
    append: (path, child) => change(path, (one) => appendChild(text, one, child)),
    up: (path) =>
      change(path.slice(0, -1), ({ children }) =>
        swapElements(text, children[path.at(-1)], children[path.at(-1) - 1]),
      ),
    field: (field) => fields.push(field),
    row: (one) => rows.push(one),
    shapes: () => opened.shapes,
  };

  function draw(draft) {
    text = draft.text;
    const root = parseXml(text);
    if (root === null) {
      shape = "";
      const words = "The text is no XML that a form can be made of, as it stands: mend it as text.";
      return fill(element, h("p", { class: "edit-none", text: words }), problemList(draft.problems));
    }
    const now = JSON.stringify(shapeOf(root));
    if (now !== shape || draft.opened !== opened) {
      [shape, opened, fields, rows] = [now, draft.opened, [], []];
      const focused = document.activeElement?.closest?.("[data-at]")?.dataset.at;
      const names = (opened.names.behaviors ?? []).map((name) => h("option", { value: name }));
      fill(element, h("datalist", { id: "edit-behaviors" }, ...names), ofElement(root, [], act));
      if (focused !== undefined) element.querySelector(`[data-at="${CSS.escape(focused)}"]`)?.focus();
    }
    for (const { path, name, control } of fields) {
      const value = attributeOf(elementAt(root, path), name)?.value ?? "";
      if (document.activeElement !== control) control.value = value;
    }
    tell(root, draft.problems ?? []);
  }

  /** Put each problem to the element in whose lines it is; those of other files, and of the whole, to the root. */
  function tell(root, problems) {
    const found = new Map();
    for (const one of problems) {
      const inside = rows.filter(({ path }) => {
        const { line, lastLine } = elementAt(root, path);
        return !one.file && line <= one.line && one.line <= lastLine;
      });
      const { key } = inside.at(-1) ?? rows[0];
      found.set(key, [...(found.get(key) ?? []), one.file ? `${one.file}:${one.line}: ${one.text}` : one.text]);
    }
    for (const { key, error, line } of rows) {
      setText(error, (found.get(key) ?? []).join("\n"));
      line.classList.toggle("is-wrong", found.has(key));
    }
  }
  return { element, draw };
}

function shapeOf({ tag, attributes, children }) {
  return [tag, attributes.map(({ name }) => name), children.map(shapeOf)];
}

function ofElement(element, path, act) {
  const shape = act.shapes()[element.tag.toLowerCase()];
  const key = path.join("/");
  const present = element.attributes.map(({ name }) => name);
  const wanted = (shape?.required ?? []).filter((name) => !attributeOf(element, name));
  const fields = [...present, ...wanted].map((name) => attributeField(name, element, path, shape, act));
  const missing = (shape?.optional ?? []).filter((name) => !attributeOf(element, name));
  const error = h("p", { class: "edit-error", role: "status" });
  const tools = h("span", { class: "edit-buttons" });
  for (const name of missing) {
    const add = () => act.set(path, name, FRESH[name] ?? "");
    tools.append(button({ label: `+ ${name}`, name: `Add ${name}`, title: HINTS[name] ?? "", kind: "quiet" }, add));
  }
  if (path.length > 0) {
    const [upward, away] = [`Move ${element.tag} up`, `Remove ${element.tag}`];
    const up = button({ label: "↑", name: upward, title: "Before the one above", kind: "quiet" }, () => act.up(path));
    up.disabled = path.at(-1) === 0;
    const remove = () => act.remove(path);
    const title = "Remove it, and what is in it";
    tools.append(up, button({ glyph: "close", name: away, title, kind: "quiet" }, remove));
  }
  const line = h(
    "div",
    { class: "edit-line edit-element" },
    h("span", { class: "edit-tag", text: shape?.tag ?? element.tag }),
    ...fields,
    tools,
  );
  act.row({ key, path, error, line });
  const inner = element.children.map((one, index) => ofElement(one, [...path, index], act));
  const below = inner.length > 0 ? h("div", { class: "edit-children" }, ...inner) : null;
  return h("div", { class: "edit-node" }, line, error, below, childAdder(shape, path, act));
}

function attributeField(name, element, path, shape, act) {
  const isBehavior = (name === "name" && element.tag.toLowerCase() === "leaf") || name === "target";
  const control = h("input", {
    class: `input edit-attribute${name === "condition" ? " is-long" : ""}`,
    type: "text",
    spellcheck: "false",
    autocomplete: "off",
    list: isBehavior ? "edit-behaviors" : null,
    title: HINTS[name] ?? null,
    "aria-label": `${element.tag} ${name}`,
    "data-at": `${path.join("/")}@${name}`,
  });
  control.addEventListener("input", () => act.set(path, name, control.value, { isStep: false }));
  act.field({ path, name, control });
  const canGo = !(shape?.required ?? []).includes(name);
  const remove = button({ glyph: "close", name: `Remove ${name}`, title: `Without ${name}`, kind: "quiet" }, () =>
    act.set(path, name, null),
  );
  return h("label", { class: "edit-pair" }, h("span", { text: name }), control, canGo ? remove : null);
}

function childAdder(shape, path, act) {
  if (!shape || shape.children.length === 0) return null;
  const choice = h(
    "select",
    { class: "select", "aria-label": `Add to ${shape.tag}`, "data-at": `${path.join("/")}+` },
    h("option", { value: "", text: "Add …" }),
    ...shape.children.map((tag) => h("option", { value: tag, text: act.shapes()[tag]?.tag ?? tag })),
  );
  choice.addEventListener("change", () => {
    const child = act.shapes()[choice.value];
    if (child === undefined) return;
    const attributes = child.required.map((name) => [name, FRESH[name] ?? "New"]);
    act.append(path, written(child.tag, Object.fromEntries(attributes)));
  });
  setAttr(choice, "title", `What may stand in ${shape.tag}`);
  return h("div", { class: "edit-add" }, choice);
}
