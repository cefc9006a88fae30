"""Pausing, stepping, speed and breakpoints: who may, what they do, and that nothing of it is left behind."""

from __future__ import annotations

import pytest
from modules import load

from agentrt.inspect.breakpoints import MOST_BREAKPOINTS, Breakpoints
from agentrt.inspect.live import LiveSource
from agentrt.kernel.trace import TraceEvent, TraceRecord

village_of = load("tests/inspect/village.py")
Watched, make_village = village_of.Watched, village_of.make_village


@pytest.mark.states("tools: Inspector: Pause, step and speed; what is left behind is taken back")
def test_pause_step_and_resume(watched):
    client = watched.client()
    watched.tick(2)
    client.ask("pause")
    watched.tick()  # it is asked for at the end of a tick, and this one ends
    assert watched.runtime.gate.reason == "paused by the inspector"
    assert watched.tick(3) == 0
    assert client.last("state")["paused"]
    client.ask("step", ticks=2)
    assert watched.tick(5) == 2
    assert client.last("state")["tick"] == 5
    client.ask("resume")
    assert watched.tick(3) == 3
    assert not client.last("state")["paused"]


def test_stepping_pauses_what_runs(watched):
    client = watched.client()
    watched.tick()
    client.ask("step", ticks=3)
    assert watched.tick(10) == 4  # one to hear of it
    assert client.last("state")["paused"]


def test_no_step_back(watched):
    client = watched.client()
    client.ask("step", ticks=-1)
    client.ask("at", tick=3)
    watched.tick()
    assert client.errors() == ["not_a_recording", "not_a_recording"]
    assert not watched.runtime.gate.is_closed


def test_play_is_resume(watched):
    watched.runtime.gate.pause()
    client = watched.client()
    client.ask("play")
    assert watched.tick(3) == 3


def test_speed_and_what_it_was_before(watched):
    watched.runtime.gate.speed = 2.0
    client = watched.client()
    client.ask("speed", speed=8)
    client.ask("speed", speed=0.5)
    watched.tick()
    assert watched.runtime.gate.speed == 0.5
    assert client.last("state")["speed"] == 0.5
    watched.source.detach()
    assert watched.runtime.gate.speed == 2.0


@pytest.mark.states("tools: Inspector: Watching is read-only unless controls are switched on", source="design 10")
@pytest.mark.parametrize(
    ("do", "fields"),
    [
        ("pause", {}),
        ("resume", {}),
        ("play", {}),
        ("step", {"ticks": 1}),
        ("speed", {"speed": 2}),
        ("break", {"kind": "action", "name": "Eat"}),
        ("unbreak", {"id": 1}),
        ("arm", {"id": 1, "on": False}),
        ("hand", {"id": 1, "edit": {"abort": "plan"}}),
    ],
)
def test_without_controls_nothing_can_be_done(village, do, fields):
    watched = Watched(village, controls=False)
    village.gate.pause("by the game")
    client = watched.client()
    client.ask(do, **fields)
    watched.tick(3)
    assert client.errors() == ["read_only"]
    gate = village.gate
    assert (village.tick, gate.is_closed, gate.reason, gate.speed) == (0, True, "by the game", 1.0)
    assert client.last("state")["breakpoints"] == []
    assert not watched.source.greeting()[0]["controls"]
    watched.source.detach()


