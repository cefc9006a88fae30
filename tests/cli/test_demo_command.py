"""``agentrt demo``: which world, live or headless, what goes to which stream."""

from __future__ import annotations

import importlib.metadata
import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest
from click.testing import CliRunner

from agentrt import worlds
from agentrt.cli import commands as demo_commands
from agentrt.cli import main
from agentrt.errors import MissingExtraError
from agentrt.runtime.runtime import Runtime
from agentrt.worlds import WorldReport, table_lines


class Island:
    name = "island"
    summary = "Three sailors and a palm tree."

    def __init__(self):
        self.calls = []

    def make(self, *, seed, host):
        return Runtime(seed, host=host)

    def run_headless(self, *, ticks, seed, host, progress, watch=None):
        self.calls.append(("headless", ticks, seed, host))
        for tick in range(0, ticks + 1, 10):
            progress(tick, ticks, f"{tick // 10} coconuts")
        return WorldReport(
            digest="c0ffee",
            title=f"island: {ticks} ticks, seed {seed}",
            columns=("action", "ran", "share"),
            rows=(("climb", 7, 87.5), ("swim", 12, 12.5)),
            notes=("coconuts eaten: 3",),
        )

    def run_live(self, *, seed, speed, watch=None):
        self.calls.append(("live", seed, speed))


@pytest.fixture
def install(monkeypatch):
    points = []
    module = ModuleType("pretended_worlds")
    monkeypatch.setitem(sys.modules, "pretended_worlds", module)
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda *, group: points if group == worlds.ENTRY_POINT_GROUP else []
    )

    def install(name, thing):
        setattr(module, f"world_{len(points)}", thing)
        points.append(EntryPoint(name, f"pretended_worlds:world_{len(points)}", worlds.ENTRY_POINT_GROUP))
        return thing

    return install


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(demo_commands, "_has_terminal", lambda: True)


def run(*args):
    return CliRunner().invoke(main, ["demo", *args])


def test_headless(install):
    island = install("island", Island())
    result = run("island", "--headless", "--ticks", "200", "--seed", "7", "--digest", "--host", "trio")
    assert result.exit_code == 0
    assert result.stdout == (
        "island: 200 ticks, seed 7\n"
        "action  ran  share\n"
        "------  ---  -----\n"
        "climb     7   87.5\n"
        "swim     12   12.5\n"
        "coconuts eaten: 3\n"
        "digest: c0ffee\n"
    )
    assert result.stderr.splitlines()[:3] == [
        "tick 0/200  0 coconuts",
        "tick 10/200  1 coconuts",
        "tick 20/200  2 coconuts",
    ]
    assert len(result.stderr.splitlines()) == 21
    assert island.calls == [("headless", 200, 7, "trio")]


def test_progress_is_thinned_out(install):
    install("island", Island())
    assert len(run("island", "--headless").stderr.splitlines()) == 21


def test_without_a_terminal_it_runs_headless(install):
    island = install("colony", Island())
    result = run()
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == "standard output is not a terminal: running headless"
    assert "digest" not in result.stdout
    assert island.calls == [("headless", 2000, 0, "plain")]


def test_live(install, terminal):
    island = install("island", Island())
    assert run("island", "--seed", "3", "--speed", "2").output == ""
    assert island.calls == [("live", 3, 2.0)]


@pytest.mark.parametrize("option", [["--ticks", "5"], ["--digest"], ["--host", "plain"]])
def test_headless_options_need_headless(install, terminal, option):
    island = install("island", Island())
    result = run("island", *option)
    assert (result.exit_code, island.calls) == (2, [])
    assert "Error: --ticks, --digest and --host go with --headless." in result.output


@pytest.mark.parametrize("option", [["--speed", "0"], ["--speed", "nan"], ["--ticks", "0"], ["--host", "curio"]])
def test_senseless_options(install, terminal, option):
    island = install("island", Island())
    assert (run("island", *option).exit_code, island.calls) == (2, [])


