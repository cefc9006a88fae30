"""The mind of the player. (Being written.)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt import TOP, Action, ActionArgs, Agent, Context

if TYPE_CHECKING:
    from examples.crafter.player import Player

__all__ = ["make_mind"]


class Stroll(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        await ctx.entity.act(ctx.random.choice(("move_left", "move_right", "move_up", "move_down", "do", "sleep")))


def make_mind(player: Player) -> Agent:
    """Make the agent of a player.

    Args:
        player: its body.
    """
    return Agent(player, name="player", actions=[Stroll])
