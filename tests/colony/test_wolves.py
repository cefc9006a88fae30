"""Wolves: what their two goal selectors decide, and when."""

from __future__ import annotations

import pytest
from modules import load as load_module

from agentrt_examples.colony.bodies import Health, Needs, Position
from agentrt_examples.colony.harm import wound
from agentrt_examples.colony.models import doing, driver_lines, flag_lines, models_of
from agentrt_examples.colony.nests import Nest
from agentrt_examples.colony.quarry import Quarry
from tests.colony.conftest import Field

beside = load_module("tests/colony/test_beasts.py")
wolf = beside.wolf


def prey(field, cell, name="Pip", health=200):
    entity = field.town.being("critter", cell, name=name, pace=3, health=health)
    field.census.put(entity, "prey")
    return entity


def told(field, beast):
    """What the goals of a wolf did: (tick, selector/goal, what)."""
    return [
        (tick, path, event)
        for tick, agent, path, event in field.sim.events("start", "stop")
        if agent == beast.name and ":" not in path
    ]


@pytest.mark.states(
    "colony: Other models: Two selectors for each mob, one for targets and one for what it does; neither interferes "
    "with the other",
    source="000 Usage",
)
def test_one_selector_chooses_and_the_other_acts(field):
    pip = prey(field, (5, 1))
    beast = wolf(field, (1, 1), satiety=0)
    field.sim.tick(13)
    assert told(field, beast) == [
        (1, "targets/choose prey", "start"),
        (1, "goals/attack", "start"),
        (11, "goals/attack", "stop"),
        (13, "goals/lick lips", "start"),
    ]
    assert (beast[Quarry].target, field.leases.holder(pip)) == (pip, beast)
    field.sim.tick(25)
    assert told(field, beast)[4:6] == [(37, "goals/lick lips", "stop"), (37, "goals/attack", "start")]
    assert field.counts["bites"] >= 1


@pytest.mark.states(
    "colony: Other models: A goal of a lower priority number takes the place of one that runs",
    source="000 Priorities",
)
def test_without_prey_it_prowls_and_with_it_no_more(field):
    beast = wolf(field, (1, 1), satiety=0)
    steps = []
    beast[Position].moved.connect(steps.append)
    field.sim.tick(20)
    assert told(field, beast) == [(1, "goals/prowl", "start")]
    assert len(steps) == 10  # one every two ticks, over grass
    prey(field, (5, 1))
    field.sim.tick(9)
    assert [entry[1:] for entry in told(field, beast)[1:]] == [
        ("targets/choose prey", "start"),
        ("goals/prowl", "stop"),
        ("goals/attack", "start"),
    ]


def test_no_two_wolves_hunt_one_prey(field):
    prey(field, (6, 1))
    one, other = wolf(field, (1, 1)), wolf(field, (1, 2))
    field.sim.tick(4)
    assert [beast[Quarry].target is not None for beast in (one, other)] == [True, False]
    one.destroy()
    field.sim.run_until(lambda: other[Quarry].target is not None, 20)


@pytest.mark.states("colony: Other models: Whoever hurt it comes before other targets", source='000 Usage ("hurt by")')
def test_whoever_strikes_a_wolf_becomes_its_target(field):
    pip = prey(field, (9, 1))
    beast = wolf(field, (1, 1), satiety=0)
    field.sim.tick(3)
    assert beast[Quarry].target is pip
    ada = field.person((3, 1), name="Ada")
    wound(field.town, beast, 10, by=ada)
    field.sim.tick(2)
    assert beast[Quarry].target is ada
    assert field.leases.holder(pip) is None
    field.sim.run_until(lambda: ada[Health].points < 100, 40)


def test_a_nest_is_robbed_egg_by_egg(field):
    nest = field.town.nest((5, 1))
    for due in (100, 200):
        nest[Nest].lay(due)
    beast = wolf(field, (1, 1), satiety=0)
    field.sim.run_until(lambda: not nest[Nest].eggs, 200)
    assert field.counts == {"eggs robbed": 2}
    assert beast[Needs].satiety == 600
    field.sim.tick(30)
    assert beast[Quarry].target is None


def test_a_growl_makes_it_give_the_nest_up(field):
    nest = field.town.nest((9, 1))
    nest[Nest].lay(100)
    beast = wolf(field, (1, 1), satiety=0)
    field.sim.tick(3)
    assert beast[Quarry].target is nest
    beast[Quarry].scare(nest, field.runtime.tick)
    field.sim.tick(2)
    assert beast[Quarry].target is None
    assert told(field, beast)[-1][1:] == ("goals/prowl", "start")


@pytest.mark.states("colony: Other models: A goal that cannot be interrupted runs to its end", source="000 Operation")
def test_nothing_interrupts_licking_the_lips_but_its_end(field):
    beast = wolf(field, (1, 1), satiety=0)
    beast[Quarry].has_bitten = True
    field.sim.tick(3)
    beast[Health].add(-100)  # enough to make it leave
    field.sim.tick(20)
    assert told(field, beast) == [(1, "goals/lick lips", "start")]
    field.sim.tick(4)
    assert [entry[1:] for entry in told(field, beast)[1:]] == [("goals/lick lips", "stop"), ("goals/leave", "start")]


def test_who_cannot_leave_stays():
    field = Field("#####\n#...#\n#####\n")
    beast = wolf(field, (2, 1), satiety=900)
    field.sim.tick(10)
    assert not beast.is_destroyed
    assert [record for record in field.sim.trace if record.event in ("fault", "disabled")] == []
    field.sim.close()


@pytest.mark.states("colony: Other models: Goals with other flags run side by side", source="000 Flags")
@pytest.mark.parametrize(("tick", "howls"), [(0, 0), (720, 1)])
def test_it_howls_at_night_whatever_its_legs_do(field, tick, howls):
    field.runtime.clock.tick = tick
    beast = wolf(field, (1, 1), satiety=0)
    field.sim.tick(40)
    assert [entry[1:] for entry in told(field, beast) if "howl" in entry[1]] == [
        ("goals/howl", "start"), ("goals/howl", "stop"),
    ][: howls * 2]  # fmt: skip
    assert [entry[1] for entry in told(field, beast)].count("goals/prowl") == 1


def test_what_is_seen_of_a_wolf(field):
    prey(field, (9, 1))
    wolf(field, (1, 1), satiety=0)
    field.sim.tick(3)
    (snapshot,) = [agent.snapshot() for agent in field.runtime.agents]
    assert (models_of(snapshot), doing(snapshot)) == ("TG", "attack")
    assert list(driver_lines(snapshot)) == ["T targets: choose prey", "G goals: attack"]
    assert list(flag_lines(snapshot)) == [
        "TARGET held by targets/choose prey since 1",
        "MOVE held by goals/attack since 1",
    ]


def test_prey_that_gets_away_is_given_up(field):
    pip = prey(field, (9, 1))
    beast = wolf(field, (1, 1), satiety=0)
    field.sim.tick(10)
    pip[Position].place((1, 8))  # beyond the water
    field.sim.tick(30)
    assert beast[Quarry].target is None
    assert field.leases.holder(pip) is None
    assert [entry[1:] for entry in told(field, beast)] == [
        ("targets/choose prey", "start"),
        ("goals/attack", "start"),
        ("goals/attack", "stop"),
        ("targets/choose prey", "stop"),
        ("goals/prowl", "start"),
    ]
