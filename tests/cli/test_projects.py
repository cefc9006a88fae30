"""A project's own world: where it is looked for, what is said if it is not there, and which commands know it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

import agentrt as art
from agentrt.cli import commands, main
from agentrt.errors import ProjectError, UnknownAliasError, UnknownWorldError
from agentrt.packs.registry import Registry
from agentrt.worlds import SimpleWorld, find_project, load_world, project_world

GAME = """
import asyncio
import agentrt as art
from agentrt.worlds import SimpleWorld
from agentrt.strategy import Dependency, Strategy

class Find(Dependency[None], activity="pond:find"):
    pass

class LookAround(Strategy):
    provides = Find
    cost = 1.0
    async def run(self, ctx, wanted):
        await ctx.sleep(1)

class Swim(art.Action):
    does = art.TOP
    utility = 0.5
    async def run(self, ctx, args):
        await ctx.sleep(ctx.random.uniform(0.1, 1))

manifest = art.Manifest("pond", {"actions:swim": Swim, "strategies:look_around": LookAround})

def make(*, seed, host):
    runtime = art.Runtime(seed, host=host)
    runtime.on_input("splash", runtime.note)
    for name in ("Ina", "Uwe"):
        runtime.add(art.Agent(art.Entity("duck", name=name), packs=[PACK], registry=world.registry))
    return runtime

PACK = {"actions": ["pond:actions:swim"]}
world = SimpleWorld("pond", make, summary="Ducks.", manifests=[manifest])

class Inner:
    other = SimpleWorld("other pond", make)

