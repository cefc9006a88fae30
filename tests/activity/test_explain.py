"""Snapshots and explanations, literally."""

from __future__ import annotations

import json

import pytest

from agentrt import LOOK, MOVE, Action, Agent, CompoundAction, Entity, step
from agentrt.snapshot import explain


def colony(play, leaf):
    """A plan that runs its second step, a rival that thinks, one that is ready, one that gave up, one that cannot win."""

    class Plan(CompoundAction):
        does = "top"
        name = "paint a cow"
        utility = 0.5
        flags = {LOOK}
        steps = [step("find"), step("paint")]

    class Never(Action):
        does = "top"
        utility = 0.95

        async def think(self, ctx, args):
            ctx.set_debug_progress("no brush")

    return play.add(
        Plan,
        leaf("Find", 0.3, does="find", run=1, quiet=True),
        leaf("Draw", 0.2, does="paint", run=50, flags={MOVE}, status_text_key="drawing", quiet=True),
        leaf("Etch", 0.1, does="paint", quiet=True),
        leaf("Etching", 0.9, does="paint", think=90, quiet=True),
        leaf("Flee", 0.9, think=90, quiet=True),
        leaf("Rest", (0.1, 0.9), think=0, quiet=True),
        leaf("Idle", 0.01, quiet=True),
        Never,
        name="ada",
    )


@pytest.mark.states(
    "001: Executing plans: The inspector shows activities in brackets and actions beneath them; the root is the top "
    "activity",
    source="Overview, inspector",
)
@pytest.mark.states("001: Leaf action, Metadata: name, for debugging tools")
@pytest.mark.states(
    "tools: Looking: `explain` says why this action, and why not each other one",
    source="design 7 (ours)",
)
def test_explain(play, leaf):
    agent = colony(play, leaf)
    play.tick(14)
    assert explain(agent.snapshot()) == (
        "ada at tick 14: top/Plan/paint/Draw\n"
        "  <top> running\n"
        "    * paint a cow: running, utility 0.5 + 0.05 sunk cost, since tick 1\n"
        "        <find> finished\n"
        "          * find: finished, utility 0.3\n"
        "        <paint> running\n"
        "          * draw: running, utility 0.2 + 0.05 sunk cost, since tick 2, waits until tick 52\n"
        "            etch: not thinking: its utility 0.1 could not beat 0.2\n"
        "            etching: not ready since tick 1, waits until tick 91\n"
        "      flee: not ready since tick 1, waits until tick 91\n"
        "      rest: ready, but its utility 0.1 does not beat 0.5 + 0.05 sunk cost\n"
        "      idle: not thinking: its utility 0.01 could not beat 0.5\n"
        "      never: not possible now: it ended thinking without an output (no brush)\n"
        "  LOOK is held by paint a cow since tick 1\n"
        "  MOVE is held by draw since tick 2"
    )


@pytest.mark.states(
    "001: get_debug_info_datastore: (decided) It begins empty: what the planner itself knows of the action stands in "
    "the snapshot",
)
def test_snapshot(play, leaf):
    agent = colony(play, leaf)
    play.tick(14)
    snapshot = agent.snapshot()
    assert snapshot.running == "top/Plan/paint/Draw"
    assert snapshot.status_text == "drawing"
    data = snapshot.as_json()
    assert json.loads(json.dumps(data)) == json.loads(json.dumps(data))
    plan = data.pop("plan")
    assert data == {
        "version": 1,
        "name": "ada",
        "kind": "human",
        "number": 1,
        "tick": 14,
        "seconds": 0.7,
        "ticks_per_second": 20,
        "is_alive": True,
        "is_ending": False,
        "error": "",
        "status_text": "drawing",
        "status_key": "drawing",
        "status_args": {},
        "running": "top/Plan/paint/Draw",
        "again": 0,
        "performances": [],
        "drivers": [],
        "flags": [
            {"flag": "LOOK", "holder": "paint a cow", "since": 1},
            {"flag": "MOVE", "holder": "draw", "since": 2},
        ],
        "waiting": [],
        "refusals": [],
        "aborts": 0,
        "abort_reason": "",
        "observers": [],
        "groups": [],
        "injections": [{"source": "its own", "actions": 9, "teaches": []}],
    }
    assert (plan["activity"], plan["path"], plan["state"]) == ("top", "top", "running")
    unit = dict(plan["units"][0])
    frames = unit.pop("frames")
    assert unit == {
        "action": "Plan",
        "name": "paint a cow",
        "path": "top/Plan",
        "kind": "compound",
        "state": "running",
        "utility": 0.5,
        "is_elected": True,
        "boosted": 0.55,
        "since": 1,
        "flags": ["LOOK"],
    }
    assert [(frame["path"], frame["state"]) for frame in frames] == [
        ("top/Plan/find", "finished"),
        ("top/Plan/paint", "running"),
    ]
    assert [(one["action"], one["state"], "is_elected" in one) for one in frames[1]["units"]] == [
        ("Draw", "running", True),
        ("Etch", "idle", False),
        ("Etching", "thinking", False),
    ]


def test_before_during_and_after_its_life(play, leaf, stage):
    agent = Agent(Entity("human"), name="ada", actions=[leaf("A", quiet=True)], top="top")
    assert agent.explain() == "ada at tick 0: runs nothing"
    assert agent.snapshot().plan is None
    assert not agent.snapshot().is_alive
    play.sim.add(agent)
    assert agent.explain() == "ada at tick 0: runs nothing\n  <top> idle: no known action performs it"
    play.tick(1)
    assert (
        agent.explain()
        == "ada at tick 1: top/A\n  <top> running\n    * a: running, utility 0.5, since tick 1, waits until tick 2"
    )
    play.sim.runtime.remove(agent)
    play.tick(1)
    assert not agent.snapshot().is_alive
    assert agent.snapshot().running == ""


def test_of_an_agent_that_only_thinks(play, leaf, compound):
    agent = play.add(
        compound("Plan", step("a"), step("unknown"), quiet=True),
        leaf("A", does="a", quiet=True),
        leaf("B", 0.9, think=9, quiet=True),
        name="ada",
    )
    play.tick(1)
    assert explain(agent.snapshot()) == (
        "ada at tick 1: runs nothing\n"
        "  <top> thinking\n"
        "      plan: not ready since tick 1\n"
        "        <a> ready\n"
        "          * a: ready, utility 0.5\n"
        "        <unknown> thinking: no known action performs it\n"
        "      b: not ready since tick 1, waits until tick 10"
    )


@pytest.mark.states("001: abort: It takes a reason, shown by the inspector and in errors")
def test_after_an_abort(play):
    class Breaks(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            ctx.abort("no brush")

    agent = play.add(Breaks, name="ada")
    play.tick(2)
    assert explain(agent.snapshot()) == (
        "ada at tick 2: runs nothing\n"
        "  <top> idle\n"
        "      breaks: idle\n"
        "  2 aborts in a row; the last: no brush\n"
        "  it plans anew in tick 3, 1 tick from now"
    )


def test_a_snapshot_keeps_nothing_alive_and_does_not_change(play, leaf):
    agent = play.add(leaf("A", run=2, quiet=True))
    play.tick(1)
    before = agent.snapshot()
    text = repr(before)
    play.tick(10)
    assert repr(before) == text
    assert before != agent.snapshot()
