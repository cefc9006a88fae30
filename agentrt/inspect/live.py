"""A source that lives: the hub between a runtime and the clients that look at it.

Two threads meet here, and one rule keeps them apart: **everything that touches the runtime happens on its own thread**,
at the end of a tick (``after_tick``) or while it stands before its closed gate (``gate.attend``). The server's thread
only puts commands into the queue of a session, and is handed messages. So nobody takes a lock, a tick never waits for a
client, and what is composed is what stood there between two ticks.

* While nobody looks and no breakpoint is set, nothing listens to the trace, and a tick costs one look at a dict.
* Who looks from then on is told what happens from then on: the history begins anew.
* It composes at most ten times a second of real time for each client, and only what that one watches. However much
  that is, it takes a twentieth of the time of the runtime's thread at most; beyond it clients are told less often.
* Clients may pause, step, and set breakpoints only if the inspector was made with ``controls``.
* What fails in here is logged, told to the client, and never reaches the runtime.
* When it is detached it takes back what it did to the gate: a pause of its own, its speed, and its breakpoints. Else
  a program whose inspector ended would stand still for ever.

A runtime that nobody drives gives no occasion to compose: clients see what stood there when the inspector began.

Reading changes nothing: snapshots, summaries, and figures are all that is asked for, and what a clock says reaches no
agent.

How long ticks take, and how much of that is thinking, is real time, measured only while somebody looks. A tick is
measured from its beginning to its publishing. Its beginning is the first function of the drivers' phase that
is ours, or the first record of that tick if that came sooner (from an intake, say); what was done before either is not
measured, nor is what the event loop wakes between two ticks.

Thinking is *attributed*, not measured: the time between two records of the trace belongs to the later one, and what was
said there tells what was being done: a unit that became ready, was elected or rejected was thinking. So a step that
thinks long and says nothing before it runs is counted as running, and what a trace listener costs is in it. That is
good enough to see which of the two a slow tick is made of. Rejected: a clock around each step of a coroutine, which
would cost the main loop of the kernel its speed also while nobody looks.

*What happened lately* is kept in two rings, and nothing is composed of it until somebody looks: all records, for logs;
and only those that begin or end something, for time lines, which reach back much further that way. A record is known by
its number, counted from the first one that was heard. A client is told what came after the number that it knows; if the
ring has dropped some of that, it is told how many.

Time lines are spans, folded from what was heard, of the agents that somebody looks at. A line is folded when somebody
begins to look, from the records that are kept, and goes on while he looks. Whoever comes late would see nothing of what
has been running for long, since its beginning was not heard: so the agent is asked what it runs and since when, and
what began before is put before the rest.

*Breakpoints* are matched against records of the trace, which tell of everything that starts, so no part of a plan or a
tree knows that there are any. When one is hit the tick goes on to its end (an agent is never stopped in the middle of a
tick: that would be another run), and then the gate is closed. The last part of a record's path tells what starts:

* ``action``    an action runs: the name of its class, as paths show it (``Eat``; ``Eat#2`` is an ``Eat``, too);
* ``activity``  an activity is performed: any action runs for it (``colony:eat``);
* ``strategy``  a strategy is tried, for whatever it is needed: as task trees call it (``Mine Ore``) or by its name
  (``mine_ore``);
* ``decider``   a decider of a behavior tree or a leaf of a selection tree becomes active, by its name or by that of its
  behavior;
* ``goal``      a goal of a selector starts;
* ``agent``     an agent is added, or anything of the above starts in it.

All but the last may be bound to one agent. One module reads this one, the inspector's door: it is a room because of its
rule about threads, which nothing else here has to know.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from agentrt.behavior.views import TreeView
from agentrt.errors import ENDS_PROGRAM
from agentrt.goals.views import GoalSelectorView
from agentrt.inspect.crowd import LiveCrowd, ThinkTimes
from agentrt.inspect.drawn import drawing_messages
from agentrt.inspect.listing import needs_all
from agentrt.inspect.pins import LivePins
from agentrt.inspect.protocol import (
    AgentsQuery,
    Command,
    EventsQuery,
    Kept,
    TimelineQuery,
    agent_message,
    events_message,
    fits,
    hello,
    record_of,
    reloads_message,
    span_rows,
    timeline_message,
)
from agentrt.inspect.sessions import Message, Session, Source
from agentrt.kernel.trace import Detail, TraceEvent, TraceRecord
from agentrt.record.spans import FOLDED, Span, SpanBuilder
from agentrt.selection.views import SelectionView
from agentrt.snapshot import (
    AgentSnapshot,
    AgentSummary,
    FrameView,
    UnitView,
    explain,
    outlines,
    snapshot_agent,
    summarize,
)
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.drawing import Drawing
    from agentrt.runtime.runtime import Runtime


MOST_BREAKPOINTS = 64

_LIST_SECONDS = 0.5  # how often a list that nobody touched is made anew
_ARRANGED_SECONDS = 0.25  # the same of one that is made of a survey, which was paid for


class Scene:
    """What was composed in one round, for all clients: each of it once, when the first one looks at it."""

    def __init__(self, runtime: Runtime, history: History, pins: LivePins, crowd: LiveCrowd, now: float) -> None:
        self.runtime: Runtime = runtime
        self.crowd: LiveCrowd = crowd
        self.pins: LivePins = pins
        self.history: History = history
        self.now: float = now
        self._snapshots: dict[str, tuple[AgentSnapshot, Message] | None] = {}
        self._summaries: dict[str, AgentSummary] = {}
        self._lists: dict[AgentsQuery, Message | None] = {}
        self._drawings: list[Drawing | None] = []  # the one of this round, once it was asked for

    def drawing(self) -> Drawing | None:
        """What the world looks like."""
        if not self._drawings:
            self._drawings.append(self.runtime.draw())
        return self._drawings[0]

    def snapshot(self, name: str) -> tuple[AgentSnapshot, Message] | None:
        """What an agent does, and the same as plain values; None if it is not there."""
        if name not in self._snapshots:
            agent = self.runtime.find(name)
            taken = None if agent is None else snapshot_agent(agent)
            self._snapshots[name] = None if taken is None else (taken, taken.as_json())
        return self._snapshots[name]

    def _summary(self, name: str) -> AgentSummary:
        if name not in self._summaries:
            agent = self.runtime.find(name)
            assert agent is not None  # only those that are there are listed
            self._summaries[name] = summarize(agent)
        return self._summaries[name]

    def _kind(self, name: str) -> str:
        agent = self.runtime.find(name)
        return "" if agent is None else str(getattr(agent.entity, "kind", "") or "")

    def agents(self, query: AgentsQuery) -> Message | None:
        """The list of agents, as a client looks for them; None if that is not known yet."""
        if query not in self._lists:
            self._lists[query] = self.crowd.agents(query, self._kind, self._summary)
        return self._lists[query]

    def compose(self, session: Session) -> Iterator[Message]:
        """What a client is told now, besides the state."""
        watch = session.watch
        reloads = tuple(self.runtime.reloads)
        if reloads and session.is_news("reloads", reloads):
            yield reloads_message(reloads)
        if watch.agents is not None:
            yield from self._list(session, watch.agents)
        if watch.agent is not None:
            yield from self._agent(session, watch.agent)
        if watch.events is not None:
            yield from self._events(session, watch.events)
        if watch.timeline is not None:
            query, tick = watch.timeline, self.runtime.tick
            rows = span_rows(self.history.spans(query))
            # What is there may be the same while time goes on: the page draws what is open up to ``now``.
            is_news = session.is_news("timeline", (query, rows))
            if is_news or session.at_most_every(_LIST_SECONDS, "timeline", self.now):
                yield timeline_message(query, tick if query.last is None else query.last, tick, rows)
        if watch.drawing:
            yield from drawing_messages(session, self.runtime.tick, self.drawing())
        yield from self.pins.messages(session, self.runtime.tick)
        yield from self.crowd.messages(session, self.now)

    def _list(self, session: Session, query: AgentsQuery) -> Iterator[Message]:
        is_arranged = needs_all(query)
        message = self.agents(query)
        if message is None or not session.at_most_every(
            _ARRANGED_SECONDS if is_arranged else _LIST_SECONDS, "agents", self.now
        ):
            return
        if session.is_news("agents", message):
            yield {**message, "every": self.crowd.every if is_arranged else 0.0}

    def view(self, name: str) -> Message | None:
        """What an agent does as plain values; None if it is not there."""
        return (self.snapshot(name) or (None, None))[1]

    def _agent(self, session: Session, name: str) -> Iterator[Message]:
        agent, (snapshot, data) = self.runtime.find(name), self.snapshot(name) or (None, None)
        # Without its time, which is another one in each tick.
        if not session.is_news("agent", (name, data and {**data, "tick": 0, "seconds": 0.0})):
            return
        trees: Message = {}
        if agent is not None and data is not None:
            known = (name, [(driver["name"], driver["outline"]) for driver in data["drivers"]])
            if session.is_news("outlines", known):
                trees = {driver: outline.as_json() for driver, outline in outlines(agent).items()}
        yield agent_message(name, self.runtime.tick, data, "" if snapshot is None else explain(snapshot), trees)

    def _events(self, session: Session, query: EventsQuery) -> Iterator[Message]:
        """What came since it was told last; to one that is new the newest ones are enough, and nothing is missing."""
        is_new, cursor, ring = session.wants_reset, session.cursor, self.history.records
        records = [record for record in ring.since(0 if is_new else cursor) if fits(record, query)]
        missed = 0 if is_new else max(0, ring.total_dropped - cursor) + max(0, len(records) - _MOST_ROWS)
        session.cursor, session.wants_reset = ring.total, False
        session.missed += missed
        if is_new or records or missed:
            yield events_message(records[-(_FIRST_ROWS if is_new else _MOST_ROWS) :], missed, is_new=is_new)


# --- what happened lately ---------------------------------------------------------------------------------------------

KEPT_RECORDS = 20_000
_KEPT_STARTS = 60_000

_SEEN: Detail = (("seen", "running"),)
_BEGINS = frozenset({TraceEvent.RUN, TraceEvent.START, TraceEvent.ACTIVATE, TraceEvent.TRY})

_FIRST_ROWS = 300  # of a log that is opened
_MOST_ROWS = 1000  # in one update


class Ring:
    """The newest records, and how many there ever were."""

    __slots__ = ("_records", "append", "total")

    def __init__(self, keep: int) -> None:
        self._records: deque[Kept] = deque(maxlen=keep)
        # takes the next record, as quick as can be, for a trace listener, which counts it, too
        self.append: Callable[[Kept], None] = self._records.append
        self.total: int = 0  # the number of the next one

    @property
    def total_dropped(self) -> int:
        """How many were dropped: the number of the first one that is kept."""
        return self.total - len(self._records)

    def since(self, number: int) -> list[Kept]:
        """The records from a number on, as far as they are there."""
        return list(islice(self._records, max(0, number - self.total_dropped), None))

    def clear(self) -> None:
        """Forget all, but not their count."""
        self._records.clear()


class History:
    """What happened lately in one runtime, and the time lines of the agents that are looked at."""

    __slots__ = ("_builders", "_cursor", "records", "starts")

    def __init__(self) -> None:
        self.records: Ring = Ring(KEPT_RECORDS)
        self.starts: Ring = Ring(_KEPT_STARTS)  # those that begin or end something
        self._builders: dict[str, SpanBuilder] = {}  # of the time lines, by agent
        self._cursor = 0  # the first of the starts that they were not fed with

    def heard(self, record: TraceRecord) -> None:
        tick, agent, path, event, detail = record
        one: Kept = (tick, agent, path, event._value_, detail)  # as ``kept`` makes it: every record passes here
        records = self.records
        records.append(one)
        records.total += 1
        if event in FOLDED:
            self.starts.append(one)
            self.starts.total += 1

    def clear(self) -> None:
        """Nobody listens any more: what comes next does not follow on what was."""
        self.records.clear()
        self.starts.clear()
        self._builders.clear()

    def keep(self, agents: Iterable[str], snapshot_of: Callable[[str], AgentSnapshot | None]) -> None:
        wanted = dict.fromkeys(agents)
        starts = self.starts
        for name in [name for name in self._builders if name not in wanted]:
            del self._builders[name]
        for record in starts.since(self._cursor) if self._builders else ():
            builder = self._builders.get(record[1])
            if builder is not None:
                builder.feed(record_of(record))
        self._cursor = starts.total
        for name in wanted:
            if name not in self._builders:
                self._builders[name] = self._fold(name, snapshot_of(name))

    def _fold(self, name: str, snapshot: AgentSnapshot | None) -> SpanBuilder:
        builder = SpanBuilder()
        records = [record_of(one) for one in self.starts.since(0) if one[1] == name]
        heard = {(record.tick, record.path) for record in records if record.event in _BEGINS}
        for record in () if snapshot is None else began_before(snapshot):
            if (record.tick, record.path) not in heard:
                builder.feed(record)
        for record in records:
            builder.feed(record)
        return builder

    def spans(self, query: TimelineQuery) -> list[Span]:
        builder = self._builders.get(query.agent)
        return [] if builder is None else builder.spans(query.agent, query.first, query.last)


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


# --- real time --------------------------------------------------------------------------------------------------------

_POINTS = 240

_THINKING = frozenset((
    TraceEvent.THINK, TraceEvent.READY, TraceEvent.UNREADY, TraceEvent.REJECT, TraceEvent.STOP_THINKING,
    TraceEvent.BLOCKED, TraceEvent.ELECT, TraceEvent.UTILITY, TraceEvent.RECONSIDER, TraceEvent.STORM,
    TraceEvent.TIMEOUT,
))  # fmt: skip


class TickTimes:
    """The real time of the last ticks, as a clock tells that gives seconds from any start."""

    __slots__ = ("_begin", "_clock", "_last", "_points", "_think")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._points: deque[tuple[int, float, float]] = deque(maxlen=_POINTS)  # tick, milliseconds, thinking
        self._begin: float | None = None
        self._last = 0.0
        self._think = 0.0

    def begin(self) -> None:
        """A tick begins, unless it was heard of before."""
        if self._begin is None:
            self._begin = self._last = self._clock()
            self._think = 0.0

    def heard(self, record: TraceRecord, think: ThinkTimes | None = None, *, is_in_tick: bool) -> None:
        """A record was made, in a tick or between two of them; somebody may look at who thinks."""
        if not is_in_tick:
            return  # it belongs to none
        now = self._clock()
        if self._begin is None:
            self._begin = now
            self._think = 0.0
        elif record.event in _THINKING:
            spent = now - self._last
            self._think += spent
            if think is not None:
                think.add(record.agent, record.path, spent)
        self._last = now

    def end(self, tick: int) -> None:
        if self._begin is not None:
            self._points.append((tick, (self._clock() - self._begin) * 1000, self._think * 1000))
            self._begin = None

    def as_json(self) -> dict[str, Any]:
        """The figures in milliseconds: ``tick_ms`` and ``think_ms``, with last, mean and worst, and ``history``."""
        ticks = [round(point[1], 3) for point in self._points]
        thinks = [round(point[2], 3) for point in self._points]
        return {
            "tick_ms": _summary(ticks),
            "think_ms": _summary(thinks),
            "history": {"tick": [point[0] for point in self._points], "tick_ms": ticks, "think_ms": thinks},
        }


def _summary(values: list[float]) -> dict[str, float]:
    if not values:
        return {"last": 0.0, "mean": 0.0, "worst": 0.0}
    return {"last": values[-1], "mean": round(sum(values) / len(values), 3), "worst": max(values)}


# --- breakpoints ------------------------------------------------------------------------------------------------------

_STARTS = frozenset((TraceEvent.ADDED, TraceEvent.RUN, TraceEvent.START, TraceEvent.ACTIVATE, TraceEvent.TRY))


@dataclass(slots=True)
class Breakpoint:
    """One breakpoint."""

    id: int
    kind: str  # action, activity, strategy, decider, goal or agent
    name: str
    agent: str  # in which agent; empty for any
    hits: int = 0  # how often it was hit
    last: str = ""  # the record that was hit last, as a line; empty if none was
    place: tuple[str, ...] = ("", "")  # its agent and its path, so that a page can go there

    def matches(self, record: TraceRecord) -> bool:
        if self.kind == "agent":
            return record.agent == self.name
        if self.agent and record.agent != self.agent:
            return False
        detail = dict(record.detail)
        above, _, last = record.path.rpartition("/")
        if record.event is TraceEvent.RUN:
            if self.kind == "action":
                return self.name in (last, last.partition("#")[0])
            return self.kind == "activity" and above.rpartition("/")[2].partition("#")[0] == self.name
        if record.event is TraceEvent.ACTIVATE:
            return self.kind == "decider" and self.name in (last, detail.get("behavior"))
        if record.event is TraceEvent.TRY:
            label = str(detail.get("by"))
            return self.kind == "strategy" and self.name in (label, label.lower().replace(" ", "_"))
        # The start of a goal says more about it; that of an action says nothing.
        return record.event is TraceEvent.START and self.kind == "goal" and last == self.name and bool(detail)


class Breakpoints:
    """The breakpoints of one runtime. Used on the runtime's thread alone."""

    __slots__ = ("_count", "_points", "_reason")

    def __init__(self) -> None:
        self._points: dict[tuple[str, str, str], Breakpoint] = {}  # in the order in which they were set
        self._count = 0
        self._reason = ""  # of the first one that was hit since ``take`` was asked, in words; empty if none was

    def __len__(self) -> int:
        return len(self._points)

    def add(self, kind: str, name: str, agent: str) -> bool:
        """Set one, unless there is the same; False if there are too many."""
        wanted = (kind, name, agent)
        if wanted not in self._points:
            if len(self._points) >= MOST_BREAKPOINTS:
                return False
            self._count += 1
            self._points[wanted] = Breakpoint(self._count, kind, name, agent)
        return True

    def remove(self, number: int) -> bool:
        found = [key for key, point in self._points.items() if point.id == number]
        return bool(found and self._points.pop(found[0]))

    def clear(self) -> None:
        self._points.clear()

    def heard(self, record: TraceRecord) -> None:
        if record.event not in _STARTS:
            return
        for point in self._points.values():
            if point.matches(record):
                point.hits += 1
                point.last = f"tick {record.tick} {record.agent} {record.path}"
                point.place = (record.agent, record.path)
                of_whom = f" of {point.agent}" if point.agent else ""
                where = f"({record.agent} {record.path})"
                self._reason = self._reason or f"breakpoint: {point.kind} {point.name}{of_whom} {where}"

    def take(self) -> str:
        """The reason to stop, once."""
        reason, self._reason = self._reason, ""
        return reason

    def as_json(self) -> list[Message]:
        """All of them as plain values, in the order in which they were set."""
        return [asdict(point) for point in self._points.values()]


