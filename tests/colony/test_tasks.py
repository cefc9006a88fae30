"""What is done because somebody wants it: the town's tasks, orders, parties, needs, collars, buffs."""

from __future__ import annotations

import pytest

from agentrt import Agent
from agentrt.errors import UnknownTaskGroupError
from agentrt_actions import IdleEffects
from agentrt_examples import everything
from agentrt_examples.colony.acting.needs import BASIC_NEEDS
from agentrt_examples.colony.acting.pets import PET, Training
from agentrt_examples.colony.acting.soldiers import DefenseParty
from agentrt_examples.colony.animals import Poser
from agentrt_examples.colony.bodies import Health, Loyalty, Needs, Position
from agentrt_examples.colony.buffs import Buffs, Medicine
from agentrt_examples.colony.captain import UNIT_CONTROL
from agentrt_examples.colony.daylight import DAWN, DUSK, NIGHT
from agentrt_examples.colony.foreman import Tally
from agentrt_examples.colony.growing import Plot
from agentrt_examples.colony.harm import wound
from agentrt_examples.colony.jobs import COLLAR, JOBS

FARMING = "colony:task_groups:farming"
HEALING = "colony:task_groups:healing"


def plots(field, *states):
    made = []
    for number, state in enumerate(states):
        entity = field.town.entity("plot", (2 + number, 1))
        entity.add(Plot(entity, field.census, state))
        made.append(entity)
    return made


def tasks_of(group):
    return [(task.activity, str(task.state), task.workers) for task in group.tasks]


def soldier(field, cell=(1, 1), name="Jorun"):
    entity = field.population.body("hearthling", cell, name)
    from agentrt_examples.colony.bodies import Traits

    entity.add(Traits("brave"))
    agent = field.population.join(entity)
    field.population.employ(agent, "soldier")
    return agent


def wolf(field, cell):
    entity = field.town.being("wolf", cell, pace=2, health=110)
    entity.entity_data = {}
    return entity


# --- the foreman ------------------------------------------------------------------------------------------------------


def test_chores_are_offered_while_there_is_anything_to_do(field):
    plots(field, "ripe", "bare")
    farming = field.town.groups.get_task_group(FARMING)
    field.sim.tick(5)
    assert tasks_of(farming) == [("colony:till", "started", ()), ("colony:harvest", "started", ())]
    field.person((1, 1), job="farmer")
    field.sim.run_until(lambda: field.counts.get("plots planted") == 2, 400)
    field.sim.tick(10)
    assert {task.activity: str(task.state) for task in farming.tasks} == {
        "colony:till": "paused", "colony:plant": "paused", "colony:harvest": "paused",
    }  # fmt: skip
    assert field.foreman.done(farming) == 5  # one was ripe and bare, then both were tilled and planted
    assert farming.waits.count > 0


def test_work_rests_at_night_even_in_the_middle(field):
    plots(field, "bare")
    field.runtime.clock.tick = NIGHT - 14
    field.person((1, 1), job="farmer")
    farming = field.town.groups.get_task_group(FARMING)
    field.sim.tick(13)
    assert tasks_of(farming) == [("colony:till", "started", ("Ada",))]
    field.sim.tick(3)
    assert tasks_of(farming) == [("colony:till", "paused", ())]
    assert field.foreman.tallies[FARMING] == Tally(interrupted=1)


def test_a_chore_has_room_for_so_many(field):
    plots(field, *["bare"] * 8)
    for name in ("Ada", "Bea", "Cid", "Dan"):
        field.person((1, 1), name=name, job="farmer")
    field.sim.tick(12)
    (task,) = field.town.groups.get_task_group(FARMING).tasks
    assert len(task.workers) == 3


@pytest.mark.states("001: In the colony: times, source, max_workers and callbacks in use", source="Issuing tasks")
def test_each_patient_is_a_task_for_one_healer(field):
    patient = field.person((9, 1), name="Bea")
    wound(field.town, patient, 60)
    healing = field.town.groups.get_task_group(HEALING)
    field.sim.tick(5)
    (task,) = healing.tasks
    assert (task.args, task.remaining, task.worker_limit, task.source) == ({"patient": patient}, 1, 1, patient)
    assert task.annotation == "Bea is hurt"
    field.town.item("herb", (3, 1))
    field.person((1, 1), name="Ada", job="healer", traits=("healer",))
    field.person((1, 1), name="Cid", job="healer", traits=("healer",))
    field.sim.run_until(lambda: task.is_over, 200)
    field.sim.tick()
    assert field.foreman.tallies[HEALING] == Tally(done=1, completed=1, destroyed=1)
    assert healing.tasks == ()


