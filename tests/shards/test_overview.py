"""All shards are looked at from where they are led: one list, one drawing, and a pause holds all of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from agentrt.drawing import Drawing, Mark, Tile, Tiles
from agentrt.errors import DataFault, InspectorError, ShardLostError
from agentrt.inspect import Inspector
from agentrt.inspect.protocol import AgentsQuery, Command, read
from agentrt.inspect.sessions import Session
from agentrt.shards import LocalShards, PipeShards, Shards, barrier
from agentrt.shards.joined import JoinedList, joined_drawing, joined_times
from agentrt.shards.overview import Overview
from examples.frontier import world
from examples.frontier.__main__ import ROOT, main

SMALL = {"columns": 8, "rows": 4, "caravans": 24, "bands": 6, "road": 3}
ALL = {"agents": {"limit": 50}, "agent": "caravan-3", "events": {}, "timeline": {"agent": "caravan-3"}, "drawing": True}


class Client:
    """One who looks, on the thread of the test."""

    def __init__(self, overview):
        self.heard = []
        self.session = Session(self._take)
        self.overview = overview
        overview.open(self.session)

    def _take(self, batch):
        self.heard += batch
        self.session.arrived()
        return True

    def say(self, do, **fields):
        command = read(json.dumps({"do": do, **fields}))
        assert isinstance(command, Command), command
        self.session.submit(command)

    def all(self, kind):
        return [message for message in self.heard if message["is"] == kind]

    def last(self, kind):
        return self.all(kind)[-1]

    def until(self, kind, is_so=bool):
        """Look until something is told; how often a shard composes, real time says."""
        for _ in range(100_000):
            found = [message for message in self.all(kind) if is_so(message)]
            if found:
                return found[-1]
            self.overview._serve()
        raise AssertionError(f"nothing came of {kind}: {self.heard}")


class Clock:
    """Real seconds, of which a tenth passes whenever somebody asks: nobody has to wait."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 0.1
        return self.now


@pytest.fixture
def run():
    with Shards(world, 3, seed=2, params=SMALL, places=[LocalShards(), LocalShards()]) as run:
        yield run


@pytest.fixture
def overview(run):
    overview = Overview(run, "frontier", controls=True, clock=Clock())
    overview.attach()
    yield overview
    overview.detach()


@pytest.fixture
def client(overview):
    return Client(overview)


def unwatched(windows, **more):
    with Shards(world, 3, seed=2, params=SMALL, **more) as run:
        run.run(windows)
        return run.digest


# --- what is seen -----------------------------------------------------------------------------------------------------


def test_there_is_one_list_of_all_agents_by_shards(client):
    client.say("watch", agents={"limit": 50})
    listed = client.until("agents")
    assert (listed["total"], listed["matching"], listed["length"]) == (30, 30, 33)
    heads = [(row["group"], row["count"]) for row in listed["rows"] if "group" in row]
    assert heads == [("shard 0", 6), ("shard 1", 12), ("shard 2", 12)]
    rows = [(row["name"], row["shard"], row["kind"]) for row in listed["rows"] if "name" in row]
    assert rows[5:7] == [("band-1", 0, "band"), ("caravan-2", 1, "caravan")]


def test_the_list_is_narrowed_and_folded(client):
    client.say("watch", agents={"limit": 50, "kind": "band", "folded": ["shard 0"]})
    listed = client.until("agents", lambda one: one["matching"] == 6)
    names = [row.get("name", row.get("group")) for row in listed["rows"]]
    assert names == ["shard 0", "shard 1", "band-2", "band-4", "band-6", "shard 2", "band-3", "band-5"]
    assert listed["rows"][0] == {"group": "shard 0", "count": 1, "folded": True}


def test_a_page_of_the_list_reaches_over_the_borders(client):
    client.say("watch", agents={"limit": 50})
    client.until("agents")
    client.say("watch", agents={"limit": 5, "offset": 5})
    page = client.until("agents", lambda one: one["offset"] == 5 and len(one["rows"]) == 5)
    names = [row.get("name", row.get("group")) for row in page["rows"]]
    assert names == ["caravan-16", "band-1", "shard 1", "caravan-2", "caravan-4"]


def test_an_agent_is_asked_of_the_shard_that_has_it_and_followed_when_it_moves(client, run):
    client.say("watch", agent="caravan-13", timeline={"agent": "caravan-13"})
    assert client.until("agent")["where"] == "shard 2"
    run.run()
    assert run.where("caravan-13") == 1
    told = client.until("agent", lambda one: one["snapshot"] is None)
    assert told["where"] == "on its way to shard 1"
    run.run()
    told = client.until("agent", lambda one: one["where"] == "shard 1")
    assert told["snapshot"]["name"] == "caravan-13"
    lanes = client.until("timeline", lambda one: one["spans"] and one["spans"][0][4] > 10)
    assert lanes["agent"] == "caravan-13"