def test_an_unknown_world(install):
    install("island", Island())
    install("atoll", Island())
    result = run("iland")
    assert result.exit_code == 2
    assert result.output == (
        "Error: [ART205] there is no world 'iland'. Did you mean 'island'? Installed here: atoll, island.\n"
        "More about it: agentrt explain ART205\n"
    )


@pytest.mark.checkout
def test_no_world_at_all(install, root):
    result = run()
    assert result.exit_code == 2
    assert result.output == (
        "Error: [ART205] there is no world 'colony', and none is installed. Worlds come from packages that offer the "
        "entry-point group 'agentrt.worlds'; agentrt itself carries 'colony'. In the folder of the clone, "
        f"{root}, run: pip install -e '.[demo]'\n"
        "More about it: agentrt explain ART205\n"
    )


def test_the_list_of_worlds(install):
    install("island", Island())
    install("atoll", Island())
    assert run("--list").output == ("atoll  Three sailors and a palm tree.\nisland  Three sailors and a palm tree.\n")


@pytest.mark.states("tools: Outside: A package whose entry point raises whatever while it is loaded, `SystemExit` ...")
@pytest.mark.parametrize(
    "raised", [SystemExit(0), GeneratorExit(), ValueError("x")], ids=lambda one: type(one).__name__
)
def test_a_world_that_ends_the_program_when_it_is_imported_hurts_no_other(install, monkeypatch, raised):
    class Breaks(EntryPoint):
        def load(self):
            raise raised

    install("island", Island())
    install("rock", Island())
    install("rock", Island())
    found = importlib.metadata.entry_points
    point = Breaks("atoll", "bad:world", worlds.ENTRY_POINT_GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: [*found(group=group), point])
    listed = run("--list")
    assert (listed.exit_code, listed.stdout) == (1, "island  Three sailors and a palm tree.\n")
    assert f"loading it raised {type(raised).__name__}" in listed.stderr
    assert "two packages offer it" in listed.stderr
    assert run("atoll").exit_code == 2
    assert worlds.load_world("island").name == worlds.load_world("island").name


def test_what_is_no_world(install):
    install("island", object())
    result = run("island", "--headless")
    assert result.exit_code == 2
    assert result.output == (
        "Error: [ART106] the entry point 'island' of 'agentrt.worlds' (pretended_worlds:world_0): it is a object without "
        "what a world has. A world has name, summary, make, run_headless and run_live; see agentrt.worlds.World.\n"
        "More about it: agentrt explain ART106\n"
    )


def test_a_world_that_cannot_be_imported(monkeypatch):
    point = EntryPoint("island", "no_such_module_anywhere:world", worlds.ENTRY_POINT_GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: [point])
    result = run("island", "--headless")
    assert result.exit_code == 2
    assert "loading it raised ModuleNotFoundError: No module named 'no_such_module_anywhere'." in result.output


def test_two_packages_with_one_world(install):
    install("island", Island())
    install("island", Island())
    result = run("island")
    assert result.exit_code == 2
    assert result.output == (
        "Error: [ART106] the world 'island': two packages offer it: pretended_worlds:world_0 and "
        "pretended_worlds:world_1. Uninstall one of them.\n"
        "More about it: agentrt explain ART106\n"
    )


@pytest.mark.checkout
def test_an_error_of_the_world_is_one_message(install, terminal, root):
    class NeedsMore(Island):
        def run_live(self, *, seed, speed, watch=None):
            raise MissingExtraError("demo", "textual")

    install("island", NeedsMore())
    result = run("island")
    assert (result.exit_code, result.output) == (
        2,
        "Error: [ART107] this needs the package 'textual', which is not installed. In the folder of the clone, "
        f"{root}, run: pip install -e '.[demo]'\n"
        "More about it: agentrt explain ART107\n",
    )


def test_a_table_without_rows():
    assert list(table_lines(WorldReport("", "nothing happened", ("action", "ran"), ()))) == [
        "nothing happened",
        "action  ran",
        "------  ---",
    ]
