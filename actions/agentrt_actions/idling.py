"""Idling and free time: what an agent does that has nothing better to do.

``agentrt:idle`` has several implementations of equal utility; which one runs is drawn by their weights, so that idling
agents do not move in step. ``IdleAtTop`` offers it to the root activity at utility 0: everything else is better.

``agentrt:free_time`` is for pastimes: whoever has one to offer writes an action that does it. ``FreeTimeAtTop`` offers
the best of them to the root activity, just above idling and below every need. How good a pastime is moves free time
within its narrow range, so that pastimes compete with each other and with nothing else.

Source: Stonehearth, AI: "Compound action example" (stonehearth:free_time); "weight".
"""

from __future__ import annotations

from agentrt import Action, ActionArgs, CompoundAction, Context, Entity, step
from agentrt.activity import ChildUtilities
from agentrt_actions.things import IdleEffects

__all__ = ["FreeTimeAtTop", "IdleAtTop", "IdleEffect", "IdleWander", "StandIdle", "Stroll"]


class IdleAtTop(CompoundAction):
    """Idle when nothing else is to be done.

    Source: Stonehearth, AI: "Leaf action example", scheduler_priority (used to help idling characters find other
    actions).
    """

    does = "agentrt:top"
    name = "idle"
    utility = 0.0
    scheduler_priority = 4  # who has nothing to do looks for something to do with more force
    steps = (step("agentrt:idle"),)


class StandIdle(Action):
    """Stand around for one to three seconds.

    Source: Stonehearth, AI: "Leaf action example", weight.
    """

    does = "agentrt:idle"
    name = "stand idle"
    utility = 1.0
    weight = 2
    status_text_key = "agentrt:status.idle"

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Sleep for a while."""
        await ctx.sleep(ctx.random.uniform(1.0, 3.0))


class IdleWander(CompoundAction):
    """Wander about when idle."""

    does = "agentrt:idle"
    name = "wander idly"
    utility = 1.0
    steps = (step("agentrt:wander"),)


class IdleEffect(Action):
    """Play one of the effects that the entity has for when it is idle, drawn by their weights."""

    does = "agentrt:idle"
    name = "fidget"
    utility = 1.0
    status_text_key = "agentrt:status.idle"

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready if there are any."""
        own: IdleEffects | None = ctx.entity.get(IdleEffects)
        if own is not None and any(own.idle_effects.values()):
            ctx.set_think_output()

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Draw one and play it."""
        effects = ctx.entity[IdleEffects].idle_effects
        effect = ctx.random.weighted(list(effects), list(effects.values()))
        await ctx.execute("agentrt:run_effect", effect=effect)


class FreeTimeAtTop(CompoundAction):
    """Spend free time with the best pastime there is.

    Source: Stonehearth, AI: "Compound action example", compose_utility.
    """

    does = "agentrt:top"
    name = "free time"
    utility = (0.01, 0.05)
    steps = (step("agentrt:free_time"),)

    def compose_utility(
        self, entity: Entity, self_utility: float, child_utilities: ChildUtilities, current_activity: str | None
    ) -> float:
        """The better the pastime, the better, within the declared range.

        Args:
            entity: whose time it is.
            self_utility: the low end of the range.
            child_utilities: of the step.
            current_activity: unused.
        """
        return 0.01 + 0.04 * child_utilities["agentrt:free_time"]


class Stroll(CompoundAction):
    """Walk about and stand a while: the pastime of those who have no other."""

    does = "agentrt:free_time"
    name = "stroll"
    utility = 0.1
    status_text_key = "agentrt:status.strolling"
    steps = (
        step("agentrt:wander", least=4, most=12),
        step("agentrt:idle"),
    )
