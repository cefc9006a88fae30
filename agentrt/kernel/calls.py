"""Plain functions among the strands: calls in the ready queue, timers in the agenda, hooks of every tick.

A function that raises is reported, and whatever stands behind it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.traps import KEEP
from agentrt.words import type_name

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand

__all__ = ["Call", "Callbacks", "Caller", "ControlFlow", "Hooks", "Timer", "name_of", "raise_fault"]

_Function = TypeVar("_Function", bound=Callable[..., object])


def name_of(fn: object) -> str:
    """What a function is called, for people; the same in every run, which its repr, with its address, is not.

    Args:
        fn: a function, or whatever else can be called.
    """
    try:
        name = getattr(fn, "__qualname__", None)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # of an author's own class: whoever reports it needs a name all the same
        name = None
    return name if isinstance(name, str) and name else type_name(fn)


class ControlFlow(BaseException):
    """What ends the code of an author and is meant for one who knows what to do about it. Not an error.

    Code that knows nothing of it may contain it: a listener is called in the middle of whoever emits the signal. It is
    no failure then, and reaches the one for whom it is meant in another way.
    """

    def send_on(self) -> None:
        """It was contained on its way: have the one for whom it is meant know of it, without raising anything."""


class Caller:
    """Makes the call whose turn has come: the stepper of all calls of one kernel.

    A call could be its own stepper, but would be a reference cycle then, or a property that costs more than the step.

    Args:
        kernel: whose ready queue they stand in.
    """

    __slots__ = ("kernel",)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel: Kernel = kernel

    def send(self, _value: None) -> object:
        """Make the call."""
        call: Any = self.kernel.current
        try:
            call.fn(*call.args)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.kernel.report(f"a callback raised: {call.name}", error)
        return KEEP


class Call:
    """An entry of the ready queue that is a function call and not a strand.

    Attributes:
        stepper: the kernel's.
        fn: what to call.
        args: what to call it with.
        waiting: the tick in which it is due, while it lies in the agenda.
    """

    __slots__ = ("args", "fn", "stepper", "waiting")

    def __init__(self, caller: Caller, fn: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.stepper: Caller = caller
        self.fn: Callable[..., object] = fn
        self.args: tuple[Any, ...] = args
        self.waiting: object = 0

    @property
    def name(self) -> str:
        """What it calls, for people."""
        return name_of(self.fn)

    @property
    def coro(self) -> None:
        """None: it is a plain function's turn."""

    def strand(self) -> Strand | None:
        """None: it is a plain function's turn."""
        return None


class Timer(Call):
    """A call that is due in a later tick. Made by ``Kernel.call_later``."""

    __slots__ = ()

    def cancel(self) -> None:
        """Do not make the call; does nothing once it was made."""
        kernel = self.stepper.kernel
        waiting = self.waiting
        if isinstance(waiting, int) and waiting > kernel.clock.tick:
            self.waiting: object = 0
            kernel.agenda.forget(waiting, kernel.live)
        self.fn: Callable[..., object] = _nothing
        self.args: tuple[Any, ...] = ()


def _nothing() -> None:
    pass


class Callbacks(Generic[_Function]):
    """Functions in the order in which they were added, each until it is taken out again."""

    __slots__ = ("_functions",)

    def __init__(self) -> None:
        self._functions: dict[object, _Function] = {}

    def add(self, fn: _Function) -> Callable[[], None]:
        """Add a function; the same one may be added twice.

        Args:
            fn: a plain function.

        Returns:
            A function that takes it out again; calling it twice does nothing.
        """
        key = object()
        self._functions[key] = fn

        def close() -> None:
            self._functions.pop(key, None)

        return close

    def __len__(self) -> int:
        return len(self._functions)

    def __iter__(self) -> Iterator[_Function]:
        """Those that are there now, whatever becomes of them meanwhile."""
        return iter(tuple(self._functions.values()))


class Hooks(Callbacks[Callable[[], object]]):
    """Functions that are called once a tick."""

    __slots__ = ()

    def call(self, kernel: Kernel) -> None:
        """Call them; one that was taken out meanwhile is passed over.

        Args:
            kernel: told what one of them raises.
        """
        for key, fn in tuple(self._functions.items()):
            if key in self._functions:
                kernel.guarded(fn)


def raise_fault(text: str, error: BaseException) -> None:
    """What a kernel does with a failure that nobody handles, unless it is told otherwise.

    Args:
        text: what failed.
        error: what it raised.

    Raises:
        BaseException: the error.
    """
    if isinstance(error, StopIteration):
        raise RuntimeError(text) from error  # else the main loop would take it for the end of a coroutine
    raise error
