"""The intake: what comes into a runtime from outside, and the journal that hears of it.

Three roads lead in, and all of them end at an intake, the first phase of a tick:

* ``post(fn, *args)`` calls a function at the next intake. It takes any function, so nobody can write it down.
* ``send(name, **args)`` hands plain values to the function that the world has put up for that name (``on_input``). This
  is the form that a journal can keep, and a replay can hand in again.
* ``call(fn, *args)`` calls something outside the game; its result comes in at an intake, in order of arrival, as any
  other input. Between the two nothing of the game waits, except the strand that called.

What is posted from within a tick is no input: the same run posts it again. So the journal hears only of what comes from
outside of a tick, or from another thread, whichever road it takes. It is told when a thing is *taken*, with its place
in the intake, because that is what a replay has to repeat.

Where a call runs depends on the host:

* asyncio and trio: a coroutine function runs as a task of the event loop, a plain function in a worker thread.
* plain: a plain function is called at once, on this thread, so that a simulation stays deterministic; its result still
  comes in at the next tick. A coroutine function has no loop to run on there: that is an error that says so.

A call whose strand is cancelled is cancelled too, if it is a coroutine; a thread runs to its end and its result is
dropped. Neither is waited for, except when the runtime is closed: then no task is left behind. Whatever comes out of
the function is delivered, also what is not an ``Exception``: else the strand would wait for ever. Only a request to end
the program (``KeyboardInterrupt``, ``SystemExit``) goes on to the event loop as well.

A call may be made twice: a run that died while it waited is resumed from its recording, and asks again. So what is
called can learn a *key* of the call (``call_key``): the identity of the run, which its recording keeps, the number of
the call, and what was asked. Without the last it would be wrong where ticks were lost and the run went on otherwise:
then its next call has a number that the outside knows already, of another call.

Source: ours, intake; section 7, "Journal and replay".
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from contextvars import ContextVar
from hashlib import blake2b
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self

from agentrt.errors import ENDS_PROGRAM, ForeignAwaitError, InputError, RunFault, WrongStateError
from agentrt.kernel.hosts.loops import at_most
from agentrt.kernel.kernel import Kernel, name_of
from agentrt.kernel.strand import meant
from agentrt.kernel.traps import Waiter, at_once, running, suspend_on
from agentrt.words import counted, few, repr_of, type_name

if TYPE_CHECKING:
    from pathlib import Path

    import anyio

    from agentrt.agent.agent import Restart


RESERVED: Final = "agentrt:"
"""What the names of inputs begin with that are the library's own: changes to what lives, by a script or by hand."""

_DEEPEST = 32
_MOST_NAMED = 8


class Journal(Protocol):
    """Who keeps what comes in. Each method is called on the runtime's own thread, but for ``posted``."""

    def sent(self, name: str, args: dict[str, Any]) -> None:
        """An input is taken, at this place of this intake (``kernel.tick``, ``kernel.taking``)."""

    def answered(self, number: int, what: str, value: object, error: BaseException | None) -> None:
        """The result of a call (of this runtime, from 0) is taken, at this place of this intake."""

    def posted(self, what: str) -> None:
        """A function was posted from outside, which cannot be kept; it is taken at the next intake."""

    def reloaded(self, report: Reloaded, digests: dict[str, str]) -> None:
        """Files were edited, at this place of this intake: what came of it, and the digest of each of them."""

    def rebuilt(self, save: str) -> None:
        """Between two ticks, the world was rebuilt of what it saved (JSON); see ``agentrt.runtime.epochs``."""

    def restarting(self, restart: Restart | None) -> None:
        """Between two ticks: from the next one on this becomes of agents whose planners give up."""

    def closing(self, reason: str) -> None:
        """The runtime is about to be closed, between two ticks. What follows is no part of the run, and is not told."""


