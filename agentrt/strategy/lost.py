"""Behind a shield: what a strand does there that is unwound, and does not hear of it.

Whoever is unwound is cancelled at its wait. A strategy that has something solved behind a shield is not; so what is
solved for it there must not wait for that, and must not begin anything more: nothing goes on in a plan that unwinds. It
ends with ``ActivityAbortedError``, the error of all that is executed there.

Rejected: cancelling through the shield. It is there to let a clean-up come to its end, which may still do other things.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.activity.catching import aborted
from agentrt.kernel.traps import current_strand, park

if TYPE_CHECKING:
    from agentrt.activity.unit import Unit
    from agentrt.errors import ActivityAbortedError

__all__ = ["await_end", "is_lost", "refuse"]


def is_lost(unit: Unit) -> bool:
    """Whether an action is being unwound, and the strand that runs at this moment does not hear of it.

    Args:
        unit: the action for which the strand has something solved.
    """
    return unit.frame.execution.is_unwinding(unit.frame) and _is_shielded()


def refuse(unit: Unit) -> None:
    """Go no further behind a shield, if an action is being unwound.

    Args:
        unit: the action.

    Raises:
        ActivityAbortedError: it is.
    """
    if is_lost(unit):
        raise _error(unit)


async def await_end(unit: Unit) -> None:
    """Wait to be cancelled: the caller has had itself unwound.

    Args:
        unit: the action for which it has something solved.

    Raises:
        ActivityAbortedError: it waits behind a shield.
    """
    if _is_shielded():
        raise _error(unit)
    await park()


def _is_shielded() -> bool:
    scope = current_strand().scope
    while scope is not None and not scope.shield:
        scope = scope.outer
    return scope is not None


def _error(unit: Unit) -> ActivityAbortedError:
    return aborted(unit.frame, "the plan unwinds", unit.path())
