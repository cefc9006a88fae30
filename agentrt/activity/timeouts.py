"""Time limits for thinking: of an action, and of a step of a compound.

An action that declares ``think_timeout`` and is not ready when that much game time has passed since its thinking began
is not possible now, until its branch is thought again. (A compound that thinks again by itself, because a step
rejected, has no more time for that.) A step that declares one and has no ready action by then has rejected its
arguments: choosers are asked for others, or the compound thinks again.

What becomes ready in the very tick in which the time is over is in time, by whatever detours: the limit is drawn at the
beginning of the tick after it. Nothing here is made for who declares no limit; a limit ends with the thinking that it
is for.

Source: design, think timeouts; what a rejection does: seed 001, `reject`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.activity.states import IMPOSSIBLE, THINKING
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.activity.compound import CompoundUnit
    from agentrt.activity.extras import Extras
    from agentrt.activity.frame import Frame
    from agentrt.activity.unit import Unit

__all__ = ["forget_steps", "limit_step", "limit_unit"]


def limit_unit(unit: Unit, seconds: float) -> None:
    """An action that declares a limit begins to think.

    Args:
        unit: the action.
        seconds: its limit.
    """
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
    """A step that declares a limit thinks.

    Args:
        unit: the compound.
        frame: the step.
        seconds: its limit.
    """
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
    """Steps do not think any more.

    Args:
        extras: of their compound.
        number: the first of them.
    """
    if extras.step_timeouts:
        for step in [step for step in extras.step_timeouts if step >= number]:
            extras.step_timeouts.pop(step).cancel()