class Reloaded(NamedTuple):
    """What came of one reload: files were edited, and what the runtime is made of was read again."""

    tick: int  # whose intake took it
    files: tuple[str, ...]  # those that were edited, from the folder on
    changed: tuple[str, ...]  # what was read anew: classes, functions, trees, packs, by name
    removed: tuple[str, ...]  # classes that are not there any more
    agents: tuple[str, ...]  # who took it up, by name
    error: str = ""  # why nothing was taken, with file and line; empty if it was
    notes: tuple[str, ...] = ()  # what else there is to know
    kinds: tuple[str, ...] = ()  # what each of ``changed`` is: class, function, tree, pack, manifest or value

    @property
    def ok(self) -> bool:
        """Whether it was taken."""
        return not self.error

    @property
    def changes_code(self) -> bool:
        """Whether what runs is another than before."""
        return bool(self.changed or self.removed)

    def __str__(self) -> str:
        files = ", ".join(self.files)
        if self.error:
            return f"not reloaded {files}, the old code goes on: {self.error}"
        told = few(self.changed, _MOST_NAMED) or "nothing that is known changed"
        if self.removed:
            told += f"; gone: {few(self.removed, _MOST_NAMED)}"
        lines = [f"reloaded {files}: {told}; {counted(len(self.agents), 'agent')} took it up", *self.notes]
        return "\n".join(lines)


class Codec(NamedTuple):
    """How values of one type that come in are written and read."""

    name: str  # what stands in the file; the same on both sides
    type: type[Any]  # the values' type, exactly
    encode: Callable[[Any], Any]  # makes plain values, or values of other codecs, of one
    decode: Callable[[Any], Any]  # makes one of what ``encode`` made


class RunRecorder(Protocol):
    """What writes a run down, as whoever wanted that holds it; a context manager. See ``agentrt.record.Recorder``."""

    path: Path
    started: int
    ticks: int
    stopped: str
    has_failed: bool

    @property
    def is_open(self) -> bool: ...

    @property
    def committed_tick(self) -> int:
        """The last tick that is in the file, whatever happens."""
        ...

    @property
    def digest(self) -> str:
        """The digest of all records up to the end of the last tick, in hex."""
        ...

    def on_commit(self, fn: Callable[[int], object]) -> Callable[[], None]:
        """Call a plain function with ``committed_tick`` after each commit; returns a function that ends it."""
        ...

    def close(self, reason: str = "closed") -> None:
        """Write the rest, and end it; between two ticks, or from another thread."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *rest: object) -> None: ...


class Answers(Protocol):
    """Who answers calls instead of the outside: a replay, which has the results of a journal."""

    def has_answer(self, fn: Callable[..., object], *args: object) -> bool:
        """Whether there is a result for a call, should it be made now."""
        ...

    def rebuilt(self) -> None:
        """The world was rebuilt: nobody waits for the calls that were made before."""

    def asked(self, call: OutsideCall) -> bool:
        """A call is made. Whoever answers has ``call.deliver`` called at an intake; if not, the outside is called."""
        ...


_called: ContextVar[OutsideCall | None] = ContextVar("called", default=None)


def call_key() -> str:
    """The key of the call to the outside in which this runs: for a function that ``ctx.call`` calls.

    It is the same when the same thing is asked again because the run was resumed, and no other call of any run has it.
    Hand it to a service that is to do a thing once, whoever asks twice. Of arguments that are no plain values only the
    type counts.

    Raises:
        WrongStateError: no call runs here.

    Source: ours (ours).
    """
    call = _called.get()
    if call is None:
        raise WrongStateError(
            "agentrt.call_key", "no call to the outside runs here", "Ask in the function that ctx.call(fn) calls."
        )
    import json  # no run needs it

    request = call.request
    try:
        asked = json.dumps((call.what, request.args), skipkeys=True, default=type_name)
    except (ValueError, RecursionError):  # it contains itself
        asked = call.what
    return f"{call.run}-{call.number}-{blake2b(asked.encode(), digest_size=6).hexdigest()}"


def key_of(value: object) -> str:
    """The ``key`` of what a call is made with, or of its result: they are the same, or it is another call's."""
    key = value.get("key") if isinstance(value, dict) else None
    return key if isinstance(key, str) else ""


class OutsideCall:
    """One call: its waiter, and what came of it."""

    __slots__ = (
        "cancel", "error", "is_cancelled", "is_forgotten", "journal", "key", "number", "request", "run", "waiter",
        "what",
    )  # fmt: skip

    def __init__(self, run: str, number: int, request: functools.partial[Any], journal: Journal | None) -> None:
        self.run: str = run  # the identity of its run
        self.number: int = number  # which call of its runtime, from 0
        self.what: str = name_of(request.func)  # the name of the function that was called
        self.request: functools.partial[Any] = request  # what was asked for: the function with its arguments
        self.key: str = key_of(request.args[0] if request.args else None)  # tells it from others, if it has one
        self.journal: Journal | None = journal  # who keeps what came of it, or nobody
        self.waiter: Waiter = Waiter()  # of the strand that called
        self.error: BaseException | None = None  # what was raised
        self.cancel: Callable[[], object] | None = None  # cancels the task of the event loop; None if there is none
        self.is_cancelled: bool = False  # whether the strand does not wait any more
        self.is_forgotten: bool = False  # whether it was of a world that is over: what comes of it takes no place

    def deliver(self, value: object, error: BaseException | None) -> None:
        if self.journal is not None:
            self.journal.answered(self.number, self.what, value, error)
        self.error = error
        self.waiter.notify(value)

    def give_up(self) -> None:
        self.is_cancelled = True
        if self.cancel is not None:
            self.cancel()


