"""What happens by itself: needs, growth, looking around, wolves at dusk, births."""

from __future__ import annotations

import pytest

from agentrt_examples.colony.bodies import Fear, Health, Needs, Position
from agentrt_examples.colony.captain import Captain
from agentrt_examples.colony.growing import Plot
from agentrt_examples.colony.harm import wound
from agentrt_examples.colony.population import Population
from agentrt_examples.colony.systems import Systems


@pytest.fixture
def lively(field):
    field.captain = Captain(field.town, field.foreman.watch)
    field.population = Population(field.town, field.runtime, field.captain)
    field.systems = Systems(field.town, field.population, field.foreman, field.captain)
    field.runtime.every_tick(field.systems.tick)
    return field


def test_needs_grow_with_time_and_sleep_mends(lively):
    ada = lively.person()
    lively.sim.tick(100)
    assert (ada[Needs].satiety, ada[Needs].rest) == (900, 940)
    ada[Needs].add(rest=-500)
    ada[Needs].asleep = True
    ada[Health].add(-10)
    lively.sim.tick(50)
    assert (ada[Needs].satiety, ada[Needs].rest, ada[Health].points) == (880, 740, 91)


def test_who_is_down_recovers_slowly(lively):
    ada = lively.person()
    wound(lively.town, ada, 100)
    lively.sim.tick(100)
    assert (ada[Health].points, ada[Health].is_down) == (20, False)
    assert lively.census.find("prey") == (ada,)


def test_crops_ripen_when_they_are_due(lively):
    entity = lively.town.entity("plot", (1, 1))
    plot = entity.add(Plot(entity, lively.census, "planted"))
    plot.due = 52
    lively.sim.tick(54)
    assert plot.state == "planted"
    lively.sim.tick(1)
    assert plot.state == "ripe"
    assert lively.counts == {"crops ripened": 1}


def test_looking_around_finds_the_nearest_first_and_keeps_watching_a_little_farther(lively):
    ada = lively.person((1, 1), fears=("wolf", 4))
    near, far = (lively.town.being("wolf", cell, pace=2) for cell in ((3, 1), (6, 1)))
    lively.sim.tick(3)
    assert ada[Fear].nearby == (near,)
    far[Position].place((2, 1))
    lively.sim.tick(3)
    assert ada[Fear].nearby == (far, near)
    far[Position].place((8, 1))
    near[Position].place((9, 1))
    lively.sim.tick(3)
    assert ada[Fear].nearby == (far,)  # seven steps are still watched, eight are not
    far.destroy()
    lively.sim.tick(3)
    assert ada[Fear].nearby == ()


def test_wolves_come_at_dusk_over_the_edge(lively):
    lively.sim.tick(599)
    assert lively.census.count("wolf") == 0
    lively.sim.tick(1)
    wolves = lively.census.find("wolf")
    assert len(wolves) == 4
    edge = list(lively.town.ground.edge())
    assert all(wolf[Position].location in edge for wolf in wolves)
    assert [agent.entity for agent in lively.population.agents] == list(wolves)


def test_critters_are_born_while_they_are_few(lively):
    lively.population.born_critter()
    assert lively.census.count("critter") == 0  # nobody is there to bear it
    lively.population.critter((1, 1), name="Pip")
    lively.sim.tick(200)
    assert lively.census.count("critter") == 2
    assert lively.counts["critters born"] == 1


def test_a_trader_buys_what_is_too_much_at_dawn(lively):
    pictures = [lively.town.item("picture", (1, 1)) for _ in range(16)]
    reserved = lively.leases.acquire(pictures[0], "somebody")
    lively.sim.tick(949)
    assert lively.census.count("picture") == 16
    lively.sim.tick(1)
    assert [picture.is_destroyed for picture in pictures] == [False, True, True, True] + [False] * 12
    assert lively.town.chronicle.entries[-1].text == "bought 3 of kind picture"
    assert reserved.is_held


def test_who_is_destroyed_leaves(lively):
    agent = lively.population.critter((1, 1), name="Pip")
    lively.sim.tick(5)
    agent.entity.destroy()
    assert lively.population.agents == []
    lively.sim.tick(2)
    assert lively.runtime.agents == ()
