"""The population: who lives in the colony, and how they come and go.

Six kinds of agents, told apart by the packs that their entities list and by nothing else: hearthlings, critters, pets,
wolves, drakes, turrets. What a hearthling knows besides comes from its job: abilities, and places in the task groups of
the town. What a pet knows besides comes from its collar. An agent's entity is made by the town; when the entity is
destroyed, the agent leaves the runtime at the next intake.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from agentrt import Agent, Entity, Runtime
from agentrt.behavior import Stimuli
from agentrt.body import Driver
from agentrt.tasks import Job
from agentrt_examples import everything
from agentrt_examples.colony.animals import Poser
from agentrt_examples.colony.bodies import FULL, Loyalty, Needs, Position, Traits
from agentrt_examples.colony.captain import Captain
from agentrt_examples.colony.harm import STRUCK
from agentrt_examples.colony.jobs import COLLAR, JOBS
from agentrt_examples.colony.minds import drakes, wolves
from agentrt_examples.colony.minds.drake_senses import SMART, Sense
from agentrt_examples.colony.minds.possessed import POSSESSED, Possession
from agentrt_examples.colony.nests import Kin, Nest
from agentrt_examples.colony.offers import offers
from agentrt_examples.colony.quarry import Quarry
from agentrt_examples.colony.setting import Setting
from agentrt_examples.colony.terrain import Cell
from agentrt_examples.colony.town import Town

__all__ = ["SETTLERS", "Population", "Settler"]


class Settler(NamedTuple):
    """A hearthling of the first day.

    Attributes:
        name: what it is called.
        job: the name of its job.
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
    Settler("Ivo", "laborer", (POSSESSED,)),
    Settler("Jorun", "soldier", ("brave",)),
    Settler("Kaspar", "soldier", ("brave",)),
)
"""Who comes on the first day of a colony of the default setting."""

_MORE_SOLDIERS = tuple(Settler(name, "soldier", ("brave",)) for name in ("Lova", "Magnus", "Nanna", "Odd"))

_CRITTERS = (
    ("Pip", 95), ("Moss", 70), ("Thistle", 85), ("Bramble", 40), ("Clover", 60), ("Dandelion", 75),
)  # fmt: skip


class _Body(NamedTuple):
    pace: int
    health: int
    fears: tuple[str, int] | None
    tags: tuple[str, ...]


_BODIES: dict[str, _Body] = {
    "hearthling": _Body(3, 100, ("wolf", 5), ("prey",)),
    "critter": _Body(3, 30, ("wolf", 6), ("prey", "animal")),
    "pet": _Body(3, 60, ("wolf", 6), ()),
    "wolf": _Body(2, 110, None, ()),
    "drake": _Body(2, 140, ("wolf", 8), ()),
    "turret": _Body(0, 1000, ("wolf", 7), ()),
}

_PET = "Rufus"
_OWNER = "Ivo"


