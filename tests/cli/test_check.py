"""agentrt check: what it finds in a project, and that it runs nothing."""

from __future__ import annotations

import json
import subprocess
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
    assert said == (
        "HERE/GAME.py:5:\n"
        "  [ART101] GAME.Swim: nobody reads 'on_start'. Did you mean 'start'? If it is your own, rename it.\n"
        "  More about it: agentrt explain ART101\n"
        "0 agents, 1 module, 0 packs, 0 trees: 1 mistake\n"
        "Agents and packs were not looked at, since there is no world.\n"
    )


@pytest.mark.parametrize("command", [("run", "--headless"), ("packs", "list")])
def test_other_commands_tell_it_with_its_place_and_without_frames_of_ours(project, tmp_path, command):
    project(GAME.replace("async def run", "def on_start(self, ctx, args): pass\n    async def run"))
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    place = next(tmp_path.glob("pond*.py"))
    assert result.output.startswith("Error: [ART101] ")
    assert f"It was raised at {place}:5." in result.output
    assert "File" not in result.output


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
    assert said.startswith("HERE/GAME.py:15:\n  making the world 'pond' raised AttributeError: 'Runtime' object has no")


def test_a_world_that_ends_the_program_does_not_look_right(project):
    code, said = project(GAME.replace("    runtime = art.Runtime(seed, host=host)", "    raise SystemExit(0)"))
    assert code == 1
    assert "making the world 'pond' raised SystemExit" in said


def test_a_world_that_makes_no_runtime(project, tmp_path):
    text = GAME.replace("    return runtime", "    pass")
    code, said = project(text)
    assert (code, said.splitlines()[:2]) == (
        1,
        [
            "the world 'pond':",
            "  [ART101] its make gives None. Give its Runtime: return runtime.",
        ],
    )
    result = CliRunner().invoke(main, ["run", "--headless"])
    assert (result.exit_code, "its make gives None" in result.output) == (2, True)


@pytest.mark.parametrize(
    ("registry", "said"),
    [
        ("{}", "its registry is a dict. Give it an agentrt.Registry, or None"),
        ("'pond'", "its registry is a str."),
        ("property(lambda self: 1 / 0)", "its registry raised ZeroDivisionError: division by zero."),
    ],
)
def test_a_world_with_a_bad_registry(project, registry, said):
    code, output = project(GAME + f"\nclass Own(SimpleWorld):\n    registry = {registry}\nworld = Own('pond', make)\n")
    assert code == 1
    assert output.startswith("the world 'pond':\n  [ART114] ")
    assert said in output


def test_what_is_no_manifest(project):
    code, said = project(GAME.replace("manifests=[manifest]", "manifests=['pond']"))
    assert code == 1
    assert 'a registry: \'pond\' is no manifest. Write Manifest("mod", {"actions:walk": Walk}).' in said


def test_a_function_of_a_module_that_drops_what_it_should_await(project):
    code, said = project(GAME + "\nasync def rest(ctx):\n    ctx.sleep(1)\n")
    assert code == 1
    assert said.startswith("HERE/GAME.py:\n  HERE/GAME.py:21 calls ctx.sleep(...) without 'await'")


HELPERS = """
import functools
import agentrt
from agentrt import sleep_ticks as wait_ticks, sleep

def logged(hook):
    return lambda *args: hook(*args)

class Rests:
    async def rest(self, ctx):
        ctx.sleep(1)

    @logged
    async def wait(self, ctx):
        ctx.next_tick()

async def nap():
    agentrt.sleep(1)
    sleep(2)
    await agentrt.next_tick()
"""


def test_functions_of_all_kinds_are_read_and_modules_that_nobody_imports(project, tmp_path):
    helpers = tmp_path / "helpers.py"
    helpers.write_text(HELPERS)
    code, said = project(GAME)
    lines = [line.removeprefix("  HERE/helpers.py:").partition(" without")[0] for line in said.splitlines()]
    assert (code, lines[1:-2:2]) == (
        1,
        [
            "11 calls ctx.sleep(...)",
            "15 calls ctx.next_tick(...)",
            "18 calls agentrt.sleep(...)",
            "19 calls sleep(...)",
        ],
    )
    assert lines[-2:] == [
        "1 agent, 2 modules, 0 packs, 0 trees: 4 mistakes",
        "Imported by nobody, so that classes there were only read: helpers.py.",
    ]
    assert "helpers" not in sys.modules


def test_what_is_read_and_raised_is_told_once(project):
    text = GAME.replace("raise SystemExit", "ctx.sleep(1); raise SystemExit")
    code, said = project(text)
    assert code == 1
    assert said.startswith("HERE/GAME.py:5:\n  [ART101] GAME.Swim: HERE/GAME.py:9 calls ctx.sleep(...) without")
    assert "1 mistake\n" in said
    code, said = project("def broken(:\n")
    assert said.startswith("HERE/GAME.py:1:\n  [ART114] importing 'GAME' raised SyntaxError: invalid syntax")
    assert "1 mistake\n" in said


def test_a_module_that_cannot_be_read(project, tmp_path):
    (tmp_path / "broken.py").write_text("\n\ndef (\n")
    (tmp_path / "deep.py").write_bytes(b"x = '\0'\n")
    code, said = project(GAME)
    assert code == 1
    assert "HERE/broken.py:3:\n  it cannot be read: invalid syntax.\n" in said
    assert "2 mistakes\n" in said


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
    assert said.endswith(
        "1 agent, 1 module, 1 pack, 0 trees: 2 mistakes\nRegistered by nobody, and so no packs: other.json.\n"
    )


