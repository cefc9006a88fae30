"""Strategies for whoever looks on: the task tree in what a client is told, the lane of strategies, breakpoints."""

from __future__ import annotations

import pytest
from modules import load

from agentrt import Agent, Runtime
from agentrt.inspect.live import Breakpoints
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.strategy import Interruptible, Trigger
from agentrt.testing import Have, StubBody, stub_strategy

Watched = load("tests/inspect/village.py").Watched

KNIVES = ("knife", "axe")


def make_workshop():
    """Ann is asked for a spoon; carving takes a knife, which she makes; begging fails."""
    Beg = stub_strategy(cost=0.5, takes=2, fails="nobody gave any", label="Beg")
    Forge = stub_strategy(
        cost=lambda ask, wanted: 2.0 if wanted.item in KNIVES else None, takes=10, label="ForgeIron",
        interruption=Interruptible.PAUSE,
    )  # fmt: skip
    Carve = stub_strategy(
        cost=lambda ask, wanted: 1.0 if wanted.item not in KNIVES else None,
        needs=[Have("knife")],
        takes=6,
        label="Carve",
    )
    runtime = Runtime(3, host="plain")
    agent = runtime.add(Agent(StubBody("human"), name="Ann"))
    agent.gameplay.add_strategy(Beg, Forge, Carve)
    agent.gameplay.add_trigger(Trigger(name="rain", on="rain", solve=Have("axe")))
    return runtime, agent


@pytest.fixture
def workshop():
    runtime, agent = make_workshop()
    watched = Watched(runtime)
    watched.agent = agent
    yield watched
    watched.source.detach()
    runtime.close()


def spans(client):
    return [(lane, depth, name, begin, end, outcome) for lane, depth, _, name, begin, end, outcome in client]


# --- the tree ---------------------------------------------------------------------------------------------------------


def test_a_client_is_told_the_tree_and_why(workshop):
    client = workshop.client(agent="Ann")
    workshop.agent.gameplay.begin(Have("spoon"))
    workshop.tick(6)
    message = client.last("agent")
    (request,) = message["snapshot"]["strategies"]["requests"]
    assert request["stack"] == ["Carve", "Forge Iron"]
    assert [child["outcome"] for child in request["tree"]["children"]] == ["failed", "running"]
    assert "* Forge Iron: running" in message["explain"]


def test_a_tree_that_stays_the_same_is_not_told_again(workshop):
    workshop.agent.gameplay.begin(Have("spoon"))
    workshop.tick(6)
    client = workshop.client(agent="Ann")
    workshop.tick(3)
    assert len(client.told("agent")) == 1


# --- the time line ----------------------------------------------------------------------------------------------------

LINE = [
    ("strategies", 0, "Have [spoon, 1] by Beg", 1, 3, "failed"),
    ("strategies", 1, "Have [knife, 1] by Beg", 3, 5, "failed"),
    ("strategies", 1, "Have [knife, 1] by Forge Iron", 5, 15, "finished"),
    ("strategies", 0, "Have [spoon, 1] by Carve", 3, 21, "finished"),
    ("performed", 0, "SolveRequest", 1, 21, "finished"),
]


def test_strategies_have_a_lane(workshop):
    client = workshop.client(timeline={"agent": "Ann"})
    workshop.tick()
    workshop.agent.gameplay.begin(Have("spoon"))
    workshop.tick(30)
    assert spans(client.last("timeline")["spans"]) == [
        (lane, depth, name, begin + 1, end + 1, outcome) for lane, depth, name, begin, end, outcome in LINE
    ]


@pytest.mark.states("003: Views: Who begins to look late sees what runs on the same lanes", source="design 7")
@pytest.mark.parametrize("ticks", [2, 4, 8, 14, 18])
def test_who_looks_late_sees_what_runs_on_the_same_lane(workshop, ticks):
    workshop.agent.gameplay.begin(Have("spoon"))
    workshop.tick(ticks)
    client = workshop.client(timeline={"agent": "Ann"})
    workshop.tick(30)
    seen = [span for span in LINE if span[4] > ticks + 1]  # it listens from the end of the next tick on
    assert sorted(spans(client.last("timeline")["spans"])) == sorted(seen)


def test_who_looks_while_it_is_interrupted(workshop):
    workshop.agent.gameplay.begin(Have("spoon"))
    workshop.tick(7)
    workshop.agent.signal("rain").emit()
    workshop.tick(3)
    client = workshop.client(timeline={"agent": "Ann"})
    workshop.tick(40)
    names = {span[2]: span[:2] for span in spans(client.last("timeline")["spans"]) if span[0] == "strategies"}
    assert names == {
        "Have [axe, 1] by Forge Iron": ("strategies", 2),
        "Have [knife, 1] by Forge Iron": ("strategies", 1),
        "Have [spoon, 1] by Carve": ("strategies", 0),
    }


# --- breakpoints ------------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Views: The inspector stops the world when a strategy is tried", source="design 7")
@pytest.mark.parametrize("name", ["Forge Iron", "forge_iron"])
def test_it_stops_when_a_strategy_is_tried(workshop, name):
    client = workshop.client()
    workshop.tick()
    client.ask("break", kind="strategy", name=name, agent="Ann")
    workshop.agent.gameplay.begin(Have("spoon"))
    assert workshop.tick(30) == 5
    state = client.last("state")
    assert state["paused"]
    assert f"strategy {name} of Ann" in state["reason"]
    assert state["breakpoints"][0]["place"] == ["Ann", "performed/stub:have/SolveRequest/stub:have/Carve"]


@pytest.mark.parametrize(
    ("kind", "hits"), [("strategy", 1), ("action", 0), ("activity", 0), ("goal", 0), ("decider", 0)]
)
def test_only_a_strategy_s_own_breakpoint_hears_of_it(kind, hits):
    points = Breakpoints()
    points.add(kind, "Mine", "")
    detail = (("wanted", "Mine"), ("by", "Mine"), ("cost", 1.0))
    points.heard(TraceRecord(1, "Ann", "top/Mine", TraceEvent.TRY, detail))
    points.heard(TraceRecord(1, "Ann", "top/Mine", TraceEvent.TRY, (("wanted", "Mine"), ("by", "Other"))))
    assert [point["hits"] for point in points.as_json()] == [hits]