class Population:
    """Everybody who acts.

    Args:
        town: where they live.
        runtime: what their agents run in.
        captain: who commands the soldiers.
        setting: how many there are at first, and how they are.

    Attributes:
        agents: who is there, in the order of coming.
        jobs: what each hearthling works as: what it got with its job.
        possessions: those who are possessed, and by what.
    """

    def __init__(self, town: Town, runtime: Runtime, captain: Captain, setting: Setting | None = None) -> None:
        self._town = town
        self._runtime = runtime
        self._captain = captain
        self._setting = Setting() if setting is None else setting
        self.agents: list[Agent] = []
        self.jobs: dict[Agent, Job] = {}
        self.possessions: dict[Agent, Possession] = {}

    def settle(self) -> None:
        """Bring in those who are there on the first day."""
        ground = self._town.ground
        parts = len(ground.parts)
        setting = self._setting
        homes = ground.marked("b")
        meadow = [cell for cell in ground.marked(".") if cell[1] > 2]
        for part in range(parts):
            beds = homes[part * len(homes) // parts : (part + 1) * len(homes) // parts]
            for settler, home in zip(_settlers(setting), itertools.cycle(beds), strict=False):  # some may share a bed
                agent = self.hearthling(settler, home)
                if settler.name == _OWNER:
                    self.pet(home, agent.entity)
            for name, photogenicity in _CRITTERS[: setting.critters]:
                self.critter(self._town.random.choice(meadow), name=name, photogenicity=photogenicity)
            for _ in range(setting.wolves):
                self.wolf()
        for cell in ground.marked("t"):
            self.turret(cell)
        for nest in self._town.census.find("nest"):
            for _ in range(setting.drakes):
                self.drake(nest)

    def hearthling(self, settler: Settler, cell: Cell) -> Agent:
        """Bring in a hearthling.

        Args:
            settler: who it is.
            cell: where it stands.
        """
        entity = self.body("hearthling", cell, settler.name)
        entity.add(Traits(*settler.traits, home=cell))
        random = self._town.random
        entity[Needs].add(satiety=-random.between(0, FULL // 2), rest=-random.between(0, FULL // 3))
        agent = self.join(entity)
        self.employ(agent, settler.job)
        return agent

    def employ(self, agent: Agent, job: str) -> None:
        """Give a hearthling another job; it loses the one that it had.

        Args:
            agent: the hearthling's.
            job: the name of the job.
        """
        before = self.jobs.pop(agent, None)
        if before is not None:
            before.end()
            self._captain.dismiss(agent)
        self.jobs[agent] = self._town.groups.employ(agent, JOBS[job])
        if job == "soldier":
            self._captain.enlist(agent)
        self._setting.tune(agent)  # of what it has learned with the job

    def pet(self, cell: Cell, owner: Entity) -> Agent:
        """Bring in a pet, with a collar.

        Args:
            cell: where it stands.
            owner: to whom it belongs.
        """
        entity = self.body("pet", cell, _PET)
        entity.add(Loyalty(owner))
        return self.join(entity)

    def critter(self, cell: Cell, *, name: str | None = None, photogenicity: int = 50) -> Agent:
        """Bring in a critter.

        Args:
            cell: where it stands.
            name: what it is called; a number by default.
            photogenicity: how good it looks, from 0 to 100.
        """
        entity = self.body("critter", cell, name or "")
        entity.add(Poser(photogenicity))
        entity[Needs].add(satiety=-self._town.random.between(0, FULL // 2))
        return self.join(entity)

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
        entity = self.body("wolf", cell)
        entity[Needs].add(satiety=-FULL // 2)
        agent = self.join(entity)
        self._town.chronicle.note("wolves arrived", entity, "came out of the woods")
        return agent

    def drake(self, nest: Entity, cell: Cell | None = None) -> Agent:
        """Bring in a drake.

        Args:
            nest: to which nest it belongs.
            cell: where it stands; by default in the nest.
        """
        entity = self.body("drake", nest[Position].location if cell is None else cell)
        entity[Needs].add(satiety=-self._town.random.between(0, FULL // 4))
        self.bind(entity, nest)
        return self.join(entity)

    def bind(self, drake: Entity, nest: Entity) -> None:
        """Have a drake belong to a nest.

        Args:
            drake: who; it has no nest yet.
            nest: which.
        """
        drake.add(Kin(nest))
        nest[Nest].adopt(drake)

    def turret(self, cell: Cell) -> Agent:
        """Build a turret.

        Args:
            cell: where it stands.
        """
        return self.join(self.body("turret", cell))

    def body(self, kind: str, cell: Cell, name: str = "", number: int = 0) -> Entity:
        """Make the body of a being.

        Args:
            kind: what it is.
            cell: where it stands.
            name: what it is called; the kind and its number by default.
            number: its number; the next one by default.
        """
        pace, health, fears, tags = _BODIES[kind]
        if kind == "wolf":
            health = self._setting.wolf_health
        entity = self._town.being(kind, cell, name=name, pace=pace, health=health, fears=fears, number=number)
        self._town.census.put(entity, *tags)
        if kind == "wolf":
            quarry = entity.add(Quarry())
            entity.signal(STRUCK).connect(lambda by: quarry.struck(by, self._town.clock.tick))
        elif kind == "drake":
            stimuli = entity.add(Stimuli())
            entity.signal(STRUCK).connect(lambda by: stimuli.add(Sense.HIT, by, timeout=SMART))
        return entity

    def join(self, entity: Entity, name: str | None = None) -> Agent:
        """Make the agent of a being, with the models of its kind; it knows the packs that the being's data list.

        A pet is given its collar.

        Args:
            entity: the being.
            name: what the agent is called; as the entity by default.
        """
        agent = Agent(entity, name=name, registry=everything(), drivers=_drivers(entity))
        agent.values = lambda: offers(entity)
        if entity.kind == "pet":
            agent.inject_from(COLLAR)
        self.agents.append(agent)
        self._runtime.add(agent)
        self._setting.tune(agent)
        traits = entity.get(Traits)
        if traits is not None and POSSESSED in traits:
            self.possessions[agent] = Possession(agent)
        entity.destroyed.connect(lambda _gone: self._leave(agent))
        return agent

    def _leave(self, agent: Agent) -> None:
        if agent in self.agents:
            self.agents.remove(agent)
            self.jobs.pop(agent, None)
            self.possessions.pop(agent, None)
            self._captain.dismiss(agent)
            self._runtime.remove(agent)


def _settlers(setting: Setting) -> tuple[Settler, ...]:
    soldiers = (*(one for one in SETTLERS if one.job == "soldier"), *_MORE_SOLDIERS)
    others = tuple(one for one in SETTLERS if one.job != "soldier")
    return (*others[: setting.hearthlings], *soldiers[: setting.soldiers])


def _drivers(entity: Entity) -> tuple[Driver, ...]:
    """The models that drive a being besides its plan, by its kind."""
    if entity.kind == "wolf":
        return wolves.selectors()
    return (drakes.mind(entity),) if entity.kind == "drake" else ()
