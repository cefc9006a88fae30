"""Finding things: the nearest that can be had, and another one when it is taken."""

from __future__ import annotations

import pytest

from agentrt import OUT, PREV, Action, CompoundAction, step
from agentrt_actions import (
    Carrier,
    FindEntity,
    FindPathToEntity,
    FindPathToLocation,
    FindStorage,
    FollowPath,
    GotoEntity,
    Located,
    PickUp,
    ReserveEntity,
    StandIdle,
    StoreCarried,
    StoreItem,
    nearness,
)

GOING = (FindEntity, FindPathToEntity, FollowPath, GotoEntity, ReserveEntity)


class GoToApple(CompoundAction):
    does = "agentrt:top"
    utility = 0.5
    steps = (
        step("agentrt:find_entity", tag="apple", name="apple"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["apple"].entity),
        step("agentrt:idle"),
    )


def found(world, agent="Ada"):
    """Which entities an agent's search has offered, in order."""
    return [
        dict(record.detail)["text"].split(",")[0]
        for record in world.sim.trace
        if record.event == "progress" and record.agent == agent
    ]


def test_the_nearest_is_found_and_the_unreachable_never(world):
    for place in ("pond", "hill", "kitchen"):
        world.tags.put("apple", world.thing("apple", place, name=f"apple in the {place}"))
    world.agent(GoToApple, StandIdle, *GOING)
    world.sim.tick()
    assert found(world) == ["apple in the kitchen"]


def test_of_equally_near_ones_the_first_is_taken(world):
    for place in ("attic", "cellar", "kitchen"):
        world.tags.put("apple", world.thing("apple", place, name=place))
    world.agent(GoToApple, StandIdle, *GOING)
    world.sim.tick()
    assert found(world) == ["attic"]


def test_nothing_to_find_waits_for_something(world):
    agent = world.agent(GoToApple, StandIdle, *GOING)
    world.sim.tick(5)
    assert agent.snapshot().running == ""
    world.tags.put("apple", world.thing("apple", "attic", name="apple"))
    assert world.walk(agent, 3) == ["hall", "attic"]


def test_what_somebody_else_reserved_is_left_alone(world):
    near, far = world.thing("apple", "kitchen", name="near"), world.thing("apple", "hill", name="far")
    world.tags.put("apple", near, far)
    world.agent(GoToApple, StandIdle, *GOING, name="Ada")
    world.agent(GoToApple, StandIdle, *GOING, name="Bea")
    world.sim.tick(2)
    assert found(world, "Ada")[-1] == "near"
    assert found(world, "Bea")[-1] == "far"
    assert world.leases.holder(near).name == "Ada"
    assert world.leases.holder(far).name == "Bea"
    assert world.aborts() == []


def test_a_lease_is_given_back_when_the_plan_ends(world):
    apple = world.thing("apple", "kitchen", name="apple")
    world.tags.put("apple", apple)
    agent = world.agent(GoToApple, StandIdle, *GOING)
    world.sim.tick(2)
    assert world.leases.holder(apple) is agent
    world.sim.runtime.remove(agent)
    world.sim.tick(2)
    assert world.leases.holder(apple) is None


def test_who_waits_takes_over_what_is_given_back(world):
    apple = world.thing("apple", "kitchen", name="apple")
    world.tags.put("apple", apple)
    ada = world.agent(GoToApple, StandIdle, *GOING, name="Ada")
    bea = world.agent(GoToApple, StandIdle, *GOING, name="Bea")
    world.sim.tick(3)
    assert world.leases.holder(apple) is ada
    world.sim.runtime.remove(ada)
    world.sim.tick(2)
    assert world.leases.holder(apple) is bea


