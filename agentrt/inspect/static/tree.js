/**
 * A tree of rows: what the plan and the outlines of behavior and selection trees have in common on the screen.
 *
 * The tree is drawn from a flat list of rows (`key`, `depth`, `isOpen`), one element a row, kept by key. It follows the
 * usual keys of trees: up and down move, right opens or goes in, left closes or goes out, Home and End, Enter selects.
 * The element of the tree has the focus and names the current row (`aria-activedescendant`), since rows come and go
 * with each tick.
 */

import { h, icon, reconcile, setAttr } from "./dom.js";

const INDENT = 14;

/** The tree. */
export class Tree {
  /**
   * @param {object} options - `label`; `create()` gives the cells of a row; `update(cells, row)` fills them, and may
   *   return classes; `onToggle(row, open)`; `onSelect(row)`.
   */
  constructor({ label, create, update, onToggle, onSelect }) {
    Object.assign(this, { create, update, onToggle, onSelect });
    this.element = h("div", { class: "tree", role: "tree", tabindex: 0, "aria-label": label });
    this.prefix = `tree-${(Tree.made += 1)}-`;
    this.rows = [];
    this.current = null;
    this.element.addEventListener("click", (event) => this.clicked(event));
    this.element.addEventListener("dblclick", (event) => {
      const row = this.rowOf(event.target);
      if (row && row.isOpen !== null && !event.target.closest(".twisty")) this.onToggle(row, !row.isOpen);
    });
    this.element.addEventListener("keydown", (event) => this.pressed(event));
  }

  /**
   * Show rows.
   *
   * @param {object[]} rows - the rows, in order.
   * @param {string|null} current - the key of the one that is selected.
   */
  show(rows, current) {
    this.rows = rows;
    this.current = current;
    let active = null;
    reconcile(
      this.element,
      rows,
      (row) => row.key,
      (row) => this.make(row),
      (element, row, index) => {
        element.dataset.index = index;
        element.id = `${this.prefix}${index}`;
        if (row.key === current) active = element.id;
        setAttr(element, "aria-level", row.depth + 1);
        setAttr(element, "aria-selected", row.key === current ? "true" : "false");
        setAttr(element, "aria-expanded", row.isOpen === null ? null : String(row.isOpen));
        element.indent.style.width = `${row.depth * INDENT}px`;
        const classes = this.update(element.cells, row) ?? "";
        const twisty = row.isOpen === null ? "leaf" : row.isOpen ? "open" : "closed";
        const name = `tree-row ${twisty} ${classes}${row.key === current ? " is-selected" : ""}`;
        if (element.className !== name) element.className = name;
      },
    );
    setAttr(this.element, "aria-activedescendant", active);
  }

  make(row) {
    const indent = h("span", { class: "indent" });
    const cells = this.create(row);
    const lead = h("span", { class: "tree-lead" }, indent, h("span", { class: "twisty" }, icon("caret")), cells.lead);
    const element = h("div", { role: "treeitem" }, lead, ...cells.columns);
    element.indent = indent;
    element.cells = cells;
    return element;
  }

  rowOf(target) {
    const element = target.closest(".tree-row");
    return element === null ? null : (this.rows[Number(element.dataset.index)] ?? null);
  }

  clicked(event) {
    const row = this.rowOf(event.target);
    if (row === null) return;
    if (event.target.closest(".twisty") && row.isOpen !== null) this.onToggle(row, !row.isOpen);
    else this.onSelect(row);
  }

  pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = this.rows.findIndex((row) => row.key === this.current);
    const row = this.rows[at];
    const target = this.targetOf(event.key, at, row);
    if (target === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (target === "open" || target === "close") this.onToggle(row, target === "open");
    else if (target !== null) this.select(target);
  }

  /** What a key means: a row's place, "open", "close", null for nothing, undefined if it is no key of a tree. */
  targetOf(key, at, row) {
    const last = this.rows.length - 1;
    switch (key) {
      case "ArrowDown":
        return Math.min(last, at + 1);
      case "ArrowUp":
        return Math.max(0, at - 1);
      case "Home":
        return 0;
      case "End":
        return last;
      case "ArrowRight":
        if (row === undefined || row.isOpen === null) return null;
        return row.isOpen ? Math.min(last, at + 1) : "open";
      case "ArrowLeft": {
        if (row === undefined) return null;
        if (row.isOpen) return "close";
        const above = this.rows.findIndex((one) => one.key === row.parent);
        return above < 0 ? null : above;
      }
      default:
        return undefined;
    }
  }

  select(index) {
    const row = this.rows[index];
    if (row === undefined) return;
    this.onSelect(row);
    this.reveal(index);
  }

  /** Scroll so that a row can be seen, and no farther. */
  reveal(index) {
    this.element.children[index]?.scrollIntoView({ block: "nearest" });
  }
}

Tree.made = 0;
