/**
 * The list of agents: find one, see at a glance what each does, choose the one that everything else is about.
 *
 * Only the part on the screen is asked for (`state.page`), because a world may have thousands: the server filters and
 * counts, the list is virtual, and the rows that are not there yet are blank for a moment. Rows that were on the screen
 * are kept until others replace them, so scrolling back shows something at once. The heads of groups are rows, too
 * (`arrange.js`).
 */

import { arrangeControls, toggleGroup } from "./arrange.js";
import { figureOf } from "./crowdmodel.js";
import { button, h, icon, setAttr, setClass, setText, show } from "./dom.js";
import { count, leafOf, plural } from "./format.js";
import { choose } from "./store.js";
import { VirtualList } from "./virtual.js";

const ROW_HEIGHT = 26;
const LARGEST_PAGE = 200;
const PAGE_STEP = 20;

/**
 * Make the list.
 *
 * @param {Store} store - the state.
 * @returns {{element: HTMLElement, move: function(number): void, focusSearch: function(): void}} the panel, a function
 *   that chooses the next (1) or the previous (-1) agent, and one that sets the cursor into the search.
 */
export function agentsPanel(store) {
  let known = new Map(); // rows by their place in the filtered list
  let knownFor = "";
  let arrangedFor = null;
  const kinds = new Set();
  let wanted = ""; // the search whose first agent is to be chosen, when the server has answered it

  const input = h("input", {
    type: "search",
    class: "input search",
    placeholder: "Search agents",
    title: "A part of a name; kind:wolf for a kind; run:attack for what they run or say  (/)",
    "aria-label": "Search agents by name; kind: and run: narrow the search",
    spellcheck: "false",
    autocomplete: "off",
    maxlength: 200,
    on: {
      input: () => {
        wanted = "";
        store.set({ search: input.value, page: { ...store.state.page, offset: 0 } });
      },
      keydown: (event) => {
        if (event.key !== "Enter" || input.value === "") return;
        wanted = input.value;
        chooseWanted(store.state.agents.rows);
      },
    },
  });
  const kindBox = h("select", {
    class: "select",
    "aria-label": "Kind of agent",
    title: "Kind of agent",
    on: { change: pickKind },
  });
  kindBox.append(h("option", { value: "", text: "All kinds" }));
  const tally = h("span", { class: "tally", "aria-live": "polite" });

  const list = new VirtualList({
    rowHeight: ROW_HEIGHT,
    label: "Agents",
    create: makeRow,
    update: (element, row) => fillRow(element, row, store.state),
    keyOf: (row) => (row.group === undefined ? row.name : `#${row.group}`),
    onScroll: (first, amount) => {
      // In steps: who scrolls does not ask anew with each row.
      const limit = Math.min(LARGEST_PAGE, amount + 3 * PAGE_STEP);
      const offset = Math.max(0, (Math.floor(first / PAGE_STEP) - 1) * PAGE_STEP);
      const page = store.state.page;
      if (page.offset !== offset || page.limit !== limit) store.set({ page: { offset, limit } });
    },
  });
  list.element.addEventListener("click", (event) => {
    const row = event.target.closest(".agent-row");
    if (row?.dataset.group !== undefined) toggleGroup(store, row.dataset.group);
    else if (row?.dataset.name !== undefined) choose(store, row.dataset.name);
  });
  list.element.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const group = event.key === "ArrowLeft" ? groupOf(store.state.chosen) : undefined;
    if (by === undefined && group === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (by !== undefined) move(by);
    else toggleGroup(store, group);
  });
  const empty = h("div", { class: "empty", text: "No agent matches." });

  function pickKind() {
    const others = store.state.search.split(/\s+/).filter((word) => word && !word.startsWith("kind:"));
    const search = [...others, kindBox.value ? `kind:${kindBox.value}` : ""].filter(Boolean).join(" ");
    input.value = search;
    store.set({ search, page: { ...store.state.page, offset: 0 } });
  }

  function draw({ agents, search, chosen, arrange }) {
    if (search !== knownFor || arrange !== arrangedFor) {
      const isFolding = arrangedFor !== null && search === knownFor && arrange.folded !== arrangedFor.folded;
      if (!isFolding) list.toTop();
      known = new Map();
      knownFor = search;
      arrangedFor = arrange;
    }
    const length = agents.length ?? agents.matching;
    for (const index of known.keys()) if (index >= length) known.delete(index);
    agents.rows.forEach((row, index) => {
      known.set(agents.offset + index, row);
      if (row.kind && !kinds.has(row.kind) && kinds.size < 100) addKind(row.kind);
    });
    const kind = /(?:^|\s)kind:(\S*)/.exec(search)?.[1] ?? "";
    if (kindBox.value !== kind) kindBox.value = kinds.has(kind) ? kind : "";
    setText(
      tally,
      agents.matching === agents.total ? count(agents.total) : `${count(agents.matching)} of ${count(agents.total)}`,
    );
    show(empty, agents.matching === 0 && agents.total > 0);
    list.show(length, (index) => known.get(index));
    list.setCurrent(placeOf(chosen));
    if (wanted !== "") queueMicrotask(() => chooseWanted(agents.rows));
  }

  /** Rows may still be those of the search before; so the names are looked at, too. */
  function chooseWanted(rows) {
    const words = wanted.toLowerCase().split(/\s+/);
    const names = words.filter((word) => !word.startsWith("kind:") && !word.startsWith("run:"));
    const row = rows.find(({ name }) => names.every((word) => name?.toLowerCase().includes(word)));
    if (row === undefined) return;
    wanted = "";
    input.blur();
    choose(store, row.name);
  }

  function addKind(kind) {
    kinds.add(kind);
    const before = [...kindBox.options].find((option) => option.value > kind) ?? null;
    kindBox.insertBefore(h("option", { value: kind, text: kind }), before);
  }

  function placeOf(name) {
    for (const [index, row] of known) if (row.name === name) return index;
    return -1;
  }

  function move(by) {
    const { chosen, agents } = store.state;
    const place = placeOf(chosen);
    const last = (agents.length ?? agents.matching) - 1;
    let next = Math.min(last, Math.max(0, place < 0 ? 0 : place + by));
    while (known.get(next)?.group !== undefined && next + by >= 0 && next + by <= last) next += by; // past a head
    const row = known.get(next);
    if (row === undefined || row.group !== undefined) return;
    list.reveal(next);
    choose(store, row.name);
  }

  /** The group that an agent stands in. */
  function groupOf(name) {
    let place = placeOf(name);
    while (place >= 0 && known.get(place)?.group === undefined) place -= 1;
    return known.get(place)?.group;
  }

  const arranged = arrangeControls(store);
  store.view(["agents", "search", "chosen", "arrange"], draw);
  const clear = button({ glyph: "close", name: "Clear the search", kind: "quiet clear" }, () => {
    input.value = "";
    store.set({ search: "" });
    input.focus();
  });
  store.view(["search"], ({ search }) => {
    show(clear, search !== "");
    if (input.value !== search) input.value = search;
  });
  const element = h(
    "aside",
    { class: "agents panel", "aria-label": "Agents" },
    h("div", { class: "panel-head" }, h("h2", { text: "Agents" }), tally, kindBox, arranged.toggle),
    h("div", { class: "search-box" }, icon("search"), input, clear),
    arranged.element,
    list.element,
    empty,
  );
  const arrange = () => {
    store.set({ isArranging: !store.state.isArranging });
    requestAnimationFrame(() => arranged.element.querySelector(".arrange:not([hidden]) select")?.focus());
  };
  return { element, move, arrange, focusSearch: () => input.select() };
}

