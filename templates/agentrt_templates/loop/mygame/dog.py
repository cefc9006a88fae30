"""What the dog can do."""

from __future__ import annotations

import agentrt as art

from mygame.meadow import Body


class Nap(art.Action):
    """What there is to do if there is nothing to do."""

    does = art.TOP
    utility = 0.1

    async def run(self, ctx: art.Context[Body], args: art.ActionArgs) -> None:
        await ctx.sleep(600)


class Herd(art.Action):
    """Bring back the sheep that strayed farthest."""

    does = art.TOP
    utility = 0.8

    strayed: Body

    async def think(self, ctx: art.Context[Body], args: art.ActionArgs) -> None:
        meadow = ctx.entity.meadow
        while (strayed := meadow.strayed()) is None:
            await meadow.moved.wait()
        self.strayed = strayed
        ctx.set_think_output()

    async def run(self, ctx: art.Context[Body], args: art.ActionArgs) -> None:
        await ctx.sleep(0.2 * self.strayed.steps)
        ctx.set_debug_progress(f"{self.strayed.name} was {self.strayed.steps} steps away")
        self.strayed.go(0)
