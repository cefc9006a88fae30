"""Reflexes: what does not wait for thought. A goal selector of two goals, above the plan.

Striking back and warding off an arrow need no utility and no plan: they are a short list with priorities, looked at in
each step while an enemy is at hand; else their control flag is disabled, and looking costs nothing. The selector has a
higher precedence than the plan, so when one of its goals needs the body, whatever moves it gives way; a strategy begins
again afterwards, from where the player stands then.
"""

from __future__ import annotations

from agentrt import MOVE
from agentrt.goals import Goal, GoalSelector
from examples.crafter import legs
from examples.crafter.player import Player
from examples.crafter.reach import Cell, apart
from examples.crafter.rules import ARROW, SIDES, SKELETON, TURNS, ZOMBIE

__all__ = ["StrikeBack", "WardOffArrow", "make_reflexes"]

_FIGHTERS = (ZOMBIE, SKELETON)
_RANGE = 4  # cells
_BLOWS = 3


class StrikeBack(Goal):
    """Strike whoever stands beside one and means no good."""

    name = "strike back"
    flags = frozenset({MOVE})

    def _enemy(self) -> Cell | None:
        player: Player = self.entity
        creatures = player.atlas.creatures
        if not creatures or player.is_asleep:
            return None
        x, y = player.place
        ahead = player.ahead
        beside = [(x + dx, y + dy) for dx, dy in SIDES]
        enemies = [cell for cell in beside if creatures.get(cell) in _FIGHTERS]
        return min(enemies, key=lambda cell: cell != ahead) if enemies else None

    def can_use(self) -> bool:
        return self._enemy() is not None

    async def run(self) -> None:
        player: Player = self.entity
        while (enemy := self._enemy()) is not None:
            await legs.face(player, enemy)
            if player.ahead == enemy:
                await legs.strike(player, enemy, _BLOWS)


class WardOffArrow(Goal):
    """When an arrow comes, put a stone in its way, or else step aside, if there is room."""

    name = "ward off an arrow"
    flags = frozenset({MOVE})

    def _action(self) -> str | None:
        player: Player = self.entity
        atlas = player.atlas
        if not atlas.creatures or player.is_asleep:
            return None
        arrow = atlas.under_fire(player.place, _RANGE)
        if arrow is None:
            return None
        x, y = player.place
        apart = (arrow[0] - x, arrow[1] - y)
        if atlas.can_walk(player.ahead) and _toward(apart) == player.facing and player.has("stone"):
            return "place_stone"
        for dx, dy in SIDES:
            side = (x + dx, y + dy)
            if dx * apart[0] + dy * apart[1] == 0 and atlas.can_walk(side) and not atlas.under_fire(side, 2):
                return TURNS[dx, dy]
        return None

    def can_use(self) -> bool:
        return self._action() is not None

    async def run(self) -> None:
        player: Player = self.entity
        action = self._action()
        if action is not None:
            await player.act(action)


def _toward(apart: tuple[int, int]) -> tuple[int, int]:
    return ((apart[0] > 0) - (apart[0] < 0), (apart[1] > 0) - (apart[1] < 0))


def make_reflexes(player: Player) -> GoalSelector:
    """Make the reflexes of a player. As long as no enemy is at hand they rest: their control flag is disabled.

    Args:
        player: whose.
    """
    selector = GoalSelector(name="reflexes", precedence=1, full_ticks=True)
    selector.add_goal(1, StrikeBack())
    selector.add_goal(2, WardOffArrow())
    selector.disable_control_flag(MOVE)

    def look(creatures: dict[Cell, int]) -> None:
        at_hand = any(
            kind == ARROW or (kind in _FIGHTERS and apart(cell, player.place) == 1) for cell, kind in creatures.items()
        )
        selector.set_control_flag(MOVE, at_hand)

    player.signal("seen").connect(look)
    return selector
