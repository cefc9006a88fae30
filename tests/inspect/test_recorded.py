"""A recording, and clients that each look at a tick of their own."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import threading
import time

import pytest
from modules import load

from agentrt.errors import RecordingError
from agentrt.inspect import Inspector
from agentrt.inspect import recorded as reading
from agentrt.inspect.recorded import RecordedSource
from agentrt.inspect.sessions import Position
from agentrt.runtime.intake import Reloaded

of = load("tests/inspect/village.py")
TICKS = 60
LIMIT = 60.0


@pytest.fixture(scope="module")
def village(tmp_path_factory):
    """A recording, and what was true while it was made."""
    path = tmp_path_factory.mktemp("recorded") / "village.sqlite"
    runtime = of.make_village()
    truth = {}
    records = []
    with runtime.record(path):
        runtime.trace.listen(records.append)
        for _ in range(TICKS):
            runtime.step()
            truth[runtime.tick] = {
                agent.name: (agent.snapshot().as_json(), agent.explain()) for agent in runtime.agents
            }
            if runtime.tick == 40:
                runtime.remove(runtime.find("Cyd"))
    runtime.close()
    return path, truth, records


EDITS = [
    Reloaded(3, ("wolves.py",), ("Howl",), ("Yowl",), ("Ann", "Bob"), kinds=("class",), notes=("a note",)),
    Reloaded(5, ("wolves.py",), (), (), (), error="wolves.py:14: '(' was never closed"),
    Reloaded(7, ("wolves.py",), (), (), ()),
]


@pytest.fixture(scope="module")
def edited(tmp_path_factory):
    """A recording of a run during which code was edited."""
    path = tmp_path_factory.mktemp("edited") / "village.sqlite"
    runtime = of.make_village()
    with runtime.record(path):
        for edit in EDITS:
            runtime.kernel.post(runtime.intake.journal.reloaded, edit, {"wolves.py": "0" * 32})
            while runtime.tick < edit.tick:
                runtime.step()
    runtime.close()
    return path


def without_counters(snapshot):
    """A recording has a view of each change; what only counts ticks is as old as that."""
    if snapshot is None:
        return None
    snapshot = json.loads(json.dumps(snapshot))
    for driver in snapshot["drivers"]:
        driver["state"].pop("ticks", None)
        driver["state"].pop("print", None)
    return snapshot


@pytest.fixture
def served(village):
    served = of.Round(village[0])
    yield served
    served.recording.close()


def test_hello(served):
    (hello,) = served.source.greeting()
    assert hello == {
        "is": "hello", "protocol": 1, "agentrt": hello["agentrt"], "source": "recording", "title": "village.sqlite",
        "controls": True, "ticks_per_second": 20, "tick": 1, "first_tick": 1, "last_tick": TICKS, "unreplayable": served.recording.unreplayable,
            "what_if": "Watching only: start it with its controls, agentrt inspect RECORDING --controls.",
    }  # fmt: skip


@pytest.mark.states(
    "tools: Inspector: Any tick of a recording can be looked at, each client at its own",
    source="design 7",
)
@pytest.mark.parametrize("tick", [1, 17, 40, 41, TICKS])
@pytest.mark.parametrize("name", ["Bob", "Cyd"])
def test_an_agent_at_any_tick(served, village, tick, name):
    client = served.client(agent=name, agents={})
    client.ask("at", tick=tick)
    served.serve()
    message = client.last("agent")
    truth = village[1][tick]
    snapshot, text = truth.get(name, (None, ""))
    assert (without_counters(message["snapshot"]), message["explain"]) == (without_counters(snapshot), text)
    assert message["tick"] == client.last("state")["tick"] == tick
    assert client.last("state")["seconds"] == tick / 20
    assert client.last("state")["agents"] == client.last("agents")["total"] == len(truth)
    rows = client.last("agents")["rows"]
    assert [row["name"] for row in rows] == list(truth)
    assert [row["running"] for row in rows] == [snapshot["running"] for snapshot, _ in truth.values()]
    assert bool(message["outlines"]) == (name == "Bob")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"filter": "NN"}, ["Ann"]),
        ({"filter": "cat"}, ["Cyd"]),
        ({"kind": "human"}, ["Ann", "Bob"]),
        ({"running": "MOD:"}, ["Ann", "Bob", "Cyd"]),
        ({"running": "mod:fly"}, []),
        ({"offset": 1, "limit": 1}, ["Bob"]),
        ({"offset": 9}, []),
    ],
)
def test_searching(served, query, names):
    client = served.client(agents=query)
    client.ask("at", tick=3)
    served.serve()
    assert [row["name"] for row in client.last("agents")["rows"]] == names


@pytest.mark.states("tools: Inspector: Any tick of a recording can be looked at, each client at its own ...")
def test_each_client_has_a_place_of_its_own(served):
    one, two = served.client(agent="Ann"), served.client(agent="Ann")
    one.ask("at", tick=10)
    two.ask("at", tick=20)
    two.ask("step", ticks=-4)
    two.ask("step", ticks=1)
    served.serve()
    two.ask("step", ticks=-3)
    served.serve()
    assert one.last("agent")["tick"] == one.last("state")["tick"] == 10
    assert two.last("agent")["tick"] == two.last("state")["tick"] == 14


@pytest.mark.parametrize(("wanted", "tick"), [(0, 1), (10**9, TICKS), (2**53, TICKS)])
def test_beyond_the_ends(served, wanted, tick):
    client = served.client()
    client.ask("at", tick=wanted)
    served.serve()
    assert client.last("state")["tick"] == tick


def test_playing(served):
    client = served.client(agent="Ann")
    client.ask("at", tick=10)
    served.serve()
    client.ask("play")
    served.serve(seconds=0)
    assert not client.last("state")["paused"]
    served.serve(seconds=0.5)  # ten ticks
    assert client.last("state")["tick"] == client.last("agent")["tick"] == 20
    client.ask("speed", speed=2)
    served.serve(seconds=0)
    served.serve(seconds=0.25)
    assert client.last("state")["tick"] == 30
    client.ask("pause")
    served.serve(4)
    assert (client.last("state")["tick"], client.last("state")["paused"]) == (30, True)
    client.ask("resume")
    served.serve(seconds=0)
    served.serve(seconds=100)
    served.serve()
    assert (client.last("state")["tick"], client.last("state")["paused"]) == (TICKS, True)
    client.ask("play")  # from the end it begins anew
    served.serve(seconds=0)
    served.serve(seconds=0.25)
    assert client.last("state")["tick"] == 11


def test_nothing_new_is_not_told(served):
    client = served.client(agents={}, agent="Ann", events={}, timeline={"agent": "Ann"})
    served.serve()
    count = len(client.messages)
    served.serve(10)
    assert len(client.messages) == count


def test_nothing_can_be_stopped(served):
    client = served.client()
    client.ask("break", kind="action", name="Eat")
    client.ask("unbreak", id=1)
    served.serve()
    assert client.errors() == ["not_live", "not_live"]


# --- events and time lines --------------------------------------------------------------------------------------------


def rows(records):
    return [[record.tick, record.agent, record.path, record.event.value, dict(record.detail)] for record in records]


def test_the_log_up_to_a_tick(served, village):
    client = served.client(events={"events": ["run", "finish"], "agent": "Bob"})
    client.ask("at", tick=25)
    served.serve()
    (message,) = client.told("events")
    wanted = [
        record
        for record in village[2]
        if record.agent == "Bob" and record.event.value in ("run", "finish") and record.tick <= 25
    ]
    assert message["reset"]
    assert message["records"] == rows(wanted)[-300:]


def test_what_is_played_goes_on_from_there(served, village):
    client = served.client(events={"agent": "Ann"})
    client.ask("at", tick=25)
    served.serve()
    client.messages.clear()
    client.ask("at", tick=31)
    served.serve()
    (message,) = client.told("events")
    assert not message["reset"]
    assert message["records"] == rows(
        record for record in village[2] if record.agent == "Ann" and 25 < record.tick <= 31
    )
    client.ask("at", tick=30)  # and back
    served.serve()
    assert client.last("events")["reset"]
    assert client.last("events")["records"][-1][0] <= 30


def test_a_log_reads_further_back_if_there_is_little(served, village):
    client = served.client(events={"events": ["added"]})
    client.ask("at", tick=TICKS)
    served.serve()
    assert [row[1] for row in client.last("events")["records"]] == ["Ann", "Bob", "Cyd"]


def test_a_time_line(served):
    client = served.client(timeline={"agent": "Bob"})
    client.ask("at", tick=10)
    served.serve()
    message = client.last("timeline")
    assert (message["first"], message["last"], message["now"]) == (0, TICKS, 10)
    assert {span[0] for span in message["spans"]} == {"plan", "goals", "tree"}
    assert max(span[5] or TICKS for span in message["spans"]) == TICKS


def test_a_long_time_line_appears_little_by_little(served, monkeypatch):
    monkeypatch.setattr(reading, "_LINE_TICKS", 10)
    real = served.scene._clock
    monkeypatch.setattr(served.scene, "_clock", lambda: setattr(served.clock, "now", real.now + 0.02) or real.now)
    client = served.client(timeline={"agent": "Ann"})
    served.serve(2)
    some = len(client.last("timeline")["spans"])
    served.serve(10)
    assert 0 < some < len(client.last("timeline")["spans"])


# --- a file that grows, a file that is broken --------------------------------------------------------------------------


def test_a_recording_that_is_still_written(tmp_path):
    runtime = of.make_village()
    recorder = runtime.record(tmp_path / "growing.sqlite")
    for _ in range(5):
        runtime.step()
    served = of.Round(recorder.path)
    client = served.client()
    served.serve()
    for _ in range(5):
        runtime.step()
    client.ask("at", tick=100)
    served.serve(4)
    assert client.last("hello")["last_tick"] == 10
    assert client.last("state")["tick"] == 10
    runtime.step()
    served.serve(4)
    assert client.last("state")["tick"] == 11  # what lies beyond the end follows it
    served.recording.close()
    recorder.close()
    runtime.close()


@pytest.mark.parametrize("error", [RecordingError("x.sqlite", "its tick 7 is broken"), ZeroDivisionError("no")])
def test_what_is_broken_is_told_and_the_rest_is_shown(served, monkeypatch, error):
    real = served.recording.view

    def view(name, tick):
        if tick == 7:
            raise error
        return real(name, tick)

    monkeypatch.setattr(served.recording, "view", view)
    client, other = served.client(agent="Ann"), served.client(agent="Bob")
    client.ask("at", tick=7)
    served.serve(2)
    assert client.errors()[0] == "failed"
    assert str(error) in client.last("error")["message"]
    assert other.last("agent")["snapshot"]["name"] == "Bob"
    client.ask("at", tick=8)
    served.serve()
    assert client.last("agent")["tick"] == 8


# --- its thread -------------------------------------------------------------------------------------------------------


def test_on_its_own_thread(village):
    source = RecordedSource(str(village[0]), "titled")
    source.attach()
    try:
        assert source.greeting()[0]["title"] == "titled"
        client = of.Client(source)
        client.ask("watch", agent="Ann")
        client.ask("at", tick=33)
        source.open(client.session)
        end = time.monotonic() + LIMIT
        while not any(message.get("tick") == 33 for message in client.told("agent")) and time.monotonic() < end:
            time.sleep(0.005)
        assert client.last("agent")["tick"] == 33
        client.leave()
    finally:
        source.detach()
    assert not [thread for thread in threading.enumerate() if "recording" in thread.name]
    source.attach()  # and again
    source.detach()


@pytest.mark.slow
def test_an_inspector_of_a_recording(village):
    from websockets.sync.client import connect

    with (
        Inspector(village[0], port=0) as inspector,
        connect(f"ws://127.0.0.1:{inspector.port}/ws", close_timeout=1) as ws,
    ):
        assert json.loads(ws.recv(timeout=LIMIT))["source"] == "recording"
        ws.send('{"do":"watch","agent":"Bob"}')
        ws.send('{"do":"at","tick":12}')
        while (message := json.loads(ws.recv(timeout=LIMIT)))["is"] != "agent" or message["tick"] != 12:
            pass
        assert message["snapshot"] == village[1][12]["Bob"][0]


# --- positions --------------------------------------------------------------------------------------------------------


def test_positions():
    position = Position()
    assert position.now(0.0, 3, 9, 20) == 3
    position.go(5)
    assert position.now(1.0, 3, 9, 20) == 5
    position.play(1.0, 5)
    position.play(9.0, 7)  # it plays already
    assert position.is_playing
    assert position.now(1.1, 3, 9, 20) == 7
    position.change_speed(1.1, 7, 10.0)
    assert position.now(1.1078125, 3, 9, 20) == 8
    assert position.now(2.0, 3, 9, 20) == 9
    assert not position.is_playing
    assert position.now(99.0, 3, 9, 20) == 9
    assert position.now(99.0, 3, 12, 20) == 9  # it has grown, and nobody plays
    position.change_speed(99.0, 9, 2.0)
    assert not position.is_playing


# --- edits ------------------------------------------------------------------------------------------------------------


def test_edits_are_told_from_the_beginning(edited):
    served = of.Round(edited)
    client = served.client()
    served.serve(3)
    (message,) = client.told("reloads")
    told = [(row["tick"], row["files"], row["changed"], row["agents"], row["error"]) for row in message["rows"]]
    assert told == [
        (1, ["wolves.py"], ["Howl"], ["Ann", "Bob"], ""),
        (4, ["wolves.py"], [], [], "wolves.py:14: '(' was never closed"),
        (6, ["wolves.py"], [], [], ""),
    ]
    assert (message["rows"][0]["removed"], message["rows"][0]["notes"]) == (["Yowl"], ["a note"])
    assert [one.kind for one in served.recording.inputs()] == ["reloaded", "edited", "edited"]
    served.recording.close()


def test_who_wrote_nonsense_of_an_edit_hides_nothing_else(edited, tmp_path):
    path = tmp_path / "copy.sqlite"
    shutil.copy(edited, path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE inputs SET value = '3'")
        connection.commit()
    served = of.Round(path)
    client = served.client(agent="Ann")
    served.serve(3)
    assert [message["message"].rpartition(": ")[2] for message in client.told("error")] == [
        "what it says of an edit in tick 6 is broken."
    ]
    assert client.last("agent")["snapshot"]["name"] == "Ann"
    served.recording.close()
