"""``--set``: a world made with parameters, recorded with them, and run again with them."""

from __future__ import annotations

import importlib.metadata
import json
import sqlite3
import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest
from click.testing import CliRunner

from agentrt import Runtime, worlds
from agentrt.cli import commands, main
from agentrt.errors import ParameterError, RecordingError, ReplayError
from agentrt.record import Recording, branch, replay
from agentrt.worlds import Parameter, SimpleWorld

PARAMETERS = {
    "depth": Parameter(3, "How deep it is.", low=0, high=9),
    "wind.force": Parameter(0.5, "How hard it blows."),
    "frozen": Parameter(False),
    "shore": Parameter("reed", choices=("reed", "sand")),
}


def make(*, seed, host, params):
    runtime = Runtime(seed, host=host)
    text = " ".join(f"{name}={value}" for name, value in params.items())
    runtime.every_tick(lambda: runtime.note(text))
    return runtime


LAKE = SimpleWorld("lake", make, summary="A lake.", parameters=PARAMETERS)
WELL = SimpleWorld("well", lambda *, seed, host: Runtime(seed, host=host), summary="A well.")


@pytest.fixture(autouse=True)
def installed(monkeypatch, tmp_path):
    module = ModuleType("pretended_waters")
    module.lake, module.well = LAKE, WELL
    monkeypatch.setitem(sys.modules, "pretended_waters", module)
    points = [EntryPoint(name, f"pretended_waters:{name}", worlds.ENTRY_POINT_GROUP) for name in ("lake", "well")]
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda *, group: points if group == worlds.ENTRY_POINT_GROUP else []
    )
    monkeypatch.chdir(tmp_path)


def run(*args):
    return CliRunner().invoke(main, args)


def notes(path):
    with Recording.open(path) as recording:
        return {dict(record.detail)["text"] for record in recording.records()}


def test_what_a_world_takes_is_told():
    told = run("demo", "lake", "--parameters")
    assert (told.exit_code, told.stdout) == (
        0,
        "depth=3  int, 0 to 9: How deep it is.\n"
        "wind.force=0.5  float: How hard it blows.\n"
        "frozen=false  bool\n"
        "shore=reed  str, reed | sand\n",
    )
    told = run("demo", "well", "--parameters")
    assert (told.exit_code, told.stdout, told.stderr) == (0, "", "the world 'well' takes no parameters\n")


def test_a_run_is_made_with_what_was_set_and_replayed_with_it(tmp_path):
    given = ("--set", "frozen=true", "--set", "depth=7", "--set", "wind.force=1")
    ran = run("demo", "lake", "--headless", "--ticks", "5", "--digest", "--record", "lake.sqlite", *given)
    assert ran.exit_code == 0, ran.output
    title = "lake: 5 ticks, seed 0, plain host, depth=7, wind.force=1.0, frozen=true"
    assert ran.stdout.splitlines()[0] == title
    assert notes("lake.sqlite") == {"depth=7 wind.force=1.0 frozen=True shore=reed"}
    with Recording.open("lake.sqlite") as recording:
        assert recording.meta["params"] == {"depth": 7, "wind.force": 1.0, "frozen": True}
        assert replay(recording).is_same
        assert replay(recording, LAKE.make).is_same
    assert run("replay", "lake.sqlite").exit_code == 0
    branched = run("replay", "lake.sqlite", "--to", "3", "--ticks", "2", "--record", "more.sqlite")
    assert branched.exit_code == 0, branched.output
    assert notes("more.sqlite") == notes("lake.sqlite")
    with Recording.open("more.sqlite") as recording:
        assert recording.meta["params"] == {"depth": 7, "wind.force": 1.0, "frozen": True}
        assert replay(recording).is_same