# --- the source -------------------------------------------------------------------------------------------------------

_SHARE = 20  # of the time of the game's thread, composing gets one of so many parts

_NO_BRANCHES = "branches are run of recordings: record this run, and look at that"
_NO_WAY_BACK = "there is no way back in a run that lives; make a recording"
_FAILED = "the inspector failed to show something"
_READ_ONLY = "this inspector only shows: it was made without controls"


class LiveSource(Source):
    """A runtime, for clients, who may pause, step and set breakpoints if it has ``controls``."""

    def __init__(
        self, runtime: Runtime, title: str, *, controls: bool, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__(clock)
        self._runtime = runtime
        self._title = title
        self._controls = controls
        self._history = History()
        self._times = TickTimes(clock)
        self._breakpoints = Breakpoints()
        self._pins = LivePins()
        self._crowd = LiveCrowd(runtime, self._history.records, clock)
        self._hooks: list[Callable[[], None]] = []  # what ends being called each tick
        self._ears: list[Callable[[], None]] = []  # what ends listening
        self._pause = ""  # the reason of a pause that is ours
        self._speed: float | None = None  # as it was before a client changed it
        self._rest_until = 0.0
        self._last_state = self._state()

    # --- on the runtime's thread --------------------------------------------------------------------------------------

    def attach(self) -> None:
        if not self._hooks:
            self._hooks = [self._runtime.after_tick(self._published), self._runtime.gate.attend(self._serve)]

    def detach(self) -> None:
        """Leave the runtime as if nobody had looked at it."""
        for close in self._hooks:
            close()
        self._hooks.clear()
        self._open.clear()
        self._breakpoints.clear()
        self._listen_if_needed()  # after these two: nothing needs it any more
        gate = self._runtime.gate
        if self._speed is not None:
            gate.speed = self._speed
        if self._pause and gate.is_closed and gate.reason == self._pause:
            gate.resume()

    def pause(self, reason: str = "paused by the inspector") -> None:
        gate = self._runtime.gate
        if gate.is_closed and gate.reason != self._pause:
            reason = gate.reason  # the pause is somebody else's, and stays so; only what was left of steps is forgotten
        else:
            self._pause = reason
        gate.pause(reason)

    def _published(self) -> None:
        if self._ears:
            self._times.end(self._runtime.tick)
            if reason := self._breakpoints.take():
                self.pause(reason)
                for session in tuple(self._open):
                    session.hurry()
        if self._open or self._ears:
            self._serve()

    def _serve(self) -> None:
        """Do what clients asked for, and tell them what is new."""
        try:
            self._listen_if_needed()
            sessions = tuple(self._open)
            for session in sessions:
                while session.commands:
                    self._obey(session, session.commands.popleft())
                    session.hurry()
            now = self._clock()
            if now >= self._rest_until:
                self._crowd.look(sessions, now)
                due = [session for session in sessions if session.is_due(now)]
                if due:
                    self._compose(sessions, due, now)
                if sessions:
                    # However many look, and at whatever: of the time from now on it took one part in twenty.
                    self._rest_until = now + _SHARE * (self._clock() - now)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # whoever looks must not stop the game
            self._failed(_FAILED, error, tick=self._runtime.tick)

    def _compose(self, sessions: tuple[Session, ...], due: list[Session], now: float) -> None:
        scene = Scene(self._runtime, self._history, self._pins, self._crowd, now)
        # The lines of all clients, also of those whose turn it is not: what is not kept is folded from the start again.
        lines = [query.agent for session in sessions if (query := session.watch.timeline) is not None]
        self._history.keep(lines, lambda name: (scene.snapshot(name) or (None,))[0])
        pins = [pin for session in sessions for pin in session.watch.pins]
        self._pins.look(self._runtime.tick, pins, scene.view)
        state = self._last_state = self._state()
        for session in due:
            try:
                messages = list(scene.compose(session))
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._failed(_FAILED, error, tick=self._runtime.tick)
                session.forget()
                messages = [{"is": "error", "message": f"it could not be shown: {words_of(error)}", "code": "failed"}]
            mine = {**state, "dropped": session.held_back + session.missed}
            if session.is_news("state", mine):
                messages.insert(0, mine)
            session.post(messages, now)

    def _state(self) -> Message:
        runtime, gate = self._runtime, self._runtime.gate
        budget = runtime.search.budget
        return {
            "is": "state",
            "tick": runtime.tick,
            "seconds": runtime.clock.now,
            "paused": gate.is_closed,
            "reason": gate.reason,
            "speed": gate.speed,
            "late_ticks": runtime.late_ticks,
            "strands": runtime.kernel.live,
            "agents": len(runtime.agents),
            "drawn": runtime.drawing is not None,
            **self._times.as_json(),
            "breakpoints": self._breakpoints.as_json(),
            "dropped": 0,
            "search": {
                "budget": None if budget is None else budget.units,
                "used": runtime.search.used,
                "waiting": 0 if budget is None else budget.waiting,
            },
        }

    # --- listening ----------------------------------------------------------------------------------------------------

    def _listen_if_needed(self) -> None:
        is_needed = bool(self._open or len(self._breakpoints))
        if is_needed and not self._ears:
            self._ears = [self._runtime.trace.listen(self._heard), self._runtime.every_tick(self._times.begin)]
        elif not is_needed and self._ears:
            for close in self._ears:
                close()
            self._ears.clear()
            self._history.clear()
            self._times = TickTimes(self._clock)

    def _heard(self, record: TraceRecord) -> None:
        self._times.heard(record, self._crowd.think, is_in_tick=self._runtime.kernel.in_tick)
        self._history.heard(record)
        if len(self._breakpoints):
            self._breakpoints.heard(record)

    # --- commands -----------------------------------------------------------------------------------------------------

    def _obey(self, session: Session, command: Command) -> None:
        do, fields = command
        if do == "watch":
            session.look_at(fields["watch"])
            return
        if do in ("at", "branch", "unbranch"):
            session.refuse(_NO_WAY_BACK if do == "at" else _NO_BRANCHES, "not_a_recording")
            return
        if not self._controls:
            session.refuse(_READ_ONLY, "read_only")
            return
        gate = self._runtime.gate
        if do == "pause":
            if not gate.is_closed:
                self.pause()
        elif do in ("resume", "play"):
            gate.resume()
        elif do == "step" and fields["ticks"] < 1:
            session.refuse(_NO_WAY_BACK, "not_a_recording")
        elif do == "step":
            if not gate.is_closed:
                self.pause()
            gate.step(fields["ticks"])
        elif do == "speed":
            if self._speed is None:
                self._speed = gate.speed
            gate.speed = fields["speed"]
        else:
            self._change_breakpoints(session, do, fields)

    def _change_breakpoints(self, session: Session, do: str, fields: dict[str, Any]) -> None:
        if do == "break":
            if not self._breakpoints.add(fields["kind"], fields["name"], fields["agent"]):
                session.refuse("there are too many breakpoints; remove one", "too_many")
        elif not self._breakpoints.remove(fields["id"]):
            session.refuse(f"there is no breakpoint {fields['id']}", "unknown_breakpoint")

    # --- on the server's thread ---------------------------------------------------------------------------------------

    def greeting(self) -> list[Message]:
        tick = self._runtime.tick  # a number: it can be read from any thread
        rate = self._runtime.clock.ticks_per_second
        return [hello("live", self._title, rate, controls=self._controls, tick=tick, reach=(0, tick)), self._last_state]
