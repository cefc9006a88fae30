"""The parameters of the colony: each changes the run, and none of them does at its default."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from agentrt.errors import ParameterError
from agentrt.testing import TraceDigest
from agentrt.worlds import Measures, TakesParameters, make_world, measure_world
from agentrt_examples.colony import world
from agentrt_examples.colony.bodies import FULL, Health, Needs
from agentrt_examples.colony.colony import Colony
from agentrt_examples.colony.daylight import DUSK
from agentrt_examples.colony.saving import load, save
from agentrt_examples.colony.setting import PARAMETERS


def colony_of(tick=0, **params):
    runtime = make_world(world, seed=7, host="plain", params=params)
    runtime.clock.tick = tick
    return runtime.game


def made(tick, steps, what, prepare=lambda colony: None, **params):
    """What is measured of a run, or how often an action or a goal began."""
    colony = colony_of(tick, **params)
    prepare(colony)
    begun = Counter()
    colony.runtime.trace.listen(
        lambda record: (
            begun.update([record.path.rpartition("/")[2].partition("#")[0]])
            if record.event in ("run", "start")
            else None
        )
    )
    for _ in range(steps):
        colony.runtime.step()
    told = {**begun, **measure_world(world, colony.runtime)}
    colony.runtime.close()
    return told.get(what, 0)


def need(kind, **add):
    def prepare(colony):
        for entity in colony.town.census.find(kind):
            entity[Needs].add(**add)

    return prepare


def hurt_wolves(colony):
    for wolf in colony.town.census.find("wolf"):
        wolf[Health].add(-90)


def test_the_colony_takes_parameters_and_measures():
    assert isinstance(world, TakesParameters)
    assert isinstance(world, Measures)
    assert list(PARAMETERS) == [
        "hearthlings", "soldiers", "critters", "drakes", "wolves", "wolves_at_dusk", "wolf_health", "meals", "turnips",
        "think_budget", "epoch",
        "hearthling.eat.utility", "hearthling.sleep.utility", "hearthling.sit_by_the_fire.utility", "critter.graze.utility", "wolf.leave.priority",
    ]  # fmt: skip


@pytest.mark.slow
def test_all_at_their_defaults_is_the_colony_as_ever():
    digests = []
    for params in ({}, {name: one.default for name, one in PARAMETERS.items()}):
        runtime = make_world(world, seed=7, host="plain", params=params)
        digest = TraceDigest(runtime.trace)
        for _ in range(60):
            runtime.step()
        digests.append(digest.hexdigest())
        runtime.close()
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    ("name", "value", "measure", "is_now"),
    [
        ("hearthlings", 4, "hearthlings", 6),
        ("hearthlings", 0, "hearthlings", 2),
        ("soldiers", 6, "hearthlings", 15),  # more than there are beds
        ("critters", 1, "critters", 1),
        ("drakes", 4, "drakes", 4),
        ("wolves", 9, "wolves", 9),
        ("meals", 11, "meals", 11),
        ("turnips", 40, "turnips", 40),
    ],
)
def test_who_and_what_is_there_at_first(name, value, measure, is_now):
    by_default = {"hearthlings": 11, "critters": 6, "drakes": 2, "wolves": 2, "meals": 4, "turnips": 8}
    colony = colony_of()
    assert {one: measure_world(world, colony.runtime)[one] for one in by_default} == by_default
    colony = colony_of(**{name: value})
    assert {one: measure_world(world, colony.runtime)[one] for one in by_default} == {**by_default, measure: is_now}
    assert len({agent.name for agent in colony.runtime.agents}) == len(colony.runtime.agents)


@pytest.mark.slow
def test_how_wolves_are_and_how_many_come_at_dusk():
    assert [wolf[Health].most for wolf in colony_of(wolf_health=30).town.census.find("wolf")] == [30, 30]
    assert [made(DUSK - 1, 1, "wolves", wolves=0, wolves_at_dusk=many) for many in (0, 4, 12)] == [0, 4, 12]


def test_how_much_is_searched_in_a_tick():
    colony = colony_of(think_budget=7)
    assert colony.runtime.search.budget.units == 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "tick", "steps", "prepare", "what", "by_default", "is_now"),
    [
        ("hearthling.eat.utility", 0.0, 0, 80, need("hearthling", satiety=-FULL // 10), "meals_eaten", 4, 0),
        ("hearthling.sleep.utility", 0.0, 0, 100, need("hearthling", rest=-FULL * 8 // 10), "meals_cooked", 0, 2),
        ("hearthling.sit_by_the_fire.utility", 1.0, 599, 100, need("hearthling", satiety=FULL), "SitByFire", 24, 39),
        ("critter.graze.utility", 0.0, 0, 40, need("critter", satiety=-FULL // 2), "Graze", 20, 8),
        ("wolf.leave.priority", 5, 0, 60, hurt_wolves, "attack", 0, 3),
    ],
)
def test_what_agents_decide(name, value, tick, steps, prepare, what, by_default, is_now):
    assert made(tick, steps, what, prepare) == by_default
    assert made(tick, steps, what, prepare, **{name: value}) == is_now


def test_who_comes_later_is_like_the_others():
    colony = colony_of(**{"critter.graze.utility": 0.0, "wolf.leave.priority": 5, "wolf_health": 40})
    wolf = colony.population.wolf()
    (leave,) = [
        one for driver in wolf.drivers.all for one in driver.available_goals if one.goal.name == "leave"
    ]  # fmt: skip
    assert (leave.priority, wolf.entity[Health].most) == (5, 40)


def test_a_saved_colony_goes_on_with_its_setting():
    colony = colony_of(**{"wolves_at_dusk": 11, "hearthling.eat.utility": 0.5, "wolf_health": 40})
    colony.town.deaths = 3
    saved = json.loads(json.dumps(save(colony)))
    again = load(saved)
    assert again.params == {"wolves_at_dusk": 11, "wolf_health": 40, "hearthling.eat.utility": 0.5}
    assert save(again)["params"] == saved["params"]
    assert measure_world(world, again.runtime)["deaths"] == 3
    del saved["params"], saved["world"]["deaths"]  # saved before there were any
    assert load(saved).params == {}


def test_what_is_measured_is_plain_and_of_this_world():
    colony = colony_of()
    measured = measure_world(world, colony.runtime)
    assert list(measured)[:8] == [
        "plots_tilled", "plots_planted", "crops_ripened", "crops_harvested", "items_stored", "goods_sold",
        "meals_cooked", "meals_eaten",
    ]  # fmt: skip
    assert list(measured)[-10:] == [
        "fights", "deaths", "hearthlings", "critters", "drakes", "meals", "turnips", "wolves", "hunger", "tiredness",
    ]  # fmt: skip
    colony.runtime.game = None
    with pytest.raises(ValueError, match="this runtime is of another world"):
        measure_world(world, colony.runtime)


def test_who_dies_is_counted():
    colony = colony_of(wolf_health=1)
    (first, _) = colony.town.census.find("wolf")
    from agentrt_examples.colony.harm import wound

    assert wound(colony.town, first, 5)
    told = measure_world(world, colony.runtime)
    assert (told["deaths"], told["wolves"]) == (1, 1)


def test_more_people_than_there_are_is_refused():
    with pytest.raises(ParameterError, match="16 is not 0 to 9"):
        make_world(world, seed=7, host="plain", params={"hearthlings": 16})


def test_a_colony_can_be_made_without_the_check():
    colony = Colony(seed=7, params={"wolves": 3})
    assert colony.town.census.count("wolf") == 3
