"""Whole runs: seven diamonds from empty hands, the other dimension, the shop, hosts, and what the commands show."""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from agentrt.cli import main
from agentrt.errors import DependencyFailedError
from agentrt.strategy import Order
from agentrt.testing import TraceDigest, check_trace
from agentrt_examples.miner import manifest, world
from agentrt_examples.miner.game import Game
from agentrt_examples.miner.report import run_live, status
from agentrt_examples.miner.strategies.needs import Collect
from agentrt_miner_shop.buying import Coins, Prices
from tests.miner.conftest import Flat


@pytest.fixture
def game_of():
    games = []

    def make(seed=1, **options):
        games.append(Game(seed, **options))
        return games[-1]

    yield make
    for game in games:
        game.runtime.close()


# --- seven diamonds -----------------------------------------------------------------------------------------------


@pytest.mark.states("003: Goals: A task is run by one call, without naming the operations that it takes ...")
@pytest.mark.states(
    "003: Goals: Asked for diamonds it knows where to look, what tools that takes, how to make them, and where their "
    "parts come from",
)
@pytest.mark.states(
    "003: The miner: Seven diamonds are got from an empty inventory in a world that the agent does not know: where to "
    "look, which tools that takes and how to get them is worked out",
    source="1. Goals",
)
@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 9, 14])
def test_seven_diamonds_from_empty_hands(game_of, seed):
    game = game_of(seed)
    trace = []
    game.runtime.trace.listen(trace.append)
    game.ask("diamond", 7)
    assert game.miner.stock == {}
    assert game.run(30_000)
    assert game.miner.stock["diamond"] == 7
    (root,) = game.agent.gameplay.finished
    done = [node.label for _, node in root.walk() if node.outcome in ("done", "met")]
    for item in ("wooden_pickaxe", "stone_pickaxe", "iron_pickaxe", "iron_ingot", "raw_iron", "oak_log", "planks"):
        assert any(label.startswith(f"Collect [{item},") for label in done), item
    assert check_trace(trace, game.miner.name, has_ended=False) == []


@pytest.mark.states("003: Planning Ahead Using Probability: Better ways are found by it than without")
@pytest.mark.slow
def test_the_same_strategies_without_looking_ahead_take_longer(game_of):
    game = game_of(2)
    game.ask("diamond", 7)
    assert game.run(120_000)
    other = game_of(2)
    gameplay = other.agent.gameplay
    gameplay.lookahead, gameplay.takes_options, gameplay.order = 0, False, Order.GIVEN
    other.ask("diamond", 7)
    assert not other.run(game.runtime.tick * 3 // 2)


# --- the other dimension ------------------------------------------------------------------------------------------


@pytest.mark.states("003: Goals: Unless what it needs was placed nearby: then it takes that first, if it can")
@pytest.mark.states(
    "003: The miner: In the Nether with diamond blocks placed nearby, these are taken first; without the tool for "
    "them, or without blocks, it returns to the overworld",
    source="1. Goals",
)
@pytest.mark.slow
def test_diamond_blocks_nearby_are_taken_first(game_of):
    """In the Nether, asked for diamonds, with diamond blocks around: there is no reason to go home for them."""
    game = game_of(3)
    game.send("nether")
    game.miner.inventory.take_in("iron_pickaxe", 1)
    places = game.build("diamond_block", 2)
    game.ask("diamond", 7)
    assert game.run(3_000)
    assert game.miner.where == "nether"
    assert game.miner.stock["diamond"] == 9
    assert [game.miner.dimension.name_at(place) for place in places].count("air") == 1
    assert game.runtime.tick < 1_000


@pytest.mark.states("003: Goals: Unless what it needs was placed nearby: then it takes that first, if it can ...")
@pytest.mark.states("003: The miner: In the Nether with diamond blocks placed nearby, these are taken first ...")
@pytest.mark.slow
def test_without_a_pickaxe_it_returns_first(game_of):
    """What would be needed for the blocks is to be had at home only."""
    game = game_of(3)
    game.send("nether")
    game.build("diamond_block", 2)
    entered = []
    game.miner.signal("dimension").connect(entered.append)
    game.ask("diamond", 7)
    for _ in range(4_000):
        if game.miner.stock.get("wooden_pickaxe"):
            break
        game.runtime.step()
    assert entered == ["overworld"]
    assert game.miner.stock["wooden_pickaxe"] == 1


@pytest.mark.states("003: Goals: It takes the surroundings into account: in the other dimension it returns first")
@pytest.mark.states("003: The miner: In the Nether with diamond blocks placed nearby, these are taken first ...")
@pytest.mark.slow
def test_without_blocks_it_returns_and_searches_at_home(game_of):
    game = game_of(4)
    game.send("nether")
    game.miner.inventory.take_in("iron_pickaxe", 1)
    game.miner.inventory.take_in("stone_pickaxe", 2)
    game.ask("diamond", 1)
    assert game.run(60_000)
    assert game.miner.where == "overworld"


# --- the shop -----------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Plugins: The shop of a server: the agent understands how to use it, and buys what is easier to buy than to "
    "find",
)
@pytest.mark.states(
    "003: The miner: A plugin of its own package teaches the shop of a server; old strategies buy through it without "
    "knowing it",
    source='"2.2. Plugins", "2.5.1. Hard Dependencies"',
)
def test_old_strategies_buy_what_they_need_without_knowing_it(make_flat):
    """An iron pickaxe for a diamond: the strategy that mines it wants a tool, and a plugin sells one."""
    game = make_flat(has_shop=True)
    game.world.server.purses["miner"] = 80
    game.put("diamond_ore", game.beside(x=3))
    ((value, _),) = game.do(lambda: game.agent.gameplay.solve(Collect("diamond")))
    assert value == 1
    assert game.miner.stock == {"diamond": 1, "iron_pickaxe": 1}
    assert game.world.server.purses["miner"] == 10
    (root,) = game.agent.gameplay.finished
    labels = [f"{node.label} {node.outcome}" for _, node in root.walk() if node.kind == "strategy"]
    assert labels == SHOPPING


