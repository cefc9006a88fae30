"""All agents at once: how they stand, how many do what over time, and who thinks how long about what.

A list that is sorted, grouped or filtered by what agents do needs the *standing* of every one of them, and so does a
chart of the crowd. That is too much for one round, so it is gathered by and by:

* *Of a runtime that lives* a survey goes from agent to agent, for a few milliseconds of a tick at most, and begins anew
  four times in a second at most. What clients are told comes from the last one that was finished, with how often that
  is. So a tick waits no longer for 2,000 agents than for 200, and their standings may be of a few ticks. The chart has
  a point for each survey, since somebody began to look; nobody's past is kept.
* *Of a recording* all views are gone through once, one agent after the other, and each change of its line is kept
  (``Lines``): to put together the view of one tick takes up to fifty steps, and the next one takes one. From then on
  any tick is known at once: for the list, and for the chart, which has a point each so many ticks, a power of two.
  Until then a list reads what it needs by and by; who moves on meanwhile is told of the tick that was begun with.

*Thinking*, by activity and agent. What lives is measured in real time, as ``TickTimes`` attributes it, over the last
ten seconds, and only while somebody looks at that: it is a part of the machine and none of the run. A recording keeps
no real time; there it is counted how many answers there were (ready or rejected) in the last ten seconds of the game.

*Lately*, for states as well, is those ten seconds of game time.

Nothing is written and nothing runs: whoever may look may look at all.

Source: Unreal, the Visual Logger; Perfetto, counter tracks and aggregated slices; ours: the heat map.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

from agentrt.errors import ENDS_PROGRAM, AgentRTError
from agentrt.expressions import NamedValues
from agentrt.inspect.listing import Arranged, Standing, agents_message, arrange, label_of, needs_all
from agentrt.inspect.pins import Reading, names_in, reading
from agentrt.inspect.protocol import AgentsQuery, CrowdQuery
from agentrt.inspect.sessions import Message, Session
from agentrt.kernel.trace import Kept
from agentrt.record.recording import Recording
from agentrt.snapshot import AgentSummary, snapshot_agent, summarize
from agentrt.snapshot.offered import ValueGroup, offered, values_by_name, values_of
from agentrt.snapshot.views import summary_of
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.runtime.runtime import Runtime

LATELY_SECONDS: Final = 10  # of the game, for states; of real time, for thinking that is measured
KEPT_POINTS: Final = 240
_MOST_SERIES: Final = 11  # things that agents do, with a band of their own in the chart; the rest is put together
_MOST_KINDS: Final = 100
_MOST_HOT: Final = 100  # agents in the map of thinking, those that think most
_MOST_ACTIVITIES: Final = 24
_MOST_CELLS: Final = 50_000  # of agents and places in their plans, that are told apart in a second

Counts = Mapping[tuple[str, str], int]
"""How many agents do something, by their kind and what it is."""

Amounts = Mapping[tuple[str, str], float]
"""How much agents thought, by agent and activity."""


# --- what clients are told --------------------------------------------------------------------------------------------


def _counted(summaries: Iterable[AgentSummary]) -> Counts:
    return Counter((label_of(one.kind), label_of(one.doing)) for one in summaries)


def crowd_message(
    query: CrowdQuery, points: Sequence[tuple[int, Counts]], reach: tuple[int, int], of: int, every: float
) -> Message:
    """How many do what over time.

    Args:
        query: what the client looks at.
        points: the ticks, in order, with the counts.
        reach: the first and the last tick of the chart.
        of: how many points there will be; as many as there are for what lives.
        every: seconds between two of them; 0 for a recording.
    """
    kinds = sorted({kind for _, counts in points for kind, _ in counts})[:_MOST_KINDS]
    folded = [(tick, _of_kind(counts, query.kind)) for tick, counts in points]
    totals: Counter[str] = Counter()
    for _, counts in folded:
        totals.update(counts)
    names = [name for name, _ in sorted(totals.items(), key=lambda one: (-one[1], one[0]))[:_MOST_SERIES]]
    rows = []
    for tick, counts in folded:
        row = [counts[name] for name in names]
        rows.append([tick, *row, counts.total() - sum(row)])
    return {
        "is": "crowd", "kind": query.kind, "kinds": kinds, "names": names, "points": rows,
        "first": reach[0], "last": reach[1], "of": of, "every": round(every, 2),
    }  # fmt: skip


def _of_kind(counts: Counts, kind: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for (its_kind, doing), count in counts.items():
        if not kind or its_kind == kind:
            found[doing] += count
    return found


def heat_message(amounts: Amounts, tick: int, unit: str, ticks: int) -> Message:
    """Who thought how much about what: those who thought most, and what was thought about most.

    Args:
        amounts: in which agent, about which activity.
        tick: up to which tick.
        unit: ``ms`` or ``answers``.
        ticks: over how many.
    """
    agents: Counter[str] = Counter()
    activities: Counter[str] = Counter()
    for (agent, activity), amount in amounts.items():
        agents[agent] += amount  # type: ignore[assignment]  # a Counter counts fractions as well
        activities[activity] += amount  # type: ignore[assignment]
    columns = [name for name, _ in sorted(activities.items(), key=_most_first)[:_MOST_ACTIVITIES]]
    hottest = sorted(agents.items(), key=_most_first)[:_MOST_HOT]
    return {
        "is": "heat", "tick": tick, "unit": unit, "ticks": ticks, "seconds": LATELY_SECONDS,
        "agents": len(agents), "activities": len(activities), "total": round(sum(agents.values()), 3),
        "columns": [[name, round(activities[name], 3)] for name in columns],
        "rows": [
            [name, round(total, 3), [round(amounts.get((name, column), 0), 3) for column in columns]]
            for name, total in hottest
        ],
    }  # fmt: skip


def _most_first(one: tuple[str, float]) -> tuple[float, str]:
    return -one[1], one[0]


@lru_cache(maxsize=4096)
def activity_of(path: str) -> str:
    """The innermost activity of a place in a plan: that place, or the one above an action."""
    above, _, last = path.rpartition("/")
    return label_of(last if ":" in last or not above else above.rpartition("/")[2])


# --- thinking, in real time -------------------------------------------------------------------------------------------


class ThinkTimes:
    """How long agents thought in the last seconds of real time; whole seconds, so that each is counted once."""

    __slots__ = ("_now", "_past", "_ticks", "_turned", "agents", "amounts")

    def __init__(self, now: float, tick: int) -> None:
        self._now: dict[tuple[str, str], float] = {}  # of this second: agent and path, seconds
        self._past: deque[dict[tuple[str, str], int]] = deque()  # nanoseconds: sums of them are exact
        self._ticks: deque[int] = deque([tick])  # at the beginning of each
        self._turned = now
        self.amounts: dict[tuple[str, str], int] = {}  # of all whole seconds that are kept, by agent and activity
        self.agents: dict[str, int] = {}  # the same by agent

    def add(self, agent: str, path: str, seconds: float) -> None:
        """Somebody thought; called for each record of thinking while somebody looks."""
        now, key = self._now, (agent, path)
        if key in now:
            now[key] += seconds
        elif len(now) < _MOST_CELLS:
            now[key] = seconds

    def turn(self, now: float, tick: int) -> None:
        """Begin the next second, if it is time, and forget the oldest. A world that stands still keeps what it has."""
        if now - self._turned < 1.0 or tick == self._ticks[-1]:
            return
        second: dict[tuple[str, str], int] = {}
        for (agent, path), seconds in self._now.items():
            key = agent, activity_of(path)
            second[key] = second.get(key, 0) + int(seconds * 1e9)
        self._now.clear()
        self._turned = now
        self._past.append(second)
        self._ticks.append(tick)
        self._put(second, 1)
        if len(self._past) > LATELY_SECONDS:
            self._put(self._past.popleft(), -1)
            self._ticks.popleft()

    def _put(self, second: Mapping[tuple[str, str], int], sign: int) -> None:
        amounts, agents = self.amounts, self.agents
        for key, amount in second.items():
            amounts[key] = amounts.get(key, 0) + sign * amount
            agents[key[0]] = agents.get(key[0], 0) + sign * amount
            if amounts[key] <= 0:
                del amounts[key]
            if agents[key[0]] <= 0:
                del agents[key[0]]

    @property
    def ticks(self) -> int:
        """Over how many ticks that was."""
        return self._ticks[-1] - self._ticks[0]

    def milliseconds(self) -> Amounts:
        """The same in milliseconds."""
        return {key: amount / 1e6 for key, amount in self.amounts.items()}

    def of(self, agent: str) -> float:
        """How many milliseconds a tick an agent thought."""
        return round(self.agents.get(agent, 0) / 1e6 / max(1, self.ticks), 4)


# --- of a runtime that lives ------------------------------------------------------------------------------------------

_SURVEY_SECONDS: Final = 0.25  # of real time from the beginning of one survey to that of the next
_IDLE_SECONDS: Final = 1.0  # the same, if no tick has passed: what was done from outside is seen, too
_LEAST_ROUND, _LONGEST_ROUND = 0.002, 0.005  # seconds of a survey at once; a frame of a game at 60 a second has 16
_SHARE: Final = 0.09  # of the time since it last went on, between these two
_CHART_SECONDS: Final = 0.5
_HEAT_SECONDS: Final = 1.0

_TROUBLES: Final[Mapping[str, str]] = {"abort": "aborted", "late": "late", "timeout": "late"}


class Records(Protocol):
    """The newest records of the trace; see ``agentrt.inspect.live.Ring``."""

    total: int

    def since(self, number: int, words: Collection[bytes] = ()) -> list[Kept]:
        """Those from a number on; with ``words`` at least those that hold one of them."""
        ...


class _Table:
    """How all agents stood when a survey was finished."""

    def __init__(self, tick: int, texts: frozenset[str]) -> None:
        self.tick = tick
        self.texts = texts  # the expressions that were evaluated
        self.standings: dict[str, Standing] = {}
        self.readings: dict[str, dict[str, Reading]] = {text: {} for text in texts}
        self._valued: dict[str, Mapping[str, Standing]] = {"": self.standings}
        self._lists: dict[AgentsQuery, Arranged] = {}

    def of(self, text: str) -> Mapping[str, Standing]:
        """The same with what an expression comes to."""
        if text not in self._valued:
            readings = self.readings.get(text, {})
            nothing = Reading()
            self._valued[text] = {
                name: one._replace(value=now.value, problem=now.error)
                for name, one in self.standings.items()
                for now in (readings.get(name, nothing),)
            }
        return self._valued[text]

    def arranged(self, names: Sequence[str], query: AgentsQuery, kind_of: Callable[[str], str]) -> Arranged:
        """A list of them; who scrolls asks for the same one again."""
        whole = query._replace(offset=0, limit=0)
        if whole not in self._lists:
            self._lists[whole] = arrange(names, query, kind_of, self.of(query.value))
        return self._lists[whole]


class LiveCrowd:
    """The crowd of a runtime that lives, for all clients; used on the runtime's thread alone."""

    def __init__(self, runtime: Runtime, records: Records, clock: Callable[[], float]) -> None:
        self._runtime = runtime
        self._records = records
        self._clock = clock
        self.think: ThinkTimes | None = None  # while somebody looks at it
        self._table: _Table | None = None  # of the last survey that was finished
        self._next: _Table | None = None  # of the one that is under way
        self._left: Iterator[Agent] = iter(())
        self._read: frozenset[str] = frozenset()  # the names that expressions read
        self._began = self._went_on = clock()
        self._finished: float | None = None
        self._every = _SURVEY_SECONDS
        self._cursor = 0  # the first record that was not looked through for troubles
        self._troubles: dict[str, dict[str, int]] = {}  # of agents: what, and in which tick the last time
        self._points: deque[tuple[int, Counts]] = deque(maxlen=KEPT_POINTS)
        self._counted = 0  # how many there ever were

    # --- the survey ---------------------------------------------------------------------------------------------------

    def look(self, sessions: Sequence[Session], now: float) -> None:
        """Go on with what clients look at; what nobody looks at is forgotten."""
        queries = [query for session in sessions if (query := session.watch.agents) is not None]
        crowds = [crowd for session in sessions if (crowd := session.watch.crowd) is not None]
        tick = self._runtime.tick
        if any(query.sort == "think" for query in queries) or any(crowd.heat for crowd in crowds):
            self.think = self.think or ThinkTimes(now, tick)
            self.think.turn(now, tick)
        else:
            self.think = None
        if not crowds:
            self._points.clear()
        needy = [query for query in queries if needs_all(query)]
        if not needy and not crowds:
            self._table = self._next = self._finished = None
            return
        texts = frozenset(query.value for query in needy if query.value)
        if self._next is None and self._is_due(texts, now):
            self._begin(texts, now)
        if self._next is not None:
            self._go_on(self._next, is_charted=bool(crowds))

    def _is_due(self, texts: frozenset[str], now: float) -> bool:
        table = self._table
        if table is None or not texts <= table.texts:
            return True
        return now - self._began >= (_IDLE_SECONDS if table.tick == self._runtime.tick else _SURVEY_SECONDS)

    def _begin(self, texts: frozenset[str], now: float) -> None:
        self._began = now
        self._next = _Table(self._runtime.tick, texts)
        self._read = frozenset(name for text in texts for name in names_in(text))
        self._left = iter(tuple(self._runtime.agents))
        tick = self._runtime.tick
        for record in self._records.since(self._cursor, [word.encode() for word in _TROUBLES]):
            trouble = _TROUBLES.get(record[3])
            if trouble is not None and record[1]:
                self._troubles.setdefault(record[1], {})[trouble] = record[0]
        self._cursor = self._records.total
        oldest = tick - round(LATELY_SECONDS * self._runtime.clock.ticks_per_second)
        recent = {
            name: {trouble: at for trouble, at in known.items() if at > oldest}
            for name, known in self._troubles.items()
        }
        self._troubles = {name: known for name, known in recent.items() if known}

    def _go_on(self, table: _Table, *, is_charted: bool) -> None:
        begin = self._clock()
        until = begin + min(_LONGEST_ROUND, max(_LEAST_ROUND, _SHARE * (begin - self._went_on)))
        self._went_on = begin
        for agent in self._left:
            self._stand(table, agent)
            if self._clock() > until:  # after each of them: an author's hook may take its time
                return
        now = self._clock()
        if self._finished is not None:
            self._every = now - self._finished
        self._finished = now
        self._table, self._next = table, None
        if is_charted and (not self._points or self._points[-1][0] != table.tick):
            self._points.append((table.tick, _counted(one.summary for one in table.standings.values())))
            self._counted += 1

    def _stand(self, table: _Table, agent: Agent) -> None:
        name = agent.name
        try:
            think = 0.0 if self.think is None else self.think.of(name)
            troubles = tuple(self._troubles[name]) if name in self._troubles else ()
            table.standings[name] = Standing(summarize(agent), think, troubles)
            if table.texts:
                values = _values_of(agent, self._read)
                for text, readings in table.readings.items():
                    readings[name] = reading(text, values)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # one that cannot be shown keeps nobody from the rest
            table.standings.setdefault(name, Standing(nobody(name, f"cannot be shown: {words_of(error)}")))
            for readings in table.readings.values():
                readings[name] = Reading(None, f"it could not be shown: {words_of(error)}")

    # --- what clients are told ----------------------------------------------------------------------------------------

    def agents(
        self, query: AgentsQuery, kind_of: Callable[[str], str], summary_of: Callable[[str], AgentSummary]
    ) -> Message | None:
        """A list; None until it is known how all stand, if it needs that."""
        names = [agent.name for agent in self._runtime.agents]
        if not needs_all(query):
            arranged = arrange(names, query, kind_of, {})
            return agents_message(
                arranged, query, len(names), lambda name: Standing(summary_of(name)), self._runtime.tick, "ms"
            )
        table = self._table
        if table is None or (query.value and query.value not in table.texts):
            return None
        standings = table.of(query.value)
        arranged = table.arranged(names, query, kind_of)
        return agents_message(arranged, query, len(names), standings.__getitem__, table.tick, "ms")

    @property
    def every(self) -> float:
        """How many seconds there are from survey to survey; 0 while there is none."""
        return 0.0 if self._table is None else round(self._every, 2)

    def messages(self, session: Session, now: float) -> Iterator[Message]:
        """What a client is told of the crowd, if there is news."""
        query = session.watch.crowd
        if query is None or not self._points:
            return
        if session.told.get("crowd") != (query, self._counted) and session.at_most_every(_CHART_SECONDS, "crowd", now):
            session.told["crowd"] = query, self._counted
            reach = self._points[0][0], self._points[-1][0]
            yield crowd_message(query, self._points, reach, len(self._points), self._every)
        if query.heat and self.think is not None and session.at_most_every(_HEAT_SECONDS, "heat", now):
            amounts = self.think.milliseconds()
            if query.kind and self._table is not None:
                amounts = _only(amounts, query.kind, self._table.standings)
            if session.is_news("heat", (query, amounts)):
                yield heat_message(amounts, self._runtime.tick, "ms", self.think.ticks)