def test_defaults_are_as_if_nothing_was_set():
    digests = {
        run("demo", "lake", "--headless", "--ticks", "5", "--digest", *given).stdout.splitlines()[-1]
        for given in ((), ("--set", "depth=3"), ("--set", "shore=reed", "--set", "frozen=false"))
    }
    assert len(digests) == 1
    assert (
        run("demo", "lake", "--headless", "--ticks", "5", "--digest", "--set", "depth=4").stdout.splitlines()[-1]
        not in digests
    )


def test_a_live_run_gets_them_too(monkeypatch):
    ran = []
    monkeypatch.setattr(commands, "_has_terminal", lambda: True)
    monkeypatch.setattr(SimpleWorld, "run_live", lambda _self, **options: ran.append(options.get("params")))
    assert run("demo", "lake", "--set", "depth=9").exit_code == 0
    assert run("demo", "lake").exit_code == 0
    assert ran == [{"depth": 9}, None]


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("lake", ("depth",), "'depth' is not NAME=VALUE, as in wolves=4."),
        ("lake", ("=3",), "'=3' is not NAME=VALUE"),
        ("lake", ("depth=3", "depth=4"), "'depth' is set twice."),
        ("lake", ("depth=ten",), "the parameter 'depth' of the world 'lake': 'ten' is no whole number."),
        ("lake", ("depth=",), "the parameter 'depth' of the world 'lake': '' is no whole number."),
        ("lake", ("dept=3",), "there is no such parameter. Did you mean 'depth'?"),
        ("well", ("depth=3",), "the parameter 'depth' of the world 'well': this world has no parameters."),
    ],
)
def test_what_cannot_be_set_is_told_and_nothing_is_written(tmp_path, name, given, told):
    options = [one for pair in given for one in ("--set", pair)]
    ran = run("demo", name, "--headless", "--ticks", "5", "--record", "run.sqlite", *options)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert told in ran.stderr.replace("\n", " ")
    assert list(tmp_path.iterdir()) == []


def lake_file(path, **given):
    runtime = worlds.make_world(LAKE, seed=1, host="plain", params=given)
    with runtime.record(path, world="lake", params=given):
        runtime.step()
    runtime.close()
    return path


def test_a_recording_from_before_there_were_parameters_opens(tmp_path):
    path = lake_file(tmp_path / "old.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM meta WHERE key = 'params'")
    with Recording.open(path) as recording:
        assert recording.meta["params"] == {}
        assert replay(recording).is_same


@pytest.mark.parametrize("hostile", ["[]", '"depth"', '{"depth": [1]}', '{"depth": null}', '{"depth": 1e999}'])
def test_a_header_whose_parameters_are_none_is_refused(tmp_path, hostile):
    path = lake_file(tmp_path / "run.sqlite", depth=4)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'params'", (hostile,))
    with pytest.raises(RecordingError, match="its header has no proper 'params'"):
        Recording.open(path)


def test_a_recording_whose_parameters_its_world_does_not_take_is_told(tmp_path):
    path = lake_file(tmp_path / "run.sqlite", depth=4)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'params'", (json.dumps({"depth": 40}),))
    with pytest.raises(ParameterError, match="40 is not 0 to 9"):
        replay(path)
    told = run("replay", str(path), "--world", "well")
    assert told.exit_code == 2
    assert "this world has no parameters" in told.stderr


def test_a_make_of_ones_own_has_to_take_what_was_given(tmp_path):
    path = lake_file(tmp_path / "run.sqlite", depth=4)
    with pytest.raises(ReplayError) as caught:
        replay(path, lambda *, seed, host: LAKE.make(seed=seed, host=host))
    assert caught.value.reason == "its world was made with depth=4, and make= takes no params"
    with pytest.raises(ReplayError):
        branch(path, lambda *, seed, host: LAKE.make(seed=seed, host=host), at=1)
    assert replay(path, lambda *, seed, host, params: LAKE.make(seed=seed, host=host, params=params)).is_same
    assert replay(path, lambda **given: LAKE.make(**given)).is_same
