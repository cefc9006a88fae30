/**
 * The explanation: why the agent does what it does and why nothing else, in the library's own words.
 *
 * A server sends what has changed, so the text may be of an earlier tick; a line below it says so.
 *
 * The text is composed by `agentrt`, the same that `agent.explain()` gives; the page indents it, sets what is in angle
 * brackets and what runs apart, and changes no word. Lines are kept while they stay the same, so that text can be
 * marked and copied while the run goes on.
 */

import { h, reconcile, setClass, setText, show } from "./dom.js";
import { whyNothing } from "./emptiness.js";
import { count } from "./format.js";

/**
 * Make the view.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the panel.
 */
export function explainView(store) {
  const lines = h("div", { class: "explain", role: "document", tabindex: 0, "aria-label": "Explanation" });
  const empty = h("div", { class: "empty" });
  const since = h("div", { class: "as-of" });
  store.view(["agent", "chosen", "tab", "world"], (state) => {
    const { agent, tab, world } = state;
    if (tab !== "explain") return;
    const isOlder = agent !== null && world !== null && world.tick > agent.tick;
    setText(since, isOlder ? `nothing has changed since tick ${count(agent.tick)}` : "");
    const texts = (agent?.explain ?? "").split("\n").filter((line) => line.trim());
    show(empty, texts.length === 0);
    setText(empty, whyNothing(state));
    reconcile(
      lines,
      texts,
      (text) => text,
      makeLine,
      (line, text, index) => setClass(line, classOf(text, index)),
    );
  });
  return h("div", { class: "view explain-view" }, h("div", { class: "scroll" }, lines, empty, since));
}

function makeLine(text) {
  const indent = text.length - text.trimStart().length;
  const line = h("div", {}, ...marked(text.trim()));
  line.style.paddingLeft = `${16 + indent * 7}px`;
  return line;
}

/** A line with what is in angle brackets, and numbers, set apart. */
function marked(text) {
  return text
    .split(/(<[^<>]*>|[+-]?\d+\.\d+)/)
    .filter(Boolean)
    .map((part) =>
      part.startsWith("<")
        ? h("span", { class: "activity", text: part })
        : /^[+-]?\d+\.\d+$/.test(part)
          ? h("span", { class: "number", text: part })
          : part,
    );
}

function classOf(text, index) {
  if (index === 0) return "first";
  if (/\b(rejected|impossible|refused|aborts? in a row|raised|killed)\b/.test(text)) return "trouble";
  return /(\brunning\b|\bis active\b|^\s*\* )/.test(text) && !/\bfinished\b/.test(text) ? "runs" : "";
}
