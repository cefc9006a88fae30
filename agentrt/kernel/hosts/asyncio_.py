"""The asyncio host: a strand may await whatever an asyncio task may. Any event loop of its kind will do, as uvloop.

The kernel is stepped synchronously, by whoever runs on the loop: a task, a callback, or this host when a foreign result
arrives. Rules:

* While strands are stepped, the task that steps them is not the loop's current task: each strand is, in its turn. It is
  left before and entered again after (``enter``, ``leave``).
* A foreign result wakes its strand at once: the ready queue is drained between ticks, in the callback of the loop. Not
  while a tick is drained, nor while one is paused because its budget ran out: that tick goes on and takes it along.
* A failure between ticks has nobody to be raised to. It is kept and raised by the next tick.
* Callbacks run in a context of the host's own, because a context that is entered already cannot be entered again.

The host is bound to the loop on which it was entered last; a kernel may go on in another ``asyncio.run``. Strands that
waited for a future of a loop that was closed wait forever; stop them before.

A strand is an asyncio task: while it is stepped, ``asyncio.current_task()`` is the strand, and its own ``contextvars``
context is entered. It is a task by protocol, as asyncio's documentation allows under "Extending", and not by
inheritance: the kernel steps it, in the kernel's order. It is no ``asyncio.Future`` (it cannot be awaited by asyncio's
means; ``join`` awaits it), so ``result`` and ``exception`` are for reading after its end; done callbacks are called by
the event loop, never on the strand's stack.

Two kinds of cancellation meet in it:

* *Native* (``stop``, ``CancelScope``) is a level for waits on the kernel: each of them raises while the scope is
  cancelled. For awaits of the event loop it is a level, too, but one that lets clean-up be: while a cancellation is on
  its way out (a ``finally`` block, an ``__aexit__``, an ``except`` that translates it), an await proceeds, as it does
  in asyncio, and the end of the strand waits for it. Whoever has swallowed it gets it again at the next await. The two
  are told apart by what the suspended coroutines hold (``handles_cancellation``): a cancellation on its way out is held
  by one of them, and so is one that somebody has put aside to raise it later, as ``asyncio.TaskGroup`` does. It is
  raised again once at once, and after that once in a tick: who swallows in a loop must not keep the event loop busy.
* *Asyncio's* (``cancel``, called by ``asyncio.timeout``, ``TaskGroup``, anyio) is an edge for every wait. It wakes a
  strand that waits for the kernel at once, and not in the next tick.

They are told apart by counting, which is asyncio's own rule (who cancels, uncancels): ``cancelling()`` counts asyncio's
requests, and one more while a native cancellation is in force. So a timeout that expires while the strand is stopped
does not swallow the stop, and a native scope swallows a ``CancelledError`` only if asyncio's count is what it was when
the scope was entered.

What must be kept in sync (``_fut_waiter`` and ``_must_cancel`` are read by anyio):

* ``_fut_waiter`` is the awaited future until the strand is *stepped*, not until the future is done.
* ``_must_cancel`` stands for a request that no future took; it is raised by the next step.
* ``_wait_ended``: a wait on the kernel was ended to raise something there. It raises then, come what may: ``uncancel``
  comes too late to take that back.
* ``stepper`` is the strand itself whenever something may have to be raised, a ``Way`` to ``_step_foreign`` after a
  future, to ``_step_notice`` after a notification with a value, else to ``_step``.

*Tasks that a strand makes* (``create_task``, ``gather``, ``TaskGroup``, anyio's) are strands, too: while strands are
stepped, the loop's task factory is ours. They belong to the outermost strand that they come from, the run of an action,
say; their steps come in the kernel's order, and whoever awaits one goes on in the tick in which it has ended. For that
a callback that a strand adds to such a task is called by the kernel, and not by the loop; the future that it completes
wakes its strand at once. Groups cancel what they hold in the order of a set: who is cancelled together goes on in the
order of numbers. A strand's hash is its number, so that sets of tasks (``asyncio.wait`` gives some) are the same in
every run, too.

* A strand that has made tasks ends when those have ended that have ever waited for the kernel, or have not begun: they
  are cancelled when its coroutine is over. If it returned by itself, they were forgotten, which is reported.
* A task that has only ever waited for the event loop may be a library's own (the reader of a connection) and go on: it
  becomes a stray. If it waits for the kernel after all, it is cancelled there.
* Such a task is awaited as a future, by its own protocol. Whoever is no strand may await it, too.
* Made in a plain callback, a hook or a step that cannot suspend, a task is asyncio's own, as outside.

This is one module of more than 800 lines since a strand makes tasks, and a task is a strand that is awaited by strands:
either would have to import the other.

Rejected: deriving from ``asyncio.Task`` (it schedules itself), and registering in ``all_tasks`` (anyio walks it and
looks for a C task's fields; ``asyncio.run`` would cancel strands in the order of a set). For tasks: leaving them to
asyncio, and having a wait on the kernel await a future that the kernel completes (what follows it would run between two
ticks, whenever the loop comes to it, and no two runs would be the same).
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from agentrt.errors import ENDS_PROGRAM, NotRunningError, TaskLeftError
from agentrt.kernel.foreign import (
    TRIO_WORDS,
    Budget,
    Way,
    describe,
    throw_foreign,
    throw_soon,
)
from agentrt.kernel.kernel import PlainHost
from agentrt.kernel.strand import CancelScope, Children, Strand, StrandOwner, kill, livelocked
from agentrt.kernel.traps import COMMANDS, Notice, running

if TYPE_CHECKING:
    from agentrt.kernel.inline import Inline
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.traps import Scheduler, Stepper


_AWAITED: Final = ("cr_await", "gi_yieldfrom", "ag_await")
_LONGEST: Final = 100  # coroutines that await one another, errors that came of one another: further down nobody looks


def handles_cancellation(coro: object) -> bool:
    """Whether a suspended coroutine, or one that it awaits, is dealing with a cancellation.

    That is so in a ``finally``, ``except`` or ``__aexit__`` that it came to, and while it is put aside in a variable.
    What a coroutine holds is asked of the interpreter: there is no other way to look at it from outside. Only after a
    cancellation is anybody asked.
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


