"""The asyncio host: a strand may await whatever an asyncio task may. Any event loop of its kind will do, as uvloop.

The kernel is stepped synchronously, by whoever runs on the loop: a task, a callback, or this host when a foreign result
arrives. Rules:

* While strands are stepped, the task that steps them is not the loop's current task: each strand is, in its turn. It is
  left before and entered again after (``enter``, ``leave``).
* A foreign result wakes its strand at once: the ready queue is drained between ticks, in the callback of the loop. Not
  while a tick is drained, nor while one is paused because its budget ran out: that tick goes on and takes it along.
* A failure between ticks has nobody to be raised to. It is kept and raised by the next tick.
* Callbacks run in a context of the host's own, because a context that is entered already cannot be entered again.

What a strand is to asyncio, and how the two kinds of cancellation meet: see ``asyncio_strand``.

The host is bound to the loop on which it was entered last; a kernel may go on in another ``asyncio.run``. Strands that
waited for a future of a loop that was closed wait forever; stop them before.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any

from agentrt.errors import ENDS_PROGRAM, NotRunningError
from agentrt.kernel.hosts.asyncio_strand import AsyncioStrand
from agentrt.kernel.hosts.plain import (
    TRIO_WORDS,
    Budget,
    describe,
    throw_foreign,
    throw_soon,
    translate_no_loop,
)
from agentrt.kernel.strand import Strand, StrandOwner

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel

__all__ = ["AsyncioHost", "AsyncioStrand"]

_NO_LOOP = (
    "the asyncio host steps strands only while its event loop runs. Call this from a coroutine or a callback of the "
    "loop, or give the runtime host='plain' to run without one."
)


class AsyncioHost:
    """Strands that await asyncio.

    Attributes:
        loop: the event loop on which the kernel was stepped last; None before that.
        context: in which the callbacks of the event loop run.
    """

    name = "asyncio"
    steps_inline = False
    foreign_waits: int = 0
    cancelled_type: type[BaseException] = asyncio.CancelledError

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.context: contextvars.Context = contextvars.copy_context()
        self._outer: asyncio.Task[Any] | None = None
        self._drain_scheduled = False
        self._failure: BaseException | None = None

    # --- for the kernel -----------------------------------------------------------------------------------------------

    def strand(self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None) -> Strand:
        """Make a strand."""
        return AsyncioStrand(kernel, coro, name, owner, self)

    def cancelled(self, reason: str) -> BaseException:
        """The exception for one cancelled wait."""
        return asyncio.CancelledError(reason)

    def foreign(self, strand: Strand, command: object) -> None:
        """Wait for a future of the loop; anything else fails at its await, as it does in any asyncio task."""
        blocking = getattr(command, "_asyncio_future_blocking", None)
        if not isinstance(strand, AsyncioStrand):
            throw_foreign(strand, describe(command), "plain")  # it was made before this host was chosen
        elif command is None:
            self.foreign_waits += 1
            strand.attach(None)
        elif blocking is None:
            throw_foreign(strand, describe(command), self.name)
        elif command.get_loop() is not self.loop:  # type: ignore[attr-defined]
            throw_soon(strand, RuntimeError(f"{strand!r} got {command!r}, attached to a different event loop"))
        elif not blocking:
            throw_soon(strand, RuntimeError(f"'yield' was used instead of 'yield from' in {strand!r} with {command!r}"))
        else:
            self.foreign_waits += 1
            strand.attach(command)  # type: ignore[arg-type]

    def translate(self, error: BaseException) -> BaseException:
        """Tell an author who called a function of trio's here what to do instead."""
        return translate_no_loop(error, self.name, TRIO_WORDS)

    def enter(self) -> None:
        """Begin to step strands.

        Raises:
            NotRunningError: no event loop runs on this thread.
            BaseException: what failed between ticks.
        """
        self._leave_outer()
        failure, self._failure = self._failure, None
        if failure is not None:
            self.leave()
            raise failure

    def _leave_outer(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise NotRunningError(_NO_LOOP) from None
        if loop is not self.loop:
            self.loop = loop
            self._drain_scheduled = False
        outer = self._outer = asyncio.current_task(loop)
        if outer is not None:
            asyncio._leave_task(loop, outer)

    def leave(self) -> None:
        """The task that steps them is the current one again."""
        outer, self._outer = self._outer, None
        if outer is not None:
            assert self.loop is not None
            asyncio._enter_task(self.loop, outer)

    # --- for its strands ----------------------------------------------------------------------------------------------

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """The event loop of the strands."""
        return self.loop if self.loop is not None else asyncio.get_running_loop()

    def drain_now(self, kernel: Kernel) -> None:
        """Step what is ready, from a callback of the loop."""
        if kernel.draining or kernel.in_tick:
            return
        self._leave_outer()
        try:
            kernel.drain()
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # kept for the next tick
            if self._failure is None:
                self._failure = error
            self.drain_soon(kernel)
        finally:
            self.leave()

    def drain_soon(self, kernel: Kernel) -> None:
        """Step what is ready in the next turn of the loop; not during a tick, which goes on by itself."""
        if self.loop is not None and not (self._drain_scheduled or kernel.draining or kernel.in_tick):
            self._drain_scheduled = True
            self.loop.call_soon(self._scheduled_drain, kernel, context=self.context)

    def _scheduled_drain(self, kernel: Kernel) -> None:
        self._drain_scheduled = False
        self.drain_now(kernel)

    # --- for the runtime ----------------------------------------------------------------------------------------------

    async def run_tick(self, kernel: Kernel, budget: float | None = None) -> None:
        """Run one whole tick.

        Args:
            kernel: the kernel.
            budget: real seconds after which the event loop gets a turn, again and again until the tick is whole; None
                for no limit.

        Raises:
            WrongStateError: a tick of this kernel runs already.
            BaseException: what failed between ticks.
        """
        if budget is None:
            kernel.step_tick()
            return
        kernel.require_between_ticks("run_tick")
        slices = Budget(budget)
        try:
            whole = self._run_slice(kernel, slices.expired, begin=True)
            while not whole:
                try:
                    await asyncio.sleep(0)
                except asyncio.CancelledError:
                    self._run_slice(kernel, None)  # a tick is always whole
                    raise
                slices.renew()
                whole = self._run_slice(kernel, slices.expired)
        finally:
            kernel.in_tick = False

    def _run_slice(self, kernel: Kernel, expired: Callable[[], bool] | None, begin: bool = False) -> bool:
        self.enter()
        try:
            if begin:
                kernel.begin_tick()
            whole = kernel.drain(expired)
            if whole:
                kernel.end_tick()
            return whole
        finally:
            self.leave()

    async def rest(self, kernel: Kernel, seconds: float) -> None:
        """Let the event loop work between two ticks; strands whose foreign waits end meanwhile are stepped.

        Args:
            kernel: the kernel.
            seconds: how long, in real seconds; 0 for one turn of the loop.
        """
        await asyncio.sleep(max(0.0, seconds))

    async def drained(self, kernel: Kernel, strands: Iterable[Strand], seconds: float) -> bool:
        """Wait until strands have ended, without ticking: for those that wait for the event loop.

        Args:
            kernel: the kernel.
            strands: which.
            seconds: real seconds to wait at most.

        Returns:
            Whether all have ended.
        """
        left = [strand for strand in strands if isinstance(strand, AsyncioStrand) and not strand.is_done]
        if not left:
            return True
        all_ended = asyncio.get_running_loop().create_future()

        def on_end(_strand: object) -> None:
            if not all_ended.done() and all(strand.is_done for strand in left):
                all_ended.set_result(None)

        for strand in left:
            strand.add_done_callback(on_end)
        try:
            # Not asyncio.timeout: the caller may be a task that is being cancelled, and up to Python 3.11.2 a timeout
            # that expires in one comes out as that cancellation.
            await asyncio.wait([all_ended], timeout=seconds)
        finally:
            for strand in left:
                strand.remove_done_callback(on_end)
        return all_ended.done()
