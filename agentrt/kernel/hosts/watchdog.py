"""The watch: notices when one step keeps the thread for itself, says in which line it does, and can end it.

A step that calls ``time.sleep``, a blocking socket or an endless computation stops every agent. After the fact nobody
can say where it was, and a step that never ends has no "after". So a daemon thread, one for all runtimes of a process,
looks a few times in each threshold at what is stepped at the moment: a strand, a call, a hook, a driver, something
posted. When that has stayed the same over a whole threshold, it takes the stack of the kernel's thread. There are
three thresholds:

* *blocking*: what took so long is reported when it has ended, at an intake, like any other input;
* *hanging* (a second): it is reported while it lasts, from the thread, since the run cannot;
* the *limit*, if one is set: an error is raised in it, so that it ends, and everybody else goes on.

Rules:

* The run pays nothing: the watch only reads what the kernel keeps anyway (``current``, ``calling``, ``taking``, the
  tick). The thread ends when nothing has been stepped for a while, and never keeps the process alive.
* One report for each step, however long it takes. The line is the innermost one of the author's: not the inside of
  ``socket.py``, nor of this library.
* An error is raised in a frame of the author's only, never in one of ours or of an event loop: their books would be
  half kept. While the author's loop is inside of ours, the watch tries again a moment later.
* It is raised only if the same function of the author's, the outermost of the step, has run for the whole limit: a
  driver of many goals, each of which takes its time, is ended nowhere.
* The first error is a ``LivelockError``. Whoever swallows it gets ``Insist`` from then on, which is no ``Exception``.
* In the main thread a signal that nobody else uses (``SIGURG``) brings it, so that it is raised by the stuck thread
  itself, which looks whether the step is still the same one, and so that it ends ``time.sleep`` and reads of sockets.
  In any other thread (and where there are no such signals) Python's asynchronous exceptions do: the stuck thread stands
  still while this one looks and sets them, and gets them where it stood. What waits in C is not interrupted then.
* Under a tracer (a debugger, coverage), on Python 3.11, nothing is sent into another thread: the process might freeze.
* A call into C that never lets other threads run cannot be seen while it lasts; it goes unnoticed.
* A process that stands still (suspended, a laptop asleep, a machine that is overloaded) does not hang. All is measured
  by the patrol's own time (``Patrol.now``), in which the gap between two looks counts for little more than was meant.

All this takes real time, so it is the one place where two runs may differ. What was ended is a fault in the trace.

``Watch.look`` is the whole logic and takes the time as an argument, so that tests need neither a thread nor a clock.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from inspect import getattr_static
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agentrt.errors import LivelockError
from agentrt.kernel.kernel import name_of
from agentrt.kernel.strand import Insist, Strand
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.words import error_words

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.traps import Entry


HANGING: Final = 1.0  # real seconds from which on a step is reported while it lasts
BLOCKING: Final = 0.1  # real seconds from which on one is reported when it has ended, unless somebody says otherwise
_LOOKS = 4  # for each threshold: a step is measured by looks, and so up to a quarter too short
_SHORTEST = 0.002  # between two looks, in seconds
_LATE = 0.25  # seconds that the thread may look later than it meant to: no more of a gap counts
_IDLE = 1.0  # seconds after which who is not stepped is not watched any more
_INTERRUPTED = 0.3  # seconds that a step may still take after the user asked the program to end
_MACHINERY = frozenset({"agentrt", "anyio", "asyncio", "coverage", "outcome", "sniffio", "trio", "uvloop"})
_HELPERS = frozenset({"jsonschema", "opentelemetry", "rich", "structlog"})  # whom an author calls, and we do
_DRIVING = frozenset({"begin_tick", "drain", "end_tick", "kill", "_step_in_place", "_step_strand"})
# While an error waits for a thread that waits in C, Python 3.11 lets no other thread that is traced (by a debugger, by
# coverage) into any function: the check for pending work is made again and again in front of it.
_FREEZES = sys.version_info < (3, 12)
_SIGNAL: int | None = getattr(signal, "SIGURG", None) if hasattr(signal, "pthread_kill") else None


class StepReport(NamedTuple):
    """One step that kept the thread for itself."""

    what: str  # the name of what was stepped
    file: str
    line: int
    function: str
    tick: int
    seconds: float  # how long the step was seen to take, in real seconds; it took at least that
    agent: str = ""  # whose it is; empty for nobody's
    path: str = ""  # the place in the agent; empty likewise
    is_over: bool = True
    has_loop: bool = True  # whether an event loop waits, which could run something in a worker thread

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"{self.file}:{self.line}"

    def __str__(self) -> str:
        whose = f" of agent {self.agent!r}" if self.agent else ""
        path = f" at {self.path!r}" if self.path else ""
        blocked = "the event loop" if self.has_loop else "the tick"
        has = f"blocked {blocked} for" if self.is_over else "hangs: it has kept the thread for"
        remedy = "Call it through 'await ctx.call(fn, *args)', which runs it in a worker thread, or let it await "
        remedy += "now and then."
        if not self.has_loop:
            remedy = "Let it await now and then; under runtime.run(), 'await ctx.call(fn, *args)' runs it in a worker "
            remedy += "thread."
        return (
            f"{self.what!r}{whose}{path} {has} {self.seconds:.2f} s in tick {self.tick}, at {self.place} in "
            f"{self.function}. {remedy}"
        )


class Watch:
    """Watches one kernel.

    Args:
        told: called with a ``StepReport``: at an intake with one of a step that has ended, and from another thread with
            one of a step that hangs.
        limit: real seconds after which a step is ended; None for never.
    """

    def __init__(self, kernel: Kernel, told: Callable[[StepReport], object], limit: float | None = None) -> None:
        self._kernel = weakref.ref(kernel)  # the thread must never be the last that knows a kernel
        self._told = told
        self.blocking: float | None = BLOCKING  # the three thresholds, in real seconds; None for never
        self.hanging: float | None = HANGING
        self.limit: float | None = limit
        self.thread: int = 0  # which thread steps the kernel
        self.is_armed: bool = False  # whether it does so at the moment
        self.is_known: bool = False  # to the patrol
        # Held while it is looked at: nobody is looked at after ``end``. It is entered again by the thread that looks if
        # the garbage collector closes a run there that nobody awaits any more.
        self.lock: threading.RLock = threading.RLock()
        self.idle_since: float | None = None
        self._step: _SteppedCode | None = None
        self._since = 0.0  # when it was first seen
        self._seen = 0.0  # for how long
        self._function: FrameType | None = None  # the outermost of the author's, if there is a limit
        self._function_since = 0.0
        self._report: StepReport | None = None
        self._is_told = False
        self._strikes = 0
        self._next_strike = 0.0
        self._error: BaseException | None = None  # to be raised in the step that is watched
        self._struck: LivelockError | None = None  # what was raised in it
        self._is_sent = False
        self._interrupted: float | None = None

    # --- the side that steps ------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """The thread that calls this steps the kernel from now on."""
        self.thread = threading.get_ident()
        self.is_armed = True
        if not self.is_known:
            _patrol.admit(self)
            if self.limit is not None:
                _prepare_signal()

    def end(self) -> None:
        with self.lock:
            self.is_armed = False
            if self._step is not None:
                self._settle()
            if self._is_sent:
                self._is_sent = False
                _take_back(self.thread)

    def __enter__(self) -> Watch:
        self.begin()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.end()

    def interrupt(self) -> None:
        """The user asks the program to end, and the event loop hears of it only when the step has ended."""
        self._interrupted = _patrol.now()
        self.begin()
        _prepare_signal()

    # --- the side that looks ------------------------------------------------------------------------------------------

    @property
    def pause(self) -> float:
        """How long until it has to be looked at again, in seconds."""
        pause = min(self._thresholds(), default=HANGING) / _LOOKS
        if self._interrupted is not None:
            pause = min(pause, _INTERRUPTED / _LOOKS)
        if self._strikes:
            pause = min(pause, _SHORTEST)
        return max(_SHORTEST, pause)

    def _thresholds(self) -> list[float]:
        return [limit for limit in (self.blocking, self.hanging, self.limit) if limit is not None]

    def look(self, now: float) -> None:
        """Look at what is stepped. Called by the thread, which holds the lock."""
        kernel = self._kernel()
        step = None if kernel is None else _step_of(kernel)
        if kernel is None or step is None or not step.is_same(self._step):
            if self._step is not None:
                self._settle()
            self._step = step
            self._since = now
            self._look_at_function(now)
            return
        self._look_at_function(now)
        self._seen = now - self._since
        # Described at the first threshold: by the time that the step has ended its stack is gone.
        if self._report is None and self._seen >= min(self._thresholds(), default=math.inf):
            self._report = self._describe(kernel, step)
        if self.hanging is not None and not self._is_told and self._seen >= self.hanging:
            self._is_told = True
            self._told(self._describe(kernel, step))
        if self._interrupted is not None and self._seen >= _INTERRUPTED and now - self._interrupted >= _INTERRUPTED:
            self._strike(kernel, step, now, KeyboardInterrupt())
        elif self.limit is not None and self._function is not None and now - self._function_since >= self.limit:
            self._strike(kernel, step, now, None)

    def _look_at_function(self, now: float) -> None:
        if self.limit is None:
            return
        function = None if self._step is None else _outermost(sys._current_frames().get(self.thread))
        if function is not self._function:
            self._function = function
            self._function_since = now
            self._strikes = 0

    def _describe(self, kernel: Kernel, step: _SteppedCode) -> StepReport:
        frame = sys._current_frames().get(self.thread)
        place = ("?", 0, "?") if frame is None else _place(frame)
        what = name_of(_called(step.calling)) if step.current is None else step.current.name
        return StepReport(
            what,
            *place,
            kernel.tick,
            self._seen,
            *_whose(step, frame, kernel.inline.acting),
            False,
            kernel.host.name != "plain",
        )

    def _settle(self) -> None:
        """The step that was watched has ended: report it if it blocked, and nobody did while it lasted."""
        report, self._report = self._report, None
        kernel = self._kernel()
        if kernel is not None:
            is_long = self.blocking is not None and self._seen >= self.blocking
            if report is not None and is_long and not self._is_told:
                kernel.post_report(self._told, report._replace(seconds=self._seen, is_over=True))
            if self._struck is not None:
                kernel.post_report(_note_struck, kernel, self._struck)
        self._step = self._error = self._interrupted = self._function = self._struck = None
        self._is_told = False
        self._strikes = 0

    # --- ending a step ------------------------------------------------------------------------------------------------

    def _strike(self, kernel: Kernel, step: _SteppedCode, now: float, error: BaseException | None) -> None:
        """Have an error raised in the step."""
        if self._strikes and now < self._next_strike:
            return
        if error is None:
            error = self._livelock(kernel, step)
            if self._strikes:
                error = Insist(error)
        self._error = error
        if self.thread == threading.main_thread().ident and _is_signal_ours():
            assert _SIGNAL is not None
            signal.pthread_kill(self.thread, _SIGNAL)
        else:
            self._send_now(kernel, step, error)

    def _livelock(self, kernel: Kernel, step: _SteppedCode) -> LivelockError:
        report = self._describe(kernel, step)
        path = f"{report.path or report.what} ({report.place})"
        return LivelockError(0, agent=report.agent, path=path, tick=report.tick, seconds=self._seen)

    def _send_now(self, kernel: Kernel, step: _SteppedCode, error: BaseException) -> None:
        """Raise it in another thread.

        From the look at the frame to the sending there is nothing at which Python would let that thread run, unless
        this one has been held up by the system for longer than a switch interval; what is looked at last costs no
        call. The other thread gets the error when it goes on, in the very frame in which it stands.
        """
        frame = sys._current_frames().get(self.thread)
        if frame is None or not _is_authors(frame) or not step.is_same(_step_of(kernel)):
            return
        if _FREEZES and threading.gettrace() is not None:
            return
        self._is_sent = True
        place, current, calling = frame.f_lasti, step.current, step.calling
        if frame.f_lasti == place and kernel.current is current and kernel.calling is calling:
            _send(self.thread, error)
            self._was_struck()

    def deliver(self, frame: FrameType | None) -> None:
        """In the stuck thread: raise the error, if the step is still the one that is meant."""
        kernel, error, step = self._kernel(), self._error, self._step
        if error is None or kernel is None or not self.is_armed or self.thread != threading.get_ident():
            return
        if step is not None and step.is_same(_step_of(kernel)) and frame is not None and _is_authors(frame):
            self._was_struck()
            raise error

    def _was_struck(self) -> None:
        self._strikes += 1
        error = self._error.error if isinstance(self._error, Insist) else self._error
        if isinstance(error, LivelockError):
            self._struck = error
        grace = min(self.limit or HANGING, HANGING)  # for what cleans up
        self._next_strike = _patrol.now() + (grace if self._strikes == 1 else _SHORTEST)


class Patrol:
    """The thread that looks, and who is looked at. There is one in a process."""

    # When it looked last, in real time and in its own, and what the gap after that counts at most. One value: others
    # read it while the thread sets it. Of the class: a process that is forked goes on with its parent's time.
    _looked: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __init__(self) -> None:
        self._lock = threading.RLock()  # entered again by a Ctrl-C that comes at the wrong moment
        self._watches: list[weakref.ref[Watch]] = []
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()

    def admit(self, watch: Watch) -> None:
        """Look at a kernel from now on."""
        with self._lock:
            watch.is_known = True
            watch.idle_since = None
            if watch not in self.watches():
                self._watches.append(weakref.ref(watch))
            self._wake.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="agentrt watch", daemon=True)
                self._thread.start()

    def watches(self) -> list[Watch]:
        return [watch for ref in tuple(self._watches) if (watch := ref()) is not None]

    def _run(self) -> None:
        pause = _SHORTEST
        while True:
            self._wake.wait(pause)
            self._wake.clear()
            pause = self.look()
            if not self._go_on():
                return

    def now(self) -> float:
        """The patrol's own time, in seconds: that in which it looked, and nothing that a standstill of it took."""
        looked, own, most = self._looked
        return own + min(time.monotonic() - looked, most)

    def look(self) -> float:
        """Look at all once, and say when to look again. Nothing that was looked at is known to the thread after it."""
        real, now, pause = time.monotonic(), self.now(), _IDLE
        for watch in self.watches():
            with watch.lock:
                if watch.is_armed:
                    watch.idle_since = None
                    watch.look(now)
                    pause = min(pause, watch.pause)
                elif watch.idle_since is None:
                    watch.idle_since = now
        self._looked = (real, now, pause + _LATE)
        return pause

    def _go_on(self) -> bool:
        now = self.now()
        with self._lock:
            kept = []
            for ref in self._watches:
                watch = ref()
                if watch is None:
                    continue
                with watch.lock:
                    is_idle = not watch.is_armed and watch.idle_since is not None and now - watch.idle_since > _IDLE
                    watch.is_known = not is_idle
                    # In this order: whoever begins to step meanwhile says so first, and looks then whether it is known.
                    if watch.is_armed:
                        watch.is_known = True
                if watch.is_known:
                    kept.append(ref)
            self._watches = kept
            if not kept:
                self._thread = None
            return bool(kept)

    def forget_all(self) -> None:
        """In a process that was forked: the thread is not there."""
        for watch in self.watches():
            watch.is_known = False
            watch.lock = threading.RLock()
        self.__init__()  # type: ignore[misc]  # its locks, too, may be held by a thread that is not there


