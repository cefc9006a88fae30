"""The trio host: a strand is a task of trio's, and may await whatever one may.

A strand may open nurseries and scopes of trio's, too. Its task exists from the strand's first step to its end. Its body
drives the author's coroutine, one step for each time that it holds the *baton*. Only who holds the baton runs, so
strands run in the kernel's order and not in trio's, which is random:

* What the coroutine yields for the kernel goes into the kernel's books, and not to trio. The body gives the baton back
  and parks until it gets it again.
* Anything else goes to trio as it is, after the baton was given back. When trio resumes the body, it does not go on at
  once: it stands in the ready queue first, with trio's outcome, and asks for a drain.

Cancellation is trio's own, a level everywhere. The strand runs in a ``trio.CancelScope``, and each of our scopes opens
one of trio's beside it; cancelling ours cancels that. Trio then calls ``_abort`` if the body is parked, and only trio
decides whether a shield (ours or an author's) is in between. The strand takes its place in the kernel's ready queue at
that moment, as it would on any other host, and gets trio's exception when the baton comes.

What must be kept in sync:

* ``_interrupted`` is set in the stretches in which ``stepper`` is the strand on the other hosts, to deliver a
  cancellation. In these, a wait on the kernel that is reached while it is cancelled raises in the same step; that keeps
  the order the same on all hosts.
* ``_hop``: it was cancelled while it ran; a call stands in the ready queue that will interrupt it. ``_abort`` leaves
  it to that call, if nothing new has happened.
* ``stepper`` is for hosts that step synchronously; here it is the strand, which refuses.

Who hands the baton out keeps these rules:

* Only one task drains at a time: the one that runs a tick, or the *server*, a system task of this host that drains
  between ticks when a strand's foreign wait has ended. The tick waits for the server; the server never interrupts a
  tick.
* Draining mirrors ``Kernel.drain``, which is synchronous and cannot wait for a baton. Calls and timers are stepped in
  place.
* Whoever drains cannot be cancelled while the baton is away: a tick is always whole.
* A failure between ticks has nobody to be raised to. It is kept and raised by the next tick.
* The strands' tasks are system tasks, so that a cancelled ``runtime.run()`` can still stop its agents in the kernel's
  order. What is left when trio's main task ends is cancelled by trio; the server then drains to the end, without ticks,
  and closes what waits for a tick behind a shield.

*Tasks that a strand makes*, in a nursery that it opened, are strands, too: trio tells of each task that is spawned, and
if a strand is stepped at that moment, the coroutine of the task is replaced by one that drives it with the baton. So
its steps come in the kernel's order. It belongs to the outermost strand that it comes from; its end, and what it
raises, are the nursery's affair.

* Such a task stands in the ready queue from the moment in which it is spawned. Trio runs it, for the first time, before
  its turn or when that has come: ``_is_fresh`` says that it has not been either yet.
* After each step of a strand that has to do with such tasks, trio gets a turn, so that whom it resumes because of that
  step (who waits for the nursery) stands in the ready queue before anybody else runs.
* Trio cancels the tasks of a nursery in the order of a set. Who is cancelled together goes on in the order of numbers.

The same kernel may go on in another ``trio.run``: all strands that had a task have ended with the run before.

Rejected: stepping the coroutine in the task that drains (``trio.CancelScope`` and nurseries would bind to the wrong
task).
"""

from __future__ import annotations

import contextvars
import inspect
import sys
import types
from collections.abc import Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any, Final, NoReturn

import trio
from trio.lowlevel import Abort, wait_task_rescheduled

from agentrt.errors import ForeignAwaitError, NotRunningError, RunFault
from agentrt.kernel.foreign import ASYNCIO_WORDS, Budget, describe, throw_foreign
from agentrt.kernel.kernel import LivelockGuard, PlainHost, patience
from agentrt.kernel.strand import CancelScope, Children, Strand, StrandOwner, abandon, is_suspended, livelocked, meant
from agentrt.kernel.traps import COMMANDS, Notice, running
from agentrt.words import type_name

