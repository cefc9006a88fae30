"""The cat: goals in order of importance. It is decided anew all the time which of them is pursued."""

from __future__ import annotations

import agentrt as art
from agentrt.goals import MOVE, Goal
from agentrt.kernel import Stream

from mygame.grid import SIZE, WAYS
from mygame.session import Player, distance, step_from

NEAR = 4  # moves


class KeepAway(Goal[Player]):
    """Run away from whoever comes near."""

    flags = (MOVE,)
    requires_update_every_tick = True

    def __init__(self, other: Player) -> None:
        self.other = other

    def can_use(self) -> bool:
        return distance(self.entity.sight.at, self.other.sight.at) <= NEAR

    def tick(self) -> None:
        here, other = self.entity.sight.at, self.other.sight.at
        self.entity.move = max(WAYS, key=lambda move: distance(step_from(here, move), other))


class Prowl(Goal[Player]):
    """Go somewhere, and somewhere else."""

    flags = (MOVE,)

    def __init__(self, chance: Stream) -> None:
        self.chance = chance

    def can_use(self) -> bool:
        return True

    async def run(self) -> None:
        while True:
            await self.entity.go((self.chance.below(SIZE), self.chance.below(SIZE)))
            await art.sleep(2)
