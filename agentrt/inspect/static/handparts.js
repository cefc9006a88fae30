/**
 * What the forms of the tab Control are made of: fields with room for what is wrong, and who asks and shows the answer.
 */

import { h, setClass, setText } from "./dom.js";
import { ask } from "./handsmodel.js";

/** Ask for a change from a form, and show what comes of it there. */
export function asker(store, connection, { status, fields, done = () => {} }) {
  let number = 0;
  store.view(["answers"], ({ answers }) => {
    const answer = answers.get(number);
    if (answer === undefined) return;
    number = 0;
    tell(answer);
  });
  function tell({ ok, message, field }) {
    const found = ok ? undefined : (fields()[field] ?? undefined);
    for (const one of new Set(Object.values(fields()))) setText(one, one === found ? message : "");
    setText(status, found ? "" : message);
    setClass(status, ok ? "hand-status" : "hand-status hand-error");
    if (ok) done();
  }
  return {
    tell,
    ask(edit) {
      number = ask(connection, edit);
      for (const one of Object.values(fields())) setText(one, "");
      setClass(status, "hand-status");
      setText(status, store.state.world?.paused ? "It comes in with the next tick: step or resume." : "Sent.");
    },
  };
}

/** A field with its label, and room for what is wrong with it. */
export function labeled(text, control) {
  const wrong = h("span", { class: "hand-error", role: "alert" });
  const name = h("span", { class: "hand-label", text });
  const element = h("label", { class: "hand-field" }, name, control, wrong);
  return { element, wrong, name, control };
}

/** A part of the tab, with its title. */
export function panel(title, ...children) {
  return h("section", { class: "hands-part", "aria-label": title }, h("h3", { text: title }), ...children);
}