if TYPE_CHECKING:
    from trio._core._run import CancelStatus

    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.traps import Entry, Stepper


_FOREIGN: Final = "trio"  # what ``waiting`` is while a strand waits for the event loop


@types.coroutine
def _pass_to_trio(message: object) -> Generator[object, Any, Any]:
    return (yield message)


def _keep(_raise_cancel: Callable[[], NoReturn]) -> Abort:
    return Abort.FAILED


async def _wait_for_baton() -> None:
    """Park until somebody reschedules this task; a cancellation waits for that too."""
    await wait_task_rescheduled(_keep)


class TrioStrand(Strand):
    """A strand and a trio task in one. Made by ``Kernel.spawn``; see ``Strand``."""

    __slots__ = (
        "_context", "_exit", "_hop", "_host", "_interrupted", "_is_fresh", "_raise_cancel", "_trio_scope", "condemned",
        "has_nursery", "number", "outcome", "task", "tasks",
    )  # fmt: skip

    kernel: Kernel  # pyright: ignore[reportIncompatibleVariableOverride] - a narrower one, which is set once

    def __init__(
        self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None, host: TrioHost
    ) -> None:
        super().__init__(kernel, coro, name, owner)
        self._host = host
        self._context = contextvars.copy_context()
        self.stepper: Stepper = self
        self._exit: GeneratorExit | None = None  # raised by the author, and not because trio is gone
        self._hop = False
        self._interrupted = False
        self._raise_cancel: Callable[[], NoReturn] | None = None
        self._trio_scope: trio.CancelScope | None = None
        self.task: trio.lowlevel.Task | None = None  # the task of trio's; None before the first step
        self._is_fresh = False  # whether that is somebody's own, and neither trio nor the baton have come to it
        self.has_nursery: bool = False  # whether it made tasks in one, or is one that was made
        self.tasks: Children | None = None  # what it, or what belongs to it, has made in nurseries
        host.strands_made += 1
        self.number: int = host.strands_made
        self.condemned: BaseException | None = None  # why it is being killed; None if it is not
        # what its coroutine returned and raised, once it has ended
        self.outcome: tuple[Any, BaseException | None] | None = None

    # --- the task -----------------------------------------------------------------------------------------------------

    def take_baton(self) -> None:
        """Let it run. Called by the host, which then waits for the baton."""
        if self.task is None:  # only now: it runs as soon as trio comes to it, and only who has the baton may
            self.task = trio.lowlevel.spawn_system_task(self._run, name=self.name, context=self._context)
        elif self._is_fresh:
            self._is_fresh = False
        else:
            trio.lowlevel.reschedule(self.task)

    def send(self, _value: None, /) -> object:
        """Refuse: only the host steps it."""
        raise NotRunningError("a strand on the trio host is stepped by the host: use 'await host.run_tick(kernel)'.")

    def adopt(self, task: trio.lowlevel.Task) -> None:
        """Its code made a task, which has not begun: make it a strand."""
        root = self.root
        assert isinstance(root, TrioStrand)
        if root.tasks is None:
            root.tasks = Children(root)
        child = self.kernel.spawn(task.coro, f"{root.name}/{task.name.rpartition('.')[2]}", root.tasks)
        assert isinstance(child, TrioStrand)
        root.tasks.take(child)
        child.task = task
        child._is_fresh = child.has_nursery = self.has_nursery = True
        task.coro = child._run_adopted()  # type: ignore[assignment]

    async def _run_adopted(self) -> Any:
        """The body of a task that somebody made: its end is that of the coroutine, to whoever waits for it."""
        if self._is_fresh:
            self._is_fresh = False
            await _wait_for_baton()
        value, error = await self._run()
        assert self._trio_scope is not None
        if error is not None and not self._trio_scope.cancelled_caught:
            raise _readable(error)
        return value

    async def _run(self) -> tuple[Any, BaseException | None]:
        scope = self._trio_scope = trio.CancelScope()
        if self.stop_reason is not None:
            self._host.cancel_quietly(scope, self.stop_reason)
        value: Any = None
        error: BaseException | None = None
        cancelled: BaseException | None = None
        try:
            with scope:
                try:
                    value = await self._drive()
                except BaseException as raised:
                    told = meant(raised)
                    cancelled = _find_cancelled(told)
                    if told is not raised:
                        raise told from None  # trio's scope looks at it, too
                    raise
        except GeneratorExit as raised:
            if raised is not self._exit:
                raise  # trio is gone, and with it this task
            error = raised
        except BaseException as raised:  # the kernel is told; trio would crash
            error = raised
        if scope.cancelled_caught and error is None:
            error = cancelled
        self.outcome = outcome = (value, error if self.condemned is None else self.condemned)
        self._host.task_ends(self)
        if self.task is not None and self.task.child_nurseries:
            await self._hold()
        return outcome

    async def _drive(self) -> Any:
        """Drive the coroutine; holds the baton when it begins and when it ends."""
        coro = self.coro
        assert coro is not None
        enter: Callable[[Any], object] = coro.send
        argument: Any = None
        if (error := await self._take_error()) is not None:
            enter, argument = coro.throw, error
        rounds = 0
        while True:
            interrupted = self._interrupted
            try:
                command = self._step(enter, argument)
            except StopIteration as stop:
                return stop.value
            except GeneratorExit as own:
                self._exit = own
                raise
            kind = command.__class__
            if kind not in COMMANDS:
                enter, argument = await self._wait_for_trio(coro, command)
                continue
            if (error := await self._raised_at_once(coro, interrupted, rounds)) is not None:
                enter, argument = coro.throw, error
                rounds += 1
                continue
            rounds = 0
            self.kernel.park(self, command)
            self._raise_cancel = None
            self._host.hand_back()
            await wait_task_rescheduled(self._abort)
            enter, argument = coro.send, self.take_notice()
            if (error := await self._take_error()) is not None:
                enter, argument = coro.throw, error

    def notice(self, notice: Notice) -> None:
        self.waiting = notice  # ``_drive`` takes it when the baton comes

    async def _raised_at_once(
        self, coro: Coroutine[Any, Any, Any], interrupted: bool, rounds: int
    ) -> BaseException | None:
        """What a wait on the kernel raises in the step that reaches it; None if it parks there.

        It is asked in rounds, for as long as the coroutine goes on to the next wait; there is an end to that.
        """
        limit = self.kernel.livelock_steps
        if self.condemned is not None:
            if rounds > 2 * limit:
                self._abandon(coro)
                raise self.condemned
            return self.condemned
        if not interrupted:
            return None
        if self.pending() is None:
            self._interrupted = False
            return None
        error = await self._cancellation()
        if error is not None and rounds >= limit:
            error = self.condemned = livelocked(self)
        return error

    @trio.lowlevel.disable_ki_protection  # else an author's endless loop could not be interrupted from the keyboard
    def _step(self, enter: Callable[[Any], object], argument: Any) -> object:
        outer, running.kernel = running.kernel, self.kernel
        outer_hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(*self.kernel.generators.hooks)
        self.kernel.current = self
        try:
            return enter(argument)
        finally:
            self.kernel.current = None
            running.kernel = outer
            sys.set_asyncgen_hooks(*outer_hooks)

    async def _wait_for_trio(
        self, coro: Coroutine[Any, Any, Any], message: object
    ) -> tuple[Callable[[Any], object], object]:
        """Have trio answer a message of its own, then wait for the baton. Returns how to go on."""
        self.waiting: object = _FOREIGN
        self._host.foreign_waits += 1
        self._host.hand_back()
        enter: Callable[[Any], object] = coro.send
        try:
            answer = await _pass_to_trio(message)
        except TypeError:
            # The one thing that trio throws instead of sending an outcome: it does not know the message.
            path = f"{self.name} ({self.where()})"
            enter, answer = coro.throw, ForeignAwaitError(describe(message), "trio", path=path, tick=self.kernel.tick)
        self.waiting = 0
        self.kernel.ready.append(self)
        self._host.wake(self.kernel)
        await _wait_for_baton()
        return enter, answer

    # --- cancellation -------------------------------------------------------------------------------------------------

    def _abort(self, raise_cancel: Callable[[], NoReturn]) -> Abort:
        """Trio says, once for each wait on the kernel, that it is cancelled."""
        self._raise_cancel = raise_cancel
        was_cancelled_before_it_parked = self._host.stepped is self
        if not (self._hop and was_cancelled_before_it_parked) and self.detach():
            if self.has_nursery:
                self._host.ready_in_order(self)
            else:
                self.kernel.ready.append(self)
            self._host.wake(self.kernel)
        return Abort.FAILED

    async def _take_error(self) -> BaseException | None:
        """What is to be raised at the wait on the kernel in which it is; None if that wait simply ends."""
        if self.condemned is not None:
            return self.condemned
        if self._raise_cancel is not None:
            return await self._cancellation()
        if self._interrupted:
            if self.pending() is not None:
                return await self._cancellation()
            self._interrupted = False
        return None

    async def _cancellation(self) -> BaseException | None:
        """Trio's exception; None if it turns out that an author's own shield keeps it away."""
        raise_cancel, self._raise_cancel = self._raise_cancel, None
        try:
            if raise_cancel is not None:
                raise_cancel()
            await trio.lowlevel.checkpoint_if_cancelled()
        except trio.Cancelled as error:
            return error
        return None

    def stop(self, reason: str = "stopped") -> None:
        if self.stop_reason is None and self.coro is not None:
            super().stop(reason)
            if self._trio_scope is not None:
                self._host.cancel_quietly(self._trio_scope, reason)

    def scope_cancelled(self, scope: CancelScope) -> None:
        super().scope_cancelled(scope)
        self._host.cancel_quietly(scope.host_scope, scope.reason)

    def interrupt(self) -> None:
        """Note that a native cancellation is in force; trio says when it is to be raised."""
        if self.coro is None:
            return
        self._interrupted = True
        if self.kernel.current is self:
            self._hop = True
            self.kernel.call_soon(self._interrupt_suspended)
        elif self._raise_cancel is not None and self.detach():
            self.kernel.ready.append(self)

    def _interrupt_suspended(self) -> None:
        self._hop = False
        if self._raise_cancel is not None and self.detach():
            self.kernel.ready.append(self)
        elif self._interrupted and self.pending() is None:
            self._interrupted = False

    def enter_scope(self, scope: CancelScope) -> None:
        """See ``Strand``: one of trio's is opened beside it."""
        scope.host_scope = trio.CancelScope(shield=scope.shield)  # pyright: ignore[reportCallIssue]
        if scope.cancel_called:
            self._host.cancel_quietly(scope.host_scope, scope.reason)
        scope.host_scope.__enter__()
        super().enter_scope(scope)

    def leave_scope(self, scope: CancelScope, error: BaseException | None) -> bool:
        """See ``Strand``; trio says whether the scope swallows the error."""
        if self.pending() is not None:
            self.interrupt()
        kind, trace = (None, None) if error is None else (type(error), error.__traceback__)
        try:
            scope.host_scope.__exit__(kind, error, trace)
        finally:
            scope.cancelled_caught = scope.host_scope.cancelled_caught
        return scope.cancelled_caught

    # --- the end ------------------------------------------------------------------------------------------------------

    def ended(self, result: object, error: BaseException | None) -> None:
        """See ``Strand``."""
        super().ended(result, error)
        if self.tasks is not None:  # there are none, unless it left a nursery open
            self.tasks.stop("the nursery was left open")
            self.tasks.let_go()
            self.tasks = None

    def condemn(self, error: BaseException) -> bool:
        """Have it killed when its turn comes: every wait on the kernel raises the error, and trio cancels its own.

        The error is never raised in a wait of trio's: a nursery that closes would be torn.
        """
        if self.condemned is None:
            self.condemned = error
            if self._trio_scope is not None:
                self._host.cancel_quietly(self._trio_scope, "killed")
            ready = self.kernel.ready
            waits = self.detach() or self.state == "ready"
            if waits and self not in ready:
                ready.append(self)
        return True

    def _abandon(self, coro: Coroutine[Any, Any, Any]) -> None:
        try:
            self._step(lambda _value: coro.close(), None)
        except BaseException:  # noqa: S110 - whatever it raises, it has ended, or never will
            pass
        if is_suspended(coro):
            abandon(self.kernel, coro)

    async def _hold(self) -> None:
        """Keep the task of an abandoned coroutine whose nurseries are open: trio crashes when such a task ends."""
        assert self.task is not None
        for nursery in self.task.child_nurseries:
            nursery.cancel_scope.cancel()
        await trio.sleep_forever()


