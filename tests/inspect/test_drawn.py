"""The world's drawing for clients: only for those who look at it, and only what changed; live and recorded."""

from __future__ import annotations

import shutil
import sqlite3

import pytest
from modules import load

from agentrt.drawing import Drawing, Mark, Tile, Tiles
from agentrt.testing import TraceDigest

of = load("tests/inspect/village.py")

GRASS = Tiles(("....",), {".": Tile("#263e24")})
GRASS_9 = Tiles(("." * 9,), {".": Tile("#263e24")})
MUD = Tiles(("....",), {".": Tile("#483620")})


class Yard:
    """A world that is drawn, and counts how often."""

    def __init__(self, runtime):
        self.runtime = runtime
        self.drawn = 0
        self.tiles = GRASS
        self.marks = {"ann": Mark(0, 0, "A", agent="Ann"), "tree": Mark(3, 0, "T")}
        runtime.drawing = self.draw

    def draw(self):
        self.drawn += 1
        return Drawing(4, 1, self.tiles, dict(self.marks))


@pytest.fixture
def yard(watched):
    return Yard(watched.runtime)


def without_tick(message):
    return {key: value for key, value in message.items() if key not in ("is", "tick")}


def test_who_looks_is_told_all_of_it_and_then_what_changed(watched, yard):
    client = watched.client(drawing=True)
    watched.tick()
    still = {
        "width": 4, "height": 1, "tiles": {"rows": ["...."], "palette": {".": ["#263e24", "", "", False]}},
    }  # fmt: skip
    assert without_tick(client.last("drawing")) == {
        "offered": True, "problem": "", "whole": True, "still": still, "gone": [],
        "marks": {"ann": {"x": 0, "y": 0, "sign": "A", "agent": "Ann"}, "tree": {"x": 3, "y": 0, "sign": "T"}},
    }  # fmt: skip
    watched.tick(5)
    assert len(client.told("drawing")) == 1  # nothing is another one
    yard.marks = {"ann": Mark(1, 0, "A", agent="Ann"), "bob": Mark(2, 0, "B")}
    watched.tick()
    assert without_tick(client.last("drawing")) == {
        "offered": True, "problem": "", "whole": False, "gone": ["tree"],
        "marks": {"ann": {"x": 1, "y": 0, "sign": "A", "agent": "Ann"}, "bob": {"x": 2, "y": 0, "sign": "B"}},
    }  # fmt: skip
    yard.tiles = MUD
    watched.tick()
    told = without_tick(client.last("drawing"))
    assert (told["marks"], told["gone"]) == ({}, [])
    assert told["still"]["tiles"]["palette"] == {".": ["#483620", "", "", False]}


@pytest.mark.states(
    "tools: World: It is drawn only while somebody looks at it, ten times a second at most, and once for all who look",
    source="design 7",
)
def test_it_is_drawn_only_for_those_who_look_and_once_for_all(watched, yard):
    watched.client(agent="Ann", agents={})
    watched.tick(20)
    assert yard.drawn == 0
    clients = [watched.client(drawing=True) for _ in range(3)]
    watched.tick(10, seconds=0.125)
    assert yard.drawn == 10
    watched.tick(50, seconds=0.01)
    assert yard.drawn <= 16
    for client in clients:
        assert client.last("drawing")["offered"]
        client.ask("watch", drawing=False)
    watched.tick()
    drawn = yard.drawn
    watched.tick(5)
    assert yard.drawn == drawn


def test_a_world_that_keeps_its_marks_and_changes_them_is_seen_to_move(watched):
    marks = {}

    def draw():
        marks["ann"] = Mark(watched.runtime.tick, 0, "A")
        return Drawing(9, 1, GRASS_9, marks)

    watched.runtime.drawing = draw
    client = watched.client(drawing=True)
    watched.tick(3)
    assert [message["marks"]["ann"]["x"] for message in client.told("drawing")] == [1, 2, 3]


def test_who_looks_away_and_back_is_told_what_changed_meanwhile(watched, yard):
    client = watched.client(drawing=True)
    watched.tick()
    client.ask("watch", drawing=False)
    watched.tick()
    yard.marks["ann"] = Mark(2, 0, "A", agent="Ann")
    watched.tick()
    client.ask("watch", drawing=True)
    watched.tick()
    assert (client.last("drawing")["whole"], list(client.last("drawing")["marks"])) == (False, ["ann"])


