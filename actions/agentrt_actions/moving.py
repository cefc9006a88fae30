"""Moving: follow a path, go to an entity or a place, patrol a route, wander.

All of them walk through ``walk_one``: let the time of a step pass, take the step, look again. An interruption can
come at any step and finds the entity on a place, never between two. All of them hold the flag MOVE, so that
nothing else of the same agent drives its legs.

While it thinks, an action that moves writes where the entity will stand into ``CURRENT.location``; the steps
behind it in a compound plan from there. Wandering, and patrolling without end, do not know where they will end, and
leave it alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentrt import ARGS, MOVE, PREV, Action, ActionArgs, CompoundAction, Context, Entity, step
from agentrt.activity import Overlay
from agentrt_actions.nearby import expected_location, nearness
from agentrt_actions.protocols import Located, Mover, Path, PathFinder, Place
from agentrt_actions.watching import keep_looking

__all__ = ["FollowPath", "GotoEntity", "GotoLocation", "Patrol", "Wander", "walk_one", "walk_path"]

PATIENCE = 3
"""How often in a row a step may be blocked before a path counts as closed."""


async def walk_one(ctx: Context[Entity], place: Place) -> bool:
    """Walk one step.

    Args:
        ctx: the context of an action that runs.
        place: a neighboring place.

    Returns:
        False if it could not be entered; the time has passed nevertheless.
    """
    mover: Mover = ctx.entity[Mover]
    await ctx.sleep_ticks(mover.ticks_to(place))
    return mover.step(place)


async def walk_path(ctx: Context[Entity], path: Path, *, target: Entity | None = None, reach: int = 0) -> None:
    """Walk along a path to its end, or after a target wherever it walks meanwhile.

    When the entity does not stand where the path begins, or a step is blocked, or the target is not within reach of the
    path's end any more, another path is found. The plan is aborted when there is none, when steps are blocked again and
    again, and when the target is destroyed.

    Args:
        ctx: the context of an action that runs.
        path: which way.
        target: where the path is to lead to; None for the place where it ends.
        reach: how many steps before the target it may end.
    """
    finder: PathFinder = ctx.entity[PathFinder]
    located: Located = ctx.entity[Located]
    goal = path.destination if target is None else target[Located].location
    if located.location != path.start:
        path = _another(ctx, goal, reach)
    refused = 0
    ahead = _ahead(ctx, path)
    while True:
        if target is not None:
            if target.is_destroyed:
                ctx.abort(f"{target.name} was destroyed on the way to it")
            goal = target[Located].location
            if finder.distance(path.destination, goal) > reach:
                path = _another(ctx, goal, reach)
                ahead = _ahead(ctx, path)
        if not ahead:
            return
        if await walk_one(ctx, ahead[-1]):
            ahead.pop()
            refused = 0
            continue
        refused += 1
        if refused == PATIENCE:
            ctx.abort(f"the way to {goal} is blocked")
        path = _another(ctx, goal, reach)
        ahead = _ahead(ctx, path)


def _ahead(ctx: Context, path: Path) -> list[Place]:
    """The places of a path, the next one last; what is left of them is shown to whoever looks at the world."""
    ahead = list(reversed(path.places))
    ctx.get_debug_info_datastore()["path"] = Overlay("path", ahead)
    return ahead


def _another(ctx: Context[Entity], goal: Place, reach: int) -> Path:
    finder: PathFinder = ctx.entity[PathFinder]
    found = finder.find(ctx.entity[Located].location, goal, reach=reach)
    if found is None:
        ctx.abort(f"no path leads to {goal} any more")
    return found


class FollowPath(Action):
    """Walk along a path; if it leads to a target that walks away, after the target.

    Source: Stonehearth, AI: "Compound action example", follow_path; "step declarations", CURRENT.location.
    """

    does = "agentrt:follow_path"
    name = "follow path"
    utility = (0.0, 1.0)
    flags = frozenset({MOVE})
    status_text_key = "agentrt:status.walking"

    class Args(ActionArgs):
        """Which way.

        Attributes:
            path: from where the entity will stand.
            target: where it is to lead to, if that may move; it has ``Located``.
            reach: how many steps before the target to stop at most.
        """

        path: Path
        target: Entity | None = None
        reach: int = 0

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Say where the entity will stand, and how short the way is."""
        ctx.CURRENT.location = args.path.destination
        ctx.set_utility(nearness(args.path.cost))
        ctx.set_think_output()

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Walk."""
        await walk_path(ctx, args.path, target=args.target, reach=args.reach)


class GotoEntity(CompoundAction):
    """Find a path to an entity and follow it, wherever the entity goes meanwhile."""

    does = "agentrt:goto_entity"
    name = "go to entity"
    utility = 1.0

    class Args(ActionArgs):
        """Where to.

        Attributes:
            entity: the entity; it has ``Located``.
            reach: how many steps before it to stop at most.
        """

        entity: Entity
        reach: int = 0

    steps = (
        step("agentrt:find_path_to_entity", destination=ARGS.entity, reach=ARGS.reach),
        step("agentrt:follow_path", path=PREV.path, target=ARGS.entity, reach=ARGS.reach),
    )


class GotoLocation(CompoundAction):
    """Find a path to a place and follow it."""

    does = "agentrt:goto_location"
    name = "go to location"
    utility = 1.0

    class Args(ActionArgs):
        """Where to.

        Attributes:
            location: the place.
            reach: how many steps before it to stop at most.
        """

        location: Place
        reach: int = 0

    steps = (
        step("agentrt:find_path_to_location", location=ARGS.location, reach=ARGS.reach),
        step("agentrt:follow_path", path=PREV.path),
    )


class Wander(Action):
    """Walk a few steps to nowhere in particular, turning back only where there is no other way."""

    does = "agentrt:wander"
    name = "wander"
    utility = 1.0
    flags = frozenset({MOVE})
    status_text_key = "agentrt:status.wandering"

    class Args(ActionArgs):
        """How far.

        Attributes:
            least: the fewest steps.
            most: the most steps.
        """

        least: int = 2
        most: int = 6

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Walk."""
        finder = ctx.entity[PathFinder]
        located = ctx.entity[Located]
        before: Place = None
        for _ in range(ctx.random.between(args.least, args.most)):
            here = located.location
            around = [place for place in finder.neighbors(here) if place != before] or [
                here if before is None else before
            ]
            before = here
            await walk_one(ctx, ctx.random.choice(around))


