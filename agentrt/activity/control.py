"""Control flow of the planner: what ``ctx.abort`` and ``ctx.reject`` raise. Not errors; let them pass.

``ends_thinking`` says what they, and errors, mean for an action that thinks, wherever code of its author is asked for
more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, final

from agentrt.errors import ENDS_PROGRAM
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.activity.unit import Unit

__all__ = ["Abort", "Reject", "ends_thinking"]


@final
class Abort(BaseException):
    """The plan cannot go on: unwind it all and plan again.

    Attributes:
        reason: why, in words.

    Source: seed 001, "AI contexts", `abort`.
    """

    def __init__(self, reason: str) -> None:
        self.reason: Final = words_of(reason)
        super().__init__(self.reason)


@final
class Reject(BaseException):
    """The action cannot work with the arguments that it got; others might.

    Attributes:
        reason: why, in words.

    Source: seed 001, "AI contexts", `reject`.
    """

    def __init__(self, reason: str) -> None:
        self.reason: Final = words_of(reason)
        super().__init__(self.reason)


def ends_thinking(unit: Unit, hook: str, call: Callable[..., object], *args: Any) -> bool:
    """Call an author's code for an action that is ready.

    Args:
        unit: the action.
        hook: what the code is called, for the report of an error.
        call: the code.
        args: what to call it with.

    Returns:
        Whether the action is out now, or the plan is being aborted.
    """
    try:
        call(*args)
    except Reject as rejection:
        unit.reject(rejection.reason)
    except Abort as abort:
        unit.frame.execution.abort(abort.reason, unit)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit.disable(hook, error)
    else:
        return False
    return True
