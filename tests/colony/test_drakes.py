"""Drakes: the behavior tree of those who guard a nest."""

from __future__ import annotations

import json

import pytest

from agentrt.behavior import Stimuli
from agentrt_examples.colony.bodies import Fear, Needs, Position
from agentrt_examples.colony.captain import Captain
from agentrt_examples.colony.harm import wound
from agentrt_examples.colony.minds.drake_senses import Sense
from agentrt_examples.colony.minds.drakes import DRAKE
from agentrt_examples.colony.models import doing, driver_lines, models_of
from agentrt_examples.colony.nests import Nest
from agentrt_examples.colony.population import Population
from agentrt_examples.colony.quarry import Quarry
from agentrt_examples.colony.saving import load, save


@pytest.fixture
def lair(field):
    """A nest with two eggs, and whatever drakes a test brings in."""
    field.population = Population(field.town, field.runtime, Captain(field.town, field.foreman.watch))
    field.nest = field.town.nest((6, 1))
    for due in (500, 600):
        field.nest[Nest].lay(due)
    return field


def drake(field, cell=None):
    agent = field.population.drake(field.nest, cell)
    agent.entity[Needs].add(satiety=1000)
    return agent


def tree(agent):
    return agent.attachments[0].driver


def path(agent):
    return tree(agent).active_path[1:]


def broods(agent):
    return path(agent)[1:] == ("GUARD_NEST_IDLE",) and agent.entity[Position].location == (6, 1)


def intruder(field, cell, *watchers):
    beast = field.town.being("wolf", cell, pace=2, health=110)
    beast.entity_data = {}
    beast.add(Quarry())
    look(field, beast, *watchers)
    return beast


def look(field, beast, *watchers):
    for agent in watchers:
        steps = field.town.finder.distance(agent.entity[Position].location, beast[Position].location)
        agent.entity[Fear].notice((beast,), steps)


def deciders(field, agent):
    """Which deciders came and went: (tick, the last part of the path, what)."""
    return [
        (tick, place.rpartition("/")[2], event)
        for tick, who, place, event in field.sim.events("activate", "deactivate")
        if who == agent.name and place.startswith("tree/")
    ]


@pytest.mark.states(
    "colony: Other models: GUARD_NEST_GROUP with help, fight, growl, patrol, idle, declared in one block",
    source="002 S11",
)
def test_the_tree_reads_like_the_text():
    assert DRAKE.deciders == (
        "ROOT",
        "FLEE",
        "GUARD_NEST_GROUP",
        "GUARD_NEST_HELP", "GUARD_NEST_FIGHT", "GUARD_NEST_GROWL", "GUARD_NEST_PATROL", "GUARD_NEST_IDLE",
        "EAT",
        "FIND_FOOD", "EAT_FOOD",
        "SLEEP",
        "DOZE",
        "IDLE",
    )  # fmt: skip
    assert DRAKE.num_timers == 1


def test_one_makes_a_round_and_broods_and_the_other_rests(lair):
    one, other = drake(lair), drake(lair)
    seen = []
    one.entity[Position].moved.connect(seen.append)
    lair.sim.tick(1)
    assert path(one) == ("GUARD_NEST_GROUP", "GUARD_NEST_PATROL")
    assert path(other) == ("IDLE",)
    assert lair.nest[Nest].watchers == [one.entity]
    lair.sim.run_until(lambda: path(one)[1:] == ("GUARD_NEST_IDLE",), 60)
    assert {(8, 1), (6, 0), (6, 2), (4, 1)} & set(seen) >= {(8, 1), (4, 1)}
    lair.sim.run_until(lambda: one.entity[Position].location == (6, 1), 20)
    assert models_of(one.snapshot()) == "B"
    assert doing(one.snapshot()) == "guard nest idle"
    assert list(driver_lines(one.snapshot())) == ["B tree: guard nest idle"]


@pytest.mark.states(
    "colony: Other models: A group's behavior tells the nest who guards it, and fails its group",
    source="002 S08",
)
def test_a_watch_is_over_after_twenty_seconds_and_the_other_takes_over(lair):
    one, other = drake(lair), drake(lair)
    lair.sim.run_until(lambda: lair.nest[Nest].watchers == [other.entity], 420)
    assert lair.runtime.tick == pytest.approx(402, abs=2)
    assert path(one) == ("IDLE",)
    assert path(other)[0] == "GUARD_NEST_GROUP"
    assert [entry[1:] for entry in deciders(lair, one) if entry[1] == "GUARD_NEST_GROUP"] == [
        ("GUARD_NEST_GROUP", "activate"), ("GUARD_NEST_GROUP", "deactivate"),
    ]  # fmt: skip


