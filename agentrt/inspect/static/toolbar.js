/**
 * The bars: at the top what is looked at and what drives it, at the bottom how the connection and the runtime do.
 *
 * For a live run the controls are pause, step and speed; for a recording they are a slider over its ticks, one step
 * back and forth, and play. One object, `playback`, says what each control does in which of the two, so that buttons
 * and keys cannot differ. What a page may not do is disabled and says why.
 */

import { mayControl } from "./breakpoints.js";
import { sparkline } from "./charts.js";
import { button, h, setAttr, setClass, setIcon, setText, show } from "./dom.js";
import { count, gameTime, plural } from "./format.js";

const SEEK_PAUSE = 60; // milliseconds
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8];

/** What the controls do, in a live run and in a recording. */
export class Playback {
  constructor(store, connection) {
    this.store = store;
    this.connection = connection;
    this.wanted = null; // the tick to go to
    this.timer = 0;
  }

  get isRecording() {
    return this.store.state.hello?.source === "recording";
  }

  /** Pause what goes on, or let what stands go on. */
  toggle() {
    if (!mayControl(this.store.state)) return;
    const isPaused = this.store.state.world?.paused ?? true;
    this.connection.send({ do: isPaused ? (this.isRecording ? "play" : "resume") : "pause" });
  }

  /** Run some ticks and pause; in a recording, go some ticks on or back. */
  step(ticks) {
    if (!mayControl(this.store.state)) return;
    if (this.isRecording) this.goTo((this.wanted ?? this.store.state.world?.tick ?? 0) + ticks);
    else if (ticks > 0) this.connection.send({ do: "step", ticks });
  }

  /** Go to a tick of a recording; a slider that is dragged says so often, and only the last one counts. */
  goTo(tick) {
    const { hello } = this.store.state;
    if (!this.isRecording) return;
    this.wanted = Math.round(Math.min(hello.last_tick, Math.max(hello.first_tick, tick)));
    if (this.timer !== 0) return;
    this.connection.send({ do: "at", tick: this.wanted });
    const sent = this.wanted;
    this.timer = setTimeout(() => {
      this.timer = 0;
      const { wanted } = this;
      this.wanted = null;
      if (wanted !== sent) this.goTo(wanted);
    }, SEEK_PAUSE);
  }

  speed(value) {
    if (mayControl(this.store.state)) this.connection.send({ do: "speed", speed: value });
  }
}

/**
 * Make the bar at the top.
 *
 * @param {Store} store - the state.
 * @param {Playback} playback - what the controls do.
 * @param {{share: function(): void, theme: function(): void, help: function(): void}} actions - of the buttons at its
 *   end.
 * @returns {HTMLElement} the bar.
 */
export function topBar(store, playback, actions) {
  const title = h("h1", { class: "title" });
  const badge = h("span", { class: "badge" });
  const reason = h("span", { class: "reason", role: "status" });
  const run = button({ glyph: "pause", label: "Pause", title: "Pause or resume  (space)", kind: "primary" }, () =>
    playback.toggle(),
  );
  const back = button({ glyph: "back", name: "One tick back", title: "One tick back  (←)" }, () => playback.step(-1));
  const step = button(
    { glyph: "step", label: "Step", name: "One tick on", title: "Run one tick  (.)   ten ticks  (shift .)" },
    (event) => playback.step(event.shiftKey ? 10 : 1),
  );
  const speed = h("select", {
    class: "select",
    "aria-label": "Speed",
    title: "Speed",
    on: { change: () => playback.speed(Number(speed.value)) },
  });
  speed.append(...SPEEDS.map((one) => h("option", { value: one, text: `${one}×` })));
  const tick = h("span", { class: "clock-tick" });
  const time = h("span", { class: "clock-time" });
  const element = h(
    "header",
    { class: "topbar" },
    h("div", { class: "brand" }, h("span", { class: "mark", "aria-hidden": "true" }), title, badge),
    h("div", { class: "controls", role: "group", "aria-label": "Controls" }, run, back, step, speed),
    h("div", { class: "clock", title: "Tick and game time" }, tick, time),
    reason,
    h("span", { class: "gap" }),
    sparkline(store),
    button({ glyph: "share", name: "Share", title: "Share  (s)", kind: "quiet" }, actions.share),
    button({ glyph: "theme", name: "Light or dark", title: "Light or dark  (t)", kind: "quiet" }, actions.theme),
    button({ label: "?", name: "Keys", title: "Keys  (?)", kind: "quiet" }, actions.help),
  );
  store.view(["hello"], ({ hello }) => {
    const isRecording = hello?.source === "recording";
    setText(title, hello?.title || "agentrt");
    document.title = `${hello?.title || "agentrt"} – inspector`;
    setText(badge, hello === null ? "" : isRecording ? "recording" : hello.controls ? "live" : "live, watching only");
    setClass(badge, `badge ${isRecording ? "is-recording" : hello?.controls ? "is-live" : "is-readonly"}`);
    show(badge, hello !== null);
    show(back, isRecording);
  });
  store.view(["world", "hello", "link"], (state) => {
    const isPaused = state.world?.paused ?? false;
    const isRecording = state.hello?.source === "recording";
    const isOff = !mayControl(state);
    setIcon(run.firstChild, isPaused ? "play" : "pause");
    setText(run.lastChild, isPaused ? (isRecording ? "Play" : "Resume") : "Pause");
    setAttr(run, "aria-label", run.lastChild.textContent);
    setAttr(element, "data-paused", String(isPaused));
    for (const control of [run, step, back, speed]) {
      control.disabled = isOff;
      setAttr(control, "data-off", isOff ? "Watching only: start the inspector with its controls" : null);
    }
    setText(tick, state.world ? `tick ${count(state.world.tick)}` : "");
    setText(time, state.world ? gameTime(state.world.seconds) : "");
    setText(reason, isPaused && !isRecording ? state.world.reason || "paused" : "");
    setAttr(reason, "title", reason.textContent || null);
    show(reason, reason.textContent !== "");
    setClass(reason, state.world?.reason?.includes("breakpoint") ? "reason is-break" : "reason");
    if (document.activeElement !== speed && state.world) pickSpeed(speed, state.world.speed);
  });
  return element;
}