# --- breakpoints ------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Inspector: Breakpoints on an action, activity, decider, goal or agent stop at the end of the tick in "
    "which it starts",
)
@pytest.mark.parametrize(
    ("wanted", "tick", "record"),
    [
        ({"kind": "action", "name": "Rest"}, 4, "Ann agentrt:top/Live/mod:rest/Rest"),
        ({"kind": "action", "name": "Rest", "agent": "Bob"}, 4, "Bob agentrt:top/Live/mod:rest/Rest"),
        ({"kind": "activity", "name": "mod:rest"}, 4, "Ann agentrt:top/Live/mod:rest/Rest"),
        ({"kind": "activity", "name": "mod:rest", "agent": "Cyd"}, 4, "Cyd agentrt:top/Live/mod:rest/Rest"),
        ({"kind": "decider", "name": "ASLEEP"}, 5, "Bob tree/ROOT/ASLEEP"),
        ({"kind": "decider", "name": "SNORE"}, 5, "Bob tree/ROOT/ASLEEP"),
        ({"kind": "goal", "name": "Stare"}, 5, "Bob goals/Stare"),
        ({"kind": "agent", "name": "Cyd"}, 4, "Cyd agentrt:top/Live/mod:rest/Rest"),
    ],
)
def test_it_stops_when_this_starts(village, wanted, tick, record):
    watched = Watched(village)
    client = watched.client()
    watched.tick()
    client.ask("break", **wanted)
    watched.tick()
    client.messages.clear()
    assert village.tick == 2
    watched.tick(30)
    assert village.tick == tick
    state = client.last("state")
    assert (state["tick"], state["paused"]) == (tick, True)
    words = f"{wanted['kind']} {wanted['name']}" + (f" of {wanted['agent']}" if "agent" in wanted else "")
    assert state["reason"] == f"breakpoint: {words} ({record})"
    (point,) = state["breakpoints"]
    assert point == {
        "id": 1, "kind": wanted["kind"], "name": wanted["name"], "agent": wanted.get("agent", ""),
        "hits": point["hits"], "last": point["last"], "place": point["place"], "enabled": True,
        "was": point["was"], "error": "",
    }  # fmt: skip
    assert point["hits"] >= 1
    assert point["last"].startswith(f"tick {tick} ")
    watched.source.detach()


def test_it_goes_on_and_stops_again(watched):
    client = watched.client()
    client.ask("break", kind="action", name="Rest", agent="Ann")
    watched.tick(30)
    ticks = [watched.runtime.tick]
    for _ in range(2):
        client.ask("resume")
        watched.tick(30)
        ticks.append(watched.runtime.tick)
    assert ticks == [4, 9, 14]
    assert client.last("state")["breakpoints"][0]["hits"] == 3
    client.ask("unbreak", id=1)
    client.ask("resume")
    assert watched.tick(10) == 10
    assert client.last("state")["breakpoints"] == []


def test_a_step_over_a_breakpoint_stops_there(watched):
    client = watched.client()
    client.ask("break", kind="action", name="Rest", agent="Ann")
    watched.tick()
    client.ask("step", ticks=100)
    watched.tick(50)
    assert watched.runtime.tick == 4


def test_breakpoints_that_are_wrong(watched):
    client = watched.client()
    for number in range(MOST_BREAKPOINTS + 1):
        client.ask("break", kind="action", name=f"A{number}")
        watched.tick()
    assert client.errors() == ["too_many"]
    client.ask("break", kind="action", name="A0")  # the same again is the same
    client.ask("unbreak", id=999)
    watched.tick()
    assert client.errors() == ["too_many", "unknown_breakpoint"]
    assert len(client.last("state")["breakpoints"]) == MOST_BREAKPOINTS


def record(event, path, agent="Ann", detail=()):
    return TraceRecord(7, agent, path, event, detail)


