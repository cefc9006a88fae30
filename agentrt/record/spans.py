"""Spans: what ran from when until when, folded from trace records. For time lines and for the tools of others.

A trace says what happened at a moment; a time line needs what lasted. A span is one stay of one thing on one *lane* of
its agent:

* an action of the plan, or of a performance, from ``run`` to ``finish``; to ``stop``, if it did not finish;
* a strategy, from its ``run`` to what became of it (``solved``, ``failed``), called by what it is tried for;
* a goal, from ``start`` to ``stop``;
* a decider of a behavior tree, or the leaf of a selection tree, from ``activate`` to ``deactivate``.

Rules:

* The plan's lane is called ``plan``; that of a driver, and of what is performed for it, has the driver's name; that of
  strategies, and of what they execute, ``strategies``, wherever in the plan they run. What one lane cannot show below
  each other (two goals of one selector that run together) goes to a further lane, ``goals 2``. So the spans of one lane
  never overlap without one lying within the other, and ``depth`` tells how deep it lies.
* A span ends when the last one within it has ended: a goal that was stopped is there until its clean-up is over.
* ``outcome`` is ``finished``, ``stopped``, ``preempted`` (something better took its place), ``aborted``, ``failed`` (of
  a strategy), or ``open``. A strategy that ended and was not judged in that tick was stopped: it begins again.
* It can begin anywhere in a trace. What began before is not shown: nobody knows since when it runs.
* It is bounded: of each agent, and of the agents that are gone, the newest are kept; ``dropped`` counts the others.

It reads records and nothing else, so that a live run and a recording give the same spans.

Rejected: a span from ``start`` to ``stop``. All actions of a plan are started when it is elected and stopped when it is
over, so they would all be equally long.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from agentrt.kernel.trace import TraceEvent, TraceRecord

PLAN, STRATEGIES = "plan", "strategies"

OPEN, FINISHED, STOPPED, PREEMPTED = "open", "finished", "stopped", "preempted"
ABORTED, FAILED = "aborted", "failed"

_KEEP = 2000  # closed spans of each agent
_KEEP_GONE = 200  # agents that are gone
_MOST_OPEN = 1000  # spans of one agent, in a trace that somebody made up

_OUTCOMES = (  # how the reason of a driver's end begins, and what that makes of it
    ("its run is over", FINISHED),
    ("it cannot continue", FINISHED),
    ("replaced by ", PREEMPTED),
    ("gives ", PREEMPTED),
    ("interrupted", PREEMPTED),
    ("another one is selected", PREEMPTED),
)


class Span(NamedTuple):
    """One thing that ran for a while."""

    agent: str  # whose
    lane: str  # ``"plan"``, ``"strategies"`` or the name of a driver, with a number if several things run side by side
    depth: int  # how many others of its lane it lies within
    path: str  # its path, as in the trace
    name: str  # for people: the end of the path
    begin: int  # the tick in which it began
    end: int | None = None  # the tick in which it ended; None while it is open
    outcome: str = OPEN  # ``"open"``, ``"finished"``, ``"stopped"``, ``"preempted"``, ``"aborted"`` or ``"failed"``
    reason: str = ""  # why it ended, in words, if anybody said so
    first: int = 0  # where in its first tick it began: how many records of that tick came before
    last: int = 0  # the same for its end


@dataclass(slots=True, eq=False)
class _Open:
    """A span that has not ended."""

    span: Span
    outer: _Open | None  # what it lies within
    is_unit: bool
    root: str  # the frame that the plan, performance or attempt grows from
    needed_by: str  # of a strategy: the path of what needs it, where its records are
    children: int = 0  # how many open ones lie within it
    is_over: bool = False
    fate: str = ""
    reason: str = ""


class _Agent:
    """The spans of one agent."""

    def __init__(self, keep: int | None) -> None:
        self.open: dict[str, _Open] = {}  # by path, in the order in which they began
        self.lanes: dict[str, _Open] = {}  # the innermost open span of each lane
        self.top: str = ""  # the activity that the plan grows from
        self.tried: dict[str, tuple[str, str]] = {}  # by whom it is needed: what for, and which strategy
        self.closed: deque[Span] = deque(maxlen=keep)


class SpanBuilder:
    """Folds trace records into spans; feed it every record of a run, or of one agent, in order.

    Args:
        keep: how many closed spans of each agent are kept, the newest; None for all, 0 for none.
    """

    def __init__(self, keep: int | None = _KEEP) -> None:
        self.dropped: int = 0  # how many closed spans were not kept, or not any more
        self._keep = keep
        self._agents: dict[str, _Agent] = {}
        self._gone: deque[str] = deque()
        self._tick = -1
        self._place = 0
        self._ended: list[Span] = []
        self._unjudged: dict[tuple[str, str], _Open] = {}  # strategies that ended in this tick, by agent and needer

    def feed(self, record: TraceRecord, place: int | None = None) -> list[Span]:
        """Take the next record; returns the spans that ended with it, inner ones first.

        Args:
            record: the next one.
            place: how many records of its tick came before it, for who feeds only what spans are folded from; None for
                who feeds every record.
        """
        if record.tick != self._tick:
            self._leave_all_unjudged()
            self._tick, self._place = record.tick, 0
        if place is not None:
            self._place = place
        rule = _RULES.get(record.event)
        if rule is not None and record.agent:
            agent = self._agents.get(record.agent)
            if agent is None:
                agent = self._agents[record.agent] = _Agent(self._keep)
            rule(self, agent, record)
        self._place += 1
        return self._take_ended()

    def end_tick(self, amount: int) -> list[Span]:
        """A tick is over that had so many records: for who feeds only what spans are folded from.

        Returns:
            The spans that ended with it.
        """
        self._place = amount
        self._leave_all_unjudged()
        return self._take_ended()

    def _take_ended(self) -> list[Span]:
        if not self._ended:
            return []
        ended, self._ended = self._ended, []
        return ended

    def spans(self, agent: str, first: int | None = None, last: int | None = None) -> list[Span]:
        """What an agent ran in some ticks (None: no bound): what has ended, in that order, then what is open."""
        known = self._agents.get(agent)
        if known is None:
            return []
        return [
            span
            for span in (*known.closed, *self.open_spans(agent))
            if (last is None or span.begin <= last) and (first is None or span.end is None or span.end >= first)
        ]

    def open_spans(self, agent: str) -> list[Span]:
        """What an agent runs now, in the order in which it began."""
        known = self._agents.get(agent)
        return [] if known is None else [entry.span for entry in known.open.values()]

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that something is known of, in the order in which they came up."""
        return tuple(self._agents)

    # --- what begins --------------------------------------------------------------------------------------------------

    def _start(self, agent: _Agent, record: TraceRecord) -> None:
        if record.detail:  # a goal; the start of an action says nothing, and its span begins with its run
            self._begin(agent, record)

    def _begin(self, agent: _Agent, record: TraceRecord) -> None:
        path, is_unit = record.path, record.event is TraceEvent.RUN
        before = agent.open.get(path)
        if before is not None:  # its end was not in the trace, or it is still being cleaned up
            self._close_all(agent, path, "")
        if len(agent.open) >= _MOST_OPEN:
            self.dropped += 1
            return
        outer = _innermost(agent, path)
        base, _, rest = path.partition("/")
        if is_unit and "/" not in rest:
            agent.top = base
        name, needed_by = _strategy(agent, path) if is_unit and agent.tried else ("", "")
        own = PLAN if is_unit and (base == agent.top or ":" in base) else base
        if needed_by:
            own = STRATEGIES
            if outer is not None and not outer.span.lane.startswith(STRATEGIES):
                outer = None
        lane, number = own, 1
        if outer is not None and agent.lanes.get(outer.span.lane) is outer:
            lane = outer.span.lane
        else:
            outer = None  # it would lie beside something else: it gets a lane of its own
            while lane in agent.lanes:
                number += 1
                lane = f"{own} {number}"
        is_inner = outer is not None and outer.is_unit and not needed_by
        root = outer.root if outer is not None and is_inner else path.rpartition("/")[0]
        name = name or (path.rpartition("/")[2] if is_unit or "/" not in path else rest.rpartition("/")[2])
        depth = 0 if outer is None else outer.span.depth + 1
        span = Span(record.agent, lane, depth, path, name, record.tick, first=self._place)
        entry = _Open(span, outer, is_unit, root, needed_by)
        if outer is not None:
            outer.children += 1
        agent.open[path] = entry
        agent.lanes[lane] = entry

    # --- what ends ----------------------------------------------------------------------------------------------------

    def _end(self, agent: _Agent, record: TraceRecord) -> None:
        entry = agent.open.get(record.path)
        if entry is not None and entry.needed_by:
            self._unjudged[entry.span.agent, entry.needed_by] = entry
        elif entry is not None and not entry.is_over:
            reason = _said(record, "reason")
            self._close(agent, entry, FINISHED if record.event is TraceEvent.FINISH else _outcome(reason), reason)

    def _removed(self, agent: _Agent, record: TraceRecord) -> None:
        self._close_all(agent, "", "removed")
        self._gone.append(record.agent)
        if len(self._gone) > _KEEP_GONE:
            gone = self._agents.pop(self._gone.popleft(), None)
            self.dropped += 0 if gone is None else len(gone.closed)

    def _close_all(self, agent: _Agent, path: str, reason: str) -> None:
        """Close what is open at a path and below it, inner ones first; all of the agent's for an empty path."""
        for entry in reversed(list(agent.open.values())):
            if not path or _is_within(entry.span.path, path):
                self._close(agent, entry, STOPPED, reason)

    def _close(self, agent: _Agent, entry: _Open, outcome: str, reason: str) -> None:
        """It is over; it ends now, or with the last one within it."""
        entry.is_over = True
        if not entry.fate or outcome in (FINISHED, FAILED):  # what is to be preempted may still finish
            entry.fate, entry.reason = outcome, reason
        inner: _Open | None = entry
        while inner is not None and inner.is_over and not inner.children:
            span = inner.span._replace(end=self._tick, outcome=inner.fate, reason=inner.reason, last=self._place)
            del agent.open[span.path]
            if inner.outer is None:
                del agent.lanes[span.lane]
            else:
                agent.lanes[span.lane] = inner.outer
                inner.outer.children -= 1
            if agent.closed.maxlen is not None and len(agent.closed) == agent.closed.maxlen:
                self.dropped += 1
            agent.closed.append(span)
            self._ended.append(span)
            inner = inner.outer

    # --- strategies ---------------------------------------------------------------------------------------------------

    def _try(self, agent: _Agent, record: TraceRecord) -> None:
        unjudged = self._unjudged.get((record.agent, record.path))
        if unjudged is not None:
            self._leave_unjudged(unjudged)
        agent.tried[record.path] = (_said(record, "wanted"), _said(record, "by"))

    def _judge(self, agent: _Agent, record: TraceRecord) -> None:
        agent.tried.pop(record.path, None)
        entry = self._unjudged.pop((record.agent, record.path), None)
        if entry is not None and not entry.is_over:
            self._close(
                agent, entry, FAILED if record.event is TraceEvent.FAILED else FINISHED, _said(record, "reason")
            )

    def _leave_all_unjudged(self) -> None:
        """What becomes of a strategy is said in the tick in which it ends, or never."""
        for entry in tuple(self._unjudged.values()):
            self._leave_unjudged(entry)

    def _leave_unjudged(self, entry: _Open) -> None:
        """A strategy ended and nobody said what became of it: it begins again, or was given up."""
        agent = self._agents.get(entry.span.agent)
        del self._unjudged[entry.span.agent, entry.needed_by]
        if agent is not None and not entry.is_over:
            self._close(agent, entry, STOPPED, "")

    # --- why ----------------------------------------------------------------------------------------------------------

    def _preempt(self, agent: _Agent, record: TraceRecord) -> None:
        by = _said(record, "by")
        for entry in agent.open.values():
            if _is_within(entry.span.path, record.path):
                entry.fate, entry.reason = PREEMPTED, f"preempted by {by}" if by else ""

    def _abort(self, agent: _Agent, record: TraceRecord) -> None:
        roots = [entry.root for entry in agent.open.values() if entry.is_unit and _is_within(record.path, entry.root)]
        innermost = max(roots, key=len, default="")  # an abort below a strategy ends that one alone
        for entry in agent.open.values():
            if entry.is_unit and entry.root == innermost:
                entry.fate, entry.reason = ABORTED, _said(record, "reason")


