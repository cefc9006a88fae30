"""Following and chasing what moves, and losing it."""

from __future__ import annotations

import pytest

from agentrt import OUT, PREV, TOP, CompoundAction, step
from agentrt_actions import (
    ChaseEntity,
    FindEntity,
    FindPathToEntity,
    FleeThreats,
    FollowEntity,
    FollowPath,
    GotoEntity,
    IdleAtTop,
    Located,
    StandIdle,
    Threats,
    Wait,
)


def follows(**args):
    class Follow(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="duck", name="duck"),
            step("agentrt:follow_entity", target=OUT["duck"].entity, **args),
        )

    return Follow


class GoToDuck(CompoundAction):
    does = TOP
    utility = 0.5
    steps = (
        step("agentrt:find_entity", tag="duck", name="duck"),
        step("agentrt:goto_entity", entity=OUT["duck"].entity),
        step("agentrt:wait", seconds=1),
    )


GOING = (FindEntity, FindPathToEntity, FollowPath, GotoEntity, Wait)


@pytest.fixture
def duck(grid):
    made = grid.thing("duck", (3, 2), name="duck")
    grid.tags.says_who = True
    grid.tags.put("duck", made)
    made.destroyed.connect(lambda gone: grid.tags.take("duck", gone))
    return made


def test_a_follower_keeps_its_distance_and_goes_on_when_the_target_does(grid, duck):
    agent = grid.agent(follows(distance=1), FindEntity, FollowEntity, place=(0, 2))
    assert grid.steps(agent, 10) == [(0, (0, 2)), (3, (1, 2)), (5, (2, 2))]
    duck[Located].put((5, 2))
    assert grid.steps(agent, 5) == [(10, (2, 2)), (13, (3, 2)), (15, (4, 2))]
    duck[Located].put((5, 1))
    assert grid.steps(agent, 5) == [(15, (4, 2)), (18, (5, 2))]
    assert grid.sim.events("complete", "abort") == []


def test_following_ends_when_its_time_is_over_standing_or_walking(grid, duck):
    agent = grid.agent(follows(distance=1, seconds=1.0), FindEntity, FollowEntity, place=(2, 2))
    grid.sim.tick(21)
    assert grid.told("complete") == [(21, "agentrt:top", "complete")]
    duck[Located].put((8, 2))
    grid.sim.tick(20)
    assert agent.entity[Located].location == (7, 2)
    assert [tick for tick, *_ in grid.told("complete")] == [21, 41]


def test_a_follower_waits_for_a_way(grid, duck):
    agent = grid.agent(follows(distance=1), FindEntity, FollowEntity, place=(2, 2))
    grid.sim.tick(2)
    grid.rooms.closed.append((4, 2))
    duck[Located].put((8, 2))
    assert grid.walk(agent, 6) == [(2, 2)]
    grid.rooms.closed.remove((4, 2))
    grid.rooms.changed.emit()
    assert grid.walk(agent, 5) == [(2, 2), (3, 2), (4, 2)]
    assert grid.aborts() == []


def test_a_follower_whose_target_is_destroyed_aborts(grid, duck):
    grid.agent(follows(distance=1), FindEntity, FollowEntity, place=(2, 2))
    grid.sim.tick(5)
    duck.destroy()
    grid.sim.tick(2)
    assert grid.aborts() == ["duck was destroyed"]


def test_a_way_to_a_target_that_walks_off_is_found_again_while_walking(grid, duck):
    agent = grid.agent(GoToDuck, *GOING, place=(0, 2))
    assert grid.steps(agent, 4) == [(0, (0, 2)), (3, (1, 2))]
    duck[Located].put((3, 4))
    assert grid.steps(agent, 12) == [(4, (1, 2)), (5, (2, 2)), (7, (3, 2)), (9, (3, 3)), (11, (3, 4))]
    duck[Located].put((3, 3))  # too late: it has arrived
    grid.sim.tick(20)
    assert [tick for tick, *_ in grid.told("complete")] == [31]
    assert grid.aborts() == []


