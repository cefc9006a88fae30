"""What happens by itself: needs, growth, looking around, wolves at dusk, births."""

from __future__ import annotations

import pytest

from agentrt_examples.colony.bodies import Fear, Health, Needs, Position
from agentrt_examples.colony.captain import Captain
from agentrt_examples.colony.daylight import DAWN
from agentrt_examples.colony.growing import Plot
from agentrt_examples.colony.harm import wound
from agentrt_examples.colony.nests import HATCHING, Nest
from agentrt_examples.colony.population import Population
from agentrt_examples.colony.quarry import Quarry
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


# --- nests ------------------------------------------------------------------------------------------------------------


def test_a_nest_gets_an_egg_at_dawn_while_there_is_room(lively):
    nest = lively.town.nest((1, 1))
    for due in (5000, 6000):
        nest[Nest].lay(due)
    for _ in range(2):
        lively.population.drake(nest)
    lively.runtime.clock.tick = DAWN - 1
    lively.sim.tick(1)
    assert nest[Nest].eggs == [5000, 6000, DAWN + HATCHING]
    lively.runtime.clock.tick = 1000 + DAWN - 1
    lively.sim.tick(1)
    assert (len(nest[Nest].eggs), lively.counts["eggs laid"]) == (3, 1)


def test_an_egg_hatches_in_the_place_of_a_drake_that_died(lively):
    nest = lively.town.nest((1, 1))
    nest[Nest].lay(100)
    one, other = (lively.population.drake(nest) for _ in range(2))
    lively.sim.tick(120)
    assert nest[Nest].eggs == [100]
    wound(lively.town, one.entity, 200)
    lively.sim.tick(20)
    assert nest[Nest].eggs == []
    assert nest[Nest].kin[0] is other.entity
    young = nest[Nest].kin[1]
    assert (young[Position].location, lively.counts["eggs hatched"]) == ((1, 1), 1)
    assert [agent.entity for agent in lively.population.agents] == [other.entity, young]


def test_a_nest_that_lost_everybody_gets_a_drake_from_the_woods(lively):
    nest = lively.town.nest((1, 1))
    lively.runtime.clock.tick = DAWN - 1
    lively.sim.tick(1)
    (drake,) = nest[Nest].kin
    assert drake[Position].location in list(lively.town.ground.edge())
    assert lively.counts == {"drakes arrived": 1}


def test_a_wolf_and_a_drake_fight_over_the_eggs(lively):
    nest = lively.town.nest((6, 1))
    nest[Nest].lay(5000)
    drake = lively.population.drake(nest)
    drake.entity[Needs].add(satiety=1000)
    wolf = lively.population.wolf().entity
    wolf[Position].place((9, 1))
    lively.sim.run_until(lambda: lively.counts.get("wolves bitten"), 200)
    lively.sim.run_until(lambda: wolf.is_destroyed or lively.counts.get("wolves bitten", 0) > 1, 400)
    assert wolf.is_destroyed or wolf[Quarry].enemy is drake.entity
