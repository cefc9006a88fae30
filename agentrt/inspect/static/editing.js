/**
 * The tab Edit: the packs, task groups and selection trees that the world has loaded, as forms and as text.
 *
 * What is typed is checked while it is typed, by the world's own loaders; what is saved is taken up by the running
 * world, and what became of that stands below. Without `--controls` it says why nothing can be edited. Below it is told
 * where what drives the chosen agent is written in Python.
 */

import { mayControl } from "./breakpoints.js";
import { button, fill, h, reconcile, setAttr, setClass, setText, show } from "./dom.js";
import { textEditor } from "./editor.js";
import {
  changedLines,
  draftOf,
  isDirty,
  openFile,
  outcomeOf,
  revert,
  saveFile,
  setDraft,
  takeTheirs,
  typeText,
  undo,
} from "./editingmodel.js";
import { plural } from "./format.js";
import { jsonForm } from "./jsonform.js";
import { placeLink } from "./sources.js";
import { xmlForm } from "./xmlform.js";

const KINDS = { pack: "Packs", task_groups: "Task groups", selection: "Selection trees" };
const MOST_LINES = 120; // of the changes that are shown
const SAVE = "Write the file, and have it taken up  (Ctrl+S)";
const NOT_LIVE = "Files are edited while their world runs: agentrt dev --controls, in the folder of its project.";

/** Why nothing can be edited here; empty if it can. */
export function whyNoEdits({ hello, link }) {
  if (hello === null || link !== "open") return "Not connected.";
  return hello.source === "recording" ? NOT_LIVE : (hello.editing ?? NOT_LIVE);
}

/** Whether there is nothing to see here. */
export function hasNoEdits(state) {
  return state.hello !== null && whyNoEdits(state) !== "";
}

/**
 * Make the view.
 *
 * @param {Store} store - the state.
 * @param {Connection} connection - tells the server.
 * @returns {HTMLElement} the panel.
 */
