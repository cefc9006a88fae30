"""What a memory does between ticks: clean-ups that take time, leaving, giving way.

All of it is rare. What is taken down while a coroutine cleans up stays in ``rare.unwinding``, and the tree does nothing
until that has ended. If a walk was interrupted by it (somebody was chosen, and is yet to be activated), the walk is
gone on with as soon as the clean-up has ended, if that is in the same tick; a choice of an earlier tick is stale, and
is dropped. The control flags that had passed on to it pass back to those that still clean up.

Source: design section 2, cancellation; section 3, control flags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.behavior.activation import Activation, Stage
from agentrt.behavior.claiming import give_back, release
from agentrt.behavior.unwinding import Unwinding
from agentrt.body.driver import tick_of

if TYPE_CHECKING:
    from agentrt.behavior.memory import Memory
    from agentrt.behavior.rare import Rare
    from agentrt.behavior.walking import Walk

__all__ = ["drop_walk", "proceed", "settle", "unwind"]


def unwind(memory: Memory, unwinding: Unwinding) -> bool:
    """Take down what was cut off the path.

    Args:
        memory: whose.
        unwinding: it.

    Returns:
        Whether it is done; otherwise it is gone on with when a coroutine has ended.
    """
    rare = memory.rare
    if rare.unwinding is not None:  # what was above it follows
        rare.unwinding.left[:0] = unwinding.left
        return False
    if unwinding.proceed():
        return True
    rare.unwinding = unwinding
    memory.update()
    return False


def proceed(memory: Memory) -> None:
    """A coroutine of something that ends has ended.

    Args:
        memory: whose.
    """
    rare = memory.rare
    unwinding = rare.unwinding
    if unwinding is None or not unwinding.proceed():
        return
    rare.unwinding = None
    walk, rare.walk = rare.walk, None
    if walk is not None:
        if rare.leaving is None and walk.tick == tick_of(memory.require_body()):
            memory.resume(walk)
        else:
            walk.drop()
            memory.finish(walk)
    memory.settle()


def drop_walk(memory: Memory) -> None:
    """A walk waits, and what it waits for takes too long: forget whom it would have activated.

    Args:
        memory: whose.
    """
    walk, memory.rare.walk = memory.rare.walk, None
    if walk is not None:
        _hand_back(memory, walk)
        walk.drop()
        memory.finish(walk)


def _hand_back(memory: Memory, walk: Walk) -> None:
    """Who cleans up goes on using the control flags that were to pass on to whoever was chosen."""
    unwinding = memory.rare.unwinding
    if unwinding is None:
        return
    body = memory.require_body()
    chosen = [one.at for one in walk.newcomers]
    wanted = {flag for at in chosen for flag in at.node.flags}
    for at in unwinding.left:  # the outermost first: it ends last
        flags = tuple(flag for flag in at.node.flags if flag in wanted)
        if flags:
            wanted.difference_update(flags)
            body.flags.hand_over(flags, at, tick_of(body), holders=chosen)


def settle(memory: Memory, rare: Rare) -> None:
    """Do what had to wait for the end of a tick.

    Args:
        memory: whose.
        rare: its rare things.
    """
    rare.delegated = None
    while rare.giving:
        at, reason = rare.giving.pop(0)
        _cut(memory, rare, at, reason)
    if rare.waiting:
        give_back(memory)
    if rare.leaving is not None:
        _leave(memory, rare)


def _cut(memory: Memory, rare: Rare, at: Activation, reason: str) -> None:
    """End an activation and what is below it; its group redecides in the next tick."""
    if at.stage is Stage.GRANTED:
        rare.waiting.remove(at)
        release(at)
    elif at.stage in (Stage.ACTIVATING, Stage.ACTIVE, Stage.FAILED):
        drop_walk(memory)
        if at.parent is None:
            memory.root = None
        else:
            at.parent.child = None
        unwind(memory, Unwinding(list(at.downward()), reason))


def _leave(memory: Memory, rare: Rare) -> None:
    assert rare.leaving is not None
    reason, then = rare.leaving
    drop_walk(memory)
    for at in rare.waiting:
        release(at)
    rare.waiting.clear()
    if memory.root is not None:
        path, memory.root = list(memory.path()), None
        unwind(memory, Unwinding(path, reason))
    if rare.unwinding is None:
        rare.leaving = None
        memory.body = None
        then()
