"""What competes at the top of a hearthling's mind, besides its needs: danger, work, free time.

Utilities at ``agentrt:top``, from the most urgent down:

==============  ============  ====================================================
action          utility       when
==============  ============  ====================================================
lie down        1             nothing is left of its health
run             0.80 to 0.98  something that it fears is near; soldiers stand fast
party           0.50 to 0.95  there are wolves, and it is in the party
unit control    0.87          it was ordered to
basic needs     0 to 0.90     by hunger, tiredness, wounds: see ``needs``
heal oneself    0.66          badly hurt, and there is a herb
be sick         0.10 to 0.70  poisoned
work            0.30 to 0.60  the best task of the groups that it is in
free time       0.10 to 0.50  whatever pastime is best
idle            0             always
==============  ============  ====================================================

Work and free time are activities of their own, so that what competes within them is compared there and not
with hunger.
"""

from __future__ import annotations

from agentrt import Action, ActionArgs, CompoundAction, Context, Entity, step
from agentrt.activity import ChildUtilities
from agentrt_actions import ready_while
from agentrt_examples.colony.bodies import Being, Health

__all__ = ["FreeTime", "LieDown", "RunFromDanger", "Work"]


class Work(CompoundAction):
    """Do the best work that there is."""

    does = "agentrt:top"
    name = "work"
    utility = (0.3, 0.6)
    steps = (step("colony:work"),)

    def compose_utility(
        self, entity: Entity, self_utility: float, child_utilities: ChildUtilities, current_activity: str | None
    ) -> float:
        """The better the work, the better."""
        return 0.3 + 0.3 * child_utilities["colony:work"]


class FreeTime(CompoundAction):
    """Do something for pleasure."""

    does = "agentrt:top"
    name = "free time"
    utility = (0.1, 0.5)
    steps = (step("colony:free_time"),)

    def compose_utility(
        self, entity: Entity, self_utility: float, child_utilities: ChildUtilities, current_activity: str | None
    ) -> float:
        """The more pleasure, the better."""
        return 0.1 + 0.5 * child_utilities["colony:free_time"]


class RunFromDanger(CompoundAction):
    """Run away, the faster the nearer the danger."""

    does = "agentrt:top"
    name = "run from danger"
    utility = (0.8, 0.98)
    steps = (step("agentrt:flee_threats"),)

    def compose_utility(
        self, entity: Entity, self_utility: float, child_utilities: ChildUtilities, current_activity: str | None
    ) -> float:
        """The nearer the danger, the better."""
        return 0.8 + 0.18 * child_utilities["agentrt:flee_threats"]


class LieDown(Action):
    """Lie on the ground, unable to do anything else, until some strength has come back."""

    does = "agentrt:top"
    name = "lie down"
    utility = 1.0
    status_text_key = "colony:status.down"

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Be ready when it is down."""
        health = ctx.entity[Health]
        await ready_while(ctx, [health.changed], lambda: health.is_down)

    async def run(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Lie there."""
        health = ctx.entity[Health]
        while health.is_down:
            await health.changed.wait()
