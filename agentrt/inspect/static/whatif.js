/**
 * The tab What if: change something after a tick of a recording, run on from there, and see what would have been.
 *
 * On top stands the draft: after which tick, for how many, and the list of changes, put together by a form or as text.
 * Below are the branches that were run, with their progress; the chosen one is shown by `whatifresult.js`. What a page
 * may not do is disabled and says why.
 */

import { button, fill, h, reconcile, setAttr, setClass, setText, show } from "./dom.js";
import { clip, plural } from "./format.js";
import { CHANGES, editOf, editWords, offersOf, parseScript, scriptText } from "./whatifmodel.js";
import { download, resultView } from "./whatifresult.js";

const NOT_HERE =
  "Branches are run of recordings: record a run with --record FILE, and look at it with " +
  "agentrt inspect FILE --controls.";

const RUN = "Run the branch in a process of its own";

/** Whether there is nothing to see here. */
export function hasNoBranches({ hello }) {
  return hello !== null && (hello.source !== "recording" || Boolean(hello.file));
}

/** Why no branch can be run here; empty if one can. */
export function refusalOf({ hello, link }) {
  if (link !== "open" || hello === null) return "Not connected.";
  return hello.source === "recording" ? (hello.what_if ?? "") : NOT_HERE;
}

/**
 * Make the view.
 *
 * @param {Store} store - the state.
 * @param {Connection} connection - tells the server.
 * @returns {{element: HTMLElement, buttons: function(string, string): (HTMLElement|null)}} the panel; a button that
 *   begins a change of what is of a kind and has a name.
 */
export function whatIfView(store, connection) {
  const notice = h("p", { class: "whatif-notice", role: "note" });
  const form = draftForm(store, connection);
  const runs = runList(store, connection);
  const result = resultView(store);
  const element = h(
    "div",
    { class: "whatif-view view" },
    notice,
    h("div", { class: "whatif-body" }, form.element, runs, result),
  );
  store.view(["hello", "link"], (state) => {
    const why = refusalOf(state);
    setText(notice, why);
    show(notice, why !== "");
    show(form.element, state.hello?.source === "recording" && !state.hello.file);
    form.allow(why === "");
  });
  /** What the side panel offers for an action or a goal that is selected. */
  function buttons(kind, name) {
    const key = { action: "utility", goal: "priority" }[kind];
    if (key === undefined || store.state.hello?.file) return null; // there is no world in a file
    const ask = button({ label: "What if …", title: `Change its ${key}, and run on from here` }, () => {
      form.change(key, name);
    });
    return h("div", { class: "whatif-ask" }, ask);
  }
  return { element, buttons };
}

function field(label, control) {
  return h("label", { class: "whatif-field" }, h("span", { text: label }), control);
}

const WHO_ANSWERS =
  "In a branch equal prompts have the answers of then, and others are answered by the script that stands in. To ask " +
  "the model anew, run the command that a branch tells with --live, and --base-url where its server is.";

function draftForm(store, connection) {
  const at = h("input", { class: "input", type: "number", min: 0, inputmode: "numeric", "aria-label": "After tick" });
  const here = button({ label: "This tick", title: "Branch after the tick that is shown" }, () =>
    draft({ at: store.state.world?.tick ?? 0 }),
  );
  const ticks = h("input", {
    class: "input",
    type: "number",
    min: 1,
    inputmode: "numeric",
    placeholder: "to the end",
    "aria-label": "For how many ticks",
  });
  const list = h("ul", { class: "whatif-edits" });
  const none = h("p", { class: "empty-line", text: "Nothing is changed yet: the branch would be the recorded run." });
  const thoughts = h("p", { class: "empty-line" });
  const adder = changeForm(store, (edit) => draft({ edits: [...store.state.draft.edits, edit] }));
  const text = textForm(store, (edits) => draft({ edits }));
  const run = button({ glyph: "play", label: "Run on", title: RUN, kind: "primary" }, start);

  function draft(patch) {
    store.set({ draft: { ...store.state.draft, ...patch } });
  }
  const atOf = (state) => state.draft.at ?? state.world?.tick ?? 0;
  at.addEventListener("change", () =>
    draft({ at: at.value === "" ? null : Math.max(0, Math.round(Number(at.value))) }),
  );
  ticks.addEventListener("change", () =>
    draft({ ticks: Number(ticks.value) >= 1 ? Math.round(Number(ticks.value)) : null }),
  );

  function start() {
    const { edits, ticks: many } = store.state.draft;
    connection.send({ do: "branch", at: atOf(store.state), ticks: many, edits });
  }

  store.view(["draft", "world", "hello"], (state) => {
    const { draft: now, hello } = state;
    if (document.activeElement !== at) at.value = atOf(state);
    if (document.activeElement !== ticks) ticks.value = now.ticks ?? "";
    setAttr(at, "max", hello?.last_tick ?? null);
    reconcile(
      list,
      now.edits,
      (edit, index) => `${index} ${JSON.stringify(edit)}`,
      () => editRow((edit) => draft({ edits: store.state.draft.edits.filter((one) => one !== edit) })),
      (row, edit) => {
        row.edit = edit;
        setText(row.parts.tick, `tick ${edit.tick}`);
        setText(row.parts.words, editWords(edit));
      },
    );
    show(none, now.edits.length === 0);
    const models = hello?.models ?? [];
    setText(thoughts, models.length > 0 ? `Agents thought by ${models.join(", ")}. ${WHO_ANSWERS}` : "");
    show(thoughts, models.length > 0);
    const early = now.edits.filter((edit) => !(edit.tick > atOf(state))).length;
    const words = `${plural(early, "change")} of ticks that are over by then: branch earlier.`;
    setText(adder.warning, early > 0 ? words : "");
  });
  const element = h(
    "section",
    { class: "whatif-draft", "aria-label": "Changes" },
    h(
      "div",
      { class: "whatif-row" },
      field("After tick", at),
      here,
      field("for ticks", ticks),
      h("span", { class: "gap" }),
      run,
    ),
    list,
    none,
    thoughts,
    adder.element,
    text,
  );
  return {
    element,
    allow(isAllowed) {
      run.disabled = !isAllowed;
      setAttr(run, "title", isAllowed ? RUN : refusalOf(store.state));
    },
    change(kind, name) {
      store.set({ tab: "whatif" });
      draft({ at: store.state.draft.edits.length === 0 ? (store.state.world?.tick ?? 0) : store.state.draft.at });
      adder.begin(kind, name);
    },
  };
}

