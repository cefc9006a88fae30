"""A simulation: a runtime without a wall clock, for tests and experiments.

Everything is synchronous and nothing waits: a second of game time is as long as its work takes. Equal seeds
and inputs give equal traces, and equal digests.

It listens from the moment it is made: to the whole trace, for whoever compares (the module ``matchers`` has words for
what can be claimed of one), and to the faults in it, which a test takes when it expects them.

Waiting is running ticks until something is the case. All helpers of that kind run no tick when it is the case already
(``run_until_event`` waits for a new one), and run until the end of the tick in which it comes. A ``SimulationTimeout``
has what was waited for, the explanation of the agent that it was about, and the newest records: whoever reads the
failure sees why it never came, without running it again.

What runs is read from a snapshot: the plan, what is performed beside it, and what the agent's drivers do. So one
helper serves all models.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from agentrt.agent.agent import Agent
from agentrt.errors import InjectedFault, SimulationTimeout
from agentrt.kernel.trace import TraceDigest, TraceEvent, TraceRecord
from agentrt.runtime.runtime import Runtime
from agentrt.testing.chaos import FAULTS, ChaosReport, run_chaos
from agentrt.testing.matchers import Pattern, as_pattern, fits_path
from agentrt.words import counted

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action
    from agentrt.body.entity import E
    from agentrt.snapshot import FrameView
    from agentrt.snapshot.html import Line


LIMIT = 10_000
"""How many ticks are run at most, unless the caller says otherwise."""

_TOLD = 10  # how many agents an error tells about
_TAIL = 12  # how many records

_SHOWN_TICKS = 200  # of a time line in a notebook
_SHOWN_AGENTS = 20
_SHOWN_RECORDS = 200_000  # that are gone through for it, which takes 0.2 s


class Simulation:
    """A runtime that a test drives tick by tick.

    Args:
        seed: of every random stream.
        ticks_per_second: how many ticks make one second of game time.
        runtime: one of the caller's own; otherwise one on the plain host is made.
        keep: how many records of the trace are kept, the newest; None for all.

    What waits (``run_until`` and its kind) runs at most ``limit`` ticks, gives back how many ran, and raises
    ``SimulationTimeout`` if what it waited for did not come. Agents are given as they are, or by their names, for which
    ``LookupError`` is raised if there is none.
    """

    def __init__(
        self,
        seed: int | str = 0,
        ticks_per_second: int = 20,
        *,
        runtime: Runtime | None = None,
        keep: int | None = None,
    ) -> None:
        self.runtime: Runtime = runtime or Runtime(seed, ticks_per_second=ticks_per_second, host="plain")
        self._records: list[TraceRecord] | deque[TraceRecord] = [] if keep is None else deque(maxlen=keep)
        self._faults: list[TraceRecord] = []
        self._digest = TraceDigest(self.runtime.trace)
        self._close = self.runtime.trace.listen(self._take)

    def _take(self, record: TraceRecord) -> None:
        self._records.append(record)
        if record.event is TraceEvent.FAULT:
            self._faults.append(record)

    @property
    def trace(self) -> list[TraceRecord]:
        """What happened since the simulation was made, or the newest ``keep`` records of it."""
        records = self._records
        return records if isinstance(records, list) else list(records)

    @property
    def now(self) -> int:
        """The number of the last tick that ran."""
        return self.runtime.tick

    # --- the world ----------------------------------------------------------------------------------------------------

    def add(self, agent: Agent[E]) -> Agent[E]:
        """Add an agent, and give it back."""
        return self.runtime.add(agent)

    def agent(self, agent: Agent | str) -> Agent:
        """An agent by its name; an agent is given back as it is."""
        if isinstance(agent, Agent):
            return agent
        name: object = agent
        found = self.runtime.find(name) if isinstance(name, str) else None
        if found is None:
            names = ", ".join(one.name for one in self.runtime.agents[:_TOLD]) or "nobody"
            raise LookupError(f"no agent is called {agent!r} at tick {self.runtime.tick}; there is: {names}")
        return found

    def tick(self, ticks: int = 1) -> None:
        """Run so many ticks."""
        for _ in range(ticks):
            self.runtime.step()

    # --- waiting ------------------------------------------------------------------------------------------------------

    def run_until(self, condition: Callable[[], Any], limit: int = LIMIT) -> int:
        """Run ticks until a condition is true; it is asked before the first tick and after each."""
        __tracebackhide__ = True
        return self._run(condition, limit, "", None)

    def run_until_running(self, agent: Agent | str, what: str | type[Action], limit: int = LIMIT) -> int:
        """Run ticks until an agent runs something: an action, a goal, a decider, a leaf.

        Args:
            agent: which.
            what: an action class; or the end of a path, such as ``"Eat"``, ``"mod:eat"``, ``"goals/Panic"``.
            limit: how many ticks to run at most.
        """
        __tracebackhide__ = True
        found = self.agent(agent)
        wanted = what if isinstance(what, str) else what.spec.label

        def is_running() -> bool:
            return any(fits_path(wanted, place) for path in _running_paths(found) for place in _within(path))

        return self._run(is_running, limit, f"waited for {found.name!r} to run {wanted!r}", found)

    def run_until_event(self, event: str | Pattern | None = None, *, limit: int = LIMIT, **fields: Any) -> TraceRecord:
        """Run ticks until something happens; what happened before does not count.

        Args:
            event: which event, or a whole pattern.
            limit: how many ticks to run at most.
            fields: the other fields of a ``Pattern``: ``agent``, ``path``, ``tick``, and details.

        Returns:
            The first record that is like that.
        """
        __tracebackhide__ = True
        pattern = as_pattern(event, fields)
        found: list[TraceRecord] = []

        def look(record: TraceRecord) -> None:
            if pattern.matches(record):
                found.append(record)

        close = self.runtime.trace.listen(look)
        about = self.runtime.find(pattern.agent) if isinstance(pattern.agent, str) else None
        try:
            self._run(lambda: found, limit, f"waited for {pattern}", about)
        finally:
            close()
        return found[0]

    def run_until_idle(self, agent: Agent | str | None = None, limit: int = LIMIT) -> int:
        """Run ticks until an agent, or all, run nothing: they think, or wait for what makes it possible to act."""
        __tracebackhide__ = True
        found = None if agent is None else self.agent(agent)

        def is_idle() -> bool:
            agents = self.runtime.agents if found is None else (found,)
            return not any(map(_running_paths, agents))

        who = "all agents" if found is None else repr(found.name)
        return self._run(is_idle, limit, f"waited for {who} to run nothing", found)

    def run_until_quiet(self, ticks: int = 20, limit: int = LIMIT) -> int:
        """Run ticks until no record has come into the trace for so many ticks, which count as those that ran."""
        __tracebackhide__ = True
        newest = self.runtime.tick

        def look(record: TraceRecord) -> None:
            nonlocal newest
            newest = record.tick

        close = self.runtime.trace.listen(look)  # and not self.trace, of which records may be dropped
        try:
            awaited = f"waited for {ticks} ticks without a record"
            return self._run(lambda: self.runtime.tick - newest >= ticks, limit, awaited, None)
        finally:
            close()

    def run_until_ended(self, agent: Agent | str, limit: int = LIMIT) -> int:
        """Run ticks until an agent has left its runtime: it was removed, or killed."""
        __tracebackhide__ = True
        found = self.agent(agent)
        return self._run(lambda: not found.is_alive, limit, f"waited for {found.name!r} to end", found)

    def _run(self, condition: Callable[[], Any], limit: int, awaited: str, about: Agent | None) -> int:
        __tracebackhide__ = True
        for ran in range(limit + 1):
            if condition():
                return ran
            if ran < limit:
                self.runtime.step()
        agents = self.runtime.agents if about is None else (about,)
        told = [one.explain() for one in agents[:_TOLD]]
        gate = self.runtime.gate
        if gate.is_closed:
            told.insert(0, f"the gate of the runtime is closed, so that no tick runs: {gate.reason}")
        tail = [record.line() for record in self.trace[-_TAIL:]] if awaited else []
        omitted = max(0, len(agents) - _TOLD)
        raise SimulationTimeout(limit, told, omitted=omitted, tick=self.runtime.tick, awaited=awaited, tail=tail)

    # --- what happened ------------------------------------------------------------------------------------------------

    def events(
        self, *kinds: str, agent: str | None = None, path: str | None = None, since: int = 0
    ) -> list[tuple[int, str, str, str]]:
        """The trace as (tick, agent, path, event), for literal comparison.

        All of it, or only these events, of the agent of this name, at these places (as in a ``Pattern``), from this
        tick on.
        """
        return [  # by hand: a Pattern takes twice as long, and tests ask this again and again
            (record.tick, record.agent, record.path, record.event.value)
            for record in self.trace
            if (not kinds or record.event.value in kinds)
            and (agent is None or record.agent == agent)
            and record.tick >= since
            and (path is None or fits_path(path, record.path))
        ]

    def faults(self) -> list[TraceRecord]:
        """What raised and was reported since the last call. Taking it says that it was expected.

        The fixture ``sim`` fails a test that leaves something here.
        """
        taken, self._faults = self._faults, []
        return taken

    def digest(self) -> str:
        """A hash of the whole trace so far, as hexadecimal digits."""
        return self._digest.hexdigest()

    def _repr_html_(self) -> str:
        """A small time line: what each agent ran in the last ticks, of what is kept of the trace."""
        # Only a notebook needs them.
        from agentrt.record.spans import PLAN, SpanBuilder
        from agentrt.snapshot.html import Bar, Row, box

        tick, agents = self.runtime.tick, self.runtime.agents
        records = self.trace[-_SHOWN_RECORDS:]
        first = max(tick - _SHOWN_TICKS + 1, records[0].tick if records else tick)
        builder = SpanBuilder()
        for record in records:
            builder.feed(record)
        rows = []
        for agent in agents[:_SHOWN_AGENTS]:
            lanes: dict[str, list[Bar]] = {}
            for span in builder.spans(agent.name, first):
                if not span.depth:
                    bar = Bar(span.begin, tick + 1 if span.end is None else span.end, span.name, span.outcome)
                    lanes.setdefault(span.lane, []).append(bar)
            for number, (lane, bars) in enumerate((lanes or {"": []}).items()):
                name = agent.name if lane in ("", PLAN) else f"{'+' if number else agent.name} {lane}"
                rows.append(Row(name, sorted(bars)))
        left = len(agents) - _SHOWN_AGENTS
        lines: list[Line] = [(0, f"{counted(left, 'more agent')} not shown", "", "weak")] if left > 0 else []
        if self._faults:
            lines.append((0, counted(len(self._faults), "fault"), self._faults[-1].line(), "bad"))
        seconds = tick * self.runtime.clock.seconds_per_tick
        note = f"tick {tick}, {seconds:g} s, {counted(len(agents), 'agent')}, {counted(len(self._records), 'record')}"
        return box("simulation", note, lines, rows, (first, tick))

    # --- harm, and the end --------------------------------------------------------------------------------------------

    def chaos(
        self,
        seed: int | str = 0,
        *,
        ticks: int,
        rate: float = 0.02,
        faults: Sequence[str] = FAULTS,
        before: Callable[[int], object] | None = None,
        error: Callable[[str], BaseException] = InjectedFault,
    ) -> ChaosReport:
        """Run ticks in which awaits are cancelled, raise or come late, entities are destroyed and agents removed.

        At the end the runtime is closed, and what must hold whatever happens is checked; see ``agentrt.testing.chaos``.
        For a short scenario, ``exhaust`` hits every await in turn.

        Args:
            seed: of the faults; equal runs with equal seeds have equal faults.
            ticks: how many.
            rate: how likely an await is to be hit, from 0 to 1.
            faults: which kinds; one that is named twice comes twice as often.
            before: called before each tick with its number: what happens in the world.
            error: makes what a failing await raises, from the place in words.

        Returns:
            The report; ``check()`` raises if something was violated.

        Raises:
            ValueError: there is no such fault.
        """
        report = run_chaos(self.runtime, seed, ticks=ticks, rate=rate, faults=faults, before=before, error=error)
        self._faults.clear()  # they were expected
        return report

    def close(self) -> None:
        """Stop all agents, and stop listening."""
        self.runtime.close()
        self._digest.close()
        self._close()


def _running_paths(agent: Agent) -> list[str]:
    """The paths of what an agent runs: of its plan down to the leaf, of each performance, and of its drivers."""
    snapshot = agent.snapshot()
    paths = [snapshot.running, *map(_running_leaf, snapshot.performances)]
    return [path for path in paths if path] + [path for driver in snapshot.drivers for path in driver.active]


def _running_leaf(frame: FrameView) -> str:
    """The path of the innermost running unit of a plan tree; empty if none runs."""
    path = ""
    frames = [frame]
    for one in frames:  # it grows meanwhile
        for unit in one.units:
            if unit.is_elected and unit.state == "running":
                path = f"{one.path}/{unit.action}"
                frames += unit.frames
    return path


def _within(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]
