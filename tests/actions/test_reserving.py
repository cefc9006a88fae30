"""Reserving things and parts of things, and what CURRENT says of it meanwhile."""

from __future__ import annotations

import pytest

from agentrt import CALL, CURRENT, OUT, PREV, TOP, Action, ActionArgs, CompoundAction, step
from agentrt_actions import (
    FindEntity,
    FindPathToLocation,
    FollowPath,
    GotoLocation,
    Located,
    Region,
    ReserveEntity,
    ReserveEntityDestination,
    Wait,
    entity_key,
)

SITTING = (FindEntity, ReserveEntityDestination, GotoLocation, FindPathToLocation, FollowPath, Wait)


class Sit(CompoundAction):
    does = TOP
    utility = 0.5
    steps = (
        step("agentrt:find_entity", tag="bench", reach=1, name="bench"),
        step("agentrt:reserve_entity_destination", entity=PREV.entity, name="seat"),
        step("agentrt:goto_location", location=PREV.location),
        step("agentrt:wait", seconds=1),
    )


class Note(Action):
    """Notes what it is called with."""

    does = "test:note"
    utility = 1.0
    notes = []

    class Args(ActionArgs):
        what: object

    async def think(self, ctx, args):
        self.notes.append(args.what)
        ctx.set_think_output()


@pytest.fixture
def notes():
    Note.notes = []
    return Note.notes


@pytest.fixture
def bench(grid):
    made = grid.bench((2, 0), (3, 0))
    grid.tags.put("bench", made)
    return made


def held(grid, bench):
    return {
        part.key: getattr(holder, "name", holder)
        for part in bench[Region].parts
        if (holder := grid.leases.holder(part)) is not None
    }


def test_the_nearest_free_seat_is_reserved_for_as_long_as_the_plan_lasts(grid, bench):
    ada = grid.agent(Sit, *SITTING, name="Ada", place=(1, 0))
    bea = grid.agent(Sit, *SITTING, name="Bea", place=(1, 1))
    grid.sim.tick(2)
    assert held(grid, bench) == {0: "Ada", 1: "Bea"}
    grid.sim.tick(7)
    assert [agent.entity[Located].location for agent in (ada, bea)] == [(2, 0), (3, 0)]
    grid.sim.runtime.remove(ada)
    grid.sim.tick(2)
    assert held(grid, bench) == {1: "Bea"}
    assert grid.aborts() == []


def test_who_finds_no_free_seat_waits_until_one_is_given_back(grid, bench):
    first, second = (grid.leases.acquire(part, "somebody") for part in bench[Region].parts)
    agent = grid.agent(Sit, *SITTING, place=(1, 0))
    grid.sim.tick(3)
    assert agent.snapshot().running == ""
    assert grid.told("reject")[0] == (1, "ReserveEntityDestination", "reject")
    second.release()
    grid.sim.tick(60)  # it asks again at longer and longer intervals
    assert held(grid, bench)[1] == "Ada"
    assert first.is_held


def test_a_seat_that_goes_while_the_plan_is_thought_gives_way_to_another(grid, bench):
    class SitLater(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (*Sit.steps, step("test:ring"))

    class Ring(Action):
        does = "test:ring"
        utility = 1.0

        async def think(self, ctx, args):
            await ctx.sleep_ticks(5)
            ctx.set_think_output()

    grid.agent(SitLater, Ring, *SITTING, place=(1, 0))
    grid.sim.tick(2)
    assert held(grid, bench) == {}
    region = bench[Region]
    del region.parts[0]
    region.changed.emit()
    grid.sim.tick(6)
    assert held(grid, bench) == {1: "Ada"}


def test_a_certain_part_can_be_asked_for(grid, bench):
    class SitThere(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="bench", reach=1),
            step("agentrt:reserve_entity_destination", entity=PREV.entity, key=1),
            step("agentrt:wait", seconds=1),
        )

    grid.agent(SitThere, *SITTING, place=(1, 0))
    grid.sim.tick(2)
    assert held(grid, bench) == {1: "Ada"}


@pytest.mark.states("001: Step declarations: self_region_reserved: from id to a table from offset key to offset")
def test_two_parts_of_one_thing_in_one_plan(grid, bench, notes):
    class Spread(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="bench", reach=1, name="bench"),
            step("agentrt:reserve_entity_destination", entity=OUT["bench"].entity),
            step("test:note", what=CALL(dict, CURRENT.self_region_reserved)),
            step("agentrt:reserve_entity_destination", entity=OUT["bench"].entity),
            step("test:note", what=CALL(dict, CURRENT.self_region_reserved)),
            step("agentrt:wait", seconds=1),
        )

    grid.agent(Spread, Note, *SITTING, place=(1, 0))
    grid.sim.tick(2)
    assert notes[:2] == [{bench: {0: (0, 0)}}, {bench: {0: (0, 0), 1: (1, 0)}}]
    assert held(grid, bench) == {0: "Ada", 1: "Ada"}


@pytest.mark.states(
    "001: Step declarations: self_reserved: from id to entity, what the steps before will have reserved",
)
def test_a_plan_does_not_find_again_what_it_will_have_reserved(grid, notes):
    class TakeTwo(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="log", name="first"),
            step("agentrt:reserve_entity", entity=PREV.entity),
            step("agentrt:find_entity", tag="log", name="second"),
            step("agentrt:reserve_entity", entity=PREV.entity),
            step("test:note", what=CALL(dict, CURRENT.self_reserved)),
            step("agentrt:wait", seconds=1),
        )

    near, far = grid.thing("log", (1, 0), name="near"), grid.thing("log", (3, 0), name="far")
    far.id = 7
    grid.tags.put("log", near, far)
    agent = grid.agent(TakeTwo, Note, ReserveEntity, *SITTING, place=(0, 0))
    grid.sim.tick(2)
    assert [grid.leases.holder(log) for log in (near, far)] == [agent, agent]
    assert notes[0] == {near: near, 7: far}


def test_what_is_reserved_is_not_seen_by_another_plan(grid, notes):
    class Reserve(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="log"),
            step("agentrt:reserve_entity", entity=PREV.entity),
            step("agentrt:wait", seconds=1),
        )

    class Look(CompoundAction):
        does = TOP
        utility = 0.4
        steps = (step("test:note", what=CALL(dict, CURRENT.self_reserved)),)

    grid.tags.put("log", grid.thing("log", (1, 0)))
    grid.agent(Reserve, Look, Note, ReserveEntity, *SITTING, place=(0, 0))
    grid.sim.tick(3)
    assert notes == [{}]


def test_an_entity_stands_under_its_id_or_itself(grid):
    log = grid.thing("log", (0, 0))
    assert entity_key(log) is log
    log.id = 3
    assert entity_key(log) == 3
