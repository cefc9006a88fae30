"""The think cycle and the plan of three steps on the hosts that have an event loop, where servers live.

The worlds are those of ``think_cycle`` and ``three_steps``. The limit is the same agents on the plain host, so that the
ratio is what the host costs; how the plain host stands to the work by hand is told by the rows of these two modules.
The peers do the work in task groups of the same event loop.

An event loop that is driven from outside lives in a thread of its own, in which anyio runs it; whoever measures hands
in one tick after the other and waits. That costs some 0.1 ms for a tick, which is nothing for a thousand agents. On
asyncio a tick is ``runtime.step()`` inside the running loop; trio has to be awaited, so there it is ``runtime.run(1)``.

In task groups a plan of three steps is searched as it is by hand, but each method and each operator thinks in a task of
its own, in a group for each task of the plan. That is as many thoughts as agentrt has.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from anyio.lowlevel import checkpoint

from agentrt import Runtime
from benchmarks.harness import Peer, Prepare, Row, Side, Size, Work
from benchmarks.rows import think_cycle_others as others
from benchmarks.rows.think_cycle import THINK_EVENT, THINK_READY, Host, agents_at_once, agents_on_events
from benchmarks.rows.three_steps import METHODS, OPERATORS, PLAN, THREE_STEPS, State, Task, ours

__all__ = [
    "HOSTS",
    "THINK_EVENT_ASYNCIO",
    "THINK_EVENT_TRIO",
    "THINK_READY_ASYNCIO",
    "THINK_READY_TRIO",
    "THREE_STEPS_ASYNCIO",
    "THREE_STEPS_TRIO",
]


@contextmanager
def _loop(library: str) -> Iterator[BlockingPortal]:
    """An event loop that runs, and waits for what it is to do."""
    import_module(library)  # anyio would not say which one is missing
    backend = "trio" if library == "trio" else "asyncio"
    options = {"use_uvloop": library == "uvloop"} if backend == "asyncio" else {}
    with start_blocking_portal(backend, options) as portal:
        yield portal


@contextmanager
def _host(library: str) -> Iterator[tuple[Runtime, Callable[[], object]]]:
    """A runtime inside an event loop that runs. See ``think_cycle.Host``."""
    with _loop(library) as portal:
        runtime = Runtime(host="trio" if library == "trio" else "asyncio")
        tick = partial(runtime.run, 1, speed=math.inf) if library == "trio" else runtime.step
        yield runtime, partial(portal.call, tick)
        portal.call(runtime.aclose)


HOSTS: dict[str, Host] = {library: partial(_host, library) for library in ("asyncio", "uvloop", "trio")}


# --- three steps in task groups -------------------------------------------------------------------------------------

Think = Callable[[], Coroutine[Any, Any, None]]
Group = Callable[[list[Think]], Coroutine[Any, Any, None]]


async def _task_group(thoughts: list[Think]) -> None:
    async with asyncio.TaskGroup() as group:
        for think in thoughts:
            group.create_task(think())


async def _nursery(thoughts: list[Think]) -> None:
    import trio

    async with trio.open_nursery() as nursery:
        for think in thoughts:
            nursery.start_soon(think)


async def _search(group: Group, state: State, tasks: list[Task], plan: list[Task]) -> list[Task] | None:
    if not tasks:
        return plan
    (name, *args), rest = tasks[0], tasks[1:]
    operator = OPERATORS.get(name)
    after = state if operator is None else state.copy()
    candidates = METHODS[name] if operator is None else (operator,)
    answers: list[Any] = [None] * len(candidates)

    async def think(number: int) -> None:
        answers[number] = candidates[number](after, *args)

    await group([partial(think, number) for number in range(len(candidates))])
    for answer in filter(None, answers):
        done, todo = ([*plan, tasks[0]], rest) if operator is not None else (plan, answer + rest)
        found = await _search(group, after, todo, done)
        if found is not None:
            return found
    return None


class _Person:
    """Who travels, in a task."""

    __slots__ = ("group", "plan", "state", "taxi_came", "taxis_called", "wants_to_leave")

    def __init__(self, group: Group, event: Callable[[], Any]) -> None:
        self.group = group
        self.state: State = {"location": "home_a", "cash": 20.0}
        self.wants_to_leave = event()
        self.taxi_came = event()
        self.plan: list[Task] | None = None
        self.taxis_called = 0

    async def go_out(self) -> None:
        await self.wants_to_leave.wait()
        self.plan = await _search(self.group, self.state, [("travel", "park")], [])
        if self.plan is not None:
            await getattr(self, self.plan[0][0])()

    async def call_taxi(self) -> None:
        self.taxis_called += 1
        await self.taxi_came.wait()


@contextmanager
def _in_groups(library: str, group: Group, size: Size) -> Iterator[Work]:
    """People who wait for the wish, each in a task, and search in task groups."""
    with _loop(library) as portal:
        event = import_module("trio" if library == "trio" else "asyncio").Event
        people = [_Person(group, event) for _ in range(size.count)]
        journeys = portal.start_task_soon(group, [person.go_out for person in people])

        async def leave() -> None:
            for person in people:
                person.wants_to_leave.set()
            while not (all(person.taxis_called for person in people) or journeys.done()):  # done: one has failed
                await checkpoint()

        def work() -> int:
            portal.call(leave)
            return size.count

        portal.call(checkpoint)  # all of them wait
        yield work
        journeys.cancel()
    expected = (PLAN, 1) if size.rounds else (None, 0)
    assert all((person.plan, person.taxis_called) == expected for person in people), "somebody has no plan"


# --- the rows -------------------------------------------------------------------------------------------------------

Groups = tuple[Prepare, Prepare, Prepare]
"""Task groups on asyncio and on uvloop, a nursery on trio."""


def _pair(
    row: Row, ours: Callable[[Size, Host], AbstractContextManager[Work]], at_least: float | None, groups: Groups
) -> tuple[Row, Row]:
    """A row of the plain host on asyncio, with uvloop beside it, and on trio."""

    def on(library: str) -> Prepare:
        return lambda size: ours(size, HOSTS[library])

    limit = Side("plain host", row.ours.prepare)
    on_asyncio, on_uvloop, on_trio = groups
    return (
        replace(
            row,
            name=f"{row.name}_asyncio",
            what=f"the same on asyncio: {row.what}",
            ours=Side("agentrt", on("asyncio")),
            limit=limit,
            at_most_times=None,
            peers=(
                Peer(Side("asyncio TaskGroup", on_asyncio), at_least),
                Peer(Side("agentrt on uvloop", on("uvloop"))),
                Peer(Side("uvloop TaskGroup", on_uvloop)),
            ),
        ),
        replace(
            row,
            name=f"{row.name}_trio",
            what=f"the same on trio: {row.what}",
            ours=Side("agentrt", on("trio")),
            limit=limit,
            at_most_times=None,
            peers=(Peer(Side("trio nursery", on_trio)),),
        ),
    )


THINK_READY_ASYNCIO, THINK_READY_TRIO = _pair(
    THINK_READY, agents_at_once, 2, (others.asyncio_at_once, others.uvloop_at_once, others.trio_at_once)
)
THINK_EVENT_ASYNCIO, THINK_EVENT_TRIO = _pair(
    THINK_EVENT, agents_on_events, None, (others.asyncio_on_events, others.uvloop_on_events, others.trio_on_events)
)
THREE_STEPS_ASYNCIO, THREE_STEPS_TRIO = _pair(
    THREE_STEPS,
    ours,
    None,
    (
        partial(_in_groups, "asyncio", _task_group),
        partial(_in_groups, "uvloop", _task_group),
        partial(_in_groups, "trio", _nursery),
    ),
)
