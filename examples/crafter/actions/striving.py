"""Striving: the open achievements, each a task; the cheaper one is to have, the more it is worth now.

What it takes is what its strategies say. So what lies by the way is done first, and what was far away comes to its turn
when the player happens to be near. An achievement that failed is left alone for a while.
"""

from __future__ import annotations

from agentrt import TOP, Action, ActionArgs, Agent, Context
from agentrt.errors import DependencyFailedError
from examples.crafter.player import Player
from examples.crafter.strategies.wants import Achieved

__all__ = ["AMBITIONS", "Idle", "Strive", "observe_ambitions"]

AMBITIONS = "crafter:task_groups:solo:ambitions"
_HALF = 40.0  # steps: what takes so long is worth half
_BACK_OFF = 60  # steps


class Strive(Action):
    """Achieve something, by whatever strategies are the cheapest."""

    does = "crafter:strive"
    utility = (0.0, 1.0)

    class Args(ActionArgs):
        """What.

        Attributes:
            name: of the achievement.
        """

        name: str

    async def think(self, ctx: Context, args: Args) -> None:
        player: Player = ctx.entity
        while True:
            wait = player.put_off.get(args.name, 0) - player.step
            cost = float("inf") if wait > 0 else ctx.agent.gameplay.cost(Achieved(args.name))
            if cost < float("inf"):
                ctx.set_utility(_HALF / (_HALF + cost))
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await player.signal("ponders").wait()

    async def run(self, ctx: Context, args: Args) -> None:
        player: Player = ctx.entity
        ctx.set_status_text_key(f"wants to {args.name.replace('_', ' ')}")
        try:
            await ctx.agent.gameplay.solve(Achieved(args.name))
        except DependencyFailedError as error:
            ctx.get_log().debug("put_off", achievement=args.name, story=error.story)
            player.put_off[args.name] = player.step + _BACK_OFF * (1 + player.failures.get(args.name, 0))
            player.failures[args.name] = player.failures.get(args.name, 0) + 1
            await player.act("noop")


class Idle(Action):
    """Stand about, for want of anything better."""

    does = TOP
    utility = 0.01
    status_text_key = "stands about"

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        await ctx.entity.act("noop")


async def observe_ambitions(agent: Agent) -> None:
    """Have a task for each achievement that is open.

    Args:
        agent: who has them.
    """
    player: Player = agent.entity
    group = agent.get_task_group(AMBITIONS)
    tasks = {name: group.create_task("crafter:strive", name=name).start() for name in player.diary.open}
    while tasks:
        await player.signal("achieved").wait()
        for name in [name for name in tasks if name in player.diary.achieved]:
            tasks.pop(name).destroy()
