/**
 * A long list of rows of one height, of which only those on the screen have elements.
 *
 * How it works: a spacer has the height of all rows; the rows that are visible, and a few beside them, stand above it,
 * each moved to its place. Scrolling and changes draw again; a row is kept by its key, so focus and hover stay with the
 * item and not with the place. The list itself has the focus and names its current row to assistive technology
 * (`aria-activedescendant`): rows come and go, and one that goes must not take the focus with it.
 */

import { h, reconcile } from "./dom.js";

const BESIDE = 6;

/** The list. */
export class VirtualList {
  /**
   * @param {object} options - how it is made: `rowHeight` in pixels; `label` for assistive technology; `role` and
   *   `rowRole`; `create()` makes a row; `update(element, item, index)` fills one; `keyOf(item, index)`;
   *   `onScroll(first, count)`, if somebody wants to know.
   */
  constructor({ rowHeight, label, role = "listbox", rowRole = "option", create, update, keyOf, onScroll = () => {} }) {
    Object.assign(this, { rowHeight, rowRole, create, update, keyOf, onScroll });
    this.rows = h("div", { class: "virtual-rows", role: "presentation" });
    this.spacer = h("div", { class: "virtual-spacer", role: "presentation" }, this.rows);
    this.element = h("div", { class: "virtual", role, tabindex: 0, "aria-label": label }, this.spacer);
    this.length = 0;
    this.itemAt = () => undefined;
    this.prefix = `row-${(VirtualList.made += 1)}-`;
    // Where it stands and how high it is, as it was told: to ask while the page is being changed lays all of it out.
    this.top = 0;
    this.height = 0;
    this.element.addEventListener("scroll", () => this.draw(this.element.scrollTop), { passive: true });
    new ResizeObserver(() => {
      this.height = this.element.clientHeight;
      this.draw(this.element.scrollTop);
    }).observe(this.element);
  }

  /**
   * Show a list.
   *
   * @param {number} length - how many rows there are.
   * @param {function(number): *} itemAt - the item of a row; undefined if it is not known yet.
   */
  show(length, itemAt) {
    this.length = length;
    this.itemAt = itemAt;
    const height = `${length * this.rowHeight}px`;
    if (this.spacer.style.height !== height) this.spacer.style.height = height;
    this.draw();
  }

  /** The rows on the screen: the first, and how many. */
  visible() {
    const first = Math.floor(this.top / this.rowHeight);
    const amount = Math.ceil(this.height / this.rowHeight) + 1;
    return { first, amount };
  }

  draw(top = this.top) {
    this.top = top;
    const { first, amount } = this.visible();
    const from = Math.max(0, first - BESIDE);
    const to = Math.min(this.length, first + amount + BESIDE);
    const shown = [];
    for (let index = from; index < to; index += 1) shown.push({ index, item: this.itemAt(index) });
    reconcile(
      this.rows,
      shown,
      ({ item, index }) => (item === undefined ? `?${index}` : this.keyOf(item, index)),
      () => {
        const element = this.create();
        element.classList.add("virtual-row");
        element.setAttribute("role", this.rowRole);
        return element;
      },
      (element, { item, index }) => {
        if (element.place !== index || element.among !== this.length) {
          element.place = index;
          element.among = this.length;
          element.style.transform = `translateY(${index * this.rowHeight}px)`;
          element.id = `${this.prefix}${index}`;
          element.setAttribute("aria-posinset", index + 1);
          element.setAttribute("aria-setsize", this.length);
        }
        this.update(element, item, index);
      },
    );
    if (first !== this.lastFirst || amount !== this.lastAmount) {
      this.lastFirst = first;
      this.lastAmount = amount;
      this.onScroll(first, amount);
    }
  }

  /** Name the current row to assistive technology; -1 for none. */
  setCurrent(index) {
    if (index < 0) this.element.removeAttribute("aria-activedescendant");
    else this.element.setAttribute("aria-activedescendant", `${this.prefix}${index}`);
  }

  /** Scroll to the first row. */
  toTop() {
    this.element.scrollTop = 0;
    this.top = 0;
  }

  /** Scroll so that a row can be seen, and no farther. */
  reveal(index) {
    const top = index * this.rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.rowHeight > scrollTop + clientHeight)
      this.element.scrollTop = top + this.rowHeight - clientHeight;
    this.top = this.element.scrollTop;
  }

  /** Whether the last row is on the screen. */
  isAtEnd() {
    const { scrollTop, clientHeight, scrollHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight < this.rowHeight * 1.5;
  }

  /** Scroll to the last row. */
  toEnd() {
    this.element.scrollTop = this.element.scrollHeight;
    this.top = this.element.scrollTop;
  }
}

VirtualList.made = 0;
