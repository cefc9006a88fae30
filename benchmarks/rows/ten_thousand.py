"""Planners in numbers, one in a hundred of them awake in each tick; and all of them at once.

Agents with eight known actions, all thinking. In each tick the next hundredth of them is stirred: all eight
thinks of such an agent go on; seven find nothing worth doing and wait again, the eighth is a plan of two
steps, which is thought, elected, runs for two ticks and ends; then the agent is idle until its turn comes.
One unit is one tick. The limit are agents by hand (``by_hand``), as many.

``ten_thousand`` is the mean tick with the collector off, as in other rows. ``planners_1k``, ``_10k`` and ``_100k`` are
the median and the worst tick with the collector on, for the growth: the ratio to the limit is to stay as it is,
whatever their number. Loading is not measured, and the first plan of each agent is a part of it: with it an agent makes
what it keeps for the next ones, and a world that grows by half is looked through once (``docs/explanation/speed.md``).
The collector comes out of it as it does in a game, with much that it has not yet looked through. Within
``runtime.freezing``, as in ``runtime.run``, it does not look through it. The last is big.

``loaded_tick`` is the worst tick of a load that comes at once: all of 10,000 are stirred in the same tick, in every
fourth, and the collector is on. Its unit is the tick in which they think, elect and begin to run, collections included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from agentrt import PREV, Action, ActionArgs, Agent, CompoundAction, Runtime, ThinkOutput, step
from benchmarks.harness import Row, Side, Size, Work
from benchmarks.rows.by_hand import stirred_by_hand
from benchmarks.rows.idle_memory import Idler

__all__ = [
    "ACTIONS",
    "LOADED_TICK",
    "PLANNERS_1K",
    "PLANNERS_10K",
    "PLANNERS_100K",
    "SETTLED",
    "TEN_THOUSAND",
    "share",
    "stirred",
]

_SHARE = 100  # one in so many is awake
SETTLED = 4  # ticks until as many plans end as begin


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


def share(size: Size) -> int:
    """How many are awake at a time."""
    return max(1, size.count // _SHARE)


def _plan_once(runtime: Runtime, idlers: list[Idler]) -> None:
    for idler in idlers:
        runtime.post(idler.stirred.emit)
    for _ in range(SETTLED):
        runtime.step()


@contextmanager
def stirred(
    size: Size, make: Callable[[Idler], Agent], awake: int, every: int = 1, *, have_planned: bool = False
) -> Iterator[Work]:
    """Agents under one runtime, stirred in turn.

    Args:
        size: how many agents, how many ticks.
        make: makes an agent of its entity.
        awake: how many are stirred at a time.
        every: in every so many ticks.
        have_planned: whether each of them has run a plan before, and so has made what it keeps for the next one.
    """
    runtime = Runtime(host="plain")
    idlers = [Idler() for _ in range(size.count)]
    for idler in idlers:
        runtime.add(make(idler))
    ticks = turn = stirs = 0

    def stir() -> None:
        nonlocal turn, stirs
        for number in range(awake):
            idlers[(turn + number) % size.count].stirred.emit()
        turn += awake
        stirs += 1

    def tick() -> None:
        nonlocal ticks
        if ticks % every == 0:
            runtime.post(stir)
        ticks += 1
        runtime.step()

    runtime.step()
    if have_planned:
        _plan_once(runtime, idlers)
    for _ in range(SETTLED):
        tick()

    def work() -> int:
        for _ in range(size.rounds):
            tick()
        return size.rounds

    with runtime.freezing():
        yield work
    for _ in range(SETTLED):
        runtime.step()
    assert sum(idler.runs for idler in idlers) == awake * stirs + have_planned * size.count, "a plan was not run"
    runtime.close()


def _planner(idler: Idler) -> Agent:
    return Agent(idler, actions=ACTIONS)


def ours(size: Size) -> AbstractContextManager[Work]:
    """Agents that plan and do nothing else."""
    return stirred(size, _planner, share(size))


def planned(size: Size) -> AbstractContextManager[Work]:
    """The same when all have planned before."""
    return stirred(size, _planner, share(size), have_planned=True)


def by_hand(size: Size) -> AbstractContextManager[Work]:
    """The same by hand."""
    return stirred_by_hand(size, share(size), 1, SETTLED)


def all_at_once(size: Size) -> AbstractContextManager[Work]:
    """All are stirred, then all have time to end."""
    return stirred(size, _planner, size.count, SETTLED)


def all_by_hand(size: Size) -> AbstractContextManager[Work]:
    """The same by hand."""
    return stirred_by_hand(size, size.count, SETTLED, SETTLED)


AT_MOST_TIMES = 11

TEN_THOUSAND = Row(
    name="ten_thousand",
    what="one tick of 10,000 agents with 8 known actions, 1 % of their plans awake",
    gauge="seconds",
    ours=Side("agentrt", ours),
    limit=Side("agents by hand", by_hand),
    at_most_times=AT_MOST_TIMES,
    size=Size(10_000, 40),
    quick=Size(200, 5),
    most_repeats=3,
)


def _planners(name: str, count: int, rounds: int, *, most_repeats: int, is_big: bool = False) -> Row:
    return Row(
        name=name,
        what=f"the same with {count:,} agents and the collector on: the median tick and the worst",
        gauge="ticks",
        ours=Side("agentrt", planned),
        limit=Side("agents by hand", by_hand),
        at_most_times=AT_MOST_TIMES,
        worst_at_most_times=2,
        size=Size(count, rounds),
        quick=Size(count // 50, 5),
        most_repeats=most_repeats,
        is_big=is_big,
    )


PLANNERS_1K = _planners("planners_1k", 1000, 400, most_repeats=5)
PLANNERS_10K = _planners("planners_10k", 10_000, 100, most_repeats=3)
PLANNERS_100K = _planners("planners_100k", 100_000, 40, most_repeats=1, is_big=True)

LOADED_TICK = Row(
    name="loaded_tick",
    what="the worst tick of 10,000 agents with 8 known actions when all plans wake at once, the collector on",
    gauge="worst tick",
    ours=Side("agentrt", all_at_once),
    limit=Side("agents by hand", all_by_hand),
    size=Size(10_000, 8),
    quick=Size(200, 8),
    most_repeats=2,
)
