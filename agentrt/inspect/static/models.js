/**
 * The models that drive an agent beside its plan: goals, targets, behavior tree, selection tree; in the order of a
 * tick.
 *
 * Each driver has a card. Its head says how it takes part (rank, how often, with which precedence it claims flags); its
 * body is made by the model's own view: a table of goals, or an outline with what belongs to it (stimuli, variables,
 * flags). A model that the page does not know is shown by the lines that it composed itself. Cards are kept while their
 * driver is there.
 */

import { fill, h, reconcile, setAttr, setClass, setText, show } from "./dom.js";
import { whyNothing } from "./emptiness.js";
import { gameTime, plain } from "./format.js";
import { forceWord } from "./handsmodel.js";
import { outlineOfPath, outlineRows, outlineTree } from "./outline.js";
import { sourceLine } from "./sources.js";

const MODEL_WORDS = {
  goals: "goal selector",
  targets: "target selector",
  behavior: "behavior tree",
  selection: "selection tree",
};

/**
 * Make the view.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the panel.
 */
export function modelsView(store) {
  const cards = h("div", { class: "cards" });
  const empty = h("div", { class: "empty" });
  store.view(["agent", "chosen", "outlines", "toggled", "selection", "hands", "files", "places"], (state) => {
    const drivers = state.agent?.snapshot?.drivers ?? [];
    const keyOf = (driver) => `${driver.name}:${modelOf(driver)}`;
    reconcile(
      cards,
      drivers,
      keyOf,
      (driver) => makeCard(store, driver),
      (card, driver) => card.draw(driver, state),
    );
    show(empty, drivers.length === 0);
    setText(empty, whyNothing(state) || `Nothing but its plan drives ${state.agent.name}.`);
  });
  return h("div", { class: "view models-view" }, h("div", { class: "scroll" }, cards, empty));
}

/** What kind of model a driver is. */
function modelOf(driver) {
  if (driver.model) return driver.model;
  const state = driver.state ?? {};
  if (Array.isArray(state.goals)) return "goals";
  if (Array.isArray(state.path)) return "behavior";
  return Array.isArray(state.variables) ? "selection" : "";
}

function makeCard(store, driver) {
  const model = modelOf(driver);
  const meta = h("span", { class: "card-meta" });
  const name = h("h3", { text: driver.name });
  const makers = { goals: goalsBody, targets: goalsBody, behavior: behaviorBody, selection: selectionBody };
  const body = (makers[model] ?? linesBody)(store, driver);
  const source = sourceLine(store);
  const card = h(
    "section",
    { class: "card", "aria-label": `${MODEL_WORDS[model] ?? "model"} ${driver.name}` },
    h("header", {}, name, h("span", { class: "tag", text: MODEL_WORDS[model] ?? "model" }), meta),
    source.element,
    body.element,
  );
  card.draw = (view, state) => {
    source.draw(view, state);
    const every = view.every === 1 ? "each tick" : `each ${view.every} ticks`;
    setText(meta, `rank ${view.rank} · ${every} · precedence ${view.precedence}`);
    body.draw(view, state);
  };
  return card;
}

// --- goals -----------------------------------------------------------------------------------------------------------

const GOAL_DOTS = {
  running: "running",
  busy: "running",
  pending: "started",
  ending: "switching",
  disabled: "impossible",
  idle: "idle",
};

function goalsBody(store) {
  const rows = h("tbody");
  const table = h(
    "table",
    { class: "grid goals" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ...["Goal", "Priority", "Flags", "State", "Since", "Why"].map((text) => h("th", { scope: "col", text })),
      ),
    ),
    rows,
  );
  const foot = h("div", { class: "card-foot" });
  return {
    element: h("div", {}, table, foot),
    draw(driver, all) {
      const { selection } = all;
      const state = driver.state ?? {};
      const locked = new Map((state.locked ?? []).map(([flag, goal]) => [flag, goal]));
      reconcile(
        rows,
        state.goals ?? [],
        (goal) => goal.name,
        () => makeGoal(),
        (row, goal) => {
          row.onclick = () =>
            store.set({ selection: { what: "goal", driver: driver.name, name: goal.name, path: goal.path } });
          const isSelected =
            selection?.what === "goal" && selection.driver === driver.name && selection.name === goal.name;
          fillGoal(row, goal, locked, isSelected, forceWord(all, all.chosen, "goal", goal.name));
        },
      );
      const held = [...locked].map(([flag, goal]) => `${flag} is locked by ${goal}`);
      if (state.disabled?.length) held.push(`disabled: ${state.disabled.join(" ")}`);
      setText(foot, held.join(" · "));
      show(foot, held.length > 0);
    },
  };
}

function makeGoal() {
  const dot = h("span", { class: "dot" });
  const name = h("span", { class: "cell-name" });
  const hand = h("span", { class: "hand-tag" });
  const flags = h("td");
  const cells = [
    h("td", {}, dot, name, hand),
    h("td", { class: "num" }),
    flags,
    h("td"),
    h("td", { class: "num" }),
    h("td", { class: "why" }),
  ];
  const row = h("tr", {}, ...cells);
  row.parts = { dot, name, hand, flags, cells };
  return row;
}