def test_within_and_reserved_bend_the_search(world):
    class Peek(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (step("agentrt:find_entity", tag="apple", within=20, reserved=True), step("agentrt:idle"))

    held, far = world.thing("apple", "garden", name="held"), world.thing("apple", "hill", name="far")
    world.tags.put("apple", far, held)
    world.leases.acquire(held, "somebody")
    world.agent(Peek, FindEntity, StandIdle)
    world.sim.tick()
    assert found(world) == ["held"]


def test_a_storage_that_accepts_is_found_and_used(world):
    class Tidy(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="apple", name="apple"),
            step("agentrt:reserve_entity", entity=PREV.entity),
            step("agentrt:goto_entity", entity=OUT["apple"].entity),
            step("agentrt:pick_up", item=OUT["apple"].entity),
            step("agentrt:store_item", item=OUT["apple"].entity),
        )

    apple = world.thing("apple", "kitchen", name="apple")
    world.tags.put("apple", apple)
    world.chest("attic", "pear", name="pears")
    apples = world.chest("meadow", "apple", name="apples")
    agent = world.agent(Tidy, FindStorage, PickUp, StoreCarried, StoreItem, *GOING)
    world.sim.run_until(lambda: agent.entity[Carrier].carrying is None and apples in world.tags.find("storage"), 1)
    world.sim.tick(9)
    from agentrt_actions import Storage

    assert apples[Storage].items == [apple]
    assert agent.entity[Located].location == "meadow"
    assert agent.entity[Carrier].carrying is None
    assert world.aborts() == []


@pytest.mark.parametrize(("cost", "near"), [(0, 1.0), (100, 0.75), (400, 0.0), (4000, 0.0)])
def test_nearness(cost, near):
    assert nearness(cost) == near


def test_walking_is_worth_a_look_only_after_a_quarter_of_the_way(grid):
    class Never(Action):
        does = "test:never"
        utility = 1.0

        async def think(self, ctx, args):
            await ctx.signals["never"].wait()

    class Look(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (step("agentrt:find_entity", tag="apple"), step("test:never"))

    grid.tags.put("apple", grid.thing("apple", (8, 2), name="far"), grid.thing("apple", (0, 4), name="near"))
    agent = grid.agent(Look, FindEntity, Never, place=(4, 2))
    grid.sim.tick()
    asked = []
    costs = grid.rooms.costs
    grid.rooms.costs = lambda start, goals, *, reach=0: asked.append(start) or costs(start, goals, reach=reach)
    for column in (3, 2, 1, 0):
        agent.entity[Located].put((column, 2))
        grid.sim.tick()
    assert asked == [(3, 2), (1, 2), (0, 2)]  # the farther it is, the more steps until the next look
    assert found(grid) == ["far", "near"]


def looks(grid):
    """How often the costs of paths were asked for, by what the world told in between."""
    asked = []
    costs = grid.rooms.costs
    grid.rooms.costs = lambda start, goals, *, reach=0: asked.append(len(goals)) or costs(start, goals, reach=reach)
    return asked


class Search(CompoundAction):
    does = "agentrt:top"
    utility = 0.5
    steps = (step("agentrt:find_entity", tag="apple"), step("test:never"))


class Never(Action):
    does = "test:never"
    utility = 1.0

    async def think(self, ctx, args):
        await ctx.signals["never"].wait()


def test_what_changes_nothing_about_the_nearest_is_not_worth_a_look(grid):
    grid.tags.says_who = True
    near, other = grid.thing("apple", (1, 0), name="near"), grid.thing("apple", (3, 2), name="other")
    grid.tags.put("apple", near, other)
    asked = looks(grid)
    grid.agent(Search, FindEntity, Never, place=(0, 0))
    grid.sim.tick()
    far = [grid.thing("apple", (8, row), name="far") for row in (3, 4)]
    grid.tags.put("apple", *far)  # more steps away than the path to what is offered costs
    grid.tags.take("apple", far[0])
    lease = grid.leases.acquire(other, "somebody")
    grid.leases.acquire("something that is no entity", "somebody")
    grid.sim.tick()
    lease.release()
    grid.sim.tick()
    assert len(asked) == 1
    grid.tags.put("apple", grid.thing("apple", (0, 1), name="as near"))
    grid.sim.tick()
    assert len(asked) == 2
    taken = grid.leases.acquire(near, "somebody")
    grid.sim.tick()
    assert len(asked) == 3
    taken.release()
    grid.sim.tick()
    assert len(asked) == 4
    assert found(grid) == ["near", "as near", "near"]


@pytest.mark.states("001: Making plans: A path finder listens to the world and keeps its output true")
def test_a_path_that_is_lost_while_thinking_is_taken_back(grid):
    class Walk(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (step("agentrt:find_path_to_location", location=(8, 2)), step("test:never"))

    grid.agent(Walk, FindPathToLocation, Never, place=(0, 2))
    grid.sim.tick()
    grid.rooms.closed.append((4, 2))
    grid.rooms.changed.emit()
    grid.sim.tick()
    assert grid.told("ready", "unready") == [(1, "FindPathToLocation", "ready"), (2, "FindPathToLocation", "unready")]
