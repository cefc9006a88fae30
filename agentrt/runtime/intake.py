"""What comes into a runtime from outside, and the journal that hears of it. The part of ``Runtime`` for the outside.

Three roads lead in, and all of them end at an intake, the first phase of a tick:

* ``post(fn, *args)`` calls a function at the next intake. It takes any function, so nobody can write it down.
* ``send(name, **args)`` hands plain values to the function that the world has put up for that name (``on_input``). This
  is the form that a journal can keep, and a replay can hand in again.
* ``call(fn, *args)`` calls something outside the game; its result comes in at an intake.

What is posted from within a tick is no input: the same run posts it again. So the journal hears only of what comes from
outside of a tick, or from another thread, whichever road it takes. It is told when a thing is *taken*, with its place
in the intake, because that is what a replay has to repeat.

Source: design section 2, "A tick", intake; section 7, "Journal and replay".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from agentrt.errors import InputError, WrongStateError
from agentrt.kernel.agenda import name_of
from agentrt.kernel.traps import running
from agentrt.runtime.calls import Calls
from agentrt.runtime.reporting import Reporting

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel
    from agentrt.record.recorder import Recorder, Views
    from agentrt.record.values import Codec
    from agentrt.runtime.runtime import Runtime
    from agentrt.snapshot.take import Translate

__all__ = ["Intake", "Journal"]

_DEEPEST = 32


class Journal(Protocol):
    """Who keeps what comes in. Each method is called on the runtime's own thread, but for ``posted``."""

    def sent(self, name: str, args: dict[str, Any]) -> None:
        """An input is taken, at this place of this intake (``kernel.tick``, ``kernel.taking``)."""

    def answered(self, number: int, what: str, value: Any, error: BaseException | None) -> None:
        """The result of a call to the outside is taken, at this place of this intake.

        Args:
            number: which call of this runtime, from 0.
            what: the name of the function that was called.
        """

    def posted(self, what: str) -> None:
        """A function was posted from outside, which cannot be kept; it is taken at the next intake."""

    def closing(self, reason: str) -> None:
        """The runtime is about to be closed, between two ticks. What follows is no part of the run, and is not told."""


class Intake(Reporting):
    """What comes into one runtime from outside.

    Args:
        kernel: the scheduler.
        think_budget: units of search work in each tick; None for any number.
        translate: makes status texts of keys; None shows the keys.

    Attributes:
        calls: the calls to the outside that are under way.
    """

    def __init__(self, kernel: Kernel, think_budget: int | None, translate: Translate | None) -> None:
        super().__init__(kernel, think_budget, translate)
        self.calls: Calls = Calls(kernel)
        self._inputs: dict[str, Callable[..., object]] = {}
        self._journal: Journal | None = None

    @property
    def journal(self) -> Journal | None:
        """Who keeps what comes in, or nobody."""
        return self._journal

    @journal.setter
    def journal(self, journal: Journal | None) -> None:
        self._journal = journal
        self.calls.journal = journal

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function at the next intake. Safe from any thread.

        Args:
            fn: a plain function, such as ``signal.emit``.
            args: what to call it with.
        """
        journal = self._journal
        if journal is not None and running.kernel is not self.kernel:
            journal.posted(name_of(fn))
        self.kernel.post(fn, *args)

    def on_input(self, name: str, fn: Callable[..., object]) -> Callable[[], None]:
        """Put up a function for an input: what ``send`` of this name calls at the next intake.

        Args:
            name: of the input, such as ``"door_opened"``.
            fn: a plain function; called with what was sent as keyword arguments.

        Returns:
            A function that takes it down again.

        Raises:
            WrongStateError: there is one for this name.
        """
        if name in self._inputs:
            raise WrongStateError("runtime.on_input", f"there is a function for {name!r}", "Choose another name.")
        self._inputs[name] = fn

        def close() -> None:
            if self._inputs.get(name) is fn:
                del self._inputs[name]

        return close

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that can be sent, in the order in which they were put up."""
        return tuple(self._inputs)

    def send(self, name: str, /, **args: Any) -> None:
        """Hand something in from outside; it is taken at the next intake, and a recording keeps it. From any thread.

        Args:
            name: which input; see ``on_input``.
            args: plain values: None, truth values, numbers, texts, and lists and dicts of them.

        Raises:
            InputError: nobody takes inputs of this name, or a value is not plain.
        """
        if name not in self._inputs:
            raise InputError(name, "nobody takes it", known=tuple(self._inputs))
        for key, value in args.items():
            _require_plain(name, key, value, 0)
        is_outside = running.kernel is not self.kernel
        self.kernel.post(self.take, name, args, is_outside)

    def take(self, name: str, args: dict[str, Any], is_outside: bool = True) -> None:
        """The intake takes what was sent; called by nobody but an intake, that of a replay too.

        Args:
            name: which input.
            args: plain values.
            is_outside: whether it came from outside of a tick, so that a journal keeps it.

        Raises:
            InputError: nobody takes inputs of this name any more.
        """
        if is_outside and self._journal is not None:
            self._journal.sent(name, args)
        fn = self._inputs.get(name)
        if fn is None:
            raise InputError(name, "nobody takes it any more", known=tuple(self._inputs))
        fn(**args)

    def call(self, fn: Callable[..., Any], *args: Any) -> Awaitable[Any]:
        """Call something outside the game; see ``Context.call``. Await it in a coroutine that the runtime steps.

        Args:
            fn: a coroutine function or a plain function.
            args: what to call it with.
        """
        return self.calls.call(fn, *args)

    def record(
        self,
        path: str | Path,
        *,
        world: str = "",
        views: Views = "changed",
        keep_ticks: int | None = None,
        max_bytes: int | None = None,
        commit_every: int = 1,
        codecs: Sequence[Codec] = (),
        meta: dict[str, Any] | None = None,
    ) -> Recorder:
        """Write down the run from here on, into a file that can be looked at and replayed. See ``Recorder``.

        Call it between two ticks; before the first one, if the recording is to be replayed. It ends when the runtime is
        closed, or by ``close()`` of what this returns.

        Args:
            path: where to; there must be nothing yet.
            world: the name of the world that a replay makes; empty if whoever replays has to bring it.
            views: which snapshots of agents are kept: ``"changed"``, ``"none"``, or at most one of an agent in so many
                ticks.
            keep_ticks: how many ticks of trace and views are kept at least, the newest; None for all.
            max_bytes: how large the file may become; None for any size. The oldest ticks go first.
            commit_every: after how many ticks it commits; what was committed survives the end of the process.
            codecs: for values of one's own types that come in.
            meta: more plain data for the header.

        Returns:
            The recorder, which is a context manager.

        Raises:
            RecordingError: the file cannot be made.
            WrongStateError: a tick runs, or the runtime is recorded already.
            ValueError: an argument is out of its range.
        """
        from agentrt.record.recorder import Recorder

        return Recorder(
            cast("Runtime", self),  # whose part this is
            path,
            world=world,
            views=views,
            keep_ticks=keep_ticks,
            max_bytes=max_bytes,
            commit_every=commit_every,
            codecs=codecs,
            meta=meta,
        )


def _require_plain(name: str, where: str, value: Any, depth: int) -> None:
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return
    if depth < _DEEPEST and kind is list:
        for index, one in enumerate(value):
            _require_plain(name, f"{where}[{index}]", one, depth + 1)
    elif depth < _DEEPEST and kind is dict and all(type(key) is str for key in value):
        for key, one in value.items():
            _require_plain(name, f"{where}[{key!r}]", one, depth + 1)
    else:
        raise InputError(name, f"{where} is a {kind.__name__}, which is no plain value")
