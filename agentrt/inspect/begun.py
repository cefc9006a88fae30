"""What an agent runs already when somebody begins to listen: the records that he did not hear.

A time line is folded from records of what begins and ends. Who comes late, to a run or to a recording whose first ticks
are not there, would see nothing of what has been running for long. So an agent's snapshot is asked what it runs and
since when, and that is put before the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentrt.behavior.views import TreeView
from agentrt.errors import AgentRTError
from agentrt.goals.views import GoalSelectorView
from agentrt.kernel.trace import Detail, TraceEvent, TraceRecord
from agentrt.record.views import UNSEEN
from agentrt.selection.views import SelectionView
from agentrt.snapshot import AgentSnapshot, FrameView, UnitView

if TYPE_CHECKING:
    from agentrt.record.recording import Recording

_SEEN: Detail = (("seen", "running"),)


def began_before(snapshot: AgentSnapshot) -> list[TraceRecord]:
    """What an agent runs, as the records that told when it began."""
    found: list[tuple[int, str, TraceEvent, Detail]] = []
    tried = _tried(snapshot)
    for frame in (*([] if snapshot.plan is None else [snapshot.plan]), *snapshot.performances):
        for unit in _running(frame):
            attempts = tried.get(unit.action)
            if attempts:
                needer = unit.path.rpartition("/")[0].rpartition("/")[0]
                found.append((unit.since, needer, TraceEvent.TRY, attempts.pop(0)))
            found.append((unit.since, unit.path, TraceEvent.RUN, _SEEN))
    for driver in snapshot.drivers:
        view = driver.state
        if isinstance(view, GoalSelectorView):
            found += ((goal.since, goal.path, TraceEvent.START, _SEEN) for goal in view.goals if goal.since)
        elif isinstance(view, TreeView):
            seconds = snapshot.ticks_per_second
            found += ((round(one.since * seconds), one.path, TraceEvent.ACTIVATE, _SEEN) for one in view.path)
        elif isinstance(view, SelectionView):  # it does not know since when: its lane begins where it was seen first
            found += ((snapshot.tick, path, TraceEvent.ACTIVATE, _SEEN) for path in driver.active)
    found.sort(key=lambda one: one[0])  # what lies within something began with it or after it, and keeps its place
    return [TraceRecord(since, snapshot.name, path, event, detail) for since, path, event, detail in found]


def began_before_first(recording: Recording, name: str) -> list[TraceRecord]:
    """What an agent ran already before the first tick of a recording; nothing if nobody looked at it then."""
    first = recording.first_tick
    with contextlib.suppress(AgentRTError):  # what is broken is told where it is looked at
        view = recording.view(name, first) if first > 1 else None
        if view is not None and UNSEEN not in view:
            # The others are still to be read.
            return [one for one in began_before(AgentSnapshot.from_json(view)) if one.tick < first]
    return []


def _running(frame: FrameView) -> Iterator[UnitView]:
    for unit in frame.units:
        if unit.is_elected and unit.state == "running":
            yield unit
            for child in unit.frames:
                yield from _running(child)


def _tried(snapshot: AgentSnapshot) -> dict[str, list[Detail]]:
    """What the strategies that run are tried for, by the names of their classes, the outermost first."""
    tried: dict[str, list[Detail]] = {}
    for request in () if snapshot.strategies is None else snapshot.strategies.requests:
        wanted = ""
        for node in request.tree.under_way():
            if node.kind == "strategy":
                tried.setdefault(node.label.replace(" ", ""), []).append((("wanted", wanted), ("by", node.label)))
            else:
                wanted = node.label
    return tried
