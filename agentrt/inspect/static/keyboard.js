/**
 * The keys, in one table: what the page does with a key and what the help says about it cannot differ.
 *
 * A button that was pressed with the pointer gives the focus back, so that the next key is the page's and does not
 * press it again. Keys of a control that has the focus (a text field, a tree, a slider, a list) go to that control
 * first: those that it uses stop there. Nothing is bound to keys with Ctrl, Alt or Meta: they are the browser's.
 */

import { button, h } from "./dom.js";

const TYPING = new Set(["INPUT", "SELECT", "TEXTAREA"]);

/**
 * The keys of the page.
 *
 * @param {object} act - what they do; see `app.js`.
 * @returns {[string[], string, string, function(KeyboardEvent): void][]} keys, how the help writes them, what they do
 *   in words, and the function.
 */
function keyTable(act) {
  return [
    [[" "], "space", "pause and resume; in a recording: play", () => act.toggleRun()],
    [[".", ">", ":"], ".", "run one tick (shift: ten)", (event) => act.step(event.shiftKey ? 10 : 1)],
    [["/"], "/", "search agents (Enter: choose the first)", () => act.search()],
    [["g"], "g", "agents: groups, order, states", () => act.arrange()],
    [["j"], "j", "next agent", () => act.move(1)],
    [["k"], "k", "previous agent", () => act.move(-1)],
    [
      ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"],
      "1 … 9, 0",
      "Plan, Models, Why, Events, Performance, Strategies, World, What if, Control, Edit",
      (event) => act.tab((Number(event.key) + 9) % 10),
    ],
    [["c"], "c", "Crowd: how many do what", () => act.tab(10)],
    [["m"], "m", "Thoughts: what the mind is asked", () => act.tab(11)],
    [["ArrowLeft"], "←", "one tick back, in a run too (shift: ten)", (event) => act.scrub(event.shiftKey ? -10 : -1)],
    [["ArrowRight"], "→", "one tick on (shift: ten)", (event) => act.scrub(event.shiftKey ? 10 : 1)],
    [["Home"], "Home", "to the first tick that is kept", () => act.scrub(-Infinity)],
    [["End"], "End", "to the last tick; in a run, to now", () => act.scrub(Infinity)],
    [["n"], "n", "back to now", () => act.now()],
    [["+", "="], "+", "time line: zoom in", () => act.zoom(1 / 1.5)],
    [["-"], "−", "time line: zoom out", () => act.zoom(1.5)],
    [["f"], "f", "time line: follow the run", () => act.follow()],
    [["b"], "b", "set or remove a breakpoint on what is selected", () => act.breakHere()],
    [["w"], "w", "watch an expression over time", () => act.watchValue()],
    [["r"], "r", "the last reload: what changed, who took it up", () => act.reload()],
    [["s"], "s", "share: a link to this tick, a recording as one file", () => act.share()],
    [["t"], "t", "light or dark", () => act.theme()],
    [["Escape"], "Esc", "select nothing; leave the search, and the thought that is read", () => act.escape()],
    [["?"], "?", "this help", () => act.help()],
  ];
}

/**
 * Bind the keys.
 *
 * @param {object} act - what they do.
 * @returns {{help: function(): void, dialog: HTMLElement}} a function that opens the help, and its dialog.
 */
export function bindKeys(act) {
  const dialog = helpDialog(act);
  const help = () => (dialog.open ? dialog.close() : dialog.showModal());
  const table = keyTable({ ...act, help });
  const byKey = new Map(table.flatMap(([keys, , , run]) => keys.map((key) => [key, run])));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const target = event.target;
    const isTyping = TYPING.has(target.tagName) && target.type !== "range" && target.type !== "checkbox";
    if (isTyping && event.key !== "Escape") return;
    if (target.type === "range" && (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End"))
      return;
    if (event.key === " " && target.closest("button, summary, label")) return; // presses the button that has the focus
    if (dialog.open && event.key !== "?") return;
    if (target.closest("dialog") && !dialog.open) return;
    const run = byKey.get(event.key);
    if (run === undefined) return;
    event.preventDefault();
    run(event);
  });
  document.addEventListener("click", (event) => {
    if (event.detail > 0) event.target.closest("button")?.blur();
  });
  return { help, dialog };
}

function helpDialog(act) {
  const rows = keyTable(act).map(([, keys, words]) =>
    h(
      "div",
      {},
      h("dt", {}, ...keys.split(" ").map((key) => (key === "…" ? " … " : h("kbd", { text: key })))),
      h("dd", { text: words }),
    ),
  );
  const dialog = h("dialog", { class: "help", "aria-label": "Keys" });
  dialog.append(
    h(
      "header",
      {},
      h("h2", { text: "Keys" }),
      button({ glyph: "close", name: "Close", kind: "quiet" }, () => dialog.close()),
    ),
    h("dl", {}, ...rows),
    h("p", {
      text:
        "Trees: arrow keys move, open and close. Time line: the wheel zooms, dragging moves, a double click goes " +
        "there in time. World: the wheel zooms, dragging and arrow keys move, a click chooses. " +
        "Search: kind:wolf, run:attack.",
    }),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}