def test_who_is_well_again_or_gone_is_no_patient(field):
    bea, cid = field.person((9, 1), name="Bea"), field.person((9, 6), name="Cid")
    for patient in (bea, cid):
        wound(field.town, patient, 60)
    healing = field.town.groups.get_task_group(HEALING)
    field.sim.tick(5)
    assert [task.args["patient"].name for task in healing.tasks] == ["Bea", "Cid"]
    field.census.take(bea, "wounded")
    cid.destroy()
    field.sim.tick(10)
    assert healing.tasks == ()
    assert field.foreman.tallies[HEALING] == Tally(destroyed=2)


@pytest.mark.states("001: In the colony: times, source, max_workers and callbacks in use ...")
def test_the_trader_orders_pictures_to_be_painted_twice(field):
    pip = field.town.entity("rabbit", (4, 1), "Pip")
    pip.add(Poser(80)).pose(True)
    field.census.put(pip, "animal")
    commissions = field.town.groups.get_task_group("colony:task_groups:commissions")
    field.person((1, 1), job="artist", traits=("artist",))
    field.runtime.clock.tick = DAWN - 1
    field.sim.tick(2)
    (task,) = commissions.tasks
    assert (task.remaining, task.args, task.source.name) == (2, {"subject": pip}, "the trader")
    field.sim.run_until(lambda: task.remaining == 1, 200)
    assert not task.is_over
    field.sim.run_until(lambda: task.is_over, 200)
    assert field.counts["pictures painted"] >= 2


# --- jobs and needs ---------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "001: In the colony: The colony's town groups come from JSON; jobs put members in",
    source="Town task groups",
)
def test_a_job_is_abilities_and_groups_and_ends(commanded):
    ada = commanded.population.body("hearthling", (1, 1), "Ada")
    from agentrt_examples.colony.bodies import Traits

    ada.add(Traits())
    agent = commanded.population.join(ada)
    commanded.population.employ(agent, "farmer")
    commanded.sim.tick()
    knows = {action.__name__ for action in agent.actions}
    assert {"TillPlot", "Work", "Eat"} <= knows
    assert [group.name.rpartition(":")[2] for group in agent.task_groups] == ["basic_needs", "farming", "hauling"]
    commanded.population.employ(agent, "cook")
    commanded.sim.tick()
    knows = {action.__name__ for action in agent.actions}
    assert "TillPlot" not in knows
    assert "CookOnHearth" in knows
    assert [group.name.rpartition(":")[2] for group in agent.task_groups] == ["basic_needs", "cooking", "hauling"]


@pytest.mark.states("001: In the colony: Needs as tasks that observers issue", source="Task group example")
def test_the_hungry_have_tasks_to_eat_and_the_sated_none(field):
    ada = field.person((1, 1), job="laborer")
    needs = field.agent_of(ada).get_task_group(BASIC_NEEDS)
    field.sim.tick(2)
    assert [task.activity for task in needs.tasks] == ["colony:rest_when_injured"]
    ada[Needs].add(satiety=-750)
    field.sim.tick(2)
    assert [(task.activity, task.args) for task in needs.tasks[1:]] == [
        ("colony:eat", {"food": "meal"}), ("colony:eat", {"food": "turnip"}),
    ]  # fmt: skip
    ada[Needs].add(satiety=400)
    field.sim.tick(2)
    assert [task.activity for task in needs.tasks] == ["colony:rest_when_injured"]


@pytest.mark.states("001: In the colony: Eat tasks compete, remapped twice", source="Task group example")
def test_a_meal_beats_a_raw_turnip_in_the_figures_of_the_group(field):
    field.town.item("turnip", (2, 1))
    field.town.item("meal", (9, 1))
    ada = field.person((1, 1), job="laborer")
    ada[Needs].add(satiety=-800)
    field.sim.tick(3)
    (group,) = [unit for unit in field.agent_of(ada).snapshot().plan.units if unit.name == "basic needs"]
    worth = {unit.name: unit.utility for unit in group.frames[0].units if "eat" in unit.name}
    # Hungry by 0.8: as a task 0.2 + 0.8 * 0.8, raw 0.2 + 0.8 * 0.8 * 0.6; the group puts the best into (0, 0.9).
    assert sorted(worth.values()) == [0.584, 0.84]
    assert group.utility == 0.756


