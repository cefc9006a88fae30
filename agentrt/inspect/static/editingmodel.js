/**
 * Edits of files: the state of the page about them, and what is asked of the server.
 *
 * Of each file that was opened there is a draft (`state.drafts`): its text as it is typed, the text and the version
 * that were opened, what is wrong with it, and the texts before, for undo. A draft is replaced and never changed in
 * place, and stays when another file is looked at. What is typed is checked by the server a moment after the last key;
 * an answer to a text that is not there any more is dropped.
 */

const CHECK_PAUSE = 250; // milliseconds after the last key
const MOST_UNDO = 200;
const SAME_STEP = 900; // milliseconds in which typing is one step to be undone
const MOST_COMPARED = 1_000_000; // pairs of lines; of more, all between the first and the last that differ are told

/** What the state holds of edits. */
export function editingState() {
  return {
    files: null, // the last "files" message: which may be edited
    places: null, // the last "places" message: where things of an agent are written
    editFile: "", // the file that is looked at
    editMode: "form", // or text
    drafts: new Map(), // by file
  };
}

/** How messages of the server about edits are taken into the state. */
export const editingHandlers = {
  files(store, message) {
    store.set({ files: message });
  },
  places(store, message) {
    store.set({ places: message });
  },
};

/** Whether a draft differs from what was opened. */
export const isDirty = (draft) => draft !== undefined && draft.text !== draft.base;

/** The draft of the file that is looked at. */
export const draftOf = (state) => state.drafts.get(state.editFile);

/** Change a draft. */
export function setDraft(store, file, patch) {
  const drafts = new Map(store.state.drafts);
  if (patch === null) drafts.delete(file);
  else drafts.set(file, { ...drafts.get(file), ...patch });
  store.set({ drafts });
}

/**
 * Ask the server.
 *
 * @param {object} request - what; see the protocol.
 * @returns {Promise<object>} what it says; what it refuses has `is` "refusal", a `code` and a `message`.
 */
async function ask(request) {
  const refusal = (message) => ({ is: "refusal", code: "lost", message });
  try {
    const path = location.pathname.replace(/[^/]*$/, "api/edit");
    const query = new URLSearchParams(location.search);
    const token = query.has("token") ? `?token=${encodeURIComponent(query.get("token"))}` : "";
    const answer = await fetch(path + token, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(request),
    });
    const said = await answer.text();
    try {
      return JSON.parse(said);
    } catch {
      return refusal(said.slice(0, 400) || `the server says ${answer.status}`);
    }
  } catch {
    return refusal("the server cannot be reached");
  }
}

/** Open a file, if it is not open already; or again, and what was typed is gone. */
export async function openFile(store, file, isAnew = false) {
  store.set({ editFile: file });
  if (file === "" || (store.state.drafts.has(file) && !isAnew)) return;
  const message = await ask({ do: "open", file });
  if (message.is === "refusal") return setDraft(store, file, { error: message.message, text: "", base: "", undo: [] });
  const { text, version, problems, ok } = message;
  const fresh = { opened: message, base: text, text, version, problems, ok, undo: [], redo: [], error: "", said: null };
  setDraft(store, file, { ...fresh, conflict: null, isBusy: false, checked: text });
}

let timer = 0;

/** Have a draft hold another text; it is checked in a moment. */
export function typeText(store, file, text, { isStep = true } = {}) {
  const draft = store.state.drafts.get(file);
  if (draft === undefined || draft.text === text) return;
  const now = performance.now();
  const joins = !isStep && draft.typedAt !== undefined && now - draft.typedAt < SAME_STEP;
  const undo = joins ? draft.undo : [...draft.undo, draft.text].slice(-MOST_UNDO);
  setDraft(store, file, { text, undo, redo: [], typedAt: isStep ? undefined : now, said: null });
  checkSoon(store, file);
}

function checkSoon(store, file) {
  clearTimeout(timer);
  timer = setTimeout(() => check(store, file), CHECK_PAUSE);
}

async function check(store, file) {
  const text = store.state.drafts.get(file)?.text;
  if (text === undefined) return;
  const message = await ask({ do: "check", file, text });
  if (store.state.drafts.get(file)?.text !== text) return; // that was typed over
  if (message.is === "refusal") {
    if (message.code === "lost") setTimeout(() => checkSoon(store, file), 1000);
    return setDraft(store, file, { error: message.message });
  }
  setDraft(store, file, { problems: message.problems, ok: message.ok, checked: text, error: "" });
}

/** Go back by one step, or on again. */
export function undo(store, file, from = "undo", to = "redo") {
  const draft = store.state.drafts.get(file);
  if (!draft?.[from]?.length) return;
  const patch = { text: draft[from].at(-1), [from]: draft[from].slice(0, -1), [to]: [...draft[to], draft.text] };
  setDraft(store, file, { ...patch, typedAt: undefined, said: null });
  checkSoon(store, file);
}

