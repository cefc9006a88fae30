"""Critters, wolves, turrets."""

from __future__ import annotations

from agentrt import Agent
from agentrt_examples import everything
from agentrt_examples.colony.animals import Poser
from agentrt_examples.colony.bodies import Fear, Health, Needs, Position
from agentrt_examples.colony.harm import STRUCK, wound
from agentrt_examples.colony.minds.wolves import selectors
from agentrt_examples.colony.quarry import Quarry


def critter(field, cell, name="Pip"):
    entity = field.town.being("critter", cell, name=name, pace=3, health=30, fears=("wolf", 6))
    entity.add(Poser(80))
    field.census.put(entity, "prey", "animal")
    field.sim.add(Agent(entity, registry=everything()))
    return entity


def wolf(field, cell, satiety=500):
    entity = field.town.being("wolf", cell, pace=2, health=110)
    entity[Needs].add(satiety=satiety - 1000)
    quarry = entity.add(Quarry())
    entity.signal(STRUCK).connect(lambda by: quarry.struck(by, field.runtime.tick))
    agent = field.sim.add(Agent(entity, registry=everything(), drivers=selectors()))
    entity.destroyed.connect(lambda _gone: field.runtime.remove(agent))
    return entity


def test_a_critter_poses_now_and_then_and_then_goes_on(field):
    pip = critter(field, (2, 1))
    told = []
    field.census.changed("animal").connect(lambda _value: told.append((field.runtime.tick, pip[Poser].is_ready)))
    field.sim.run_until(lambda: pip[Poser].is_ready, 420)
    field.sim.run_until(lambda: not pip[Poser].is_ready, 260)
    (began, _), (ended, _) = told
    assert [ready for _, ready in told] == [True, False]
    assert ended - began == 240


def test_a_critter_stands_still_while_it_is_drawn(field):
    pip = critter(field, (2, 1))
    field.sim.run_until(lambda: pip[Poser].is_ready, 420)
    pip[Poser].freeze()
    field.sim.tick(260)
    assert pip[Poser].is_ready
    pip[Poser].unfreeze()
    field.sim.tick(6)
    assert not pip[Poser].is_ready


def test_a_hungry_critter_grazes(field):
    pip = critter(field, (2, 1))
    pip[Needs].add(satiety=-500)
    field.sim.run_until(lambda: pip[Needs].satiety == 700, 100)


def test_a_critter_runs_from_a_wolf(field):
    pip = critter(field, (3, 1))
    beast = field.town.being("wolf", (1, 1), pace=2)
    field.sim.tick(5)
    pip[Fear].notice((beast,), 2)
    field.sim.tick(20)
    assert field.agent_of(pip).snapshot().running.endswith("FleeThreats")
    assert field.town.finder.distance(pip[Position].location, (1, 1)) > 4


def test_a_wolf_catches_a_critter_and_leaves_fed(field):
    pip = field.town.being("critter", (5, 1), name="Pip", pace=3, health=20)
    field.census.put(pip, "prey")
    beast = wolf(field, (1, 1))
    field.sim.run_until(lambda: pip.is_destroyed, 100)
    assert field.counts == {"bites": 1, "critters caught": 1}
    field.sim.run_until(lambda: beast.is_destroyed, 200)
    assert field.runtime.agents == () or field.sim.tick(2) is None
    assert field.runtime.agents == ()
    assert field.counts == {"bites": 1, "critters caught": 1}  # nobody drove it off


def test_a_wolf_leaves_those_alone_who_are_down(field):
    ada = field.person((5, 1))
    wound(field.town, ada, 100)
    wolf(field, (1, 1))
    field.sim.tick(60)
    assert "bites" not in field.counts


def test_prey_that_gets_away_is_no_failure(field):
    pip = field.town.being("critter", (9, 1), name="Pip", pace=3, health=20)
    field.census.put(pip, "prey")
    wolf(field, (1, 1))
    field.sim.tick(10)
    pip[Position].place((1, 8))  # beyond the water
    field.sim.tick(100)
    assert field.aborts() == []
    assert field.counts == {}


def test_a_hurt_wolf_is_driven_off(field):
    beast = wolf(field, (6, 6))
    field.sim.tick(3)
    wound(field.town, beast, 70)
    field.sim.run_until(lambda: beast.is_destroyed, 200)
    field.sim.tick(2)
    assert field.counts == {"wolves driven off": 1}
    assert field.runtime.agents == ()


def test_a_turret_shoots_what_it_sees_until_nothing_is_left(field):
    tower = field.town.being("turret", (1, 1), fears=("wolf", 7))
    field.sim.add(Agent(tower, registry=everything()))
    beast = field.town.being("wolf", (5, 1), pace=2, health=60)
    field.sim.tick(5)
    assert field.counts == {}
    tower[Fear].notice((beast,), 4)
    beast.destroyed.connect(lambda _gone: tower[Fear].notice((), 0))
    field.sim.run_until(lambda: beast.is_destroyed, 300)
    assert field.counts["wolves shot"] == 1
    shots = field.counts["shots fired"]
    field.sim.tick(60)
    assert field.counts["shots fired"] == shots


def test_what_was_shot_at_may_have_gone(field):
    tower = field.town.being("turret", (1, 1), fears=("wolf", 7))
    field.sim.add(Agent(tower, registry=everything()))
    beast = field.town.being("wolf", (5, 1), pace=2, health=60)
    tower[Fear].notice((beast,), 4)
    field.sim.tick(3)
    tower[Fear].notice((), 0)
    field.sim.tick(40)
    assert field.counts == {}
    assert beast[Health].points == 60