_enter_task = asyncio._enter_task  # looked up once: both are called in each step
_leave_task = asyncio._leave_task

_FOREIGN: Final = "asyncio"  # what ``waiting`` is while a strand waits for the event loop


class _Entered:
    """What a strand notes about a scope that it entered: asyncio's count then, and whether it was delivered."""

    __slots__ = ("cancels", "delivered")

    def __init__(self, cancels: int) -> None:
        self.cancels = cancels
        self.delivered = False


class AsyncioStrand(Strand):
    """A strand and an asyncio task in one. Made by ``Kernel.spawn``; see ``Strand`` and ``asyncio.Task``."""

    __slots__ = (
        "__weakref__", "_by_kernel", "_callbacks", "_cancel_message", "_cancels", "_context", "_enter", "_forgiven",
        "_fut_waiter", "_host", "_must_cancel", "_number", "_ordinary", "_repeated", "_stop_delivered", "_wait_ended",
        "tasks",
    )  # fmt: skip

    kernel: Kernel  # pyright: ignore[reportIncompatibleVariableOverride] - a narrower one, which is set once

    def __init__(
        self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None, host: AsyncioHost
    ) -> None:
        super().__init__(kernel, coro, name, owner)
        self._host = host
        host.strands_made += 1
        self._number = host.strands_made
        self.tasks: Tasks | None = None  # what it has made, if it has
        self._context = contextvars.copy_context()
        self._callbacks: list[tuple[Callable[[Any], object], contextvars.Context]] | None = None  # for its end
        self._enter: Callable[[Any], object] = partial(self._context.run, coro.send)  # type: ignore[call-arg]
        self._fut_waiter: asyncio.Future[Any] | TaskStrand | None = None
        self._must_cancel = False
        self._cancel_message: Any = None
        self._cancels = 0  # how many requests of asyncio's are in force
        self._wait_ended = False
        self._by_kernel = False  # the future was cancelled natively, and not by ``cancel``
        self._forgiven = False  # somebody called ``uncancel`` for the native cancellation
        self._stop_delivered = False
        self._repeated = -1  # the tick in which a native cancellation was last raised once more
        self._ordinary: Stepper = Way(self._step)
        self.stepper: Stepper = self._ordinary

    def __hash__(self) -> int:
        return self._number

    # --- stepping -----------------------------------------------------------------------------------------------------

    def _step(self, value: Any) -> object:
        loop = self._host.loop
        _enter_task(loop, self)  # type: ignore[arg-type]
        try:
            return self._enter(value)
        except BaseException as raised:
            if self.tasks is None:
                raise
            ended = raised
        finally:
            _leave_task(loop, self)  # type: ignore[arg-type]
        return self._end_tasks(self.tasks, ended)

    def _end_tasks(self, tasks: Tasks, ended: BaseException) -> object:
        """Its coroutine has ended, but it has not before its tasks have: go on with a coroutine that waits for them."""
        self.tasks = None
        self.coro: Coroutine[Any, Any, Any] | None = tasks.close(ended)
        self._enter = partial(self._context.run, self.coro.send)  # type: ignore[call-arg]
        return self._step(None)

    def _step_foreign(self, _value: None) -> object:
        self.stepper = self._ordinary
        self._fut_waiter = None
        return self._step(None)

    def _step_notice(self, _value: None) -> object:
        self.stepper = self._ordinary
        return self._step(self.take_notice())

    def ordinary_stepper(self) -> Stepper:
        return self._ordinary

    def notice(self, notice: Notice) -> None:
        self.waiting = notice
        if self.stepper is self._ordinary:  # else ``send`` looks for it
            self.stepper = Way(self._step_notice)

    def throw(self, error: BaseException) -> object:
        try:
            return self._as_task(super().throw, error)
        except BaseException as raised:
            if self.tasks is None or self._host.loop is None:
                raise
            ended = raised
        return self._end_tasks(self.tasks, ended)

    def close_coro(self) -> None:
        self._as_task(super().close_coro)

    def _as_task(self, fn: Callable[..., object], *args: object) -> object:
        loop = self._host.loop
        if loop is None:
            return self._context.run(fn, *args)  # killed before any loop ran
        # It may be thrown into from anywhere: ``kill`` comes from the steps of others, and from tasks of the loop.
        outer = asyncio.current_task(loop)
        if outer is not None:
            _leave_task(loop, outer)
        _enter_task(loop, self)  # type: ignore[arg-type]
        try:
            return self._context.run(fn, *args)
        finally:
            _leave_task(loop, self)  # type: ignore[arg-type]
            if outer is not None:
                _enter_task(loop, outer)

    # --- waiting for the event loop -----------------------------------------------------------------------------------

    def attach(self, future: asyncio.Future[Any] | TaskStrand | None) -> None:
        """Wait for a future, or for None: one turn of the event loop. Called by the host, right after the step."""
        self.waiting: object = _FOREIGN
        self._fut_waiter = future
        self._by_kernel = False
        is_cancelled = self.pending() is not None
        if is_cancelled and not self._is_undelivered() and not handles_cancellation(self.coro):
            self._swallowed(future)
        if future is None:
            assert self._host.loop is not None
            self._host.loop.call_soon(self._wake, None, context=self._host.context)
        elif isinstance(future, TaskStrand):
            future._asyncio_future_blocking = False
            future.when_ended(self.wake_if_done)
        else:
            future._asyncio_future_blocking = False  # the mark that somebody awaits it; asyncio wants it taken back
            future.add_done_callback(self._wake, context=self._host.context)
        if future is not None:
            if self._must_cancel:
                if future.cancel(msg=self._cancel_message):
                    self._must_cancel = False
                    self._note_delivered()
            else:
                self._cancel_natively(future)
        self.stepper = self if self._must_cancel or is_cancelled else Way(self._step_foreign)

    def _swallowed(self, future: asyncio.Future[Any] | TaskStrand | None) -> None:
        """A native cancellation was swallowed: raise it once more."""
        tick = self.kernel.tick
        if self._repeated != tick:
            self._repeated = tick
            self._note_delivered(False)
        elif future is not None:  # else it waits for one turn of the loop, and its next wait is looked at again
            self.kernel.call_later(1, self._repeat, future)

    def _repeat(self, future: asyncio.Future[Any] | TaskStrand) -> None:
        if self._fut_waiter is future and self.pending() is not None:
            self._note_delivered(False)
            self.interrupt()

    def _cancel_natively(self, future: asyncio.Future[Any] | TaskStrand | None) -> None:
        if future is not None and self._is_undelivered() and future.cancel(msg=self.pending()):
            self._by_kernel = True
            self._note_delivered()

    def _wake(self, future: asyncio.Future[Any] | None) -> None:
        """A callback of the event loop, between ticks: what it waited for is done."""
        if self.waiting is _FOREIGN and self._fut_waiter is future:
            self.waiting = 0
            self.kernel.ready.append(self)
            self._host.drain_now(self.kernel)

    def wake_if_done(self) -> None:
        """Make it ready if the future that it waits for is done, before the event loop says so."""
        future = self._fut_waiter
        if self.waiting is _FOREIGN and future is not None and future.done():
            self.waiting = 0
            self.kernel.ready.append(self)
            self._host.drain_soon(self.kernel)

    # --- what is raised where -----------------------------------------------------------------------------------------

    def send(self, _value: None, /) -> object:
        """Step it while something may have to be raised."""
        error = self._take_error()
        for _ in range(self.kernel.livelock_steps):
            command = self._step(self.take_notice()) if error is None else self.throw(error)
            kind = command.__class__
            if kind not in COMMANDS:
                return command  # the host attaches it, and leaves the strand its own stepper if it has to
            if self._must_cancel or self.pending() is not None:
                error = self._next_error()
            else:
                self.stepper = self._ordinary
                return command
        return kill(self, livelocked(self))

    def _take_error(self) -> BaseException | None:
        """What is to be raised at the wait in which it is; None if that wait simply ends."""
        future = self._fut_waiter
        self._fut_waiter = None
        if self._must_cancel:
            raises_itself = future is not None and future.cancelled() and not self._by_kernel
        elif self._wait_ended or self._is_undelivered():
            raises_itself = future is not None and future.cancelled()
        else:
            return None
        if raises_itself:
            # Its own message tells who cancelled first.
            self._must_cancel = False
            self._note_delivered()
            return None
        if future is not None and future.done() and not future.cancelled():
            future.exception()  # else asyncio would report that nobody asked for it
        return self._next_error()

    def _next_error(self) -> BaseException:
        # One exception serves both kinds. It carries asyncio's message, by which anyio knows its own; the native
        # kind needs none.
        message = self._cancel_message if self._must_cancel else self.pending()
        self._must_cancel = self._wait_ended = False
        self._note_delivered()
        return _cancelled(message)

    def _is_undelivered(self) -> bool:
        """Whether a native cancellation is in force that has not been raised yet."""
        scope = self.scope
        while scope is not None:
            if scope.cancel_called and not scope.host_scope.delivered:
                return True
            if scope.shield:
                return False
            scope = scope.outer
        return self.stop_reason is not None and not self._stop_delivered

    def _note_delivered(self, delivered: bool = True) -> None:
        scope = self.scope
        while scope is not None:
            scope.host_scope.delivered = delivered and scope.cancel_called
            if scope.shield:
                return
            scope = scope.outer
        self._stop_delivered = delivered and self.stop_reason is not None

    # --- native cancellation ------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Have the pending native cancellation raised at the wait in which it is, or at its next one."""
        if self.waiting is _FOREIGN and self.coro is not None:
            self._cancel_natively(self._fut_waiter)
            self.stepper = self
        else:
            super().interrupt()

    def _interrupt_suspended(self) -> None:
        if not self._must_cancel:
            super()._interrupt_suspended()
        elif self.detach():
            self.kernel.ready.append(self)

    def detach(self) -> bool:
        """Take it out of the books of what it waits for on the kernel; says whether it was in them."""
        if not super().detach():
            return False
        self._wait_ended = True
        return True

    def enter_scope(self, scope: CancelScope) -> None:
        scope.host_scope = _Entered(self._cancels)
        super().enter_scope(scope)  # may interrupt, which asks ``host_scope`` what was delivered

    def leave_scope(self, scope: CancelScope, error: BaseException | None) -> bool:
        self._forgiven = False
        if not super().leave_scope(scope, error):
            return False
        entered: _Entered = scope.host_scope
        if self._must_cancel or self._cancels <= entered.cancels:
            return True
        message = self._cancel_message
        # Only the message tells the two apart: the nesting says that both are in force.
        if error is not None and error.args != _cancelled(message).args:
            # Asyncio's request was raised after ours. Ours ends here; theirs goes on, under the message they know.
            raise _cancelled(message)
        return False

    # --- asyncio's cancellation ---------------------------------------------------------------------------------------

    def cancel(self, msg: Any | None = None) -> bool:
        """Ask for a ``CancelledError`` at the wait in which it is, or at its next one. Not from another thread."""
        if self.coro is None:
            return False
        if self._forgiven and self.pending() is not None:
            # A ``TaskGroup`` gives back what it took by ``uncancel``, so that the next await raises once more.
            self._forgiven = False
            self._note_delivered(False)
            self.interrupt()
            return True
        self._cancels += 1
        if not (self._must_cancel and self._wait_ended):
            self._cancel_message = msg
        future = self._fut_waiter
        if future is not None and future.cancel(msg=msg):
            if self.waiting is _FOREIGN and future.done():
                self.waiting = 0
                self._host.ready_in_order(self)
            return True
        self._must_cancel = True
        self.stepper = self
        kernel = self.kernel
        if kernel.current is self:
            kernel.call_soon(self._interrupt_suspended)
        elif self.detach():
            # Not at once: the caller is in the middle of something (a timeout notes that it expired after this call).
            self._host.ready_in_order(self)
        return True

    def cancelling(self) -> int:
        """How many requests to cancel it are in force; a native cancellation counts as one."""
        return self._cancels + (self.pending() is not None and not self._forgiven)

    def uncancel(self) -> int:
        """Take one request back."""
        if self._cancels > 0:
            self._cancels -= 1
            if self._cancels == 0 and not self._wait_ended:
                self._must_cancel = False
        elif self.pending() is not None:
            self._forgiven = True
        return self.cancelling()

    # --- tasks that it makes ------------------------------------------------------------------------------------------

    def make_task(
        self,
        coro: Coroutine[Any, Any, Any],
        *,
        name: str | None = None,
        context: contextvars.Context | None = None,
        **_how: object,  # whether to begin it at once, which no strand does
    ) -> TaskStrand:
        """Make a strand of a coroutine for which its code asked for a task."""
        if not asyncio.iscoroutine(coro):
            raise TypeError(f"a coroutine was expected, got {coro!r}")
        root = self.root
        assert isinstance(root, AsyncioStrand)
        if root.tasks is None:
            root.tasks = Tasks(root)
        task = self.kernel.spawn(coro, name or f"{root.name}/{getattr(coro, '__name__', 'task')}", root.tasks)
        assert isinstance(task, TaskStrand)
        root.tasks.take(task)
        task.made(self, context)
        return task

    # --- what else an asyncio task can be asked -----------------------------------------------------------------------

    def done(self) -> bool:
        return self.coro is None

    def cancelled(self) -> bool:
        return self.coro is None and isinstance(self.error, asyncio.CancelledError)

    def exception(self) -> BaseException | None:
        """What its coroutine raised. It raises that itself if that was a cancellation, as asyncio does."""
        if self.coro is not None:
            raise asyncio.InvalidStateError(f"{self!r} has not ended")
        if isinstance(self.error, asyncio.CancelledError):
            raise self.error
        return self.error

    def result(self) -> Any:
        """What its coroutine returned, or raises what that raised."""
        error = self.exception()
        if error is not None:
            raise error
        return self.value

    def add_done_callback(self, fn: Callable[[Any], object], *, context: contextvars.Context | None = None) -> None:
        """Have a function called with the strand, by the event loop, after it has ended."""
        if context is None:
            context = contextvars.copy_context()
        if self.coro is None:
            self._host.get_loop().call_soon(fn, self, context=context)
        elif self._callbacks is None:
            self._callbacks = [(fn, context)]
        else:
            self._callbacks.append((fn, context))

    def remove_done_callback(self, fn: Callable[[Any], object]) -> int:
        """Take a function back; says how often it was there."""
        before = self._callbacks or []
        self._callbacks = [entry for entry in before if entry[0] != fn] or None
        return len(before) - len(self._callbacks or ())

    def ended(self, result: Any, error: BaseException | None) -> None:
        super().ended(result, error)
        if self.tasks is not None:  # it was killed, and could not wait for them
            self.tasks.stop("whoever made it was killed")
            self.tasks.let_go()
            self.tasks = None
        self._ordinary = self.stepper  # the other one names the strand: a reference cycle for each that has ended
        self._fut_waiter = None
        self._must_cancel = False
        callbacks, self._callbacks = self._callbacks, None
        for fn, context in callbacks or ():
            self._host.get_loop().call_soon(fn, self, context=context)

    def get_coro(self) -> Coroutine[Any, Any, Any] | None:
        """Its coroutine; None once it has ended."""
        return self.coro

    def get_context(self) -> contextvars.Context:
        return self._context

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._host.get_loop()

    def get_name(self) -> str:
        return self.name

    def set_name(self, value: object) -> None:
        self.name: str = str(value)