@pytest.mark.states("003: Plugins: The shop of a server: the agent understands how to use it, and buys what is ...")
def test_coins_come_from_what_is_sold(make_flat):
    game = make_flat(has_shop=True)
    game.give(cobblestone=100)
    ((value, _),) = game.do(lambda: game.agent.gameplay.solve(Collect("coal", 4)))
    assert value == 4
    assert game.miner.stock == {"coal": 4, "cobblestone": 76}
    assert game.miner[Prices].coins == 0
    assert game.agent.gameplay.cost(Coins(60)) < 5
    assert game.agent.gameplay.cost(Coins(61)) == math.inf  # some is kept


@pytest.mark.states("003: Plugins: Strategies may be for one server only, or one mini game")
def test_a_server_without_a_shop_is_asked_once(make_flat):
    game = make_flat()
    said = []
    answer = game.world.server.answer

    class Listening:
        has_shop = False

        def answer(self, who, hands, text):
            said.append(text)
            return answer(who, hands, text)

    game.world.server = Listening()
    game.put("oak_log", *(game.beside(x=6 + x, y=y) for x in (0, 2) for y in range(4)))
    results = game.do(*(lambda count=count: game.agent.gameplay.solve(Collect("planks", count)) for count in (4, 12)))
    assert [value for value, _ in results] == [4, 12]
    assert said == ["/shop list"]
    with pytest.raises(DependencyFailedError, match="the server has no shop"):
        raise game.do(lambda: game.agent.gameplay.solve(Collect("obsidian")))[0][0]


@pytest.mark.states("003: The miner: A plugin of its own package teaches the shop of a server; old strategies buy ...")
def test_the_plugin_is_mixed_into_the_pack_of_the_miner(make_flat):
    names = [provider.spec.name for provider in make_flat().agent.gameplay.catalog.providers]
    assert names[-3:] == ["ask_prices", "buy_goods", "sell_goods"]
    assert not any("shop" in str(thing) for thing in manifest.aliases.values())


# --- hosts, versions, commands ------------------------------------------------------------------------------------


