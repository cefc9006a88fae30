"""Wake the leaf of a running plan, through the public API.

Agents whose top action is a compound, whose one step is a leaf that runs ``while True: await
ctx.next_tick()``; one unit is one wake of one leaf. The limit is that of the row ``wake``: it has no plan at
all.

The plans have run for longer than half a second of game time before the measurement begins, so that what
happens once in the life of a run (its utility gets the sunk cost boost) is not counted as a wake.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agentrt import Action, Agent, CompoundAction, Runtime, step
from benchmarks.harness import Row, Side, Size, Work
from benchmarks.rows.wake import BARE_WHEEL

__all__ = ["LEAF_WAKE"]

_SETTLED = 15  # ticks; the boost comes after 10


class Patrol(CompoundAction):
    """The top of the plan."""

    does = "agentrt:top"
    utility = 0.5
    steps = (step("bench:walk"),)


class Walk(Action):
    """The leaf."""

    does = "bench:walk"
    utility = 0.5

    async def run(self, ctx: Any, args: Any) -> None:
        while True:
            await ctx.next_tick()


@contextmanager
def ours(size: Size) -> Iterator[Work]:
    """Agents under a runtime."""
    runtime = Runtime(host="plain")
    for _ in range(size.count):
        runtime.add(Agent(object(), actions=[Patrol, Walk]))
    for _ in range(_SETTLED):
        runtime.step()

    def work() -> int:
        for _ in range(size.rounds):
            runtime.step()
        return size.count * size.rounds

    yield work
    runtime.close()


LEAF_WAKE = Row(
    name="leaf_wake",
    what="wake the leaf of a running plan (agent, compound, leaf), 10,000 of them awake in every tick",
    gauge="seconds",
    ours=Side("agentrt", ours),
    limit=BARE_WHEEL,
    at_most_times=4,
    size=Size(10_000, 20),
    quick=Size(50, 5),
    most_repeats=5,
)
