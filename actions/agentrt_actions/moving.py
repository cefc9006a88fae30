"""Moving: follow a path, go to an entity or a place, wander, flee, chase.

All of them walk through ``walk_one``: let the time of a step pass, take the step, look again. An interruption can
come at any step and finds the entity on a place, never between two. All of them hold the flag MOVE, so that
nothing else of the same agent drives its legs.

While it thinks, an action that moves writes where the entity will stand into ``CURRENT.location``; the steps
behind it in a compound plan from there. Fleeing and wandering do not know where they will end, and leave it
alone.

Chasing ends when the target is in reach, and also when it got away: missing is no failure of the plan. Who
acts on the target afterwards checks whether it is there (an abort for every rabbit that was quicker would
stop the wolf's planner after ten of them).
"""

from __future__ import annotations

from agentrt import ARGS, MOVE, PREV, Action, ActionArgs, CompoundAction, Context, Entity, step
from agentrt_actions.protocols import Located, Mover, Path, PathFinder, Place, Threats
from agentrt_actions.searching import expected_location, nearness, own_moves
from agentrt_actions.watching import keep_looking, ready_while

__all__ = ["ChaseEntity", "FleeThreats", "FollowPath", "GotoEntity", "GotoLocation", "IdleWander", "Wander", "walk_one"]

PATIENCE = 3
"""How often in a row a step may be blocked before a path counts as closed."""

_OUT_OF_REACH = 1 << 30


async def walk_one(ctx: Context, place: Place) -> bool:
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


class FollowPath(Action):
    """Walk along a path.

    When the entity does not stand where the path begins, or a step is blocked, another path to the same place
    is found; when there is none, the plan is aborted.

    Source: seed 001, "Compound action example", follow_path; "step declarations", CURRENT.location.
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
        """

        path: Path

    async def think(self, ctx: Context, args: Args) -> None:
        """Say where the entity will stand, and how short the way is.

        Args:
            ctx: the context.
            args: which way.
        """
        ctx.CURRENT.location = args.path.destination
        ctx.set_utility(nearness(args.path.cost))
        ctx.set_think_output()

    async def run(self, ctx: Context, args: Args) -> None:
        """Walk.

        Args:
            ctx: the context.
            args: which way.
        """
        path = args.path
        if ctx.entity[Located].location != path.start:
            path = self._another(ctx, path.destination)
        refused = 0
        ahead = list(reversed(path.places))
        while ahead:
            if await walk_one(ctx, ahead.pop()):
                refused = 0
                continue
            refused += 1
            if refused == PATIENCE:
                ctx.abort(f"the way to {path.destination} is blocked")
            ahead = list(reversed(self._another(ctx, path.destination).places))

    def _another(self, ctx: Context, destination: Place) -> Path:
        finder: PathFinder = ctx.entity[PathFinder]
        found = finder.find(ctx.entity[Located].location, destination)
        if found is None:
            ctx.abort(f"no path leads to {destination} any more")
        return found


class GotoEntity(CompoundAction):
    """Find a path to an entity and follow it."""

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
        step("agentrt:follow_path", path=PREV.path),
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

    async def run(self, ctx: Context, args: Args) -> None:
        """Walk.

        Args:
            ctx: the context.
            args: how far.
        """
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


class IdleWander(CompoundAction):
    """Wander about when idle."""

    does = "agentrt:idle"
    name = "wander idly"
    utility = 1.0
    steps = (step("agentrt:wander"),)


class FleeThreats(Action):
    """Run away from whatever the entity fears, until nothing of it is near.

    Each step leads to the neighboring place that is the longest way off for the threats. Its utility says how
    near the nearest threat is: 1 in reach, 0 at ten steps.
    """

    does = "agentrt:flee_threats"
    name = "flee"
    utility = (0.0, 1.0)
    flags = frozenset({MOVE})
    status_text_key = "agentrt:status.fleeing"

    async def think(self, ctx: Context, args: ActionArgs) -> None:
        """Be ready while there are threats.

        Args:
            ctx: the context.
            args: none.
        """
        threats: Threats = ctx.entity[Threats]
        finder: PathFinder = ctx.entity[PathFinder]
        located: Located = ctx.entity[Located]

        def urgency() -> float:
            away = finder.distance(located.location, threats.nearby[0][Located].location)
            return max(0.0, min(1.0, 1.1 - away / 10))

        await ready_while(ctx, [threats.changed], lambda: bool(threats.nearby), urgency)

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        """Run, until nothing threatens.

        Args:
            ctx: the context.
            args: none.
        """
        threats = ctx.entity[Threats]
        located = ctx.entity[Located]
        while nearby := threats.nearby:
            place = self._safest(ctx, [threat[Located].location for threat in nearby])
            if place == located.location:
                await ctx.next_tick()
            else:
                await walk_one(ctx, place)

    def _safest(self, ctx: Context, feared: list[Place]) -> Place:
        finder: PathFinder = ctx.entity[PathFinder]
        here: Place = ctx.entity[Located].location
        choices: list[Place] = [here, *finder.neighbors(here)]
        costs = [finder.costs(place, choices) for place in feared]

        def safety(index: int) -> int:
            # A place that no threat can come to is the best there is.
            known = [cost for row in costs if (cost := row[index]) is not None]
            return min(known) if known else _OUT_OF_REACH

        return choices[max(range(len(choices)), key=lambda index: (safety(index), -index))]


class ChaseEntity(Action):
    """Run after an entity until it is in reach, or for as many steps as patience lasts."""

    does = "agentrt:chase_entity"
    name = "chase"
    utility = (0.0, 1.0)
    flags = frozenset({MOVE})
    status_text_key = "agentrt:status.chasing"

    class Args(ActionArgs):
        """Whom.

        Attributes:
            target: the entity; it has ``Located``.
            reach: how near is near enough, in steps.
            patience: after how many steps to give up.
        """

        target: Entity
        reach: int = 1
        patience: int = 30

    async def think(self, ctx: Context, args: Args) -> None:
        """Be ready while a path leads to the target.

        Args:
            ctx: the context.
            args: whom.
        """
        finder = ctx.entity[PathFinder]
        located = args.target[Located]
        ready = False

        def look() -> None:
            nonlocal ready
            path = finder.find(expected_location(ctx), located.location, reach=args.reach)
            if path is not None:
                ctx.set_utility(nearness(path.cost))
                if not ready:
                    ctx.CURRENT.location = path.destination
                    ctx.set_think_output()
            elif ready:
                ctx.clear_think_output()
            ready = path is not None

        await keep_looking(ctx, [finder.changed, located.moved, *own_moves(ctx)], look)

    async def run(self, ctx: Context, args: Args) -> None:
        """Run after it.

        Args:
            ctx: the context.
            args: whom.
        """
        finder = ctx.entity[PathFinder]
        located = ctx.entity[Located]
        for _ in range(args.patience):
            path = finder.find(located.location, args.target[Located].location, reach=args.reach)
            if path is None or not path.places:
                return
            await walk_one(ctx, path.places[0])
