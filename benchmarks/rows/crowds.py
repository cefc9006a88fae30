"""Crowds: many tasks for a few members, and many agents for one thing. What one choice costs must not grow with them.

Tasks: fifty members do tasks that take a tick each; for each that is done, another one is created. One unit is one
tick, in which all fifty choose anew. The limit is the same with a hundred tasks: there is twice as much to choose from
as there are members, and a member that asked all of a thousand would take ten times as long.

A lease: all agents want one thing, and have it for a tick each. One unit is one tick, in which it goes from one to the
next, and the one who had it wants it again. The limit is the same with fifty agents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agentrt import Action, ActionArgs, Agent, Entity, Runtime
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks
from benchmarks.harness import Row, Side, Size, Work

__all__ = ["LEASE_LINE", "TASKS_THOUSAND", "TASKS_THREE_THOUSAND"]

_MEMBERS = 50
_FEW_TASKS = 100
_FEW_AGENTS = 50
_WELL = Entity("well", name="well")


class Dig(Action):
    """What there are tasks for; it thinks, as most do."""

    does = "bench:dig"
    utility = 0.5

    class Args(ActionArgs):
        where: int

    async def think(self, ctx: Any, args: Any) -> None:
        ctx.set_think_output()

    async def run(self, ctx: Any, args: Any) -> None:
        await ctx.next_tick()


class Works(TaskGroupAction):
    """The group."""

    does = "agentrt:top"
    utility = (0.0, 0.8)
    tasks = (declare_multiple_tasks("bench:dig", (0.2, 0.9)),)


def _dig(runtime: Runtime, tasks: int) -> None:
    group = TaskGroup(Works, name="works")
    for number in range(_MEMBERS):
        agent = Agent(Entity("digger", name=f"digger {number}"), actions=[Dig])
        runtime.add(agent)
        group.add(agent)

    def another(_done: object = None) -> None:
        group.create_task("bench:dig", where=0).once().notify_completed(another).start()

    for _ in range(tasks):
        another()


class Draw(Action):
    """Wants the well, and has it for a tick."""

    does = "agentrt:top"
    utility = 0.5

    def start(self, ctx: Any, args: Any) -> None:
        self.lease = ctx.entity.acquire(_WELL, ctx.agent)
        if self.lease is None:
            ctx.reject("somebody else has it")

    async def run(self, ctx: Any, args: Any) -> None:
        await ctx.next_tick()

    def stop(self, ctx: Any, args: Any) -> None:
        if self.lease is not None:
            self.lease.release()


def _draw(runtime: Runtime, agents: int) -> None:
    for number in range(agents):
        runtime.add(Agent(runtime.leases, name=f"drawer {number}", actions=[Draw]))


def _side(label: str, populate: Callable[[Runtime, int], None], at_most: int | None = None) -> Side:
    """A runtime with a crowd in it; with no more of it than so many, whatever the size says."""

    @contextmanager
    def prepare(size: Size) -> Iterator[Work]:
        runtime = Runtime(host="plain")
        populate(runtime, size.count if at_most is None else min(size.count, at_most))
        runtime.step()

        def work() -> int:
            for _ in range(size.rounds):
                runtime.step()
            return size.rounds

        yield work
        runtime.close()

    return Side(label, prepare)


TASKS_THOUSAND = Row(
    name="tasks_thousand",
    what="one tick in which 50 members choose among 1,000 tasks, beside 100 tasks",
    gauge="seconds",
    ours=_side("1,000 tasks", _dig),
    limit=_side("100 tasks", _dig, at_most=_FEW_TASKS),
    at_most_times=1.5,
    size=Size(1000, 40),
    quick=Size(200, 3),
    most_repeats=5,
)

TASKS_THREE_THOUSAND = Row(
    name="tasks_three_thousand",
    what="the same with 3,000 tasks",
    gauge="seconds",
    ours=_side("3,000 tasks", _dig),
    limit=_side("100 tasks", _dig, at_most=_FEW_TASKS),
    at_most_times=2,
    size=Size(3000, 40),
    quick=Size(300, 3),
    most_repeats=5,
)

LEASE_LINE = Row(
    name="lease_line",
    what="one tick in which a lease goes from one of 1,000 agents to the next, beside 50 agents",
    gauge="seconds",
    ours=_side("1,000 agents", _draw),
    limit=_side("50 agents", _draw, at_most=_FEW_AGENTS),
    at_most_times=1.5,
    size=Size(1000, 1000),
    quick=Size(100, 10),
    most_repeats=5,
)
