"""The miner's strategies with the body of the bot, on a meadow in virtual time."""

from __future__ import annotations

import pytest
from meadow import Meadow

import agentrt as art
from agentrt.errors import DependencyFailedError
from agentrt.strategy import Dependency, Interruptible, Strategy
from agentrt_examples.minecraft.bot import Bot
from agentrt_examples.minecraft.player import StepAside, player
from agentrt_examples.miner.gatherer import Gatherer
from agentrt_examples.miner.strategies.gathering import Approach, LookAround, MineBlocks
from agentrt_examples.miner.strategies.needs import Collect

TREE = {(8, 5, 0): "oak_log", (8, 6, 0): "oak_log", (12, 5, 3): "oak_log"}


@pytest.fixture
def play():
    """Have things solved on a meadow, with things that happen at ticks: ``play([Collect("coal")], blocks, {40: fn})``."""

    def run(wanted, blocks, events=None):
        runtime = art.Runtime(host="plain")
        bot = Bot(runtime)
        meadow = Meadow(runtime, bot, blocks)
        agent = meadow.agent = runtime.add(player(bot))
        results = []

        async def solve():
            await bot.look_around()
            for each in wanted:
                if callable(each):
                    results.append(each(meadow))
                    await art.sleep_ticks(2)
                    continue
                try:
                    results.append(await agent.gameplay.solve(each))
                except DependencyFailedError as failure:
                    results.append(failure)

        runtime.spawn(solve)
        while len(results) < len(wanted) and runtime.tick < 2000:
            for act in (events or {}).get(runtime.tick, ()):
                act(meadow)
            runtime.step()
        tree = agent.gameplay.finished[-1].render()
        runtime.close()
        return results, meadow, tree

    return run


@pytest.mark.states(
    "003: A real server: The same strategies for finding, going and mining drive the simulated miner and a bot on a "
    "real server",
    source='"1. Goals"; "2.4. Highly Reusable Strategies"',
)
def test_the_miners_strategies_collect_with_the_bot(play):
    results, meadow, tree = play([Collect("oak_log", 3)], TREE)
    assert results == [3]
    assert meadow.items == {"oak_log": 3}
    assert [entry for entry in meadow.log if entry[1] != "done"] == [
        (1, "walk", (8, 5, 0)),
        (22, "dig", (8, 5, 0)),
        (43, "walk", (8, 5, 0)),  # to what dropped
        (53, "dig", (8, 6, 0)),
        (74, "walk", (8, 6, 0)),
        (80, "walk", (12, 5, 3)),
        (97, "dig", (12, 5, 3)),
        (118, "walk", (12, 5, 3)),
    ]
    assert [line for line in tree.splitlines() if "Option" not in line] == [
        "Collect [oak_log, 3] - done",
        "   Mine Blocks - done",
        "      Find [oak_log] - met",
        "      Reach [8, 5, 0] - done",
        "         Approach - done",
        "      Find [oak_log] - met",
        "      Find [oak_log] - met",
        "      Reach [12, 5, 3] - done",
        "         Approach - done",
    ]


@pytest.mark.states(
    "003: A real server: A bot that is hurt is interrupted by a trigger of the agent, stands still at once, gets out "
    "of the way, and goes on with what it did",
    source="2.5.2. Interrupting Tasks",
)
def test_being_hurt_on_the_way_interrupts_and_the_way_goes_on(play):
    """``Approach`` is paused: it gets out of the way, and then goes to where it was going."""
    results, meadow, tree = play([Collect("oak_log", 1)], TREE, {10: [lambda meadow: meadow.server_hurt(3)]})
    assert results == [1]
    assert meadow.log[:6] == [
        (1, "walk", (8, 5, 0)),
        (11, "walk", (6, 5, 0)),
        (27, "done"),
        (28, "replaced"),
        (29, "walk", (8, 5, 0)),
        (29, "done"),  # it is in reach from there
    ]
    assert [line for line in tree.splitlines() if "Option" not in line][3:] == [
        "      Reach [8, 5, 0] - done",
        "         Approach - done",
        "            hurt - done",
        "               Get Away [2, 5, 0] - done",
        "                  Step Aside - done",
    ]


