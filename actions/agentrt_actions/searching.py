"""Finding what to act on: the nearest entity under a tag, a storage for an item, a path to an entity or a place.

These actions only think; their ``run`` is empty. They keep looking while they think: what they found may be
taken by somebody else, die, or move away, and something nearer may turn up. Whenever the world says that it
changed they look again, and the steps behind them in a compound think again with the new find.

Where a search begins is not where the entity stands but where it *will* stand: ``CURRENT.location``, which
the steps before have set. Only while no step has moved it does the entity's own walking count as a change.

Utility is nearness, from 0 (far away) to 1 (here), so that a compound may weigh its plan by the way to go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentrt import Action, ActionArgs, Context, Entity, LeaseBook, Signal, ThinkOutput
from agentrt_actions.protocols import Directory, Located, Path, PathFinder, Place, Storage
from agentrt_actions.watching import keep_looking

__all__ = [
    "FAR",
    "FindEntity",
    "FindPathToEntity",
    "FindPathToLocation",
    "FindStorage",
    "expected_location",
    "nearest",
    "nearness",
    "own_moves",
]

FAR = 400
"""The cost of a path from which on nearness is 0: forty steps over open ground."""


def expected_location(ctx: Context) -> Place:
    """Where the entity will stand when the action that thinks is run.

    Args:
        ctx: the context of an action that thinks.
    """
    # Asked of the entity itself as long as no step has changed it: CURRENT would search all its components for it.
    place: Place = ctx.CURRENT.location if ctx.CURRENT.location_changed else ctx.entity[Located].location
    return place


def nearness(cost: int) -> float:
    """How near a place is.

    Args:
        cost: the cost of the path there.

    Returns:
        From 0.0, far away, to 1.0, here.
    """
    return max(0.0, 1.0 - cost / FAR)


def own_moves(ctx: Context) -> list[Signal]:
    """The signal of the entity's own walking, unless an earlier step of the plan decides where it will stand.

    Args:
        ctx: the context of an action that thinks.
    """
    return [] if ctx.CURRENT.location_changed else [ctx.entity[Located].moved]


class FindEntity(Action):
    """Find the nearest reachable entity under a tag that nobody else has reserved."""

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
            cost: what the path to it costs.
        """

        entity: Entity
        cost: int

    async def think(self, ctx: Context, args: Args) -> None:
        """Offer the nearest, and go on looking.

        Args:
            ctx: the context.
            args: what to find.
        """
        directory = ctx.entity[Directory]
        leases = ctx.entity[LeaseBook]
        offered: tuple[Entity, int] | None = None

        def look() -> None:
            nonlocal offered
            candidates = directory.find(args.tag)
            found = nearest(ctx, candidates, reach=args.reach, within=args.within, reserved=args.reserved)
            if found == offered:
                return
            offered = found
            if found is None:
                ctx.clear_think_output()
                return
            ctx.set_utility(nearness(found[1]))
            ctx.set_debug_progress(f"{found[0].name}, {found[1]} away")
            ctx.set_think_output(entity=found[0], cost=found[1])

        await keep_looking(ctx, [directory.changed(args.tag), leases.changed, *own_moves(ctx)], look)


def nearest(
    ctx: Context, candidates: Sequence[Entity], *, reach: int = 0, within: int = 0, reserved: bool = False
) -> tuple[Entity, int] | None:
    """The nearest reachable of some entities, leaving out the entity itself and what others have reserved.

    Args:
        ctx: the context of an action that thinks.
        candidates: among whom.
        reach: how many steps before it the path may end.
        within: the greatest cost of the path; 0 for any.
        reserved: whether those that others have reserved count too.

    Returns:
        The entity and the cost of the path to it; of equally near ones the first. None if there is none.
    """
    leases = ctx.entity[LeaseBook]
    free = [
        entity
        for entity in candidates
        if entity is not ctx.entity
        and not entity.is_destroyed
        and (reserved or leases.holder(entity) in (None, ctx.agent))
    ]
    if not free:
        return None
    places = [entity[Located].location for entity in free]
    best: tuple[Entity, int] | None = None
    costs = ctx.entity[PathFinder].costs(expected_location(ctx), places, reach=reach)
    for entity, cost in zip(free, costs, strict=True):
        if cost is not None and (not within or cost <= within) and (best is None or cost < best[1]):
            best = (entity, cost)
    return best


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

    async def think(self, ctx: Context, args: Args) -> None:
        """Offer the nearest storage, and go on looking.

        Args:
            ctx: the context.
            args: what to store.
        """
        directory = ctx.entity[Directory]
        offered: Entity | None = None

        def look() -> None:
            nonlocal offered
            fitting = [entity for entity in directory.find("storage") if entity[Storage].accepts(args.item)]
            found = nearest(ctx, fitting)
            entity = None if found is None else found[0]
            if entity is offered:
                return
            offered = entity
            if found is None:
                ctx.clear_think_output()
                return
            ctx.set_utility(nearness(found[1]))
            ctx.set_think_output(storage=found[0])

        leases = ctx.entity[LeaseBook]
        await keep_looking(ctx, [directory.changed("storage"), leases.changed, *own_moves(ctx)], look)


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
        self, ctx: Context, destination: Callable[[], Place], reach: int, signals: Sequence[Signal]
    ) -> None:
        finder = ctx.entity[PathFinder]
        offered: Path | None = None

        def look() -> None:
            nonlocal offered
            path = finder.find(expected_location(ctx), destination(), reach=reach)
            if path == offered:
                return
            offered = path
            if path is None:
                ctx.clear_think_output()
                return
            ctx.set_utility(nearness(path.cost))
            ctx.set_think_output(path=path)

        await keep_looking(ctx, [finder.changed, *signals, *own_moves(ctx)], look)


class FindPathToEntity(_FindPath):
    """Find the cheapest path to an entity, and find it again when the entity moves.

    Source: seed 001, "Activity" and "Compound action example", find_path_to_entity.
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

    async def think(self, ctx: Context, args: Args) -> None:
        """Offer a path, and keep it true.

        Args:
            ctx: the context.
            args: where to.
        """
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

    async def think(self, ctx: Context, args: Args) -> None:
        """Offer a path, and keep it true.

        Args:
            ctx: the context.
            args: where to.
        """
        await self._watch(ctx, lambda: args.location, args.reach, [])
