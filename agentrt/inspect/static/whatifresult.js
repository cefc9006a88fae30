/**
 * What came of a branch, beside what was recorded: where the two first part and why, the time lines, the counts.
 *
 * The recorded run is always on top and gray, the branch below it in the color of what is chosen. A time line is an
 * SVG, whose boxes tell what they are when they are pointed at; a text says the same of the counts and of the first
 * difference.
 */

import { colorOf } from "./canvas.js";
import { button, fill, h, setText, show } from "./dom.js";
import { clip, count, number, plural } from "./format.js";
import { choose } from "./store.js";
import { arrange } from "./timescale.js";
import { editWords, scriptText } from "./whatifmodel.js";

const SVG = "http://www.w3.org/2000/svg";
const ROW = 14;
const WIDE = 1000; // of the drawing, whatever the width of the page
const MOST_BOXES = 1500;
const MOST_COUNTS = 60;
const MOST_AGENTS = 30;

/**
 * Make the part of the view.
 *
 * @param {Store} store - the state; `branch` is what came of the chosen one.
 * @returns {HTMLElement} the part; empty while none is chosen.
 */
export function resultView(store) {
  const body = h("div", {});
  const lines = h("div", { class: "whatif-sides" });
  const figures = h("div", {});
  const element = h(
    "section",
    { class: "whatif-result", "aria-label": "What came of the branch", hidden: true },
    body,
    lines,
    figures,
  );
  let seen = ""; // which branch was shown, and how far it was
  store.view(["branch"], ({ branch }) => {
    show(element, branch !== null);
    fill(body, ...(branch === null ? [] : render(store, branch)));
    fill(figures, ...(branch === null ? [] : [branch.report ? counts(branch.report) : null, commandLine(branch)]));
    const key = branch === null ? "" : `${branch.id} ${branch.state}`;
    if (key !== seen && branch !== null && branch.state !== "running") {
      const scroller = element.parentElement; // what was waited for comes into sight; the page itself stays
      scroller.scrollTop += element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - 10;
    }
    seen = key;
  });
  store.view(["sides", "branch", "chosen", "theme"], ({ sides, branch, chosen }) => {
    const isThere = branch?.state === "done" && sides !== null && sides.id === branch.id && sides.agent === chosen;
    show(lines, isThere);
    fill(lines, ...(isThere ? timeLines(sides) : []));
  });
  return element;
}

function render(store, branch) {
  const { report } = branch;
  const head = h(
    "div",
    { class: "whatif-row" },
    h("h3", { text: `Branch ${branch.id}, after tick ${branch.at}` }),
    h("span", { class: "gap" }),
    button({ label: "Save script" }, () => download(branch.file, scriptText(branch.edits))),
    button({ label: "Change it further", title: "Make its changes the draft" }, () =>
      store.set({ draft: { at: branch.at, ticks: branch.ticks, edits: branch.edits } }),
    ),
  );
  const edits = h("ul", { class: "whatif-edits is-done" }, ...branch.edits.slice(0, 20).map(editLine));
  if (branch.error) return [head, edits, h("pre", { class: "whatif-failure", text: branch.error })];
  if (report) return [head, edits, summary(report), ...firstDifference(store, report)];
  const words = branch.state === "running" ? "It runs …" : "It was ended before it was done.";
  return [head, edits, h("p", { class: "empty-line", text: words })];
}

function commandLine({ command }) {
  return h(
    "p",
    { class: "whatif-command" },
    h("span", { text: "The same on the command line, with the script saved: " }),
    h("code", { text: command }),
  );
}

function editLine(edit) {
  const tick = h("span", { class: "whatif-tick", text: `tick ${edit.tick}` });
  return h("li", {}, tick, h("span", { text: editWords(edit) }));
}

function summary(report) {
  const { difference } = report;
  const agents = (difference?.agents ?? []).filter((one) => one.agent !== "");
  const parts = [];
  if (difference === null) parts.push("Nothing was recorded after that tick, so there is nothing to compare with.");
  else if (difference.agents.length === 0)
    parts.push("The same as recorded: nothing that was changed made a difference.");
  else {
    parts.push(`${plural(agents.length + (difference.agents_more ?? 0), "agent")} did something else, `);
    parts.push(`${count(difference.untouched)} did the same.`);
  }
  const ends = [
    [difference?.gone, "only in the recording"],
    [difference?.come, "only in the branch"],
  ];
  for (const [names, words] of ends) {
    if (names?.length > 0) parts.push(` In the end ${words}: ${clip(names.join(", "), 200)}.`);
  }
  const results = [
    [report.late, "came in later than recorded"],
    [report.left_over, "came in for nobody"],
  ];
  for (const [many, words] of results) {
    if (many > 0) parts.push(` ${plural(many, "result")} ${words}.`);
  }
  for (const note of report.notes ?? []) parts.push(` ${clip(note, 200)}.`);
  return h(
    "p",
    { class: "whatif-summary" },
    h("span", { text: parts.join("") }),
    h("span", {
      class: "whatif-digest",
      title: "A hash of the whole run: the command line gives the same",
      text: ` digest ${report.digest}`,
    }),
  );
}

