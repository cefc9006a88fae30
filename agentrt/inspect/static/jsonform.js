/**
 * A pack or a document of task groups as a form, made of its schema and its text.
 *
 * Fields stand in the order of the text; what the schema says of a key stands beside it, and what is wrong with a value
 * below it. A field knows its path and nothing else: with each key the text is read anew, and only that value of it is
 * replaced (`jsontext.js`). The form is built again when the structure is another one, else its fields are brought up
 * to date, but for the one that somebody types in.
 */

import { button, fill, h, setAttr, setText } from "./dom.js";
import {
  appendEntry,
  isNumber,
  member,
  nodeAt,
  parseJson,
  pointerOf,
  removeEntry,
  replaceValue,
  swapEntries,
} from "./jsontext.js";

const KIND_OF_KEY = { ai_packs: "ai_pack", extends: "task_groups" }; // others are called like the kind
const PLAIN = { class: "input", type: "text", spellcheck: "false", autocomplete: "off" };

/** A schema with what it refers to put in. */
export function resolved(schema, root) {
  if (!schema || schema === true) return {};
  if (schema.$ref === undefined) return schema;
  const { $ref, ...own } = schema;
  const target = $ref
    .replace(/^#\//, "")
    .split("/")
    .reduce((part, key) => part?.[key], root);
  return { ...resolved(target, root), ...own };
}

/** The schema of what stands under a key or an index. */
export function schemaBelow(schema, key, root) {
  if (typeof key === "number") return resolved(schema.items, root);
  if (schema.properties && Object.hasOwn(schema.properties, key)) return resolved(schema.properties[key], root);
  return key.startsWith("_") ? {} : resolved(schema.additionalProperties, root);
}

/**
 * Make the form.
 *
 * @param {function(string, object=): void} type - has the draft hold another text.
 * @returns {{element: HTMLElement, draw: function(object): void}} the form; `draw` brings it up to date with a draft.
 */
export function jsonForm(type) {
  const element = h("div", { class: "edit-form" });
  let [shape, text, fields, opened, lists] = ["", "", new Map(), null, null];

  const change = (path, make, options) => {
    const node = nodeAt(parseJson(text), path);
    if (node !== null) type(make(node), options);
  };
  const act = {
    replace: (path, literal) => change(path, (node) => replaceValue(text, node, literal), { isStep: false }),
    rewrite: (path, literal) => change(path, (node) => replaceValue(text, node, literal)),
    remove: (path) => change(path.slice(0, -1), (node) => removeEntry(text, node, placeIn(node, path.at(-1)))),
    append: (path, literal) => change(path, (node) => appendEntry(text, node, literal)),
    up: (path) =>
      change(path.slice(0, -1), (node) => {
        const index = placeIn(node, path.at(-1));
        return swapEntries(text, node, index, index - 1);
      }),
    field: (path, field) => fields.set(pointerOf(path), field),
    textOf: (node) => text.slice(node.start, node.end),
    listOf: (key) => lists.get(KIND_OF_KEY[key] ?? key),
    root: () => opened.schema,
  };

  function draw(draft) {
    text = draft.text;
    const root = parseJson(text);
    if (root === null) {
      shape = "";
      const words = "The text is no JSON as it stands, so that there is no form of it: mend it as text.";
      return fill(element, h("p", { class: "edit-none", text: words }), problemList(draft.problems));
    }
    const now = JSON.stringify(shapeOf(root));
    if (now !== shape || draft.opened !== opened) {
      [shape, opened, fields] = [now, draft.opened, new Map()];
      lists = datalists(opened.names);
      const focused = document.activeElement?.closest?.("[data-at]")?.dataset.at;
      fill(element, h("div", {}, ...lists.values()), ofObject(root, resolved(opened.schema, opened.schema), [], act));
      if (focused !== undefined) element.querySelector(`[data-at="${CSS.escape(focused)}"]`)?.focus();
    }
    for (const field of fields.values()) field.update(nodeAt(root, field.path));
    tell(draft.problems ?? []);
  }

  /** Put each problem to the field in which it is, or to the nearest one around that. */
  function tell(problems) {
    for (const field of fields.values()) field.wrong = [];
    for (const one of problems) {
      let pointer = one.pointer;
      while (pointer && !fields.has(pointer)) pointer = pointer.slice(0, pointer.lastIndexOf("/"));
      fields.get(one.file ? "" : pointer)?.wrong.push(one.file ? `${one.file}: ${one.text}` : one.text);
    }
    for (const field of fields.values()) {
      setText(field.error, field.wrong.join("\n"));
      setAttr(field.control, "aria-invalid", field.wrong.length > 0 ? "true" : null);
    }
  }
  return { element, draw };
}

/** What is wrong, as a list; of what has no field of its own. */
export function problemList(problems = []) {
  return h("ul", { class: "edit-wrong" }, ...problems.slice(0, 20).map(({ text }) => h("li", { text })));
}

const placeIn = (node, key) => node.entries.findIndex((one) => one.key === key);

function shapeOf({ kind, entries }) {
  return entries ? [kind, ...entries.map((one) => [one.key, shapeOf(one.node)])] : kind === "null" ? "null" : kind;
}

function datalists(names) {
  return new Map(
    Object.entries(names).map(([kind, all]) => [
      kind,
      h("datalist", { id: `edit-names-${kind}` }, ...all.map((name) => h("option", { value: name }))),
    ]),
  );
}

/** A row: what it is called, its control, what may be done with it, what is wrong with it. */
function row(label, path, control, act, options = {}) {
  const { more = [], hint = "", update = () => {}, canGo = true, isItem = false } = options;
  const error = h("p", { class: "edit-error", role: "status" });
  setAttr(control, "data-at", pointerOf(path));
  if (label) setAttr(control, "aria-label", label);
  act.field(path, { path, error, control, update: (node) => node && update(node), wrong: [] });
  const name = label && !isItem ? h("span", { class: "edit-label", text: label, title: hint || null }) : null;
  const buttons = h("span", { class: "edit-buttons" }, ...more, canGo ? removal(label, path, act) : null);
  const line = h("div", { class: "edit-line" }, name, control, buttons);
  return h("div", { class: "edit-row" }, line, error, hint ? h("p", { class: "edit-hint", text: hint }) : null);
}

function removal(label, path, act) {
  return button({ glyph: "close", name: `Remove ${label}`, title: "Remove it", kind: "quiet" }, () => act.remove(path));
}

function ofNode(label, node, schema, path, act, options = {}) {
  const hint = schema.description ?? "";
  const types = [schema.type].flat();
  if (types.includes("number") && types.includes("array")) return ofRange(label, node, path, act, { ...options, hint });
  if (schema.enum && node.kind === "string") return ofChoice(label, schema.enum, path, act, { ...options, hint });
  if (node.kind === "boolean" && types.includes("boolean")) return ofFlag(label, path, act, { ...options, hint });
  if (node.kind === "number") return ofNumber(label, path, act, { ...options, hint });
  if (node.kind === "string") return ofString(label, path, act, { ...options, hint });
  if (node.kind === "object" && (schema.properties || schema.additionalProperties))
    return group(label, hint, path, act, ofObject(node, schema, path, act), options);
  if (node.kind === "array" && schema.items)
    return group(label, hint, path, act, ofList(node, schema, path, act), options);
  return ofLiteral(label, path, act, { ...options, hint });
}

function group(label, hint, path, act, inner, { more = [], canGo = true } = {}) {
  const buttons = h("span", { class: "edit-buttons" }, ...more, canGo ? removal(label, path, act) : null);
  const head = h("div", { class: "edit-group-head" }, h("h4", { text: label, title: hint || null }), buttons);
  return h("section", { class: "edit-group", "aria-label": label }, head, inner);
}

function ofObject(node, schema, path, act) {
  const error = h("p", { class: "edit-error", role: "status" });
  const parts = node.entries.map(({ key, node: inner }) => {
    if (key.startsWith("_")) return h("p", { class: "edit-comment", text: `${key}: ${act.textOf(inner)}` });
    return ofNode(key, inner, schemaBelow(schema, key, act.root()), [...path, key], act);
  });
  const element = h("div", { class: "edit-object", tabindex: path.length === 0 ? null : -1 }, error, ...parts);
  act.field(path, { path, error, control: element, update: () => {}, wrong: [] });
  const known = Object.keys(schema.properties ?? {});
  const missing = known.filter((key) => key !== "$schema" && !node.entries.some((one) => one.key === key));
  if (missing.length > 0) element.append(keyAdder(missing, schema, path, act));
  if (schema.additionalProperties) element.append(nameAdder(schema, path, act));
  return element;
}

/** What a value of a schema is at first. */
function fresh(schema, root) {
  if (schema.enum) return JSON.stringify(schema.enum[0]);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const [kind] = [schema.type].flat();
  if (kind === "object" || schema.properties) {
    const wanted = schema.required ?? (schema.properties?.does ? ["does", "utility"] : []);
    const parts = wanted.map((key) => member(key, fresh(resolved(schema.properties[key], root), root)));
    return parts.length > 0 ? `{ ${parts.join(", ")} }` : "{}";
  }
  return { array: "[]", boolean: "true", number: "0.5", string: '"mod:verb"' }[kind] ?? "null";
}

function keyAdder(missing, schema, path, act) {
  const choice = h(
    "select",
    { class: "select", "aria-label": "Add a key", "data-at": `${pointerOf(path)}#add` },
    h("option", { value: "", text: "Add …" }),
    ...missing.map((key) => h("option", { value: key, text: key })),
  );
  choice.addEventListener("change", () => {
    if (choice.value === "") return;
    act.append(path, member(choice.value, fresh(schemaBelow(schema, choice.value, act.root()), act.root())));
  });
  return h("div", { class: "edit-add" }, choice);
}

function nameAdder(schema, path, act) {
  const key = path.at(-1);
  const name = h("input", { ...PLAIN, list: `edit-names-${KIND_OF_KEY[key] ?? key}`, "aria-label": "New name" });
  return adder(name, `${pointerOf(path)}#new`, key, (typed) =>
    act.append(path, member(typed, fresh(resolved(schema.additionalProperties, act.root()), act.root()))),
  );
}

function adder(input, at, key, add) {
  setAttr(input, "data-at", at);
  setAttr(input, "placeholder", `mod:${KIND_OF_KEY[key] ?? key}:name`);
  const wrong = h("p", { class: "edit-error", role: "alert" });
  function go() {
    const typed = input.value.trim();
    setText(wrong, typed === "" ? `Type a name first, as in ${input.placeholder}.` : "");
    if (typed === "") input.focus();
    else add(typed);
  }
  input.addEventListener("input", () => setText(wrong, ""));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go();
  });
  return h("div", { class: "edit-add" }, input, button({ label: "Add" }, go), wrong);
}

