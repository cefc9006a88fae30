"""The rarer features of the library, each at work somewhere in the colony.

Limits to thinking and choosing again, backpacks, seats, frames of an action's own, rounds, company, protection.
"""

from __future__ import annotations

import json

import pytest
from modules import load as load_module

from agentrt_actions import Carrier, FindPathToEntity, FollowPath, RunEffect
from agentrt_examples.colony.acting import evenings, painting, top
from agentrt_examples.colony.acting.soldiers import posts
from agentrt_examples.colony.bodies import Loyalty, Needs, Position, Traits
from agentrt_examples.colony.captain import Captain
from agentrt_examples.colony.daylight import DAWN, DUSK
from agentrt_examples.colony.goods import Backpack, Goods, Shelf
from agentrt_examples.colony.harm import wound
from agentrt_examples.colony.jobs import COLLAR
from agentrt_examples.colony.saving import load, save
from tests.colony.conftest import Field

beside = load_module("tests/colony/test_hearthlings.py")
pose = beside.pose
rabbit = beside.rabbit
shelf = beside.shelf

TWO_TOWERS = """\
............
..t......t..
............
............
"""


def told(field, *events, agent="Ada"):
    """The trace of somebody: (tick, the last part of the path, the first thing that the record tells)."""
    return [
        (record.tick, record.path.rpartition("/")[2], next(iter(dict(record.detail).values()), None))
        for record in field.sim.trace
        if record.event.value in events and record.agent == agent
    ]


# --- thinking that takes too long, and choosing again -----------------------------------------------------------------


def painter(field):
    """Somebody who does nothing but look for something to paint."""
    return field.person(
        actions=[
            top.FreeTime, painting.FindAndPaintSubject, painting.FindWillingPaintingSubject, painting.DrawAnimal,
            FindPathToEntity, FollowPath, RunEffect,
        ],
    )  # fmt: skip


@pytest.mark.states(
    "001: In the colony: A step's think timeout rejects, and `on_reject` offers another choice (ours)",
    source="AI contexts",
)
def test_whoever_does_not_pose_within_six_seconds_is_given_up_for_another_animal(field):
    rabbit(field, (6, 1))
    moss = rabbit(field, (8, 1), 60)
    painter(field)
    field.sim.tick(123)
    assert told(field, "timeout") == [(122, "colony:paint", 6.0)]
    # None is ready to pose: it waits for the more photogenic one, until ``on_reject`` offers the other.
    assert [entry for entry in told(field, "utility") if entry[1] == "DrawAnimal"] == [
        (1, "DrawAnimal", 0.36),
        (122, "DrawAnimal", 0.32),
    ]
    pose(field, moss)
    field.sim.run_until(lambda: field.counts == {"pictures painted": 1}, 120)


# --- backpacks --------------------------------------------------------------------------------------------------------


def has_packed(entity):
    pack = entity.get(Backpack)
    return pack is not None and bool(pack.items)


@pytest.mark.states("001: In the colony: CURRENT.storage in use", source="Step declarations")
def test_a_laborer_brings_two_turnips_at_once(field):
    shelves = [shelf(field, (9, 1), "turnip"), shelf(field, (10, 1), "turnip")]
    near, far = field.town.item("turnip", (3, 1)), field.town.item("turnip", (6, 1))
    ada = field.person((1, 1), job="laborer")
    field.sim.run_until(lambda: has_packed(ada), 60)
    assert ada[Backpack].items == {near.id: near}
    assert (near[Goods].held_by, ada[Carrier].carrying) == (ada[Backpack], None)
    field.sim.run_until(lambda: all(one[Shelf].items for one in shelves), 120)
    assert [one[Shelf].items for one in shelves] == [[far], [near]]
    assert (ada[Backpack].items, field.counts) == ({}, {"items stored": 2})
    assert field.aborts() == []


def test_what_is_in_the_backpack_is_laid_down_when_the_job_is_lost(field):
    shelf(field, (9, 1), "turnip")
    shelf(field, (10, 1), "turnip")
    turnip = field.town.item("turnip", (3, 1))
    field.town.item("turnip", (10, 2))
    ada = field.town.being("hearthling", (1, 1), name="Ada", pace=3, fears=("wolf", 5))
    ada.add(Traits())
    field.join(ada)
    job = field.employ(ada, "laborer")
    field.sim.run_until(lambda: has_packed(ada), 60)
    job.end()
    field.sim.tick(3)
    assert ada.get(Backpack) is None
    assert field.census.has(turnip, "loose:turnip")
    assert (turnip[Goods].held_by, turnip[Position].location) == (None, ada[Position].location)


def test_a_backpack_takes_what_fits_and_gives_what_it_has(field):
    ada = field.person()
    pack = ada.add(Backpack(ada, room=1))
    one, other = field.town.item("turnip", (1, 1)), field.town.item("turnip", (1, 1))
    hands = ada[Carrier]
    assert not pack.stow()  # nothing is held
    assert hands.pick_up(one)
    assert pack.stow()
    assert not hands.pick_up(one)  # it is in the backpack
    assert hands.pick_up(other)
    assert (pack.full, pack.stow(), pack.unpack(one)) == (True, False, False)
    hands.put_down()
    assert pack.unpack(one)
    assert (hands.carrying, pack.items) == (one, {})


# --- the fire ---------------------------------------------------------------------------------------------------------


def evening(field):
    """A fire that burns."""
    fire = field.town.fire((9, 1))
    field.runtime.clock.tick = DUSK
    field.town.tend_fires()
    return fire


