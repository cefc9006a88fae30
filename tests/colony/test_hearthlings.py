"""What hearthlings do, one thing at a time, on an empty meadow. The world's numbers are the colony's own."""

from __future__ import annotations

import pytest

from agentrt import Agent
from agentrt_actions import Carrier, Storage
from agentrt_examples import everything
from agentrt_examples.colony.animals import Poser
from agentrt_examples.colony.bodies import Health, Needs, Position, Traits
from agentrt_examples.colony.goods import Shelf
from agentrt_examples.colony.growing import Plot
from agentrt_examples.colony.harm import wound


def plot(field, cell, state):
    entity = field.town.entity("plot", cell)
    entity.add(Plot(entity, field.census, state))
    return entity


def shelf(field, cell, kind, room=4):
    entity = field.town.entity("shelf", cell)
    entity.add(Shelf(entity, kind, room, field.census, field.town.chronicle), Storage)
    field.census.put(entity, "storage")
    return entity


def bed(field, cell):
    entity = field.town.entity("bed", cell)
    field.census.put(entity, "bed")
    return entity


def rabbit(field, cell, photogenicity=80):
    entity = field.town.being("critter", cell, name="Pip", pace=3, health=30)
    entity.add(Poser(photogenicity))
    field.census.put(entity, "animal")
    return entity


def pose(field, animal, ready=True):
    animal[Poser].pose(ready)
    field.census.tell("animal")


# --- jobs -------------------------------------------------------------------------------------------------------------


def test_nobody_is_asked_for_what_none_of_his_actions_performs(colony):
    for _ in range(25):  # in the first second they learn more
        colony.runtime.step()
    assert {agent.name: told for agent in colony.population.agents if (told := agent.unperformed())} == {}
    assert colony.runtime.told == set()


def test_who_becomes_a_soldier_is_not_asked_for_work_any_more(colony):
    for _ in range(25):
        colony.runtime.step()
    alva = colony.runtime.find("Alva")
    assert alva.planner.performers("colony:work")
    colony.population.employ(alva, "soldier")
    assert not [told for told in alva.unperformed() if "'colony:work'" in told]  # how to attack comes with a stance


# --- farming and hauling ----------------------------------------------------------------------------------------------


def test_a_farmer_harvests_and_then_tills_and_plants(field):
    acre = plot(field, (3, 1), "ripe")
    field.person((1, 1), job="farmer")
    field.sim.run_until(lambda: acre[Plot].state == "bare", 60)
    assert field.census.count("turnip") == 1
    field.sim.run_until(lambda: acre[Plot].state == "planted", 120)
    assert 240 <= acre[Plot].due - field.runtime.tick <= 400
    assert field.counts == {"crops harvested": 1, "plots tilled": 1, "plots planted": 1}


def test_two_farmers_do_not_go_for_the_same_plot(field):
    plots = [plot(field, cell, "ripe") for cell in ((5, 1), (8, 1))]
    for name in ("Ada", "Bea"):
        field.person((1, 1), name=name, job="farmer")
    field.sim.run_until(lambda: all(acre[Plot].state != "ripe" for acre in plots), 100)
    assert [entry.who for entry in field.town.chronicle.entries if entry.kind == "crops harvested"] == ["Ada", "Bea"]
    assert field.aborts() == []


def test_a_plot_that_somebody_else_finished_aborts_the_work(field):
    acre = plot(field, (1, 1), "ripe")
    field.person((1, 1), job="farmer")
    field.sim.tick(8)
    acre[Plot].advance("ripe")
    field.sim.tick(20)
    assert field.aborts()[0] == "plot 1 is bare and not ripe any more"


def test_a_turnip_is_hauled_to_its_shelf(field):
    target = shelf(field, (9, 1), "turnip")
    turnip = field.town.item("turnip", (4, 1))
    ada = field.person((1, 1), job="laborer")
    field.sim.run_until(lambda: target[Shelf].items, 100)
    assert target[Shelf].items == [turnip]
    assert ada[Carrier].carrying is None
    assert field.counts == {"items stored": 1}


