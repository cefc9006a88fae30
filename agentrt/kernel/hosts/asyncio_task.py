"""What asyncio and its libraries read from a task: its end, its names, its surroundings.

The half of the task protocol that changes nothing. How a strand is stepped and cancelled as a task is in
``asyncio_strand``.

Rules: a strand is no ``asyncio.Future`` (it cannot be awaited by asyncio's means; ``join`` awaits it), so ``result``
and ``exception`` are for reading after its end; done callbacks are called by the event loop, never on the strand's
stack.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from agentrt.kernel.strand import Strand, StrandOwner

if TYPE_CHECKING:
    from agentrt.kernel.hosts.asyncio_ import AsyncioHost
    from agentrt.kernel.kernel import Kernel

__all__ = ["TaskFace"]


class TaskFace(Strand):
    """A strand with the face of an asyncio task."""

    __slots__ = ("__weakref__", "_callbacks", "_context", "_host")

    def __init__(
        self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None, host: AsyncioHost
    ) -> None:
        super().__init__(kernel, coro, name, owner)
        self._host = host
        self._context = contextvars.copy_context()
        self._callbacks: list[tuple[Callable[[Any], object], contextvars.Context | None]] | None = None

    def done(self) -> bool:
        """Whether it has ended."""
        return self.coro is None

    def cancelled(self) -> bool:
        """Whether it ended by a cancellation."""
        return self.coro is None and isinstance(self.error, asyncio.CancelledError)

    def exception(self) -> BaseException | None:
        """What its coroutine raised.

        Raises:
            InvalidStateError: it has not ended.
            CancelledError: it was cancelled.
        """
        if self.coro is not None:
            raise asyncio.InvalidStateError(f"{self!r} has not ended")
        if isinstance(self.error, asyncio.CancelledError):
            raise self.error
        return self.error

    def result(self) -> Any:
        """What its coroutine returned.

        Raises:
            InvalidStateError: it has not ended.
            BaseException: what its coroutine raised.
        """
        error = self.exception()
        if error is not None:
            raise error
        return self.value

    def add_done_callback(self, fn: Callable[[Any], object], *, context: contextvars.Context | None = None) -> None:
        """Have a function called with the strand, by the event loop, after it has ended.

        Args:
            fn: a plain function.
            context: in which it is called; the present one by default.
        """
        if context is None:
            context = contextvars.copy_context()
        if self.coro is None:
            self._host.get_loop().call_soon(fn, self, context=context)
        else:
            if self._callbacks is None:
                self._callbacks = []
            self._callbacks.append((fn, context))

    def remove_done_callback(self, fn: Callable[[Any], object]) -> int:
        """Take a function back.

        Args:
            fn: as it was added.

        Returns:
            How often it was registered.
        """
        before = self._callbacks or []
        self._callbacks = [entry for entry in before if entry[0] != fn] or None
        return len(before) - len(self._callbacks or ())

    def ended(self, result: Any, error: BaseException | None) -> None:
        """Close the books on it."""
        super().ended(result, error)
        callbacks, self._callbacks = self._callbacks, None
        for fn, context in callbacks or ():
            self._host.get_loop().call_soon(fn, self, context=context)

    def get_coro(self) -> Coroutine[Any, Any, Any] | None:
        """Its coroutine; None once it has ended."""
        return self.coro

    def get_context(self) -> contextvars.Context:
        """The context in which it is stepped."""
        return self._context

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """The event loop."""
        return self._host.get_loop()

    def get_name(self) -> str:
        """Its name."""
        return self.name

    def set_name(self, value: object) -> None:
        """Give it another name.

        Args:
            value: turned into a string.
        """
        self.name: str = str(value)
