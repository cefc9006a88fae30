"""Finding what to act on: the nearest entity under a tag, a storage for an item, a path to an entity or a place.

These actions only think; their ``run`` is empty. They keep looking while they think: what they found may be taken by
somebody else, die, or move away, and something nearer may turn up. Whenever the world says that it changed they look
again, and the steps behind them in a compound think again with the new find. What a later step rejects gives way to the
next nearest at once.

Utility is nearness, from 0 (far away) to 1 (here), so that a compound may weigh its plan by the way to go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentrt import Action, ActionArgs, Context, Entity, Signal, ThinkOutput
from agentrt_actions.nearby import Nearby, expected_location, nearness, own_moves
from agentrt_actions.protocols import Located, Path, PathFinder, Place
from agentrt_actions.things import Storage
from agentrt_actions.watching import Only, keep_looking

__all__ = ["FindEntity", "FindPathToEntity", "FindPathToLocation", "FindStorage"]


class FindEntity(Action):
    """Find the nearest reachable entity under a tag that nobody else has reserved, nor an earlier step of the plan."""

    does = "agentrt:find_entity"
    name = "find entity"
    utility = (0.0, 1.0)

    class Args(ActionArgs):
        """What to find.

        Attributes:
            tag: the tag in the ``Directory``.
            reach: how many steps before it the path may end.
            within: the greatest cost of the path; 0 for any.
            reserved: whether those that others have reserved count too.
        """

        tag: str
        reach: int = 0
        within: int = 0
        reserved: bool = False

    class Output(ThinkOutput):
        """What was found.

        Attributes:
            entity: the nearest.
            cost: what the path to it cost when it was found.
        """

        entity: Entity
        cost: int

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Offer the nearest, and go on looking."""
        nearby = Nearby(ctx, args.tag, reach=args.reach, within=args.within, reserved=args.reserved)

        def fields(entity: Entity, cost: int) -> Mapping[str, Any]:
            ctx.set_debug_progress(f"{entity.name}, {cost} away")
            return {"entity": entity, "cost": cost}

        await nearby.watch(fields, nearby.accepts)


class FindStorage(Action):
    """Find the nearest reachable storage that accepts an item. Storages stand under the tag ``storage``."""

    does = "agentrt:find_storage"
    name = "find storage"
    utility = (0.0, 1.0)

    class Args(ActionArgs):
        """What to store.

        Attributes:
            item: the item.
        """

        item: Entity

    class Output(ThinkOutput):
        """What was found.

        Attributes:
            storage: an entity with a ``Storage``.
        """

        storage: Entity

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Offer the nearest storage, and go on looking."""
        nearby = Nearby(ctx, "storage")

        def fields(entity: Entity, _cost: int) -> Mapping[str, Any]:
            return {"storage": entity}

        def accepts(entity: Entity) -> bool:
            return entity[Storage].accepts(args.item) and nearby.accepts(entity)

        await nearby.watch(fields, accepts)


class _FindPath(Action):
    """What both ways of finding a path share."""

    utility = (0.0, 1.0)

    class Output(ThinkOutput):
        """What was found.

        Attributes:
            path: the cheapest path.
        """

        path: Path

    async def _watch(
        self, ctx: Context[Entity], destination: Callable[[], Place], reach: int, signals: Sequence[Signal]
    ) -> None:
        finder: PathFinder = ctx.entity[PathFinder]
        offered: Path | None = None

        def look() -> None:
            nonlocal offered
            path = finder.find(expected_location(ctx), destination(), reach=reach)
            if path is None:
                if offered is not None:
                    offered = None
                    ctx.clear_think_output()
                return
            ctx.set_utility(nearness(path.cost))
            # To begin elsewhere is no reason for the whole plan to think again: who follows a path that does not begin
            # where it stands finds the way anew.
            if (
                offered is None
                or path.destination != offered.destination
                or (path.start == offered.start and path != offered)
            ):
                offered = path
                ctx.set_think_output(path=path)

        walks = (Only(moved, lambda _place: offered is not None) for moved in own_moves(ctx))
        await keep_looking(ctx, [finder.changed, *signals, *walks], look)


class FindPathToEntity(_FindPath):
    """Find the cheapest path to an entity, and find it again when the entity moves.

    Source: Stonehearth, AI: "Activity" and "Compound action example", find_path_to_entity.
    """

    does = "agentrt:find_path_to_entity"
    name = "find path to entity"

    class Args(ActionArgs):
        """Where to.

        Attributes:
            destination: the entity; it has ``Located``.
            reach: how many steps before it the path may end.
        """

        destination: Entity
        reach: int = 0

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Offer a path, and keep it true."""
        located = args.destination[Located]
        await self._watch(ctx, lambda: located.location, args.reach, [located.moved])


class FindPathToLocation(_FindPath):
    """Find the cheapest path to a place."""

    does = "agentrt:find_path_to_location"
    name = "find path to location"

    class Args(ActionArgs):
        """Where to.

        Attributes:
            location: the place.
            reach: how many steps before it the path may end.
        """

        location: Place
        reach: int = 0

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Offer a path, and keep it true."""
        await self._watch(ctx, lambda: args.location, args.reach, [])
