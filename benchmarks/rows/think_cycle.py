"""Think five candidates, elect the best, run it, stop it, through the public API.

One unit is one such cycle. In the first row every candidate knows its utility at once; in the second each
awaits an event of its own first, so that a cycle is ten steps of a think instead of five. The best candidate
is the third of the five, so that neither the first answer nor the last decides. What is elected runs without
letting time pass and is stopped; then the next cycle may begin.

Nobody but agentrt could interrupt what runs for what turns out to be better later: that is what the distance
to the limit pays for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from agentrt import Action, Agent, Runtime, Signal, ThinkOutput
from benchmarks.harness import Peer, Row, Side, Size, Work
from benchmarks.rows import think_cycle_others as others

__all__ = ["THINK_EVENT", "THINK_READY"]


class Mind:
    """The entity of an agent, with an event for each candidate."""

    __slots__ = ("events", "runs", "stops")

    def __init__(self) -> None:
        self.events = [Signal() for _ in others.SCORES]
        self.runs = 0
        self.stops = 0


class Candidate(Action):
    """Knows at once."""

    utility = (0.0, 1.0)
    number = 0
    score = 0.0

    class Output(ThinkOutput):
        score: float

    async def think(self, ctx: Any, args: Any) -> None:
        ctx.set_utility(self.score)
        ctx.set_think_output(score=self.score)

    async def run(self, ctx: Any, args: Any) -> None:
        ctx.entity.runs += 1

    def stop(self, ctx: Any, args: Any) -> None:
        ctx.entity.stops += 1


class PatientCandidate(Candidate):
    """Knows after an event."""

    async def think(self, ctx: Any, args: Any) -> None:
        await ctx.entity.events[self.number].wait()
        ctx.set_utility(self.score)
        ctx.set_think_output(score=self.score)


def _five(base: type[Candidate]) -> list[type[Action]]:
    return [
        type(f"{base.__name__}{number}", (base,), {"does": "agentrt:top", "number": number, "score": score})
        for number, score in enumerate(others.SCORES)
    ]


AT_ONCE = _five(Candidate)
ON_EVENTS = _five(PatientCandidate)


Host = Callable[[], AbstractContextManager[tuple[Runtime, Callable[[], object]]]]
"""Gives a runtime on a host and what runs a tick of it, and closes it."""


@contextmanager
def plain() -> Iterator[tuple[Runtime, Callable[[], object]]]:
    """The host that needs no event loop."""
    runtime = Runtime(host="plain")
    yield runtime, runtime.step
    runtime.close()


@contextmanager
def agents(
    size: Size, actions: list[type[Action]], host: Host = plain
) -> Iterator[tuple[Runtime, Callable[[], object], list[Mind]]]:
    """A runtime with agents, all of which have begun to think, and what runs a tick of it."""
    with host() as (runtime, tick):
        minds = [Mind() for _ in range(size.count)]
        for mind in minds:
            runtime.add(Agent(mind, actions=actions))
        tick()
        yield runtime, tick, minds
    for mind in minds:
        assert mind.stops == mind.runs, "what ran was not stopped"


def emit_all(minds: list[Mind]) -> None:
    """Every event of everybody."""
    for mind in minds:
        for event in mind.events:
            event.emit()


def _runs(minds: list[Mind]) -> int:
    return sum(mind.runs for mind in minds)


@contextmanager
def agents_at_once(size: Size, host: Host = plain) -> Iterator[Work]:
    """Agents whose candidates know at once."""
    with agents(size, AT_ONCE, host) as (_runtime, tick, minds):
        before = _runs(minds)

        def work() -> int:
            for _ in range(size.rounds):
                tick()
            return _runs(minds) - before

        yield work
        assert all(mind.runs >= size.rounds for mind in minds), "a tick passed without a run"


@contextmanager
def agents_on_events(size: Size, host: Host = plain) -> Iterator[Work]:
    """Agents whose candidates know after one event each."""
    with agents(size, ON_EVENTS, host) as (runtime, tick, minds):

        def work() -> int:
            for _ in range(size.rounds):
                runtime.post(emit_all, minds)
                tick()
                tick()  # a plan that took no time is thought again in the next tick
            return _runs(minds)

        yield work
        for mind in minds:
            assert mind.runs == size.rounds, "a cycle is not one run"


THINK_READY = Row(
    name="think_ready",
    what="think five candidates that know at once, elect, run, stop",
    gauge="seconds",
    ours=Side("agentrt", agents_at_once),
    limit=Side("bare coroutines", others.bare_at_once),
    at_most_times=5,
    peers=(
        Peer(Side("asyncio TaskGroup", others.asyncio_at_once), at_least=3),
        Peer(Side("uvloop TaskGroup", others.uvloop_at_once), at_least=1.5),
        Peer(Side("anyio task group", others.anyio_at_once), at_least=10),
        Peer(Side("trio nursery", others.trio_at_once)),
    ),
    size=Size(1000, 3),
    quick=Size(50, 2),
)

THINK_EVENT = Row(
    name="think_event",
    what="think five candidates that await one event each, elect, run, stop",
    gauge="seconds",
    ours=Side("agentrt", agents_on_events),
    limit=Side("bare coroutines", others.bare_on_events),
    at_most_times=5,
    peers=(
        Peer(Side("asyncio TaskGroup", others.asyncio_on_events), at_least=1),
        Peer(Side("uvloop TaskGroup", others.uvloop_on_events)),
        Peer(Side("anyio task group", others.anyio_on_events), at_least=5),
        Peer(Side("trio nursery", others.trio_on_events)),
    ),
    size=Size(1000, 3),
    quick=Size(50, 2),
)
