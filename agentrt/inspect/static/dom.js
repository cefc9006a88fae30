/**
 * Elements: how every view of the page makes and changes what is on the screen.
 *
 * Rules. All text that comes from a server is set as `textContent` or as the value of an attribute that no browser
 * executes; nothing here, and nothing built on it, ever parses markup, so an agent may be called `<img onerror=…>`
 * and is shown by that name. Styles are set by property (`element.style.width = …`), which the page's content security
 * policy allows, and never by a `style` attribute, which it does not.
 *
 * Views are redrawn up to ten times a second. So a change writes only what differs (`setText`, `setClass`), and a list
 * keeps the elements of the items that stay (`reconcile`): focus, hover and scroll survive, and the browser lays out
 * little. A virtual tree of the whole page was not needed for that.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an element.
 *
 * @param {string} tag - its name.
 * @param {object} [props] - `class`, `text`, `on` (event listeners by name), and attributes; `null` and `false` leave
 *   one out.
 * @param {...(Node|string|null|undefined)} children - what is in it.
 * @returns {HTMLElement} the element.
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else if (name === "on") for (const [kind, fn] of Object.entries(value)) element.addEventListener(kind, fn);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

/** Set an element's text, if it differs. */
export function setText(element, text) {
  const value = String(text);
  if (element.textContent !== value) element.textContent = value;
}

/**
 * Show a path in an element whose style cuts it at its beginning: the end of a path says most.
 *
 * @param {HTMLElement} element - from right to left, so that its left is cut; what it says stands within, from left to
 *   right.
 * @param {string} path - the path; also told whole when pointed at.
 */
export function setPath(element, path) {
  if (element.firstChild === null) element.append(h("bdi", { dir: "ltr" }));
  setText(element.firstChild, path);
  setAttr(element, "title", path || null);
}

/** Set an element's class, if it differs. */
export function setClass(element, name) {
  if (element.className !== name) element.className = name;
}

/** Set or remove an attribute, if it differs; `null` and `false` remove it. */
export function setAttr(element, name, value) {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
    return;
  }
  const text = value === true ? "" : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

/** Show or hide an element. */
export function show(element, visible) {
  if (element.hidden === visible) element.hidden = !visible;
}

/** Replace what is in an element. */
export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

/**
 * Make the children of an element be those of a list, and keep the elements of the items that stay.
 *
 * @param {HTMLElement} parent - the element; it holds nothing else.
 * @param {Array} items - what to show, in order.
 * @param {function(*, number): string} keyOf - the item's identity.
 * @param {function(*): HTMLElement} create - makes the element of a new item.
 * @param {function(HTMLElement, *, number): void} update - brings an element up to date.
 */
export function reconcile(parent, items, keyOf, create, update) {
  const known = parent.rowsByKey ?? new Map();
  const next = new Map();
  let cursor = parent.firstChild;
  items.forEach((item, index) => {
    let key = keyOf(item, index);
    while (next.has(key)) key += "'"; // two items of one identity are still two rows
    const element = known.get(key) ?? create(item);
    next.set(key, element);
    update(element, item, index);
    if (element === cursor) cursor = cursor.nextSibling;
    else parent.insertBefore(element, cursor);
  });
  while (cursor) {
    const gone = cursor;
    cursor = cursor.nextSibling;
    gone.remove();
  }
  parent.rowsByKey = next;
}

const ICONS = {
  pause: "M5 3h2.2v10H5zM8.8 3H11v10H8.8z",
  play: "M4.5 2.8v10.4L13 8z",
  step: "M3 3v10l6.4-5zM10.6 3h2v10h-2z",
  back: "M13 3v10L6.6 8zM3.4 3h2v10h-2z",
  first: "M12.5 3v10L7 8zM8 3v10L2.5 8z",
  last: "M3.5 3v10L9 8zM8 3v10l5.5-5z",
  search: "M7 2.2a4.8 4.8 0 1 0 2.9 8.6l3 3 1-1-3-3A4.8 4.8 0 0 0 7 2.2m0 1.4a3.4 3.4 0 1 1 0 6.8 3.4 3.4 0 0 1 0-6.8",
  close: "M4 3l4 4 4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z",
  arrange: "M2 3.5h12V5H2zM4 7.2h8v1.5H4zM6 11h4v1.5H6z",
  caret: "M6 4l4.2 4L6 12z",
  share: "M8 1.4l3.4 3.4-1 1-1.7-1.7V10H7.3V4.1L5.6 5.8l-1-1zM3 7.5h2V9H4.4v4h7.2V9H11V7.5h2v7H3z",
  theme: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2m0 1.4v9.2a4.6 4.6 0 0 1 0-9.2",
  pin: "M5.5 2h5v1.4l-.8.5.4 3.6 1.9 1.7V10.5H8.7L8 15l-.7-4.5H4V9.2l1.9-1.7.4-3.6-.8-.5z",
  wait: "M4.5 2.5h7v1.2L8.9 8l2.6 4.3v1.2h-7v-1.2L7.1 8 4.5 3.7z",
};

/** An icon of the page's own set, for the eye only: whoever cannot see it reads the label of its button. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** Change the drawing of an icon that stands. */
export function setIcon(svg, name) {
  const path = svg.firstChild;
  if (path.getAttribute("d") !== ICONS[name]) path.setAttribute("d", ICONS[name]);
}

/** A button with an icon, a label, or both; `title` names it and tells its key. */
export function button({ label = "", glyph = "", title = "", name = "", kind = "" }, onClick) {
  const parts = [glyph ? icon(glyph) : null, label ? h("span", { text: label }) : null];
  return h(
    "button",
    {
      type: "button",
      class: `button ${kind}`.trim(),
      title,
      "aria-label": name || label || title,
      on: { click: onClick },
    },
    ...parts,
  );
}
