"""One body, four models: who has its legs, who waits, who was refused."""

from __future__ import annotations

import json

import pytest

from agentrt import LOOK, MOVE, Action, Agent
from agentrt_actions import FleeThreats
from agentrt_examples import everything
from agentrt_examples.colony.acting import top
from agentrt_examples.colony.bodies import Fear, Needs, Position, Traits
from agentrt_examples.colony.captain import Captain
from agentrt_examples.colony.daylight import DUSK
from agentrt_examples.colony.harm import wound
from agentrt_examples.colony.minds.possessed import DANCERS, POSSESSED, Moon, Possession
from agentrt_examples.colony.models import doing, driver_lines, flag_lines, models_of
from agentrt_examples.colony.population import Population
from agentrt_examples.colony.saving import load, save


class March(Action):
    """A plan that walks, and needs its legs for it."""

    does = "agentrt:top"
    name = "march"
    utility = 0.5
    flags = frozenset({MOVE})

    async def run(self, ctx, args):
        await ctx.sleep_ticks(60)


class Stare(Action):
    """A plan that only looks."""

    does = "agentrt:top"
    name = "stare"
    utility = 0.5
    flags = frozenset({LOOK})

    async def run(self, ctx, args):
        await ctx.sleep_ticks(400)


@pytest.fixture
def agent(field):
    """Somebody possessed who plans to march, and the possession."""
    entity = field.person((5, 1), name="Ivo", traits=(POSSESSED,), actions=(March,))
    found = field.agent_of(entity)
    return found, Possession(found)


def driver(agent, name):
    return next(one.driver for one in agent.attachments if one.driver.name == name)


def mine(field, *names):
    """What models did: (tick, path, what)."""
    return [
        (tick, path, event)
        for tick, who, path, event in field.sim.events("start", "stop", "activate", "deactivate", "run", "refused")
        if who == "Ivo" and path.split("/")[0] in names
    ]


@pytest.mark.states(
    "colony: Other models: Four models on one body, one ledger of flags (ours)",
    source="design section 3, control flags",
)
def test_all_four_models_drive_one_body(field, agent):
    ivo, _ = agent
    field.sim.tick(2)
    snapshot = ivo.snapshot()
    assert models_of(snapshot) == "PSGB"
    assert [(one.name, one.rank) for one in snapshot.drivers] == [("moon", 0), ("wolf", 2), ("dancers", 3)]
    assert doing(snapshot) == "march"
    assert list(driver_lines(snapshot)) == ["S moon: Himself", "G wolf: nothing", "B dancers: nothing"]
    assert next(flag_lines(snapshot)) == "MOVE held by march since 1"


@pytest.mark.states("colony: Other models: Four models on one body, one ledger of flags (ours) ...")
def test_by_day_whoever_comes_first_keeps_its_legs(field, agent):
    ivo, _ = agent
    stagger = driver(ivo, "wolf").available_goals[0].goal
    stagger._due = 10
    steps = []
    ivo.entity[Position].moved.connect(steps.append)
    field.sim.tick(20)
    refusal = next(iter(ivo.snapshot().refusals))
    assert (refusal.claimant, refusal.flag, refusal.holder) == ("wolf/stagger", MOVE, "march")
    assert "precedence 0 against 0" in refusal.reason
    assert steps == []
    # The plan is thought anew when the march is over; it begins before the wolf is asked again, or after.
    stagger._due = 61
    field.sim.tick(80)
    lines = list(flag_lines(ivo.snapshot()))
    assert sum(line.startswith("MOVE held by") for line in lines) == 1


@pytest.mark.states("colony: Other models: Four models on one body, one ledger of flags (ours) ...")
def test_the_wolf_that_came_first_makes_the_plan_wait(field):
    entity = field.person((5, 1), name="Ivo", traits=(POSSESSED,), actions=())
    entity.entity_data = {}
    ivo = field.sim.add(Agent(entity, registry=everything()))
    Possession(ivo)
    stagger = driver(ivo, "wolf").available_goals[0].goal
    stagger._due = 3
    field.sim.tick(4)
    assert list(flag_lines(ivo.snapshot())) == ["MOVE held by wolf/stagger since 4"]
    ivo.inject(March)
    field.sim.tick(2)
    snapshot = ivo.snapshot()
    assert [claim.claimant for claim in snapshot.waiting] == ["march"]
    assert any("march was refused MOVE" in line for line in flag_lines(snapshot))
    field.sim.tick(10)
    assert entity[Position].location == (5, 1)  # aside, and back
    assert next(flag_lines(ivo.snapshot())).startswith("MOVE held by march")
    assert ivo.snapshot().waiting == ()


@pytest.mark.states("colony: Other models: Four models on one body, one ledger of flags (ours) ...")
def test_when_the_moon_is_up_the_dancers_come_first(field, agent):
    ivo, possession = agent
    field.runtime.clock.tick = DUSK
    driver(ivo, "dancers").timers[:] = [field.runtime.clock.now]  # they have just danced
    field.sim.tick(2)
    assert doing(ivo.snapshot()) == "march"  # nobody said that it is dusk
    possession.senses.tell("OnDusk")
    driver(ivo, "dancers").timers[:] = [float("-inf")]
    field.sim.run_until(lambda: "PLAY" in driver(ivo, "dancers").active_path, 5)
    snapshot = ivo.snapshot()
    held = {view.flag: view.holder for view in snapshot.flags}
    assert held[MOVE].startswith("dancers/ROOT/PLAY")
    assert held[LOOK].startswith("dancers/ROOT/PLAY")
    assert driver(ivo, "dancers").precedence == 1
    field.sim.tick(3)
    assert [claim.claimant for claim in ivo.snapshot().waiting] == ["march"]
    field.sim.run_until(lambda: "PLAY" not in driver(ivo, "dancers").active_path, 120)
    field.sim.tick(2)
    assert possession.senses.state.behavior == "Wolf"
    assert [one.precedence for one in possession.drivers] == [1, 0]
    assert {view.flag: view.holder for view in ivo.snapshot().flags}[MOVE] == "march"
    assert ivo.error is None