def test_who_is_alone_stays_on_watch_however_hungry(lair):
    one = drake(lair)
    one.entity[Needs].add(satiety=-1000)
    lair.sim.tick(450)
    assert path(one)[0] == "GUARD_NEST_GROUP"


def test_who_was_relieved_eats_if_it_is_hungry(lair):
    one, other = drake(lair), drake(lair)
    other.entity[Needs].add(satiety=-700)
    lair.sim.tick(1)
    assert path(other) == ("EAT", "FIND_FOOD")
    lair.sim.run_until(lambda: path(other) == ("EAT", "EAT_FOOD"), 40)
    assert Sense.PASTURE in other.entity[Stimuli]
    lair.sim.run_until(lambda: path(other) == ("IDLE",), 200)
    assert other.entity[Needs].satiety >= 850
    assert path(one)[0] == "GUARD_NEST_GROUP"


@pytest.mark.states("colony: Other models: Decision flags for hurt and night", source="002 S06")
@pytest.mark.parametrize(("tick", "rest", "expected"), [(0, 300, "SLEEP"), (0, 600, "IDLE"), (720, 600, "DOZE")])
def test_sleep_comes_sooner_at_night(lair, tick, rest, expected):
    lair.runtime.clock.tick = tick
    _, other = drake(lair), drake(lair)
    other.entity[Needs].add(rest=rest - 1000)
    lair.sim.tick(1)
    assert path(other) == (expected,)
    assert other.entity[Needs].asleep == (expected != "IDLE")
    other.entity[Needs].add(rest=1000)
    lair.sim.tick(1)
    assert (path(other), other.entity[Needs].asleep) == (("IDLE",), False)


@pytest.mark.states(
    "colony: Other models: A stimulus with data calls for help; one without is a note to oneself; both time out",
    source="002 S06",
)
def test_it_growls_at_who_is_in_sight_and_calls_the_other(lair):
    one, other = drake(lair), drake(lair)
    lair.sim.run_until(lambda: path(one)[1:] == ("GUARD_NEST_IDLE",), 60)
    beast = intruder(lair, (11, 3), one)
    lair.sim.tick(2)
    assert path(one)[1:] == ("GUARD_NEST_GROWL",)
    assert lair.counts == {"growls": 1}
    assert other.entity[Stimuli].data(Sense.HELP) is beast
    assert path(other) == ("GUARD_NEST_GROUP", "GUARD_NEST_HELP")
    assert lair.nest[Nest].watchers == [one.entity, other.entity]
    lair.sim.tick(14)
    assert Sense.GROWLED in one.entity[Stimuli]  # it says so to itself, and does not growl again so soon
    assert lair.counts["growls"] == 1


def test_every_other_growl_scares_a_wolf_from_the_nest(lair):
    one = drake(lair)
    beast = intruder(lair, (11, 3), one)
    one.entity[Needs].add(satiety=1000)

    def is_scared():
        one.entity[Needs].add(satiety=1000)
        return not beast[Quarry].dares(lair.nest, lair.runtime.tick)

    lair.sim.run_until(is_scared, 2000)
    assert lair.counts["growls"] <= 6


def test_who_comes_near_is_bitten_until_it_is_gone(lair):
    one = drake(lair)
    lair.sim.run_until(lambda: broods(one), 80)
    beast, blows = intruder(lair, (7, 2), one), []
    beast.signal("struck").connect(blows.append)
    lair.sim.tick(2)
    assert path(one)[1:] == ("GUARD_NEST_FIGHT",)
    lair.sim.run_until(lambda: len(blows) == 2, 60)
    assert blows == [one.entity, one.entity]
    assert lair.counts["wolves bitten"] == 2
    beast.destroy()
    one.entity[Fear].notice((), 0)
    lair.sim.run_until(lambda: path(one)[1:] == ("GUARD_NEST_IDLE",), 80)