class TaskStrand(AsyncioStrand):
    """A task that code of a strand made. Whoever has it may await it, and ask it whatever a future can be asked."""

    # No slots: asyncio's own functions note things in a task.

    _asyncio_future_blocking = False

    def __init__(
        self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None, host: AsyncioHost
    ) -> None:
        super().__init__(kernel, coro, name, owner, host)
        self.has_begun: bool = False  # whether it has made its first step
        self.has_waited: bool = False  # whether it ever waited for the kernel
        self.was_asked: bool = False  # whether anybody wanted to know what became of it
        self._maker: AsyncioStrand | None = None  # whose code asked for it; of those that have not ended
        # what strands have called, and which strand wants that
        self._calls: list[tuple[Callable[[Any], object], contextvars.Context, AsyncioStrand]] = []

    def made(self, maker: AsyncioStrand, context: contextvars.Context | None) -> None:
        """Note who made it, and in which context it is to be stepped, if not in a copy of the maker's."""
        if isinstance(maker, TaskStrand):
            maker.forget_ended()
        self._maker = maker
        if context is not None:
            assert self.coro is not None
            self._context = context
            self._enter = partial(context.run, self.coro.send)  # type: ignore[call-arg]

    def forget_ended(self) -> AsyncioStrand | None:
        """Its nearest maker that has not ended; the others are forgotten, else they would be an endless chain."""
        while isinstance(self._maker, TaskStrand) and self._maker.is_done:
            self._maker = self._maker._maker
        return self._maker

    @property
    def is_own(self) -> bool:
        """Whether it is a part of the strand that it belongs to, and no library's affair."""
        return self.has_waited or not self.has_begun

    # --- stepping -----------------------------------------------------------------------------------------------------

    def _step(self, value: object) -> object:
        self.has_begun = True
        return self._noted(super()._step(value))

    def throw(self, error: BaseException) -> object:
        """See ``Strand``."""
        return self._noted(super().throw(error))

    def _noted(self, command: object) -> object:
        if not self.has_waited and command.__class__ in COMMANDS:
            self.has_waited = True
            if not isinstance(self.owner, Tasks):  # what it belonged to has ended, and thought that this may go on
                report_left(self.kernel, self.name, [self])
                self.stop(_LEFT)
        return command

    # --- as a future --------------------------------------------------------------------------------------------------

    def __await__(self) -> Generator[Any, Any, Any]:
        if self.coro is not None:
            self._asyncio_future_blocking = True
            yield self
        return self.result()

    __iter__ = __await__

    def exception(self) -> BaseException | None:
        """See ``AsyncioStrand``."""
        self.was_asked = True
        return super().exception()

    def _make_cancelled_error(self) -> asyncio.CancelledError:
        return _cancelled(self._cancel_message)  # for ``asyncio.gather``

    def add_done_callback(self, fn: Callable[[Any], object], *, context: contextvars.Context | None = None) -> None:
        """Have a function called with the task when it has ended: by the kernel if a strand asks, else by the loop."""
        current = self.kernel.current
        if self.coro is None or not isinstance(current, AsyncioStrand) or current.is_done:
            super().add_done_callback(fn, context=context)
        else:
            self._calls.append((fn, contextvars.copy_context() if context is None else context, current))

    def remove_done_callback(self, fn: Callable[[Any], object]) -> int:
        """See ``AsyncioStrand``."""
        before = self._calls
        self._calls = [call for call in before if call[0] != fn]
        return len(before) - len(self._calls) + super().remove_done_callback(fn)

    def ended(self, result: object, error: BaseException | None) -> None:
        """See ``Strand``."""
        super().ended(result, error)
        if self._calls:
            self.kernel.call_soon(self._tell, self._calls)
            self._calls = []
            self._host.drain_soon(self.kernel)

    def _tell(self, calls: list[tuple[Callable[[Any], object], contextvars.Context, AsyncioStrand]]) -> None:
        for fn, context, strand in calls:
            self.kernel.guarded(context.run, (fn, self))
            # What was called may have completed a future: that of a group, for which any strand may wait that made
            # the one that wants this.
            waits: AsyncioStrand | None = strand
            while waits is not None:
                waits.wake_if_done()
                waits = waits.forget_ended() if isinstance(waits, TaskStrand) else None


