"""What goes on in a runtime, whole, as frozen, plain data: the figures, the task groups, and a snapshot of each agent.

Source: design section 7, "Snapshot".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from agentrt.activity.task_views import TaskGroupView
from agentrt.body.reading import Fields
from agentrt.snapshot.agent_views import VERSION, AgentSnapshot, check_version

__all__ = ["RuntimeSnapshot"]


@dataclass(frozen=True, slots=True)
class RuntimeSnapshot:
    """What goes on in a runtime.

    Attributes:
        tick: when.
        seconds: the same in game seconds.
        ticks_per_second: how many ticks make a game second.
        late_ticks: how many ticks were left out because the machine could not keep up.
        strands: how many coroutines live.
        is_paused: whether its gate is closed.
        waits: how long tasks were available before somebody started them; the figures of ``WaitTimes``.
        search_waits: how long search work waited for its part of the think budget; likewise.
        think_budget: units of search work in each tick; None for any number.
        think_used: how many of this tick were used.
        think_waiting: how many requests wait.
        groups: the task groups of all agents, each once, in the order of the agents.
        agents: each agent, in the order in which they were added.
    """

    version: ClassVar[int] = VERSION

    tick: int
    seconds: float
    ticks_per_second: int
    late_ticks: int
    strands: int
    is_paused: bool
    waits: dict[str, Any]
    search_waits: dict[str, Any]
    think_budget: int | None
    think_used: int
    think_waiting: int
    groups: tuple[TaskGroupView, ...]
    agents: tuple[AgentSnapshot, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        return {
            "version": VERSION,
            "tick": self.tick,
            "seconds": self.seconds,
            "ticks_per_second": self.ticks_per_second,
            "late_ticks": self.late_ticks,
            "strands": self.strands,
            "is_paused": self.is_paused,
            "waits": self.waits,
            "search_waits": self.search_waits,
            "think_budget": self.think_budget,
            "think_used": self.think_used,
            "think_waiting": self.think_waiting,
            "groups": [group.as_json() for group in self.groups],
            "agents": [agent.as_json() for agent in self.agents],
        }

    @classmethod
    def from_json(cls, data: object) -> RuntimeSnapshot:
        """Read what ``as_json`` wrote.

        Args:
            data: plain values, from anywhere.

        Raises:
            DataFault: it is no snapshot of a runtime, or of another version.
        """
        fields = Fields(data)
        check_version(fields)
        return cls(
            tick=fields.whole("tick"),
            seconds=fields.number("seconds"),
            ticks_per_second=fields.whole("ticks_per_second"),
            late_ticks=fields.whole("late_ticks"),
            strands=fields.whole("strands"),
            is_paused=fields.flag("is_paused"),
            waits=fields.plain_object("waits"),
            search_waits=fields.plain_object("search_waits"),
            think_budget=None if fields.is_null("think_budget") else fields.whole("think_budget"),
            think_used=fields.whole("think_used"),
            think_waiting=fields.whole("think_waiting"),
            groups=fields.each("groups", TaskGroupView.read),
            agents=fields.each("agents", AgentSnapshot.read),
        )
