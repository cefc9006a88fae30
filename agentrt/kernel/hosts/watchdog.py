"""The blocking guard: notices when one step keeps the thread for itself, and says in which line it does.

A step that calls ``time.sleep``, a blocking socket or an endless computation stops every agent. After the fact nobody
can say where it was, so the guard looks while it happens: a daemon thread compares, a few times in each threshold, what
the kernel steps at the moment. When that has stayed the same over a whole threshold, it takes the stack of the kernel's
thread and remembers the line. The report is posted when the step has ended, so that it enters the run like any other
input.

Rules:

* The run pays nothing: the guard only reads ``kernel.current`` and the tick, the kernel does not know of it.
* One report for each step, however long it takes.
* The line is the innermost one outside the standard library: the author's call, not the inside of ``socket.py``.
* A call into C that never lets other threads run cannot be seen while it lasts; it goes unnoticed.

``look`` is the whole logic and takes the time as an argument, so that tests need neither a thread nor a clock.
"""

from __future__ import annotations

import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

from agentrt.kernel.agenda import Entry

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel

__all__ = ["BlockingGuard", "BlockingReport"]

_LOOKS = 4  # for each threshold
_LIBRARY = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})


@dataclass(frozen=True)
class BlockingReport:
    """One step that blocked the thread.

    Attributes:
        strand: the name of what was stepped.
        file: the file in which it blocked.
        line: the line.
        function: the function.
        tick: the tick in which it was.
        seconds: how long the step was seen to take, in real seconds; it took at least that.
    """

    strand: str
    file: str
    line: int
    function: str
    tick: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.strand!r} blocked the event loop for {self.seconds:.2f} s in tick {self.tick}, at "
            f"{self.file}:{self.line} in {self.function}. Call it through 'await ctx.call(fn, *args)', which runs it "
            f"in a worker thread, or let it await now and then."
        )


class BlockingGuard:
    """Watches a kernel from a thread of its own. Start it on the thread that steps the kernel.

    Args:
        kernel: the kernel.
        seconds: real seconds from which on a step is reported.
        on_report: called with a ``BlockingReport`` at an intake.

    Raises:
        ValueError: the threshold is not above 0.
    """

    def __init__(self, kernel: Kernel, seconds: float, on_report: Callable[[BlockingReport], object]) -> None:
        if not seconds > 0:
            raise ValueError(f"BlockingGuard(seconds={seconds!r}): it takes a number above 0")
        self._kernel = kernel
        self._seconds = seconds
        self._on_report = on_report
        self._watched_thread = threading.get_ident()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._step: tuple[Entry, int] | None = None
        self._since = 0.0
        self._seen = 0.0
        self._place: tuple[str, int, str] | None = None

    def start(self) -> None:
        """Begin to watch the thread that calls this."""
        if self._thread is None:
            self._watched_thread = threading.get_ident()
            self._stop.clear()
            self._thread = threading.Thread(target=self._watch, name="agentrt blocking guard", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread; a second call does nothing."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._stop.set()
            thread.join()

    def __enter__(self) -> BlockingGuard:
        self.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    def _watch(self) -> None:
        while not self._stop.wait(self._seconds / _LOOKS):
            self.look(time.monotonic())
        self._settle()

    def look(self, now: float) -> None:
        """Look at what is stepped. Called by the thread.

        Args:
            now: real seconds, from any start.
        """
        kernel = self._kernel
        current = kernel.current
        step = None if current is None else (current, kernel.tick)
        if step is None or self._step is None or step[0] is not self._step[0] or step[1] != self._step[1]:
            self._settle()
            self._step = step
            self._since = now
            return
        self._seen = now - self._since
        if self._place is None and self._seen >= self._seconds:
            frame = sys._current_frames().get(self._watched_thread)
            if frame is not None and kernel.current is current:
                self._place = _place(frame)

    def _settle(self) -> None:
        """The step that was watched has ended: report it if it blocked."""
        place, self._place = self._place, None
        if place is not None and self._step is not None:
            entry, tick = self._step
            report = BlockingReport(entry.name, *place, tick, self._seen)
            self._kernel.post(self._on_report, report)
        self._step = None


def _place(frame: FrameType) -> tuple[str, int, str]:
    """File, line and function of the innermost frame outside the standard library; the innermost if there is none."""
    found: FrameType | None = frame
    while found is not None and _is_library(found.f_code.co_filename):
        found = found.f_back
    found = found or frame
    return found.f_code.co_filename, found.f_lineno, found.f_code.co_qualname


def _is_library(file: str) -> bool:
    return file.startswith((*_LIBRARY, "<frozen")) and not file.startswith(_INSTALLED)
