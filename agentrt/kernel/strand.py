"""A strand: one coroutine that the kernel drives, and how it is cancelled: by scopes.

Every think, every run and every observer is a strand; a think may put that off (see ``thinker``). What state it is in
is derived, never stored, so that it cannot disagree with the books:

    done      its coroutine is gone
    running   the kernel steps it at this moment
    sleeping  ``waiting`` is a tick that has not come
    parked    ``waiting`` is an audience, or a waiter that still names it
    foreign   ``waiting`` is the host's: it waits for something outside the kernel
    ready     anything else; then it stands in the ready queue exactly once

``stepper`` is what the kernel sends None to, to step it. Usually it is the coroutine itself, so that a step costs one
call. While a cancellation, or the value of a notification, is to be delivered it is the strand instead; when the strand
is done it is ``_GONE``, or ``_FAILED`` if it raised. That is how the main loop stays free of checks for states that are
rare. Rejected: the bound ``send`` of the coroutine, an object of 72 bytes for each strand.

Hosts derive from it. What they replace is small: ``ordinary_stepper``, ``send``, ``notice``, ``throw`` and
``close_coro`` (how the coroutine is entered), ``interrupt``, ``enter_scope`` and ``leave_scope`` (what a cancellation
means for their own awaits), ``ended``.

A strand that does not end by itself is killed. It gets an error at the await in which it stands, so that its
``finally`` blocks run; if it awaits again after that, it is closed; and if it refuses that too, it is abandoned where
it stands. An abandoned coroutine is kept for ever, by a reference that nobody gives back: the garbage collector would
try to close it once more at a random moment, and the interpreter at its end, when whatever it awaits raises at once; in
a loop that swallows everything the process would never end. (A list of them, which this was, is emptied at that end.)

Cancellation is structured: by scopes, with a reason, a deadline and a shield. Rules:

* A scope belongs to the strand that entered it; scopes nest; the strand itself is the outermost scope
  (``strand.stop``).
* Cancelling is a level, not an edge: once a scope is cancelled, every wait on the kernel inside it raises, until the
  scope is left. A ``finally`` block that has to wait opens a shielded scope.
* A scope that was cancelled swallows the cancellation when it is left, unless a scope around it was cancelled too. (A
  shielded one does even then, because what was raised in it can only be its own; the next wait raises the other.)
* What is raised is the host's own cancellation exception, so that ``asyncio.TaskGroup`` or a trio nursery inside an
  action behaves as it does anywhere. On the plain host it is ``Cancelled``.
* For awaits that belong to the host it is a level, too: who swallowed a cancellation gets it again at the next one.
  Clean-up follows the host's convention: under asyncio a ``finally`` block may await the event loop while the
  cancellation is on its way out, under trio it may not, without a shield.

Rejected: raising our own exception everywhere (task groups of the hosts wrap it into exception groups), and matching a
cancellation to its scope by identity (a host's exception carries no room for it; the nesting decides without).

Strays are strands that nobody waits for, but that must have ended before all is over: the world's own coroutines, and
thinking that was stopped and still cleans up after itself. They are kept in the order in which they came, so that
whoever closes the world can tell them to end and wait until they have.

Children are strands that belong to another one, their parent: the waits that it waits for together (``fork``), the
tasks of an event loop that it made. What they do is done by the parent's owner, who finds himself by ``Strand.root``,
and they have ended before the parent does. A parent that is killed cannot wait for them any more: they become strays.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Final, Protocol, final

from agentrt.errors import LivelockError, NotRunningError, RunFault, WrongStateError
from agentrt.kernel.traps import KEEP, Audience, Notice, Waiter, at_once, current_kernel, running, suspend_on
from agentrt.words import error_words, type_name, words_of

if TYPE_CHECKING:
    from agentrt.kernel.traps import Due, Entry, Scheduler, Stepper


class Insist(BaseException):
    """What is raised in a step that swallowed the error which was to end it. The kernel tells that error instead."""

    def __init__(self, error: LivelockError) -> None:
        self.error: LivelockError = error
        super().__init__(str(error))


def meant(error: BaseException) -> BaseException:
    """The error that is to be told, for one that was raised.

    Whoever closes the books on what was stepped asks here first. An error may have a ``__class__`` or a
    ``__getattribute__`` that raises: then every ``isinstance`` breaks, and every look at its traceback, in the middle
    of the books. It is told of by another one.
    """
    try:
        error.__traceback__  # noqa: B018 - whether it can be read
        return error.error if isinstance(error, Insist) else error
    except BaseException as problem:
        return RunFault(f"an error of type {type_name(error)} was raised that cannot be read ({type_name(problem)})")


def waiting_state(entry: Entry, kernel: Scheduler) -> str:
    """The state of an entry that has not ended and is not being stepped; see ``Strand.state``."""
    waiting = entry.waiting
    if isinstance(waiting, int):
        return "sleeping" if waiting > kernel.clock.tick else "ready"
    if isinstance(waiting, Waiter):
        return "parked" if waiting.strand is entry else "ready"
    if isinstance(waiting, Audience):
        return "parked"
    return "ready" if isinstance(waiting, Notice) else "foreign"


def livelocked(strand: Strand, steps: int | None = None) -> LivelockError:
    """The error for a strand that does not let time pass; by default it took as many steps as the kernel allows."""
    kernel = strand.kernel
    steps = kernel.livelock_steps if steps is None else steps
    return LivelockError(steps, path=f"{strand.name} ({strand.where()})", tick=kernel.clock.tick)


def kill(strand: Strand, error: BaseException) -> object:
    """End a strand that does not end by itself, with an error for its await (see the module's text).

    What it returns is the command that leaves the books as they are, for steppers that kill themselves.
    """
    kernel = strand.kernel
    coro = strand.coro
    if coro is None or strand.condemn(error):
        return KEEP
    strand.detach()  # first: a finally block of its own may notify what it waits for
    outer_kernel, running.kernel = running.kernel, kernel
    if kernel.current is not None and kernel.current.coro is not None:
        kernel.current.strand()  # now: while another one is current, nobody could tell that this one is being stepped
    outer, kernel.current = kernel.current, strand  # its finally blocks may ask whose they are
    try:
        strand.throw(error)
        strand.close_coro()
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
    """Whether a coroutine, of whatever kind, has not ended."""
    return getattr(coro, "cr_frame", None) is not None or getattr(coro, "gi_frame", None) is not None


def frames_of(coro: object) -> Iterator[FrameType]:
    """The frames of a suspended coroutine and of what it awaits, the outermost first."""
    while coro is not None:
        frame: FrameType | None = getattr(coro, "cr_frame", None) or getattr(coro, "gi_frame", None)
        if frame is None:
            return
        yield frame
        coro = getattr(coro, "cr_await", None) or getattr(coro, "gi_yieldfrom", None)


def abandon(kernel: Scheduler, coro: Coroutine[Any, Any, Any]) -> None:
    """Keep a coroutine that refuses to be closed, for as long as the process lives."""
    import ctypes  # here: hardly any program ever needs it

    kernel.abandoned.append(coro)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(coro))


@final
class Cancelled(BaseException):
    """What a cancelled wait raises on the plain host. Not an error: let it pass."""

    def __init__(self, reason: str) -> None:
        self.reason: Final = reason  # why, in words
        super().__init__(reason)


_EXPIRED = "deadline passed"


class CancelScope:
    """A stretch of a strand that can be cancelled as one. Use it with ``with``, once.

    Args:
        seconds: game seconds after which it cancels itself; None or infinity for never.
        shield: whether cancellation from outside is kept away from what is inside.
        reason: what to say when the deadline comes.
    """

    __slots__ = (
        "_deadline", "_seconds", "around", "cancel_called", "cancelled_caught", "expired", "host_scope", "reason",
        "shield", "strand",
    )  # fmt: skip

    def __init__(self, seconds: float | None = None, *, shield: bool = False, reason: str = _EXPIRED) -> None:
        self._seconds = seconds
        self._deadline: Due | None = None
        self.shield: Final = shield
        self.reason: str = reason if reason is _EXPIRED else words_of(reason)  # why it was, or will be, cancelled
        self.cancel_called: bool = False  # whether it was cancelled
        self.cancelled_caught: bool = False  # whether leaving it swallowed that cancellation
        self.expired: bool = False  # whether it was its deadline that cancelled it
        self.around: CancelScope | str | None = None  # what was ``within`` of the strand when it was entered
        self.strand: Strand | None = None
        self.host_scope: Any = None

    @property
    def outer(self) -> CancelScope | None:
        """The scope around it; None if it is the outermost."""
        around = self.around
        return around if isinstance(around, CancelScope) else None

    def __enter__(self) -> CancelScope:
        strand = current_strand()
        if self.strand is not None:
            raise WrongStateError("CancelScope.__enter__", "it is or was entered", "Make a new scope for each 'with'.")
        kernel = strand.kernel
        seconds = self._seconds
        # Before anything is changed: a duration that is not a number raises.
        ticks = None if seconds is None or seconds == math.inf else kernel.clock.ticks(seconds)
        self.strand = strand
        self.around = strand.within
        strand.within = self
        strand.enter_scope(self)
        if ticks is not None:
            self._deadline = kernel.call_later(ticks, self._expire)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        strand = self.strand
        assert strand is not None
        if strand.within is not self:
            raise RuntimeError("cancel scopes must be left in the reverse order of being entered, by the same strand")
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        strand.within = self.around
        self.cancelled_caught = strand.leave_scope(self, error)
        return self.cancelled_caught

    @property
    def has_deadline(self) -> bool:
        """Whether it will be cancelled by itself, unless it is left before."""
        return self._deadline is not None

    def _expire(self) -> None:
        self.expired = not self.cancel_called
        self.cancel(self.reason)

    def cancel(self, reason: str = "cancelled") -> None:
        """Cancel what runs inside; a second call does nothing.

        Args:
            reason: why, in words.
        """
        if self.cancel_called:
            return
        self.cancel_called = True
        self.reason = words_of(reason)
        if self.strand is not None and not self.strand.is_done:
            self.strand.scope_cancelled(self)

    def __repr__(self) -> str:
        state = f"cancelled: {self.reason}" if self.cancel_called else "open"
        return f"<CancelScope: {state}{', shielded' if self.shield else ''}>"


class StrandOwner(Protocol):
    """Who wants to know when a strand ends."""

    def on_strand_end(self, strand: Strand, result: Any, error: BaseException | None) -> None:
        """The strand ended; the error of one that was cancelled is the host's cancellation."""


class Strand:
    """A coroutine with its state. Made by ``Kernel.spawn``."""

    __slots__ = (
        "_outcome", "coro", "kernel", "name", "owner", "stepper", "waiting", "within",
    )  # fmt: skip

    def __init__(self, kernel: Scheduler, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None) -> None:
        self.kernel: Scheduler = kernel  # who drives it
        self.coro: Coroutine[Any, Any, Any] | None = coro  # the coroutine; None once it is done
        self.name: str = name  # for people; strands may share one
        self.owner: StrandOwner | None = owner  # told when it ends; None for nobody
        self.stepper: Stepper = coro  # how it goes on (see the module's text)
        self.waiting: object = 0  # what it waits for (see the module's text)
        # what may cancel it: the innermost open scope, and around the outermost one the reason why it was told to stop;
        # None where there is neither
        self.within: CancelScope | str | None = None
        # what is called when it ends, a list, if anything is; once it is done what the coroutine returned, or raised.
        # In one place: most strands are thinks that wait, and have neither
        self._outcome: Any = None

    # --- what it is doing ---------------------------------------------------------------------------------------------

    @property
    def is_done(self) -> bool:
        return self.coro is None

    @property
    def value(self) -> Any:
        """What the coroutine returned; None while it is not done."""
        return self._outcome if self.stepper is _GONE else None

    @property
    def error(self) -> BaseException | None:
        """What the coroutine raised; None if it did not, or is not done."""
        return self._outcome if self.stepper is _FAILED else None

    @property
    def state(self) -> str:
        """Its state in one word: done, running, sleeping, parked, foreign or ready."""
        if self.coro is None:
            return "done"
        if self.kernel.current is self:
            return "running"
        return waiting_state(self, self.kernel)

    def strand(self) -> Strand:
        """Itself: as an entry of the ready queue it stands for its own code."""
        return self

    def where(self) -> str:
        """The file and line at which its author's code is suspended, or an empty string."""
        frame = None
        for inner in frames_of(self.coro):
            if frame is None or not inner.f_globals.get("__name__", "").startswith("agentrt."):
                frame = inner
        return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"

    async def join(self) -> Any:
        """Wait until it ends. Returns or raises what its coroutine did; None if it was cancelled."""
        if self.coro is None:
            await at_once()
        else:
            if self.kernel.current is self:
                await at_once()
                raise WrongStateError("Strand.join", "the strand itself runs", "Join it from another one.")
            waiter = Waiter()
            self.when_ended(waiter.notify)
            try:
                await suspend_on(waiter)
            except BaseException:
                if not self.is_done:
                    self._outcome.remove(waiter.notify)
                raise
        error = self.error
        if error is not None and not isinstance(error, self.kernel.host.cancelled_type):
            raise error
        return self.value

    def when_ended(self, then: Callable[[], object]) -> None:
        """Call a plain function, which does not raise, when it has ended, which it has not yet."""
        if self._outcome is None:
            self._outcome = []
        self._outcome.append(then)

    @property
    def root(self) -> Strand:
        """The strand that it belongs to, by however many between them; itself if it belongs to none."""
        strand = self
        while isinstance(strand.owner, Children):
            strand = strand.owner.parent
        return strand

    # --- cancellation -------------------------------------------------------------------------------------------------

    @property
    def scope(self) -> CancelScope | None:
        """The innermost open cancel scope."""
        within = self.within
        return within if isinstance(within, CancelScope) else None

    @property
    def stop_reason(self) -> str | None:
        """Why it was told to stop; None if it was not."""
        within = self.within
        while isinstance(within, CancelScope):
            within = within.around
        return within

    @property
    def is_shielded(self) -> bool:
        """Whether a shield keeps cancellation from outside away from it: its own, or one around what it belongs to."""
        strand = self
        while True:
            scope = strand.scope
            while scope is not None:
                if scope.shield:
                    return True
                scope = scope.outer
            if strand.stop_reason is not None or not isinstance(strand.owner, Children):
                return False
            strand = strand.owner.parent

    def stop(self, reason: str = "stopped") -> None:
        """Cancel the whole strand; it runs its ``finally`` blocks when its turn comes. A second call does nothing."""
        if self.coro is not None and (self.within is None or self.stop_reason is None):
            scope = self.scope
            if scope is None:
                self.within = reason
            else:
                while scope.outer is not None:
                    scope = scope.outer
                scope.around = reason
            if self.pending() is not None:  # else it is shielded, and finds out when it leaves the shield
                self.interrupt()

    def pending(self) -> str | None:
        """The reason of the cancellation that its next wait will raise, or None."""
        within = self.within
        while isinstance(within, CancelScope):
            if within.cancel_called:
                return within.reason
            if within.shield:
                return None
            within = within.around
        return within

    def enter_scope(self, scope: CancelScope) -> None:
        """The strand entered a scope that may already be cancelled; hosts add their own."""
        if scope.cancel_called:
            self.interrupt()

    def leave_scope(self, scope: CancelScope, error: BaseException | None) -> bool:
        """It leaves a scope, and ``self.within`` is the one around it already; says whether that swallows the error."""
        outer = self.pending()
        if outer is not None:
            # A cancellation from outside was kept away by a shield, or is on its way: the next wait raises it.
            self.interrupt()
            if not scope.shield:
                return False
        return scope.cancel_called and isinstance(error, self.kernel.host.cancelled_type)

    def scope_cancelled(self, scope: CancelScope) -> None:
        """One of its open scopes was cancelled."""
        if self.pending() is not None:
            self.interrupt()

    def interrupt(self) -> None:
        """Have the pending cancellation delivered at the wait in which the strand is, or at its next one."""
        if self.coro is None:
            return
        self.stepper = self
        kernel = self.kernel
        if kernel.current is self:
            # It runs at this moment and will have suspended (or ended) when the queue comes to this entry.
            kernel.call_soon(self._interrupt_suspended)
        elif self.detach():
            kernel.ready.append(self)

    def detach(self) -> bool:
        """Take it out of the books of what it waits for on the kernel; says whether it was in them.

        Then it stands nowhere now, and whoever called makes it ready or ends it.
        """
        waiting = self.waiting
        if isinstance(waiting, int):
            return self.kernel.agenda.leave(self, self.kernel.clock.tick, self.kernel.live)
        if isinstance(waiting, Waiter) and waiting.strand is self:
            waiting.strand = None
            self.waiting = 0
            return True
        if isinstance(waiting, Audience):
            self.waiting = 0
            waiting.give_up(self)
            return True
        return False

    def _interrupt_suspended(self) -> None:
        if self.coro is not None and self.stepper is self:
            if self.pending() is not None:
                self.interrupt()
            elif not isinstance(self.waiting, Notice):
                self.stepper = self.ordinary_stepper()

    def send(self, _value: None, /) -> object:
        """Step the strand while a cancellation, or what it was notified with, is to be delivered."""
        coro = self.coro
        assert coro is not None
        value = None
        notice = self.waiting
        if isinstance(notice, Notice):  # what ``take_notice`` does
            value = notice.value
            self.waiting = 0
        reason = None if self.within is None else self.pending()
        if reason is None:
            self.stepper = coro
            return coro.send(value)
        host = self.kernel.host
        # Each wait that is reached while it is cancelled raises in this very step. Who swallows that in a loop never
        # suspends again, and is killed.
        for _ in range(self.kernel.livelock_steps):
            command: object = coro.throw(host.cancelled(reason))
            reason = self.pending()
            if reason is None:
                # It left the scope, or waits behind a shield.
                self.stepper = coro
                return command
        return kill(self, livelocked(self))

    # --- how the coroutine is entered ---------------------------------------------------------------------------------

    def ordinary_stepper(self) -> Stepper:
        """What ``stepper`` is while nothing but None is to be sent, and nothing raised, in it."""
        assert self.coro is not None
        return self.coro

    def notice(self, notice: Notice) -> None:
        """The audience in which it waits was notified with a value: its next step delivers it."""
        self.waiting = notice
        self.stepper = self

    def take_notice(self) -> Any:
        """The value that its next step delivers, which is then forgotten; None if there is none."""
        notice = self.waiting
        if isinstance(notice, Notice):
            self.waiting = 0
            return notice.value
        return None

    def throw(self, error: BaseException) -> object:
        """Raise an error at the await in which it is."""
        assert self.coro is not None
        command: object = self.coro.throw(error)
        return command

    # Not "close": with that and ``__await__`` it would be a coroutine to Python's ``Coroutine``, and no task.
    def close_coro(self) -> None:
        """Close its coroutine: ``GeneratorExit`` is raised at the await in which it is."""
        if self.coro is not None:
            self.coro.close()

    # --- the end ------------------------------------------------------------------------------------------------------

    def condemn(self, error: BaseException) -> bool:
        """It is to be killed. A host whose strands cannot be killed from outside has it end itself."""
        return False

    def ended(self, result: Any, error: BaseException | None) -> None:
        """Close the books on it. Called by the kernel once."""
        told = self._outcome
        self.coro = None
        self.waiting = 0
        if self.within is not None:
            self.within = self.stop_reason
        if error is None:
            self.stepper = _GONE
            self._outcome = result
        else:
            self.stepper = _FAILED
            self._outcome = error
        if told is not None:
            for then in told:
                then()

    def __repr__(self) -> str:
        state = self.state
        if state == "sleeping":
            state = f"sleeping until tick {self.waiting}"
        if state == "done" and self.error is not None:
            state = f"done: {error_words(self.error)}"
        stop = f", told to stop: {self.stop_reason}" if self.stop_reason is not None and self.coro is not None else ""
        return f"<Strand {self.name!r}: {state}{stop}>"


class _Gone:
    """The stepper of a strand that has ended. Its entry may still stand in the ready queue: it was interrupted."""

    __slots__ = ()

    def send(self, _value: None, /) -> object:
        return KEEP


_GONE = _Gone()
_FAILED = _Gone()  # of one that raised


class Strays:
    """Owner of strands that nobody else owns. What one of them raises is reported."""

    __slots__ = ("_report", "strands")

    def __init__(self, report: Callable[[str, BaseException], None]) -> None:
        self.strands: dict[Strand, None] = {}  # in the order in which they came
        self._report = report

    def take(self, strand: Strand) -> None:
        strand.owner = self
        self.strands[strand] = None

    def on_strand_end(self, strand: Strand, result: Any, error: BaseException | None) -> None:
        self.strands.pop(strand, None)
        if error is not None and not isinstance(error, strand.kernel.host.cancelled_type):
            self._report(f"the strand {strand.name!r} raised", error)

    def __repr__(self) -> str:
        return f"<Strays: {', '.join(strand.name for strand in self.strands) or 'none'}>"


class Children:
    """Strands that belong to another one, and end before it does; their owner."""

    __slots__ = ("_waiter", "parent", "strands")

    def __init__(self, parent: Strand) -> None:
        self.parent: Strand = parent
        self.strands: dict[Strand, None] = {}  # those that have not ended, in the order in which they came
        self._waiter = Waiter()  # of the parent, until all have ended

    def take(self, strand: Strand) -> None:
        """Own a strand from now on."""
        strand.owner = self
        self.parent.kernel.families[self] = None
        self.strands[strand] = None

    def on_strand_end(self, strand: Strand, result: object, error: BaseException | None) -> None:
        """One of them ended."""
        del self.strands[strand]
        if not self.strands:
            del self.parent.kernel.families[self]
            self._waiter.notify()

    def release(self, strand: Strand) -> None:
        """Be the owner of one no more: it is a stray, which is stopped when the runtime is closed."""
        del self.strands[strand]
        if not self.strands:
            self.parent.kernel.families.pop(self, None)
        strays = self.parent.kernel.strays
        assert isinstance(strays, Strays)
        strays.take(strand)

    def stop(self, reason: str) -> None:
        """Cancel all."""
        for strand in tuple(self.strands):
            strand.stop(reason)

    async def ended(self) -> None:
        """Wait until all have ended."""
        if self.strands:
            self._waiter = Waiter()
            await suspend_on(self._waiter)

    async def end(self, reason: str) -> None:
        """Cancel all, and wait until they have ended, whatever is raised meanwhile; that is raised then."""
        self.stop(reason)
        try:
            await outlast(lambda: not self.strands, self.ended)
        finally:
            self.let_go()  # if there are any, the parent is being closed

    def let_go(self) -> None:
        """Be the owner of none of them any more."""
        for strand in tuple(self.strands):
            self.release(strand)


def move_on_after(seconds: float) -> CancelScope:
    """A scope that is cancelled after so many game seconds, and then goes on behind its block."""
    return CancelScope(seconds)


class fail_after(CancelScope):  # noqa: N801 - the field's name for it, as in trio and anyio
    """A scope that is cancelled after so many game seconds, and then raises ``TimeoutError``.

    Cancelled by hand, it raises nothing.
    """

    __slots__ = ()

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        caught = super().__exit__(kind, error, trace)
        if caught and self.expired:
            raise TimeoutError(f"not done within {self._seconds} game seconds") from error
        return caught


async def outlast(is_over: Callable[[], bool], wait: Callable[[], Awaitable[object]]) -> None:
    """Wait behind a shield until something is over that must not be left half done, whatever is raised meanwhile.

    A shield alone is not enough: asyncio's own cancellation (``asyncio.timeout``, ``Task.cancel``) is an edge that
    knows none. What was raised last is raised again at the end.
    """
    raised: BaseException | None = None
    with CancelScope(shield=True):
        while not is_over():
            try:
                await wait()
            except GeneratorExit:
                raise  # nobody steps this coroutine any more
            except BaseException as error:
                raised = error
    if raised is not None:
        raise raised


async def after(other: Strand, then: Callable[[], Coroutine[Any, Any, Any] | None]) -> None:
    """Wait until a strand has ended; then do what is asked for at that moment."""
    if not other.is_done:
        waiter = Waiter()
        other.when_ended(waiter.notify)
        await suspend_on(waiter)
    coro = then()
    if coro is not None:
        await coro


def current_strand() -> Strand:
    """The strand that is stepped on this thread at the moment; ``NotRunningError`` if there is none."""
    entry = current_kernel().current
    strand = None if entry is None else entry.strand()
    if not isinstance(strand, Strand):
        raise NotRunningError("this works only inside a coroutine that a runtime steps, not in a plain callback of it.")
    return strand