nothing = 7
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a game in a module of its own name, in which commands are given."""
    name = f"pond_{tmp_path.name.rpartition('_')[2]}".replace("-", "_")
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "pond"\n[tool.agentrt]\napp = "{name}:world"\n')
    (tmp_path / f"{name}.py").write_text(GAME)
    (tmp_path / "sub" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield name
    sys.modules.pop(name, None)


def agentrt(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


def said(project, text):
    """What a command says of a project whose pyproject.toml is this text."""
    Path("pyproject.toml").write_text(text.replace("GAME", project))
    result = agentrt("run", "--headless")
    assert result.exit_code == 2, result.output
    return result.output.replace(str(Path.cwd()), "HERE").replace(project, "GAME")


# --- finding it -------------------------------------------------------------------------------------------------------


def test_the_nearest_table_upwards_counts(project, tmp_path, monkeypatch):
    (tmp_path / "sub" / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    monkeypatch.chdir(tmp_path / "sub" / "sub")
    found = find_project()
    assert (found.folder, found.app) == (tmp_path, f"{project}:world")
    (tmp_path / "sub" / "pyproject.toml").write_text('[tool.agentrt]\napp = "nearer:world"\n')
    assert find_project().app == "nearer:world"


def test_its_folder_comes_first_on_the_path(project, tmp_path):
    world = project_world()
    assert (world.name, sys.path[0]) == ("pond", str(tmp_path))
    assert project_world() is world
    assert sys.path.count(str(tmp_path)) == 1


def test_without_a_project_there_is_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_project() is None
    assert project_world() is None
    result = agentrt("run", "--headless")
    assert result.exit_code == 2
    assert result.output == (
        f"Error: [ART114] {tmp_path}: there is no project: no pyproject.toml here or in a folder above has a table "
        '[tool.agentrt]. Make one with: agentrt new NAME. Or write app = "mygame:world" there, or give --app mygame:world.\n'
        "More about it: agentrt explain ART114\n"
    )


def test_a_folder_that_was_deleted_has_no_project(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    try:
        gone.rmdir()
    except OSError:
        pytest.skip("this system does not delete the folder in which a program runs")
    assert find_project() is None


def test_another_world_by_app(project):
    assert project_world(f"{project}:Inner.other").name == "other pond"
    result = agentrt("run", "--app", f"{project}:Inner.other", "--headless", "--ticks", "5")
    assert result.stdout.splitlines()[0] == "other pond: 5 ticks, seed 0, plain host"


def test_app_needs_no_project_and_asks_for_no_right_one(project, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.agentrt]\n")
    assert project_world(f"{project}:world").name == "pond"
    (tmp_path / "pyproject.toml").unlink()
    assert project_world(f"{project}:world").name == "pond"


# --- what is said if it is not there ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.agentrt]\n", "HERE/pyproject.toml: [tool.agentrt] does not say app. Write below [tool.agentrt] in "),
        ("[tool.agentrt]\napp = 7\n", "HERE/pyproject.toml: app is 7, and no text. Write below"),
        ("[tool.agentrt]\nworld = 'x:y'\n", "HERE/pyproject.toml: [tool.agentrt] has no key 'world'. Write below"),
        ("[tool]\nagentrt = 'x:y'\n", "HERE/pyproject.toml: tool.agentrt is 'x:y', and no table."),
        ("[tool.agentrt\n", "HERE/pyproject.toml: it cannot be read: Expected ']' at the end of a table declaration"),
        ("[tool.agentrt]\napp = 'GAME'\n", "HERE/pyproject.toml: 'GAME' names no world. Write module:name, as in "),
        ("[tool.agentrt]\napp = 'os.path: x'\n", "'os.path: x' names no world."),
        ("[tool.agentrt]\napp = 'pnod:world'\n", "there is no module 'pnod' in HERE, nor is one installed. Correct"),
        ("[tool.agentrt]\napp = 'json.pnod:world'\n", "there is no module 'json.pnod' in HERE"),
        (
            "[tool.agentrt]\napp = 'GAME:wrold'\n",
            "'GAME' has nothing that is called 'wrold'. Did you mean 'world'? Name",
        ),
        ("[tool.agentrt]\napp = 'GAME:nothing.inner'\n", "'GAME' has nothing that is called 'nothing.inner'. Name"),
        ("[tool.agentrt]\napp = 'GAME:nothing'\n", "'GAME:nothing' is a int, and no world. Name an agentrt.worlds."),
        ("[tool.agentrt]\napp = 'GAME:Inner'\n", "'GAME:Inner' is the class Inner, and no world. Name an agentrt."),
    ],
)
def test_what_is_wrong_is_named(project, text, words):
    output = said(project, text)
    assert output.startswith("Error: [ART114] ")
    assert words in output.replace("\\", "/")
    assert "Traceback" not in output


def test_bytes_that_are_no_text(project, tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(b"[tool.agentrt]\napp = '\xff'\n")
    with pytest.raises(ProjectError, match="it cannot be read"):
        find_project()


@pytest.mark.parametrize("command", [("run",), ("packs", "list"), ("strategies", "list"), ("demo", "colony")])
def test_what_their_module_raises_is_told_with_their_traceback_and_not_ours(project, tmp_path, monkeypatch, command):
    (tmp_path / f"{project}.py").write_text("import helper_of_the_pond\n")
    (tmp_path / "helper_of_the_pond.py").write_text("def dive():\n    return 1 / 0\n\ndive()\n")
    result = agentrt(*command)
    assert result.exit_code == 2
    assert f"importing '{project}' raised ZeroDivisionError: division by zero. Repair it; the trace" in result.output
    files = [line.split('"')[1] for line in result.output.splitlines() if line.startswith("  File ")]
    theirs, helper = str(tmp_path / f"{project}.py"), str(tmp_path / "helper_of_the_pond.py")
    assert files == [theirs, helper, helper]
    assert "helper_of_the_pond" not in sys.modules


@pytest.mark.parametrize(
    "raised", ["raise SystemExit(0)", "import no_such_module_at_all", "def (", "class A(int, str): 0"]
)
def test_whatever_it_raises_is_no_end_of_the_program(project, tmp_path, raised):
    (tmp_path / f"{project}.py").write_text(raised + "\n")
    result = agentrt("run")
    assert result.exit_code == 2
    assert f"importing '{project}' raised " in result.output
    assert f"{project}.py" in result.output


def test_control_characters_in_it_reach_no_terminal(project):
    output = said(project, '[tool.agentrt]\n"\\u001b[31m" = 1\n')
    assert r"\x1b[31m" in output
    assert "\x1b" not in output


# --- what commands make of it -----------------------------------------------------------------------------------------


def test_run_is_the_same_on_every_host(project):
    runs = [
        agentrt("run", "--headless", "--ticks", "100", "--seed", "7", "--digest", "--host", host)
        for host in ("plain", "plain", "asyncio", "trio")
    ]
    assert {run.exit_code for run in runs} == {0}
    assert len({run.stdout.splitlines()[-1] for run in runs}) == 1
    assert runs[0].stdout.splitlines()[:4] == [
        "pond: 100 ticks, seed 7, plain host",
        "what  agents  times",
        "----  ------  -----",
        f"Swim       2     {runs[0].stdout.splitlines()[3].split()[-1]}",
    ]
    assert agentrt("run", "--headless", "--ticks", "100", "--seed", "8", "--digest").stdout != runs[0].stdout


def test_demo_runs_it_too_and_others_by_their_names(project, monkeypatch):
    assert agentrt("demo", "--headless", "--ticks", "5").stdout.startswith("pond: 5 ticks")
    assert agentrt("demo", "pond", "--headless", "--ticks", "5").stdout.startswith("pond: 5 ticks")
    assert agentrt("demo", "--list").stdout.splitlines()[0] == "pond  Ducks."
    result = agentrt("demo", "pondd")
    assert "there is no world 'pondd'. Did you mean 'pond'?" in result.output
    with pytest.raises(UnknownWorldError):
        load_world("pondd")


def test_live_it_tells_who_begins_what_and_ctrl_c_ends_it(project, monkeypatch):
    monkeypatch.setattr(commands, "_has_terminal", lambda: True)
    world = project_world()
    make = world._make

    def make_and_interrupt(*, seed, host):
        runtime = make(seed=seed, host=host)
        runtime.after_tick(lambda: (_ for _ in ()).throw(KeyboardInterrupt) if runtime.tick == 5 else None)
        return runtime

    monkeypatch.setattr(world, "_make", make_and_interrupt)
    result = agentrt("run", "--speed", "1000")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:2] == ["1 Ina agentrt:top/Swim run", "1 Uwe agentrt:top/Swim run"]


def test_a_recording_is_replayed_by_the_name_of_the_world(project, tmp_path):
    file = tmp_path / "pond.sqlite"
    assert agentrt("run", "--headless", "--ticks", "50", "--record", file).exit_code == 0
    assert agentrt("replay", file).exit_code == 0
    (tmp_path / "pyproject.toml").unlink()
    assert "there is no world 'pond'" in agentrt("replay", file).output
    assert agentrt("replay", file, "--app", f"{project}:world").exit_code == 0


def test_its_registry_has_what_is_ours_and_its_own_and_no_examples(project):
    aliases = agentrt("packs", "list").stdout.split()
    assert {alias.partition(":")[0] for alias in aliases} == {"agentrt", "pond"}
    assert agentrt("strategies", "list").stdout == "pond:find  find() -> None\n  pond:strategies:look_around\n"


def test_its_packs_are_checked_against_it(project, tmp_path):
    pack = tmp_path / "duck.json"
    pack.write_text(json.dumps({"actions": ["pond:actions:swim", "agentrt:actions:wait"]}))
    assert agentrt("packs", "check", pack).exit_code == 0
    pack.write_text('{\n  "actions": [\n    "pond:actions:swim",\n    "colony:actions:cook"\n  ]\n}\n')
    result = agentrt("packs", "check", pack)
    assert result.exit_code == 1
    assert f"{pack}:4#/actions/1: nobody registered 'colony:actions:cook'." in result.output


def test_what_has_no_registry_of_its_own_is_checked_against_what_is_installed(project, tmp_path):
    (tmp_path / f"{project}.py").write_text(
        GAME + "\nclass Bare(SimpleWorld):\n    registry = None\nbare = Bare('b', make)\n"
    )
    aliases = agentrt("packs", "list", "--app", f"{project}:bare").stdout.split()
    assert {alias.partition(":")[0] for alias in aliases} == {"agentrt"}


def test_inspect_without_a_recording_and_without_a_project(tmp_path, monkeypatch):
    pytest.importorskip("starlette")
    monkeypatch.chdir(tmp_path)
    assert "there is no project" in agentrt("inspect").output


def test_a_project_that_is_installed_as_well_is_one(project, monkeypatch):
    import importlib.metadata
    from importlib.metadata import EntryPoint

    found = importlib.metadata.entry_points
    point = EntryPoint("pond", f"{project}:manifest", "agentrt.actions")
    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda *, group: [*found(group=group), *([point] if group == point.group else [])],
    )
    assert isinstance(project_world(), SimpleWorld)
    registry = project_world().registry
    assert "pond:actions:swim" in registry
    assert registry.broken == ()
    assert registry is project_world().registry


def test_discovery_leaves_the_worlds_to_look_at_alone():
    mods = {alias.partition(":")[0] for alias in Registry.discover().aliases()}
    everything = {alias.partition(":")[0] for alias in Registry.discover(examples=True).aliases()}
    assert mods == {"agentrt"}
    assert everything >= {"agentrt", "colony", "miner", "miner_shop"}


def test_agents_that_are_given_no_registry_know_nothing_of_the_worlds_to_look_at():
    agent = art.Agent(art.Entity("guest"), name="guest")
    with pytest.raises(UnknownAliasError, match="nobody registered 'colony:ai_pack:hearthling'"):
        agent.inject("colony:ai_pack:hearthling")


@pytest.mark.skipif(sys.platform == "win32", reason="there a signal for one process is sent in another way")
@pytest.mark.slow
def test_ctrl_c_ends_a_run_cleanly(project, tmp_path):
    code = textwrap.dedent("""
        import signal
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from agentrt.cli import commands, main
        commands._has_terminal = lambda: True
        main(["run"])
    """)
    command = [sys.executable, "-W", "error", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "1 Ina agentrt:top/Swim run\n"
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=300)
    assert (running.returncode, errors) == (0, "Ctrl-C ends it.\n")
