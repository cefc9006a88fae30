"""The kernel: one object owns time and order.

Total order: (tick, phase, arrival). A tick has five phases: intake (what was posted since the last tick, in order of
arrival), time (the clock moves on, what is due becomes ready), drivers (functions called once a tick, in the order they
were added), strands (the ready queue is drained until nothing is runnable), publish.

Rules:

* A strand stands in the ready queue at most once; waking it means appending it, never stepping it on the waker's stack.
* ``drain`` is the only place that steps a strand, and it is not re-entered.
* Nothing here knows wall time, threads, sockets, loggers or an event loop. A *host* (``PlainHost``, or what derives
  from it) stands between the kernel and the event loop, if there is one: it makes the strands and deals with what they
  await that is not the kernel's.
* A strand that fails takes nobody with it: its owner is told, or the failure is reported.

The main loop is written for speed (see benchmarks: ``wake``): it runs in chunks; only a tick that has become
suspiciously long counts steps, to find a livelock. Rejected: a heap of (tick, seq) entries (a wake then costs a
comparison of tuples for each level of the heap).

The parts below stand in this one module because each of them is read on the way of every tick: calls, batches,
livelock guard, generators, and then the kernel itself.

Plain functions stand among the strands: calls in the ready queue, timers in the agenda, hooks of every tick. One that
raises is reported, and whatever stands behind it goes on.

*A batch* is coroutines that are started together, and of which most may end in their first step. Making a strand costs
more than the first step of a think that knows its answer at once. Where the host allows it (``steps_inline``), a batch
is one entry of the ready queue that takes the first step of each coroutine in turn. One that suspends waits as itself
(see ``thinker``); a strand is made for one that asks for it (to open a cancel scope, say). Where it does not, each
coroutine is a strand from the beginning. The order of steps is the same. A member that was withdrawn before its turn
(``open`` gives None) is passed over.

*Code that cannot suspend* needs neither a strand nor a turn of its own: it is stepped where it stands (``Inline``), on
every host alike, by a loop over it (``for _ in coro.__await__()``): sent None by hand, a coroutine that ends in its
first step would cost a ``StopIteration``, and more than all the rest of the step.

*The livelock guard* finds who does not let time pass, when a tick has become suspiciously long.

Counting every step would cost the main loop a look-up a step. So a tick runs uncounted until it has taken many more
steps than there are strands; only then a guard is made, and everything that happens in the rest of the tick is counted.

* A strand that takes more than ``Kernel.livelock_steps`` counted steps is killed: it alone.
* A strand that never suspends takes no steps at all: it awaits what need not wait, again and again (``traps.goes_on``).
  Such waits are free until there were many in the tick, then they are counted for each strand. It gives way after
  ``Kernel.livelock_steps`` of them, so that the others run, and is killed when it did so too often in one tick. That
  is quick: each gets a hundred thousand waits at most, and when all in a tick have had a million, two rounds.
* Strands that end and spawn their like, and calls that call again, take few steps each: they are counted by name. Most
  of them are innocent links of a chain, so nobody is killed; time is made to pass by putting the next link off to the
  next tick, and the chain is reported once in each tick that it spoils.

*Async generators* that a strand leaves half-iterated are closed by the kernel.

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

import heapq
import sys
import types
import weakref
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from agentrt.errors import ENDS_PROGRAM, LivelockError, WrongStateError
from agentrt.kernel.clock import Clock
from agentrt.kernel.foreign import (
    ASYNCIO_WORDS,
    TRIO_WORDS,
    describe,
    throw_foreign,
    translate_no_loop,
)
from agentrt.kernel.inline import Inline
from agentrt.kernel.rng import Stream, derive_seed
from agentrt.kernel.strand import Cancelled, Children, Strand, StrandOwner, Strays, kill, livelocked, meant
from agentrt.kernel.thinker import ABSENT, Handover, Thinker
from agentrt.kernel.trace import TraceHub
from agentrt.kernel.traps import GIVE_WAY, KEEP, SMALL, Agenda, Audience, Entry, Waiter, running, this_thread
from agentrt.words import type_name


class Batch:
    """Coroutines that are started together."""

    __slots__ = ("_kernel", "_left", "_strand", "_then", "coro", "member", "members", "waiting")

    def __init__(self, kernel: Kernel, members: Sequence[Thinker]) -> None:
        self._kernel = kernel
        self.members: Sequence[Thinker] = members  # in order
        self.waiting: object = 0
        self._then: tuple[Callable[..., object], tuple[Any, ...]] | None = None
        # the coroutine that makes its first step at this moment
        self.coro: Coroutine[Any, Any, Any] | None = None
        self.member: Thinker | None = None  # the one whose turn it is; None before the first and after the last
        self._strand: Strand | None = None
        self._left: Iterator[Thinker] | None = None  # who has not made the first step yet

    @property
    def name(self) -> str:
        return f"the batch of {self.members[0].strand_name()}" if self.members else "an empty batch"

    def launch(self, then: Callable[..., object] | None = None, *args: Any) -> None:
        """Put it into the ready queue; ``then`` is called when each member has made its first step."""
        kernel = self._kernel
        if kernel.host.steps_inline:
            if then is not None:
                self._then = (then, args)
            kernel.ready.append(self)
            return
        for member in self.members:
            try:
                coro = member.open(self.members)
            except ENDS_PROGRAM:
                raise
            except BaseException as fault:
                kernel.report(f"{member.strand_name()!r} could not be started", fault)
                continue
            if coro is not None:
                member.on_strand_made(kernel.spawn(coro, member.strand_name(), member))
        if then is not None:
            kernel.call_soon(then, *args)

    @property
    def stepper(self) -> Batch:
        """Itself; no attribute, which would be a reference cycle for each batch."""
        return self

    def send(self, _value: None) -> object:
        if self._left is None:
            self._left = iter(self.members)
        try:
            self._start(self._left)
            self.member = None
            if self._then is not None:
                then, self._then = self._then, None
                self._kernel.guarded(*then)
        except BaseException:
            # What ``on_fault`` raised, or an interruption of the program: the others go on when the kernel does, and
            # before all who stand behind the batch, since these came later.
            self._strand = None
            self._kernel.ready.appendleft(self)
            raise
        return KEEP

    def _start(self, members: Iterator[Thinker]) -> None:
        kernel = self._kernel
        small = SMALL if kernel.waits_late else 0
        for member in members:
            try:
                self.coro = coro = member.open(self.members)
            except ENDS_PROGRAM:
                raise
            except BaseException as fault:
                kernel.report(f"{member.strand_name()!r} could not be started", fault)
                continue
            if coro is None:
                continue
            self.member = member
            try:
                command = coro.send(None)
            except StopIteration as stop:
                self.coro = None  # nobody's code is stepped while its owner is told
                if self._strand is None:
                    try:
                        member.thought_ended(None)
                    except ENDS_PROGRAM:
                        raise
                    except BaseException as fault:
                        kernel.report_owner(member.strand_name(), fault)
                else:
                    self._ended(stop.value, None)
            except BaseException as error:  # told to the member
                self._ended(None, error)
            else:
                kind = command.__class__  # an audience, as nearly always
                if kind is Audience and self._strand is None and len(command.strands) < small and member.waits(coro):
                    self.coro = None
                    kernel.live += 1
                    command.strands.append(member)  # what ``park`` does
                    member.waiting = command
                else:
                    self._park(member, coro, command, small)

    def _park(self, member: Thinker, coro: Coroutine[Any, Any, Any], command: object, small: int) -> None:
        kernel = self._kernel
        if small and command.__class__ is int and self._strand is None and member.waits(coro):
            self.coro = None
            kernel.live += 1
            kernel.park(member, command)
            return
        strand = self.strand()
        self._strand = self.coro = None
        kernel.current = self
        kernel.park(strand, command)

    def strand(self) -> Strand:
        strand = self._strand
        if strand is None:
            assert self.coro is not None
            assert self.member is not None
            kernel = self._kernel
            strand = self._strand = kernel.host.strand(kernel, self.coro, self.member.strand_name(), self.member)
            kernel.live += 1
            kernel.current = strand  # first: the member may stop it, and it runs or is on its way into a wait
            self.member.on_strand_made(strand)
        return strand

    def _ended(self, result: Any, error: BaseException | None) -> None:
        kernel = self._kernel
        strand, self._strand, self.coro = self._strand, None, None
        kernel.current = self
        if strand is not None:
            kernel.end(strand, result, error)
            return
        if error is not None:
            error = kernel.host.translate(meant(error))
        assert self.member is not None
        try:
            self.member.thought_ended(error)
        except ENDS_PROGRAM:
            raise
        except BaseException as fault:
            kernel.report_owner(self.member.strand_name(), fault)
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise error


# --- plain functions among the strands ------------------------------------------------------------------------------


_Function = TypeVar("_Function", bound=Callable[..., object])


def name_of(fn: object) -> str:
    """What can be called is called, for people; the same in every run, which its repr, with its address, is not."""
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
    """

    __slots__ = ("kernel",)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel: Kernel = kernel

    def send(self, _value: None) -> object:
        call: Any = self.kernel.current
        try:
            call.fn(*call.args)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.kernel.report(f"a callback raised: {call.name}", error)
        return KEEP