_RULES: dict[TraceEvent, Callable[[SpanBuilder, _Agent, TraceRecord], None]] = {
    TraceEvent.RUN: SpanBuilder._begin,
    TraceEvent.FINISH: SpanBuilder._end,
    TraceEvent.START: SpanBuilder._start,
    TraceEvent.STOP: SpanBuilder._end,
    TraceEvent.ACTIVATE: SpanBuilder._begin,
    TraceEvent.DEACTIVATE: SpanBuilder._end,
    TraceEvent.PREEMPT: SpanBuilder._preempt,
    TraceEvent.ABORT: SpanBuilder._abort,
    TraceEvent.TRY: SpanBuilder._try,
    TraceEvent.SOLVED: SpanBuilder._judge,
    TraceEvent.FAILED: SpanBuilder._judge,
    TraceEvent.REMOVED: SpanBuilder._removed,
}
FOLDED = frozenset(_RULES)  # what spans are folded from


def _is_within(path: str, outer: str) -> bool:
    return path == outer or path.startswith(outer + "/")


def _innermost(agent: _Agent, path: str) -> _Open | None:
    """The longest open path that this one lies below."""
    while path:
        path = path.rpartition("/")[0]
        entry = agent.open.get(path)
        if entry is not None:
            return entry
    return None


def _strategy(agent: _Agent, path: str) -> tuple[str, str]:
    """What a strategy's span is called, and who needs it; two empty texts if an action that runs is none."""
    frame, _, label = path.rpartition("/")
    needer = frame.rpartition("/")[0]
    wanted, by = agent.tried.get(needer, ("", ""))
    if not by or by.replace(" ", "") != label.partition("#")[0]:
        return "", ""
    del agent.tried[needer]
    return f"{wanted} by {by}", needer


def _said(record: TraceRecord, name: str) -> str:
    return next((str(value) for key, value in record.detail if key == name), "")


def _outcome(reason: str) -> str:
    for beginning, outcome in _OUTCOMES:
        if reason.startswith(beginning):
            return outcome
    return ABORTED if reason.endswith((" raised", " was cancelled")) else STOPPED
