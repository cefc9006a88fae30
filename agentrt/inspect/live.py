"""A source that lives: the hub between a runtime and the clients that look at it.

Two threads meet here, and one rule keeps them apart: **everything that touches the runtime happens on its own thread**,
at the end of a tick (``after_tick``) or while it stands before its closed gate (``gate.attend``). The server's thread
only puts commands into the queue of a session, and is handed messages. So nobody takes a lock, a tick never waits for a
client, and what is composed is what stood there between two ticks.

* While nobody looks and no breakpoint is set, nothing listens to the trace, and a tick costs one look at a dict.
* Who looks from then on is told what happens from then on: the history begins anew.
* It composes at most ten times a second of real time for each client, and only what that one watches. However much
  that is, it takes one part in 33 of the time of the runtime's thread at most; beyond it clients are told less often,
  but not less often than every two seconds: where others are busy, too, a moment of composing may look long.
* Who goes back to an earlier tick is handed over to ``past``, on another thread, and is taken again when he returns.
* Clients may pause, step, set breakpoints and read what a mind was asked only if it was made with ``controls``.
* What fails in here is logged, told to the client, and never reaches the runtime.
* When it is detached it takes back what it did to the gate (its pause, speed and breakpoints): else all stood still.

A runtime that nobody drives gives no occasion to compose: clients see what stood there when the inspector began.
Reading changes nothing: snapshots, summaries and figures are all that is asked for, and no clock reaches an agent.

How long ticks take, and how much of that is thinking, is real time, measured only while somebody looks. A tick is
measured from its beginning (our first function of the drivers' phase, or the first record of that tick if that came
sooner, from an intake, say) to its publishing; what was done before, or is woken between two ticks, is not measured.

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

*Breakpoints* (``breakpoints``) are matched against records of the trace, which tell of everything that starts, so no
part of a plan or a tree knows that there are any. When one is hit the tick goes on to its end (an agent is never
stopped in the middle of a tick: that would be another run), and then the gate is closed. What is changed by hand
(``handling``) is an input of the run.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import chain
from typing import TYPE_CHECKING, Any

from agentrt.errors import ENDS_PROGRAM
from agentrt.inspect.begun import began_before
from agentrt.inspect.breakpoints import MATCHED, BreakpointFile, Breakpoints
from agentrt.inspect.crowd import LiveCrowd, ThinkTimes
from agentrt.inspect.drawn import drawing_messages
from agentrt.inspect.editing import Answer, Workbench
from agentrt.inspect.handling import LiveHands
from agentrt.inspect.listing import needs_all
from agentrt.inspect.past import JUST_NOW_ROWS, NOT_DONE, Past, told_just_now
from agentrt.inspect.pins import LivePins
from agentrt.inspect.protocol import (
    AgentsQuery,
    Command,
    EventsQuery,
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
from agentrt.inspect.thoughts import LiveThoughts
from agentrt.kernel.trace import Kept, Stamper, TraceEvent
from agentrt.record.ring import packed, unpacked
from agentrt.record.spans import FOLDED, Span, SpanBuilder
from agentrt.snapshot import (
    AgentSnapshot,
    AgentSummary,
    explain,
    outlines,
    snapshot_agent,
    summarize,
)
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.drawing import Drawing
    from agentrt.runtime.runtime import Runtime


_LIST_SECONDS = 0.5  # how often a list that nobody touched is made anew
_ARRANGED_SECONDS = 0.25  # the same of one that is made of a survey, which was paid for


class Scene:
    """What was composed in one round, for all clients: each of it once, when the first one looks at it."""

    def __init__(
        self,
        runtime: Runtime,
        history: History,
        pins: LivePins,
        hands: LiveHands,
        workbench: Workbench,
        crowd: LiveCrowd,
        thoughts: LiveThoughts,
        now: float,
    ) -> None:
        self.runtime: Runtime = runtime
        self.thoughts: LiveThoughts = thoughts
        self.workbench: Workbench = workbench
        self.crowd: LiveCrowd = crowd
        self.pins: LivePins = pins
        self.hands: LiveHands = hands
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
        yield from self.hands.messages(session, self.now)
        if watch.editing:
            yield from self.workbench.messages(session, self.runtime.find(watch.agent or ""), self.now)
        yield from self.crowd.messages(session, self.now)
        yield from self.thoughts.messages(session, self.now)

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
        first = ring.total_dropped if is_new else max(cursor, ring.total_dropped)
        rows, left = _newest(ring, first, query, _FIRST_ROWS if is_new else _MOST_ROWS)
        missed = 0 if is_new else first - cursor + left
        session.cursor, session.wants_reset = ring.total, False
        session.missed += missed
        if is_new or rows or missed:
            yield events_message(rows, missed, is_new=is_new)


# --- what happened lately ---------------------------------------------------------------------------------------------

KEPT_RECORDS = 20_000
_KEPT_STARTS = 60_000

_BEGINS = frozenset({TraceEvent.RUN, TraceEvent.START, TraceEvent.ACTIVATE, TraceEvent.TRY})

_FIRST_ROWS = 300  # of a log that is opened
_MOST_ROWS = 500  # in one update, of which there are ten in a second: nobody reads more


class Ring:
    """The newest records, which come packed and are unpacked for who reads them, and how many there ever were.

    None is kept as it came, not even the newest: what is let go of at once is still in the processor's cache, and its
    place is taken by the records of the next tick. Kept for five ticks only, it cost two percent of the colony's.
    """

    __slots__ = ("_amount", "_keep", "_packed", "total")

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._packed: deque[tuple[int, bytes]] = deque()  # how many, and the records; the oldest first
        self._amount = 0
        self.total: int = 0  # the number of the next one

    @property
    def total_dropped(self) -> int:
        """How many were dropped: the number of the first one that is kept."""
        return self.total - min(self._keep, self._amount)

    def take(self, amount: int, data: bytes) -> None:
        self.total += amount
        self._packed.append((amount, data))
        self._amount += amount
        while self._amount - self._packed[0][0] >= self._keep:
            self._amount -= self._packed.popleft()[0]

    def backwards(self, number: int, words: Collection[bytes] = ()) -> Iterator[tuple[int, list[Kept]]]:
        """The records from a number on, the newest lot first, each lot in order and with the number of its first one.

        With ``words`` only the lots in which one of them is written: of an agent, or of a kind of records, most lots
        have none, and need not be unpacked to know that.
        """
        first, at = max(number, self.total_dropped), self.total
        for amount, data in reversed(self._packed):
            if at <= first:
                return
            at -= amount
            if not words or any(word in data for word in words):
                yield max(at, first), unpacked(data)[max(0, first - at) :]

    def since(self, number: int, words: Collection[bytes] = ()) -> list[Kept]:
        """The records from a number on, as far as they are there; with ``words`` at least those that hold one."""
        lots = [records for _, records in self.backwards(number, words)]
        lots.reverse()
        return list(chain.from_iterable(lots))

    def clear(self) -> None:
        """Forget all, but not their count."""
        self._packed.clear()
        self._amount = 0


def _written(name: str) -> bytes:
    """A name as it stands in packed records."""
    return name.encode("utf-8", "surrogatepass")


def _newest(ring: Ring, first: int, query: EventsQuery, most: int) -> tuple[list[Kept], int]:
    """The newest records that a client looks for, and how many are left out.

    What is older than enough of them is not looked at, and counts as left out: a world that runs at full speed has tens
    of thousands between two updates, and to unpack these all, to show a thousand, took most of the time of an update.
    """
    words = [event.encode() for event in sorted(query.events or ())] if query.agent is None else [_written(query.agent)]
    lots: list[list[Kept]] = []
    amount = left = 0
    for at, records in ring.backwards(first, words):
        lots.append([record for record in records if fits(record, query)])
        amount += len(lots[-1])
        if amount >= most:
            left = at - first + amount - most
            break
    lots.reverse()
    return list(chain.from_iterable(lots))[-most:], left


class History:
    """What happened lately in one runtime, and the time lines of the agents that are looked at."""

    __slots__ = ("_builders", "_cursor", "records", "starts")

    def __init__(self) -> None:
        self.records: Ring = Ring(KEPT_RECORDS)
        self.starts: Ring = Ring(_KEPT_STARTS)  # those that begin or end something
        self._builders: dict[str, SpanBuilder] = {}  # of the time lines, by agent
        self._cursor = 0  # the first of the starts that they were not fed with

    def take(self, records: list[Kept], data: bytes) -> None:
        """Take what was heard since the last time, and the same packed."""
        self.records.take(len(records), data)
        starts = [one for one in records if one[3] in FOLDED]
        if starts:
            self.starts.take(len(starts), packed(starts))

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
        words = [_written(name) for name in self._builders]
        for record in starts.since(self._cursor, words) if words else ():
            builder = self._builders.get(record[1])
            if builder is not None:
                builder.feed(record_of(record))
        self._cursor = starts.total
        for name in wanted:
            if name not in self._builders:
                self._builders[name] = self._fold(name, snapshot_of(name))

    def _fold(self, name: str, snapshot: AgentSnapshot | None) -> SpanBuilder:
        builder = SpanBuilder()
        records = [record_of(one) for one in self.starts.since(0, [_written(name)]) if one[1] == name]
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


# --- real time --------------------------------------------------------------------------------------------------------

_POINTS = 240

_THINKING = frozenset((
    TraceEvent.THINK, TraceEvent.READY, TraceEvent.UNREADY, TraceEvent.REJECT, TraceEvent.STOP_THINKING,
    TraceEvent.BLOCKED, TraceEvent.ELECT, TraceEvent.UTILITY, TraceEvent.RECONSIDER, TraceEvent.STORM,
    TraceEvent.TIMEOUT,
))  # fmt: skip


class TickTimes:
    """The real time of the last ticks, as a clock tells that gives seconds from any start."""

    __slots__ = ("_before", "_begin", "_clock", "_points", "stamper", "stamps")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._points: deque[tuple[int, float, float]] = deque(maxlen=_POINTS)  # tick, milliseconds, thinking
        self._begin: float | None = None  # of the tick that runs, as its drivers' phase tells
        self._before = 0  # so many records were heard before that
        # When each record was made. Who keeps the records clears both: it is the trace that fills them, since a
        # function in Python that takes a record and looks at the clock cost more than all that is kept of it.
        self.stamps: list[float] = []
        self.stamper: Stamper = clock, self.stamps.append

    def begin(self) -> None:
        """The drivers' phase of a tick begins."""
        self._begin, self._before = self._clock(), len(self.stamps)

    def end(self, tick: int, records: list[Kept], think: ThinkTimes | None = None) -> None:
        """A tick is over.

        Args:
            tick: which; a record of an earlier one was made between the two, and its time belongs to none.
            records: all of which there are stamps.
            think: where it is noted who thought how long, if somebody looks at that.
        """
        first = next((place for place in range(self._before) if records[place][0] == tick), self._before)
        begin = self.stamps[first] if first < self._before else self._begin
        self._begin, self._before = None, 0
        if begin is None:
            return
        thought, last, thinking = 0.0, begin, _THINKING
        for record, now in zip(records[first:], self.stamps[first:], strict=False):
            if record[3] in thinking:
                thought += now - last
                if think is not None:
                    think.add(record[1], record[2], now - last)
            last = now
        self._points.append((tick, (self._clock() - begin) * 1000, thought * 1000))

    def as_json(self) -> dict[str, Any]:
        """The figures in milliseconds: ``tick_ms`` and ``think_ms``, with last, mean and worst, and ``history``."""
        ticks = [round(point[1], 3) for point in self._points]
        thinks = [round(point[2], 3) for point in self._points]
        return {
            "tick_ms": times_summary(ticks),
            "think_ms": times_summary(thinks),
            "history": {"tick": [point[0] for point in self._points], "tick_ms": ticks, "think_ms": thinks},
        }