class OutsideCalls:
    """The calls of one runtime."""

    def __init__(self, kernel: Kernel, intake: Intake) -> None:
        # those that a task of the event loop works on, in order
        self.running: dict[OutsideCall, object] = {}  # with its task: asyncio itself keeps only weak references
        self.count: int = 0  # how many calls there were
        self.answers: Answers | None = None  # who answers instead of the outside, or nobody
        self.recorded_host: str = ""  # in a replay, what the run of then ran on: calls were made as that makes them
        self.run: str = os.urandom(8).hex()  # the identity of the run, for the outside alone: a recording keeps it
        self._kernel = kernel
        self._intake = intake
        self._idle: anyio.Event | None = None  # who waits until no task works on a call

    async def call(self, fn: Callable[..., Any], *args: Any) -> Any:
        """Call a function outside the game; raises what it raised. See ``Context.call``."""
        await at_once()  # it may raise before it waits
        call = OutsideCall(self.run, self.count, functools.partial(fn, *args), self._intake.journal)
        self.count += 1
        if self.answers is None or not self.answers.asked(call):
            self._start(call)
        try:
            value = await suspend_on(call.waiter)
        except BaseException:
            call.give_up()
            raise
        if call.error is not None:
            raise call.error
        return value

    def _start(self, call: OutsideCall) -> None:
        start = {"asyncio": self._on_asyncio, "trio": self._on_trio}.get(self._kernel.host.name, self._inline)
        # What is called is outside of the game, also where it is called at once: what it hands in is an input.
        outer, running.kernel = running.kernel, None
        try:
            start(call)
        finally:
            running.kernel = outer

    def ask_again(self, call: OutsideCall, place: int) -> int:
        """Between two ticks, make a call that nobody has answered.

        Args:
            call: which.
            place: how much was in the inbox when it was made: what is called at once comes in there, as it did then.

        Returns:
            How much came in.
        """
        inbox = self._kernel.inbox
        later = [inbox.pop() for _ in range(len(inbox) - place)]
        before = len(inbox)  # less than its place, if it was made ticks ago and much came in then
        try:
            self._start(call)
        except ForeignAwaitError as error:  # who called cannot be told at once any more
            self._kernel.post(call.deliver, None, error)
        came = len(inbox) - before
        inbox.extend(reversed(later))
        return came

    def forget(self) -> None:
        """The world is another one: what comes of calls that are under way is for nobody."""
        for call in self.running:
            call.is_forgotten = True

    async def settle(self, seconds: float) -> None:
        """Wait until no task works on a call any more, so many real seconds at most; for when the runtime is closed."""
        if self.running:
            import anyio

            self._idle = anyio.Event()
            async with at_most(seconds):
                await self._idle.wait()

    # --- where it runs ------------------------------------------------------------------------------------------------

    def _inline(self, call: OutsideCall) -> None:
        if _is_coroutine_function(call.request.func):
            raise self._no_loop(call)
        value, error = None, None
        outer = _called.set(call)
        try:
            value = call.request()
        except ENDS_PROGRAM:
            raise
        except BaseException as raised:  # it is raised where the call is awaited
            error = self._delivered(call, raised)
        finally:
            _called.reset(outer)
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

        _called.set(call)  # of this task, and of the thread that it asks
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
            if not (call.is_cancelled or call.is_forgotten):
                self._kernel.post(call.deliver, None, self._delivered(call, error))
            if isinstance(error, (anyio.get_cancelled_exc_class(), *ENDS_PROGRAM)):
                raise
        else:
            if not call.is_forgotten:
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


# --- the roads in -----------------------------------------------------------------------------------------------------