function makeRow() {
  return h(
    "div",
    { class: "agent-row" },
    h("span", { class: "dot" }),
    h("span", { class: "agent-name" }),
    h("span", { class: "agent-badge" }),
    h("span", { class: "agent-status" }),
    h("span", { class: "agent-figure" }),
  );
}

function fillRow(element, row, { chosen, arrange, agents }) {
  const [dot, name, badge, status, figure] = element.children;
  if (row === undefined || row.group !== undefined) {
    setClass(element, `agent-row virtual-row ${row === undefined ? "is-blank" : "is-head"}`);
    delete element.dataset.name;
    for (const child of [name, badge, status, figure]) setText(child, "");
    if (row !== undefined) fillHead(element, row);
    return;
  }
  element.dataset.name = row.name;
  const look = lookOf(row);
  setClass(element, `agent-row virtual-row${row.name === chosen ? " is-chosen" : ""}${row.alive ? "" : " is-gone"}`);
  setAttr(element, "aria-selected", row.name === chosen ? "true" : "false");
  const where = row.shard === undefined ? "" : `, shard ${row.shard}`;
  const who = `${row.name} (${row.kind || "agent"}${where})`;
  setAttr(element, "title", `${who}: ${look.word}\n${row.running || "runs nothing"}`);
  setClass(dot, `dot ${look.state}`);
  setText(name, row.name);
  const home = row.shard === undefined ? "" : `s${row.shard}`;
  setText(badge, row.waiting ? "waits" : row.aborts > 0 ? `${row.aborts}× abort` : home);
  setClass(badge, `agent-badge ${row.waiting ? "is-waiting" : row.aborts > 0 ? "is-trouble" : ""}`);
  setText(status, row.alive ? row.status || row.doing || leafOf(row.running) : "removed");
  setText(figure, figureOf(row, arrange, agents.unit));
  setAttr(figure, "title", row.problem || null);
}

function fillHead(element, { group, count: amount, folded }) {
  const [dot, name, , status] = element.children;
  element.dataset.group = group;
  element.classList.toggle("is-folded", folded);
  setClass(dot, "dot");
  setText(name, group);
  setText(status, count(amount));
  setAttr(element, "aria-expanded", String(!folded));
  setAttr(element, "aria-label", `group ${group}: ${plural(amount, "agent")}`);
  setAttr(element, "title", `${folded ? "Show" : "Hide"} who is in this group`);
}

/** The color of an agent's dot, and the word for it. */
function lookOf(row) {
  if (!row.alive) return { state: "idle", word: "removed" };
  if (row.aborts > 0) return { state: "impossible", word: "aborts" };
  if (row.waiting) return { state: "started", word: "waits for a control flag" };
  if (row.running || row.doing) return { state: "running", word: row.status || row.doing || "runs" };
  if (row.models.length === 0) return { state: "idle", word: row.status || "driven by nothing" };
  return row.models.includes("plan")
    ? { state: "thinking", word: "thinks" }
    : { state: "ready", word: "driven by a model" };
}