function ofList(node, schema, path, act) {
  const items = resolved(schema.items, act.root());
  const key = String(path.at(-1));
  const error = h("p", { class: "edit-error", role: "status" });
  const rows = node.entries.map(({ node: inner }, index) => {
    const title = "One up; the order counts where one is asked before the other";
    const name = `${key} ${index + 1}`;
    const up = button({ label: "↑", name: `Move ${name} up`, title, kind: "quiet" }, () => act.up([...path, index]));
    up.disabled = index === 0;
    return ofNode(name, inner, items, [...path, index], act, { more: [up], isItem: true });
  });
  const element = h("div", { class: "edit-list" }, error, ...rows);
  act.field(path, { path, error, control: element, update: () => {}, wrong: [] });
  if ([items.type].flat().includes("string")) {
    const list = `edit-names-${KIND_OF_KEY[key] ?? key}`;
    const input = h("input", { ...PLAIN, list, "aria-label": `Add to ${key}` });
    element.append(adder(input, `${pointerOf(path)}#new`, key, (typed) => act.append(path, JSON.stringify(typed))));
  } else {
    const add = () => act.append(path, fresh(items, act.root()));
    element.append(h("div", { class: "edit-add" }, button({ label: "Add one", name: `Add to ${key}` }, add)));
  }
  return element;
}

