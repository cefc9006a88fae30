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
import gc
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

from agentrt.kernel.strand import Strand, StrandOwner

if TYPE_CHECKING:
    from agentrt.kernel.hosts.asyncio_ import AsyncioHost
    from agentrt.kernel.kernel import Kernel

__all__ = ["TaskFace", "handles_cancellation"]

_AWAITED: Final = ("cr_await", "gi_yieldfrom", "ag_await")
_LONGEST: Final = 100  # coroutines that await one another, errors that came of one another: further down nobody looks


def handles_cancellation(coro: object) -> bool:
    """Whether a suspended coroutine, or one that it awaits, is dealing with a cancellation.

    That is so in a ``finally``, ``except`` or ``__aexit__`` that it came to, and while it is put aside in a variable.
    What a coroutine holds is asked of the interpreter: there is no other way to look at it from outside. Only after a
    cancellation is anybody asked.

    Args:
        coro: the coroutine.
    """
    node: Any = coro
    for _ in range(_LONGEST):
        if node is None:
            return False
        held = gc.get_referents(node)
        if any(isinstance(one, BaseException) and _comes_of_cancellation(one) for one in held):
            return True
        inner = next((getattr(node, name) for name in _AWAITED if hasattr(node, name)), None)
        # The step of an async generator does not say which one it is a step of.
        node = inner if inner is not None else next((one for one in held if isinstance(one, AsyncGenerator)), None)
    return False


def _comes_of_cancellation(error: BaseException) -> bool:
    cause: BaseException | None = error
    for _ in range(_LONGEST):
        if cause is None:
            return False
        if isinstance(cause, asyncio.CancelledError):
            return True
        cause = cause.__context__
    return False


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
