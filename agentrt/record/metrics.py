"""Metrics: figures of runs that are under way, for Prometheus.

Rules:

* A metric is the sum over all runtimes that are watched; a program that wants them apart gives each a registry of its
  own. A name of an agent is in no label: whoever scrapes keeps each label for ever.
* The names of activities are an author's, so their number has a bound; what is beyond it counts as ``other``.
* Think time is game time, from the tick in which an action was asked to that of its answer: that is what players wait
  for. A thought that was stopped has none. How late a tick comes is real time.
* It listens, as a recorder does, and changes nothing; a run that is not watched pays nothing.

Source: Prometheus, "Metric and label naming", "Instrumentation".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from agentrt.errors import MissingExtraError
from agentrt.kernel.trace import TraceEvent, TraceRecord

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from agentrt.runtime.runtime import Runtime

_MOST_ACTIVITIES: Final = 200
_OTHER: Final = "other"
# Real seconds: from what nobody notices to what ``runtime.run`` gives up on.
_LATE: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
# Game seconds: from one tick of twenty in a second to a slow call of somebody's.
_THINKING: Final = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class PrometheusExport:
    """Counts what happens in runtimes, and shows it in a registry of ``prometheus-client``.

    ``agentrt_ticks_total``, ``agentrt_tick_lateness_seconds``, ``agentrt_agents``, ``agentrt_plan_aborts_total``,
    ``agentrt_agent_restarts_total`` and ``agentrt_think_seconds``, by ``activity``.

    Args:
        registry: where they are shown; None for the one that ``prometheus_client.start_http_server`` serves. A registry
            takes one export.

    Raises:
        MissingExtraError: ``prometheus-client`` is not installed.
        ValueError: the registry has metrics of these names.

    Source: Prometheus, client libraries.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        try:
            from prometheus_client import REGISTRY, Counter, Gauge, Histogram
        except ModuleNotFoundError as error:
            raise MissingExtraError("metrics", error.name or "prometheus_client") from error
        place = REGISTRY if registry is None else registry
        self._ticks = Counter("agentrt_ticks", "Ticks that ran.", registry=place)
        self._lateness = Histogram(
            "agentrt_tick_lateness_seconds", "How late ticks began that runtime.run paced.",
            registry=place, buckets=_LATE,
        )  # fmt: skip
        self._agents = Gauge("agentrt_agents", "Agents that live.", registry=place)
        self._aborts = Counter("agentrt_plan_aborts", "Plans that were aborted.", registry=place)
        self._restarts = Counter("agentrt_agent_restarts", "Planners that gave up and began again.", registry=place)
        self._thinking = Histogram(
            "agentrt_think_seconds", "Game time until an action that was asked for an activity had its answer.",
            ["activity"], registry=place, buckets=_THINKING,
        )  # fmt: skip
        self._activities: set[str] = set()

    def watch(self, runtime: Runtime) -> Callable[[], None]:
        """Count what happens in a runtime from now on; call it between two ticks.

        Args:
            runtime: which; it may be watched by others, too.

        Returns:
            A function that ends it; calling it twice does nothing.
        """
        counting = _Counting(self, runtime)
        ends = (runtime.trace.listen(counting.take), runtime.after_tick(counting.after_tick))

        def end() -> None:
            for one in ends:
                one()
            counting.leave()

        return end

    def _ticked(self, lateness: float | None) -> None:
        """A tick ran; it began so many seconds late, or nobody paced it."""
        self._ticks.inc()
        if lateness is not None:
            self._lateness.observe(lateness)

    def _counted(self, more: int) -> None:
        """There are so many more agents, or less."""
        self._agents.inc(more)

    def _happened(self, event: TraceEvent) -> None:
        """Something happened that is only counted."""
        (self._aborts if event is TraceEvent.ABORT else self._restarts).inc()

    def _answered(self, path: str, seconds: float) -> None:
        """The action at a place of a plan has its answer after so many game seconds."""
        frame = path.rpartition("/")[0]
        activity = frame.rpartition("/")[2].partition("#")[0]  # without the number of the step
        if activity not in self._activities:
            if len(self._activities) < _MOST_ACTIVITIES:
                self._activities.add(activity)
            else:
                activity = _OTHER
        self._thinking.labels(activity).observe(seconds)


class _Counting:
    """What an export has to know of one runtime."""

    def __init__(self, export: PrometheusExport, runtime: Runtime) -> None:
        self._export = export
        self._runtime = runtime
        self._thoughts: dict[str, dict[str, int]] = {}  # by agent and path: the tick in which it was asked
        self._agents = len(runtime.agents)
        export._counted(self._agents)

    def take(self, record: TraceRecord) -> None:
        """Take the next record."""
        event = record.event
        if event is TraceEvent.THINK:
            self._thoughts.setdefault(record.agent, {})[record.path] = record.tick
        elif event in _ANSWERS:
            asked = self._thoughts.get(record.agent, _NONE).pop(record.path, None)
            if asked is not None and event is not TraceEvent.STOP_THINKING and event is not TraceEvent.DISABLED:
                seconds = (record.tick - asked) * self._runtime.clock.seconds_per_tick
                self._export._answered(record.path, seconds)
        elif event is TraceEvent.ABORT or event is TraceEvent.RESTARTED:
            self._export._happened(event)
        elif event is TraceEvent.ADDED or event is TraceEvent.REMOVED:
            self._thoughts.pop(record.agent, None)

    def after_tick(self) -> None:
        """A tick ran."""
        runtime = self._runtime
        self._export._ticked(runtime.lateness if runtime.is_driven else None)
        self._count(len(runtime.agents))

    def leave(self) -> None:
        """It is watched no more."""
        self._count(0)

    def _count(self, agents: int) -> None:
        if agents != self._agents:
            self._export._counted(agents - self._agents)
            self._agents = agents


_ANSWERS: Final = frozenset((TraceEvent.READY, TraceEvent.REJECT, TraceEvent.STOP_THINKING, TraceEvent.DISABLED))
_NONE: Final[dict[str, int]] = {}