def _values_of(agent: Agent, names: frozenset[str]) -> NamedValues:
    """What an agent offers, as far as expressions read it: its plan is looked at only for what is not its own."""
    own = values_by_name(ValueGroup(name, "agent", values) for name, values in values_of(agent).items())
    if not names <= own.keys():
        own = values_by_name(offered(snapshot_agent(agent).as_json()))
    return NamedValues(own)


def nobody(name: str, why: str = "") -> AgentSummary:
    """An agent of whom nothing is known, and why not, if something is wrong."""
    return AgentSummary(name, 0, "", why, "", "", (), 0, waiting=False, alive=True)


def _only(amounts: Amounts, kind: str, standings: Mapping[str, Standing]) -> Amounts:
    """What agents of one kind thought."""
    return {
        key: amount
        for key, amount in amounts.items()
        if (standing := standings.get(key[0])) is not None and standing.summary.kind == kind
    }


_Key = TypeVar("_Key")
_Kept = TypeVar("_Kept")


# --- of a recording ---------------------------------------------------------------------------------------------------

_WORK_SECONDS: Final = 0.02  # of real time in one round, for all of what follows
_PROGRESS_SECONDS: Final = 0.25
_AGAIN_SECONDS: Final = 0.1  # after which a list is told again, to who moves on
_MOST_KEPT: Final = 20_000  # standings and readings
_MOST_LINES: Final = 300_000  # changes of lines; agents beyond that are read one by one
_MOST_POINTS: Final = 160
_LATER_TICKS: Final = 200  # so many new ticks of a recording that grows are gone through at once
_WINDOW_TICKS: Final = 25  # read in one go
_MOST_WINDOW: Final = 2_000  # ticks that count as lately
_WINDOW_EVENTS: Final = ("ready", "reject", *_TROUBLES)
_KEPT_WINDOWS: Final = 8


