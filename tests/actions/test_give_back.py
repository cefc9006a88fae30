"""Every standard action that takes something gives it back: interrupted at any moment, its target gone at any moment.

One plan for each action, in the grid. Each is played through once for every tick that it may be interrupted in, and once
for every tick that its target may be destroyed in; afterwards nothing is held, carried, played or listened to.
"""

from __future__ import annotations

import pytest

import agentrt_actions
from agentrt import OUT, PREV, TOP, CompoundAction, step
from agentrt_actions import (
    Carrier,
    Located,
    Needs,
    Sleeper,
    Threats,
)

pytestmark = pytest.mark.slow

LIBRARY = [
    action
    for key, action in agentrt_actions.manifest.aliases.items()
    if key.startswith("actions:") and action.does != TOP
]

PLANS = {}


def plan(*steps):
    """A plan, whose function makes the world around it and gives back the target that may get lost."""

    def register(make):
        PLANS[make.__name__] = (steps, make)
        return make

    return register


def a_thing(world, place=(6, 2)):
    made = world.thing("thing", place, name="thing")
    world.tags.put("thing", made)
    return made


FIND = step("agentrt:find_entity", tag="thing", name="thing")
THING = OUT["thing"].entity


@plan(FIND, step("agentrt:reserve_entity", entity=THING), step("agentrt:goto_entity", entity=THING))
def reserve_and_go(world, agent):
    return a_thing(world)


@plan(FIND, step("agentrt:follow_entity", target=THING, distance=1))
def follow(world, agent):
    return a_thing(world)


@plan(FIND, step("agentrt:chase_entity", target=THING), step("agentrt:wait", seconds=1))
def chase(world, agent):
    return a_thing(world)


@plan(step("agentrt:flee_threats"))
def flee(world, agent):
    bear = world.thing("bear", (0, 0))
    agent.entity[Threats].see(bear)
    bear.destroyed.connect(lambda _gone: agent.entity[Threats].see())
    return bear


@plan(step("agentrt:patrol", route=((8, 0), (0, 4)), rounds=0))
def patrol(world, agent):
    return None


@plan(step("agentrt:wander", least=20, most=20))
def wander(world, agent):
    return None


@plan(step("agentrt:goto_location", location=(8, 4)))
def go_to_a_place(world, agent):
    return None


@plan(step("agentrt:fetch_item", tag="thing"), step("agentrt:wait", seconds=0.2), step("agentrt:put_down"))
def fetch_and_drop(world, agent):
    return a_thing(world, (3, 2))


@plan(
    step("agentrt:fetch_item", tag="thing", rating=lambda thing: 0.5, name="fetched"),
    step("agentrt:stow_carried"),
    step("agentrt:unpack_item", item=OUT["fetched"].item),
    step("agentrt:store_item", item=OUT["fetched"].item),
)
def through_the_backpack(world, agent):
    world.chest((8, 2), "thing", name="chest")
    return a_thing(world, (3, 2))


@plan(step("agentrt:fetch_item", tag="thing"), step("agentrt:store_item", item=PREV.item))
def store(world, agent):
    a_thing(world, (3, 2))
    return world.chest((5, 2), "thing", name="chest")


@plan(FIND, step("agentrt:carry_item", item=THING, location=(1, 1)))
def carry(world, agent):
    return a_thing(world, (3, 2))


@plan(
    FIND,
    step("agentrt:reserve_entity_destination", entity=THING),
    step("agentrt:goto_location", location=PREV.location),
)
def reserve_a_part(world, agent):
    bench = world.bench((5, 1), (5, 2))
    world.tags.put("thing", bench)
    return bench


@plan(
    FIND,
    step("agentrt:abort_on_event_triggered", source=THING, event="noise"),
    step("agentrt:wait_for_event", source=THING, event="song"),
)
def listen(world, agent):
    return a_thing(world)


