"""Going somewhere: paths are followed, found again, and kept true while they are thought about."""

from __future__ import annotations

import pytest

from agentrt import OUT, PREV, CompoundAction, step
from agentrt_actions import (
    ChaseEntity,
    FindEntity,
    FindPathToEntity,
    FindPathToLocation,
    FleeThreats,
    FollowPath,
    GotoEntity,
    GotoLocation,
    IdleAtTop,
    IdleWander,
    Located,
    StandIdle,
    Threats,
    Wander,
)

GOING = (FindPathToEntity, FindPathToLocation, FollowPath, GotoEntity, GotoLocation)


class GoToHill(CompoundAction):
    does = "agentrt:top"
    utility = 0.5
    steps = (step("agentrt:goto_location", location="hill"),)


class GoToCat(CompoundAction):
    does = "agentrt:top"
    utility = 0.5
    steps = (
        step("agentrt:find_entity", tag="cat", name="cat"),
        step("agentrt:goto_entity", entity=OUT["cat"].entity),
    )


class ThereAndBack(CompoundAction):
    """The second path begins where the first one ends."""

    does = "agentrt:top"
    utility = 0.5
    steps = (
        step("agentrt:goto_location", location="hill"),
        step("agentrt:goto_location", location="cellar"),
    )


def test_a_path_is_followed_two_ticks_a_step(world):
    agent = world.agent(GoToHill, *GOING)
    assert world.walk(agent, 8) == ["hall", "kitchen", "garden", "meadow"]
    assert world.walk(agent, 1) == ["meadow", "hill"]


@pytest.mark.states("001: Step declarations: Path following and chasing modify it")
def test_a_later_step_plans_from_where_the_earlier_one_ends(world):
    agent = world.agent(ThereAndBack, *GOING)
    world.sim.tick()
    second = [record for record in world.sim.trace if record.event == "ready" and record.path.endswith("FollowPath")]
    assert [dict(record.detail)["utility"] for record in second] == [0.9, 0.875]  # 40 of 400, then 50 of 400
    assert world.walk(agent, 18)[-1] == "cellar"
    assert world.aborts() == []


def test_a_target_that_moves_while_thinking_has_the_path_found_again(world):
    cat = world.thing("cat", "pond", name="cat")
    world.tags.put("cat", cat)
    agent = world.agent(GoToCat, FindEntity, *GOING)
    assert world.walk(agent, 5) == ["hall"]
    cat[Located].put("garden")
    world.tags.changed("cat").emit()
    assert world.walk(agent, 5) == ["hall", "kitchen", "garden"]


def test_a_closed_way_is_walked_when_it_opens(world):
    world.rooms.closed = ["meadow"]
    agent = world.agent(GoToHill, *GOING)
    assert world.walk(agent, 5) == ["hall"]
    world.rooms.closed = []
    world.rooms.changed.emit()
    assert world.walk(agent, 10)[-1] == "hill"


def test_a_blocked_step_is_tried_three_times_and_then_aborts(world):
    world.rooms.blocked_steps = ["meadow"]
    agent = world.agent(GoToHill, *GOING)
    assert world.walk(agent, 11) == ["hall", "kitchen", "garden"]
    assert world.aborts() == ["the way to hill is blocked"]


def test_a_way_that_closes_for_good_aborts(world):
    agent = world.agent(GoToHill, *GOING)
    assert world.walk(agent, 5) == ["hall", "kitchen", "garden"]
    world.rooms.closed = ["hill", "meadow"]
    world.sim.tick(2)
    assert world.aborts() == ["no path leads to hill any more"]


def test_a_step_that_was_blocked_once_is_found_around(world):
    agent = world.agent(GoToHill, *GOING)
    world.sim.tick(2)
    world.rooms.blocked_steps = ["kitchen"]
    world.sim.tick(1)
    world.rooms.blocked_steps = []
    assert world.walk(agent, 10)[-1] == "hill"
    assert world.aborts() == []


def test_wandering_turns_back_only_at_a_dead_end(world):
    class WanderAtTop(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (step("agentrt:wander", least=8, most=8),)

    agent = world.agent(WanderAtTop, Wander, place="meadow")
    seen = world.walk(agent, 17)
    assert len(seen) == 9
    for before, here, after in zip(seen, seen[1:], seen[2:], strict=False):
        assert before != after or len(world.rooms.neighbors(here)) == 1


def test_idling_is_drawn_by_weight(world):
    agent = world.agent(IdleAtTop, StandIdle, IdleWander, Wander)
    world.sim.tick(2000)
    ran = [record.path.split("/")[-1] for record in world.sim.trace if record.event == "run"]
    assert 1.2 < ran.count("StandIdle") / ran.count("IdleWander") < 3.4  # weights 2 and 1
    assert agent.is_alive


class RunAway(CompoundAction):
    does = "agentrt:top"
    utility = 0.9
    steps = (step("agentrt:flee_threats"),)


def test_fleeing_leads_where_the_threat_has_the_longest_way(world):
    agent = world.agent(RunAway, FleeThreats, IdleAtTop, StandIdle)
    bear = world.thing("bear", "cellar")
    world.sim.tick(2)
    agent.entity[Threats].see(bear)
    assert world.walk(agent, 12) == ["hall", "kitchen", "garden", "meadow", "hill"]
    agent.entity[Threats].see()
    world.sim.tick(2)
    assert agent.snapshot().running.endswith("StandIdle")


class HuntMouse(CompoundAction):
    does = "agentrt:top"
    utility = 0.5
    steps = (
        step("agentrt:find_entity", tag="mouse"),
        step("agentrt:chase_entity", target=PREV.entity, reach=0, patience=4),
    )


def test_a_chase_follows_and_ends_in_reach(world):
    mouse = world.thing("mouse", "garden")
    world.tags.put("mouse", mouse)
    agent = world.agent(HuntMouse, FindEntity, ChaseEntity)
    world.sim.tick(2)
    mouse[Located].put("meadow")
    assert world.walk(agent, 6) == ["hall", "kitchen", "garden", "meadow"]
    world.sim.tick()
    assert world.sim.events("complete")[0][0] == 7


def test_a_chase_that_takes_too_long_is_given_up_without_an_abort(world):
    mouse = world.thing("mouse", "hill")
    world.tags.put("mouse", mouse)
    agent = world.agent(HuntMouse, FindEntity, ChaseEntity, place="cellar")
    assert world.walk(agent, 9) == ["cellar", "hall", "kitchen", "garden", "meadow"]
    assert [tick for tick, *_ in world.sim.events("complete")] == [9]
    assert world.aborts() == []
