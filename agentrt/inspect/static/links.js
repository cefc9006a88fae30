/**
 * Links to what one looks at: `#tick=120&agent=Ann&tab=world` behind the address of a live run, a recording or a file.
 *
 * The address follows what is looked at, so that it can be copied at any time; it is replaced and not added to the
 * history, half a second after the last change. It names the tick while that stands: of what runs on, nobody who opens
 * the link would find it. A link into a live run leads to its tick if that is kept, and else to that place of the time
 * line, and says so.
 *
 * What stands in a link was written by anybody: a name is a text like any other, a tick is a number, a tab is known.
 */

import { count } from "./format.js";
import { within } from "./past.js";
import { choose } from "./store.js";

const PAUSE = 500; // milliseconds
const LONGEST_NAME = 500;

/** What a link says: a tick, an agent and a tab, each null if it says none. */
export function readLink(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const tick = parts.get("tick") ?? "";
  const agent = parts.get("agent") ?? "";
  return {
    tick: /^\d{1,15}$/.test(tick) ? Number(tick) : null,
    agent: agent !== "" && agent.length <= LONGEST_NAME ? agent : null,
    tab: parts.get("tab"),
  };
}

/** What a link to what is looked at says, behind the address of the page. */
export function linkOf({ chosen, tab, world, hello }, always = false) {
  const parts = new URLSearchParams();
  const stands = world?.paused || always;
  if (world && hello && stands) parts.set("tick", world.tick);
  if (chosen !== null) parts.set("agent", chosen.toWellFormed?.() ?? chosen);
  if (tab !== "plan") parts.set("tab", tab);
  return `#${parts}`;
}

/**
 * Go where the address of the page says, at first and whenever it is changed; and let it follow what is looked at.
 *
 * @param {Store} store - the state.
 * @param {Playback} playback - goes to a tick.
 * @param {string[]} tabs - the names of the tabs.
 */
export function followLinks(store, playback, tabs) {
  let wanted = null; // the tick to go to, once it is known what is looked at
  let timer = 0;
  let known = ""; // what stood in the address when it was read or written last

  function read() {
    known = location.hash;
    const link = readLink(location.hash);
    wanted = link.tick;
    if (link.agent !== null) choose(store, link.agent);
    if (tabs.includes(link.tab)) store.set({ tab: link.tab });
    arrive();
  }

  function arrive() {
    const { hello, link, windowTicks } = store.state;
    if (wanted === null || hello === null || link !== "open") return;
    if (hello.source === "live" && store.state.world === null) return; // nobody knows yet which ticks are kept
    const tick = wanted;
    wanted = null;
    const { world } = store.state;
    if (hello.source === "recording") playback.goTo(tick);
    else if (within(store.state, tick) !== undefined && tick < world.tick) playback.goTo(tick);
    else {
      if (tick < (world.past?.first ?? world.tick)) {
        const words = `Tick ${count(tick)} of the link is not kept any more: what is shown is of now.`;
        store.set({ messageIsGood: false, message: words });
      }
      store.set({ windowLast: tick + Math.floor(windowTicks / 2) });
    }
  }

  function write() {
    timer = 0;
    const { state } = store;
    if (location.hash !== known) return read(); // somebody changed it, and the event comes later
    const isMoving = playback.isOver && state.world?.paused === false;
    if (wanted !== null || state.world === null || isMoving) return undefined;
    const hash = linkOf(state);
    if (hash !== known && !(hash === "#" && known === "")) history.replaceState(null, "", hash);
    known = location.hash;
    return undefined;
  }

  addEventListener("hashchange", read);
  store.view(["hello", "link", "world"], arrive);
  store.view(["world", "chosen", "tab"], () => {
    if (timer === 0) timer = setTimeout(write, PAUSE);
  });
  read();
}
