"""The player: an agent whose body is the bot, with the miner's strategies for finding, going and mining.

``LookAround``, ``Approach`` and ``MineBlocks`` are the classes of ``agentrt_examples.miner``, unchanged. One thing is
added: a body that is hurt gets out of the way first. That is a trigger of the agent, declared once; no strategy looks
for it, and whatever is under way goes on afterwards.

The strategies that craft, smelt and so on are not loaded, since the server cannot do it: what needs a tool that the bot
does not carry fails, and says so.

Source: prismarine-gameplay: "Interrupting Tasks".
"""

from __future__ import annotations

from agentrt import MOVE, Agent
from agentrt.strategy import Dependency, Strategy, StrategyContext, Trigger
from agentrt_examples.minecraft.bot import Bot
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.gatherer import Gatherer
from agentrt_examples.miner.mind import tell
from agentrt_examples.miner.places import SIDES, Place
from agentrt_examples.miner.strategies.gathering import Approach, LookAround, MineBlocks

__all__ = ["GetAway", "StepAside", "player"]

_ASIDE = 4  # blocks


class GetAway(Dependency[None], activity="minecraft:get_away"):
    """Be somewhere else than where something hurts."""

    place: Place


class StepAside(Strategy):
    """Walk a few blocks, to whichever side is free."""

    provides = GetAway
    flags = (MOVE,)
    cost = 2.0

    async def run(self, ctx: StrategyContext, wanted: GetAway) -> None:
        """Try one side after the other."""
        x, y, z = wanted.place
        for side_x, side_z in SIDES:
            try:
                await ctx.entity[Gatherer].go_to((x + _ASIDE * side_x, y, z + _ASIDE * side_z))
            except CannotAct:
                continue
            return
        ctx.fail("there is no way to any side")


def player(bot: Bot) -> Agent:
    """Make the agent of a bot.

    Args:
        bot: its body.

    Returns:
        The agent, in no runtime yet.
    """
    agent = Agent(bot)
    gameplay = agent.gameplay
    gameplay.add_strategy(LookAround, Approach, MineBlocks, StepAside)
    gameplay.add_trigger(Trigger(name="hurt", on="hurt", solve=lambda _points: GetAway(bot.place)))
    tell(agent, bot)
    return agent
