"""Thinking again: what a compound does when a step rejects what it was given, and nobody has another choice.

It thinks again from its own beginning, after a delay that doubles while that repeats. Each repeat asks the world anew,
so that what is taken now can be free then; if a lease was to blame, it waits in line for that, too. A repeat that goes
on and on is a storm, which the trace tells.

Source: seed 001, "AI contexts", `reject`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.activity.choosing import choose_again
from agentrt.activity.lining_up import keep_place, line_up, restore_place
from agentrt.activity.states import THINKING
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.activity.compound import CompoundUnit
    from agentrt.activity.frame import Frame

__all__ = ["rejected", "think_again"]


def rejected(unit: CompoundUnit, frame: Frame) -> None:
    """All actions of a step rejected their arguments.

    Args:
        unit: the compound.
        frame: the step.
    """
    backoff = unit.backoff
    if unit.state == THINKING and not backoff.is_waiting:
        if choose_again(unit, frame):
            if unit.search is not None and unit.search.is_waiting:
                unit.frame_answered(frame)
            return
        planner = unit.frame.planner
        if planner.trace.on and backoff.is_storm:
            unit.note(Event.STORM, step=frame.activity, delay=backoff.delay)
        for one in frame.units:
            if one.extras is not None and one.extras.refusal is not None:
                line_up(unit, one.extras.refusal)
                break
        backoff.wait(planner.kernel, think_again, unit)
    unit.frame_answered(frame)


def think_again(unit: CompoundUnit) -> None:
    """Have a compound think again from its beginning, if it thinks still.

    Args:
        unit: it.
    """
    if unit.state != THINKING:
        return
    delay, extras = unit.backoff.delay, unit.extras
    limit = None
    if extras is not None:
        limit, extras.timeout = extras.timeout, None  # it goes on: there is no more time than before
    place = keep_place(unit)
    unit.end_thinking()
    restore_place(unit, place)
    if extras is not None:
        extras.timeout = limit
    unit.frame.begin_again(unit)
    if unit.state == THINKING:
        unit.backoff.delay = delay
