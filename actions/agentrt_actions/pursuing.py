"""Pursuing and fleeing: chase an entity, follow it, run away from threats.

Chasing ends when the target is in reach, and also when it got away or is no more: missing is no failure of the plan.
Who acts on the target afterwards checks whether it is there (an abort for every rabbit that was quicker would stop the
wolf's planner after ten of them). Following has no end of its own; who follows what is no more has to plan anew.

A chase says with ``CURRENT.location`` where it will end. Following and fleeing do not know, and leave it alone.
"""

from __future__ import annotations

from agentrt import MOVE, Action, ActionArgs, Context, Entity, Event, move_on_after
from agentrt.activity import Overlay
from agentrt_actions.moving import walk_one
from agentrt_actions.nearby import expected_location, nearness, own_moves
from agentrt_actions.protocols import Located, PathFinder, Place, Threats
from agentrt_actions.watching import keep_looking, ready_while

__all__ = ["ChaseEntity", "FleeThreats", "FollowEntity"]

_OUT_OF_REACH = 1 << 30


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

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready while there are threats."""
        threats: Threats = ctx.entity[Threats]
        finder: PathFinder = ctx.entity[PathFinder]
        located: Located = ctx.entity[Located]

        def urgency() -> float:
            away = finder.distance(located.location, threats.nearby[0][Located].location)
            return max(0.0, min(1.0, 1.1 - away / 10))

        await ready_while(ctx, [threats.changed], lambda: bool(threats.nearby), urgency)

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Run, until nothing threatens."""
        threats = ctx.entity[Threats]
        located = ctx.entity[Located]
        ctx.get_debug_info_datastore()["threats"] = Overlay(
            "seen", lambda: [threat[Located].location for threat in threats.nearby]
        )
        while nearby := threats.nearby:
            place = self._safest(ctx, [threat[Located].location for threat in nearby])
            if place == located.location:
                await ctx.next_tick()
            else:
                await walk_one(ctx, place)

    def _safest(self, ctx: Context[Entity], feared: list[Place]) -> Place:
        finder: PathFinder = ctx.entity[PathFinder]
        here: Place = ctx.entity[Located].location
        choices: list[Place] = [here, *finder.neighbors(here)]
        costs = [finder.costs(place, choices) for place in feared]

        def safety(index: int) -> int:
            # A place that no threat can come to is the best there is.
            known = [cost for row in costs if (cost := row[index]) is not None]
            return min(known) if known else _OUT_OF_REACH

        return choices[max(range(len(choices)), key=lambda index: (safety(index), -index))]


def _show_target(ctx: Context[Entity], target: Entity) -> None:
    """Show whoever looks at the world whom it runs after, wherever that one is."""
    located: Located = target[Located]
    ctx.get_debug_info_datastore()["target"] = Overlay("target", lambda: [located.location])


async def _watch_way(ctx: Context[Entity], target: Entity, reach: int, *, will_arrive: bool) -> None:
    """Be ready while a path leads to a target; the shorter, the better."""
    finder: PathFinder = ctx.entity[PathFinder]
    located: Located = target[Located]
    ready = False

    def look() -> None:
        nonlocal ready
        path = finder.find(expected_location(ctx), located.location, reach=reach)
        if path is not None:
            ctx.set_utility(nearness(path.cost))
            if not ready:
                if will_arrive:
                    ctx.CURRENT.location = path.destination
                ctx.set_think_output()
        elif ready:
            ctx.clear_think_output()
        ready = path is not None

    await keep_looking(ctx, [finder.changed, located.moved, *own_moves(ctx)], look)


class ChaseEntity(Action):
    """Run after an entity until it is in reach, or for as many steps as patience lasts.

    Source: Stonehearth, AI: "step declarations", CURRENT.location (chasing actions modify it).
    """

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

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Be ready while a path leads to the target."""
        await _watch_way(ctx, args.target, args.reach, will_arrive=True)

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Run after it."""
        finder: PathFinder = ctx.entity[PathFinder]
        located: Located = ctx.entity[Located]
        _show_target(ctx, args.target)
        for _ in range(args.patience):
            if args.target.is_destroyed:
                return
            path = finder.find(located.location, args.target[Located].location, reach=args.reach)
            if path is None or path.first is None:
                return
            await walk_one(ctx, path.first)


class FollowEntity(Action):
    """Stay near an entity wherever it goes, until something better comes or the time is over.

    It stands while the entity is near enough, and goes on when the entity has walked away. While no path leads to the
    entity it waits for one. When the entity is destroyed the plan is aborted.
    """

    does = "agentrt:follow_entity"
    name = "follow"
    utility = (0.0, 1.0)
    flags = frozenset({MOVE})
    status_text_key = "agentrt:status.following"

    class Args(ActionArgs):
        """Whom.

        Attributes:
            target: the entity; it has ``Located``.
            distance: how many steps away from it to stay at most.
            seconds: for how many game seconds; 0 for until something better comes.
        """

        target: Entity
        distance: int = 2
        seconds: float = 0.0

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Be ready while a path leads to the target."""
        await _watch_way(ctx, args.target, args.distance, will_arrive=False)

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Follow."""
        finder: PathFinder = ctx.entity[PathFinder]
        _show_target(ctx, args.target)
        moved = Event()
        for signal in (args.target[Located].moved, args.target.destroyed, finder.changed):
            ctx.listen(signal, lambda _value: moved.set())
        left = ctx.clock.ticks(args.seconds) if args.seconds > 0 else None
        while left is None or left > 0:
            since = ctx.clock.tick
            moved.clear()
            place = self._next_place(ctx, args)
            if place is not None:
                await walk_one(ctx, place)
            elif left is None:
                await moved.wait()
            else:
                with move_on_after(left * ctx.clock.seconds_per_tick):
                    await moved.wait()
            if left is not None:
                left -= ctx.clock.tick - since

    def _next_place(self, ctx: Context[Entity], args: Args) -> Place | None:
        if args.target.is_destroyed:
            ctx.abort(f"{args.target.name} was destroyed")
        finder: PathFinder = ctx.entity[PathFinder]
        here, there = ctx.entity[Located].location, args.target[Located].location
        if finder.distance(here, there) <= args.distance:
            return None
        path = finder.find(here, there, reach=args.distance)
        return None if path is None else path.first
