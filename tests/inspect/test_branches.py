"""Branches that clients of a recording ask for: each in a process of its own, bounded, told of when it fails."""

from __future__ import annotations

import json
import os
import signal
import textwrap
import threading
import time

import pytest
from modules import load

from agentrt.errors import EditError, InspectorError
from agentrt.inspect import Inspector
from agentrt.inspect import branches as whatif
from agentrt.inspect.branches import Branches, script_text
from agentrt.record.branch import branch, load_edits
from agentrt.record.recording import Recording
from agentrt.worlds import load_world, make_world

of = load("tests/inspect/village.py")
pytestmark = pytest.mark.slow  # each makes a process

LIMIT = 60.0
GAME = """
    import os, time
    from agentrt import TOP, Action, Agent, Entity, Runtime
    from agentrt.worlds import Parameter, SimpleWorld

    class Eat(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(4)

    class Nap(Action):
        does = TOP
        name = "take a nap"
        utility = 0.4

        async def run(self, ctx, args):
            print("zzz")
            await ctx.sleep_ticks(3)

    def told(what):
        if what == "hang":
            while True:
                time.sleep(0.01)
        if what == "die":
            os._exit(7)
        if what == "raise":
            raise SystemExit(9)
        if what == "shout":
            os.write(1, b"x" * 100_000 + b"\\n{]\\n")

    def make(*, seed, host, params):
        runtime = Runtime(seed, host=host)
        for name in ("Ann", "Bob")[: params["guests"]]:
            runtime.add(Agent(Entity("human", name=name), actions=[Eat, Nap]))
        runtime.on_input("tell", told)
        if os.environ.get("ASTRAY"):
            runtime.agents[0].tune("Nap", utility=0.9)
        return runtime

    world = SimpleWorld("inn", make, parameters={"guests": Parameter(1)})
"""


@pytest.fixture
def inn(tmp_path, monkeypatch):
    """A recording of a project's world, which is installed for nobody else."""
    game = tmp_path / "game"
    game.mkdir()
    (game / "inn_of_branches.py").write_text(textwrap.dedent(GAME), encoding="utf-8")
    (game / "pyproject.toml").write_text('[tool.agentrt]\napp = "inn_of_branches:world"\n', encoding="utf-8")
    monkeypatch.chdir(game)
    monkeypatch.syspath_prepend(str(game))
    monkeypatch.delitem(__import__("sys").modules, "inn_of_branches", raising=False)
    runtime = make_world(load_world("inn"), seed=3, host="plain", params={"guests": 2})
    path = tmp_path / "inn.sqlite"
    with runtime.record(path, world="inn", params={"guests": 2}):
        for _ in range(40):
            runtime.step()
    runtime.close()
    return path


@pytest.fixture
def made(inn):
    """Makes branches of it; in the end nothing of them is left."""
    ones = []

    def make(folder=None, **options):
        options.setdefault("controls", True)
        one = Branches(str(inn), None if folder is None else str(folder), "", **options)
        ones.append(one)
        return one

    yield make
    for one in ones:
        one.close()


def row_of(branches, number):
    """What is told of a branch when it is over."""
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        (row,) = (row for row in branches.rows() if row["id"] == number)
        if row["state"] != "running":
            return row
        threading.Event().wait(0.02)
    raise AssertionError(row)


REACH = (1, 40)
NAP = {"tick": 21, "set": "utility", "of": "Nap", "to": 0.9, "agent": "Ann"}


def test_it_is_the_branch_that_the_command_line_runs(made, inn, tmp_path):
    branches = made(tmp_path / "kept")
    number = branches.start(20, None, [NAP], REACH)
    assert row_of(branches, number)["state"] == "done"
    told = branches.report(number)
    report = told["report"]
    script = tmp_path / "kept" / told["file"]
    assert script.read_text(encoding="utf-8") == script_text([NAP])
    again = branch(inn, load_world("inn").make, at=20, edits=load_edits(script))
    assert report["digest"] == again.digest
    assert report["first"] == json.loads(json.dumps(again.first.as_json()))
    assert report["first"]["agent"] == "Ann"
    assert ["action", "Nap", 0, 7] in report["difference"]["counts"]
    assert "--to 20 --ticks 20 --edit inn-branch-1.json" in told["command"]
    with Recording.open(inn) as recording:
        lines = branches.lines(number, "Ann", recording)
    assert (lines["first"], lines["at"], lines["last"], lines["read"]) == (1, 20, 40, 40)
    assert {span[3] for span in lines["one"]} == {"eat"}
    assert {span[3] for span in lines["other"]} == {"eat", "take a nap"}  # as the plan calls it
    with Recording.open(tmp_path / "kept" / "inn-branch-1.sqlite") as branched:
        assert branched.digest() == again.digest
    branches.close()
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["inn-branch-1.json", "inn-branch-1.sqlite"]


