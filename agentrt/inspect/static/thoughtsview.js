/**
 * The tab about the runtime's mind: its figures, the thoughts under way, waiting and over, and who has used how much.
 *
 * A click on a thought shows it whole, in the place of the lists: a prompt is long, and nothing moves while it is read.
 * What was asked and answered is told only to who has controls (`thoughttext.js`). The chosen agent's thoughts are
 * marked.
 */

import { h, reconcile, setAttr, setClass, setText, show } from "./dom.js";
import { count } from "./format.js";
import { isOver } from "./past.js";
import { choose } from "./store.js";
import {
  ageOf,
  figuresOf,
  GROUP_HEADS,
  isUnasked,
  moneyWords,
  openThought,
  standingOf,
  stateOf,
  whatFor,
  wordsOf,
} from "./thoughtsmodel.js";
import { thoughtDetail } from "./thoughttext.js";

const LISTS = [
  ["thought", "Thoughts"],
  ["agent", "Agents"],
];

/**
 * Make the view.
 *
 * @param {Store} store - the state.
 * @param {Connection} connection - asks the server for a prompt.
 * @returns {HTMLElement} the panel.
 */
export function thoughtsView(store, connection) {
  const lists = LISTS.map(([which, text]) =>
    h("button", { type: "button", class: "segment", text, on: { click: () => store.set({ thoughtsBy: which }) } }),
  );
  const bar = h(
    "div",
    { class: "toolbar" },
    h("div", { class: "segments", role: "group", "aria-label": "What to list" }, ...lists),
  );
  const figures = h("dl", { class: "mind-figures", "aria-label": "The mind" });
  const thoughts = h("div", { class: "thoughts", role: "list", "aria-label": "Thoughts" });
  const users = usersTable(store);
  const detail = thoughtDetail(store, connection);
  const why = h("p", {});
  const empty = h("div", { class: "empty" }, why);

  thoughts.addEventListener("click", (event) => {
    const row = event.target.closest(".thought");
    if (row === null) return;
    if (event.target.closest(".thought-agent")) choose(store, row.dataset.agent);
    else openThought(store, Number(row.dataset.number));
  });

  store.view(["mind", "world", "tab", "chosen", "hello", "thoughtId", "thoughtsBy"], (state) => {
    if (state.tab !== "thoughts") return;
    const { mind, thoughtId, thoughtsBy, world, hello } = state;
    const whyNot = whyNoThoughts(state);
    const isList = whyNot === "" && thoughtId === 0;
    show(empty, whyNot !== "");
    setText(why, whyNot);
    show(detail, whyNot === "" && thoughtId !== 0);
    for (const part of [bar, figures]) show(part, isList);
    show(thoughts, isList && thoughtsBy === "thought");
    show(users.element, isList && thoughtsBy === "agent");
    if (!isList) return;
    lists.forEach((one, index) => setAttr(one, "aria-pressed", String(LISTS[index][0] === thoughtsBy)));
    const [tick, rate] = [world?.tick ?? 0, hello?.ticks_per_second ?? 0];
    reconcile(figures, figuresOf(mind, tick, rate), ({ name }) => name, makeFigure, fillFigure);
    if (thoughtsBy === "agent") users.draw(state);
    else
      reconcile(
        thoughts,
        mind.groups.flatMap(itemsOf),
        ({ key }) => key,
        ({ row }) => (row ? makeRow() : h("div", {})),
        (element, item) => (item.row ? fillRow(element, item.row, state, tick, rate) : fillLine(element, item)),
      );
  });
  const scroll = h("div", { class: "scroll" }, empty, figures, thoughts, users.element, detail);
  return h("div", { class: "view thoughts-view" }, bar, scroll);
}

/** Why there is nothing to see; empty if there is. */
function whyNoThoughts(state) {
  const { mind, world } = state;
  if (isOver(state)) {
    if (!mind?.recorded) return "Reading what became of thoughts …";
    if (!isUnasked(mind)) return "";
    const since = mind.since > 1 ? `from tick ${count(mind.since)}, the first that is kept, ` : "";
    return `No language model was asked ${since}up to tick ${count(world?.tick ?? 0)}.`;
  }
  if (world?.mind === false)
    return "This runtime has no mind: nothing in it asks a language model. See docs/how-to/minds.md.";
  return mind === null || mind.recorded ? "Looking at the mind …" : "";
}

