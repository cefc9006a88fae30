"""Coroutines of behaviors: which of an activation's there are, and what their ends mean.

Each is a strand of its own. They end between ticks of the tree, in the strands' phase; the tree looks at the outcome
when it comes by in its next tick:

    activate  until it ends, the activation is ACTIVATING: its children and its tick wait. False or an error: FAILED.
              Else it is ACTIVE, and ``run`` begins at once.
    run       when it ends, the behavior has ended: the decider fails.
    tick      one at a time; while it lasts, no further one begins. False or an error: the decider fails.
    deactivate  the path waits for it, see ``unwinding``.

An error disables the decider, as one in a plain function does.

Source: seed 002, "S08: Behaviors"; design section 5 ("A behavior may be one coroutine").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agentrt.behavior.activation import Stage
from agentrt.body.driver import Routine

if TYPE_CHECKING:
    from agentrt.behavior.activation import Activation
    from agentrt.behavior.choices import Newcomer

__all__ = ["Work", "failed", "look_after", "start"]


class Work:
    """The coroutines of one activation.

    Attributes:
        routines: those that have not ended, in the order in which they began.
        has_failed: whether the decider fails when the tree comes by.
        is_due: while it is ending: whether ``deactivate`` has yet to be called.
        newcomers: whom to activate below when ``activate`` has ended, because they were chosen together with it.
    """

    __slots__ = ("has_failed", "is_due", "newcomers", "routines")

    def __init__(self) -> None:
        self.routines: list[Routine] = []
        self.has_failed: bool = False
        self.is_due: bool = False
        self.newcomers: list[Newcomer] = []


def failed(answer: object) -> bool:
    """Whether an answer of a hook fails the decider: it is false, and not None.

    Args:
        answer: what the hook returned.
    """
    return answer is not True and answer is not None and not answer


def work_of(at: Activation) -> Work:
    """The coroutines of an activation.

    Args:
        at: the activation.
    """
    extra = at.more()
    if extra.work is None:
        extra.work = Work()
    return extra.work


def start(at: Activation, hook: str, fn: Callable[[Any], Any]) -> None:
    """Begin a coroutine.

    Args:
        at: whose.
        hook: which.
        fn: the coroutine function.
    """
    work = work_of(at)
    memory = at.memory

    def ended(routine: Routine) -> None:
        work.routines.remove(routine)
        memory.rare.routines.remove(routine)
        if at.stage is Stage.ENDING:
            if routine.error is not None:
                memory.disable(at.node, at.path, routine.hook)
            elif hook == "activate" and _went_well(routine):
                work.is_due = True  # it came to its end although it was cancelled: what it set up is to be undone
            memory.proceed()
        else:
            _outcome(at, work, routine)

    routine = Routine(memory.require_body(), at.path, hook, fn(at), ended)
    work.routines.append(routine)
    memory.rare.routines.append(routine)


def _went_well(routine: Routine) -> bool:
    return routine.strand.error is None and not failed(routine.value)


def _outcome(at: Activation, work: Work, routine: Routine) -> None:
    hook = routine.hook
    if routine.error is not None:
        at.memory.disable(at.node, at.path, hook)
    is_bad = not _went_well(routine)
    if hook == "activate":
        at.stage = Stage.FAILED if is_bad else Stage.ACTIVE
        if not is_bad and at.node.run is not None:
            start(at, "run", at.node.run)
    if is_bad or hook == "run":
        work.has_failed = True


def look_after(at: Activation) -> Any:
    """What a tick does for a behavior with coroutines.

    Args:
        at: its activation.

    Returns:
        Something false, other than None, if the decider fails.
    """
    if at.stage is Stage.ACTIVATING:
        return True
    work = work_of(at)
    if work.has_failed:
        return False
    node = at.node
    if node.tick is None:
        return True
    if "tick" not in node.is_async:
        return node.tick(at)
    if not any(routine.hook == "tick" for routine in work.routines):
        start(at, "tick", node.tick)
    return True