@pytest.mark.states("001: In the colony: CURRENT.self_region_reserved in use", source="Step declarations")
def test_six_sit_around_a_fire_and_the_seventh_does_not(field):
    evening(field)
    people = [field.person((1, 1), name=f"P{number}", job="cook") for number in range(7)]
    field.sim.tick(60)
    cells = [one[Position].location for one in people]
    seats = {(8, 0), (9, 0), (10, 0), (8, 2), (9, 2), (10, 2)}
    assert seats <= set(cells)
    assert sum(cell in seats for cell in cells) == 6


def test_a_fire_burns_from_dusk_till_dawn(field):
    fire = field.town.fire((9, 1))
    burns = {}
    for tick in (0, DUSK - 1, DUSK, DAWN - 1, DAWN):
        field.runtime.clock.tick = tick
        field.town.tend_fires()
        burns[tick] = field.census.has(fire, "fire")
    assert burns == {0: False, DUSK - 1: False, DUSK: True, DAWN - 1: True, DAWN: False}


@pytest.mark.states(
    "001: In the colony: spawn compares two activities and runs the better; debug datastore and log tell why",
    source="AI contexts",
)
@pytest.mark.parametrize(
    ("thoughts", "chosen", "worth", "counts"),
    [
        (0, "colony:sing", {"tell_story": 0.0, "sing": 1 / 6}, {"songs sung": 1}),
        (2, "colony:tell_story", {"tell_story": 0.4, "sing": 1 / 6}, {"stories told": 1}),
    ],
)
def test_a_story_and_a_song_are_compared(field, monkeypatch, thoughts, chosen, worth, counts):
    data = []
    logged = []

    class Log:
        def debug(self, event, **values):
            logged.append((event, values))

    plain = evenings.EnjoyFire.run

    async def run(self, ctx, args):
        data.append(ctx.get_debug_info_datastore())
        await plain(self, ctx, args)

    monkeypatch.setattr(evenings.EnjoyFire, "run", run)
    monkeypatch.setattr("agentrt.agent.logs.get_logger", lambda **bound: Log())
    evening(field)
    ada = field.person((7, 1), job="cook")
    for _ in range(thoughts):
        ada[Traits].add_thought("slept well")
    field.sim.run_until(lambda: field.counts, 100)
    assert field.counts == counts
    assert data[0] == {**worth, "chosen": chosen}
    assert logged[0] == ("an evening by the fire", {"chosen": chosen, **worth})


# --- soldiers, pets, healers ------------------------------------------------------------------------------------------


@pytest.mark.states("001: In the colony: get_parent_node tells where an action is performed", source="AI contexts")
def test_a_watch_begins_with_a_round_between_the_towers():
    field = Field(TWO_TOWERS)
    jorun = field.person((1, 1), name="Jorun", job="soldier")
    agent = field.agent_of(jorun)
    captain = Captain(field.town, field.foreman.watch)
    captain.enlist(agent)
    here, there = posts(field.town)
    seen = []
    jorun[Position].moved.connect(seen.append)
    field.runtime.clock.tick = DUSK
    field.sim.tick(2)
    captain.order_watch(agent, here)
    field.sim.run_until(lambda: agent.status_text == "agentrt:status.patrolling", 20)
    field.sim.run_until(lambda: agent.status_text == "colony:status.humming", 200)
    assert there in seen
    assert jorun[Position].location == here
    field.sim.run_until(lambda: agent.status_text == "agentrt:status.waiting", 60)
    assert field.counts == {}  # a song that is hummed on watch is none by the fire
    field.sim.close()


def test_a_pet_that_found_its_owner_stays_near_for_a_while(field):
    owner = field.person((11, 6))
    rufus = field.town.being("pet", (1, 1), name="Rufus", pace=3, health=60, fears=("wolf", 6))
    rufus.add(Loyalty(owner))
    agent = field.join(rufus)
    agent.inject_from(COLLAR)
    field.sim.tick(2)
    rufus[Needs].add(satiety=-10)
    field.sim.run_until(lambda: agent.status_text == "agentrt:status.following", 200)
    owner[Position].place((11, 0))
    field.sim.tick(40)
    assert field.town.finder.distance(rufus[Position].location, (11, 0)) <= 2


def test_without_the_herb_there_is_no_healing(field):
    herb = field.town.item("herb", (9, 1))
    bob = field.person((6, 6), name="Bob")
    fenja = field.person((1, 1), name="Fenja", traits=("healer",), job="healer")
    agent = field.agent_of(fenja)
    wound(field.town, bob, 60)
    field.sim.run_until(lambda: "FollowPath" in agent.snapshot().running, 60)
    herb[Goods].use_up(herb)
    field.sim.tick(2)
    assert field.aborts()[0].startswith("the entity herb 1 was destroyed")
    assert "HealOther" not in agent.snapshot().running


# --- tomorrow ---------------------------------------------------------------------------------------------------------


def test_fires_and_backpacks_survive_saving(colony):
    colony.runtime.clock.tick = DUSK - 1
    colony.runtime.step()
    agent = next(agent for agent in colony.population.agents if agent.name == "Ivo")
    ivo = agent.entity
    turnip = colony.town.item("turnip", ivo[Position].location)
    assert ivo[Carrier].pick_up(turnip)
    assert ivo[Backpack].stow()
    other = load(json.loads(json.dumps(save(colony))))
    assert other.town.census.count("fire") == colony.town.census.count("fire") == 1
    (found,) = [item for item in other.town.census.find("turnip") if item.id == turnip.id]
    assert found[Position].location == ivo[Position].location
    assert found in other.town.census.find("loose:turnip")
    (again,) = [agent.entity for agent in other.population.agents if agent.name == "Ivo"]
    other.runtime.step()
    assert again[Backpack].items == {}
    other.runtime.close()
