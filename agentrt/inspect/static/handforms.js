/**
 * Sending an input of the world: a form made of the signature of the function that takes it.
 *
 * Each argument has a field of its type, its default as what is there if nothing is typed, and room for what is wrong
 * with it. What has no form of its own (lists, objects, any value) is typed as JSON.
 */

import { fill, h, setText, show } from "./dom.js";
import { clip } from "./format.js";
import { asker, labeled, panel } from "./handparts.js";
import { fieldValue } from "./handsmodel.js";

const KIND_WORDS = {
  bool: "true or false",
  int: "whole number",
  float: "number",
  text: "text",
  list: "list, as JSON",
  object: "object, as JSON",
  any: "any value, as JSON",
};

/** Make the part of the tab. */
export function sendForm(store, connection) {
  const choice = labeled("Input", h("select", { class: "select" }));
  const about = h("p", { class: "hand-about" });
  const body = h("div", { class: "hand-fields" });
  const status = h("p", { class: "hand-status", role: "status" });
  const none = h("p", { class: "empty-line", text: "The world takes no inputs." });
  const more = labeled("Further arguments, as JSON", h("textarea", { class: "input", rows: 2, spellcheck: "false" }));
  let fields = []; // [field, its labeled control]
  let drawn = "";
  const wrongs = () => ({
    ...Object.fromEntries(fields.map(([field, made]) => [pointer(field.name), made.wrong])),
    "/send": choice.wrong,
    "/args": more.wrong,
  });
  const asking = asker(store, connection, { status, fields: wrongs });
  const current = () => store.state.offers.forms.find((form) => form.name === choice.control.value);

  function drawFields() {
    const form = current();
    fields = (form?.fields ?? []).map((field) => [field, control(field)]);
    fill(body, ...fields.map(([, made]) => made.element));
    setText(about, form?.problem || form?.about || "");
    show(about, about.textContent !== "");
    show(more.element, Boolean(form?.takes_more));
    setText(status, "");
  }
  choice.control.addEventListener("change", drawFields);

  function submit(event) {
    event.preventDefault();
    const form = current();
    if (form === undefined) return;
    const args = {};
    for (const [field, made] of fields) {
      const { value, error } = fieldValue(field, made.control.value);
      if (error) return asking.tell({ ok: false, message: error, field: pointer(field.name) });
      if (value !== undefined) args[field.name] = value;
    }
    if (form.takes_more && more.control.value.trim() !== "") {
      try {
        Object.assign(args, JSON.parse(more.control.value));
      } catch {
        return asking.tell({ ok: false, message: 'This is no JSON: {"name": 1}.', field: "/args" });
      }
    }
    asking.ask({ send: form.name, args });
  }

  const form = h(
    "form",
    { class: "hand-form", "aria-label": "Send an input", on: { submit } },
    choice.element,
    about,
    body,
    more.element,
    h("button", { type: "submit", class: "button primary", text: "Send" }),
  );
  store.view(["offers"], ({ offers }) => {
    const text = JSON.stringify(offers.forms);
    show(form, offers.forms.length > 0);
    show(none, offers.forms.length === 0);
    if (text === drawn) return; // what somebody is typing stays
    drawn = text;
    const before = choice.control.value;
    fill(choice.control, ...offers.forms.map(({ name }) => h("option", { value: name, text: clip(name, 60) })));
    if (offers.forms.some(({ name }) => name === before)) choice.control.value = before;
    drawFields();
  });
  return panel("Send an input", form, none, status);
}

function pointer(name) {
  return `/args/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function control(field) {
  const { name, kind, choices, default: given, is_required: isRequired } = field;
  const shown = given === null || given === undefined ? "" : typeof given === "string" ? given : JSON.stringify(given);
  const otherwise = isRequired ? "" : shown === "" ? "left out" : shown;
  const title = `${name} (${KIND_WORDS[kind] ?? kind}${isRequired ? "" : ", optional"})`;
  const options = choices.length > 0 ? choices.map((one, index) => [index, String(one)]) : [["true"], ["false"]];
  if (choices.length > 0 || kind === "bool") {
    const first = h("option", { value: "", text: isRequired ? "choose …" : `(${otherwise})` });
    const rest = options.map(([value, text = value]) => h("option", { value, text: clip(text, 60) }));
    return labeled(title, h("select", { class: "select" }, first, ...rest));
  }
  const isJson = kind === "list" || kind === "object" || kind === "any";
  return labeled(
    title,
    h(isJson ? "textarea" : "input", {
      class: "input",
      rows: isJson ? 2 : null,
      inputmode: { int: "numeric", float: "decimal" }[kind] ?? null,
      placeholder: clip(otherwise, 60),
      maxlength: 10_000,
      spellcheck: "false",
      autocomplete: "off",
    }),
  );
}
