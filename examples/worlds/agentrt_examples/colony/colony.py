"""A run of the colony: a runtime, a town, those who live there, and what ties them together.

Everything that is random comes from streams of the runtime's seed; everything that happens in the world goes
into the trace as a note. So one digest over the trace covers all of a run.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentrt import Runtime
from agentrt.kernel import TraceEvent, TraceRecord
from agentrt.worlds import Value
from agentrt_examples.colony.captain import Captain
from agentrt_examples.colony.cartographer import Cartographer
from agentrt_examples.colony.chronicle import Entry
from agentrt_examples.colony.foreman import Foreman
from agentrt_examples.colony.petitions import Petitions
from agentrt_examples.colony.population import Population
from agentrt_examples.colony.setting import Setting
from agentrt_examples.colony.systems import Systems
from agentrt_examples.colony.terrain import Ground
from agentrt_examples.colony.texts import status_text
from agentrt_examples.colony.town import Town

__all__ = ["TICKS_PER_SECOND", "Colony"]

TICKS_PER_SECOND = 20


class Colony:
    """A colony, ready to run.

    Args:
        seed: of all that is random.
        host: what the runtime runs on: plain, asyncio or trio.
        across: how many colonies lie side by side, as one.
        down: how many lie one below the other.
        settled: whether anybody lives there and anything is in store; a saved game brings its own.
        start_tick: the tick after which it begins.
        params: what of its setting is not as by default, by the names of ``setting.PARAMETERS``.
        runtime: what it is put into, which has nothing of a world; None for one of its own.

    Attributes:
        seed, across, down, params: as given.
        runtime: runs it; step it, or await its ``run``.
        town: the world.
        population: who lives there.
        foreman: who issues the town's tasks.
        captain: who commands the soldiers.
        cartographer: who draws it for whoever looks.
    """

    def __init__(
        self,
        seed: int | str = 7,
        host: str = "plain",
        *,
        across: int = 1,
        down: int = 1,
        settled: bool = True,
        start_tick: int = 0,
        params: Mapping[str, Value] | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        self.seed = seed
        self.across = across
        self.down = down
        self.params: dict[str, Value] = dict(params or {})
        setting = Setting.of(self.params)
        if runtime is None:
            runtime = _runtime(seed, host, setting.think_budget * across * down, start_tick)
        self.runtime = runtime
        self.runtime.game = self
        ground = Ground(across=across, down=down)
        self.town = Town(self.runtime.clock, self.runtime.leases, self.runtime.stream("world"), ground=ground)
        self.town.chronicle.listeners.append(self._note)
        self.foreman = Foreman(self.town)
        self.captain = Captain(self.town, self.foreman.watch)
        self.population = Population(self.town, self.runtime, self.captain, setting)
        if settled:
            for kind, count in (("turnip", setting.turnips), ("meal", setting.meals)):
                self.town.stock(kind, count * len(ground.parts))
            self.population.settle()
        Petitions(self.runtime, self.town, self.population, self.captain)
        self.cartographer = Cartographer(self.town, self.population)
        self.runtime.drawing = self.cartographer.draw
        self.runtime.every_tick(Systems(self.town, self.population, self.foreman, self.captain, setting).tick)

    def _note(self, entry: Entry) -> None:
        if self.runtime.trace.on:
            detail = (("kind", entry.kind), ("text", entry.text))
            self.runtime.trace.emit(TraceRecord(entry.tick, entry.who, "world", TraceEvent.NOTE, detail))


def _runtime(seed: int | str, host: str, think_budget: int, start_tick: int) -> Runtime:
    return Runtime(
        seed=seed,
        ticks_per_second=TICKS_PER_SECOND,
        start_tick=start_tick,
        host=host,
        think_budget=think_budget,
        translate=status_text,
    )
