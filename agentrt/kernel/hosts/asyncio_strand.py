"""A strand that is an asyncio task: how it is stepped and cancelled as one. What else a task has: see ``asyncio_task``.

While it is stepped, ``asyncio.current_task()`` is the strand, and its own ``contextvars`` context is entered. It is a
task by protocol, as asyncio's documentation allows under "Extending", and not by inheritance: the kernel steps it, in
the kernel's order.

Two kinds of cancellation meet in it:

* *Native* (``stop``, ``CancelScope``) is a level for waits on the kernel: each of them raises while the scope is
  cancelled. For awaits of the event loop it is a level, too, but one that lets clean-up be: while a cancellation is on
  its way out (a ``finally`` block, an ``__aexit__``, an ``except`` that translates it), an await proceeds, as it does
  in asyncio, and the end of the strand waits for it. Whoever has swallowed it gets it again at the next await. The two
  are told apart by what the suspended coroutines hold (``handles_cancellation``): a cancellation on its way out is held
  by one of them, and so is one that somebody has put aside to raise it later, as ``asyncio.TaskGroup`` does. It is
  raised again once at once, and after that once in a tick: who swallows in a loop must not keep the event loop busy.
* *Asyncio's* (``cancel``, called by ``asyncio.timeout``, ``TaskGroup``, anyio) is an edge for every wait. It wakes a
  strand that waits for the kernel at once, and not in the next tick.

They are told apart by counting, which is asyncio's own rule (who cancels, uncancels): ``cancelling()`` counts asyncio's
requests, and one more while a native cancellation is in force. So a timeout that expires while the strand is stopped
does not swallow the stop, and a native scope swallows a ``CancelledError`` only if asyncio's count is what it was when
the scope was entered.

What must be kept in sync (``_fut_waiter`` and ``_must_cancel`` are read by anyio):

* ``_fut_waiter`` is the awaited future until the strand is *stepped*, not until the future is done.
* ``_must_cancel`` stands for a request that no future took; it is raised by the next step.
* ``_wait_ended``: a wait on the kernel was ended to raise something there. It raises then, come what may: ``uncancel``
  comes too late to take that back.
* ``stepper`` is the strand itself whenever something may have to be raised, a ``_Way`` to ``_step_foreign`` after a
  future, to ``_step_notice`` after a notification with a value, else to ``_step``.

Rejected: deriving from ``asyncio.Task`` (it schedules itself), and registering in ``all_tasks`` (anyio walks it and
looks for a C task's fields; ``asyncio.run`` would cancel strands in the order of a set).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from agentrt.kernel.hosts.asyncio_task import TaskFace, handles_cancellation
from agentrt.kernel.hosts.plain import Foreign
from agentrt.kernel.killing import kill, livelocked
from agentrt.kernel.scope import CancelScope
from agentrt.kernel.strand import StrandOwner
from agentrt.kernel.traps import COMMANDS, Notice

if TYPE_CHECKING:
    from agentrt.kernel.agenda import Stepper
    from agentrt.kernel.hosts.asyncio_ import AsyncioHost
    from agentrt.kernel.kernel import Kernel

__all__ = ["AsyncioStrand"]

_enter_task = asyncio._enter_task
_leave_task = asyncio._leave_task


_FOREIGN = Foreign("asyncio")


class _Entered:
    """What a strand notes about a scope that it entered: asyncio's count then, and whether it was delivered."""

    __slots__ = ("cancels", "delivered")

    def __init__(self, cancels: int) -> None:
        self.cancels = cancels
        self.delivered = False


class _Way:
    """A stepper: one of the ways in which a strand goes on."""

    __slots__ = ("send",)

    def __init__(self, send: Callable[..., object]) -> None:
        self.send: Callable[..., object] = send


