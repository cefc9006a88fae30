"""``agentrt resume``: a recorded run goes on in its file, and says where it came to."""

from __future__ import annotations

import asyncio
import importlib.metadata
import math
import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest
from click.testing import CliRunner
from modules import load

from agentrt import worlds
from agentrt.cli import main
from agentrt.record import Recording, replay

yard = load("tests/replay/yard.py")


class Clerk(yard.Clerk):
    """Asks nobody who takes a while: on an event loop two runs would differ."""

    questions = 0

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1000)


def calm_world(name):
    return yard.YardWorld(name, clerk=Clerk)


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    monkeypatch.setattr("agentrt.record.schema._KNOCKS", (0.001, 0.0))
    module = ModuleType("pretended_yards")
    module.yard, module.louder = calm_world("yard"), calm_world("louder")
    monkeypatch.setitem(sys.modules, "pretended_yards", module)
    points = [EntryPoint(name, f"pretended_yards:{name}", worlds.ENTRY_POINT_GROUP) for name in ("yard", "louder")]
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda *, group: points if group == worlds.ENTRY_POINT_GROUP else []
    )


def recorded(path, ticks, host="plain"):
    runtime = calm_world("yard").make(seed=3, host=host)
    runtime.record(path, world="yard")
    yard.drive(runtime, ticks)
    with Recording.open(path) as recording:
        return recording.digest()


def run(*args):
    return CliRunner().invoke(main, ["resume", *map(str, args)])


@pytest.mark.states(
    "tools: Durable runs: `agentrt resume FILE --headless --ticks N --digest` goes on to tick N on each host, with the "
    "digest of the undisturbed run",
)
@pytest.mark.parametrize("host", [None, "asyncio", "trio"])
def test_it_goes_on_to_a_tick(tmp_path, host):
    path = tmp_path / "run.sqlite"
    digest = recorded(tmp_path / "undisturbed.sqlite", 60)
    recorded(path, 35)
    told = run(path, "--headless", "--ticks", 60, "--digest", *(["--host", host] if host else []))
    assert (told.exit_code, told.stderr) == (0, f"resumed {path} after tick 35\n")
    assert told.stdout == f"went on to tick 60, recorded in {path}\ndigest: {digest}\n"
    with Recording.open(path) as recording:
        assert recording.digest() == digest
        assert [(one["tick"], one["host"]) for one in recording.header("resumed")] == [(35, host or "plain")]


def test_where_it_is_to_end_already(tmp_path):
    path = tmp_path / "run.sqlite"
    digest = recorded(path, 35)
    told = run(path, "--headless", "--ticks", 35, "--digest")
    assert (told.exit_code, told.stdout.splitlines()[-1]) == (0, f"digest: {digest}")
    before = path.read_bytes()
    told = run(path, "--headless", "--ticks", 20)
    assert told.exit_code == 2
    assert "it has 35 ticks already" in told.stderr
    assert path.read_bytes() == before


def test_a_world_that_is_another_one_by_now(tmp_path):
    path, anew = tmp_path / "run.sqlite", tmp_path / "anew.sqlite"
    recorded(path, 35)
    told = run(path, "--headless", "--ticks", 60, "--world", "louder")
    assert told.exit_code == 2
    assert "the replay differs in tick 9" in told.stderr
    assert "--no-verify --into NEW" in told.stderr
    told = run(path, "--headless", "--ticks", 60, "--world", "louder", "--no-verify", "--into", anew)
    assert (told.exit_code, told.stdout) == (0, f"went on to tick 60, recorded in {anew}\n")
    with Recording.open(path) as recording:
        assert recording.last_tick == 35
    with Recording.open(anew) as recording:
        assert replay(recording, calm_world("louder").make).is_same


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--ticks", 9], "go with --headless"),
        (["--no-verify"], "--no-verify goes with --into"),
        (["--speed", 0], "a speed is more than 0"),
        (["--world", "nowhere"], "nowhere"),
    ],
)
def test_what_does_not_go_together(tmp_path, options, told):
    path = tmp_path / "run.sqlite"
    recorded(path, 5)
    result = run(path, *options)
    assert result.exit_code == 2
    assert told in result.stderr


def test_live_until_it_ends(tmp_path, monkeypatch):
    path = tmp_path / "run.sqlite"
    recorded(path, 5, host="asyncio")
    played = []

    async def play(world, runtime, speed):
        played.append((world.name, runtime.host, runtime.tick, speed))
        await runtime.run(4, speed=math.inf)
        raise KeyboardInterrupt

    monkeypatch.setattr("agentrt.cli.commands.play", play)
    result = run(path, "--speed", 3)
    assert (result.exit_code, played) == (0, [("yard", "asyncio", 5, 3.0)])
    assert result.stderr == f"resumed {path} after tick 5; Ctrl-C ends it.\n"
    with Recording.open(path) as recording:
        assert recording.last_tick == 9
    assert asyncio.run(asyncio.sleep(0)) is None