class Timer:
    """An entry that is a function call and not a strand; one that was made by ``Kernel.call_later`` is due later."""

    __slots__ = ("args", "fn", "stepper", "waiting")

    def __init__(self, caller: Caller, fn: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.stepper: Caller = caller
        self.fn: Callable[..., object] = fn
        self.args: tuple[Any, ...] = args
        self.waiting: object = 0  # the tick in which it is due, while it lies in the agenda

    @property
    def name(self) -> str:
        return name_of(self.fn)

    coro = None  # it is a plain function's turn

    def strand(self) -> None:
        """None: it is a plain function's turn."""

    def cancel(self) -> None:
        """Do not make the call; does nothing once it was made."""
        kernel = self.stepper.kernel
        kernel.agenda.leave(self, kernel.clock.tick, kernel.live)
        self.fn, self.args = _nothing, ()


def _nothing() -> None:
    pass


class Callbacks(Generic[_Function]):
    """Functions in the order in which they were added, each until it is taken out again."""

    __slots__ = ("_functions",)

    def __init__(self) -> None:
        self._functions: dict[object, _Function] = {}

    def add(self, fn: _Function) -> Callable[[], None]:
        """Add a function; the same one may be added twice.

        Returns:
            A function that takes it out again; calling it twice does nothing.
        """
        key = object()
        self._functions[key] = fn

        def close() -> None:
            self._functions.pop(key, None)

        return close

    def clear(self) -> None:
        self._functions.clear()

    def __len__(self) -> int:
        return len(self._functions)

    def __iter__(self) -> Iterator[_Function]:
        """Those that are there now, whatever becomes of them meanwhile."""
        return iter(tuple(self._functions.values()))


class Hooks(Callbacks[Callable[[], object]]):
    """Functions that are called once a tick."""

    __slots__ = ()

    def call(self, kernel: Kernel) -> None:
        """Call them; one that was taken out meanwhile is passed over, and what one raises the kernel reports."""
        for key, fn in tuple(self._functions.items()):
            if key in self._functions:
                kernel.guarded(fn)


def raise_fault(text: str, error: BaseException) -> None:
    """What a kernel does with a failure that nobody handles, unless it is told otherwise: raise it."""
    if isinstance(error, StopIteration):
        raise RuntimeError(text) from error  # else the main loop would take it for the end of a coroutine
    raise error


FREE_WAITS = 1000  # how many waits of one tick may end at once before anybody counts whose they are
_ROUNDS = 100  # how often a strand may give way in one tick
_TURNS = 1000  # how often all may, before _FEW_ROUNDS is the limit: many agents may have the same mistake
_FEW_ROUNDS = 2


def patience(kernel: Kernel) -> int:
    """How many steps a tick may take before they are counted."""
    return 10_000 + 20 * (kernel.live + len(kernel.ready))


class LivelockGuard:
    """Counts the steps of one tick."""

    __slots__ = ("_families", "_kernel", "_peak", "_reported", "_steps")

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._steps: dict[Entry, int] = {}
        self._families: dict[str, int] = {}
        self._peak = 0
        self._reported: set[str] = set()

    def admit(self) -> int:
        """Look at the entry that is next in the ready queue, and take it out if it must not be stepped.

        Returns how many to step before the next call: 1, or 0 if it was taken out.
        """
        kernel = self._kernel
        entry = kernel.ready[0]
        if isinstance(entry, Thinker):  # from now on its strand is counted, and can be killed
            kernel.current = None
            stepper = entry.stepper
            if isinstance(stepper, Handover):
                entry.stepper = kernel.ready[0] = stepper.strand
            else:
                kernel.ready[0] = entry.strand()
            entry = kernel.ready[0]
        if isinstance(entry, Strand):
            if entry.is_done:
                return 1
            self._steps[entry] = steps = self._steps.get(entry, 0) + 1
            if steps > kernel.livelock_steps:
                kernel.ready.popleft()
                kill(entry, livelocked(entry))
                return 0
            if steps > 1:
                return 1
        return self._admit_newcomer(entry, entry.name)

    def _admit_newcomer(self, entry: Entry, family: str) -> int:
        kernel = self._kernel
        # However many there ever were at once may all have ended since.
        self._peak = max(self._peak, kernel.live + len(kernel.ready))
        self._families[family] = steps = self._families.get(family, 0) + 1
        if steps <= kernel.livelock_steps + kernel.livelock_steps // 10 * self._peak:
            return 1
        kernel.ready.popleft()
        kernel.agenda.add(kernel.tick + 1, entry)
        if family not in self._reported:
            self._reported.add(family)
            error = LivelockError(steps, path=family, tick=kernel.tick)
            kernel.report(f"{family!r} was spawned or called again and again; it goes on in the next tick", error)
        return 0


class IdleWaits:
    """Counts, in one tick, the waits that had nothing to wait for, when there have been many.

    They are counted by coroutine and not by entry of the ready queue: a batch is one entry for many.
    """

    __slots__ = ("_kernel", "_left", "_rounds", "_turns")

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._left: dict[Coroutine[Any, Any, Any] | None, int] = {}
        self._rounds: dict[Strand, int] = {}
        self._turns = 0

    def begin(self) -> None:
        """A tick begins, or what comes between two ticks: nothing of the last one counts."""
        self._kernel.free_waits = FREE_WAITS
        if self._left:
            self._left.clear()
            self._rounds.clear()
            self._turns = 0

    def goes_on(self, weight: int) -> bool:
        """Count a wait of what is stepped; says whether it may end at once. See ``traps.goes_on``."""
        kernel = self._kernel
        entry = kernel.current
        coro = None if entry is None else entry.coro
        left = self._left.get(coro)
        if left is None:
            left = kernel.livelock_steps * (1 if coro is not None else _ROUNDS)
        if left > 0:
            self._left[coro] = left - weight
            return True
        if coro is None:  # nobody could give it another turn
            raise LivelockError(kernel.livelock_steps * _ROUNDS, path="a plain function", tick=kernel.clock.tick)
        return False

    def give_way(self, strand: Strand) -> None:
        """A strand that was just stepped, and stands nowhere, gives way: give it another turn, or kill it."""
        kernel = self._kernel
        strand.waiting = 0
        self._turns += 1
        rounds = self._rounds[strand] = self._rounds.get(strand, 0) + 1
        if rounds >= (_ROUNDS if self._turns < _TURNS else _FEW_ROUNDS):
            # Nothing is left to it: whatever it awaits while it is killed gives way at once, and so ends.
            kill(strand, livelocked(strand, rounds * kernel.livelock_steps))
            return
        assert strand.coro is not None
        self._left[strand.coro] = kernel.livelock_steps
        kernel.ready.append(strand)


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
        closing: Coroutine[Any, Any, Any] = _closing(generator)  # pyright: ignore[reportAssignmentType]
        closing.send(None)
        self._spawn(closing, f"closing {name_of(generator)}")

    def close_open(self) -> bool:
        """Close those that somebody still names and nobody iterates now; says whether a tick has to follow."""
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


_CHUNK = 256  # steps between two looks at the budget, and at how long the tick has become


class PlainHost:
    """What stands between the kernel and an event loop; this one where there is none. The others derive from it.

    A strand can await only the kernel's own traps here. Anything else comes out of it as a foreign command; it then
    gets a ``ForeignAwaitError`` at that very await, which says what to do, and which it may catch.
    """

    name: str = "plain"  # plain, asyncio or trio
    steps_inline: bool = True  # whether a coroutine may make its first step before it has a strand
    foreign_waits: int = 0  # how often a strand waited for something of the event loop, which no journal can repeat
    cancelled_type: type[BaseException] = Cancelled  # the exception that a cancelled wait raises
    # what functions of those libraries raise that run no loop here; see ``translate``
    no_loop_words: tuple[str, ...] = ASYNCIO_WORDS + TRIO_WORDS

    if TYPE_CHECKING:

        def strand(
            self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None
        ) -> Strand:
            """Make a strand for a coroutine."""
            ...

    else:
        strand = Strand  # the class itself: a method would only call it

    def cancelled(self, reason: str) -> BaseException:
        return self.cancelled_type(reason)

    def foreign(self, strand: Strand, command: object) -> None:
        """A strand yielded something that is not the kernel's: wait for it, or make it fail."""
        if getattr(command, "_asyncio_future_blocking", False) is True:
            # The mark that somebody waits for it. Left standing, it would make the next await of it fail, anybody's.
            command._asyncio_future_blocking = False  # type: ignore[attr-defined]
        throw_foreign(strand, describe(command), self.name)

    def translate(self, error: BaseException) -> BaseException:
        """The error to report for what a strand raised; for a call of a loop that does not run one that teaches."""
        return translate_no_loop(error, self.name, self.no_loop_words)

    def as_task(self, inline: Inline, step: Callable[..., object], *args: Any) -> None:
        """Step code that cannot suspend where it stands, as a task of its own to the event loop."""
        step(*args)

    def left_open(self) -> BaseException | None:
        """The error for code that was stepped so and has left a scope of the event loop's open; the scope is gone."""
        return None

    def enter(self) -> None:
        """The kernel begins to step strands, synchronously."""

    def leave(self) -> None:
        """The kernel has stepped them."""

    async def run_tick(self, kernel: Kernel, budget: float | None = None) -> None:
        """Run one whole tick; the event loop gets a turn whenever a budget of real seconds is used up."""
        kernel.step_tick()


class Kernel:
    """The deterministic scheduler. By default its strands may await nothing but its own traps."""

    def __init__(
        self,
        seed: int | str = 0,
        ticks_per_second: int = 20,
        host: PlainHost | None = None,
        start_tick: int = 0,
    ) -> None:
        self.clock: Clock = Clock(ticks_per_second, start_tick)  # what time it is
        self.seed = seed
        self.host: PlainHost = PlainHost() if host is None else host
        self.agenda: Agenda = Agenda()  # who sleeps until when
        self.ready: deque[Entry] = deque()  # who is to be stepped in this tick, in order
        self.current: Entry | None = None  # what is being stepped; None between steps
        self.live: int = 0  # how many strands there are that have not ended
        # whether a think may wait without a strand, where the host allows it; who looks at strands has it otherwise
        self.waits_late: bool = True
        self.livelock_steps = 1000  # how many steps a strand may take in one tick
        # called with a text and the error for a failure that nobody else handles
        self.on_fault: Callable[[str, BaseException], None] = raise_fault
        self.trace: TraceHub = TraceHub(self.report)  # the hub of trace records
        self.strays: Strays = Strays(self.report)  # strands that nobody waits for
        # strands that belong to others, with whom they belong to, in the order in which they came
        self.families: dict[Children, None] = {}
        # async generators that were begun in its strands
        self.generators: Generators = Generators(self.post, self.spawn_stray)
        self.rebuilt: int = 0  # the tick after which the world was rebuilt last; 0 if it never was
        self.is_aside: bool = False  # whether its ticks are no part of the run; see ``aside``
        self.draining: bool = False
        self.in_tick: bool = False
        # what was posted, in order of arrival: functions and their arguments
        self.inbox: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self._reports: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self.taking: int = 0  # the place in the intake, from 0, of what is being taken
        self.thread: int = 0  # which thread steps it; 0 before the first tick
        self.inline: Inline = Inline(self)  # code that cannot suspend, and whose hook is called
        # what is called for a tick: a plain function that was posted, a hook, the driver that drives; None for none
        self.calling: object = None
        self._caller = Caller(self)
        self._drivers: Hooks = Hooks()
        self._onlookers: Hooks = Hooks()
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
        """A random stream of its own for a name; the same name gives the same numbers again, until an epoch."""
        return self.stream_of(self.seed, name)

    def stream_of(self, seed: int | str, name: str) -> Stream:
        """As ``stream``, from another seed than its own."""
        # Rebuilt, the world has no positions in streams: without the tick all would begin with the same numbers again.
        return Stream(derive_seed(f"{seed} from tick {self.rebuilt}" if self.rebuilt else seed, name))

    # --- what can be asked for ----------------------------------------------------------------------------------------

    def spawn(self, coro: Coroutine[Any, Any, Any], name: str = "strand", owner: StrandOwner | None = None) -> Strand:
        """Start a coroutine as a strand; its first step comes when the ready queue comes to it.

        An error in a strand without an owner is reported as a fault.
        """
        strand = self.host.strand(self, coro, name, owner)
        self.live += 1
        self.ready.append(strand)
        return strand

    def make_strand(self, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None) -> Strand:
        """A strand that is not started."""
        return self.host.strand(self, coro, name, owner)

    def spawn_stray(self, coro: Coroutine[Any, Any, Any], name: str) -> None:
        """Start a coroutine that nobody waits for, but that must have ended before all is over."""
        self.strays.take(self.spawn(coro, name))

    def call_soon(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function when the ready queue comes to it, in this tick."""
        self.ready.append(Timer(self._caller, fn, args))

    def call_next(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function before anything else in the ready queue."""
        self.ready.appendleft(Timer(self._caller, fn, args))

    def call_later(self, ticks: int, fn: Callable[..., object], *args: Any) -> Timer:
        """Call a function so many ticks from now; with 0, in this one."""
        timer = Timer(self._caller, fn, args)
        if ticks <= 0:
            self.ready.append(timer)
        else:
            self.agenda.add(self.clock.tick + ticks, timer)
        return timer

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function at the next intake. Safe from any thread."""
        self.inbox.append((fn, args))

    def post_report(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function at the next intake, before what comes in. Safe from any thread.

        What it tells depends on the machine, and not on the run: it must take no place that a replay would miss.
        """
        self._reports.append((fn, args))

    @property
    def is_here(self) -> bool:
        """Whether the calling thread is the one that steps it, within a tick or between two."""
        return running.kernel is self or self.thread in (0, this_thread())

    @property
    def is_stepping(self) -> bool:
        """Whether it steps something on the calling thread at this moment, so that ``call_soon`` is for this tick."""
        return running.kernel is self and (self.in_tick or self.draining)

    def every_tick(self, fn: Callable[[], object]) -> Callable[[], None]:
        """Call a function once in every tick, before the strands. What it returns ends that."""
        return self._drivers.add(fn)

    def before_tick(self, fn: Callable[[], object]) -> Callable[[], None]:
        """As ``every_tick``, for who looks on and must not change the run: it stays when the world is rebuilt."""
        return self._onlookers.add(fn)

    def drive(self, fn: Callable[[], object]) -> None:
        """Have a function drive the agents: it, and no other, is called in every tick after those of ``every_tick``."""
        self._drive = fn

    def after_tick(self, fn: Callable[[], object]) -> Callable[[], None]:
        """Call a function at the end of every tick, when nothing more is runnable. It must not change the run.

        What it returns ends that.
        """
        return self._publishers.add(fn)

    def report(self, text: str, error: BaseException) -> None:
        """Report a failure that nobody else handles. Control flow is none: it goes on to whom it is meant for."""
        error = meant(error)
        if isinstance(error, ControlFlow):
            error.send_on()
        else:
            self.on_fault(text, error)

    def report_owner(self, name: str, fault: BaseException) -> None:
        """Report what the owner of a coroutine raised when it was told of its end."""
        self.report(f"the owner of {name!r} raised when it ended", fault)

    # --- a world that is over -----------------------------------------------------------------------------------------

    @contextmanager
    def aside(self) -> Iterator[None]:
        """A block whose ticks are no part of the run: nobody hears of them, and the clock is set back afterwards."""
        tick = self.clock.tick
        self.is_aside = True
        try:
            with self.trace.silence():
                yield
        finally:
            self.is_aside = False
            self.clock.go_to(tick)

    def forget_hooks(self) -> None:
        """Nothing of the world is called every tick any more."""
        self._drivers.clear()

    def forget_all(self, tick: int) -> None:
        """All of the world has ended: what it was still to do is forgotten, and the next one begins after a tick."""
        self.forget_hooks()
        self.ready.clear()
        self.inbox.clear()
        self.agenda.clear()
        self.families.clear()
        self.clock.go_to(tick)
        self.rebuilt = tick

    # --- a tick -------------------------------------------------------------------------------------------------------

    def step_tick(self) -> None:
        """Run one whole tick. For hosts that can be driven synchronously, while their event loop runs."""
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
        if self.in_tick or self.draining:
            raise WrongStateError(method, "a tick runs", "Call it from outside, where nothing is stepped.")

    def begin_tick(self) -> None:
        """The phases before the strands: intake, time, drivers."""
        self.in_tick = True
        self.thread = this_thread()
        clock = self.clock
        clock.tick += 1
        before, clock.begun = clock.begun, clock.tick / clock.ticks_per_second
        clock.passed = clock.begun - before
        outer, running.kernel = running.kernel, self
        try:
            while self._reports:
                fn, args = self._reports.popleft()
                self.guarded(fn, args)
            # What is posted meanwhile is for the next intake: a function that posts itself would never end this one.
            for self.taking in range(len(self.inbox)):  # noqa: B020 - the range was made before
                fn, args = self.inbox.popleft()
                self.guarded(fn, args)
            self.agenda.take_due(clock.tick, self.ready)
            if len(self._onlookers) and not self.is_aside:
                self._onlookers.call(self)
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
        if not self.is_aside:
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
        """Step strands until nothing is runnable; says whether that is so.

        Args:
            expired: asked now and then; when it says True the rest waits for the next call.
        """
        ready = self.ready
        popleft = ready.popleft
        buckets = self.agenda.buckets
        tick = self.clock.tick
        # Most who sleep in one tick sleep for the same time. So what was yielded last is kept, the very number (at
        # first something that nobody yields), with the tick in which that is due, and the bucket of this tick.
        asked: object = buckets
        due = 0
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
                chunk = len(ready)  # so many cannot run out: nobody but this loop takes from the left, save the guard
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
                        if command is asked:
                            bucket.append(entry)
                            entry.waiting = due
                            continue
                        kind = command.__class__
                        if kind is int:
                            asked = command
                            due = tick + command  # type: ignore[operator]
                            known = buckets.get(due)
                            if known is None:
                                known = buckets[due] = []
                                heapq.heappush(self.agenda.heap, due)
                            bucket = known
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

    def step(self, strand: Strand) -> None:
        """Step a strand in the place of an entry that was taken out of the queue, as ``drain`` does."""
        self.current = strand
        try:
            command = strand.stepper.send(None)
        except StopIteration as stop:
            self.end(strand, stop.value, None)
        except BaseException as error:
            self.end(strand, None, error)
        else:
            self.park(strand, command)

    def _rare_command(self, entry: Entry, command: object) -> None:
        if isinstance(entry, Thinker):
            entry = self._strand_of(entry)
        if command is GIVE_WAY:
            self.idle_waits.give_way(entry)  # type: ignore[arg-type]
        elif command is not KEEP:
            self.host.foreign(entry, command)  # type: ignore[arg-type]

    def park(self, entry: Entry, command: object) -> None:
        """Do what an entry yielded, whatever it is. ``drain`` does the same without the call."""
        if isinstance(command, int):
            self.agenda.add(self.clock.tick + command, entry)
        elif isinstance(command, Audience):
            command.strands.append(entry)  # type: ignore[arg-type]
            entry.waiting = command
        elif isinstance(command, Waiter):
            command.strand = entry  # type: ignore[assignment]
            entry.waiting = command
        else:
            self._rare_command(entry, command)

    def _strand_of(self, thinker: Thinker) -> Strand:
        """The strand of a thinker that was just stepped; perhaps it asked for it in this very step."""
        made = self.current
        return made if isinstance(made, Strand) else thinker.strand()

    # --- the end of a strand ------------------------------------------------------------------------------------------

    def end(self, strand: Entry, result: Any, error: BaseException | None) -> None:
        """Close the books on a strand whose coroutine has ended. Hosts that step strands themselves call it."""
        if isinstance(strand, Thinker):
            current: object = self.current
            if current is strand:
                self._end_thinker(strand, error)
                return
            if isinstance(current, Strand):
                strand = current  # it asked for it in its last step
        if not isinstance(strand, Strand) or strand.coro is None:
            assert error is not None
            raise error  # what ``on_fault`` raised, from inside a call or while a strand was killed
        self.live -= 1
        if error is not None:
            error = self._told(error)
        strand.ended(result, error)
        owner = strand.owner
        if owner is not None:
            strand.owner = None  # a strand that was stopped in its sleep lies in the agenda until the tick comes
            try:
                owner.on_strand_end(strand, result, error)
            except ENDS_PROGRAM:
                raise
            except BaseException as fault:
                self.report_owner(strand.name, fault)
        if error is None or isinstance(error, self.host.cancelled_type):
            return
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise error
        if owner is None:
            self.report(f"the strand {strand.name!r} raised", error)

    def _end_thinker(self, thinker: Thinker, error: BaseException | None) -> None:
        """As ``end``, for a think that had no strand."""
        thinker.stepper = ABSENT
        self.live -= 1
        if error is not None:
            error = self._told(error)
        try:
            thinker.thought_ended(error)
        except ENDS_PROGRAM:
            raise
        except BaseException as fault:
            self.report_owner(thinker.name, fault)
        if error is not None and isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise error

    def _told(self, error: BaseException) -> BaseException:
        """The error that is told, for what a coroutine raised."""
        error = meant(error)
        if not isinstance(error, self.host.cancelled_type):
            return self.host.translate(error)
        # Its frames would hold on to everything they name, and to the strand: a cycle each time.
        error.__traceback__ = None
        return error

    def __repr__(self) -> str:
        return f"<Kernel: tick {self.clock.tick}, {self.live} strands, {len(self.ready)} ready, {self.host.name} host>"