def test_nothing_that_is_there_is_written_over(made, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "inn-branch-1.json").write_text("mine", encoding="utf-8")
    branches = made(kept)
    number = branches.start(20, 5, [], REACH)
    assert number == 2
    assert row_of(branches, number)["state"] == "done"
    assert (kept / "inn-branch-1.json").read_text(encoding="utf-8") == "mine"


def test_a_temporary_folder_goes_in_the_end(made):
    branches = made()
    number = branches.start(20, 5, [], REACH)
    row_of(branches, number)
    folder = branches._folder
    assert len(list(folder.iterdir())) == 2
    branches.drop(number)
    assert list(folder.iterdir()) == []
    branches.close()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("die", "its process ended with the code 7 in tick"),
        ("raise", "the world raised SystemExit(9)"),
    ],
)
def test_one_that_dies_says_so(made, what, said):
    branches = made()
    number = branches.start(20, None, [{"tick": 25, "send": "tell", "args": {"what": what}}], REACH)
    row = row_of(branches, number)
    assert row["state"] == "failed"
    assert said in row["error"]


def test_what_a_world_prints_is_not_taken_for_what_its_process_tells(made):
    branches = made()
    number = branches.start(20, None, [{"tick": 25, "send": "tell", "args": {"what": "shout"}}], REACH)
    assert row_of(branches, number)["state"] == "done"


def test_one_that_hangs_is_ended_and_says_so(made, monkeypatch):
    monkeypatch.setattr(whatif, "_SILENCE", 3.0)
    branches = made()
    number = branches.start(20, None, [{"tick": 25, "send": "tell", "args": {"what": "hang"}}], REACH)
    row = row_of(branches, number)
    assert row["state"] == "failed"
    assert "nothing was heard for 3 s, and it was ended" in row["error"]
    assert branches._all[number].process.wait(LIMIT) == -signal.SIGKILL


def test_one_can_be_ended_and_all_end_with_the_inspector(made):
    branches = made()
    hang = [{"tick": 25, "send": "tell", "args": {"what": "hang"}}]
    one, other = (branches.start(20, None, hang, REACH) for _ in "ab")
    with pytest.raises(InspectorError, match="2 branches run already"):
        branches.start(20, None, hang, REACH)
    branches.drop(one)
    assert row_of(branches, one)["state"] == "canceled"
    process = branches._all[other].process
    branches.close()
    assert process.wait(LIMIT) == -signal.SIGKILL


@pytest.mark.skipif(not hasattr(os, "fork"), reason="what ends it otherwise is the same everywhere")
def test_a_process_ends_when_whoever_started_it_is_gone(made):
    """However that ended: its standard input does."""
    branches = made()
    number = branches.start(20, None, [{"tick": 25, "send": "tell", "args": {"what": "hang"}}], REACH)
    process = branches._all[number].process
    process.stdin.close()
    assert process.wait(LIMIT) == 3


def test_a_recording_that_goes_astray_before_the_tick_says_so(made, monkeypatch):
    monkeypatch.setenv("ASTRAY", "1")
    branches = made()
    row = row_of(branches, branches.start(20, None, [NAP], REACH))
    assert row["state"] == "failed"
    assert "first difference in tick 1" in row["error"]
    assert "as recorded" in row["error"]


def test_a_world_that_is_not_here_says_so(made, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    branches = made()
    row = row_of(branches, branches.start(20, None, [NAP], REACH))
    assert "no world 'inn'" in row["error"] or "'inn'" in row["error"]
    assert row["state"] == "failed"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        ((41, None, []), "it has no tick 41 to branch at"),
        ((40, None, []), "nothing is left to run"),
        ((20, None, [{"tick": 3, "set": "weight", "of": "Nap", "to": 1}]), "tick 3 is not one of the branch"),
        ((20, 5, [{"tick": 30, "set": "weight", "of": "Nap", "to": 1}]), "tick 30 is not one of the branch"),
        ((20, None, [{"tick": 30, "set": "weight", "of": "Nap", "to": -1}]), "a weight is a number"),
        ((20, None, [{"tick": 30, "import": "os"}]), "it does nothing"),
        ((20, None, [{}] * 201), "there are 201 edits"),
    ],
)
def test_what_is_wrong_is_told_before_a_process_is_made(made, ask, said):
    branches = made()
    with pytest.raises((EditError, InspectorError), match=said):
        branches.start(*ask, REACH)
    assert branches.rows() == []
    assert branches._folder is None