def test_who_was_hit_from_behind_turns_on_whoever_did_it(lair):
    one = drake(lair)
    lair.sim.run_until(lambda: broods(one), 80)
    beast = intruder(lair, (8, 1))
    wound(lair.town, one.entity, 5, by=beast)
    assert one.entity[Stimuli].data(Sense.HIT) is beast
    lair.sim.run_until(lambda: lair.counts.get("wolves bitten"), 40)


@pytest.mark.states("colony: Other models: A stimulus with data calls for help; one without is a note to oneself ...")
def test_a_helper_goes_again_when_the_call_has_faded(lair):
    one, other = drake(lair), drake(lair)
    lair.sim.tick(5)
    beast = intruder(lair, (10, 6))
    other.entity[Stimuli].add(Sense.HELP, beast, timeout=3.0)
    lair.sim.tick(2)
    assert path(other) == ("GUARD_NEST_GROUP", "GUARD_NEST_HELP")
    beast.destroy()
    lair.sim.tick(5)
    assert path(other) == ("GUARD_NEST_GROUP", "GUARD_NEST_PATROL")  # as long as the call is heard
    lair.sim.tick(60)
    assert Sense.HELP not in other.entity[Stimuli]
    assert path(other) == ("IDLE",)
    assert lair.nest[Nest].watchers == [one.entity]


@pytest.mark.states("colony: Other models: Decision flags for hurt and night ...")
def test_who_is_badly_hurt_flees_whatever_it_guards(lair):
    one = drake(lair)
    lair.sim.run_until(lambda: path(one)[1:] == ("GUARD_NEST_IDLE",), 60)
    wound(lair.town, one.entity, 100)
    lair.sim.tick(1)
    assert path(one)[0] == "GUARD_NEST_GROUP"  # nobody is near
    beast = intruder(lair, (8, 1), one)
    lair.sim.tick(1)
    assert path(one) == ("FLEE",)
    assert lair.nest[Nest].watchers == []
    lair.sim.tick(20)
    assert lair.town.finder.distance(one.entity[Position].location, beast[Position].location) > 3


@pytest.mark.states("colony: Other models: DebugPrintState", source="002 S11")
def test_the_debug_print_looks_as_in_the_text(lair):
    one = drake(lair)
    lair.sim.tick(10)
    lines = tree(one).debug_print_state().splitlines()
    assert [line.split("/")[0].strip() for line in lines] == ["*0:ROOT", "*1:GUARD_NEST_GROUP", "*3:GUARD_NEST_PATROL"]
    assert "(kGroup, kGroupPrioritizedList 0x1) time: 0.45 [GUARD_NEST/" in lines[1]


@pytest.mark.states(
    "colony: Other models: What models decide by survives saving: grudges, stimuli, variables (ours)",
    source="design section 3",
)
def test_stimuli_and_nests_survive_saving(colony):
    for _ in range(3):
        colony.runtime.step()
    (nest,) = colony.town.census.find("nest")
    one, other = nest[Nest].kin
    beast = colony.town.census.find("wolf")[0]
    one[Stimuli].add(Sense.HELP, beast, timeout=4.0)
    one[Stimuli].add(Sense.GROWLED)
    beast[Quarry].struck(one, colony.runtime.tick)
    beast[Quarry].scare(nest, colony.runtime.tick)
    nest[Nest].lose()
    nest[Nest].last = other
    saved = json.loads(json.dumps(save(colony)))
    again = load(saved)
    (found,) = again.town.census.find("nest")
    first, second = found[Nest].kin
    assert (found[Nest].eggs, found[Nest].last) == (nest[Nest].eggs, second)
    assert [(one.token, getattr(one.data, "name", None), one.remaining) for one in first[Stimuli]] == [
        (Sense.HELP, beast.name, 4.0), (Sense.GROWLED, None, None),
    ]  # fmt: skip
    wolf = again.town.census.find("wolf")[0][Quarry]
    assert (wolf.enemy, wolf.grudge) == (first, beast[Quarry].grudge)
    assert {nest.name: until for nest, until in wolf.awe.items()} == {nest.name: beast[Quarry].awe[nest]}
    assert save(again)["beings"] == saved["beings"]
    again.runtime.step()
    drakes = [agent for agent in again.population.agents if agent.entity.kind == "drake"]
    assert path(drakes[0])[0] == "GUARD_NEST_GROUP"  # somebody called for help
    again.runtime.close()