class Lately(NamedTuple):
    """What became of agents in the last ticks of a recording up to one of them."""

    ticks: int
    answers: dict[tuple[str, str], int]  # how often thinking had one, by agent and activity
    agents: dict[str, int]  # the same by agent
    troubles: dict[str, tuple[str, ...]]


_NOTHING: Final = Lately(0, {}, {}, {})


class _Job(NamedTuple):
    """Reading how all stand, for one client."""

    tick: int
    text: str  # its expression
    is_recent: bool  # whether what became of them lately counts, too
    work: Iterator[None]
    table: _Table


class Lines:
    """What all agents of a recording were in one line, at any tick, as far as that was gone through."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._changes: dict[str, tuple[list[int], list[AgentSummary]]] = {}  # by name: ticks, and lines from then on
        self._until: dict[str, int] = {}  # by name: up to which tick that is known
        self._total = 0
        self._known: dict[AgentSummary, AgentSummary] = {}  # agents do the same again and again
        self.problem: str = ""  # what is wrong with the file, if anything turned out to be
        self.read: int = 0  # agents that were gone through
        self.of: int = 0  # how many there are
        self.counted: int = 0  # of how many the lines are kept; the others changed too often

    def get(self, name: str, tick: int) -> AgentSummary | None:
        """An agent's line; None if that is not known."""
        if self._until.get(name, -1) < tick:
            return None
        ticks, lines = self._changes[name]
        at = bisect_right(ticks, tick) - 1
        return lines[at] if at >= 0 else nobody(name)

    def work(self, names: Sequence[str], last: int) -> Iterator[None]:
        """Goes through all agents up to a tick; gives way after each change."""
        self.of, self.read = len(names), 0
        for name in names:
            yield from self._follow(name, last)
            self.read, self.counted = self.read + 1, len(self._changes)

    def _follow(self, name: str, last: int) -> Iterator[None]:
        ticks, lines = self._changes.get(name, ([], []))
        try:
            for tick, view in self._recording.changes(name, self._until.get(name, -1), last):
                line = summary_of(view)
                line = self._known.setdefault(line, line)
                if not lines or lines[-1] is not line:
                    ticks.append(tick)
                    lines.append(line)
                    self._total += 1
                yield
        except AgentRTError as error:  # the file is broken there; the rest can be looked at
            self.problem = self.problem or words_of(error)
            ticks.append(ticks[-1] + 1 if ticks else 0)
            lines.append(nobody(name, f"cannot be shown: {words_of(error)}"))
        if self._total <= _MOST_LINES or name in self._changes:
            self._changes[name] = ticks, lines
            self._until[name] = last
        else:
            self._total -= len(ticks)


