"""What all needs have in common: they are worth more the lower their bar is.

How much each is worth follows from its bar: nothing while it is full, little as long as it can wait, more than any
ambition when it gets low. So utility decides, and what is urgent preempts what is not.
"""

from __future__ import annotations

from typing import Any

from agentrt import Action, ActionArgs, Context
from examples.crafter import legs
from examples.crafter.eyes import DAY
from examples.crafter.player import Player

__all__ = ["EVENING", "Need", "attempt", "urgency"]

EVENING = 105  # the step of a day from which on it sees to it that it will not be hungry at night


def urgency(player: Player, level: int) -> float:
    """How urgent a need is, from 0 to 1: below 0.5 it can wait.

    Args:
        player: who has it; at night and in the evening it is another matter.
        level: of its bar.
    """
    if player.is_dark:  # what can wait till morning, waits
        is_bad = player.inventory["food"] == player.inventory["drink"] == 0
        return (0.7 if is_bad else 0.5, 0.4, 0.4, 0.3, 0.3, 0.2, 0.2, 0.2, 0.1, 0.0)[level]
    evening = 0.1 if player.step % DAY >= EVENING and level <= 5 else 0.0
    return min(1.0, (1.0, 0.9, 0.8, 0.65, 0.55, 0.44, 0.25, 0.12, 0.1, 0.0)[level] + evening)


class Need(Action):
    """A need: what it is worth is found out anew with each change of its bar."""

    bar = ""  # the signal that tells of changes

    async def think(self, ctx: Context[Player], args: ActionArgs) -> None:
        player = ctx.entity
        changes = player.signal(self.bar)
        while True:
            ctx.set_utility(self.worth(player))
            ctx.set_think_output()
            await changes.wait()

    def worth(self, player: Player) -> float:
        raise NotImplementedError


async def attempt(player: Player, skill: Any) -> None:
    """Have a skill at work; when it cannot, lose a step and leave it at that: whoever asked for it will see."""
    try:
        await skill
    except legs.CannotAct:
        await player.act("noop")
