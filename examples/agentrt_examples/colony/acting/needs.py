"""Eating, sleeping, resting.

How urgent a need is decides over everything else, so each of these watches its need for as long as it thinks.
Below a threshold it is not ready at all: a hearthling that is a little hungry does not eat.

Eating shows how one activity can have several implementations: ``colony:get_food`` is performed by
``GetMeal`` and by ``GetTurnip``, and the better one that is possible is taken; ``Eat`` knows neither.
"""

from __future__ import annotations

from agentrt import OUT, PREV, Action, ActionArgs, CompoundAction, Context, step
from agentrt_actions import ready_while
from agentrt_examples.colony.bodies import FULL, Health, Needs, Traits
from agentrt_examples.colony.town import Town

__all__ = ["Eat", "GetMeal", "GetTurnip", "Rest", "RestInBed", "Sleep", "SleepInBed"]

_HUNGRY = 0.45
_TIRED = 0.6
_TIRED_AT_NIGHT = 0.3
_AWAKE = FULL - 50


class Eat(CompoundAction):
    """Get something to eat, and eat it."""

    does = "agentrt:top"
    name = "eat"
    status_text_key = "colony:status.eating"
    utility = (0.15, 0.9)
    steps = (
        step("colony:get_food"),
        step("agentrt:run_effect", effect="eat"),
        step("agentrt:consume_carried"),
    )

    async def think(self, ctx: Context, args: ActionArgs) -> None:
        """Be ready when hungry.

        Args:
            ctx: the context.
            args: none.
        """
        needs = ctx.entity[Needs]
        await ready_while(ctx, [needs.changed], lambda: needs.hunger >= _HUNGRY, lambda: needs.hunger)


class GetMeal(CompoundAction):
    """Fetch a cooked meal."""

    does = "colony:get_food"
    name = "get a meal"
    utility = 0.8
    steps = (
        step("agentrt:find_entity", tag="meal", name="meal"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["meal"].entity),
        step("agentrt:pick_up", item=OUT["meal"].entity),
    )


class GetTurnip(CompoundAction):
    """Fetch a raw turnip: better than nothing."""

    does = "colony:get_food"
    name = "get a turnip"
    utility = 0.2
    steps = (
        step("agentrt:find_entity", tag="turnip", name="turnip"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["turnip"].entity),
        step("agentrt:pick_up", item=OUT["turnip"].entity),
    )


class Sleep(CompoundAction):
    """Go to bed and sleep."""

    does = "agentrt:top"
    name = "sleep"
    utility = (0.1, 0.88)
    steps = (
        step("agentrt:find_entity", tag="bed", name="bed"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["bed"].entity),
        step("colony:sleep_in_bed"),
    )

    async def think(self, ctx: Context, args: ActionArgs) -> None:
        """Be ready when tired; sooner at night.

        Args:
            ctx: the context.
            args: none.
        """
        needs: Needs = ctx.entity[Needs]
        daylight = ctx.entity[Town].daylight

        def is_tired() -> bool:
            return needs.tiredness >= (_TIRED_AT_NIGHT if daylight.is_dark else _TIRED)

        def urgency() -> float:
            return min(1.0, needs.tiredness + (0.3 if daylight.is_dark else 0.0))

        await ready_while(ctx, [needs.changed], is_tired, urgency)


class SleepInBed(Action):
    """Sleep, until wide awake."""

    does = "colony:sleep_in_bed"
    name = "sleep in bed"
    utility = 1.0
    status_text_key = "colony:status.sleeping"

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        """Sleep.

        Args:
            ctx: the context.
            args: none.
        """
        needs = ctx.entity[Needs]
        needs.asleep = True
        while needs.rest < _AWAKE:
            await needs.changed.wait()
        ctx.entity[Traits].add_thought("slept well")
        ctx.entity[Town].chronicle.note("nights slept", ctx.entity, "slept well")

    def stop(self, ctx: Context, args: ActionArgs) -> None:
        """Wake up.

        Args:
            ctx: the context.
            args: none.
        """
        ctx.entity[Needs].asleep = False


class Rest(CompoundAction):
    """Lie in bed when badly hurt.

    Source: seed 001, "Task group example", rest_when_injured.
    """

    does = "agentrt:top"
    name = "rest when hurt"
    utility = 0.62
    steps = (
        step("agentrt:find_entity", tag="bed", name="bed"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["bed"].entity),
        step("colony:rest_in_bed"),
    )

    async def think(self, ctx: Context, args: ActionArgs) -> None:
        """Be ready when less than half is left.

        Args:
            ctx: the context.
            args: none.
        """
        health = ctx.entity[Health]
        await ready_while(ctx, [health.changed], lambda: health.points * 2 < health.most)


class RestInBed(Action):
    """Lie in bed, until the worst is over."""

    does = "colony:rest_in_bed"
    name = "rest in bed"
    utility = 1.0
    status_text_key = "colony:status.resting"

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        """Rest.

        Args:
            ctx: the context.
            args: none.
        """
        health = ctx.entity[Health]
        ctx.entity[Needs].asleep = True
        while health.is_hurt:
            await health.changed.wait()

    def stop(self, ctx: Context, args: ActionArgs) -> None:
        """Get up.

        Args:
            ctx: the context.
            args: none.
        """
        ctx.entity[Needs].asleep = False
