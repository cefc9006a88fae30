"""Chaos: does an agent keep its promises when, at an await, something goes wrong?

Its two forms, ``sim.chaos`` at random and ``exhaust`` at each await in turn, and what each fault does, stand in
docs/how-to/chaos.md. A scenario that is exhausted is first played as it is; that counts its points, and must be sound
by itself. Up to the point that is hit a run is the same as the first, so the number of a point means the same in all.

Both watch the invariants of the trace while it runs, look for what is left (``invariants.Leaks``) when agents have
ended and when the runtime was closed, and take every error of the library's own (``InternalError``) for a violation. An
error that an author's code makes of the fault is none.

A fault comes at one of three moments: ``inside``, on the strand's own stack, while it suspends (what it called turned
against it); ``soon``, in the same tick, when the ready queue comes to it (somebody else did it); ``intake``, at the
next one (the outside did it). A strand of the world has no agent: there the fault hits an agent that is chosen by the
number of the point, as is what bursts. What cannot be done (to destroy an entity without ``destroy``, to raise before
the first await) is not counted.

*Points.* A point is a moment at which a strand has suspended: at one of its awaits, or before its first step. Whatever
the kernel drives has them, on every host. They are numbered in the order in which the run comes to them; equal runs
come to equal points, so that a number names a moment. While points are counted, each new strand is given a *probe*
instead of its coroutine, which hands on what is sent and thrown, sees when the real one suspends, and can raise an
error at its await or have it go on later. The seam is ``host.strand``, by which the kernel makes strands on every host.
Where thinks make their first steps without a strand (the plain host), the first wait of such a think is looked at when
the ready queue comes to it. What was under way before the count began is not touched; counting alone changes no run.

*Driving.* ``play`` steps a runtime tick by tick on any host, from plain code. The plain host is stepped on the caller's
stack. On asyncio and trio an event loop is started for it; between two ticks it has one turn, so that results of the
outside can come in. So it cannot be called where a loop runs already, and the numbers of points hold there as long as
nothing in the scenario waits for real time.

Rejected: wrapping ``strand.stepper`` (what steps a strand differs between hosts, and changes while a cancellation is
delivered); ``GeneratorExit`` at an await (Python closes what is awaited instead of raising there, so that no clean-up
may wait; that is no mistake of anybody).

Source: ours.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import CORO_CREATED, getcoroutinestate, iscoroutine
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from agentrt.errors import InjectedFault, InvariantError, WrongStateError
from agentrt.kernel.rng import Stream, derive_seed
from agentrt.kernel.strand import Children, Strand, StrandOwner
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.runtime.runtime import Runtime
from agentrt.testing.invariants import Invariants, Leaks, Violation

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.kernel.kernel import Kernel


FAULTS: Final = ("cancel", "uproot", "raise", "burst", "delay", "destroy", "remove")
MOMENTS: Final = ("inside", "soon", "intake")

_REASON = "chaos"


class _Mute:
    def __str__(self) -> str:
        raise ArithmeticError("there is no text of it")

    __repr__ = __str__


class MuteError(_Mute, Exception):
    """An error whose text cannot be made."""


class Burst(_Mute, BaseException):
    """No ``Exception``, and without a text."""


class ChaosFault(NamedTuple):
    """One fault."""

    kind: str  # one of ``FAULTS``
    moment: str = "soon"  # one of ``MOMENTS``
    ticks: int = 1  # of a delay: by how many ticks

    def __str__(self) -> str:
        return f"{self.kind} by {self.ticks}" if self.kind == "delay" else f"{self.kind}, {self.moment}"


Plan = Callable[["Point"], ChaosFault | None]
"""Says what is to happen at a point; None for nothing."""


def random_plan(seed: int | str, rate: float, faults: Sequence[str]) -> Plan:
    """A fault now and then, from a seed: ``rate`` is how likely a point is to be hit."""
    stream = Stream(derive_seed(seed, "chaos"))

    def plan(_point: Point) -> ChaosFault | None:
        if stream.random() >= rate:
            return None
        return ChaosFault(stream.choice(faults), stream.choice(MOMENTS), stream.between(1, 4))

    return plan


def bursting(number: int) -> BaseException:
    """What ``burst`` raises at the point of a number."""
    several: list[BaseException] = [Burst(), MuteError()]
    whole = BaseExceptionGroup("a burst of several", several)
    return (Burst(), MuteError(), asyncio.CancelledError("nobody asked for it"), whole)[number % 4]


def _inject(
    runtime: Runtime, fault: ChaosFault, point: Point, probe: _Probe, error: Callable[[str], BaseException]
) -> bool:
    """Do it, and say whether it can be done there."""
    kernel, strand = runtime.kernel, probe.strand
    act: Callable[[], object]
    if fault.kind == "delay":
        probe.delay(fault.ticks)
        return True
    if fault.kind == "cancel":
        act = partial(strand.stop, _REASON)
    elif fault.kind == "uproot":
        cancel = getattr(strand, "cancel", None)
        if cancel is None:
            return False
        act = partial(cancel, _REASON)
    elif fault.kind == "raise" or fault.kind == "burst":
        if point.wait == 0:
            return False  # nothing is awaited yet
        act = partial(probe.fail, error(str(point)) if fault.kind == "raise" else bursting(point.number))
    else:
        agent = _victim(runtime, point)
        if agent is None:
            return False
        if fault.kind == "remove":
            runtime.remove(agent, _REASON)
            return True
        destroy = getattr(agent.entity, "destroy", None)
        if not callable(destroy):
            return False
        act = destroy
    if fault.moment == "intake":
        kernel.post(act)
    elif fault.moment == "inside" and kernel.current is strand and fault.kind not in ("raise", "burst"):
        act()
    else:
        kernel.call_soon(act)
    return True


def _victim(runtime: Runtime, point: Point) -> Agent | None:
    agents = runtime.agents
    for agent in agents:
        if agent.name == point.agent:
            return agent
    return None if point.agent or not agents else agents[point.number % len(agents)]


class Point(NamedTuple):
    """A moment at which a strand has suspended."""

    number: int  # from 1, in the order of the run
    tick: int
    agent: str  # whose strand it is; empty for a coroutine of the world
    strand: str  # what the strand is called
    wait: int  # which await of that strand, from 1; 0 before its first step

    def __str__(self) -> str:
        wait = "before its first step" if self.wait == 0 else f"await {self.wait}"
        return f"point {self.number} (tick {self.tick}, {self.agent or 'the world'}, {self.strand!r}, {wait})"


class _Probe(Coroutine[Any, Any, Any]):
    """A coroutine that hands everything on to another one."""

    __slots__ = ("_coro", "_error", "_kept", "_late", "_reached", "agent", "strand", "waits")

    strand: Strand  # whose coroutine it is

    def __init__(self, coro: Coroutine[Any, Any, Any], reached: Callable[[_Probe], None], agent: str) -> None:
        self._coro: Any = coro
        self._reached = reached  # called whenever it has suspended
        self.agent: str = agent  # empty for a coroutine of the world
        self._error: BaseException | None = None
        self._late = 0
        self._kept: object = None  # what it was woken with, while it is late
        self.waits: int = 0  # how often it suspended

    # --- what a coroutine does ----------------------------------------------------------------------------------------

    def send(self, value: Any) -> Any:
        """Go on, or raise what is to be raised, or go on later."""
        if self._error is not None:
            return self.throw(self._error)
        if self._late:
            ticks, self._late = self._late, 0
            self._kept = value
            return ticks  # a bare number is a sleep, for the kernel
        if value is None:  # as after a sleep: perhaps it was late, and goes on with what it was woken with
            value, self._kept = self._kept, None
        return self._suspended(self._coro.send(value))

    def throw(self, *error: Any) -> object:
        self._error = self._kept = None
        self._late = 0
        return self._suspended(self._coro.throw(*error))

    def close(self) -> None:
        self._coro.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        """As the real one's."""
        awaited: Generator[Any, Any, Any] = self._coro.__await__()
        return awaited

    def _suspended(self, command: object) -> object:
        self.waits += 1
        self._reached(self)
        return command

    def __getattr__(self, name: str) -> Any:
        """What tools look at in a coroutine (``cr_frame``, ``cr_await``, ``__qualname__``): the real one's."""
        return getattr(self._coro, name)

    # --- faults -------------------------------------------------------------------------------------------------------

    def fail(self, error: BaseException) -> None:
        """Have its await raise: now if it waits for the kernel, else when what it waits for has come."""
        strand = self.strand
        self._error = error
        # The plain way out on each host: what they add to it is for cancellations, which this is not.
        if not strand.is_done and Strand.detach(strand):
            strand.kernel.ready.append(strand)

    def delay(self, ticks: int) -> None:
        """Have its await end later than it would."""
        self._late = ticks


