"""Wolves: hunt what runs and what walks on two legs, until they are fed, hurt, or the night is over; then leave.

A wolf that comes near enough bites; a critter dies of it, a hearthling may. A chase that fails is no failure
of the plan: ``Bite`` looks whether the prey is there, and the wolf tries again.
"""

from __future__ import annotations

from typing import Any

from agentrt import OUT, PREV, Action, ActionArgs, CompoundAction, Context, Entity, ThinkOutput, step
from agentrt_actions import Place, expected_location, keep_looking, own_moves, ready_while, within_reach
from agentrt_examples.colony.bodies import FULL, Health, Needs
from agentrt_examples.colony.buffs import Buffs
from agentrt_examples.colony.harm import wound
from agentrt_examples.colony.town import Town

__all__ = ["Bite", "FindWayOut", "Hunt", "Leave", "Vanish"]

_SMELL = 320
_BITE = (32, 48)
_FED = 800


class Hunt(CompoundAction):
    """Chase the nearest prey and bite it."""

    does = "agentrt:top"
    name = "hunt"
    status_text_key = "colony:status.hunting"
    utility = 0.6
    steps = (
        step("agentrt:find_entity", tag="prey", within=_SMELL, reserved=True, name="prey"),
        step("agentrt:chase_entity", target=PREV.entity),
        step("colony:bite", victim=OUT["prey"].entity),
        step("agentrt:run_effect", effect="lick_lips"),
    )


class Bite(Action):
    """Bite who is near."""

    does = "colony:bite"
    name = "bite"
    utility = 1.0
    status_text_key = "colony:status.biting"

    class Args(ActionArgs):
        """Whom.

        Attributes:
            victim: who is bitten.
        """

        victim: Entity

    async def run(self, ctx: Context, args: Args) -> None:
        """Bite, if the victim is still there.

        Args:
            ctx: the context.
            args: whom.
        """
        if not _is_there(ctx, args.victim, 1):
            await ctx.next_tick()
            return
        await ctx.execute("agentrt:run_effect", effect="bite")
        town = ctx.entity[Town]
        if not _is_there(ctx, args.victim, 2):
            return
        town.chronicle.note("bites", ctx.entity, f"bit {args.victim.name}")
        ctx.unprotect_argument(args.victim)
        if wound(town, args.victim, town.random.between(*_BITE)):
            town.chronicle.note("critters caught", ctx.entity, f"caught {args.victim.name}")
            ctx.entity[Needs].add(satiety=FULL)
            return
        ctx.entity[Needs].add(satiety=160)
        if args.victim.kind == "hearthling" and town.random.below(2) == 0:
            args.victim[Buffs].begin("poisoned")


def _is_there(ctx: Context, victim: Entity, reach: int) -> bool:
    return not victim.is_destroyed and within_reach(ctx, victim, reach)


class Leave(CompoundAction):
    """Leave the world where it is nearest."""

    does = "agentrt:top"
    name = "leave"
    utility = 0.9
    status_text_key = "colony:status.leaving"
    steps = (
        step("colony:find_way_out"),
        step("agentrt:goto_location", location=PREV.location),
        step("colony:vanish"),
    )

    async def think(self, ctx: Context, args: ActionArgs) -> None:
        """Be ready when hurt, fed, or when it dawns.

        Args:
            ctx: the context.
            args: none.
        """
        health: Health = ctx.entity[Health]
        needs: Needs = ctx.entity[Needs]
        daylight = ctx.entity[Town].daylight

        def has_enough() -> bool:
            return health.points * 2 < health.most or needs.satiety >= _FED or daylight.phase == "dawn"

        await ready_while(ctx, [health.changed, needs.changed], has_enough)


class FindWayOut(Action):
    """Find the nearest cell on the edge of the world."""

    does = "colony:find_way_out"
    name = "find way out"
    utility = 1.0

    class Output(ThinkOutput):
        """What was found.

        Attributes:
            location: the cell.
        """

        location: Place

    async def think(self, ctx: Context, args: ActionArgs) -> None:
        """Offer the nearest, and go on looking while walking.

        Args:
            ctx: the context.
            args: none.
        """
        town: Town = ctx.entity[Town]
        offered: Place = None

        def look() -> None:
            nonlocal offered
            here: Any = expected_location(ctx)
            found = town.finder.nearest_edge(here)
            if found != offered and found is not None:
                offered = found
                ctx.set_think_output(location=found)

        await keep_looking(ctx, own_moves(ctx), look)


class Vanish(Action):
    """Be gone from the world."""

    does = "colony:vanish"
    name = "vanish"
    utility = 1.0

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        """Go.

        Args:
            ctx: the context.
            args: none.
        """
        health = ctx.entity[Health]
        if health.points * 2 < health.most:
            ctx.entity[Town].chronicle.note("wolves driven off", ctx.entity, "was driven off")
        ctx.entity.destroy()
        # The agent is taken out of the world at the next intake; there is nothing to be done until then.
        await ctx.next_tick()