const isFocused = (control) => document.activeElement === control;

function ofString(label, path, act, options) {
  const key = typeof path.at(-1) === "number" ? path.at(-2) : path.at(-1);
  const list = act.listOf(key) ? `edit-names-${KIND_OF_KEY[key] ?? key}` : null;
  const control = h("input", { ...PLAIN, list });
  control.addEventListener("input", () => act.replace(path, JSON.stringify(control.value)));
  const update = (node) => !isFocused(control) && (control.value = node.value);
  return row(label, path, control, act, { ...options, update });
}

function numberInput(path, act) {
  const control = h("input", { class: "input edit-number", type: "text", inputmode: "decimal", autocomplete: "off" });
  control.addEventListener("input", () => {
    const typed = control.value.trim();
    control.classList.toggle("is-no-number", !isNumber(typed));
    if (isNumber(typed)) act.replace(path, typed); // as it is typed: 0.50 stays 0.50
  });
  control.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (by === undefined || !isNumber(control.value.trim())) return;
    event.preventDefault();
    const digits = Math.max(control.value.trim().split(".")[1]?.length ?? 0, event.shiftKey ? 1 : 2);
    control.value = String(Number((Number(control.value) + by * (event.shiftKey ? 0.1 : 0.01)).toFixed(digits)));
    control.dispatchEvent(new Event("input"));
  });
  control.title = "↑ and ↓ change it by 0.01, with shift by 0.1";
  return control;
}

