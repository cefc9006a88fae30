"""Small towns for tests: a meadow without furniture, and the whole colony."""

from __future__ import annotations

import pytest

from agentrt import Agent, Runtime
from agentrt.testing import Simulation
from agentrt_examples import everything
from agentrt_examples.colony.bodies import Traits
from agentrt_examples.colony.captain import Captain
from agentrt_examples.colony.colony import Colony
from agentrt_examples.colony.foreman import Foreman
from agentrt_examples.colony.jobs import JOBS
from agentrt_examples.colony.population import Population
from agentrt_examples.colony.terrain import Ground
from agentrt_examples.colony.town import Town

MEADOW = """\
............
............
....####....
....#..#....
....#..+....
....####....
............
~~~~~~~~~~~~
............
"""


class Field:
    """A town on an empty meadow, with a runtime that a test steps."""

    def __init__(self, chart=MEADOW):
        self.runtime = Runtime(seed=3, host="plain")
        self.sim = Simulation(runtime=self.runtime)
        self.town = Town(
            self.runtime, self.runtime.leases, self.runtime.stream("world"), furnish=False, ground=Ground(chart)
        )
        self.foreman = Foreman(self.town)
        self.runtime.every_tick(self.town.effects.end_due)
        self.runtime.every_tick(self.foreman.tick)

    @property
    def census(self):
        return self.town.census

    @property
    def leases(self):
        return self.runtime.leases

    @property
    def counts(self):
        return {kind: count for kind, count in self.town.chronicle.counts.items() if count}

    def person(self, cell=(1, 1), *, name="Ada", traits=(), job=None, actions=(), fears=("wolf", 5)):
        entity = self.town.being("hearthling", cell, name=name, pace=3, fears=fears)
        entity.add(Traits(*traits))
        self.census.put(entity, "prey")
        if job:
            agent = self.sim.add(Agent(entity, registry=everything()))
            self.town.groups.employ(agent, JOBS[job])
        elif actions:
            entity.entity_data = {}
            self.sim.add(Agent(entity, registry=everything(), actions=list(actions)))
        return entity

    def join(self, entity):
        return self.sim.add(Agent(entity, registry=everything()))

    def employ(self, entity, job):
        return self.town.groups.employ(self.agent_of(entity), JOBS[job])

    def agent_of(self, entity):
        return next(agent for agent in self.runtime.agents if agent.entity is entity)

    def aborts(self):
        return [dict(record.detail)["reason"] for record in self.sim.trace if record.event == "abort"]


@pytest.fixture
def field():
    made = Field()
    yield made
    made.sim.close()


@pytest.fixture
def colony():
    made = Colony(seed=7)
    yield made
    made.runtime.close()


@pytest.fixture
def commanded(field):
    """The field with a captain, and people who may be commanded."""
    field.captain = Captain(field.town, field.foreman.watch)
    field.population = Population(field.town, field.runtime, field.captain)
    field.runtime.every_tick(field.captain.tick)
    return field
