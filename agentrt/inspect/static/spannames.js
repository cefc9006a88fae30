/**
 * What the spans of a time line are called: as the plan calls them.
 *
 * A trace names what runs by the end of its path (`TaskAction#3`), a plan by its name (`task 3: harvest`). Who reads a
 * recording is told names with the spans; of a run that lives they are learned from the plans that the page was shown,
 * where candidates stand that do not run. What was never shown keeps the end of its path.
 */

import { leafOf } from "./format.js";

const MOST = 5000; // paths; then all is learned anew

const byPath = new Map();
const byLabel = new Map(); // of a class of actions: one name, wherever it stands

/** Learn the names of a plan. */
export function learnNames(snapshot) {
  if (byPath.size > MOST) byPath.clear();
  const frames = [snapshot.plan, ...(snapshot.performances ?? [])].filter(Boolean);
  while (frames.length > 0) {
    for (const unit of frames.pop().units ?? []) {
      if (unit.name) {
        byPath.set(`${snapshot.name}\n${unit.path}`, unit.name);
        if (!/[#:]/.test(unit.action)) byLabel.set(unit.action, unit.name);
      }
      frames.push(...(unit.frames ?? []));
    }
  }
  if (byLabel.size > MOST) byLabel.clear();
}

/** A time line whose spans have the names of the plan. */
export function withNames(timeline) {
  const spans = timeline.spans.map((span) => {
    const [, , path, name] = span;
    const label = leafOf(path);
    if (name !== label) return span;
    const known = byPath.get(`${timeline.agent}\n${path}`) ?? byLabel.get(label);
    return known === undefined ? span : [...span.slice(0, 3), known, ...span.slice(4)];
  });
  return { ...timeline, spans };
}