def test_who_is_refused_a_bed_is_offered_the_next(field):
    beds = [field.town.entity("bed", cell) for cell in ((5, 3), (6, 3))]
    for bed in beds:
        field.census.put(bed, "bed")
    sleepers = [field.person((1, 1), name=name, job="laborer") for name in ("Ada", "Bea")]
    for sleeper in sleepers:
        sleeper[Needs].add(rest=-700)
    field.sim.run_until(lambda: all(sleeper[Needs].asleep for sleeper in sleepers), 120)
    assert sorted(sleeper[Position].location for sleeper in sleepers) == [(5, 3), (6, 3)]


# --- orders -----------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: In the colony: Move orders in a personal group", source="Personal task groups")
def test_a_soldier_obeys_and_forgets_the_order_before(commanded):
    agent = soldier(commanded)
    commanded.sim.tick(2)
    first = commanded.captain.order(agent, (11, 1))
    commanded.sim.tick(6)
    assert agent.status_text == "colony:status.obeying" or "walking" in agent.status_text
    second = commanded.captain.order(agent, (1, 6))
    commanded.sim.run_until(lambda: second.is_over, 200)
    assert agent.entity[Position].location == (1, 6)
    assert (str(first.state), str(second.state)) == ("destroyed", "completed")
    assert commanded.foreman.tallies[UNIT_CONTROL] == Tally(done=1, completed=1, interrupted=1, destroyed=2)


def test_a_watch_lasts_until_dawn(commanded):
    agent = soldier(commanded)
    commanded.sim.tick(2)
    task = commanded.captain.order_watch(agent, (6, 1))
    commanded.sim.run_until(lambda: agent.status_text == "agentrt:status.waiting", 100)
    assert agent.entity[Position].location == (6, 1)
    commanded.sim.tick(50)
    assert task.workers == ("Jorun",)
    commanded.runtime.clock.tick = DAWN - 1
    commanded.sim.tick(3)
    assert task.is_over
    assert commanded.counts["watches kept"] == 1


def test_guards_are_posted_at_the_towers(colony):
    colony.runtime.clock.tick = DUSK - 1
    colony.runtime.step()
    posts = [
        task.args["post"]
        for agent in colony.captain.soldiers
        for task in agent.get_task_group(UNIT_CONTROL).tasks
        if task.activity == "colony:guard"
    ]
    towers = colony.town.ground.marked("t")
    assert [min(colony.town.finder.distance(post, tower) for tower in towers) for post in posts] == [1, 1]
    assert len(set(posts)) == 2


# --- the party --------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: In the colony: An ad hoc group for an occasion: a party", source="Ad hoc task groups")
def test_a_party_is_there_as_long_as_wolves_are(commanded):
    agent = soldier(commanded)
    commanded.sim.tick(5)
    assert commanded.captain.party is None
    beast = wolf(commanded, (9, 1))
    commanded.sim.tick(5)
    party = commanded.captain.party
    assert [member.name for member in party.members] == ["Jorun"]
    assert [(task.activity, task.args, task.source) for task in party.tasks] == [
        ("colony:attack", {"wolf": beast}, beast)
    ]
    commanded.sim.run_until(lambda: commanded.counts.get("blows struck", 0) >= 1, 100)
    assert agent.status_text.startswith("colony:status.fighting")
    beast.destroy()
    commanded.sim.tick(12)
    assert commanded.captain.party is None
    assert party.tasks == ()
    with pytest.raises(UnknownTaskGroupError):
        agent.get_task_group(party.name)
    assert commanded.counts["parties formed"] == 1


@pytest.mark.states("001: In the colony: A filter action blocks an activity", source="should_start_thinking")
def test_soldiers_stand_fast_until_they_are_badly_hurt(commanded):
    from agentrt_examples.colony.bodies import Fear

    agent = soldier(commanded)
    civilian = commanded.person((1, 6), name="Bea", job="farmer")
    beast = wolf(commanded, (6, 1))
    commanded.sim.tick(6)
    for entity in (agent.entity, civilian):
        entity[Fear].notice((beast,), 5)
    commanded.sim.tick(3)
    assert "FleeThreats" in commanded.agent_of(civilian).snapshot().running
    assert "Attack" in agent.snapshot().running
    wound(commanded.town, agent.entity, 70)
    commanded.sim.tick(3)
    assert "the event 'badly_hurt' was triggered" in commanded.aborts()
    assert "FleeThreats" in agent.snapshot().running


