"""agentrt check: what it finds in a project, and that it runs nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentrt.cli import main

GAME = """
import agentrt as art
from agentrt.worlds import SimpleWorld

class Swim(art.Action):
    does = art.TOP
    utility = 0.5
    async def run(self, ctx, args):
        raise SystemExit("it was run")

manifest = art.Manifest("pond", {"actions:swim": Swim})

def make(*, seed, host):
    runtime = art.Runtime(seed, host=host)
    runtime.add(art.Agent(art.Entity("duck"), actions=[Swim]))
    return runtime

world = SimpleWorld("pond", make, summary="Ducks.", manifests=[manifest])
"""

COMPOUND = """
class Dive(art.CompoundAction):
    does = art.TOP
    utility = 0.7
    steps = [art.step("pond:breathe")]
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Makes a project of the text of its module, and checks it: the exit code and the report."""
    name = f"pond_{tmp_path.name.rpartition('_')[2]}".replace("-", "_")
    (tmp_path / "pyproject.toml").write_text(f'[tool.agentrt]\napp = "{name}:world"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def check(text, *args):
        (tmp_path / f"{name}.py").write_text(text)
        result = CliRunner().invoke(main, ["check", *args])
        sys.modules.pop(name, None)
        return result.exit_code, result.output.replace(str(tmp_path), "HERE").replace(name, "GAME")

    return check


def test_nothing_is_wrong_and_nothing_is_run(project):
    assert project(GAME) == (0, "1 agent, 1 module, 0 packs, 0 trees: nothing is wrong\n")


def test_a_mistake_in_a_class(project):
    code, said = project(GAME.replace("async def run", "def on_start(self, ctx, args): pass\n    async def run"))
    assert code == 1
    assert said.startswith("GAME:world:\n  [ART114] HERE")
    assert "nobody reads 'on_start'. Did you mean 'start'?" in said
    assert said.endswith("0 agents, 0 modules, 0 packs, 0 trees: 1 mistake\n")


def test_what_no_agent_can_do(project):
    code, said = project(GAME.replace("manifest =", f"{COMPOUND}\nmanifest =").replace("[Swim]", "[Swim, Dive]"))
    assert (code, said) == (
        1,
        "the world 'pond':\n  no known action performs 'pond:breathe', which GAME.Dive asks for.\n"
        "1 agent, 1 module, 0 packs, 0 trees: 1 mistake\n",
    )


def test_a_world_that_cannot_be_made(project):
    code, said = project(GAME.replace("runtime.add(", "runtime.ad("))
    assert code == 1
    assert "making it raised AttributeError: 'Runtime' object has no attribute 'ad'" in said


def test_a_world_that_ends_the_program_does_not_look_right(project):
    code, said = project(GAME.replace("    runtime = art.Runtime(seed, host=host)", "    raise SystemExit(0)"))
    assert code == 1
    assert "making it raised SystemExit" in said


def test_a_function_of_a_module_that_drops_what_it_should_await(project):
    code, said = project(GAME + "\nasync def rest(ctx):\n    ctx.sleep(1)\n")
    assert code == 1
    assert said.startswith("GAME.rest:\n  HERE")
    assert "GAME.py:21 calls ctx.sleep(...) without 'await'" in said


def test_packs_and_trees(project, tmp_path):
    (tmp_path / "core.json").write_text('{"actions": ["pond:actions:swimm"]}')
    (tmp_path / "other.json").write_text("no pack")
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "duck.xml").write_text("<SelectionTrees><SelectionTree></SelectionTrees>")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "duck.xml").write_text("<SelectionTrees><SelectionTree></SelectionTrees>")
    text = GAME.replace("Swim})", 'Swim, "ai_pack:core": Path(__file__).with_name("core.json")})')
    code, said = project("from pathlib import Path\n" + text)
    assert code == 1
    assert "pond:actions:swimm" in said
    assert "duck.xml" in said
    assert ".venv" not in said
    assert said.endswith("1 agent, 1 module, 1 pack, 0 trees: 2 mistakes\n")


def test_as_json(project):
    code, said = project(GAME, "--json")
    assert (code, json.loads(said)) == (
        0,
        {"ok": True, "looked_at": {"agents": 1, "modules": 1, "packs": 0, "trees": 0}, "mistakes": []},
    )
    code, said = project(GAME.replace("does = art.TOP", "does = 'pond:swim'"), "--json")
    assert (code, [one["where"] for one in json.loads(said)["mistakes"]]) == (1, ["the world 'pond'"])


def test_without_a_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["check"])
    assert result.exit_code == 2
    assert "there is no project to check" in result.output
    Path("empty").mkdir()
    result = CliRunner().invoke(main, ["check", "empty"])
    assert (result.exit_code, result.output) == (0, "0 agents, 0 modules, 0 packs, 0 trees: nothing is wrong\n")
