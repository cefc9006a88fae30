/**
 * The log of events: records of the trace as they happen, filtered by the server, the newest at the end.
 *
 * The log follows the end until the user scrolls away from it, and again when he comes back to it. Choosing a record
 * chooses its agent and, if the plan has that place, its node; the side panel shows the record whole. What is not here
 * is counted: records that were dropped on the way are named in the toolbar and never passed over in silence.
 */

import { EVENT_GROUPS } from "./connection.js";
import { h, setAttr, setClass, setPath, setText, show } from "./dom.js";
import { count, detailLine } from "./format.js";
import { choose } from "./store.js";
import { VirtualList } from "./virtual.js";

const ROW_HEIGHT = 21;
const GROUP_WORDS = {
  running: "Running",
  choices: "Choices",
  thinking: "Thinking",
  trouble: "Trouble",
  solving: "Solving",
  minds: "Minds",
  world: "World",
};

/**
 * Make the view.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the panel.
 */
export function eventsView(store) {
  let follows = true;
  let placed = 0; // where the page has scrolled to by itself: that it did comes as an event, too, and later
  const change = (patch) => store.set({ eventFilter: { ...store.state.eventFilter, ...patch } });

  function toEnd() {
    list.toEnd();
    placed = list.element.scrollTop;
  }

  const list = new VirtualList({
    rowHeight: ROW_HEIGHT,
    label: "Events",
    create: makeRow,
    update: (element, record) => fillRow(element, record, store.state.selection),
    keyOf: (record) => String(record.number),
  });
  new ResizeObserver(() => follows && toEnd()).observe(list.element); // also when it comes to be seen
  list.element.addEventListener("scroll", () => {
    const { scrollTop, clientHeight } = list.element;
    if (clientHeight > 0 && scrollTop !== placed) follows = list.isAtEnd();
    setAttr(newest, "aria-pressed", String(follows));
  });
  list.element.addEventListener("click", (event) => {
    const number = Number(event.target.closest(".event-row")?.dataset.number);
    const record = store.state.events.find((one) => one.number === number);
    if (record !== undefined) pick(store, record);
  });
  list.element.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const { events, selection } = store.state;
    const at = events.findIndex((one) => one === selection?.record);
    const next = Math.min(events.length - 1, Math.max(0, at < 0 ? events.length - 1 : at + by));
    if (events[next] === undefined) return;
    list.reveal(next);
    pick(store, events[next]);
  });

  const text = h("input", {
    type: "search",
    class: "input",
    placeholder: "Filter events",
    "aria-label": "Filter events by a part of their text",
    spellcheck: "false",
    maxlength: 200,
    on: { input: () => change({ text: text.value }) },
  });
  const only = toggle("This agent", "Only the events of the chosen agent", () =>
    change({ only: !store.state.eventFilter.only }),
  );
  const groups = Object.keys(EVENT_GROUPS).map((group) => [
    group,
    toggle(GROUP_WORDS[group], EVENT_GROUPS[group].join(", "), () =>
      change({ groups: flip(store.state.eventFilter.groups, group) }),
    ),
  ]);
  const newest = toggle("Follow", "Keep the newest event in sight", () => {
    follows = !follows;
    setAttr(newest, "aria-pressed", String(follows));
    if (follows) toEnd();
  });
  setAttr(newest, "aria-pressed", "true");
  const tally = h("span", { class: "tally" });
  const missed = h("span", { class: "tally is-trouble" });
  const empty = h("div", { class: "empty", text: "No event matches yet." });

  store.view(["eventFilter"], ({ eventFilter }) => {
    setAttr(only, "aria-pressed", String(eventFilter.only));
    for (const [group, box] of groups) setAttr(box, "aria-pressed", String(eventFilter.groups.includes(group)));
  });
  store.view(["events", "eventsMissed", "selection", "tab"], ({ events, eventsMissed, tab }) => {
    if (tab !== "events") return;
    list.show(events.length, (index) => events[index]);
    if (follows) toEnd();
    setText(tally, `${count(events.length)} shown`);
    setText(missed, eventsMissed > 0 ? `${count(eventsMissed)} left out` : "");
    show(empty, events.length === 0);
  });
  const head = h(
    "div",
    { class: "event-row event-head", "aria-hidden": "true" },
    ...["Tick", "Agent", "Event", "Where", "Detail"].map((name) => h("span", { text: name })),
    h("span", { class: "tallies" }, missed, tally),
  );
  return h(
    "div",
    { class: "view events-view" },
    h(
      "div",
      { class: "toolbar" },
      text,
      only,
      h("div", { class: "chips", role: "group", "aria-label": "Kinds of events" }, ...groups.map(([, box]) => box)),
      h("span", { class: "gap" }),
      newest,
    ),
    head,
    list.element,
    empty,
  );
}

function toggle(label, title, onClick) {
  return h("button", { type: "button", class: "toggle", text: label, title, on: { click: onClick } });
}

function flip(list, one) {
  return list.includes(one) ? list.filter((other) => other !== one) : [...list, one];
}

function pick(store, record) {
  const [, agent, path] = record;
  const selection = { what: "event", record, path };
  if (agent) choose(store, agent, selection);
  store.set({ selection });
}

function makeRow() {
  return h("div", { class: "event-row" }, ...Array.from({ length: 5 }, () => h("span")));
}

function fillRow(element, record, selection) {
  const [tick, agent, event, path, detail] = element.children;
  if (record === undefined) return;
  const [at, who, where, what, more] = record;
  element.dataset.number = record.number;
  setClass(
    element,
    `event-row virtual-row event-${groupOf(what)}${selection?.record === record ? " is-selected" : ""}`,
  );
  setAttr(element, "aria-selected", String(selection?.record === record));
  setText(tick, at);
  setText(agent, who || "world");
  setText(event, what.replace("_", " "));
  setPath(path, where);
  const line = detailLine(more);
  setText(detail, line);
  setAttr(detail, "title", line || null);
}

const GROUP_OF = new Map(
  Object.entries(EVENT_GROUPS).flatMap(([group, events]) => events.map((event) => [event, group])),
);

function groupOf(event) {
  return event === "preempt" ? "preempt" : (GROUP_OF.get(event) ?? "world");
}
