"""Exhaustive chaos: one run for each await point and each kind of fault of a short scenario.

First the scenario is played as it is; that counts its points, and must be sound by itself. Then it is built anew for
each of them: up to the point that is hit, a run is the same as the first, so the number of a point means the same in
all. The faults come also while the runtime is closed at the end, when everything cleans up.

On asyncio and trio the numbers hold as long as nothing in the scenario waits for real time.

Source: design section 7, and "fault injection" of the test kit (ours).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from agentrt.errors import InjectedFault
from agentrt.kernel.trace import TraceRecord
from agentrt.runtime import Runtime
from agentrt.testing.chaos import Chaos, ChaosReport, nothing
from agentrt.testing.chaos_faults import FAULTS, MOMENTS, Fault, check_faults
from agentrt.testing.chaos_points import Point
from agentrt.testing.chaos_running import play
from agentrt.testing.invariants import Violation

__all__ = ["Scenario", "exhaust"]

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
    only: Iterable[tuple[int, Fault]] | None = None,
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

    Source: design section 7 (ours).
    """
    check_faults(faults)
    if not moments or any(moment not in MOMENTS for moment in moments):
        raise ValueError(f"moments is {tuple(moments)!r}: choose from {', '.join(MOMENTS)}")
    name = name or getattr(scenario, "__qualname__", "scenario")
    report = ChaosReport()

    def run(hit: tuple[int, Fault] | None, first: Chaos | None) -> Chaos:
        runtime = Runtime(seed, host=host)
        chaos = Chaos(runtime, _single(hit), error=error, keep=are_apart)
        try:
            play(runtime, ticks, scenario(runtime) or nothing)
            violations = chaos.finish()
        finally:
            chaos.abandon()
        if first is not None and chaos.faults and first.kept is not None and chaos.kept is not None:
            violations += _beside(first.kept, chaos.kept, chaos.faults[0][0].agent)
        report.add(name, seed, chaos, violations)
        return chaos

    first = run(None, None)
    if report.is_sound:
        for hit in only if only is not None else _all(first.points.count, faults, moments, every):
            run(hit, first)
            if len(report.failures) >= _ENOUGH:
                break
    return report


def _single(hit: tuple[int, Fault] | None) -> Callable[[Point], Fault | None]:
    def plan(point: Point) -> Fault | None:
        return hit[1] if hit is not None and point.number == hit[0] else None

    return plan


def _all(points: int, faults: Sequence[str], moments: Sequence[str], every: int) -> Iterator[tuple[int, Fault]]:
    for number in range(1, points + 1, every):
        for kind in faults:
            for moment in moments if kind != "delay" else ("soon",):
                yield number, Fault(kind, moment)


def _beside(
    first: Mapping[str, list[TraceRecord]], now: Mapping[str, list[TraceRecord]], hit: str
) -> Iterator[Violation]:
    """Where agents beside the one that was hit acted otherwise than without the fault."""
    if not hit:
        return
    for agent in {**first, **now}:
        if not agent or agent == hit:
            continue
        expected, got = first.get(agent, []), now.get(agent, [])
        if expected == got:
            continue
        index = next((i for i, pair in enumerate(zip(expected, got, strict=False)) if pair[0] != pair[1]), None)
        if index is None:
            index = min(len(expected), len(got))
        lines = [records[index].line() if index < len(records) else "nothing" for records in (expected, got)]
        tick = (got if index < len(got) else expected)[index].tick
        text = f"it should act as without the fault: expected '{lines[0]}', got '{lines[1]}'"
        yield Violation("beside", tick, agent, "", text)