def _agent_of(owner: object) -> str:
    """The name of the agent whose strand it is; empty for the world's."""
    # The owners are a unit, the activation of a driver, and an observer: they have no base in common.
    while isinstance(owner, Children):
        owner = owner.parent.owner
    for way in ("frame.planner.name", "_body.name", "_owner._agent.name"):
        found = owner
        for part in way.split("."):
            found = getattr(found, part, None)
        if isinstance(found, str):
            return found
    return ""


def play(runtime: Runtime, ticks: int, before: Callable[[int], object]) -> None:
    """Run ticks on any host, ``before`` each of which something is called with its number; then close the runtime."""
    if runtime.host == "plain":
        try:
            for _ in range(ticks):
                before(runtime.tick + 1)
                runtime.step()
        finally:
            runtime.close()
        return

    async def run() -> None:
        try:
            for _ in range(ticks):
                before(runtime.tick + 1)
                await runtime.run(1, speed=math.inf, blocking_ms=None, restart=None)  # as if it were stepped
        finally:
            await runtime.aclose()

    import anyio  # here: few tests play anything

    anyio.run(run, backend=runtime.host)


_TAIL = 12  # records of the trace that a failure shows
_TOLD = 5  # faults that a failure shows, and failures that an error shows


class Failure(NamedTuple):
    """One run in which an invariant was violated."""

    scenario: str
    seed: int | str  # of the run
    host: str
    faults: tuple[tuple[Point, ChaosFault], ...]  # what was injected where, in order
    violations: tuple[Violation, ...]
    tail: tuple[TraceRecord, ...]  # the last records of the trace

    def __str__(self) -> str:
        lines = [f"{self.scenario}, seed {self.seed!r}, {self.host} host"]
        left_out = len(self.faults) - _TOLD
        lines += [f"  ({left_out} faults before these)"] if left_out > 0 else []
        lines += [f"  {point}: {fault}" for point, fault in self.faults[-_TOLD:]]
        lines += [f"  violated: {violation}" for violation in self.violations[:_TOLD]]
        lines += [f"  and {len(self.violations) - _TOLD} more"] if len(self.violations) > _TOLD else []
        lines += ["  the last records:", *(f"    {record.line()}" for record in self.tail)]
        return "\n".join(lines)


