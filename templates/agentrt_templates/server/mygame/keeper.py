"""What the innkeeper can do."""

from __future__ import annotations

import agentrt as art

from mygame.courier import Courier
from mygame.inn import Somebody


class Polish(art.Action):
    """Polish glasses."""

    does = art.TOP
    utility = 0.1

    async def run(self, ctx: art.Context[Somebody], args: art.ActionArgs) -> None:
        await ctx.sleep(600)


class TellNews(art.Action):
    """Ask the courier for news, and tell them.

    The call waits outside of the game, and nothing in the game waits for it but this thought. If it fails, the thought
    is had again after a while, longer each time: the courier is not asked in every tick.
    """

    does = art.TOP
    utility = 0.3

    news: str

    async def think(self, ctx: art.Context[Somebody], args: art.ActionArgs) -> None:
        await ctx.sleep(5)
        wait = 1.0
        while True:
            try:
                self.news = await ctx.call(ctx.entity[Courier].fetch)
                break
            except ConnectionError as error:
                ctx.set_debug_progress(f"{error}; asks again in {wait:g} s")
                await ctx.sleep(wait)
                wait = min(2 * wait, 60.0)
        ctx.set_think_output()

    async def run(self, ctx: art.Context[Somebody], args: art.ActionArgs) -> None:
        ctx.entity.inn.say(f"the innkeeper: {self.news}")
        await ctx.sleep(1)


class ServeGuest(art.Action):
    """Whoever orders something gets it. That comes before everything else."""

    does = art.TOP
    utility = 0.8

    order: tuple[str, str]

    async def think(self, ctx: art.Context[Somebody], args: art.ActionArgs) -> None:
        self.order = await ctx.entity.inn.orders.get()
        ctx.set_think_output()

    async def run(self, ctx: art.Context[Somebody], args: art.ActionArgs) -> None:
        name, what = self.order
        await ctx.sleep(2)
        ctx.entity.inn.say(f"the innkeeper brings {name} {what}")
