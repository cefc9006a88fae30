"""Looking for a fight: what has to be defeated once, each kind in its own way.

Who is attacked strikes back without any of this: that is a reflex (``reflexes``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt import MOVE
from agentrt.strategy import Strategy
from examples.crafter import legs, sites
from examples.crafter.rules import CREATURES
from examples.crafter.strategies.wants import Defeated, Found, fails

if TYPE_CHECKING:
    from agentrt.strategy import Ask, StrategyContext
    from examples.crafter.player import Player
    from examples.crafter.reach import Cell

__all__ = ["Defeat"]

_HAUNTS = {"zombie": "grass", "skeleton": "path"}
_SEARCH = {"zombie": 120.0, "skeleton": 160.0}
_STRONG = 6  # health from which on it looks for a fight
_CHASE = 25  # steps
_BLOWS = 6
_ROAM = 24  # steps


class Defeat(Strategy):
    """Find one, go after it, and strike it until it is dead."""

    provides = Defeated
    flags = (MOVE,)
    reads = ("map", "place", "diary")
    patience = 4000.0

    def estimate(self, ask: Ask, wanted: Defeated) -> float | None:
        player: Player = ask.entity
        if player.inventory["health"] < _STRONG:
            ask.cannot("it is too weak")
        if player.is_dark and wanted.kind == "zombie":
            ask.cannot("there are too many of them in the dark")
        if player.closest(CREATURES[wanted.kind]) is not None:
            return 10.0
        unarmed = 0.0 if player.has("stone_sword") or player.has("iron_sword") else 60.0
        return _SEARCH[wanted.kind] + unarmed

    @fails
    async def run(self, ctx: StrategyContext, wanted: Defeated) -> None:
        player: Player = ctx.entity
        kind = wanted.kind
        number = CREATURES[kind]
        while not ctx.ask.is_met(wanted):
            began = player.step
            if player.inventory["health"] < _STRONG - 1:
                ctx.fail("it is too weak")
            if player.closest(number) is None:
                await self._search(ctx, player, kind)
                await legs.lose_no_time(player, began)
                continue
            try:
                cell = await legs.walk_up_to(player, lambda: player.closest(number), _CHASE)
            except legs.CannotAct:
                await player.act("noop")
            else:
                await legs.strike(player, cell, _BLOWS)
                await legs.lose_no_time(player, began)

    async def _search(self, ctx: StrategyContext, player: Player, kind: str) -> None:
        """Go to where they live: where the map ends there, or else anywhere there."""
        haunt = _HAUNTS[kind]
        if player.nearest(haunt) is None:
            await ctx.solve(Found(haunt))
        edge = sites.frontier(player.atlas, player.reach, (haunt,))
        goal = edge[0] if edge is not None else self._somewhere(ctx, player, haunt)
        await legs.go(
            player,
            goal,
            lambda: player.closest(CREATURES[kind]) is not None or sites.is_seen_around(player.atlas, goal),
        )

    @staticmethod
    def _somewhere(ctx: StrategyContext, player: Player, haunt: str) -> Cell:
        cells = player.atlas.cells(haunt, player.reach, _ROAM)
        if not cells:
            ctx.fail("there is nowhere to look for it")
        return ctx.random.choice(cells)