def test_what_has_nowhere_to_go_does_not_keep_the_rest_from_being_hauled(field):
    target = shelf(field, (9, 1), "picture")
    field.town.item("turnip", (2, 1))
    field.town.item("meal", (2, 1))
    picture = field.town.item("picture", (6, 1))
    field.person((1, 1), job="laborer")
    field.sim.run_until(lambda: target[Shelf].items == [picture], 100)


# --- cooking and eating -----------------------------------------------------------------------------------------------


def test_a_cook_makes_two_meals_of_a_turnip(field):
    hearth = field.town.entity("hearth", (5, 3))
    field.census.put(hearth, "hearth")
    shelf(field, (8, 3), "turnip")[Shelf].put(field.town.item("turnip", (8, 3)))
    ada = field.person((1, 1), job="cook")
    field.sim.run_until(lambda: field.census.count("meal") == 2, 200)
    assert field.census.count("turnip") == 0
    assert field.counts == {"meals cooked": 2}
    assert field.town.finder.distance(ada[Position].location, (5, 3)) == 1
    assert field.aborts() == []


def test_a_cook_stops_when_there_are_enough(field):
    field.census.put(field.town.entity("hearth", (5, 3)), "hearth")
    shelf(field, (8, 3), "turnip")[Shelf].put(field.town.item("turnip", (8, 3)))
    for _ in range(8):
        field.town.item("meal", (9, 1))
    field.person((1, 1), job="cook")
    field.sim.tick(100)
    assert field.counts == {}


def test_a_cook_leaves_what_lies_on_the_fields_to_the_haulers(field):
    field.census.put(field.town.entity("hearth", (5, 3)), "hearth")
    field.town.item("turnip", (8, 3))
    field.person((1, 1), job="cook")
    field.sim.tick(60)
    assert field.counts == {}


def test_dinner_is_rung(field):
    hearth = field.town.entity("hearth", (5, 3))
    field.census.put(hearth, "hearth")
    shelf(field, (8, 3), "turnip")[Shelf].put(field.town.item("turnip", (8, 3)))
    heard = []
    hearth.signal("dinner").connect(heard.append)
    field.person((1, 1), job="cook")
    field.sim.run_until(lambda: heard, 200)


def test_the_hungry_eat_a_meal_rather_than_a_turnip(field):
    field.town.item("turnip", (2, 1))
    field.town.item("meal", (9, 1))
    ada = field.person((1, 1), job="laborer")
    ada[Needs].add(satiety=-600)
    field.sim.run_until(lambda: ada[Needs].satiety == 1000, 100)
    assert field.counts == {"meals eaten": 1}
    assert ada[Traits].thoughts == ["had a warm meal"]


def test_the_hungry_eat_a_turnip_if_there_is_nothing_else(field):
    field.town.item("turnip", (2, 1))
    ada = field.person((1, 1), job="laborer")
    ada[Needs].add(satiety=-600)
    field.sim.tick(40)
    assert field.counts == {}  # hungry, but not that hungry
    ada[Needs].add(satiety=-150)
    field.sim.run_until(lambda: field.counts == {"raw food eaten": 1}, 100)
    assert ada[Needs].satiety == 500


def test_who_is_a_little_hungry_does_not_eat(field):
    field.town.item("meal", (2, 1))
    ada = field.person((1, 1), job="laborer")
    ada[Needs].add(satiety=-300)
    field.sim.tick(60)
    assert field.counts == {}


# --- sleeping and resting ---------------------------------------------------------------------------------------------


def test_the_tired_go_to_bed_and_wake_up_rested(field):
    bed(field, (6, 3))
    ada = field.person((1, 1), job="laborer")
    ada[Needs].add(rest=-700)
    field.sim.run_until(lambda: ada[Needs].asleep, 100)
    assert ada[Position].location == (6, 3)
    for _ in range(11):
        assert ada[Needs].asleep
        ada[Needs].add(rest=60)
        field.sim.tick()
    assert not ada[Needs].asleep
    assert field.counts == {"nights slept": 1}


