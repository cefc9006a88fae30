"""Ten thousand planners, one in a hundred of them awake in each tick.

Agents with eight known actions, all thinking. In each tick the next hundredth of them is stirred: all eight
thinks of such an agent go on; seven find nothing worth doing and wait again, the eighth is a plan of two
steps, which is thought, elected, runs for two ticks and ends; then the agent is idle until its turn comes.
One unit is one tick. The target is the length of a tick at 20 Hz.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from agentrt import PREV, Action, ActionArgs, Agent, CompoundAction, Runtime, ThinkOutput, step
from benchmarks.harness import Row, Side, Size, Work
from benchmarks.rows.idle_memory import Idler

__all__ = ["ACTIONS", "TEN_THOUSAND", "stirred"]

_SHARE = 100  # one in so many is awake
_SETTLED = 4  # ticks until as many plans end as begin


class Watch(Action):
    """Seven of the eight."""

    utility = (0.0, 1.0)

    async def think(self, ctx: Any, args: Any) -> None:
        while not ctx.entity.is_in_danger:
            await ctx.entity.stirred.wait()
        ctx.set_think_output()


class Errand(CompoundAction):
    """The eighth."""

    does = "agentrt:top"
    utility = 0.5
    steps = (step("bench:look"), step("bench:go", place=PREV.place))

    async def think(self, ctx: Any, args: Any) -> None:
        await ctx.entity.stirred.wait()
        ctx.set_think_output()


class Look(Action):
    """Find a place."""

    does = "bench:look"
    utility = 0.5

    class Output(ThinkOutput):
        place: int

    async def think(self, ctx: Any, args: Any) -> None:
        ctx.set_think_output(place=7)

    async def run(self, ctx: Any, args: Any) -> None:
        await ctx.next_tick()


class Go(Action):
    """Go there."""

    does = "bench:go"
    utility = 0.5

    class Args(ActionArgs):
        place: int

    async def run(self, ctx: Any, args: Any) -> None:
        await ctx.next_tick()
        ctx.entity.runs += 1


WATCHES: list[type[Action]] = [type(f"Watch{number}", (Watch,), {"does": "agentrt:top"}) for number in range(7)]


ACTIONS: list[type[Action]] = [*WATCHES, Errand, Look, Go]


@contextmanager
def stirred(size: Size, make: Callable[[Idler], Agent]) -> Iterator[Work]:
    """Agents under one runtime, stirred in turn.

    Args:
        size: how many agents, and how many ticks in a turn.
        make: makes the agent of an idler; it knows ``ACTIONS``.
    """
    runtime = Runtime(host="plain")
    idlers = [Idler() for _ in range(size.count)]
    for idler in idlers:
        runtime.add(make(idler))
    awake = max(1, size.count // _SHARE)
    turn = 0

    def stir() -> None:
        nonlocal turn
        for number in range(awake):
            idlers[(turn + number) % size.count].stirred.emit()
        turn += awake

    def tick() -> None:
        runtime.post(stir)
        runtime.step()

    runtime.step()
    for _ in range(_SETTLED):
        tick()

    def work() -> int:
        for _ in range(size.rounds):
            tick()
        return size.rounds

    yield work
    for _ in range(_SETTLED):
        runtime.step()
    assert sum(idler.runs for idler in idlers) == awake * (size.rounds + _SETTLED), "a plan was not run"
    runtime.close()


def ours(size: Size) -> AbstractContextManager[Work]:
    """Agents that plan and do nothing else."""
    return stirred(size, lambda idler: Agent(idler, actions=ACTIONS))


TEN_THOUSAND = Row(
    name="ten_thousand",
    what="one tick of 10,000 agents with 8 known actions, 1 % of their plans awake",
    gauge="seconds",
    ours=Side("agentrt", ours),
    at_most=0.050,
    size=Size(10_000, 40),
    quick=Size(200, 5),
    most_repeats=3,
)
