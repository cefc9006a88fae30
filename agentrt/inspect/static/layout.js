/**
 * The frame of the page: panels that can be made larger, tabs, the theme, messages.
 *
 * Sizes are kept as custom properties of the workspace, in pixels, and by the browser between visits; a splitter is a
 * separator with a value, so that it works with the keys, too (arrow keys, by 16 pixels). The theme is "auto" (what the
 * system says), "light" or "dark"; the button chooses the opposite of what is seen.
 */

import { forgetColors } from "./canvas.js";
import { button, h, setAttr, setPath, setText, show } from "./dom.js";
import { withheld } from "./emptiness.js";
import { remember, remembered } from "./store.js";

/**
 * A bar between two panels, by which one of them is made larger.
 *
 * @param {object} options - `name` of the custom property and of what is kept; `label`; `axis` "x" or "y"; `from` the
 *   side from which the size is measured (1: grows to the right or down, -1: the other way); `initial`, `least`, `most`
 *   in pixels.
 * @returns {HTMLElement} the splitter.
 */
export function splitter({ name, label, axis, from, initial, least, most }) {
  const apply = (size) => {
    const value = Math.round(Math.min(most, Math.max(least, size)));
    document.documentElement.style.setProperty(`--${name}`, `${value}px`);
    element.setAttribute("aria-valuenow", value);
    remember(name, value);
    return value;
  };
  const element = h("div", {
    class: `splitter ${axis}`,
    role: "separator",
    tabindex: 0,
    "aria-label": label,
    "aria-orientation": axis === "x" ? "vertical" : "horizontal",
    "aria-valuemin": least,
    "aria-valuemax": most,
    title: `${label}: drag, or use the arrow keys`,
  });
  let size = apply(Number(remembered(name, initial)) || initial);
  let start = null;
  element.addEventListener("pointerdown", (event) => {
    start = { at: axis === "x" ? event.clientX : event.clientY, size };
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (start !== null) size = apply(start.size + from * ((axis === "x" ? event.clientX : event.clientY) - start.at));
  });
  for (const kind of ["pointerup", "pointercancel"]) element.addEventListener(kind, () => (start = null));
  element.addEventListener("dblclick", () => (size = apply(initial)));
  element.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 16, ArrowDown: 16, ArrowLeft: -16, ArrowUp: -16 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    size = apply(size + from * by);
  });
  return element;
}

/**
 * Tabs, of which one view is on the screen.
 *
 * @param {Store} store - the state; `tab` is the one that is shown.
 * @param {[string, string, HTMLElement, (function(object): boolean)=][]} tabs - name, label, view, and whether there
 *   is nothing to see there: then its head is gray.
 * @returns {HTMLElement} the tabs with their views.
 */
export function tabPanel(store, tabs) {
  const keyOf = (index) => "1234567890cm"[index];
  const heads = tabs.map(([name, label], index) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        class: "tab",
        id: `tab-${name}`,
        "aria-controls": `view-${name}`,
        title: `${label}  (${keyOf(index)})`,
        on: { click: () => store.set({ tab: name }) },
      },
      h("span", { text: label }),
      h("kbd", { text: keyOf(index), "aria-hidden": "true" }),
    ),
  );
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": "Views" }, ...heads);
  list.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const at = tabs.findIndex(([name]) => name === store.state.tab);
    const next = (at + by + tabs.length) % tabs.length;
    store.set({ tab: tabs[next][0] });
    heads[next].focus();
  });
  tabs.forEach(([name, label, view]) => {
    view.id = `view-${name}`;
    setAttr(view, "role", "tabpanel");
    setAttr(view, "aria-labelledby", `tab-${name}`);
  });
  store.view(["world", "hello", "agent"], (state) => {
    tabs.forEach(([name, label, , isEmpty], index) => {
      if (!isEmpty) return;
      const isGray = withheld(state, name) !== "" || isEmpty(state);
      heads[index].classList.toggle("is-empty", isGray);
      const why = withheld(state, name) || "nothing to see there";
      setAttr(heads[index], "title", `${label}  (${keyOf(index)})${isGray ? `: ${why}` : ""}`);
    });
  });
  store.view(["tab"], ({ tab }) => {
    tabs.forEach(([name, , view], index) => {
      setAttr(heads[index], "aria-selected", String(name === tab));
      setAttr(heads[index], "tabindex", name === tab ? 0 : -1);
      show(view, name === tab);
    });
  });
  return h(
    "section",
    { class: "center panel", "aria-label": "The chosen agent" },
    list,
    ...tabs.map(([, , view]) => view),
  );
}

/** The line above the tabs: who is looked at. */
export function agentHead(store, extra) {
  const name = h("strong", { class: "head-name" });
  const status = h("span", { class: "head-status" });
  const path = h("span", { class: "head-path" });
  store.view(["chosen", "agent"], ({ chosen, agent }) => {
    const snapshot = agent?.snapshot;
    setText(name, chosen ?? "no agent");
    setText(status, [snapshot?.kind, agent?.where, snapshot?.status_text].filter(Boolean).join(", "));
    setPath(path, snapshot?.error || snapshot?.running || "");
    path.classList.toggle("is-trouble", Boolean(snapshot?.error));
  });
  return h("div", { class: "agent-head" }, name, status, path, extra);
}

/** A message of the server, over the page until it is dismissed or replaced. */
export function messageBar(store) {
  const text = h("span", {});
  const bar = h(
    "div",
    { class: "message", role: "alert", hidden: true },
    text,
    button({ glyph: "close", name: "Dismiss", kind: "quiet" }, () => store.set({ message: "" })),
  );
  store.view(["message", "messageIsGood"], ({ message, messageIsGood }) => {
    setText(text, message);
    bar.classList.toggle("is-good", messageIsGood);
    show(bar, message !== "");
  });
  return bar;
}

/** Let the page look as `state.theme` says. */
export function themed(store) {
  store.view(["theme"], ({ theme }) => {
    document.documentElement.dataset.theme = theme;
    forgetColors();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    forgetColors();
    store.set({ world: store.state.world && { ...store.state.world } }); // drawings read the colors anew
  });
}

/** Choose the opposite of what is seen. */
export function switchTheme(store) {
  const { theme } = store.state;
  const isDark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  const next = isDark ? "light" : "dark";
  remember("theme", next);
  store.set({ theme: next });
}
