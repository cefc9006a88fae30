"""Fetching, carrying somewhere, stowing away: plans around one thing, and what CURRENT says of hands and backpack."""

from __future__ import annotations

import pytest

import agentrt_actions
from agentrt import CALL, CURRENT, TOP, Action, ActionArgs, CompoundAction, step
from agentrt_actions import Backpacker, Carrier, Located

LIBRARY = [
    action
    for key, action in agentrt_actions.manifest.aliases.items()
    if key.startswith("actions:") and action.does != TOP
]


class Expect(Action):
    """Notes what it is called with, when it is thought."""

    does = "test:expect"
    utility = 1.0

    class Args(ActionArgs):
        what: object

    async def think(self, ctx, args):
        ctx.set_debug_progress(str(args.what))
        ctx.set_think_output()


def expected(grid):
    told = [
        dict(record.detail)["text"]
        for record in grid.sim.trace
        if record.path.endswith("Expect") and record.event == "progress"
    ]
    return told[:2]


def run(grid, *declared, place=(0, 2), ticks=40):
    class Plan(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (*declared, step("agentrt:wait", seconds=100))

    agent = grid.agent(Plan, Expect, *LIBRARY, place=place)
    grid.sim.tick(ticks)
    return agent


def test_the_best_item_is_fetched_and_not_the_nearest(grid):
    dull, keen = grid.thing("knife", (1, 2), name="dull"), grid.thing("knife", (3, 2), name="keen")
    grid.tags.put("knife", dull, keen)
    sharpness = {dull: 0.2, keen: 0.9}
    agent = run(grid, step("agentrt:fetch_item", tag="knife", rating=sharpness.get), ticks=9)
    assert agent.entity[Carrier].carrying is keen
    assert grid.leases.holder(keen) is agent
    assert grid.told("run") == [
        (1, "Plan", "run"),
        (1, "FetchItem", "run"),
        (1, "FindBest", "run"),
        (1, "ReserveEntity", "run"),
        (1, "GotoEntity", "run"),
        (1, "FindPathToEntity", "run"),
        (1, "FollowPath", "run"),
        (7, "PickUp", "run"),
        (8, "Wait", "run"),
    ]


def test_a_fetch_is_as_good_as_what_it_fetches(grid):
    knife = grid.thing("knife", (3, 2))
    grid.tags.put("knife", knife)
    run(grid, step("agentrt:fetch_item", tag="knife", rating=lambda _knife: 0.7), ticks=1)
    ready = [
        dict(record.detail)["utility"]
        for record in grid.sim.trace
        if record.event == "ready" and record.path.endswith("FetchItem")
    ]
    assert ready == [0.7]


def test_an_item_is_carried_to_a_place_and_laid_down(grid):
    log = grid.thing("log", (2, 2), name="log")
    agent = run(grid, step("agentrt:carry_item", item=log, location=(2, 0)), step("test:expect", what=CURRENT.location))
    assert log[Located].location == (2, 0)
    assert agent.entity[Carrier].carrying is None
    assert expected(grid) == ["(2, 0)"]
    assert grid.aborts() == []


@pytest.mark.states("001: Step declarations: The example: a step fills the expected backpack, and a later one ...")
def test_what_is_stowed_and_unpacked_is_expected_so(grid):
    log = grid.thing("log", (1, 2), name="log")
    count = CALL(len, CURRENT.storage.items)
    agent = run(
        grid,
        step("agentrt:goto_entity", entity=log),
        step("agentrt:pick_up", item=log),
        step("agentrt:stow_carried"),
        step("test:expect", what=[count, CURRENT.carrying]),
        step("agentrt:wait", seconds=0.2),
        step("agentrt:unpack_item", item=log),
        step("test:expect", what=[count, CURRENT.carrying.name]),
        ticks=6,
    )
    assert expected(grid) == ["[1, None]", "[0, 'log']"]
    assert list(agent.entity[Backpacker].items) == [log]
    grid.sim.tick(6)
    assert agent.entity[Carrier].carrying is log
    assert list(agent.entity[Backpacker].items) == []


def test_what_is_not_in_the_backpack_is_not_unpacked(grid):
    run(grid, step("agentrt:unpack_item", item=grid.thing("stone", (0, 2))), ticks=3)
    assert grid.told("start") == []


def test_a_full_backpack_takes_nothing_more(grid):
    log = grid.thing("log", (0, 2), name="log")

    class Stow(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (step("agentrt:pick_up", item=log), step("agentrt:stow_carried"))

    agent = grid.agent(*LIBRARY, place=(0, 2))
    agent.entity[Backpacker].items = {1: log, 2: log}
    agent.inject(Stow)
    grid.sim.tick(3)
    assert grid.told("start") == []


def test_what_was_unpacked_and_not_used_goes_back(grid):
    log = grid.thing("log", (0, 2))
    alarm = grid.alarm_at(6)

    class Show(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (step("agentrt:unpack_item", item=log), step("agentrt:wait", seconds=9))

    agent = grid.agent(alarm, *LIBRARY, place=(0, 2))
    agent.entity[Backpacker].items[log] = log
    agent.inject(Show)
    grid.sim.tick(4)
    assert agent.entity[Carrier].carrying is log
    grid.sim.tick(4)
    assert list(agent.entity[Backpacker].items) == [log]
    assert agent.entity[Carrier].carrying is None


def test_whatever_is_carried_can_be_dropped(grid):
    log = grid.thing("log", (3, 2))
    agent = grid.agent(*LIBRARY, place=(0, 2))
    agent.entity[Carrier].carrying = log  # from before any plan

    class Free(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (step("agentrt:drop_carrying"), step("agentrt:wait", seconds=9))

    agent.inject(Free)
    grid.sim.tick(2)
    assert agent.entity[Carrier].carrying is None
    assert log[Located].location == (0, 2)


def test_a_plan_that_drops_first_may_pick_up(grid):
    log, stone = grid.thing("log", (0, 2)), grid.thing("stone", (0, 2))
    agent = run(
        grid,
        step("agentrt:pick_up", item=log),
        step("agentrt:drop_carrying"),
        step("agentrt:pick_up", item=stone),
        ticks=4,
    )
    assert agent.entity[Carrier].carrying is stone
