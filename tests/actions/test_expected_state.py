"""CURRENT after each standard action that changes it: what a later step is told before anything has run."""

from __future__ import annotations

import pytest

import agentrt_actions
from agentrt import CALL, CURRENT, OUT, TOP, Action, ActionArgs, CompoundAction, step
from agentrt_actions import Backpacker

LIBRARY = [
    action
    for key, action in agentrt_actions.manifest.aliases.items()
    if key.startswith("actions:") and action.does != TOP
]

LOG = OUT["log"].entity
FIND = step("agentrt:find_entity", tag="log", name="log")
FETCH = (step("agentrt:goto_entity", entity=LOG), step("agentrt:pick_up", item=LOG))


class Expect(Action):
    """Says what it is called with, when it is thought."""

    does = "test:expect"
    utility = 1.0

    class Args(ActionArgs):
        location: object
        moved: bool
        carrying: object
        stowed: list
        reserved: list
        parts: dict

    async def think(self, ctx, args):
        told = {name: args[name] for name in args if args[name] not in (None, [], {}, False)}
        ctx.set_debug_progress(repr(told))


def names(things):
    return [getattr(thing, "name", thing) for thing in things]


def keyed(table):
    return {key.name: parts for key, parts in table.items()}


STATE = step(
    "test:expect",
    location=CURRENT.location,
    moved=CURRENT.location_changed,
    carrying=CALL(lambda thing: thing and thing.name, CURRENT.carrying),
    stowed=CALL(names, CURRENT.storage.items),
    reserved=CALL(names, CURRENT.self_reserved),
    parts=CALL(keyed, CURRENT.self_region_reserved),
)

HERE = {"location": (0, 2)}
THERE = {"location": (3, 2), "moved": True}


@pytest.mark.states("001: Step declarations: Path following and chasing modify it ...")
@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ((), HERE),
        ((step("agentrt:goto_entity", entity=LOG),), THERE),
        ((step("agentrt:goto_location", location=(0, 0)),), {"location": (0, 0), "moved": True}),
        ((step("agentrt:goto_entity", entity=LOG, reach=1),), {"location": (2, 2), "moved": True}),
        ((step("agentrt:patrol", route=((1, 2), (2, 0))),), {"location": (2, 0), "moved": True}),
        ((step("agentrt:patrol", route=((1, 2), (2, 0)), rounds=0),), HERE),
        ((step("agentrt:chase_entity", target=LOG),), {"location": (2, 2), "moved": True}),
        ((step("agentrt:follow_entity", target=LOG),), HERE),
        ((step("agentrt:wander"),), HERE),
        (FETCH, THERE | {"carrying": "log"}),
        ((*FETCH, step("agentrt:put_down")), THERE),
        ((*FETCH, step("agentrt:drop_carrying")), THERE),
        ((*FETCH, step("agentrt:stow_carried")), THERE | {"stowed": ["old", "log"]}),
        ((*FETCH, step("agentrt:consume_carried")), THERE),
        ((*FETCH, step("agentrt:store_item", item=LOG)), {"location": (3, 4), "moved": True, "reserved": ["chest"]}),
        ((step("agentrt:unpack_item", item=OUT["old"].entity),), HERE | {"carrying": "old", "stowed": []}),
        ((step("agentrt:reserve_entity", entity=LOG),), HERE | {"reserved": ["log"]}),
        ((step("agentrt:fetch_item", tag="log"),), THERE | {"carrying": "log", "reserved": ["log"]}),
        (
            (step("agentrt:carry_item", item=LOG, location=(1, 1)),),
            {"location": (1, 1), "moved": True, "reserved": ["log"]},
        ),
        (
            (step("agentrt:reserve_entity_destination", entity=OUT["bench"].entity),),
            HERE | {"parts": {"bench": {0: (0, 0)}}},
        ),
    ],
    ids=lambda value: "-".join(one.activity.split(":")[1] for one in value) if isinstance(value, tuple) else "",
)
def test_what_a_later_step_is_told(grid, declared, expected):
    class Plan(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (
            FIND,
            step("agentrt:find_entity", tag="old", reserved=True, name="old"),
            step("agentrt:find_entity", tag="bench", name="bench"),
            *declared,
            STATE,
        )

    log = grid.cake((3, 2))
    log.name = "log"
    old = grid.thing("log", (0, 2), name="old")
    grid.tags.put("log", log)
    grid.tags.put("old", old)
    bench = grid.bench((0, 3), (1, 3))
    bench.name = "bench"
    grid.tags.put("bench", bench)
    grid.chest((3, 4), "cake", name="chest")
    agent = grid.agent(Plan, Expect, *LIBRARY, place=(0, 2))
    agent.entity[Backpacker].items[old] = old
    grid.sim.tick()
    told = [
        dict(record.detail)["text"]
        for record in grid.sim.trace
        if record.event == "progress" and "Expect" in record.path
    ]
    whole = {"stowed": ["old"]} | expected
    assert [eval(text) for text in told] == [{key: value for key, value in whole.items() if value}]
    assert not grid.aborts()
