"""Acts that go wrong: how a strategy takes what its body cannot do.

A body raises ``CannotAct``. Underneath that is no error of the program, but a failure of the strategy: it says so with
the sentence of the fault, and the next strategy is tried. Whoever died begins again where there is something to begin
with (``begins_again``), because everything that was had is gone; a single step fails, and whoever needed it decides.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agentrt_examples.miner.faults import CannotAct

if TYPE_CHECKING:
    from agentrt.strategy import StrategyContext

__all__ = ["begins_again", "fails"]

Run = TypeVar("Run", bound=Callable[[Any, Any, Any], Coroutine[Any, Any, Any]])


def fails(run: Run) -> Run:
    """Make a fault of the body a failure of the strategy; a decorator for ``run``."""

    @wraps(run)
    async def wrapped(self: Any, ctx: StrategyContext, wanted: Any) -> Any:
        try:
            return await run(self, ctx, wanted)
        except CannotAct as fault:
            ctx.fail(str(fault))

    return cast("Run", wrapped)


def begins_again(run: Run) -> Run:
    """The same, but whoever died begins again."""

    @wraps(run)
    async def wrapped(self: Any, ctx: StrategyContext, wanted: Any) -> Any:
        try:
            return await run(self, ctx, wanted)
        except CannotAct as fault:
            if fault.reason == "died":
                ctx.restart("it died")
            ctx.fail(str(fault))

    return cast("Run", wrapped)