def _find_cancelled(error: BaseException) -> BaseException | None:
    """The exception of trio's that ended a strand; a nursery may have wrapped it into groups."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for inner in error.exceptions if (found := _find_cancelled(inner)) is not None), None)
    return error if isinstance(error, trio.Cancelled) else None


def _readable(error: BaseException) -> BaseException:
    """An error for a nursery: trio writes its repr into a reason, and would crash if there is none."""
    try:
        repr(error)
    except BaseException as problem:
        text = f"an error of type {type_name(error)} was raised that cannot be read ({type_name(problem)})"
        return RunFault(text)
    return error


_TAKES_REASON = "reason" in inspect.signature(trio.CancelScope.cancel).parameters


class _Adoption(trio.abc.Instrument):
    """Hears of each task that is spawned in a run of trio's."""

    def __init__(self, host: TrioHost) -> None:
        self._host = host

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        """If code of a strand made it, in a nursery of its own, the strand adopts it."""
        kernel = running.kernel
        current = None if kernel is None else kernel.current
        if (
            not isinstance(current, TrioStrand)
            or current.kernel.host is not self._host
            or current.kernel.inline.acting is not None
        ):
            return
        nursery = task.parent_nursery
        if nursery is not None and nursery.parent_task is not trio.lowlevel.current_root_task():
            current.adopt(task)


