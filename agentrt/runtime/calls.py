"""Calls to the outside: ``await ctx.call(fn, *args)``.

The function runs on the host, beside the game; its result comes in at a tick's intake, in order of arrival,
as any other input. Between the two nothing of the game waits, except the strand that called.

* asyncio and trio: a coroutine function runs as a task of the event loop, a plain function in a worker
  thread.
* plain: a plain function is called at once, on this thread, so that a simulation stays deterministic; its
  result still comes in at the next tick. A coroutine function has no loop to run on there: that is an error
  that says so.

A call whose strand is cancelled is cancelled too, if it is a coroutine; a thread runs to its end and its
result is dropped. Neither is waited for, except when the runtime is closed: then no task is left behind.

Whatever comes out of the function is delivered, also what is not an ``Exception``: else the strand would wait
for ever. Only a request to end the program (``KeyboardInterrupt``, ``SystemExit``) goes on to the event loop
as well.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from agentrt.errors import ENDS_PROGRAM, ForeignAwaitError, RunFault
from agentrt.kernel.agenda import name_of
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.strand import meant
from agentrt.kernel.traps import Waiter, at_once, running, suspend_on
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.runtime.intake import Journal

__all__ = ["Answers", "Calls", "OutsideCall"]


class Answers(Protocol):
    """Who answers calls instead of the outside: a replay, which has the results of a journal."""

    def asked(self, call: OutsideCall) -> bool:
        """A call is made. Whoever answers has ``call.deliver`` called at an intake, and nothing is called.

        Returns:
            Whether it is answered; if not, the outside is called after all.
        """
        ...


class OutsideCall:
    """One call: its waiter, and what came of it."""

    __slots__ = ("cancel", "error", "is_cancelled", "journal", "number", "request", "waiter", "what")

    def __init__(self, number: int, request: functools.partial[Any], journal: Journal | None) -> None:
        self.number: int = number  # which call of its runtime, from 0
        self.what: str = name_of(request.func)  # the name of the function that was called
        self.request: functools.partial[Any] = request  # what was asked for: the function with its arguments
        self.journal: Journal | None = journal  # who keeps what came of it, or nobody
        self.waiter: Waiter = Waiter()  # of the strand that called
        self.error: BaseException | None = None  # what was raised
        self.cancel: Callable[[], object] | None = None  # cancels the task of the event loop; None if there is none
        self.is_cancelled: bool = False  # whether the strand does not wait any more

    def deliver(self, value: Any, error: BaseException | None) -> None:
        """The intake takes what came of it."""
        if self.journal is not None:
            self.journal.answered(self.number, self.what, value, error)
        self.error = error
        self.waiter.notify(value)

    def give_up(self) -> None:
        """The strand was cancelled."""
        self.is_cancelled = True
        if self.cancel is not None:
            self.cancel()


class Calls:
    """The calls of one runtime."""

    def __init__(self, kernel: Kernel) -> None:
        # those that a task of the event loop works on, in order
        self.running: dict[OutsideCall, object] = {}  # with its task: asyncio itself keeps only weak references
        self.count: int = 0  # how many calls there were
        self.journal: Journal | None = None  # who keeps what comes of them, or nobody
        self.answers: Answers | None = None  # who answers instead of the outside, or nobody
        self._kernel = kernel
        self._idle: Any = None

    async def call(self, fn: Callable[..., Any], *args: Any) -> Any:
        """Call a function outside the game.

        Args:
            fn: a coroutine function or a plain function.

        Raises:
            ForeignAwaitError: a coroutine function, and no event loop.
            Exception: what it raised.
        """
        await at_once()  # it may raise before it waits
        call = OutsideCall(self.count, functools.partial(fn, *args), self.journal)
        self.count += 1
        if self.answers is None or not self.answers.asked(call):
            start = {"asyncio": self._on_asyncio, "trio": self._on_trio}.get(self._kernel.host.name, self._inline)
            # What is called is outside of the game, also where it is called at once: what it hands in is an input.
            outer, running.kernel = running.kernel, None
            try:
                start(call)
            finally:
                running.kernel = outer
        try:
            value = await suspend_on(call.waiter)
        except BaseException:
            call.give_up()
            raise
        if call.error is not None:
            raise call.error
        return value

    async def settle(self, seconds: float) -> None:
        """Wait until no task works on a call any more; for when the runtime is closed.

        Args:
            seconds: real seconds to wait at most.
        """
        if self.running:
            import anyio

            self._idle = anyio.Event()
            with anyio.move_on_after(seconds):
                await self._idle.wait()

    # --- where it runs ------------------------------------------------------------------------------------------------

    def _inline(self, call: OutsideCall) -> None:
        if _is_coroutine_function(call.request.func):
            raise self._no_loop(call)
        value, error = None, None
        try:
            value = call.request()
        except ENDS_PROGRAM:
            raise
        except BaseException as raised:  # it is raised where the call is awaited
            error = self._delivered(call, raised)
        if inspect.iscoroutine(value):
            value.close()
            raise self._no_loop(call)
        self._kernel.post(call.deliver, value, error)

    def _no_loop(self, call: OutsideCall) -> ForeignAwaitError:
        return ForeignAwaitError(call.what, self._kernel.host.name, is_call=True, tick=self._kernel.tick)

    def _on_asyncio(self, call: OutsideCall) -> None:
        import asyncio

        task = asyncio.get_running_loop().create_task(self._make(call), name=f"agentrt call of {call.what}")
        self.running[call] = task
        task.add_done_callback(lambda _task: self._ended(call))
        call.cancel = task.cancel

    def _on_trio(self, call: OutsideCall) -> None:
        import trio

        scope = trio.CancelScope()

        async def make() -> None:
            try:
                with scope:
                    await self._make(call)
            finally:
                self._ended(call)

        self.running[call] = None
        trio.lowlevel.spawn_system_task(make, name=f"agentrt call of {call.what}")
        call.cancel = scope.cancel

    async def _make(self, call: OutsideCall) -> None:
        """Run the function on an event loop, and post what comes of it."""
        import anyio

        try:
            if _is_coroutine_function(call.request.func):
                value = await call.request()
            else:
                # In a tuple: trio lets no coroutine out of a thread.
                (value,) = await anyio.to_thread.run_sync(_answer, call.request)
                if inspect.iscoroutine(value):
                    value = await value
        except BaseException as error:  # it is raised where the call is awaited
            # GeneratorExit like the rest: the function may have raised it, and a coroutine that is closed may return.
            error = meant(error)
            if not call.is_cancelled:
                self._kernel.post(call.deliver, None, self._delivered(call, error))
            if isinstance(error, (anyio.get_cancelled_exc_class(), *ENDS_PROGRAM)):
                raise
        else:
            self._kernel.post(call.deliver, value, None)

    def _delivered(self, call: OutsideCall, error: BaseException) -> Exception:
        """What is raised where a call is awaited. A cancellation there would be taken for the strand's own."""
        if isinstance(error, Exception):
            return error
        return RunFault(f"the call of {call.what} was ended by {repr_of(error)}", tick=self._kernel.tick)

    def _ended(self, call: OutsideCall) -> None:
        del self.running[call]
        if self._idle is not None and not self.running:
            self._idle.set()


def _answer(request: Callable[[], Any]) -> tuple[Any]:
    """Call a function in a thread; who waits for the thread looks at what it raises, and must be able to."""
    try:
        return (request(),)
    except BaseException as error:
        raise meant(error)  # noqa: B904 - it is the same one, as a rule


def _is_coroutine_function(fn: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine; also of an object with ``async def __call__``."""
    if inspect.iscoroutinefunction(fn):
        return True
    return not isinstance(fn, type) and inspect.iscoroutinefunction(type(fn).__call__)
