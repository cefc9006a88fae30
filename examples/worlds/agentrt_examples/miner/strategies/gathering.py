"""Gathering: going to blocks, mining them, and keeping what drops. Written on ``Gatherer`` alone.

So these strategies drive the simulated miner and a bot on a real server alike; they know neither how a body finds its
way nor how it looks around.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import TYPE_CHECKING

from agentrt import MOVE
from agentrt.errors import DependencyFailedError
from agentrt.strategy import Branch, Interruptible, Strategy
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.gatherer import Gatherer
from agentrt_examples.miner.rules import NATURAL, BlockKind
from agentrt_examples.miner.strategies.acting import begins_again, fails
from agentrt_examples.miner.strategies.needs import Collect, Find, Reach, Tool, have, uses_of
from agentrt_examples.miner.strategies.reckoning import digging, per_block, searching, shortage, sources, walking

if TYPE_CHECKING:
    from agentrt.strategy import Ask, StrategyContext
    from agentrt_examples.miner.places import Place

__all__ = ["Approach", "LookAround", "MineBlocks"]

_EXPEDITION = 40  # blocks dug for a vein: from there on one is away for long
_LONG = 100  # blocks
_CERTAIN = 0.8  # how certain it is that supplies last
_BETWEEN = 1.5  # seconds between two blocks of one vein
_SHUNNED = 600.0
_WEAR = 90  # how often a pickaxe of stone can be used


class LookAround(Strategy):
    """Look around, if it has not: perhaps there is one in sight. That costs next to nothing, so it is tried first."""

    provides = Find
    reads = ("place",)

    def estimate(self, ask: Ask, wanted: Find) -> float:
        if ask.entity[Gatherer].has_looked:
            ask.cannot("there is none in sight")
        return 0.5

    async def run(self, ctx: StrategyContext, wanted: Find) -> Place:
        body: Gatherer = ctx.entity[Gatherer]
        await body.look_around()
        known = body.known(wanted.kind)
        if not known:
            ctx.fail("there is none in sight")
        return known[0]


class Approach(Strategy):
    """Go where hands reach a block."""

    provides = Reach
    interruption = Interruptible.PAUSE
    flags = (MOVE,)
    reads = ("place",)
    patience = 300.0

    def estimate(self, ask: Ask, wanted: Reach) -> float:
        return walking(ask, wanted.place)

    @fails
    async def run(self, ctx: StrategyContext, wanted: Reach) -> None:
        await ctx.entity[Gatherer].approach(wanted.place)


class MineBlocks(Strategy):
    """Mine blocks that drop it: the kind of block that takes the least, those that are known first."""

    provides = Collect
    flags = (MOVE,)
    reads = ("inventory", "memory", "place")
    patience = 600.0

    def foresee(self, ask: Ask, wanted: Collect) -> Iterable[Branch]:
        kinds = sources(wanted.item)
        if not kinds:
            ask.cannot("no block drops it")
        _, _, branch = self._best(ask, wanted, kinds)
        return (branch,)

    def _best(self, ask: Ask, wanted: Collect, kinds: list[BlockKind]) -> tuple[float, int, Branch]:
        plans = [self._plan(ask, wanted, kind) for kind in kinds]
        return min(((ask.expected((plan,)), at, plan) for at, plan in enumerate(plans)), key=lambda entry: entry[:2])

    def _plan(self, ask: Ask, wanted: Collect, kind: BlockKind) -> Branch:
        blocks = max(1, ceil((wanted.count - have(ask, wanted.item)) / per_block(kind, wanted.item)))
        known = ask.entity[Gatherer].known(kind.name, min(blocks, 6))
        natural = NATURAL.get(kind.name)
        veins = ceil(max(0, blocks - len(known)) / natural.vein) if natural is not None else 0
        uses = float(blocks)
        cost = blocks * (digging(ask, kind.name) + _BETWEEN)
        if known:
            cost += walking(ask, known[0])
        if veins and natural is not None:
            seconds, digs = searching(ask, natural)
            cost += (veins if known else veins - 1) * seconds
            uses += veins * digs
            if digs >= _EXPEDITION:
                cost += shortage(ask, uses - uses_of(ask, "pickaxe", 1))
        needs = [Tool(kind.tool, kind.tier)] if kind.tier else []
        finding = [] if known else [Find(kind.name)]
        used = {kind.tool: uses} if kind.tool else {}
        return Branch(cost=cost, needs=(*needs, *finding), uses=used, label=kind.name)

    @begins_again
    async def run(self, ctx: StrategyContext, wanted: Collect) -> int:
        body: Gatherer = ctx.entity[Gatherer]
        kinds = sources(wanted.item)
        is_new = True
        body.want(wanted.item, wanted.count)
        while body.stock.get(wanted.item, 0) < wanted.count:
            _, at, branch = self._best(ctx.ask, wanted, kinds)
            kind = kinds[at]
            if kind.tier:
                await ctx.solve(Tool(kind.tool, kind.tier))
            if not body.known(kind.name) or is_new:
                await self._prepare(ctx, wanted, kind, branch)
                is_new = False
            await self._mine(ctx, body, kind)
        return body.stock[wanted.item]

    async def _prepare(self, ctx: StrategyContext, wanted: Collect, kind: BlockKind, branch: Branch) -> None:
        """Take along what makes it faster, if that pays."""
        for tool, uses in branch.uses.items():
            if uses < _LONG:
                await ctx.solve_if_worth(Tool(tool, kind.tier or 1, ceil(uses)), (wanted,))
                continue
            # With look-ahead it is known what the rest takes if one is not lucky.
            uses = max(uses, ctx.supplies(confidence=_CERTAIN).get(tool, 0.0))
            for option in (Collect("stick", 2 * ceil(uses / _WEAR)), Collect("crafting_table"), Tool(tool, 2, _WEAR)):
                await ctx.solve_if_worth(option, (wanted,))

    async def _mine(self, ctx: StrategyContext, body: Gatherer, kind: BlockKind) -> None:
        place = await ctx.solve(Find(kind.name))
        try:
            if not body.reaches(place):
                await ctx.solve(Reach(place))
            await body.mine(place)
        except DependencyFailedError:
            body.shun(place, _SHUNNED)
        except CannotAct as fault:
            if fault.reason == "died":
                raise
            body.shun(place, _SHUNNED)
        await body.pick_up()
