"""Where an author's hooks are called, and the only place where what they raise is dealt with.

An error in ``think`` or ``should_start_thinking`` concerns that unit; an error or an abort in ``start`` or ``run``
unwinds the plan; one in ``stop`` or ``stop_thinking`` is reported, and the unwinding goes on. A rejection in
``start`` is a refusal: the next best action takes the place. While a plain hook is called, ``kernel.acting`` is its
unit: that is how the context knows on whose stack it is called. (``think`` and ``run`` are stepped by the kernel, which
knows whose strand that is.)

Time limits stand here too, since they end a hook that says nothing. An action that declares ``think_timeout`` and is
not ready when that much game time has passed since its thinking began is not possible now, until its branch is thought
again. (A compound that thinks again by itself, because a step rejected, has no more time for that.) A step that
declares one and has no ready action by then has rejected its arguments: choosers are asked for others, or the compound
thinks again. What becomes ready in the very tick in which the time is over is in time, by whatever detours: the limit
is drawn at the beginning of the tick after it. Nothing is made for who declares no limit; a limit ends with the
thinking that it is for.

Source: seed 001, "Leaf action example", Methods; `reject`; the limits are ours.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from agentrt.activity.author.context import Context
from agentrt.activity.author.control import Abort, Reject, ends_thinking
from agentrt.activity.author.utility import DECIMALS, fraction
from agentrt.activity.plan.election import refuse
from agentrt.activity.states import IDLE, IMPOSSIBLE, THINKING
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.trace import Event
from agentrt.words import error_words

if TYPE_CHECKING:
    from agentrt.activity.plan.compound import CompoundUnit
    from agentrt.activity.plan.extras import Extras
    from agentrt.activity.plan.tree import Frame, Unit

__all__ = [
    "compose_utility",
    "is_blocked",
    "on_reject",
    "run",
    "start",
    "stop",
    "stop_thinking",
    "think",
    "forget_steps",
    "limit_step",
    "limit_unit",
]


def _context(unit: Unit) -> Context:
    """Make the context of an action. It is kept: making one for each call would cost more than the call."""
    context = unit.context = Context(unit)
    return context


def _forbids(unit: Unit) -> str:
    """Why an action keeps its activity from being considered; empty if it lets it be.

    One that raises keeps it out: a filter is there to keep something from happening, and does not know now.
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
    """Whether a filter among the actions forbids the activity."""
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
    """The coroutine of ``think``, or None if it could not be made; the unit is disabled then."""
    if unit.extras is not None:
        unit.extras.reason = ""  # only now: until it is asked again, tools tell why it was not ready
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
        reason: why what was made of its output was rejected.

    Returns:
        Whether it is out now, or the plan is being aborted.
    """
    return ends_thinking(
        unit, "on_reject", unit.action.on_reject, unit.context or _context(unit), unit.frame.args, reason
    )


def stop_thinking(unit: Unit) -> None:
    """Call ``stop_thinking``."""
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
    unit.stop_think()  # the plan unwinds: ``stop`` follows, and ``stop_thinking`` has to come before it
    return False


def run(unit: Unit) -> Coroutine[Any, Any, Any] | None:
    """The coroutine of ``run``, or None if it could not be made; the plan is being aborted then."""
    try:
        return unit.action.run(unit.context or _context(unit), unit.frame.args)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.frame.planner.fault(unit, "run", error)
        unit.frame.execution.abort(f"run raised {error_words(error)}", unit)
        return None


def stop(unit: Unit) -> None:
    """Call ``stop``."""
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


def limit_unit(unit: Unit, seconds: float) -> None:
    """An action that declares a limit begins to think."""
    extras = unit.own_extras()
    if extras.timeout is None:
        kernel = unit.frame.planner.kernel
        extras.timeout = kernel.call_later(kernel.clock.ticks(seconds) + 1, _unit_expired, unit, seconds)


def _unit_expired(unit: Unit, seconds: float) -> None:
    if unit.state == THINKING:
        unit.withdraw(IMPOSSIBLE)
        if unit.frame.planner.trace.on:
            unit.note(Event.TIMEOUT, seconds=seconds)
        unit.own_extras().reason = f"it was not ready within {seconds:g} seconds"
        unit.stop_think()
        unit.frame.look_again()


def limit_step(unit: CompoundUnit, frame: Frame, seconds: float) -> None:
    """A step that declares a limit thinks."""
    extras = unit.own_extras()
    if extras.step_timeouts is None:
        extras.step_timeouts = {}
    kernel = frame.planner.kernel
    extras.step_timeouts[frame.index] = kernel.call_later(
        kernel.clock.ticks(seconds) + 1, _step_expired, unit, frame, seconds
    )


def _step_expired(unit: CompoundUnit, frame: Frame, seconds: float) -> None:
    if unit.state == THINKING and frame.state == THINKING:
        if frame.planner.trace.on:
            frame.note(Event.TIMEOUT, seconds=seconds)
        frame.stop()
        unit.frame_rejected(frame)


def forget_steps(extras: Extras, number: int) -> None:
    """Steps do not think any more."""
    if extras.step_timeouts:
        for step in [step for step in extras.step_timeouts if step >= number]:
            extras.step_timeouts.pop(step).cancel()