/** Throw away what was typed. */
export function revert(store, file) {
  const draft = store.state.drafts.get(file);
  if (isDirty(draft)) typeText(store, file, draft.base);
}

/** The reload that was last of a file; and what it is known by, since all of them are told anew with each. */
function lastReload(state, file) {
  const rows = state.reloads.filter((row) => row.files.includes(file));
  const row = rows.at(-1);
  return { row, key: row && `${row.tick}.${rows.filter(({ tick }) => tick === row.tick).length}` };
}

/** Save a draft; `version` of what is on the disk, if that is to be written over. */
export async function saveFile(store, file, version = null) {
  const draft = store.state.drafts.get(file);
  if (draft === undefined || draft.isBusy || (!isDirty(draft) && version === null)) return;
  const { key: before } = lastReload(store.state, file);
  setDraft(store, file, { isBusy: true });
  const message = await ask({ do: "save", file, text: draft.text, version: version ?? draft.version });
  if (message.is === "refusal") {
    const conflict = message.code === "changed" ? { version: message.version, text: message.text } : null;
    const problems = message.problems ? { problems: message.problems, ok: false, checked: draft.text } : {};
    return setDraft(store, file, { ...problems, isBusy: false, error: conflict ? "" : message.message, conflict });
  }
  const said = { removed: message.removed, added: message.added, before };
  const saved = { base: draft.text, version: message.version, conflict: null, error: "", isBusy: false, said };
  return setDraft(store, file, saved);
}

/** Have the text that is on the disk be the one that changes are made to; what was typed can be had back by undo. */
export function takeTheirs(store, file) {
  const { conflict } = store.state.drafts.get(file);
  typeText(store, file, conflict.text);
  setDraft(store, file, { base: conflict.text, version: conflict.version, conflict: null });
}

/** What became of what was saved: words, and whether they are good, bad or neither. */
export function outcomeOf(state, file) {
  const said = state.drafts.get(file)?.said;
  if (!said) return null;
  const lines = `−${said.removed} +${said.added} lines`;
  if (said.removed + said.added === 0) return { kind: "", words: "Saved: as it was." };
  const { row, key } = lastReload(state, file);
  if (key !== said.before) {
    if (row.error) return { kind: "bad", words: `Saved, ${lines}, and refused in tick ${row.tick}: the world stays.` };
    const who = row.took === 1 ? "1 agent" : `${row.took} agents`;
    return { kind: "good", words: `Saved, ${lines}; taken up in tick ${row.tick} by ${who}.` };
  }
  if (state.world?.paused) return { kind: "waits", words: `Saved, ${lines}; it waits for the next tick: paused.` };
  return { kind: "", words: `Saved, ${lines} …` };
}

/**
 * The lines that differ between two texts, as few as can be found.
 *
 * @returns {[string, number, string][]} "-" or "+", the number of the line, and the line.
 */
export function changedLines(before, after) {
  const [ours, theirs] = [before.split("\n"), after.split("\n")];
  let first = 0;
  while (first < Math.min(ours.length, theirs.length) && ours[first] === theirs[first]) first += 1;
  let last = 0;
  while (last < Math.min(ours.length, theirs.length) - first && ours.at(-1 - last) === theirs.at(-1 - last)) last += 1;
  const [gone, come] = [ours.slice(first, ours.length - last), theirs.slice(first, theirs.length - last)];
  const isSame = gone.length * come.length > MOST_COMPARED ? () => 0 : commonLines(gone, come);
  const rows = [];
  for (let [one, other] = [0, 0]; one < gone.length || other < come.length; ) {
    if (one < gone.length && other < come.length && gone[one] === come[other]) [one, other] = [one + 1, other + 1];
    else if (other >= come.length || (one < gone.length && isSame(one + 1, other) >= isSame(one, other + 1))) {
      rows.push(["-", first + one + 1, gone[one]]);
      one += 1;
    } else {
      rows.push(["+", first + other + 1, come[other]]);
      other += 1;
    }
  }
  return rows;
}

/** How many lines two lists have in common, in their order, from two places on. */
function commonLines(gone, come) {
  const width = come.length + 1;
  const table = new Uint32Array((gone.length + 1) * width);
  for (let one = gone.length - 1; one >= 0; one -= 1) {
    for (let other = come.length - 1; other >= 0; other -= 1) {
      const at = one * width + other;
      const next = table[at + width + 1] + 1;
      table[at] = gone[one] === come[other] ? next : Math.max(table[at + width], table[at + 1]);
    }
  }
  return (one, other) => table[one * width + other];
}
