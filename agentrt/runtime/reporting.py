"""What a runtime tells those who look at it: figures, notes, texts, failures. The part of ``Runtime`` for people.

Watching changes nothing: what is asked here is computed when it is asked, and a failure of who asks is logged and not
put into the trace, which is to be the same whether anybody looks or not. What faults are and who hears of them how
often: see ``faults``.

Source: design section 7.
"""

from __future__ import annotations

import contextlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agentrt.activity.plan.search import SearchWork
from agentrt.agent.faults import Fault, FaultHub, Repeats
from agentrt.agent.logs import Log, LogBridge, threshold_of
from agentrt.body.budget import WaitTimes
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.trace import Event, TraceRecord
from agentrt.snapshot import RuntimeSnapshot, snapshot_agent
from agentrt.snapshot.take import Translate, Translator
from agentrt.words import error_words, plain, printable, words_of

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.kernel.hosts.watchdog import StepReport
    from agentrt.kernel.kernel import Kernel
    from agentrt.runtime.gate import Gate

__all__ = ["Reporting"]


class Reporting(ABC):
    """The figures of one runtime.

    Args:
        kernel: the scheduler.
        think_budget: units of search work in each tick; None for any number.
        translate: makes status texts of keys; None shows the keys.

    Attributes:
        kernel: as given.
        waits: how long tasks were available before somebody started them, in ticks.
        search: the search work of all agents.
        texts: makes the status texts.
        logs: the bridge from the trace to the log.
        faults: who is told of faults.
        gate: what pauses it.
    """

    gate: Gate

    def __init__(self, kernel: Kernel, think_budget: int | None, translate: Translate | None) -> None:
        self.kernel: Kernel = kernel
        self.waits: WaitTimes = WaitTimes()
        self.search: SearchWork = SearchWork(kernel, think_budget)
        self.texts: Translator = Translator(translate, self._log)
        self.logs: LogBridge = LogBridge(kernel.trace)
        self.faults: FaultHub = FaultHub(self._log)
        self._repeats = Repeats()

    @property
    @abstractmethod
    def agents(self) -> tuple[Agent, ...]:
        """The agents, in the order in which they were added."""

    @property
    @abstractmethod
    def late_ticks(self) -> int:
        """How many ticks ``run`` has left out because the machine could not keep up."""

    # --- figures ------------------------------------------------------------------------------------------------------

    @property
    def search_waits(self) -> WaitTimes:
        """How long ``ctx.work`` had to wait for its units, in ticks; empty without a ``think_budget``."""
        return self.search.waits

    def snapshot(self) -> RuntimeSnapshot:
        """What goes on, as frozen, plain data: the figures, the task groups, and a snapshot of each agent."""
        groups = dict.fromkeys(group for agent in self.agents for group in agent.task_groups)
        budget = self.search.budget
        clock = self.kernel.clock
        return RuntimeSnapshot(
            tick=clock.tick,
            seconds=clock.now,
            ticks_per_second=clock.ticks_per_second,
            late_ticks=self.late_ticks,
            strands=self.kernel.live,
            is_paused=self.gate.is_closed,
            waits=self.waits.as_json(),
            search_waits=self.search_waits.as_json(),
            think_budget=None if budget is None else budget.units,
            think_used=self.search.used,
            think_waiting=0 if budget is None else budget.waiting,
            groups=tuple(group.snapshot() for group in groups),
            agents=tuple(snapshot_agent(agent) for agent in self.agents),
        )

    # --- the trace ----------------------------------------------------------------------------------------------------

    def note(self, text: str, /, **detail: Any) -> None:
        """Put a note of the world's own into the trace: a door was opened, a day began.

        Args:
            text: a few words.
            detail: what is to stand beside it, in this order; whatever has a name stands under it.
        """
        trace = self.kernel.trace
        if trace.on:
            told: list[tuple[str, Any]] = [
                ("text", _for_a_record(text)),
                *((name, _for_a_record(value)) for name, value in detail.items()),
            ]
            trace.emit(TraceRecord(self.kernel.tick, "", "", Event.NOTE, tuple(told)))

    # --- the log ------------------------------------------------------------------------------------------------------

    @property
    def log_level(self) -> str | None:
        """From which level on the trace goes to the log, of agents that have no level of their own. See ``logs``.

        None, as at first: nothing of the trace does; failures do, whatever they are worth.
        """
        return self.logs.level

    @log_level.setter
    def log_level(self, level: str | None) -> None:
        self.logs.level = level

    def log_state(self) -> tuple[int, int | None]:
        """From which level on its log speaks, and the tick; for its loggers."""
        return threshold_of(self.logs.level), self.kernel.tick

    # --- failures -----------------------------------------------------------------------------------------------------

    def on_fault(self, callback: Callable[[Fault], object]) -> Callable[[], None]:
        """Call a function for each fault: a failure that nobody handled and that the runtime survives.

        What is logged as an error is told here too, each time that it happens, whatever the log's level: a hook or a
        strand that raised, a function of the tick, a planner that was killed, somebody who watches and was dropped.
        A callback that raises is dropped, and that is logged.

        Args:
            callback: a plain function, called where it happens, on the runtime's own thread; it must not change the
                run. What fails in the thread of another, such as closing a recording there, is told in that thread.

        Returns:
            A function that ends it; calling it twice does nothing.

        Source: design section 7 (ours).
        """
        return self.faults.add(callback)

    def report_step(self, report: StepReport) -> None:
        """A step took long: called at an intake when it is over, and from another thread while it hangs."""
        text = printable(str(report))
        with contextlib.suppress(Exception):
            Log(self, {}).warning(text)
        if not report.is_over:
            with contextlib.suppress(Exception):
                print(f"agentrt: {text}", file=sys.stderr, flush=True)  # noqa: T201 - the log may go nowhere

    def _fault(self, text: str, error: BaseException) -> None:
        tick = self.kernel.tick
        trace = self.kernel.trace
        if trace.on:
            detail = (("text", text), ("error", error_words(error)))
            trace.emit(TraceRecord(tick, "", "", Event.FAULT, detail))
        times, first = self._repeats.count(text, error, tick)
        if times == 1:
            self._write(text, exc_info=error)
        elif times == 10 ** (len(str(times)) - 1):
            self._write(text, times=times, since=first, error=error_words(error))
        self.faults.tell(Fault(text, error, tick))

    def _log(self, text: str, error: BaseException) -> None:
        """A failure of who watches: it is no part of the run, so the trace has nothing of it."""
        self._write(text, exc_info=error)
        self.faults.tell(Fault(text, error, self.kernel.tick))

    def _write(self, text: str, **values: Any) -> None:
        try:
            Log(self, {}).error(text, **values)
        except ENDS_PROGRAM:
            raise
        except BaseException:  # a log that is broken itself: there is nobody left to tell
            return


def _for_a_record(value: Any) -> str | int | float | bool | None:
    value = plain(value)
    return value if value is None or isinstance(value, (str, int, float, bool)) else words_of(value)
