"""What a runtime tells those who look at it: figures, notes, texts, failures. The part of ``Runtime`` for people.

Watching changes nothing: what is asked here is computed when it is asked, and a failure of who asks is logged and not
put into the trace, which is to be the same whether anybody looks or not.

Source: design section 7.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from agentrt.activity.search import SearchWork
from agentrt.body.metrics import WaitTimes
from agentrt.kernel.trace import Event, TraceRecord
from agentrt.snapshot import RuntimeSnapshot, snapshot_agent
from agentrt.status import Translate, Translator, plain

if TYPE_CHECKING:
    from agentrt.agent import Agent
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
    """

    def __init__(self, kernel: Kernel, think_budget: int | None, translate: Translate | None) -> None:
        self.kernel: Kernel = kernel
        self.waits: WaitTimes = WaitTimes()
        self.search: SearchWork = SearchWork(kernel, think_budget)
        self.texts: Translator = Translator(translate, self._log)

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
        """What goes on, as frozen, plain data: the figures, and a snapshot of each agent."""
        budget = self.search.budget
        clock = self.kernel.clock
        return RuntimeSnapshot(
            tick=clock.tick,
            seconds=clock.now,
            late_ticks=self.late_ticks,
            strands=self.kernel.live,
            waits=self.waits.as_json(),
            search_waits=self.search_waits.as_json(),
            think_budget=None if budget is None else budget.units,
            think_used=self.search.used,
            think_waiting=0 if budget is None else budget.waiting,
            agents=tuple(snapshot_agent(agent) for agent in self.agents),
        )

    # --- the trace ----------------------------------------------------------------------------------------------------

    def note(self, text: str, **detail: Any) -> None:
        """Put a note of the world's own into the trace: a door was opened, a day began.

        Args:
            text: a few words.
            detail: what is to stand beside it, in this order; whatever has a name stands under it.
        """
        trace = self.kernel.trace
        if trace.on:
            told = [("text", text), *((name, _for_a_record(value)) for name, value in detail.items())]
            trace.emit(TraceRecord(self.kernel.tick, "", "", Event.NOTE, tuple(told)))

    # --- failures -----------------------------------------------------------------------------------------------------

    def report_blocking(self, report: object) -> None:
        """A step kept the event loop from working; called at an intake."""
        from agentrt.logs import get_logger

        get_logger(tick=self.kernel.tick).warning(str(report))

    def _fault(self, text: str, error: BaseException) -> None:
        trace = self.kernel.trace
        if trace.on:
            detail = (("text", text), ("error", f"{type(error).__name__}: {error}"))
            trace.emit(TraceRecord(self.kernel.tick, "", "", Event.FAULT, detail))
        self._log(text, error)

    def _log(self, text: str, error: BaseException) -> None:
        from agentrt.logs import get_logger

        get_logger(tick=self.kernel.tick).error(text, exc_info=error)


def _for_a_record(value: Any) -> str | int | float | bool | None:
    value = plain(value)
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
