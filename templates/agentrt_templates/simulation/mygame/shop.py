"""The shop itself, and what is measured in it. Times are in game seconds."""

from __future__ import annotations

from dataclasses import dataclass, field

import agentrt as art

MEAN_GAP = 12.0  # between two customers


@dataclass
class Measures:
    """What is measured."""

    waited: list[float] = field(default_factory=list)  # of each who was served: how long it stood in line
    lost: int = 0  # who left unserved

    @property
    def served(self) -> int:
        """How many were served."""
        return len(self.waited)

    @property
    def mean_wait(self) -> float:
        """How long they waited on average."""
        return sum(self.waited) / len(self.waited) if self.waited else 0.0


class Somebody(art.Entity):
    """A clerk or a customer."""

    def __init__(self, kind: str, shop: Shop, *, name: str) -> None:
        super().__init__(kind, name=name)
        self.shop = shop
        self.turn = art.Event()  # of a customer: it is served now


class Shop:
    """A line, and who stands in it."""

    def __init__(self, runtime: art.Runtime, registry: art.Registry) -> None:
        self.runtime = runtime
        self.line: list[Somebody] = []
        self.changed = art.Condition()  # of the line
        self.measures = Measures()
        self._registry = registry
        self._chance = runtime.stream("customers")

    def enter(self, kind: str, name: str) -> art.Agent[Somebody]:
        """Let somebody come in."""
        body = Somebody(kind, self, name=name)
        return self.runtime.add(art.Agent(body, packs=[f"mygame:ai_pack:{kind}"], registry=self._registry))

    async def customers_come(self) -> None:
        """A coroutine of the world's own: it belongs to no agent."""
        number = 0
        while True:
            await art.sleep(self._chance.uniform(0, 2 * MEAN_GAP))
            number += 1
            self.enter("customer", f"customer {number}")
