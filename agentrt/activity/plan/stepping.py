"""How thinks are stepped: the generators and coroutines of ``tree``, apart because they are never compiled.

What the compiler makes of a generator cannot hand on what a coroutine yields; and its coroutines cannot await in the
middle of handling an error.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any

from agentrt.activity.states import READY
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.traps import Waiter, suspend_on

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Frame, Unit
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand

__all__ = ["first_steps", "outlast_and_think"]


@types.coroutine
def first_steps(frame: Frame, asked: list[Unit], kernel: Kernel) -> Generator[object, None, None]:
    """Make the first step of each, as far as it goes."""
    # One generator for all of them, which nobody ever has to resume. Sent None by hand, each coroutine would end in a
    # ``StopIteration``, which costs more than all the rest here.
    inline = kernel.inline
    is_task = not kernel.host.steps_inline
    for unit in asked:
        if unit.thinking is not asked:
            continue  # it was told to stop by one of those before it
        unit.thinking = None
        kernel.acting = unit
        kernel.refused = None
        if unit.extras is not None:
            unit.extras.asked_anew()
        error: BaseException | None = None
        try:
            coro = unit.action.think(unit.context or unit.make_context(), frame.args)
            if getattr(coro, "cr_code", None) is not unit.spec.think_code:
                unit.thinking = _strand_for(unit, coro)
                continue
            inline.owner = unit
            inline.coro = coro
            yield from coro
        except BaseException as raised:
            error = inline.ended(raised)
        else:
            if inline.made is not None or is_task:  # it may have opened a scope, and was given a strand for that
                error = inline.ended(None)
        if error is not None or unit.state != READY:  # to one that has its answer the end of its think is no news
            _tell_end(unit, error)
            if isinstance(error, ENDS_PROGRAM):
                raise error


def _strand_for(unit: Unit, coro: Coroutine[Any, Any, Any] | None) -> Strand | None:
    """For a think of which nothing is known: somebody gave the class or the instance another one, of whatever kind."""
    return None if coro is None else unit.frame.planner.kernel.spawn(coro, unit.spec.name, unit)


def _tell_end(unit: Unit, error: BaseException | None) -> None:
    kernel = unit.frame.planner.kernel
    kernel.inline.coro = kernel.acting = None
    try:
        unit.think_ended(error)
    except ENDS_PROGRAM:
        raise
    except BaseException as fault:
        kernel.report_owner(unit.spec.name, fault)


async def outlast_and_think(
    unit: Unit, leaving: Strand, call: Callable[[Unit], Coroutine[Any, Any, Any] | None]
) -> None:
    """Think when the think before, which was stopped and still cleans up, has ended."""
    if not leaving.is_done:
        waiter = Waiter()
        unit.frame.planner.kernel.strays.when_ended(leaving, waiter.notify)
        await suspend_on(waiter)
    unit.leaving = None
    coro = call(unit)
    if coro is not None:
        await coro
