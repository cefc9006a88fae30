"""What a sheep can do."""

from __future__ import annotations

import agentrt as art

from mygame.meadow import Body


class Graze(art.Action):
    """The grass is always greener one step farther away."""

    does = art.TOP
    utility = 0.3

    async def run(self, ctx: art.Context[Body], args: art.ActionArgs) -> None:
        await ctx.sleep(ctx.random.uniform(1, 4))  # game seconds; the random numbers are the agent's own
        ctx.entity.go(ctx.entity.steps + 1)


class RunHome(art.Action):
    """Thunder! This is thought about all the time, and as soon as it is ready it is better than grazing."""

    does = art.TOP
    utility = 0.9

    async def think(self, ctx: art.Context[Body], args: art.ActionArgs) -> None:
        await ctx.entity.meadow.thunder.wait()
        ctx.set_think_output()

    async def run(self, ctx: art.Context[Body], args: art.ActionArgs) -> None:
        while ctx.entity.steps > 0:
            await ctx.sleep(0.2)
            ctx.entity.go(ctx.entity.steps - 1)