class Intake:
    """What comes into one runtime from outside."""

    def __init__(self, kernel: Kernel) -> None:
        self.calls: OutsideCalls = OutsideCalls(kernel, self)
        self.journal: Journal | None = None  # who keeps what comes in, or nobody
        self._kernel = kernel
        self.inputs: dict[str, Callable[..., object]] = {}  # who takes what is sent, in the order of putting up
        # while the world is rebuilt: what was sent from outside, for the new one; None else
        self.kept: list[tuple[str, dict[str, Any]]] | None = None

    def post(self, fn: Callable[..., object], *args: object) -> None:
        """Call a function at the next intake. Safe from any thread."""
        _require_function("runtime.post", fn)
        journal = self.journal
        if journal is not None and running.kernel is not self._kernel:
            journal.posted(name_of(fn))
        self._kernel.post(fn, *args)

    def on_input(self, name: str, fn: Callable[..., object]) -> Callable[[], None]:
        """Put up a function for an input. See ``Runtime.on_input``."""
        _require_function("runtime.on_input", fn)
        if name in self.inputs:
            raise WrongStateError("runtime.on_input", f"there is a function for {name!r}", "Choose another name.")
        self.inputs[name] = fn

        def close() -> None:
            if self.inputs.get(name) is fn:  # somebody may have put up another one since
                del self.inputs[name]

        return close

    def send(self, name: str, /, **args: object) -> None:
        """Hand something in from outside. See ``Runtime.send``; safe from any thread."""
        if name not in self.inputs and self.kept is None:  # who takes it may only just come
            raise InputError(name, "nobody takes it", known=tuple(self.inputs))
        for key, value in args.items():
            _require_plain(name, key, value, 0)  # here, where whoever sends it can see his mistake
        is_outside = running.kernel is not self._kernel
        self._kernel.post(self.take, name, args, is_outside)

    def take(self, name: str, args: dict[str, Any], is_outside: bool = True) -> None:
        """An intake takes what was sent; it came from outside of a tick, or else the same run sends it again."""
        if is_outside and self.kept is not None:
            self.kept.append((name, args))
            return
        if is_outside and self.journal is not None:
            self.journal.sent(name, args)
        fn = self.inputs.get(name)
        if fn is None:
            raise InputError(name, "nobody takes it any more", known=tuple(self.inputs))
        fn(**args)

    # --- while the world is rebuilt -----------------------------------------------------------------------------------

    def keep_what_was_sent(self) -> None:
        """Lay by what was sent from outside and not taken yet; whatever else was posted stands where it did."""
        inbox = self._kernel.inbox
        for _ in range(len(inbox)):
            fn, args = inbox.popleft()
            if fn == self.take and args[2]:
                self.take(*args)
            else:
                inbox.append((fn, args))

    def give_what_was_kept(self) -> None:
        """Have the new world take it, behind what that has posted itself."""
        self.keep_what_was_sent()  # also what came while it was loaded, from another thread: in the order of sending
        kept, self.kept = self.kept, None
        for name, args in kept or ():
            self._kernel.post(self.take, name, args, True)

    def forget_inputs(self) -> None:
        """Nobody takes anything any more, but for who changes what lives: such an input is of no world."""
        self.inputs = {name: fn for name, fn in self.inputs.items() if name.startswith(RESERVED)}


_LEAVES: Final = frozenset({type(None), bool, int, float, str})


def _require_plain(name: str, where: str, value: Any, depth: int) -> None:
    kind = type(value)
    if kind in _LEAVES:
        return
    # Most of what is sent are leaves, and a barrier between shards sends hundreds: they get no call and no name.
    if depth < _DEEPEST and kind is list:
        for index, one in enumerate(value):
            if type(one) not in _LEAVES:
                _require_plain(name, f"{where}[{index}]", one, depth + 1)
    elif depth < _DEEPEST and kind is dict and all(type(key) is str for key in value):
        for key, one in value.items():
            if type(one) not in _LEAVES:
                _require_plain(name, f"{where}[{key!r}]", one, depth + 1)
    else:
        raise InputError(name, f"{where} is a {kind.__name__}, which is no plain value")


def _require_function(what: str, fn: object) -> None:
    """Refuse what cannot be called, here, where whoever gives it can see his mistake; an intake knows nobody."""
    kind: object = type(fn)
    if not callable(fn):
        raise TypeError(f"{what}: {repr_of(fn, 80)} is no function. Give a function, and what to call it with after it")
    if kind in (FunctionType, MethodType) and inspect.iscoroutinefunction(fn):  # of others nothing is asked
        raise TypeError(f"{what}: {name_of(fn)} is a coroutine function, which nobody would await. Give a plain one")
