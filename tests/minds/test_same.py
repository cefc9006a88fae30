"""The same run wherever it runs: hosts, recordings, branches; and whatever is injected at any await."""

from __future__ import annotations

import math

import pytest
import walkers
from players import play_on
from walkers import Idle, Ponder, Walk

from agentrt import TOP, Agent, Entity, Runtime
from agentrt.errors import UnansweredCallError
from agentrt.minds import Attend, Budget, Converse, MemoryStream, Mind, Model, Option, Plan, Scripted
from agentrt.record.branch import branch
from agentrt.record.replay import replay
from agentrt.testing import StubOutside, TraceDigest, check_trace, exhaust


class Day(Plan):
    does = TOP
    utility = (0.3, 0.8)
    prompt = "{name} in hour {hour}, remembers {remembered}."
    stale = "ask again"
    reads = ("hour",)
    most = 2

    def sees(self, ctx, args):
        ctx.set_utility((ctx.clock.tick // 30) % 3 / 3)
        told = ctx.entity[MemoryStream].told(ctx.clock.tick, "pond bread", tokens=80)
        return {"name": ctx.entity.name, "hour": ctx.clock.tick // 60, "remembered": told}

    def options(self, ctx, args):
        others = [agent.entity for agent in ctx.agent.runtime.agents if agent is not ctx.agent]
        return [Option("t:walk", where=["pond", "mill"]), Option("t:talk", who=others[:3])]


class Talk(Converse):
    does = "t:talk"
    utility = 0.5
    most_lines = 3


class Listen(Attend):
    does = TOP
    utility = 0.75
    most_lines = 3


class Flee(walkers.Flee):
    utility = 0.95


def script(asked):
    if asked.random.random() < 0.1:
        raise OSError("no line")
    if not asked.options:
        return {
            "say": asked.random.choice(["Hello.", "Bread?", "Off with you."]),
            "is_over": asked.random.random() < 0.2,
        }
    steps = []
    for _ in range(asked.random.below(2) + 1):
        one = asked.random.choice(list(asked.options))
        args = {name: asked.random.choice(list(of)) for name, of in one["args"].items() if of}
        steps.append({"activity": one["activity"], "args": args, "why": "so"})
    return {"steps": steps}


def people(runtime, number=6):
    for index in range(number):
        entity = Entity("person", name=f"P{index}")
        memory = entity.add(MemoryStream(30))
        memory.note(0, "There is bread at the mill.", importance=0.5)
        runtime.add(Agent(entity, name=entity.name, actions=[Walk, Idle, Day, Talk, Listen, Flee]))
    runtime.on_input("wolf", lambda who: runtime.find(who).entity.signal("wolf").emit())


def scripted(*, seed=5, host="plain"):
    runtime = Runtime(seed=seed, host=host)
    Mind(
        runtime, Scripted(script, lambda asked: 0.2 + asked.random.random()), at_once=2, budget=Budget(calls=30, per=5)
    )
    people(runtime)
    return runtime


@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_the_same_run_on_every_host(host):
    def digest(host):
        runtime = scripted(host=host)
        found = TraceDigest(runtime.trace)

        async def main():
            for tick in range(0, 400, 40):
                runtime.send("wolf", who=f"P{tick // 40 % 6}")
                await runtime.run(ticks=40, speed=math.inf)
            await runtime.aclose()

        if host == "plain":
            for tick in range(0, 400, 40):
                runtime.send("wolf", who=f"P{tick // 40 % 6}")
                runtime.step(2.0)
            runtime.close()
        else:
            play_on(host, main)
        return found.hexdigest(), runtime.mind.snapshot()

    assert digest(host) == digest("plain")


def test_a_run_that_is_known():
    """By a literal digest: on every Python, hash seed and machine."""
    runtime = scripted()
    found, faults = TraceDigest(runtime.trace), []
    runtime.on_fault(faults.append)
    for _ in range(600):
        runtime.step()
    view = runtime.mind.snapshot()
    assert faults == []
    assert (view.calls, view.hits) == (71, 14)
    assert found.hexdigest() == "e46d3e375945d29cef22bfcf7df6a7c4"


@pytest.mark.untraced
def test_watching_changes_nothing():
    plain, watched = scripted(), scripted()
    found = [TraceDigest(one.trace) for one in (plain, watched)]
    for _ in range(200):
        plain.step()
        watched.step()
        for agent in watched.agents:
            agent.explain()
        assert watched.snapshot().as_json()["mind"]["waiting"] == plain.mind.snapshot().waiting
    assert found[0].hexdigest() == found[1].hexdigest()


# --- recordings -------------------------------------------------------------------------------------------------------

OUTSIDE = {"n": 0}


def by_model(*, seed=5, host="plain"):
    runtime = Runtime(seed=seed, host=host)
    Mind(runtime, Model("m"), at_once=2, stand_in=Scripted(lambda asked: {"activity": "t:walk", "args": {"where": "mill"},
         "why": "stand-in"}) if OUTSIDE.get("stand_in") else None)  # fmt: skip
    for name in ("Ann", "Bob"):
        entity = Entity("person", name=name)
        runtime.add(Agent(entity, name=name, actions=[Walk, Idle, type("Where", (Ponder,), {"sees": _where})]))

    def move(who, where):
        runtime.find(who).entity.id = where

    runtime.on_input("move", move)
    return runtime


def _where(self, ctx, args):
    return {"name": ctx.entity.name, "where": f"{ctx.entity.id or 'home'} {ctx.clock.tick // 100}"}


@pytest.fixture
def recorded(tmp_path):
    runtime = by_model()
    outside = StubOutside(runtime)

    def answer(data, keeps):
        value = {"activity": "t:walk", "args": {"where": "pond"}, "why": "x"}
        return {"key": data["key"], "read": 10, "written": 5, "value": value}

    outside.answer("Model.ask", answer)
    with runtime.record(tmp_path / "run.sqlite"):
        runtime.send("move", who="Ann", where="mill")
        for tick in range(300):
            if tick == 150:
                runtime.send("move", who="Bob", where="well")
            runtime.step()
    runtime.close()
    yield tmp_path / "run.sqlite"
    OUTSIDE.clear()


def test_a_recording_replays_and_a_branch_without_a_change_is_the_same(recorded):
    assert replay(recorded, by_model).difference is None
    report = branch(recorded, by_model, at=100)
    assert (report.difference.agents, report.left_over) == ((), 0)


def test_in_a_branch_another_prompt_has_no_recorded_answer(recorded):
    def moves(runtime):
        runtime.find("Ann").entity.id = "sea"

    with pytest.raises(UnansweredCallError, match="call"):
        branch(recorded, by_model, at=120, edit=moves)


def test_a_branch_may_ask_a_scripted_model(recorded):
    def moves(runtime):
        runtime.find("Ann").entity.id = "sea"

    OUTSIDE["stand_in"] = True
    path = recorded.parent / "branch.sqlite"
    report = branch(recorded, by_model, at=120, edit=moves, record=path)
    assert report.live == 0
    assert report.left_over >= 1
    assert report.difference is not None


def test_a_branch_that_may_ask_asks_what_is_new_alone(recorded, monkeypatch):
    """The model, though a script could stand in; and equal prompts have the answers of then, under whatever number."""
    asked = []

    def ask(self, data, keeps=False):
        asked.append(data["prompt"])
        value = {"activity": "t:walk", "args": {"where": "pond"}, "why": "x"}
        return {"key": data["key"], "read": 10, "written": 5, "value": value}

    def moves(runtime):
        runtime.find("Ann").entity.id = "sea"

    ask.__qualname__ = "Model.ask"  # by which a recording knows it
    monkeypatch.setattr(Model, "ask_here", ask)
    OUTSIDE["stand_in"] = True
    report = branch(recorded, by_model, at=120, edit=moves, calls="live")
    assert report.live == len(asked) >= 2
    assert all("sea" in prompt for prompt in asked)
    assert (report.notes, report.left_over) == ((), 1)  # what Ann was answered at the mill


# --- faults -----------------------------------------------------------------------------------------------------------


def small(runtime):
    Mind(runtime, Scripted(script, 0.1), at_once=1)
    people(runtime, 2)


@pytest.mark.slow
@pytest.mark.parametrize("host", ["plain", "asyncio", "trio"])
def test_whatever_is_injected_at_whatever_await(host):
    exhaust(small, ticks=30, host=host, every=1 if host == "plain" else 5).check()


def test_after_any_fault_the_books_are_closed():
    """Cancelled, raised into, removed: nothing stays reserved, nobody stays in the queue."""
    left = []

    def scenario(runtime):
        small(runtime)
        runtime.after_tick(lambda: left.append(runtime)) if not left or left[-1] is not runtime else None

    exhaust(scenario, ticks=25, every=3, faults=("cancel", "raise", "remove", "destroy")).check()
    for runtime in dict.fromkeys(left):
        mind = runtime.mind
        assert (len(mind._running), len(mind._waiting)) == (0, 0), mind
        assert mind.account._tokens == mind.account.total_tokens


def test_the_invariants_of_traces_hold():
    runtime = scripted()
    records = []
    runtime.trace.listen(records.append)
    for _ in range(300):
        runtime.step()
    runtime.close()
    for number in range(6):
        assert list(check_trace(records, f"P{number}")) == []
