"""Asking a decider whether it accepts: preconditions, control flags, Decide.

In this order, each only if the one before passed:

    1. it is not disabled for this agent
    2. its timer: at least so many seconds since the last call of its Decide
    3. its decision flags
    4. its stimuli flags
    5. a reference: its target is not active, and not out for this tick
    6. its control flags are not kept by somebody foreign
    7. its Decide answers a number greater than 0; without one, that counts as 1.0

The timer does not count for a decider that accepted already, and has waited for its control flags since.

Preconditions are for those who are not active: what is active goes on whatever they say.

A Decide that raises, or answers what is no number, refuses, and is not asked again.

Source: seed 002, "S04: How Deciders Decide"; "S06: Preconditions & Stimuli"; "S03: Differences From Halo's Behavior
Tree AI".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrt.behavior.choices import Choice, Newcomer
from agentrt.behavior.claiming import candidate, has_claimed, is_refused
from agentrt.errors import ENDS_PROGRAM
from agentrt.words import type_name

if TYPE_CHECKING:
    from agentrt.behavior.activation import Activation
    from agentrt.behavior.memory import Memory
    from agentrt.behavior.nodes import Node

__all__ = ["SLACK", "Trail", "ask", "call_decide", "chosen"]

SLACK = 1e-9  # seconds; times are sums of binary fractions

Trail = list[str] | None
"""Where to write down for the log what came of each check, if anybody reads it."""


def ask(memory: Memory, parent: Activation | None, index: int, node: Node, trail: Trail = None) -> Choice | None:
    """Ask a decider that is not active.

    Args:
        memory: whose tree.
        parent: the group that asks; None for ROOT.
        index: its number among the children.
        node: the decider.
        trail: see ``Trail``.

    Returns:
        None if it refuses.
    """
    if memory.is_disabled(node):
        _told(trail, "disabled")
        return None
    if not _passes(memory, node, parent, trail):
        return None
    jump: Choice | None = None
    if node.target is not None:
        jump = _jump(memory, index, node, trail)
        if jump is None:
            return None
    if _is_refused(memory, node, parent, jump):
        _told(trail, "failed ControlFlags check")
        return None
    accepted, value, dblock = call_decide(memory, node, parent, trail)
    if not accepted:
        return None
    if jump is not None:
        last = jump.newcomers[-1].at
        if last.node.dblock is None:
            last.leave(dblock)
        jump.value = value
        return jump
    choice = chosen(memory, parent, index, node, value)
    if choice.newcomers[0].at.node is node:
        choice.newcomers[0].at.leave(dblock)
    return choice


def chosen(memory: Memory, parent: Activation | None, index: int, node: Node, value: float) -> Choice:
    """Who is to be activated for a decider that accepted.

    Args:
        memory: whose tree.
        parent: the group that asked; None for ROOT.
        index: its number among the children.
        node: the decider.
        value: what its Decide answered.
    """
    remembered = memory.remembered(node, parent)
    if remembered is None:
        return Choice(value, index, parent, [Newcomer(index, candidate(memory, node, parent))])
    at, inner = remembered
    choice = Choice(value, index, parent, [Newcomer(index, at)])
    return choice if inner is None else choice.and_then(inner, value)


def call_decide(memory: Memory, node: Node, parent: Activation | None, trail: Trail = None) -> tuple[bool, float, Any]:
    """Call the Decide of a decider, and nothing else.

    Args:
        memory: whose tree.
        node: the decider.
        parent: its group; None for ROOT.
        trail: see ``Trail``.

    Returns:
        Whether it accepts, its answer, and the DBlock that it filled.
    """
    if node.timer >= 0:
        memory.timers[node.timer] = memory.time
    memory.asked, memory.asked_by = node, parent
    dblock = None
    hook = "dblock"
    try:
        if node.dblock is not None:
            dblock = node.dblock()
        hook = "decide"
        if node.decide is None:
            value = 1.0
        elif node.dblock is None:
            value = node.decide(memory)
        else:
            value = node.decide(memory, dblock)
        accepted = bool(value > 0.0)
        if trail is not None:
            trail.append("no Decide, 1.000000" if node.decide is None else f"Decide returned {float(value):.6f}")
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        memory.fault(node, memory.path_of(node, parent), hook, error)
        _told(trail, f"Decide raised {type_name(error)}")
        return False, 0.0, None
    finally:
        memory.asked = None
    return accepted, value, dblock


def _passes(memory: Memory, node: Node, parent: Activation | None, trail: Trail) -> bool:
    """Whether the preconditions hold."""
    told = len(trail) if trail is not None else 0
    if node.timer >= 0:
        is_early = memory.time - memory.timers[node.timer] < node.every - SLACK
        if is_early and not has_claimed(memory, node, parent):
            _told(trail, "failed Time check")
            return False
        _told(trail, "passed Time check")
    if node.decision is not None:
        if not node.decision.holds(memory.decision_flags):
            _told(trail, "failed DecisionFlags check")
            return False
        _told(trail, "passed DecisionFlags check")
    if node.stimuli is not None:
        if not node.stimuli.holds(memory.stimuli_flags):
            _told(trail, "failed StimuliFlags check")
            return False
        _told(trail, "passed StimuliFlags check")
    if trail is not None and len(trail) == told:
        trail.append("has no preconditions")
    return True


def _is_refused(memory: Memory, node: Node, parent: Activation | None, jump: Choice | None) -> bool:
    """Whether somebody foreign keeps a control flag of a decider, or of those to whom it leads."""
    if jump is None:
        return bool(node.flags) and is_refused(memory, node, parent)
    return any(one.at.node.flags and is_refused(memory, one.at.node, one.at.parent) for one in jump.newcomers)


def _jump(memory: Memory, index: int, node: Node, trail: Trail) -> Choice | None:
    """Who is to be activated for a reference: everybody on the way from the active path to its target."""
    base = memory.root
    newcomers: list[Newcomer] = []
    way = list(node.way)
    if base is None:
        newcomers.append(Newcomer(0, candidate(memory, memory.nodes[0], None)))
    else:
        if any(at.node is node.target or _awaits(at, node.target) for at in memory.path()):
            _told(trail, "target is active")
            return None
        while base.child is not None and base.index == way[0][0] and not base.mask >> base.index & 1:
            base = base.child
            way.pop(0)
        if base.mask >> way[0][0] & 1:
            _told(trail, "target is masked")
            return None
    parent = newcomers[-1].at if newcomers else base
    for place, step in way:
        at = candidate(memory, step, parent)
        if memory.is_disabled(step):
            _told(trail, "target is disabled")
            return None
        newcomers.append(Newcomer(place, at))
        parent = at
    return Choice(1.0, index, base, newcomers)


def _awaits(at: Activation, target: Node | None) -> bool:
    """Whether somebody is to be activated below, as soon as a coroutine has ended."""
    return at.work is not None and any(one.at.node is target for one in at.work.newcomers)


def _told(trail: Trail, text: str) -> None:
    if trail is not None:
        trail.append(text)
