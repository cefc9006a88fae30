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
from agentrt.behavior.claiming import abandon, give_back, hand_back, release
from agentrt.behavior.unwinding import Unwinding
from agentrt.body.driver import take, tick_of

if TYPE_CHECKING:
    from agentrt.behavior.memory import Memory
    from agentrt.behavior.rare import Rare

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
    rare.renewed.clear()  # what the walk asked for has to be asked for again in the next tick
    memory.settle()


def drop_walk(memory: Memory) -> None:
    """A walk waits, and what it waits for takes too long: forget whom it would have activated.

    Args:
        memory: whose.
    """
    walk, memory.rare.walk = memory.rare.walk, None
    if walk is not None:
        unwinding = memory.rare.unwinding
        if unwinding is not None:  # who cleans up goes on using the flags that were to pass on
            hand_back(memory, walk.newcomers, unwinding.left)
        walk.drop()
        memory.finish(walk)


def settle(memory: Memory, rare: Rare, *, is_over: bool) -> None:
    """Do what had to wait for the end of a tick.

    Args:
        memory: whose.
        rare: its rare things.
        is_over: whether a tick of the tree ends; between ticks, claims stay as they are.
    """
    rare.delegated = None
    if rare.is_settling:  # somebody was served on the way, and wants more: it is done as soon as that is
        return
    rare.is_settling = True
    try:
        if is_over and rare.waiting:
            give_back(memory)
        while rare.giving:
            at, reason = rare.giving.pop(0)
            _cut(memory, rare, at, reason)
        if rare.leaving is not None:
            _end_all(memory, rare, rare.leaving[0])
    finally:
        rare.is_settling = False
    if rare.leaving is not None and rare.unwinding is None:
        _leave(memory, rare)


def _cut(memory: Memory, rare: Rare, at: Activation, reason: str) -> None:
    """End an activation and what is below it; its group redecides in the next tick."""
    if _is_yet_to_come(memory, rare, at):
        return
    if at.stage is Stage.GRANTED:
        abandon(at)
    elif at.stage in (Stage.ACTIVATING, Stage.ACTIVE, Stage.FAILED) and at in memory.path():
        # On the path: what was cut off already, and waits for what is below it, may be asked for its flags again.
        drop_walk(memory)
        if at.parent is None:
            memory.root = None
        else:
            at.parent.child = None
        unwind(memory, Unwinding(list(at.downward()), reason))


def _is_yet_to_come(memory: Memory, rare: Rare, at: Activation) -> bool:
    """Whether somebody was chosen, and has to wait for a coroutine before it is activated; then it is not chosen."""
    walk = rare.walk
    if walk is not None and any(one.at is at for one in walk.newcomers):
        drop_walk(memory)
        return True
    for group in memory.path():
        work = group.work
        if work is not None and any(one.at is at for one in work.newcomers):
            for one in work.newcomers:
                release(one.at)
            work.newcomers = []
            return True
    return False


def _end_all(memory: Memory, rare: Rare, reason: str) -> None:
    drop_walk(memory)
    for at in tuple(rare.waiting):
        abandon(at)
    if memory.root is not None:
        path, memory.root = list(memory.path()), None
        unwind(memory, Unwinding(path, reason))
    rare.giving.clear()  # all have


def _leave(memory: Memory, rare: Rare) -> None:
    assert rare.leaving is not None
    then = rare.leaving[1]
    rare.leaving = None
    take(memory, memory.require_body())
    then()
