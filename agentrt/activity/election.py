"""The election between the actions of an activity: who is best, what a boost is worth, who still has to think.

The highest utility wins; equals are drawn by weight from the agent's own stream. Once the elected unit has run for
half a second of game time, its boost counts. While it runs, only units whose utility could exceed its own go on
thinking.

Source: seed 001, "Comparing plans", "Utility".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.activity.current import has_changes
from agentrt.activity.keeping import outdone
from agentrt.activity.states import FINISHED, IDLE, READY, RUNNING, STARTED, THINKING
from agentrt.activity.utility import DECIMALS, draw

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame
    from agentrt.activity.unit import Unit

__all__ = ["adjust", "best_ready", "boosted", "comes_too_late"]

_NOBODY = 2.0  # a bar that no utility can exceed


def best_ready(frame: Frame, *, is_patient: bool = False) -> Unit | None:
    """The ready unit with the highest utility; equals are drawn by weight.

    A plan of which a step has changed in this moment does not count: it says in the same tick whether it is ready
    still. In a plan that was started, an action does not count for a step that others come after if it, or the one
    that was elected, expects a changed entity: those were planned for what the elected one expects.

    Args:
        frame: the activity.
        is_patient: whether to wait for such a plan if it is better than all others.

    Returns:
        The unit, or None if none is ready.
    """
    best: Unit | None = None
    equals: list[Unit] | None = None
    top = unsettled = -1.0
    is_planned = frame.state >= STARTED and frame.index > 0 and _has_steps_after(frame)
    for unit in frame.units:
        if unit.state != READY:
            continue
        utility = unit.utility
        if utility < top or (is_planned and _changes_too_much(frame, unit)):
            continue
        if unit.spec.steps is not None and not unit.is_settled():
            unsettled = max(unsettled, utility)
        elif utility > top:
            best, top, equals = unit, utility, None
        elif equals is not None:
            equals.append(unit)
        elif best is not None:
            equals = [best, unit]
    if is_patient and unsettled > top:
        return None
    if equals is None:
        return best
    return draw(equals, [unit.spec.weight for unit in equals], frame.planner.random)


def comes_too_late(frame: Frame, unit: Unit) -> bool:
    """Whether a unit does not count, because the steps after it were planned for another state of the entity.

    Args:
        frame: the activity.
        unit: one of its units.
    """
    is_planned = frame.state >= STARTED and frame.index > 0 and _has_steps_after(frame)
    return is_planned and _changes_too_much(frame, unit)


def _changes_too_much(frame: Frame, unit: Unit) -> bool:
    """Whether the steps after it would find another state of the entity than that for which they were planned."""
    return _changes(frame, unit) or (frame.active is not None and _changes(frame, frame.active))


def _has_steps_after(frame: Frame) -> bool:
    """Whether steps of the plan come after it, beside it or further up."""
    node = frame
    while node.index and node.parent is not None:
        steps = node.parent.spec.steps
        if steps is not None and node.index < len(steps):
            return True
        node = node.parent.frame
    return False


def _changes(frame: Frame, unit: Unit) -> bool:
    layer = unit.expected()
    return layer is not None and layer is not frame.expected and has_changes(layer, frame.expected)


def boosted(frame: Frame) -> float:
    """The utility of the elected unit, with its boost once it has run for a while.

    Args:
        frame: the activity; it has an elected unit.
    """
    active = frame.active
    assert active is not None
    if active.state == RUNNING:
        planner = frame.planner
        if planner.kernel.clock.tick - active.since >= planner.sunk_ticks:
            return round(active.utility + active.spec.boost, DECIMALS)
    return active.utility


def adjust(frame: Frame) -> None:
    """While a unit is started: let think who could beat it, and nobody else but who keeps its thinking.

    Args:
        frame: the activity; it has an elected unit.
    """
    active = frame.active
    assert active is not None
    bar = _NOBODY if frame.is_bound or frame.state == FINISHED else active.utility
    idle: list[Unit] | None = None
    keeps = frame.execution.keeps
    for unit in frame.units:
        if unit is active:
            continue
        state = unit.state
        if unit.spec.high > bar:
            if state == IDLE:
                if idle is None:
                    idle = []
                idle.append(unit)
        elif state == READY and not keeps:
            unit.end_thinking()  # as most do
        elif (state == READY or state == THINKING) and not (unit.spec.keeps and frame.keeps):
            outdone(frame, unit)
    if idle is not None:
        frame.begin_late(idle)
    if frame.is_choosy:
        frame.look_further()