def test_a_target_that_walks_off_for_good_is_walked_after_for_good(grid, duck):
    agent = grid.agent(GoToDuck, *GOING, place=(0, 2))
    for column in (4, 5, 6, 7, 8):
        grid.sim.tick(2)
        duck[Located].put((column, 2))
    assert grid.walk(agent, 7) == [(4, 2), (5, 2), (6, 2), (7, 2), (8, 2)]


@pytest.mark.states("001: abort: The example: the target was destroyed on the way")
def test_a_target_that_is_destroyed_on_the_way_aborts_at_the_next_step(grid, duck):
    agent = grid.agent(GoToDuck, *GOING, place=(0, 2))
    grid.sim.tick(3)
    duck.destroy()
    grid.sim.tick(3)
    assert grid.told("abort") == [(5, "FollowPath", "abort")]
    assert grid.aborts() == ["duck was destroyed on the way to it"]
    assert agent.entity[Located].location == (2, 2)


def test_a_chase_ends_when_the_target_is_no_more(grid, duck):
    class Hunt(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="duck"),
            step("agentrt:chase_entity", target=PREV.entity, reach=0),
            step("agentrt:wait", seconds=0.2),
        )

    agent = grid.agent(Hunt, ChaseEntity, *GOING, place=(0, 2))
    grid.sim.tick(3)
    duck.destroy()
    grid.sim.tick(10)
    assert grid.told("complete", "abort") == [(9, "agentrt:top", "complete")]
    assert agent.entity[Located].location == (2, 2)


def test_who_flees_and_is_cornered_stays_there_until_the_threat_is_gone(grid):
    class RunAway(CompoundAction):
        does = TOP
        utility = 0.9
        steps = (step("agentrt:flee_threats"),)

    agent = grid.agent(RunAway, FleeThreats, IdleAtTop, StandIdle, place=(1, 1))
    bear = grid.thing("bear", (3, 2))
    agent.entity[Threats].see(bear)
    assert grid.walk(agent, 20) == [(1, 1), (1, 0), (0, 0)]
    agent.entity[Threats].see()
    grid.sim.tick(2)
    assert agent.snapshot().running.endswith("StandIdle")


# --- what is drawn of it ------------------------------------------------------------------------------------------------


def overlays(agent):
    """What the actions that an agent runs offer to who looks at the world."""
    found, frames = {}, [agent.snapshot().plan]
    while frames:
        for unit in frames.pop().units:
            if unit.is_elected:
                found.update({key: (value["draws"], value["points"]) for key, value in unit.debug.items()})
                frames.extend(unit.frames)
    return found


@pytest.mark.states("tools: World: The standard actions offer the path that is left, whom they follow, whom they flee")
def test_what_is_left_of_a_path_is_drawn(grid, duck):
    agent = grid.agent(GoToDuck, *GOING, place=(0, 2))
    grid.sim.tick(1)
    assert overlays(agent) == {"path": ("path", [[3, 2], [2, 2], [1, 2]])}
    grid.sim.tick(2)
    assert overlays(agent) == {"path": ("path", [[3, 2], [2, 2]])}
    duck[Located].put((3, 3))
    grid.sim.tick(2)
    assert overlays(agent)["path"][1][0] == [3, 3]


@pytest.mark.states(
    "tools: World: The standard actions offer the path that is left, whom they follow, whom they flee ..."
)
def test_whom_one_follows_or_flees_is_drawn_wherever_that_is(grid, duck):
    class RunAway(CompoundAction):
        does = TOP
        utility = 0.9
        steps = (step("agentrt:flee_threats"),)

    follower = grid.agent(follows(distance=1), FindEntity, FollowEntity, place=(0, 2))
    timid = grid.agent(RunAway, FleeThreats, IdleAtTop, StandIdle, place=(1, 1), name="Tim")
    timid.entity[Threats].see(duck)
    grid.sim.tick(2)
    assert overlays(follower) == {"target": ("target", [[3, 2]])}
    assert overlays(timid) == {"threats": ("seen", [[3, 2]])}
    duck[Located].put((4, 2))
    assert overlays(follower) == {"target": ("target", [[4, 2]])}
    assert overlays(timid) == {"threats": ("seen", [[4, 2]])}