def test_who_is_not_there_is_told_to_be_nowhere(client):
    client.say("watch", agent="nobody", timeline={"agent": "nobody"}, events={"agent": "nobody"})
    told = client.until("agent")
    assert (told["name"], told["snapshot"]) == ("nobody", None)


def test_the_logs_of_all_shards_are_one_in_the_order_of_ticks(client, run):
    client.say("watch", events={"events": ["added"]})
    client.until("events")
    run.run(2)
    client.until("events", lambda one: one["records"] and one["records"][-1][0] == 12)
    told = [record[:2] for one in client.all("events") for record in one["records"]]
    assert [tick for tick, _ in told] == [1] * 30 + [12] * 2
    assert told[30:] == [[12, "caravan-6"], [12, "caravan-13"]]
    assert [one["reset"] for one in client.all("events")].count(True) == 1


def test_the_drawing_has_all_shards_with_their_borders(client):
    client.say("watch", drawing=True)
    drawing = client.until("drawing")
    assert (drawing["still"]["width"], drawing["still"]["height"]) == (8, 4)
    assert len([key for key in drawing["marks"] if key.startswith(("caravan", "band"))]) == 30
    assert drawing["marks"]["shard 1 frame"] == {
        "x": 1.5,
        "y": -0.5,
        "color": "#d5462f",
        "layer": 1000,
        "to": [[4.5, -0.5], [4.5, 3.5], [1.5, 3.5], [1.5, -0.5]],
    }
    assert drawing["marks"]["shard 2 name"]["label"] == "shard 2"


def test_the_state_is_that_of_all(client, run):
    run.run(2)
    client.say("watch")
    state = client.until("state", lambda one: one["tick"] == 20)
    assert (state["tick"], state["seconds"], state["agents"], state["paused"]) == (20, 1.0, 30, False)
    assert state["moving"] == run.moving


# --- what is done -----------------------------------------------------------------------------------------------------


def test_a_pause_holds_all_and_a_step_is_a_window(run, monkeypatch):
    overview = Overview(run, "frontier", controls=True)
    overview.attach()
    client = Client(overview)
    ticks = []
    said = [
        lambda: (ticks.append(run.tick), client.say("step")),
        lambda: (ticks.append(run.tick), client.say("step", ticks=2)),
        lambda: (ticks.append(run.tick), client.say("resume")),
    ]
    monkeypatch.setattr(barrier.time, "sleep", lambda seconds: said.pop(0)())
    overview.pause()
    run.run(5)
    assert (ticks, run.tick) == ([0, 10, 30], 50)


def test_a_breakpoint_holds_all_at_the_end_of_the_window_and_says_where(client, run):
    client.say("break", kind="action", name="Trade", agent="caravan-3")
    client.until("state", lambda one: one["breakpoints"])
    run.run(1)
    state = client.until("state", lambda one: one["paused"])
    words = "breakpoint: action Trade of caravan-3 (caravan-3 agentrt:top/Trade), in shard 2 at tick 1"
    assert (state["tick"], state["reason"]) == (10, words)
    point = state["breakpoints"][0]
    assert (point["hits"], point["last"], point["place"]) == (
        2,
        "tick 7 caravan-3 agentrt:top/Trade, shard 2",
        ("caravan-3", "agentrt:top/Trade"),
    )


def test_breakpoints_are_armed_and_taken_away_in_all_shards(client, overview, run):
    client.say("break", kind="action", name="Trade")
    client.say("break", kind="action", name="Trade")  # the same
    client.say("arm", id=1, on=False)
    state = client.until("state", lambda one: one["breakpoints"])
    assert [(one["id"], one["enabled"]) for one in state["breakpoints"]] == [(1, False)]
    run.run(2)
    assert not overview._reason
    client.say("unbreak", id=1)
    client.say("unbreak", id=1)
    assert client.until("error")["message"] == "there is no breakpoint 1"
    assert client.last("state")["breakpoints"] == []


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"do": "at", "tick": 3}, "no_past"),
        ({"do": "step", "ticks": -1}, "no_past"),
        ({"do": "branch", "at": 1, "edits": []}, "not_a_recording"),
        ({"do": "thought", "id": 1}, "not_here"),
        ({"do": "break", "kind": "condition", "name": "a >"}, "bad_breakpoint"),
        ({"do": "arm", "id": 9, "on": True}, "unknown_breakpoint"),
    ],
)
def test_what_shards_cannot_do_is_refused_with_its_reason(client, said, code):
    client.say(**said)
    assert client.until("error")["code"] == code


def test_nothing_is_changed_by_hand(client, run):
    client.say("hand", id=4, edit={"send": "tax", "args": {"village": 1, "gold": 5}})
    told = client.until("hand")
    assert (told["id"], told["ok"]) == (4, False)
    assert told["message"].startswith("Shards take nothing by hand")
    run.run(2)
    assert run.digest == unwatched(2)


