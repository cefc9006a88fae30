"""A run of the colony: a runtime, a town, those who live there, and what ties them together.

Everything that is random comes from streams of the runtime's seed; everything that happens in the world goes
into the trace as a note. So one digest over the trace covers all of a run.
"""

from __future__ import annotations

from agentrt import Runtime, TraceEvent, TraceRecord
from agentrt_examples.colony.chronicle import Entry
from agentrt_examples.colony.population import Population
from agentrt_examples.colony.systems import Systems
from agentrt_examples.colony.town import Town

__all__ = ["TICKS_PER_SECOND", "Colony"]

TICKS_PER_SECOND = 20

_TURNIPS_AT_FIRST = 8
_MEALS_AT_FIRST = 4


class Colony:
    """A colony, ready to run.

    Args:
        seed: of all that is random.
        host: what the runtime runs on: plain, asyncio or trio.

    Attributes:
        runtime: runs it; step it, or await its ``run``.
        town: the world.
        population: who lives there.
    """

    def __init__(self, seed: int = 7, host: str = "plain") -> None:
        self.runtime = Runtime(seed=seed, ticks_per_second=TICKS_PER_SECOND, host=host)
        self.town = Town(self.runtime.clock, self.runtime.leases, self.runtime.stream("world"))
        self.town.chronicle.listeners.append(self._note)
        self.population = Population(self.town, self.runtime)
        self.town.stock("turnip", _TURNIPS_AT_FIRST)
        self.town.stock("meal", _MEALS_AT_FIRST)
        self.population.settle()
        self.runtime.every_tick(Systems(self.town, self.population).tick)

    def _note(self, entry: Entry) -> None:
        if self.runtime.trace.on:
            detail = (("kind", entry.kind), ("text", entry.text))
            self.runtime.trace.emit(TraceRecord(entry.tick, entry.who, "world", TraceEvent.NOTE, detail))
