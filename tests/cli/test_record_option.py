"""``agentrt demo --record``: the run is written down, headless and live, and the report is what it is without it."""

from __future__ import annotations

import importlib.metadata
import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest
from click.testing import CliRunner

from agentrt import Runtime, worlds
from agentrt.cli import commands as demo_commands
from agentrt.cli import main
from agentrt.installed import called
from agentrt.kernel.trace import TraceDigest
from agentrt.record import Recording
from agentrt.worlds import WorldReport


class Lake:
    name = "lake"
    summary = "A lake with a bell."

    def make(self, *, seed, host):
        runtime = Runtime(seed, host=host)
        runtime.every_tick(lambda: runtime.note("ripple", depth=runtime.tick))
        return runtime

    def run_headless(self, *, ticks, seed, host, progress, watch=worlds.nobody):
        runtime = self.make(seed=seed, host="plain")
        watch(runtime)
        digest = TraceDigest(runtime.trace)
        for _ in range(ticks):
            runtime.step()
        runtime.close()
        return WorldReport(digest=digest.hexdigest(), title="a lake", columns=("fish",), rows=((3,),))

    def run_live(self, *, seed, speed, watch=worlds.nobody):
        runtime = self.make(seed=seed, host="plain")
        watch(runtime)
        for _ in range(7):
            runtime.step()
        raise KeyboardInterrupt  # its user has had enough


@pytest.fixture(autouse=True)
def lake(monkeypatch):
    module = ModuleType("pretended_lake")
    module.world = Lake()
    monkeypatch.setitem(sys.modules, "pretended_lake", module)
    point = EntryPoint("lake", "pretended_lake:world", worlds.ENTRY_POINT_GROUP)
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda *, group: [point] if group == worlds.ENTRY_POINT_GROUP else []
    )


def run(*args):
    return CliRunner().invoke(main, ["demo", "lake", *args])


@pytest.mark.states(
    "tools: Recording: `agentrt demo --record PATH` records headless and live; the report is what it is without",
)
def test_a_headless_run_is_recorded_and_its_report_is_the_same(tmp_path):
    path = tmp_path / "run.sqlite"
    options = ("--headless", "--ticks", "20", "--seed", "4", "--digest")
    plain, recorded = run(*options), run(*options, "--record", str(path))
    assert (recorded.exit_code, recorded.stdout) == (0, plain.stdout)
    assert recorded.stderr == f"recorded 20 ticks: {called('inspect', path)}, {called('replay', path)}\n"
    with Recording.open(path) as recording:
        assert recorded.stdout.splitlines()[-1] == f"digest: {recording.digest()}"
        assert (recording.meta["world"], recording.meta["seed"], recording.last_tick) == ("lake", 4, 20)
        assert recording.meta["ended"] == "the runtime was closed"
        assert recording.unreplayable == []


def test_a_live_run_is_recorded_until_its_user_leaves(tmp_path, monkeypatch):
    monkeypatch.setattr(demo_commands, "_has_terminal", lambda: True)
    path = tmp_path / "run.sqlite"
    result = run("--record", str(path))
    assert f"recorded 7 ticks: {called('inspect', path)}" in result.stderr
    with Recording.open(path) as recording:
        assert (recording.last_tick, recording.meta["ended"]) == (7, "closed")


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    path = tmp_path / "run.sqlite"
    path.write_text("mine")
    result = run("--headless", "--ticks", "20", "--record", str(path))
    assert result.exit_code == 2
    assert "there is a file already" in result.stderr
    assert result.stdout == ""
    assert path.read_text() == "mine"
