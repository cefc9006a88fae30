"""The colony in the long run: ``python -m benchmarks.endurance [--minutes 5] [--ticks N] [--seed 7] [--json FILE]``.

It runs the colony for so long (or for so many ticks), and looks at it four times: after a quarter of the time, a half,
three quarters, and at the end. What it looks at must not grow: memory, objects, listeners, leases, strands, agents. Nor
may anything have gone wrong: what the runtime logs at the level of an error, or records as a fault or a kill, counts.

A *verdict* compares the last quarter with the first one, which has warmed all caches up: more than a tenth of growth of
anything is a leak. Leases, strands and agents come and go with the time of day, so they are looked at in the same hour:
each look waits for the next noon.

Memory is what the process holds (``/proc/self/statm``; elsewhere the peak, which can only tell that it did not grow).
``tracemalloc`` would know more and make the run three times as slow.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentrt.kernel import TraceRecord
    from agentrt_examples.colony.colony import Colony

__all__ = ["Look", "endure", "main", "verdict"]

_GROWTH = 0.10
_NOON = 300
_SLACK = {"memory_kib": 4096}
_LITTLE = 16  # of small numbers a tenth is less than one


@dataclass(frozen=True, slots=True)
class Look:
    """What there was at one time.

    Attributes:
        tick: when.
        game_hours: how much game time had passed.
        seconds: how much real time.
        memory_kib: what the process holds.
        objects: how many objects the garbage collector knows.
        listeners: how many connections to signals there are.
        leases: how many things are reserved.
        strands: how many coroutines the kernel drives.
        agents: how many there are.
        errors: how many errors were logged.
    """

    tick: int
    game_hours: float
    seconds: float
    memory_kib: int
    objects: int
    listeners: int
    leases: int
    strands: int
    agents: int
    errors: int


class _Faults:
    """Counts what goes wrong."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()

    def log(self, _logger: object, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        """A processor for structlog: what is said at the level of an error.

        Raises:
            structlog.DropEvent: always; the run prints its own lines.
        """
        import structlog

        if method in ("error", "critical", "exception"):
            self.kinds[f"{event.get('event', '')} {event.get('reason', '')}".strip()[:120]] += 1
        raise structlog.DropEvent

    def record(self, record: TraceRecord) -> None:
        """A listener for the trace."""
        if record.event in ("fault", "killed"):
            self.kinds[f"{record.event}: {record.path or record.agent}"[:120]] += 1

    @property
    def count(self) -> int:
        """How much went wrong."""
        return sum(self.kinds.values())


def _memory_kib() -> int:
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize() // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _look(colony: Colony, faults: _Faults, began: float) -> Look:
    from agentrt.kernel import Connection

    gc.collect()
    objects = gc.get_objects()
    runtime = colony.runtime
    return Look(
        tick=runtime.tick,
        game_hours=round(runtime.tick * runtime.clock.seconds_per_tick / 3600, 2),
        seconds=round(time.monotonic() - began, 1),
        memory_kib=_memory_kib(),
        objects=len(objects),
        listeners=sum(type(one) is Connection for one in objects),
        leases=len(runtime.leases),
        strands=runtime.kernel.live,
        agents=len(runtime.agents),
        errors=faults.count,
    )


def endure(
    *, minutes: float, ticks: int | None, seed: int, show: Callable[[Look], None]
) -> tuple[list[Look], Mapping[str, int], Colony]:
    """Run a colony.

    Args:
        minutes: of real time; not asked if there is a number of ticks.
        ticks: how many ticks; None for as many as there is time for.
        seed: of all that is random.
        show: called with each look.

    Returns:
        The four looks, what went wrong how often, and the colony as it is in the end.
    """
    import structlog

    from agentrt_examples.colony.colony import Colony
    from agentrt_examples.colony.daylight import DAY

    faults = _Faults()
    structlog.configure(processors=[faults.log])
    colony = Colony(seed=seed)
    colony.runtime.trace.listen(faults.record)
    step = colony.runtime.step
    began = time.monotonic()
    looks: list[Look] = []
    for quarter in range(1, 5):
        until_tick = None if ticks is None else ticks * quarter // 4
        until_time = began + minutes * 60 * quarter / 4
        while colony.runtime.tick < until_tick if until_tick is not None else time.monotonic() < until_time:
            step()
        while colony.runtime.tick % DAY != _NOON:
            step()
        looks.append(_look(colony, faults, began))
        show(looks[-1])
    structlog.reset_defaults()
    return looks, faults.kinds, colony


def verdict(looks: Sequence[Look]) -> list[str]:
    """What is wrong, in words; nothing if all is well.

    Args:
        looks: at the quarters.
    """
    first, last = looks[0], looks[-1]
    wrong = [f"{last.errors} errors"] if last.errors else []
    for name in ("memory_kib", "objects", "listeners", "leases", "strands", "agents"):
        before, after = getattr(first, name), getattr(last, name)
        if after > before * (1 + _GROWTH) + _SLACK.get(name, _LITTLE):
            wrong.append(f"{name} grew from {before} to {after}")
    if last.agents * 2 < first.agents:
        wrong.append(f"of {first.agents} agents {last.agents} are left")
    return wrong


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print what was seen, and say whether all is well.

    Args:
        argv: the arguments; those of the process without it.

    Returns:
        The exit code: 1 if something grew or went wrong.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.endurance", description="Run the colony for long.")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long; 5 without it")
    parser.add_argument("--ticks", type=int, help="how many ticks, instead of minutes")
    parser.add_argument("--seed", type=int, default=7, help="of all that is random; 7 without it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    asked = parser.parse_args(argv)
    columns = tuple(Look.__dataclass_fields__)
    print("  ".join(f"{name:>10}" for name in columns), flush=True)

    def show(look: Look) -> None:
        print("  ".join(f"{getattr(look, name):>10}" for name in columns), flush=True)

    looks, faults, colony = endure(minutes=asked.minutes, ticks=asked.ticks, seed=asked.seed, show=show)
    counts = {kind: count for kind, count in colony.town.chronicle.counts.items() if count}
    print(", ".join(f"{kind} {count}" for kind, count in counts.items()))
    print(f"work waited: {colony.runtime.waits}")
    for text, count in faults.items():
        print(f"{count} x {text}")
    wrong = verdict(looks)
    print("; ".join(wrong) if wrong else f"{looks[-1].tick} ticks, {looks[-1].game_hours} game hours: all is well")
    colony.runtime.close()
    if asked.json is not None:
        document = {"looks": [asdict(look) for look in looks], "faults": dict(faults), "wrong": wrong}
        asked.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
