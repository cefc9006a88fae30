"""A tick in which everybody sleeps.

One unit is one tick of a runtime with 10,000 idle agents; the limit is one tick of a runtime with none. An
agent that sleeps must cost nothing, so the two must be equal but for noise: one look at each agent would cost
a hundred times more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agentrt import Agent, Runtime
from benchmarks.harness import Row, Side, Size, Work
from benchmarks.rows.idle_memory import EIGHT, Idler

__all__ = ["IDLE_TICK"]


@contextmanager
def _ticks(agents: int, rounds: int) -> Iterator[Work]:
    runtime = Runtime(host="plain")
    for _ in range(agents):
        runtime.add(Agent(Idler(), actions=EIGHT))
    runtime.step()

    def work() -> int:
        for _ in range(rounds):
            runtime.step()
        return rounds

    yield work
    runtime.close()


@contextmanager
def idle_agents(size: Size) -> Iterator[Work]:
    """A runtime with idle agents."""
    with _ticks(size.count, size.rounds) as work:
        yield work


@contextmanager
def no_agents(size: Size) -> Iterator[Work]:
    """A runtime with nobody in it."""
    with _ticks(0, size.rounds) as work:
        yield work


IDLE_TICK = Row(
    name="idle_tick",
    what="one tick with 10,000 agents asleep, beside one tick with none",
    gauge="seconds",
    ours=Side("10,000 asleep", idle_agents),
    limit=Side("nobody", no_agents),
    at_most_times=1.25,
    size=Size(10_000, 20_000),
    quick=Size(20, 100),
    most_repeats=3,
)