class AsyncioStrand(TaskFace):
    """A strand and an asyncio task in one. Made by ``Kernel.spawn``; see ``Strand`` and ``asyncio.Task``."""

    __slots__ = (
        "_by_kernel",
        "_cancel_message",
        "_cancels",
        "_enter",
        "_forgiven",
        "_fut_waiter",
        "_must_cancel",
        "_ordinary",
        "_repeated",
        "_stop_delivered",
        "_wait_ended",
    )

    def __init__(
        self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None, host: AsyncioHost
    ) -> None:
        super().__init__(kernel, coro, name, owner, host)
        self._enter: Callable[[Any], object] = partial(self._context.run, coro.send)  # type: ignore[call-arg]
        self._fut_waiter: asyncio.Future[Any] | None = None
        self._must_cancel = False
        self._cancel_message: Any = None
        self._cancels = 0
        self._wait_ended = False
        self._by_kernel = False  # the future was cancelled natively, and not by ``cancel``
        self._forgiven = False  # somebody called ``uncancel`` for the native cancellation
        self._stop_delivered = False
        self._repeated = -1  # the tick in which a native cancellation was last raised once more
        self._ordinary: Stepper = _Way(self._step)
        self.stepper: Stepper = self._ordinary

    # --- stepping -----------------------------------------------------------------------------------------------------

    def _step(self, value: Any) -> object:
        loop = self._host.loop
        _enter_task(loop, self)  # type: ignore[arg-type]
        try:
            return self._enter(value)
        finally:
            _leave_task(loop, self)  # type: ignore[arg-type]

    def _step_foreign(self, _value: None) -> object:
        self.stepper = self._ordinary
        self._fut_waiter = None
        return self._step(None)

    def _step_notice(self, _value: None) -> object:
        self.stepper = self._ordinary
        return self._step(self.take_notice())

    def ordinary_stepper(self) -> Stepper:
        """What ``stepper`` is while nothing is to be raised in it."""
        return self._ordinary

    def notice(self, notice: Notice) -> None:
        """The audience in which it waits was notified with a value."""
        self.waiting = notice
        if self.stepper is self._ordinary:  # else ``send`` looks for it
            self.stepper = _Way(self._step_notice)

    def throw(self, error: BaseException) -> object:
        """Raise an error at the await in which it is; returns the command of its next wait."""
        return self._as_task(super().throw, error)

    def close(self) -> None:
        """Close its coroutine."""
        self._as_task(super().close)

    def _as_task(self, fn: Callable[..., object], *args: object) -> object:
        loop = self._host.loop
        if loop is None:
            return self._context.run(fn, *args)  # killed before any loop ran
        outer = asyncio.current_task(loop)
        if outer is not None:
            _leave_task(loop, outer)
        _enter_task(loop, self)  # type: ignore[arg-type]
        try:
            return self._context.run(fn, *args)
        finally:
            _leave_task(loop, self)  # type: ignore[arg-type]
            if outer is not None:
                _enter_task(loop, outer)

    # --- waiting for the event loop -----------------------------------------------------------------------------------

    def attach(self, future: asyncio.Future[Any] | None) -> None:
        """Wait for a future, or for None: one turn of the event loop. Called by the host, right after the step."""
        self.waiting: object = _FOREIGN
        self._fut_waiter = future
        self._by_kernel = False
        is_cancelled = self.pending() is not None
        if is_cancelled and not self._is_undelivered() and not handles_cancellation(self.coro):
            self._swallowed(future)
        if future is None:
            assert self._host.loop is not None
            self._host.loop.call_soon(self._wake, None, context=self._host.context)
        else:
            future._asyncio_future_blocking = False
            future.add_done_callback(self._wake, context=self._host.context)
            if self._must_cancel:
                if future.cancel(msg=self._cancel_message):
                    self._must_cancel = False
                    self._note_delivered()
            else:
                self._cancel_natively(future)
        self.stepper = self if self._must_cancel or is_cancelled else _Way(self._step_foreign)

    def _swallowed(self, future: asyncio.Future[Any] | None) -> None:
        """A native cancellation was swallowed: raise it once more."""
        tick = self.kernel.tick
        if self._repeated != tick:
            self._repeated = tick
            self._note_delivered(False)
        elif future is not None:  # else it waits for one turn of the loop, and its next wait is looked at again
            self.kernel.call_later(1, self._repeat, future)

    def _repeat(self, future: asyncio.Future[Any]) -> None:
        if self._fut_waiter is future and self.pending() is not None:
            self._note_delivered(False)
            self.interrupt()

    def _cancel_natively(self, future: asyncio.Future[Any] | None) -> None:
        if future is not None and self._is_undelivered() and future.cancel(msg=self.pending()):
            self._by_kernel = True
            self._note_delivered()

    def _wake(self, future: asyncio.Future[Any] | None) -> None:
        """A callback of the event loop, between ticks: what it waited for is done."""
        if self.waiting is _FOREIGN and self._fut_waiter is future:
            self.waiting = 0
            self.kernel.ready.append(self)
            self._host.drain_now(self.kernel)

    # --- what is raised where -----------------------------------------------------------------------------------------

    def send(self, _value: None, /) -> object:
        """Step it while something may have to be raised."""
        error = self._take_error()
        for _ in range(self.kernel.livelock_steps):
            command = self._step(self.take_notice()) if error is None else self.throw(error)
            kind = command.__class__
            if kind not in COMMANDS:
                return command  # the host attaches it, and leaves the strand its own stepper if it has to
            if self._must_cancel or self.pending() is not None:
                error = self._next_error()
            else:
                self.stepper = self._ordinary
                return command
        return kill(self, livelocked(self))

    def _take_error(self) -> BaseException | None:
        """What is to be raised at the wait in which it is; None if that wait simply ends."""
        future = self._fut_waiter
        self._fut_waiter = None
        if self._must_cancel:
            raises_itself = future is not None and future.cancelled() and not self._by_kernel
        elif self._wait_ended or self._is_undelivered():
            raises_itself = future is not None and future.cancelled()
        else:
            return None
        if raises_itself:
            # Its own message tells who cancelled first.
            self._must_cancel = False
            self._note_delivered()
            return None
        if future is not None and future.done() and not future.cancelled():
            future.exception()  # else asyncio would report that nobody asked for it
        return self._next_error()

    def _next_error(self) -> BaseException:
        # One exception serves both kinds. It carries asyncio's message, by which anyio knows its own; the native
        # kind needs none.
        message = self._cancel_message if self._must_cancel else self.pending()
        self._must_cancel = self._wait_ended = False
        self._note_delivered()
        return _cancelled(message)

    def _is_undelivered(self) -> bool:
        """Whether a native cancellation is in force that has not been raised yet."""
        scope = self.scope
        while scope is not None:
            if scope.cancel_called and not scope.host_scope.delivered:
                return True
            if scope.shield:
                return False
            scope = scope.outer
        return self.stop_reason is not None and not self._stop_delivered

    def _note_delivered(self, delivered: bool = True) -> None:
        scope = self.scope
        while scope is not None:
            scope.host_scope.delivered = delivered and scope.cancel_called
            if scope.shield:
                return
            scope = scope.outer
        self._stop_delivered = delivered and self.stop_reason is not None

    # --- native cancellation ------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Have the pending native cancellation raised at the wait in which it is, or at its next one."""
        if self.waiting is _FOREIGN and self.coro is not None:
            self._cancel_natively(self._fut_waiter)
            self.stepper = self
        else:
            super().interrupt()

    def _interrupt_suspended(self) -> None:
        if not self._must_cancel:
            super()._interrupt_suspended()
        elif self.detach():
            self.kernel.ready.append(self)

    def detach(self) -> bool:
        """Take it out of the books of what it waits for on the kernel; says whether it was in them."""
        if not super().detach():
            return False
        self._wait_ended = True
        return True

    def enter_scope(self, scope: CancelScope) -> None:
        """It entered a scope."""
        scope.host_scope = _Entered(self._cancels)
        super().enter_scope(scope)

    def leave_scope(self, scope: CancelScope, error: BaseException | None) -> bool:
        """It leaves a scope; returns whether the scope swallows the error."""
        self._forgiven = False
        if not super().leave_scope(scope, error):
            return False
        entered: _Entered = scope.host_scope
        if self._must_cancel or self._cancels <= entered.cancels:
            return True
        message = self._cancel_message
        if error is not None and error.args != _cancelled(message).args:
            # Asyncio's request was raised after ours. Ours ends here; theirs goes on, under the message they know.
            raise _cancelled(message)
        return False

    # --- asyncio's cancellation ---------------------------------------------------------------------------------------

    def cancel(self, msg: Any | None = None) -> bool:
        """Ask for a ``CancelledError`` at the wait in which it is, or at its next one. Not from another thread.

        Args:
            msg: the argument of the exception.

        Returns:
            False if it has ended.
        """
        if self.coro is None:
            return False
        if self._forgiven and self.pending() is not None:
            # A ``TaskGroup`` gives back what it took by ``uncancel``, so that the next await raises once more.
            self._forgiven = False
            self._note_delivered(False)
            self.interrupt()
            return True
        self._cancels += 1
        if not (self._must_cancel and self._wait_ended):
            self._cancel_message = msg
        future = self._fut_waiter
        if future is not None and future.cancel(msg=msg):
            return True
        self._must_cancel = True
        self.stepper = self
        kernel = self.kernel
        if kernel.current is self:
            kernel.call_soon(self._interrupt_suspended)
        elif self.detach():
            kernel.ready.append(self)
            # Not at once: the caller is in the middle of something (a timeout notes that it expired after this call).
            self._host.drain_soon(kernel)
        return True

    def cancelling(self) -> int:
        """How many requests to cancel it are in force; a native cancellation counts as one."""
        return self._cancels + (self.pending() is not None and not self._forgiven)

    def uncancel(self) -> int:
        """Take one request back.

        Returns:
            How many are left.
        """
        if self._cancels > 0:
            self._cancels -= 1
            if self._cancels == 0 and not self._wait_ended:
                self._must_cancel = False
        elif self.pending() is not None:
            self._forgiven = True
        return self.cancelling()

    def ended(self, result: Any, error: BaseException | None) -> None:
        """Close the books on it."""
        super().ended(result, error)
        self._fut_waiter = None
        self._must_cancel = False


def _cancelled(message: object) -> asyncio.CancelledError:
    return asyncio.CancelledError() if message is None else asyncio.CancelledError(message)