def test_one_bed_is_for_one_sleeper(field):
    bed(field, (6, 3))
    sleepers = [field.person((1, 1), name=name, job="laborer") for name in ("Ada", "Bea")]
    for sleeper in sleepers:
        sleeper[Needs].add(rest=-700)
    field.sim.tick(100)
    assert [sleeper[Needs].asleep for sleeper in sleepers] == [True, False]


def test_who_is_down_lies_there_until_it_can_get_up(field):
    ada = field.person((1, 1), job="laborer")
    field.sim.tick(2)
    wound(field.town, ada, 100)
    field.sim.tick(2)
    assert field.agent_of(ada).snapshot().running == "agentrt:top/LieDown"
    ada[Health].add(30)
    field.sim.tick(2)
    assert field.agent_of(ada).snapshot().running != "agentrt:top/LieDown"


def test_the_badly_hurt_rest_in_bed(field):
    bed(field, (6, 3))
    ada = field.person((1, 1), job="laborer")
    wound(field.town, ada, 60)
    field.sim.run_until(lambda: ada[Needs].asleep, 100)
    ada[Health].add(40)
    field.sim.tick(2)
    assert not ada[Needs].asleep


# --- danger -----------------------------------------------------------------------------------------------------------


def test_danger_interrupts_work_and_what_was_carried_is_laid_down(field):
    from agentrt_examples.colony.bodies import Fear

    shelf(field, (11, 1), "turnip")
    turnip = field.town.item("turnip", (4, 1))
    ada = field.person((1, 1), job="laborer")
    field.sim.run_until(lambda: ada[Carrier].carrying is turnip, 100)
    field.sim.tick(4)
    wolf = field.town.being("wolf", (11, 1), pace=2)
    ada[Fear].notice((wolf,), 5)
    field.sim.tick(2)
    assert field.agent_of(ada).snapshot().running.endswith("FleeThreats")
    assert ada[Carrier].carrying is None
    assert field.census.has(turnip, "loose")
    here = ada[Position].location
    field.sim.tick(20)
    assert field.town.finder.distance(ada[Position].location, (11, 1)) > field.town.finder.distance(here, (11, 1))


# --- healing ----------------------------------------------------------------------------------------------------------


def test_the_wounded_are_healed_with_a_herb(field):
    herb = field.town.item("herb", (8, 1))
    patient = field.person((10, 6), name="Bea")
    wound(field.town, patient, 70)
    ada = field.person((1, 1), job="healer", traits=("healer",))
    field.sim.run_until(lambda: patient[Health].points == 90, 200)
    assert herb.is_destroyed
    assert field.counts == {"wounds healed": 1}
    assert ada[Carrier].carrying is None
    assert field.aborts() == []


def test_a_patient_who_walks_is_followed(field):
    field.town.item("herb", (2, 1))
    patient = field.person((8, 1), name="Bea")
    wound(field.town, patient, 70)
    field.person((1, 1), job="healer", traits=("healer",))
    field.sim.tick(12)
    patient[Position].place((8, 6))
    field.sim.run_until(lambda: patient[Health].points == 90, 200)
    assert field.aborts() == []


def test_one_can_heal_oneself(field):
    field.town.item("herb", (3, 1))
    ada = field.person((1, 1), job="laborer")
    wound(field.town, ada, 60)
    field.sim.run_until(lambda: ada[Health].points == 100, 200)
    assert [entry.text for entry in field.town.chronicle.entries] == ["healed its own wounds"]


# --- painting: the seed's own example ---------------------------------------------------------------------------------


