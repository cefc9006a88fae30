/**
 * One thought, whole: how it stands, what was asked, what was answered, and why an answer was not taken.
 *
 * What was asked may hold what players wrote, so the server tells it only to who has controls, and it is shown as text.
 * It is asked for when the thought is opened and whenever that goes on, and drawn only when it differs: somebody may be
 * copying it.
 */

import { mayControl } from "./breakpoints.js";
import { button, fill, h, setClass, setText, show } from "./dom.js";
import { count } from "./format.js";
import { choose } from "./store.js";
import { ageOf, openThought, PART_WORDS, standingOf, stateOf, thoughtOf, whatFor, wordsOf } from "./thoughtsmodel.js";

const WITHOUT_CONTROLS =
  "What was asked and answered is shown only with controls, since it may hold what players wrote: start the " +
  "inspector with --controls.";

/**
 * Make the part.
 *
 * @param {Store} store - the state; `thoughtId` is the thought.
 * @param {Connection} connection - asks the server.
 * @returns {HTMLElement} the part.
 */
export function thoughtDetail(store, connection) {
  let row = null; // as it was told last: one that is over goes from the list some time
  let asked = "";
  let drawn = null;
  const back = button({ label: "← All thoughts", title: "Back to all thoughts  (Esc)", kind: "quiet" }, () =>
    openThought(store, 0),
  );
  const dot = h("span", { class: "dot" });
  const title = h("strong", {});
  const word = h("span", { class: "state-word" });
  const agent = h("button", { type: "button", class: "link", on: { click: () => row && choose(store, row.agent) } });
  const facts = h("p", { class: "thought-facts" });
  const why = h("p", { class: "why-box" });
  const note = h("p", { class: "whatif-notice", role: "note" });
  const texts = h("div", {});

  function ask(state) {
    const wanted = `${row.number} ${row.state} ${row.tokens}`;
    if (wanted === asked || !mayControl(state)) return;
    asked = wanted;
    connection.send({ do: "thought", id: row.number });
  }

  function draw(state) {
    const { thoughtId, thoughtText: text, world, hello } = state;
    if (thoughtId === 0) {
      [row, asked] = [null, ""];
      return;
    }
    row = thoughtOf(state.mind, thoughtId) ?? (row?.number === thoughtId ? row : null);
    if (row === null) return;
    ask(state);
    const [, look] = stateOf(row);
    setClass(dot, `dot ${look}`);
    setText(title, `Thought ${row.number}: ${whatFor(row)}`);
    setText(word, standingOf(row));
    setClass(word, `state-word ${look}`);
    setText(agent, row.agent);
    setText(facts, factsOf(row, world?.tick ?? 0, hello?.ticks_per_second ?? 0));
    const reason = [wordsOf(row), text?.why && `an answer was not taken: ${text.why}`].filter(Boolean);
    const told = reason.filter((one, at) => !(at > 0 && reason[0].includes(text.why))).join("\n");
    setText(why, told);
    setClass(why, row.state === "failed" || text?.why ? "why-box" : "why-box is-calm");
    show(why, told !== "");
    setText(note, mayControl(state) ? (text?.problem ?? "") : WITHOUT_CONTROLS);
    show(note, note.textContent !== "");
    if (text === drawn) return;
    drawn = text;
    fill(texts, ...(text?.parts ?? []).map(partOf));
  }
  store.view(["mind", "thoughtId", "thoughtText", "world", "hello", "link"], draw);
  return h(
    "section",
    { class: "thought-detail", "aria-label": "The thought" },
    back,
    h("div", { class: "thought-heading" }, dot, title, word),
    h("div", { class: "thought-by" }, agent, facts),
    why,
    note,
    texts,
  );
}

function factsOf(row, tick, rate) {
  const parts = [
    row.model,
    `asked in tick ${count(row.asked)}`,
    row.began ? `called in tick ${count(row.began)}` : "",
    row.ended ? `over in tick ${count(row.ended)}, after ${ageOf(row, tick, rate)}` : `${ageOf(row, tick, rate)} ago`,
    row.tokens > 0 ? `${count(row.tokens)} tokens` : "",
    row.path,
  ];
  return parts.filter(Boolean).join(" · ");
}

function partOf([name, text, more]) {
  return h(
    "div",
    { class: `thought-part is-${name}` },
    h("h3", { text: PART_WORDS[name] ?? name }),
    h("pre", { tabindex: 0, text }),
    more > 0 ? h("p", { class: "thoughts-more", text: `and ${count(more)} more characters` }) : null,
  );
}
