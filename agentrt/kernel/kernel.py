"""The kernel: one object owns time and order.

Total order: (tick, phase, arrival). A tick has five phases: intake (what was posted since the last tick, in order of
arrival), time (the clock moves on, what is due becomes ready), drivers (functions called once a tick, in the order they
were added), strands (the ready queue is drained until nothing is runnable), publish.

Rules:

* A strand stands in the ready queue at most once; waking it means appending it, never stepping it on the waker's stack.
* ``drain`` is the only place that steps a strand, and it is not re-entered.
* Nothing here knows wall time, threads, sockets, loggers or an event loop. A *host* stands between the kernel and the
  event loop, if there is one: it makes the strands and deals with what they await that is not the kernel's.
* A strand that fails takes nobody with it: its owner is told, or the failure is reported.

The main loop is written for speed (see benchmarks: ``wake``): it runs in chunks; only a tick that has become
suspiciously long counts steps, to find a livelock. Rejected: a heap of (tick, seq) entries (a wake then costs a
comparison of tuples for each level of the heap).
"""

from __future__ import annotations

import heapq
import sys
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from agentrt.errors import ENDS_PROGRAM, WrongStateError
from agentrt.kernel.agenda import Agenda, Call, Caller, ControlFlow, Hooks, Timer, name_of, raise_fault
from agentrt.kernel.clock import Clock
from agentrt.kernel.generators import Generators
from agentrt.kernel.livelock import FREE_WAITS, IdleWaits, LivelockGuard, patience
from agentrt.kernel.plain import PlainHost
from agentrt.kernel.rng import Stream, derive_seed
from agentrt.kernel.strand import Strand, StrandOwner, Strays, meant
from agentrt.kernel.trace import TraceHub
from agentrt.kernel.traps import GIVE_WAY, KEEP, Audience, GiveWay, Waiter, running, this_thread

if TYPE_CHECKING:
    from agentrt.kernel.roles import Entry

__all__ = ["Host", "Kernel"]

_CHUNK = 256


class Host(Protocol):
    """What stands between the kernel and an event loop."""

    name: str  # plain, asyncio or trio
    steps_inline: bool  # whether a coroutine may make its first step before it has a strand
    foreign_waits: int  # how often a strand waited for something of the event loop, which no journal can repeat
    cancelled_type: type[BaseException]  # the exception that a cancelled wait raises

    def strand(self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None) -> Strand:
        """Make a strand for a coroutine."""
        ...

    def cancelled(self, reason: str) -> BaseException:
        """A fresh exception for one cancelled wait."""
        ...

    def foreign(self, strand: Strand, command: object) -> None:
        """A strand yielded something that is not the kernel's: wait for it, or make it fail."""

    def translate(self, error: BaseException) -> BaseException:
        """The error to report for what a strand raised, often the same."""
        ...

    def enter(self) -> None:
        """The kernel begins to step strands, synchronously."""

    def leave(self) -> None:
        """The kernel has stepped them."""

    async def run_tick(self, kernel: Kernel, budget: float | None = None) -> None:
        """Run one whole tick; the event loop gets a turn whenever a budget of real seconds is used up."""

    async def rest(self, kernel: Kernel, seconds: float) -> None:
        """Let real time pass between two ticks, and the event loop work."""

    async def drained(self, kernel: Kernel, strands: Iterable[Strand], seconds: float) -> bool:
        """Wait until strands that wait outside the kernel have ended, without ticking; says whether all have."""
        ...


