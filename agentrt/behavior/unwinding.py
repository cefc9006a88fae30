"""Taking deciders down: the part of the path that ends, from the behavior upward.

Of each activation, in this order: its coroutines are cancelled and clean up; then ``deactivate`` is called, if its
``activate`` did not fail; then its block is disposed of, its control flags are given back, and it is gone. Only then is
it the turn of the one above.

Plain functions are done on the spot. A coroutine that cleans up takes a step of its own in the strands' phase, or
several; the path waits for it, and whoever is to be activated waits with it. That is why unwinding is an object that
can be left and gone on with.

Source: seed 002, "S01: Overview" (the walk-through); "S07: Memory & Blocks"; design section 2, cancellation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentrt.behavior.activation import Stage
from agentrt.behavior.behaviors import behavior_name
from agentrt.behavior.claiming import release
from agentrt.behavior.routines import start, work_of
from agentrt.body.driver import note
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.behavior.activation import Activation

__all__ = ["Unwinding"]


class Unwinding:
    """Activations that end.

    Args:
        path: they, from the top down.
        reason: why, in words.

    Attributes:
        left: those that have not ended, the next one last.
        reason: as given.
        then: what to do when the last one has ended; None for nothing.
    """

    __slots__ = ("left", "reason", "then")

    def __init__(self, path: list[Activation], reason: str) -> None:
        self.left: list[Activation] = path
        self.reason: str = reason
        self.then: Callable[[], object] | None = None

    def proceed(self) -> bool:
        """Go on.

        Returns:
            Whether all have ended; otherwise a coroutine is to end first.
        """
        while self.left:
            if not self._end(self.left[-1]):
                return False
            self.left.pop()
        return True

    def _end(self, at: Activation) -> bool:
        work = at.work
        if work is None and at.stage is not Stage.ENDING:  # the steady case
            is_due = at.stage is Stage.ACTIVE
            self._begin(at)
            if is_due and at.node.deactivate is not None and not self._deactivate(at):
                return False
        elif not self._end_coroutines(at):
            return False
        self._dispose(at)
        return True

    @staticmethod
    def _begin(at: Activation) -> None:
        at.stage = Stage.ENDING
        log = at.memory.log
        if log is not None and at.node.behavior is not None:
            log.deactivating(at)

    def _end_coroutines(self, at: Activation) -> bool:
        work = work_of(at)
        if at.stage is not Stage.ENDING:
            work.is_due = at.stage is Stage.ACTIVE
            self._begin(at)
            for routine in tuple(work.routines):
                routine.stop(self.reason)
            for one in work.newcomers:
                release(one.at)
        if work.routines:
            return False
        if work.is_due:
            work.is_due = False
            if not self._deactivate(at):
                return False
        return True

    def _deactivate(self, at: Activation) -> bool:
        """Call the hook.

        Returns:
            Whether it has ended.
        """
        node = at.node
        hook = node.deactivate
        if hook is None:
            return True
        try:
            if "deactivate" in node.is_async:
                start(at, "deactivate", hook)
                return False
            hook(at)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            at.memory.fault(node, at.path, "deactivate", error)
        return True

    def _dispose(self, at: Activation) -> None:
        memory = at.memory
        dispose = getattr(at.block, "dispose", None)
        if dispose is not None:
            try:
                dispose()
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                memory.fault(at.node, at.path, "dispose", error)
        if at.extra is not None:
            at.extra.block = at.extra.dblock = None
        at.stage = Stage.ENDED
        release(at)
        note(
            memory.require_body(),
            at.path,
            Event.DEACTIVATE,
            (("behavior", behavior_name(at.node.behavior)), ("reason", self.reason)),
        )
