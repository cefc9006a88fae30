"""Hands: what fits together is planned, what does not is never ready, and hands are empty between plans."""

from __future__ import annotations

from agentrt import OUT, Action, CompoundAction, step
from agentrt_actions import (
    Carrier,
    Consumable,
    ConsumeCarried,
    FindEntity,
    IdleAtTop,
    Located,
    PickUp,
    PutDown,
    StandIdle,
    Storage,
    StoreCarried,
    Wait,
)


class TakeCake(CompoundAction):
    does = "agentrt:top"
    utility = 0.5
    steps = (
        step("agentrt:find_entity", tag="cake", name="cake"),
        step("agentrt:pick_up", item=OUT["cake"].entity),
        step("agentrt:wait", seconds=0.5),
        step("agentrt:consume_carried"),
    )


TAKING = (FindEntity, PickUp, Wait, ConsumeCarried, PutDown)


def test_a_cake_is_taken_and_eaten(world):
    cake = world.cake("hall")
    world.tags.put("cake", cake)
    agent = world.agent(TakeCake, *TAKING)
    world.sim.tick(3)
    assert agent.entity[Carrier].carrying is cake
    world.sim.tick(12)
    assert cake[Consumable].eaten_by == ["Ada"]
    assert cake.is_destroyed
    assert agent.entity[Carrier].carrying is None
    assert world.aborts() == []


def test_what_was_not_used_is_laid_down_when_the_plan_is_interrupted(world):
    class Alarm(Action):
        does = "agentrt:top"
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.sleep_ticks(6)
            ctx.set_think_output()

        async def run(self, ctx, args):
            assert ctx.entity[Carrier].carrying is None
            await ctx.sleep_ticks(100)

    cake = world.cake("hall")
    world.tags.put("cake", cake)
    agent = world.agent(TakeCake, Alarm, *TAKING)
    world.sim.tick(5)
    assert agent.entity[Carrier].carrying is cake
    world.sim.tick(5)
    assert agent.entity[Carrier].carrying is None
    assert cake[Located].location == "hall"
    assert agent.snapshot().running == "agentrt:top/Alarm"


def test_two_things_do_not_fit_into_the_hands(world):
    class TakeTwo(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="cake", name="cake"),
            step("agentrt:pick_up", item=OUT["cake"].entity),
            step("agentrt:pick_up", item=OUT["cake"].entity),
        )

    world.tags.put("cake", world.cake("hall"))
    world.agent(TakeTwo, IdleAtTop, StandIdle, *TAKING)
    world.sim.tick(20)
    assert not [path for _, _, path, _ in world.sim.events("start") if "TakeTwo" in path]


def test_nothing_in_the_hands_is_neither_stored_nor_eaten_nor_put_down(world):
    class Eat(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (step("agentrt:consume_carried"),)

    class Drop(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (step("agentrt:put_down"),)

    class Keep(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="storage", name="chest"),
            step("agentrt:store_carried", storage=OUT["chest"].entity),
        )

    world.chest("hall", "cake")
    world.agent(Eat, Drop, Keep, StoreCarried, *TAKING)
    world.sim.tick(5)
    assert world.sim.events("start") == []


def test_a_thing_can_be_put_down_elsewhere(world):
    class Move(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="cake", name="cake"),
            step("agentrt:pick_up", item=OUT["cake"].entity),
            step("agentrt:put_down"),
            step("agentrt:wait", seconds=9),
        )

    cake = world.cake("kitchen")
    world.tags.put("cake", cake)
    agent = world.agent(Move, *TAKING)
    world.sim.tick(4)
    assert agent.entity[Carrier].carrying is None
    assert cake[Located].location == "hall"  # it was within reach of the hands


def test_what_is_out_of_reach_or_refused_aborts(world):
    cake = world.cake("meadow")
    world.tags.put("cake", cake)
    agent = world.agent(TakeCake, *TAKING)
    world.sim.tick(2)
    assert world.aborts() == ["cake could not be picked up"]
    cake[Located].put("hall")
    agent.entity[Carrier].can_pick_up = False
    world.sim.tick(3)
    assert world.aborts() == ["cake could not be picked up"] * 2
    agent.entity[Carrier].can_pick_up = True
    world.sim.tick(4)
    assert agent.entity[Carrier].carrying is cake


def test_a_chest_that_was_shut_meanwhile_aborts(world):
    class Keep(CompoundAction):
        does = "agentrt:top"
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="cake", name="cake"),
            step("agentrt:pick_up", item=OUT["cake"].entity),
            step("agentrt:find_entity", tag="storage", name="chest"),
            step("agentrt:store_carried", storage=OUT["chest"].entity),
        )

    world.tags.put("cake", world.cake("hall"))
    chest = world.chest("hall", "cake", name="chest")
    chest[Storage].is_open = False
    world.agent(Keep, StoreCarried, *TAKING)
    world.sim.tick(3)
    assert world.aborts() == ["nothing could be stored in chest"]
