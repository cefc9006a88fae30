"""Soldiers: a selection tree from XML, whose leaves switch packs and goals."""

from __future__ import annotations

import json

import pytest
from modules import load as load_module

from agentrt_examples.colony.acting import soldiers
from agentrt_examples.colony.bodies import Fear, Health, Needs, Position
from agentrt_examples.colony.captain import UNIT_CONTROL
from agentrt_examples.colony.daylight import DAWN, DUSK
from agentrt_examples.colony.harm import heal, wound
from agentrt_examples.colony.minds.perception import TREES
from agentrt_examples.colony.minds.soldiers import STANCES
from agentrt_examples.colony.models import driver_lines, models_of
from agentrt_examples.colony.saving import load, save

beside = load_module("tests/colony/test_tasks.py")
soldier = beside.soldier


def beast_at(field, cell, health=110):
    entity = field.town.being("wolf", cell, pace=2, health=health)
    entity.entity_data = {}
    return entity


def stance(field, agent):
    return field.captain.senses[agent].state.behavior


def knows(agent, action):
    return action in agent.actions


def stances(field):
    """Which stances were taken, in order."""
    return [
        (tick, path.rpartition("/")[2])
        for tick, _, path, _ in field.sim.events("activate")
        if path.startswith("stance")
    ]


@pytest.mark.states("colony: Other models: Soldiers choose by a tree from XML with blocks in a file of their own ...")
def test_every_leaf_of_every_tree_means_something():
    assert TREES.problems == ()
    assert TREES["Soldier"].missing(STANCES) == ()
    assert TREES["Possessed"].behaviors == ("Afraid", "Wolf", "Dancers", "Himself")


@pytest.mark.states(
    "colony: Other models: Soldiers choose by a tree from XML with blocks in a file of their own, Refs and leaf "
    "translations",
    source="004 whole",
)
@pytest.mark.parametrize(
    ("variables", "chosen"),
    [
        ((), "OffDuty"),
        (("OnWatch",), "Watch"),
        (("WolvesAbout",), "Attack"),
        (("WolvesAbout", "WolfNear"), "Attack"),
        (("WolvesAbout", "OnWatch"), "HoldPost"),
        (("WolvesAbout", "OnWatch", "WolfNear"), "Attack"),
        (("WolvesAbout", "OnWatch", "BadlyHurt"), "Retreat"),
        (("BadlyHurt",), "Retreat"),
    ],
)
def test_what_a_soldier_chooses(variables, chosen):
    assert TREES["Soldier"].select(**dict.fromkeys(variables, True)) == chosen


@pytest.mark.states("colony: Other models: Leaves switch packs and drivers (ours)", source="design section 3, Bridges")
def test_a_stance_is_what_a_soldier_can_do(commanded):
    agent = soldier(commanded)
    commanded.sim.tick(2)
    assert stance(commanded, agent) == "OffDuty"
    assert not knows(agent, soldiers.Attack)
    beast = beast_at(commanded, (11, 1))
    commanded.sim.tick(6)
    assert stance(commanded, agent) == "Attack"
    assert knows(agent, soldiers.Attack)
    assert knows(agent, soldiers.StandFast)
    beast.destroy()
    commanded.sim.tick(7)
    assert stance(commanded, agent) == "OffDuty"
    assert not knows(agent, soldiers.Attack)
    assert not knows(agent, soldiers.StandFast)
    assert [leaf for _, leaf in stances(commanded)] == ["OffDuty", "Attack", "OffDuty"]


@pytest.mark.states(
    "colony: Other models: Signals come from perception and from outside",
    source="004 Signal Variables",
)
def test_who_is_badly_hurt_retreats_until_it_is_well(commanded):
    agent = soldier(commanded)
    beast = beast_at(commanded, (6, 1))
    agent.entity[Fear].notice((beast,), 5)
    commanded.sim.tick(7)
    assert stance(commanded, agent) == "Attack"
    wound(commanded.town, agent.entity, 70)
    commanded.sim.tick(2)
    assert stance(commanded, agent) == "Retreat"
    assert not knows(agent, soldiers.StandFast)
    assert "FleeThreats" in agent.snapshot().running
    heal(commanded.town, agent.entity, 20)
    commanded.sim.tick(2)
    assert stance(commanded, agent) == "Retreat"
    heal(commanded.town, agent.entity, 40)
    commanded.sim.tick(2)
    assert stance(commanded, agent) == "Attack"


