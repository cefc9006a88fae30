"""Chaos: does an agent keep its promises when, at an await, something goes wrong?

Two forms of one thing:

* ``sim.chaos(seed, ticks=...)``: a run in which, at random, awaits are cancelled, raise or come late, entities are
  destroyed and agents removed. For long runs of whole worlds.
* ``exhaust(scenario, ticks=...)``: the scenario is built anew for each await point and each kind of fault, which hits
  that point alone. For short scenarios; it leaves no await out.

Both watch the invariants of the trace (``invariants``) while it runs, look for what is left (``leaks``) when agents
have ended and when the runtime was closed, and take every error of the library's own (``InternalError``) for a
violation. An error that an author's code makes of the fault is none. A scenario whose agents have nothing to do with
each other can ask for more: that those beside the one that is hit act to the letter as they do without the fault.

This module has one run under a plan of faults, and its report; ``exhausting`` has the second form.

Source: design section 7, and "fault injection" of the test kit (ours).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agentrt.errors import InjectedFault, InvariantError, WrongStateError
from agentrt.kernel.trace import Event, TraceRecord
from agentrt.runtime import Runtime
from agentrt.testing.chaos_faults import FAULTS, Fault, Plan, RandomPlan, check_faults, inject
from agentrt.testing.chaos_points import Point, Points, Probe
from agentrt.testing.chaos_running import play
from agentrt.testing.invariants import Invariants, Violation
from agentrt.testing.leaks import Leaks

__all__ = ["FAULTS", "Chaos", "ChaosReport", "Failure", "Fault", "Point", "nothing", "run_chaos"]

_TAIL = 12  # records of the trace that a failure shows
_TOLD = 5  # faults that a failure shows, and failures that an error shows


@dataclass(frozen=True, slots=True)
class Failure:
    """One run in which an invariant was violated.

    Attributes:
        scenario: its name.
        seed: of the run.
        host: on which host.
        faults: what was injected where, in order.
        violations: what was violated.
        tail: the last records of the trace.
    """

    scenario: str
    seed: int | str
    host: str
    faults: tuple[tuple[Point, Fault], ...]
    violations: tuple[Violation, ...]
    tail: tuple[TraceRecord, ...]

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
    """What came of it.

    Attributes:
        runs: how many runs there were.
        points: how many await points they came to, in all.
        records: how many trace records they made.
        faults: how many faults were injected, by kind.
        failures: the runs in which something was violated.
    """

    runs: int = 0
    points: int = 0
    records: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether nothing was violated."""
        return not self.failures

    def add(self, scenario: str, seed: int | str, chaos: Chaos, violations: Sequence[Violation]) -> None:
        """Add a run.

        Args:
            scenario: its name.
            seed: its seed.
            chaos: the run, which is over.
            violations: what was violated.
        """
        self.runs += 1
        self.points += chaos.points.count
        self.records += chaos.records
        self.faults.update(fault.kind for _, fault in chaos.faults)
        if violations:
            faults, tail = tuple(chaos.faults), tuple(chaos.tail)
            self.failures.append(Failure(scenario, seed, chaos.runtime.host, faults, tuple(violations), tail))

    def check(self) -> ChaosReport:
        """Raise if something was violated.

        Returns:
            The report.

        Raises:
            InvariantError: the text tells the first few failures.
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
    """One run under a plan of faults. Make it before anything of the run is driven.

    Args:
        runtime: the runtime, on a host that it was told or has chosen.
        plan: says what is to happen at each point.
        error: makes what ``raise`` raises, from the point in words.
        keep: whether the records of each agent are kept.

    Attributes:
        runtime: as given.
        faults: what was injected where.
        points: the await points of the run.
        records: how many trace records there were.
        tail: the last of them.
        kept: for each agent, its records; None unless they are kept.

    Raises:
        WrongStateError: the runtime has not chosen its host.
    """

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
        self._error = error
        self.faults: list[tuple[Point, Fault]] = []
        self.records: int = 0
        self.tail: deque[TraceRecord] = deque(maxlen=_TAIL)
        self.kept: dict[str, list[TraceRecord]] | None = {} if keep else None
        self._violations: list[Violation] = []
        self._invariants: dict[str, Invariants] = {}
        self._unwatched = {agent.name for agent in runtime.agents} if runtime.tick else set()  # they began before
        self._leaks = Leaks(runtime)
        self.points: Points = Points(runtime.kernel, self._reached)
        self._log_level: str | None = runtime.log_level
        if self._log_level is None:
            runtime.log_level = "off"  # what was injected on purpose would fill the log; it is in the trace
        self._close_trace = runtime.trace.listen(self._take)
        self._close_look = runtime.after_tick(self._look)

    def _reached(self, point: Point, probe: Probe) -> None:
        fault = self._plan(point)
        if fault is not None and inject(self.runtime, fault, point, probe, self._error):
            self.faults.append((point, fault))

    def _take(self, record: TraceRecord) -> None:
        self.records += 1
        self.tail.append(record)
        name = record.agent
        if self.kept is not None:
            self.kept.setdefault(name, []).append(record)
        if record.event is Event.FAULT and _is_ours(record):
            text = str(dict(record.detail)["error"])
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

    def finish(self) -> list[Violation]:
        """The runtime was closed: look at what is left, and let go of everything.

        Returns:
            The violations of the run.
        """
        self._leaks.look()
        self._leaks.closed()
        for name in tuple(self._invariants):
            self._end_life(name)
        self.abandon()
        return sorted([*self._violations, *self._leaks.violations], key=lambda one: one.tick)

    def abandon(self) -> None:
        """Let go of everything; safe to be called again."""
        self.runtime.log_level = self._log_level
        self._close_trace()
        self._close_look()
        self.points.close()
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
    """Run ticks with faults at random awaits, close the runtime, and look what was violated.

    Args:
        runtime: on any host; what began before is not hit itself.
        seed: of the faults; equal runs with equal seeds have equal faults.
        ticks: how many.
        rate: how likely an await is to be hit, from 0 to 1.
        faults: which kinds; one that is named twice comes twice as often.
        before: called before each tick with its number: what happens in the world.
        error: makes what ``raise`` raises, from the point in words.
        name: what the report calls it.

    Returns:
        The report; ``check()`` raises if something was violated.

    Raises:
        ValueError: there is no such fault.
        WrongStateError: the runtime has not chosen its host.
    """
    check_faults(faults)
    chaos = Chaos(runtime, RandomPlan(seed, rate, faults), error=error)
    report = ChaosReport()
    try:
        play(runtime, ticks, before or nothing)
        report.add(name, seed, chaos, chaos.finish())
    finally:
        chaos.abandon()
    return report


def nothing(_tick: int) -> None:
    """What happens before a tick where nothing does."""


def _is_ours(record: TraceRecord) -> bool:
    return str(dict(record.detail).get("error", "")).startswith(("InternalError", "AssertionError"))
