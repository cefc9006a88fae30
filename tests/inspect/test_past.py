"""Going back in a run that goes on: who is where, what is told of what is gone, breakpoints, saving, and the digest."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import types

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modules import load

from agentrt import Agent, Entity, Runtime
from agentrt.errors import InspectorError
from agentrt.inspect import Inspector
from agentrt.inspect import past as keeping_past
from agentrt.inspect.crowd import RecordedCrowd
from agentrt.inspect.past import Past
from agentrt.kernel.trace import TraceDigest
from agentrt.record.recording import Recording

of = load("tests/inspect/village.py")
LIMIT = 60.0
EVERYTHING = {"agents": {}, "agent": "Bob", "events": {}, "timeline": {"agent": "Bob"}}


def state(client):
    return client.last("state")


# --- back, and to now again -------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Past: Who goes back sees an earlier tick while the world runs on, and comes to now again")
def test_back_and_to_now_again(keeping):
    client, other = keeping.client(**EVERYTHING), keeping.client(agent="Bob")
    keeping.tick(20)
    assert state(client)["past"] == {"first": 1, "last": 20, "ticks": 40, "bytes": 64 * 1024 * 1024}
    seen = {message["tick"]: message for message in other.told("agent")}
    client.ask("at", tick=12)
    keeping.tick()
    keeping.look_back()
    client.messages.clear()
    keeping.tick(3)
    keeping.look_back()
    assert (state(client)["tick"], state(client)["past"]["last"], state(client)["live"]["tick"]) == (12, 24, 24)
    assert client.told("agent") == []  # the same as before
    client.ask("step", ticks=-1)
    keeping.look_back()
    (message,) = client.told("agent")
    assert (message["tick"], message["snapshot"]["running"]) == (11, seen[11]["snapshot"]["running"])
    assert client.last("events")["records"][-1][0] <= 11
    assert client.last("timeline")["now"] == 11
    assert state(other)["tick"] == 24  # nobody else is moved
    client.ask("live")
    keeping.look_back()
    keeping.tick(2)
    assert (state(client)["tick"], "live" in state(client)) == (26, False)
    assert client.last("agent")["tick"] == 26
    assert client.errors() == []


@pytest.mark.states("tools: Past: Several clients stand at different ticks")
def test_each_client_has_a_tick_of_its_own(keeping):
    clients = [keeping.client(agent="Ann") for _ in range(3)]
    keeping.tick(30)
    for client, tick in zip(clients, (5, 9, 30), strict=True):
        client.ask("at", tick=tick)
    keeping.tick()
    keeping.look_back(2)
    assert [state(client)["tick"] for client in clients] == [5, 9, 30]
    assert [client.last("agent")["tick"] for client in clients] == [5, 9, 30]


def test_back_takes_no_controls(village):
    keeping = of.Watched(village, controls=False, past=None)
    client = keeping.client(agent="Ann")
    keeping.tick(10)
    client.ask("step", ticks=-3)  # as the key does
    keeping.tick()
    keeping.look_back()
    assert (state(client)["tick"], client.errors()) == (8, [])
    client.ask("break", kind="action", name="Eat")
    keeping.look_back()
    keeping.tick()
    keeping.look_back()
    assert client.errors() == ["read_only"]
    keeping.close()


def test_playing_leads_to_now(keeping):
    client = keeping.client(agent="Ann")
    keeping.tick(30)
    client.ask("at", tick=10)
    client.ask("play")
    keeping.tick()
    keeping.look_back(seconds=0)
    keeping.look_back(seconds=0.5)
    assert (state(client)["tick"], state(client)["paused"]) == (20, False)
    keeping.look_back(seconds=5)
    assert state(client)["tick"] == 31
    keeping.tick(2)
    assert (state(client)["tick"], "live" in state(client)) == (33, False)


@pytest.mark.states("tools: Past: Who asks for a tick that was dropped, or stands at one, is told so")
def test_what_is_gone_is_told(keeping):
    client = keeping.client(agent="Ann")
    keeping.tick(60)
    client.ask("at", tick=7)
    keeping.tick()
    keeping.look_back()
    (error,) = client.told("error")
    assert error["code"] == "gone"
    assert error["message"] == "tick 7 is not kept any more: the past reaches back to tick 22, which is shown instead"
    assert state(client)["tick"] == 22
    client.ask("at", tick=0)  # the oldest, whichever that is
    keeping.look_back()
    keeping.tick(5)
    keeping.look_back()
    assert (state(client)["tick"], client.errors()) == (27, ["gone"])
    client.ask("at", tick=30)
    keeping.look_back()
    assert state(client)["tick"] == 30
    keeping.tick(10)  # the ring moves on over him
    keeping.look_back(3)
    assert client.errors() == ["gone", "gone"]  # once
    assert client.last("error")["message"].startswith("tick 30 is not kept any more: the past reaches back to tick 37")
    assert state(client)["tick"] == client.last("agent")["tick"] == 37


def test_numbers_out_of_range(keeping):
    client = keeping.client(agent="Ann")
    keeping.tick(10)
    client.ask("at", tick=2**53)
    keeping.tick()
    keeping.look_back()
    assert state(client)["tick"] == 11
    client.ask("step", ticks=-100_000)
    keeping.look_back()
    assert (state(client)["tick"], client.errors()) == (1, [])


def test_before_there_is_a_past(village):
    keeping = of.Watched(village, past=None)
    client = keeping.client()
    client.ask("at", tick=1)
    keeping.source.serve()
    assert client.last("error")["message"] == "there is no past yet: it begins with the next tick"
    keeping.close()
    none = of.Watched(village, past=0)
    client = none.client()
    client.ask("at", tick=1)
    none.tick(2)
    assert client.last("error")["message"] == "this inspector keeps no past: it was made with past=0"
    assert state(client)["past"] is None
    with pytest.raises(InspectorError, match="this inspector keeps no past"):
        none.source.save(None)
    none.close()


@pytest.mark.parametrize("leave", ["before", "after"])
def test_who_goes_away_is_forgotten(keeping, leave):
    client = keeping.client(agent="Ann")
    keeping.tick(10)
    client.ask("at", tick=3)
    if leave == "before":
        client.leave()
    keeping.tick()
    keeping.look_back()
    client.leave()
    keeping.tick(3)
    keeping.look_back()
    assert keeping.past.sessions == ()
    assert not keeping.source._open


def test_what_cannot_be_shown_leads_to_now(keeping, monkeypatch):
    client = keeping.client(agent="Ann")
    keeping.tick(10)

    def fail(*args):
        raise ZeroDivisionError("no")

    monkeypatch.setattr(keeping_past, "RingFile", fail)
    client.ask("at", tick=3)
    keeping.tick()
    keeping.look_back()
    keeping.tick()
    assert client.last("error")["message"] == "the past cannot be shown: no"
    assert state(client)["tick"] == 12


# --- when it is kept --------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Past: It is kept while somebody looks, or the author asked for it")
def test_it_is_kept_while_somebody_looks(village):
    keeping = of.Watched(village, past=None)
    keeping.tick(5)
    assert keeping.past.ring is None
    assert not village.trace.on
    client = keeping.client(agent="Ann")
    keeping.tick(5)
    client.leave()
    keeping.tick(5)
    assert keeping.past.ring.first_tick == 7  # from when somebody looked; a page that is loaded anew finds it
    keeping.clock.now += 11
    keeping.tick(2)
    assert keeping.past.ring is None
    assert not village.trace.on
    keeping.close()


def test_it_is_kept_always_if_that_was_asked_for(keeping):
    keeping.tick(50)
    keeping.clock.now += 100
    keeping.tick(5)
    client = keeping.client(agent="Ann")
    keeping.tick(2)
    assert state(client)["past"]["first"] == 18
    keeping.source.detach()
    assert not keeping.runtime.trace.on


@pytest.mark.parametrize("past", [-1, 1.5, True, "all", 10**9])
def test_how_much_is_checked(village, past):
    with pytest.raises(InspectorError, match="its past is"):
        Inspector(village, port=0, past=past)


# --- what happened just now -------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Past: When a breakpoint is hit, the page is told what its agent did just before")
@pytest.mark.parametrize("past", [0, 40])
def test_what_happened_before_a_breakpoint(village, past):
    watched = of.Watched(village, past=past)
    client = watched.client()
    watched.tick(10)
    client.ask("break", kind="decider", name="ASLEEP", agent="Bob")
    watched.tick(20)
    watched.source.serve()
    message = client.last("just_now")
    tick = village.tick
    assert (message["agent"], message["path"], message["tick"]) == ("Bob", "tree/ROOT/ASLEEP", tick)
    assert message["reason"].startswith("breakpoint: decider ASLEEP of Bob")
    assert {record[1] for record in message["records"]} == {"Bob"}
    assert [record[0] for record in message["records"]] == sorted(record[0] for record in message["records"])
    assert ["activate", "tree/ROOT/ASLEEP"] in [[one[3], one[2]] for one in message["records"] if one[0] == tick]
    assert not {"think", "ready"} & {record[3] for record in message["records"]}
    late = watched.client()
    watched.clock.now += 1
    watched.source.serve()
    assert late.last("just_now") == message
    watched.close()


def test_who_looks_back_is_told_of_the_run(keeping):
    client = keeping.client(agent="Bob")
    keeping.tick(10)
    client.ask("at", tick=3)
    keeping.tick()
    keeping.look_back()
    client.ask("break", kind="decider", name="ASLEEP", agent="Bob")  # on what one sees
    keeping.look_back()
    keeping.tick(20)
    keeping.source.serve()
    keeping.look_back()
    live = state(client)["live"]
    assert (live["tick"], live["paused"]) == (keeping.runtime.tick, True)
    assert live["reason"].startswith("breakpoint: decider ASLEEP")
    assert [point["name"] for point in state(client)["breakpoints"]] == ["ASLEEP"]


# --- saving -----------------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Past: The last ticks can be saved as a recording")
def test_saving(keeping, tmp_path):
    keeping.tick(60)
    name, data = keeping.source.save(10)
    assert name == "village-51-60.sqlite"
    path = tmp_path / name
    path.write_bytes(data)
    with Recording.open(path) as saved:
        assert (saved.first_tick, saved.last_tick, saved.agents(55)) == (51, 60, ("Ann", "Bob", "Cyd"))
        assert len(saved.unreplayable) == 2
    served = of.Round(path)
    client = served.client(agent="Bob", timeline={"agent": "Bob"})
    served.serve(3)
    assert client.last("agent")["snapshot"]["name"] == "Bob"
    assert min(span[4] for span in client.last("timeline")["spans"]) < 51  # what ran already
    assert served.source.greeting()[0]["unreplayable"] == saved_words(served)
    assert "saved from the past of a live run" in served.source.greeting()[0]["what_if"]  # and no word of controls
    served.recording.close()
    assert keeping.source.save(None)[0] == "village-21-60.sqlite"
    assert keeping.source.save(10**9)[0] == "village-21-60.sqlite"


def test_who_was_not_looked_at_yet_is_told_so(keeping, tmp_path, monkeypatch):
    keeping.tick(10)
    path = tmp_path / "past.sqlite"
    path.write_bytes(keeping.source.save(None)[1])
    with Recording.open(path) as saved:
        monkeypatch.setattr(type(saved), "looked_at", lambda self, name, tick: None if name == "Bob" else tick)
        ann, bob = (RecordedCrowd(saved).summary(name, saved.first_tick) for name in ("Ann", "Bob"))
    assert (ann.models, ann.status) == (("plan",), "")
    assert (bob.models, bob.status, bob.running) == ((), "not looked at yet", "")


def test_saving_a_quiet_stretch_late_in_a_run(tmp_path):
    runtime = Runtime(3, host="plain")
    runtime.add(Agent(Entity("cat", name="Tom")))
    for _ in range(1270):
        runtime.step()
    late = of.Watched(runtime, past=20)
    late.tick(20)  # in which nothing happens
    _, data = late.source.save(None)
    path = tmp_path / "quiet.sqlite"
    path.write_bytes(data)
    with Recording.open(path) as saved:
        assert (saved.first_tick, saved.last_tick, saved.agents(1280)) == (1271, 1290, ("Tom",))
    late.close()
    runtime.close()


def saved_words(served):
    return served.recording.unreplayable


def test_one_is_saved_at_a_time(keeping):
    keeping.tick(5)
    keeping.past._is_saving.acquire()
    with pytest.raises(InspectorError, match="another recording is being saved"):
        keeping.source.save(None)
    keeping.past._is_saving.release()
    assert keeping.source.save(None)


@pytest.mark.parametrize(
    ("title", "name"),
    [("../../etc/passwd", "etc-passwd"), ('a"b\r\nX: y', "a-b-X-y"), ("\u00e4\u00f6", "run"), ("x" * 500, "x" * 60)],
)
def test_the_name_of_a_file_is_plain(village, title, name):
    past = Past(village, title, 5)
    past.attach()
    village.step()
    past.end_tick(frozenset())
    assert past.save(None).name == f"{name}-1-1.sqlite"
    past.detach()


# --- its thread -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_on_its_own_thread(village):
    from websockets.sync.client import connect

    with Inspector(village, port=0, past=100) as inspector:
        url = f"ws://127.0.0.1:{inspector.port}/ws"
        with connect(url, open_timeout=LIMIT, close_timeout=1) as ws:
            for _ in range(50):
                village.step()
            ws.send('{"do":"watch","agent":"Bob"}')
            ws.send('{"do":"at","tick":12}')
            end = time.monotonic() + LIMIT
            message = {}
            while (message.get("is"), message.get("tick")) != ("agent", 12) and time.monotonic() < end:
                village.step()
                try:
                    message = json.loads(ws.recv(timeout=0.02))
                except TimeoutError:
                    message = {}
            assert message["snapshot"]["name"] == "Bob"
            assert [one for one in threading.enumerate() if one.name == "agentrt inspector: past"]
    assert not [one for one in threading.enumerate() if one.name.startswith("agentrt inspector")]


# --- the run ----------------------------------------------------------------------------------------------------------

commands = st.fixed_dictionaries(
    {
        "do": st.sampled_from(["at", "live", "step", "play", "pause", "speed", "watch", "break", "unbreak", "resume"]),
        "tick": st.integers(0, 60),
        "ticks": st.integers(-20, 3),
        "speed": st.sampled_from([0.5, 8.0]),
        "agent": st.sampled_from(["Ann", "Bob", "Nobody", ""]),
        "events": st.sampled_from([None, {}]),
        "timeline": st.sampled_from([None, {"agent": "Bob"}]),
        "kind": st.just("action"),
        "name": st.just("Eat"),
        "id": st.just(1),
    }
)
steps = st.lists(
    st.tuples(st.integers(0, 2), commands | st.sampled_from(["come", "go", "lazy", "save", "look", "look"])),
    max_size=40,
)
TICKS = 40


def digest_without():
    runtime = of.make_village()
    digest = TraceDigest(runtime.trace)
    for _ in range(TICKS):
        runtime.step()
    return digest.hexdigest()


def act_out(runtime, script, past):
    watched = of.Watched(runtime, past=past)
    clients = [watched.client(agent="Ann") for _ in range(3)]
    script = list(script)

    def act():
        watched.clock.now += 0.06
        if not script:
            if runtime.gate.is_closed:
                watched.source.detach()
            return
        who, what = script.pop(0)
        client = clients[who]
        if what == "look":
            watched.look_back()
        elif what == "save":
            if watched.past.reach():
                watched.source.save(5)
        elif what == "come" or client.is_gone:
            clients[who] = watched.client(events={})
        elif what == "go":
            client.leave()
        elif what == "lazy":
            client.reads = not client.reads
        elif not client.session.submit(of.read(json.dumps(what))):
            client.session.commands.clear()

    return watched, act


@pytest.mark.states("tools: Past: Going back changes no run, whatever clients ask, on every host", source="design 7")
@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps, st.sampled_from([None, 3, 20]))
def test_going_back_changes_nothing(script, past):
    runtime = of.make_village()
    digest = TraceDigest(runtime.trace)
    watched, act = act_out(runtime, script, past)
    while runtime.tick < TICKS:
        act()
        runtime.step()
    assert digest.hexdigest() == digest_without()
    watched.close()
    digest.close()
    assert not runtime.trace.on
    runtime.close()


SCRIPT = [
    (0, {"do": "at", "tick": 1}),
    (0, "look"),
    (1, {"do": "break", "kind": "action", "name": "Rest"}),
    (1, {"do": "step", "ticks": 3}),
    (0, "save"),
    (1, {"do": "unbreak", "id": 1}),
    (1, {"do": "resume"}),
    (2, {"do": "step", "ticks": -5}),
    (0, "look"),
    (0, {"do": "live"}),
    (0, "look"),
    (2, "go"),
]


@pytest.mark.states("tools: Past: Going back changes no run, whatever clients ask, on every host ...")
@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_going_back_changes_nothing_on_event_loops(host):
    digests = []

    async def main():
        runtime = of.make_village(host)
        digest = TraceDigest(runtime.trace)
        watched, act = act_out(runtime, SCRIPT, 10)
        runtime.after_tick(act)
        runtime.gate.attend(act)
        await runtime.run(TICKS, speed=float("inf"))
        digests.append(digest.hexdigest())
        watched.close()
        await runtime.aclose()

    (asyncio if host == "asyncio" else trio).run(main() if host == "asyncio" else main)
    assert digests == [digest_without()]


@pytest.mark.slow
@pytest.mark.states("tools: Past: Going back changes no run, whatever clients ask, on every host ...")
def test_going_back_changes_nothing_in_the_colony():
    from agentrt_examples.colony import world

    digests = []
    for script in ([], SCRIPT):
        runtime = world.make(seed=7, host="plain")
        digest = TraceDigest(runtime.trace)
        watched, act = act_out(runtime, script, 20) if script else (types.SimpleNamespace(close=int), int)
        while runtime.tick < 120:
            act()
            runtime.step()
        digests.append(digest.hexdigest())
        watched.close()
        runtime.close()
    assert digests[0] == digests[1]
