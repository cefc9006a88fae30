"""A simulation: a runtime without a wall clock, for tests and experiments.

Everything is synchronous and nothing waits: a second of game time is as long as its work takes. Equal seeds
and inputs give equal traces, and equal digests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrt.agent import Agent
from agentrt.errors import SimulationTimeout
from agentrt.kernel.trace import TraceDigest, TraceRecord
from agentrt.runtime import Runtime

__all__ = ["Simulation"]

_TOLD = 10  # how many agents an error tells about


class Simulation:
    """A runtime that a test drives tick by tick.

    Args:
        seed: of every random stream.
        ticks_per_second: how many ticks make one second of game time.
        runtime: one of the caller's own; otherwise one on the plain host is made.
        keep: how many records of the trace are kept, the newest; None for all.

    Attributes:
        runtime: the runtime.
    """

    def __init__(
        self,
        seed: int | str = 0,
        ticks_per_second: int = 20,
        *,
        runtime: Runtime | None = None,
        keep: int | None = None,
    ) -> None:
        self.runtime: Runtime = runtime or Runtime(seed, ticks_per_second=ticks_per_second, host="plain")
        self._records: list[TraceRecord] = []
        self._keep = keep
        self._digest = TraceDigest(self.runtime.trace)
        self._close = self.runtime.trace.listen(self._take)

    def _take(self, record: TraceRecord) -> None:
        records = self._records
        records.append(record)
        if self._keep is not None and len(records) > 2 * self._keep:  # now and then: shortening costs its length
            del records[: len(records) - self._keep]

    @property
    def trace(self) -> list[TraceRecord]:
        """What happened since the simulation was made, or the newest ``keep`` records of it."""
        records = self._records
        if self._keep is not None and len(records) > self._keep:
            del records[: len(records) - self._keep]
        return records

    @property
    def now(self) -> int:
        """The number of the last tick that ran."""
        return self.runtime.tick

    def add(self, agent: Agent) -> Agent:
        """Add an agent.

        Args:
            agent: the agent.

        Returns:
            The agent.
        """
        return self.runtime.add(agent)

    def tick(self, ticks: int = 1) -> None:
        """Run ticks.

        Args:
            ticks: how many.
        """
        for _ in range(ticks):
            self.runtime.step()

    def run_until(self, condition: Callable[[], Any], limit: int = 10_000) -> int:
        """Run ticks until a condition is true.

        Args:
            condition: asked before the first tick and after each.
            limit: how many ticks to run at most.

        Returns:
            How many ticks ran.

        Raises:
            SimulationTimeout: the limit was reached; the text says what each agent was doing.
        """
        for ran in range(limit + 1):
            if condition():
                return ran
            if ran < limit:
                self.runtime.step()
        agents = self.runtime.agents
        told = [agent.explain() for agent in agents[:_TOLD]]
        raise SimulationTimeout(limit, told, omitted=len(agents) - len(told), tick=self.now)

    def events(self, *kinds: str) -> list[tuple[int, str, str, str]]:
        """The trace as (tick, agent, path, event), for literal comparison.

        Args:
            kinds: only these events; all by default.
        """
        return [
            (record.tick, record.agent, record.path, record.event.value)
            for record in self.trace
            if not kinds or record.event.value in kinds
        ]

    def digest(self) -> str:
        """A hash of the whole trace so far, as hexadecimal digits."""
        return self._digest.hexdigest()

    def close(self) -> None:
        """Stop all agents, and stop listening."""
        self.runtime.close()
        self._digest.close()
        self._close()