def test_an_animal_is_drawn_when_it_is_ready_to_pose(field):
    pip = rabbit(field, (9, 1))
    ada = field.person((1, 1), job="artist", traits=("artist",))
    field.sim.tick(20)
    assert "FindAndPaintSubject" not in field.agent_of(ada).snapshot().running
    pose(field, pip)
    field.sim.run_until(lambda: pip[Poser].is_frozen, 60)
    assert field.agent_of(ada).snapshot().running == (
        "agentrt:top/FreeTime/colony:free_time/FindAndPaintSubject/colony:paint/DrawAnimal/agentrt:run_effect/RunEffect"
    )
    assert field.agent_of(ada).status_text == "colony:status.drawing (subject: Pip)"
    field.sim.run_until(lambda: field.census.count("picture") == 1, 80)
    assert ada[Traits].thoughts == ["drew Pip"]
    assert field.counts == {"pictures painted": 1}


def test_an_animal_that_loses_patience_aborts_the_plan(field):
    pip = rabbit(field, (11, 1))
    field.person((1, 1), job="artist", traits=("artist",))
    pose(field, pip)
    field.sim.tick(10)
    pose(field, pip, False)
    field.sim.tick(40)
    assert field.aborts() == ["animal stopped being ready to pose by the time the action ran"]
    assert not pip[Poser].is_frozen


def test_an_interrupted_drawing_lets_the_animal_go(field):
    pip = rabbit(field, (4, 1))
    ada = field.person((1, 1), job="artist", traits=("artist",))
    pose(field, pip)
    field.sim.run_until(lambda: pip[Poser].is_frozen, 60)
    wound(field.town, ada, 100)
    field.sim.tick(2)
    assert not pip[Poser].is_frozen
    assert field.census.count("picture") == 0


@pytest.mark.parametrize(("traits", "utility"), [(("artist",), 0.705), ((), 0.505)])
def test_the_utility_is_composed_as_the_seed_composes_it(field, traits, utility):
    pip = rabbit(field, (9, 1), photogenicity=50)
    field.person((1, 1), job="artist", traits=traits)
    pose(field, pip)
    field.sim.tick(1)
    ready = [
        dict(record.detail)["utility"]
        for record in field.sim.trace
        if record.event == "ready" and record.path.endswith("FindAndPaintSubject")
    ]
    # Its own 0.5 or 0.3, a tenth of the nearness of six steps (0.85), four tenths of the middle of (0.2, 0.4).
    assert ready[-1] == utility


def test_the_best_looking_of_those_who_are_ready_is_chosen(field):
    plain, pretty = rabbit(field, (9, 1), 20), rabbit(field, (9, 6), 95)
    field.person((1, 1), job="artist", traits=("artist",))
    pose(field, plain)
    pose(field, pretty)
    field.sim.run_until(lambda: pretty[Poser].is_frozen, 80)
    assert not plain[Poser].is_frozen


def test_a_landscape_is_painted_behind_a_plain_animal_at_the_water(field):
    plain = rabbit(field, (9, 6), 20)
    field.person((6, 6), job="artist", traits=("artist",))
    pose(field, plain)
    field.sim.run_until(lambda: field.counts == {"pictures painted": 1}, 160)
    assert field.town.chronicle.entries[-1].text == "painted the landscape behind Pip"


def test_what_is_no_animal_is_rejected(field):
    from agentrt import CompoundAction, step
    from agentrt_examples.colony.acting.painting import DrawAnimal

    class DrawStone(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="stone", name="stone"),
            step("colony:paint", {"subject": __import__("agentrt").PREV.entity}),
        )

    from agentrt_actions import FindEntity

    field.census.put(field.town.entity("stone", (3, 1)), "stone")
    ada = field.person((1, 1))
    field.sim.add(Agent(ada, registry=everything(), actions=[DrawStone, DrawAnimal, FindEntity]))
    field.sim.tick(3)
    rejects = [dict(record.detail) for record in field.sim.trace if record.event == "reject"]
    assert rejects[0] == {"reason": "not an animal!"}
