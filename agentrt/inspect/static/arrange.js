/**
 * How the list of agents is arranged: groups, order, an expression over their values, states; and what of that is in
 * force, so that nobody wonders where the others are.
 *
 * The controls are behind a button of the list's head. What narrows the list stands below the search, each with a cross
 * that takes it away, whether the controls are on the screen or not.
 */

import {
  arrange,
  doingWord,
  GROUP_WORDS,
  isArranged,
  listNote,
  PLAIN,
  SORT_WORDS,
  STATE_WORDS,
} from "./crowdmodel.js";
import { button, h, reconcile, setAttr, setText, show } from "./dom.js";

/**
 * Make the controls.
 *
 * @param {Store} store - the state.
 * @returns {{toggle: HTMLElement, element: HTMLElement}} the button for the head; what stands below the search.
 */
export function arrangeControls(store) {
  const toggle = button(
    { glyph: "arrange", name: "Groups, order, states", title: "Groups, order, states  (g)", kind: "quiet" },
    () => store.set({ isArranging: !store.state.isArranging }),
  );
  const group = choice("Groups", GROUP_WORDS, (value) => arrange(store, { group: value, folded: [] }));
  const sort = choice("Order", SORT_WORDS, (value) => arrange(store, { sort: value }));
  const down = h("button", {
    type: "button",
    class: "button quiet arrange-down",
    on: { click: () => arrange(store, { down: !store.state.arrange.down }) },
  });
  const value = h("input", {
    class: "input arrange-value",
    placeholder: "a value: hunger > 0.8",
    "aria-label": "An expression over the values of each agent, to show, sort and group by",
    title: "Names of values, numbers, + - * / %, < <= > >= == !=, and, or, not, abs, min, max",
    maxlength: 300,
    spellcheck: "false",
    autocomplete: "off",
    on: { change: () => pickValue(store, value.value) },
  });
  value.addEventListener("keydown", (event) => {
    if (event.key === "Enter") pickValue(store, value.value);
  });
  const states = Object.entries(STATE_WORDS).map(([state, [word, hint]]) =>
    h("button", {
      type: "button",
      class: `chip is-${state}`,
      title: `Only who is in this state: ${hint}`,
      text: word,
      on: { click: () => toggleState(store, state) },
    }),
  );
  const fold = h("button", {
    type: "button",
    class: "button quiet",
    on: { click: () => foldAll(store) },
  });
  const reset = button({ label: "Reset", title: "All agents, as they came", kind: "quiet arrange-reset" }, () => {
    store.set({ arrange: PLAIN, page: { ...store.state.page, offset: 0 } });
  });
  const panel = h(
    "div",
    { class: "arrange", role: "group", "aria-label": "How the list is arranged", hidden: true },
    h("div", { class: "arrange-line" }, group, fold),
    h("div", { class: "arrange-line" }, sort, down),
    h("div", { class: "arrange-line" }, value, reset),
    h("div", { class: "chips", role: "group", "aria-label": "States" }, ...states),
  );
  const filters = h("div", { class: "filters" });
  const note = h("p", { class: "list-note", role: "status" });

  const element = h("div", { class: "arranged" }, panel, filters, note);
  store.view(["arrange", "isArranging", "agents", "hello"], (state) => {
    const { arrange: now, isArranging, agents } = state;
    show(panel, isArranging);
    setAttr(toggle, "aria-pressed", String(isArranging));
    toggle.classList.toggle("is-on", isArranged(state));
    if (group.value !== now.group) group.value = now.group;
    group.disabled = Boolean(state.hello?.shards);
    setAttr(group, "title", group.disabled ? "The groups are the shards; order is within each" : null);
    if (sort.value !== now.sort) sort.value = now.sort;
    if (document.activeElement !== value && value.value !== now.value) value.value = now.value;
    setText(down, now.down ? "↓" : "↑");
    setAttr(down, "aria-label", now.down ? "Greatest first; turn round" : "Smallest first; turn round");
    setAttr(down, "title", now.down ? "The greatest, or the last, first" : "The smallest, or the first, first");
    const isFolded = now.folded.length > 0;
    setText(fold, isFolded ? "Unfold" : "Fold");
    setAttr(fold, "title", isFolded ? "Show who is in the groups" : "Show the groups alone, with how many are in each");
    show(fold, (now.group !== "" || group.disabled) && (isFolded || agents.groups?.length > 0));
    reset.disabled = !isArranged(state);
    setAttr(value, "aria-invalid", Boolean(agents.problem) && "true");
    Object.keys(STATE_WORDS).forEach((one, index) =>
      setAttr(states[index], "aria-pressed", String(now.states.includes(one))),
    );
    reconcile(filters, filtersOf(now), ([key]) => key, ([, words, patch]) => makeFilter(store, words, patch), () => {});
    show(filters, filters.childElementCount > 0);
  });
  store.view(["agents", "arrange", "isArranging", "world", "hello", "reading"], (state) => {
    const { text, isTrouble } = listNote(state);
    setText(note, text);
    note.classList.toggle("is-trouble", isTrouble);
    show(note, text !== "");
    element.classList.toggle("is-empty", panel.hidden && filters.hidden && note.hidden);
  });
  return { toggle, element };
}

function choice(label, words, pick) {
  const box = h("select", {
    class: "select",
    "aria-label": label,
    title: label,
    on: { change: () => pick(box.value) },
  });
  box.append(...Object.entries(words).map(([value, text]) => h("option", { value, text })));
  return box;
}

/** What is written as the value is what the list is in the order of, unless it is in groups by it. */
function pickValue(store, text) {
  const { arrange: now } = store.state;
  const value = text.trim();
  if (value === now.value.trim()) return;
  const patch = { value };
  if (value === "") {
    if (now.sort === "value") patch.sort = "";
    if (now.group === "value") patch.group = "";
  } else if (now.sort !== "value" && now.group !== "value") patch.sort = "value";
  arrange(store, patch);
}

function toggleState(store, state) {
  const { states } = store.state.arrange;
  arrange(store, { states: states.includes(state) ? states.filter((one) => one !== state) : [...states, state] });
}

/** Fold all groups that are known, or open all. */
function foldAll(store) {
  const { arrange: now, agents } = store.state;
  if (now.folded.length > 0) return arrange(store, { folded: [] });
  return arrange(store, { folded: (agents.groups ?? []).slice(0, 200) });
}

/** Fold a group, or open it. */
export function toggleGroup(store, label) {
  const { folded } = store.state.arrange;
  const others = folded.filter((one) => one !== label);
  const next = others.length < folded.length ? others : [...folded, label].slice(-200);
  store.set({ arrange: { ...store.state.arrange, folded: next } }); // the list stays where it is
}

function filtersOf({ states, doing }) {
  const found = states.map((state) => [
    `state ${state}`,
    STATE_WORDS[state][0],
    (now) => ({ states: now.states.filter((one) => one !== state) }),
  ]);
  if (doing !== null) found.push([`doing ${doing}`, `does ${doingWord(doing)}`, () => ({ doing: null })]);
  return found;
}

function makeFilter(store, words, patch) {
  return h(
    "span",
    { class: "filter" },
    h("span", { class: "filter-words", text: words }),
    button({ glyph: "close", name: `Not only: ${words}`, kind: "quiet" }, () =>
      arrange(store, patch(store.state.arrange)),
    ),
  );
}