function firstDifference(store, report) {
  const { first, difference } = report;
  if (!first) return [];
  const [expected, got] = briefly(first.expected, first.got);
  const side = (title, record, words, kind) =>
    h(
      "div",
      { class: `whatif-side ${kind}` },
      h("h4", { text: title }),
      h("code", { text: record ?? "nothing more in this tick" }),
      words ? h("pre", { text: words }) : null,
    );
  const others = difference.agents.filter((one) => one.agent && one.agent !== first.agent).slice(0, MOST_AGENTS);
  const pick = (one) =>
    h("button", {
      type: "button",
      class: "link",
      text: `${one.agent} from tick ${one.tick}`,
      on: { click: () => choose(store, one.agent) },
    });
  return [
    h("h3", { text: `They part in tick ${first.tick}${first.agent ? `: ${first.agent}` : ""}` }),
    h(
      "div",
      { class: "whatif-pair" },
      side("as recorded", expected, first.expected_explained, "one"),
      side("in the branch", got, first.got_explained, "other"),
    ),
    others.length > 0
      ? h("p", { class: "whatif-others" }, h("span", { text: "Then: " }), ...others.flatMap((one) => [pick(one), " "]))
      : null,
  ];
}

/** Both records with their numbers as they are written elsewhere, unless that hides what is different. */
export function briefly(...records) {
  const brief = records.map((record) => record?.replace(/(?<==)-?\d+\.\d{4,}(?= |$)/g, (one) => number(Number(one))));
  return brief[0] === brief[1] ? records : brief;
}

function counts({ difference }) {
  const rows = (difference?.counts ?? []).slice(0, MOST_COUNTS);
  if (rows.length === 0) return null;
  const most = Math.max(...rows.map((row) => Math.max(row[2], row[3])), 1);
  const cell = (amount, kind) => {
    const bar = h("span", { class: `whatif-bar ${kind}` });
    bar.style.width = `${(100 * amount) / most}%`;
    const amountOf = h("span", { class: "whatif-count", text: count(amount) });
    return h("td", {}, amountOf, h("span", { class: "whatif-track" }, bar));
  };
  const more = difference.counts.length - rows.length + (difference.counts_more ?? 0);
  const span = `ticks ${difference.first_tick} to ${difference.last_tick}`;
  const heads = ["what", "as recorded", "in the branch", "change"];
  const changeOf = (one, other) => `${other > one ? "+" : "−"}${count(Math.abs(other - one))}`;
  return h(
    "table",
    { class: "whatif-counts" },
    h("caption", {
      text: `How often, in ${span}${more > 0 ? `; ${more} more are left out` : ""}`,
    }),
    h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col", text })))),
    h(
      "tbody",
      {},
      ...rows.map(([kind, name, one, other]) =>
        h(
          "tr",
          { class: one === other ? "is-same" : "" },
          h("th", { scope: "row" }, h("span", { text: name }), h("span", { class: "whatif-kind", text: kind })),
          cell(one, "one"),
          cell(other, "other"),
          h("td", { class: "whatif-change", text: one === other ? "" : changeOf(one, other) }),
        ),
      ),
    ),
  );
}

function timeLines(sides) {
  const { first, last, at } = sides;
  const read = sides.read >= last ? "" : ` (read up to ${count(sides.read)})`;
  return [
    h("h3", { text: `${sides.agent}, ticks ${count(first)} to ${count(last)}${read}` }),
    line("as recorded", sides.one, { first, last, at }, "one"),
    line("in the branch", sides.other, { first, last, at }, "other"),
  ];
}

function line(title, spans, { first, last, at }, kind) {
  const seen = spans.filter((span) => (span[5] ?? last) >= first).slice(-MOST_BOXES);
  const { boxes, rows } = arrange(seen);
  const high = Math.max(1, rows) * ROW;
  const x = (tick) => ((Math.min(Math.max(tick, first), last + 1) - first) / Math.max(1, last + 1 - first)) * WIDE;
  const svg = element("svg", {
    viewBox: `0 0 ${WIDE} ${high}`,
    preserveAspectRatio: "none",
    class: "whatif-svg",
    role: "img",
    "aria-label": `Time line, ${title}: ${plural(seen.length, "span")}`,
  });
  svg.style.height = `${high}px`;
  for (const { span, row } of boxes) {
    const [, , , name, begin, end, outcome] = span;
    const left = x(begin);
    const width = Math.max(1, x(end ?? last + 1) - left);
    const box = element("rect", { x: left, y: row * ROW + 1, width, height: ROW - 2 });
    box.style.fill = colorOf(name);
    const tip = element("title", {});
    tip.textContent = `${clip(name, 100)}, ticks ${begin} to ${end ?? "…"}${outcome ? `, ${outcome}` : ""}`;
    box.append(tip);
    svg.append(box);
  }
  svg.append(element("line", { x1: x(at + 1), x2: x(at + 1), y1: 0, y2: high, class: "whatif-at" }));
  const names = [...new Map(seen.map((span) => [span[3], span])).keys()].slice(-8);
  const legend = names.map((name) => {
    const box = h("span", { class: "whatif-swatch" });
    box.style.background = colorOf(name);
    return h("span", { class: "whatif-name" }, box, h("span", { text: clip(name, 30) }));
  });
  const caption = h("figcaption", {}, h("strong", { text: title }), ...legend);
  return h("figure", { class: `whatif-line ${kind}` }, caption, svg);
}

function element(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** Have the browser save a text. */
export function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = h("a", { href: url, download: name.replace(/[^\w.-]+/g, "_") });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
