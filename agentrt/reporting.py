"""What a runtime tells those who look at it: figures, notes, texts, failures. The part of ``Runtime`` for people.

Watching changes nothing: what is asked here is computed when it is asked, and a failure of who asks is logged and not
put into the trace, which is to be the same whether anybody looks or not.

Source: design section 7.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from agentrt.activity.search import SearchWork
from agentrt.body.metrics import WaitTimes
from agentrt.kernel.trace import Event, TraceRecord
from agentrt.logs import Log, LogBridge, threshold_of
from agentrt.snapshot import RuntimeSnapshot, snapshot_agent
from agentrt.status import Translate, Translator, plain

if TYPE_CHECKING:
    from agentrt.agent import Agent
    from agentrt.gate import Gate
    from agentrt.kernel.kernel import Kernel

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
        gate: what pauses it.
    """

    gate: Gate

    def __init__(self, kernel: Kernel, think_budget: int | None, translate: Translate | None) -> None:
        self.kernel: Kernel = kernel
        self.waits: WaitTimes = WaitTimes()
        self.search: SearchWork = SearchWork(kernel, think_budget)
        self.texts: Translator = Translator(translate, self._log)
        self.logs: LogBridge = LogBridge(kernel.trace)

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
            told = [("text", text), *((name, _for_a_record(value)) for name, value in detail.items())]
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

    def report_blocking(self, report: object) -> None:
        """A step kept the event loop from working; called at an intake."""
        Log(self, {}).warning(str(report))

    def _fault(self, text: str, error: BaseException) -> None:
        trace = self.kernel.trace
        if trace.on:
            detail = (("text", text), ("error", f"{type(error).__name__}: {error}"))
            trace.emit(TraceRecord(self.kernel.tick, "", "", Event.FAULT, detail))
        self._log(text, error)

    def _log(self, text: str, error: BaseException) -> None:
        with contextlib.suppress(Exception):  # a log that is broken itself: there is nobody left to tell
            Log(self, {}).error(text, exc_info=error)


def _for_a_record(value: Any) -> str | int | float | bool | None:
    value = plain(value)
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