def test_a_party_is_worth_the_less_the_more_its_member_is_hurt(commanded):
    ada = commanded.person((1, 1))
    party = DefenseParty()
    assert party.compose_utility(ada, 0.5) == pytest.approx(0.825)
    ada[Health].add(-50)
    assert party.compose_utility(ada, 0.5) == pytest.approx(0.725)
    agent = soldier(commanded)
    agent.entity[Health].add(-50)
    wolf(commanded, (11, 1))
    commanded.sim.tick(6)
    (unit,) = [unit for unit in agent.snapshot().plan.units if unit.name == "defense party"]
    assert unit.utility == 0.5 + 0.25 * 0.75 + 0.1  # the wolf is ten steps away: 1 - 100 / 400


# --- collars, buffs, mixins -------------------------------------------------------------------------------------------


def pet(field, cell, owner):
    entity = field.town.being("pet", cell, name="Rufus", pace=3, health=60, fears=("wolf", 6))
    entity.add(Loyalty(owner))
    return field.sim.add(Agent(entity, registry=everything()))


@pytest.mark.states("001: In the colony: Equipment with injected AI: a pet's collar", source="Injecting actions")
def test_a_collar_makes_a_pet_follow_and_without_it_the_pet_is_free(field):
    owner = field.person((11, 6))
    agent = pet(field, (1, 1), owner)
    collar = agent.inject_from(COLLAR)
    field.sim.tick(2)
    assert agent.entity[Training].patience == 6
    agent.entity[Needs].add(satiety=-10)  # the observer looks when the body changes
    field.sim.tick(2)
    (task,) = agent.get_task_group(PET).tasks
    assert (task.args, task.source) == ({"owner": owner}, owner)
    field.sim.run_until(lambda: task.is_over, 220)
    assert field.town.finder.distance(agent.entity[Position].location, (11, 6)) <= 2
    collar.revoke()
    field.sim.tick(2)
    assert agent.entity.get(Training) is None
    assert agent.task_groups == ()
    owner[Position].place((1, 1))
    agent.entity[Needs].add(satiety=-10)
    field.sim.tick(30)
    assert "FindOwner" not in agent.snapshot().running


@pytest.mark.states("001: In the colony: A buff with inline AI, revoked when it wears off", source="Injecting actions")
def test_a_buff_brings_its_ai_and_takes_it_away(field):
    ada = field.person((1, 1), job="laborer")
    agent = field.agent_of(ada)
    medicine = Medicine(lambda: field.runtime.tick)
    field.runtime.every_tick(lambda: medicine.look_after([agent]))
    field.sim.tick(2)
    ada[Buffs].begin("poisoned")
    field.sim.tick(2)
    assert agent.status_text == "colony:status.sick"
    sick = next(unit for unit in agent.snapshot().plan.units if unit.name == "be sick")
    field.sim.tick(40)
    later = next(unit for unit in agent.snapshot().plan.units if unit.name == "be sick")
    assert later.utility < sick.utility  # it sets its utility while it runs
    field.sim.run_until(lambda: not ada[Buffs].until, 420)
    field.sim.tick(2)
    assert "be sick" not in [unit.name for unit in agent.snapshot().plan.units]


def test_a_buff_can_be_cured(field):
    ada = field.person((1, 1), job="laborer")
    agent = field.agent_of(ada)
    medicine = Medicine(lambda: field.runtime.tick)
    ada[Buffs].begin("poisoned")
    medicine.look_after([agent])
    assert [injection.source for injection in agent.injections][-1] == "buff: poisoned"
    ada[Buffs].end("poisoned")
    medicine.look_after([agent])
    assert "buff: poisoned" not in [injection.source for injection in agent.injections]


def test_mixins_reach_everybody_of_a_kind(field):
    ada = field.person((1, 1), job="farmer")
    assert "AdmirePicture" in {action.__name__ for action in field.agent_of(ada).actions}
    pip = field.town.being("critter", (3, 1), pace=3)
    pip.add(Poser(50))
    field.sim.add(Agent(pip, registry=everything()))
    field.sim.tick()
    assert sorted(pip[IdleEffects].idle_effects) == ["scratch", "yawn"]


def test_jobs_name_groups_that_there_are(field):
    names = {group.name for group in field.town.groups}
    assert {name for job in JOBS.values() for name in job["task_groups"]} == names