function makeFigure({ name }) {
  return h("div", { class: "figure" }, h("dt", { text: name }), h("dd", {}));
}

function fillFigure(element, { value, isTrouble }) {
  setText(element.lastChild, value);
  setAttr(element.lastChild, "title", value);
  setClass(element, `figure${isTrouble ? " is-trouble" : ""}`);
}

/** A group of thoughts as lines of the list: its head, its rows, and how many more there are. */
function itemsOf({ name, rows, more }) {
  const [head, none] = GROUP_HEADS[name] ?? [name, ""];
  const amount = rows.length + more;
  const text = `${head}: ${amount === 0 ? none : count(amount)}`;
  const items = [{ key: `head ${name}`, kind: "head", text }];
  for (const row of rows) items.push({ key: `thought ${row.number}`, row });
  if (more > 0) items.push({ key: `more ${name}`, kind: "more", text: `and ${count(more)} more` });
  return items;
}

function fillLine(element, { kind, text }) {
  setClass(element, `thoughts-${kind}`);
  setAttr(element, "role", kind === "head" ? "heading" : "listitem");
  setAttr(element, "aria-level", kind === "head" ? 3 : null);
  setText(element, text);
}

function makeRow() {
  const parts = {
    dot: h("span", { class: "dot" }),
    agent: h("button", { type: "button", class: "link thought-agent" }),
    what: h("button", { type: "button", class: "link thought-what" }),
    model: h("span", { class: "thought-model" }),
    state: h("span", { class: "thought-state" }),
    age: h("span", { class: "thought-age" }),
    tokens: h("span", { class: "thought-tokens" }),
    words: h("span", { class: "thought-words" }),
  };
  const { dot, agent, ...rest } = parts;
  const who = h("span", { class: "thought-who" }, dot, agent);
  return Object.assign(h("div", { role: "listitem" }, who, ...Object.values(rest)), { parts });
}

function fillRow(element, row, { chosen }, tick, rate) {
  const { parts } = element;
  const [, look] = stateOf(row);
  element.dataset.number = row.number;
  element.dataset.agent = row.agent;
  setClass(element, `thought is-${row.state}${row.agent === chosen ? " is-chosen" : ""}`);
  setClass(parts.dot, `dot ${look}`);
  setText(parts.agent, row.agent);
  setAttr(parts.agent, "title", `Look at ${row.agent}`);
  setText(parts.what, whatFor(row));
  setAttr(parts.what, "title", `Thought ${row.number}, ${row.path}`);
  setText(parts.model, row.model);
  setAttr(parts.model, "title", row.model);
  setText(parts.state, standingOf(row));
  setText(parts.age, ageOf(row, tick, rate));
  setAttr(parts.age, "title", row.ended ? "from asking to its end, in game time" : "since it was asked, in game time");
  setText(parts.tokens, row.tokens > 0 ? `${count(row.tokens)} tokens` : "");
  const words = wordsOf(row);
  setText(parts.words, words);
  setAttr(parts.words, "title", words || null);
  show(parts.words, words !== "");
}

/** What each agent has used, who used most first. */
function usersTable(store) {
  const body = h("tbody", {});
  const more = h("p", { class: "thoughts-more" });
  const heads = ["Agent", "Calls", "Tokens", "Money"].map((text) => h("th", { scope: "col", text }));
  const table = h("table", { class: "thought-users" }, h("thead", {}, h("tr", {}, ...heads)), body);
  const make = () =>
    h(
      "tr",
      {},
      h("td", {}, h("button", { type: "button", class: "link" })),
      ...[1, 2, 3].map(() => h("td", { class: "is-number" })),
    );
  body.addEventListener("click", (event) => {
    const row = event.target.closest("button")?.closest("tr");
    if (row) choose(store, row.dataset.agent);
  });
  function draw({ mind, chosen }) {
    reconcile(body, mind.agents, ([name]) => name, make, (element, [name, calls, tokens, money]) => {
      element.dataset.agent = name;
      setClass(element, name === chosen ? "is-chosen" : "");
      setText(element.firstChild.firstChild, name);
      [count(calls), count(tokens), moneyWords(money)].forEach((text, at) => setText(element.children[at + 1], text));
    });
    const words = mind.more_agents > 0 ? `and ${count(mind.more_agents)} more, who used less` : "";
    setText(more, mind.agents.length === 0 ? "nobody has asked yet" : words);
    show(more, more.textContent !== "");
  }
  return { element: h("div", {}, table, more), draw };
}
