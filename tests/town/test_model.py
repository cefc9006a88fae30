"""The town by a language model behind a server, on loopback: it talks, goes on when the server is gone, and replays."""

from __future__ import annotations

import asyncio
import random
import re

import pytest
from click.testing import CliRunner
from model_server import Answer, ModelServer

from agentrt.cli import main
from agentrt.errors import MissingExtraError
from agentrt_examples.town import world

OPTION = re.compile(r"^- (town:\w+)\((.*?)\)", re.MULTILINE)


def chosen(line):
    activity, args = line
    given = {}
    for arg in filter(None, args.split("; ")):
        name, _, of = arg.partition(": one of ")
        given[name] = random.Random(len(line)).choice(of.split(", "))
    return {"activity": activity, "args": given, "why": "so it is"}


def answers(body):
    """What a model would answer: by the schema of the tool that it is to call, and the menu in its prompt."""
    wanted = body["tools"][0]["function"]["parameters"]["properties"]
    prompt = body["messages"][-1]["content"]
    if "say" in wanted:
        return {"say": "The servers are busy today.", "is_over": "last one" in prompt}
    if "conclusions" in wanted:
        return {"conclusions": ["Everything is connected."]}
    menu = OPTION.findall(prompt)
    if "steps" in wanted:
        return {"steps": [chosen(line) for line in menu][:3]}
    return chosen(next((line for line in menu if line[0] == "town:chat"), menu[0]))


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


@pytest.mark.slow
def test_a_server_that_is_killed_in_the_middle_and_comes_back(tmp_path):
    pytest.importorskip("pydantic_ai", reason="the extra llm is not installed")
    from agentrt.record.replay import replay

    is_down = False
    with ModelServer(lambda body, number: Answer(status=503) if is_down else Answer(answers(body))) as server:
        thinking = world.with_model("openai:test-model", server.url)
        game = thinking.game(seed=3, host="asyncio")
        runtime, town = game.runtime, game.town
        path = tmp_path / "town.sqlite"
        faults, lines = [], {}
        runtime.on_fault(faults.append)

        def after_tick():
            """They talk, are without a server for 20 game seconds, and talk again, however slow the machine is."""
            nonlocal is_down
            said = town.counts.get("lines said", 0)
            if "down" not in lines and said > 3:
                lines["down"], is_down = (runtime.tick, said, server.answered), True
            elif "back" not in lines and runtime.tick == lines.get("down", (0,))[0] + 400:
                lines["back"], is_down = (runtime.tick, said, server.answered), False
            elif "back" in lines and said > lines["back"][1] + 3:
                lines["again"] = runtime.tick, said, server.answered
            if "again" in lines or runtime.tick >= 8000:
                runtime.stop()

        with runtime.record(path, world="town"):
            runtime.after_tick(after_tick)
            asyncio.run(runtime.run(speed=8.0))
    assert faults == []
    assert list(lines) == ["down", "back", "again"]
    assert lines["back"][1] - lines["down"][1] <= 6  # what was said already, or had been answered
    assert lines["back"][2] - lines["down"][2] <= 12
    assert game.mind.snapshot().models == ("test-model",)
    # the server is gone: a replay asks nobody
    report = replay(path, lambda *, seed, host: world.with_model("openai:test-model").make(seed=seed, host=host))
    assert report.is_same
