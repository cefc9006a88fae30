"""Where an author's hooks are called, and the only place where what they raise is dealt with.

An error in ``think`` or ``should_start_thinking`` concerns that unit; an error or an abort in ``start`` or ``run``
unwinds the plan; one in ``stop`` or ``stop_thinking`` is reported, and the unwinding goes on. A rejection in
``start`` is a refusal: the next best action takes the place.

While a hook is called, ``kernel.acting`` is its unit: that is how the context knows on whose stack it is called.

Source: seed 001, "Leaf action example", Methods.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from agentrt.activity.context import Context
from agentrt.activity.control import Abort, Reject, ends_thinking
from agentrt.activity.states import IDLE
from agentrt.activity.takeover import refuse
from agentrt.activity.utility import DECIMALS, fraction
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.trace import Event
from agentrt.words import error_words

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame
    from agentrt.activity.unit import Unit

__all__ = [
    "compose_utility",
    "is_blocked",
    "on_reject",
    "run",
    "start",
    "stop",
    "stop_thinking",
    "think",
]


def _context(unit: Unit) -> Context:
    """Make the context of an action. It is kept: making one for each call would cost more than the call."""
    context = unit.context = Context(unit)
    return context


def _forbids(unit: Unit) -> str:
    """Why an action keeps its activity from being considered; empty if it lets it be.

    One that raises keeps it out: a filter is there to keep something from happening, and does not know now.

    Args:
        unit: the action.
    """
    kernel = unit.frame.planner.kernel
    outer, kernel.acting = kernel.acting, unit
    try:
        try:
            allows = bool(unit.action.should_start_thinking(unit.context or _context(unit), unit.frame.args))
        finally:
            kernel.acting = outer
    except Reject:
        allows = False
    except Abort as abort:
        unit.frame.execution.abort(abort.reason, unit)
        allows = False
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.frame.planner.fault(unit, "should_start_thinking", error)
        return f"should_start_thinking raised {error_words(error)}, which keeps the activity out"
    return "" if allows else "it forbids the activity"


def is_blocked(frame: Frame) -> bool:
    """Whether a filter among the actions forbids the activity.

    Args:
        frame: the activity.
    """
    for unit in frame.units:
        if not unit.spec.has_filter:
            continue
        if unit.state == IDLE:  # else its thinking goes on, and this is asked of that
            unit.retire()  # it may have been asked before, for a thinking that was then forbidden
        if reason := _forbids(unit):
            unit.own_extras().reason = reason
            if frame.planner.trace.on:
                unit.note(Event.BLOCKED)
            return True
    return False


def think(unit: Unit) -> Coroutine[Any, Any, Any] | None:
    """The coroutine of ``think``, or None if it could not be made; the unit is disabled then.

    Args:
        unit: the action.
    """
    if unit.extras is not None:
        unit.extras.reason = ""
        unit.extras.refusal = None
    try:
        return unit.action.think(unit.context or _context(unit), unit.frame.args)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.disable("think", error)
        return None


def on_reject(unit: Unit, reason: str) -> bool:
    """Call ``on_reject``.

    Args:
        unit: the action.
        reason: why what was made of its output was rejected.

    Returns:
        Whether it is out now, or the plan is being aborted.
    """
    return ends_thinking(
        unit, "on_reject", unit.action.on_reject, unit.context or _context(unit), unit.frame.args, reason
    )


def stop_thinking(unit: Unit) -> None:
    """Call ``stop_thinking``.

    Args:
        unit: the action.
    """
    kernel = unit.frame.planner.kernel
    outer, kernel.acting = kernel.acting, unit
    try:
        try:
            unit.action.stop_thinking(unit.context or _context(unit), unit.frame.args)
        finally:
            kernel.acting = outer
    except Reject:
        pass  # it does not think any more
    except Abort as abort:
        unit.frame.execution.abort(abort.reason, unit)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.frame.planner.fault(unit, "stop_thinking", error)


def start(unit: Unit) -> bool:
    """Call ``start``.

    Args:
        unit: the action.

    Returns:
        Whether it is started; if not, it was stopped again, or the plan is being aborted.
    """
    execution = unit.frame.execution
    kernel = execution.planner.kernel
    outer, kernel.acting = kernel.acting, unit
    kernel.refused = None  # what it is refused from now on is why it rejects
    try:
        try:
            unit.action.start(unit.context or _context(unit), unit.frame.args)
        finally:
            kernel.acting = outer
    except Reject as refusal:
        refuse(unit, refusal.reason)
        return False
    except Abort as abort:
        execution.abort(abort.reason, unit)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        execution.planner.fault(unit, "start", error)
        execution.abort(f"start raised {error_words(error)}", unit)
    else:
        return True
    unit.stop_think()
    return False


def run(unit: Unit) -> Coroutine[Any, Any, Any] | None:
    """The coroutine of ``run``, or None if it could not be made; the plan is being aborted then.

    Args:
        unit: the action.
    """
    try:
        return unit.action.run(unit.context or _context(unit), unit.frame.args)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.frame.planner.fault(unit, "run", error)
        unit.frame.execution.abort(f"run raised {error_words(error)}", unit)
        return None


def stop(unit: Unit) -> None:
    """Call ``stop``.

    Args:
        unit: the action.
    """
    kernel = unit.frame.planner.kernel
    outer, kernel.acting = kernel.acting, unit
    try:
        try:
            unit.action.stop(unit.context or _context(unit), unit.frame.args)
        finally:
            kernel.acting = outer
    except (Abort, Reject):
        pass  # it is being stopped already
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.frame.planner.fault(unit, "stop", error)


def compose_utility(unit: Unit, own: float, *more: Any) -> float | None:
    """Call ``compose_utility`` of a compound or of a task group.

    Args:
        unit: it.
        own: the first number that it composes: a compound's own part, a group's task.
        more: what else a compound is given: the utilities of its steps, and which of them runs.

    Returns:
        A number from 0 to 1; None if the hook raised, or gave no number, so that what is declared has to do.
    """
    compose: Any = unit.action
    try:
        value = compose.compose_utility(unit.frame.planner.entity, own, *more)
        return round(fraction(value), DECIMALS)
    except Abort as abort:
        unit.frame.execution.abort(abort.reason, unit)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.frame.planner.fault(unit, "compose_utility", error)
    return None