def test_without_controls_it_only_shows(run):
    overview = Overview(run, "frontier", controls=False)
    overview.attach()
    client = Client(overview)
    for do in ({"do": "pause"}, {"do": "break", "kind": "aborts"}, {"do": "speed", "speed": 2}):
        client.heard.clear()
        client.say(**do)
        assert client.until("error")["code"] == "read_only"
    run.run(1)
    assert run.tick == 10


def test_a_run_is_paced_by_the_speed_that_is_chosen(run, monkeypatch):
    slept = []
    monkeypatch.setattr(barrier.time, "sleep", slept.append)
    clock = Clock()
    clock.now = 100.0
    overview = Overview(run, "frontier", controls=True, clock=clock)
    overview.attach()
    client = Client(overview)
    client.say("speed", speed=0.1)
    client.until("state", lambda one: one["speed"] == 0.1)
    run.run(2)
    assert len(slept) > 20  # 10 ticks of a twentieth second at a tenth: five seconds for each window


# --- nothing changes --------------------------------------------------------------------------------------------------


def test_watching_changes_nothing(client, overview, run):
    client.say("watch", **ALL)
    client.say("break", kind="goal", name="none of that name")
    for _ in range(6):
        run.run()
    assert {one["is"] for one in client.heard} >= {"state", "agents", "agent", "events", "timeline", "drawing"}
    assert run.digest == unwatched(6)


def test_who_leaves_is_forgotten_and_nothing_is_listened_to(client, overview, run):
    client.say("watch", **ALL)
    client.until("agents")
    overview.close(client.session)
    run.run(1)
    eyes = [tenant._eye for place in run._places for tenant in place._tenants._shards.values()]
    assert [(eye._is_open, len(eye._clients)) for eye in eyes] == [(False, 0)] * 3
    assert overview._lookers == {}


def test_one_who_does_not_read_is_asked_for_nothing(overview, run):
    deaf = Client(overview)
    deaf._take = None
    deaf.session._hand_over = lambda batch: True  # it never arrives
    deaf.say("watch", **ALL)
    other = Client(overview)
    other.say("watch", agents={"limit": 5})
    other.until("agents")
    while not deaf.session.held_back:
        overview._serve()
    run.run(4)
    eyes = [tenant._eye for place in run._places for tenant in place._tenants._shards.values()]
    assert all(len(client._batch) < 20 for eye in eyes for client in eye._clients.values())


def test_a_drawing_that_fails_stops_nothing(client, run):
    client.say("watch", drawing=True)
    client.until("drawing")
    for place in run._places:
        for tenant in place._tenants._shards.values():
            tenant._shard.corner = (0.5, 0.0)
    run.run(1)
    told = client.until("drawing", lambda one: one["problem"])
    assert "a shard's corner lies between cells" in told["problem"]
    run.run(1)
    assert run.digest == unwatched(2)


# --- a shard that is lost ---------------------------------------------------------------------------------------------


class Dies(LocalShards):
    """A place that is lost in one window."""

    def __init__(self, at):
        super().__init__()
        self._at = at

    def answers(self):
        if any(one["ask"] == "window" and one["windows"] == self._at for one in self._asked):
            self._at = -1
            self.close()
            raise ShardLostError(None, "it is gone")
        return super().answers()


def test_clients_are_told_that_a_lost_shard_comes_back_and_then_all_anew(tmp_path):
    places = [LocalShards(), Dies(3)]
    with Shards(world, 3, seed=2, params=SMALL, places=places, folder=tmp_path) as run:
        overview = Overview(run, "frontier", controls=True, clock=Clock())
        overview.attach()
        client = Client(overview)
        client.say("watch", **ALL)
        run.run(3)
        client.until("agents")
        client.heard.clear()
        run.run(1)
        reasons = [one["reason"] for one in client.all("state") if one["paused"]]
        assert reasons == ["shard 1: lost, and coming back by its journal"]
        assert client.until("events")["reset"]
        assert client.until("drawing")["whole"]
        assert client.until("agents")["total"] > 0
        assert client.last("state")["paused"] is False
        run.run(2)
        assert (run.digest, run.losses) == (unwatched(6), 1)


# --- what is joined ---------------------------------------------------------------------------------------------------