def test_they_flip_roll_and_dance_in_any_order(field, agent):
    _, possession = agent
    field.runtime.clock.tick = DUSK
    possession.senses.tell("OnDusk")
    field.sim.run_until(lambda: possession.senses.state.behavior == "Wolf", 400)
    figures = [path.rpartition("/")[2] for _, path, event in mine(field, "dancers") if event == "activate"]
    assert set(figures) == {"ROOT", "PLAY", "FLIP", "ROLL", "DANCE"}


def test_the_wolf_howls_and_gives_the_say_back(field, agent):
    _, possession = agent
    field.runtime.clock.tick = DUSK
    for signal in ("OnDusk", "OnDanced"):
        possession.senses.tell(signal)
    field.sim.tick(2)
    assert possession.senses.state.behavior == "Wolf"
    field.runtime.clock.tick = 720  # night
    field.sim.run_until(lambda: possession.senses.state.behavior == "Dancers", 200)
    assert [path for _, path, event in mine(field, "wolf") if event == "stop"][-1] == "wolf/howl"


@pytest.mark.states("colony: Other models: Four models on one body, one ledger of flags (ours) ...")
def test_in_danger_the_plan_comes_before_the_dance(field, agent):
    ivo, possession = agent
    field.runtime.clock.tick = DUSK
    possession.senses.tell("OnDusk")
    field.sim.run_until(lambda: "PLAY" in driver(ivo, "dancers").active_path, 5)
    beast = field.town.being("wolf", (8, 1), pace=2)
    ivo.entity[Fear].notice((beast,), 3)
    ivo.inject(FleeThreats, top.RunFromDanger)
    field.sim.tick(3)
    assert possession.senses.state.behavior == "Afraid"
    assert [one.precedence for one in possession.drivers] == [-1, -1]
    assert {view.flag: view.holder for view in ivo.snapshot().flags} == {MOVE: "flee"}
    assert driver(ivo, "dancers").active_path == ("ROOT",)


def test_nobody_dances_asleep(field, agent):
    ivo, possession = agent
    ivo.entity[Needs].asleep = True
    field.runtime.clock.tick = DUSK
    possession.senses.tell("OnDusk")
    field.sim.tick(250)
    assert [path for _, path, event in mine(field, "dancers") if event == "activate"] == ["dancers/ROOT"]
    assert driver(ivo, "dancers").decision_flags == Moon.UP
    assert DANCERS.num_timers == 1


def test_a_glance_and_a_walk_do_not_disturb_each_other(field):
    entity = field.person((5, 1), name="Ivo", traits=(POSSESSED,), actions=(Stare,))
    ivo = field.agent_of(entity)
    Possession(ivo)
    driver(ivo, "wolf").available_goals[0].goal._due = 3
    field.sim.tick(5)
    assert {view.flag: view.holder for view in ivo.snapshot().flags} == {LOOK: "stare", MOVE: "wolf/stagger"}


@pytest.mark.states("colony: Other models: What models decide by survives saving: grudges, stimuli, variables ...")
@pytest.mark.slow
def test_who_is_possessed_stays_possessed(colony):
    colony.runtime.clock.tick = DUSK - 1
    for _ in range(3):
        colony.runtime.step()
    (ivo,) = colony.population.possessions
    assert (ivo.name, POSSESSED in ivo.entity[Traits]) == ("Ivo", True)
    assert colony.population.possessions[ivo].senses.state.variables["MoonUp"]
    other = load(json.loads(json.dumps(save(colony))))
    other.runtime.step()
    other.runtime.step()
    (again,) = other.population.possessions
    assert models_of(again.snapshot()) == "PSGB"
    assert other.population.possessions[again].senses.state.behavior == "Dancers"
    other.runtime.close()


def test_the_possessed_end_like_everybody(field):
    population = Population(field.town, field.runtime, Captain(field.town, field.foreman.watch))
    entity = population.body("hearthling", (5, 1), "Ivo")
    entity.add(Traits(POSSESSED))
    agent = population.join(entity)
    field.runtime.clock.tick = DUSK
    field.sim.tick(30)
    entity.destroy()
    field.sim.tick(3)
    assert field.runtime.agents == ()
    assert (population.possessions, agent.flags.holds()) == ({}, {})
    assert [record for record in field.sim.trace if record.event in ("fault", "disabled")] == []


def test_who_is_knocked_down_dances_no_more(field, agent):
    ivo, possession = agent
    field.runtime.clock.tick = DUSK
    possession.senses.tell("OnDusk")
    field.sim.run_until(lambda: "PLAY" in driver(ivo, "dancers").active_path, 5)
    wound(field.town, ivo.entity, 100)
    field.sim.tick(2)
    assert driver(ivo, "dancers").active_path == ("ROOT",)