@pytest.mark.states("tools: Inspector: Breakpoints on an action, activity, decider, goal or agent stop at the end ...")
@pytest.mark.parametrize(
    ("kind", "name", "what", "is_hit"),
    [
        ("action", "Eat", record(TraceEvent.RUN, "top/Live/mod:eat/Eat#2"), True),
        ("action", "Eat#2", record(TraceEvent.RUN, "top/Live/mod:eat/Eat#2"), True),
        ("activity", "mod:eat", record(TraceEvent.RUN, "top/Live/mod:eat#7/Eat"), True),
        ("action", "Eat#3", record(TraceEvent.RUN, "top/Live/mod:eat/Eat#2"), False),
        ("action", "Eat", record(TraceEvent.START, "top/Live/mod:eat/Eat"), False),
        ("action", "Eat", record(TraceEvent.RUN, "top/Eat/mod:chew/Chew"), False),
        ("action", "mod:eat", record(TraceEvent.RUN, "top/Live/mod:eat/Eat"), False),
        ("activity", "mod:eat", record(TraceEvent.RUN, "top/Live/mod:eat/Eat"), True),
        ("activity", "top", record(TraceEvent.RUN, "top/Live"), True),
        ("activity", "Eat", record(TraceEvent.RUN, "top/Live/mod:eat/Eat"), False),
        ("goal", "Work", record(TraceEvent.START, "top/Work"), False),
        ("goal", "Work", record(TraceEvent.START, "goals/Work", detail=(("priority", 1),)), True),
        ("decider", "A", record(TraceEvent.DEACTIVATE, "tree/ROOT/A"), False),
        ("decider", "A", record(TraceEvent.ACTIVATE, "tree/ROOT/A"), True),
        ("agent", "Ann", record(TraceEvent.ADDED, ""), True),
        ("agent", "Ann", record(TraceEvent.THINK, "top/Live"), False),
        ("agent", "Ann", record(TraceEvent.ADDED, "", agent="Bob"), False),
    ],
)
def test_what_a_breakpoint_matches(kind, name, what, is_hit):
    points = Breakpoints()
    points.add(kind, name, "")
    points.heard(what)
    assert bool(points.take()) == is_hit
    assert points.take() == ""


# --- what is left behind ----------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Inspector: Pause, step and speed; what is left behind is taken back ...")
def test_detached_while_it_is_paused_by_the_inspector(watched):
    client = watched.client()
    client.ask("break", kind="action", name="Eat")
    watched.tick(30)
    assert watched.runtime.gate.is_closed
    watched.source.detach()
    assert not watched.runtime.gate.is_closed
    assert watched.tick(10) == 10
    assert not watched.runtime.trace.on


def test_a_pause_of_somebody_else_is_left_alone(watched):
    client = watched.client()
    client.ask("pause")
    watched.tick(2)
    client.ask("resume")
    watched.tick(1)
    watched.runtime.gate.pause("the game is over")
    watched.source.detach()
    assert watched.runtime.gate.reason == "the game is over"


def test_a_breakpoint_that_is_hit_in_a_pause_of_somebody_else_does_not_take_it_over(watched):
    watched.runtime.gate.pause("a menu")
    client = watched.client()
    client.ask("break", kind="action", name="Eat")
    client.ask("step", ticks=100)
    watched.tick(100)
    state = client.last("state")
    assert state["reason"] == "a menu"
    assert state["breakpoints"][0]["last"].startswith(f"tick {watched.runtime.tick} ")
    assert watched.tick(5) == 0  # what was left of the steps is forgotten
    watched.source.detach()
    assert watched.runtime.gate.reason == "a menu"


def test_two_inspectors_do_not_disturb_each_other(watched):
    other = LiveSource(watched.runtime, "second", controls=True, clock=watched.clock)
    other.attach()
    watched.runtime.gate.attend(lambda: None)
    first, second = watched.client(agent="Ann"), Watched.client(type("W", (), {"source": other}), events={})
    watched.tick(3)
    second.ask("pause")
    watched.tick(2)
    first.ask("step", ticks=1)
    assert watched.tick(5) == 1
    assert first.last("state")["paused"]
    assert second.last("state")["tick"] == first.last("state")["tick"] == watched.runtime.tick
    watched.source.detach()  # it did not pause, so it stays paused
    assert watched.tick(2) == 0
    other.detach()
    assert watched.tick(2) == 2


def test_a_runtime_that_is_closed_under_it():
    runtime = make_village()
    watched = Watched(runtime)
    client = watched.client(agents={}, agent="Ann", events={}, timeline={"agent": "Ann"})
    watched.tick(3)
    client.ask("pause")
    watched.tick(2)
    runtime.close()  # does not ask the gate
    watched.clock.now += 1
    runtime.step()  # stands before the gate
    assert client.last("agents")["total"] == 0
    assert client.last("agent")["snapshot"] is None
    assert client.last("state")["agents"] == 0
    watched.source.detach()
    assert runtime.step() == 1


def test_attached_again(watched):
    watched.source.detach()
    watched.source.detach()
    watched.source.attach()
    watched.source.attach()
    client = watched.client()
    watched.tick(2)
    assert client.batches == 2
