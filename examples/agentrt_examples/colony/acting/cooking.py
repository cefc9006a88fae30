"""Cooking: a turnip becomes two meals on the hearth."""

from __future__ import annotations

from agentrt import OUT, PREV, Action, ActionArgs, CompoundAction, Context, Entity, step
from agentrt_actions import Carrier, ready_while, within_reach
from agentrt_examples.colony.bodies import Position
from agentrt_examples.colony.goods import Goods
from agentrt_examples.colony.town import Town

__all__ = ["Cook", "CookOnHearth"]

_ENOUGH = 8


class Cook(CompoundAction):
    """Cook a turnip, as long as there are not enough meals."""

    does = "colony:work"
    name = "cook"
    utility = 0.75
    steps = (
        step("agentrt:find_entity", tag="hearth", reach=1, name="hearth"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:find_entity", tag="turnip", name="turnip"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["turnip"].entity),
        step("agentrt:pick_up", item=OUT["turnip"].entity),
        step("agentrt:goto_entity", entity=OUT["hearth"].entity, reach=1),
        step("colony:cook_on_hearth", hearth=OUT["hearth"].entity),
    )

    async def think(self, ctx: Context, args: ActionArgs) -> None:
        """Be ready while meals are few.

        Args:
            ctx: the context.
            args: none.
        """
        census = ctx.entity[Town].census
        await ready_while(ctx, [census.changed("meal")], lambda: census.count("meal") < _ENOUGH)


class CookOnHearth(Action):
    """Put what is carried into the pot, and wait until it is done."""

    does = "colony:cook_on_hearth"
    name = "cook on the hearth"
    utility = 1.0
    status_text_key = "colony:status.cook"

    class Args(ActionArgs):
        """Where.

        Attributes:
            hearth: the hearth.
        """

        hearth: Entity

    async def run(self, ctx: Context, args: Args) -> None:
        """Cook.

        Args:
            ctx: the context.
            args: where.
        """
        turnip = ctx.entity[Carrier].carrying
        if turnip is None or not within_reach(ctx, args.hearth):
            ctx.abort("there is nothing to cook, or no hearth to cook it on")
        await ctx.execute("agentrt:run_effect", effect="cook")
        town = ctx.entity[Town]
        turnip[Goods].use_up(turnip)
        for _ in range(2):
            town.item("meal", ctx.entity[Position].location)
            town.chronicle.note("meals cooked", ctx.entity, "cooked a meal")
