"""The thin thing above: a thread that looks at files, on each host, and the command that uses it.

The only tests of it that wait for real time: files change in that.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time

import pytest
import trio

from agentrt import Agent, Entity, Runtime
from agentrt.errors import MissingExtraError
from agentrt.reload import Reloader

SOURCE = """
from agentrt import TOP, Action, sleep_ticks

class Howl(Action):
    does = TOP
    utility = 0.5
    async def run(self, ctx, args):
        await sleep_ticks(3)
"""
PATIENCE = 100.0  # seconds, of which it takes a fraction


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "watched_wolves.py"
    file.write_text(SOURCE)
    import watched_wolves

    yield watched_wolves, file
    del sys.modules["watched_wolves"]


@pytest.mark.slow
@pytest.mark.parametrize("host", ["plain", "asyncio", "trio"])
def test_an_edit_is_taken_up_by_itself(module, host):
    wolves, file = module
    runtime = Runtime(seed=1, host=host)
    runtime.add(Agent(Entity("wolf"), actions=[wolves.Howl]))
    reloader = Reloader(runtime, file.parent)
    reports = []
    reloader.on_reload(reports.append)
    end = time.monotonic() + PATIENCE

    def after_tick():
        if runtime.tick == 10:
            file.write_text(SOURCE.replace("0.5", "0.25"))
        if host != "plain" and (reports or time.monotonic() > end):
            runtime.stop()

    runtime.after_tick(after_tick)
    with reloader.watching(debounce=0.05):
        time.sleep(0.3)  # until it looks
        if host == "plain":
            while not reports and time.monotonic() < end:
                runtime.step()
                time.sleep(0.002)
            runtime.close()
        elif host == "asyncio":
            asyncio.run(runtime.run(speed=20))
        else:

            async def run():
                await runtime.run(speed=20)

            trio.run(run)
    assert [(one.files, one.changed, one.agents) for one in reports] == [(("watched_wolves.py",), ("Howl",), ("wolf",))]
    assert wolves.Howl.spec.low == 0.25


def test_it_says_which_extra_it_needs(module, monkeypatch):
    _wolves, file = module
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    reloader = Reloader(Runtime(), file.parent)
    with pytest.raises(MissingExtraError, match=r"watchfiles.*\[watch\]"), reloader.watching():
        pass


@pytest.mark.slow
def test_the_command_runs_a_project_and_tells_what_was_taken_up(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.agentrt]\napp = "game:world"\n')
    (tmp_path / "wolves.py").write_text(SOURCE)
    (tmp_path / "game.py").write_text(
        "import time\nfrom agentrt import Agent, Entity, Runtime\nfrom agentrt.worlds import SimpleWorld\n"
        "import wolves\n\n"
        "def make(*, seed, host):\n    runtime = Runtime(seed=seed, host=host)\n"
        "    runtime.add(Agent(Entity('wolf'), actions=[wolves.Howl]))\n"
        "    runtime.after_tick(lambda: time.sleep(0.005))\n    return runtime\n\n"
        "world = SimpleWorld('game', make)\n"
    )
    command = [sys.executable, "-m", "agentrt.cli", "dev", "--headless", "--ticks", "1200"]
    running = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    try:
        assert running.stderr is not None
        assert f"edits below {tmp_path} are taken up" in running.stderr.readline()
        time.sleep(0.7)
        (tmp_path / "wolves.py").write_text(SOURCE.replace("0.5", "0.25"))
        time.sleep(1.0)
        (tmp_path / "wolves.py").write_text(SOURCE.replace("0.5", "("))
        out, err = running.communicate(timeout=PATIENCE * 2)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 0, err
    assert "reloaded wolves.py: Howl; 1 agent took it up" in err
    assert "not reloaded wolves.py, the old code goes on: wolves.py:6: " in err
    assert "game: 1200 ticks" in out
