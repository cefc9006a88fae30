"""The end of a strand that does not end by itself.

It gets an error at the await in which it stands, so that its ``finally`` blocks run; if it awaits again after that,
it is closed; and if it refuses that too, it is abandoned where it stands. An abandoned coroutine is kept for ever, by
a reference that nobody gives back: the garbage collector would try to close it once more at a random moment, and the
interpreter at its end, when whatever it awaits raises at once; in a loop that swallows everything the process would
never end. (A list of them, which this was, is emptied at that end.)
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from agentrt.errors import LivelockError, RunFault
from agentrt.kernel.traps import KEEP, running
from agentrt.words import type_name

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand

__all__ = ["Insist", "abandon", "is_suspended", "kill", "livelocked", "meant"]


class Insist(BaseException):
    """What is raised in a step that swallowed the error which was to end it. The kernel tells that error instead.

    Args:
        error: that error.
    """

    def __init__(self, error: LivelockError) -> None:
        self.error: LivelockError = error
        super().__init__(str(error))


def meant(error: BaseException) -> BaseException:
    """The error that is to be told, for one that was raised.

    Whoever closes the books on what was stepped asks here first. An error may have a ``__class__`` or a
    ``__getattribute__`` that raises: then every ``isinstance`` breaks, and every look at its traceback, in the middle
    of the books. It is told of by another one.

    Args:
        error: what was raised.
    """
    try:
        error.__traceback__  # noqa: B018 - whether it can be read
        return error.error if isinstance(error, Insist) else error
    except BaseException as problem:
        return RunFault(f"an error of type {type_name(error)} was raised that cannot be read ({type_name(problem)})")


def livelocked(strand: Strand, steps: int | None = None) -> LivelockError:
    """The error for a strand that does not let time pass.

    Args:
        strand: the strand.
        steps: how many steps it took; None for the kernel's limit.
    """
    kernel = strand.kernel
    steps = kernel.livelock_steps if steps is None else steps
    return LivelockError(steps, path=f"{strand.name} ({strand.where()})", tick=kernel.clock.tick)


def kill(strand: Strand, error: BaseException) -> object:
    """End a strand that does not end by itself.

    Args:
        strand: the strand.
        error: raised at its await first; if it awaits again after that, it is closed, and if that too does not end
            it, it is abandoned where it stands.

    Returns:
        The command that leaves the books as they are.
    """
    kernel = strand.kernel
    coro = strand.coro
    if coro is None or strand.condemn(error):
        return KEEP
    strand.detach()
    outer_kernel, running.kernel = running.kernel, kernel
    outer, kernel.current = kernel.current, strand  # its finally blocks may ask whose they are
    try:
        strand.throw(error)
        strand.close()
    except StopIteration:
        pass
    except BaseException as raised:  # whatever it raises, it has ended, or never will
        if raised is not error:
            error.__context__ = raised
    finally:
        kernel.current = outer
        running.kernel = outer_kernel
    if is_suspended(coro):
        abandon(kernel, coro)
    kernel.end(strand, None, error)
    return KEEP


def is_suspended(coro: Coroutine[Any, Any, Any]) -> bool:
    """Whether a coroutine, of whatever kind, has not ended.

    Args:
        coro: of a strand.
    """
    return getattr(coro, "cr_frame", None) is not None or getattr(coro, "gi_frame", None) is not None


def abandon(kernel: Kernel, coro: Coroutine[Any, Any, Any]) -> None:
    """Keep a coroutine that refuses to be closed, for as long as the process lives.

    Args:
        kernel: whose strand it was.
        coro: the coroutine.
    """
    import ctypes  # here: hardly any program ever needs it

    kernel.abandoned.append(coro)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(coro))
