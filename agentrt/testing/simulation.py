"""A simulation: a runtime without a wall clock, for tests and experiments.

Everything is synchronous and nothing waits: a second of game time is as long as its work takes. Equal seeds
and inputs give equal traces, and equal digests.

It listens from the moment it is made: to the whole trace, for whoever compares, and to the faults in it, which a test
takes when it expects them. How it waits for things is in ``until``; what can be claimed of its trace, in ``matchers``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agentrt.errors import InjectedFault
from agentrt.kernel.trace import Event, TraceDigest, TraceRecord
from agentrt.runtime import Runtime
from agentrt.testing.chaos import ChaosReport, run_chaos
from agentrt.testing.chaos_faults import FAULTS
from agentrt.testing.matchers import fits_path
from agentrt.testing.until import Waiting

if TYPE_CHECKING:
    from agentrt.agent import Agent

__all__ = ["Simulation"]


class Simulation(Waiting):
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
        self._faults: list[TraceRecord] = []
        self._keep = keep
        self._digest = TraceDigest(self.runtime.trace)
        self._close = self.runtime.trace.listen(self._take)

    def _take(self, record: TraceRecord) -> None:
        records = self._records
        records.append(record)
        if record.event is Event.FAULT:
            self._faults.append(record)
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

    def events(
        self, *kinds: str, agent: str | None = None, path: str | None = None, since: int = 0
    ) -> list[tuple[int, str, str, str]]:
        """The trace as (tick, agent, path, event), for literal comparison.

        Args:
            kinds: only these events; all by default.
            agent: only of this one, by its name.
            path: only at these places, as in a ``Pattern``.
            since: only from this tick on.
        """
        return [
            (record.tick, record.agent, record.path, record.event.value)
            for record in self.trace
            if (not kinds or record.event.value in kinds)
            and (agent is None or record.agent == agent)
            and record.tick >= since
            and (path is None or fits_path(path, record.path))
        ]

    def faults(self) -> list[TraceRecord]:
        """What raised and was reported since the last call. Taking it says that it was expected.

        The fixture ``sim`` fails a test that leaves something here.
        """
        taken, self._faults = self._faults, []
        return taken

    def digest(self) -> str:
        """A hash of the whole trace so far, as hexadecimal digits."""
        return self._digest.hexdigest()

    def chaos(
        self,
        seed: int | str = 0,
        *,
        ticks: int,
        rate: float = 0.02,
        faults: Sequence[str] = FAULTS,
        before: Callable[[int], object] | None = None,
        error: Callable[[str], BaseException] = InjectedFault,
    ) -> ChaosReport:
        """Run ticks in which awaits are cancelled, raise or come late, entities are destroyed and agents removed.

        At the end the runtime is closed, and what must hold whatever happens is checked; see ``agentrt.testing.chaos``.
        For a short scenario, ``exhaust`` hits every await in turn.

        Args:
            seed: of the faults; equal runs with equal seeds have equal faults.
            ticks: how many.
            rate: how likely an await is to be hit, from 0 to 1.
            faults: which kinds; one that is named twice comes twice as often.
            before: called before each tick with its number: what happens in the world.
            error: makes what a failing await raises, from the place in words.

        Returns:
            The report; ``check()`` raises if something was violated.

        Raises:
            ValueError: there is no such fault.

        Source: design section 7 (ours).
        """
        report = run_chaos(self.runtime, seed, ticks=ticks, rate=rate, faults=faults, before=before, error=error)
        self._faults.clear()  # they were expected
        return report

    def close(self) -> None:
        """Stop all agents, and stop listening."""
        self.runtime.close()
        self._digest.close()
        self._close()