_patrol = Patrol()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_patrol.forget_all)


# --- what is stepped --------------------------------------------------------------------------------------------------


class _SteppedCode(NamedTuple):
    """What tells one step from another."""

    tick: int
    current: Entry | None
    coro: object  # a batch takes the first step of one coroutine after another
    calling: object
    taking: int  # the same function may be posted twice

    def is_same(self, other: _SteppedCode | None) -> bool:
        """By identity: what is called may be an author's, whose ``__eq__`` would run in the wrong thread."""
        if other is None or self.tick != other.tick or self.taking != other.taking:
            return False
        return self.current is other.current and self.coro is other.coro and self.calling is other.calling


def _step_of(kernel: Kernel) -> _SteppedCode | None:
    """What is stepped; None while nothing of an author's is called."""
    current, calling = kernel.current, kernel.calling
    if current is None and calling is None:
        return None
    return _SteppedCode(kernel.tick, current, None if current is None else current.coro, calling, kernel.taking)


def _called(calling: object) -> object:
    """The function that is called, of a driver ``drive``; found without running an author's code."""
    return calling if callable(calling) else getattr_static(type(calling), "drive", calling)


def _whose(step: _SteppedCode, frame: FrameType | None, acting: object) -> tuple[str, str]:
    """The agent and the path of a step: from whose hook is called, from who owns it, or from what is on the stack."""
    function = getattr(step.current, "fn", step.calling)
    current = step.current.root if isinstance(step.current, Strand) else step.current
    driven = getattr(function, "__self__", None) if callable(function) else function
    known: list[object] = [acting, getattr(current, "owner", None), driven]
    while frame is not None and frame.f_code.co_name not in ("drain", "step_tick"):
        if str(frame.f_globals.get("__name__")).startswith("agentrt."):
            known.extend(frame.f_locals.values())
        frame = frame.f_back
    for one in known:
        if type(one).__module__.startswith("agentrt."):  # an author's object would run an author's code
            with contextlib.suppress(Exception):
                whereabouts: Callable[[], tuple[str, str]] | None = getattr(one, "whereabouts", None)
                if whereabouts is not None:
                    return whereabouts()
                return one.body.name, one.name  # type: ignore[attr-defined]  # a driver's
    return "", ""


