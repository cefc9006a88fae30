"""``agentrt inspect`` and ``agentrt demo --inspect``: the page is there, Ctrl-C ends it, mistakes are told."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from modules import load
from websockets.sync.client import connect

from agentrt.cli import commands, main
from agentrt.errors import InspectorError
from agentrt.inspect import DEFAULT_PORT, Inspector
from agentrt.record.recording import Recording

of = load("tests/inspect/village.py")
LIMIT = 100.0


def run(*args):
    return CliRunner().invoke(main, args)


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "village.sqlite"
    runtime = of.make_village()
    with runtime.record(path):
        for _ in range(10):
            runtime.step()
    runtime.close()
    return path


class Served:
    """A command that serves until it is interrupted."""

    def __init__(self, *args):
        command = [sys.executable, "-W", "error", "-m", "agentrt.cli", *map(str, args)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.guard = threading.Timer(LIMIT, self.process.kill)
        self.guard.start()
        self.url = self.process.stdout.readline().strip()

    def hello(self):
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=LIMIT)
        connection.request("GET", f"/api/hello?{parts.query}")
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=LIMIT)
        self.guard.cancel()
        return self.process.returncode, out, err


def test_the_port_is_that_of_the_library():
    assert commands.DEFAULT_PORT == DEFAULT_PORT


@pytest.mark.slow
def test_inspect_a_recording(recorded):
    served = Served("inspect", recorded, "--port", "0", "--token", "0123456789abcdef")
    assert served.url.endswith("/?token=0123456789abcdef")
    hello = served.hello()
    assert (hello["source"], hello["title"], hello["last_tick"]) == ("recording", "village.sqlite", 10)
    assert served.interrupt() == (0, "", "Ctrl-C ends it.\n")


@pytest.mark.slow
def test_inspect_the_demo_and_record_it(tmp_path):
    path = tmp_path / "demo.sqlite"
    served = Served("demo", "--inspect", "--port", "0", "--controls", "--paused", "--seed", "7", "--record", path)
    hello = served.hello()
    assert (hello["source"], hello["title"], hello["controls"], hello["tick"]) == ("live", "colony", True, 0)
    with connect(served.url.replace("http", "ws") + "ws", close_timeout=1) as ws:
        ws.send('{"do":"step","ticks":3}')
        while (message := json.loads(ws.recv(timeout=LIMIT)))["is"] != "state" or message["tick"] != 3:
            pass
        assert message["paused"]
        assert message["agents"] > 10
    code, _, err = served.interrupt()
    assert code == 0
    assert "Ctrl-C ends it." in err.splitlines()
    assert "Traceback" not in err
    with Recording.open(path) as recording:
        assert (recording.last_tick, recording.meta["world"]) == (3, "colony")


GAME = """
from pathlib import Path
from agentrt import Agent, Entity, Manifest, Registry, Runtime
from agentrt.worlds import SimpleWorld

PACK = Path(__file__).parent / "wolf.json"

def make(*, seed, host):
    runtime = Runtime(seed=seed, host=host)
    registry = Registry([Manifest("mod", {"ai_pack:wolf": PACK})])
    runtime.add(Agent(Entity("wolf"), registry=registry, packs=["mod:ai_pack:wolf"]))
    return runtime

world = SimpleWorld("game", make)
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "dev", "inspect"])
def test_files_of_a_project_are_edited(tmp_path, monkeypatch, command):
    (tmp_path / "pyproject.toml").write_text('[tool.agentrt]\napp = "edited_game:world"\n')
    (tmp_path / "edited_game.py").write_text(GAME)
    (tmp_path / "wolf.json").write_text('{"actions": []}\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    options = [] if command == "inspect" else ["--inspect"]
    served = Served(command, *options, "--port", "0", "--controls")
    assert served.hello()["editing"] == ""
    with connect(served.url.replace("http", "ws") + "ws", close_timeout=1) as ws:
        ws.send('{"do":"watch","editing":true}')
        while (message := json.loads(ws.recv(timeout=LIMIT)))["is"] != "files":
            pass
        assert message["rows"] == [["wolf.json", "pack", ["mod:ai_pack:wolf"]]]
        opened = post(served.url, {"do": "open", "file": "wolf.json"})
        text = '{"_about": "a wolf", "actions": []}\n'
        asked = {"do": "save", "file": "wolf.json", "text": text, "version": opened["version"]}
        assert post(served.url, asked)["is"] == "saved"
        while (message := json.loads(ws.recv(timeout=LIMIT)))["is"] != "reloads":
            pass
        assert [row["files"] for row in message["rows"]] == [["wolf.json"]]  # once, also if it is watched
    assert (tmp_path / "wolf.json").read_text() == text
    code, _, err = served.interrupt()
    assert code == 0
    assert "Traceback" not in err


def post(url, body):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=LIMIT)
    connection.request("POST", "/api/edit", json.dumps(body), {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--headless", "--inspect"), "--headless and --inspect do not go together"),
        (("--inspect", "--paused"), "--paused goes with --controls"),
        (("--inspect", "--ticks", "3"), "go with --headless"),
        (("--headless", "--port", "80"), "go with --inspect"),
        (("--headless", "--controls"), "go with --inspect"),
        (("--headless", "--open"), "go with --inspect"),
        (("--headless", "--past", "50"), "--paused and --past go with --inspect"),
        (("--inspect", "--past", "-1"), "-1 is not in the range"),
        (("--inspect", "--port", "70000"), "70000 is not in the range"),
        (("--inspect", "--speed", "0"), "a speed is more than 0"),
        (("--inspect", "--address", "0.0.0.0"), "[ART112]"),
        (("--inspect", "--token", "short"), "16 ASCII characters"),
        (("--inspect", "--editor", "javascript:{path}"), "its editor is 'javascript:{path}'"),
    ],
)
def test_what_does_not_go(args, words):
    result = run("demo", *args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_no_recording(tmp_path):
    result = run("inspect", str(tmp_path / "none.sqlite"), "--port", "0")
    assert result.exit_code == 2
    assert "[ART230]" in result.stderr


def test_a_port_in_use(recorded):
    with Inspector(str(recorded), port=0) as inspector:
        for args in (("inspect", str(recorded)), ("demo", "--inspect")):
            result = run(*args, "--port", str(inspector.port))
            assert result.exit_code == 2
            assert "[ART112]" in result.stderr
            assert "0 for any that is free" in result.stderr


def test_a_browser_is_opened(recorded, monkeypatch):
    def wait():
        raise KeyboardInterrupt

    opened = []
    monkeypatch.setattr(commands.click, "launch", opened.append)
    monkeypatch.setattr(commands, "_wait", wait)
    result = run("inspect", str(recorded), "--port", "0", "--open")
    assert result.exit_code == 0
    assert opened == [result.stdout.strip()]
    assert opened[0].startswith("http://127.0.0.1:")


def test_a_token_from_the_environment(recorded, monkeypatch):
    monkeypatch.setenv("AGENTRT_INSPECT_TOKEN", "short")
    result = run("inspect", str(recorded))
    assert result.exit_code == 2
    assert InspectorError.code in result.stderr