export function editingView(store, connection) {
  const notice = h("p", { class: "whatif-notice", role: "note" });
  const file = () => store.state.editFile;
  const type = (text, options) => typeText(store, file(), text, options);
  const act = {
    type: (text) => type(text, { isStep: false }),
    save: () => saveFile(store, file()),
    undo: () => undo(store, file()),
    redo: () => undo(store, file(), "redo", "undo"),
  };
  const editor = textEditor(act);
  const forms = { json: jsonForm(type), xml: xmlForm(type) };
  const goTo = (line) => {
    store.set({ editMode: "text" });
    requestAnimationFrame(() => requestAnimationFrame(() => editor.goTo(line)));
  };
  const bar = toolBar(store, act);
  const foot = footer(store, connection, goTo);
  const empty = h("p", { class: "empty" });
  const sheet = h("div", { class: "edit-sheet" }, forms.json.element, forms.xml.element, editor.element);
  const scroll = h("div", { class: "edit-scroll" }, empty, sheet, placesSection(store));
  const element = h("div", { class: "edit-view view" }, notice, bar, scroll, foot);
  document.addEventListener("keydown", (event) => {
    const isMeant = store.state.tab === "edit" && (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";
    if (!isMeant) return;
    event.preventDefault();
    act.save();
  });
  addEventListener("beforeunload", (event) => {
    if ([...store.state.drafts.values()].some(isDirty)) event.preventDefault();
  });
  store.view(["hello", "link", "files", "drafts", "editFile", "editMode"], (state) => {
    const why = whyNoEdits(state);
    setText(notice, why);
    show(notice, why !== "");
    const draft = draftOf(state);
    const isOpen = Boolean(draft?.opened);
    const isText = state.editMode === "text";
    show(bar, why === "" || isOpen);
    show(sheet, isOpen);
    show(foot, draft !== undefined);
    show(empty, why === "" && draft === undefined);
    setText(empty, emptyWords(state));
    show(editor.element, isText);
    const isJson = Boolean(draft?.opened?.schema);
    show(forms.json.element, isJson && !isText);
    show(forms.xml.element, !isJson && !isText);
    if (!isOpen) return;
    if (isText) editor.draw(draft);
    else forms[isJson ? "json" : "xml"].draw(draft);
  });
  return element;
}

function emptyWords({ files, editFile }) {
  if (files === null) return "Looking which files the world has loaded …";
  if (files.rows.length === 0) return "The world has loaded no pack, task group or selection tree from its folder.";
  return editFile === "" ? "Choose a file." : "Opening …";
}

function toolBar(store, act) {
  const choice = h("select", { class: "select edit-file", "aria-label": "File" });
  const segments = ["form", "text"].map((mode) =>
    h(
      "button",
      { type: "button", class: "segment", on: { click: () => store.set({ editMode: mode }) } },
      h("span", { text: mode === "form" ? "Form" : "Text" }),
    ),
  );
  const link = h("a", { class: "edit-link", text: "in the editor" });
  const back = button({ label: "Undo", title: "Take back what was changed last  (Ctrl+Z)" }, act.undo);
  const again = button({ label: "Redo", title: "Do it again  (Ctrl+Shift+Z)" }, act.redo);
  const throwAway = button({ label: "Revert", title: "Throw away what was typed" }, () =>
    revert(store, store.state.editFile),
  );
  const save = button({ label: "Save", title: SAVE, kind: "primary" }, act.save);
  choice.addEventListener("change", () => openFile(store, choice.value));
  let drawn = "";
  store.view(["files", "editFile", "drafts"], ({ files, editFile, drafts }) => {
    const rows = files?.rows ?? [];
    const marks = rows.map(([name]) => isDirty(drafts.get(name)));
    const key = JSON.stringify([rows, marks]);
    if (key !== drawn) {
      drawn = key;
      const groups = Object.entries(KINDS).map(([kind, label]) => {
        const options = rows
          .map((row, index) => [row, marks[index]])
          .filter(([[, one]]) => one === kind)
          .map(([[name, , holds], mark]) =>
            h("option", { value: name, title: holds.join(", "), text: mark ? `${name} (changed)` : name }),
          );
        return options.length > 0 ? h("optgroup", { label }, ...options) : null;
      });
      fill(choice, h("option", { value: "", text: `${plural(rows.length, "file")} …` }), ...groups);
    }
    choice.value = editFile;
  });
  store.view(["drafts", "editFile", "editMode", "hello", "link"], (state) => {
    const draft = draftOf(state);
    const why = saveRefusal(state, draft);
    save.disabled = why !== "";
    setAttr(save, "title", why || SAVE);
    back.disabled = !draft?.undo?.length;
    again.disabled = !draft?.redo?.length;
    throwAway.disabled = !isDirty(draft);
    segments.forEach((one, index) =>
      setAttr(one, "aria-pressed", String(state.editMode === (index === 0 ? "form" : "text"))),
    );
    show(link, Boolean(draft?.opened?.href));
    setAttr(link, "href", draft?.opened?.href || null);
  });
  return h(
    "div",
    { class: "edit-bar", role: "toolbar", "aria-label": "Edit" },
    choice,
    h("span", { class: "segments", role: "group", "aria-label": "How it is shown" }, ...segments),
    link,
    h("span", { class: "gap" }),
    h("span", { class: "edit-acts" }, back, again, throwAway, save),
  );
}

/** Why a draft cannot be saved; empty if it can. */
function saveRefusal(state, draft) {
  const why = whyNoEdits(state);
  if (why !== "") return why;
  if (!draft?.opened) return "No file is open.";
  if (draft.opened.why_not) return draft.opened.why_not;
  if (!isDirty(draft)) return "Nothing is changed.";
  if (draft.isBusy) return "It is being saved.";
  if (draft.checked === draft.text && !draft.ok) return "It has mistakes; nothing broken is saved.";
  return draft.conflict ? "It was changed on the disk: choose below." : "";
}

/** What is wrong, what was changed, what became of it. */
function footer(store, connection, goTo) {
  const wrong = h("ul", { class: "edit-problems", "aria-label": "What is wrong" });
  const said = h("p", { class: "edit-said", role: "status" });
  const step = button({ label: "Run one tick", title: "It is paused: run one tick, which takes it up" }, () =>
    connection.send({ do: "step", ticks: 1 }),
  );
  const diff = h("div", { class: "edit-diff" });
  const changes = h("details", { class: "edit-changes" }, h("summary", {}), diff);
  const conflict = h(
    "div",
    { class: "edit-conflict", role: "alert", hidden: true },
    h("p", { text: "The file was changed on the disk since it was opened. Nothing was written." }),
    h("div", { class: "edit-diff" }),
    button({ label: "Take theirs", title: "What was typed can be had back by Undo" }, () =>
      takeTheirs(store, store.state.editFile),
    ),
    button({ label: "Save mine over it" }, () => {
      const { version } = draftOf(store.state).conflict;
      saveFile(store, store.state.editFile, version);
    }),
    button({ label: "Later", kind: "quiet" }, () => setDraft(store, store.state.editFile, { conflict: null })),
  );
  store.view(["drafts", "editFile", "reloads", "world", "hello"], (state) => {
    const draft = draftOf(state);
    if (draft === undefined) return;
    reconcile(
      wrong,
      [...(draft.error ? [{ text: draft.error, line: 0, is_error: true }] : []), ...(draft.problems ?? [])],
      (one) => `${one.file ?? ""} ${one.line} ${one.text}`,
      () => problemRow(goTo),
      fillProblem,
    );
    show(wrong, wrong.childElementCount > 0);
    const came = outcomeOf(state, state.editFile);
    const isWaiting = isDirty(draft) && draft.checked !== draft.text;
    const fine = isDirty(draft) ? "No mistakes." : (draft.opened?.why_not ?? "");
    setText(said, came?.words ?? (isWaiting ? "Checking …" : draft.ok ? fine : ""));
    setClass(said, `edit-said ${came?.kind ? `is-${came.kind}` : ""}`);
    show(step, came?.kind === "waits" && mayControl(state));
    show(changes, isDirty(draft));
    if (isDirty(draft)) {
      const rows = changedLines(draft.base, draft.text);
      const count = (sign) => rows.filter(([one]) => one === sign).length;
      setText(changes.firstChild, `Changes: −${count("-")} +${count("+")} lines`);
      fill(diff, ...rows.slice(0, MOST_LINES).map(diffLine));
    }
    show(conflict, Boolean(draft.conflict));
    if (!draft.conflict) return;
    const theirs = changedLines(draft.base, draft.conflict.text).slice(0, MOST_LINES);
    fill(conflict.children[1], ...theirs.map(diffLine));
  });
  return h("div", { class: "edit-foot" }, conflict, wrong, h("div", { class: "edit-outcome" }, said, step), changes);
}

function problemRow(goTo) {
  const [place, words] = ["edit-place", "edit-words"].map((name) => h("span", { class: name }));
  const click = () => row.line && goTo(row.line);
  const go = h("button", { type: "button", class: "link", on: { click } }, place, words);
  const row = h("li", {}, go);
  row.parts = { place, words, go };
  return row;
}

function fillProblem(row, { file, line, pointer, text, is_error: isError }) {
  row.line = file ? 0 : line;
  setText(row.parts.place, `${file || ""}${line ? `${file ? ":" : "line "}${line}` : ""}`);
  setText(row.parts.words, text);
  setAttr(row.parts.go, "title", [pointer, row.line ? "Go there" : ""].filter(Boolean).join(": ") || null);
  setClass(row, isError ? "is-wrong" : "is-doubtful");
}

function diffLine([sign, number, text]) {
  return h(
    "div",
    { class: sign === "-" ? "is-gone" : "is-new" },
    h("span", { class: "edit-place", text: String(number) }),
    h("span", { text: `${sign === "-" ? "−" : "+"} ${text}` }),
  );
}

/** Where what drives the chosen agent is written: goals, trees, actions. */
function placesSection(store) {
  const list = h("ul", { class: "edit-places" });
  const none = h("p", { class: "empty-line" });
  const element = h(
    "details",
    { class: "edit-python", open: true },
    h("summary", { text: "In Python" }),
    none,
    list,
  );
  store.view(["places", "chosen", "hello", "link"], (state) => {
    const { places, chosen } = state;
    const mine = places !== null && places.agent === chosen ? places : { rows: [], error: "" };
    show(element, whyNoEdits(state) === "");
    setText(none, mine.error || `Nothing that drives ${chosen ?? "it"} is written below the folder of the world.`);
    show(none, mine.rows.length === 0);
    reconcile(
      list,
      mine.rows,
      (row) => row.join(" "),
      () => h("li", {}),
      (item, [kind, name, path, line, href]) => {
        if (item.firstChild !== null) return;
        const words = [h("span", { class: "edit-kind", text: kind }), h("span", { class: "edit-name", text: name })];
        item.append(...words, placeLink(path, line, href));
      },
    );
  });
  return element;
}

/**
 * The bar that tells of edits which wait for a tick, while the world is paused.
 *
 * @param {Store} store - the state.
 * @param {Connection} connection - tells the server.
 * @returns {HTMLElement} the bar.
 */
export function waitingBar(store, connection) {
  const text = h("span", { class: "waiting-text" });
  const step = button({ label: "Run one tick" }, () => connection.send({ do: "step", ticks: 1 }));
  const dot = h("span", { class: "dot started" });
  const bar = h("div", { class: "waiting-edits", role: "status", hidden: true }, dot, text, step);
  store.view(["world", "hello", "link"], (state) => {
    const files = state.world?.waiting ?? [];
    show(bar, files.length > 0 && state.world.paused === true);
    const more = files.length > 3 ? ` and ${files.length - 3} more` : "";
    setText(text, `Paused: ${files.slice(0, 3).join(", ")}${more} will be taken up with the next tick.`);
    show(step, mayControl(state));
  });
  return bar;
}