def _place(frame: FrameType) -> tuple[str, int, str]:
    """File, line and function of the innermost frame of the author's; the innermost if there is none."""
    found: FrameType | None = frame
    while found is not None and (_is_library(found.f_code.co_filename) or _package(found) in _MACHINERY):
        found = None if found.f_code.co_name in ("drain", "begin_tick", "end_tick") else found.f_back
    found = found or frame
    return found.f_code.co_filename, found.f_lineno, found.f_code.co_qualname


def _is_authors(frame: FrameType) -> bool:
    """Whether what runs is an author's code, or what it called of the standard library or of another package."""
    found: FrameType | None = frame
    while found is not None and _is_helper(found):
        found = found.f_back
    return found is not None and _package(found) not in _MACHINERY


def _outermost(frame: FrameType | None) -> FrameType | None:
    """The outermost function of an author's that a step has called; None if none runs."""
    found: FrameType | None = None
    while frame is not None:
        package = _package(frame)
        if package == "agentrt" and frame.f_code.co_name in _DRIVING:
            break
        if package not in _MACHINERY and not _is_helper(frame):
            found = frame
        frame = frame.f_back
    return found


def _is_helper(frame: FrameType) -> bool:
    package = _package(frame)
    return package in _HELPERS or (_is_library(frame.f_code.co_filename) and package not in _MACHINERY)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _is_library(file: str) -> bool:
    library, installed = _folders()
    return file.startswith(library) and not file.startswith(installed)


