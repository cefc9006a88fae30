"""Decisions: what the models decided in a run, counted by listening to the trace and nothing else.

A goal that is started, a decider that is activated, a stance that is taken, a claim for a control flag that is refused:
each is a record whose path begins with the name of a driver, and ``DRIVERS`` says which model that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agentrt.kernel import TraceEvent, TraceHub, TraceRecord

__all__ = ["DRIVERS", "DecisionTable"]

DRIVERS: Mapping[str, str] = {
    "stance": "selection trees",
    "moon": "selection trees",
    "targets": "target selectors",
    "goals": "goal selectors",
    "vigil": "goal selectors",
    "wolf": "goal selectors",
    "tree": "behavior trees",
    "dancers": "behavior trees",
}
"""The drivers of the colony by name, and the models that they are."""

_BEGINS = frozenset({TraceEvent.START, TraceEvent.ACTIVATE})


class DecisionTable:
    """Counts what models decide.

    Args:
        hub: whose records to count.

    Attributes:
        counts: for each model, how often each of its nodes began.
        refused: for each model, how often it was refused a control flag.
        close: stops counting.
    """

    def __init__(self, hub: TraceHub) -> None:
        self.counts: dict[str, dict[str, int]] = {model: {} for model in DRIVERS.values()}
        self.refused: dict[str, int] = {}
        self.close = hub.listen(self._count)

    def _count(self, record: TraceRecord) -> None:
        event = record.event
        if event not in _BEGINS and event is not TraceEvent.REFUSED:
            return
        driver, _, place = record.path.partition("/")
        model = DRIVERS.get(driver)
        if event is TraceEvent.REFUSED:
            if not any(key == "flag" for key, _ in record.detail):
                return  # a reservation, say, and no control flag
            name = "plans" if model is None or ":" in place else model
            self.refused[name] = self.refused.get(name, 0) + 1
        elif model is not None and ":" not in place:  # activities have a colon: what a goal performs is a plan
            counts = self.counts[model]
            node = place.rpartition("/")[2]
            counts[node] = counts.get(node, 0) + 1

    def lines(self) -> Iterator[str]:
        """What was decided, a line for each model, the most frequent first."""
        yield "decisions:"
        for model, counts in self.counts.items():
            ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
            yield f"  {model}: " + (", ".join(f"{name} {count}" for name, count in ordered) or "none")
        refused = ", ".join(f"{model} {count}" for model, count in sorted(self.refused.items()))
        yield f"  refused control flags: {refused or 'none'}"
