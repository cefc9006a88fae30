"""The miner's strategies drive a bot on the real server: walk, dig, collect, be interrupted, resume."""

from __future__ import annotations

import asyncio

import pytest

import agentrt as art
from agentrt.errors import DependencyFailedError
from agentrt_examples.minecraft.bot import connected
from agentrt_examples.minecraft.player import player
from agentrt_examples.miner.strategies.needs import Collect

pytestmark = pytest.mark.slow


def play(command, scenario):
    """Run a scenario, a coroutine of the runtime, with a bot and its agent on the real server."""

    async def main():
        runtime = art.Runtime()
        async with connected(runtime, command) as bot:
            agent = runtime.add(player(bot))
            results = []

            async def whole():
                try:
                    results.append(await scenario(bot, agent))
                except Exception as error:
                    results.append(error)
                runtime.stop()

            runtime.spawn(whole)
            await asyncio.wait_for(runtime.run(), 45)
        (result,) = results
        if isinstance(result, Exception):
            raise result
        return result

    return asyncio.run(main())


async def give(bot, kind):
    await bot.server("give", kind=kind)
    while kind not in bot.stock:  # which may be told before or after the answer
        await art.next_tick()


async def hurt_at(bot, signal, times):
    for _ in range(times):
        await bot.signal(signal).wait()
    await bot.server("hurt", amount=3)


@pytest.mark.states("003: A real server: The same strategies for finding, going and mining drive the simulated ...")
@pytest.mark.states("003: A real server: What takes a tool that nobody can make on that server fails and says so ...")
def test_collect_and_be_hurt_on_the_way_and_at_work(real):
    """It is hurt while it walks, and again as soon as it has the first log: it gets out of the way and goes on."""

    async def scenario(bot, agent):
        await give(bot, "iron_axe")
        agent.runtime.spawn(hurt_at, bot, "moved", 3)
        agent.runtime.spawn(hurt_at, bot, "inventory", 1)
        count = await agent.gameplay.solve(Collect("oak_log", 3))
        tree = agent.gameplay.finished[-1].render()
        return count, bot.stock, bot.health, tree, await ores(bot, agent)

    count, stock, health, tree, coal = play(real, scenario)
    assert count >= 3  # what dropped may be collected late, when it has begun with one more
    assert (stock, health) == ({"iron_axe": 1, "oak_log": count}, 14)
    assert tree.startswith("Collect [oak_log, 3] - done\n")
    assert tree.count("Step Aside - done") == 2
    assert "Approach - done" in tree
    assert coal == 1


async def ores(bot, agent):
    """What takes a tool fails until there is one."""
    with pytest.raises(DependencyFailedError, match="Mine Blocks cannot"):
        await agent.gameplay.solve(Collect("coal"))
    await give(bot, "iron_pickaxe")
    return await agent.gameplay.solve(Collect("coal"))