def test_as_json(project):
    code, said = project(GAME, "--json")
    assert (code, json.loads(said)) == (
        0,
        {"ok": True, "looked_at": {"agents": 1, "modules": 1, "packs": 0, "trees": 0}, "mistakes": [], "notes": []},
    )
    code, said = project(GAME.replace("does = art.TOP", "does = 'pond:swim'"), "--json")
    assert (code, [one["where"] for one in json.loads(said)["mistakes"]]) == (1, ["the world 'pond'"])


def agentrt(*args, cwd):
    """The command in a process of its own, as what is printed at its end is to be seen, too."""
    command = [sys.executable, "-m", "agentrt.cli", *map(str, args)]
    return subprocess.run(command, check=False, cwd=cwd, capture_output=True, text=True, timeout=300)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.agentrt]\napp = "pond:world"\n')
    (tmp_path / "pond.py").write_text(GAME)
    return tmp_path


@pytest.mark.slow
def test_json_is_one_document_whatever_modules_print(folder):
    prints = "import atexit\nprint('imported')\natexit.register(print, 'over')\n"
    (folder / "pond.py").write_text(prints + GAME.replace("    runtime =", "    print('made')\n    runtime ="))
    ran = agentrt("check", "--json", cwd=folder)
    assert json.loads(ran.stdout)["ok"]
    assert ran.stderr == "imported\nmade\nover\n"
    ran = agentrt("packs", "list", cwd=folder)
    assert ran.stdout.splitlines()[-2:] == ["pond:actions:swim", "over"]
    assert ran.stderr == "imported\n"


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_what_hangs_is_ended_and_named(folder, as_json):
    (folder / "net.py").write_text("import time\n\ndef connect():\n    time.sleep(600)\n\nconnect()\n")
    (folder / "pond.py").write_text(GAME + "\nasync def rest(ctx):\n    ctx.sleep(1)\nimport net\n")
    ran = agentrt("check", "--limit", "1.5", *(["--json"] if as_json else []), cwd=folder)
    assert ran.returncode == 1
    told = json.loads(ran.stdout)["mistakes"] if as_json else ran.stdout
    text = (
        "importing 'net' has not ended after 1.5 s. Move what waits into a function that nobody calls meanwhile; or, if "
        "it only takes long, say --limit 3."
    )
    where = f"{folder / 'net.py'}:4"
    if as_json:
        assert told[-1] == {"where": where, "text": text}
        assert len(told) == 2
    else:
        assert f"{where}:\n  {text}\n0 agents, 2 modules, 0 packs, 0 trees: 2 mistakes\n" in told
        assert ran.stderr == "What comes after that was not looked at.\n"


@pytest.mark.slow
def test_threads_that_a_module_starts_do_not_keep_it(folder):
    starts = "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"
    (folder / "pond.py").write_text(starts + GAME)
    ran = agentrt("check", cwd=folder)
    assert (ran.returncode, ran.stdout) == (0, "1 agent, 1 module, 0 packs, 0 trees: nothing is wrong\n")


@pytest.mark.slow
def test_a_world_whose_making_hangs(folder):
    (folder / "pond.py").write_text(GAME.replace("    runtime =", "    while True: pass\n    runtime ="))
    ran = agentrt("check", "--limit", "1.5", cwd=folder)
    assert ran.stdout.startswith(f"{folder / 'pond.py'}:14:\n  making the world has not ended after 1.5 s.")


def test_without_a_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["check"])
    assert result.exit_code == 2
    assert "there is no project to check" in result.output
    Path("empty").mkdir()
    result = CliRunner().invoke(main, ["check", "empty"])
    assert result.exit_code == 2
    assert "empty: there is nothing to check: no project, no module, no registered pack and no selection tree." in (
        result.output
    )


def test_a_path_is_the_path_of_its_own_project(project, tmp_path, monkeypatch):
    project(GAME.replace("does = art.TOP", "does = 'pond:swim'"))
    name = next(tmp_path.glob("pond*.py")).stem
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "tool.py").write_text("async def rest(ctx):\n    ctx.sleep(1)\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "pyproject.toml").write_text('[tool.agentrt]\napp = "no_such_module:world"\n')
    monkeypatch.chdir(elsewhere)
    result = CliRunner().invoke(main, ["check", ".."])
    assert "the world 'pond':\n  none of its actions performs 'agentrt:top'" in result.output
    assert "no_such_module" not in result.output
    sys.modules.pop(name, None)
    result = CliRunner().invoke(main, ["check", "../inner"])  # its project's world, and the files below it
    assert "the world 'pond':\n  none of its actions performs 'agentrt:top'" in result.output
    assert "tool.py:2 calls ctx.sleep" in result.output
    assert "1 agent, 1 module, 0 packs, 0 trees: 2 mistakes" in result.output
    sys.modules.pop(name, None)
    of_a_file = CliRunner().invoke(main, ["check", "../inner/tool.py"])
    assert of_a_file.output == result.output
    sys.modules.pop(name, None)


def test_app_asks_for_no_right_project(project, tmp_path, monkeypatch):
    code, said = project(GAME)
    name = next(tmp_path.glob("pond*.py")).stem
    (tmp_path / "pyproject.toml").write_text("[tool.agentrt]\n")
    monkeypatch.chdir("/")
    result = CliRunner().invoke(main, ["check", str(tmp_path), "--app", f"{name}:world"])
    sys.modules.pop(name, None)
    assert (result.exit_code, result.output) == (code, said.replace("GAME", name))
    assert "does not say app" in CliRunner().invoke(main, ["check", str(tmp_path)]).output


def test_files_without_a_project_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "tool.py").write_text("async def rest(ctx):\n    ctx.sleep(1)\n")
    result = CliRunner().invoke(main, ["check", "sub"])
    assert result.exit_code == 1
    assert "0 agents, 1 module, 0 packs, 0 trees: 1 mistake\n" in result.output