function pickSpeed(box, value) {
  if (Number(box.value) === value) return;
  let option = [...box.options].find((one) => Number(one.value) === value);
  if (option === undefined) {
    option = h("option", { value, text: `${value}×` });
    box.append(option);
  }
  box.value = option.value;
}

/**
 * Make the bar of a recording: a slider over its ticks.
 *
 * @param {Store} store - the state.
 * @param {Playback} playback - goes to a tick.
 * @returns {HTMLElement} the bar; hidden in a live run.
 */
export function scrubber(store, playback) {
  let isHeld = false;
  const slider = h("input", {
    type: "range",
    class: "slider",
    "aria-label": "Tick of the recording",
    step: 1,
    on: {
      input: () => playback.goTo(Number(slider.value)),
      pointerdown: () => (isHeld = true),
      pointerup: () => (isHeld = false),
      pointercancel: () => (isHeld = false),
    },
  });
  const first = h("span", { class: "slider-end" });
  const last = h("span", { class: "slider-end" });
  const element = h(
    "div",
    { class: "scrubber", role: "group", "aria-label": "Time of the recording" },
    button({ glyph: "first", name: "To the first tick", title: "To the first tick  (Home)", kind: "quiet" }, () =>
      playback.goTo(0),
    ),
    first,
    slider,
    last,
    button({ glyph: "last", name: "To the last tick", title: "To the last tick  (End)", kind: "quiet" }, () =>
      playback.goTo(Infinity),
    ),
  );
  store.view(["hello", "world"], ({ hello, world }) => {
    show(element, hello?.source === "recording");
    if (hello?.source !== "recording") return;
    setAttr(slider, "min", hello.first_tick);
    setAttr(slider, "max", hello.last_tick);
    setText(first, count(hello.first_tick));
    setText(last, count(hello.last_tick));
    if (!isHeld && world) slider.value = world.tick;
    setAttr(slider, "aria-valuetext", world ? `tick ${world.tick}` : null);
  });
  return element;
}

const LINK_WORDS = {
  connecting: "connecting …",
  open: "connected",
  lost: "connection lost, trying again …",
  refused: "refused",
};

/**
 * Make the bar at the bottom.
 *
 * @param {Store} store - the state.
 * @param {function(string, string): HTMLElement} link - makes a button that leads to what a figure means.
 * @returns {HTMLElement} the bar.
 */
export function statusBar(store, link) {
  const linked = h("span", { class: "link-state", role: "status" });
  const figures = h("span", { class: "figures" });
  const late = link("late", "late");
  const dropped = link("dropped", "dropped");
  const version = h("span", {});
  store.view(["link", "linkText", "hello"], (state) => {
    const words = state.hello?.file && state.link === "open" ? "a file, without a server" : LINK_WORDS[state.link];
    setText(linked, state.linkText && state.link !== "open" ? `${words} (${state.linkText})` : words);
    setClass(linked, `link-state is-${state.link}`);
    document.body.dataset.link = state.link;
  });
  store.view(["world", "hello"], ({ world, hello }) => {
    const words = [];
    if (world) {
      words.push(plural(world.agents, "agent"));
      if (hello?.source !== "recording") words.push(plural(world.strands, "strand"));
    }
    if (hello?.ticks_per_second) words.push(`${hello.ticks_per_second} ticks per second`);
    if (hello?.unreplayable?.length) words.push(`cannot be replayed: ${hello.unreplayable[0]}`);
    setText(figures, words.join(" · "));
    setText(late, plural(world?.late_ticks ?? 0, "late tick"));
    show(late, world?.late_ticks > 0);
    setText(dropped, `${plural(world?.dropped ?? 0, "update")} dropped`);
    show(dropped, world?.dropped > 0);
    setText(version, hello ? `agentrt ${hello.agentrt}` : "");
  });
  return h("footer", { class: "statusbar" }, linked, figures, late, dropped, h("span", { class: "gap" }), version);
}
