"""Waiting for several things: one strand forks into branches, and goes on when the first of them, or all, have ended.

Each wait gets a strand of its own, a branch, which is a child of the strand that waits. The rules are the same for
``first`` and ``all``:

* Branches begin in the order of the arguments, and run in the kernel's order like any strand. Of several that are woken
  by the same thing (a tick, a notification) the earlier argument goes on first.
* As soon as ``first`` has a winner, and as soon as any branch raises, the others are cancelled, before they take
  another step: a loser takes nothing out of a queue that nobody would get. One that has not begun never does.
* Nothing is returned or raised before all branches have ended, with all that they clean up. Who waits is resumed then,
  in the same tick.
* One error is raised as it is, several in an exception group. Control flow of a planner, and what ends the program, is
  meant for somebody: it is raised alone, and the errors beside it are reported.
* If the strand that waits is cancelled itself, so are the branches, and the cancellation goes on when they have ended.
  Errors of theirs take its place, as those of a ``finally`` block would.

Waits that are never begun are closed: an author who forgets to await ``first`` is told so once, and not for each of
them.

Rejected: deciding who won when the tick is over, by the order of the arguments (a later one that came first may have
taken something by then, which would be lost); stepping the branches in the strand that waits (a scope or a task group
of an event loop would belong to all of them at once).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from inspect import CORO_CREATED, getcoroutinestate, isawaitable, iscoroutine
from typing import TYPE_CHECKING, Any

from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.kernel import ControlFlow
from agentrt.kernel.strand import Children, Strand, current_strand
from agentrt.kernel.traps import suspend_on
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel


class Fork(Children):
    """Several waits of one strand. Await ``first`` or ``all`` of it, once.

    Args:
        kernel: who steps the strand.
        method: what the author called, for errors.
        waits: coroutines, or anything else that can be awaited.
        drive: makes of the coroutine of a branch what is to be stepped instead; None for the coroutine itself.

    Raises:
        ValueError: there are none, or one is given twice.
        TypeError: one cannot be awaited.
    """

    __slots__ = ("_drive", "_errors", "_is_decided", "_is_race", "_kernel", "_method", "_places", "_values", "_waits")

    def __init__(
        self,
        kernel: Kernel,
        method: str,
        waits: tuple[Awaitable[Any], ...],
        drive: Callable[[Coroutine[Any, Any, Any]], Any] | None = None,
    ) -> None:
        self._waits = waits  # those that have not begun
        self._drive = drive
        self._kernel = kernel
        self._method = method
        self._places: dict[Strand, int] = {}  # which argument a branch waits for
        self._values: dict[int, Any] = {}  # what those returned that have ended, in that order
        self._errors: list[BaseException] = []
        self._is_race = False  # whether the first one decides
        self._is_decided = False  # whether the others are cancelled
        if not waits:
            raise ValueError(f"{method}(): it takes at least one wait, such as {method}(ctx.sleep(1), bell.wait())")
        for wait in waits:
            if not isawaitable(wait):
                raise TypeError(f"{method}({repr_of(wait)}): it takes what can be awaited, such as ctx.sleep(1)")
        if len({id(wait) for wait in waits if iscoroutine(wait)}) < sum(map(iscoroutine, waits)):
            raise ValueError(f"{method}(): a coroutine is given twice. Call its function once for each")

    def __del__(self) -> None:
        for wait in self._waits:
            if iscoroutine(wait) and getcoroutinestate(wait) == CORO_CREATED:
                wait.close()

    async def first(self) -> tuple[int, Any]:
        """Wait until one has ended, cancel the others.

        Returns:
            Which argument it was, from 0, and what it returned.
        """
        self._is_race = True
        await self._run()
        return next(iter(self._values.items()))

    async def all(self) -> list[Any]:
        """Wait until all have ended.

        Returns:
            What they returned, in the order of the arguments.
        """
        await self._run()
        return [self._values[place] for place in sorted(self._values)]

    async def _run(self) -> None:
        parent = current_strand()
        super().__init__(parent)
        waits, self._waits = self._waits, ()
        for place, wait in enumerate(waits):
            coro = wait if isinstance(wait, Coroutine) else _awaited(wait)
            stepped = coro if self._drive is None else self._drive(coro)
            branch = self._kernel.spawn(stepped, f"{parent.name}[{place}]", self)
            self._places[branch] = place
            self.take(branch)
        try:
            await suspend_on(self._waiter)
        except GeneratorExit:
            self.stop("whoever waited for it was closed")
            self.let_go()
            raise  # nobody steps this coroutine any more
        except BaseException:
            self._is_decided = True
            await self.end(parent.pending() or "whoever waited for it was cancelled")
            if any(not isinstance(error, self._kernel.host.cancelled_type) for error in self._errors):
                raise self._error() from None
            raise
        if self._errors:
            raise self._error()

    def on_strand_end(self, strand: Strand, result: object, error: BaseException | None) -> None:
        """A branch ended."""
        if error is None:
            self._values[self._places[strand]] = result
        elif not (self._is_decided and isinstance(error, self._kernel.host.cancelled_type)):
            self._errors.append(error)
        super().on_strand_end(strand, result, error)
        if not self._is_decided and (self._is_race or error is not None):
            self._is_decided = True
            self.stop(f"another wait of {self._method} has ended")

    def _error(self) -> BaseException:
        """What is to be raised for all that the branches raised."""
        errors, self._errors = self._errors, []  # kept by nobody: their tracebacks lead here
        if len(errors) > 1:  # a cancellation that nobody asked for is no news beside an error
            errors = [one for one in errors if not isinstance(one, self._kernel.host.cancelled_type)] or errors[:1]
        meant = next((one for one in errors if isinstance(one, (ControlFlow, *ENDS_PROGRAM))), None)
        if meant is not None:
            for error in errors:
                if error is not meant:
                    self._kernel.report(f"a wait of {self._method} of {self.parent.name!r} raised", error)
            return meant
        if len(errors) == 1:
            return errors[0]
        return BaseExceptionGroup(f"several waits of {self._method} failed", errors)


async def _awaited(wait: Awaitable[Any]) -> Any:
    return await wait
