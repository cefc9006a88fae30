"""Async generators that a strand leaves half-iterated, and who closes them.

``async for x in numbers(): ... break``, or a cancellation in the body of such a loop, leaves a generator that is
suspended with its ``finally`` blocks to come. Python hands it to a hook when nothing names it any more. The hook of an
event loop would have it closed by a task of that loop, which is no strand, so that a wait on the kernel fails there;
without any loop Python closes it itself, and complains if it waits. So while strands are stepped the hooks are these:

* Who began to be iterated in a strand is noted; whom nobody names any more is closed in a strand of its own, at once,
  in the same tick. Its ``finally`` blocks may wait for whatever a strand may wait for. What they raise is a fault.
* Such a strand is a stray: it is stopped when the runtime is closed, but not before it has begun to close. Closing a
  runtime closes also what is still named by somebody.
* The hooks belong to the thread, and are put in place for as long as the kernel drains (on trio, for each step): what
  is iterated elsewhere on the same thread is the event loop's own affair.

The garbage collector may find a generator of a cycle at any moment, and on any thread: on another one the kernel takes
it at its next intake. If it never ticks again, nothing is said and nothing runs.

Rejected: closing it in the strand that left it (its frame, which holds the generator, lives until that strand has
ended); closing it at once on the stack (a wait in it would need a strand after all).
"""

from __future__ import annotations

import types
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import partial
from typing import Any, TypeAlias, cast

from agentrt.kernel.agenda import name_of
from agentrt.kernel.traps import running

__all__ = ["Generators"]

AnyGenerator: TypeAlias = AsyncGenerator[Any, Any]


class Generators:
    """The async generators that were begun in strands of one kernel."""

    __slots__ = ("_home", "_open", "_post", "_spawn", "hooks")

    def __init__(self, post: Callable[..., object], spawn: Callable[[Coroutine[Any, Any, Any], str], object]) -> None:
        self._post = post  # calls a function at the next intake, from any thread
        self._spawn = spawn  # starts a strand that nobody waits for
        self._home: object = None  # stands for the thread that steps
        self._open: dict[int, weakref.ref[AnyGenerator]] = {}
        # for ``sys.set_asyncgen_hooks``: what hears of the first step of a generator, and of its last chance
        self.hooks: tuple[Callable[[AnyGenerator], None], Callable[[AnyGenerator], None]] = (self._begun, self._left)

    def _begun(self, generator: AnyGenerator) -> None:
        self._home = running.__dict__  # each thread has another one
        key = id(generator)
        self._open[key] = weakref.ref(generator, partial(_forget, self._open, key))

    def _left(self, generator: AnyGenerator) -> None:
        if running.__dict__ is self._home:
            self._close(generator)
        else:
            self._post(self._close, generator)

    def _close(self, generator: AnyGenerator) -> None:
        closing = cast("Coroutine[Any, Any, Any]", _closing(generator))
        closing.send(None)
        self._spawn(closing, f"closing {name_of(generator)}")

    def close_open(self) -> bool:
        """Close those that are still named by somebody, and that nobody iterates at this moment.

        Returns:
            Whether there was any; then a tick is to follow.
        """
        found = [generator for known in tuple(self._open.values()) if (generator := known()) is not None]
        self._open.clear()
        left = [one for one in found if one.ag_frame is not None and not one.ag_running]  # type: ignore[attr-defined]
        for generator in left:
            self._close(generator)
        return bool(left)

    def __repr__(self) -> str:
        return f"<Generators: {len(self._open)} open>"


def _forget(known: dict[int, Any], key: int, reference: object) -> None:
    if known.get(key) is reference:  # else another one has come to the same place
        del known[key]


@types.coroutine
def _closing(generator: AnyGenerator) -> Generator[Any, Any, None]:
    """What closes a generator. Its first step leads to where a cancellation cannot come before the generator does.

    No coroutine: one that is thrown away unawaited, by a kernel that is not ticked any more, would say so.
    """
    try:
        yield
    except GeneratorExit:
        return
    except BaseException:  # noqa: S110 - it is stopped already; its next wait says so again
        pass
    yield from generator.aclose().__await__()
