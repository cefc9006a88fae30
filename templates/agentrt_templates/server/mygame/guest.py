"""What a guest can do: what its player types."""

from __future__ import annotations

import agentrt as art

from mygame.inn import Somebody


class Linger(art.Action):
    """Sit there."""

    does = art.TOP
    utility = 0.1

    async def run(self, ctx: art.Context[Somebody], args: art.ActionArgs) -> None:
        await ctx.sleep(600)


class Obey(art.Action):
    """Whenever something was typed, that is better than to sit there."""

    does = art.TOP
    utility = 0.5

    text: str

    async def think(self, ctx: art.Context[Somebody], args: art.ActionArgs) -> None:
        self.text = await ctx.entity.typed.get()
        ctx.set_think_output()

    async def run(self, ctx: art.Context[Somebody], args: art.ActionArgs) -> None:
        inn, name = ctx.entity.inn, ctx.entity.name
        word, _, rest = self.text.partition(" ")
        if word == "order" and rest:
            inn.say(f"{name} orders {rest}")
            inn.orders.put_nowait((name, rest))
        elif word == "say" and rest:
            inn.say(f"{name}: {rest}")
        else:
            inn.say(f"{name} tries to {self.text}")
        await ctx.sleep(0.5)  # nobody can do everything at once