@dataclass(slots=True)
class ChaosReport:
    """What came of it."""

    runs: int = 0  # how many runs there were
    points: int = 0  # how many await points they came to, in all
    records: int = 0  # how many trace records they made
    faults: Counter[str] = field(default_factory=Counter)  # how many faults were injected, by kind
    failures: list[Failure] = field(default_factory=list)  # the runs in which something was violated

    @property
    def is_sound(self) -> bool:
        """Whether nothing was violated."""
        return not self.failures

    def add(self, scenario: str, seed: int | str, chaos: Chaos, violations: Sequence[Violation]) -> None:
        """Add a run that is over, and what was violated in it."""
        self.runs += 1
        self.points += chaos.points
        self.records += chaos.records
        self.faults.update(fault.kind for _, fault in chaos.faults)
        if violations:
            faults, tail = tuple(chaos.faults), tuple(chaos.tail)
            self.failures.append(Failure(scenario, seed, chaos.runtime.host, faults, tuple(violations), tail))

    def check(self) -> ChaosReport:
        """Give the report back, if nothing was violated.

        Raises:
            InvariantError: something was; the text tells the first few failures.
        """
        if self.failures:
            told = [str(failure) for failure in self.failures[:_TOLD]]
            raise InvariantError(told, omitted=len(self.failures) - len(told))
        return self

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.faults.items())) or "none"
        return (
            f"{self.runs} runs, {self.points} await points, {self.records} trace records, "
            f"{sum(self.faults.values())} faults ({kinds}), {len(self.failures)} failures"
        )