function ofNumber(label, path, act, options) {
  const control = numberInput(path, act);
  const update = (node) => !isFocused(control) && (control.value = act.textOf(node));
  return row(label, path, control, act, { ...options, update });
}

/** A number, or a pair of them. */
function ofRange(label, node, path, act, options) {
  const isPair = node.kind === "array" && node.entries.length === 2;
  if (!isPair && node.kind !== "number") return ofLiteral(label, path, act, options);
  const title = isPair ? "One number in the place of a range" : "A range in the place of one number";
  const literal = () => (isPair ? act.textOf(node.entries[1].node) : `[0, ${act.textOf(node)}]`);
  const toggle = button({ label: isPair ? "one" : "range", name: `${label}: ${title}`, title, kind: "quiet" }, () =>
    act.rewrite(path, literal()),
  );
  const more = [toggle, ...(options.more ?? [])];
  if (!isPair) return ofNumber(label, path, act, { ...options, more });
  const [low, high] = [0, 1].map((index) => numberInput([...path, index], act));
  [low, high].forEach((one, index) => {
    setAttr(one, "aria-label", `${label}, ${index ? "high" : "low"}`);
    setAttr(one, "data-at", pointerOf([...path, index]));
  });
  const control = h("span", { class: "edit-range", role: "group" }, low, h("span", { text: "to" }), high);
  const update = ({ entries }) =>
    [low, high].forEach((one, index) => !isFocused(one) && entries && (one.value = act.textOf(entries[index].node)));
  return row(label, path, control, act, { ...options, more, update });
}

function ofFlag(label, path, act, options) {
  const control = h("input", { type: "checkbox" });
  control.addEventListener("change", () => act.rewrite(path, String(control.checked)));
  return row(label, path, control, act, { ...options, update: (node) => (control.checked = node.value) });
}

function ofChoice(label, choices, path, act, options) {
  const control = h("select", { class: "select" }, ...choices.map((one) => h("option", { value: one, text: one })));
  control.addEventListener("change", () => act.rewrite(path, JSON.stringify(control.value)));
  return row(label, path, control, act, { ...options, update: (node) => (control.value = node.value) });
}

/** Whatever has no field of its own: as JSON. */
function ofLiteral(label, path, act, options) {
  const control = h("input", { ...PLAIN, class: "input edit-literal" });
  control.addEventListener("input", () => {
    const isWhole = parseJson(control.value) !== null;
    control.classList.toggle("is-no-number", !isWhole);
    if (isWhole) act.replace(path, control.value.trim());
  });
  const update = (node) => !isFocused(control) && (control.value = act.textOf(node).replace(/\s*\n\s*/g, " "));
  return row(label, path, control, act, { ...options, update });
}
