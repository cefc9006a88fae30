"""Agents by hand: the least that thinks, elects, runs a plan of two steps and thinks anew.

What ``ten_thousand`` and its kin stand beside. Each agent has a signal and eight bare coroutines that wait for it:
seven look about and wait again, the eighth has a utility then. The best is elected by comparing eight numbers, and its
plan is one coroutine that sleeps on the tick wheel twice. Nothing can be stopped, rejected or preempted, what goes
wrong goes wrong for all, and the seven who lost are not asked anew: they still wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import wheel
from benchmarks.harness import Size, Work
from benchmarks.rows.think_cycle_others import BareSignal

__all__ = ["BareAgent", "stirred_by_hand"]

_THOUGHTS = 8


class BareAgent:
    """One agent, its entity and its thoughts."""

    __slots__ = ("is_in_danger", "models", "runs", "stirred", "utilities", "wheel")

    def __init__(self, ticks: wheel.Wheel, models: Any = None) -> None:
        self.stirred = BareSignal()
        self.is_in_danger = False
        self.runs = 0
        self.wheel = ticks
        self.models = models
        self.utilities = [0.0] * _THOUGHTS
        for number in range(_THOUGHTS - 1):
            self._begin(self._watch(number))
        self._begin(self._errand(_THOUGHTS - 1))

    def _begin(self, thought: Any) -> None:
        thought.send(None).waiting.append(thought)

    async def _watch(self, number: int) -> None:
        while not self.is_in_danger:
            await self.stirred.wait()
        self.utilities[number] = 1.0

    async def _errand(self, number: int) -> None:
        await self.stirred.wait()
        self.utilities[number] = 0.5

    async def _run(self, number: int) -> None:
        await wheel.next_tick()  # it looks
        await wheel.next_tick()  # it goes
        self.runs += 1
        self.utilities[number] = 0.0
        self._begin(self._errand(number))

    def stir(self) -> None:
        """Have all eight go on, and the best of them run."""
        self.stirred.emit()
        best = max(self.utilities)
        if best > 0.0:
            self.wheel.add(self._run(self.utilities.index(best)))

    def close(self) -> None:
        """Close all coroutines."""
        for thought in self.stirred.waiting:
            thought.close()


@contextmanager
def stirred_by_hand(
    size: Size,
    awake: int,
    every: int,
    settled: int,
    drive: Callable[[BareAgent], None] | None = None,
    models: Any = None,
) -> Iterator[Work]:
    """As ``ten_thousand.stirred``.

    Args:
        size: how many agents, how many ticks.
        awake: how many are stirred at a time.
        every: in every so many ticks.
        settled: how many ticks are not counted.
        drive: called with each agent in every tick, for what else there is to decide; nobody is driven without it.
        models: makes what each agent has for that.
    """
    ticks = wheel.Wheel()
    agents = [BareAgent(ticks, models and models()) for _ in range(size.count)]
    turn = stirs = 0

    def tick() -> None:
        nonlocal turn, stirs
        if ticks.tick % every == 0:
            for number in range(awake):
                agents[(turn + number) % size.count].stir()
            turn += awake
            stirs += 1
        ticks.step()
        if drive is not None:
            for agent in agents:
                drive(agent)

    for _ in range(settled):
        tick()

    def work() -> int:
        for _ in range(size.rounds):
            tick()
        return size.rounds

    yield work
    for _ in range(settled):
        ticks.step()
    assert sum(agent.runs for agent in agents) == awake * stirs, "a plan was not run"
    for agent in agents:
        agent.close()
