"""What must hold whatever happens in a run: of its trace, and of what is left in the books when a life has ended.

The checker of traces reads trace records and nothing else, so that it works on any run: a test's, a recorded one, a
live one. It tells every violation with the tick and the path.

A path in a plan names activities and actions in turn: ``top/Paint/demo:find/Find``. An activity's place is a *frame*,
an action's a *unit*. What is performed beside the plan has a path that begins with whom it is performed for. For each
unit the checker keeps three things: whether it thinks, whether it is ready, and which of start, run, finish came last.
Of goals, behaviors and leaves it keeps whether they are under way.

The rules, by the names with which violations are reported:

* ``think pairs``      thinking begins, and ``stop_thinking`` follows before it begins again
* ``start pairs``      ``start`` is followed by one ``stop``, and ``stop`` comes after a ``start`` only; of goals, too
* ``active pairs``     so are ``activate`` and ``deactivate`` of deciders and leaves
* ``order``            think < start < stop_thinking < run < finish < stop for each unit
* ``ready first``      only a ready unit is started
* ``one per frame``    of the units of one frame at most one is started
* ``inner first``      a unit is stopped after everything below it, and started after what is above it
* ``one chain``        the units of one plan that run lie below each other: two leaves only if one executes the other
* ``one attempt``      a place tries one strategy at a time, and one that was tried is judged once: solved or failed
* ``interruptions pair``  what interrupted a place is what it is resumed after, the last one first
* ``best elected``     the elected unit has the highest utility of those that were ready
* ``time``             ticks never go back
* ``all closed``       when the agent has ended nothing thinks, and nothing is started or active

``Leaks`` looks at what no trace tells, what is left in the books: control flags, strands, performances,
places of the plan, requests that are being solved, workers of tasks, connections to signals, timers, leases, calls. It
asks at the end of a life and at the end of the run, and changes nothing.

Its connections are seen by having ``Signal.add`` noted while it watches; only those count that the library itself
opened for an action (listeners, protected arguments). What a user's code connects for itself is its own affair.

Rejected: checking the trace by asking the planner's own objects (the checker would share their mistakes).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from agentrt.activity.author.context import Listener
from agentrt.kernel.kernel import Timer, name_of
from agentrt.kernel.signals import Connection, Signal
from agentrt.kernel.trace import TraceRecord

if TYPE_CHECKING:
    from agentrt.activity.tasks.group import TaskGroup
    from agentrt.agent.agent import Agent
    from agentrt.runtime.runtime import Runtime
    from agentrt.strategy.gameplay import Gameplay


_STARTED, _RUNNING, _FINISHED = "started", "running", "finished"


class Violation(NamedTuple):
    """A rule that a run does not fulfill."""

    rule: str
    tick: int
    agent: str  # whose; empty for the runtime
    path: str
    text: str

    def __str__(self) -> str:
        where = ", ".join(part for part in (f"tick {self.tick}", self.agent, self.path) if part)
        return f"{where}: {self.rule}: {self.text}"


class Invariants:
    """Checks the records of one agent, one after the other. Usable as a trace listener."""

    def __init__(self, agent: str) -> None:
        self.agent: str = agent  # by name; records of others are passed over
        self.violations: list[Violation] = []  # what was found so far
        self._tick = 0
        self._thinking: set[str] = set()
        self._ready: set[str] = set()
        self._started: dict[str, str] = {}  # what came last of those that were started
        # Goals, deciders and leaves are counted: a driver may come while another one of its name still cleans up.
        self._goals: Counter[str] = Counter()
        self._active: Counter[str] = Counter()
        self._units: set[str] = set()  # all paths of units so far: without them a path does not tell unit from frame
        self._tried: dict[str, tuple[object, object]] = {}  # by place: what was wanted, and which strategy runs
        self._interrupted: dict[str, list[tuple[object, tuple[object, object] | None]]] = {}  # by whom; what was tried

    def __call__(self, record: TraceRecord) -> None:
        if record.agent != self.agent:
            return
        if record.tick < self._tick:
            self._fail("time", record, f"it was tick {self._tick} before")
        self._tick = record.tick
        rule = getattr(self, f"_on_{record.event.value}", None)  # what is checked of an event has its name
        if rule is not None:
            rule(record)

    def end(self) -> None:
        left = [(path, "it still thinks") for path in sorted(self._thinking)]
        left += [(path, f"it still is {state}") for path, state in sorted(self._started.items())]
        left += [(path, "it was not stopped") for path in self._goals]
        left += [(path, "it is still active") for path in self._active]
        self.violations += [Violation("all closed", self._tick, self.agent, path, text) for path, text in left]

    def _fail(self, rule: str, record: TraceRecord, text: str) -> None:
        self.violations.append(Violation(rule, record.tick, self.agent, record.path, text))

    # --- thinking -----------------------------------------------------------------------------------------------------

    def _open(self, record: TraceRecord) -> None:
        if record.path in self._started:
            self._fail("order", record, f"it thinks while {self._started[record.path]}")
        self._units.add(record.path)
        self._thinking.add(record.path)

    def _on_think(self, record: TraceRecord) -> None:
        if record.path in self._thinking:
            self._fail("think pairs", record, "thinking began twice")
        self._ready.discard(record.path)
        self._open(record)

    def _on_ready(self, record: TraceRecord) -> None:
        if record.path not in self._thinking:
            self._open(record)  # without a ``think`` of its own it is ready at once
        self._ready.add(record.path)

    def _on_unready(self, record: TraceRecord) -> None:
        if record.path not in self._ready:
            self._fail("order", record, "it was not ready before")
        self._ready.discard(record.path)

    def _on_stop_thinking(self, record: TraceRecord) -> None:
        if record.path not in self._thinking:
            self._fail("think pairs", record, "it did not think")
        if self._started.get(record.path) in (_RUNNING, _FINISHED):
            self._fail("order", record, "thinking stopped after run")
        self._thinking.discard(record.path)
        self._ready.discard(record.path)

    def _on_elect(self, record: TraceRecord) -> None:
        detail = dict(record.detail)
        ready = [one.rsplit(" ", 1) for one in str(detail["ready"]).split(", ")]
        best = max((float(utility) for _, utility in ready), default=0.0)
        if float(detail["utility"] or 0) < best - 1e-5:  # the list of rivals is rounded for people
            self._fail("best elected", record, f"{detail['action']} {detail['utility']} of {detail['ready']}")
        if detail["action"] not in [name for name, _ in ready]:
            self._fail("best elected", record, f"{detail['action']} is not among {detail['ready']}")

    # --- running ------------------------------------------------------------------------------------------------------

    def _on_start(self, record: TraceRecord) -> None:
        path = record.path
        if record.detail:  # a goal's tells its priority
            self._goals[path] += 1
            return
        if path in self._started:
            self._fail("start pairs", record, "started twice")
        if path not in self._thinking:
            self._fail("order", record, "it did not think")
        if path not in self._ready:
            self._fail("ready first", record, "it was not ready")
        frame = _parent(path)
        for other in self._started:
            if other != path and _parent(other) == frame:
                self._fail("one per frame", record, f"{other} is {self._started[other]}")
        above = _parent(frame)
        if above in self._units and above not in self._started:
            self._fail("inner first", record, f"{above} is not started")
        self._units.add(path)
        self._started[path] = _STARTED

    def _on_run(self, record: TraceRecord) -> None:
        path = record.path
        if self._started.get(path) != _STARTED:
            self._fail("order", record, f"it is {self._started.get(path, 'not started')}")
        if path in self._thinking:
            self._fail("order", record, "it still thinks")
        self._started[path] = _RUNNING
        above = _parent(_parent(path))
        if above in self._units and self._started.get(above) != _RUNNING:
            self._fail("one chain", record, f"{above} does not run")
        root = self._root(path)
        for other, state in self._started.items():
            if state == _RUNNING and other != path and not path.startswith(other + "/") and self._root(other) == root:
                self._fail("one chain", record, f"{other} runs too")

    def _root(self, path: str) -> str:
        """The frame at the root of the plan, or the performance, that a unit belongs to."""
        while True:
            frame = _parent(path)
            path = _parent(frame)
            if path not in self._units:
                return frame

    def _on_finish(self, record: TraceRecord) -> None:
        if self._started.get(record.path) != _RUNNING:
            self._fail("order", record, f"it is {self._started.get(record.path, 'not started')}")
        self._started[record.path] = _FINISHED

    def _on_stop(self, record: TraceRecord) -> None:
        if record.detail:  # a goal's tells the reason
            self._close(self._goals, "start pairs", record, "it was not started")
            return
        if self._started.pop(record.path, None) is None:
            self._fail("start pairs", record, "it was not started")
        if record.path in self._thinking:
            self._fail("order", record, "it still thinks")
        root = self._root(record.path)
        for other, state in self._started.items():
            if other.startswith(record.path + "/") and self._root(other) == root:
                self._fail("inner first", record, f"{other} is still {state}")

    # --- strategies ---------------------------------------------------------------------------------------------------

    def _on_try(self, record: TraceRecord) -> None:
        detail = dict(record.detail)
        self._no_attempt(record)
        self._tried[record.path] = (detail["wanted"], detail["by"])

    def _on_solved(self, record: TraceRecord) -> None:
        detail = dict(record.detail)
        if not detail["by"]:
            return  # it held already
        self._no_attempt(record)
        tried = self._tried.pop(record.path, None)
        if tried != (detail["wanted"], detail["by"]):
            self._fail("one attempt", record, f"{detail['by']} was not tried for {detail['wanted']}, but {tried}")

    _on_failed = _on_solved

    def _no_attempt(self, record: TraceRecord) -> None:
        """The strategy that was tried last at this place runs no more."""
        label = str(self._tried.get(record.path, ("", ""))[1]).replace(" ", "")
        for other, state in self._started.items():
            frame, _, name = other.rpartition("/")
            if name.partition("#")[0] == label and _parent(frame) == record.path:
                self._fail("one attempt", record, f"{other} is still {state}")

    def _on_interrupted(self, record: TraceRecord) -> None:
        """What was tried at this place is judged, or tried again, after the interruption."""
        before = self._tried.pop(record.path, None)
        self._interrupted.setdefault(record.path, []).append((dict(record.detail)["by"], before))

    def _on_resumed(self, record: TraceRecord) -> None:
        self._no_attempt(record)
        by, before = (self._interrupted.get(record.path) or [(None, None)]).pop()
        if by != dict(record.detail)["by"]:
            self._fail("interruptions pair", record, f"it was interrupted by {by}")
        if before is not None:
            self._tried[record.path] = before

    # --- deciders and leaves ------------------------------------------------------------------------------------------

    def _on_activate(self, record: TraceRecord) -> None:
        self._active[record.path] += 1

    def _on_deactivate(self, record: TraceRecord) -> None:
        self._close(self._active, "active pairs", record, "it was not active")

    def _close(self, counts: Counter[str], rule: str, record: TraceRecord, text: str) -> None:
        counts[record.path] -= 1
        if counts[record.path] <= 0:
            if counts[record.path] < 0:
                self._fail(rule, record, text)
            del counts[record.path]


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def check_trace(records: Iterable[TraceRecord], agent: str, *, has_ended: bool = True) -> list[Violation]:
    """The violations in a trace that goes from the beginning of an agent's life to its end, if it has ended.

    Args:
        records: of all agents, or of this one.
        agent: the agent's name.
        has_ended: whether they go to its end.
    """
    invariants = Invariants(agent)
    for record in records:
        invariants(record)
    if has_ended:
        invariants.end()
    return invariants.violations


_OURS = "agentrt."
_LASTING = ("agentrt.activity.tasks.group", "agentrt.body.leases")  # as long as a task, or its lease, is there


class Leaks:
    """Looks for what is left."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.violations: list[Violation] = []  # what was found so far
        self._lives: dict[str, Agent] = {}
        self._all: dict[Agent, None] = {}
        self._groups: dict[TaskGroup, None] = {}
        self._connections: list[Connection] = []
        self._leases = runtime.leases.left.connect(lambda lease: self._found("nothing left", "", f"{lease!r}"))
        self._add = Signal.add

        def add(signal: Signal, connection: Connection) -> None:  # not a method: it is to become one of signals
            self._add(signal, connection)
            function = connection.function
            module = getattr(getattr(function, "func", function), "__module__", "")  # of a part: the whole function's
            if isinstance(connection, Listener) or (module.startswith(_OURS) and module not in _LASTING):
                self._connections.append(connection)

        setattr(Signal, "add", add)  # noqa: B010 - type checkers would object to an assignment

    def stop(self) -> None:
        setattr(Signal, "add", self._add)  # noqa: B010 - type checkers would object to an assignment
        self._leases.close()

    def _found(self, rule: str, agent: str, text: str) -> None:
        self.violations.append(Violation(rule, self._runtime.tick, agent, "", text))

    # --- an agent -----------------------------------------------------------------------------------------------------

    def look(self) -> list[str]:
        """Look at who came, and tell who has ended since the last time; called after each tick."""
        present = {agent.name: agent for agent in self._runtime.agents}
        for agent in present.values():
            self._all[agent] = None
            for group in agent.task_groups:
                self._groups[group] = None
        ended = [name for name in self._lives if name not in present]
        for name in ended:
            agent = self._lives[name]
            if agent.runtime is None:
                for text in _left_of(agent):
                    self._found("nothing left", name, text)
        self._lives = present
        return ended

    # --- the runtime --------------------------------------------------------------------------------------------------

    def closed(self) -> None:
        """The runtime was closed: look at all that is left."""
        runtime = self._runtime
        kernel = runtime.kernel
        texts: list[str] = [f"{agent.name} has not ended" for agent in runtime.agents]
        if kernel.live:
            texts.append(f"{kernel.live} strands have not ended: {kernel.strays!r}")
        texts += [f"a coroutine was abandoned: {coro!r}" for coro in kernel.abandoned]
        texts += [f"a call is still under way: {call.what}" for call in runtime.calls.running]
        for group in self._groups:
            for task in group.tasks:
                texts += [f"{unit!r} still is a worker of {task!r}" for unit in task.working]
                texts += [f"{unit!r} still considers {task!r}" for unit in task.units]
        for connection in self._connections:
            if connection._signal is not None:
                texts.append(f"a connection is still open: {_name_of(connection)}")
        texts += [f"a timer is still set: {name}" for name in self._timers()]
        for lease in runtime.leases._leases.values():
            if any(lease.owner is agent or lease.owner is agent.entity for agent in self._all):
                texts.append(f"{lease!r}")
        for text in texts:
            self._found("nothing left", "", text)

    def _timers(self) -> Iterator[str]:
        """Timers that the library set and that are still to come; the world may have some of its own."""
        for due, bucket in self._runtime.kernel.agenda.buckets.items():
            for entry in bucket:
                if isinstance(entry, Timer) and entry.waiting == due:
                    module = getattr(entry.fn, "__module__", "") or ""
                    if module.startswith(_OURS):
                        yield entry.name


