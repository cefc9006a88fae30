"""Evenings: those who are not tired sit around the fire, tell stories and sing.

The fire has six seats, and each of them is reserved by itself. Who sits down thinks about both a story and a song, each
in an execution frame of its own, and does what it would do better: stories need something that was lived through, songs
need company. What both were worth, and why, is in the debug data of the action and in its log.

Soldiers know the song as well: it is a step of their watch. ``Sing`` looks at the plan that it is a part of, and only
hums when it is not sung by the fire.

Source: Stonehearth, AI: "AI contexts", `spawn`, `get_parent_node`, `get_debug_info_datastore`, `get_log`; "step
declarations", CURRENT.self_region_reserved (reserve_entity_destination).
"""

from __future__ import annotations

from agentrt import OUT, PREV, Action, ActionArgs, CompoundAction, Context, Entity, step
from agentrt.body import LeaseBook
from agentrt_actions import Region
from agentrt_examples.colony.bodies import Being, Traits
from agentrt_examples.colony.town import Town

__all__ = ["EnjoyFire", "Sing", "SitByFire", "TellStory"]

_THOUGHTS = 5  # how many somebody keeps in mind


class SitByFire(CompoundAction):
    """Sit down by a fire that burns."""

    does = "colony:free_time"
    name = "sit by the fire"
    utility = 0.55
    status_text_key = "colony:status.sitting"
    steps = (
        step("agentrt:find_entity", tag="fire", reach=2, reserved=True, name="fire"),
        step("agentrt:reserve_entity_destination", entity=PREV.entity, name="seat"),
        step("agentrt:goto_location", location=OUT["seat"].location),
        step("colony:enjoy_fire", fire=OUT["fire"].entity),
    )


class EnjoyFire(Action):
    """Tell a story or sing a song, whichever promises to be better."""

    does = "colony:enjoy_fire"
    name = "enjoy the fire"
    utility = 1.0

    class Args(ActionArgs):
        """Where.

        Attributes:
            fire: the fire.
        """

        fire: Entity

    async def run(self, ctx: Context[Being], args: Args) -> None:
        """Compare, and do the better one."""
        story = ctx.spawn("colony:tell_story")
        song = ctx.spawn("colony:sing", fire=args.fire)
        for choice in (story, song):
            choice.start_thinking()
        for choice in (story, song):
            await choice.ready()
        worth = {choice.activity.rpartition(":")[2]: choice.utility for choice in (story, song)}
        better, worse = (story, song) if story.utility >= song.utility else (song, story)
        ctx.get_debug_info_datastore().update(worth, chosen=better.activity)
        ctx.get_log().debug("an evening by the fire", chosen=better.activity, **worth)
        worse.stop()
        await better.run()


class TellStory(Action):
    """Tell of what one has lived through. The more there is to tell, the better."""

    does = "colony:tell_story"
    name = "tell a story"
    utility = (0.0, 1.0)
    made_of = ("thoughts",)
    status_text_key = "colony:status.telling"

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Be ready at once."""
        ctx.set_utility(len(ctx.entity[Traits].thoughts) / _THOUGHTS)
        ctx.set_think_output()

    async def run(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Tell it."""
        await ctx.execute("agentrt:run_effect", effect="tell")
        town: Town = ctx.entity[Town]
        town.chronicle.note("stories told", ctx.entity, f"told how it {ctx.entity[Traits].thoughts[-1]}")


class Sing(Action):
    """Sing a song; the more sit around the fire, the better. Alone, somewhere else, only hum it."""

    does = "colony:sing"
    name = "sing"
    utility = (0.0, 1.0)
    status_text_key = "colony:status.humming"

    class Args(ActionArgs):
        """Where.

        Attributes:
            fire: the fire by which it is sung, if it is.
        """

        fire: Entity | None = None

    async def think(self, ctx: Context[Being], args: Args) -> None:
        """Be ready at once."""
        if args.fire is not None:
            leases: LeaseBook = ctx.entity[LeaseBook]
            seats = args.fire[Region].parts
            ctx.set_utility(sum(leases.holder(seat) is not None for seat in seats) / len(seats))
        ctx.set_think_output()

    async def run(self, ctx: Context[Being], args: Args) -> None:
        """Sing it."""
        above = ctx.get_parent_node().get_parent_node()
        if above is None or above.name != EnjoyFire.name:
            await ctx.execute("agentrt:run_effect", effect="hum")
            return
        ctx.set_status_text_key("colony:status.singing")
        await ctx.execute("agentrt:run_effect", effect="sing")
        town: Town = ctx.entity[Town]
        town.chronicle.note("songs sung", ctx.entity, "sang by the fire")
