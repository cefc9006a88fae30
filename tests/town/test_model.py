"""The town by a language model behind a server, on loopback: it talks, goes on when the server is gone, and replays."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from children import finding
from click.testing import CliRunner

from agentrt.cli import main
from agentrt.errors import MissingExtraError, ReplayError
from agentrt.snapshot.take import summarize
from agentrt_examples.town import world

PROGRAM = Path(__file__).resolve().parents[1] / "support" / "townsfolk.py"
FEW = 3  # ticks that a new plan may take


def test_what_a_command_says_of_models():
    result = CliRunner().invoke(
        main, ["demo", "town", "--headless", "--ticks", "5", "--base-url", "http://127.0.0.1:1/v1"]
    )
    assert result.exit_code == 2
    assert "--base-url goes with --model." in result.output
    result = CliRunner().invoke(main, ["demo", "colony", "--headless", "--ticks", "5", "--model", "openai:x"])
    assert result.exit_code == 2
    assert "the world 'colony' takes no model: --model is for worlds that have with_model." in result.output


@pytest.mark.slow  # it imports half of the world
def test_a_model_needs_its_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pydantic_ai.models.openai", None)
    with pytest.raises(MissingExtraError, match="llm"):
        world.with_model("openai:x")


class Server:
    """A process that answers for a model. It is killed as one kills, and started again on the same port."""

    def __init__(self):
        self.url = ""
        self.start()
        self.url = self.process.stdout.readline().strip()

    def start(self):
        port = self.url.rpartition(":")[2].partition("/")[0] or "0"
        command = [sys.executable, str(PROGRAM), port]
        self.process = subprocess.Popen(command, env=finding(PROGRAM.parent), stdout=subprocess.PIPE, text=True)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait(10) == -signal.SIGKILL
        self.process.stdout.close()


class Outage:
    """They talk, are without a server for 20 game seconds, and talk again, however slow the machine is."""

    def __init__(self, game, server):
        self.game, self.runtime, self.town, self.server = game, game.runtime, game.town, server
        self.faults, self.lines, self.did = [], {}, []
        self.idle, self.longest = dict.fromkeys(game.town.people, 0), 0
        self.runtime.on_fault(self.faults.append)
        self.runtime.after_tick(self.after_tick)

    def after_tick(self):
        tick, said = self.runtime.tick, self.town.counts.get("lines said", 0)
        self.look()
        if "down" not in self.lines and said > 3:
            self.lines["down"] = said
            self.back_at = tick + 400
            self.server.kill()
        elif "back" not in self.lines and "down" in self.lines and tick == self.back_at:
            self.lines["back"] = said
            self.server.start()
        elif "back" in self.lines and said > self.lines["back"] + 3:
            self.lines["again"] = said
        if "again" in self.lines or tick >= 12_000:
            self.runtime.stop()

    def look(self):
        for agent in self.game.agents:
            self.idle[agent.name] = 0 if summarize(agent).running else self.idle[agent.name] + 1
            self.longest = max(self.longest, self.idle[agent.name])
        if "down" in self.lines and "back" not in self.lines:
            self.did.append({name: person.doing for name, person in self.town.people.items()})


@pytest.mark.slow
def test_a_server_that_is_killed_in_the_middle_and_comes_back(tmp_path):
    """Meanwhile the town goes on by its rules, and nobody stands still."""
    pytest.importorskip("pydantic_ai", reason="the extra llm is not installed")
    from agentrt.record import Edit, branch, replay

    server = Server()
    try:
        thinking = world.with_model("openai:test-model", server.url)
        game = thinking.game(seed=3, host="asyncio")
        path = tmp_path / "town.sqlite"
        with game.runtime.record(path, world="town"):
            outage = Outage(game, server)
            asyncio.run(game.runtime.run(speed=16.0))
    finally:
        server.kill()
    assert outage.faults == []
    assert list(outage.lines) == ["down", "back", "again"]
    assert outage.lines["back"] - outage.lines["down"] <= 6  # what was said already, or had been answered
    assert outage.longest <= FEW
    assert sum(len({doing[name] for doing in outage.did}) > 1 for name in game.town.people) >= 6  # they live on
    assert game.mind.snapshot().models == ("test-model",)
    # the server is gone: a replay asks nobody, and takes the model that the recording names
    assert replay(path).is_same
    with pytest.raises(ReplayError, match="its agents thought by test-model, and those of the world that was made do"):
        replay(path, world.make)
    # what the model was never asked the script answers, and it is said
    first = game.mind.recent[0].asked
    news = Edit(first, "send", "news", {"who": "Alma", "text": "the mill is for sale"})
    made = branch(path, at=first - 1, edits=[news], ticks=300)
    (note,) = made.notes
    assert re.fullmatch(r"townsfolk stood in for test-model in \d+ thoughts", note)
    assert note in made.as_text()
