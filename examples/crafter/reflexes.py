"""Reflexes: what does not wait for thought. A goal selector of three goals, above the plan.

Striking back and stepping out of the way of an arrow need no utility and no plan: they are a short list with
priorities, looked at in each step. The selector has a higher precedence than the plan, so when one of its goals needs
the body, whatever moves it gives way; a strategy begins again afterwards, from where the player stands then.
"""

from __future__ import annotations

from agentrt import MOVE
from agentrt.goals import Goal, GoalSelector
from examples.crafter import legs
from examples.crafter.atlas import Cell
from examples.crafter.player import Player
from examples.crafter.rules import ARROW, SIDES, SKELETON, TURNS, ZOMBIE

__all__ = ["DodgeArrow", "StrikeBack", "make_reflexes"]

_RANGE = 4  # cells
_BLOWS = 3


class StrikeBack(Goal):
    """Strike whoever stands beside one and means no good."""

    name = "strike back"
    flags = {MOVE}

    def _enemy(self) -> Cell | None:
        player: Player = self.entity
        creatures = player.atlas.creatures
        if not creatures or player.is_asleep:
            return None
        x, y = player.place
        ahead = player.ahead
        beside = [(x + dx, y + dy) for dx, dy in SIDES]
        enemies = [cell for cell in beside if creatures.get(cell) in (ZOMBIE, SKELETON)]
        return min(enemies, key=lambda cell: cell != ahead) if enemies else None

    def can_use(self) -> bool:
        return self._enemy() is not None

    async def run(self) -> None:
        player: Player = self.entity
        while (enemy := self._enemy()) is not None:
            await legs.face(player, enemy)
            if player.ahead == enemy:
                await legs.strike(player, enemy, _BLOWS)


class DodgeArrow(Goal):
    """Step aside when an arrow comes, if there is room."""

    name = "dodge an arrow"
    flags = {MOVE}

    def _side(self) -> Cell | None:
        player: Player = self.entity
        atlas = player.atlas
        if ARROW not in atlas.creatures.values() or player.is_asleep:
            return None
        x, y = player.place
        for cell, kind in atlas.creatures.items():
            apart = (cell[0] - x, cell[1] - y)
            if kind != ARROW or 0 not in apart or abs(apart[0] + apart[1]) > _RANGE:
                continue
            if atlas.was_nearer(cell, player.place):
                continue
            sides = [(x + dx, y + dy) for dx, dy in SIDES if dx * apart[0] + dy * apart[1] == 0]
            free = [side for side in sides if atlas.can_walk(side)]
            if free:
                return free[0]
        return None

    def can_use(self) -> bool:
        return self._side() is not None

    async def run(self) -> None:
        player: Player = self.entity
        side = self._side()
        if side is not None:
            await player.act(TURNS[(side[0] - player.place[0], side[1] - player.place[1])])


def make_reflexes() -> GoalSelector:
    """Make the reflexes of a player."""
    selector = GoalSelector(name="reflexes", precedence=1, full_ticks=True)
    selector.add_goal(1, StrikeBack())
    selector.add_goal(2, DodgeArrow())
    return selector
