/**
 * The side panel's second part: who holds which control flags, who waits for one, who was refused one, and aborts.
 *
 * Control flags are what the models of one body contend for (who moves it, who turns its head); most questions of the
 * kind "why does it stand there" end here.
 *
 * Source: prismarine-gameplay: control flags.
 */

import { fill, h, show } from "./dom.js";

const MOST_REFUSALS = 3;

/**
 * Make the part about control flags: who holds which, who waits, who was refused, and aborts.
 *
 * @param {Store} store - the state.
 * @returns {HTMLElement} the section.
 */
export function flagsSection(store) {
  const body = h("div", { class: "side-body" });
  const none = h("p", { class: "empty-line", text: "No control flag is held." });
  let drawn = "";
  store.view(["agent", "chosen"], ({ agent }) => {
    const {
      flags = [],
      waiting = [],
      refusals = [],
      aborts = 0,
      abort_reason: abortReason = "",
    } = agent?.snapshot ?? {};
    const text = JSON.stringify([flags, waiting, refusals, aborts, abortReason]);
    if (text === drawn) return;
    drawn = text;
    const held = flags.map(({ flag, holder, since }) =>
      h(
        "li",
        {},
        h("span", { class: "flag is-held", text: flag }),
        h("span", { text: holder }),
        h("span", { class: "since", text: `since ${since}` }),
      ),
    );
    const waits = waiting.map((one) =>
      h(
        "li",
        { class: "is-waiting" },
        h("span", { class: "flag", text: one.flags.join(" ") }),
        h("span", { text: `${one.claimant} waits` }),
        h("span", { class: "since", text: `since ${one.since}` }),
      ),
    );
    const latest = [...refusals].sort((a, b) => b.tick - a.tick);
    const refused = latest
      .slice(0, MOST_REFUSALS)
      .map((one) =>
        h(
          "li",
          { class: "is-refused" },
          h("span", { class: "flag", text: one.flag }),
          h("span", { text: `${one.claimant} was refused by ${one.holder}, ${one.reason}` }),
          h("span", { class: "since", text: `tick ${one.tick}` }),
        ),
      );
    if (latest.length > MOST_REFUSALS)
      refused.push(h("li", { class: "since", text: `and ${latest.length - MOST_REFUSALS} that are older` }));
    const aborted =
      aborts > 0
        ? [
            h(
              "li",
              { class: "is-refused" },
              h("span", { class: "flag", text: `${aborts}×` }),
              h("span", { text: `aborted: ${abortReason}` }),
            ),
          ]
        : [];
    fill(
      body,
      ...[held, waits, refused, aborted]
        .filter((list) => list.length > 0)
        .map((list) => h("ul", { class: "flag-list" }, ...list)),
    );
    show(none, held.length + waits.length + refused.length + aborted.length === 0);
  });
  return h(
    "section",
    { class: "side-section", "aria-label": "Control flags" },
    h("div", { class: "panel-head" }, h("h2", { text: "Control flags" })),
    body,
    none,
  );
}
