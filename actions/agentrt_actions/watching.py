"""Thinking that goes on: look at the world now, and again whenever it changes.

Most ``think`` hooks have one of two shapes, and these are they. ``keep_looking`` calls a function again after
each of some signals; the function sets or clears the think output. ``ready_while`` is for actions without an
output of their own: they are ready while a condition holds.

Both never return: thinking ends by being stopped. Several signals in one tick cost one look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agentrt import Context, Event, Signal

__all__ = ["keep_looking", "ready_while"]


async def keep_looking(ctx: Context, signals: Iterable[Signal], look: Callable[[], None]) -> None:
    """Look now, and again after each of some signals, for as long as the action thinks.

    Args:
        ctx: the context of an action that thinks.
        signals: what makes it look again.
        look: sets or clears the think output.
    """
    again = Event()
    for signal in signals:
        ctx.listen(signal, lambda _value: again.set())
    while True:
        again.clear()
        look()
        await again.wait()


async def ready_while(
    ctx: Context,
    signals: Iterable[Signal],
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