_LEFT: Final = "what it belonged to has ended"


def report_left(kernel: Scheduler, name: str, tasks: Sequence[Strand]) -> None:
    """Report that tasks were left behind."""
    error = TaskLeftError([task.name for task in tasks], path=name, tick=kernel.clock.tick)
    kernel.report(f"{name!r} left tasks behind", error)


class Tasks(Children):
    """The tasks that a strand made, and those that were made by these."""

    __slots__ = ("_failed",)

    def __init__(self, parent: Strand) -> None:
        super().__init__(parent)
        self._failed: list[TaskStrand] = []  # nobody has asked why, so far

    def on_strand_end(self, strand: Strand, result: object, error: BaseException | None) -> None:
        """One of them ended."""
        super().on_strand_end(strand, result, error)
        assert isinstance(strand, TaskStrand)
        if error is not None and not isinstance(error, asyncio.CancelledError):
            self._failed = [task for task in self._failed if not task.was_asked]
            self._failed.append(strand)

    async def close(self, ended: BaseException) -> Any:
        """Wait until its own have ended; then end as the coroutine of the strand did.

        Args:
            ended: how it did; a ``StopIteration`` for a value.
        """
        kernel = self.parent.kernel
        own = [task for task in self.strands if isinstance(task, TaskStrand) and task.is_own]
        for task in tuple(self.strands):
            if task not in own:
                self.release(task)
        if own:
            if isinstance(ended, StopIteration) and self.parent.stop_reason is None:
                report_left(kernel, self.parent.name, own)
            await self.end(_LEFT)
        for task in self._failed:
            if not task.was_asked:
                assert task.error is not None
                kernel.report(f"the task {task.name!r} raised, and nobody asked", task.error)
        if isinstance(ended, StopIteration):
            return ended.value
        raise ended


