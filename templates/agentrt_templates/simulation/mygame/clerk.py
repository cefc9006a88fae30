"""What a clerk can do."""

from __future__ import annotations

import agentrt as art

from mygame.shop import Somebody


class TidyUp(art.Action):
    """There is always something to tidy up."""

    does = art.TOP
    utility = 0.1

    async def run(self, ctx: art.Context[Somebody], args: art.ActionArgs) -> None:
        await ctx.sleep(600)


class ServeNext(art.Action):
    """Serve whoever is first in line."""

    does = art.TOP
    utility = 0.8

    async def think(self, ctx: art.Context[Somebody], args: art.ActionArgs) -> None:
        shop = ctx.entity.shop
        await shop.changed.wait_for(lambda: shop.line)
        ctx.set_think_output()

    async def run(self, ctx: art.Context[Somebody], args: art.ActionArgs) -> None:
        shop = ctx.entity.shop
        if shop.line:  # another clerk may have been quicker
            customer = shop.line.pop(0)
            customer.turn.set()
            await ctx.sleep(ctx.random.uniform(10, 30))