class Patrol(Action):
    """Walk a route of places, once, several times, or round and round.

    Places to which no path leads are left out. A patrol that was interrupted goes on with the place that it was on the
    way to.
    """

    does = "agentrt:patrol"
    name = "patrol"
    utility = 1.0
    flags = frozenset({MOVE})
    status_text_key = "agentrt:status.patrolling"

    class Args(ActionArgs):
        """Where.

        Attributes:
            route: the places, in order.
            rounds: how often to walk the whole route; 0 for round and round, until something better comes.
            pause: how many game seconds to stay at each place.
        """

        route: Sequence[Place]
        rounds: int = 1
        pause: float = 0.0

    def __init__(self) -> None:
        super().__init__()
        self._route: Sequence[Place] = ()
        self._next: int = 0  # the place that it is on the way to
        self._done: int = 0  # whole rounds

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Be ready while a path leads to a place of the route."""
        finder: PathFinder = ctx.entity[PathFinder]
        route = list(args.route)
        ready = False

        def look() -> None:
            nonlocal ready
            now = any(cost is not None for cost in finder.costs(expected_location(ctx), route))
            if now and not ready:
                if args.rounds:
                    ctx.CURRENT.location = route[-1]
                ctx.set_think_output()
            elif ready and not now:
                ctx.clear_think_output()
            ready = now

        await keep_looking(ctx, [finder.changed], look)

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Walk."""
        if list(args.route) != list(self._route):
            self._route, self._next, self._done = args.route, 0, 0
        missed = 0
        while not args.rounds or self._done < args.rounds:
            tick = ctx.clock.tick
            missed = 0 if await self._go(ctx, args) else missed + 1
            if missed == len(self._route):
                ctx.abort("no place of the route can be reached any more")
            self._next += 1
            if self._next == len(self._route):
                self._next = 0
                self._done += 1
                if ctx.clock.tick == tick:
                    await ctx.next_tick()  # a route of one place, without a pause, is no reason to stop the world
        self._done = 0

    async def _go(self, ctx: Context[Entity], args: Args) -> bool:
        finder: PathFinder = ctx.entity[PathFinder]
        path = finder.find(ctx.entity[Located].location, self._route[self._next])
        if path is None:
            return False
        await walk_path(ctx, path)
        await ctx.sleep(args.pause)
        return True