class Chaos:
    """One run under a plan of faults. Make it before anything of the run is driven."""

    def __init__(
        self,
        runtime: Runtime,
        plan: Plan,
        *,
        error: Callable[[str], BaseException] = InjectedFault,
        keep: bool = False,
    ) -> None:
        if runtime.host == "auto":
            raise WrongStateError("chaos", "the runtime has not chosen its host", "Make it with Runtime(host='plain').")
        self.runtime: Runtime = runtime
        self._plan = plan
        self._error = error  # makes what ``raise`` raises, from the point in words
        self.faults: list[tuple[Point, ChaosFault]] = []  # what was injected where
        self.records: int = 0  # how many there were
        self.tail: deque[TraceRecord] = deque(maxlen=_TAIL)  # the last of them
        self.kept: dict[str, list[TraceRecord]] | None = {} if keep else None  # all of them, for each agent
        self._violations: list[Violation] = []
        self._invariants: dict[str, Invariants] = {}
        self._unwatched = {agent.name for agent in runtime.agents} if runtime.tick else set()  # they began before
        self._leaks = Leaks(runtime)
        self.points: int = 0  # how many there were
        self._make: Callable[..., Strand] = runtime.kernel.host.strand
        vars(runtime.kernel.host)["strand"] = self._make_strand  # of this host alone: others make theirs as ever
        self._waited_late, runtime.kernel.waits_late = runtime.kernel.waits_late, False  # faults hit strands
        self._log_level: str | None = runtime.log_level
        if self._log_level is None:
            runtime.log_level = "off"  # what was injected on purpose would fill the log; it is in the trace
        self._close_trace = runtime.trace.listen(self._take)
        self._close_look = runtime.after_tick(self._look)

    def _make_strand(
        self, kernel: Kernel, coro: Coroutine[Any, Any, Any], name: str, owner: StrandOwner | None
    ) -> Strand:
        probe = _Probe(coro, self._reached, _agent_of(owner))
        strand = probe.strand = self._make(kernel, probe, name, owner)
        if not iscoroutine(coro) or getcoroutinestate(coro) == CORO_CREATED:
            self._reached(probe)
        else:  # a think that made its first step without a strand
            kernel.call_soon(self._first_wait, probe)
        return strand

    def _first_wait(self, probe: _Probe) -> None:
        if probe.waits == 0 and not probe.strand.is_done:
            probe.waits = 1
            self._reached(probe)

    def _reached(self, probe: _Probe) -> None:
        """A strand has suspended: this is in the middle of its step, where nothing may be stepped."""
        self.points += 1
        point = Point(self.points, self.runtime.tick, probe.agent, probe.strand.name, probe.waits)
        fault = self._plan(point)
        if fault is not None and _inject(self.runtime, fault, point, probe, self._error):
            self.faults.append((point, fault))

    def _take(self, record: TraceRecord) -> None:
        self.records += 1
        self.tail.append(record)
        name = record.agent
        if self.kept is not None:
            self.kept.setdefault(name, []).append(record)
        text = str(dict(record.detail).get("error", "")) if record.event is TraceEvent.FAULT else ""
        if text.startswith(("InternalError", "AssertionError")):
            self._violations.append(Violation("no bug of ours", record.tick, name, record.path, text))
        if name and name not in self._unwatched:
            invariants = self._invariants.get(name)
            if invariants is None:
                invariants = self._invariants[name] = Invariants(name)
            invariants(record)

    def _look(self) -> None:
        for name in self._leaks.look():
            self._end_life(name)

    def _end_life(self, name: str) -> None:
        invariants = self._invariants.pop(name, None)
        if invariants is not None:
            invariants.end()
            self._violations += invariants.violations

    def run(self, ticks: int, scenario: Scenario) -> list[Violation]:
        """Build a scenario, play it, close the runtime, and tell what was violated."""
        try:
            play(self.runtime, ticks, scenario(self.runtime) or (lambda _tick: None))
            return self.finish()
        finally:
            self._abandon()

    def finish(self) -> list[Violation]:
        """The runtime was closed: look at what is left, let go of everything, and tell what was violated."""
        self._leaks.look()
        self._leaks.closed()
        for name in tuple(self._invariants):
            self._end_life(name)
        self._abandon()
        return sorted([*self._violations, *self._leaks.violations], key=lambda one: one.tick)

    def _abandon(self) -> None:
        """Let go of everything; safe to be called again. Strands that have a probe keep it, and nothing hits them."""
        self.runtime.log_level = self._log_level
        self._close_trace()
        self._close_look()
        vars(self.runtime.kernel.host).pop("strand", None)
        self.runtime.kernel.waits_late = self._waited_late
        self._plan = lambda _point: None
        self._leaks.stop()