class Kernel:
    """The deterministic scheduler.

    Args:
        seed: of every random stream of the run.
        ticks_per_second: how many ticks make one game second.
        host: what strands may await besides the kernel's own traps; by default nothing.
    """

    def __init__(self, seed: int | str = 0, ticks_per_second: int = 20, host: Host | None = None) -> None:
        if host is None:
            host = PlainHost()
        self.clock: Clock = Clock(ticks_per_second)  # what time it is
        self.seed = seed
        self.host: Host = host
        self.agenda: Agenda = Agenda()  # who sleeps until when
        self.ready: deque[Entry] = deque()  # who is to be stepped in this tick, in order
        self.current: Entry | None = None  # what is being stepped; None between steps
        self.live: int = 0  # how many strands there are that have not ended
        self.livelock_steps = 1000  # how many steps a strand may take in one tick
        # called with a text and the error for a failure that nobody else handles. By default it raises
        self.on_fault: Callable[[str, BaseException], None] = raise_fault
        self.trace: TraceHub = TraceHub(self.report)  # the hub of trace records
        self.strays: Strays = Strays(self.report)  # strands that nobody waits for
        # async generators that were begun in its strands
        self.generators: Generators = Generators(self.post, self.spawn_stray)
        self.draining: bool = False
        self.in_tick: bool = False
        # what was posted, in order of arrival: functions and their arguments
        self.inbox: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self.taking: int = 0  # the place in the intake, from 0, of what is being taken
        # whose plain hook is being called, the innermost; None while it is nobody's. Whoever calls one sets
        # it
        self.acting: object = None
        self.thread: int = 0  # which thread steps it; 0 before the first tick
        # what the code that was stepped could not have, for whoever knows how to wait for it; see ``leases``
        self.refused: object = None
        # the plain function that is called for a tick: what was posted, a hook, a driver; None for none
        self.calling: object = None
        self._caller = Caller(self)
        self._drivers: Hooks = Hooks()
        self._drive: Callable[[], object] | None = None
        self._publishers: Hooks = Hooks()
        # coroutines that refused to be closed; see ``strand.abandon``
        self.abandoned: list[Coroutine[Any, Any, Any]] = []
        self.free_waits: int = FREE_WAITS  # how many waits may still end at once in this tick without being counted
        self.idle_waits: IdleWaits = IdleWaits(self)  # counts them from then on
        self._calm = 0  # how many steps the tick may still take before they are counted
        self._guard: LivelockGuard | None = None  # counts them from then on

    @property
    def tick(self) -> int:
        """The number of the tick that runs, or of the last one that ran."""
        return self.clock.tick

    def stream(self, name: str) -> Stream:
        """A random stream of its own for a name; the same name gives the same numbers again."""
        return Stream(derive_seed(self.seed, name))

    # --- what can be asked for ----------------------------------------------------------------------------------------

    def spawn(self, coro: Coroutine[Any, Any, Any], name: str = "strand", owner: StrandOwner | None = None) -> Strand:
        """Start a coroutine as a strand; its first step comes when the ready queue comes to it.

        Args:
            owner: told when it ends; without one, an error in it is reported as a fault.
        """
        strand = self.host.strand(self, coro, name, owner)
        self.live += 1
        self.ready.append(strand)
        return strand

    def spawn_stray(self, coro: Coroutine[Any, Any, Any], name: str) -> None:
        """Start a coroutine that nobody waits for, but that must have ended before all is over."""
        self.strays.take(self.spawn(coro, name))

    def call_soon(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function when the ready queue comes to it, in this tick."""
        self.ready.append(Call(self._caller, fn, args))

    def call_later(self, ticks: int, fn: Callable[..., object], *args: Any) -> Timer:
        """Call a function in a later tick.

        Args:
            ticks: how many ticks from now; 0 for this one.
        """
        timer = Timer(self._caller, fn, args)
        if ticks <= 0:
            self.ready.append(timer)
        else:
            self.agenda.add(self.clock.tick + ticks, timer)
        return timer

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function at the next intake. Safe from any thread."""
        self.inbox.append((fn, args))

    @property
    def is_here(self) -> bool:
        """Whether the calling thread is the one that steps it, within a tick or between two."""
        return running.kernel is self or self.thread in (0, this_thread())

    @property
    def is_stepping(self) -> bool:
        """Whether it steps something on the calling thread at this moment, so that ``call_soon`` is for this tick."""
        return running.kernel is self and (self.in_tick or self.draining)

    def every_tick(self, fn: Callable[[], object]) -> Callable[[], None]:
        """Call a function once in every tick, before the strands.

        Returns:
            A function that ends it; calling it twice does nothing.
        """
        return self._drivers.add(fn)

    def drive(self, fn: Callable[[], object]) -> None:
        """Have a function drive the agents: it is called in every tick after those of ``every_tick``.

        Args:
            fn: a plain function; there is one.
        """
        self._drive = fn

    def after_tick(self, fn: Callable[[], object]) -> Callable[[], None]:
        """Call a function at the end of every tick, when nothing more is runnable.

        Args:
            fn: a plain function; it must not change the run.

        Returns:
            A function that ends it; calling it twice does nothing.
        """
        return self._publishers.add(fn)

    def report(self, text: str, error: BaseException) -> None:
        """Report a failure that nobody else handles.

        Args:
            error: what it raised. Control flow is none: it goes on to whom it is meant for.
        """
        error = meant(error)
        if isinstance(error, ControlFlow):
            error.send_on()
        else:
            self.on_fault(text, error)

    # --- a tick -------------------------------------------------------------------------------------------------------

    def step_tick(self) -> None:
        """Run one whole tick. For hosts that can be driven synchronously.

        Raises:
            WrongStateError: called from inside a tick.
            NotRunningError: the host is not driven like this, or its event loop does not run.
        """
        self.require_between_ticks("Kernel.step_tick")
        self.host.enter()
        try:
            self.begin_tick()
            self.drain()
            self.end_tick()
        finally:
            self.in_tick = False
            self.host.leave()

    def require_between_ticks(self, method: str) -> None:
        """Raise ``WrongStateError`` if a tick runs."""
        if self.in_tick or self.draining:
            raise WrongStateError(method, "a tick runs", "Call it from outside, where nothing is stepped.")

    def begin_tick(self) -> None:
        """The phases before the strands: intake, time, drivers."""
        self.in_tick = True
        self.thread = this_thread()
        self.clock.tick += 1
        outer, running.kernel = running.kernel, self
        try:
            for self.taking in range(len(self.inbox)):  # noqa: B020 - the range was made before
                fn, args = self.inbox.popleft()
                self.guarded(fn, args)
            self.agenda.take_due(self.clock.tick, self.ready)
            self._drivers.call(self)
            if self._drive is not None:
                self.guarded(self._drive)
            self._calm, self._guard = patience(self), None
            self.idle_waits.begin()
        finally:
            running.kernel = outer

    def end_tick(self) -> None:
        """The phase after the strands: publish."""
        self.in_tick = False
        self._publishers.call(self)

    def guarded(self, fn: Callable[..., object], args: tuple[Any, ...] = ()) -> None:
        """Call a function; what it raises is reported."""
        outer, self.calling = self.calling, fn
        try:
            fn(*args)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.report(f"a function of the tick raised: {name_of(fn)}", error)
        finally:
            self.calling = outer

    def drain(self, expired: Callable[[], bool] | None = None) -> bool:  # noqa: C901 - one frame, for speed
        """Step strands until nothing is runnable.

        Args:
            expired: asked now and then; when it says True the rest waits for the next call.
        """
        ready = self.ready
        popleft = ready.popleft
        buckets = self.agenda.buckets
        tick = self.clock.tick
        last_due = -1
        bucket: list[Entry] = []
        if self.in_tick:
            calm, guard = self._calm, self._guard  # a tick may be drained in slices
        else:
            calm, guard = patience(self), None
            self.idle_waits.begin()
        outer, running.kernel = running.kernel, self
        outer_hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(*self.generators.hooks)
        self.draining = True
        try:
            while ready:
                chunk = len(ready)
                if guard is not None:
                    chunk = guard.admit()
                elif chunk > _CHUNK:
                    chunk = _CHUNK
                for _ in range(chunk):
                    self.current = entry = popleft()
                    try:
                        command = entry.stepper.send(None)
                    except StopIteration as stop:
                        self.end(entry, stop.value, None)
                    except BaseException as error:
                        self.end(entry, None, error)
                    else:
                        kind = command.__class__
                        if kind is int:
                            due: int = tick + command  # type: ignore[operator]
                            if due != last_due:
                                known = buckets.get(due)
                                if known is None:
                                    known = buckets[due] = []
                                    heapq.heappush(self.agenda.heap, due)
                                bucket = known
                                last_due = due
                            bucket.append(entry)
                            entry.waiting = due
                        elif kind is Audience:
                            command.strands.append(entry)  # type: ignore[attr-defined]
                            entry.waiting = command
                        elif kind is Waiter:
                            command.strand = entry  # type: ignore[attr-defined]
                            entry.waiting = command
                        elif command is not KEEP:
                            self._rare_command(entry, command)
                calm -= chunk
                if calm < 0 and guard is None:
                    guard = LivelockGuard(self)
                if expired is not None and expired():
                    return not ready
            return True
        finally:
            self.current = None
            self.draining = False
            self._calm, self._guard = calm, guard
            running.kernel = outer
            sys.set_asyncgen_hooks(*outer_hooks)

    def _rare_command(self, entry: Entry, command: object) -> None:
        if command is GIVE_WAY:
            self.idle_waits.give_way(entry)  # type: ignore[arg-type]
        else:
            self.host.foreign(entry, command)  # type: ignore[arg-type]

    def park_entry(self, entry: Entry, command: object) -> None:
        """Enter into the books what an entry waits for. ``drain`` does the same without the call.

        Args:
            command: what it yielded, for the kernel.
        """
        if isinstance(command, int):
            self.agenda.add(self.clock.tick + command, entry)
        elif isinstance(command, Audience):
            command.strands.append(entry)  # type: ignore[arg-type]
            entry.waiting = command
        elif isinstance(command, Waiter):
            command.strand = entry  # type: ignore[assignment]
            entry.waiting = command
        elif command is GIVE_WAY:
            self.idle_waits.give_way(entry)  # type: ignore[arg-type]

    def park_command(self, strand: Strand, command: object) -> None:
        """Do what a strand yielded, whatever it is."""
        if isinstance(command, (int, Audience, Waiter, GiveWay)):
            self.park_entry(strand, command)
        elif command is not KEEP:
            self.host.foreign(strand, command)

    # --- the end of a strand ------------------------------------------------------------------------------------------

    def end(self, strand: Entry, result: Any, error: BaseException | None) -> None:
        """Close the books on a strand whose coroutine has ended. Hosts that step strands themselves call it."""
        if not isinstance(strand, Strand) or strand.coro is None:
            assert error is not None
            raise error  # what ``on_fault`` raised, from inside a call or while a strand was killed
        self.live -= 1
        cancelled = False
        if error is not None:
            error = meant(error)
            cancelled = isinstance(error, self.host.cancelled_type)
            if cancelled:
                # Its frames would hold on to everything they name, and to the strand: a cycle each time.
                error.__traceback__ = None
            else:
                error = self.host.translate(error)
        strand.ended(result, error)
        owner = strand.owner
        if owner is not None:
            strand.owner = None  # a strand that was stopped in its sleep lies in the agenda until the tick comes
            try:
                owner.on_strand_end(strand, result, error)
            except ENDS_PROGRAM:
                raise
            except BaseException as fault:
                self.report(f"the owner of {strand.name!r} raised when it ended", fault)
        if error is None or cancelled:
            return
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise error
        if owner is None:
            self.report(f"the strand {strand.name!r} raised", error)

    def __repr__(self) -> str:
        return f"<Kernel: tick {self.clock.tick}, {self.live} strands, {len(self.ready)} ready, {self.host.name} host>"
