"""Control flow of the planner: what ``ctx.abort`` and ``ctx.reject`` raise. Not errors; let them pass.

It is raised on the *own stack* of an action and nowhere else: while the kernel steps the strand of its ``think`` or
``run``, or one that belongs to it, or calls one of its plain hooks. Only there it ends the code that has to end.
Whoever else calls (a posted function, a listener of a signal, a strand of the world, another agent, another thread) has
nothing to do with it: the call returns, and the action is told when the ready queue comes to that, or by the next
intake if nothing is stepped at the moment (``tell``).

The own stack may have code of others in the middle: the action emits a signal, and a listener aborts it. That listener
ends at the call, whoever contains what it raised sends it on (``ControlFlow.send_on``), and the action is told.

``ends_thinking`` says what control flow, and errors, mean for an action that thinks, wherever code of its author is
asked for more.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final, final

from agentrt.activity.author.utility import DECIMALS, fraction
from agentrt.errors import ENDS_PROGRAM, WrongStateError
from agentrt.kernel.inline import Inline
from agentrt.kernel.kernel import Batch, ControlFlow
from agentrt.kernel.strand import Strand
from agentrt.kernel.thinker import Thinker
from agentrt.words import error_words, words_of

if TYPE_CHECKING:
    from agentrt.activity.author.seat import Seat


class Flow(ControlFlow):
    """Control flow that one action is meant by; ``tell`` has it do that, by the context that was asked for it."""

    method = ""
    """What the author called."""

    def __init__(self, reason: str, tell: Callable[[Flow], None]) -> None:
        self.reason: Final = words_of(reason)  # as given, in words
        self._tell = tell
        super().__init__(self.reason)

    def send_on(self) -> None:
        """It was contained on its way: tell the action."""
        self._tell(self)


@final
class Abort(Flow):
    """The plan cannot go on: unwind it all and plan again.

    Source: Stonehearth, AI: "AI contexts", `abort`.
    """

    method = "abort"


@final
class Reject(Flow):
    """The action cannot work with the arguments that it got; others might.

    Source: Stonehearth, AI: "AI contexts", `reject`.
    """

    method = "reject"


def is_on_own_stack(seat: Seat) -> bool:
    """Whether the caller is an action itself: its think or run, which is being stepped, or a hook of it."""
    kernel = seat.frame.planner.kernel
    if not kernel.is_here:
        return False
    acting = kernel.inline.acting
    return acting is seat if acting is not None else kernel.is_stepping and is_stepped(seat)


def is_stepped(seat: Seat) -> bool:
    """Whether the code that is stepped at this moment is an action's own think or run, and no plain hook of it."""
    current = seat.frame.planner.kernel.current
    if isinstance(current, Strand):
        return current.root is seat.code
    # Whose first step it is; between two of them it is nobody's.
    stepped: object = None
    if isinstance(current, Batch):
        stepped = current.member
    elif isinstance(current, Inline):
        stepped = current.owner
    elif isinstance(current, Thinker):
        stepped = current
    return stepped is seat and current is not None and current.coro is not None


def require_own_stack(seat: Seat, method: str) -> None:
    """An action does one thing at a time, and what is below it ends before it does: nobody else may do it for it.

    Raises:
        WrongStateError: the caller is no coroutine of its ``run``.
    """
    if not is_on_own_stack(seat):
        raise WrongStateError(
            method, "it is another coroutine than that of the action", "Await it in 'run' itself, one by one."
        )


def called_by(seat: Seat, call: Callable[..., object], *args: object) -> object:
    """Call code of an action's author: it is on the action's own stack until it has returned or raised."""
    inline = seat.frame.planner.kernel.inline
    outer, inline.acting = inline.acting, seat
    try:
        return call(*args)
    finally:
        inline.acting = outer


def ends_thinking(seat: Seat, hook: str, call: Callable[..., object], *args: Any) -> bool:
    """Call an author's code for an action that is ready; ``hook`` is what errors call it.

    Returns:
        Whether the action is out now, or the plan is being aborted.
    """
    try:
        called_by(seat, call, *args)
    except Reject as rejection:
        seat.reject(rejection.reason)
    except Abort as abort:
        seat.abort(abort.reason)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        seat.disable(hook, error)
    else:
        return False
    return True


def forbids(seat: Seat, action: object, context: object) -> str:
    """Why an action keeps its activity from being considered; empty if it lets it be.

    One that raises keeps it out: a filter is there to keep something from happening, and does not know now.
    """
    asks = methodcaller("should_start_thinking", context, seat.frame.args)
    try:
        allows = called_by(seat, lambda: bool(asks(action)))
    except Reject:
        allows = False
    except Abort as abort:
        seat.abort(abort.reason)
        allows = False
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        seat.fault("should_start_thinking", error)
        return f"should_start_thinking raised {error_words(error)}, which keeps the activity out"
    return "" if allows else "it forbids the activity"


def composed(seat: Seat, action: Any, own: float, *more: Any) -> float | None:
    """``compose_utility`` of a compound or a task group, given its own part and what ``more`` there is.

    None if it raised, or gave no number, so that what is declared has to do.
    """
    try:
        return round(fraction(action.compose_utility(seat.frame.planner.entity, own, *more)), DECIMALS)
    except Abort as abort:
        seat.abort(abort.reason)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        seat.fault("compose_utility", error)
    return None