@pytest.mark.states("003: A real server: A bot that is hurt is interrupted by a trigger of the agent, stands still ...")
def test_being_hurt_at_work_interrupts_and_the_block_is_dug_after_all(play):
    """``MineBlocks`` begins again: it stops at once, gets out of the way, and digs anew."""
    results, meadow, tree = play([Collect("oak_log", 1)], TREE, {30: [lambda meadow: meadow.server_hurt(3)]})
    assert results == [1]
    assert meadow.log[2:7] == [
        (22, "dig", (8, 5, 0)),
        (31, "canceled"),
        (31, "walk", (9, 5, 0)),
        (47, "done"),
        (48, "dig", (8, 5, 0)),
    ]
    assert "      hurt - done" in tree.splitlines()


def test_a_strategy_that_was_paused_walks_on_although_something_else_used_the_legs(play):
    class Place(Dependency[None], activity="test:place"):
        x: int

    class Stroll(Strategy):
        provides = Place
        cost = 5.0
        interruption = Interruptible.PAUSE

        async def run(self, ctx, wanted):
            await ctx.entity[Gatherer].go_to((wanted.x, 5, 0))

    results, meadow, _ = play(
        [Place(7)],
        {},
        {0: [lambda meadow: meadow.agent.gameplay.add_strategy(Stroll)], 10: [lambda meadow: meadow.server_hurt(3)]},
    )
    assert results == [None]
    assert meadow.log == [
        (1, "walk", (7, 5, 0)),
        (11, "walk", (6, 5, 0)),
        (27, "done"),
        (28, "replaced"),
        (29, "walk", (7, 5, 0)),
        (33, "done"),
    ]
    assert meadow.place == (7, 5, 0)


def test_a_side_that_is_not_free_is_left_for_another(play):
    blocks = {**TREE, (6, 5, 0): "stone", (2, 5, 4): "stone"}
    _, meadow, tree = play([Collect("oak_log", 1)], blocks, {10: [lambda meadow: meadow.server_hurt(3)]})
    assert meadow.log[1:6] == [
        (11, "walk", (6, 5, 0)),
        (11, "no_path"),
        (11, "walk", (2, 5, 4)),
        (11, "no_path"),
        (11, "walk", (-2, 5, 0)),
    ]
    assert "Step Aside - done" in tree


@pytest.mark.states(
    "003: A real server: What takes a tool that nobody can make on that server fails and says so; with the tool it is "
    "done",
    source="Task Failure",
)
def test_what_takes_a_tool_fails_and_says_so_until_there_is_one(play):
    """The failure is not remembered: what it carries is a topic, and the bot tells when that changes."""

    def give(meadow):
        meadow.items["stone_pickaxe"] = 1
        meadow.tell("inventory", items=dict(meadow.items))

    results, meadow, _ = play([Collect("coal"), give, Collect("coal")], {(3, 5, 0): "coal_ore"})
    failure, _, count = results
    assert isinstance(failure, DependencyFailedError)
    assert "Mine Blocks cannot" in str(failure)
    assert count == 1
    assert meadow.items == {"stone_pickaxe": 1, "coal": 1}


@pytest.mark.states(
    "003: A real server: A bot that does nothing reacts to being hurt, too",
    source="2.5.2. Interrupting Tasks",
)
def test_hurt_while_nothing_is_asked_for_it_gets_out_of_the_way_as_well():
    runtime = art.Runtime(host="plain")
    bot = Bot(runtime)
    meadow = Meadow(runtime, bot, {})
    runtime.add(player(bot))
    runtime.step()
    meadow.server_hurt(2)
    for _ in range(20):
        runtime.step()
    runtime.close()
    assert meadow.log == [(2, "walk", (4, 5, 0)), (18, "done")]


@pytest.mark.states("003: Goals: It lies above the low-level work: what to do with each part of the body stays in ...")
@pytest.mark.states("003: Goals: What somebody wrote once is used by every other bot")
@pytest.mark.states("003: A real server: The higher-level interface is added to a bot of somebody else: the ...")
def test_the_strategies_are_the_miners_own(play):
    """Not a copy, not a subclass."""
    agent = player(Bot(art.Runtime(host="plain")))
    assert [one.spec.cls for one in agent.gameplay.catalog.providers] == [LookAround, Approach, MineBlocks, StepAside]
    assert {cls.__module__ for cls in (LookAround, Approach, MineBlocks)} == {
        "agentrt_examples.miner.strategies.gathering"
    }