class TrioHost(PlainHost):
    """Strands that await trio."""

    name: str = "trio"
    steps_inline: bool = False
    cancelled_type: type[BaseException] = trio.Cancelled
    no_loop_words: tuple[str, ...] = ASYNCIO_WORDS

    def __init__(self) -> None:
        self.stepped: TrioStrand | None = None  # the strand that has the baton, or has just given it back
        self._context = contextvars.copy_context()
        self._token: trio.lowlevel.TrioToken | None = None
        self._holder: trio.lowlevel.Task | None = None  # who waits for the baton to come back
        self._tasks: dict[TrioStrand, None] = {}  # strands that have a task, in the order of their first steps
        self._requested = trio.Event()  # somebody is ready between ticks
        self._served = trio.Event()
        self._serving = False
        self._quiet = False
        self._failure: BaseException | None = None
        self.strands_made: int = 0
        self._cancelled: list[TrioStrand] = []  # by trio, at this moment
        self._status: CancelStatus | None = None  # which scopes lie around the task that steps code that cannot suspend

    # --- for the kernel -----------------------------------------------------------------------------------------------

    def strand(self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None) -> Strand:
        return TrioStrand(kernel, coro, name, owner, self)

    def cancelled(self, reason: str) -> NoReturn:
        """Only trio makes its exceptions."""
        raise NotImplementedError(f"a cancellation is made by trio, and not by its host (reason: {reason})")

    def foreign(self, strand: Strand, command: object) -> None:
        """Make the await fail. The host's own strands never ask: what is not the kernel's goes to trio as it is."""
        throw_foreign(strand, describe(command), self.name)

    def as_task(self, inline: object, step: Callable[..., object], *args: Any) -> None:
        """Step it in a context of its own; its task is the one that steps the kernel."""
        self._status = trio.lowlevel.current_task()._cancel_status
        contextvars.copy_context().run(step, *args)

    def left_open(self) -> BaseException | None:
        """The error for a cancel scope that was entered and not left: it would lie around all that comes after."""
        task = trio.lowlevel.current_task()
        if task._cancel_status is self._status:
            return None
        task._activate_cancel_status(self._status)
        return RuntimeError("Cancel scope stack corrupted: a scope was left open. Enter it with 'with'.")

    def enter(self) -> NoReturn:
        """Refuse: strands cannot be stepped synchronously here."""
        raise NotRunningError(
            "the trio host cannot step a tick synchronously, because every strand is a task of trio's. Use 'await "
            "runtime.run()', or give the runtime host='plain' to step it by hand."
        )

    def leave(self) -> None:
        """Never reached."""

    # --- for its strands ----------------------------------------------------------------------------------------------

    def hand_back(self) -> None:
        """The strand that holds the baton gives it back; it goes on to its next wait before anything else runs."""
        assert self._holder is not None
        trio.lowlevel.reschedule(self._holder)

    def task_ends(self, strand: TrioStrand) -> None:
        """The task of a strand gives the baton back for the last time."""
        self._tasks.pop(strand, None)
        self.hand_back()

    def wake(self, kernel: Kernel) -> None:
        """A strand became ready. Between ticks the server steps it at once."""
        if not (self._quiet or kernel.draining or kernel.in_tick):
            self._requested.set()

    def ready_in_order(self, strand: TrioStrand) -> None:
        """A strand is cancelled: make it ready, with others that are cancelled at the same time, by their numbers."""
        if not self._cancelled:
            strand.kernel.call_soon(self._ready_in_order, strand.kernel)
        self._cancelled.append(strand)

    def _ready_in_order(self, kernel: Kernel) -> None:
        self._cancelled.sort(key=lambda strand: strand.number)
        kernel.ready.extend(self._cancelled)
        self._cancelled.clear()

    def cancel_quietly(self, scope: trio.CancelScope, reason: str) -> None:
        """Cancel a scope of trio's for the kernel: what waits for the kernel is raised in a tick, as on every host."""
        outer, self._quiet = self._quiet, True
        try:
            if _TAKES_REASON:
                scope.cancel(reason)
            else:
                scope.cancel()
        finally:
            self._quiet = outer

    # --- draining -----------------------------------------------------------------------------------------------------

    async def _drain(self, kernel: Kernel, slices: Budget | None) -> None:
        ready = kernel.ready
        calm = patience(kernel)
        guard: LivelockGuard | None = None
        self._holder = trio.lowlevel.current_task()
        if not kernel.in_tick:
            kernel.idle_waits.begin()
        kernel.draining = True
        try:
            while ready:
                entry = ready[0]
                # The guard would take out again whom it has had condemned, and who needs steps to end.
                condemned = isinstance(entry, TrioStrand) and entry.condemned is not None
                if guard is not None and not condemned and not guard.admit():
                    continue
                ready.popleft()
                if isinstance(entry, TrioStrand):
                    await self._step_strand(kernel, entry)
                else:
                    _step_in_place(kernel, entry)
                calm -= 1
                if calm < 0 and guard is None:
                    guard = LivelockGuard(kernel)
                if slices is not None and slices.expired():
                    await trio.lowlevel.cancel_shielded_checkpoint()
                    slices.renew()
        finally:
            kernel.draining = False

    async def _step_strand(self, kernel: Kernel, strand: TrioStrand) -> None:
        if strand.is_done:
            return
        self._tasks[strand] = None
        self.stepped = strand
        strand.take_baton()
        await _wait_for_baton()
        self.stepped = None
        if strand.has_nursery:
            await trio.lowlevel.cancel_shielded_checkpoint()
        if strand.outcome is not None:
            value, error = strand.outcome
            strand.outcome = None
            outer, running.kernel = running.kernel, kernel
            kernel.current = strand
            try:
                kernel.end(strand, value, error)
            finally:
                kernel.current = None
                running.kernel = outer

    # --- between ticks ------------------------------------------------------------------------------------------------

    def _join_run(self, kernel: Kernel) -> None:
        token = trio.lowlevel.current_trio_token()
        if token is not self._token:
            self._token = token
            self._requested = trio.Event()
            self._serving = False
            trio.lowlevel.spawn_system_task(self._serve, kernel, name="agentrt between ticks", context=self._context)
            trio.lowlevel.add_instrument(_Adoption(self))

    async def _serve(self, kernel: Kernel) -> None:
        try:
            while True:
                await self._requested.wait()
                await self._serve_once(kernel)
        except trio.Cancelled as cancelled:
            with trio.CancelScope(shield=True):  # pyright: ignore[reportCallIssue] - it reads the alias wrongly
                self._sort_ready(kernel)
                while self._tasks:
                    await self._serve_once(kernel)
                    if not self._close_parked(cancelled) and self._tasks:
                        await self._requested.wait()
            raise

    async def _serve_once(self, kernel: Kernel) -> None:
        self._requested = trio.Event()
        if kernel.in_tick or kernel.draining:
            return
        self._serving = True
        self._served = trio.Event()
        try:
            while kernel.ready:
                try:
                    await self._drain(kernel, None)
                except BaseException as error:  # kept for the next tick; trio would crash
                    if self._failure is None:
                        self._failure = error
        finally:
            self._serving = False
            self._served.set()

    def _sort_ready(self, kernel: Kernel) -> None:
        """Trio has cancelled the strands in the order of a set; they end in the order of their first steps."""
        place = {strand: number for number, strand in enumerate(self._tasks)}
        entries = sorted(kernel.ready, key=lambda entry: place.get(entry, -1))  # type: ignore[call-overload]
        kernel.ready.clear()
        kernel.ready.extend(entries)

    def _close_parked(self, error: BaseException) -> bool:
        """No tick will come any more: end what waits for one behind a shield. Returns whether there was anything."""
        parked = [strand for strand in self._tasks if strand.state in ("sleeping", "parked")]
        for strand in parked:
            strand.condemn(error)
        return bool(parked)

    # --- for the runtime ----------------------------------------------------------------------------------------------

    async def run_tick(self, kernel: Kernel, budget: float | None = None) -> None:
        """See ``Host``. Every step of a strand gives trio a turn as well; it raises what failed between ticks."""
        # The server drains, too, though no tick runs: that is waited for. Not by a strand that it steps just now.
        if kernel.current is not None or not self._serving:
            kernel.require_between_ticks("run_tick")
        self._join_run(kernel)
        await trio.lowlevel.checkpoint()
        while self._serving:
            await self._served.wait()
        kernel.require_between_ticks("run_tick")  # again: another task may have begun a tick meanwhile
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        try:
            kernel.begin_tick()
            await self._drain(kernel, None if budget is None else Budget(budget))
            kernel.end_tick()
        finally:
            kernel.in_tick = False


def _step_in_place(kernel: Kernel, entry: Entry) -> None:
    """Step what is not a task of trio's: calls, timers, and strands that were made before this host was chosen."""
    outer, running.kernel = running.kernel, kernel
    kernel.current = entry
    try:
        command = entry.stepper.send(None)
    except StopIteration as stop:
        kernel.end(entry, stop.value, None)
    except BaseException as error:  # the kernel decides
        kernel.end(entry, None, error)
    else:
        if isinstance(entry, Strand):
            kernel.park(entry, command)
    finally:
        kernel.current = None
        running.kernel = outer
