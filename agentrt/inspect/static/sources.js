/**
 * Where a model is written, beside it: a selection tree leads to its file in the tab Edit, what is written in Python to
 * its file and line, as a link if the author has named an editor, else as a text to be copied.
 */

import { fill, h, show } from "./dom.js";
import { openFile } from "./editingmodel.js";

const MOST = 12;

/** A place in Python: a link, or a text. */
export function placeLink(file, line, href) {
  const text = `${file}:${line}`;
  if (href) return h("a", { class: "edit-link", href, text, title: "Open it in the editor" });
  return h("span", { class: "edit-copy", text, title: "To be copied; --editor makes a link of it" });
}

/**
 * Make the line below the head of a model.
 *
 * @param {Store} store - the state.
 * @returns {{element: HTMLElement, draw: function(object, object): void}} the line, hidden if nothing is known; `draw`
 *   brings it up to date with the driver's view and the state.
 */
export function sourceLine(store) {
  const element = h("p", { class: "model-sources", hidden: true });
  let drawn = "";
  return {
    element,
    draw({ state = {} }, { files, places, chosen }) {
      const mine = places?.agent === chosen ? places.rows : [];
      const trees = (files?.rows ?? []).filter(([, kind, holds]) => kind === "selection" && holds.includes(state.tree));
      const isTree = state.tree !== undefined;
      const named = new Set((state.goals ?? []).map(({ name }) => name));
      const found = mine.filter(([kind, name]) =>
        isTree ? kind === "behavior tree" && name === state.tree : kind === "goal" && named.has(name),
      );
      const isSelection = Array.isArray(state.variables);
      const key = JSON.stringify([isSelection, trees, found]);
      if (key === drawn) return;
      drawn = key;
      const edits = (isSelection ? trees : []).map(([file]) => editButton(store, file));
      const links = (isSelection ? [] : found.slice(0, MOST)).map(([, name, file, line, href]) =>
        h("span", { class: "model-source" }, isTree ? null : `${name} `, placeLink(file, line, href)),
      );
      fill(element, ...edits, ...links);
      show(element, edits.length + links.length > 0);
    },
  };
}

function editButton(store, file) {
  const click = () => {
    store.set({ tab: "edit" });
    openFile(store, file);
  };
  return h("button", { type: "button", class: "link edit-link", text: file, title: "Edit it", on: { click } });
}
