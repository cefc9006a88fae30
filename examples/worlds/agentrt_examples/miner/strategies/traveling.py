"""Traveling: from one dimension to the other, through a portal.

Source: prismarine-gameplay: "1. Goals" (in the Nether, and asked for what is in the Overworld).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentrt import MOVE
from agentrt.strategy import Branch, Strategy
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.strategies.acting import fails
from agentrt_examples.miner.strategies.needs import Be, Find
from agentrt_examples.miner.strategies.reckoning import walking
from agentrt_examples.miner.times import PORTAL_TICKS, RATE

if TYPE_CHECKING:
    from agentrt.strategy import Ask, StrategyContext
    from agentrt_examples.miner.legs import Miner

__all__ = ["PassPortal"]

_TRIES = 4


class PassPortal(Strategy):
    """Go through a portal that leads there."""

    provides = Be
    flags = (MOVE,)
    reads = ("memory", "place")
    patience = 600.0

    def foresee(self, ask: Ask, wanted: Be) -> Iterable[Branch]:
        known = ask.entity.known("portal")
        if known:
            return (Branch(cost=walking(ask, known[0]) + PORTAL_TICKS / RATE),)
        return (Branch(cost=30.0, needs=(Find("portal"),)),)

    @fails
    async def run(self, ctx: StrategyContext, wanted: Be) -> None:
        miner: Miner = ctx.entity
        for _ in range(_TRIES):
            portal = await ctx.solve(Find("portal"))
            try:
                await miner.go(portal)
                await miner.enter(portal)
            except CannotAct as fault:
                if fault.reason == "died":
                    raise
                miner.shun(portal, 30.0)
            if miner.where == wanted.where:
                return
        ctx.fail("no portal led there")