def _left_of(agent: Agent) -> Iterator[str]:
    """What an agent that has ended still has, in words."""
    flags = agent.flags_if_made
    if flags is not None and not flags.is_free:
        yield f"control flags: {flags.holds()!r}, waiting: {flags.waiting()!r}"
    for what, strands in (
        ("of a driver", agent.drivers.strands()),
        ("that an action lent", agent.drivers.lent_strands()),
        ("of an observer", agent.observer_strands()),
    ):
        for strand in strands:
            yield f"a strand {what}: {strand!r}"
    planner = agent.planner
    if planner is not None:
        for performance in planner.performances:
            if not performance.is_over:  # else whoever awaits it has not gone on yet
                yield f"a performance: {performance!r}"
        for unit in planner.execution.runs:
            yield f"on the stack of what runs: {unit!r}"
        if planner.busy_frames:
            yield f"{planner.busy_frames} places of its plan that are not idle"
        for place in planner.group_places:
            yield f"a place where a task group is considered: {place!r}"
    if agent.gameplay_if_made is not None:
        yield from _unsolved(agent.gameplay_if_made)


def _unsolved(gameplay: Gameplay) -> Iterator[str]:
    """What an agent that has ended still has solved, in words."""
    for solving in gameplay.running:
        yield f"a request is still being solved: {solving}"
    for root in gameplay.finished:
        for _, node in root.walk():
            if node.is_open:
                yield f"of a request that is over, a node is open: {node!r}"


def _name_of(connection: Connection) -> str:
    """What is connected: of a listener of an action, its author's function."""
    return name_of(connection.function)
