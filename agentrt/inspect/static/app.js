/**
 * The inspector's page: puts its parts together.
 *
 * Data goes round in one direction: the server's messages are taken into the state (`store.js`, by way of
 * `connection.js`), the state is drawn by views (`agents.js`, `planview.js`, `models.js`, `explain.js`, `events.js`,
 * `charts.js`, `tasksview.js`, `worldview.js`, `whatif.js`, `handsview.js`, `editing.js`, `crowdview.js`,
 * `thoughtsview.js`, `timeline.js`, `details.js`, `reloads.js`, `breakpoints.js`, `toolbar.js`, `past.js`), and what
 * the user does either changes the state or is told to the server. From the state follows what is watched, and so what
 * the server sends.
 *
 * There is no build step and no library: what is served is what is here. Everything is loaded from the server that
 * serves the page, and its content security policy allows nothing else.
 *
 * Source: Stonehearth, AI: the AI inspector; Spore, behavior trees: "S11: Debugging".
 */

import { agentsPanel } from "./agents.js";
import { breakpointsSection, mayControl } from "./breakpoints.js";
import { performanceView } from "./charts.js";
import { Connection } from "./connection.js";
import { crowdView, hasNoCrowd } from "./crowdview.js";
import { selectedSection } from "./details.js";
import { button, h } from "./dom.js";
import { hasNoModels, hasNoPlan, hasNoStrategies, hasNoThoughts, hasNoTimes } from "./emptiness.js";
import { editingView, hasNoEdits, waitingBar } from "./editing.js";
import { eventsView } from "./events.js";
import { explainView } from "./explain.js";
import { FileSource, isFile } from "./filesource.js";
import { flagsSection } from "./flags.js";
import { handsView, hasNoHands } from "./handsview.js";
import { bindKeys } from "./keyboard.js";
import { agentHead, messageBar, splitter, switchTheme, tabPanel, themed } from "./layout.js";
import { followLinks } from "./links.js";
import { meanings } from "./meanings.js";
import { modelsView } from "./models.js";
import { pinsSection } from "./pins.js";
import { planView } from "./planview.js";
import { justNowSection, oldViewLine } from "./past.js";
import { findNode } from "./plantree.js";
import { reloadBar, reloadsSection, selectReload, standings } from "./reloads.js";
import { shareDialog } from "./share.js";
import { Store } from "./store.js";
import { findTask } from "./tasktree.js";
import { tasksView } from "./tasksview.js";
import { thoughtsView } from "./thoughtsview.js";
import { timelinePanel } from "./timeline.js";
import { Playback, scrubber, statusBar, topBar } from "./toolbar.js";
import { valuesSection } from "./values.js";
import { hasNoBranches, whatIfView } from "./whatif.js";
import { hasNoDrawing, worldView } from "./worldview.js";

const store = new Store();
themed(store);
const connection = isFile() ? new FileSource(store) : new Connection(store, location.href);
const playback = new Playback(store, connection);
const agents = agentsPanel(store);
const breakpoints = breakpointsSection(store, connection);
const timeline = timelinePanel(store, playback);
const pins = pinsSection(store, playback);

const whatIf = whatIfView(store, connection);
const share = shareDialog(store);
const terms = meanings(store);
const justNow = justNowSection(store, playback);
const hands = handsView(store, connection, playback);

/** What the side panel offers for what is selected, while it lives: break where it starts, disable it, force it. */
function liveButtons(kind, name) {
  const { selection, agent } = store.state;
  const driver = agent?.snapshot?.drivers.find((one) => one.name === selection?.driver);
  const isLeaf = kind === "decider" && driver?.model === "selection";
  return h("div", {}, breakpoints.buttons(kind, name), hands.buttons(isLeaf ? "leaf" : kind, name));
}

const tabs = [
  ["plan", "Plan", planView(store), hasNoPlan],
  ["models", "Models", modelsView(store), hasNoModels],
  ["explain", "Why", explainView(store)],
  ["events", "Events", eventsView(store)],
  ["performance", "Performance", performanceView(store), hasNoTimes],
  ["tasks", "Strategies", tasksView(store), hasNoStrategies],
  ["world", "World", worldView(store), hasNoDrawing],
  ["whatif", "What if", whatIf.element, hasNoBranches],
  ["control", "Control", hands.element, hasNoHands],
  ["edit", "Edit", editingView(store, connection), hasNoEdits],
  ["crowd", "Crowd", crowdView(store, playback), hasNoCrowd],
  ["thoughts", "Thoughts", thoughtsView(store, connection), hasNoThoughts],
];