def test_grounds_with_the_same_letters_keep_their_own_looks():
    red, blue = Tile("#ff0000"), Tile("#0000ff")
    left = Drawing(1, 2, Tiles(("a", "a"), {"a": red}), {"m": Mark(0, 0)})
    right = Drawing(2, 1, Tiles(("ab",), {"a": blue, "b": red}), {"m": Mark(0, 0, to=((1, 0),))})
    joined = joined_drawing({0: (0, 0, left.as_json()), 1: (1, 0, right.as_json())})
    assert (joined.width, joined.height) == (3, 2)
    looks = [[joined.tiles.palette[letter].ground for letter in row] for row in joined.tiles.rows]
    assert looks == [["#ff0000", "#0000ff", "#ff0000"], ["#ff0000", "", ""]]
    assert (joined.marks["m"].x, joined.marks["m@1"].x, joined.marks["m@1"].to) == (0, 1, ((2, 0),))
    assert joined_drawing({}) is None


def test_drawings_that_are_too_much_together_are_told():
    many = Drawing(1, 1, None, {str(number): Mark(0, 0) for number in range(3000)})
    with pytest.raises(DataFault, match="at most 5000 marks"):
        joined_drawing({0: (0, 0, many.as_json()), 1: (1, 0, many.as_json())})


def test_a_list_waits_until_all_have_told():
    joined = JoinedList(2)
    query = AgentsQuery(limit=4)
    assert joined.message(query) is None
    told = {"total": 1, "matching": 1, "length": 1, "offset": 0, "problem": "", "every": 0.0, "rows": [{"name": "a"}]}
    joined.take(0, told)
    assert joined.message(query) is None
    joined.take(1, {**told, "rows": []})  # of the rows before: it has not told of this part of the list yet
    assert joined.message(query)["rows"] == [
        {"group": "shard 0", "count": 1, "folded": False},
        {"name": "a", "shard": 0},
        {"group": "shard 1", "count": 1, "folded": False},
    ]


def test_a_tick_takes_as_long_as_in_the_slowest_shard():
    def state(tick, *times):
        past = {"tick": list(range(tick, tick + len(times))), "tick_ms": list(times), "think_ms": [0.5] * len(times)}
        return {"history": past}

    joined = joined_times([state(1, 1.0, 4.0), state(2, 3.0, 2.0)])
    assert joined["history"] == {"tick": [1, 2, 3], "tick_ms": [1.0, 4.0, 2.0], "think_ms": [0.5, 0.5, 0.5]}
    assert joined["tick_ms"] == {"last": 2.0, "mean": 2.333, "worst": 4.0}


# --- the inspector ----------------------------------------------------------------------------------------------------


def test_an_inspector_takes_shards(run):
    with Inspector(run, port=0, title="all of it", controls=True) as inspector:
        source = inspector._source
        greeting, state = source.greeting()
        assert (greeting["shards"], greeting["source"], greeting["title"]) == (3, "live", "all of it")
        assert set(greeting["withheld"]) == {"control", "crowd", "pins"}
        assert state["tick"] == 0
        assert source.edit(b"{}")[0] == 409
        with pytest.raises(InspectorError, match="shards keep no past"):
            source.save(None)
    run.run(1)
    assert run.digest == unwatched(1)


@pytest.mark.slow
def test_shards_in_processes_show_the_same(tmp_path):
    places = [PipeShards(cwd=ROOT), PipeShards(cwd=ROOT)]
    with Shards(world, 3, seed=2, params=SMALL, places=places, folder=tmp_path, app="examples.frontier:world") as run:
        overview = Overview(run, "frontier", controls=True)
        overview.attach()
        client = Client(overview)
        client.say("watch", **ALL)
        client.say("break", kind="action", name="Trade", agent="caravan-3")
        client.until("agents")
        run.run(1)
        assert overview._reason.endswith("in shard 2 at tick 1")
        overview._reason = ""
        client.say("unbreak", id=1)
        places[1]._process.kill()
        run.run(3)
        assert client.until("state", lambda one: "coming back" in one["reason"])["paused"]
        assert len(client.until("drawing", lambda one: one["whole"])["marks"]) >= 30
        assert (run.digest, run.losses) == (unwatched(4), 1)


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_ends_all_and_says_where_it_stands():
    command = [sys.executable, "-u", "-m", "examples.frontier", "run", "--size", "small", "--inspect", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    run = subprocess.Popen([*command, "--pipes", "1"], text=True, cwd=ROOT, start_new_session=True, **pipes)
    assert run.stdout.readline().startswith("http://127.0.0.1:")
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: the process with shards hears it, too
    out, err = run.communicate(timeout=100)
    assert (run.returncode, err) == (0, "")
    assert out.startswith("0 windows; digest: ")


def test_it_is_shown_from_the_command_line(monkeypatch):
    def interrupted(self, windows=1):
        raise KeyboardInterrupt

    monkeypatch.setattr(Shards, "run", interrupted)
    result = CliRunner().invoke(main, ["run", "--size", "small", "--inspect", "--port", "0"])
    assert result.exit_code == 0
    assert result.output.startswith("http://127.0.0.1:")
    assert "(paused: press Resume there; Ctrl-C ends it)" in result.output
    assert "0 windows; digest: " in result.output
