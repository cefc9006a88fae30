/**
 * From a snapshot to the rows of task trees. Pure: data in, data out.
 *
 * Requests that are being solved come first, with what is under way open down to the innermost strategy; then, under a
 * heading, those that are over, closed. What the user opened or closed stays so (`toggled`). A node is known by its
 * place (`3.0.2`: the request's number and its place below each node), which stays the same while the tree grows.
 *
 * Source: prismarine-gameplay: "Task Tree".
 */

import { count, number } from "./format.js";

const UNDER_WAY = new Set(["running", "paused"]);

/** Which dot and color an outcome has; those that are not here have their own. */
export const OUTCOME_DOTS = {
  paused: "started",
  planned: "thinking",
  done: "finished",
  met: "finished",
  failed: "impossible",
  skipped: "idle",
  cancelled: "switching",
};

/**
 * The rows of the task trees of a snapshot.
 *
 * @param {object} gameplay - what an agent solves.
 * @param {Object<string, boolean>} toggled - what the user opened (true) or closed (false), by key.
 * @returns {object[]} rows for a `Tree`: `key`, `kind` ("task", "more" or "heading"), `node`, `depth`, `isOpen`,
 *   `isOnBranch`, `parent`, `place`.
 */
export function taskRows(gameplay, toggled) {
  const rows = [];
  for (const request of gameplay.requests ?? []) addNode(rows, toggled, request.tree, 0, null, true);
  const finished = [...(gameplay.finished ?? [])].reverse();
  if (finished.length > 0) rows.push(heading("Over"));
  for (const tree of finished) addNode(rows, toggled, tree, 0, null, false);
  return rows;
}

function heading(text) {
  return { key: `heading:${text}`, kind: "heading", node: null, depth: 0, isOpen: null, parent: null, text };
}

function addNode(rows, toggled, node, depth, parent, isLive) {
  const key = `t:${node.place}`;
  const children = node.children ?? [];
  const isOnBranch = UNDER_WAY.has(node.outcome);
  const hasBelow = children.length > 0 || node.left_out > 0;
  const isOpen = hasBelow ? (toggled[key] ?? (isLive && (isOnBranch || depth === 0))) : null;
  rows.push({ key, kind: "task", node, depth, isOpen, isOnBranch, parent, place: node.place });
  if (!isOpen) return;
  if (node.left_out > 0) {
    const text = `${count(node.left_out)} earlier or deeper, not shown`;
    const more = { key: `${key}:more`, kind: "more", node: null, depth: depth + 1, isOpen: null, parent: key, text };
    rows.push(more);
  }
  for (const child of children) addNode(rows, toggled, child, depth + 1, key, isLive);
}

/**
 * Find a node by its place.
 *
 * @param {object} gameplay - what an agent solves.
 * @param {string} place - the node's.
 * @returns {{node: object, above: object|null}|null} the node and the one above it; null if it is not there.
 */
export function findTask(gameplay, place) {
  const roots = [...(gameplay?.requests ?? []).map((one) => one.tree), ...(gameplay?.finished ?? [])];
  const nodes = roots.map((node) => ({ node, above: null }));
  while (nodes.length > 0) {
    const found = nodes.pop();
    if (found.node.place === place) return found;
    for (const node of found.node.children ?? []) nodes.push({ node, above: found.node });
  }
  return null;
}

/** How long a node took or takes, in game seconds; empty if it has not begun or nobody knows how long a tick is. */
export function took(node, tick, rate) {
  if (!node.began || !rate) return "";
  const end = node.ended || (UNDER_WAY.has(node.outcome) ? tick : node.began);
  return `${number((end - node.began) / rate, 1)} s`;
}

/** What was expected of a node, in game seconds; empty if nobody asked. */
export function expected(node) {
  return typeof node.cost === "number" ? `${number(node.cost, 1)} s` : "";
}