@pytest.mark.states("colony: Other models: Leaves switch packs and drivers (ours) ...")
def test_who_is_on_watch_holds_its_post_and_strikes_who_comes_near(commanded):
    agent = soldier(commanded)
    commanded.sim.tick(2)
    task = commanded.captain.order_watch(agent, (6, 1))
    commanded.sim.run_until(lambda: agent.status_text == "agentrt:status.waiting", 120)
    beast = beast_at(commanded, (11, 6), health=10)
    commanded.sim.tick(8)
    assert stance(commanded, agent) == "HoldPost"
    assert task.workers == (agent.name,)  # the watch goes on as if nothing was
    assert models_of(agent.snapshot()) == "PSG"
    beast[Position].place((7, 1))
    agent.entity[Fear].nearby = (beast,)  # seen, but the alarm was not raised: it strikes back from where it stands
    commanded.sim.run_until(lambda: beast.is_destroyed, 60)
    assert agent.entity[Position].location == (6, 1)
    assert commanded.counts["wolves slain"] == 1
    commanded.sim.tick(8)
    assert stance(commanded, agent) == "Watch"
    assert models_of(agent.snapshot()) == "PS"
    assert task.workers == (agent.name,)


def test_a_wolf_that_is_near_is_worth_leaving_the_post(commanded):
    agent = soldier(commanded)
    commanded.sim.tick(2)
    task = commanded.captain.order_watch(agent, (6, 1))
    commanded.sim.run_until(lambda: agent.status_text == "agentrt:status.waiting", 120)
    beast = beast_at(commanded, (9, 1))
    agent.entity[Fear].notice((beast,), 3)
    commanded.sim.tick(8)
    assert stance(commanded, agent) == "Attack"
    assert not task.is_over
    beast.destroy()
    agent.entity[Fear].notice((), 0)
    commanded.sim.run_until(lambda: task.workers == (agent.name,), 60)
    commanded.sim.run_until(lambda: stance(commanded, agent) == "Watch", 5)  # when the captain looks again
    assert task.workers == (agent.name,)
    commanded.runtime.clock.tick = DAWN - 1
    commanded.sim.tick(3)
    assert stance(commanded, agent) == "OffDuty"


def test_a_watch_that_was_broken_off_is_over_at_dawn(commanded):
    agent = soldier(commanded)
    commanded.sim.tick(2)
    commanded.runtime.clock.tick = DAWN - 10
    task = commanded.captain.order_watch(agent, (6, 1))
    beast = beast_at(commanded, (9, 1))
    agent.entity[Fear].notice((beast,), 3)
    commanded.sim.tick(13)
    assert task.is_over
    assert commanded.counts.get("watches kept", 0) == 0
    assert agent.get_task_group(UNIT_CONTROL).tasks == ()


def test_who_is_no_soldier_any_more_has_no_stance(commanded):
    agent = soldier(commanded)
    beast_at(commanded, (11, 1))
    commanded.sim.tick(7)
    assert models_of(agent.snapshot()) == "PS"
    commanded.population.employ(agent, "farmer")
    commanded.sim.tick(3)
    assert models_of(agent.snapshot()) == "P"
    assert not knows(agent, soldiers.Attack)
    assert (commanded.captain.soldiers, commanded.captain.senses) == ([], {})
    assert commanded.captain.party.members == ()
    commanded.captain.dismiss(agent)  # it is none: nothing happens
    commanded.population.employ(agent, "soldier")
    commanded.sim.tick(3)
    assert stance(commanded, agent) == "Attack"  # there are wolves, and it is told


def test_what_is_seen_of_a_soldier(commanded):
    agent = soldier(commanded)
    commanded.sim.tick(2)
    assert list(driver_lines(agent.snapshot())) == ["S stance: OffDuty"]


@pytest.mark.states("colony: Other models: What models decide by survives saving: grudges, stimuli, variables ...")
@pytest.mark.slow
def test_stances_survive_saving(colony):
    colony.runtime.clock.tick = DUSK - 1
    for _ in range(3):
        colony.runtime.step()
    (jorun,) = [agent for agent in colony.captain.soldiers if agent.name == "Jorun"]
    wound(colony.town, jorun.entity, 70)
    colony.runtime.step()
    saved = json.loads(json.dumps(save(colony)))
    other = load(saved)
    assert save(other)["beings"] == saved["beings"]
    for _ in range(2):
        other.runtime.step()
    stances = {agent.name: other.captain.senses[agent].state.behavior for agent in other.captain.soldiers}
    assert stances["Jorun"] == "Retreat"
    assert stances["Kaspar"] in ("HoldPost", "Attack")
    again = next(agent for agent in other.captain.soldiers if agent.name == "Jorun")
    assert [injection.source for injection in again.injections if "stance" in injection.source] == []
    heal(other.town, again.entity, 60)
    again.entity[Needs].add(rest=1000)
    other.runtime.step()
    assert other.captain.senses[again].state.behavior != "Retreat"
    assert again.entity[Health].points > 70
    other.runtime.close()