def times_summary(values: list[float]) -> dict[str, float]:
    if not values:
        return {"last": 0.0, "mean": 0.0, "worst": 0.0}
    return {"last": values[-1], "mean": round(sum(values) / len(values), 3), "worst": max(values)}


# --- the source -------------------------------------------------------------------------------------------------------

_WHO_LOOKS, _THE_PAST = "looks", "past"  # for whom it listens to the trace

_SHARE = 33  # of the time of the game's thread, composing gets one of so many parts
_LONGEST_REST = 2.0  # real seconds in which nothing is composed because that took long

_NO_BRANCHES = "branches are run of recordings: record this run, and look at that"
_STATE_SECONDS = 0.1  # how often those who are in the past are told of the run
_FAILED = "the inspector failed to show something"
_READ_ONLY = "this inspector only shows: it was made without controls"


class LiveSource(Source):
    """A runtime, for clients, who may pause, step and set breakpoints if it has ``controls``.

    With ``held_by``, which is called when a breakpoint is hit, it is one of several that are driven together: whoever
    drives them calls ``serve`` when they stand, and nothing is composed within a tick.
    """

    def __init__(
        self,
        runtime: Runtime,
        title: str,
        *,
        controls: bool,
        past: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
        breakpoints: BreakpointFile | None = None,
        workbench: Workbench | None = None,
        held_by: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(clock)
        self._held_by = held_by
        self._past = Past(runtime, title, past, clock=clock)
        self._just_now: Message | None = None  # what came before the breakpoint that was hit last
        self._runtime = runtime
        self._title = title
        self._controls = controls
        self._history = History()
        self._times = TickTimes(clock)
        self.breakpoints: Breakpoints = Breakpoints(breakpoints)
        self._hands = LiveHands(runtime, controls=controls)
        self._pins = LivePins()
        self._workbench = workbench or Workbench(None, controls=controls)
        self._crowd = LiveCrowd(runtime, self._history.records, clock)
        self._thoughts = LiveThoughts(runtime)
        self._hooks: list[Callable[[], None]] = []  # what ends being called each tick
        self._ears: list[Callable[[], None]] = []  # what ends listening
        self._batch: list[Kept] = []  # what was heard and not looked at yet; it stays the same list
        self._hears: str = ""  # for whom: who looks, or the past alone; empty while nothing listens
        self._pause = ""  # the reason of a pause that is ours
        self._speed: float | None = None  # as it was before a client changed it
        self._rest_until = 0.0
        self._state_due = 0.0
        self._last_state = self.state()

    # --- on the runtime's thread --------------------------------------------------------------------------------------

    def attach(self) -> None:
        if not self._hooks:
            self.breakpoints.load()
            self._hooks = [self._runtime.after_tick(self._published), self._runtime.gate.attend(self.serve)]
            self._past.attach()
            self._listen_if_needed()  # for the breakpoints of a file, and for the past, whoever looks

    def detach(self) -> None:
        """Leave the runtime as if nobody had looked at it."""
        for close in self._hooks:
            close()
        self._hooks.clear()
        self._past.detach()
        self._past.leave.clear()
        self._open.clear()
        self.breakpoints.clear()
        self._hands.detach()
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
            if self._hears == _WHO_LOOKS:
                self._times.end(self._runtime.tick, self._batch, self._crowd.think)
            self._look_through()
            self._look_for_breakpoints()
        if self._past.ring is not None:
            looking = (*self._open, *self._past.sessions)
            self._past.end_tick(frozenset([one.watch.agent for one in looking if one.watch.agent is not None]))
        if self._held_by is not None:
            if reason := self.breakpoints.take():
                self._held_by(reason)
            return
        if self._ears and (reason := self.breakpoints.take()):
            self.pause(reason)
            self._just_now = self._before_hit(reason)
            for session in tuple(self._open):
                session.hurry()
        if self._open or self._ears or self._past.ring is not None:
            self.serve()

    def _before_hit(self, reason: str) -> Message:
        (agent, path), tick = self.breakpoints.place, self._runtime.tick
        kept = self._past.just_now(agent, path, reason, tick)
        if kept is not None:
            return kept
        records = self._history.records.since(0)
        first = records[0][0] if records else tick
        mine = [one for one in records if one[1] == agent and one[3] not in NOT_DONE][-JUST_NOW_ROWS:]
        return told_just_now(agent, path, reason, tick, first, mine)

    def serve(self) -> None:
        """Do what clients asked for, and tell them what is new."""
        try:
            self._take_back()
            self._look_through()  # between two ticks there may be some, too
            self._listen_if_needed()
            sessions = tuple(self._open)
            for session in sessions:
                while session.commands and session in self._open:
                    self._obey(session, session.commands.popleft())
                    session.hurry()
            self._hands.settle()
            now = self._clock()
            if now >= self._rest_until or self._held_by is not None:  # whoever drives several says how often he looks
                self._crowd.look(sessions, now)
                due = [session for session in sessions if session in self._open and session.is_due(now)]
                if due:
                    self._compose(sessions, due, now)
                if sessions:
                    # However many look, and at whatever: of the time from now on it took one part in so many.
                    self._rest_until = now + min(_LONGEST_REST, _SHARE * (self._clock() - now))
            if self._past.sessions and now >= self._state_due:  # they are told how the run does
                self._state_due = now + _STATE_SECONDS
                self._past.live = self.state()
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # whoever looks must not stop the game
            self._failed(_FAILED, error, tick=self._runtime.tick)

    def _take_back(self) -> None:
        """Take those who come back from the past, and do what others ask for from there."""
        past = self._past
        while past.leave:
            session = past.leave.popleft()
            self.open(session)
            if not session.is_open:  # it has gone meanwhile, and nobody would take it out
                self.close(session)
        while past.wishes:
            self._obey(*past.wishes.popleft())

    def _compose(self, sessions: tuple[Session, ...], due: list[Session], now: float) -> None:
        scene = Scene(
            self._runtime, self._history, self._pins, self._hands, self._workbench, self._crowd, self._thoughts, now
        )  # fmt: skip
        # The lines of all clients, also of those whose turn it is not: what is not kept is folded from the start again.
        lines = [query.agent for session in sessions if (query := session.watch.timeline) is not None]
        self._history.keep(lines, lambda name: (scene.snapshot(name) or (None,))[0])
        pins = [pin for session in sessions for pin in session.watch.pins]
        self._pins.look(self._runtime.tick, pins, scene.view)
        state = self._last_state = self.state()
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
            if self._just_now is not None and session.is_news("just_now", self._just_now["tick"]):
                messages.append(self._just_now)
            session.post(messages, now)

    def state(self) -> Message:
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
            "mind": runtime.mind is not None,
            "past": self._past.reach(),
            "waiting": self._workbench.waiting(),
            **self._times.as_json(),
            "breakpoints": self.breakpoints.as_json(),
            "dropped": 0,
            "search": {
                "budget": None if budget is None else budget.units,
                "used": runtime.search.used,
                "waiting": 0 if budget is None else budget.waiting,
            },
        }

    # --- listening ----------------------------------------------------------------------------------------------------

    def _listen_if_needed(self) -> None:
        is_needed = bool(self._open or self._past.sessions or self.breakpoints.are_armed)
        self._past.keep_if_needed(is_looked_at=is_needed)
        wanted = _WHO_LOOKS if is_needed else _THE_PAST if self._past.ring is not None else ""
        if wanted == self._hears:
            return
        for close in self._ears:
            close()
        self._ears.clear()
        self._batch.clear()
        if self._hears == _WHO_LOOKS:
            self._history.clear()
            self._times = TickTimes(self._clock)
        self._hears, trace, take = wanted, self._runtime.trace, self._batch.append  # all that can wait does
        if wanted == _WHO_LOOKS:
            self._ears = [trace.keep(take, self._times.stamper), self._runtime.kernel.before_tick(self._times.begin)]
        elif wanted:
            self._ears = [trace.keep(take)]

    def _look_through(self) -> None:
        """Look at what was heard since the last time."""
        if self._batch:
            batch = self._batch.copy()
            self._batch.clear()
            self._times.stamps.clear()
            data = packed(batch)  # once, for both
            self._past.hear(batch, data)
            if self._hears == _WHO_LOOKS:
                self._history.take(batch, data)
                if self.breakpoints.are_armed:
                    for one in batch:
                        if one[3] in MATCHED:
                            self.breakpoints.heard(record_of(one))

    def _look_for_breakpoints(self) -> None:
        """What is so at the end of a tick."""
        try:
            self.breakpoints.look(self._runtime, self._clock)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._failed("the inspector failed to look for a breakpoint", error, tick=self._runtime.tick)

    # --- commands -----------------------------------------------------------------------------------------------------

    def _obey(self, session: Session, command: Command) -> None:
        do, fields = command
        if do == "watch":
            session.look_at(fields["watch"])
            return
        if do in ("branch", "unbranch"):
            session.refuse(_NO_BRANCHES, "not_a_recording")
            return
        if do == "live":
            return
        if do == "at" or (do == "step" and fields["ticks"] < 1):
            self._go_back(session, fields["tick"] if do == "at" else max(1, self._runtime.tick + fields["ticks"]))
            return
        if self._controls:
            self._control(session, do, fields)
        else:
            session.refuse(_READ_ONLY, "read_only")

    def _control(self, session: Session, do: str, fields: dict[str, Any]) -> None:
        gate = self._runtime.gate
        if do == "pause":
            if not gate.is_closed:
                self.pause()
        elif do in ("resume", "play"):
            gate.resume()
        elif do == "step":
            if not gate.is_closed:
                self.pause()
            gate.step(fields["ticks"])
        elif do == "speed":
            if self._speed is None:
                self._speed = gate.speed
            gate.speed = fields["speed"]
        else:
            self._change(session, do, fields)

    def _go_back(self, session: Session, tick: int) -> None:
        if self._past.enter(session, Command("at", {"tick": tick})):
            self._open.pop(session, None)  # from here on it is another thread's

    def _change(self, session: Session, do: str, fields: dict[str, Any]) -> None:
        if do == "hand":
            self._hands.obey(session, fields)
        elif do == "thought":
            session.notify(self._thoughts.text(fields["id"]))
        elif problem := self.breakpoints.obey(do, fields, self._runtime):
            session.refuse(*problem)

    # --- on the server's thread ---------------------------------------------------------------------------------------

    def close(self, session: Session) -> None:
        super().close(session)
        self._past.close(session)

    def recorded(self) -> AbstractContextManager[tuple[str, str]] | None:
        return self._past.recorded()

    def save(self, ticks: int | None) -> tuple[str, bytes]:
        return self._past.save(ticks)

    def edit(self, body: bytes) -> Answer:
        try:
            return self._workbench.answer(body)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._failed(_FAILED, error)
            words = f"it could not be done: {words_of(error)}"
            return Answer(500, {"is": "refusal", "code": "failed", "message": words})

    def greeting(self) -> list[Message]:
        tick = self._runtime.tick  # a number: it can be read from any thread
        rate = self._runtime.clock.ticks_per_second
        why = self._workbench.refusal
        first = hello("live", self._title, rate, controls=self._controls, tick=tick, reach=(0, tick), editing=why)
        return [first, self._last_state]
