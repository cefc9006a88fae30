"""Soldiers: obey orders, keep watch, fight wolves.

Orders are tasks in a soldier's own group ``unit_control``, which the captain issues (see ``captain``): to go somewhere,
to guard a place; a watch begins with a round past the next tower, and then the soldier stands at its post. To fight is
a task as well, in a group that is made for the occasion: the *party*, which exists as long as there are wolves. It gets
its utility from what its members are still able to do: ``DefenseParty`` is worth the less to a soldier the more hurt it
is, so that a badly hurt one goes to rest instead.

``StandFast`` is a *filter*: an action that does nothing but forbid. Everybody flees from what it fears; the filter does
the same activity, and while it says no, no action of that activity is even considered.

Source: Stonehearth, AI: `should_start_thinking`; "Personal task groups" (move orders); "Ad hoc task groups".
"""

from __future__ import annotations

from collections.abc import Sequence

from agentrt import ARGS, OUT, Action, ActionArgs, CompoundAction, Context, Entity, ThinkOutput, step
from agentrt.activity import ChildUtilities
from agentrt.tasks import TaskGroupAction, declare_multiple_tasks
from agentrt_actions import PathFinder, Place, within_reach
from agentrt_examples.colony.bodies import Being, Health
from agentrt_examples.colony.harm import BADLY_HURT, wound
from agentrt_examples.colony.town import Town

__all__ = [
    "RELIEVED",
    "WATCH_KEPT",
    "Attack",
    "ChooseRound",
    "DefenseParty",
    "Guard",
    "MoveTo",
    "StandFast",
    "Strike",
    "posts",
]

RELIEVED = "relieved"
"""The event that ends a soldier's watch."""

WATCH_KEPT = "watch_kept"
"""The event by which a soldier reports that it kept its watch to the end."""

_STRIKE = (10, 24)
_WATCH = 25.0  # game seconds; longer than the night
_LOOK_AROUND = 1.0  # game seconds


def posts(town: Town) -> list[Place]:
    """Where soldiers stand to keep watch: one cell beside each tower.

    Args:
        town: the world.
    """
    return [near for tower in town.ground.marked("t") for near in town.ground.neighbors(tower)[:1]]


class DefenseParty(TaskGroupAction):
    """Drive the wolves away, together."""

    does = "agentrt:top"
    name = "defense party"
    utility = (0.5, 0.95)
    tasks = (declare_multiple_tasks("colony:attack", (0.0, 1.0)),)

    def compose_utility(self, entity: Entity, task_utility: float) -> float:
        """The healthier the fighter and the nearer the wolf, the better.

        Args:
            entity: who fights.
            task_utility: of the attack.
        """
        health = entity[Health]
        return 0.5 + 0.25 * task_utility + 0.2 * health.points / health.most


class Attack(CompoundAction):
    """Run after a wolf and strike it, until badly hurt."""

    does = "colony:attack"
    name = "attack"
    utility = (0.0, 1.0)

    class Args(ActionArgs):
        """Whom.

        Attributes:
            wolf: the wolf.
        """

        wolf: Entity

    steps = (
        step("agentrt:abort_on_event_triggered", event=BADLY_HURT),
        step("agentrt:chase_entity", target=ARGS.wolf, patience=20),
        step("colony:strike", wolf=ARGS.wolf),
    )

    def compose_utility(
        self, entity: Entity, self_utility: float, child_utilities: ChildUtilities, current_activity: str | None
    ) -> float:
        """The nearer the wolf, the better."""
        return child_utilities["agentrt:chase_entity"]


class Strike(Action):
    """Strike a wolf that is near."""

    does = "colony:strike"
    name = "strike"
    utility = 1.0

    class Args(ActionArgs):
        """Whom.

        Attributes:
            wolf: the wolf.
        """

        wolf: Entity

    async def run(self, ctx: Context[Being], args: Args) -> None:
        """Strike, if it is still there."""
        ctx.set_status_text_key("colony:status.fighting", wolf=args.wolf)
        if not _is_there(ctx, args.wolf, 1):
            await ctx.next_tick()
            return
        await ctx.execute("agentrt:run_effect", effect="strike")
        if not _is_there(ctx, args.wolf, 2):
            return
        town: Town = ctx.entity[Town]
        town.chronicle.note("blows struck", ctx.entity, f"struck {args.wolf.name}")
        ctx.unprotect_argument(args.wolf)
        if wound(town, args.wolf, town.random.between(*_STRIKE)):
            town.chronicle.note("wolves slain", ctx.entity, f"slew {args.wolf.name}")


def _is_there(ctx: Context[Being], wolf: Entity, reach: int) -> bool:
    return not wolf.is_destroyed and within_reach(ctx, wolf, reach)


class MoveTo(CompoundAction):
    """Go where one is told to go."""

    does = "colony:move_to"
    name = "obey a move order"
    utility = 1.0
    status_text_key = "colony:status.obeying"

    class Args(ActionArgs):
        """Where.

        Attributes:
            location: the cell.
        """

        location: Place

    steps = (step("agentrt:goto_location", location=ARGS.location),)


class Guard(CompoundAction):
    """Make a round, stand at the post until relieved, humming at first, and report."""

    does = "colony:guard"
    name = "keep watch"
    utility = 1.0
    status_text_key = "colony:status.guarding"

    class Args(ActionArgs):
        """Where.

        Attributes:
            post: the cell.
        """

        post: Place

    steps = (
        step("colony:choose_round", post=ARGS.post, name="round"),
        step("agentrt:patrol", route=OUT["round"].route, pause=_LOOK_AROUND),
        step("agentrt:goto_location", location=ARGS.post),
        step("colony:sing"),
        step("agentrt:wait_for_event", event=RELIEVED, timeout=_WATCH),
        step("agentrt:trigger_event", event=WATCH_KEPT),
    )


class ChooseRound(Action):
    """Choose where a watch leads: at dusk from the post to the nearest other one, later only to the post."""

    does = "colony:choose_round"
    name = "choose a round"
    utility = 1.0

    Args = Guard.Args

    class Output(ThinkOutput):
        """Where.

        Attributes:
            route: the cells.
        """

        route: Sequence[Place]

    async def think(self, ctx: Context[Being], args: Guard.Args) -> None:
        """Choose at once: towers do not move."""
        town: Town = ctx.entity[Town]
        finder: PathFinder = ctx.entity[PathFinder]
        others = [post for post in posts(town) if post != args.post] if town.daylight.phase == "dusk" else []
        others.sort(key=lambda post: finder.distance(args.post, post))
        ctx.set_think_output(route=[args.post, *others[:1]])


class StandFast(Action):
    """Forbid to flee while there is enough strength to fight."""

    does = "agentrt:flee_threats"
    name = "stand fast"
    utility = 0.0

    def should_start_thinking(self, ctx: Context[Being], args: ActionArgs) -> bool:
        """Whether fleeing may be considered."""
        health: Health = ctx.entity[Health]
        return health.points * 10 < health.most * 4

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Never be ready: this action only forbids."""
