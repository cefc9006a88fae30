"""What a runtime tells people: status texts in the game's words, notes in the trace, and its figures as plain data."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import TOP, Action, Agent, CompoundAction, Entity, Runtime, step
from agentrt.snapshot.take import plain
from agentrt.testing import Simulation

TEXTS = {"status.walking": "walks to {to}", "status.working": "works"}


def in_words(key, args):
    return TEXTS[key].format(**{name: getattr(value, "title", value) for name, value in args.items()})


class Barn(Entity):
    __slots__ = ("title",)


def barn():
    made = Barn("barn", name="the barn")
    made.title = "the old barn"
    return made


class Wait(Action):
    does = "wait"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.next_tick()


class Walk(Action):
    does = "walk"
    utility = 0.5

    async def run(self, ctx, args):
        ctx.set_status_text_key("status.walking", to=ctx.entity, path=[(1, 2), (3, 4)], steps=3, fast=True)
        await ctx.sleep(10)


class Work(CompoundAction):
    does = TOP
    utility = 0.5
    status_text_key = "status.working"
    steps = [step("wait"), step("walk")]


def play(ticks=1, **options):
    sim = Simulation(runtime=Runtime(host="plain", **options))
    agent = sim.add(Agent(barn(), name="ada", actions=[Work, Wait, Walk]))
    sim.tick(ticks)
    return sim, agent


# --- status texts -----------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Leaf action, Metadata: status_text_key is a key under which words for players are looked up")
def test_the_text_of_the_innermost_running_action_that_has_one():
    sim, agent = play(1, translate=in_words)
    assert agent.status_text == "works"
    sim.tick()
    assert agent.status_text == "walks to the old barn"
    sim.close()
    assert agent.status_text == ""


def test_without_a_translator_the_key_is_shown_with_its_arguments():
    sim, agent = play(2)
    assert agent.status_text == "status.walking (to: the barn, path: [[1, 2], [3, 4]], steps: 3, fast: True)"
    sim.close()


@pytest.mark.states("001: set_status_text_key: set_status_text_key while running, with arguments ...")
def test_a_snapshot_has_the_key_and_plain_arguments_and_the_text():
    sim, agent = play(2, translate=in_words)
    data = json.loads(json.dumps(agent.snapshot().as_json()))
    assert [data["status_key"], data["status_args"], data["status_text"]] == [
        "status.walking",
        {"to": "the barn", "path": [[1, 2], [3, 4]], "steps": 3, "fast": True},
        "walks to the old barn",
    ]
    sim.close()


@pytest.mark.parametrize(
    ("translate", "words"), [(lambda key, args: 1 / 0, "division by zero"), (lambda key, args: None, "is no text")]
)
def test_a_translator_that_fails_is_reported_once(caplog, translate, words):
    sim, agent = play(1, translate=translate)
    before = sim.digest()
    assert [agent.status_text, agent.status_text, agent.snapshot().status_text] == ["status.working"] * 3
    sim.tick()
    assert agent.status_text.startswith("status.walking (to: the barn")
    assert len(caplog.records) == 1
    assert "the translator of status texts failed for 'status.working'" in caplog.text
    assert words in caplog.text
    assert before == play(1)[0].digest()  # and the trace knows nothing of it
    sim.close()


def test_an_agent_outside_a_runtime_says_nothing():
    assert Agent(Entity("human")).status_text == ""


def test_plain_values():
    from agentrt.snapshot.take import plain

    class Strange:
        name = 7

        def __str__(self):
            return "strange"

    assert plain({1: (Entity("cow", id=3), None), "x": {"y": Strange()}}) == {
        "1": ["cow 3", None],
        "x": {"y": "strange"},
    }


@pytest.mark.states(
    "tools: Looking: A set in a note, a status or a view is written in an order that no hash seed changes",
    source="design 2 (ours)",
)
@given(st.permutations(["b", 10, 9, "a", 1.5, None, True, ("x", 2)]))
def test_sets_are_plain_in_an_order_of_their_own(values):
    in_order = [None, True, 1.5, 9, 10, ["x", 2], "a", "b"]
    assert plain(set(values)) == plain(frozenset(values)) == sorted(in_order, key=lambda one: type(one).__name__)


# --- notes ------------------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Looking: A set in a note, a status or a view is written in an order that no hash seed ...")
def test_a_note_of_the_world_goes_into_the_trace():
    sim, _ = play(1)
    sim.runtime.note("a door was opened", door=barn(), loud=True, places=[1, 2])
    note = sim.trace[-1]
    assert note.line() == "1 note text='a door was opened' door='the barn' loud=True places='[1, 2]'"
    assert note.detail == (("text", "a door was opened"), ("door", "the barn"), ("loud", True), ("places", "[1, 2]"))
    sim.runtime.note("gone", who={"Bea", "Ann", "Cid"})
    assert sim.trace[-1].detail[1] == ("who", "['Ann', 'Bea', 'Cid']")
    sim.close()


def test_a_note_that_nobody_reads_is_not_even_composed():
    class Secret:
        @property
        def name(self):
            raise AssertionError("nobody is to look")

    Runtime().note("quiet", what=Secret())


# --- figures ----------------------------------------------------------------------------------------------------------


def test_a_snapshot_of_a_runtime():
    class Search(Action):
        does = TOP
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.work(12)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep(10)

    sim = Simulation(runtime=Runtime(host="plain", think_budget=10))
    for name in ("ada", "bob"):
        sim.add(Agent(Entity("human"), name=name, actions=[Search]))
    sim.runtime.waits.add(4)
    sim.tick()
    snapshot = sim.runtime.snapshot()
    data = snapshot.as_json()
    assert json.loads(json.dumps(data)) == json.loads(json.dumps(data))
    assert [agent.pop("name") for agent in data.pop("agents")] == ["ada", "bob"]
    assert data.pop("waits")["longest"] == 4
    assert data.pop("search_waits")["count"] == 0
    assert data == {
        "version": 1,
        "tick": 1,
        "seconds": 0.05,
        "ticks_per_second": 20,
        "late_ticks": 0,
        "strands": 2,
        "is_paused": False,
        "groups": [],
        "think_budget": 10,
        "think_used": 10,
        "think_waiting": 2,
    }
    sim.tick(2)
    assert sim.runtime.snapshot().search_waits["count"] == 2
    assert sim.runtime.snapshot().think_waiting == 0
    sim.close()


def test_without_a_budget_there_is_none():
    snapshot = Runtime().snapshot()
    assert (snapshot.think_budget, snapshot.think_used, snapshot.think_waiting, snapshot.agents) == (None, 0, 0, ())


@pytest.mark.states("tools: Looking: Looking changes nothing ...")
def test_looking_changes_nothing():
    watched, _ = play(1)
    for _ in range(5):
        watched.runtime.snapshot()
        watched.tick()
    alone, _ = play(6)
    assert watched.digest() == alone.digest()
    watched.close()
    alone.close()


def test_what_lies_too_deep_is_left_out_a_circle_too():
    circle = {}
    circle["self"] = [circle]
    assert plain(circle) == {"self": [{"self": [{"self": [{"self": [{}]}]}]}]}
    assert plain({"deep": [[1, (2, None)]]}) == {"deep": [[1, [2, None]]]}
