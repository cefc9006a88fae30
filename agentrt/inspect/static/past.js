/**
 * The past of a live run: going back while it goes on, what happened before a breakpoint, and saving the last ticks.
 *
 * A live page whose server keeps a past (`world.past`: from which tick to which) can go to any tick of it, as in a
 * recording. While it *looks back* (`world.live` then tells how the run itself does), everything on the page is of that
 * tick; the run goes on, and nothing is paused. One key, one button, and the right end of the slider lead to now again.
 *
 * Three questions, which views ask here and nowhere else: is what I show of a tick that is over (`isOver`)? Can one go
 * to other ticks (`reachOf`)? May this page move in time (`mayMove`)? That takes no controls, as it changes nothing.
 */

import { mayControl } from "./breakpoints.js";
import { button, fill, h, setAttr, setText, show } from "./dom.js";
import { count, plural } from "./format.js";
import { choose } from "./store.js";

const STARTS = new Set(["run", "start", "activate", "try", "added"]); // what a breakpoint is hit by

/** Whether this page looks at the past of a run that goes on. */
export function looksBack({ hello, world }) {
  return hello?.source === "live" && Boolean(world?.live);
}

/** Whether what is shown is of a tick that is over: of a recording, or of the past of a run. */
export function isOver(state) {
  return state.hello?.source === "recording" || looksBack(state);
}

/**
 * Which ticks can be gone to.
 *
 * @param {object} state - the state of the page.
 * @returns {{first: number, last: number} | null} the oldest and the newest; null if there is only now.
 */
export function reachOf({ hello, world }) {
  if (hello?.source === "recording") return { first: hello.first_tick, last: hello.last_tick };
  return world?.past ?? null;
}

/** A tick, if it can be gone to. */
export function within(state, tick) {
  const reach = reachOf(state);
  return reach !== null && tick >= reach.first && tick <= reach.last ? tick : undefined;
}

/** Whether this page may go, step and play through the ticks that are over. */
export function mayMove(state) {
  return mayControl(state) || (state.link === "open" && looksBack(state));
}

/**
 * Make what stands beside the slider of a live run: back to now, and saving.
 *
 * @param {Store} store - the state.
 * @param {{toNow: function(): void}} playback - goes back to now.
 * @returns {HTMLElement} the controls; hidden for a recording.
 */
export function pastControls(store, playback) {
  const now = button({ label: "Now", name: "Back to now", title: "Back to what happens now  (n)", kind: "now" }, () =>
    playback.toNow(),
  );
  const ticks = h("select", { class: "select", "aria-label": "How much is saved", title: "How much is saved" });
  const save = button(
    {
      label: "Save",
      name: "Save the past as a recording",
      title: "Save it as a recording, which can be looked at in any of its ticks (agentrt inspect FILE), not replayed",
      kind: "quiet",
    },
    () => saveAs(store, save, Number(ticks.value)),
  );
  const element = h("span", { class: "past-controls" }, now, ticks, save);
  let rate = 0;
  store.view(["hello", "world"], (state) => {
    const { hello, world } = state;
    show(element, hello?.source === "live" && Boolean(world?.past));
    if (!world?.past) return;
    if (rate !== hello.ticks_per_second) {
      rate = hello.ticks_per_second;
      const spans = [["all", 0], ["10 s", 10], ["1 min", 60]];
      fill(ticks, ...spans.map(([text, seconds]) => h("option", { value: Math.round(seconds * rate), text })));
    }
    now.disabled = !looksBack(state);
    setAttr(now, "aria-pressed", String(!looksBack(state)));
    const megabytes = Math.round(world.past.bytes / 1024 / 1024);
    const most = `At most ${plural(world.past.ticks, "tick")} or ${megabytes} MB are kept, the newest.`;
    setAttr(element, "title", `${most} The run goes on while you look back.`);
  });
  return element;
}

