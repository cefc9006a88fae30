/**
 * Which tabs have nothing to show for the chosen agent: their heads are gray, and say so. An agent that is not known
 * yet, or not there, grays none: nobody knows; then each says why.
 */

import { isOver } from "./past.js";
import { isUnasked } from "./thoughtsmodel.js";

/** Why what is looked at has no such part at all, in the server's words; empty if it has. */
export function withheld({ hello }, part) {
  return hello?.withheld?.[part] ?? "";
}

/** Why nothing is known of the chosen agent, in words; empty if it is known. */
export function whyNothing({ agent, chosen }) {
  if (chosen === null) return "Choose an agent on the left.";
  if (agent === null) return `Waiting for ${chosen} …`;
  if (agent.snapshot !== null) return "";
  if (agent.where) return `${agent.name} is ${agent.where}: nowhere until its next window.`;
  if (agent.unseen) return `${agent.name} was not looked at up to tick ${agent.tick}.`;
  return `${agent.name} is not there at tick ${agent.tick}.`;
}

/** Whether nothing but its plan drives the agent. */
export function hasNoModels({ agent }) {
  return Boolean(agent?.snapshot) && (agent.snapshot.drivers ?? []).length === 0;
}

/** Whether the agent solves nothing by strategies. */
export function hasNoStrategies({ agent }) {
  return Boolean(agent?.snapshot) && !agent.snapshot.strategies;
}

/** Whether nothing plans. */
export function hasNoPlan({ agent }) {
  return Boolean(agent?.snapshot) && !agent.snapshot.plan?.units?.length && !agent.snapshot.performances?.length;
}

/** Whether no times of ticks are known: a recording has none, nor has the past of a run. */
export function hasNoTimes(state) {
  return isOver(state);
}

/** Whether there is no mind; of a tick that is over, whether nobody was asked up to it, if that was read. */
export function hasNoThoughts(state) {
  if (isOver(state)) return Boolean(state.mind?.recorded) && isUnasked(state.mind);
  return state.world?.mind === false;
}
