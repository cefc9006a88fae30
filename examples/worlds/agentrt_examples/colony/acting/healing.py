"""Healing: fetch a herb, go to who is hurt, put it on. Also on oneself, which is the seed's own example of a compound.

For each who is hurt the foreman creates a task in the group of the healers, with the patient as its argument. Whoever
has the trait ``healer`` is better at it. The patient may walk about in the meantime, so the way to it is not a path
that was found beforehand but a chase.

The herb is no argument of the step that puts it on: that step learns of it from ``CURRENT.carrying``, and protects it
by itself. If the herb is gone before the plan begins, there is no plan.

Source: Stonehearth, AI: "Action", heal_self_action and heal_entity_adjacent.
"""

from __future__ import annotations

from agentrt import ARGS, ENTITY, OUT, PREV, Action, ActionArgs, CompoundAction, Context, Entity, step
from agentrt_actions import Carrier, ready_while, within_reach
from agentrt_examples.colony.bodies import Being, Health, Traits
from agentrt_examples.colony.buffs import Buffs
from agentrt_examples.colony.goods import Goods
from agentrt_examples.colony.harm import heal
from agentrt_examples.colony.town import Town

__all__ = ["GetHerb", "HealAdjacent", "HealOther", "HealSelf"]

_HERB_HEALS = 60


class GetHerb(CompoundAction):
    """Fetch a healing herb."""

    does = "colony:get_healing_item"
    name = "get a herb"
    utility = 0.5
    steps = (
        step("agentrt:find_entity", tag="herb", name="herb"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["herb"].entity),
        step("agentrt:pick_up", item=OUT["herb"].entity),
    )


class HealOther(CompoundAction):
    """Heal somebody who is hurt."""

    does = "colony:heal"
    name = "heal somebody"
    utility = (0.0, 1.0)
    made_of = ("is_healer",)

    class Args(ActionArgs):
        """Whom.

        Attributes:
            patient: who is hurt.
        """

        patient: Entity

    steps = (
        step("agentrt:reserve_entity", entity=ARGS.patient),
        step("colony:get_healing_item"),
        step("agentrt:chase_entity", target=ARGS.patient, patience=80),
        step("colony:heal_adjacent", patient=ARGS.patient),
    )

    def should_start_thinking(self, ctx: Context[Being], args: Args) -> bool:
        """Nobody fetches a herb for itself like this: see ``HealSelf``."""
        return args.patient is not ctx.entity

    async def think(self, ctx: Context[Being], args: Args) -> None:
        """Be ready at once; eager if this is one's calling."""
        ctx.set_utility(1.0 if "healer" in ctx.entity[Traits] else 0.4)
        ctx.set_think_output()


class HealSelf(CompoundAction):
    """Heal oneself, if badly hurt."""

    does = "agentrt:top"
    name = "heal oneself"
    utility = 0.66
    steps = (
        step("colony:get_healing_item"),
        step("colony:heal_adjacent", patient=ENTITY),
    )

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Be ready when less than half is left."""
        health = ctx.entity[Health]
        await ready_while(ctx, [health.changed], lambda: health.points * 2 < health.most)


class HealAdjacent(Action):
    """Put the herb that is carried on somebody's wounds."""

    does = "colony:heal_adjacent"
    name = "heal somebody near"
    utility = 1.0

    class Args(ActionArgs):
        """Whom.

        Attributes:
            patient: who is hurt.
        """

        patient: Entity

    async def think(self, ctx: Context[Being], args: Args) -> None:
        """Be ready if a herb will be in the hands, and as long as there is that herb."""
        herb: Entity | None = ctx.CURRENT.carrying
        if herb is not None and herb.kind == "herb":
            ctx.protect_argument(herb)
            ctx.set_think_output()

    async def run(self, ctx: Context[Being], args: Args) -> None:
        """Heal."""
        herb = ctx.entity[Carrier].carrying
        if herb is None or not within_reach(ctx, args.patient):
            ctx.abort(f"{args.patient.name} is out of reach, or there is no herb")
        ctx.set_status_text_key("colony:status.heal", patient=args.patient)
        await ctx.execute("agentrt:run_effect", effect="bandage")
        if not within_reach(ctx, args.patient, 4):
            ctx.abort(f"{args.patient.name} went away")
        town = ctx.entity[Town]
        ctx.unprotect_argument(herb)
        herb[Goods].use_up(herb)
        heal(town, args.patient, _HERB_HEALS)
        args.patient[Buffs].end("poisoned")
        whom = "its own wounds" if args.patient is ctx.entity else args.patient.name
        town.chronicle.note("wounds healed", ctx.entity, f"healed {whom}")
