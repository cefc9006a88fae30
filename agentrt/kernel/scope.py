"""Cancellation: structured, by scopes, with a reason, a deadline and a shield.

Rules:

* A scope belongs to the strand that entered it; scopes nest; the strand itself is the outermost scope
  (``strand.stop``).
* Cancelling is a level, not an edge: once a scope is cancelled, every wait on the kernel inside it raises, until the
  scope is left. A ``finally`` block that has to wait opens a shielded scope.
* A scope that was cancelled swallows the cancellation when it is left, unless a scope around it was cancelled too. (A
  shielded one does even then, because what was raised in it can only be its own; the next wait raises the other.)
* What is raised is the host's own cancellation exception, so that ``asyncio.TaskGroup`` or a trio nursery inside an
  action behaves as it does anywhere. On the plain host it is ``Cancelled``.
* For awaits that belong to the host it is a level, too: who swallowed a cancellation gets it again at the next one.
  Clean-up follows the host's convention: under asyncio a ``finally`` block may await the event loop while the
  cancellation is on its way out, under trio it may not, without a shield.

Rejected: raising our own exception everywhere (task groups of the hosts wrap it into exception groups), and matching a
cancellation to its scope by identity (a host's exception carries no room for it; the nesting decides without).
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, final

from agentrt.errors import WrongStateError
from agentrt.kernel.traps import current_strand
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.kernel.agenda import Timer
    from agentrt.kernel.strand import Strand

__all__ = ["CancelScope", "Cancelled", "fail_after", "move_on_after", "outlast"]


@final
class Cancelled(BaseException):
    """What a cancelled wait raises on the plain host. Not an error: let it pass.

    Attributes:
        reason: why, in words.
    """

    def __init__(self, reason: str) -> None:
        self.reason: Final = reason
        super().__init__(reason)


class CancelScope:
    """A stretch of a strand that can be cancelled as one. Use it with ``with``, once.

    Args:
        seconds: game seconds after which it cancels itself; None or infinity for never.
        shield: whether cancellation from outside is kept away from what is inside.
        reason: what to say when the deadline comes.

    Attributes:
        cancel_called: whether it was cancelled.
        cancelled_caught: whether leaving it swallowed that cancellation.
        expired: whether it was its deadline that cancelled it.
        reason: why.
    """

    __slots__ = (
        "_deadline",
        "_seconds",
        "cancel_called",
        "cancelled_caught",
        "expired",
        "host_scope",
        "outer",
        "reason",
        "shield",
        "strand",
    )

    def __init__(self, seconds: float | None = None, *, shield: bool = False, reason: str = "deadline passed") -> None:
        self._seconds = seconds
        self._deadline: Timer | None = None
        self.shield: Final = shield
        self.reason: str = words_of(reason)
        self.cancel_called: bool = False
        self.cancelled_caught: bool = False
        self.expired: bool = False
        self.outer: CancelScope | None = None
        self.strand: Strand | None = None
        self.host_scope: Any = None

    def __enter__(self) -> CancelScope:
        strand = current_strand()
        if self.strand is not None:
            raise WrongStateError("CancelScope.__enter__", "it is or was entered", "Make a new scope for each 'with'.")
        kernel = strand.kernel
        seconds = self._seconds
        # Before anything is changed: a duration that is not a number raises.
        ticks = None if seconds is None or seconds == math.inf else kernel.clock.ticks(seconds)
        self.strand = strand
        self.outer = strand.scope
        strand.scope = self
        strand.enter_scope(self)
        if ticks is not None:
            self._deadline = kernel.call_later(ticks, self._expire)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        strand = self.strand
        assert strand is not None
        if strand.scope is not self:
            raise RuntimeError("cancel scopes must be left in the reverse order of being entered, by the same strand")
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        strand.scope = self.outer
        self.cancelled_caught = strand.leave_scope(self, error)
        return self.cancelled_caught

    @property
    def has_deadline(self) -> bool:
        """Whether it will be cancelled by itself, unless it is left before."""
        return self._deadline is not None

    def _expire(self) -> None:
        self.expired = not self.cancel_called
        self.cancel(self.reason)

    def cancel(self, reason: str = "cancelled") -> None:
        """Cancel what runs inside; a second call does nothing.

        Args:
            reason: why, in words.
        """
        if self.cancel_called:
            return
        self.cancel_called = True
        self.reason = words_of(reason)
        if self.strand is not None and not self.strand.is_done:
            self.strand.scope_cancelled(self)

    def __repr__(self) -> str:
        state = f"cancelled: {self.reason}" if self.cancel_called else "open"
        return f"<CancelScope: {state}{', shielded' if self.shield else ''}>"


def move_on_after(seconds: float) -> CancelScope:
    """A scope that is cancelled after a time, and then goes on behind its block.

    Args:
        seconds: game seconds.
    """
    return CancelScope(seconds)


class fail_after(CancelScope):  # noqa: N801 - the field's name for it, as in trio and anyio
    """A scope that is cancelled after a time, and then raises ``TimeoutError``. Cancelled by hand, it raises nothing.

    Args:
        seconds: game seconds.
    """

    __slots__ = ()

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        caught = super().__exit__(kind, error, trace)
        if caught and self.expired:
            raise TimeoutError(f"not done within {self._seconds} game seconds") from error
        return caught


async def outlast(is_over: Callable[[], bool], wait: Callable[[], Awaitable[object]]) -> None:
    """Wait behind a shield until something is over that must not be left half done, whatever is raised meanwhile.

    A shield alone is not enough: asyncio's own cancellation (``asyncio.timeout``, ``Task.cancel``) is an edge that
    knows none. What was raised last is raised again at the end.

    Args:
        is_over: whether it is; asked before each wait.

    Raises:
        BaseException: what was raised meanwhile.
    """
    raised: BaseException | None = None
    with CancelScope(shield=True):
        while not is_over():
            try:
                await wait()
            except GeneratorExit:
                raise  # nobody steps this coroutine any more
            except BaseException as error:
                raised = error
    if raised is not None:
        raise raised
