"""Thinking that goes on: look at the world now, and again whenever it changes.

Most ``think`` hooks have one of two shapes, and these are they. ``keep_looking`` calls a function again after
each of some signals; the function sets or clears the think output. ``ready_while`` is for actions without an
output of their own: they are ready while a condition holds.

Both never return: thinking ends by being stopped. Several signals in one tick cost one look.

A signal that tells of everybody's doings, such as that of the lease book, would cause far more looks than it is worth;
``Only`` lets through what concerns the action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from agentrt import Context, Event, Signal

__all__ = ["Only", "keep_looking", "ready_while"]


class Only(NamedTuple):
    """A signal of which only some emissions count.

    Attributes:
        signal: the signal.
        concerns: given the signal's value, whether to look again.
    """

    signal: Signal
    concerns: Callable[[Any], bool]


class _Alarm:
    """Wakes a think when a signal is emitted."""

    __slots__ = ("_again", "_concerns")

    def __init__(self, again: Event, concerns: Callable[[Any], bool] | None) -> None:
        self._again = again
        self._concerns = concerns

    def __call__(self, value: Any) -> None:
        if self._concerns is None or self._concerns(value):
            self._again.set()


async def keep_looking(ctx: Context, signals: Iterable[Signal | Only], look: Callable[[], None]) -> None:
    """Look now, and again after each of some signals, for as long as the action thinks.

    Args:
        ctx: the context of an action that thinks.
        signals: what makes it look again.
        look: sets or clears the think output.
    """
    again = Event()
    for signal in signals:
        if isinstance(signal, Only):
            ctx.listen(signal.signal, _Alarm(again, signal.concerns))
        else:
            ctx.listen(signal, _Alarm(again, None))
    while True:
        again.clear()
        look()
        await again.wait()


async def ready_while(
    ctx: Context,
    signals: Iterable[Signal | Only],
    holds: Callable[[], bool],
    utility: Callable[[], float] | None = None,
) -> None:
    """Be ready while a condition holds.

    Args:
        ctx: the context of an action that thinks.
        signals: when to look again.
        holds: the condition.
        utility: from 0.0 to 1.0, asked at each look while the condition holds; the action declares a range
            then.
    """
    ready = False

    def look() -> None:
        nonlocal ready
        now = holds()
        if now and utility is not None:
            ctx.set_utility(utility())
        if now and not ready:
            ctx.set_think_output()
        elif ready and not now:
            ctx.clear_think_output()
        ready = now

    await keep_looking(ctx, signals, look)
