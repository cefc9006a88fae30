"""``agentrt strategies``: what is listed, drawn and written, for everything that is installed or for what is named."""

from __future__ import annotations

import json

import crafts
import pytest
from click.testing import CliRunner

from agentrt import Registry
from agentrt.cli import main
from agentrt.strategy.tools import calls_module


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(Registry, "discover", lambda **_: Registry([crafts.manifest]))
    return lambda *args: CliRunner().invoke(main, ["strategies", *args])


def test_everything_is_listed_by_what_it_provides(run):
    result = run("list")
    assert result.exit_code == 0
    assert result.output == (
        "gameplay:rest  rest() -> None\n"
        "  crafts:strategies:doze\n"
        "crafts:collect  collect(item: str, count: int = 1) -> int\n"
        "  crafts:strategies:jack; may need collect, find\n"
        "  crafts:strategies:mine_ore; may need craft, find, reach\n"
        "crafts:craft  craft(item: str) -> int\n"
        "  crafts:strategies:jack; may need collect, find\n"
        "  crafts:strategies:make; may need collect, light; joins MineOre.tools\n"
        "want:know  know(what: str) -> str\n"
        "  crafts:strategies:jack; may need collect, find\n"
        "crafts:find  find(kind: str, near: Place | None = None) -> tuple[Place, ...] | None\n"
        "  crafts:strategies:look_around\n"
        "crafts:light  light() -> None\n"
        "  nobody provides it\n"
        "want:reach  reach(place: str) -> str\n"
        "  nobody provides it\n"
    )


def test_what_packs_and_aliases_name(run):
    assert run("map", "crafts:ai_pack:miner").output == (
        "collect\n"
        "   mine_ore\n"
        "      craft (nobody provides it)\n"
        "      find\n"
        "         look_around\n"
        "      reach (nobody provides it)\n"
    )
    assert run("map", "crafts:strategies:doze", "crafts:ai_pack:finder").output == (
        "rest\n   doze\nfind\n   look_around\n"
    )


@pytest.mark.states("003: Hierarchy, the dependency map: Which strategy may call which can be drawn as a map; it ...")
def test_the_map_as_a_flow_chart_and_as_json(run):
    assert run("map", "--as", "mermaid", "crafts:strategies:doze").output == (
        'flowchart TD\n    d1(["rest"])\n    s1["doze"]\n    d1 --> s1\n'
    )
    told = json.loads(run("map", "--as", "json", "crafts:strategies:doze").output)
    assert told["dependencies"] == {"gameplay:rest": {"call": "rest", "providers": ["crafts.doze"]}}
    listed = json.loads(run("list", "--json", "crafts:strategies:doze").output)
    told["strategies"]["crafts.doze"]["alias"] = "crafts:strategies:doze"
    assert listed == told


def test_calls(run):
    result = run("calls", "--name", "DozeCalls", "crafts:strategies:doze")
    assert (result.exit_code, result.output) == (0, calls_module([crafts.doze], "DozeCalls"))
    assert "class GameplayCalls(typing.Protocol)" in run("calls").output


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("list", "crafts:strategies:mine_or"), "Did you mean 'crafts:strategies:mine_ore'"),
        (("map", "crafts:ai_pack:digger"), "[ART203] nobody registered 'crafts:ai_pack:digger'"),
        (("calls", "crafts:actions:dig"), "[ART203] nobody registered 'crafts:actions:dig'"),
        (("calls", "--name", "my calls"), "'my calls' is no name of a class."),
        (("map", "--as", "svg"), "'svg' is not one of 'text', 'mermaid', 'json'"),
    ],
)
def test_mistakes(run, args, text):
    result = run(*args)
    assert result.exit_code == 2
    assert text in result.output


def test_nothing_is_installed(monkeypatch):
    monkeypatch.setattr(Registry, "discover", lambda **_: Registry())
    result = CliRunner().invoke(main, ["strategies", "list"])
    assert (result.exit_code, result.output) == (0, "no strategies are installed\n")
