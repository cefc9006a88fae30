"""Cooking: a turnip becomes two meals on the hearth, and a bell tells everybody that dinner is ready.

Cooks take what is in the stockpile and leave to the haulers what lies on the fields. The foreman starts the task while
meals are few, so the action need not ask whether it is wanted.
"""

from __future__ import annotations

from agentrt import OUT, PREV, Action, ActionArgs, CompoundAction, Context, Entity, step
from agentrt_actions import Carrier, within_reach
from agentrt_examples.colony.bodies import Being, Position
from agentrt_examples.colony.goods import Goods
from agentrt_examples.colony.town import Town

__all__ = ["Cook", "CookOnHearth"]


class Cook(CompoundAction):
    """Cook a turnip, and ring the bell of the hearth."""

    does = "colony:cook"
    name = "cook"
    utility = 1.0
    steps = (
        step("agentrt:find_entity", tag="hearth", reach=1, name="hearth"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:find_entity", tag="stored:turnip", name="turnip"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["turnip"].entity),
        step("agentrt:pick_up", item=OUT["turnip"].entity),
        step("agentrt:goto_entity", entity=OUT["hearth"].entity, reach=1),
        step("colony:cook_on_hearth", hearth=OUT["hearth"].entity),
        step("agentrt:trigger_event", event="dinner", source=OUT["hearth"].entity),
    )


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

    async def run(self, ctx: Context[Being], args: Args) -> None:
        """Cook."""
        turnip = ctx.entity[Carrier].carrying
        if turnip is None or not within_reach(ctx, args.hearth):
            ctx.abort("there is nothing to cook, or no hearth to cook it on")
        await ctx.execute("agentrt:run_effect", effect="cook")
        town = ctx.entity[Town]
        turnip[Goods].use_up(turnip)
        for _ in range(2):
            town.item("meal", ctx.entity[Position].location)
            town.chronicle.note("meals cooked", ctx.entity, "cooked a meal")
