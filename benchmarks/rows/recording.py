"""What recording costs: a tick of the colony that is written down, against one that is not.

One colony of 25 agents; one unit is one tick of all of it. ``recording`` keeps the whole trace, the inputs and a digest
of each tick, committed in each tick. ``recording_views`` keeps the snapshot of each agent besides, whenever it changed,
so that any tick can be explained; about three snapshots are taken in a tick. ``recording_drawings`` keeps the map
instead, drawn in each tick: some 160 marks, of which a few have changed.

The limit is the same colony with nobody who listens: making the trace's records, which nobody pays for otherwise, is a
part of what recording costs. ``export_perfetto`` writes such a recording as trace events, against reading its records
one after the other. The first hundred ticks, in which all begin to think at once, are not counted.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from benchmarks.harness import Row, Side, Size, Work

if TYPE_CHECKING:
    from agentrt.record.recording import Recording

__all__ = ["EXPORT_PERFETTO", "RECORDING", "RECORDING_DRAWINGS", "RECORDING_VIEWS"]

_SETTLED = 100


@contextmanager
def _colony(
    size: Size, views: Literal["changed", "none"] | None, drawings: Literal["changed", "none"] = "none"
) -> Iterator[Work]:
    from agentrt_examples.colony.colony import Colony

    runtime = Colony(seed=7).runtime
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.sqlite"
        recorder = None if views is None else runtime.record(path, views=views, drawings=drawings)
        for _ in range(min(_SETTLED, size.rounds)):
            runtime.step()

        def work() -> int:
            for _ in range(size.rounds):
                runtime.step()
            return size.rounds

        yield work
        assert recorder is None or recorder.is_open, "the recording stopped"
        runtime.close()


def plain(size: Size) -> AbstractContextManager[Work]:
    """Nobody listens."""
    return _colony(size, None)


def traced(size: Size) -> AbstractContextManager[Work]:
    """Trace, inputs and digests."""
    return _colony(size, "none")


def viewed(size: Size) -> AbstractContextManager[Work]:
    """Snapshots besides."""
    return _colony(size, "changed")


def drawn(size: Size) -> AbstractContextManager[Work]:
    """The map besides, and no snapshots."""
    return _colony(size, "none", "changed")


RECORDING = Row(
    name="recording",
    what="one tick of a colony of 25 agents, recorded without views",
    gauge="seconds",
    ours=Side("agentrt", traced),
    limit=Side("not recorded", plain),
    at_most_times=3,
    size=Size(1, 400),
    quick=Size(1, 20),
    most_repeats=3,
)

RECORDING_VIEWS = Row(
    name="recording_views",
    what="the same, recorded with all views",
    gauge="seconds",
    ours=Side("agentrt", viewed),
    limit=Side("not recorded", plain),
    at_most_times=6,
    size=Size(1, 400),
    quick=Size(1, 20),
    most_repeats=3,
)

RECORDING_DRAWINGS = Row(
    name="recording_drawings",
    what="the same, recorded without views and with what the world looks like in each tick",
    gauge="seconds",
    ours=Side("agentrt", drawn),
    limit=Side("not recorded", plain),
    at_most_times=4,
    size=Size(1, 400),
    quick=Size(1, 20),
    most_repeats=3,
)


class _Nowhere:
    def write(self, _text: str, /) -> None:
        pass


@contextmanager
def _recorded(size: Size, work: Callable[[Recording], object]) -> Iterator[Work]:
    from agentrt.record.recording import Recording
    from agentrt_examples.colony.colony import Colony

    runtime = Colony(seed=7).runtime
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.sqlite"
        runtime.record(path, views="none")
        for _ in range(size.rounds):
            runtime.step()
        runtime.close()
        with Recording.open(path) as recording:

            def each() -> int:
                work(recording)
                return size.rounds

            yield each


def exported(size: Size) -> AbstractContextManager[Work]:
    """Trace events for Perfetto."""
    from agentrt.record.export import write_perfetto

    return _recorded(size, lambda recording: write_perfetto(recording, _Nowhere()))


def read(size: Size) -> AbstractContextManager[Work]:
    """Each record, and nothing is made of it."""
    return _recorded(size, lambda recording: deque(recording.records(), maxlen=0))


EXPORT_PERFETTO = Row(
    name="export_perfetto",
    what="a recorded tick of a colony of 25 agents, written for Perfetto",
    gauge="seconds",
    ours=Side("agentrt", exported),
    limit=Side("read only", read),
    at_most_times=1.8,
    size=Size(1, 1000),
    quick=Size(1, 20),
    most_repeats=3,
)
