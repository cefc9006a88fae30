"""Critters: graze, wander, run from wolves, and now and then stand still and look pretty."""

from __future__ import annotations

from agentrt import Action, ActionArgs, CompoundAction, Context, step
from agentrt_actions import ready_while
from agentrt_examples.colony.animals import Poser
from agentrt_examples.colony.bodies import Being, Needs
from agentrt_examples.colony.town import Town

__all__ = ["Graze", "GrazeHere", "Pose"]

_MOOD = (40, 360)
_PATIENCE = 240


class Pose(Action):
    """Stand still for a while, and for as long as somebody draws."""

    does = "agentrt:top"
    name = "pose"
    utility = (0.25, 0.4)
    status_text_key = "colony:status.posing"

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Be ready when the mood comes."""
        # When the mood comes is kept with the animal: thinking starts anew whenever something else was finished.
        poser = ctx.entity[Poser]
        if not poser.due:
            poser.due = ctx.clock.tick + ctx.random.between(*_MOOD)
        await ctx.sleep_ticks(max(0, poser.due - ctx.clock.tick))
        ctx.set_utility(1.0)
        ctx.set_think_output()

    async def run(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Pose."""
        poser = ctx.entity[Poser]
        self._tell(ctx, True)
        await ctx.sleep_ticks(_PATIENCE * 3 // 4)
        ctx.set_utility(0.0)  # it has stood long enough: whoever is hungry may leave
        await ctx.sleep_ticks(_PATIENCE // 4)
        while poser.is_frozen:
            ctx.set_utility(1.0)
            await ctx.sleep_ticks(5)

    def stop(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Go on with life."""
        ctx.entity[Poser].due = 0
        self._tell(ctx, False)

    def _tell(self, ctx: Context[Being], ready: bool) -> None:
        ctx.entity[Poser].pose(ready)
        ctx.entity[Town].census.tell("animal")


class Graze(CompoundAction):
    """Eat some grass when hungry."""

    does = "agentrt:top"
    name = "graze"
    status_text_key = "colony:status.grazing"
    utility = 0.3
    steps = (
        step("agentrt:wander", least=1, most=4),
        step("agentrt:run_effect", effect="graze"),
        step("colony:graze_here"),
    )

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Be ready when hungry."""
        needs = ctx.entity[Needs]
        await ready_while(ctx, [needs.changed], lambda: needs.hunger > 0.3)


class GrazeHere(Action):
    """Swallow the grass."""

    does = "colony:graze_here"
    name = "graze here"
    utility = 1.0

    async def run(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Be less hungry."""
        ctx.entity[Needs].add(satiety=200)
