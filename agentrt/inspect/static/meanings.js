/**
 * What the figures at the bottom of the page mean: a dialog of a few terms, and buttons that lead to one of them.
 */

import { button, h } from "./dom.js";

const TERMS = {
  late: [
    "Late ticks",
    "Ticks that were left out: the machine could not keep up with the ticks that a second should have, so that the " +
      "clock of the game goes behind that on the wall. The run itself is the same. Performance shows which took long.",
  ],
  dropped: [
    "Dropped updates",
    "Updates that this page was not told of, since it had not taken the ones before: the newest state is shown, " +
      "records of the log may be missing, and the run is never held up for a page.",
  ],
  strands: [
    "Strands",
    "Coroutines that live: whatever thinks, runs or waits has one of its own.",
  ],
};

/**
 * Make the dialog.
 *
 * @param {Store} store - the state.
 * @returns {{dialog: HTMLElement, link: function(string, string): HTMLElement}} the dialog, and a function that makes a
 *   button of some class which leads to a term.
 */
export function meanings(store) {
  const terms = Object.entries(TERMS).map(([key, [name, words]]) => [
    key,
    h("div", { tabindex: -1, class: "meaning" }, h("dt", { text: name }), h("dd", { text: words })),
  ]);
  const dialog = h(
    "dialog",
    { class: "help meanings", "aria-label": "What the figures mean" },
    h(
      "header",
      {},
      h("h2", { text: "What the figures mean" }),
      button({ glyph: "close", name: "Close", kind: "quiet" }, () => dialog.close()),
    ),
    h("dl", {}, ...terms.map(([, term]) => term)),
    button({ label: "Show Performance", title: "Show how long ticks took" }, () => {
      dialog.close();
      store.set({ tab: "performance" });
    }),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // the page's keys are not meant

  function open(wanted) {
    for (const [key, term] of terms) term.classList.toggle("is-meant", key === wanted);
    dialog.showModal();
    terms.find(([key]) => key === wanted)?.[1].focus();
  }

  function link(wanted, kind) {
    const title = "What does that mean?";
    return h("button", { type: "button", class: `link ${kind}`, title, on: { click: () => open(wanted) } });
  }
  return { dialog, link };
}
