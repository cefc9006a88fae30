"""Perfetto: a run as Chrome trace events, which ui.perfetto.dev and chrome://tracing open.

The format is a JSON object with a list ``traceEvents``. Each agent is a *process*, each lane of it a *thread*; so the
viewer shows one group of tracks for each agent, with slices that lie within each other.

* ``X`` a slice, with its beginning and its length; ``i`` a moment; ``C`` a counter; ``M`` names of tracks.
* Times are microseconds of game time.
* Slices are written when they end, so an outer one comes after what lies within it. The format leaves the order free.

It is written as a stream: what is in memory is what is open.

Source: the Trace Event Format document of the Chromium project, sections "Complete events", "Instant events",
"Counter events", "Metadata events".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrt.kernel.trace import Event, TraceRecord
from agentrt.record.exporting import INSTANTS, Exported, SpanFold, Timeline, is_finite, json_line

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from agentrt.record.recording import Recording

__all__ = ["PerfettoWriter", "write_perfetto"]

_WORLD = 0  # the process of what belongs to no agent


class PerfettoWriter:
    """Writes one run; feed it every record, in order, and close it.

    Args:
        out: where to.
        ticks_per_second: how many ticks make one second of game time.
        title: what the run is called.

    Attributes:
        events: how many events were written.
    """

    def __init__(self, out: SupportsWrite[str], ticks_per_second: float, title: str = "") -> None:
        self.events: int = 0
        self._out = out
        self._timeline = Timeline(ticks_per_second)
        self._fold = SpanFold(self._timeline)
        self._title = title
        self._processes: dict[str, int] = {}
        self._threads: dict[tuple[str, str], int] = {}
        self._tick = -1
        self._place = 0
        self._agents = 0
        self._out.write('{"displayTimeUnit":"ms","traceEvents":[')
        self._name(_WORLD, 0, "process_name", title or "the world")
        self._sort(_WORLD)

    def feed(self, record: TraceRecord) -> None:
        """Take the next record.

        Args:
            record: what happened.
        """
        if record.tick != self._tick:
            self._end_tick()
            self._tick, self._place = record.tick, 0
        if record.event is Event.ADDED:
            self._process(record.agent)  # so that the viewer has them in the order in which they came
            self._agents += 1
        elif record.event is Event.REMOVED:
            self._agents -= 1
        if record.event in INSTANTS:
            self._instant(record)
        for exported in self._fold.feed(record):
            self._slice(exported)
        self._place += 1

    def close(self) -> None:
        """The run is over: write what is open, and the end."""
        self._end_tick()
        for exported in self._fold.finish():
            self._slice(exported)
        self._out.write("\n]}\n")

    # --- events -------------------------------------------------------------------------------------------------------

    def _slice(self, exported: Exported) -> None:
        span = exported.span
        args = {"path": span.path, "outcome": span.outcome, "begin": span.begin, "end": span.end}
        if span.reason:
            args["reason"] = span.reason
        process = self._process(span.agent)
        begin, end = exported.begin // 1000, exported.end // 1000
        self._write(
            name=span.name, cat=span.lane, ph="X", pid=process, tid=self._thread(span.agent, span.lane), ts=begin,
            dur=end - begin, args=args,
        )  # fmt: skip

    def _instant(self, record: TraceRecord) -> None:
        detail = {key: value if is_finite(value) else str(value) for key, value in record.detail}
        name = f"{record.event.value}: {detail['text']}" if "text" in detail else record.event.value
        # A moment belongs to the whole agent: which of its lanes is in the path.
        self._write(
            name=name, cat=record.event.value, ph="i", s="p", pid=self._process(record.agent), tid=0,
            ts=self._timeline.at(record.tick, self._place) // 1000, args={"path": record.path, **detail},
        )  # fmt: skip

    def _end_tick(self) -> None:
        if self._tick >= 0:
            at = self._timeline.at(self._tick) // 1000
            self._write(name="records", ph="C", pid=_WORLD, tid=0, ts=at, args={"records": self._place})
            self._write(name="agents", ph="C", pid=_WORLD, tid=0, ts=at, args={"agents": self._agents})

    # --- tracks -------------------------------------------------------------------------------------------------------

    def _process(self, agent: str) -> int:
        if not agent:
            return _WORLD
        number = self._processes.get(agent)
        if number is None:
            number = self._processes[agent] = len(self._processes) + 1
            self._name(number, 0, "process_name", agent)
            self._sort(number)
        return number

    def _thread(self, agent: str, lane: str) -> int:
        number = self._threads.get((agent, lane))
        if number is None:
            number = self._threads[agent, lane] = len(self._threads) + 1
            self._name(self._process(agent), number, "thread_name", lane)
        return number

    def _name(self, process: int, thread: int, what: str, name: str) -> None:
        self._write(name=what, ph="M", pid=process, tid=thread, args={"name": name})

    def _sort(self, process: int) -> None:
        self._write(name="process_sort_index", ph="M", pid=process, tid=0, args={"sort_index": process})

    def _write(self, **event: Any) -> None:
        self._out.write(("," if self.events else "") + "\n" + json_line(event))
        self.events += 1


def write_perfetto(
    recording: Recording, out: SupportsWrite[str], *, first: int | None = None, last: int | None = None
) -> int:
    """Write a recording.

    Args:
        recording: what to write.
        out: where to.
        first: the first tick; None for the first that was kept.
        last: the last tick; None for the last.

    Returns:
        How many events were written.

    Raises:
        RecordingError: the recording cannot be read.
    """
    meta = recording.meta
    writer = PerfettoWriter(out, meta["ticks_per_second"], f"{meta['world'] or 'a world'}, seed {meta['seed']}")
    for record in recording.records(first, last):
        writer.feed(record)
    writer.close()
    return writer.events