def test_without_controls_nothing_is_run_or_written(made, tmp_path):
    branches = made(tmp_path / "kept", controls=False)
    with pytest.raises(InspectorError, match="Watching only"):
        branches.start(20, None, [], REACH)
    assert not (tmp_path / "kept").exists()


def test_so_many_are_kept(made, monkeypatch):
    monkeypatch.setattr(whatif, "_MOST_KEPT", 2)
    branches = made()
    for _ in range(3):
        row_of(branches, branches.start(38, 1, [], REACH))
    assert [row["id"] for row in branches.rows()] == [2, 3]
    assert sorted(path.name for path in branches._folder.iterdir()) == [
        "inn-branch-2.json", "inn-branch-2.sqlite", "inn-branch-3.json", "inn-branch-3.sqlite",
    ]  # fmt: skip


# --- as a client ------------------------------------------------------------------------------------------------------


def served(path, **options):
    """A source of a recording, and a client of it."""
    source = whatif_source(str(path), **options)
    source.attach()
    return source, of.Client(source)


def whatif_source(path, **options):
    from agentrt.inspect.recorded import RecordedSource

    return RecordedSource(path, "", **options)


def wait_for(client, kind, is_it=lambda _message: True):
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        found = [message for message in list(client.messages) if message["is"] == kind and is_it(message)]
        if found:
            return found[-1]
        threading.Event().wait(0.02)
    raise AssertionError([message["is"] for message in client.messages])


def test_a_client_asks_hears_of_it_and_sees_both(inn):
    source, client = served(inn, controls=True)
    try:
        assert source.greeting()[0]["what_if"] == ""
        client.ask("watch", branches=True, agent="Ann")
        client.ask("branch", at=20, ticks=None, edits=[NAP])
        number = wait_for(client, "branched")["id"]
        client.ask("watch", branches=True, branch=number, agent="Ann")
        told = wait_for(client, "branch", lambda one: one["state"] == "done")
        assert told["report"]["first"]["tick"] == 21
        assert wait_for(client, "sides", lambda one: one["read"] == 40)["agent"] == "Ann"
        assert wait_for(client, "inputs")["rows"] == []
        client.ask("unbranch", id=number)
        wait_for(client, "branches", lambda one: one["rows"] == [])
        client.ask("branch", at=20, ticks=None, edits=[{"tick": 21, "set": "weight", "of": "Nap", "to": "x"}])
        assert "#/0: a weight is a number" in wait_for(client, "error")["message"]
    finally:
        source.detach()


def test_a_client_that_only_watches_is_refused(inn):
    source, client = served(inn)
    try:
        assert source.greeting()[0]["what_if"].startswith("Watching only")
        client.ask("branch", at=20, ticks=None, edits=[NAP])
        assert wait_for(client, "error")["code"] == "read_only"
        client.ask("unbranch", id=1)
        client.ask("watch", branches=True, branch=7, agent="Ann")
        assert wait_for(client, "branches")["rows"] == []
    finally:
        source.detach()


@pytest.mark.parametrize(
    "fields",
    [
        {"at": -1, "edits": []},
        {"at": 1, "edits": {}},
        {"at": 1, "edits": [1]},
        {"at": 1, "edits": [{}] * 201},
        {"at": 1, "ticks": 0, "edits": []},
        {"at": 1, "ticks": 1e9, "edits": []},
        {"at": "1", "edits": []},
        {"at": 1},
    ],
)
def test_a_message_that_is_wrong_is_refused_as_such(fields):
    from agentrt.inspect.protocol import Denial, read

    assert isinstance(read(json.dumps({"do": "branch", **fields})), Denial)


def test_a_runtime_that_lives_has_no_branches(village):
    watched = of.Watched(village)
    client = watched.client() if hasattr(watched, "client") else of.Client(watched.source)
    client.ask("branch", at=1, ticks=None, edits=[])
    for _ in range(3):
        village.step()
    assert any(one["code"] == "not_a_recording" for one in client.told("error"))
    watched.source.detach()


def test_the_folder_is_made_when_it_is_needed(inn, tmp_path):
    with Inspector(inn, port=0, controls=True, branches=tmp_path / "kept") as inspector:
        assert inspector.is_running
    assert not (tmp_path / "kept").exists()