const keys = bindKeys({
  toggleRun: () => playback.toggle(),
  step: (ticks) => playback.step(ticks),
  search: () => agents.focusSearch(),
  arrange: () => agents.arrange(),
  move: (by) => agents.move(by),
  tab: (index) => store.set({ tab: tabs[index][0] }),
  scrub: (ticks) => playback.scrub(ticks),
  now: () => playback.toNow(),
  zoom: (factor) => timeline.zoom(factor),
  follow: () => timeline.follow(),
  breakHere,
  watchValue: () => pins.focus(),
  reload: () => {
    const last = standings(store.state).at(-1);
    if (last !== undefined) selectReload(store, last.key);
  },
  share: share.open,
  theme: () => switchTheme(store),
  escape: () => {
    document.activeElement?.blur?.();
    store.set({ selection: null, message: "", thoughtId: 0 });
  },
});

/** Set a breakpoint on what is selected, or on what runs; or remove it. */
function breakHere() {
  const { selection, agent } = store.state;
  if (!mayControl(store.state) || store.state.hello?.source === "recording") return;
  if (selection?.what === "goal") return breakpoints.toggle("goal", selection.name);
  if (selection?.what === "node") return breakpoints.toggle("decider", selection.name);
  if (selection?.what === "task") {
    const { node } = findTask(agent?.snapshot?.strategies, selection.place) ?? {};
    return node?.kind === "strategy" ? breakpoints.toggle("strategy", node.label) : undefined;
  }
  const path = selection?.path ?? agent?.snapshot?.running;
  const found = path && agent?.snapshot ? findNode(agent.snapshot, path) : null;
  if (found === null) return undefined;
  return found.kind === "unit"
    ? breakpoints.toggle("action", found.node.action)
    : breakpoints.toggle("activity", found.node.activity);
}

const breakAgent = button(
  { label: "Break on this agent", title: "Stop when anything starts in this agent", kind: "quiet needs-control" },
  () => store.state.chosen !== null && breakpoints.toggle("agent", store.state.chosen),
);
store.view(["hello", "link"], (state) => {
  breakAgent.disabled = !mayControl(state);
  breakAgent.hidden = state.hello?.source === "recording";
});

const side = h(
  "aside",
  { class: "side panel", "aria-label": "Details" },
  h(
    "div",
    { class: "side-scroll" },
    justNow.element,
    selectedSection(store, liveButtons, whatIf.buttons),
    pins.element,
    valuesSection(store),
    flagsSection(store),
    reloadsSection(store),
  ),
  breakpoints.element,
);
side.addEventListener("click", (event) => {
  const go = event.target.closest("[data-go]");
  if (go !== null) playback.goTo(Number(go.dataset.go));
});

document.body.append(
  topBar(store, playback, {
    share: share.open,
    theme: () => switchTheme(store),
    help: keys.help,
    justNow: justNow.opener,
  }),
  scrubber(store, playback),
  reloadBar(store),
  waitingBar(store, connection),
  h(
    "main",
    { class: "workspace" },
    agents.element,
    splitter({
      name: "left",
      label: "Width of the list of agents",
      axis: "x",
      from: 1,
      initial: 248,
      least: 160,
      most: 520,
    }),
    h(
      "div",
      { class: "middle" },
      agentHead(store, breakAgent),
      oldViewLine(store),
      tabPanel(store, tabs),
      splitter({
        name: "bottom",
        label: "Height of the time line",
        axis: "y",
        from: -1,
        initial: 190,
        least: 60,
        most: 600,
      }),
      timeline.element,
    ),
    splitter({
      name: "right",
      label: "Width of the details",
      axis: "x",
      from: -1,
      initial: 292,
      least: 200,
      most: 640,
    }),
    side,
  ),
  statusBar(store, terms.link),
  messageBar(store),
  keys.dialog,
  share.dialog,
  terms.dialog,
);
followLinks(
  store,
  playback,
  tabs.map(([name]) => name),
);
connection.open();