def run_chaos(
    runtime: Runtime,
    seed: int | str,
    *,
    ticks: int,
    rate: float = 0.02,
    faults: Sequence[str] = FAULTS,
    before: Callable[[int], object] | None = None,
    error: Callable[[str], BaseException] = InjectedFault,
    name: str = "chaos",
) -> ChaosReport:
    """Run ticks with faults at random awaits, close the runtime, and look what was violated. See ``Simulation.chaos``.

    The runtime has chosen its host, which may be any; what began in it before is not hit itself. ``name`` is what the
    report calls it.
    """
    _choose("faults", faults, FAULTS)
    chaos = Chaos(runtime, random_plan(seed, rate, faults), error=error)
    report = ChaosReport()
    report.add(name, seed, chaos, chaos.run(ticks, lambda _runtime: before))
    return report


def _choose(what: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Raise if one of some names is not known, or there is none at all."""
    if not names or not set(names).issubset(known):
        raise ValueError(f"{what} is {tuple(names)!r}: choose from {', '.join(known)}")


Scenario: TypeAlias = Callable[[Runtime], Callable[[int], object] | None]
"""Builds a world in a fresh runtime; what it returns, if anything, is called before each tick with its number."""

_ENOUGH = 10  # failures after which no more are looked for


def exhaust(
    scenario: Scenario,
    *,
    ticks: int,
    seed: int | str = 0,
    host: str = "plain",
    faults: Sequence[str] = FAULTS,
    moments: Sequence[str] = ("soon",),
    every: int = 1,
    only: Iterable[tuple[int, ChaosFault]] | None = None,
    are_apart: bool = False,
    error: Callable[[str], BaseException] = InjectedFault,
    name: str = "",
) -> ChaosReport:
    """Play a scenario once for each of its await points and each kind of fault.

    Args:
        scenario: builds a world in a fresh runtime: ``runtime.add(...)``. Equal calls must build equal worlds.
        ticks: how many ticks a run has, before the runtime is closed.
        seed: of the runtime.
        host: ``"plain"``, ``"asyncio"`` or ``"trio"``.
        faults: which kinds: cancel, uproot, raise, burst, delay, destroy, remove.
        moments: when they come: inside, soon, intake.
        every: hit each so many-th point only.
        only: just these points and faults.
        are_apart: the agents have nothing to do with each other; whoever is not hit must act as without the fault.
        error: makes what ``raise`` raises, from the point in words.
        name: what the report calls it; the scenario's name by default.

    Returns:
        The report; ``check()`` raises if something was violated. It ends with the tenth failure.

    Raises:
        ValueError: there is no such fault or moment.
    """
    _choose("faults", faults, FAULTS)
    _choose("moments", moments, MOMENTS)
    name = name or getattr(scenario, "__qualname__", "scenario")
    report = ChaosReport()

    def run(hit: tuple[int, ChaosFault] | None, first: Chaos | None) -> Chaos:
        number, fault = hit or (0, None)  # points are counted from 1

        def plan(point: Point) -> ChaosFault | None:
            return fault if point.number == number else None

        chaos = Chaos(Runtime(seed, host=host), plan, error=error, keep=are_apart)
        violations = chaos.run(ticks, scenario)
        if first is not None and chaos.faults and first.kept is not None and chaos.kept is not None:
            violations += _beside(first.kept, chaos.kept, chaos.faults[0][0].agent)
        report.add(name, seed, chaos, violations)
        return chaos

    first = run(None, None)
    if report.is_sound:
        for hit in only if only is not None else _all(first.points, faults, moments, every):
            run(hit, first)
            if len(report.failures) >= _ENOUGH:
                break
    return report


def _all(points: int, faults: Sequence[str], moments: Sequence[str], every: int) -> Iterator[tuple[int, ChaosFault]]:
    for number in range(1, points + 1, every):
        for kind in faults:
            for moment in moments if kind != "delay" else ("soon",):
                yield number, ChaosFault(kind, moment)


def _beside(
    first: Mapping[str, list[TraceRecord]], now: Mapping[str, list[TraceRecord]], hit: str
) -> Iterator[Violation]:
    """Where agents beside the one that was hit acted otherwise than without the fault."""
    if not hit:
        return
    for agent in {**first, **now}:
        if not agent or agent == hit:
            continue
        for expected, got in zip_longest(first.get(agent, ()), now.get(agent, ())):
            if expected != got:
                lines = ["nothing" if record is None else record.line() for record in (expected, got)]
                text = f"it should act as without the fault: expected '{lines[0]}', got '{lines[1]}'"
                yield Violation("beside", (got or expected).tick, agent, "", text)
                break  # whatever follows differs because of it
