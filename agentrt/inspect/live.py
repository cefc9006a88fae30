"""A source that lives: the hub between a runtime and the clients that look at it.

Two threads meet here, and one rule keeps them apart: **everything that touches the runtime happens on its own thread**,
at the end of a tick (``after_tick``) or while it stands before its closed gate (``gate.attend``). The server's thread
only puts commands into the queue of a session, and is handed messages. So nobody takes a lock, a tick never waits for a
client, and what is composed is what stood there between two ticks.

* While nobody looks and no breakpoint is set, nothing listens to the trace, and a tick costs one look at a dict.
* Who looks from then on is told what happens from then on: the history begins anew.
* It composes at most ten times a second of real time for each client, and only what that one watches. However much
  that is, it takes a tenth of the time of the runtime's thread at most; beyond it clients are told less often.
* Clients may pause, step, and set breakpoints only if the inspector was made with ``controls``.
* What fails in here is logged, told to the client, and never reaches the runtime.
* When it is detached it takes back what it did to the gate: a pause of its own, its speed, and its breakpoints. Else
  a program whose inspector ended would stand still for ever.

A runtime that nobody drives gives no occasion to compose: clients see what stood there when the inspector began.

Only what is looked at is composed, and only what has changed since is sent: ``Session.told`` remembers. An agent that
three clients look at is looked at once: a ``Round`` keeps what was composed until the next one.

Reading changes nothing: snapshots, summaries, and figures are all that is asked for.

How long ticks take, and how much of that is thinking, is real time, measured only while somebody looks. A tick is
measured from its beginning to its publishing. Its beginning is the first function of the drivers' phase that
is ours, or the first record of that tick if that came sooner (from an intake, say); what was done before either is not
measured, nor is what the event loop wakes between two ticks.

Thinking is *attributed*, not measured: the time between two records of the trace belongs to the later one, and what was
said there tells what was being done: a unit that became ready, was elected or rejected was thinking. So a step that
thinks long and says nothing before it runs is counted as running, and what a trace listener costs is in it. That is
good enough to see which of the two a slow tick is made of. Rejected: a clock around each step of a coroutine, which
would cost the main loop of the kernel its speed also while nobody looks.

Reading a clock changes nothing in the run: no figure of this module reaches an agent.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agentrt.agent.logs import get_logger
from agentrt.errors import ENDS_PROGRAM
from agentrt.inspect.breakpoints import Breakpoints
from agentrt.inspect.history import History, Timelines, as_row, as_span_row
from agentrt.inspect.protocol import PROTOCOL, AgentsQuery, Command, EventsQuery, TimelineQuery
from agentrt.inspect.sessions import Message, Session
from agentrt.installed import library_version
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.snapshot import AgentSnapshot, explain, outlines, snapshot_agent, summarize
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.runtime.runtime import Runtime

__all__ = ["Round", "Seen", "compose", "TickTimes", "LiveSource"]

_LIST_SECONDS = 0.5  # how often a list that nobody touched is made anew
_MOST_SPANS = 3000


class Round:
    """What was composed in one round, for all clients.

    Args:
        timelines: of the agents that are looked at.
    """

    __slots__ = ("_lists", "_seen", "history", "now", "runtime", "timelines")

    def __init__(self, runtime: Runtime, history: History, timelines: Timelines, now: float) -> None:
        self.runtime: Runtime = runtime
        self.history: History = history
        self.timelines: Timelines = timelines
        self.now: float = now
        self._seen: dict[str, Seen] = {}
        self._lists: dict[AgentsQuery, Message] = {}

    def see(self, name: str) -> Seen:
        """What an agent does."""
        if name not in self._seen:
            agent = self.runtime.find(name)
            self._seen[name] = Seen(agent, None if agent is None else snapshot_agent(agent))
        return self._seen[name]

    def agents(self, query: AgentsQuery) -> Message:
        """The list of agents, as a client looks for them."""
        if query not in self._lists:
            self._lists[query] = _agents(self.runtime.agents, query)
        return self._lists[query]


class Seen:
    """An agent that is looked at, and what is made of it when somebody asks.

    Args:
        agent: the agent; None if there is none.
    """

    def __init__(self, agent: Agent | None, snapshot: AgentSnapshot | None) -> None:
        self.agent: Agent | None = agent
        self.snapshot: AgentSnapshot | None = snapshot

    @cached_property
    def data(self) -> Message | None:
        """The snapshot as plain values."""
        return None if self.snapshot is None else self.snapshot.as_json()

    @cached_property
    def text(self) -> str:
        """The snapshot in words."""
        return "" if self.snapshot is None else explain(self.snapshot)


def compose(round_: Round, session: Session) -> list[Message]:
    """What a client is told now, besides the state."""
    watch = session.watch
    messages: list[Message] = []
    if watch.agents is not None and session.at_most_every(_LIST_SECONDS, "agents", round_.now):
        _if_changed(messages, session, "agents", round_.agents(watch.agents))
    if watch.agent is not None:
        _compose_agent(messages, round_, session, watch.agent)
    if watch.events is not None:
        _compose_events(messages, round_, session, watch.events)
    if watch.timeline is not None:
        _compose_timeline(messages, round_, session, watch.timeline)
    return messages


def _if_changed(messages: list[Message], session: Session, kind: str, message: Message) -> None:
    if session.told.get(kind) != message:
        session.told[kind] = message
        messages.append(message)


# --- the list of agents -----------------------------------------------------------------------------------------------


def _agents(agents: tuple[Agent, ...], query: AgentsQuery) -> Message:
    """The rows of one page. Only these are composed, unless the query is about what agents do."""
    wanted, kind, running = query.filter.casefold(), query.kind, query.running.casefold()
    found: list[Any] = []
    matching = 0
    for agent in agents:
        its_kind = str(getattr(agent.entity, "kind", "") or "")
        if kind and its_kind != kind:
            continue
        if wanted and wanted not in agent.name.casefold() and wanted not in its_kind.casefold():
            continue
        row: Any = agent
        if running:
            row = summarize(agent)
            if running not in f"{row.running}\n{row.doing}\n{row.status}".casefold():
                continue
        if query.offset <= matching < query.offset + query.limit:
            found.append(row)
        matching += 1
    rows = found if running else [summarize(agent) for agent in found]
    return {
        "is": "agents",
        "total": len(agents),
        "matching": matching,
        "offset": query.offset,
        "rows": [row.as_json() for row in rows],
    }


# --- one agent --------------------------------------------------------------------------------------------------------


def _compose_agent(messages: list[Message], round_: Round, session: Session, name: str) -> None:
    one = round_.see(name)
    seen = (name, None if one.data is None else {**one.data, "tick": 0, "seconds": 0.0})
    if session.told.get("agent") == seen:
        return
    session.told["agent"] = seen
    trees: Message = {}
    if one.agent is not None and one.data is not None:
        known = (name, [(driver["name"], driver["outline"]) for driver in one.data["drivers"]])
        if session.told.get("outlines") != known:
            session.told["outlines"] = known
            trees = {driver: outline.as_json() for driver, outline in outlines(one.agent).items()}
    messages.append(
        {
            "is": "agent",
            "name": name,
            "tick": round_.runtime.tick,
            "snapshot": one.data,
            "explain": one.text,
            "outlines": trees,
        }
    )


# --- events -----------------------------------------------------------------------------------------------------------


def _compose_events(messages: list[Message], round_: Round, session: Session, query: EventsQuery) -> None:
    is_new = session.wants_reset
    told = round_.history.tell(query, session.cursor, is_new=is_new)
    session.cursor = told.cursor
    session.wants_reset = False
    session.missed += told.missed
    if is_new or told.records or told.missed:
        rows = [as_row(record) for record in told.records]
        messages.append({"is": "events", "reset": is_new, "records": rows, "missed": told.missed})


# --- the time line ----------------------------------------------------------------------------------------------------


def _compose_timeline(messages: list[Message], round_: Round, session: Session, query: TimelineQuery) -> None:
    tick = round_.runtime.tick
    rows = [as_span_row(span) for span in round_.timelines.spans(query)[-_MOST_SPANS:]]
    last = tick if query.last is None else query.last
    seen = (query, rows)
    # What is there may be the same while time goes on: the page draws what is open up to ``now``.
    if session.told.get("timeline") != seen or session.at_most_every(_LIST_SECONDS, "timeline", round_.now):
        session.told["timeline"] = seen
        messages.append(
            {
                "is": "timeline",
                "agent": query.agent,
                "first": query.first,
                "last": last,
                "now": tick,
                "spans": rows,
            }
        )


_POINTS = 240

_THINKING = frozenset(
    {
        TraceEvent.THINK,
        TraceEvent.READY,
        TraceEvent.UNREADY,
        TraceEvent.REJECT,
        TraceEvent.STOP_THINKING,
        TraceEvent.BLOCKED,
        TraceEvent.ELECT,
        TraceEvent.UTILITY,
        TraceEvent.RECONSIDER,
        TraceEvent.STORM,
        TraceEvent.TIMEOUT,
    }
)


class TickTimes:
    """The real time of the last ticks.

    Args:
        clock: gives real seconds, from any start.
    """

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

    def heard(self, record: TraceRecord, *, is_in_tick: bool) -> None:
        """A record was made.

        Args:
            is_in_tick: whether a tick runs; what happens between two of them belongs to none.
        """
        if not is_in_tick:
            return
        now = self._clock()
        if self._begin is None:
            self._begin = now
            self._think = 0.0
        elif record.event in _THINKING:
            self._think += now - self._last
        self._last = now

    def end(self, tick: int) -> None:
        """A tick was published."""
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


_SHARE = 10  # of the time of the game's thread, composing gets one of so many parts

_NO_WAY_BACK = "there is no way back in a run that lives; make a recording"
_READ_ONLY = "this inspector only shows: it was made without controls"


class LiveSource:
    """A runtime, for clients.

    Args:
        controls: whether clients may pause, step and set breakpoints.
        clock: gives real seconds, from any start.
    """

    def __init__(
        self, runtime: Runtime, title: str, *, controls: bool, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._runtime = runtime
        self._title = title
        self._controls = controls
        self._clock = clock
        self._open: dict[Session, None] = {}  # changed by the server's thread, one step at a time
        self._history = History()
        self._times = TickTimes(clock)
        self._timelines = Timelines(self._history)
        self._breakpoints = Breakpoints()
        self._hooks: list[Callable[[], None]] = []  # what ends being called each tick
        self._ears: list[Callable[[], None]] = []  # what ends listening
        self._pause = ""  # the reason of a pause that is ours
        self._speed: float | None = None  # as it was before a client changed it
        self._rest_until = 0.0
        self._has_failed = False
        self._last_state = self._state()

    # --- on the runtime's thread --------------------------------------------------------------------------------------

    def attach(self) -> None:
        """Begin to be called by the runtime."""
        if not self._hooks:
            self._hooks = [
                self._runtime.after_tick(self._published),
                self._runtime.gate.attend(self._serve),
            ]

    def detach(self) -> None:
        """Leave the runtime as if nobody had looked at it."""
        for close in self._hooks:
            close()
        self._hooks.clear()
        self._open.clear()
        self._breakpoints.clear()
        self._listen_if_needed()
        gate = self._runtime.gate
        if self._speed is not None:
            gate.speed = self._speed
        if self._pause and gate.is_closed and gate.reason == self._pause:
            gate.resume()

    def pause(self, reason: str = "paused by the inspector") -> None:
        """Pause the runtime."""
        gate = self._runtime.gate
        if gate.is_closed and gate.reason != self._pause:
            reason = gate.reason  # the pause is somebody else's, and stays so; only what was left of steps is forgotten
        else:
            self._pause = reason
        gate.pause(reason)

    def _published(self) -> None:
        """A tick was published."""
        if self._ears:
            self._times.end(self._runtime.tick)
            self._history.trim()
            reason = self._breakpoints.take()
            if reason:
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
                due = [session for session in sessions if session.is_due(now)]
                if due:
                    self._compose(sessions, due, now)
                    self._rest_until = now + _SHARE * (self._clock() - now)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # whoever looks must not stop the game
            self._failed(error)

    def _compose(self, sessions: tuple[Session, ...], due: list[Session], now: float) -> None:
        watched = (session.watch.timeline for session in sessions)
        round_ = Round(self._runtime, self._history, self._timelines, now)
        lines = [query.agent for query in watched if query is not None]
        self._timelines.keep(lines, lambda name: round_.see(name).snapshot)
        state = self._last_state = self._state()
        for session in due:
            try:
                messages = compose(round_, session)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._failed(error)
                session.forget()
                messages = [{"is": "error", "message": f"it could not be shown: {words_of(error)}", "code": "failed"}]
            mine = {**state, "dropped": session.held_back + session.missed}
            if session.told.get("state") != mine:
                session.told["state"] = mine
                messages.insert(0, mine)
            session.post(messages, now)

    def _failed(self, error: BaseException) -> None:
        if not self._has_failed:
            self._has_failed = True
            get_logger(tick=self._runtime.tick).error("the inspector failed to show something", exc_info=error)

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
            self._ears = [
                self._runtime.trace.listen(self._heard),
                self._runtime.every_tick(self._times.begin),
            ]
        elif not is_needed and self._ears:
            for close in self._ears:
                close()
            self._ears.clear()
            self._history.clear()
            self._timelines.clear()
            self._times = TickTimes(self._clock)

    def _heard(self, record: TraceRecord) -> None:
        self._times.heard(record, is_in_tick=self._runtime.kernel.in_tick)
        self._history.heard(record)
        if len(self._breakpoints):
            self._breakpoints.heard(record)

    # --- commands -----------------------------------------------------------------------------------------------------

    def _obey(self, session: Session, command: Command) -> None:
        do, fields = command
        if do == "watch":
            session.look_at(fields["watch"])
            return
        if do == "at":
            session.refuse(_NO_WAY_BACK, "not_a_recording")
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
            if self._breakpoints.add(fields["kind"], fields["name"], fields["agent"]) is None:
                session.refuse("there are too many breakpoints; remove one", "too_many")
        elif not self._breakpoints.remove(fields["id"]):
            session.refuse(f"there is no breakpoint {fields['id']}", "unknown_breakpoint")

    # --- on the server's thread ---------------------------------------------------------------------------------------

    def greeting(self) -> list[Message]:
        """What every client is told first: a hello, and the state, as far as it is known."""
        tick = self._runtime.tick  # a number: it can be read from any thread
        hello: Message = {
            "is": "hello",
            "protocol": PROTOCOL,
            "agentrt": library_version(),
            "source": "live",
            "title": self._title,
            "controls": self._controls,
            "ticks_per_second": self._runtime.clock.ticks_per_second,
            "tick": tick,
            "first_tick": 0,
            "last_tick": tick,
            "unreplayable": [],
        }
        return [hello, self._last_state]

    def open(self, session: Session) -> None:
        """A client has come."""
        self._open[session] = None

    def close(self, session: Session) -> None:
        """A client has gone."""
        self._open.pop(session, None)