/** Fetch a recording of the last ticks, and let the browser keep it; what stands against that is told. */
async function saveAs(store, control, ticks) {
  control.disabled = true;
  try {
    const url = new URL("api/past", location.href);
    url.search = location.search; // the token, if there is one
    if (ticks > 0) url.searchParams.set("ticks", ticks);
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(await answer.text());
    const name = /filename="([\w.-]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "past.sqlite";
    const address = URL.createObjectURL(await answer.blob());
    const link = h("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    const words = "It can be looked at, not replayed: what came in from outside is not in it.";
    store.set({ messageIsGood: true, message: `Saved as ${name}. ${words} Open it: agentrt inspect ${name}` });
  } catch (error) {
    store.set({ messageIsGood: false, message: `It was not saved: ${error.message}` });
  } finally {
    control.disabled = false;
  }
}

/**
 * Make the line that says that the view of the chosen agent is older than the tick that is shown, or not there.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the line; hidden while there is nothing to say.
 */
export function oldViewLine(store) {
  const element = h("p", { class: "old-view", role: "note", hidden: true });
  store.view(["agent", "world", "hello"], (state) => {
    const { agent } = state;
    const since = agent?.snapshot?.unseen_since;
    show(element, isOver(state) && (since !== undefined || Boolean(agent?.unseen)));
    if (agent?.unseen) setText(element, "Nobody had looked at this agent up to this tick: the run was too quick.");
    else if (since !== undefined) {
      setText(element, `As it was before tick ${count(since)}: the run was too quick to look at every agent.`);
    }
  });
  return element;
}

/**
 * Make the part of the side panel that tells what an agent did before a breakpoint was hit in it.
 *
 * @param {Store} store - the state; `justNow` is the server's message.
 * @param {{goTo: function(number): void, replay: function(number): void}} playback - goes to a tick; plays from one.
 * @returns {{element: HTMLElement, opener: HTMLElement}} the section, and a button for the top bar that leads to it.
 */
export function justNowSection(store, playback) {
  const reason = h("p", { class: "just-reason" });
  const rows = h("ol", { class: "just-rows" });
  const none = h("p", { class: "empty-line", text: "Nothing is known of it from before." });
  const replay = button({ glyph: "play", label: "Play it again", title: "Go back, and play up to now" }, () => {
    const { justNow } = store.state;
    choose(store, justNow.agent);
    playback.replay(justNow.records[0]?.[0] ?? justNow.first);
  });
  const look = (tick, agent) => {
    choose(store, agent);
    playback.goTo(tick);
  };
  const element = h(
    "section",
    { class: "side-section just-now", "aria-label": "What happened just now", hidden: true, tabindex: -1 },
    h(
      "div",
      { class: "panel-head" },
      h("h2", { text: "Just now" }),
      h("span", { class: "gap" }),
      button({ glyph: "close", name: "Dismiss what happened just now", kind: "quiet" }, () =>
        store.set({ justNow: null }),
      ),
    ),
    h("div", { class: "side-body" }, reason, none, rows, replay),
  );
  const opens = { label: "What happened?", title: "What it did just before", kind: "quiet just-opener" };
  const opener = button(opens, () => {
    element.scrollIntoView({ block: "start" }); // it may be higher than its panel
    element.focus({ preventScroll: true });
  });
  store.view(["justNow"], ({ justNow }) => {
    show(element, justNow !== null);
    if (justNow === null) return;
    const { agent, records, first, tick } = justNow;
    const span = plural(tick - first + 1, "tick");
    setText(reason, `${justNow.reason.replace(/ \(.*$/s, "")}, in tick ${count(tick)}. ${agent} in the last ${span}:`);
    show(none, records.length === 0);
    show(replay, records.length > 0);
    fill(rows, ...records.toReversed().map((record) => rowOf(record, look, justNow)));
    const hit = rows.querySelector(".is-hit");
    if (hit !== null) rows.scrollTop = Math.max(0, hit.offsetTop - rows.offsetTop - 60);
  });
  store.view(["justNow", "world", "hello"], (state) => {
    const reach = reachOf(state);
    replay.disabled = reach === null;
    for (const row of rows.querySelectorAll("button")) {
      row.disabled = reach === null || Number(row.dataset.tick) < reach.first;
    }
    show(opener, state.justNow !== null && Boolean((state.world?.live ?? state.world)?.paused));
  });
  return { element, opener };
}

function rowOf([tick, agent, path, event, detail], look, hit) {
  const words = Object.entries(detail).map(([name, value]) => `${name} ${value}`);
  const name = path.split("/").at(-1) ?? "";
  const isHit = tick === hit.tick && path === hit.path && STARTS.has(event);
  return h(
    "li",
    { class: isHit ? "is-hit" : "" },
    h(
      "button",
      {
        type: "button",
        class: "link",
        title: `Look at tick ${tick}: ${path || agent}`,
        "data-tick": tick,
        on: { click: () => look(tick, agent) },
      },
      h("span", { class: "just-tick", text: count(tick) }),
      h("span", { class: "just-event", text: event.replaceAll("_", " ") }),
      h("span", { class: "just-name", text: [name, ...words].filter(Boolean).join("  ") }),
    ),
  );
}