def digest_of(host, ticks):
    game = Game(7, host)
    digest = TraceDigest(game.runtime.trace)
    game.ask("diamond", 7)

    def after_tick():
        if game.runtime.tick == ticks:
            digest.close()
            game.runtime.stop()

    game.runtime.after_tick(after_tick)
    if host == "plain":
        for _ in range(ticks):
            game.runtime.step()
        game.runtime.close()
    elif host == "asyncio":
        asyncio.run(game.runtime.run(speed=math.inf))
    else:
        trio = pytest.importorskip("trio")

        async def run():
            await game.runtime.run(speed=math.inf)

        trio.run(run)
    return digest.hexdigest()


@pytest.mark.states("003: Ours: A strategy awaits anything of asyncio and trio, and runs in equal order on all ...")
@pytest.mark.states("003: The miner: (ours) A world is a seed: equal on every host, hash seed and version of ...")
@pytest.mark.slow
def test_a_run_is_the_same_on_every_host():
    assert len({digest_of(host, 1500) for host in ("plain", "asyncio", "trio")}) == 1


_PROGRAM = """
import sys
from agentrt_examples.miner import world
print(world.run_headless(ticks=1500, seed=2, host="plain", progress=lambda *_: None).digest)
"""


@pytest.mark.states("003: Ours: Equal runs are equal, whatever the hash seed ...")
@pytest.mark.states("003: The miner: (ours) A world is a seed: equal on every host, hash seed and version of ...")
@pytest.mark.slow
def test_a_run_is_the_same_for_every_hash_seed():
    digests = {
        subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(digests) == 1


_LIGHT = """
import sys
for name in ("numpy", "tcod"):
    sys.modules[name] = None
from agentrt_examples.miner import manifest, world
from agentrt_miner_shop import manifest as shop
from agentrt.errors import MissingExtraError
try:
    world.make(seed=1, host="plain")
except MissingExtraError as error:
    print(error.extra)
"""


@pytest.mark.slow
def test_the_manifests_need_no_extra():
    done = subprocess.run([sys.executable, "-c", _LIGHT], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("demo\n", "")


@pytest.mark.slow
def test_the_command_shows_a_run_and_records_it(tmp_path):
    path = tmp_path / "miner.trace"
    run = CliRunner().invoke(
        main, ["demo", "miner", "--headless", "--ticks", "400", "--seed", "9", "--digest", "--record", str(path)]
    )
    assert run.exit_code == 0, run.output
    assert "miner: 400 ticks, plain host" in run.output
    assert "Collect [diamond, 7] - running" in run.output
    again = CliRunner().invoke(main, ["replay", str(path)])
    assert again.exit_code == 0, again.output


@pytest.mark.slow
def test_the_report_of_a_run_that_is_over():
    report = world.run_headless(ticks=12_000, seed=9, host="asyncio", progress=lambda *_: None)
    assert report.columns == ("strategy", "tried", "solved", "failed", "interrupted")
    rows = {row[0]: row[1:] for row in report.rows}
    assert rows["Buy Goods"] == (1, 0, 1, 0)
    assert rows["Mine Blocks"][0] >= rows["Mine Blocks"][1] > 0
    assert any(note.startswith("Collect [diamond, 7] - done in") for note in report.notes)
    assert json.dumps(report.rows)


def test_the_status_is_what_is_open(make_flat):
    game = make_flat()
    game.put("oak_log", *(game.beside(x=6, y=y) for y in range(4)))
    game.ask("planks", 4)
    for _ in range(30):
        game.runtime.step()
    lines = list(status(game))
    assert lines[0] == "0:01 day, overworld at 66,33,64, <Vitals: 20 health, 20 food>"
    assert lines[1] == "carries nothing"
    assert lines[2] == "Collect [planks, 4] - running"
    assert "   Craft - running" in lines


def test_the_live_view_shows_the_open_tasks_until_it_is_done(capsys):
    game = Flat(host="asyncio")
    game.put("oak_log", *(game.beside(x=6, y=y) for y in range(4)))
    game.ask("planks", 4)
    run_live(game, speed=math.inf)
    pages = capsys.readouterr().out
    assert "Collect [planks, 4] - running" in pages
    assert pages.rstrip().endswith("carries 4 planks")


SHOPPING = [
    "Buy Goods failed",  # ninety coins for a diamond are too many
    "Ask Prices done",
    "Mine Blocks done",
    "Make Tool done",
    "Buy Goods done",
]
