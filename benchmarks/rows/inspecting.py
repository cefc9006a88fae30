"""What the inspector costs: a tick of the colony that is looked at, against one that is not.

One colony of 25 agents; one unit is one tick of all of it. ``inspecting_nobody`` has an inspector attached and no
client: it must cost nothing. ``inspecting`` has one client that looks at everything at once, a list, an agent, the log
and a time line, and is told of it ten times a second. ``inspecting_past`` keeps the last 2,000 ticks besides, and
nobody goes back to them: so many have passed before it is measured, on both sides, so that the oldest are dropped. What
is measured is the thread of the game; making JSON and sending it is another thread's work and not in it, nor is there a
socket.

The limit is the same colony with nobody who looks. The first hundred ticks, in which all begin to think at once, are
not counted. Ticks run without a rest here, so a second of real time, in which ten messages are composed, has many more
ticks than a game's; the greater part of what is measured is listening to the trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from benchmarks.harness import Row, Side, Size, Work

__all__ = ["INSPECTING", "INSPECTING_NOBODY", "INSPECTING_PAST"]

_SETTLED = 100
_PAST = 2000  # ticks
_EVERYTHING = '{"do":"watch","agents":{},"agent":"Alva","events":{},"timeline":{"agent":"Alva"}}'


@contextmanager
def _colony(
    size: Size, *, is_attached: bool, is_watched: bool = False, past: int = 0, settled: int = _SETTLED
) -> Iterator[Work]:
    from agentrt.inspect.live import LiveSource
    from agentrt.inspect.protocol import Command, read
    from agentrt.inspect.sessions import Message, Session
    from agentrt_examples.colony.colony import Colony

    runtime = Colony(seed=7).runtime
    source = LiveSource(runtime, "colony", controls=False, past=past)
    told = 0

    def take(batch: list[Message]) -> bool:
        nonlocal told
        told += len(batch)
        session.arrived()
        return True

    session = Session(take)
    if is_attached:
        source.attach()
    if is_watched:
        command = read(_EVERYTHING)
        assert isinstance(command, Command)
        session.submit(command)
        source.open(session)
    for _ in range(min(settled, size.rounds * settled // _SETTLED)):
        runtime.step()

    def work() -> int:
        for _ in range(size.rounds):
            runtime.step()
        return size.rounds

    yield work
    assert bool(told) == is_watched
    source.detach()
    runtime.close()


def plain(size: Size) -> AbstractContextManager[Work]:
    """No inspector."""
    return _colony(size, is_attached=False)


def attached(size: Size) -> AbstractContextManager[Work]:
    """An inspector, and nobody who looks."""
    return _colony(size, is_attached=True)


def watched(size: Size) -> AbstractContextManager[Work]:
    """A client that looks at everything."""
    return _colony(size, is_attached=True, is_watched=True)


def long_plain(size: Size) -> AbstractContextManager[Work]:
    """No inspector, after many ticks."""
    return _colony(size, is_attached=False, settled=_PAST)


def keeping(size: Size) -> AbstractContextManager[Work]:
    """A client that looks at everything, and the last ticks are kept."""
    return _colony(size, is_attached=True, is_watched=True, past=_PAST, settled=_PAST)


INSPECTING_NOBODY = Row(
    name="inspecting_nobody",
    what="one tick of a colony of 25 agents with an inspector that nobody looks at",
    gauge="seconds",
    ours=Side("agentrt", attached),
    limit=Side("no inspector", plain),
    at_most_times=1.02,
    size=Size(1, 400),
    quick=Size(1, 20),
)

INSPECTING = Row(
    name="inspecting",
    what="the same, and one client looks at everything",
    gauge="seconds",
    ours=Side("agentrt", watched),
    limit=Side("no inspector", plain),
    at_most_times=1.3,
    size=Size(1, 400),
    quick=Size(1, 20),
    most_repeats=5,
)

INSPECTING_PAST = Row(
    name="inspecting_past",
    what="the same, and the last 2,000 ticks are kept",
    gauge="seconds",
    ours=Side("agentrt", keeping),
    limit=Side("no inspector", long_plain),
    at_most_times=1.5,
    size=Size(1, 400),
    quick=Size(1, 5),
    most_repeats=5,
)
