"""A long campaign of chaos: ``python tools/chaos_campaign.py [--events 1000000] [--first 0] [--host plain ...]``.

It plays village after village (``tests/chaos/village.py``: all four models and strategies on each body, shared tasks,
observers, calls, leases, performances), each from its own seed, with random events in every tick and faults at the
awaits: at one in a hundred of them in the first villages, at one in ten in the next, then at one in three, then at
*every* await. In each of them hooks explode, too, with errors that cannot be printed and with what is no
``Exception``; coroutines wait for ever on what need not wait; and contexts of agents are called by others. Every 32nd
village is a short one in which each await is hit alone, by each kind of fault. The hosts take turns.

It goes on until so many events have happened. Any violation of what must hold (see ``agentrt.testing.chaos``), and any
reported error that is neither the injected one nor its consequence, is printed with the seed; ``--first SEED --events
1`` plays that one again. The exit code is 1 if there was one.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentrt import Runtime
from agentrt.testing.chaos import ChaosReport, exhaust, run_chaos

if TYPE_CHECKING:
    from agentrt.kernel import TraceRecord

__all__ = ["Campaign", "main"]

ROOT = Path(__file__).resolve().parent.parent
HOSTS = ("plain", "asyncio", "plain", "trio")
RATES = (0.01, 0.1, 0.3, 1.0)
FAULTS = (*("cancel", "uproot", "raise", "burst", "delay") * 5, "destroy", "remove")
EXPECTED = (
    "InjectedFault",
    "Cancelled",  # on each host
    "ActivityAbortedError",
    "ActivityImpossibleError",
    "ExceptionGroup: unhandled errors in a TaskGroup",  # anyio and trio wrap the injected one
    "ExceptionGroup: Exceptions from Trio nursery",
    "BaseExceptionGroup: unhandled errors in a TaskGroup",
    "BaseExceptionGroup: Exceptions from Trio nursery",
    "ValueError: confused",  # a strategy of the village
    "NotRunningError",  # a strategy asks its agent, which ends
    *("MuteError", "Burst", "BaseExceptionGroup: a burst", "GeneratorExit: a bomb", "StopIteration: a bomb"),
    "RuntimeError: coroutine raised StopIteration",  # Python makes it of that one
    "RuntimeError: generator raised StopIteration",
    "RuntimeError: guard_key raised",  # as a dependency tells it
    "LivelockError",  # who waits for ever on what need not wait
)
TICKS = 60
SHORT = 6  # ticks of a village in which each await is hit alone
ALONE = 32  # each so many-th village is such a one
EVERY = 2  # or each so many-th one
BUSY = 30  # events in a tick of the others
ENOUGH = 10


class Campaign:
    """Villages, one after the other.

    Args:
        hosts: they take turns.
        say: called with a line for people.

    Attributes:
        events: how many random events there were.
        villages: how many villages.
        failed: how many of them failed.
        counts: of what made the villages hostile: bombs, endless waits, calls into contexts of others.
        livelocks: how many strands were killed because they waited for ever on what need not wait.
        report: what came of all of them.
    """

    def __init__(self, hosts: Sequence[str], say: Callable[[str], object]) -> None:
        self.hosts = tuple(hosts)
        self.events = 0
        self.villages = 0
        self.failed = 0
        self.report = ChaosReport()
        self.unexpected: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.livelocks = 0
        self._played: list[Any] = []
        self._say = say
        sys.path.insert(0, str(ROOT / "tests" / "support"))  # what several folders of tests share
        self._world: Any = importlib.import_module("modules").load("tests/chaos/village.py")

    def play(self, seed: int) -> None:
        """Play the village of a seed.

        Args:
            seed: its number; it decides about everything.
        """
        before = sum(self.unexpected.values())
        turn, rest = divmod(seed, ALONE)
        report = self._exhaust(seed, self._host(turn)) if rest == ALONE - 1 else self._random(seed, self._host(seed))
        self.villages += 1
        self._add(report)
        for text in (violations := [text for village in self._played for text in village.violations]):
            self._say(f"village {seed}: {text}")
        for village in self._played:
            self.counts.update(village.counts)
        self._played.clear()
        for failure in report.failures:
            self._say(str(failure))
        if report.failures or violations or sum(self.unexpected.values()) > before:
            self.failed += 1

    def hostilities(self) -> tuple[int, int, int]:
        """How many hooks exploded, how many endless waits began, and how many calls came from elsewhere."""
        counts = Counter({name: count for name, count in self.counts.items() if not name.startswith("out of ")})
        bombs = sum(counts.pop(bomb.__name__, 0) for bomb in self._world.hostile.BOMBS)
        spins = sum(counts.pop(name) for name in tuple(counts) if name.startswith("spin_"))
        return bombs, spins, sum(counts.values())

    def _host(self, number: int) -> str:
        return self.hosts[number % len(self.hosts)]

    def _random(self, seed: int, host: str) -> ChaosReport:
        runtime = Runtime(seed, host=host, think_budget=10)
        village = self._village(runtime, seed, busy=BUSY)
        rate = RATES[seed // len(self.hosts) % len(RATES)]
        report = run_chaos(
            runtime, seed, ticks=TICKS, rate=rate, faults=FAULTS, before=village.before, name=f"village {seed}"
        )
        self.events += village.events
        return report

    def _exhaust(self, seed: int, host: str) -> ChaosReport:
        made: list[Any] = []

        def scenario(runtime: Runtime) -> Callable[[int], object]:
            made.append(self._village(runtime, seed, people=2, outside=False))
            before: Callable[[int], object] = made[-1].before
            return before

        report = exhaust(
            scenario, ticks=SHORT, seed=seed, host=host, every=EVERY, name=f"every await of village {seed}"
        )
        self.events += sum(village.events for village in made)
        return report

    def _village(self, runtime: Runtime, seed: int, *, outside: bool = True, **more: Any) -> Any:
        def look(record: TraceRecord) -> None:
            if record.event == "fault":
                error = str(dict(record.detail).get("error"))
                self.livelocks += error.startswith("LivelockError")
                if not error.startswith(EXPECTED):
                    self.unexpected[error] += 1
                    self._say(f"village {seed}: unexpected: {record.line()}")

        runtime.trace.listen(look)
        village = self._world.Village(runtime, seed, outside=outside, is_hostile=True, **more)
        self._played.append(village)
        return village

    def _add(self, report: ChaosReport) -> None:
        total = self.report
        total.runs += report.runs
        total.points += report.points
        total.records += report.records
        total.faults.update(report.faults)
        total.failures += report.failures


def main(args: Sequence[str] | None = None) -> int:
    """Run a campaign.

    Args:
        args: of the command line.

    Returns:
        The exit code: 1 if something was violated.
    """
    parser = argparse.ArgumentParser(description="Let chaos loose on all models at once.")
    parser.add_argument("--events", type=int, default=1_000_000, help="how many random events")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first village")
    parser.add_argument("--host", action="append", choices=["plain", "asyncio", "trio"], help="only this one")
    chosen = parser.parse_args(args)
    campaign = Campaign(chosen.host or HOSTS, print)
    began = told = time.monotonic()
    seed = chosen.first
    while campaign.events < chosen.events and campaign.failed < ENOUGH:
        campaign.play(seed)
        seed += 1
        if time.monotonic() - told > 30:
            told = time.monotonic()
            print(f"{told - began:.0f} s: {campaign.events} events, {campaign.report}", flush=True)
    seconds = time.monotonic() - began
    print(
        f"seeds {chosen.first} to {seed - 1}: {campaign.villages} villages, {campaign.events} random events in "
        f"{seconds:.0f} s; {campaign.report}; {campaign.failed} villages failed"
    )
    bombs, spins, calls = campaign.hostilities()
    print(
        f"{bombs} hooks exploded, {spins} endless waits were begun and {campaign.livelocks} killed, {calls} calls came "
        "into contexts from elsewhere"
    )
    return 1 if campaign.failed else 0


if __name__ == "__main__":
    logging.getLogger("agentrt").setLevel(logging.CRITICAL)  # the faults are ours
    sys.exit(main())
