"""The population: who lives in the colony, and how they come and go.

Four kinds of agents, told apart by the pack that they are given and by nothing else: hearthlings (with a pack
for each job), critters, wolves, turrets. An agent's entity is made by the town; when the entity is destroyed,
the agent leaves the runtime at the next intake.
"""

from __future__ import annotations

from typing import NamedTuple

from agentrt import Agent, Entity, Runtime
from agentrt_examples.colony.animals import Poser
from agentrt_examples.colony.bodies import FULL, Needs, Position, Traits
from agentrt_examples.colony.terrain import Cell
from agentrt_examples.colony.town import Town

__all__ = ["SETTLERS", "Population", "Settler"]


class Settler(NamedTuple):
    """A hearthling of the first day.

    Attributes:
        name: what it is called.
        job: the name of its pack.
        traits: what is peculiar to it.
    """

    name: str
    job: str
    traits: tuple[str, ...] = ()


SETTLERS = (
    Settler("Alva", "farmer"),
    Settler("Bruno", "farmer"),
    Settler("Cleo", "farmer"),
    Settler("Dagny", "cook"),
    Settler("Egon", "cook"),
    Settler("Fenja", "healer", ("healer",)),
    Settler("Gaspar", "artist", ("artist",)),
    Settler("Hilde", "artist", ("artist",)),
    Settler("Ivo", "laborer"),
)

_CRITTERS = (
    ("Pip", 95), ("Moss", 70), ("Thistle", 85), ("Bramble", 40), ("Clover", 60), ("Nib", 20), ("Dandelion", 75),
)  # fmt: skip
_CRITTER_PACE = 3
_WOLF_PACE = 2
_HEARTHLING_PACE = 3
_WOLVES_AT_FIRST = 2


class Population:
    """Everybody who acts.

    Args:
        town: where they live.
        runtime: what their agents run in.

    Attributes:
        agents: who is there, in the order of coming.
    """

    def __init__(self, town: Town, runtime: Runtime) -> None:
        self._town = town
        self._runtime = runtime
        self.agents: list[Agent] = []

    def settle(self) -> None:
        """Bring in those who are there on the first day."""
        homes = self._town.ground.marked("b")
        for number, settler in enumerate(SETTLERS):
            self.hearthling(settler, homes[number])
        meadow = [cell for cell in self._town.ground.marked(".") if cell[1] > 2]
        for name, photogenicity in _CRITTERS:
            self.critter(self._town.random.choice(meadow), name=name, photogenicity=photogenicity)
        for _ in range(_WOLVES_AT_FIRST):
            self.wolf()
        for cell in self._town.ground.marked("t"):
            self.turret(cell)

    def hearthling(self, settler: Settler, cell: Cell) -> Agent:
        """Bring in a hearthling.

        Args:
            settler: who it is.
            cell: where it stands.
        """
        entity = self._town.being(
            "hearthling", cell, name=settler.name, pace=_HEARTHLING_PACE, health=100, fears=("wolf", 5)
        )
        entity.add(Traits(*settler.traits))
        random = self._town.random
        entity[Needs].add(satiety=-random.between(0, FULL // 2), rest=-random.between(0, FULL // 3))
        self._town.census.put(entity, "prey")
        return self._join(entity, settler.job)

    def critter(self, cell: Cell, *, name: str | None = None, photogenicity: int = 50) -> Agent:
        """Bring in a critter.

        Args:
            cell: where it stands.
            name: what it is called; a number by default.
            photogenicity: how good it looks, from 0 to 100.
        """
        entity = self._town.being("critter", cell, name=name, pace=_CRITTER_PACE, health=30, fears=("wolf", 6))
        entity.add(Poser(photogenicity))
        entity[Needs].add(satiety=-self._town.random.between(0, FULL // 2))
        self._town.census.put(entity, "prey", "animal")
        return self._join(entity, "critter")

    def born_critter(self) -> None:
        """Have a critter born beside another one; nothing happens if there is none."""
        parents = self._town.census.find("critter")
        if parents:
            parent = self._town.random.choice(parents)
            agent = self.critter(parent[Position].location, photogenicity=self._town.random.between(10, 100))
            self._town.chronicle.note("critters born", agent.entity, f"was born to {parent.name}")

    def wolf(self) -> Agent:
        """Bring in a wolf over the edge of the world."""
        cell = self._town.random.choice(list(self._town.ground.edge()))
        entity = self._town.being("wolf", cell, pace=_WOLF_PACE, health=110)
        entity[Needs].add(satiety=-FULL // 2)
        agent = self._join(entity, "wolf")
        self._town.chronicle.note("wolves arrived", entity, "came out of the woods")
        return agent

    def turret(self, cell: Cell) -> Agent:
        """Build a turret.

        Args:
            cell: where it stands.
        """
        return self._join(self._town.being("turret", cell, health=1000, fears=("wolf", 7)), "turret")

    def _join(self, entity: Entity, pack: str) -> Agent:
        agent = Agent(entity, packs=[f"colony:ai_pack:{pack}"])
        self.agents.append(agent)
        self._runtime.add(agent)
        entity.destroyed.connect(lambda _gone: self._leave(agent))
        return agent

    def _leave(self, agent: Agent) -> None:
        if agent in self.agents:
            self.agents.remove(agent)
            self._runtime.remove(agent)
