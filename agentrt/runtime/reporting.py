"""What a runtime tells those who look at it: notes in its trace, its log, and the failures that nobody handled.

Watching changes nothing. A failure of the run (``fault``) is a part of it: it has a record in the trace, each time. A
failure of who watches (``failed``) is none: it is logged and not put into the trace, which is to be the same whether
anybody looks or not. The log has what comes from the same place in full the first time, and then in one line when it
has come 10, 100, 1000 times; who asked by ``on_fault`` hears of each. What makes two failures the same: see ``faults``.

A log may be broken itself, and a step that hangs may hang in the log: so nothing here lets out what a log raises, and a
step that lasts is told to standard error as well.

Source: ours.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from agentrt.agent.faults import Fault, FaultHub, Repeats
from agentrt.agent.logs import Log, LogBridge, threshold_of
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.words import error_words, plain, printable, words_of

if TYPE_CHECKING:
    from agentrt.kernel.hosts.watchdog import StepReport
    from agentrt.kernel.kernel import Kernel

__all__ = ["Reporting"]


class Reporting:
    """What one runtime tells."""

    __slots__ = ("_kernel", "_repeats", "faults", "logs")

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._repeats = Repeats()
        self.logs: LogBridge = LogBridge(kernel.trace)  # hands the trace to the log
        self.faults: FaultHub = FaultHub(self.failed)  # who is told of faults

    def note(self, text: str, detail: dict[str, Any]) -> None:
        """Put a note of the world's own into the trace."""
        trace = self._kernel.trace
        if trace.on:
            told: list[tuple[str, Any]] = [
                ("text", _for_a_record(text)),
                *((name, _for_a_record(value)) for name, value in detail.items()),
            ]
            trace.emit(TraceRecord(self._kernel.tick, "", "", TraceEvent.NOTE, tuple(told)))

    def log_state(self) -> tuple[int, int | None]:
        """From which level on its log speaks, and the tick; for its loggers."""
        return threshold_of(self.logs.level), self._kernel.tick

    def report_step(self, report: StepReport) -> None:
        """A step took long: called at an intake when it is over, and from another thread while it hangs."""
        text = printable(str(report))
        with contextlib.suppress(Exception):
            Log(self, {}).warning(text)
        if not report.is_over:
            with contextlib.suppress(Exception):
                print(f"agentrt: {text}", file=sys.stderr, flush=True)  # noqa: T201 - the log may go nowhere

    def fault(self, text: str, error: BaseException) -> None:
        """Something of the run failed that is nobody's hook."""
        tick = self._kernel.tick
        trace = self._kernel.trace
        if trace.on:
            detail = (("text", text), ("error", error_words(error)))
            trace.emit(TraceRecord(tick, "", "", TraceEvent.FAULT, detail))
        times, first = self._repeats.count(text, error, tick)
        if times == 1:
            self._write(text, exc_info=error)
        elif times == 10 ** (len(str(times)) - 1):
            self._write(text, times=times, since=first, error=error_words(error))
        self.faults.tell(Fault(text, error, tick))

    def failed(self, text: str, error: BaseException) -> None:
        """A failure of who watches: it is no part of the run, so the trace has nothing of it."""
        self._write(text, exc_info=error)
        self.faults.tell(Fault(text, error, self._kernel.tick))

    def _write(self, text: str, **values: object) -> None:
        try:
            Log(self, {}).error(text, **values)
        except ENDS_PROGRAM:
            raise
        except BaseException:  # a log that is broken itself: there is nobody left to tell
            return


def _for_a_record(value: object) -> str | int | float | bool | None:
    value = plain(value)
    return value if value is None or isinstance(value, (str, int, float, bool)) else words_of(value)
