"""Searching: how to come to know where a block is, when none is known.

What grows on the surface is looked for by walking to where nobody has looked yet; what lies in the rock by going down
to the height where it is likeliest and driving tunnels through what is unknown there. Both stop as soon as one is seen,
wherever that is. In another dimension neither helps: one has to go back first, and the price says so.

Source: prismarine-gameplay: "Task Tree" ("Get Natural Location", if none are nearby).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentrt import MOVE
from agentrt.strategy import Branch, Interruptible, Strategy
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.rules import BLOCK_NUMBERS, BLOCKS, NATURAL
from agentrt_examples.miner.strategies.acting import begins_again
from agentrt_examples.miner.strategies.needs import Be, Collect, Find, Tool, uses_of
from agentrt_examples.miner.strategies.reckoning import digging, searching, shortage

if TYPE_CHECKING:
    from agentrt.strategy import Ask, StrategyContext
    from agentrt_examples.miner.legs import Miner
    from agentrt_examples.miner.places import Place

__all__ = ["Explore", "Prospect"]

_HOME = "overworld"
# How a search may go, how likely that is, and how much it takes then of what it takes on the average.
_LUCK = (("soon", 0.7, 0.5), ("late", 0.3, 2.2))
_PARCELS = 24
_TUNNELS = 400
_SHALLOW = 6  # below where one stands, for what lies anywhere
_ANYWHERE = 99  # stands for any height
_LEVELS = 4  # blocks higher and lower, when there are tunnels everywhere
_SPARE = 15  # uses of pickaxes, besides those for a way up
_UP = 2.0  # seconds for a block of a way up through rock
_STONE = BLOCKS[BLOCK_NUMBERS["stone"]]


class Explore(Strategy):
    """Walk over the ground to where it has not been yet, until one is in sight."""

    provides = Find
    interruption = Interruptible.PAUSE
    flags = (MOVE,)
    reads = ("memory", "place")
    patience = 900.0

    def foresee(self, ask: Ask, wanted: Find) -> Iterable[Branch]:
        natural = NATURAL.get(wanted.kind)
        if wanted.kind == "portal":
            return (Branch(cost=60.0),)
        if natural is None or natural.height:
            ask.cannot(f"{wanted.kind} is not found on the surface")
        miner: Miner = ask.entity
        return (Branch(cost=natural.seconds + miner.depth * _UP, needs=(Be(_HOME),)),)

    @begins_again
    async def run(self, ctx: StrategyContext, wanted: Find) -> Place:
        miner: Miner = ctx.entity
        if wanted.kind in NATURAL:
            await ctx.solve(Be(_HOME))

        def is_known() -> bool:
            return bool(miner.known(wanted.kind))

        for _ in range(_PARCELS):
            column = miner.chart.unexplored(miner.place)
            if is_known() or column is None:
                break
            try:
                await miner.travel(*column, is_known)
            except CannotAct as fault:
                if fault.reason == "died":
                    raise
            miner.chart.explore(*column)
        known = miner.known(wanted.kind)
        if not known:
            ctx.fail(f"there is no {wanted.kind} as far as it went")
        return known[0]


class Prospect(Strategy):
    """Go down to where it is likely, and drive tunnels through unknown rock until one is seen."""

    provides = Find
    interruption = Interruptible.PAUSE
    flags = (MOVE,)
    reads = ("inventory", "memory", "place")
    patience = 7200.0

    def foresee(self, ask: Ask, wanted: Find) -> Iterable[Branch]:
        natural = NATURAL.get(wanted.kind)
        if natural is None or not natural.height:
            ask.cannot(f"{wanted.kind} does not lie in the rock")
        miner: Miner = ask.entity
        seconds, uses = searching(ask, natural)
        depth = max(0, miner.place[1] - natural.height)
        way = depth * (0.5 + 2 * digging(ask, "stone"))
        if natural.per <= _SHALLOW:
            return (Branch(cost=seconds + way, needs=(Be(_HOME),), uses={"pickaxe": uses}),)
        have, branches = uses_of(ask, "pickaxe", 1), []
        for label, probability, share in _LUCK:
            used = share * uses + 2 * depth
            cost = share * seconds + way + shortage(ask, used - have)
            needs = (Be(_HOME), Tool("pickaxe"))
            branches.append(Branch(probability, cost, needs, uses={"pickaxe": used}, label=label))
        return branches

    @begins_again
    async def run(self, ctx: StrategyContext, wanted: Find) -> Place:
        miner: Miner = ctx.entity
        natural = NATURAL[wanted.kind]
        await ctx.solve(Be(_HOME))

        def is_known() -> bool:
            return bool(miner.known(wanted.kind))

        for _ in range(_TUNNELS):
            if is_known():
                break
            if self._is_bare(miner, natural.per):
                await ctx.solve(Tool("pickaxe", 1, self._enough(miner)))
            if natural.per > _SHALLOW:
                await ctx.solve_if_worth(Collect("crafting_table"), (wanted,))
            goal = self._goal(ctx, miner, natural.height)
            try:
                await miner.go(goal, lambda: is_known() or self._is_bare(miner, natural.per))
            except CannotAct as fault:
                if fault.reason == "died":
                    raise
                miner.chart.explore(goal[0], goal[2], f"tunnels at {goal[1]}")
                await ctx.next_tick()
            if miner.place == goal:
                miner.chart.explore(goal[0], goal[2], f"tunnels at {goal[1]}")
        known = miner.known(wanted.kind)
        if not known:
            ctx.fail(f"no {wanted.kind} was found in {_TUNNELS} tunnels")
        return known[0]

    @staticmethod
    def _goal(ctx: StrategyContext, miner: Miner, height: int) -> Place:
        """Where the next tunnel leads: to the nearest parcel without one at that height, or else at another."""
        x, y, z = miner.place
        if height == _ANYWHERE:
            return x + _SHALLOW, max(4, y - _SHALLOW), z
        for level in (height, height - _LEVELS, height + _LEVELS):
            column = miner.chart.unexplored(miner.place, f"tunnels at {level}")
            if column is not None:
                break
        else:
            ctx.fail("there are tunnels everywhere")
        x, z = miner.within(*column)
        return x, level, z

    @staticmethod
    def _is_bare(miner: Miner, per: int) -> bool:
        """Whether so little is left of its pickaxes that it should see to new ones while it still can."""
        return per > _SHALLOW and miner.inventory.uses_left("pickaxe") < Prospect._enough(miner) - _SPARE

    @staticmethod
    def _enough(miner: Miner) -> int:
        return miner.reserve + 2 * _SPARE + miner.depth