def test_a_slow_client_is_told_how_it_comes_from_what_it_has_to_what_is(watched, yard):
    client = watched.client(drawing=True)
    watched.tick()
    client.reads = False
    for x in range(1, 4):
        yard.marks["ann"] = Mark(x, 0, "A", agent="Ann")
        watched.tick(2)
    client.session.arrived()
    watched.tick(3)
    columns = [message["marks"]["ann"]["x"] for message in client.told("drawing")]
    assert columns == [0, 1, 3]


def test_the_state_says_whether_there_is_one(watched):
    client = watched.client(drawing=True)
    watched.tick()
    assert client.last("state")["drawn"] is False
    assert without_tick(client.last("drawing")) == {"offered": False, "problem": ""}
    yard = Yard(watched.runtime)
    watched.tick()
    assert client.last("state")["drawn"] is True
    yard.draw = None
    watched.runtime.drawing = lambda: 1 / 0
    watched.tick(3)
    assert client.last("state")["drawn"] is False
    assert client.last("drawing")["offered"] is False
    assert client.errors() == []


def test_the_first_update_after_a_failure_is_whole(watched, yard, monkeypatch):
    client = watched.client(drawing=True, agent="Ann")
    watched.tick()
    monkeypatch.setattr("agentrt.inspect.live.explain", lambda snapshot: 1 / 0)
    yard.marks["ann"] = Mark(1, 0, "A", agent="Ann")
    watched.tick(3)
    assert client.errors()
    monkeypatch.undo()
    watched.tick(2)
    assert client.last("drawing")["whole"]


@pytest.mark.states("tools: World: Drawing changes nothing: a run that is drawn has the digest of one that is not ...")
def test_looking_changes_nothing():
    digests = []
    for looks in (False, True):
        runtime = of.make_village()
        digest = TraceDigest(runtime.trace)
        Yard(runtime)
        watched = of.Watched(runtime)
        if looks:
            watched.client(drawing=True)
        watched.tick(40)
        digests.append(digest.hexdigest())
        watched.source.detach()
        runtime.close()
    assert digests[0] == digests[1]


# --- recorded -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A recording in which Ann walks one cell in each tick, and truth."""
    path = tmp_path_factory.mktemp("drawn") / "yard.sqlite"
    runtime = of.make_village()
    runtime.drawing = lambda: Drawing(
        99, 1, None, {"ann": Mark(runtime.tick, 0, "A", agent="Ann"), "tree": Mark(3, 0, "T")}
    )
    with runtime.record(path):
        for _ in range(20):
            runtime.step()
    runtime.close()
    return path


@pytest.fixture
def serve():
    rounds = []

    def serve(path):
        rounds.append(of.Round(path))
        return rounds[-1]

    yield serve
    for one in rounds:
        one.recording.close()


def test_each_client_sees_the_world_at_its_own_tick(recorded, serve):
    round_ = serve(recorded)
    one, other = round_.client(drawing=True), round_.client(drawing=True)
    one.ask("at", tick=7)
    other.ask("at", tick=15)
    round_.serve(3)
    assert [len(client.told("drawing")) for client in (one, other)] == [1, 1]
    assert [client.last("drawing")["marks"]["ann"]["x"] for client in (one, other)] == [7, 15]
    one.ask("at", tick=3)
    round_.serve()
    assert without_tick(one.last("drawing")) == {
        "offered": True, "problem": "", "whole": False, "gone": [],
        "marks": {"ann": {"x": 3, "y": 0, "sign": "A", "agent": "Ann"}},
    }  # fmt: skip
    assert one.last("state")["drawn"] is True


def test_a_recording_without_any(tmp_path, serve):
    runtime = of.make_village()
    with runtime.record(tmp_path / "run.sqlite"):
        runtime.step()
    runtime.close()
    round_ = serve(tmp_path / "run.sqlite")
    client = round_.client(drawing=True)
    round_.serve(2)
    assert client.last("state")["drawn"] is False
    assert without_tick(client.last("drawing")) == {"offered": False, "problem": ""}


@pytest.mark.states("tools: World: A hostile drawing is a RecordingError, or is text ...")
def test_a_broken_drawing_spoils_nothing_else(recorded, tmp_path, serve):
    path = tmp_path / "spoilt.sqlite"
    shutil.copy(recorded, path)
    data = b' {"width": NaN, "height": 1, "marks": {"ann": {"x": 0, "y": 0}}}'
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE views SET data = ? WHERE agent = 0 AND whole", (data,))
    connection.close()
    round_ = serve(path)
    client = round_.client(drawing=True, agent="Ann")
    client.ask("at", tick=5)
    round_.serve(4)
    (message,) = client.told("drawing")
    assert message["offered"] is False
    assert "here stands nan. Write a number" in message["problem"]
    assert client.last("agent")["snapshot"]["name"] == "Ann"
    assert client.errors() == []
