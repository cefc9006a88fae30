"""What watching costs, and that it costs nothing when nobody does.

``unwatched`` is the think cycle of ``think_ready`` in a runtime that was watched before: a listener had the trace of a
hundred ticks, and a snapshot was taken in each of them. Both are gone. The limit is the same with nobody who ever
looked; what is above it is what a watcher leaves behind, which is to be nothing. (Turns vary by a few parts in a
hundred; ours is to be within that.)

``watched`` is the same with a listener that does nothing with the records: what making them costs, as a multiple of
not making them.

``snapshot`` is one snapshot with its JSON, of a hearthling of the colony in the middle of its work: some seventy places
of a plan, each with what is known of it. The limit makes the same JSON once more from the one that is there, dict by
dict and list by list: what is above it is finding out what to put into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agentrt import Agent, Runtime
from agentrt.kernel import TraceRecord
from benchmarks.harness import Row, Side, Size, Work
from benchmarks.rows.think_cycle import AT_ONCE, Mind, agents, agents_at_once

__all__ = ["SNAPSHOT", "UNWATCHED", "WATCHED"]

_LOOKED_AT = 100
_SETTLED = 200


def _look_away(record: TraceRecord) -> None:
    """A listener that does nothing."""


def _cycles(runtime: Runtime, minds: list[Mind], rounds: int) -> Iterator[Work]:
    before = sum(mind.runs for mind in minds)

    def work() -> int:
        for _ in range(rounds):
            runtime.step()
        return sum(mind.runs for mind in minds) - before

    yield work


@contextmanager
def unwatched(size: Size) -> Iterator[Work]:
    """Somebody looked, and is gone."""
    with agents(size, AT_ONCE) as (runtime, _tick, minds):
        close = runtime.trace.listen(_look_away)
        for _ in range(min(_LOOKED_AT, size.rounds)):
            runtime.step()
            runtime.agents[0].snapshot().as_json()
        close()
        yield from _cycles(runtime, minds, size.rounds)


@contextmanager
def watched(size: Size) -> Iterator[Work]:
    """Somebody listens."""
    with agents(size, AT_ONCE) as (runtime, _tick, minds):
        runtime.trace.listen(_look_away)
        yield from _cycles(runtime, minds, size.rounds)


@contextmanager
def _at_work(size: Size) -> Iterator[Agent]:
    """A hearthling of the colony in the middle of its work."""
    from agentrt_examples.colony.colony import Colony

    runtime = Colony(seed=7).runtime
    for _ in range(min(_SETTLED, size.rounds)):
        runtime.step()
    agent = runtime.agents[0]
    assert agent.snapshot().running or size.rounds < _SETTLED, "nobody works"
    yield agent
    runtime.close()


@contextmanager
def snapshots(size: Size) -> Iterator[Work]:
    """Snapshots of one who works."""
    with _at_work(size) as agent:

        def work() -> int:
            for _ in range(size.rounds):
                agent.snapshot().as_json()
            return size.rounds

        yield work


def made_again(json: Any) -> Any:
    """The same dicts and lists, by hand."""
    if isinstance(json, dict):
        return {name: made_again(value) for name, value in json.items()}
    if isinstance(json, list):
        return [made_again(value) for value in json]
    return json


@contextmanager
def by_hand(size: Size) -> Iterator[Work]:
    """The JSON of such a snapshot, made once more."""
    with _at_work(size) as agent:
        json = agent.snapshot().as_json()

        def work() -> int:
            for _ in range(size.rounds):
                again = made_again(json)
            assert again == json
            return size.rounds

        yield work


UNWATCHED = Row(
    name="unwatched",
    what="think five candidates, elect, run, stop, after a watcher has gone",
    gauge="seconds",
    ours=Side("agentrt", unwatched),
    limit=Side("never watched", agents_at_once),
    at_most_times=1.05,
    size=Size(100, 200),
    quick=Size(10, 5),
)

WATCHED = Row(
    name="watched",
    what="the same while somebody listens to the trace",
    gauge="seconds",
    ours=Side("agentrt", watched),
    limit=Side("never watched", agents_at_once),
    at_most_times=3,
    size=Size(100, 200),
    quick=Size(10, 5),
)

SNAPSHOT = Row(
    name="snapshot",
    what="a snapshot of a working hearthling of the colony, and its JSON",
    gauge="seconds",
    ours=Side("agentrt", snapshots),
    limit=Side("same JSON by hand", by_hand),
    at_most_times=3.4,
    size=Size(1, 400),
    quick=Size(1, 3),
)