def _cancelled(message: object) -> asyncio.CancelledError:
    return asyncio.CancelledError() if message is None else asyncio.CancelledError(message)


class InlineTask:
    """What ``asyncio.current_task()`` is while code is stepped that cannot suspend: a strand, as soon as it is asked.

    Making one for each would cost more than the step. anyio enters a cancel scope for it in a table of its own, and so
    needs a key that can be referred to weakly.
    """

    __slots__ = ("__weakref__", "_inline", "_strand")

    def __init__(self, inline: Inline) -> None:
        self._inline = inline
        self._strand: Strand | None = None

    def __getattr__(self, name: str) -> Any:
        strand = self._strand
        if strand is None:
            strand = self._strand = self._inline.strand()
        return getattr(strand, name)


_NO_LOOP = (
    "the asyncio host steps strands only while its event loop runs. Call this from a coroutine or a callback of the "
    "loop, or give the runtime host='plain' to run without one."
)


class AsyncioHost(PlainHost):
    """Strands that await asyncio."""

    name: str = "asyncio"
    steps_inline: bool = False
    foreign_waits: int = 0
    cancelled_type: type[BaseException] = asyncio.CancelledError
    no_loop_words: tuple[str, ...] = TRIO_WORDS

    def __init__(self) -> None:
        # the event loop on which the kernel was stepped last; None before that
        self.loop: asyncio.AbstractEventLoop | None = None
        self.context: contextvars.Context = contextvars.copy_context()  # in which the callbacks of the event loop run
        self._outer: asyncio.Task[Any] | None = None
        self._drain_scheduled = False
        self._failure: BaseException | None = None
        self.strands_made: int = 0
        self._cancelled: list[AsyncioStrand] = []  # by the event loop, at this moment
        self._factory: Callable[..., asyncio.Task[Any]] = self._make_task  # one object, to be known again
        self._outer_factory: Callable[..., Any] | None = None  # the loop's own, while strands are stepped

    # --- for the kernel -----------------------------------------------------------------------------------------------

    def strand(self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None) -> Strand:
        if isinstance(owner, Tasks):
            return TaskStrand(kernel, coro, name, owner, self)
        return AsyncioStrand(kernel, coro, name, owner, self)

    def _make_task(self, loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any], **options: object) -> Any:
        """The factory of the loop while strands are stepped."""
        kernel = running.kernel
        current = None if kernel is None else kernel.current
        if isinstance(current, AsyncioStrand) and current.kernel.inline.acting is None and current.kernel.host is self:
            return current.make_task(coro, **options)  # type: ignore[arg-type]
        if self._outer_factory is not None:
            return self._outer_factory(loop, coro, **options)
        return asyncio.Task(coro, loop=loop, **options)  # type: ignore[arg-type]

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

    def as_task(self, inline: Inline, step: Callable[..., object], *args: Any) -> None:
        """Step it as a task, in a context of its own; the thinks of one round share both."""
        task = InlineTask(inline)
        _enter_task(self.loop, task)  # type: ignore[arg-type]
        try:
            contextvars.copy_context().run(step, *args)
        finally:
            _leave_task(self.loop, task)  # type: ignore[arg-type]

    def enter(self) -> None:
        """Begin to step strands, or raise what failed between ticks."""
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
        self._outer_factory = loop.get_task_factory()
        loop.set_task_factory(self._factory)

    def leave(self) -> None:
        """The task that steps them is the current one again."""
        if self.loop is not None and self.loop.get_task_factory() is self._factory:
            self.loop.set_task_factory(self._outer_factory)
        self._outer_factory = None
        outer, self._outer = self._outer, None
        if outer is not None:
            assert self.loop is not None
            asyncio._enter_task(self.loop, outer)

    # --- for its strands ----------------------------------------------------------------------------------------------

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self.loop if self.loop is not None else asyncio.get_running_loop()

    def ready_in_order(self, strand: AsyncioStrand) -> None:
        """A strand is cancelled: make it ready, with others that are cancelled at the same time, by their numbers."""
        if not self._cancelled:
            strand.kernel.call_soon(self._ready_in_order, strand.kernel)
            self.drain_soon(strand.kernel)
        self._cancelled.append(strand)

    def _ready_in_order(self, kernel: Kernel) -> None:
        strands, self._cancelled = self._cancelled, []
        kernel.ready.extend(sorted(strands, key=hash))

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
        """See ``Host``. It raises what failed between ticks."""
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
