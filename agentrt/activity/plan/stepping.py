"""How thinks are stepped: the generator and the coroutine of ``tree``, apart because they are never compiled.

What the compiler makes of a generator cannot hand on what a coroutine yields; and its coroutines cannot await in the
middle of handling an error.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from agentrt.activity.states import READY
from agentrt.kernel.kernel import BatchMember
from agentrt.kernel.traps import Waiter, suspend_on

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand


class Thinker(BatchMember, Protocol):
    """Who is asked where its place stands; a ``Unit``."""

    @property
    def state(self) -> int:
        """One of the constants of the module ``states``."""
        ...

    def think_now(self, asked: object) -> Coroutine[Any, Any, Any] | None:
        """Its turn among those that are asked has come: its ``think``, if there is one to be stepped here."""

    def think_was_stepped(self, error: BaseException | None) -> None:
        """That has ended without an answer, or with an error."""


@types.coroutine
def first_steps(asked: Sequence[Thinker], kernel: Kernel) -> Generator[object, None, None]:
    """Make the first step of each, which is its last one."""
    # One generator for all of them, which nobody ever has to resume. Sent None by hand, each coroutine would end in a
    # ``StopIteration``, which costs more than all the rest here.
    inline = kernel.inline
    is_task = not kernel.host.steps_inline
    for unit in asked:
        error: BaseException | None = None
        try:
            coro = unit.think_now(asked)
            if coro is None:
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
            unit.think_was_stepped(error)


async def think_after(leaving: Strand, then: Callable[[], Coroutine[Any, Any, Any] | None]) -> None:
    """Think when the think before, which was stopped and still cleans up, has ended."""
    if not leaving.is_done:
        waiter = Waiter()
        leaving.when_ended(waiter.notify)
        await suspend_on(waiter)
    coro = then()
    if coro is not None:
        await coro