function editRow(remove) {
  const [tick, words] = ["whatif-tick", "whatif-words"].map((name) => h("span", { class: name }));
  const row = h(
    "li",
    {},
    tick,
    words,
    button({ glyph: "close", name: "Remove this change", kind: "quiet" }, () => remove(row.edit)),
  );
  row.parts = { tick, words };
  return row;
}

/** The form that makes a change. */
function changeForm(store, add) {
  const kind = h(
    "select",
    { class: "select", "aria-label": "What to change" },
    ...CHANGES.map(({ key, words }) => h("option", { value: key, text: words })),
  );
  const names = h("datalist", { id: "whatif-names" });
  const plainText = { class: "input", spellcheck: "false", autocomplete: "off" };
  const name = h("input", { ...plainText, list: "whatif-names", maxlength: 500 });
  const value = h("input", { ...plainText, maxlength: 10_000 });
  const tick = h("input", { class: "input", type: "number", min: 1, inputmode: "numeric", "aria-label": "In tick" });
  const only = h("input", { type: "checkbox", checked: true });
  const who = h("span", {});
  const hint = h("p", { class: "whatif-hint" });
  const warning = h("p", { class: "whatif-error", role: "status" });
  const wrong = h("p", { class: "whatif-error", role: "alert" });
  const onlyLabel = h("label", { class: "check" }, only, who);
  let touched = false; // whether somebody typed a tick

  const current = () => CHANGES.find((one) => one.key === kind.value);
  const offers = () => offersOf(store.state)[kind.value] ?? [];

  function draw() {
    const { name: called, value: example, key } = current();
    setAttr(name, "aria-label", called);
    setAttr(name, "placeholder", called);
    setAttr(value, "placeholder", example);
    setAttr(value, "aria-label", "New value");
    show(value, example !== "");
    show(name, called !== "");
    const isInput = key === "send" || key === "drop" || key === "change";
    show(onlyLabel, !isInput);
    setText(who, store.state.chosen ? `only for ${clip(store.state.chosen, 40)}` : "only for the chosen agent");
    only.disabled = store.state.chosen === null;
    const found = offers();
    const key2 = JSON.stringify(found);
    if (names.drawn !== key2) {
      names.drawn = key2;
      fill(names, ...found.slice(0, 200).map(([one, words]) => h("option", { value: one, label: words || null })));
    }
    const meant = found.find(([one]) => one === name.value.trim());
    setText(hint, meant ? `${meant[0]}: ${meant[1]}` : "");
    show(hint, Boolean(meant?.[1]));
    if (!touched) tick.value = meant?.[2] ?? (store.state.draft.at ?? store.state.world?.tick ?? 0) + 1;
  }
  kind.addEventListener("change", () => {
    name.value = "";
    value.value = "";
    draw();
  });
  name.addEventListener("input", draw);
  tick.addEventListener("input", () => (touched = tick.value !== ""));
  const element = h(
    "form",
    {
      class: "whatif-form",
      "aria-label": "Add a change",
      on: {
        submit: (event) => {
          event.preventDefault();
          const agent = only.checked && !onlyLabel.hidden ? (store.state.chosen ?? "") : "";
          const typed = { tick: Number(tick.value), name: name.value.trim(), value: value.value, agent };
          const { edit, error } = editOf(kind.value, typed);
          setText(wrong, error ?? "");
          if (error) return;
          touched = false;
          value.value = "";
          add(edit);
        },
      },
    },
    kind,
    name,
    names,
    value,
    field("in tick", tick),
    onlyLabel,
    h("button", { type: "submit", class: "button", text: "Add" }),
  );
  store.view(["agent", "outlines", "inputs", "chosen", "draft", "world"], draw);
  return {
    element: h("div", {}, element, hint, wrong, warning),
    warning,
    begin(which, what) {
      kind.value = which;
      name.value = what;
      draw();
      requestAnimationFrame(() => requestAnimationFrame(() => value.focus())); // when the tab is on the screen
    },
  };
}

