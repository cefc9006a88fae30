"""The turret: an agent with one idea. It shoots the nearest wolf that it sees, loads, and looks again."""

from __future__ import annotations

from agentrt import LOOK, TARGET, Action, ActionArgs, Context
from agentrt_actions import Threats, ready_while
from agentrt_examples.colony.bodies import Being
from agentrt_examples.colony.harm import wound
from agentrt_examples.colony.town import Town

__all__ = ["Shoot"]

_DAMAGE = (20, 60)
_HITS_OF_TEN = 6


class Shoot(Action):
    """Shoot the nearest threat."""

    does = "agentrt:top"
    name = "shoot"
    utility = 0.9
    status_text_key = "colony:status.shooting"
    flags = frozenset({LOOK, TARGET})

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Be ready while there is something to shoot at."""
        threats = ctx.entity[Threats]
        await ready_while(ctx, [threats.changed], lambda: bool(threats.nearby))

    async def run(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Aim, shoot, load."""
        threats = ctx.entity[Threats]
        town = ctx.entity[Town]
        await ctx.execute("agentrt:run_effect", effect="aim")
        if threats.nearby:
            target = threats.nearby[0]
            hits = town.random.below(10) < _HITS_OF_TEN
            town.chronicle.note("shots fired", ctx.entity, f"shot at {target.name}{'' if hits else ' and missed'}")
            if hits and wound(town, target, town.random.between(*_DAMAGE)):
                town.chronicle.note("wolves shot", ctx.entity, f"shot {target.name}")
        await ctx.execute("agentrt:run_effect", effect="reload")
