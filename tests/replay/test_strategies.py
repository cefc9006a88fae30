"""Runs with strategies, recorded: replayed to the letter on every host, looked at in any tick, and compared."""

from __future__ import annotations

from dataclasses import replace

import pytest
from modules import load
from players import HOSTS

from agentrt import TOP, Action, Agent, CompoundAction, Runtime, step
from agentrt.record.replay import replay
from agentrt.snapshot import AgentSnapshot, explain
from agentrt.strategy import Branch, Interruptible, Strategy, Trigger
from agentrt.testing import Have, StubBody, stub_strategy

yard = load("tests/replay/yard.py")


class Idle(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        await ctx.sleep_ticks(20)


class Supper(CompoundAction):
    """Wanted while there is no soup."""

    does = TOP
    utility = 0.5
    steps = (step("stub:have", item="soup", count=1),)

    async def think(self, ctx, args):
        while ctx.entity.goods.get("soup"):
            await ctx.sleep_ticks(5)
        ctx.set_think_output()


class Search(Strategy):
    """Finds in some tries what it looks for."""

    provides = Have
    cost = 6.0
    interruption = Interruptible.PAUSE

    def foresee(self, ask, wanted):
        return [Branch(2, 3.0), Branch(1, 9.0, (Have("lamp"),))]

    async def run(self, ctx, wanted):
        while True:
            await ctx.sleep_ticks(2 + ctx.random.below(4))
            if ctx.random.below(3) == 0:
                ctx.entity.give({wanted.item: wanted.count})
                return
            if ctx.random.below(3) == 0:
                ctx.fail("it is nowhere")


class Workshop:
    """Makes the world: somebody who cooks by plan, is asked for things from outside, and seeks shelter when it rains."""

    def __init__(self, patience=30):
        self.patience = patience

    def __call__(self, *, seed, host):
        runtime = Runtime(seed, host=host)
        agent = runtime.add(Agent(StubBody("cook"), name="Ann", actions=[Idle, Supper]))
        cook = stub_strategy(
            cost=lambda ask, wanted: 2.0 if wanted.item == "soup" else None,
            needs=[Have("water"), Have("bone")],
            takes=6,
            label="Cook",
        )
        buy = stub_strategy(cost=self.patience, takes=12, label="Buy")
        agent.gameplay.add_strategy(Search, cook, buy)
        agent.gameplay.add_trigger(Trigger(name="rain", on="rain", solve=Have("shelter"), priority=1))

        def want(item):
            agent.gameplay.begin(Have(item))

        runtime.on_input("want", want)
        runtime.on_input("rain", lambda: (agent.entity.goods.pop("shelter", None), agent.signal("rain").emit()))
        return runtime


def life(runtime):
    tick = runtime.tick + 1
    if tick % 19 == 5:
        runtime.send("want", item=f"thing {tick}")
    if tick % 23 == 7:
        runtime.send("rain")


@pytest.fixture
def recording(record):
    return record(Workshop(), ticks=120, between=life)


@pytest.mark.states(
    "003: Views: A run with strategies is replayed to the letter on every host; another choice is found",
    source="design 7, Journal and replay",
)
@pytest.mark.parametrize("host", HOSTS)
def test_it_is_replayed_to_the_letter(recording, host):
    events = {record.event.value for record in recording.records(1, 120)}
    assert {"try", "solved", "failed", "interrupted", "resumed"} <= events
    report = replay(recording, Workshop(), host=host)
    assert report.is_same, report.as_text()
    assert (report.compared, report.sent) == (120, 12)


@pytest.mark.states("003: Views: A run with strategies is replayed to the letter on every host; another choice is ...")
def test_a_replay_tells_where_another_choice_was_made(recording):
    report = replay(recording, Workshop(patience=1.0))
    assert not report.is_same
    assert "Buy" in report.as_text()


@pytest.mark.states(
    "003: Views: A recording knows what was being solved in any tick, and explains it",
    source="design 7",
)
@pytest.mark.slow
def test_what_was_solved_in_any_tick(recording):
    """Views are put together out of patches; what the live agent says in that tick is what the file says."""
    runtime = Workshop()(seed=3, host="plain")
    agent = runtime.agents[0]
    shown = 0
    for tick in range(1, 121):
        life(runtime)
        runtime.step()
        live, kept = agent.snapshot(), AgentSnapshot.from_json(recording.view("Ann", tick))
        assert kept.strategies.requests == live.strategies.requests, tick
        # Decisions that are prepared leave no record: how many there are is known as of the last one.
        assert replace(kept.strategies, foresight=live.strategies.foresight) == live.strategies
        assert _solving(explain(kept)) == _solving(recording.explain("Ann", tick)) == _solving(agent.explain())
        shown += bool(live.strategies.requests)
    runtime.close()
    assert shown > 60


def _solving(text):
    """The part about strategies; that of the plan says until when it sleeps, which a recording may not know."""
    lines = text.splitlines()
    begin = next((number for number, line in enumerate(lines) if "asked for" in line), len(lines))
    return [line for line in lines[begin:] if " is held by " not in line]


def test_an_older_recording_has_no_strategies(recording):
    view = recording.view("Ann", 60)
    del view["strategies"]
    assert AgentSnapshot.from_json(view).strategies is None
