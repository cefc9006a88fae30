"""``agentrt demo``: which world, live or headless, what goes to which stream."""

from __future__ import annotations

import importlib.metadata
import io
import itertools
import os
import sys
from importlib.metadata import EntryPoint
from types import ModuleType, SimpleNamespace

import pytest
from click.testing import CliRunner

from agentrt import worlds
from agentrt.cli import commands as demo_commands
from agentrt.cli import groups, main
from agentrt.errors import MissingExtraError
from agentrt.installed import how_to_add
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
    assert result.stderr == ""  # it was quick
    assert island.calls == [("headless", 200, 7, "trio")]


@pytest.fixture
def slow_clock(monkeypatch):
    """A clock that goes on by some seconds whenever it is looked at."""

    def tell(by):
        seconds = itertools.count(0, by)
        monkeypatch.setattr(groups, "time", SimpleNamespace(monotonic=lambda: next(seconds)))

    return tell


def test_progress_is_a_line_every_few_seconds(install, slow_clock):
    install("island", Island())
    slow_clock(2)
    result = run("island", "--headless", "--ticks", "100")
    assert "tick" not in result.stdout.split("\n", 1)[1]
    assert result.stderr.splitlines() == [
        "tick 0/100, 0 %  0 coconuts",
        "tick 30/100, 30 %, 14 s left  3 coconuts",
        "tick 60/100, 60 %, 8 s left  6 coconuts",
        "tick 90/100, 90 %, 2 s left  9 coconuts",
    ]
    slow_clock(1000)
    told = run("island", "--headless", "--ticks", "90").stderr.splitlines()
    assert told[1:3] == [
        "tick 10/90, 11 %, 2 h 13 min left  1 coconuts",
        "tick 20/90, 22 %, 1 h 56 min left  2 coconuts",
    ]
    assert told[-2:] == ["tick 80/90, 88 %, 16 min 40 s left  8 coconuts", "tick 90/90, 100 %  9 coconuts"]


class Terminal(io.StringIO):
    """A terminal that somebody looks at: it has lines, and a place where it writes."""

    def isatty(self):
        return True

    def fileno(self):
        return 99

    @property
    def encoding(self):
        return "utf-8"

    def seen(self):
        lines = []
        for line in self.getvalue().split("\n"):
            shown = ""
            for part in line.split("\r"):
                shown = part + shown[len(part) :]
            lines.append(shown.rstrip())
        return lines


@pytest.mark.parametrize(("columns", "told"), [(80, "tick 100/100, 100 %  10 coconuts"), (20, "tick 100/100, 100 %")])
def test_on_a_terminal_progress_is_one_line_that_goes_away(install, slow_clock, monkeypatch, capsys, columns, told):
    install("island", Island())
    slow_clock(2)
    monkeypatch.setattr(groups.os, "get_terminal_size", lambda fd: os.terminal_size((columns, 24)))
    terminal = Terminal()
    drawn = []
    write = terminal.write

    def note(text):
        write(text)
        drawn.append(terminal.seen()[-1])

    terminal.write = note
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(SystemExit) as end:
        main(["demo", "island", "--headless", "--ticks", "100"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("island: 100 ticks, seed 0\n")
    assert drawn[0] == "tick 0/100, 0 %  0 coconuts"[: columns - 1].rstrip()
    assert drawn[-2:] == [told, ""]
    assert max(map(len, drawn)) < columns
    assert terminal.seen() == [""]  # nothing is left


def test_what_is_said_meanwhile_takes_the_line_away(install, slow_clock, monkeypatch):
    class Talks(Island):
        def run_headless(self, *, progress, **options):
            progress(5, 10, "\x1b[31m")
            sys.stderr.write("a warning\n")
            progress(6, 10, "")
            raise MissingExtraError("demo", "tcod")

    install("island", Talks())
    slow_clock(2)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with pytest.raises(SystemExit):
        main(["demo", "island", "--headless"])
    assert "\x1b" not in terminal.getvalue()
    assert "tick 6/10, 60 %, 8 s left" in terminal.getvalue()
    lines = terminal.seen()
    assert (lines[0], lines[1][:14], lines[2:]) == (
        "a warning",
        "Error: [ART107",
        ["More about it: agentrt explain ART107", ""],
    )


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


def test_no_world_at_all(install):
    result = run()
    assert result.exit_code == 2
    assert result.output == (
        "Error: [ART205] there is no world 'colony', and none is installed. Worlds come from packages that offer the "
        "entry-point group 'agentrt.worlds'; agentrt itself carries 'colony'. "
        f"{how_to_add('demo')}\n"
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


def test_an_error_of_the_world_is_one_message(install, terminal):
    class NeedsMore(Island):
        def run_live(self, *, seed, speed, watch=None):
            raise MissingExtraError("demo", "textual")

    install("island", NeedsMore())
    result = run("island")
    assert (result.exit_code, result.output) == (
        2,
        f"Error: [ART107] this needs the package 'textual', which is not installed. {how_to_add('demo')}\n"
        "More about it: agentrt explain ART107\n",
    )


def test_a_table_without_rows():
    assert list(table_lines(WorldReport("", "nothing happened", ("action", "ran"), ()))) == [
        "nothing happened",
        "action  ran",
        "------  ---",
    ]
