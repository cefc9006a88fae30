"""What a customer can do."""

from __future__ import annotations

import agentrt as art

from mygame.shop import Somebody


class StandInLine(art.Action):
    """Stand in line until it is served, or its patience is over; then go."""

    does = art.TOP
    utility = 0.5

    async def run(self, ctx: art.Context[Somebody], args: art.ActionArgs) -> None:
        me, shop = ctx.entity, ctx.entity.shop
        came = ctx.clock.now
        shop.line.append(me)
        shop.changed.notify_all()
        with art.move_on_after(ctx.random.uniform(20, 60)):
            await me.turn.wait()
        if me.turn.is_set:
            shop.measures.waited.append(ctx.clock.now - came)
        else:
            shop.line.remove(me)
            shop.measures.lost += 1
        shop.runtime.remove(ctx.agent, "left the shop")
        await art.park()
