/**
 * Sharing: a link to the tick and the agent that one looks at, and a recording as one file that needs no server.
 *
 * The server makes the file (`agentrt/inspect/onefile.py`) of a range of ticks and sends it; it is bounded, and how
 * large it became is said; what is watched over time is in it. A live run gives its last ticks, as far as it keeps
 * them. A page that is such a file has only the link.
 */

import { button, h, setText, show } from "./dom.js";
import { count, plural } from "./format.js";
import { linkOf } from "./links.js";
import { reachOf } from "./past.js";

/**
 * Make the dialog.
 *
 * @param {Store} store - the state.
 * @returns {{open: function(): void, dialog: HTMLElement}} a function that opens it, and the dialog.
 */
export function shareDialog(store) {
  const link = h("input", { type: "text", readonly: true, class: "share-field share-link", "aria-label": "Link" });
  const copied = h("span", { class: "share-said", role: "status" });
  const secret = h("p", {
    hidden: true,
    text: "The link has the token of this inspector in it: whoever has the link may look, too.",
  });
  const file = fileSection(store);
  const dialog = h(
    "dialog",
    { class: "help share", "aria-label": "Share" },
    h(
      "header",
      {},
      h("h2", { text: "Share" }),
      button({ glyph: "close", name: "Close", kind: "quiet" }, () => dialog.close()),
    ),
    h("h3", { text: "A link to this tick and agent" }),
    h(
      "div",
      { class: "share-row" },
      link,
      button({ label: "Copy", title: "Copy the link" }, () => copy()),
    ),
    copied,
    secret,
    file.element,
  );

  async function copy() {
    try {
      await navigator.clipboard.writeText(link.value);
      setText(copied, "Copied.");
    } catch {
      link.focus();
      link.select();
      setText(copied, "It is marked: copy it by the keyboard.");
    }
  }

  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // the page's keys are not meant
  return {
    dialog,
    open() {
      link.value = location.href.replace(/#.*$/, "") + linkOf(store.state, true);
      setText(copied, "");
      show(secret, new URLSearchParams(location.search).has("token"));
      file.begin();
      dialog.showModal();
      link.select();
    },
  };
}

/** The part of the dialog that makes a file. */
function fileSection(store) {
  const limits = { type: "number", class: "share-field share-tick", step: 1, required: true };
  const first = h("input", { ...limits, "aria-label": "From tick" });
  const last = h("input", { ...limits, "aria-label": "To tick" });
  const said = h("p", { class: "share-said", role: "status" });
  const save = button({ label: "Save", title: "Save the file", kind: "primary" }, () => make());
  const form = h(
    "div",
    { class: "share-row" },
    h("label", {}, "Ticks ", first),
    h("label", {}, " to ", last),
    save,
  );
  const words = h("p");
  const element = h("section", {}, h("h3", { text: "One file, without a server" }), words, form, said);
  let isMaking = false;

  function begin() {
    const { hello } = store.state;
    const reach = hello?.file ? null : reachOf(store.state);
    show(form, reach !== null);
    setText(words, wordsFor(store.state, reach));
    if (reach === null || isMaking) return;
    setText(said, "");
    const isLive = hello.source === "live"; // then they move on, and the newest are meant
    for (const [field, value] of [[first, reach.first], [last, reach.last]]) {
      field.min = reach.first;
      field.max = reach.last;
      if (field.value === "" || isLive) field.value = value;
    }
  }

  async function make() {
    if (!first.checkValidity() || !last.checkValidity() || Number(first.value) > Number(last.value)) {
      setText(said, `Choose ticks from ${count(Number(first.min))} to ${count(Number(first.max))}.`);
      return;
    }
    isMaking = true;
    save.disabled = true;
    setText(said, "It is being made …");
    try {
      setText(said, await saved(store.state, first.value, last.value));
    } catch (error) {
      setText(said, `It cannot be had: ${error.message}`);
    }
    isMaking = false;
    save.disabled = false;
  }

  return { element, begin };
}

function wordsFor({ hello, pins }, reach) {
  if (hello?.file) return "This page is such a file: send it as it is.";
  if (reach === null) return "A run that keeps no past is no file. Record it (runtime.record), and open the recording.";
  const what = hello.source === "live" ? "the last ticks of this run" : "the recording";
  const watched = pins.length > 0 ? ` What is watched is in it: ${plural(pins.length, "line")}.` : "";
  return (
    `This page with ${what} in it, which opens in any browser, from a disk, too. It has at most 64 MB; a range of ` +
    `ticks is smaller.${watched}`
  );
}

/** Let the server make a file, and save it; returns what came of it, in words. */
async function saved({ hello, pins }, first, last) {
  const query = new URLSearchParams({ first, last });
  if (pins.length > 0) query.set("pins", JSON.stringify(pins));
  const token = new URLSearchParams(location.search).get("token");
  if (token !== null) query.set("token", token);
  const answer = await fetch(`${location.pathname.replace(/[^/]*$/, "api/file")}?${query}`, { method: "POST" });
  if (!answer.ok) throw new Error(await answer.text());
  const blob = await answer.blob();
  const [from, to] = (answer.headers.get("X-Ticks") ?? "-").split("-");
  const name = `${hello.title.replace(/\.\w+$/, "").replace(/[^\w-]+/g, "-") || "recording"}-${from}-${to}.html`;
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  const size = `${(blob.size / 1e6).toFixed(1)} MB`;
  return `${name}: ${size}, ticks ${count(Number(from))} to ${count(Number(to))}.`;
}