function fillGoal(row, goal, locked, isSelected, hand) {
  const { dot, name, hand: tag, flags, cells } = row.parts;
  setText(tag, hand);
  setClass(tag, `hand-tag is-${hand}`);
  const isRunning = goal.state === "running" || goal.state === "busy";
  setClass(row, `${isRunning ? "on-branch" : ""}${isSelected ? " is-selected" : ""}`);
  setClass(dot, `dot ${GOAL_DOTS[goal.state] ?? "idle"}`);
  setText(name, goal.name);
  setText(cells[1], goal.priority);
  reconcile(
    flags,
    goal.flags ?? [],
    (flag) => flag,
    (flag) => h("span", { class: "flag", text: flag }),
    (chip, flag) => setClass(chip, locked.get(flag) === goal.name ? "flag is-held" : "flag"),
  );
  setText(cells[3], goal.state);
  setClass(cells[3], `state-word ${GOAL_DOTS[goal.state] ?? "idle"}`);
  setText(cells[4], isRunning && goal.since ? goal.since : "");
  setText(cells[5], goal.reason ?? "");
  setAttr(cells[5], "title", goal.reason || null);
}

// --- trees -----------------------------------------------------------------------------------------------------------

function treeOf(store, driver) {
  const tree = outlineTree(
    `${driver.name}: the whole tree`,
    (row, open) => store.set({ toggled: { ...store.state.toggled, [row.key]: open } }),
    (row) =>
      store.set({
        selection: { what: "node", driver: driver.name, path: row.path, key: row.key, name: row.node.name },
      }),
  );
  return {
    element: tree.element,
    draw(view, state) {
      const outline = state.outlines[view.name] ?? outlineOfPath(view);
      const rows = outline ? outlineRows(outline, view, state.toggled) : [];
      const kind = modelOf(view) === "selection" ? "leaf" : "decider";
      for (const row of rows) row.hand = forceWord(state, state.chosen, kind, row.node.name);
      tree.show(rows, state.selection?.key ?? null);
    },
  };
}

function behaviorBody(store, driver) {
  const tree = treeOf(store, driver);
  const stimuli = section("Perceives");
  const trouble = section("Held up");
  const print = h("pre", { class: "print" });
  const printed = h("details", { class: "fold" }, h("summary", { text: "State print" }), print);
  return {
    element: h("div", {}, tree.element, stimuli.element, trouble.element, printed),
    draw(view, state) {
      tree.draw(view, state);
      const memory = view.state ?? {};
      stimuli.chips(
        (memory.stimuli ?? []).map((one) => one.token + (one.remaining === null ? "" : ` ${gameTime(one.remaining)}`)),
      );
      trouble.chips([
        ...(memory.waiting ?? []).map((path) => `${path} waits for control flags`),
        ...(memory.disabled ?? []).map((path) => `${path} is disabled`),
        ...(memory.is_cleaning_up ? ["cleaning up"] : []),
      ]);
      setText(print, memory.print ?? "");
      show(printed, Boolean(memory.print));
    },
  };
}

function selectionBody(store, driver) {
  const tree = treeOf(store, driver);
  const now = h("div", { class: "card-line" });
  const variables = section("Variables");
  const rest = section("Held up");
  return {
    element: h("div", {}, now, tree.element, variables.element, rest.element),
    draw(view, state) {
      tree.draw(view, state);
      const memory = view.state ?? {};
      const phase = memory.phase && memory.phase !== "active" && memory.phase !== "none" ? `, ${memory.phase}` : "";
      const flags = memory.flags?.length ? `, holds ${memory.flags.join(" ")}` : "";
      fill(
        now,
        h("strong", { text: memory.behavior ?? "" }),
        h("span", { text: ` is selected by ${memory.leaf || "no leaf"} of ${memory.tree}${phase}${flags}` }),
      );
      variables.pairs(memory.variables ?? []);
      rest.chips([
        ...(memory.waits_for ? [`${memory.waits_for} would be selected, but its control flags are held`] : []),
        ...(memory.out ?? []).map(([behavior, path]) => `${behavior} is out: it raised at ${path}`),
        ...(memory.routines?.length ? [`coroutines: ${memory.routines.join(", ")}`] : []),
      ]);
    },
  };
}

function linesBody() {
  const text = h("pre", { class: "print" });
  return { element: text, draw: (view) => setText(text, (view.lines ?? []).join("\n") || plain(view.state)) };
}

/** A line of chips under a heading; it is not there while it is empty. */
function section(title) {
  const chips = h("div", { class: "chips" });
  const element = h("div", { class: "card-section" }, h("h4", { text: title }), chips);
  return {
    element,
    chips(texts) {
      show(element, texts.length > 0);
      reconcile(
        chips,
        texts,
        (text) => text,
        (text) => h("span", { class: "chip", text }),
        () => {},
      );
    },
    pairs(pairs) {
      show(element, pairs.length > 0);
      reconcile(
        chips,
        pairs,
        ([name]) => name,
        ([name]) => h("span", {}, h("span", { class: "dot" }), name, h("b")),
        (chip, [, value]) => {
          setClass(chip, `chip variable ${value ? "is-true" : "is-false"}`);
          setClass(chip.firstChild, `dot ${value ? "running" : "idle"}`);
          setText(chip.lastChild, String(value));
        },
      );
    },
  };
}