@functools.cache
def _folders() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where the standard library is, and what was installed. It takes time to find out, which no import should."""
    import sysconfig

    library = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    return (*library, "<frozen"), tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})


def _note_struck(kernel: Kernel, error: LivelockError) -> None:
    """At an intake: that a step was ended goes into the trace, whatever its author made of it."""
    if kernel.trace.on:
        detail = (("text", "a step was ended by hang_limit"), ("error", error_words(error)))
        kernel.trace.emit(TraceRecord(kernel.tick, error.agent, error.path, TraceEvent.FAULT, detail))


# --- how an error gets into a thread ----------------------------------------------------------------------------------


_sent: dict[int, BaseException] = {}  # by thread: Python takes a class and makes its instance there, without arguments


class _Delivered(BaseException):
    """What is sent into a thread. When Python makes it there, it is the error that is meant."""

    def __new__(cls, *_args: object) -> Any:
        return _sent.get(threading.get_ident()) or Insist(LivelockError(0))


class _Nothing(BaseException):
    """What is delivered when there is nothing to deliver any more."""


def _send(thread: int, error: BaseException) -> None:
    import ctypes  # here: few programs ever need it

    _sent[thread] = error
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_Delivered))


def _take_back(thread: int) -> None:
    """The step has ended: what was sent and did not get there is for nobody."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)
    _sent.pop(thread, None)
    if not _FREEZES or thread != threading.get_ident():
        return
    # Python 3.11 goes on believing that an error is pending, until one is delivered. A tracer or a profiler that is set
    # later would then let no thread into any function. So one is delivered, to us: a loop looks for it at each turn.
    try:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_Nothing))
        for _ in range(100):
            pass
    except _Nothing:
        pass


def _on_signal(_signal: int, frame: FrameType | None) -> None:
    for watch in _patrol.watches():  # whose it is cannot be sent along; each knows whether it was meant
        watch.deliver(frame)


def _prepare_signal() -> None:
    """Take the signal, if nobody has it; it is ignored by default, as it is by us when it was not meant for us."""
    if _SIGNAL is None or threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(_SIGNAL) in (signal.SIG_DFL, signal.SIG_IGN):
        signal.signal(_SIGNAL, _on_signal)


def _is_signal_ours() -> bool:
    return _SIGNAL is not None and signal.getsignal(_SIGNAL) is _on_signal


@contextlib.contextmanager
def one_interrupt_is_enough(watch: Watch) -> Iterator[None]:
    """Have the first Ctrl-C end a step that hangs, under an event loop that only asks its main task to end."""
    outer = None
    if threading.current_thread() is threading.main_thread():
        outer = signal.getsignal(signal.SIGINT)
    if not callable(outer) or outer is signal.default_int_handler:
        yield  # it raises in whatever runs, as it is
        return

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        watch.interrupt()
        outer(number, frame)

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is on_interrupt:
            signal.signal(signal.SIGINT, outer)