@plan(step("agentrt:run_effect", effect="dance", times=3))
def dance(world, agent):
    world.stage.ticks = 4
    return


@plan(step("agentrt:idle"))
def fidget(world, agent):
    world.stage.ticks = 4
    return


@plan(step("agentrt:sleep"))
def sleep(world, agent):
    agent.entity[Needs].feel(sleep=1.0)
    bed = world.thing("bed", (3, 2), name="bed")
    world.tags.put("bed", bed)
    return bed


@plan(step("agentrt:rest_when_injured"))
def rest(world, agent):
    agent.entity[Needs].feel(recovery=1.0)
    bed = world.thing("bed", (3, 2), name="bed")
    world.tags.put("bed", bed)
    return bed


@plan(step("agentrt:eat", seconds=0.2))
def eat(world, agent):
    cake = world.cake((3, 2))
    world.tags.put("food", cake)
    return cake


def begin(world, name, *more):
    world.tags.says_who = True
    declared, make = PLANS[name]

    class Plan(CompoundAction):
        does = TOP
        utility = 0.5
        steps = declared

    agent = world.agent(Plan, *LIBRARY, *more, place=(1, 2))
    target = make(world, agent)
    if target is not None:
        for tag, under in world.tags.under.items():
            if target in under:
                target.destroyed.connect(lambda gone, tag=tag: world.tags.take(tag, gone))
    return agent, target


def held(world, agent, target):
    """All that a plan can hold."""
    entity = agent.entity
    signals = {
        "reservations": world.leases.changed,
        "ways": world.rooms.changed,
        "moves": entity[Located].moved,
        "needs": entity[Needs].changed,
        "threats": entity[Threats].changed,
    }
    if target is not None:
        signals |= {f"target {name}": target.signal(name) for name in ("noise", "song", "destroyed")}
        signals["target moves"] = target[Located].moved
    listeners = {name: repr(signal) for name, signal in signals.items()}
    return {
        "leases": len(world.leases),
        "carried": entity[Carrier].carrying,
        "flags": agent.flags.holds(),
        "lies on": entity[Sleeper].lies_on,
        "effects": None if not world.stage.playing else world.stage.last.done,
        "readers": sum(shared.users for shared in world.finder._sieves),
        **listeners,
    }


@pytest.mark.states("001: stop: What the standard actions took is given back, however they end")
@pytest.mark.parametrize("name", PLANS)
def test_interrupted_at_any_moment_nothing_is_left(new_grid, name):
    still = new_grid()
    resting, target = begin(still, name, still.alarm_at(0))
    still.sim.tick(3)
    free = held(still, resting, target)
    assert (free["leases"], free["carried"], free["flags"]) == (0, None, {})
    ran = set()
    for tick in range(1, 25):
        world = new_grid()
        agent, target = begin(world, name, world.alarm_at(tick))
        world.sim.tick(tick + 2)
        ran.update(record.path for record in world.sim.trace if record.event == "run")
        after = held(world, agent, target)
        assert after == free, f"interrupted in tick {tick}"
        assert agent.snapshot().running == "agentrt:top/Alarm"
    # Each step of the plan was interrupted at least once, or was over before.
    assert [one.activity for one in PLANS[name][0] if not any(f"Plan/{one.activity}" in path for path in ran)] == []


@pytest.mark.parametrize(
    "name", [name for name in PLANS if name not in ("patrol", "wander", "go_to_a_place", "dance", "fidget")]
)
def test_a_target_that_is_lost_at_any_moment_ends_the_plan_and_nothing_else(new_grid, name):
    for tick in range(1, 25):
        world = new_grid()
        agent, target = begin(world, name)
        world.sim.tick(tick)
        target.destroy()
        world.sim.tick(25)
        assert agent.is_alive, f"destroyed after tick {tick}"
        assert not [record for record in world.sim.trace if record.event in ("fault", "killed", "storm")]
        assert not agent.flags.holds() or name == "sleep"