/** The draft as text: typed, opened from a file, saved to one. */
function textForm(store, change) {
  const area = h("textarea", { class: "whatif-text", rows: 6, spellcheck: "false", "aria-label": "The script" });
  const wrong = h("p", { class: "whatif-error", role: "alert" });
  const file = h("input", { type: "file", accept: ".json", hidden: true, "aria-label": "Open a script" });
  function take(text) {
    const { edits, error } = parseScript(text);
    setText(wrong, error ?? "");
    if (!error) change(edits);
  }
  area.addEventListener("input", () => take(area.value));
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    file.value = "";
    if (chosen === undefined) return;
    if (chosen.size > 1_000_000) return setText(wrong, "It is too long to be run from here: use agentrt replay.");
    take(await chosen.text());
  });
  store.view(["draft"], ({ draft }) => {
    if (document.activeElement !== area) area.value = scriptText(draft.edits);
  });
  return h(
    "details",
    { class: "whatif-script" },
    h("summary", { text: "As a script" }),
    area,
    wrong,
    h(
      "div",
      { class: "whatif-row" },
      button({ label: "Save script", title: "A file that agentrt replay --edit takes" }, () =>
        download(`${store.state.hello?.title ?? "recording"}-changes.json`, scriptText(store.state.draft.edits)),
      ),
      button({ label: "Open script" }, () => file.click()),
      file,
      button({ label: "Clear", kind: "quiet" }, () => change([])),
    ),
  );
}

const STATES = { running: "running", done: "finished", failed: "impossible", canceled: "idle" };

function runList(store, connection) {
  const list = h("ul", { class: "whatif-runs" });
  const element = h("section", { class: "whatif-branches", "aria-label": "Branches", hidden: true }, list);
  store.view(["branches", "branchId"], ({ branches, branchId }) => {
    show(element, branches.length > 0);
    reconcile(
      list,
      [...branches].reverse(),
      (one) => String(one.id),
      () => runRow(store, connection),
      (row, one) => fillRun(row, one, one.id === branchId),
    );
  });
  return element;
}

function runRow(store, connection) {
  const dot = h("span", {});
  const [title, words] = ["whatif-run-title", "whatif-run-words"].map((name) => h("span", { class: name }));
  const bar = h("progress", { class: "whatif-progress", "aria-label": "Progress" });
  const link = h(
    "button",
    {
      type: "button",
      class: "link",
      on: {
        click: () =>
          row.branch !== store.state.branchId && store.set({ branchId: row.branch, branch: null, sides: null }),
      },
    },
    dot,
    title,
    words,
  );
  const end = button({ label: "Cancel" }, () => connection.send({ do: "unbranch", id: row.branch }));
  const row = h("li", {}, link, bar, end);
  row.parts = { dot, title, words, bar, link, end };
  return row;
}

function fillRun(row, one, isChosen) {
  row.branch = one.id;
  const { dot, title, words, bar, link, end } = row.parts;
  setClass(dot, `dot ${STATES[one.state] ?? "none"}`);
  setText(title, `Branch ${one.id}`);
  const span = `ticks ${one.at + 1} to ${one.last}, ${plural(one.edits, "change")}`;
  const saved = one.saved ? `, in ${one.saved}` : "";
  const done = one.state === "running" ? `tick ${one.tick} of ${one.last}` : one.state;
  setText(words, `${span} · ${done}${one.error ? `: ${one.error}` : ""}${saved}`);
  setAttr(link, "title", clip(words.textContent, 600));
  setAttr(link, "aria-pressed", String(isChosen));
  setClass(row, isChosen ? "is-selected" : "");
  show(bar, one.state === "running");
  setAttr(bar, "max", Math.max(1, one.last));
  bar.value = one.tick;
  setText(end.firstChild, one.state === "running" ? "Cancel" : "Remove");
  setAttr(end, "aria-label", `${end.textContent} branch ${one.id}`);
}