class RecordedCrowd:
    """The crowd of a recording, for all clients; used on the thread that reads it alone."""

    def __init__(self, recording: Recording, clock: Callable[[], float] = time.perf_counter) -> None:
        self._recording = recording
        self._clock = clock
        self._lines = Lines(recording)
        self._line_work: tuple[int, Iterator[None]] | None = None  # up to which tick they are gone through now
        self._lined = -1  # up to which they were
        self._summaries: dict[tuple[str, int], AgentSummary] = {}
        self._readings: dict[tuple[str, int, str], Reading] = {}
        self._names: tuple[int, tuple[str, ...]] = (-1, ())  # who was there in the tick that was asked about last
        self._windows: dict[int, Lately] = {}  # by tick
        self._window: tuple[int, Iterator[None]] | None = None  # the one that is read
        self._points: dict[int, Counts] = {}  # of the chart
        self._jobs: dict[Session, _Job] = {}  # what is read
        self._tables: dict[Session, _Job] = {}  # what was read
        self._broken = ""  # what is wrong with the file, if anything turned out to be

    def names(self, tick: int) -> tuple[str, ...]:
        """Who was there at the end of a tick."""
        if self._names[0] != tick:
            self._names = tick, self._recording.agents(tick)
        return self._names[1]

    # --- one agent ----------------------------------------------------------------------------------------------------

    def summary(self, name: str, tick: int) -> AgentSummary:
        """An agent in one line."""
        known = self._lines.get(name, tick)
        if known is not None:
            return known
        since = self._recording.looked_at(name, tick)
        if since is None:
            return nobody(name, "not looked at yet")
        key = name, since
        if key not in self._summaries:
            view = self._recording.view(name, tick)
            found = nobody(name) if view is None else summary_of(view)
            _keep(self._summaries, key, found)
        return self._summaries[key]

    def kind(self, name: str, tick: int) -> str:
        return self.summary(name, tick).kind

    def _reading(self, name: str, tick: int, text: str) -> Reading:
        since = self._recording.looked_at(name, tick)
        if since is None:
            return reading(text, None)
        key = name, since, text
        if key not in self._readings:
            view = self._recording.view(name, tick)
            values = None if view is None else NamedValues(values_by_name(offered(view)))
            _keep(self._readings, key, reading(text, values))
        return self._readings[key]

    def _stand(self, table: _Table, name: str, lately: Lately) -> None:
        try:
            summary = self.summary(name, table.tick)
            table.standings[name] = Standing(summary, lately.agents.get(name, 0), lately.troubles.get(name, ()))
            for text, readings in table.readings.items():
                readings[name] = self._reading(name, table.tick, text)
        except AgentRTError as error:  # the file is broken there; the rest can be looked at
            self._broken = self._broken or words_of(error)
            table.standings.setdefault(name, Standing(nobody(name)))

    # --- reading by and by --------------------------------------------------------------------------------------------

    def read(self, sessions: Sequence[Session], last: int) -> None:
        """Read some of what clients look at; the recording reaches up to the last tick."""
        self._jobs = {session: job for session, job in self._jobs.items() if session in sessions}
        self._tables = {session: job for session, job in self._tables.items() if session in sessions}
        # First who waits for a list. What makes the rest quick has a tenth of the time: it has to come to its end, too.
        begin = self._clock()
        for session in tuple(self._jobs):
            self._go_on(session, begin - _WORK_SECONDS * 0.1)
        if any(session.watch.agents is not None or session.watch.crowd is not None for session in sessions):
            self._read_lines(last, begin)
        crowds = [(session.at, query) for session in sessions if (query := session.watch.crowd) is not None]
        for tick, query in crowds:
            if query.heat and tick not in self._windows:
                self._read_window(tick, begin)
                break  # one after the other, so that each comes to its end
        if crowds and self._lined >= 0:
            self._count_points(last, begin)

    def _read_lines(self, last: int, begin: float) -> None:
        """Go on with going through all agents, from the beginning or from where the recording ended before."""
        if self._line_work is None:
            if last < self._lined + (_LATER_TICKS if self._lined >= 0 else 0) or last == self._lined:
                return
            self._line_work = last, self._lines.work(self._recording.everybody(), last)
        for _ in self._line_work[1]:
            if self._is_over(begin):
                return
        self._lined, self._line_work = self._line_work[0], None

    @property
    def is_busy(self) -> bool:
        """Whether there is more to read, for what clients look at."""
        return self._line_work is not None or bool(self._jobs)

    def _is_over(self, begin: float) -> bool:
        return self._clock() - begin > _WORK_SECONDS

    def _go_on(self, session: Session, begin: float) -> None:
        job = self._jobs[session]
        for _ in job.work:
            if self._is_over(begin):
                return
        self._tables[session] = self._jobs.pop(session)
        session.hurry()

    def _standings(self, table: _Table, *, is_recent: bool) -> Iterator[None]:
        """Reads how all stand at a tick; gives way after each agent."""
        if is_recent:
            yield from self._lately(table.tick)
        lately = self._windows.get(table.tick, _NOTHING) if is_recent else _NOTHING
        for name in self._recording.agents(table.tick):
            self._stand(table, name, lately)
            yield

    def _lately(self, tick: int) -> Iterator[None]:
        """Reads what became of agents lately; gives way after some ticks."""
        if tick in self._windows:
            return
        recording = self._recording
        rate = float(recording.meta["ticks_per_second"])
        ticks = max(1, min(_MOST_WINDOW, round(LATELY_SECONDS * rate)))
        answers: Counter[tuple[str, str]] = Counter()
        troubles: dict[str, dict[str, None]] = {}
        try:
            first = max(recording.first_tick, tick - ticks + 1)
            for low in range(first, tick + 1, _WINDOW_TICKS):
                high = min(low + _WINDOW_TICKS - 1, tick)
                for record in recording.records(low, high, events=_WINDOW_EVENTS):
                    trouble = _TROUBLES.get(record.event.value)
                    if trouble is None:
                        answers[record.agent, activity_of(record.path)] += 1
                    elif record.agent:
                        troubles.setdefault(record.agent, {})[trouble] = None
                yield
        except AgentRTError as error:
            self._broken = self._broken or words_of(error)
            first = tick
        agents: Counter[str] = Counter()
        for (agent, _), count in answers.items():
            agents[agent] += count
        told = {name: tuple(one) for name, one in troubles.items()}
        while len(self._windows) >= _KEPT_WINDOWS:
            del self._windows[next(iter(self._windows))]
        self._windows[tick] = Lately(tick - first + 1, answers, agents, told)

    def _read_window(self, tick: int, begin: float) -> None:
        if self._window is None:
            self._window = tick, self._lately(tick)
        for _ in self._window[1]:
            if self._is_over(begin):
                return
        self._window = None

    # --- the chart ----------------------------------------------------------------------------------------------------

    def _ticks(self, last: int) -> range:
        """The ticks in which the chart has points."""
        first = self._recording.first_tick
        step = 1
        while (last - first) // step > _MOST_POINTS:
            step *= 2
        return range(first, last + 1, step)

    def _count_points(self, last: int, begin: float) -> None:
        for tick in self._ticks(min(last, self._lined)):
            if tick not in self._points:
                if self._is_over(begin):
                    return
                lines = (self._lines.get(name, tick) for name in self._recording.agents(tick))
                self._points[tick] = _counted(line for line in lines if line is not None)

    # --- what clients are told ----------------------------------------------------------------------------------------

    def agents(self, session: Session, tick: int, now: float) -> Iterator[Message]:
        """A list, if there is news; later if it is not known yet how all stand."""
        query = session.watch.agents
        if query is None:
            return
        whole = needs_all(query) or bool(query.filter or query.kind)
        if not whole:
            self._jobs.pop(session, None)
            self._tables.pop(session, None)
            seen: object = (tick, query)
            if session.told.get("agents") != seen and session.at_most_every(_AGAIN_SECONDS, "agents", now):
                session.told["agents"] = seen
                names = self.names(tick)
                arranged = arrange(names, query, lambda name: self.kind(name, tick), {})
                yield agents_message(
                    arranged, query, len(names), lambda name: Standing(self.summary(name, tick)), tick, "answers"
                )
            return
        self._work_for(session, query, tick)
        job = self._tables.get(session)
        if job is None or not _serves(job, query) or session in self._jobs:
            read = len(self._jobs[session].table.standings) if session in self._jobs else 0
            if session.at_most_every(_PROGRESS_SECONDS, "reading", now):
                yield {"is": "reading", "read": read, "of": len(self.names(tick))}
        if job is None or not _serves(job, query):
            return
        seen = (job.tick, job.is_recent, query)
        if session.told.get("agents") == seen or not session.at_most_every(_AGAIN_SECONDS, "agents", now):
            return
        session.told["agents"] = seen
        standings = job.table.of(query.value)
        arranged = job.table.arranged(tuple(standings), query, lambda name: standings[name].summary.kind)
        yield agents_message(arranged, query, len(standings), standings.__getitem__, job.tick, "answers")

    def _work_for(self, session: Session, query: AgentsQuery, tick: int) -> None:
        """Begin to read how all stand at a tick, unless that was read, and go on with it for a while."""
        job = self._jobs.get(session)
        # Who plays on is told of the tick that was begun with, else it would never come to its end.
        is_stale = job is not None and (
            not _serves(job, query) or (job.tick != tick and not session.position.is_playing)
        )
        if job is None or is_stale:
            done = self._tables.get(session)
            if done is not None and done.tick == tick and _serves(done, query):
                return
            is_recent = _is_recent(query)
            table = _Table(tick, frozenset([query.value] if query.value else []))
            work = self._standings(table, is_recent=is_recent)
            self._jobs[session] = _Job(tick, query.value, is_recent, work, table)
        self._go_on(session, self._clock())

    def messages(self, session: Session, tick: int, last: int) -> Iterator[Message]:
        """What a client is told of the crowd, if there is news."""
        broken = self._broken or self._lines.problem
        if broken and session.is_news("broken crowd", broken):
            yield {"is": "error", "message": broken, "code": "failed"}
        query = session.watch.crowd
        if query is None:
            return
        ticks = self._ticks(min(last, self._lined)) if self._lined >= 0 else range(0)
        points = [(at, self._points[at]) for at in ticks if at in self._points]
        if session.is_news("crowd", (query, len(points), len(ticks), last, self._lines.read)):
            reach = self._recording.first_tick, last
            told = crowd_message(query, points, reach, len(ticks), 0.0)
            yield told | {"read": self._lines.read, "agents": self._lines.of, "counted": self._lines.counted}
        if not query.heat or not self._windows:
            return
        # Who plays on is told of the last tick that was read.
        at = tick if tick in self._windows or not session.position.is_playing else next(reversed(self._windows))
        lately = self._windows.get(at)
        if lately is not None and session.is_news("heat", (query, at)):
            answers: Amounts = lately.answers
            if query.kind:
                answers = {key: amount for key, amount in answers.items() if self._is_of(key[0], query.kind, at)}
            yield heat_message(answers, at, "answers", lately.ticks)

    def _is_of(self, name: str, kind: str, tick: int) -> bool:
        try:
            return self.kind(name, tick) == kind
        except AgentRTError:
            return False


def _is_recent(query: AgentsQuery) -> bool:
    """Whether what became of agents lately counts in a list."""
    return query.sort in ("think", "state") or query.group == "state" or bool(query.states & {"aborted", "late"})


def _serves(job: _Job, query: AgentsQuery) -> bool:
    return job.text == query.value and (job.is_recent or not _is_recent(query))


def _keep(kept: dict[_Key, _Kept], key: _Key, value: _Kept) -> None:
    """Keep something, and so much of it that the oldest goes."""
    if len(kept) >= _MOST_KEPT:
        del kept[next(iter(kept))]
    kept[key] = value
